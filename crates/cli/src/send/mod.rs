//! `fixbolt send`: sends one message and shows the counterparty's answer.

mod answers;
mod compose;
mod credentials;
mod session;
mod tap;

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender as Channel, channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::Args;
use fixbolt::{Engine, PostError};
use fixbolt_codec::{BodySink, Message, NewBody, Version};
use fixbolt_session::schedule::WindowPosition;
use fixbolt_session::{
    Application, CompIds, Delivery, Event, Failure as CallbackFailure, Halt, Misbehavior, SessionEnd,
    SessionId, SessionState, Turn, Utc, WireObserver,
};

use crate::halts;
use crate::print::{Lexicon, Reader, block, json, one_line};
use crate::serve::cannot_start;
use crate::tls::TlsArguments;
use answers::{Answers, Part, Wait};
use compose::{Composed, compose};
use fixbolt_cli::exit::{Answer, Failure};
use fixbolt_cli::interrupt::Interrupt;
use fixbolt_cli::log::{Log, Warning};
use fixbolt_cli::note;
use fixbolt_cli::output::{self, Format, Object};
use tap::{Seen, Tap};

/// Logs on, sends one message, shows it and the answer, and logs out.
///
/// The message and its fields are given by name or number, values by name or as FIX encodes them;
/// `now` is the current time. Fields are sent in the order given. ClOrdID or the id of a request,
/// HandlInst and times are added if the message requires them and they were not given. If no field
/// is given and others are required, nothing is sent, and they are named.
///
/// With --to (default 127.0.0.1:9880) the session is FIX.4.4, CLIENT -> FIXBOLT. At a loopback
/// address its sequence numbers begin at 1 (ResetSeqNumFlag=Y). At any other they are only reset
/// with --reset: whoever resets gives up the messages that the other side has not received yet.
/// With --store the session has a journal, whose sequence numbers it continues. With --config the
/// initiator session of the file is used with its journal and its sequence numbers; of several,
/// the one that --version, --sender, --target and --qualifier select.
///
/// An answer is a message with the request's own id: ClOrdID, or OrigClOrdID in a cancel or
/// replace; MDReqID, QuoteReqID, SecurityReqID and the like; OrderID, once an answer has brought
/// it. A cancel or replace is also answered by an OrderCancelReject, or an ExecutionReport that
/// cancels, replaces or rejects, with its OrderID or either of its ClOrdIDs. A Reject or
/// BusinessMessageReject answers if its RefSeqNum is MsgSeqNum of what was sent. The first
/// application message answers a message that has no id. Messages with PossDupFlag=Y, with a
/// MsgSeqNum that was used before, and those of other exchanges, are no answers: they are shown, in
/// a line each, only if no answer comes. With --wait filled every answer is shown until the order
/// has reached its final state.
///
/// Both messages are checked as a session with the same dictionary and policy does, and shown as
/// INVALID with what is wrong. What was asked for is sent even so, to see the counterparty's
/// reaction.
///
/// A message that is not sent, because there is no connection or the session is not logged on, is
/// reported with the reason.
///
/// Exit status: 0 answered, or filled with --wait filled; 1 an answer is INVALID, or rejects
/// (Reject, BusinessMessageReject, an ExecutionReport or acknowledgment that rejects, or the logon
/// refused by a Logout or Reject, which is shown), or with --wait filled an order that ended
/// otherwise: canceled, rejected, expired, done for day; 2 wrong usage, or the journal cannot be
/// used; 3 no connection, or no answer in time or before the counterparty logged out; 130
/// interrupted.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples (with `fixbolt serve` running):\n  fixbolt send NewOrderSingle Symbol=IBM Side=BUY OrderQty=100 OrdType=LIMIT Price=298.075\n  fixbolt send D 55=IBM 54=1 38=100 40=1 --version FIX.4.2\n  fixbolt send D 55=IBM 54=1 38=100 40=1 --to venue.example:9880 --store journal\n  fixbolt send OrderStatusRequest ClOrdID=1 Symbol=IBM Side=BUY --config trader.cfg\n  fixbolt send D 55=IBM 54=1 38=100 40=1 --config banzai.cfg --version FIX.4.2"
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
    /// The version of the message: FIX.4.0 to FIX.Latest; from FIX.5.0 on the session is FIXT.1.1
    /// [default: FIX.4.4]; with --config it selects one of the file's sessions
    #[arg(long, value_name = "VERSION")]
    version: Option<Version>,
    /// Our CompID, with SubID and LocationID if there are any [default: CLIENT]; with --config it
    /// selects one of the file's sessions. In an ID, `\` stands before `/`
    #[arg(long, value_name = "COMPID[/SUBID[/LOCATIONID]]")]
    sender: Option<CompIds>,
    /// The counterparty's CompID, with SubID and LocationID if there are any [default: FIXBOLT]
    #[arg(long, value_name = "COMPID[/SUBID[/LOCATIONID]]")]
    target: Option<CompIds>,
    /// SessionQualifier of the file's session to use; an empty one stands for none
    #[arg(long, value_name = "QUALIFIER", requires = "config")]
    qualifier: Option<String>,
    #[command(flatten)]
    tls: TlsArguments,
    /// Username (553) in the Logon
    #[arg(long, value_name = "NAME", conflicts_with = "config")]
    username: Option<String>,
    /// A file with Password (554) in the Logon: its text without the last line end
    #[arg(long, value_name = "FILE", conflicts_with = "config")]
    password_file: Option<PathBuf>,
    /// Reset the sequence numbers of both sides to 1 (ResetSeqNumFlag=Y) [default: at a loopback
    /// address without --store]
    #[arg(long, conflicts_with = "config")]
    reset: bool,
    /// Keep a journal in this directory, and continue its sequence numbers
    #[arg(long, value_name = "DIR", conflicts_with = "config")]
    store: Option<PathBuf>,
    /// What to wait for: ack, the first answer; or filled, the order's final state
    #[arg(long, value_enum, default_value_t = Wait::Ack, value_name = "ack|filled", hide_possible_values = true)]
    wait: Wait,
    /// How long to wait for the logon, and for the answer or the final state
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    /// Output format
    #[arg(short, long, value_enum, default_value_t, value_name = "text|json", hide_possible_values = true)]
    output: Format,
}

