//! What a scratch has learned changes no result: a used scratch and a new one return the same.

use fixbolt_dictionary::{
    Action, Check, Dictionary, Policy, Scratch, Source, Validator, fix42, fix44, sample::Samples,
};

use crate::broken::{Mutation, Subject};
use crate::loading::load;
use crate::with_message;

/// Messages of several sessions that share a scratch.
const POLICIES: [Policy; 4] = [
    Policy::standard(),
    Policy::quickfix(),
    Policy::standard().with(Check::DataType, Action::Ignore),
    Policy::standard().with(Check::EnumValue, Action::Warn).with(Check::GroupCount, Action::Ignore),
];

/// Compares under every policy, each message twice so that what was learned the first time is used
/// the second time. Returns how many were valid.
fn agree(validator: &Validator, pairs: &[(u32, u32)], warm: &mut Scratch, bytes: &[u8]) -> usize {
    let mut right = 0;
    for policy in POLICIES.iter().chain(&POLICIES) {
        let compared = with_message(bytes, pairs, |message| {
            let expected = validator.all(message, policy, &mut validator.scratch());
            let found = validator.all(message, policy, warm);
            assert_eq!(found, expected, "{}", bytes.escape_ascii());
            right += usize::from(found.is_empty());
        });
        // A data field that does not end where its length says: not a message.
        if compared.is_err() {
            return 0;
        }
    }
    right
}

fn check(dictionary: &Dictionary) -> usize {
    let validator = Validator::new(dictionary);
    let mut warm = validator.scratch();
    let (samples, pairs) = (Samples::new(dictionary, 0), dictionary.length_data_pairs());
    let mut right = 0;
    for (at, message) in dictionary.messages().iter().enumerate() {
        let both = [samples.minimal(message), samples.full(message)];
        for sample in both.into_iter().filter(|sample| sample.bytes().len() < 3_000) {
            let bytes = sample.bytes();
            let again = |validator: &Validator, warm: &mut Scratch| agree(validator, &pairs, warm, &bytes);
            right += again(&validator, &mut warm);
            // The same tags with other values: the layout is known.
            let fields: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == 1).collect();
            let begin_string = std::str::from_utf8(&fields[0][2..fields[0].len() - 1]).expect("it is ASCII");
            for place in (3..fields.len() - 1).filter(|place| (place + at) % 3 == 0) {
                let Some(equals) = fields[place].iter().position(|byte| *byte == b'=') else { continue };
                let tag = &fields[place][..=equals];
                let values = [&b"0"[..], b"2", b"Z", b"-1", b"20240229", b"ZZ Z", b"1.5"];
                let value = [tag, values[(place * 5 + at) % values.len()], b"\x01"].concat();
                let body =
                    [&fields[2..place].concat()[..], &value, &fields[place + 1..fields.len() - 1].concat()];
                let changed = fixbolt_dictionary::sample::framed(begin_string, &body.concat());
                right += agree(&validator, &pairs, &mut warm, &changed);
            }
            let subject = Subject::new(dictionary, message, sample);
            for (n, mutation) in Mutation::ALL.into_iter().enumerate().filter(|(n, _)| (n + at) % 3 == 0) {
                if let Some((broken, _)) = subject.broken(mutation, at * 7 + n) {
                    right += agree(&validator, &pairs, &mut warm, &broken);
                }
            }
            right += again(&validator, &mut warm);
        }
    }
    right
}

#[test]
fn a_scratch_that_has_learned_and_a_new_one_return_the_same() {
    for dictionary in [fix42(), fix44()] {
        let right = check(dictionary);
        assert!(right > 1000, "only {right} were right, and so could be learned");
    }
}

