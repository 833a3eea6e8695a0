//! Every message that `send` accepts is read back unchanged and is valid: for every message type of
//! a version, with every setter and getter, values of every type, every code, and groups to any
//! depth. A failure names the message and the case, which together reproduce it.

mod place;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use fixbolt_codec::{
    Body, DataFields, EncodeError, EncodeErrorKind, Envelope, Frame, Framer, Index, Memory, Message, MsgType,
    SeqNum, Span, Stamp,
};
use fixbolt_dictionary::{
    Action, Check, Dictionary, Policy, Scratch, Source, Validator, fix42, fix44, fix50sp2, fixt11,
};

use place::{Kind, Place, Round, codes};

/// A message of a version; generated code supplies its functions.
struct Case {
    name: &'static str,
    msg_type: &'static [u8],
    write: for<'b> fn(Memory<'b>, &Place<'_>) -> Result<Body<'b>, EncodeError>,
    read: fn(Message<'_>, &Place<'_>),
}

/// What `fixbolt_codegen::round_trip` generates for a version.
macro_rules! calls {
    ($calls:ident of $version:path) => {
        #[allow(clippy::all, non_snake_case)] // generated; of `hostile.xml`: on__5
        mod $calls {
            use fixbolt_messages::codec;
            use $version as version;

            use crate::Case;
            use crate::place::Place;

            include!(concat!(env!("OUT_DIR"), "/", stringify!($calls), ".rs"));
        }
    };
}
calls!(fix42_calls of fixbolt_messages::fix42);
calls!(fix44_calls of fixbolt_messages::fix44);
calls!(fix50sp2_calls of fixbolt_messages::fix50sp2);
calls!(odd_calls of crate::odd);
calls!(hostile_calls of crate::hostile);

/// The dialect of `odd.xml`.
#[allow(clippy::all, dead_code, unreachable_pub)] // generated: names and structure come from the dictionary
mod odd {
    include!(concat!(env!("OUT_DIR"), "/odd.rs"));
}

/// The dialect of `hostile.xml`.
#[allow(clippy::all, dead_code, unreachable_pub)] // generated: names and structure come from the dictionary
#[allow(non_snake_case)] // as these names are
mod hostile {
    include!(concat!(env!("OUT_DIR"), "/hostile.rs"));
}

/// Rounds of random values for each message, besides those with no values, all values, and
/// mistakes.
const RANDOM_ROUNDS: usize = 12;
const HEADROOM: usize = 300;

/// Memory that all messages of a version share.
struct Bench {
    dictionary: &'static Dictionary,
    validator: Validator,
    scratch: Scratch,
    envelope: Envelope,
    pairs: Vec<(u32, u32)>,
    memory: Vec<u8>,
    tags: Vec<u32>,
    spans: Vec<Span>,
    written: u64,
    largest: usize,
}

impl Bench {
    fn new(dictionary: &'static Dictionary) -> Self {
        let validator = Validator::new(dictionary);
        let begin_string = dictionary.version().begin_string.as_bytes();
        Self {
            dictionary,
            scratch: validator.scratch(),
            validator,
            envelope: Envelope::new(begin_string, b"TRADER", b"VENUE").unwrap(),
            pairs: dictionary.length_data_pairs(),
            memory: vec![0; 4 << 20],
            tags: vec![0; 1 << 18],
            spans: vec![Span::default(); 1 << 18],
            written: 0,
            largest: 0,
        }
    }

    /// Writes a message, reads it back, validates it.
    fn round(&mut self, case: &Case, round: &Round) {
        let place = Place::message(round, case.msg_type);
        let limit = self.memory.len() - 64;
        let body = (case.write)(Memory(&mut self.memory[HEADROOM..limit]), &place);
        let body = match body {
            Ok(body) => body,
            Err(error) => {
                let expected = [EncodeErrorKind::Empty, EncodeErrorKind::Soh];
                assert!(round.has_mistake() && expected.contains(&error.kind), "refused: {error}");
                return;
            }
        };
        assert!(!round.has_mistake(), "a forged or empty value was sent");
        let stamp = Stamp {
            seq: SeqNum(7),
            sending_time: b"20261121-10:00:00.000",
            original: None,
            last_processed: None,
        };
        let (sum, length) = (body.sum, body.bytes.len());
        let msg_type = MsgType::new(case.msg_type);
        assert_eq!(body.msg_type, msg_type);
        let whole =
            self.envelope.seal(&mut self.memory, HEADROOM..HEADROOM + length, msg_type, sum, &stamp).unwrap();
        let Frame::Message(framed) = Framer::new(whole.len()).next(&self.memory[whole]) else {
            panic!("what was written is not a message")
        };
        let data_fields = DataFields::new(&self.pairs);
        let mut index = Index::new(&mut self.tags, &mut self.spans).with_data_fields(&data_fields);
        let message = index.build(framed).unwrap();
        (case.read)(message, &Place::message(round, case.msg_type));

        // A code that the dictionary does not know is accepted by the view and refused by
        // validation.
        let foreign = if round.has_foreign_code() { Action::Ignore } else { Action::Reject };
        let policy = Policy::standard().with(Check::EnumValue, foreign);
        let rejected = self.validator.first_reject(&message, &policy, &mut self.scratch);
        assert!(
            rejected.is_none(),
            "{rejected:?} of {}",
            message.bytes().escape_ascii().to_string().replace("\\x01", "|")
        );
        self.written += 1;
        self.largest = self.largest.max(length);
    }

