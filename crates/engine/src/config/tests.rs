//! What a whole file means, and what is said about a wrong one.

use core::net::{IpAddr, Ipv4Addr};
use core::time::Duration;

use fixbolt_codec::Precision;
use fixbolt_session::Compatibility;

use super::keys::{KEYS, Treatment};
use super::*;

const ACCEPTOR: &str = "[SESSION]
ConnectionType=acceptor
BeginString=FIX.4.4
SenderCompID=VENUE
TargetCompID=TRADER
SocketAcceptPort=9880
";

const INITIATOR: &str = "[SESSION]
ConnectionType=initiator
BeginString=FIX.4.2
SenderCompID=TRADER
TargetCompID=VENUE
HeartBtInt=30
SocketConnectHost=venue.example
SocketConnectPort=9880
";

fn read(text: &str) -> Result<Configuration, ConfigError> {
    Configuration::from_text("a.cfg", text)
}

fn one(text: &str) -> SessionConfiguration {
    read(text).unwrap().sessions.remove(0)
}

fn with(base: &str, lines: &str) -> String {
    format!("{base}{lines}\n")
}

fn refused(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

fn acceptor_refused(line: &str) -> String {
    refused(&with(ACCEPTOR, line))
}

fn initiator_refused(line: &str) -> String {
    refused(&with(INITIATOR, line))
}

#[test]
fn a_short_acceptor_gets_the_defaults_and_binds_to_loopback() {
    let session = one(ACCEPTOR);
    assert_eq!(session.identity, Identity::Fixed("FIX.4.4:VENUE->TRADER".parse().unwrap()));
    let listen = (IpAddr::V4(Ipv4Addr::LOCALHOST), 9880);
    assert_eq!(session.connection, ConnectionType::Acceptor { listen, allowed: Vec::new() });
    assert_eq!(session.max_latency, Some(Duration::from_secs(120)));
    assert_eq!(session.timestamp_precision, Precision::Millis);
    assert_eq!(session.max_message_size, 65_536);
    assert_eq!(session.compatibility, Compatibility::Standard);
    assert!(session.persist_messages && session.socket_nodelay && session.check_comp_id);
    assert!(session.journal.is_none() && session.data_dictionary.is_none());
    assert_eq!(session.validation.incoming, Some(fixbolt_dictionary::Policy::standard()));
    assert_eq!(session.validation.outgoing, None);
}

#[test]
fn a_sessions_own_setting_beats_the_default() {
    let session = one(&format!("[DEFAULT]\nHeartBtInt=10\nLogonTimeout=7\n{INITIATOR}"));
    assert_eq!(session.heart_bt_int, 30);
    assert_eq!(session.logon_timeout, Duration::from_secs(7));
}

#[test]
fn an_initiator_tries_its_hosts_in_the_order_of_their_numbers() {
    let session = one(&with(INITIATOR, "SocketConnectPort1=2\nSocketConnectHost1=b\nReconnectInterval=5"));
    let ConnectionType::Initiator { hosts, reconnect_interval, .. } = session.connection else { panic!() };
    assert_eq!(hosts, [("venue.example".to_owned(), 9880), ("b".to_owned(), 2)]);
    assert_eq!(reconnect_interval, Duration::from_secs(5));
    assert_eq!(initiator_refused("SocketConnectHost1=b"), "a.cfg:1: this session has no SocketConnectPort1");
    assert_eq!(
        initiator_refused("SocketConnectHost2=b\nSocketConnectPort2=1"),
        "a.cfg:9: SocketConnectHost2 is never tried: the list has no number 1"
    );
}

#[test]
fn a_dynamic_session_takes_any_comp_ids() {
    let text = "[SESSION]\nConnectionType=acceptor\nDynamicSession=Y\nSocketAcceptPort=1\nTargetCompID=*\nSenderCompID=VENUE";
    assert_eq!(
        one(text).identity,
        Identity::Dynamic { version: None, sender_comp_id: Some("VENUE".to_owned()), target_comp_id: None }
    );
    assert_eq!(
        initiator_refused("AcceptorTemplate=Y"),
        "a.cfg:9: AcceptorTemplate=Y: only an acceptor takes any session"
    );
}

#[test]
fn an_unknown_key_stops_the_start_with_the_nearest_known_one() {
    assert_eq!(
        acceptor_refused("RestOnLogon=Y"),
        "a.cfg:7: unknown key RestOnLogon; did you mean ResetOnLogon?"
    );
    assert_eq!(
        acceptor_refused("Quux=1"),
        "a.cfg:7: unknown key Quux; keys of the application stand in [APP] or start with X-"
    );
}

#[test]
fn keys_of_the_application_are_handed_over_as_they_are() {
    let configuration = read(&format!(
        "[APP]\nQuux=1\nEmpty=\n[DEFAULT]\nX-Desk=A\nX-Floor=2\n{}",
        with(ACCEPTOR, "x-Desk=B")
    ))
    .unwrap();
    assert_eq!(configuration.application["Quux"], "1");
    assert_eq!(configuration.application["Empty"], "");
    assert_eq!(configuration.sessions[0].application["Desk"], "B");
    assert_eq!(configuration.sessions[0].application["Floor"], "2");
}

#[test]
fn a_known_key_without_effect_is_a_warning_that_names_what_replaces_it() {
    let configuration = read(&format!(
        "[DEFAULT]\nFileLogPath=log\nStartTime=00:00:00\nEndTime=00:00:00\n{ACCEPTOR}{}",
        INITIATOR.replace("FIX.4.2", "FIX.4.4")
    ))
    .unwrap();
    let warnings: Vec<String> = configuration.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "a.cfg:2: FileLogPath has no effect: the journal in FileStorePath is the message log; `fixbolt print` shows it",
            "a.cfg:3: StartTime has no effect: the session never ends and numbers are not reset once a day; write NonStopSession=Y",
        ]
    );
}

