//! Two engines, or an engine and a counterparty written by hand, over loopback TCP.

use std::io::Write;
use std::time::Duration;

use crate::support::*;
use fixbolt::codec::{BodySink, Key, Memory, Message, MsgType, NewBody};
use fixbolt::session::{Application, ChangeError, Delivery, Event, Failure, Role, SessionSettings, Turn};
use fixbolt::{Acceptance, Change, Engine, EngineError, Initiation, ListenError, OperationError, PostError};
use fixbolt_conformance::store::Late;
use fixbolt_journal::MemoryStore;

fn order(sender: &mut fixbolt::Sender, cl_ord_id: &str) -> Result<u64, PostError> {
    let mut draft = sender.draft(MsgType::new(b"D"));
    draft.writer().bytes(Key::new(11), cl_ord_id.as_bytes());
    draft.send().map(|ticket| ticket.number())
}

fn venue(settings: SessionSettings) -> (Engine<Recorder>, Log) {
    let (app, log) = Recorder::venue();
    (Engine::builder().accept(anywhere(), settings).start(app).unwrap(), log)
}

fn trader(port: u16, settings: SessionSettings) -> (Engine<Recorder>, Log) {
    let (app, log) = Recorder::trader();
    let mut session = Initiation::new(settings, "localhost", port);
    session.reconnect_interval = Duration::from_millis(20);
    (Engine::builder().connect(session).start(app).unwrap(), log)
}

#[test]
fn two_engines_log_on_trade_and_log_out() {
    let (venue, venue_log) = venue(acceptor());
    let (trader, trader_log) = trader(venue.addresses()[0].port(), initiator());
    venue_log.logged_on();
    trader_log.logged_on();
    let mut sender = trader.session(&initiator().id).unwrap().sender();
    for n in 1..=1000 {
        assert_eq!(order(&mut sender, &format!("ord{n}")), Ok(n));
        assert_eq!(trader_log.next(), Seen::Sent(n, n + 1), "the Logon has sequence number 1");
        assert_eq!(trader_log.next(), Seen::Message(format!("ord{n}")));
        assert_eq!(venue_log.message(), format!("ord{n}"));
    }
    trader.stop().unwrap();
    assert_eq!(trader_log.ended(), "LoggedOutByUs");
    assert_eq!(venue_log.ended(), "LoggedOutByPeer");
    venue.stop().unwrap();
}

#[test]
fn an_initiator_connects_again_and_sequence_numbers_continue_from_the_journal() {
    let scratch = Scratch::new("reconnect");
    let (app, venue_log) = Recorder::venue();
    let venue_engine =
        Engine::builder().accept(anywhere(), acceptor()).journal(scratch.0.join("venue")).start(app).unwrap();
    let address = venue_engine.addresses()[0];
    let (app, trader_log) = Recorder::trader();
    let mut session = Initiation::new(initiator(), "127.0.0.1", address.port());
    session.reconnect_interval = Duration::from_millis(20);
    let trader = Engine::builder().connect(session).journal(scratch.0.join("trader")).start(app).unwrap();
    venue_log.logged_on();
    trader_log.logged_on();
    let mut sender = trader.session(&initiator().id).unwrap().sender();
    order(&mut sender, "before").unwrap();
    assert_eq!(trader_log.next(), Seen::Sent(1, 2));
    assert_eq!(trader_log.message(), "before");

    venue_engine.stop().unwrap();
    assert_eq!(trader_log.ended(), "LoggedOutByPeer");
    assert_eq!(order(&mut sender, "between"), Err(PostError::NotLoggedOn));

    let (app, venue_log) = Recorder::venue();
    let venue_engine =
        Engine::builder().accept(address, acceptor()).journal(scratch.0.join("venue")).start(app).unwrap();
    venue_log.logged_on();
    trader_log.logged_on();
    order(&mut sender, "after").unwrap();
    // Logon, order, Logout and Logon came first.
    assert_eq!(trader_log.wait(|seen| matches!(seen, Seen::Sent(..))), Seen::Sent(2, 5));
    assert_eq!(trader_log.message(), "after");
    assert_eq!(venue_log.message(), "after");
    trader.stop().unwrap();
    venue_engine.stop().unwrap();
}

