//! Finds where one message ends and the next begins in a stream of untrusted bytes.
//!
//! The framer looks only at `8=`, `9=` and the announced end. It never reads a body and never
//! trusts a wrong length to skip data. One broken message costs one message: the framer resumes at
//! the next `SOH 8=FIX` after the broken message's first byte, and after a message that lacks only
//! its last SOH where it ends. On request it resumes at any `8=FIX`, for bytes that have others
//! between their messages.

use crate::frame::{Frame, FrameError, Framed, LARGEST_MESSAGE, START, TRAILER_LEN};
use crate::head::{Head, head, usual_message};
use crate::soh::first_soh;

/// How a message that follows broken bytes begins.
const RESTART: &[u8] = b"\x018=FIX";

/// Splits a stream into messages. It holds no bytes: the caller keeps the buffer and passes it from
/// its first unconsumed byte on.
///
/// ```
/// use fixbolt_codec::{Frame, Framer};
/// let mut framer = Framer::new(64 * 1024);
/// let bytes = b"8=FIX.4.2\x019=5\x0135=0\x0110=161\x018=FIX";
/// let Frame::Message(message) = framer.next(bytes) else { panic!() };
/// assert_eq!(message.bytes().len(), 26);
/// assert_eq!(framer.next(&bytes[26..]), Frame::Incomplete { at_least: 1 });
/// ```
#[derive(Clone, Debug)]
pub struct Framer {
    max_message_size: usize,
    resynchronising: bool,
    recovery: Recovery,
    /// Whether a message may begin after any byte.
    prefixes: bool,
}

/// Where to continue after a message with a wrong BodyLength (9).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Recovery {
    /// At the next `SOH 8=FIX` after the first byte of the message: one broken message costs one
    /// message.
    #[default]
    NextMessage,
    /// After the first CheckSum (10) at or after the announced end, as QuickFIX does: messages that
    /// the announced length covers are lost with the broken one.
    NextCheckSum,
}

impl Framer {
    /// Creates a framer for messages of up to `max_message_size` bytes, including `8=` and
    /// CheckSum. A limit above 1 GiB counts as 1 GiB.
    #[must_use]
    pub const fn new(max_message_size: usize) -> Self {
        let mut framer = Self {
            max_message_size: 0,
            resynchronising: false,
            recovery: Recovery::NextMessage,
            prefixes: false,
        };
        framer.set_max_message_size(max_message_size);
        framer
    }

    /// Sets how to continue after a wrong BodyLength.
    #[must_use]
    pub const fn with_recovery(mut self, recovery: Recovery) -> Self {
        self.recovery = recovery;
        self
    }

    /// Skips bytes to the next `8=FIX`, whether or not SOH is before it: for logs that write a time
    /// before each message and a line break after it. What is skipped is returned as
    /// [`Frame::Garbled`], with [`FrameError::NoBeginString`].
    ///
    /// Not for a counterparty's bytes: what is in a value of a broken message may be taken for the
    /// next message.
    ///
    /// ```
    /// use fixbolt_codec::{Frame, FrameError, Framer};
    /// let mut log = &b"09:00:00 IN: 8=FIX.4.2\x019=5\x0135=0\x0110=161\x01\n09:00:30 "[..];
    /// let mut framer = Framer::new(64 * 1024).with_prefixes();
    /// let (mut messages, mut prefixes) = (0, 0);
    /// loop {
    ///     log = match framer.next(log) {
    ///         Frame::Message(message) => {
    ///             messages += 1;
    ///             &log[message.bytes().len()..]
    ///         }
    ///         Frame::Garbled { bytes, error } => {
    ///             prefixes += usize::from(error == Some(FrameError::NoBeginString));
    ///             &log[bytes.len()..]
    ///         }
    ///         Frame::Incomplete { .. } => break,
    ///     }
    /// }
    /// assert_eq!((messages, prefixes), (1, 2));
    /// ```
    #[must_use]
    pub const fn with_prefixes(mut self) -> Self {
        self.prefixes = true;
        self
    }

    /// Changes the limit; a logon raises it. A limit above 1 GiB counts as 1 GiB.
    pub const fn set_max_message_size(&mut self, bytes: usize) {
        self.max_message_size = if bytes < LARGEST_MESSAGE { bytes } else { LARGEST_MESSAGE };
    }

    /// Returns the limit.
    #[must_use]
    pub const fn max_message_size(&self) -> usize {
        self.max_message_size
    }

