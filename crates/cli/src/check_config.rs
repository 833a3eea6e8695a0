//! `fixbolt check-config`: shows the effective settings of a configuration, and every mistake in
//! it.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use fixbolt::config::{
    CheckedConfiguration, CheckedSession, ConfigError, ConfigErrors, ConfigWarning, EffectiveSetting,
};
use fixbolt_cli::exit::{Answer, Failure};
use fixbolt_cli::output::{self, Format, Object};

/// Shows the effective settings of each session of a configuration, and every mistake in it.
///
/// Shows the settings of the engine. For each session, shows its identity, then its settings: those
/// in the file with their line, the others with their default; secrets are masked. Then shows the
/// settings that have no effect, and every mistake with file, line and what to do. Reads the
/// dictionaries, certificates and keys that the file names, and signs once with each long key;
/// opens no port and no journal.
///
/// The JSON output is one object per line: kind engine (settings), session (name, place, valid,
/// settings), warning and mistake (place, key, reason, nearest).
///
/// Exit status: 0 every session is valid; 1 there are mistakes; 2 the file cannot be read.
#[derive(Debug, Args)]
#[command(
    name = "check-config",
    after_help = "Examples:\n  fixbolt check-config venue.cfg\n  fixbolt check-config venue.cfg -o json | jq -r 'select(.kind == \"mistake\").reason'"
)]
pub(crate) struct Arguments {
    /// The configuration: [DEFAULT], [SESSION], Key=Value
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Output format
    #[arg(short, long, value_enum, default_value_t, value_name = "text|json", hide_possible_values = true)]
    output: Format,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let mut checked = CheckedConfiguration::from_file(&arguments.file);
    if let [unreadable @ ConfigError::Unreadable { included_at: None, .. }] = &checked.mistakes[..] {
        return Err(Failure::usage(unreadable.to_string()));
    }
    checked.try_tls_files();
    let mut out = output::verdict();
    match arguments.output {
        Format::Text => text(&mut out, &checked)?,
        Format::Json => json(&mut out, &checked)?,
    }
    out.flush()?;
    Ok(if checked.mistakes.is_empty() { Answer::Yes } else { Answer::No })
}

fn text(out: &mut impl Write, checked: &CheckedConfiguration) -> Result<(), Failure> {
    if !checked.sessions.is_empty() {
        writeln!(out, "engine")?;
        settings(out, &checked.engine_effective)?;
    }
    for CheckedSession { place, name, effective, result, .. } in &checked.sessions {
        let wrong = if result.is_ok() { "" } else { ", has mistakes" };
        writeln!(out, "session {name} ({place}{wrong})")?;
        settings(out, effective)?;
    }
    for warning in &checked.warnings {
        writeln!(out, "warning: {warning}")?;
    }
    for mistake in &checked.mistakes {
        writeln!(out, "mistake: {mistake}")?;
    }
    let sessions = checked.sessions.len();
    let valid = checked.sessions.iter().filter(|session| session.result.is_ok()).count();
    let sessions = counted(sessions, "session");
    match checked.mistakes.len() {
        0 => writeln!(out, "{sessions}, no mistakes")?,
        mistakes => writeln!(out, "{sessions}, {valid} without mistakes; {}", counted(mistakes, "mistake"))?,
    }
    Ok(())
}

/// Writes settings, those of the file with their line, and an empty line.
fn settings(out: &mut impl Write, effective: &[EffectiveSetting]) -> Result<(), Failure> {
    for EffectiveSetting { key, value, place, .. } in effective {
        match place {
            Some(place) => writeln!(out, "  {key}={value}  ({place})")?,
            None => writeln!(out, "  {key}={value}")?,
        }
    }
    writeln!(out)?;
    Ok(())
}

/// Returns a number with its noun.
fn counted(number: usize, noun: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{s}")
}

fn json(out: &mut impl Write, checked: &CheckedConfiguration) -> Result<(), Failure> {
    let setting = |EffectiveSetting { key, value, place, meaning, .. }: &EffectiveSetting| {
        let place = place.as_ref().map(ToString::to_string);
        let setting = Object::new().text("key", key).text("value", value);
        setting.maybe_text("place", place.as_deref()).text("meaning", meaning)
    };
    let engine = checked.engine_effective.iter().map(setting);
    writeln!(out, "{}", Object::new().text("kind", "engine").array("settings", engine))?;
    for CheckedSession { place, name, effective, result, .. } in &checked.sessions {
        let settings = effective.iter().map(setting);
        let object = Object::new()
            .text("kind", "session")
            .text("name", name)
            .text("place", &place.to_string())
            .raw("valid", result.is_ok())
            .array("settings", settings);
        writeln!(out, "{object}")?;
    }
    for ConfigWarning { place, key, instead, .. } in &checked.warnings {
        let object = Object::new().text("kind", "warning").text("place", &place.to_string());
        writeln!(out, "{}", object.text("key", key).text("reason", instead))?;
    }
    for mistake in &checked.mistakes {
        let place = mistake.place().map(ToString::to_string);
        let object = Object::new()
            .text("kind", "mistake")
            .maybe_text("place", place.as_deref())
            .maybe_text("key", mistake.key())
            .text("reason", &mistake.reason())
            .maybe_text("nearest", mistake.nearest());
        writeln!(out, "{object}")?;
    }
    Ok(())
}

/// Returns why a configuration is not used, one line per mistake.
pub(crate) fn refused(mistakes: &ConfigErrors) -> Failure {
    Failure::usage(mistakes.to_string().replace('\n', "\nfixbolt: "))
}