#[test]
fn hosts_are_tried_in_turn_and_a_name_that_is_not_found_ends_nothing() {
    let (venue, venue_log) = venue(acceptor());
    let (app, _log) = Recorder::trader();
    let mut session = Initiation::new(initiator(), "no-such-host.invalid", 9880);
    // Nothing listens on port 1.
    session.hosts.push(("127.0.0.1".to_owned(), 1));
    session.hosts.push(("localhost".to_owned(), venue.addresses()[0].port()));
    let trader = Engine::builder().connect(session).start(app).unwrap();
    venue_log.logged_on();
    trader.stop().unwrap();
    venue.stop().unwrap();
}

#[test]
fn with_a_store_that_acknowledges_late_everything_is_sent_eventually() {
    let late = || Box::new(Late::around(MemoryStore::new()));
    let (app, _venue_log) = Recorder::venue();
    let venue = Engine::builder().accept(anywhere(), acceptor()).store(late()).start(app).unwrap();
    let (app, log) = Recorder::trader();
    let session = Initiation::new(initiator(), "127.0.0.1", venue.addresses()[0].port());
    let trader = Engine::builder().connect(session).store(late()).start(app).unwrap();
    log.logged_on();
    let mut sender = trader.session(&initiator().id).unwrap().sender();
    for round in 0..20 {
        for n in 0..50 {
            order(&mut sender, &format!("{round}-{n}")).unwrap();
        }
        for n in 0..50 {
            assert_eq!(log.message(), format!("{round}-{n}"));
        }
    }
    trader.stop().unwrap();
    assert_eq!(log.ended(), "LoggedOutByUs");
    venue.stop().unwrap();
}

#[test]
fn a_full_store_halts_the_session_and_nothing_is_sent_that_it_does_not_have() {
    // Both Logons, an order with its report, another order.
    let store = full_store(5);
    let (app, log) = Recorder::venue();
    let venue = Engine::builder().accept(anywhere(), acceptor()).store(Box::new(store)).start(app).unwrap();
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    peer.send("D", "11=first");
    assert!(peer.receive().contains("|11=first|"));
    peer.send("D", "11=second");
    assert_eq!(peer.try_receive(), None, "the report was not stored, so it is not sent");
    let end = log.ended();
    assert!(end.contains("StoreFailed") && end.contains("test disk"), "{end}");
    let mut again = Peer::connect(venue.addresses()[0]);
    again.send("A", "98=0|108=30");
    again.closed_silently();
    venue.stop().unwrap();
}

#[test]
fn a_gap_is_requested_and_filled() {
    let (venue, log) = venue(acceptor());
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    peer.seq = 3;
    peer.send("D", "11=second");
    let asked = peer.receive();
    assert!(asked.contains("|35=2|") && asked.contains("|7=2|16=0|"), "{asked}");
    let again = message(
        "FIX.4.4",
        &format!("35=D|49=TRADER|56=VENUE|34=2|43=Y|52={0}|122={0}|11=first", timestamp()),
    );
    peer.stream.write_all(&again).unwrap();
    assert_eq!(log.message(), "first");
    assert_eq!(log.message(), "second");
    assert!(peer.receive().contains("|11=first|"));
    assert!(peer.receive().contains("|11=second|"));
    venue.stop().unwrap();
}

#[test]
fn a_counterparty_that_asks_gets_a_long_replay_in_order() {
    let mut settings = acceptor();
    settings.limits.outbound_buffer_size = 64 * 1024;
    let (venue, _log) = venue(settings);
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    for n in 0..5000 {
        peer.send("D", &format!("11=ord{n}"));
    }
    for n in 0..5000 {
        let report = peer.receive();
        assert!(report.contains(&format!("|34={}|", n + 2)), "{n}: {report}");
    }
    peer.send("2", "7=1|16=0");
    assert!(peer.receive().contains("|123=Y|"), "the Logon is gap-filled");
    for n in 0..5000 {
        let report = peer.receive();
        assert!(report.contains("|43=Y|") && report.contains(&format!("|11=ord{n}|")), "{n}: {report}");
    }
    venue.stop().unwrap();
}

