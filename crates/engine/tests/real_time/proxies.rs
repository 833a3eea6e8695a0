//! Proxies that name the counterparty in a PROXY header: whom the engine believes, and what the
//! address counts for.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use crate::support::certificates::Authority;
use crate::support::lines::Lines;
use crate::support::*;
use fixbolt::config::Configuration;
use fixbolt::session::Role;
use fixbolt::{Acceptance, Engine, EngineBuilder, Initiation, Network};
use socket2::{Domain, Socket, Type};

/// Where proxies are in these tests: every connection of the tests, unless it says otherwise.
const PROXIES: &str = "127.0.0.1/32";
/// Where nobody is a proxy.
const ELSEWHERE: &str = "127.0.0.77:0";
const V1: &[u8] = b"PROXY TCP4 192.0.2.1 198.51.100.1 56324 9880\r\n";
/// The header of a proxy's own connection, as its health checks have it.
const LOCAL: &[u8] = b"\r\n\r\n\0\r\nQUIT\n\x20\x00\x00\x00";

fn v2(addresses_and_more: &[u8]) -> Vec<u8> {
    let length = u16::try_from(addresses_and_more.len()).unwrap().to_be_bytes();
    [b"\r\n\r\n\0\r\nQUIT\n\x21\x11", &length[..], addresses_and_more].concat()
}

fn v4(last: u8) -> [u8; 12] {
    [192, 0, 2, last, 198, 51, 100, 1, 0xdc, 0x04, 0x26, 0x98]
}

fn proxies() -> Network {
    PROXIES.parse().unwrap()
}

/// Returns a builder of a venue for the counterparty at 192.0.2.1, or for any.
fn venue(allowed: Option<&str>) -> EngineBuilder {
    let mut session = Acceptance::from(acceptor());
    session.allowed_remote_addresses = allowed.map(|ip| ip.parse().unwrap()).into_iter().collect();
    Engine::builder().accept(anywhere(), session).proxy_protocol_from(anywhere(), [proxies()])
}

/// Connects from an address.
fn connect_from(from: &str, to: SocketAddr) -> Peer {
    let socket = Socket::new(Domain::for_address(to), Type::STREAM, None).unwrap();
    socket.bind(&from.parse::<SocketAddr>().unwrap().into()).unwrap();
    socket.connect(&to.into()).unwrap();
    Peer::on(socket.into())
}

#[test]
fn the_counterparty_that_a_listed_proxy_names_is_the_one_that_is_admitted_however_the_header_arrives() {
    let (app, log) = Recorder::venue();
    let venue = venue(Some("192.0.2.1")).start(app).unwrap();
    let with_more = [&v4(1)[..], b"\x02\x00\x05venue\x04\x00\x02\0\0"].concat();
    for (n, header) in [V1.to_vec(), v2(&v4(1)), v2(&with_more)].into_iter().enumerate() {
        for pieces in ["one", "bytes", "header first"] {
            let mut peer = Peer::connect(venue.addresses()[0]);
            let logon = peer.message("A", "98=0|108=30|141=Y");
            let bytes = [&header[..], &logon].concat();
            match pieces {
                "one" => peer.stream.write_all(&bytes).unwrap(),
                "bytes" => bytes.chunks(1).for_each(|byte| {
                    peer.stream.write_all(byte).unwrap();
                    thread::sleep(Duration::from_micros(200));
                }),
                _ => {
                    peer.stream.write_all(&header).unwrap();
                    peer.hears_nothing();
                    peer.stream.write_all(&logon).unwrap();
                }
            }
            assert!(peer.receive().contains("|35=A|"), "{n}, {pieces}");
            log.logged_on();
            peer.stream.shutdown(Shutdown::Both).unwrap();
            log.ended();
        }
    }
    // Neither the proxy nor another counterparty is allowed.
    for header in [LOCAL, b"PROXY UNKNOWN\r\n", b"PROXY TCP4 192.0.2.2 198.51.100.1 1 2\r\n", &v2(&v4(2))] {
        let mut peer = Peer::connect(venue.addresses()[0]);
        peer.stream.write_all(header).unwrap();
        peer.closed_silently();
    }
    venue.stop().unwrap();
}

