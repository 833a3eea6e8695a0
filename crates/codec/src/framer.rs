//! Where one message ends and the next begins in a stream of hostile bytes.
//!
//! The framer looks only at `8=`, `9=` and the announced end; it never reads a body and never trusts a broken length to skip
//! data. One broken message costs one message: after it the framer resumes at the next `SOH 8=FIX` behind its first byte.

use core::fmt;

/// Bytes of `10=ddd` and its SOH.
pub(crate) const TRAILER_LEN: usize = 7;
/// How a message starts.
const START: &[u8] = b"8=FIX";
/// How a message that follows broken bytes starts.
const RESTART: &[u8] = b"\x018=FIX";
/// `8=FIXT.1.1` has ten bytes; nothing that deserves the name BeginString has more than this.
const BEGIN_STRING_MAX: usize = 16;

/// A complete message: begins `8=FIX…`, `9=`, and ends with `10=ddd` and SOH exactly where BodyLength (9) says.
///
/// Made only by [`Framer`], so that what reads it need not look again. Its CheckSum is not verified yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Framed<'b> {
    bytes: &'b [u8],
    body_start: usize,
}

impl<'b> Framed<'b> {
    /// The message from `8=` to the last SOH.
    #[must_use]
    pub const fn bytes(self) -> &'b [u8] {
        self.bytes
    }

    /// Offset of the first byte that BodyLength counts.
    #[must_use]
    pub const fn body_start(self) -> usize {
        self.body_start
    }

    /// The same message in a copy of its bytes, so that a message that was kept need not be framed again.
    ///
    /// `None` if the copy does not begin with `8=FIX`, has no field end right in front of `body_start`, or does not end with
    /// CheckSum. BodyLength is not compared again.
    #[must_use]
    pub fn from_copy(bytes: &'b [u8], body_start: usize) -> Option<Self> {
        let body_end = bytes.len().checked_sub(TRAILER_LEN)?;
        let (head, body) = bytes.get(..body_end)?.split_at_checked(body_start)?;
        let whole = head.starts_with(START)
            && head.ends_with(b"\x01")
            && !body.is_empty()
            && matches!(
                bytes.last_chunk(),
                Some([1, b'1', b'0', b'=', b'0'..=b'9', b'0'..=b'9', b'0'..=b'9', 1])
            );
        whole.then_some(Self { bytes, body_start })
    }

    /// Offset of `10=`.
    #[must_use]
    pub(crate) const fn body_end(self) -> usize {
        self.bytes.len() - TRAILER_LEN
    }
}

/// What stands at the beginning of the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Frame<'b> {
    /// A complete message; the caller consumes as many bytes as it has.
    Message(Framed<'b>),
    /// Bytes that are no message; the caller consumes as many bytes as are given here.
    Garbled {
        /// The bytes to drop.
        bytes: &'b [u8],
        /// What is wrong with them; `None` when they continue the garbled bytes of an earlier call.
        error: Option<FrameError>,
    },
    /// Nothing to do before more bytes have come.
    Incomplete {
        /// How many more bytes at least, never 0.
        at_least: usize,
    },
}

/// Why bytes are no message. The standard's reaction is the same for all: ignore them, warn, go on (test case 2d).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum FrameError {
    /// The bytes do not begin with `8=FIX`.
    NoBeginString,
    /// BeginString (8) is not of the form `FIX.n.m` or `FIXT.n.m`.
    BeginString,
    /// BodyLength (9) is not the second field, not a number, or 0.
    BodyLengthField {
        /// Offset of the field.
        at: usize,
    },
    /// The message would be larger than the limit.
    TooLarge {
        /// The limit, in bytes of the whole message.
        limit: usize,
    },
    /// At the place that BodyLength (9) announces stands no CheckSum (10), or nothing more came.
    BodyLength {
        /// Where `10=` should stand.
        announced_end: usize,
    },
    /// CheckSum (10) stands where BodyLength (9) announces it, but is not three digits and SOH.
    CheckSumField {
        /// Offset of the field.
        at: usize,
    },
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoBeginString => f.write_str("does not begin with 8=FIX"),
            Self::BeginString => f.write_str("BeginString (8) is not of the form FIX.n.m or FIXT.n.m"),
            Self::BodyLengthField { at } => {
                write!(f, "BodyLength (9) is missing, not a number, or 0 at byte {at}")
            }
            Self::TooLarge { limit } => write!(f, "larger than the limit of {limit} bytes"),
            Self::BodyLength { announced_end } => {
                write!(f, "BodyLength (9) is wrong: no CheckSum (10) at byte {announced_end}")
            }
            Self::CheckSumField { at } => write!(f, "CheckSum (10) at byte {at} is not three digits"),
        }
    }
}

