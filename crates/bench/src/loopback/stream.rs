//! One way: orders as fast as they go, validated and journaled at both ends, for one session and
//! for many, beside the same bytes over raw TCP.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use fixbolt::{PostError, Sender};
use fixbolt_codec::{BodySink as _, Message, NewBody as _, Tag};
use fixbolt_session::{Application, Delivery, Event, Failure, Role, Turn};
use mio::{Events, Interest, Poll, Token};

use super::exchange::{Exchange as _, ORDER};
use super::jlbh::{Jlbh, raw_messages};
use super::layout::Layout;
use super::pair::{Keeping, Pair, id};
use super::watch::Watch;
use crate::clock::median;
use crate::harness::{Contest, Control, SLICES, Usage, alternate};
use crate::results::{Row, Table, TestReport};

const TEST: &str = "stream";

/// What is measured.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Numbers of sessions, one measurement each.
    pub sessions: Vec<usize>,
    /// Messages of each slice, of all sessions together.
    pub messages: u64,
    /// Slices.
    pub slices: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { sessions: vec![1, 10, 100], messages: 50_000, slices: SLICES }
    }
}

impl Settings {
    /// The same in a fraction of the time.
    #[must_use]
    pub fn short() -> Self {
        Self { messages: 5_000, ..Self::default() }
    }
}

/// A slice: messages per second, and the process's CPU time per message in nanoseconds.
type Slice = (f64, f64);

/// Measures each number of sessions in slices that alternate with raw TCP.
///
/// # Errors
/// Returns why the measurement is worthless, or was not possible.
pub fn run(settings: &Settings, control: &Control) -> Result<TestReport, String> {
    let mut report = TestReport::new(TEST, "one way, messages per second")
        .setting("message", format!("{}, 64 in turn", Jlbh::NAME))
        .setting("both sides", "validate and journal")
        .setting("slices", settings.slices)
        .setting("messages a slice", settings.messages)
        .setting("workers", "one a side, epoll")
        .setting("CPUs", std::thread::available_parallelism().map_or(1, std::num::NonZero::get));
    let columns =
        ["sessions", "fixbolt/s", "raw TCP/s", "of raw TCP", "CPU ns/message", "raw CPU ns/message"];
    let mut table = Table::new("", columns);
    for &sessions in &settings.sessions {
        if control.is_stopped() {
            break;
        }
        control.begin(format!("{sessions} sessions"), settings.slices as u64);
        let mut ours = Stream::start(sessions)?;
        let mut raw = Raw::connect(sessions)?;
        let mut contests = [
            Contest::new("fixbolt", || ours.slice(settings.messages)),
            Contest::new("raw TCP", || raw.slice(settings.messages)),
        ];
        let slices = alternate(&mut contests, settings.slices, control);
        drop(contests);
        ours.stop()?;
        let slices = slices?;
        let of = |contestant: usize, figure: fn(&Slice) -> f64| {
            median(&mut slices[contestant].iter().map(figure).collect::<Vec<_>>())
        };
        let figures = (of(0, |it| it.0), of(1, |it| it.0), of(0, |it| it.1), of(1, |it| it.1));
        let (Some(rate), Some(floor), Some(cpu), Some(floor_cpu)) = figures else { break };
        table.row([
            sessions.to_string(),
            format!("{rate:.0}"),
            format!("{floor:.0}"),
            format!("{:.3}", rate / floor),
            format!("{cpu:.0}"),
            format!("{floor_cpu:.0}"),
        ]);
        let name = format!("{sessions} sessions");
        let row = Row::of_value(TEST, Jlbh::NAME, &name, rate, "messages/s");
        report.rows.push(row.with("floor_per_s", floor).with("cpu_ns", cpu).with("floor_cpu_ns", floor_cpu));
    }
    table.note("medians of the slices, which alternate; CPU time is the whole process's: sender, both workers, journals");
    report.tables.push(table);
    report.notes = vec![
        "A thread of its own sends through the sessions' queues; each worker writes what its sessions have, once a cycle.".to_owned(),
        "raw TCP: the same bytes, written and read 64 KiB at a time, without looking at them.".to_owned(),
    ];
    Ok(report)
}

/// The venue's application: checks that each session's orders come in their order, each once.
struct Venue {
    watch: Watch,
    received: Arc<AtomicU64>,
    /// The number of the next order, by session.
    next: Vec<u64>,
}

impl Application for Venue {
    fn on_message(&mut self, order: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        if order.msg_type() != ORDER.as_bytes() {
            return Ok(Delivery::UNSUPPORTED);
        }
        let session = turn.key().index();
        if session >= self.next.len() {
            self.next.resize(session + 1, 0);
        }
        let number: u64 = order.required(Tag::new(11))?;
        if number != self.next[session] {
            self.watch.fail(format!("order {number} came instead of {}", self.next[session]));
        }
        self.next[session] += 1;
        self.received.fetch_add(1, Ordering::Release);
        Ok(Delivery::Done)
    }

    fn on_event(&mut self, event: &Event<'_>, _: &mut Turn<'_>) -> Result<(), Failure> {
        self.watch.event("venue", event);
        Ok(())
    }
}

/// The trader's application, which only notices what goes wrong.
struct Trader(Watch);

impl Application for Trader {
    fn on_message(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
        Ok(Delivery::UNSUPPORTED)
    }

    fn on_event(&mut self, event: &Event<'_>, _: &mut Turn<'_>) -> Result<(), Failure> {
        self.0.event("trader", event);
        Ok(())
    }
}