    /// Returns what is at the beginning of `buffer`.
    #[inline]
    pub fn next<'b>(&mut self, buffer: &'b [u8]) -> Frame<'b> {
        if !self.resynchronising
            && let Some(framed) = usual_message(buffer, self.max_message_size)
        {
            return Frame::Message(framed);
        }
        self.next_with_care(buffer)
    }

    fn next_with_care<'b>(&mut self, buffer: &'b [u8]) -> Frame<'b> {
        if self.is_between_messages(buffer) {
            return self.skip(buffer, 0, None);
        }
        match head(buffer, self.max_message_size) {
            Head::Partial => Frame::Incomplete { at_least: 1 },
            Head::Broken(error) => {
                // If a buffer does not begin with a message, one may begin at its second byte.
                let from = usize::from(!matches!(error, FrameError::NoBeginString));
                self.skip(buffer, from, Some(error))
            }
            Head::Whole { body_start, end } => {
                if buffer.len() < end {
                    return Frame::Incomplete { at_least: end - buffer.len() };
                }
                let at = end - TRAILER_LEN;
                // BodyLength counts up to and including the SOH before CheckSum.
                match &buffer[at - 1..end] {
                    // R-FRAME-4
                    [1, b'1', b'0', b'=', b'0'..=b'9', b'0'..=b'9', b'0'..=b'9', 1] => {
                        Frame::Message(Framed { bytes: &buffer[..end], body_start })
                    }
                    // Only the last SOH is wrong, so the message ends here. If it is missing, or
                    // the last digit as well, their places are taken by the next message.
                    [1, b'1', b'0', b'=', b'0'..=b'9', b'0'..=b'9', last @ b'0'..=b'9', after] => {
                        let end = match [*last, *after] {
                            [_, b'8'] => end - 1,
                            [b'8', b'='] => end - 2,
                            _ => end,
                        };
                        Frame::Garbled {
                            bytes: &buffer[..end],
                            error: Some(FrameError::CheckSumField { at }),
                        }
                    }
                    [1, b'1', b'0', b'=', ..] => self.skip(buffer, 1, Some(FrameError::CheckSumField { at })),
                    _ => {
                        // R-FRAME-2
                        let error = FrameError::BodyLength { announced_end: at };
                        match self.recovery {
                            Recovery::NextMessage => self.skip(buffer, 1, Some(error)),
                            Recovery::NextCheckSum => self.skip_to_checksum(buffer, at - 1, error),
                        }
                    }
                }
            }
        }
    }

    /// Declares the message at the beginning of `buffer` broken although its announced end has not
    /// arrived, because the counterparty stopped sending. Returns `Incomplete` if there is no such
    /// message: the buffer is empty, or holds the rest of a message that was broken before.
    pub fn give_up<'b>(&mut self, buffer: &'b [u8]) -> Frame<'b> {
        if buffer.is_empty() || self.is_between_messages(buffer) {
            return self.next(buffer);
        }
        let at = match head(buffer, self.max_message_size) {
            Head::Whole { end, .. } => end - TRAILER_LEN,
            _ => buffer.len(),
        };
        match buffer.get(at - 1..) {
            // Only the last SOH is missing.
            Some([1, b'1', b'0', b'=', b'0'..=b'9', b'0'..=b'9', b'0'..=b'9']) => {
                Frame::Garbled { bytes: buffer, error: Some(FrameError::CheckSumField { at }) }
            }
            Some([1, b'1', b'0', b'=', ..]) => self.skip(buffer, 1, Some(FrameError::CheckSumField { at })),
            _ => self.skip(buffer, 1, Some(FrameError::BodyLength { announced_end: at })),
        }
    }

    /// Discards bytes up to the end of the first CheckSum at or after `from`. If there is none
    /// within the largest message, the bytes are discarded as those of any broken message.
    fn skip_to_checksum<'b>(&mut self, buffer: &'b [u8], from: usize, error: FrameError) -> Frame<'b> {
        let rest = &buffer[from..];
        let end = find(rest, b"\x0110=").and_then(|at| {
            let digits = from + at + 4;
            Some(digits + buffer[digits..].iter().position(|b| *b == 1)? + 1)
        });
        match end {
            Some(end) => Frame::Garbled { bytes: &buffer[..end], error: Some(error) },
            None if buffer.len() < self.max_message_size => Frame::Incomplete { at_least: 1 },
            None => self.skip(buffer, 1, Some(error)),
        }
    }

    /// Returns whether bytes are discarded until a message begins, and none begins here.
    fn is_between_messages(&mut self, buffer: &[u8]) -> bool {
        // With SOH before it, it begins only after that.
        self.resynchronising &= !(self.prefixes && buffer.starts_with(START));
        self.resynchronising
    }

    /// Discards bytes up to the next `SOH 8=FIX` at or after `from`; with prefixes, up to the next
    /// `8=FIX`.
    fn skip<'b>(&mut self, buffer: &'b [u8], from: usize, error: Option<FrameError>) -> Frame<'b> {
        let from = from.min(buffer.len());
        let rest = &buffer[from..];
        let (restart, found) = match self.prefixes {
            true => (START, rest.windows(START.len()).position(|bytes| bytes == START)),
            false => (RESTART, find(rest, RESTART)),
        };
        self.resynchronising = found.is_none();
        let drop = match found {
            Some(at) => from + at + restart.len() - START.len(),
            None => {
                // Bytes that may begin `restart` are kept for the next call.
                let kept = (1..restart.len().min(rest.len() + 1))
                    .rev()
                    .find(|&n| rest.ends_with(&restart[..n]))
                    .unwrap_or(0);
                buffer.len() - kept
            }
        };
        if drop == 0 && error.is_none() {
            return Frame::Incomplete { at_least: restart.len().saturating_sub(buffer.len()).max(1) };
        }
        Frame::Garbled { bytes: &buffer[..drop], error }
    }
}

