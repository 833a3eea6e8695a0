//! NextExpectedMsgSeqNum (789): the rules R-NEXT of docs/session.md.

use std::time::Duration;

use fixbolt_codec::{SeqNum, Version};
use fixbolt_conformance::testing::{Side, kinds, message, settings};
use fixbolt_session::{LogonFault, Misbehavior, Phase, Role, SessionEnd, SessionSettings, WhileLoggedOff};

fn side(role: Role, change: impl FnOnce(&mut SessionSettings)) -> Side {
    let settings = settings("PEER", role).with(change);
    Side::new(vec![settings])
}

/// Sets NextNumIn and NextNumOut.
fn set(side: &mut Side, next_in: u64, next_out: u64) {
    let numbers = (Some(SeqNum(next_in)), Some(SeqNum(next_out)));
    side.set_numbers(0, numbers, "test").unwrap();
}

/// Connects an initiator and returns its Logon.
fn connect(side: &mut Side) -> String {
    side.connect(0);
    side.take(0).remove(0)
}

/// An acceptor that has sent an order with MsgSeqNum 2 and a Heartbeat with 3 in an earlier
/// connection.
fn with_a_past(next_expected: bool) -> Side {
    let mut side = side(Role::Acceptor, |s| s.resend.send_next_expected_msg_seq_num = next_expected);
    side.log_on(0, 1, "");
    side.send(0, "past", 1).unwrap();
    side.take(0);
    assert_eq!(kinds(&side.say(0, "35=1|34=2|112=x|")), "0");
    side.disconnect(0);
    side
}

// R-NEXT-2
#[test]
fn what_the_counterparty_misses_by_its_logon_is_sent_unasked_whether_or_not_ours_has_the_field() {
    for ours in [false, true] {
        let mut side = with_a_past(ours);
        let out = side.log_on(0, 3, "789=2|");
        assert_eq!(kinds(&out), "AD4", "{out:?}");
        assert_eq!(out[0].contains("|789=4|"), ours, "{out:?}");
        assert!(out[1].contains("|34=2|") && out[1].contains("|43=Y|"), "{out:?}");
        // The gap fill covers the Heartbeat and our own Logon.
        assert!(out[2].contains("|34=3|") && out[2].contains("|36=5|"), "{out:?}");
        assert_eq!(kinds(&side.say(0, "35=1|34=4|112=y|")), "0");
    }
}

#[test]
fn a_counterparty_that_misses_nothing_gets_nothing_again() {
    let mut side = with_a_past(false);
    assert_eq!(kinds(&side.log_on(0, 3, "789=4|")), "A");
    assert!(!side.is_replaying(0));
}

#[test]
fn what_the_application_sends_at_the_logon_follows_what_is_sent_again() {
    let mut side = side(Role::Acceptor, |s| s.resend.while_logged_off = WhileLoggedOff::Keep);
    side.send(0, "kept", 1).unwrap();
    let bytes = side.wire(0, "35=A|34=1|98=0|108=30|789=1|");
    side.connect(0);
    side.hear(0, &bytes);
    side.send(0, "new", 1).unwrap();
    let out = side.take(0);
    assert_eq!(kinds(&out), "AD4D", "{out:?}");
    assert!(out[1].contains("|11=kept|") && out[3].contains("|11=new|"), "{out:?}");
    assert!(out[3].contains("|34=3|") && !out[3].contains("|43=Y|"), "{out:?}");
}

// R-NEXT-3
#[test]
fn a_counterparty_that_expects_more_than_was_sent_is_logged_out_with_both_numbers() {
    for role in [Role::Acceptor, Role::Initiator] {
        let mut side = side(role, |_| {});
        set(&mut side, 1, 5);
        let out = match role {
            Role::Acceptor => side.log_on(0, 1, "789=9|"),
            Role::Initiator => {
                connect(&mut side);
                side.say(0, "35=A|34=1|98=0|108=30|789=9|")
            }
        };
        // The initiator's own Logon, message 5, may have been counted.
        let next_out = if role == Role::Acceptor { 5 } else { 6 };
        let text = format!(
            "|58=Tag 789 (NextExpectedMsgSeqNum) is higher than expected. Expected {next_out}, Received 9|"
        );
        assert_eq!(kinds(&out), "5", "{out:?}");
        assert!(out[0].contains(&text), "{out:?}");
        let end = SessionEnd::PeerExpectsMore { expected: SeqNum(9), next_out: SeqNum(next_out) };
        assert_eq!(side.disconnect(0), Some(end));
        // A Logon that is refused uses no number of the counterparty.
        assert_eq!(side.numbers(0).unwrap().0, SeqNum(1));
    }
}

