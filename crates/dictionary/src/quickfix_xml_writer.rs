//! Writes dictionaries in QuickFIX's XML, for engines and tools that read nothing else.
//!
//! Every group becomes a component of its own with the group in it, as in the files of FIX 4.4 and
//! later, so that its name is kept and it is written once. Two attributes go beyond the dialect,
//! and readers that do not know them ignore them: `allowOtherValues` (QuickFIX/J) if a field
//! accepts values other than its codes, and `unionDataType` (FIX Orchestra) for which ones.

use std::collections::HashSet;
use std::fmt::Write as _;

use crate::data_type::UnionType;
use crate::model::{Dictionary, DictionaryVersion, FieldDef, GroupDef, Member};

impl Dictionary {
    /// Returns the dictionary in QuickFIX's XML, always the same text for the same dictionary.
    ///
    /// When [`Source`](crate::Source) reads it back, [`Dictionary::diff`] finds no
    /// difference, with these exceptions, which the dialect cannot express:
    /// - FIX Latest, and every name other than those like `FIX.4.4` or `FIX.5.0SP2`, is written as
    ///   FIX.5.0SP2;
    /// - the length field of a data field is found by the standard's pairs or by its name (`XLen`,
    ///   `XLength`);
    /// - before FIX 4.2, and if one of its codes is longer than a byte, a char is a string of any
    ///   length;
    /// - characters that XML cannot hold become U+FFFD.
    ///
    /// Code sets that fields share become one for each field. The source, constant values,
    /// conditions and scenarios are lost.
    ///
    /// ```
    /// use fixbolt_dictionary::{Source, fix44};
    /// let xml = fix44().to_quickfix_xml();
    /// let read = Source::text(xml).load().unwrap().dictionary;
    /// assert!(fix44().diff(&read).is_empty());
    /// ```
    pub fn to_quickfix_xml(&self) -> String {
        let components = self.components.iter().map(|component| component.name.as_str()).collect();
        let mut writer = Writer { dictionary: self, components, out: String::with_capacity(512 * 1024) };
        writer.document();
        writer.out
    }
}

struct Writer<'a> {
    dictionary: &'a Dictionary,
    /// Names of components: a group with such a name cannot be wrapped.
    components: HashSet<&'a str>,
    out: String,
}

