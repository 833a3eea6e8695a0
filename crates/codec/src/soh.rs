//! SOH, the byte that ends each field, and where it is. Eight bytes are compared at a time: whoever
//! sends noise may send much of it.

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
