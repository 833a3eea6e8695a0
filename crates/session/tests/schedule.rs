//! What a session's schedule does to its connections and its sequence numbers, between two sides
//! whose clocks the test moves.

use core::time::Duration;
use std::path::PathBuf;
use std::sync::Arc;

use fixbolt_codec::{BodySink, Key, Message, MsgType, NewBody, SeqNum, Version};
use fixbolt_conformance::testing::Side;
use fixbolt_journal::{DirectoryStore, JournalReader, MemoryStore};
use fixbolt_session::runtime::mono;
use fixbolt_session::schedule::{Edge, Schedule, ScheduleReset, TimeOfDay, Weekdays, Window, Zone};
use fixbolt_session::store::{RecordKind, Store};
use fixbolt_session::{
    Application, Compatibility, Delivery, Direction, Event, Failure, Now, Phase, Resume, Role,
    SessionDictionary, SessionEnd, SessionId, SessionSettings, Turn, Utc, WaitsFor, WhileLoggedOff,
};

/// 2026-11-23T00:00:00Z, a Monday.
const MONDAY: u64 = 1_795_392_000;
const HOUR: u64 = 3600;
const SECOND: u64 = 1_000_000_000;

fn utc(seconds: u64) -> Utc {
    Utc(seconds * SECOND)
}

/// Returns a time of a day of that week, counted from Monday as 0.
fn on(day: u64, hour: u64) -> Utc {
    utc(MONDAY + day * 24 * HOUR + hour * HOUR)
}

fn daily(start: u32, end: u32) -> Schedule {
    let edge = |hour| Edge::new(TimeOfDay::new(hour, 0, 0).unwrap(), Zone::utc());
    Schedule::new([Window::daily(Weekdays::ALL, edge(start), edge(end))])
}

/// What the application was told, and how many messages it got.
#[derive(Default)]
struct Log(Vec<String>, usize);

impl Application for Log {
    fn on_message(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
        self.1 += 1;
        Ok(Delivery::Done)
    }

    fn on_resume(&mut self, resume: &mut Resume<'_>) -> Result<(), Failure> {
        resume.messages(|stored| {
            if stored.direction == Direction::Outbound && !stored.is_admin {
                self.0.push(format!("the store has message {}", stored.seq));
            }
            Ok(())
        })
    }

    fn on_event(&mut self, event: &Event<'_>, _: &mut Turn<'_>) -> Result<(), Failure> {
        self.0.push(event.to_string());
        Ok(())
    }
}

/// A side whose clock the test sets.
struct End(Side<Log>);

impl End {
    fn open(now: Now, settings: SessionSettings, store: Box<dyn Store>) -> Self {
        Self(Side::begin(now, Log::default(), store, vec![settings]))
    }

    /// Sets the clock.
    fn at(&mut self, now: Now) -> &mut Side<Log> {
        self.0.now = now;
        &mut self.0
    }

    fn numbers(&self) -> (u64, u64) {
        let (next_in, next_out) = self.0.numbers(0).unwrap();
        (next_in.0, next_out.0)
    }

    fn phase(&self) -> Phase {
        self.0.phase(0)
    }

    /// What the application was told.
    fn log(&self) -> &[String] {
        &self.0.app.0
    }

    fn ends(&self) -> &[SessionEnd] {
        &self.0.ends
    }

    fn resets(&self) -> usize {
        self.log().iter().filter(|line| line.contains("schedule: the sequence numbers are reset")).count()
    }

    /// Wakes the session at every deadline up to now.
    fn wake(&mut self, now: Now) {
        if self.0.next(0).deadline.is_some_and(|at| at <= now.mono) {
            self.at(now).wake(0, &[]);
        }
    }

    fn send(&mut self, now: Now) {
        let sent = self.at(now).act(0, |turn| {
            let mut draft = turn.session().draft(MsgType::new(b"B"));
            draft.writer().bytes(Key::new(148), b"headline");
            draft.send()
        });
        sent.unwrap();
    }
}

/// A venue with a schedule, and a trader, whose schedule may be another.
struct Pair {
    now: Now,
    venue: End,
    trader: End,
}

fn settings(ours: &str, theirs: &str, role: Role, schedule: Option<Schedule>) -> SessionSettings {
    SessionSettings::new(SessionId::new(Version::Fix44, ours, theirs).unwrap(), role).with(|s| {
        s.dictionary = SessionDictionary::None;
        s.schedule = schedule.map(Arc::new);
        s.timing.heart_bt_int = 30;
        s.timing.max_latency = None;
    })
}

