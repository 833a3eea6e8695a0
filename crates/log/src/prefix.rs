//! Recognizes time and direction in the text that a log writes before a message.
//!
//! A prefix that names both directions has none. The time is returned as the log has it: without a
//! time zone in it, nothing says which one it is in.

use std::fmt;

use fixbolt_session::Direction;

/// The text that a log writes before a message on its line. It may contain secrets.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Prefix<'r>(pub &'r [u8]);

impl<'r> Prefix<'r> {
    /// Returns the first time in it, as the log has it: `20261121-09:00:00.123`,
    /// `2026-11-21T09:00:00,123Z`, `2026/11/21 09:00:00` or `09:00:00`, with a fraction and an
    /// offset if there are any.
    #[must_use]
    pub fn time(self) -> Option<&'r [u8]> {
        time(self.0)
    }

    /// Returns the direction that it names with a word such as `incoming`, `IN` or `sent`, or with
    /// an arrow: `<<<` anywhere, `<-` and the like as its first or last word. `in` and `out` in
    /// lower case count only in brackets, quotes or before a colon: they are also words of a
    /// sentence.
    #[must_use]
    pub fn direction(self) -> Option<Direction> {
        direction(self.0)
    }
}

/// Shows the length: the text may contain a secret.
impl fmt::Debug for Prefix<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Prefix({} bytes)", self.0.len())
    }
}

const RECEIVED: [&str; 12] = [
    "in",
    "incoming",
    "inbound",
    "received",
    "receiving",
    "receive",
    "recv",
    "rcvd",
    "rx",
    "fromapp",
    "fromadmin",
    "read",
];
const SENT: [&str; 11] =
    ["out", "outgoing", "outbound", "sent", "sending", "send", "tx", "toapp", "toadmin", "written", "wrote"];
const TO_US: [&str; 8] = ["<<<", "<<", "<-", "<--", "<=", "<==", "←", "⇐"];
const FROM_US: [&str; 8] = [">>>", ">>", "->", "-->", "=>", "==>", "→", "⇒"];
/// These mean a direction anywhere; the other arrows may also stand between sender and target.
const TRIPLE: [&str; 2] = ["<<<", ">>>"];

fn direction(prefix: &[u8]) -> Option<Direction> {
    let text = &*String::from_utf8_lossy(prefix);
    let mut found = [false; 2];
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut at = 0;
    for word in text.split(|c| !is_word(c)) {
        let begin = at;
        at += word.len();
        let after = text[at..].chars().next();
        at += after.map_or(0, char::len_utf8);
        if !word.starts_with(|c: char| c.is_ascii_alphabetic()) {
            continue;
        }
        let before = text[..begin].chars().next_back();
        let encloses = |c: Option<char>| c.is_some_and(|c| "[](){}\"':=".contains(c));
        let in_sentence =
            matches!(word, "in" | "out") && !(encloses(before) && encloses(after) || after == Some(':'));
        let is = |words: &[&str]| !in_sentence && words.iter().any(|known| word.eq_ignore_ascii_case(known));
        found[0] |= is(&RECEIVED);
        found[1] |= is(&SENT);
    }
    let between = [' ', '\t', '[', ']', '(', ')', '{', '}', ':', ',', '|', '"'];
    let mut words = text.split(between).filter(|word| !word.is_empty()).peekable();
    let mut is_first = true;
    while let Some(word) = words.next() {
        if is_first || words.peek().is_none() || TRIPLE.contains(&word) {
            found[0] |= TO_US.contains(&word);
            found[1] |= FROM_US.contains(&word);
        }
        is_first = false;
    }
    match found {
        [true, false] => Some(Direction::Inbound),
        [false, true] => Some(Direction::Outbound),
        _ => None,
    }
}

fn time(prefix: &[u8]) -> Option<&[u8]> {
    let mut colon = 0;
    loop {
        colon += memchr::memchr(b':', &prefix[colon..])?;
        if let Some(time) = time_around(prefix, colon) {
            return Some(time);
        }
        colon += 1;
    }
}

