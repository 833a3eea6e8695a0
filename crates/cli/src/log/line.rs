//! One line of the log, as text or as JSON.

use std::borrow::Cow;
use std::fmt::Write as _;

use fixbolt_codec::UtcTimestamp;

use crate::options;
use crate::output::{Format, Object, quoted, shown};

/// The most bytes of a line's text, and of each of its values: a counterparty chooses some of them.
const LONGEST: usize = 1_000;

/// How much a line matters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    /// Routine.
    Info,
    /// Something that an operator should look at.
    Warning,
    /// Something that an operator must act on.
    Error,
}

impl Severity {
    const fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A line: what happened, when, and to whom.
#[derive(Debug)]
pub struct Line {
    severity: Severity,
    kind: Cow<'static, str>,
    time: UtcTimestamp,
    session: Option<String>,
    peer: Option<String>,
    text: String,
    fields: Vec<Field>,
}

#[derive(Debug)]
struct Field {
    name: &'static str,
    value: Value,
    /// Whether the line's text has it already.
    is_told: bool,
}

#[derive(Debug)]
enum Value {
    Number(u64),
    Text(String),
}

impl Value {
    /// Returns a text; a reason is the engine's, and others may be the counterparty's.
    fn text(name: &str, value: impl Into<String>) -> Self {
        let value = value.into();
        Self::Text(if name == "reason" { options::named(&value).into_owned() } else { value })
    }
}

impl Line {
    /// Creates a line of this moment. `kind` names what happened, for programs.
    pub fn new(severity: Severity, kind: impl Into<Cow<'static, str>>, text: impl Into<String>) -> Self {
        let (time, kind) = (UtcTimestamp::now(), kind.into());
        let text = options::named(&text.into()).into_owned();
        Self { severity, kind, time, session: None, peer: None, text, fields: Vec::new() }
    }

    /// Names the session that the line is about.
    pub fn session(mut self, session: impl Into<String>) -> Self {
        self.session = Some(session.into());
        self
    }

    /// Adds the address of the counterparty.
    pub fn peer(mut self, peer: impl Into<String>) -> Self {
        self.peer = Some(peer.into());
        self
    }

    /// Adds a number that the text has already, for programs.
    pub fn number(mut self, name: &'static str, value: u64) -> Self {
        self.fields.push(Field { name, value: Value::Number(value), is_told: true });
        self
    }

    /// Adds a value that the text has already, for programs.
    pub fn told(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.fields.push(Field { name, value: Value::text(name, value), is_told: true });
        self
    }

    /// Adds a value that follows the text.
    pub fn value(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.fields.push(Field { name, value: Value::text(name, value), is_told: false });
        self
    }

    /// Returns a line about the same session or address that counts more lines like this one.
    pub fn more_like_this(self) -> MoreLikeThis {
        let Self { severity, kind, session, peer, text, .. } = self;
        // The first words say which lines: the rest differs from one to the next.
        let text = format!("more like this in the last second, the first: {}", limited(&text));
        MoreLikeThis { severity, kind, session, peer, text }
    }

    /// Returns the line in this format, with its newline.
    pub fn render(&self, format: Format) -> String {
        let mut line = match format {
            Format::Text => self.text(),
            Format::Json => self.json(),
        };
        line.push('\n');
        line
    }

    fn text(&self) -> String {
        let mut line = rfc_3339(self.time);
        if self.severity != Severity::Info {
            let _ = write!(line, " {}:", self.severity.name());
        }
        if let Some(subject) = self.session.as_deref().or(self.peer.as_deref()) {
            let _ = write!(line, " {}:", name(subject));
        }
        let _ = write!(line, " {}", limited(&shown(self.text.as_bytes())));
        if let (Some(_), Some(peer)) = (&self.session, &self.peer) {
            let _ = write!(line, ", peer {}", name(peer));
        }
        for Field { name, value, .. } in self.fields.iter().filter(|field| !field.is_told) {
            let _ = match value {
                Value::Number(number) => write!(line, ", {name} {number}"),
                Value::Text(text) => write!(line, ", {name} {}", limited(&shown(text.as_bytes()))),
            };
        }
        line
    }

