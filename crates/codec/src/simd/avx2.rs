//! AVX2: a block is two registers of 32 bytes. The tags are read when all fields are found.

use core::arch::x86_64::*;

use super::{BLOCK, Blocks, Delimiters, Reading, Vector, blocks};
use crate::data_fields::{DataFields, HINTS};
use crate::index::Span;
use crate::scan::{FieldBoundary, Found};

/// Sums the bytes and finds the fields, up to the first that is not plain.
///
/// # Safety
/// The processor must support AVX2, BMI1, BMI2, LZCNT and POPCNT. `bytes` must come from a framer.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) unsafe fn find(
    bytes: &[u8],
    data_fields: &DataFields,
    tags: &mut [u32],
    spans: &mut [Span],
) -> Found {
    let limit = tags.len().min(spans.len());
    let (tags, spans) = (&mut tags[..limit], &mut spans[..limit]);
    // SAFETY: by this function's own contract.
    let found = unsafe { blocks::<Avx2>(bytes, data_fields, tags, spans) };
    let Some(Blocks { sum, fields, .. }) = found else { return Found::nothing(bytes) };
    let Some(fields) = fields else { return Found { sum, place: FieldBoundary::START } };
    let message = Reading { bytes, data_fields, tags, spans, fields, joined: 0 };
    // SAFETY: these fields were found, all of their positions ascending offsets into the message.
    Found { sum, place: unsafe { read_all_tags(message) } }
}

/// Number of fields whose tags are read at a time.
const GROUP: usize = 8;

/// Reads the tags of all fields up to the first that is not plain. Returns the position of that
/// field, or the end.
///
/// # Safety
/// The processor must support the instructions of [`find`]. The fields must be those of the bytes,
/// which must come from a framer, and the tags must be as many as the spans.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) unsafe fn read_all_tags(mut message: Reading<'_>) -> FieldBoundary {
    let bytes = message.bytes;
    let hints = message.data_fields.hints();
    // The framer has read these three.
    (message.tags[0], message.tags[1], message.tags[message.fields - 1]) = (8, 9, 10);
    // How many spans are those of fields. If there is room, the last group is filled up with copies
    // of CheckSum's value.
    let mut found = message.fields;
    if let Some(more) = message.spans[message.fields - 1..].first_chunk_mut::<{ 1 + GROUP }>() {
        *more = [more[0]; 1 + GROUP];
        found += GROUP;
    }
    let mut first = 2;
    while first + 1 < message.fields {
        let mut odd = if first + GROUP <= found {
            // SAFETY: first + 8 is at most the number of spans and tags, and the spans before it
            // were found or copied, even if some of the fields are part of another one now. The 16
            // numbers begin at the end of the previous value. Values begin after `8=`, BeginString
            // and `9=`, so at 12 or later.
            unsafe {
                let numbers: *const u32 = message.spans.as_ptr().cast();
                let before = numbers.add(2 * first - 1);
                read_tags(bytes.as_ptr(), before, hints, message.tags.as_mut_ptr().add(first))
            }
        } else {
            message.tags[first..message.fields].fill(0);
            0xff
        };
        if odd != 0 {
            // What is read for copies is ignored.
            odd &= 0xff >> (GROUP - GROUP.min(message.fields - first));
            if odd != 0 {
                match settle(&mut message, first, odd) {
                    Ok(next) => first = next,
                    Err(place) => return place,
                }
                continue;
            }
        }
        first += GROUP;
    }
    message.end()
}

/// Looks closer at the fields of a group that have a bit in `odd`: those with tag 0, which were not
/// read, and those that may be length fields. Returns where the next group begins, or the first
/// field that is not plain.
#[cold]
#[inline(never)]
fn settle(message: &mut Reading<'_>, first: usize, mut odd: u8) -> Result<usize, FieldBoundary> {
    while odd != 0 {
        let field = first + odd.trailing_zeros() as usize;
        odd &= odd - 1;
        if message.look_at(field, first + GROUP)? > 0 {
            // Other fields follow now. The data field may be the length of another one.
            return Ok(field + 1);
        }
    }
    Ok(first + GROUP)
}