impl core::error::Error for FrameError {}

/// Cuts a stream into messages. Holds no bytes: the caller keeps the buffer and shows it from its first unconsumed byte.
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
}

/// Where reading goes on after a message whose BodyLength (9) is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Recovery {
    /// At the next `SOH 8=FIX` after its first byte: one broken message costs one message.
    #[default]
    NextMessage,
    /// After the first CheckSum (10) at or beyond the announced end, as QuickFIX does: messages on which the announced length
    /// reaches are lost with the broken one.
    NextCheckSum,
}

impl Framer {
    /// A framer that takes messages of up to `max_message_size` bytes, `8=` and CheckSum included.
    #[must_use]
    pub const fn new(max_message_size: usize) -> Self {
        Self { max_message_size, resynchronising: false, recovery: Recovery::NextMessage }
    }

    /// The same framer with another way to go on after a wrong BodyLength.
    #[must_use]
    pub const fn with_recovery(mut self, recovery: Recovery) -> Self {
        self.recovery = recovery;
        self
    }

    /// Changes the limit; the logon raises it.
    pub const fn set_max_message_size(&mut self, bytes: usize) {
        self.max_message_size = bytes;
    }

    /// The limit.
    #[must_use]
    pub const fn max_message_size(&self) -> usize {
        self.max_message_size
    }

    /// What stands at the beginning of `buffer`.
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
        if self.resynchronising {
            return self.skip(buffer, 0, None);
        }
        match head(buffer, self.max_message_size) {
            Head::Partial => Frame::Incomplete { at_least: 1 },
            Head::Broken(error) => {
                // A buffer that does not start a message may start one at its very next byte.
                let from = usize::from(!matches!(error, FrameError::NoBeginString));
                self.skip(buffer, from, Some(error))
            }
            Head::Whole { body_start, end } => {
                if buffer.len() < end {
                    return Frame::Incomplete { at_least: end - buffer.len() };
                }
                let at = end - TRAILER_LEN;
                // BodyLength counts up to and including the SOH in front of CheckSum.
                match &buffer[at - 1..end] {
                    [1, b'1', b'0', b'=', b'0'..=b'9', b'0'..=b'9', b'0'..=b'9', 1] => {
                        Frame::Message(Framed { bytes: &buffer[..end], body_start })
                    }
                    [1, b'1', b'0', b'=', ..] => self.skip(buffer, 1, Some(FrameError::CheckSumField { at })),
                    _ => {
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

    /// Declares the message at the beginning of `buffer` broken although its announced end has not arrived: the peer fell
    /// silent inside it. Gives `Incomplete` when there is no such message: the buffer is empty, or holds what is left of one
    /// that was broken before.
    pub fn give_up<'b>(&mut self, buffer: &'b [u8]) -> Frame<'b> {
        if self.resynchronising || buffer.is_empty() {
            return self.next(buffer);
        }
        let at = match head(buffer, self.max_message_size) {
            Head::Whole { end, .. } => end - TRAILER_LEN,
            _ => buffer.len(),
        };
        let error = if buffer.get(at - 1..).is_some_and(|rest| rest.starts_with(b"\x0110=")) {
            FrameError::CheckSumField { at }
        } else {
            FrameError::BodyLength { announced_end: at }
        };
        self.skip(buffer, 1, Some(error))
    }

    /// Drops bytes up to the end of the first CheckSum at or after `from`; what grows past the largest message without one
    /// is dropped as any broken message is.
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

    /// Drops bytes up to the next `SOH 8=FIX` at or behind `from`.
    fn skip<'b>(&mut self, buffer: &'b [u8], from: usize, error: Option<FrameError>) -> Frame<'b> {
        let from = from.min(buffer.len());
        let rest = &buffer[from..];
        let drop = match find(rest, RESTART) {
            Some(at) => {
                self.resynchronising = false;
                from + at + 1
            }
            None => {
                // What may be the beginning of `SOH 8=FIX` stays for the next call.
                self.resynchronising = true;
                let kept = (1..RESTART.len().min(rest.len() + 1))
                    .rev()
                    .find(|&n| rest.ends_with(&RESTART[..n]))
                    .unwrap_or(0);
                buffer.len() - kept
            }
        };
        if drop == 0 && error.is_none() {
            let kept = buffer.len();
            return Frame::Incomplete { at_least: RESTART.len().saturating_sub(kept).max(1) };
        }
        Frame::Garbled { bytes: &buffer[..drop], error }
    }
}