// R-NEXT-4
#[test]
fn a_next_expected_msg_seq_num_that_is_no_number_is_refused() {
    for value in ["0", "x", "-1", "99999999999999999999999"] {
        let mut side = side(Role::Acceptor, |_| {});
        let out = side.log_on(0, 1, &format!("789={value}|"));
        assert_eq!(kinds(&out), "5", "{value}: {out:?}");
        assert!(
            out[0].contains("|58=NextExpectedMsgSeqNum (789) must be a number of at least 1|"),
            "{out:?}"
        );
        let fault = Misbehavior::InvalidLogon(LogonFault::NextExpectedMsgSeqNum);
        assert_eq!(side.disconnect(0), Some(SessionEnd::PeerMisbehaved(fault)));
    }
}

// R-NEXT-6
#[test]
fn a_reset_at_logon_expects_the_first_message_after_both_logons() {
    let mut side = side(Role::Acceptor, |s| s.resend.send_next_expected_msg_seq_num = true);
    set(&mut side, 2000, 2000);
    let out = side.log_on(0, 1, "141=Y|789=1|");
    assert_eq!(kinds(&out), "A");
    assert!(out[0].contains("|34=1|") && out[0].contains("|141=Y|789=2|"), "{out:?}");
    let again = side.say(0, "35=A|34=1|98=0|108=30|141=Y|789=1|");
    assert!(again[0].contains("|34=1|") && again[0].contains("|141=Y|789=2|"), "{again:?}");
}

// R-NEXT-1
#[test]
fn an_initiator_says_what_it_expects_and_sends_what_its_counterparty_misses() {
    let mut side = side(Role::Initiator, |s| s.resend.send_next_expected_msg_seq_num = true);
    set(&mut side, 7, 5);
    let logon = connect(&mut side);
    assert!(logon.contains("|34=5|") && logon.contains("|789=7|"), "{logon}");
    // The counterparty has counted our Logon.
    assert_eq!(kinds(&side.say(0, "35=A|34=7|98=0|108=30|789=6|")), "");
    side.disconnect(0);
    connect(&mut side);
    let out = side.say(0, "35=A|34=8|98=0|108=30|789=4|");
    assert_eq!(kinds(&out), "4", "{out:?}");
    assert!(out[0].contains("|34=4|") && out[0].contains("|36=7|"), "{out:?}");
    let reset = |s: &mut SessionSettings| {
        (s.resend.send_next_expected_msg_seq_num, s.reset.reset_on_logon) = (true, true)
    };
    let mut side = self::side(Role::Initiator, reset);
    set(&mut side, 7, 5);
    let logon = connect(&mut side);
    assert!(logon.contains("|34=1|") && logon.contains("|141=Y|789=1|"), "{logon}");
}

// R-NEXT-1
#[test]
fn before_fix_4_4_the_field_is_not_sent() {
    let id = "FIX.4.3:US->PEER".parse().unwrap();
    let mut side = side(Role::Initiator, |s| {
        s.id = id;
        s.resend.send_next_expected_msg_seq_num = true;
    });
    assert!(!connect(&mut side).contains("|789="));
}

/// Logs on with a Logon whose number is too high. Returns what was sent.
fn after_a_gap(side: &mut Side, ours: &str) -> String {
    kinds(&side.log_on(0, 5, ours))
}

