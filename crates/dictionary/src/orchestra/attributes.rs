//! Attributes that may be left out: which elements have which.
//!
//! Repositories have many attributes that are not read, such as `abbrName`. One that is spelled
//! nearly like one that is read, and may be left out, is a mistake: ignored, it would silently mean
//! the default. Of one that may not be left out, it is a mistake that it is missing.

use roxmltree::Node;

use crate::read::{Findings, brief};
use crate::xml;

/// Reports attributes that seem to be misspelled.
pub(super) fn check(root: Node<'_, '_>, found: &mut Findings) {
    for node in root.descendants().filter(Node::is_element) {
        let known = optional(node);
        let attributes = node.attributes().filter(|attribute| attribute.namespace().is_none());
        for name in attributes.map(|attribute| attribute.name()) {
            if !known.contains(&name)
                && let Some(meant) = xml::misspelled(name, known.iter().copied())
                && node.attribute(meant).is_none()
            {
                let reason = format!("unknown attribute '{}'; did you mean '{meant}'?", brief(name));
                found.error(xml::line(node), xml::place(node), reason);
            }
        }
    }
}

/// Returns the attributes of an element that are read and may be left out.
fn optional(node: Node<'_, '_>) -> &'static [&'static str] {
    match node.tag_name().name() {
        "field" => &["codeSet", "lengthId", "unionDataType", "scenario", "scenarioId"],
        "codeSet" => &["unionDataType", "scenario", "scenarioId"],
        "component" | "group" | "message" => &["scenario", "scenarioId"],
        "fieldRef" => &["presence", "value", "scenario", "scenarioId"],
        "componentRef" | "groupRef" => &["presence", "scenario", "scenarioId"],
        "rule" => &["presence"],
        _ => &[],
    }
}
