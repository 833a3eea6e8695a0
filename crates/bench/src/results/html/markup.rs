//! Markup that is well-formed as HTML and as XML, and safe whatever the texts in it contain.

/// Markup that is being written.
#[derive(Debug, Default)]
pub(super) struct Markup {
    text: String,
}

/// A name and a value. The value is escaped.
pub(super) type Attribute<'a> = (&'a str, &'a str);

/// Elements after which a line ends, so that people can read the page's source.
const BLOCKS: &[&str] = &[
    "body",
    "dd",
    "details",
    "div",
    "dl",
    "figcaption",
    "figure",
    "footer",
    "h1",
    "h2",
    "h3",
    "h4",
    "head",
    "header",
    "html",
    "li",
    "main",
    "nav",
    "ol",
    "p",
    "section",
    "style",
    "svg",
    "table",
    "tbody",
    "thead",
    "title",
    "tr",
    "ul",
];

impl Markup {
    /// Writes an element.
    pub(super) fn inside(
        &mut self,
        name: &str,
        attributes: &[Attribute<'_>],
        content: impl FnOnce(&mut Self),
    ) {
        self.tag(name, attributes, ">");
        content(self);
        self.text.push_str("</");
        self.text.push_str(name);
        self.text.push('>');
        if BLOCKS.contains(&name) {
            self.text.push('\n');
        }
    }

    /// Writes an element that contains only text.
    pub(super) fn element(&mut self, name: &str, attributes: &[Attribute<'_>], text: &str) {
        self.inside(name, attributes, |to| to.text(text));
    }

    /// Writes an element without content: a void one of HTML, or one of SVG.
    pub(super) fn empty(&mut self, name: &str, attributes: &[Attribute<'_>]) {
        self.tag(name, attributes, "/>");
    }

    /// Writes text.
    pub(super) fn text(&mut self, text: &str) {
        text.chars().for_each(|c| escape(&mut self.text, c));
    }

    /// Writes what is markup already, or a style sheet, and comes from this program.
    pub(super) fn verbatim(&mut self, text: &'static str) {
        self.text.push_str(text);
    }

    /// Returns what was written.
    pub(super) fn finish(self) -> String {
        self.text
    }

    fn tag(&mut self, name: &str, attributes: &[Attribute<'_>], end: &str) {
        self.text.push('<');
        self.text.push_str(name);
        for (name, value) in attributes {
            self.text.push(' ');
            self.text.push_str(name);
            self.text.push_str("=\"");
            self.text(value);
            self.text.push('"');
        }
        self.text.push_str(end);
    }
}

/// Writes a character so that it is displayed. Those that XML forbids, and those that reverse the
/// text around them, are written as Rust escapes them.
fn escape(to: &mut String, c: char) {
    match c {
        '&' => to.push_str("&amp;"),
        '<' => to.push_str("&lt;"),
        '>' => to.push_str("&gt;"),
        '"' => to.push_str("&quot;"),
        '\n' => to.push('\n'),
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}' => {
            to.extend(c.escape_unicode());
        }
        c if c.is_control() => to.extend(c.escape_default()),
        c => to.push(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_attributes_cannot_leave_their_place() {
        let mut markup = Markup::default();
        markup.inside("b", &[("title", "\"><script>")], |to| to.text("<i>&\u{0}\u{1b}\u{202e}é"));
        let expected = r#"<b title="&quot;&gt;&lt;script&gt;">&lt;i&gt;&amp;\u{0}\u{1b}\u{202e}é</b>"#;
        assert_eq!(markup.finish(), expected);
    }
}
