//! The codes with which a session rejects a message, in the form that typed messages have for
//! codes: constants, and any other value.

use std::fmt;

use fixbolt_codec::Version;

/// Defines a type of codes: `CONSTANT = value, text` for each code of the standard, and the text of
/// any other.
macro_rules! reject_codes {
    (
        $(#[$meta:meta])* $type:ident, $other:literal;
        $($(#[$doc:meta])* $name:ident = $value:literal, $text:literal;)*
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub struct $type(u16);

        impl $type {
            $($(#[$doc])* pub const $name: Self = Self($value);)*

            /// Returns the code with this value on the wire, known or not.
            #[must_use]
            pub const fn from_value(value: u16) -> Self {
                Self(value)
            }

            /// Returns the value on the wire.
            #[must_use]
            pub const fn value(self) -> u16 {
                self.0
            }

            /// Returns the name of the constant with this value, or `None` if there is none.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($value => Some(stringify!($name)),)*
                    _ => None,
                }
            }

            /// Returns the code in words: the Text (58) that is sent unless the application sets
            /// another.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self.0 {
                    $($value => $text,)*
                    _ => $other,
                }
            }
        }

        /// The name of a known code, the value of any other.
        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self.name() {
                    Some(name) => f.write_str(name),
                    None => write!(f, "{}({})", stringify!($type), self.0),
                }
            }
        }
    };
}

// The texts are those that QuickFIX sends, where it has one: test scripts of engines compare them.
reject_codes! {
    /// A code of SessionRejectReason (373): why a Reject (35=3) rejects a message. A venue's own
    /// codes have values from 100.
    SessionRejectCode, "Other";
    /// 0: the tag is in no dictionary, or not a tag number.
    INVALID_TAG_NUMBER = 0, "Invalid tag number";
    /// 1: a required field is missing.
    REQUIRED_TAG_MISSING = 1, "Required tag missing";
    /// 2: the field is defined, but not for this message.
    TAG_NOT_DEFINED_FOR_THIS_MESSAGE_TYPE = 2, "Tag not defined for this message type";
    /// 3: an undefined tag.
    UNDEFINED_TAG = 3, "Undefined tag";
    /// 4: there is nothing between `=` and the delimiter.
    TAG_SPECIFIED_WITHOUT_A_VALUE = 4, "Tag specified without a value";
    /// 5: not one of the field's codes, or out of range.
    VALUE_IS_INCORRECT = 5, "Value is incorrect (out of range) for this tag";
    /// 6: the value does not have the form of the field's type.
    INCORRECT_DATA_FORMAT_FOR_VALUE = 6, "Incorrect data format for value";
    /// 7: decryption failed.
    DECRYPTION_PROBLEM = 7, "Decryption problem";
    /// 8: the signature is wrong.
    SIGNATURE_PROBLEM = 8, "Signature problem";
    /// 9: SenderCompID or TargetCompID is not that of the session.
    COMP_ID_PROBLEM = 9, "CompID problem";
    /// 10: SendingTime differs too much from the clock.
    SENDING_TIME_ACCURACY_PROBLEM = 10, "SendingTime accuracy problem";
    /// 11: the message type is unknown.
    INVALID_MSG_TYPE = 11, "Invalid MsgType";
    /// 12: an XML document is not valid.
    XML_VALIDATION_ERROR = 12, "XML validation error";
    /// 13: the field occurs twice where it may occur once.
    TAG_APPEARS_MORE_THAN_ONCE = 13, "Tag appears more than once";
    /// 14: header, body and trailer are mixed.
    TAG_SPECIFIED_OUT_OF_REQUIRED_ORDER = 14, "Tag specified out of required order";
    /// 15: fields of a group's entry are out of order, or its first field is missing.
    REPEATING_GROUP_FIELDS_OUT_OF_ORDER = 15, "Out of order repeating group members";
    /// 16: a count field does not have the number of entries that follow.
    INCORRECT_NUM_IN_GROUP_COUNT_FOR_REPEATING_GROUP = 16, "Incorrect NumInGroup count for repeating group";
    /// 17: a delimiter inside a value that is not data.
    NON_DATA_VALUE_INCLUDES_FIELD_DELIMITER = 17, "Non-data value includes field delimiter";
    /// 18: the application version is not supported.
    INVALID_UNSUPPORTED_APPLICATION_VERSION = 18, "Invalid or unsupported application version";
    /// 99: anything else; Text explains.
    OTHER = 99, "Other";
}

