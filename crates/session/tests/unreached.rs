//! Messages that do not reach the counterparty are reported to the application.

use fixbolt_codec::SeqNum;
use fixbolt_conformance::testing::{Side, kinds, settings};
use fixbolt_session::{Role, SessionSettings, Unreached, WhileLoggedOff};

fn logged_on(change: fn(&mut SessionSettings)) -> Side {
    Side::new(vec![settings("PEER", Role::Acceptor).with(change)]).logged_on()
}

const RESET: &str = "35=A|34=1|98=0|108=30|141=Y|";

#[test]
fn a_kept_message_that_is_larger_than_the_counterparty_accepts_is_reported_as_not_reached() {
    let mut settings = settings("PEER", Role::Initiator);
    settings.resend.while_logged_off = WhileLoggedOff::Keep;
    let mut side = Side::new(vec![settings]);
    side.connect(0);
    side.send(0, "large", 3000).unwrap();
    side.send(0, "small", 1).unwrap();
    assert_eq!(kinds(&side.say(0, "35=A|34=1|98=0|108=30|383=1000|")), "A4D");
    assert_eq!(side.app.unreached, [(SeqNum(2), SeqNum(2), Unreached::TooLarge { limit: 1000 })]);
}

#[test]
fn messages_kept_while_logged_off_that_a_reset_loses_are_reported_as_not_reached() {
    let keeping = settings("PEER", Role::Acceptor).with(|s| s.resend.while_logged_off = WhileLoggedOff::Keep);
    let mut side = Side::new(vec![keeping]);
    for _ in 0..3 {
        side.send(0, "kept", 1).unwrap();
    }
    assert_eq!(kinds(&side.log_on(0, 1, "141=Y|")), "A");
    assert_eq!(side.app.unreached, [(SeqNum(1), SeqNum(3), Unreached::Reset)]);
    side.disconnect(0);
    // Messages that the counterparty has requested are not lost.
    side.send(0, "kept", 1).unwrap();
    assert_eq!(kinds(&side.log_on(0, 2, "")), "A");
    assert_eq!(kinds(&side.say(0, "35=2|34=3|7=2|16=0|")), "D4");
    assert_eq!(kinds(&side.say(0, RESET)), "A");
    assert_eq!(side.app.unreached.len(), 1);
}

#[test]
fn messages_that_no_socket_accepted_are_reported_before_a_store_ends_with_its_session() {
    let mut side = logged_on(|settings| settings.resend.while_logged_off = WhileLoggedOff::Keep);
    side.take(0);
    for id in ["sent", "written"] {
        side.send(0, id, 1).unwrap();
        if id == "sent" {
            side.take(0);
        }
    }
    side.disconnect(0);
    side.send(0, "kept", 1).unwrap();
    for _ in 0..2 {
        side.end_waiting(0);
        assert_eq!(side.app.unreached, [(SeqNum(3), SeqNum(4), Unreached::NotStored)]);
    }
    side.close(0).unwrap();
}

// R-RESET-12
#[test]
fn messages_that_no_socket_accepted_are_reported_as_not_reached_after_a_reset() {
    let mut side = logged_on(|settings| settings.reset.reset_on_disconnect = true);
    side.take(0);
    side.send(0, "a", 1).unwrap();
    side.take(0);
    for id in ["b", "c"] {
        side.send(0, id, 1).unwrap();
    }
    side.disconnect(0);
    assert_eq!(side.app.unreached, [(SeqNum(3), SeqNum(4), Unreached::Reset)]);
}
