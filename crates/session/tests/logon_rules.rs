//! What a Logon may have, and what ours has: the rules R-LOGON of docs/session.md.

use std::time::Duration;

use fixbolt_codec::{SeqNum, Version};
use fixbolt_conformance::testing::{Side, kinds, message, settings};
use fixbolt_session::{
    Compatibility, LogonFields, Misbehavior, OpenError, Role, SessionEnd, SessionId, SessionSettings,
    TestMessageIndicator, TooLowAtLogon,
};

fn side(role: Role, change: impl FnOnce(&mut SessionSettings)) -> Side {
    let settings = settings("PEER", role).with(change);
    Side::new(vec![settings])
}

fn version(s: &mut SessionSettings, version: Version) {
    s.id = SessionId::new(version, "US", "PEER").unwrap();
    s.default_appl_ver_id = Some(Version::Fix50Sp2);
}

/// Sets NextNumIn and NextNumOut.
fn set(side: &mut Side, next_in: u64, next_out: u64) {
    let numbers = (Some(SeqNum(next_in)), Some(SeqNum(next_out)));
    side.set_numbers(0, numbers, "test").unwrap();
}

fn numbers(side: &Side) -> (u64, u64) {
    let (next_in, next_out) = side.numbers(0).unwrap();
    (next_in.0, next_out.0)
}

/// Connects an initiator and returns its Logon.
fn connect(side: &mut Side) -> String {
    side.connect(0);
    side.take(0).remove(0)
}

// R-LOGON-18
#[test]
fn our_logons_have_max_message_size_since_fix_4_2_except_where_engines_compare_their_fields() {
    for (of, compatibility, sent) in [
        (Version::Fix40, Compatibility::Standard, false),
        (Version::Fix41, Compatibility::Standard, false),
        (Version::Fix42, Compatibility::Standard, true),
        (Version::Fix44, Compatibility::Standard, true),
        (Version::Fixt11, Compatibility::Standard, true),
        (Version::Fix44, Compatibility::QuickFix, false),
        (Version::Fix44, Compatibility::QuickFixJ, false),
    ] {
        let change = |s: &mut SessionSettings| {
            version(s, of);
            s.compatibility = compatibility;
            s.limits.max_message_size = 70_000;
        };
        let logon = connect(&mut side(Role::Initiator, change));
        let mut acceptor = side(Role::Acceptor, change);
        acceptor.connect(0);
        let fields = format!("35=A|49=PEER|56=US|34=1|52={}|98=0|108=30|1137=9|", acceptor.time());
        acceptor.hear(0, &message(of.begin_string(), &fields));
        let answer = acceptor.take(0);
        for logon in [&logon, &answer[0]] {
            assert_eq!(logon.contains("|383=70000|"), sent, "{of:?} {compatibility:?}: {logon}");
            assert_eq!(logon.contains("|383="), sent);
        }
    }
}

// R-LOGON-16
#[test]
fn a_logon_for_tests_is_refused_in_production_and_the_reverse() {
    use TestMessageIndicator::{Any, Production, Test};
    let production = "TestMessageIndicator (464) is Y, and this session is for production";
    let test = "TestMessageIndicator (464) is not Y, and this session is for tests";
    for role in [Role::Acceptor, Role::Initiator] {
        for (setting, field, refused) in [
            (Production, "", None),
            (Production, "464=N|", None),
            (Production, "464=Y|", Some((true, production))),
            (Test, "464=Y|", None),
            (Test, "464=N|", Some((false, test))),
            (Test, "", Some((false, test))),
            (Any, "464=Y|", None),
            (Any, "", None),
        ] {
            let mut side = side(role, |s| s.validation.test_message_indicator = setting);
            let logon = if role == Role::Initiator { connect(&mut side) } else { String::new() };
            let out = match role {
                Role::Acceptor => side.log_on(0, 1, field),
                Role::Initiator => side.say(0, &format!("35=A|34=1|98=0|108=30|{field}")),
            };
            let Some((is_test, text)) = refused else {
                let ours = if role == Role::Initiator { &logon } else { &out[0] };
                assert_eq!(ours.contains("|464=Y|"), setting == Test, "{ours}");
                assert_eq!(kinds(&out), if role == Role::Acceptor { "A" } else { "" }, "{setting:?} {field}");
                continue;
            };
            assert_eq!(kinds(&out), "5", "{setting:?} {field}: {out:?}");
            assert!(out[0].contains(&format!("|58={text}|")), "{out:?}");
            let end = SessionEnd::PeerMisbehaved(Misbehavior::TestMessageIndicator { is_test });
            assert_eq!(side.disconnect(0), Some(end));
            assert_eq!(numbers(&side).0, 1, "a Logon that is refused uses no number");
        }
    }
}

