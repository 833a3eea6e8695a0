//! Round trips in a closed loop: the trader sends its next order when it has the last report, in
//! the same callback. Two threads take part, as in a ping-pong over raw TCP.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Duration, Instant};

use fixbolt_codec::{BodySink as _, Message, NewBody as _};
use fixbolt_session::{Application, Delivery, Event, Failure, Turn};

use super::exchange::{Exchange, ORDER, Venue};
use super::layout::Layout;
use super::pair::{Keeping, Pair};
use super::watch::Watch;
use crate::harness::{Clock as _, Latencies, Monotonic, Run, Usage};

/// How many reports are compared with what they should be, field by field, before the clock counts.
const CHECKED: u64 = 64;

/// The trader's application: sends the first order at the logon.
struct Trader<E> {
    exchange: E,
    watch: Watch,
    warm_up: u64,
    /// The number of orders, with those of the warm-up.
    orders: u64,
    /// The number of the next order.
    next: u64,
    sent: u64,
    begun: Option<(Instant, Usage)>,
    /// Of each round trip after the warm-up, in nanoseconds.
    times: Vec<u64>,
    done: SyncSender<Trip>,
}

/// The round trips of a slice.
struct Trip {
    times: Vec<u64>,
    elapsed: Duration,
    usage: Usage,
}

impl<E: Exchange> Trader<E> {
    fn send(&mut self, turn: &mut Turn<'_>) -> Result<(), Failure> {
        if self.next == self.warm_up {
            self.begun = Some((Instant::now(), Usage::now()));
        }
        self.sent = Monotonic.now();
        let mut draft = turn.reply().draft(ORDER);
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
            self.times.push(now - self.sent);
        } else if number < CHECKED
            && let Some(wrong) = self.exchange.wrong(number, report)
        {
            self.watch.fail(format!("the report of order {number} is wrong: {wrong}"));
        }
        if self.next < self.orders {
            return self.send(turn);
        }
        if let Some((begin, usage)) = self.begun.take() {
            let (elapsed, usage) = (begin.elapsed(), Usage::now().since(&usage));
            // Nobody waits any longer if something went wrong.
            let _ = self.done.try_send(Trip { times: std::mem::take(&mut self.times), elapsed, usage });
        }
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

/// Measures `round_trips` round trips after a warm-up, with engines of their own.
pub(super) fn slice<E: Exchange>(
    exchange: &E,
    layout: Layout,
    keeping: Keeping,
    (warm_up, round_trips): (u64, u64),
) -> Result<Run, String> {
    let watch = Watch::default();
    let (done, trips) = sync_channel(1);
    let trader = Trader {
        exchange: exchange.clone(),
        watch: watch.clone(),
        warm_up,
        orders: warm_up + round_trips,
        next: 0,
        sent: 0,
        begun: None,
        times: Vec::with_capacity(round_trips as usize),
        done,
    };
    let venue = Venue::new(exchange.clone(), &watch);
    let pair = Pair::start((E::VERSION, E::PARTIES), 1, layout, keeping, (venue, trader), &watch)?;
    let mut trip = None;
    let waited = watch.until("no report", || {
        trip = trips.try_recv().ok();
        trip.is_some()
    });
    let count = warm_up + round_trips;
    let stopped = pair.stop(&watch, count, count);
    waited?;
    stopped?;
    let Trip { times, elapsed, usage } = trip.ok_or("the trader has not told its times")?;
    Ok(run(&times, elapsed, usage))
}

/// Returns the run of a closed loop with these times.
#[expect(clippy::cast_precision_loss, reason = "counts and times are below 2^53")]
pub(super) fn run(times: &[u64], elapsed: Duration, usage: Usage) -> Run {
    let mut service = Latencies::default();
    times.iter().for_each(|ns| service.add_ns(*ns));
    let rate = (!elapsed.is_zero()).then(|| times.len() as f64 / elapsed.as_secs_f64());
    Run {
        response: Latencies::default(),
        service,
        delay: Latencies::default(),
        probes: Vec::new(),
        target_rate: None,
        offered_rate: rate,
        achieved_rate: rate,
        lost: 0,
        late: 0,
        stray: 0,
        invalid: None,
        windows: Vec::new(),
        usage,
    }
}
