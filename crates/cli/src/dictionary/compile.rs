//! `fixbolt dictionary compile`: converts a FIX specification to the compact table that the engine
//! loads.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use fixbolt_dictionary::ReadOptions;

use super::argument::read_text;
use crate::exit::{Answer, Failure};
use crate::output;

/// Compiles a dictionary to a compact table.
///
/// Reads a dictionary as QuickFIX XML or FIX Orchestra (the text itself shows which) and writes the
/// table that the engine ships and loads: tags, names, types, codes, groups, messages, and the hash
/// of the source. Oddities in the source are reported as warnings. Errors are reported with their
/// line, and nothing is written.
///
/// Exit status: 0 written; 1 the source has errors; 2 a file cannot be read or written.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fixbolt dictionary compile OrchestraFIX44.xml -o FIX.4.4.txt")]
pub(crate) struct Compile {
    /// The dictionary to read
    #[arg(value_name = "SRC")]
    source: PathBuf,
    /// Where to write the table [default: standard output]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Only what this version (such as FIX.5.0SP1) already had, as far as a FIX Orchestra file says
    #[arg(long, value_name = "VERSION")]
    as_of: Option<String>,
    /// The version that the source describes, if it does not say so or is wrong
    #[arg(long, value_name = "VERSION")]
    version: Option<String>,
    /// Use FIX Orchestra's names of fields, messages and codes for the same tags, types and values
    #[arg(long)]
    standard_names: bool,
    /// Accept a tag that several fields have: the first one is kept
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
