//! The keys of TLS.

use super::*;
use crate::tls::{Authorities, CipherSuite, ClientCertificates, OwnCertificate, Tls, TlsVersion};

const CERTIFICATE: &str = "SocketCertificateFile=a.pem\nSocketPrivateKeyFile=a.key";

fn text(role: &str, keys: &str) -> String {
    let (kind, more) = match role {
        "acceptor" => ("acceptor", "SocketAcceptPort=0"),
        _ => ("initiator", "HeartBtInt=30\nSocketConnectHost=venue\nSocketConnectPort=1"),
    };
    format!(
        "[SESSION]\n{more}\nConnectionType={kind}\nBeginString=FIX.4.4\nSenderCompID=A\nTargetCompID=B\n{keys}\n"
    )
}

fn read_tls(role: &str, keys: &str) -> Result<Option<Tls>, String> {
    let read = Configuration::from_text("a.cfg", &text(role, keys));
    read.map(|read| read.sessions[0].tls().cloned()).map_err(|error| error.to_string())
}

fn tls(role: &str, keys: &str) -> Tls {
    read_tls(role, keys).unwrap().expect("it has TLS")
}

#[test]
fn a_session_has_tls_if_a_key_says_so_or_names_certificates() {
    assert_eq!(read_tls("initiator", ""), Ok(None));
    assert_eq!(read_tls("initiator", "SocketUseSSL=N\nSocketCAFile=ca.pem"), Ok(None));
    assert_eq!(tls("initiator", "SocketUseSSL=Y"), Tls::new());
    let expected = Tls { authorities: Authorities::File("ca.pem".into()), ..Tls::new() };
    for key in ["SocketCAFile", "SocketTrustStore", "CertificationAuthoritiesFile"] {
        assert_eq!(tls("initiator", &format!("{key}=ca.pem")), expected, "{key}");
    }
    assert_eq!(
        tls("initiator", "CertificationAuthoritiesDirectory=/etc/ca").authorities,
        Authorities::Directory("/etc/ca".into())
    );
    let own = Some(OwnCertificate::new("a.pem", "a.key"));
    for (role, keys) in [
        ("initiator", CERTIFICATE),
        ("acceptor", "SocketCertificateFile=a.pem\nSocketPrivateKeyFile=a.key\nNeedClientAuth=N"),
        ("acceptor", "ServerCertificateFile=a.pem\nServerCertificateKeyFile=a.key"),
        ("initiator", "ClientCertificateFile=a.pem\nClientCertificateKeyFile=a.key"),
    ] {
        assert_eq!(tls(role, keys).certificate, own, "{keys}");
    }
    let both =
        tls("acceptor", "SocketUseSSL=Y\nSocketKeyStore=a.pem\nSocketTrustStore=b.pem\nNeedClientAuth=Y");
    assert_eq!(both.certificate, Some(OwnCertificate::new("a.pem", "a.pem")));
    assert_eq!(both.client_certificates, ClientCertificates::Required);
}

#[test]
fn initiators_need_a_certificate_as_the_keys_say_it() {
    use ClientCertificates::{Off, Requested, Required};
    let server = "ServerCertificateFile=a.pem\nServerCertificateKeyFile=a.key";
    for (keys, expected) in [
        (format!("{CERTIFICATE}\nSocketUseSSL=Y"), Off),
        // As in quickfixgo.
        (format!("{CERTIFICATE}\nSocketCAFile=ca.pem"), Required),
        (format!("{CERTIFICATE}\nNeedClientAuth=N"), Off),
        (format!("{server}\nSocketCAFile=ca.pem\nNeedClientAuth=requested"), Requested),
        (server.to_owned(), Off),
        (format!("{server}\nSocketCAFile=ca.pem"), Off),
        // QuickFIX's numbers: 1 requires, 2 asks.
        (format!("{server}\nCertificateVerifyLevel=0"), Off),
        (format!("{server}\nSocketCAFile=ca.pem\nCertificateVerifyLevel=1"), Required),
        (format!("{server}\nSocketCAFile=ca.pem\nCertificateVerifyLevel=2"), Requested),
        // As in QuickFIX/N.
        (format!("{server}\nSSLEnable=Y\nSocketCAFile=ca.pem"), Required),
        ("SSLCertificate=./a.pem\nSSLCACertificate=./ca.pem".to_owned(), Required),
        ("SSLCertificate=./a.pem\nSSLRequireClientCertificate=N".to_owned(), Off),
        (format!("{server}\nSSLEnable=Y\nNeedClientAuth=N"), Off),
    ] {
        assert_eq!(tls("acceptor", &keys).client_certificates, expected, "{keys}");
    }
}

