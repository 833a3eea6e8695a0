//! Round trips in a closed loop: the trader sends its next order when it has the last report, in
//! the same callback. Two threads take part, as in a ping-pong over raw TCP.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use fixbolt_codec::{BodySink as _, Message, NewBody as _};
use fixbolt_session::{Application, Delivery, Event, Failure, Turn};
use fixbolt_workloads::harness::{Clock as _, Control, Invalid, Monotonic, Run, Times, Usage};

use super::exchange::{Exchange, ORDER, Venue};
use super::layout::Layout;
use super::pair::{Keeping, Pair};
use super::watch::Watch;

/// How many reports are compared with what they should be, field by field, before the clock counts.
const CHECKED: u64 = 64;

/// The trader's application: sends the first order at the logon.
pub(super) struct Trader<E> {
    exchange: E,
    watch: Watch,
    warm_up: u64,
    /// The number of orders, with those of the warm-up.
    orders: u64,
    /// The number of the next order.
    next: u64,
    sent: u64,
    begun: Option<Usage>,
    /// When each order after the warm-up was sent, and when its report was there.
    times: Vec<(u64, u64)>,
    /// How many reports have come.
    received: Arc<AtomicU64>,
    control: Control,
    done: SyncSender<Trip>,
}

/// The round trips of a slice.
struct Trip {
    times: Vec<(u64, u64)>,
    usage: Usage,
    /// How many orders were sent, with those of the warm-up.
    orders: u64,
}

impl<E: Exchange> Trader<E> {
    fn send(&mut self, turn: &mut Turn<'_>) -> Result<(), Failure> {
        if self.next == self.warm_up {
            self.begun = Some(Usage::now());
        }
        self.sent = Monotonic.now();
        let mut draft = turn.session().draft(ORDER);
        self.exchange.order(self.next, self.sent, draft.writer());
        draft.send()?;
        self.next += 1;
        Ok(())
    }

    fn received(&mut self, report: Message<'_>, turn: &mut Turn<'_>) -> Result<(), Failure> {
        let stamp = self.exchange.read(report)?;
        let now = Monotonic.now();
        let number = self.next - 1;
        if stamp != self.sent {
            self.watch.fail(format!("the report of order {number} is another order's"));
        }
        if number >= self.warm_up {
            self.times.push((self.sent, now));
        } else if number < CHECKED
            && let Some(wrong) = self.exchange.wrong(number, report)
        {
            self.watch.fail(format!("the report of order {number} is wrong: {wrong}"));
        }
        if self.next < self.orders && !self.control.is_stopped() {
            self.received.store(self.next, Ordering::Release);
            return self.send(turn);
        }
        let usage = self.begun.take().map_or_else(Usage::default, |begun| Usage::now().since(&begun));
        // Nobody waits any longer if something went wrong.
        let times = std::mem::take(&mut self.times);
        let _ = self.done.try_send(Trip { times, usage, orders: self.next });
        self.received.store(u64::MAX, Ordering::Release);
        self.watch.wake();
        Ok(())
    }
}

impl<E: Exchange> Application for Trader<E> {
    fn on_message(&mut self, report: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        let done = self.received(report, turn);
        done.inspect_err(|error| self.watch.fail(format!("the trader could not go on: {error}")))?;
        Ok(Delivery::Done)
    }

    fn on_event(&mut self, event: &Event<'_>, turn: &mut Turn<'_>) -> Result<(), Failure> {
        self.watch.event("trader", event);
        if matches!(event, Event::LoggedOn) { self.send(turn) } else { Ok(()) }
    }
}

/// Waits for the round trips of a trader.
pub(super) struct Trips {
    round_trips: u64,
    /// With those of the warm-up.
    all: u64,
    /// How many reports have come.
    received: Arc<AtomicU64>,
    done: Receiver<Trip>,
    trip: Option<Trip>,
}

