//! One way: orders as fast as they go, validated and journaled at both ends, for one session and
//! for many, beside the same bytes over raw TCP.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fixbolt::Sender;
use fixbolt_codec::{Message, Tag};
use fixbolt_session::{Application, Delivery, Event, Failure, Role, Turn};
use fixbolt_workloads::clock::{median, process_time, thread_time};
use fixbolt_workloads::harness::{Clock as _, Contest, Control, Monotonic, SLICES, alternate, spread};

use super::exchange::{Exchange as _, ORDER};
use super::jlbh::Jlbh;
use super::layout::Layout;
use super::one_way::OneWay;
use super::open::post;
use super::pair::{Keeping, Pair, id};
use super::room;
use super::thread_cpu;
use super::watch::Watch;
use crate::results::{Part, Row, Table, TestReport};

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
    /// Messages of each session before the slices, as long as all sessions together have no more
    /// than 400,000.
    pub warm_up: u64,
}

/// The most messages before the slices.
const MOST_WARM_UP: u64 = 400_000;

impl Default for Settings {
    fn default() -> Self {
        // A journal has left its first two segments, which are small, after 3,300 orders.
        Self { sessions: vec![1, 10, 100], messages: 50_000, slices: SLICES, warm_up: 4_000 }
    }
}

impl Settings {
    /// Returns settings that take a fraction of the time of the default ones.
    #[must_use]
    pub fn short() -> Self {
        Self { messages: 5_000, ..Self::default() }
    }
}

impl Settings {
    /// Checks whether this can be measured, before anything is: whether each session has a message,
    /// the process may open as many files as the sessions need, and there is room for the journals.
    /// Raises the limit of files if it may.
    ///
    /// # Errors
    /// Returns what is wrong, and what to do.
    pub fn check(&self) -> Result<(), String> {
        for (n, sessions) in self.sessions.iter().enumerate() {
            if *sessions as u64 > self.messages {
                return Err(format!(
                    "{sessions} sessions need at least as many messages a slice, not {}",
                    self.messages
                ));
            }
            if self.sessions[..n].contains(sessions) {
                return Err(format!("{sessions} sessions are named twice"));
            }
        }
        let most = self.sessions.iter().max().copied().unwrap_or(0);
        room::for_files(most)?;
        // A number of sessions leaves nothing to the next one.
        let before = self.warm_up_of(most);
        room::for_journals(self.messages.saturating_mul(self.slices as u64).saturating_add(before))
    }

    /// Returns how many messages this many sessions have before the slices, together.
    fn warm_up_of(&self, sessions: usize) -> u64 {
        let sessions = sessions.max(1) as u64;
        self.warm_up.min(MOST_WARM_UP / sessions) * sessions
    }
}

/// A slice.
#[derive(Clone, Copy, Default)]
struct Slice {
    /// Messages per second.
    rate: f64,
    /// The process's CPU time per message, in nanoseconds.
    cpu: f64,
    /// The CPU time per message of the threads of [`STAGES`], in nanoseconds.
    stages: [f64; STAGES.len()],
}

/// The threads that a message passes.
const STAGES: [&str; 4] = ["sender", "trader", "venue", "journals"];