impl Pair {
    fn new(at: Utc, schedule: &Schedule) -> Self {
        Self::with(at, Some(schedule.clone()), |_| {})
    }

    fn with(at: Utc, traders: Option<Schedule>, change: impl FnOnce(&mut SessionSettings)) -> Self {
        let now = Now { mono: mono(SECOND), utc: at };
        let of_venue = settings("VENUE", "TRADER", Role::Acceptor, traders.clone()).with(change);
        let of_trader = settings("TRADER", "VENUE", Role::Initiator, traders);
        Self {
            now,
            venue: End::open(now, of_venue, Box::new(MemoryStore::new())),
            trader: End::open(now, of_trader, Box::new(MemoryStore::new())),
        }
    }

    /// Connects both sides, as far as they can, and passes on what they send.
    fn connect(&mut self) {
        for side in [&mut self.venue, &mut self.trader] {
            side.at(self.now).connect(0);
        }
        self.exchange();
    }

    fn exchange(&mut self) {
        let Self { now, venue, trader } = self;
        while pass(*now, venue, trader) | pass(*now, trader, venue) {}
        let closes = |end: &End| end.0.next(0).close || end.phase() == Phase::Disconnected;
        if closes(&self.venue) || closes(&self.trader) {
            for side in [&mut self.venue, &mut self.trader] {
                side.at(self.now).disconnect(0);
            }
        }
    }

    /// Lets the time pass in steps of fifteen seconds at most, with the wall clock beside it.
    fn until(&mut self, at: Utc) {
        while self.now.utc < at {
            let step = Duration::from_nanos((at.0 - self.now.utc.0).min(15 * SECOND));
            self.now = Now { mono: self.now.mono + step, utc: self.now.utc + step };
            self.wake();
        }
    }

    fn wake(&mut self) {
        self.venue.wake(self.now);
        self.trader.wake(self.now);
        self.exchange();
    }

    /// Puts the wall clock, and lets six minutes pass, after which its time must count.
    fn put_clock(&mut self, to: Utc) {
        self.now.utc = to;
        self.pass(360);
    }

    /// Lets this many seconds pass.
    fn pass(&mut self, seconds: u64) {
        for _ in 0..seconds / 5 {
            let step = Duration::from_secs(5);
            self.now = Now { mono: self.now.mono + step, utc: self.now.utc + step };
            self.wake();
        }
    }
}

/// Passes on what one side sends to the other. Returns whether there was anything.
fn pass(now: Now, from: &mut End, to: &mut End) -> bool {
    let bytes = from.at(now).write(0, usize::MAX);
    if bytes.is_empty() {
        return false;
    }
    assert_eq!(to.at(now).receive(0, &bytes), bytes.len());
    true
}

// R-SCHEDULE-1
#[test]
fn at_the_end_of_the_window_both_log_out_and_at_the_next_start_the_sequence_numbers_are_reset_once() {
    let mut pair = Pair::new(on(0, 9), &daily(8, 17));
    pair.connect();
    pair.until(on(0, 17));
    assert_eq!(pair.venue.phase(), Phase::Disconnected);
    let next = Some(on(1, 8));
    assert!(
        pair.venue.ends() == [SessionEnd::ScheduleEnded { next }]
            || pair.trader.ends() == [SessionEnd::ScheduleEnded { next }],
        "{:?} {:?}",
        pair.venue.ends(),
        pair.trader.ends()
    );
    let says_why = |end: &End| end.log().iter().any(|line| line.contains("a Logout: session end"));
    assert!(says_why(&pair.venue) || says_why(&pair.trader));
    assert!(pair.venue.numbers() > (100, 100));
    pair.until(utc(on(1, 8).0 / SECOND - 1));
    assert_eq!((pair.venue.resets(), pair.trader.resets()), (0, 0));
    pair.until(on(1, 10));
    assert_eq!((pair.venue.resets(), pair.trader.resets()), (1, 1));
    assert_eq!((pair.venue.numbers(), pair.trader.numbers()), ((1, 1), (1, 1)));
    let line = "the next sequence numbers are 1 in and 1 out: schedule: the sequence numbers are reset at 2026-11-24T08:00:00Z";
    assert!(pair.venue.log().iter().any(|said| said == line), "{:?}", pair.venue.log());
    pair.connect();
    assert_eq!(pair.trader.phase(), Phase::LoggedOn);
    pair.until(on(1, 12));
    assert_eq!((pair.venue.resets(), pair.trader.resets()), (1, 1));
}

