//! What a counterparty may do, out of malice or bad luck, and must not cause.

use std::sync::Arc;
use std::time::Duration;

use fixbolt_codec::SeqNum;
use fixbolt_conformance::testing::{Mood, Side, kinds, settings};
use fixbolt_dictionary::{Validator, fix44};
use fixbolt_session::{
    Accepted, AcceptedHeartBtInt, Misbehavior, Now, OpenError, Phase, Read, Role, SendError,
    SessionDictionary, SessionEnd, SessionSettings, Utc, WhileLoggedOff,
};

fn acceptor(change: impl FnOnce(&mut SessionSettings)) -> Side {
    let mut settings = settings("PEER", Role::Acceptor);
    change(&mut settings);
    Side::new(vec![settings])
}

fn logged_on(change: impl FnOnce(&mut SessionSettings)) -> Side {
    let mut side = acceptor(change);
    assert_eq!(kinds(&side.log_on(0, 1, "")), "A");
    side
}

fn order(side: &mut Side, seq: u64, again: bool) -> String {
    let dup = if again { format!("43=Y|122={}|", side.time()) } else { String::new() };
    kinds(&side.say(0, &format!("35=D|34={seq}|{dup}11=ord{seq}|")))
}

#[test]
fn a_message_garbled_in_a_replay_is_requested_again_once_and_not_for_each_message_after_it() {
    let mut side = logged_on(|_| {});
    assert_eq!(order(&mut side, 9, false), "2");
    assert_eq!(order(&mut side, 2, true), "8");
    // 3 is garbled; 4 to 8 were in flight when we requested it again.
    let asked = side.say(0, &format!("35=D|34=4|43=Y|122={}|11=ord4|", side.time()));
    assert!(asked[0].contains("|7=3|"), "{asked:?}");
    for seq in 5..=8 {
        assert_eq!(order(&mut side, seq, true), "");
    }
    assert_eq!(order(&mut side, 3, true), "8888888");
    let all: Vec<String> = (2..=9).map(|n| format!("ord{n}")).collect();
    assert_eq!(side.app.got, all);
}

// R-RESET-11
#[test]
fn a_counterparty_that_never_logs_on_resets_nothing_at_the_end_of_its_connection() {
    let mut side = logged_on(|settings| settings.reset.reset_on_disconnect = true);
    side.disconnect(0);
    assert_eq!(side.numbers(0), Some((SeqNum(1), SeqNum(1))));
    let mut side = acceptor(|settings| settings.reset.reset_on_disconnect = true);
    let numbers = (Some(SeqNum(7)), Some(SeqNum(9)));
    side.set_numbers(0, numbers, "test").unwrap();
    for refused in ["", "35=D|34=1|11=early|", "35=A|34=7|98=1|108=30|", "35=A|34=1|98=0|108=30|"] {
        side.connect(0);
        if !refused.is_empty() {
            side.say(0, refused);
        }
        side.disconnect(0);
        let (next_in, next_out) = side.numbers(0).unwrap();
        assert!(next_in == SeqNum(7) && next_out >= SeqNum(9), "{refused}: {next_in}, {next_out}");
    }
}

// R-GAP-7
#[test]
fn a_gap_that_no_replay_fills_ends_the_session() {
    let mut side = logged_on(|_| {});
    order(&mut side, 9, false);
    let mut out = String::new();
    for _ in 0..4 {
        out += &order(&mut side, 4, true);
    }
    assert_eq!(out, "225");
    assert_eq!(side.disconnect(0), Some(SessionEnd::PeerMisbehaved(Misbehavior::GapNeverFilled)));
}

