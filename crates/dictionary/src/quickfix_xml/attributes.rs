//! Attributes: which elements have which, and what they say.
//!
//! Engines have attributes of their own, such as `msgcat`, which are ignored. One that is spelled
//! nearly like an attribute that is read is a mistake: ignored, it would silently mean the default.

use roxmltree::Node;
use strsim::osa_distance;

use super::Reader;
use crate::data_type::UnionType;
use crate::read::{Findings, brief};
use crate::xml;

/// Reports attributes that seem to be misspelled, and those that have no meaning where they are.
pub(super) fn check(root: Node<'_, '_>, is_overlay: bool, found: &mut Findings) {
    for node in root.descendants().filter(Node::is_element) {
        let Some(element) = Element::of(node) else { continue };
        let attributes = node.attributes().filter(|attribute| attribute.namespace().is_none());
        for name in attributes.map(|attribute| attribute.name()) {
            if element.reads(name, is_overlay) || OF_OTHERS.contains(&name) {
                continue;
            }
            if CHANGES.contains(&name) {
                let reason = match is_overlay {
                    true => format!("attribute '{name}' has no meaning here"),
                    false => {
                        format!("attribute '{name}' has a meaning only in a file with <fix extends=...>")
                    }
                };
                found.error(xml::line(node), xml::place(node), reason);
            } else if let Some(meant) = element.meant(name, is_overlay)
                && node.attribute(meant).is_none()
            {
                let reason = format!("unknown attribute '{}'; did you mean '{meant}'?", brief(name));
                found.error(xml::line(node), xml::place(node), reason);
            }
        }
    }
}

/// Attributes of other engines' files and of FIX repositories that resemble one that is read.
const OF_OTHERS: &[&str] = &["replaced"];

/// The attributes by which an overlay changes something.
const CHANGES: &[&str] = &["replace", "before", "after"];

/// The elements that have attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    Root,
    Section,
    Field,
    Value,
    Component,
    Message,
    Member,
    GroupMember,
}

impl Element {
    fn of(node: Node<'_, '_>) -> Option<Element> {
        let name = node.tag_name().name();
        let Some(parent) = node.parent_element() else { return Some(Element::Root) };
        match (parent.tag_name().name(), name) {
            ("fix", "header" | "trailer" | "messages" | "components" | "fields") => Some(Element::Section),
            ("fields", "field") => Some(Element::Field),
            ("components", "component") => Some(Element::Component),
            ("messages", "message") => Some(Element::Message),
            ("field", "value") => Some(Element::Value),
            (_, "field" | "component") => Some(Element::Member),
            (_, "group") => Some(Element::GroupMember),
            _ => None,
        }
    }

    /// Returns the attributes that are read of this element in each file, and in an overlay.
    fn attributes(self) -> [&'static [&'static str]; 2] {
        match self {
            Element::Root => [&["type", "major", "minor", "servicepack", "extends"], &[]],
            Element::Section => [&[], &[]],
            Element::Field => {
                [&["number", "name", "type", "allowOtherValues", "unionDataType"], &["replace"]]
            }
            Element::Value => [&["enum", "description"], &[]],
            Element::Component => [&["name"], &["replace"]],
            Element::Message => [&["name", "msgtype"], &["replace"]],
            Element::Member => [&["name", "required"], &["before", "after"]],
            Element::GroupMember => [&["name", "required"], &["before", "after", "replace"]],
        }
    }

    fn reads(self, name: &str, is_overlay: bool) -> bool {
        let [always, in_overlay] = self.attributes();
        always.contains(&name) || (is_overlay && in_overlay.contains(&name))
    }

    /// Returns the attribute of which this seems to be a misspelling.
    fn meant(self, name: &str, is_overlay: bool) -> Option<&'static str> {
        let [always, in_overlay] = self.attributes();
        let known = always.iter().chain(in_overlay.iter().filter(|_| is_overlay));
        xml::misspelled(name, known.copied())
    }
}

impl<'a, 'd> Reader<'a, 'd> {
    /// Returns the first part of a version's name: `FIX`, `FIXT`, or a word of the dictionary's
    /// own, with a warning where that is nearly one of these.
    pub(super) fn kind_of(&mut self, root: Node<'a, 'd>) -> String {
        let Some(word) = root.attribute("type") else { return "FIX".to_owned() };
        let kind = word.trim().to_uppercase();
        // A distance is at least the difference of the lengths, and costs their product.
        let distance = |known: &str| {
            let is_as_long = kind.len().abs_diff(known.len()) <= 1;
            if is_as_long { osa_distance(&kind, known) } else { usize::MAX }
        };
        if distance("FIX").min(distance("FIXT")) == 1 {
            let reason =
                format!("attribute 'type' is '{kind}', read as a name of its own; is FIX or FIXT meant?");
            self.found.warn(xml::line(root), xml::label(root), reason);
        }
        kind
    }

    /// Returns whether a field takes any value beside its codes: `true`, as QuickFIX/J reads it, or
    /// `Y`, each in any case.
    pub(super) fn allows_other_values(&mut self, node: Node<'a, 'd>) -> bool {
        let Some(word) = node.attribute("allowOtherValues") else { return false };
        match word.trim().to_ascii_uppercase().as_str() {
            "TRUE" | "Y" => true,
            "FALSE" | "N" => false,
            _ => {
                let reason = format!("attribute 'allowOtherValues' is '{}', not true or false", brief(word));
                self.found.error(xml::line(node), xml::place(node), reason);
                false
            }
        }
    }

    /// Returns which values a field takes beside its codes: what our own writer adds in the words
    /// of Orchestra, or else any if it allows others.
    pub(super) fn union_of(&mut self, node: Node<'a, 'd>) -> Option<UnionType> {
        let any_value = self.allows_other_values(node).then_some(UnionType::AnyValue);
        let Some(name) = node.attribute("unionDataType") else { return any_value };
        let union = UnionType::from_name(name);
        if union.is_none() {
            let reason =
                format!("attribute 'unionDataType' is '{}', not one of FIX Orchestra's", brief(name));
            self.found.error(xml::line(node), xml::place(node), reason);
        }
        union
    }

    /// Returns whether a member is required, of which `Y` and `N` are read in any case. `C` marks
    /// what is required under a condition that the file does not state: not required here.
    pub(super) fn is_required(&mut self, node: Node<'a, 'd>) -> bool {
        let Some(word) = node.attribute("required") else { return false };
        let (required, is_plain) = match word.trim().to_ascii_uppercase().as_str() {
            "Y" => (true, true),
            "N" => (false, true),
            "YES" | "TRUE" => (true, false),
            "" | "NO" | "FALSE" | "C" => (false, false),
            _ => {
                let reason = format!("attribute 'required' is '{}', not Y or N", brief(word));
                self.found.error(xml::line(node), xml::place(node), reason);
                return false;
            }
        };
        if !is_plain {
            let reason =
                format!("attribute 'required' is '{word}', read as {}", if required { "Y" } else { "N" });
            self.found.warn(xml::line(node), xml::place(node), reason);
        }
        required
    }

    /// Returns whether a definition of an overlay replaces the one that it extends.
    pub(super) fn replaces(&mut self, node: Node<'a, 'd>) -> bool {
        match node.attribute("replace") {
            None | Some("N" | "n") => false,
            Some("Y" | "y") => true,
            Some(other) => {
                let reason = format!("attribute 'replace' is '{}', not Y or N", brief(other));
                self.found.error(xml::line(node), xml::label(node), reason);
                false
            }
        }
    }
}
