//! Who gets in: connections that only wait shut nobody out, addresses that no session allows are
//! closed at once, and sessions that counterparties invent are bounded and given back.

use std::io::Read;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use crate::support::*;
use fixbolt::config::Configuration;
use fixbolt::session::{LogonDecision, SessionId, SessionState};
use fixbolt::{Acceptance, Change, Engine, EngineBuilder, OperationError};

/// No connection is closed because of the time.
const AN_HOUR: Duration = Duration::from_secs(3600);
const CHANGE: Change<'static> = Change::new("jane", "test");

/// Returns a builder of an engine that accepts anyone.
fn anyone() -> EngineBuilder {
    Engine::builder().accept_any(anywhere(), |id| {
        let settings = acceptor().with(|s| {
            s.id = id.clone();
            s.timing.logout_timeout = Duration::from_millis(50);
        });
        Some(settings.into())
    })
}

fn peer<A>(venue: &Engine<A>, name: &str) -> Peer {
    Peer::connect(venue.addresses()[0]).named(name.to_owned().leak(), "VENUE")
}

fn session_of(name: &str) -> SessionId {
    id(&format!("FIX.4.4:VENUE->{name}"))
}

fn is_open<A>(venue: &Engine<A>, name: &str) -> bool {
    venue.session(&session_of(name)).is_some()
}

/// Waits until the other side has closed the connection.
fn is_closed(mut stream: &TcpStream) {
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    match stream.read(&mut [0]) {
        Ok(read) => assert_eq!(read, 0, "an answer"),
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset),
    }
}

/// Returns whether the connection is open now.
fn is_still_open(stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    let read = { stream }.read(&mut [0]);
    stream.set_nonblocking(false).unwrap();
    matches!(read, Err(error) if error.kind() == std::io::ErrorKind::WouldBlock)
}

#[test]
fn idle_connections_never_keep_a_counterparty_from_logging_on() {
    let (app, log) = Recorder::venue();
    let builder = Engine::builder().accept(anywhere(), acceptor());
    let venue = builder.pending_time(AN_HOUR).start(app).unwrap();
    let idle: Vec<TcpStream> = (0..400).map(|_| TcpStream::connect(venue.addresses()[0]).unwrap()).collect();
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    log.logged_on();
    // The budget of the address: the oldest ones gave way.
    is_closed(&idle[0]);
    is_closed(&idle[400 - 65]);
    assert!(is_still_open(&idle[399]));
    assert_eq!(idle.iter().filter(|stream| is_still_open(stream)).count(), 64 - 1);
    venue.stop().unwrap();
}

#[test]
fn a_connection_that_has_sent_something_outlasts_silent_ones() {
    let (app, log) = Recorder::venue();
    let builder = Engine::builder().accept(anywhere(), acceptor()).pending_time(AN_HOUR);
    let venue = builder.max_pending_connections(3).max_connections_per_address(100).start(app).unwrap();
    let connect = || TcpStream::connect(venue.addresses()[0]).unwrap();
    let mut slow = Peer::connect(venue.addresses()[0]);
    let logon = slow.message("A", "98=0|108=30");
    std::io::Write::write_all(&mut slow.stream, &logon[..20]).unwrap();
    let first = connect();
    let flood: Vec<TcpStream> = (0..50).map(|_| connect()).collect();
    is_closed(&first);
    is_closed(&flood[40]);
    std::io::Write::write_all(&mut slow.stream, &logon[20..]).unwrap();
    assert!(slow.receive().contains("|35=A|"));
    log.logged_on();
    venue.stop().unwrap();
}

