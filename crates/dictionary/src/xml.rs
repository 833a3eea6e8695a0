//! What both XML readers need: a parsed document, lines and attributes.
//!
//! A document type declaration is skipped, together with every entity it declares and everything it
//! points to: nothing is fetched and nothing is expanded.

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use roxmltree::{Document, Error, Node};
use strsim::osa_distance;

use crate::assemble::{Definition, Draft, DraftError, NO_HEADER};
use crate::hidden::hidden_members;
use crate::limits;
use crate::loaded::{Loaded, lines_of};
use crate::model::{Code, Dictionary};
use crate::read::{Faults, Findings, Lines, ReadError, Spot, brief};

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
/// Returns an error if the text is not well-formed, ends too early, or exceeds a limit that keeps
/// parsing linear.
pub(crate) fn parse(plain: &str) -> Result<Document<'_>, Faults> {
    let fault =
        |line: u32, reason: String| Faults::one(ReadError { line, element: "document".to_string(), reason });
    let lines = Lines::of(plain);
    let line_of = |at| lines.line(Spot::Byte(at));
    let open = measure(plain).map_err(|(at, reason)| fault(line_of(at), reason))?;
    Document::parse(plain).map_err(|error| {
        let ends_early = match error {
            // The parser has no place for these.
            Error::UnexpectedEndOfStream | Error::UnclosedRootNode => true,
            _ => open.is_some_and(|open| error.pos().row >= line_of(open)),
        };
        if ends_early {
            let last = line_of(plain.trim_end().len().saturating_sub(1));
            return fault(
                last,
                "the text ends too early: this is the last line, and elements are open".to_string(),
            );
        }
        fault(error.pos().row, error.to_string())
    })
}

/// Checks what would make reading slow: comparing the attributes of an element, and copying
/// namespaces into every element, takes time that grows with the square of their number, and so do
/// messages that quote a long name again and again. Returns where the last tag begins if it has no
/// end.
///
/// # Errors
/// Returns the byte and the reason.
fn measure(plain: &str) -> Result<Option<usize>, (usize, String)> {
    let bytes = plain.as_bytes();
    let (mut at, mut depth, mut namespaces) = (0, 0_usize, 0);
    while let Some(start) = plain[at..].find('<').map(|found| at + found) {
        let rest = &plain[start..];
        let skipped = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")];
        if let Some((_, end)) = skipped.iter().find(|(begin, _)| rest.starts_with(begin)) {
            let Some(found) = rest.find(end) else { return Ok(Some(start)) };
            at = start + found + end.len();
            continue;
        }
        let is_end = rest.starts_with("</");
        let (mut attributes, mut quote) = (0, None);
        at = start + 1;
        while at < bytes.len() {
            match (quote, bytes[at]) {
                (None, b'>') => break,
                (None, b'=') => {
                    attributes += 1;
                    let name = plain[start..at].trim_end();
                    let name = name.rsplit(|c: char| c.is_ascii_whitespace()).next().unwrap_or_default();
                    namespaces += usize::from(name.starts_with("xmlns"));
                }
                (None, mark @ (b'"' | b'\'')) => quote = Some(mark),
                (Some(mark), byte) if byte == mark => quote = None,
                _ => {}
            }
            if attributes > limits::XML_ATTRIBUTES {
                let most = limits::XML_ATTRIBUTES;
                return Err((at, format!("an element has more than {most} attributes")));
            }
            at += 1;
        }
        if at - start > limits::XML_TAG {
            return Err((start, format!("a tag has more than {} bytes", limits::XML_TAG)));
        }
        if at == bytes.len() {
            return Ok(Some(start));
        }
        if namespaces > limits::XML_NAMESPACES {
            return Err((start, format!("there are more than {} namespaces", limits::XML_NAMESPACES)));
        }
        if is_end {
            depth = depth.saturating_sub(1);
        } else if bytes[at - 1] != b'/' {
            depth += 1;
        }
        if depth > limits::XML_DEPTH {
            return Err((start, format!("elements are nested deeper than {}", limits::XML_DEPTH)));
        }
    }
    Ok(None)
}

/// The codes of a set as they are read.
#[derive(Default)]
pub(crate) struct Codes<'a> {
    pub(crate) read: Vec<Code>,
    /// Their names by their values.
    names: HashMap<&'a str, &'a str>,
}