struct Avx2 {
    /// Sums of bytes that have not been added up yet.
    sums: __m256i,
    /// The position of the next block, eight times.
    at: __m256i,
}

/// The first and the last 32 bytes of a block.
#[derive(Clone, Copy)]
struct Block(__m256i, __m256i);

/// 64 zeros, then 64 bytes of ones. The 64 bytes from `64 - count` on are a mask that clears the
/// first `count` bytes of a block.
#[repr(align(64))]
struct Window([u8; 128]);

static WINDOW: Window = {
    let mut bytes = [0; 128];
    let mut n = 64;
    while n < 128 {
        bytes[n] = 0xff;
        n += 1;
    }
    Window(bytes)
};

/// For every value of a byte, the positions of its bits, ascending, one byte each.
static PLACES: [[u8; 8]; 256] = {
    let mut places = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut n) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                places[byte][n] = bit;
                n += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    places
};

// SAFETY of every block below: the processor supports the instructions, by the trait's contract;
// pointers are valid as the doc of each function requires.
impl Block {
    #[inline(always)]
    unsafe fn load(bytes: *const u8) -> Self {
        // SAFETY: 64 bytes can be read.
        unsafe { Self(_mm256_loadu_si256(bytes.cast()), _mm256_loadu_si256(bytes.add(32).cast())) }
    }

    /// Sets the first `count` bytes, at most 64, to zero.
    #[inline(always)]
    unsafe fn without_first(self, count: usize) -> Self {
        debug_assert!(count <= BLOCK);
        // SAFETY: at most 64, so that the 64 bytes end inside the window's 128.
        unsafe {
            let window = Self::load(WINDOW.0.as_ptr().add(BLOCK - count));
            Self(_mm256_and_si256(self.0, window.0), _mm256_and_si256(self.1, window.1))
        }
    }

    /// Returns one bit for every byte that equals `byte`, the lowest for the first.
    #[inline(always)]
    #[allow(clippy::cast_possible_wrap, clippy::cast_sign_loss)]
    unsafe fn equal(self, byte: u8) -> u64 {
        // SAFETY: the processor supports the instructions.
        unsafe {
            let byte = _mm256_set1_epi8(byte as i8);
            let first = _mm256_movemask_epi8(_mm256_cmpeq_epi8(self.0, byte)) as u32;
            let last = _mm256_movemask_epi8(_mm256_cmpeq_epi8(self.1, byte)) as u32;
            u64::from(last) << 32 | u64::from(first)
        }
    }

    #[inline(always)]
    unsafe fn add_to(self, sums: __m256i) -> __m256i {
        // SAFETY: the processor supports the instructions.
        unsafe {
            let zero = _mm256_setzero_si256();
            let own = _mm256_add_epi64(_mm256_sad_epu8(self.0, zero), _mm256_sad_epu8(self.1, zero));
            _mm256_add_epi64(sums, own)
        }
    }
}

// SAFETY of every block below: as above.
impl Vector for Avx2 {
    const SHORTEST: usize = BLOCK;

    const POSITIONS: usize = BLOCK;

    const TAGS: usize = 0;

    #[inline(always)]
    unsafe fn new(_: &DataFields) -> Self {
        // SAFETY: the processor supports the instructions.
        unsafe { Self { sums: _mm256_setzero_si256(), at: _mm256_setzero_si256() } }
    }

    #[inline(always)]
    unsafe fn block(&mut self, bytes: *const u8) -> (u64, u64) {
        // SAFETY: 64 bytes can be read.
        unsafe {
            let block = Block::load(bytes);
            self.sums = block.add_to(self.sums);
            (block.equal(1), block.equal(b'='))
        }
    }

