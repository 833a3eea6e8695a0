//! A transaction: one session at work, and every session that is touched because of it. Begun, committed and rolled back here,
//! as a whole; the session layer's own messages are written here.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use fixbolt_codec::{BodySink, DataFields, Message, MsgType, SeqNum};
use fixbolt_dictionary::Validator;

use crate::admin_message::{AdminMessage, Extent, route};
use crate::application::{Application, Delivery, LogonDecision};
use crate::draft::Handle;
use crate::end::{Halt, SessionEnd};
use crate::error::SendError;
use crate::event::Event;
use crate::reading::BlockedBy;
use crate::sending::SendKind;
use crate::session::Session;
use crate::state::Connection;
use crate::store::{RecordFlags, RecordKind, Store};
use crate::stored_message::FieldStorage;
use crate::table;
use crate::time::Now;
use crate::turn::Turn;
use crate::waker::WorkerWaker;
use crate::work_lists::WorkLists;

/// Everything that handling one event of one session may reach.
pub(crate) struct Transaction<'a> {
    pub(crate) now: Now,
    /// The place of the session at work.
    pub(crate) own: usize,
    pub(crate) table: &'a mut [Option<Session>],
    /// Of each session, beside the table: a message's index borrows the data fields while the sessions are at work.
    pub(crate) validators: &'a [Option<Arc<Validator>>],
    pub(crate) store: &'a mut (dyn Store + 'a),
    pub(crate) app: &'a mut (dyn Application + 'a),
    pub(crate) waker: &'a Arc<dyn WorkerWaker>,
    pub(crate) turns: &'a mut u64,
    /// Places of the sessions that the open transaction has touched.
    pub(crate) touched: &'a mut Vec<usize>,
    pub(crate) lists: &'a mut WorkLists,
    /// Storage for the index of a stored message.
    pub(crate) fields: &'a mut FieldStorage,
}

/// The session cannot go on with this buffer now: it is closing, halted, or waits.
pub(crate) struct Stop;

/// What an application's callback came to.
pub(crate) enum Outcome {
    Delivered(Delivery),
    Failed(SendError),
    Panicked,
}

/// How a message of a session with this validator is taken apart.
pub(crate) fn data_fields(validator: Option<&Validator>) -> &DataFields {
    validator.map_or(DataFields::STANDARD, Validator::data_fields)
}

/// Notifies the application of a session's event. A panic in it costs the connection, not the worker (property 4).
pub(crate) fn notify(app: &mut dyn Application, session: &mut Session, event: &Event<'_>) {
    if catch_unwind(AssertUnwindSafe(|| app.on_event(session.key, event))).is_err() {
        session.close(SessionEnd::ApplicationPanicked { callback: "on_event" });
    }
}

impl<'a> Transaction<'a> {
    pub(crate) fn session(&self) -> &Session {
        table::opened(self.table, self.own)
    }

    pub(crate) fn session_mut(&mut self) -> &mut Session {
        table::opened_mut(self.table, self.own)
    }

    pub(crate) fn connection_mut(&mut self) -> Option<&mut Connection> {
        self.session_mut().state.connection.as_mut()
    }

