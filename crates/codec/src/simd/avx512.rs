//! AVX-512 with VBMI and VBMI2: a block is one register, and one instruction pushes together what
//! is at the delimiters. So the tags of a block are read with it, without a look at the message for
//! each of them. No number is stored by the instruction that pushes together, which takes a hundred
//! cycles on some processors, and none is gathered, which others made slow to keep a secret.

use core::arch::x86_64::*;

use super::{BLOCK, Blocks, Delimiters, Reading, Vector, avx2, blocks};
use crate::data_fields::{DataFields, HINTS};
use crate::index::Span;
use crate::scan::{FieldBoundary, Found};

/// Sums the bytes and finds the fields, up to the first that is not plain.
///
/// # Safety
/// The processor must support AVX2, BMI1, BMI2, LZCNT, POPCNT, and AVX-512 with F, BW, VL, VBMI and
/// VBMI2. `bytes` must come from a framer.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
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
    let found = unsafe { blocks::<Avx512>(bytes, data_fields, tags, spans) };
    let Some(Blocks { sum, fields, vector }) = found else { return Found::nothing(bytes) };
    let Some(fields) = fields else { return Found { sum, place: FieldBoundary::START } };
    // SAFETY: the processor supports the instructions.
    let (wrong, long, lengths) = unsafe { vector.odd_tags() };
    if !(wrong | long | lengths) {
        return Found { sum, place: FieldBoundary::new(fields, bytes.len()) };
    }
    let message = Reading { bytes, data_fields, tags, spans, fields, joined: 0 };
    // SAFETY: every processor with these instructions has AVX2. These fields were found, all of
    // their positions ascending offsets into the message.
    Found { sum, place: unsafe { if wrong { read_tags_again(message) } else { settle(message, long) } } }
}

/// Begins again with the tags of a message with one that is not a number.
///
/// # Safety
/// As for [`avx2::read_all_tags`].
#[cold]
#[inline(never)]
unsafe fn read_tags_again(message: Reading<'_>) -> FieldBoundary {
    // SAFETY: by this function's own contract.
    unsafe { avx2::read_all_tags(message) }
}

/// Number of fields that are looked at together.
const GROUP: usize = 16;

/// Looks closer at the fields that may be length fields, and at those with a tag of more than four
/// digits, if there are any. Returns the first field that is not plain, or the end.
///
/// # Safety
/// The processor must support the instructions of [`find`].
#[cold]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn settle(mut message: Reading<'_>, long: bool) -> FieldBoundary {
    let hints = Hints::new(message.data_fields.hints());
    // The framer has read the first two.
    let mut first = 2;
    'groups: while first < message.fields {
        let Reading { tags, spans, fields, .. } = &message;
        let left = *fields - first;
        let present = if left < GROUP { !(!0 << left) } else { !0 };
        let (tags, before) = (tags[first..].as_ptr(), spans[first - 1..].as_ptr());
        // SAFETY: only numbers of the fields and the end of the one before are read.
        let (lengths, long) = unsafe {
            let words = _mm512_cvtepi32_epi16(_mm512_maskz_loadu_epi32(present, tags.cast()));
            let lengths = _mm256_test_epi16_mask(hints.of(words), _mm256_set1_epi16(0xff));
            (lengths, if long { long_tags(before.cast::<u32>().add(1), present) } else { 0 })
        };
        let mut unread = long;
        while unread != 0 {
            message.tags[first + unread.trailing_zeros() as usize] = 0;
            unread &= unread - 1;
        }
        let mut odd = lengths | long;
        while odd != 0 {
            let field = first + odd.trailing_zeros() as usize;
            odd &= odd - 1;
            match message.look_at(field, first + GROUP) {
                Ok(0) => {}
                // The others have moved. The data field may be the length of another one.
                Ok(_) => {
                    first = field + 1;
                    continue 'groups;
                }
                Err(place) => return place,
            }
        }
        first += GROUP;
    }
    message.end()
}

/// Returns a bit for each of the fields in `present` whose tag has more than four digits.
///
/// # Safety
/// The processor must support the instructions of [`find`]. `ends_and_starts`: the end of the value
/// before the first field, then start and end of every value; those of the fields in `present` must
/// be readable.
#[inline(always)]
unsafe fn long_tags(ends_and_starts: *const u32, present: __mmask16) -> __mmask16 {
    let [first, last] = present.to_le_bytes();
    // SAFETY: each field is two numbers, of which only those that are present are read.
    unsafe {
        let last = if last == 0 { 0 } else { eight_long_tags(ends_and_starts.add(16), last) };
        __mmask16::from_le_bytes([eight_long_tags(ends_and_starts, first), last])
    }
}

