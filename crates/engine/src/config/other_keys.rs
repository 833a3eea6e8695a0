//! The keys of QuickFIX C++ 1.16, QuickFIX/J, QuickFIX/N and quickfixgo that are not used, and how
//! each is treated.
//!
//! The rule: a key is used; or it has no effect that a user could miss, which is a warning; or its
//! effect is not available, which stops the start. Nothing is ignored silently. A key of TLS is
//! never one that a session without TLS may have.

use super::tls_draft::UNVERIFIED;

/// How a known key that is not used is treated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Treatment {
    /// Not needed: a warning with this text.
    Replaced(&'static str),
    /// Needed where it is set, and not supported yet: stops the start, except with a harmless value
    /// (compared without case), which asks for the existing behavior.
    Unavailable {
        /// Values that ask for the existing behavior.
        harmless: &'static [&'static str],
        /// Why, and what to do.
        reason: &'static str,
    },
}

use Treatment::{Replaced, Unavailable};

const PROXY: Treatment = Unavailable {
    harmless: &[],
    reason: "connections go directly to SocketConnectHost; use a TCP forwarder",
};
const STORE: Treatment = Replaced("the journal in FileStorePath is the message store");
const LOG: Treatment = Replaced(
    "FileLogPath is the directory of a text file for each session; the journal in FileStorePath has the same messages, and `fixbolt print` shows both",
);

const NOT_ENCRYPTED: Treatment =
    Replaced("private keys are read from files that are not encrypted (PEM); let nobody else read them");
const BYTES: Treatment = only(
    &[],
    "certificates and keys are read from files (PEM): SocketCertificateFile, SocketPrivateKeyFile and SocketCAFile; a program that has them in memory passes them to OwnCertificate::new as Pem::Text",
);

const fn only(harmless: &'static [&'static str], reason: &'static str) -> Treatment {
    Unavailable { harmless, reason }
}

/// Keys of other engines in their usual spelling, with `*` at the end for any suffix. Compared
/// without case.
#[rustfmt::skip]
static OTHER_KEYS: &[(&str, Treatment)] = &[
    // Identity
    ("Description", Replaced("write a comment instead")),
    // Session layer
    ("RefreshOnLogon", Replaced("the journal has one owner at a time; nothing changes it from outside")),
    ("SendResetSeqNumFlag", Replaced("only early versions of QuickFIX/J read it; ResetOnLogon=Y begins at 1 with each Logon, with ResetSeqNumFlag")),
    ("ForceResendWhenCorruptedStore", Replaced("damaged messages are gap-filled; `fixbolt journal repair` reports their sequence numbers")),
    ("LogMessageWhenSessionNotFound", Replaced("a connection that names no session is reported")),
    ("SendLogoutBeforeDisconnectFromTimeout", Replaced("whether a Logout is sent is decided by Compatibility (unanswered_test_request in docs/conformance.md)")),
    ("IgnorePossDupResendRequests", only(&["N"], "a ResendRequest that is a possible duplicate is answered, as the standard says")),
    ("ResendSessionLevelRejects", only(&["N"], "Rejects are gap-filled, not sent again")),
    ("InChanCapacity", Replaced("messages are processed as they are read; a session that is behind is not read from")),
    // Validation
    ("ValidateSequenceNumbers", only(&["Y"], "sequence numbers are always checked")),
    ("PreserveMessageFieldsOrder", Replaced("fields go out in the order in which they were written")),
    // Initiator
    ("SocketConnectProtocol", only(&["TCP", "SOCKET"], "sessions run over TCP")),
    ("ProxyType", PROXY),
    ("ProxyVersion", PROXY),
    ("ProxyHost", PROXY),
    ("ProxyPort", PROXY),
    ("ProxyUser", PROXY),
    ("ProxyPassword", PROXY),
    ("ProxyDomain", PROXY),
    ("ProxyWorkstation", PROXY),
    ("SocketIgnoreProxy", Replaced("connections always go directly to SocketConnectHost")),
    ("SocketTimeout", Replaced("SocketConnectTimeout, in seconds, says how long one connection may take to be made")),
    // Acceptor
    ("DynamicSessions", only(&["N"], "write a [SESSION] with DynamicSession=Y for counterparties that have no section of their own")),
    ("DynamicQualifier", only(&["N"], "a session of DynamicSession=Y is identified by its CompIDs, and by SubIDs and LocationIDs if it has their keys; a second connection with the same ones is refused")),
    ("UseTCPProxy", only(&["N"], "a header is only read from proxies that are known; name their addresses in ProxyProtocolFrom")),
    ("SocketAcceptProtocol", only(&["TCP", "SOCKET"], "sessions run over TCP")),
    ("SocketReuseAddress", Replaced("it is always set: a port is free again as soon as its process ends")),
    ("SocketSynchronousWrite*", Replaced("a write never blocks; a counterparty that does not read is recognized by its full outbox")),
    ("SocketSendTimeout", Replaced("a write never blocks; SendTimeout says how long a counterparty may take to read")),
    ("SocketReceiveTimeout", Replaced("a read never blocks; a silent counterparty is recognized by its heartbeats")),
    ("MaxScheduledWriteRequests", Replaced("a session's outbox is bounded")),
    // Store
    ("FileStoreSync", only(&["N"], "the journal survives the death of the process, not yet that of the machine")),
    ("FileStoreMaxCachedMsgs", STORE),
    ("MySQL*", STORE),
    ("PostgreSQL*", STORE),
    ("Odbc*", STORE),
    ("Jdbc*", STORE),
    ("Sleepycat*", STORE),
    ("SQLStore*", STORE),
    ("SQLDriver", STORE),
    ("SQLDataSourceName", STORE),
    ("SQLConnMaxLifetime", STORE),
    ("MongoStore*", STORE),
    // Log
    ("FileLogBackupPath", LOG),
    ("DebugFileLogPath", LOG),
    ("DebugLogFilePath", LOG),
    ("FileLogHeartbeats", LOG),
    ("FileIncludeMilliseconds", LOG),
    ("FileIncludeTimeStampForMessages", LOG),
    ("ScreenLogShow*", LOG),
    ("SLF4JLog*", LOG),
    ("SQLLog*", LOG),
    ("MongoLog*", LOG),
    ("HttpAcceptPort", Replaced("there is no page over HTTP; `fixbolt journal stat` shows a session")),
];

