//! Writing repeating groups: the count is written when the group ends, each entry has a field, and
//! a group in an entry ends before the entry.

use core::marker::PhantomData;

use crate::body_writer::{BodyWriter, Scope};
use crate::encode_error::EncodeErrorKind;
use crate::index::byte_sum;
use crate::key::Key;
use crate::number::Tag;
use crate::types::ToField;

/// An open group. It must be ended: a body with a group that was not ended is refused.
///
/// It borrows the writer's memory, so that it cannot be ended in another body written there:
///
/// ```compile_fail,E0499
/// use fixbolt_codec::{BodyWriter, Key, MsgType};
///
/// let mut memory = [0; 64];
/// let parties = BodyWriter::new(MsgType::new(b"D"), &mut memory).group(Key::new(453));
/// BodyWriter::new(MsgType::new(b"D"), &mut memory).end_group(parties);
/// ```
#[derive(Debug)]
#[must_use = "a group is ended with `end_group`"]
pub struct OpenGroup<'b> {
    count_tag: Tag,
    entries: u32,
    /// Where the count field begins.
    begin: u32,
    /// Where the header fields before it end.
    header_end: u32,
    /// The sum of the bytes before it.
    sum: u32,
    first_entry: u32,
    /// What is around the group.
    outer: Nesting,
    /// With the count field.
    outer_scope: Scope,
    /// Address of the writer's memory, so that no writer ends another one's group.
    memory: usize,
    borrowed: PhantomData<&'b mut [u8]>,
}

// With what a caller adds, it is moved by a few registers, without a call.
const _: () = assert!(size_of::<OpenGroup<'_>>() <= 120);

impl OpenGroup<'_> {
    /// Returns the tag of the count field.
    #[must_use]
    pub const fn count_tag(&self) -> Tag {
        self.count_tag
    }

    /// Returns where the count has its one digit: with SOH after it, the first entry begins there.
    const fn count_at(&self) -> usize {
        self.first_entry as usize - 2
    }
}

/// The groups around the place where the next field is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Nesting {
    depth: u32,
    innermost: Option<Tag>,
}

impl Nesting {
    pub(crate) const NONE: Self = Self { depth: 0, innermost: None };

    /// Returns the count field of the innermost group.
    #[inline]
    pub(crate) const fn open_group(self) -> Option<Tag> {
        self.innermost
    }

    const fn within(self, count_tag: Tag) -> Self {
        Self { depth: self.depth + 1, innermost: Some(count_tag) }
    }
}

impl<'b> BodyWriter<'b> {
    /// Begins a repeating group; each of its entries begins with [`BodyWriter::entry`].
    ///
    /// The count field gets the number of entries in [`BodyWriter::end_group`]. A group without
    /// entries leaves nothing in the body, since senders do not write `NoXXX=0`; while it is open,
    /// it needs room for the count field.
    ///
    /// ```
    /// use fixbolt_codec::{BodyWriter, Key, MsgType};
    ///
    /// let mut memory = [0; 64];
    /// let mut order = BodyWriter::new(MsgType::new(b"D"), &mut memory);
    /// let mut parties = order.group(Key::new(453));
    /// for id in ["BROKER", "TRADER", ""].into_iter().filter(|id| !id.is_empty()) {
    ///     order.entry(&mut parties);
    ///     order.bytes(Key::new(448), id.as_bytes());
    /// }
    /// order.end_group(parties);
    /// assert_eq!(order.finish()?.bytes, b"453=2\x01448=BROKER\x01448=TRADER\x01");
    /// # Ok::<(), fixbolt_codec::EncodeError>(())
    /// ```
    #[cfg_attr(debug_assertions, inline)]
    #[cfg_attr(not(debug_assertions), inline(always))] // for keys that are constants
    pub fn group(&mut self, count: Key) -> OpenGroup<'b> {
        let (begin, header_end, sum, outer) = (self.position(), self.header_end(), self.sum, self.nesting);
        if count.paired {
            // What is announced before or by it would not be what the counterparty finds.
            self.refuse(count.tag, EncodeErrorKind::DataLength);
        }
        self.bytes(count, b"0");
        self.nesting = outer.within(count.tag);
        OpenGroup {
            count_tag: count.tag,
            entries: 0,
            begin,
            header_end,
            sum,
            first_entry: self.position(),
            outer,
            outer_scope: self.scope,
            memory: self.memory.as_ptr().addr(),
            borrowed: PhantomData,
        }
    }

    /// Begins the next entry of a group.
    #[inline]
    pub fn entry(&mut self, group: &mut OpenGroup<'b>) {
        self.end_entry(group);
        group.entries = group.entries.saturating_add(1);
        self.scope = Scope::new(self.position());
    }

    /// Ends a group and writes the number of its entries.
    #[inline]
    pub fn end_group(&mut self, group: OpenGroup<'b>) {
        self.end_group_in_place(&group);
    }

    /// Does what [`BodyWriter::end_group`] does, for a group that is not used again.
    pub(crate) fn end_group_in_place(&mut self, group: &OpenGroup<'b>) {
        self.end_entry(group);
        // Of a body that is refused nobody reads the count.
        if self.error().is_none() {
            match group.entries {
                0 => {
                    self.set_at(group.begin as usize);
                    self.set_header_end(group.header_end);
                    self.sum = group.sum;
                }
                digit @ 1..=9 => {
                    self.memory[group.count_at()] = b'0' + digit as u8;
                    self.sum = self.sum.wrapping_add(digit);
                }
                _ => self.write_count(group),
            }
        }
        self.scope = group.outer_scope;
        self.nesting = group.outer;
    }

    /// Writes a count of several digits, for which the entries move.
    #[cold]
    fn write_count(&mut self, group: &OpenGroup<'_>) {
        let mut digits = [0; u64::MAX_LEN];
        let length = u64::from(group.entries).write_to(&mut digits);
        let (digit, more) = (group.count_at(), length - 1);
        let (at, in_header) = (self.at(), self.in_header());
        if self.limit() - at < more {
            self.refuse(group.count_tag, EncodeErrorKind::NoRoom);
            return;
        }
        self.memory.copy_within(digit + 1..at, digit + 1 + more);
        self.memory[digit..=digit + more].copy_from_slice(&digits[..length]);
        let sum = u32::from(byte_sum(&digits[..length])).wrapping_sub(u32::from(b'0'));
        self.sum = self.sum.wrapping_add(sum);
        self.set_at(at + more);
        if in_header {
            self.extend_header();
        }
    }

    /// Refuses what must not be before the next entry or the end of a group.
    #[inline]
    fn end_entry(&mut self, group: &OpenGroup<'_>) {
        if self.announced.is_some() {
            self.refuse_announced();
        }
        let count_tag = group.count_tag;
        if self.nesting.depth != group.outer.depth + 1 || group.memory != self.memory.as_ptr().addr() {
            // A group in this one was not ended, or the group is not the innermost of this writer.
            self.refuse(self.nesting.open_group().unwrap_or(count_tag), EncodeErrorKind::OpenGroup);
        }
        if group.entries == 0 {
            if self.position() != group.first_entry {
                self.refuse(count_tag, EncodeErrorKind::BeforeEntry);
            }
        } else if self.position() == self.scope.start {
            self.refuse(count_tag, EncodeErrorKind::EmptyEntry);
        }
    }
}
