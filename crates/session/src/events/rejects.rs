//! How an application rejects a message: a session Reject or a BusinessMessageReject, as values.

use core::fmt;
use std::borrow::Cow;

use fixbolt_codec::{FromField, Message, Tag};
use fixbolt_dictionary::{BusinessRejectCode, SessionRejectCode};

use crate::values::fix::tag;

/// A Reject (35=3) of a message that breaks a rule that the session's dictionary does not contain.
///
/// ```
/// use fixbolt_session::{SessionReject, SessionRejectCode};
///
/// let reject = SessionReject::new(SessionRejectCode::VALUE_IS_INCORRECT)
///     .tag(38)
///     .text(format!("OrderQty must be a multiple of {}", 100));
/// assert_eq!(reject.text, "OrderQty must be a multiple of 100");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct SessionReject {
    /// SessionRejectReason (373), omitted if the session's version does not define it.
    pub reason: SessionRejectCode,
    /// RefTagID (371), since FIX.4.2. In FIX.4.0 and FIX.4.1 it is added to the Text, in brackets.
    pub tag: Option<Tag>,
    /// Text (58); not sent if empty.
    pub text: Cow<'static, str>,
}

impl SessionReject {
    /// Creates a Reject whose Text is that of its reason and that names no field.
    #[must_use]
    pub fn new(reason: SessionRejectCode) -> Self {
        Self { reason, tag: None, text: Cow::Borrowed(reason.text()) }
    }

    /// Sets RefTagID (371).
    #[must_use]
    pub fn tag(mut self, tag: impl Into<Tag>) -> Self {
        self.tag = Some(tag.into());
        self
    }

    /// Sets Text (58), which is not sent if empty.
    #[must_use]
    pub fn text(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.text = text.into();
        self
    }
}

impl fmt::Display for SessionReject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reject, reason {}", self.reason.value())?;
        if let Some(tag) = self.tag {
            write!(f, ", field {tag}")?;
        }
        write_text(f, &self.text)
    }
}

/// A BusinessMessageReject (35=j) of a message that is valid, but that the application does not
/// process. Before FIX.4.2, which has no such message, it is sent as a Reject.
///
/// It has no field that names the field in error in any version; use the Text for that.
///
/// ```
/// use fixbolt_session::{BusinessReject, BusinessRejectCode};
///
/// let reject = BusinessReject::new(BusinessRejectCode::UNKNOWN_SECURITY)
///     .text("no instrument with the symbol XYZ")
///     .ref_id("ord1");
/// assert_eq!(reject.reason.value(), 2);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct BusinessReject {
    /// BusinessRejectReason (380).
    pub reason: BusinessRejectCode,
    /// Text (58); not sent if empty.
    pub text: Cow<'static, str>,
    /// BusinessRejectRefID (379): the identifier in the rejected message, such as its ClOrdID (11);
    /// not sent if empty.
    pub ref_id: Cow<'static, str>,
}

impl BusinessReject {
    /// Creates a BusinessMessageReject whose Text is that of its reason.
    #[must_use]
    pub const fn new(reason: BusinessRejectCode) -> Self {
        Self { reason, text: Cow::Borrowed(reason.text()), ref_id: Cow::Borrowed("") }
    }

    /// Sets Text (58), which is not sent if empty.
    #[must_use]
    pub fn text(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.text = text.into();
        self
    }

    /// Sets BusinessRejectRefID (379).
    #[must_use]
    pub fn ref_id(mut self, ref_id: impl Into<Cow<'static, str>>) -> Self {
        self.ref_id = ref_id.into();
        self
    }
}

impl fmt::Display for BusinessReject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BusinessMessageReject, reason {}", self.reason.value())?;
        write_text(f, &self.text)
    }
}

fn write_text(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    if text.is_empty() { Ok(()) } else { write!(f, ": {text}") }
}

/// What a Reject says of the message that it rejects.
pub(crate) struct Rejection<'r> {
    /// Text (58), fit to be shown; empty if there is none.
    pub(crate) text: &'r str,
    /// SessionRejectReason (373).
    pub(crate) reason: Option<u64>,
    /// RefTagID (371).
    pub(crate) tag: Option<Tag>,
}

impl<'r> Rejection<'r> {
    /// Reads the fields of a Reject whose Text is `text`.
    pub(crate) fn of(reject: &Message<'_>, text: &'r str) -> Self {
        let number = |tag| reject.get(tag).and_then(|value| u64::from_field(value).ok());
        let named = reject.get(tag::REF_TAG_ID).and_then(|tag| Tag::from_field(tag).ok());
        Self { text, reason: number(tag::SESSION_REJECT_REASON), tag: named }
    }

    /// Returns whether it says nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.reason.is_none() && self.tag.is_none()
    }
}

/// Shows the Text, or else what the reason means, and both fields.
impl fmt::Display for Rejection<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = self.reason.and_then(|reason| {
            let code = SessionRejectCode::from_value(u16::try_from(reason).ok()?);
            code.name().map(|_| code.text())
        });
        let words = Some(self.text).filter(|text| !text.is_empty()).or(known);
        f.write_str(words.unwrap_or_default())?;
        if self.reason.is_none() && self.tag.is_none() {
            return Ok(());
        }
        f.write_str(if words.is_some() { " (" } else { "" })?;
        if let Some(tag) = self.tag {
            write!(f, "RefTagID 371 is {tag}")?;
        }
        if let Some(reason) = self.reason {
            let comma = if self.tag.is_some() { ", " } else { "" };
            write!(f, "{comma}SessionRejectReason 373 is {reason}")?;
        }
        f.write_str(if words.is_some() { ")" } else { "" })
    }
}
