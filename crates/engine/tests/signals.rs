//! A signal stops the engine as `stop` does. This test has a process of its own, because a signal
//! affects the whole process.

mod support;

use std::time::Duration;

use fixbolt::Engine;
use support::*;

#[test]
fn sigterm_logs_out_and_ends_the_engine() {
    let (app, log) = Recorder::venue();
    let venue = Engine::builder().accept(anywhere(), acceptor()).start(app).unwrap();
    venue.stop_on_signals().unwrap();
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    assert!(!venue.wait_for(Duration::ZERO));
    signal_hook::low_level::raise(signal_hook::consts::SIGTERM).unwrap();
    assert!(peer.receive().contains("|35=5|"));
    // It is running until it has logged out.
    assert!(!venue.wait_for(Duration::ZERO) && venue.is_running());
    peer.send("5", "");
    assert_eq!(peer.try_receive(), None);
    drop(peer);
    assert!(venue.wait_for(LIMIT) && !venue.is_running());
    venue.wait().unwrap();
    assert_eq!(log.ended(), "LoggedOutByUs");
}
