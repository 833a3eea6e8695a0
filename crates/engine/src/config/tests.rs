//! The meaning of a whole file, and the messages about a wrong one.

use core::net::{Ipv4Addr, SocketAddr};
use core::time::Duration;
use std::num::NonZeroU64;

use fixbolt_dictionary::Policy;
use fixbolt_session::{Compatibility, Role, SessionDictionary, SessionSettings, WhileLoggedOff};

use super::*;
use crate::acceptance::Acceptance;
use crate::initiation::{HostSelection, Initiation};

pub(super) const ACCEPTOR: &str = "[SESSION]
ConnectionType=acceptor
BeginString=FIX.4.4
SenderCompID=VENUE
TargetCompID=TRADER
SocketAcceptPort=9880
";

pub(super) const INITIATOR: &str = "[SESSION]
ConnectionType=initiator
BeginString=FIX.4.2
SenderCompID=TRADER
TargetCompID=VENUE
HeartBtInt=30
SocketConnectHost=venue.example
SocketConnectPort=9880
";

fn read(text: &str) -> Result<Configuration, ConfigErrors> {
    Configuration::from_text("a.cfg", text)
}

pub(super) fn one(text: &str) -> SessionConfiguration {
    read(text).unwrap().sessions.remove(0)
}

/// Returns the initiator with these lines of its own.
fn initiation(lines: &str) -> Initiation {
    match one(&with(INITIATOR, lines)).connection {
        ConnectionType::Initiator(initiation) => initiation,
        ConnectionType::Acceptor { .. } => panic!("it accepts"),
    }
}

pub(super) fn with(base: &str, lines: &str) -> String {
    format!("{base}{lines}\n")
}

pub(super) fn refused(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

pub(super) fn acceptor_refused(line: &str) -> String {
    refused(&with(ACCEPTOR, line))
}

fn initiator_refused(line: &str) -> String {
    refused(&with(INITIATOR, line))
}

#[test]
fn codec_timing_is_measured_with_the_clock_of_the_system() {
    assert_eq!(one(ACCEPTOR).settings().timing.codec_timing, None);
    let timed = one(&with(ACCEPTOR, "CodecTiming=Y"));
    assert_eq!(timed.settings().timing.codec_timing, Some(crate::codec_clock()));
}

#[test]
fn a_short_acceptor_gets_the_defaults_and_binds_to_loopback() {
    let session = one(ACCEPTOR);
    let settings = SessionSettings::new("FIX.4.4:VENUE->TRADER".parse().unwrap(), Role::Acceptor);
    assert_eq!((session.id(), session.settings(), session.tls()), (Some(&settings.id), &settings, None));
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 9880));
    let acceptance = Acceptance::from(settings);
    assert!(acceptance.socket.nodelay);
    assert_eq!(session.connection, ConnectionType::Acceptor { listen, dynamic_session: None, acceptance });
    assert!(session.persist_messages && session.journal.is_none() && session.data_dictionary.is_none());
}

#[test]
fn a_sessions_own_setting_beats_the_default() {
    let session = one(&format!("[DEFAULT]\nHeartBtInt=10\nLogonTimeout=7\n{INITIATOR}"));
    assert_eq!(session.settings().timing.heart_bt_int, 30);
    assert_eq!(session.settings().timing.logon_timeout, Duration::from_secs(7));
}

#[test]
fn an_initiator_tries_its_hosts_in_the_order_of_their_numbers() {
    let session = initiation("SocketConnectPort1=2\nSocketConnectHost1=b\nReconnectInterval=5");
    assert_eq!(session.hosts, [("venue.example".to_owned(), 9880), ("b".to_owned(), 2)]);
    assert_eq!(session.reconnect_interval, Duration::from_secs(5));
    assert_eq!(session.host_selection_policy, HostSelection::Priority);
    assert_eq!(
        initiator_refused("SocketConnectHost1=b"),
        "a.cfg:1: this session has no SocketConnectPort1; add it here or in [DEFAULT]"
    );
    assert_eq!(
        initiator_refused("SocketConnectHost2=b\nSocketConnectPort2=1"),
        "a.cfg:9: SocketConnectHost2 is never tried: the list has no number 1"
    );
}

