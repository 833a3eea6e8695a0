//! Handles, senders and engines used where it is easy to go wrong: inside callbacks, from many
//! threads at once, while a session is removed or the engine stops, and with numbers at the ends of
//! their ranges.

use std::collections::HashSet;
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use crate::support::*;
use fixbolt::codec::{BodySink, Key, MsgType, NewBody, SeqNum};
use fixbolt::session::{ChangeError, OpenError, Role, SendError, SessionState, WhileLoggedOff};
use fixbolt::{
    Change, Engine, EngineError, Initiation, OperationError, PostError, Sender, SessionHandle, SettingsError,
};

/// Longer than any test takes.
const LONG: Duration = Duration::from_secs(3600);
const JANE: Change<'_> = Change::new("jane", "a test");

fn report<'s, S: NewBody<'s>>(
    sink: S,
    fill: usize,
) -> Result<<S::Draft as BodySink<'s>>::Receipt, <S::Draft as BodySink<'s>>::Error> {
    let mut draft = sink.draft(MsgType::new(b"8"));
    draft.writer().bytes(Key::new(11), b"report").bytes(Key::new(58), &vec![b'x'; fill + 1]);
    draft.send()
}

/// Runs it on a thread of its own; fails the test if it never returns.
fn returns<R: Send + 'static>(what: &str, run: impl FnOnce() -> R + Send + 'static) -> R {
    let (done, outcome) = channel();
    let thread = std::thread::spawn(move || done.send(run()));
    match outcome.recv_timeout(Duration::from_secs(20)) {
        Ok(result) => result,
        Err(RecvTimeoutError::Timeout) => panic!("{what} never returns"),
        Err(RecvTimeoutError::Disconnected) => {
            std::panic::resume_unwind(thread.join().expect_err("it has sent nothing"))
        }
    }
}

fn keeping(name: &str) -> fixbolt::session::SessionSettings {
    of(name, Role::Acceptor).with(|s| s.resend.while_logged_off = WhileLoggedOff::Keep)
}

/// Sends from several threads until `end` has made that impossible. Returns the accepted tickets.
fn send_until_refused(sender: &Sender, refused: &PostError, end: impl FnOnce()) -> Vec<u64> {
    let accepted = Mutex::new(Vec::new());
    let begun = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            let mut sender = sender.clone();
            let (accepted, begun) = (&accepted, &begun);
            scope.spawn(move || {
                let mut mine = Vec::new();
                loop {
                    match report(&mut sender, 10) {
                        Ok(ticket) => mine.push(ticket.number()),
                        Err(PostError::Full) => std::thread::yield_now(),
                        Err(error) => {
                            assert_eq!(error, *refused);
                            break;
                        }
                    }
                    begun.store(true, Ordering::Relaxed);
                }
                accepted.lock().unwrap().extend(mine);
            });
        }
        while !begun.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        end();
    });
    accepted.into_inner().unwrap()
}

/// Every accepted ticket was reported once, and nothing else was.
fn all_reported(log: &Log, accepted: Vec<u64>) {
    let mut open: HashSet<u64> = accepted.iter().copied().collect();
    assert_eq!(open.len(), accepted.len());
    while let Some(seen) = log.now() {
        if let Seen::Sent(ticket, _) | Seen::NotSent(ticket, _) = seen {
            assert!(open.remove(&ticket), "ticket {ticket} was refused, and reported");
        }
    }
    assert!(open.is_empty(), "never reported: {open:?}");
}

#[test]
fn every_ticket_is_reported_when_its_session_is_removed() {
    let (app, log) = Recorder::venue();
    let venue = Engine::builder().accept(anywhere(), acceptor()).start(app).unwrap();
    let address = venue.addresses()[0];
    for n in 0..60 {
        let session = venue.accept(address, keeping(&format!("FIX.4.4:VENUE->T{n}")), LIMIT).unwrap();
        let sender = session.sender();
        let accepted =
            send_until_refused(&sender, &PostError::NoSession, || session.remove(JANE, LIMIT).unwrap());
        all_reported(&log, accepted);
    }
    venue.stop().unwrap();
}