#[test]
fn a_session_of_a_day_logs_out_at_its_edge_and_can_log_on_at_once_with_new_sequence_numbers() {
    let mut pair = Pair::new(on(0, 9), &daily(0, 0));
    pair.connect();
    pair.until(on(1, 0));
    assert_eq!(pair.trader.phase(), Phase::Disconnected);
    assert_eq!((pair.venue.numbers(), pair.trader.numbers()), ((1, 1), (1, 1)));
    pair.connect();
    assert_eq!(pair.venue.phase(), Phase::LoggedOn);
    pair.until(on(1, 1));
    assert_eq!((pair.venue.resets(), pair.trader.resets()), (1, 1));
    assert_eq!(pair.venue.phase(), Phase::LoggedOn);
}

// R-SCHEDULE-3
#[test]
fn the_reset_policy_resets_at_the_end_or_not_at_all() {
    let mut pair = Pair::new(on(0, 9), &daily(8, 17).with_reset(ScheduleReset::AtEnd));
    pair.connect();
    pair.until(utc(on(0, 17).0 / SECOND + 5));
    assert_eq!((pair.venue.numbers(), pair.trader.numbers()), ((1, 1), (1, 1)));
    pair.until(on(1, 9));
    pair.connect();
    assert_eq!((pair.venue.resets(), pair.trader.resets()), (1, 1));
    let mut pair = Pair::new(on(0, 9), &daily(8, 17).with_reset(ScheduleReset::Never));
    pair.connect();
    pair.until(on(1, 9));
    assert_eq!((pair.venue.resets(), pair.trader.resets()), (0, 0));
    let kept = pair.venue.numbers();
    assert!(kept > (100, 100));
    pair.connect();
    assert_eq!(pair.venue.phase(), Phase::LoggedOn);
}

fn reset_in_session_at(hour: u32) -> Schedule {
    let at = Edge::new(TimeOfDay::new(hour, 0, 0).unwrap(), Zone::utc());
    Schedule::non_stop().with_in_session_reset(at)
}

/// How often each side reset because of a reset in the session.
fn in_session_resets(end: &End) -> usize {
    let resets = end.log().iter().filter(|line| line.starts_with("the next sequence numbers are "));
    resets.count()
}

// R-SCHEDULE-4
#[test]
fn a_session_that_is_logged_on_resets_at_its_time_each_day_and_stays_connected() {
    let mut pair = Pair::with(on(0, 9), Some(reset_in_session_at(17)), |venue| venue.schedule = None);
    pair.connect();
    pair.until(utc(on(0, 17).0 / SECOND - 1));
    assert!(pair.venue.numbers() > (100, 100));
    assert_eq!((in_session_resets(&pair.venue), in_session_resets(&pair.trader)), (0, 0));
    pair.until(utc(on(0, 17).0 / SECOND + 1));
    assert_eq!((pair.venue.numbers(), pair.trader.numbers()), ((2, 2), (2, 2)));
    pair.until(on(1, 18));
    assert_eq!((pair.venue.phase(), pair.trader.phase()), (Phase::LoggedOn, Phase::LoggedOn));
    assert!(pair.trader.numbers() < (200, 200), "{:?}", pair.trader.numbers());
    assert_eq!((pair.venue.ends().len(), pair.trader.ends().len()), (0, 0));
    assert_eq!((in_session_resets(&pair.venue), in_session_resets(&pair.trader)), (2, 2));
}

#[test]
fn a_reset_time_that_passes_without_a_connection_is_made_up_for_after_the_logon_and_once() {
    let mut pair = Pair::with(on(0, 9), Some(reset_in_session_at(17)), |venue| venue.schedule = None);
    pair.connect();
    pair.until(on(0, 10));
    for side in [&mut pair.venue, &mut pair.trader] {
        side.at(pair.now).disconnect(0);
    }
    pair.until(on(0, 18));
    let before = pair.trader.numbers();
    assert!(before > (100, 100));
    pair.connect();
    assert_eq!(pair.trader.numbers(), (before.0 + 1, before.1 + 1));
    pair.until(utc(on(0, 18).0 / SECOND + 75));
    assert_eq!((in_session_resets(&pair.venue), in_session_resets(&pair.trader)), (1, 1));
    pair.until(on(1, 16));
    assert_eq!((in_session_resets(&pair.venue), in_session_resets(&pair.trader)), (1, 1));
    assert_eq!(pair.venue.phase(), Phase::LoggedOn);
}

