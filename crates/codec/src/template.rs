//! Messages of which only a few values differ: all other bytes are prepared once, with their sum.
//!
//! A template is made from a body that was written in the ordinary way, so everything that is
//! always the same has been checked once. The values in its holes are checked as they are written.

use core::fmt;

use crate::body::{Body, BodySink, NewBody};
use crate::body_writer::BodyWriter;
use crate::checks::WrittenFields;
use crate::encode_error::{EncodeError, EncodeErrorKind};
use crate::index::byte_sum;
use crate::key::Key;
use crate::msg_type::MsgType;
use crate::number::Tag;
use crate::redacted::RedactedBody;
use crate::short_value::{Eight, Sixteen};
use crate::soh::SOH;
use crate::tag_set::TagSet;
use crate::types::{ToField, digits};

const MSG_TYPE: Tag = Tag::new(35);

/// A prepared message, in which the values of some fields are holes. It has room for `BYTES` bytes
/// of body, without the values in the holes, and for `HOLES` holes.
///
/// ```
/// use fixbolt_codec::{BodyWriter, Hole, Key, Memory, MsgType, Template};
///
/// const CL_ORD_ID: Key = Key::new(11);
/// const SYMBOL: Key = Key::new(55);
/// const ORDER_QTY: Key = Key::new(38);
///
/// // An example, also from a typed writer: `NewOrderSingle::send(Memory(&mut memory), …)`.
/// let mut memory = [0; 64];
/// let mut example = BodyWriter::new(MsgType::new(b"D"), &mut memory);
/// example.bytes(CL_ORD_ID, b"?").bytes(SYMBOL, b"IBM").bytes(ORDER_QTY, b"000000");
/// let holes = [Hole::Variable(CL_ORD_ID.tag()), Hole::Fixed(ORDER_QTY.tag())];
/// let template = Template::<64, 2>::new(&example.finish()?, &holes)?;
///
/// let mut memory = [0; 64];
/// let order = template.send(Memory(&mut memory), |holes| {
///     holes.bytes(CL_ORD_ID, b"ord1").padded(ORDER_QTY, 57);
/// })?;
/// assert_eq!(order.bytes, b"11=ord1\x0155=IBM\x0138=000057\x01");
/// # Ok::<(), fixbolt_codec::EncodeError>(())
/// ```
#[derive(Clone)]
pub struct Template<const BYTES: usize, const HOLES: usize> {
    /// The fixed parts, one after the other.
    bytes: [u8; BYTES],
    parts: [Part; HOLES],
    /// The number of holes.
    count: usize,
    /// Where the part before the first hole ends.
    first: usize,
    msg_type: MsgType,
    /// The sum of all fixed parts' bytes.
    sum: u32,
    written: TagSet,
}

/// A field of a template whose value differs from message to message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hole {
    /// A value that always has as many bytes as in the example.
    Fixed(Tag),
    /// A value of any length.
    Variable(Tag),
}

/// A hole, and the fixed part after it, which begins with SOH.
#[derive(Clone, Copy)]
struct Part {
    tag: u32,
    /// The length of the value; 0 if it may be any.
    width: u32,
    /// Where the fixed part is in the template's bytes.
    start: u32,
    length: u32,
    /// Its beginning again, with zeros after it: what is copied in one piece, without a look at how
    /// long it is.
    head: [u8; HEAD],
}

/// More bytes than are between most holes.
const HEAD: usize = 32;
/// The longest value that is written from words.
const WORDS: usize = 24;

impl Part {
    const NONE: Self = Self { tag: 0, width: 0, start: 0, length: 0, head: [0; HEAD] };

    /// Returns where the fixed part ends in the template's bytes.
    const fn end(&self) -> usize {
        (self.start + self.length) as usize
    }
}

