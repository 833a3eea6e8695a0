//! Prepares a message for output: every field with its name, its position and the name of its
//! value, and all errors.
//!
//! A message with a wrong length or checksum is read as if they were right, and reported as
//! invalid.

use std::ops::ControlFlow;

use fixbolt_codec::{
    DataFields, FaultKind, Frame, Framer, Index, IndexError, Message, Place, Section, Span, byte_sum,
};
use fixbolt_dictionary::Action;

use super::lexicon::{Known, Lexicon, policy};
use crate::output::shown;

/// A message that was read.
#[derive(Debug)]
pub(crate) struct Reading {
    /// BeginString (8).
    pub(crate) begin_string: String,
    /// MsgType (35).
    pub(crate) msg_type: String,
    /// The message's name, if a dictionary has it.
    pub(crate) name: Option<String>,
    /// The fields in message order.
    pub(crate) fields: Vec<Shown>,
    /// The errors in words; empty for a valid message.
    pub(crate) problems: Vec<String>,
    /// Whether there is no dictionary for the version.
    pub(crate) unknown_version: bool,
}

/// A field as it is shown.
#[derive(Debug)]
pub(crate) struct Shown {
    /// The tag as written in the message.
    pub(crate) tag: String,
    /// The field's name.
    pub(crate) name: Option<String>,
    /// The value; masked if it is secret.
    pub(crate) value: String,
    /// The name of the value.
    pub(crate) code: Option<String>,
    /// Header, body or trailer.
    pub(crate) section: Section,
    /// The number of groups around it.
    pub(crate) depth: usize,
    /// The entry of the innermost group, counted from 1.
    pub(crate) entry: u32,
    /// Whether it begins its entry.
    pub(crate) begins_entry: bool,
}

impl Reading {
    /// Reads the message in `bytes`.
    pub(crate) fn new(bytes: &[u8], lexicon: &mut Lexicon) -> Self {
        let begin_string = value_of(bytes, 8).unwrap_or_default();
        let msg_type = value_of(bytes, 35).unwrap_or_default();
        let known = lexicon.find(&begin_string, &msg_type);
        let (mut tags, mut spans) =
            (vec![0; bytes.len() / 2 + 4], vec![Span::default(); bytes.len() / 2 + 4]);
        let mut reading = Self {
            begin_string: shown(&begin_string),
            msg_type: shown(&msg_type),
            name: None,
            fields: Vec::new(),
            problems: Vec::new(),
            unknown_version: known.is_none(),
        };
        let data_fields =
            known.as_ref().map_or(DataFields::STANDARD, |known| known.validator.data_fields()).clone();
        let mut index = Index::new(&mut tags, &mut spans).with_data_fields(&data_fields);
        let mut framer = Framer::new(usize::MAX);
        let right = match framer.next(bytes) {
            Frame::Message(framed) if framed.bytes().len() == bytes.len() => match index.build(framed) {
                Ok(_) => true,
                Err(error) => {
                    reading.problems.push(error.to_string());
                    false
                }
            },
            _ => {
                reading.problems.push(what_is_wrong(bytes));
                false
            }
        };
        let sealed = if right { bytes.to_vec() } else { sealed_anew(bytes) };
        let message = match Framer::new(usize::MAX).next(&sealed) {
            Frame::Message(framed) => index.build(framed),
            _ => Err(IndexError::MsgTypeNotThird),
        };
        match message {
            Ok(message) => reading.fill(&message, bytes, right, known),
            Err(error) => {
                let text = error.to_string();
                if !reading.problems.contains(&text) {
                    reading.problems.push(text);
                }
                reading.fill_plainly(bytes, known.as_deref());
            }
        }
        reading
    }

    /// Returns whether the message is valid.
    pub(crate) fn is_valid(&self) -> bool {
        self.problems.is_empty()
    }

    /// Returns the value of the first field with this tag, as shown.
    pub(crate) fn value(&self, tag: &str) -> Option<&str> {
        self.fields.iter().find(|field| field.tag == tag).map(|field| field.value.as_str())
    }

