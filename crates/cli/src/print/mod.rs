//! `fixbolt print`: shows messages in words.

mod garbled;
mod hfprint;
mod journal;
mod lexicon;
mod reading;
mod render;
mod words;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use fixbolt::config::GroupsAsSent;
use fixbolt_codec::Secrets;
use fixbolt_log::{Content, Entry, Prefix, ReadError};
use fixbolt_session::Direction;

use crate::dictionary::SourceOptions;
use fixbolt_cli::exit::{Answer, Failure};
use fixbolt_cli::note;
use fixbolt_cli::output::{self, Format, Object, show, show_in_json, shown};
use hfprint::hfprint;
pub(crate) use lexicon::{Lexicon, policy};
pub(crate) use reading::Reader;
pub(crate) use render::{block, json, line as field_line, one_line};

/// Shows messages field by field, in words.
///
/// Reads Fixbolt's journals (give a directory), raw FIX, and the message logs of QuickFIX,
/// QuickFIX/J and quickfixgo; SOH may be written as itself, as `|` (with or without spaces), `^A`,
/// `^`, `\x01`, `\u0001`, `\001`, `<SOH>`, `[SOH]`, `<01>` or U+2401, or as `;`, `~`, a tab or a
/// space before a tag. A message begins at `8=FIX`; text before it on its line is shown unchanged.
/// In JSON it is `prefix`, and its time and direction, if it has them, are `time` (as written) and
/// `direction` (`received` or `sent`).
///
/// What has been read is shown before more is waited for, so a log can be followed.
///
/// Each message is a block: header, body and trailer, repeating groups indented, tags and values by
/// name. It is checked as an engine would check it (length, checksum, dictionary; tags from 5000
/// are user-defined and not checked), and errors are listed at its head. Passwords (554, 925,
/// 1402, 1404, and 96 in a Logon) are masked.
///
/// All versions of FIX are known (`fixbolt dictionary list`); FIXT.1.1's application messages are
/// read as FIX Latest. Use `--dictionary` for another version or a dialect. A BeginString of
/// `FIX.5.0SP2`, which no session has, is an error, and says which version is meant.
///
/// A file that is compressed, or in UTF-16, is not read: an error names the command that shows it
/// as text.
///
/// Exit status: 0 all messages are valid; 1 some are not, or some bytes are not a message; 2 a file
/// cannot be read.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fixbolt print journal/FIX.4.4-VENUE-TRADER\n  fixbolt print FIX.4.4-VENUE-TRADER.messages.current.log\n  fixbolt print --oneline messages.log | grep Symbol=IBM\n  fixbolt print --style hfprint messages.log\n  fixbolt print --dictionary 5.0sp2 messages.log\n  fixbolt print --dictionary venue.xml messages.log\n  tail -f messages.log | fixbolt print --oneline\n  echo '8=FIX.4.2|9=5|35=0|10=161|' | fixbolt print"
)]
pub(crate) struct Arguments {
    /// What to read: a file, a journal's directory, or `-` for standard input; without any,
    /// standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Show one line per message: time, parties, sequence number, message, body
    #[arg(long, conflicts_with_all = ["output", "style"])]
    oneline: bool,
    /// How messages are shown: `block`; `oneline`, the same as --oneline; or `hfprint`, the form
    /// and names of Fix8's printer, without CheckSum and where a message comes from, and with zeros
    /// at the end of decimals left out; errors are written to standard error
    #[arg(
        long,
        value_enum,
        conflicts_with = "output",
        value_name = "block|oneline|hfprint",
        hide_possible_values = true
    )]
    style: Option<TextStyle>,
    /// A dictionary to use for its version: the name of a shipped one (FIX.5.0SP2, 5.0sp2) or a
    /// file (QuickFIX XML, FIX Orchestra or a compiled table); may be given several times
    #[arg(long, value_name = "DICTIONARY")]
    dictionary: Vec<PathBuf>,
    /// Read the groups with these count fields as they are sent: the first member that is sent
    /// begins each entry (`453,268`, or `all`)
    #[arg(long, value_name = "TAGS", value_parser = str::parse::<GroupsAsSent>, default_value = "none", hide_default_value = true)]
    groups_as_sent: GroupsAsSent,
    /// Output format
    #[arg(short, long, value_enum, default_value_t, value_name = "text|json", hide_possible_values = true)]
    output: Format,
}

