//! The bytes of one copy of the head, as described in docs/journal.md. Reads layout 1 as well.

use fixbolt_codec::SeqNum;
use fixbolt_session::SessionId;
use fixbolt_session::store::Generation;

use crate::layout::floor::{FLOOR_WORDS, Floor};
use crate::layout::records::{block_checksum, put_session, session_in, u32_at, u64_at};
use crate::values::identity::{Inode, JournalId, Place};

// A copy of the head.
//
//         0     1     2     3     4     5     6     7
//    0  | magic: FIXBOLTH                               |
//    8  | ver | lengths of names| checksum              |
//   16  | serial                                        |
//   24  | mark                                          |
//   32  | generation            | stat| zeros           |
//   40  | boot                                          |
//   56  | salt                  | zeros     | text len  |
//   64  | identity: text, lengths, zeros                |
//  512  | journal                                       |
//  528  | directory                                     |
//  544  | head file                                     |
//  560  | floor                                         |
//  608  | first                 | zeros                 |
//  616  | zeros                                         |
// 1024  | the end                                       |

/// Length of one copy.
pub(crate) const HEAD_COPY: usize = 1024;
/// Where the copies begin: in different pages, so that a torn write never destroys both.
pub(crate) const HEAD_COPIES: [u64; 2] = [0, 4096];
/// Length of the head file: two copies and the floor.
pub(crate) const HEAD_LENGTH: u64 = 3 * 4096;

/// Length of one copy in layout 1, in which the file has two pages and no floor.
const HEAD_COPY_1: usize = 512;
const LAYOUT: u8 = 2;
const MAGIC: [u8; 8] = *b"FIXBOLTH";

/// What the journal stores besides the records.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Head {
    /// Grows with every write: of two intact copies the one with the higher serial counts.
    pub(crate) serial: u64,
    /// No outbound sequence number from here on has been used.
    pub(crate) mark: SeqNum,
    pub(crate) generation: Generation,
    pub(crate) state: HeadState,
    /// The boot of the machine that wrote this; zeros if unknown.
    pub(crate) boot: [u8; 16],
    pub(crate) salt: u32,
    pub(crate) session: SessionId,
    /// `None` in layout 1.
    pub(crate) made: Option<Made>,
}

/// What layout 1 does not have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Made {
    pub(crate) id: JournalId,
    pub(crate) place: Place,
    /// What the journal holds, if it was closed cleanly; what it held before, if a tail is being
    /// removed.
    pub(crate) floor: Floor,
    /// The first segment that is not archived.
    pub(crate) first: u32,
}

/// How the journal was closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HeadState {
    /// It is open in a process, or that process died.
    InUse,
    /// It was closed cleanly; `mark` is NextNumOut.
    Clean,
    /// A tail is being removed: continue at the mark whatever the records say.
    Cut,
}

impl Head {
    /// Returns the number of the first segment that is not archived.
    pub(crate) fn first(&self) -> u32 {
        self.made.map_or(1, |made| made.first)
    }

    /// Returns the bytes of one copy.
    pub(crate) fn encode(&self) -> [u8; HEAD_COPY] {
        let mut b = [0; HEAD_COPY];
        b[0..8].copy_from_slice(&MAGIC);
        b[8] = LAYOUT;
        b[16..24].copy_from_slice(&self.serial.to_le_bytes());
        b[24..32].copy_from_slice(&self.mark.0.to_le_bytes());
        b[32..36].copy_from_slice(&self.generation.0.to_le_bytes());
        b[36] = match self.state {
            HeadState::InUse => 0,
            HeadState::Clean => 1,
            HeadState::Cut => 2,
        };
        b[40..56].copy_from_slice(&self.boot);
        b[56..60].copy_from_slice(&self.salt.to_le_bytes());
        put_session(&mut b, &self.session);
        if let Some(Made { id, place: Place { directory, head }, floor, first }) = &self.made {
            b[512..528].copy_from_slice(&id.0);
            let inodes = [directory.number, directory.born, head.number, head.born];
            for (n, word) in inodes.into_iter().chain(floor.words()).enumerate() {
                b[528 + 8 * n..536 + 8 * n].copy_from_slice(&word.to_le_bytes());
            }
            b[608..612].copy_from_slice(&first.to_le_bytes());
        } else {
            b[8] = 1;
        }
        let checked = if self.made.is_some() { HEAD_COPY } else { HEAD_COPY_1 };
        let crc = block_checksum(&b[..checked]);
        b[12..16].copy_from_slice(&crc.to_le_bytes());
        b
    }