impl<const BYTES: usize, const HOLES: usize> Template<BYTES, HOLES> {
    /// Makes a template from an example: a finished body, in which the values of these fields are
    /// holes. They are named in the order of the body.
    ///
    /// Two fields that the standard does not have are taken for data with its length, in which
    /// there is no hole, if the value of the first is the length from that of the second up to an
    /// SOH.
    ///
    /// # Errors
    /// - [`EncodeErrorKind::Missing`]: the example has no such field.
    /// - [`EncodeErrorKind::Duplicate`]: it has two, for example in the entries of a group.
    /// - [`EncodeErrorKind::Template`]: the holes are not named in the order of the example.
    /// - [`EncodeErrorKind::DataLength`]: a data field of the standard or its length field cannot
    ///   be a hole. Those of a dialect must not be.
    /// - [`EncodeErrorKind::Empty`]: the value of a fixed hole is empty, as only unchecked values
    ///   are.
    /// - [`EncodeErrorKind::NoRoom`]: the template has less than `BYTES` bytes for the example, or
    ///   fewer than `HOLES` holes.
    pub fn new(example: &Body<'_>, holes: &[Hole]) -> Result<Self, EncodeError> {
        let mut template = Self {
            bytes: [0; BYTES],
            parts: [Part::NONE; HOLES],
            count: 0,
            first: 0,
            msg_type: example.msg_type,
            sum: 0,
            written: TagSet::EMPTY,
        };
        // Where the fixed bytes begin that are not copied yet, and where they are copied to.
        let (mut from, mut to) = (0, 0);
        for (tag, value) in WrittenFields::of(example.bytes, true) {
            let Some(hole) = holes.get(template.count).filter(|hole| hole.tag().number() == tag) else {
                continue;
            };
            let width = match hole {
                Hole::Fixed(tag) if value.is_empty() => {
                    return Err(EncodeError::new(*tag, EncodeErrorKind::Empty));
                }
                Hole::Fixed(_) => value.len(),
                Hole::Variable(_) => 0,
            };
            to = template.append(hole.tag(), &example.bytes[from..value.start], to)?;
            from = value.end;
            template.add_hole(hole.tag(), width)?;
        }
        template.append(MSG_TYPE, &example.bytes[from..], to)?;
        // What is taken for data of a dialect may be fields, of which one may be a secret.
        for (tag, _) in WrittenFields::of(example.bytes, false) {
            template.written.insert(tag);
        }
        for hole in holes {
            let tag = hole.tag();
            let fields = WrittenFields::of(example.bytes, true).filter(|(one, _)| *one == tag.number());
            let kind = match fields.count() {
                _ if Key::of(tag).paired => EncodeErrorKind::DataLength,
                0 => EncodeErrorKind::Missing,
                1 => continue,
                _ => EncodeErrorKind::Duplicate,
            };
            return Err(EncodeError::new(tag, kind));
        }
        if let Some(hole) = holes.get(template.count) {
            return Err(EncodeError::new(hole.tag(), EncodeErrorKind::Template));
        }
        for part in &mut template.parts[..template.count] {
            let bytes = &template.bytes[part.start as usize..part.end()];
            let length = bytes.len().min(HEAD);
            part.head[..length].copy_from_slice(&bytes[..length]);
        }
        template.sum = u32::from(byte_sum(&template.bytes[..template.end()]));
        Ok(template)
    }

    /// Appends to the part after the last hole and returns where it ends.
    fn append(&mut self, tag: Tag, bytes: &[u8], at: usize) -> Result<usize, EncodeError> {
        let end = at + bytes.len();
        match (self.bytes.get_mut(at..end), u32::try_from(end)) {
            (Some(place), Ok(position)) => {
                place.copy_from_slice(bytes);
                match self.parts[..self.count].last_mut() {
                    Some(part) => part.length = position - part.start,
                    None => self.first = end,
                }
                Ok(end)
            }
            _ => Err(EncodeError::new(tag, EncodeErrorKind::NoRoom)),
        }
    }

    #[allow(clippy::cast_possible_truncation)] // `append` has seen that they fit
    fn add_hole(&mut self, tag: Tag, width: usize) -> Result<(), EncodeError> {
        let start = self.end() as u32;
        let no_room = EncodeError::new(tag, EncodeErrorKind::NoRoom);
        let width = u32::try_from(width).map_err(|_| no_room)?;
        let place = self.parts.get_mut(self.count).ok_or(no_room)?;
        *place = Part { tag: tag.number(), width, start, ..Part::NONE };
        self.count += 1;
        Ok(())
    }

    /// Returns where the last part ends.
    fn end(&self) -> usize {
        self.parts[..self.count].last().map_or(self.first, Part::end)
    }