#[test]
fn stopping_sends_a_logout_and_waits_for_its_answer() {
    let (venue, log) = venue(acceptor());
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    log.logged_on();
    let stopper = venue.stopper();
    stopper.stop();
    let logout = peer.receive();
    assert!(logout.contains("|35=5|"), "{logout}");
    peer.send("5", "");
    assert_eq!(peer.try_receive(), None);
    venue.wait().unwrap();
    assert_eq!(log.ended(), "LoggedOutByUs");
}

#[test]
fn stopping_does_not_wait_forever_for_a_silent_counterparty() {
    let mut settings = acceptor();
    settings.timing.logout_timeout = Duration::from_millis(50);
    let (venue, log) = venue(settings);
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    venue.stop().unwrap();
    assert_eq!(log.ended(), "LogoutTimedOut");
}

#[test]
fn a_port_in_use_is_an_error_of_one_line() {
    let (first, _log) = venue(acceptor());
    let address = first.addresses()[0];
    let (app, _) = Recorder::venue();
    let error = Engine::builder().accept(address, acceptor()).start(app).unwrap_err();
    let EngineError::Listen { error: ListenError::System { kind, .. }, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(*kind, std::io::ErrorKind::AddrInUse);
    let line = error.to_string();
    assert!(line.starts_with(&format!("cannot listen on {address}: Address already in use")), "{line}");
    assert!(!line.contains('\n'));
    first.stop().unwrap();
}

#[test]
fn a_journal_in_use_is_an_error_that_names_its_holder() {
    let scratch = Scratch::new("locked");
    let start = || {
        let (app, _) = Recorder::venue();
        Engine::builder().accept(anywhere(), acceptor()).journal(&scratch.0).start(app)
    };
    let first = start().unwrap();
    let error = start().unwrap_err();
    assert!(matches!(error, EngineError::Store { .. }));
    let line = format!("{error:#}");
    assert!(line.starts_with("session FIX.4.4:VENUE->TRADER: "), "{line}");
    assert!(line.contains(&std::process::id().to_string()), "{line}");
    first.stop().unwrap();
    start().unwrap().stop().unwrap();
}

#[test]
fn an_engine_without_sessions_or_with_the_wrong_role_does_not_start() {
    let (app, _) = Recorder::venue();
    assert_eq!(Engine::builder().start(app).unwrap_err(), EngineError::NoSessions);
    let (app, _) = Recorder::venue();
    let error = Engine::builder().accept(anywhere(), initiator()).start(app).unwrap_err();
    assert_eq!(
        error.to_string(),
        "session FIX.4.4:TRADER->VENUE: it is added with `accept`, but its role is initiator"
    );
}

#[test]
fn a_template_opens_a_session_for_each_counterparty_that_logs_on() {
    let (app, log) = Recorder::venue();
    let venue = Engine::builder()
        .accept_any(anywhere(), |id| {
            (id.sender_comp_id() == "VENUE").then(|| Acceptance::from(acceptor().with(|s| s.id = id.clone())))
        })
        .start(app)
        .unwrap();
    for name in ["ALICE", "BOB"] {
        let mut peer = Peer::connect(venue.addresses()[0]).named(name, "VENUE");
        peer.log_on();
        log.logged_on();
        assert!(venue.session(&id(&format!("FIX.4.4:VENUE->{name}"))).is_some());
    }
    let mut stranger = Peer::connect(venue.addresses()[0]).named("ALICE", "ELSEWHERE");
    stranger.send("A", "98=0|108=30");
    stranger.closed_silently();
    venue.stop().unwrap();
}

#[test]
fn messages_from_other_threads_keep_their_order_and_each_gets_its_sequence_number() {
    const THREADS: u64 = 4;
    const EACH: u64 = 3000;
    let (venue, venue_log) = venue(acceptor());
    let (app, trader_log) = Recorder::trader();
    let session = Initiation::new(initiator(), "127.0.0.1", venue.addresses()[0].port());
    let trader = Engine::builder()
        .outbound_queue_size(1)
        .outbound_queue_budget(64 * 1024)
        .connect(session)
        .start(app)
        .unwrap();
    trader_log.logged_on();
    let sender = trader.session(&initiator().id).unwrap().sender();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let mut sender = sender.clone();
            scope.spawn(move || {
                for n in 0..EACH {
                    while order(&mut sender, &format!("{thread}-{n}")) == Err(PostError::Full) {
                        std::thread::yield_now();
                    }
                }
            });
        }
    });
    let (mut tickets, mut numbers) = (Vec::new(), Vec::new());
    while (tickets.len() as u64) < THREADS * EACH {
        match trader_log.next() {
            Seen::Sent(ticket, seq) => {
                tickets.push(ticket);
                numbers.push(seq);
            }
            Seen::NotSent(ticket, why) => panic!("{ticket}: {why}"),
            _ => {}
        }
    }
    tickets.sort_unstable();
    assert!(tickets.into_iter().eq(1..=THREADS * EACH), "each ticket once");
    assert!(numbers.into_iter().eq(2..=THREADS * EACH + 1), "sequence numbers in the order of sending");
    let mut next = [0; THREADS as usize];
    for _ in 0..THREADS * EACH {
        let name = venue_log.message();
        let (thread, n) = name.split_once('-').unwrap();
        let (thread, n): (usize, u64) = (thread.parse().unwrap(), n.parse().unwrap());
        assert_eq!(n, next[thread], "thread {thread}");
        next[thread] += 1;
    }
    trader.stop().unwrap();
    let mut sender = sender;
    assert_eq!(order(&mut sender, "late"), Err(PostError::Stopped));
    venue.stop().unwrap();
}