impl Trips {
    /// Waits until the trader has its last report.
    pub(super) fn wait(&mut self, watch: &Watch) -> Result<(), String> {
        let waited = watch.until("no report", self.all, || self.received.load(Ordering::Acquire));
        self.trip = self.done.try_recv().ok();
        waited
    }

    /// Returns how many orders were sent, with those of the warm-up.
    pub(super) fn orders(&self) -> u64 {
        self.trip.as_ref().map_or(self.all, |trip| trip.orders)
    }

    /// Returns the run. The trader has its last report, or has not told its times.
    pub(super) fn run(self) -> Result<Run, String> {
        let Trip { times, usage, .. } = self.trip.ok_or("the trader has not told its times")?;
        let interrupted = (times.len() as u64) < self.round_trips;
        let run = Run::closed(&times.into_iter().map(times_of).collect::<Vec<_>>());
        Ok(Run { usage, invalid: interrupted.then_some(Invalid::Interrupted), ..run })
    }
}

/// Returns a trader's application that makes `round_trips` round trips after a warm-up, fewer if
/// `control` stops the measurement, and who waits for them.
pub(super) fn trader<E: Exchange>(
    exchange: &E,
    (warm_up, round_trips): (u64, u64),
    watch: &Watch,
    control: &Control,
) -> (Trader<E>, Trips) {
    let (done, trips) = sync_channel(1);
    let received = Arc::new(AtomicU64::new(0));
    // Memory that was written before is not first touched while the clock runs.
    let mut times = vec![(1, 1); round_trips as usize];
    times.clear();
    let all = warm_up + round_trips;
    let trips = Trips { round_trips, all, received: Arc::clone(&received), done: trips, trip: None };
    let trader = Trader {
        exchange: exchange.clone(),
        watch: watch.clone(),
        warm_up,
        orders: all,
        next: 0,
        sent: 0,
        begun: None,
        times,
        received,
        control: control.clone(),
        done,
    };
    (trader, trips)
}

/// Measures `round_trips` round trips after a warm-up, with engines of their own. Fewer, and an
/// interrupted run, if `control` stops the measurement.
pub(super) fn slice<E: Exchange>(
    exchange: &E,
    layout: Layout,
    keeping: Keeping,
    amount: (u64, u64),
    control: &Control,
) -> Result<Run, String> {
    let watch = Watch::default();
    let (trader, trips) = trader(exchange, amount, &watch, control);
    let venue = Venue::new(exchange.clone(), &watch);
    let pair = Pair::start((E::VERSION, E::PARTIES), 1, layout, keeping, (venue, trader), &watch)?;
    measured(pair, trips, &watch)
}

/// Measures the same where the session has a dedicated worker on both sides.
pub(super) fn dedicated_slice<E: Exchange>(
    exchange: &E,
    layout: Layout,
    keeping: Keeping,
    amount: (u64, u64),
    control: &Control,
) -> Result<Run, String> {
    let watch = Watch::default();
    let (trader_of_session, trips) = trader(exchange, amount, &watch, control);
    // The shared worker has no session.
    let (idle, _) = trader(exchange, (0, 0), &watch, control);
    let venues = [(); 2].map(|()| Venue::new(exchange.clone(), &watch));
    let apps = (venues, [idle, trader_of_session]);
    let pair = Pair::start_dedicated((E::VERSION, E::PARTIES), layout, keeping, apps, &watch)?;
    measured(pair, trips, &watch)
}

/// Waits for the round trips, and stops both sides.
fn measured<E: Exchange>(
    pair: Pair<Venue<E>, Trader<E>>,
    mut trips: Trips,
    watch: &Watch,
) -> Result<Run, String> {
    let waited = trips.wait(watch);
    let count = trips.orders();
    let stopped = pair.stop(watch, count, count);
    waited?;
    stopped?;
    trips.run()
}

const fn times_of((sent, received): (u64, u64)) -> Times {
    Times { intended: sent, started: sent, ended: Some(received) }
}
