//! Valid messages that nobody has seen before: made from a dictionary when the benchmark starts.
//!
//! Types, fields, their order where the standard leaves it open, and values are random. An engine
//! cannot be tuned to them as to messages that are always the same.
//!
//! Each message is checked by [`oracle`] before it is used: it reads the bytes by the dictionary's
//! definition, as slowly as it likes, and shares no code with the codec or the validator.

pub mod oracle;

use fixbolt_dictionary::sample::{SampleField, Samples};
use fixbolt_dictionary::{DataType, Dictionary, MessageDef};
use fixbolt_workloads::random::Random;

/// A message has at most this many fields.
pub const FIELDS: usize = 120;
/// A repeating group has at most this many fields, with all entries.
const GROUP: usize = 24;
/// Header fields that may be added to any message.
const HEADER: [u32; 9] = [50, 57, 115, 116, 128, 129, 142, 143, 144];
/// The characters of texts.
const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ abcdefghijklmnopqrstuvwxyz-0123456789";

/// Makes messages of a dictionary.
#[derive(Debug)]
pub struct Generator<'d> {
    dictionary: &'d Dictionary,
    types: Vec<&'d MessageDef>,
    random: Random,
}

/// Fields that stay together: one, a data field with its length, or a group with its entries.
type Unit = Vec<SampleField>;

impl<'d> Generator<'d> {
    /// Creates the messages of a seed.
    #[must_use]
    pub fn new(dictionary: &'d Dictionary, seed: u64) -> Self {
        let types = dictionary.messages().iter().filter(|message| !message.is_admin()).collect();
        Self { dictionary, types, random: Random::of(seed, dictionary.version().begin_string.as_bytes()) }
    }

    /// Returns the next message, of any type that is not of the session layer.
    ///
    /// # Errors
    /// Returns what the oracle says if it refuses one message after another.
    pub fn message(&mut self) -> Result<Vec<u8>, String> {
        let types = self.types.len() as u64;
        self.accepted(&[], |random, types_of| types_of[(random.next() % types) as usize])
    }

    /// Returns the next message of this type; it has the fields of `with`.
    ///
    /// # Errors
    /// Returns what the oracle says if it refuses one message after another, or that there is no
    /// such type.
    pub fn message_of(&mut self, msg_type: &str, with: &[u32]) -> Result<Vec<u8>, String> {
        let known = self.dictionary.message(msg_type.as_bytes());
        let of = known.ok_or_else(|| format!("there is no message of type {msg_type}"))?;
        self.accepted(with, |_, _| of)
    }

