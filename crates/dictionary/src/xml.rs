//! What both XML readers need: a parsed document, lines and attributes.
//!
//! Document type declarations are refused, and with them every external entity.

use roxmltree::{Document, Node, ParsingOptions};

use crate::assemble::{Draft, Fault, Place};
use crate::model::Dictionary;
use crate::read::{Findings, ReadError, Warning};

/// Parses `text`.
///
/// # Errors
/// Not well formed, or with a document type declaration.
pub(crate) fn parse(text: &str) -> Result<Document<'_>, ReadError> {
    let options = ParsingOptions { allow_dtd: false, ..ParsingOptions::default() };
    Document::parse_with_options(text.strip_prefix('\u{feff}').unwrap_or(text), options).map_err(|error| {
        let line = error.pos().row;
        ReadError { line, element: "document".to_string(), reason: error.to_string() }
    })
}

/// Completes and assembles what a reader made of a document; `node_of` gives the element that a fault is about.
///
/// # Errors
/// What the reader found and what assembling finds, together, so that one run tells everything.
pub(crate) fn conclude<'a, 'd: 'a>(
    mut draft: Draft,
    mut found: Findings,
    node_of: impl Fn(Place) -> Node<'a, 'd>,
) -> Result<(Dictionary, Vec<Warning>), Vec<ReadError>> {
    for Fault { place: at, reason } in draft.complete() {
        found.warn(line(node_of(at)), place(node_of(at)), reason);
    }
    let assembled = draft.assemble();
    for Fault { place: at, reason } in assembled.as_ref().err().into_iter().flatten() {
        found.error(line(node_of(*at)), place(node_of(*at)), reason.clone());
    }
    match assembled {
        Ok(dictionary) if found.errors.is_empty() => Ok((dictionary, found.warnings)),
        _ => Err(found.errors),
    }
}

/// Line of a node, from 1.
pub(crate) fn line(node: Node<'_, '_>) -> u32 {
    node.document().text_pos_at(node.range().start).row
}

/// What the node is, for messages: `field 'Symbol'`.
pub(crate) fn label(node: Node<'_, '_>) -> String {
    let name = ["name", "msgtype", "msgType", "id", "number", "value", "enum"]
        .iter()
        .find_map(|key| node.attribute(*key));
    match name {
        Some(name) => format!("{} '{name}'", node.tag_name().name()),
        None => node.tag_name().name().to_string(),
    }
}

/// The node with the definition it stands in: `field 'Symbol' in message 'NewOrderSingle'`.
pub(crate) fn place(node: Node<'_, '_>) -> String {
    let outer = node.ancestors().skip(1).find(|outer| {
        matches!(
            outer.tag_name().name(),
            "message" | "component" | "group" | "codeSet" | "header" | "trailer"
        )
    });
    match outer {
        Some(outer) => format!("{} in {}", label(node), label(outer)),
        None => label(node),
    }
}

/// The attribute, not empty; an error otherwise.
pub(crate) fn required<'a>(node: Node<'a, '_>, key: &str, found: &mut Findings) -> Option<&'a str> {
    let value = node.attribute(key).filter(|value| !value.is_empty());
    if value.is_none() {
        found.error(line(node), place(node), format!("attribute '{key}' is missing or empty"));
    }
    value
}

/// The attribute as a number; an error otherwise.
pub(crate) fn number(node: Node<'_, '_>, key: &str, found: &mut Findings) -> Option<u32> {
    let text = required(node, key, found)?;
    let number = text.parse().ok();
    if number.is_none() {
        found.error(line(node), place(node), format!("attribute '{key}' is '{text}', not a whole number"));
    }
    number
}

/// Child elements of a node.
pub(crate) fn elements<'a, 'd>(node: Node<'a, 'd>) -> impl Iterator<Item = Node<'a, 'd>> {
    node.children().filter(Node::is_element)
}

/// The first child element with this local name.
pub(crate) fn child<'a, 'd>(node: Node<'a, 'd>, name: &str) -> Option<Node<'a, 'd>> {
    elements(node).find(|child| child.tag_name().name() == name)
}
