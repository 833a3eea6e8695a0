//! One call for one session: what it runs in transactions, and what it asks and tells the
//! application.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use fixbolt_codec::{
    BodySink, BodyWriter, DataFields, EncodeError, EncodeErrorKind, Message, MsgType, Redacted, SeqNum,
    Version,
};
use fixbolt_dictionary::Direction;

use crate::api::application::{Application, Delivery};
use crate::api::turn::Turn;
use crate::core::transaction::NotCommitted;
use crate::core::{Core, Failed};
use crate::decide::reaction::SessionReaction;
use crate::events::end::{Halt, SessionEnd};
use crate::events::error::SendError;
use crate::events::event::{Event, Unreached};
use crate::events::failure::Failure;
use crate::send::draft::{Author, Handle};
use crate::send::seal::SendKind;
use crate::settings::behavior::VersionOfRejected;
use crate::settings::dictionaries::SessionDictionary;
use crate::state::Connection;
use crate::state::backlog::Unsent;
use crate::state::reading::BlockedBy;
use crate::state::session::Session;
use crate::state::transaction::News;
use crate::store::{RecordFlags, RecordKind, Store};
use crate::values::fix::MAX_MESSAGE_SIZE_BEFORE_LOGON;
use crate::values::fix::{msg_type, tag};
use crate::values::time::{Mono, Now};
use crate::values::waits_for::WaitsFor;
use crate::wire::admin_message::{AdminMessage, Extent, ReadAs, route};
use crate::wire::header::Header;

/// One call: a session at work, with all that the worker's sessions share.
pub(crate) struct Call<'c> {
    pub(crate) core: &'c mut Core,
    /// The dictionaries of each session, outside the core: a message's index borrows the data
    /// fields while the sessions are in use.
    pub(crate) dialects: &'c [SessionDictionary],
    pub(crate) app: &'c mut (dyn Application + 'c),
    pub(crate) now: Now,
    /// The index of the session at work.
    pub(crate) own: usize,
    /// How many transactions wait for their news to be told: the callback that hears of one wrote
    /// the next.
    pub(crate) telling: u32,
}

/// An event callback may write because of a message that an event callback wrote, but not a third
/// time: that would never end.
const TELLING_MOST: u32 = 2;

/// The result of an application's callback.
pub(crate) enum Outcome {
    Delivered(Delivery),
    Failed(Failure),
    Panicked,
}

/// The reason given for a callback that panicked.
pub(crate) const PANIC: &str = "panic";
/// The reason given for a callback whose transaction the store refused.
const NOT_STORED: &str = "what it wrote could not be stored";
/// Why one failed that would be called again because of what it wrote, again and again.
const ENDLESS: &str = "it writes because of what it wrote itself, again and again";

impl<'c> Call<'c> {
    pub(crate) fn session(&self) -> &Session {
        &self.core.sessions[self.own]
    }

    pub(crate) fn session_mut(&mut self) -> &mut Session {
        &mut self.core.sessions[self.own]
    }

    pub(crate) fn connection_mut(&mut self) -> Option<&mut Connection> {
        self.session_mut().state.connection.as_mut()
    }

    /// Returns whether the session can continue with the message in hand: it is not closing, and
    /// waits for nothing.
    pub(crate) fn goes_on(&self) -> bool {
        let session = self.session();
        session.state.is_open() && session.intake.reading.blocked.is_none()
    }