#[test]
fn two_sides_with_the_same_reset_time_reset_once() {
    let mut pair = Pair::new(on(0, 9), &reset_in_session_at(17));
    pair.connect();
    pair.until(on(0, 18));
    assert_eq!((pair.venue.phase(), pair.trader.phase()), (Phase::LoggedOn, Phase::LoggedOn));
    assert_eq!((in_session_resets(&pair.venue), in_session_resets(&pair.trader)), (1, 1));
    assert_eq!((pair.venue.ends().len(), pair.trader.ends().len()), (0, 0));
}

#[test]
fn logon_windows_end_connections_and_reset_nothing() {
    let edge = |hour| Edge::new(TimeOfDay::new(hour, 0, 0).unwrap(), Zone::utc());
    let logon = [Window::daily(Weekdays::ALL, edge(8), edge(17))];
    let mut pair = Pair::new(on(0, 9), &Schedule::non_stop().with_logon_windows(logon));
    pair.connect();
    pair.until(on(0, 18));
    assert_eq!(pair.venue.phase(), Phase::Disconnected);
    pair.until(on(1, 9));
    pair.connect();
    assert_eq!((pair.venue.phase(), pair.venue.resets()), (Phase::LoggedOn, 0));
}

// R-SCHEDULE-2
#[test]
fn outside_the_window_an_initiator_does_not_connect_and_an_acceptor_refuses_the_logon() {
    for (compatibility, answered) in
        [(Compatibility::Standard, true), (Compatibility::QuickFix, false), (Compatibility::QuickFixJ, true)]
    {
        let at = on(0, 18);
        let mut pair = Pair::with(at, None, |s| {
            s.schedule = Some(Arc::new(daily(8, 17)));
            s.compatibility = compatibility;
        });
        pair.connect();
        let next = Some(on(1, 8));
        assert_eq!(pair.venue.ends(), [SessionEnd::OutsideSchedule { next }]);
        assert_eq!(pair.venue.numbers().0, 1);
        let told = "Logon attempt not within session time";
        assert_eq!(pair.trader.log().iter().any(|line| line.contains(told)), answered, "{compatibility:?}");
    }
    let now = Now { mono: mono(SECOND), utc: on(0, 18) };
    let of_trader = settings("TRADER", "VENUE", Role::Initiator, Some(daily(8, 17)));
    let mut trader = End::open(now, of_trader, Box::new(MemoryStore::new()));
    assert!(!trader.0.can_connect(0));
    assert_eq!(trader.0.sessions().waits_for_schedule(now, trader.0.key(0)), Some(Some(on(1, 8))));
    trader.0.connect(0);
    assert_eq!(trader.phase(), Phase::Disconnected);
    let morning = Now { mono: mono((14 * HOUR + 1) * SECOND), utc: on(1, 8) };
    assert_eq!(trader.0.sessions().waits_for_schedule(morning, trader.0.key(0)), None);
}

#[test]
fn a_clock_that_is_put_forth_or_back_counts_after_five_minutes_and_resets_once_for_each_edge() {
    let mut pair = Pair::new(on(0, 9), &daily(0, 0));
    pair.connect();
    // Forth over an edge.
    pair.put_clock(on(1, 9));
    assert_eq!((pair.venue.resets(), pair.venue.numbers()), (1, (1, 1)));
    pair.connect();
    // Back over it: the session of the day before goes on, with what it has.
    pair.put_clock(on(0, 23));
    assert_eq!((pair.venue.phase(), pair.venue.resets()), (Phase::Disconnected, 1));
    pair.connect();
    let numbers = pair.venue.numbers();
    assert!(numbers > (1, 1));
    // And over it again.
    pair.until(on(1, 1));
    pair.connect();
    assert_eq!((pair.venue.resets(), pair.trader.resets()), (1, 1));
    assert_eq!(pair.venue.phase(), Phase::LoggedOn);
    pair.until(on(2, 1));
    assert_eq!((pair.venue.resets(), pair.trader.resets()), (2, 2));
}

/// Returns what the session of the venue says that it waits for.
fn waits_for(pair: &Pair) -> Option<WaitsFor> {
    pair.venue.0.sessions().status(pair.venue.0.key(0)).unwrap().waits_for()
}