impl<'b> Framed<'b> {
    /// Returns the message that `bytes` are, whole and without anything else: a stored message, or
    /// one from a file.
    ///
    /// # Errors
    /// Returns what is wrong with bytes that a [`Framer`] would not return as one message, of up to
    /// 1 GiB.
    ///
    /// ```
    /// use fixbolt_codec::{FrameError, Framed};
    /// let bytes = b"8=FIX.4.2\x019=5\x0135=0\x0110=161\x018=";
    /// assert_eq!(Framed::try_new(&bytes[..26]).unwrap().bytes(), &bytes[..26]);
    /// assert_eq!(Framed::try_new(bytes), Err(FrameError::BytesAfter { end: 26 }));
    /// assert_eq!(Framed::try_new(&bytes[..25]), Err(FrameError::CheckSumField { at: 19 }));
    /// ```
    pub fn try_new(bytes: &'b [u8]) -> Result<Self, FrameError> {
        let mut framer = Framer::new(LARGEST_MESSAGE);
        let frame = match framer.next(bytes) {
            Frame::Incomplete { .. } => framer.give_up(bytes),
            frame => frame,
        };
        match frame {
            Frame::Message(framed) if framed.bytes.len() == bytes.len() => Ok(framed),
            Frame::Message(framed) => Err(FrameError::BytesAfter { end: framed.bytes.len() }),
            Frame::Garbled { error: Some(error), .. } => Err(error),
            // There are no bytes.
            Frame::Garbled { error: None, .. } | Frame::Incomplete { .. } => Err(FrameError::NoBeginString),
        }
    }
}

/// Returns where `needle`, which begins with SOH, is found first.
fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + first_soh(&haystack[from..])?;
        if haystack[at..].starts_with(needle) {
            return Some(at);
        }
        from = at + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_needle_is_found_wherever_it_is() {
        for before in 0..40 {
            for filler in [0, 1, 2, b'8', 0x81, 0xff] {
                let mut bytes = [filler; 64];
                assert_eq!(find(&bytes, RESTART), None);
                bytes[before..before + RESTART.len()].copy_from_slice(RESTART);
                assert_eq!(find(&bytes, RESTART), Some(before), "{filler}");
                assert_eq!(find(&bytes[..before + RESTART.len()], RESTART), Some(before), "{filler}");
                assert_eq!(find(&bytes[..before + RESTART.len() - 1], RESTART), None, "{filler}");
            }
        }
    }

    /// Typical and nearly typical beginnings of messages, each with every byte changed in turn.
    #[test]
    fn the_usual_way_and_the_careful_way_see_the_same() {
        extern crate std;
        let beginnings = [
            &b"8=FIX.4.2\x019=5\x0135=0\x0110=161\x01"[..],
            b"8=FIXT.1.1\x019=11\x0135=0\x0158=x\x0110=161\x01",
            b"8=FIX.4.2\x019=0000005\x0135=0\x0110=161\x01",
            b"8=FIX.4.2\x019=00000005\x0135=0\x0110=161\x01",
            b"8=FIX.4.2\x019=0\x0135=0\x0110=161\x01",
            b"8=FIX.44.2\x019=5\x0135=0\x0110=161\x01",
            b"8=FIX.4.2\x019=2000\x0135=0\x0110=161\x01",
        ];
        for beginning in beginnings {
            for at in 0..beginning.len() {
                for byte in *b"0:/9=.\x01\x00\x0b\x31FT\xb0\xff" {
                    let mut bytes = beginning.to_vec();
                    bytes[at] = byte;
                    for end in [bytes.len() - 1, bytes.len()] {
                        let (mut one, mut other) = (Framer::new(1000), Framer::new(1000));
                        let (bytes, shown) = (&bytes[..end], bytes.escape_ascii());
                        assert_eq!(one.next(bytes), other.next_with_care(bytes), "{shown}");
                        assert_eq!(one.resynchronising, other.resynchronising, "{shown}");
                    }
                }
            }
        }
    }
}
