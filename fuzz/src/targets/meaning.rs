//! What a message means: the validator and the typed views over whatever the index lets through.
//!
//! The validator gives the same answer twice and to everyone who asks, each violation about a field that is there; every field
//! has a place in the structure. And where it finds nothing wrong, every typed getter reads its field.

use std::ops::ControlFlow;
use std::sync::OnceLock;

use fixbolt::messages::typed::{FieldError, FieldErrorKind};
use fixbolt::messages::{fix42, fix44};
use fixbolt_codec::{Frame, Framer, Index, Message, Span, ValueError};
use fixbolt_dictionary::{Action, Check, Policy, RefTag, Validator, Violation};

pub(super) fn run(data: &[u8]) {
    let (mut tags, mut spans) = (vec![0; 512], vec![Span::default(); 512]);
    let mut framer = Framer::new(64 * 1024);
    let mut at = 0;
    loop {
        match framer.next(&data[at..]) {
            Frame::Message(framed) => {
                at += framed.bytes().len();
                if let Ok(message) = Index::new(&mut tags, &mut spans).build(framed) {
                    look(&message);
                }
            }
            Frame::Garbled { bytes, .. } if !bytes.is_empty() => at += bytes.len(),
            Frame::Garbled { .. } => {}
            Frame::Incomplete { .. } => return,
        }
    }
}

fn look(message: &Message<'_>) {
    static BOTH: OnceLock<[Validator; 2]> = OnceLock::new();
    let both =
        BOTH.get_or_init(|| [fixbolt_dictionary::fix42(), fixbolt_dictionary::fix44()].map(Validator::new));
    // Also with the other version's dictionary: nobody promises that a message meets its own.
    for (version, validator) in both.iter().enumerate() {
        let violations = violations(validator, message);
        if violations.is_empty() {
            assert_eq!(message.fault(), None, "a message that breaks the syntax is valid");
            match version {
                0 => typed_42(*message),
                _ => typed_44(*message),
            }
        }
    }
}

fn violations<'m>(validator: &Validator, message: &Message<'m>) -> Vec<Violation<'m>> {
    let mut scratch = validator.scratch();
    let mut all = |policy: &Policy| {
        let mut found = Vec::new();
        validator.for_each(message, policy, &mut scratch, |violation| {
            found.push(violation);
            assert!(found.len() < 10_000, "violations without end");
            ControlFlow::Continue(())
        });
        found
    };
    let found = all(&Policy::standard());
    assert_eq!(found, all(&Policy::standard()), "the second look at a message differs from the first");
    assert_eq!(all(&Policy::ignoring()), [], "everything is ignored, and something is found");
    let warned =
        Check::ALL.iter().fold(Policy::standard(), |policy, check| policy.with(*check, Action::Warn));
    let as_warnings: Vec<_> = found.iter().map(|v| Violation { action: Action::Warn, ..*v }).collect();
    assert_eq!(all(&warned), as_warnings, "a warning says something else than a rejection");
    assert_eq!(validator.first_reject(message, &Policy::standard(), &mut scratch), found.first().copied());
    let _ = validator.first_reject(message, &Policy::quickfix(), &mut scratch);
    for violation in &found {
        if let Some(position) = violation.position {
            assert!(position < message.len(), "{violation:?} is about no field");
            if let RefTag::Number(tag) = violation.tag {
                assert_eq!(message.tags()[position], tag, "{violation:?} names another field");
            }
        }
    }
    let places = validator.structure(message, &mut scratch);
    assert!(places.iter().map(|place| place.position).eq(0..message.len()), "not every field has a place");
    found
}

/// A value that the validator has passed. A number may have more digits than its type holds and be right all the same; then
/// nothing is read.
fn read<T>(field: &str, value: Result<T, FieldError>) -> Option<T> {
    match value {
        Ok(value) => Some(value),
        Err(FieldError { kind: FieldErrorKind::Value(ValueError::OutOfRange), .. }) => None,
        Err(error) => panic!("valid, and {field} is not read: {error:?}"),
    }
}

macro_rules! read_all {
    ($view:ident: $($field:ident)+) => { $( let _ = read(stringify!($field), $view.$field()); )+ };
}

fn typed_44(message: Message<'_>) {
    use fix44::components::*;
    if let Ok(order) = fix44::NewOrderSingle::read(message) {
        read_all!(order: cl_ord_id side transact_time ord_type symbol security_type maturity_month_year order_qty price
            stop_px currency time_in_force account exec_inst locate_reqd text encoded_text expire_time settl_date);
        let parties = order.party_ids().expect("a valid group is read");
        assert_eq!(parties.clone().count(), parties.len(), "another number of parties than announced");
        for party in parties {
            read_all!(party: party_id party_id_source party_role);
            for sub in party.party_sub_ids().expect("a valid group is read") {
                read_all!(sub: party_sub_id party_sub_id_type);
            }
        }
    }
    if let Ok(report) = fix44::ExecutionReport::read(message) {
        read_all!(report: order_id exec_id exec_type ord_status side leaves_qty cum_qty avg_px cl_ord_id last_px last_qty
            transact_time ord_rej_reason text);
        for party in report.party_ids().expect("a valid group is read") {
            read_all!(party: party_id party_id_source party_role);
        }
    }
    if let Ok(news) = fix44::News::read(message) {
        read_all!(news: headline raw_data raw_data_length);
    }
}

fn typed_42(message: Message<'_>) {
    if let Ok(order) = fix42::OrderSingle::read(message) {
        read_all!(order: cl_ord_id handl_inst symbol side transact_time ord_type order_qty price stop_px currency
            time_in_force account exec_inst text encoded_text);
    }
    if let Ok(report) = fix42::ExecutionReport::read(message) {
        read_all!(report: order_id exec_id exec_trans_type exec_type ord_status symbol side leaves_qty cum_qty avg_px
            cl_ord_id last_px last_shares transact_time text);
    }
}
