//! The meaning of a message: the validator and the typed views over whatever the index accepts.
//!
//! The validator returns the same result every time, and each violation is about an existing field;
//! every field has a place in the structure. If it finds nothing wrong, every typed getter can read
//! its field. A validator that reads groups as they are sent agrees with it, unless a group begins
//! with another field than the dictionary's.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::OnceLock;

use fixbolt::messages::typed::{FieldError, FieldErrorKind};
use fixbolt::messages::{fix42 as typed_fix42, fix44 as typed_fix44};
use fixbolt_codec::{Frame, Framer, Index, Message, Span, ValueError};
use fixbolt_dictionary::sample::Samples;
use fixbolt_dictionary::{
    Action, Check, Dictionary, EntryOrder, ExpectedOrder, Policy, RefTag, Validator, Violation, fix_latest,
    fix40, fix41, fix42, fix43, fix44, fix50, fix50sp1, fix50sp2, fixt11,
};

use super::messages;

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

/// Returns every version that a message can have, over its transport.
fn validators() -> &'static [Validator] {
    static ALL: OnceLock<Vec<Validator>> = OnceLock::new();
    ALL.get_or_init(|| dictionaries().iter().map(|dictionary| Validator::new(dictionary)).collect())
}

/// Returns the same versions with all groups read as they are sent.
fn as_sent() -> &'static [Validator] {
    static ALL: OnceLock<Vec<Validator>> = OnceLock::new();
    ALL.get_or_init(|| {
        let all = validators().iter().map(|validator| {
            let mut validator = validator.clone();
            let tags: Vec<u32> = validator.count_tags().collect();
            assert!(tags.into_iter().all(|tag| validator.read_as_sent(tag)), "a group is not known");
            validator
        });
        all.collect()
    })
}

fn dictionaries() -> &'static [Cow<'static, Dictionary>] {
    static ALL: OnceLock<Vec<Cow<'static, Dictionary>>> = OnceLock::new();
    ALL.get_or_init(|| {
        let over = |version: &Dictionary| Cow::Owned(version.over(fixt11()).expect("they fit"));
        vec![
            Cow::Borrowed(fix42()),
            Cow::Borrowed(fix44()),
            Cow::Borrowed(fix40()),
            Cow::Borrowed(fix41()),
            Cow::Borrowed(fix43()),
            over(fix50()),
            over(fix50sp1()),
            over(fix50sp2()),
            over(fix_latest()),
        ]
    })
}

/// The positions of FIX.4.2 and FIX.4.4, whose typed views are read.
const FIX42: usize = 0;
const FIX44: usize = 1;

/// Messages of a session, and small and full ones of the commonest types of each version.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = messages();
    for (n, dictionary) in dictionaries().iter().enumerate() {
        let samples = Samples::new(dictionary, n);
        for msg_type in ["D", "8", "A", "B", "G", "R", "S", "V", "W", "X", "J", "AE", "i", "r", "y"] {
            let Some(message) = dictionary.message(msg_type.as_bytes()) else { continue };
            seeds.push(samples.minimal(message).bytes());
            let full = samples.full(message).bytes();
            if full.len() < 4 * 1024 {
                seeds.push(full);
            }
        }
    }
    seeds
}

fn look(message: &Message<'_>) {
    let validators = validators();
    // Its own version and another one: a message need not conform to its own.
    let own =
        dictionaries().iter().position(|d| d.version().begin_string.as_bytes() == message.begin_string());
    let other = usize::from(fixbolt_codec::byte_sum(message.bytes())) % validators.len();
    let also = if own.is_none_or(|own| own < 2) { 1 - own.unwrap_or(0) } else { other };
    let mut asked = vec![own.unwrap_or(FIX42), also, other];
    asked.sort_unstable();
    asked.dedup();
    for version in asked {
        let violations = violations(&validators[version], message);
        agrees_as_sent(&validators[version], &as_sent()[version], message);
        if violations.is_empty() {
            assert_eq!(message.fault(), None, "a message with a syntax error is valid");
            match version {
                FIX42 => typed_42(*message),
                FIX44 => typed_44(*message),
                _ => {}
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
            assert!(found.len() < 10_000, "endless violations");
            ControlFlow::Continue(())
        });
        found
    };
    let found = all(&Policy::standard());
    assert_eq!(found, all(&Policy::standard()), "validating a message twice finds different violations");
    assert_eq!(all(&Policy::ignoring()), [], "a violation is found although every check is ignored");
    let warned =
        Check::ALL.iter().fold(Policy::standard(), |policy, check| policy.with(*check, Action::Warn));
    let as_warnings: Vec<_> = found
        .iter()
        .map(|violation| {
            let mut warning = *violation;
            warning.action = Action::Warn;
            warning
        })
        .collect();
    assert_eq!(all(&warned), as_warnings, "the warnings differ from the rejections");
    assert_eq!(validator.first_reject(message, &Policy::standard(), &mut scratch), found.first().copied());
    let _ = validator.first_reject(message, &Policy::quickfix(), &mut scratch);
    for violation in &found {
        if let Some(position) = violation.position {
            assert!(position < message.len(), "{violation:?} is about a field that does not exist");
            if let RefTag::Number(tag) = violation.tag {
                assert_eq!(message.tags()[position], tag, "{violation:?} names another field");
            }
        }
    }
    let places = validator.places(message, &mut scratch);
    assert_eq!(places.len(), message.len(), "not every field has a place");
    found
}

