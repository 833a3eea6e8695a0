//! The keys of QuickFIX C++ 1.16, QuickFIX/J and quickfixgo that are not used, and how each is
//! treated; and the search for the known key that a misspelled one is closest to.
//!
//! The rule: a key is used; or it has no effect that a user could miss, which is a warning; or its
//! effect is not available, which stops the start. Nothing is ignored silently.

use super::rows::{ROWS, row_of};
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

const fn only(harmless: &'static [&'static str], reason: &'static str) -> Treatment {
    Unavailable { harmless, reason }
}

/// Keys of other engines in their usual spelling, with `*` at the end for any suffix. Compared
/// without case.
#[rustfmt::skip]
pub(super) static OTHER_KEYS: &[(&str, Treatment)] = &[
    // Identity
    ("Description", Replaced("write a comment instead")),
    // Session layer
    ("RefreshOnLogon", Replaced("the journal has one owner at a time; nothing changes it from outside")),
    ("SendResetSeqNumFlag", Replaced("no engine ever read it; ResetOnLogon sends ResetSeqNumFlag")),
    ("ForceResendWhenCorruptedStore", Replaced("damaged messages are gap-filled; `fixbolt journal repair` reports their sequence numbers")),
    ("LogMessageWhenSessionNotFound", Replaced("a connection that names no session is always reported")),
    ("InChanCapacity", Replaced("messages are processed as they are read; a session that is behind is not read from")),
    // Validation
    ("FirstFieldInGroupIsDelimiter", Replaced("the first field of a group always begins each entry")),
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
    ("SocketTimeout", Replaced("SocketConnectTimeout, in seconds, says how long one connection may take to be made")),
    // Acceptor
    ("DynamicSessions", only(&["N"], "write a [SESSION] with DynamicSession=Y for counterparties that have no section of their own")),
    ("DynamicQualifier", only(&["N"], "a session of DynamicSession=Y is identified by its CompIDs, and by SubIDs and LocationIDs if it has their keys; a second connection with the same ones is refused")),
    ("UseTCPProxy", only(&["N"], "a header is only read from proxies that are known; name their addresses in ProxyProtocolFrom")),
    ("SocketAcceptProtocol", only(&["TCP", "SOCKET"], "sessions run over TCP")),
    ("SocketReuseAddress", Replaced("it is always set: a port is free again as soon as its process ends")),
    ("SocketSynchronousWrite*", Replaced("a write never blocks; a counterparty that does not read is recognized by its full outbox")),
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
    ("MongoStore*", STORE),
    // Log
    ("FileLogBackupPath", LOG),
    ("FileLogHeartbeats", LOG),
    ("FileIncludeMilliseconds", LOG),
    ("FileIncludeTimeStampForMessages", LOG),
    ("ScreenLogShow*", LOG),
    ("SLF4JLog*", LOG),
    ("SQLLog*", LOG),
    ("MongoLog*", LOG),
    ("HttpAcceptPort", Replaced("there is no page over HTTP; `fixbolt journal stat` shows a session")),
    // TLS
    ("SSLCipherSuite", only(&["HIGH:!RC4"], "it is a list of OpenSSL's; write CipherSuites with IANA's names")),
    ("CertificateRevocationListDirectory", only(&[], "put the lists into one file, and name it in CertificateRevocationListFile")),
    ("SocketInsecureSkipVerify", only(&["N"], UNVERIFIED)),
    ("SocketKeyStorePassword", Replaced("private keys are read from files that are not encrypted (PEM); let nobody else read them")),
    ("SocketTrustStorePassword", Replaced("certificates are no secret")),
    ("KeyStoreType", only(&["PEM"], "SocketKeyStore is a file in PEM; convert it: `openssl pkcs12 -in FILE -nodes -out NEW.pem` (a JKS to PKCS#12 first: `keytool -importkeystore -srckeystore FILE -destkeystore NEW.p12 -deststoretype PKCS12`)")),
    ("TrustStoreType", only(&["PEM"], "SocketTrustStore is a file in PEM; export its certificates: `keytool -exportcert -rfc -alias NAME -keystore FILE`")),
    ("KeyManagerFactoryAlgorithm", Replaced("there is one way to read a key")),
    ("TrustManagerFactoryAlgorithm", Replaced("there is one way to verify a certificate")),
];

