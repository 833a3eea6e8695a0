//! Sending after a Logon before which messages are missing: R-LOGON-21.

use std::num::NonZeroU64;
use std::time::Duration;

use fixbolt_codec::{BodySink, Key, MsgType, NewBody};
use fixbolt_conformance::testing::{App, BEGIN, Side, kinds, settings};
use fixbolt_journal::{MemoryStore, NoStore};
use fixbolt_session::store::Store;
use fixbolt_session::{Compatibility, Delivery, Phase, Role, SessionSettings};

fn over(store: Box<dyn Store>, change: impl FnOnce(&mut SessionSettings)) -> Side {
    Side::on_store(store, vec![settings("PEER", Role::Acceptor).with(change)])
}

/// A session whose counterparty logged on with message 5 where 1 was expected, and to which the
/// application has sent two orders since.
fn after_a_gap(change: impl FnOnce(&mut SessionSettings)) -> Side {
    let mut side = over(Box::new(MemoryStore::new()), change);
    let out = side.log_on(0, 5, "");
    assert_eq!(kinds(&out), "A2", "{out:?}");
    side.send(0, "first", 1).unwrap();
    side.send(0, "second", 1).unwrap();
    side
}

/// Returns the ClOrdIDs of the orders sent, which must be new messages in the order of their
/// numbers.
fn orders(out: &[String], from: u64) -> String {
    for (seq, message) in (from..).zip(out) {
        assert!(message.contains(&format!("|34={seq}|")) && !message.contains("|43=Y|"), "{out:?}");
    }
    let id = |message: &String| {
        message.split("|11=").nth(1).map(|rest| rest.split('|').next().unwrap().to_owned())
    };
    out.iter().filter_map(id).collect::<Vec<_>>().join(" ")
}

// R-LOGON-21
#[test]
fn application_messages_wait_for_the_first_message_that_was_missing() {
    let mut side = after_a_gap(|_| {});
    assert_eq!(kinds(&side.take(0)), "");
    let dup = format!("35=D|34=1|43=Y|122={}|11=missing|", side.time());
    let out = side.say(0, &dup);
    // The answer to it follows those that waited.
    assert_eq!(orders(&out, 3), "first second missing", "{out:?}");
    side.send(0, "third", 1).unwrap();
    assert_eq!(orders(&side.take(0), 6), "third");
}

// R-LOGON-21
#[test]
fn a_message_that_the_application_does_not_take_now_has_come() {
    let app = App { message: Box::new(|_, _| Ok(Delivery::NotNow)), ..App::default() };
    let mut side =
        Side::begin(BEGIN, app, Box::new(MemoryStore::new()), vec![settings("PEER", Role::Acceptor)]);
    side.log_on(0, 5, "");
    side.act(0, |turn| {
        let mut draft = turn.session().draft(MsgType::new(b"D"));
        draft.writer().bytes(Key::new(11), b"first");
        draft.send()
    })
    .unwrap();
    assert_eq!(kinds(&side.take(0)), "");
    let missing = side.wire(0, &format!("35=D|34=1|43=Y|122={}|11=missing|", side.time()));
    assert_eq!(side.hear(0, &missing), 0, "it is not taken");
    assert_eq!(orders(&side.take(0), 3), "first");
}

#[test]
fn a_gap_fill_ends_the_wait_too() {
    let mut side = after_a_gap(|_| {});
    let out = side.say(0, "35=4|34=1|43=Y|123=Y|36=6|");
    assert_eq!(orders(&out, 3), "first second");
}

#[test]
fn a_resend_request_of_the_counterparty_ends_the_wait_and_is_answered_before() {
    let mut side = after_a_gap(|_| {});
    let out = side.say(0, "35=2|34=6|7=1|16=0|");
    assert_eq!(kinds(&out), "4DD2", "{out:?}");
    assert!(out[0].contains("|34=1|") && out[0].contains("|36=3|"), "{out:?}");
    assert_eq!(orders(&out[1..], 3), "first second");
}

#[test]
fn a_heartbeat_that_is_due_keeps_its_place_after_what_waits() {
    let mut side = over(Box::new(MemoryStore::new()), |_| {});
    side.log_on(0, 5, "");
    side.pass(Duration::from_secs(29));
    side.wake(0, &[]);
    assert_eq!(kinds(&side.take(0)), "");
    side.send(0, "first", 1).unwrap();
    side.pass(Duration::from_secs(1));
    side.wake(0, &[]);
    let out = side.take(0);
    assert_eq!(orders(&out, 3), "first", "{out:?}");
    assert_eq!(kinds(&out), "D0");
}

// R-LOGON-21
#[test]
fn the_wait_ends_after_ten_seconds_or_heart_bt_int() {
    for (heart_bt_int, seconds) in [(5, 10), (20, 20)] {
        let mut side = over(Box::new(MemoryStore::new()), |_| {});
        side.connect(0);
        assert_eq!(kinds(&side.say(0, &format!("35=A|34=5|98=0|108={heart_bt_int}|"))), "A2");
        side.send(0, "first", 1).unwrap();
        side.pass(Duration::from_secs(seconds - 1));
        side.say(0, "35=0|34=6|");
        side.wake(0, &[]);
        assert_eq!(kinds(&side.take(0)).matches('D').count(), 0);
        side.pass(Duration::from_secs(1));
        assert!(side.next(0).deadline.unwrap() <= side.now.mono);
        side.wake(0, &[]);
        assert_eq!(kinds(&side.take(0)).matches('D').count(), 1, "{heart_bt_int}");
        assert_eq!(side.phase(0), Phase::LoggedOn);
    }
}

#[test]
fn a_logout_goes_out_after_what_waits() {
    let mut ours = after_a_gap(|_| {});
    ours.log_out(0, "").unwrap();
    assert_eq!(kinds(&ours.take(0)), "DD5");
    let mut theirs = after_a_gap(|_| {});
    assert_eq!(kinds(&theirs.say(0, "35=5|34=6|")), "");
    let out = theirs.say(0, "35=4|34=1|43=Y|123=Y|36=6|");
    assert_eq!(kinds(&out), "DD5");
}

#[test]
fn what_waits_when_the_connection_ends_is_requested_after_the_next_logon() {
    let mut side = after_a_gap(|_| {});
    side.disconnect(0);
    assert_eq!(kinds(&side.log_on(0, 6, "")), "A2");
    let out = side.say(0, "35=2|34=7|7=3|16=0|");
    assert_eq!(kinds(&out), "DD42", "{out:?}");
}

#[test]
fn nothing_waits_where_engines_send_at_once_or_nothing_could_be_read_back() {
    for compatibility in [Compatibility::QuickFix, Compatibility::QuickFixJ] {
        let mut side = after_a_gap(|s| s.compatibility = compatibility);
        assert_eq!(orders(&side.take(0), 3), "first second");
    }
    let mut side = over(Box::new(NoStore::new()), |_| {});
    assert_eq!(kinds(&side.log_on(0, 5, "")), "A2");
    side.send(0, "first", 1).unwrap();
    assert_eq!(kinds(&side.take(0)), "D");
}

#[test]
fn a_horizon_keeps_what_waits() {
    let mut side = over(Box::new(MemoryStore::new()), |s| s.resend.resend_horizon = NonZeroU64::new(1));
    side.log_on(0, 5, "");
    for n in 0..5 {
        side.send(0, &format!("o{n}"), 1).unwrap();
    }
    let out = side.say(0, "35=4|34=1|43=Y|123=Y|36=6|");
    assert_eq!(orders(&out, 3), "o0 o1 o2 o3 o4");
}
