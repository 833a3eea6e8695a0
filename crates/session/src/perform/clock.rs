//! What the clock does to a session: heartbeats, TestRequests, and timeouts.

use crate::decide::due;
use crate::perform::call::Call;
use crate::state::timers::Timer;

impl Call<'_> {
    /// Fires the timers that are due, until one of them ends the connection.
    pub(crate) fn fire_timers(&mut self) {
        let mut from = 0;
        loop {
            let session = self.session();
            let Some(connection) = &session.state.connection else { break };
            let Some(timer) = session.first_due(connection, from, self.now.mono) else { break };
            from = timer as usize + 1;
            if let Some(reaction) = due::timer(session, connection, timer) {
                self.react(reaction);
            }
            if timer == Timer::Reset || !self.session().state.is_open() {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;
    use std::sync::Arc;

    use fixbolt_codec::{Message, SeqNum};

    use super::*;
    use crate::api::application::{Application, Delivery};
    use crate::api::turn::Turn;
    use crate::core::Core;
    use crate::events::end::{Misbehavior, SessionEnd};
    use crate::events::failure::Failure;
    use crate::invariants::{NoStore, session};
    use crate::limits::throttle::{Kind, OutboundPermits, Rate};
    use crate::perform::read::Reader;
    use crate::schedule::Schedule;
    use crate::schedule::calendar::Calendar;
    use crate::settings::dictionaries::SessionDictionary;
    use crate::state::backlog::Replay;
    use crate::state::phase::{Leave, PhaseState};
    use crate::state::reading::{Blocked, BlockedBy, Incomplete};
    use crate::state::reorder::Reordered;
    use crate::state::session::Session;
    use crate::state::waiting::WaitingBody;
    use crate::state::{Connection, ResetStage, Resetting};
    use crate::store::stored_message::FieldStorage;
    use crate::store::{ConnectionNumber, Position, Record, RecordFlags, RecordKind};
    use crate::values::time::{Mono, Now, Utc};
    use crate::wire::oversized;

    /// An application that does nothing.
    struct Idle;

    impl Application for Idle {
        fn on_message(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
            Ok(Delivery::Done)
        }
    }

    const fn at(millis: u64) -> Mono {
        Mono(millis * 1_000_000)
    }

    fn now(millis: u64) -> Now {
        Now { mono: at(millis), utc: Utc(1_767_603_600_000_000_000 + millis * 1_000_000) }
    }

    fn connection(session: &mut Session) -> &mut Connection {
        session.state.connection.as_mut().unwrap()
    }

    /// Queues bytes that the socket refuses from then on.
    fn refuse(session: &mut Session, bytes: usize, since: Mono) {
        session.outbox.cursor.push(bytes, 3);
        session.outbox.committed(Position(1), Position(1));
        session.outbox.written(since, 0);
    }

    /// What is to be done, so that one timer runs and no other: when it is due, and how its effect
    /// is seen.
    type Run = (Timer, fn(&mut Session), Mono, fn(&Session) -> bool);

    fn has_end(session: &Session, end: &SessionEnd) -> bool {
        session.state.connection.as_ref().unwrap().end.as_deref() == Some(end)
    }

    const RUNS: &[Run] = &[
        (
            Timer::Schedule,
            |s| {
                let mut calendar = Calendar::new(Arc::new(Schedule::non_stop()), Duration::ZERO);
                calendar.look(now(1));
                calendar.next_look = at(50_000);
                s.standing.of_test().calendar = Some(calendar);
            },
            at(50_000),
            |s| s.standing.calendar.as_ref().unwrap().next_look > at(50_000),
        ),
        (
            Timer::Phase,
            |s| {
                let (until, seq) = (at(2000), Some(SeqNum(1)));
                let leave = Leave { until, seq, is_ours: true, end: None };
                connection(s).logon.phase = PhaseState::LogoutSent(leave);
            },
            at(2000),
            |s| has_end(s, &SessionEnd::LogoutTimedOut),
        ),
        (
            Timer::Cut,
            |s| {
                s.fixed.of_test().settings.timing.logout_timeout = Duration::from_secs(4);
                s.limits.of_test().replay_due = at(90_000);
                s.state.stored.next_out = SeqNum(3);
                s.publish();
                let (next, end, live) = (SeqNum(1), SeqNum(1), SeqNum(2));
                let logon = &mut connection(s).logon;
                logon.backlog.replay = Some(Replay { next, end, gap_from: None, live, began: live });
                let leave = Leave { until: at(5000), seq: Some(live), is_ours: true, end: None };
                logon.phase = PhaseState::LogoutSent(leave);
            },
            at(3000),
            |s| s.state.replay().is_none(),
        ),
        (
            Timer::Reset,
            |s| {
                let (stage, why) = (ResetStage::LogonSent, String::new());
                connection(s).resetting =
                    Some(Arc::new(Resetting { stage, until: at(3000), test_request: 1, why }));
            },
            at(3000),
            |s| has_end(s, &SessionEnd::ResetUnanswered),
        ),
        (
            Timer::Unread,
            |s| {
                s.fixed.of_test().settings.timing.send_timeout = Duration::from_secs(5);
                refuse(s, 9, at(1));
            },
            at(5001),
            |s| has_end(s, &SessionEnd::PeerDidNotRead),
        ),
        (
            Timer::Watermark,
            |s| refuse(s, s.outbox.size() * 95 / 100, at(1)),
            at(0),
            |s| s.outbox.slow_since().is_some(),
        ),
        (
            Timer::SlowConsumer,
            |s| {
                s.fixed.of_test().settings.limits.slow_consumer_timeout = Some(Duration::from_secs(4));
                refuse(s, s.outbox.size() * 95 / 100, at(1));
                s.outbox.pass_watermark(at(1));
            },
            at(4001),
            |s| has_end(s, &SessionEnd::SlowConsumer),
        ),
        (
            Timer::Oversized,
            |s| s.intake.of_test().reading.oversized = Some(Box::new(oversized::Oversized::new(at(1)))),
            Mono(at(1).0 + oversized::WITHIN.as_nanos() as u64),
            |s| {
                let why = Misbehavior::MessageTooLarge { limit: oversized::LARGEST };
                has_end(s, &SessionEnd::PeerMisbehaved(why))
            },
        ),
        (
            Timer::Silence,
            |s| {
                let connection = connection(s);
                (connection.heart_bt_int, connection.last_received) = (10, at(1));
                connection.last_sent = at(12_000);
            },
            at(12_001),
            |s| s.state.connection.as_ref().unwrap().test_request.is_some(),
        ),
        (
            Timer::Silence,
            |s| {
                let connection = connection(s);
                (connection.heart_bt_int, connection.last_sent) = (10, at(12_000));
                connection.test_requests = 1;
                connection.test_request = Some(at(1));
            },
            at(12_001),
            |s| s.state.connection.as_ref().unwrap().end.is_some(),
        ),
        (
            Timer::Heartbeat,
            |s| {
                let connection = connection(s);
                (connection.heart_bt_int, connection.last_sent) = (10, at(1));
                connection.last_received = at(9000);
            },
            at(10_001),
            |s| s.state.stored.next_out == SeqNum(3),
        ),
        (
            Timer::Incomplete,
            |s| s.intake.of_test().reading.incomplete = Some(Incomplete { since: at(1), bytes: 4 }),
            at(30_001),
            |s| s.intake.reading.incomplete.is_none(),
        ),
        (
            Timer::Replay,
            |s| {
                s.limits.of_test().replay_due = at(700);
                let (next, end, live) = (SeqNum(1), SeqNum(1), SeqNum(2));
                connection(s).logon.backlog.replay =
                    Some(Replay { next, end, gap_from: None, live, began: live });
            },
            at(700),
            |s| !s.outbox.is_empty(),
        ),
        (
            Timer::Offer,
            |s| {
                let (since, by) = (at(1), BlockedBy::Application);
                s.intake.of_test().reading.blocked = Some(Blocked { since, by, until: None });
            },
            at(251),
            |s| s.intake.reading.blocked.is_none(),
        ),
        (
            Timer::Waiting,
            |s| {
                let rate = Rate::new(1, Duration::from_secs(2)).unwrap();
                let mut permits = OutboundPermits::new(Some(rate), None).unwrap();
                permits.take(&mut s.state.counted, Kind::Order, 0);
                permits.accept(s.state.counted, 0, at(1));
                s.limits.of_test().outbound_permits = Some(permits);
                let record = Record {
                    kind: RecordKind::Waiting,
                    flags: RecordFlags::default(),
                    seq: SeqNum(1),
                    next_in: SeqNum(1),
                    connection: ConnectionNumber(1),
                    cause: None,
                    utc: Utc(1),
                    mono: Mono(1),
                    body: b"35=D\x0111=a\x01",
                };
                s.waiting.push(1, WaitingBody::of(1, Some(&record)));
                (s.state.stored.wait, s.state.stored.waited) = (1, 1);
            },
            at(2001),
            |s| s.state.stored.wait == 0,
        ),
        (
            Timer::Room,
            |s| {
                let rate = Rate::new(1, Duration::from_secs(2)).unwrap();
                let mut permits = OutboundPermits::new(Some(rate), None).unwrap();
                permits.take(&mut s.state.counted, Kind::Order, 0);
                permits.accept(s.state.counted, 0, at(1));
                permits.await_permit(s.state.counted, Kind::Order);
                s.limits.of_test().outbound_permits = Some(permits);
            },
            at(2001),
            |s| !s.limits.outbound_permits.as_ref().unwrap().is_awaited(),
        ),
    ];

    fn wake(core: &mut Core, now: Now) {
        let dialects = [SessionDictionary::None];
        let mut call = Call { core, dialects: &dialects, app: &mut Idle, now, own: 0, telling: 0 };
        let mut reader = Reader { index: FieldStorage::new(64), again: Reordered::with_capacity(1024) };
        call.wake(b"8=FI", &mut reader);
    }

    #[test]
    fn the_next_deadline_is_that_of_each_row_and_its_effect_comes_then_and_not_before() {
        for (timer, set, due, is_seen) in RUNS {
            let mut core = Core::new(Box::new(NoStore), 64);
            core.sessions.put(0, session());
            let session = &mut core.sessions[0];
            connection(session).heart_bt_int = 0;
            set(session);
            assert_eq!(session.next_deadline(), Some(*due), "{timer:?}");
            assert!(!is_seen(session), "{timer:?}");
            assert!(session.is_due(*timer, *due), "{timer:?}");
            if *due > at(0) {
                let before = Mono(due.0 - 1);
                assert!(!session.is_due(*timer, before), "{timer:?}");
                // Any call offers a message again.
                if *timer != Timer::Offer {
                    wake(&mut core, Now { mono: before, utc: now(0).utc });
                    assert!(!is_seen(&core.sessions[0]), "{timer:?} has an effect before its time");
                }
            }
            let mut core = Core::new(Box::new(NoStore), 64);
            core.sessions.put(0, self::session());
            connection(&mut core.sessions[0]).heart_bt_int = 0;
            set(&mut core.sessions[0]);
            wake(&mut core, Now { mono: (*due).max(at(1)), utc: now(60_000).utc });
            assert!(is_seen(&core.sessions[0]), "{timer:?} has no effect");
        }
        for timer in Timer::ALL {
            assert!(RUNS.iter().any(|run| run.0 == *timer), "{timer:?} has no row in the test");
        }
    }
}
