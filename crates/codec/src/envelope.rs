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
use crate::short_value::{Eight, Sixteen};
use crate::soh::SOH;
use crate::types::digits::{TEN_TO, eight, fill, four, leading_zeros, text, text_sum, three};

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
    begin: Text<{ 2 + BEGIN_STRING_LEN + 1 + 2 + 15 }>,
    /// `SOH 49=… SOH 56=… SOH 34=`
    comp_ids: Text<COMP_IDS_LEN>,
    /// `SOH 50=… SOH 142=… SOH 57=… SOH 143=…`, without those that there are none of.
    sub_ids: Text<SUB_IDS_LEN>,
    /// Whether its parts are as most are: no `sub_ids`, and `comp_ids` of up to 48 bytes.
    is_common: bool,
}

/// How a header names one side of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeaderIds<'a> {
    /// SenderCompID (49) or TargetCompID (56).
    pub comp_id: &'a [u8],
    /// SenderSubID (50) or TargetSubID (57).
    pub sub_id: Option<&'a [u8]>,
    /// SenderLocationID (142) or TargetLocationID (143).
    pub location_id: Option<&'a [u8]>,
}

impl<'a> HeaderIds<'a> {
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

impl Stamp<'_> {
    /// Returns whether it is that of a new message, without LastMsgSeqNumProcessed.
    #[inline(always)]
    const fn is_common(&self) -> bool {
        self.original.is_none() && self.last_processed.is_none()
    }

