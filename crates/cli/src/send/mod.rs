//! `fixbolt send`: sends one message and shows the counterparty's answer.

mod compose;
mod session;
mod tap;

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender as Channel, channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::Args;
use fixbolt::Engine;
use fixbolt_codec::{BodySink, Message, NewBody, Version};
use fixbolt_session::{
    Application, Delivery, Event, Failure as CallbackFailure, SessionEnd, SessionId, Turn, Utc,
};

use crate::exit::{Answer, Failure};
use crate::interrupt::Interrupt;
use crate::log::Log;
use crate::output::{self, Format, Object};
use crate::print::{Lexicon, Reader, Reading, block, json};
use crate::serve::cannot_start;
use compose::{Composed, compose};
use tap::{Seen, Tap};

/// Logs on, sends one message, shows it and the answer, and logs out.
///
/// The message and its fields are given by name or number, values by name or as FIX encodes them;
/// `now` is the current time. Fields are sent in the order given. ClOrdID, HandlInst and
/// TransactTime are added if the message requires them and they were not given.
///
/// With --to (default 127.0.0.1:9880) the session is FIX.4.4, CLIENT -> FIXBOLT, and its sequence
/// numbers begin at 1 (ResetSeqNumFlag=Y). With --config the initiator session of the file is used
/// with its journal and its sequence numbers.
///
/// Exit status: 0 answered; 1 rejected (Reject, BusinessMessageReject, an ExecutionReport that
/// rejects, or the logon refused); 2 wrong usage, or the journal cannot be used; 3 no connection,
/// or no answer in time; 130 interrupted.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples (with `fixbolt serve` running):\n  fixbolt send NewOrderSingle Symbol=IBM Side=BUY OrderQty=100 OrdType=LIMIT Price=298.075\n  fixbolt send D 55=IBM 54=1 38=100 40=1 --version FIX.4.2\n  fixbolt send OrderStatusRequest ClOrdID=1 Symbol=IBM Side=BUY --config trader.cfg"
)]
pub(crate) struct Arguments {
    /// The message: NewOrderSingle, or D
    #[arg(value_name = "MSGTYPE")]
    msg_type: String,
    /// Its fields: Side=BUY, or 54=1
    #[arg(value_name = "FIELD=VALUE")]
    fields: Vec<String>,
    /// The counterparty
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:9880", conflicts_with = "config")]
    to: String,
    /// A configuration with the initiator session to use
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The session's version: FIX.4.2 or FIX.4.4
    #[arg(long, value_name = "VERSION", default_value = "FIX.4.4", conflicts_with = "config")]
    version: Version,
    /// Our CompID [default: CLIENT]; with --config it selects one of the file's sessions
    #[arg(long, value_name = "COMPID")]
    sender: Option<String>,
    /// The counterparty's CompID [default: FIXBOLT]; with --config it selects one of the file's
    /// sessions
    #[arg(long, value_name = "COMPID")]
    target: Option<String>,
    /// Do not reset the sequence numbers to 1
    #[arg(long, conflicts_with = "config")]
    no_reset: bool,
    /// How long to wait for the logon, and for the answer
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    /// Output format
    #[arg(short, long, value_enum, default_value_t, value_name = "text|json", hide_possible_values = true)]
    output: Format,
}

