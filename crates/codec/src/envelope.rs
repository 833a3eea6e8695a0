//! What a sender adds to a body: BeginString, BodyLength, MsgType, CompIDs, MsgSeqNum, SubIDs and
//! LocationIDs, times and CheckSum.
//!
//! The header is written right-aligned before the body, so that BodyLength has no padding and the
//! body is not moved.

use core::fmt;
use core::ops::Range;

use crate::body::Body;
use crate::frame::TRAILER_LEN;
use crate::index::byte_sum;
use crate::msg_type::MsgType;
use crate::number::SeqNum;
use crate::types::digits::{eight, fill, leading_zeros, text};

/// Maximum length of BeginString (8) in an envelope.
pub const BEGIN_STRING_LEN: usize = 12;
/// Maximum length of a CompID, SubID or LocationID in an envelope.
pub const COMP_ID_LEN: usize = 64;
const COMP_IDS_LEN: usize = 2 * (1 + 3 + COMP_ID_LEN) + 1 + 3;
const SUB_IDS_LEN: usize = 2 * (1 + 3 + COMP_ID_LEN) + 2 * (1 + 4 + COMP_ID_LEN);

/// The constant part of all messages that a session sends.
#[derive(Clone, Debug)]
pub struct Envelope {
    /// `8=FIX.4.4 SOH 9=`
    begin: Text<{ 2 + BEGIN_STRING_LEN + 1 + 2 }>,
    /// `SOH 49=… SOH 56=… SOH 34=`
    comp_ids: Text<COMP_IDS_LEN>,
    /// `SOH 50=… SOH 142=… SOH 57=… SOH 143=…`, without those that there are none of.
    sub_ids: Text<SUB_IDS_LEN>,
}

/// How a header names one side of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PartyIds<'a> {
    /// SenderCompID (49) or TargetCompID (56).
    pub comp_id: &'a [u8],
    /// SenderSubID (50) or TargetSubID (57).
    pub sub_id: Option<&'a [u8]>,
    /// SenderLocationID (142) or TargetLocationID (143).
    pub location_id: Option<&'a [u8]>,
}

impl<'a> PartyIds<'a> {
    /// Names a side by its CompID alone.
    #[must_use]
    pub const fn new(comp_id: &'a [u8]) -> Self {
        Self { comp_id, sub_id: None, location_id: None }
    }

    fn all(&self) -> impl Iterator<Item = &'a [u8]> {
        [Some(self.comp_id), self.sub_id, self.location_id].into_iter().flatten()
    }
}

/// What differs between messages.
#[derive(Clone, Copy, Debug)]
pub struct Stamp<'a> {
    /// MsgSeqNum (34).
    pub seq: SeqNum,
    /// SendingTime (52), as text.
    pub sending_time: &'a [u8],
    /// OrigSendingTime (122) of a resent message: adds `43=Y` and `122`.
    pub original: Option<&'a [u8]>,
    /// LastMsgSeqNumProcessed (369); not written if `None`.
    pub last_processed: Option<SeqNum>,
}

/// There is not enough space for the header before the body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoHeadroom {
    /// Number of bytes that the header needs before the body.
    pub needed: usize,
}

impl fmt::Display for NoHeadroom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the header needs {} bytes before the body", self.needed)
    }
}

impl core::error::Error for NoHeadroom {}

#[derive(Clone, Copy, Debug)]
struct Text<const N: usize> {
    bytes: [u8; N],
    len: usize,
    sum: u8,
}

impl<const N: usize> Text<N> {
    const EMPTY: Self = Self { bytes: [0; N], len: 0, sum: 0 };