enum Head {
    /// Not enough bytes to say; none of them is wrong.
    Partial,
    Broken(FrameError),
    Whole {
        body_start: usize,
        end: usize,
    },
}

/// The message at the beginning of `buffer` when it is whole and looks like nearly every message: `8=FIX.n.m` or `8=FIXT.n.m` with
/// one digit each, and BodyLength of up to seven digits. Anything else is read with care.
#[inline]
fn usual_message(buffer: &[u8], max_message_size: usize) -> Option<Framed<'_>> {
    let eight = |at: usize| Some(u64::from_le_bytes(*buffer.get(at..)?.first_chunk()?));
    let (start, rest) = (eight(0)?, eight(8)?);
    let text = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
    let digits_at = if start & 0xFF00_FFFF_FFFF_FFFF == text(b"8=FIX.\0.")
        && rest & 0xFFFF_FF00 == text(b"\0\x019=\0\0\0\0")
        && is_digit(start >> 48)
        && is_digit(rest)
    {
        12
    } else if start & 0x00FF_FFFF_FFFF_FFFF == text(b"8=FIXT.\0")
        && rest & 0xFF_FFFF_00FF == text(b".\0\x019=\0\0\0")
        && is_digit(start >> 56)
        && is_digit(rest >> 8)
    {
        13
    } else {
        return None;
    };
    // Digits become their values, and what is none gets a high bit; the lowest such byte must be the SOH.
    let values = eight(digits_at)? ^ 0x3030_3030_3030_3030;
    let not_digits = (values | values.wrapping_add(0x0606_0606_0606_0606)) & 0xF0F0_F0F0_F0F0_F0F0;
    let count = not_digits.trailing_zeros() / 8;
    if count == 0 || count == 8 || values >> (8 * count) & 0xFF != 0x31 {
        return None;
    }
    // The number, right-aligned in eight digits: pairs, then pairs of pairs, then both halves.
    let length = values << (64 - 8 * count);
    let length = (length.wrapping_mul(10 << 8 | 1) >> 8) & 0x00FF_00FF_00FF_00FF;
    let length = (length.wrapping_mul(100 << 16 | 1) >> 16) & 0x0000_FFFF_0000_FFFF;
    let length = length.wrapping_mul(10_000 << 32 | 1) >> 32;
    let body_start = digits_at + count as usize + 1;
    let end = body_start + usize::try_from(length).ok()? + TRAILER_LEN;
    if length == 0 || end > max_message_size {
        return None;
    }
    let bytes = buffer.get(..end)?;
    let trailer = u64::from_le_bytes(*bytes.last_chunk()?);
    let sum = trailer >> 32;
    let whole = trailer & 0xFF00_0000_FFFF_FFFF == text(b"\x0110=\0\0\0\x01")
        && is_digit(sum)
        && is_digit(sum >> 8)
        && is_digit(sum >> 16);
    whole.then_some(Framed { bytes, body_start })
}

/// Whether the lowest byte is a digit.
#[inline]
const fn is_digit(text: u64) -> bool {
    (text as u8).is_ascii_digit()
}