#[test]
fn versions_and_cipher_suites_are_those_of_each_engines_keys() {
    use TlsVersion::{Tls12, Tls13};
    for (key, expected) in [
        ("EnabledProtocols=TLSv1.2", (Tls12, Tls12)),
        ("EnabledProtocols=TLSv1.3, TLSv1.2", (Tls12, Tls13)),
        ("SocketMinimumTLSVersion=TLS13", (Tls13, Tls13)),
        ("SSLProtocol=all -SSLv2 -TLSv1_3", (Tls12, Tls12)),
        ("SSLProtocol=+TLSv1_3", (Tls13, Tls13)),
    ] {
        let tls = tls("initiator", &format!("SocketUseSSL=Y\n{key}"));
        assert_eq!((tls.min_version, tls.max_version), expected, "{key}");
    }
    let suites = |keys: &str| tls("initiator", &format!("SocketUseSSL=Y\n{keys}")).cipher_suites;
    let names =
        |suites: &[CipherSuite]| suites.iter().map(|suite| suite.name()).collect::<Vec<_>>().join(",");
    let two = "TLS_AES_128_GCM_SHA256,TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384";
    assert_eq!(names(&suites(&format!("CipherSuites={two}"))), two);
    assert_eq!(suites("TLSPreset=FIXS"), Tls::fixs().cipher_suites);
    let only13 = suites("TLSCipherSuites=TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256");
    assert_eq!(only13.iter().filter(|suite| suite.is_tls13()).count(), 2);
    assert_eq!(only13.len(), 8);
}

#[test]
fn a_cipher_suite_that_is_unknown_is_named() {
    let refused = |keys: &str| read_tls("initiator", &format!("SocketUseSSL=Y\n{keys}")).unwrap_err();
    let begin = "IANA's names, such as TLS_AES_128_GCM_SHA256, separated by commas; of TLS 1.2 only ECDHE with GCM or ChaCha20";
    for (keys, named) in [
        (
            "CipherSuites=TLS_AES_256_GCM_SHA384,TLS_RSA_WITH_AES_128_CBC_SHA,TLS_NO",
            ", in place of TLS_RSA_WITH_AES_128_CBC_SHA and TLS_NO, expected",
        ),
        (
            "TLSCipherSuites=TLS_AES_256_GCM_SHA384,TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
            ", in place of TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, expected",
        ),
        ("CipherSuites=TLS_AES_256_GCM_SHA384,", " expected"),
        // What stands in place of a variable is not shown.
        ("CipherSuites=${PATH}", " expected"),
    ] {
        let error = refused(keys);
        assert!(error.ends_with(&format!("{begin}{named}")), "{error}");
    }
}

#[test]
fn a_preset_beside_cipher_suites_is_a_warning() {
    let (preset, suites) = ("TLSPreset=FIXS", "CipherSuites=TLS_AES_128_GCM_SHA256");
    let told = |shared: &str, own: &str| -> Vec<String> {
        let text = format!("[DEFAULT]\n{shared}\n{}", text("initiator", &format!("SocketUseSSL=Y\n{own}")));
        let warnings = Configuration::from_text("a.cfg", &text).unwrap().warnings;
        warnings.iter().map(ToString::to_string).collect()
    };
    let said = |line: u32, at: u32| {
        vec![format!(
            "a.cfg:{line}: TLSPreset has no effect: CipherSuites at a.cfg:{at} names the cipher suites"
        )]
    };
    assert_eq!(told("X-A=1", &format!("{preset}\n{suites}")), said(12, 13));
    assert_eq!(told(suites, preset), said(12, 2));
    assert_eq!(told(&format!("{preset}\n{suites}"), ""), said(2, 3));
    // The session's own suites are meant instead of the preset.
    assert_eq!(told(preset, suites), [""; 0]);
    assert_eq!(told("X-A=1", &format!("TLSPreset=none\n{suites}")), [""; 0]);
    // These are for TLS 1.3 only; the preset's for TLS 1.2 stay.
    assert_eq!(told("X-A=1", &format!("{preset}\nTLS{suites}")), [""; 0]);
}

