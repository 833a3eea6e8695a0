//! One worker's sessions while one of them is at work: turns are begun, committed and rolled back here, and the session
//! layer's own messages are written here.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use fixbolt_codec::{BodySink, BodyWriter, DataFields, Key, Message, MsgType, SeqNum};
use fixbolt_dictionary::Validator;

use crate::application::{Application, Delivery, Event, Halt, SendError, SessionEnd};
use crate::replay::FieldStorage;
use crate::slot::{Core, Posting, Slot};
use crate::state::Phase;
use crate::store::{RecordFlags, RecordKind, SessionKey, Store};
use crate::time::Now;
use crate::turn::{Handle, Turn, touch};

/// Everything that handling one event of one session may reach.
pub(crate) struct Scene<'a> {
    pub(crate) now: Now,
    /// The session at work.
    pub(crate) own: usize,
    pub(crate) slots: &'a mut [Slot],
    pub(crate) validators: &'a [Option<Arc<Validator>>],
    pub(crate) store: &'a mut (dyn Store + 'a),
    pub(crate) app: &'a mut (dyn Application + 'a),
    pub(crate) turns: &'a mut u64,
    pub(crate) touched: &'a mut Vec<usize>,
    /// Sessions whose turns were committed since their output was last looked at.
    pub(crate) outputs: &'a mut Vec<usize>,
    /// Storage for the index of a stored message.
    pub(crate) fields: &'a mut FieldStorage,
}

/// What a message of a session with this validator is taken apart by.
pub(crate) fn data_fields(validator: Option<&Validator>) -> &DataFields {
    validator.map_or(DataFields::STANDARD, Validator::data_fields)
}

/// What an application's callback came to.
pub(crate) enum Outcome {
    Delivered(Delivery),
    Failed(SendError),
    Panicked,
}

impl<'a> Scene<'a> {
    pub(crate) fn core(&mut self) -> &mut Core {
        &mut self.slots[self.own].core
    }

