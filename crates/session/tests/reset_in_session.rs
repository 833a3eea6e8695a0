//! A reset of the sequence numbers in a session that is logged on (24-hour reset): R-RESET-6 to
//! R-RESET-10.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fixbolt_codec::{SeqNum, Version};
use fixbolt_conformance::store::Refusing;
use fixbolt_conformance::testing::{Mood, Side, kinds, settings};
use fixbolt_journal::MemoryStore;
use fixbolt_session::store::{Intercepted, RecordKind};
use fixbolt_session::{
    ChangeError, LogonFault, Misbehavior, Phase, Role, SendError, SessionEnd, SessionId, SessionSettings,
    Unreached, WhileLoggedOff,
};

const ANSWER: &str = "35=A|34=1|98=0|108=30|141=Y|";

fn numbers(side: &Side) -> (u64, u64) {
    let (next_in, next_out) = side.numbers(0).unwrap();
    (next_in.0, next_out.0)
}

fn begin(side: &mut Side) -> Result<(), ChangeError> {
    side.reset_in_session(0, "jane: end of day")
}

/// An acceptor that has received and sent one order.
fn logged_on(change: impl FnOnce(&mut SessionSettings)) -> Side {
    let settings = settings("PEER", Role::Acceptor).with(change);
    let mut side = Side::new(vec![settings]);
    assert_eq!(kinds(&side.log_on(0, 1, "")), "A");
    assert_eq!(kinds(&side.say(0, "35=D|34=2|11=a|")), "8");
    side
}

/// Begins a reset up to our Logon.
fn logon_sent() -> Side {
    logon_sent_with(|_| {})
}

fn logon_sent_with(change: fn(&mut SessionSettings)) -> Side {
    let mut side = logged_on(change);
    begin(&mut side).unwrap();
    assert_eq!(kinds(&side.take(0)), "1");
    let out = side.say(0, "35=0|34=3|112=1|");
    assert_eq!(kinds(&out), "A");
    assert!(out[0].contains("|34=1|") && out[0].contains("|141=Y|"), "{out:?}");
    side
}

// R-RESET-7
#[test]
fn a_reset_is_a_test_request_then_both_logons_and_both_sides_continue_with_2() {
    let mut side = logon_sent();
    assert_eq!(side.phase(0), Phase::LoggedOn);
    assert_eq!(side.send(0, "early", 1), Err(SendError::BackPressure));
    assert_eq!(kinds(&side.say(0, ANSWER)), "");
    assert_eq!(numbers(&side), (2, 2));
    side.send(0, "after", 1).unwrap();
    assert!(side.take(0)[0].contains("|34=2|"));
    assert_eq!(kinds(&side.say(0, "35=1|34=2|112=x|")), "0");
    assert_eq!(numbers(&side), (3, 4));
}

#[test]
fn a_version_without_reset_seq_num_flag_has_no_reset_in_the_session() {
    let mut side = logged_on(|s| s.id = SessionId::new(Version::Fix40, "US", "PEER").unwrap());
    assert_eq!(begin(&mut side), Err(ChangeError::NoResetSeqNumFlag));
    assert_eq!(kinds(&side.take(0)), "");
    assert_eq!(numbers(&side), (3, 3));
}

// R-RESET-7
#[test]
fn until_the_heartbeat_only_answers_are_sent() {
    let mut side = logged_on(|_| {});
    begin(&mut side).unwrap();
    side.take(0);
    assert_eq!(side.send(0, "early", 1), Err(SendError::BackPressure));
    assert_eq!(kinds(&side.say(0, "35=0|34=3|112=other|")), "");
    assert_eq!(numbers(&side).0, 4);
    // A counterparty that is not quiet would lose messages.
    assert_eq!(kinds(&side.say(0, "35=D|34=4|11=b|")), "8");
    side.send(0, "again", 1).unwrap();
    assert_eq!(kinds(&side.take(0)), "D");
    assert_eq!(kinds(&side.say(0, "35=0|34=5|112=1|")), "");
    assert_eq!(numbers(&side).0, 6);
}

// R-RESET-8
#[test]
fn a_reset_waits_for_a_gap_before_the_heartbeat_and_begins_in_none() {
    let mut side = logged_on(|_| {});
    begin(&mut side).unwrap();
    side.take(0);
    assert_eq!(kinds(&side.say(0, "35=0|34=4|112=1|")), "2");
    let out = side.say(0, "35=4|34=3|43=Y|123=Y|36=4|");
    assert_eq!(kinds(&out), "A");
    assert_eq!(numbers(&side), (1, 2));
    let mut side = logged_on(|_| {});
    side.say(0, "35=0|34=9|");
    assert_eq!(begin(&mut side), Err(ChangeError::MessagesPending));
}

