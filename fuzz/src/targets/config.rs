//! Configuration files: each mistake is one line that names the file and an existing line. What is
//! accepted is complete, and means the same with other line ends, with comments and blank lines
//! after it, and with keys in another case. What asks for TLS, in whatever words, is not accepted
//! for plain connections.

use fixbolt::config::{CheckedConfiguration, Configuration, ConnectionType};

const VENUE: &str = "# a venue
[DEFAULT]
ConnectionType=acceptor
SocketAcceptPort=9880
StartTime=00:00:00
EndTime=00:00:00
HeartBtInt=30
FileStorePath=journal
X-Desk=7
[SESSION]
BeginString=FIX.4.4
SenderCompID=VENUE
TargetCompID=TRADER
ResetOnLogon=Y
[SESSION]
BeginString=FIX.4.2
SenderCompID=VENUE
TargetCompID=TRADER42
ValidateFieldsOutOfOrder=N
[APP]
Greeting=hello
";

const TRADER: &str = "[DEFAULT]
ConnectionType=initiator
HeartBtInt=30
ReconnectInterval=5
SocketConnectHost=localhost
SocketConnectPort=9880
SocketConnectHost1=backup
SocketConnectPort1=9881
LogonTimeout=10
TimestampPrecision=6
[SESSION]
BeginString=FIX.4.4
SenderCompID=TRADER
TargetCompID=VENUE
MaxMessageSize=65536
CheckLatency=N
Compatibility=quickfix
";

const ENCRYPTED: &str = "[DEFAULT]
ConnectionType=initiator
SocketConnectHost=localhost
SocketConnectPort=9880
HeartBtInt=30
SSLEnable=Y
SSLServerName=venue
SSLProtocols=Tls12,Tls13
SSLCertificate=./client.pem
SSLCACertificate=./ca.pem
SSLCheckCertificateRevocation=N
[SESSION]
BeginString=FIX.4.4
SenderCompID=TRADER
TargetCompID=VENUE
Password=secret
[SESSION]
ConnectionType=acceptor
SocketAcceptPort=9880
BeginString=FIX.4.4
SenderCompID=VENUE
TargetCompID=TRADER
SocketUseSSL=Y
SocketCertificateFile=venue.pem
SocketPrivateKeyFile=venue.key
SocketCAFile=ca.pem
NeedClientAuth=Y
EnabledProtocols=TLSv1.2
";

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let dynamic = VENUE.replace("TargetCompID=TRADER\n", "TargetCompID=*\nDynamicSession=Y\n");
    let variables = VENUE.replace("30", "${FIXBOLT_FUZZ}").replace("VENUE", "$$VENUE");
    let include = format!("include=nowhere.cfg\n{TRADER}");
    let words = TRADER.replace("LogonTimeout=10", "UseTLS=Y");
    let all = [VENUE, TRADER, ENCRYPTED, &words, &dynamic, &variables, &include];
    all.iter().map(|text| text.as_bytes().to_vec()).collect()
}

pub(super) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    // Other tests read other files: here the result would depend on the machine.
    let small = text.to_ascii_lowercase();
    if small.contains("include") || small.contains("${file") || small.contains("datadictionary") {
        return;
    }
    let lines = text.lines().count() as u32 + 1;
    let read = |text: &str| Configuration::from_text("venue.cfg", text);
    let first = read(&text);
    match &first {
        Err(mistakes) => {
            let mut last = 0;
            for error in mistakes {
                let said = error.to_string();
                assert!(!said.contains(['\n', '\r']), "an error has several lines: {said:?}");
                assert!(said.starts_with("venue.cfg"), "an error does not name the file: {said}");
                let place = error.place().expect("every error in a text has a place");
                assert!(
                    place.line >= last.max(1) && place.line <= lines,
                    "line {} of {lines}: {said}",
                    place.line
                );
                last = place.line;
            }
            // A valid session is not affected by the mistakes of the others.
            let _ =
                CheckedConfiguration::from_text("venue.cfg", &text).usable().map(|had| complete(&had, lines));
        }
        Ok(configuration) => {
            complete(configuration, lines);
            let plain = configuration.sessions.iter().any(|session| session.tls().is_none());
            assert!(!plain || !asks_for_tls(&text), "plain connections, although TLS is asked for");
        }
    }
    assert_eq!(first, read(&text), "the same text is read in two ways");
    if text.contains('\r') {
        return;
    }
    let Ok(first) = first else { return };
    assert_eq!(Ok(&first), read(&text.replace('\n', "\r\n")).as_ref(), "other line ends change the meaning");
    assert_eq!(Ok(&first), read(&format!("{text}\n\n# the end\n")).as_ref(), "a comment changes the meaning");
    let mut own = false;
    let other_case: String = text
        .lines()
        .map(|line| {
            if line.trim_start().starts_with('[') {
                own = line.to_ascii_lowercase().contains("app");
            }
            match line.split_once('=') {
                Some((key, value)) if !own && !key.trim_start().to_ascii_lowercase().starts_with("x-") => {
                    format!("{}={value}\n", key.to_ascii_uppercase())
                }
                _ => format!("{line}\n"),
            }
        })
        .collect();
    let mut other = read(&other_case).expect("keys in another case are the same keys");
    // The application's keys are handed over as they are written.
    let mut first = first;
    for session in first.sessions.iter_mut().chain(&mut other.sessions) {
        session.application.clear();
    }
    assert_eq!(first.sessions, other.sessions, "keys in another case change the meaning");
}

/// Returns whether a key outside `[APP]` is about TLS, and none says that connections are plain.
fn asks_for_tls(text: &str) -> bool {
    let (mut own, mut asks) = (false, false);
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for line in text.lines().map(|line| line.trim().to_ascii_lowercase()) {
        if let Some(header) = line.strip_prefix('[') {
            own = header.contains("app");
        }
        let Some((key, value)) = line.split_once('=').map(|(key, value)| (key.trim(), value.trim())) else {
            continue;
        };
        if own || key.starts_with(['#', '[']) || key.starts_with("x-") {
            continue;
        }
        // A stock file of QuickFIX has the last one, without TLS.
        if matches!(key, "socketusessl" | "sslenable") && value != "y" || key == "sslprotocol" {
            return false;
        }
        asks |= ["ssl", "tls", "certificate", "keystore"].iter().any(|word| key.contains(word));
    }
    asks
}

fn complete(configuration: &Configuration, lines: u32) {
    assert!(!configuration.sessions.is_empty(), "accepted without a session");
    let mut fixed = Vec::new();
    for session in &configuration.sessions {
        assert!(session.place.line >= 1 && session.place.line <= lines);
        if let ConnectionType::Initiator(initiation) = &session.connection {
            let hosts = &initiation.hosts;
            assert!(!hosts.is_empty(), "an initiator without a host");
            assert!(hosts.iter().all(|(host, port)| !host.is_empty() && *port > 0), "{hosts:?}");
        }
        if let Some(id) = session.id() {
            assert!(!fixed.contains(&id), "{id:?} twice");
            fixed.push(id);
        }
    }
    for warning in &configuration.warnings {
        assert!(warning.place.line >= 1 && warning.place.line <= lines);
        assert!(!warning.to_string().contains('\n'), "a warning has several lines");
    }
}
