//! Our ResendRequests: how many messages they ask for, and how often.

use std::num::NonZeroU64;
use std::time::Duration;

use fixbolt_conformance::testing::{Side, kinds, settings, settings_of};
use fixbolt_session::{Compatibility, Misbehavior, Role, SessionEnd, SessionSettings};

fn side(change: impl FnOnce(&mut SessionSettings)) -> Side {
    let settings = settings("PEER", Role::Acceptor).with(change);
    let mut side = Side::new(vec![settings]);
    side.log_on(0, 1, "");
    side
}

/// Returns the range of the only ResendRequest, 0 for infinity.
fn range(out: &[String]) -> (u64, u64) {
    assert_eq!(kinds(out), "2", "{out:?}");
    let field = |tag: &str| {
        out[0]
            .split(&format!("|{tag}="))
            .nth(1)
            .and_then(|rest| rest.split('|').next())
            .unwrap()
            .parse()
            .unwrap()
    };
    (field("7"), field("16"))
}

fn again(side: &Side, seq: u64) -> String {
    format!("35=D|34={seq}|43=Y|122={}|11=o{seq}|", side.time())
}

// R-GAP-4
#[test]
fn a_gap_is_requested_in_parts_each_once_the_part_before_has_come() {
    let mut side = side(|s| s.resend.resend_request_chunk_size = NonZeroU64::new(5));
    assert_eq!(range(&side.say(0, "35=D|34=14|11=o14|")), (2, 6));
    for seq in 2..6 {
        assert_eq!(kinds(&side.say(0, &again(&side, seq))), "8");
    }
    let out = side.say(0, &again(&side, 6));
    assert_eq!((kinds(&out[..1]), range(&out[1..])), ("8".to_owned(), (7, 11)));
    // The last part is open-ended. The message after the gap is not lost.
    let out = side.say(0, "35=4|34=7|43=Y|123=Y|36=12|");
    assert_eq!(range(&out), (12, 0));
    assert_eq!(kinds(&side.say(0, &again(&side, 12))), "8");
    assert_eq!(kinds(&side.say(0, &again(&side, 13))), "88");
    assert_eq!(side.app.got.last().unwrap(), "o14");
    assert_eq!(kinds(&side.say(0, "35=1|34=15|112=x|")), "0");
}

#[test]
fn a_gap_fill_that_ends_with_the_last_number_of_a_part_is_its_end() {
    let mut side = side(|s| s.resend.resend_request_chunk_size = NonZeroU64::new(5));
    assert_eq!(range(&side.say(0, "35=0|34=12|")), (2, 6));
    assert_eq!(range(&side.say(0, "35=4|34=2|43=Y|123=Y|36=6|")), (6, 10));
    assert_eq!(range(&side.say(0, "35=4|34=6|43=Y|123=Y|36=11|")), (11, 0));
    assert_eq!(kinds(&side.say(0, "35=4|34=11|43=Y|123=Y|36=12|")), "");
    assert_eq!(kinds(&side.say(0, "35=1|34=13|112=x|")), "0");
}

// R-GAP-4
#[test]
fn a_message_that_is_missing_within_a_part_is_requested_with_no_more_than_a_part() {
    for closed in [false, true] {
        let mut side = side(|s| {
            (s.resend.resend_request_chunk_size, s.resend.closed_resend_interval) =
                (NonZeroU64::new(5), closed)
        });
        assert_eq!(range(&side.say(0, "35=D|34=30|11=o30|")), (2, 6));
        assert_eq!(kinds(&side.say(0, &again(&side, 2))), "8");
        assert_eq!(range(&side.say(0, &again(&side, 4))), (3, 7), "3 is lost once more");
        assert_eq!(kinds(&side.say(0, &again(&side, 5))), "", "the rest of the first part");
        assert_eq!(kinds(&side.say(0, &again(&side, 3))), "888");
        assert_eq!(kinds(&side.say(0, &again(&side, 6))), "8");
        let out = side.say(0, &again(&side, 7));
        assert_eq!((kinds(&out[..1]), range(&out[1..])), ("8".to_owned(), (8, 12)));
    }
}

