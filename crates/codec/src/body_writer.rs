//! Writing a body, field by field, into borrowed memory.
//!
//! Every value is checked. An empty value, a value with SOH, a repeated tag or a field that belongs
//! to the session makes the whole body invalid, so that no sequence number is used for it.

use core::fmt;
use core::ops::Range;

use crate::body::Body;
use crate::copy_value::copy_value;
use crate::data_fields::DataFields;
use crate::encode_error::{EncodeError, EncodeErrorKind};
use crate::index::byte_sum;
use crate::key::{Key, Owner};
use crate::msg_type::MsgType;
use crate::number::Tag;
use crate::redacted::RedactedBody;
use crate::types::{FromField, ToField};

/// Writes fields into borrowed memory and remembers the first mistake.
///
/// ```
/// use fixbolt_codec::{BodyWriter, Key, MsgType};
/// let mut memory = [0; 256];
/// let mut order = BodyWriter::new(MsgType::new(b"D"), &mut memory);
/// order.bytes(Key::new(11), b"ord1").bytes(Key::new(55), b"IBM").field(Key::new(38), &57u64);
/// assert_eq!(order.finish().unwrap().bytes, b"11=ord1\x0155=IBM\x0138=57\x01");
/// ```
pub struct BodyWriter<'b> {
    memory: &'b mut [u8],
    /// Where the body begins. The bytes before it are reserved for the header.
    start: usize,
    at: usize,
    /// Where the body must end at the latest.
    limit: usize,
    msg_type: MsgType,
    error: Option<EncodeError>,
    scope: Scope,
    body_begun: bool,
    /// Position of the last length field, including its SOH.
    length_field: (usize, usize),
}

impl fmt::Debug for BodyWriter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let written = RedactedBody { bytes: self.written(), msg_type: self.msg_type.as_bytes() };
        let mut shown = f.debug_struct("BodyWriter");
        shown
            .field("msg_type", &self.msg_type)
            .field("written", &written)
            .field("error", &self.error)
            .finish()
    }
}

/// A region in which a tag may occur once: the message, or one entry of a group.
#[derive(Clone, Copy, Debug)]
struct Scope {
    start: usize,
    /// One bit for each tag modulo 512. A clear bit: the tag was not written. A set bit: look for
    /// it.
    seen: [u64; 8],
}

/// An open group; it restores the outer scope when the group ends.
#[derive(Debug)]
#[must_use = "a group is closed with `end_group`"]
pub struct OpenGroup {
    outer: Scope,
    count_tag: Tag,
    announced: usize,
    written: usize,
}

impl<'b> BodyWriter<'b> {
    /// Creates a writer at the beginning of `memory`.
    #[must_use]
    #[inline]
    pub const fn new(msg_type: MsgType, memory: &'b mut [u8]) -> Self {
        let limit = memory.len();
        Self::within(msg_type, memory, 0, limit)
    }

    /// Creates a writer over the part of `memory` from `start` to `limit`. The bytes around it are
    /// reserved for the header and CheckSum; [`BodyWriter::into_memory`] returns all of them.
    ///
    /// # Panics
    /// Panics if `start` is greater than `limit`, or `limit` greater than the length of `memory`.
    #[must_use]
    #[inline]
    pub const fn within(msg_type: MsgType, memory: &'b mut [u8], start: usize, limit: usize) -> Self {
        assert!(start <= limit && limit <= memory.len(), "a body lies within its memory");
        let scope = Scope { start, seen: [0; 8] };
        Self {
            memory,
            start,
            at: start,
            limit,
            msg_type,
            error: None,
            scope,
            body_begun: false,
            length_field: (0, 0),
        }
    }

    /// Returns the borrowed memory and the position of the body in it.
    #[must_use]
    pub fn into_memory(self) -> (&'b mut [u8], Range<usize>) {
        (self.memory, self.start..self.at)
    }

    /// Returns MsgType (35) of the message being written.
    #[must_use]
    pub const fn msg_type(&self) -> MsgType {
        self.msg_type
    }

    /// Returns the first mistake, if there is one.
    #[must_use]
    pub const fn error(&self) -> Option<EncodeError> {
        self.error
    }

    /// Returns the bytes written so far.
    #[must_use]
    pub fn written(&self) -> &[u8] {
        &self.memory[self.start..self.at]
    }

    /// Records a mistake. Only the first one is kept.
    pub fn refuse(&mut self, tag: Tag, kind: EncodeErrorKind) {
        if self.error.is_none() {
            self.error = Some(EncodeError { tag, kind });
        }
    }

