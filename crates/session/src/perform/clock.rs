//! What the clock does to a session: heartbeats, TestRequests, and timeouts.

use core::time::Duration;

use crate::events::end::{Misbehavior, SessionEnd};
use crate::events::event::Event;
use crate::perform::call::{Call, Stop};
use crate::perform::leave::PEER_CLOSES_WITHIN;
use crate::send::seal::SendKind;
use crate::settings::SessionSettings;
use crate::settings::behavior::{Farewell, HeartbeatWhileTesting};
use crate::state::reading::BlockedBy;
use crate::state::session::Session;
use crate::state::{Connection, Phase};
use crate::values::fix::msg_type;
use crate::values::time::Mono;
use crate::wire::admin_message::AdminMessage;
use crate::wire::oversized;

/// How long a session that the application put off waits before the message is offered again,
/// unless the application wakes it earlier.
const ASK_AGAIN_AFTER: Duration = Duration::from_millis(250);
/// How long a message may stay incomplete if there are no heartbeats.
const SILENCE_WITHOUT_HEARTBEATS: Duration = Duration::from_secs(30);

/// The shortest time for the answer to a TestRequest, in percent of HeartBtInt.
const SHORTEST_ANSWER_PERCENT: u32 = 20;
/// What is reported of a silent counterparty whose connection is kept.
const UNANSWERED: &str =
    "the counterparty did not answer a TestRequest; the connection is kept (DisableHeartBeatCheck)";

impl Session {
    /// Returns when the clock will next have an effect here, with or without a connection.
    pub(crate) fn next_deadline(&self) -> Option<Mono> {
        let Some(connection) = self.state.connection.as_ref() else {
            return self.standing.retry.map(|retry| retry.at).into_iter().chain(self.next_look()).min();
        };
        if connection.end.is_some() {
            return None;
        }
        let mut next = connection.logon.deadline;
        let mut sooner = |at: Mono| next = Some(next.map_or(at, |next| next.min(at)));
        if let Some(look) = self.next_look() {
            sooner(look);
        }
        // A replay resumes when the socket accepts more data. If nothing is in flight there is no
        // such event, so ask to be called at once, or once a replay that is slowed down may go on.
        let is_throttled = self.limits.outbound_places.as_ref().is_some_and(|places| places.is_following());
        if let Some(replay) = connection.logon.replay
            && self.outbox.is_empty()
            && (self.intake.reading.blocked.is_none() || self.intake.reading.is_paced() || is_throttled)
        {
            sooner(self.resumes_at(replay));
        }
        if let Some(blocked) = self.intake.reading.blocked
            && blocked.by != BlockedBy::Outbox
        {
            if blocked.by != BlockedBy::Pace {
                sooner(blocked.since + ASK_AGAIN_AFTER);
            } else if self.leaves_rest() {
                // The answer to our Logout may be unread.
                sooner(blocked.since);
            }
            if let Some(until) = blocked.until {
                sooner(until);
            }
        }
        if let Some(until) = self.throttled_until() {
            sooner(until);
        }
        if let Some(resetting) = &connection.resetting {
            sooner(resetting.until);
        }
        if let Some(since) = self.outbox.unread_since() {
            sooner(since + self.fixed.settings.send_timeout);
        }
        if self.outbox.has_passed_watermark() {
            sooner(Mono(0));
        }
        if let (Some(since), Some(limit)) =
            (self.outbox.slow_since(), self.fixed.settings.slow_consumer_timeout)
        {
            sooner(since + limit);
        }
        if let Some(oversized) = &self.intake.reading.oversized {
            sooner(oversized.since + oversized::WITHIN);
        }
        if let Some(known) = self.intake.reading.incomplete {
            sooner(known.since + self.patience_inside_a_message(connection));
        }
        if beats(connection) {
            if !self.holds_heartbeats(connection) {
                sooner(connection.last_sent + heartbeat(connection));
            }
            if (connection.test_request.is_none() || self.intake.reading.would_hear())
                && let Some(at) = self.silent_at(connection)
            {
                sooner(at);
            }
        }
        next
    }

