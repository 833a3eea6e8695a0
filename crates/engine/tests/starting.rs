//! Which mistakes keep an engine that is built in code from starting, and which do not.

mod support;

use fixbolt::codec::Version;
use fixbolt::session::{Role, SessionDictionary, SessionId, SessionSettings};
use fixbolt::{Acceptance, Engine, EngineBuilder, EngineError, Initiation};
use support::*;

fn refused(builder: EngineBuilder) -> String {
    let (app, _) = Recorder::venue();
    builder.start(app).unwrap_err().to_string()
}

#[test]
fn a_session_that_cannot_be_opened_stops_the_start_with_an_error_that_names_it() {
    let id = SessionId::new(Version::Fixt11, "VENUE", "TRADER").unwrap();
    let old = SessionSettings::new(id, Role::Acceptor);
    assert_eq!(
        refused(Engine::builder().accept(anywhere(), old)),
        "session FIXT.1.1:VENUE->TRADER: a session of FIXT.1.1 needs DefaultApplVerID, the version of its messages: FIX.5.0SP2 for example"
    );
    assert_eq!(
        refused(Engine::builder().accept(anywhere(), acceptor()).accept(anywhere(), acceptor())),
        "session FIX.4.4:VENUE->TRADER: it is configured twice"
    );
    let mut nowhere = Initiation::new(initiator(), "localhost", 1);
    nowhere.hosts.clear();
    assert_eq!(
        refused(Engine::builder().connect(nowhere)),
        "session FIX.4.4:TRADER->VENUE: there is no host to connect to; add one to Initiation::hosts"
    );
    assert_eq!(
        refused(Engine::builder().connect(Initiation::new(acceptor(), "localhost", 1))),
        "session FIX.4.4:VENUE->TRADER: it is added with `connect`, but its role is acceptor"
    );
}

#[test]
fn a_session_validates_with_the_shipped_dictionary_by_default() {
    for (dictionary, answer) in [(SessionDictionary::Shipped, "35=3"), (SessionDictionary::None, "35=8")] {
        let settings = acceptor().with(|s| s.dictionary = dictionary);
        let (app, _log) = Recorder::venue();
        let engine = Engine::builder().accept(anywhere(), settings).start(app).unwrap();
        let mut peer = Peer::connect(engine.addresses()[0]);
        peer.log_on();
        // An order without its required fields.
        peer.send("D", "11=ord1");
        let received = peer.receive();
        assert!(received.contains(&format!("|{answer}|")), "{received}");
        engine.stop().unwrap();
    }
}

#[test]
fn a_template_refuses_a_counterparty_whose_session_cannot_be_opened() {
    let (app, _log) = Recorder::venue();
    let wrong = |id: &SessionId| {
        let settings = acceptor().with(|s| {
            s.id = id.clone();
            s.limits.max_message_size = 1;
        });
        Some(Acceptance::from(settings))
    };
    let engine = Engine::builder().accept_any(anywhere(), wrong).start(app).unwrap();
    let mut peer = Peer::connect(engine.addresses()[0]);
    peer.send("A", "98=0|108=30");
    peer.closed_silently();
    engine.stop().unwrap();
}

#[test]
fn an_engine_that_keeps_going_omits_sessions_that_cannot_be_opened() {
    let (app, _log) = Recorder::venue();
    let first = Engine::builder().accept(anywhere(), acceptor()).start(app).unwrap();
    let taken = first.addresses()[0];
    let mut nowhere = Initiation::new(initiator(), "localhost", 1);
    nowhere.hosts.clear();
    let both = || {
        let other = of("FIX.4.4:VENUE->OTHER", Role::Acceptor);
        Engine::builder().accept(taken, acceptor()).accept(anywhere(), other).connect(nowhere.clone())
    };
    assert!(both().start(Recorder::venue().0).is_err());
    let (app, _log) = Recorder::venue();
    let engine = both().continue_initialization_on_error(true).start(app).unwrap();
    assert_eq!(engine.addresses().len(), 1);
    assert!(engine.session(&id("FIX.4.4:VENUE->OTHER")).is_some());
    assert!(engine.session(&id("FIX.4.4:VENUE->TRADER")).is_none());
    let none = Engine::builder()
        .accept(taken, acceptor())
        .continue_initialization_on_error(true)
        .start(Recorder::venue().0);
    assert!(matches!(none, Err(EngineError::NoSessions)));
    engine.stop().unwrap();
    first.stop().unwrap();
}

#[test]
fn an_address_whose_only_session_cannot_be_opened_is_not_listened_on() {
    let scratch = Scratch::new("not-listened-on");
    let (app, _log) = Recorder::venue();
    let first = Engine::builder().accept(anywhere(), acceptor()).journal(&scratch.0).start(app).unwrap();
    let other = of("FIX.4.4:VENUE->OTHER", Role::Acceptor);
    let (app, _log) = Recorder::venue();
    // The journal of the first session is held by the first engine.
    let second = Engine::builder()
        .accept("127.0.0.2:0".parse().unwrap(), acceptor())
        .accept(anywhere(), other)
        .journal(&scratch.0)
        .continue_initialization_on_error(true)
        .start(app)
        .unwrap();
    let [address] = second.addresses()[..] else { panic!("{:?}", second.addresses()) };
    assert_eq!(address.ip(), anywhere().ip());
    Peer::connect(address).named("OTHER", "VENUE").log_on();
    second.stop().unwrap();
    first.stop().unwrap();
}