// R-HEARTBEAT-2
#[test]
fn a_test_request_whose_answer_does_not_fit_is_rejected_and_the_session_continues() {
    let mut side = acceptor(|_| {});
    side.log_on(0, 1, "383=512|");
    let out = side.say(0, &format!("35=1|34=2|112={}|", "x".repeat(600)));
    assert_eq!(kinds(&out), "3");
    assert!(out[0].contains("|371=112|") && out[0].contains("|373=5|"), "{out:?}");
    assert_eq!(kinds(&side.say(0, &format!("35=1|34=3|112={}|", "x".repeat(100)))), "0");
    side.disconnect(0);
    assert_eq!(kinds(&side.log_on(0, 4, "383=100|")), "5", "nothing fits into that");
    assert_eq!(side.numbers(0).unwrap().0, SeqNum(4), "a refused Logon uses no number");
}

// R-LOGON-17
#[test]
fn every_answer_of_the_session_layer_fits_into_the_smallest_message_size() {
    let mut side = acceptor(|_| {});
    side.log_on(0, 1, "383=512|");
    let name = "n".repeat(250);
    let route = format!("115={name}|116={name}|144={name}|128={name}|129={name}|145={name}|");
    for (seq, fields) in [(2, format!("{route}1000=|")), (3, format!("{route}112=|"))] {
        let kind = if seq == 2 { "D" } else { "1" };
        let out = side.say(0, &format!("35={kind}|34={seq}|{fields}"));
        assert_eq!(kinds(&out), "3");
        assert!(out[0].len() <= 512 && out[0].contains("|371="), "{out:?}");
    }
    side.app.mood = Mood::Unsupported;
    let out = side.say(0, &format!("35=D|34=4|{route}11=a|"));
    assert_eq!(kinds(&out), "j");
    assert!(out[0].len() <= 512 && out[0].contains("|380="), "{out:?}");
}

// R-REJECT-1
#[test]
fn what_a_reject_quotes_is_bounded() {
    let mut side = logged_on(|settings| settings.limits.outbound_buffer_size = 16 * 1024);
    let long = "9".repeat(15_000);
    for (seq, field) in [(2, format!("{long}=1|")), (3, format!("115={long}|1000=|"))] {
        let out = side.say(0, &format!("35=D|34={seq}|{field}"));
        assert_eq!(kinds(&out), "3");
        assert!(out[0].len() < 400);
    }
    let out = side.say(0, &format!("35={long}|34=4|1000=|"));
    assert_eq!(kinds(&out), "3");
    assert!(out[0].len() < 400);
}

// R-RESEND-5
#[test]
fn a_message_that_is_too_large_when_resent_is_gap_filled() {
    let mut side = acceptor(|_| {});
    side.log_on(0, 1, "383=512|");
    let size = (300..500).rev().find(|size| side.send(0, "big", *size).is_ok()).unwrap();
    assert!(size < 499, "the counterparty's limit is respected");
    side.send(0, "small", 1).unwrap();
    assert_eq!(kinds(&side.take(0)), "DD");
    let again = side.say(0, "35=2|34=2|7=1|16=0|");
    assert_eq!(kinds(&again), "4D");
    assert!(again[0].contains("|36=3|"));
}

#[test]
fn the_first_of_two_poss_dup_flags_says_whether_a_message_is_a_duplicate() {
    for (flags, answer) in [("43=Y|43=N", ""), ("43=N|43=Y", "5")] {
        let mut side = logged_on(|_| {});
        let time = side.time();
        assert_eq!(kinds(&side.say(0, &format!("35=0|34=1|{flags}|122={time}|"))), answer, "{flags}");
    }
}

// R-LOGON-17
#[test]
fn a_max_message_size_of_zero_limits_nothing() {
    let mut side = acceptor(|_| {});
    side.log_on(0, 1, "383=0|");
    side.send(0, "large", 3000).unwrap();
    assert_eq!(kinds(&side.take(0)), "D");
}

#[test]
fn our_own_limit_holds_for_what_we_send() {
    let mut side = logged_on(|settings| settings.limits.max_message_size = 8192);
    assert_eq!(side.send(0, "a", 8192), Err(SendError::TooLarge { limit: 8192 }));
    assert_eq!(side.send(0, "a", 8000), Ok(Accepted::Numbered(SeqNum(2))));
}

