//! CRC32C of records and of what else a journal's files hold, in parallel streams where the
//! processor has an instruction for it.
//!
//! One stream of 256 bytes takes as long as the rest of an append. The `crc32c` crate, which the
//! tests compare with, computes a single stream unless the input is longer than most messages, and
//! has users compile three crates and a build script; so other processors than x86-64 leave it the
//! work, and x86-64 does not need it.

/// Number of words in a record's header.
const HEADER_WORDS: usize = 10;

/// Returns the checksum of a record: from `salt` over the body, then over the header, except for
/// the lower half of its second word, which is the checksum. `docs/journal.md` describes the
/// header.
#[inline]
#[must_use]
pub fn record(salt: u32, body: &[u8], header: &[u64; HEADER_WORDS]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if let Some(checksum) = x86::record(salt, body, header) {
        return checksum;
    }
    let mut bytes = [0; 8 * HEADER_WORDS - 4];
    bytes[..8].copy_from_slice(&header[0].to_le_bytes());
    bytes[8..12].copy_from_slice(&header[1].to_le_bytes()[4..]);
    for (to, word) in bytes[12..].chunks_exact_mut(8).zip(&header[2..]) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    append(append(salt, body), &bytes)
}

/// Continues the checksum `crc` over `bytes`; 0 is that of no bytes.
pub(crate) fn append(crc: u32, bytes: &[u8]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    return x86::append(crc, bytes).unwrap_or_else(|| by_bytes(crc, bytes));
    #[cfg(not(target_arch = "x86_64"))]
    crc32c::crc32c_append(crc, bytes)
}

/// Continues a checksum on an x86-64 processor without the instruction (before 2008).
#[cfg(target_arch = "x86_64")]
fn by_bytes(crc: u32, bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut byte = 0;
        while byte < table.len() {
            table[byte] = advance(byte as u32, 8);
            byte += 1;
        }
        table
    };
    !bytes.iter().fold(!crc, |state, byte| TABLE[usize::from(state as u8 ^ byte)] ^ (state >> 8))
}

/// What a mark in byte 13 of a header changes in the checksum of the record without it, whatever
/// the record is: the checksum is linear.
pub(crate) const fn of_mark(mark: u8) -> u32 {
    advance(mark as u32, 8 * (8 * HEADER_WORDS - 13))
}

/// Moves a checksum over this many zero bits: multiplies by x^bits modulo P, with reflected bits.
const fn advance(mut crc: u32, bits: usize) -> u32 {
    let mut bit = 0;
    while bit < bits {
        crc = (crc >> 1) ^ (0x82f6_3b78 & 0u32.wrapping_sub(crc & 1));
        bit += 1;
    }
    crc
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use core::arch::x86_64::{
        _mm_clmulepi64_si128, _mm_crc32_u8, _mm_crc32_u32, _mm_crc32_u64, _mm_cvtsi64_si128,
        _mm_cvtsi128_si64,
    };

    use super::{HEADER_WORDS, advance};

    /// Maximum number of words per stream; longer inputs are taken in pieces.
    const LANE_MOST: usize = 128;

    /// `SHIFT[n]` moves a checksum over `8 * n` bytes of zeros: x^(64n - 33) mod P, with reflected
    /// bits. The 33 consists of what a carry-less product of two reflected values adds (1) and what
    /// the CRC instruction that reduces it adds (32).
    const SHIFT: [u32; 2 * LANE_MOST + 1] = {
        let mut table = [0; 2 * LANE_MOST + 1];
        // x^31, the highest power, is the lowest bit.
        let mut power = 1;
        let mut n = 1;
        while n < table.len() {
            table[n] = power;
            power = advance(power, 64);
            n += 1;
        }
        table
    };

    /// Moves a checksum over a header, like `SHIFT`.
    const OVER_HEADER: u32 = advance(1, 8 * (8 * HEADER_WORDS - 4) - 33 - 31);

    #[inline]
    fn available() -> bool {
        is_x86_feature_detected!("sse4.2") && is_x86_feature_detected!("pclmulqdq")
    }

    #[allow(unsafe_code)]
    #[inline]
    pub(super) fn record(salt: u32, body: &[u8], header: &[u64; HEADER_WORDS]) -> Option<u32> {
        // SAFETY: the features that the function is compiled for were detected.
        available().then(|| unsafe { record_detected(salt, body, header) })
    }

    #[allow(unsafe_code)]
    pub(super) fn append(crc: u32, bytes: &[u8]) -> Option<u32> {
        // SAFETY: as above.
        available().then(|| unsafe { append_detected(crc, bytes) })
    }

    #[target_feature(enable = "sse4.2,pclmulqdq")]
    fn append_detected(crc: u32, bytes: &[u8]) -> u32 {
        bytes.chunks(LANE_MOST * 24).fold(crc, |crc, piece| extend(crc, piece))
    }

    /// Computes the header's part from zero, so that it need not wait for the body's, which is
    /// moved over the header instead.
    #[target_feature(enable = "sse4.2,pclmulqdq")]
    fn record_detected(salt: u32, body: &[u8], header: &[u64; HEADER_WORDS]) -> u32 {
        let body = if body.len() < LANE_MOST * 24 { extend(salt, body) } else { append_detected(salt, body) };
        let moved = multiply(u64::from(!body), OVER_HEADER);
        let [first, second, rest @ .., last] = header;
        let state = _mm_crc32_u64(0, *first);
        let mut state = u64::from(_mm_crc32_u32(state as u32, (second >> 32) as u32));
        for word in rest {
            state = _mm_crc32_u64(state, *word);
        }
        !(_mm_crc32_u64(state, last ^ moved) as u32)
    }

    /// Continues the checksum `crc` over `bytes`, at most three times `LANE_MOST` words and seven
    /// bytes.
    #[target_feature(enable = "sse4.2,pclmulqdq")]
    fn extend(crc: u32, bytes: &[u8]) -> u32 {
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
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_of(header: &[u64; 10]) -> Vec<u8> {
        let mut bytes: Vec<u8> = header.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.drain(8..12);
        bytes
    }

    #[test]
    fn every_length_gives_what_the_definition_gives() {
        let bytes: Vec<u8> = (0..5000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        assert_eq!(crc32c::crc32c(b"123456789"), 0xe306_9283, "the check value of CRC32C");
        let header = [0x0123_4567_89ab_cdef; 10];
        for length in (0..3200).chain([4096, 5000]) {
            for salt in [0, 1, 0xdead_beef] {
                let body = &bytes[length % 17..(length % 17 + length).min(5000)];
                let expected = crc32c::crc32c_append(crc32c::crc32c_append(salt, body), &bytes_of(&header));
                assert_eq!(record(salt, body, &header), expected, "{length}");
                assert_eq!(append(salt, body), crc32c::crc32c_append(salt, body), "{length}");
                #[cfg(target_arch = "x86_64")]
                assert_eq!(by_bytes(salt, body), append(salt, body), "{length}");
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn a_header_gives_what_its_bytes_give(salt: u32, header: [u64; 10], mark: u8) {
            let expected = crc32c::crc32c_append(salt, &bytes_of(&header));
            proptest::prop_assert_eq!(record(salt, b"", &header), expected);
            let mut marked = header;
            marked[1] ^= u64::from(mark) << 40;
            let expected = crc32c::crc32c_append(salt, &bytes_of(&marked));
            proptest::prop_assert_eq!(record(salt, b"", &header) ^ of_mark(mark), expected);
        }
    }
}
