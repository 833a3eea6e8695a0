//! Writing the body of a message: fields behind one another in memory that somebody lends.
//!
//! A writer makes a *body*: application header fields and body fields, never BeginString, BodyLength, MsgSeqNum, times or
//! CheckSum, which belong to whoever sends it. Every value is suspect: an empty one, an SOH in one, a tag twice, a field of
//! the session's make the body refused as a whole, so that no number is used for it.

use core::ops::Range;

use crate::data_fields::{self, DataFields};
use crate::encode_error::{EncodeError, EncodeErrorKind};
use crate::index::byte_sum;
use crate::msg_type::MsgType;
use crate::number::Tag;
use crate::types::{FromField, ToField};

/// A tag as it is written: its digits and `=`, made once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Key {
    tag: Tag,
    len: u8,
    owner: Owner,
    /// A length field or a data field of the standard.
    paired: bool,
    /// Digits and `=`, the rest unused.
    text: [u8; 16],
}

/// Who writes a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Owner {
    /// The application, in the body.
    Body,
    /// The application, in the header.
    Header,
    /// The session.
    Session,
}

impl Key {
    /// The key of a tag.
    ///
    /// # Panics
    /// As [`Tag::new`].
    #[must_use]
    pub const fn new(tag: u32) -> Self {
        Self::of(Tag::new(tag))
    }

    /// The key of a tag.
    #[must_use]
    pub const fn of(tag: Tag) -> Self {
        let mut digits = 1;
        let mut rest = tag.number() / 10;
        while rest > 0 {
            digits += 1;
            rest /= 10;
        }
        let mut text = [b'='; 16];
        let mut rest = tag.number();
        let mut n = digits;
        while n > 0 {
            n -= 1;
            text[n] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        let number = tag.number();
        let owner = if is_session_field(number) {
            Owner::Session
        } else if is_header_field(number) {
            Owner::Header
        } else {
            Owner::Body
        };
        Self { tag, len: digits as u8 + 1, owner, paired: data_fields::is_paired(number), text }
    }

    /// The tag.
    #[must_use]
    pub const fn tag(&self) -> Tag {
        self.tag
    }
}

/// A finished body: what a sender needs to make a message of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Body<'b> {
    /// What kind of message.
    pub msg_type: MsgType,
    /// Application header fields, then body fields, each with its SOH.
    pub bytes: &'b [u8],
    /// The sum of `bytes` modulo 256.
    pub sum: u8,
}

/// Where typed writers put a body: a session, a slot of a queue, plain memory.
#[diagnostic::on_unimplemented(
    message = "no message can be written into `{Self}`",
    label = "this takes no message",
    note = "a message is written into a session (`turn.reply()`), a sender of another thread (`&mut sender`) or plain memory (`Memory(&mut bytes)`)"
)]
pub trait NewBody<'b> {
    /// The draft that the sink hands out.
    type Draft: BodySink<'b>;

    /// Begins a body. A draft that is dropped without [`BodySink::send`] leaves no trace.
    fn draft(self, msg_type: MsgType) -> Self::Draft;
}

/// A body being written.
pub trait BodySink<'b> {
    /// What sending gives: a number, a ticket, the bytes.
    type Receipt;
    /// Why it was not sent.
    type Error: From<EncodeError>;

    /// Where fields are written.
    fn writer(&mut self) -> &mut BodyWriter<'b>;

    /// Hands the body over.
    ///
    /// # Errors
    /// The sink's own, and whatever [`BodyWriter::error`] holds: then nothing was sent and no number used.
    fn send(self) -> Result<Self::Receipt, Self::Error>;
}

/// Writes fields into lent memory and remembers the first mistake.
///
/// ```
/// use fixbolt_codec::{BodyWriter, Key, MsgType};
/// let mut memory = [0; 256];
/// let mut order = BodyWriter::new(MsgType::new(b"D"), &mut memory);
/// order.bytes(Key::new(11), b"ord1").bytes(Key::new(55), b"IBM").field(Key::new(38), &57u64);
/// assert_eq!(order.finish().unwrap().bytes, b"11=ord1\x0155=IBM\x0138=57\x01");
/// ```
#[derive(Debug)]
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

