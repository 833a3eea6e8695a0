//! Turns words into a body: `NewOrderSingle Side=BUY 38=100` into MsgType and fields.
//!
//! A message that the counterparty would reject is sent anyway, because the user may want to see
//! its reaction. Fields that do not form a message (a field that occurs twice, a group with the
//! wrong number of entries) are refused here.

use std::ops::ControlFlow;

use fixbolt_codec::{Index, Key, MsgType, Precision, SeqNum, Span, Tag, UtcTimestamp};
use fixbolt_dictionary::{Action, Check, DataType, Dictionary, FieldDef, Policy, Validator, Version};
use fixbolt_session::Utc;
use fixbolt_workloads::wire::{Encoder, read};

use crate::nearest::did_you_mean;

/// A message to send.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Composed {
    /// MsgType (35).
    pub(crate) msg_type: MsgType,
    /// Header fields of the application, then the body, in message order.
    pub(crate) fields: Vec<(Tag, Vec<u8>)>,
}

/// Composes a message. The error is one line that names the argument that is not understood, and
/// suggests similar ones.
pub(crate) fn compose(
    dictionary: &Dictionary,
    msg_type: &str,
    words: &[String],
    now: Utc,
) -> Result<Composed, String> {
    let msg_type = self::msg_type(dictionary, msg_type)?;
    let mut given = Vec::new();
    for word in words {
        given.push(field(dictionary, word, now)?);
    }
    let header: Vec<u32> = dictionary.expand(dictionary.header()).map(|member| member.tag).collect();
    let (mut fields, body): (Vec<_>, Vec<_>) =
        given.into_iter().partition(|(tag, _)| header.contains(&tag.number()));
    fields.extend(filled_in(dictionary, msg_type, &body, now));
    fields.extend(body);
    let composed = Composed { msg_type, fields };
    check(dictionary, &composed)?;
    Ok(composed)
}

impl Composed {
    /// Writes the fields unchanged.
    pub(crate) fn write(&self, body: &mut fixbolt_codec::BodyWriter<'_>) {
        for (tag, value) in &self.fields {
            body.raw().field(Key::of(*tag), value);
        }
    }
}

fn msg_type(dictionary: &Dictionary, word: &str) -> Result<MsgType, String> {
    let known = dictionary.message(word.as_bytes()).or_else(|| dictionary.message_by_name(word));
    let value = match known {
        Some(message) => message.msg_type.as_bytes(),
        // Types that begin with U are user-defined.
        None if word.starts_with('U') && word.len() <= 4 => word.as_bytes(),
        None => {
            let names = dictionary.messages().iter().map(|message| message.name.as_str());
            let version = &dictionary.version().name;
            return Err(format!("{version} has no message {word}{}", did_you_mean(word, names)));
        }
    };
    let msg_type = MsgType::try_new(value).ok_or_else(|| format!("{word} is too long for a MsgType"))?;
    if msg_type.is_admin() {
        return Err(format!(
            "{word} is sent only by the session itself; send an application message instead"
        ));
    }
    Ok(msg_type)
}

fn field(dictionary: &Dictionary, word: &str, now: Utc) -> Result<(Tag, Vec<u8>), String> {
    let (name, value) =
        word.split_once('=').ok_or_else(|| format!("{word}: write a field as NAME=VALUE or TAG=VALUE"))?;
    let by_number = name.parse().ok().and_then(Tag::try_new);
    let known = match by_number {
        Some(tag) => dictionary.field(tag.number()),
        None => Some(dictionary.field_by_name(name).ok_or_else(|| {
            let names = dictionary.fields().iter().map(|field| field.name.as_str());
            let version = &dictionary.version().name;
            format!("{version} has no field {name}{}", did_you_mean(name, names))
        })?),
    };
    let tag = by_number.or_else(|| Tag::try_new(known?.tag)).ok_or_else(|| format!("{name} is not a tag"))?;
    if matches!(tag.number(), 8 | 9 | 10 | 34 | 35 | 43 | 49 | 52 | 56 | 122) {
        return Err(format!("{name} ({tag}) is written only by the session itself: omit it"));
    }
    if value.is_empty() || value.bytes().any(|byte| byte == 1) {
        return Err(format!("{word}: a value must not be empty or contain SOH"));
    }
    let value = match known {
        Some(field) => value_of(dictionary, field, value, by_number.is_some(), now)?,
        None => value.as_bytes().to_vec(),
    };
    Ok((tag, value))
}