/// Messages from the engine's thread.
enum Told {
    LoggedOn,
    Ended(SessionEnd),
    NotSent(String),
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let session = match &arguments.config {
        Some(file) => session::configured(arguments, file)?,
        None => session::direct(arguments)?,
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let now = Utc(u64::try_from(now).unwrap_or(0));
    let composed =
        compose(&session.dictionary, &arguments.msg_type, &arguments.fields, now).map_err(Failure::usage)?;
    let interrupt =
        Interrupt::watch().map_err(|error| Failure::usage(format!("cannot watch signals: {error}")))?;
    let (warnings_to, warnings) = channel();
    Log::Warnings(warnings_to).install()?;
    let (seen_to, seen) = channel();
    let (told_to, told) = channel();
    let engine = session
        .builder
        .store(session.store)
        .observe(Arc::new(Tap(seen_to)))
        .start(Courier { told: told_to })
        .map_err(|error| cannot_start(&error))?;
    let own = session.is_own_dictionary.then_some(session.dictionary);
    let reader = Reader::new(Lexicon::new(own.into_iter().collect())?);
    let mut exchange = Exchange {
        engine,
        composed,
        id: session.id,
        peer: session.peer,
        timeout: Duration::from_secs(arguments.timeout),
        format: arguments.output,
        interrupt,
        reader,
        warnings,
        seen,
        told,
    };
    let result = exchange.run();
    // The Logout is part of the exchange, whatever the result.
    let stopped = exchange.engine.stop().map(drop).map_err(|error| cannot_start(&error));
    result.and_then(|answer| stopped.map(|()| answer))
}

/// The application: tells the command's thread what happens. The tap shows messages.
struct Courier {
    told: Channel<Told>,
}

impl Application for Courier {
    fn on_message(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, CallbackFailure> {
        Ok(Delivery::Done)
    }

    fn on_event(&mut self, event: &Event<'_>, _: &mut Turn<'_>) -> Result<(), CallbackFailure> {
        let told = match event {
            Event::LoggedOn => Told::LoggedOn,
            Event::Ended(end) => Told::Ended((*end).clone()),
            Event::NotSent { why, .. } => Told::NotSent(why.to_string()),
            _ => return Ok(()),
        };
        // The command has its answer and no longer listens.
        let _ = self.told.send(told);
        Ok(())
    }
}

/// The exchange, from logon to answer.
struct Exchange {
    engine: Engine<Courier>,
    composed: Composed,
    id: SessionId,
    peer: String,
    timeout: Duration,
    format: Format,
    interrupt: Interrupt,
    reader: Reader,
    warnings: Receiver<String>,
    seen: Receiver<Seen>,
    told: Receiver<Told>,
}

impl Exchange {
    fn run(&mut self) -> Result<Answer, Failure> {
        if let Some(refused) = self.log_on()? {
            self.show(&refused, "received")?;
            return Ok(Answer::No);
        }
        self.post()?;
        let deadline = Instant::now() + self.timeout;
        let mut sent = false;
        loop {
            if let Some(seen) = self.next(deadline, "no answer")? {
                let reading = self.reader.read(&seen.bytes);
                if seen.sent
                    && reading.value(43) != Some(b"Y")
                    && reading.msg_type == self.composed.msg_type.as_bytes()
                {
                    sent = true;
                    self.show(&seen, "sent")?;
                } else if sent && !seen.sent && is_answer(reading.msg_type) {
                    let answer = if is_rejection(&reading) { Answer::No } else { Answer::Yes };
                    self.show(&seen, "received")?;
                    return Ok(answer);
                }
                continue;
            }
            match self.told.try_recv() {
                Ok(Told::NotSent(why)) => return Err(Failure::usage(format!("not sent: {why}"))),
                Ok(Told::Ended(SessionEnd::Halted(why))) => return Err(Failure::usage(why.to_string())),
                Ok(Told::Ended(end)) => {
                    return Err(Failure::connection(format!(
                        "{} ended the session without an answer: {}",
                        self.peer, end
                    )));
                }
                _ => {}
            }
        }
    }