impl Writer<'_> {
    fn document(&mut self) {
        let dictionary = self.dictionary;
        let (kind, major, minor, pack) = numbers(&dictionary.version);
        let _ = writeln!(
            self.out,
            "<fix type='{}' major='{major}' minor='{minor}' servicepack='{pack}'>",
            escape(kind)
        );
        let source = &dictionary.origin;
        // Two hyphens would end the comment.
        let parts = [("from ", &source.name), ("", &source.license)];
        let parts = parts.iter().filter(|(_, words)| !words.is_empty());
        let said: Vec<String> = parts.map(|(lead, words)| format!("{lead}{words}")).collect();
        let origin = format!("{} {}", dictionary.version.name, said.join(", "));
        let _ = writeln!(self.out, "  <!-- {} -->", plain(origin.trim_end()).replace("--", "- -"));
        self.section("header", &dictionary.header);
        self.line(1, "<messages>");
        for message in &dictionary.messages {
            let category = if message.is_admin() { "admin" } else { "app" };
            let (name, msg_type) = (escape(&message.name), escape(&message.msg_type));
            let tag = format!("message name='{name}' msgtype='{msg_type}' msgcat='{category}'");
            self.element(2, &tag, "message", &message.members);
        }
        self.line(1, "</messages>");
        self.section("trailer", &dictionary.trailer);
        self.line(1, "<components>");
        for component in &dictionary.components {
            let tag = format!("component name='{}'", escape(&component.name));
            self.element(2, &tag, "component", &component.members);
        }
        for group in &dictionary.groups {
            if self.is_wrapped(group) {
                self.line(2, &format!("<component name='{}'>", escape(&group.name)));
                // Required here, so that the reference to the component decides: other engines
                // combine both.
                self.group(3, group, !group.optional_inside);
                self.line(2, "</component>");
            }
        }
        self.line(1, "</components>");
        self.line(1, "<fields>");
        for field in &dictionary.fields {
            self.field(field);
        }
        self.line(1, "</fields>");
        self.line(0, "</fix>");
    }

    fn section(&mut self, name: &str, members: &[Member]) {
        self.element(1, name, name, members);
    }

    fn element(&mut self, depth: usize, tag: &str, name: &str, members: &[Member]) {
        if members.is_empty() {
            self.line(depth, &format!("<{tag}/>"));
            return;
        }
        self.line(depth, &format!("<{tag}>"));
        for member in members {
            self.member(depth + 1, member);
        }
        self.line(depth, &format!("</{name}>"));
    }

    fn member(&mut self, depth: usize, member: &Member) {
        let dictionary = self.dictionary;
        let (kind, name, required) = match *member {
            Member::Field { tag, required } => ("field", self.field_name(tag), required),
            Member::Component { component, required } => {
                ("component", escape(&dictionary.component(component).name), required)
            }
            Member::Group { group, required } => {
                let group = dictionary.group(group);
                if !self.is_wrapped(group) {
                    self.group(depth, group, required);
                    return;
                }
                ("component", escape(&group.name), required)
            }
        };
        let required = if required { 'Y' } else { 'N' };
        self.line(depth, &format!("<{kind} name='{name}' required='{required}'/>"));
    }

    fn group(&mut self, depth: usize, group: &GroupDef, required: bool) {
        let required = if required { 'Y' } else { 'N' };
        let tag = format!("group name='{}' required='{required}'", self.field_name(group.count_tag));
        self.element(depth, &tag, "group", &group.members);
    }

    fn is_wrapped(&self, group: &GroupDef) -> bool {
        !self.components.contains(group.name.as_str())
    }

    /// Assembling has checked that every tag is that of a field.
    fn field_name(&self, tag: u32) -> String {
        self.dictionary.field(tag).map_or_else(String::new, |field| escape(&field.name))
    }

    fn field(&mut self, field: &FieldDef) {
        let kind = field.kind.name().to_uppercase();
        let union = match field.union {
            None => String::new(),
            Some(UnionType::AnyValue) => " allowOtherValues='true'".to_string(),
            Some(union) => format!(" allowOtherValues='true' unionDataType='{}'", union.name()),
        };
        let tag = format!("field number='{}' name='{}' type='{kind}'{union}", field.tag, escape(&field.name));
        let codes = self.dictionary.codes(field.tag);
        if codes.is_empty() {
            self.line(2, &format!("<{tag}/>"));
            return;
        }
        self.line(2, &format!("<{tag}>"));
        for code in codes {
            let (value, name) = (escape(&code.value), escape(&code.name));
            self.line(3, &format!("<value enum='{value}' description='{name}'/>"));
        }
        self.line(2, "</field>");
    }

    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.out, "{:indent$}{text}", "", indent = depth * 2);
    }
}

/// Returns type, major, minor and service pack of a version; those of FIX.5.0SP2, the newest that
/// QuickFIX knows, if its name has none.
fn numbers(version: &DictionaryVersion) -> (&str, u32, u32, u32) {
    let parse = |name: &'_ str| {
        let (major, minor) = name.split_once('.')?;
        let (minor, pack) = minor.split_once("SP").unwrap_or((minor, "0"));
        Some((major.parse().ok()?, minor.parse().ok()?, pack.parse().ok()?))
    };
    let found = version.name.split_once('.').and_then(|(kind, name)| Some((kind, parse(name)?)));
    let (kind, (major, minor, pack)) = found.unwrap_or(("FIX", (5, 0, 2)));
    (kind, major, minor, pack)
}

/// Writes text as the value of an attribute in single quotes.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '\'' => out.push_str("&apos;"),
            '\t' | '\n' | '\r' => {
                let _ = write!(out, "&#{};", u32::from(character));
            }
            other => out.push(xml_character(other)),
        }
    }
    out
}

/// Writes text as part of a comment.
fn plain(text: &str) -> String {
    text.chars().map(xml_character).collect()
}

/// Returns the character if XML 1.0 can contain it.
fn xml_character(character: char) -> char {
    match character {
        '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'.. => character,
        _ => char::REPLACEMENT_CHARACTER,
    }
}
