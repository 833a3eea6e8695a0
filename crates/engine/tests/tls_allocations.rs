//! How much TLS allocates: a number of allocations for each record, and none besides.
//! docs/security.md states it.

#[path = "support/allocations.rs"]
mod allocations;
mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use allocations::ALLOCATIONS;
use fixbolt::codec::{BodySink, Key, MsgType, NewBody};
use fixbolt::tls::{Tls, TlsVersion};
use fixbolt::{Acceptance, Engine, Initiation};
use support::certificates::Authority;
use support::*;

const WARM_UP: u64 = 2_000;
const COUNTED: u64 = 2_000;
/// What docs/security.md states, for each record that is received and each that is sent.
const PER_PAIR: u64 = 2;

/// Returns the allocations of an acceptor's worker while it receives and answers that many orders,
/// each in a record of its own.
fn allocations(tls: Option<(Tls, Tls)>) -> u64 {
    let (venue_tls, trader_tls) = tls.unzip();
    let counted = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
    let (mut seen, thread) = (0, Arc::clone(&counted));
    let (app, _log) = Scripted::on_message(move |_, turn| {
        seen += 1;
        if let Some(n) = [WARM_UP, WARM_UP + COUNTED].iter().position(|at| *at == seen) {
            thread[n].store(ALLOCATIONS.get(), Ordering::Relaxed);
        }
        let mut draft = turn.session().draft(MsgType::new(b"8"));
        draft.writer().bytes(Key::new(11), b"answer");
        draft.send().unwrap();
        Some(Ok(fixbolt::session::Delivery::Done))
    });
    let mut session = Acceptance::from(acceptor());
    session.tls = venue_tls;
    let venue = Engine::builder().accept(anywhere(), session).start(app).unwrap();
    let (app, log) = Recorder::trader();
    let mut session = Initiation::new(initiator(), "localhost", venue.addresses()[0].port());
    session.tls = trader_tls;
    let trader = Engine::builder().connect(session).start(app).unwrap();
    log.logged_on();
    let mut sender = trader.session(&initiator().id).unwrap().sender();
    for _ in 0..WARM_UP + COUNTED {
        let mut draft = sender.draft(MsgType::new(b"D"));
        draft.writer().bytes(Key::new(11), b"order");
        draft.send().unwrap();
        log.message();
    }
    trader.stop().unwrap();
    venue.stop().unwrap();
    counted[1].load(Ordering::Relaxed) - counted[0].load(Ordering::Relaxed)
}

#[test]
fn each_record_costs_the_allocations_that_are_stated_and_nothing_else_does() {
    let authority = Authority::new();
    let own = authority.issue("VENUE");
    let plain = allocations(None);
    for version in [TlsVersion::Tls12, TlsVersion::Tls13] {
        let mut tls = authority.tls_of(&own);
        tls.max_version = version;
        let with_tls = allocations(Some((tls, authority.tls())));
        let per_pair = (with_tls - plain) as f64 / COUNTED as f64;
        eprintln!("{version:?}: {per_pair:.3} allocations for a record in and one out; plain {plain} in all");
        assert!(per_pair <= PER_PAIR as f64 + 0.01, "{per_pair}");
    }
}
