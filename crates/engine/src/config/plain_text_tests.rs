//! A configuration that asks for TLS, in whatever words, never starts in plain text.

use super::classifying::is_understood;
use super::engines::ENGINES;
use super::securing::is_of_tls;
use super::*;

/// Every key of TLS of QuickFIX, QuickFIX/J, QuickFIX/N and quickfixgo, each with a value that asks
/// for TLS or is needed with it; and those of Fixbolt.
const TLS_KEYS: &[(&str, &str)] = &[
    ("SSLProtocol", "all"),
    ("SSLCipherSuite", "HIGH:!RC4"),
    ("TLSCipherSuites", "TLS_AES_128_GCM_SHA256"),
    ("ServerCertificateFile", "a.pem"),
    ("ServerCertificateKeyFile", "a.key"),
    ("ClientCertificateFile", "a.pem"),
    ("ClientCertificateKeyFile", "a.key"),
    ("CertificationAuthoritiesFile", "ca.pem"),
    ("CertificationAuthoritiesDirectory", "ca"),
    ("CertificateVerifyLevel", "1"),
    ("CertificateRevocationListFile", "crl.pem"),
    ("CertificateRevocationListDirectory", "crl"),
    ("SocketUseSSL", "Y"),
    ("SocketKeyStore", "a.pem"),
    ("SocketKeyStorePassword", "secret"),
    ("SocketTrustStore", "ca.pem"),
    ("SocketTrustStorePassword", "secret"),
    ("KeyStoreType", "PEM"),
    ("TrustStoreType", "PEM"),
    ("KeyManagerFactoryAlgorithm", "SunX509"),
    ("TrustManagerFactoryAlgorithm", "PKIX"),
    ("EnabledProtocols", "TLSv1.2"),
    ("CipherSuites", "TLS_AES_128_GCM_SHA256"),
    ("NeedClientAuth", "Y"),
    ("EndpointIdentificationAlgorithm", "HTTPS"),
    ("UseSNI", "Y"),
    ("SNIHostName", "venue.example"),
    ("SSLEnable", "Y"),
    ("SSLServerName", "venue.example"),
    ("SSLProtocols", "Tls12"),
    ("SSLValidateCertificates", "Y"),
    ("SSLCheckCertificateRevocation", "Y"),
    ("SSLCertificate", "a.pem"),
    ("SSLCertificatePassword", "secret"),
    ("SSLRequireClientCertificate", "Y"),
    ("SSLCACertificate", "ca.pem"),
    ("SocketPrivateKeyFile", "a.key"),
    ("SocketCertificateFile", "a.pem"),
    ("SocketCAFile", "ca.pem"),
    ("SocketPrivateKeyBytes", "secret"),
    ("SocketCertificateBytes", "secret"),
    ("SocketCABytes", "secret"),
    ("SocketInsecureSkipVerify", "N"),
    ("SocketServerName", "venue.example"),
    ("SocketMinimumTLSVersion", "TLS12"),
    ("TLSPreset", "FIXS"),
    ("TLSPeerPins", "d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM="),
    ("TLSPeerNames", "venue.example"),
];

/// Returns a configuration with these lines in `[DEFAULT]` or in the session's own section.
fn text(is_acceptor: bool, in_default: bool, lines: &str) -> String {
    let role = match is_acceptor {
        true => "ConnectionType=acceptor\nSocketAcceptPort=0\n",
        false => "ConnectionType=initiator\nHeartBtInt=30\nSocketConnectHost=venue\nSocketConnectPort=1\n",
    };
    let (shared, own) = if in_default { (lines, "") } else { ("", lines) };
    format!(
        "[DEFAULT]\n{shared}[SESSION]\n{role}BeginString=FIX.4.4\nSenderCompID=A\nTargetCompID=B\nUsername=me\nPassword=secret\n{own}"
    )
}

/// Returns whether the configuration starts, and sends passwords in plain text.
fn starts_in_plain_text(text: &str) -> bool {
    let read = Configuration::from_text("a.cfg", text);
    read.is_ok_and(|read| read.sessions.iter().any(|session| session.tls().is_none()))
}

/// Returns every text that differs from `key` at one place: a letter less, another, one more, or
/// two swapped.
fn one_letter_changed(key: &str, letters: &str) -> Vec<String> {
    let mut all = Vec::new();
    for at in 0..=key.len() {
        let (before, after) = key.split_at(at);
        all.extend(letters.chars().map(|letter| format!("{before}{letter}{after}")));
        let Some(here) = after.chars().next() else { continue };
        let rest = &after[1..];
        all.push(format!("{before}{rest}"));
        all.extend(letters.chars().map(|letter| format!("{before}{letter}{rest}")));
        if let Some(next) = rest.chars().next() {
            all.push(format!("{before}{next}{here}{}", &rest[1..]));
        }
    }
    all.retain(|changed| !changed.eq_ignore_ascii_case(key));
    all.sort_by_key(|changed| changed.to_ascii_lowercase());
    all.dedup_by_key(|changed| changed.to_ascii_lowercase());
    all
}