    /// Returns MsgType (35) of the messages.
    #[must_use]
    pub const fn msg_type(&self) -> MsgType {
        self.msg_type
    }

    /// Sends a message with the values that `fill` puts into the holes, which it does in the order
    /// of the body, each once.
    ///
    /// # Errors
    /// Returns the sink's error, or the first mistake, and nothing was sent:
    /// - [`EncodeErrorKind::Template`]: a hole is filled before another one that is before it in
    ///   the body, or twice, or not at all; or the sink began with fields of its own (tag 35).
    /// - [`EncodeErrorKind::HoleWidth`]: the value of a fixed hole has another length.
    /// - [`EncodeErrorKind::Empty`], [`Soh`](EncodeErrorKind::Soh),
    ///   [`NoRoom`](EncodeErrorKind::NoRoom): as for any value.
    #[inline]
    pub fn send<'b, S: NewBody<'b>>(
        &self,
        sink: S,
        fill: impl FnOnce(&mut Holes<'_>),
    ) -> Result<<S::Draft as BodySink<'b>>::Receipt, <S::Draft as BodySink<'b>>::Error> {
        let mut draft = sink.draft(self.msg_type);
        let writer = draft.writer();
        let (at, limit) = (writer.position(), writer.limit());
        let mut holes = Holes {
            at,
            sum: self.sum,
            parts: &self.parts[..self.count],
            bytes: &self.bytes,
            memory: &mut writer.memory[..limit],
            error: None,
        };
        holes.append(&self.bytes[..self.first]);
        fill(&mut holes);
        let (at, sum, error) = holes.finish();
        writer.complete_with(at, sum, &self.written, error);
        draft.send()
    }
}

impl Hole {
    /// Returns the field's tag.
    #[must_use]
    pub const fn tag(self) -> Tag {
        match self {
            Self::Fixed(tag) | Self::Variable(tag) => tag,
        }
    }
}

impl BodyWriter<'_> {
    /// Has the body consist of what a template wrote up to `at`.
    #[inline]
    fn complete_with(&mut self, at: u32, sum: u32, written: &TagSet, error: Option<EncodeError>) {
        if !self.written().is_empty() {
            self.refuse(MSG_TYPE, EncodeErrorKind::Template);
        }
        if let Some(error) = error {
            return self.refuse(error.tag, error.kind);
        }
        self.set_at(at as usize);
        self.sum = sum;
        self.written = *written;
        self.end_header();
    }
}

/// Shows the fields, those of holes without a value, and secrets as
/// [`Redacted`](crate::Redacted) does.
impl<const BYTES: usize, const HOLES: usize> fmt::Debug for Template<BYTES, HOLES> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = &self.bytes[..self.end()];
        let fields = RedactedBody { bytes, msg_type: self.msg_type.as_bytes() };
        f.debug_struct("Template").field("msg_type", &self.msg_type).field("fields", &fields).finish()
    }
}

/// The holes of a message that is written from a [`Template`]: they are filled in the order of the
/// body.
pub struct Holes<'t> {
    /// The memory up to where the body must end at the latest.
    memory: &'t mut [u8],
    /// Where the next value begins. The memory has at most 4 GiB.
    at: u32,
    /// The sum of the bytes of all fixed parts and of the values so far.
    sum: u32,
    /// The parts that are not filled; none after a mistake.
    parts: &'t [Part],
    /// The fixed parts.
    bytes: &'t [u8],
    error: Option<EncodeError>,
}

