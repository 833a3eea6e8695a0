//! What the rows do: each test goes through the table, so that a new row is part of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use fixbolt_session::SessionDictionary;
use fixbolt_session::schedule::Zone;

use super::rows::{Effect, ROWS, Row, Scope};
use super::tests::{ACCEPTOR, INITIATOR, one, refused, with};
use super::*;
use crate::builder::EngineBuilder;
use crate::configured::journals;
use crate::zones;

/// What the defaults of a session say where a row alone would be a mistake, or without effect.
const NEEDS: &[(&[&str], &str)] = &[
    (&["ConnectionType"], "SocketConnectHost=venue\nSocketConnectPort=1\nHeartBtInt=30"),
    (&["HeartBtIntOverride"], "HeartBtInt=30"),
    (&["MaxReconnectInterval"], "ReconnectInterval=1"),
    (&["DedicatedWorkerCore"], "DedicatedWorker=blocking"),
    (&["StartTime", "EndTime", "Weekdays", "TimeZone", "UseLocalTime"], DAILY),
    (&["Holidays", "EarlyCloses", "ScheduleReset"], DAILY),
    (&["StartDay", "EndDay", "LogonTime", "LogoutTime", "LogonDay", "LogoutDay"], WEEKLY),
    (&["EnableResetSeqTime"], "ResetSeqTime=08:00:00"),
    (&["ResetSeqTime"], "ResetSeqTime=08:00:00\nEnableResetSeqTime=Y"),
    (&["DataDictionaryVersion", "DataDictionaryEncoding", "DataDictionaryDuplicateTags"], DICTIONARY),
    (&["DataDictionaryAsOf", "DataDictionaryScenario", "DataDictionaryStandardNames"], DICTIONARY),
    (&["FirstFieldInGroupIsDelimiter"], "Incoming.GroupOrder=ignore"),
    (&["Outgoing.CHECK"], "ValidateOutgoingMessage=Y"),
    (&["SocketUseSSL"], ""),
    (&["SocketCertificateFile", "SocketPrivateKeyFile"], SOCKET_CERTIFICATE),
    (&["ServerCertificateFile", "ServerCertificateKeyFile"], SERVER_CERTIFICATE),
    (&["ClientCertificateFile", "ClientCertificateKeyFile"], CLIENT_CERTIFICATE),
    (&["NeedClientAuth", "SSLRequireClientCertificate", "CertificateVerifyLevel"], TLS_ACCEPTOR),
    (&["SSLCheckCertificateRevocation"], "SocketUseSSL=Y\nCertificateRevocationListFile=a.pem"),
];

const DAILY: &str = "StartTime=08:00:00\nEndTime=17:00:00";
const WEEKLY: &str = "StartDay=mon\nStartTime=08:00:00\nEndDay=fri\nEndTime=17:00:00\nLogonDay=mon\nLogonTime=08:00:00\nLogoutDay=fri\nLogoutTime=17:00:00";
const DICTIONARY: &str = "DataDictionary=DIRECTORY/venue.xml";
const SOCKET_CERTIFICATE: &str = "SocketUseSSL=Y\nSocketCertificateFile=a.pem\nSocketPrivateKeyFile=a.key";
const SERVER_CERTIFICATE: &str =
    "SocketUseSSL=Y\nServerCertificateFile=a.pem\nServerCertificateKeyFile=a.key";
const CLIENT_CERTIFICATE: &str =
    "SocketUseSSL=Y\nClientCertificateFile=a.pem\nClientCertificateKeyFile=a.key";
const TLS_ACCEPTOR: &str = "SocketUseSSL=Y\nSocketKeyStore=a.pem\nSocketCAFile=ca.pem";

/// Lines that say the same, where it is not the same line; the empty one says nothing.
const SAME: &[&[&str]] = &[
    &[
        "",
        "ConnectionType=acceptor",
        "NonStopSession=Y",
        "SSLCheckCertificateRevocation=Y",
        "CertificateVerifyLevel=0",
        "EndpointIdentificationAlgorithm=LDAPS",
        "TimestampPrecision=MILLIS",
    ],
    &["MillisecondsInTimeStamp=N", "TimestampPrecision=0", "TimestampPrecision=SECONDS"],
    &["TimestampPrecision=6", "TimestampPrecision=MICROS"],
    &["TimestampPrecision=9", "TimestampPrecision=NANOS"],
    &["TimestampPrecision=12", "TimestampPrecision=PICOS"],
    &["UseDataDictionary=N", "ValidateIncomingMessage=N"],
    &["HostSelectionPolicy=ROUND_ROBIN", "HostSelectionPolicy=ROUNDROBIN"],
    &["SocketCAFile=other.pem", "SSLCACertificate=other.pem", "CertificationAuthoritiesFile=other.pem"],
    &["NeedClientAuth=Y", "SSLRequireClientCertificate=Y", "CertificateVerifyLevel=1"],
    &["NeedClientAuth=requested", "CertificateVerifyLevel=2"],
    &["EnabledProtocols=TLSv1.2", "SSLProtocol=TLSv1_2", "SSLProtocols=Tls12"],
];

