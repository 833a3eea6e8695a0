//! Finds messages in many kinds of files: raw FIX, message logs of any engine, text with `|` for
//! SOH.
//!
//! A message begins with `8=FIX`; text before it on its line is the log's prefix. Bytes that are
//! not a message are reported with their position, never skipped silently. Input is read in chunks,
//! so memory is bounded by the largest message.

use std::io::{self, Read};

use fixbolt_codec::{Frame, Framer};

/// The largest message, and the largest chunk without one, in bytes.
const LIMIT: usize = 16 * 1024 * 1024;
const START: &[u8] = b"8=FIX";
/// Spellings of SOH; if one is a prefix of another, the longer one comes first.
const DELIMITERS: [&[u8]; 8] = [b"\x01", b"|", b"^A", b"^", b"\\u0001", b"\\x01", b"<SOH>", b"<01>"];

/// The next part of the input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Bytes that begin like a message, with SOH between the fields whatever the input used.
    Message {
        /// The message.
        bytes: Vec<u8>,
        /// The text before it on its line.
        prefix: Vec<u8>,
        /// Where it begins.
        place: InputPosition,
    },
    /// Other bytes.
    Other {
        /// The bytes.
        bytes: Vec<u8>,
        /// Where they begin.
        place: InputPosition,
    },
}

/// A position in the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InputPosition {
    /// Line, from 1.
    pub(crate) line: u64,
    /// Byte, from 0.
    pub(crate) offset: u64,
}

/// The pieces of an input, one after another.
pub(crate) struct Pieces<R> {
    input: R,
    buffer: Vec<u8>,
    /// The index in `buffer` of the first unread byte.
    at: usize,
    ended: bool,
    place: InputPosition,
    /// Whether the last piece on this line was a message.
    behind_message: bool,
}

enum Step {
    More,
    /// This many bytes are blank, or characters that a log writes after a message.
    Skip(usize),
    Other(usize),
    Message {
        prefix: usize,
        length: usize,
        delimiter: &'static [u8],
    },
}

impl<R: Read> Pieces<R> {
    pub(crate) fn new(input: R) -> Self {
        let place = InputPosition { line: 1, offset: 0 };
        Self { input, buffer: Vec::new(), at: 0, ended: false, place, behind_message: false }
    }

    /// Returns the next piece; `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Piece>> {
        loop {
            let rest = &self.buffer[self.at..];
            if rest.is_empty() && self.ended {
                return Ok(None);
            }
            match step(rest, self.ended, self.behind_message) {
                Step::More => self.fill()?,
                Step::Skip(length) => {
                    self.take(length);
                }
                Step::Other(length) => {
                    let place = self.place;
                    let bytes = self.take(length);
                    return Ok(Some(Piece::Other { bytes, place }));
                }
                Step::Message { prefix, length, delimiter } => {
                    let prefix = self.take(prefix);
                    let place = self.place;
                    let bytes = self.take(length);
                    self.behind_message = true;
                    let bytes = if delimiter == b"\x01" { bytes } else { with_soh(&bytes, delimiter) };
                    return Ok(Some(Piece::Message { bytes, prefix, place }));
                }
            }
        }
    }

    fn take(&mut self, length: usize) -> Vec<u8> {
        let bytes = self.buffer[self.at..self.at + length].to_vec();
        self.at += length;
        self.place.offset += length as u64;
        let lines = bytes.iter().filter(|b| **b == b'\n').count() as u64;
        self.place.line += lines;
        if lines > 0 {
            self.behind_message = false;
        }
        bytes
    }

    fn fill(&mut self) -> io::Result<()> {
        self.buffer.drain(..self.at);
        self.at = 0;
        let old = self.buffer.len();
        self.buffer.resize(old + (64 * 1024).max(old), 0);
        let read = loop {
            match self.input.read(&mut self.buffer[old..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => break done,
            }
        };
        let got = *read.as_ref().unwrap_or(&0);
        self.buffer.truncate(old + got);
        self.ended |= read? == 0;
        Ok(())
    }
}

fn step(rest: &[u8], ended: bool, behind_message: bool) -> Step {
    // Adjacent messages can be read without looking for lines.
    if let Frame::Message(message) = Framer::new(LIMIT).next(rest) {
        return Step::Message { prefix: 0, length: message.bytes().len(), delimiter: b"\x01" };
    }
    let newline = rest.iter().position(|b| *b == b'\n');
    let line = &rest[..newline.unwrap_or(rest.len())];
    if let Some(start) = start_of_message(line) {
        let message = &rest[start..];
        return match extent(message, ended) {
            Some((length, delimiter)) => Step::Message { prefix: start, length, delimiter },
            None => Step::More,
        };
    }
    match newline {
        Some(at) if is_tail(line, behind_message) => Step::Skip(at + 1),
        Some(at) => Step::Other(at + 1),
        None if ended && is_tail(line, behind_message) => Step::Skip(line.len()),
        None if ended || line.len() > LIMIT => Step::Other(line.len()),
        None => Step::More,
    }
}

