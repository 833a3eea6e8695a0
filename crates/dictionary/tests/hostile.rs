//! Whatever a counterparty sends, validation ends, does not panic, and its memory stays bounded.

use std::ops::ControlFlow;
use std::sync::LazyLock;

use fixbolt_codec::{Frame, Framer, Index, Message, Span, byte_sum};
use fixbolt_dictionary::{Action, Check, Policy, Validator, fix42, fix44};
use proptest::prelude::*;

static VALIDATORS: LazyLock<[Validator; 2]> =
    LazyLock::new(|| [Validator::new(fix42()), Validator::new(fix44())]);

const SEEDS: [&str; 4] = [
    "35=D|34=2|49=A|56=B|52=20261121-09:00:00|11=ID|55=IBM|54=1|60=20261121-09:00:00|38=100|40=2|44=57.00|453=2|448=ME|\
     447=D|452=1|802=2|523=S|803=1|523=T|803=2|448=YOU|78=2|79=a|80=1|79=b|80=2|93=3|89=a\x01b|",
    "35=i|34=2|49=A|56=B|52=20261121-09:00:00|117=Q|296=2|302=1|304=2|295=2|299=1|55=A|299=2|55=B|302=2|304=1|295=1|299=3|55=C|",
    "35=AB|34=2|49=A|56=B|52=20261121-09:00:00|11=ID|54=1|60=20261121-09:00:00|40=1|555=2|600=A|604=1|605=X|606=1|539=1|\
     524=P|525=D|538=1|804=1|545=S|805=1|600=B|687=1|",
    "35=W|34=2|49=A|56=B|52=20261121-09:00:00|55=IBM|268=3|269=0|270=1|269=1|270=2|269=2|270=3|627=1|628=H|95=5|96=\x01=\x01=\x01|",
];

/// Fields of a seed, shuffled, duplicated, dropped and damaged.
fn spoilt() -> impl Strategy<Value = Vec<u8>> {
    let fields = (0..SEEDS.len())
        .prop_map(|seed| SEEDS[seed].split('|').map(|field| field.as_bytes().to_vec()).collect::<Vec<_>>());
    let changes = prop::collection::vec(
        (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..6_u8, any::<u8>()),
        0..12,
    );
    (fields, changes).prop_map(|(mut fields, changes)| {
        for (left, right, change, byte) in changes {
            let (left, right) = (left.index(fields.len()), right.index(fields.len()));
            match change {
                // MsgType stays third, so that most messages reach validation.
                0 if left > 0 && right > 0 => fields.swap(left, right),
                1 => fields.insert(right.max(1), fields[left].clone()),
                2 if left > 0 && fields.len() > 2 => drop(fields.remove(left)),
                3 => fields[left].push(byte),
                4 => {
                    if let Some(last) = fields[left].last_mut() {
                        *last = byte;
                    }
                }
                _ => {
                    let value = fields[right].iter().position(|byte| *byte == b'=').map_or(0, |at| at + 1);
                    fields[right].truncate(value);
                    fields[right].extend_from_slice(format!("{}", u32::from(byte) * 16_777_213).as_bytes());
                }
            }
        }
        fields.retain(|field| !field.is_empty());
        fields.iter().flat_map(|field| field.iter().copied().chain([1])).collect()
    })
}

fn framed(fields: &[u8]) -> Vec<u8> {
    let mut bytes = format!("8=FIX.4.4\x019={}\x01", fields.len()).into_bytes();
    bytes.extend_from_slice(fields);
    let sum = byte_sum(&bytes);
    bytes.extend_from_slice(format!("10={sum:03}\x01").as_bytes());
    bytes
}

fn check(message: &Message<'_>, validator: &Validator) -> Result<(), TestCaseError> {
    let mut scratch = validator.scratch();
    let policies = [Policy::standard(), Policy::quickfix(), Policy::ignoring()];
    for policy in &policies {
        let mut found = 0;
        let mut rejected = None;
        validator.for_each(message, policy, &mut scratch, |violation| {
            found += 1;
            if violation.action == Action::Reject && rejected.is_none() {
                rejected = Some(violation);
            }
            ControlFlow::Continue(())
        });
        // A field causes a handful of violations at most; missing fields are bounded by the
        // dictionary for each entry.
        prop_assert!(found <= message.len() * 64 + 1024, "{found}");
        // `first_reject` returns the first of all violations, and a walk does not affect the next
        // one.
        prop_assert_eq!(validator.first_reject(message, policy, &mut scratch), rejected);
        if *policy == Policy::ignoring() {
            prop_assert_eq!(found, 0);
        }
        // An ignored check finds nothing, and the others find what they found.
        let without = policy.with(Check::DataType, Action::Ignore).with(Check::EnumValue, Action::Ignore);
        let mut fewer = 0;
        validator.for_each(message, &without, &mut scratch, |_| {
            fewer += 1;
            ControlFlow::Continue(())
        });
        prop_assert!(fewer <= found);
    }
    prop_assert_eq!(validator.places(message, &mut scratch).len(), message.len());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_message_makes_validation_panic_or_run_forever(fields in spoilt()) {
        let bytes = framed(&fields);
        if let Frame::Message(framed) = Framer::new(1 << 20).next(&bytes) {
            let (mut tags, mut spans) = (vec![0; bytes.len()], vec![Span::default(); bytes.len()]);
            let mut index = Index::new(&mut tags, &mut spans);
            if let Ok(message) = index.build(framed) {
                for validator in &*VALIDATORS {
                    check(&message, validator)?;
                }
            }
        }
    }
}
