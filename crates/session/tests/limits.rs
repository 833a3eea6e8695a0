//! What a counterparty may cost a session, and what happens when it costs more.

use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;
use std::time::Duration;

use fixbolt_codec::SeqNum;
use fixbolt_conformance::testing::{Mood, Side, kinds, settings};
use fixbolt_dictionary::{Validator, fix44};
use fixbolt_session::{
    AcceptedHeartBtInt, Compatibility, Misbehavior, Read, Role, SessionDictionary, SessionEnd,
    SessionSettings,
};

fn side(role: Role, change: impl FnOnce(&mut SessionSettings)) -> Side {
    let settings = settings("PEER", role).with(change);
    Side::new(vec![settings])
}

fn logged_on(change: impl FnOnce(&mut SessionSettings)) -> Side {
    let mut side = side(Role::Acceptor, change);
    assert_eq!(kinds(&side.log_on(0, 1, "")), "A");
    side
}

fn ended(side: &mut Side) -> Option<SessionEnd> {
    assert!(side.next(0).close, "the connection goes on");
    side.disconnect(0)
}

/// Passes the bytes in one call. Returns the number of messages that the application got.
fn processed(side: &mut Side, bytes: &mut Vec<u8>) -> usize {
    let before = side.app.got.len();
    let used = side.receive(0, bytes);
    bytes.drain(..used);
    side.app.got.len() - before
}

#[test]
fn one_call_processes_at_most_64_messages_and_the_rest_in_further_calls() {
    let mut side = logged_on(|_| {});
    let mut bytes: Vec<u8> =
        (2..202).flat_map(|n| side.wire(0, &format!("35=D|34={n}|11=ord{n}|"))).collect();
    let mut calls = Vec::new();
    loop {
        calls.push(processed(&mut side, &mut bytes));
        if side.next(0).read != Read::Again {
            break;
        }
    }
    assert_eq!(calls, [64, 64, 64, 8]);
    assert!(bytes.is_empty());
    assert_eq!(side.numbers(0).unwrap().0, SeqNum(202));
}

#[test]
fn one_call_processes_no_further_message_after_64_kib() {
    let mut side = logged_on(|_| {});
    let text = "x".repeat(30_000);
    let mut bytes: Vec<u8> =
        (2..12).flat_map(|n| side.wire(0, &format!("35=D|34={n}|11=ord{n}|58={text}|"))).collect();
    assert_eq!(processed(&mut side, &mut bytes), 3);
    assert!(side.next(0).read == Read::Again);
}

#[test]
fn garbled_pieces_count_as_messages_do() {
    let mut side = logged_on(|s| s.limits.max_garbled_messages = None);
    let piece = b"8=FIX.4.4\x019=60000\x01";
    let bytes: Vec<u8> = piece.iter().copied().cycle().take(64 * 1024 * 2).collect();
    let used = side.receive(0, &bytes);
    assert_eq!(used, 64 * piece.len());
    assert!(side.next(0).read == Read::Again);
}

#[test]
fn messages_that_waited_for_a_gap_are_processed_64_in_a_call() {
    let mut side = logged_on(|_| {});
    for n in 3..203 {
        side.say(0, &format!("35=D|34={n}|11=ord{n}|"));
    }
    assert_eq!(side.app.got.len(), 0);
    let mut first = side.wire(0, "35=D|34=2|11=ord2|");
    let mut calls = vec![processed(&mut side, &mut first)];
    while side.next(0).read == Read::Again {
        calls.push(processed(&mut side, &mut first));
    }
    assert_eq!(calls, [64, 64, 64, 9]);
}

#[test]
fn of_messages_that_waited_for_a_gap_no_further_one_is_processed_after_64_kib() {
    let mut side = logged_on(|_| {});
    let text = "x".repeat(30_000);
    for n in 3..8 {
        side.say(0, &format!("35=D|34={n}|11=ord{n}|58={text}|"));
    }
    let mut first = side.wire(0, "35=D|34=2|11=ord2|");
    let mut calls = vec![processed(&mut side, &mut first)];
    while side.next(0).read == Read::Again {
        calls.push(processed(&mut side, &mut first));
    }
    assert_eq!(calls, [4, 2]);
}

#[test]
fn a_resend_request_ends_the_call() {
    let mut side = logged_on(|_| {});
    for n in 2..102 {
        side.say(0, &format!("35=D|34={n}|11=ord{n}|"));
    }
    let request = |side: &Side, n| side.wire(0, &format!("35=2|34={n}|7=1|16=0|"));
    let bytes: Vec<u8> = (102..112).flat_map(|n| request(&side, n)).collect();
    let one = request(&side, 102).len();
    assert_eq!(side.receive(0, &bytes), one);
    assert!(side.next(0).read == Read::Again);
}

