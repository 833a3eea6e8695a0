//! Finds the fields of a message with vector instructions, where the processor supports them.
//!
//! The algorithm is here once, over [`Vector`]; one file per instruction set implements its
//! instructions. It never judges a message: it stops at the first field that is not plain (no `=`,
//! an empty value, a tag that is not a number, a data field that contains SOH), and the plain loop
//! continues from there. So every fault and every error comes from the plain loop.

pub(crate) mod avx2;
pub(crate) mod sse2;

use crate::data_fields::{DataFields, HINTS};
use crate::frame::TRAILER_LEN;
use crate::index::Span;
use crate::scan::{FieldBoundary, Found, data_length, read_tag};

/// Number of bytes in a block.
const BLOCK: usize = 64;
/// Number of fields whose tags are read at a time.
const GROUP: usize = 8;

/// The operations of an instruction set on the 64 bytes of a block and on the tags of eight fields.
///
/// # Safety
/// For every function the processor must support the instructions. A function that takes a pointer
/// says what it must point to.
trait Vector: Copy {
    /// Sums of bytes that have not been added up yet.
    type Sums: Copy;

    /// Returns the block of the 64 bytes at `bytes`, which must be readable.
    unsafe fn load(bytes: *const u8) -> Self;

    /// Returns the block with its first `count` bytes (at most 64) set to zero.
    unsafe fn without_first(self, count: usize) -> Self;

    /// Returns one bit for every byte that equals `byte`, the lowest for the first.
    unsafe fn equal(self, byte: u8) -> u64;

    /// Returns sums of zero.
    unsafe fn no_sums() -> Self::Sums;

    /// Returns the sums with the bytes of this block added.
    unsafe fn add_to(self, sums: Self::Sums) -> Self::Sums;

    /// Returns all sums together, modulo 256.
    unsafe fn total(sums: Self::Sums) -> u8;

    /// Writes `base` plus the position of every bit of `mask`, ascending, to `to`, where 64 numbers
    /// must be writable. Those after the last position have no meaning.
    unsafe fn write_positions(mask: u64, base: u32, to: *mut u32);

    /// Reads the tags of eight fields whose values begin and end where `ends_and_starts` says, each
    /// tag between the SOH after the previous value and its `=`. Returns a bit for each field whose
    /// tag does not have one to four digits, or that `hints` says may be a length field. The tag of
    /// such a field has no meaning.
    ///
    /// `ends_and_starts`: the end of the value before the first field, then start and end of every
    /// value; 16 numbers must be readable. All starts are offsets into `message` and at least 5.
    /// `tags`: eight numbers must be writable.
    unsafe fn read_tags(
        message: *const u8,
        ends_and_starts: *const u32,
        hints: &[u32; HINTS],
        tags: *mut u32,
    ) -> u8;
}

/// Sums the bytes and finds the fields, up to the first that is not plain.
///
/// ```text
/// for each block of 64 bytes:
///     soh    = the bytes that are SOH
///     equals = the bytes that are '='
///     begins = soh << 1                       after each SOH, and at the first byte
///     first  = (begins + !equals) & equals    carries from each beginning to the next '='
///     values = first << 1                     where values begin
///     write the positions of values | soh     start, end, ... while fields are plain
/// for each eight fields:
///     read the four bytes before each '=', shift out those before the tag, convert the digits
///     other tags: one by one
/// ```
///
/// Bits that are shifted out of the top of a block enter the next one. A field has at most one
/// start. Without `=` it has none (two beginnings share one carry, or one carry is lost), and an
/// empty value has its start and its end at the same position. In either case there are fewer than
/// two positions per field, and nothing that was found is used.
///
/// # Safety
/// The processor must support `V`'s instructions. `bytes` must come from a framer: it begins with
/// `8=` and `9=` and ends with `10=`.
#[inline(always)]
unsafe fn find<V: Vector>(
    bytes: &[u8],
    data_fields: &DataFields,
    tags: &mut [u32],
    spans: &mut [Span],
) -> Found {
    let limit = tags.len().min(spans.len());
    let (tags, spans) = (&mut tags[..limit], &mut spans[..limit]);
    let room = 2 * limit;
    if bytes.len() < BLOCK || room < BLOCK || data_fields.data_tag(9).is_some() {
        return Found::nothing(bytes);
    }
    // A span is two numbers, start and end, so the positions are written in the order they are
    // found.
    let positions: *mut u32 = spans.as_mut_ptr().cast();
    let (mut written, mut fields) = (0, 0);
    let mut fits = true;
    // What a block takes over from the previous one: the first byte of the message begins a field.
    let (mut begin, mut carry, mut start) = (1, 0, 0);
    // SAFETY: the processor supports V's instructions, by this function's contract; so in all
    // blocks below.
    let mut sums = unsafe { V::no_sums() };
    let mut at = 0;
    while at < bytes.len() {
        let left = bytes.len() - at;
        // SAFETY: the 64 bytes after `at` are in `bytes`, or at the end its last 64.
        let (block, base) = unsafe {
            if left >= BLOCK {
                (V::load(bytes.as_ptr().add(at)), at)
            } else {
                (V::load(bytes.as_ptr().add(bytes.len() - BLOCK)), bytes.len() - BLOCK)
            }
        };
        let seen = at - base;
        // SAFETY: `seen` is below 64, and `positions` has room for 64 more.
        unsafe {
            let fresh = if seen == 0 { block } else { block.without_first(seen) };
            sums = fresh.add_to(sums);
            let soh = fresh.equal(1) >> seen;
            let equals = fresh.equal(b'=') >> seen;
            let begins = soh << 1 | begin;
            begin = soh >> 63;
            let (sum, over) = begins.overflowing_add(!equals);
            let (sum, over_again) = sum.overflowing_add(carry);
            carry = u64::from(over | over_again);
            let first = sum & equals;
            let values = first << 1 | start;
            start = first >> 63;
            if written + BLOCK > room {
                fits = false;
                written = 0;
            }
            #[allow(clippy::cast_possible_truncation)] // a frame is far below 4 GiB
            V::write_positions(values | soh, at as u32, positions.add(written));
            written += (values | soh).count_ones() as usize;
            fields += soh.count_ones() as usize;
        }
        at += BLOCK;
    }
    // SAFETY: the processor supports V's instructions.
    let sum = unsafe { V::total(sums) };
    let trailer = bytes[bytes.len() - TRAILER_LEN..].iter().fold(0, |sum: u8, b| sum.wrapping_add(*b));
    let sum = sum.wrapping_sub(trailer);
    if !fits || written != 2 * fields {
        return Found { sum, place: FieldBoundary::START };
    }
    // SAFETY: as above; `fields` spans were written, all of them ascending offsets into the
    // message.
    let place = unsafe { read_all_tags::<V>(bytes, data_fields, tags, spans, fields) };
    Found { sum, place }
}

