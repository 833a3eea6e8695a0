//! SessionRejectReason (373): the numbers of the standard, the texts of QuickFIX, and the versions
//! that have each.

use fixbolt_codec::Version;

/// Why a message violates the rules of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum SessionRejectReason {
    /// 0: the tag is in no dictionary, or not a tag number.
    InvalidTagNumber,
    /// 1: a required field is missing.
    RequiredTagMissing,
    /// 2: the field is defined, but not for this message.
    TagNotDefinedForThisMessageType,
    /// 3: an undefined tag.
    UndefinedTag,
    /// 4: there is nothing between `=` and the delimiter.
    TagSpecifiedWithoutAValue,
    /// 5: not one of the field's codes, or out of range.
    ValueIsIncorrect,
    /// 6: the value does not have the form of the field's type.
    IncorrectDataFormat,
    /// 7: decryption failed.
    DecryptionProblem,
    /// 8: the signature is wrong.
    SignatureProblem,
    /// 9: SenderCompID or TargetCompID is not that of the session.
    CompIdProblem,
    /// 10: SendingTime differs too much from the clock.
    SendingTimeAccuracyProblem,
    /// 11: the message type is unknown.
    InvalidMsgType,
    /// 12: an XML document is not valid.
    XmlValidationError,
    /// 13: the field occurs twice where it may occur once.
    TagAppearsMoreThanOnce,
    /// 14: header, body and trailer are mixed.
    TagSpecifiedOutOfRequiredOrder,
    /// 15: fields of a group's entry are out of order, or its first field is missing.
    RepeatingGroupFieldsOutOfOrder,
    /// 16: a count field does not have the number of entries that follow.
    IncorrectNumInGroupCount,
    /// 17: a delimiter inside a value that is not data.
    NonDataValueIncludesFieldDelimiter,
    /// 18: the application version is not supported.
    InvalidApplicationVersion,
    /// 99: anything else; Text explains.
    Other,
}

impl SessionRejectReason {
    /// All reasons, in the order of their numbers.
    pub const ALL: [SessionRejectReason; 20] = [
        SessionRejectReason::InvalidTagNumber,
        SessionRejectReason::RequiredTagMissing,
        SessionRejectReason::TagNotDefinedForThisMessageType,
        SessionRejectReason::UndefinedTag,
        SessionRejectReason::TagSpecifiedWithoutAValue,
        SessionRejectReason::ValueIsIncorrect,
        SessionRejectReason::IncorrectDataFormat,
        SessionRejectReason::DecryptionProblem,
        SessionRejectReason::SignatureProblem,
        SessionRejectReason::CompIdProblem,
        SessionRejectReason::SendingTimeAccuracyProblem,
        SessionRejectReason::InvalidMsgType,
        SessionRejectReason::XmlValidationError,
        SessionRejectReason::TagAppearsMoreThanOnce,
        SessionRejectReason::TagSpecifiedOutOfRequiredOrder,
        SessionRejectReason::RepeatingGroupFieldsOutOfOrder,
        SessionRejectReason::IncorrectNumInGroupCount,
        SessionRejectReason::NonDataValueIncludesFieldDelimiter,
        SessionRejectReason::InvalidApplicationVersion,
        SessionRejectReason::Other,
    ];

    /// Returns the reason with this value of SessionRejectReason (373), or
    /// [`SessionRejectReason::Other`] if it has no name here.
    pub fn from_number(number: u16) -> SessionRejectReason {
        let named = SessionRejectReason::ALL.into_iter().find(|reason| reason.number() == number);
        named.unwrap_or(SessionRejectReason::Other)
    }

    /// Returns the value of SessionRejectReason (373).
    pub const fn number(self) -> u16 {
        match self {
            SessionRejectReason::Other => 99,
            reason => reason as u16,
        }
    }

