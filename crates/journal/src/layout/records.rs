//! The bytes of records and segment headers, as described in docs/journal.md.
//!
//! Pure functions over byte slices. This module opens no file and decides nothing about damage.

use fixbolt_codec::SeqNum;
use fixbolt_session::runtime::mono;
use fixbolt_session::store::{ConnectionNumber, Generation, Record, RecordFlags, RecordKind};
use fixbolt_session::{CompIds, Mono, SessionId, Utc};

use crate::system::checksum;
use crate::values::identity::JournalId;

// A record: its header, its body, and zeros up to a multiple of 8.
//
//         0     1     2     3     4     5     6     7
//    0  | magic: FXR      | ver | length of the body    |
//    8  | checksum              | kind| mark| flags     |
//   16  | generation            | connection            |
//   24  | seq                                           |
//   32  | next_in                                       |
//   40  | cause                                         |
//   48  | utc                                           |
//   56  | mono                                          |
//   64  | turn                                          |
//   72  | next_out                                      |
//   80  | body                                          |

// A segment: its header, and its records.
//
//         0     1     2     3     4     5     6     7
//    0  | magic: FIXBOLTJ                               |
//    8  | ver | lengths of names| checksum              |
//   16  | number                | zeros                 |
//   24  | bytes                                         |
//   32  | created                                       |
//   40  | journal                                       |
//   56  | salt                  | zeros     | text len  |
//   64  | identity: text, lengths, zeros                |
//  512  | records                                       |

/// The layout of records.
const LAYOUT: u8 = 1;
/// The layout of segments. Those of layout 1 have no identity of their journal.
const SEGMENT_LAYOUT: u8 = 2;
/// Length of a record before its body.
pub(crate) const RECORD_HEADER: usize = 80;
/// Length of a segment before its first record.
pub(crate) const SEGMENT_HEADER: usize = 512;
const RECORD_MAGIC: [u8; 3] = *b"FXR";
const SEGMENT_MAGIC: [u8; 8] = *b"FIXBOLTJ";

/// First record of its turn.
pub(crate) const FIRST: u8 = 1;
/// Last record of its turn.
pub(crate) const LAST: u8 = 2;

/// The kind of a record on disk: the kinds of the store contract and two of the journal's own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Of(RecordKind),
    /// The segment ends here and the turn continues in the next one.
    Seal,
    /// Damaged bytes that a repair covered; they are the body of the record.
    Void,
    /// What the segments before this one add up to.
    Checkpoint,
    /// Reserved for later versions, for a run of equal heartbeats and for a chain of digests: one
    /// of the bytes 9 to 15. Such a record is skipped.
    Reserved(u8),
}

impl Kind {
    fn byte(self) -> u8 {
        match self {
            Self::Of(RecordKind::Inbound) => 1,
            Self::Of(RecordKind::Outbound) => 2,
            Self::Of(RecordKind::Reset) => 3,
            Self::Of(RecordKind::Attempt) => 4,
            Self::Of(RecordKind::Adjust) => 5,
            Self::Of(RecordKind::Waiting) => 16,
            Self::Of(RecordKind::Dropped) => 17,
            Self::Seal => 6,
            Self::Void => 7,
            Self::Checkpoint => 8,
            Self::Reserved(byte) => byte,
        }
    }

    fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            1 => Self::Of(RecordKind::Inbound),
            2 => Self::Of(RecordKind::Outbound),
            3 => Self::Of(RecordKind::Reset),
            4 => Self::Of(RecordKind::Attempt),
            5 => Self::Of(RecordKind::Adjust),
            6 => Self::Seal,
            7 => Self::Void,
            8 => Self::Checkpoint,
            9..16 => Self::Reserved(byte),
            16 => Self::Of(RecordKind::Waiting),
            17 => Self::Of(RecordKind::Dropped),
            _ => return None,
        })
    }
}

/// A record without its body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Header {
    pub(crate) length: u32,
    pub(crate) kind: Kind,
    pub(crate) marks: u8,
    pub(crate) flags: RecordFlags,
    pub(crate) generation: Generation,
    pub(crate) connection: ConnectionNumber,
    pub(crate) seq: SeqNum,
    pub(crate) next_in: SeqNum,
    pub(crate) cause: Option<SeqNum>,
    pub(crate) utc: Utc,
    pub(crate) mono: Mono,
    pub(crate) turn: u64,
    pub(crate) next_out: SeqNum,
}

