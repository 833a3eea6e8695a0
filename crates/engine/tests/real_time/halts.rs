//! Every kind of halt can be ended without a restart, and the other sessions continue meanwhile.

use std::io::Write;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::*;
use fixbolt::codec::{BodySink, Key, MsgType, NewBody, Tag};
use fixbolt::session::{
    Failure, Halt, OpenError, Role, SendError, SessionId, SessionKey, SessionSettings, WhileLoggedOff,
};
use fixbolt::store::StoreError;
use fixbolt::{Change, Engine, EngineBuilder, Initiation, OperationError, Sender};

/// The author and reason of a resumption.
const DESK: Change<'_> = Change::new("desk", "repaired");

fn resume<A>(engine: &Engine<A>, session: &SessionId) -> Result<(), OperationError> {
    engine.session(session).expect("the session is there").resume(DESK, LIMIT)
}

fn bystander() -> SessionSettings {
    of("FIX.4.4:VENUE->OTHER", Role::Acceptor)
}

fn full() -> StoreError {
    StoreError::Full { place: "test disk".to_owned() }
}

/// The session under test and another one, with a store that the test controls.
fn steered(settings: SessionSettings) -> (EngineBuilder, Arc<Steering>) {
    let (store, steering) = steered_store();
    let builder = Engine::builder().accept(anywhere(), settings).accept(anywhere(), bystander());
    (builder.store(Box::new(store)), steering)
}

/// A counterparty whose session continues whatever happens to the other one.
fn other(engine: &Engine<Scripted>) -> Peer {
    let mut peer = Peer::connect(engine.addresses()[0]).named("OTHER", "VENUE");
    peer.log_on();
    peer
}

fn goes_on(peer: &mut Peer) {
    peer.send("D", "11=fine");
    assert!(peer.receive().contains("|11=fine|"));
}

fn order(sender: &mut Sender, cl_ord_id: &str) {
    let mut draft = sender.draft(MsgType::new(b"D"));
    draft.writer().bytes(Key::new(11), cl_ord_id.as_bytes());
    draft.send().unwrap();
}

fn resumed(log: &Log) {
    log.wait(|seen| *seen == Seen::Other("Resumed".to_owned()));
}

/// Checks that the loop waits for events instead of spinning.
fn rests<A>(engine: &Engine<A>) {
    let cycles = engine.cycles()[0];
    std::thread::sleep(Duration::from_millis(500));
    let cycles = engine.cycles()[0] - cycles;
    assert!(cycles < 50, "{cycles} cycles in half a second");
}

fn without_noise<R>(act: impl FnOnce() -> R) -> R {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let result = act();
    std::panic::set_hook(hook);
    result
}

#[test]
fn a_session_whose_store_refused_a_record_continues_once_the_store_works_again() {
    let (builder, steering) = steered(acceptor());
    let (app, log) = Scripted::venue();
    let venue = builder.start(app).unwrap();
    let mut bystander = other(&venue);
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    goes_on(&mut peer);
    steering.refuse(&acceptor().id);
    peer.send("D", "11=lost");
    assert_eq!(peer.try_receive(), None);
    assert!(log.ended().contains("StoreFailed"));
    goes_on(&mut bystander);
    assert_eq!(resume(&venue, &acceptor().id), Err(OperationError::Store(OpenError::Store(full()))));
    let mut refused = Peer::connect(venue.addresses()[0]);
    refused.seq = 3;
    refused.send("A", "98=0|108=30");
    refused.closed_silently();
    goes_on(&mut bystander);
    rests(&venue);
    steering.allow();
    assert_eq!(resume(&venue, &acceptor().id), Ok(()));
    resumed(&log);
    assert_eq!(resume(&venue, &acceptor().id), Ok(()), "it is not halted: there is nothing to do");
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.seq = 3;
    peer.log_on();
    goes_on(&mut peer);
    goes_on(&mut bystander);
    venue.stop().unwrap();
}

#[test]
fn a_store_that_refused_a_record_is_retried_automatically() {
    let (builder, steering) = steered(acceptor());
    let (app, log) = Scripted::venue();
    let venue = builder.start(app).unwrap();
    let mut bystander = other(&venue);
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    steering.refuse(&acceptor().id);
    peer.send("D", "11=lost");
    assert!(log.ended().contains("StoreFailed"));
    steering.allow();
    resumed(&log);
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.seq = 2;
    peer.log_on();
    goes_on(&mut peer);
    goes_on(&mut bystander);
    rests(&venue);
    venue.stop().unwrap();
}

