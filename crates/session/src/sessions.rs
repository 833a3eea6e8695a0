//! All sessions of one worker thread. Sans-IO: bytes, clocks and the end of a connection come in; bytes and the wish to close
//! a connection come out.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use fixbolt_codec::{Envelope, Frame, Framed, Index, SeqNum};
use fixbolt_dictionary::Validator;

use crate::application::{Application, Event, GarbledError, Halt, Resume, SendError, SessionEnd};
use crate::id::SessionId;
use crate::outbox::Outbox;
use crate::replay::FieldStorage;
use crate::scene::{Scene, Stop, data_fields, tell};
use crate::settings::SessionSettings;
use crate::slot::{Core, Incomplete, MAX_MESSAGE_SIZE_BEFORE_LOGON, Slot, Undo};
use crate::state::{Phase, State};
use crate::store::{RecordKind, SessionKey, Store, StoreError};
use crate::time::{Mono, Now};
use crate::turn::Turn;

/// The sessions of one worker, on one store.
///
/// Order of calls for a connection: [`connected`](Self::connected); then [`receive`](Self::receive) for bytes that came,
/// [`tick`](Self::tick) at [`next_deadline`](Self::next_deadline), [`writable`](Self::writable) and
/// [`written`](Self::written) for bytes that go; when [`wants_close`](Self::wants_close) says so and nothing is left to write,
/// close the transport; and [`disconnected`](Self::disconnected) at its end, whoever ended it.
pub struct Sessions {
    slots: Vec<Slot>,
    /// Of each session, beside the slots: a message's index borrows the data fields while the slots are at work.
    validators: Vec<Option<Arc<Validator>>>,
    store: Box<dyn Store>,
    /// Storage for the index of an inbound message, and of a stored one.
    inbound: FieldStorage,
    stored: FieldStorage,
    /// Where a message that was kept until its turn is copied to be read.
    kept: Vec<u8>,
    turns: u64,
    touched: Vec<usize>,
    outputs: Vec<usize>,
}

/// Why a session could not be opened.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// The store refused.
    Store(StoreError),
    /// The session is open already.
    AlreadyOpen,
    /// A setting is out of its range.
    Setting(&'static str),
}

impl core::fmt::Display for OpenError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Store(error) => error.fmt(f),
            Self::AlreadyOpen => f.write_str("the session is open already"),
            Self::Setting(what) => f.write_str(what),
        }
    }
}

impl core::error::Error for OpenError {}

/// Smallest outbox: room for the largest message the session layer writes, and for some of the application's.
const OUTBOX_MIN: usize = 16 * 1024;

impl Sessions {
    /// No sessions yet. Messages of up to `max_message_size` bytes can be indexed, more once a session takes larger ones.
    #[must_use]
    pub fn new(store: Box<dyn Store>, max_message_size: usize) -> Self {
        let fields = max_message_size.max(MAX_MESSAGE_SIZE_BEFORE_LOGON) / 4;
        Self {
            slots: Vec::new(),
            validators: Vec::new(),
            store,
            inbound: FieldStorage::new(fields),
            stored: FieldStorage::new(fields),
            kept: Vec::with_capacity(max_message_size),
            turns: 0,
            touched: Vec::with_capacity(16),
            outputs: Vec::with_capacity(16),
        }
    }

