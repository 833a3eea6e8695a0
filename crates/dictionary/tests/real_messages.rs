//! Frames and indexes real messages of other engines, reads every field as the type in its
//! dictionary, and writes it back.

#[allow(dead_code, unreachable_pub)] // the codec's tests use the rest
#[path = "../../codec/tests/support/messages.rs"]
mod messages;
mod support;

use std::collections::{BTreeMap, HashMap};

use fixbolt_codec::{
    Char, Country, Currency, Date, DayOfMonth, Decimal, Digits, Exchange, Frame, FrameError, Framer,
    FromField, Index, IndexError, Language, Length, LocalMktTime, Message, MonthYear, MultipleCharValue,
    MultipleStringValue, NumInGroup, SeqNum, Span, Tag, Tenor, Text, ToField, TzTimeOnly, TzTimestamp,
    UtcTimeOnly, UtcTimestamp, ValueError, WideDecimal,
};
use fixbolt_dictionary::{DataType, Dictionary, Source, fix42, fix44};

/// How a value written back compares with the bytes it was read from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Outcome {
    /// Equal to the bytes it was read from.
    Same,
    /// BodyLength (9) was padded with zeros.
    BodyLengthZeros,
    /// Another integer was padded with zeros.
    IntegerZeros,
    /// Not a value of its type: kept as bytes.
    Unparsable,
    /// No dictionary knows the tag: kept as bytes.
    UnknownTag,
}

/// The results of reading, in a form that a test can compare.
#[derive(Default)]
struct Tally {
    messages: usize,
    fields: BTreeMap<Outcome, usize>,
    /// The values that were not written back unchanged, and how often.
    notes: BTreeMap<String, usize>,
}

impl Tally {
    fn add(&mut self, dictionaries: &Dictionaries, message: &Message<'_>) {
        self.messages += 1;
        let dictionaries = dictionaries.of(message);
        for field in message.fields() {
            let tag = field.tag.map_or(0, Tag::number);
            let kind =
                dictionaries.iter().find_map(|dictionary| dictionary.field(tag)).map(|field| field.kind);
            let outcome = round_trip(message.begin_string(), tag, kind, field.value);
            *self.fields.entry(outcome).or_default() += 1;
            if !matches!(outcome, Outcome::Same | Outcome::UnknownTag) {
                *self
                    .notes
                    .entry(format!("{outcome:?} {tag}={}", field.value.escape_ascii()))
                    .or_default() += 1;
            }
        }
    }

    #[track_caller]
    fn is(&self, messages: usize, fields: &[(Outcome, usize)], notes: &[(&str, usize)]) {
        let found: Vec<_> = self.fields.iter().map(|(outcome, count)| (*outcome, *count)).collect();
        let told: Vec<_> = self.notes.iter().map(|(note, times)| (note.as_str(), *times)).collect();
        assert_eq!((self.messages, &found[..], &told[..]), (messages, fields, notes));
    }
}

#[test]
fn padded_numbers_lose_their_zeros_and_nothing_else_changes() {
    let mut message =
        messages::seal("FIX.4.2", b"35=D|34=007|38=57.00|44=-0.50|52=20240229-12:00:00|15=gbp|5001=x|");
    let length = message.iter().position(|byte| *byte == 1).unwrap() + 3;
    message.splice(length..length, *b"00");
    let body_end = message.len() - 7;
    let sum = message[..body_end].iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    message.splice(body_end.., format!("10={sum:03}\x01").into_bytes());

    let (mut tags, mut spans) = (vec![0; 64], vec![Span::default(); 64]);
    let mut index = Index::new(&mut tags, &mut spans);
    let mut tally = Tally::default();
    tally.add(&Dictionaries { read: HashMap::new() }, &index.build(frame(&message).unwrap()).unwrap());
    let fields = [
        (Outcome::Same, 6),
        (Outcome::BodyLengthZeros, 1),
        (Outcome::IntegerZeros, 1),
        (Outcome::Unparsable, 1),
        (Outcome::UnknownTag, 1),
    ];
    tally.is(
        1,
        &fields,
        &[("BodyLengthZeros 9=0065", 1), ("IntegerZeros 34=007", 1), ("Unparsable 15=gbp", 1)],
    );
}

