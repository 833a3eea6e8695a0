//! `fixbolt generate`: writes the typed messages of a dictionary to a Rust file, as an alternative
//! to a build script.

use std::collections::HashSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use fixbolt_cli::exit::{Answer, Failure};
use fixbolt_cli::note;
use fixbolt_cli::output::{self, Format, Object};
use fixbolt_codegen::{BaseVersion, Finding, Module, Options};
use fixbolt_dictionary::LoadError;

use crate::dictionary::{SourceOptions, failure};

/// Writes the typed messages of a dictionary as a Rust module.
///
/// The dictionary is a file (QuickFIX XML, FIX Orchestra, a compact table, or only the changes of a
/// dialect: `<fix extends="FIX.4.4">`) or the name of a shipped version. The module has the name of
/// the file, in lower case. Every error in the dictionary is reported with file and line, and
/// nothing is written.
///
/// To do the same in a build script at every build, one line is enough:
/// fixbolt_codegen::build(Source::file("FILE"), &Options::default()).
///
/// Exit status: 0 written; 1 the dictionary has errors; 2 a file cannot be read or written.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fixbolt generate paint.xml --out src\n  fixbolt generate FIX.4.4 --messages D,8,F --out src"
)]
pub(crate) struct Arguments {
    /// The dictionary: a file, or the name of a shipped version
    #[arg(value_name = "FILE")]
    source: PathBuf,
    /// The folder for the module, which is created if it does not exist
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Only the messages of these MsgTypes, with what they use: D,8,F
    #[arg(long, value_name = "TYPES", value_delimiter = ',')]
    messages: Option<Vec<String>>,
    /// The shipped version of which the file is a dialect: what does not differ is taken from
    /// fixbolt-messages, whose feature of that version must be on
    #[arg(long, value_name = "VERSION")]
    base: Option<BaseVersion>,
    /// Output format
    #[arg(short, long, value_enum, default_value_t)]
    output: Format,
    #[command(flatten)]
    source_options: SourceOptions,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let Arguments { source, out, messages, base, output, source_options } = arguments;
    let options = Options { messages: messages.clone(), base: *base, ..Options::default() };
    let module = match module(source, source_options, &options)? {
        Ok(module) => module,
        Err(faults) => {
            tell("error", &faults, *output)?;
            return Ok(Answer::No);
        }
    };
    tell("warning", &module.warnings, *output)?;
    let file = out.join(&module.name).with_extension("rs");
    let mut text =
        "#![allow(clippy::all, dead_code, unreachable_pub)] // generated: names and structure come from the dictionary\n".to_owned();
    text += module.generated.source();
    fs::create_dir_all(out).map_err(|error| Failure::file("create", out, &error))?;
    fs::write(&file, &text).map_err(|error| Failure::file("write", &file, &error))?;

    let mut to = output::stdout();
    let (name, place) = (&module.name, file.display());
    let all = module.dictionary.messages().len();
    let lines = text.lines().count();
    let messages = messages.as_ref().map_or(all, |types| types.iter().collect::<HashSet<_>>().len());
    let dependency = dependency(*base);
    match output {
        Format::Text => {
            writeln!(to, "{place}: {lines} lines, {messages} messages")?;
            writeln!(to, "  in Cargo.toml:    {dependency}")?;
            writeln!(to, "  in src/lib.rs:    pub mod {name};")?;
        }
        Format::Json => {
            let object = Object::new()
                .text("file", &place.to_string())
                .text("module", name)
                .text("version", &module.dictionary.version().name)
                .raw("lines", lines)
                .raw("messages", messages)
                .text("dependency", &dependency);
            writeln!(to, "{object}")?;
        }
    }
    to.flush()?;
    Ok(Answer::Yes)
}

/// Returns the dependency of the generated code, with the feature of its base version.
fn dependency(base: Option<BaseVersion>) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let feature = match base {
        None => return format!("fixbolt-messages = \"{version}\""),
        Some(BaseVersion::FixLatest) => "fix-latest".to_owned(),
        Some(base) => base.name().to_lowercase().replace('.', ""),
    };
    format!("fixbolt-messages = {{ version = \"{version}\", features = [\"{feature}\"] }}")
}

fn module(
    source: &Path,
    source_options: &SourceOptions,
    options: &Options,
) -> Result<Result<Module, Vec<Finding>>, Failure> {
    match source_options.source(source)?.load() {
        Ok(loaded) => Ok(Module::new(source, loaded, options)),
        Err(refused @ LoadError::Refused { .. }) => Ok(Err(Finding::all_of(&refused))),
        Err(error) => Err(failure(source, &error)),
    }
}

/// Reports findings: on standard error for people, as an object each for programs.
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
