//! The only place that closes a connection, halts a session, logs out or gives up, whatever the
//! cause is.

use std::borrow::Cow;
use std::sync::Arc;

use fixbolt_codec::SeqNum;

use crate::decide::reaction::{Parting, SessionReaction};
use crate::events::end::SessionEnd;
use crate::events::error::SendError;
use crate::events::event::Event;
use crate::perform::call::Call;
use crate::send::seal::SendKind;
use crate::settings::behavior::TestReqId;
use crate::state::Phase;
use crate::state::phase::{Leave, PhaseState};
use crate::values::time::Mono;
use crate::wire::admin_message::{AdminMessage, LogoutStatus, TestReqIdValue};

/// What is reported of a silent counterparty whose connection is kept.
const UNANSWERED: &str =
    "the counterparty did not answer a TestRequest; the connection is kept (DisableHeartBeatCheck)";

impl Call<'_> {
    /// Carries out a reaction that needs no message.
    pub(crate) fn react(&mut self, reaction: SessionReaction<'_>) {
        match reaction {
            SessionReaction::Close(close) => {
                let (end, event) = *close;
                if let Some(event) = event {
                    self.notify(&event);
                }
                self.close(end);
            }
            SessionReaction::EndWith(ending) => {
                let (text, end) = *ending;
                if self.session().state.may_log_out() {
                    self.with_room(|call| call.log_out(text, None, end.clone(), Parting::Close));
                }
                self.close(end);
            }
            SessionReaction::Leave(leaving) => {
                let (text, end) = *leaving;
                if !self.with_room(|call| call.send_logout(text, None, Some(end.clone()))) {
                    self.close(end);
                }
            }
            SessionReaction::Hurry => {
                let until = self.leaves_until();
                if let Some(connection) = self.connection_mut()
                    && let is_held = connection.logon.logout_is_held()
                    && let PhaseState::LogoutAnswered(leave) = &mut connection.logon.phase
                    && !leave.is_ours
                {
                    // Before the rest of a replay the counterparty does not close.
                    let until = if is_held { until } else { until.min(leave.until) };
                    (leave.until, leave.is_ours) = (until, true);
                }
            }
            SessionReaction::CutReplay => self.cut_replay(),
            SessionReaction::Halt(halt) => {
                let now = self.now.mono;
                let session = self.session_mut();
                session.standing.halt((*halt).clone(), now);
                session.publish();
                self.close(SessionEnd::Halted(*halt));
            }
            SessionReaction::Release => {
                self.session_mut().state.release();
                self.tell_horizon();
            }
            SessionReaction::AbandonReset(why) => self.abandon_reset(why),
            SessionReaction::Test => {
                let now = self.now.mono;
                // Without room, what the counterparty has not read serves the same purpose.
                if self.test_request() == Err(SendError::BackPressure)
                    && let Some(connection) = self.connection_mut()
                {
                    connection.test_request = Some(now);
                }
            }
            SessionReaction::KeepSilent => {
                let now = self.now.mono;
                if let Some(connection) = self.connection_mut() {
                    connection.hear(now);
                }
                self.notify(&Event::Note(UNANSWERED));
            }
            SessionReaction::Heartbeat => self.beat(),
            SessionReaction::TellWatermark => self.tell_watermark(),
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

    fn beat(&mut self) {
        let now = self.now.mono;
        let heartbeat = AdminMessage::Heartbeat { id: None };
        self.with_room(|call| call.send(SendKind::New { cause: None }, None, &heartbeat).map(drop));
        // Counts as sent even if it waits for a replay, which itself proves that we are alive, or
        // if there was no room: the bytes that wait for the counterparty to read them do the same.
        if let Some(connection) = self.connection_mut() {
            connection.last_sent = now;
        }
    }

    /// Notifies the application of a counterparty that reads too slowly, or has caught up.
    #[cold]
    fn tell_watermark(&mut self) {
        let now = self.now.mono;
        let outbox = &mut self.session_mut().outbox;
        let (queued, size) = (outbox.queued(), outbox.size());
        match outbox.pass_watermark(now) {
            None => self.notify(&Event::SlowConsumer { queued, size }),
            Some(since) => self.notify(&Event::SlowConsumerRecovered { queued, after: now - since }),
        }
    }

    /// Runs a transaction that no message caused and that is omitted if there is no room for it.
    /// Returns whether it was committed; if not, and there was room, the session ends.
    pub(crate) fn with_room(&mut self, act: impl FnOnce(&mut Call<'_>) -> Result<(), SendError>) -> bool {
        self.begin();
        match act(self) {
            Ok(()) => self.commit().is_ok(),
            Err(SendError::BackPressure) => {
                self.rollback();
                false
            }
            Err(error) => {
                self.abandon(error);
                false
            }
        }
    }

    /// Sends a TestRequest to the counterparty; returns its TestReqID.
    ///
    /// # Errors
    /// Returns [`SendError::BackPressure`] if there is no room, and [`SendError::Unavailable`] if
    /// the session ends.
    pub(crate) fn test_request(&mut self) -> Result<TestReqIdValue, SendError> {
        let now = self.now.mono;
        let kind = self.session().fixed.behavior.test_req_id;
        let session = self.session();
        let Some(connection) = &session.state.connection else { return Err(SendError::Unavailable) };
        // A counterparty without heartbeats is rightly silent while the TestRequest waits.
        // R-HEARTBEAT-10
        let is_watched = connection.heart_bt_int > 0 || !session.holds_test_request(connection);
        let number = connection.test_requests.wrapping_add(1);
        let id = match kind {
            // R-HEARTBEAT-5
            TestReqId::Counted => TestReqIdValue::Number(number.into()),
            TestReqId::Fixed => TestReqIdValue::Test,
        };
        let sent = self.with_room(|call| {
            let Some(connection) = call.connection_mut() else { return Err(SendError::NotLoggedOn) };
            connection.test_requests = number;
            connection.test_request = is_watched.then_some(now);
            call.send(SendKind::New { cause: None }, None, &AdminMessage::TestRequest { id }).map(drop)
        });
        if sent {
            return Ok(id);
        }
        if !self.session().state.is_open() {
            return Err(SendError::Unavailable);
        }
        Err(SendError::BackPressure)
    }

    /// Sends a Logout, unless one was sent before and is enough. If an answer is awaited, the
    /// connection is closed once it has come or its time is over; otherwise once the Logout is
    /// written.
    // R-LOGOUT-12
    pub(crate) fn log_out(
        &mut self,
        text: Cow<'_, str>,
        cause: Option<SeqNum>,
        end: SessionEnd,
        parting: Parting,
    ) -> Result<(), SendError> {
        let Some(connection) = self.connection_mut() else { return Err(SendError::NotLoggedOn) };
        let was_sent = connection.logon.logout_is_sent();
        if parting == Parting::AwaitAnswer && connection.logon.phase() != Phase::LogoutSent {
            return self.send_logout(text, cause, Some(end));
        }
        // A counterparty that violates another rule in the meantime is no longer listened to. One
        // whose Logout waits for a replay gets another one in its place.
        if was_sent && parting != Parting::CloseAfterAnother {
            self.close(end);
            return Ok(());
        }
        // Nothing else is sent afterwards.
        (connection.logon.backlog.replay, connection.logon.backlog.withheld_from) = (None, None);
        let status = LogoutStatus::of(&end);
        let until = self.now.mono;
        let seq = self.send(SendKind::New { cause }, None, &AdminMessage::Logout { text, status })?;
        if let Some(connection) = self.connection_mut() {
            let leave = Leave { until, seq: Some(seq), is_ours: true, end: None };
            connection.logon.phase = PhaseState::LogoutAnswered(leave);
        }
        self.close(end);
        Ok(())
    }

    /// Returns when a connection that is left now has ended, whatever the counterparty does.
    fn leaves_until(&self) -> Mono {
        self.now.mono + self.session().fixed.settings.timing.logout_timeout
    }

    /// Sends a Logout whose answer is awaited. `leaving` is the reason for the end if this is not
    /// an ordinary logout.
    // R-LOGOUT-1
    pub(crate) fn send_logout(
        &mut self,
        text: Cow<'_, str>,
        cause: Option<SeqNum>,
        leaving: Option<SessionEnd>,
    ) -> Result<(), SendError> {
        self.session_mut().state.release();
        let seq = self.send(SendKind::New { cause }, None, &AdminMessage::Logout { text, status: None })?;
        let until = self.leaves_until();
        if let Some(connection) = self.connection_mut() {
            let leave = Leave { until, seq: Some(seq), is_ours: true, end: leaving.map(Arc::new) };
            connection.logon.phase = PhaseState::LogoutSent(leave);
        }
        Ok(())
    }
}