    /// Appends the bytes. What does not fit is cut off, so callers check the length first.
    fn push(&mut self, bytes: &[u8]) {
        let n = bytes.len().min(N - self.len);
        self.bytes[self.len..self.len + n].copy_from_slice(&bytes[..n]);
        self.len += n;
        self.sum = self.sum.wrapping_add(byte_sum(&bytes[..n]));
    }

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl Envelope {
    /// Creates the envelope of a session.
    ///
    /// Returns `None` if a part is empty, contains SOH or is too long ([`BEGIN_STRING_LEN`],
    /// [`COMP_ID_LEN`]).
    #[must_use]
    pub fn new(begin_string: &[u8], sender_comp_id: &[u8], target_comp_id: &[u8]) -> Option<Self> {
        Self::between(begin_string, PartyIds::new(sender_comp_id), PartyIds::new(target_comp_id))
    }

    /// Creates the envelope of a session whose messages also have the SubIDs and LocationIDs of the
    /// parties. They follow MsgSeqNum (34), as in the dictionaries of the standard.
    ///
    /// Returns `None` if a part is empty, contains SOH or is too long ([`BEGIN_STRING_LEN`],
    /// [`COMP_ID_LEN`]).
    #[must_use]
    pub fn between(begin_string: &[u8], sender: PartyIds<'_>, target: PartyIds<'_>) -> Option<Self> {
        let fits = |part: &[u8], most| !part.is_empty() && part.len() <= most && !part.contains(&1);
        if !fits(begin_string, BEGIN_STRING_LEN)
            || !sender.all().chain(target.all()).all(|id| fits(id, COMP_ID_LEN))
        {
            return None;
        }
        let mut begin = Text::EMPTY;
        for part in [b"8=", begin_string, b"\x019="] {
            begin.push(part);
        }
        let mut comp_ids = Text::EMPTY;
        for part in [b"\x0149=", sender.comp_id, b"\x0156=", target.comp_id, b"\x0134="] {
            comp_ids.push(part);
        }
        let mut sub_ids = Text::EMPTY;
        for (tag, id) in [
            (&b"\x0150="[..], sender.sub_id),
            (b"\x01142=", sender.location_id),
            (b"\x0157=", target.sub_id),
            (b"\x01143=", target.location_id),
        ] {
            if let Some(id) = id {
                sub_ids.push(tag);
                sub_ids.push(id);
            }
        }
        Some(Self { begin, comp_ids, sub_ids })
    }

    /// Returns whether its messages have SubIDs or LocationIDs.
    #[must_use]
    #[inline]
    pub const fn has_sub_ids(&self) -> bool {
        self.sub_ids.len > 0
    }

    /// Returns the length of the header for a body whose BodyLength has `length_digits` digits.
    #[must_use]
    pub fn header_len(&self, msg_type: MsgType, stamp: &Stamp<'_>, length_digits: usize) -> usize {
        self.begin.len + length_digits + 1 + self.counted_len(msg_type, stamp, digits(stamp.seq.0))
    }

    /// Returns the length of the header fields that BodyLength counts.
    #[inline]
    fn counted_len(&self, msg_type: MsgType, stamp: &Stamp<'_>, seq_digits: usize) -> usize {
        let original = stamp.original.map_or(0, |time| b"43=Y\x01122=\x01".len() + time.len());
        let last_processed = stamp.last_processed.map_or(0, |seq| b"369=\x01".len() + digits(seq.0));
        b"35=".len()
            + msg_type.as_bytes().len()
            + self.comp_ids.len
            + self.sub_ids.len
            + b"\x0152=\x01".len()
            + seq_digits
            + stamp.sending_time.len()
            + original
            + last_processed
    }

    /// Writes the header and CheckSum around the body at `body` in `memory`; `sum` is
    /// [`Body::sum`]. Returns the position of the whole message, which begins before `body` and
    /// ends seven bytes after it.
    ///
    /// # Errors
    /// Returns [`NoHeadroom`] if the header does not fit before the body. Nothing was written.
    ///
    /// # Panics
    /// Panics if `memory` has fewer than seven bytes after the body.
    // R-SEND-1
    pub fn seal(
        &self,
        memory: &mut [u8],
        body: Range<usize>,
        msg_type: MsgType,
        sum: u8,
        stamp: &Stamp<'_>,
    ) -> Result<Range<usize>, NoHeadroom> {
        let seq = Number::new(stamp.seq.0);
        let counted = self.counted_len(msg_type, stamp, seq.length);
        let body_length = Number::new((counted + body.len()) as u64);
        let needed = self.begin.len + body_length.length + 1 + counted;
        let Some(start) = body.start.checked_sub(needed) else { return Err(NoHeadroom { needed }) };
        let end = body.end + TRAILER_LEN;
        let (header, rest) = memory[start..end].split_at_mut(needed);

        let mut pen = Pen { to: header, at: 0 };
        pen.put(self.begin.as_bytes());
        pen.number(&body_length);
        pen.word(*b"\x0135=\0\0\0\0", 4);
        pen.msg_type(&msg_type);
        pen.put(self.comp_ids.as_bytes());
        pen.number(&seq);
        if self.has_sub_ids() {
            pen.put(self.sub_ids.as_bytes());
        }
        if stamp.original.is_some() {
            pen.put(b"\x0143=Y");
        }
        pen.word(*b"\x0152=\0\0\0\0", 4);
        pen.put(stamp.sending_time);
        if let Some(original) = stamp.original {
            pen.put(b"\x01122=");
            pen.put(original);
        }
        if let Some(seq) = stamp.last_processed {
            pen.put(b"\x01369=");
            let digits = Number::new(seq.0);
            let mut text = [0; 20];
            fill(seq.0, &mut text[..digits.length]);
            pen.put(&text[..digits.length]);
        }
        pen.put(b"\x01");
        debug_assert_eq!(pen.at, needed);

        let sum = sum.wrapping_add(byte_sum(header));
        let trailer = &mut rest[body.len()..];
        trailer.copy_from_slice(&[
            b'1',
            b'0',
            b'=',
            b'0' + sum / 100,
            b'0' + sum / 10 % 10,
            b'0' + sum % 10,
            1,
        ]);
        Ok(start..end)
    }
}

/// Returns the number of decimal digits.
#[must_use]
pub fn digits(number: u64) -> usize {
    Number::new(number).length
}

/// A number of the header.
struct Number {
    number: u64,
    length: usize,
    /// Its digits, if there are at most eight.
    text: [u8; 8],
}

impl Number {
    #[inline]
    fn new(number: u64) -> Self {
        if number >= 100_000_000 {
            let length = number.ilog10() as usize + 1;
            return Self { number, length, text: [0; 8] };
        }
        let digits = eight(number);
        let skipped = leading_zeros(digits);
        Self { number, length: 8 - skipped, text: text(digits >> (8 * skipped)).to_le_bytes() }
    }
}

/// Writes a header from left to right. What is written to the right of a part is overwritten by the
/// next one, so that most parts are words of constant size.
struct Pen<'h> {
    to: &'h mut [u8],
    at: usize,
}