/// Returns the position of a `8=FIX` that is not the end of another tag or of a word.
fn start_of_message(line: &[u8]) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = find(&line[from..], START).map(|n| from + n) {
        if at == 0 || !line[at - 1].is_ascii_alphanumeric() {
            return Some(at);
        }
        from = at + 1;
    }
    None
}

/// Returns whether the rest of a line has no content: it is blank, or the closing characters that a
/// log writes after a message.
fn is_tail(line: &[u8], behind_message: bool) -> bool {
    let closing: &[u8] = if behind_message { b")\"'},;]>|^\x01" } else { b"" };
    line.iter().all(|b| b.is_ascii_whitespace() || closing.contains(b))
}

/// Returns the length of the message at the beginning of `bytes` and its spelling of SOH; `None` if
/// more bytes are needed.
fn extent(bytes: &[u8], ended: bool) -> Option<(usize, &'static [u8])> {
    let complete = ended || bytes.len() > LIMIT;
    let newline = bytes.iter().position(|b| *b == b'\n');
    let line = &bytes[..newline.unwrap_or(bytes.len())];
    let value = line[2..].iter().position(|b| !(b.is_ascii_alphanumeric() || *b == b'.')).map(|n| 2 + n);
    let delimiter = match value {
        // The spelling of SOH may not have arrived completely.
        Some(at) if newline.is_none() && !complete && line.len() < at + 8 => return None,
        Some(at) => DELIMITERS.into_iter().find(|delimiter| line[at..].starts_with(delimiter)),
        None if newline.is_none() && !complete => return None,
        None => None,
    };
    let Some(delimiter) = delimiter else {
        // Only a BeginString: this line is all there is of a message.
        return (newline.is_some() || complete).then_some((line.len(), &b"\x01"[..]));
    };
    if delimiter == b"\x01" {
        match Framer::new(LIMIT).next(bytes) {
            // Its values may contain a newline.
            Frame::Message(message) => return Some((message.bytes().len(), delimiter)),
            Frame::Incomplete { .. } if !complete => return None,
            _ => {}
        }
    }
    // A truncated message ends where the next one begins, or with its line.
    let next = find(&line[1..], &[delimiter, START].concat()).map(|n| 1 + n + delimiter.len());
    let line = &line[..next.unwrap_or(line.len())];
    let complete = complete || newline.is_some() || next.is_some();
    let length = to_check_sum(line, delimiter, complete).or(complete.then_some(line.len()));
    length.map(|length| (length, delimiter))
}

/// Returns the length up to and including CheckSum and its delimiter.
fn to_check_sum(line: &[u8], delimiter: &[u8], whole_line: bool) -> Option<usize> {
    let at = find(line, &[delimiter, b"10="].concat())?;
    let value = at + delimiter.len() + 3;
    let end = value + line[value..].iter().take_while(|b| b.is_ascii_digit()).count();
    if line[end..].starts_with(delimiter) {
        return Some(end + delimiter.len());
    }
    // Logs often omit the last delimiter: digits up to the end of the line, or up to a log's
    // closing characters, are accepted.
    (whole_line && is_tail(&line[end..], true)).then_some(end)
}

/// Returns the message with SOH for `delimiter`. A `|` or `^` may also be part of a value: it
/// counts only before a tag and at the end.
fn with_soh(bytes: &[u8], delimiter: &[u8]) -> Vec<u8> {
    let mut message = Vec::with_capacity(bytes.len() + 1);
    let mut rest = bytes;
    let certain = delimiter.len() > 1;
    while let Some(&first) = rest.first() {
        if let Some(behind) = rest.strip_prefix(delimiter)
            && (certain || behind.is_empty() || is_field(behind))
        {
            message.push(1);
            rest = behind;
        } else {
            message.push(first);
            rest = &rest[1..];
        }
    }
    if message.last() != Some(&1) {
        message.push(1);
    }
    message
}

