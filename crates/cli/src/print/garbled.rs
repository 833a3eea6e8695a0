//! Bytes that begin like a message and are none: what is wrong with them, and the message that is
//! meant.
//!
//! It says what is wrong, not what follows from it: of bytes whose end is missing, not that they
//! lack what would be there.

use fixbolt_cli::output::shown;
use fixbolt_codec::{FrameError, Framed, IndexError, Version, byte_sum};

/// The longest separator that is recognized as one.
const LONGEST_SEPARATOR: usize = 8;
/// BeginString as it is in messages, in place of a wrong one.
const BEGIN_STRING: &[u8] = b"8=FIX.4.4";
/// The length of CheckSum (10) with its SOH.
const CHECK_SUM_LENGTH: usize = 7;

/// What is wrong with bytes that begin like a message and are none.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    /// Only BeginString (8), for which [`wrong_begin_string`] has the words.
    BeginString,
    /// The end is missing.
    CutOff,
    /// Something else, in words.
    Other(String),
}

impl Wrong {
    /// Returns what is wrong beside BeginString, in words.
    pub(super) fn text(&self) -> Option<String> {
        match self {
            Self::BeginString => None,
            Self::CutOff => Some("cut off: there is no CheckSum (10) at the end".to_owned()),
            Self::Other(text) => Some(text.clone()),
        }
    }
}

/// Returns what is wrong with a BeginString (8), if anything is.
pub(super) fn wrong_begin_string(value: &[u8]) -> Option<String> {
    if let Some(version) = meant_version(value).filter(|version| version.is_application()) {
        let (begin_string, value) = (version.begin_string(), shown(value));
        return Some(format!(
            "BeginString (8) is {value}, an application version: its messages begin with {begin_string}"
        ));
    }
    // Only a BeginString that is wrong is reported before the rest, which is wrong here.
    let error = Framed::try_new(&[b"8=", value, b"\x019=1\x01"].concat()).err()?;
    matches!(error, FrameError::BeginString | FrameError::NoBeginString)
        .then(|| FrameError::BeginString.to_string())
}

/// Returns the version that a BeginString (8) means, also if it is that of no message: `FIX.5.0SP2`
/// and `FIX4.4` name one.
pub(super) fn meant_version(begin_string: &[u8]) -> Option<Version> {
    Version::from_begin_string(begin_string).or_else(|| std::str::from_utf8(begin_string).ok()?.parse().ok())
}

/// Returns what is wrong with bytes that begin with this BeginString and are not a message: in
/// words that show both lengths, or in those of the framer's error.
pub(super) fn wrong_frame(bytes: &[u8], begin_string: &[u8], error: FrameError) -> Wrong {
    if let Some(text) = wrong_separator(value_of(bytes, 8).unwrap_or_default()) {
        return Wrong::Other(text);
    }
    let Some(last) = split(bytes).last().filter(|field| field.starts_with(b"10=")) else {
        return Wrong::CutOff;
    };
    let tags: Vec<Option<u32>> = split(bytes).take(2).map(tag_of).collect();
    if tags != [Some(8), Some(9)] {
        return Wrong::Other("BodyLength (9) is not the second field".to_owned());
    }
    let announced = value_of(bytes, 9).unwrap_or_default();
    let body = body_of(bytes, last.len());
    if number(announced).map(|length| length as usize) != Some(body.len()) {
        // Fields may be separated by something else, and what follows be a secret.
        let announced = announced.split(|byte| !byte.is_ascii_digit()).next().unwrap_or_default();
        let announced = if announced.is_empty() { "not a number".to_owned() } else { shown(announced) };
        let length = body.len();
        return Wrong::Other(format!("BodyLength (9) is {announced}, the body has {length} bytes"));
    }
    if body.is_empty() {
        let at = split(bytes).next().map_or(0, |begin_string| begin_string.len() + 1);
        return Wrong::Other(FrameError::BodyLengthField { at }.to_string());
    }
    let at = bytes.len() - last.len() - usize::from(bytes.last() == Some(&1));
    if bytes.last() != Some(&1) || last.len() != 6 || !last[3..].iter().all(u8::is_ascii_digit) {
        return Wrong::Other(FrameError::CheckSumField { at }.to_string());
    }
    let (computed, announced) = (byte_sum(&bytes[..at]), number(&last[3..]).unwrap_or_default() as u16);
    if announced != u16::from(computed) {
        return Wrong::Other(IndexError::CheckSum { computed, announced }.to_string());
    }
    match wrong_begin_string(begin_string) {
        Some(_) => Wrong::BeginString,
        None => Wrong::Other(error.to_string()),
    }
}

