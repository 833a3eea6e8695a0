//! Why a body is refused: the field and what is wrong with it.

use core::fmt;

use crate::number::Tag;

/// Why a body was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct EncodeError {
    /// The field.
    pub tag: Tag,
    /// What is wrong with it.
    pub kind: EncodeErrorKind,
}

impl EncodeError {
    /// Returns the error of this kind in the field `tag`.
    #[must_use]
    pub const fn new(tag: Tag, kind: EncodeErrorKind) -> Self {
        Self { tag, kind }
    }
}

/// What is wrong with a field that is being written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum EncodeErrorKind {
    /// The value is empty; FIX has no empty values.
    Empty,
    /// The value contains SOH and would be read as two fields.
    Soh,
    /// The tag is in the message already.
    Duplicate,
    /// A member of a repeating group follows one that it must stand before in the entry. The order
    /// of the members is part of the standard: the counterparty could not tell where an entry ends.
    GroupOrder {
        /// The member before which it must stand: the first one in the entry that is after it in
        /// the group's order.
        before: Tag,
        /// The count field of the group.
        group: Tag,
    },
    /// An entry of a repeating group does not begin with this field, the first one of the group, by
    /// which the counterparty tells entries apart.
    EntryStart {
        /// The count field of the group.
        group: Tag,
    },
    /// A field that groups have, too, follows a group, where it could be read as a member of the
    /// last entry. It is written before the group.
    AfterGroup,
    /// Fields are between the count field of a repeating group and its first entry.
    BeforeEntry,
    /// An entry of a repeating group has no fields, so that the counterparty would count one less.
    EmptyEntry,
    /// A repeating group was begun and not ended.
    OpenGroup,
    /// The field is written by the session: 8 9 10 34 35 43 49 52 56 122.
    SessionField,
    /// A header field after a body field.
    HeaderAfterBody,
    /// A repeating group that the message or entry requires has no entries.
    Missing,
    /// A data field differs in length from its length field, or the length field is not directly
    /// before it: the counterparty could not tell where the data ends.
    DataLength,
    /// A length field without its data field directly after it: the counterparty would take the
    /// next fields for data.
    DanglingLength,
    /// A message that is forwarded breaks the syntax of FIX: it has a field without a tag or
    /// without `=`, or a MsgType of more than 15 bytes. The error's tag is 35 then.
    Malformed,
    /// The holes of a template are not filled in the order of the body, each once.
    Template,
    /// The value of a fixed hole of a template has another length than in the example.
    HoleWidth,
    /// The memory is full: the message is larger than the sink accepts.
    NoRoom,
    /// The sink's writer was replaced by one of another message or of other memory.
    Replaced,
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.kind {
            EncodeErrorKind::GroupOrder { before, group } => {
                return write!(
                    f,
                    "field {} must stand before field {before} in an entry of group {group}",
                    self.tag
                );
            }
            EncodeErrorKind::EntryStart { group } => {
                return write!(f, "field {} must be the first one in each entry of group {group}", self.tag);
            }
            EncodeErrorKind::AfterGroup => {
                "must stand before the groups, after which it could be read as a member of their last entry"
            }
            EncodeErrorKind::BeforeEntry => "counts a repeating group that has fields before its first entry",
            EncodeErrorKind::Empty => "has an empty value",
            EncodeErrorKind::Soh => "contains SOH",
            EncodeErrorKind::Duplicate => "is in the message twice",
            EncodeErrorKind::EmptyEntry => "counts an entry that has no fields",
            EncodeErrorKind::OpenGroup => "begins a repeating group that was not ended",
            EncodeErrorKind::SessionField => "can only be written by the session",
            EncodeErrorKind::HeaderAfterBody => "is a header field and must be written before the body",
            EncodeErrorKind::Missing => "is required and missing",
            EncodeErrorKind::DataLength => "does not have the length that its length field says",
            EncodeErrorKind::DanglingLength => {
                "is a length field and must have its data field directly after it"
            }
            EncodeErrorKind::Malformed => "is that of a message that breaks the syntax",
            EncodeErrorKind::Template => "is not filled where its template has it",
            EncodeErrorKind::HoleWidth => "does not have the length that its template keeps free",
            EncodeErrorKind::NoRoom => "does not fit, the message is too large",
            EncodeErrorKind::Replaced => "is that of another writer, which replaced the sink's own",
        };
        write!(f, "field {} {why}", self.tag)
    }
}

impl core::error::Error for EncodeError {}
