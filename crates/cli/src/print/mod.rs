//! `fixbolt print`: shows messages in words.

mod journal;
mod lexicon;
mod reading;
mod render;
mod source;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;

use crate::exit::{Answer, Failure};
use crate::output::{self, Format, Object, shown};
pub(crate) use lexicon::Lexicon;
pub(crate) use reading::Reading;
pub(crate) use render::{block, json};
use source::{Piece, Pieces};

/// Shows messages field by field, in words.
///
/// Reads Fixbolt's journals (give a directory), raw FIX, and the message logs of QuickFIX,
/// QuickFIX/J and quickfixgo; SOH may be written as itself, as `|`, `^A`, `^`, `\x01`, `\u0001` or
/// `<SOH>`. A message begins at `8=FIX`; text before it on its line is shown unchanged.
///
/// Each message is a block: header, body and trailer, repeating groups indented, tags and values by
/// name. It is checked as an engine would check it (length, checksum, dictionary; tags from 5000
/// are user-defined and not checked), and errors are listed at its head. Passwords (554, 925, and
/// 96 in a Logon) are masked.
///
/// All versions of FIX are known (`fixbolt dictionary list`); FIXT.1.1's application messages are
/// read as FIX Latest. Use `--dictionary` for another version or a dialect.
///
/// Exit status: 0 all messages are valid; 1 some are not, or some bytes are not a message; 2 a file
/// cannot be read.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fixbolt print journal/FIX.4.4-VENUE-TRADER\n  fixbolt print FIX.4.4-VENUE-TRADER.messages.current.log\n  fixbolt print --oneline messages.log | grep Symbol=IBM\n  fixbolt print --dictionary 5.0sp2 messages.log\n  fixbolt print --dictionary venue.xml messages.log\n  echo '8=FIX.4.2|9=5|35=0|10=161|' | fixbolt print -"
)]
pub(crate) struct Arguments {
    /// What to read: a file, a journal's directory, or `-` for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Show one line per message: time, parties, sequence number, message, body
    #[arg(long, conflicts_with = "output")]
    oneline: bool,
    /// A dictionary to use for its version: the name of a shipped one (FIX.5.0SP2, 5.0sp2) or a
    /// file (QuickFIX XML, FIX Orchestra or a compiled table); may be given several times
    #[arg(long, value_name = "DICTIONARY")]
    dictionary: Vec<PathBuf>,
    /// Output format
    #[arg(short, long, value_enum, default_value_t, value_name = "text|json", hide_possible_values = true)]
    output: Format,
}

/// How messages are shown.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Style {
    Block,
    OneLine,
    Json,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let style = match arguments.output {
        Format::Json => Style::Json,
        Format::Text if arguments.oneline => Style::OneLine,
        Format::Text => Style::Block,
    };
    let mut printer = Printer::new(Lexicon::new(&arguments.dictionary)?, output::stdout(), style);
    for file in &arguments.files {
        printer.file(file)?;
    }
    printer.finish()
}

/// Shows one message after the other and remembers whether all were valid.
struct Printer<W> {
    lexicon: Lexicon,
    out: W,
    style: Style,
    answer: Answer,
    messages: u64,
    /// Versions without a dictionary, each reported once.
    unknown: BTreeSet<String>,
}

impl<W: Write> Printer<W> {
    fn new(lexicon: Lexicon, out: W, style: Style) -> Self {
        Self { lexicon, out, style, answer: Answer::Yes, messages: 0, unknown: BTreeSet::new() }
    }

    fn file(&mut self, path: &Path) -> Result<(), Failure> {
        if path == Path::new("-") {
            return self.pieces(io::stdin().lock(), "standard input");
        }
        if path.is_dir() {
            return self.journal(path);
        }
        let name = path.display().to_string();
        let file = File::open(path).map_err(|error| Failure::file("read", path, &error))?;
        self.pieces(file, &name)
    }

    fn pieces(&mut self, input: impl Read, name: &str) -> Result<(), Failure> {
        let mut pieces = Pieces::new(input);
        let before = self.messages;
        loop {
            let piece = pieces.next().map_err(|error| {
                Failure::usage(format!("cannot read {name}: {}", crate::exit::reason(&error)))
            })?;
            match piece {
                None => break,
                Some(Piece::Message { bytes, prefix, place }) => {
                    let prefix = shortened(&shown(prefix.trim_ascii()), 80);
                    let title = format!(
                        "  {prefix}{}[{name}:{}]",
                        if prefix.is_empty() { "" } else { "  " },
                        place.line
                    );
                    let object = Object::new()
                        .text("source", name)
                        .raw("line", place.line)
                        .raw("offset", place.offset)
                        .text("prefix", &prefix);
                    self.message(&bytes, &title, "", object)?;
                }
                // Lines that QuickFIX/J prints between messages.
                Some(Piece::Other { bytes, .. }) if is_event(&bytes) => {}
                Some(Piece::Other { bytes, place }) => {
                    self.answer = Answer::No;
                    self.out.flush()?;
                    let text = shortened(&shown(bytes.trim_ascii()), 60);
                    note!("{name}:{}: not a message ({} bytes): {text}", place.line, bytes.len());
                }
            }
        }
        if self.messages == before {
            self.out.flush()?;
            note!("{name}: no FIX message found");
            self.answer = Answer::No;
        }
        Ok(())
    }

    /// Shows one message.
    fn message(&mut self, bytes: &[u8], title: &str, prefix: &str, place: Object) -> Result<(), Failure> {
        let reading = Reading::new(bytes, &mut self.lexicon);
        self.messages += 1;
        if !reading.is_valid() {
            self.answer = Answer::No;
        }
        if reading.unknown_version && self.unknown.insert(reading.begin_string.clone()) {
            self.out.flush()?;
            let version = &reading.begin_string;
            note!("no dictionary for {version}: fields are shown by tag; load one with --dictionary");
        }
        match self.style {
            Style::Block => render::block(&mut self.out, &reading, title)?,
            Style::OneLine => render::one_line(&mut self.out, &reading, prefix)?,
            Style::Json => writeln!(self.out, "{}", render::json(&reading, place))?,
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Answer, Failure> {
        self.out.flush()?;
        Ok(self.answer)
    }
}

/// Returns the first `most` characters.
fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// Returns whether QuickFIX/J wrote this line about an event, not about a message:
/// `<time, session, event> (text)`.
fn is_event(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.starts_with(b"<")
        && [&b", event> ("[..], b", error> ("]
            .iter()
            .any(|mark| line.windows(mark.len()).any(|window| window == *mark))
}
