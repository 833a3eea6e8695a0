//! `fixbolt check-config`: shows what would stop a start with a configuration, and its effective
//! settings.

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use fixbolt::config::{
    CheckedConfiguration, CheckedSession, ConfigError, ConfigErrors, ConfigWarning, ConnectionType,
    EffectiveSetting,
};
use fixbolt_cli::exit::{Answer, Failure, reason, without_error_numbers};
use fixbolt_cli::output::{self, Format, Object};
use fixbolt_log::Form;

/// Shows what would stop a start with a configuration, and its settings.
///
/// Does what a start does, as far as that opens nothing and changes nothing: reads the file and the
/// dictionaries that it names, loads certificates and keys, signs once with each long key, tries
/// whether ports can be bound and whether journals and logs can be written, and looks for cores and
/// memory. First shows where messages are kept and where the sessions listen or connect, then every
/// mistake with file, line and what to do, then warnings: settings that have no effect, what is
/// doubtful, and ports and journals that a running process has, with the process. That may be the
/// engine itself, so the file of a running engine can be checked beside it.
///
/// Then shows the settings that differ from their default, those that all sessions share once, with
/// their line; --all shows every setting of each session. Secrets are masked.
///
/// The JSON output is one object per line: kind summary (store, listening, connecting), mistake and
/// warning (place, key, reason, nearest), engine (settings), session (name, place, valid,
/// settings). A setting has its key, value, place, meaning, and whether it is the default.
///
/// Of a configuration on standard input, the files that it names are relative to the current
/// directory.
///
/// Exit status: 0 nothing would stop a start; 1 there are mistakes, or the journals of all sessions
/// are damaged, so that nobody could be served; 2 the file cannot be read.
#[derive(Debug, Args)]
#[command(
    name = "check-config",
    after_help = "Examples:\n  fixbolt check-config venue.cfg\n  fixbolt check-config venue.cfg --all\n  envsubst <venue.cfg.in | fixbolt check-config -\n  fixbolt check-config venue.cfg -o json | jq -r 'select(.kind == \"mistake\").reason'"
)]
pub(crate) struct Arguments {
    /// The configuration: [DEFAULT], [SESSION], Key=Value; `-` for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Show every setting, also those that have their default
    #[arg(long)]
    all: bool,
    /// Output format
    #[arg(short, long, value_enum, default_value_t, value_name = "text|json", hide_possible_values = true)]
    output: Format,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let mut checked = if arguments.file == Path::new("-") {
        CheckedConfiguration::from_text("standard input", &standard_input()?)
    } else {
        CheckedConfiguration::from_file(&arguments.file)
    };
    if let [unreadable @ ConfigError::Unreadable { included_at: None, .. }] = &checked.mistakes[..] {
        return Err(Failure::usage(unreadable.to_string()));
    }
    let summary = Summary::of(&checked);
    let trial = checked.try_start();
    checked.warnings.extend(trial.in_use);
    let halts_all = trial.halted.len() == checked.sessions.len();
    checked.warnings.extend(trial.halted);
    let mut out = output::verdict();
    match arguments.output {
        Format::Text => text(&mut out, &checked, &summary, arguments.all)?,
        Format::Json => json(&mut out, &checked, &summary, arguments.all)?,
    }
    out.flush()?;
    Ok(if checked.mistakes.is_empty() && !halts_all { Answer::Yes } else { Answer::No })
}

/// The most bytes of a configuration on standard input, which may never end: as many as of a file.
const LARGEST: u64 = 64 << 20;

/// Returns the text on standard input.
fn standard_input() -> Result<String, Failure> {
    let unreadable = |why: String| Failure::usage(format!("cannot read standard input: {why}"));
    let mut bytes = Vec::new();
    io::stdin().take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| unreadable(reason(&error)))?;
    if bytes.len() as u64 > LARGEST {
        return Err(unreadable(format!("it has more than {} MiB, and is no configuration", LARGEST >> 20)));
    }
    if let Some(form) = Form::of(&bytes) {
        return Err(unreadable(format!("it is {form}: `{} | fixbolt check-config -`", form.as_text(None))));
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        unreadable(format!("line {line} is not UTF-8"))
    })
}

/// What to know before anything else: where messages are kept, and with whom an engine with a
/// configuration would talk.
pub(crate) struct Summary {
    store: Option<String>,
    listening: BTreeSet<String>,
    connecting: BTreeSet<String>,
    /// Whether an acceptor's session names no address, and so listens on loopback.
    is_local: bool,
}

impl Summary {
    /// Returns that of the valid sessions.
    pub(crate) fn of(checked: &CheckedConfiguration) -> Self {
        let mut summary =
            Self { store: None, listening: BTreeSet::new(), connecting: BTreeSet::new(), is_local: false };
        for CheckedSession { effective, result, .. } in &checked.sessions {
            let Ok(session) = result else { continue };
            summary.store.get_or_insert_with(|| match &session.journal {
                Some(base) => base.display().to_string(),
                None if session.persist_messages => "memory".to_owned(),
                None => "none (PersistMessages=N)".to_owned(),
            });
            match &session.connection {
                ConnectionType::Acceptor { listen, .. } => {
                    summary.listening.insert(listen.to_string());
                    summary.is_local |= effective
                        .iter()
                        .any(|setting| setting.key == "SocketAcceptHost" && setting.place.is_none());
                }
                ConnectionType::Initiator(initiation) => {
                    let hosts = &initiation.hosts;
                    summary.connecting.extend(hosts.iter().map(|(host, port)| format!("{host}:{port}")));
                }
                _ => {}
            }
        }
        summary
    }
}

