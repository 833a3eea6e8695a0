//! What the world has done, as far as an outcome may have its cause in it.

use std::collections::BTreeMap;

/// Why a session is to leave, and when it was told.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leave {
    pub(super) since: u64,
    pub(super) reason: &'static str,
}

/// What was done since the connection began.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct InConnection {
    pub(super) began_utc: u64,
    pub(super) cut: bool,
    pub(super) lost_in: u32,
    pub(super) lost_out: u32,
    pub(super) paused: bool,
    /// Whether the session has dropped a message from after a gap, for which it had no room: the
    /// answer to its request may not have it.
    pub(super) dropped: bool,
    pub(super) stalled: bool,
    /// The counterparty's Logout, or the end of its connection, was on its way.
    pub(super) peer_left: bool,
    pub(super) leave: Option<Leave>,
    pub(super) logout_written: bool,
    /// The session has followed a reset that had crossed its Logout.
    pub(super) reset_crossed: bool,
    pub(super) logged_on: bool,
    /// The application failed, or the store refused.
    pub(super) failed: bool,
    /// A message waited, perhaps for room in another session.
    pub(super) held: bool,
    /// The clock of its machine has jumped, or is wrong.
    pub(super) jumped: bool,
    /// The session has found a gap.
    pub(super) gap: bool,
}

impl InConnection {
    /// Returns whether anything went wrong in it that delays or loses messages.
    pub(super) fn is_rough(&self) -> bool {
        let lossy = self.lost_in + self.lost_out > 0;
        lossy || self.cut || self.paused || self.stalled || self.failed || self.held
    }
}

/// A reset in the session of which one side cannot know whether the other has followed: the session
/// has begun its numbers anew with its Logon, and the answer has not come.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenReset {
    /// How often the counterparty had followed a reset before.
    pub(super) followed: u32,
    /// Whether the operator was told that the session's numbers are new.
    pub(super) told: bool,
}

#[derive(Debug, Default)]
pub(super) struct Diary {
    pub(super) now: InConnection,
    /// How often each number of the counterparty was lost, in its series: with the message, with a
    /// gap fill, or with the ResendRequest that asked for it.
    lost: BTreeMap<u64, u32>,
    /// How often the number was lost that was lost most often in the series before.
    lost_before: u32,
    /// Runs of lost messages in the direction to the session.
    pub(super) runs: u64,
    /// The operators know that the two sides have different numbers: the store was put back.
    pub(super) disturbed: bool,
    /// A reset in the session that the session has begun and nothing has answered.
    pub(super) open_reset: Option<OpenReset>,
    /// An operator has reset the numbers, or will have.
    pub(super) reset_ordered: bool,
    /// An edge has come while the clock was wrong.
    pub(super) edge_while_wrong: bool,
    /// The clock has jumped, or did not long ago.
    pub(super) clock_jumped: bool,
    /// When the schedule's reset was carried out, if it was.
    pub(super) edge_reset: bool,
    /// Whether the counterparty has carried it out.
    pub(super) peer_edge_reset: bool,
    /// Whether the session has given up on a number: it is requested once in each connection.
    pub(super) gave_up: bool,
    /// Numbers of the counterparty that an operator has skipped.
    pub(super) skipped: Vec<(u64, u64)>,
}

impl Diary {
    pub(super) fn connection_began(&mut self, utc: u64) {
        self.now = InConnection { began_utc: utc, ..InConnection::default() };
    }

    /// Records that numbers were lost, without the last.
    pub(super) fn lost_numbers(&mut self, (from, to): (u64, u64)) {
        // What is lost of a jump is one message.
        let from = if from == 0 { to.saturating_sub(1) } else { from };
        for seq in from..to.min(from + 10_000) {
            *self.lost.entry(seq).or_default() += 1;
        }
    }

    /// The counterparty has begun a new series of numbers.
    pub(super) fn series_began(&mut self) {
        // The session may not know of them yet.
        self.lost_before = self.most_lost_now();
        self.lost.clear();
        self.skipped.clear();
    }

    /// Returns how often the number was lost that was lost most often, in this series or the one
    /// before.
    pub(super) fn most_lost(&self) -> u32 {
        self.most_lost_now().max(self.lost_before)
    }

    /// Returns that of this series.
    fn most_lost_now(&self) -> u32 {
        self.lost.values().copied().max().unwrap_or(0)
    }

    pub(super) fn is_skipped(&self, seq: u64) -> bool {
        self.skipped.iter().any(|(from, to)| (*from..*to).contains(&seq))
    }

    /// Returns whether a message with this number was lost at least once.
    pub(super) fn was_lost(&self, seq: u64) -> bool {
        self.lost.contains_key(&seq)
    }
}

/// The numbers that have arrived whole, from the first one on.
#[derive(Debug, Default)]
pub(super) struct Arrived {
    pub(super) next: u64,
    ahead: BTreeMap<u64, u64>,
}

impl Arrived {
    pub(super) fn begin(&mut self, next: u64) {
        self.next = next;
        self.ahead.clear();
    }

    pub(super) fn add(&mut self, (from, to): (u64, u64)) {
        if from > self.next {
            let end = self.ahead.entry(from).or_default();
            *end = (*end).max(to);
            return;
        }
        self.next = self.next.max(to);
        while let Some((from, to)) = self.ahead.pop_first() {
            if from > self.next {
                self.ahead.insert(from, to);
                break;
            }
            self.next = self.next.max(to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_arrived_is_counted_without_gaps() {
        let mut arrived = Arrived::default();
        arrived.begin(1);
        for (range, next) in [((1, 2), 2), ((4, 6), 2), ((7, 8), 2), ((2, 3), 3), ((3, 4), 6), ((6, 7), 8)] {
            arrived.add(range);
            assert_eq!(arrived.next, next, "{range:?}");
        }
    }
}