/// [`long_tags`] of eight fields.
#[inline(always)]
unsafe fn eight_long_tags(ends_and_starts: *const u32, present: __mmask8) -> __mmask8 {
    // SAFETY: only the fields that are present are read.
    unsafe {
        let both = _mm512_maskz_loadu_epi64(present, ends_and_starts.cast());
        // SOH, four digits and `=` are between the end, in the lower half, and the start.
        let distance = _mm512_sub_epi64(_mm512_srli_epi64::<32>(both), both);
        _mm256_cmpgt_epi32_mask(_mm512_cvtepi64_epi32(distance), _mm256_set1_epi32(1 + 4 + 1))
    }
}

struct Avx512 {
    block: __m512i,
    /// Sums of bytes that have not been added up yet.
    sums: __m512i,
    /// The position of the block, sixteen times.
    at: __m512i,
    hints: Hints,
    /// What the block takes over from the one before: its digits, and its digits as pairs.
    digits: __m512i,
    pairs: __m512i,
    begins: u64,
    /// The largest digit of a tag, and the largest that any begins with, less 1.
    largest: __m512i,
    largest_first: __m512i,
    /// Bits of tags that are longer than four digits.
    long: u64,
    /// Words of which the lowest eight bits are not 0 if a tag may be that of a length field.
    lengths: __m256i,
}

/// The hints: two registers for tags below 1,024, and two for others. They must live as long.
#[derive(Clone, Copy)]
struct Hints(*const __m512i);

/// The number of each byte of a block.
static PLACES: [u8; BLOCK] = {
    let mut places = [0; BLOCK];
    let mut n = 0;
    while n < BLOCK {
        places[n] = n as u8;
        n += 1;
    }
    places
};

// SAFETY of every block below: the processor supports the instructions, by the trait's contract;
// pointers are valid as the doc of each function requires.
impl Hints {
    #[inline(always)]
    fn new(hints: &[u32; HINTS]) -> Self {
        Self(hints.as_ptr().cast())
    }

    /// Returns 32 of the 128 bytes in two registers.
    #[inline(always)]
    unsafe fn bytes<const FIRST: usize>(self, which: __m512i) -> __m256i {
        // SAFETY: 32 numbers are two registers; the processor supports the instructions.
        unsafe {
            let (first, second) =
                (_mm512_loadu_si512(self.0.add(FIRST)), _mm512_loadu_si512(self.0.add(FIRST + 1)));
            _mm512_castsi512_si256(_mm512_permutex2var_epi8(first, which, second))
        }
    }

    /// Returns words whose lowest eight bits are not 0 where a tag, of at most 9,999, may be that
    /// of a length field.
    #[inline(always)]
    unsafe fn of(self, tags: __m256i) -> __m256i {
        // SAFETY: the processor supports the instructions.
        unsafe {
            // Seven bits of it say which of 128 bytes.
            let eighth = _mm512_castsi256_si512(_mm256_srli_epi16::<3>(tags));
            let mut bytes = self.bytes::<0>(eighth);
            // Seldom. The other two registers are not even loaded.
            let is_high = _mm256_cmpgt_epi16_mask(tags, _mm256_set1_epi16(1023));
            if is_high != 0 {
                bytes = _mm256_mask_blend_epi16(is_high, bytes, self.bytes::<2>(eighth));
            }
            let bit = _mm256_and_si256(tags, _mm256_set1_epi16(7));
            _mm256_and_si256(bytes, _mm256_sllv_epi16(_mm256_set1_epi16(1), bit))
        }
    }
}

impl Avx512 {
    /// Returns whether a tag is not a number or begins with 0, whether one has more than four
    /// digits, and whether one may be that of a length field.
    #[inline(always)]
    unsafe fn odd_tags(&self) -> (bool, bool, bool) {
        // SAFETY: the processor supports the instructions.
        unsafe {
            let largest = _mm512_max_epu8(self.largest, self.largest_first);
            let wrong = _mm512_cmpgt_epu8_mask(largest, _mm512_set1_epi8(9));
            let lengths = _mm256_test_epi16_mask(self.lengths, _mm256_set1_epi16(0xff));
            (wrong != 0, self.long != 0, lengths != 0)
        }
    }

    #[inline(always)]
    #[allow(clippy::cast_possible_wrap)]
    unsafe fn add(&mut self, block: __m512i) -> (u64, u64) {
        // SAFETY: the processor supports the instructions.
        unsafe {
            self.block = block;
            self.sums = _mm512_add_epi64(self.sums, _mm512_sad_epu8(block, _mm512_setzero_si512()));
            let soh = _mm512_cmpeq_epi8_mask(block, _mm512_set1_epi8(1));
            (soh, _mm512_cmpeq_epi8_mask(block, _mm512_set1_epi8(b'=' as i8)))
        }
    }

