//! AVX2: a block is two registers of 32 bytes.

use core::arch::x86_64::*;

use super::Vector;
use crate::data_fields::{DataFields, HINTS};
use crate::index::Span;
use crate::scan::Found;

/// [`super::find`] with AVX2.
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
    // SAFETY: by this function's own contract.
    unsafe { super::find::<Block>(bytes, data_fields, tags, spans) }
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
impl Vector for Block {
    type Sums = __m256i;

    #[inline(always)]
    unsafe fn load(bytes: *const u8) -> Self {
        // SAFETY: 64 bytes can be read.
        unsafe { Self(_mm256_loadu_si256(bytes.cast()), _mm256_loadu_si256(bytes.add(32).cast())) }
    }

    #[inline(always)]
    unsafe fn without_first(self, count: usize) -> Self {
        debug_assert!(count <= 64);
        // SAFETY: at most 64, so that the 64 bytes end inside the window's 128.
        unsafe {
            let window = Self::load(WINDOW.0.as_ptr().add(64 - count));
            Self(_mm256_and_si256(self.0, window.0), _mm256_and_si256(self.1, window.1))
        }
    }

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
    unsafe fn no_sums() -> Self::Sums {
        // SAFETY: the processor supports the instructions.
        unsafe { _mm256_setzero_si256() }
    }

    #[inline(always)]
    unsafe fn add_to(self, sums: Self::Sums) -> Self::Sums {
        // SAFETY: the processor supports the instructions.
        unsafe {
            let zero = _mm256_setzero_si256();
            let own = _mm256_add_epi64(_mm256_sad_epu8(self.0, zero), _mm256_sad_epu8(self.1, zero));
            _mm256_add_epi64(sums, own)
        }
    }

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    unsafe fn total(sums: Self::Sums) -> u8 {
        // SAFETY: the processor supports the instructions.
        unsafe {
            let half = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums));
            _mm_cvtsi128_si64(_mm_add_epi64(half, _mm_unpackhi_epi64(half, half))) as u8
        }
    }

    #[inline(always)]
    #[allow(clippy::cast_possible_wrap)]
    unsafe fn write_positions(mask: u64, base: u32, mut to: *mut u32) {
        let mut rest = mask;
        let mut n = 0;
        while n < 8 {
            // SAFETY: at most 56 positions are written before the last eight, so that these end at
            // the 64th.
            unsafe {
                let places = _mm_loadl_epi64(PLACES[(rest & 0xff) as usize].as_ptr().cast());
                let base = _mm256_set1_epi32((base + 8 * n) as i32);
                _mm256_storeu_si256(to.cast(), _mm256_add_epi32(_mm256_cvtepu8_epi32(places), base));
                to = to.add((rest & 0xff).count_ones() as usize);
            }
            rest >>= 8;
            n += 1;
        }
    }

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
            let texts =
                _mm256_setr_epi32(text(0), text(1), text(4), text(5), text(2), text(3), text(6), text(7));
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
            // The words of the hints in the order of `hint`: bits 5 to 7 of a tag select one of
            // eight, bit 8 selects which eight.
            let hints = |part: usize| _mm256_loadu_si256(hints.as_ptr().add(8 * part).cast());
            let eighth = _mm256_srli_epi32::<5>(numbers);
            let word = |part: usize| _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(hints(part), eighth));
            let bit_8 = _mm256_castsi256_ps(_mm256_slli_epi32::<23>(numbers));
            let low = _mm256_blendv_ps(word(0), word(1), bit_8);
            let high = _mm256_blendv_ps(word(2), word(3), bit_8);
            let is_high = _mm256_cmpgt_epi32(numbers, _mm256_set1_epi32(511));
            let words = _mm256_castps_si256(_mm256_blendv_ps(low, high, _mm256_castsi256_ps(is_high)));
            let bit = _mm256_andnot_si256(numbers, _mm256_set1_epi32(31));
            // The bit becomes the sign, as does everything irregular.
            let odd = _mm256_or_si256(_mm256_sllv_epi32(words, bit), odd);
            _mm256_movemask_ps(_mm256_castsi256_ps(odd)) as u8
        }
    }
}