    #[inline(always)]
    unsafe fn last_block(&mut self, bytes: &[u8], at: usize) -> (u64, u64) {
        let from = bytes.len() - BLOCK;
        let seen = at - from;
        // SAFETY: the last 64 bytes of a message that is not shorter. Fewer than 64 of them were
        // seen.
        unsafe {
            let block = Block::load(bytes.as_ptr().add(from)).without_first(seen);
            self.sums = block.add_to(self.sums);
            (block.equal(1) >> seen, block.equal(b'=') >> seen)
        }
    }

    #[inline(always)]
    unsafe fn write(&mut self, delimiters: Delimiters, mut positions: *mut u32, _: *mut u32) {
        let mut rest = delimiters.values | delimiters.soh;
        for _ in 0..8 {
            // SAFETY: at most 56 positions are written before the last eight, so that these end at
            // the 64th.
            unsafe {
                let places = _mm_loadl_epi64(PLACES[(rest & 0xff) as usize].as_ptr().cast());
                let found = _mm256_add_epi32(_mm256_cvtepu8_epi32(places), self.at);
                _mm256_storeu_si256(positions.cast(), found);
                positions = positions.add((rest & 0xff).count_ones() as usize);
                // A register that is added to: made anew for each eight bytes, it would take three
                // instructions.
                self.at = _mm256_add_epi32(self.at, _mm256_set1_epi32(8));
            }
            rest >>= 8;
        }
    }

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    unsafe fn sum(&self) -> u8 {
        // SAFETY: the processor supports the instructions.
        unsafe {
            let (low, high) = (_mm256_castsi256_si128(self.sums), _mm256_extracti128_si256::<1>(self.sums));
            let half = _mm_add_epi64(low, high);
            _mm_cvtsi128_si64(_mm_add_epi64(half, _mm_unpackhi_epi64(half, half))) as u8
        }
    }
}

