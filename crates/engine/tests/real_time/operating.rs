//! An operator's calls to the sessions of a running engine, through their handles.

use fixbolt_session::runtime::session_key;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::ops::ControlFlow;
use std::sync::{Arc, Barrier, Mutex, OnceLock, mpsc};
use std::time::Duration;

use crate::support::*;
use fixbolt::codec::{BodySink, Key, Message, MsgType, NewBody, SeqNum};
use fixbolt::session::{
    Application, ChangeError, Delivery, Event, Failure, Halt, OpenError, Role, SendError, SessionEnd,
    SessionId, SessionState, Turn,
};
use fixbolt::store::{DirectoryStore, RecordKind, Store};
use fixbolt::{
    Change, Engine, EngineError, Initiation, OperationError, PostError, Sender, SessionHandle, SettingsError,
};

/// Longer than any test takes.
const LONG: Duration = Duration::from_secs(3600);
const JANE: Change<'_> = Change::new("jane", "a test");

const fn refused(error: ChangeError) -> OperationError {
    OperationError::Refused(error)
}

fn venue() -> (Engine<Recorder>, Log, SessionHandle) {
    let (app, log) = Recorder::venue();
    let venue = Engine::builder().accept(anywhere(), acceptor()).start(app).unwrap();
    let session = venue.session(&acceptor().id).unwrap();
    (venue, log, session)
}

fn trader(address: SocketAddr, reconnect_interval: Duration) -> (Engine<Recorder>, Log, SessionHandle) {
    let (app, log) = Recorder::trader();
    let mut initiation = Initiation::new(initiator(), "127.0.0.1", address.port());
    initiation.reconnect_interval = reconnect_interval;
    let trader = Engine::builder().connect(initiation).start(app).unwrap();
    let session = trader.session(&initiator().id).unwrap();
    (trader, log, session)
}

fn report(sender: &mut Sender) -> Result<u64, PostError> {
    let mut draft = sender.draft(MsgType::new(b"8"));
    draft.writer().bytes(Key::new(11), b"report");
    draft.send().map(|ticket| ticket.number())
}

/// Returns the changes recorded in a session's journal: kind, text, NextNumIn.
fn changes(base: &std::path::Path, session: &SessionId) -> Vec<(RecordKind, String, u64)> {
    let mut store = DirectoryStore::new(base.to_owned());
    let key = session_key(0, 0, 0);
    store.open(key, session).unwrap();
    let mut found = Vec::new();
    store
        .replay(key, &mut |record| {
            if matches!(record.kind, RecordKind::Adjust | RecordKind::Reset) {
                let text = String::from_utf8(record.body.to_vec()).unwrap();
                found.push((record.kind, text, record.next_in.0));
            }
            ControlFlow::Continue(())
        })
        .unwrap();
    store.close(key).unwrap();
    found
}

#[test]
fn a_handle_shows_the_state_and_sequence_numbers_of_its_session() {
    let (venue, log, session) = venue();
    assert_eq!(session.id(), &acceptor().id);
    assert_eq!(session.state(), SessionState::Disconnected);
    assert_eq!((session.next_in(), session.next_out()), (SeqNum(1), SeqNum(1)));
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    // A thread that has the answer sees the session logged on.
    assert_eq!(session.state(), SessionState::LoggedOn);
    peer.send("D", "11=ord1");
    assert!(peer.receive().contains("|11=ord1|"));
    assert_eq!((session.next_in(), session.next_out()), (SeqNum(3), SeqNum(3)));
    drop(peer);
    log.ended();
    assert_eq!(session.state(), SessionState::Disconnected);
    assert!(venue.session(&id("FIX.4.4:VENUE->NOBODY")).is_none());
    venue.stop().unwrap();
    assert_eq!(session.state(), SessionState::Closed);
}