impl Holes<'_> {
    /// Fills a hole with these bytes.
    #[cfg_attr(debug_assertions, inline)]
    #[cfg_attr(not(debug_assertions), inline(always))] // for keys that are constants
    pub fn bytes(&mut self, key: Key, value: &[u8]) -> &mut Self {
        let put = |window: &mut [u8; WORDS]| put_short(window, value);
        if !self.fill(&key, value.len(), put) {
            self.any_bytes(key.tag, value);
        }
        self
    }

    /// Fills a hole with a typed value.
    #[cfg_attr(debug_assertions, inline)]
    #[cfg_attr(not(debug_assertions), inline(always))] // for keys that are constants
    pub fn field<T: ToField>(&mut self, key: Key, value: &T) -> &mut Self {
        const { assert!(T::WORDS <= 3) };
        let short = if T::WORDS > 0 { value.to_words() } else { None };
        let is_filled = short.is_some_and(|short| {
            self.fill(&key, short.length, |window| {
                Some(put_words(window, &short.words[..T::WORDS], short.sum))
            })
        });
        if !is_filled {
            self.any_field(key.tag, value);
        }
        self
    }

    /// Fills a fixed hole with a number that has zeros before it, as many as are needed. FIX allows
    /// them in all numbers.
    #[cfg_attr(debug_assertions, inline)]
    #[cfg_attr(not(debug_assertions), inline(always))] // for keys that are constants
    pub fn padded(&mut self, key: Key, number: u64) -> &mut Self {
        let width = self.parts.first().map_or(0, |part| part.width as usize);
        let is_filled = matches!(width, 1..=8) && number < digits::TEN_TO[width] && {
            let number_digits = digits::eight(number);
            let word = digits::text(number_digits >> (64 - 8 * width));
            let sum = digits::text_sum(number_digits, width);
            self.fill(&key, width, |window| Some(put_words(window, &[word], sum)))
        };
        if !is_filled {
            self.any_padded(key.tag, number);
        }
        self
    }

    /// Fills a hole with a value of this length that `put` writes, and goes on with the fixed part
    /// after it. Returns `false` if this is to be done by [`Holes::any_bytes`], in particular if
    /// `put` does not return the value's sum.
    #[inline(always)]
    fn fill(&mut self, key: &Key, length: usize, put: impl FnOnce(&mut [u8; WORDS]) -> Option<u32>) -> bool {
        let Some((part, parts)) = self.parts.split_first() else { return false };
        if part.tag != key.tag.number() || part.width != 0 && part.width as usize != length {
            return false;
        }
        // The compiler sees that the window is within the memory then: positions have four bytes.
        let at = self.at;
        if u64::from(at) + (WORDS + HEAD) as u64 > self.memory.len() as u64 {
            return false;
        }
        let window = self.memory[at as usize..].first_chunk_mut();
        let Some(window): Option<&mut [u8; WORDS + HEAD]> = window else { return false };
        let Some(sum) = window.first_chunk_mut().and_then(put) else { return false };
        // What is longer would end within the window; no value that `put` writes is.
        let end = length.min(WORDS);
        window[end..end + HEAD].copy_from_slice(&part.head);
        self.parts = parts;
        self.sum = self.sum.wrapping_add(sum);
        if part.length <= HEAD as u32 {
            self.at = at + end as u32 + part.length;
        } else {
            self.at = at + end as u32;
            self.append(&self.bytes[part.start as usize..part.end()]);
        }
        true
    }

    /// Appends fixed bytes.
    #[inline]
    fn append(&mut self, bytes: &[u8]) {
        match self.memory.get_mut(self.at as usize..).and_then(|place| place.get_mut(..bytes.len())) {
            Some(place) => {
                place.copy_from_slice(bytes);
                self.at += bytes.len() as u32;
            }
            None => self.refuse(MSG_TYPE, EncodeErrorKind::NoRoom),
        }
    }

    /// Goes on after a value that is in place.
    fn filled(&mut self, part: Part, length: usize, sum: u8) {
        self.at += length as u32;
        self.sum = self.sum.wrapping_add(u32::from(sum));
        self.parts = &self.parts[1..];
        self.append(&self.bytes[part.start as usize..part.end()]);
    }

    /// Fills a hole with any bytes, or records what is wrong.
    #[inline(never)]
    fn any_bytes(&mut self, tag: Tag, value: &[u8]) {
        let Some(part) = self.expected(tag, value.len()) else { return };
        if value.contains(&SOH) {
            return self.refuse(tag, EncodeErrorKind::Soh);
        }
        match self.memory.get_mut(self.at as usize..).and_then(|place| place.get_mut(..value.len())) {
            Some(place) => {
                place.copy_from_slice(value);
                self.filled(part, value.len(), byte_sum(value));
            }
            None => self.refuse(tag, EncodeErrorKind::NoRoom),
        }
    }

    /// Fills a fixed hole with any number, or records what is wrong.
    #[inline(never)]
    fn any_padded(&mut self, tag: Tag, number: u64) {
        let width = self.parts.first().map_or(0, |part| part.width as usize);
        if self.expected(tag, width.max(1)).is_none() {
            return;
        }
        let mut aside = [0; 64];
        match aside.get_mut(..width).map(|place| digits::fill(number, place)) {
            Some(0) if width > 0 => self.any_bytes(tag, &aside[..width]),
            _ => self.refuse(tag, EncodeErrorKind::HoleWidth),
        }
    }

    /// Fills a hole with any typed value, or records what is wrong.
    #[inline(never)]
    fn any_field<T: ToField>(&mut self, tag: Tag, value: &T) {
        let mut aside = [0; 128];
        if T::MAX_LEN <= aside.len() {
            let length = value.write_to(&mut aside);
            assert!(length <= T::MAX_LEN, "a value is longer than its type's MAX_LEN");
            return self.any_bytes(tag, &aside[..length]);
        }
        let Some(place) =
            self.memory.get_mut(self.at as usize..).and_then(|place| place.get_mut(..T::MAX_LEN))
        else {
            return self.refuse(tag, EncodeErrorKind::NoRoom);
        };
        place.fill(0);
        let length = value.write_to(place);
        assert!(length <= T::MAX_LEN, "a value is longer than its type's MAX_LEN");
        let value = &place[..length];
        let (sum, soh) = (byte_sum(value), value.contains(&SOH));
        let Some(part) = self.expected(tag, length) else { return };
        if soh {
            return self.refuse(tag, EncodeErrorKind::Soh);
        }
        self.filled(part, length, sum);
    }

    /// Returns the hole that is to be filled, or records why this one is not, or not with a value
    /// of this length.
    fn expected(&mut self, tag: Tag, length: usize) -> Option<Part> {
        let kind = match self.parts.first() {
            Some(part) if part.tag == tag.number() => match (length, part.width as usize) {
                (0, _) => EncodeErrorKind::Empty,
                (length, width) if width != 0 && width != length => EncodeErrorKind::HoleWidth,
                _ => return Some(*part),
            },
            _ => EncodeErrorKind::Template,
        };
        self.refuse(tag, kind);
        None
    }

    /// Records a mistake. Only the first one is kept.
    #[cold]
    fn refuse(&mut self, tag: Tag, kind: EncodeErrorKind) {
        self.error = self.error.or(Some(EncodeError::new(tag, kind)));
        self.parts = &[];
    }

    /// Returns where the body ends, its sum, and the first mistake.
    #[inline(always)]
    fn finish(mut self) -> (u32, u32, Option<EncodeError>) {
        if let Some(part) = self.parts.first() {
            self.refuse(Tag::new(part.tag), EncodeErrorKind::Template);
        }
        (self.at, self.sum, self.error)
    }
}