/// Returns the length of a record with a body of `length` bytes.
#[inline]
pub(crate) const fn record_size(length: usize) -> usize {
    RECORD_HEADER + length.next_multiple_of(8)
}

pub(crate) fn u16_at(b: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([b[at], b[at + 1]])
}

pub(crate) fn u32_at(b: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]])
}

pub(crate) fn u64_at(b: &[u8], at: usize) -> u64 {
    let mut w = [0; 8];
    w.copy_from_slice(&b[at..at + 8]);
    u64::from_le_bytes(w)
}

impl Header {
    /// Returns the header of a record with this body as ten little-endian words, with the checksum.
    #[inline]
    pub(crate) fn words(&self, salt: u32, body: &[u8]) -> [u64; RECORD_HEADER / 8] {
        let [m0, m1, m2] = RECORD_MAGIC;
        let magic = u64::from(u32::from_le_bytes([m0, m1, m2, LAYOUT]));
        let mut words = [
            magic | u64::from(self.length) << 32,
            u64::from(self.kind.byte()) << 32 | u64::from(self.marks) << 40 | u64::from(self.flags.0) << 48,
            u64::from(self.generation.0) | u64::from(self.connection.0) << 32,
            self.seq.0,
            self.next_in.0,
            self.cause.unwrap_or(SeqNum::ZERO).0,
            self.utc.0,
            self.mono.nanos(),
            self.turn,
            self.next_out.0,
        ];
        words[1] |= u64::from(checksum::record(salt, body, &words));
        words
    }

    /// Turns the second word of a header into the one of the last record of a turn.
    pub(crate) const TO_LAST: u64 = (LAST as u64) << 40 | checksum::of_mark(LAST) as u64;

    /// Reads the fields and checks that they are possible, but not the checksum. For walking over
    /// records that were checked before.
    #[inline]
    pub(crate) fn peek(bytes: &[u8], at: usize) -> Option<Self> {
        let h = bytes.get(at..)?.get(..RECORD_HEADER)?;
        if h[0..3] != RECORD_MAGIC || h[3] != LAYOUT {
            return None;
        }
        let length = u32_at(h, 4);
        if record_size(length as usize) > bytes.len() - at {
            return None;
        }
        let marks = h[13];
        if marks > FIRST | LAST {
            return None;
        }
        Some(Self {
            length,
            kind: Kind::from_byte(h[12])?,
            marks,
            flags: RecordFlags(u16_at(h, 14)),
            generation: Generation(u32_at(h, 16)),
            connection: ConnectionNumber(u32_at(h, 20)),
            seq: SeqNum(u64_at(h, 24)),
            next_in: SeqNum(u64_at(h, 32)),
            cause: Some(SeqNum(u64_at(h, 40))).filter(|n| *n != SeqNum::ZERO),
            utc: Utc(u64_at(h, 48)),
            mono: mono(u64_at(h, 56)),
            turn: u64_at(h, 64),
            next_out: SeqNum(u64_at(h, 72)),
        })
    }

    /// Returns the header of a complete record at `at`: possible fields, right checksum, zero
    /// padding.
    pub(crate) fn decode(bytes: &[u8], at: usize, salt: u32) -> Option<Self> {
        let header = Self::peek(bytes, at)?;
        let end = at + RECORD_HEADER + header.length as usize;
        let mut words = [0; RECORD_HEADER / 8];
        for (n, word) in words.iter_mut().enumerate() {
            *word = u64_at(bytes, at + 8 * n);
        }
        let crc = checksum::record(salt, &bytes[at + RECORD_HEADER..end], &words);
        let whole = crc == u32_at(bytes, at + 8) && bytes[end..at + header.size()].iter().all(|b| *b == 0);
        whole.then_some(header)
    }

    /// Returns the bytes of the whole record.
    #[inline]
    pub(crate) fn size(&self) -> usize {
        record_size(self.length as usize)
    }

    /// Returns the record for the session core, or `None` for the journal's own kinds.
    #[inline]
    pub(crate) fn record<'r>(&self, bytes: &'r [u8], at: usize) -> Option<Record<'r>> {
        let Kind::Of(kind) = self.kind else { return None };
        let from = at + RECORD_HEADER;
        Some(Record {
            kind,
            flags: self.flags,
            seq: self.seq,
            next_in: self.next_in,
            connection: self.connection,
            cause: self.cause,
            utc: self.utc,
            mono: self.mono,
            body: &bytes[from..from + self.length as usize],
        })
    }
}