/// Returns the [DEFAULT] of a session in which the row can be set.
fn base_of(row: &Row) -> String {
    let fixt = ACCEPTOR.replace("FIX.4.4", "FIXT.1.1\nDefaultApplVerID=FIX.5.0SP2");
    let base = match (row.name, row.scope, row.is_of_tls) {
        ("DefaultApplVerID" | "TransportDataDictionary" | "AppDataDictionary", ..) => &fixt,
        ("SessionQualifier", ..) | (_, Scope::Initiator, _) => INITIATOR,
        ("CertificateVerifyLevel", ..) => ACCEPTOR,
        // An acceptor would need a certificate.
        (_, Scope::Both, true) => INITIATOR,
        _ => ACCEPTOR,
    };
    let needs = NEEDS.iter().find(|(names, _)| names.contains(&row.name)).map(|(_, lines)| *lines);
    let needs = needs.unwrap_or(if row.is_of_tls { "SocketUseSSL=Y" } else { "" });
    format!("{}{needs}\n", base.replace("[SESSION]", "[DEFAULT]"))
}

/// Returns lines that set the row to something else than its default.
fn lines_of(row: &Row) -> Vec<String> {
    let default = row.default.split(' ').next().unwrap();
    let values: Vec<String> = match &row.effect {
        Effect::Flag(_) => vec![if default == "Y" { "N" } else { "Y" }.to_owned()],
        // The same for most rows: what is written to a neighbor's field looks like the neighbor.
        &Effect::Number { from, to, .. } => {
            let mut numbers = [7, from, to].into_iter().filter(|number| (from..=to).contains(number));
            vec![numbers.find(|number| number.to_string() != default).unwrap().to_string()]
        }
        Effect::Word { words, .. } => {
            words.iter().filter(|word| **word != default).map(|word| (*word).to_owned()).collect()
        }
        Effect::Check(_) => {
            return row.names().into_iter().map(|name| format!("{name}=warn")).collect();
        }
        _ => vec![text_for(row.name).to_owned()],
    };
    values.into_iter().map(|value| format!("{}={value}", row.name)).collect()
}

/// Returns a value of a row whose values are text of a form.
fn text_for(name: &str) -> &'static str {
    match name {
        "BeginString" => "FIX.4.3",
        "DefaultApplVerID" => "FIX.5.0",
        "SenderCompID" | "SenderSubID" | "SenderLocationID" => "OTHER",
        "TargetCompID" | "TargetSubID" | "TargetLocationID" | "SessionQualifier" => "OTHER",
        "AcceptedHeartBtInt" => "0-60",
        "TestRequestDelayMultiplier" | "HeartBeatTimeoutMultiplier" => "0.5",
        "MaxOutboundRate" | "MaxOrderRate" | "MaxInboundRate" => "7",
        "MaskedTags" => "none",
        "Username" | "Password" | "NewPassword" | "RawData" => "x",
        "LogonTag" => "5001=x",
        "StartTime" | "EndTime" | "LogonTime" | "LogoutTime" | "ResetSeqTime" => "09:30:00",
        "StartDay" | "EndDay" | "LogonDay" | "LogoutDay" | "Weekdays" => "wed",
        "TimeZone" => LONDON,
        "Holidays" => "2026-12-25",
        "EarlyCloses" => "2026-12-24 12:00:00",
        "DataDictionary" => "DIRECTORY/venue.xml",
        "TransportDataDictionary" => "DIRECTORY/transport.xml",
        "AppDataDictionary" => "DIRECTORY/application.xml",
        "DataDictionaryVersion" | "DataDictionaryAsOf" => "FIX.4.4",
        "DataDictionaryEncoding" => "ISO-8859-1",
        "DataDictionaryScenario" => "Stop",
        "GroupsAsSent" => "453",
        "SocketConnectHost" | "SocketServerName" | "TLSPeerNames" => "other.example",
        "SocketConnectPort" | "SocketConnectSourcePort" | "SocketTrafficClass" => "7",
        "SocketConnectSourceHost" | "SocketAcceptHost" | "AllowedRemoteAddresses" => "127.0.0.2",
        "ProxyProtocolFrom" => "10.1.0.0/16",
        "DedicatedWorker" | "WorkerWaiting" => "spinning",
        "SocketCertificateFile" | "ServerCertificateFile" | "ClientCertificateFile" => "other.pem",
        "SocketPrivateKeyFile" | "ServerCertificateKeyFile" | "ClientCertificateKeyFile" => "other.pem",
        "SocketKeyStore" | "SSLCertificate" | "SocketCAFile" | "SSLCACertificate" => "other.pem",
        "CertificationAuthoritiesFile" | "CertificateRevocationListFile" => "other.pem",
        "CertificationAuthoritiesDirectory" | "FileStorePath" | "FileLogPath" | "JournalCookies" => "other",
        "EnabledProtocols" => "TLSv1.2",
        "SSLProtocol" => "TLSv1_2",
        "SSLProtocols" => "Tls12",
        "CipherSuites" | "TLSCipherSuites" => "TLS_AES_128_GCM_SHA256",
        "TLSPeerPins" => "d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM=",
        "Store" => "memory",
        "WorkerCores" => "7",
        other => panic!("no value for {other}"),
    }
}