/// Sessions that are logged on, and who sends in them.
struct Stream {
    pair: Pair<Venue, Trader>,
    watch: Watch,
    received: Arc<AtomicU64>,
    senders: Vec<Sender>,
    /// The number of the next order of each session.
    next: Vec<u64>,
    sent: u64,
}

impl Stream {
    fn start(sessions: usize) -> Result<Self, String> {
        let (watch, received) = (Watch::default(), Arc::new(AtomicU64::new(0)));
        let venue = Venue { watch: watch.clone(), received: Arc::clone(&received), next: Vec::new() };
        let keeping = Keeping { validates: true, journals: true, logs: false };
        let identity = (Jlbh::VERSION, Jlbh::PARTIES);
        let apps = (venue, Trader(watch.clone()));
        let pair = Pair::start(identity, sessions, Layout::default(), keeping, apps, &watch)?;
        let sender = |n| {
            let id = id(Jlbh::VERSION, Jlbh::PARTIES, n, Role::Initiator)?;
            Ok(pair.trader.engine.session(&id).ok_or("the trader has no session")?.sender())
        };
        let senders = (0..sessions).map(sender).collect::<Result<_, String>>()?;
        Ok(Self { pair, watch, received, senders, next: vec![0; sessions], sent: 0 })
    }

    /// Sends this many orders, in the sessions in turn, and waits until all have arrived.
    fn slice(&mut self, messages: u64) -> Result<Slice, String> {
        let Self { watch, senders, next, .. } = self;
        let (begin, usage, mut exchange) = (Instant::now(), Usage::now(), Jlbh::varying());
        let sessions = senders.len() as u64;
        for n in 0..messages {
            let session = (n % sessions) as usize;
            loop {
                let mut draft = (&mut senders[session]).draft(ORDER);
                exchange.order(n, next[session], draft.writer());
                match draft.send() {
                    Ok(_) => break,
                    Err(PostError::Full) => {}
                    Err(error) => return Err(format!("an order was not sent: {error}")),
                }
                watch.check()?;
                std::thread::yield_now();
            }
            next[session] += 1;
        }
        self.sent += messages;
        let (received, sent) = (&self.received, self.sent);
        watch.until("no order", || received.load(Ordering::Acquire) >= sent)?;
        Ok(slice_of(messages, begin, &usage))
    }

    fn stop(self) -> Result<(), String> {
        let Self { pair, watch, senders, sent, .. } = self;
        drop(senders);
        watch.check()?;
        pair.stop(&watch, sent, 0).map(drop)
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts and times are below 2^53")]
fn slice_of(messages: u64, begin: Instant, usage: &Usage) -> Slice {
    let (elapsed, used) = (begin.elapsed(), Usage::now().since(usage));
    (messages as f64 / elapsed.as_secs_f64(), used.cpu.as_nanos() as f64 / messages as f64)
}

/// Connections over which the same bytes flow.
struct Raw {
    writers: Vec<TcpStream>,
    poll: Poll,
    events: Events,
    readers: Vec<mio::net::TcpStream>,
    /// Messages one after the other, at most 64 KiB.
    chunk: Vec<u8>,
    size: usize,
}

impl Raw {
    fn connect(sessions: usize) -> Result<Self, String> {
        let (message, _) = raw_messages()?;
        let connected = || -> io::Result<Self> {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            let poll = Poll::new()?;
            let (mut writers, mut readers) = (Vec::new(), Vec::new());
            for n in 0..sessions {
                let writer = TcpStream::connect(listener.local_addr()?)?;
                writer.set_nodelay(true)?;
                let reader = listener.accept()?.0;
                reader.set_nonblocking(true)?;
                let mut reader = mio::net::TcpStream::from_std(reader);
                poll.registry().register(&mut reader, Token(n), Interest::READABLE)?;
                writers.push(writer);
                readers.push(reader);
            }
            let chunk = message.repeat((64 << 10) / message.len());
            let events = Events::with_capacity(1024);
            Ok(Self { writers, poll, events, readers, chunk, size: message.len() })
        };
        connected().map_err(|error| format!("raw TCP: {error}"))
    }

    fn slice(&mut self, messages: u64) -> Result<Slice, String> {
        let Self { writers, poll, events, readers, chunk, size } = self;
        let bytes = messages * *size as u64;
        let (begin, usage) = (Instant::now(), Usage::now());
        std::thread::scope(|scope| -> io::Result<()> {
            let writing = scope.spawn(|| -> io::Result<()> {
                let mut left = bytes;
                for mut writer in writers.iter().cycle() {
                    let len = left.min(chunk.len() as u64);
                    if len == 0 {
                        break;
                    }
                    writer.write_all(&chunk[..len as usize])?;
                    left -= len;
                }
                Ok(())
            });
            let (mut read, mut buffer) = (0, vec![0; 64 << 10]);
            while read < bytes {
                poll.poll(events, None)?;
                for event in events.iter() {
                    let reader = &mut readers[event.token().0];
                    loop {
                        match reader.read(&mut buffer) {
                            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                            Ok(len) => read += len as u64,
                            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                            Err(error) => return Err(error),
                        }
                    }
                }
            }
            writing.join().map_err(|_| io::Error::other("the writing thread has died"))?
        })
        .map_err(|error| format!("raw TCP: {error}"))?;
        Ok(slice_of(messages, begin, &usage))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_session_and_many_deliver_every_order_once() {
        let settings = Settings { sessions: vec![1, 7], messages: 700, slices: 2 };
        let report = run(&settings, &Control::default()).unwrap();
        assert_eq!(report.tables[0].rows.len(), 2);
        assert!(report.rows.iter().all(|row| row.figure().0 > 0.0 && row.more["floor_per_s"] > 0.0));
    }
}
