//! The engine's log: connections, refusals, failures, and what happens to sessions.
//!
//! A server's lines go through a bounded queue to a thread that writes them to standard error, with
//! the time and the session or the address in each. A worker never waits for that, and a
//! counterparty that causes many lines causes only a few a second.

mod limiter;
mod line;
mod queue;
mod session_events;

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt::{self, Write as _};
use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::io::{self, Cursor};
use std::net::{IpAddr, SocketAddr};
use std::sync::OnceLock;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use self::limiter::{Limiter, Verdict};
use self::line::MoreLikeThis;
pub use self::line::{Line, Severity};
use self::queue::Queue;
pub use self::session_events::Told;
use crate::exit::{Failure, without_error_numbers};
use crate::output::Format;

/// How long the end of a process waits for the reader of its log.
const FINISH: Duration = Duration::from_secs(1);

/// The room for an address with its port, as text.
const LONGEST_ADDRESS: usize = 80;

/// Where log lines go.
pub enum Log {
    /// To standard error in this format, including the engine's routine messages.
    Everything(Format),
    /// To a command that reports problems itself: only warnings and errors.
    Warnings(Sender<Warning>),
}

/// A warning or an error of the engine.
#[derive(Debug)]
pub struct Warning {
    /// The name of what happened, if the engine has one for it.
    pub name: Option<&'static str>,
    /// What happened, without the session.
    pub text: String,
}

impl Log {
    /// Sends the engine's log here from now on. Called once per process.
    pub fn install(self) -> Result<(), Failure> {
        if let Self::Everything(format) = self {
            let queue = Queue::start(std::io::stderr(), format)
                .map_err(|error| Failure::usage(format!("cannot start the thread of the log: {error}")))?;
            // A second call would be a bug in this command, and would only lose log lines.
            let _ = LINES.set(Lines { queue, format, keys: RandomState::new() });
            log_panics();
        }
        let _ = tracing::subscriber::set_global_default(self);
        Ok(())
    }
}

/// Writes a line to the log of this process.
pub fn write(line: &Line) {
    if let Some(lines) = LINES.get() {
        lines.queue.line(line.render(lines.format));
    }
}

/// Says why the command failed, each thing that is wrong by itself, in the log if the process has
/// one, which is then written to its end: for a bounded time.
pub fn last(failure: &[String]) {
    let Some(lines) = LINES.get() else {
        for wrong in failure {
            note!("fixbolt: {wrong}");
        }
        return;
    };
    for wrong in failure {
        match lines.format {
            // This is the command's answer, in the form of all commands.
            Format::Text => lines.queue.line(format!("fixbolt: {wrong}\n")),
            Format::Json => {
                for line in wrong.lines() {
                    write(&Line::new(Severity::Error, "failure", line));
                }
            }
        }
    }
    lines.queue.finish(FINISH);
}

static LINES: OnceLock<Lines> = OnceLock::new();

/// The log of a server.
#[derive(Debug)]
struct Lines {
    queue: Queue,
    format: Format,
    keys: RandomState,
}

thread_local! {
    /// A worker asks no other thread whether it may write a line.
    static LIMITERS: RefCell<Limiters> = RefCell::default();
}

/// Strangers must not use up the places of sessions.
struct Limiters {
    sessions: Limiter,
    addresses: Limiter,
}

impl Default for Limiters {
    fn default() -> Self {
        // A thousand sessions that log on in the same second have a few kinds of lines each.
        // Strangers are told apart as long as they are few.
        Self { sessions: Limiter::new(8192), addresses: Limiter::new(32) }
    }
}

/// What a line counts for.
#[derive(Clone, Copy)]
enum Counted {
    Session,
    Address,
}

impl Lines {
    /// Writes a line, unless there were too many with this key. It is made only if it is needed.
    fn write(&self, counted: Counted, key: impl Hash, line: impl FnOnce() -> Line) {
        let key = self.keys.hash_one(key);
        let verdict = LIMITERS.with_borrow_mut(|limiters| {
            let limiter = match counted {
                Counted::Session => &mut limiters.sessions,
                Counted::Address => &mut limiters.addresses,
            };
            limiter.admit(Instant::now(), key)
        });
        match verdict {
            Verdict::Write => self.queue.line(line().render(self.format)),
            Verdict::Begin(counter) => self.queue.more(counter, line().more_like_this()),
            Verdict::BeginOthers(counter) => {
                let about = match counted {
                    Counted::Session => "sessions",
                    Counted::Address => "addresses",
                };
                self.queue.more(counter, MoreLikeThis::about_others(about));
            }
            Verdict::Counted => {}
        }
    }
}

