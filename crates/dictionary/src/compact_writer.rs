//! Writes dictionaries as compact tables, which [`compact`](crate::compact) describes and reads.

use std::fmt::Write as _;

use crate::compact::FORMAT;
use crate::locate::Key;
use crate::model::{Dictionary, Member};
use crate::terms::{Rule, Scenario};

impl Dictionary {
    /// Returns the dictionary as a compact table.
    pub fn to_table(&self) -> String {
        let mut out = String::with_capacity(128 * 1024);
        let source = &self.origin;
        let _ = writeln!(
            out,
            "# {}: facts of this FIX version, made by `fixbolt dictionary compile`; do not edit.",
            self.version.name
        );
        let _ = writeln!(out, "table {FORMAT}");
        let _ = writeln!(out, "version {}", escape(&self.version.name));
        let _ = writeln!(
            out,
            "source {} sha256:{} {}",
            if source.name.is_empty() { "-".to_string() } else { escape(&source.name) },
            source.sha256,
            escape(&source.license)
        );
        for set in &self.code_sets {
            let _ = write!(out, "codes {}", escape(&set.name));
            for code in &set.codes {
                let _ = write!(out, " {}={}", escape(&code.value), escape(&code.name));
            }
            out.push('\n');
        }
        for field in &self.fields {
            let _ = write!(out, "field {} {} {}", field.tag, escape(&field.name), field.kind);
            if let Some(id) = field.codes {
                let _ = write!(out, " codes={}", escape(&self.code_set(id).name));
            }
            if let Some(union) = field.union {
                let _ = write!(out, " union={}", union.name());
            }
            if let Some(tag) = field.length_tag {
                let _ = write!(out, " length={tag}");
            }
            out.push('\n');
        }
        for component in &self.components {
            let _ = write!(out, "component {}", escape(&component.name));
            self.write_members(&component.members, &mut out);
        }
        for group in &self.groups {
            let mark = if group.optional_inside { "?" } else { "" };
            let _ = write!(out, "group {} {}{mark}", escape(&group.name), group.count_tag);
            self.write_members(&group.members, &mut out);
        }
        out.push_str("header");
        self.write_members(&self.header, &mut out);
        out.push_str("trailer");
        self.write_members(&self.trailer, &mut out);
        for message in &self.messages {
            let _ = write!(out, "message {} {}", escape(&message.msg_type), escape(&message.name));
            self.write_members(&message.members, &mut out);
        }
        for Scenario { name, message } in &self.scenarios {
            let (name, msg_type) = (escape(name), escape(&message.msg_type));
            let _ = write!(out, "scenario {name} {msg_type} {}", escape(&message.name));
            self.write_members(&message.members, &mut out);
        }
        let mut all: Vec<_> = self.terms.iter().collect();
        all.sort_unstable_by_key(|(key, _)| *key);
        for ((place, member), terms) in all {
            let _ = write!(out, "terms {} {}", place_words(place), member_word(member));
            if let Some(constant) = &terms.constant {
                let _ = write!(out, " constant={}", escape(constant));
            }
            for Rule { name, presence, when } in &terms.rules {
                let _ = write!(out, " {presence}:{}={}", escape(name), escape(when));
            }
            out.push('\n');
        }
        out
    }

    fn write_members(&self, members: &[Member], out: &mut String) {
        for member in members {
            let required = match *member {
                Member::Field { tag, required } => {
                    let _ = write!(out, " {tag}");
                    required
                }
                Member::Group { group, required } => {
                    let _ = write!(out, " *{}", escape(&self.group(group).name));
                    required
                }
                Member::Component { component, required } => {
                    let _ = write!(out, " @{}", escape(&self.component(component).name));
                    required
                }
            };
            if required {
                out.push('!');
            }
        }
        out.push('\n');
    }
}

/// Returns the place of terms, as a line names it.
fn place_words(place: &Key) -> String {
    match place {
        Key::Field(tag) => format!("field {tag}"),
        Key::Component(name) => format!("component {}", escape(name)),
        Key::Group(name) => format!("group {}", escape(name)),
        Key::Message(msg_type) => format!("message {}", escape(msg_type)),
        Key::Scenario(name, msg_type) => format!("scenario {} {}", escape(name), escape(msg_type)),
        Key::Header => "header".to_string(),
        Key::Trailer => "trailer".to_string(),
    }
}

/// Returns a member as lists of members have it.
fn member_word(member: &Key) -> String {
    match member {
        Key::Component(name) => format!("@{}", escape(name)),
        Key::Group(name) => format!("*{}", escape(name)),
        Key::Field(tag) => tag.to_string(),
        other => place_words(other),
    }
}

/// Returns a word without the format's own marks.
fn escape(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    for character in word.chars() {
        if character.is_ascii_control() || " %=#!@*".contains(character) {
            let _ = write!(out, "%{:02X}", character as u32);
        } else {
            out.push(character);
        }
    }
    out
}
