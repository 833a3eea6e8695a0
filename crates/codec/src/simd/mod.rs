//! Finds the fields of a message with vector instructions, where the processor supports them.
//!
//! The algorithm is here once, over [`Vector`]; one file per instruction set implements its
//! instructions. It never judges a message: it stops at the first field that is not plain (no `=`,
//! an empty value, a tag that is not a number, a length that is not that of its data), and the
//! plain loop continues from there. So every fault and every error comes from the plain loop.

pub(crate) mod avx2;
pub(crate) mod avx512;
pub(crate) mod sse2;

use crate::data_fields::DataFields;
use crate::frame::TRAILER_LEN;
use crate::index::Span;
use crate::scan::{FieldBoundary, data_length, read_tag};
use crate::types::digits;

/// Number of bytes in a block.
const BLOCK: usize = 64;

/// An instruction set's way through a message: the operations on the 64 bytes of a block, and what
/// it keeps between blocks.
///
/// # Safety
/// For every function the processor must support the instructions. A function that takes a pointer
/// says what it must point to.
trait Vector {
    /// The length of the shortest message that it can read.
    const SHORTEST: usize;

    /// How many positions must be writable for a block, and are written if it has so many.
    const POSITIONS: usize;

    /// How many tags must be writable for a block; 0 if none are written.
    const TAGS: usize;

    /// Returns what is kept before the first block. The data fields must live as long.
    unsafe fn new(data_fields: &DataFields) -> Self;

    /// Adds the 64 bytes at `bytes`, which must be readable, to the sum. Returns a bit for each
    /// byte that is SOH, the lowest for the first, and one for each `=`.
    unsafe fn block(&mut self, bytes: *const u8) -> (u64, u64);

    /// Adds the bytes from `at` on, fewer than 64, to the sum. Returns bits as [`Vector::block`]
    /// does; those after the last byte are clear.
    unsafe fn last_block(&mut self, bytes: &[u8], at: usize) -> (u64, u64);

    /// Writes the positions of values and their ends in the block that was added last, ascending,
    /// to `positions`, where [`Vector::POSITIONS`] numbers must be writable; those after the last
    /// position have no meaning. May write the tags of the fields whose values begin in the block
    /// to `tags`, where [`Vector::TAGS`] must be writable.
    unsafe fn write(&mut self, delimiters: Delimiters, positions: *mut u32, tags: *mut u32);

    /// Returns the sum of all bytes, modulo 256.
    unsafe fn sum(&self) -> u8;
}

/// Where the fields of a block are delimited: a bit for each byte.
#[derive(Clone, Copy)]
struct Delimiters {
    /// SOH.
    soh: u64,
    /// The first byte of a field.
    begins: u64,
    /// The first `=` of a field.
    first: u64,
    /// The first byte of a value.
    values: u64,
    /// The bytes of a field before its first `=`.
    in_tag: u64,
}

/// What a block takes over from the one before.
struct Carried {
    begins: u64,
    /// No `=` ends the tag at the end of the block.
    in_tag: bool,
    values: u64,
}

impl Carried {
    /// The first byte of the message begins a field.
    const START: Self = Self { begins: 1, in_tag: false, values: 0 };

    /// Only bytes that have a bit in `present` can begin a field.
    #[inline(always)]
    fn delimiters(&mut self, (soh, equals): (u64, u64), present: u64) -> Delimiters {
        let begins = (soh << 1 | self.begins) & present;
        self.begins = soh >> 63;
        // begins + !equals + carry, as a difference: what is not borrowed is carried.
        let (sum, borrow) = begins.borrowing_sub(equals, !self.in_tag);
        self.in_tag = !borrow;
        let first = sum & equals;
        let values = first << 1 | self.values;
        self.values = first >> 63;
        Delimiters { soh, begins, first, values, in_tag: !(sum | equals) }
    }
}

/// What the blocks of a message say.
struct Blocks<V> {
    /// The sum of the bytes before CheckSum.
    sum: u8,
    /// The number of fields, if each has a value.
    fields: Option<usize>,
    vector: V,
}