// R-RESET-8
#[test]
fn without_a_heartbeat_the_reset_is_abandoned_and_the_session_continues() {
    let mut side = logged_on(|s| s.timing.logon_timeout = Duration::from_secs(7));
    begin(&mut side).unwrap();
    assert_eq!(begin(&mut side), Err(ChangeError::ResetHasBegun));
    side.take(0);
    side.pass(Duration::from_secs(7));
    assert!(side.next(0).deadline.unwrap() <= side.now.mono);
    side.wake(0, &[]);
    side.send(0, "on", 1).unwrap();
    assert_eq!(kinds(&side.take(0)), "D");
    assert_eq!(kinds(&side.say(0, "35=0|34=3|112=1|")), "");
    assert_eq!(numbers(&side).0, 4);
}

// R-RESET-8
#[test]
fn a_reset_that_is_abandoned_without_heartbeats_lets_the_session_continue() {
    for timeout in [7, 45] {
        let timeout = Duration::from_secs(timeout);
        let settings = settings("PEER", Role::Acceptor).with(|s| s.timing.logon_timeout = timeout);
        let mut side = Side::new(vec![settings]);
        side.connect(0);
        assert_eq!(kinds(&side.say(0, "35=A|34=1|98=0|108=0|")), "A");
        begin(&mut side).unwrap();
        assert_eq!(kinds(&side.take(0)), "1");
        for _ in 0..150 {
            side.pass(Duration::from_secs(1));
            side.wake(0, &[]);
        }
        assert_eq!((kinds(&side.take(0)).as_str(), side.next(0).close), ("", false), "{timeout:?}");
    }
}

// R-RESET-8
#[test]
fn a_reset_that_is_abandoned_leaves_the_answer_to_another_test_request_awaited() {
    let settings = settings("PEER", Role::Acceptor).with(|s| s.timing.logon_timeout = Duration::from_secs(7));
    let mut side = Side::new(vec![settings]);
    side.connect(0);
    assert_eq!(kinds(&side.say(0, "35=A|34=1|98=0|108=0|")), "A");
    begin(&mut side).unwrap();
    side.pass(Duration::from_secs(5));
    side.test_request(0).unwrap();
    assert_eq!(kinds(&side.take(0)), "11");
    for _ in 0..35 {
        side.pass(Duration::from_secs(1));
        side.wake(0, &[]);
    }
    assert_eq!(side.disconnect(0), Some(SessionEnd::HeartbeatTimedOut));
}

// R-RESET-9
#[test]
fn a_logon_that_is_not_answered_ends_the_connection() {
    let mut side = logon_sent();
    side.pass(Duration::from_secs(10));
    side.wake(0, &[]);
    assert_eq!(kinds(&side.take(0)), "5");
    assert_eq!(side.disconnect(0), Some(SessionEnd::ResetUnanswered));
}

// R-LOGOUT-12
#[test]
fn a_reset_that_is_not_answered_sends_no_other_logout_after_one_of_ours() {
    for peer_logs_out in [false, true] {
        let mut side = logon_sent_with(|s| s.timing.logout_timeout = Duration::from_secs(20));
        side.pass(Duration::from_secs(5));
        let end = if peer_logs_out {
            assert_eq!(kinds(&side.say(0, "35=5|34=4|")), "5");
            SessionEnd::PeerDidNotClose
        } else {
            side.log_out(0, "good night").unwrap();
            assert_eq!(kinds(&side.take(0)), "5");
            SessionEnd::LogoutTimedOut
        };
        // The time for the answer to our Logon is over.
        side.pass(Duration::from_secs(5));
        side.wake(0, &[]);
        assert_eq!((kinds(&side.take(0)).as_str(), side.next(0).close), ("", false));
        side.pass(Duration::from_secs(15));
        side.wake(0, &[]);
        assert_eq!(side.disconnect(0), Some(end));
        assert_eq!(side.app.resets.len(), 1, "{:?}", side.app.resets);
    }
}