#[test]
fn a_message_with_a_mistake_is_refused_before_it_gets_a_ticket() {
    let (venue, log) = venue(acceptor());
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    log.logged_on();
    let mut sender = venue.session(&acceptor().id).unwrap().sender();
    let mut draft = sender.draft(MsgType::new(b"8"));
    draft.writer().bytes(Key::new(58), b"forged\x0110=000");
    assert!(matches!(draft.send(), Err(PostError::Encode(_))));
    let mut draft = sender.draft(MsgType::new(b"5"));
    draft.writer().bytes(Key::new(58), b"bye");
    assert_eq!(draft.send(), Err(PostError::SessionMessage));
    // Finished outside the engine, where a body may be larger.
    let mut memory = vec![0; 100_000];
    let mut large = Memory(&mut memory).draft(MsgType::new(b"8"));
    large.writer().bytes(Key::new(58), &[b'x'; 65_536]);
    let large = large.send().unwrap();
    assert_eq!(sender.try_send(&large), Err(PostError::TooLarge { limit: 65_536 }));
    assert_eq!(order(&mut sender, "right"), Ok(1));
    assert_eq!(log.next(), Seen::Sent(1, 2));
    venue.stop().unwrap();
}

#[test]
fn an_application_that_says_not_now_is_asked_again_and_loses_nothing() {
    let (mut app, log) = Recorder::venue();
    app.not_now = 50;
    let venue = Engine::builder().accept(anywhere(), acceptor()).start(app).unwrap();
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    for n in 0..100 {
        peer.send("D", &format!("11={n}"));
    }
    for n in 0..100 {
        assert_eq!(log.message(), n.to_string());
        assert!(peer.receive().contains(&format!("|11={n}|")));
    }
    venue.stop().unwrap();
}