/// Sums the bytes and finds the fields. Returns `None` if there is not enough room, or if a block
/// has more positions than are written.
///
/// ```text
/// for each block of 64 bytes:
///     soh    = the bytes that are SOH
///     equals = the bytes that are '='
///     begins = soh << 1                       after each SOH, and at the first byte
///     first  = (begins + !equals) & equals    carries from each beginning to the next '='
///     values = first << 1                     where values begin
///     write the positions of values | soh     start, end, ... while fields are plain
///     AVX-512: combine digits to numbers, write those before each first '='
/// AVX2: for each eight fields:
///     read the four bytes before each '=', shift out those before the tag, convert the digits
/// other tags, and those that may be of length fields: one by one
/// ```
///
/// Bits that are shifted out of the top of a block enter the next one. A field has at most one
/// start. Without `=` it has none (two beginnings share one carry, or one carry is lost), and an
/// empty value has its start and its end at the same position. In either case there are fewer than
/// two positions per field, and nothing that was found is used.
///
/// # Safety
/// The processor must support `V`'s instructions. `bytes` must come from a framer: it begins with
/// `8=` and `9=` and ends with `10=`. `tags` must be as long as `spans`.
#[inline(always)]
unsafe fn blocks<V: Vector>(
    bytes: &[u8],
    data_fields: &DataFields,
    tags: &mut [u32],
    spans: &mut [Span],
) -> Option<Blocks<V>> {
    let limits = (2 * spans.len()).checked_sub(V::POSITIONS).zip(tags.len().checked_sub(V::TAGS))?;
    // The first two fields are not looked at again, and 0 stands for a tag that is not known.
    if bytes.len() < V::SHORTEST || data_fields.may_be_length(9) || data_fields.may_be_length(0) {
        return None;
    }
    // A span is two numbers, start and end, so the positions are written in the order they are
    // found.
    let (to_positions, to_tags) = (spans.as_mut_ptr().cast(), tags.as_mut_ptr());
    let mut written = Written { to_positions, to_tags, limits, positions: 0, tags: 0, fields: 0 };
    let mut carried = Carried::START;
    // SAFETY: the processor supports V's instructions, by this function's contract; so below.
    let mut vector = unsafe { V::new(data_fields) };
    let mut at = 0;
    while at + BLOCK <= bytes.len() {
        // SAFETY: 64 bytes follow. The limits are right.
        let fits = unsafe {
            let found = vector.block(bytes.as_ptr().add(at));
            written.add(&mut vector, carried.delimiters(found, !0))
        };
        if !fits {
            return None;
        }
        at += BLOCK;
    }
    if at < bytes.len() {
        // SAFETY: fewer than 64 bytes follow. The limits are right.
        let fits = unsafe {
            let found = vector.last_block(bytes, at);
            written.add(&mut vector, carried.delimiters(found, !(!0 << (bytes.len() - at))))
        };
        if !fits {
            return None;
        }
    }
    // SAFETY: the processor supports V's instructions.
    let sum = unsafe { vector.sum() };
    let trailer = bytes[bytes.len() - TRAILER_LEN..].iter().fold(0, |sum: u8, b| sum.wrapping_add(*b));
    let fields = (written.positions == 2 * written.fields).then_some(written.fields);
    Some(Blocks { sum: sum.wrapping_sub(trailer), fields, vector })
}

/// Where the positions and tags of the next block are written.
struct Written {
    to_positions: *mut u32,
    to_tags: *mut u32,
    /// How many positions and tags there may be before the last block.
    limits: (usize, usize),
    positions: usize,
    tags: usize,
    fields: usize,
}