    /// Writes a field from its bytes.
    #[inline]
    pub fn bytes(&mut self, key: Key, value: &[u8]) -> &mut Self {
        let before = self.at;
        if value.is_empty() {
            self.refuse(key.tag, EncodeErrorKind::Empty);
        } else if self.admit(key) {
            if !self.place(key, value) {
                // A value with SOH reads as other fields, so it is removed: the caller may go on
                // writing.
                self.at = before;
                self.refuse(key.tag, EncodeErrorKind::Soh);
            } else if key.paired {
                self.pair(key, before);
            }
        }
        self
    }

    /// Writes a field from a typed value.
    #[inline]
    pub fn field<T: ToField>(&mut self, key: Key, value: &T) -> &mut Self {
        if !self.admit(key) {
            return self;
        }
        let before = self.at;
        let value_at = self.at + usize::from(key.len);
        if self.at + key.text.len() + T::MAX_LEN >= self.limit {
            return self.field_near_the_end(key, value);
        }
        self.memory[self.at..self.at + key.text.len()].copy_from_slice(&key.text);
        let end = value_at + value.write_to(&mut self.memory[value_at..]);
        self.memory[end] = 1;
        self.at = end + 1;
        if key.paired {
            self.pair(key, before);
        }
        self
    }

    /// Near the end the value may still fit although the longest value of its type would not, so it
    /// is written to a buffer first.
    #[cold]
    fn field_near_the_end<T: ToField>(&mut self, key: Key, value: &T) -> &mut Self {
        let mut aside = [0; 128];
        if T::MAX_LEN > aside.len() {
            self.refuse(key.tag, EncodeErrorKind::NoRoom);
            return self;
        }
        let len = value.write_to(&mut aside);
        let before = self.at;
        self.place(key, &aside[..len]);
        if key.paired {
            self.pair(key, before);
        }
        self
    }

    /// Writes a length field and its data field. The value may contain SOH.
    #[inline]
    pub fn data(&mut self, length: Key, data: Key, value: &[u8]) -> &mut Self {
        if value.is_empty() {
            self.refuse(data.tag, EncodeErrorKind::Empty);
            return self;
        }
        self.field(length, &(value.len() as u64));
        if self.admit(data) {
            self.place(data, value);
        }
        self
    }

    /// Begins a repeating group of `count` entries; each begins with [`BodyWriter::entry`].
    ///
    /// Nothing is written if there are no entries: senders do not write `NoXXX=0`.
    #[inline]
    pub fn group(&mut self, count: Key, entries: usize) -> OpenGroup {
        if entries > 0 {
            self.field(count, &(entries as u64));
        }
        OpenGroup { outer: self.scope, count_tag: count.tag, announced: entries, written: 0 }
    }

    /// Begins the next entry of a group.
    #[inline]
    pub const fn entry(&mut self, group: &mut OpenGroup) {
        group.written += 1;
        self.scope = Scope { start: self.at, seen: [0; 8] };
    }

    /// Ends a group.
    #[inline]
    pub fn end_group(&mut self, group: OpenGroup) {
        if group.written != group.announced {
            self.refuse(group.count_tag, EncodeErrorKind::GroupOrder);
        }
        self.scope = group.outer;
    }

    /// Copies a field of another message unchanged. Only session fields, empty values and missing
    /// space are refused; the caller is responsible for the rest.
    pub fn copied(&mut self, key: Key, value: &[u8]) -> &mut Self {
        if key.owner == Owner::Session {
            self.refuse(key.tag, EncodeErrorKind::SessionField);
        } else if value.is_empty() {
            self.refuse(key.tag, EncodeErrorKind::Empty);
        } else {
            self.body_begun |= key.owner == Owner::Body;
            self.place(key, value);
        }
        self
    }

    /// Appends the fields of a finished body. Only missing space is refused, as for
    /// [`BodyWriter::copied`].
    pub fn body(&mut self, body: &Body<'_>) -> &mut Self {
        let end = self.at + body.bytes.len();
        if end > self.limit {
            self.refuse(Tag::new(35), EncodeErrorKind::NoRoom);
            return self;
        }
        self.memory[self.at..end].copy_from_slice(body.bytes);
        self.at = end;
        self.body_begun = true;
        self
    }