/// Shows how many holes are left, and the first mistake.
impl fmt::Debug for Holes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left = self.parts.iter().map(|part| part.tag);
        let mut shown = f.debug_struct("Holes");
        shown.field("left", &left.count()).field("error", &self.error).finish()
    }
}

/// Writes a value of 1 to 16 bytes. Returns its sum, or `None` if it has another length or contains
/// SOH.
#[inline(always)]
fn put_short(window: &mut [u8; WORDS], value: &[u8]) -> Option<u32> {
    let (sum, soh) = match value.len() {
        1 => {
            window[0] = value[0];
            (u32::from(value[0]), value[0] == SOH)
        }
        2..=8 => {
            let word = Eight::load(value);
            window[..8].copy_from_slice(&word.0.to_le_bytes());
            (word.sum(), word.has_soh())
        }
        9..=16 => {
            let words = Sixteen::load(value);
            window[..16].copy_from_slice(&words.to_bytes());
            (words.sum(), words.has_soh())
        }
        _ => return None,
    };
    (!soh).then_some(sum)
}

/// Writes a value from its words, and returns its sum.
#[inline(always)]
fn put_words(window: &mut [u8; WORDS], words: &[u64], sum: u32) -> u32 {
    for (place, word) in window.as_chunks_mut::<8>().0.iter_mut().zip(words) {
        *place = word.to_le_bytes();
    }
    sum
}