#[test]
fn log_out_waits_for_the_answer_and_returns_how_the_connection_ended() {
    let (venue, _log, session) = venue();
    assert_eq!(session.log_out(JANE, "", LONG), Err(refused(ChangeError::NotLoggedOn)));
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    // There is no answer yet.
    assert_eq!(begun(|| session.log_out(JANE, "bye", AT_ONCE)), Err(OperationError::TimedOut));
    let logout = peer.receive();
    assert!(logout.contains("|35=5|") && logout.contains("|58=bye|"), "{logout}");
    assert_eq!(session.state(), SessionState::LoggingOut);
    let waiting = {
        let session = session.clone();
        std::thread::spawn(move || session.log_out(JANE, "", LONG))
    };
    peer.send("5", "");
    drop(peer);
    // A call that comes too late for this connection returns that there is none.
    let end = waiting.join().unwrap();
    let too_late = refused(ChangeError::NotLoggedOn);
    assert!(end == Ok(SessionEnd::LoggedOutByUs) || end == Err(too_late), "{end:?}");
    venue.stop().unwrap();
}

#[test]
fn an_initiator_logs_out_and_logs_on_again_when_it_is_told_to() {
    let (venue, _log, _) = venue();
    let (trader, log, session) = trader(venue.addresses()[0], LONG);
    log.logged_on();
    assert_eq!(session.log_on(JANE, LONG), Ok(()), "it is");
    assert_eq!(session.log_out(JANE, "", LONG), Ok(SessionEnd::LoggedOutByUs));
    assert_eq!(session.state(), SessionState::Disconnected);
    assert_eq!(session.log_on(JANE, LONG), Ok(()));
    assert_eq!(session.state(), SessionState::LoggedOn);
    trader.stop().unwrap();
    let acceptor = venue.session(&acceptor().id).unwrap();
    assert_eq!(acceptor.log_on(JANE, LONG), Err(OperationError::NotInitiator));
    venue.stop().unwrap();
}

#[test]
fn a_logon_that_is_never_answered_ends_at_its_timeout() {
    let listener = std::net::TcpListener::bind(anywhere()).unwrap();
    let (trader, _log, session) = trader(listener.local_addr().unwrap(), LONG);
    assert_eq!(begun(|| session.log_on(JANE, AT_ONCE)), Err(OperationError::TimedOut));
    drop(listener);
    trader.stop().unwrap();
}

#[test]
fn a_session_that_is_switched_off_logs_out_and_stays_off_until_it_is_switched_on() {
    let (venue, log, session) = venue();
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    log.logged_on();
    let disabling = {
        let session = session.clone();
        std::thread::spawn(move || session.disable(JANE, "closed today", LONG))
    };
    assert!(peer.receive().contains("|58=closed today|"));
    peer.send("5", "");
    assert_eq!(peer.try_receive(), None);
    assert_eq!(disabling.join().unwrap(), Ok(()));
    assert_eq!(session.state(), SessionState::Disabled);
    let mut refused = Peer::connect(venue.addresses()[0]);
    refused.seq = 3;
    refused.send("A", "98=0|108=30");
    refused.closed_silently();
    assert_eq!(session.enable(JANE, LIMIT), Ok(()));
    assert_eq!(session.state(), SessionState::Disconnected);
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.seq = 3;
    peer.log_on();
    venue.stop().unwrap();
}

#[test]
fn an_initiator_that_is_switched_off_does_not_connect() {
    let (venue, venue_log, _) = venue();
    let (trader, log, session) = trader(venue.addresses()[0], Duration::from_millis(1));
    log.logged_on();
    venue_log.logged_on();
    session.disable(JANE, "", LONG).unwrap();
    assert_eq!(venue_log.ended(), "LoggedOutByPeer");
    assert_eq!(session.log_on(JANE, LONG), Err(OperationError::Disabled));
    // Many times its usual reconnect interval.
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(session.state(), SessionState::Disabled);
    session.enable(JANE, LIMIT).unwrap();
    venue_log.logged_on();
    trader.stop().unwrap();
    venue.stop().unwrap();
}

