//! Breaks every message of every version in 29 ways: each gets the right reason and tag, or passes
//! if the policy ignores the check.

use std::collections::{HashMap, HashSet};

use fixbolt_dictionary::sample::{SampleField, Samples};
use fixbolt_dictionary::{Action, Check, DataType, Policy, Validator, Violation};

use crate::broken::{Expected, Mutation, Subject};
use crate::{versions, with_message};

/// Large samples are broken in only a few ways, which change from message to message, so that the
/// tests of all versions take seconds.
const fn every(bytes: usize) -> usize {
    match bytes {
        0..4_000 => 1,
        4_000..20_000 => 8,
        _ => 29,
    }
}

#[test]
fn a_message_broken_in_one_place_gets_the_reason_and_tag_of_that_place() {
    let mut ways: HashSet<Mutation> = HashSet::new();
    for dictionary in versions() {
        let dictionary = &dictionary;
        let validator = Validator::new(dictionary);
        let mut scratch = validator.scratch();
        let (samples, pairs) = (Samples::new(dictionary, 0), dictionary.length_data_pairs());
        let mut done: HashMap<Mutation, usize> = HashMap::new();
        for (at, message) in dictionary.messages().iter().enumerate() {
            for sample in [samples.minimal(message), samples.full(message)] {
                let of_identifier = |field: &SampleField| {
                    dictionary.field(field.tag).is_some_and(|field| field.kind == DataType::Xid)
                };
                let has_identifiers = sample.fields().iter().any(of_identifier);
                let every = every(sample.bytes().len());
                let subject = Subject::new(dictionary, message, sample);
                for (n, mutation) in Mutation::ALL.into_iter().enumerate() {
                    if (n + at) % every != 0 {
                        continue;
                    }
                    let Some((bytes, expected)) = subject.broken(mutation, at * 7 + n) else { continue };
                    *done.entry(mutation).or_default() += 1;
                    let about = || {
                        format!(
                            "{mutation:?} {} of {}: {}",
                            message.name,
                            dictionary.version().name,
                            bytes.escape_ascii()
                        )
                    };
                    let Expected { check, reason, tag, follow } = expected;
                    // If fields are missing or duplicated, so are identifiers and what refers to
                    // them.
                    let identifiers = has_identifiers.then_some(Check::DataType);
                    let follow: Vec<Check> = follow.iter().copied().chain(identifiers).collect();
                    let only = Policy::ignoring().with(check, Action::Reject);
                    let warned = Policy::standard().with(check, Action::Warn);
                    let without = follow
                        .iter()
                        .fold(Policy::standard().with(check, Action::Ignore), |policy, check| {
                            policy.with(*check, Action::Ignore)
                        });
                    with_message(&bytes, &pairs, |message| {
                        let told = |violation: &Violation<'_>| {
                            (violation.check, violation.reason.value(), violation.tag.to_string())
                        };
                        let first = validator.first_reject(message, &Policy::standard(), &mut scratch);
                        let alone = validator.all(message, &only, &mut scratch);
                        let alone: Vec<_> = alone.iter().map(told).collect();
                        let expected = (check, reason, tag);
                        assert_eq!(first.as_ref().map(told).as_ref(), Some(&expected), "{}", about());
                        assert_eq!(alone, [expected], "{}", about());
                        assert_eq!(validator.all(message, &without, &mut scratch), [], "{}", about());
                        if follow.is_empty() {
                            assert_eq!(
                                validator.first_reject(message, &warned, &mut scratch),
                                None,
                                "{}",
                                about()
                            );
                        }
                    })
                    .unwrap_or_else(|error| panic!("{error}: {}", about()));
                }
            }
        }
        let times: usize = done.values().sum();
        let name = &dictionary.version().name;
        eprintln!("{name}: {times} broken messages in {} ways", done.len());
        assert!(done.len() >= 20, "{name} has messages for {} ways only", done.len());
        ways.extend(done.into_keys());
    }
    // Old versions have no types for sequence numbers or lengths, and no messages for the ways that
    // need them.
    for mutation in Mutation::ALL {
        assert!(ways.contains(&mutation), "no version has a message for {mutation:?}");
    }
}
