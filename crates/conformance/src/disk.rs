//! A message store that outlives its process: committed records survive the death of the process,
//! durable records survive a power loss.
//!
//! It also checks the session core: it panics if a call violates the contract of a store.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, RangeInclusive};
use std::panic::panic_any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fixbolt_codec::SeqNum;
use fixbolt_session::store::{
    Abilities, Acknowledges, Committed, ConnectionNumber, Forgets, Generation, OpensLater, Position,
    Prepares, Record, RecordFlags, RecordKind, Recovered, Reports, Seeks, SessionKey, Store, StoreError,
    WaitingMessages,
};
use fixbolt_session::{Mono, SessionId, Utc, WorkerWaker};

/// A record that owns its body.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The index of the session's key.
    pub session: u32,
    /// The direction of the message, or the kind of the record.
    pub kind: RecordKind,
    /// The record's flags.
    pub flags: RecordFlags,
    /// MsgSeqNum (34) of the message. For [`RecordKind::Reset`] and [`RecordKind::Adjust`]: the new
    /// NextNumOut.
    pub seq: SeqNum,
    /// NextNumIn after the transaction is committed.
    pub next_in: SeqNum,
    connection: ConnectionNumber,
    cause: Option<SeqNum>,
    utc: Utc,
    mono: Mono,
    /// The whole message as sent or received (secrets masked), or the text of the other kinds.
    pub body: Vec<u8>,
    /// The generation that the record belongs to.
    pub generation: Generation,
    /// The commit that it belongs to, counted from 1.
    pub position: u64,
}

impl Kept {
    fn record(&self) -> Record<'_> {
        let Self { kind, flags, seq, next_in, connection, cause, utc, mono, .. } = *self;
        Record { kind, flags, seq, next_in, connection, cause, utc, mono, body: &self.body }
    }
}

/// The payload of the panic with which a process dies in a call of its store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Died;

/// What is on the disk.
#[derive(Clone, Debug, Default)]
pub struct Platter {
    ids: Vec<SessionId>,
    numbers: Vec<Recovered>,
    /// Every record, in order.
    pub log: Vec<Kept>,
    /// The index in `log` of the original message with a sequence number.
    sent: BTreeMap<(u32, u32, u64), usize>,
    /// The length of `log` when the open turn began.
    turn: Option<usize>,
    before: Vec<Recovered>,
    position: u64,
    durable: u64,
    /// Whether commits become durable only when `sync` is called.
    late: bool,
    /// Whether every record is refused, as by a full disk.
    pub refuses: bool,
    /// After how many calls of the store it begins to refuse.
    pub refuses_in: Option<u32>,
    /// After how many calls of the store the process dies in one, with [`Died`].
    pub dies_in: Option<u32>,
    /// Calls that begin, extend or end a transaction.
    calls: u32,
    /// The call after which `remembered` is taken, if one is awaited.
    remember_after: Option<u32>,
    remembered: Option<Box<Platter>>,
}

/// The store of one process.
#[derive(Clone, Debug)]
pub struct Disk {
    platter: Arc<Mutex<Platter>>,
    /// The body of the record that was read last.
    lent: Vec<u8>,
    /// How far back each session said that it reads messages, since it was opened.
    horizons: Vec<u64>,
}

impl Disk {
    /// Returns an empty disk. If it is `late`, commits become durable only by [`Platter::sync`].
    #[must_use]
    pub fn new(late: bool) -> Self {
        let platter = Platter { late, ..Platter::default() };
        Self { platter: Arc::new(Mutex::new(platter)), lent: Vec::new(), horizons: Vec::new() }
    }

    /// Returns what is on the disk.
    pub fn platter(&self) -> MutexGuard<'_, Platter> {
        self.platter.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call of the store, in which the process may die.
    fn call(&self) -> MutexGuard<'_, Platter> {
        let mut platter = self.platter();
        match &mut platter.dies_in {
            // Whoever catches the panic dies with the next call.
            Some(0) => {
                drop(platter);
                panic_any(Died);
            }
            Some(left) => *left -= 1,
            None => {}
        }
        match &mut platter.refuses_in {
            Some(0) => (platter.refuses, platter.refuses_in) = (true, None),
            Some(left) => *left -= 1,
            None => {}
        }
        platter
    }
}

impl Platter {
    /// Returns whether commits become durable only by [`Platter::sync`].
    #[must_use]
    pub fn is_late(&self) -> bool {
        self.late
    }

    /// Returns the position of the last commit.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Returns how many of the commits are durable.
    #[must_use]
    pub fn durable(&self) -> u64 {
        self.durable
    }

    /// Makes the commits up to `position` durable.
    pub fn sync(&mut self, position: u64) {
        self.durable = self.durable.max(position.min(self.position));
    }

    /// Makes every commit durable at once, from now on.
    pub fn stop_being_late(&mut self) {
        self.late = false;
        self.durable = self.position;
    }