/// Fields of the standard header (and trailer) that the session writes itself.
const fn is_session_field(tag: u32) -> bool {
    matches!(tag, 8 | 9 | 10 | 34 | 35 | 43 | 49 | 52 | 56 | 122)
}

/// Other fields of the standard header: the application's, in front of the body.
const fn is_header_field(tag: u32) -> bool {
    matches!(
        tag,
        50 | 57
            | 90
            | 91
            | 97
            | 115
            | 116
            | 128
            | 129
            | 142
            | 143
            | 144
            | 145
            | 212
            | 213
            | 347
            | 369
            | 370
            | 627
            | 1128
            | 1129
            | 1156
    )
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
        let clean = copy(&mut self.memory[value_at..end], value);
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
        let clean = copy(&mut self.memory[value_at..end], value);
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

/// Copies a value and gives whether it is free of SOH, in words whose sizes are known: a call for a handful of bytes costs
/// more than the bytes. The last word overlaps the one before.
#[inline]
fn copy(to: &mut [u8], from: &[u8]) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // A byte of `word ^ ONES` is zero exactly where the value has SOH.
    let has_soh = |word: u64| {
        let zero = word ^ ONES;
        zero.wrapping_sub(ONES) & !zero & HIGH != 0
    };
    let mut soh = false;
    if let (Some(last_to), Some(last_from)) = (to.last_chunk_mut::<8>(), from.last_chunk::<8>()) {
        *last_to = *last_from;
        soh |= has_soh(u64::from_le_bytes(*last_from));
        for (to, from) in to.chunks_exact_mut(8).zip(from.chunks_exact(8)) {
            to.copy_from_slice(from);
            soh |= has_soh(u64::from_le_bytes(from.try_into().unwrap_or([0; 8])));
        }
    } else if let (Some(first), Some(last)) = (from.first_chunk::<4>(), from.last_chunk::<4>()) {
        if let Some(first_to) = to.first_chunk_mut::<4>() {
            *first_to = *first;
        }
        if let Some(last_to) = to.last_chunk_mut::<4>() {
            *last_to = *last;
        }
        let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
        soh |= has_soh(u64::from(first) | u64::from(last) << 32);
    } else {
        for (to, from) in to.iter_mut().zip(from) {
            *to = *from;
            soh |= *from == 1;
        }
    }
    !soh
}

/// Plain memory as a sink: [`BodySink::send`] gives the writer back, finished.
#[derive(Debug)]
pub struct Memory<'b>(pub &'b mut [u8]);

/// A body being written into plain memory.
#[derive(Debug)]
pub struct MemoryDraft<'b>(BodyWriter<'b>);

impl<'b> NewBody<'b> for Memory<'b> {
    type Draft = MemoryDraft<'b>;

    #[inline]
    fn draft(self, msg_type: MsgType) -> MemoryDraft<'b> {
        MemoryDraft(BodyWriter::new(msg_type, self.0))
    }
}

