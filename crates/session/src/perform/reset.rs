//! A reset of the sequence numbers in a session that is logged on, begun by us (24-hour reset): a
//! TestRequest, its Heartbeat, then a Logon with ResetSeqNumFlag=Y, and its answer. Both sides
//! continue with 2.
//!
//! R-RESET-7 to R-RESET-10. If both sides begin at the same time, each takes the other's Logon for
//! the answer to its own.

use std::sync::Arc;

use fixbolt_codec::{Message, SeqNum, Version};

use crate::decide::logon;
use crate::events::change_error::ChangeError;
use crate::events::event::Event;
use crate::perform::call::Call;
use crate::send::seal::SendKind;
use crate::state::session::Session;
use crate::state::{Phase, ResetStage, Resetting};
use crate::values::fix::tag;
use crate::wire::admin_message::AdminMessage;

impl Call<'_> {
    /// Begins a reset: sends the TestRequest.
    pub(crate) fn begin_reset(&mut self, why: &str) -> Result<(), ChangeError> {
        let session = self.session();
        if let Some(halt) = &session.standing.halted {
            return Err(ChangeError::Halted(halt.clone()));
        }
        if session.fixed.settings.id.version() < Version::Fix41 {
            return Err(ChangeError::NoResetSeqNumFlag);
        }
        let Some(connection) = &session.state.connection else { return Err(ChangeError::NotLoggedOn) };
        if connection.logon.phase() != Phase::LoggedOn || connection.end.is_some() {
            return Err(ChangeError::NotLoggedOn);
        }
        if connection.resetting.is_some() {
            return Err(ChangeError::ResetHasBegun);
        }
        if is_busy(session) {
            return Err(ChangeError::MessagesPending);
        }
        let until = self.now.mono + session.fixed.settings.timing.logon_timeout;
        let stage = ResetStage::Testing(self.test_request()?);
        let Some(connection) = self.connection_mut() else { return Err(ChangeError::NotLoggedOn) };
        let test_request = connection.test_requests;
        connection.resetting = Some(Arc::new(Resetting { stage, until, test_request, why: why.to_owned() }));
        Ok(())
    }
}

/// Returns whether a reset would lose messages.
// R-RESET-8
fn is_busy(session: &Session) -> bool {
    session.state.stored.wait > 0
        || session.state.connection.as_ref().is_none_or(|connection| {
            let logon = &connection.logon;
            logon.missing.is_some()
                || logon.backlog.replay.is_some()
                || logon.backlog.withheld_from.is_some()
                || logon.logout_waits.is_some()
        })
}

impl Call<'_> {
    /// Sends our Logon if a reset waits for this Heartbeat.
    #[inline]
    pub(crate) fn tested(&mut self, heartbeat: &Message<'_>) {
        if self.session().state.reset_stage().is_some() {
            self.may_reset(heartbeat);
        }
    }

    // R-RESET-7
    fn may_reset(&mut self, heartbeat: &Message<'_>) {
        let session = self.session();
        let id = heartbeat.get(tag::TEST_REQ_ID).unwrap_or_default();
        match session.state.reset_stage() {
            Some(ResetStage::Testing(awaited)) if awaited.is(id) => {}
            _ => return,
        }
        let Some(connection) = &session.state.connection else { return };
        match connection.logon.phase() {
            Phase::LoggedOn => {}
            Phase::LogoutSent => return self.abandon_reset("a Logout was sent"),
            // The Heartbeat filled the gap before the counterparty's Logout.
            _ => return,
        }
        if is_busy(session) {
            return self.abandon_reset("messages are missing, wait, or are being sent again");
        }
        let mut ours = AdminMessage::Logon(logon::ours(session, connection.heart_bt_int, true, SeqNum::ONE));
        let until = self.now.mono + session.fixed.settings.timing.logon_timeout;
        if !self.complete_logon(&mut ours, true) {
            return;
        }
        self.run(|call| {
            let resetting = call.connection_mut().and_then(|connection| connection.resetting.take());
            let test_request = resetting.as_ref().map_or(0, |resetting| resetting.test_request);
            let why = resetting.map_or_else(String::new, |resetting| resetting.why.clone());
            call.reset(&why)?;
            call.send(SendKind::New { cause: None }, None, &ours)?;
            if let Some(connection) = call.connection_mut() {
                let stage = ResetStage::LogonSent;
                connection.resetting = Some(Arc::new(Resetting { stage, until, test_request, why }));
            }
            Ok(())
        });
    }

    /// Gives the reset up before our Logon; the session continues.
    #[cold]
    pub(crate) fn abandon_reset(&mut self, why: &str) {
        if let Some(connection) = self.connection_mut() {
            let resetting = connection.resetting.take();
            let is_its_own = resetting.is_some_and(|it| it.test_request == connection.test_requests);
            // Nobody waits for the answer to its TestRequest where heartbeats are not watched.
            if connection.heart_bt_int == 0 && is_its_own {
                connection.test_request = None;
            }
        }
        self.notify(&Event::ResetAbandoned { why });
    }

    /// Tells what has become of a reset whose connection has ended. After our Logon the numbers are
    /// reset here, and nobody knows whether they are at the counterparty.
    #[cold]
    pub(crate) fn reset_is_cut_off(&mut self, resetting: &Resetting) {
        let Resetting { stage, why, .. } = resetting;
        match stage {
            ResetStage::Testing(_) => self.notify(&Event::ResetAbandoned { why: "the connection has ended" }),
            ResetStage::LogonSent => self.notify_numbers(why),
        }
    }
}
