//! When the clock has an effect on a session: one row for each timer.
//!
//! A deadline is written once, in the function of its row. The next deadline of a session is the
//! least of them ([`Session::next_deadline`]), and what a call at that time does is in one place,
//! too (`Call::fire`).

use core::time::Duration;

use crate::limits::throttle::Kind;
use crate::settings::behavior::HeartbeatWhileTesting;
use crate::settings::timing::TimingSettings;
use crate::state::backlog::Replay;
use crate::state::phase::{Leave, PhaseState};
use crate::state::reading::BlockedBy;
use crate::state::session::Session;
use crate::state::{Connection, Phase};
use crate::values::fix::msg_type;
use crate::values::time::Mono;
use crate::wire::oversized;

/// How long a counterparty that logged out may take to close the connection (test case 13b).
// R-LOGOUT-3
pub(crate) const PEER_CLOSES_WITHIN: Duration = Duration::from_secs(10);
/// How long a session that the application put off waits before the message is offered again,
/// unless the application wakes it earlier.
const ASK_AGAIN_AFTER: Duration = Duration::from_millis(250);
/// How long a message may stay incomplete, and the answer to a TestRequest that was ordered may
/// take, if there are no heartbeats.
const SILENCE_WITHOUT_HEARTBEATS: Duration = Duration::from_secs(30);
/// More bytes than a header and trailer have.
const AROUND: usize = 1024;
/// The shortest time for the answer to a TestRequest, in percent of HeartBtInt.
const SHORTEST_ANSWER_PERCENT: u32 = 20;

