//! A value of up to sixteen bytes in registers: what is asked of it while it is written, without
//! reading back what was stored a moment before. Processors of x86-64 answer with SSE2.

#[cfg(target_arch = "x86_64")]
use crate::simd::sse2;

/// Two to eight bytes, the first one lowest. Unused bytes are zero.
#[derive(Clone, Copy)]
pub(crate) struct Eight(pub(crate) u64);

/// Nine to sixteen bytes, the first one lowest. Unused bytes are zero.
#[derive(Clone, Copy)]
pub(crate) struct Sixteen {
    low: u64,
    high: u64,
}

impl Eight {
    /// Reads two to eight bytes.
    #[inline(always)]
    pub(crate) fn load(bytes: &[u8]) -> Self {
        let length = bytes.len();
        debug_assert!(matches!(length, 2..=8));
        // The halves overlap in equal bytes.
        if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
            let last = u64::from(u32::from_le_bytes(*last)) << (8 * (length - 4));
            return Self(u64::from(u32::from_le_bytes(*first)) | last);
        }
        let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) else { return Self(0) };
        let last = u64::from(u16::from_le_bytes(*last)) << (8 * (length - 2));
        Self(u64::from(u16::from_le_bytes(*first)) | last)
    }
}

impl Sixteen {
    /// Reads nine to sixteen bytes.
    #[inline(always)]
    pub(crate) fn load(bytes: &[u8]) -> Self {
        let length = bytes.len();
        debug_assert!(matches!(length, 9..=16));
        let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) else {
            return Self { low: 0, high: 0 };
        };
        // Of the last eight bytes, those that are among the first ones are shifted out.
        Self { low: u64::from_le_bytes(*first), high: u64::from_le_bytes(*last) >> (8 * (16 - length)) }
    }

    /// Returns the bytes.
    #[inline(always)]
    pub(crate) fn to_bytes(self) -> [u8; 16] {
        (u128::from(self.high) << 64 | u128::from(self.low)).to_le_bytes()
    }
}

/// Copies a value of at least sixteen bytes into `place`, which has its length. Returns its sum,
/// modulo 256, and whether it contains SOH.
#[inline]
pub(crate) fn copy_long(place: &mut [u8], value: &[u8]) -> (u8, bool) {
    debug_assert!(value.len() >= 16 && place.len() == value.len());
    let (mut sum, mut soh) = (0, false);
    let (chunks, rest) = value.as_chunks::<16>();
    for (to, from) in place.as_chunks_mut::<16>().0.iter_mut().zip(chunks) {
        let all = Sixteen::load(from);
        *to = all.to_bytes();
        sum = u32::wrapping_add(sum, all.sum());
        soh |= all.has_soh();
    }
    // The last sixteen bytes overlap those before.
    if let (Some(to), Some(from)) = (place.last_chunk_mut::<16>(), value.last_chunk()) {
        *to = *from;
        soh |= Sixteen::load(from).has_soh();
    }
    let of_rest = match rest.len() {
        0 | 1 => rest.iter().map(|byte| u32::from(*byte)).sum(),
        2..=8 => Eight::load(rest).sum(),
        _ => Sixteen::load(rest).sum(),
    };
    (sum.wrapping_add(of_rest) as u8, soh)
}

#[cfg(target_arch = "x86_64")]
impl Eight {
    /// Returns whether one of the bytes is SOH.
    #[inline(always)]
    pub(crate) fn has_soh(self) -> bool {
        sse2::has_soh(self.0, 0)
    }

    /// Returns the sum of the bytes.
    #[inline(always)]
    pub(crate) fn sum(self) -> u32 {
        sse2::sum_of_eight(self.0)
    }
}

#[cfg(target_arch = "x86_64")]
impl Sixteen {
    /// Returns whether one of the bytes is SOH.
    #[inline(always)]
    pub(crate) fn has_soh(self) -> bool {
        sse2::has_soh(self.low, self.high)
    }