#[test]
fn every_ticket_is_reported_when_the_engine_stops_and_no_refused_message_is_sent() {
    for _ in 0..60 {
        let (app, log) = Recorder::venue();
        let venue = Engine::builder().accept(anywhere(), keeping("FIX.4.4:VENUE->T")).start(app).unwrap();
        let sender = venue.session(&id("FIX.4.4:VENUE->T")).unwrap().sender();
        let accepted = send_until_refused(&sender, &PostError::Stopped, || drop(venue.stop().unwrap()));
        all_reported(&log, accepted);
    }
}

#[test]
fn a_removed_session_takes_nothing_of_the_budget_although_its_senders_live() {
    let (app, _log) = Recorder::venue();
    // Room for two sessions with messages, and no more.
    let venue =
        Engine::builder().accept(anywhere(), acceptor()).outbound_queue_budget(64 * 1024).start(app).unwrap();
    let mut senders = Vec::new();
    for n in 0..20 {
        let settings = keeping(&format!("FIX.4.4:VENUE->T{n}"));
        let session = venue.accept(venue.addresses()[0], settings, LIMIT).unwrap();
        let mut sender = session.sender();
        report(sender.within(LONG), 100).unwrap();
        senders.push(sender);
        session.remove(JANE, LIMIT).unwrap();
    }
    venue.stop().unwrap();
}

#[test]
fn a_callback_may_ask_the_engine_for_its_addresses_while_a_session_is_added() {
    let engine: Arc<OnceLock<Engine<Scripted>>> = Arc::default();
    let seen: Arc<Mutex<Vec<SocketAddr>>> = Arc::default();
    let errors: Arc<Mutex<Vec<EngineError>>> = Arc::default();
    let (mut app, _log) = Scripted::venue();
    app.resume = {
        let (engine, seen, errors) = (Arc::clone(&engine), Arc::clone(&seen), Arc::clone(&errors));
        Box::new(move || {
            if let Some(engine) = engine.get() {
                *seen.lock().unwrap() = engine.addresses();
                let other = of("FIX.4.4:VENUE->OTHER", Role::Acceptor);
                errors.lock().unwrap().extend(engine.accept(anywhere(), other, LIMIT).err());
            }
        })
    };
    let venue = Engine::builder().accept(anywhere(), acceptor()).start(app).unwrap();
    let address = venue.addresses()[0];
    assert!(engine.set(venue).is_ok());
    let adding = Arc::clone(&engine);
    returns("accept", move || {
        adding.get().unwrap().accept(address, of("FIX.4.4:VENUE->NEW", Role::Acceptor), LIMIT).map(drop)
    })
    .unwrap();
    assert_eq!(*seen.lock().unwrap(), [address]);
    assert_eq!(*errors.lock().unwrap(), [EngineError::OwnThread]);
    engine.get().unwrap().stopper().stop();
}

#[test]
fn a_callback_of_one_worker_does_not_wait_for_another_worker() {
    let handles: Arc<OnceLock<[SessionHandle; 2]>> = Arc::default();
    let outcomes: Arc<Mutex<Vec<Result<(), OperationError>>>> = Arc::default();
    let both = Arc::new(std::sync::Barrier::new(2));
    let app = |worker: usize| {
        let (handles, outcomes, both) = (Arc::clone(&handles), Arc::clone(&outcomes), Arc::clone(&both));
        Scripted::on_message(move |_, _| {
            // Each would wait for the other one.
            both.wait();
            let outcome = handles.get().unwrap()[1 - worker].send_test_request(LIMIT);
            outcomes.lock().unwrap().push(outcome);
            None
        })
        .0
    };
    let named = |name: &str| of(&format!("FIX.4.4:VENUE->{name}"), Role::Acceptor);
    let local = |n: u8| SocketAddr::from(([127, 0, 0, n], 0));
    let venue = Engine::builder()
        .accept(local(1), named("A"))
        .accept(local(2), named("B"))
        .start_with(2, app)
        .unwrap();
    let known = ["A", "B"].map(|name| venue.session(&named(name).id).unwrap());
    assert!(handles.set(known).is_ok());
    let mut peers = [(0, "A"), (1, "B")].map(|(address, name)| {
        let mut peer = Peer::connect(venue.addresses()[address]).named(name, "VENUE");
        peer.log_on();
        peer
    });
    for peer in &mut peers {
        peer.send("D", "11=ord1");
    }
    for peer in &mut peers {
        assert!(peer.receive().contains("|11=ord1|"));
    }
    let refused = || Err(OperationError::OwnThread);
    assert_eq!(*outcomes.lock().unwrap(), [refused(), refused()]);
    drop(venue);
}

