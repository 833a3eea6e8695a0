//! SSE2, which every x86-64 processor supports: look-ups of tags, and values that are written, need
//! no choice of a tier.
//!
//! AVX2 would halve the number of compares, but choosing a tier takes longer than a look-up.

use core::arch::x86_64::*;

/// Returns one bit for every tag that equals `tag`, the lowest for the first.
#[inline]
#[allow(clippy::cast_possible_wrap, clippy::cast_sign_loss)]
pub(crate) fn equal_16(tags: &[u32; 16], tag: u32) -> u32 {
    let at = tags.as_ptr();
    // SAFETY: every x86-64 processor supports SSE2; 16 numbers can be read.
    unsafe {
        let tag = _mm_set1_epi32(tag as i32);
        let four = |n: usize| _mm_cmpeq_epi32(_mm_loadu_si128(at.add(n).cast()), tag);
        let (first, last) = (_mm_packs_epi32(four(0), four(4)), _mm_packs_epi32(four(8), four(12)));
        _mm_movemask_epi8(_mm_packs_epi16(first, last)) as u32
    }
}

/// Returns one bit for each of eight tags that equals `tag`, the lowest for the first.
#[inline]
#[allow(clippy::cast_possible_wrap, clippy::cast_sign_loss)]
pub(crate) fn equal_8(tags: &[u32; 8], tag: u32) -> u32 {
    let at = tags.as_ptr();
    // SAFETY: every x86-64 processor supports SSE2; eight numbers can be read.
    unsafe {
        let tag = _mm_set1_epi32(tag as i32);
        let four = |n: usize| _mm_cmpeq_epi32(_mm_loadu_si128(at.add(n).cast()), tag);
        let eight = _mm_packs_epi32(four(0), four(4));
        _mm_movemask_epi8(_mm_packs_epi16(eight, eight)) as u32 & 0xFF
    }
}

/// Returns one bit for each of four tags that equals `tag`, the lowest for the first.
#[inline]
#[allow(clippy::cast_possible_wrap, clippy::cast_sign_loss)]
pub(crate) fn equal_4(tags: &[u32; 4], tag: u32) -> u32 {
    // SAFETY: every x86-64 processor supports SSE2; four numbers can be read.
    unsafe {
        let equal = _mm_cmpeq_epi32(_mm_loadu_si128(tags.as_ptr().cast()), _mm_set1_epi32(tag as i32));
        _mm_movemask_ps(_mm_castsi128_ps(equal)) as u32
    }
}

/// Returns whether one of sixteen bytes is SOH.
#[inline(always)]
pub(crate) fn has_soh(low: u64, high: u64) -> bool {
    // SAFETY: every x86-64 processor supports SSE2.
    unsafe { _mm_movemask_epi8(_mm_cmpeq_epi8(register(low, high), _mm_set1_epi8(1))) != 0 }
}

/// Returns the sum of eight bytes.
#[inline(always)]
pub(crate) fn sum_of_eight(word: u64) -> u32 {
    // SAFETY: every x86-64 processor supports SSE2.
    unsafe { _mm_cvtsi128_si32(_mm_sad_epu8(register(word, 0), _mm_setzero_si128())).cast_unsigned() }
}

/// Returns the sum of sixteen bytes.
#[inline(always)]
pub(crate) fn sum_of_sixteen(low: u64, high: u64) -> u32 {
    // SAFETY: every x86-64 processor supports SSE2.
    unsafe {
        // The sum of eight bytes in each half.
        let halves = _mm_sad_epu8(register(low, high), _mm_setzero_si128());
        _mm_cvtsi128_si32(_mm_add_epi32(halves, _mm_unpackhi_epi64(halves, halves))).cast_unsigned()
    }
}

/// Returns whether the first `length` of four bytes, 3 or 4, begin at one of sixteen places.
#[inline(always)]
pub(crate) fn stand_at_16(part: &[u8; 19], four: [u8; 4], length: usize) -> bool {
    let from = part.as_ptr();
    // SAFETY: every x86-64 processor supports SSE2; sixteen bytes can be read from each of the
    // first four of nineteen.
    unsafe {
        let equal = |n: usize| {
            let there = _mm_loadu_si128(from.add(n).cast());
            _mm_cmpeq_epi8(there, _mm_set1_epi8(four[n].cast_signed()))
        };
        let three = _mm_and_si128(_mm_and_si128(equal(0), equal(1)), equal(2));
        let all = if length == 4 { _mm_and_si128(three, equal(3)) } else { three };
        _mm_movemask_epi8(all) != 0
    }
}

#[inline(always)]
fn register(low: u64, high: u64) -> __m128i {
    // SAFETY: every x86-64 processor supports SSE2.
    unsafe { _mm_set_epi64x(high.cast_signed(), low.cast_signed()) }
}
