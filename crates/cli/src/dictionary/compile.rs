//! `fixbolt dictionary compile`: from a FIX specification to the compact table that the engine loads.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use fixbolt_dictionary::ReadOptions;

use super::argument::read_text;
use crate::exit::{Answer, Failure};
use crate::output;

/// Makes a compact table of a dictionary.
///
/// Reads a dictionary as QuickFIX XML or FIX Orchestra (told apart by the text itself) and writes the table of facts that the
/// engine ships and loads: tags, names, types, codes, groups, messages, and the hash of the source. What is odd in the source
/// is told as a warning; what is wrong is told with its line, and nothing is written.
///
/// Exit status: 0 written; 1 the source is wrong; 2 a file cannot be read or written.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fixbolt dictionary compile OrchestraFIX44.xml -o FIX.4.4.txt")]
pub(crate) struct Compile {
    /// The dictionary to read
    #[arg(value_name = "SRC")]
    source: PathBuf,
    /// Where the table goes; standard output if not given
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Only what belonged to this version already (FIX.5.0SP1, for example): FIX Orchestra files tell
    #[arg(long, value_name = "VERSION")]
    as_of: Option<String>,
    /// The version that the source describes, where it says it wrong or not at all
    #[arg(long, value_name = "VERSION")]
    version: Option<String>,
    /// Names of fields, messages and codes as FIX Orchestra has them for the same tags, types and values
    #[arg(long)]
    standard_names: bool,
    /// Accept a tag that several fields bear: the first stays
    #[arg(long)]
    accept_duplicate_tags: bool,
}

impl Compile {
    fn options(&self) -> ReadOptions {
        let mut options = ReadOptions::default();
        if let Some(version) = &self.as_of {
            options = options.as_of(version);
        }
        if let Some(version) = &self.version {
            options = options.version(version);
        }
        if self.standard_names {
            options = options.standard_names();
        }
        if self.accept_duplicate_tags {
            options = options.accept_duplicate_tags();
        }
        options
    }
}

/// Runs the command.
pub(super) fn run(arguments: &Compile) -> Result<Answer, Failure> {
    let text = read_text(&arguments.source)?;
    let name = arguments.source.file_name().unwrap_or_default().to_string_lossy();
    let place = arguments.source.display();
    let (table, warnings) = match fixbolt_dictionary::compile(&text, &name, &arguments.options()) {
        Ok(done) => done,
        Err(errors) => {
            for error in errors {
                note!("fixbolt: {place}: {error}");
            }
            return Ok(Answer::No);
        }
    };
    for warning in warnings {
        note!("warning: {place}: {warning}");
    }
    match &arguments.output {
        Some(path) => fs::write(path, table).map_err(|error| Failure::file("write", path, &error))?,
        None => {
            let mut out = output::stdout();
            out.write_all(table.as_bytes())?;
            out.flush()?;
        }
    }
    Ok(Answer::Yes)
}
