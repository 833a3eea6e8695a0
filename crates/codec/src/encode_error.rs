//! Why a body is refused: the field at fault and what is wrong with it.

use core::fmt;

use crate::number::Tag;

/// Why a body was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EncodeError {
    /// The field at fault.
    pub tag: Tag,
    /// What is wrong with it.
    pub kind: EncodeErrorKind,
}

/// What is wrong with a field that was to be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum EncodeErrorKind {
    /// The value has no bytes; the standard knows no empty value.
    Empty,
    /// The value holds SOH: it would forge a field.
    Soh,
    /// The tag stands in the message already.
    Duplicate,
    /// A member of a repeating group outside the group's order, or a group whose entries are not as many as announced.
    GroupOrder,
    /// The field belongs to the session: 8 9 10 34 35 43 49 52 56 122.
    SessionField,
    /// A header field behind a body field.
    HeaderAfterBody,
    /// A repeating group that the message or entry must have, without entries.
    Missing,
    /// A data field of another length than its length field says, or with that field elsewhere than right in front of it:
    /// the counterparty could not tell where it ends.
    DataLength,
    /// The lent memory is full: the message is larger than the sink takes.
    NoRoom,
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.kind {
            EncodeErrorKind::Empty => "has an empty value",
            EncodeErrorKind::Soh => "has SOH in its value",
            EncodeErrorKind::Duplicate => "stands in the message twice",
            EncodeErrorKind::GroupOrder => "is out of its repeating group's order",
            EncodeErrorKind::SessionField => "is the session's to write",
            EncodeErrorKind::HeaderAfterBody => "belongs in front of the body",
            EncodeErrorKind::Missing => "is required and was not written",
            EncodeErrorKind::DataLength => "does not have the length that is announced",
            EncodeErrorKind::NoRoom => "does not fit: the message is too large",
        };
        write!(f, "field {} {why}", self.tag)
    }
}

impl core::error::Error for EncodeError {}