#[test]
fn sequence_numbers_are_set_and_reset_and_the_journal_records_who_and_why() {
    let scratch = Scratch::new("operating");
    let (app, _log) = Recorder::venue();
    let venue = Engine::builder().accept(anywhere(), acceptor()).journal(&scratch.0).start(app).unwrap();
    let session = venue.session(&acceptor().id).unwrap();
    session.set_numbers(Change::new("jane", "agreed"), Some(SeqNum(7)), Some(SeqNum(9)), LIMIT).unwrap();
    assert_eq!((session.next_in(), session.next_out()), (SeqNum(7), SeqNum(9)));
    let down = session.set_numbers(JANE, None, Some(SeqNum(8)), LIMIT);
    let too_low = ChangeError::NextNumOutTooLow { least: SeqNum(9), found: SeqNum(8) };
    assert_eq!(down, Err(refused(too_low)));
    let none = session.set_numbers(JANE, Some(SeqNum(0)), None, LIMIT);
    assert_eq!(none, Err(refused(ChangeError::SeqNumOutOfRange { found: SeqNum(0) })));
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.seq = 7;
    peer.log_on();
    assert_eq!(session.reset(JANE, LIMIT), Err(refused(ChangeError::Connected)));
    let logout = {
        let session = session.clone();
        std::thread::spawn(move || session.log_out(Change::new("tom", "end of day"), "", LONG))
    };
    assert!(peer.receive().contains("|35=5|"));
    peer.send("5", "");
    assert_eq!(logout.join().unwrap(), Ok(SessionEnd::LoggedOutByUs));
    session.disable(Change::new("tom", "holiday"), "", LONG).unwrap();
    session.enable(Change::new("tom", "a mistake"), LIMIT).unwrap();
    session.confirm_clock(Change::new("tom", "the time is right"), LIMIT).unwrap();
    session.reset(Change::new("jane", "new year"), LIMIT).unwrap();
    assert_eq!((session.next_in(), session.next_out()), (SeqNum(1), SeqNum(1)));
    session.set_numbers(Change::new("jane", "as they are"), None, None, LIMIT).unwrap();
    venue.stop().unwrap();
    // The records before the reset are still in the journal.
    let after = changes(&scratch.0, &acceptor().id);
    assert!(after.contains(&(RecordKind::Adjust, "jane: as they are".to_owned(), 1)), "{after:?}");
    let text = |path: &std::path::Path| -> String {
        let mut all = String::new();
        let mut folders = vec![path.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    all += &String::from_utf8_lossy(&std::fs::read(path).unwrap());
                }
            }
        }
        all
    };
    let journal = text(&scratch.0);
    let told = [
        "jane: agreed",
        "tom: end of day",
        "tom: holiday",
        "tom: a mistake",
        "tom: the time is right",
        "jane: new year",
    ];
    for change in told {
        assert!(journal.contains(change), "{change}");
    }
}

#[test]
fn a_test_request_is_sent_if_the_session_is_logged_on() {
    let (venue, _log, session) = venue();
    assert_eq!(session.send_test_request(LIMIT), Err(refused(ChangeError::NotLoggedOn)));
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    session.send_test_request(LIMIT).unwrap();
    assert!(peer.receive().contains("|35=1|"));
    venue.stop().unwrap();
}

#[test]
fn a_reset_in_the_session_is_begun_and_told() {
    let (venue, _log, session) = venue();
    assert_eq!(session.reset_in_session(JANE, LIMIT), Err(refused(ChangeError::NotLoggedOn)));
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    session.reset_in_session(JANE, LIMIT).unwrap();
    assert_eq!(session.reset_in_session(JANE, LIMIT), Err(refused(ChangeError::ResetHasBegun)));
    let test = peer.receive();
    let id = test.split("|112=").nth(1).and_then(|rest| rest.split('|').next()).unwrap();
    peer.send("0", &format!("112={id}"));
    let logon = peer.receive();
    assert!(logon.contains("|35=A|") && logon.contains("|34=1|") && logon.contains("|141=Y|"), "{logon}");
    assert_eq!((session.next_in(), session.next_out()), (SeqNum(1), SeqNum(2)));
    venue.stop().unwrap();
}

