//! What a reader is told, and what it returns.

use std::collections::HashMap;
use std::path::Path;

use fixbolt_codec::Version;

use crate::assemble::{self, Draft};
use crate::locate::{Definition, Key};
use crate::model::{Dictionary, DictionaryVersion, FieldDef, Member, MessageDef, Origin};
use crate::read::Warning;
use crate::shipped::shipped;

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

    /// Returns the shipped version that the source replaces although it seems only to add to it:
    /// it has fields, and none of them is the version's, or it has no header, or, for FIX.5.0 and
    /// later, neither header nor messages. A file that begins with `<fix extends='FIX.4.4'>` adds.
    ///
    /// ```
    /// use fixbolt_dictionary::{Source, Version};
    /// let text = "<fix major='4' minor='4'><messages/>\n<fields>\
    ///     <field number='5001' name='Colour' type='CHAR'/></fields></fix>";
    /// let replaced = |text: &str| Source::text(text).load().unwrap().replaced_version();
    /// assert_eq!(replaced(text), Some(Version::Fix44));
    /// assert_eq!(replaced(&text.replace("major='4' minor='4'", "extends='FIX.4.4'")), None);
    /// ```
    pub fn replaced_version(&self) -> Option<Version> {
        let Dictionary { version, header, messages, fields, .. } = &self.dictionary;
        replaced_version(version, header, messages, fields)
    }
}

/// Returns the shipped version that these parts replace although they seem only to add to it.
pub(crate) fn replaced_version(
    version: &DictionaryVersion,
    header: &[Member],
    messages: &[MessageDef],
    fields: &[FieldDef],
) -> Option<Version> {
    let known = version.known?;
    let has_transport = known != Version::Fixt11 && version.begin_string == Version::Fixt11.name();
    let lacks_outer = header.is_empty() && (!has_transport || messages.is_empty());
    let is_apart = || fields.iter().all(|field| shipped(known).field(field.tag).is_none());
    (!fields.is_empty() && (lacks_outer || is_apart())).then_some(known)
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
    line: &dyn Fn(assemble::Definition) -> Option<u32>,
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
