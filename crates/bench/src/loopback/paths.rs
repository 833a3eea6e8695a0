//! The way in and the way out of a venue that answers orders, each by itself: from when its worker
//! begins the cycle that reads an order until the application has it, and from there until the
//! system has taken the report.
//!
//! The venue's engine is driven by a thread that does nothing else and never sleeps, which is what
//! a spinning worker is: only so can it be seen from outside when a cycle begins and ends.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};

use fixbolt::{DrivenEngine, Initiation};
use fixbolt_codec::Message;
use fixbolt_session::{Application, Delivery, Event, Failure, Role, Turn};
use fixbolt_workloads::harness::{Clock as _, Control, Invalid, Monotonic, Run, Times};

use super::closed;
use super::exchange::{Exchange, Venue};
use super::layout::{Layout, run_on};
use super::pair::{Keeping, Side, check_journals, engine, id, settings};
use super::watch::Watch;
use crate::folder::Folder;

/// Answers orders, and notes when it got the last one.
struct Timed<E> {
    venue: Venue<E>,
    called: Option<u64>,
}

impl<E: Exchange> Application for Timed<E> {
    fn on_message(&mut self, order: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        self.called = Some(Monotonic.now());
        self.venue.on_message(order, turn)
    }

    fn on_event(&mut self, event: &Event<'_>, turn: &mut Turn<'_>) -> Result<(), Failure> {
        self.venue.on_event(event, turn)
    }
}

/// When the cycle of an order began, when the application had the order, and when the cycle ended.
type Passed = [u64; 3];

/// Drives an engine until `over`, and stops it. Returns the times of its orders.
fn drive<E: Exchange>(
    mut engine: DrivenEngine<Timed<E>>,
    mut passed: Vec<Passed>,
    over: &AtomicBool,
) -> Result<Vec<Passed>, String> {
    let told = |error| format!("the venue: {error:#}");
    while !over.load(Ordering::Relaxed) {
        let begun = Monotonic.now();
        engine.poll().map_err(told)?;
        if let Some(called) = engine.application().called.take() {
            passed.push([begun, called, Monotonic.now()]);
        }
    }
    engine.stop().map_err(told)?;
    Ok(passed)
}

/// Measures the orders and reports of `round_trips` round trips after a warm-up, with engines of
/// their own. Returns the runs of the way in and of the way out: with fewer orders, and
/// interrupted, if `control` stops the measurement.
pub(super) fn slice<E: Exchange>(
    exchange: &E,
    layout: Layout,
    keeping: Keeping,
    (warm_up, round_trips): (u64, u64),
    control: &Control,
) -> Result<[Run; 2], String> {
    let (watch, folder, over) = (Watch::default(), Folder::new()?, AtomicBool::new(false));
    let directory = folder.0.join("venue");
    let [venue_id, trader_id] =
        [Role::Acceptor, Role::Initiator].map(|role| id(E::VERSION, E::PARTIES, 0, role));
    let (venue_id, trader_id) = (venue_id?, trader_id?);
    let venue = Timed { venue: Venue::new(exchange.clone(), &watch), called: None };
    // Memory that was written before is not first touched while the clock runs.
    let mut passed = vec![[1; 3]; (warm_up + round_trips) as usize];
    passed.clear();
    std::thread::scope(|scope| {
        let (listening, address) = std::sync::mpsc::channel();
        let (of_venue, over, directory) = (venue_id.clone(), &over, &directory);
        let driving = scope.spawn(move || {
            if let Some(core) = layout.venue {
                run_on(&[core])?;
            }
            let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
            let builder = engine(Layout { venue: None, trader: None, ..layout }, None)
                .accept(anywhere, settings(of_venue, Role::Acceptor, keeping))
                .journal(directory.join("journal"));
            let engine = builder.driven(venue).map_err(|error| format!("{error:#}"))?;
            // Nobody waits if the trader could not be prepared.
            let _ = listening.send(engine.addresses()[0].port());
            drive(engine, passed, over)
        });
        let measured = address.recv().map_err(|_| "the venue does not listen".to_owned()).and_then(|port| {
            let (trader, mut trips) = closed::trader(exchange, (warm_up, round_trips), &watch, control);
            let settings = settings(trader_id.clone(), Role::Initiator, keeping);
            let builder = engine(layout, layout.trader).connect(Initiation::new(settings, "127.0.0.1", port));
            let side = Side::start(builder, vec![trader_id], folder.0.join("trader"), keeping, trader)?;
            let waited = watch.await_logons(2).and_then(|()| trips.wait(&watch));
            watch.end();
            let orders = trips.orders();
            let stopped = side.stop((orders, orders));
            waited.and(stopped).map(|_| orders)
        });
        over.store(true, Ordering::Relaxed);
        let passed = driving.join().map_err(|_| "the venue's thread has died")?;
        let (orders, passed) = (measured?, passed?);
        if keeping.journals {
            check_journals(&directory.join("journal"), &[venue_id], (orders, orders))?;
        }
        let timed = passed.get(warm_up as usize..).unwrap_or_default();
        let interrupted = (timed.len() as u64) < round_trips;
        Ok([0, 1].map(|part| {
            let times_of = |at: &Passed| {
                let (started, ended) = (at[part], Some(at[part + 1]));
                Times { intended: started, started, ended }
            };
            let run = Run::closed(&timed.iter().map(times_of).collect::<Vec<_>>());
            Run { invalid: interrupted.then_some(Invalid::Interrupted), ..run }
        }))
    })
}
