//! What a reader is told, and what it returns.

use std::collections::HashMap;
use std::path::Path;

use fixbolt_codec::Version;

use crate::assemble::{self, Draft};
use crate::locate::{Definition, Key};
use crate::model::{Dictionary, Origin};
use crate::read::Warning;

/// A dictionary that was loaded.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Loaded {
    /// The dictionary.
    pub dictionary: Dictionary,
    /// What is odd in the source, and how it was read.
    pub warnings: Vec<Warning>,
    pub(crate) lines: HashMap<Key, u32>,
}

impl Loaded {
    /// Returns the line, from 1, on which the source defines something. `None` if it says nothing
    /// about the definition, as an overlay about what it does not change.
    ///
    /// ```
    /// use fixbolt_dictionary::{Definition, Source};
    /// let text = "<fix extends='FIX.4.4'>\n<fields>\n\
    ///     <field number='5001' name='Colour' type='CHAR'/>\n</fields></fix>";
    /// let dialect = Source::text(text).load().unwrap();
    /// assert_eq!(dialect.line_of(&Definition::Field(5001)), Some(3));
    /// assert_eq!(dialect.line_of(&Definition::Field(54)), None);
    /// ```
    pub fn line_of(&self, definition: &Definition) -> Option<u32> {
        self.lines.get(&Key::of(definition, &self.dictionary)).copied()
    }
}

/// What the readers need to know.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Options<'a> {
    pub(crate) version: Option<String>,
    pub(crate) as_of: Option<String>,
    pub(crate) duplicate_tags: bool,
    pub(crate) standard_names: bool,
    pub(crate) license: Option<String>,
    pub(crate) scenario: Option<String>,
    /// What an overlay extends, if it is not a shipped version.
    pub(crate) base: Option<&'a Dictionary>,
    /// The name of the file.
    pub(crate) name: String,
}

impl Options<'_> {
    /// Returns whether an option is set that only the readers of XML know.
    pub(crate) fn reads_xml(&self) -> bool {
        self.version.is_some()
            || self.as_of.is_some()
            || self.duplicate_tags
            || self.standard_names
            || self.base.is_some()
    }

    /// Returns the version whose name the file has, if it has one.
    pub(crate) fn file_version(&self) -> Option<Version> {
        Path::new(&self.name).file_stem()?.to_str()?.parse().ok()
    }

    /// Returns the origin of what was read from this text.
    pub(crate) fn origin(&self, text: &str) -> Origin {
        Origin {
            name: self.name.clone(),
            sha256: Origin::hash_of(text),
            license: self.license.clone().unwrap_or_default(),
        }
    }
}

/// Returns the lines of a draft's definitions, from the line of each.
pub(crate) fn lines_of(
    draft: &Draft,
    line: impl Fn(assemble::Definition) -> Option<u32>,
) -> HashMap<Key, u32> {
    use assemble::Definition as Place;
    let mut lines = HashMap::new();
    let mut note = |place, key| {
        if let Some(line) = line(place) {
            lines.insert(key, line);
        }
    };
    for (at, field) in draft.fields.iter().enumerate() {
        note(Place::Field(at), Key::Field(field.tag));
    }
    for (at, component) in draft.components.iter().enumerate() {
        note(Place::Component(at), Key::Component(component.name.clone()));
    }
    for (at, group) in draft.groups.iter().enumerate() {
        note(Place::Group(at), Key::Group(group.name.clone()));
    }
    for (at, message) in draft.messages.iter().enumerate() {
        note(Place::Message(at), Key::Message(message.msg_type.clone()));
    }
    note(Place::Header, Key::Header);
    note(Place::Trailer, Key::Trailer);
    lines
}