    fn json(&self) -> String {
        let mut object = Object::new()
            .text("time", &rfc_3339(self.time))
            .text("level", self.severity.name())
            .text("kind", &self.kind)
            .maybe_text("session", self.session.as_deref().map(limited).as_deref())
            .maybe_text("peer", self.peer.as_deref().map(limited).as_deref())
            .text("text", &limited(&self.text));
        for Field { name, value, .. } in &self.fields {
            object = match value {
                Value::Number(number) => object.raw(name, number),
                Value::Text(text) => object.text(name, &limited(text)),
            };
        }
        object.to_string()
    }
}

/// What a line is about, for a line that counts others like it.
#[derive(Debug)]
pub struct MoreLikeThis {
    severity: Severity,
    kind: Cow<'static, str>,
    session: Option<String>,
    peer: Option<String>,
    /// What follows their number.
    text: String,
}

impl MoreLikeThis {
    /// Returns a line that counts lines of all kinds about sessions, or addresses, of which there
    /// were too many to count them for each.
    pub fn about_others(sessions: &str) -> Self {
        let text =
            format!("more lines in the last second, about {sessions} that are too many to be told apart");
        Self { severity: Severity::Warning, kind: "others".into(), session: None, peer: None, text }
    }

    /// Returns the line that says how many there were.
    pub fn line(self, count: u64) -> Line {
        let Self { severity, kind, session, peer, text } = self;
        let line = Line::new(severity, kind, format!("{count} {text}"));
        Line { session, peer, ..line }.number("more", count)
    }
}

/// Returns a session or an address as one word that cannot be taken for the words around it, since
/// strangers choose the CompIDs that they ask for.
fn name(text: &str) -> String {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b',' | b'\\'));
    let text = limited(text);
    if is_plain { text } else { quoted(&text) }
}

/// Returns the beginning of a text that is too long, with its length.
fn limited(text: &str) -> String {
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    let end = (0..=LONGEST).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{}... ({} bytes)", &text[..end], text.len())
}

/// Returns a time as programs that collect logs read it.
fn rfc_3339(time: UtcTimestamp) -> String {
    let fix = time.to_string();
    format!("{}-{}-{}T{}Z", &fix[..4], &fix[4..6], &fix[6..8], &fix[9..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixbolt_codec::Precision;

    fn at(mut line: Line, format: Format) -> String {
        line.time = UtcTimestamp::from_unix_nanos(1_795_400_289_123_456_789, Precision::Millis);
        line.render(format)
    }

    #[test]
    fn a_line_has_the_time_the_session_what_happened_and_what_belongs_to_it() {
        let line = || {
            Line::new(Severity::Warning, "refused", "closed before logon")
                .session("FIX.4.4:V->T")
                .peer("127.0.0.1:4711")
                .value("reason", "there is no such session")
                .number("received", 3)
        };
        assert_eq!(
            at(line(), Format::Text),
            "2026-11-23T02:18:09.123Z warning: FIX.4.4:V->T: closed before logon, peer 127.0.0.1:4711, \
             reason there is no such session\n"
        );
        assert_eq!(
            at(line(), Format::Json),
            "{\"time\":\"2026-11-23T02:18:09.123Z\",\"level\":\"warning\",\"kind\":\"refused\",\
             \"session\":\"FIX.4.4:V->T\",\"peer\":\"127.0.0.1:4711\",\"text\":\"closed before logon\",\
             \"reason\":\"there is no such session\",\"received\":3}\n"
        );
        let routine = Line::new(Severity::Info, "ended", "logged out").peer("[::1]:9");
        assert_eq!(at(routine, Format::Text), "2026-11-23T02:18:09.123Z [::1]:9: logged out\n");
    }

    #[test]
    fn a_counterparty_cannot_forge_a_line_or_the_name_in_it() {
        let forged = "bye\n2026-11-23T02:18:09.123Z FIX.4.4:V->T: logged on\u{1b}[2J";
        let line = || {
            Line::new(Severity::Info, "logout", forged)
                .session("FIX.4.4:V->T: logged on, peer X")
                .value("reason", forged)
        };
        for format in [Format::Text, Format::Json] {
            let line = at(line(), format);
            assert_eq!(line.matches('\n').count(), 1, "{line}");
            assert!(!line.contains('\u{1b}'), "{line}");
        }
        assert!(at(line(), Format::Text).contains(" \"FIX.4.4:V->T: logged on, peer X\": bye\\x0a2026-"));
    }

    #[test]
    fn a_long_text_is_shortened() {
        let line =
            Line::new(Severity::Info, "logout", "é".repeat(40_000)).value("reason", "y".repeat(70_000));
        let line = at(line, Format::Json);
        assert!(line.len() < 3_000, "{}", line.len());
        assert!(line.contains("... (80000 bytes)") && line.contains("... (70000 bytes)"), "{line}");
    }
}
