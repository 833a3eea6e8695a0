//! Logons that are refused, by us and by the counterparty: what is reported, which sequence numbers
//! they use, and how often they are answered.

use std::time::Duration;

use fixbolt_codec::SeqNum;
use fixbolt_conformance::testing::{App, Side, kinds, settings};
use fixbolt_session::{Compatibility, LogonDecision, Misbehavior, Phase, Role, SessionEnd};

#[test]
fn a_refused_answer_to_an_initiators_logon_leaves_sequence_numbers_that_both_can_log_on_with() {
    for says_why in [true, false] {
        let mut side = Side::with_app(App::default(), vec![settings("A", Role::Initiator)]);
        side.app.logon = Box::new(move |_, _| {
            Ok(if says_why { LogonDecision::refuse("no") } else { LogonDecision::RefuseSilently })
        });
        side.connect(0);
        side.take(0);
        let said = side.say(0, "35=A|34=1|98=0|108=30|");
        assert_eq!(kinds(&said), if says_why { "5" } else { "" });
        side.disconnect(0);
        side.app.logon = Box::new(|_, _| Ok(LogonDecision::Accept));
        side.connect(0);
        let expected = if says_why { "|34=3|" } else { "|34=2|" };
        assert!(side.take(0)[0].contains(expected));
        // The counterparty has used its sequence numbers: they are requested and gap-filled.
        let asked = side.say(0, "35=A|34=3|98=0|108=30|");
        assert!(kinds(&asked) == "2" && asked[0].contains("|7=1|16=0|"), "{asked:?}");
        let done = side.say(0, "35=4|34=1|43=Y|122=20260105-09:00:00|36=4|123=Y|");
        assert!(done.is_empty(), "{done:?}");
        assert_eq!(side.numbers(0).unwrap().0, SeqNum(4));
        assert!(!side.next(0).close);
    }
}

fn numbers(side: &Side) -> (u64, u64) {
    let (next_in, next_out) = side.numbers(0).unwrap();
    (next_in.0, next_out.0)
}

fn orders(side: &mut Side, numbers: std::ops::RangeInclusive<u64>) -> String {
    numbers.map(|seq| kinds(&side.say(0, &format!("35=D|34={seq}|11=ord{seq}|")))).collect()
}

// R-LOGON-19
#[test]
fn a_logon_with_a_low_sequence_number_is_too_low_whatever_its_poss_dup_flag_says() {
    for compatibility in [Compatibility::Standard, Compatibility::QuickFix, Compatibility::QuickFixJ] {
        let mut settings = settings("PEER", Role::Acceptor);
        settings.compatibility = compatibility;
        let mut side = Side::new(vec![settings]);
        side.log_on(0, 1, "");
        side.disconnect(0);
        let before = numbers(&side);
        let time = side.time();
        let out = side.log_on(0, 1, &format!("43=Y|122={time}|"));
        assert_eq!(kinds(&out), "5", "{compatibility:?}");
        assert!(out[0].contains("58=MsgSeqNum too low, expecting 2 but received 1"), "{out:?}");
        let too_low = Misbehavior::MsgSeqNumTooLow { expected: SeqNum(2), received: SeqNum(1) };
        assert_eq!(side.disconnect(0), Some(SessionEnd::PeerMisbehaved(too_low)));
        assert_eq!(numbers(&side), (before.0, before.1 + 1));
    }
}

// R-LOGON-11
#[test]
fn a_refused_logon_is_reported_once_with_what_is_wrong_with_it() {
    let mut side = Side::new(vec![settings("PEER", Role::Acceptor)]);
    side.connect(0);
    let out = side.say(0, "35=A|34=1|98=0|108=-1|");
    assert_eq!(kinds(&out), "5");
    side.disconnect(0);
    assert_eq!(side.app.notes, ["the Logon is refused: HeartBtInt must not be negative"]);
}

// R-LOGON-9
#[test]
fn a_logon_that_is_refused_with_a_reject_is_reported_by_the_reject_alone() {
    let mut side = Side::new(vec![settings("PEER", Role::Acceptor)]);
    side.connect(0);
    let out = side.say(0, "35=A|34=1|98=1|108=30|");
    assert_eq!(kinds(&out), "35");
    side.disconnect(0);
    assert!(!side.app.notes.iter().any(|note| note.contains("is refused")), "{:?}", side.app.notes);
}

