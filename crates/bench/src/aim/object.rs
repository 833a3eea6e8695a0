//! A message as an object: every field converted, in header, body or trailer, with its own memory.

use std::ops::Range;

use fixbolt_codec::Message;
use fixbolt_dictionary::{Dictionary, Member};

use crate::values::{Types, Value};

/// Where the fields of a dictionary belong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Section {
    Header,
    Body,
    Trailer,
}

/// The types and sections of a dictionary's fields.
pub(super) struct Definition {
    types: Types,
    sections: Vec<Section>,
}

impl Definition {
    pub(super) fn new(dictionary: &Dictionary) -> Self {
        let last = dictionary.fields().iter().map(|field| field.tag).max().unwrap_or(0);
        let mut sections = vec![Section::Body; last as usize + 1];
        mark(dictionary, dictionary.header(), Section::Header, &mut sections);
        mark(dictionary, dictionary.trailer(), Section::Trailer, &mut sections);
        Self { types: Types::new(dictionary), sections }
    }
}

fn mark(dictionary: &Dictionary, members: &[Member], section: Section, sections: &mut [Section]) {
    for member in dictionary.expand(members) {
        sections[member.tag as usize] = section;
        if let Some(group) = member.group {
            mark(dictionary, &dictionary.group(group).members, section, sections);
        }
    }
}

/// A message as an object. Its memory is used again for the next one.
#[derive(Default)]
pub(super) struct Object {
    texts: Vec<u8>,
    header: Vec<Entry>,
    body: Vec<Entry>,
    trailer: Vec<Entry>,
}

/// A field: its tag, and its value without the message's memory.
struct Entry {
    tag: u32,
    value: Owned,
}

enum Owned {
    Text(Range<usize>),
    /// Converted; it borrows nothing.
    Value(Value<'static>),
}

impl Object {
    /// Replaces it by a message; returns `None` if a value is not of its type.
    #[inline]
    pub(super) fn fill(&mut self, message: &Message<'_>, definition: &Definition) -> Option<()> {
        let Self { texts, header, body, trailer } = self;
        for section in [&mut *header, body, trailer] {
            section.clear();
        }
        texts.clear();
        texts.extend_from_slice(message.bytes());
        for (n, tag) in message.tags().iter().copied().enumerate() {
            let span = message.span(n);
            let value = match definition.types.read(tag, message.value(n))? {
                Value::Text(_) | Value::Digits(_) => Owned::Text(span.start()..span.end()),
                Value::Number(value) => Owned::Value(Value::Number(value)),
                Value::Decimal(value) => Owned::Value(Value::Decimal(value)),
                Value::Char(value) => Owned::Value(Value::Char(value)),
                Value::Flag(value) => Owned::Value(Value::Flag(value)),
                Value::Timestamp(value) => Owned::Value(Value::Timestamp(value)),
                Value::Time(value) => Owned::Value(Value::Time(value)),
                Value::Date(value) => Owned::Value(Value::Date(value)),
                Value::MonthYear(value) => Owned::Value(Value::MonthYear(value)),
            };
            match definition.sections.get(tag as usize).unwrap_or(&Section::Body) {
                Section::Header => header.push(Entry { tag, value }),
                Section::Body => body.push(Entry { tag, value }),
                Section::Trailer => trailer.push(Entry { tag, value }),
            }
        }
        Some(())
    }

    /// Returns header, body and trailer, each field with its value as text.
    pub(super) fn sections(&self) -> [Vec<(u32, Vec<u8>)>; 3] {
        [&self.header, &self.body, &self.trailer].map(|section| {
            let text = |value: &Owned| match value {
                Owned::Text(range) => self.texts[range.clone()].to_vec(),
                Owned::Value(value) => value.text(),
            };
            section.iter().map(|entry| (entry.tag, text(&entry.value))).collect()
        })
    }
}