// R-LIMIT-1
#[test]
fn a_hundred_garbled_messages_in_succession_end_the_connection_with_that_reason() {
    let mut side = logged_on(|_| {});
    let garbled = b"8=FIX.4.4\x019=5\x0135=0\x0110=000\x01";
    for _ in 0..99 {
        side.hear(0, garbled);
    }
    assert_eq!(kinds(&side.say(0, "35=1|34=2|112=t|")), "0", "a message begins the count again");
    for _ in 0..100 {
        assert!(!side.next(0).close);
        side.hear(0, garbled);
    }
    let out = side.take(0);
    assert!(out[0].contains("|35=5|") && out[0].contains("sent 100 garbled messages"), "{out:?}");
    assert_eq!(ended(&mut side), Some(SessionEnd::PeerMisbehaved(Misbehavior::Garbled { limit: 100 })));
}

// R-LOGOUT-12
#[test]
fn a_flood_after_our_logout_ends_the_connection_without_a_second_logout() {
    let mut side = logged_on(|_| {});
    side.log_out(0, "").unwrap();
    assert_eq!(kinds(&side.take(0)), "5");
    for _ in 0..100 {
        assert!(!side.next(0).close);
        side.hear(0, b"8=FIX.4.4\x019=5\x0135=0\x0110=000\x01");
    }
    assert_eq!(kinds(&side.take(0)), "");
    assert_eq!(ended(&mut side), Some(SessionEnd::PeerMisbehaved(Misbehavior::Garbled { limit: 100 })));
}

#[test]
fn a_counterparty_that_only_sends_noise_is_disconnected() {
    let mut side = logged_on(|_| {});
    let noise = [b'x'; 4096];
    let heard = (0..1000).take_while(|_| {
        side.hear(0, &noise);
        !side.next(0).close
    });
    assert_eq!(heard.count(), 99);
}

fn test_requests(side: &mut Side, from: u64, count: u64) {
    let bytes: Vec<u8> =
        (from..from + count).flat_map(|n| side.wire(0, &format!("35=1|34={n}|112=t|"))).collect();
    side.hear(0, &bytes);
    side.take(0);
}

// R-LIMIT-2
#[test]
fn more_than_a_thousand_session_layer_messages_a_second_for_five_seconds_end_the_connection() {
    let mut side = logged_on(|_| {});
    let mut next = 2;
    for second in 0..5 {
        test_requests(&mut side, next, 1001);
        next += 1001;
        assert!(!side.next(0).close, "after {second} s");
        side.pass(Duration::from_secs(1));
    }
    test_requests(&mut side, next, 1);
    let why = Misbehavior::SessionMessageRate { limit: 1000 };
    assert_eq!(ended(&mut side), Some(SessionEnd::PeerMisbehaved(why)));
}

#[test]
fn a_thousand_session_layer_messages_a_second_are_allowed_and_so_are_any_number_of_application_messages() {
    let mut side = logged_on(|_| {});
    let mut next = 2;
    for _ in 0..20 {
        test_requests(&mut side, next, 1000);
        next += 1000;
        for _ in 0..3000 {
            side.say(0, &format!("35=D|34={next}|11=o|"));
            next += 1;
        }
        side.pass(Duration::from_secs(1));
    }
    assert!(!side.next(0).close);
}

#[test]
fn gap_fills_that_we_requested_do_not_count_as_a_flood() {
    let mut side = logged_on(|s| s.limits.max_session_message_rate = NonZeroU32::new(10));
    assert_eq!(kinds(&side.say(0, "35=D|34=1000|11=late|")), "2");
    for n in 2..900u64 {
        let fill = format!("35=4|34={n}|43=Y|122={}|123=Y|36={}|", side.time(), n + 1);
        side.say(0, &fill);
        if n % 100 == 0 {
            side.pass(Duration::from_secs(1));
        }
    }
    assert!(!side.next(0).close);
}

#[test]
fn what_we_requested_does_not_count_as_a_flood_after_a_message_was_left_for_the_next_connection() {
    let mut side = logged_on(|s| {
        (s.limits.max_session_message_rate, s.timing.logout_timeout) =
            (NonZeroU32::new(10), Duration::from_secs(60));
    });
    assert_eq!(kinds(&side.say(0, "35=D|34=1000|11=late|")), "2");
    side.log_out(0, "bye").unwrap();
    side.take(0);
    side.app.mood = Mood::NotNow;
    let order = side.wire(0, &format!("35=D|34=2|43=Y|122={}|11=x|", side.time()));
    side.hear(0, &order);
    side.pass(Duration::from_secs(30));
    assert_eq!(side.wake(0, &order), order.len(), "it is left");
    for n in 3..900u64 {
        side.say(0, &format!("35=4|34={n}|43=Y|122={}|123=Y|36={}|", side.time(), n + 1));
        if n % 100 == 0 {
            side.pass(Duration::from_secs(1));
        }
    }
    assert!(!side.next(0).close);
}