#[test]
fn a_connection_whose_logon_has_arrived_does_not_give_way() {
    let (busy, is_busy) = channel();
    let (go_on, goes_on) = channel::<()>();
    let (app, log) = Scripted::on_message(move |_, _| {
        busy.send(()).unwrap();
        goes_on.recv().unwrap();
        None
    });
    let builder = Engine::builder().accept(anywhere(), acceptor()).pending_time(AN_HOUR);
    let venue = builder.max_pending_connections(1).start(app).unwrap();
    let address = venue.addresses()[0];
    venue.accept(address, acceptor().with(|s| s.id = session_of("OTHER")), LIMIT).unwrap();
    let mut trader = Peer::connect(address);
    trader.log_on();
    log.logged_on();
    let silent = TcpStream::connect(address).unwrap();
    let mut other = peer(&venue, "OTHER");
    is_closed(&silent);
    // Nothing waits at the port once an order was answered.
    go_on.send(()).unwrap();
    trader.send("D", "11=first");
    assert!(trader.receive().contains("|11=first|"));
    is_busy.recv_timeout(Duration::from_secs(20)).unwrap();
    trader.send("D", "11=second");
    is_busy.recv_timeout(Duration::from_secs(20)).unwrap();
    // The worker knows the connection, and meets its Logon and the newcomer at once.
    other.send("A", "98=0|108=30");
    let _newcomer = TcpStream::connect(address).unwrap();
    go_on.send(()).unwrap();
    assert!(other.receive().contains("|35=A|"));
    venue.stop().unwrap();
}

#[test]
fn a_connection_from_an_address_that_no_session_allows_is_closed_before_it_sends_anything() {
    let elsewhere = "192.0.2.1".parse::<IpAddr>().unwrap();
    let here = "127.0.0.1".parse::<IpAddr>().unwrap();
    let session = |name: &str, allowed| {
        let mut acceptance = Acceptance::from(acceptor().with(|s| s.id = session_of(name)));
        acceptance.allowed_remote_addresses = vec![allowed];
        acceptance
    };
    let (app, _log) = Recorder::venue();
    let builder = Engine::builder().accept(anywhere(), session("A", elsewhere)).pending_time(AN_HOUR);
    let venue = builder.start(app).unwrap();
    let address = venue.addresses()[0];
    is_closed(&TcpStream::connect(address).unwrap());
    // It is looked at when a connection arrives, not when the engine starts.
    let second = venue.accept(address, session("B", here), LIMIT).unwrap();
    let waiting = TcpStream::connect(address).unwrap();
    peer(&venue, "B").log_on();
    assert!(is_still_open(&waiting));
    // Each session's own list is still looked at after the Logon.
    let mut intruder = peer(&venue, "A");
    intruder.send("A", "98=0|108=30");
    intruder.closed_silently();
    eventually(|| second.remove(CHANGE, LIMIT).is_ok());
    is_closed(&TcpStream::connect(address).unwrap());
    venue.stop().unwrap();
}

#[test]
fn a_counterparty_connects_over_ipv6_if_its_address_is_allowed() {
    let anywhere_v6: SocketAddr = "[::1]:0".parse().unwrap();
    if let Err(error) = std::net::TcpListener::bind(anywhere_v6) {
        return eprintln!("not seen: this machine has no IPv6: {error}");
    }
    for (allowed, is_admitted) in [("::1", true), ("::2", false), ("127.0.0.1", false)] {
        let (app, log) = Recorder::venue();
        let mut session = Acceptance::from(acceptor());
        session.allowed_remote_addresses = vec![allowed.parse().unwrap()];
        let venue = Engine::builder().accept(anywhere_v6, session).start(app).unwrap();
        let address = venue.addresses()[0];
        assert!(address.is_ipv6());
        if is_admitted {
            let session = fixbolt::Initiation::new(initiator(), "::1", address.port());
            let (app, trader_log) = Recorder::trader();
            let trader = Engine::builder().connect(session).start(app).unwrap();
            trader_log.logged_on();
            log.logged_on();
            trader.stop().unwrap();
        } else {
            Peer::connect(address).closed_silently();
        }
        venue.stop().unwrap();
    }
}