// R-LIMIT-4
#[test]
fn the_connection_of_a_counterparty_that_reads_nothing_ends_without_a_busy_loop() {
    let mut side = logged_on(|settings| settings.limits.outbound_buffer_size = 16 * 1024);
    for seq in 2.. {
        let bytes = side.wire(0, &format!("35=D|34={seq}|11={}|", "x".repeat(1000)));
        if side.hear(0, &bytes) == 0 {
            break;
        }
    }
    assert!(side.next(0).read == Read::Nothing);
    while side.send(0, "fill", 1).is_ok() {}
    let mut ticks = 0;
    while !side.next(0).close {
        let due = side.next(0).deadline.unwrap();
        assert!(due > side.now.mono, "the same deadline again: a busy loop");
        side.pass(due - side.now.mono);
        side.wake(0, &[]);
        ticks += 1;
        assert!(ticks < 10);
    }
    assert_eq!(side.disconnect(0), Some(SessionEnd::HeartbeatTimedOut));
}

// R-HEARTBEAT-10
#[test]
fn an_application_that_is_not_ready_for_minutes_loses_no_session_and_no_message() {
    let mut side = logged_on(|_| {});
    side.app.mood = Mood::NotNow;
    let mut bytes = side.wire(0, "35=D|34=2|11=late|");
    bytes.extend(side.wire(0, "35=D|34=3|11=behind it|"));
    assert_eq!(side.hear(0, &bytes), 0);
    let mut sent = String::new();
    for _ in 0..300 {
        side.pass(Duration::from_secs(1));
        assert_eq!(side.wake(0, &bytes), 0);
        sent += &kinds(&side.take(0));
    }
    // One TestRequest is sent, because nothing new arrives. Whether it is answered cannot be seen
    // meanwhile.
    assert_eq!((sent.matches('1').count(), sent.matches('0').count()), (1, sent.len() - 1), "{sent}");
    side.app.mood = Mood::Done;
    assert_eq!(side.wake(0, &bytes), bytes.len());
    assert_eq!(side.app.got, ["late", "behind it"]);
    // The messages in the socket arrived while the session did not read.
    let old = Now { utc: Utc(side.now.utc.0 - 200_000_000_000), ..side.now };
    let now = std::mem::replace(&mut side.now, old);
    let bytes = side.wire(0, "35=D|34=4|11=in the socket|");
    side.now = now;
    assert_eq!(side.hear(0, &bytes), bytes.len());
    assert_eq!(side.app.got.len(), 3);
    assert_eq!(kinds(&side.take(0)), "888");
    // The first message that was sent just now ends the tolerance, also for SendingTime.
    assert_eq!(kinds(&side.say(0, "35=0|34=5|")), "");
    assert_eq!(side.next(0).deadline, Some(side.now.mono + Duration::from_secs(30)));
    let late = side.wire(0, "35=D|34=6|11=too old|");
    side.pass(Duration::from_secs(121));
    side.hear(0, &late);
    assert_eq!(kinds(&side.take(0)), "35");
}

#[test]
fn silence_counts_again_after_a_wait_even_after_bytes_that_never_become_a_message() {
    let mut side = logged_on(|_| {});
    side.app.mood = Mood::NotNow;
    let mut bytes = side.wire(0, "35=D|34=2|11=late|");
    let order = bytes.len();
    bytes.extend_from_slice(b"44=57.00\x0110=034\x01");
    assert_eq!(side.hear(0, &bytes), 0);
    side.pass(Duration::from_secs(100));
    side.app.mood = Mood::Done;
    let mut used = side.wake(0, &bytes);
    assert!(used >= order);
    for _ in 0..20 {
        let Some(due) = side.next(0).deadline else { break };
        side.pass(due - side.now.mono);
        used += side.wake(0, &bytes[used..]);
        side.take(0);
    }
    assert_eq!(side.disconnect(0), Some(SessionEnd::HeartbeatTimedOut));
}