/// Logs on with message 3 where 7 is expected.
fn too_low(side: &mut Side, role: Role) -> String {
    match role {
        Role::Acceptor => kinds(&side.log_on(0, 3, "")),
        Role::Initiator => {
            connect(side);
            kinds(&side.say(0, "35=A|34=3|98=0|108=30|"))
        }
    }
}

// R-LOGON-19
#[test]
fn a_logon_with_a_number_that_is_too_low_is_tolerated_never_once_or_always() {
    use TooLowAtLogon::{Accepted, AcceptedOnce, Refused};
    for role in [Role::Acceptor, Role::Initiator] {
        let accepted = if role == Role::Acceptor { "A" } else { "" };
        for (setting, results) in
            [(Refused, ["5", "5"]), (AcceptedOnce, [accepted, "5"]), (Accepted, [accepted, accepted])]
        {
            let mut side = side(role, |s| s.reset.tolerate_low_msg_seq_num_at_logon = setting);
            set(&mut side, 7, 1);
            for result in results {
                assert_eq!(too_low(&mut side, role), result, "{role:?} {setting:?}");
                side.disconnect(0);
                if result == "5" {
                    assert_eq!(numbers(&side).0, if results[0] == "5" { 7 } else { 9 });
                } else {
                    assert_eq!(numbers(&side).0, 4);
                    side.connect(0);
                    side.take(0);
                    // Four more messages, so that the next Logon is too low again.
                    side.say(0, "35=A|34=4|98=0|108=30|");
                    for seq in 5..9 {
                        side.say(0, &format!("35=0|34={seq}|"));
                    }
                    side.disconnect(0);
                }
            }
        }
    }
}

#[test]
fn tolerance_is_recorded_and_an_operators_change_grants_it_again() {
    let mut side =
        side(Role::Acceptor, |s| s.reset.tolerate_low_msg_seq_num_at_logon = TooLowAtLogon::AcceptedOnce);
    set(&mut side, 7, 1);
    assert_eq!(too_low(&mut side, Role::Acceptor), "A");
    let note = "the counterparty's Logon has MsgSeqNum 3, and 7 was expected: it may have lost its store";
    assert!(side.app.notes.iter().any(|n| n == note), "{:?}", side.app.notes);
    assert_eq!(kinds(&side.say(0, "35=D|34=4|11=new|")), "8");
    side.disconnect(0);
    assert_eq!(too_low(&mut side, Role::Acceptor), "5");
    side.disconnect(0);
    set(&mut side, 7, 9);
    assert_eq!(too_low(&mut side, Role::Acceptor), "A");
    // What was recorded is what a restart continues with.
    side.disconnect(0);
    side.close(0).unwrap();
    let settings = settings("PEER", Role::Acceptor);
    side.open(settings).unwrap();
    assert_eq!(side.numbers(1).unwrap().0, SeqNum(4));
}

#[test]
fn zero_is_never_tolerated() {
    let mut side =
        side(Role::Acceptor, |s| s.reset.tolerate_low_msg_seq_num_at_logon = TooLowAtLogon::Accepted);
    assert_eq!(kinds(&side.log_on(0, 0, "")), "5");
}

#[test]
fn a_logon_has_the_other_fields_of_its_settings_in_their_order() {
    let fields = |s: &mut SessionSettings| {
        s.logon.others = vec![(5002, "b".into()), (58, "x y".into()), (5001, "".into())];
    };
    let logon = connect(&mut side(Role::Initiator, fields));
    assert!(logon.contains("|5002=b|58=x y|10="), "{logon}");
    assert!(side(Role::Acceptor, fields).log_on(0, 1, "")[0].contains("|5002=b|58=x y|10="));
    let mut secret = LogonFields::default();
    secret.others = vec![(9001, "geheim".into())];
    let text = format!("{secret:?}");
    assert!(!text.contains("geheim"), "{text}");
}

#[test]
fn a_logon_has_no_other_field_that_the_session_writes_itself() {
    // The last five cannot follow the fields that the session writes: header and data fields.
    for tag in [0, 8, 34, 49, 96, 98, 108, 141, 383, 464, 554, 789, 50, 57, 142, 115, 91] {
        assert!(!LogonFields::can_have(tag), "{tag}");
        let settings = settings("PEER", Role::Acceptor).with(|s| s.logon.others = vec![(tag, "1".into())]);
        let opened = Side::new(vec![]).open(settings);
        assert!(matches!(opened, Err(OpenError::Setting(_))), "{tag}");
    }
}