fn is_field(bytes: &[u8]) -> bool {
    let digits = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
    digits > 0 && bytes.get(digits) == Some(&b'=')
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEARTBEAT: &[u8] = b"8=FIX.4.2\x019=5\x0135=0\x0110=161\x01";

    fn pieces(input: &[u8]) -> Vec<(String, String)> {
        let mut pieces = Pieces::new(input);
        let mut found = Vec::new();
        while let Some(piece) = pieces.next().unwrap() {
            let (kind, bytes) = match piece {
                Piece::Message { bytes, prefix, .. } => {
                    (format!("m:{}", String::from_utf8_lossy(&prefix)), bytes)
                }
                Piece::Other { bytes, .. } => ("other".to_owned(), bytes),
            };
            found.push((kind, String::from_utf8_lossy(&bytes).replace('\u{1}', "|")));
        }
        found
    }

    #[test]
    fn a_message_is_found_in_every_engines_log() {
        let soh = String::from_utf8(HEARTBEAT.to_vec()).unwrap();
        for (line, prefix) in [
            (soh.clone(), ""),
            (format!("20261121-09:00:00.123456789 : {soh}\n"), "20261121-09:00:00.123456789 : "),
            (format!("2026/11/21 19:22:36.180819 {soh}\r\n"), "2026/11/21 19:22:36.180819 "),
            (
                format!(
                    "<20261121-19:21:44, FIX.4.4:EXEC->BANZAI, incoming> ({})\n",
                    soh.replace('\u{1}', "|")
                ),
                "<20261121-19:21:44, FIX.4.4:EXEC->BANZAI, incoming> (",
            ),
            (format!("{{\"raw\": \"{}\"}}\n", soh.replace('\u{1}', "\\u0001")), "{\"raw\": \""),
            (soh.replace('\u{1}', "^A"), ""),
            (soh.replace('\u{1}', "<SOH>"), ""),
            (soh.replace('\u{1}', "|").trim_end_matches('|').to_owned(), ""),
        ] {
            let expected = (format!("m:{prefix}"), "8=FIX.4.2|9=5|35=0|10=161|".to_owned());
            assert_eq!(pieces(line.as_bytes()), [expected], "{line}");
        }
    }

    #[test]
    fn adjacent_messages_are_told_apart() {
        let three = [HEARTBEAT, HEARTBEAT, b"\n", HEARTBEAT].concat();
        assert_eq!(pieces(&three).len(), 3);
        let bars = "8=FIX.4.2|9=5|35=0|10=161|8=FIX.4.2|9=5|35=0|10=161|\n";
        assert_eq!(pieces(bars.as_bytes()).len(), 2);
        // The first one has no CheckSum.
        let cut = "8=FIX.4.2|9=5|35=0|8=FIX.4.2|9=5|35=0|10=161|\n";
        assert_eq!(pieces(cut.as_bytes())[0].1, "8=FIX.4.2|9=5|35=0|");
    }

    #[test]
    fn a_value_may_contain_a_newline_or_a_bar() {
        let raw = b"8=FIX.4.2\x019=18\x0135=0\x0158=two\nlines\x0110=019\x01";
        assert_eq!(pieces(raw), [("m:".to_owned(), "8=FIX.4.2|9=18|35=0|58=two\nlines|10=019|".to_owned())]);
        assert_eq!(pieces(b"8=FIX.4.2^A9=5^A35=0^A96=a^Ab^A10=1^A")[0].1, "8=FIX.4.2|9=5|35=0|96=a|b|10=1|");
        assert_eq!(pieces(b"8=FIX.4.2^9=5^35=0^58=a^b^10=1^")[0].1, "8=FIX.4.2|9=5|35=0|58=a^b|10=1|");
    }

    #[test]
    fn bytes_that_are_not_a_message_are_reported_and_nothing_is_lost() {
        let found = pieces(b"hello\n\n8=FIX.4.2\x019=99\x0135=0\nmore 108=FIX\n8=FIX");
        let kinds: Vec<&str> = found.iter().map(|(kind, _)| kind.as_str()).collect();
        assert_eq!(kinds, ["other", "m:", "other", "m:"]);
        assert_eq!(found[1].1, "8=FIX.4.2|9=99|35=0");
    }

    #[test]
    fn places_count_lines_and_bytes() {
        let text = b"no\n8=FIX.4.2|9=5|35=0|10=161|\n";
        let mut pieces = Pieces::new(&text[..]);
        pieces.next().unwrap();
        let Some(Piece::Message { place, .. }) = pieces.next().unwrap() else { panic!() };
        assert_eq!((place.line, place.offset), (2, 3));
    }

    /// A reader that returns one byte per read.
    struct Drip<'b>(&'b [u8]);

    impl Read for Drip<'_> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            let n = self.0.len().min(1);
            to[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    #[test]
    fn it_does_not_matter_how_the_input_is_cut() {
        let text = [b"x : ", HEARTBEAT, b"\n\n<a> (8=FIX.4.2|9=5|35=0|10=161|)\nrest"].concat();
        let (mut whole, mut drip) = (Pieces::new(&text[..]), Pieces::new(Drip(&text)));
        loop {
            let (one, other) = (whole.next().unwrap(), drip.next().unwrap());
            assert_eq!(one, other);
            if one.is_none() {
                break;
            }
        }
    }
}
