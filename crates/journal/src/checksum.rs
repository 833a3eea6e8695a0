//! CRC32C of records, in three parallel streams where the processor supports it.
//!
//! The `crc32c` crate defines the result and is the oracle. It computes a single stream unless the
//! input is longer than most messages, and one stream of 256 bytes takes as long as the rest of an
//! append. This module returns the same checksums, only faster.

/// Continues the checksum `crc` over `bytes`.
#[inline]
pub(crate) fn extend(crc: u32, bytes: &[u8]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if let Some(crc) = x86::extend(crc, bytes) {
        return crc;
    }
    crc32c::crc32c_append(crc, bytes)
}

/// Continues the checksum over a record's header: ten words, except for the lower half of the
/// second, which is the checksum.
#[inline]
pub(crate) fn extend_header(crc: u32, words: &[u64; 10]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if let Some(crc) = x86::extend_header(crc, words) {
        return crc;
    }
    let mut bytes = [0; 76];
    bytes[..8].copy_from_slice(&words[0].to_le_bytes());
    bytes[8..12].copy_from_slice(&words[1].to_le_bytes()[4..]);
    for (to, word) in bytes[12..].chunks_exact_mut(8).zip(&words[2..]) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    crc32c::crc32c_append(crc, &bytes)
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use core::arch::x86_64::{
        _mm_clmulepi64_si128, _mm_crc32_u8, _mm_crc32_u32, _mm_crc32_u64, _mm_cvtsi64_si128,
        _mm_cvtsi128_si64,
    };

    /// Maximum number of words per stream; longer inputs are left to the crate.
    const LANE_MOST: usize = 128;

    /// `SHIFT[n]` moves a checksum over `8 * n` bytes of zeros: x^(64n - 33) mod P, with reflected
    /// bits. The 33 consists of what a carry-less product of two reflected values adds (1) and what
    /// the CRC instruction that reduces it adds (32).
    const SHIFT: [u32; 2 * LANE_MOST + 1] = {
        let mut table = [0; 2 * LANE_MOST + 1];
        // x^31, the highest power, is the lowest bit.
        let mut power: u32 = 1;
        let mut n = 1;
        while n < table.len() {
            table[n] = power;
            let mut bit = 0;
            while bit < 64 {
                power = (power >> 1) ^ (0x82f6_3b78 & 0u32.wrapping_sub(power & 1));
                bit += 1;
            }
            n += 1;
        }
        table
    };

    #[inline]
    fn available() -> bool {
        is_x86_feature_detected!("sse4.2") && is_x86_feature_detected!("pclmulqdq")
    }

    #[allow(unsafe_code)]
    #[inline]
    pub(super) fn extend(crc: u32, bytes: &[u8]) -> Option<u32> {
        if bytes.len() >= LANE_MOST * 24 || !available() {
            return None;
        }
        // SAFETY: the features that the function is compiled for were detected above.
        Some(unsafe { extend_detected(crc, bytes) })
    }

    #[allow(unsafe_code)]
    #[inline]
    pub(super) fn extend_header(crc: u32, words: &[u64; 10]) -> Option<u32> {
        // SAFETY: as above.
        available().then(|| unsafe { extend_header_detected(crc, words) })
    }

    #[target_feature(enable = "sse4.2,pclmulqdq")]
    fn extend_detected(crc: u32, bytes: &[u8]) -> u32 {
        let mut state = u64::from(!crc);
        let (mut words, mut tail) = bytes.as_chunks::<8>();
        let lane = words.len() / 3;
        if lane >= 3 {
            let (a, rest) = words.split_at(lane);
            let (b, rest) = rest.split_at(lane);
            let (c, rest) = rest.split_at(lane);
            let (mut x, mut y, mut z) = (state, 0, 0);
            for ((p, q), r) in a.iter().zip(b).zip(c) {
                x = _mm_crc32_u64(x, u64::from_le_bytes(*p));
                y = _mm_crc32_u64(y, u64::from_le_bytes(*q));
                z = _mm_crc32_u64(z, u64::from_le_bytes(*r));
            }
            let moved = multiply(x, SHIFT[2 * lane]) ^ multiply(y, SHIFT[lane]);
            state = _mm_crc32_u64(0, moved) ^ z;
            words = rest;
        }
        for word in words {
            state = _mm_crc32_u64(state, u64::from_le_bytes(*word));
        }
        let mut state = state as u32;
        if let Some((half, rest)) = tail.split_first_chunk::<4>() {
            state = _mm_crc32_u32(state, u32::from_le_bytes(*half));
            tail = rest;
        }
        for byte in tail {
            state = _mm_crc32_u8(state, *byte);
        }
        !state
    }

    /// Returns the carry-less product.
    #[target_feature(enable = "sse4.2,pclmulqdq")]
    fn multiply(crc: u64, factor: u32) -> u64 {
        let product = _mm_clmulepi64_si128::<0>(
            _mm_cvtsi64_si128(crc.cast_signed()),
            _mm_cvtsi64_si128(i64::from(factor)),
        );
        _mm_cvtsi128_si64(product).cast_unsigned()
    }

    #[target_feature(enable = "sse4.2,pclmulqdq")]
    fn extend_header_detected(crc: u32, words: &[u64; 10]) -> u32 {
        let state = _mm_crc32_u64(u64::from(!crc), words[0]);
        let mut state = u64::from(_mm_crc32_u32(state as u32, (words[1] >> 32) as u32));
        for word in &words[2..] {
            state = _mm_crc32_u64(state, *word);
        }
        !(state as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_gives_what_the_definition_gives() {
        let bytes: Vec<u8> = (0..5000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        assert_eq!(extend(0, b"123456789"), 0xe306_9283, "the check value of CRC32C");
        for length in (0..3200).chain([4096, 5000]) {
            for crc in [0, 1, 0xdead_beef] {
                let part = &bytes[length % 17..(length % 17 + length).min(5000)];
                assert_eq!(extend(crc, part), crc32c::crc32c_append(crc, part), "{length}");
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn a_header_gives_what_its_bytes_give(crc: u32, words: [u64; 10]) {
            let mut bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
            bytes.drain(8..12);
            proptest::prop_assert_eq!(extend_header(crc, &words), crc32c::crc32c_append(crc, &bytes));
        }
    }
}
