//! What the log says about a connection that is closed before its logon: the counterparty learns
//! nothing, the operator why.

mod support;

use std::time::Duration;

use fixbolt::{Change, Engine};
use support::lines::Lines;
use support::*;

#[test]
fn the_log_names_the_session_that_a_refused_logon_asked_for_and_why_it_is_refused() {
    let lines = Lines::collect();
    let (app, _log) = Recorder::venue();
    let venue = Engine::builder().accept(anywhere(), acceptor()).start(app).unwrap();
    let session = venue.session(&acceptor().id).unwrap();
    let refused = |mut peer: Peer, asked: &str, reason: &str| {
        peer.send("A", "98=0|108=30");
        peer.closed_silently();
        let told = lines.with(&[format!("session={asked} ").as_str(), reason]);
        assert!(!told.is_empty(), "{reason}: {:?}", lines.with(&[]));
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

    let (app, _log) = Recorder::venue();
    let venue = Engine::builder()
        .accept(anywhere(), acceptor())
        .pending_time(Duration::from_millis(50))
        .start(app)
        .unwrap();
    let mut silent = Peer::connect(venue.addresses()[0]);
    silent.closed_silently();
    venue.stop().unwrap();
    let told = lines.with(&["no Logon arrived in time (LogonTimeout)", "closed before logon"]);
    assert_eq!(told.len(), 1, "{:?}", lines.with(&[]));
}