// R-LOGON-6, R-LOGON-7, R-LOGON-17
#[test]
fn no_refused_logon_moves_next_num_in_or_resets_anything() {
    let refused = [
        "98=1|108=30|",
        "98=1|108=30|141=Y|",
        "98=0|",
        "98=0|108=-1|",
        "98=0|108=x|141=Y|",
        "98=0|108=30|383=3|",
        "98=0|108=30|554=expired|",
        "98=0|108=30|554=expired|141=Y|",
        "98=0|108=30|554=stranger|",
        "98=1|108=30|554=stranger|",
    ];
    for compatibility in [Compatibility::Standard, Compatibility::QuickFix, Compatibility::QuickFixJ] {
        for fields in refused {
            let mut settings = settings("PEER", Role::Acceptor);
            settings.compatibility = compatibility;
            settings.reset.reset_on_logon = fields.contains("expired");
            let mut side = Side::new(vec![settings]);
            side.log_on(0, 1, "");
            assert_eq!(orders(&mut side, 2..=4), "888");
            side.disconnect(0);
            side.connect(0);
            let before = numbers(&side);
            let seq = if fields.contains("141=Y") { 1 } else { 5 };
            let out = side.say(0, &format!("35=A|34={seq}|{fields}"));
            let what = format!("{compatibility:?} {fields}");
            assert!(side.next(0).close, "{what}");
            side.disconnect(0);
            assert_eq!(numbers(&side), (before.0, before.1 + out.len() as u64), "{what}");
            assert!(!fields.contains("stranger") || out.is_empty(), "{what}: {out:?}");
            // The real counterparty can log on.
            assert_eq!(kinds(&side.log_on(0, before.0, "")).chars().next(), Some('A'), "{what}");
            assert_eq!(side.phase(0), Phase::LoggedOn, "{what}");
        }
    }
}

// R-LOGON-8
#[test]
fn ten_refusals_are_answered_and_further_ones_closed_silently_for_a_while() {
    let mut side = Side::new(vec![settings("PEER", Role::Acceptor)]);
    let mut answered = 0;
    for _ in 0..50 {
        answered += side.log_on(0, 1, "554=expired|").len();
        side.disconnect(0);
    }
    assert_eq!((answered, numbers(&side)), (10, (1, 11)));
    assert_eq!(kinds(&side.log_on(0, 1, "")), "A", "the right one can log on at once");
    side.disconnect(0);
    side.pass(Duration::from_secs(6));
    assert_eq!(kinds(&side.log_on(0, 2, "554=expired|")), "5");
}

/// A trader's application that sends passwords by turns cannot exist yet: both sides are driven by
/// hand.
#[test]
fn an_initiator_counts_the_logout_that_refuses_it_and_logs_on_afterwards() {
    let mut side = Side::new(vec![settings("PEER", Role::Initiator)]);
    side.connect(0);
    assert_eq!(kinds(&side.take(0)), "A");
    side.say(0, "35=5|34=1|58=password expired|");
    let end = side.disconnect(0).unwrap();
    assert_eq!(end.to_string(), "the counterparty refused the logon: password expired");
    assert!(side.app.notes.last().unwrap().contains("password expired"));
    assert_eq!(numbers(&side), (2, 2));
    // Refused silently, then accepted.
    side.connect(0);
    side.take(0);
    side.disconnect(0);
    side.connect(0);
    side.take(0);
    assert_eq!(kinds(&side.say(0, "35=A|34=2|98=0|108=30|")), "");
    assert_eq!((side.phase(0), numbers(&side)), (Phase::LoggedOn, (3, 4)));
    // An answer that we refuse uses no sequence number of the counterparty either.
    side.disconnect(0);
    side.connect(0);
    side.take(0);
    assert_eq!(kinds(&side.say(0, "35=A|34=3|98=7|108=30|")), "35");
    side.disconnect(0);
    assert_eq!(numbers(&side), (3, 7));
}
