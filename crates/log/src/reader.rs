//! The messages of a log or journal, one after another.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use memchr::memmem;

use crate::entry::{Content, Entry};
use crate::error::ReadError;
use crate::form::Form;
use crate::input::{Input, Next, Place};
use crate::journal::{Journals, message};
use crate::prefix::Prefix;
use crate::scan::{Piece, Separator};

/// Reads a log, or the journals of a directory, entry by entry.
///
/// An entry borrows from the reader, which keeps its memory for the next one. So nothing is
/// allocated for a message, unless it is larger than all before it.
///
/// ```
/// use fixbolt_log::{Content, Reader};
///
/// let mut messages = 0;
/// # let folder = std::env::temp_dir();
/// # let path = folder.join(format!("fixbolt-log-{}.log", std::process::id()));
/// # std::fs::write(&path, "20261121-09:00:00.123 : 8=FIX.4.2^A9=5^A35=0^A10=161^A\n")?;
/// let mut reader = Reader::open(&path)?;
/// while let Some(entry) = reader.next()? {
///     match entry.content {
///         Content::Message(_) => messages += 1,
///         other => println!("{}:{}: {other:?}", path.display(), entry.line.unwrap_or(0)),
///     }
/// }
/// assert_eq!(messages, 1);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Reader<R = File>(Source<R>);

enum Source<R> {
    Log(Box<Log<R>>),
    Journals(Journals),
}

/// A log, and what has been found in it.
struct Log<R> {
    input: Input<R>,
    /// Its name.
    file: Option<PathBuf>,
    /// Whether its first bytes have been looked at.
    is_text: bool,
    /// The next piece, if it is known.
    next: Option<Place>,
    /// The last message, if the log has something else for SOH.
    message: Vec<u8>,
}

impl Reader<File> {
    /// Opens a log, or a directory with a session's journal or with those of several.
    ///
    /// Of a journal the reader sees what it had when it was opened. Each journal is read to its
    /// end, oldest record first, and then the next one; what is damaged comes last.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened, or the directory has no journal.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        let path = path.as_ref();
        if path.is_dir() {
            return Ok(Self(Source::Journals(Journals::open(path).map_err(ReadError::Journal)?)));
        }
        let file = Some(path.to_path_buf());
        match File::open(path) {
            Ok(input) => Ok(Self(Source::Log(Box::new(Log::new(input, file))))),
            Err(error) => Err(ReadError::Io { file, error }),
        }
    }
}

impl<R: Read> Reader<R> {
    /// Creates a reader of a log. It reads in large pieces, so the input needs no buffer.
    pub fn new(input: R) -> Self {
        Self(Source::Log(Box::new(Log::new(input, None))))
    }

    /// Returns the next entry, or `None` at the end. Waits if the input does.
    ///
    /// # Errors
    /// Returns an error if the log cannot be read, is compressed or is in UTF-16, or if a journal
    /// cannot be searched for damage. After an error of the input, the call may be repeated.
    #[allow(clippy::should_implement_trait)] // an entry borrows from the reader
    pub fn next(&mut self) -> Result<Option<Entry<'_>>, ReadError> {
        match &mut self.0 {
            Source::Log(log) => log.next(),
            Source::Journals(journals) => journals.next().map_err(ReadError::Journal),
        }
    }

    /// Returns whether [`next`](Self::next) has to read from the input, for which it may have to
    /// wait. A program that follows a log shows first what it has.
    pub fn has_to_read(&mut self) -> bool {
        match &mut self.0 {
            Source::Log(log) => log.has_to_read(),
            Source::Journals(_) => false,
        }
    }
}

impl<R: Read> Log<R> {
    fn new(input: R, file: Option<PathBuf>) -> Self {
        Self { input: Input::new(input), file, is_text: false, next: None, message: Vec::new() }
    }

    fn has_to_read(&mut self) -> bool {
        if !self.is_text {
            return true;
        }
        if self.next.is_some() {
            return false;
        }
        match self.input.next() {
            Next::Piece(place) => {
                self.next = Some(place);
                false
            }
            Next::Read => true,
            Next::End => false,
        }
    }

    fn next(&mut self) -> Result<Option<Entry<'_>>, ReadError> {
        if !self.is_text {
            self.check_is_text()?;
        }
        while self.has_to_read() {
            self.input.read().map_err(|error| self.unreadable(error))?;
        }
        let Some(place) = self.next.take() else { return Ok(None) };
        let (content, prefix, doubtful) = match self.input.piece(place) {
            Piece::Text(line) if is_event(line) => (Content::Event(line), Prefix::default(), None),
            Piece::Text(bytes) => (Content::Text(bytes), Prefix::default(), None),
            Piece::Message { prefix, bytes, separator } => {
                if separator == Separator::SOH && bytes.ends_with(b"\x01") {
                    (message(bytes), Prefix(prefix), None)
                } else {
                    let is_certain = separator.replace(bytes, &mut self.message);
                    (message(&self.message), Prefix(prefix), (!is_certain).then_some(separator))
                }
            }
        };
        Ok(Some(Entry {
            content,
            prefix,
            file: self.file.as_deref(),
            line: Some(place.position.line),
            offset: place.position.offset,
            session: None,
            recorded: None,
            doubtful,
        }))
    }

    /// Refuses what is compressed or in UTF-16. No message is as short as what tells.
    fn check_is_text(&mut self) -> Result<(), ReadError> {
        let form = match self.input.beginning(Form::LONGEST) {
            Ok(beginning) => Form::of(beginning),
            Err(error) => return Err(self.unreadable(error)),
        };
        if let Some(form) = form {
            return Err(ReadError::NotText { file: self.file.clone(), form });
        }
        self.is_text = true;
        Ok(())
    }

    fn unreadable(&self, error: io::Error) -> ReadError {
        ReadError::Io { file: self.file.clone(), error }
    }
}

/// Returns whether QuickFIX/J wrote this line about an event, not about a message:
/// `<time, session, event> (text)`.
fn is_event(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.starts_with(b"<")
        && [&b", event> ("[..], b", error> ("].iter().any(|mark| memmem::find(line, mark).is_some())
}
