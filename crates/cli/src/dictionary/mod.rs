//! `fixbolt dictionary`: the contents of FIX versions and dialects, and their conversions.

mod argument;
mod check;
mod compile;
mod diff;
mod export;
mod list;
mod show;

use clap::Subcommand;
use fixbolt_cli::exit::{Answer, Failure};
use fixbolt_dictionary::Dictionary;

pub(crate) use argument::{SourceOptions, failure};

/// Shows, compares, checks and writes FIX dictionaries.
///
/// A dictionary is the name of a shipped version in any usual spelling (FIX.4.4, fix44, 4.4,
/// 5.0sp2, latest, FIXT), or a file: QuickFIX XML, FIX Orchestra or a compiled table. Options say
/// how files are read; they are the same for every command and do not change shipped versions.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    List(list::List),
    Show(show::Show),
    Diff(diff::Diff),
    Export(export::Export),
    Check(check::Check),
    Compile(compile::Compile),
}

/// Returns a field's name and tag, such as `Side (54)`; the tag alone if the dictionary has no such
/// field.
pub(crate) fn named(dictionary: &Dictionary, tag: u32) -> String {
    dictionary.field(tag).map_or_else(|| tag.to_string(), |field| format!("{} ({tag})", field.name))
}

/// Runs the command.
pub(crate) fn run(command: &Command) -> Result<Answer, Failure> {
    match command {
        Command::List(arguments) => list::run(arguments),
        Command::Show(arguments) => show::run(arguments),
        Command::Diff(arguments) => diff::run(arguments),
        Command::Export(arguments) => export::run(arguments),
        Command::Check(arguments) => check::run(arguments),
        Command::Compile(arguments) => compile::run(arguments),
    }
}
