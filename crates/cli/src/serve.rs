//! `fixbolt serve`: a counterparty to try clients with.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::{Args, ValueEnum};
use fixbolt::config::CheckedConfiguration;
use fixbolt::{Acceptance, Engine, EngineBuilder, EngineError};
use fixbolt_codec::{BodyWriter, Message};
use fixbolt_conformance::Echo;
use fixbolt_journal::MemoryStore;
use fixbolt_session::{
    Application, Delivery, Event, Failure as CallbackFailure, LogonDecision, Resend, Resume, Role,
    SessionSettings, Turn,
};

use crate::check_config::refused;
use crate::exit::{Answer, Failure};
use crate::log::Log;
use crate::output;
use crate::venue::Venue;

/// Accepts FIX sessions and answers: a venue to try a client with.
///
/// Without a configuration, any pair of CompIDs may log on with FIX.4.2 or FIX.4.4, sequence
/// numbers begin at 1 with every Logon, and tags from 5000 on are accepted: they are user-defined.
/// With --config, the file's acceptor sessions are served with their journals and sequence numbers.
/// If the file has mistakes, all of them are reported and no session is served; with --keep-going
/// the valid sessions are.
///
/// The venue fills every valid order in full: limit orders at their price, market orders at 100. It
/// rejects orders that it cannot fill, and says why in Text (58). With --random it answers like the
/// demo's venue: some orders are rejected, some canceled, the others confirmed and filled in parts.
///
/// The echo sends NewOrderSingle (D), SecurityDefinition (d) and Email (C) back with the same body
/// and ignores a possible resend that it has already seen; this is the application of the
/// conformance scripts. Its sequence numbers begin at 1 when the process starts, whatever the
/// configuration says about a journal.
///
/// When it is ready, it prints `listening ADDRESS`, one line per port. Events are reported on
/// standard error.
///
/// Exit status: 0 stopped by SIGTERM; 2 it cannot start (port in use, wrong configuration, journal
/// in use); 130 stopped by SIGINT. Both log every session out first; a second one ends it at once.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fixbolt serve\n  fixbolt serve --listen 127.0.0.1:0 --random 7\n  fixbolt serve --config venue.cfg"
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
    /// Let the venue answer at random; the same seed always produces the same answers
    #[arg(long, value_name = "SEED")]
    random: Option<u64>,
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
    Log::Everything.install();
    let (builder, workers) = match &arguments.config {
        Some(file) => configured(file, arguments.keep_going)?,
        None => (any_counterparty(arguments.listen), 1),
    };
    if arguments.app == App::Echo {
        let builder = builder.stores(|_| Box::new(MemoryStore::new()));
        return serve(builder, workers, |_| Echo::new());
    }
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    serve(builder, workers, |worker| {
        let run = if worker == 0 { format!("V{since:X}") } else { format!("V{since:X}W{worker}") };
        Venue::new(arguments.random, run)
    })
}

/// Returns the engine that a file describes, and its number of workers.
fn configured(file: &std::path::Path, keep_going: bool) -> Result<(EngineBuilder, usize), Failure> {
    let checked = CheckedConfiguration::from_file(file);
    let mistakes = checked.mistakes.clone();
    let configuration = if keep_going { checked.usable() } else { checked.whole() };
    let mut configuration = configuration.map_err(|mistakes| refused(&mistakes))?;
    for mistake in mistakes {
        note!("not served: {mistake}");
    }
    for warning in &configuration.warnings {
        note!("warning: {warning}");
    }
    let is_initiator = |session: &fixbolt::config::SessionConfiguration| {
        matches!(session.connection, fixbolt::config::ConnectionType::Initiator { .. })
    };
    let initiators: Vec<_> = configuration.sessions.extract_if(.., |session| is_initiator(session)).collect();
    for session in &initiators {
        let line = format!(
            "{}: this session is an initiator, and `fixbolt serve` runs acceptors only; connect with `fixbolt send`",
            session.place
        );
        if !keep_going || configuration.sessions.is_empty() {
            return Err(Failure::usage(line));
        }
        note!("not served: {line}");
    }
    let builder = EngineBuilder::from_config(&configuration).map_err(|error| cannot_start(&error))?;
    Ok((builder.keep_going(keep_going), configuration.engine.workers.unwrap_or(1)))
}

fn any_counterparty(listen: SocketAddr) -> EngineBuilder {
    Engine::builder().accept_any(listen, |id| {
        Some(Acceptance::from(SessionSettings::new(id.clone(), Role::Acceptor).with(|s| {
            s.reset_on_logon = true;
            s.policy = crate::print::policy();
        })))
    })
}

/// Returns the reason why an engine did not start, as one line.
pub(crate) fn cannot_start(error: &EngineError) -> Failure {
    Failure::usage(format!("{error:#}"))
}

fn serve<A: Application + Send + 'static>(
    builder: EngineBuilder,
    workers: usize,
    mut app: impl FnMut(usize) -> A,
) -> Result<Answer, Failure> {
    let interrupted = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::clone(&interrupted))
        .map_err(|error| Failure::usage(format!("cannot watch signals: {error}")))?;
    let engine =
        builder.start_with(workers, |worker| Told(app(worker))).map_err(|error| cannot_start(&error))?;
    engine.stop_on_signals().map_err(|error| cannot_start(&error))?;
    let mut out = output::stdout();
    for address in engine.addresses() {
        writeln!(out, "listening {address}")?;
    }
    out.flush()?;
    drop(out);
    engine.wait().map_err(|error| cannot_start(&error))?;
    if interrupted.load(Ordering::Relaxed) { Err(Failure::interrupted("")) } else { Ok(Answer::Yes) }
}

/// An application whose sessions' events are reported on standard error.
struct Told<A>(A);

impl<A: Application> Application for Told<A> {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, CallbackFailure> {
        self.0.on_message(message, turn)
    }

    fn on_logon(
        &mut self,
        logon: Message<'_>,
        turn: &mut Turn<'_>,
    ) -> Result<LogonDecision, CallbackFailure> {
        self.0.on_logon(logon, turn)
    }

    fn on_sending_logon(
        &mut self,
        logon: &mut BodyWriter<'_>,
        turn: &mut Turn<'_>,
    ) -> Result<(), CallbackFailure> {
        self.0.on_sending_logon(logon, turn)
    }

    fn on_resend(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Resend, CallbackFailure> {
        self.0.on_resend(message, turn)
    }

    fn on_resume(&mut self, resume: &mut Resume<'_>) -> Result<(), CallbackFailure> {
        self.0.on_resume(resume)
    }

    fn on_event(&mut self, event: &Event<'_>, turn: &mut Turn<'_>) -> Result<(), CallbackFailure> {
        // A busy session would write a line for every message.
        if !matches!(event, Event::Sent { .. } | Event::Warned { .. } | Event::WarnedOutbound { .. }) {
            note!("{}: {event}", turn.session_id());
        }
        self.0.on_event(event, turn)
    }
}
