//! Reads past a message that is larger than the session accepts, without keeping it: its header is
//! kept, its length and CheckSum are counted, so that it can be rejected under its own number.
//!
//! The framer finds the bytes of such a message as one garbled piece after the other, up to where
//! the next message begins. They were one message if that is where BodyLength (9) says.

use core::time::Duration;

use fixbolt_codec::SeqNum;

use crate::settings::SessionSettings;
use crate::values::fix::SOH;
use crate::values::time::Mono;
use crate::wire::raw_header::{RawHeader, body_length};

/// The largest message that is read past, in bytes. A larger one ends the connection.
pub(crate) const LARGEST: usize = 16 << 20;
/// How long it may take to arrive.
pub(crate) const WITHIN: Duration = Duration::from_secs(60);
/// The bytes that are kept from its beginning: every header fits.
const HEAD: usize = 2048;
/// Length of `10=ddd` and its SOH.
const TRAILER: usize = 7;

/// A message that is being read past.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Oversized {
    /// When its first bytes arrived.
    pub(crate) since: Mono,
    head: Vec<u8>,
    passed: usize,
    sum: u8,
    /// Its last bytes so far.
    tail: [u8; TRAILER],
}

/// What is known about the bytes so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// More bytes belong to the message.
    Partial,
    /// The message is complete, and its CheckSum is right.
    Whole,
    /// The message is larger than [`LARGEST`].
    TooLarge,
    /// The bytes are no message.
    Garbled,
}

/// The header fields that say what to do about the message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OversizedHeader<'h> {
    pub(crate) msg_type: &'h [u8],
    pub(crate) seq: SeqNum,
    pub(crate) poss_dup: bool,
}

impl Oversized {
    pub(crate) fn new(since: Mono) -> Self {
        Self { since, head: Vec::new(), passed: 0, sum: 0, tail: [0; TRAILER] }
    }

    /// Counts the next bytes.
    pub(crate) fn pass(&mut self, bytes: &[u8]) {
        let kept = bytes.len().min(HEAD - self.head.len());
        self.head.extend_from_slice(&bytes[..kept]);
        self.passed += bytes.len();
        self.sum = bytes.iter().fold(self.sum, |sum, byte| sum.wrapping_add(*byte));
        let last = bytes.len().min(TRAILER);
        self.tail.rotate_left(last);
        self.tail[TRAILER - last..].copy_from_slice(&bytes[bytes.len() - last..]);
    }

    /// Judges the bytes so far. `begins` says whether another message begins after them.
    pub(crate) fn verdict(&self, begins: bool) -> Verdict {
        let Some(size) = self.size() else {
            // BodyLength may be split between two pieces.
            let is_split = self.passed < HEAD && !begins;
            return if is_split { Verdict::Partial } else { Verdict::Garbled };
        };
        match self.passed.cmp(&size) {
            // What a header announces may be wrong; what has come is not.
            _ if self.passed > LARGEST => Verdict::TooLarge,
            core::cmp::Ordering::Less if !begins => Verdict::Partial,
            core::cmp::Ordering::Equal if self.has_right_check_sum() => Verdict::Whole,
            _ => Verdict::Garbled,
        }
    }

    /// Returns whether these bytes are the last ones of the message.
    pub(crate) fn ends_with(&self, bytes: &[u8]) -> bool {
        self.size().is_some_and(|size| self.passed + bytes.len() == size)
    }

    /// Returns the size of the whole message as BodyLength announces it.
    fn size(&self) -> Option<usize> {
        let (length, body) = body_length(&self.head)?;
        length.checked_add(body + TRAILER)
    }

    fn has_right_check_sum(&self) -> bool {
        let sum = self.tail.iter().fold(self.sum, |sum, byte| sum.wrapping_sub(*byte));
        matches!(self.tail, [b'1', b'0', b'=', digits @ .., SOH]
            if core::str::from_utf8(&digits).is_ok_and(|digits| digits.parse() == Ok(u32::from(sum))))
    }

    /// Returns the bytes that were kept.
    pub(crate) fn head(&self) -> &[u8] {
        &self.head
    }

