//! DER, as far as certificates need it (X.690).

/// Splits off the first element: its tag, its contents and the bytes after it.
pub(super) fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, bytes) = bytes.split_first()?;
    let (first, bytes) = bytes.split_first()?;
    let (length, bytes) = match first {
        0..=0x7f => (usize::from(*first), bytes),
        0x81..=0x83 => {
            let (digits, bytes) = bytes.split_at_checked(usize::from(first - 0x80))?;
            (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), bytes)
        }
        _ => return None,
    };
    let (contents, rest) = bytes.split_at_checked(length)?;
    Some((*tag, contents, rest))
}