#[test]
fn sessions_are_added_to_a_running_engine_and_removed_while_they_are_logged_out() {
    let scratch = Scratch::new("added");
    let (app, _log) = Recorder::venue();
    let venue = Engine::builder().accept(anywhere(), acceptor()).journal(&scratch.0).start(app).unwrap();
    let address = venue.addresses()[0];
    let other = || of("FIX.4.4:VENUE->OTHER", Role::Acceptor);
    // At an address that the engine listens on, and at another one.
    let first = venue.accept(address, other(), LIMIT).unwrap();
    let elsewhere = of("FIX.4.4:VENUE->ELSEWHERE", Role::Acceptor);
    let second = venue.accept("127.0.0.2:0".parse().unwrap(), elsewhere, LIMIT).unwrap();
    assert_eq!(venue.addresses().len(), 2);
    let twice = venue.accept(address, other(), LIMIT).unwrap_err();
    assert!(twice.to_string().contains("open already"), "{twice}");

    let mut peer = Peer::connect(address).named("OTHER", "VENUE");
    peer.log_on();
    let mut there = Peer::connect(venue.addresses()[1]).named("ELSEWHERE", "VENUE");
    there.log_on();
    let mut sender = first.sender();
    assert_eq!(report(&mut sender), Ok(1));
    assert!(peer.receive().contains("|11=report|"));
    assert_eq!(first.remove(JANE, LIMIT), Err(refused(ChangeError::Connected)));
    let logout = {
        let first = first.clone();
        std::thread::spawn(move || first.log_out(JANE, "", LONG))
    };
    assert!(peer.receive().contains("|35=5|"));
    peer.send("5", "");
    logout.join().unwrap().unwrap();
    first.remove(JANE, LIMIT).unwrap();

    assert_eq!(first.state(), SessionState::Closed);
    assert_eq!(first.reset(JANE, LIMIT), Err(OperationError::NoSession));
    assert_eq!(report(&mut sender), Err(PostError::NoSession));
    assert!(venue.session(&other().id).is_none());
    let mut refused = Peer::connect(address).named("OTHER", "VENUE");
    refused.send("A", "98=0|108=30");
    refused.closed_silently();
    // Its journal is closed: another store may open it.
    let last = changes(&scratch.0, &other().id).pop().unwrap();
    assert_eq!(last.1, "jane: a test");
    // So may the engine; the sequence numbers continue.
    let again = venue.accept(address, other(), LIMIT).unwrap();
    assert_eq!((again.next_in(), again.next_out()), (SeqNum(3), SeqNum(4)));
    assert_eq!(first.reset(JANE, LIMIT), Err(OperationError::NoSession), "it is another one");
    there.send("D", "11=goes on");
    assert!(there.receive().contains("|11=goes on|"));
    assert_eq!(second.state(), SessionState::LoggedOn);
    venue.stop().unwrap();
}

#[test]
fn an_initiator_is_added_to_a_running_engine_and_removed() {
    let (venue, venue_log, _) = venue();
    let (app, _log) = Recorder::trader();
    let other = of("FIX.4.4:X->Y", Role::Acceptor);
    let trader = Engine::builder().accept(anywhere(), other).start(app).unwrap();
    let initiation = || Initiation::new(initiator(), "127.0.0.1", venue.addresses()[0].port());
    let wrong = trader.connect(Initiation::new(acceptor(), "127.0.0.1", 1), LIMIT).unwrap_err();
    let EngineError::Settings { error, .. } = &wrong else { panic!("{wrong}") };
    assert_eq!(*error, SettingsError::Role { found: Role::Acceptor });
    assert!(wrong.to_string().ends_with(": it is added with `connect`, but its role is acceptor"), "{wrong}");
    for _ in 0..3 {
        let session = trader.connect(initiation(), LIMIT).unwrap();
        venue_log.logged_on();
        assert_eq!(session.log_on(JANE, LONG), Ok(()));
        session.log_out(JANE, "", LONG).unwrap();
        session.remove(JANE, LIMIT).unwrap();
        assert_eq!(venue_log.ended(), "LoggedOutByPeer");
        assert!(trader.session(&initiator().id).is_none());
    }
    trader.stop().unwrap();
    venue.stop().unwrap();
}