/// The forms of text that can be asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum TextStyle {
    Block,
    Oneline,
    Hfprint,
}

/// How messages are shown.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Style {
    Block,
    OneLine,
    Hfprint,
    Json,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    if arguments.files.is_empty() && io::stdin().is_terminal() {
        let command = clap::Command::new("print").bin_name("fixbolt print");
        let usage = <Arguments as Args>::augment_args(command).render_usage();
        return Err(Failure::usage(format!(
            "no file is named, and standard input is a terminal\n\n{usage}\n\nFor more information, try `fixbolt print --help`."
        )));
    }
    let style = match (arguments.output, arguments.style) {
        (Format::Json, _) => Style::Json,
        (Format::Text, Some(TextStyle::Hfprint)) => Style::Hfprint,
        (Format::Text, Some(TextStyle::Oneline)) => Style::OneLine,
        (Format::Text, None) if arguments.oneline => Style::OneLine,
        (Format::Text, Some(TextStyle::Block) | None) => Style::Block,
    };
    let load = |argument: &PathBuf| {
        let loaded = SourceOptions::default().load(argument)?;
        if let Some(version) = loaded.replaced_version() {
            note!(
                "{}: replaces the shipped {version}, of which only what the file has is known; to add to it, begin the file with <fix extends='{version}'>",
                argument.display()
            );
        }
        Ok(loaded.dictionary)
    };
    let dictionaries = arguments.dictionary.iter().map(load).collect::<Result<Vec<_>, Failure>>()?;
    let lexicon = Lexicon::new(dictionaries, arguments.groups_as_sent.clone())?;
    lexicon.check_groups_as_sent()?;
    let mut printer = Printer::new(lexicon, output::stdout(), style);
    if arguments.files.is_empty() {
        printer.standard_input()?;
    }
    for file in &arguments.files {
        printer.file(file)?;
    }
    printer.finish()
}

/// Shows one message after the other and remembers whether all were valid.
struct Printer<W> {
    reader: Reader,
    out: W,
    style: Style,
    answer: Answer,
    messages: u64,
    /// Versions without a dictionary, each reported once.
    unknown: BTreeSet<String>,
    /// What is written next, and what stands before it: kept for their memory.
    text: Vec<u8>,
    title: Vec<u8>,
}

impl<W: Write> Printer<W> {
    fn new(lexicon: Lexicon, out: W, style: Style) -> Self {
        let (reader, unknown) = (Reader::new(lexicon), BTreeSet::new());
        let (text, title) = Default::default();
        Self { reader, out, style, answer: Answer::Yes, messages: 0, unknown, text, title }
    }

    fn file(&mut self, path: &Path) -> Result<(), Failure> {
        if path == Path::new("-") {
            return self.standard_input();
        }
        if path.is_dir() {
            return self.journal(path);
        }
        let name = path.display().to_string();
        let file = File::open(path).map_err(|error| Failure::file("read", path, &error))?;
        self.log(file, &name, Some(path))
    }

    fn standard_input(&mut self) -> Result<(), Failure> {
        self.log(io::stdin().lock(), "standard input", None)
    }

    fn log(&mut self, input: impl Read, name: &str, file: Option<&Path>) -> Result<(), Failure> {
        let unreadable = |error: ReadError| match error {
            ReadError::Io { error, .. } => {
                Failure::usage(format!("cannot read {name}: {}", fixbolt_cli::exit::reason(&error)))
            }
            ReadError::NotText { form, .. } => {
                let command = form.as_text(file);
                Failure::usage(format!("{name} is {form}: `{command} | fixbolt print`"))
            }
            error => Failure::usage(error.to_string()),
        };
        let source = Object::new().text("source", name);
        let before = self.messages;
        let mut log = fixbolt_log::Reader::new(input);
        loop {
            if log.has_to_read() {
                // What has been read is shown before more is waited for.
                self.out.flush()?;
            }
            let Some(entry) = log.next().map_err(unreadable)? else { break };
            if let Some(bytes) = entry.bytes() {
                self.text.clear();
                self.title.clear();
                let prefix = &*without_secrets(entry.prefix.0);
                let line = entry.line.unwrap_or(0);
                match self.style {
                    Style::Block => write_title(&mut self.title, prefix, name, line)?,
                    Style::OneLine => show(&mut self.text, prefix),
                    Style::Hfprint => write!(self.title, "{name}:{line}")?,
                    Style::Json => {
                        self.title.extend_from_slice(source.unfinished().as_bytes());
                        write_origin(&mut self.title, prefix, &entry)?;
                    }
                }
                self.message(bytes, &entry.doubtful_secrets())?;
            } else if let Content::Text(bytes) = entry.content {
                self.answer = Answer::No;
                self.out.flush()?;
                let (line, text) = (entry.line.unwrap_or(0), excerpt(bytes.trim_ascii()));
                note!("{name}:{line}: not a message ({} bytes): {text}", bytes.len());
            }
        }
        if self.messages == before {
            self.out.flush()?;
            note!("{name}: no FIX message found");
            self.answer = Answer::No;
        }
        Ok(())
    }