    /// Returns the sum of the bytes.
    #[inline(always)]
    pub(crate) fn sum(self) -> u32 {
        sse2::sum_of_sixteen(self.low, self.high)
    }
}

#[cfg(not(target_arch = "x86_64"))]
impl Eight {
    /// Returns whether one of the bytes is SOH.
    #[inline(always)]
    pub(crate) const fn has_soh(self) -> bool {
        words::has_soh(self.0, 0)
    }

    /// Returns the sum of the bytes.
    #[inline(always)]
    pub(crate) const fn sum(self) -> u32 {
        words::sum(self.0, 0)
    }
}

#[cfg(not(target_arch = "x86_64"))]
impl Sixteen {
    /// Returns whether one of the bytes is SOH.
    #[inline(always)]
    pub(crate) const fn has_soh(self) -> bool {
        words::has_soh(self.low, self.high)
    }

    /// Returns the sum of the bytes.
    #[inline(always)]
    pub(crate) const fn sum(self) -> u32 {
        words::sum(self.low, self.high)
    }
}

/// What [`sse2`] does, for other processors, and as the oracle of the test.
#[cfg(any(test, not(target_arch = "x86_64")))]
mod words {
    use crate::soh::soh_bits;

    pub(super) const fn has_soh(low: u64, high: u64) -> bool {
        soh_bits(low) | soh_bits(high) != 0
    }

    pub(super) const fn sum(low: u64, high: u64) -> u32 {
        const EVERY_SECOND: u64 = 0x00FF_00FF_00FF_00FF;
        // Four sums of four bytes each, which the multiplication adds up in the highest one.
        let pairs = (low & EVERY_SECOND) + (low >> 8 & EVERY_SECOND);
        let fours = pairs + (high & EVERY_SECOND) + (high >> 8 & EVERY_SECOND);
        (fours.wrapping_mul(0x0001_0001_0001_0001) >> 48) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    extern crate std;
    use std::vec::Vec;

    /// What is known of a value: its bytes with those after it, sum, and whether there is an SOH.
    fn read(value: &[u8]) -> (Vec<u8>, u32, bool) {
        if value.len() <= 8 {
            let eight = Eight::load(value);
            let by_words = (words::sum(eight.0, 0), words::has_soh(eight.0, 0));
            assert_eq!((eight.sum(), eight.has_soh()), by_words);
            return (eight.0.to_le_bytes().to_vec(), eight.sum(), eight.has_soh());
        }
        let all = Sixteen::load(value);
        let by_words = (words::sum(all.low, all.high), words::has_soh(all.low, all.high));
        assert_eq!((all.sum(), all.has_soh()), by_words);
        (all.to_bytes().to_vec(), all.sum(), all.has_soh())
    }

    #[test]
    fn the_bytes_are_those_that_were_read_and_their_sum_is_that_of_each() {
        for factor in [0, 1, 37, 255] {
            let bytes: [u8; 16] = core::array::from_fn(|n| (n as u8).wrapping_mul(factor).wrapping_add(200));
            for length in 2..=16 {
                let value = &bytes[..length];
                let (all, sum, _) = read(value);
                assert_eq!(all[..length], *value);
                assert!(all[length..].iter().all(|byte| *byte == 0), "{length}");
                assert_eq!(sum, value.iter().map(|byte| u32::from(*byte)).sum::<u32>(), "{length}");
            }
        }
        assert_eq!(read(&[255; 16]).1, 16 * 255);
    }

    #[test]
    fn soh_is_found_at_every_place_and_no_other_byte_is_taken_for_it() {
        for length in 2..=16 {
            for place in 0..length {
                for byte in 0..=255 {
                    let mut value = [2; 16];
                    value[place] = byte;
                    assert_eq!(read(&value[..length]).2, byte == 1, "{byte} at {place} of {length}");
                }
            }
        }
    }
}
