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
use crate::index::byte_sum;
use crate::key::{Key, Owner};
use crate::msg_type::MsgType;
use crate::number::Tag;
use crate::open_group::Nesting;
use crate::raw_body::RawBody;
use crate::redacted::RedactedBody;
use crate::soh::soh_bits;
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
    /// Where the body begins. The bytes before it are reserved for the header.
    start: usize,
    pub(crate) at: usize,
    /// Where the body must end at the latest.
    pub(crate) limit: usize,
    /// Below this position, [`WINDOW`] bytes can be written. Zero while a length field waits for
    /// its data field, so that the next field is checked.
    pub(crate) free_until: usize,
    msg_type: MsgType,
    error: Option<EncodeError>,
    pub(crate) scope: Scope,
    /// One bit for each tag modulo 512 that was written in any scope; all bits after fields that
    /// are not checked.
    pub(crate) written: TagSet,
    pub(crate) body_begun: bool,
    /// The length field that was written last, until its data field is written.
    pub(crate) announced: Option<Announced>,
    pub(crate) nesting: Nesting,
    /// Whether there is data of a dialect, whose pairs are not known here.
    pub(crate) dialect_data: bool,
}

/// Bytes in which a short field is written: a key of up to eight bytes, a value and SOH.
const WINDOW: usize = 8 + SHORT + 1;
/// Length of a typed value that is written in the window.
const SHORT: usize = 32;

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
    pub(crate) start: usize,
    /// One bit for each tag modulo 512. A clear bit: the tag was not written. A set bit: look for
    /// it.
    pub(crate) seen: [u64; 8],
}

impl Scope {
    #[inline]
    pub(crate) const fn new(start: usize) -> Self {
        Self { start, seen: [0; 8] }
    }

