//! The pieces of an input with their positions, from a buffer that is read in chunks: memory is
//! bounded by the largest piece.

use std::io::{self, Read};

use crate::scan::{Piece, Position, Scan, Scanner, Separator};

/// The size of the buffer; it grows only for a larger piece.
const CHUNK: usize = 256 * 1024;

/// What comes next in an input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// A piece, whose bytes [`Input::piece`] returns.
    Piece(Place),
    /// Nothing that has been read: call [`Input::read`], which may wait.
    Read,
    /// The input has ended.
    End,
}

/// Where a piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Where it begins in the input; for a message, where `8=` is.
    pub(crate) position: Position,
    /// In the buffer, until that is read into: the prefix, and the piece itself.
    start: usize,
    after_prefix: usize,
    end: usize,
    /// `None` if it is no message.
    separator: Option<Separator>,
}

/// An input and its buffer.
pub(crate) struct Input<R> {
    input: R,
    scanner: Scanner,
    buffer: Vec<u8>,
    /// The bytes in `buffer` that belong to no piece yet.
    at: usize,
    end: usize,
    ended: bool,
}

impl<R: Read> Input<R> {
    pub(crate) fn new(input: R) -> Self {
        let (scanner, buffer) = (Scanner::new(), vec![0; CHUNK]);
        Self { input, scanner, buffer, at: 0, end: 0, ended: false }
    }

    /// Returns the first bytes of the input: this many, unless it has fewer. To be called before
    /// anything else.
    ///
    /// # Errors
    /// Returns the error of the input.
    pub(crate) fn beginning(&mut self, length: usize) -> io::Result<&[u8]> {
        while self.end < length && !self.ended {
            self.read()?;
        }
        Ok(&self.buffer[..self.end.min(length)])
    }

    /// Returns the next piece of what has been read. Does not read.
    pub(crate) fn next(&mut self) -> Next {
        loop {
            let rest = &self.buffer[self.at..self.end];
            if rest.is_empty() && self.ended {
                return Next::End;
            }
            let (prefix, length, separator) = match self.scanner.next(rest, self.ended) {
                Scan::More => return Next::Read,
                Scan::Blank(length) => {
                    self.at += length;
                    continue;
                }
                Scan::Piece(Piece::Text(bytes)) => (0, bytes.len(), None),
                Scan::Piece(Piece::Message { prefix, bytes, separator }) => {
                    (prefix.len(), bytes.len(), Some(separator))
                }
            };
            let (start, after_prefix) = (self.at, self.at + prefix);
            self.at = after_prefix + length;
            let position = self.scanner.position();
            return Next::Piece(Place { position, start, after_prefix, end: self.at, separator });
        }
    }

    /// Returns the piece at a place that [`Input::next`] returned since the input was read last.
    pub(crate) fn piece(&self, place: Place) -> Piece<'_> {
        let bytes = &self.buffer[place.after_prefix..place.end];
        match place.separator {
            Some(separator) => {
                Piece::Message { prefix: &self.buffer[place.start..place.after_prefix], bytes, separator }
            }
            None => Piece::Text(bytes),
        }
    }

    /// Reads once. Waits if there is nothing to read yet.
    ///
    /// # Errors
    /// Returns the error of the input.
    pub(crate) fn read(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.at..self.end, 0);
        (self.at, self.end) = (0, self.end - self.at);
        if self.end > self.buffer.len() / 2 {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        let read = loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => break done?,
            }
        };
        self.end += read;
        self.ended |= read == 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_bytes() {
        let mut input = Input::new(&b"no\n\nx : 8=FIX.4.2|9=5|35=0|10=161|\nrest"[..]);
        assert_eq!(input.next(), Next::Read);
        input.read().unwrap();
        let mut positions = Vec::new();
        loop {
            match input.next() {
                Next::Piece(place) => positions.push((place.position.line, place.position.offset)),
                Next::Read => input.read().unwrap(),
                Next::End => break,
            }
        }
        assert_eq!(positions, [(1, 0), (3, 8), (4, 35)]);
    }

    #[test]
    fn the_buffer_grows_for_a_large_message_only() {
        let message = |length: usize| format!("8=FIX.4.2|9=5|58={}|10=161|\n", "x".repeat(length));
        let text = message(10).repeat(30_000) + &message(3 * CHUNK);
        let mut input = Input::new(text.as_bytes());
        let mut messages = 0;
        let mut at_first = 0;
        loop {
            match input.next() {
                Next::Piece(place) => {
                    assert!(matches!(input.piece(place), Piece::Message { .. }), "there are only messages");
                    messages += 1;
                }
                Next::Read => input.read().unwrap(),
                Next::End => break,
            }
            if messages == 1 {
                at_first = input.buffer.len();
            }
        }
        assert_eq!((messages, at_first, input.buffer.len()), (30_001, CHUNK, 4 * CHUNK));
    }

    /// The largest buffer: a piece has at most 16 MiB, and twice that is read into.
    #[test]
    fn a_line_without_an_end_is_read_in_bounded_memory() {
        let mut input = Input::new(io::repeat(b'x').take(70 << 20));
        let mut pieces = 0;
        loop {
            match input.next() {
                Next::Piece(_) => pieces += 1,
                Next::Read => input.read().unwrap(),
                Next::End => break,
            }
            assert!(input.buffer.len() <= 32 << 20);
        }
        assert_eq!(pieces, 5);
    }
}