/// Shows one line for each.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined = |all: &BTreeSet<String>| all.iter().cloned().collect::<Vec<_>>().join(", ");
        let mut lines = Vec::new();
        lines.extend(self.store.as_ref().map(|store| format!("messages are kept in: {store}")));
        if !self.listening.is_empty() {
            let local = if self.is_local {
                " (without SocketAcceptHost only this machine can connect; QuickFIX listens on every address: SocketAcceptHost=0.0.0.0)"
            } else {
                ""
            };
            lines.push(format!("listens on: {}{local}", joined(&self.listening)));
        }
        if !self.connecting.is_empty() {
            lines.push(format!("connects to: {}", joined(&self.connecting)));
        }
        f.write_str(&lines.join("\n"))
    }
}

fn text(
    out: &mut impl Write,
    checked: &CheckedConfiguration,
    summary: &Summary,
    all: bool,
) -> Result<(), Failure> {
    let summary = summary.to_string();
    if !summary.is_empty() {
        writeln!(out, "{summary}")?;
    }
    for mistake in &checked.mistakes {
        writeln!(out, "mistake: {}", without_error_numbers(mistake.to_string()))?;
    }
    for warning in &checked.warnings {
        writeln!(out, "warning: {}", without_error_numbers(warning.to_string()))?;
    }
    let is_shown = |setting: &&EffectiveSetting| all || !setting.is_default;
    let engine: Vec<_> = checked.engine_effective.iter().filter(is_shown).collect();
    if !checked.sessions.is_empty() && !engine.is_empty() {
        settings(out, "engine", engine)?;
    }
    let shared = if all { Vec::new() } else { shared(&checked.sessions) };
    if !shared.is_empty() {
        settings(out, "all sessions", shared.iter().copied().filter(is_shown))?;
    }
    for CheckedSession { place, name, effective, result, .. } in &checked.sessions {
        let wrong = if result.is_ok() { "" } else { ", has mistakes" };
        let own = effective.iter().filter(is_shown).filter(|setting| !shared.contains(setting));
        settings(out, &format!("session {name} ({place}{wrong})"), own)?;
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

/// Returns the settings that each of several sessions has, from the same line.
fn shared(sessions: &[CheckedSession]) -> Vec<&EffectiveSetting> {
    match sessions {
        [first, others @ ..] if !others.is_empty() => {
            let everywhere =
                |setting: &&EffectiveSetting| others.iter().all(|other| other.effective.contains(setting));
            first.effective.iter().filter(everywhere).collect()
        }
        _ => Vec::new(),
    }
}

/// Writes a heading and settings, those of the file with their line.
fn settings<'s>(
    out: &mut impl Write,
    heading: &str,
    effective: impl IntoIterator<Item = &'s EffectiveSetting>,
) -> Result<(), Failure> {
    writeln!(out, "{heading}")?;
    for EffectiveSetting { key, value, place, .. } in effective {
        match place {
            Some(place) => writeln!(out, "  {key}={value}  ({place})")?,
            None => writeln!(out, "  {key}={value}")?,
        }
    }
    Ok(())
}

/// Returns a number with its noun.
fn counted(number: usize, noun: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{s}")
}

fn json(
    out: &mut impl Write,
    checked: &CheckedConfiguration,
    summary: &Summary,
    all: bool,
) -> Result<(), Failure> {
    let texts = |all: &BTreeSet<String>| all.iter().map(|one| output::quoted(one)).collect::<Vec<_>>();
    let object = Object::new()
        .text("kind", "summary")
        .maybe_text("store", summary.store.as_deref())
        .array("listening", texts(&summary.listening))
        .array("connecting", texts(&summary.connecting));
    writeln!(out, "{object}")?;
    for mistake in &checked.mistakes {
        let place = mistake.place().map(ToString::to_string);
        let object = Object::new()
            .text("kind", "mistake")
            .maybe_text("place", place.as_deref())
            .maybe_text("key", mistake.key())
            .text("reason", &without_error_numbers(mistake.reason()))
            .maybe_text("nearest", mistake.nearest());
        writeln!(out, "{object}")?;
    }
    for ConfigWarning { place, key, instead, .. } in &checked.warnings {
        let object = Object::new().text("kind", "warning").text("place", &place.to_string());
        writeln!(out, "{}", object.text("key", key).text("reason", instead))?;
    }
    let setting = |EffectiveSetting { key, value, place, is_default, meaning, .. }: &EffectiveSetting| {
        let place = place.as_ref().map(ToString::to_string);
        let setting = Object::new().text("key", key).text("value", value);
        setting.maybe_text("place", place.as_deref()).text("meaning", meaning).raw("default", is_default)
    };
    let is_shown = |setting: &&EffectiveSetting| all || !setting.is_default;
    let engine = checked.engine_effective.iter().filter(is_shown).map(setting);
    writeln!(out, "{}", Object::new().text("kind", "engine").array("settings", engine))?;
    for CheckedSession { place, name, effective, result, .. } in &checked.sessions {
        let settings = effective.iter().filter(is_shown).map(setting);
        let object = Object::new()
            .text("kind", "session")
            .text("name", name)
            .text("place", &place.to_string())
            .raw("valid", result.is_ok())
            .array("settings", settings);
        writeln!(out, "{object}")?;
    }
    Ok(())
}

/// Returns why a configuration is not used, one line per mistake.
pub(crate) fn refused(mistakes: &ConfigErrors) -> Failure {
    Failure::each(mistakes.to_string().lines())
}