#[test]
fn a_connection_of_the_proxys_own_keeps_its_address() {
    for header in [LOCAL, b"PROXY UNKNOWN\r\n"] {
        let venue = venue(Some("127.0.0.1")).start(Recorder::venue().0).unwrap();
        let mut peer = Peer::connect(venue.addresses()[0]);
        peer.stream.write_all(header).unwrap();
        peer.log_on();
        venue.stop().unwrap();
    }
}

#[test]
fn what_a_connection_may_begin_with_depends_on_where_it_is_from_and_one_line_says_what_was_wrong() {
    let lines = Lines::collect();
    let venue = venue(None).pending_time(Duration::from_millis(300)).start(Recorder::venue().0).unwrap();
    let address = venue.addresses()[0];
    let refused = |mut peer: Peer, bytes: &[u8], ends: bool, reason: &str| {
        peer.stream.write_all(bytes).unwrap();
        if ends {
            peer.stream.shutdown(Shutdown::Write).unwrap();
        }
        peer.closed_silently();
        let from = format!("peer={}", peer.stream.local_addr().unwrap());
        // Other tests have lines, too.
        assert_eq!(lines.with(&["closed before logon", &from]).len(), 1, "{reason}");
        assert_eq!(lines.with(&["closed before logon", &from, reason]).len(), 1, "{:?}", lines.with(&[]));
    };
    let proxy = || Peer::connect(address);
    let none = "connections from this address begin with a PROXY header (ProxyProtocolFrom)";
    let logon = proxy().message("A", "98=0|108=30");
    refused(proxy(), &logon, false, "which this one does not have: it does not begin with one");
    refused(proxy(), &V1[..9], true, none);
    refused(proxy(), &V1[..9], false, "no PROXY header arrived in time (LogonTimeout)");
    refused(proxy(), b"", false, "no PROXY header arrived in time (LogonTimeout)");
    refused(proxy(), b"", true, none);
    refused(proxy(), b"PROXY SCTP 1 2 3 4\r\n", false, "names no protocol that is known");
    refused(proxy(), &[b'P'; 5000], false, none);
    refused(proxy(), &v2(&[0; 5000]), false, "it has more than 4096 bytes");
    let elsewhere = || connect_from(ELSEWHERE, address);
    refused(elsewhere(), V1, false, "begins with a PROXY header, which is not read from this address");
    refused(elsewhere(), &v2(&v4(1)), false, "begins with a PROXY header, which is not read");
    let mut direct = elsewhere();
    direct.log_on();

    // The log has the counterparty's address.
    let mut forwarded = proxy();
    forwarded.stream.write_all(V1).unwrap();
    forwarded.send("A", "98=0|108=30");
    forwarded.closed_silently();
    assert_eq!(lines.with(&["a second connection was closed", "peer=192.0.2.1:56324"]).len(), 1);
    venue.stop().unwrap();
}

#[test]
fn counterparties_behind_a_proxy_have_a_budget_each() {
    let venue = venue(None)
        .max_connections_per_address(2)
        .pending_time(Duration::from_secs(3600))
        .start(Recorder::venue().0)
        .unwrap();
    let forwarded = |last: u8| {
        let mut peer = Peer::connect(venue.addresses()[0]);
        peer.stream.write_all(&v2(&v4(last))).unwrap();
        // Until it was read: connections without a header are the proxy's.
        peer.hears_nothing();
        peer
    };
    let mut first = forwarded(1);
    let mut others: Vec<Peer> = (2..7).map(forwarded).collect();
    let mut second = forwarded(1);
    let mut third = forwarded(1);
    first.closed_silently();
    for peer in others.iter_mut().chain([&mut second, &mut third]) {
        peer.hears_nothing();
    }
    third.log_on();
    venue.stop().unwrap();
}