// R-SCHEDULE-7
#[test]
fn a_clock_that_is_a_day_ahead_for_a_minute_resets_nothing_and_ends_nothing() {
    let mut pair = Pair::new(on(0, 9), &daily(0, 0));
    pair.connect();
    let numbers = pair.venue.numbers();
    let right = pair.now;
    pair.now.utc = on(1, 9);
    pair.pass(70);
    assert_eq!((pair.venue.phase(), pair.venue.resets()), (Phase::LoggedOn, 0));
    assert_eq!(waits_for(&pair), Some(WaitsFor::Clock));
    let told = |side: &End| side.log().iter().filter(|line| line.contains("wall clock")).count();
    assert_eq!(told(&pair.venue), 1, "{:?}", pair.venue.log());
    // The window of before decides about Logons.
    for side in [&mut pair.venue, &mut pair.trader] {
        side.at(pair.now).disconnect(0);
    }
    pair.connect();
    assert_eq!(pair.venue.phase(), Phase::LoggedOn);
    pair.now.utc = right.utc + (pair.now.mono - right.mono);
    pair.pass(10);
    assert_eq!((waits_for(&pair), told(&pair.venue)), (None, 2));
    assert_eq!((pair.venue.phase(), pair.venue.resets()), (Phase::LoggedOn, 0));
    assert!(pair.venue.numbers() > numbers);
    // The edge of the day comes once.
    pair.until(on(1, 1));
    assert_eq!((pair.venue.resets(), pair.trader.resets()), (1, 1));
}

#[test]
fn an_edge_that_comes_while_the_clock_is_wrong_passes_once_it_is_right_again() {
    let mut pair = Pair::new(on(0, 23), &daily(0, 0));
    pair.connect();
    pair.until(on(0, 23) + Duration::from_secs(3590));
    let right = pair.now;
    pair.now.utc = on(0, 9);
    pair.pass(60);
    assert_eq!((pair.venue.phase(), pair.venue.resets()), (Phase::LoggedOn, 0));
    pair.now.utc = right.utc + (pair.now.mono - right.mono);
    pair.pass(10);
    assert_eq!((pair.venue.resets(), pair.trader.resets()), (1, 1));
}

#[test]
fn numbers_that_begin_while_the_clock_is_wrong_are_reset_at_the_next_edge_after_a_restart() {
    let directory = Directory::new("wrong-clock");
    let mut venue = directory.start(on(0, 9), daily(0, 0));
    venue.send(Now { mono: mono(60 * SECOND), utc: on(1, 12) });
    assert_eq!(venue.numbers(), (1, 2));
    venue.0.close_all().unwrap();
    let venue = directory.start(on(1, 9), daily(0, 0));
    assert_eq!((venue.numbers(), venue.resets()), ((1, 1), 1));
}

#[test]
fn an_operator_confirms_a_clock_that_was_put() {
    // At once, before anybody has looked, or after a while.
    for waits in [0, 70] {
        let mut pair = Pair::new(on(0, 9), &daily(0, 0));
        pair.connect();
        pair.now.utc = on(1, 9);
        if waits > 0 {
            pair.pass(waits);
            assert_eq!(waits_for(&pair), Some(WaitsFor::Clock));
        }
        let now = pair.now;
        for side in [&mut pair.venue, &mut pair.trader] {
            assert_eq!(side.at(now).confirm_clock(0, "operator: the clock was set"), Ok(true));
            assert_eq!(side.at(now).confirm_clock(0, "operator: the clock was set"), Ok(false));
        }
        pair.pass(10);
        assert_eq!((waits_for(&pair), pair.venue.resets(), pair.trader.resets()), (None, 1, 1), "{waits}");
        let told = pair.venue.log().iter().filter(|line| line.contains("wall clock counts")).count();
        assert_eq!(told, 1, "{:?}", pair.venue.log());
    }
}

#[test]
fn a_counterparty_that_does_not_answer_the_logout_delays_the_reset_by_the_time_for_its_answer() {
    let mut pair = Pair::with(on(0, 16), None, |s| s.schedule = Some(Arc::new(daily(8, 17))));
    pair.connect();
    let now = Now { mono: mono(3601 * SECOND), utc: on(0, 17) };
    pair.venue.at(now).wake(0, &[]);
    assert_eq!(pair.venue.phase(), Phase::LogoutSent);
    let later = Now { mono: mono(3604 * SECOND), utc: utc(on(0, 17).0 / SECOND + 3) };
    pair.venue.at(later).wake(0, &[]);
    assert!(pair.venue.0.next(0).close);
    let end = pair.venue.at(later).disconnect(0);
    assert_eq!(end, Some(SessionEnd::ScheduleEnded { next: Some(on(1, 8)) }));
}