/// Reads the tags of eight fields whose values begin and end where `ends_and_starts` says, each tag
/// between the SOH after the previous value and its `=`. A tag that does not have one to four
/// digits becomes 0. Returns a bit for each field with such a tag, or that `hints` says may be a
/// length field.
///
/// # Safety
/// The processor must support the instructions. `ends_and_starts`: the end of the value before the
/// first field, then start and end of every value; 16 numbers must be readable. All starts are
/// offsets into `message` and at least 5. `tags`: eight numbers must be writable.
#[inline(always)]
#[allow(clippy::cast_possible_wrap, clippy::cast_sign_loss, clippy::cast_possible_truncation)]
unsafe fn read_tags(
    message: *const u8,
    ends_and_starts: *const u32,
    hints: &[u32; HINTS],
    tags: *mut u32,
) -> u8 {
    // The four bytes before `=`, and so five before the value.
    // SAFETY: the start is 5 or more, and an offset into the message.
    let text = |field: usize| unsafe {
        let start = ends_and_starts.add(1 + 2 * field).read();
        message.add(start as usize - 5).cast::<i32>().read_unaligned()
    };
    // SAFETY: 16 numbers can be read and eight written; an index into the hints is below 128.
    unsafe {
        // Two registers hold ends and starts alternately; taking every second number of each
        // yields fields 0 1 4 5 2 3 6 7.
        let early = _mm256_castsi256_ps(_mm256_loadu_si256(ends_and_starts.cast()));
        let late = _mm256_castsi256_ps(_mm256_loadu_si256(ends_and_starts.add(8).cast()));
        let ends = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(early, late));
        let starts = _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(early, late));
        let texts = _mm256_setr_epi32(text(0), text(1), text(4), text(5), text(2), text(3), text(6), text(7));
        // A tag is two bytes shorter than the distance from end to start, which includes SOH
        // and `=`. Bytes that do not belong to the tag are shifted out. If a tag has no or more
        // than four digits the shift is too large and nothing remains.
        let length = _mm256_sub_epi32(_mm256_sub_epi32(starts, ends), _mm256_set1_epi32(2));
        let shift = _mm256_sub_epi32(_mm256_set1_epi32(32), _mm256_slli_epi32::<3>(length));
        let digits = _mm256_srlv_epi32(_mm256_xor_si256(texts, _mm256_set1_epi8(b'0' as i8)), shift);
        // No digit, or a leading zero.
        let zero = _mm256_setzero_si256();
        let empty = _mm256_cmpeq_epi32(_mm256_and_si256(digits, _mm256_set1_epi32(0xff)), zero);
        let digits = _mm256_sllv_epi32(digits, shift);
        // Every byte is at most 9 if neither it nor it plus 6 has a high bit.
        let high = _mm256_or_si256(digits, _mm256_add_epi8(digits, _mm256_set1_epi8(6)));
        let high = _mm256_and_si256(high, _mm256_set1_epi8(0xf0_u8 as i8));
        let not_digits = _mm256_cmpgt_epi32(_mm256_srli_epi32::<4>(high), zero);
        let pairs = _mm256_maddubs_epi16(digits, _mm256_set1_epi16(0x010a));
        let numbers = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x0001_0064));
        let numbers = _mm256_permute4x64_epi64::<0b11_01_10_00>(numbers);
        let odd = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_or_si256(empty, not_digits));
        _mm256_storeu_si256(tags.cast(), _mm256_andnot_si256(odd, numbers));
        let is_high = _mm256_cmpgt_epi32(numbers, _mm256_set1_epi32(1023));
        let mut words = hint_words(hints.as_ptr(), numbers);
        if _mm256_testz_si256(is_high, is_high) == 0 {
            let high = _mm256_castsi256_ps(hint_words(hints.as_ptr().add(HINTS / 2), numbers));
            let is_high = _mm256_castsi256_ps(is_high);
            words = _mm256_castps_si256(_mm256_blendv_ps(_mm256_castsi256_ps(words), high, is_high));
        }
        let bit = _mm256_andnot_si256(numbers, _mm256_set1_epi32(31));
        // The bit becomes the sign, as does everything irregular.
        let odd = _mm256_or_si256(_mm256_sllv_epi32(words, bit), odd);
        _mm256_movemask_ps(_mm256_castsi256_ps(odd)) as u8
    }
}

/// Returns the word of the hints for each of eight tags, modulo 1,024: bits 5 to 7 of a tag select
/// one of eight words, bits 8 and 9 which eight.
///
/// # Safety
/// The processor must support AVX2, and 32 words must be readable.
#[inline(always)]
unsafe fn hint_words(hints: *const u32, tags: __m256i) -> __m256i {
    // SAFETY: four times eight words can be read.
    unsafe {
        let eighth = _mm256_srli_epi32::<5>(tags);
        let bit_8 = _mm256_castsi256_ps(_mm256_slli_epi32::<23>(tags));
        let bit_9 = _mm256_castsi256_ps(_mm256_slli_epi32::<22>(tags));
        let first = _mm256_permutevar8x32_epi32(_mm256_loadu_si256(hints.cast()), eighth);
        let second = _mm256_permutevar8x32_epi32(_mm256_loadu_si256(hints.add(8).cast()), eighth);
        let third = _mm256_permutevar8x32_epi32(_mm256_loadu_si256(hints.add(16).cast()), eighth);
        let fourth = _mm256_permutevar8x32_epi32(_mm256_loadu_si256(hints.add(24).cast()), eighth);
        let low = _mm256_blendv_ps(_mm256_castsi256_ps(first), _mm256_castsi256_ps(second), bit_8);
        let high = _mm256_blendv_ps(_mm256_castsi256_ps(third), _mm256_castsi256_ps(fourth), bit_8);
        _mm256_castps_si256(_mm256_blendv_ps(low, high, bit_9))
    }
}
