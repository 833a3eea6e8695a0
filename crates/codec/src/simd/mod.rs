//! Finds the fields of a message with vector instructions, where the processor supports them.
//!
//! The algorithm is here once, over [`Vector`]; one file per instruction set implements its
//! instructions. It never judges a message: it stops at the first field that is not plain (no `=`,
//! an empty value, a tag that is not a number, a length that is not that of its data), and the
//! plain loop continues from there. So every fault and every error comes from the plain loop.

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
    /// tag between the SOH after the previous value and its `=`. A tag that does not have one to
    /// four digits becomes 0. Returns a bit for each field with such a tag, or that `hints` says
    /// may be a length field.
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
    (tags[0], tags[1], tags[fields - 1]) = (8, 9, 10);
    // If there is room, the last group is filled up with copies of CheckSum's value; what is read
    // for them is ignored.
    let padding = if fields + GROUP <= spans.len() { GROUP } else { 0 };
    if padding > 0 {
        let check_sum = spans[fields - 1];
        spans[fields..fields + GROUP].fill(check_sum);
    }
    let mut at = Group { first: 2, fields, joined: 0 };
    while at.first < at.fields - 1 {
        let count = GROUP.min(at.fields - at.first);
        let mut odd = if padding > 0 || count == GROUP {
            // SAFETY: first + 8 is at most the number of spans and tags, and the spans before it
            // were found or copied. The 16 numbers begin at the end of the previous value. Values
            // begin after `8=`, BeginString and `9=`, so at 12 or later.
            unsafe {
                let numbers: *const u32 = spans.as_ptr().cast();
                let before = numbers.add(2 * at.first - 1);
                V::read_tags(bytes.as_ptr(), before, data_fields.hints(), tags.as_mut_ptr().add(at.first))
            }
        } else {
            tags[at.first..at.fields].fill(0);
            0xff
        };
        odd &= 0xff >> (GROUP - count);
        if odd == 0 {
            at.first += GROUP;
            continue;
        }
        match settle(bytes, data_fields, tags, &mut spans[..at.fields + padding], at, odd) {
            Ok(next) => at = next,
            Err(place) => return place,
        }
    }
    FieldBoundary::new(at.fields, bytes.len())
}

/// Where the tags of the next group are read.
#[derive(Clone, Copy)]
struct Group {
    /// Its first field.
    first: usize,
    /// The number of fields in the message.
    fields: usize,
    /// The number of data fields with SOH before.
    joined: usize,
}

/// Looks closer at the fields of a group that have a bit in `odd`: those with tag 0, which were not
/// read, and those that may be length fields. Returns the next group, or the first field that is
/// not plain. `spans` are those of all fields and of the copies after them.
#[cold]
#[inline(never)]
fn settle(
    bytes: &[u8],
    data_fields: &DataFields,
    tags: &mut [u32],
    spans: &mut [Span],
    group: Group,
    mut odd: u8,
) -> Result<Group, FieldBoundary> {
    let Group { first, fields, joined } = group;
    while odd != 0 {
        let one = first + odd.trailing_zeros() as usize;
        odd &= odd - 1;
        if tags[one] != 0 && !data_fields.may_be_length(tags[one]) {
            continue;
        }
        match read_one_tag(bytes, data_fields, tags, &spans[..fields], one) {
            One::Plain => {}
            One::Odd(place) => return Err(place),
            One::Cut { place, .. } if joined == JOINED => return Err(place),
            One::Cut { place, end } => {
                let removed = join(&mut spans[one + 1..], end).ok_or(place)?;
                let fields = fields - removed;
                tags[fields - 1] = 10;
                // The data field may be the length of another one.
                return Ok(Group { first: one + 1, fields, joined: joined + 1 });
            }
        }
    }
    Ok(Group { first: first + GROUP, ..group })
}

/// The number of data fields with SOH in a message that are put together here. A message with more
/// is left to the plain loop, as each makes the fields after it move.
const JOINED: usize = 8;

/// What a field is whose tag was read by itself.
enum One {
    Plain,
    /// Its tag is not a number, or it is a length field whose data field does not end where it
    /// says.
    Odd(FieldBoundary),
    /// It is the length field at `place`, and its data field has SOHs before its `end`, at each of
    /// which a field was assumed to end.
    Cut {
        place: FieldBoundary,
        end: usize,
    },
}

/// Reads the tag of one field without vector instructions, unless it is known, and looks at the
/// data field after it if it is a length field.
fn read_one_tag(
    bytes: &[u8],
    data_fields: &DataFields,
    tags: &mut [u32],
    spans: &[Span],
    field: usize,
) -> One {
    let at = spans[field - 1].end() + 1;
    let place = FieldBoundary::new(field, at);
    if tags[field] == 0 {
        let Ok((tag, _)) = read_tag(bytes, at) else { return One::Odd(place) };
        tags[field] = tag;
    }
    let Some(data_tag) = data_fields.data_tag(tags[field]) else { return One::Plain };
    let Some(data) = spans.get(field + 1) else { return One::Plain };
    let Some(length) = data_length(&bytes[spans[field].start()..spans[field].end()]) else {
        return One::Plain;
    };
    if !matches!(read_tag(bytes, spans[field].end() + 1), Ok((tag, _)) if tag == data_tag) {
        return One::Plain;
    }
    let end = data.start().saturating_add(length);
    if end >= bytes.len() - TRAILER_LEN || bytes[end] != 1 {
        One::Odd(place)
    } else if end == data.end() {
        One::Plain
    } else {
        One::Cut { place, end }
    }
}

/// Makes one field of the first ones, the last of which ends at `end`, and moves the others up to
/// it. Returns the number of fields that are gone.
fn join(fields: &mut [Span], end: usize) -> Option<usize> {
    let last = fields.iter().position(|field| field.end() == end)?;
    fields[0] = Span::new(fields[0].start(), end);
    fields.copy_within(last + 1.., 1);
    Some(last)
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
