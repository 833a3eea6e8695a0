//! SOH, the byte that ends each field, and where it is. Eight bytes are compared at a time: whoever
//! sends noise may send much of it.

#[cfg(not(target_arch = "x86_64"))]
use self::stand_one_by_one as stand_at_16;
#[cfg(target_arch = "x86_64")]
use crate::simd::sse2::stand_at_16;

/// The delimiter of fields.
pub(crate) const SOH: u8 = 1;

const ONES: u64 = u64::from_ne_bytes([SOH; 8]);
const HIGH: u64 = ONES << 7;

/// Returns a value that is not 0 if one of the eight bytes is SOH. Its lowest bit is that of the
/// first one, counted from the lowest byte.
#[inline]
pub(crate) const fn soh_bits(word: u64) -> u64 {
    // A byte of `word ^ ONES` is zero exactly where the word has SOH.
    let zero = word ^ ONES;
    zero.wrapping_sub(ONES) & !zero & HIGH
}

/// Returns where the first SOH is.
#[inline]
pub(crate) fn first_soh(bytes: &[u8]) -> Option<usize> {
    let (chunks, rest) = bytes.as_chunks::<8>();
    for (n, chunk) in chunks.iter().enumerate() {
        let found = soh_bits(u64::from_le_bytes(*chunk));
        if found != 0 {
            return Some(n * 8 + (found.trailing_zeros() / 8) as usize);
        }
    }
    Some(chunks.len() * 8 + rest.iter().position(|byte| *byte == SOH)?)
}

/// Returns whether the first `length` of four bytes, 3 or 4, follow each other somewhere.
pub(crate) fn contains_start(bytes: &[u8], four: [u8; 4], length: usize) -> bool {
    const PLACES: usize = 16;
    // Sixteen places are compared at a time; the last ones overlap those before them.
    let Some(last) = bytes.last_chunk::<{ PLACES + 3 }>() else {
        return bytes.windows(length).any(|part| *part == four[..length]);
    };
    let mut rest = bytes;
    while let Some(part) = rest.first_chunk() {
        if stand_at_16(part, four, length) {
            return true;
        }
        rest = &rest[PLACES..];
    }
    stand_at_16(last, four, length) || bytes.ends_with(&four[..length])
}

/// What [`stand_at_16`] does, for other processors, and as the oracle of the test.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn stand_one_by_one(part: &[u8; 19], four: [u8; 4], length: usize) -> bool {
    part[..15 + length].windows(length).any(|part| *part == four[..length])
}

#[cfg(test)]
mod tests {
    use super::*;

    extern crate std;
    use std::vec::Vec;

    #[test]
    fn a_start_is_found_wherever_it_is_and_nothing_like_it() {
        let four = *b"\x01589";
        for length in [3, 4] {
            let start = &four[..length];
            for size in 0..80 {
                for place in 0..size {
                    // Parts of it everywhere else.
                    let mut bytes: Vec<u8> = b"\x01558\x0158".iter().copied().cycle().take(size).collect();
                    if length == 3 {
                        bytes = b"\x0155".iter().copied().cycle().take(size).collect();
                    }
                    assert!(!contains_start(&bytes, four, length), "{size}");
                    let Some(to) = bytes.get_mut(place..place + length) else { continue };
                    to.copy_from_slice(start);
                    assert!(contains_start(&bytes, four, length), "{length} at {place} of {size}");
                    if let Some(part) = bytes.first_chunk() {
                        let expected = stand_one_by_one(part, four, length);
                        assert_eq!(stand_at_16(part, four, length), expected, "{place} of {size}");
                    }
                }
            }
        }
    }
}
