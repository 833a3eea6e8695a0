//! Orders that come after the end of a window of their session's schedule.

use core::time::Duration;
use std::sync::Arc;

use fixbolt_codec::SeqNum;
use fixbolt_conformance::testing::{Mood, Side, kinds, settings_of};
use fixbolt_session::runtime::mono;
use fixbolt_session::schedule::{Edge, Schedule, ScheduleReset, TimeOfDay, Weekdays, Window, Zone};
use fixbolt_session::{Role, SessionEnd, SessionSettings};

const SECOND: u64 = 1_000_000_000;

/// A side with a counterparty that the test writes, in a window that ends at 09:00:10.
fn before_the_edge(id: &str, reset: ScheduleReset) -> Side {
    before_the_edge_with(id, reset, |_| {})
}

fn before_the_edge_with(id: &str, reset: ScheduleReset, change: fn(&mut SessionSettings)) -> Side {
    let edge = |hour, second| Edge::new(TimeOfDay::new(hour, 0, second).unwrap(), Zone::utc());
    let window = Window::daily(Weekdays::ALL, edge(8, 0), edge(9, 10));
    let schedule = Schedule::new([window]).with_reset(reset);
    let settings =
        settings_of(id, Role::Acceptor).with(change).with(|s| s.schedule = Some(Arc::new(schedule)));
    let mut side = Side::new(vec![settings]).logged_on();
    side.say(0, "35=D|34=2|11=before|");
    side.pass(Duration::from_secs(10));
    side
}

fn not_taken(side: &Side, seq: u64) -> bool {
    let told = format!("message {seq} (35=D) was not taken: the session has ended");
    side.app.notes.contains(&told)
}

// R-SCHEDULE-5
#[test]
fn an_order_after_the_edge_is_rejected_before_our_logout_if_the_numbers_are_reset() {
    for (id, answer) in [("FIX.4.1:US->PEER", "|35=3|"), ("FIX.4.4:US->PEER", "|35=j|")] {
        let mut side = before_the_edge(id, ScheduleReset::AtStart);
        let out = side.say(0, "35=D|34=3|11=after|");
        assert!(out[0].contains(answer) && out[0].contains("|45=3|"), "{out:?}");
        assert!(out[0].contains("|58=session end|"), "{out:?}");
        assert_eq!(out[0].contains("|380=4|"), id.contains("4.4"));
        assert!(out[1].contains("|35=5|"), "{out:?}");
        assert_eq!(side.app.got, ["before"]);
        assert_eq!(side.numbers(0).unwrap().0, SeqNum(4));
        assert!(not_taken(&side, 3), "{:?}", side.app.notes);
    }
}

// R-SCHEDULE-5
#[test]
fn an_order_after_our_logout_is_not_executed_if_the_numbers_are_reset() {
    for reset in [ScheduleReset::AtStart, ScheduleReset::AtEnd] {
        let mut side = before_the_edge("FIX.4.4:US->PEER", reset);
        side.wake(0, &[]);
        assert_eq!(kinds(&side.take(0)), "5");
        assert_eq!(kinds(&side.say(0, "35=D|34=3|11=after|")), "");
        assert_eq!(kinds(&side.say(0, "35=1|34=4|112=x|")), "0");
        assert_eq!(side.app.got, ["before"]);
        assert!(not_taken(&side, 3), "{:?}", side.app.notes);
        side.say(0, "35=5|34=5|");
        assert!(matches!(side.disconnect(0), Some(SessionEnd::ScheduleEnded { next: Some(_) })));
    }
}

#[test]
fn an_order_after_an_edge_that_does_not_reset_is_executed() {
    let mut side = before_the_edge("FIX.4.4:US->PEER", ScheduleReset::Never);
    side.wake(0, &[]);
    assert_eq!(kinds(&side.take(0)), "5");
    side.say(0, "35=D|34=3|11=after|");
    assert_eq!(side.app.got, ["before", "after"]);
}

#[test]
fn an_order_after_an_edge_is_not_executed_if_a_setting_resets_the_numbers() {
    for change in [
        (|s| s.reset.reset_on_logout = true) as fn(&mut SessionSettings),
        |s| s.reset.reset_on_disconnect = true,
        |s| s.reset.reset_on_logon = true,
    ] {
        let mut side = before_the_edge_with("FIX.4.4:US->PEER", ScheduleReset::Never, change);
        assert_eq!(kinds(&side.say(0, "35=D|34=3|11=after|")), "j5");
        assert_eq!(side.app.got, ["before"]);
    }
}

#[test]
fn an_order_after_the_edge_does_not_count_as_an_error_of_the_counterparty() {
    for id in ["FIX.4.1:US->PEER", "FIX.4.4:US->PEER"] {
        let mut side =
            before_the_edge_with(id, ScheduleReset::AtStart, |s| s.validation.disconnect_on_error = true);
        side.say(0, "35=D|34=3|11=after|");
        side.say(0, "35=5|34=4|");
        let end = side.disconnect(0);
        assert!(matches!(end, Some(SessionEnd::ScheduleEnded { .. })), "{end:?}");
    }
}

#[test]
fn an_order_that_was_put_off_until_the_edge_is_answered_before_our_logout() {
    let mut side = before_the_edge("FIX.4.4:US->PEER", ScheduleReset::AtStart);
    side.now.mono = mono(side.now.mono.nanos() - SECOND / 2);
    side.now.utc.0 -= SECOND / 2;
    side.app.mood = Mood::NotNow;
    let bytes = side.wire(0, "35=D|34=3|11=early|");
    assert_eq!(side.receive(0, &bytes), 0);
    side.app.mood = Mood::Done;
    side.pass(Duration::from_millis(500));
    side.wake(0, &bytes);
    assert_eq!(kinds(&side.take(0)), "j5");
    assert!(not_taken(&side, 3), "{:?}", side.app.notes);
}

#[test]
fn an_order_after_a_reset_in_the_session_at_the_edge_is_executed() {
    let edge = || Edge::new(TimeOfDay::new(9, 0, 10).unwrap(), Zone::utc());
    let schedule = Schedule::new([Window::daily(Weekdays::ALL, edge(), edge())]);
    let settings =
        settings_of("FIX.4.4:US->PEER", Role::Acceptor).with(|s| s.schedule = Some(Arc::new(schedule)));
    let mut side = Side::new(vec![settings]).logged_on();
    side.pass(Duration::from_secs(10));
    let mut bytes = side.wire(0, "35=A|34=1|98=0|108=30|141=Y|");
    bytes.extend(side.wire(0, "35=D|34=2|11=after|"));
    side.hear(0, &bytes);
    assert_eq!(side.app.got, ["after"]);
}
