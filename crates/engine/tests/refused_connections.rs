//! What the log says about a connection that is closed before its logon: the counterparty learns
//! nothing, the operator why.

mod support;

use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fixbolt::{Change, Engine};
use support::*;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Collects the log's lines.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, "{}={value:?} ", field.name()).unwrap();
    }
}

impl Subscriber for Lines {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[test]
fn the_log_names_the_session_that_a_refused_logon_asked_for_and_why_it_is_refused() {
    let lines = Lines::default();
    tracing::subscriber::set_global_default(lines.clone()).unwrap();
    let (app, _log) = Recorder::venue();
    let venue = Engine::builder().accept(anywhere(), acceptor()).start(app).unwrap();
    let session = venue.session(&acceptor().id).unwrap();
    let refused = |mut peer: Peer, asked: &str, reason: &str| {
        peer.send("A", "98=0|108=30");
        peer.closed_silently();
        let has = |line: &String| line.contains(&format!("session={asked} ")) && line.contains(reason);
        assert!(lines.0.lock().unwrap().iter().any(has), "{reason}: {:?}", lines.0.lock().unwrap());
    };
    let connect = || Peer::connect(venue.addresses()[0]);
    refused(
        connect().named("VENUE", "TRADER"),
        "FIX.4.4:TRADER->VENUE",
        "there is no such session at this address",
    );
    let mut logged_on = connect();
    logged_on.log_on();
    refused(connect(), "FIX.4.4:VENUE->TRADER", "the session is connected already");
    drop(logged_on);
    let change = Change::new("jane", "holiday");
    session.disable(change, "", Duration::from_secs(3600)).unwrap();
    refused(connect(), "FIX.4.4:VENUE->TRADER", "the session is disabled; enable it first");
    venue.stop().unwrap();
}
