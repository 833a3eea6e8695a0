//! Finds messages in text: in raw FIX, in message logs of any engine, in lines with `|` for SOH.
//!
//! A message begins with `8=FIX`; text before it on its line is the log's prefix. It ends with its
//! CheckSum; if it is cut off, it ends where the next message begins or with its line. A line ends
//! within a message if BodyLength says so, and CheckSum is where it says. A scanner holds no bytes.
//! If they do not show yet where a piece ends, the caller passes them again together with those
//! that follow. The scanner remembers how far it has searched, so no search without a limit reads a
//! byte twice, and the pieces do not depend on how the input is cut.
//!
//! It does not check messages, and it does not skip anything that has content.

mod announced;
mod extent;
mod search;
mod separator;
#[cfg(test)]
mod tests;

use announced::{Announced, CheckSum, announced_body, check_sum_after, check_sum_at};
use extent::{Extent, is_tail};
use search::Search;
pub(crate) use separator::Separator;
use separator::{MOST_DIGITS, Separation};

/// The largest piece, in bytes: larger messages and longer lines are cut.
const LIMIT: usize = 16 * 1024 * 1024;
/// The longest prefix; longer text before a message is a piece of its own.
const LONGEST_PREFIX: usize = 64 * 1024;
/// How far BodyLength (9) is trusted although another message seems to begin before the announced
/// end, and how far at all if SOH is written as something else. A message that announces more must
/// not hold back those that follow it.
const TRUSTED_LENGTH: usize = 64 * 1024;
/// The longest BeginString (8), with its tag: after longer ones no separator is looked for.
const LONGEST_BEGINNING: usize = 64;
const START: &[u8] = b"8=FIX";
/// The length of CheckSum (10) with its SOH.
const CHECK_SUM: usize = 7;

/// What is at the beginning of the bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Scan<'b> {
    /// A part of the input.
    Piece(Piece<'b>),
    /// This many bytes without content: blank, or characters that a log writes after a message.
    Blank(usize),
    /// More bytes are needed.
    More,
}

/// A part of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'b> {
    /// A message, or bytes that begin like one.
    Message {
        /// The text before it on its line.
        prefix: &'b [u8],
        /// The message as the input has it.
        bytes: &'b [u8],
        /// What the input has for SOH.
        separator: Separator,
    },
    /// Other bytes: one line, if it is not too long.
    Text(&'b [u8]),
}

/// A position in the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    /// Line, from 1.
    pub(crate) line: u64,
    /// Byte, from 0.
    pub(crate) offset: u64,
}

/// Splits input into pieces.
#[derive(Debug)]
pub(crate) struct Scanner {
    limit: usize,
    /// The first byte that is not part of a piece yet.
    end: Position,
    /// The first byte of the last piece.
    position: Position,
    /// Whether a message ended on this line.
    after_message: bool,
    line_end: Search,
    start: Search,
    /// The next beginning of a message after the line.
    start_after_line: Search,
    /// For each separator: the CheckSum, and the next message.
    ends: [(Search, Search); Separator::ALL.len()],
}

/// A message that begins and whose end is looked for.
#[derive(Clone, Copy)]
struct Beginning<'b> {
    /// The bytes from `8=` on.
    bytes: &'b [u8],
    /// The offset of the first one.
    base: u64,
    /// The end of the line.
    line_end: Option<usize>,
    /// Whether these are all bytes that count: nothing follows, or the piece would be too large.
    complete: bool,
}

impl Scanner {
    /// Creates a scanner at the beginning of an input.
    pub(crate) fn new() -> Self {
        Self::with_limit(LIMIT)
    }

    fn with_limit(limit: usize) -> Self {
        let ends = Separator::ALL.map(|separator| {
            let before = |what: &[u8]| Search::text(&[separator.bytes(), what].concat());
            (before(b"10="), before(START))
        });
        let start = || Search::beginning_of_word(START);
        Self {
            limit,
            end: Position { line: 1, offset: 0 },
            position: Position { line: 1, offset: 0 },
            after_message: false,
            line_end: Search::byte(b'\n'),
            start: start(),
            start_after_line: start(),
            ends,
        }
    }