impl<'b> BodySink<'b> for MemoryDraft<'b> {
    type Receipt = Body<'b>;
    type Error = EncodeError;

    #[inline]
    fn writer(&mut self) -> &mut BodyWriter<'b> {
        &mut self.0
    }

    #[inline]
    fn send(self) -> Result<Body<'b>, EncodeError> {
        let BodyWriter { memory, at, msg_type, error, .. } = self.0;
        if let Some(error) = error {
            return Err(error);
        }
        let memory: &'b [u8] = memory;
        let bytes = &memory[..at];
        Ok(Body { msg_type, bytes, sum: byte_sum(bytes) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    extern crate std;
    use std::vec::Vec;

    const ORDER: MsgType = MsgType::new(b"D");

    fn error_of(write: impl FnOnce(&mut BodyWriter<'_>)) -> Option<(u32, EncodeErrorKind)> {
        let mut memory = [0; 512];
        let mut writer = BodyWriter::new(ORDER, &mut memory);
        write(&mut writer);
        writer.finish().err().map(|e| (e.tag.number(), e.kind))
    }

    #[test]
    fn a_finished_body_is_copied_behind_header_fields_and_refused_without_room() {
        let mut memory = [0; 64];
        let mut order = BodyWriter::new(MsgType::new(b"D"), &mut memory);
        order.bytes(Key::new(11), b"ord1");
        let finished = order.finish().unwrap();
        let mut memory = [0; 17];
        let mut copy = BodyWriter::new(MsgType::new(b"D"), &mut memory);
        copy.bytes(Key::new(50), b"desk").body(&finished);
        assert_eq!(copy.finish().unwrap().bytes, b"50=desk\x0111=ord1\x01");
        copy.body(&finished);
        assert_eq!(copy.error().map(|error| error.kind), Some(EncodeErrorKind::NoRoom));
    }

    #[test]
    fn what_would_not_be_a_message_is_refused() {
        let k = Key::new;
        assert_eq!(error_of(|w| _ = w.bytes(k(55), b"")), Some((55, EncodeErrorKind::Empty)));
        assert_eq!(error_of(|w| _ = w.bytes(k(55), b"a\x0144=1")), Some((55, EncodeErrorKind::Soh)));
        assert_eq!(
            error_of(|w| _ = w.bytes(k(55), b"a").bytes(k(54), b"1").bytes(k(55), b"b")),
            Some((55, EncodeErrorKind::Duplicate))
        );
        assert_eq!(error_of(|w| _ = w.bytes(k(34), b"7")), Some((34, EncodeErrorKind::SessionField)));
        assert_eq!(
            error_of(|w| _ = w.bytes(k(55), b"a").bytes(k(57), b"G")),
            Some((57, EncodeErrorKind::HeaderAfterBody))
        );
        assert_eq!(error_of(|w| _ = w.bytes(k(58), &[b'x'; 600])), Some((58, EncodeErrorKind::NoRoom)));
        assert_eq!(error_of(|w| _ = w.bytes(k(57), b"G").bytes(k(55), b"a")), None);
    }

    #[test]
    fn a_length_written_by_hand_is_that_of_the_data_behind_it() {
        let k = Key::new;
        let wrong = Some((96, EncodeErrorKind::DataLength));
        assert_eq!(error_of(|w| _ = w.bytes(k(95), b"3").bytes(k(96), b"abc")), None);
        assert_eq!(error_of(|w| _ = w.bytes(k(95), b"003").bytes(k(96), b"abc").bytes(k(58), b"x")), None);
        assert_eq!(error_of(|w| _ = w.field(k(95), &1u64).field(k(96), &7u64)), None);
        for length in ["2", "4", "99999999999999999999", "x", "-3"] {
            assert_eq!(
                error_of(|w| _ = w.bytes(k(95), length.as_bytes()).bytes(k(96), b"abc")),
                wrong,
                "{length}"
            );
        }
        assert_eq!(error_of(|w| _ = w.field(k(95), &2u64).field(k(96), &7u64)), wrong);
        // The standard wants it right in front; a counterparty may take it from anywhere.
        assert_eq!(error_of(|w| _ = w.bytes(k(95), b"2").bytes(k(58), b"x").bytes(k(96), b"abc")), wrong);
        assert_eq!(error_of(|w| _ = w.bytes(k(95), b"3").bytes(k(354), b"3").bytes(k(96), b"abc")), wrong);
        // Without one a data field is a field like any other, also behind another's length.
        assert_eq!(error_of(|w| _ = w.bytes(k(96), b"abc")), None);
        assert_eq!(error_of(|w| _ = w.bytes(k(354), b"3").bytes(k(96), b"abcde")), None);
        // Not neighbours in number.
        assert_eq!(error_of(|w| _ = w.bytes(k(43109), b"3").bytes(k(42684), b"abc")), None);
        assert_eq!(
            error_of(|w| _ = w.bytes(k(43109), b"2").bytes(k(42684), b"abc")),
            Some((42684, EncodeErrorKind::DataLength))
        );
    }

    #[test]
    fn the_end_of_an_entry_does_not_part_a_length_from_data() {
        let wrong = error_of(|w| {
            let mut group = w.group(Key::new(453), 2);
            w.entry(&mut group);
            w.bytes(Key::new(448), b"a").bytes(Key::new(95), b"4");
            w.entry(&mut group);
            w.bytes(Key::new(96), b"b");
            w.end_group(group);
        });
        assert_eq!(wrong, Some((96, EncodeErrorKind::DataLength)));
    }

    #[test]
    fn tags_that_share_a_bit_are_not_taken_for_each_other() {
        // 55 and 567 are equal modulo 512; the data field holds what looks like the tag.
        assert_eq!(error_of(|w| _ = w.bytes(Key::new(55), b"a").bytes(Key::new(567), b"b")), None);
        assert_eq!(
            error_of(|w| {
                w.data(Key::new(95), Key::new(96), b"x\x01567=y");
                w.bytes(Key::new(55), b"a").bytes(Key::new(567), b"b");
            }),
            None
        );
    }

    #[test]
    fn a_tag_stands_once_in_an_entry_and_again_in_the_next() {
        let entries = |w: &mut BodyWriter<'_>, twice: bool| {
            let mut group = w.group(Key::new(453), 2);
            for _ in 0..2 {
                w.entry(&mut group);
                w.bytes(Key::new(448), b"A").bytes(Key::new(447), b"D");
                if twice {
                    w.bytes(Key::new(448), b"B");
                }
            }
            w.end_group(group);
            w.bytes(Key::new(55), b"a");
        };
        assert_eq!(error_of(|w| entries(w, false)), None);
        assert_eq!(error_of(|w| entries(w, true)), Some((448, EncodeErrorKind::Duplicate)));
    }

    #[test]
    fn behind_a_refused_value_writing_goes_on_and_the_first_mistake_stays() {
        // 570 shares 58's bit, so that what was written is read back.
        let error = error_of(|w| _ = w.bytes(Key::new(58), b"a\x01b").bytes(Key::new(570), b"x"));
        assert_eq!(error, Some((58, EncodeErrorKind::Soh)));
    }

    #[test]
    fn a_value_of_any_length_is_copied_and_soh_found_anywhere_in_it() {
        for len in 1..40 {
            let value: Vec<u8> = (0..len).map(|n| b'A' + n % 50).collect();
            let mut memory = [0; 64];
            let mut writer = BodyWriter::new(ORDER, &mut memory);
            writer.bytes(Key::new(58), &value);
            let body = writer.finish().unwrap().bytes;
            assert_eq!(body, [b"58=", &value[..], b"\x01"].concat());
            for at in 0..value.len() {
                let mut value = value.clone();
                value[at] = 1;
                assert_eq!(error_of(|w| _ = w.bytes(Key::new(58), &value)), Some((58, EncodeErrorKind::Soh)));
            }
        }
    }

    #[test]
    fn a_group_has_as_many_entries_as_it_announces() {
        let error = error_of(|w| {
            let group = w.group(Key::new(453), 2);
            w.end_group(group);
        });
        assert_eq!(error, Some((453, EncodeErrorKind::GroupOrder)));
        assert_eq!(
            error_of(|w| {
                let group = w.group(Key::new(453), 0);
                w.end_group(group);
            }),
            None
        );
    }

    #[test]
    fn a_length_without_its_data_does_not_mislead_what_is_read_back() {
        // Found by the fuzzer: the refused data field leaves its length behind, the next entry's field is not that long.
        let error = error_of(|w| {
            let mut group = w.group(Key::new(453), 2);
            w.entry(&mut group);
            w.bytes(Key::new(96), b"x").data(Key::new(95), Key::new(96), b"12345");
            w.entry(&mut group);
            w.bytes(Key::new(96), b"y").bytes(Key::new(448), b"z");
            w.end_group(group);
            w.bytes(Key::new(965), b"a");
        });
        assert_eq!(error, Some((96, EncodeErrorKind::Duplicate)));
    }
}
