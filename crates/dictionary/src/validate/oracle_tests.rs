//! The walk and what is learned against the [oracle](super::oracle): changed messages of every
//! version, and messages of dictionaries that no standard would have.
//!
//! `FIXBOLT_ROUNDS` is how much of it is done; 1 if it is not set.

use std::ops::ControlFlow;

use fixbolt_codec::{DataFields, Frame, Framer, Index, Message, Span};

use super::look::{LastDate, Word};
use super::oracle;
use super::plan::MAX_CELLS;
use super::policy::{CodeRules, Requirements, TypeRules};
use super::{Action, Check, Policy, Scratch, Validator, check_type};
use crate::data_type::DataType;
use crate::model::{Dictionary, FlatMember, Member};
use crate::sample::{Samples, framed};
use crate::{Source, fix_latest, fix40, fix42, fix44, fix50sp2, fixt11};

pub(super) fn rounds() -> usize {
    std::env::var("FIXBOLT_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(1)
}

/// xorshift64*.
pub(super) struct Random(pub(super) u64);

impl Random {
    fn next(&mut self) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize
    }

    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.next() % limit.max(1)
    }

    pub(super) fn one_of(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }

    pub(super) fn of<'t, T>(&mut self, all: &'t [T]) -> &'t T {
        &all[self.below(all.len())]
    }
}

/// A field of a message: the bytes of its tag, and its value.
pub(super) type Field = (Vec<u8>, Vec<u8>);

pub(super) const VALUES: [&[u8]; 60] = [
    b"0",
    b"1",
    b"2",
    b"3",
    b"9",
    b"12",
    b"99",
    b"100",
    b"-1",
    b"-0",
    b"00",
    b"007",
    b"0000002",
    b"Y",
    b"N",
    b"y",
    b"A",
    b"B",
    b"D",
    b"Z",
    b"1 2",
    b"A B",
    b"A  B",
    b" A",
    b"A ",
    b"USD",
    b"EUR",
    b"GBp",
    b"EURO",
    b"OPT",
    b"OPT\0",
    b"FUT",
    b"CS",
    b"DE",
    b"20240229",
    b"20240230",
    b"20240229-12:00:00",
    b"20240229-12:00:00.123",
    b"20240301-23:59:59.123456",
    b"20240229-24:00:00",
    b"20161231-23:59:60",
    b"20240229-12:00:00.-0",
    b"20240229-12:00:00.",
    b"20240229 12:00:00",
    b"12:30:00",
    b"1.5",
    b".5",
    b"5.",
    b".",
    b"-",
    b"-.",
    b"-.5",
    b"1e5",
    b"1..2",
    b"123456789012345678901234.5",
    b"1234567.1234567.1234567",
    b"99999999999",
    b"",
    b"\xe9",
    b"D5",
];