#[test]
fn a_message_answered_with_not_now_is_offered_four_times_a_second_or_when_the_waker_is_called() {
    let mut side = logged_on(|_| {});
    side.app.mood = Mood::NotNow;
    let bytes = side.wire(0, "35=D|34=2|11=late|");
    side.hear(0, &bytes);
    assert_eq!(side.next(0).deadline, Some(side.now.mono + Duration::from_millis(250)));
    side.app.mood = Mood::Done;
    assert_eq!(side.wake(0, &bytes), bytes.len(), "offered at once");
    assert_eq!(side.app.got, ["late"]);
}

// R-FRAME-8
#[test]
fn a_slow_message_is_given_up_only_when_its_bytes_stop_arriving() {
    let mut side = logged_on(|_| {});
    let bytes = side.wire(0, "35=D|34=2|11=slow|");
    for n in 1..=5 {
        side.pass(Duration::from_secs(10));
        assert_eq!(side.wake(0, &bytes[..n * 10 - 1]), 0);
        assert_eq!(side.hear(0, &bytes[..n * 10]), 0);
    }
    assert_eq!(side.hear(0, &bytes), bytes.len());
    assert_eq!(side.app.got, ["slow"]);
    let broken = &side.wire(0, "35=D|34=3|11=never|")[..50];
    assert_eq!(side.hear(0, broken), 0);
    side.pass(Duration::from_secs(19));
    assert_eq!(side.wake(0, broken), broken.len());
}

#[test]
fn the_rest_of_the_bytes_is_as_old_after_the_message_before_it_was_consumed() {
    let mut side = logged_on(|_| {});
    let whole = side.wire(0, "35=D|34=2|11=whole|");
    let broken = side.wire(0, "35=D|34=3|11=never|")[..50].to_vec();
    assert_eq!(side.hear(0, &[whole.as_slice(), broken.as_slice()].concat()), whole.len());
    side.pass(Duration::from_secs(10));
    assert_eq!(side.hear(0, &broken), 0);
    side.pass(Duration::from_secs(9));
    assert_eq!(side.wake(0, &broken), broken.len());
}

// R-GAP-5
#[test]
fn messages_that_waited_for_a_gap_free_their_room() {
    let mut side = logged_on(|settings| settings.limits.reorder_buffer_size = 300);
    for n in 1..200 {
        assert_eq!(order(&mut side, 2 * n + 1, false), "2");
        assert_eq!(order(&mut side, 2 * n, true), "88");
    }
    assert!(side.app.notes.is_empty(), "{:?}", side.app.notes);
}

// R-TIME-3
#[test]
fn messages_that_waited_long_for_a_gap_are_not_late() {
    let mut side = logged_on(|_| {});
    assert_eq!(order(&mut side, 3, false), "2");
    side.pass(Duration::from_secs(300));
    assert_eq!(order(&mut side, 2, true), "88");
}

// R-RESEND-8
#[test]
fn a_second_requested_range_does_not_replace_the_first() {
    let mut side = logged_on(|settings| settings.limits.outbound_buffer_size = 16 * 1024);
    for n in 0..6 {
        side.send(0, &format!("m{n}"), 3000).unwrap();
        side.take(0);
    }
    for fields in ["35=2|34=2|7=2|16=4|", "35=2|34=3|7=6|16=7|"] {
        let bytes = side.wire(0, fields);
        side.hear(0, &bytes);
    }
    let out = side.take(0);
    for seq in [2, 3, 4, 6, 7] {
        assert!(out.iter().any(|m| m.contains(&format!("|34={seq}|"))), "{seq}");
    }
}