    /// Returns the word of `seen` and the bit in it for a tag.
    #[inline]
    pub(crate) const fn place(tag: Tag) -> (usize, u64) {
        ((tag.number() / 64 % 8) as usize, 1 << (tag.number() % 64))
    }
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
        Self {
            memory,
            start,
            at: start,
            limit,
            free_until: free_until(limit),
            msg_type,
            error: None,
            scope: Scope::new(start),
            written: TagSet::EMPTY,
            body_begun: false,
            announced: None,
            nesting: Nesting::NONE,
            dialect_data: false,
        }
    }

    /// Returns the borrowed memory and the position of the finished body in it.
    ///
    /// # Errors
    /// Returns the first mistake. It is also one if the last field is a length field, or if a group
    /// was not ended. The memory is then lost for the time it was borrowed for, since a group that
    /// was not ended could be ended in another body there.
    #[inline]
    pub fn into_memory(self) -> Result<(&'b mut [u8], Range<usize>), EncodeError> {
        self.is_finished()?;
        Ok((self.memory, self.start..self.at))
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

    /// Returns a writer of fields that are not checked.
    #[inline]
    pub const fn raw(&mut self) -> RawBody<'_, 'b> {
        RawBody::new(self)
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
        Ok(Body { msg_type: self.msg_type, bytes, sum: byte_sum(bytes) })
    }

    /// Returns the finished body with the lifetime of the borrowed memory.
    #[inline]
    pub(crate) fn into_body(self) -> Result<Body<'b>, EncodeError> {
        self.is_finished()?;
        let memory: &'b [u8] = self.memory;
        let bytes = &memory[self.start..self.at];
        Ok(Body { msg_type: self.msg_type, bytes, sum: byte_sum(bytes) })
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

    /// Writes a plain field of 1 to 15 bytes, or returns `false` if it is to be written by
    /// [`BodyWriter::any_bytes`].
    #[inline(always)]
    fn short_bytes(&mut self, key: &Key, value: &[u8]) -> bool {
        let length = value.len();
        if !matches!(length, 1..=15) || !self.admits_plain(key) {
            return false;
        }
        let value_at = usize::from(key.len);
        let Some(window) = self.window() else { return false };
        window[..8].copy_from_slice(&key.text[..8]);
        let Some(place) = window.get_mut(value_at..value_at + 16) else { return false };
        // The word with the end of the value contains its SOH as well.
        let end = 1 << (8 * (length % 8));
        if let (Some(first), Some(last)) = (value.first_chunk::<8>(), value.last_chunk::<8>()) {
            let first = u64::from_le_bytes(*first);
            let last = u64::from_le_bytes(*last) >> 8 >> (8 * (15 - length));
            if soh_bits(first) | soh_bits(last) != 0 {
                return false;
            }
            place[..8].copy_from_slice(&first.to_le_bytes());
            place[8..].copy_from_slice(&(last | end).to_le_bytes());
        } else {
            let word = short_word(value);
            if soh_bits(word) != 0 {
                return false;
            }
            place[..8].copy_from_slice(&(word | end).to_le_bytes());
        }
        self.wrote_plain(key, length);
        true
    }

    /// Writes a plain field of 16 bytes or more, or returns `false`.
    #[inline]
    pub(crate) fn long_bytes(&mut self, key: &Key, value: &[u8]) -> bool {
        let value_at = self.at + usize::from(key.len);
        if value.len() < 16 || !self.admits_plain(key) || self.announced.is_some() || value_at >= self.limit {
            return false;
        }
        let Some(place) = self.memory[value_at..self.limit].get_mut(..=value.len()) else { return false };
        let (place, end) = place.split_at_mut(value.len());
        place.copy_from_slice(value);
        end[0] = 1;
        if value.as_chunks::<16>().0.iter().chain(value.last_chunk()).any(contains_soh) {
            return false;
        }
        self.memory[self.at..value_at].copy_from_slice(&key.text[..usize::from(key.len)]);
        self.wrote_plain(key, value.len());
        true
    }

    /// Writes a plain field of 1 to [`SHORT`] bytes from a typed value, or returns `false` if it is
    /// to be written by [`BodyWriter::any_field`].
    #[inline(always)]
    fn short_field<T: ToField>(&mut self, key: &Key, value: &T) -> bool {
        if T::MAX_LEN > SHORT || !self.admits_plain(key) {
            return false;
        }
        let value_at = usize::from(key.len);
        let Some(window) = self.window() else { return false };
        window[..8].copy_from_slice(&key.text[..8]);
        let Some(place) = window[value_at..].first_chunk_mut::<SHORT>() else { return false };
        // Only what the value writes is looked at.
        *place = [0; SHORT];
        let length = value.write_to(place);
        if contains_soh(place) || !matches!(length, 1..=SHORT) {
            return false;
        }
        window[value_at + length] = 1;
        self.wrote_plain(key, length);
        true
    }

    /// Returns whether a plain field may be written here.
    #[inline(always)]
    const fn admits_plain(&self, key: &Key) -> bool {
        let (word, bit) = Scope::place(key.tag);
        key.plain
            && (matches!(key.owner, Owner::Body) || !self.body_begun)
            && self.scope.seen[word] & bit == 0
    }

    /// Returns the memory for the next field, if there is enough and any field may follow.
    #[inline(always)]
    fn window(&mut self) -> Option<&mut [u8; WINDOW]> {
        if self.at >= self.free_until {
            return None;
        }
        self.memory[self.at..].first_chunk_mut()
    }

    #[inline(always)]
    fn wrote_plain(&mut self, key: &Key, length: usize) {
        self.at += usize::from(key.len) + length + 1;
        let (word, bit) = Scope::place(key.tag);
        self.scope.seen[word] |= bit;
        self.written.0[word] |= bit;
        self.body_begun |= matches!(key.owner, Owner::Body);
    }
}

/// Returns the first position at which the window does not fit.
pub(crate) const fn free_until(limit: usize) -> usize {
    (limit + 1).saturating_sub(WINDOW)
}

/// Returns one to seven bytes as a word, the first one lowest.
#[inline]
fn short_word(value: &[u8]) -> u64 {
    let length = value.len();
    if let (Some(first), Some(last)) = (value.first_chunk::<4>(), value.last_chunk::<4>()) {
        // The two halves overlap in equal bytes.
        return u64::from(u32::from_le_bytes(*first))
            | u64::from(u32::from_le_bytes(*last)) << (8 * (length - 4));
    }
    let middle = length / 2;
    u64::from(value[0])
        | u64::from(value[middle]) << (8 * middle)
        | u64::from(value[length - 1]) << (8 * (length - 1))
}

/// Returns whether one of the bytes is SOH, without a branch for each.
#[inline]
fn contains_soh<const N: usize>(bytes: &[u8; N]) -> bool {
    bytes.iter().fold(false, |soh, byte| soh | (*byte == 1))
}