#[test]
fn what_binds_a_certificate_to_a_session_is_read() {
    let pin = "d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM=";
    let tls = tls(
        "initiator",
        &format!(
            "SocketUseSSL=Y\nTLSPeerPins=sha256/{pin}, {}\nTLSPeerNames=venue.example, CompID\nSNIHostName=venue.example\nUseSNI=N\nEndpointIdentificationAlgorithm=none",
            "0a".repeat(32)
        ),
    );
    assert_eq!(tls.peer_pins, [pin.parse().unwrap(), "0a".repeat(32).parse().unwrap()]);
    assert_eq!((tls.peer_names.join(" ").as_str(), tls.peer_is_comp_id), ("venue.example", true));
    assert_eq!(tls.server_name.as_deref(), Some("venue.example"));
    assert!(!tls.send_server_name && !tls.check_server_name);
}

#[test]
fn the_keys_of_quickfixn_have_their_effect() {
    let keys = "SSLEnable=Y\nSSLServerName=venue.example\nSSLProtocols=Tls11, Tls12\nSSLCertificate=./a.pem\n\
        SSLCertificatePassword=hunter2\nSSLCACertificate=./ca.pem\nSSLValidateCertificates=Y\nSSLCheckCertificateRevocation=N";
    let mut expected = Tls::new();
    expected.server_name = Some("venue.example".to_owned());
    expected.max_version = TlsVersion::Tls12;
    expected.certificate = Some(OwnCertificate::new("./a.pem", "./a.pem"));
    expected.authorities = Authorities::File("./ca.pem".into());
    let mut read = tls("initiator", keys);
    read.client_certificates = ClientCertificates::Off;
    assert_eq!(read, expected);
    let server = keys.replace("SSLServerName=venue.example\n", "");
    assert_eq!(tls("acceptor", &server).client_certificates, ClientCertificates::Required);
    assert_eq!(read_tls("initiator", &keys.replace("SSLEnable=Y", "SSLEnable=N")), Ok(None));
    let lists = keys.replace("Revocation=N", "Revocation=Y\nCertificateRevocationListFile=crl.pem");
    assert_eq!(tls("initiator", &lists).revocation_lists, Some("crl.pem".into()));
    for (protocols, expected) in
        [("None", TlsVersion::Tls12), ("Tls12,Tls13", TlsVersion::Tls12), ("tls13", TlsVersion::Tls13)]
    {
        let tls = tls("initiator", &format!("SSLEnable=Y\nSSLProtocols={protocols}"));
        assert_eq!((tls.min_version, tls.max_version), (expected, TlsVersion::Tls13), "{protocols}");
    }
    // What QuickFIX/N would check by default is left out with a warning.
    let warnings = |keys: &str| Configuration::from_text("a.cfg", &text("initiator", keys)).unwrap().warnings;
    let told = warnings("SSLEnable=Y");
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].to_string().starts_with("a.cfg:9: SSLEnable: revocation is not checked"), "{}", told[0]);
    assert_eq!(warnings("SSLEnable=Y\nSSLCheckCertificateRevocation=N"), []);
    assert_eq!(warnings("SocketUseSSL=Y"), []);
}

