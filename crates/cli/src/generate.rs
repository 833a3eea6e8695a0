//! `fixbolt generate`: typed messages of a dictionary as a Rust file, for those who would rather have it in their sources than
//! made by a build script.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use fixbolt_codegen::{Finding, Module, Options};

use crate::dictionary::read_text;
use crate::exit::{Answer, Failure};
use crate::output::{self, Format, Object};

/// Writes the typed messages of a dictionary as a Rust module.
///
/// The dictionary is a file (QuickFIX XML, FIX Orchestra, a compact table, or only what a dialect changes:
/// `<fix extends="FIX.4.4">`) or the name of a shipped version. The module is called as the file is, in lower case. Everything
/// that is wrong with the dictionary is told with file and line, and nothing is written.
///
/// A build script does the same at every build, from one line: fixbolt_codegen::build("FILE").
///
/// Exit status: 0 written; 1 the dictionary is wrong; 2 a file cannot be read or written.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fixbolt generate paint.xml --out src\n  fixbolt generate FIX.4.4 --out src"
)]
pub(crate) struct Arguments {
    /// The dictionary: a file, or the name of a shipped version
    #[arg(value_name = "FILE")]
    source: PathBuf,
    /// The folder that the module goes to; it is made if need be
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// How the answer is written
    #[arg(short, long, value_enum, default_value_t)]
    output: Format,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let Arguments { source, out, output } = arguments;
    let module = match module(source)? {
        Ok(module) => module,
        Err(faults) => {
            tell("error", &faults, *output)?;
            return Ok(Answer::No);
        }
    };
    tell("warning", &module.warnings, *output)?;
    let file = out.join(&module.name).with_extension("rs");
    let mut text =
        "#![allow(clippy::all, dead_code, unreachable_pub)] // printed: names and shapes are the dictionary's\n".to_owned();
    text += module.generated.source();
    fs::create_dir_all(out).map_err(|error| Failure::file("make", out, &error))?;
    fs::write(&file, &text).map_err(|error| Failure::file("write", &file, &error))?;

    let mut to = output::stdout();
    let (name, place) = (&module.name, file.display());
    let (lines, messages) = (text.lines().count(), module.dictionary.messages().len());
    match output {
        Format::Text => {
            writeln!(to, "{place}: {lines} lines, {messages} messages")?;
            writeln!(to, "  in Cargo.toml:    {DEPENDENCY}")?;
            writeln!(to, "  in src/lib.rs:    pub mod {name};")?;
        }
        Format::Json => {
            let object = Object::new()
                .text("file", &place.to_string())
                .text("module", name)
                .text("version", &module.dictionary.version().name)
                .raw("lines", lines)
                .raw("messages", messages)
                .text("dependency", DEPENDENCY);
            writeln!(to, "{object}")?;
        }
    }
    to.flush()?;
    Ok(Answer::Yes)
}

/// What printed code stands on.
const DEPENDENCY: &str = concat!("fixbolt-messages = \"", env!("CARGO_PKG_VERSION"), "\"");

fn module(source: &Path) -> Result<Result<Module, Vec<Finding>>, Failure> {
    let options = Options::default();
    if let Some(version) = source.to_str().and_then(|word| word.parse().ok()) {
        return Ok(Module::shipped(version, &options));
    }
    Ok(Module::from_text(source, &read_text(source)?, &options))
}

/// People read faults on standard error, as of every command; programs get an object each.
fn tell(kind: &str, faults: &[Finding], output: Format) -> Result<(), Failure> {
    match output {
        Format::Text => faults.iter().for_each(|fault| note!("{kind}: {fault}")),
        Format::Json => {
            let mut to = output::stdout();
            for Finding { file, line, element, reason } in faults {
                let mut object = Object::new().text("kind", kind).text("file", &file.to_string_lossy());
                if let Some(line) = line {
                    object = object.raw("line", line);
                }
                writeln!(to, "{}", object.text("element", element).text("reason", reason))?;
            }
            to.flush()?;
        }
    }
    Ok(())
}