/// Starts an engine whose application finds it in `engine`, and sends an order, at which the
/// application ends it: the order is processed, then the session logs out.
fn ended_by_its_own_callback(
    engine: &Mutex<Option<Engine<Scripted>>>,
    app: Scripted,
    log: &Log,
) -> SessionHandle {
    let venue = Engine::builder().accept(anywhere(), acceptor()).start(app).unwrap();
    let address = venue.addresses()[0];
    let session = venue.session(&acceptor().id).unwrap();
    *engine.lock().unwrap() = Some(venue);
    let mut peer = Peer::connect(address);
    peer.log_on();
    peer.send("D", "11=ord1");
    assert!(peer.receive().contains("|11=ord1|"), "the message is processed");
    assert!(peer.receive().contains("|35=5|"));
    peer.send("5", "");
    assert_eq!(log.ended(), "LoggedOutByUs");
    session
}

#[test]
fn an_engine_that_is_stopped_in_a_callback_says_so_and_ends() {
    let engine: Arc<Mutex<Option<Engine<Scripted>>>> = Arc::default();
    let outcome: Arc<Mutex<Option<EngineError>>> = Arc::default();
    let (held, told) = (Arc::clone(&engine), Arc::clone(&outcome));
    let (app, log) = Scripted::on_message(move |_, _| {
        if let Some(engine) = held.lock().unwrap().take() {
            *told.lock().unwrap() = engine.stop().map(drop).err();
        }
        None
    });
    let session = ended_by_its_own_callback(&engine, app, &log);
    assert_eq!(outcome.lock().unwrap().take(), Some(EngineError::OwnThread));
    eventually(|| session.state() == SessionState::Closed);
}

#[test]
fn an_engine_that_is_dropped_in_a_callback_logs_out_and_ends() {
    let engine: Arc<Mutex<Option<Engine<Scripted>>>> = Arc::default();
    let held = Arc::clone(&engine);
    let (app, log) = Scripted::on_message(move |_, _| {
        drop(held.lock().unwrap().take());
        None
    });
    let session = ended_by_its_own_callback(&engine, app, &log);
    eventually(|| session.state() == SessionState::Closed);
}

#[test]
fn a_sender_does_not_wait_for_room_that_only_its_own_thread_can_make() {
    let handle: Arc<OnceLock<SessionHandle>> = Arc::default();
    let known = Arc::clone(&handle);
    let (app, log) = Scripted::on_message(move |_, _| {
        let mut sender = known.get().unwrap().sender();
        let error = (0..).find_map(|_| report(sender.within(LONG), 4000).err());
        assert_eq!(error, Some(PostError::Full));
        None
    });
    let settings = acceptor().with(|s| s.limits.max_message_size = 8 * 1024);
    let venue =
        Engine::builder().accept(anywhere(), settings).outbound_queue_size(64 * 1024).start(app).unwrap();
    assert!(handle.set(venue.session(&acceptor().id).unwrap()).is_ok());
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    peer.send("D", "11=ord1");
    assert_eq!(log.message(), "ord1");
    drop(peer);
    drop(venue);
}

