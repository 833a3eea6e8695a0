//! Engines from configuration files.

mod support;

use std::fs;

use fixbolt::codec::{BodySink, Key, MsgType, NewBody, Version};
use fixbolt::config::{ConfigError, Configuration};
use fixbolt::session::SessionId;
use fixbolt::{Engine, EngineBuilder, EngineError};
use fixbolt_journal::JournalReader;
use support::lines::Lines;
use support::*;

const VENUE: &str = "
[DEFAULT]
ConnectionType=acceptor
SocketAcceptPort=0
BeginString=FIX.4.4
SenderCompID=VENUE
FileStorePath=${file:where}
[SESSION]
TargetCompID=TRADER
[SESSION]
DynamicSession=Y
TargetCompID=*
ResetOnLogon=Y
";

#[test]
fn a_venue_and_a_trader_from_files_trade_with_validation_and_journals() {
    let scratch = Scratch::new("configured");
    fs::write(scratch.0.join("where"), scratch.0.join("venue").display().to_string()).unwrap();
    fs::write(scratch.0.join("venue.cfg"), VENUE).unwrap();
    let (app, venue_log) = Recorder::venue();
    let venue = Engine::from_config(scratch.0.join("venue.cfg")).unwrap().start(app).unwrap();
    let address = venue.addresses()[0];
    assert!(address.ip().is_loopback());

    let trader = format!(
        "[SESSION]\nConnectionType=initiator\nBeginString=FIX.4.4\nSenderCompID=TRADER\nTargetCompID=VENUE\n\
         HeartBtInt=30\nSocketConnectHost=localhost\nSocketConnectPort={}\nFileStorePath={}\n",
        address.port(),
        scratch.0.join("trader").display()
    );
    let configuration = Configuration::from_text("trader.cfg", &trader).unwrap();
    let (app, trader_log) = Recorder::trader();
    let trader = EngineBuilder::from_config(&configuration).start(app).unwrap();
    trader_log.logged_on();
    venue_log.logged_on();
    trader.stop().unwrap();

    // The dynamic session has the dictionary, too: an order without its required fields is
    // rejected.
    let mut peer = Peer::connect(address).named("ANYONE", "VENUE");
    peer.log_on();
    peer.send("D", "11=ord1");
    let reject = peer.receive();
    assert!(reject.contains("|35=3|") && reject.contains("|373=1|"), "{reject}");
    let sessions: Vec<_> = venue.sessions().iter().map(|session| session.id().to_string()).collect();
    assert_eq!(sessions, ["FIX.4.4:VENUE->ANYONE", "FIX.4.4:VENUE->TRADER"]);
    drop(peer);
    venue.stop().unwrap();
    for session in ["venue/FIX.4.4-VENUE-TRADER", "venue/FIX.4.4-VENUE-ANYONE", "trader/FIX.4.4-TRADER-VENUE"]
    {
        assert!(scratch.0.join(session).is_dir(), "{session}");
    }
}

#[test]
fn a_file_without_mistakes_becomes_a_builder_and_its_warnings_are_logged() {
    let (scratch, lines) = (Scratch::new("configured-warnings"), Lines::collect());
    let file = scratch.0.join("venue.cfg");
    let text = VENUE.replace("FileStorePath=${file:where}", "Store=memory\nSocketReuseAddress=Y");
    fs::write(&file, &text).unwrap();
    let builder = Engine::from_config(&file).unwrap();
    let warning = format!("{}:8: SocketReuseAddress has no effect", file.display());
    assert_eq!(lines.with(&[&warning]).len(), 1);
    drop(builder);
    fs::write(&file, text.replace("SenderCompID", "SenderID")).unwrap();
    let error = Engine::from_config(&file).unwrap_err();
    assert!(matches!(&error, EngineError::Config(mistakes) if mistakes.iter().len() > 0), "{error}");
}

