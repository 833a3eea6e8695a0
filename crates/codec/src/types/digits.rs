//! Decimal digits eight at a time: the one place where the types convert between ASCII digits and
//! numbers.
//!
//! Eight bytes are held in a `u64` with the first (most significant) digit in the lowest byte, each
//! byte XORed with `'0'`: a digit is 0 to 9, and unused bytes are zero.

use super::ValueError;
use super::rendered::Rendered;

const ZEROS: u64 = 0x3030_3030_3030_3030;
const HIGH: u64 = 0x8080_8080_8080_8080;
/// Added to a byte below 0x80, it carries into the high bit if and only if the byte is above 9.
const ABOVE_NINE: u64 = 0x7676_7676_7676_7676;

pub(crate) const TEN_TO: [u64; 20] = {
    let mut powers = [1; 20];
    let mut i = 1;
    while i < 20 {
        powers[i] = powers[i - 1] * 10;
        i += 1;
    }
    powers
};

const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[b'0'; 2]; 100];
    let mut i = 0;
    while i < 100 {
        pairs[i] = [b'0' + (i / 10) as u8, b'0' + (i % 10) as u8];
        i += 1;
    }
    pairs
};

/// Reads one to eight bytes, right-aligned.
#[inline]
pub(crate) fn load(bytes: &[u8]) -> u64 {
    let length = bytes.len();
    debug_assert!((1..=8).contains(&length));
    if let Ok(all) = <[u8; 8]>::try_from(bytes) {
        return u64::from_le_bytes(all) ^ ZEROS;
    }
    let packed = if let (Some(head), Some(tail)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        // The two halves overlap in equal bytes.
        u64::from(u32::from_le_bytes(*head)) | u64::from(u32::from_le_bytes(*tail)) << (8 * (length - 4))
    } else {
        let middle = length / 2;
        u64::from(bytes[0])
            | u64::from(bytes[middle]) << (8 * middle)
            | u64::from(bytes[length - 1]) << (8 * (length - 1))
    };
    let unused = 8 * (8 - length);
    (packed ^ (ZEROS >> unused)) << unused
}

/// Returns whether all eight bytes are digits.
#[inline]
pub(crate) const fn all_digits(eight: u64) -> bool {
    others(eight) == 0
}

/// Returns a mask (0x80) whose lowest bit is that of the first byte that is not a digit; the bits
/// above it may be wrong.
#[inline]
pub(crate) const fn others(eight: u64) -> u64 {
    (eight.wrapping_add(ABOVE_NINE) | eight) & HIGH
}

/// Returns the four two-digit numbers, in bytes 0, 2, 4 and 6.
#[inline]
pub(crate) const fn pairs(eight: u64) -> u64 {
    eight.wrapping_mul(10).wrapping_add(eight >> 8) & 0x00FF_00FF_00FF_00FF
}

/// Returns the number that eight digits make.
#[inline]
pub(crate) const fn number(eight: u64) -> u64 {
    let fours = pairs(eight);
    let fours = fours.wrapping_mul(100).wrapping_add(fours >> 16) & 0x0000_FFFF_0000_FFFF;
    fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xFFFF_FFFF
}

/// Returns a mask (0x80) of the bytes that equal `byte`, which is given XORed with `'0'`.
#[inline]
pub(crate) const fn places_of(eight: u64, byte: u8) -> u64 {
    let other = eight ^ (byte as u64 * 0x0101_0101_0101_0101);
    !(((other & !HIGH).wrapping_add(!HIGH)) | other) & HIGH
}

/// Reads `[0-9]+`.
#[inline]
pub(crate) fn unsigned(bytes: &[u8]) -> Result<u64, ValueError> {
    match bytes.len() {
        0 => Err(ValueError::Empty),
        1..=8 => {
            let eight = load(bytes);
            if all_digits(eight) { Ok(number(eight)) } else { Err(ValueError::Format) }
        }
        9..=16 => {
            let (head, tail) = bytes.split_at(bytes.len() - 8);
            let (head, tail) = (load(head), load(tail));
            if all_digits(head) && all_digits(tail) {
                Ok(number(head) * 100_000_000 + number(tail))
            } else {
                Err(ValueError::Format)
            }
        }
        _ => long_unsigned(bytes),
    }
}