#[test]
fn a_session_that_is_removed_while_it_connects_stops_connecting() {
    let listener = std::net::TcpListener::bind(anywhere()).unwrap();
    let (trader, _log, session) = trader(listener.local_addr().unwrap(), Duration::from_millis(1));
    // The initiator has connected and is logging on: end that connection first.
    let (connection, _) = listener.accept().unwrap();
    drop(connection);
    eventually(|| session.remove(JANE, LIMIT) == Ok(()));
    assert_eq!(session.log_on(JANE, LONG), Err(OperationError::NoSession));
    trader.stop().unwrap();
}

#[test]
fn a_halted_session_is_resumed_by_its_handle() {
    let (store, steering) = steered_store();
    let (app, log) = Recorder::venue();
    let venue = Engine::builder().accept(anywhere(), acceptor()).store(Box::new(store)).start(app).unwrap();
    let session = venue.session(&acceptor().id).unwrap();
    steering.refuse(&acceptor().id);
    let refused = session.set_numbers(JANE, Some(SeqNum(2)), None, LIMIT);
    assert!(
        matches!(refused, Err(OperationError::Refused(ChangeError::Send(SendError::Store(_))))),
        "{refused:?}"
    );
    assert!(matches!(session.state(), SessionState::Halted(Halt::StoreFailed(_))));
    let reset = session.reset(JANE, LIMIT);
    let halted =
        |error: &_| matches!(error, OperationError::Refused(ChangeError::Halted(Halt::StoreFailed(_))));
    assert!(reset.as_ref().is_err_and(halted), "{reset:?}");
    assert!(matches!(session.resume(JANE, LIMIT), Err(OperationError::Store(OpenError::Store(_)))));
    steering.allow();
    assert_eq!(session.resume(JANE, LIMIT), Ok(()));
    assert_eq!(session.state(), SessionState::Disconnected);
    assert_eq!(session.next_in(), SeqNum(1), "what was refused did not happen");
    drop(log);
    venue.stop().unwrap();
}

#[test]
fn a_call_that_would_wait_for_its_own_thread_is_refused() {
    let handle: Arc<OnceLock<SessionHandle>> = Arc::default();
    let outcome: Arc<Mutex<Option<Result<(), OperationError>>>> = Arc::default();
    let (known, told) = (Arc::clone(&handle), Arc::clone(&outcome));
    let (app, _log) = Scripted::on_message(move |_, _| {
        *told.lock().unwrap() = Some(known.get().unwrap().send_test_request(LIMIT));
        None
    });
    let venue = Engine::builder().accept(anywhere(), acceptor()).start(app).unwrap();
    handle.set(venue.session(&acceptor().id).unwrap()).unwrap();
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    peer.send("D", "11=ord1");
    assert!(peer.receive().contains("|11=ord1|"));
    assert_eq!(outcome.lock().unwrap().take(), Some(Err(OperationError::OwnThread)));
    venue.stop().unwrap();
}