impl Pen<'_> {
    /// Writes the first `length` bytes of a word, where at least eight bytes follow in the header.
    #[inline]
    fn word(&mut self, word: [u8; 8], length: usize) {
        self.to[self.at..self.at + 8].copy_from_slice(&word);
        self.at += length;
    }

    #[inline]
    fn msg_type(&mut self, msg_type: &MsgType) {
        match msg_type.short() {
            Some(word) => self.word(*word, msg_type.as_bytes().len()),
            None => self.put(msg_type.as_bytes()),
        }
    }

    /// Writes bytes of any length.
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        let place = &mut self.to[self.at..self.at + bytes.len()];
        self.at += bytes.len();
        if copy_ends::<16>(place, bytes) || copy_ends::<8>(place, bytes) {
            return;
        }
        place.copy_from_slice(bytes);
    }

    #[inline]
    fn number(&mut self, number: &Number) {
        if number.length <= 8 {
            self.word(number.text, number.length);
        } else {
            let end = self.at + number.length;
            fill(number.number, &mut self.to[self.at..end]);
            self.at = end;
        }
    }
}

/// Copies `N` to twice as many bytes: the first and the last `N`. Returns `false` if there are
/// fewer or more.
#[inline]
fn copy_ends<const N: usize>(to: &mut [u8], from: &[u8]) -> bool {
    if from.len() > 2 * N {
        return false;
    }
    let (Some(first), Some(last)) = (from.first_chunk::<N>(), from.last_chunk::<N>()) else { return false };
    let Some(first_to) = to.first_chunk_mut::<N>() else { return false };
    *first_to = *first;
    let Some(last_to) = to.last_chunk_mut::<N>() else { return false };
    *last_to = *last;
    true
}

impl Body<'_> {
    /// Number of bytes that a message needs after its body.
    pub const TRAILER_LEN: usize = TRAILER_LEN;
}

#[cfg(test)]
mod tests {
    use std::format;
    use std::string::{String, ToString as _};

    use super::*;
    use crate::frame::Frame;
    use crate::framer::Framer;
    use crate::index::{Index, Span};
    use crate::number::Tag;

    const STAMP: Stamp<'_> =
        Stamp { seq: SeqNum(177), sending_time: b"20090107-18:15:16", original: None, last_processed: None };

    #[test]
    fn a_sealed_message_has_the_standards_length_and_sum() {
        // The example of the encoding rules: BodyLength 65, CheckSum 062.
        let envelope = Envelope::new(b"FIX.4.2", b"SERVER", b"CLIENT").unwrap();
        let mut memory = [0; 200];
        let body = b"98=0\x01108=30\x01";
        memory[100..100 + body.len()].copy_from_slice(body);
        let whole = envelope
            .seal(&mut memory, 100..100 + body.len(), MsgType::new(b"A"), byte_sum(body), &STAMP)
            .unwrap();
        assert_eq!(
            &memory[whole],
            b"8=FIX.4.2\x019=65\x0135=A\x0149=SERVER\x0156=CLIENT\x0134=177\x0152=20090107-18:15:16\x0198=0\x01108=30\x0110=062\x01"
        );
    }

