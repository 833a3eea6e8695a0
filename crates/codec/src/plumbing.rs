//! What the crates of the engine share, and programs that use them do not need: bodies with room
//! around them, fields that are not checked, places that a validator has found.
//!
//! It is no part of what the crate promises: it changes without notice.

use core::ops::Range;

use crate::body_writer::BodyWriter;
use crate::data_fields::DataFields;
use crate::encode_error::EncodeError;
use crate::key::Key;
use crate::msg_type::MsgType;
use crate::number::Tag;
use crate::open_group::OpenGroup;

pub use crate::place::PlacePlumbing;
pub use crate::raw_body::RawBody;
pub use crate::sorting::Members;
pub use crate::tag_set::TagSet;

/// What a session does with a body.
pub trait BodyPlumbing<'b>: Sized {
    /// Creates a writer over the part of `memory` from `start` to `limit`. The bytes around it are
    /// reserved for the header and CheckSum; [`BodyPlumbing::into_memory`] returns all of them.
    ///
    /// # Panics
    /// Panics if `start` is greater than `limit`, `limit` is greater than the length of `memory`,
    /// or the body would begin after 4 GiB.
    #[must_use]
    fn within(msg_type: MsgType, memory: &'b mut [u8], start: usize, limit: usize) -> Self;

    /// Returns the borrowed memory and the position of the finished body in it.
    ///
    /// # Errors
    /// Returns the first mistake. It is also one if the last field is a length field, or if a group
    /// was not ended. The memory is then lost for the time it was borrowed for, since a group that
    /// was not ended could be ended in another body there.
    fn into_memory(self) -> Result<(&'b mut [u8], Range<usize>), EncodeError>;

    /// Returns a writer of fields that are not checked.
    fn raw(&mut self) -> RawBody<'_, 'b>;

    /// Returns `false` if the body certainly has no field with one of these tags, in its groups
    /// either. It searches nothing, so `true` may be wrong: other tags share the answer, and it is
    /// the only one after [`BodyPlumbing::raw`].
    ///
    /// ```
    /// use fixbolt_codec::plumbing::{BodyPlumbing as _, TagSet};
    /// use fixbolt_codec::{BodyWriter, Key, MsgType, Tag};
    ///
    /// let passwords = TagSet::of([554, 925].map(Tag::new));
    /// let mut memory = [0; 64];
    /// let mut request = BodyWriter::new(MsgType::new(b"BE"), &mut memory);
    /// request.bytes(Key::new(553), b"desk");
    /// assert!(!request.may_contain(&passwords));
    /// request.bytes(Key::new(554), b"battery");
    /// assert!(request.may_contain(&passwords));
    /// ```
    #[must_use]
    fn may_contain(&self, tags: &TagSet) -> bool;

    /// Returns the value of the first field with this tag that is written, in a body with these
    /// data fields.
    #[must_use]
    fn written_value(&self, tag: Tag, data_fields: &DataFields) -> Option<&[u8]>;

    /// Gives the field that has this key this value, in a body with these data fields. If there is
    /// none, it is added: a field of the header after those of the header, any other at the end.
    ///
    /// What is refused is recorded as any mistake is: besides what [`BodyWriter::bytes`] refuses, a
    /// field that the body has twice, as in entries of a group
    /// ([`EncodeErrorKind::Duplicate`](crate::EncodeErrorKind::Duplicate)), and a length field or
    /// data field, of which one does not go without the other
    /// ([`EncodeErrorKind::DataLength`](crate::EncodeErrorKind::DataLength)).
    fn set(&mut self, key: Key, value: &[u8], data_fields: &DataFields);

    /// Has each field that is written from here on compared with all that are in the body: also
    /// with those that were copied into it, which are not checked otherwise.
    fn compare_with_all(&mut self);

    /// Does what [`BodyWriter::end_group`] does, for a group that is not used again: the typed
    /// writers would move the group out of their state to end it.
    fn end_group_in_place(&mut self, group: &OpenGroup<'b>);

    /// Returns the count field of the group whose entry is being written.
    #[must_use]
    fn innermost_group(&self) -> Option<Tag>;

    /// Returns the first member of the entry that is being written which `order`, the tags of all
    /// members, has after `tag`.
    #[must_use]
    fn first_member_after(&self, tag: Tag, order: &[u32]) -> Option<Tag>;

    /// Records that the member with this ordinal begins here.
    fn begin_member(&self, ordinal: u16, members: &mut Members);

    /// Puts the members of the entry that is being written into the order of their ordinals; those
    /// with the same one stay as they are. Returns the ordinal of the first one.
    fn sort_members(&mut self, members: &mut Members) -> Option<u16>;
}

impl<'b> BodyPlumbing<'b> for BodyWriter<'b> {
    #[inline]
    fn within(msg_type: MsgType, memory: &'b mut [u8], start: usize, limit: usize) -> Self {
        BodyWriter::within(msg_type, memory, start, limit)
    }

    #[inline]
    fn into_memory(self) -> Result<(&'b mut [u8], Range<usize>), EncodeError> {
        BodyWriter::into_memory(self)
    }

    #[inline]
    fn raw(&mut self) -> RawBody<'_, 'b> {
        RawBody::new(self)
    }

    #[inline]
    fn may_contain(&self, tags: &TagSet) -> bool {
        BodyWriter::may_contain(self, tags)
    }

    fn written_value(&self, tag: Tag, data_fields: &DataFields) -> Option<&[u8]> {
        BodyWriter::written_value(self, tag, data_fields)
    }

    fn set(&mut self, key: Key, value: &[u8], data_fields: &DataFields) {
        BodyWriter::set(self, key, value, data_fields);
    }

    fn compare_with_all(&mut self) {
        BodyWriter::compare_with_all(self);
    }

    #[inline]
    fn end_group_in_place(&mut self, group: &OpenGroup<'b>) {
        BodyWriter::end_group_in_place(self, group);
    }

    fn innermost_group(&self) -> Option<Tag> {
        self.nesting.open_group()
    }

    fn first_member_after(&self, tag: Tag, order: &[u32]) -> Option<Tag> {
        BodyWriter::first_member_after(self, tag, order)
    }

    #[inline]
    fn begin_member(&self, ordinal: u16, members: &mut Members) {
        members.begin(ordinal, self.position());
    }

    fn sort_members(&mut self, members: &mut Members) -> Option<u16> {
        BodyWriter::sort_members(self, members)
    }
}