/// Returns the bytes for a value: the current time for `now`, a code for its name. A field given by
/// its tag accepts any value.
fn value_of(
    dictionary: &Dictionary,
    field: &FieldDef,
    value: &str,
    any: bool,
    now: Utc,
) -> Result<Vec<u8>, String> {
    if field.kind == DataType::UtcTimestamp && value == "now" {
        return Ok(timestamp(dictionary, now));
    }
    let codes = dictionary.codes(field.tag);
    let several = matches!(
        field.kind,
        DataType::MultipleCharValue | DataType::MultipleStringValue | DataType::MultipleValueString
    );
    if codes.is_empty()
        || several
        || field.union.is_some()
        || dictionary.code(field.tag, value.as_bytes()).is_some()
    {
        return Ok(value.as_bytes().to_vec());
    }
    if let Some(code) = dictionary.code_by_name(field.tag, value) {
        return Ok(code.value.as_bytes().to_vec());
    }
    // In a field that holds a quantity, a number is never the name of a code.
    if any || !matches!(field.kind, DataType::Char | DataType::String | DataType::Int | DataType::Boolean) {
        return Ok(value.as_bytes().to_vec());
    }
    let some: Vec<String> =
        codes.iter().take(8).map(|code| format!("{} ({})", code.display_name(), code.value)).collect();
    let more = if codes.len() > 8 { ", ..." } else { "" };
    Err(format!(
        "{} ({}) has no value {value}; it has {}{more}; write {}={value} to send it anyway",
        field.name,
        field.tag,
        some.join(", "),
        field.tag
    ))
}

/// Returns the current time as the version writes it: before FIX.4.2 without milliseconds.
fn timestamp(dictionary: &Dictionary, now: Utc) -> Vec<u8> {
    let before_42 = dictionary.version().known.is_some_and(|version| version < Version::Fix42);
    let precision = if before_42 { Precision::Seconds } else { Precision::Millis };
    UtcTimestamp::from_unix_nanos(now.0, precision).to_string().into_bytes()
}

/// Returns fields that the message requires, that were not given, and that can be computed:
/// ClOrdID, HandlInst, TransactTime.
fn filled_in(
    dictionary: &Dictionary,
    msg_type: MsgType,
    given: &[(Tag, Vec<u8>)],
    now: Utc,
) -> Vec<(Tag, Vec<u8>)> {
    let Some(message) = dictionary.message(msg_type.as_bytes()) else { return Vec::new() };
    let missing = |tag: u32| {
        dictionary.expand(&message.members).any(|member| member.tag == tag && member.required)
            && !given.iter().any(|(given, _)| given.number() == tag)
    };
    let mut fields = Vec::new();
    for (tag, value) in [
        (11, format!("C{:X}", now.0 / 1_000_000).into_bytes()),
        (21, b"1".to_vec()),
        (60, timestamp(dictionary, now)),
    ] {
        if missing(tag) {
            fields.push((Tag::new(tag), value));
        }
    }
    fields
}