/// The keys of TLS among them.
#[rustfmt::skip]
static OTHER_TLS_KEYS: &[(&str, Treatment)] = &[
    ("SSLCipherSuite", only(&["HIGH:!RC4"], "it is a list of OpenSSL's; write CipherSuites with IANA's names")),
    ("CertificateRevocationListDirectory", only(&[], "put the lists into one file, and name it in CertificateRevocationListFile")),
    ("SocketInsecureSkipVerify", only(&["N"], UNVERIFIED)),
    ("SSLValidateCertificates", only(&["Y"], "a certificate that is not verified protects from nobody between the two sides; name the counterparty's own certificate, or its authority, in SSLCACertificate, and write EndpointIdentificationAlgorithm=none if only its name differs; an acceptor that asks its clients for none has SSLRequireClientCertificate=N alone")),
    ("SocketKeyStorePassword", NOT_ENCRYPTED),
    ("SSLCertificatePassword", NOT_ENCRYPTED),
    ("SocketPrivateKeyBytes", BYTES),
    ("SocketCertificateBytes", BYTES),
    ("SocketCABytes", BYTES),
    ("SocketTrustStorePassword", Replaced("certificates are no secret")),
    ("KeyStoreType", only(&["PEM"], "SocketKeyStore is a file in PEM; convert it: `openssl pkcs12 -in FILE -nodes -out NEW.pem`, with -legacy if OpenSSL says unsupported (a JKS to PKCS#12 first: `keytool -importkeystore -srckeystore FILE -destkeystore NEW.p12 -deststoretype PKCS12`)")),
    ("TrustStoreType", only(&["PEM"], "SocketTrustStore is a file in PEM; export its certificates: `keytool -exportcert -rfc -alias NAME -keystore FILE`")),
    ("KeyManagerFactoryAlgorithm", Replaced("there is one way to read a key")),
    ("TrustManagerFactoryAlgorithm", Replaced("there is one way to verify a certificate")),
];

/// The keys of QuickFIX/J's example programs, which an engine passes to its application. Those of
/// QuickFIX's and QuickFIX/N's have none.
pub(super) const EXAMPLE_KEYS: [&str; 3] = ["AlwaysFillLimitOrders", "DefaultMarketPrice", "ValidOrderTypes"];

/// Returns every key, with its treatment.
pub(super) fn other_keys() -> impl Iterator<Item = &'static (&'static str, Treatment)> {
    OTHER_KEYS.iter().chain(OTHER_TLS_KEYS)
}

fn is(name: &str, key: &str) -> bool {
    match name.strip_suffix('*') {
        Some(stem) => key.get(..stem.len()).is_some_and(|start| start.eq_ignore_ascii_case(stem)),
        None => name.eq_ignore_ascii_case(key),
    }
}

/// Returns the treatment of `key`, if it is another engine's.
pub(super) fn treatment(key: &str) -> Option<Treatment> {
    other_keys().find(|(name, _)| is(name, key)).map(|(_, treatment)| *treatment)
}

/// Returns whether `key` is one of these, and about TLS.
pub(super) fn is_of_tls(key: &str) -> bool {
    OTHER_TLS_KEYS.iter().any(|(name, _)| is(name, key))
}

/// Returns whether `key` is known to be an application's.
pub(super) fn is_of_an_example(key: &str) -> bool {
    EXAMPLE_KEYS.iter().any(|name| name.eq_ignore_ascii_case(key))
}

#[cfg(test)]
mod tests {
    use super::super::rows::{ROWS, row_of};
    use super::*;

    #[test]
    fn families_of_keys_are_known_by_their_stem() {
        assert!(matches!(treatment("JdbcDriver"), Some(Replaced(_))));
        assert!(matches!(treatment("screenlogshowheartbeats"), Some(Replaced(_))));
        assert_eq!(treatment("HeartBtInt"), None);
    }

    #[test]
    fn no_key_stands_twice() {
        let others: Vec<&str> = other_keys().map(|(name, _)| *name).chain(EXAMPLE_KEYS).collect();
        for (n, name) in others.iter().enumerate() {
            assert!(!others[..n].iter().any(|other| other.eq_ignore_ascii_case(name)), "{name}");
            assert!(row_of(name).is_none(), "{name} is used");
        }
        let names: Vec<String> = ROWS.iter().flat_map(|row| row.names()).collect();
        for (n, name) in names.iter().enumerate() {
            assert!(!names[..n].iter().any(|other| other.eq_ignore_ascii_case(name)), "{name}");
        }
    }
}