#[test]
fn every_key_of_tls_of_the_other_engines_is_tried() {
    let is_of_tls = |key: &str| {
        let words = ["ssl", "tls", "certific", "keystore", "truststore", "cipher", "clientauth", "sni"];
        words.iter().any(|word| key.to_ascii_lowercase().contains(word))
    };
    for (engine, keys) in ENGINES {
        for key in keys.split_whitespace().filter(|key| is_of_tls(key)) {
            assert!(TLS_KEYS.iter().any(|(known, _)| *known == key), "{engine}: {key}");
        }
    }
}

#[test]
fn a_key_of_tls_never_starts_in_plain_text() {
    for (key, value) in TLS_KEYS {
        for (is_acceptor, in_default) in [(true, true), (true, false), (false, true), (false, false)] {
            let text = text(is_acceptor, in_default, &format!("{key}={value}\n"));
            assert!(!starts_in_plain_text(&text), "{text}");
        }
    }
}

#[test]
fn one_letter_changed_in_a_key_of_tls_never_starts_in_plain_text() {
    for (key, value) in TLS_KEYS {
        let (understood, unknown): (Vec<_>, Vec<_>) =
            one_letter_changed(key, "e").into_iter().partition(|changed| is_understood(changed));
        for changed in &understood {
            for (is_acceptor, in_default) in [(true, true), (true, false), (false, true), (false, false)] {
                let text = text(is_acceptor, in_default, &format!("{changed}={value}\n"));
                assert!(!starts_in_plain_text(&text), "{key}: {text}");
            }
        }
        // Every other one is a mistake at its line, in each section and role.
        for (is_acceptor, in_default) in [(true, true), (false, false)] {
            let lines = unknown.iter().map(|changed| format!("{changed}={value}\n")).collect::<String>();
            let checked = CheckedConfiguration::from_text("a.cfg", &text(is_acceptor, in_default, &lines));
            let is_refused = |changed: &&String| {
                let is_it = |mistake: &ConfigError| match mistake {
                    ConfigError::UnknownKey { key, .. } => key == *changed,
                    _ => false,
                };
                checked.sessions[0].result.as_ref().is_err_and(|mistakes| mistakes.iter().any(is_it))
            };
            let accepted: Vec<_> = unknown.iter().filter(|changed| !is_refused(changed)).collect();
            assert!(accepted.is_empty(), "{key}: {accepted:?}");
        }
    }
}

#[test]
fn a_value_that_is_neither_y_nor_n_never_starts_in_plain_text() {
    for key in ["SocketUseSSL", "SSLEnable"] {
        for value in
            ["", "true", "yes", "1", "on", "YES", "Y.", "\"Y\"", "Y # encrypted", "TLS", "no", "false"]
        {
            for (is_acceptor, in_default) in [(true, true), (true, false), (false, true), (false, false)] {
                let text = text(is_acceptor, in_default, &format!("{key}={value}\n"));
                assert!(!starts_in_plain_text(&text), "{text}");
            }
        }
    }
}

#[test]
fn words_for_tls_that_no_engine_has_stop_the_start_with_the_key_that_turns_it_on() {
    for key in [
        "UseSSL",
        "UseTLS",
        "EnableSSL",
        "EnableTLS",
        "TLSEnabled",
        "SSLEnabled",
        "TLSEnable",
        "SocketSSLEnable",
        "SocketUseTLS",
        "SocketEnableSSL",
        "SocketTLS",
        "SSL",
        "TLS",
        "UseSSLTLS",
        "SslOn",
        "Encrypted",
    ] {
        for in_default in [true, false] {
            let text = text(false, in_default, &format!("{key}=Y\n"));
            let checked = CheckedConfiguration::from_text("a.cfg", &text);
            let [mistake] = &checked.mistakes[..] else { panic!("{key}: {:?}", checked.mistakes) };
            assert_eq!(mistake.nearest(), Some("SocketUseSSL"), "{key}");
            assert!(
                mistake.to_string().contains("[APP]") && mistake.to_string().contains(&format!("X-{key}")),
                "{mistake}"
            );
        }
    }
}

#[test]
fn what_is_below_a_misspelled_section_starts_no_session_in_plain_text() {
    for (header, line) in
        [("[DEFALT]", "SocketUseSSL=Y"), ("[DEFAULTS]", "SSLEnabl=Y"), ("[DEFAULT", "SocketCAFile=ca.pem")]
    {
        let text = format!("{header}\n{line}\n{}", text(false, false, ""));
        assert!(CheckedConfiguration::from_text("a.cfg", &text).usable().is_err(), "{text}");
    }
    // A session that is left out leaves the others alone.
    let other = text(false, false, "");
    let text = format!("[SESION]\nTargetCompID=C\n{other}");
    assert_eq!(CheckedConfiguration::from_text("a.cfg", &text).usable().unwrap().sessions.len(), 1);
}