/// Returns a message that the index accepts, or nothing.
pub(super) fn with_message<R>(
    bytes: &[u8],
    data_fields: &DataFields,
    look: impl FnOnce(&Message<'_>) -> R,
) -> Option<R> {
    let Frame::Message(framed) = Framer::new(1 << 24).next(bytes) else { return None };
    let fields = bytes.len() / 2 + 1;
    let (mut tags, mut spans) = (vec![0; fields], vec![Span::default(); fields]);
    let mut index = Index::new(&mut tags, &mut spans).with_data_fields(data_fields);
    index.build(framed).ok().map(|message| look(&message))
}

pub(super) fn fields_of(message: &Message<'_>) -> Vec<Field> {
    let all = (2..message.len() - 1).map(|position| {
        let bytes = message.field_bytes(position);
        let value = message.value(position).to_vec();
        (bytes[..bytes.len() - value.len()].strip_suffix(b"=").unwrap_or_default().to_vec(), value)
    });
    all.collect()
}

pub(super) fn message_of(begin_string: &str, fields: &[Field]) -> Vec<u8> {
    let mut body = Vec::new();
    for (tag, value) in fields {
        body.extend_from_slice(tag);
        if !tag.is_empty() {
            body.push(b'=');
        }
        body.extend_from_slice(value);
        body.push(1);
    }
    framed(begin_string, &body)
}

pub(super) fn policies(random: &mut Random) -> Vec<Policy> {
    let mut any = Policy::standard();
    for check in Check::ALL {
        any = any.with(check, *random.of(&[Action::Reject, Action::Reject, Action::Warn, Action::Ignore]));
    }
    any = any
        .with_requirements(*random.of(&[
            Requirements::Standard,
            Requirements::QuickFix,
            Requirements::QuickFixJ,
        ]))
        .with_type_rules(*random.of(&[TypeRules::Standard, TypeRules::QuickFix]))
        .with_code_rules(*random.of(&[CodeRules::Standard, CodeRules::WithFormer]));
    let ordered = Policy::standard().with(Check::GroupAsSent, Action::Warn);
    vec![Policy::standard(), *random.of(&[Policy::quickfix(), Policy::quickfixj(), ordered]), any]
}

/// Compares what is found in a message by the oracle, by a new scratch and by one that has learned.
/// Returns whether the standard policy finds nothing.
fn compare(validator: &Validator, warm: &mut Scratch, message: &Message<'_>, policies: &[Policy]) -> bool {
    let mut is_right = false;
    for policy in policies {
        let expected = oracle::walk(&validator.plan, message, policy);
        let mut cold = validator.scratch();
        // Twice warm: what was learned the first time is used the second time.
        for (of, scratch) in [("new", &mut cold), ("warm", &mut *warm)] {
            for time in 1..=2 {
                let mut found = Vec::new();
                let places = validator
                    .for_each(message, policy, scratch, |violation| {
                        found.push(violation);
                        ControlFlow::Continue(())
                    })
                    .map(<[_]>::to_vec);
                let about = || {
                    format!("a {of} scratch, time {time}, of {}: {policy:?}", message.bytes().escape_ascii())
                };
                assert_eq!(found, expected.0, "{}", about());
                assert_eq!(places.as_ref(), Some(&expected.1), "{}", about());
            }
            let first = expected.0.iter().find(|violation| violation.action == Action::Reject);
            assert_eq!(validator.first_reject(message, policy, scratch).as_ref(), first);
            assert_eq!(validator.places(message, scratch), expected.1, "{}", message.bytes().escape_ascii());
        }
        is_right |= *policy == Policy::standard() && expected.0.is_empty();
    }
    is_right
}

/// Changes a message in one place.
fn change(random: &mut Random, fields: &mut Vec<Field>, tags: &[u32]) {
    if fields.len() < 3 {
        return;
    }
    let at = 1 + random.below(fields.len() - 1);
    let another = 1 + random.below(fields.len() - 1);
    let tag = |random: &mut Random| match random.below(12) {
        0 => b"0".to_vec(),
        1 => random.of(&[&b"5001"[..], b"41000", b"99999", b"05", b"-1", b"x", b"", b"4999"]).to_vec(),
        2 => random.of(&[&b"8"[..], b"9", b"35", b"34", b"10", b"89", b"93", b"95", b"96"]).to_vec(),
        _ => random.of(tags).to_string().into_bytes(),
    };
    match random.below(11) {
        0 => drop(fields.remove(at)),
        1 => fields.insert(another, fields[at].clone()),
        2 => fields.swap(at, another),
        3 => {
            let field = fields.remove(at);
            fields.insert(another.min(fields.len()), field);
        }
        4 => fields[at].0 = tag(random),
        5 => {
            let field = (tag(random), random.of(&VALUES).to_vec());
            fields.insert(at, field);
        }
        6 => {
            let (from, to) = (at.min(another), at.max(another));
            fields[from..=to].rotate_left(1);
        }
        // A run of fields again, as an entry is.
        7 => {
            let to = fields.len().min(at + 1 + random.below(6));
            let run = fields[at..to].to_vec();
            fields.splice(at..at, run);
        }
        8 => {
            let to = fields.len().min(at + 1 + random.below(6));
            fields.drain(at..to);
        }
        9 => {
            let value = fields[another].1.clone();
            fields[at].1 = value;
        }
        _ => fields[at].1 = random.of(&VALUES).to_vec(),
    }
}

/// Changes messages again and again, and compares each time. Returns how many messages were
/// compared, and how many of them were valid.
fn compare_changed(
    validator: &Validator,
    dictionary: &Dictionary,
    originals: &[Vec<u8>],
    random: &mut Random,
    times: usize,
) -> (usize, usize) {
    let begin_string = &dictionary.version().begin_string;
    let tags: Vec<u32> = dictionary.fields().iter().map(|field| field.tag).collect();
    let mut warm = validator.scratch();
    let (mut compared, mut right) = (0, 0);
    for original in originals {
        let Some(fields) = with_message(original, validator.data_fields(), fields_of) else { continue };
        // Members of the same message are more often misplaced than others.
        let own: Vec<u32> =
            fields.iter().filter_map(|(tag, _)| std::str::from_utf8(tag).ok()?.parse().ok()).collect();
        for time in 0..times {
            let mut changed = fields.clone();
            for _ in 0..[0, 1, 1, 2, 3, 8][time % 6] {
                let tags = if random.one_of(3) { &tags } else { &own };
                change(random, &mut changed, tags);
            }
            let bytes = message_of(begin_string, &changed);
            let known = if random.one_of(8) { DataFields::STANDARD } else { validator.data_fields() };
            let policies = policies(random);
            let outcome =
                with_message(&bytes, known, |message| compare(validator, &mut warm, message, &policies));
            compared += usize::from(outcome.is_some());
            right += usize::from(outcome == Some(true));
        }
    }
    (compared, right)
}

/// Lets some groups be read as they are sent.
pub(super) fn some_as_sent(validator: &Validator, random: &mut Random) -> Validator {
    let mut validator = validator.clone();
    let tags: Vec<u32> = validator.count_tags().filter(|_| random.one_of(2)).collect();
    tags.into_iter().for_each(|tag| assert!(validator.read_as_sent(tag)));
    validator
}

#[test]
fn changed_messages_of_every_version_are_judged_as_by_the_oracle() {
    let over = |version: &Dictionary| version.over(fixt11()).expect("it fits its transport");
    let (sp2, latest) = (over(fix50sp2()), over(fix_latest()));
    let (mut compared, mut right) = (0, 0);
    for round in 0..rounds() {
        for (n, dictionary) in [fix40(), fix42(), fix44(), &sp2, &latest].into_iter().enumerate() {
            let mut random = Random(0x5EED + (round * 8 + n) as u64);
            let validator = Validator::new(dictionary);
            let samples = Samples::new(dictionary, round);
            let messages = dictionary.messages().iter();
            let mut originals: Vec<Vec<u8>> = messages
                .flat_map(|message| [samples.minimal(message).bytes(), samples.full(message).bytes()])
                .filter(|bytes| bytes.len() < 1_500 || random.one_of(8) && bytes.len() < 8_000)
                .collect();
            originals.retain(|_| n < 3 || random.one_of(3));
            let as_sent = some_as_sent(&validator, &mut random);
            for validator in [validator, as_sent] {
                let (more, valid) = compare_changed(&validator, dictionary, &originals, &mut random, 6);
                (compared, right) = (compared + more, right + valid);
            }
        }
    }
    assert!(compared > 3_000 * rounds() && right * 10 > compared, "{right} of {compared} were right");
}

/// Tags that the dictionaries of the next test define; more than there are in a definition, so that
/// the same are in many.
const TAGS: [u32; 40] = [
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    11,
    12,
    13,
    14,
    15,
    16,
    17,
    18,
    19,
    20,
    21,
    34,
    49,
    52,
    56,
    89,
    90,
    91,
    93,
    95,
    96,
    372,
    511,
    512,
    513,
    4_999,
    5_000,
    5_001,
    39_999,
    40_000,
    65_535,
    65_536,
    2_000_000_000,
];

/// Returns a dictionary with a few messages, in which header, body, trailer and groups at any depth
/// share their fields.
fn strange_dictionary(random: &mut Random) -> String {
    let types = [
        "INT",
        "LENGTH",
        "SEQNUM",
        "TAGNUM",
        "PRICE",
        "CHAR",
        "BOOLEAN",
        "STRING",
        "MULTIPLEVALUESTRING",
        "CURRENCY",
        "UTCTIMESTAMP",
        "LOCALMKTDATE",
        "MONTHYEAR",
        "DATA",
        "COUNTRY",
        "DAYOFMONTH",
        "UTCTIMEONLY",
        "XID",
        "XIDREF",
    ];
    let mut fields = String::new();
    let is_group = |n: usize| n.is_multiple_of(5);
    for (n, tag) in TAGS.iter().enumerate() {
        let kind = match n {
            _ if is_group(n) => "NUMINGROUP",
            22 | 24 | 27 => "DATA",
            23 | 25 | 26 => "LENGTH",
            _ => *random.of(&types),
        };
        let kind = if kind == "DATA" && ![22, 24, 27].contains(&n) { "STRING" } else { kind };
        fields += &format!("<field number='{tag}' name='F{n}' type='{kind}'>");
        if kind != "DATA" && kind != "NUMINGROUP" && random.one_of(3) {
            for code in ["1", "2", "A", "Y", "12", "99", "USD", "OPT", "LONGERCODE"] {
                if random.one_of(2) {
                    fields += &format!("<value enum='{code}' description='C{code}'/>");
                }
            }
        }
        fields += "</field>";
    }
    fn members(random: &mut Random, counts: &[usize], used: &mut Vec<usize>) -> String {
        let mut text = String::new();
        for _ in 0..2 + random.below(6) {
            let n = random.below(TAGS.len());
            if used.contains(&n) {
                continue;
            }
            used.push(n);
            // A data field is only there with its length.
            let required = if !(22..28).contains(&n) && random.one_of(4) { "Y" } else { "N" };
            if n.is_multiple_of(5) {
                if counts.len() < 4 {
                    // An entry may have the fields around it, but not those that count it.
                    let counts = [counts, &[n]].concat();
                    let inner = members(random, &counts, &mut counts.clone());
                    if !inner.is_empty() {
                        text += &format!("<group name='F{n}' required='{required}'>{inner}</group>");
                    }
                }
            } else {
                text += &format!("<field name='F{n}' required='{required}'/>");
            }
        }
        text
    }
    let header = members(random, &[], &mut vec![]);
    let trailer = members(random, &[], &mut vec![]);
    let messages: String = ["D", "8", "U1", "U2"]
        .iter()
        .map(|kind| {
            let body = members(random, &[], &mut vec![]) + &members(random, &[], &mut (0..20).collect());
            format!("<message name='M{kind}' msgtype='{kind}' msgcat='app'>{body}</message>")
        })
        .collect();
    format!(
        "<fix type='FIX' major='4' minor='4' servicepack='0'><header><field name='BeginString' required='Y'/>\
         <field name='BodyLength' required='Y'/><field name='MsgType' required='Y'/>{header}</header>\
         <messages>{messages}</messages><trailer>{trailer}<field name='CheckSum' required='Y'/></trailer>\
         <components/><fields><field number='8' name='BeginString' type='STRING'/>\
         <field number='9' name='BodyLength' type='LENGTH'/><field number='35' name='MsgType' type='STRING'/>\
         <field number='10' name='CheckSum' type='STRING'/>{fields}</fields></fix>"
    )
}

/// Writes members in order, some of them left out, groups with a few entries.
fn write(
    dictionary: &Dictionary,
    random: &mut Random,
    members: &[Member],
    fields: &mut Vec<Field>,
    depth: usize,
) {
    let flat: Vec<FlatMember> = dictionary.expand(members).collect();
    let first = flat.first().map(|member| member.tag);
    let has = |tag: u32| flat.iter().any(|member| member.tag == tag);
    let pairs = dictionary.length_data_pairs();
    let data_of = |length: u32| pairs.iter().find(|pair| pair.0 == length).map(|pair| pair.1);
    for member in &flat {
        let field = dictionary.field(member.tag).expect("it is defined");
        let is_needed = member.required || Some(member.tag) == first;
        let data = data_of(member.tag);
        let is_written = [8, 9, 10, 35].contains(&member.tag) || field.kind.is_data();
        if is_written || data.is_some_and(|data| !has(data)) || !is_needed && random.one_of(3) {
            continue;
        }
        let tag = member.tag.to_string().into_bytes();
        if let Some(group) = member.group {
            let entries = usize::from(member.required) + if depth < 3 { random.below(3) } else { 0 };
            fields.push((tag, entries.to_string().into_bytes()));
            for _ in 0..entries {
                write(dictionary, random, &dictionary.group(group).members, fields, depth + 1);
            }
            continue;
        }
        let codes = dictionary.codes(member.tag);
        let value = match Some(field.kind) {
            _ if !codes.is_empty() => {
                let is_right = |value: &&[u8]| check_type(field.kind, 0, value, TypeRules::Standard).is_ok();
                let right: Vec<&[u8]> =
                    codes.iter().map(|code| code.value.as_bytes()).filter(is_right).collect();
                if right.is_empty() {
                    continue;
                }
                random.of(&right).to_vec()
            }
            Some(DataType::Boolean) => b"Y".to_vec(),
            Some(DataType::Char) => b"A".to_vec(),
            Some(DataType::UtcTimestamp) => b"20240229-12:00:00.123".to_vec(),
            Some(DataType::DayOfMonth) => b"12".to_vec(),
            Some(DataType::LocalMktDate | DataType::MonthYear) => b"20240229".to_vec(),
            Some(DataType::UtcTimeOnly) => b"12:00:00".to_vec(),
            Some(DataType::Country) => b"DE".to_vec(),
            Some(DataType::Currency) => b"USD".to_vec(),
            Some(DataType::Price) => random.of(&[&b"1.5"[..], b"100"]).to_vec(),
            Some(DataType::Length) => b"1".to_vec(),
            Some(DataType::Xid) => format!("x{}", fields.len()).into_bytes(),
            Some(DataType::XidRef) if !is_needed => continue,
            _ => random.of(&[&b"1"[..], b"2", b"3", b"12"]).to_vec(),
        };
        fields.push((tag, value));
        if let Some(data) = data {
            let length = fields[fields.len() - 1]
                .1
                .iter()
                .fold(0, |length, digit| length * 10 + usize::from(digit - b'0'));
            fields.push((data.to_string().into_bytes(), vec![b'x'; length]));
        }
    }
}

#[test]
fn messages_of_strange_dictionaries_are_judged_as_by_the_oracle() {
    let (mut dictionaries, mut compared, mut right) = (0, 0, 0);
    for round in 0..150 * rounds() {
        let mut random = Random(0xD1C7 + round as u64 * 7);
        let Ok(loaded) = Source::text(strange_dictionary(&mut random)).accept_duplicate_tags().load() else {
            continue;
        };
        let dictionary = &loaded.dictionary;
        dictionaries += 1;
        let mut validator = Validator::new(dictionary);
        if round % 3 == 0 {
            validator = some_as_sent(&validator, &mut random);
        }
        let mut originals = Vec::new();
        for message in dictionary.messages().iter().chain(dictionary.messages()) {
            let mut fields = vec![(b"35".to_vec(), message.msg_type.clone().into_bytes())];
            for members in [dictionary.header(), &message.members, dictionary.trailer()] {
                write(dictionary, &mut random, members, &mut fields, 0);
            }
            originals.push(message_of("FIX.4.4", &fields));
        }
        let (more, valid) = compare_changed(&validator, dictionary, &originals, &mut random, 6);
        (compared, right) = (compared + more, right + valid);
    }
    assert!(dictionaries > 75 * rounds(), "only {dictionaries} could be read");
    assert!(compared > 3_000 * rounds() && right * 25 > compared, "{right} of {compared} were right");
}

/// What docs/codec.md says of the memory.
#[test]
fn the_tables_of_messages_have_a_bounded_size_and_a_message_without_one_is_judged_alike() {
    let cells = |dictionary: &Dictionary| Validator::new(dictionary).plan.number_of_message_cells();
    let latest = fix_latest().over(fixt11()).expect("it fits its transport");
    assert!((60_000..80_000).contains(&cells(fix44())), "{}", cells(fix44()));
    assert!((200_000..MAX_CELLS / 3).contains(&cells(&latest)), "{}", cells(&latest));
    let messages: String = (0..600)
        .map(|n| {
            let fields = "<field name='A' required='Y'/><field name='Z' required='N'/>";
            format!("<message name='M{n}' msgtype='U{n}' msgcat='app'>{fields}</message>")
        })
        .collect();
    let text = format!(
        "<fix type='FIX' major='4' minor='4'><header><field name='BeginString' required='Y'/>\
         <field name='BodyLength' required='Y'/><field name='MsgType' required='Y'/></header>\
         <messages>{messages}</messages><trailer><field name='CheckSum' required='Y'/></trailer><components/>\
         <fields><field number='8' name='BeginString' type='STRING'/><field number='9' name='BodyLength' type='LENGTH'/>\
         <field number='35' name='MsgType' type='STRING'/><field number='10' name='CheckSum' type='STRING'/>\
         <field number='11' name='A' type='INT'/><field number='2047' name='Z' type='CHAR'/></fields></fix>"
    );
    let loaded = Source::text(text).load().expect("it is right");
    let validator = Validator::new(&loaded.dictionary);
    assert!((MAX_CELLS - 2_048..=MAX_CELLS).contains(&validator.plan.number_of_message_cells()));
    let mut warm = validator.scratch();
    for kind in ["U0", "U511", "U512", "U599"] {
        for (rest, is_right) in
            [("11=1\x012047=a\x01", true), ("2047=a\x0111=x\x01", false), ("2047=a\x01", false)]
        {
            let bytes = framed("FIX.4.4", format!("35={kind}\x01{rest}").as_bytes());
            let found = with_message(&bytes, DataFields::STANDARD, |message| {
                compare(&validator, &mut warm, message, &[Policy::standard(), Policy::quickfix()])
            });
            assert_eq!(found, Some(is_right), "{kind} {rest}");
        }
    }
}

#[test]
fn what_is_accepted_at_a_glance_is_right_under_every_policy() {
    let dictionary = fix44();
    let validator = Validator::new(dictionary);
    let plan = &validator.plan;
    let mut random = Random(0x10CC);
    let letters = b"0123456789012345678901234567890123456789.-:YN ADEFPSUW\0\x7f\x80\xff";
    let mut accepted = 0;
    for round in 0..2_000 * rounds() {
        let mut dates = LastDate::new();
        let mut value = random.of(&VALUES).to_vec();
        for _ in 0..random.below(3) {
            let (at, letter) = (random.below(value.len() + 1), *random.of(letters));
            if at < value.len() && random.one_of(2) { value[at] = letter } else { value.insert(at, letter) }
        }
        if round % 4 == 0 {
            value = (0..random.below(40)).map(|_| *random.of(letters)).collect();
        }
        let policies = policies(&mut random);
        for field in dictionary.fields() {
            let body = [field.tag.to_string().as_bytes(), b"=", &value, b"\x01"].concat();
            let bytes = framed("FIX.4.4", &[b"35=D\x01", &body[..]].concat());
            with_message(&bytes, &DataFields::new(&[]), |message| {
                let slot = plan.slot(field.tag).expect("it is defined");
                if plan.looks_right(slot, message, 3, &mut dates) {
                    accepted += 1;
                    for policy in &policies {
                        let found = plan.value_is_right(field.tag, slot, message.value(3), policy);
                        assert_eq!(found, Ok(()), "{} {}", field.name, value.escape_ascii());
                    }
                    assert!(!message.value(3).is_empty());
                }
            });
        }
    }
    assert!(accepted > 100_000, "{accepted}");
}

#[test]
fn usual_values_are_accepted_at_a_glance() {
    let validator = Validator::new(fix44());
    let plan = &validator.plan;
    let mut dates = LastDate::new();
    for (tag, value) in [
        (34, "17"),
        (55, "IBM"),
        (54, "1"),
        (44, "101.25"),
        (44, "-0.5"),
        (44, "123456789012345678901234.5"),
        (60, "20240229-12:00:00"),
        (60, "20240229-12:00:00.123"),
        (60, "20240229-23:59:59.123456789"),
        (64, "20240229"),
        (167, "OPT"),
        (103, "99"),
        (103, "1"),
        (453, "2"),
        (453, "02"),
        (114, "Y"),
        (18, "1"),
    ] {
        let bytes = framed("FIX.4.4", format!("35=D\x01{tag}={value}\x01").as_bytes());
        let accepts = with_message(&bytes, validator.data_fields(), |message| {
            let slot = plan.slot(tag).expect("it is defined");
            plan.looks_right(slot, message, 3, &mut dates)
        });
        assert_eq!(accepts, Some(true), "{tag}={value}");
    }
}

#[test]
fn a_word_is_the_value_and_nothing_around_it() {
    let bytes = framed("FIX.4.4", b"35=D\x0158=1\x0158=12345678\x0158=123456789\x0158=\x01");
    with_message(&bytes, DataFields::STANDARD, |message| {
        let word = |position: usize| Word::of(message, position).map(|word| (word.bytes, word.length));
        assert_eq!(word(3), Some((u64::from(b'1'), 1)));
        assert_eq!(word(4), Some((u64::from_le_bytes(*b"12345678"), 8)));
        assert_eq!((word(5), word(6)), (None, None));
        assert_eq!(Word::of(message, 4).and_then(Word::plain_number), Some(12_345_678));
    })
    .expect("a message");
}
