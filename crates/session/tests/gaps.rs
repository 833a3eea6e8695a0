//! Gaps: messages that arrive too early are checked when they are due, and are discarded with the
//! connection and by a reset.

use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

use fixbolt_conformance::testing::{Side, kinds, settings};
use fixbolt_session::{Compatibility, Phase, Role, SessionSettings};

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

// R-GAP-6
#[test]
fn resend_requests_that_arrive_too_early_are_each_answered_once() {
    let mut side = logged_on(|_| {});
    for id in ["a", "b"] {
        side.send(0, id, 1).unwrap();
    }
    side.take(0);
    assert_eq!(kinds(&side.say(0, "35=2|34=4|7=1|16=0|")), "4DD2");
    assert_eq!(kinds(&side.say(0, "35=2|34=5|7=3|16=3|")), "D2");
    assert_eq!(orders(&mut side, 2..=3), "88", "both have been answered");
    assert_eq!(kinds(&side.say(0, "35=2|34=6|7=3|16=3|")), "D");
}

#[test]
fn a_reset_discards_a_logout_that_arrived_too_early() {
    let mut side = logged_on(|_| {});
    assert_eq!(kinds(&side.say(0, "35=5|34=5|")), "2");
    assert_eq!(kinds(&side.say(0, RESET)), "A");
    assert_eq!(orders(&mut side, 2..=6), "88888");
    assert_eq!(side.phase(0), Phase::LoggedOn);
}

// R-GAP-8
#[test]
fn a_sequence_reset_discards_what_waits_under_the_numbers_from_there_on() {
    let mut side = logged_on(|_| {});
    assert_eq!(kinds(&side.say(0, "35=D|34=4|11=old|")), "2");
    assert_eq!(kinds(&side.say(0, "35=D|34=5|11=old|")), "");
    assert_eq!(kinds(&side.say(0, "35=4|34=9|36=4|")), "");
    assert_eq!(orders(&mut side, 4..=5), "88");
    assert_eq!(side.app.got, ["ord4", "ord5"]);
}

#[test]
fn a_sequence_reset_to_the_number_that_is_due_discards_what_waits_behind_a_gap() {
    let mut side = logged_on(|_| {});
    assert_eq!(kinds(&side.say(0, "35=D|34=3|11=old|")), "2");
    assert_eq!(kinds(&side.say(0, "35=4|34=9|36=2|")), "");
    assert_eq!(orders(&mut side, 2..=4), "888");
    assert_eq!(side.app.got, ["ord2", "ord3", "ord4"]);
}

#[test]
fn a_sequence_reset_ends_the_wait_for_what_is_missing_before_a_logout() {
    let mut side = logged_on(|_| {});
    assert_eq!(kinds(&side.say(0, "35=5|34=5|")), "2");
    assert_eq!(kinds(&side.say(0, "35=4|34=9|36=3|")), "5");
}

#[test]
fn what_is_missing_after_a_sequence_reset_is_requested_as_often_as_anything_else() {
    let mut side = logged_on(|_| {});
    let mut gap = |seq: u64| {
        let mut requested = requested(&mut side, &[format!("35=D|34={seq}|11=ord{seq}|")]);
        for _ in 0..2 {
            side.pass(Duration::from_secs(31));
            requested.extend(requests(&side.say(0, &format!("35=0|34={}|", seq + 1))));
        }
        requested
    };
    assert_eq!(gap(5), ["2-0", "2-0", "2-0"]);
    assert_eq!(kinds(&side.say(0, "35=4|34=9|36=2|")), "");
    assert_eq!(requested(&mut side, &["35=D|34=5|11=ord5|"]), ["2-0"]);
    side.pass(Duration::from_secs(31));
    assert_eq!(requested(&mut side, &["35=0|34=6|"]), ["2-0"]);
    assert_eq!(side.phase(0), Phase::LoggedOn);
}

#[test]
fn a_request_answered_before_a_sequence_reset_does_not_silence_the_one_after_it() {
    let mut side = logged_on(|_| {});
    assert_eq!(kinds(&side.say(0, "35=2|34=5|7=1|16=0|")), "42");
    assert_eq!(kinds(&side.say(0, "35=4|34=9|36=5|")), "");
    assert_eq!(kinds(&side.say(0, "35=2|34=5|7=1|16=0|")), "4");
}

