//! Writing a body, field by field, into borrowed memory.
//!
//! Every value is checked. An empty value, a value with SOH, a repeated tag or a field that belongs
//! to the session makes the whole body invalid, so that no sequence number is used for it. So does
//! anything that would let the counterparty read other fields than were written: a length field
//! without its data field, a group that is not ended, an entry without fields.
//!
//! A field that is like most (`Key::plain`), short and not near the end of the memory is
//! written here, in code that the compiler reduces to a few stores if the key is a constant. All
//! others take the way of `checks`, which also decides what is wrong.

use core::fmt;
use core::ops::Range;

use crate::body::Body;
use crate::checks::Announced;
use crate::data_key::DataKey;
use crate::encode_error::{EncodeError, EncodeErrorKind};
use crate::key::{Key, Owner};
use crate::msg_type::MsgType;
use crate::number::Tag;
use crate::open_group::Nesting;
use crate::redacted::RedactedBody;
use crate::short_value::{Eight, Sixteen, copy_long};
use crate::soh::SOH;
use crate::tag_set::TagSet;
use crate::types::ToField;

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
    pub(crate) memory: &'b mut [u8],
    /// Where the next field begins. Positions have four bytes: additions to them cannot overflow,
    /// so that one comparison says whether a field has room.
    at: u32,
    /// Number of bytes at the end of the memory into which no short field may extend: those after
    /// `limit`, or all while a length field waits for its data field, so that the next field is
    /// checked.
    kept: u32,
    /// The sum of the bytes from `start` to `at`; only its lowest eight bits are kept right.
    pub(crate) sum: u32,
    /// Where the header fields end that the body begins with. As long as this is `at`, another one
    /// may follow.
    header_end: u32,
    /// Where the body begins. The bytes before it are reserved for the header.
    start: u32,
    /// Where the body must end at the latest.
    limit: u32,
    msg_type: MsgType,
    error: Option<EncodeError>,
    pub(crate) scope: Scope,
    /// The tags that were written in any scope, but for fields that were not checked.
    pub(crate) written: TagSet,
    /// The length field that was written last, until its data field is written.
    pub(crate) announced: Option<Announced>,
    pub(crate) nesting: Nesting,
    /// Whether there is data of a dialect, whose pairs are not known here.
    pub(crate) dialect_data: bool,
    /// Whether there may be fields that were not checked, with any tag.
    pub(crate) unchecked: bool,
}

/// Bytes in which a short field is written: a key of up to eight bytes, a value of up to three
/// words, and SOH.
const WINDOW: usize = 8 + 3 * 8 + 1;

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
pub(crate) struct Scope {
    pub(crate) start: u32,
    /// One bit for each tag modulo 512. A clear bit: the tag was not written. A set bit: it may
    /// have been, if `written` has it, too. In bytes, so that a constant tag's bit is part of the
    /// instruction that sets it.
    pub(crate) seen: [u8; 64],
}

impl Scope {
    #[inline]
    pub(crate) const fn new(start: u32) -> Self {
        Self { start, seen: [0; 64] }
    }

    /// Returns whether this tag, or one that shares its bit, stands here.
    #[inline(always)]
    const fn shares_bit(&self, tag: Tag) -> bool {
        let (byte, bit) = Self::place(tag);
        self.seen[byte] & bit != 0
    }

    /// Returns the byte of `seen` and the bit in it for a tag.
    #[inline]
    pub(crate) const fn place(tag: Tag) -> (usize, u8) {
        Self::place_of(tag.number())
    }

    #[inline]
    pub(crate) const fn place_of(tag: u32) -> (usize, u8) {
        ((tag / 8 % 64) as usize, 1 << (tag % 8))
    }
}

impl<'b> BodyWriter<'b> {
    /// Creates a writer at the beginning of `memory`, of which it uses at most 4 GiB.
    #[must_use]
    #[inline]
    pub const fn new(msg_type: MsgType, memory: &'b mut [u8]) -> Self {
        let limit = memory.len();
        Self::within(msg_type, memory, 0, limit)
    }