#[test]
fn a_logout_that_ends_the_session_does_not_wait_for_a_replay() {
    let mut side = logged_on(|settings| settings.limits.outbound_buffer_size = 16 * 1024);
    for n in 0..6 {
        side.send(0, &format!("m{n}"), 3000).unwrap();
        side.take(0);
    }
    let bytes = side.wire(0, "35=2|34=2|7=2|16=0|");
    side.hear(0, &bytes);
    assert!(side.is_replaying(0));
    let out = side.say(0, "35=D|34=1|11=low|");
    assert!(out.last().unwrap().contains("|35=5|"), "{:?}", kinds(&out));
}

// R-LOGOUT-8
#[test]
fn nothing_new_follows_our_logout_and_answers_come_with_the_next_connection() {
    let mut side = logged_on(|_| {});
    side.log_out(0, "").unwrap();
    assert_eq!(kinds(&side.take(0)), "5");
    assert_eq!(order(&mut side, 2, false), "");
    assert_eq!(side.app.got, ["ord2"]);
    assert_eq!(side.send(0, "x", 1), Err(SendError::NotLoggedOn));
    side.say(0, "35=5|34=3|");
    assert_eq!(side.disconnect(0), Some(SessionEnd::LoggedOutByUs));
    assert_eq!(kinds(&side.log_on(0, 4, "")), "A");
    let again = side.say(0, "35=2|34=5|7=3|16=0|");
    assert_eq!(kinds(&again), "84");
    assert!(again[0].contains("|34=3|43=Y|"));
}

/// A counterparty that does not close would delay the end of our process.
#[test]
fn after_an_answered_logout_our_own_closes_the_connection_at_once() {
    let mut side = logged_on(|_| {});
    assert_eq!(kinds(&side.say(0, "35=5|34=2|")), "5");
    assert!(!side.next(0).close);
    side.log_out(0, "").unwrap();
    assert!(side.next(0).close);
    assert_eq!(kinds(&side.take(0)), "");
    assert_eq!(side.disconnect(0), Some(SessionEnd::LoggedOutByPeer));
}

// R-LOGOUT-6
#[test]
fn after_an_answered_logout_only_resend_requests_are_served() {
    let mut side = logged_on(|_| {});
    side.send(0, "x", 1).unwrap();
    side.take(0);
    assert_eq!(kinds(&side.say(0, "35=5|34=2|")), "5");
    let numbers = side.numbers(0).unwrap();
    assert_eq!(order(&mut side, 3, false), "");
    assert_eq!(kinds(&side.say(0, "35=5|34=3|")), "");
    assert_eq!(side.numbers(0).unwrap(), numbers);
    assert_eq!(kinds(&side.say(0, "35=2|34=3|7=2|16=0|")), "D4");
    side.pass(Duration::from_secs(11));
    side.wake(0, &[]);
    assert_eq!(side.disconnect(0), Some(SessionEnd::PeerDidNotClose));
}

// R-LOGOUT-4
#[test]
fn a_logout_that_arrives_too_early_waits_for_everything_before_it() {
    let mut side = logged_on(|settings| settings.limits.reorder_buffer_size = 250);
    assert_eq!(order(&mut side, 3, false), "2");
    // 4 and the Logout do not fit any more.
    let big = "x".repeat(200);
    assert_eq!(kinds(&side.say(0, &format!("35=D|34=4|11={big}|"))), "");
    assert_eq!(kinds(&side.say(0, &format!("35=5|34=5|58={big}|"))), "");
    assert_eq!(order(&mut side, 2, true), "88", "the Logout is not answered yet");
    assert_eq!(order(&mut side, 4, true), "85");
}

// R-SEQ-6
#[test]
fn the_largest_sequence_numbers_are_refused() {
    let mut side = logged_on(|_| {});
    let max = u64::MAX;
    assert_eq!(kinds(&side.say(0, &format!("35=4|34=2|123=Y|36={max}|"))), "3");
    assert_eq!(kinds(&side.say(0, &format!("35=4|34=3|36={max}|"))), "3");
    assert_eq!(kinds(&side.say(0, &format!("35=2|34=4|7=1|16={max}|"))), "4");
    assert_eq!(kinds(&side.say(0, &format!("35=2|34=5|7={max}|16=0|"))), "3");
    assert_eq!(side.phase(0), Phase::LoggedOn);
    assert_eq!(kinds(&side.say(0, &format!("35=0|34={max}|"))), "5");
}

