//! Sequences of messages through one scratch against the [oracle](super::oracle): most messages
//! have the tags of one before, so that what was learned of that one is used, under another policy
//! or another validator or with another value.
//!
//! `FIXBOLT_ROUNDS` is how much of it is done, `FIXBOLT_SEED` the first of the seeds.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use fixbolt_codec::{DataFields, Message};

use super::oracle;
use super::oracle_tests::{
    Field, Random, VALUES, fields_of, message_of, policies, rounds, some_as_sent, with_message,
};
use super::{Action, Check, Policy, Scratch, Validator};
use crate::model::Dictionary;
use crate::sample::{Samples, framed};
use crate::{Source, fix_latest, fix40, fix41, fix42, fix43, fix44, fix50, fix50sp1, fix50sp2, fixt11};

/// How a message is looked at.
enum Way {
    All,
    FirstReject,
    /// The report breaks at this violation.
    Until(usize),
    Places,
}

/// Compares one message with the oracle. Returns whether its layout was known.
fn compare(
    validator: &Validator,
    scratch: &mut Scratch,
    message: &Message<'_>,
    policy: &Policy,
    way: &Way,
) -> bool {
    let (expected, places) = oracle::walk(&validator.plan, message, policy);
    let about = || format!("{policy:?} {}", message.bytes().escape_ascii());
    let known = validator.knows(message, policy, scratch);
    match *way {
        Way::Places => assert_eq!(validator.places(message, scratch), places, "{}", about()),
        Way::FirstReject => {
            let first = expected.iter().find(|violation| violation.action == Action::Reject);
            assert_eq!(validator.first_reject(message, policy, scratch).as_ref(), first, "{}", about());
        }
        Way::All | Way::Until(_) => {
            let until = if let Way::Until(until) = *way { until } else { usize::MAX };
            let mut found = Vec::new();
            let left = validator.for_each(message, policy, scratch, |violation| {
                found.push(violation);
                if found.len() > until { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            let breaks = expected.len() > until;
            assert_eq!(left, (!breaks).then_some(&*places), "{}", about());
            assert_eq!(found, expected[..if breaks { until + 1 } else { expected.len() }], "{}", about());
        }
    }
    known
}

/// Changes a value of a message: one byte, a count by one, or all of it.
fn change_value(random: &mut Random, fields: &mut [Field], counts: &[Vec<u8>]) {
    let at = 1 + random.below(fields.len() - 1);
    match random.below(4) {
        0 => {
            let is_count = |at: &usize| counts.contains(&fields[*at].0);
            let all: Vec<usize> = (1..fields.len()).filter(is_count).collect();
            if all.is_empty() {
                return;
            }
            let value = &mut fields[*random.of(&all)].1;
            let count =
                std::str::from_utf8(value).ok().and_then(|count| count.parse::<u64>().ok()).unwrap_or(1);
            *value = match random.below(12) {
                0..4 => (count + 1).to_string(),
                4..8 => count.saturating_sub(1).to_string(),
                8 => format!("0{count}"),
                9 => format!("{count:09}"),
                10 => "1000000000".to_string(),
                _ => "99999999999999999999".to_string(),
            }
            .into_bytes();
        }
        1 => fields[at].1 = random.of(&VALUES).to_vec(),
        _ => {
            let value = &mut fields[at].1;
            let byte = *random.of(b"0129AZaz.- \0\x7f\x80\xb0\xff");
            let place = random.below(value.len() + 1);
            match random.below(3) {
                0 => value.insert(place, byte),
                1 if place < value.len() => drop(value.remove(place)),
                _ if place < value.len() => value[place] = byte,
                _ => value.push(byte),
            }
        }
    }
}

/// Changes the tags of a message.
fn change_tags(random: &mut Random, fields: &mut Vec<Field>, others: &[Field]) {
    if fields.len() < 4 {
        return;
    }
    let (at, another) = (1 + random.below(fields.len() - 1), 1 + random.below(fields.len() - 1));
    match random.below(6) {
        0 => fields.swap(at, another),
        1 => drop(fields.remove(at)),
        2 => fields.insert(another, fields[at].clone()),
        3 => fields.insert(at, random.of(others).clone()),
        4 => {
            let to = fields.len().min(at + 1 + random.below(8));
            let run = fields[at..to].to_vec();
            fields.splice(at..at, run);
        }
        // A field of the header after the body.
        _ => {
            let field = fields.remove(1 + random.below(4.min(fields.len() - 1)));
            fields.push(field);
        }
    }
}

/// Returns how many messages were compared, and how many of them had a known layout.
fn compare_sequence(dictionaries: &[&Dictionary], random: &mut Random, steps: usize) -> (usize, usize) {
    let mut validators: Vec<Validator> = dictionaries.iter().map(|one| Validator::new(one)).collect();
    validators.push(some_as_sent(&validators[0], random));
    validators.push(validators[0].clone());
    let begin_string = &dictionaries[0].version().begin_string;
    let mut scratch = validators[0].scratch();
    validators.iter().for_each(|other| scratch.grow_to(&other.scratch()));
    let counts: Vec<Vec<u8>> = validators[0].count_tags().map(|tag| tag.to_string().into_bytes()).collect();
    let samples = Samples::new(dictionaries[0], random.below(4));
    let read = |bytes: Vec<u8>| with_message(&bytes, validators[0].data_fields(), fields_of);
    let messages = dictionaries[0].messages();
    let originals: Vec<Vec<Field>> = (0..4)
        .flat_map(|_| {
            let message = random.of(messages);
            [samples.minimal(message).bytes(), samples.full(message).bytes()]
        })
        .filter(|bytes| bytes.len() < 6_000)
        .filter_map(read)
        .filter(|fields| fields.len() > 3)
        .collect();
    if originals.is_empty() {
        return (0, 0);
    }
    let others = originals.concat();
    let mut pool: Vec<Policy> = (0..2).flat_map(|_| policies(random)).collect();
    pool.push(Policy::tolerant());
    pool.push(Policy::tolerant().with(Check::GroupAsSent, Action::Warn));
    pool.push(Policy::standard().with(Check::DataLength, Action::Ignore));
    let mut current = originals.clone();
    let (mut compared, mut known) = (0, 0);
    let (mut policy, mut validator, mut at) = (pool[0], 0, 0);
    for _ in 0..steps {
        if random.one_of(4) {
            at = random.below(current.len());
        }
        if random.one_of(6) {
            policy = *random.of(&pool);
        }
        if random.one_of(12) {
            validator = random.below(validators.len());
        }
        match random.below(12) {
            0 => current[at] = originals[at].clone(),
            1 => change_tags(random, &mut current[at], &others),
            _ => {}
        }
        let mut fields = current[at].clone();
        for _ in 0..random.below(3) {
            change_value(random, &mut fields, &counts);
        }
        let way = match random.below(8) {
            0 => Way::FirstReject,
            1 => Way::Until(random.below(3)),
            2 => Way::Places,
            _ => Way::All,
        };
        let bytes = message_of(begin_string, &fields);
        let fields =
            if random.one_of(16) { DataFields::STANDARD } else { validators[validator].data_fields() };
        let outcome = with_message(&bytes, fields, |message| {
            compare(&validators[validator], &mut scratch, message, &policy, &way)
        });
        compared += usize::from(outcome.is_some());
        known += usize::from(outcome == Some(true));
    }
    (compared, known)
}

#[test]
fn messages_in_sequence_are_judged_as_by_the_oracle_whatever_was_learned_before() {
    let over = |version: &Dictionary| version.over(fixt11()).expect("it fits its transport");
    let over = [fix50(), fix50sp1(), fix50sp2(), fix_latest()].map(over);
    let mut all = vec![fix40(), fix41(), fix42(), fix43(), fix44()];
    all.extend(&over);
    let seed = std::env::var("FIXBOLT_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0xA11);
    let (mut compared, mut known) = (0, 0);
    for round in 0..rounds() {
        for (n, dictionary) in all.iter().enumerate() {
            let mut random = Random(seed + (round * 16 + n) as u64 * 0x9E37_79B9);
            let other = all[(n + round + 1) % all.len()];
            let (more, learned) = compare_sequence(&[dictionary, other], &mut random, 400);
            (compared, known) = (compared + more, known + learned);
        }
    }
    assert!(known * 5 > compared && compared > 2_000 * rounds(), "{known} of {compared} were known");
}

/// Compares a message, framed from its body, under a policy, twice so that what was learned the
/// first time is used.
fn compare_twice(validator: &Validator, scratch: &mut Scratch, bytes: &[u8], policy: &Policy) -> usize {
    with_message(bytes, validator.data_fields(), |message| {
        compare(validator, scratch, message, policy, &Way::All);
        compare(validator, scratch, message, policy, &Way::All);
        oracle::walk(&validator.plan, message, policy).0.len()
    })
    .expect("a message")
}

#[test]
fn messages_of_any_number_of_fields_are_judged_as_by_the_oracle() {
    let validator = Validator::new(fix44());
    let mut scratch = validator.scratch();
    let order = |rest: &str| framed("FIX.4.4", format!("{ORDER}{rest}").as_bytes());
    let parts: [(&str, &str); 8] = [
        // Entries, with a count that is right.
        ("453", "448=P\x01447=D\x01452=1\x01"),
        // Each entry begins with another member, and lacks the one that is required.
        ("454", "456=1\x01"),
        // The same field again and again; fields that no one knows; values that are wrong.
        ("", "58=x\x01"),
        ("", "5001=x\x01"),
        ("", "4=x\x01"),
        ("", "44=x\x01"),
        // Groups without entries, and groups inside groups.
        ("", "453=0\x01"),
        ("453", "448=P\x01447=D\x01452=1\x01802=1\x01523=s\x01803=1\x01"),
    ];
    // Of 16 and 32 bits there are more, too.
    for times in [5, 30, 42, 43, 100, 300, 5_000, 70_000] {
        for (count_tag, part) in parts.iter().take(if times > 5_000 { 5 } else { 8 }) {
            let count = if count_tag.is_empty() { String::new() } else { format!("{count_tag}={times}\x01") };
            for bytes in [
                order(&format!("{count}{}", part.repeat(times))),
                order(&format!("{count}{}44=x\x0158=\x0154=1\x01", part.repeat(times))),
            ] {
                for policy in [Policy::standard(), Policy::tolerant(), Policy::quickfix()] {
                    compare_twice(&validator, &mut scratch, &bytes, &policy);
                    if times > 300 {
                        break;
                    }
                }
            }
        }
    }
    // Nothing of them is left.
    assert_eq!(compare_twice(&validator, &mut scratch, &order(""), &Policy::standard()), 0);
}

const ORDER: &str = "35=D\x0149=A\x0156=B\x0134=2\x0152=20240229-12:00:00\x0111=x\x0155=IBM\x0154=1\x01\
    60=20240229-12:00:00\x0140=1\x0138=1\x01";

#[test]
fn a_length_that_identifies_something_is_compared_with_all_others_in_each_message() {
    let text = "<fix type='FIX' major='4' minor='4'><header><field name='BeginString' required='Y'/>
        <field name='BodyLength' required='Y'/><field name='MsgType' required='Y'/></header>
        <messages><message name='M' msgtype='U1' msgcat='app'>
        <field name='RawDataLength' required='N'/><field name='RawData' required='N'/>
        <field name='XmlDataLen' required='N'/><field name='XmlData' required='N'/></message></messages>
        <trailer><field name='CheckSum' required='Y'/></trailer><components/>
        <fields><field number='8' name='BeginString' type='STRING'/>
        <field number='9' name='BodyLength' type='LENGTH'/><field number='35' name='MsgType' type='STRING'/>
        <field number='10' name='CheckSum' type='STRING'/><field number='95' name='RawDataLength' type='XID'/>
        <field number='96' name='RawData' type='DATA'/><field number='212' name='XmlDataLen' type='XID'/>
        <field number='213' name='XmlData' type='DATA'/></fields></fix>";
    let loaded = Source::text(text).load().expect("it is a dictionary");
    let validator = Validator::new(&loaded.dictionary);
    let mut scratch = validator.scratch();
    for (body, wrong) in [
        ("95=3\x0196=abc\x01212=4\x01213=abcd\x01", 0),
        ("95=3\x0196=abc\x01212=3\x01213=abc\x01", 1),
        ("95=3\x0196=abc\x01212=2\x01213=ab\x01", 0),
        ("95=2\x0196=ab\x01212=2\x01213=ab\x01", 1),
    ] {
        let bytes = framed("FIX.4.4", format!("35=U1\x01{body}").as_bytes());
        for policy in [Policy::standard(), Policy::tolerant(), Policy::quickfix()] {
            let found = compare_twice(&validator, &mut scratch, &bytes, &policy);
            assert!(policy != Policy::standard() || found == wrong, "{body}");
        }
    }
}

#[test]
fn a_length_is_compared_in_a_known_layout_even_if_the_index_does_not_know_its_data_field() {
    let validator = Validator::new(fix44());
    let mut scratch = validator.scratch();
    for (policy, makes) in
        [(Policy::standard(), true), (Policy::standard().with(Check::DataLength, Action::Ignore), false)]
    {
        for (length, wrong) in [("3", 0), ("3", 0), ("4", 1), ("2", 1), ("3", 0)] {
            let body = format!(
                "35=B\x0149=A\x0156=B\x0134=2\x0152=20240229-12:00:00\x01148=news\x0133=1\x0158=x\x01\
                 95={length}\x0196=abc\x01"
            );
            let bytes = framed("FIX.4.4", body.as_bytes());
            let found = with_message(&bytes, &DataFields::new(&[]), |message| {
                assert_eq!(message.fault(), None);
                compare(&validator, &mut scratch, message, &policy, &Way::All);
                oracle::walk(&validator.plan, message, &policy).0.len()
            });
            assert_eq!(found, Some(if makes { wrong } else { 0 }), "{length}");
        }
    }
}

#[test]
fn reading_places_and_ignoring_everything_learn_like_validation() {
    let validator = Validator::new(fix44());
    let (order, ignoring) = (framed("FIX.4.4", ORDER.as_bytes()), Policy::ignoring());
    for reads_places in [true, false] {
        let mut scratch = validator.scratch();
        with_message(&order, validator.data_fields(), |message| {
            let places = oracle::walk(&validator.plan, message, &ignoring).1;
            for known in [false, true, true] {
                assert_eq!(validator.knows(message, &ignoring, &scratch), known);
                if reads_places {
                    assert_eq!(validator.places(message, &mut scratch), places);
                } else {
                    let none = |violation| panic!("{violation:?}");
                    assert_eq!(validator.for_each(message, &ignoring, &mut scratch, none), Some(&*places));
                }
            }
            assert!(!validator.knows(message, &Policy::standard(), &scratch), "nothing was checked");
        });
    }
}

#[test]
fn a_report_that_panics_leaves_nothing_for_the_next_message() {
    let validator = Validator::new(fix44());
    let mut scratch = validator.scratch();
    let (right, wrong) = (
        framed("FIX.4.4", ORDER.as_bytes()),
        framed("FIX.4.4", ORDER.replace("54=1", "54=?").replace("38=1", "5001=1").as_bytes()),
    );
    for (known, policy) in [(false, Policy::standard()), (true, Policy::tolerant())] {
        if known {
            compare_twice(&validator, &mut scratch, &wrong, &policy);
        }
        with_message(&wrong, validator.data_fields(), |message| {
            assert_eq!(validator.knows(message, &policy, &scratch), known);
            let panics = AssertUnwindSafe(|| {
                validator
                    .for_each(message, &policy, &mut scratch, |_| std::panic::resume_unwind(Box::new(0)));
            });
            assert!(catch_unwind(panics).is_err());
        });
        compare_twice(&validator, &mut scratch, &wrong, &policy);
        assert_eq!(compare_twice(&validator, &mut scratch, &right, &policy), 0);
    }
}

#[test]
fn a_code_of_one_byte_that_is_usual_is_right_under_every_policy() {
    let latest = fix_latest().over(fixt11()).expect("it fits its transport");
    let mut random = Random(0xB17E);
    for dictionary in [fix40(), fix42(), fix44(), fix50sp2(), fixt11(), &latest] {
        let plan = Validator::new(dictionary).plan;
        let policies: Vec<Policy> = (0..4).flat_map(|_| policies(&mut random)).collect();
        let mut usual = 0;
        for field in dictionary.fields() {
            let slot = plan.slot(field.tag).expect("it is defined");
            for byte in (0..=u8::MAX).filter(|byte| plan.has_usual_code(slot, *byte)) {
                usual += 1;
                for policy in &policies {
                    let found = plan.value_is_right(field.tag, slot, &[byte], policy);
                    assert_eq!(found, Ok(()), "{} {byte}", field.name);
                }
            }
        }
        assert!(usual > 10, "{usual}");
    }
}