#[test]
fn an_address_is_free_again_if_its_session_could_not_be_added() {
    let (app, _log) = Recorder::venue();
    let venue = Engine::builder().accept(anywhere(), acceptor()).start(app).unwrap();
    let free = TcpListener::bind(anywhere()).unwrap().local_addr().unwrap();
    let twice = venue.accept(free, acceptor(), LIMIT).unwrap_err();
    assert!(matches!(twice, EngineError::Open { error: OpenError::AlreadyOpen, .. }), "{twice}");
    assert_eq!(venue.addresses().len(), 1);
    TcpListener::bind(free).expect("nobody listens there");
    venue.stop().unwrap();
}

#[test]
fn an_address_that_was_in_use_can_be_added_later() {
    let (app, _log) = Recorder::venue();
    let venue = Engine::builder().accept(anywhere(), acceptor()).start(app).unwrap();
    let taken = TcpListener::bind(anywhere()).unwrap();
    let address = taken.local_addr().unwrap();
    let other = || of("FIX.4.4:VENUE->OTHER", Role::Acceptor);
    let refused = venue.accept(address, other(), LIMIT).unwrap_err();
    assert!(matches!(refused, EngineError::Listen { .. }), "{refused}");
    drop(taken);
    venue.accept(address, other(), LIMIT).unwrap();
    let mut peer = Peer::connect(address).named("OTHER", "VENUE");
    peer.log_on();
    venue.stop().unwrap();
}

#[test]
fn an_initiator_that_is_enabled_while_it_logs_out_connects_when_it_has() {
    let listener = TcpListener::bind(anywhere()).unwrap();
    let (app, log) = Recorder::trader();
    let mut initiation = Initiation::new(initiator(), "127.0.0.1", listener.local_addr().unwrap().port());
    initiation.reconnect_interval = LONG;
    let trader = Engine::builder().connect(initiation).start(app).unwrap();
    let session = trader.session(&initiator().id).unwrap();
    let mut first = Peer::on(listener.accept().unwrap().0).named("VENUE", "TRADER");
    assert!(first.receive().contains("|35=A|"));
    first.send("A", "98=0|108=30");
    log.logged_on();
    assert_eq!(begun(|| session.disable(JANE, "", AT_ONCE)), Err(OperationError::TimedOut));
    assert!(first.receive().contains("|35=5|"));
    session.enable(JANE, LIMIT).unwrap();
    first.send("5", "");
    assert_eq!(log.ended(), "LoggedOutByUs");
    drop(first);
    let (done, outcome) = channel();
    std::thread::spawn(move || done.send(listener.accept().map(drop)));
    outcome.recv_timeout(Duration::from_secs(20)).expect("it should connect at once").unwrap();
    drop(trader);
}

#[test]
fn limits_without_end_are_no_limits() {
    let (app, _log) = Recorder::venue();
    let settings = acceptor().with(|s| s.timing.logout_timeout = Duration::MAX);
    let venue = Engine::builder()
        .accept(anywhere(), settings)
        .outbound_queue_size(usize::MAX)
        .max_sessions(usize::MAX)
        .max_pending_connections(usize::MAX)
        .pending_time(Duration::MAX)
        .start(app)
        .unwrap();
    let session = venue.session(&acceptor().id).unwrap();
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    report(session.sender().within(Duration::MAX), 10).unwrap();
    assert!(peer.receive().contains("|11=report|"));
    let waiting = {
        let session = session.clone();
        std::thread::spawn(move || session.log_out(JANE, "", Duration::MAX))
    };
    assert!(peer.receive().contains("|35=5|"));
    peer.send("5", "");
    drop(peer);
    waiting.join().unwrap().unwrap();
    venue.stop().unwrap();
}

