//! The sequence numbers of sessions that were closed, for stores that keep them in memory.

use std::collections::{HashMap, VecDeque};

use fixbolt_session::SessionId;

use crate::values::ledger::Ledger;

/// The number of sessions whose sequence numbers are kept. Counterparties may log on under as many
/// identities as they like, so the number must be limited; the session that was closed first is
/// forgotten, and begins at 1.
const KEPT: usize = 4096;

/// Sequence numbers by session.
#[derive(Default)]
pub(crate) struct Closed {
    ledgers: HashMap<SessionId, (u64, Ledger)>,
    /// In the order in which they were closed, each with a number of its own: an entry without a
    /// ledger of the same number was opened again.
    order: VecDeque<(u64, SessionId)>,
    closed: u64,
}

impl Closed {
    /// Keeps the sequence numbers of a session that is closed, if it has used any. No messages are
    /// kept, so that none waits.
    pub(crate) fn keep(&mut self, session: SessionId, mut ledger: Ledger) {
        ledger.waiting.count = 0;
        if ledger == Ledger::default() {
            return;
        }
        self.closed += 1;
        self.order.push_back((self.closed, session.clone()));
        self.ledgers.insert(session, (self.closed, ledger));
        let Self { ledgers, order, .. } = self;
        if order.len() > 2 * KEPT {
            order.retain(|entry| is_kept(ledgers, entry));
        }
        while ledgers.len() > KEPT
            && let Some(entry) = order.pop_front()
        {
            if is_kept(ledgers, &entry) {
                ledgers.remove(&entry.1);
            }
        }
    }

    /// Returns the sequence numbers of a session that is opened; those of a new one if none are
    /// kept.
    pub(crate) fn take(&mut self, session: &SessionId) -> Ledger {
        self.ledgers.remove(session).map(|(_, ledger)| ledger).unwrap_or_default()
    }
}

/// Returns whether an entry of the order has its ledger.
fn is_kept(ledgers: &HashMap<SessionId, (u64, Ledger)>, (number, session): &(u64, SessionId)) -> bool {
    ledgers.get(session).is_some_and(|(kept, _)| kept == number)
}

#[cfg(test)]
mod tests {
    use fixbolt_codec::SeqNum;

    use super::*;

    fn id(n: usize) -> SessionId {
        format!("FIX.4.4:VENUE->T{n}").parse().unwrap()
    }

    fn at(next_out: u64) -> Ledger {
        Ledger { next_out: SeqNum(next_out), ..Ledger::default() }
    }

    #[test]
    fn the_session_that_was_closed_first_is_forgotten() {
        let mut closed = Closed::default();
        for n in 0..KEPT + 10 {
            closed.keep(id(n), at(7));
        }
        assert_eq!(closed.take(&id(9)), Ledger::default());
        assert_eq!(closed.take(&id(10)), at(7));
        assert_eq!(closed.take(&id(10)), Ledger::default());
    }

    #[test]
    fn one_session_that_comes_and_goes_pushes_out_no_other_and_takes_no_more_room() {
        let mut closed = Closed::default();
        closed.keep(id(0), at(5));
        for n in 0..3 * KEPT as u64 {
            closed.keep(id(1), at(n + 2));
            assert_eq!(closed.take(&id(1)), at(n + 2));
        }
        assert_eq!(closed.take(&id(0)), at(5));
        assert!(closed.order.len() <= 2 * KEPT);
    }

    #[test]
    fn a_session_that_has_used_no_number_is_not_kept() {
        let mut closed = Closed::default();
        closed.keep(id(0), Ledger::default());
        assert!(closed.ledgers.is_empty() && closed.order.is_empty());
    }
}