#[test]
fn a_dropped_engine_logs_out_and_is_gone_when_drop_returns() {
    let (venue, log, session) = venue();
    let address = venue.addresses()[0];
    let mut peer = Peer::connect(address);
    peer.log_on();
    log.logged_on();
    let counterparty = std::thread::spawn(move || {
        assert!(peer.receive().contains("|35=5|"));
        peer.send("5", "");
        assert_eq!(peer.try_receive(), None);
    });
    drop(venue);
    assert_eq!(session.state(), SessionState::Closed);
    assert_eq!(log.ended(), "LoggedOutByUs");
    counterparty.join().unwrap();
    // Its port is free.
    let (app, _log) = Recorder::venue();
    Engine::builder().accept(address, acceptor()).start(app).unwrap().stop().unwrap();
}

#[test]
fn an_engine_that_is_dropped_during_a_slow_replay_sends_its_logout_and_waits_for_no_more() {
    let (app, log) = Recorder::venue();
    let settings = acceptor().with(|s| s.resend.max_replay_rate = NonZeroU32::new(1));
    let venue = Engine::builder().accept(anywhere(), settings).start(app).unwrap();
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    log.logged_on();
    let mut sender = venue.session(&acceptor().id).unwrap().sender();
    for _ in 0..60 {
        report(&mut sender).unwrap();
        assert!(peer.receive().contains("|35=8|"));
    }
    peer.send("2", "7=2|16=0");
    assert!(peer.receive().contains("|34=2|43=Y|"));
    let counterparty = std::thread::spawn(move || {
        let replayed = (0..60).take_while(|_| !peer.receive().contains("|35=5|")).count();
        peer.send("5", "");
        assert_eq!(peer.try_receive(), None);
        replayed
    });
    drop(venue);
    assert_eq!(log.ended(), "LoggedOutByUs");
    // A second each: LogoutTimeout is two, and half of it is for the replay.
    assert!(counterparty.join().unwrap() < 10);
}

/// A venue whose callback for each message, and for each change of sequence numbers, waits for the
/// test.
struct Hanging {
    recorder: Recorder,
    begun: mpsc::Sender<()>,
    goes_on: mpsc::Receiver<()>,
}

impl Hanging {
    fn start() -> (Engine<Self>, mpsc::Receiver<()>, mpsc::Sender<()>) {
        let ((begun, has_begun), (go_on, goes_on)) = (mpsc::channel(), mpsc::channel());
        let app = Self { recorder: Recorder::venue().0, begun, goes_on };
        (Engine::builder().accept(anywhere(), acceptor()).start(app).unwrap(), has_begun, go_on)
    }

    fn hang(&self) {
        self.begun.send(()).unwrap();
        // An error: the test has failed.
        let _ = self.goes_on.recv();
    }
}

impl Application for Hanging {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        self.hang();
        self.recorder.on_message(message, turn)
    }

    fn on_event(&mut self, event: &Event<'_>, _: &mut Turn<'_>) -> Result<(), Failure> {
        if matches!(event, Event::SequenceChanged { .. }) {
            self.hang();
        }
        Ok(())
    }
}