// R-GAP-8
#[test]
fn a_gap_and_the_messages_after_it_are_discarded_with_the_connection() {
    let mut side = logged_on(|_| {});
    assert_eq!(kinds(&side.say(0, "35=5|34=5|")), "2");
    side.disconnect(0);
    assert_eq!(kinds(&side.log_on(0, 2, "")), "A");
    assert_eq!(orders(&mut side, 3..=6), "8888");
    assert_eq!(side.phase(0), Phase::LoggedOn);
}

// R-POSSDUP-4
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

/// Requests of ours among what the session has written, each by its range.
fn requests(out: &[String]) -> Vec<String> {
    let field = |message: &String, tag: &str| {
        message.split(&format!("|{tag}=")).nth(1).and_then(|rest| rest.split('|').next()).map(str::to_owned)
    };
    let asked = out.iter().filter(|message| message.contains("|35=2|"));
    asked
        .map(|message| format!("{}-{}", field(message, "7").unwrap(), field(message, "16").unwrap()))
        .collect()
}

/// Sends messages one after the other; returns the ranges that the session has requested.
fn requested(side: &mut Side, messages: &[impl AsRef<str>]) -> Vec<String> {
    messages.iter().flat_map(|fields| requests(&side.say(0, fields.as_ref()))).collect()
}

/// A message that is sent again, with the OrigSendingTime that it needs.
fn again(side: &Side, seq: u64) -> String {
    format!("35=D|34={seq}|43=Y|122={}|11=ord{seq}|", side.time())
}

#[test]
fn what_is_missing_before_later_messages_is_in_the_answer_to_the_request_and_not_requested_once_more() {
    let mut side = logged_on(|_| {});
    assert_eq!(requested(&mut side, &["35=0|34=3|", "35=D|34=5|11=ord5|"]), ["2-0"]);
    let dups = [again(&side, 2), "35=4|34=3|43=Y|123=Y|36=5|".to_owned(), again(&side, 5)];
    assert_eq!(requested(&mut side, &dups), [""; 0]);
    assert_eq!(numbers(&side).0, 6);
}

// R-SEQRESET-3, R-POSSDUP-3
#[test]
fn a_gap_fill_that_begins_before_the_number_that_is_due_counts_for_the_rest() {
    for compatibility in [Compatibility::Standard, Compatibility::QuickFix, Compatibility::QuickFixJ] {
        let settings = settings("PEER", Role::Acceptor).with(|s| s.compatibility = compatibility);
        let mut side = Side::new(vec![settings]).logged_on();
        assert_eq!(requested(&mut side, &["35=0|34=3|", "35=0|34=6|"]), ["2-0"]);
        // 3 was buffered and is processed with 2; the gap fill for 3 to 5 comes after that.
        side.say(0, &again(&side, 2));
        assert_eq!(numbers(&side).0, 4, "{compatibility:?}");
        assert_eq!(requested(&mut side, &["35=4|34=3|43=Y|123=Y|36=6|"]), [""; 0]);
        assert_eq!(numbers(&side).0, 7, "{compatibility:?}");
        // Nothing is asked for any more, so that it counts for nothing.
        assert_eq!(requested(&mut side, &["35=4|34=3|43=Y|123=Y|36=9|"]), [""; 0]);
        assert_eq!(numbers(&side).0, 7, "{compatibility:?}");
    }
}

// R-SEQRESET-3
#[test]
fn a_gap_fill_counts_for_no_more_than_was_requested() {
    let mut side = logged_on(|s| s.resend.closed_resend_interval = true);
    assert_eq!(requested(&mut side, &["35=0|34=3|", "35=0|34=5|"]), ["2-2"]);
    side.say(0, &again(&side, 2));
    assert_eq!(numbers(&side).0, 4);
    // 4 was requested, and 5 is at hand.
    side.say(0, "35=4|34=2|43=Y|123=Y|36=9|");
    assert_eq!(numbers(&side).0, 4);
    side.say(0, "35=4|34=2|43=Y|123=Y|36=5|");
    assert_eq!(numbers(&side).0, 6);
}