#[test]
fn a_store_that_keeps_refusing_is_retried_again_and_again() {
    let (builder, steering) = steered(acceptor());
    let (app, log) = Scripted::venue();
    let venue = builder.start(app).unwrap();
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    steering.refuse(&acceptor().id);
    peer.send("D", "11=lost");
    assert!(log.ended().contains("StoreFailed"));
    // It still refuses at the first retry.
    let cycles = venue.cycles()[0];
    std::thread::sleep(Duration::from_millis(1500));
    assert!(venue.cycles()[0] - cycles < 100, "the loop spins");
    steering.allow();
    resumed(&log);
    venue.stop().unwrap();
}

#[test]
fn an_initiator_whose_store_refused_connects_again_by_itself() {
    let (app, _venue_log) = Recorder::venue();
    let venue = Engine::builder().accept(anywhere(), acceptor()).start(app).unwrap();
    let (store, steering) = steered_store();
    let (app, log) = Recorder::trader();
    let mut session = Initiation::new(initiator(), "127.0.0.1", venue.addresses()[0].port());
    session.reconnect_interval = Duration::from_millis(20);
    let trader = Engine::builder().connect(session).store(Box::new(store)).start(app).unwrap();
    log.logged_on();
    steering.refuse(&initiator().id);
    let mut sender = trader.session(&initiator().id).unwrap().sender();
    order(&mut sender, "lost");
    assert_eq!(log.next(), Seen::NotSent(1, SendError::Store(full()).to_string()));
    assert!(log.ended().contains("StoreFailed"));
    steering.allow();
    resumed(&log);
    log.logged_on();
    order(&mut sender, "next");
    assert_eq!(log.message(), "next");
    trader.stop().unwrap();
    venue.stop().unwrap();
}

#[test]
fn a_store_that_fails_by_itself_ends_the_connection_and_is_tried_again() {
    let (builder, steering) = steered(acceptor());
    let (app, log) = Scripted::venue();
    let venue = builder.start(app).unwrap();
    let mut bystander = other(&venue);
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.send("A", "98=0|108=0");
    assert!(peer.receive().contains("|35=A|"));
    steering.fail(&acceptor().id);
    assert_eq!(peer.try_receive(), None);
    assert!(log.ended().contains("StoreFailed"));
    resumed(&log);
    goes_on(&mut bystander);
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.seq = 2;
    peer.log_on();
    goes_on(&mut peer);
    venue.stop().unwrap();
}

#[test]
fn a_store_that_fails_without_a_connection_is_retried_too() {
    let (builder, steering) = steered(acceptor());
    let (app, log) = Scripted::venue();
    let venue = builder.start(app).unwrap();
    steering.fail(&acceptor().id);
    log.wait(|seen| matches!(seen, Seen::Other(text) if text.contains("the store failed")));
    resumed(&log);
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    goes_on(&mut peer);
    rests(&venue);
    venue.stop().unwrap();
}

#[test]
fn a_message_of_another_thread_that_the_store_refuses_ends_the_connection_at_once() {
    let (builder, steering) = steered(acceptor());
    let (app, log) = Scripted::venue();
    let venue = builder.start(app).unwrap();
    let mut peer = Peer::connect(venue.addresses()[0]);
    // No heartbeat wakes the session.
    peer.send("A", "98=0|108=0");
    assert!(peer.receive().contains("|35=A|"));
    log.logged_on();
    steering.refuse(&acceptor().id);
    order(&mut venue.session(&acceptor().id).unwrap().sender(), "lost");
    assert_eq!(log.next(), Seen::NotSent(1, SendError::Store(full()).to_string()));
    assert_eq!(peer.try_receive(), None);
    assert!(log.ended().contains("StoreFailed"));
    steering.allow();
    resumed(&log);
    venue.stop().unwrap();
}

#[test]
fn a_message_kept_while_logged_off_that_the_store_refuses_does_not_halt_the_session_for_good() {
    let mut settings = acceptor();
    settings.resend.while_logged_off = WhileLoggedOff::Keep;
    let (builder, steering) = steered(settings);
    let (app, log) = Scripted::venue();
    let venue = builder.start(app).unwrap();
    steering.refuse(&acceptor().id);
    for _ in ["this session", "the bystander"] {
        assert_eq!(log.next(), Seen::Other("NewStore".to_owned()));
    }
    order(&mut venue.session(&acceptor().id).unwrap().sender(), "lost");
    assert_eq!(log.next(), Seen::NotSent(1, SendError::Store(full()).to_string()));
    steering.allow();
    resumed(&log);
    venue.stop().unwrap();
}