#[test]
fn a_counterparty_that_does_not_read_is_not_read_from_and_loses_nothing() {
    let mut settings = acceptor();
    settings.limits.outbound_buffer_size = 32 * 1024;
    let (venue, _log) = venue(settings);
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    let mut writer = peer.stream.try_clone().unwrap();
    let total = 60_000;
    let bytes: Vec<u8> = (0..total).flat_map(|n| peer.message("D", &format!("11=ord{n}"))).collect();
    let writing = std::thread::spawn(move || writer.write_all(&bytes));
    // Both directions fill up before anything is read here.
    std::thread::sleep(Duration::from_millis(300));
    for n in 0..total {
        let report = peer.receive();
        assert!(report.contains(&format!("|34={}|", n + 2)), "{n}: {report}");
    }
    writing.join().unwrap().unwrap();
    venue.stop().unwrap();
}

#[test]
fn a_poison_message_halts_its_session_until_it_is_skipped_and_the_others_go_on() {
    let (mut app, log) = Recorder::venue();
    app.poison = Some(b"bad");
    let other = of("FIX.4.4:VENUE->OTHER", Role::Acceptor);
    let builder = Engine::builder().accept(anywhere(), acceptor());
    let venue = builder.accept(anywhere(), other).start(app).unwrap();
    let address = venue.addresses()[0];
    let mut bystander = Peer::connect(address).named("OTHER", "VENUE");
    bystander.log_on();

    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    for attempt in 1..=3 {
        let mut peer = Peer::connect(address);
        if attempt == 1 {
            peer.log_on();
            peer.send("D", "11=good");
            assert!(peer.receive().contains("|11=good|"));
            peer.send("D", "11=bad");
        } else {
            // The message is still expected: it is requested and resent.
            peer.seq = 4;
            peer.log_on();
            let asked = peer.receive();
            assert!(asked.contains("|35=2|") && asked.contains("|7=3|"), "{asked}");
            let fields = format!("35=D|49=TRADER|56=VENUE|34=3|43=Y|52={0}|122={0}|11=bad", timestamp());
            peer.stream.write_all(&message("FIX.4.4", &fields)).unwrap();
        }
        while let Some(message) = peer.try_receive() {
            assert!(!message.contains("|11=bad|"), "{message}");
        }
        assert!(log.ended().contains(if attempt < 3 { "ApplicationFailed" } else { "PoisonMessage" }));
    }
    std::panic::set_hook(hook);

    let mut refused = Peer::connect(address);
    refused.send("A", "98=0|108=30");
    refused.closed_silently();
    bystander.send("D", "11=fine");
    assert!(bystander.receive().contains("|11=fine|"));
    let session = venue.session(&acceptor().id).unwrap();
    let change = Change::new("desk", "the order is nonsense");
    session.skip_poison_message(change, LIMIT).unwrap();
    assert_eq!(
        session.skip_poison_message(change, LIMIT),
        Err(OperationError::Refused(ChangeError::NotHalted))
    );
    let mut peer = Peer::connect(address);
    peer.seq = 4;
    peer.log_on();
    peer.send("D", "11=next");
    assert!(peer.receive().contains("|11=next|"));
    venue.stop().unwrap();
}

#[test]
fn the_loop_shows_that_it_is_running() {
    let (venue, _log) = venue(acceptor());
    let before = venue.cycles()[0];
    eventually(|| venue.cycles()[0] > before);
    venue.stop().unwrap();
}

#[test]
fn what_was_posted_before_a_stop_is_sent_before_the_logout() {
    let (venue, venue_log) = venue(acceptor());
    let (trader, trader_log) = trader(venue.addresses()[0].port(), initiator());
    trader_log.logged_on();
    let mut sender = trader.session(&initiator().id).unwrap().sender();
    for n in 0..1000 {
        order(&mut sender, &n.to_string()).unwrap();
    }
    trader.stop().unwrap();
    for n in 0..1000 {
        assert_eq!(venue_log.message(), n.to_string());
    }
    assert_eq!(trader_log.ended(), "LoggedOutByUs");
    venue.stop().unwrap();
}

