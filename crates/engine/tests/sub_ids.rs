//! Sessions that differ only in SubIDs and LocationIDs, over loopback.

mod support;

use fixbolt::codec::{BodySink, Key, MsgType, NewBody};
use fixbolt::config::Configuration;
use fixbolt::session::{Role, SessionId};
use fixbolt::{Acceptance, Engine, EngineBuilder, EngineError, SettingsError};
use fixbolt_journal::JournalReader;
use support::*;

/// A Logon with these SubIDs and LocationIDs, and the answer; `None` if there is none.
fn log_on(venue: &Engine<Recorder>, ids: &str, seq: u64) -> Option<(Peer, String)> {
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.seq = seq;
    peer.send("A", &format!("{ids}98=0|108=30"));
    let answer = peer.try_receive()?;
    answer.contains("|35=A|").then_some((peer, answer))
}

fn sessions(base: &std::path::Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(base)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("FIX"))
        .collect();
    names.sort();
    names
}

#[test]
fn three_sessions_of_one_port_have_their_own_journals_and_continue_after_a_restart() {
    let scratch = Scratch::new("sub-ids");
    let at = |name: &str| scratch.0.join(name).display().to_string();
    let venue_text = format!(
        "[DEFAULT]\nSocketAcceptPort=0\nBeginString=FIX.4.4\nSenderCompID=VENUE\nTargetCompID=TRADER\n\
         UseDataDictionary=N\nFileStorePath={}\n[SESSION]\n[SESSION]\nTargetSubID=DESK\n\
         [SESSION]\nTargetSubID=DESK\nTargetLocationID=N/Y\nSenderSubID=FX\n",
        at("venue")
    );
    let names = ["VENUE->TRADER", "VENUE->TRADER/DESK", r"VENUE/FX->TRADER/DESK/N\/Y"];
    let ids = ["", "|50=DESK", "|50=DESK|142=N/Y|57=FX"];
    for run in [0, 1_u64] {
        let (app, venue_log) = Recorder::venue();
        let configuration = Configuration::from_text("venue.cfg", &venue_text).unwrap();
        let venue = EngineBuilder::from_config(&configuration).start(app).unwrap();
        let trader_text = format!(
            "[DEFAULT]\nSocketConnectHost=127.0.0.1\nSocketConnectPort={}\nHeartBtInt=30\nBeginString=FIX.4.4\n\
             SenderCompID=TRADER\nTargetCompID=VENUE\nUseDataDictionary=N\nFileStorePath={}\n\
             [SESSION]\n[SESSION]\nSenderSubID=DESK\n[SESSION]\nSenderSubID=DESK\nSenderLocationID=N/Y\nTargetSubID=FX\n",
            venue.addresses()[0].port(),
            at("trader")
        );
        let (app, trader_log) = Recorder::trader();
        let configuration = Configuration::from_text("trader.cfg", &trader_text).unwrap();
        let trader = EngineBuilder::from_config(&configuration).start(app).unwrap();
        for _ in 0..3 {
            trader_log.logged_on();
            venue_log.logged_on();
        }
        for (n, name) in names.iter().enumerate() {
            let ours: SessionId = id(&format!("FIX.4.4:{name}"));
            let theirs =
                SessionId::between(ours.version(), ours.target().clone(), ours.sender().clone()).unwrap();
            let mut sender = trader.session(&theirs).unwrap().sender();
            // In each run a Logon, the orders and a Logout.
            let orders = n as u64 + 1;
            for order in 1..=orders {
                let mut draft = sender.draft(MsgType::new(b"D"));
                draft.writer().bytes(Key::new(11), name.as_bytes());
                draft.send().unwrap();
                assert_eq!(venue_log.message(), name.escape_default().to_string());
                let expected = run * (orders + 2) + 1 + order;
                let sent = trader_log.wait(|seen| matches!(seen, Seen::Sent(..)));
                assert!(matches!(sent, Seen::Sent(_, seq) if seq == expected), "{name} {run}: {sent:?}");
            }
            assert!(venue.session(&ours).is_some());
        }
        trader.stop().unwrap();
        venue.stop().unwrap();
    }
    assert_eq!(
        sessions(&scratch.0.join("venue")),
        ["FIX.4.4-VENUE+FX-TRADER+DESK+N%2FY", "FIX.4.4-VENUE-TRADER", "FIX.4.4-VENUE-TRADER+DESK"]
    );
    for (name, ids) in names.iter().zip(ids) {
        let ours: SessionId = id(&format!("FIX.4.4:{name}"));
        let reader = JournalReader::open(&scratch.0.join("venue").join(ours.file_name())).unwrap();
        assert_eq!(reader.sessions()[0].session(), Some(&ours));
        let mut bytes = Vec::new();
        for entry in std::fs::read_dir(scratch.0.join("venue").join(ours.file_name())).unwrap() {
            bytes.extend(std::fs::read(entry.unwrap().path()).unwrap());
        }
        let text = String::from_utf8_lossy(&bytes).replace('\x01', "|");
        assert!(text.contains(&format!("|35=A|49=TRADER|56=VENUE|34=1{ids}|52=")), "{name}");
    }
}