#[test]
fn calls_return_while_a_callback_hangs_and_what_was_not_begun_never_happens() {
    let (venue, has_begun, go_on) = Hanging::start();
    let session = venue.session(&acceptor().id).unwrap();
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    peer.send("D", "11=hangs");
    has_begun.recv().unwrap();
    for outcome in [
        session.log_on(JANE, AT_ONCE),
        session.log_out(JANE, "", AT_ONCE).map(drop),
        session.enable(JANE, AT_ONCE),
        session.disable(JANE, "", AT_ONCE),
        session.set_numbers(JANE, Some(SeqNum(7)), Some(SeqNum(9)), AT_ONCE),
        session.reset(JANE, AT_ONCE),
        session.reset_in_session(JANE, AT_ONCE),
        session.send_test_request(AT_ONCE),
        session.skip_poison_message(JANE, AT_ONCE),
        session.retry_poison_message(JANE, AT_ONCE),
        session.resume(JANE, AT_ONCE),
        session.confirm_clock(JANE, AT_ONCE),
        session.remove(JANE, AT_ONCE),
    ] {
        assert_eq!(outcome, Err(OperationError::Withdrawn));
    }
    let others = ["FIX.4.4:VENUE->OTHER", "FIX.4.4:X->VENUE"];
    for address in [venue.addresses()[0], "127.0.0.2:0".parse().unwrap()] {
        let other = venue.accept(address, of(others[0], Role::Acceptor), AT_ONCE);
        assert_eq!(other.map(drop), Err(EngineError::Withdrawn));
    }
    let other = venue.connect(Initiation::new(of(others[1], Role::Initiator), "127.0.0.1", 1), AT_ONCE);
    assert_eq!(other.map(drop), Err(EngineError::Withdrawn));
    assert_eq!(venue.addresses().len(), 1);

    go_on.send(()).unwrap();
    assert!(peer.receive().contains("|34=2|") && session.next_in() == SeqNum(3));
    // It is answered after everything that came before it.
    assert_eq!(session.send_test_request(LIMIT), Ok(()));
    assert!(peer.receive().contains("|35=1|"));
    assert_eq!((session.state(), session.next_out()), (SessionState::LoggedOn, SeqNum(4)));
    assert!(others.iter().all(|other| venue.session(&id(other)).is_none()));
    for other in others {
        venue.accept("127.0.0.2:0".parse().unwrap(), of(other, Role::Acceptor), LIMIT).unwrap();
    }
    venue.stop().unwrap();
}

#[test]
fn a_call_whose_own_callback_hangs_returns_and_goes_on() {
    let (venue, has_begun, go_on) = Hanging::start();
    let session = venue.session(&acceptor().id).unwrap();
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    let set = begun(|| session.set_numbers(JANE, Some(SeqNum(7)), None, AT_ONCE));
    assert_eq!(set, Err(OperationError::TimedOut));
    has_begun.recv().unwrap();
    assert_eq!(session.set_numbers(JANE, Some(SeqNum(9)), None, AT_ONCE), Err(OperationError::Withdrawn));
    go_on.send(()).unwrap();
    assert_eq!(session.send_test_request(LIMIT), Ok(()));
    assert_eq!(session.next_in(), SeqNum(7));
    venue.stop().unwrap();
}

#[test]
fn a_session_whose_opening_hangs_is_open_once_it_goes_on_and_no_other_one_is_added_meanwhile() {
    let (has_begun, goes_on) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
    let (mut app, _log) = Scripted::venue();
    let mut opened = 0;
    app.resume = {
        let (has_begun, goes_on) = (Arc::clone(&has_begun), Arc::clone(&goes_on));
        Box::new(move || {
            opened += 1;
            if opened == 2 {
                has_begun.wait();
                goes_on.wait();
            }
        })
    };
    let venue = Engine::builder().accept(anywhere(), acceptor()).start(app).unwrap();
    let other = || of("FIX.4.4:VENUE->OTHER", Role::Acceptor);
    let elsewhere: SocketAddr = "127.0.0.2:0".parse().unwrap();
    std::thread::scope(|scope| {
        let adding = scope.spawn(|| {
            let mut added = Err(EngineError::Withdrawn);
            while matches!(added, Err(EngineError::Withdrawn)) {
                added = venue.accept(elsewhere, other(), AT_ONCE).map(drop);
            }
            added
        });
        has_begun.wait();
        assert_eq!(adding.join().unwrap(), Err(EngineError::TimedOut));
        let third = venue.accept(anywhere(), of("FIX.4.4:VENUE->THIRD", Role::Acceptor), AT_ONCE);
        assert_eq!(third.map(drop), Err(EngineError::Withdrawn));
        goes_on.wait();
    });
    eventually(|| venue.session(&other().id).is_some());
    let third = venue.accept(anywhere(), of("FIX.4.4:VENUE->THIRD", Role::Acceptor), LIMIT);
    assert_eq!(third.unwrap().state(), SessionState::Disconnected);
    Peer::connect(venue.addresses()[1]).named("OTHER", "VENUE").log_on();
    venue.stop().unwrap();
}