/// Measures each number of sessions in slices that alternate with raw TCP.
///
/// # Errors
/// Returns why the measurement is worthless, or was not possible.
pub fn run(settings: &Settings, control: &Control) -> Result<TestReport, String> {
    settings.check()?;
    let mut report = TestReport::new(TEST, "one way, messages per second")
        .setting("message", format!("{}, 64 in turn", Jlbh::NAME))
        .setting("both sides", "validate and journal")
        .setting("slices", settings.slices)
        .setting("messages a slice", settings.messages)
        .setting("warm-up", format!("{} messages a session", settings.warm_up))
        .setting("workers", "one a side, epoll")
        .setting("CPUs", std::thread::available_parallelism().map_or(1, std::num::NonZero::get));
    let columns = [
        "sessions",
        "fixbolt/s",
        "spread",
        "raw TCP/s",
        "of raw TCP",
        "CPU ns/message",
        "raw CPU ns/message",
    ];
    let mut table = Table::new("", columns);
    let mut of_stages = Table::new(
        "CPU time of a message by thread, in ns",
        [
            "sessions",
            "sending thread",
            "trader's worker",
            "venue's worker",
            "threads of the journals",
            "process",
        ],
    );
    let mut starts = Vec::new();
    for &sessions in &settings.sessions {
        if control.is_stopped() {
            break;
        }
        control.begin(format!("{sessions} sessions"), settings.slices as u64);
        let mut ours = Stream::start(sessions)?;
        let before = settings.warm_up_of(sessions);
        let start = if before > 0 { Some(ours.slice(before, control)?) } else { None };
        let share = settings.messages.div_ceil(sessions as u64);
        let middle = before / sessions as u64 + share * settings.slices as u64 / 2;
        let mut raw = OneWay::connect(sessions, share, middle)?;
        let mut contests = [
            Contest::new("fixbolt", || ours.slice(settings.messages, control)),
            Contest::new("raw TCP", || {
                let (elapsed, cpu) = raw.slice(settings.messages)?;
                Ok(slice_of(settings.messages, elapsed, cpu, [Duration::ZERO; STAGES.len()]))
            }),
        ];
        let slices = alternate(&mut contests, settings.slices, control);
        drop(contests);
        // What went wrong first; what the journals then lack follows from it.
        let slices = slices?;
        ours.stop()?;
        let of = |contestant: usize, figure: &dyn Fn(&Slice) -> f64| {
            median(&mut slices[contestant].iter().map(figure).collect::<Vec<_>>())
        };
        let figures = (of(0, &|it| it.rate), of(1, &|it| it.rate), of(0, &|it| it.cpu), of(1, &|it| it.cpu));
        let (Some(rate), Some(floor), Some(cpu), Some(floor_cpu)) = figures else { break };
        let rates: Vec<f64> = slices[0].iter().map(|it| it.rate).collect();
        let spread = spread(&rates);
        table.row([
            sessions.to_string(),
            format!("{rate:.0}"),
            spread.map_or_else(|| "-".to_owned(), |spread| format!("{spread:.1}")),
            format!("{floor:.0}"),
            format!("{:.3}", rate / floor),
            format!("{cpu:.0}"),
            format!("{floor_cpu:.0}"),
        ]);
        let stages: [f64; STAGES.len()] =
            std::array::from_fn(|stage| of(0, &|it| it.stages[stage]).unwrap_or_default());
        of_stages.row(
            std::iter::once(sessions.to_string())
                .chain(stages.iter().chain([&cpu]).map(|ns| format!("{ns:.0}"))),
        );
        let name = format!("{sessions} sessions");
        let row = Row::of_value(TEST, Jlbh::NAME, &name, rate, "messages/s");
        let row = row.with("floor_per_s", floor).with("cpu_ns", cpu).with("floor_cpu_ns", floor_cpu);
        let with = |row: Row, (stage, ns): (&str, f64)| row.with(&format!("cpu_{stage}_ns"), ns);
        let row = STAGES.into_iter().zip(stages).fold(row, with);
        report.rows.extend(row.median_of(Part::Slice, rates));
        if let Some(start) = start.filter(|_| !control.is_stopped()) {
            let (name, rate) = (format!("{name} start"), start.rate);
            report
                .rows
                .push(Row::of_value(TEST, Jlbh::NAME, &name, rate, "messages/s").with("cpu_ns", start.cpu));
            starts.push(format!("{sessions}: {rate:.0}/s, {:.0} ns", start.cpu));
        }
    }
    table.note("medians of the slices, which alternate; CPU time is the whole process's: sender, both workers, journals");
    table.note("spread: how far apart Fixbolt's slices are, 100 (max - min) / median");
    if !starts.is_empty() {
        table.note(format!(
            "start: the warm-up, once, from the logon on, in which the journals grow out of their first segments; sessions: messages/s, CPU time of one: {}",
            starts.join("; ")
        ));
    }
    of_stages.note("medians of the slices; the sending thread writes the orders of all sessions");
    report.tables.push(table);
    // Other systems do not say what a thread has used.
    if cfg!(target_os = "linux") {
        report.tables.push(of_stages);
    }
    report.notes = vec![
        "A thread of its own sends through the sessions' queues; each worker writes what its sessions have, once a cycle.".to_owned(),
        "raw TCP: an order from the middle of the run again and again, on as many connections, written and read up to 64 KiB at a time by one thread each, without looking at the bytes.".to_owned(),
    ];
    Ok(report)
}