impl Written {
    /// Returns whether there was room, and all positions were written.
    ///
    /// # Safety
    /// The processor must support `V`'s instructions. After as many positions and tags as the
    /// limits, [`Vector::POSITIONS`] and [`Vector::TAGS`] more must be writable.
    #[inline(always)]
    unsafe fn add<V: Vector>(&mut self, vector: &mut V, delimiters: Delimiters) -> bool {
        // An empty value has one position and still a tag, so both are looked at.
        if self.positions > self.limits.0 || V::TAGS > 0 && self.tags > self.limits.1 {
            return false;
        }
        // SAFETY: there is room.
        unsafe {
            let (positions, tags) = (self.to_positions.add(self.positions), self.to_tags.add(self.tags));
            vector.write(delimiters, positions, tags);
        }
        let positions = (delimiters.values | delimiters.soh).count_ones() as usize;
        if positions > V::POSITIONS {
            return false;
        }
        self.positions += positions;
        self.tags += delimiters.first.count_ones() as usize;
        self.fields += delimiters.soh.count_ones() as usize;
        true
    }
}

/// A message whose fields have been found, and whose tags are read.
struct Reading<'r> {
    bytes: &'r [u8],
    data_fields: &'r DataFields,
    /// The tags of the fields; 0 for a field whose tag does not have one to four digits.
    tags: &'r mut [u32],
    spans: &'r mut [Span],
    fields: usize,
    /// How many data fields with SOH were put together.
    joined: usize,
}

impl Reading<'_> {
    /// Looks closer at a field whose tag is 0 or may be that of a length field. The tags before
    /// `read` are read. Returns how many fields were removed because they are part of the data
    /// after it, or the boundary before the field if it is not plain.
    fn look_at(&mut self, field: usize, read: usize) -> Result<usize, FieldBoundary> {
        let at = self.spans[field - 1].end() + 1;
        let place = FieldBoundary::new(field, at);
        if self.tags[field] == 0 {
            self.tags[field] = self.tag(field).ok_or(place)?;
        }
        let Some(data_tag) = self.data_fields.data_tag(self.tags[field]) else { return Ok(0) };
        let next = field + 1;
        if next == self.fields {
            return Ok(0);
        }
        let (length, data) = (self.spans[field], self.spans[next]);
        let Some(announced) = data_length(&self.bytes[length.start()..length.end()]) else { return Ok(0) };
        let known = if next < read { self.tags[next] } else { 0 };
        if known != data_tag && (known != 0 || self.tag(next) != Some(data_tag)) {
            return Ok(0);
        }
        let end = data.start().saturating_add(announced);
        if end >= self.bytes.len() - TRAILER_LEN || self.bytes[end] != 1 {
            return Err(place);
        }
        if end == data.end() {
            return Ok(0);
        }
        if self.joined == JOINED {
            return Err(place);
        }
        self.join(next, end).ok_or(place)
    }

    /// Reads the tag of a field, of any length.
    #[inline]
    fn tag(&self, field: usize) -> Option<u32> {
        let at = self.spans[field - 1].end() + 1;
        let text = &self.bytes[at..self.spans[field].start() - 1];
        if let 1..=8 = text.len() {
            let eight = digits::load(text);
            return u32::try_from(digits::number(eight))
                .ok()
                .filter(|_| text[0] != b'0' && digits::all_digits(eight));
        }
        read_tag(self.bytes, at).ok().map(|(tag, _)| tag)
    }

    /// Makes one field of those from `data` on, the last of which ends at `end`, and moves the
    /// others up to it. Returns the number of fields that are gone.
    #[cold]
    fn join(&mut self, data: usize, end: usize) -> Option<usize> {
        let Self { tags, spans, fields, .. } = self;
        let removed = spans[data..*fields].iter().position(|field| field.end() == end)?;
        spans[data] = Span::new(spans[data].start(), end);
        let rest = data + removed + 1..*fields;
        spans.copy_within(rest.clone(), data + 1);
        tags.copy_within(rest, data + 1);
        *fields -= removed;
        tags[*fields - 1] = 10;
        self.joined += 1;
        Some(removed)
    }

    /// The end of the message.
    fn end(&self) -> FieldBoundary {
        FieldBoundary::new(self.fields, self.bytes.len())
    }
}