#[cold]
fn long_unsigned(bytes: &[u8]) -> Result<u64, ValueError> {
    bytes
        .iter()
        .try_fold(0_u64, |sum, byte| {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 { None } else { sum.checked_mul(10)?.checked_add(u64::from(digit)) }
        })
        .ok_or(ValueError::Format)
}

/// Returns the number of digits, at least 1.
#[inline]
pub(crate) const fn count(number: u64) -> usize {
    match number.checked_ilog10() {
        Some(log) => log as usize + 1,
        None => 1,
    }
}

/// Fills `out` with the last digits of `number`, padded with zeros; returns the rest of the number.
#[inline]
pub(crate) fn fill(mut number: u64, out: &mut [u8]) -> u64 {
    let mut end = out.len();
    while end >= 2 {
        end -= 2;
        out[end..end + 2].copy_from_slice(&PAIRS[(number % 100) as usize]);
        number /= 100;
    }
    if end == 1 {
        out[0] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    number
}

/// Returns the two digits of a number below 100.
#[inline]
pub(crate) const fn two(number: u8) -> [u8; 2] {
    PAIRS[(number % 100) as usize]
}

/// Returns the eight digits of a number below 10^8, the first one lowest, each 0 to 9. It is split
/// into halves, pairs and digits, each division being a multiplication and a shift.
#[inline]
pub(crate) const fn eight(number: u64) -> u64 {
    let halves = (number / 10_000) | ((number % 10_000) << 32);
    let hundreds = (halves * 10_486) >> 20 & 0x0000_007F_0000_007F;
    split_pairs(hundreds | (halves - hundreds * 100) << 16)
}

/// Returns the sixteen digits of a number below 10^16, the first one lowest, each 0 to 9.
#[inline]
pub(crate) const fn sixteen(number: u64) -> u128 {
    eight(number / TEN_TO[8]) as u128 | (eight(number % TEN_TO[8]) as u128) << 64
}

/// Returns sixteen digits as text.
#[inline]
pub(crate) const fn text_of_sixteen(digits: u128) -> u128 {
    digits | (ZEROS as u128) << 64 | ZEROS as u128
}

/// Returns how many of sixteen digits are zeros before the number's first one; the last digit
/// always counts.
#[inline]
pub(crate) const fn leading_zeros_of_sixteen(digits: u128) -> usize {
    ((digits | 1 << 120).trailing_zeros() / 8) as usize
}

/// Returns the eight digits of a number below 10^4, of which four are zeros.
#[inline]
pub(crate) const fn four(number: u64) -> u64 {
    split_pairs((number / 100) | ((number % 100) << 16)) << 32
}

/// Returns the eight digits of four numbers below 100.
#[inline]
pub(crate) const fn four_pairs(numbers: [u8; 4]) -> u64 {
    let [a, b, c, d] = numbers;
    split_pairs(a as u64 | (b as u64) << 16 | (c as u64) << 32 | (d as u64) << 48)
}

/// Returns the three digits of a number below 1000, the first one lowest. Each division is a
/// multiplication and a shift.
#[inline]
pub(crate) const fn three(number: u32) -> u64 {
    let hundreds = (number * 41) >> 12;
    let rest = number - hundreds * 100;
    let tens = (rest * 103) >> 10;
    (hundreds | tens << 8 | (rest - tens * 10) << 16) as u64
}

/// Splits four numbers below 100, each in two bytes, into their digits.
#[inline]
const fn split_pairs(pairs: u64) -> u64 {
    let tens = (pairs * 103) >> 10 & 0x000F_000F_000F_000F;
    tens | (pairs - tens * 10) << 8
}

/// Returns the digits as text.
#[inline]
pub(crate) const fn text(digits: u64) -> u64 {
    digits | ZEROS
}

/// Returns how many of eight digits are zeros before the number's first one; the last digit always
/// counts.
#[inline]
pub(crate) const fn leading_zeros(digits: u64) -> usize {
    ((digits | 1 << 56).trailing_zeros() / 8) as usize
}

/// Returns the sum of `count` digits as text.
#[inline]
pub(crate) const fn text_sum(digits: u64, count: usize) -> u32 {
    sum(digits) + b'0' as u32 * count as u32
}

/// Returns the sum of eight numbers of one byte, which is below 256.
#[inline]
pub(crate) const fn sum(bytes: u64) -> u32 {
    (bytes.wrapping_mul(0x0101_0101_0101_0101) >> 56) as u32
}

/// Renders a number of up to eight digits without leading zeros.
#[inline(always)]
pub(super) const fn rendered(number: u64) -> Option<Rendered> {
    if number >= TEN_TO[8] {
        return None;
    }
    let digits = eight(number);
    let skipped = leading_zeros(digits);
    let length = 8 - skipped;
    let word = text(digits >> (8 * skipped));
    Some(Rendered { words: [word, 0, 0], length, sum: text_sum(digits, length) })
}

/// Writes an unsigned number without leading zeros. What follows it in `out` may be overwritten.
#[inline]
pub(crate) fn write_unsigned(number: u64, out: &mut [u8]) -> usize {
    if number < TEN_TO[8]
        && let Some(place) = out.first_chunk_mut::<8>()
    {
        let digits = eight(number);
        let skipped = leading_zeros(digits);
        *place = text(digits >> (8 * skipped)).to_le_bytes();
        return 8 - skipped;
    }
    write_long(number, out)
}

#[inline(never)]
fn write_long(number: u64, out: &mut [u8]) -> usize {
    if number < TEN_TO[16]
        && let Some(place) = out.first_chunk_mut::<16>()
    {
        let digits = sixteen(number);
        let skipped = leading_zeros_of_sixteen(digits);
        *place = (text_of_sixteen(digits) >> (8 * skipped)).to_le_bytes();
        return 16 - skipped;
    }
    let length = count(number);
    fill(number, &mut out[..length]);
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    extern crate std;

    #[test]
    fn every_byte_but_the_ten_digits_is_refused_at_every_place() {
        let mut bytes = *b"1234567812345678123";
        for length in 1..=bytes.len() {
            for place in 0..length {
                for byte in 0..=255_u8 {
                    let before = bytes[place];
                    bytes[place] = byte;
                    assert_eq!(
                        unsigned(&bytes[..length]).is_ok(),
                        byte.is_ascii_digit(),
                        "{byte:#x} at {place} of {length}"
                    );
                    bytes[place] = before;
                }
            }
        }
    }

    #[test]
    fn digits_are_those_of_the_standard_library() {
        let numbers = (0..100_000).chain((0..1_000).flat_map(|n| [n * 99_991, 99_999_999 - n * 7]));
        for number in numbers {
            let expected = std::format!("{number:08}");
            assert_eq!(text(eight(number)).to_le_bytes(), expected.as_bytes());
            assert_eq!(8 - leading_zeros(eight(number)), std::format!("{number}").len());
            assert!(number >= 10_000 || four(number) == eight(number));
        }
        for number in 0..1000 {
            assert_eq!(text(three(number)).to_le_bytes()[..3], *std::format!("{number:03}").as_bytes());
        }
        for n in 0..100 {
            assert_eq!(text(four_pairs([n, 99 - n, 0, n])).to_le_bytes()[..2], two(n));
            assert_eq!(text(four_pairs([0, n, 7, 99 - n])).to_le_bytes()[6..], two(99 - n));
        }
    }

    #[test]
    fn a_number_of_any_length_is_written_as_the_standard_library_does() {
        let mut random = fastrand::Rng::with_seed(6);
        for _ in 0..if cfg!(miri) { 200 } else { 20_000 } {
            let number = random.u64(..) >> random.u32(..64);
            let expected = std::format!("{number}");
            for room in [20, expected.len()] {
                let mut out = [0; 20];
                let length = write_unsigned(number, &mut out[..room]);
                assert_eq!(&out[..length], expected.as_bytes());
            }
        }
    }

    #[test]
    fn a_place_is_found_among_any_other_bytes() {
        for byte in 0..=255_u8 {
            for place in 0..8 {
                let mut bytes = [b'.'; 8];
                bytes[place] = byte;
                let expected = if byte == b'.' { HIGH } else { HIGH & !(0x80 << (8 * place)) };
                assert_eq!(places_of(load(&bytes), b'.' ^ b'0'), expected);
            }
        }
    }
}
