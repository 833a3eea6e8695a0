//! What the clock does to a session: heartbeats, TestRequests, and waits that end.

use core::time::Duration;

use fixbolt_codec::Key;

use crate::application::{Misbehaviour, SendError, SessionEnd};
use crate::scene::{Scene, Stop};
use crate::slot::{Core, Posting};
use crate::state::{Phase, TestRequest};
use crate::time::Mono;

/// How long a blocked session waits before its application is asked again.
const ASK_AGAIN_AFTER: Duration = Duration::from_millis(1);
/// How long a message may stay incomplete when there are no heartbeats.
const SILENCE_WITHOUT_HEARTBEATS: Duration = Duration::from_secs(30);

impl Core {
    /// When the clock will next have something to do here.
    pub(crate) fn next_deadline(&self) -> Option<Mono> {
        let state = &self.state;
        if !state.is_connected() || self.end.is_some() {
            return None;
        }
        let mut next = state.phase_deadline;
        let mut sooner = |at: Mono| next = Some(next.map_or(at, |next| next.min(at)));
        if let Some(blocked) = self.blocked
            && !blocked.full
        {
            sooner(blocked.since + ASK_AGAIN_AFTER);
        }
        if let Some(known) = self.incomplete {
            sooner(known.since + self.patience_inside_a_message());
        }
        if self.beats() {
            if !self.holds_heartbeats() {
                sooner(state.last_sent + self.heartbeat());
            }
            sooner(self.silent_at());
        }
        next
    }

    /// Whether heartbeats are exchanged now.
    fn beats(&self) -> bool {
        self.state.heart_bt_int > 0 && matches!(self.state.phase, Phase::LoggedOn)
    }

    /// QuickFIX sends no Heartbeat while it waits for the answer to its TestRequest.
    fn holds_heartbeats(&self) -> bool {
        self.is_quickfix() && self.state.test_request.is_some()
    }

    fn heartbeat(&self) -> Duration {
        Duration::from_secs(u64::from(self.state.heart_bt_int))
    }

    /// HeartBtInt and a reasonable transmission time.
    fn test_request_interval(&self) -> Duration {
        self.heartbeat() * self.settings.test_request_percent / 100
    }

    /// When the counterparty has been silent for too long: first for a TestRequest, then for good.
    fn silent_at(&self) -> Mono {
        self.state.test_request.map_or(self.state.last_received, |test| test.sent)
            + self.test_request_interval()
    }

    /// How long a message may stay incomplete before it counts as broken: half a TestRequest interval.
    pub(crate) fn patience_inside_a_message(&self) -> Duration {
        if self.state.heart_bt_int == 0 || !self.state.is_logged_on() {
            SILENCE_WITHOUT_HEARTBEATS
        } else {
            self.test_request_interval() / 2
        }
    }
}

impl Scene<'_> {
    /// Does whatever is due.
    pub(crate) fn timers(&mut self) -> Result<(), Stop> {
        let now = self.now.mono;
        if self.core().state.phase_deadline.is_some_and(|deadline| deadline <= now) {
            return self.phase_ends();
        }
        if !self.core().beats() {
            return Ok(());
        }
        if self.core().silent_at() <= now {
            if self.core().state.test_request.is_some() {
                return self.peer_is_gone();
            }
            if !self.turn_with_room(|scene| scene.write_test_request())? {
                // What the counterparty does not read asks as well as a TestRequest.
                let id = self.core().state.test_requests;
                self.core().state.test_request = Some(TestRequest { id, sent: now });
            }
        }
        let heartbeat = self.core().heartbeat();
        if self.core().state.last_sent + heartbeat <= now && !self.core().holds_heartbeats() {
            self.turn_with_room(|scene| scene.heartbeat(None, None).map(|_| ()))?;
            // Also while a replay is on its way: the heartbeat waits behind it, the replay itself proves life. And without
            // room: what waits for the counterparty to read is as good.
            self.core().state.last_sent = now;
        }
        Ok(())
    }

    /// A turn that no message caused and that may be left out; gives whether there was room for it.
    fn turn_with_room(&mut self, act: impl FnOnce(&mut Self) -> Result<(), SendError>) -> Result<bool, Stop> {
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

    fn write_test_request(&mut self) -> Result<(), SendError> {
        let now = self.now.mono;
        let quickfix = self.core().is_quickfix();
        let state = &mut self.core().state;
        state.test_requests += 1;
        let id = state.test_requests;
        state.test_request = Some(TestRequest { id, sent: now });
        self.post(b"1", Posting::New { cause: None }, None, |body| {
            if quickfix {
                body.bytes(Key::new(112), b"TEST");
            } else {
                body.field(Key::new(112), &id);
            }
        })?;
        Ok(())
    }

    /// Nothing came although a TestRequest asked for it.
    fn peer_is_gone(&mut self) -> Result<(), Stop> {
        if self.core().is_quickfix() {
            self.close(SessionEnd::HeartbeatTimedOut);
            return Err(Stop);
        }
        let end = SessionEnd::HeartbeatTimedOut;
        self.turn_with_room(|scene| {
            scene.logout_and_close("Timed out waiting for heartbeat", None, end.clone())
        })?;
        self.close(end);
        Err(Stop)
    }

    fn phase_ends(&mut self) -> Result<(), Stop> {
        let end = match self.core().state.phase {
            Phase::AwaitingLogon | Phase::LogonSent => SessionEnd::LogonTimedOut,
            Phase::LogoutSent => self.core().leaving.take().unwrap_or(SessionEnd::LogoutTimedOut),
            Phase::LogoutAnswered => SessionEnd::PeerDidNotClose,
            Phase::LoggedOn | Phase::Disconnected => {
                SessionEnd::PeerMisbehaved(Misbehaviour::FirstMessageNotLogon)
            }
        };
        self.close(end);
        Err(Stop)
    }
}
