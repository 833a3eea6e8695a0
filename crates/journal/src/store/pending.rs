//! The records of a session whose journal is not on disk yet, in memory.
//!
//! Nothing is sent before they are in the journal, so that what dies with the process was never
//! heard of.

use std::ops::{ControlFlow, RangeInclusive};

use fixbolt_codec::SeqNum;
use fixbolt_session::store::{Generation, Record, StoreError};

use crate::open::log::Log;
use crate::threads::background::Answer;
use crate::values::ledger::{Ledger, is_original};

/// Bytes of records that are kept at most. Whatever would go beyond waits for the journal.
pub(crate) const MOST: usize = 4 << 20;

/// What takes the place of a journal before its creation has ended.
pub(crate) struct Pending {
    pub(crate) horizon: u64,
    /// With the open turn, and without it.
    ledger: Ledger,
    committed: Ledger,
    records: Vec<Kept>,
    bodies: Vec<u8>,
    /// How many of the records, and of the bytes, belong to committed turns.
    committed_records: usize,
    committed_bytes: usize,
    creation: Option<Answer<Box<Log>>>,
    /// Why there will be no journal, and whether that was reported.
    failure: Option<StoreError>,
    is_reported: bool,
}

/// A record without its body, which ends there among the bodies.
struct Kept {
    turn: u64,
    generation: Generation,
    record: Record<'static>,
    end: usize,
}

impl Pending {
    pub(crate) const fn new() -> Self {
        Self {
            horizon: u64::MAX,
            ledger: Ledger::NEW,
            committed: Ledger::NEW,
            records: Vec::new(),
            bodies: Vec::new(),
            committed_records: 0,
            committed_bytes: 0,
            creation: None,
            failure: None,
            is_reported: false,
        }
    }

    /// Returns whether nothing was committed: no journal is needed.
    pub(crate) const fn is_unused(&self) -> bool {
        self.committed_records == 0
    }

    /// Returns whether there is no room for a body of so many bytes.
    pub(crate) const fn is_full(&self, bytes: usize) -> bool {
        self.bodies.len() + bytes > MOST
    }

    pub(crate) fn append(&mut self, turn: u64, record: &Record<'_>) -> Result<(), StoreError> {
        self.refusal()?;
        self.ledger.apply(record)?;
        self.bodies.extend_from_slice(record.body);
        let (generation, end) = (self.ledger.generation, self.bodies.len());
        self.records.push(Kept { turn, generation, record: Record { body: &[], ..*record }, end });
        Ok(())
    }

    pub(crate) const fn commit(&mut self) {
        self.committed = self.ledger;
        (self.committed_records, self.committed_bytes) = (self.records.len(), self.bodies.len());
    }

    pub(crate) fn rollback(&mut self) {
        self.ledger = self.committed;
        self.records.truncate(self.committed_records);
        self.bodies.truncate(self.committed_bytes);
    }

    /// Notes that the journal is being created.
    pub(crate) fn created_by(&mut self, creation: Answer<Box<Log>>) {
        self.creation = Some(creation);
    }

    pub(crate) const fn is_being_created(&self) -> bool {
        self.creation.is_some()
    }

    /// Returns the journal if it is there. A failure is kept.
    pub(crate) fn poll(&mut self) -> Option<Box<Log>> {
        match self.creation.as_ref()?.try_recv() {
            Ok(made) => self.take(made),
            Err(oneshot::TryRecvError::Empty) => None,
            Err(oneshot::TryRecvError::Disconnected) => self.take(Err(gone())),
        }
    }

    /// Waits for the journal.
    pub(crate) fn wait(&mut self) -> Result<Box<Log>, StoreError> {
        let made = self.creation.take().and_then(|creation| creation.recv().ok());
        if let Some(log) = self.take(made.unwrap_or_else(|| Err(self.failure.clone().unwrap_or_else(gone)))) {
            return Ok(log);
        }
        Err(self.failure.clone().unwrap_or_else(gone))
    }

    fn take(&mut self, made: Result<Box<Log>, StoreError>) -> Option<Box<Log>> {
        self.creation = None;
        made.map_err(|error| self.failure = Some(error)).ok()
    }

    /// Fails if there will be no journal.
    pub(crate) fn refusal(&self) -> Result<(), StoreError> {
        self.failure.clone().map_or(Ok(()), Err)
    }