#[test]
fn what_would_weaken_tls_in_quickfixns_words_stops_the_start_with_what_to_do() {
    for (role, keys, expected) in [
        ("initiator", "SSLValidateCertificates=N", "name the counterparty's own certificate"),
        (
            "initiator",
            "SSLProtocols=Default",
            "SSLProtocols=Default is not available: versions before TLS 1.2 are not secure and not supported; enable Tls12 or Tls13",
        ),
        ("initiator", "SSLProtocols=Ssl3, Tls", "enable Tls12 or Tls13"),
        ("initiator", "SSLProtocols=TLSv1.2", "names such as Tls12"),
        ("initiator", "SSLCheckCertificateRevocation=Y", "name them in CertificateRevocationListFile"),
        (
            "initiator",
            "SSLCheckCertificateRevocation=N\nCertificateRevocationListFile=crl",
            "does not read them",
        ),
        (
            "initiator",
            "SSLCertificate=../keys/Client.PFX",
            "`openssl pkcs12 -in ../keys/Client.PFX -nodes -out NEW.pem`",
        ),
        (
            "initiator",
            "SSLCertificate=CN=Client",
            "export the certificate to a file (.pfx), and convert it to PEM: `openssl pkcs12 -in FILE.pfx -nodes",
        ),
        (
            "initiator",
            "SSLCertificate=Client",
            "there is no such file, and the system's store of certificates is not read",
        ),
        ("initiator", "SSLCACertificate=ca.p12", "`openssl pkcs12 -in ca.p12 -nokeys -out NEW.pem`"),
        ("acceptor", "SSLCertificate=./a.pem", "this session has no SocketCAFile"),
        (
            "acceptor",
            "SSLCertificate=./a.pem\nSSLRequireClientCertificate=Y",
            "this session has no SocketCAFile",
        ),
    ] {
        let error = read_tls(role, &format!("SSLEnable=Y\n{keys}")).unwrap_err();
        assert!(error.contains(expected), "{keys}: {error}");
    }
}

#[test]
fn a_key_about_tls_without_tls_stops_the_start_unless_plain_connections_are_on_purpose() {
    for key in [
        "EnabledProtocols=TLSv1.2",
        "SSLProtocols=Tls12",
        "SSLServerName=a",
        "SocketKeyStorePassword=a",
        "SSLProtocol=all",
    ] {
        let error = read_tls("initiator", key).unwrap_err();
        let (name, _) = key.split_once('=').unwrap();
        let expected = format!(
            "a.cfg:9: {name} is about TLS, and nothing turns it on: SocketUseSSL=Y does; SocketUseSSL=N says that connections are plain on purpose"
        );
        assert_eq!(error, expected);
        for off in ["SocketUseSSL=N", "SSLEnable=N"] {
            assert_eq!(read_tls("initiator", &format!("{key}\n{off}")), Ok(None), "{key}");
        }
    }
    // A default is less than what the session itself says.
    let own = format!("[DEFAULT]\nSocketUseSSL=N\n{}", text("initiator", "SocketCAFile=ca.pem"));
    let error = Configuration::from_text("a.cfg", &own).unwrap_err().to_string();
    let expected = "a.cfg:11: SocketCAFile is about TLS, and SocketUseSSL at a.cfg:2 turns it off; write SocketUseSSL for this session, Y or N";
    assert_eq!(error, expected);
    assert!(Configuration::from_text("a.cfg", &format!("{own}SocketUseSSL=N\n")).is_ok());
    // Of the other role, in the defaults.
    let text = format!("[DEFAULT]\nServerCertificateFile=a\n{}", text("initiator", ""));
    let error = Configuration::from_text("a.cfg", &text).unwrap_err().to_string();
    assert!(error.starts_with("a.cfg:2: ServerCertificateFile is about TLS"), "{error}");
    // As in a stock file of QuickFIX, whose sessions have no TLS: no counterparty would accept it.
    let text = self::text("initiator", "SSLProtocol=+SSLv3 +TLSv1 -SSLv2");
    let warnings = Configuration::from_text("a.cfg", &text).unwrap().warnings;
    let expected = "a.cfg:9: SSLProtocol has no effect: the session has no TLS; SocketUseSSL=Y turns it on, with TLSv1_2 or TLSv1_3";
    assert_eq!(warnings.iter().map(ToString::to_string).collect::<Vec<_>>(), [expected]);
}

