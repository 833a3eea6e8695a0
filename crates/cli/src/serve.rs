//! `fixbolt serve`: a counterparty to try clients with.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::{Args, ValueEnum};
use fixbolt::config::{CheckedConfiguration, ConnectionType, SessionConfiguration};
use fixbolt::tls::Tls;
use fixbolt::{Acceptance, Certificates, Engine, EngineBuilder, EngineError};
use fixbolt_cli::exit::{Answer, Failure};
use fixbolt_cli::log::{self, Line, Log, Severity, Told};
use fixbolt_cli::options;
use fixbolt_cli::output::{self, Format, Object};
use fixbolt_conformance::Echo;
use fixbolt_dictionary::{Policy, Version};
use fixbolt_journal::MemoryStore;
use fixbolt_session::{
    AcceptedHeartBtInt, Application, Compatibility, Event, Role, SessionId, SessionSettings,
};
use signal_hook::consts::SIGHUP;
use signal_hook::iterator::Signals;

use crate::check_config::{Summary, refused};
use crate::fixt;
use crate::halts::{self, Halts};
use crate::tls::{self, TlsArguments};
use crate::venue::{Venue, first_execution};

/// Accepts FIX sessions and answers: a venue to try a client with.
///
/// Without a configuration, any pair of CompIDs may log on with FIX.4.0 to FIX.4.4, or with
/// FIXT.1.1 for messages of FIX.5.0 and later, and with any HeartBtInt up to a day. Sequence
/// numbers begin at 1 with every Logon, and tags from 5000 on are accepted: they are user-defined.
/// With --config, the file's acceptor sessions are served with their journals and sequence numbers.
/// If the file has mistakes, all of them are reported and no session is served; with --keep-going
/// the valid sessions are. An initiator session is a mistake here: `fixbolt send --config FILE`
/// connects with it.
///
/// The venue fills every valid order in full: limit orders at their price, market orders at 100. It
/// rejects orders that it cannot fill, and says why in Text (58). With --random it answers like the
/// demo's venue: some orders are rejected, some canceled, the others confirmed and filled in parts.
///
/// The echo sends NewOrderSingle (D), SecurityDefinition (d) and Email (C) back with the same body
/// and ignores a possible resend that it has already seen, among the last 1,000 orders of the
/// session; this is the application of the conformance scripts. Its sequence numbers begin at 1
/// when the process starts, whatever the configuration says about a journal.
///
/// When it is ready, it prints `listening ADDRESS`, one line per port. What happens to connections
/// and sessions is written to standard error, each line with the time in UTC and the session or the
/// address. Lines that nobody reads are dropped and counted, and so are more than ten a second of
/// one kind about the same session or address: neither stops a session.
///
/// The JSON output is one object per line. On standard output: kind listening (address). On
/// standard error: time, level (info, warning, error), kind, session, peer, text, and the line's
/// values by name, such as expected, received and reason.
///
/// With --tls, connections are encrypted, and with --ca clients need a certificate of that
/// authority. SIGHUP loads certificates again, also those of a configuration; files that have
/// changed are loaded within a minute anyway.
///
/// A session that is halted, because its journal is damaged or its application failed on a message
/// again and again, is not served; a line says what to do. If all sessions are halted, at the start
/// or later, and no others may log on (DynamicSession=Y), it ends; with --stay it runs on. A
/// journal that fails, such as one on a full disk, is tried again and counts as served.
///
/// Exit status: 0 stopped by SIGTERM; 1 all sessions are halted; 2 it cannot start (port in use,
/// wrong configuration, journal in use); 130 stopped by SIGINT. The signals log every session out
/// first; a second one, half a second later or more, ends it at once.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fixbolt serve\n  fixbolt serve --listen 127.0.0.1:0 --random 7\n  fixbolt serve --config venue.cfg\n  fixbolt serve -o json 2>venue.log"
)]
pub(crate) struct Arguments {
    /// Sessions to accept, in the industry's form: [DEFAULT], [SESSION], Key=Value
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Start the valid sessions, and report why the others cannot be started
    #[arg(long, requires = "config")]
    keep_going: bool,
    /// The application that answers
    #[arg(long, value_enum, default_value_t = App::Venue, value_name = "venue|echo", hide_possible_values = true)]
    app: App,
    /// Where to listen without a configuration; with port 0 the system chooses
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:9880", conflicts_with = "config")]
    listen: SocketAddr,
    #[command(flatten)]
    tls: TlsArguments,
    /// Let the venue answer at random; the same seed always produces the same answers
    #[arg(long, value_name = "SEED")]
    random: Option<u64>,
    /// Run on although all sessions are halted
    #[arg(long)]
    stay: bool,
    /// Output format
    #[arg(short, long, value_enum, default_value_t, value_name = "text|json", hide_possible_values = true)]
    output: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum App {
    Venue,
    Echo,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    if arguments.random.is_some() && arguments.app == App::Echo {
        return Err(Failure::usage(
            "--random cannot be used with --app echo: only the venue answers at random",
        ));
    }
    Log::Everything(arguments.output).install()?;
    raise_descriptor_limit();
    let mut served = match &arguments.config {
        Some(file) => configured(file, arguments.app, arguments.keep_going)?,
        None => {
            options::stand_for(tls::OPTIONS);
            any_counterparty(arguments.listen, arguments.app, arguments.tls.of_acceptor()?)
        }
    };
    if arguments.app == App::Echo {
        served.builder = served.builder.stores(|_| Box::new(MemoryStore::new()));
        served.journal = None;
        return serve(arguments, served, |_| Echo::new());
    }
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let executions = first_execution(since);
    serve(arguments, served, |worker| {
        let run = if worker == 0 { format!("V{since:X}") } else { format!("V{since:X}W{worker}") };
        Venue::new(arguments.random, run, Arc::clone(&executions))
    })
}

/// Raises how many files the process may open as far as it may. The usual limit is for programs
/// that use `select`, and a server with a journal for each session needs more.
fn raise_descriptor_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // Without it, what is needed is told where it is missing.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

/// What is served.
struct Served {
    builder: EngineBuilder,
    workers: usize,
    /// The sessions whose counterparties are known.
    sessions: Vec<SessionId>,
    /// Whether others are served, too.
    any_others: bool,
    /// Where the journals are.
    journal: Option<PathBuf>,
    /// Whether a session has TLS.
    has_tls: bool,
}

/// What the echo does unless a file says otherwise: acceptance scripts are written for QuickFIX's
/// answers, and QuickFIX accepts any HeartBtInt.
const ECHO_DEFAULTS: [(&str, &str); 2] = [("Compatibility", "quickfix"), ("AcceptedHeartBtInt", "any")];

/// Returns what a file describes.
fn configured(file: &std::path::Path, app: App, keep_going: bool) -> Result<Served, Failure> {
    // What a running process stands in the way of.
    let mut in_use = Vec::new();
    let checked = match app {
        App::Echo => CheckedConfiguration::from_file_with(file, "--app echo", &ECHO_DEFAULTS),
        App::Venue => {
            let mut checked = CheckedConfiguration::from_file(file);
            let summary = Summary::of(&checked).to_string();
            in_use = checked.try_start().in_use;
            for line in summary.lines() {
                log::write(&Line::new(Severity::Info, "configuration", line.to_owned()));
            }
            checked
        }
    };
    let keep_going = keep_going || checked.engine.continue_initialization_on_error;
    let mistakes = checked.mistakes.clone();
    let configuration = if keep_going { checked.usable() } else { checked.whole() };
    let mut configuration = configuration.map_err(|mistakes| refused(&mistakes))?;
    if !keep_going && !in_use.is_empty() {
        return Err(Failure::each(in_use.iter().map(ToString::to_string)));
    }
    for mistake in mistakes {
        log::write(&Line::new(Severity::Error, "not_served", format!("not served: {mistake}")));
    }
    for warning in &configuration.warnings {
        log::write(&Line::new(Severity::Warning, "configuration", warning.to_string()));
    }
    let initiators: Vec<_> = configuration
        .sessions
        .extract_if(.., |session| matches!(session.connection, ConnectionType::Initiator(_)))
        .collect();
    for session in &initiators {
        let has_others = !configuration.sessions.is_empty();
        let others = if has_others && !keep_going { "--keep-going serves the others; " } else { "" };
        let line = format!(
            "{}: this session is an initiator, and `fixbolt serve` runs acceptors only; {others}`fixbolt send --config {}` connects with it",
            session.place,
            file.display()
        );
        if !keep_going || !has_others {
            return Err(Failure::usage(line));
        }
        log::write(&Line::new(Severity::Error, "not_served", format!("not served: {line}")));
    }
    let builder = EngineBuilder::from_config(&configuration);
    let sessions: Vec<_> =
        configuration.sessions.iter().filter_map(SessionConfiguration::id).cloned().collect();
    Ok(Served {
        builder: builder.continue_initialization_on_error(keep_going),
        workers: configuration.engine.workers.unwrap_or(1),
        any_others: sessions.len() < configuration.sessions.len(),
        sessions,
        journal: configuration.sessions.first().and_then(|session| session.journal.clone()),
        has_tls: configuration.sessions.iter().any(|session| session.tls().is_some()),
    })
}

fn any_counterparty(listen: SocketAddr, app: App, tls: Option<Tls>) -> Served {
    let dictionaries = LazyLock::new(fixt::dictionaries);
    let builder = Engine::builder().accept_any(listen, move |id| {
        Some(Acceptance::from(SessionSettings::new(id.clone(), Role::Acceptor).with(|s| {
            s.reset.reset_on_logon = true;
            s.timing.accepted_heart_bt_int = AcceptedHeartBtInt::ANY;
            if id.version() == Version::Fixt11 {
                s.default_appl_ver_id = Some(Version::Fix50Sp2);
                s.dictionary = dictionaries.clone();
            }
            match app {
                App::Echo => {
                    s.compatibility = Compatibility::QuickFix;
                    s.validation.incoming = Policy::quickfix();
                }
                App::Venue => {
                    s.validation.incoming = crate::print::policy();
                    s.validation.outgoing = Some(crate::print::policy());
                }
            }
        })))
    });
    let has_tls = tls.is_some();
    let builder = tls.into_iter().fold(builder, |builder, tls| builder.tls(listen, tls));
    Served { builder, workers: 1, sessions: Vec::new(), any_others: true, journal: None, has_tls }
}

/// Says where the engine listens.
fn tell(addresses: &[SocketAddr], format: Format) -> io::Result<()> {
    let mut out = output::stdout();
    for address in addresses {
        match format {
            Format::Text => writeln!(out, "listening {address}")?,
            Format::Json => {
                let object = Object::new().text("kind", "listening").text("address", &address.to_string());
                writeln!(out, "{object}")?;
            }
        }
    }
    out.flush()
}

/// Returns the reason why an engine did not start, as one line.
pub(crate) fn cannot_start(error: &EngineError) -> Failure {
    Failure::usage(format!("{error:#}"))
}

/// Loads certificates again at each SIGHUP.
fn reload_on_hangup(certificates: Certificates) -> io::Result<()> {
    let mut signals = Signals::new([SIGHUP])?;
    std::thread::Builder::new().name("hangup".to_owned()).spawn(move || {
        for _ in signals.forever() {
            log::write(&match certificates.reload() {
                Ok(()) => {
                    let text = "certificates were loaded again: new connections use them".to_owned();
                    Line::new(Severity::Info, "certificates_loaded", text)
                }
                Err(error) => Line::new(
                    Severity::Error,
                    "certificates_not_loaded",
                    format!("{error:#}; the old ones stay in use, and it is tried again each minute"),
                ),
            });
        }
    })?;
    Ok(())
}

fn serve<A: Application + Send + 'static>(
    arguments: &Arguments,
    served: Served,
    mut app: impl FnMut(usize) -> A,
) -> Result<Answer, Failure> {
    let Served { builder, workers, sessions, any_others, journal, has_tls } = served;
    let interrupted = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::clone(&interrupted))
        .map_err(|error| Failure::usage(format!("cannot watch signals: {error}")))?;
    let (bell, rung) = halts::bell();
    let told = |worker| {
        let bell = bell.clone();
        Told(app(worker), move |event: &Event<'_>| bell.hear(event))
    };
    let engine = builder.start_with(workers, told).map_err(|error| cannot_start(&error))?;
    drop(bell);
    let sessions = sessions.iter().filter_map(|id| engine.session(id)).collect();
    let mut halts = Halts::new(sessions, journal, any_others);
    if halts.check() && !arguments.stay {
        halts.tell_all();
        engine.stop().map_err(|error| cannot_start(&error))?;
        return Ok(Answer::No);
    }
    engine.stop_on_signals().map_err(|error| cannot_start(&error))?;
    if has_tls {
        reload_on_hangup(engine.certificates())
            .map_err(|error| Failure::usage(format!("cannot watch signals: {error}")))?;
    }
    match tell(&engine.addresses(), arguments.output) {
        // Whoever has started it does not read where it listens, and may know.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        told => told?,
    }
    let all_halted = halts
        .watch(rung, (!arguments.stay).then(|| engine.stopper()))
        .map_err(|error| Failure::usage(format!("cannot watch the sessions: {error}")))?;
    engine.wait().map_err(|error| cannot_start(&error))?;
    if interrupted.load(Ordering::Relaxed) {
        Err(Failure::interrupted(""))
    } else if all_halted.load(Ordering::Relaxed) {
        Ok(Answer::No)
    } else {
        Ok(Answer::Yes)
    }
}