// R-REJECT-20
#[test]
fn a_message_that_is_rejected_ends_the_connection_and_resets_if_the_settings_say_so() {
    let invalid = "35=4|34=2|123=Y|36=x|";
    for (disconnect, reset, after) in
        [(false, false, (3, 3)), (true, false, (3, 4)), (false, true, (1, 1)), (true, true, (1, 1))]
    {
        let mut side = side(Role::Acceptor, |s| {
            (s.validation.disconnect_on_error, s.reset.reset_on_error) = (disconnect, reset);
        });
        side.log_on(0, 1, "");
        let out = side.say(0, invalid);
        if !disconnect && !reset {
            assert_eq!(kinds(&out), "3");
            assert_eq!(numbers(&side), after);
            continue;
        }
        assert_eq!(kinds(&out), "35", "{out:?}");
        assert!(out[1].contains("|58=Incorrect data format for value|"), "{out:?}");
        let end = SessionEnd::PeerMisbehaved(Misbehavior::InvalidMessage { seq: SeqNum(2) });
        assert_eq!(side.disconnect(0), Some(end));
        assert_eq!(numbers(&side), after);
    }
}

// R-RESET-11
#[test]
fn reset_on_error_resets_after_any_mistake_that_ends_a_session_but_not_for_a_stranger() {
    let on = |s: &mut SessionSettings| s.reset.reset_on_error = true;
    let mut logged_on = side(Role::Acceptor, on);
    logged_on.log_on(0, 1, "");
    assert_eq!(kinds(&logged_on.say(0, "35=0|34=1|")), "5");
    logged_on.disconnect(0);
    assert_eq!(numbers(&logged_on), (1, 1));
    let mut stranger = side(Role::Acceptor, on);
    set(&mut stranger, 7, 9);
    assert_eq!(kinds(&stranger.log_on(0, 3, "")), "5");
    stranger.disconnect(0);
    assert_eq!(numbers(&stranger), (7, 10));
    // A lost connection is no mistake.
    let mut lost = side(Role::Acceptor, on);
    lost.log_on(0, 1, "");
    lost.disconnect(0);
    assert_eq!(numbers(&lost), (2, 2));
}

// R-SEND-4
#[test]
fn each_message_says_what_was_processed_before_it_if_the_session_wants_that() {
    let mut side = side(Role::Acceptor, |s| s.resend.enable_last_msg_seq_num_processed = true);
    assert!(side.log_on(0, 1, "")[0].contains("|369=1|"));
    assert!(side.say(0, "35=1|34=2|112=x|")[0].contains("|369=2|"));
    assert!(side.say(0, "35=D|34=3|11=order|")[0].contains("|369=3|"));
    side.say(0, "35=0|34=4|");
    let again = side.say(0, "35=2|34=5|7=3|16=0|");
    assert_eq!(kinds(&again), "8");
    assert!(again[0].contains("|43=Y|") && again[0].contains("|369=5|"), "{again:?}");
    assert_eq!(again[0].matches("|369=").count(), 1, "{again:?}");
    let mut off = self::side(Role::Acceptor, |_| {});
    assert!(!off.log_on(0, 1, "")[0].contains("|369="));
}

// R-SEND-4
#[test]
fn what_was_processed_is_not_said_before_fix_4_2_which_does_not_have_the_field() {
    for (begin_string, has_it) in [
        (Version::Fix40, false),
        (Version::Fix41, false),
        (Version::Fix42, true),
        (Version::Fix43, true),
        (Version::Fixt11, true),
    ] {
        let mut side = side(Role::Initiator, |s| {
            version(s, begin_string);
            s.resend.enable_last_msg_seq_num_processed = true;
        });
        assert_eq!(connect(&mut side).contains("|369=0|"), has_it, "{begin_string}");
    }
}