/// Where the text of the identity begins.
const TEXT: usize = 64;

/// Writes the identity: its text, for people, without escapes, and the lengths of its parts, which
/// say where each begins.
pub(crate) fn put_session(bytes: &mut [u8], session: &SessionId) {
    let sides = [session.sender(), session.target()];
    let [sender, target] = sides.map(|side| match (side.sub_id(), side.location_id()) {
        (None, None) => side.comp_id().to_owned(),
        (Some(sub_id), None) => format!("{}/{sub_id}", side.comp_id()),
        (sub_id, Some(location_id)) => {
            format!("{}/{}/{location_id}", side.comp_id(), sub_id.unwrap_or_default())
        }
    });
    let mut text = format!("{}:{sender}->{target}", session.version());
    if !session.qualifier().is_empty() {
        text = format!("{text}:{}", session.qualifier());
    }
    let parts = [session.version().name(), session.sender_comp_id(), session.target_comp_id()];
    for (byte, part) in bytes[9..12].iter_mut().zip(parts) {
        *byte = part.len() as u8;
    }
    bytes[62..TEXT].copy_from_slice(&(text.len() as u16).to_le_bytes());
    let end = TEXT + text.len();
    bytes[TEXT..end].copy_from_slice(text.as_bytes());
    let sub_ids = sides.into_iter().flat_map(|side| [side.sub_id(), side.location_id()]);
    for (byte, part) in bytes[end..end + 4].iter_mut().zip(sub_ids) {
        *byte = part.map_or(0, str::len) as u8;
    }
}

pub(crate) fn session_in(bytes: &[u8]) -> Option<SessionId> {
    let length = usize::from(u16_at(bytes, 62));
    let text = core::str::from_utf8(bytes.get(TEXT..TEXT + length)?).ok()?;
    let [version, sender, target] = [9, 10, 11].map(|at| usize::from(bytes[at]));
    if version == 0 {
        // Written before the lengths were: by a version that took no CompID with `:` or `->` in it.
        let (version, rest) = text.split_once(':')?;
        let (sender, rest) = rest.split_once("->")?;
        let (target, qualifier) = rest.split_once(':').unwrap_or((rest, ""));
        return SessionId::qualified(version.parse().ok()?, sender, target, qualifier).ok();
    }
    // Zeros where there are none, and in journals from before there were any.
    let sub_ids = bytes.get(TEXT + length..TEXT + length + 4).unwrap_or(&[0; 4]);
    let (version, rest) = text.split_at_checked(version)?;
    let (sender, rest) = comp_ids_in(rest.strip_prefix(':')?, sender, &sub_ids[..2])?;
    let (target, rest) = comp_ids_in(rest.strip_prefix("->")?, target, &sub_ids[2..])?;
    let qualifier = if rest.is_empty() { rest } else { rest.strip_prefix(':')? };
    SessionId::between(version.parse().ok()?, sender, target).ok()?.with_qualifier(qualifier).ok()
}

/// Reads a side of the session from the beginning of a text. Returns what follows it, too.
fn comp_ids_in<'t>(text: &'t str, comp_id: usize, sub_ids: &[u8]) -> Option<(CompIds, &'t str)> {
    let (comp_id, mut rest) = text.split_at_checked(comp_id)?;
    let mut comp_ids = CompIds::new(comp_id).ok()?;
    let [sub_id, location_id] = [usize::from(sub_ids[0]), usize::from(sub_ids[1])];
    if sub_id > 0 || location_id > 0 {
        let (id, after) = rest.strip_prefix('/')?.split_at_checked(sub_id)?;
        if !id.is_empty() {
            comp_ids = comp_ids.with_sub_id(id).ok()?;
        }
        rest = after;
    }
    if location_id > 0 {
        let (id, after) = rest.strip_prefix('/')?.split_at_checked(location_id)?;
        comp_ids = comp_ids.with_location_id(id).ok()?;
        rest = after;
    }
    Some((comp_ids, rest))
}

/// Over everything except the four bytes at 12.
pub(crate) fn block_checksum(bytes: &[u8]) -> u32 {
    checksum::append(checksum::append(0, &bytes[..12]), &bytes[16..])
}