    /// Returns the length of the fields that only some headers have.
    #[cold]
    fn optional_len(&self) -> usize {
        let original = self.original.map_or(0, |time| b"43=Y\x01122=\x01".len() + time.len());
        original + self.last_processed.map_or(0, |seq| b"369=\x01".len() + digits(seq.0))
    }
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
        Self::between(begin_string, HeaderIds::new(sender_comp_id), HeaderIds::new(target_comp_id))
    }

    /// Creates the envelope of a session whose messages also have the SubIDs and LocationIDs of the
    /// sides. They follow MsgSeqNum (34), as in the dictionaries of the standard.
    ///
    /// Returns `None` if a part is empty, contains SOH or is too long ([`BEGIN_STRING_LEN`],
    /// [`COMP_ID_LEN`]).
    #[must_use]
    pub fn between(begin_string: &[u8], sender: HeaderIds<'_>, target: HeaderIds<'_>) -> Option<Self> {
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
        let is_common = sub_ids.len == 0 && comp_ids.len <= 48;
        Some(Self { begin, comp_ids, sub_ids, is_common })
    }

    /// Returns whether its messages have SubIDs or LocationIDs.
    #[must_use]
    #[inline]
    pub const fn has_sub_ids(&self) -> bool {
        self.sub_ids.len > 0
    }

    /// Returns the length of the header for a body whose BodyLength has `length_digits` digits.
    #[must_use]
    #[inline]
    pub fn header_len(&self, msg_type: MsgType, stamp: &Stamp<'_>, length_digits: usize) -> usize {
        self.begin.len + length_digits + 1 + self.counted_len(msg_type, stamp, digits(stamp.seq.0))
    }

    /// Returns the length of the header fields that BodyLength counts.
    #[inline]
    fn counted_len(&self, msg_type: MsgType, stamp: &Stamp<'_>, seq_digits: usize) -> usize {
        let always = b"35=\x0152=\x01".len() + self.comp_ids.len + self.sub_ids.len;
        let length = always + msg_type.as_bytes().len() + seq_digits + stamp.sending_time.len();
        if stamp.is_common() { length } else { length + stamp.optional_len() }
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
        match self.seal_common(memory, &body, &msg_type, sum, stamp) {
            Some(start) => Ok(start..body.end + TRAILER_LEN),
            None => self.seal_any(memory, body, &msg_type, sum, stamp),
        }
    }

    /// Seals a message as most are and returns where it begins, or `None` if it is another one, or
    /// near the end of the memory.
    #[inline(always)]
    fn seal_common(
        &self,
        memory: &mut [u8],
        body: &Range<usize>,
        msg_type: &MsgType,
        sum: u8,
        stamp: &Stamp<'_>,
    ) -> Option<usize> {
        let (code, time) = (msg_type.short()?, stamp.sending_time);
        if !self.is_common || !stamp.is_common() || stamp.seq.0 >= TEN_TO[8] || !matches!(time.len(), 16..32)
        {
            return None;
        }
        let seq = Number::new(stamp.seq.0);
        let type_length = msg_type.as_bytes().len();
        let counted = b"35=\x0152=\x01".len() + self.comp_ids.len + type_length + seq.length + time.len();
        let length = counted + body.len();
        if length >= 10_000 {
            return None;
        }
        let body_length = Number::of_length(length);
        let start = body.start.checked_sub(self.begin.len + body_length.length + 1 + counted)?;
        let place = memory.get_mut(start..)?.first_chunk_mut()?;
        let header = self.write_common(place, &body_length, (code, type_length), &seq, time);
        let check_sum = check_sum(header.wrapping_add(u32::from(sum)) as u8);
        memory[body.end..body.end + TRAILER_LEN].copy_from_slice(&check_sum);
        Some(start)
    }

    /// Seals any message.
    #[cold]
    fn seal_any(
        &self,
        memory: &mut [u8],
        body: Range<usize>,
        msg_type: &MsgType,
        sum: u8,
        stamp: &Stamp<'_>,
    ) -> Result<Range<usize>, NoHeadroom> {
        let seq = Number::new(stamp.seq.0);
        let counted = self.counted_len(*msg_type, stamp, seq.length);
        let body_length = Number::of_length(counted + body.len());
        let needed = self.begin.len + body_length.length + 1 + counted;
        let Some(start) = body.start.checked_sub(needed) else { return Err(NoHeadroom { needed }) };
        let header = self.write_header(&mut memory[start..body.start], &body_length, msg_type, &seq, stamp);
        let check_sum = check_sum(header.wrapping_add(u32::from(sum)) as u8);
        let end = body.end + TRAILER_LEN;
        memory[body.end..end].copy_from_slice(&check_sum);
        Ok(start..end)
    }

    /// Writes a header as most are and returns its sum. What is written to the right of a part is
    /// overwritten by the next one, so that each is copied in constant size, and the compiler sees
    /// that all of them are in `place`.
    #[inline(always)]
    fn write_common(
        &self,
        place: &mut [u8; COMMON_ROOM],
        body_length: &Number,
        (code, type_length): (&[u8; 8], usize),
        seq: &Number,
        time: &[u8],
    ) -> u32 {
        let mut sum = u32::from(self.begin.sum) + u32::from(self.comp_ids.sum) + body_length.sum + seq.sum;
        let mut put = |at: usize, bytes: &[u8]| place[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &self.begin.bytes[..32]);
        let at = self.begin.len & 31;
        put(at, &body_length.text.to_le_bytes());
        let at = at + (body_length.length & 15);
        put(at, b"\x0135=");
        put(at + 4, code);
        sum += Eight(u64::from_le_bytes(*code)).sum();
        let at = at + 4 + (type_length & 15);
        put(at, &self.comp_ids.bytes[..32]);
        if self.comp_ids.len > 32 {
            put(at + 32, &self.comp_ids.bytes[32..48]);
        }
        let at = at + (self.comp_ids.len & 63);
        put(at, &seq.text.to_le_bytes());
        let at = at + (seq.length & 15);
        put(at, b"\x0152=");

        let (start, rest) = time.split_at(16);
        put(at + 4, start);
        sum += Sixteen::load(start).sum();
        // The time's cache has stored the rest a moment ago. Reads of less than that, from where it
        // begins, need not wait until it is in memory.
        let (mut at, mut rest) = (at + 20, rest);
        if let Some((part, after)) = rest.split_first_chunk::<8>() {
            put(at, part);
            sum += Eight::load(part).sum();
            (at, rest) = (at + 8, after);
        }
        if let Some((part, after)) = rest.split_first_chunk::<4>() {
            put(at, part);
            sum += Eight::load(part).sum();
            (at, rest) = (at + 4, after);
        }
        if let Some((part, after)) = rest.split_first_chunk::<2>() {
            put(at, part);
            sum += Eight::load(part).sum();
            (at, rest) = (at + 2, after);
        }
        if let Some(last) = rest.first() {
            put(at, &[*last]);
            sum += u32::from(*last);
            at += 1;
        }
        put(at, &[SOH]);
        sum + b"\x0135=\x0152=\x01".iter().fold(0, |sum, byte| sum + u32::from(*byte))
    }

    /// Writes any header and returns its sum.
    fn write_header(
        &self,
        place: &mut [u8],
        body_length: &Number,
        msg_type: &MsgType,
        seq: &Number,
        stamp: &Stamp<'_>,
    ) -> u32 {
        let mut at = 0;
        let mut put = |bytes: &[u8]| {
            place[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        };
        put(self.begin.as_bytes());
        put(body_length.as_text(&mut [0; 20]));
        put(b"\x0135=");
        put(msg_type.as_bytes());
        put(self.comp_ids.as_bytes());
        put(seq.as_text(&mut [0; 20]));
        put(self.sub_ids.as_bytes());
        if stamp.original.is_some() {
            put(b"\x0143=Y");
        }
        put(b"\x0152=");
        put(stamp.sending_time);
        if let Some(original) = stamp.original {
            put(b"\x01122=");
            put(original);
        }
        if let Some(seq) = stamp.last_processed {
            put(b"\x01369=");
            put(Number::new(seq.0).as_text(&mut [0; 20]));
        }
        put(&[SOH]);
        debug_assert_eq!(at, place.len());
        u32::from(byte_sum(place))
    }
}

