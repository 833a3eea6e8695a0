//! Where a message ends, and what may follow it on its line.

/// Where a message ends.
pub(super) enum Extent {
    Length(usize),
    More,
}

/// Returns whether the rest of a line has no content: it is blank, or the closing characters that a
/// log writes after a message.
pub(super) fn is_tail(line: &[u8], after_message: bool) -> bool {
    let closing: &[u8] = if after_message { b")\"'},;]>|^\x01" } else { b"" };
    line.iter().all(|byte| byte.is_ascii_whitespace() || closing.contains(byte))
}