// R-LIMIT-3
#[test]
fn journal_growth_because_of_session_layer_messages_is_bounded_over_connections() {
    let mut side = logged_on(|s| s.limits.max_session_journal_growth = NonZeroU64::new(1 << 20));
    let id = "x".repeat(60_000);
    let mut next = 2;
    while !side.next(0).close {
        side.say(0, &format!("35=1|34={next}|112={id}|"));
        next += 1;
    }
    assert!((8..12).contains(&next), "{next}: each writes about 120 KB");
    let why = Misbehavior::JournalGrowth { limit: 1 << 20 };
    assert_eq!(ended(&mut side), Some(SessionEnd::PeerMisbehaved(why)));
    // The allowance is that of the session: to connect again does not renew it, but time does.
    side.connect(0);
    assert_eq!(kinds(&side.say(0, &format!("35=A|34={next}|98=0|108=30|"))), "");
    assert_eq!(ended(&mut side), Some(SessionEnd::PeerMisbehaved(why)));
    side.pass(Duration::from_secs(3));
    assert_eq!(kinds(&side.log_on(0, next, "")), "A");
    assert_eq!(kinds(&side.say(0, &format!("35=1|34={}|112={id}|", next + 1))), "05");
    side.disconnect(0);
    side.pass(Duration::from_secs(60));
    assert_eq!(kinds(&side.log_on(0, next + 2, "")), "A");
    assert_eq!(kinds(&side.say(0, &format!("35=1|34={}|112={id}|", next + 3))), "0");
}

#[test]
fn resets_of_one_connection_after_another_are_bounded_too() {
    let resets = |flag: &str, change: fn(&mut SessionSettings)| {
        let mut side = side(Role::Acceptor, |s| {
            s.limits.max_session_journal_growth = NonZeroU64::new(1 << 20);
            change(s);
        });
        let logged_on = (0..1000).filter(|_| {
            side.connect(0);
            let answered = kinds(&side.say(0, &format!("35=A|34=1|98=0|108=30|{flag}")));
            side.say(0, "35=5|34=2|");
            side.disconnect(0);
            answered.starts_with('A')
        });
        logged_on.count()
    };
    let bounded = 10..20;
    assert!(bounded.contains(&resets("141=Y|", |_| {})));
    assert!(bounded.contains(&resets("", |s| s.reset.reset_on_logon = true)));
    assert!(bounded.contains(&resets("", |s| s.reset.reset_on_logout = true)));
    assert!(bounded.contains(&resets("", |s| s.reset.reset_on_disconnect = true)));
}

#[test]
fn session_layer_messages_behind_a_gap_count_unless_they_fill_it() {
    for (begin, message) in [(500, "35=1|112=t|"), (1, "35=1|112=t|"), (1, "35=4|123=Y|36=2|"), (2, "35=0|")]
    {
        let mut side = logged_on(|s| s.limits.max_session_message_rate = NonZeroU32::new(10));
        assert_eq!(kinds(&side.say(0, "35=D|34=1000|11=late|")), "2");
        let floods = (0..1000).any(|n| {
            let number = if begin == 2 { 2 + n } else { begin };
            let rest = message.split_once('|').unwrap();
            side.say(0, &format!("{}|34={number}|43=Y|122={}|{}", rest.0, side.time(), rest.1));
            side.pass(Duration::from_millis(10));
            side.next(0).close
        });
        assert!(floods, "{message} with MsgSeqNum {begin}");
    }
}

#[test]
fn messages_that_the_session_rejects_count_and_those_for_the_application_do_not() {
    let mut side = logged_on(|s| {
        s.limits.max_session_journal_growth = NonZeroU64::new(1 << 20);
        s.dictionary = SessionDictionary::Own(Arc::new(Validator::new(fix44())));
    });
    let text = "x".repeat(60_000);
    let order = format!("11=ord|55=IBM|54=1|60={}|38=1|40=1|58={text}|", side.time());
    for next in 2..102 {
        side.say(0, &format!("35=D|34={next}|{order}"));
    }
    assert!(!side.next(0).close && side.app.got.len() == 100);
    let mut next = 102;
    while !side.next(0).close {
        side.say(0, &format!("35=D|34={next}|58={text}|"));
        next += 1;
    }
    assert!((110..125).contains(&next), "{next}: each writes about 60 KB");
    let why = Misbehavior::JournalGrowth { limit: 1 << 20 };
    assert_eq!(ended(&mut side), Some(SessionEnd::PeerMisbehaved(why)));
}

