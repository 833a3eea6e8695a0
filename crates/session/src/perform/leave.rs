//! Messages that the session layer sends of its own accord: TestRequests and Logouts.

use std::borrow::Cow;

use fixbolt_codec::SeqNum;

use crate::events::end::SessionEnd;
use crate::events::error::SendError;
use crate::perform::call::{Call, Stop};
use crate::send::seal::SendKind;
use crate::settings::behavior::TestReqId;
use crate::state::{Phase, TestRequest};
use crate::wire::admin_message::{AdminMessage, LogoutStatus, TestReqIdValue};

impl Call<'_> {
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
                connection.close(end);
                return Ok(());
            }
            return self.send_logout(text, cause, Some(end));
        }
        // Nothing else is sent afterwards.
        (connection.logon.replay, connection.logon.kept_from) = (None, None);
        let status = LogoutStatus::of(&end);
        self.send(SendKind::New { cause }, None, &AdminMessage::Logout { text, status })?;
        if let Some(connection) = self.connection_mut() {
            connection.logon.phase = Phase::LogoutAnswered;
            connection.close(end);
        }
        Ok(())
    }

    /// Ends the connection of our own accord, with a Logout that says why if there is room for it.
    #[cold]
    pub(crate) fn end_with(&mut self, text: Cow<'_, str>, end: SessionEnd) -> Result<(), Stop> {
        self.with_room(|call| call.log_out(text, None, end.clone(), false))?;
        self.close(end);
        Err(Stop)
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
            connection.leaving = leaving.map(Box::new);
        }
        Ok(())
    }
}