    /// Returns the tags of the fields whose first `=` is in the block, 16 at most, as words: the
    /// number in their last four digits.
    #[inline(always)]
    #[allow(clippy::cast_possible_wrap)]
    unsafe fn read(&mut self, delimiters: Delimiters) -> __m256i {
        let Delimiters { begins, first, in_tag, .. } = delimiters;
        // SAFETY: the processor supports the instructions.
        unsafe {
            let digits = _mm512_maskz_sub_epi8(in_tag, self.block, _mm512_set1_epi8(b'0' as i8));
            self.largest = _mm512_max_epu8(self.largest, digits);
            let one = _mm512_set1_epi8(1);
            let less = _mm512_mask_sub_epi8(digits, begins, digits, one);
            self.largest_first = _mm512_max_epu8(self.largest_first, less);
            // The fifth byte of a field is in a tag, and not the first one of a field after it:
            // fields of fewer than four bytes are not plain.
            self.long |= (begins << 4 | self.begins >> 60) & in_tag & !begins;
            self.begins = begins;
            // Each digit and ten times the one before. What is not in a tag is 0, so that a shorter
            // tag begins with zeros.
            let tens = _mm_setr_epi8(0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 0, 0, 0, 0, 0, 0);
            let lanes = _mm512_alignr_epi64::<6>(digits, self.digits);
            let before = _mm512_alignr_epi8::<15>(digits, lanes);
            let tens = _mm512_shuffle_epi8(_mm512_broadcast_i32x4(tens), before);
            let pairs = _mm512_add_epi8(digits, tens);
            // The pairs that end one and three bytes before each `=`.
            let lanes = _mm512_alignr_epi64::<6>(pairs, self.pairs);
            let ones = _mm512_alignr_epi8::<15>(pairs, lanes);
            let hundreds = _mm512_alignr_epi8::<13>(pairs, lanes);
            (self.digits, self.pairs) = (digits, pairs);
            let ones = _mm512_castsi512_si128(_mm512_maskz_compress_epi8(first, ones));
            let hundreds = _mm512_castsi512_si128(_mm512_maskz_compress_epi8(first, hundreds));
            let hundreds = _mm256_mullo_epi16(_mm256_cvtepu8_epi16(hundreds), _mm256_set1_epi16(100));
            _mm256_add_epi16(_mm256_cvtepu8_epi16(ones), hundreds)
        }
    }
}

impl Vector for Avx512 {
    const SHORTEST: usize = 1;

    // A plain field has at least four bytes.
    const POSITIONS: usize = 2 * Self::TAGS;

    const TAGS: usize = BLOCK / 4;

    #[inline(always)]
    unsafe fn new(data_fields: &DataFields) -> Self {
        // SAFETY: the processor supports the instructions.
        unsafe {
            let zero = _mm512_setzero_si512();
            Self {
                block: zero,
                sums: zero,
                at: zero,
                hints: Hints::new(data_fields.hints()),
                digits: zero,
                pairs: zero,
                begins: 0,
                largest: zero,
                largest_first: zero,
                long: 0,
                lengths: _mm256_setzero_si256(),
            }
        }
    }

    #[inline(always)]
    unsafe fn block(&mut self, bytes: *const u8) -> (u64, u64) {
        // SAFETY: 64 bytes can be read.
        unsafe { self.add(_mm512_loadu_si512(bytes.cast())) }
    }

    #[inline(always)]
    unsafe fn last_block(&mut self, bytes: &[u8], at: usize) -> (u64, u64) {
        let present = !(!0 << (bytes.len() - at));
        // SAFETY: only the bytes of the message are read.
        unsafe { self.add(_mm512_maskz_loadu_epi8(present, bytes.as_ptr().add(at).cast())) }
    }

    #[inline(always)]
    #[allow(clippy::cast_possible_wrap)]
    unsafe fn write(&mut self, delimiters: Delimiters, positions: *mut u32, tags: *mut u32) {
        let Delimiters { soh, values, .. } = delimiters;
        // SAFETY: 32 positions and 16 tags can be written.
        unsafe {
            let numbers = self.read(delimiters);
            _mm512_storeu_si512(tags.cast(), _mm512_cvtepu16_epi32(numbers));
            let places = _mm512_maskz_compress_epi8(values | soh, _mm512_loadu_si512(PLACES.as_ptr().cast()));
            let first = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(places));
            let last = _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32::<1>(places));
            _mm512_storeu_si512(positions.cast(), _mm512_add_epi32(self.at, first));
            _mm512_storeu_si512(positions.add(16).cast(), _mm512_add_epi32(self.at, last));
            self.at = _mm512_add_epi32(self.at, _mm512_set1_epi32(BLOCK as i32));
            self.lengths = _mm256_or_si256(self.lengths, self.hints.of(numbers));
        }
    }

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    unsafe fn sum(&self) -> u8 {
        // SAFETY: the processor supports the instructions.
        unsafe { _mm512_reduce_add_epi64(self.sums) as u8 }
    }
}