/// Reads `8=FIX.n.m SOH 9=ddd SOH`.
fn head(buffer: &[u8], max_message_size: usize) -> Head {
    if !buffer.starts_with(START) {
        return if START.starts_with(buffer) {
            Head::Partial
        } else {
            Head::Broken(FrameError::NoBeginString)
        };
    }
    let window = &buffer[2..buffer.len().min(2 + BEGIN_STRING_MAX)];
    let Some(soh) = window.iter().position(|b| *b == 1) else {
        return if window.len() < BEGIN_STRING_MAX {
            Head::Partial
        } else {
            Head::Broken(FrameError::BeginString)
        };
    };
    if !is_begin_string(&window[..soh]) {
        return Head::Broken(FrameError::BeginString);
    }
    let nine = 2 + soh + 1;
    let broken = Head::Broken(FrameError::BodyLengthField { at: nine });
    let field = &buffer[nine..];
    if field.len() < 2 {
        return if b"9=".starts_with(field) { Head::Partial } else { broken };
    }
    if !field.starts_with(b"9=") {
        return broken;
    }
    let mut length: usize = 0;
    for (n, b) in field[2..].iter().enumerate() {
        match b {
            b'0'..=b'9' => {
                // Padding zeros are tolerated, but not without bound.
                if n >= BEGIN_STRING_MAX {
                    return if length == 0 {
                        broken
                    } else {
                        Head::Broken(FrameError::TooLarge { limit: max_message_size })
                    };
                }
                length = length * 10 + usize::from(b - b'0');
                if length > max_message_size {
                    return Head::Broken(FrameError::TooLarge { limit: max_message_size });
                }
            }
            1 if n > 0 && length > 0 => {
                let body_start = nine + 2 + n + 1;
                let end = body_start + length + TRAILER_LEN;
                if end > max_message_size {
                    return Head::Broken(FrameError::TooLarge { limit: max_message_size });
                }
                return Head::Whole { body_start, end };
            }
            _ => return broken,
        }
    }
    Head::Partial
}

