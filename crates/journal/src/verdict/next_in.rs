//! Where the inbound sequence numbers continue.
//!
//! Records, the floor's slots and the head's copies each say what NextNumIn was after some turn. It
//! is lowered as well as raised: by an operator, and by
//! [`tolerate_low_msg_seq_num_at_logon`](fixbolt_session::ResetSettings). So the latest of them
//! counts, not the largest.

use fixbolt_codec::SeqNum;
use fixbolt_session::store::Generation;

use crate::files::found::Files;
use crate::layout::floor::Floor;
use crate::layout::scan::Scan;

/// Returns NextNumIn in `generation` as the floors say it together, of which one is how far the
/// records reach.
///
/// Of several that say it of the same turn, the last one counts: a repair writes into the head what
/// it found out, beside records that end before that.
pub(crate) fn latest(generation: Generation, floors: impl IntoIterator<Item = Floor>) -> SeqNum {
    let said = floors.into_iter().filter(|floor| floor.generation == generation);
    said.max_by_key(|floor| floor.turn).map_or(SeqNum::ONE, |floor| floor.next_in)
}

impl Files {
    /// Returns the generation in which a start continues. The head or the cookie may know one whose
    /// reset is lost.
    pub(crate) fn generation(&self, scan: &Scan) -> Generation {
        let head = self.head().map(|head| head.generation);
        let cookie = self.own_cookie().map(|cookie| cookie.floor.generation);
        head.into_iter().chain(cookie).fold(scan.ledger.generation, Generation::max)
    }

    /// Returns NextNumIn, as a start continues.
    ///
    /// The floor's slots do not count: after a power loss they may be ahead of the records, and
    /// the counterparty sends again what these do not have. Those of a session whose process died
    /// are as far as the records, or the journal is damaged.
    pub(crate) fn next_in(&self, scan: &Scan) -> SeqNum {
        let made = self.head().and_then(|head| head.made).map(|made| made.floor);
        latest(self.generation(scan), [self.reached(scan)].into_iter().chain(made))
    }
}
