//! SSE2, which every x86-64 processor supports: look-ups need no choice of a tier.
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