#[test]
fn a_configured_template_closes_addresses_that_it_does_not_allow_and_one_in_code_asks_first() {
    let configured = |allowed: &str| {
        let text = format!(
            "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=0\n[SESSION]\nDynamicSession=Y\n\
             SenderCompID=VENUE\nLogonTimeout=3600\nAllowedRemoteAddresses={allowed}\n"
        );
        let configuration = Configuration::from_text("a.cfg", &text).unwrap();
        EngineBuilder::from_config(&configuration).start(Recorder::venue().0).unwrap()
    };
    let venue = configured("192.0.2.1");
    is_closed(&TcpStream::connect(venue.addresses()[0]).unwrap());
    venue.stop().unwrap();
    let venue = configured("192.0.2.1,127.0.0.1");
    peer(&venue, "A").log_on();
    venue.stop().unwrap();
    let venue = anyone().start(Recorder::venue().0).unwrap();
    peer(&venue, "A").log_on();
    venue.stop().unwrap();
}

#[test]
fn a_dynamic_session_without_a_connection_gives_way_to_a_counterparty_that_logs_on() {
    let (app, log) = Recorder::venue();
    let venue = anyone().max_dynamic_sessions(2).start(app).unwrap();
    let mut first = peer(&venue, "FIRST");
    first.log_on();
    let mut second = peer(&venue, "SECOND");
    second.log_on();
    let mut third = peer(&venue, "THIRD");
    third.send("A", "98=0|108=30");
    third.closed_silently();
    assert!(!is_open(&venue, "THIRD"));

    let handle = venue.session(&session_of("SECOND")).unwrap();
    drop(second);
    log.ended();
    let mut third = peer(&venue, "THIRD");
    third.log_on();
    assert!(!is_open(&venue, "SECOND"));
    assert_eq!(handle.state(), SessionState::Closed);
    assert_eq!(handle.reset(CHANGE, LIMIT), Err(OperationError::NoSession));
    assert!(is_open(&venue, "FIRST") && is_open(&venue, "THIRD"));
    first.send("D", "11=still here");
    assert!(first.receive().contains("|11=still here|"));
    venue.stop().unwrap();
}

#[test]
fn a_full_engine_closes_an_idle_dynamic_session_and_refuses_if_there_is_none() {
    let (app, log) = Recorder::venue();
    let venue = anyone().accept(anywhere(), acceptor()).max_sessions(2).start(app).unwrap();
    peer(&venue, "TRADER").log_on();
    log.ended();
    let mut first = peer(&venue, "FIRST");
    first.log_on();
    let mut second = peer(&venue, "SECOND");
    second.send("A", "98=0|108=30");
    second.closed_silently();
    drop(first);
    log.ended();
    peer(&venue, "SECOND").log_on();
    assert!(!is_open(&venue, "FIRST"));
    assert!(is_open(&venue, "TRADER"), "a configured session stays");
    venue.stop().unwrap();
}

#[test]
fn a_dynamic_session_whose_journal_cannot_be_created_does_not_stay() {
    let (app, log) = Recorder::venue();
    let venue = anyone().store(Box::new(full_store(0))).start(app).unwrap();
    for _ in 0..3 {
        let mut refused = peer(&venue, "A");
        refused.send("A", "98=0|108=30");
        refused.closed_silently();
        assert!(log.ended().starts_with("Halted(StoreFailed("));
        eventually(|| !is_open(&venue, "A"));
    }
    venue.stop().unwrap();
}

#[test]
fn the_dynamic_session_that_has_been_idle_for_longest_gives_way_first() {
    let (app, log) = Recorder::venue();
    let venue = anyone().max_dynamic_sessions(3).start(app).unwrap();
    let mut peers = ["A", "B", "C"].map(|name| {
        let mut peer = peer(&venue, name);
        peer.log_on();
        (name, Some(peer))
    });
    for n in [1, 0, 2] {
        peers[n].1 = None;
        log.ended();
    }
    // A returns, and is the one that was used last.
    let mut again = peer(&venue, "A");
    again.seq = 2;
    again.log_on();
    drop(again);
    log.ended();
    for (newcomer, gone) in [("D", "B"), ("E", "C"), ("F", "A")] {
        assert!(is_open(&venue, gone));
        let mut peer = peer(&venue, newcomer);
        peer.log_on();
        assert!(!is_open(&venue, gone), "{gone}");
        std::mem::forget(peer);
    }
    venue.stop().unwrap();
}