    /// Creates a writer over the part of `memory` from `start` to `limit`.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // see `ends`
    pub(crate) const fn within(msg_type: MsgType, memory: &'b mut [u8], start: usize, limit: usize) -> Self {
        assert!(start <= limit && limit <= memory.len(), "a body lies within its memory");
        let (limit, kept) = ends(memory.len(), limit);
        assert!(start <= limit as usize, "a body begins within the first 4 GiB of its memory");
        Self {
            kept,
            memory,
            at: start as u32,
            sum: 0,
            header_end: start as u32,
            start: start as u32,
            limit,
            msg_type,
            error: None,
            scope: Scope::new(start as u32),
            written: TagSet::EMPTY,
            announced: None,
            nesting: Nesting::NONE,
            dialect_data: false,
            unchecked: false,
        }
    }

    /// Returns the borrowed memory and the position of the finished body in it.
    #[inline]
    pub(crate) fn into_memory(self) -> Result<(&'b mut [u8], Range<usize>), EncodeError> {
        self.is_finished()?;
        let body = self.start as usize..self.at();
        Ok((self.memory, body))
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
    #[inline]
    pub fn written(&self) -> &[u8] {
        &self.memory[self.start as usize..self.at()]
    }

    /// Records a mistake. Only the first one is kept.
    #[cold]
    pub fn refuse(&mut self, tag: Tag, kind: EncodeErrorKind) {
        if self.error.is_none() {
            self.error = Some(EncodeError { tag, kind });
        }
    }

    /// Writes a field from its bytes.
    #[cfg_attr(debug_assertions, inline)]
    #[cfg_attr(not(debug_assertions), inline(always))] // for keys that are constants
    pub fn bytes(&mut self, key: Key, value: &[u8]) -> &mut Self {
        if !self.short_bytes(&key, value) {
            // A copy, so that a constant key is in memory only here.
            let copy = key;
            self.any_bytes(&copy, value);
        }
        self
    }

    /// Writes a field from a typed value, whose bytes are checked as those of
    /// [`BodyWriter::bytes`].
    #[cfg_attr(debug_assertions, inline)]
    #[cfg_attr(not(debug_assertions), inline(always))] // for keys that are constants
    pub fn field<T: ToField>(&mut self, key: Key, value: &T) -> &mut Self {
        if !self.short_field(&key, value) {
            let copy = key;
            self.any_field(&copy, value);
        }
        self
    }

    /// Writes a length field and its data field. The value may contain SOH.
    pub fn data(&mut self, key: DataKey, value: &[u8]) -> &mut Self {
        self.length_and_data(&key.length(), &key.data(), value);
        self
    }

    /// Returns the finished body.
    ///
    /// # Errors
    /// Returns the first mistake. It is also one if the last field is a length field, or if a group
    /// was not ended.
    #[inline]
    pub fn finish(&self) -> Result<Body<'_>, EncodeError> {
        self.is_finished()?;
        let bytes = self.written();
        Ok(Body { msg_type: self.msg_type, bytes, sum: self.sum as u8 })
    }

