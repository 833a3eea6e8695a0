//! Round trips in an open loop: a thread of its own sends orders when they are due, through the
//! trader's session, whose worker receives the reports.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use fixbolt::{PostError, Sender};
use fixbolt_codec::{BodySink as _, Message, NewBody as _};
use fixbolt_session::{Application, Delivery, Event, Failure, Role, Turn};
use fixbolt_workloads::harness::{Clock as _, Monotonic, Piece, Recorder, Task};

use super::exchange::{Exchange, ORDER, Venue};
use super::layout::Layout;
use super::pair::{Keeping, Pair, id};
use super::watch::Watch;

/// How many reports are compared with what they should be, field by field.
const CHECKED: u64 = 64;
/// How long an order may wait for room in its session's queue.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long one attempt waits for room, before it is looked whether anything went wrong.
pub(super) const LOOK: Duration = Duration::from_millis(100);

/// Orders out and reports back through two engines.
pub(super) struct RoundTrip<E> {
    exchange: E,
    layout: Layout,
    keeping: Keeping,
    watch: Watch,
    running: Option<Running<E>>,
    orders: u64,
    recorder: Option<Recorder>,
    /// How many lines the message logs have dropped.
    dropped: Arc<AtomicU64>,
}

/// The engines, and who sends in the trader's session.
type Running<E> = (Pair<Venue<E>, Trader<E>>, Sender);

/// The trader's application: records when reports arrive.
pub(super) struct Trader<E> {
    exchange: E,
    watch: Watch,
    recorder: Recorder,
    received: u64,
}

impl<E: Exchange> Application for Trader<E> {
    fn on_message(&mut self, report: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
        let read = self.exchange.read(report);
        let stamp = read.inspect_err(|error| self.watch.fail(format!("a report is wrong: {error}")))?;
        self.recorder.finish_stamped(stamp, Monotonic.now());
        if self.received < CHECKED
            && let Some(wrong) = self.exchange.wrong(self.received, report)
        {
            self.watch.fail(format!("the report of order {} is wrong: {wrong}", self.received));
        }
        self.received += 1;
        Ok(Delivery::Done)
    }

    fn on_event(&mut self, event: &Event<'_>, _: &mut Turn<'_>) -> Result<(), Failure> {
        self.watch.event("trader", event);
        Ok(())
    }
}

impl<E: Exchange> RoundTrip<E> {
    pub(super) fn new(exchange: E, layout: Layout, keeping: Keeping) -> Self {
        let watch = Watch::default();
        Self {
            exchange,
            layout,
            keeping,
            watch,
            running: None,
            orders: 0,
            recorder: None,
            dropped: Arc::default(),
        }
    }

    /// Adds the lines that the message logs drop to a count.
    pub(super) fn count_dropped(mut self, dropped: &Arc<AtomicU64>) -> Self {
        self.dropped = Arc::clone(dropped);
        self
    }
}

impl<E: Exchange> Task for RoundTrip<E> {
    fn init(&mut self, recorder: &Recorder) -> Result<(), String> {
        self.recorder = Some(recorder.clone());
        let trader = Trader {
            exchange: self.exchange.clone(),
            watch: self.watch.clone(),
            recorder: recorder.clone(),
            received: 0,
        };
        let venue = Venue::new(self.exchange.clone(), &self.watch);
        let parties = (E::VERSION, E::PARTIES);
        let pair = Pair::start(parties, 1, self.layout, self.keeping, (venue, trader), &self.watch)?;
        let session = pair.trader.engine.session(&id(E::VERSION, E::PARTIES, 0, Role::Initiator)?);
        let sender = session.ok_or("the trader has no session")?.sender();
        self.running = Some((pair, sender));
        Ok(())
    }

    fn run(&mut self, piece: Piece) -> Result<(), String> {
        self.watch.check()?;
        let Some((_, sender)) = &mut self.running else { return Err("the engines do not run".to_owned()) };
        post(sender, |body| self.exchange.order(piece.number, piece.intended, body), &self.watch)?;
        self.orders += 1;
        Ok(())
    }

    fn idle(&mut self) -> Result<(), String> {
        self.watch.check()
    }

    fn complete(&mut self) -> Result<(), String> {
        let Some((pair, sender)) = self.running.take() else { return Ok(()) };
        drop(sender);
        let recorder = self.recorder.as_ref().ok_or("the engines did not run")?;
        let answered = (0..self.orders).filter(|number| recorder.ended(*number).is_some()).count() as u64;
        // Orders that are still on their way are in one journal and not in the other: such a run is
        // marked as one that has lost samples.
        let all = answered == self.orders;
        let stopped = pair.stop(&self.watch, self.orders, self.orders);
        self.watch.check()?;
        let dropped = if all { stopped? } else { stopped.unwrap_or(0) };
        self.dropped.fetch_add(dropped, Ordering::Relaxed);
        Ok(())
    }
}

/// Sends an order through a session's queue, and waits while the queue is full.
pub(super) fn post(
    sender: &mut Sender,
    mut write: impl FnMut(&mut fixbolt_codec::BodyWriter<'_>),
    watch: &Watch,
) -> Result<(), String> {
    put(watch, || {
        let mut draft = sender.within(LOOK).draft(ORDER);
        write(draft.writer());
        draft.send().map(drop)
    })
}

/// Puts an order into the outbound queue of the trader's session by `put`, which waits for room in
/// it for at most [`LOOK`].
pub(super) fn put(watch: &Watch, mut put: impl FnMut() -> Result<(), PostError>) -> Result<(), String> {
    let mut full_since = None;
    loop {
        match put() {
            Ok(()) => return Ok(()),
            Err(PostError::Full) => {}
            Err(error) => {
                // The session's end says why, perhaps a moment later.
                std::thread::sleep(Duration::from_millis(100));
                watch.check()?;
                return Err(format!("an order was not sent: {error}"));
            }
        }
        watch.check()?;
        if full_since.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
            return Err(format!("the venue has not read anything for {} s", PATIENCE.as_secs()));
        }
    }
}