#[test]
fn a_key_of_tls_without_effect_is_a_warning_with_tls_and_stops_the_start_without() {
    let page = include_str!("../../docs/configuration.md");
    let (_, page) = page.split_once("## Keys without effect").unwrap();
    let (text_before, _) = page.split_once("<!-- replaced keys -->").unwrap();
    let is_replaced = |treatment| matches!(treatment, other_keys::Treatment::Replaced(_));
    for (key, treatment) in other_keys::other_keys() {
        let stops = other_keys::is_of_tls(key) && is_replaced(*treatment);
        assert_eq!(text_before.contains(&format!("`{key}`")), stops, "{key}");
        if stops {
            let error = read_tls("initiator", &format!("{key}=a")).unwrap_err();
            assert!(
                error.starts_with(&format!("a.cfg:9: {key} is about TLS, and nothing turns it on")),
                "{error}"
            );
            let on = text("initiator", &format!("SocketUseSSL=Y\n{key}=a"));
            let warnings = Configuration::from_text("a.cfg", &on).unwrap().warnings;
            assert!(warnings.len() == 1 && warnings[0].key == *key, "{key}: {warnings:?}");
        }
    }
}

#[test]
fn of_keys_that_say_the_same_none_weakens_another() {
    let server = "ServerCertificateFile=a.pem\nServerCertificateKeyFile=a.key\nSocketCAFile=ca.pem";
    for keys in
        ["NeedClientAuth=N\nCertificateVerifyLevel=1", "NeedClientAuth=Y\nSSLRequireClientCertificate=N"]
    {
        let error = read_tls("acceptor", &format!("{server}\n{keys}")).unwrap_err();
        assert!(error.contains("say the same, but their values differ"), "{keys}: {error}");
    }
    let same = "NeedClientAuth=Y\nSSLRequireClientCertificate=Y\nCertificateVerifyLevel=1";
    assert_eq!(
        tls("acceptor", &format!("{server}\n{same}")).client_certificates,
        ClientCertificates::Required
    );
    let min = |keys: &str| tls("initiator", &format!("SocketUseSSL=Y\n{keys}")).min_version;
    assert_eq!(min("EnabledProtocols=TLSv1.3\nSSLProtocol=all"), TlsVersion::Tls13);
    assert_eq!(min("EnabledProtocols=TLSv1.3\nSocketMinimumTLSVersion=TLS12"), TlsVersion::Tls13);
    let error =
        read_tls("initiator", "SocketUseSSL=Y\nEnabledProtocols=TLSv1.3\nSSLProtocols=Tls12").unwrap_err();
    assert!(error.contains("leave no version of TLS"), "{error}");
    let error = read_tls("initiator", "SocketUseSSL=N\nSSLEnable=Y").unwrap_err();
    assert!(error.contains("are the same key, but their values differ"), "{error}");
    // Of three names, each is compared.
    let names = ["SNIHostName", "SocketServerName", "SSLServerName"];
    for odd in 0..3 {
        let value = |n: usize| if n == odd { "b.example" } else { "a.example" };
        let keys = names.iter().enumerate().map(|(n, name)| format!("\n{name}={}", value(n)));
        let error =
            read_tls("initiator", &format!("SocketUseSSL=Y{}", keys.collect::<String>())).unwrap_err();
        let told = error.lines().filter(|line| line.contains("are the same key, but their values differ"));
        assert_eq!(told.count(), if odd == 0 { 2 } else { 1 }, "{error}");
    }
}

#[test]
fn clients_certificates_are_asked_for_only_of_authorities_that_are_named() {
    let server = "ServerCertificateFile=a.pem\nServerCertificateKeyFile=a.key";
    for keys in [
        format!("{server}\nNeedClientAuth=Y"),
        format!("{server}\nNeedClientAuth=requested"),
        format!("{server}\nCertificateVerifyLevel=1"),
        format!("{server}\nCertificateVerifyLevel=2"),
        format!("{server}\nSSLRequireClientCertificate=Y"),
        CERTIFICATE.to_owned(),
    ] {
        let error = read_tls("acceptor", &keys).unwrap_err();
        let expected = "a.cfg:1: this session has no SocketCAFile, the authorities of its clients' certificates: those that the system trusts sign for anyone (NeedClientAuth=N asks clients for none); add it here or in [DEFAULT]";
        assert_eq!(error, expected, "{keys}");
        for authority in ["SocketCAFile=a", "SSLCACertificate=./a", "CertificationAuthoritiesDirectory=a"] {
            assert!(read_tls("acceptor", &format!("{keys}\n{authority}")).is_ok(), "{keys}: {authority}");
        }
    }
    let error = read_tls("acceptor", &format!("{server}\nTLSPeerNames=CompID")).unwrap_err();
    assert!(error.contains("this session has no NeedClientAuth=Y"), "{error}");
}

