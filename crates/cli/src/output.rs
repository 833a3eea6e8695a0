//! The two output formats: text for people, JSON for programs, one object per line.

use std::fmt::{Display, Write as _};
use std::io::{self, BufWriter, StdoutLock};

/// The value of `-o`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs: one JSON object per line.
    Json,
}

/// Returns standard output, buffered. Flush it before the command ends.
pub fn stdout() -> BufWriter<StdoutLock<'static>> {
    BufWriter::with_capacity(64 * 1024, io::stdout().lock())
}

/// Standard output of a command whose exit status is an answer as well. Once its reader has gone
/// away (`| head`), what is written is dropped, and the command goes on to its answer.
#[derive(Debug)]
pub struct Verdict(StdoutLock<'static>);

/// Returns standard output for a command that answers with its exit status, buffered. Flush it
/// before the command ends.
pub fn verdict() -> BufWriter<Verdict> {
    BufWriter::with_capacity(64 * 1024, Verdict(io::stdout().lock()))
}

impl io::Write for Verdict {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        unless_gone(self.0.write(bytes), bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        unless_gone(self.0.flush(), ())
    }
}

/// Returns the result, or `unread` if nobody reads what is written.
fn unless_gone<T>(result: io::Result<T>, unread: T) -> io::Result<T> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(unread),
        result => result,
    }
}

/// A JSON object that is being written, with keys in the order of the calls.
#[derive(Debug)]
pub struct Object {
    text: String,
}

impl Default for Object {
    fn default() -> Self {
        Self { text: "{".to_owned() }
    }
}

impl Object {
    /// Creates an object without keys.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a string.
    pub fn text(mut self, key: &str, value: &str) -> Self {
        self.key(key);
        quote(&mut self.text, value);
        self
    }

    /// Adds a string, if there is one.
    pub fn maybe_text(self, key: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.text(key, value),
            None => self,
        }
    }

    /// Adds a value whose `Display` is JSON: a number, a boolean, another object.
    pub fn raw(mut self, key: &str, value: impl Display) -> Self {
        self.key(key);
        let _ = write!(self.text, "{value}");
        self
    }

    /// Adds an array of values whose `Display` is JSON.
    pub fn array<T: Display>(mut self, key: &str, values: impl IntoIterator<Item = T>) -> Self {
        self.key(key);
        self.text.push('[');
        for (n, value) in values.into_iter().enumerate() {
            let comma = if n == 0 { "" } else { "," };
            let _ = write!(self.text, "{comma}{value}");
        }
        self.text.push(']');
        self
    }

    /// Returns the object without its closing brace.
    pub fn unfinished(&self) -> &str {
        &self.text
    }

    fn key(&mut self, key: &str) {
        if self.text.len() > 1 {
            self.text.push(',');
        }
        quote(&mut self.text, key);
        self.text.push(':');
    }
}

impl Display for Object {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}}}", self.text)
    }
}

/// Returns a string as JSON.
pub fn quoted(value: &str) -> String {
    let mut text = String::with_capacity(value.len() + 2);
    quote(&mut text, value);
    text
}

fn quote(to: &mut String, value: &str) {
    to.push('"');
    escape(to, value);
    to.push('"');
}

/// Writes a string as JSON has it between the quotes.
fn escape(to: &mut String, value: &str) {
    for c in value.chars() {
        match c {
            '"' => to.push_str("\\\""),
            '\\' => to.push_str("\\\\"),
            '\n' => to.push_str("\\n"),
            '\r' => to.push_str("\\r"),
            '\t' => to.push_str("\\t"),
            c if c < ' ' || c == '\u{7f}' => {
                let _ = write!(to, "\\u{:04x}", u32::from(c));
            }
            c => to.push(c),
        }
    }
}

/// Writes bytes as [`shown`] returns them.
pub fn show(to: &mut Vec<u8>, bytes: &[u8]) {
    if bytes.iter().all(|byte| (0x20..0x7f).contains(byte)) {
        to.extend_from_slice(bytes);
    } else {
        to.extend_from_slice(shown(bytes).as_bytes());
    }
}

/// Writes bytes as [`shown`] returns them, as JSON has them between the quotes.
pub fn show_in_json(to: &mut Vec<u8>, bytes: &[u8]) {
    if bytes.iter().all(|byte| (0x20..0x7f).contains(byte) && !matches!(byte, b'"' | b'\\')) {
        to.extend_from_slice(bytes);
    } else {
        let mut text = String::new();
        escape(&mut text, &shown(bytes));
        to.extend_from_slice(text.as_bytes());
    }
}

/// Makes bytes safe to show: bytes that are not UTF-8, and anything that could control a terminal,
/// are escaped.
pub fn shown(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    let mut rest = bytes;
    while !rest.is_empty() {
        let (good, bad) = match std::str::from_utf8(rest) {
            Ok(good) => (good, 0),
            Err(error) => {
                let (good, _) = rest.split_at(error.valid_up_to());
                (
                    std::str::from_utf8(good).unwrap_or(""),
                    error.error_len().unwrap_or(rest.len() - good.len()),
                )
            }
        };
        for c in good.chars() {
            if c.is_control() {
                let _ = write!(text, "\\x{:02x}", u32::from(c));
            } else {
                text.push(c);
            }
        }
        let broken = &rest[good.len()..good.len() + bad];
        for byte in broken {
            let _ = write!(text, "\\x{byte:02x}");
        }
        rest = &rest[good.len() + bad..];
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_one_line_of_json() {
        let inner = Object::new().raw("n", 1);
        let object = Object::new().text("a \"b\"", "c\n\u{1}é").array("list", [inner]).raw("x", "null");
        assert_eq!(object.to_string(), r#"{"a \"b\"":"c\n\u0001é","list":[{"n":1}],"x":null}"#);
        assert_eq!(Object::new().to_string(), "{}");
    }

    #[test]
    fn nothing_shown_can_steer_a_terminal() {
        assert_eq!(shown(b"a\x1b[2J\x01b"), "a\\x1b[2J\\x01b");
        assert_eq!(shown("Zürich".as_bytes()), "Zürich");
        assert_eq!(shown(b"Z\xfcrich"), "Z\\xfcrich");
        assert_eq!(shown(b"\xc3"), "\\xc3");
    }
}