    /// Ends the process: an open turn is discarded; with `power`, so is everything that was not
    /// durable.
    pub fn die(&mut self, power: bool) {
        self.dies_in = None;
        if self.turn.is_some() {
            self.forget_turn();
        }
        if power {
            self.lose_after(self.durable);
        }
    }

    /// Loses the commits after `position`.
    pub fn lose_after(&mut self, position: u64) {
        self.log.retain(|kept| kept.position <= position);
        (self.position, self.durable) = (position, self.durable.min(position));
        for numbers in &mut self.numbers {
            *numbers = Recovered::default();
        }
        self.sent.clear();
        for n in 0..self.log.len() {
            self.count(n);
        }
    }

    /// Returns how many calls have begun, extended or ended a transaction: the points at which a
    /// process can die and leave different contents.
    #[must_use]
    pub fn calls(&self) -> u32 {
        self.calls
    }

    /// Remembers the contents as they will be after `calls` more calls.
    pub fn remember_after(&mut self, calls: u32) {
        self.remember_after = Some(self.calls + calls);
    }

    /// Remembers the contents as they are, unless a turn is open.
    pub fn remember(&mut self) {
        if self.turn.is_none() {
            self.remembered = None;
            self.remembered = Some(Box::new(self.clone()));
        }
    }

    /// Returns whether contents are remembered.
    #[must_use]
    pub fn remembers(&self) -> bool {
        self.remembered.is_some()
    }

    /// Returns to the contents that were remembered, as if the process had done nothing since, or
    /// somebody had restored an old copy of the files. How the disk treats new records stays as it
    /// is. Returns whether there were any.
    pub fn return_to_remembered(&mut self) -> bool {
        self.remember_after = None;
        let Some(remembered) = self.remembered.take() else { return false };
        let Self { late, refuses, refuses_in, dies_in, .. } = *self;
        *self = Self { late, refuses, refuses_in, dies_in, ..*remembered };
        true
    }

    /// Counts a call.
    fn called(&mut self) {
        self.calls += 1;
        if self.remember_after.is_some_and(|after| after == self.calls) {
            (self.remember_after, self.remembered) = (None, None);
            self.remembered = Some(Box::new(self.clone()));
        }
    }

    /// Returns the latest original message with this sequence number that is durable and accepted
    /// by `wanted`.
    pub fn durably_sent(&self, session: u32, seq: u64, wanted: impl Fn(&Kept) -> bool) -> Option<&Kept> {
        let generations = (0..=self.numbers[session as usize].generation.0).rev();
        let mut sent = generations.filter_map(|n| Some(&self.log[*self.sent.get(&(session, n, seq))?]));
        sent.find(|kept| (kept.position <= self.durable || !self.late) && wanted(kept))
    }

    /// Returns the session's generation; 0 before it is opened.
    #[must_use]
    pub fn generation(&self, session: u32) -> u32 {
        self.numbers.get(session as usize).map_or(0, |numbers| numbers.generation.0)
    }

    /// Returns NextNumIn and NextNumOut of a session; 1 and 1 before it is opened.
    #[must_use]
    pub fn numbers(&self, session: u32) -> (SeqNum, SeqNum) {
        let numbers = self.numbers.get(session as usize);
        numbers.map_or((SeqNum::ONE, SeqNum::ONE), |numbers| (numbers.next_in, numbers.next_out))
    }

    /// Returns generation, sequence number and what `pick` finds in the body of each application
    /// message in one direction, in order; those that the counterparty sent, if they were
    /// processed.
    pub fn application<T>(
        &self,
        session: u32,
        kind: RecordKind,
        mut pick: impl FnMut(&[u8]) -> Option<T>,
    ) -> Vec<(u32, u64, T)> {
        let wanted = self.log.iter().filter(|kept| {
            kept.session == session
                && kept.kind == kind
                && !kept.flags.contains(RecordFlags::ADMIN)
                && !kept.flags.contains(RecordFlags::POSS_DUP) | (kind == RecordKind::Inbound)
                && (kind == RecordKind::Outbound || kept.flags.contains(RecordFlags::DELIVERED))
        });
        wanted.filter_map(|kept| Some((kept.generation.0, kept.seq.0, pick(&kept.body)?))).collect()
    }

    /// Returns what `pick` finds in what the application has written, in order: in messages that
    /// were sent at once, and in those that waited for a throttle, or still do.
    pub fn written<T>(&self, session: u32, mut pick: impl FnMut(&[u8]) -> Option<T>) -> Vec<T> {
        let wanted = self.log.iter().filter(|kept| kept.session == session);
        let written = wanted.filter(|kept| match kept.kind {
            RecordKind::Outbound => {
                let other = [RecordFlags::ADMIN, RecordFlags::POSS_DUP, RecordFlags::WAITED];
                !other.into_iter().any(|flag| kept.flags.contains(flag))
            }
            RecordKind::Waiting => true,
            _ => false,
        });
        written.filter_map(|kept| pick(&kept.body)).collect()
    }