    /// Shows one message, after what stands in `text` already, with `title`. These parts of it are
    /// secret, beside those that are found in it.
    fn message(&mut self, bytes: &[u8], secrets: &[Range<usize>]) -> Result<(), Failure> {
        let reading = self.reader.read_without(bytes, secrets);
        self.messages += 1;
        if !reading.is_valid() {
            self.answer = Answer::No;
        }
        if reading.unknown_version && !self.unknown.contains(&*shown(reading.begin_string)) {
            let version = shown(reading.begin_string);
            self.out.flush()?;
            note!("no dictionary for {version}: fields are shown by tag; load one with --dictionary");
            self.unknown.insert(version);
        }
        match self.style {
            Style::Block => render::block(&mut self.text, &reading, &self.title),
            Style::OneLine => render::one_line(&mut self.text, &reading),
            Style::Hfprint => {
                for problem in reading.problems {
                    self.out.flush()?;
                    note!("{}: INVALID: {problem}", shown(&self.title));
                }
                hfprint(&mut self.text, &reading);
            }
            Style::Json => render::json(&mut self.text, &reading, &self.title),
        }
        self.out.write_all(&self.text)?;
        Ok(())
    }

    fn finish(mut self) -> Result<Answer, Failure> {
        self.out.flush()?;
        Ok(self.answer)
    }
}

/// Writes what follows the headline of a block: `  20261121-09:00:00.123 :  [messages.log:7]`.
fn write_title(title: &mut Vec<u8>, prefix: &[u8], name: &str, line: u64) -> io::Result<()> {
    title.extend_from_slice(b"  ");
    let prefix = prefix.trim_ascii();
    if !prefix.is_empty() {
        show(title, prefix);
        title.extend_from_slice(b"  ");
    }
    write!(title, "[{name}:{line}]")
}

/// Writes where a message comes from, and what its log says of it, as members of a JSON object.
fn write_origin(object: &mut Vec<u8>, prefix: &[u8], entry: &Entry<'_>) -> io::Result<()> {
    let (line, offset) = (entry.line.unwrap_or(0), entry.offset);
    write!(object, ",\"line\":{line},\"offset\":{offset},\"prefix\":\"")?;
    show_in_json(object, prefix);
    object.push(b'"');
    if let Some(time) = Prefix(prefix).time() {
        object.extend_from_slice(b",\"time\":\"");
        show_in_json(object, time);
        object.push(b'"');
    }
    if let Some(direction) = Prefix(prefix).direction() {
        write!(object, ",\"direction\":\"{}\"", word(direction))?;
    }
    Ok(())
}

/// Returns the word for which way a message went.
fn word(direction: Direction) -> &'static str {
    match direction {
        Direction::Inbound => "received",
        Direction::Outbound => "sent",
    }
}

/// Returns the beginning of some text, with `***` for what may be a secret.
fn excerpt(text: &[u8]) -> String {
    const MOST: usize = 60;
    // A character has at most four bytes.
    let text = shown(&without_secrets(&text[..text.len().min(4 * MOST + 4)]));
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// Returns text that is not a message with `***` for what may be a secret.
fn without_secrets(text: &[u8]) -> Cow<'_, [u8]> {
    let mut ranges = Secrets::STANDARD.in_garbled(text).peekable();
    if ranges.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let (mut masked, mut at) = (Vec::new(), 0);
    for range in ranges {
        masked.extend_from_slice(&text[at..range.start]);
        masked.extend_from_slice(b"***");
        at = range.end;
    }
    masked.extend_from_slice(&text[at..]);
    Cow::Owned(masked)
}