#[test]
fn an_idle_dynamic_session_is_closed_and_its_journal_continues_with_the_next_logon() {
    let scratch = Scratch::new("given-back");
    let (app, log) = Recorder::venue();
    let venue = anyone().journal(&scratch.0).dynamic_session_idle_time(Duration::ZERO).start(app).unwrap();
    let mut seq = 1;
    for round in 1..4 {
        let mut peer = peer(&venue, "TRADER");
        peer.seq = seq;
        peer.send("A", "98=0|108=30");
        let answer = peer.receive();
        // Each round has used two numbers: a Logon and a report.
        let expected = format!("|34={}|", 2 * round - 1);
        assert!(answer.contains("|35=A|") && answer.contains(&expected), "{answer}");
        peer.send("D", &format!("11=order {round}"));
        assert!(peer.receive().contains(&format!("|11=order {round}|")));
        seq = peer.seq;
        drop(peer);
        log.ended();
        eventually(|| !is_open(&venue, "TRADER"));
    }
    venue.stop().unwrap();
}

#[test]
fn an_idle_dynamic_session_stays_open_if_its_messages_are_only_in_memory() {
    let (app, log) = Recorder::venue();
    let reset_on_logon = |id: &SessionId| id.target_comp_id() == "RESETS";
    let venue = Engine::builder()
        .accept_any(anywhere(), move |id| {
            let settings =
                acceptor().with(|s| (s.id, s.reset.reset_on_logon) = (id.clone(), reset_on_logon(id)));
            Some(settings.into())
        })
        .dynamic_session_idle_time(Duration::ZERO)
        .start(app)
        .unwrap();
    for name in ["CONTINUES", "RESETS"] {
        peer(&venue, name).log_on();
        log.ended();
    }
    eventually(|| !is_open(&venue, "RESETS"));
    assert!(is_open(&venue, "CONTINUES"));
    venue.stop().unwrap();
}

#[test]
fn a_dynamic_session_that_an_operator_has_disabled_is_not_forgotten() {
    let (app, log) = Recorder::venue();
    let settings = |id: &SessionId| {
        let settings = acceptor().with(|s| {
            (s.id, s.reset.reset_on_logon) = (id.clone(), true);
            s.timing.logout_timeout = Duration::from_millis(50);
        });
        Some(settings.into())
    };
    let builder = Engine::builder().accept_any(anywhere(), settings);
    let builder = builder.dynamic_session_idle_time(Duration::ZERO).max_dynamic_sessions(1);
    let venue = builder.start(app).unwrap();
    let mut banned = peer(&venue, "BANNED");
    banned.log_on();
    let handle = venue.session(&session_of("BANNED")).unwrap();
    handle.disable(CHANGE, "", Duration::from_secs(20)).ok();
    drop(banned);
    log.ended();
    assert_eq!(handle.state(), SessionState::Disabled);
    // Not even under pressure.
    let mut other = peer(&venue, "OTHER");
    other.send("A", "98=0|108=30");
    other.closed_silently();
    assert!(is_open(&venue, "BANNED"));
    handle.remove(CHANGE, LIMIT).unwrap();
    peer(&venue, "OTHER").log_on();
    venue.stop().unwrap();
}

#[test]
fn a_dynamic_session_whose_first_logon_is_refused_is_closed_at_once_and_pushes_out_nobody() {
    let (mut app, log) = Scripted::venue();
    app.logon = Box::new(|logon| match logon.get(fixbolt::codec::Tag::new(49)) {
        Some(b"SILENT") => LogonDecision::RefuseSilently,
        Some(b"TOLD") => LogonDecision::Refuse { text: "go away".to_owned() },
        _ => LogonDecision::Accept,
    });
    let venue = anyone().max_dynamic_sessions(1).start(app).unwrap();
    peer(&venue, "FRIEND").log_on();
    log.ended();
    for _ in 0..3 {
        let mut silent = peer(&venue, "SILENT");
        silent.send("A", "98=0|108=30");
        silent.closed_silently();
        let mut told = peer(&venue, "TOLD");
        told.send("A", "98=0|108=30");
        assert!(told.receive().contains("|58=go away|"));
        assert!(told.try_receive().is_none());
    }
    eventually(|| !is_open(&venue, "SILENT") && !is_open(&venue, "TOLD"));
    assert!(is_open(&venue, "FRIEND"), "a stranger has pushed out a counterparty");
    venue.stop().unwrap();
}