    /// The data fields of the session's dialect.
    pub(crate) fn data_fields(&self) -> &'a DataFields {
        data_fields(self.validators[self.own].as_deref())
    }

    pub(crate) fn slot(&mut self) -> &mut Slot {
        &mut self.slots[self.own]
    }

    pub(crate) fn tell(&mut self, event: &Event<'_>) {
        let Slot { core, .. } = &mut self.slots[self.own];
        tell(self.app, core, event);
    }

    /// Tells that the numbers were set anew, and why.
    pub(crate) fn tell_numbers(&mut self, reason: &str) {
        let (next_in, next_out) = (self.core().state.next_in, self.core().state.next_out);
        self.tell(&Event::SequenceChanged { next_in, next_out, reason });
    }

    pub(crate) fn begin(&mut self) {
        *self.turns += 1;
        self.touched.clear();
        self.store.begin();
        touch(&mut self.slots[self.own], *self.turns, self.touched);
    }

    /// Makes the turn visible: numbers, state and bytes, in every session it touched.
    pub(crate) fn commit(&mut self) -> Result<(), Stop> {
        if self.touched.iter().any(|n| self.slots[*n].core.refused.is_some()) {
            // Whoever wrote did not mind that the store refused; the turn is lost all the same.
            self.rollback();
            return Err(self.wait());
        }
        match self.store.commit() {
            Ok(position) => {
                kill_point!(Commit);
                let durable = self.store.durable();
                for n in self.touched.drain(..) {
                    let Slot { core, outbox, undo } = &mut self.slots[n];
                    if core.state.generation != undo.state.generation {
                        core.stash.clear();
                    }
                    outbox.committed(position, durable);
                    if let Some(check) = &mut core.outbound
                        && !check.tell(&mut *self.app, core.key)
                    {
                        core.event_panicked();
                    }
                    if !outbox.is_empty() && !core::mem::replace(&mut outbox.noted, true) {
                        self.outputs.push(n);
                    }
                }
                Ok(())
            }
            Err(error) => {
                self.restore();
                self.halt(Halt::StoreFailed(error));
                Err(Stop)
            }
        }
    }

    /// Nothing of the turn happened, in no session.
    pub(crate) fn rollback(&mut self) {
        self.store.rollback();
        self.restore();
    }

    fn restore(&mut self) {
        for n in self.touched.drain(..) {
            self.slots[n].restore();
        }
    }

    /// Reads nothing more until the socket has taken what is queued, or somebody else can go on.
    pub(crate) fn wait(&mut self) -> Stop {
        let now = self.now.mono;
        self.slot().block(now);
        Stop
    }

    /// Runs `act` as one turn: committed when it succeeds, else nothing of it happened.
    pub(crate) fn turn(&mut self, act: impl FnOnce(&mut Self) -> Result<(), SendError>) -> Result<(), Stop> {
        self.begin();
        match act(self) {
            Ok(()) => self.commit(),
            Err(error) => Err(self.abandon(error)),
        }
    }

    /// Rolls back because of `error` and says what follows from it.
    pub(crate) fn abandon(&mut self, error: SendError) -> Stop {
        self.rollback();
        match error {
            // The session whose store it was is halted. When it was another one the message is processed without it.
            SendError::Store(_) | SendError::BackPressure => self.wait(),
            other => {
                self.close(SessionEnd::Unanswerable(Box::new(other)));
                Stop
            }
        }
    }

    pub(crate) fn halt(&mut self, halt: Halt) {
        self.core().halt(halt);
    }

    /// The connection is to be closed; tells nobody yet, the transport's end does.
    pub(crate) fn close(&mut self, end: SessionEnd) {
        self.core().close(end);
    }

    /// Records the inbound message of this turn.
    pub(crate) fn record(
        &mut self,
        seq: SeqNum,
        message: &Message<'_>,
        flags: RecordFlags,
    ) -> Result<(), SendError> {
        let Slot { core, .. } = &mut self.slots[self.own];
        core.record_inbound(self.now, self.store, seq, message.bytes(), flags)
    }

    pub(crate) fn record_change(&mut self, kind: RecordKind, why: &str) -> Result<(), SendError> {
        let Slot { core, .. } = &mut self.slots[self.own];
        core.record_change(self.now, self.store, kind, why)
    }

    pub(crate) fn reset(&mut self, why: &str) -> Result<(), SendError> {
        let Slot { core, .. } = &mut self.slots[self.own];
        core.reset(self.now, self.store, why)
    }

    /// Writes a message of the session layer; `fields` writes its body. `route` is the message it answers.
    pub(crate) fn post(
        &mut self,
        msg_type: &[u8],
        posting: Posting<'_>,
        route: Option<&Message<'_>>,
        fields: impl FnOnce(&mut BodyWriter<'_>),
    ) -> Result<SeqNum, SendError> {
        let Slot { core, outbox, .. } = &mut self.slots[self.own];
        let cause = match posting {
            Posting::New { cause } => cause,
            _ => None,
        };
        let handle = Handle {
            now: self.now,
            core,
            outbox,
            store: &mut *self.store,
            cause,
            route: route.copied(),
            header: &[],
            session_layer: true,
            alone: false,
        };
        let mut draft = handle.open(MsgType::new(msg_type), posting);
        fields(draft.writer());
        draft.send()
    }

    /// Heartbeat (0), the answer to a TestRequest when it has an id.
    pub(crate) fn heartbeat(
        &mut self,
        id: Option<&[u8]>,
        cause: Option<SeqNum>,
    ) -> Result<SeqNum, SendError> {
        self.post(b"0", Posting::New { cause }, None, |body| {
            if let Some(id) = id {
                body.bytes(Key::new(112), id);
            }
        })
    }

    /// Logout (5) with an optional text.
    pub(crate) fn logout(&mut self, text: &str, cause: Option<SeqNum>) -> Result<SeqNum, SendError> {
        self.post(b"5", Posting::New { cause }, None, |body| {
            if !text.is_empty() {
                body.bytes(Key::new(58), text.as_bytes());
            }
        })
    }

    /// ResendRequest (2) from NextNumIn to the end.
    pub(crate) fn resend_request(
        &mut self,
        begin: SeqNum,
        cause: Option<SeqNum>,
    ) -> Result<SeqNum, SendError> {
        // Up to FIX.4.1 infinity is written 999999.
        let infinity: u64 = if self.core().is_42_or_later() { 0 } else { 999_999 };
        self.post(b"2", Posting::New { cause }, None, |body| {
            body.field(Key::new(7), &begin.0).field(Key::new(16), &infinity);
        })
    }

    /// Offers an application message in the open turn. A panic is caught: it costs this turn, not the worker.
    pub(crate) fn deliver(&mut self, message: Message<'_>, seq: SeqNum, redelivered: bool) -> Outcome {
        let Self { now, own, slots, store, app, turns, touched, .. } = self;
        let (before, rest) = slots.split_at_mut(*own);
        let Some((own_slot, after)) = rest.split_first_mut() else { return Outcome::Panicked };
        let mut turn = Turn {
            now: *now,
            number: **turns,
            inbound: Some(message),
            cause: Some(seq),
            redelivered,
            own: own_slot,
            before,
            after,
            store: &mut **store,
            touched,
        };
        match catch_unwind(AssertUnwindSafe(|| app.on_message(message, &mut turn))) {
            Ok(Ok(delivery)) => Outcome::Delivered(delivery),
            Ok(Err(error)) => Outcome::Failed(error),
            Err(_) => Outcome::Panicked,
        }
    }

    /// Sends a Logout with a text and closes the connection once it is out; for counterparties that broke a rule.
    pub(crate) fn logout_and_close(
        &mut self,
        text: &str,
        cause: Option<SeqNum>,
        end: SessionEnd,
    ) -> Result<(), SendError> {
        // Nothing else that was to follow will.
        self.core().state.replay = None;
        self.logout(text, cause)?;
        let core = self.core();
        core.state.phase = Phase::LogoutAnswered;
        core.close(end);
        Ok(())
    }

    /// Sends a Logout with a text and closes the connection once it is answered, or nobody answered in time (2i, 2k, 2o): so
    /// both sides agree on the last numbers. A counterparty that breaks the next rule meanwhile is not heard again.
    pub(crate) fn logout_and_wait(
        &mut self,
        text: &str,
        cause: Option<SeqNum>,
        end: SessionEnd,
    ) -> Result<(), SendError> {
        if self.core().state.phase == Phase::LogoutSent {
            self.core().close(end);
            return Ok(());
        }
        self.logout(text, cause)?;
        let now = self.now;
        let core = self.core();
        core.state.phase = Phase::LogoutSent;
        core.state.phase_deadline = Some(now.mono + core.settings.logout_timeout);
        core.leaving = Some(end);
        Ok(())
    }
}

/// Tells the application of a session. A panic in it costs the connection, not the worker (property 4).
pub(crate) fn tell(app: &mut dyn Application, core: &mut Core, event: &Event<'_>) {
    if !say(app, core.key, event) {
        core.event_panicked();
    }
}

/// Gives whether the application could hear it without a panic.
pub(crate) fn say(app: &mut dyn Application, key: SessionKey, event: &Event<'_>) -> bool {
    catch_unwind(AssertUnwindSafe(|| app.on_event(key, event))).is_ok()
}

/// The session cannot go on with this buffer now: it is closing, halted, or waits.
pub(crate) struct Stop;