#[test]
fn each_host_is_reached_from_the_local_address_that_the_file_names() {
    let local = |lines: &str| {
        let session = initiation(&format!("SocketConnectHost1=b\nSocketConnectPort1=1\n{lines}"));
        let shown = |address: &Option<SocketAddr>| address.map(|a| a.to_string()).unwrap_or_default();
        session.local_addresses.iter().map(shown).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(local(""), "");
    assert_eq!(local("SocketLocalHost=10.0.0.1"), "10.0.0.1:0 10.0.0.1:0");
    assert_eq!(local("SocketConnectSourceHost=::1\nSocketConnectSourcePort=7"), "[::1]:7 [::1]:7");
    assert_eq!(local("SocketLocalPort=7\nSocketConnectSourcePort1=8"), "0.0.0.0:7 0.0.0.0:8");
    assert_eq!(local("SocketConnectSourceHost1=localhost"), " 127.0.0.1:0");
    assert_eq!(
        initiator_refused("SocketConnectSourceHost=venue.example"),
        "a.cfg:9: SocketConnectSourceHost=venue.example: an IP address of this machine, or localhost expected"
    );
    assert_eq!(
        initiator_refused("SocketLocalPort=65536"),
        "a.cfg:9: SocketLocalPort=65536: a whole number from 0 to 65535 expected"
    );
    assert_eq!(
        initiator_refused("SocketConnectSourceHost=10.0.0.1\nSocketLocalHost=10.0.0.2"),
        "a.cfg:10: SocketConnectSourceHost and SocketLocalHost are the same key, but their values differ"
    );
    assert_eq!(
        initiator_refused("SocketConnectSourceHost1=10.0.0.1"),
        "a.cfg:9: SocketConnectSourceHost1 is of no host: there is no SocketConnectHost1"
    );
}

#[test]
fn a_traffic_class_is_a_number_or_the_names_of_its_bits() {
    let class = |value: &str| initiation(&format!("SocketTrafficClass={value}")).socket.traffic_class;
    assert_eq!(class("255"), Some(255));
    assert_eq!(class("IPTOS_LOWDELAY|IPTOS_THROUGHPUT"), Some(0x18));
    assert!(acceptor_refused("SocketTrafficClass=256").ends_with("joined by | expected"));
    assert!(acceptor_refused("SocketTrafficClass=IPTOS_SLOW").ends_with("joined by | expected"));
}

#[test]
fn the_longest_wait_between_attempts_is_never_below_the_first() {
    let longest = |lines: &str| initiation(lines).max_reconnect_interval.as_secs();
    assert_eq!(longest(""), 120);
    assert_eq!(longest("ReconnectInterval=300"), 300);
    assert_eq!(longest("ReconnectInterval=300\nMaxReconnectInterval=300"), 300);
    assert_eq!(
        initiator_refused("ReconnectInterval=300\nMaxReconnectInterval=299"),
        "a.cfg:10: MaxReconnectInterval is shorter than ReconnectInterval (300)"
    );
}

#[test]
fn a_dynamic_session_takes_any_comp_ids() {
    let text = "[SESSION]\nConnectionType=acceptor\nDynamicSession=Y\nSocketAcceptPort=1\nTargetCompID=*\nSenderCompID=VENUE";
    let mut identity = IdentityTemplate::default();
    identity.sender.comp_id = Some("VENUE".to_owned());
    let session = one(text);
    assert_eq!(session.id(), None);
    let ConnectionType::Acceptor { dynamic_session, .. } = session.connection else { panic!() };
    assert_eq!(dynamic_session, Some(identity));
}

#[test]
fn an_unknown_key_stops_the_start_with_the_nearest_known_one() {
    assert_eq!(
        acceptor_refused("RestOnLogon=Y"),
        "a.cfg:7: unknown key RestOnLogon; did you mean ResetOnLogon? A key of the application belongs in [APP], or is written X-RestOnLogon"
    );
    assert_eq!(
        acceptor_refused("SSLCCertificate=a"),
        "a.cfg:7: unknown key SSLCCertificate; did you mean SSLCertificate or SSLCACertificate? A key of the application belongs in [APP], or is written X-SSLCCertificate"
    );
    assert_eq!(
        acceptor_refused("Quux=1"),
        "a.cfg:7: unknown key Quux; a key of the application belongs in [APP], or is written X-Quux"
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
        "[DEFAULT]\nFileLogHeartbeats=Y\nTimeZone=UTC\n{ACCEPTOR}{}",
        INITIATOR.replace("FIX.4.2", "FIX.4.4")
    ))
    .unwrap();
    let warnings: Vec<String> = configuration.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "a.cfg:2: FileLogHeartbeats has no effect: FileLogPath is the directory of a text file for each session; the journal in FileStorePath has the same messages, and `fixbolt print` shows both",
            "a.cfg:3: TimeZone has no effect: there is no schedule that would need it",
        ]
    );
}