const LONDON: &str = "Europe/London";

/// A directory of the dictionaries that the lines above name.
struct Dictionaries(PathBuf);

impl Dictionaries {
    fn new(name: &str) -> Self {
        let directory = std::env::temp_dir().join(format!("fixbolt-{name}-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let venue = "<repository name='Venue' version='FIX.4.4'><fields><field id='8' name='B' type='String'/></fields>\
            <components><component id='1024' name='StandardHeader'><fieldRef id='8'/></component></components>\
            <messages><message name='Logon' msgType='A'><structure/></message>\
            <message name='Order' msgType='D'><structure/></message>\
            <message name='Order' msgType='D' scenario='Stop'><structure/></message></messages></repository>";
        fs::write(directory.join("venue.xml"), venue).unwrap();
        fs::write(directory.join("transport.xml"), "<fix extends='FIXT.1.1'/>").unwrap();
        fs::write(directory.join("application.xml"), "<fix extends='FIX.5.0SP2'/>").unwrap();
        Self(directory)
    }

    /// Returns the session with these defaults and this line of its own.
    fn session(&self, base: &str, line: &str) -> SessionConfiguration {
        let text = format!("{base}[SESSION]\n{line}\n");
        let mut session = one(&text.replace("DIRECTORY", &self.0.display().to_string()));
        // It differs with each reading; the fields beside it say what was read.
        let dictionary = &mut session.settings_mut().dictionary;
        if matches!(dictionary, SessionDictionary::Own(_) | SessionDictionary::Fixt(_)) {
            *dictionary = SessionDictionary::Shipped;
        }
        session
    }
}

impl Drop for Dictionaries {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns whether the row's effect depends on the machine's time zones.
fn is_of_a_zone(row: &Row) -> bool {
    matches!(row.name, "TimeZone" | "UseLocalTime")
}

/// Rows that write a field of another name, and why.
const OTHER_NAMES: &[(&str, &str, &str)] = &[
    ("MillisecondsInTimeStamp", "timestamp_precision", "an older key for a part of TimestampPrecision"),
    ("HostSelectionPolicyPriorityStartOverInterval", "priority_start_over", "the name is too long"),
    ("FileLogPath", "message_log", "the log of messages, beside that of events"),
    ("ArchiveGenerations", "generations", "a field of Retention"),
    ("ArchiveDays", "age", "a field of Retention, with a unit of its own"),
    ("ArchiveSize", "bytes", "a field of Retention, with a unit of its own"),
];

/// Returns the names of the fields of public types that a row's line writes.
fn written_by(line: &str) -> impl Iterator<Item = (&str, &str)> {
    const TYPES: [&str; 5] = ["settings.", "acceptance.", "initiation.", "socket.", "engine."];
    line.match_indices("d.").filter_map(|(at, _)| {
        let path = line[at + 2..].split(|c: char| !matches!(c, 'a'..='z' | '0'..='9' | '_' | '.')).next()?;
        let of = TYPES.into_iter().find(|of| path.starts_with(of))?;
        let is_set = line[at + 2 + path.len()..].starts_with(" = ") || line[..at].ends_with("&mut ");
        is_set.then_some((of, path.rsplit('.').next()?))
    })
}

#[test]
fn a_row_writes_the_field_of_its_name() {
    let mut count = 0;
    for line in include_str!("rows.rs").lines() {
        let Some(name) = line.split_once("row(\"").and_then(|(_, rest)| rest.split('"').next()) else {
            continue;
        };
        let other = OTHER_NAMES.iter().find(|(of, ..)| *of == name).map(|(_, field, _)| *field);
        for (of, field) in written_by(line) {
            let key = fixbolt_dictionary::upper_snake(name).to_lowercase();
            // The options of sockets stand together, without the word.
            let key = if of == "socket." { key.trim_start_matches("socket_") } else { &key };
            assert_eq!(field, other.unwrap_or(key), "{name}");
            count += 1;
        }
    }
    assert!(count > 80, "{count}");
}

fn rows_of_sessions() -> impl Iterator<Item = &'static Row> {
    ROWS.iter().filter(|row| row.scope != Scope::Engine)
}

#[test]
fn every_row_changes_the_session_in_its_own_way() {
    let dictionaries = Dictionaries::new("rows");
    let has_zones = zones::time_zone(LONDON).is_ok() && zones::local_time_zone() != Ok(Zone::utc());
    // Sessions with the same defaults can be compared.
    let mut tried: BTreeMap<String, Vec<(String, SessionConfiguration)>> = BTreeMap::new();
    for row in rows_of_sessions().filter(|row| has_zones || !is_of_a_zone(row)) {
        let base = base_of(row);
        let sessions = tried.entry(base.clone()).or_insert_with(|| {
            let without = dictionaries.session(&base, "");
            vec![(String::new(), without)]
        });
        for line in lines_of(row) {
            let session = dictionaries.session(&base, &line);
            sessions.push((line, session));
        }
    }
    let are_same = |lines: [&str; 2]| SAME.iter().any(|same| lines.iter().all(|line| same.contains(line)));
    let mut wrong = Vec::new();
    for sessions in tried.values() {
        for (n, (line, session)) in sessions.iter().enumerate() {
            let others = sessions[..n].iter();
            wrong.extend(others.filter_map(|(other, like)| {
                let is_wrong = (session == like) != are_same([line, other]);
                is_wrong.then(|| format!("`{line}` and `{other}`"))
            }));
        }
    }
    assert_eq!(wrong, [""; 0], "they are equal, or differ, against SAME");
    let lines: Vec<&String> = tried.values().flatten().map(|(line, _)| line).collect();
    for same in SAME.iter().flat_map(|same| *same) {
        assert!(lines.iter().any(|line| line == same), "{same} is not tried");
    }
    for name in NEEDS.iter().flat_map(|(names, _)| *names) {
        assert!(ROWS.iter().any(|row| row.name == *name), "{name} is no row");
    }
}

#[test]
fn the_default_of_each_row_is_what_a_session_has_without_the_key() {
    let dictionaries = Dictionaries::new("defaults");
    let mut compared = 0;
    for row in rows_of_sessions().filter(|row| !row.effect.has_many_keys()) {
        let in_words = ["required", "none", "any", "the shipped", "left to"];
        if in_words.iter().any(|words| row.default.starts_with(words)) {
            continue;
        }
        let default = row.default.split(' ').next().unwrap();
        let base = base_of(row);
        let without = dictionaries.session(&base, "");
        for name in row.names() {
            let line = format!("{name}={default}");
            assert_eq!(dictionaries.session(&base, &line), without, "{line}");
        }
        compared += 1;
    }
    assert!(compared > 35, "{compared}");
}

#[test]
fn a_row_of_one_role_stops_the_start_in_a_session_of_the_other() {
    for row in rows_of_sessions() {
        let (base, to, is) = match row.scope {
            Scope::Acceptor => (INITIATOR, "acceptors", "an initiator"),
            Scope::Initiator => (ACCEPTOR, "initiators", "an acceptor"),
            _ => continue,
        };
        for name in row.names() {
            let line = lines_of(row)[0].replacen(row.name, &name, 1);
            let said = format!("{name} applies to {to} only, and this session is {is}; remove it");
            let told = refused(&with(base, &line));
            assert!(told.contains(&said), "{told}");
        }
    }
}

#[test]
fn every_row_of_the_engine_changes_the_builder_or_the_journals_in_its_own_way() {
    let described = |line: &str| {
        let text = format!("[DEFAULT]\nFileStorePath=store\n{line}\n{ACCEPTOR}");
        let configuration = Configuration::from_text("a.cfg", &text).unwrap();
        let builder = EngineBuilder::from_config(&configuration);
        format!("{builder:?} {:?}", journals("store".as_ref(), &configuration.engine))
    };
    let mut told = vec![(String::new(), described(""))];
    // Store only says that something is meant.
    for row in ROWS.iter().filter(|row| row.scope == Scope::Engine && row.name != "Store") {
        for line in lines_of(row) {
            let description = described(&line);
            for (other, like) in &told {
                assert!(description != *like, "`{line}` and `{other}` do the same");
            }
            told.push((line, description));
        }
    }
}
