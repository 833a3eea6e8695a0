//! `fixbolt dictionary export`: writes a dictionary in the format of other engines.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use fixbolt_cli::exit::{Answer, Failure};
use fixbolt_cli::note;
use fixbolt_cli::output;

use super::argument::SourceOptions;

/// Writes a dictionary in a format that other engines and tools read.
///
/// QuickFIX XML is read by QuickFIX, QuickFIX/J, QuickFIX/n and their successors. It cannot express
/// values that a field allows besides its codes: they are written to the attributes
/// allowOtherValues and unionDataType, which other readers ignore. FIX Latest is written as
/// FIX.5.0SP2. Constant values, conditions and scenarios are lost. The header and trailer of
/// FIX.5.0 and later are in FIXT.1.1: export both, or one over the other with --transport. The
/// license is that of what was shipped, or what the file or --license states.
///
/// Exit status: 0 written; 2 a file cannot be read or written, or is not a dictionary.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fixbolt dictionary export --to quickfix-xml FIX.4.4 -o FIX44.xml\n  fixbolt dictionary export orchestra.xml > quickfix.xml"
)]
pub(crate) struct Export {
    /// A shipped version (FIX.4.4, fix44, latest), or a file: QuickFIX XML, FIX Orchestra or a
    /// compiled table
    #[arg(value_name = "DICTIONARY")]
    dictionary: PathBuf,
    /// The format to write
    #[arg(long, value_enum, default_value_t, value_name = "quickfix-xml", hide_possible_values = true)]
    to: Form,
    /// Where to write it [default: standard output]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    #[command(flatten)]
    source_options: SourceOptions,
}

/// Formats that other engines read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
enum Form {
    #[default]
    QuickfixXml,
}

/// Runs the command.
pub(super) fn run(arguments: &Export) -> Result<Answer, Failure> {
    let loaded = arguments.source_options.load(&arguments.dictionary)?;
    for warning in &loaded.warnings {
        note!("warning: {}: {warning}", arguments.dictionary.display());
    }
    let text = match arguments.to {
        Form::QuickfixXml => loaded.dictionary.to_quickfix_xml(),
    };
    match &arguments.output {
        Some(path) => fs::write(path, text).map_err(|error| Failure::file("write", path, &error))?,
        None => {
            let mut out = output::stdout();
            out.write_all(text.as_bytes())?;
            out.flush()?;
        }
    }
    Ok(Answer::Yes)
}
