//! Copying a value and searching it for SOH in one pass.

/// Copies a value and returns whether it is free of SOH. It works in words of known sizes, as a
/// call to `memcpy` for a few bytes costs more than the bytes. The last word overlaps the one
/// before it.
#[inline]
pub(crate) fn copy_value(to: &mut [u8], from: &[u8]) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // A byte of `word ^ ONES` is zero exactly where the value has SOH.
    let has_soh = |word: u64| {
        let zero = word ^ ONES;
        zero.wrapping_sub(ONES) & !zero & HIGH != 0
    };
    let mut soh = false;
    if let (Some(last_to), Some(last_from)) = (to.last_chunk_mut::<8>(), from.last_chunk::<8>()) {
        *last_to = *last_from;
        soh |= has_soh(u64::from_le_bytes(*last_from));
        for (to, from) in to.chunks_exact_mut(8).zip(from.chunks_exact(8)) {
            to.copy_from_slice(from);
            soh |= has_soh(u64::from_le_bytes(from.try_into().unwrap_or([0; 8])));
        }
    } else if let (Some(first), Some(last)) = (from.first_chunk::<4>(), from.last_chunk::<4>()) {
        if let Some(first_to) = to.first_chunk_mut::<4>() {
            *first_to = *first;
        }
        if let Some(last_to) = to.last_chunk_mut::<4>() {
            *last_to = *last;
        }
        let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
        soh |= has_soh(u64::from(first) | u64::from(last) << 32);
    } else {
        for (to, from) in to.iter_mut().zip(from) {
            *to = *from;
            soh |= *from == 1;
        }
    }
    !soh
}