#[test]
fn an_address_of_this_machine_may_be_in_brackets_or_localhost() {
    for (value, ip) in [("[::]", "::"), ("[::1]", "::1"), ("::1", "::1"), ("Localhost", "127.0.0.1")] {
        let session = one(&with(ACCEPTOR, &format!("SocketAcceptHost={value}")));
        let ConnectionType::Acceptor { listen, .. } = session.connection else { panic!() };
        assert_eq!(listen, SocketAddr::new(ip.parse().unwrap(), 9880));
    }
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
        ("TimestampPrecision=4", "one of 0, 3, 6, 9, 12, SECONDS, MILLIS, MICROS, NANOS, PICOS"),
        ("Compatibility=quickfixn", "one of standard, quickfix, quickfixj"),
        ("SocketAcceptAddress=venue.example", "an IP address of this machine, or localhost"),
        ("SocketAcceptHost=224.0.0.1", "an IP address of this machine, or localhost"),
        ("SocketAcceptHost=255.255.255.255", "an IP address of this machine, or localhost"),
        ("SocketAcceptHost=[ff02::1]", "an IP address of this machine, or localhost"),
        ("SocketAcceptHost=[127.0.0.1]", "an IP address of this machine, or localhost"),
        ("AllowedRemoteAddresses=127.0.0.1,", "IP addresses separated by commas"),
        (
            "ProxyProtocolFrom=10.1.2.3/16",
            "IP addresses and networks, such as 10.1.0.0/28, separated by commas",
        ),
        ("FileStorePath=", "a directory"),
    ] {
        assert_eq!(acceptor_refused(line), format!("a.cfg:7: {line}: {expected} expected"));
    }
    assert_eq!(
        acceptor_refused("HeartBtInt=30 # seconds"),
        "a.cfg:7: HeartBtInt=30 # seconds: a whole number from 0 to 86400 expected (a comment must be on a line of its own, and begins with #)"
    );
    assert_eq!(
        refused(&ACCEPTOR.replace("FIX.4.4", "FIX.4.5")),
        "a.cfg:3: BeginString=FIX.4.5: a version such as FIX.4.4 expected"
    );
    assert_eq!(
        refused(&ACCEPTOR.replace("9880", "65536")),
        "a.cfg:6: SocketAcceptPort=65536: a whole number from 0 to 65535 expected"
    );
}

#[test]
fn a_missing_setting_is_named_at_its_section() {
    for (key, text) in [
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
    assert_eq!(
        refused("[SESSION]\nBeginString=FIX.4.4\nSenderCompID=A\nTargetCompID=B\n"),
        "a.cfg:1: this session has no ConnectionType (acceptor or initiator); add it here or in [DEFAULT]"
    );
    assert_eq!(refused("[DEFAULT]\n"), "a.cfg:1: there is no [SESSION]; each session needs one");
}

#[test]
fn settings_that_cannot_both_hold_are_refused() {
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
        "a.cfg:8: Incoming.UnknownTag is set, but incoming messages are not validated"
    );
    assert_eq!(
        acceptor_refused("Outgoing.UnknownTag=warn"),
        "a.cfg:7: Outgoing.UnknownTag is set, but only ValidateOutgoingMessage=Y validates outgoing messages"
    );
    assert_eq!(
        acceptor_refused("FileStorePath=store\nPersistMessages=N"),
        "a.cfg:8: PersistMessages=N keeps no journal, but FileStorePath names one"
    );
    assert_eq!(
        acceptor_refused("PersistMessages=N\nResendHorizon=10"),
        "a.cfg:8: ResendHorizon sends messages again, but PersistMessages=N keeps none"
    );
    assert_eq!(
        acceptor_refused("PersistMessages=N\nMaxResends=3"),
        "a.cfg:8: MaxResends sends messages again, but PersistMessages=N keeps none"
    );
    assert_eq!(
        acceptor_refused("ResendHorizon=0"),
        "a.cfg:7: ResendHorizon=0: a whole number from 1 to 1000000000 expected"
    );
    let both = format!("[DEFAULT]\nPersistMessages=N\nFileStorePath=store\n{ACCEPTOR}");
    assert_eq!(refused(&both), "a.cfg:2: PersistMessages=N keeps no journal, but FileStorePath names one");
    assert_eq!(
        acceptor_refused("SocketNodelay=N\nSocketTcpNoDelay=Y"),
        "a.cfg:8: SocketNodelay and SocketTcpNoDelay are the same key, but their values differ"
    );
    assert_eq!(
        acceptor_refused("SocketAcceptHost=0.0.0.0\nSocketAcceptAddress=127.0.0.1"),
        "a.cfg:8: SocketAcceptHost and SocketAcceptAddress are the same key, but their values differ"
    );
    assert_eq!(
        refused(&format!("{ACCEPTOR}{ACCEPTOR}")),
        "a.cfg:7: the session FIX.4.4:VENUE->TRADER is configured twice, first at a.cfg:1"
    );
}