/// Messages from the engine's thread.
enum Told {
    LoggedOn,
    /// What the counterparty's Logout says, or its Reject of our Logon. The end follows.
    Refused(String),
    /// What came is no message.
    Garbled(String),
    Ended(SessionEnd),
    NotSent(String),
}

/// How much longer than its own timeouts the engine has to say why there is no logon: it knows
/// better than a clock.
const GRACE: Duration = Duration::from_millis(500);

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let session = match &arguments.config {
        Some(file) => session::configured(arguments, file)?,
        None => session::direct(arguments)?,
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let now = Utc(u64::try_from(now).unwrap_or(0));
    let composed = compose(&session.dictionary, &arguments.msg_type, &arguments.fields, now)
        .map_err(|wrong| Failure::each(wrong.lines()))?;
    let answers =
        Answers::new(arguments.wait, composed.msg_type, &composed.fields).map_err(Failure::usage)?;
    if let Some(schedule) = &session.schedule
        && let WindowPosition::Out { until } = schedule.connection_at(now)
    {
        let opens = until.map(|opens| format!("; it opens at {opens}")).unwrap_or_default();
        let peer = &session.peer;
        return Err(Failure::connection(format!(
            "not sent to {peer}: the session's schedule allows no connection now{opens}"
        )));
    }
    let interrupt =
        Interrupt::watch().map_err(|error| Failure::usage(format!("cannot watch signals: {error}")))?;
    let (warnings_to, warnings) = channel();
    Log::Warnings(warnings_to).install()?;
    let tap = Arc::new(Tap::new(answers, session.max_message_size, session.default));
    let (told_to, told) = channel();
    let engine = session
        .builder
        .store(session.store)
        .observe(Arc::clone(&tap) as Arc<dyn WireObserver>)
        .start(Courier { told: told_to, is_logged_on: false })
        .map_err(|error| cannot_start(&error))?;
    let own = session.is_own_dictionary.then_some(session.dictionary);
    let reader = Reader::new(Lexicon::new(own.into_iter().collect(), session.groups_as_sent)?)
        .with_policy(session.policy);
    let mut exchange = Exchange {
        engine,
        composed,
        id: session.id,
        peer: session.peer,
        journal: session.journal,
        timeout: Duration::from_secs(arguments.timeout),
        logon_timeout: session.logon_timeout,
        wait: arguments.wait,
        format: arguments.output,
        interrupt,
        reader,
        warnings,
        tap,
        told,
        can_reset: arguments.store.is_some() && !arguments.reset,
        refusal: None,
        end: None,
        garbled: None,
        is_valid: true,
    };
    let result = exchange.run();
    match exchange.tap.left_out() {
        0 => {}
        left_out => note!("{left_out} further answers came faster than they could be shown"),
    }
    // The Logout is part of the exchange, whatever the result.
    let stopped = exchange.engine.stop().map(drop).map_err(|error| cannot_start(&error));
    result.and_then(|answer| stopped.map(|()| answer))
}

