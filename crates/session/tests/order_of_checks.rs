//! The checks of each message that need no dictionary, and their order.

use std::sync::Arc;

use fixbolt_codec::SeqNum;
use fixbolt_conformance::testing::{Side, kinds, message, settings};
use fixbolt_dictionary::{Policy, Validator, fix44};
use fixbolt_session::{Misbehavior, Phase, Role, SessionDictionary, SessionEnd, SessionSettings};

/// An acceptor that expects 2.
fn logged_on() -> Side {
    logged_on_with(settings("PEER", Role::Acceptor))
}

fn logged_on_with(settings: SessionSettings) -> Side {
    Side::new(vec![settings]).logged_on()
}

/// Passes a Heartbeat with this header to a session, and returns its answers.
fn heartbeat(side: &mut Side, begin_string: &str, header: &str) -> Vec<String> {
    side.hear(0, &message(begin_string, &format!("35=0|{header}")));
    side.take(0)
}

// R-CHECK-1, R-LOGOUT-12
#[test]
fn the_first_check_that_fails_decides_with_and_without_a_dictionary() {
    the_first_that_fails_decides(&logged_on);
    let validator = Arc::new(Validator::new(fix44()));
    for policy in [Policy::standard(), Policy::tolerant(), Policy::ignoring()] {
        let dictionary = SessionDictionary::Own(Arc::clone(&validator));
        let settings = settings("PEER", Role::Acceptor)
            .with(|s| (s.dictionary, s.validation.incoming) = (dictionary, policy));
        the_first_that_fails_decides(&|| logged_on_with(settings.clone()));
    }
}

/// Each message has the faults of all those after it, and a tag that no dictionary has.
fn the_first_that_fails_decides(logged_on: &dyn Fn() -> Side) {
    use Misbehavior::{BeginString, CompId, MsgSeqNumTooLow, NoMsgSeqNum, SendingTime};
    let long_ago = "20200101-00:00:00";
    let all = [
        ("FIX.4.2", format!("49=X|56=Y|52={long_ago}|"), "5", "Received message without MsgSeqNum"),
        ("FIX.4.2", format!("49=X|56=Y|34=1|52={long_ago}|"), "5", "Incorrect BeginString"),
        ("FIX.4.4", format!("49=X|56=Y|34=1|52={long_ago}|"), "35", "|371=49|372=0|373=9|"),
        ("FIX.4.4", format!("49=PEER|56=Y|34=1|52={long_ago}|"), "35", "|371=56|372=0|373=9|"),
        ("FIX.4.4", format!("49=PEER|56=US|34=1|52={long_ago}|"), "35", "|371=52|372=0|373=10|"),
        ("FIX.4.4", "49=PEER|56=US|34=1|52=NOW|".to_owned(), "5", "MsgSeqNum too low"),
    ];
    let mut ends = Vec::new();
    for (begin_string, header, kind, text) in all {
        let mut side = logged_on();
        let header = header.replace("NOW", &side.time()) + "999=x|";
        let out = heartbeat(&mut side, begin_string, &header);
        assert_eq!(kinds(&out), kind, "{header}");
        assert!(out[0].contains(text), "{header}: {out:?}");
        ends.push(side.disconnect(0));
    }
    let is = |n: usize, judge: fn(&Misbehavior) -> bool| {
        let Some(SessionEnd::PeerMisbehaved(why)) = &ends[n] else { panic!("{:?}", ends[n]) };
        assert!(judge(why), "{why:?}");
    };
    is(0, |why| matches!(why, NoMsgSeqNum));
    is(1, |why| matches!(why, BeginString));
    is(2, |why| matches!(why, CompId));
    is(3, |why| matches!(why, CompId));
    is(4, |why| matches!(why, SendingTime { .. }));
    is(5, |why| matches!(why, MsgSeqNumTooLow { .. }));
}

// R-CHECK-5, R-TIME-1
#[test]
fn a_message_without_a_comp_id_or_sending_time_is_rejected_and_the_session_continues() {
    let mut side = logged_on();
    let now = side.time();
    let headers = [
        (format!("56=US|34=2|52={now}|"), "|45=2|371=49|372=0|373=1|"),
        (format!("49=PEER|34=3|52={now}|"), "|45=3|371=56|372=0|373=1|"),
        ("49=PEER|56=US|34=4|".to_owned(), "|45=4|371=52|372=0|373=1|"),
        ("49=PEER|56=US|34=5|52=noon|".to_owned(), "|45=5|371=52|372=0|373=6|"),
    ];
    for (header, named) in headers {
        let out = heartbeat(&mut side, "FIX.4.4", &header);
        assert!(kinds(&out) == "3" && out[0].contains(named), "{header}: {out:?}");
    }
    assert_eq!((side.phase(0), side.numbers(0).unwrap().0), (Phase::LoggedOn, SeqNum(6)));
}

// R-CHECK-6
#[test]
fn a_comp_id_without_a_value_is_a_wrong_one() {
    let mut side = logged_on();
    let header = format!("49=|56=US|34=2|52={}|", side.time());
    let out = heartbeat(&mut side, "FIX.4.4", &header);
    assert!(kinds(&out) == "35" && out[0].contains("|371=49|372=0|373=9|"), "{out:?}");
}

// R-CHECK-2, R-SEQ-7
#[test]
fn a_sequence_number_may_have_leading_zeros_and_must_be_a_number() {
    let mut side = logged_on();
    assert_eq!(kinds(&side.say(0, "35=1|34=0002|112=t|")), "0");
    assert_eq!(kinds(&side.say(0, "35=2|34=03|7=01|16=00|")), "4");
    let out = side.say(0, "35=1|34=x4|112=t|");
    assert!(kinds(&out) == "5" && out[0].contains("|58=Received message without MsgSeqNum|"), "{out:?}");
    assert_eq!(side.numbers(0).unwrap().0, SeqNum(4));
    let end = side.disconnect(0);
    assert_eq!(end, Some(SessionEnd::PeerMisbehaved(Misbehavior::MalformedMsgSeqNum)));
}