    /// Returns the last message that had waited and was sent under this number.
    #[must_use]
    pub fn sent_after_waiting(&self, session: u32, seq: u64) -> Option<&[u8]> {
        let mut all = self.log.iter().rev();
        let found = all.find(|kept| {
            kept.session == session && kept.flags.contains(RecordFlags::WAITED) && kept.seq.0 == seq
        });
        found.map(|kept| kept.body.as_slice())
    }

    /// Returns the highest NextNumOut that a session has had, in any generation.
    #[must_use]
    pub fn most_out(&self, session: u32) -> u64 {
        let sent =
            self.log.iter().filter(|kept| kept.session == session && kept.kind == RecordKind::Outbound);
        sent.map(|kept| kept.seq.0 + 1).max().unwrap_or(1)
    }

    /// Returns which messages of a session wait for a throttle.
    #[must_use]
    pub fn waiting(&self, session: u32) -> WaitingMessages {
        self.numbers.get(session as usize).map_or(WaitingMessages::default(), |numbers| numbers.waiting)
    }

    /// Returns the message that has waited under this number.
    #[must_use]
    pub fn waited(&self, session: u32, number: u64) -> Option<&[u8]> {
        let mut all = self.log.iter().rev();
        let found = all
            .find(|kept| kept.session == session && kept.kind == RecordKind::Waiting && kept.seq.0 == number);
        found.map(|kept| kept.body.as_slice())
    }

    /// Returns the bodies of the application messages in one direction, in order.
    #[must_use]
    pub fn bodies(&self, session: u32, kind: RecordKind) -> Vec<&[u8]> {
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
        if numbers.since.is_none() || kept.kind == RecordKind::Reset {
            numbers.since = Some(kept.utc);
        }
        numbers.waiting = numbers.waiting.after(kept.kind, kept.flags, kept.seq);
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
            RecordKind::Inbound | RecordKind::Waiting | RecordKind::Dropped => {}
        }
        if numbers.next_in != kept.next_in {
            let is_adjusted = kept.kind == RecordKind::Adjust;
            assert!(
                kept.next_in > numbers.next_in || kept.kind == RecordKind::Reset || is_adjusted,
                "NextNumIn decreases only by a record of its own"
            );
            numbers.next_in = kept.next_in;
            numbers.attempts = 0;
        }
        numbers.connection = kept.connection;
    }
}

impl Store for Disk {
    fn open(&mut self, key: SessionKey, session: &SessionId) -> Result<Recovered, StoreError> {
        let mut platter = self.call();
        if platter.refuses {
            return Err(StoreError::Full { place: "the simulated disk".to_owned() });
        }
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
        let mut platter = self.call();
        assert!(platter.turn.is_none(), "a turn inside a turn");
        platter.turn = Some(platter.log.len());
        let numbers = platter.numbers.clone();
        platter.before = numbers;
        platter.called();
    }

    fn append(&mut self, session: SessionKey, record: &Record<'_>) -> Result<(), StoreError> {
        let mut platter = self.call();
        assert!(platter.turn.is_some(), "a record outside a turn");
        if platter.refuses {
            return Err(StoreError::Full { place: "the simulated disk".to_owned() });
        }
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
        platter.called();
        Ok(())
    }

    fn commit(&mut self) -> Result<Committed, StoreError> {
        let mut platter = self.call();
        let from = platter.turn.take().expect("a commit ends a turn");
        if platter.log.len() > from {
            platter.position += 1;
        }
        if !platter.late {
            platter.durable = platter.position;
        }
        platter.called();
        let position = Position(platter.position);
        let is_durable = platter.durable == platter.position;
        drop(platter);
        // The process may die when its turn is whole, too.
        drop(self.call());
        Ok(Committed { position, is_durable })
    }

    fn rollback(&mut self) {
        self.call().forget_turn();
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
        self.lent.clone_from(&kept.body);
        Ok(Some(Record { body: &self.lent, ..kept.record() }))
    }

    fn replay(
        &mut self,
        session: SessionKey,
        visit: &mut dyn FnMut(Record<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let platter = self.platter();
        let generation = platter.numbers[session.index()].generation;
        let mut all = platter
            .log
            .iter()
            .filter(|kept| kept.session as usize == session.index() && kept.generation == generation);
        let _ = all.try_for_each(|kept| visit(kept.record()));
        Ok(())
    }

    fn abilities(&mut self) -> Option<&mut dyn Abilities> {
        Some(self)
    }
}

impl Abilities for Disk {
    fn set_waker(&mut self, _: Arc<dyn WorkerWaker>) {}

    fn opens_later(&mut self) -> Option<&mut dyn OpensLater> {
        None
    }

    fn acknowledges(&mut self) -> Option<&mut dyn Acknowledges> {
        Some(self)
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

impl Acknowledges for Disk {
    fn durable(&mut self, _: SessionKey) -> Position {
        Position(self.platter().durable)
    }
}

impl Forgets for Disk {
    fn set_resend_horizon(&mut self, session: SessionKey, messages: u64) {
        assert!(self.platter().turn.is_none(), "told inside a turn");
        self.horizons[session.index()] = messages;
    }
}