    fn holds_heartbeats(&self, connection: &Connection) -> bool {
        connection.test_request.is_some()
            && self.fixed.behavior.heartbeat_while_testing == HeartbeatWhileTesting::Held
    }

    /// Returns HeartBtInt plus a reasonable transmission time.
    fn test_request_interval(&self, connection: &Connection) -> Duration {
        heartbeat(connection) * self.fixed.settings.test_request_percent / 100
    }

    /// Returns when the counterparty has been silent for too long: first for a TestRequest, then
    /// for good; `None` while a TestRequest would wait for the end of a replay, because the
    /// counterparty could not answer it, and while what it has sent stays unread because of the
    /// pace.
    fn silent_at(&self, connection: &Connection) -> Option<Mono> {
        match connection.test_request {
            None if self.intake.reading.is_paced() => None,
            None if connection.logon.replay.is_some()
                && !self.fixed.settings.replay_interleave.sends(msg_type::TEST_REQUEST) =>
            {
                None
            }
            None => Some(connection.last_received + self.test_request_interval(connection)),
            Some(test) => Some(test.sent + self.answer_interval(connection)),
        }
    }

    /// Returns how long the answer to a TestRequest may take.
    fn answer_interval(&self, connection: &Connection) -> Duration {
        let SessionSettings { test_request_percent, heartbeat_timeout_percent, .. } = self.fixed.settings;
        let percent = heartbeat_timeout_percent.map_or(test_request_percent, |timeout| {
            timeout.saturating_sub(test_request_percent).max(SHORTEST_ANSWER_PERCENT)
        });
        heartbeat(connection) * percent / 100
    }

    /// Returns how long a message may stay incomplete before it counts as broken: half a
    /// TestRequest interval.
    pub(crate) fn patience_inside_a_message(&self, connection: &Connection) -> Duration {
        if connection.heart_bt_int == 0 || connection.logon.phase != Phase::LoggedOn {
            SILENCE_WITHOUT_HEARTBEATS
        } else {
            self.test_request_interval(connection) / 2
        }
    }

    /// Resumes reading. The answer to our TestRequest may be among the unread bytes, so the
    /// counterparty has as long as after a new one.
    pub(crate) fn unblock(&mut self, now: Mono) {
        let Some(blocked) = self.intake.reading.blocked.take() else { return };
        let Some(connection) = &mut self.state.connection else { return };
        if blocked.by != BlockedBy::Outbox
            && let Some(test) = &mut connection.test_request
        {
            test.sent = now;
        }
        if blocked.by == BlockedBy::Pace {
            connection.last_received = now;
        }
    }

    /// Called when the socket has accepted bytes. The time for the answer to our Logout starts at
    /// its last byte, and a counterparty that logged out may still receive the rest of its replay.
    pub(crate) fn wrote(&mut self, now: Mono) {
        let answered_by = self.writes_again_at(now) + self.fixed.settings.logout_timeout;
        let all_taken = self.outbox.is_empty();
        let Some(connection) = &mut self.state.connection else { return };
        let logon = &mut connection.logon;
        match logon.phase {
            Phase::LogoutSent if logon.logout_queued => {
                logon.deadline = Some(answered_by);
                logon.logout_queued = !all_taken || logon.replay.is_some();
            }
            Phase::LogoutAnswered if logon.replay.is_some() => {
                logon.deadline = Some(now + PEER_CLOSES_WITHIN);
            }
            _ => {}
        }
    }
}

/// Returns whether heartbeats are exchanged now.
fn beats(connection: &Connection) -> bool {
    connection.heart_bt_int > 0 && connection.logon.phase == Phase::LoggedOn
}

fn heartbeat(connection: &Connection) -> Duration {
    Duration::from_secs(u64::from(connection.heart_bt_int))
}