#[test]
fn the_answer_to_an_earlier_request_that_passes_a_gap_is_no_failure_of_the_later_one() {
    let mut side = logged_on(|_| {});
    assert_eq!(requested(&mut side, &["35=D|34=9|11=ord9|"]), ["2-0"]);
    // The answer loses 3 and 5.
    let dups = [2, 4, 6, 7, 8, 9].map(|seq| again(&side, seq));
    assert_eq!(requested(&mut side, &dups), ["3-0"]);
    // That to the second request loses 5 once more.
    let dups = [3, 4, 6, 7, 8, 9].map(|seq| again(&side, seq));
    assert_eq!(requested(&mut side, &dups), ["5-0"]);
    let dups = [5, 6, 7, 8, 9].map(|seq| again(&side, seq));
    assert_eq!(requested(&mut side, &dups), [""; 0]);
    assert_eq!((numbers(&side).0, side.phase(0)), (10, Phase::LoggedOn));
}

#[test]
fn a_slow_answer_to_an_earlier_request_is_no_failure_of_the_later_one() {
    let mut side = logged_on(|_| {});
    assert_eq!(requested(&mut side, &["35=D|34=99|11=ord99|"]), ["2-0"]);
    let dups = [2, 4].map(|seq| again(&side, seq));
    assert_eq!(requested(&mut side, &dups), ["3-0"]);
    for seq in 5..20 {
        side.pass(Duration::from_secs(29));
        let dup = again(&side, seq);
        assert_eq!(requested(&mut side, &[dup, format!("35=0|34={}|", 95 + seq)]), [""; 0], "{seq}");
    }
    side.pass(Duration::from_secs(30));
    assert_eq!(requested(&mut side, &["35=0|34=115|"]), ["3-0"], "the answer has stopped");
}

#[test]
fn an_answer_that_goes_on_after_a_request_of_the_counterparty_is_no_failure() {
    let mut side = logged_on(|_| {});
    assert_eq!(requested(&mut side, &["35=D|34=9|11=ord9|"]), ["2-0"]);
    let dups = [2, 4].map(|seq| again(&side, seq));
    assert_eq!(requested(&mut side, &dups), ["3-0"]);
    assert_eq!(requested(&mut side, &["35=2|34=10|7=1|16=0|"]), ["3-0"]);
    let dups = [5, 6, 7, 8, 9].map(|seq| again(&side, seq));
    assert_eq!(requested(&mut side, &dups), [""; 0]);
    let dup = again(&side, 4);
    assert_eq!(requested(&mut side, &[dup]), ["3-0"], "the next answer does not have 3, either");
}

/// A session that sends one message a second again and was asked for 30: its own requests wait.
fn asked_for_thirty() -> Side {
    let mut side = logged_on(|s| s.resend.max_replay_rate = NonZeroU32::new(1));
    assert_eq!(orders(&mut side, 2..=31).len(), 30);
    side.tell(0, "35=2|34=32|7=2|16=31|");
    side
}

/// Lets time pass; returns what the session has requested meanwhile.
fn seconds(side: &mut Side, count: u64) -> Vec<String> {
    let mut requested = Vec::new();
    for _ in 0..count {
        side.pass(Duration::from_secs(1));
        for _ in 0..3 {
            requested.extend(requests(&side.step(0)));
        }
    }
    requested
}

#[test]
fn the_time_to_answer_a_request_starts_when_it_leaves() {
    let mut side = asked_for_thirty();
    let mut requested = Vec::new();
    for seq in 40..80 {
        side.tell(0, &format!("35=0|34={seq}|"));
        requested.extend(seconds(&mut side, 1));
    }
    assert_eq!((requested, side.phase(0)), (vec!["33-0".to_owned()], Phase::LoggedOn));
    seconds(&mut side, 30);
    assert_eq!(requests(&side.say(0, "35=0|34=80|")), ["33-0"], "the first request was not answered");
}

#[test]
fn the_answer_to_another_request_is_no_failure_of_one_that_has_not_left() {
    let mut side = asked_for_thirty();
    side.tell(0, "35=0|34=40|");
    for seq in [36, 34, 37, 35, 38] {
        let fields = again(&side, seq);
        side.tell(0, &fields);
    }
    assert_eq!((seconds(&mut side, 60), side.phase(0)), (vec!["33-0".to_owned()], Phase::LoggedOn));
    let fields = again(&side, 33);
    side.say(0, &fields);
    assert_eq!(numbers(&side).0, 39);
}

#[test]
fn redundant_requests_do_not_prolong_the_time_for_the_answer() {
    let mut side = logged_on(|s| s.resend.send_redundant_resend_requests = true);
    let mut asked = 0;
    for seq in 5..50 {
        side.pass(Duration::from_secs(5));
        asked += requests(&side.say(0, &format!("35=0|34={seq}|"))).len();
        if side.phase(0) != Phase::LoggedOn {
            break;
        }
    }
    assert_eq!((asked, side.phase(0)), (18, Phase::LogoutAnswered));
}