// R-RESET-13
#[test]
fn a_reset_that_was_begun_before_our_logout_was_seen_is_followed_and_ends_the_connection() {
    let mut side = logged_on(|s| s.reset.reset_on_error = true);
    side.log_out(0, "good night").unwrap();
    assert_eq!(kinds(&side.take(0)), "5");
    assert_eq!(kinds(&side.say(0, ANSWER)), "");
    assert_eq!(side.disconnect(0), Some(SessionEnd::LogoutTimedOut));
    let told = "the next sequence numbers are 1 in and 2 out: ResetSeqNumFlag of the counterparty, whose Logon has crossed our Logout";
    assert_eq!(side.app.resets, [told]);
    // The counterparty has answered our Logout with number 2. Some, such as QuickFIX, have counted
    // it, and expect 2 from us; others request the message before.
    let out = side.log_on(0, 3, "");
    assert_eq!(kinds(&out), "A2");
    assert!(out[0].contains("|34=2|") && out[1].contains("|7=1|"), "{out:?}");
    let out = side.say(0, "35=2|34=4|7=1|16=0|");
    assert!(kinds(&out) == "42" && out[0].contains("|34=1|"), "{out:?}");
    assert_eq!(side.app.unreached, [], "our Logout is no message that is lost");
}

// R-RESET-13, R-LOGOUT-13
#[test]
fn a_reset_that_crosses_our_logout_is_followed_behind_an_order_that_was_left() {
    let mut side = logged_on(|_| {});
    for n in 3..=6 {
        side.say(0, &format!("35=D|34={n}|11=b{n}|"));
    }
    side.app.mood = Mood::NotNow;
    side.log_out(0, "good night").unwrap();
    side.take(0);
    let late = side.wire(0, "35=D|34=7|11=late|");
    let bytes = [late, side.wire(0, ANSWER), side.wire(0, "35=5|34=2|")].concat();
    assert_eq!(side.hear(0, &bytes), 0);
    side.pass(Duration::from_secs(1));
    side.wake(0, &bytes);
    assert_eq!(numbers(&side), (1, 2));
    let lost = "what was left for the next connection is lost";
    assert!(side.app.notes.iter().any(|note| note.contains(lost)), "{:?}", side.app.notes);
    assert_eq!(side.disconnect(0), Some(SessionEnd::LogoutTimedOut));
}

// R-CHECK-8, R-RESET-13
#[test]
fn a_reset_that_crosses_our_logout_must_be_like_a_first_logon() {
    for logon in ["35=A|34=1|141=Y|", "35=A|34=1|98=0|108=-1|141=Y|", "35=A|34=1|98=1|108=30|141=Y|"] {
        let mut side = logged_on(|_| {});
        side.log_out(0, "good night").unwrap();
        side.take(0);
        assert_eq!(kinds(&side.say(0, logon)), "", "{logon}");
        let end = side.disconnect(0);
        assert!(matches!(end, Some(SessionEnd::PeerMisbehaved(Misbehavior::InvalidLogon(_)))), "{end:?}");
        assert_eq!(numbers(&side), (3, 4), "{logon}");
    }
}

// R-RESET-13
#[test]
fn two_sides_of_which_one_resets_while_the_other_logs_out_can_log_on_again() {
    for resets_on_logout in [false, true] {
        let mut sides = two_sides(|s| s.reset.reset_on_logout = resets_on_logout);
        settle(&mut sides);
        for n in 0..5 {
            sides[0].send(0, &format!("o{n}"), 1).unwrap();
        }
        settle(&mut sides);
        begin(&mut sides[0]).unwrap();
        for _ in 0..2 {
            let bytes = [0, 1].map(|n| sides[n].write(0, usize::MAX));
            sides[1].hear(0, &bytes[0]);
            sides[0].hear(0, &bytes[1]);
        }
        // The Logon of the one is on its way.
        sides[1].log_out(0, "good night").unwrap();
        settle(&mut sides);
        for side in &mut sides {
            assert!(side.disconnect(0).is_some());
        }
        for side in sides.iter_mut().rev() {
            assert!(side.connect(0));
        }
        settle(&mut sides);
        sides[0].send(0, "after", 1).unwrap();
        settle(&mut sides);
        assert_eq!(sides[1].app.got.last().map(String::as_str), Some("after"), "{resets_on_logout}");
    }
}

/// A session that sends several messages again, one a second.
fn in_a_slow_replay() -> Side {
    let mut side = logged_on(|s| s.resend.max_replay_rate = NonZeroU32::new(1));
    for n in 0..5 {
        side.send(0, &format!("o{n}"), 1).unwrap();
    }
    side.take(0);
    side.tell(0, "35=2|34=3|7=1|16=0|");
    side.step(0);
    side.step(0);
    side
}