/// Reads the tags of all fields up to the first that is not plain. Returns the position of that
/// field, or the end.
///
/// # Safety
/// The processor must support `V`'s instructions. The first `fields` of `spans` must be the values
/// of `bytes` that [`find`] found, and `tags` must be as long as `spans`.
#[inline(always)]
unsafe fn read_all_tags<V: Vector>(
    bytes: &[u8],
    data_fields: &DataFields,
    tags: &mut [u32],
    spans: &mut [Span],
    fields: usize,
) -> FieldBoundary {
    // The framer has read these three.
    let last = fields - 1;
    (tags[0], tags[1], tags[last]) = (8, 9, 10);
    // If there is room, the last group is filled up with copies of CheckSum's value; what is read
    // for them is ignored.
    let padded = fields + GROUP <= spans.len();
    if padded {
        let check_sum = spans[last];
        spans[fields..fields + GROUP].fill(check_sum);
    }
    let mut field = 2;
    while field < last {
        let count = GROUP.min(fields - field);
        let mut odd = if padded || count == GROUP {
            // SAFETY: field + 8 is at most the number of spans and tags, and the spans before it
            // were found or copied. The 16 numbers begin at the end of the previous value. Values
            // begin after `8=`, BeginString and `9=`, so at 12 or later.
            unsafe {
                let numbers: *const u32 = spans.as_ptr().cast();
                let before = numbers.add(2 * field - 1);
                V::read_tags(bytes.as_ptr(), before, data_fields.hints(), tags.as_mut_ptr().add(field))
            }
        } else {
            0xff
        };
        odd &= 0xff >> (GROUP - count);
        while odd != 0 {
            let one = field + odd.trailing_zeros() as usize;
            if let Some(place) = read_one_tag(bytes, data_fields, tags, &spans[..fields], one) {
                return place;
            }
            odd &= odd - 1;
        }
        field += GROUP;
    }
    FieldBoundary::new(fields, bytes.len())
}

/// Reads the tag of one field without vector instructions. Returns the field's position if it is
/// not plain: its tag is not a number, or it is a length field whose data field does not end where
/// it was assumed to.
#[cold]
fn read_one_tag(
    bytes: &[u8],
    data_fields: &DataFields,
    tags: &mut [u32],
    spans: &[Span],
    field: usize,
) -> Option<FieldBoundary> {
    let at = spans[field - 1].end() + 1;
    let here = Some(FieldBoundary::new(field, at));
    let Ok((tag, _)) = read_tag(bytes, at) else { return here };
    tags[field] = tag;
    let data_tag = data_fields.data_tag(tag)?;
    let data = spans.get(field + 1)?;
    let length = data_length(&bytes[spans[field].start()..spans[field].end()])?;
    match read_tag(bytes, spans[field].end() + 1) {
        Ok((tag, _)) if tag == data_tag => {
            let end = data.start().saturating_add(length);
            if end == data.end() && end < bytes.len() - TRAILER_LEN { None } else { here }
        }
        _ => None,
    }
}

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
            ("95=5\x0196=a\x019=b\x01", 9),
            ("x\x01", 0),
            ("58=\x01", 0),
        ] {
            let body = [first, odd, "44=1.5\x0140=2\x01"].concat();
            assert_eq!(reached(&whole(body.as_bytes()), 64), field, "{odd:?}");
        }
    }
}