    fn fill(&mut self, message: &Message<'_>, original: &[u8], right: bool, known: Option<&mut Known>) {
        let Some(known) = known else {
            if let Some(fault) = message.fault() {
                self.problems.push(fault_text(message, fault));
            }
            for position in 0..message.len() {
                let section = section_without_dictionary(message.tags()[position], self.fields.last());
                self.push(message.field_bytes(position), section, None);
            }
            self.restore(original, right);
            return;
        };
        self.name = known.dictionary.message(message.msg_type()).map(|message| message.name.clone());
        let places = known.validator.places(message, &mut known.scratch).to_vec();
        let (validator, scratch) = (&known.validator, &mut known.scratch);
        let mut found = Vec::new();
        validator.for_each(message, &policy(), scratch, |violation| {
            if violation.action == Action::Reject {
                found.push(violation);
            }
            ControlFlow::Continue(())
        });
        // An application version over FIXT.1.1 leaves header and trailer to the session's
        // dictionary.
        let over_fixt = known.dictionary.header().is_empty();
        for violation in found {
            let tag = violation.tag.to_string();
            if over_fixt && tag.parse().is_ok_and(|tag| HEADER.contains(&tag) || TRAILER.contains(&tag)) {
                continue;
            }
            let name = tag.parse().ok().and_then(|tag| known.dictionary.field(tag));
            let field =
                name.map_or_else(|| format!("field {tag}"), |field| format!("{} ({tag})", field.name));
            let problem = format!("{field}: {}", lower_first(violation.text()));
            // A group may violate the same rule in every entry.
            if !self.problems.contains(&problem) {
                self.problems.push(problem);
            }
        }
        // The number of entries begun so far in the groups around the field, outermost first.
        let mut entries: Vec<u32> = Vec::new();
        for (position, mut place) in places.into_iter().enumerate() {
            if over_fixt && TRAILER.contains(&message.tags()[position]) {
                place = Place::new(place.tag(), Section::Trailer, 0);
            }
            self.push(message.field_bytes(position), place.section(), Some(known));
            let depth = place.depth();
            entries.truncate(depth);
            if place.begins_entry() {
                entries.resize(depth, 0);
                entries[depth - 1] += 1;
            }
            if let Some(field) = self.fields.last_mut() {
                (field.depth, field.begins_entry) = (depth, place.begins_entry());
                field.entry = entries.get(depth.wrapping_sub(1)).copied().unwrap_or(0);
            }
        }
        self.restore(original, right);
    }

    /// Restores the original BodyLength and CheckSum of a message that was read with corrected
    /// ones, or removes them if the original message had none.
    fn restore(&mut self, original: &[u8], right: bool) {
        if right {
            return;
        }
        for (tag, name) in [(9, "9"), (10, "10")] {
            match value_of(original, tag) {
                Some(value) => {
                    for field in self.fields.iter_mut().filter(|field| field.tag == name) {
                        field.value = shown(&value);
                    }
                }
                None => self.fields.retain(|field| field.tag != name),
            }
        }
    }

    /// Adds the fields without structure, for bytes that cannot be indexed.
    fn fill_plainly(&mut self, bytes: &[u8], known: Option<&Known>) {
        self.name = known
            .and_then(|known| known.dictionary.message(self.msg_type.as_bytes()))
            .map(|message| message.name.clone());
        for field in split(bytes) {
            let section = section_without_dictionary(tag_of(field).unwrap_or(0), self.fields.last());
            self.push(field, section, known);
        }
    }

    fn push(&mut self, field: &[u8], section: Section, known: Option<&Known>) {
        let (tag, value) = match field.iter().position(|b| *b == b'=') {
            Some(at) => (&field[..at], &field[at + 1..]),
            None => (field, &field[field.len()..]),
        };
        let number = tag_of(field);
        let name = number.and_then(|tag| known?.dictionary.field(tag)).map(|field| field.name.clone());
        let code = number.and_then(|tag| known?.code_names(tag, value));
        let secret = number.is_some_and(|tag| is_secret(tag, self.msg_type.as_bytes()));
        let value = if secret { "*".repeat(value.len().min(8)) } else { shown(value) };
        self.fields.push(Shown {
            tag: shown(tag),
            name,
            value,
            code: code.filter(|_| !secret),
            section,
            depth: 0,
            entry: 0,
            begins_entry: false,
        });
    }
}