impl<'a> Codes<'a> {
    /// Adds a code.
    ///
    /// # Errors
    /// Why it is not added: another one has its value.
    pub(crate) fn add(&mut self, value: &'a str, name: &'a str) -> Result<(), String> {
        match self.names.entry(value) {
            Entry::Vacant(entry) => {
                entry.insert(name);
                self.read.push(Code { value: value.to_string(), name: name.to_string() });
                Ok(())
            }
            Entry::Occupied(first) => {
                let [value, name, first] = [value, name, first.get()].map(brief);
                Err(format!("'{value}' is given twice: '{name}' is hidden by '{first}' before it"))
            }
        }
    }
}

/// Completes and assembles what a reader made of a document, which may extend `base`; `node_of`
/// returns the element of a fault.
///
/// # Errors
/// Returns what the reader found together with what assembling finds, so that one run reports
/// everything.
pub(crate) fn conclude<'a, 'd: 'a>(
    mut draft: Draft,
    mut found: Findings,
    standard_names: bool,
    base: Option<&Dictionary>,
    document: &'a Document<'d>,
    node_of: &dyn Fn(Definition) -> Option<Node<'a, 'd>>,
) -> Result<Loaded, Faults> {
    let root = document.root_element();
    let outer = |name: &str, component: &str| {
        let of_orchestra = || {
            let components = children(root, "components").flat_map(elements);
            components.into_iter().find(|node| node.attribute("name") == Some(component))
        };
        child(root, name).or_else(of_orchestra)
    };
    let (header, trailer) = (outer("header", "StandardHeader"), outer("trailer", "StandardTrailer"));
    let node_of = |place: Definition| match place {
        Definition::Header => header,
        Definition::Trailer => trailer,
        other => node_of(other).filter(|node| *node != root),
    };
    let node_or_root = |place| node_of(place).unwrap_or(root);
    for DraftError { place: at, reason } in draft.complete() {
        found.warn(line(node_or_root(at)), place(node_or_root(at)), reason);
    }
    if draft.lacks_header() {
        found.warn(line(root), label(root), NO_HEADER);
    }
    if standard_names && draft.has_sound_references() {
        draft.use_standard_names();
    }
    let lines = lines_of(&draft, &|place| Some(found.line(line(node_of(place)?))));
    match draft.assemble() {
        Ok(dictionary) => {
            let known = base.map(hidden_members).unwrap_or_default();
            let known: HashSet<String> = known.into_iter().map(|(_, reason)| reason).collect();
            // What an overlay adds may hide the same in many definitions that are not in the file.
            let mut told = HashSet::new();
            for (at, reason) in hidden_members(&dictionary) {
                let is_told = node_of(at).is_none() && !told.insert(reason.clone());
                if !known.contains(&reason) && !is_told {
                    found.warn(line(node_or_root(at)), place(node_or_root(at)), reason);
                }
            }
            found.conclude().map(|warnings| Loaded { dictionary, warnings, lines })
        }
        Err(faults) => {
            for DraftError { place: at, reason } in faults {
                found.error(line(node_or_root(at)), place(node_or_root(at)), reason);
            }
            Err(found.into_faults())
        }
    }
}

/// Returns where a node begins. Asking the document for the line would count all lines before it.
pub(crate) fn line(node: Node<'_, '_>) -> Spot {
    Spot::Byte(node.range().start)
}

/// Returns the name of the node for messages: `field 'Symbol'`.
pub(crate) fn label(node: Node<'_, '_>) -> String {
    let name = ["name", "msgtype", "msgType", "id", "number", "value", "enum"]
        .iter()
        .find_map(|key| node.attribute(*key));
    match name {
        Some(name) => format!("{} '{}'", node.tag_name().name(), brief(name)),
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

/// Returns the attribute of which a name seems to be a misspelling.
pub(crate) fn misspelled(name: &str, known: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let near = known.filter_map(|known| {
        let most = (known.len() / 4).max(1);
        // A distance is at least the difference of the lengths, and costs their product.
        let distance = (name.len().abs_diff(known.len()) <= most)
            .then(|| osa_distance(&name.to_ascii_lowercase(), &known.to_ascii_lowercase()))?;
        (distance <= most).then_some((distance, known))
    });
    near.min().map(|(_, known)| known)
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
