//! The totals of a session's records: sequence numbers, generation, connection, attempts.
//!
//! Every store keeps one `Ledger` of the committed records and one that includes the open turn. It
//! also refuses a record that would use an outbound sequence number twice. It knows nothing of
//! bytes or files.

use fixbolt_codec::SeqNum;
use fixbolt_session::Utc;
use fixbolt_session::store::{
    ConnectionNumber, Generation, Record, RecordFlags, RecordKind, Recovered, StoreError, WaitingMessages,
};

/// The running totals of one session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ledger {
    pub(crate) generation: Generation,
    pub(crate) next_in: SeqNum,
    pub(crate) next_out: SeqNum,
    pub(crate) connection: ConnectionNumber,
    pub(crate) since: Option<Utc>,
    pub(crate) attempts: u32,
    pub(crate) waiting: WaitingMessages,
}

impl Ledger {
    /// The totals of a new journal.
    pub(crate) const NEW: Self = Self {
        generation: Generation(0),
        next_in: SeqNum::ONE,
        next_out: SeqNum::ONE,
        connection: ConnectionNumber(0),
        since: None,
        attempts: 0,
        waiting: WaitingMessages { count: 0, last: 0 },
    };
}

impl Default for Ledger {
    fn default() -> Self {
        Self::NEW
    }
}

/// Returns whether the record is an outbound message as first sent, which a resend reads. A copy
/// with PossDupFlag is stored for the audit only.
pub(crate) fn is_original(kind: RecordKind, flags: RecordFlags) -> bool {
    kind == RecordKind::Outbound && !flags.contains(RecordFlags::POSS_DUP)
}

impl Ledger {
    /// Returns NextNumOut as it would be after a record that a caller wants to store.
    ///
    /// # Errors
    /// Returns [`StoreError::NumberReused`] if NextNumOut would decrease within the generation, or
    /// a sequence number would be used twice.
    #[inline]
    pub(crate) fn check(&self, record: &Record<'_>) -> Result<SeqNum, StoreError> {
        let lowest = match record.kind {
            RecordKind::Outbound if !record.flags.contains(RecordFlags::POSS_DUP) => self.next_out,
            RecordKind::Adjust => self.next_out,
            RecordKind::Outbound | RecordKind::Reset => SeqNum::ONE,
            RecordKind::Inbound | RecordKind::Attempt | RecordKind::Waiting | RecordKind::Dropped => {
                SeqNum::ZERO
            }
        };
        // The largest sequence number is never used, because it has no successor.
        if record.seq < lowest || (lowest != SeqNum::ZERO && record.seq == SeqNum::MAX) {
            return Err(StoreError::NumberReused { seq: record.seq, next_out: self.next_out });
        }
        Ok(self.next_out_after(record))
    }

    /// Adds a record that a caller wants to store.
    ///
    /// # Errors
    /// Returns those of [`Ledger::check`], and adds nothing then.
    #[inline]
    pub(crate) fn apply(&mut self, record: &Record<'_>) -> Result<(), StoreError> {
        self.check(record)?;
        self.add(record);
        Ok(())
    }

    #[inline]
    fn next_out_after(&self, record: &Record<'_>) -> SeqNum {
        match record.kind {
            RecordKind::Outbound => self.next_out.max(record.seq.next()),
            RecordKind::Adjust => self.next_out.max(record.seq),
            RecordKind::Reset => record.seq,
            RecordKind::Attempt | RecordKind::Inbound | RecordKind::Waiting | RecordKind::Dropped => {
                self.next_out
            }
        }
    }

    /// Adds a record that is known to be stored. Never lowers NextNumOut within a generation.
    #[inline]
    pub(crate) fn add(&mut self, record: &Record<'_>) {
        match record.kind {
            RecordKind::Inbound => {}
            RecordKind::Outbound if !record.flags.contains(RecordFlags::WAITED) => {
                self.next_out = self.next_out_after(record);
            }
            _ => self.add_rare(record),
        }
        if record.next_in != self.next_in {
            self.next_in = record.next_in;
            self.attempts = 0;
        }
        if self.since.is_none() {
            self.since = Some(record.utc);
        }
        self.connection = self.connection.max(record.connection);
    }

    /// Adds what records change that are neither the counterparty's messages nor ours that have
    /// not waited.
    #[cold]
    fn add_rare(&mut self, record: &Record<'_>) {
        self.next_out = self.next_out_after(record);
        self.waiting = self.waiting.after(record.kind, record.flags, record.seq);
        match record.kind {
            RecordKind::Adjust => self.attempts = 0,
            RecordKind::Reset => {
                self.generation = Generation(self.generation.0.wrapping_add(1));
                self.since = Some(record.utc);
                self.attempts = 0;
            }
            RecordKind::Attempt if record.seq == self.next_in => {
                self.attempts = self.attempts.saturating_add(1);
            }
            _ => {}
        }
    }

    /// Returns the totals in the form for the session core.
    pub(crate) fn recovered(&self) -> Recovered {
        Recovered {
            generation: self.generation,
            next_in: self.next_in,
            next_out: self.next_out,
            connection: self.connection,
            since: self.since,
            attempts: self.attempts,
            waiting: self.waiting,
            given_up: None,
            in_doubt: None,
            damage: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{attempt, inbound, outbound, reset};

    #[test]
    fn an_outbound_number_is_used_once_and_a_possdup_copy_moves_nothing() {
        let mut ledger = Ledger::default();
        ledger.apply(&outbound(1, b"a")).unwrap();
        ledger.apply(&outbound(2, b"b")).unwrap();
        assert_eq!(
            ledger.apply(&outbound(2, b"c")),
            Err(StoreError::NumberReused { seq: SeqNum(2), next_out: SeqNum(3) })
        );
        let copy = Record { flags: RecordFlags::POSS_DUP, ..outbound(1, b"a") };
        ledger.apply(&copy).unwrap();
        assert_eq!(ledger.next_out, SeqNum(3));
        assert!(ledger.apply(&Record { kind: RecordKind::Adjust, ..outbound(2, b"") }).is_err());
        assert!(ledger.apply(&outbound(u64::MAX, b"")).is_err());
    }

    #[test]
    fn a_reset_opens_the_next_generation_and_lets_numbers_start_again() {
        let mut ledger = Ledger::default();
        ledger.apply(&outbound(9, b"a")).unwrap();
        ledger.apply(&reset(1, 1)).unwrap();
        assert_eq!((ledger.generation, ledger.next_out), (Generation(1), SeqNum(1)));
    }

    #[test]
    fn attempts_count_for_the_next_inbound_message_only() {
        let mut ledger = Ledger::default();
        ledger.apply(&attempt(1)).unwrap();
        ledger.apply(&attempt(1)).unwrap();
        assert_eq!(ledger.attempts, 2);
        ledger.apply(&inbound(1, b"x")).unwrap();
        assert_eq!((ledger.attempts, ledger.next_in), (0, SeqNum(2)));
    }
}