/// Returns the treatment of `key`, if it is another engine's.
pub(super) fn treatment(key: &str) -> Option<Treatment> {
    let is = |name: &str| match name.strip_suffix('*') {
        Some(stem) => key.get(..stem.len()).is_some_and(|start| start.eq_ignore_ascii_case(stem)),
        None => name.eq_ignore_ascii_case(key),
    };
    OTHER_KEYS.iter().find(|(name, _)| is(name)).map(|(_, treatment)| *treatment)
}

/// Returns the known key with the most similar spelling, if it is similar enough to be meant.
pub(super) fn nearest(key: &str) -> Option<String> {
    let wanted = key.to_ascii_lowercase();
    let others = OTHER_KEYS.iter().map(|(name, _)| (*name).to_owned()).filter(|name| !name.ends_with('*'));
    ROWS.iter()
        .flat_map(|row| row.names())
        .chain(others)
        .map(|name| (strsim::osa_distance(&wanted, &name.to_ascii_lowercase()), name))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, name)| *distance <= 2.max(name.len().min(wanted.len()) / 3))
        .map(|(_, name)| name)
}

/// Returns whether an unknown key resembles no known one: QuickFIX/J's applications have such keys
/// in `[DEFAULT]`. A key that shares words or its beginning with a known key may be meant for it.
pub(super) fn looks_like_no_key(key: &str) -> bool {
    let wanted = key.to_ascii_lowercase();
    let others = OTHER_KEYS.iter().map(|(name, _)| name.trim_end_matches('*').to_owned());
    let mut names = ROWS.iter().flat_map(|row| row.names()).chain(others);
    nearest(key).is_none()
        && row_of(key).is_none()
        && !names.any(|name| strsim::jaro_winkler(&wanted, &name.to_ascii_lowercase()) > LOOKS_ALIKE)
}

/// Found by experiment: QuickFIX/J's examples are below, misspellings of known keys above.
const LOOKS_ALIKE: f64 = 0.88;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_of_keys_are_known_by_their_stem() {
        assert!(matches!(treatment("JdbcDriver"), Some(Replaced(_))));
        assert!(matches!(treatment("screenlogshowheartbeats"), Some(Replaced(_))));
        assert_eq!(treatment("HeartBtInt"), None);
    }

    #[test]
    fn no_key_stands_twice() {
        for (n, (name, _)) in OTHER_KEYS.iter().enumerate() {
            assert!(!OTHER_KEYS[..n].iter().any(|(other, _)| other.eq_ignore_ascii_case(name)), "{name}");
            assert!(row_of(name).is_none(), "{name} is used");
        }
        let names: Vec<String> = ROWS.iter().flat_map(|row| row.names()).collect();
        for (n, name) in names.iter().enumerate() {
            assert!(!names[..n].iter().any(|other| other.eq_ignore_ascii_case(name)), "{name}");
        }
    }

    #[test]
    fn a_misspelt_key_is_near_the_right_one_and_nonsense_is_near_none() {
        let nearest = |key| nearest(key).unwrap_or_default();
        assert_eq!(nearest("HeartBeatInt"), "HeartBtInt");
        assert_eq!(nearest("SenderCompId1"), "SenderCompID");
        assert_eq!(nearest("TragetCompID"), "TargetCompID");
        assert_eq!(nearest("FileStorPath"), "FileStorePath");
        assert_eq!(nearest("Incoming.UnknownTags"), "Incoming.UnknownTag");
        assert_eq!(nearest("Quux"), "");
    }

    #[test]
    fn an_applications_key_is_told_from_a_misspelt_one() {
        for key in
            ["DefaultMarketPrice", "ValidOrderTypes", "AlwaysFillLimitOrders", "Quux", "OrderEntryDesk"]
        {
            assert!(looks_like_no_key(key), "{key}");
        }
        for key in
            ["HeartBeatInterval", "ResetOnLogin", "SocketConnectionHost", "FileStore", "UseSSL", "heartbeat"]
        {
            assert!(!looks_like_no_key(key), "{key}");
        }
    }
}