#[test]
fn a_key_whose_effect_is_not_available_stops_the_start_unless_it_asks_for_nothing() {
    assert_eq!(
        acceptor_refused("SocketUseSSL=Y"),
        "a.cfg:7: SocketUseSSL is not available: there is no TLS yet and the session would go over plain TCP; put a TLS tunnel before it"
    );
    assert!(read(&with(ACCEPTOR, "SocketUseSSL=n")).is_ok());
    assert!(acceptor_refused("Weekdays=mon").starts_with("a.cfg:7: Weekdays is not available: "));
}

#[test]
fn only_a_schedule_that_means_always_is_accepted() {
    assert!(read(&with(ACCEPTOR, "NonStopSession=Y")).is_ok());
    assert!(
        acceptor_refused("StartTime=08:00:00\nEndTime=17:00:00")
            .starts_with("a.cfg:7: a session schedule (StartTime other than EndTime) is not available")
    );
    assert_eq!(acceptor_refused("EndTime=17:00:00"), "a.cfg:7: EndTime is given without StartTime");
    assert_eq!(acceptor_refused("StartTime=17:00:00"), "a.cfg:7: StartTime is given without EndTime");
    assert_eq!(
        acceptor_refused("StartTime=0:00:00\nEndTime=00:00:00"),
        "a.cfg:7: StartTime=0:00:00: a time as HH:MM:SS expected"
    );
    assert_eq!(
        acceptor_refused("NonStopSession=Y\nStartTime=00:00:00\nEndTime=00:00:00"),
        "a.cfg:8: NonStopSession=Y has no StartTime and no EndTime"
    );
}