#[test]
fn a_part_that_does_not_come_is_requested_again_and_given_up_like_a_gap() {
    let mut side = side(|s| s.resend.resend_request_chunk_size = NonZeroU64::new(5));
    assert_eq!(range(&side.say(0, "35=0|34=14|")), (2, 6));
    side.say(0, "35=4|34=2|43=Y|123=Y|36=7|");
    for seq in 15..17 {
        side.pass(Duration::from_secs(30));
        assert_eq!(range(&side.say(0, &format!("35=0|34={seq}|"))), (7, 11));
    }
    side.pass(Duration::from_secs(30));
    assert_eq!(kinds(&side.say(0, "35=0|34=17|")), "5");
    let end = side.disconnect(0);
    assert_eq!(end, Some(SessionEnd::PeerMisbehaved(Misbehavior::GapNeverFilled)));
}

// R-GAP-3
#[test]
fn a_closed_request_ends_with_the_last_missing_message() {
    let mut closed = side(|s| s.resend.closed_resend_interval = true);
    assert_eq!(range(&closed.say(0, "35=0|34=9|")), (2, 8));
    assert_eq!(kinds(&closed.say(0, "35=4|34=2|43=Y|123=Y|36=9|")), "");
    assert_eq!(kinds(&closed.say(0, "35=1|34=10|112=x|")), "0");
    let mut both = side(|s| {
        (s.resend.closed_resend_interval, s.resend.resend_request_chunk_size) = (true, NonZeroU64::new(4))
    });
    assert_eq!(range(&both.say(0, "35=0|34=9|")), (2, 5));
    assert_eq!(range(&both.say(0, "35=4|34=2|43=Y|123=Y|36=6|")), (6, 8));
    assert_eq!(kinds(&both.say(0, "35=4|34=6|43=Y|123=Y|36=9|")), "");
}

// R-GAP-2
#[test]
fn each_message_after_a_gap_causes_a_request_only_if_that_is_wanted() {
    let mut once = side(|_| {});
    assert_eq!(range(&once.say(0, "35=0|34=9|")), (2, 0));
    assert_eq!(kinds(&once.say(0, "35=0|34=10|")), "");
    let mut each = side(|s| {
        (s.resend.send_redundant_resend_requests, s.compatibility) = (true, Compatibility::QuickFix)
    });
    for seq in 9..40 {
        assert_eq!(range(&each.say(0, &format!("35=0|34={seq}|"))), (2, 0));
    }
    // Two sides that did this for each other's requests would never end.
    assert_eq!(kinds(&each.say(0, "35=2|34=60|7=1|16=0|")).replace("4", ""), "");
    // That many requests are no sign that the counterparty does not answer; time is.
    each.say(0, &again(&each, 2));
    assert_eq!(range(&each.say(0, "35=0|34=40|")), (3, 0));
    for seq in 41..43 {
        each.pass(Duration::from_secs(30));
        assert_eq!(range(&each.say(0, &format!("35=0|34={seq}|"))), (3, 0));
    }
    each.pass(Duration::from_secs(30));
    assert_eq!(kinds(&each.say(0, "35=0|34=43|")), "5");
}

#[test]
fn where_both_sides_miss_messages_a_request_asks_for_all_of_them() {
    let mut side = side(|s| s.resend.resend_request_chunk_size = NonZeroU64::new(1));
    assert_eq!(range(&side.say(0, "35=0|34=9|")), (2, 2));
    let out = side.say(0, "35=2|34=10|7=1|16=0|");
    assert_eq!((kinds(&out[..1]), range(&out[1..])), ("4".to_owned(), (2, 0)));
}

// R-GAP-3, R-RESEND-1
#[test]
fn infinity_is_999999_before_fix_4_2_and_both_forms_of_it_are_understood_in_every_version() {
    for (version, infinity) in [("FIX.4.0", 999_999), ("FIX.4.1", 999_999), ("FIX.4.2", 0), ("FIX.4.4", 0)] {
        let mut side = Side::new(vec![settings_of(&format!("{version}:US->PEER"), Role::Acceptor)]);
        side.log_on(0, 1, "");
        assert_eq!(range(&side.say(0, "35=0|34=5|")), (2, infinity), "{version}");
        assert_eq!(kinds(&side.say(0, "35=4|34=2|43=Y|123=Y|36=6|")), "");
        for (seq, end) in [(6, 0), (7, 999_999)] {
            let out = side.say(0, &format!("35=2|34={seq}|7=1|16={end}|"));
            assert!(kinds(&out) == "4" && out[0].contains("|36=3|"), "{version} {end}: {out:?}");
        }
    }
}