/// Compares a validator with the one that reads groups as they are sent.
fn agrees_as_sent(ordered: &Validator, as_sent: &Validator, message: &Message<'_>) {
    let policy = Policy::standard().with(Check::GroupOrder, Action::Ignore);
    let read = |validator: &Validator| {
        let (mut found, mut scratch) = (Vec::new(), validator.scratch());
        let places = validator.for_each(message, &policy, &mut scratch, |mut violation| {
            if let Some(order) = &mut violation.order {
                order.as_sent = false;
            }
            found.push(violation);
            ControlFlow::Continue(())
        });
        (places.map(<[_]>::to_vec), found)
    };
    let (expected, found) = (read(ordered), read(as_sent));
    let differs = |order: EntryOrder| order.entry == 1 && matches!(order.expected, ExpectedOrder::First(_));
    if expected.1.iter().filter_map(|violation| violation.order).any(differs) {
        let (entries, fields) = (found.0.map(|places| places.len()), message.len());
        assert_eq!(entries, Some(fields), "not every field has a place");
    } else {
        assert_eq!(found, expected, "a group in the dictionary's order is read in another way as sent");
    }
}

/// Returns a value that the validator has accepted. A valid number may have more digits than its
/// type holds; then nothing is read.
fn read<T>(field: &str, value: Result<T, FieldError>) -> Option<T> {
    match value {
        Ok(value) => Some(value),
        Err(FieldError { kind: FieldErrorKind::Value(ValueError::OutOfRange), .. }) => None,
        Err(error) => panic!("valid, but {field} cannot be read: {error:?}"),
    }
}

macro_rules! read_all {
    ($view:ident: $($field:ident)+) => { $( let _ = read(stringify!($field), $view.$field()); )+ };
}

fn typed_44(message: Message<'_>) {
    use typed_fix44::prelude::*;
    if let Ok(order) = typed_fix44::NewOrderSingle::read(message) {
        read_all!(order: cl_ord_id side transact_time ord_type symbol security_type maturity_month_year order_qty price
            stop_px currency time_in_force account exec_inst locate_reqd text encoded_text expire_time settl_date);
        let parties = order.party_ids().expect("a valid group is read");
        assert_eq!(parties.clone().count(), parties.len(), "the number of parties is not the announced one");
        for party in parties {
            read_all!(party: party_id party_id_source party_role);
            for sub in party.party_sub_ids().expect("a valid group is read") {
                read_all!(sub: party_sub_id party_sub_id_type);
            }
        }
    }
    if let Ok(report) = typed_fix44::ExecutionReport::read(message) {
        read_all!(report: order_id exec_id exec_type ord_status side leaves_qty cum_qty avg_px cl_ord_id last_px last_qty
            transact_time ord_rej_reason text);
        for party in report.party_ids().expect("a valid group is read") {
            read_all!(party: party_id party_id_source party_role);
        }
    }
    if let Ok(news) = typed_fix44::News::read(message) {
        read_all!(news: headline raw_data raw_data_length);
    }
}

fn typed_42(message: Message<'_>) {
    if let Ok(order) = typed_fix42::OrderSingle::read(message) {
        read_all!(order: cl_ord_id handl_inst symbol side transact_time ord_type order_qty price stop_px currency
            time_in_force account exec_inst text encoded_text);
    }
    if let Ok(report) = typed_fix42::ExecutionReport::read(message) {
        read_all!(report: order_id exec_id exec_trans_type exec_type ord_status symbol side leaves_qty cum_qty avg_px
            cl_ord_id last_px last_shares transact_time text);
    }
}