    /// Returns the number of bytes so far.
    pub(crate) const fn len(&self) -> usize {
        self.passed
    }

    /// Returns the header if it is that of a message to the session with these settings.
    pub(crate) fn header(&self, settings: &SessionSettings) -> Option<OversizedHeader<'_>> {
        // What was kept may end inside a field.
        let end = self.head.iter().rposition(|byte| *byte == SOH)?;
        let fields = RawHeader::read(&self.head[..end]);
        let (msg_type, seq, poss_dup) = (fields.msg_type?, fields.seq()?, fields.is_poss_dup());
        fields.is_of(settings).then_some(OversizedHeader { msg_type, seq, poss_dup })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Role;

    fn message(text: usize) -> Vec<u8> {
        let fields = format!("35=B|49=A|56=B|34=7|43=Y|58={}|", "x".repeat(text)).replace('|', "\x01");
        let mut bytes = format!("8=FIX.4.4\x019={}\x01{fields}", fields.len()).into_bytes();
        let sum = bytes.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
        bytes.extend_from_slice(format!("10={sum:03}\x01").as_bytes());
        bytes
    }

    fn settings(id: &str) -> SessionSettings {
        SessionSettings::new(id.parse().unwrap(), Role::Acceptor)
    }

    fn passed(bytes: &[u8], piece: usize) -> Oversized {
        let mut oversized = Oversized::new(Mono(0));
        bytes.chunks(piece).for_each(|piece| oversized.pass(piece));
        oversized
    }

    #[test]
    fn a_message_in_pieces_of_any_size_is_recognized_by_its_length_and_sum() {
        let bytes = message(5000);
        for piece in [1, 2, 3, 7, 100, 4096, 10_000] {
            let whole = passed(&bytes, piece);
            assert_eq!((whole.verdict(false), whole.verdict(true)), (Verdict::Whole, Verdict::Whole));
            assert_eq!(whole.len(), bytes.len());
            let header = whole.header(&settings("FIX.4.4:B->A")).unwrap();
            assert_eq!((header.msg_type, header.seq, header.poss_dup), (&b"B"[..], SeqNum(7), true));
            for other in ["FIX.4.4:C->A", "FIX.4.4:B->C", "FIX.4.2:B->A"] {
                assert!(whole.header(&settings(other)).is_none(), "{other}");
            }
            let part = passed(&bytes[..bytes.len() - 1], piece);
            assert_eq!((part.verdict(false), part.verdict(true)), (Verdict::Partial, Verdict::Garbled));
            assert!(part.ends_with(b"\x01") && !part.ends_with(b""));
            let more = passed(&[&bytes[..], b"x"].concat(), piece);
            assert_eq!(more.verdict(false), Verdict::Garbled);
        }
        for at in [20, 3000, bytes.len() - 8, bytes.len() - 2] {
            let mut wrong = bytes.clone();
            wrong[at] ^= 1;
            assert_eq!(passed(&wrong, 100).verdict(true), Verdict::Garbled, "{at}");
        }
    }

    #[test]
    fn what_is_kept_is_bounded_and_so_is_what_is_read_past() {
        let large = passed(&message(1_000_000), 1000);
        assert!(large.head().len() <= HEAD && large.verdict(false) == Verdict::Whole);
        let mut endless = passed(format!("8=FIX.4.4\x019={}\x0135=B\x01", LARGEST * 10).as_bytes(), 5);
        assert_eq!((endless.verdict(false), endless.verdict(true)), (Verdict::Partial, Verdict::Garbled));
        let piece = [b'x'; 1 << 16];
        while endless.len() <= LARGEST {
            assert_eq!(endless.verdict(false), Verdict::Partial);
            endless.pass(&piece);
        }
        assert_eq!(endless.verdict(false), Verdict::TooLarge);
        assert_eq!(passed(b"8=FIX.4.4\x019=99999", 5).verdict(false), Verdict::Partial);
        assert_eq!(passed(b"8=FIX.4.4\x0135=B\x019=70000\x01", 5).verdict(true), Verdict::Garbled);
    }
}