#[test]
fn what_was_learned_with_one_validator_is_not_used_with_another() {
    // A venue that requires HandlInst in every order: the scopes of both have the same numbers.
    let text = "<fix extends='FIX.4.4'>
        <messages>
        <message name='NewOrderSingle' msgtype='D' msgcat='app'><field name='HandlInst' required='Y'/></message>
        </messages></fix>";
    let (dialect, _) = load(Source::text(text)).expect("it is a dictionary");
    let validators = [Validator::new(fix44()), Validator::new(&dialect)];
    let bytes = fixbolt_dictionary::sample::framed(
        "FIX.4.4",
        b"35=D\x0134=2\x0149=A\x0156=B\x0152=20240229-12:00:00\x0111=x\x0155=IBM\x0154=1\x01\
        60=20240229-12:00:00\x0140=1\x0138=1\x01",
    );
    let mut scratch = validators[0].scratch();
    for _ in 0..3 {
        for (validator, missing) in validators.iter().zip([0, 1]) {
            let found = with_message(&bytes, &[], |message| {
                validator.all(message, &Policy::standard(), &mut scratch).len()
            });
            assert_eq!(found, Ok(missing));
        }
    }
}

#[test]
fn a_layout_is_known_once_a_message_had_it_and_asking_changes_nothing() {
    let validator = Validator::new(fix44());
    let (mut scratch, policy) = (validator.scratch(), Policy::standard());
    let samples = Samples::new(fix44(), 0);
    let pairs = fix44().length_data_pairs();
    let (order, report) = (fix44().message(b"D").unwrap(), fix44().message(b"8").unwrap());
    let (order, report) = (samples.minimal(order).bytes(), samples.minimal(report).bytes());
    let mut knows = |bytes: &[u8], check: bool| {
        let mut known = None;
        with_message(bytes, &pairs, |message| {
            known = Some(validator.knows(message, &policy, &scratch));
            assert_eq!(Some(validator.knows(message, &policy, &scratch)), known);
            if check {
                assert_eq!(validator.all(message, &policy, &mut scratch), []);
            }
        })
        .expect("a message");
        known
    };
    assert_eq!(knows(&order, false), Some(false));
    assert_eq!(knows(&order, true), Some(false), "asking does not learn");
    assert_eq!((knows(&order, true), knows(&report, true)), (Some(true), Some(false)));
    // The same tags, but a value that is not valid: it is found without a walk.
    let text = String::from_utf8(order).unwrap();
    let fields = text.split_inclusive('\u{1}').skip(2);
    let broken: String = fields
        .filter(|it| !it.starts_with("10="))
        .map(|it| if it.starts_with("54=") { "54=?\u{1}" } else { it })
        .collect();
    assert_eq!(knows(&fixbolt_dictionary::sample::framed("FIX.4.4", broken.as_bytes()), false), Some(true));
}

#[test]
fn a_message_that_is_warned_of_is_learned_with_its_mistakes_and_one_that_is_rejected_is_not() {
    let validator = Validator::new(fix44());
    let mut scratch = validator.scratch();
    // An entry without PartyID (448), a count that is too high, no OrdType (40), and a field of
    // another message.
    let order = |side: &str| {
        let body = format!(
            "35=D\x0149=A\x0156=B\x0134=2\x0152=20240229-12:00:00\x0111=x\x01453=3\x01447=D\x01448=M\x01\
             447=D\x01452=1\x0155=IBM\x0154={side}\x0160=20240229-12:00:00\x0138=1\x01150=0\x01"
        );
        fixbolt_dictionary::sample::framed("FIX.4.4", body.as_bytes())
    };
    let mut look = |bytes: &[u8], policy: &Policy| {
        with_message(bytes, &[], |message| {
            let known = validator.knows(message, policy, &scratch);
            let first = validator.first_reject(message, policy, &mut scratch).is_some();
            let expected = validator.all(message, policy, &mut validator.scratch());
            let found = if first { expected.clone() } else { validator.all(message, policy, &mut scratch) };
            assert_eq!(found, expected);
            (known, first, found.len())
        })
        .expect("a message")
    };
    let (rejecting, tolerant) = (Policy::standard(), Policy::tolerant());
    let mistakes = look(&order("1"), &rejecting).2;
    assert!(mistakes >= 4, "{mistakes}");
    assert_eq!(look(&order("1"), &rejecting), (false, true, mistakes));
    let warnings = look(&order("1"), &tolerant).2;
    assert_eq!(look(&order("1"), &tolerant), (true, false, warnings));
    // One value more is wrong.
    assert_eq!(look(&order("?"), &tolerant), (true, false, warnings + 1));
    assert_eq!(look(&order("2"), &tolerant), (true, false, warnings));
}