    /// Returns the finished body.
    ///
    /// # Errors
    /// Returns the first mistake.
    pub fn finish(&self) -> Result<Body<'_>, EncodeError> {
        match self.error {
            Some(error) => Err(error),
            None => {
                let bytes = self.written();
                Ok(Body { msg_type: self.msg_type, bytes, sum: byte_sum(bytes) })
            }
        }
    }

    /// Returns the finished body with the lifetime of the borrowed memory.
    #[inline]
    pub(crate) fn into_body(self) -> Result<Body<'b>, EncodeError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let memory: &'b [u8] = self.memory;
        let bytes = &memory[self.start..self.at];
        Ok(Body { msg_type: self.msg_type, bytes, sum: byte_sum(bytes) })
    }

    /// Returns whether the field may be written here, and records it as seen.
    #[inline]
    fn admit(&mut self, key: Key) -> bool {
        match key.owner {
            Owner::Body => self.body_begun = true,
            Owner::Header if !self.body_begun => {}
            Owner::Header => {
                self.refuse(key.tag, EncodeErrorKind::HeaderAfterBody);
                return false;
            }
            Owner::Session => {
                self.refuse(key.tag, EncodeErrorKind::SessionField);
                return false;
            }
        }
        let number = key.tag.number();
        let (word, bit) = ((number / 64 % 8) as usize, 1 << (number % 64));
        if self.scope.seen[word] & bit != 0 && self.stands_in_scope(number) {
            self.refuse(key.tag, EncodeErrorKind::Duplicate);
            return false;
        }
        self.scope.seen[word] |= bit;
        true
    }

    /// Writes the field and returns whether its value is free of SOH, which only data fields and
    /// copied fields may contain.
    #[inline]
    fn place(&mut self, key: Key, value: &[u8]) -> bool {
        let value_at = self.at + usize::from(key.len);
        let end = value_at + value.len();
        // The whole key is stored, a store of constant size; the value overwrites its unused bytes.
        if end.max(self.at + key.text.len()) >= self.limit {
            return self.place_near_the_end(key, value);
        }
        self.memory[self.at..self.at + key.text.len()].copy_from_slice(&key.text);
        let clean = copy_value(&mut self.memory[value_at..end], value);
        self.memory[end] = 1;
        self.at = end + 1;
        clean
    }

    #[cold]
    fn place_near_the_end(&mut self, key: Key, value: &[u8]) -> bool {
        let value_at = self.at + usize::from(key.len);
        let end = value_at + value.len();
        if end >= self.limit {
            self.refuse(key.tag, EncodeErrorKind::NoRoom);
            return true;
        }
        self.memory[self.at..value_at].copy_from_slice(&key.text[..usize::from(key.len)]);
        let clean = copy_value(&mut self.memory[value_at..end], value);
        self.memory[end] = 1;
        self.at = end + 1;
        clean
    }

    /// Records a length field, or compares a data field, which was written from `before` on, with
    /// its length field.
    #[cold]
    fn pair(&mut self, key: Key, before: usize) {
        if self.at == before {
            return; // It did not fit.
        }
        let Some(length_tag) = DataFields::STANDARD.length_tag(key.tag.number()) else {
            self.length_field = (before, self.at);
            return;
        };
        let length = self.at - 1 - before - usize::from(key.len);
        let in_front = match self.length_field {
            (start, end) if end == before => &self.memory[start..end],
            _ => &[],
        };
        let announced = in_front
            .split_last()
            .and_then(|(_, field)| field.iter().position(|byte| *byte == b'=').map(|at| field.split_at(at)))
            .filter(|(tag, _)| number(tag) == length_tag as usize)
            .map(|(_, value)| u64::from_field(&value[1..]));
        let right = match announced {
            Some(announced) => announced == Ok(length as u64),
            // Without a length field every reader ends the value at the next SOH.
            None => !self.stands_in_scope(length_tag),
        };
        if !right {
            self.refuse(key.tag, EncodeErrorKind::DataLength);
        }
    }

    /// Reads the fields of this scope back. Needed only if two tags share a bit.
    fn stands_in_scope(&self, tag: u32) -> bool {
        let bytes = &self.memory[self.scope.start..self.at];
        let mut at = 0;
        let mut announced: Option<(u32, usize)> = None;
        while at < bytes.len() {
            let Some(digits) = bytes[at..].iter().position(|b| *b == b'=') else { return false };
            let here = number(&bytes[at..at + digits]);
            if here == tag as usize {
                return true;
            }
            let value = at + digits + 1;
            let end = match announced.take() {
                Some((data_tag, length)) if data_tag as usize == here => value.saturating_add(length),
                _ => value + bytes[value..].iter().position(|b| *b == 1).unwrap_or(bytes.len() - value),
            };
            let end = end.min(bytes.len());
            announced = u32::try_from(here)
                .ok()
                .and_then(|here| DataFields::STANDARD.data_tag(here))
                .map(|data_tag| (data_tag, number(&bytes[value..end])));
            at = end + 1;
        }
        false
    }
}

/// Returns the number that these digits form. Other bytes yield some number and never a panic.
fn number(digits: &[u8]) -> usize {
    digits.iter().fold(0, |n: usize, d| n.wrapping_mul(10).wrapping_add(usize::from(d.wrapping_sub(b'0'))))
}