/// Sends what a panic says to the log: a worker that panics must not wait for whoever reads
/// standard error, either.
fn log_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let thread = std::thread::current();
        if thread.name() == Some("main") {
            return before(panic);
        }
        let why = panic.payload_as_str().unwrap_or("no message");
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let line = Line::new(Severity::Error, "panic", format!("a panic: {why}")).value("place", place);
        write(&line.value("thread", thread.name().unwrap_or_default()));
    }));
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let least = if matches!(self, Self::Everything(_)) { Level::INFO } else { Level::WARN };
        // The event of the session tells how its connection ended.
        *metadata.level() <= least && metadata.name() != "disconnected"
    }

    fn event(&self, event: &Event<'_>) {
        match self {
            Self::Everything(_) => {
                let Some(lines) = LINES.get() else { return };
                let mut about = About::new(&lines.keys);
                event.record(&mut about);
                let key = (event.metadata().callsite(), about.key());
                lines.write(about.counted(), key, || {
                    let mut words = Words::default();
                    event.record(&mut words);
                    words.line(event.metadata())
                });
            }
            Self::Warnings(to) => {
                let mut words = Words::default();
                event.record(&mut words);
                // The command has its answer and no longer listens.
                let _ = to.send(words.warning(event.metadata()));
            }
        }
    }

    // The engine opens no spans.
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// What an event of the engine is about: the counterparty's address if it names one, since a
/// stranger chooses the session that it asks for; otherwise the session or the host. Reads the
/// event without allocating.
struct About<'k> {
    keys: &'k RandomState,
    peer: Option<IpAddr>,
    other: u64,
}

impl<'k> About<'k> {
    const fn new(keys: &'k RandomState) -> Self {
        Self { keys, peer: None, other: 0 }
    }

    const fn counted(&self) -> Counted {
        if self.peer.is_some() { Counted::Address } else { Counted::Session }
    }

    fn key(&self) -> (Option<IpAddr>, u64) {
        if self.peer.is_some() { (self.peer, 0) } else { (None, self.other) }
    }
}

impl Visit for About<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            "peer" => {
                let mut text = Cursor::new([0; LONGEST_ADDRESS]);
                let _ = io::Write::write_fmt(&mut text, format_args!("{value:?}"));
                let len = usize::try_from(text.position()).unwrap_or(0);
                let text = std::str::from_utf8(&text.get_ref()[..len]).unwrap_or_default();
                self.peer = text.parse::<SocketAddr>().ok().map(|peer| network(peer.ip()));
            }
            "session" | "address" | "host" => {
                let mut hash = Hashed(self.keys.build_hasher());
                let _ = write!(hash, "{value:?}");
                self.other ^= hash.0.finish();
            }
            _ => {}
        }
    }
}

/// Returns the address, or the network of an IPv6 address: whoever has one of its addresses has all
/// of them.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((address.to_bits() & (u128::MAX << 64)).into()),
        address => address,
    }
}

/// Text that is only hashed.
struct Hashed<H>(H);

impl<H: Hasher> fmt::Write for Hashed<H> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}

/// The words of an event of the engine.
#[derive(Default)]
struct Words {
    message: String,
    fields: Vec<(&'static str, String)>,
}

impl Words {
    fn line(self, metadata: &Metadata<'_>) -> Line {
        let severity = match *metadata.level() {
            Level::ERROR => Severity::Error,
            Level::WARN => Severity::Warning,
            _ => Severity::Info,
        };
        let kind = name(metadata).map_or_else(|| kind(&self.message).into(), Cow::Borrowed);
        let line = Line::new(severity, kind, self.message);
        self.fields.into_iter().fold(line, |line, (name, value)| match name {
            "session" => line.session(value),
            "peer" => line.peer(value),
            name => line.value(name, value),
        })
    }

    fn warning(self, metadata: &Metadata<'_>) -> Warning {
        // `fixbolt send` makes one attempt.
        let fields = self.fields.into_iter().filter(|(name, _)| !["session", "next"].contains(name));
        let text = fields.fold(self.message, |text, (name, value)| text + ", " + name + " " + &value);
        Warning { name: name(metadata), text }
    }
}

impl Visit for Words {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let text = without_error_numbers(format!("{value:?}"));
        match field.name() {
            "message" => self.message = text,
            name => self.fields.push((name, text)),
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }
}

/// Returns the name that the engine gives to an event, if it gives one.
fn name(metadata: &Metadata<'_>) -> Option<&'static str> {
    // The others are named by the place in the source.
    Some(metadata.name()).filter(|name| !name.starts_with("event "))
}

/// Returns a name for programs: the beginning of a message of the engine, which is constant, as one
/// word.
fn kind(message: &str) -> String {
    let end = message.find([':', ';', ',']).unwrap_or(message.len());
    message[..end].replace(' ', "_").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_an_engines_line_is_the_beginning_of_its_message() {
        assert_eq!(kind("closed: too many connections"), "closed");
        assert_eq!(kind("closed before logon"), "closed_before_logon");
        assert_eq!(kind("TCP_NODELAY could not be set"), "tcp_nodelay_could_not_be_set");
    }

    #[test]
    fn an_address_counts_whatever_its_port_and_a_network_of_ipv6_as_one() {
        let network = |text: &str| network(text.parse::<SocketAddr>().unwrap().ip());
        assert_eq!(network("127.0.0.1:1"), network("[::ffff:127.0.0.1]:2"));
        assert_eq!(network("[2001:db8::1]:1"), network("[2001:db8::ffff:2]:1"));
        assert_ne!(network("[2001:db8::1]:1"), network("[2001:db8:0:1::1]:1"));
    }
}
