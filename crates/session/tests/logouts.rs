//! When a Logout is sent and answered, and how long its answer is awaited.

use std::time::Duration;

use fixbolt_codec::SeqNum;
use fixbolt_conformance::testing::{Side, kinds, settings};
use fixbolt_session::{Phase, Role, SessionEnd, SessionSettings};

fn logged_on(change: fn(&mut SessionSettings)) -> Side {
    Side::new(vec![settings("PEER", Role::Acceptor).with(change)]).logged_on()
}

#[test]
fn a_logout_during_a_replay_is_sent_after_it_and_its_timeout_begins_then() {
    let mut side = logged_on(|settings| settings.outbox_size = 16 * 1024);
    for _ in 0..200 {
        side.send(0, "x", 900).unwrap();
        side.take(0);
    }
    let bytes = side.wire(0, "35=2|34=2|7=1|16=0|");
    side.hear(0, &bytes);
    assert!(side.is_replaying(0));
    side.log_out(0, "").unwrap();
    // A second for each piece that the socket accepts: in total far more than LogoutTimeout.
    let (mut bytes, mut seconds) = (0, 0);
    while side.is_replaying(0) || side.next(0).output {
        let taken = side.writable(0).len().min(4000);
        bytes += taken;
        side.written(0, taken);
        side.pass(Duration::from_secs(1));
        seconds += 1;
        side.wake(0, &[]);
        assert!(!side.next(0).close, "after {bytes} bytes and {seconds} seconds");
    }
    assert!(seconds > 20);
    assert_eq!(side.phase(0), Phase::LogoutSent);
    side.say(0, "35=5|34=3|");
    assert_eq!(side.disconnect(0), Some(SessionEnd::LoggedOutByUs));
}

#[test]
fn a_logout_that_the_counterparty_does_not_read_ends_at_its_timeout() {
    let mut side = logged_on(|_| {});
    side.log_out(0, "").unwrap();
    side.pass(Duration::from_millis(2001));
    side.wake(0, &[]);
    assert_eq!(side.disconnect(0), Some(SessionEnd::LogoutTimedOut));
}

#[test]
fn why_the_counterparty_logs_out_is_reported_once_whatever_its_sequence_number() {
    for seq in [1, 2, 5] {
        let mut side = logged_on(|_| {});
        side.say(0, &format!("35=5|34={seq}|58=end of day|"));
        if seq == 5 {
            side.say(0, "35=4|34=2|43=Y|123=Y|36=5|");
        }
        side.disconnect(0);
        let logouts = side.app.notes.iter().filter(|note| note.contains("Logout: end of day"));
        assert_eq!(logouts.count(), 1, "{seq}: {:?}", side.app.notes);
    }
}

/// The answer to a Logout is awaited for LogoutTimeout, whatever else the counterparty asks
/// meanwhile.
#[test]
fn a_counterparty_that_keeps_sending_does_not_delay_the_end_of_a_logout() {
    let mut side = logged_on(|_| {});
    side.log_out(0, "").unwrap();
    assert_eq!(kinds(&side.take(0)), "5");
    for seq in 2..=5 {
        side.pass(Duration::from_secs(1));
        side.say(0, &format!("35=1|34={seq}|112=still there|"));
    }
    assert!(side.next(0).close, "four seconds after a Logout that was not answered");
    assert_eq!(side.disconnect(0), Some(SessionEnd::LogoutTimedOut));
}

#[test]
fn a_resent_logout_is_not_answered_when_its_sequence_number_is_due() {
    let mut side = logged_on(|_| {});
    let time = side.time();
    assert_eq!(kinds(&side.say(0, &format!("35=5|34=3|43=Y|122={time}|"))), "2");
    assert_eq!(kinds(&side.say(0, "35=0|34=2|")), "");
    assert_eq!(side.phase(0), Phase::LoggedOn);
    assert_eq!(side.numbers(0).unwrap().0, SeqNum(4));
}

/// Both sides log out at the same time, and our Logout still waits for a replay: the counterparty
/// receives it before the connection ends.
#[test]
fn logouts_that_cross_during_a_replay_are_both_sent() {
    let mut side = logged_on(|settings| settings.outbox_size = 16 * 1024);
    for _ in 0..100 {
        side.send(0, "x", 900).unwrap();
        side.take(0);
    }
    let bytes = side.wire(0, "35=2|34=2|7=1|16=0|");
    side.hear(0, &bytes);
    side.log_out(0, "").unwrap();
    let bytes = side.wire(0, "35=5|34=3|");
    side.hear(0, &bytes);
    let out = kinds(&side.take(0));
    assert!(out.ends_with('5') && out.matches('5').count() == 1, "{out}");
    assert_eq!(side.phase(0), Phase::LogoutAnswered);
    assert_eq!(side.disconnect(0), Some(SessionEnd::LoggedOutByPeer));
}