#[test]
fn what_a_variable_stands_for_never_appears_in_an_error() {
    let text =
        text::read_text("a.cfg", &with(ACCEPTOR, "HeartBtInt=${SECRET}"), &|_| Some("hunter2".to_owned()));
    let error = CheckedConfiguration::from_read("a.cfg", &text).whole().unwrap_err().to_string();
    assert_eq!(error, "a.cfg:7: HeartBtInt=${SECRET}: a whole number from 0 to 86400 expected");
}

#[test]
fn every_mistake_of_a_file_is_told_in_one_go_in_its_order_and_once() {
    let text = "Quux=1
[DEFAULT]
ConnectionType=acceptor
BeginString=FIX.4.4
SenderCompID=VENUE
SocketAcceptPort=98800
ProxyHost=proxy
hello
[SESSION]
TargetCompID=A
ResetOnLogon=yes
RestOnLogout=Y
[SESSION]
BeginString=FIX.5.0
LogoutTimeout=${FIXBOLT_NO_SUCH_VARIABLE}
[SESION]
TargetCompID=C
";
    assert_eq!(
        refused(text),
        "a.cfg:1: Quux is before the first section; begin with [DEFAULT]
a.cfg:6: SocketAcceptPort=98800: a whole number from 0 to 65535 expected
a.cfg:7: ProxyHost is not available: connections go directly to SocketConnectHost; use a TCP forwarder
a.cfg:8: \"hello\" is neither [SECTION], Key=Value nor # comment
a.cfg:11: ResetOnLogon=yes: Y or N expected
a.cfg:12: unknown key RestOnLogout; did you mean ResetOnLogout? A key of the application belongs in [APP], or is written X-RestOnLogout
a.cfg:13: this session has no TargetCompID; add it here or in [DEFAULT]
a.cfg:14: BeginString=FIX.5.0 is not available: FIX.5.0 has no sessions of its own: its messages travel in sessions of FIXT.1.1 (DefaultApplVerID=FIX.5.0); leave the session out, or start the others with `fixbolt serve --keep-going`
a.cfg:15: ${FIXBOLT_NO_SUCH_VARIABLE}: the environment variable is not set, or is not UTF-8
a.cfg:16: unknown section [SESION]; there are [DEFAULT], [SESSION] and [APP]"
    );
}

#[test]
fn sessions_without_mistakes_are_usable_without_the_others() {
    let other = ACCEPTOR.replace("TRADER", "OTHER");
    let checked = CheckedConfiguration::from_text("a.cfg", &format!("{ACCEPTOR}ResetOnLogon=yes\n{other}"));
    let names: Vec<_> = checked.sessions.iter().map(|s| (s.name.as_str(), s.result.is_ok())).collect();
    assert_eq!(names, [("FIX.4.4:VENUE->TRADER", false), ("FIX.4.4:VENUE->OTHER", true)]);
    assert!(checked.clone().whole().is_err());
    assert_eq!(checked.usable().unwrap().sessions.len(), 1);
    // A mistake in the defaults is a mistake in every session.
    let checked = CheckedConfiguration::from_text("a.cfg", &format!("[DEFAULT]\nProxyHost=proxy\n{other}"));
    assert!(checked.usable().is_err());
}

