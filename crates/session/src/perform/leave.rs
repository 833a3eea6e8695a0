//! The only place that closes a connection, halts a session, logs out or gives up, whatever the
//! cause is.

use std::borrow::Cow;
use std::sync::Arc;

use fixbolt_codec::SeqNum;

use crate::decide::reaction::Reaction;
use crate::events::end::{Halt, SessionEnd};
use crate::events::error::SendError;
use crate::events::event::Event;
use crate::perform::call::{Call, Stop};
use crate::send::seal::SendKind;
use crate::settings::behavior::TestReqId;
use crate::state::{Phase, TestRequest};
use crate::store::retry::StoreRetry;
use crate::wire::admin_message::{AdminMessage, LogoutStatus, TestReqIdValue};

/// What is reported of a silent counterparty whose connection is kept.
const UNANSWERED: &str =
    "the counterparty did not answer a TestRequest; the connection is kept (DisableHeartBeatCheck)";

impl Call<'_> {
    /// Carries out a reaction that needs no message.
    pub(crate) fn react(&mut self, reaction: Reaction<'_>) -> Result<(), Stop> {
        match reaction {
            Reaction::Close(close) => {
                let (end, event) = *close;
                if let Some(event) = event {
                    self.notify(&event);
                }
                self.close(end);
                Err(Stop)
            }
            Reaction::EndWith(ending) => {
                let (text, end) = *ending;
                self.with_room(|call| call.log_out(text, None, end.clone(), false))?;
                self.close(end);
                Err(Stop)
            }
            Reaction::Leave(leaving) => {
                let (text, end) = *leaving;
                if !self.with_room(|call| call.send_logout(text, None, Some(end.clone())))? {
                    self.close(end);
                }
                Ok(())
            }
            Reaction::Halt(halt) => {
                let now = self.now.mono;
                let session = self.session_mut();
                // Another halt replaces one that its store would have ended.
                session.standing.retry =
                    matches!(*halt, Halt::StoreFailed(_)).then(|| StoreRetry::begin(now));
                session.standing.halted = Some((*halt).clone());
                session.publish();
                self.close(SessionEnd::Halted(*halt));
                Err(Stop)
            }
            Reaction::Release => {
                self.session_mut().state.release();
                self.tell_horizon();
                Ok(())
            }
            Reaction::AbandonReset(why) => {
                self.abandon_reset(why);
                Ok(())
            }
            Reaction::Test => self.test_request().map(drop),
            Reaction::KeepSilent => {
                let now = self.now.mono;
                if let Some(connection) = self.connection_mut() {
                    connection.hear(now);
                }
                self.notify(&Event::Note(UNANSWERED));
                Ok(())
            }
            Reaction::Heartbeat => self.beat(),
            Reaction::TellWatermark => self.tell_watermark(),
            // These are about a message.
            Reaction::Deliver
            | Reaction::Take
            | Reaction::Ignore
            | Reaction::IgnoreDuplicate(_)
            | Reaction::IgnoreBeforeReset
            | Reaction::Beat(_)
            | Reaction::MoveTo(_)
            | Reaction::Replay { .. }
            | Reaction::TooHigh(_)
            | Reaction::Wait(_)
            | Reaction::Authenticate
            | Reaction::Answer(_) => Ok(()),
        }
    }

    /// Requests that the connection be closed. The application is notified once the transport has
    /// ended.
    fn close(&mut self, end: SessionEnd) {
        if let Some(connection) = self.connection_mut() {
            connection.close(end);
        }
        self.core.note_change(self.own);
    }

    fn beat(&mut self) -> Result<(), Stop> {
        let now = self.now.mono;
        let heartbeat = AdminMessage::Heartbeat { id: None };
        self.with_room(|call| call.send(SendKind::New { cause: None }, None, &heartbeat).map(drop))?;
        // Counts as sent even if it waits for a replay, which itself proves that we are alive, or
        // if there was no room: the bytes that wait for the counterparty to read them do the same.
        if let Some(connection) = self.connection_mut() {
            connection.last_sent = now;
        }
        Ok(())
    }

    /// Notifies the application of a counterparty that reads too slowly, or has caught up.
    #[cold]
    fn tell_watermark(&mut self) -> Result<(), Stop> {
        let now = self.now.mono;
        let outbox = &mut self.session_mut().outbox;
        let (queued, size) = (outbox.queued(), outbox.size());
        match outbox.pass_watermark(now) {
            None => self.notify(&Event::SlowConsumer { queued, size }),
            Some(since) => self.notify(&Event::SlowConsumerRecovered { queued, after: now - since }),
        }
        // What the callback wrote may have ended the connection.
        if self.session().state.is_open() { Ok(()) } else { Err(Stop) }
    }

    /// Runs a transaction that no message caused and that may be omitted. Returns whether there was
    /// room for it.
    pub(crate) fn with_room(
        &mut self,
        act: impl FnOnce(&mut Call<'_>) -> Result<(), SendError>,
    ) -> Result<bool, Stop> {
        self.begin();
        match act(self) {
            Ok(()) => self.commit().map(|()| true),
            Err(SendError::BackPressure) => {
                self.rollback();
                Ok(false)
            }
            Err(error) => Err(self.abandon(error)),
        }
    }

    /// Sends a TestRequest to a silent counterparty; returns its TestReqID. If there is no room,
    /// the bytes it has not read serve the same purpose.
    pub(crate) fn test_request(&mut self) -> Result<Option<TestReqIdValue>, Stop> {
        let now = self.now.mono;
        let kind = self.session().fixed.behavior.test_req_id;
        let Some(connection) = self.connection_mut() else { return Err(Stop) };
        let last = connection.test_requests;
        let number = last + 1;
        let id = match kind {
            TestReqId::Counted => TestReqIdValue::Number(number),
            TestReqId::Fixed => TestReqIdValue::Test,
        };
        let sent = self.with_room(|call| {
            let Some(connection) = call.connection_mut() else { return Err(SendError::NotLoggedOn) };
            connection.test_requests = number;
            connection.test_request = Some(TestRequest { id: number, sent: now });
            call.send(SendKind::New { cause: None }, None, &AdminMessage::TestRequest { id }).map(drop)
        })?;
        if !sent && let Some(connection) = self.connection_mut() {
            connection.test_request = Some(TestRequest { id: last, sent: now });
        }
        Ok(sent.then_some(id))
    }

    /// Sends a Logout. If an answer is awaited, the connection is closed once it has come or its
    /// time is over; otherwise once the Logout is written.
    pub(crate) fn log_out(
        &mut self,
        text: Cow<'_, str>,
        cause: Option<SeqNum>,
        end: SessionEnd,
        await_answer: bool,
    ) -> Result<(), SendError> {
        let Some(connection) = self.connection_mut() else { return Err(SendError::NotLoggedOn) };
        if await_answer {
            if connection.logon.phase == Phase::LogoutSent {
                // A counterparty that violates another rule in the meantime is no longer listened
                // to.
                self.close(end);
                return Ok(());
            }
            return self.send_logout(text, cause, Some(end));
        }
        // Nothing else is sent afterwards.
        (connection.logon.backlog.replay, connection.logon.backlog.kept_from) = (None, None);
        let status = LogoutStatus::of(&end);
        self.send(SendKind::New { cause }, None, &AdminMessage::Logout { text, status })?;
        if let Some(connection) = self.connection_mut() {
            connection.logon.phase = Phase::LogoutAnswered;
        }
        self.close(end);
        Ok(())
    }

    /// Sends a Logout whose answer is awaited. `leaving` is the reason for the end if this is not
    /// an ordinary logout.
    pub(crate) fn send_logout(
        &mut self,
        text: Cow<'_, str>,
        cause: Option<SeqNum>,
        leaving: Option<SessionEnd>,
    ) -> Result<(), SendError> {
        self.session_mut().state.release();
        self.send(SendKind::New { cause }, None, &AdminMessage::Logout { text, status: None })?;
        let session = self.session();
        let until = session.writes_again_at(self.now.mono) + session.fixed.settings.logout_timeout;
        if let Some(connection) = self.connection_mut() {
            (connection.logon.phase, connection.logon.deadline) = (Phase::LogoutSent, Some(until));
            connection.logon.logout_queued = true;
            connection.leaving = leaving.map(Arc::new);
        }
        Ok(())
    }
}
