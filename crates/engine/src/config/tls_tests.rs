//! The keys of TLS.

use super::*;
use crate::tls::{Authorities, CipherSuite, ClientCertificates, OwnCertificate, Tls, TlsVersion};

const CERTIFICATE: &str = "SocketCertificateFile=a.pem\nSocketPrivateKeyFile=a.key";

fn read(role: &str, keys: &str) -> Result<Option<Tls>, String> {
    let (kind, more) = match role {
        "acceptor" => ("acceptor", "SocketAcceptPort=0"),
        _ => ("initiator", "HeartBtInt=30\nSocketConnectHost=venue\nSocketConnectPort=1"),
    };
    let text = format!(
        "[SESSION]\nConnectionType={kind}\n{more}\nBeginString=FIX.4.4\nSenderCompID=A\nTargetCompID=B\n{keys}\n"
    );
    let read = Configuration::from_text("a.cfg", &text);
    read.map(|mut read| read.sessions.remove(0).tls).map_err(|error| error.to_string())
}

fn tls(role: &str, keys: &str) -> Tls {
    read(role, keys).unwrap().expect("it has TLS")
}

#[test]
fn a_session_has_tls_if_a_key_says_so_or_names_certificates() {
    assert_eq!(read("initiator", ""), Ok(None));
    assert_eq!(read("initiator", "SocketUseSSL=N\nSocketCAFile=ca.pem"), Ok(None));
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
        ("acceptor", CERTIFICATE),
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
        (CERTIFICATE.to_owned(), Required),
        (format!("{CERTIFICATE}\nNeedClientAuth=N"), Off),
        (format!("{server}\nNeedClientAuth=requested"), Requested),
        (server.to_owned(), Off),
        (format!("{server}\nCertificateVerifyLevel=2"), Required),
        (format!("{server}\nCertificateVerifyLevel=1"), Requested),
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
fn what_binds_a_certificate_to_a_session_is_read() {
    let pin = "d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM=";
    let tls = tls(
        "initiator",
        &format!(
            "SocketUseSSL=Y\nTLSPeerPins=sha256/{pin}, {}\nTLSPeerNames=venue.example, CompID\nSNIHostName=venue.example\nUseSNI=N\nEndpointIdentificationAlgorithm=none",
            "0a".repeat(32)
        ),
    );
    assert_eq!(tls.pins, [pin.parse().unwrap(), "0a".repeat(32).parse().unwrap()]);
    assert_eq!((tls.peer_names.join(" ").as_str(), tls.peer_is_comp_id), ("venue.example", true));
    assert_eq!(tls.server_name.as_deref(), Some("venue.example"));
    assert!(!tls.send_server_name && !tls.check_server_name);
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
        ("initiator", "SocketUseSSL=Y\nKeyStoreType=JKS", "openssl pkcs12"),
        ("initiator", "SocketUseSSL=Y\nTLSPeerPins=abc", "SHA-256 of public keys"),
        ("initiator", "TLSPeerNames=venue", "and the session has no TLS"),
        ("initiator", "SocketCAFile=a.pem\nCertificationAuthoritiesFile=b.pem", "another key names others"),
        ("initiator", "SocketCertificateFile=a.pem\nSocketKeyStore=b.pem", "another key names a.pem"),
        ("initiator", "ServerCertificateFile=a.pem", "applies to acceptors only"),
    ] {
        let error = read(role, keys).unwrap_err();
        assert!(error.contains(expected), "{keys}: {error}");
    }
    let text = "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=9\nBeginString=FIX.4.4\nSenderCompID=A\n\
         [SESSION]\nTargetCompID=B\nServerCertificateFile=a\nServerCertificateKeyFile=b\n[SESSION]\nTargetCompID=C\n";
    let error = Configuration::from_text("a.cfg", text).unwrap_err().to_string();
    let expected = "a.cfg:10: the sessions of a port have the same TLS, because the handshake comes before the Logon; this one differs in whether there is any (SocketUseSSL) from the one at a.cfg:6";
    assert!(error.starts_with(expected), "{error}");
}