#[test]
fn a_stranger_that_was_just_refused_makes_no_room_among_the_dynamic_sessions() {
    let (mut app, _log) = Scripted::venue();
    let (asked, is_asked) = channel();
    let (answer, answers) = channel::<()>();
    app.logon = Box::new(move |logon| match logon.get(fixbolt::codec::Tag::new(49)) {
        Some(b"STRANGER") => {
            asked.send(()).unwrap();
            answers.recv().unwrap();
            LogonDecision::RefuseSilently
        }
        _ => LogonDecision::Accept,
    });
    let venue = anyone().max_dynamic_sessions(1).start(app).unwrap();
    let mut stranger = peer(&venue, "STRANGER");
    let mut others = ["A", "B"].map(|name| peer(&venue, name));
    stranger.send("A", "98=0|108=30");
    is_asked.recv_timeout(Duration::from_secs(20)).unwrap();
    // They are read in the cycle after the one in which the stranger is refused.
    for other in &mut others {
        other.send("A", "98=0|108=30");
    }
    answer.send(()).unwrap();
    stranger.closed_silently();
    let logged_on = others.iter_mut().filter_map(Peer::try_receive);
    assert_eq!(logged_on.count(), 1);
    venue.stop().unwrap();
}

#[test]
fn a_stranger_that_is_refused_silently_leaves_no_journal_and_one_that_is_told_why_has_one() {
    let scratch = Scratch::new("strangers");
    let (mut app, _log) = Scripted::venue();
    app.logon = Box::new(|logon| match logon.get(fixbolt::codec::Tag::new(49)) {
        Some(b"TOLD") => LogonDecision::Refuse { text: "go away".to_owned() },
        _ => LogonDecision::RefuseSilently,
    });
    let venue = anyone().journal(&scratch.0).start(app).unwrap();
    for n in 0..20 {
        let mut stranger = peer(&venue, &format!("STRANGER{n}"));
        stranger.send("A", "98=0|108=30");
        stranger.closed_silently();
    }
    let journals = || std::fs::read_dir(&scratch.0).unwrap().count();
    assert_eq!(journals(), 0);
    // Its Logout has used a sequence number.
    for seq in 1..3 {
        let mut told = peer(&venue, "TOLD");
        told.send("A", "98=0|108=30");
        assert!(told.receive().contains(&format!("|34={seq}|")));
        assert!(told.try_receive().is_none());
    }
    assert_eq!(journals(), 1);
    venue.stop().unwrap();
}

#[test]
fn an_address_may_have_a_limited_number_of_dynamic_sessions_and_any_number_of_configured_ones() {
    let (app, _log) = Recorder::venue();
    let (one, other) = (acceptor(), acceptor().with(|s| s.id = session_of("OTHER")));
    let venue = anyone().max_connections_per_address(2);
    // All at one address, which is only known once the engine has started.
    let venue = venue.start(app).unwrap();
    let address = venue.addresses()[0];
    for configured in [one, other] {
        venue.accept(address, configured, LIMIT).unwrap();
    }
    let mut configured = ["TRADER", "OTHER"].map(|name| {
        let mut peer = peer(&venue, name);
        peer.log_on();
        peer
    });
    let mut first = peer(&venue, "A");
    first.log_on();
    let mut second = peer(&venue, "B");
    second.log_on();
    let mut third = peer(&venue, "C");
    third.send("A", "98=0|108=30");
    third.closed_silently();
    for peer in configured.iter_mut().chain([&mut first, &mut second]) {
        peer.send("D", "11=x");
        assert!(peer.receive().contains("|11=x|"));
    }
    drop(first);
    eventually(|| {
        let mut peer = peer(&venue, "C");
        peer.send("A", "98=0|108=30");
        peer.try_receive().is_some()
    });
    drop(configured);
    venue.stop().unwrap();
}

