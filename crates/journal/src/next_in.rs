//! Where the inbound sequence numbers continue.
//!
//! Records, the floor's slots and the head's copies each say what NextNumIn was after some turn. It
//! is lowered as well as raised: by an operator, and by
//! [`tolerate_low_msg_seq_num_at_logon`](fixbolt_session::ResetSettings). So the latest of them
//! counts, not the largest.

use fixbolt_codec::SeqNum;
use fixbolt_session::store::Generation;

use crate::files::Files;
use crate::floor::Floor;
use crate::scan::Scan;

/// NextNumIn as a part of the journal has it.
#[derive(Clone, Copy, Debug)]
struct Said {
    generation: Generation,
    /// The turn after which it was so.
    turn: u64,
    next_in: SeqNum,
}

impl From<Floor> for Said {
    fn from(floor: Floor) -> Self {
        Self { generation: floor.generation, turn: floor.turn, next_in: floor.next_in }
    }
}

/// Returns NextNumIn in `generation` as the records and the floors say it together.
///
/// Of several that say it of the same turn, the last floor counts: a repair writes into the head
/// what it found out, beside records that end before that.
pub(crate) fn latest(generation: Generation, scan: &Scan, floors: impl IntoIterator<Item = Floor>) -> SeqNum {
    let (ledger, turn) = (&scan.ledger, scan.last_turn);
    let records = Said { generation: ledger.generation, turn, next_in: ledger.next_in };
    let mut latest = Said { generation, turn: 0, next_in: SeqNum::ONE };
    for said in [records].into_iter().chain(floors.into_iter().map(Said::from)) {
        if said.generation == generation && said.turn >= latest.turn {
            latest = said;
        }
    }
    latest.next_in
}

impl Files {
    /// Returns NextNumIn in `generation`, as a start continues.
    ///
    /// The floor's slots do not count: after a power loss they may be ahead of the records, and
    /// the counterparty sends again what these do not have. Those of a session whose process died
    /// are as far as the records, or the journal is damaged.
    pub(crate) fn next_in(&self, scan: &Scan, generation: Generation) -> SeqNum {
        latest(generation, scan, self.head().and_then(|head| head.made).map(|made| made.floor))
    }
}
