//! A message store that outlives its process: committed records survive the death of the process,
//! durable records survive a power loss.
//!
//! It also checks the session core: it panics if a call violates the contract of a store.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::{Arc, Mutex, MutexGuard};

use fixbolt_codec::SeqNum;
use fixbolt_session::store::{
    ConnectionNumber, Generation, Position, Record, RecordFlags, RecordKind, Recovered, SessionKey, Store,
    StoreError,
};
use fixbolt_session::{Mono, SessionId, Utc};

/// A record that owns its body.
#[derive(Clone)]
pub(crate) struct Kept {
    pub(crate) session: u32,
    pub(crate) kind: RecordKind,
    pub(crate) flags: RecordFlags,
    pub(crate) seq: SeqNum,
    pub(crate) next_in: SeqNum,
    connection: ConnectionNumber,
    cause: Option<SeqNum>,
    utc: Utc,
    mono: Mono,
    pub(crate) body: Vec<u8>,
    pub(crate) generation: Generation,
    position: u64,
}

#[derive(Default)]
pub(crate) struct Platter {
    ids: Vec<SessionId>,
    numbers: Vec<Recovered>,
    pub(crate) log: Vec<Kept>,
    /// The index in `log` of the original message with a sequence number.
    sent: BTreeMap<(u32, u32, u64), usize>,
    /// The length of `log` when the open turn began.
    turn: Option<usize>,
    before: Vec<Recovered>,
    position: u64,
    durable: u64,
    /// Whether commits become durable only when `sync` is called.
    late: bool,
}

/// The store of one process.
#[derive(Clone)]
pub(crate) struct Disk {
    platter: Arc<Mutex<Platter>>,
    /// The body of the record that was read last.
    lent: Vec<u8>,
    /// How far back each session said that it reads messages, since it was opened.
    horizons: Vec<u64>,
}

impl Disk {
    pub(crate) fn new(late: bool) -> Self {
        let platter = Platter { late, ..Platter::default() };
        Self { platter: Arc::new(Mutex::new(platter)), lent: Vec::new(), horizons: Vec::new() }
    }

    pub(crate) fn platter(&self) -> MutexGuard<'_, Platter> {
        self.platter.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Platter {
    pub(crate) fn is_late(&self) -> bool {
        self.late
    }

    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Makes the commits up to `position` durable.
    pub(crate) fn sync(&mut self, position: u64) {
        self.durable = self.durable.max(position.min(self.position));
    }

    /// Makes every commit durable at once, from now on.
    pub(crate) fn stop_being_late(&mut self) {
        self.late = false;
        self.durable = self.position;
    }

    /// Ends the process: an open turn is discarded; with `power`, so is everything that was not
    /// durable.
    pub(crate) fn die(&mut self, power: bool) {
        if self.turn.is_some() {
            self.forget_turn();
        }
        if power {
            let durable = self.durable;
            self.log.retain(|kept| kept.position <= durable);
            self.position = durable;
            for numbers in &mut self.numbers {
                *numbers = Recovered::default();
            }
            self.sent.clear();
            for n in 0..self.log.len() {
                self.count(n);
            }
        }
    }

    /// Returns the latest original message with this sequence number that is durable and accepted
    /// by `wanted`.
    pub(crate) fn durably_sent(
        &self,
        session: u32,
        seq: u64,
        wanted: impl Fn(&Kept) -> bool,
    ) -> Option<&Kept> {
        let generations = (0..=self.numbers[session as usize].generation.0).rev();
        let mut sent = generations.filter_map(|n| Some(&self.log[*self.sent.get(&(session, n, seq))?]));
        sent.find(|kept| (kept.position <= self.durable || !self.late) && wanted(kept))
    }

    pub(crate) fn generation(&self, session: u32) -> u32 {
        self.numbers[session as usize].generation.0
    }

    pub(crate) fn numbers(&self, session: u32) -> (SeqNum, SeqNum) {
        let numbers = &self.numbers[session as usize];
        (numbers.next_in, numbers.next_out)
    }

    /// Returns the bodies of the application messages in one direction, in order.
    pub(crate) fn bodies(&self, session: u32, kind: RecordKind) -> Vec<&[u8]> {
        let wanted = |kept: &&Kept| {
            kept.session == session
                && kept.kind == kind
                && !kept.flags.contains(RecordFlags::ADMIN)
                && (kind == RecordKind::Outbound || kept.flags.contains(RecordFlags::DELIVERED))
        };
        self.log.iter().filter(wanted).map(|kept| kept.body.as_slice()).collect()
    }

    fn forget_turn(&mut self) {
        let Some(from) = self.turn.take() else { return };
        self.log.truncate(from);
        self.sent.retain(|_, at| *at < from);
        self.numbers.clone_from(&self.before);
    }

    /// Updates the totals with record `n` of the log.
    fn count(&mut self, n: usize) {
        let kept = &self.log[n];
        let numbers = &mut self.numbers[kept.session as usize];
        match kept.kind {
            RecordKind::Outbound => {
                assert_eq!(kept.seq, numbers.next_out, "sequence numbers are used in order");
                numbers.next_out = kept.seq.next();
                self.sent.insert((kept.session, kept.generation.0, kept.seq.0), n);
            }
            RecordKind::Reset => {
                numbers.generation = kept.generation;
                numbers.next_out = kept.seq;
                numbers.attempts = 0;
            }
            RecordKind::Adjust => {
                assert!(kept.seq >= numbers.next_out, "NextNumOut never decreases");
                numbers.next_out = kept.seq;
                numbers.attempts = 0;
            }
            RecordKind::Attempt => numbers.attempts += 1,
            RecordKind::Inbound => {}
        }
        if numbers.next_in != kept.next_in {
            assert!(
                kept.next_in > numbers.next_in || kept.kind == RecordKind::Reset,
                "NextNumIn never decreases"
            );
            numbers.next_in = kept.next_in;
            numbers.attempts = 0;
        }
        numbers.connection = kept.connection;
    }
}

impl Store for Disk {
    fn open(&mut self, key: SessionKey, session: &SessionId) -> Result<Recovered, StoreError> {
        let mut platter = self.platter();
        let n = platter.ids.iter().position(|id| id == session).unwrap_or_else(|| {
            platter.ids.push(session.clone());
            platter.numbers.push(Recovered::default());
            platter.ids.len() - 1
        });
        assert_eq!(n, key.index(), "sessions are opened in one order");
        let recovered = platter.numbers[n].clone();
        drop(platter);
        self.horizons.resize(self.horizons.len().max(n + 1), u64::MAX);
        Ok(recovered)
    }