#[test]
fn a_redundant_request_for_more_than_the_one_before_is_not_answered_too_late_before_it_leaves() {
    let mut side = logged_on(|s| {
        (s.resend.send_redundant_resend_requests, s.resend.closed_resend_interval) = (true, true);
        (s.resend.max_resend_requests, s.resend.max_replay_rate) = (NonZeroU32::MIN, NonZeroU32::new(1));
        s.compatibility = Compatibility::QuickFix;
    });
    assert_eq!(orders(&mut side, 2..=61).len(), 60);
    assert_eq!(requests(&side.say(0, "35=0|34=63|")), ["62-62"]);
    side.tell(0, "35=2|34=64|7=2|16=61|");
    // The next requests wait for the replay.
    side.tell(0, "35=0|34=66|");
    let fields = again(&side, 62);
    side.tell(0, &fields);
    let mut requested = seconds(&mut side, 1);
    assert_eq!(numbers(&side).0, 65);
    for seq in 67..107 {
        side.tell(0, &format!("35=0|34={seq}|"));
        requested.extend(seconds(&mut side, 1));
    }
    assert_eq!((requested, side.phase(0)), (Vec::new(), Phase::LoggedOn));
    assert_eq!(seconds(&mut side, 30)[..2], ["62-65", "65-66"]);
}

#[test]
fn a_sequence_reset_ends_the_withholding_of_messages_behind_a_gap_before_the_logon() {
    let mut side = Side::new(vec![settings("PEER", Role::Acceptor)]);
    assert_eq!(kinds(&side.log_on(0, 5, "")), "A2");
    side.send(0, "x", 1).unwrap();
    assert_eq!(kinds(&side.take(0)), "");
    assert_eq!(kinds(&side.say(0, "35=4|34=9|36=1|")), "D");
}

// R-GAP-7
#[test]
fn answers_to_several_earlier_requests_do_not_count_as_the_answer_to_the_last_one() {
    let mut side = logged_on(|s| {
        (s.resend.resend_request_chunk_size, s.resend.max_resend_requests) =
            (NonZeroU64::new(11), NonZeroU32::new(2).unwrap());
        s.resend.send_redundant_resend_requests = true;
    });
    let asked = |side: &mut Side, fields: &str| requests(&side.say(0, fields));
    assert_eq!(asked(&mut side, "35=D|11=ord49|34=49|"), ["2-12"]);
    // Each request of the counterparty makes us ask again.
    assert_eq!(asked(&mut side, "35=2|34=50|7=1|16=0|"), ["2-0"]);
    assert_eq!(asked(&mut side, "35=D|11=ord51|34=51|"), ["2-12"]);
    assert_eq!(asked(&mut side, "35=2|34=52|7=1|16=0|"), ["2-0"]);
    let fill =
        |side: &Side, from: u64, to: u64| format!("35=4|123=Y|36={to}|34={from}|43=Y|122={}|", side.time());
    let order = |side: &Side, seq: u64| format!("35=D|11=ord{seq}|34={seq}|43=Y|122={}|", side.time());
    let fields = fill(&side, 2, 13);
    assert_eq!(asked(&mut side, &fields), [""; 0]);
    assert_eq!(asked(&mut side, "35=D|11=ord53|34=53|"), ["13-23"]);
    let whole =
        [fill(&side, 2, 49), order(&side, 49), fill(&side, 50, 51), order(&side, 51), fill(&side, 52, 53)];
    let answers = [&whole[..], &[fill(&side, 2, 13)], &whole[..], &[order(&side, 53)]].concat();
    let again: Vec<_> = answers.iter().flat_map(|fields| asked(&mut side, fields)).collect();
    assert_eq!((again, side.phase(0)), (Vec::<String>::new(), Phase::LoggedOn));
    // The answer to the last request, and those to the next ones.
    for (from, to, next) in [(13, 24, "24-34"), (24, 35, "35-45"), (35, 46, "46-0")] {
        let fields = fill(&side, from, to);
        assert_eq!(asked(&mut side, &fields), [next]);
    }
    let fields = fill(&side, 46, 49);
    assert_eq!(asked(&mut side, &fields), [""; 0]);
    assert_eq!((numbers(&side).0, side.phase(0)), (54, Phase::LoggedOn));
}
