//! Files that are text in another encoding than UTF-8.

/// What is said of a file in UTF-16.
pub(crate) const UTF16: &str = "it is in UTF-16; save the file as UTF-8";

/// U+FEFF in UTF-8, which editors of Windows write before a text.
#[cfg(feature = "tls")]
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Returns whether a file begins as text in UTF-16 does, with its mark or with two letters.
pub(crate) const fn is_utf16(bytes: &[u8]) -> bool {
    matches!(
        bytes,
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [1..=255, 0, 1..=255, 0, ..] | [0, 1..=255, 0, 1..=255, ..]
    )
}