/// Refuses fields that would not form a message.
fn check(dictionary: &Dictionary, composed: &Composed) -> Result<(), String> {
    let length: usize = composed.fields.iter().map(|(_, value)| value.len() + 12).sum();
    let mut memory = vec![0; length + 512];
    let begin_string = dictionary.version().begin_string.as_bytes();
    let mut encoder =
        Encoder::new(begin_string, b"SENDER", b"TARGET").ok_or("the version has no BeginString")?;
    let place = encoder
        .encode(&mut memory, composed.msg_type, SeqNum::ONE, 0, |body| composed.write(body))
        .ok_or("a field can only be written by the session")?;
    let count = composed.fields.len() + 16;
    let (mut tags, mut spans) = (vec![0; count], vec![Span::default(); count]);
    let mut index = Index::new(&mut tags, &mut spans);
    let message = read(&mut index, &memory[place])
        .ok_or("a data field is longer or shorter than its length field says")?;
    let mut policy = Policy::ignoring();
    for check in [
        Check::DuplicateTag,
        Check::GroupCount,
        Check::GroupDelimiter,
        Check::GroupOrder,
        Check::SectionOrder,
    ] {
        policy = policy.with(check, Action::Reject);
    }
    let validator = Validator::new(dictionary);
    let mut found = None;
    validator.for_each(&message, &policy, &mut validator.scratch(), |violation| {
        found = Some(format!("field {}: {}", violation.tag, violation.text()));
        ControlFlow::Break(())
    });
    found.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixbolt_dictionary::{fix41, fix42, fix44};

    const NOW: Utc = Utc(1_795_251_600_123_000_000);

    fn composed(dictionary: &Dictionary, msg_type: &str, words: &[&str]) -> Result<String, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let composed = compose(dictionary, msg_type, &words, NOW)?;
        let fields = composed.fields.iter();
        let fields = fields.map(|(tag, value)| format!("{tag}={}", String::from_utf8_lossy(value)));
        Ok(format!("{}|{}", composed.msg_type, fields.collect::<Vec<_>>().join("|")))
    }

    #[test]
    fn names_numbers_and_names_of_values_are_understood() {
        let words = ["Symbol=IBM", "side=buy", "38=100", "OrdType=LIMIT", "Price=10.50", "TargetSubID=X"];
        assert_eq!(
            composed(fix44(), "NewOrderSingle", &words).unwrap(),
            "D|57=X|11=C1A1FD557AFB|60=20261121-09:00:00.123|55=IBM|54=1|38=100|40=2|44=10.50"
        );
        let given = ["ClOrdID=a", "HandlInst=2", "TransactTime=now", "55=IBM", "54=Z"];
        assert_eq!(
            composed(fix42(), "D", &given).unwrap(),
            "D|11=a|21=2|60=20261121-09:00:00.123|55=IBM|54=Z"
        );
        assert!(composed(fix42(), "D", &["Symbol=IBM"]).unwrap().contains("|21=1|"));
        let early = composed(fix41(), "D", &["TransactTime=now"]).unwrap();
        assert!(early.ends_with("|60=20261121-09:00:00"), "{early}");
    }

    #[test]
    fn an_argument_that_is_not_understood_is_reported_with_a_suggestion() {
        let error = |msg_type, words: &[&str]| composed(fix44(), msg_type, words).unwrap_err();
        assert_eq!(
            error("NewOrdrSingle", &[]),
            "FIX.4.4 has no message NewOrdrSingle; did you mean NewOrderSingle?"
        );
        assert_eq!(error("D", &["Symbl=IBM"]), "FIX.4.4 has no field Symbl; did you mean Symbol?");
        assert!(
            error("D", &["Side=BYU"]).starts_with("Side (54) has no value BYU; it has BUY (1), SELL (2), ")
        );
        assert_eq!(error("D", &["Symbol"]), "Symbol: write a field as NAME=VALUE or TAG=VALUE");
        assert_eq!(error("D", &["Symbol="]), "Symbol=: a value must not be empty or contain SOH");
        assert!(error("D", &["MsgSeqNum=3"]).contains("is written only by the session itself"));
        assert!(error("TestRequest", &[]).contains("is sent only by the session itself"));
    }

    #[test]
    fn fields_that_do_not_form_a_message_are_refused_and_groups_are_accepted() {
        let parties = ["NoPartyIDs=2", "PartyID=a", "PartyRole=1", "PartyID=b", "PartyRole=3"];
        assert!(composed(fix44(), "D", &parties).unwrap().ends_with("453=2|448=a|452=1|448=b|452=3"));
        assert!(
            composed(fix44(), "D", &["Symbol=A", "Symbol=B"])
                .unwrap_err()
                .contains("55: Tag appears more than once")
        );
        let short = ["NoPartyIDs=3", "PartyID=a", "PartyRole=1", "PartyID=b", "PartyRole=3"];
        assert!(composed(fix44(), "D", &short).unwrap_err().contains("453: Incorrect NumInGroup"));
    }
}