#[test]
fn the_connection_of_a_counterparty_that_never_reads_is_closed() {
    let mut settings = acceptor();
    settings.limits.outbound_buffer_size = 32 * 1024;
    let (venue, log) = venue(settings);
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.send("A", "98=0|108=1");
    log.logged_on();
    let bytes: Vec<u8> = (0..60_000).flat_map(|n| peer.message("D", &format!("11=ord{n}"))).collect();
    // It ends when the venue has closed the connection.
    let _ = peer.stream.write_all(&bytes);
    assert_eq!(log.ended(), "HeartbeatTimedOut");
    venue.stop().unwrap();
}

/// An application that panics when it is notified of a sent message.
struct Clumsy(Recorder);

impl Application for Clumsy {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        self.0.on_message(message, turn)
    }

    fn on_event(&mut self, event: &Event<'_>, turn: &mut Turn<'_>) -> Result<(), Failure> {
        assert!(!matches!(event, Event::Sent { .. }), "an application's mistake");
        self.0.on_event(event, turn)
    }
}

#[test]
fn a_panic_in_the_sent_event_ends_a_connection_and_not_the_engine() {
    let other = of("FIX.4.4:VENUE->OTHER", Role::Acceptor);
    let (app, log) = Recorder::venue();
    let venue = Engine::builder()
        .accept(anywhere(), acceptor())
        .accept(anywhere(), other)
        .start(Clumsy(app))
        .unwrap();
    let address = venue.addresses()[0];
    let mut bystander = Peer::connect(address).named("OTHER", "VENUE");
    bystander.log_on();
    let mut peer = Peer::connect(address);
    peer.log_on();
    order(&mut venue.session(&acceptor().id).unwrap().sender(), "report").unwrap();
    assert!(log.ended().contains("CallbackFailed"));
    bystander.send("D", "11=fine");
    assert!(bystander.receive().contains("|11=fine|"));
    venue.stop().unwrap();
}

#[test]
fn asking_a_stopped_engine_returns_an_error() {
    let (venue, _log) = venue(acceptor());
    venue.stopper().stop();
    let mut sender = venue.session(&acceptor().id).unwrap().sender();
    eventually(|| order(&mut sender, "late") == Err(PostError::Stopped));
    let skipped =
        venue.session(&acceptor().id).unwrap().skip_poison_message(Change::new("desk", "late"), LIMIT);
    assert_eq!(skipped, Err(OperationError::Stopped));
    venue.wait().unwrap();
}

#[test]
fn a_session_limit_of_zero_is_an_error_of_one_line() {
    let (app, _) = Recorder::venue();
    let error = Engine::builder().accept(anywhere(), acceptor()).max_sessions(0).start(app).unwrap_err();
    assert!(error.to_string().ends_with(" sessions, as many as its limit allows (MaxSessions)"), "{error}");
}

#[test]
fn an_initiator_whose_logon_nobody_answers_learns_what_to_compare() {
    let (venue, _venue_log) = venue(acceptor());
    let swapped = initiator().with(|s| s.id = "FIX.4.4:VENUE->TRADER".parse().unwrap());
    let (trader, log) = trader(venue.addresses()[0].port(), swapped);
    assert_eq!(log.ended(), "LogonUnanswered");
    trader.stop().unwrap();
    venue.stop().unwrap();
}

#[test]
fn what_main_prints_of_an_error_is_its_sentence() {
    let error = Engine::builder().start(Recorder::venue().0).unwrap_err();
    assert_eq!(format!("{error:?}"), error.to_string());
    let error = "FIX.4.4:VENUE-TRADER".parse::<fixbolt::session::SessionId>().unwrap_err();
    assert_eq!(format!("{error:?}"), error.to_string());
    let error = fixbolt::config::Configuration::from_text("a.cfg", "[SESION]\nhello\n").unwrap_err();
    assert_eq!(format!("{error:?}"), error.to_string());
}