#[test]
fn keys_of_quickfixjs_example_programs_are_handed_to_the_application_with_a_warning_and_no_others() {
    let defaults = "[DEFAULT]\nDefaultMarketPrice=15\n";
    let configuration = read(&format!("{defaults}{ACCEPTOR}ValidOrderTypes=1,2,F\n")).unwrap();
    assert_eq!(configuration.sessions[0].application["DefaultMarketPrice"], "15");
    assert_eq!(configuration.sessions[0].application["ValidOrderTypes"], "1,2,F");
    assert_eq!(
        configuration.warnings[0].to_string(),
        "a.cfg:2: DefaultMarketPrice has no effect: it is not a key of the engine and is passed to the application; write X-DefaultMarketPrice, or move it to [APP]"
    );
    assert_eq!(
        refused(&format!("[DEFAULT]\nHeartBeatInterval=15\n{ACCEPTOR}")),
        "a.cfg:2: unknown key HeartBeatInterval; did you mean HeartBtInt? A key of the application belongs in [APP], or is written X-HeartBeatInterval"
    );
    for key in ["OrderEntryDesk", "Quux", "DefaultMarketPrices"] {
        let error = refused(&format!("[DEFAULT]\n{key}=15\n{ACCEPTOR}"));
        assert!(error.starts_with(&format!("a.cfg:2: unknown key {key}; ")), "{error}");
    }
}

#[test]
fn a_secret_is_neither_in_errors_nor_in_effective_settings() {
    let lines = "Password=hunter2\nX-Password=hunter3\nFileStorePath=${file:/no/such/file}";
    let checked = CheckedConfiguration::from_text("a.cfg", &with(ACCEPTOR, lines));
    assert!(!checked.mistakes.is_empty());
    let shown = format!("{:?}{:?}", checked.mistakes, checked.sessions[0].effective);
    assert!(!shown.contains("hunter"), "{shown}");
}