#[test]
fn a_session_whose_store_refuses_in_another_sessions_turn_is_ended_and_goes_on_later() {
    let (builder, steering) = steered(acceptor());
    let mut target: Option<SessionKey> = None;
    // An order of the bystander is passed on to the session that logged on first.
    let (app, log) = Scripted::on_message(move |message, turn| {
        let Some(key) = target else {
            target = Some(turn.key());
            return None;
        };
        if turn.key() == key || message.get(Tag::new(11)) != Some(b"pass on") {
            return None;
        }
        if let Some(handle) = turn.to(key) {
            let mut draft = handle.draft(MsgType::new(b"D"));
            draft.writer().bytes(Key::new(11), b"passed on");
            match draft.send() {
                // That session cannot be reached, but the order is still answered.
                Ok(_) | Err(SendError::Unavailable) => {}
                Err(error) => return Some(Err(error.into())),
            }
        }
        None
    });
    let venue = builder.start(app).unwrap();
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.send("A", "98=0|108=0");
    assert!(peer.receive().contains("|35=A|"));
    goes_on(&mut peer);
    let mut bystander = other(&venue);
    steering.refuse(&acceptor().id);
    bystander.send("D", "11=pass on");
    assert!(bystander.receive().contains("|11=pass on|"));
    assert_eq!(peer.try_receive(), None);
    assert!(log.ended().contains("StoreFailed"));
    steering.allow();
    resumed(&log);
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.seq = 3;
    peer.log_on();
    bystander.send("D", "11=pass on");
    assert!(peer.receive().contains("|11=passed on|"));
    venue.stop().unwrap();
}

/// The application hides that the store refused and fails itself: two reasons to halt, one after
/// the other.
#[test]
fn a_poison_message_in_which_the_store_failed_too_leaves_no_busy_loop() {
    let mut settings = acceptor();
    settings.limits.max_delivery_attempts = NonZeroU32::MIN;
    let (builder, steering) = steered(settings);
    let steer = Arc::clone(&steering);
    let (app, log) = Scripted::on_message(move |message, turn| {
        (message.get(Tag::new(11)) == Some(b"bad")).then(|| {
            steer.refuse(&acceptor().id);
            let mut report = turn.session().draft(MsgType::new(b"8"));
            report.writer().bytes(Key::new(11), b"bad");
            let _ = report.send();
            steer.allow();
            Err(Failure::new("its own mistake"))
        })
    });
    let venue = builder.start(app).unwrap();
    let mut bystander = other(&venue);
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    peer.send("D", "11=bad");
    assert!(log.ended().contains("Halted"));
    std::thread::sleep(Duration::from_millis(1200));
    rests(&venue);
    goes_on(&mut bystander);
    if venue.session(&acceptor().id).unwrap().skip_poison_message(DESK, LIMIT).is_err() {
        resume(&venue, &acceptor().id).unwrap();
    }
    std::thread::sleep(Duration::from_millis(1200));
    rests(&venue);
    drop(steering);
    venue.stop().unwrap();
}

