//! A store in memory: it serves resends as long as its bytes last and forgets everything with the
//! process.
//!
//! Each session has a ring of a fixed number of bytes, in which new records replace the oldest ones
//! when they are committed. Those beyond the session's resend horizon are dropped even if there is
//! room for them. Replaced and dropped messages are gap-filled when requested. It is not durable:
//! after a restart sequence numbers begin at 1.

use std::collections::VecDeque;
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::Arc;

use fixbolt_codec::SeqNum;
use fixbolt_session::store::{
    Abilities, Acknowledges, Committed, ConnectionNumber, Forgets, Generation, OpensLater, Prepares, Record,
    RecordFlags, RecordKind, Recovered, Reports, Seeks, SessionKey, Store, StoreError, StoreKind,
};
use fixbolt_session::{Mono, SessionId, Utc, WorkerWaker};
use memmap2::MmapMut;

use crate::store::closed::Closed;
use crate::store::per_session::{Kept, PerSession};
use crate::values::ledger::{Ledger, is_original};

/// A message store in memory with a limited number of bytes per session.
///
/// ```
/// use fixbolt_journal::MemoryStore;
/// use fixbolt_session::runtime::session_key;
/// use fixbolt_session::store::Store;
/// let mut store = MemoryStore::with_limit(1 << 20);
/// let key = session_key(0, 0, 0);
/// let recovered = store.open(key, &"FIX.4.4:VENUE->TRADER".parse()?)?;
/// assert_eq!(recovered.next_out.0, 1);
/// assert!(store.kind().keeps_messages);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct MemoryStore {
    limit: usize,
    sessions: PerSession<Session>,
    closed: Closed,
}

impl MemoryStore {
    /// Default number of bytes per session: 16 MiB, some 50,000 messages.
    pub const DEFAULT_LIMIT: usize = 16 << 20;