#[test]
fn every_recorded_message_is_read_by_type_and_written_back_or_refused_for_the_right_reason() {
    let Some(recorded) = messages::recorded() else { return support::absent(678) };
    let dictionaries = Dictionaries::load();
    let (mut tags, mut spans) = (vec![0; 16 * 1024], vec![Span::default(); 16 * 1024]);
    let mut index = Index::new(&mut tags, &mut spans);
    let mut tally = Tally::default();
    let (mut wrong_lengths, mut wrong_sums) = (0, 0);
    for message in &recorded {
        let framed = frame(&message.bytes);
        if !message.length_is_right {
            let told =
                matches!(framed, Err(FrameError::BodyLength { .. } | FrameError::BodyLengthField { .. }));
            assert!(told, "{}: {framed:?}", message.origin);
            wrong_lengths += 1;
            continue;
        }
        let indexed = framed.map(|framed| {
            assert_eq!(framed.bytes(), message.bytes, "{}", message.origin);
            index.build(framed)
        });
        if message.sum_is_right {
            tally.add(&dictionaries, &indexed.expect(&message.origin).expect(&message.origin));
        } else {
            let told = matches!(
                indexed,
                Err(FrameError::CheckSumField { .. }) | Ok(Err(IndexError::CheckSum { .. }))
            );
            assert!(told, "{}: {indexed:?}", message.origin);
            wrong_sums += 1;
        }
    }
    assert_eq!((recorded.len(), wrong_lengths, wrong_sums), (678, 148, 10));
    // The only one: a count (33) that is a letter. No BodyLength or integer among these is padded.
    let fields = [(Outcome::Same, 12_765), (Outcome::Unparsable, 1), (Outcome::UnknownTag, 2_168)];
    tally.is(520, &fields, &[("Unparsable 33=a", 1)]);
}

#[test]
fn every_message_of_a_venues_raw_stream_is_read_by_type_and_written_back() {
    let streams = messages::raw_streams();
    if streams.is_empty() {
        return support::absent(1);
    }
    let dictionaries = Dictionaries::load();
    let (mut tags, mut spans) = (vec![0; 16 * 1024], vec![Span::default(); 16 * 1024]);
    let mut index = Index::new(&mut tags, &mut spans);
    let mut tally = Tally::default();
    for stream in streams {
        let mut rest = &stream[..];
        while !rest.is_empty() {
            let framed = frame(rest).unwrap();
            tally.add(&dictionaries, &index.build(framed).unwrap());
            rest = &rest[framed.bytes().len()..];
        }
    }
    tally.is(13_888, &[(Outcome::Same, 206_591)], &[]);
}

/// Returns the message at the beginning of the bytes; if it is not complete, nothing more follows.
fn frame(bytes: &[u8]) -> Result<fixbolt_codec::Framed<'_>, FrameError> {
    let mut framer = Framer::new(64 * 1024);
    let frame = match framer.next(bytes) {
        Frame::Incomplete { .. } => framer.give_up(bytes),
        frame => frame,
    };
    match frame {
        Frame::Message(framed) => Ok(framed),
        Frame::Garbled { error: Some(error), .. } => Err(error),
        other => panic!("{other:?}"),
    }
}

/// FIX.4.2 and 4.4 as shipped, the others as read from the reference folder.
struct Dictionaries {
    read: HashMap<&'static str, Dictionary>,
}

impl Dictionaries {
    fn load() -> Self {
        let files = ["FIX40", "FIX41", "FIX43", "FIXT11", "FIX50", "FIX50SP1", "FIX50SP2"];
        let read = |name: &'static str| {
            let text = support::shared(&format!("dictionaries/quickfix/{name}.xml")).expect(name);
            (name, Source::text(&text).load().expect(name).dictionary)
        };
        Self { read: files.into_iter().map(read).collect() }
    }

    /// Returns the dictionaries that define a message's tags, in order of precedence.
    fn of(&self, message: &Message<'_>) -> Vec<&Dictionary> {
        let read = |name| &self.read[name];
        match message.begin_string() {
            b"FIX.4.0" => vec![read("FIX40")],
            b"FIX.4.1" => vec![read("FIX41")],
            b"FIX.4.2" => vec![fix42()],
            b"FIX.4.3" => vec![read("FIX43")],
            b"FIX.4.4" => vec![fix44()],
            _ => {
                let application = match message.get(Tag::new(1128)) {
                    Some(b"7") => "FIX50",
                    Some(b"8") => "FIX50SP1",
                    _ => "FIX50SP2",
                };
                vec![read("FIXT11"), read(application)]
            }
        }
    }
}