    /// Waits for the logon. Returns the counterparty's Logout if it refuses.
    fn log_on(&mut self) -> Result<Option<Seen>, Failure> {
        let deadline = Instant::now() + self.timeout;
        let mut problem: Option<(Instant, String)> = None;
        loop {
            match self.told.try_recv() {
                Ok(Told::LoggedOn) => return Ok(None),
                Ok(Told::Ended(SessionEnd::Halted(why))) => return Err(Failure::usage(why.to_string())),
                Ok(Told::Ended(SessionEnd::LogonTimedOut)) => return Err(self.missing("no logon")),
                Ok(Told::Ended(end)) => {
                    // What it sent before it closed the connection must still be shown.
                    if let Some(logout) = self.seen.try_iter().find(is_logout) {
                        return Ok(Some(logout));
                    }
                    return Err(Failure::connection(format!(
                        "{} closed the connection during logon: {}",
                        self.peer, end
                    )));
                }
                _ => {}
            }
            if let Some(warning) = self.warnings.try_iter().last() {
                // A session that does not even connect: its journal is damaged, or it is halted by
                // a poison message.
                if warning.contains(" halted") {
                    return Err(Failure::usage(format!(
                        "{warning}; run `fixbolt journal verify` for details"
                    )));
                }
                problem = Some((Instant::now(), warning));
            }
            if let Some((since, warning)) = &problem
                && since.elapsed() > SECOND_ADDRESS
            {
                return Err(Failure::connection(format!("cannot reach {}: {warning}", self.peer)));
            }
            if let Some(seen) = self.next(deadline, "no logon")?.filter(is_logout) {
                return Ok(Some(seen));
            }
        }
    }

    fn post(&self) -> Result<(), Failure> {
        let mut sender = self
            .engine
            .session(&self.id)
            .ok_or_else(|| Failure::usage(format!("there is no session {}", self.id)))?
            .sender();
        let mut draft = (&mut sender).draft(self.composed.msg_type);
        self.composed.write(draft.writer());
        draft.send().map_err(|error| Failure::usage(format!("not sent: {error}")))?;
        Ok(())
    }

    /// Returns the next message seen; `None` after a short while without one.
    fn next(&self, deadline: Instant, missing: &str) -> Result<Option<Seen>, Failure> {
        if self.interrupt.came() {
            return Err(Failure::interrupted("interrupted"));
        }
        if Instant::now() > deadline {
            return Err(self.missing(missing));
        }
        match self.seen.recv_timeout(Duration::from_millis(5)) {
            Ok(seen) => Ok(Some(seen)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(Failure::connection("the engine has stopped")),
        }
    }

    fn missing(&self, what: &str) -> Failure {
        Failure::connection(format!("{what} from {} within {} s", self.peer, self.timeout.as_secs()))
    }

    fn show(&mut self, seen: &Seen, word: &str) -> Result<(), Failure> {
        let reading = self.reader.read(&seen.bytes);
        let mut text = Vec::new();
        match self.format {
            Format::Text => block(&mut text, &reading, format!("  {word}").as_bytes()),
            Format::Json => {
                json(&mut text, &reading, Object::new().text("kind", word).unfinished().as_bytes());
            }
        }
        let mut out = output::stdout();
        out.write_all(&text)?;
        out.flush()?;
        Ok(())
    }
}

/// A name may have several addresses: the time for the next one after one has failed.
const SECOND_ADDRESS: Duration = Duration::from_millis(700);

fn is_logout(seen: &Seen) -> bool {
    !seen.sent && seen.bytes.windows(6).take(40).any(|bytes| bytes == b"\x0135=5\x01")
}

/// Returns whether a message may be an answer to ours: an application message, or a Reject.
fn is_answer(msg_type: &[u8]) -> bool {
    !matches!(msg_type, b"0" | b"1" | b"2" | b"4" | b"5" | b"A")
}

/// Returns whether an answer rejects: a Reject, BusinessMessageReject, OrderCancelReject, an
/// ExecutionReport that rejects, and the like.
fn is_rejection(reading: &Reading<'_>) -> bool {
    let is_rejected = |tag| reading.value(tag) == Some(b"8");
    matches!(reading.msg_type, b"3" | b"j" | b"9" | b"Y" | b"AG")
        || reading.msg_type == b"8" && (is_rejected(39) || is_rejected(150))
}