/// How many orders have arrived, and when the last one of a slice did: the thread that waits for it
/// sleeps, and wakes up later.
#[derive(Default)]
struct Arrivals {
    count: AtomicU64,
    /// How many there are when the slice has ended.
    goal: AtomicU64,
    /// The clock's time of that.
    end: AtomicU64,
}

impl Arrivals {
    fn add(&self, watch: &Watch) {
        let count = self.count.load(Ordering::Relaxed) + 1;
        let is_last = count == self.goal.load(Ordering::Relaxed);
        if is_last {
            self.end.store(Monotonic.now(), Ordering::Relaxed);
        }
        self.count.store(count, Ordering::Release);
        if is_last {
            watch.wake();
        }
    }
}

/// The venue's application: checks that each session's orders come in their order, each once.
struct Venue {
    watch: Watch,
    arrivals: Arc<Arrivals>,
    /// The number of the next order, by session.
    next: Vec<u64>,
    /// The worker's thread.
    thread: Arc<AtomicU64>,
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
        self.arrivals.add(&self.watch);
        Ok(Delivery::Done)
    }

    fn on_event(&mut self, event: &Event<'_>, _: &mut Turn<'_>) -> Result<(), Failure> {
        self.thread.store(thread_cpu::this(), Ordering::Relaxed);
        self.watch.event("venue", event);
        Ok(())
    }
}

/// The trader's application, which only notices what goes wrong, and its worker's thread.
struct Trader(Watch, Arc<AtomicU64>);

impl Application for Trader {
    fn on_message(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
        Ok(Delivery::UNSUPPORTED)
    }

    fn on_event(&mut self, event: &Event<'_>, _: &mut Turn<'_>) -> Result<(), Failure> {
        self.1.store(thread_cpu::this(), Ordering::Relaxed);
        self.0.event("trader", event);
        Ok(())
    }
}

/// Sessions that are logged on, and who sends in them.
struct Stream {
    pair: Pair<Venue, Trader>,
    watch: Watch,
    arrivals: Arc<Arrivals>,
    senders: Vec<Sender>,
    /// The number of the next order of each session.
    next: Vec<u64>,
    sent: u64,
    /// The threads of the trader's worker and the venue's.
    workers: [Arc<AtomicU64>; 2],
}

impl Stream {
    fn start(sessions: usize) -> Result<Self, String> {
        let (watch, arrivals) = (Watch::default(), Arc::new(Arrivals::default()));
        let workers = [Arc::default(), Arc::default()];
        let [of_trader, of_venue] = workers.clone();
        let venue = Venue {
            watch: watch.clone(),
            arrivals: Arc::clone(&arrivals),
            next: Vec::new(),
            thread: of_venue,
        };
        let keeping = Keeping { validates: true, journals: true, logs: false };
        let identity = (Jlbh::VERSION, Jlbh::PARTIES);
        let apps = (venue, Trader(watch.clone(), of_trader));
        let pair = Pair::start(identity, sessions, Layout::default(), keeping, apps, &watch)?;
        let sender = |n| {
            let id = id(Jlbh::VERSION, Jlbh::PARTIES, n, Role::Initiator)?;
            Ok(pair.trader.engine.session(&id).ok_or("the trader has no session")?.sender())
        };
        let senders = (0..sessions).map(sender).collect::<Result<_, String>>()?;
        Ok(Self { pair, watch, arrivals, senders, next: vec![0; sessions], sent: 0, workers })
    }

    /// Returns what the threads of [`STAGES`] have used.
    fn stages(&self) -> [Duration; STAGES.len()] {
        let [trader, venue] =
            self.workers.each_ref().map(|it| thread_cpu::of(it.load(Ordering::Relaxed)).unwrap_or_default());
        [thread_time(), trader, venue, thread_cpu::of_journals()]
    }

    /// Sends this many orders, in the sessions in turn, and waits until all have arrived. Fewer if
    /// `control` stops the measurement.
    fn slice(&mut self, messages: u64, control: &Control) -> Result<Slice, String> {
        let before = self.stages();
        let Self { watch, arrivals, senders, next, .. } = self;
        let (mut exchange, sessions) = (Jlbh::varying(), senders.len() as u64);
        arrivals.goal.store(self.sent + messages, Ordering::Relaxed);
        let (cpu, begin) = (process_time(), Monotonic.now());
        let mut sent = 0;
        while sent < messages && !control.is_stopped() {
            let session = (sent % sessions) as usize;
            post(&mut senders[session], |body| exchange.order(sent, next[session], body), watch)?;
            next[session] += 1;
            sent += 1;
        }
        self.sent += sent;
        watch.until("no order", self.sent, || arrivals.count.load(Ordering::Acquire))?;
        // A slice that was stopped has no last order, and counts for nothing.
        let end = if sent == messages { arrivals.end.load(Ordering::Relaxed) } else { Monotonic.now() };
        let cpu = process_time().saturating_sub(cpu);
        let mut stages = self.stages();
        stages.iter_mut().zip(before).for_each(|(now, then)| *now = now.saturating_sub(then));
        Ok(slice_of(messages, end.saturating_sub(begin), cpu, stages))
    }