#[test]
fn every_value_has_its_type_and_the_error_says_which() {
    for (line, expected) in [
        ("ResetOnLogon=yes", "Y or N"),
        ("ResetOnLogon=", "Y or N"),
        ("HeartBtInt=thirty", "a whole number from 0 to 86400"),
        ("HeartBtInt=+30", "a whole number from 0 to 86400"),
        ("HeartBtInt=-1", "a whole number from 0 to 86400"),
        ("LogonTimeout=0", "a whole number from 1 to 86400"),
        ("MaxLatency=1e3", "a whole number from 1 to 86400"),
        ("MaxMessageSize=99999999999999999999", "a whole number from 8192 to 67108864"),
        ("TimestampPrecision=4", "one of 0, 3, 6, 9, SECONDS, MILLIS, MICROS, NANOS"),
        ("Compatibility=quickfixn", "one of standard, quickfix, quickfixj"),
        ("SocketAcceptAddress=venue.example", "an IP address of this machine"),
        ("AllowedRemoteAddresses=127.0.0.1,", "IP addresses with commas between"),
        ("FileStorePath=", "a value"),
    ] {
        assert_eq!(acceptor_refused(line), format!("a.cfg:7: {line}: {expected} expected"));
    }
    assert_eq!(
        acceptor_refused("HeartBtInt=30 # seconds"),
        "a.cfg:7: HeartBtInt=30 # seconds: a whole number from 0 to 86400 expected (a comment stands on a line of its own)"
    );
    assert_eq!(
        refused(&ACCEPTOR.replace("FIX.4.4", "FIX.4.5")),
        "a.cfg:3: BeginString=FIX.4.5: FIX.4.2 or FIX.4.4 expected"
    );
    assert_eq!(
        refused(&ACCEPTOR.replace("9880", "65536")),
        "a.cfg:6: SocketAcceptPort=65536: a whole number from 0 to 65535 expected"
    );
}

#[test]
fn a_missing_setting_is_named_at_its_section() {
    for (key, text) in [
        ("ConnectionType", ACCEPTOR),
        ("BeginString", ACCEPTOR),
        ("SenderCompID", ACCEPTOR),
        ("TargetCompID", ACCEPTOR),
        ("SocketAcceptPort", ACCEPTOR),
        ("HeartBtInt", INITIATOR),
        ("SocketConnectPort", INITIATOR),
        ("SocketConnectHost", INITIATOR),
    ] {
        let without: String =
            text.lines().filter(|line| !line.starts_with(key)).map(|line| format!("{line}\n")).collect();
        let error = refused(&format!("# first line\n{without}"));
        assert!(error.starts_with(&format!("a.cfg:2: this session has no {key}")), "{error}");
    }
    assert_eq!(refused("[DEFAULT]\n"), "a.cfg:1: there is no [SESSION]");
}

