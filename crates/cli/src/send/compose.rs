//! Turns words into a body: `NewOrderSingle Side=BUY 38=100` into MsgType and fields.
//!
//! A message that the counterparty would reject is sent anyway, because the user may want to see
//! its reaction; but not one of which the user has given no field, because that is no reaction to
//! anything. Fields that do not form a message (a field that occurs twice, a group with the wrong
//! number of entries) are refused here.

use std::ops::ControlFlow;

use fixbolt_codec::plumbing::BodyPlumbing as _;
use fixbolt_codec::{Index, Key, MsgType, Precision, SeqNum, Span, Tag, UtcTimestamp};
use fixbolt_dictionary::{
    Action, Check, DataType, Dictionary, FieldDef, FlatMember, Member, Policy, RefTag, Validator, Version,
};
use fixbolt_session::Utc;
use fixbolt_workloads::wire::{Encoder, read};

use crate::dictionary::named;
use crate::nearest::did_you_mean;

/// A message to send.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Composed {
    /// MsgType (35).
    pub(crate) msg_type: MsgType,
    /// Header fields of the application, then the body, in message order.
    pub(crate) fields: Vec<(Tag, Vec<u8>)>,
}

/// Composes a message. The error has a line for each argument that is not understood, with similar
/// names.
pub(crate) fn compose(
    dictionary: &Dictionary,
    msg_type: &str,
    words: &[String],
    now: Utc,
) -> Result<Composed, String> {
    let mut wrong = Vec::new();
    let msg_type = self::msg_type(dictionary, msg_type).map_err(|why| wrong.push(why)).ok();
    let mut given = Vec::new();
    for word in words {
        match field(dictionary, word, now) {
            Ok(field) => given.push(field),
            Err(why) => wrong.push(why),
        }
    }
    let Some(msg_type) = msg_type.filter(|_| wrong.is_empty()) else { return Err(wrong.join("\n")) };
    let header: Vec<u32> = dictionary.expand(dictionary.header()).map(|member| member.tag).collect();
    let (mut fields, body): (Vec<_>, Vec<_>) =
        given.into_iter().partition(|(tag, _)| header.contains(&tag.number()));
    let filled_in = filled_in(dictionary, msg_type, &body, now);
    if body.is_empty() {
        check_required(dictionary, msg_type, &filled_in)?;
    }
    fields.extend(filled_in);
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
    if name.is_empty() {
        return Err(format!("{word}: there is no name; write a field as NAME=VALUE or TAG=VALUE"));
    }
    let by_number = name.parse().ok().and_then(Tag::try_new);
    let known = match by_number {
        Some(tag) => dictionary.field(tag.number()),
        None => Some(dictionary.field_by_name(name).ok_or_else(|| {
            let names = dictionary.fields().iter().map(|field| field.name.as_str());
            let version = &dictionary.version().name;
            match did_you_mean(name, names) {
                meant if !meant.is_empty() => format!("{version} has no field {name}{meant}"),
                _ => format!(
                    "{version} has no field {name}; write its tag, as in 5001={value}, or use --config with a DataDictionary that has it"
                ),
            }
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

/// Returns fields that the message requires, that were not given, and that have a sensible value:
/// an id of the request itself, HandlInst, the time of this moment.
fn filled_in(
    dictionary: &Dictionary,
    msg_type: MsgType,
    given: &[(Tag, Vec<u8>)],
    now: Utc,
) -> Vec<(Tag, Vec<u8>)> {
    let Some(message) = dictionary.message(msg_type.as_bytes()) else { return Vec::new() };
    let is_request = message.name.ends_with("Request") || message.name.starts_with("Request");
    let value = |field: &FieldDef| match field.tag {
        // Of an OrderStatusRequest it is the order's.
        11 if msg_type.as_bytes() != b"H" => Some(id(now)),
        21 => Some(b"1".to_vec()),
        // MDReqID, TradeRequestID.
        _ if is_request && (field.name.ends_with("ReqID") || field.name.ends_with("RequestID")) => {
            Some(id(now))
        }
        _ if field.kind == DataType::UtcTimestamp => Some(timestamp(dictionary, now)),
        _ => None,
    };
    required(dictionary, &message.members)
        .filter(|member| !given.iter().any(|(given, _)| given.number() == member.tag))
        .filter_map(|member| Some((Tag::try_new(member.tag)?, value(dictionary.field(member.tag)?)?)))
        .collect()
}

/// Returns an id that was not used before.
fn id(now: Utc) -> Vec<u8> {
    format!("C{:X}", now.0 / 1_000_000).into_bytes()
}

fn required(dictionary: &Dictionary, members: &[Member]) -> impl Iterator<Item = FlatMember> + use<> {
    dictionary.expand(members).filter(|member| member.required)
}

/// Refuses a message that has only fields that were filled in, and lacks some that are required.
/// Says how to give them.
fn check_required(
    dictionary: &Dictionary,
    msg_type: MsgType,
    filled_in: &[(Tag, Vec<u8>)],
) -> Result<(), String> {
    let Some(message) = dictionary.message(msg_type.as_bytes()) else { return Ok(()) };
    let missing: Vec<FlatMember> = required(dictionary, &message.members)
        .filter(|member| !filled_in.iter().any(|(tag, _)| tag.number() == member.tag))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let name = |tag| dictionary.field(tag).map_or_else(|| tag.to_string(), |field| field.name.clone());
    let named: Vec<String> = missing.iter().map(|member| named(dictionary, member.tag)).collect();
    let example = |tag| {
        let code =
            dictionary.codes(tag).first().map_or_else(|| "VALUE".to_owned(), |code| code.display_name());
        format!("{}={code}", name(tag))
    };
    let mut examples = Vec::new();
    for member in &missing {
        let Some(group) = member.group else {
            examples.push(example(member.tag));
            continue;
        };
        examples.push(format!("{}=1", name(member.tag)));
        // The first field begins the entry.
        let members = dictionary.expand(&dictionary.group(group).members);
        let wanted = members.enumerate().filter(|(n, member)| *n == 0 || member.required);
        examples.extend(wanted.map(|(_, member)| example(member.tag)));
    }
    Err(format!(
        "{message} ({msg_type}) of {version} requires fields that only you can know: {named}; write for example `fixbolt send {message} {examples}`",
        message = message.name,
        version = dictionary.version().name,
        named = named.join(", "),
        examples = examples.join(" "),
    ))
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
        let field = match violation.tag {
            RefTag::Number(tag) => named(dictionary, tag),
            as_sent @ RefTag::AsSent(_) => as_sent.to_string(),
        };
        found = Some(format!("{field}: {}", violation.text()));
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
        assert_eq!(error("D", &["=5"]), "=5: there is no name; write a field as NAME=VALUE or TAG=VALUE");
        assert_eq!(
            error("D", &["AuctionType=OPENING"]),
            "FIX.4.4 has no field AuctionType; write its tag, as in 5001=OPENING, or use --config with a DataDictionary that has it"
        );
        assert!(composed(fix44(), "D", &["5001=OPENING"]).unwrap().ends_with("|5001=OPENING"));
        // Everything at once.
        assert_eq!(
            error("NewOrdrSingle", &["Symbl=IBM", "Side=BUY", "Prise=1"]).lines().collect::<Vec<_>>(),
            [
                "FIX.4.4 has no message NewOrdrSingle; did you mean NewOrderSingle?",
                "FIX.4.4 has no field Symbl; did you mean Symbol?",
                "FIX.4.4 has no field Prise; did you mean Price?",
            ]
        );
        assert!(error("D", &["MsgSeqNum=3"]).contains("is written only by the session itself"));
        assert!(error("TestRequest", &[]).contains("is sent only by the session itself"));
    }

    #[test]
    fn a_message_without_any_field_is_sent_if_what_it_requires_has_a_sensible_value() {
        assert_eq!(composed(fix44(), "SecurityTypeRequest", &[]).unwrap(), "v|320=C1A1FD557AFB");
        assert_eq!(
            composed(fix44(), "NewOrderSingle", &[]).unwrap_err(),
            "NewOrderSingle (D) of FIX.4.4 requires fields that only you can know: Side (54), OrdType (40); write for example `fixbolt send NewOrderSingle Side=BUY OrdType=MARKET`"
        );
        let error = composed(fix42(), "D", &[]).unwrap_err();
        assert!(error.contains("Symbol (55), Side (54), OrdType (40)"), "{error}");
        assert!(
            error.ends_with("`fixbolt send OrderSingle Symbol=VALUE Side=BUY OrdType=MARKET`"),
            "{error}"
        );
        let error = composed(fix44(), "V", &[]).unwrap_err();
        assert!(
            !error.contains("MDReqID") && error.contains(" NoMDEntryTypes=1 MDEntryType=BID "),
            "{error}"
        );
        // It is the order's, not the request's.
        let error = composed(fix44(), "OrderStatusRequest", &["TargetSubID=X"]).unwrap_err();
        assert!(error.contains("ClOrdID (11)"), "{error}");
        // The user wants to see what the counterparty says to it.
        assert!(composed(fix44(), "D", &["Symbol=IBM"]).is_ok());
    }

    #[test]
    fn fields_that_do_not_form_a_message_are_refused_and_groups_are_accepted() {
        let parties = ["NoPartyIDs=2", "PartyID=a", "PartyRole=1", "PartyID=b", "PartyRole=3"];
        assert!(composed(fix44(), "D", &parties).unwrap().ends_with("453=2|448=a|452=1|448=b|452=3"));
        assert!(
            composed(fix44(), "D", &["Symbol=A", "Symbol=B"])
                .unwrap_err()
                .starts_with("Symbol (55): Tag appears more than once")
        );
        let short = ["NoPartyIDs=3", "PartyID=a", "PartyRole=1", "PartyID=b", "PartyRole=3"];
        assert!(
            composed(fix44(), "D", &short).unwrap_err().starts_with("NoPartyIDs (453): Incorrect NumInGroup")
        );
    }
}