    /// Runs all rounds of a message and returns the codes that were written.
    fn rounds(&mut self, case: &Case) -> BTreeSet<(u32, usize)> {
        let mut kinds =
            vec![Kind::Required, Kind::Everything { entries: 1 }, Kind::Everything { entries: 2 }];
        kinds.extend((0..RANDOM_ROUNDS).map(|n| Kind::Random { percent: [5, 20, 50][n % 3] }));
        kinds.extend([Kind::Foreign, Kind::Foreign, Kind::Mistakes, Kind::Mistakes]);
        let mut codes = BTreeSet::new();
        for (seed, kind) in (0..).zip(kinds) {
            codes.extend(self.named(case, Round::new(self.dictionary, kind, seed)));
        }
        codes
    }

    fn named(&mut self, case: &Case, round: Round) -> BTreeSet<(u32, usize)> {
        let outcome = catch_unwind(AssertUnwindSafe(|| self.round(case, &round)));
        if let Err(panic) = outcome {
            eprintln!("in {} ({}), {round:?}", case.name, case.msg_type.escape_ascii());
            resume_unwind(panic);
        }
        round.into_codes()
    }

    /// Writes each missing code of the fields that the message has.
    fn missing_codes(&mut self, case: &Case, of: &BTreeSet<u32>, written: &mut BTreeSet<(u32, usize)>) {
        loop {
            let missing = |tag: &u32| {
                let codes = codes(self.dictionary, *tag).count();
                Some((*tag, (0..codes).find(|at| !written.contains(&(*tag, *at)))?))
            };
            let wanted: BTreeMap<u32, usize> = of.iter().filter_map(missing).collect();
            if wanted.is_empty() {
                return;
            }
            let mut round = Round::new(self.dictionary, Kind::Everything { entries: 1 }, 0);
            round.wanted = wanted;
            written.extend(self.named(case, round));
        }
    }
}

fn every_message(dictionary: &'static Dictionary, messages: &[Case]) {
    assert_eq!(messages.len(), dictionary.messages().len());
    let mut bench = Bench::new(dictionary);
    let (mut written, mut tags) = (BTreeSet::new(), Vec::new());
    for case in messages {
        let codes = bench.rounds(case);
        tags.push(codes.iter().map(|(tag, _)| *tag).collect());
        written.extend(codes);
    }
    for (case, tags) in messages.iter().zip(&tags) {
        bench.missing_codes(case, tags, &mut written);
    }
    let Bench { written: sent, largest, .. } = bench;
    println!(
        "{}: {} messages, {sent} sent and read back, the largest of {largest} bytes, {} codes",
        dictionary.version().name,
        messages.len(),
        written.len()
    );
}

#[test]
fn every_message_of_fix42_is_read_back_as_it_was_written() {
    every_message(fix42(), &fix42_calls::MESSAGES);
}

#[test]
fn every_message_of_fix44_is_read_back_as_it_was_written() {
    every_message(fix44(), &fix44_calls::MESSAGES);
}

#[test]
fn every_message_of_fix50sp2_is_read_back_as_it_was_written() {
    let dictionary = fix50sp2().over(fixt11()).unwrap();
    every_message(Box::leak(Box::new(dictionary)), &fix50sp2_calls::MESSAGES);
}

#[test]
fn every_message_of_an_odd_dialect_is_read_back_as_it_was_written() {
    let dictionary = Source::text(include_str!("../../odd.xml")).load().unwrap().dictionary;
    every_message(Box::leak(Box::new(dictionary)), &odd_calls::MESSAGES);
}

#[test]
fn a_field_that_a_group_may_have_as_well_is_refused_after_the_group() {
    let error = |entries: usize, after: bool| {
        let mut memory = [0; 256];
        let sent = odd::Inside::send(Memory(&mut memory), |inside| {
            if !after {
                inside.send_("x");
            }
            let mut pots = inside.pots();
            for _ in 0..entries {
                pots.entry(odd::groups::pots_grp2::Required { pot_id: b"P" });
            }
            if after {
                inside.send_("x");
            }
        });
        sent.err().map(|error| error.kind)
    };
    assert_eq!(error(1, false), None);
    assert_eq!(error(1, true), Some(EncodeErrorKind::AfterGroup));
    // A group without entries is not there.
    assert_eq!(error(0, true), None);
}

#[test]
fn every_message_with_names_that_try_to_break_generated_code_is_read_back_as_it_was_written() {
    let hostile = Source::text(include_str!("../../hostile.xml")).load().unwrap();
    every_message(Box::leak(Box::new(hostile.dictionary)), &hostile_calls::MESSAGES);
}

#[test]
fn a_code_with_any_name_or_value_is_a_constant() {
    use hostile::fields::{Chars, Ints, Texts};
    assert_eq!((Chars::SELF.value(), Chars::SELF.name()), (b'\'', Some("Self")));
    assert_eq!((Chars::BUY_7D.value(), Chars::BUY_23.value()), (b'}', b'#'));
    assert_eq!(
        (Ints::FROM_VALUE.value(), format!("{:?}", Ints::FROM_VALUE)),
        (i64::MIN, "from_value".into())
    );
    assert_eq!((Texts::SELF.value(), Texts::BUY_7B7D.value()), (&b"\""[..], &b"{}"[..]));
    assert_eq!((Texts::NAME.value(), Texts::NAME.name()), ("\u{e9}".as_bytes(), Some("name")));
}