#[test]
fn an_initiator_that_would_never_rest_is_refused() {
    type Change = fn(&mut Initiation);
    let changes: [(&str, Change); 2] = [
        ("reconnect_interval", |initiation| initiation.reconnect_interval = Duration::ZERO),
        ("socket_connect_timeout", |initiation| initiation.socket_connect_timeout = Duration::ZERO),
    ];
    for (field, change) in changes {
        let mut initiation = Initiation::new(initiator(), "127.0.0.1", 1);
        change(&mut initiation);
        let refused = Engine::builder().connect(initiation).start(Recorder::trader().0).unwrap_err();
        let EngineError::Settings { error, .. } = &refused else { panic!("{refused}") };
        let least = Duration::from_millis(1);
        assert_eq!(*error, SettingsError::TooShort { field, least, found: Duration::ZERO });
        assert!(refused.to_string().ends_with(&format!(": {field} must be at least 1 ms")), "{refused}");
    }
}

#[test]
fn what_an_operator_writes_cannot_add_fields_or_halt_the_session() {
    let scratch = Scratch::new("handles");
    let (app, _log) = Recorder::venue();
    let venue = Engine::builder().accept(anywhere(), acceptor()).journal(&scratch.0).start(app).unwrap();
    let session = venue.session(&acceptor().id).unwrap();
    let longest = "x".repeat(Change::MAX_SIZE - 4);
    session.set_numbers(Change::new("jane", &longest), Some(SeqNum(2)), None, LIMIT).unwrap();
    let longer = "x".repeat(Change::MAX_SIZE - 3);
    let refused = session.set_numbers(Change::new("jane", &longer), Some(SeqNum(3)), None, LIMIT);
    assert_eq!(refused, Err(OperationError::ChangeTooLong { most: 4096, found: 4097 }));
    session.set_numbers(JANE, Some(SeqNum(1)), None, LIMIT).unwrap();
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    let refused = session.log_out(JANE, "bye\u{1}35=D", LONG);
    assert!(
        matches!(refused, Err(OperationError::Refused(ChangeError::Send(SendError::Encode(_))))),
        "{refused:?}"
    );
    assert_eq!(session.state(), SessionState::LoggedOn);
    venue.stop().unwrap();
}

#[test]
fn handles_of_many_threads_get_an_answer_while_sessions_come_and_go() {
    let (app, _log) = Recorder::venue();
    let venue = Engine::builder().accept(anywhere(), acceptor()).start(app).unwrap();
    let address = venue.addresses()[0];
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (venue, done) = (&venue, &done);
        for n in 0..3 {
            scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    let settings = of(&format!("FIX.4.4:VENUE->T{}", n % 2), Role::Acceptor);
                    let session = match venue.accept(address, settings.clone(), LIMIT) {
                        Ok(session) => session,
                        // Another thread has it.
                        Err(_) => match venue.session(&settings.id) {
                            Some(session) => session,
                            None => continue,
                        },
                    };
                    for outcome in [
                        session.set_numbers(JANE, Some(SeqNum(5)), None, LIMIT),
                        session.disable(JANE, "", LONG),
                        session.enable(JANE, LIMIT),
                        session.reset(JANE, LIMIT),
                        session.remove(JANE, LIMIT),
                    ] {
                        assert!(matches!(outcome, Ok(()) | Err(OperationError::NoSession)), "{outcome:?}");
                    }
                }
            });
        }
        std::thread::sleep(Duration::from_millis(300));
        done.store(true, Ordering::Relaxed);
    });
    venue.stop().unwrap();
}

#[test]
fn a_panic_in_the_factory_of_applications_leaves_nothing_behind() {
    let scratch = Scratch::new("factory");
    let build = || {
        let other = of("FIX.4.4:VENUE->OTHER", Role::Acceptor);
        Engine::builder()
            .accept(anywhere(), acceptor())
            .accept("127.0.0.2:0".parse().unwrap(), other)
            .journal(&scratch.0)
    };
    let panicked = std::panic::catch_unwind(|| {
        build().start_with(2, |worker| {
            assert_eq!(worker, 0, "the second application cannot be made");
            Recorder::venue().0
        })
    });
    assert!(panicked.is_err());
    let venue = build().start_with(2, |_| Recorder::venue().0).expect("the journals are free");
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    peer.send("D", "11=ord1");
    assert!(peer.receive().contains("|11=ord1|"));
    drop(venue);
}