#[test]
fn messages_kept_after_the_edge_belong_to_the_new_window() {
    let of = |schedule| {
        settings("VENUE", "TRADER", Role::Acceptor, Some(schedule))
            .with(|s| s.resend.while_logged_off = WhileLoggedOff::Keep)
    };
    let now = |at: Utc| Now { mono: mono(at.0 - on(0, 0).0), utc: at };
    let mut venue = End::open(now(on(0, 9)), of(daily(8, 17)), Box::new(MemoryStore::new()));
    venue.send(now(on(0, 10)));
    assert_eq!(venue.numbers(), (1, 2));
    venue.wake(now(on(1, 8)));
    assert_eq!((venue.numbers(), venue.resets()), ((1, 1), 1));
    venue.send(now(on(1, 9)));
    venue.wake(now(on(1, 10)));
    assert_eq!((venue.numbers(), venue.resets()), ((1, 2), 1));
    let lost = "messages that do not reach the counterparty: 1: the sequence numbers were reset before the message was sent";
    assert!(venue.log().iter().any(|line| line == lost), "{:?}", venue.log());
}

/// A directory of its own, removed at the end.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("fixbolt-schedule-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }

    fn start(&self, at: Utc, schedule: Schedule) -> End {
        let of_venue = settings("VENUE", "TRADER", Role::Acceptor, Some(schedule))
            .with(|s| s.resend.while_logged_off = WhileLoggedOff::Keep);
        End::open(Now { mono: mono(SECOND), utc: at }, of_venue, Box::new(DirectoryStore::new(&self.0)))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

// R-SCHEDULE-3
#[test]
fn a_journal_from_an_earlier_window_is_reset_once_when_it_is_opened_and_says_why() {
    let directory = Directory::new("downtime");
    let now = |at: Utc| Now { mono: mono(2 * SECOND), utc: at };
    let mut venue = directory.start(on(0, 9), daily(8, 17));
    venue.send(now(on(0, 10)));
    venue.0.close_all().unwrap();
    // Restarted in the same window, and outside any: nothing is reset.
    for at in [on(0, 11), on(0, 20)] {
        let venue = directory.start(at, daily(8, 17));
        assert_eq!((venue.numbers(), venue.resets()), ((1, 2), 0));
        venue.0.close_all().unwrap();
    }
    // Days later.
    let mut venue = directory.start(on(3, 12), daily(8, 17));
    assert_eq!((venue.numbers(), venue.resets()), ((1, 1), 1));
    venue.send(now(on(3, 13)));
    venue.0.close_all().unwrap();
    let venue = directory.start(on(3, 14), daily(8, 17));
    assert_eq!((venue.numbers(), venue.resets()), ((1, 2), 0));
    venue.0.close_all().unwrap();
    let reasons = resets_in(&directory);
    assert_eq!(reasons, ["schedule: the sequence numbers are reset at 2026-11-26T08:00:00Z"]);
}

fn resets_in(directory: &Directory) -> Vec<String> {
    let journal = JournalReader::open(&directory.0).unwrap();
    let mut reasons = Vec::new();
    for entry in journal.sessions().iter().flat_map(|session| session.records()) {
        if entry.record.kind == RecordKind::Reset {
            reasons.push(String::from_utf8_lossy(entry.record.body).into_owned());
        }
    }
    reasons
}

#[test]
fn a_journal_that_was_reset_at_the_end_of_a_window_is_not_reset_again_in_the_next() {
    let directory = Directory::new("at-end");
    let schedule = || daily(8, 17).with_reset(ScheduleReset::AtEnd);
    let mut venue = directory.start(on(0, 9), schedule());
    venue.send(Now { mono: mono((HOUR + 1) * SECOND), utc: on(0, 10) });
    venue.wake(Now { mono: mono((8 * HOUR + 1) * SECOND), utc: on(0, 17) });
    assert_eq!((venue.numbers(), venue.resets()), ((1, 1), 1));
    venue.0.close_all().unwrap();
    let mut venue = directory.start(on(1, 12), schedule());
    assert_eq!(venue.resets(), 0);
    venue.send(Now { mono: mono(2 * SECOND), utc: on(1, 12) });
    venue.0.close_all().unwrap();
    let venue = directory.start(on(1, 13), schedule());
    assert_eq!((venue.numbers(), venue.resets()), ((1, 2), 0));
    assert_eq!(venue.0.numbers(0).map(|(_, out)| out), Some(SeqNum(2)));
}

#[test]
fn a_clock_that_was_days_ahead_when_the_sequence_numbers_began_does_not_prevent_a_reset_in_the_session() {
    let mut pair = Pair::with(on(3, 9), Some(reset_in_session_at(17)), |venue| venue.schedule = None);
    pair.connect();
    assert_eq!(pair.trader.phase(), Phase::LoggedOn);
    pair.put_clock(on(0, 9));
    // The numbers of the days to come are not kept until then.
    assert_eq!(in_session_resets(&pair.trader), 1);
    pair.until(on(0, 18));
    assert_eq!(in_session_resets(&pair.trader), 2);
    // Put back over one reset, it causes no second one.
    pair.put_clock(on(0, 16));
    pair.until(on(0, 18));
    assert_eq!(in_session_resets(&pair.trader), 2);
    pair.until(on(1, 18));
    assert_eq!(in_session_resets(&pair.trader), 3);
}

#[test]
fn two_sides_with_the_same_reset_time_reset_once_also_if_their_clocks_differ() {
    for ahead in [Duration::from_secs(5), Duration::from_secs(100)] {
        let mut pair = Pair::new(on(0, 9), &reset_in_session_at(17));
        pair.connect();
        while pair.now.utc < on(1, 18) {
            let step = Duration::from_secs(5);
            pair.now = Now { mono: pair.now.mono + step, utc: pair.now.utc + step };
            let of_venue = Now { utc: pair.now.utc + ahead, ..pair.now };
            pair.venue.wake(of_venue);
            pair.trader.wake(pair.now);
            while pass(of_venue, &mut pair.venue, &mut pair.trader)
                | pass(pair.now, &mut pair.trader, &mut pair.venue)
            {}
        }
        assert_eq!((pair.venue.phase(), pair.trader.phase()), (Phase::LoggedOn, Phase::LoggedOn));
        assert_eq!((in_session_resets(&pair.venue), in_session_resets(&pair.trader)), (2, 2), "{ahead:?}");
    }
}

#[test]
fn numbers_that_begin_with_an_operators_record_are_reset_once_at_the_next_edge() {
    let directory = Directory::new("operator");
    let mut venue = directory.start(on(0, 9), daily(8, 17));
    let now = Now { mono: mono(2 * SECOND), utc: on(0, 21) };
    venue.at(now).set_numbers(0, (Some(SeqNum::ONE), None), "agreed").unwrap();
    // In the next window.
    let now = Now { mono: mono(24 * HOUR * SECOND), utc: on(1, 9) };
    venue.wake(now);
    assert_eq!(venue.resets(), 1);
    venue.send(now);
    venue.0.close_all().unwrap();
    let venue = directory.start(on(1, 10), daily(8, 17));
    assert_eq!((venue.numbers(), venue.resets()), ((1, 2), 0), "they were used after the edge");
}

#[test]
fn a_connection_after_the_end_of_a_window_is_not_taken_although_it_was_allowed_before() {
    let edge = |hour| Edge::new(TimeOfDay::new(hour, 0, 0).unwrap(), Zone::utc());
    let schedule = Schedule::new([Window::daily(Weekdays::ALL, edge(8), edge(10))]);
    let settings = fixbolt_conformance::testing::settings("A", Role::Initiator);
    let mut side = Side::new(vec![settings.with(|s| s.schedule = Some(Arc::new(schedule)))]);
    side.pass(Duration::from_secs(3600));
    assert!(side.can_connect(0), "its driver asks before the session has looked at the clock");
    assert!(!side.connect(0));
    assert_eq!(side.phase(0), Phase::Disconnected);
}

impl End {
    /// Does as an operator who disables the session, and logs it out if it is logged on.
    fn disable(&mut self, now: Now) {
        self.at(now).set_enabled(0, false, "jane: holiday").unwrap();
        if self.phase() == Phase::LoggedOn {
            self.0.log_out(0, "holiday").unwrap();
        }
    }

    fn enable(&mut self, now: Now) {
        self.at(now).set_enabled(0, true, "jane: back").unwrap();
    }

    /// Returns how many messages the application was told of that an edge has taken.
    fn lost(&self) -> usize {
        let lost = |line: &&String| line.starts_with("messages that do not reach the counterparty: ");
        self.log().iter().filter(lost).count()
    }
}

const FROM_TO: [((u64, u64), (u64, u64)); 7] = [
    ((0, 16), (1, 9)),
    ((0, 16), (0, 20)),
    ((0, 20), (1, 9)),
    ((0, 16), (1, 20)),
    ((0, 16), (3, 12)),
    ((1, 9), (1, 10)),
    ((0, 10), (0, 11)),
];

// R-SCHEDULE-3
#[test]
fn a_session_that_is_disabled_over_an_edge_resets_once_for_it_and_tells_what_the_reset_has_taken() {
    for (reset, hour) in [(ScheduleReset::AtStart, 8), (ScheduleReset::AtEnd, 17)] {
        for ((from, to), sleeps) in FROM_TO.iter().flat_map(|&case| [(case, false), (case, true)]) {
            let (from, to) = (on(from.0, from.1), on(to.0, to.1));
            let case = format!("{reset:?}, disabled from {from} to {to}, nobody looked meanwhile: {sleeps}");
            let edges = (0..4).filter(|day| from < on(*day, hour) && on(*day, hour) <= to).count();
            let schedule = daily(8, 17).with_reset(reset);
            let mut pair =
                Pair::with(on(0, 9), Some(schedule), |s| s.resend.while_logged_off = WhileLoggedOff::Keep);
            pair.connect();
            pair.until(from);
            let resets = pair.venue.resets();
            pair.venue.disable(pair.now);
            pair.exchange();
            assert_eq!(pair.venue.phase(), Phase::Disconnected, "{case}");
            // It belongs to the window in which it is sent.
            pair.venue.send(pair.now);
            if sleeps {
                let step = Duration::from_nanos(to.0 - pair.now.utc.0);
                pair.now = Now { mono: pair.now.mono + step, utc: to };
            } else {
                pair.until(to);
            }
            assert!(!pair.venue.0.can_connect(0), "{case}");
            pair.venue.enable(pair.now);
            pair.wake();
            let expected = if sleeps { edges.min(1) } else { edges };
            assert_eq!(pair.venue.resets() - resets, expected, "{case}: {:?}", pair.venue.log());
            assert_eq!(pair.venue.resets(), pair.trader.resets(), "{case}");
            assert_eq!(pair.venue.lost(), edges.min(1), "{case}: {:?}", pair.venue.log());
            // From the next window on all is as usual.
            pair.until(on(4, 9));
            pair.connect();
            pair.until(on(4, 10));
            assert_eq!((pair.venue.phase(), pair.trader.phase()), (Phase::LoggedOn, Phase::LoggedOn));
            let (venue, trader) = (pair.venue.numbers(), pair.trader.numbers());
            assert_eq!(venue, (trader.1, trader.0), "{case}");
            assert_eq!(pair.venue.resets(), pair.trader.resets(), "{case}");
            assert_eq!(pair.venue.lost(), 1, "{case}: {:?}", pair.venue.log());
        }
    }
}

// R-SCHEDULE-3
#[test]
fn a_message_that_waits_in_a_disabled_session_whose_window_goes_on_is_sent_once_it_is_enabled() {
    let mut pair =
        Pair::with(on(0, 7), Some(daily(8, 17)), |s| s.resend.while_logged_off = WhileLoggedOff::Keep);
    pair.venue.disable(pair.now);
    pair.until(on(0, 9));
    pair.venue.send(pair.now);
    pair.until(on(0, 10));
    pair.venue.enable(pair.now);
    pair.connect();
    pair.until(on(0, 11));
    assert_eq!((pair.venue.lost(), pair.venue.ends(), pair.trader.0.app.1), (0, [].as_slice(), 1));
}

// R-SCHEDULE-3
#[test]
fn a_session_that_is_removed_before_edges_and_added_after_them_shows_its_messages_and_resets_once() {
    for disables in [false, true] {
        let directory = Directory::new(if disables { "disabled" } else { "removed" });
        let now = |at: Utc| Now { mono: mono(at.0 - on(0, 0).0), utc: at };
        let of_venue = || {
            settings("VENUE", "TRADER", Role::Acceptor, Some(daily(8, 17)))
                .with(|s| s.resend.while_logged_off = WhileLoggedOff::Keep)
        };
        let mut venue = End::open(now(on(0, 9)), of_venue(), Box::new(DirectoryStore::new(&directory.0)));
        venue.send(now(on(0, 10)));
        if disables {
            venue.disable(now(on(0, 11)));
        }
        venue.at(now(on(0, 12))).close(0).unwrap();
        let begin = venue.log().len();
        // In the same window, two windows later, and again in that.
        for (key, at) in [on(0, 13), on(2, 9), on(2, 10)].into_iter().enumerate() {
            venue.at(now(at)).open(of_venue()).unwrap();
            assert!(venue.0.can_connect(key + 1), "it is enabled");
            venue.0.close(key + 1).unwrap();
        }
        // Nobody knows any longer which messages the counterparty has.
        let told = [
            "the store has message 1",
            "the store has message 1",
            "the next sequence numbers are 1 in and 1 out: schedule: the sequence numbers are reset at 2026-11-25T08:00:00Z",
        ];
        assert_eq!(venue.log()[begin..], told);
        assert_eq!(resets_in(&directory).len(), 1);
    }
}