/// Returns whether a field is secret: passwords (554, 925) anywhere, and RawData (96) of a Logon.
fn is_secret(tag: u32, msg_type: &[u8]) -> bool {
    matches!(tag, 554 | 925) || tag == 96 && msg_type == b"A"
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

fn fault_text(message: &Message<'_>, fault: fixbolt_codec::Fault) -> String {
    let tag = shown(&message.bytes()[fault.tag.start()..fault.tag.end()]);
    match fault.kind {
        FaultKind::EmptyValue => format!("field {tag}: tag specified without a value"),
        FaultKind::NoEquals => format!("field {tag}: has no '='"),
        _ => format!("field {tag}: invalid tag number"),
    }
}

/// The standard header.
const HEADER: [u32; 27] = [
    8, 9, 35, 1128, 1156, 1129, 49, 56, 115, 128, 90, 91, 34, 50, 142, 57, 143, 116, 144, 129, 145, 43, 97,
    52, 122, 212, 213,
];
/// The standard trailer.
const TRAILER: [u32; 3] = [93, 89, 10];

/// Returns the section without a dictionary: the standard header up to the first field of the body,
/// and the three fields of the trailer.
fn section_without_dictionary(tag: u32, last: Option<&Shown>) -> Section {
    let in_header = last.is_none_or(|last| last.section == Section::Header);
    match tag {
        tag if TRAILER.contains(&tag) => Section::Trailer,
        tag if in_header && HEADER.contains(&tag) => Section::Header,
        _ => Section::Body,
    }
}

/// Returns the fields, separated by SOH, of bytes that may not be a message.
fn split(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|b| *b == 1).filter(|field| !field.is_empty())
}

fn tag_of(field: &[u8]) -> Option<u32> {
    let digits = field.split(|b| *b == b'=').next()?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

fn value_of(bytes: &[u8], tag: u32) -> Option<Vec<u8>> {
    let field = split(bytes).find(|field| tag_of(field) == Some(tag))?;
    let at = field.iter().position(|b| *b == b'=')?;
    Some(field[at + 1..].to_vec())
}

/// Returns the reason why bytes that begin like a message are not one.
fn what_is_wrong(bytes: &[u8]) -> String {
    let Some(last) = split(bytes).last().filter(|field| field.starts_with(b"10=")) else {
        return "cut off: there is no CheckSum (10) at the end".to_owned();
    };
    let tags: Vec<Option<u32>> = split(bytes).take(2).map(tag_of).collect();
    if tags != [Some(8), Some(9)] {
        return "BodyLength (9) is not the second field".to_owned();
    }
    let announced = value_of(bytes, 9).unwrap_or_default();
    let body = body_of(bytes, last.len());
    if announced != body.len().to_string().as_bytes() {
        return format!("BodyLength (9) is {}, the body has {} bytes", shown(&announced), body.len());
    }
    let mut framer = Framer::new(usize::MAX);
    match framer.next(bytes) {
        Frame::Garbled { error: Some(error), .. } => error.to_string(),
        _ => "cut off".to_owned(),
    }
}

/// Returns the bytes that BodyLength counts: after the second field, up to CheckSum.
fn body_of(bytes: &[u8], check_sum_length: usize) -> &[u8] {
    let mut fields = bytes.split_inclusive(|b| *b == 1);
    let head: usize = fields.by_ref().take(2).map(<[u8]>::len).sum();
    let trailing = usize::from(bytes.last() == Some(&1));
    let end = bytes.len().saturating_sub(check_sum_length + trailing);
    bytes.get(head..end).unwrap_or_default()
}

/// Returns the same fields with the right BodyLength and CheckSum.
fn sealed_anew(bytes: &[u8]) -> Vec<u8> {
    let mut body = Vec::with_capacity(bytes.len());
    for field in split(bytes) {
        if !matches!(tag_of(field), Some(8..=10)) {
            body.extend_from_slice(field);
            body.push(1);
        }
    }
    let mut message = b"8=".to_vec();
    message.extend_from_slice(&value_of(bytes, 8).unwrap_or_default());
    message.extend_from_slice(format!("\u{1}9={}\u{1}", body.len()).as_bytes());
    message.extend_from_slice(&body);
    let sum = byte_sum(&message);
    message.extend_from_slice(format!("10={sum:03}\u{1}").as_bytes());
    message
}