#[test]
fn a_forwarded_connection_may_belong_to_any_worker() {
    let apps: Vec<_> = (0..3).map(|_| Recorder::venue()).collect();
    let mut apps = apps.into_iter().map(|(app, _)| app);
    let venue = Engine::builder()
        .accept_any(anywhere(), |id| {
            let mut session = Acceptance::from(acceptor().with(|s| s.id = id.clone()));
            session.allowed_remote_addresses = vec!["192.0.2.1".parse().unwrap()];
            Some(session)
        })
        .proxy_protocol_from(anywhere(), [proxies()])
        .start_with(3, |_| apps.next().unwrap())
        .unwrap();
    let mut peers: Vec<Peer> = ["A", "B", "C", "D", "E", "F"]
        .into_iter()
        .map(|name| {
            let mut peer = Peer::connect(venue.addresses()[0]).named(name, "VENUE");
            peer.stream.write_all(V1).unwrap();
            peer.log_on();
            peer
        })
        .collect();
    for peer in &mut peers {
        peer.send("1", "112=there");
        assert!(peer.receive().contains("|112=there|"));
    }
    venue.stop().unwrap();
}

/// Forwards one connection, as a proxy does.
fn forward_one(to: SocketAddr, header: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind(anywhere()).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let mut server = TcpStream::connect(to).unwrap();
        server.write_all(header).unwrap();
        let (mut back, mut answers) = (client.try_clone().unwrap(), server.try_clone().unwrap());
        thread::spawn(move || std::io::copy(&mut answers, &mut back));
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = client.read(&mut bytes) {
            server.write_all(&bytes[..count]).unwrap();
        }
    });
    address
}

#[test]
fn the_header_comes_before_the_handshake_of_tls() {
    let authority = Authority::new();
    let (app, log) = Recorder::venue();
    let venue = venue(Some("192.0.2.1"))
        .tls(anywhere(), authority.tls_of(&authority.issue("VENUE")))
        .start(app)
        .unwrap();
    let proxy = forward_one(venue.addresses()[0], V1);
    let mut session = Initiation::new(initiator(), "localhost", proxy.port());
    session.tls = Some(authority.tls());
    let trader = Engine::builder().connect(session).start(Recorder::trader().0).unwrap();
    log.logged_on();
    trader.stop().unwrap();
    venue.stop().unwrap();
}

#[test]
fn the_sessions_of_an_address_have_the_same_proxies() {
    let other = Acceptance::from(of("FIX.4.4:VENUE->OTHER", Role::Acceptor));
    let mut with_proxies = Acceptance::from(acceptor());
    with_proxies.proxy_protocol_from = vec![proxies()];
    let builder = Engine::builder().accept(anywhere(), with_proxies.clone());
    let error = builder.accept(anywhere(), other.clone()).start(Recorder::venue().0).unwrap_err();
    let expected = "session FIX.4.4:VENUE->OTHER: its proxies (ProxyProtocolFrom) differ from those of another session at its address";
    assert!(error.to_string().starts_with(expected), "{error}");
    // Those that name none have the address's.
    let builder = Engine::builder().accept(anywhere(), with_proxies).accept(anywhere(), other);
    builder.proxy_protocol_from(anywhere(), [proxies()]).start(Recorder::venue().0).unwrap().stop().unwrap();

    let text = |first, second| {
        format!(
            "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=0\nBeginString=FIX.4.4\nSenderCompID=VENUE\n\
             ProxyProtocolFrom={PROXIES}\n[SESSION]\nTargetCompID=TRADER\n{first}[SESSION]\nTargetCompID=OTHER\n{second}"
        )
    };
    let error = Configuration::from_text("a.cfg", &text("", "ProxyProtocolFrom=10.0.0.5\n")).unwrap_err();
    let expected = "a.cfg:9: the sessions of a port have the same ProxyProtocolFrom, because the header comes before the Logon; this one differs from the one at a.cfg:7; make them equal, or give them different ports";
    assert_eq!(error.to_string(), expected);

    for dynamic in ["", "DynamicSession=Y\n"] {
        let configuration = Configuration::from_text("a.cfg", &text(dynamic, "")).unwrap();
        let venue = EngineBuilder::from_config(&configuration).start(Recorder::venue().0).unwrap();
        let mut peer = Peer::connect(venue.addresses()[0]);
        peer.stream.write_all(V1).unwrap();
        peer.log_on();
        venue.stop().unwrap();
    }
}