    /// Checks what holds between two turns.
    ///
    /// # Panics
    /// Panics if it does not hold.
    pub(crate) fn check(&self) {
        let Self { ledger, committed, records, bodies, committed_records, committed_bytes, .. } = self;
        assert!(ledger == committed, "the totals are {ledger:?}, and those of turns {committed:?}");
        let (count, bytes) = (records.len(), bodies.len());
        assert!(count == *committed_records, "{count} records are kept, and {committed_records} committed");
        assert!(bytes == *committed_bytes, "{bytes} bytes are kept, and {committed_bytes} committed");
        assert!(bytes <= MOST, "{bytes} bytes are kept, and at most {MOST} may be");
        let end = records.last().map_or(0, |kept| kept.end);
        assert!(end == bytes, "{bytes} bytes are kept, and records have {end}");
        assert!(
            self.creation.is_none() || self.failure.is_none(),
            "the journal is being created, and will never be there"
        );
    }

    /// Keeps a failure, which every later append meets.
    pub(crate) fn fail(&mut self, error: StoreError) {
        self.failure = Some(error);
    }

    /// Returns the failure, once.
    pub(crate) fn take_failure(&mut self) -> Option<StoreError> {
        let failure = self.failure.clone().filter(|_| !self.is_reported)?;
        self.is_reported = true;
        Some(failure)
    }

    /// Writes the records to the journal: those of committed turns as such, and those of the open
    /// one into an open turn.
    pub(crate) fn write_to(&self, log: &mut Log) -> Result<(), StoreError> {
        let mut open = None;
        for (n, kept) in self.records.iter().enumerate() {
            if open.is_some_and(|turn| turn != kept.turn) {
                log.finish();
                log.publish();
            }
            open = Some(kept.turn);
            log.append(kept.turn, &self.record(n))?;
        }
        if open.is_some() && self.records.len() == self.committed_records {
            log.finish();
            log.publish();
        }
        Ok(())
    }

    /// Returns the first message as [`Store::read`](fixbolt_session::store::Store::read) does.
    pub(crate) fn read(&self, generation: Generation, range: &RangeInclusive<SeqNum>) -> Option<Record<'_>> {
        let matches = |n: &usize| {
            let Kept { generation: of, record, .. } = &self.records[*n];
            *of == generation && is_original(record.kind, record.flags) && range.contains(&record.seq)
        };
        (0..self.committed_records).find(matches).map(|n| self.record(n))
    }

    /// Visits the records of the current generation.
    pub(crate) fn replay(&self, visit: &mut dyn FnMut(Record<'_>) -> ControlFlow<()>) {
        let current = self.committed.generation;
        for n in (0..self.committed_records).filter(|n| self.records[*n].generation == current) {
            if visit(self.record(n)).is_break() {
                return;
            }
        }
    }

    fn record(&self, n: usize) -> Record<'_> {
        let begin = n.checked_sub(1).map_or(0, |before| self.records[before].end);
        let Kept { record, end, .. } = &self.records[n];
        Record { body: &self.bodies[begin..*end], ..*record }
    }
}

/// Returns the failure of what the thread was to do when it died.
pub(crate) fn gone() -> StoreError {
    StoreError::Io {
        doing: "creating or closing a journal".to_owned(),
        reason: "the thread fixbolt-files has ended".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open::invariants::tests::said;
    use crate::testing::outbound;

    /// Changes what is kept, and what `check` says then.
    type Damage = (fn(&mut Pending), &'static str);

    const DAMAGES: [Damage; 6] = [
        (|it| it.ledger.next_in = SeqNum(7), "the totals are"),
        (|it| it.records.truncate(1), "1 records are kept, and 2 committed"),
        (|it| it.bodies.push(0), "8 bytes are kept, and 7 committed"),
        (
            |it| (it.bodies, it.committed_bytes) = (vec![0; MOST + 1], MOST + 1),
            "4194305 bytes are kept, and at most 4194304 may be",
        ),
        (|it| it.records[1].end = 6, "7 bytes are kept, and records have 6"),
        (
            |it| {
                it.creation = Some(oneshot::channel().1);
                it.failure = Some(gone());
            },
            "the journal is being created, and will never be there",
        ),
    ];

    #[test]
    fn each_condition_is_seen_to_fail() {
        for (damage, says) in DAMAGES {
            let mut pending = Pending::new();
            pending.check();
            for seq in 1..3 {
                pending.append(seq, &outbound(seq, &b"message"[..2 + seq as usize])).unwrap();
                pending.commit();
                pending.check();
                pending.append(9, &outbound(9, b"rolled back")).unwrap();
                pending.rollback();
                pending.check();
            }
            damage(&mut pending);
            let said = said(|| pending.check());
            assert!(said.contains(says), "{said}, not {says}");
        }
    }
}