fn round_trip(begin_string: &[u8], tag: u32, kind: Option<DataType>, value: &[u8]) -> Outcome {
    let Some(kind) = kind else { return Outcome::UnknownTag };
    // char is a string of any length before FIX.4.2.
    let kind = if kind == DataType::Char && begin_string < b"FIX.4.2" { DataType::String } else { kind };
    let Ok(written) = read_and_write(kind, value) else { return Outcome::Unparsable };
    if written == value {
        return Outcome::Same;
    }
    let digits = value.strip_prefix(b"-").unwrap_or(value);
    assert!(digits.iter().all(u8::is_ascii_digit), "{tag} {kind} {:?}", value.escape_ascii().to_string());
    let without_zeros = i64::from_field(value).unwrap().to_string();
    assert_eq!(written, without_zeros.as_bytes(), "{tag} {kind}");
    if tag == 9 { Outcome::BodyLengthZeros } else { Outcome::IntegerZeros }
}

/// Reads a value as its type and writes it again.
fn read_and_write(kind: DataType, value: &[u8]) -> Result<Vec<u8>, ValueError> {
    fn typed<T: for<'m> FromField<'m> + ToField>(value: &[u8]) -> Result<Vec<u8>, ValueError> {
        let mut out = vec![0; T::MAX_LEN];
        let length = T::from_field(value)?.write_to(&mut out);
        out.truncate(length);
        Ok(out)
    }
    match kind {
        DataType::Int => typed::<i64>(value),
        DataType::Length => typed::<Length>(value),
        DataType::TagNum => typed::<Tag>(value),
        DataType::SeqNum => typed::<SeqNum>(value),
        DataType::NumInGroup => typed::<NumInGroup>(value),
        DataType::DayOfMonth => typed::<DayOfMonth>(value),
        DataType::Float
        | DataType::Qty
        | DataType::Price
        | DataType::PriceOffset
        | DataType::Amt
        | DataType::Percentage => match (typed::<Decimal>(value), typed::<WideDecimal>(value)) {
            (Err(ValueError::OutOfRange), Err(ValueError::OutOfRange)) => {
                Digits::from_field(value).map(|digits| digits.as_bytes().to_vec())
            }
            (Err(ValueError::OutOfRange), wide) => wide,
            (narrow, wide) => {
                assert_eq!(narrow, wide);
                narrow
            }
        },
        DataType::Char => typed::<Char>(value),
        DataType::Boolean => typed::<bool>(value),
        DataType::String | DataType::Xid | DataType::XidRef => {
            <&Text>::from_field(value).map(|t| t.as_bytes().to_vec())
        }
        DataType::MultipleCharValue => MultipleCharValue::from_field(value).map(|v| v.as_bytes().to_vec()),
        DataType::MultipleValueString | DataType::MultipleStringValue => {
            MultipleStringValue::from_field(value).map(|v| v.as_bytes().to_vec())
        }
        DataType::Country => typed::<Country>(value),
        DataType::Currency => typed::<Currency>(value),
        DataType::Exchange => Exchange::from_field(value).map(|e| e.as_bytes().to_vec()),
        DataType::Language => typed::<Language>(value),
        DataType::MonthYear => typed::<MonthYear>(value),
        DataType::UtcTimestamp => typed::<UtcTimestamp>(value),
        DataType::UtcTimeOnly => typed::<UtcTimeOnly>(value),
        DataType::UtcDateOnly | DataType::LocalMktDate => typed::<Date>(value),
        DataType::LocalMktTime => typed::<LocalMktTime>(value),
        DataType::TzTimeOnly => typed::<TzTimeOnly>(value),
        DataType::TzTimestamp => typed::<TzTimestamp>(value),
        DataType::Data | DataType::XmlData => <&[u8]>::from_field(value).map(<[u8]>::to_vec),
        DataType::Tenor => typed::<Tenor>(value),
        other => panic!("{other} is new"),
    }
}
