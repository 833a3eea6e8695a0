//! `View::need`: fields that are optional in the dictionary, but needed by the program.

mod support;

use fixbolt_messages::codec::{FieldError, FieldErrorKind, Tag, ValueError};
use fixbolt_messages::fix44::prelude::*;
use fixbolt_messages::fix44::{ExecutionReport, NewOrderSingle};

use support::text;

const fn missing(tag: u32) -> FieldError {
    FieldError::missing(Tag::new(tag))
}

/// Reads a NewOrderSingle of these fields.
fn order<R>(body: &str, read: impl FnOnce(NewOrderSingle<'_>) -> R) -> R {
    text(b"D", body, |message| read(NewOrderSingle::read(message).unwrap()))
}

#[test]
fn a_field_that_is_there_is_returned_and_an_absent_one_is_named() {
    order("11=A|55=IBM|38=5|", |order| {
        assert_eq!(order.need(|o| o.symbol()), Ok("IBM".into()));
        assert_eq!(order.need(|o| o.order_qty()), Ok(5.into()));
        assert_eq!(order.need(|o| o.price()), Err(missing(44)));
        // In any order, and again.
        assert_eq!(order.need(|o| o.symbol()), Ok("IBM".into()));
        assert_eq!(order.need(|o| o.account()), Err(missing(1)));
        assert_eq!(order.need(|o| o.price()), Err(missing(44)));
    });
}

#[test]
fn an_error_of_the_getter_is_returned() {
    order("11=A|44=x|", |order| {
        let error = FieldError::new(Tag::new(44), FieldErrorKind::Value(ValueError::Format));
        assert_eq!(order.need(|o| o.price()), Err(error));
        assert_eq!(order.need(|o| o.transact_time().map(Some)), Err(missing(60)));
    });
}

#[test]
fn of_several_fields_the_last_one_that_was_not_found_is_named() {
    order("11=A|58=x|", |order| {
        assert_eq!(order.need(|o| Ok(o.symbol()?.or(o.account()?))), Err(missing(1)));
        assert_eq!(order.need(|o| Ok(o.symbol()?.and(o.text()?))), Err(missing(55)));
    });
}

#[test]
fn a_value_that_the_closure_refuses_is_named_though_nothing_was_missing() {
    order("11=A|55=|58=x|", |order| {
        // An earlier missing field does not matter.
        assert_eq!(order.price(), Ok(None));
        assert_eq!(order.need(|o| Ok(o.text()?.filter(|text| text.len() > 1))), Err(missing(58)));
        assert_eq!(order.need(|o| Ok(o.get(Tag::new(1)))), Err(missing(58)));
    });
    // Nothing was looked for in this view at all.
    order("11=A|", |order| assert_eq!(order.need(|_| Ok(None::<()>)), Err(missing(35))));
}

#[test]
fn an_entry_of_a_group_names_its_own_missing_field() {
    let body = "453=2|448=A|447=D|452=1|448=B|452=3|58=x|";
    order(body, |order| {
        let mut parties = order.party_ids().unwrap();
        let (first, second) = (parties.next().unwrap(), parties.next().unwrap());
        assert!(first.need(|party| party.party_id_source()).is_ok());
        assert_eq!(second.need(|party| party.party_id_source()), Err(missing(447)));
        // Nothing found yet in this entry: its first field.
        let again = order.party_ids().unwrap().nth(1).unwrap();
        assert_eq!(again.need(|_| Ok(None::<()>)), Err(missing(448)));
    });
}

#[test]
fn a_header_names_its_own_missing_field() {
    text(b"8", "37=1|", |message| {
        let report = ExecutionReport::read(message).unwrap();
        assert_eq!(report.header().need(|header| header.sender_sub_id()), Err(missing(50)));
    });
}