// R-SEND-3
#[test]
fn a_wall_clock_set_back_does_not_make_resent_messages_invalid() {
    let mut side = logged_on(|_| {});
    side.send(0, "x", 1).unwrap();
    side.take(0);
    side.now.utc = Utc(side.now.utc.0 - 60_000_000_000);
    let again = side.say(0, "35=2|34=2|7=2|16=2|");
    let field = |tag: &str| again[0].split('|').find_map(|f| f.strip_prefix(tag)).unwrap().to_owned();
    assert!(field("122=") <= field("52="), "{again:?}");
}

#[test]
fn what_was_written_before_the_logon_was_answered_follows_it() {
    let mut settings = settings("PEER", Role::Initiator);
    settings.resend.while_logged_off = WhileLoggedOff::Keep;
    let mut side = Side::new(vec![settings]);
    side.connect(0);
    side.send(0, "early", 1).unwrap();
    assert_eq!(kinds(&side.take(0)), "A");
    let out = side.say(0, "35=A|34=1|98=0|108=30|");
    assert_eq!(kinds(&out), "D");
    assert!(out[0].contains("|34=2|") && !out[0].contains("|43=Y|"));
}

#[test]
fn sends_at_full_speed_leave_room_for_answers() {
    let mut side = logged_on(|settings| settings.limits.outbound_buffer_size = 64 * 1024);
    while side.send(0, "x", 1000).is_ok() {}
    let queued = side.writable(0).len();
    assert!((30_000..=33_000).contains(&queued), "{queued}");
    let bytes = side.wire(0, "35=D|34=2|11=a|");
    assert_eq!(side.hear(0, &bytes), bytes.len());
    assert_eq!(side.app.got, ["a"]);
}

// R-REJECT-4
#[test]
fn a_reject_is_never_rejected() {
    let validator = SessionDictionary::Own(Arc::new(Validator::new(fix44())));
    let mut side = logged_on(|settings| settings.dictionary = validator);
    assert_eq!(kinds(&side.say(0, "35=3|34=2|58=RefSeqNum is missing|")), "");
    assert_eq!(side.numbers(0).unwrap().0, SeqNum(3));
}

// R-HEARTBEAT-8
#[test]
fn without_heartbeats_nothing_is_due_and_a_test_request_is_answered() {
    let mut side = acceptor(|s| s.timing.accepted_heart_bt_int = AcceptedHeartBtInt::ANY);
    side.connect(0);
    assert_eq!(kinds(&side.say(0, "35=A|34=1|98=0|108=0|")), "A");
    assert_eq!(side.next(0).deadline, None);
    side.pass(Duration::from_secs(10_000));
    assert_eq!(side.wake(0, &[]), 0);
    assert_eq!(side.take(0).len(), 0);
    assert_eq!(kinds(&side.say(0, "35=1|34=2|112=t|")), "0");
    // A TestRequest that somebody orders is watched all the same.
    side.test_request(0).unwrap();
    assert_eq!(kinds(&side.take(0)), "1");
    side.pass(Duration::from_secs(29));
    side.wake(0, &[]);
    assert!(!side.next(0).close);
    side.pass(Duration::from_secs(1));
    side.wake(0, &[]);
    assert_eq!(kinds(&side.take(0)), "5");
    assert_eq!(side.disconnect(0), Some(SessionEnd::HeartbeatTimedOut));
}