#[test]
fn settings_that_cannot_both_hold_are_refused() {
    assert_eq!(
        acceptor_refused("SessionQualifier=2"),
        "a.cfg:7: SessionQualifier: a Logon carries none, so an acceptor cannot tell such sessions apart"
    );
    assert_eq!(
        acceptor_refused("SocketConnectHost=x"),
        "a.cfg:7: SocketConnectHost is an initiator's; this session is an acceptor"
    );
    assert_eq!(
        initiator_refused("SocketAcceptPort=1"),
        "a.cfg:9: SocketAcceptPort is an acceptor's; this session is an initiator"
    );
    assert_eq!(
        acceptor_refused("UseDataDictionary=N\nDataDictionary=FIX44.xml"),
        "a.cfg:8: DataDictionary is named, but UseDataDictionary=N does not read it"
    );
    assert_eq!(
        acceptor_refused("UseDataDictionary=N\nValidateOutgoingMessage=Y"),
        "a.cfg:8: ValidateOutgoingMessage=Y needs a dictionary, but UseDataDictionary=N has none"
    );
    assert_eq!(
        acceptor_refused("ValidateIncomingMessage=N\nIncoming.UnknownTag=warn"),
        "a.cfg:8: Incoming.UnknownTag is set, but messages that come in are not validated"
    );
    assert_eq!(
        acceptor_refused("Outgoing.UnknownTag=warn"),
        "a.cfg:7: Outgoing.UnknownTag is set, but only ValidateOutgoingMessage=Y validates what is sent"
    );
    assert_eq!(
        acceptor_refused("FileStorePath=store\nPersistMessages=N"),
        "a.cfg:8: PersistMessages=N keeps no journal, but FileStorePath names one"
    );
    let both = format!("[DEFAULT]\nPersistMessages=N\nFileStorePath=store\n{ACCEPTOR}");
    assert_eq!(refused(&both), "a.cfg:2: PersistMessages=N keeps no journal, but FileStorePath names one");
    assert_eq!(
        acceptor_refused("SocketNodelay=N\nSocketTcpNoDelay=Y"),
        "a.cfg:8: SocketNodelay and SocketTcpNoDelay differ"
    );
    assert_eq!(
        acceptor_refused("SocketAcceptHost=0.0.0.0\nSocketAcceptAddress=127.0.0.1"),
        "a.cfg:7: SocketAcceptHost and SocketAcceptAddress differ"
    );
    assert_eq!(
        refused(&format!("{ACCEPTOR}{ACCEPTOR}")),
        "a.cfg:7: the session FIX.4.4:VENUE->TRADER is configured a second time, first at a.cfg:1"
    );
}

#[test]
fn what_a_variable_stands_for_never_appears_in_an_error() {
    let sections =
        text::read_text("a.cfg", &with(ACCEPTOR, "HeartBtInt=${SECRET}"), &|_| Some("hunter2".to_owned()))
            .unwrap();
    let error = Configuration::from_sections("a.cfg", &sections).unwrap_err().to_string();
    assert_eq!(error, "a.cfg:7: HeartBtInt=${SECRET}: a whole number from 0 to 86400 expected");
}

#[test]
fn every_used_key_of_the_vocabulary_is_read_and_every_read_key_is_in_it() {
    let mut asked = Vec::new();
    for text in [ACCEPTOR, INITIATOR] {
        let sections = text::read_text("a.cfg", text, &|_| None).unwrap();
        let settings = Settings::new(&sections[0], None);
        SessionConfiguration::read(&settings, &mut Vec::new()).unwrap();
        asked.extend(settings.asked());
    }
    for key in &asked {
        assert_eq!(keys::treatment(key), Some(Treatment::Used), "{key} is read");
    }
    for (key, treatment) in KEYS {
        assert!(*treatment != Treatment::Used || asked.iter().any(|read| read == key), "{key} is used");
    }
    for key in keys::one_key_a_check() {
        assert!(asked.iter().any(|read| read == key), "{key} is used");
    }
}

#[test]
fn a_control_character_is_refused_and_never_breaks_the_errors_line() {
    let error = read("[DEFAULT]\nConnec\rtionType=acceptor\n").unwrap_err();
    assert_eq!(error.to_string(), r"a.cfg:2: the control character '\r' stands in the line");
}

#[test]
fn the_page_about_configuration_names_every_key_with_what_becomes_of_it() {
    let page = include_str!("../../../../docs/configuration.md");
    let (used, rest) = page.split_once("## Keys without effect").unwrap();
    let (replaced, unavailable) = rest.split_once("## Keys that stop the start").unwrap();
    for (key, treatment) in KEYS {
        let (part, reason) = match treatment {
            Treatment::Used => (used, ""),
            Treatment::Replaced(instead) => (replaced, *instead),
            Treatment::Unavailable { reason, .. } => (unavailable, *reason),
        };
        let line = part.lines().find(|line| line.contains(&format!("`{key}`")));
        let line = line.unwrap_or_else(|| panic!("{key} is missing in its part of docs/configuration.md"));
        assert!(line.contains(reason), "{key}: {reason}");
    }
}