#[test]
fn a_value_is_judged_alike_whatever_was_right_before_it() {
    let validator = Validator::new(fix44());
    let mut warm = validator.scratch();
    let values: [(&str, &[&str]); 7] = [
        ("34", &["7", "07", "0", "00000001", "123456789", "12345678x", "x2", "-1", "1\0", "\0"]),
        (
            "60",
            &[
                "20240229-12:00:05.123",
                "20240229-12:00:06.123456",
                "20240229-12:00:06",
                "20240229-12:00:0",
                "20240229-12:00:0x",
                "20240229-12:00:0.123",
                "20240229-12:00:00.",
                "20240229-12:00:00.12x",
                "20240229-12:00:00.-0",
                "20240229-12:00:00.123456789012",
                "20240229-12:00:00.1234567890123",
                "20240229-12:00:60",
                "20161231-23:59:60",
                "20161231-23:59:61",
                "20161231-23:59:6",
                "20240230-12:00:00",
                "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x00",
            ],
        ),
        ("54", &["1", "2", "11", "\u{1f}", "q", "\u{e9}"]),
        ("15", &["USD", "EUR", "EURO", "USD\0", "usd"]),
        ("167", &["OPT", "FUT", "OPT\0", "OPTS", "1"]),
        ("38", &["100", "1.5", "-1", "1e5", ".", "99999999999999999999999"]),
        ("18", &["1 2", "1", "1  2", "q", "1 2 3 4 5"]),
    ];
    let mut right = 0;
    for (tag, values) in values {
        for (first, second) in
            values.iter().flat_map(|first| values.iter().map(move |second| (first, second)))
        {
            for value in [first, second, first] {
                let mut body = format!("35=D\x0149=A\x0156=B\x01{tag}={value}\x01");
                for (other, usual) in [
                    ("34", "2"),
                    ("52", "20240229-12:00:00"),
                    ("11", "x"),
                    ("55", "IBM"),
                    ("54", "1"),
                    ("60", "20240229-12:00:00"),
                    ("40", "1"),
                    ("38", "1"),
                ] {
                    if other != tag {
                        body += &format!("{other}={usual}\x01");
                    }
                }
                let bytes = fixbolt_dictionary::sample::framed("FIX.4.4", body.as_bytes());
                right += agree(&validator, &[], &mut warm, &bytes);
            }
        }
    }
    assert!(right > 1000, "only {right} were right");
}

#[test]
fn a_length_that_is_no_number_is_found_in_a_known_layout_even_if_lengths_are_not_compared() {
    let validator = Validator::new(fix44());
    let policy = Policy::standard().with(Check::DataLength, Action::Ignore);
    let (mut warm, pairs) = (validator.scratch(), fix44().length_data_pairs());
    for (length, wrong) in [("3", 0), ("3", 0), ("x", 1), ("3", 0), ("", 1), ("-3", 1)] {
        let body = format!(
            "35=B\x0149=A\x0156=B\x0134=2\x0152=20240229-12:00:00\x01148=news\x01358={length}\x01359=abc\x01"
        );
        let bytes = fixbolt_dictionary::sample::framed("FIX.4.4", body.as_bytes());
        let found = with_message(&bytes, &pairs, |message| {
            let expected = validator.all(message, &policy, &mut validator.scratch());
            assert_eq!(validator.all(message, &policy, &mut warm), expected);
            expected.iter().filter(|violation| violation.position == Some(8)).count()
        });
        assert_eq!(found, Ok(wrong), "{length}");
    }
}
