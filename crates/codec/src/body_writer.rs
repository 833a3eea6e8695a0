//! Writing a body: fields behind one another in memory that somebody lends.
//!
//! Every value is suspect: an empty one, an SOH in one, a tag twice, a field of the session's make the body refused as a
//! whole, so that no number is used for it.

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

/// Writes fields into lent memory and remembers the first mistake.
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
    /// Where the body begins; what stands before it is headroom.
    start: usize,
    at: usize,
    /// Where the body must end at the latest.
    limit: usize,
    msg_type: MsgType,
    error: Option<EncodeError>,
    scope: Scope,
    body_begun: bool,
    /// Where the last length field stands, with its SOH.
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

/// The stretch in which a tag may stand once: the message, or one entry of a group.
#[derive(Clone, Copy, Debug)]
struct Scope {
    start: usize,
    /// One bit for each tag modulo 512: no bit, never written; a bit, look.
    seen: [u64; 8],
}

/// An open group: gives the outer scope back when the group ends.
#[derive(Debug)]
#[must_use = "a group is closed with `end_group`"]
pub struct OpenGroup {
    outer: Scope,
    count_tag: Tag,
    announced: usize,
    written: usize,
}

impl<'b> BodyWriter<'b> {
    /// A writer over `memory`, at its beginning.
    #[must_use]
    #[inline]
    pub const fn new(msg_type: MsgType, memory: &'b mut [u8]) -> Self {
        let limit = memory.len();
        Self::within(msg_type, memory, 0, limit)
    }

    /// A writer over the part of `memory` from `start` to `limit`. What lies around it is for header and CheckSum:
    /// [`BodyWriter::into_memory`] gives all of it back.
    ///
    /// # Panics
    /// When `start` is behind `limit`, or `limit` behind the end.
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

    /// The lent memory, and where the body stands in it.
    #[must_use]
    pub fn into_memory(self) -> (&'b mut [u8], Range<usize>) {
        (self.memory, self.start..self.at)
    }

    /// MsgType (35) of the message being written.
    #[must_use]
    pub const fn msg_type(&self) -> MsgType {
        self.msg_type
    }

    /// The first mistake.
    #[must_use]
    pub const fn error(&self) -> Option<EncodeError> {
        self.error
    }

    /// Bytes written so far.
    #[must_use]
    pub fn written(&self) -> &[u8] {
        &self.memory[self.start..self.at]
    }

    /// Remembers a mistake; the first one counts.
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
                // What was written can be read as other fields than it is: it goes, for writing may go on behind a mistake.
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

    /// Close to the end the value may still fit although its largest would not: it is written aside first.
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

    /// Writes a length field and its data field. The value may hold SOH.
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
    /// With no entries nothing is written: the standard's senders never write `NoXXX=0`.
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

    /// Copies fields that stand in another message as they are. The caller vouches for them: only session fields and room
    /// are checked.
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

    /// Copies the fields of a finished body behind what is written. The caller vouches for them, as for
    /// [`BodyWriter::copied`]: only room is checked.
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

    /// The finished body.
    ///
    /// # Errors
    /// The first mistake.
    pub fn finish(&self) -> Result<Body<'_>, EncodeError> {
        match self.error {
            Some(error) => Err(error),
            None => {
                let bytes = self.written();
                Ok(Body { msg_type: self.msg_type, bytes, sum: byte_sum(bytes) })
            }
        }
    }

    /// The finished body, as long as the lent memory.
    #[inline]
    pub(crate) fn into_body(self) -> Result<Body<'b>, EncodeError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let memory: &'b [u8] = self.memory;
        let bytes = &memory[self.start..self.at];
        Ok(Body { msg_type: self.msg_type, bytes, sum: byte_sum(bytes) })
    }

    /// Whether the field may stand here; notes it as seen.
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

    /// Writes the field; gives whether its value is free of SOH (data fields and copied ones may have it).
    #[inline]
    fn place(&mut self, key: Key, value: &[u8]) -> bool {
        let value_at = self.at + usize::from(key.len);
        let end = value_at + value.len();
        // The key is stored with its unused bytes, which the value overwrites: one store of a constant size.
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

    /// Remembers a length field; compares a data field, written from `before` on, with its own.
    #[cold]
    fn pair(&mut self, key: Key, before: usize) {
        if self.at == before {
            return; // There was no room.
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
            // Alone it ends at the next SOH, for everybody.
            None => !self.stands_in_scope(length_tag),
        };
        if !right {
            self.refuse(key.tag, EncodeErrorKind::DataLength);
        }
    }

    /// Reads back what this scope holds; only when two tags share a bit.
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

/// The number that digits give; whatever stands there, it is some number and no panic.
fn number(digits: &[u8]) -> usize {
    digits.iter().fold(0, |n: usize, d| n.wrapping_mul(10).wrapping_add(usize::from(d.wrapping_sub(b'0'))))
}
