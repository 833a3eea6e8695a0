//! How an application turns down a message: a session Reject or a BusinessMessageReject, as values.

use core::fmt;
use std::borrow::Cow;

use fixbolt_codec::Tag;
use fixbolt_dictionary::SessionRejectReason;

/// A Reject (35=3) of a message that breaks a rule which the session's dictionary does not know.
///
/// ```
/// use fixbolt_codec::Tag;
/// use fixbolt_session::{SessionReject, SessionRejectReason};
///
/// let reject = SessionReject::new(SessionRejectReason::ValueIsIncorrect)
///     .tag(Tag::new(38))
///     .text(format!("OrderQty must be a multiple of {}", 100));
/// assert_eq!(reject.text, "OrderQty must be a multiple of 100");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct SessionReject {
    /// SessionRejectReason (373), left out where the session's version does not know it.
    pub reason: SessionRejectReason,
    /// RefTagID (371), from FIX.4.2 on.
    pub tag: Option<Tag>,
    /// Text (58); empty sends none.
    pub text: Cow<'static, str>,
}

impl SessionReject {
    /// A Reject in the words of its reason that names no field.
    #[must_use]
    pub fn new(reason: SessionRejectReason) -> Self {
        Self { reason, tag: None, text: Cow::Borrowed(reason.text()) }
    }

    /// The same Reject with this RefTagID (371).
    #[must_use]
    pub fn tag(mut self, tag: Tag) -> Self {
        self.tag = Some(tag);
        self
    }

    /// The same Reject with this Text (58); an empty one sends none.
    #[must_use]
    pub fn text(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.text = text.into();
        self
    }
}

impl fmt::Display for SessionReject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reject, reason {}", self.reason.number())?;
        if let Some(tag) = self.tag {
            write!(f, ", field {tag}")?;
        }
        write_text(f, &self.text)
    }
}

/// A BusinessMessageReject (35=j) of a message that is right, but that the application does not process. Before
/// FIX.4.2, which has no such message, it is sent as a Reject.
///
/// No version has a field in it that names the field at fault: the Text does.
///
/// ```
/// use fixbolt_session::{BusinessReject, BusinessRejectReason};
///
/// let reject = BusinessReject::new(BusinessRejectReason::UNKNOWN_SECURITY)
///     .text("no instrument with the symbol XYZ")
///     .ref_id("ord1");
/// assert_eq!(reject.reason.number(), 2);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct BusinessReject {
    /// BusinessRejectReason (380).
    pub reason: BusinessRejectReason,
    /// Text (58); empty sends none.
    pub text: Cow<'static, str>,
    /// BusinessRejectRefID (379): the identifier that the rejected message carries, such as its ClOrdID (11); empty
    /// sends none.
    pub ref_id: Cow<'static, str>,
}

impl BusinessReject {
    /// A BusinessMessageReject in the words of its reason.
    #[must_use]
    pub const fn new(reason: BusinessRejectReason) -> Self {
        Self { reason, text: Cow::Borrowed(reason.text()), ref_id: Cow::Borrowed("") }
    }

    /// The same with this Text (58); an empty one sends none.
    #[must_use]
    pub fn text(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.text = text.into();
        self
    }

    /// The same with this BusinessRejectRefID (379).
    #[must_use]
    pub fn ref_id(mut self, ref_id: impl Into<Cow<'static, str>>) -> Self {
        self.ref_id = ref_id.into();
        self
    }
}

impl fmt::Display for BusinessReject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BusinessMessageReject, reason {}", self.reason.number())?;
        write_text(f, &self.text)
    }
}

fn write_text(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    if text.is_empty() { Ok(()) } else { write!(f, ": {text}") }
}

/// BusinessRejectReason (380). A venue's own reasons are numbers from 100 on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BusinessRejectReason(u16);

/// Names a number, with the text that stands in Text (58) unless the application has a better one.
macro_rules! business_reject_reasons {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $text:literal;)*) => {
        impl BusinessRejectReason {
            $($(#[$doc])* pub const $name: Self = Self($number);)*

            /// The reason in words.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self.0 {
                    $($number => $text,)*
                    _ => "Rejected by the application",
                }
            }
        }
    };
}

business_reject_reasons! {
    /// Other (0).
    OTHER = 0, "Other";
    /// Unknown ID (1).
    UNKNOWN_ID = 1, "Unknown ID";
    /// Unknown Security (2).
    UNKNOWN_SECURITY = 2, "Unknown Security";
    /// Unsupported Message Type (3).
    UNSUPPORTED_MESSAGE_TYPE = 3, "Unsupported Message Type";
    /// Application not available (4).
    APPLICATION_NOT_AVAILABLE = 4, "Application not available";
    /// Conditionally required field missing (5).
    CONDITIONALLY_REQUIRED_FIELD_MISSING = 5, "Conditionally required field missing";
    /// Not Authorized (6), from FIX.4.4 on.
    NOT_AUTHORIZED = 6, "Not authorized";
    /// DeliverTo firm not available at this time (7), from FIX.4.4 on.
    DELIVER_TO_FIRM_NOT_AVAILABLE = 7, "DeliverTo firm not available at this time";
    /// Throttle limit exceeded (8), FIX Latest.
    THROTTLE_LIMIT_EXCEEDED = 8, "Throttle limit exceeded";
    /// Throttle limit exceeded, session will be disconnected (9), FIX Latest.
    THROTTLE_LIMIT_EXCEEDED_SESSION_DISCONNECTED = 9, "Throttle limit exceeded, session will be disconnected";
    /// Throttled messages rejected on request (10), FIX Latest.
    THROTTLED_MESSAGES_REJECTED_ON_REQUEST = 10, "Throttled messages rejected on request";
    /// Invalid price increment (18), FIX Latest.
    INVALID_PRICE_INCREMENT = 18, "Invalid price increment";
}

impl BusinessRejectReason {
    /// The reason with this number.
    #[must_use]
    pub const fn from_number(number: u16) -> Self {
        Self(number)
    }

    /// The number, as in BusinessRejectReason (380).
    #[must_use]
    pub const fn number(self) -> u16 {
        self.0
    }
}