/// Returns the time whose first colon is at this index.
fn time_around(text: &[u8], colon: usize) -> Option<&[u8]> {
    let begin = colon.checked_sub(2)?;
    if !fits(text.get(begin..begin + 8)?, b"00:00:00") {
        return None;
    }
    let begin = date_before(text, begin);
    let mut end = colon + 6;
    if begin.checked_sub(1).is_some_and(|at| text[at].is_ascii_digit()) {
        return None;
    }
    if matches!(text.get(end), Some(b'.' | b',')) {
        let digits = digits_at(text, end + 1);
        end += if digits > 0 { 1 + digits } else { 0 };
    }
    if digits_at(text, end) > 0 {
        return None;
    }
    match text.get(end) {
        Some(b'Z') => end += 1,
        Some(b'+' | b'-') => {
            let offset = &text[end + 1..];
            if offset.get(..5).is_some_and(|offset| fits(offset, b"00:00")) {
                end += 6;
            } else if offset.get(..4).is_some_and(|offset| fits(offset, b"0000")) {
                end += 5;
            }
        }
        _ => {}
    }
    Some(&text[begin..end])
}

/// Returns the index of the date before a time of day at this index, or the index itself.
fn date_before(text: &[u8], time: usize) -> usize {
    for form in [
        &b"0000-00-00 "[..],
        b"0000-00-00T",
        b"0000/00/00 ",
        b"0000/00/00-",
        b"0000.00.00 ",
        b"00000000-",
        b"00000000 ",
    ] {
        if let Some(begin) = time.checked_sub(form.len())
            && fits(&text[begin..time], form)
        {
            return begin;
        }
    }
    time
}

/// Returns whether the text has the form: a digit where the form has `0`, else the same bytes.
fn fits(text: &[u8], form: &[u8]) -> bool {
    text.iter().zip(form).all(|(byte, form)| if *form == b'0' { byte.is_ascii_digit() } else { byte == form })
}

fn digits_at(text: &[u8], at: usize) -> usize {
    text.get(at..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_times_are_recognized_as_they_are_written() {
        for (prefix, expected) in [
            ("20261121-09:00:00.123 : ", Some("20261121-09:00:00.123")),
            ("<20261121-09:00:00, FIX.4.4:A->B, incoming> (", Some("20261121-09:00:00")),
            ("2026-11-21 09:00:00,123 INFO [main] ", Some("2026-11-21 09:00:00,123")),
            ("2026-11-21T09:00:00.123456789Z OUT ", Some("2026-11-21T09:00:00.123456789Z")),
            ("[2026-11-21T09:00:00+01:00] ", Some("2026-11-21T09:00:00+01:00")),
            ("2026-11-21T09:00:00.5-0500 ", Some("2026-11-21T09:00:00.5-0500")),
            ("2026/11/21 09:00:00.180819 ", Some("2026/11/21 09:00:00.180819")),
            ("session 7 09:00:00.1 - ", Some("09:00:00.1")),
            ("09:00:00.", Some("09:00:00")),
            ("host:9880 12:34 ", None),
            ("109:00:00 ", None),
            ("", None),
            ("::::", None),
        ] {
            assert_eq!(Prefix(prefix.as_bytes()).time(), expected.map(str::as_bytes), "{prefix}");
        }
    }

    #[test]
    fn the_usual_directions_are_recognized() {
        use Direction::{Inbound as Received, Outbound as Sent};
        for (prefix, expected) in [
            ("<20261121-09:00:00, FIX.4.4:A->B, incoming> (", Some(Received)),
            ("<20261121-09:00:00, FIX.4.4:A->B, outgoing> (", Some(Sent)),
            ("09:00:00 IN  ", Some(Received)),
            ("09:00:00 OUT ", Some(Sent)),
            ("[in] ", Some(Received)),
            ("out: ", Some(Sent)),
            ("message in queue 7: ", None),
            ("quickfixj.msg.incoming - ", Some(Received)),
            ("<<< ", Some(Received)),
            (">>> ", Some(Sent)),
            ("A <<< B: ", Some(Received)),
            ("A -> B: ", None),
            ("<- B: ", Some(Received)),
            ("09:00:00|->|", Some(Sent)),
            ("→ ", Some(Sent)),
            ("FIX.4.4:A->B ", None),
            ("Received message: ", Some(Received)),
            ("Sending: ", Some(Sent)),
            ("toAdmin ", Some(Sent)),
            ("fromApp(", Some(Received)),
            ("sent in reply to what was received: ", None),
            ("insert output ", None),
            ("", None),
        ] {
            assert_eq!(Prefix(prefix.as_bytes()).direction(), expected, "{prefix}");
        }
        assert_eq!(Prefix(b"IN \xff ").direction(), Some(Received));
    }
}