// R-LOGON-13
#[test]
fn an_acceptor_that_decides_heart_bt_int_answers_with_its_own_and_beats_by_it() {
    for theirs in ["1", "30", "9000"] {
        let mut side = side(Role::Acceptor, |s| {
            s.timing.heart_bt_int = 20;
            s.timing.heart_bt_int_override = true;
        });
        side.connect(0);
        let answer = side.say(0, &format!("35=A|34=1|98=0|108={theirs}|"));
        assert!(kinds(&answer) == "A" && answer[0].contains("|108=20|"), "{answer:?}");
        side.pass(Duration::from_secs(19));
        side.wake(0, &[]);
        assert_eq!(side.take(0).len(), 0);
        side.pass(Duration::from_secs(1));
        side.wake(0, &[]);
        assert_eq!(kinds(&side.take(0)), "0");
    }
    let mut initiator = side(Role::Initiator, |s| s.timing.heart_bt_int_override = true);
    connect(&mut initiator);
    assert_eq!(kinds(&initiator.say(0, "35=A|34=1|98=0|108=4000|")), "5", "it is of acceptors");
}

// R-LOGON-13
#[test]
fn an_answer_without_heartbeats_leaves_the_initiator_with_its_own() {
    let mut side = side(Role::Initiator, |s| s.timing.heart_bt_int = 20);
    connect(&mut side);
    assert_eq!(kinds(&side.say(0, "35=A|34=1|98=0|108=0|")), "");
    assert!(side.app.notes.iter().any(|note| note.contains("stays 20 s here")), "{:?}", side.app.notes);
    side.pass(Duration::from_secs(20));
    side.wake(0, &[]);
    assert_eq!(kinds(&side.take(0)), "0");
    side.pass(Duration::from_secs(4));
    side.wake(0, &[]);
    assert_eq!(kinds(&side.take(0)), "1");
}

// R-LOGON-23
#[test]
fn a_reject_that_answers_our_logon_ends_the_connection_with_its_text_and_is_counted_if_it_is_due() {
    for (seq, next_in) in [(1, 2), (7, 1)] {
        let mut side = side(Role::Initiator, |_| {});
        connect(&mut side);
        assert_eq!(kinds(&side.say(0, &format!("35=3|34={seq}|45=1|58=98 is\u{7} wrong|"))), "");
        let end = side.disconnect(0).unwrap();
        assert_eq!(end.to_string(), "the counterparty refused the logon: 98 is\\x07 wrong");
        assert_eq!(numbers(&side).0, next_in);
    }
    let mut side = side(Role::Initiator, |_| {});
    connect(&mut side);
    side.say(0, "35=3|34=1|45=1|");
    let end = side.disconnect(0).unwrap().to_string();
    assert_eq!(end, "the counterparty refused the logon without saying why; read its log");
}

// R-LOGON-23
#[test]
fn session_status_of_the_answer_to_our_logon_is_told_in_words() {
    let fixt = |s: &mut SessionSettings| version(s, Version::Fixt11);
    let answer = |side: &Side, seq: u64, fields: &str| {
        let (msg_type, rest) = fields.split_once('|').unwrap();
        let fields = format!("{msg_type}|49=PEER|56=US|34={seq}|52={}|{rest}", side.time());
        message("FIXT.1.1", &fields)
    };
    for (status, note) in [
        ("0", None),
        (
            "2",
            Some("the counterparty's Logon says: session password due to expire (SessionStatus 1409 is 2)"),
        ),
        ("99", None),
    ] {
        let mut side = side(Role::Initiator, fixt);
        connect(&mut side);
        let bytes = answer(&side, 1, &format!("35=A|98=0|108=30|1137=9|1409={status}|"));
        side.hear(0, &bytes);
        assert_eq!(side.app.notes.last().map(String::as_str), note, "{status}");
    }
    for (fields, text) in [
        ("35=5|1409=6|", "account locked (SessionStatus 1409 is 6)"),
        ("35=5|1409=5|58=try again|", "try again"),
    ] {
        let mut side = side(Role::Initiator, fixt);
        connect(&mut side);
        let bytes = answer(&side, 1, fields);
        side.hear(0, &bytes);
        let end = side.disconnect(0).unwrap().to_string();
        assert_eq!(end, format!("the counterparty refused the logon: {text}"));
    }
}

#[test]
fn settings_with_a_logon_value_that_no_field_can_have_are_refused_when_the_session_is_opened() {
    type Wrong = fn(&mut LogonFields);
    let wrong: [Wrong; 3] = [
        |logon| logon.username = "a\x01b".into(),
        |logon| logon.password = "a\x01b".into(),
        |logon| logon.new_password = "a\x01b".into(),
    ];
    for wrong in wrong {
        let settings = settings("A", Role::Initiator).with(|s| wrong(&mut s.logon));
        let error = Side::new(vec![]).open(settings).unwrap_err();
        assert!(error.to_string().contains("SOH"), "{error}");
    }
}