/// The space in which [`Envelope::write_common`] writes: a header as most are, and what is written
/// to the right of its last parts.
const COMMON_ROOM: usize = 192;

/// Returns CheckSum (10) of this value, as a field.
#[inline]
const fn check_sum(sum: u8) -> [u8; TRAILER_LEN] {
    let field = u64::from_le_bytes(*b"10=000\x01\0") + (three(sum as u32) << 24);
    let [a, b, c, d, e, f, g, _] = field.to_le_bytes();
    [a, b, c, d, e, f, g]
}

/// Returns the number of decimal digits.
#[must_use]
pub fn digits(number: u64) -> usize {
    Number::new(number).length
}

/// A number of the header.
#[derive(Clone, Copy)]
struct Number {
    number: u64,
    length: usize,
    /// Its digits, if there are at most eight.
    text: u64,
    /// The sum of these digits.
    sum: u32,
}

impl Number {
    #[inline(always)]
    fn new(number: u64) -> Self {
        if number < 100_000_000 { Self::of_digits(number, eight(number)) } else { Self::long(number) }
    }

    /// Returns a length, most of which have at most four digits.
    #[inline(always)]
    fn of_length(length: usize) -> Self {
        let number = length as u64;
        if number < 10_000 { Self::of_digits(number, four(number)) } else { Self::long_length(number) }
    }

    #[inline(always)]
    fn of_digits(number: u64, digits: u64) -> Self {
        let skipped = leading_zeros(digits);
        let length = 8 - skipped;
        Self { number, length, text: text(digits >> (8 * skipped)), sum: text_sum(digits, length) }
    }

    #[cold]
    fn long_length(number: u64) -> Self {
        Self::new(number)
    }

    #[cold]
    fn long(number: u64) -> Self {
        Self { number, length: number.ilog10() as usize + 1, text: 0, sum: 0 }
    }

