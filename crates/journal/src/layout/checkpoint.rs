//! The first record of a segment: what all segments before it add up to, so that opening a journal
//! does not have to read them.

use fixbolt_codec::SeqNum;
use fixbolt_session::Utc;
use fixbolt_session::store::{ConnectionNumber, Generation, WaitingMessages};

use crate::layout::records::{record_size, u32_at, u64_at};
use crate::layout::scan::Totals;
use crate::values::ledger::Ledger;

/// A place in a journal by the number of its segment, which does not change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Spot {
    pub(crate) segment: u32,
    pub(crate) offset: u32,
}

/// The totals of everything that was committed before the turn in which a segment begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Checkpoint {
    pub(crate) ledger: Ledger,
    pub(crate) last_turn: u64,
    pub(crate) turn_before: u64,
    pub(crate) turns: u64,
    /// Where the first record of the current generation is.
    pub(crate) generation_start: Spot,
    /// Where the turn begins that continues after this record. It was committed if its first record
    /// is there.
    pub(crate) turn_start: Spot,
}

impl Checkpoint {
    /// Length of the body. The last 32 bytes are reserved for the digest of what comes before, and
    /// zero.
    pub(crate) const LENGTH: usize = 120;
    /// Length of the record.
    pub(crate) const SIZE: usize = record_size(Self::LENGTH);

    pub(crate) fn encode(&self) -> [u8; Self::LENGTH] {
        let Self { ledger, last_turn, turn_before, turns, generation_start, turn_start } = *self;
        let halves = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let words = [
            halves(ledger.generation.0, ledger.connection.0),
            ledger.next_in.0,
            ledger.next_out.0,
            // The beginning of a generation is never at zero, in 1970.
            ledger.since.map_or(0, |utc| utc.0),
            halves(ledger.attempts, ledger.waiting.count),
            last_turn,
            turn_before,
            turns,
            halves(generation_start.segment, generation_start.offset),
            halves(turn_start.segment, turn_start.offset),
            ledger.waiting.last,
        ];
        let mut bytes = [0; Self::LENGTH];
        for (to, word) in bytes.chunks_exact_mut(8).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Reads a body; `None` if it is too short.
    pub(crate) fn decode(b: &[u8]) -> Option<Self> {
        let b = b.get(..Self::LENGTH)?;
        let spot = |at| Spot { segment: u32_at(b, at), offset: u32_at(b, at + 4) };
        Some(Self {
            ledger: Ledger {
                generation: Generation(u32_at(b, 0)),
                connection: ConnectionNumber(u32_at(b, 4)),
                next_in: SeqNum(u64_at(b, 8)),
                next_out: SeqNum(u64_at(b, 16)),
                since: Some(Utc(u64_at(b, 24))).filter(|utc| utc.0 != 0),
                attempts: u32_at(b, 32),
                waiting: WaitingMessages { count: u32_at(b, 36), last: u64_at(b, 80) },
            },
            last_turn: u64_at(b, 40),
            turn_before: u64_at(b, 48),
            turns: u64_at(b, 56),
            generation_start: spot(64),
            turn_start: spot(72),
        })
    }

    /// Returns the totals from which a scan goes on.
    pub(crate) fn totals(&self) -> Totals {
        Totals {
            ledger: self.ledger,
            last_turn: self.last_turn,
            turn_before: self.turn_before,
            turns: self.turns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_total_is_read_back() {
        let ledger = Ledger {
            generation: Generation(1),
            next_in: SeqNum(2),
            next_out: SeqNum(3),
            connection: ConnectionNumber(4),
            since: Some(Utc(5)),
            attempts: 6,
            waiting: WaitingMessages { count: 14, last: 15 },
        };
        let spot = |segment| Spot { segment, offset: segment + 1 };
        let checkpoint = Checkpoint {
            ledger,
            last_turn: 7,
            turn_before: 8,
            turns: 9,
            generation_start: spot(10),
            turn_start: spot(12),
        };
        assert_eq!(Checkpoint::decode(&checkpoint.encode()), Some(checkpoint));
        let new = Checkpoint { ledger: Ledger::default(), ..checkpoint };
        assert_eq!(Checkpoint::decode(&new.encode()), Some(new));
        assert_eq!(Checkpoint::decode(&[0; Checkpoint::LENGTH - 1]), None);
    }
}
