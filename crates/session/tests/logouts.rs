//! When a Logout is sent and answered, and how long its answer is awaited.

use std::num::NonZeroU32;
use std::time::Duration;

use fixbolt_codec::SeqNum;
use fixbolt_conformance::testing::{Mood, Side, kinds, settings};
use fixbolt_session::{InboundThrottle, Misbehavior, Phase, Rate, Role, SessionEnd, SessionSettings};

fn logged_on(change: impl FnOnce(&mut SessionSettings)) -> Side {
    Side::new(vec![settings("PEER", Role::Acceptor).with(change)]).logged_on()
}

/// A session that has sent `orders` orders and sends one message a second again, whose counterparty
/// requests all of them.
fn asked_again(orders: u32) -> Side {
    asked_again_with(orders, |_| {})
}

fn asked_again_with(orders: u32, change: fn(&mut SessionSettings)) -> Side {
    let settings =
        settings("PEER", Role::Acceptor).with(|s| s.resend.max_replay_rate = NonZeroU32::new(1)).with(change);
    let mut side = Side::new(vec![settings]).logged_on();
    for _ in 0..orders {
        side.send(0, "x", 1).unwrap();
        side.take(0);
    }
    side.tell(0, "35=2|34=2|7=2|16=0|");
    side
}

/// Lets a tenth of a second pass; returns what the session has sent.
fn tenth(side: &mut Side) -> Vec<String> {
    side.pass(Duration::from_millis(100));
    (0..3).flat_map(|_| side.step(0)).collect()
}

// R-LOGOUT-7
#[test]
fn a_logout_waits_for_a_replay_for_half_of_its_timeout_and_the_connection_ends_at_it() {
    let mut side = asked_again(200);
    side.log_out(0, "bye").unwrap();
    let mut sent = Vec::new();
    for tenths in 0..20 {
        assert!(!side.next(0).close, "after {tenths} tenths of a second");
        sent.push(kinds(&tenth(&mut side)));
    }
    assert_eq!(sent.concat(), "D5");
    assert_eq!(sent.iter().position(|kinds| kinds.contains('5')), Some(9), "{sent:?}");
    assert!(side.next(0).close);
    assert_eq!(side.disconnect(0), Some(SessionEnd::LogoutTimedOut));
}

#[test]
fn what_a_logout_has_cut_off_is_sent_again_until_it_is_answered() {
    let mut side = asked_again(200);
    side.log_out(0, "bye").unwrap();
    for _ in 0..10 {
        tenth(&mut side);
    }
    side.tell(0, "35=2|34=3|7=4|16=5|");
    side.pass(Duration::from_millis(400));
    assert!(kinds(&tenth(&mut side)).contains('D'));
    side.tell(0, "35=5|34=4|");
    assert_eq!(side.disconnect(0), Some(SessionEnd::LoggedOutByUs));
}

#[test]
fn new_resend_requests_do_not_delay_a_logout() {
    let mut side = asked_again(200);
    side.log_out(0, "bye").unwrap();
    let mut sent = String::new();
    for seq in 3..13 {
        sent += &kinds(&tenth(&mut side));
        side.tell(0, &format!("35=2|34={seq}|7=2|16=0|"));
    }
    assert!(sent.ends_with('5'), "{sent}");
    for _ in 0..10 {
        tenth(&mut side);
    }
    assert!(side.next(0).close);
}

#[test]
fn who_logs_out_while_the_counterparty_waits_for_a_replay_waits_no_longer_than_otherwise() {
    let mut side = asked_again(200);
    side.tell(0, "35=5|34=3|");
    for _ in 0..30 {
        tenth(&mut side);
    }
    assert_eq!(side.phase(0), Phase::LogoutAnswered);
    side.log_out(0, "bye").unwrap();
    let sent: String = (0..20).map(|_| kinds(&tenth(&mut side))).collect();
    assert!(sent.contains('5'), "{sent}");
    assert!(side.next(0).close);
}

// R-LOGOUT-7
#[test]
fn what_waits_behind_a_logout_that_was_cut_off_is_sent_with_the_next_connection() {
    let mut side = asked_again(200);
    let seq = side.send(0, "waits", 1).unwrap().seq().unwrap();
    side.log_out(0, "bye").unwrap();
    let sent: Vec<_> = (0..20).flat_map(|_| tenth(&mut side)).collect();
    assert!(!sent.iter().any(|message| message.contains("waits")), "{sent:?}");
    side.disconnect(0);
    assert_eq!(side.app.unreached, []);
    assert_eq!(kinds(&side.log_on(0, 3, "")), "A");
    side.tell(0, &format!("35=2|34=4|7={seq}|16={seq}|"));
    assert!(tenth(&mut side).iter().any(|message| message.contains("waits")));
}