    /// Returns its digits, however many.
    fn as_text<'t>(&self, text: &'t mut [u8; 20]) -> &'t [u8] {
        let digits = &mut text[..self.length];
        fill(self.number, digits);
        digits
    }
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
        let named = |comp_id, sub_id, location_id| HeaderIds { comp_id, sub_id, location_id };
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
        let empty = HeaderIds { sub_id: Some(b""), ..HeaderIds::new(b"A") };
        assert!(Envelope::between(b"FIX.4.4", empty, HeaderIds::new(b"B")).is_none());
    }

    #[test]
    fn a_header_of_any_parts_is_that_of_the_naive_way_wherever_in_the_memory_it_is() {
        // On both sides of what makes a header another one than most: times of 16 to 31 bytes,
        // CompIDs of 36 bytes together, types of eight.
        let time = b"20090107-18:15:16.123456789012345";
        let times = [0, 5, 15, 16, 17, 18, 19, 20, 21, 24, 27, 30, 31, 32, 33].map(|length| &time[..length]);
        let ids = [1, 5, 10, 11, 16, 20, 21, 64];
        let types = ["0", "AE", "U1234567", "U12345678", "0123456789abcde"];
        let numbers = [1, 9, 10, 9_999, 10_000, 99_999_999, 100_000_000, u64::MAX];
        let bodies = [1, 30, 200, 1_000, 9_000, 12_000, 101_000];
        let text_of_body = std::vec![b'x'; 101_000];
        let mut random = fastrand::Rng::with_seed(3);
        for n in 0..if cfg!(miri) { 100 } else { 20_000 } {
            let mut pick = |count: usize| random.usize(..count);
            let (begin, id) = (&b"FIXT.1.1abcd"[..[1, 7, 8, 12][pick(4)]], [b'C'; 64]);
            let (sender, target) = (&id[..ids[pick(8)]], &id[..ids[pick(8)]]);
            let sub_id = [None, None, None, Some(&b"desk"[..])][pick(4)];
            let sides = (HeaderIds { sub_id, ..HeaderIds::new(sender) }, HeaderIds::new(target));
            let envelope = Envelope::between(begin, sides.0, sides.1).unwrap();
            let msg_type = types[pick(5)];
            let stamp = Stamp {
                seq: SeqNum(numbers[pick(8)]),
                sending_time: times[pick(15)],
                original: [None, None, None, Some(times[pick(15)])][pick(4)],
                last_processed: [None, None, None, Some(SeqNum(numbers[pick(8)]))][pick(4)],
            };
            let room = bodies[if pick(50) == 0 { 6 } else { pick(6) }];
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            let optional = |before: &str, value: Option<String>| {
                value.map_or(String::new(), |value| format!("{before}{value}\x01"))
            };
            let counted = format!(
                "35={msg_type}\x0149={}\x0156={}\x0134={}\x01{}{}52={}\x01{}{}",
                text(sender),
                text(target),
                stamp.seq.0,
                optional("50=", sub_id.map(text)),
                optional("43=", stamp.original.map(|_| "Y".to_string())),
                text(stamp.sending_time),
                optional("122=", stamp.original.map(text)),
                optional("369=", stamp.last_processed.map(|seq| seq.to_string())),
            );
            // Many are as long as BodyLength needs to have another digit, or not.
            let (end, near) = ([100_usize, 1_000, 10_000, 100_000][pick(4)], pick(3) + counted.len() + 3);
            let room = if end < room * 2 && n % 2 == 0 { end.saturating_sub(near).max(1) } else { room };
            let body = [&b"58="[..], &text_of_body[..room], b"\x01"].concat();
            let length = counted.len() + body.len();
            let mut expected =
                [format!("8={}\x019={length}\x01{counted}", text(begin)).as_bytes(), &body].concat();
            let header = expected.len() - body.len();
            expected.extend_from_slice(format!("10={:03}\x01", byte_sum(&expected)).as_bytes());
            // The space before the header, and after CheckSum.
            let (before, after) = ([0, 3, 200][n % 3], [0, 1, 300][n % 5 % 3]);
            let mut memory = std::vec![7; before + expected.len() + after];
            let at = before + header..before + header + body.len();
            memory[at.clone()].copy_from_slice(&body);
            let kind = MsgType::new(msg_type.as_bytes());
            let whole = envelope.seal(&mut memory, at.clone(), kind, byte_sum(&body), &stamp).unwrap();
            assert_eq!(text(&memory[whole.clone()]), text(&expected));
            assert_eq!(whole, before..before + expected.len());
            assert!(memory[..before].iter().chain(&memory[whole.end..]).all(|byte| *byte == 7));
            // One byte less.
            let mut short = memory[before + 1..].to_vec();
            let refused = envelope.seal(&mut short, header - 1..at.end - before - 1, kind, 0, &stamp);
            assert_eq!(refused, Err(NoHeadroom { needed: header }));
            assert_eq!(short, memory[before + 1..]);
        }
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
