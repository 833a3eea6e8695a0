//! ResetSeqNumFlag (141) of the Logons that begin a connection.

use fixbolt_codec::SeqNum;
use fixbolt_conformance::testing::{Side, kinds, settings};
use fixbolt_session::{LogonFault, Misbehavior, Phase, Role, SessionEnd, SessionSettings};

fn side(role: Role, change: impl FnOnce(&mut SessionSettings)) -> Side {
    let mut side = Side::new(vec![settings("PEER", role).with(change)]);
    side.set_numbers(0, (Some(SeqNum(5)), Some(SeqNum(7))), "test").unwrap();
    side
}

fn refused(side: &mut Side, out: &[String], text: &str, fault: LogonFault) {
    assert!(kinds(out) == "5" && out[0].contains(&format!("|58={text}|")), "{out:?}");
    assert_eq!(side.disconnect(0), Some(SessionEnd::PeerMisbehaved(Misbehavior::InvalidLogon(fault))));
}

// R-RESET-2
#[test]
fn a_logon_that_resets_with_another_number_than_1_is_refused_and_resets_nothing() {
    let mut side = side(Role::Acceptor, |_| {});
    let out = side.log_on(0, 5, "141=Y|");
    let text = "ResetSeqNumFlag (141) is Y, but MsgSeqNum (34) is not 1";
    refused(&mut side, &out, text, LogonFault::ResetSeqNumFlag);
    assert_eq!(side.numbers(0).unwrap(), (SeqNum(5), SeqNum(8)));
}

// R-RESET-3
#[test]
fn an_answer_that_does_not_reset_although_our_logon_did_is_refused() {
    for answer in ["34=1|98=0|108=30|", "34=2|98=0|108=30|141=N|"] {
        let mut side = side(Role::Initiator, |s| s.reset.reset_on_logon = true);
        side.connect(0);
        let logon = side.take(0).remove(0);
        assert!(logon.contains("|34=1|") && logon.contains("|141=Y|"), "{logon}");
        let out = side.say(0, &format!("35=A|{answer}"));
        let text = "the answer to ResetSeqNumFlag=Y does not reset";
        refused(&mut side, &out, text, LogonFault::ResetUnanswered);
    }
}

// R-RESET-4
#[test]
fn an_answer_that_resets_although_our_logon_did_not_is_refused() {
    let mut side = side(Role::Initiator, |_| {});
    side.connect(0);
    side.take(0);
    let out = side.say(0, "35=A|34=1|98=0|108=30|141=Y|");
    let text = "ResetSeqNumFlag=Y in the answer to a Logon that did not ask for it";
    refused(&mut side, &out, text, LogonFault::ResetUnasked);
    assert_eq!(side.numbers(0).unwrap(), (SeqNum(5), SeqNum(9)));
}

// R-RESET-1
#[test]
fn a_logon_that_resets_and_its_answer_begin_both_numbers_at_1() {
    let mut acceptor = side(Role::Acceptor, |_| {});
    let out = acceptor.log_on(0, 1, "141=Y|");
    assert!(kinds(&out) == "A" && out[0].contains("|34=1|") && out[0].contains("|141=Y|"), "{out:?}");
    let mut initiator = side(Role::Initiator, |s| s.reset.reset_on_logon = true);
    initiator.connect(0);
    initiator.take(0);
    assert_eq!(kinds(&initiator.say(0, "35=A|34=1|98=0|108=30|141=Y|")), "");
    for side in [acceptor, initiator] {
        assert_eq!((side.phase(0), side.numbers(0).unwrap()), (Phase::LoggedOn, (SeqNum(2), SeqNum(2))));
    }
}