#[test]
fn what_a_mistake_may_have_hidden_starts_no_session_in_plain_text() {
    let session = |comp_id: &str, lines: &str| {
        text(false, false, lines).replacen("[DEFAULT]\n", "", 1).replace("ID=A", &format!("ID={comp_id}"))
    };
    let (one, other) = (|lines: &str| session("A", lines), session("C", ""));
    for before in [
        // A file that is not there.
        "[APP]\ninclude=absent.cfg\n",
        "[DEFUALT]\ninclude=absent.cfg\n",
        &one("include=absent.cfg\n"),
        &one("include=${FIXBOLT_NO_SUCH_VARIABLE}/more.cfg\n"),
        &one("include=$HOME/more.cfg\n"),
        &one("include absent.cfg\n"),
        &one("inclde=absent.cfg\n"),
        &one("inclde absent.cfg\n"),
        // A header that is none.
        &one("DEFAULT]\nSocketUseSSL=Y\n"),
        &one("DEFAULT\nSocketUseSSL=Y\n"),
        &one("(DEFAULT):\nSocketUseSSL=Y\n"),
        &one("DEFAULT] # all=\nSocketUseSSL=Y\n"),
        &one("\u{feff}[DEFAULT]\nSocketUseSSL=Y\n"),
        &one("[DEFAULT]\u{7}\nSocketUseSSL=Y\n"),
        &one("[DEFAULT]SocketUseSSL=Y\n"),
        &one("[DEFAULT] SocketUseSSL Y\n"),
        &one("[DEFAULT;SocketUseSSL=Y]\n"),
        &one("DEFAULT SocketUseSSL=Y\n"),
        &one("DEFUALT: all sessions\nSocketUseSSL=Y\n"),
        &one("X-Desk=A\u{2028}[DEFAULT]\nSocketUseSSL=Y\n"),
        &one("# see below\u{2028}include=absent.cfg\n"),
        "[GLOBAL]\nAllowedRemoteAddresses=10.0.0.1\n",
        // A line that is none.
        "[DEFUALT]\nSocketUseSSL Y\n",
        "[APP]\nSocketUseSSL Y\n",
    ] {
        for text in [format!("{before}{other}"), format!("{other}{before}")] {
            assert!(CheckedConfiguration::from_text("a.cfg", &text).usable().is_err(), "{text}");
        }
    }
    // Any other mistake of a session leaves the others alone.
    for line in ["SocketUseSSL Y", "Password: hunter2", "LogoutTimeout=${FIXBOLT_NO_SUCH_VARIABLE}", "Quux=1"]
    {
        let checked =
            CheckedConfiguration::from_text("a.cfg", &format!("{}{other}", one(&format!("{line}\n"))));
        let usable = checked.usable().unwrap().sessions;
        assert_eq!(usable.len(), 1, "{line}");
    }
}

#[test]
fn a_key_of_tls_in_app_stops_the_start_with_where_it_belongs() {
    for (key, value) in TLS_KEYS {
        for other in ["", "SocketUseSSL=N\n"] {
            let text = format!("[APP]\n{key}={value}\n{}", text(false, false, other));
            let checked = CheckedConfiguration::from_text("a.cfg", &text);
            let expected = format!(
                "a.cfg:2: {key} is about TLS, and in [APP] the engine does not read it; move it to [DEFAULT] or [SESSION], or give the application's key another name"
            );
            let mistakes: Vec<_> = checked.mistakes.iter().map(ToString::to_string).collect();
            assert_eq!(mistakes, [expected]);
            assert!(checked.usable().is_err(), "{key}");
        }
    }
}

#[test]
fn a_wrong_value_of_a_key_of_tls_never_starts_in_plain_text() {
    for (key, _) in TLS_KEYS {
        for value in ["", "?", "Y", "true", "N # not yet", "${FIXBOLT_NO_SUCH_VARIABLE}", "$HOME"] {
            for (is_acceptor, in_default) in [(true, true), (true, false), (false, true), (false, false)] {
                let text = text(is_acceptor, in_default, &format!("{key}={value}\n"));
                assert!(!starts_in_plain_text(&text), "{text}");
                let left = CheckedConfiguration::from_text("a.cfg", &text).usable();
                let left = left.map(|left| left.sessions).unwrap_or_default();
                assert!(left.iter().all(|session| session.tls().is_some()), "{text}");
            }
        }
    }
}

#[test]
fn one_letter_changed_in_a_key_of_tls_is_no_key_of_an_application() {
    let letters = "abcdefghijklmnopqrstuvwxyz0123456789-_.";
    for (key, _) in TLS_KEYS {
        for changed in one_letter_changed(key, letters).iter().filter(|changed| is_understood(changed)) {
            assert!(is_of_tls(changed), "{key}: {changed}");
        }
    }
}