/// The first bytes of a segment file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SegmentHeader {
    /// Counted from 1; also in the name of the file.
    pub(crate) number: u32,
    /// Size of the file.
    pub(crate) bytes: u64,
    pub(crate) created: Utc,
    pub(crate) salt: u32,
    pub(crate) session: SessionId,
    /// `None` in layout 1.
    pub(crate) journal: Option<JournalId>,
}

impl SegmentHeader {
    pub(crate) fn encode(&self) -> [u8; SEGMENT_HEADER] {
        let mut b = [0; SEGMENT_HEADER];
        b[0..8].copy_from_slice(&SEGMENT_MAGIC);
        b[8] = if self.journal.is_some() { SEGMENT_LAYOUT } else { 1 };
        b[16..20].copy_from_slice(&self.number.to_le_bytes());
        b[24..32].copy_from_slice(&self.bytes.to_le_bytes());
        b[32..40].copy_from_slice(&self.created.0.to_le_bytes());
        b[40..56].copy_from_slice(&self.journal.map_or([0; 16], |id| id.0));
        b[56..60].copy_from_slice(&self.salt.to_le_bytes());
        put_session(&mut b, &self.session);
        let crc = block_checksum(&b);
        b[12..16].copy_from_slice(&crc.to_le_bytes());
        b
    }