#[test]
fn an_acceptor_that_asks_for_no_certificate_is_told_what_verifies_nobody() {
    let told = |role: &str, shared: &str, own: &str| -> Vec<String> {
        let text = format!("[DEFAULT]\n{shared}\n{}", text(role, own));
        let warnings = Configuration::from_text("a.cfg", &text).unwrap().warnings;
        warnings.iter().map(ToString::to_string).collect()
    };
    let server = "ServerCertificateFile=a.pem\nServerCertificateKeyFile=a.key";
    for key in [
        "SocketCAFile=a",
        "SSLCACertificate=./a",
        "CertificationAuthoritiesFile=a",
        "CertificationAuthoritiesDirectory=a",
        "CertificateRevocationListFile=a",
    ] {
        let (name, _) = key.split_once('=').unwrap();
        let unasked = format!(
            "{name}: an acceptor verifies no client with it unless it asks for certificates; write NeedClientAuth=Y, or N if that is meant"
        );
        let own = told("acceptor", "X-A=1", &format!("{server}\n{key}"));
        assert_eq!(own, [format!("a.cfg:11: {unasked}")]);
        assert_eq!(told("acceptor", key, server), [format!("a.cfg:2: {unasked}")]);
        // The session says so itself: what it inherits is for other sessions.
        for (off, said) in [
            ("NeedClientAuth=n", "NeedClientAuth=n"),
            ("SSLRequireClientCertificate=N", "SSLRequireClientCertificate=N"),
            ("CertificateVerifyLevel=0", "CertificateVerifyLevel=0"),
        ] {
            let own = told("acceptor", "X-A=1", &format!("{server}\n{key}\n{off}"));
            let expected = format!("a.cfg:11: {name} has no effect: {said} asks clients for no certificate");
            assert_eq!(own, [expected]);
            assert_eq!(told("acceptor", key, &format!("{server}\n{off}")), [""; 0], "{key} {off}");
        }
        let authority = if name == "CertificateRevocationListFile" { "\nSocketCAFile=b" } else { "" };
        for asks in ["NeedClientAuth=Y", "NeedClientAuth=requested", "CertificateVerifyLevel=2"] {
            let own = told("acceptor", "X-A=1", &format!("{server}\n{key}\n{asks}{authority}"));
            assert_eq!(own, [""; 0], "{key} {asks}");
        }
        assert_eq!(told("initiator", "X-A=1", &format!("SocketUseSSL=Y\n{key}")), [""; 0], "{key}");
    }
}