    /// Returns what is at the beginning of `rest`: the bytes after the last piece. `ended` says
    /// that no others follow. Returns [`Scan::More`] for no bytes.
    pub(crate) fn next<'b>(&mut self, rest: &'b [u8], ended: bool) -> Scan<'b> {
        let scan = self.look(rest, ended);
        let length = match scan {
            Scan::More => return scan,
            Scan::Blank(length) => length,
            Scan::Piece(Piece::Text(bytes)) => bytes.len(),
            Scan::Piece(Piece::Message { prefix, bytes, .. }) => {
                self.end.offset += prefix.len() as u64;
                self.position = self.end;
                self.end.offset += bytes.len() as u64;
                // A newline in a message does not end the line that the message is on.
                self.after_message = true;
                if self
                    .line_end
                    .first(rest, self.position.offset - prefix.len() as u64, 0)
                    .is_some_and(|end| end < prefix.len() + bytes.len())
                {
                    self.end.line += memchr::memchr_iter(b'\n', bytes).count() as u64;
                }
                return scan;
            }
        };
        self.position = self.end;
        self.end.offset += length as u64;
        if rest[length - 1] == b'\n' {
            self.end.line += 1;
            self.after_message = false;
        }
        scan
    }

    /// Returns where the last piece begins; for a message, where `8=` is.
    pub(crate) fn position(&self) -> Position {
        self.position
    }

    fn look<'b>(&mut self, rest: &'b [u8], ended: bool) -> Scan<'b> {
        let complete = ended || rest.len() >= self.limit;
        let rest = &rest[..rest.len().min(self.limit)];
        match rest {
            [] => return Scan::More,
            // The rest of most lines, for which no search is needed.
            [b'\n', ..] => return Scan::Blank(1),
            _ => {}
        }
        let line_end = self.line_end.first(rest, self.end.offset, 0);
        let start =
            if rest.starts_with(START) { Some(0) } else { self.start.first(rest, self.end.offset, 1) };
        if let Some(start) = start.filter(|start| line_end.is_none_or(|end| *start < end)) {
            if start > LONGEST_PREFIX {
                return Scan::Piece(Piece::Text(&rest[..start]));
            }
            let (prefix, bytes) = rest.split_at(start);
            let base = self.end.offset + start as u64;
            let line_end = line_end.map(|end| end - start);
            let (extent, separator) = self.extent(Beginning { bytes, base, line_end, complete });
            return match extent {
                Extent::Length(length) => {
                    Scan::Piece(Piece::Message { prefix, bytes: &bytes[..length], separator })
                }
                Extent::More => Scan::More,
            };
        }
        let (line, length) = match line_end {
            Some(end) => (&rest[..end], end + 1),
            None if !complete => return Scan::More,
            // A message may begin with the last bytes of a line that is cut.
            None if rest.len() == self.limit => {
                let length = rest.len() - (START.len() - 1);
                (&rest[..length], length)
            }
            None => (rest, rest.len()),
        };
        if is_tail(line, self.after_message) {
            Scan::Blank(length)
        } else {
            Scan::Piece(Piece::Text(&rest[..length]))
        }
    }

    /// Returns where a message ends, and its separator.
    fn extent(&mut self, from: Beginning<'_>) -> (Extent, Separator) {
        let Beginning { bytes, line_end, complete, .. } = from;
        const MOST: usize = 2 + LONGEST_BEGINNING + Separator::LONGEST + MOST_DIGITS + 1;
        let line = &bytes[..line_end.unwrap_or(bytes.len()).min(MOST)];
        let all = complete || line.len() < bytes.len();
        let is_value = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'.';
        let beginning =
            2 + line[2..].iter().take(LONGEST_BEGINNING).take_while(|byte| is_value(byte)).count();
        let separator = match Separation::at(&line[beginning..], all) {
            Separation::Known(separator) => separator,
            Separation::More => return (Extent::More, Separator::SOH),
            // Only a BeginString: this line is all there is of a message.
            Separation::Unknown => return (from.rest_of_line(line_end), Separator::SOH),
        };
        let at = beginning + separator.bytes().len();
        let announced = match separator {
            Separator::SOH => self.announced_extent(from, at),
            _ => self.announced_in_text(from, at, separator),
        };
        if let Some(extent) = announced {
            return (extent, separator);
        }
        (self.extent_in_text(from, separator), separator)
    }

    /// Returns the end that BodyLength (9) announces, if CheckSum is there, in a message with
    /// something else for SOH. `at` is the index of BodyLength.
    ///
    /// It may be beyond the end of the line only if the line has no CheckSum, and if no other
    /// message begins before it: a line that is cut off must not take the next ones with it.
    fn announced_in_text(&mut self, from: Beginning<'_>, at: usize, separator: Separator) -> Option<Extent> {
        let Beginning { bytes, base, line_end, complete } = from;
        let or_more = |extent: Option<Extent>| match extent {
            Some(Extent::More) if complete => None,
            other => other,
        };
        let (begin, length) = match announced_body(bytes, at, separator)? {
            Announced::Body { begin, length } if length <= TRUSTED_LENGTH => (begin, length),
            Announced::More if line_end.is_none() => return or_more(Some(Extent::More)),
            _ => return None,
        };
        let is_one_byte = separator.bytes().len() == 1;
        let line_end = match line_end {
            // The first CheckSum on the line ends the message, unless the place of the right one is
            // known without a search.
            None if !is_one_byte => return None,
            Some(line_end) if !is_one_byte || begin + length > line_end => line_end,
            _ => return or_more(check_sum_after(bytes, begin, length, separator, complete)),
        };
        let is_before =
            |search: &mut Search, at, end| search.first(bytes, base, at).filter(|found| *found < end);
        let (check_sums, nexts) = &mut self.ends[separator.index()];
        if is_before(check_sums, 1, line_end).is_some() || is_before(nexts, 1, line_end).is_some() {
            return None;
        }
        match self.start_after_line.first(bytes, base, line_end) {
            Some(next) => match check_sum_after(&bytes[..next], begin, length, separator, true) {
                Some(Extent::More) => None,
                extent => extent,
            },
            None => or_more(check_sum_after(bytes, begin, length, separator, complete)),
        }
    }

    /// Returns the end that BodyLength (9) announces, if CheckSum is there. `at` is the index of
    /// BodyLength.
    fn announced_extent(&mut self, from: Beginning<'_>, at: usize) -> Option<Extent> {
        let Beginning { bytes, base, line_end, complete } = from;
        let end = match announced_body(bytes, at, Separator::SOH) {
            Some(Announced::Body { begin, length }) => begin + length + CHECK_SUM,
            Some(Announced::More) if !complete => return Some(Extent::More),
            _ => return None,
        };
        if end > self.limit {
            return None;
        }
        if end > TRUSTED_LENGTH {
            let starts_before_end = |search: &mut Search, at| {
                search.first(bytes, base, at).is_some_and(|start| start + START.len() <= end)
            };
            let next = &mut self.ends[Separator::SOH.index()].1;
            if starts_before_end(next, 1)
                || line_end.is_some_and(|line_end| starts_before_end(&mut self.start_after_line, line_end))
            {
                return None;
            }
        }
        let trailer = bytes.get(end - CHECK_SUM - 1..end);
        let is_there = |trailer: &[u8]| matches!(trailer, [1, b'1', b'0', b'=', digits @ .., 1] if digits.iter().all(u8::is_ascii_digit));
        if line_end.is_none_or(|line_end| line_end >= end) && trailer.is_some_and(is_there) {
            return Some(Extent::Length(end));
        }
        // A CheckSum that is followed by the end of the line ends the message, whatever is
        // announced: a wrong BodyLength must not hold back the message until more bytes arrive.
        let check_sum = self.ends[Separator::SOH.index()].0.first(bytes, base, 1);
        if let Some(check_sum) = check_sum
            && let CheckSum::Whole(found) = check_sum_at(bytes, check_sum, Separator::SOH, complete)
            && found < end
        {
            match &bytes[found..] {
                [b'\n', ..] | [b'\r', b'\n', ..] => return None,
                [] | [b'\r'] => return if complete { None } else { Some(Extent::More) },
                _ => {}
            }
        }
        match trailer {
            Some(trailer) => is_there(trailer).then_some(Extent::Length(end)),
            None if complete => None,
            None => Some(Extent::More),
        }
    }

    /// Returns the end of a message whose BodyLength says nothing: the first CheckSum, but not
    /// after the end of the line or the beginning of the next message.
    fn extent_in_text(&mut self, from: Beginning<'_>, separator: Separator) -> Extent {
        let Beginning { bytes, base, line_end, complete } = from;
        let (check_sums, nexts) = &mut self.ends[separator.index()];
        let check_sum = check_sums.first(bytes, base, 1);
        let next = nexts.first(bytes, base, 1).map(|next| next + separator.bytes().len());
        let stop = line_end.into_iter().chain(next).min();
        let Some(check_sum) = check_sum.filter(|at| stop.is_none_or(|stop| *at < stop)) else {
            return from.rest_of_line(stop);
        };
        let digits_end = match check_sum_at(bytes, check_sum, separator, complete) {
            CheckSum::Whole(end) if stop.is_none_or(|stop| end <= stop) => return Extent::Length(end),
            CheckSum::More if stop.is_none() => return Extent::More,
            CheckSum::Digits(end) => end,
            _ => return from.rest_of_line(stop),
        };
        // Logs often omit the last separator: digits up to the end of the line, or up to a log's
        // closing characters, are accepted.
        match stop {
            None if !complete => Extent::More,
            _ if is_tail(bytes.get(digits_end..stop.unwrap_or(bytes.len())).unwrap_or_default(), true) => {
                Extent::Length(digits_end)
            }
            _ => from.rest_of_line(stop),
        }
    }
}

impl Beginning<'_> {
    /// Returns the end of a message that has no CheckSum: `stop`, or the end of the bytes.
    fn rest_of_line(&self, stop: Option<usize>) -> Extent {
        let end = match stop {
            Some(stop) => stop,
            None if self.complete => self.bytes.len(),
            None => return Extent::More,
        };
        let ends_line = stop.is_none() || stop == self.line_end;
        let carriage_return = ends_line && self.bytes[..end].ends_with(b"\r");
        Extent::Length(end - usize::from(carriage_return))
    }
}