#[test]
fn a_port_that_is_taken_and_a_file_that_is_not_there_are_errors_of_one_line() {
    let scratch = Scratch::new("configured-errors");
    let text = VENUE.replace("FileStorePath=${file:where}\n", "");
    let configuration = Configuration::from_text("venue.cfg", &text).unwrap();
    let (app, _) = Recorder::venue();
    let venue = EngineBuilder::from_config(&configuration).start(app).unwrap();
    let taken = text.replace("Port=0", &format!("Port={}", venue.addresses()[0].port()));
    let configuration = Configuration::from_text("venue.cfg", &taken).unwrap();
    let (app, _) = Recorder::venue();
    let error = EngineBuilder::from_config(&configuration).start(app).unwrap_err();
    assert!(matches!(error, EngineError::Listen { .. }), "{error}");
    let absent = scratch.0.join("absent.cfg");
    let errors = Configuration::from_file(&absent).unwrap_err();
    let kinds = errors.iter().map(|error| match error {
        ConfigError::Unreadable { kind, .. } => Some(*kind),
        _ => None,
    });
    assert_eq!(kinds.collect::<Vec<_>>(), [Some(std::io::ErrorKind::NotFound)]);
    let said = format!("cannot read {}: No such file or directory (os error 2)", absent.display());
    assert_eq!(errors.to_string(), said);
    venue.stop().unwrap();
}

#[test]
fn comp_ids_with_the_signs_that_an_identitys_text_has_keep_their_journals() {
    let scratch = Scratch::new("configured-colon");
    let venue = format!(
        "[SESSION]\nConnectionType=acceptor\nSocketAcceptPort=0\nBeginString=FIX.4.4\nSenderCompID=VENUE:1\n\
         TargetCompID=A->B\nFileStorePath={}\n",
        scratch.0.join("venue").display()
    );
    let id = SessionId::new(Version::Fix44, "A->B", "VENUE:1").unwrap();
    // The first order of the second run has the number after those of the first: both journals were
    // found again.
    for (run, number) in [(1, 2), (2, 5)] {
        let configuration = Configuration::from_text("venue.cfg", &venue).unwrap();
        let (app, venue_log) = Recorder::venue();
        let venue = EngineBuilder::from_config(&configuration).start(app).unwrap();
        let trader = format!(
            "[SESSION]\nConnectionType=initiator\nBeginString=FIX.4.4\nSenderCompID=A->B\nTargetCompID=VENUE:1\n\
             HeartBtInt=30\nSocketConnectHost=127.0.0.1\nSocketConnectPort={}\nFileStorePath={}\n\
             UseDataDictionary=N\n",
            venue.addresses()[0].port(),
            scratch.0.join("trader").display()
        );
        let configuration = Configuration::from_text("trader.cfg", &trader).unwrap();
        let (app, trader_log) = Recorder::trader();
        let trader = EngineBuilder::from_config(&configuration).start(app).unwrap();
        trader_log.logged_on();
        venue_log.logged_on();
        let mut sender = trader.session(&id).unwrap().sender();
        let mut order = sender.draft(MsgType::new(b"D"));
        order.writer().bytes(Key::new(11), b"ord");
        order.send().unwrap();
        let sent = trader_log.wait(|seen| matches!(seen, Seen::Sent(..)));
        assert!(matches!(sent, Seen::Sent(_, seq) if seq == number), "run {run}: {sent:?}");
        trader.stop().unwrap();
        venue.stop().unwrap();
    }
    let reader = JournalReader::open(&scratch.0.join("trader").join(id.file_name())).unwrap();
    assert_eq!(reader.sessions()[0].session(), Some(&id));
}

#[test]
fn an_engine_starts_with_the_workers_of_its_file_and_with_no_other_number() {
    let text = "[DEFAULT]\nWorkers=2\nConnectionType=acceptor\nSocketAcceptPort=0\nBeginString=FIX.4.4\n\
                SenderCompID=VENUE\n[SESSION]\nTargetCompID=TRADER\n";
    let configuration = Configuration::from_text("venue.cfg", text).unwrap();
    let builder = || EngineBuilder::from_config(&configuration);
    for error in [builder().start(Recorder::venue().0), builder().start_with(3, |_| Recorder::venue().0)] {
        let error = error.map(|_| ()).unwrap_err().to_string();
        assert!(
            error.starts_with("workers: the configuration has Workers=2, but the program starts "),
            "{error}"
        );
    }
    let workers = configuration.engine.workers.unwrap();
    let engine = builder().start_with(workers, |_| Recorder::venue().0).unwrap();
    assert_eq!(engine.stop().unwrap().len(), 2);
}
