//! How the end of a connection says why nobody is logged on: which check of the counterparty's
//! Logon failed, or what the counterparty answered to ours.

use std::sync::Arc;
use std::time::Duration;

use fixbolt_codec::{SeqNum, Tag};
use fixbolt_conformance::testing::{App, Side, message, settings};
use fixbolt_session::schedule::{Edge, Schedule, TimeOfDay, Weekdays, Window, Zone};
use fixbolt_session::{
    AcceptedHeartBtInt, LogonDecision, LogonFault, LogonRefusal, Misbehavior, RefusingAnswer, Role,
    SessionEnd, SessionRejectCode, SessionSettings, TestMessageIndicator,
};

fn side(role: Role, change: impl FnOnce(&mut SessionSettings)) -> Side {
    Side::new(vec![settings("PEER", role).with(change)])
}

/// Returns how the connection ends on which an acceptor gets this message first.
fn refused(change: impl FnOnce(&mut SessionSettings), fields: &str) -> SessionEnd {
    let mut side = side(Role::Acceptor, change);
    side.connect(0);
    side.say(0, fields);
    assert!(side.next(0).close, "{fields}");
    side.disconnect(0).unwrap()
}

fn invalid(fault: LogonFault) -> SessionEnd {
    SessionEnd::PeerMisbehaved(Misbehavior::InvalidLogon(fault))
}

fn field(reason: SessionRejectCode, tag: u32) -> LogonFault {
    LogonFault::Field { reason, tag: Some(Tag::new(tag)) }
}

#[test]
fn the_end_names_the_check_of_the_logon_that_failed() {
    type Change = fn(&mut SessionSettings);
    let plain: Change = |_| {};
    for (change, fields, end) in [
        (plain, "35=A|34=1|98=1|108=30|", invalid(LogonFault::EncryptMethod)),
        (plain, "35=A|34=1|108=30|", invalid(field(SessionRejectCode::REQUIRED_TAG_MISSING, 98))),
        (plain, "35=A|34=1|98=0|", invalid(field(SessionRejectCode::REQUIRED_TAG_MISSING, 108))),
        (plain, "35=A|34=1|98=0|108=-1|", invalid(LogonFault::HeartBtInt)),
        (plain, "35=A|34=1|98=0|108=soon|", invalid(LogonFault::HeartBtInt)),
        (plain, "35=A|34=1|98=0|108=30|383=5|", invalid(LogonFault::MaxMessageSize)),
        (plain, "35=A|34=7|98=0|108=30|141=Y|", invalid(LogonFault::ResetSeqNumFlag)),
        (plain, "35=A|34=1|98=0|108=30|789=x|", invalid(LogonFault::NextExpectedMsgSeqNum)),
        (
            plain,
            "35=A|34=1|98=0|108=30|141=Q|",
            invalid(field(SessionRejectCode::INCORRECT_DATA_FORMAT_FOR_VALUE, 141)),
        ),
        (plain, "35=A|98=0|108=30|", SessionEnd::PeerMisbehaved(Misbehavior::NoMsgSeqNum)),
        (plain, "35=A|34=2x|98=0|108=30|", SessionEnd::PeerMisbehaved(Misbehavior::MalformedMsgSeqNum)),
        (plain, "35=A|34=-1|98=0|108=30|", SessionEnd::PeerMisbehaved(Misbehavior::MalformedMsgSeqNum)),
        (plain, "35=0|34=1|", SessionEnd::PeerMisbehaved(Misbehavior::FirstMessageNotLogon)),
        (
            |s| s.timing.accepted_heart_bt_int = AcceptedHeartBtInt::only(60),
            "35=A|34=1|98=0|108=90|",
            SessionEnd::PeerMisbehaved(Misbehavior::HeartBtInt {
                received: 90,
                accepted: AcceptedHeartBtInt::only(60),
            }),
        ),
        (
            |s| s.validation.test_message_indicator = TestMessageIndicator::Production,
            "35=A|34=1|98=0|108=30|464=Y|",
            SessionEnd::PeerMisbehaved(Misbehavior::TestMessageIndicator { is_test: true }),
        ),
    ] {
        assert_eq!(refused(change, fields), end, "{fields}");
    }
}