    /// Returns the text that QuickFIX sends with the reason, if it has one; test scripts of engines
    /// compare it.
    pub const fn text(self) -> &'static str {
        match self {
            SessionRejectReason::InvalidTagNumber => "Invalid tag number",
            SessionRejectReason::RequiredTagMissing => "Required tag missing",
            SessionRejectReason::TagNotDefinedForThisMessageType => "Tag not defined for this message type",
            SessionRejectReason::UndefinedTag => "Undefined tag",
            SessionRejectReason::TagSpecifiedWithoutAValue => "Tag specified without a value",
            SessionRejectReason::ValueIsIncorrect => "Value is incorrect (out of range) for this tag",
            SessionRejectReason::IncorrectDataFormat => "Incorrect data format for value",
            SessionRejectReason::DecryptionProblem => "Decryption problem",
            SessionRejectReason::SignatureProblem => "Signature problem",
            SessionRejectReason::CompIdProblem => "CompID problem",
            SessionRejectReason::SendingTimeAccuracyProblem => "SendingTime accuracy problem",
            SessionRejectReason::InvalidMsgType => "Invalid MsgType",
            SessionRejectReason::XmlValidationError => "XML validation error",
            SessionRejectReason::TagAppearsMoreThanOnce => "Tag appears more than once",
            SessionRejectReason::TagSpecifiedOutOfRequiredOrder => "Tag specified out of required order",
            SessionRejectReason::RepeatingGroupFieldsOutOfOrder => "Out of order repeating group members",
            SessionRejectReason::IncorrectNumInGroupCount => "Incorrect NumInGroup count for repeating group",
            SessionRejectReason::NonDataValueIncludesFieldDelimiter => {
                "Non-data value includes field delimiter"
            }
            SessionRejectReason::InvalidApplicationVersion => "Invalid or unsupported application version",
            SessionRejectReason::Other => "Other",
        }
    }

    /// Returns the reason as a counterparty of this version may see it, or `None` if field 373 has
    /// to be left out: FIX.4.0 and 4.1 do not have the field, FIX.4.2 has 0 to 11, FIX.4.3 0 to 17,
    /// FIX.4.4 adds 99, FIXT.1.1 adds 18.
    // R-REJECT-2
    pub const fn for_version(self, version: Version) -> Option<SessionRejectReason> {
        let number = self.number();
        match version {
            Version::Fix40 | Version::Fix41 => None,
            Version::Fix42 if number > 11 => None,
            Version::Fix43 if number > 17 => None,
            Version::Fix44 if number == 18 => Some(SessionRejectReason::Other),
            _ => Some(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use fixbolt_codec::Version;

    use super::SessionRejectReason::{self, *};

    #[test]
    fn numbers_are_the_standards() {
        assert_eq!(InvalidTagNumber.number(), 0);
        assert_eq!(InvalidMsgType.number(), 11);
        assert_eq!(IncorrectNumInGroupCount.number(), 16);
        assert_eq!(InvalidApplicationVersion.number(), 18);
        assert_eq!(Other.number(), 99);
        for (at, reason) in SessionRejectReason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, at);
            assert_eq!(SessionRejectReason::from_number(reason.number()), reason);
        }
        assert_eq!(SessionRejectReason::from_number(50), Other);
    }

    // R-REJECT-2
    #[test]
    fn a_version_sees_only_the_reasons_it_knows() {
        for (version, up_to, has_other) in [
            (Version::Fix40, None, false),
            (Version::Fix41, None, false),
            (Version::Fix42, Some(11), false),
            (Version::Fix43, Some(17), false),
            (Version::Fix44, Some(17), true),
            (Version::Fixt11, Some(18), true),
        ] {
            for reason in SessionRejectReason::ALL {
                let is_known = if reason == Other { has_other } else { Some(reason.number()) <= up_to };
                let instead = (version == Version::Fix44).then_some(Other);
                let expected = if is_known { Some(reason) } else { instead };
                assert_eq!(reason.for_version(version), expected, "{version} {reason:?}");
            }
        }
    }
}
