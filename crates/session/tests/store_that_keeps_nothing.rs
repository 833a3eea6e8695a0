//! Sessions on a store that keeps no messages.

use fixbolt_codec::SeqNum;
use fixbolt_conformance::testing::{App, BEGIN, Side, kinds, settings};
use fixbolt_journal::NoStore;
use fixbolt_session::store::Store;
use fixbolt_session::{OpenError, ResendAnswer, Role, SessionSettings, Unreached, WhileLoggedOff};

fn over(store: Box<dyn Store>, change: fn(&mut SessionSettings)) -> Side {
    let mut settings = settings("PEER", Role::Acceptor);
    change(&mut settings);
    Side::on_store(store, vec![settings])
}

fn orders(side: &mut Side, numbers: std::ops::RangeInclusive<u64>) -> String {
    numbers.map(|seq| kinds(&side.say(0, &format!("35=D|34={seq}|11=ord{seq}|")))).collect()
}

// R-RESEND-6
#[test]
fn with_a_store_that_keeps_nothing_a_gap_is_filled_at_once_and_delays_nothing() {
    let mut side =
        over(Box::new(NoStore::new()), |settings| settings.limits.outbound_buffer_size = 16 * 1024);
    side.log_on(0, 1, "");
    // A replay would wait for room: the counterparty reads nothing.
    while side.send(0, "x", 900).is_ok() {}
    let bytes = side.wire(0, "35=2|34=2|7=1|16=0|");
    side.hear(0, &bytes);
    assert!(!side.is_replaying(0));
    assert!(side.send(0, "after", 1).is_ok());
    let out = side.take(0);
    let [.., filled, after] = &out[..] else { panic!("{out:?}") };
    assert!(filled.contains("|35=4|") && after.contains("|11=after|"), "{filled} {after}");
}

#[test]
fn a_store_that_keeps_nothing_cannot_keep_messages_while_logged_off() {
    let mut settings = settings("PEER", Role::Acceptor);
    settings.resend.while_logged_off = WhileLoggedOff::Keep;
    let opened = Side::on_store(Box::new(NoStore::new()), vec![]).open(settings);
    assert!(matches!(opened, Err(OpenError::Setting(_))));
}

#[test]
fn an_answer_after_our_logout_that_the_store_does_not_keep_is_reported_as_not_reached() {
    let mut side = over(Box::new(NoStore::new()), |_| {});
    side.log_on(0, 1, "");
    side.log_out(0, "").unwrap();
    assert_eq!(orders(&mut side, 2..=2), "5");
    assert_eq!(side.app.unreached, [(SeqNum(3), SeqNum(3), Unreached::NotStored)]);
}

#[test]
fn a_logout_after_a_replay_is_sent_even_if_the_store_keeps_nothing() {
    let mut side =
        over(Box::new(NoStore::new()), |settings| settings.limits.outbound_buffer_size = 16 * 1024);
    side.log_on(0, 1, "");
    while side.send(0, "x", 900).is_ok() {}
    let bytes = side.wire(0, "35=2|34=2|7=1|16=0|");
    side.hear(0, &bytes);
    side.log_out(0, "").unwrap();
    let out = side.take(0);
    assert!(out.last().unwrap().contains("|35=5|"), "{:?}", out.last());
}

// R-GAP-6
#[test]
fn with_a_store_that_keeps_nothing_our_request_follows_the_answer_to_one_from_after_a_gap() {
    let mut side = over(Box::new(NoStore::new()), |_| {});
    side.log_on(0, 1, "");
    let out = side.say(0, "35=2|34=5|7=1|16=0|");
    assert_eq!(kinds(&out), "42", "{out:?}");
    assert!(out[1].contains("|7=2|"), "{out:?}");
    assert_eq!(side.app.unreached, [(SeqNum(1), SeqNum(1), Unreached::NotStored)], "only the Logon");
}

// R-NEXT-2
#[test]
fn with_a_store_that_keeps_nothing_a_gap_before_the_logon_is_requested_after_what_the_logon_requests() {
    let mut side = over(Box::new(NoStore::new()), |_| {});
    side.log_on(0, 1, "");
    side.disconnect(0);
    let out = side.log_on(0, 5, "789=1|");
    assert_eq!(kinds(&out), "A42", "{out:?}");
    assert!(out[2].contains("|7=2|"), "{out:?}");
}

// R-RESEND-5
#[test]
fn with_a_store_that_keeps_nothing_the_application_hears_what_it_has_gap_filled() {
    let app = App { resend_request: Box::new(|_, _| Ok(ResendAnswer::GapFill)), ..App::default() };
    let settings = settings("PEER", Role::Acceptor);
    let mut side = Side::begin(BEGIN, app, Box::new(NoStore::new()), vec![settings]);
    side.log_on(0, 1, "");
    side.disconnect(0);
    let out = side.log_on(0, 2, "789=1|");
    assert_eq!(kinds(&out), "A4", "{out:?}");
    let told = side.app.events.iter().filter(|event| event.contains("has them gap-filled")).count();
    assert_eq!(told, 1, "{:?}", side.app.events);
}