    /// Returns the data fields of the session's dialect.
    pub(crate) fn data_fields(&self) -> &'c DataFields {
        self.dialects[self.own].data_fields()
    }

    /// Notifies the application of an event, in a separate transaction if it writes. Must not be
    /// called while one is open.
    pub(crate) fn notify(&mut self, event: &Event<'_>) {
        self.run_callback("on_event", |app, turn| app.on_event(event, turn));
    }

    /// Calls a callback that processes no message: what it writes is a separate transaction. If it
    /// fails, the connection ends, but the worker continues (property 4). Returns the callback's
    /// answer, if it did not fail.
    fn run_callback<R>(
        &mut self,
        callback: &'static str,
        act: impl FnOnce(&mut (dyn Application + 'c), &mut Turn<'_>) -> Result<R, Failure>,
    ) -> Option<R> {
        let (app, mut turn) = self.turn();
        let result = catch_unwind(AssertUnwindSafe(|| act(app, &mut turn)));
        let open = turn.in_transaction;
        match self.settle(open, result) {
            Ok(answer) => Some(answer),
            Err(why) => {
                self.callback_failed(callback, why);
                None
            }
        }
    }

    /// Commits what a callback wrote, or rolls it back if the callback failed. Returns the
    /// callback's answer, or why it failed.
    pub(crate) fn settle<R>(
        &mut self,
        open: bool,
        result: thread::Result<Result<R, Failure>>,
    ) -> Result<R, String> {
        let why = match result {
            Ok(Ok(answer)) if !open => return Ok(answer),
            Ok(Ok(_)) if self.telling > TELLING_MOST => ENDLESS.to_owned(),
            Ok(Ok(answer)) => return self.commit().map(|()| answer).map_err(|_| NOT_STORED.to_owned()),
            Ok(Err(failure)) => failure.to_string(),
            Err(_) => PANIC.to_owned(),
        };
        if open {
            self.rollback();
        }
        Err(why)
    }

    /// Calls a callback that decides how a connection continues. Returns its answer, unless it
    /// failed or what it wrote has ended the connection.
    pub(crate) fn ask<R>(
        &mut self,
        callback: &'static str,
        act: impl FnOnce(&mut (dyn Application + 'c), &mut Turn<'_>) -> Result<R, Failure>,
    ) -> Option<R> {
        self.run_callback(callback, act).filter(|_| self.session().state.is_open())
    }

    /// Ends the connection because a callback failed. Without a connection, the application is
    /// notified.
    fn callback_failed(&mut self, callback: &'static str, why: String) {
        if self.session().state.connection.is_some() {
            self.react(SessionReaction::close(SessionEnd::CallbackFailed { callback, why }));
            return;
        }
        let event = Event::CallbackFailed { callback, why: &why };
        let (app, mut turn) = self.turn();
        // If the application fails here as well, nothing more is reported; nor is anything kept
        // that it writes here.
        let _ = catch_unwind(AssertUnwindSafe(|| app.on_event(&event, &mut turn)));
        if turn.in_transaction {
            self.rollback();
        }
    }

    /// Notifies the application of a Reject or BusinessMessageReject that was sent, not of any
    /// other reply.
    pub(crate) fn notify_rejected(&mut self, reply: &AdminMessage<'_>) {
        let mut digits = [0; 20];
        match reply {
            AdminMessage::Reject { seq, reject, .. } => self.notify(&reject.event(*seq, &mut digits)),
            AdminMessage::BusinessReject { seq, reject, .. } => {
                let (reason, text) = (reject.reason.value(), &reject.text);
                self.notify(&Event::Rejected { seq: *seq, reason, tag: Redacted(&[]), text, order: None });
            }
            _ => {}
        }
    }

    /// Notifies the application of new sequence numbers and the reason.
    pub(crate) fn notify_numbers(&mut self, reason: &str) {
        let stored = self.session().state.stored;
        let (next_in, next_out) = (stored.next_in, stored.next_out);
        self.notify(&Event::SequenceChanged { next_in, next_out, reason });
    }

    /// Notifies the application of messages that its counterparty will not get.
    pub(crate) fn tell_lost(&mut self, lost: Option<(Unsent, Unreached)>) {
        if let Some((lost, why)) = lost {
            self.notify(&Event::Unreached { begin: lost.first, end: lost.last, why });
        }
    }

    /// Begins a transaction. Returns the session, and the store.
    pub(crate) fn begin(&mut self) -> (&mut Session, &mut dyn Store) {
        self.core.begin(self.own)
    }

    /// Makes the transaction visible, in every session it touched, and tells the application what
    /// has come of it.
    ///
    /// # Errors
    /// Returns [`SendError::Unavailable`] if the store does not take it: the session waits or is
    /// halted.
    pub(crate) fn commit(&mut self) -> Result<(), SendError> {
        let committed = self.core.commit(self.now);
        self.end_failed();
        match committed {
            Ok(is_news) => {
                if is_news {
                    self.notify_of_commit();
                }
                Ok(())
            }
            Err(NotCommitted::Refused) => {
                self.wait(BlockedBy::OtherSession);
                Err(SendError::Unavailable)
            }
            Err(NotCommitted::Failed(error)) => {
                self.react(SessionReaction::halt(Halt::StoreFailed(error)));
                Err(SendError::Unavailable)
            }
        }
    }

    /// Undoes the transaction in every session.
    pub(crate) fn rollback(&mut self) {
        self.core.rollback();
        self.end_failed();
    }

    /// Ends the sessions beside which something has failed.
    #[inline]
    pub(crate) fn end_failed(&mut self) {
        while let Some((index, failed)) = self.core.failed.pop() {
            let own = core::mem::replace(&mut self.own, index);
            self.react(match failed {
                Failed::Store(error) => SessionReaction::halt(Halt::StoreFailed(error)),
                Failed::Observer => {
                    let (callback, why) = ("on_wire", PANIC.to_owned());
                    SessionReaction::close(SessionEnd::CallbackFailed { callback, why })
                }
            });
            self.own = own;
        }
    }

    /// Stops reading until the socket has accepted what is queued, or another session can continue.
    pub(crate) fn wait(&mut self, by: BlockedBy) {
        self.wait_until(by, None);
    }

    /// Stops reading as [`Call::wait`] does, but until `until` at the latest, if there is such a
    /// time.
    pub(crate) fn wait_until(&mut self, by: BlockedBy, until: Option<Mono>) {
        let now = self.now;
        self.session_mut().block_until(now, by, until);
        if by == BlockedBy::OtherSession {
            self.core.work.note_awaiting_room(self.own);
        }
    }

    /// Returns when a throttle of a session that the open transaction has touched has room for what
    /// it refused.
    pub(crate) fn throttled_until(&self) -> Option<Mono> {
        let touched = self.core.touched.iter();
        let until = touched.filter_map(|index| self.core.sessions[*index].throttled_until());
        // What has room already was refused for another reason, or is of a session that is closing.
        until.filter(|until| *until > self.now.mono).min()
    }

    /// Runs `act` as one transaction, which is committed if `act` succeeds and rolled back
    /// otherwise. Returns whether it was committed; if not, the session waits or ends.
    pub(crate) fn run(&mut self, act: impl FnOnce(&mut Self) -> Result<(), SendError>) -> bool {
        self.begin();
        match act(self) {
            Ok(()) => self.commit().is_ok(),
            Err(error) => {
                self.abandon(error);
                false
            }
        }
    }

    /// Rolls the transaction back because of `error`, and waits or ends the connection.
    pub(crate) fn abandon(&mut self, error: SendError) {
        self.rollback();
        match error {
            // The session whose store refused is halted. If it was another one, the message is
            // processed without it.
            SendError::Store(_) | SendError::BackPressure => self.wait(BlockedBy::OtherSession),
            other => self.react(SessionReaction::close(SessionEnd::Unanswerable(Box::new(other)))),
        }
    }

    /// Checks the session at the end of a call, in builds with debug assertions. The others can
    /// only have changed in transactions.
    pub(crate) fn debug_check(&self) {
        if cfg!(debug_assertions) {
            self.session().check();
            self.session().check_between_calls();
        }
    }

    /// Records the inbound message of this transaction, which is not for the application.
    pub(crate) fn record(
        &mut self,
        seq: SeqNum,
        header: &Header<'_>,
        message: &Message<'_>,
    ) -> Result<(), SendError> {
        let (session, store) = self.core.session_and_store(self.own);
        session.record_inbound(self.now, store, seq, header, message, RecordFlags::default())
    }

    pub(crate) fn record_change(&mut self, kind: RecordKind, why: &str) -> Result<(), SendError> {
        let (session, store) = self.core.session_and_store(self.own);
        session.record_change(self.now, store, kind, why)
    }

    pub(crate) fn reset(&mut self, why: &str) -> Result<(), SendError> {
        let (session, store) = self.core.session_and_store(self.own);
        session.reset(self.now, store, why)
    }

    /// Tells the store how far back messages of the session are read.
    pub(crate) fn tell_horizon(&mut self) {
        let (session, store) = self.core.session_and_store(self.own);
        session.tell_horizon(store);
    }

    /// Returns a handle on the session for messages of the session layer.
    pub(crate) fn handle<'h>(
        &'h mut self,
        cause: Option<SeqNum>,
        route: Option<&'h Message<'h>>,
    ) -> Handle<'h> {
        Handle { cause, route, author: Author::SessionLayer, ..Handle::new(self.now, self.core, self.own) }
    }

    /// Writes a message of the session layer; `inbound` is the message it answers. What does not
    /// fit is written in brief, so that a counterparty whose MaxMessageSize (383) is small still
    /// gets its answer.
    pub(crate) fn send(
        &mut self,
        kind: SendKind<'_>,
        inbound: Option<&Message<'_>>,
        admin: &AdminMessage<'_>,
    ) -> Result<SeqNum, SendError> {
        let written = self.write(kind, route(admin, inbound), admin, Extent::Full);
        let seq = match written {
            // Only what sees messages before they are sent can want a field twice.
            Err(SendError::Encode(EncodeError { kind: EncodeErrorKind::Duplicate, .. })) => written,
            Err(SendError::TooLarge { .. } | SendError::Encode(_)) => {
                self.write(kind, None, admin, Extent::Brief)
            }
            _ => written,
        }?;
        if matches!(admin, AdminMessage::Logon(_))
            && let Some(connection) = self.connection_mut()
        {
            connection.logon.ours = Some(seq);
        }
        Ok(seq)
    }

    fn write(
        &mut self,
        kind: SendKind<'_>,
        route: Option<&Message<'_>>,
        admin: &AdminMessage<'_>,
        extent: Extent,
    ) -> Result<SeqNum, SendError> {
        let cause = match kind {
            SendKind::New { cause } => cause,
            _ => None,
        };
        let session = self.session();
        let read_as = read_as(session, admin, route);
        let version = admin.limits(session.fixed.settings.id.version(), &session.fixed.behavior, read_as);
        let mut draft = self.handle(cause, route).open(MsgType::new(admin.msg_type()), kind);
        admin.write(draft.writer(), version, extent);
        draft.send_numbered()
    }

    /// Adds the application's fields to a Logon that is about to be sent; does nothing with any
    /// other message. Returns whether the message can be sent; if not, the connection ends.
    pub(crate) fn complete_logon(&mut self, message: &mut AdminMessage<'_>, resets: bool) -> bool {
        if !matches!(message, AdminMessage::Logon(_)) {
            return true;
        }
        // A Logon cannot be larger: before the logon a counterparty accepts no more.
        let mut memory = vec![0; MAX_MESSAGE_SIZE_BEFORE_LOGON];
        let mut writer = BodyWriter::new(MsgType::new(msg_type::LOGON), &mut memory);
        let session = self.session();
        let limits = message.limits(session.fixed.settings.id.version(), &session.fixed.behavior, None);
        message.write(&mut writer, limits, Extent::Full);
        session.fixed.settings.logon.write(&mut writer);
        let completed = self.ask("on_sending_logon", |app, turn| {
            turn.resets = resets;
            app.on_sending_logon(&mut writer, turn)
        });
        if completed.is_none() {
            return false;
        }
        match (writer.finish(), message) {
            (Ok(written), AdminMessage::Logon(logon)) => logon.body = written.bytes.to_vec(),
            (Err(error), _) => {
                self.react(SessionReaction::close(SessionEnd::Unanswerable(Box::new(error.into()))));
                return false;
            }
            (Ok(_), _) => {}
        }
        true
    }

    /// Offers an application message in the open transaction. A panic is caught: it ends this
    /// transaction, not the worker.
    pub(crate) fn offer(
        &mut self,
        header: &Header<'_>,
        message: Message<'_>,
        seq: SeqNum,
        redelivered: bool,
    ) -> Outcome {
        let (app, turn) = self.turn();
        let route = header.has_route.then_some(message);
        let mut turn = Turn { in_transaction: true, route, cause: Some(seq), redelivered, ..turn };
        match catch_unwind(AssertUnwindSafe(|| app.on_message(message, &mut turn))) {
            Ok(Ok(delivery)) => Outcome::Delivered(delivery),
            Ok(Err(failure)) => Outcome::Failed(failure),
            Err(_) => Outcome::Panicked,
        }
    }

    /// Returns the application and its turn, in a transaction that begins when it first writes.
    pub(crate) fn turn<'t>(&'t mut self) -> (&'t mut (dyn Application + 'c), Turn<'t>) {
        (&mut *self.app, Turn::new(self.now, self.core, self.own))
    }

    /// Notifies the application after a commit: of warnings about what it sent, and of messages
    /// that will never arrive.
    #[cold]
    fn notify_of_commit(&mut self) {
        let own = self.own;
        // A callback that writes begins another transaction, possibly in a session whose events are
        // still to be told.
        let mut touched = core::mem::take(&mut self.core.touched);
        let now = self.now.mono;
        let news: Vec<_> =
            touched.drain(..).map(|index| (index, self.core.sessions[index].take_news(now))).collect();
        self.telling += 1;
        for (index, News { unreached, waits, left, warned }) in news {
            self.own = index;
            self.tell_lost(unreached);
            if waits {
                self.notify(&Event::Waits(WaitsFor::Throttle));
            }
            for (ticket, outcome) in left {
                match outcome {
                    Ok(seq) => self.notify(&Event::Sent { ticket, seq }),
                    Err(why) => self.notify(&Event::NotSent { ticket, why: &why }),
                }
            }
            for (seq, violation) in warned {
                self.notify(&Event::WarnedOutbound { seq, violation });
            }
        }
        self.telling -= 1;
        (self.own, self.core.touched) = (own, touched);
    }
}

/// Returns what a reject of `inbound` says about the application version that it was read as: no
/// more than its dictionary has fields for, and nothing if the message names its version.
// R-FIXT-5
fn read_as(session: &Session, admin: &AdminMessage<'_>, inbound: Option<&Message<'_>>) -> Option<ReadAs> {
    let (ours, inbound) = (session.fixed.settings.appl_ver_id()?, inbound?);
    let is_business = matches!(admin, AdminMessage::BusinessReject { .. });
    match session.fixed.behavior.version_of_rejected {
        VersionOfRejected::DefaultApplVerId if is_business => Some(ReadAs::DefaultApplVerId(ours)),
        VersionOfRejected::RefApplVerId => {
            let has_field =
                !is_business || session.fixed.settings.default_appl_ver_id >= Some(Version::Fix50Sp1);
            let by_default = inbound.get(tag::APPL_VER_ID).is_none() && has_field;
            let version =
                session.dictionaries().version_of(inbound, Direction::Inbound).filter(|_| by_default)?;
            version.appl_ver_id().map(ReadAs::RefApplVerId)
        }
        _ => None,
    }
}