    #[test]
    fn every_length_of_body_and_number_yields_a_message_that_reads_back() {
        let envelope = Envelope::new(b"FIXT.1.1", b"S", b"T").unwrap();
        for (len, seq) in [(1, 9), (20, 10), (890, 99_999), (1200, u64::MAX), (9_950, 7), (9_999, 7)] {
            let last_processed = [None, Some(SeqNum(seq))][len % 2];
            let mut memory = [b'x'; 12_000];
            let body = 1_000..1_000 + len + 4;
            memory[1_000..1_003].copy_from_slice(b"58=");
            memory[body.end - 1] = 1;
            let sum = byte_sum(&memory[body.clone()]);
            let original = Some(&b"20090107-18:15:16.123"[..]);
            let stamp = Stamp { seq: SeqNum(seq), original, last_processed, ..STAMP };
            let whole = envelope.seal(&mut memory, body, MsgType::new(b"AE"), sum, &stamp).unwrap();
            let Frame::Message(framed) = Framer::new(20_000).next(&memory[whole.clone()]) else { panic!() };
            assert_eq!(framed.bytes().len(), whole.len());
            let (mut tags, mut spans) = ([0; 16], [Span::default(); 16]);
            let mut index = Index::new(&mut tags, &mut spans);
            let message = index.build(framed).unwrap();
            assert_eq!(message.get(Tag::new(43)), Some(&b"Y"[..]));
            assert_eq!(message.get(Tag::new(122)), Some(&b"20090107-18:15:16.123"[..]));
            assert_eq!(message.get(Tag::new(58)).unwrap().len(), len);
            let expected = last_processed.map(|seq| seq.0.to_string());
            assert_eq!(message.get(Tag::new(369)), expected.as_deref().map(str::as_bytes));
        }
    }

    #[test]
    fn sub_ids_and_location_ids_follow_msg_seq_num_in_the_order_of_the_standard() {
        let long = [b'L'; COMP_ID_LEN];
        let named = |comp_id, sub_id, location_id| PartyIds { comp_id, sub_id, location_id };
        let all = [
            (named(b"A", None, None), named(b"B", None, None), String::new()),
            (named(b"A", Some(b"desk"), None), named(b"B", None, None), "50=desk|".to_string()),
            (named(b"A", None, Some(b"N")), named(b"B", None, Some(b"P")), "142=N|143=P|".to_string()),
            (
                named(b"A", Some(&long), Some(&long)),
                named(b"B", Some(&long), Some(&long)),
                [50, 142, 57, 143].map(|tag| format!("{tag}={}|", "L".repeat(64))).concat(),
            ),
        ];
        for (sender, target, expected) in all {
            let envelope = Envelope::between(b"FIX.4.4", sender, target).unwrap();
            assert_eq!(envelope.has_sub_ids(), !expected.is_empty());
            for original in [None, Some(&b"20090107-18:15:15"[..])] {
                let stamp = Stamp { original, ..STAMP };
                let mut memory = [0; 600];
                memory[500..505].copy_from_slice(b"58=x\x01");
                let news = MsgType::new(b"B");
                let whole =
                    envelope.seal(&mut memory, 500..505, news, byte_sum(b"58=x\x01"), &stamp).unwrap();
                let header = 500 - whole.start;
                assert!((2..=3).any(|digits| envelope.header_len(news, &stamp, digits) == header));
                let Frame::Message(framed) = Framer::new(20_000).next(&memory[whole.clone()]) else {
                    panic!()
                };
                assert_eq!(framed.bytes().len(), whole.len());
                let text = String::from_utf8_lossy(&memory[whole]).replace('\x01', "|");
                let dup = if original.is_some() { "43=Y|" } else { "" };
                assert!(text.contains(&format!("|49=A|56=B|34=177|{expected}{dup}52=")), "{text}");
            }
        }
        let empty = PartyIds { sub_id: Some(b""), ..PartyIds::new(b"A") };
        assert!(Envelope::between(b"FIX.4.4", empty, PartyIds::new(b"B")).is_none());
    }

    #[test]
    fn a_header_that_does_not_fit_in_front_of_the_body_is_refused() {
        let envelope = Envelope::new(b"FIX.4.2", b"SERVER", b"CLIENT").unwrap();
        let mut memory = [0; 200];
        let error = envelope.seal(&mut memory, 10..20, MsgType::new(b"0"), 0, &STAMP).unwrap_err();
        assert!(error.needed > 10);
        assert!(Envelope::new(b"FIX.4.2", b"", b"T").is_none());
        assert!(Envelope::new(b"FIX.4.2", b"S\x01", b"T").is_none());
    }
}
