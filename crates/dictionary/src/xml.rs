//! What both XML readers need: a parsed document, lines and attributes.
//!
//! A document type declaration is skipped, together with every entity it declares and everything it
//! points to: nothing is fetched and nothing is expanded.

use std::borrow::Cow;

use roxmltree::{Document, Node};

use crate::assemble::{Definition, Draft, DraftError};
use crate::model::Dictionary;
use crate::read::{Findings, ReadError, Warning};

/// Returns the text for the parser, every line where it was: without a byte order mark, white space
/// before the XML declaration, and the document type declaration.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let body = text.trim_start();
    let mut blank = Vec::new();
    if body.len() < text.len() && body.starts_with("<?xml ") {
        let start = text.len() - body.len();
        blank.extend(body.find("?>").map(|end| (start, start + end + 2)));
    }
    blank.extend(doctype(text));
    if blank.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (start, end) in blank {
        out.push_str(&text[from..start]);
        out.extend(text[start..end].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        from = end;
    }
    out.push_str(&text[from..]);
    Cow::Owned(out)
}

/// Returns the position of the document type declaration, which comes before the first element,
/// after comments and instructions.
fn doctype(text: &str) -> Option<(usize, usize)> {
    let mut at = 0;
    loop {
        at += text[at..].find('<')?;
        let rest = &text[at..];
        if rest.starts_with("<!DOCTYPE") {
            break;
        }
        let end = match rest {
            _ if rest.starts_with("<!--") => "-->",
            _ if rest.starts_with("<?") => "?>",
            _ => return None,
        };
        at += rest.find(end)? + end.len();
    }
    let (mut depth, mut end) = (0_u32, at + 1);
    loop {
        end += text[end..].find(['<', '>', '"', '\''])?;
        let rest = &text[end..];
        let quote = rest.chars().next()?;
        end += match quote {
            '<' if rest.starts_with("<!--") => rest.find("-->")? + 3,
            '<' if rest.starts_with("<?") => rest.find("?>")? + 2,
            '<' => {
                depth += 1;
                1
            }
            '>' if depth == 0 => return Some((at, end + 1)),
            '>' => {
                depth -= 1;
                1
            }
            _ => rest[1..].find(quote)? + 2,
        };
    }
}

/// Parses plain text.
///
/// # Errors
/// Returns an error if the text is not well-formed.
pub(crate) fn parse(plain: &str) -> Result<Document<'_>, ReadError> {
    Document::parse(plain).map_err(|error| {
        let line = error.pos().row;
        ReadError { line, element: "document".to_string(), reason: error.to_string() }
    })
}

/// Completes and assembles what a reader made of a document; `node_of` returns the element of a
/// fault.
///
/// # Errors
/// Returns what the reader found together with what assembling finds, so that one run reports
/// everything.
pub(crate) fn conclude<'a, 'd: 'a>(
    mut draft: Draft,
    mut found: Findings,
    node_of: impl Fn(Definition) -> Node<'a, 'd>,
) -> Result<(Dictionary, Vec<Warning>), Vec<ReadError>> {
    for DraftError { place: at, reason } in draft.complete() {
        found.warn(line(node_of(at)), place(node_of(at)), reason);
    }
    let assembled = draft.assemble();
    for DraftError { place: at, reason } in assembled.as_ref().err().into_iter().flatten() {
        found.error(line(node_of(*at)), place(node_of(*at)), reason.clone());
    }
    match assembled {
        Ok(dictionary) if found.errors.is_empty() => Ok((dictionary, found.warnings)),
        _ => Err(found.errors),
    }
}

/// Returns the line of a node, from 1.
pub(crate) fn line(node: Node<'_, '_>) -> u32 {
    node.document().text_pos_at(node.range().start).row
}

/// Returns the name of the node for messages: `field 'Symbol'`.
pub(crate) fn label(node: Node<'_, '_>) -> String {
    let name = ["name", "msgtype", "msgType", "id", "number", "value", "enum"]
        .iter()
        .find_map(|key| node.attribute(*key));
    match name {
        Some(name) => format!("{} '{name}'", node.tag_name().name()),
        None => node.tag_name().name().to_string(),
    }
}

/// Returns the node with the definition around it: `field 'Symbol' in message 'NewOrderSingle'`.
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

/// Returns a non-empty attribute, or records an error.
pub(crate) fn required<'a>(node: Node<'a, '_>, key: &str, found: &mut Findings) -> Option<&'a str> {
    let value = node.attribute(key).filter(|value| !value.is_empty());
    if value.is_none() {
        found.error(line(node), place(node), format!("attribute '{key}' is missing or empty"));
    }
    value
}

/// Returns an attribute as a number, ignoring white space around it, or records an error.
pub(crate) fn number(node: Node<'_, '_>, key: &str, found: &mut Findings) -> Option<u32> {
    let text = required(node, key, found)?;
    let number = text.trim().parse().ok();
    if number.is_none() {
        found.error(line(node), place(node), format!("attribute '{key}' is '{text}', not a whole number"));
    }
    number
}

/// Returns the child elements of a node.
pub(crate) fn elements<'a, 'd>(node: Node<'a, 'd>) -> impl Iterator<Item = Node<'a, 'd>> {
    node.children().filter(Node::is_element)
}

/// Returns the child elements with this local name.
pub(crate) fn children<'a, 'd>(node: Node<'a, 'd>, name: &'a str) -> impl Iterator<Item = Node<'a, 'd>> {
    elements(node).filter(move |child| child.tag_name().name() == name)
}

/// Returns the first child element with this local name.
pub(crate) fn child<'a, 'd>(node: Node<'a, 'd>, name: &str) -> Option<Node<'a, 'd>> {
    elements(node).find(|child| child.tag_name().name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_type_declaration_becomes_blanks_and_nothing_else_does() {
        let declared = "<?xml version='1.0'?>\n<!-- <!DOCTYPE no> -->\n<!DOCTYPE fix SYSTEM 'a>b' [\n<!ENTITY x \"y>]\">\n\
            <!-- ' -->\n]>\n<fix a='<!DOCTYPE'/>";
        let read = plain(declared);
        assert_eq!(read.lines().count(), declared.lines().count());
        assert_eq!(read.lines().nth(1), Some("<!-- <!DOCTYPE no> -->"));
        assert_eq!(read.lines().last(), Some("<fix a='<!DOCTYPE'/>"));
        assert!(!read.contains("ENTITY"));
        let plain_already = "<fix><!DOCTYPE late></fix>";
        assert!(matches!(plain(plain_already), Cow::Borrowed(_)));
        for broken in ["<!DOCTYPE", "<!DOCTYPE fix [<", "<!DOCTYPE 'x", "<!--", "<?xml ", "", "\u{feff} <"] {
            let _ = plain(broken);
        }
    }

    #[test]
    fn white_space_before_the_declaration_is_forgiven() {
        let text = "\u{feff}\n <?xml version='1.0'?>\n<fix/>";
        assert_eq!(plain(text), "\n                      \n<fix/>");
        assert!(parse(&plain(text)).is_ok());
    }
}