#[test]
fn a_logon_has_the_fields_that_the_file_names() {
    let directory = std::env::temp_dir().join(format!("fixbolt-password-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("secret"), "open sesame\n").unwrap();
    let file = directory.join("secret");
    let lines = format!("Username=desk\nPassword=${{file:{}}}\nRawData=a=b", file.display());
    let checked = CheckedConfiguration::from_text("a.cfg", &with(INITIATOR, &lines));
    assert!(checked.mistakes.is_empty(), "{:?}", checked.mistakes);
    let logon = &checked.sessions[0].result.as_ref().unwrap().settings().logon;
    assert_eq!((logon.username.as_str(), logon.password.expose()), ("desk", "open sesame"));
    assert_eq!(logon.raw_data.expose(), "a=b");
    std::fs::remove_dir_all(directory).unwrap();
    assert!(acceptor_refused("Password=").contains("Password"));
}

#[test]
fn each_logon_tag_is_a_field_and_those_with_a_key_of_their_own_are_its_value() {
    let text = format!(
        "[DEFAULT]\nLogonTag=5001=a\nLogonTag1=5002=b=c\n{}",
        with(ACCEPTOR, "LogonTag1=58=own\nLogonTag2=553=desk\nLogonTag3=554=secret\nLogonTag4=96=raw")
    );
    let session = one(&text);
    let logon = &session.settings().logon;
    assert_eq!(logon.others, [(5001, "a".into()), (58, "own".into())]);
    assert_eq!(logon.username, "desk");
    assert_eq!((logon.password.expose(), logon.raw_data.expose()), ("secret", "raw"));
    for wrong in ["x", "5001", "5001=", "=x", "0=x", "34=9", "108=1", "383=1", "50=x", "143=x"] {
        let message = acceptor_refused(&format!("LogonTag={wrong}"));
        assert!(message.contains("LogonTag"), "{wrong}: {message}");
    }
}

#[test]
fn settings_have_the_values_of_the_file() {
    let session =
        one(&with(ACCEPTOR, "WhileLoggedOff=keep\nMaskedTags=554, 925\nTestRequestDelayMultiplier=1"));
    assert_eq!(session.settings().resend.while_logged_off, WhileLoggedOff::Keep);
    assert_eq!(session.settings().timing.test_request_delay_multiplier.whole_percent(), 200);
    assert_eq!(session.settings().masked_tags, [554, 925]);
    assert_eq!(one(&with(ACCEPTOR, "")).settings().resend.resend_horizon, None);
    assert_eq!(one(&with(ACCEPTOR, "ResendHorizon=7")).settings().resend.resend_horizon, NonZeroU64::new(7));
    assert_eq!(
        one(&with(ACCEPTOR, "Compatibility=quickfix")).settings().compatibility,
        Compatibility::QuickFix
    );
}

#[test]
fn a_session_has_the_dictionary_of_its_version_unless_it_wants_none_or_another() {
    let dictionary = |line: &str| one(&with(ACCEPTOR, line)).settings().dictionary.clone();
    assert_eq!(dictionary(""), SessionDictionary::Shipped);
    assert_eq!(dictionary("UseDataDictionary=N"), SessionDictionary::None);
    assert_eq!(dictionary("ValidateIncomingMessage=N"), SessionDictionary::None);
    let session = one(&with(ACCEPTOR, "ValidateIncomingMessage=N\nValidateOutgoingMessage=Y"));
    let outgoing = session.settings();
    assert_eq!(outgoing.dictionary, SessionDictionary::Shipped);
    assert_eq!(outgoing.validation.outgoing, Some(Policy::standard()));
    assert_eq!(
        outgoing.validation.incoming.action(fixbolt_dictionary::Check::RequiredField),
        fixbolt_dictionary::Action::Ignore
    );
    assert_eq!(
        acceptor_refused("DataDictionary=venue.xml"),
        "a.cfg:7: DataDictionary=venue.xml: No such file or directory (os error 2); leave the key out (then the shipped one of FIX.4.4 is used), or correct the path"
    );

    let directory = std::env::temp_dir().join(format!("fixbolt-dictionary-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let file = directory.join("dictionary.xml");
    let line = format!("DataDictionary={}", file.display());
    std::fs::write(&file, "<fix extends='FIX.4.4'/>").unwrap();
    assert!(matches!(dictionary(&line), SessionDictionary::Own(_)));
    std::fs::write(&file, "<fix extends='FIX.4.2'/>").unwrap();
    let error = acceptor_refused(&line);
    assert!(error.ends_with("it is for FIX.4.2, but the session uses FIX.4.4"), "{error}");
    std::fs::write(&file, "<fix").unwrap();
    assert!(acceptor_refused(&line).starts_with("a.cfg:7: DataDictionary="));

    // How the file is read: the same options as `fixbolt dictionary check` has.
    let twice = b"<fix major='4' minor='2'><header><field name='B'/></header>\
        <messages><message name='Logon' msgtype='A' msgcat='admin'/></messages><fields><!-- \xfc -->\
        <field number='8' name='B' type='STRING'/><field number='8' name='Again' type='STRING'/></fields></fix>";
    std::fs::write(&file, twice).unwrap();
    assert!(acceptor_refused(&line).contains("not UTF-8"), "{}", acceptor_refused(&line));
    let line = line + "\nDataDictionaryEncoding=ISO-8859-1";
    assert!(acceptor_refused(&line).contains("tag 8 already belongs to 'B'"), "{}", acceptor_refused(&line));
    let line = line + "\nDataDictionaryDuplicateTags=Y";
    let error = acceptor_refused(&line);
    assert!(error.ends_with("it is for FIX.4.2, but the session uses FIX.4.4"), "{error}");
    let line = line + "\nDataDictionaryVersion=4.4";
    assert!(matches!(dictionary(&line), SessionDictionary::Own(_)));
    let session = one(&with(ACCEPTOR, &(line + "\nDataDictionaryStandardNames=Y")));
    assert!(
        session.data_dictionary.unwrap().load().unwrap().dictionary.field(8).unwrap().name == "BeginString"
    );
    let orchestra = "<repository name='Venue' version='FIX.Latest'><fields><field id='8' name='B' type='String'/>\
        <field id='9' name='Late' type='int' added='FIX.5.0'/></fields><components>\
        <component id='1024' name='StandardHeader'><fieldRef id='8'/></component></components><messages>\
        <message id='1' name='Logon' msgType='A'><structure><fieldRef id='8'/></structure></message></messages></repository>";
    std::fs::write(&file, orchestra).unwrap();
    let line = format!("DataDictionary={}\nDataDictionaryAsOf=4.4", file.display());
    let source = one(&with(ACCEPTOR, &line)).data_dictionary.unwrap();
    assert!(source.load().unwrap().dictionary.field(9).is_none());
    let error = acceptor_refused(&(line + "\nDataDictionaryScenario=Stop"));
    assert!(error.ends_with("no message has the scenario 'Stop'; there is none; leave the key out (then the shipped one of FIX.4.4 is used), or correct the file"), "{error}");
    assert_eq!(
        acceptor_refused("DataDictionaryAsOf=4.4"),
        "a.cfg:7: DataDictionaryAsOf is set, but DataDictionary names no file"
    );
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn a_dictionary_with_which_nobody_could_log_on_is_refused() {
    let file = std::env::temp_dir().join(format!("fixbolt-delta-{}.xml", std::process::id()));
    let fields = "<fields><field number='5001' name='AuctionType' type='CHAR'/></fields>";
    let message =
        "<message name='NewOrderSingle' msgtype='D' msgcat='app'><field name='AuctionType'/></message>";
    let header = "<header><field name='AuctionType'/></header>";
    for (text, reason) in [
        (
            format!("<fix major='4' minor='4'>{fields}<messages>{message}</messages></fix>"),
            "it has no header, so nobody could log on: it replaces all of FIX.4.4; if it only adds to that, begin it with <fix extends='FIX.4.4'>",
        ),
        (
            format!("<fix major='4' minor='4'>{header}{fields}<messages>{message}</messages></fix>"),
            "it has no Logon, so nobody could log on: it replaces all of FIX.4.4; if it only adds to that, begin it with <fix extends='FIX.4.4'>",
        ),
        (
            format!("<fix major='5' minor='0' servicepack='2'>{fields}<messages>{message}</messages></fix>"),
            "it is for FIX.5.0SP2, but the session uses FIX.4.4",
        ),
    ] {
        std::fs::write(&file, &text).unwrap();
        let line = format!("DataDictionary={}", file.display());
        assert_eq!(acceptor_refused(&line), format!("a.cfg:7: {line}: {reason}"), "{text}");
        // Where nothing is rejected for it, the Logon passes.
        if !reason.starts_with("it is for") {
            one(&with(ACCEPTOR, &format!("{line}\nRejectInvalidMessage=N")));
            one(&with(ACCEPTOR, &format!("{line}\nValidateIncomingMessage=N\nValidateOutgoingMessage=Y")));
        }
    }
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn the_name_of_the_sessions_version_alone_is_the_shipped_dictionary_with_a_warning() {
    for name in ["FIX44.xml", "fix44.xml", "FIX.4.4.xml"] {
        let read = read(&with(ACCEPTOR, &format!("DataDictionary={name}"))).unwrap();
        assert_eq!(read.sessions[0].settings().dictionary, SessionDictionary::Shipped, "{name}");
        assert_eq!(read.sessions[0].data_dictionary, None, "{name}");
        assert_eq!(
            read.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
            [
                "a.cfg:7: DataDictionary has no effect: there is no such file; the shipped dictionary of FIX.4.4 is used"
            ]
        );
    }
    let absent = ["../spec/FIX44.xml", "./FIX44.xml", "/nowhere/FIX44.xml", "spec\\FIX44.xml"];
    for name in absent.into_iter().chain(["FIX42.xml", "FIX50SP2.xml", "FIX44-venue.xml", "FIX44.xml/x.xml"])
    {
        let error = acceptor_refused(&format!("DataDictionary={name}"));
        let shipped = "leave the key out (then the shipped one of FIX.4.4 is used), or correct the path";
        assert!(error.starts_with(&format!("a.cfg:7: DataDictionary={name}: ")), "{error}");
        assert!(error.ends_with(shipped), "{error}");
    }
    // One that is there is read, whatever its name.
    let directory = std::env::temp_dir().join(format!("fixbolt-named-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let file = directory.join("FIX44.xml");
    std::fs::write(&file, "<fix").unwrap();
    let error = acceptor_refused(&format!("DataDictionary={}", file.display()));
    assert!(error.starts_with("a.cfg:7: DataDictionary="), "{error}");
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn a_session_without_connection_type_is_what_its_port_or_host_says() {
    let identity = "BeginString=FIX.4.4\nSenderCompID=A\nTargetCompID=B\nHeartBtInt=30\n";
    let role = |defaults: &str, own: &str| {
        let text = format!("[DEFAULT]\n{defaults}[SESSION]\n{identity}{own}");
        read(&text).map(|read| read.sessions[0].settings().role)
    };
    let (accept, connect) = ("SocketAcceptPort=1\n", "SocketConnectHost=h\nSocketConnectPort=1\n");
    assert_eq!(role("", accept), Ok(Role::Acceptor));
    assert_eq!(role(accept, ""), Ok(Role::Acceptor));
    assert_eq!(role("", connect), Ok(Role::Initiator));
    assert_eq!(role(connect, ""), Ok(Role::Initiator));
    // The session's own section counts before the defaults, and the key before both.
    assert_eq!(role(accept, connect), Ok(Role::Initiator));
    assert_eq!(role(connect, accept), Ok(Role::Acceptor));
    assert_eq!(role(&format!("{accept}{connect}"), "ConnectionType=acceptor\n"), Ok(Role::Acceptor));
    assert_eq!(
        role("", &format!("{accept}{connect}")).unwrap_err().to_string(),
        "a.cfg:8: SocketConnectHost is of an initiator, and SocketAcceptPort at a.cfg:7 of an acceptor; write ConnectionType"
    );
}

#[test]
fn keys_of_quickfixgo_are_known() {
    for key in [
        "SocketTimeout=10s",
        "SQLStoreDriver=sqlite3",
        "SQLStoreConnMaxLifetime=60s",
        "MongoStoreReplicaSet=rs",
        "InChanCapacity=1",
        "SocketSynchronousWriteTimeout=1000",
        "SocketSynchronousWrites=Y",
    ] {
        assert_eq!(read(&with(ACCEPTOR, key)).unwrap().warnings.len(), 1, "{key}");
    }
    for key in ["UseTCPProxy", "DynamicSessions", "DynamicQualifier"] {
        let refused = acceptor_refused(&format!("{key}=Y"));
        assert!(refused.contains(&format!("{key} is not available: ")), "{refused}");
        assert_eq!(read(&with(ACCEPTOR, &format!("{key}=N"))).unwrap().warnings, [], "{key}");
    }
    assert_eq!(
        acceptor_refused("HeartBtIntOverride=Y"),
        "a.cfg:1: this session has no HeartBtInt, which HeartBtIntOverride=Y makes its own; add it here or in [DEFAULT]"
    );
    assert_eq!(
        acceptor_refused("EnableResetSeqTime=Y"),
        "a.cfg:7: EnableResetSeqTime is set, but there is no ResetSeqTime"
    );
    assert!(
        acceptor_refused("EnableResetSeqTime=Y\nResetSeqTime=08:00:00,09:00:00").contains("a time in the")
    );
    assert!(
        refused(
            &ACCEPTOR
                .replace("FIX.4.4", "FIX.4.0")
                .replace("[SESSION]", "[SESSION]\nEnableResetSeqTime=Y\nResetSeqTime=08:00:00")
        )
        .ends_with(
            "FIX.4.0 has no ResetSeqNumFlag, with which a session that is logged on is reset (ResetSeqTime)"
        )
    );
    let warnings = read(&with(ACCEPTOR, "ResetSeqTime=08:00:00")).unwrap().warnings;
    assert_eq!(
        warnings[0].to_string(),
        "a.cfg:7: ResetSeqTime has no effect: there is no EnableResetSeqTime=Y"
    );
    let policy = |line: &str| one(&with(ACCEPTOR, line)).settings().validation.incoming;
    assert_eq!(policy("AllowUnknownMessageFields=Y"), policy("AllowUnknownMsgFields=Y"));
    assert_eq!(policy("CheckUserDefinedFields=N"), policy("ValidateUserDefinedFields=N"));
}

#[test]
fn sessions_without_mistakes_are_used_if_the_file_says_so() {
    let other = ACCEPTOR.replace("TRADER", "OTHER");
    let text = |value: &str| {
        let defaults = format!("[DEFAULT]\nContinueInitializationOnError={value}\n");
        read(&format!("{defaults}{ACCEPTOR}ResetOnLogon=yes\n{other}"))
    };
    let read = text("Y").unwrap();
    assert!(read.engine.continue_initialization_on_error);
    assert_eq!(read.sessions.len(), 1);
    assert_eq!(text("N").unwrap_err().iter().count(), 1);
    let error = text("yes").unwrap_err().to_string();
    assert!(error.starts_with("a.cfg:2: ContinueInitializationOnError=yes: Y or N expected"), "{error}");
}

#[test]
fn all_sessions_are_kept_in_one_place() {
    let other = ACCEPTOR.replace("TRADER", "OTHER");
    let error = refused(&format!("{ACCEPTOR}FileStorePath=one\n{other}"));
    assert!(error.starts_with("a.cfg:8: FileStorePath and PersistMessages are the same"), "{error}");
}