// R-NEXT-5
#[test]
fn with_both_fields_nothing_is_requested_because_of_the_logon_until_patience_ends() {
    let on = |s: &mut SessionSettings| s.resend.send_next_expected_msg_seq_num = true;
    // The counterparty fills the gap by itself.
    let mut filled = side(Role::Acceptor, on);
    assert_eq!(after_a_gap(&mut filled, "789=1|"), "A");
    assert_eq!(kinds(&filled.say(0, "35=4|34=1|43=Y|123=Y|36=6|")), "");
    assert_eq!(filled.numbers(0), Some((SeqNum(6), SeqNum(2))));
    assert_eq!(kinds(&filled.say(0, "35=D|34=8|11=later|")), "2");
    // It does not.
    let mut silent = side(Role::Acceptor, on);
    assert_eq!(after_a_gap(&mut silent, "789=1|"), "A");
    assert_eq!(kinds(&silent.say(0, "35=0|34=6|")), "");
    silent.pass(Duration::from_secs(31));
    let asked = silent.say(0, "35=0|34=7|");
    assert_eq!(kinds(&asked), "2");
    assert!(asked[0].contains("|7=1|16=0|"), "{asked:?}");
    assert_eq!(silent.phase(0), Phase::LoggedOn);
}

// R-NEXT-5
#[test]
fn with_one_of_the_fields_missing_the_gap_before_a_logon_is_requested() {
    let mut ours_only = side(Role::Acceptor, |s| s.resend.send_next_expected_msg_seq_num = true);
    assert_eq!(after_a_gap(&mut ours_only, ""), "A2");
    let mut theirs_only = side(Role::Acceptor, |_| {});
    assert_eq!(after_a_gap(&mut theirs_only, "789=1|"), "A2");
}

// R-LOGOUT-9
#[test]
fn a_logout_that_calls_our_number_too_low_ends_the_connection_with_both_numbers() {
    let text = "58=MsgSeqNum too low, expecting 12 but received 3|";
    let end = SessionEnd::PeerExpectsMore { expected: SeqNum(12), next_out: SeqNum(3) };
    let mut initiator = side(Role::Initiator, |_| {});
    set(&mut initiator, 7, 3);
    // Its own number may be any.
    for seq in [7, 1, 90] {
        connect(&mut initiator);
        initiator.say(0, &format!("35=5|34={seq}|{text}"));
        assert_eq!(initiator.disconnect(0).as_ref(), Some(&end), "{seq}");
    }
    let mut acceptor = side(Role::Acceptor, |_| {});
    set(&mut acceptor, 1, 3);
    acceptor.log_on(0, 1, "");
    assert_eq!(kinds(&acceptor.say(0, &format!("35=5|34=2|{text}"))), "5");
    assert_eq!(acceptor.disconnect(0), Some(end));
    // Another Text, and numbers that make no sense.
    for text in ["58=bye|", "58=MsgSeqNum too low, expecting 3 but received 3|", "58=MsgSeqNum too low|"] {
        let mut side = side(Role::Acceptor, |_| {});
        side.log_on(0, 1, "");
        side.say(0, &format!("35=5|34=2|{text}"));
        assert_eq!(side.disconnect(0), Some(SessionEnd::LoggedOutByPeer), "{text}");
    }
}

/// Logs on to a session of this BeginString.
fn log_on_as(side: &mut Side, begin_string: &str, fields: &str) -> Vec<String> {
    side.connect(0);
    let fields = format!("35=A|49=PEER|56=US|52={}|98=0|108=30|1137=9|{fields}", side.time());
    side.hear(0, &message(begin_string, &fields));
    side.take(0)
}

// R-SEQ-5
#[test]
fn a_logout_of_fixt_says_why_as_session_status() {
    for (version, fixt) in [("FIXT.1.1", true), ("FIX.4.4", false)] {
        let change = |s: &mut SessionSettings| {
            s.id = format!("{version}:US->PEER").parse().unwrap();
            s.default_appl_ver_id = Some(Version::Fix50Sp2);
        };
        let mut too_low = side(Role::Acceptor, change);
        set(&mut too_low, 7, 1);
        let out = log_on_as(&mut too_low, version, "34=3|");
        assert_eq!(out[0].contains("|1409=9|789=7|58=MsgSeqNum too low"), fixt, "{out:?}");
        let mut too_high = side(Role::Acceptor, change);
        let out = log_on_as(&mut too_high, version, "34=1|789=9|");
        assert_eq!(out[0].contains("|1409=10|58=Tag 789"), fixt, "{out:?}");
        assert_eq!(out[0].contains("|1409="), fixt, "{out:?}");
    }
}