    /// Reads a copy, or returns `None` if it is damaged.
    pub(crate) fn decode(b: &[u8]) -> Option<Self> {
        let length = match b.get(8)? {
            1 => HEAD_COPY_1,
            2 => HEAD_COPY,
            _ => return None,
        };
        let b = b.get(..length)?;
        if b[0..8] != MAGIC || block_checksum(b) != u32_at(b, 12) {
            return None;
        }
        let inode = |at| Inode { number: u64_at(b, at), born: u64_at(b, at + 8) };
        let made = || Made {
            id: JournalId(std::array::from_fn(|n| b[512 + n])),
            place: Place { directory: inode(528), head: inode(544) },
            floor: Floor::read(&b[560..560 + 8 * FLOOR_WORDS]),
            first: u32_at(b, 608).max(1),
        };
        Some(Self {
            serial: u64_at(b, 16),
            mark: SeqNum(u64_at(b, 24)),
            generation: Generation(u32_at(b, 32)),
            state: match b[36] {
                0 => HeadState::InUse,
                1 => HeadState::Clean,
                2 => HeadState::Cut,
                _ => return None,
            },
            boot: std::array::from_fn(|n| b[40 + n]),
            salt: u32_at(b, 56),
            session: session_in(b)?,
            made: (length == HEAD_COPY).then(made),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Drawing, longest_sessions, session};

    fn head(session: SessionId) -> Head {
        let floor = Floor {
            turn: 1 << 33,
            generation: Generation(3),
            segment: 4,
            offset: 5,
            next_in: SeqNum(6),
            next_out: SeqNum(7),
        };
        let inode = |number| Inode { number, born: number + 1 };
        let place = Place { directory: inode(8), head: inode(10) };
        Head {
            serial: 1,
            mark: SeqNum(2),
            generation: Generation(3),
            state: HeadState::Cut,
            boot: [7; 16],
            salt: 5,
            session,
            made: Some(Made { id: JournalId([9; 16]), place, floor, first: 12 }),
        }
    }

    #[test]
    fn every_head_is_read_back_in_both_layouts_whatever_the_session_is_called() {
        for session in longest_sessions() {
            let head = head(session);
            let layout_1 = Head { made: None, ..head.clone() };
            assert_eq!(Head::decode(&layout_1.encode()), Some(layout_1));
            assert_eq!(Head::decode(&head.encode()), Some(head));
        }
    }

    #[test]
    fn a_copy_of_the_head_is_as_it_is_drawn() {
        let drawing = Drawing::of(include_str!("head_copy.rs"), "A copy of the head.");
        let inode = Inode::default();
        let made = Made {
            id: JournalId([0; 16]),
            place: Place { directory: inode, head: inode },
            floor: Floor {
                segment: 0,
                offset: 0,
                next_in: SeqNum::ZERO,
                next_out: SeqNum::ZERO,
                ..Floor::EMPTY
            },
            first: 0,
        };
        let zero = Head {
            serial: 0,
            mark: SeqNum::ZERO,
            generation: Generation(0),
            state: HeadState::InUse,
            boot: [0; 16],
            salt: 0,
            session: longest_sessions()[0].clone(),
            made: Some(made),
        };
        let one = zero.encode();
        let all = Inode { number: u64::MAX, born: u64::MAX };
        let changed = |made: Made| Head { made: Some(made), ..zero.clone() };
        for (field, head) in [
            ("serial", Head { serial: u64::MAX, ..zero.clone() }),
            ("mark", Head { mark: SeqNum(u64::MAX), ..zero.clone() }),
            ("generation", Head { generation: Generation(u32::MAX), ..zero.clone() }),
            ("stat", Head { state: HeadState::Cut, ..zero.clone() }),
            ("boot", Head { boot: [0xFF; 16], ..zero.clone() }),
            ("salt", Head { salt: u32::MAX, ..zero.clone() }),
            ("journal", changed(Made { id: JournalId([0xFF; 16]), ..made })),
            ("directory", changed(Made { place: Place { directory: all, head: inode }, ..made })),
            ("head file", changed(Made { place: Place { directory: inode, head: all }, ..made })),
            ("first", changed(Made { first: u32::MAX, ..made })),
        ] {
            drawing.shows(field, &one, &head.encode());
        }
        let other = changed(Made { floor: Floor::EMPTY, ..made }).encode();
        let floor = drawing.place("floor");
        assert_eq!((floor.len(), Floor::read(&other[floor])), (8 * FLOOR_WORDS, Floor::EMPTY));
        assert_eq!(one[drawing.place("magic: FIXBOLTH")], MAGIC);
        assert_eq!(one[drawing.place("ver")], [LAYOUT]);
        assert_eq!(one[drawing.place("checksum")], block_checksum(&one).to_le_bytes());
        drawing.shows_identity(&one, &zero.session);
        assert_eq!(drawing.place("the end").start, HEAD_COPY);
    }

    #[test]
    fn every_flipped_bit_of_a_head_is_noticed() {
        let mut bytes = head(session("A")).encode();
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Head::decode(&bytes), None, "bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }
}