/// `FIX.n.m` or `FIXT.n.m`.
fn is_begin_string(value: &[u8]) -> bool {
    let Some(rest) = value.strip_prefix(b"FIX") else { return false };
    let rest = rest.strip_prefix(b"T").unwrap_or(rest);
    let Some(rest) = rest.strip_prefix(b".") else { return false };
    let mut parts = rest.split(|b| *b == b'.');
    let number = |p: Option<&[u8]>| p.is_some_and(|p| !p.is_empty() && p.iter().all(u8::is_ascii_digit));
    number(parts.next()) && number(parts.next()) && parts.next().is_none()
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|w| w == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEARTBEAT: &[u8] = b"8=FIX.4.2\x019=5\x0135=0\x0110=161\x01";

    fn message(frame: Frame<'_>) -> &[u8] {
        match frame {
            Frame::Message(m) => m.bytes(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_copy_of_a_framed_message_need_not_be_framed_again() {
        let Frame::Message(framed) = Framer::new(100).next(HEARTBEAT) else { panic!("no message") };
        let copy = std_vec(HEARTBEAT);
        assert_eq!(Framed::from_copy(&copy, framed.body_start()), Some(framed));
        for (bytes, at) in
            [(&copy[..25], 14), (&copy[1..], 13), (&copy[..], 13), (&copy[..], 19), (&copy[..], 99)]
        {
            assert_eq!(Framed::from_copy(bytes, at), None, "{at}");
        }
    }

    #[test]
    fn a_length_that_is_too_long_swallows_the_next_message_only_when_asked_to() {
        let stream =
            b"8=FIX.4.2\x019=20\x0135=0\x0110=161\x018=FIX.4.2\x019=5\x0135=0\x0110=161\x01".as_slice();
        let dropped = |recovery| match Framer::new(100).with_recovery(recovery).next(stream) {
            Frame::Garbled { bytes, .. } => bytes.len(),
            other => panic!("{other:?}"),
        };
        assert_eq!(dropped(Recovery::NextMessage), 27);
        assert_eq!(dropped(Recovery::NextCheckSum), stream.len());
    }

    #[test]
    fn a_message_is_complete_only_with_its_last_byte() {
        for n in 0..HEARTBEAT.len() {
            let mut framer = Framer::new(1000);
            let Frame::Incomplete { at_least } = framer.next(&HEARTBEAT[..n]) else { panic!("at {n}") };
            assert!(at_least >= 1 && at_least <= HEARTBEAT.len() - n, "at {n}: {at_least}");
        }
        assert_eq!(message(Framer::new(1000).next(HEARTBEAT)), HEARTBEAT);
    }

    #[test]
    fn a_length_too_long_costs_one_message_when_more_follows() {
        let mut stream = std_vec(b"8=FIX.4.2\x019=20\x0135=0\x0110=161\x01");
        let broken = stream.len();
        stream.extend_from_slice(HEARTBEAT);
        let mut framer = Framer::new(1000);
        let Frame::Garbled { bytes, error } = framer.next(&stream) else { panic!() };
        assert_eq!((bytes.len(), error), (broken, Some(FrameError::BodyLength { announced_end: 35 })));
        assert_eq!(message(framer.next(&stream[bytes.len()..])), HEARTBEAT);
    }

    #[test]
    fn a_length_too_short_costs_one_message() {
        let mut stream = std_vec(b"8=FIX.4.2\x019=4\x0135=0\x0110=161\x01");
        let broken = stream.len();
        stream.extend_from_slice(HEARTBEAT);
        let mut framer = Framer::new(1000);
        let Frame::Garbled { bytes, .. } = framer.next(&stream) else { panic!() };
        assert_eq!(bytes.len(), broken);
        assert_eq!(message(framer.next(&stream[broken..])), HEARTBEAT);
    }

    #[test]
    fn a_body_that_does_not_end_with_soh_is_broken() {
        let mut framer = Framer::new(1000);
        let frame = framer.next(b"8=FIX.4.2\x019=8\x0135=0\x0158=10=161\x01");
        assert!(
            matches!(frame, Frame::Garbled { error: Some(FrameError::BodyLength { .. }), .. }),
            "{frame:?}"
        );
    }

    #[test]
    fn an_enormous_length_is_refused_at_once() {
        let mut framer = Framer::new(1000);
        let frame = framer.next(b"8=FIX.4.2\x019=1000000000000");
        assert!(matches!(frame, Frame::Garbled { error: Some(FrameError::TooLarge { limit: 1000 }), .. }));
    }

    #[test]
    fn a_silent_peer_inside_a_message_loses_only_that_message() {
        let mut framer = Framer::new(1000);
        let stream = b"8=FIX.4.2\x019=500\x0135=0\x0110=161\x018=FIX.4.2\x019=5\x0135=0\x0110=161\x01";
        assert!(matches!(framer.next(stream), Frame::Incomplete { .. }));
        let Frame::Garbled { bytes, .. } = framer.give_up(stream) else { panic!() };
        assert_eq!(message(framer.next(&stream[bytes.len()..])), HEARTBEAT);
    }

    #[test]
    fn garbage_without_end_is_dropped_as_it_comes_and_told_once() {
        let mut framer = Framer::new(1000);
        let Frame::Garbled { bytes, error } = framer.next(b"GET / HTTP/1.1\r\n\x018=") else { panic!() };
        assert_eq!((bytes.len(), error), (16, Some(FrameError::NoBeginString)));
        assert!(matches!(framer.next(b"\x018="), Frame::Incomplete { .. }));
        let Frame::Garbled { bytes, error } = framer.next(b"\x018=XXX") else { panic!() };
        assert_eq!((bytes, error), (&b"\x018=XXX"[..], None));
        let Frame::Garbled { bytes, .. } = framer.next(b"x\x018=FIX") else { panic!() };
        assert_eq!(bytes.len(), 2);
        assert_eq!(message(framer.next(HEARTBEAT)), HEARTBEAT);
    }

    #[test]
    fn zeros_in_front_of_body_length_are_accepted() {
        let bytes = b"8=FIX.4.2\x019=00005\x0135=0\x0110=161\x01";
        assert_eq!(message(Framer::new(1000).next(bytes)), bytes);
    }

    /// Beginnings that are nearly or just what most messages have, and each of them with one byte changed.
    #[test]
    fn the_usual_way_and_the_careful_way_see_the_same() {
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
                    let mut bytes = std_vec(beginning);
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

    extern crate std;
    fn std_vec(bytes: &[u8]) -> std::vec::Vec<u8> {
        bytes.to_vec()
    }
}
