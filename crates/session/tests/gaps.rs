//! Gaps: messages that arrive too early are checked when they are due, and are discarded with the
//! connection and by a reset.

use fixbolt_conformance::testing::{Side, kinds, settings};
use fixbolt_session::{Phase, Role, SessionSettings};

fn logged_on(change: fn(&mut SessionSettings)) -> Side {
    Side::new(vec![settings("PEER", Role::Acceptor).with(change)]).logged_on()
}

fn numbers(side: &Side) -> (u64, u64) {
    let (next_in, next_out) = side.numbers(0).unwrap();
    (next_in.0, next_out.0)
}

fn orders(side: &mut Side, numbers: std::ops::RangeInclusive<u64>) -> String {
    numbers.map(|seq| kinds(&side.say(0, &format!("35=D|34={seq}|11=ord{seq}|")))).collect()
}

const RESET: &str = "35=A|34=1|98=0|108=30|141=Y|";

#[test]
fn a_resend_request_answered_before_a_reset_does_not_silence_the_one_after_it() {
    let mut side = logged_on(|_| {});
    assert_eq!(kinds(&side.say(0, "35=2|34=5|7=1|16=0|")), "42");
    assert_eq!(kinds(&side.say(0, RESET)), "A");
    assert_eq!(orders(&mut side, 2..=4), "888");
    assert_eq!(kinds(&side.say(0, "35=2|34=5|7=2|16=0|")), "888");
}

#[test]
fn a_reset_discards_a_logout_that_arrived_too_early() {
    let mut side = logged_on(|_| {});
    assert_eq!(kinds(&side.say(0, "35=5|34=5|")), "2");
    assert_eq!(kinds(&side.say(0, RESET)), "A");
    assert_eq!(orders(&mut side, 2..=6), "88888");
    assert_eq!(side.phase(0), Phase::LoggedOn);
}

#[test]
fn a_gap_and_the_messages_after_it_are_discarded_with_the_connection() {
    let mut side = logged_on(|_| {});
    assert_eq!(kinds(&side.say(0, "35=5|34=5|")), "2");
    side.disconnect(0);
    assert_eq!(kinds(&side.log_on(0, 2, "")), "A");
    assert_eq!(orders(&mut side, 3..=6), "8888");
    assert_eq!(side.phase(0), Phase::LoggedOn);
}

#[test]
fn a_poss_dup_that_arrives_too_early_is_checked_when_its_sequence_number_is_due() {
    let mut side = logged_on(|_| {});
    assert_eq!(kinds(&side.say(0, "35=D|34=4|43=Y|11=early|")), "2");
    assert_eq!(orders(&mut side, 2..=2), "8");
    let out = side.say(0, "35=D|34=3|11=c|");
    assert_eq!(kinds(&out), "83", "the one that arrived early has no OrigSendingTime");
    assert!(out[1].contains("|45=4|") && out[1].contains("|371=122|"), "{out:?}");
    assert_eq!(numbers(&side).0, 5);
}
