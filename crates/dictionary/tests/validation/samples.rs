//! A minimal and a full message of every type of every version pass validation.

use fixbolt_dictionary::{Policy, Validator, sample::Samples};

use crate::{versions, with_message};

#[test]
fn minimal_and_full_messages_of_every_type_pass() {
    for dictionary in versions() {
        let dictionary = &dictionary;
        let validator = Validator::new(dictionary);
        let mut scratch = validator.scratch();
        let samples = [Samples::new(dictionary, 0), Samples::new(dictionary, 1)];
        let pairs = dictionary.length_data_pairs();
        let mut largest = 0;
        for (variant, message) in
            (0..2).flat_map(|variant| dictionary.messages().iter().map(move |message| (variant, message)))
        {
            let samples = &samples[variant];
            for sample in [samples.minimal(message), samples.full(message)] {
                let bytes = sample.bytes();
                if variant > 0 && bytes.len() > 20_000 {
                    continue;
                }
                largest = bytes.len().max(largest);
                let found = with_message(&bytes, &pairs, |message| {
                    let all = validator.all(message, &Policy::standard(), &mut scratch);
                    all.iter().map(|violation| format!("{violation:?}")).collect::<Vec<String>>()
                });
                let text = bytes.escape_ascii();
                assert_eq!(found, Ok(vec![]), "{} of {}: {text}", message.name, dictionary.version().name);
            }
        }
        eprintln!(
            "{}: {} messages, the largest of {largest} bytes",
            dictionary.version().name,
            dictionary.messages().len()
        );
    }
}