reject_codes! {
    /// A code of BusinessRejectReason (380): why a BusinessMessageReject (35=j) rejects a message.
    /// A venue's own codes have values from 100.
    BusinessRejectCode, "Rejected by the application";
    /// 0: anything else; Text explains.
    OTHER = 0, "Other";
    /// 1: the message names an ID that nobody knows.
    UNKNOWN_ID = 1, "Unknown ID";
    /// 2: the security is unknown.
    UNKNOWN_SECURITY = 2, "Unknown Security";
    /// 3: the application does not process messages of this type.
    UNSUPPORTED_MESSAGE_TYPE = 3, "Unsupported Message Type";
    /// 4: the application is not available.
    APPLICATION_NOT_AVAILABLE = 4, "Application not available";
    /// 5: a field is missing that is required under a condition.
    CONDITIONALLY_REQUIRED_FIELD_MISSING = 5, "Conditionally required field missing";
    /// 6: the sender may not do this. Since FIX.4.4.
    NOT_AUTHORIZED = 6, "Not authorized";
    /// 7: the firm that the message is for cannot be reached. Since FIX.4.4.
    DELIVER_TO_FIRM_NOT_AVAILABLE_AT_THIS_TIME = 7, "DeliverTo firm not available at this time";
    /// 8: the sender has sent more messages than it may. FIX Latest.
    THROTTLE_LIMIT_EXCEEDED = 8, "Throttle limit exceeded";
    /// 9: as 8, and the session is disconnected. FIX Latest.
    THROTTLE_LIMIT_EXCEEDED_SESSION_DISCONNECTED = 9, "Throttle limit exceeded, session will be disconnected";
    /// 10: messages that wait for a throttle are rejected, as was asked for. FIX Latest.
    THROTTLED_MESSAGES_REJECTED_ON_REQUEST = 10, "Throttled messages rejected on request";
    /// 18: the price is no multiple of the price increment. FIX Latest.
    INVALID_PRICE_INCREMENT = 18, "Invalid price increment";
}

impl SessionRejectCode {
    /// Returns the code as a counterparty of this version may see it, or `None` if field 373 has to
    /// be left out: FIX.4.0 and 4.1 do not have the field, FIX.4.2 has 0 to 11, FIX.4.3 0 to 17,
    /// FIX.4.4 adds 99, FIXT.1.1 adds 18.
    // R-REJECT-2
    #[must_use]
    pub const fn for_version(self, version: Version) -> Option<SessionRejectCode> {
        match version {
            Version::Fix40 | Version::Fix41 => None,
            Version::Fix42 if self.0 > 11 => None,
            Version::Fix43 if self.0 > 17 => None,
            Version::Fix44 if self.0 == 18 => Some(SessionRejectCode::OTHER),
            _ => Some(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use fixbolt_codec::Version;

    use super::{BusinessRejectCode, SessionRejectCode};

    fn known() -> impl Iterator<Item = SessionRejectCode> {
        (0..=99).map(SessionRejectCode::from_value).filter(|code| code.name().is_some())
    }

    #[test]
    fn a_code_has_the_standards_value_a_name_and_a_text() {
        assert!(known().map(SessionRejectCode::value).eq((0..=18).chain([99])));
        let code = SessionRejectCode::INVALID_MSG_TYPE;
        assert_eq!(
            (code.value(), code.text(), format!("{code:?}")),
            (11, "Invalid MsgType", "INVALID_MSG_TYPE".into())
        );
        assert_eq!(SessionRejectCode::from_value(11), code);
        let own = BusinessRejectCode::from_value(104);
        assert_eq!((own.value(), own.name(), own.text()), (104, None, "Rejected by the application"));
        assert_eq!(format!("{own:?}"), "BusinessRejectCode(104)");
    }

    // R-REJECT-2
    #[test]
    fn a_version_sees_only_the_codes_it_knows() {
        for (version, up_to, has_other) in [
            (Version::Fix40, None, false),
            (Version::Fix41, None, false),
            (Version::Fix42, Some(11), false),
            (Version::Fix43, Some(17), false),
            (Version::Fix44, Some(17), true),
            (Version::Fixt11, Some(18), true),
        ] {
            for code in known() {
                let is_other = code == SessionRejectCode::OTHER;
                let is_known = if is_other { has_other } else { Some(code.value()) <= up_to };
                let instead = (version == Version::Fix44).then_some(SessionRejectCode::OTHER);
                let expected = if is_known { Some(code) } else { instead };
                assert_eq!(code.for_version(version), expected, "{version} {code:?}");
            }
        }
    }
}