    /// Creates a store that keeps the last `limit` bytes of every session (messages and 96 bytes of
    /// bookkeeping each).
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        Self { limit, sessions: PerSession::default(), closed: Closed::default() }
    }

    /// Creates a store with [`MemoryStore::DEFAULT_LIMIT`].
    #[must_use]
    pub fn new() -> Self {
        Self::with_limit(Self::DEFAULT_LIMIT)
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

struct Session {
    committed: Ledger,
    pending: Ledger,
    ring: Ring,
    /// How far back from NextNumOut messages are read at most.
    horizon: u64,
}

impl Kept for Session {
    fn publish(&mut self) {
        self.committed = self.pending;
        self.ring.commit();
        if self.horizon != u64::MAX {
            let Ledger { generation, next_out, .. } = self.committed;
            self.ring.let_go(generation, SeqNum(next_out.0.saturating_sub(self.horizon)));
        }
    }

    fn rollback(&mut self) {
        self.pending = self.committed;
        self.ring.open.clear();
    }
}

impl Store for MemoryStore {
    fn open(&mut self, key: SessionKey, session: &SessionId) -> Result<Recovered, StoreError> {
        if self.sessions.has(session) {
            return Err(StoreError::Locked {
                place: format!("{session} in memory"),
                holder: "this process".to_owned(),
            });
        }
        // Before its sequence numbers are taken: they must not be lost if there is no memory.
        let ring = Ring::new(self.limit)?;
        let ledger = self.closed.take(session);
        let kept = Session { committed: ledger, pending: ledger, ring, horizon: u64::MAX };
        self.sessions.open(key, session, kept);
        Ok(ledger.recovered())
    }

    /// Keeps the sequence numbers of the 4,096 sessions that were closed last, and no messages.
    fn close(&mut self, session: SessionKey) -> Result<(), StoreError> {
        if let Some(open) = self.sessions.close(session) {
            self.closed.keep(open.id, open.kept.committed);
        }
        Ok(())
    }

    fn begin(&mut self) {
        self.sessions.begin();
    }

    fn append(&mut self, session: SessionKey, record: &Record<'_>) -> Result<(), StoreError> {
        let (kept, _) = self.sessions.touch(session);
        let mut pending = kept.pending;
        pending.apply(record)?;
        kept.ring.push(pending.generation, record)?;
        kept.pending = pending;
        Ok(())
    }

    fn commit(&mut self) -> Result<Committed, StoreError> {
        Ok(Committed { position: self.sessions.commit(|_, _| ()), is_durable: true })
    }

    fn rollback(&mut self) {
        self.sessions.rollback();
    }

    fn read(
        &mut self,
        session: SessionKey,
        generation: Generation,
        range: RangeInclusive<SeqNum>,
    ) -> Result<Option<Record<'_>>, StoreError> {
        Ok(self.sessions.kept(session).ring.find(generation, range))
    }

    fn replay(
        &mut self,
        session: SessionKey,
        visit: &mut dyn FnMut(Record<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let s = self.sessions.kept(session);
        for n in s.ring.first_of(s.committed.generation)..s.ring.entries.len() {
            if visit(s.ring.record(n)).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn kind(&self) -> StoreKind {
        StoreKind { keeps_messages: true, survives_close: false }
    }

    fn abilities(&mut self) -> Option<&mut dyn Abilities> {
        Some(self)
    }
}

impl Abilities for MemoryStore {
    fn set_waker(&mut self, _: Arc<dyn WorkerWaker>) {}

    fn opens_later(&mut self) -> Option<&mut dyn OpensLater> {
        None
    }

    fn acknowledges(&mut self) -> Option<&mut dyn Acknowledges> {
        None
    }

    fn reports(&mut self) -> Option<&mut dyn Reports> {
        None
    }

    fn prepares(&mut self) -> Option<&mut dyn Prepares> {
        None
    }

    fn forgets(&mut self) -> Option<&mut dyn Forgets> {
        Some(self)
    }

    fn seeks(&mut self) -> Option<&mut dyn Seeks> {
        None
    }
}

impl Forgets for MemoryStore {
    /// Takes effect with the next commit, so that a rollback loses nothing.
    fn set_resend_horizon(&mut self, session: SessionKey, messages: u64) {
        if let Some(open) = self.sessions.at_mut(session.index()) {
            open.kept.horizon = messages;
        }
    }
}

/// Records in the order in which they were appended. Those of the open turn are kept apart, so that
/// they replace the oldest ones only when they are committed.
struct Ring {
    /// Memory of its own, not the allocator's: an allocator that gets it back hands it out again
    /// for the next session, and then all of it is in use because it must be zeroed.
    bytes: MmapMut,
    /// Where the next body goes.
    tail: usize,
    /// The committed records.
    entries: VecDeque<Entry>,
    /// Number of entries dropped at the front since the beginning.
    dropped: u64,
    /// Positions (counted from the beginning) of the original outbound messages, ascending by
    /// generation and sequence number.
    originals: VecDeque<u64>,
    open: OpenTurn,
}

/// The records of a turn that is not committed.
#[derive(Default)]
struct OpenTurn {
    bodies: Vec<u8>,
    /// Their offsets are those in `bodies`.
    entries: Vec<Entry>,
}

struct Entry {
    offset: usize,
    length: usize,
    generation: Generation,
    kind: RecordKind,
    flags: RecordFlags,
    seq: SeqNum,
    next_in: SeqNum,
    connection: ConnectionNumber,
    cause: Option<SeqNum>,
    utc: Utc,
    mono: Mono,
}

/// Bytes that a record takes in addition to its body. This also limits the number of entries if
/// bodies are empty.
const BOOKKEEPING: usize = 96;

impl OpenTurn {
    /// Returns the number of bytes that the turn takes in the ring.
    fn size(&self) -> usize {
        self.bodies.len() + self.entries.len() * BOOKKEEPING
    }

    fn clear(&mut self) {
        self.bodies.clear();
        self.entries.clear();
    }
}

impl Ring {
    fn new(limit: usize) -> Result<Self, StoreError> {
        let bytes = MmapMut::map_anon(limit.max(1)).map_err(|error| StoreError::Io {
            doing: format!("reserving {limit} bytes of memory"),
            reason: error.to_string(),
        })?;
        Ok(Self {
            bytes,
            tail: 0,
            entries: VecDeque::new(),
            dropped: 0,
            originals: VecDeque::new(),
            open: OpenTurn::default(),
        })
    }

    /// Adds a record to the open turn, all of which must fit into the ring.
    fn push(&mut self, generation: Generation, r: &Record<'_>) -> Result<(), StoreError> {
        let size = self.open.size().saturating_add(r.body.len()).saturating_add(BOOKKEEPING);
        if size > self.bytes.len() {
            return Err(StoreError::TooLarge { bytes: r.body.len(), limit: self.bytes.len() });
        }
        self.open.entries.push(Entry {
            offset: self.open.bodies.len(),
            length: r.body.len(),
            generation,
            kind: r.kind,
            flags: r.flags,
            seq: r.seq,
            next_in: r.next_in,
            connection: r.connection,
            cause: r.cause,
            utc: r.utc,
            mono: r.mono,
        });
        self.open.bodies.extend_from_slice(r.body);
        Ok(())
    }

    /// Moves the open turn into the ring, where it replaces the oldest records. It is stored in one
    /// piece, so that every turn that is not larger than the ring fits.
    fn commit(&mut self) {
        let size = self.open.size();
        if self.tail + size > self.bytes.len() {
            // The bytes up to the end remain unused in this round; a record there is the oldest.
            while self.entries.front().is_some_and(|e| e.offset >= self.tail) {
                self.drop_oldest();
            }
            self.tail = 0;
        }
        let end = self.tail + size;
        while self
            .entries
            .front()
            .is_some_and(|e| e.offset < end && self.tail < e.offset + e.length + BOOKKEEPING)
        {
            self.drop_oldest();
        }
        for entry in self.open.entries.drain(..) {
            let body = &self.open.bodies[entry.offset..entry.offset + entry.length];
            self.bytes[self.tail..self.tail + entry.length].copy_from_slice(body);
            if is_original(entry.kind, entry.flags) {
                self.originals.push_back(self.dropped + self.entries.len() as u64);
            }
            self.entries.push_back(Entry { offset: self.tail, ..entry });
            self.tail += entry.length + BOOKKEEPING;
        }
        self.open.bodies.clear();
    }

    fn drop_oldest(&mut self) {
        self.entries.pop_front();
        if self.originals.front() == Some(&self.dropped) {
            self.originals.pop_front();
        }
        self.dropped += 1;
    }

    /// Drops the original messages before `first` and of earlier generations, and every record in
    /// front of the last of them.
    fn let_go(&mut self, generation: Generation, first: SeqNum) {
        while let Some(oldest) = self.originals.front().copied() {
            let e = &self.entries[(oldest - self.dropped) as usize];
            if (e.generation, e.seq) >= (generation, first) {
                return;
            }
            while self.dropped <= oldest {
                self.drop_oldest();
            }
        }
    }

    fn record(&self, n: usize) -> Record<'_> {
        let e = &self.entries[n];
        Record {
            kind: e.kind,
            flags: e.flags,
            seq: e.seq,
            next_in: e.next_in,
            connection: e.connection,
            cause: e.cause,
            utc: e.utc,
            mono: e.mono,
            body: &self.bytes[e.offset..e.offset + e.length],
        }
    }

    fn find(&self, generation: Generation, range: RangeInclusive<SeqNum>) -> Option<Record<'_>> {
        let index = |n: &u64| (*n - self.dropped) as usize;
        let first = self.originals.partition_point(|n| {
            let e = &self.entries[index(n)];
            (e.generation, e.seq) < (generation, *range.start())
        });
        let n = index(self.originals.get(first)?);
        let e = &self.entries[n];
        (e.generation == generation && range.contains(&e.seq)).then(|| self.record(n))
    }

    fn first_of(&self, generation: Generation) -> usize {
        self.entries.partition_point(|e| e.generation < generation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{inbound, opened, outbound, reset};

    fn numbers(store: &mut MemoryStore, key: SessionKey) -> Vec<u64> {
        let mut all = Vec::new();
        store
            .replay(key, &mut |r| {
                all.push(r.seq.0);
                ControlFlow::Continue(())
            })
            .unwrap();
        all
    }

    #[test]
    fn a_committed_message_is_read_back_and_a_rolled_back_one_leaves_nothing() {
        let mut store = MemoryStore::new();
        let (key, recovered) = opened(&mut store, "A").unwrap();
        assert_eq!(recovered, Recovered::default());
        store.begin();
        store.append(key, &inbound(1, b"in")).unwrap();
        store.append(key, &Record { next_in: SeqNum(2), ..outbound(1, b"one") }).unwrap();
        assert_eq!(store.read(key, Generation(0), SeqNum(1)..=SeqNum::MAX).unwrap(), None);
        let p = store.commit().unwrap();
        store.begin();
        store.append(key, &Record { next_in: SeqNum(2), ..outbound(2, b"two") }).unwrap();
        store.rollback();
        let found = store.read(key, Generation(0), SeqNum(1)..=SeqNum::MAX).unwrap().unwrap();
        assert_eq!(found.body, b"one");
        assert_eq!(store.read(key, Generation(0), SeqNum(2)..=SeqNum::MAX).unwrap(), None);
        store.begin();
        assert_eq!(store.commit().unwrap(), p, "an empty turn is where the last one was");
        store.close(key).unwrap();
        let (again, recovered) = opened(&mut store, "A").unwrap();
        assert_eq!((again, recovered.next_in, recovered.next_out), (key, SeqNum(2), SeqNum(2)));
    }

    #[test]
    fn the_oldest_messages_make_room_and_are_gone() {
        let mut store = MemoryStore::with_limit(1000);
        let (key, _) = opened(&mut store, "A").unwrap();
        for n in 1..=100 {
            store.begin();
            store.append(key, &outbound(n, format!("message {n}").as_bytes())).unwrap();
            store.commit().unwrap();
        }
        let kept = numbers(&mut store, key);
        assert_eq!(kept.last(), Some(&100));
        assert!((5..=9).contains(&kept.len()), "{kept:?}");
        for n in 1..=100 {
            let found =
                store.read(key, Generation(0), SeqNum(n)..=SeqNum(n)).unwrap().map(|r| r.body.to_vec());
            assert_eq!(found, kept.contains(&n).then(|| format!("message {n}").into_bytes()));
        }
    }

    #[test]
    fn a_turn_larger_than_the_ring_is_refused_and_rolled_back() {
        let mut store = MemoryStore::with_limit(400);
        let (key, _) = opened(&mut store, "A").unwrap();
        store.begin();
        store.append(key, &outbound(1, &[b'x'; 100])).unwrap();
        store.append(key, &outbound(2, &[b'x'; 100])).unwrap();
        assert!(matches!(store.append(key, &outbound(3, &[b'x'; 100])), Err(StoreError::TooLarge { .. })));
        store.rollback();
        assert!(numbers(&mut store, key).is_empty());
        store.begin();
        store.append(key, &outbound(1, b"y")).unwrap();
        store.commit().unwrap();
        assert_eq!(numbers(&mut store, key), [1]);
    }

    #[test]
    fn a_turn_that_is_rolled_back_drops_no_committed_message() {
        // At every fill of the ring: below its limit, at it, and after it has wrapped.
        for committed in 1..=40 {
            let mut store = MemoryStore::with_limit(1000);
            let (key, _) = opened(&mut store, "A").unwrap();
            for n in 1..=committed {
                store.begin();
                store.append(key, &outbound(n, format!("message {n}").as_bytes())).unwrap();
                store.commit().unwrap();
            }
            let before = numbers(&mut store, key);
            for size in [1, 200, 900] {
                store.begin();
                store.append(key, &outbound(committed + 1, &vec![b'x'; size])).unwrap();
                assert_eq!(numbers(&mut store, key), before, "an open turn drops nothing either");
                store.rollback();
            }
            // A turn that does not fit is rolled back, too.
            store.begin();
            for n in 1.. {
                if store.append(key, &outbound(committed + n, &[b'x'; 100])).is_err() {
                    break;
                }
            }
            store.rollback();
            assert_eq!(numbers(&mut store, key), before, "of {committed}");
            for n in before {
                let found = store.read(key, Generation(0), SeqNum(n)..=SeqNum(n)).unwrap();
                let body = found.map(|record| record.body.to_vec());
                assert_eq!(body, Some(format!("message {n}").into_bytes()), "of {committed}");
            }
        }
    }

    #[test]
    fn a_turn_as_large_as_the_ring_fits_wherever_the_last_one_ended() {
        for first in [1, 50, 104] {
            let mut store = MemoryStore::with_limit(400);
            let (key, _) = opened(&mut store, "A").unwrap();
            store.begin();
            store.append(key, &outbound(1, &vec![b'x'; first])).unwrap();
            store.commit().unwrap();
            store.begin();
            store.append(key, &outbound(2, &[b'y'; 104])).unwrap();
            store.append(key, &outbound(3, &[b'z'; 104])).unwrap();
            store.commit().unwrap();
            assert_eq!(numbers(&mut store, key), [2, 3]);
        }
    }

    #[test]
    fn a_generation_hides_the_numbers_of_the_one_before() {
        let mut store = MemoryStore::new();
        let (key, _) = opened(&mut store, "A").unwrap();
        store.begin();
        store.append(key, &outbound(1, b"old")).unwrap();
        store.commit().unwrap();
        store.begin();
        store.append(key, &reset(1, 1)).unwrap();
        store.append(key, &outbound(1, b"new")).unwrap();
        store.commit().unwrap();
        let all = SeqNum(1)..=SeqNum::MAX;
        assert_eq!(store.read(key, Generation(0), all.clone()).unwrap().unwrap().body, b"old");
        assert_eq!(store.read(key, Generation(1), all).unwrap().unwrap().body, b"new");
        assert_eq!(numbers(&mut store, key), [1, 1], "the reset and its first message");
    }

    /// Commits outbound messages with these sequence numbers, each after an inbound one.
    fn exchange(store: &mut MemoryStore, key: SessionKey, seqs: std::ops::RangeInclusive<u64>) {
        for n in seqs {
            store.begin();
            store.append(key, &inbound(n, b"in")).unwrap();
            store.append(key, &Record { next_in: SeqNum(n + 1), ..outbound(n, b"out") }).unwrap();
            store.commit().unwrap();
        }
    }

    fn first(store: &mut MemoryStore, key: SessionKey, generation: u32) -> Option<u64> {
        let all = SeqNum(1)..=SeqNum::MAX;
        store.read(key, Generation(generation), all).unwrap().map(|record| record.seq.0)
    }

    #[test]
    fn messages_beyond_the_horizon_are_let_go_of_with_what_is_older_and_others_are_not() {
        let mut store = MemoryStore::new();
        let (key, _) = opened(&mut store, "A").unwrap();
        exchange(&mut store, key, 1..=20);
        assert_eq!(first(&mut store, key, 0), Some(1), "without a horizon everything is kept");
        store.set_resend_horizon(key, 5);
        assert_eq!(first(&mut store, key, 0), Some(1), "until the next commit");
        store.begin();
        store.append(key, &Record { next_in: SeqNum(21), ..outbound(21, b"out") }).unwrap();
        store.rollback();
        assert_eq!(first(&mut store, key, 0), Some(1), "a rollback lets go of nothing");
        exchange(&mut store, key, 21..=21);
        assert_eq!(first(&mut store, key, 0), Some(17));
        assert_eq!(numbers(&mut store, key), [17, 17, 18, 18, 19, 19, 20, 20, 21, 21]);
        store.set_resend_horizon(key, 7);
        exchange(&mut store, key, 22..=23);
        assert_eq!(first(&mut store, key, 0), Some(17), "a larger horizon keeps more from now on");
        exchange(&mut store, key, 24..=24);
        assert_eq!(first(&mut store, key, 0), Some(18));
        store.set_resend_horizon(key, u64::MAX);
        exchange(&mut store, key, 25..=50);
        assert_eq!(first(&mut store, key, 0), Some(18));
    }

    #[test]
    fn a_horizon_lets_go_of_earlier_generations_and_not_of_the_whole_of_a_new_one() {
        let mut store = MemoryStore::new();
        let (key, _) = opened(&mut store, "A").unwrap();
        store.set_resend_horizon(key, 5);
        exchange(&mut store, key, 1..=20);
        store.begin();
        store.append(key, &reset(1, 1)).unwrap();
        store.commit().unwrap();
        assert_eq!((first(&mut store, key, 0), numbers(&mut store, key)), (None, vec![1]));
        exchange(&mut store, key, 1..=3);
        assert_eq!(first(&mut store, key, 1), Some(1));
        assert_eq!(numbers(&mut store, key), [1, 1, 1, 2, 2, 3, 3], "the reset is kept as well");
        exchange(&mut store, key, 4..=6);
        assert_eq!(first(&mut store, key, 1), Some(2));
    }

    #[test]
    #[should_panic(expected = "append outside a turn")]
    fn appending_outside_a_turn_is_the_callers_mistake() {
        let mut store = MemoryStore::new();
        let (key, _) = opened(&mut store, "A").unwrap();
        let _ = store.append(key, &outbound(1, b"x"));
    }
}