#[test]
fn ten_thousand_identities_one_after_the_other_take_no_more_than_a_few() {
    /// Returns the largest index of a session.
    fn run(identities: usize) -> usize {
        let largest = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&largest);
        let (app, log) = Scripted::on_message(move |_, turn| {
            seen.fetch_max(turn.key().index(), Ordering::SeqCst);
            None
        });
        let venue = anyone().max_dynamic_sessions(3).start(app).unwrap();
        let address: SocketAddr = venue.addresses()[0];
        for n in 0..identities {
            let mut peer = peer(&venue, &format!("T{n}"));
            assert_eq!(peer.stream.peer_addr().unwrap(), address);
            peer.log_on();
            peer.send("D", "11=x");
            assert!(peer.receive().contains("|11=x|"));
            drop(peer);
            log.ended();
        }
        let open = (0..identities).filter(|n| is_open(&venue, &format!("T{n}"))).count();
        assert_eq!(open, identities.min(3));
        venue.stop().unwrap();
        largest.load(Ordering::SeqCst)
    }
    assert!(run(10_000) <= 4);
}

#[test]
fn a_dynamic_session_whose_journal_turns_out_impossible_after_its_logon_does_not_stay() {
    let scratch = Scratch::new("no-disk");
    // A disk that is not there yet.
    let (base, disk) = (scratch.0.join("journals"), scratch.0.join("disk"));
    std::os::unix::fs::symlink(&disk, &base).unwrap();
    let (app, log) = Recorder::venue();
    let venue = anyone().journal(&base).max_dynamic_sessions(2).start(app).unwrap();
    for n in 0..4 {
        let name = format!("A{}", n / 2);
        let mut refused = peer(&venue, &name);
        // With a reset as well: the next generation is one that the journal never had.
        refused.send("A", if n % 2 == 0 { "98=0|108=30|141=Y" } else { "98=0|108=30" });
        refused.closed_silently();
        assert!(log.ended().contains("StoreFailed("));
        eventually(|| !is_open(&venue, &name));
    }
    std::fs::create_dir(&disk).unwrap();
    for name in ["A0", "A1"] {
        peer(&venue, name).log_on();
    }
    venue.stop().unwrap();
}

#[test]
fn logons_that_wait_behind_others_are_looked_at_without_another_event() {
    const STRANGERS: usize = 40;
    const FRIENDS: usize = 10;
    let (app, _log) = Recorder::venue();
    let builder = Engine::builder().accept_any(anywhere(), |id| {
        if id.target_comp_id() == "SLOW" {
            // The next session is opened after four times as long.
            std::thread::sleep(Duration::from_millis(150));
        }
        let settings = acceptor().with(|s| s.id = id.clone());
        (!id.target_comp_id().starts_with("STRANGER")).then(|| settings.into())
    });
    // Eight Logons a second would be too few.
    let venue = builder.pending_time(Duration::from_secs(5)).start(app).unwrap();
    let mut slow = peer(&venue, "SLOW");
    slow.log_on();
    let mut strangers: Vec<_> = (0..STRANGERS).map(|n| peer(&venue, &format!("STRANGER{n}"))).collect();
    let mut friends: Vec<_> = (0..FRIENDS).map(|n| peer(&venue, &format!("FRIEND{n}"))).collect();
    for waiting in strangers.iter_mut().chain(&mut friends) {
        waiting.send("A", "98=0|108=0");
    }
    for friend in &mut friends {
        assert!(friend.receive().contains("|35=A|"));
    }
    for stranger in &mut strangers {
        stranger.closed_silently();
    }
    venue.stop().unwrap();
}