    pub(crate) fn decode(b: &[u8]) -> Option<Self> {
        let b = b.get(..SEGMENT_HEADER)?;
        if b[0..8] != SEGMENT_MAGIC || block_checksum(b) != u32_at(b, 12) {
            return None;
        }
        let journal = match b[8] {
            1 => None,
            SEGMENT_LAYOUT => Some(JournalId(std::array::from_fn(|n| b[40 + n]))),
            _ => return None,
        };
        Some(Self {
            number: u32_at(b, 16),
            bytes: u64_at(b, 24),
            created: Utc(u64_at(b, 32)),
            salt: u32_at(b, 56),
            session: session_in(b)?,
            journal,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Drawing, longest_sessions};

    fn header() -> Header {
        Header {
            length: 5,
            kind: Kind::Of(RecordKind::Outbound),
            marks: FIRST | LAST,
            flags: RecordFlags::ADMIN,
            generation: Generation(3),
            connection: ConnectionNumber(4),
            seq: SeqNum(5),
            next_in: SeqNum(6),
            cause: Some(SeqNum(7)),
            utc: Utc(8),
            mono: mono(9),
            turn: 10,
            next_out: SeqNum(11),
        }
    }

    #[test]
    fn every_field_of_a_record_survives_and_every_flipped_bit_is_noticed() {
        let h = header();
        let mut words = Header { marks: FIRST, ..h }.words(99, b"hello");
        words[1] ^= Header::TO_LAST;
        assert_eq!(words, h.words(99, b"hello"));
        let mut bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        bytes.extend_from_slice(b"hello\0\0\0");
        assert_eq!(Header::decode(&bytes, 0, 99), Some(h));
        assert_eq!(Header::decode(&bytes, 0, 98), None, "another journal's record");
        assert_eq!(bytes.len(), h.size());
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Header::decode(&bytes, 0, 99), None, "bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        for short in 0..bytes.len() {
            assert_eq!(Header::decode(&bytes[..short], 0, 99), None);
        }
    }

    #[test]
    fn a_record_is_as_it_is_drawn() {
        let drawing = Drawing::of(include_str!("records.rs"), "A record:");
        let bytes = |header: Header, body: &[u8]| {
            let words = header.words(99, body);
            words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>()
        };
        let zero = Header {
            length: 0,
            kind: Kind::Of(RecordKind::Inbound),
            marks: 0,
            flags: RecordFlags(0),
            generation: Generation(0),
            connection: ConnectionNumber(0),
            seq: SeqNum::ZERO,
            next_in: SeqNum::ZERO,
            cause: None,
            utc: Utc(0),
            mono: mono(0),
            turn: 0,
            next_out: SeqNum::ZERO,
        };
        let one = bytes(zero, b"");
        let all = SeqNum(u64::MAX);
        for (field, header) in [
            ("length of the body", Header { length: u32::MAX, ..zero }),
            ("kind", Header { kind: Kind::Seal, ..zero }),
            ("mark", Header { marks: FIRST, ..zero }),
            ("flags", Header { flags: RecordFlags(u16::MAX), ..zero }),
            ("generation", Header { generation: Generation(u32::MAX), ..zero }),
            ("connection", Header { connection: ConnectionNumber(u32::MAX), ..zero }),
            ("seq", Header { seq: all, ..zero }),
            ("next_in", Header { next_in: all, ..zero }),
            ("cause", Header { cause: Some(all), ..zero }),
            ("utc", Header { utc: Utc(u64::MAX), ..zero }),
            ("mono", Header { mono: mono(u64::MAX), ..zero }),
            ("turn", Header { turn: u64::MAX, ..zero }),
            ("next_out", Header { next_out: all, ..zero }),
        ] {
            drawing.shows(field, &one, &bytes(header, b""));
        }
        drawing.shows("checksum", &bytes(zero, b"one"), &bytes(zero, b"two"));
        assert_eq!(one[drawing.place("magic: FXR")], RECORD_MAGIC);
        assert_eq!(one[drawing.place("ver")], [LAYOUT]);
        assert_eq!(drawing.place("body").start, RECORD_HEADER);
        assert_eq!(record_size(3), RECORD_HEADER + 8);
    }

    #[test]
    fn a_header_of_a_segment_is_as_it_is_drawn() {
        let drawing = Drawing::of(include_str!("records.rs"), "A segment:");
        let zero = SegmentHeader {
            number: 0,
            bytes: 0,
            created: Utc(0),
            salt: 0,
            session: longest_sessions()[0].clone(),
            journal: Some(JournalId([0; 16])),
        };
        let one = zero.encode();
        for (field, header) in [
            ("number", SegmentHeader { number: u32::MAX, ..zero.clone() }),
            ("bytes", SegmentHeader { bytes: u64::MAX, ..zero.clone() }),
            ("created", SegmentHeader { created: Utc(u64::MAX), ..zero.clone() }),
            ("salt", SegmentHeader { salt: u32::MAX, ..zero.clone() }),
            ("journal", SegmentHeader { journal: Some(JournalId([0xFF; 16])), ..zero.clone() }),
        ] {
            drawing.shows(field, &one, &header.encode());
        }
        assert_eq!(one[drawing.place("magic: FIXBOLTJ")], SEGMENT_MAGIC);
        assert_eq!(one[drawing.place("ver")], [SEGMENT_LAYOUT]);
        assert_eq!(one[drawing.place("checksum")], block_checksum(&one).to_le_bytes());
        drawing.shows_identity(&one, &zero.session);
        assert_eq!(drawing.place("records").start, SEGMENT_HEADER);
    }

    #[test]
    fn an_identity_from_before_sub_ids_is_read_back_whatever_is_in_its_comp_ids() {
        for text in ["FIX.4.4:A/B->C//D:Q/R", "FIX.4.4:A->B", "FIX.4.2:A\\:B->C->D"] {
            let mut parts = text.rsplitn(2, "->");
            let (target, sender) = (parts.next().unwrap(), &parts.next().unwrap()[8..]);
            let (target, qualifier) = target.split_once(':').unwrap_or((target, ""));
            let session =
                SessionId::qualified(text[..7].parse().unwrap(), sender, target, qualifier).unwrap();
            let mut old = [0; SEGMENT_HEADER];
            old[9..12].copy_from_slice(&[7, sender.len() as u8, target.len() as u8]);
            old[62] = text.len() as u8;
            old[64..64 + text.len()].copy_from_slice(text.as_bytes());
            assert_eq!(session_in(&old).as_ref(), Some(&session));
            let mut new = [0; SEGMENT_HEADER];
            put_session(&mut new, &session);
            assert_eq!(new, old);
            if !sender.contains(':') {
                old[9..12].fill(0);
                assert_eq!(session_in(&old), Some(session));
            }
        }
    }

    #[test]
    fn every_header_of_a_segment_is_read_back_in_both_layouts_whatever_the_session_is_called() {
        for session in longest_sessions() {
            for journal in [None, Some(JournalId([9; 16]))] {
                let session = session.clone();
                let segment =
                    SegmentHeader { number: 1, bytes: 65536, created: Utc(3), salt: 4, session, journal };
                assert_eq!(SegmentHeader::decode(&segment.encode()), Some(segment));
            }
        }
    }
}