/// Returns what is wrong if the value of BeginString (8) goes on with the other fields, because
/// what separates them is not read as SOH.
fn wrong_separator(begin_string: &[u8]) -> Option<String> {
    let rest = &begin_string[version_length(begin_string)..];
    if rest.starts_with(b"9=") {
        return Some("nothing separates the fields".to_owned());
    }
    let equals = rest.iter().take(LONGEST_SEPARATOR + 3).position(|byte| *byte == b'=')?;
    let (before, value) = (&rest[..equals], &rest[equals + 1..]);
    let digits = value.iter().take_while(|byte| byte.is_ascii_digit()).count();
    // A separator may have digits. Then the value of BodyLength (9) shows it once more.
    let is_one = |text: &&[u8]| {
        !text.is_empty() && (value[digits..].starts_with(text) || !text.iter().any(u8::is_ascii_digit))
    };
    let before_tag = |tag: &[u8]| before.strip_suffix(tag).filter(is_one);
    let separator = before_tag(b"9").or_else(|| before_tag(b"35"))?;
    Some(format!("fields are separated by \"{}\", which is not read as SOH", shown(separator)))
}

/// Returns the length of the version at the beginning of the value of BeginString (8). The value
/// goes on with the other fields if what separates them is not read as SOH.
fn version_length(value: &[u8]) -> usize {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'.';
    let length = value.iter().take_while(|byte| is_part(byte)).count();
    match &value[..length] {
        // Without a separator, `9` is the tag of BodyLength.
        [version @ .., b'9'] if value[length..].starts_with(b"=") => version.len(),
        version => version.len(),
    }
}

/// Returns the fields, separated by SOH, of bytes that may not be a message.
pub(super) fn split(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|b| *b == 1).filter(|field| !field.is_empty())
}

/// Returns the tag of a field, if it has one.
pub(super) fn tag_of(field: &[u8]) -> Option<u32> {
    number(field.split(|b| *b == b'=').next()?)
}

/// Returns the number of a tag; leading zeros are accepted.
pub(super) fn number(digits: &[u8]) -> Option<u32> {
    let mut tag: u32 = 0;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        tag = tag.checked_mul(10)?.checked_add(u32::from(digit - b'0'))?;
    }
    (!digits.is_empty()).then_some(tag)
}

/// Returns the value of the first field with this tag.
pub(super) fn value_of(bytes: &[u8], tag: u32) -> Option<&[u8]> {
    let field = split(bytes).find(|field| tag_of(field) == Some(tag))?;
    let at = field.iter().position(|b| *b == b'=')?;
    Some(&field[at + 1..])
}

/// Returns BeginString (8) and MsgType (35), wherever they are; empty if there is none. Other
/// fields that follow BeginString without SOH are left out.
pub(super) fn version_and_type(bytes: &[u8]) -> (&[u8], &[u8]) {
    let field = |at: usize| {
        let rest = &bytes[at..];
        Some((&rest[..memchr::memchr(1, rest)?], at))
    };
    let usual = || {
        let (begin_string, _) = field(0)?;
        let (body_length, at) = field(begin_string.len() + 1)?;
        let (msg_type, _) = field(at + body_length.len() + 1)?;
        body_length.strip_prefix(b"9=")?;
        Some((begin_string.strip_prefix(b"8=")?, msg_type.strip_prefix(b"35=")?))
    };
    if let Some(usual) = usual() {
        return usual;
    }
    let begin_string = value_of(bytes, 8).unwrap_or_default();
    (&begin_string[..version_length(begin_string)], value_of(bytes, 35).unwrap_or_default())
}

/// Returns the bytes that BodyLength counts: after the second field, up to CheckSum.
fn body_of(bytes: &[u8], check_sum_length: usize) -> &[u8] {
    let mut fields = bytes.split_inclusive(|b| *b == 1);
    let head: usize = fields.by_ref().take(2).map(<[u8]>::len).sum();
    let trailing = usize::from(bytes.last() == Some(&1));
    let end = bytes.len().saturating_sub(check_sum_length + trailing);
    bytes.get(head..end).unwrap_or_default()
}

/// Writes a message, of which only BeginString is wrong, with a right one and its CheckSum to
/// `message`.
pub(super) fn begin_anew(bytes: &[u8], message: &mut Vec<u8>) {
    let begin = memchr::memchr(1, bytes).unwrap_or(bytes.len());
    message.clear();
    message.extend_from_slice(BEGIN_STRING);
    message.extend_from_slice(&bytes[begin..bytes.len().saturating_sub(CHECK_SUM_LENGTH).max(begin)]);
    if message.last() != Some(&1) {
        message.push(1);
    }
    add_check_sum(message);
}

/// Writes the same fields with the BeginString of a message, and the right BodyLength and CheckSum,
/// to `message`.
pub(super) fn seal_anew(bytes: &[u8], message: &mut Vec<u8>) {
    let fields = || split(bytes).filter(|field| !matches!(tag_of(field), Some(8..=10)));
    let length: usize = fields().map(|field| field.len() + 1).sum();
    message.clear();
    message.extend_from_slice(BEGIN_STRING);
    message.extend_from_slice(format!("\u{1}9={length}\u{1}").as_bytes());
    for field in fields() {
        message.extend_from_slice(field);
        message.push(1);
    }
    add_check_sum(message);
}

fn add_check_sum(message: &mut Vec<u8>) {
    let sum = byte_sum(message);
    message.extend_from_slice(format!("10={sum:03}\u{1}").as_bytes());
}