    fn close(&mut self, _: SessionKey) -> Result<(), StoreError> {
        Ok(())
    }

    fn begin(&mut self) {
        let mut platter = self.platter();
        assert!(platter.turn.is_none(), "a turn inside a turn");
        platter.turn = Some(platter.log.len());
        let numbers = platter.numbers.clone();
        platter.before = numbers;
    }

    fn append(&mut self, session: SessionKey, record: &Record<'_>) -> Result<(), StoreError> {
        let mut platter = self.platter();
        assert!(platter.turn.is_some(), "a record outside a turn");
        let mut generation = platter.numbers[session.index()].generation;
        if record.kind == RecordKind::Reset {
            generation.0 += 1;
        }
        let position = platter.position + 1;
        platter.log.push(Kept {
            session: session.index() as u32,
            kind: record.kind,
            flags: record.flags,
            seq: record.seq,
            next_in: record.next_in,
            connection: record.connection,
            cause: record.cause,
            utc: record.utc,
            mono: record.mono,
            body: record.body.to_vec(),
            generation,
            position,
        });
        let n = platter.log.len() - 1;
        platter.count(n);
        Ok(())
    }

    fn commit(&mut self) -> Result<Position, StoreError> {
        let mut platter = self.platter();
        let from = platter.turn.take().expect("a commit ends a turn");
        if platter.log.len() > from {
            platter.position += 1;
        }
        if !platter.late {
            platter.durable = platter.position;
        }
        Ok(Position(platter.position))
    }

    fn rollback(&mut self) {
        self.platter().forget_turn();
    }

    fn durable(&mut self, _: SessionKey) -> Position {
        Position(self.platter().durable)
    }

    fn read(
        &mut self,
        session: SessionKey,
        generation: Generation,
        range: RangeInclusive<SeqNum>,
    ) -> Result<Option<Record<'_>>, StoreError> {
        let platter = self.platter();
        let (from, to) = (range.start().0, range.end().0);
        let numbers = &platter.numbers[session.index()];
        assert_eq!(generation, numbers.generation, "earlier generations are never read");
        assert!(
            from.saturating_add(self.horizons[session.index()]) >= numbers.next_out.0,
            "{from} is read, which the store may have let go of: the horizon is {}, NextNumOut {}",
            self.horizons[session.index()],
            numbers.next_out,
        );
        let keys = (session.index() as u32, generation.0, from)..=(session.index() as u32, generation.0, to);
        let Some((_, n)) = platter.sent.range(keys).next() else { return Ok(None) };
        let kept = platter.log[*n].clone();
        drop(platter);
        self.lent = kept.body;
        Ok(Some(Record {
            kind: kept.kind,
            flags: kept.flags,
            seq: kept.seq,
            next_in: kept.next_in,
            connection: kept.connection,
            cause: kept.cause,
            utc: kept.utc,
            mono: kept.mono,
            body: &self.lent,
        }))
    }

    fn replay(
        &mut self,
        _: SessionKey,
        _: &mut dyn FnMut(Record<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        Ok(())
    }

    fn set_resend_horizon(&mut self, session: SessionKey, messages: u64) {
        assert!(self.platter().turn.is_none(), "told inside a turn");
        self.horizons[session.index()] = messages;
    }

    fn take_failure(&mut self) -> Option<(SessionKey, StoreError)> {
        None
    }
}