macro_rules! timers {
    ($($(#[$doc:meta])* $timer:ident: $due:ident;)*) => {
        /// A timer of a session with a connection. Those that are due at the same time fire in
        /// this order.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum Timer {
            $($(#[$doc])* $timer,)*
        }

        impl Timer {
            #[cfg(test)]
            pub(crate) const ALL: &[Self] = &[$(Self::$timer,)*];
        }

        impl Session {
            /// Returns when a timer fires; `None` if it does not run.
            #[inline]
            fn due(&self, connection: &Connection, timer: Timer) -> Option<Mono> {
                match timer {
                    $(Timer::$timer => self.$due(connection),)*
                }
            }

            /// Returns the first timer that is due, of those from number `from` on.
            pub(crate) fn first_due(&self, connection: &Connection, from: usize, now: Mono) -> Option<Timer> {
                $(
                    if Timer::$timer as usize >= from && self.$due(connection).is_some_and(|at| at <= now) {
                        return Some(Timer::$timer);
                    }
                )*
                None
            }

            fn least_due(&self, connection: &Connection) -> Option<Mono> {
                let mut least = None;
                $(least = earlier(least, self.$due(connection));)*
                least
            }
        }
    };
}

timers! {
    /// Looks at the schedule again.
    Schedule: schedule_due;
    /// Ends the phase: what it waits for has not come.
    Phase: phase_due;
    /// Cuts a replay that our Logout waits for.
    Cut: cut_due;
    /// Gives a reset in the session up.
    Reset: reset_due;
    /// Ends a connection whose counterparty reads nothing.
    Unread: unread_due;
    /// Tells the application that a watermark of the outbox was passed.
    Watermark: watermark_due;
    /// Ends a connection whose counterparty reads too slowly.
    SlowConsumer: slow_consumer_due;
    /// Ends a connection on which a message that is too large does not end.
    Oversized: oversized_due;
    /// Asks a silent counterparty whether it is there, or ends the connection.
    Silence: silence_due;
    /// Sends a Heartbeat.
    Heartbeat: heartbeat_due;
    /// Gives an incomplete message up.
    Incomplete: incomplete_due;
    /// Goes on with a replay.
    Replay: replay_due;
    /// Sends a message that has waited for a throttle.
    Waiting: waiting_due;
    /// Offers a message again.
    Offer: offer_due;
    /// Tells the application that a throttle has room.
    Room: room_due;
}

/// Returns the earlier of two times, if there are any.
fn earlier(one: Option<Mono>, other: Option<Mono>) -> Option<Mono> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

impl Session {
    /// Returns when the clock will next have an effect here, with or without a connection.
    pub(crate) fn next_deadline(&self) -> Option<Mono> {
        match &self.state.connection {
            None => earlier(self.store_due(), self.next_look()),
            Some(connection) if connection.end.is_some() => None,
            Some(connection) => self.least_due(connection),
        }
    }

    /// Returns whether a timer of the session's connection is due.
    #[inline]
    pub(crate) fn is_due(&self, timer: Timer, now: Mono) -> bool {
        let connection = self.state.connection.as_ref();
        connection.and_then(|connection| self.due(connection, timer)).is_some_and(|at| at <= now)
    }

    /// Returns when a store that has failed is opened again. It is while there is no connection.
    pub(crate) fn store_due(&self) -> Option<Mono> {
        self.standing.retry.map(|retry| retry.at)
    }

    /// Returns when to look at the schedule again, with or without a connection.
    pub(crate) fn next_look(&self) -> Option<Mono> {
        self.standing.calendar.as_ref().map(|calendar| calendar.next_look)
    }

    fn schedule_due(&self, _: &Connection) -> Option<Mono> {
        self.next_look()
    }

    #[expect(clippy::unused_self)] // a row
    fn phase_due(&self, connection: &Connection) -> Option<Mono> {
        connection.logon.phase.until()
    }

    /// Half of the time to leave is for the rest of a replay, the other half for the answer to our
    /// Logout. A store that keeps nothing has a gap fill to send, for which nothing waits long.
    // R-LOGOUT-7
    fn cut_due(&self, connection: &Connection) -> Option<Mono> {
        let leave = connection.logon.phase.leave().filter(|leave| leave.is_ours)?;
        let waits = connection.logon.logout_is_held() && self.fixed.keeps_messages;
        // Half of the outbox is for other messages than those of a replay.
        let has_room = self.outbox.room() >= self.outbox.size() / 2;
        (waits && has_room).then(|| self.half_gone(leave))
    }

    /// Returns when half of the time to leave is over.
    // R-LOGOUT-7, R-LOGOUT-13
    pub(crate) fn half_gone(&self, leave: &Leave) -> Mono {
        let half = self.fixed.settings.timing.logout_timeout / 2;
        Mono(0) + (leave.until - Mono(0)).saturating_sub(half)
    }

    /// After a Logout the connection ends anyway, in the time that there is for that.
    #[expect(clippy::unused_self)] // a row
    fn reset_due(&self, connection: &Connection) -> Option<Mono> {
        let resetting = connection.resetting.as_ref()?;
        (connection.logon.phase() == Phase::LoggedOn).then_some(resetting.until)
    }

    fn unread_due(&self, _: &Connection) -> Option<Mono> {
        self.outbox.unread_since().map(|since| since + self.fixed.settings.timing.send_timeout)
    }

    fn watermark_due(&self, _: &Connection) -> Option<Mono> {
        self.outbox.has_passed_watermark().then_some(Mono(0))
    }

    fn slow_consumer_due(&self, _: &Connection) -> Option<Mono> {
        Some(self.outbox.slow_since()? + self.fixed.settings.limits.slow_consumer_timeout?)
    }

    fn oversized_due(&self, _: &Connection) -> Option<Mono> {
        self.intake.reading.oversized.as_ref().map(|oversized| oversized.since + oversized::WITHIN)
    }

    /// First for a TestRequest, then for good; not while nothing is read, unless it is because the
    /// counterparty itself does not read.
    fn silence_due(&self, connection: &Connection) -> Option<Mono> {
        let is_asked = connection.test_request.is_some();
        let hears = !is_asked || self.intake.reading.would_hear();
        // What a reset waits for has a time of its own. R-RESET-8
        let is_awaited = is_asked && connection.resetting.is_none();
        let counts = beats(connection) || is_awaited && connection.logon.phase() == Phase::LoggedOn;
        if counts && hears { self.silent_at(connection) } else { None }
    }

    // R-HEARTBEAT-1
    fn heartbeat_due(&self, connection: &Connection) -> Option<Mono> {
        let is_sent = beats(connection) && !self.holds_heartbeats(connection);
        is_sent.then(|| connection.last_sent + heartbeat(connection))
    }

    fn incomplete_due(&self, connection: &Connection) -> Option<Mono> {
        let incomplete = self.intake.reading.incomplete?;
        Some(incomplete.since + self.patience_inside_a_message(connection))
    }

    /// A replay resumes when the socket accepts more data. If nothing is in flight there is no such
    /// event, so it is due at once, or once a replay that is slowed down may go on, which it does
    /// while nothing is read, too.
    fn replay_due(&self, connection: &Connection) -> Option<Mono> {
        let replay = connection.logon.backlog.replay?;
        let reading = &self.intake.reading;
        let is_throttled =
            || self.limits.outbound_permits.as_ref().is_some_and(|permits| permits.is_following());
        // Of numbers that are passed over, nothing is sent that the socket could have accepted.
        let is_under_way = |since| self.limits.replay_due > since || replay.gap_from.is_some();
        let goes_on = |since| replay.next <= replay.end && is_under_way(since);
        let reads = reading.blocked.is_none_or(|blocked| goes_on(blocked.since));
        let goes_on = self.outbox.is_empty() && (reads || reading.is_paced() || is_throttled());
        goes_on.then(|| self.resumes_at(replay))
    }

    /// Of a session that does not read. If its outbox is full, only the socket can make room.
    fn offer_due(&self, _: &Connection) -> Option<Mono> {
        let blocked = self.intake.reading.blocked?;
        // The answer to our Logout may be unread.
        let leaves_rest = self.leaves_rest_at(blocked.by);
        let again = match blocked.by {
            BlockedBy::Outbox => return None,
            BlockedBy::Pace => leaves_rest.map(|at| at.max(blocked.since)),
            BlockedBy::OtherSession | BlockedBy::Application => {
                earlier(Some(blocked.since + ASK_AGAIN_AFTER), leaves_rest.filter(|at| *at > blocked.since))
            }
        };
        earlier(again, blocked.until)
    }

    /// When a throttle allows the oldest message that waits, if nothing else does not. What depends
    /// on the socket is looked at again once that has accepted something.
    #[inline]
    fn waiting_due(&self, connection: &Connection) -> Option<Mono> {
        if self.state.stored.wait == 0 { None } else { self.oldest_due(connection) }
    }

    fn oldest_due(&self, connection: &Connection) -> Option<Mono> {
        let head = self.waiting.head(self.state.stored.waiting())?;
        let logged_on = connection.logon.phase() == Phase::LoggedOn;
        if !logged_on
            || connection.resetting.is_some()
            || self.state.keeps_back(&self.fixed.settings, head.msg_type)
        {
            return None;
        }
        let outbox = &self.outbox;
        let has_room = outbox.is_empty() || outbox.cursor.tail() + head.bytes.len() + AROUND <= outbox.half();
        let permits = self.limits.outbound_permits.as_ref();
        let kind = Kind::of(head.msg_type.as_bytes());
        let at =
            permits.zip(kind).map_or(Mono(0), |(permits, kind)| permits.free_at(self.state.counted, kind));
        (has_room && at < Mono(u64::MAX)).then_some(at)
    }

    fn room_due(&self, _: &Connection) -> Option<Mono> {
        self.throttled_until()
    }

    /// Returns when the replay may continue, if it is slowed down, or what was written during it,
    /// if a throttle holds that up.
    pub(crate) fn resumes_at(&self, replay: Replay) -> Mono {
        if replay.next <= replay.end {
            self.limits.replay_due
        } else {
            self.limits
                .outbound_permits
                .as_ref()
                .map_or(Mono(0), |permits| permits.follows_at(self.state.counted))
        }
    }

    // R-HEARTBEAT-9
    fn holds_heartbeats(&self, connection: &Connection) -> bool {
        connection.test_request.is_some()
            && self.fixed.behavior.heartbeat_while_testing == HeartbeatWhileTesting::Held
    }

    /// Returns HeartBtInt plus a reasonable transmission time.
    // R-HEARTBEAT-5
    fn test_request_interval(&self, connection: &Connection) -> Duration {
        heartbeat(connection) * self.fixed.settings.timing.test_request_delay_multiplier.whole_percent() / 100
    }

    /// Returns when the counterparty has been silent for too long: first for a TestRequest, then
    /// for good; `None` while a TestRequest would wait for the end of a replay, because the
    /// counterparty could not answer it, and while what it has sent stays unread because of the
    /// pace.
    // R-HEARTBEAT-10
    fn silent_at(&self, connection: &Connection) -> Option<Mono> {
        match connection.test_request {
            None if self.intake.reading.is_paced() => None,
            None if self.holds_test_request(connection) => None,
            None => Some(connection.last_received + self.test_request_interval(connection)),
            Some(sent) => Some(sent + self.answer_interval(connection)),
        }
    }

    /// Returns whether a TestRequest would wait for the end of a replay.
    pub(crate) fn holds_test_request(&self, connection: &Connection) -> bool {
        connection.logon.backlog.replay.is_some()
            && !self.fixed.settings.resend.replay_interleave.sends(msg_type::TEST_REQUEST)
    }

    /// Returns how long the answer to a TestRequest may take.
    // R-HEARTBEAT-8
    fn answer_interval(&self, connection: &Connection) -> Duration {
        if connection.heart_bt_int == 0 {
            return SILENCE_WITHOUT_HEARTBEATS;
        }
        let TimingSettings { test_request_delay_multiplier, heart_beat_timeout_multiplier, .. } =
            self.fixed.settings.timing;
        let test_request = test_request_delay_multiplier.whole_percent();
        let percent = heart_beat_timeout_multiplier.map_or(test_request, |timeout| {
            timeout.whole_percent().saturating_sub(test_request).max(SHORTEST_ANSWER_PERCENT)
        });
        heartbeat(connection) * percent / 100
    }

    /// Returns how long a message may stay incomplete before it counts as broken: half a
    /// TestRequest interval.
    pub(crate) fn patience_inside_a_message(&self, connection: &Connection) -> Duration {
        if connection.heart_bt_int == 0 || connection.logon.phase() != Phase::LoggedOn {
            SILENCE_WITHOUT_HEARTBEATS
        } else {
            self.test_request_interval(connection) / 2
        }
    }

    /// Resumes reading. The answer to our TestRequest may be among the unread bytes, so the
    /// counterparty has as long as after a new one.
    pub(crate) fn unblock(&mut self, now: Mono) {
        let Some(blocked) = self.intake.change().reading.blocked.take() else { return };
        let Some(connection) = &mut self.state.connection else { return };
        if blocked.by != BlockedBy::Outbox
            && let Some(sent) = &mut connection.test_request
        {
            *sent = now;
        }
        if blocked.by == BlockedBy::Pace {
            connection.last_received = now;
        }
    }

    /// Called when the socket has accepted bytes: a counterparty that logged out may still receive
    /// the rest of its replay.
    pub(crate) fn wrote(&mut self, now: Mono) {
        let Some(connection) = &mut self.state.connection else { return };
        let logon = &mut connection.logon;
        if logon.backlog.replay.is_some()
            && let PhaseState::LogoutAnswered(leave) = &mut logon.phase
            && !leave.is_ours
        {
            leave.until = now + PEER_CLOSES_WITHIN;
        }
    }
}

/// Returns whether heartbeats are exchanged now.
// R-HEARTBEAT-8
fn beats(connection: &Connection) -> bool {
    connection.heart_bt_int > 0 && connection.logon.phase() == Phase::LoggedOn
}

fn heartbeat(connection: &Connection) -> Duration {
    Duration::from_secs(u64::from(connection.heart_bt_int))
}