    /// Returns the finished body with the lifetime of the borrowed memory.
    #[inline]
    pub(crate) fn into_body(self) -> Result<Body<'b>, EncodeError> {
        self.is_finished()?;
        let body = self.start as usize..self.at();
        let memory: &'b [u8] = self.memory;
        Ok(Body { msg_type: self.msg_type, bytes: &memory[body], sum: self.sum as u8 })
    }

    #[inline]
    fn is_finished(&self) -> Result<(), EncodeError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        if let Some(announced) = &self.announced {
            return Err(EncodeError::new(announced.length_tag, EncodeErrorKind::DanglingLength));
        }
        match self.nesting.open_group() {
            Some(count_tag) => Err(EncodeError::new(count_tag, EncodeErrorKind::OpenGroup)),
            None => Ok(()),
        }
    }

    /// Writes a plain field of 1 to 16 bytes, or returns `false` if it is to be written by
    /// [`BodyWriter::any_bytes`].
    #[inline(always)]
    fn short_bytes(&mut self, key: &Key, value: &[u8]) -> bool {
        // Read before anything is stored, of which the compiler may think that it changes this.
        let (at, length) = (self.at, value.len());
        if !self.admits_plain(key) {
            return false;
        }
        let Some(window) = self.window() else { return false };
        let Some((sum, soh)) = put_short(window, key, value) else { return false };
        if soh {
            return false;
        }
        self.wrote_plain(key, at, length, sum);
        true
    }

    /// Writes a field of the body of 1 to 16 bytes that is not checked, or returns `false`.
    #[inline]
    pub(crate) fn short_raw(&mut self, key: &Key, value: &[u8]) -> bool {
        let at = self.at;
        if key.len > 8 || !matches!(key.owner, Owner::Body) {
            return false;
        }
        let Some(window) = self.window() else { return false };
        let Some((sum, _)) = put_short(window, key, value) else { return false };
        self.advance(key, at, value.len(), sum);
        true
    }

    /// Writes a plain field from a typed value of a few words, or returns `false` if it is to be
    /// written by [`BodyWriter::any_field`].
    #[inline(always)]
    fn short_field<T: ToField>(&mut self, key: &Key, value: &T) -> bool {
        const { assert!(T::WORDS <= 3) };
        let at = self.at;
        if T::WORDS == 0 || !self.admits_plain(key) {
            return false;
        }
        let Some(short) = value.to_words() else { return false };
        let Some(window) = self.window() else { return false };
        put_key(window, key);
        let Some(place) = window[usize::from(key.len)..].first_chunk_mut::<25>() else { return false };
        for (n, word) in short.words[..T::WORDS].iter().enumerate() {
            place[8 * n..8 * n + 8].copy_from_slice(&word.to_le_bytes());
        }
        // What is longer would end the field within it; no type's value is.
        place[short.length.min(24)] = SOH;
        self.wrote_plain(key, at, short.length, short.sum);
        true
    }

    /// Writes a plain field of one byte or more, also if its tag shares a bit with another one in
    /// this scope, or returns `false`.
    #[inline]
    pub(crate) fn plain_bytes(&mut self, key: &Key, value: &[u8]) -> bool {
        if !self.may_begin_plain(key) || self.may_stand_in_scope(key.tag) || self.announced.is_some() {
            return false;
        }
        let (at, length) = (self.at, value.len());
        if length <= 16 {
            let Some(window) = self.window() else { return false };
            let Some((sum, false)) = put_short(window, key, value) else { return false };
            self.wrote_plain(key, at, length, sum);
            return true;
        }
        let (limit, key_length) = (self.limit(), usize::from(key.len));
        let Some(place) = self.memory[at as usize..limit].get_mut(..key_length + length + 1) else {
            return false;
        };
        // In constant size; the value overwrites what is not of the key.
        place[..12].copy_from_slice(&key.text);
        let (place, end) = place[key_length..].split_at_mut(length);
        end[0] = SOH;
        let (sum, soh) = copy_long(place, value);
        if !soh {
            self.wrote_plain(key, at, length, u32::from(sum));
        }
        !soh
    }

    /// Returns whether a plain field may be written here, unless its tag shares a bit with another
    /// one that stands in this scope: then it is `false`, and [`BodyWriter::plain_bytes`] knows
    /// better.
    #[inline(always)]
    const fn admits_plain(&self, key: &Key) -> bool {
        self.may_begin_plain(key) && !self.scope.shares_bit(key.tag)
    }

    /// Returns whether a plain field may be written here if its tag does not stand in this scope.
    #[inline(always)]
    const fn may_begin_plain(&self, key: &Key) -> bool {
        key.plain && (matches!(key.owner, Owner::Body) || self.in_header())
    }

    /// Returns `false` if this scope certainly has no field with this tag.
    #[inline]
    pub(crate) const fn may_stand_in_scope(&self, tag: Tag) -> bool {
        self.scope.shares_bit(tag) && (self.unchecked || self.written.may_have(tag.number()))
    }

    /// Records that this scope has a field with this tag.
    #[inline(always)]
    pub(crate) const fn record(&mut self, tag: Tag) {
        let (byte, bit) = Scope::place(tag);
        self.scope.seen[byte] |= bit;
        self.written.insert(tag.number());
    }

    /// Returns the memory for the next field, if there is enough and any field may follow.
    #[inline(always)]
    fn window(&mut self) -> Option<&mut [u8; WINDOW]> {
        // The compiler sees that `at` and the window are within the memory then.
        let at = self.at;
        let needed = u64::from(at) + WINDOW as u64 + u64::from(self.kept);
        if needed > self.memory.len() as u64 {
            return None;
        }
        self.memory[at as usize..].first_chunk_mut()
    }

    /// Goes on after a field that begins at `at`, whose value has this length and sum.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // the field ends before `limit`
    fn advance(&mut self, key: &Key, at: u32, length: usize, sum: u32) {
        self.at = at + u32::from(key.len) + length as u32 + 1;
        self.sum = self.sum.wrapping_add(u32::from(key.sum) + sum);
    }

    #[inline(always)]
    fn wrote_plain(&mut self, key: &Key, at: u32, length: usize, sum: u32) {
        self.advance(key, at, length, sum);
        self.record(key.tag);
        if matches!(key.owner, Owner::Header) {
            self.header_end = self.at;
        }
    }

    /// Appends whole fields. Their sum is left to the caller.
    #[inline]
    pub(crate) fn append(&mut self, fields: &[u8]) {
        let (at, limit) = (self.at(), self.limit());
        match self.memory[at..limit].get_mut(..fields.len()) {
            Some(place) => {
                place.copy_from_slice(fields);
                self.set_at(at + fields.len());
            }
            None => self.refuse(Tag::new(35), EncodeErrorKind::NoRoom),
        }
    }

    /// Returns where the next field begins.
    #[inline(always)]
    pub(crate) const fn at(&self) -> usize {
        self.at as usize
    }

    /// Returns where the next field begins, as it is kept.
    #[inline(always)]
    pub(crate) const fn position(&self) -> u32 {
        self.at
    }

    /// Has the next field begin at this position, which must not be after the limit.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)]
    pub(crate) const fn set_at(&mut self, at: usize) {
        debug_assert!(at <= self.limit as usize);
        self.at = at as u32;
    }

    /// Returns where the body must end at the latest.
    #[inline(always)]
    pub(crate) const fn limit(&self) -> usize {
        self.limit as usize
    }

    /// Returns whether a header field may follow.
    #[inline(always)]
    pub(crate) const fn in_header(&self) -> bool {
        self.at == self.header_end
    }

    /// Has another header field follow, as what was written last is one.
    pub(crate) const fn extend_header(&mut self) {
        self.header_end = self.at;
    }

    /// Lets no header field follow.
    pub(crate) const fn end_header(&mut self) {
        self.header_end = u32::MAX;
    }

    /// Returns where the header fields end.
    pub(crate) const fn header_end(&self) -> u32 {
        self.header_end
    }

    /// Lets header fields follow only at this position.
    pub(crate) const fn set_header_end(&mut self, end: u32) {
        self.header_end = end;
    }

    /// Has every field checked until [`BodyWriter::check_no_longer`] is called.
    pub(crate) const fn check_all(&mut self) {
        self.kept = u32::MAX;
    }

    pub(crate) const fn check_no_longer(&mut self) {
        self.kept = ends(self.memory.len(), self.limit()).1;
    }
}