#[test]
fn the_end_names_a_logon_that_comes_outside_the_schedule() {
    // 09:00 is the time of the tests.
    let edge = |hour| Edge::new(TimeOfDay::new(hour, 0, 0).unwrap(), Zone::utc());
    let schedule = Schedule::new([Window::daily(Weekdays::ALL, edge(10), edge(11))]);
    let mut side = side(Role::Acceptor, |s| s.schedule = Some(Arc::new(schedule)));
    side.log_on(0, 1, "");
    let end = side.disconnect(0);
    assert!(matches!(end, Some(SessionEnd::OutsideSchedule { next: Some(_) })), "{end:?}");
}

#[test]
fn the_end_names_a_low_number_with_both_numbers() {
    let mut side = side(Role::Acceptor, |_| {});
    side.set_numbers(0, (Some(SeqNum(12)), None), "test").unwrap();
    side.log_on(0, 7, "");
    let too_low = Misbehavior::MsgSeqNumTooLow { expected: SeqNum(12), received: SeqNum(7) };
    assert_eq!(side.disconnect(0), Some(SessionEnd::PeerMisbehaved(too_low)));
}

#[test]
fn the_end_names_a_logon_of_another_counterparty_or_in_another_version() {
    for (role, version, sender, what) in [
        (Role::Acceptor, "FIX.4.4", "OTHER", Misbehavior::CompId),
        (Role::Initiator, "FIX.4.2", "PEER", Misbehavior::BeginString),
    ] {
        let mut side = side(role, |_| {});
        side.connect(0);
        let logon = format!("35=A|34=1|49={sender}|56=US|52={}|98=0|108=30|", side.time());
        side.hear(0, &message(version, &logon));
        assert_eq!(side.disconnect(0), Some(SessionEnd::PeerMisbehaved(what)));
    }
}

#[test]
fn the_end_names_a_sending_time_that_is_none_or_is_too_far_away() {
    let mut side = side(Role::Acceptor, |_| {});
    side.connect(0);
    side.hear(0, &message("FIX.4.4", "35=A|34=1|49=PEER|56=US|98=0|108=30|"));
    assert_eq!(side.disconnect(0), Some(invalid(LogonFault::SendingTime)));
    side.connect(0);
    side.hear(0, &message("FIX.4.4", "35=A|34=1|49=PEER|56=US|52=20250105-09:00:00|98=0|108=30|"));
    let end = side.disconnect(0);
    assert!(matches!(end, Some(SessionEnd::PeerMisbehaved(Misbehavior::SendingTime { .. }))), "{end:?}");
}

#[test]
fn the_end_names_the_refusal_of_the_application() {
    let mut side = Side::with_app(App::default(), vec![settings("PEER", Role::Acceptor)]);
    side.app.logon = Box::new(|_, _| Ok(LogonDecision::refuse("wrong password")));
    side.log_on(0, 1, "554=secret|");
    let end = side.disconnect(0).unwrap();
    assert_eq!(end, SessionEnd::LogonRefused);
    assert!(!format!("{end:?} {end}").contains("secret"));
}

#[test]
fn the_end_names_a_first_message_that_is_garbled_and_a_logon_that_does_not_come() {
    let mut side = side(Role::Acceptor, |_| {});
    side.connect(0);
    side.hear(0, b"8=FIX.4.4\x019=5\x0135=A\x0110=000\x01");
    assert_eq!(side.disconnect(0), Some(invalid(LogonFault::Garbled)));
    side.connect(0);
    side.pass(Duration::from_secs(60));
    side.wake(0, &[]);
    assert_eq!(side.disconnect(0), Some(SessionEnd::LogonTimedOut));
}

/// Returns how the connection ends on which this answers an initiator's Logon.
fn answered(change: impl FnOnce(&mut SessionSettings), answer: &str) -> SessionEnd {
    let mut side = side(Role::Initiator, change);
    side.connect(0);
    side.say(0, answer);
    side.disconnect(0).unwrap()
}