    fn accepted(
        &mut self,
        with: &[u32],
        choose: impl Fn(&mut Random, &[&'d MessageDef]) -> &'d MessageDef,
    ) -> Result<Vec<u8>, String> {
        let mut refused = String::new();
        // Groups whose members follow each other can be read in two ways; such a message is not
        // used.
        for _ in 0..1_000 {
            let of = choose(&mut self.random, &self.types);
            let bytes = self.made(of, with);
            match oracle::fields(self.dictionary, &bytes) {
                Ok(fields) if fields.len() <= FIELDS => return Ok(bytes),
                Ok(fields) => refused = format!("it has {} fields", fields.len()),
                Err(reason) => refused = reason,
            }
        }
        Err(format!("1,000 generated messages are not usable; the last one: {refused}"))
    }

    fn made(&mut self, of: &MessageDef, with: &[u32]) -> Vec<u8> {
        let samples = Samples::new(self.dictionary, (self.random.next() % 64) as usize);
        let (least, full) = (samples.minimal(of), samples.full(of));
        let share = self.random.between(5, 60);
        let (mut header, mut singles, mut groups) = (Vec::new(), Vec::new(), Vec::new());
        let mut has: Vec<u32> = Vec::new();
        for unit in units(least.fields()) {
            has.push(unit[0].tag);
            self.sort(unit, &mut header, &mut singles, &mut groups);
        }
        for unit in units(full.fields()) {
            let tag = unit[0].tag;
            let in_header = unit[0].section == fixbolt_codec::Section::Header;
            let in_trailer = unit[0].section == fixbolt_codec::Section::Trailer;
            let wanted = with.contains(&tag)
                || self.random.between(1, 100) <= if unit[0].counts.is_some() { share / 4 } else { share };
            let fits = unit.len() <= GROUP && !in_trailer && (!in_header || HEADER.contains(&tag));
            if wanted && fits && !has.contains(&tag) {
                let unit = self.thinned(unit);
                self.sort(unit, &mut header, &mut singles, &mut groups);
            }
        }
        // MsgType must be the first one.
        let msg_type = header.remove(0);
        self.shuffle(&mut header);
        self.shuffle(&mut singles);
        self.shuffle(&mut groups);
        let mut body = Vec::new();
        for mut field in [vec![msg_type], header, singles, groups].concat().concat() {
            self.revalue(&mut field);
            field.write_to(&mut body);
        }
        whole(self.dictionary, &body)
    }

    fn sort(&self, unit: Unit, header: &mut Vec<Unit>, singles: &mut Vec<Unit>, groups: &mut Vec<Unit>) {
        if unit[0].section == fixbolt_codec::Section::Header {
            header.push(unit);
        } else if unit[0].counts.is_some() {
            groups.push(unit);
        } else {
            singles.push(unit);
        }
    }

    /// Removes some of the optional fields of a group's entries, but not the first of an entry,
    /// counts and data.
    fn thinned(&mut self, unit: Unit) -> Unit {
        let mut first = None;
        let keep = |(at, field): (usize, SampleField)| {
            let begins = first != Some(field.entry);
            first = Some(field.entry);
            let fixed =
                at == 0 || begins || field.required || field.counts.is_some() || field.is_data_or_length;
            (fixed || self.random.next().is_multiple_of(2)).then_some(field)
        };
        unit.into_iter().enumerate().filter_map(keep).collect()
    }

    fn shuffle(&mut self, units: &mut [Unit]) {
        for last in (1..units.len()).rev() {
            units.swap(last, self.random.between(0, last as u64) as usize);
        }
    }

    /// Replaces the value of a field without codes by a random one of its type.
    fn revalue(&mut self, field: &mut SampleField) {
        let Some(def) = self.dictionary.field(field.tag) else { return };
        let fixed = field.counts.is_some() || field.is_data_or_length || def.codes.is_some();
        if fixed || matches!(field.tag, 35 | 1128) {
            return;
        }
        let random = &mut self.random;
        let value = match def.kind {
            DataType::Int | DataType::SeqNum => below(random, 30).to_string(),
            DataType::Float | DataType::Qty | DataType::Price | DataType::Amt | DataType::Percentage => {
                let (whole, scale) = (below(random, 24), random.between(0, 4));
                let part = random.between(0, 9_999);
                if scale == 0 {
                    whole.to_string()
                } else {
                    format!("{whole}.{:01$}", part % 10u64.pow(scale as u32), scale as usize)
                }
            }
            DataType::String => text(random),
            DataType::UtcTimestamp => {
                let fraction = [String::new(), format!(".{:03}", random.between(0, 999))];
                format!("{}-{}{}", date(random), time(random), fraction[(random.next() % 2) as usize])
            }
            DataType::UtcDateOnly | DataType::LocalMktDate => date(random),
            DataType::UtcTimeOnly => time(random),
            _ => return,
        };
        field.value = value.into_bytes();
    }
}

/// Returns a number of at most this many bits, as often a short one as a long one.
fn below(random: &mut Random, bits: u64) -> u64 {
    let bits = random.between(1, bits);
    random.between(1, 1 << bits)
}

fn text(random: &mut Random) -> String {
    let length = random.between(1, 20);
    let inner: String =
        (0..length).map(|_| char::from(LETTERS[(random.next() % LETTERS.len() as u64) as usize])).collect();
    format!("{}{}", char::from(LETTERS[(random.next() % 26) as usize]), inner.trim_end())
}

fn date(random: &mut Random) -> String {
    format!("20{}{:02}{:02}", random.between(10, 39), random.between(1, 12), random.between(1, 28))
}

fn time(random: &mut Random) -> String {
    format!("{:02}:{:02}:{:02}", random.between(0, 23), random.between(0, 59), random.between(0, 59))
}

/// Returns the fields of a sample in units.
fn units(fields: &[SampleField]) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    for field in fields {
        // A data field with the length before it, or the first field of a pair alone.
        let joins = field.is_data_or_length
            && units.last().is_some_and(|unit| unit.len() == 1 && unit[0].is_data_or_length);
        match units.last_mut() {
            Some(unit) if field.entry.is_some() || joins => unit.push(field.clone()),
            _ => units.push(vec![field.clone()]),
        }
    }
    units
}

/// Returns the whole message, with BodyLength and CheckSum by the definition.
fn whole(dictionary: &Dictionary, body: &[u8]) -> Vec<u8> {
    let begin_string = &dictionary.version().begin_string;
    let mut message = format!("8={begin_string}\u{1}9={}\u{1}", body.len()).into_bytes();
    message.extend_from_slice(body);
    let sum = message.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    message.extend_from_slice(format!("10={sum:03}\u{1}").as_bytes());
    message
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixbolt_dictionary::{fix42, fix44};
    use std::collections::BTreeSet;

    #[test]
    fn messages_repeat_with_their_seed_and_are_of_many_types_and_orders() {
        for dictionary in [fix42(), fix44()] {
            let ring = |seed| -> Vec<Vec<u8>> {
                let mut generator = Generator::new(dictionary, seed);
                (0..64).map(|_| generator.message().unwrap()).collect()
            };
            let (one, same, other) = (ring(7), ring(7), ring(8));
            assert_eq!(one, same);
            assert_ne!(one, other);
            let tags = |bytes: &Vec<u8>| -> Vec<u32> {
                oracle::fields(dictionary, bytes).unwrap().iter().map(|field| field.tag).collect()
            };
            assert_eq!(one.iter().map(tags).collect::<BTreeSet<_>>().len(), 64, "no two have the same tags");
            let types: BTreeSet<Vec<u8>> = one
                .iter()
                .map(|bytes| oracle::fields(dictionary, bytes).unwrap()[2].value.to_vec())
                .collect();
            assert!(types.len() > 20, "{types:?}");
        }
    }

    #[test]
    fn a_message_of_a_type_has_the_fields_that_are_asked_for() {
        let mut generator = Generator::new(fix44(), 3);
        for _ in 0..64 {
            let bytes = generator.message_of("D", &[38, 44, 55]).unwrap();
            let fields = oracle::fields(fix44(), &bytes).unwrap();
            assert_eq!(fields[2].value, b"D");
            for tag in [11, 38, 40, 44, 54, 55, 60] {
                assert!(fields.iter().any(|field| field.tag == tag), "{tag}");
            }
        }
        assert!(generator.message_of("nothing", &[]).is_err());
    }

    #[test]
    fn validation_finds_nothing_wrong_with_them() {
        use fixbolt_codec::{Index, Span};
        use fixbolt_dictionary::{Policy, Validator};
        for dictionary in [fix42(), fix44()] {
            let validator = Validator::new(dictionary);
            let mut scratch = validator.scratch();
            for seed in 0..8 {
                let mut generator = Generator::new(dictionary, seed);
                for _ in 0..64 {
                    let bytes = generator.message().unwrap();
                    let (mut tags, mut spans) = ([0; 160], [Span::default(); 160]);
                    let mut index = Index::new(&mut tags, &mut spans);
                    let message = fixbolt_workloads::wire::read(&mut index, &bytes).unwrap();
                    let found = validator.all(&message, &Policy::standard(), &mut scratch);
                    assert!(found.is_empty(), "seed {seed}: {found:?} in {}", bytes.escape_ascii());
                }
            }
        }
    }
}