// R-RESET-13
#[test]
fn a_reset_before_a_logout_that_waits_for_a_replay_is_followed_and_ended_with_that() {
    let mut side = in_a_slow_replay();
    side.log_out(0, "good night").unwrap();
    assert_eq!(kinds(&side.step(0)), "");
    let out = side.say(0, ANSWER);
    assert_eq!(kinds(&out), "A5", "{out:?}");
    assert!(out[0].contains("|34=1|") && out[0].contains("|141=Y|") && out[1].contains("|34=2|"), "{out:?}");
    assert!(side.disconnect(0).is_some());
    assert_eq!(numbers(&side), (1, 3));
}

// R-RESET-2, R-LOGOUT-12
#[test]
fn a_reset_with_another_number_than_1_after_our_logout_resets_nothing() {
    let fault = SessionEnd::PeerMisbehaved(Misbehavior::InvalidLogon(LogonFault::ResetSeqNumFlag));
    let mut side = logged_on(|_| {});
    side.log_out(0, "good night").unwrap();
    assert_eq!(kinds(&side.take(0)), "5");
    assert_eq!(kinds(&side.say(0, "35=A|34=3|98=0|108=30|141=Y|")), "");
    assert_eq!(side.disconnect(0), Some(fault.clone()));
    assert_eq!(numbers(&side), (3, 4));
    let mut side = in_a_slow_replay();
    side.log_out(0, "good night").unwrap();
    let out = side.say(0, "35=A|34=4|98=0|108=30|141=Y|");
    assert!(kinds(&out) == "5" && out[0].contains("is not 1|"), "{out:?}");
    assert_eq!(side.disconnect(0), Some(fault));
}

// R-RESET-9
#[test]
fn an_answer_that_does_not_reset_is_refused() {
    for (answer, fault) in [
        ("35=A|34=1|98=0|108=30|", LogonFault::ResetUnanswered),
        ("35=A|34=4|98=0|108=30|141=Y|", LogonFault::ResetSeqNumFlag),
    ] {
        let mut side = logon_sent();
        let out = side.say(0, answer);
        assert_eq!(kinds(&out), "5", "{answer}: {out:?}");
        let invalid = Misbehavior::InvalidLogon(fault);
        assert_eq!(side.disconnect(0), Some(SessionEnd::PeerMisbehaved(invalid)));
    }
}

// R-RESET-10
#[test]
fn what_was_sent_before_the_answer_is_not_processed_and_a_logout_is_answered() {
    let mut side = logon_sent();
    assert_eq!(kinds(&side.say(0, "35=D|34=4|11=late|")), "");
    assert_eq!(kinds(&side.say(0, "35=1|34=5|112=late|")), "");
    assert_eq!(side.app.got, ["a"]);
    assert!(side.app.notes.iter().any(|note| note.contains("before it answered the reset")));
    assert_eq!(kinds(&side.say(0, ANSWER)), "");
    assert_eq!(numbers(&side), (2, 2));
    let mut refuses = logon_sent();
    assert_eq!(kinds(&refuses.say(0, "35=5|34=4|58=no resets|")), "5");
    assert_eq!(refuses.disconnect(0), Some(SessionEnd::LoggedOutByPeer));
}

#[test]
fn a_reset_that_the_counterparty_begins_replaces_ours() {
    let mut side = logged_on(|_| {});
    begin(&mut side).unwrap();
    side.take(0);
    let out = side.say(0, ANSWER);
    assert_eq!(kinds(&out), "A");
    assert_eq!(numbers(&side), (2, 2));
    side.send(0, "after", 1).unwrap();
    assert_eq!(kinds(&side.take(0)), "D");
}

/// Two sides of one session, connected.
fn two_sides(change: impl Fn(&mut SessionSettings)) -> [Side; 2] {
    let initiator = SessionSettings::new("FIX.4.4:A->B".parse().unwrap(), Role::Initiator);
    let acceptor = SessionSettings::new("FIX.4.4:B->A".parse().unwrap(), Role::Acceptor);
    let mut sides = [initiator, acceptor].map(|s| {
        let s = s.with(|s| s.dictionary = fixbolt_session::SessionDictionary::None).with(&change);
        Side::new(vec![s])
    });
    for side in sides.iter_mut().rev() {
        side.connect(0);
    }
    sides
}

/// Passes on what two sides write until they are quiet.
fn settle(sides: &mut [Side; 2]) {
    for _ in 0..20 {
        let bytes = [0, 1].map(|n| sides[n].write(0, usize::MAX));
        sides[1].hear(0, &bytes[0]);
        sides[0].hear(0, &bytes[1]);
    }
}