/// The number of data fields with SOH in a message that are put together here. A message with more
/// is left to the plain loop, as each makes the fields after it move.
const JOINED: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Frame;
    use crate::framer::Framer;
    use crate::index::byte_sum;
    use crate::tier::Tier;

    extern crate std;
    use std::vec::Vec;

    fn whole(body: &[u8]) -> Vec<u8> {
        let mut bytes = std::format!("8=FIX.4.4\x019={}\x01", body.len()).into_bytes();
        bytes.extend_from_slice(body);
        let sum = byte_sum(&bytes);
        bytes.extend_from_slice(std::format!("10={sum:03}\x01").as_bytes());
        bytes
    }

    /// The field that every vector tier reaches with storage for `limit` fields.
    fn reached(bytes: &[u8], limit: usize) -> usize {
        assert!(matches!(Framer::new(1 << 20).next(bytes), Frame::Message(_)));
        let mut reached: Vec<usize> = Vec::new();
        for tier in Tier::available().skip(1) {
            let (mut tags, mut spans) = (std::vec![0; limit], std::vec![Span::default(); limit]);
            let found = tier.find(bytes, DataFields::STANDARD, &mut tags, &mut spans);
            assert_eq!(found.sum, byte_sum(&bytes[..bytes.len() - TRAILER_LEN]));
            reached.push(found.place.field as usize);
        }
        assert!(reached.windows(2).all(|two| two[0] == two[1]), "{reached:?}");
        reached.first().copied().unwrap_or(usize::MAX)
    }

    /// The tiers would also agree if a vector tier left everything to the plain loop.
    #[test]
    fn a_plain_message_is_left_to_the_plain_loop_only_where_it_is_shorter_than_a_block() {
        for length in (1..if cfg!(miri) { 20 } else { 200 }).filter(|_| Tier::best() != Tier::SCALAR) {
            let value = "x=".repeat(length);
            let body =
                std::format!("35=D\x0155={value}\x0195=3\x0196=abc\x0154=1\x0112345=y\x0158={value}\x01");
            let bytes = whole(body.as_bytes());
            if bytes.len() >= BLOCK {
                assert_eq!(reached(&bytes, 64), 10, "{body:?}");
            }
            let body = "35=D\x01".repeat(length + 8);
            assert_eq!(reached(&whole(body.as_bytes()), length + 8 + 3 + 32), length + 8 + 3);
        }
    }

    #[test]
    fn data_with_soh_is_one_field_up_to_a_number_of_them() {
        if Tier::best() == Tier::SCALAR {
            return;
        }
        let first = "35=D\x0149=SENDER\x0156=TARGET\x0134=17\x0152=20240229-12:00:00\x0155=IBM\x0154=1\x01";
        let (data, after) = ("95=9\x0196=a\x019=b\x01x=y\x01", "44=1.5\x0140=2\x01");
        for count in 1..=JOINED + 1 {
            let body = [first, &data.repeat(count), after].concat();
            let expected = if count > JOINED { 9 + 2 * JOINED } else { 9 + 2 * count + 3 };
            for limit in [256, 9 + 4 * count + 3 + 32] {
                assert_eq!(reached(&whole(body.as_bytes()), limit), expected, "{count}");
            }
        }
    }

    #[test]
    fn the_plain_loop_goes_on_at_the_first_field_that_is_not_plain() {
        if Tier::best() == Tier::SCALAR {
            return;
        }
        let first = "35=D\x0149=SENDER\x0156=TARGET\x0134=17\x0152=20240229-12:00:00\x0155=IBM\x0154=1\x01";
        for (odd, field) in [
            ("1a=x\x01", 9),
            ("=x\x01", 9),
            ("058=x\x01", 9),
            ("12345678901=x\x01", 9),
            ("95=3\x0196=a\x01b\x01", 0),
            ("95=4\x0196=a\x019=b\x01", 9),
            ("x\x01", 0),
            ("58=\x01", 0),
        ] {
            let body = [first, odd, "44=1.5\x0140=2\x01"].concat();
            assert_eq!(reached(&whole(body.as_bytes()), 64), field, "{odd:?}");
        }
    }
}