    fn stop(self) -> Result<(), String> {
        let Self { pair, watch, senders, sent, .. } = self;
        drop(senders);
        watch.check()?;
        pair.stop(&watch, sent, 0).map(drop)
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts and times are below 2^53")]
fn slice_of(messages: u64, elapsed: u64, cpu: Duration, stages: [Duration; STAGES.len()]) -> Slice {
    let of_one = |time: Duration| time.as_nanos() as f64 / messages as f64;
    let rate = messages as f64 * 1e9 / elapsed.max(1) as f64;
    Slice { rate, cpu: of_one(cpu), stages: stages.map(of_one) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_session_and_many_deliver_every_order_once() {
        let settings = Settings { sessions: vec![1, 7], messages: 700, slices: 2, warm_up: 30 };
        let report = run(&settings, &Control::default()).unwrap();
        assert_eq!(report.tables[0].rows.len(), 2);
        let names: Vec<&str> = report.rows.iter().map(|row| row.operation.as_str()).collect();
        assert_eq!(names, ["1 sessions", "1 sessions start", "7 sessions", "7 sessions start"]);
        for row in &report.rows {
            let is_start = row.operation.ends_with("start");
            assert!(row.figure().0 > 0.0 && row.more["cpu_ns"] > 0.0, "{row:?}");
            assert_eq!(row.more.get("floor_per_s") > Some(&0.0), !is_start, "{row:?}");
            assert_eq!(row.more.contains_key("spread"), !is_start, "{row:?}");
        }
        if cfg!(target_os = "linux") {
            for row in report.rows.iter().step_by(2) {
                let of = |stage: &str| row.more[&format!("cpu_{stage}_ns")];
                assert!(["sender", "trader", "venue"].iter().all(|stage| of(stage) > 0.0), "{row:?}");
            }
        }
    }
    #[test]
    fn what_cannot_be_measured_is_refused_before_anything_is() {
        let check = |sessions: &[usize], messages| {
            Settings { sessions: sessions.to_vec(), messages, slices: 1, warm_up: 0 }.check()
        };
        assert_eq!(check(&[1, 7], 7), Ok(()));
        assert!(check(&[1, 7], 6).unwrap_err().starts_with("7 sessions need at least as many messages"));
        assert_eq!(check(&[7, 1, 7], 7).unwrap_err(), "7 sessions are named twice");
    }

    #[test]
    fn many_sessions_have_a_shorter_warm_up_each() {
        let warm_up = |sessions| Settings::default().warm_up_of(sessions);
        assert_eq!([1, 100, 1_000].map(warm_up), [4_000, 400_000, 400_000]);
    }

    #[test]
    fn the_end_of_a_slice_is_when_its_last_order_arrives() {
        let (arrivals, watch) = (Arrivals::default(), Watch::default());
        arrivals.goal.store(2, Ordering::Relaxed);
        let before = Monotonic.now();
        arrivals.add(&watch);
        assert_eq!(arrivals.end.load(Ordering::Relaxed), 0);
        arrivals.add(&watch);
        let end = arrivals.end.load(Ordering::Relaxed);
        assert!(before <= end && end <= Monotonic.now());
        arrivals.add(&watch);
        assert_eq!((arrivals.end.load(Ordering::Relaxed), arrivals.count.load(Ordering::Relaxed)), (end, 3));
    }
    #[test]
    fn an_interrupt_ends_a_slice_and_the_journals_have_what_was_sent() {
        let (mut stream, control) = (Stream::start(2).unwrap(), Control::default());
        let slice = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(300));
                control.stop();
            });
            stream.slice(50_000_000, &control)
        });
        assert!(slice.is_ok() && (1..50_000_000).contains(&stream.sent), "{}", stream.sent);
        assert_eq!(stream.stop(), Ok(()));
    }
}