/// Returns the limit of positions and the number of bytes after it, or `u32::MAX` for both if they
/// are not smaller.
#[inline(always)]
#[allow(clippy::cast_possible_truncation)]
const fn ends(length: usize, limit: usize) -> (u32, u32) {
    const MAX: usize = u32::MAX as usize;
    if length < MAX {
        return (limit as u32, (length - limit) as u32);
    }
    let kept = length - limit;
    (if limit < MAX { limit as u32 } else { u32::MAX }, if kept < MAX { kept as u32 } else { u32::MAX })
}

/// Writes a field of 1 to 16 bytes, with a key of at most eight. Returns the sum of the value and
/// whether it contains SOH, or `None` if it has another length.
#[inline(always)]
fn put_short(window: &mut [u8; WINDOW], key: &Key, value: &[u8]) -> Option<(u32, bool)> {
    let length = value.len();
    put_key(window, key);
    let place = window[usize::from(key.len)..].first_chunk_mut::<17>()?;
    let found = match length {
        // Most codes, in the fewest instructions if the length is known where it is called.
        1 => {
            place[0] = value[0];
            (u32::from(value[0]), value[0] == SOH)
        }
        2..=8 => {
            let word = Eight::load(value);
            place[..8].copy_from_slice(&word.0.to_le_bytes());
            (word.sum(), word.has_soh())
        }
        9..=16 => {
            let words = Sixteen::load(value);
            place[..16].copy_from_slice(&words.to_bytes());
            (words.sum(), words.has_soh())
        }
        _ => return None,
    };
    place[length] = SOH;
    Some(found)
}

/// Writes a key of up to eight bytes. What is after it is overwritten by the value.
#[inline(always)]
fn put_key(window: &mut [u8; WINDOW], key: &Key) {
    if key.len <= 4 {
        window[..4].copy_from_slice(&key.text[..4]);
    } else {
        window[..8].copy_from_slice(&key.text[..8]);
    }
}