    /// The data fields of the session's dialect.
    pub(crate) fn data_fields(&self) -> &'a DataFields {
        data_fields(self.validators[self.own].as_deref())
    }

    pub(crate) fn notify(&mut self, event: &Event<'_>) {
        notify(self.app, table::opened_mut(self.table, self.own), event);
    }

    /// Notifies of a Reject or BusinessMessageReject that was sent; of no other reply.
    pub(crate) fn notify_rejected(&mut self, reply: &AdminMessage<'_>) {
        let mut digits = [0; 20];
        match reply {
            AdminMessage::Reject { seq, reject, .. } => self.notify(&reject.event(*seq, &mut digits)),
            AdminMessage::BusinessReject { seq, reason, text, .. } => {
                self.notify(&Event::Rejected { seq: *seq, reason: *reason, tag: &[], text });
            }
            _ => {}
        }
    }

    /// Notifies of new sequence numbers, and why.
    pub(crate) fn notify_numbers(&mut self, reason: &str) {
        let stored = self.session().state.stored;
        let (next_in, next_out) = (stored.next_in, stored.next_out);
        self.notify(&Event::SequenceChanged { next_in, next_out, reason });
    }

    pub(crate) fn begin(&mut self) {
        *self.turns += 1;
        self.touched.clear();
        self.store.begin();
        table::opened_mut(self.table, self.own).touch(*self.turns);
        self.touched.push(self.own);
    }

    /// Makes the transaction visible: numbers, state and bytes, in every session it touched.
    pub(crate) fn commit(&mut self) -> Result<(), Stop> {
        let table = &*self.table;
        if self.touched.iter().any(|n| table::opened(table, *n).turn.refused.is_some()) {
            // The application did not mind that the store refused; the transaction is lost all the same.
            self.rollback();
            return Err(self.wait(BlockedBy::OtherSession));
        }
        match self.store.commit() {
            Ok(position) => {
                kill_point!(Commit);
                let durable = self.store.durable();
                for n in self.touched.drain(..) {
                    let session = table::opened_mut(self.table, n);
                    session.outbox.committed(position, durable);
                    self.lists.note_commit(n, session);
                    notify_of_commit(self.app, session);
                    self.lists.note_end(n, session);
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

    /// Nothing of the transaction happened, in no session.
    pub(crate) fn rollback(&mut self) {
        self.store.rollback();
        self.restore();
    }

    fn restore(&mut self) {
        for n in self.touched.drain(..) {
            let session = table::opened_mut(self.table, n);
            session.rollback(self.now.mono);
            self.lists.note_end(n, session);
        }
    }

    /// Reads nothing more until the socket has taken what is queued, or somebody else can go on.
    pub(crate) fn wait(&mut self, by: BlockedBy) -> Stop {
        let now = self.now;
        self.session_mut().block(now, by);
        if by == BlockedBy::OtherSession {
            self.lists.note_awaiting_room(self.own);
        }
        Stop
    }

    /// Runs `act` as one transaction: committed when it succeeds, else nothing of it happened.
    pub(crate) fn run(&mut self, act: impl FnOnce(&mut Self) -> Result<(), SendError>) -> Result<(), Stop> {
        self.begin();
        match act(self) {
            Ok(()) => self.commit(),
            Err(error) => Err(self.abandon(error)),
        }
    }

    /// Rolls back because of `error` and does what follows from it.
    pub(crate) fn abandon(&mut self, error: SendError) -> Stop {
        self.rollback();
        match error {
            // The session whose store it was is halted. If it was another one, the message is processed without it.
            SendError::Store(_) | SendError::BackPressure => self.wait(BlockedBy::OtherSession),
            other => {
                self.close(SessionEnd::Unanswerable(Box::new(other)));
                Stop
            }
        }
    }

    pub(crate) fn halt(&mut self, halt: Halt) {
        let session = table::opened_mut(self.table, self.own);
        session.halt(self.now.mono, halt);
        self.lists.note_end(self.own, session);
    }

    /// Requests that the connection be closed. The application is notified once the transport has ended.
    pub(crate) fn close(&mut self, end: SessionEnd) {
        let session = table::opened_mut(self.table, self.own);
        session.close(end);
        self.lists.note_end(self.own, session);
    }

    /// Records the inbound message of this transaction.
    pub(crate) fn record(
        &mut self,
        seq: SeqNum,
        message: &Message<'_>,
        flags: RecordFlags,
    ) -> Result<(), SendError> {
        let session = table::opened_mut(self.table, self.own);
        session.record_inbound(self.now, self.store, seq, message.bytes(), flags)
    }

    pub(crate) fn record_change(&mut self, kind: RecordKind, why: &str) -> Result<(), SendError> {
        table::opened_mut(self.table, self.own).record_change(self.now, self.store, kind, why)
    }

    pub(crate) fn reset(&mut self, why: &str) -> Result<(), SendError> {
        table::opened_mut(self.table, self.own).reset(self.now, self.store, why)
    }

    /// A handle on the own session for messages of the session layer.
    pub(crate) fn handle<'h>(&'h mut self, cause: Option<SeqNum>, route: Option<Message<'h>>) -> Handle<'h> {
        Handle {
            now: self.now,
            session: table::opened_mut(self.table, self.own),
            store: &mut *self.store,
            cause,
            route,
            header: &[],
            session_layer: true,
        }
    }

    /// Writes a message of the session layer; `inbound` is the message it answers. What does not fit is written in brief: a
    /// counterparty whose MaxMessageSize (383) is small gets its answer all the same.
    pub(crate) fn send(
        &mut self,
        kind: SendKind<'_>,
        inbound: Option<&Message<'_>>,
        admin: &AdminMessage<'_>,
    ) -> Result<SeqNum, SendError> {
        match self.write(kind, route(admin, inbound), admin, Extent::Full) {
            Err(SendError::TooLarge { .. } | SendError::Encode(_)) => {
                self.write(kind, None, admin, Extent::Brief)
            }
            written => written,
        }
    }

    fn write(
        &mut self,
        kind: SendKind<'_>,
        route: Option<Message<'_>>,
        admin: &AdminMessage<'_>,
        extent: Extent,
    ) -> Result<SeqNum, SendError> {
        let cause = match kind {
            SendKind::New { cause } => cause,
            _ => None,
        };
        let session = self.session();
        let version = admin.limits(session.settings.id.begin_string(), session.is_42_or_later());
        let mut draft = self.handle(cause, route).open(MsgType::new(admin.msg_type()), kind);
        admin.write(draft.writer(), version, extent);
        draft.send()
    }

    /// Asks the application whether the counterparty may log on; `None` after a panic.
    pub(crate) fn authenticate(&mut self, logon: Message<'_>) -> Option<LogonDecision> {
        let key = self.session().key;
        let app = &mut *self.app;
        catch_unwind(AssertUnwindSafe(|| app.on_logon(key, logon))).ok()
    }

    /// Offers an application message in the open transaction. A panic is caught: it costs this transaction, not the worker.
    pub(crate) fn offer(&mut self, message: Message<'_>, seq: SeqNum, redelivered: bool) -> Outcome {
        let (app, mut turn) = self.turn(Some(message), Some(seq), redelivered);
        match catch_unwind(AssertUnwindSafe(|| app.on_message(message, &mut turn))) {
            Ok(Ok(delivery)) => Outcome::Delivered(delivery),
            Ok(Err(error)) => Outcome::Failed(error),
            Err(_) => Outcome::Panicked,
        }
    }

    /// The application, and what it may do in the open transaction.
    pub(crate) fn turn<'t>(
        &'t mut self,
        inbound: Option<Message<'t>>,
        cause: Option<SeqNum>,
        redelivered: bool,
    ) -> (&'t mut dyn Application, Turn<'t>) {
        let turn = Turn {
            now: self.now,
            number: *self.turns,
            inbound,
            cause,
            redelivered,
            own: self.own,
            table: &mut *self.table,
            store: &mut *self.store,
            touched: &mut *self.touched,
            waker: self.waker,
        };
        (&mut *self.app, turn)
    }
}

/// What the application hears once a transaction is committed: warnings of what it sent, and what will never arrive.
fn notify_of_commit(app: &mut dyn Application, session: &mut Session) {
    if let Some((lost, why)) = session.turn.unreached.take() {
        notify(app, session, &Event::Unreached { begin: lost.first, end: lost.last, why });
    }
    let Some(check) = &mut session.outbound else { return };
    let key = session.key;
    let mut heard = true;
    for (seq, violation) in check.take_warnings() {
        let event = Event::WarnedOutbound { seq, violation };
        heard &= catch_unwind(AssertUnwindSafe(|| app.on_event(key, &event))).is_ok();
    }
    if !heard {
        session.close(SessionEnd::ApplicationPanicked { callback: "on_event" });
    }
}