#[test]
fn a_logout_that_the_counterparty_does_not_read_ends_at_its_timeout() {
    let mut side = logged_on(|_| {});
    side.log_out(0, "").unwrap();
    side.pass(Duration::from_millis(2001));
    side.wake(0, &[]);
    assert_eq!(side.disconnect(0), Some(SessionEnd::LogoutTimedOut));
}

// R-LOGOUT-5
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

// R-POSSDUP-5
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
// R-LOGOUT-10
#[test]
fn logouts_that_cross_during_a_replay_are_both_sent() {
    let mut side = logged_on(|settings| settings.limits.outbound_buffer_size = 16 * 1024);
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

#[test]
fn half_of_a_long_timeout_is_for_the_rest_of_a_replay_whoever_logs_out_first() {
    for crosses in [false, true] {
        let mut side = logged_on(|s| {
            (s.resend.max_replay_rate, s.timing.logout_timeout) =
                (NonZeroU32::new(10), Duration::from_secs(60));
        });
        for _ in 0..1000 {
            side.send(0, "x", 1).unwrap();
            side.take(0);
        }
        side.tell(0, "35=2|34=2|7=2|16=0|");
        if crosses {
            side.log_out(0, "bye").unwrap();
            tenth(&mut side);
        }
        side.tell(0, "35=5|34=3|");
        if !crosses {
            side.log_out(0, "bye").unwrap();
        }
        let at = (1..600).find(|_| kinds(&tenth(&mut side)).contains('5'));
        assert!(at.is_some_and(|tenths| (250..=310).contains(&tenths)), "{crosses} {at:?}");
    }
}

#[test]
fn a_reset_at_the_logout_does_not_prolong_it() {
    let mut side = asked_again_with(50, |s| s.reset.reset_on_logout = true);
    side.log_out(0, "bye").unwrap();
    side.tell(0, "35=5|34=3|");
    let closed = (1..200).find(|_| {
        tenth(&mut side);
        side.next(0).close
    });
    assert!(closed.is_some_and(|tenths| tenths <= 20), "{closed:?}");
}

#[test]
fn a_logout_that_waited_behind_a_gap_is_the_answer_to_one_of_ours() {
    for resets in [false, true] {
        for fill in ["35=4|34=9|36=3|", "35=4|34=2|43=Y|123=Y|36=6|"] {
            let mut side = logged_on(|_| {});
            if resets {
                side = logged_on(|s| s.reset.reset_on_logout = true);
            }
            assert_eq!(kinds(&side.say(0, "35=5|34=5|")), "2");
            side.log_out(0, "bye").unwrap();
            assert_eq!(kinds(&side.take(0)), "5");
            assert_eq!(kinds(&side.say(0, fill)), "", "{resets} {fill}");
            assert_eq!(side.disconnect(0), Some(SessionEnd::LoggedOutByUs), "{resets} {fill}");
        }
    }
}

// R-LOGOUT-5
#[test]
fn a_logout_with_a_number_that_is_too_low_is_answered_with_both_numbers() {
    let mut side = logged_on(|_| {});
    let out = side.say(0, "35=5|34=1|");
    assert!(
        kinds(&out) == "5" && out[0].contains("MsgSeqNum too low, expecting 2 but received 1"),
        "{out:?}"
    );
    assert!(side.next(0).close);
    assert_eq!(side.numbers(0).unwrap().0, SeqNum(2));
}

// R-LOGOUT-2
#[test]
fn the_answer_to_our_logout_ends_the_session_whatever_is_wrong_with_it() {
    for fields in ["35=5|34=2|43=X|", "35=5|34=9|", "35=5|34=9|43=X|"] {
        let mut side = logged_on(|_| {});
        side.log_out(0, "bye").unwrap();
        assert_eq!(kinds(&side.take(0)), "5");
        assert_eq!(kinds(&side.say(0, fields)), "", "{fields}");
        assert_eq!(side.disconnect(0), Some(SessionEnd::LoggedOutByUs), "{fields}");
    }
}

// R-LOGOUT-12
#[test]
fn a_counterparty_that_breaks_a_limit_while_our_logout_waits_for_a_replay_gets_one() {
    let (at_most_one, garbled) = ("at most 1 messages in 60s", "1 garbled messages in succession");
    for (text, breaks) in [(at_most_one, "35=D|34=4|11=b|"), (garbled, "")] {
        let mut side = asked_again_with(200, |s| {
            (s.throttle.max_inbound_rate, s.throttle.inbound_throttle) =
                (Rate::new(1, Duration::from_secs(60)), InboundThrottle::Disconnect);
            s.limits.max_garbled_messages = NonZeroU32::new(1);
        });
        side.log_out(0, "bye").unwrap();
        side.tell(0, "35=D|34=3|11=a|");
        if breaks.is_empty() {
            side.hear(0, b"8=FIX.4.4\x019=5\x0135=0\x0110=000\x01");
        } else {
            side.tell(0, breaks);
        }
        let sent = side.take(0);
        let logouts: Vec<_> = sent.iter().filter(|message| message.contains("|35=5|")).collect();
        assert!(logouts.len() == 1 && logouts[0].contains(text), "{sent:?}");
        assert!(side.next(0).close);
        let end = side.disconnect(0);
        assert!(
            matches!(
                end,
                Some(SessionEnd::PeerMisbehaved(
                    Misbehavior::MessageRate { .. } | Misbehavior::Garbled { .. }
                ))
            ),
            "{end:?}"
        );
    }
}

// R-LOGOUT-12
#[test]
fn whatever_ends_the_connection_after_our_logout_sends_no_other_one() {
    for fields in ["35=A|34=2|98=0|108=30|", "35=0|", "35=0|34=2x|"] {
        let mut side = logged_on(|_| {});
        side.log_out(0, "bye").unwrap();
        assert_eq!(kinds(&side.take(0)), "5");
        assert_eq!(kinds(&side.say(0, fields)), "", "{fields}");
        let end = side.disconnect(0);
        assert!(matches!(end, Some(SessionEnd::PeerMisbehaved(_))), "{fields}: {end:?}");
    }
    // A gap that is never filled.
    let mut side = logged_on(|s| {
        (s.resend.max_resend_requests, s.timing.logout_timeout) =
            (NonZeroU32::new(2).unwrap(), Duration::from_secs(200))
    });
    assert_eq!(kinds(&side.say(0, "35=0|34=9|")), "2");
    side.log_out(0, "bye").unwrap();
    assert_eq!(kinds(&side.take(0)), "5");
    let mut sent = String::new();
    for n in 10..40 {
        side.pass(Duration::from_secs(4));
        sent += &kinds(&side.say(0, &format!("35=0|34={n}|")));
        if side.next(0).close {
            break;
        }
    }
    let end = side.disconnect(0);
    assert_eq!(end, Some(SessionEnd::PeerMisbehaved(Misbehavior::GapNeverFilled)), "{sent}");
    assert_eq!(sent, "2");
}

// R-LOGOUT-13
#[test]
fn what_is_too_large_after_a_message_that_was_left_requests_nothing() {
    let mut side = logged_on(|s| s.timing.logout_timeout = Duration::from_secs(10));
    side.app.mood = Mood::NotNow;
    side.log_out(0, "bye").unwrap();
    side.take(0);
    let late = side.wire(0, "35=D|34=2|11=late|");
    side.hear(0, &late);
    side.pass(Duration::from_secs(5));
    assert_eq!(side.wake(0, &late), late.len());
    let large = "x".repeat(70_000);
    assert_eq!(kinds(&side.say(0, &format!("35=D|34=3|11=b|58={large}|"))), "");
    assert_eq!(kinds(&side.say(0, "35=5|34=4|")), "");
    assert_eq!(side.disconnect(0), Some(SessionEnd::LoggedOutByUs));
}

// R-LOGOUT-13
#[test]
fn the_answer_to_our_logout_is_read_behind_an_order_that_the_application_puts_off() {
    let mut side = logged_on(|s| s.timing.logout_timeout = Duration::from_secs(10));
    side.app.mood = Mood::NotNow;
    side.log_out(0, "bye").unwrap();
    let bytes = [side.wire(0, "35=D|34=2|11=late|"), side.wire(0, "35=5|34=3|")].concat();
    assert_eq!(side.hear(0, &bytes), 0);
    for _ in 0..49 {
        side.pass(Duration::from_millis(100));
        assert_eq!(side.wake(0, &bytes), 0);
    }
    side.pass(Duration::from_millis(100));
    assert_eq!(side.wake(0, &bytes), bytes.len());
    assert_eq!(side.disconnect(0), Some(SessionEnd::LoggedOutByUs));
    assert!(side.app.notes.iter().any(|note| note.contains("message 2 and those after it are left")));
    // The next connection requests the order.
    side.app.mood = Mood::Done;
    assert_eq!(kinds(&side.log_on(0, 4, "")), "A2");
    let out = side.say(0, &format!("35=D|34=2|43=Y|122={}|11=late|", side.time()));
    assert_eq!((kinds(&out).as_str(), &side.app.got[..]), ("8", &["late".to_owned()][..]));
}

// R-LOGOUT-13
#[test]
fn a_large_order_that_was_left_in_the_reorder_buffer_holds_up_nothing() {
    let mut side = logged_on(|s| s.limits.max_message_size = 128 * 1024);
    let large = "x".repeat(70_000);
    side.say(0, &format!("35=D|34=3|11=late|58={large}|"));
    side.app.mood = Mood::NotNow;
    side.say(0, "35=4|34=2|43=Y|123=Y|36=3|");
    side.log_out(0, "bye").unwrap();
    let answer = side.wire(0, "35=5|34=4|");
    side.pass(Duration::from_secs(1));
    let mut used = side.wake(0, &answer);
    for _ in 0..3 {
        used += side.receive(0, &answer[used..]);
    }
    assert_eq!(used, answer.len());
    assert_eq!(side.disconnect(0), Some(SessionEnd::LoggedOutByUs));
    assert_eq!(side.numbers(0).unwrap().0, SeqNum(3));
}

// R-LOGOUT-10, R-LOGOUT-13
#[test]
fn a_logout_that_waited_for_an_order_that_was_left_answers_ours() {
    for resets in [false, true] {
        let mut side = logged_on(|s| s.reset.reset_on_logout = resets);
        assert_eq!(kinds(&side.say(0, "35=5|34=3|")), "2");
        side.log_out(0, "bye").unwrap();
        side.take(0);
        side.app.mood = Mood::NotNow;
        let late = side.wire(0, &format!("35=D|34=2|43=Y|122={}|11=late|", side.time()));
        side.hear(0, &late);
        for _ in 0..8 {
            side.pass(Duration::from_millis(250));
            side.wake(0, &late);
        }
        assert_eq!(side.disconnect(0), Some(SessionEnd::LoggedOutByUs));
        let next_in = side.numbers(0).unwrap().0;
        assert_eq!(next_in, if resets { SeqNum(1) } else { SeqNum(2) });
    }
}

// R-LOGOUT-13
#[test]
fn a_slow_replay_after_our_logout_keeps_its_answer_from_nobody() {
    let mut side = logged_on(|s| s.resend.max_replay_rate = NonZeroU32::new(1));
    for n in 0..10 {
        side.send(0, &format!("o{n}"), 1).unwrap();
    }
    side.log_out(0, "bye").unwrap();
    side.take(0);
    side.app.mood = Mood::NotNow;
    let bytes =
        [side.wire(0, "35=2|34=2|7=2|16=0|"), side.wire(0, "35=D|34=3|11=late|"), side.wire(0, "35=5|34=4|")]
            .concat();
    let mut used = side.hear(0, &bytes);
    for _ in 0..11 {
        side.pass(Duration::from_millis(100));
        side.write(0, usize::MAX);
        used += side.wake(0, &bytes[used..]);
    }
    assert_eq!(side.disconnect(0), Some(SessionEnd::LoggedOutByUs));
}

// R-LOGOUT-13
#[test]
fn what_is_left_is_told_as_lost_whatever_resets_the_numbers_before_the_next_connection() {
    for change in [
        (|s| s.reset.reset_on_logon = true) as fn(&mut SessionSettings),
        |s| s.reset.reset_on_logout = true,
        |s| s.reset.reset_on_disconnect = true,
    ] {
        let mut side = logged_on(change);
        side.app.mood = Mood::NotNow;
        side.log_out(0, "bye").unwrap();
        let order = side.wire(0, "35=D|34=2|11=late|");
        assert_eq!(side.hear(0, &order), 0);
        side.pass(Duration::from_millis(999));
        assert_eq!(side.wake(0, &order), 0);
        // The deadline is half of LogoutTimeout, not when the order is offered again.
        assert_eq!(side.next(0).deadline, Some(side.now.mono + Duration::from_millis(1)));
        side.pass(Duration::from_millis(1));
        assert_eq!(side.wake(0, &order), order.len());
        assert!(side.app.notes.iter().any(|note| note.contains("are lost")), "{:?}", side.app.notes);
    }
}
