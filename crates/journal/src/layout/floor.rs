//! The floor: how far the last commits reached, kept beside the records.
//!
//! Records that are cut off at the end of a turn leave nothing in the segments that could be
//! missed. The floor says what must be there: each commit stores it in mapped memory of the head
//! file, where it survives the death of the process, as the records do. Two slots are written in
//! turn, so that one is intact whenever the process dies.

use fixbolt_codec::SeqNum;
use fixbolt_session::store::Generation;

use crate::layout::records::{SEGMENT_HEADER, u64_at};

// A floor in its slot.
//
//         0     1     2     3     4     5     6     7
//    0  | turn                                          |
//    8  | generation            | segment               |
//   16  | offset                                        |
//   24  | next_in                                       |
//   32  | next_out                                      |
//   40  | zeros                                         |
//   48  | check                                         |
//   56  | the end                                       |

/// Where the slots begin in the head file: in a page of their own, and in different cache lines.
pub(crate) const FLOOR_SLOTS: [usize; 2] = [8192, 8192 + 128];
/// Words of a floor, without its check word.
pub(crate) const FLOOR_WORDS: usize = 6;

/// The state of a session after a commit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Floor {
    /// The number of the turn; 0 if there was none.
    pub(crate) turn: u64,
    pub(crate) generation: Generation,
    /// The segment in which the next turn begins, and where.
    pub(crate) segment: u32,
    pub(crate) offset: u64,
    pub(crate) next_in: SeqNum,
    pub(crate) next_out: SeqNum,
}

impl Floor {
    /// The floor of a new journal.
    pub(crate) const EMPTY: Self = Self {
        turn: 0,
        generation: Generation(0),
        segment: 1,
        offset: SEGMENT_HEADER as u64,
        next_in: SeqNum::ONE,
        next_out: SeqNum::ONE,
    };

    /// Returns the words of the floor.
    #[inline]
    pub(crate) fn words(&self) -> [u64; FLOOR_WORDS] {
        [
            self.turn,
            u64::from(self.generation.0) | u64::from(self.segment) << 32,
            self.offset,
            self.next_in.0,
            self.next_out.0,
            0,
        ]
    }

    /// Reads a floor from its words in `bytes`.
    ///
    /// # Panics
    /// Panics if `bytes` is shorter.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let [turn, place, offset, next_in, next_out, _] =
            std::array::from_fn::<_, FLOOR_WORDS, _>(|n| u64_at(bytes, 8 * n));
        Self {
            turn,
            generation: Generation(place as u32),
            segment: (place >> 32) as u32,
            offset,
            next_in: SeqNum(next_in),
            next_out: SeqNum(next_out),
        }
    }

    /// Returns the floor in the slots of a head file, or `None` if both are damaged. A process that
    /// dies while it writes a slot leaves the floor of the commit before in the other one.
    pub(crate) fn newest(head_file: &[u8], salt: u32) -> Option<Self> {
        Self::newest_of(head_file, FLOOR_SLOTS, salt)
    }

    /// Returns the floor in the slots that begin there, as [`Floor::newest`] does.
    pub(crate) fn newest_of(bytes: &[u8], slots: [usize; 2], salt: u32) -> Option<Self> {
        let slot = |at: usize| {
            let slot = bytes.get(at..at + 8 * (FLOOR_WORDS + 1))?;
            let words = std::array::from_fn(|n| u64_at(slot, 8 * n));
            (u64_at(slot, 8 * FLOOR_WORDS) == check(&words, salt)).then(|| Self::read(slot))
        };
        slots.into_iter().filter_map(slot).max_by_key(|floor| floor.turn)
    }
}

impl Floor {
    /// Returns the bytes of a slot.
    pub(crate) fn slot(&self, salt: u32) -> [u8; 8 * (FLOOR_WORDS + 1)] {
        let mut bytes = [0; 8 * (FLOOR_WORDS + 1)];
        let words = self.words();
        for (to, word) in bytes.chunks_exact_mut(8).zip(words.into_iter().chain([check(&words, salt)])) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }
}

/// Returns a word that differs if one of the words does. Multiplications that do not depend on each
/// other cost less than a CRC of so few bytes.
#[inline]
pub(crate) fn check(words: &[u64; FLOOR_WORDS], salt: u32) -> u64 {
    const FACTORS: [u64; FLOOR_WORDS] = [
        0x9e37_79b9_7f4a_7c15,
        0xbf58_476d_1ce4_e5b9,
        0x94d0_49bb_1331_11eb,
        0xd6e8_feb8_6659_fd93,
        0xa076_1d64_78bd_642f,
        0xe703_7ed1_a0b4_28db,
    ];
    let sum =
        words.iter().zip(FACTORS).fold(u64::from(salt) ^ 0x2545_f491_4f6c_dd1d, |sum, (word, factor)| {
            sum.wrapping_add((word ^ factor >> 7).wrapping_mul(factor))
        });
    sum ^ sum >> 29
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Drawing;

    #[test]
    fn a_floor_is_as_it_is_drawn() {
        let drawing = Drawing::of(include_str!("floor.rs"), "A floor in its slot.");
        let (none, all) = (SeqNum::ZERO, SeqNum(u64::MAX));
        let zero = Floor { segment: 0, offset: 0, next_in: none, next_out: none, ..Floor::EMPTY };
        // The last word is a sum of those before it.
        let words = |floor: Floor| floor.slot(9)[..8 * FLOOR_WORDS].to_vec();
        for (field, floor) in [
            ("turn", Floor { turn: u64::MAX, ..zero }),
            ("generation", Floor { generation: Generation(u32::MAX), ..zero }),
            ("segment", Floor { segment: u32::MAX, ..zero }),
            ("offset", Floor { offset: u64::MAX, ..zero }),
            ("next_in", Floor { next_in: all, ..zero }),
            ("next_out", Floor { next_out: all, ..zero }),
        ] {
            drawing.shows(field, &words(zero), &words(floor));
        }
        let slot = zero.slot(9);
        assert_eq!(slot[drawing.place("zeros")], [0; 8]);
        assert_eq!(slot[drawing.place("check")], check(&zero.words(), 9).to_le_bytes());
        assert_eq!(drawing.place("the end").start, slot.len());
    }
}