#[test]
fn a_logon_is_for_the_most_specific_session_that_accepts_it() {
    let (app, log) = Recorder::venue();
    let accept = |name: &str| Acceptance::from(of(name, Role::Acceptor));
    let elsewhere = std::net::SocketAddr::from(([127, 0, 0, 2], 0));
    let venue = Engine::builder()
        .accept(anywhere(), accept("FIX.4.4:VENUE->TRADER/DESK"))
        .accept(anywhere(), accept("FIX.4.4:VENUE->TRADER/DESK/NY"))
        .accept(elsewhere, accept("FIX.4.4:VENUE->TRADER"))
        .start(app)
        .unwrap();
    let (_ny, answer) = log_on(&venue, "50=DESK|142=NY|", 1).unwrap();
    assert!(answer.contains("|34=1|57=DESK|143=NY|52="), "{answer}");
    let (_desk, answer) = log_on(&venue, "50=DESK|142=LN|", 1).unwrap();
    assert!(answer.contains("|34=1|57=DESK|52="), "{answer}");
    log.logged_on();
    log.logged_on();
    // The session without SubIDs is accepted at another address.
    assert!(log_on(&venue, "", 1).is_none());
    assert!(log_on(&venue, "50=TRADER1|", 1).is_none());
    // Both are connected already.
    assert!(log_on(&venue, "50=DESK|", 2).is_none());
    let mut open = Peer::connect(venue.addresses()[1]);
    open.send("A", "50=TRADER1|98=0|108=30");
    let answer = open.receive();
    assert!(answer.contains("|34=1|52="), "{answer}");

    // A session that is added later must fit the others, too.
    let more = |name| venue.accept(venue.addresses()[0], accept(name), LIMIT).map(|_| ());
    let error = more("FIX.4.4:VENUE->TRADER//NY").unwrap_err();
    let line = "session FIX.4.4:VENUE->TRADER//NY: a Logon could be for it or for FIX.4.4:VENUE->TRADER/DESK at the same address, as neither has more SubIDs and LocationIDs; give one of them those of both";
    assert_eq!(error.to_string(), line);
    more("FIX.4.4:VENUE->TRADER/OTHER").unwrap();
    assert!(log_on(&venue, "50=OTHER|142=NY|", 1).is_some());
    venue.stop().unwrap();
}

#[test]
fn sessions_that_a_logon_could_be_for_do_not_start() {
    let accept = |name: &str| Acceptance::from(of(name, Role::Acceptor));
    let builder = || {
        Engine::builder()
            .accept(anywhere(), accept("FIX.4.4:VENUE->TRADER/DESK"))
            .accept(anywhere(), accept("FIX.4.4:VENUE//NY->TRADER"))
    };
    let error = builder().start(Recorder::venue().0).unwrap_err();
    let EngineError::Settings { error, session } = error else { panic!("{error}") };
    let other = Box::new(id("FIX.4.4:VENUE->TRADER/DESK"));
    assert_eq!((error, *session), (SettingsError::Ambiguous { other }, id("FIX.4.4:VENUE//NY->TRADER")));
    let venue = builder().continue_initialization_on_error(true).start(Recorder::venue().0).unwrap();
    assert!(venue.session(&id("FIX.4.4:VENUE->TRADER/DESK")).is_some());
    assert!(venue.session(&id("FIX.4.4:VENUE//NY->TRADER")).is_none());
    venue.stop().unwrap();
}

#[test]
fn a_template_takes_sub_ids_only_if_it_asks_for_them() {
    let scratch = Scratch::new("sub-ids-template");
    let of_logon = |id: &SessionId| Some(Acceptance::from(acceptor().with(|s| s.id = id.clone())));
    for (with, names) in [
        (false, ["FIX.4.4-VENUE-TRADER"].as_slice()),
        (
            true,
            ["FIX.4.4-VENUE+FX-TRADER+DESK+NY", "FIX.4.4-VENUE-TRADER", "FIX.4.4-VENUE-TRADER+DESK"]
                .as_slice(),
        ),
    ] {
        let (app, log) = Recorder::venue();
        let builder = Engine::builder();
        let builder = match with {
            false => builder.accept_any(anywhere(), of_logon),
            true => builder.accept_any_with_sub_ids(anywhere(), of_logon),
        };
        let base = scratch.0.join(with.to_string());
        let venue = builder.journal(&base).start(app).unwrap();
        let mut seq = [1; 3];
        for _ in 0..2 {
            for (n, ids) in ["50=DESK|", "", "50=DESK|142=NY|57=FX|"].into_iter().enumerate() {
                let place = if with { n } else { 0 };
                let (mut peer, answer) = log_on(&venue, ids, seq[place]).unwrap();
                assert_eq!(answer.contains("|57=DESK|"), with && n != 1, "{answer}");
                peer.send("5", "");
                assert!(peer.receive().contains("|35=5|"));
                seq[place] += 2;
                drop(peer);
                log.ended();
            }
        }
        venue.stop().unwrap();
        assert_eq!(sessions(&base), names);
    }
}

