//! Round trips between two engines without threads of their own: a loop of the caller drives each,
//! and does nothing else.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};

use fixbolt::{DrivenEngine, EngineBuilder, Initiation};
use fixbolt_session::{Application, Role};
use fixbolt_workloads::harness::{Control, Run};

use super::closed;
use super::exchange::{Exchange, Venue};
use super::layout::{Layout, run_on};
use super::pair::{Keeping, check_journals, engine, id, settings};
use super::watch::Watch;
use crate::folder::Folder;

/// Drives an engine until `over`, and stops it. `begun` is called when it listens.
fn drive<A: Application>(
    (builder, app): (EngineBuilder, A),
    core: Option<usize>,
    begun: impl FnOnce(&DrivenEngine<A>),
    over: &AtomicBool,
) -> Result<(), String> {
    if let Some(core) = core {
        run_on(&[core])?;
    }
    let told = |error| format!("{error:#}");
    let mut engine = builder.driven(app).map_err(told)?;
    begun(&engine);
    while !over.load(Ordering::Relaxed) {
        engine.poll().map_err(told)?;
    }
    engine.stop().map(drop).map_err(told)
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
    let (watch, folder) = (Watch::default(), Folder::new()?);
    let id = |role| id(E::VERSION, E::PARTIES, 0, role);
    let (venue_id, trader_id) = (id(Role::Acceptor)?, id(Role::Initiator)?);
    let journal = |side: &str| folder.0.join(side).join("journal");
    let builder = |side| match keeping.journals {
        true => engine(Layout::default(), None).journal(journal(side)),
        false => engine(Layout::default(), None),
    };
    let (builder, watch) = (&builder, &watch);
    let (trader, mut trips) = closed::trader(exchange, amount, watch, control);
    let venue = Venue::new(exchange.clone(), watch);
    let [venue_over, trader_over] = [(); 2].map(|()| AtomicBool::new(false));
    let failed = |side: &'static str| {
        move |why: String| {
            let why = format!("the {side}: {why}");
            watch.fail(why.as_str());
            why
        }
    };
    let orders = std::thread::scope(|scope| {
        let (listening, address) = std::sync::mpsc::channel();
        let (of_venue, over) = (settings(venue_id.clone(), Role::Acceptor, keeping), &venue_over);
        let of_trader = settings(trader_id.clone(), Role::Initiator, keeping);
        let venue = scope.spawn(move || {
            let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
            let with = (builder("venue").accept(anywhere, of_venue), venue);
            // Nobody waits if the other side could not be prepared.
            let begun = |engine: &DrivenEngine<_>| {
                let _ = listening.send(engine.addresses()[0].port());
            };
            drive(with, layout.venue, begun, over).map_err(failed("venue"))
        });
        // If there is none, the venue says why.
        let measured = address.recv().map_err(|_| String::new()).and_then(|port| {
            let over = &trader_over;
            let trader = scope.spawn(move || {
                let with = (builder("trader").connect(Initiation::new(of_trader, "127.0.0.1", port)), trader);
                drive(with, layout.trader, |_| {}, over).map_err(failed("trader"))
            });
            let waited = watch.await_logons(2).and_then(|()| trips.wait(watch));
            watch.end();
            trader_over.store(true, Ordering::Relaxed);
            let stopped = trader.join().map_err(|_| "the trader's thread has died".to_owned())?;
            waited.and(stopped).map(|()| trips.orders())
        });
        venue_over.store(true, Ordering::Relaxed);
        let stopped = venue.join().map_err(|_| "the venue's thread has died".to_owned())?;
        stopped.and(measured)
    })?;
    if keeping.journals {
        for (side, id) in [("venue", venue_id), ("trader", trader_id)] {
            check_journals(&journal(side), &[id], (orders, orders))?;
        }
    }
    trips.run()
}