    /// Opens a session and its store, and shows the application what it holds.
    ///
    /// A session whose store is damaged, or whose application failed too often on a message, opens halted.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(
        &mut self,
        now: Now,
        settings: SessionSettings,
        app: &mut dyn Application,
    ) -> Result<SessionKey, OpenError> {
        if self.find(&settings.id).is_some() {
            return Err(OpenError::AlreadyOpen);
        }
        if settings.outbox_size < OUTBOX_MIN {
            return Err(OpenError::Setting("the outbox needs at least 16 KiB"));
        }
        if settings.max_message_size < MAX_MESSAGE_SIZE_BEFORE_LOGON {
            return Err(OpenError::Setting("MaxMessageSize is at least 8192"));
        }
        // Before the store has numbered it: a session that the store knows must be one here, too.
        let id = &settings.id;
        let parts = [id.begin_string(), id.sender_comp_id(), id.target_comp_id()].map(str::as_bytes);
        let envelope = Envelope::new(parts[0], parts[1], parts[2])
            .ok_or(OpenError::Setting("BeginString has more than 12 bytes, or a CompID more than 64"))?;
        self.inbound.grow(settings.max_message_size / 4);
        self.stored.grow(settings.max_message_size / 4);
        if settings.test_request_percent < 100 {
            return Err(OpenError::Setting(
                "a TestRequest before HeartBtInt has passed is none: 100 percent at least",
            ));
        }
        if settings.poison_attempts == 0 {
            return Err(OpenError::Setting("every message is offered to the application once at least"));
        }
        let (key, recovered) = self.store.open(id).map_err(OpenError::Store)?;
        debug_assert_eq!(key.0 as usize, self.slots.len(), "a store numbers its sessions from 0 on");
        let state = State {
            phase: Phase::Disconnected,
            next_in: recovered.next_in,
            next_out: recovered.next_out,
            generation: recovered.generation,
            connection: recovered.connection,
            heart_bt_int: settings.heart_bt_int,
            last_sent: now.mono,
            last_received: now.mono,
            phase_deadline: None,
            test_request: None,
            test_requests: 0,
            gap: None,
            replay: None,
            attempts: recovered.attempts,
            reset_asked: false,
            request_answered: None,
            logout_waits: None,
            kept_from: None,
            peer_max_message_size: usize::MAX,
        };
        let (poison_attempts, outbox_size) = (settings.poison_attempts, settings.outbox_size);
        self.validators.push(settings.validator.clone());
        let mut core = Core::new(settings, key, state, envelope);
        if let Some(reason) = recovered.damage {
            core.halted = Some(Halt::StoreDamaged { reason });
        } else if recovered.attempts >= poison_attempts {
            core.halted = Some(Halt::PoisonMessage { seq: recovered.next_in, attempts: recovered.attempts });
        }
        let outbox = Outbox::new(outbox_size);
        let undo = Undo { turn: 0, state, outbox: outbox.mark(), ending: false, leaving: false };
        self.slots.push(Slot { core, outbox, undo });
        if let Some(given_up) = recovered.given_up {
            let event = Event::NumbersGivenUp { begin: *given_up.start(), end: *given_up.end() };
            tell(app, &mut self.slot_mut(key).core, &event);
        }
        self.resume(key, app);
        Ok(key)
    }

    /// Shows an application what the session's store holds; [`Sessions::open`] does so by itself. One that panics at it does
    /// not know where it stands: the session is halted.
    pub fn resume(&mut self, key: SessionKey, app: &mut dyn Application) {
        let (next_in, next_out) = self.numbers(key);
        let mut resume = Resume { store: &mut *self.store, key, next_in, next_out };
        if catch_unwind(AssertUnwindSafe(|| app.on_resume(key, &mut resume))).is_err() {
            let halt = Halt::ApplicationPanicked { callback: "on_resume" };
            self.slot_mut(key).core.halted.get_or_insert(halt);
        }
    }

    /// Tells the application of something that happened to the session outside it. A panic costs the connection.
    pub fn tell(&mut self, key: SessionKey, event: &Event<'_>, app: &mut dyn Application) {
        tell(app, &mut self.slot_mut(key).core, event);
    }

    /// The open session with this identity.
    #[must_use]
    pub fn find(&self, id: &SessionId) -> Option<SessionKey> {
        self.slots.iter().find(|slot| slot.core.settings.id == *id).map(|slot| slot.core.key)
    }

    /// Every open session.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = SessionKey> + use<'_> {
        self.slots.iter().map(|slot| slot.core.key)
    }

    /// The settings of a session.
    #[must_use]
    pub fn settings(&self, key: SessionKey) -> &SessionSettings {
        &self.slot(key).core.settings
    }

    /// Where the session stands.
    #[must_use]
    pub fn phase(&self, key: SessionKey) -> Phase {
        self.slot(key).core.state.phase
    }

    /// Why the session does not go on until somebody looks at it.
    #[must_use]
    pub fn halted(&self, key: SessionKey) -> Option<&Halt> {
        self.slot(key).core.halted.as_ref()
    }

    /// Next number expected, and next number to be used.
    #[must_use]
    pub fn numbers(&self, key: SessionKey) -> (SeqNum, SeqNum) {
        let state = &self.slot(key).core.state;
        (state.next_in, state.next_out)
    }

    /// What a rolled back turn must leave as it was, as text: for tests.
    #[cfg(feature = "test-support")]
    #[must_use]
    pub fn snapshot(&self, key: SessionKey) -> String {
        let Slot { core, outbox, .. } = self.slot(key);
        format!("{:?}\n{:?}\n{:?}\n{:?}", core.state, outbox.ends, core.stash, core.leaving)
    }

    /// Whether a transport connection may be given to the session now.
    #[must_use]
    pub fn can_connect(&self, key: SessionKey) -> bool {
        let core = &self.slot(key).core;
        core.halted.is_none() && core.state.phase == Phase::Disconnected
    }

    /// A transport connection of the session is there.
    pub fn connected(&mut self, now: Now, key: SessionKey, app: &mut dyn Application) {
        self.scene(now, key, app).connected();
    }

    /// Bytes of the counterparty, from the first that was not yet consumed. Gives how many are consumed now; the rest is shown
    /// again, with what came meanwhile.
    pub fn receive(&mut self, now: Now, key: SessionKey, bytes: &[u8], app: &mut dyn Application) -> usize {
        let consumed = self.read(now, key, bytes, app);
        let slot = self.slot_mut(key);
        if slot.core.end.is_some() || !slot.core.state.is_connected() {
            return bytes.len();
        }
        // What the counterparty asked for goes on, also while nothing is read. Whoever stops says so in the session.
        let _ = self.scene(now, key, app).pump_replay();
        consumed
    }

    /// Processes messages until there is none, or the session ends or waits. Gives how many bytes are consumed.
    fn read(&mut self, now: Now, key: SessionKey, bytes: &[u8], app: &mut dyn Application) -> usize {
        self.slot_mut(key).core.blocked = None;
        let mut at = 0;
        loop {
            // Whoever stops says so in the session: it is closing, or waits.
            let _ = self.drain_stash(now, key, app);
            let slot = self.slot_mut(key);
            if slot.core.end.is_some() || !slot.core.state.is_connected() || slot.core.blocked.is_some() {
                return at;
            }
            if slot.is_full() {
                slot.block(now.mono);
                return at;
            }
            match slot.core.framer.next(&bytes[at..]) {
                Frame::Message(framed) => {
                    slot.core.incomplete = None;
                    let next_in = slot.core.state.next_in;
                    let _ = self.message(now, key, framed, false, app);
                    // One that was taken is not shown again, also when what follows from it has to wait.
                    let core = &self.slot(key).core;
                    if core.blocked.is_none() || core.state.next_in > next_in {
                        at += framed.bytes().len();
                    }
                }
                Frame::Garbled { bytes: dropped, error } => {
                    slot.core.incomplete = None;
                    at += dropped.len();
                    self.garbled(
                        key,
                        dropped,
                        error.map_or(GarbledError::Continued, GarbledError::Frame),
                        app,
                    );
                }
                Frame::Incomplete { .. } => {
                    let left = bytes.len() - at;
                    let core = &mut slot.core;
                    if left == 0 {
                        core.incomplete = None;
                    } else if core.incomplete.is_none_or(|known| known.bytes != left) {
                        core.incomplete = Some(Incomplete { since: now.mono, bytes: left });
                    }
                    return at;
                }
            }
        }
    }

    /// The time moved on to or past [`Sessions::next_deadline`]; `buffered` are the bytes that were not consumed yet. Gives how
    /// many of them are consumed now.
    pub fn tick(&mut self, now: Now, key: SessionKey, buffered: &[u8], app: &mut dyn Application) -> usize {
        let core = &self.slot(key).core;
        if !core.state.is_connected() || core.end.is_some() {
            return buffered.len();
        }
        let _ = self.scene(now, key, app).timers();
        let core = &mut self.slot_mut(key).core;
        let patience = core.patience_inside_a_message();
        if core.incomplete.is_some_and(|known| now.mono - known.since >= patience) {
            core.incomplete = None;
            // More may have come that nobody has read yet.
            let still = matches!(core.framer.clone().next(buffered), Frame::Incomplete { .. });
            if still
                && !buffered.is_empty()
                && let Frame::Garbled { bytes, error } = core.framer.give_up(buffered)
            {
                let dropped = bytes.len();
                self.garbled(key, bytes, error.map_or(GarbledError::Continued, GarbledError::Frame), app);
                return dropped + self.receive(now, key, &buffered[dropped..], app);
            }
        }
        self.receive(now, key, buffered, app)
    }

    /// When [`Sessions::tick`] is to be called; `None` when only bytes change anything.
    #[must_use]
    pub fn next_deadline(&self, key: SessionKey) -> Option<Mono> {
        let Slot { core, outbox, .. } = self.slot(key);
        // A replay goes on when the socket has taken some; without a byte on its way nobody would call.
        if core.state.replay.is_some() && outbox.is_empty() && core.end.is_none() && core.blocked.is_none() {
            return Some(Mono(0));
        }
        core.next_deadline()
    }

    /// Whether the session has more to write than fits now: call [`Sessions::tick`] again once the socket has taken some.
    #[must_use]
    pub fn is_replaying(&self, key: SessionKey) -> bool {
        let core = &self.slot(key).core;
        core.state.replay.is_some() && core.end.is_none()
    }

    /// Whether the session reads nothing for now: the application said "not now", or the outbox is full. Call
    /// [`Sessions::tick`] again once the socket has taken some.
    #[must_use]
    pub fn is_blocked(&self, key: SessionKey) -> bool {
        self.slot(key).core.blocked.is_some()
    }

    /// Bytes for the socket, released by the store.
    #[must_use]
    pub fn writable(&self, key: SessionKey) -> &[u8] {
        self.slot(key).outbox.writable()
    }

    /// Whether bytes are queued, released or not.
    #[must_use]
    pub fn has_queued(&self, key: SessionKey) -> bool {
        !self.slot(key).outbox.is_empty()
    }

    /// A session in which something was queued since it was last named here: its own turns, or another session's, wrote to
    /// it. Call until there is none, after each round of other calls.
    pub fn next_output(&mut self) -> Option<SessionKey> {
        let slot = &mut self.slots[self.outputs.pop()?];
        slot.outbox.noted = false;
        Some(slot.core.key)
    }

    /// The socket took `bytes` bytes.
    pub fn written(&mut self, key: SessionKey, bytes: usize) {
        self.slot_mut(key).outbox.written(bytes);
    }

    /// The store may have become durable further: releases what waited.
    pub fn store_advanced(&mut self, app: &mut dyn Application) {
        let durable = self.store.durable();
        for slot in &mut self.slots {
            slot.outbox.advance(durable);
        }
        while let Some((key, error)) = self.store.take_failure() {
            if let Some(slot) = self.slots.get_mut(key.0 as usize) {
                slot.core.halt(Halt::StoreFailed(error));
                slot.outbox.clear();
                tell(app, &mut slot.core, &Event::Note("the store failed: the session is halted"));
            }
        }
    }

    /// Whether the transport is to be closed, once nothing is left to write.
    #[must_use]
    pub fn wants_close(&self, key: SessionKey) -> bool {
        self.slot(key).core.end.is_some()
    }

    /// The transport connection is gone.
    pub fn disconnected(&mut self, now: Now, key: SessionKey, app: &mut dyn Application) {
        let slot = self.slot_mut(key);
        if slot.core.state.phase == Phase::Disconnected && slot.core.end.is_none() {
            return;
        }
        let fallback = match slot.core.state.phase {
            Phase::LogoutAnswered => SessionEnd::LoggedOutByPeer,
            _ => SessionEnd::ConnectionLost,
        };
        let end = slot.core.end.take().unwrap_or(fallback);
        slot.outbox.clear();
        slot.core.stash.clear();
        slot.core.leaving = None;
        slot.core.blocked = None;
        slot.core.incomplete = None;
        slot.core.framer = fixbolt_codec::Framer::new(MAX_MESSAGE_SIZE_BEFORE_LOGON);
        let state = &mut slot.core.state;
        state.phase = Phase::Disconnected;
        state.phase_deadline = None;
        state.gap = None;
        state.replay = None;
        state.test_request = None;
        state.logout_waits = None;
        state.kept_from = None;
        let reset = slot.core.settings.reset_on_disconnect && slot.core.halted.is_none();
        let mut scene = self.scene(now, key, app);
        if reset {
            // What fails here halts the session.
            if scene.turn(|scene| scene.reset("ResetOnDisconnect")).is_ok() {
                scene.tell_numbers("ResetOnDisconnect");
            }
        }
        scene.tell(&Event::Ended(&end));
    }

    /// Logs out: sends a Logout with `text` (empty: none) and waits for the answer. The end is told as an event.
    ///
    /// # Errors
    /// [`SendError`] when nothing could be sent.
    pub fn log_out(
        &mut self,
        now: Now,
        key: SessionKey,
        text: &str,
        app: &mut dyn Application,
    ) -> Result<(), SendError> {
        self.scene(now, key, app).log_out(text)
    }

    /// A turn that no inbound message caused: everything that `act` writes, in any session of this worker, is committed
    /// together, or nothing when it fails.
    ///
    /// # Errors
    /// What `act` gives, or the store's refusal. A panic in it is an error too, and ends the session's connection.
    pub fn act<R>(
        &mut self,
        now: Now,
        key: SessionKey,
        app: &mut dyn Application,
        act: impl FnOnce(&mut Turn<'_>) -> Result<R, SendError>,
    ) -> Result<R, SendError> {
        let mut scene = self.scene(now, key, app);
        scene.begin();
        let result = {
            let Scene { slots, own, store, turns, touched, .. } = &mut scene;
            let (before, rest) = slots.split_at_mut(*own);
            let (own, after) = rest.split_first_mut().ok_or(SendError::Unavailable)?;
            let mut turn = Turn {
                now,
                number: **turns,
                inbound: None,
                cause: None,
                redelivered: false,
                own,
                before,
                after,
                store: &mut **store,
                touched,
            };
            catch_unwind(AssertUnwindSafe(|| act(&mut turn)))
        };
        match result {
            Ok(Ok(value)) => match scene.commit() {
                Ok(()) => Ok(value),
                Err(Stop) => Err(SendError::Unavailable),
            },
            // A store that refused has halted its session by this.
            Ok(Err(error)) => {
                scene.rollback();
                Err(error)
            }
            Err(_) => {
                scene.rollback();
                if scene.core().state.is_connected() {
                    scene.close(SessionEnd::ApplicationPanicked { callback: "act" });
                }
                Err(SendError::Application("panic"))
            }
        }
    }

    /// Gives up the message on which the application fails: the counterparty's next one is expected.
    ///
    /// # Errors
    /// [`SendError::Unavailable`] when no message is poison here, else the store's refusal.
    pub fn skip(&mut self, now: Now, key: SessionKey, app: &mut dyn Application) -> Result<(), SendError> {
        self.end_poison(now, key, app, true)
    }

    /// Offers the message on which the application failed again, as often as at first.
    ///
    /// # Errors
    /// As [`Sessions::skip`].
    pub fn retry(&mut self, now: Now, key: SessionKey, app: &mut dyn Application) -> Result<(), SendError> {
        self.end_poison(now, key, app, false)
    }

    /// Sets the next numbers on an operator's order; `None` leaves one as it is. Recorded in the store with the reason.
    ///
    /// # Errors
    /// [`SendError::Application`] when NextNumOut would go down: a number is never used again with another body. Else the
    /// store's refusal.
    pub fn set_numbers(
        &mut self,
        now: Now,
        key: SessionKey,
        numbers: (Option<SeqNum>, Option<SeqNum>),
        why: &str,
        app: &mut dyn Application,
    ) -> Result<(), SendError> {
        let (next_in, next_out) = self.numbers(key);
        let (next_in, new_out) = (numbers.0.unwrap_or(next_in), numbers.1.unwrap_or(next_out));
        if new_out < next_out {
            return Err(SendError::Application("NextNumOut never goes down: reset the session instead"));
        }
        let mut scene = self.scene(now, key, app);
        scene.begin();
        let state = &mut scene.core().state;
        (state.next_in, state.next_out) = (next_in, new_out);
        state.attempts = 0;
        state.gap = None;
        if let Err(error) = scene.record_change(RecordKind::Adjust, why) {
            scene.rollback();
            return Err(error);
        }
        scene.commit().map_err(|Stop| SendError::Unavailable)?;
        scene.core().stash.forget_before(next_in);
        scene.tell(&Event::SequenceChanged { next_in, next_out: new_out, reason: why });
        Ok(())
    }

    fn end_poison(
        &mut self,
        now: Now,
        key: SessionKey,
        app: &mut dyn Application,
        skip: bool,
    ) -> Result<(), SendError> {
        let Some(Halt::PoisonMessage { seq, .. }) = self.slot(key).core.halted else {
            return Err(SendError::Unavailable);
        };
        let mut scene = self.scene(now, key, app);
        scene.begin();
        let state = &mut scene.core().state;
        state.attempts = 0;
        if skip {
            state.next_in = seq.next();
        }
        let why = if skip { "poison message skipped" } else { "poison message to be tried again" };
        match scene.record_change(RecordKind::Adjust, why) {
            Ok(()) => {}
            Err(error) => {
                scene.rollback();
                return Err(error);
            }
        }
        scene.commit().map_err(|Stop| SendError::Unavailable)?;
        scene.core().halted = None;
        Ok(())
    }

    /// Closes every session's store cleanly. The sessions are gone.
    ///
    /// # Errors
    /// The first store's refusal.
    pub fn close(mut self) -> Result<(), StoreError> {
        let mut result = Ok(());
        for slot in &self.slots {
            let closed = self.store.close(slot.core.key);
            result = result.and(closed);
        }
        result
    }

    fn slot(&self, key: SessionKey) -> &Slot {
        &self.slots[key.0 as usize]
    }

    fn slot_mut(&mut self, key: SessionKey) -> &mut Slot {
        &mut self.slots[key.0 as usize]
    }

    fn scene<'a>(&'a mut self, now: Now, key: SessionKey, app: &'a mut dyn Application) -> Scene<'a> {
        Scene {
            now,
            own: key.0 as usize,
            slots: &mut self.slots,
            validators: &self.validators,
            store: &mut *self.store,
            app,
            turns: &mut self.turns,
            touched: &mut self.touched,
            outputs: &mut self.outputs,
            fields: &mut self.stored,
        }
    }

    /// One framed message: index, then the session's checks.
    fn message(
        &mut self,
        now: Now,
        key: SessionKey,
        framed: Framed<'_>,
        kept: bool,
        app: &mut dyn Application,
    ) -> Result<(), Stop> {
        let Self { slots, validators, store, inbound, stored, turns, touched, outputs, .. } = self;
        let data_fields = data_fields(validators[key.0 as usize].as_deref());
        let mut index = Index::new(&mut inbound.tags, &mut inbound.spans).with_data_fields(data_fields);
        match index.build(framed) {
            Ok(message) => Scene {
                now,
                own: key.0 as usize,
                slots,
                validators,
                store: &mut **store,
                app,
                turns,
                touched,
                outputs,
                fields: stored,
            }
            .inbound(message, kept),
            Err(error) => {
                self.garbled(key, framed.bytes(), GarbledError::Index(error), app);
                Ok(())
            }
        }
    }

    fn garbled(&mut self, key: SessionKey, bytes: &[u8], error: GarbledError, app: &mut dyn Application) {
        let core = &mut self.slot_mut(key).core;
        tell(app, core, &Event::Garbled { bytes, error });
        if matches!(core.state.phase, Phase::AwaitingLogon) {
            core.close(SessionEnd::PeerMisbehaved(crate::application::Misbehaviour::InvalidLogon));
        }
    }

    /// Processes messages that were kept until their turn.
    fn drain_stash(&mut self, now: Now, key: SessionKey, app: &mut dyn Application) -> Result<(), Stop> {
        loop {
            let Self { slots, kept, .. } = self;
            let core = &mut slots[key.0 as usize].core;
            if core.stash.is_empty() {
                return Ok(());
            }
            let due = core.state.next_in;
            core.stash.forget_before(due);
            if core.end.is_some() || !core.stash.copy(due, kept) {
                return Ok(());
            }
            let message = core::mem::take(kept);
            let result = match fixbolt_codec::Framer::new(message.len()).next(&message) {
                Frame::Message(framed) => self.message(now, key, framed, true, app),
                _ => Ok(()),
            };
            self.kept = message;
            result?;
            if self.slot(key).core.state.next_in == due {
                return Ok(());
            }
        }
    }
}