#[test]
fn two_dynamic_sessions_that_differ_in_a_sub_id_are_connected_at_once() {
    let text = "[SESSION]\nSocketAcceptPort=0\nDynamicSession=Y\nSenderCompID=VENUE\nTargetSubID=*\nSenderSubID=FX\nUseDataDictionary=N\n";
    let configuration = Configuration::from_text("venue.cfg", text).unwrap();
    let venue = EngineBuilder::from_config(&configuration).start(Recorder::venue().0).unwrap();
    // The one without a SubID first: it takes no Logon of the others.
    let peers = ["57=FX|", "50=A|57=FX|", "50=B|57=FX|142=NY|"].map(|ids| log_on(&venue, ids, 1).unwrap());
    for ((_, answer), ids) in peers.iter().zip(["|50=FX|52=", "|50=FX|57=A|52=", "|50=FX|57=B|52="]) {
        assert!(answer.contains(ids), "{answer}");
    }
    for ids in ["57=FX|", "50=B|57=FX|142=LN|"] {
        assert!(log_on(&venue, ids, 2).is_none(), "it is connected already: {ids}");
    }
    assert!(log_on(&venue, "50=C|", 1).is_none(), "the template has SenderSubID=FX");
    venue.stop().unwrap();
}

#[test]
fn a_logon_is_for_the_first_template_that_takes_it_whatever_sessions_are_open() {
    let text = "[DEFAULT]\nSocketAcceptPort=0\nBeginString=FIX.4.4\nSenderCompID=VENUE\nUseDataDictionary=N\n\
         DynamicSession=Y\nTargetCompID=TRADER\n[SESSION]\nTargetSubID=DESK\n[SESSION]\n";
    let (app, _log) = Recorder::venue();
    let configuration = Configuration::from_text("venue.cfg", text).unwrap();
    let venue = EngineBuilder::from_config(&configuration).start(app).unwrap();
    // The second template does not look at SubIDs.
    let (_other, answer) = log_on(&venue, "50=OTHER|", 1).unwrap();
    assert!(!answer.contains("|57="), "{answer}");
    let (_desk, answer) = log_on(&venue, "50=DESK|", 1).expect("the session of the first template");
    assert!(answer.contains("|57=DESK|"), "{answer}");
    assert!(log_on(&venue, "50=DESK|", 2).is_none(), "it is connected");
}

#[test]
fn what_the_first_template_refuses_goes_on_with_the_session_of_the_second() {
    let (app, _log) = Recorder::venue();
    let acceptance = |id: &SessionId| Some(Acceptance::from(of(&id.to_string(), Role::Acceptor)));
    let venue = Engine::builder()
        .accept_any_with_sub_ids(anywhere(), |_| None)
        .accept_any(anywhere(), acceptance)
        .start(app)
        .unwrap();
    drop(log_on(&venue, "50=DESK|", 1).unwrap());
    // Its connection may still be there.
    eventually(|| log_on(&venue, "50=DESK|", 2).is_some());
}

#[test]
fn no_id_of_a_logon_opens_a_journal_outside_the_directory_or_stops_the_venue() {
    let scratch = Scratch::new("hostile-sub-ids");
    let text = format!(
        "[DEFAULT]\nSocketAcceptPort=0\nBeginString=FIX.4.4\nSenderCompID=VENUE\nUseDataDictionary=N\n\
         FileStorePath={}\n[SESSION]\nDynamicSession=Y\nTargetCompID=TRADER\nTargetSubID=*\nTargetLocationID=*\n",
        scratch.0.join("venue").display()
    );
    let (app, _log) = Recorder::venue();
    let configuration = Configuration::from_text("venue.cfg", &text).unwrap();
    let venue = EngineBuilder::from_config(&configuration).start(app).unwrap();
    assert!(log_on(&venue, "", 1).is_some());
    let slashes = "/".repeat(64);
    for (ids, journal) in [
        // The name of its directory would have more than 255 bytes.
        (format!("50={slashes}|142={slashes}|"), None),
        (format!("50={}|", "x".repeat(65_000)), None),
        ("50=A|50=B|".to_owned(), Some("A")),
        ("50=../../x|142=..|".to_owned(), Some("..%2F..%2Fx+..")),
        ("50=A+B-C%2F|".to_owned(), Some("A%2BB%2DC%252F")),
        ("50=*|142=*|".to_owned(), Some("%2A+%2A")),
    ] {
        let before = sessions(&scratch.0.join("venue"));
        let answer = log_on(&venue, &ids, 1);
        assert_eq!(answer.is_some(), journal.is_some(), "{journal:?}");
        let mut expected = before;
        expected.extend(journal.map(|name| format!("FIX.4.4-VENUE-TRADER+{name}")));
        expected.sort();
        assert_eq!(sessions(&scratch.0.join("venue")), expected);
    }
    assert!(log_on(&venue, "50=DESK|", 1).is_some());
    let outside: Vec<_> = std::fs::read_dir(&scratch.0).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(outside, ["venue"]);
}
