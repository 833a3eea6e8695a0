//! `fixbolt dictionary compile`: converts a FIX specification to the compact table that the engine
//! loads.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use fixbolt_cli::exit::{Answer, Failure};
use fixbolt_cli::note;
use fixbolt_cli::output;
use fixbolt_dictionary::LoadError;

use super::argument::{SourceOptions, failure};

/// Compiles a dictionary to a compact table.
///
/// Reads a dictionary as QuickFIX XML or FIX Orchestra (the text itself shows which) and writes the
/// table that the engine ships and loads: tags, names, types, codes, groups, messages, and the hash
/// of the source. It names the license that the source or --license
/// states. Oddities in the source are reported as warnings. Errors are reported with their
/// line, and nothing is written.
///
/// Exit status: 0 written; 1 the source or a correction has errors; 2 a file cannot be read or
/// written.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fixbolt dictionary compile OrchestraFIX44.xml -o FIX.4.4.txt")]
pub(crate) struct Compile {
    /// The dictionary to read
    #[arg(value_name = "SRC")]
    source: PathBuf,
    /// Where to write the table [default: standard output]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Corrections of what the source leaves out, one a line: those of its version are applied
    #[arg(long, value_name = "FILE")]
    corrections: Option<PathBuf>,
    #[command(flatten)]
    source_options: SourceOptions,
}

/// Runs the command.
pub(super) fn run(arguments: &Compile) -> Result<Answer, Failure> {
    let place = arguments.source.display();
    let loaded = match arguments.source_options.source(&arguments.source)?.load() {
        Ok(loaded) => loaded,
        Err(LoadError::Refused { faults, .. }) => {
            for error in faults.first() {
                note!("fixbolt: {place}: {error}");
            }
            let more = faults.count() - faults.first().len();
            if more > 0 {
                note!("fixbolt: {place}: {more} more errors are not shown");
            }
            return Ok(Answer::No);
        }
        Err(error) => return Err(failure(&arguments.source, &error)),
    };
    for warning in loaded.warnings {
        note!("warning: {place}: {warning}");
    }
    let dictionary = match &arguments.corrections {
        None => loaded.dictionary,
        Some(path) => {
            let text = fs::read_to_string(path).map_err(|error| Failure::file("read", path, &error))?;
            match loaded.dictionary.corrected(&text) {
                Ok(corrected) => corrected,
                Err(faults) => {
                    for error in faults.first() {
                        note!("fixbolt: {}: {error}", path.display());
                    }
                    return Ok(Answer::No);
                }
            }
        }
    };
    let table = dictionary.to_table();
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