#[test]
fn what_is_wrong_with_tls_is_said_with_what_to_do() {
    for (role, keys, expected) in [
        ("acceptor", "SocketUseSSL=Y", "this session has no SocketCertificateFile"),
        ("initiator", "SocketCertificateFile=a.pem", "this session has no SocketPrivateKeyFile"),
        (
            "initiator",
            "SocketUseSSL=Y\nSocketInsecureSkipVerify=Y",
            "name the counterparty's own certificate",
        ),
        ("initiator", "SocketUseSSL=Y\nCertificateVerifyLevel=0", "name the counterparty's own certificate"),
        ("initiator", "SocketUseSSL=Y\nCipherSuites=TLS_RSA_WITH_AES_128_CBC_SHA", "IANA's names"),
        ("initiator", "SocketUseSSL=Y\nSSLProtocol=TLSv1", "enable TLSv1_2 or TLSv1_3"),
        ("initiator", "SocketUseSSL=Y\nSSLCipherSuite=ECDHE-RSA-AES128-SHA", "write CipherSuites"),
        (
            "initiator",
            "SocketUseSSL=Y\nKeyStoreType=JKS",
            "-out NEW.pem`, with -legacy if OpenSSL says unsupported",
        ),
        ("initiator", "SocketUseSSL=Y\nTLSPeerPins=abc", "SHA-256 of public keys"),
        ("initiator", "TLSPeerNames=venue", "and the session has no TLS"),
        ("initiator", "SocketCAFile=a.pem\nCertificationAuthoritiesFile=b.pem", "another key names others"),
        (
            "initiator",
            "SocketCertificateFile=a.pem\nSocketKeyStore=b.pem",
            "another key names another file: SocketCertificateFile, SocketKeyStore",
        ),
        ("initiator", "ServerCertificateFile=a.pem", "applies to acceptors only"),
    ] {
        let error = read_tls(role, keys).unwrap_err();
        assert!(error.contains(expected), "{keys}: {error}");
    }
    let text = "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=9\nBeginString=FIX.4.4\nSenderCompID=A\n\
         [SESSION]\nTargetCompID=B\nServerCertificateFile=a\nServerCertificateKeyFile=b\n[SESSION]\nTargetCompID=C\n";
    let error = Configuration::from_text("a.cfg", text).unwrap_err().to_string();
    let expected = "a.cfg:10: the sessions of a port have the same TLS, because the handshake comes before the Logon; this one differs in whether there is any (SocketUseSSL) from the one at a.cfg:6";
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn names_stand_for_a_comp_id_or_for_nobody() {
    let names = tls("initiator", "SocketUseSSL=Y\nTLSPeerNames=compid, DNS:CompID,x");
    assert!(names.peer_is_comp_id && names.peer_dns_name_is_comp_id && !names.any_peer);
    assert_eq!(names.peer_names, ["x"]);
    let any = tls("initiator", "SocketUseSSL=Y\nTLSPeerNames=none");
    assert_eq!(any, Tls { any_peer: true, ..Tls::new() });
    assert_eq!(read_tls("initiator", "SocketUseSSL=N\nTLSPeerNames=none"), Ok(None));
    for wrong in ["none,CompID", "x, none", "x,,y"] {
        let error = read_tls("initiator", &format!("SocketUseSSL=Y\nTLSPeerNames={wrong}")).unwrap_err();
        assert!(error.contains("names, CompID and DNS:CompID"), "{wrong}: {error}");
    }
}

#[test]
fn beside_a_template_that_binds_by_comp_id_a_session_that_names_nobody_stops_the_start() {
    const TEMPLATE: &str = "DynamicSession=Y\nTargetCompID=*\nTLSPeerNames=CompID";
    let read = |sections: [&str; 2]| {
        let text = format!(
            "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=9\nBeginString=FIX.4.4\nSenderCompID=A\n{CERTIFICATE}\nNeedClientAuth=Y\nSocketCAFile=ca.pem\n[SESSION]\n{}\n[SESSION]\n{}\n",
            sections[0], sections[1]
        );
        Configuration::from_text("a.cfg", &text).map(drop).map_err(|error| error.to_string())
    };
    let error = read(["TargetCompID=B", TEMPLATE]).unwrap_err();
    assert!(error.starts_with("a.cfg:10: it says nothing of the certificate"), "{error}");
    assert!(error.contains("TLSPeerNames=none") && error.ends_with("(see a.cfg:12)"), "{error}");
    let error = read([TEMPLATE, "TargetCompID=B"]).unwrap_err();
    assert!(error.starts_with("a.cfg:14: it says nothing"), "{error}");
    let template = "DynamicSession=Y\nTargetCompID=*\nSenderCompID=C\nTLSPeerNames=DNS:CompID";
    assert!(
        read(["DynamicSession=Y\nTargetCompID=*", template]).unwrap_err().starts_with("a.cfg:10: it says")
    );
    let pin = format!("TargetCompID=B\nTLSPeerPins={}", "0a".repeat(32));
    for fine in [
        "TargetCompID=B\nTLSPeerNames=none",
        "TargetCompID=B\nTLSPeerNames=CompID",
        "TargetCompID=B\nTLSPeerNames=b.example",
        "TargetCompID=B\nSocketAcceptPort=10",
        &pin,
    ] {
        assert_eq!(read([fine, TEMPLATE]), Ok(()), "{fine}");
    }
    assert_eq!(read(["TargetCompID=B", "TargetCompID=C\nTLSPeerNames=CompID"]), Ok(()));
}