// R-RESET-10
#[test]
fn two_sides_that_begin_at_once_settle() {
    let mut sides = two_sides(|_| {});
    settle(&mut sides);
    for side in &mut sides {
        begin(side).unwrap();
    }
    settle(&mut sides);
    for side in &mut sides {
        assert_eq!(numbers(side), (2, 2));
        assert_eq!(side.phase(0), Phase::LoggedOn);
    }
    sides[0].send(0, "after", 1).unwrap();
    settle(&mut sides);
    assert_eq!(sides[1].app.got.first().map(String::as_str), Some("after"));
}

#[test]
fn a_reset_needs_a_session_that_is_logged_on() {
    let settings = settings("PEER", Role::Acceptor);
    let mut side = Side::new(vec![settings]);
    assert_eq!(begin(&mut side), Err(ChangeError::NotLoggedOn));
    side.connect(0);
    assert_eq!(begin(&mut side), Err(ChangeError::NotLoggedOn));
    assert_eq!(side.numbers(0), Some((SeqNum(1), SeqNum(1))));
}

#[test]
fn a_reset_whose_connection_breaks_is_told() {
    let mut side = logon_sent();
    assert_eq!(side.disconnect(0), Some(SessionEnd::ConnectionLost));
    assert_eq!(side.app.resets, ["the next sequence numbers are 1 in and 2 out: jane: end of day"]);

    let mut side = logged_on(|_| {});
    begin(&mut side).unwrap();
    assert_eq!(side.disconnect(0), Some(SessionEnd::ConnectionLost));
    let told = "the reset of the sequence numbers was abandoned: the connection has ended";
    assert_eq!(side.app.resets, [told]);
    assert_eq!(numbers(&side), (3, 4));
}

// R-RESET-8
#[test]
fn a_reset_does_not_begin_after_our_logout() {
    let mut side = logged_on(|_| {});
    begin(&mut side).unwrap();
    assert_eq!(kinds(&side.take(0)), "1");
    side.log_out(0, "good night").unwrap();
    assert_eq!(kinds(&side.take(0)), "5");
    assert_eq!(kinds(&side.say(0, "35=0|34=3|112=1|")), "");
    let told = "the reset of the sequence numbers was abandoned: a Logout was sent";
    assert_eq!(side.app.resets, [told]);
    assert_eq!(numbers(&side), (4, 5));
}

/// A report that is written, and a Logout with ResetOnLogout, before the socket takes a byte.
#[test]
fn what_was_numbered_before_a_reset_and_never_taken_by_the_socket_is_told() {
    let mut side = logged_on(|s| s.reset.reset_on_logout = true);
    let bytes = [side.wire(0, "35=D|34=3|11=b|"), side.wire(0, "35=5|34=4|")].concat();
    side.hear(0, &bytes);
    assert_eq!(numbers(&side), (1, 1));
    side.disconnect(0);
    assert_eq!(side.app.unreached, [(SeqNum(3), SeqNum(3), Unreached::Reset)]);
    // It does not count as unsent in the numbers after the reset.
    side.app.unreached.clear();
    side.log_on(0, 1, "");
    assert_eq!(kinds(&side.say(0, "35=2|34=2|7=1|16=0|")), "4");
    assert_eq!(side.app.unreached, []);
}

// R-RESET-13, R-RESEND-3
#[test]
fn a_reset_that_crosses_our_logout_and_was_not_stored_makes_no_later_order_a_logout() {
    let refuses = Arc::new(AtomicBool::new(false));
    let store = Intercepted::new(
        MemoryStore::new(),
        Refusing { kind: RecordKind::Adjust, now: Arc::clone(&refuses) },
    );
    let settings = settings("PEER", Role::Acceptor).with(|s| {
        (s.resend.while_logged_off, s.reset.reset_on_logout) = (WhileLoggedOff::Keep, true);
    });
    let mut side = Side::on_store(Box::new(store), vec![settings]);
    side.log_on(0, 1, "");
    side.log_out(0, "good night").unwrap();
    side.take(0);
    refuses.store(true, Ordering::Relaxed);
    side.say(0, ANSWER);
    side.disconnect(0);
    refuses.store(false, Ordering::Relaxed);
    side.pass(Duration::from_secs(60));
    side.wake(0, &[]);
    side.log_on(0, 2, "");
    side.say(0, "35=5|34=3|");
    side.disconnect(0);
    assert_eq!(numbers(&side), (1, 1), "{:?}", side.app.resets);
    side.send(0, "first", 1).unwrap();
    let out = side.log_on(0, 1, "");
    assert_eq!(kinds(&out), "A", "{out:?}");
    let out = side.say(0, "35=2|34=2|7=1|16=0|");
    assert!(kinds(&out).starts_with('D') && out[0].contains("|11=first|"), "{out:?}");
}