// R-LOGON-24, R-STORE-4
#[test]
fn a_session_without_connection_or_without_logon_does_not_send() {
    let mut side = acceptor(|_| {});
    assert_eq!(side.send(0, "x", 1), Err(SendError::NotLoggedOn));
    side.connect(0);
    assert_eq!(side.send(0, "x", 1), Err(SendError::NotLoggedOn));
    assert_eq!(kinds(&side.say(0, "35=4|34=1|36=10|")), "", "a SequenceReset is not a Logon");
    assert_eq!(side.disconnect(0), Some(SessionEnd::PeerMisbehaved(Misbehavior::FirstMessageNotLogon)));
    assert_eq!(side.numbers(0).unwrap(), (SeqNum(1), SeqNum(1)));
}

#[test]
fn a_resend_request_that_arrives_too_early_uses_no_sequence_number_even_if_repeated() {
    let mut side = logged_on(|_| {});
    assert_eq!(order(&mut side, 4, false), "2");
    let time = side.time();
    side.say(0, &format!("35=2|34=5|43=Y|122={time}|7=1|16=0|"));
    assert_eq!(side.numbers(0).unwrap().0, SeqNum(2));
    side.say(0, "35=2|34=6|7=1|16=0|");
    side.say(0, "35=2|34=6|7=1|16=0|");
    assert_eq!(side.numbers(0).unwrap().0, SeqNum(2));
    order(&mut side, 2, true);
    order(&mut side, 3, true);
    assert_eq!(side.app.got, ["ord2", "ord3", "ord4"]);
}

#[test]
fn a_kept_message_that_is_larger_than_the_counterparty_accepts_is_gap_filled() {
    let mut settings = settings("PEER", Role::Initiator);
    settings.resend.while_logged_off = WhileLoggedOff::Keep;
    let mut side = Side::new(vec![settings]);
    side.connect(0);
    side.send(0, "large", 3000).unwrap();
    side.send(0, "small", 1).unwrap();
    assert_eq!(kinds(&side.take(0)), "A");
    let out = side.say(0, "35=A|34=1|98=0|108=30|383=1000|");
    assert_eq!(kinds(&out), "4D");
    assert!(out[0].contains("|34=2|") && out[0].contains("|36=3|"), "{out:?}");
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let changes: [fn(&mut SessionSettings); 2] =
        [|s| s.limits.outbound_buffer_size = 1000, |s| s.limits.max_message_size = 1000];
    for change in changes {
        let mut settings = settings("PEER", Role::Acceptor);
        change(&mut settings);
        let opened = Side::new(vec![]).open(settings);
        assert!(matches!(opened, Err(OpenError::Setting(_))));
    }
}

// R-RESET-6
#[test]
fn a_reset_in_the_session_discards_the_gap_and_the_messages_after_it() {
    let mut side = logged_on(|_| {});
    side.send(0, "x", 1).unwrap();
    side.take(0);
    assert_eq!(order(&mut side, 5, false), "2");
    let out = side.say(0, "35=A|34=1|98=0|108=30|141=Y|");
    assert_eq!(kinds(&out), "A");
    assert!(out[0].contains("|34=1|") && out[0].contains("|141=Y|"), "{out:?}");
    assert_eq!(side.numbers(0).unwrap(), (SeqNum(2), SeqNum(2)));
    for seq in 2..=4 {
        assert_eq!(order(&mut side, seq, false), "8");
    }
    assert_eq!(side.app.got, ["ord2", "ord3", "ord4"], "the old number 5 is gone");
    assert_eq!(kinds(&side.say(0, "35=2|34=5|7=1|16=0|")), "4888", "nothing from before the reset is resent");
}

// R-LOGON-22
#[test]
fn a_logon_in_the_session_without_reset_ends_it() {
    let mut side = logged_on(|_| {});
    assert_eq!(kinds(&side.say(0, "35=A|34=2|98=0|108=30|")), "5");
    assert_eq!(side.disconnect(0), Some(SessionEnd::PeerMisbehaved(Misbehavior::DuplicateLogon)));
}