// R-LOGON-12
#[test]
fn heart_bt_int_must_be_accepted() {
    for (accepted, good, bad) in [
        (AcceptedHeartBtInt::default(), [0, 3600], [3601, 86_400]),
        (AcceptedHeartBtInt::default(), [1, 4], [3601, 86_400]),
        (AcceptedHeartBtInt { min: 5, max: 3600, zero: false }, [5, 3600], [0, 4]),
        (AcceptedHeartBtInt::only(30), [30, 30], [29, 0]),
        (AcceptedHeartBtInt { min: 5, max: 10, zero: true }, [0, 7], [11, 1]),
    ] {
        for (seconds, is_good) in good.map(|n| (n, true)).into_iter().chain(bad.map(|n| (n, false))) {
            let mut side = side(Role::Acceptor, |s| s.timing.accepted_heart_bt_int = accepted);
            side.connect(0);
            let out = side.say(0, &format!("35=A|34=1|98=0|108={seconds}|"));
            assert_eq!(kinds(&out), if is_good { "A" } else { "5" }, "{accepted} {seconds}");
            if !is_good {
                assert!(out[0].contains(&format!("|58=HeartBtInt (108) must be {accepted}|")), "{out:?}");
                let why = Misbehavior::HeartBtInt { received: seconds, accepted };
                assert_eq!(ended(&mut side), Some(SessionEnd::PeerMisbehaved(why)));
            }
        }
    }
}

// R-LOGON-12
#[test]
fn no_heartbeats_and_up_to_an_hour_are_accepted_by_default_in_every_compatibility() {
    for compatibility in [Compatibility::Standard, Compatibility::QuickFix, Compatibility::QuickFixJ] {
        for seconds in [0, 1, 4, 30, 3600] {
            let mut side = side(Role::Acceptor, |s| s.compatibility = compatibility);
            side.connect(0);
            let out = side.say(0, &format!("35=A|34=1|98=0|108={seconds}|"));
            assert_eq!(kinds(&out), "A", "{compatibility:?} {seconds}");
            assert!(out[0].contains(&format!("|108={seconds}|")), "{out:?}");
        }
    }
}

// R-LOGON-12
#[test]
fn an_initiator_accepts_its_own_heart_bt_int_in_the_answer() {
    for (answer, out) in [("7200", ""), ("60", ""), ("3601", "5")] {
        let mut side = side(Role::Initiator, |s| s.timing.heart_bt_int = 7200);
        side.connect(0);
        assert_eq!(kinds(&side.take(0)), "A");
        assert_eq!(kinds(&side.say(0, &format!("35=A|34=1|98=0|108={answer}|"))), out, "{answer}");
    }
}

#[test]
fn a_counterparty_that_does_not_read_is_disconnected_even_without_heartbeats() {
    let mut side = side(Role::Acceptor, |s| s.timing.accepted_heart_bt_int = AcceptedHeartBtInt::ANY);
    side.connect(0);
    side.say(0, "35=A|34=1|98=0|108=0|");
    assert_eq!(side.next(0).deadline, None);
    let order = side.wire(0, "35=D|34=2|11=ord|");
    side.hear(0, &order);
    side.write(0, 0);
    side.pass(Duration::from_secs(29));
    side.wake(0, &[]);
    // A byte now and then is not enough.
    side.write(0, 1);
    assert!(!side.next(0).close);
    side.pass(Duration::from_secs(1));
    assert!(side.next(0).deadline.is_some_and(|at| at <= side.now.mono));
    side.wake(0, &[]);
    assert_eq!(ended(&mut side), Some(SessionEnd::PeerDidNotRead));
}

#[test]
fn a_counterparty_that_reads_slowly_but_all_is_not_disconnected() {
    let mut side = logged_on(|s| s.timing.accepted_heart_bt_int = AcceptedHeartBtInt::ANY);
    for next in 2..102 {
        let order = side.wire(0, &format!("35=D|34={next}|11=ord|"));
        side.hear(0, &order);
        let queued = side.writable(0).len();
        side.write(0, queued - 1);
        side.pass(Duration::from_secs(20));
        side.wake(0, &[]);
    }
    assert!(!side.next(0).close);
}