#[test]
fn a_damaged_journal_is_repaired_while_the_engine_runs() {
    let scratch = Scratch::new("repaired");
    let start = |app| {
        let builder = Engine::builder().accept(anywhere(), acceptor()).accept(anywhere(), bystander());
        builder.journal(&scratch.0).start(app).unwrap()
    };
    let (app, _log) = Scripted::venue();
    let venue = start(app);
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    for _ in 0..10 {
        goes_on(&mut peer);
    }
    peer.send("5", "");
    assert!(peer.receive().contains("|35=5|"));
    venue.stop().unwrap();
    let directory = directory_of(&scratch, &acceptor().id);
    let segment = std::fs::read_dir(&directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| std::fs::read(path).is_ok_and(|bytes| find(&bytes, b"11=fine").is_some()))
        .expect("a segment with the orders");
    let mut bytes = std::fs::read(&segment).unwrap();
    let at = find(&bytes, b"11=fine").unwrap();
    bytes[at + 3] = b'm';
    std::fs::write(&segment, &bytes).unwrap();

    let (app, log) = Scripted::venue();
    let venue = start(app);
    let mut bystander = other(&venue);
    let refused = |seq| {
        let mut peer = Peer::connect(venue.addresses()[0]);
        peer.seq = seq;
        peer.send("A", "98=0|108=30");
        peer.closed_silently();
    };
    refused(13);
    assert!(matches!(
        resume(&venue, &acceptor().id),
        Err(OperationError::Store(OpenError::Halted(Halt::StoreDamaged { .. })))
    ));
    goes_on(&mut bystander);
    rests(&venue);
    // Its lock is free although the engine runs; the other session's is not.
    let repaired = fixbolt_journal::inspect::repair(&directory, None).unwrap();
    assert!(!repaired[0].done.is_empty());
    let held = fixbolt_journal::inspect::repair(&directory_of(&scratch, &self::bystander().id), None);
    assert!(matches!(held, Err(StoreError::Locked { .. })), "{held:?}");
    assert_eq!(resume(&venue, &acceptor().id), Ok(()));
    resumed(&log);
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.seq = 13;
    peer.log_on();
    goes_on(&mut peer);
    goes_on(&mut bystander);
    venue.stop().unwrap();
    assert!(fixbolt_journal::inspect::verify(&scratch.0).unwrap().iter().all(|report| report.is_whole()));
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

fn directory_of(scratch: &Scratch, session: &SessionId) -> std::path::PathBuf {
    let reports = fixbolt_journal::JournalReader::open(&scratch.0).unwrap();
    let found = reports.sessions().iter().find(|journal| journal.session() == Some(session));
    found.expect("the session has a journal").directory().clone()
}

#[test]
fn an_application_that_panicked_in_on_resume_can_resume_again() {
    let panics = Arc::new(AtomicBool::new(true));
    let shown = Arc::new(AtomicUsize::new(0));
    let (mut app, log) = Scripted::venue();
    let (panicking, count) = (Arc::clone(&panics), Arc::clone(&shown));
    app.resume = Box::new(move || {
        // The application is shown the first session's store first.
        let first = count.fetch_add(1, Ordering::SeqCst) != 1;
        assert!(!(first && panicking.load(Ordering::SeqCst)), "an application's mistake");
    });
    let builder = Engine::builder().accept(anywhere(), acceptor()).accept(anywhere(), bystander());
    let venue = without_noise(|| builder.start(app)).unwrap();
    let mut bystander = other(&venue);
    let mut refused = Peer::connect(venue.addresses()[0]);
    refused.send("A", "98=0|108=30");
    refused.closed_silently();
    let again = without_noise(|| resume(&venue, &acceptor().id));
    let halt = Halt::CallbackFailed { callback: "on_resume", why: "panic".into() };
    assert_eq!(again, Err(OperationError::Store(OpenError::Halted(halt))));
    goes_on(&mut bystander);
    rests(&venue);
    panics.store(false, Ordering::SeqCst);
    assert_eq!(resume(&venue, &acceptor().id), Ok(()));
    resumed(&log);
    assert_eq!(shown.load(Ordering::SeqCst), 4);
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    goes_on(&mut peer);
    venue.stop().unwrap();
}

#[test]
fn a_poison_message_may_be_offered_again_instead_of_being_skipped() {
    let healthy = Arc::new(AtomicBool::new(false));
    let (seen, mut settings) = (Arc::clone(&healthy), acceptor());
    settings.limits.max_delivery_attempts = NonZeroU32::MIN;
    let (app, log) = Scripted::on_message(move |message, _| {
        let bad = message.get(Tag::new(11)) == Some(b"bad") && !seen.load(Ordering::SeqCst);
        bad.then_some(Err(Failure::new("a mistake")))
    });
    let venue = Engine::builder().accept(anywhere(), settings).start(app).unwrap();
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    peer.send("D", "11=bad");
    assert!(log.ended().contains("PoisonMessage"));
    rests(&venue);
    let refused = resume(&venue, &acceptor().id);
    assert!(
        matches!(refused, Err(OperationError::Store(OpenError::Halted(Halt::PoisonMessage { .. })))),
        "{refused:?}"
    );
    healthy.store(true, Ordering::SeqCst);
    venue.session(&acceptor().id).unwrap().retry_poison_message(DESK, LIMIT).unwrap();
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.seq = 3;
    peer.log_on();
    assert!(peer.receive().contains("|35=2|"));
    let fields = format!("35=D|49=TRADER|56=VENUE|34=2|43=Y|52={0}|122={0}|11=bad", timestamp());
    peer.stream.write_all(&message("FIX.4.4", &fields)).unwrap();
    assert!(peer.receive().contains("|11=bad|"));
    venue.stop().unwrap();
}

#[test]
fn asking_a_stopped_engine_about_a_halt_returns_an_error() {
    let (app, _log) = Recorder::venue();
    let venue = Engine::builder().accept(anywhere(), acceptor()).start(app).unwrap();
    assert!(venue.session(&id("FIX.4.4:VENUE->NOBODY")).is_none());
    venue.stopper().stop();
    eventually(|| resume(&venue, &acceptor().id) == Err(OperationError::Stopped));
    venue.wait().unwrap();
}
