//! The message log of an engine, beside an observer.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use fixbolt::config::Configuration;
use fixbolt::session::{WireMessage, WireObserver};
use fixbolt::{Engine, EngineBuilder};
use support::*;

#[derive(Default)]
struct Counter(AtomicUsize);

impl WireObserver for Counter {
    fn on_wire(&self, _: &WireMessage<'_>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn a_configurations_message_log_has_each_message_and_an_observer_sees_them_too() {
    let scratch = Scratch::new("message-log");
    let directory = scratch.0.join("log");
    let text = format!(
        "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=0\nFileLogPath={}\nUseDataDictionary=N\n\
         [SESSION]\nBeginString=FIX.4.4\nSenderCompID=VENUE\nTargetCompID=TRADER\n",
        directory.display()
    );
    let configuration = Configuration::from_text("venue.cfg", &text).unwrap();
    assert!(configuration.warnings.is_empty(), "{:?}", configuration.warnings);
    let counter = Arc::new(Counter::default());
    let (app, _log) = Recorder::venue();
    let builder = EngineBuilder::from_config(&configuration);
    let venue = builder.observe(Arc::clone(&counter) as _).start(app).unwrap();
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    for n in 0..500 {
        peer.send("D", &format!("11=order {n}"));
        peer.receive();
    }
    drop(peer);
    venue.stop().unwrap();
    let text = std::fs::read_to_string(directory.join("FIX.4.4-VENUE-TRADER.messages.log")).unwrap();
    // The venue sends a Logout if it is stopped before it notices that the trader has gone.
    assert_eq!(text.lines().filter(|line| !line.contains("\u{1}35=5\u{1}")).count(), 1002);
    assert_eq!(counter.0.load(Ordering::SeqCst), text.lines().count());
    let orders = text.lines().filter(|line| line.contains("\u{1}35=D\u{1}"));
    for (n, line) in orders.enumerate() {
        assert!(line.contains(&format!("\u{1}11=order {n}\u{1}")), "{line}");
    }
}

#[test]
fn a_message_log_that_cannot_be_written_stops_the_start_and_says_where() {
    let scratch = Scratch::new("message-log-refused");
    let file = scratch.0.join("file");
    std::fs::write(&file, "").unwrap();
    let (app, _log) = Recorder::venue();
    let error = Engine::builder().accept(anywhere(), acceptor()).message_log(&file).start(app).unwrap_err();
    let said = format!("starting the message log: {}: ", file.display());
    assert!(error.to_string().starts_with(&said), "{error}");
}

/// Fails at each warning that lines were dropped, and counts them.
struct Failing(Arc<AtomicUsize>);

impl tracing::Subscriber for Failing {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.name() == "message_log_dropped"
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, _: &tracing::Event<'_>) {
        self.0.fetch_add(1, Ordering::SeqCst);
        panic!("the subscriber fails");
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

#[test]
fn a_subscriber_that_panics_at_a_warning_does_not_end_the_message_log() {
    let scratch = Scratch::new("message-log-panic");
    let warnings = Arc::new(AtomicUsize::new(0));
    tracing::subscriber::set_global_default(Failing(Arc::clone(&warnings))).unwrap();
    // A file cannot be opened where there is a directory.
    let file = scratch.0.join("FIX.4.4-VENUE-TRADER.messages.log");
    std::fs::create_dir_all(&file).unwrap();
    let (app, _log) = Recorder::venue();
    let venue = Engine::builder().accept(anywhere(), acceptor()).message_log(&scratch.0).start(app).unwrap();
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    eventually(|| warnings.load(Ordering::SeqCst) > 0);
    std::fs::remove_dir(&file).unwrap();
    eventually(|| {
        peer.send("D", "11=again");
        peer.receive();
        std::fs::read_to_string(&file).is_ok_and(|text| text.contains("11=again"))
    });
    drop(peer);
    venue.stop().unwrap();
}