/// The application: tells the command's thread what happens. The tap shows messages.
struct Courier {
    told: Channel<Told>,
    is_logged_on: bool,
}

impl Application for Courier {
    fn on_message(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, CallbackFailure> {
        Ok(Delivery::Done)
    }

    fn on_event(&mut self, event: &Event<'_>, _: &mut Turn<'_>) -> Result<(), CallbackFailure> {
        let told = match event {
            Event::LoggedOn => Told::LoggedOn,
            Event::LogoutReceived { .. } => Told::Refused(event.to_string()),
            Event::RejectReceived { .. } if !self.is_logged_on => Told::Refused(event.to_string()),
            Event::Garbled { .. } => Told::Garbled(event.to_string()),
            Event::Ended(end) => Told::Ended((*end).clone()),
            Event::NotSent { why, .. } => Told::NotSent(why.to_string()),
            Event::CodecTime(time) => {
                note!("{time}");
                return Ok(());
            }
            _ => return Ok(()),
        };
        match told {
            Told::LoggedOn => self.is_logged_on = true,
            Told::Ended(_) => self.is_logged_on = false,
            Told::Refused(_) | Told::Garbled(_) | Told::NotSent(_) => {}
        }
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
    logon_timeout: Duration,
    wait: Wait,
    format: Format,
    interrupt: Interrupt,
    reader: Reader,
    /// Where the journal is.
    journal: Option<PathBuf>,
    warnings: Receiver<Warning>,
    tap: Arc<Tap>,
    told: Receiver<Told>,
    /// Whether the sequence numbers continue, and `--reset` would end that.
    can_reset: bool,
    /// What the counterparty's refusal says, and how the session has ended.
    refusal: Option<String>,
    end: Option<SessionEnd>,
    /// What first came that is no message.
    garbled: Option<String>,
    /// Whether every answer so far is valid.
    is_valid: bool,
}

impl Exchange {
    fn run(&mut self) -> Result<Answer, Failure> {
        if let Some(refused) = self.log_on()? {
            return self.refused(&refused);
        }
        match self.post() {
            Ok(()) => {}
            Err(PostError::NotLoggedOn) => {
                return match self.tap.next(Duration::ZERO).filter(|seen| seen.part == Part::End) {
                    // The logon was answered, and then refused after all.
                    Some(refused) => self.refused(&refused),
                    None => Err(self.not_sent()),
                };
            }
            Err(error) => return Err(Failure::usage(format!("not sent: {error}"))),
        }
        match self.answer() {
            // Whoever waited for an answer sees what came instead.
            Err(failure) if failure.is_connection() => Err(self.show_others(failure)?),
            result => result,
        }
    }

    /// Waits for the answer, and shows it, with what was sent.
    fn answer(&mut self) -> Result<Answer, Failure> {
        let deadline = Instant::now() + self.timeout;
        let missing = match self.wait {
            Wait::Ack => "no answer",
            Wait::Filled => "no final state of the order",
        };
        let mut sent = false;
        loop {
            // What came before an event is read after it.
            let told = self.told();
            if !sent && Instant::now() > deadline {
                return Err(self.stuck());
            }
            while let Some(seen) = self.next(deadline, missing)? {
                if seen.part == Part::End && !sent {
                    return self.refused(&seen);
                }
                sent |= seen.part == Part::Sent;
                if let Some(answer) = self.show(&seen)? {
                    return Ok(answer);
                }
                if seen.part == Part::End {
                    return Err(self.ended(missing, &SessionEnd::LoggedOutByPeer));
                }
            }
            match told {
                Some(Told::NotSent(why)) => return Err(Failure::usage(format!("not sent: {why}"))),
                Some(Told::Ended(SessionEnd::Halted(why))) => return Err(self.halted(&why)),
                Some(Told::Ended(end)) if sent => return Err(self.ended(missing, &end)),
                Some(Told::Ended(_)) => return Err(self.not_sent()),
                Some(Told::LoggedOn | Told::Refused(_) | Told::Garbled(_)) | None => {}
            }
            // What they warn of ends the session, or does not matter here.
            self.warnings.try_iter().for_each(drop);
        }
    }

    /// Returns what the engine's thread says next; `None` if it has said nothing more.
    fn told(&mut self) -> Option<Told> {
        let told = self.told.try_recv().ok()?;
        self.remember(&told);
        Some(told)
    }

    fn remember(&mut self, told: &Told) {
        match told {
            // What was before is about another host.
            Told::LoggedOn => (self.refusal, self.end, self.garbled) = (None, None, None),
            Told::Refused(words) => (self.refusal, self.end) = (Some(words.clone()), None),
            Told::Garbled(words) => {
                self.garbled.get_or_insert_with(|| words.clone());
            }
            Told::Ended(end) => self.end = Some(end.clone()),
            Told::NotSent(_) => {}
        }
    }

    /// Shows the counterparty's Logout or Reject because of which the message is not sent, and says
    /// so.
    fn refused(&mut self, refused: &Seen) -> Result<Answer, Failure> {
        self.show(refused)?;
        self.hear(|exchange| exchange.refusal.is_some() && exchange.end.is_some());
        note!("fixbolt: {}", self.not_sent());
        Ok(Answer::No)
    }

    /// Hears what the engine's thread says until it has said enough: why a session has ended comes
    /// at about the same time as its last message.
    fn hear(&mut self, is_enough: impl Fn(&Self) -> bool) {
        let deadline = Instant::now() + GRACE;
        while !is_enough(self)
            && let Ok(told) = self.told.recv_timeout(deadline.saturating_duration_since(Instant::now()))
        {
            self.remember(&told);
        }
    }

    /// Returns the failure for a message that is not sent because the session is not logged on.
    fn not_sent(&mut self) -> Failure {
        self.hear(|exchange| exchange.end.is_some());
        let why = match (&self.end, &self.refusal) {
            // Its words say more.
            (Some(SessionEnd::LoggedOutByPeer) | None, Some(words)) => words.clone(),
            (Some(end), _) => self.why(end),
            (None, None) => "the session is not logged on".to_owned(),
        };
        Failure::connection(format!("not sent to {}: {why}", self.peer))
    }

    /// Returns the failure for a message that the logged on session does not send in time.
    fn stuck(&self) -> Failure {
        let what = self.engine.session(&self.id).and_then(|session| session.waits_for());
        let what = what.map(|what| format!(": messages wait for {what}")).unwrap_or_default();
        let (peer, timeout) = (&self.peer, self.timeout.as_secs());
        Failure::connection(format!("not sent to {peer} within {timeout} s{what}"))
    }

    /// Waits for the logon, at whichever host. Returns the counterparty's Logout or Reject if it
    /// refuses.
    fn log_on(&mut self) -> Result<Option<Seen>, Failure> {
        let deadline = Instant::now() + self.timeout + GRACE;
        // A session that does not even connect: its journal is damaged, or the application has
        // failed on a message too often.
        if let Some(SessionState::Halted(why)) = self.engine.session(&self.id).map(|session| session.state())
        {
            return Err(self.halted(&why));
        }
        // Why the last host failed.
        let (mut problem, mut tls_failed) = (None, None);
        loop {
            // What came before a warning is read after it.
            let warnings: Vec<Warning> = self.warnings.try_iter().collect();
            while let Some(told) = self.told() {
                match told {
                    Told::LoggedOn => return Ok(None),
                    Told::Ended(SessionEnd::Halted(why)) => return Err(self.halted(&why)),
                    Told::Ended(SessionEnd::LogonTimedOut) => {
                        let seconds = self.logon_timeout.as_secs();
                        problem =
                            Some(self.no_logon(&format!("it did not answer our Logon within {seconds} s")));
                    }
                    Told::Ended(end) => problem = Some(self.no_logon(&self.why(&end))),
                    Told::Refused(_) | Told::Garbled(_) | Told::NotSent(_) => {}
                }
            }
            if Instant::now() > deadline {
                let seconds = self.timeout.as_secs();
                return Err(tls_failed.or(problem).unwrap_or_else(|| {
                    let is_connected = self.tap.is_connected();
                    let what = if is_connected { "answer to our Logon" } else { "connection" };
                    self.no_logon(&format!("no {what} within {seconds} s"))
                }));
            }
            if let Some(seen) = self.next(deadline, "no logon")?.filter(|seen| seen.part == Part::End) {
                return Ok(Some(seen));
            }
            for warning in warnings {
                match warning.name {
                    Some("cannot_connect" | "no_address") => {
                        let line = format!("cannot reach {}: {}", self.peer, warning.text);
                        problem = Some(Failure::connection(line));
                    }
                    Some("tls_failed") => tls_failed = Some(self.no_logon(&warning.text)),
                    // Every host has failed.
                    Some("no_host_answered") => {
                        tls_failed.take().or_else(|| problem.take()).map_or(Ok(()), Err)?;
                    }
                    // How a connection ended that was made is told without a warning, too.
                    _ => {}
                }
            }
        }
    }

    /// Returns why a session has ended, and which option would change that.
    fn why(&self, end: &SessionEnd) -> String {
        use Misbehavior::MsgSeqNumTooLow;
        use SessionEnd::{PeerExpectsMore, PeerMisbehaved};
        let is_of_numbers = matches!(end, PeerMisbehaved(MsgSeqNumTooLow { .. }) | PeerExpectsMore { .. });
        let hint = if is_of_numbers && self.can_reset { "; with --reset both sides begin at 1" } else { "" };
        format!("{end}{hint}")
    }

    fn no_logon(&self, why: &str) -> Failure {
        self.in_vain(&format!("no logon with {}: {why}", self.peer))
    }

    /// Returns the failure for an exchange without what was waited for, with what came instead and
    /// is no message.
    fn in_vain(&self, line: &str) -> Failure {
        let garbled = self.garbled.as_ref().map(|garbled| format!("; {garbled}")).unwrap_or_default();
        Failure::connection(format!("{line}{garbled}"))
    }

    /// Returns the failure for a session that has ended without what was waited for.
    fn ended(&self, missing: &str, end: &SessionEnd) -> Failure {
        self.in_vain(&format!("{missing} from {}: the session has ended: {end}", self.peer))
    }

    /// Returns the failure for a session that is halted, with the command that ends that.
    fn halted(&self, why: &Halt) -> Failure {
        let (id, what_to_do) = (&self.id, halts::command(&self.id, why, self.journal.as_deref()));
        let what_to_do = what_to_do.map(|command| format!("; run `{command}`")).unwrap_or_default();
        Failure::usage(format!("{id}: the session is halted: {why}{what_to_do}"))
    }

    fn post(&self) -> Result<(), PostError> {
        let mut sender = self.engine.session(&self.id).ok_or(PostError::NoSession)?.sender();
        let mut draft = (&mut sender).draft(self.composed.msg_type);
        self.composed.write(draft.writer());
        draft.send().map(drop)
    }

    /// Returns the next message of the exchange; `None` after a short while without one.
    fn next(&self, deadline: Instant, missing: &str) -> Result<Option<Seen>, Failure> {
        if self.interrupt.came() {
            return Err(Failure::interrupted("interrupted"));
        }
        if Instant::now() > deadline {
            return Err(self.missing(missing));
        }
        Ok(self.tap.next(Duration::from_millis(5)))
    }

    fn missing(&self, what: &str) -> Failure {
        self.in_vain(&format!("{what} from {} within {} s", self.peer, self.timeout.as_secs()))
    }

    /// Shows what came and was no answer. Returns the failure with how an answer would have been
    /// recognized, if anything came.
    fn show_others(&mut self, failure: Failure) -> Result<Failure, Failure> {
        let (others, more) = self.tap.others();
        for other in &others {
            self.show(other)?;
        }
        if more > 0 {
            note!("{more} further messages came that are no answer");
        }
        if others.is_empty() {
            return Ok(failure);
        }
        Ok(Failure::connection(format!("{failure}; an answer {}", self.tap.naming())))
    }

    /// Shows a message. Returns the result of the exchange if this was its last message.
    fn show(&mut self, seen: &Seen) -> Result<Option<Answer>, Failure> {
        let (word, answer) = match seen.part {
            Part::Sent => ("sent", None),
            Part::End | Part::Progress => ("received", None),
            Part::Last { good: true } => ("received", Some(Answer::Yes)),
            Part::Last { good: false } => ("received", Some(Answer::No)),
            Part::Other => ("unmatched", None),
        };
        let reading = self.reader.read_as(&seen.bytes, seen.version);
        self.is_valid &= matches!(seen.part, Part::Sent | Part::Other) || reading.is_valid();
        // What is wrong is shown with the message.
        let answer = if self.is_valid { answer } else { answer.map(|_| Answer::No) };
        let mut text = Vec::new();
        match self.format {
            Format::Text if seen.part == Part::Other => {
                let again = if reading.value(43) == Some(b"Y") { " again (PossDupFlag=Y)" } else { "" };
                write!(text, "received{again}, no answer: ")?;
                one_line(&mut text, &reading);
                shorten(&mut text);
            }
            Format::Text => block(&mut text, &reading, format!("  {word}").as_bytes()),
            Format::Json => {
                json(&mut text, &reading, Object::new().text("kind", word).unfinished().as_bytes());
            }
        }
        let mut out = output::stdout();
        out.write_all(&text)?;
        out.flush()?;
        Ok(answer)
    }
}

/// Cuts a line that ends with a line feed to what can be seen at a glance.
fn shorten(line: &mut Vec<u8>) {
    const MOST: usize = 500;
    let text = String::from_utf8_lossy(line);
    if let Some((at, _)) = text.char_indices().nth(MOST) {
        *line = format!("{}…\n", &text[..at]).into_bytes();
    }
}