fn refusal(answer: &str) -> LogonRefusal {
    match answered(|_| {}, answer) {
        SessionEnd::LogonRefusedByPeer(refusal) => *refusal,
        end => panic!("{answer}: {end:?}"),
    }
}

// R-LOGON-23
#[test]
fn the_end_has_what_the_counterpartys_logout_or_reject_says() {
    let logout = |status| RefusingAnswer::Logout { status };
    let reject = |reason, tag: Option<u32>| RefusingAnswer::Reject { reason, tag: tag.map(Tag::new) };
    let said = "the counterparty refused the logon";
    for (fields, answer, text, shown) in [
        ("35=5|34=1|58=who?|", logout(None), "who?", ": who?"),
        ("35=5|34=1|1409=5|58=who?|", logout(Some(5)), "who?", ": who?"),
        ("35=5|34=1|1409=6|", logout(Some(6)), "", ": account locked (SessionStatus 1409 is 6)"),
        ("35=5|34=1|1409=123|", logout(Some(123)), "", ": SessionStatus (1409) is 123"),
        ("35=5|34=1|", logout(None), "", " without saying why; read its log"),
        ("35=3|34=1|45=1|58=no\u{7}|", reject(None, None), "no\\x07", ": no\\x07"),
        (
            "35=3|34=1|45=1|371=98|373=5|58=no|",
            reject(Some(5), Some(98)),
            "no",
            ": no (RefTagID 371 is 98, SessionRejectReason 373 is 5)",
        ),
        (
            "35=3|34=1|45=1|371=98|373=5|",
            reject(Some(5), Some(98)),
            "",
            " for this tag (RefTagID 371 is 98, SessionRejectReason 373 is 5)",
        ),
        ("35=3|34=1|45=1|373=123|", reject(Some(123), None), "", ": SessionRejectReason 373 is 123"),
        ("35=3|34=1|45=1|371=98|", reject(None, Some(98)), "", ": RefTagID 371 is 98"),
        ("35=3|34=1|45=1|371=98|58=no|", reject(None, Some(98)), "no", ": no (RefTagID 371 is 98)"),
        ("35=3|34=1|45=1|371=x|", reject(None, None), "", " without saying why; read its log"),
    ] {
        let refusal = refusal(fields);
        assert_eq!((refusal.answer, refusal.text.as_str()), (answer, text), "{fields}");
        assert!(refusal.to_string().starts_with(said), "{fields}: {refusal}");
        assert!(refusal.to_string().ends_with(shown), "{fields}: {refusal}");
    }
}

#[test]
fn a_long_text_of_the_counterparty_is_cut() {
    let long = "x".repeat(5000);
    let refusal = refusal(&format!("35=5|34=1|58={long}|"));
    assert_eq!(refusal.text, format!("{}...", &long[..512]));
    let fits = &long[..512];
    assert_eq!(self::refusal(&format!("35=5|34=1|58={fits}|")).text, fits);
}

#[test]
fn the_end_names_an_answer_that_resets_when_it_should_not_or_the_reverse() {
    let end = answered(|_| {}, "35=A|34=1|98=0|108=30|141=Y|");
    assert_eq!(end, invalid(LogonFault::ResetUnasked));
    for (answer, fault) in [
        ("35=A|34=1|98=0|108=30|", LogonFault::ResetUnanswered),
        ("35=A|34=3|98=0|108=30|141=Y|", LogonFault::ResetSeqNumFlag),
    ] {
        assert_eq!(answered(|s| s.reset.reset_on_logon = true, answer), invalid(fault), "{answer}");
    }
}

#[test]
fn the_end_names_an_answer_that_does_not_come() {
    let mut closed = side(Role::Initiator, |_| {});
    closed.connect(0);
    assert_eq!(closed.disconnect(0), Some(SessionEnd::LogonUnanswered));
    closed.connect(0);
    closed.pass(Duration::from_secs(60));
    closed.wake(0, &[]);
    assert_eq!(closed.disconnect(0), Some(SessionEnd::LogonTimedOut));
}