impl Call<'_> {
    /// Does everything that is due.
    pub(crate) fn fire_timers(&mut self) -> Result<(), Stop> {
        let now = self.now.mono;
        let session = self.session();
        let Some(connection) = &session.state.connection else { return Err(Stop) };
        if connection.logon.deadline.is_some_and(|deadline| deadline <= now) {
            if connection.logon.phase != Phase::LoggedOn {
                return self.phase_ends();
            }
            // What is missing before the counterparty's Logon has not come.
            self.session_mut().state.release();
            self.tell_horizon();
        }
        let session = self.session();
        let Some(connection) = &session.state.connection else { return Err(Stop) };
        if connection.resetting.as_ref().is_some_and(|resetting| resetting.until <= now) {
            return self.reset_times_out();
        }
        if session
            .outbox
            .unread_since()
            .is_some_and(|since| since + session.fixed.settings.send_timeout <= now)
        {
            self.close(SessionEnd::PeerDidNotRead);
            return Err(Stop);
        }
        if session.outbox.has_passed_watermark() {
            self.tell_watermark()?;
        }
        let session = self.session();
        if let (Some(since), Some(limit)) =
            (session.outbox.slow_since(), session.fixed.settings.slow_consumer_timeout)
            && since + limit <= now
        {
            self.close(SessionEnd::SlowConsumer);
            return Err(Stop);
        }
        if session.intake.reading.oversized.as_ref().is_some_and(|it| it.since + oversized::WITHIN <= now) {
            let why = Misbehavior::MessageTooLarge { limit: oversized::LARGEST };
            return self.end_with(why.to_string().into(), SessionEnd::PeerMisbehaved(why));
        }
        let session = self.session();
        let Some(connection) = &session.state.connection else { return Err(Stop) };
        if !beats(connection) {
            return Ok(());
        }
        let beat = heartbeat(connection);
        if session.silent_at(connection).is_some_and(|at| at <= now) {
            if connection.test_request.is_none() {
                self.test_request()?;
            } else if session.intake.reading.would_hear() && session.fixed.settings.check_heartbeats {
                return self.peer_is_gone();
            } else if session.intake.reading.would_hear() {
                if let Some(connection) = self.connection_mut() {
                    connection.hear(now);
                }
                self.notify(&Event::Note(UNANSWERED));
            }
        }
        let session = self.session();
        let Some(connection) = &session.state.connection else { return Err(Stop) };
        if connection.last_sent + beat <= now && !session.holds_heartbeats(connection) {
            let heartbeat = AdminMessage::Heartbeat { id: None };
            self.with_room(|call| call.send(SendKind::New { cause: None }, None, &heartbeat).map(drop))?;
            // Counts as sent even if it waits for a replay, which itself proves that we are alive,
            // or if there was no room: the bytes that wait for the counterparty to read them do the
            // same.
            if let Some(connection) = self.connection_mut() {
                connection.last_sent = now;
            }
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

    /// Ends the connection because a TestRequest was not answered.
    fn peer_is_gone(&mut self) -> Result<(), Stop> {
        let end = SessionEnd::HeartbeatTimedOut;
        if self.session().fixed.behavior.unanswered_test_request == Farewell::Logout {
            return self.end_with("Timed out waiting for heartbeat".into(), end);
        }
        self.close(end);
        Err(Stop)
    }

    fn phase_ends(&mut self) -> Result<(), Stop> {
        let Some(connection) = self.connection_mut() else { return Err(Stop) };
        let end = match connection.logon.phase {
            Phase::AwaitingLogon | Phase::LogonSent => SessionEnd::LogonTimedOut,
            Phase::LogoutSent => {
                connection.leaving.take().map_or(SessionEnd::LogoutTimedOut, |leaving| *leaving)
            }
            Phase::LogoutAnswered => SessionEnd::PeerDidNotClose,
            Phase::LoggedOn | Phase::Disconnected => {
                SessionEnd::PeerMisbehaved(Misbehavior::FirstMessageNotLogon)
            }
        };
        connection.close(end);
        Err(Stop)
    }
}
