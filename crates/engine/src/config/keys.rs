//! The vocabulary: every key of QuickFIX C++ 1.16 and QuickFIX/J, and our own, with what we do about it.
//!
//! The rule: a key is used, or it has no effect that its owner could miss and is warned about, or its effect cannot be
//! given and it stops the start. Nothing is ignored silently.

use super::validation::{INCOMING, OUTGOING};

/// What happens to a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Treatment {
    /// Read by `session.rs`.
    Used,
    /// Known of another engine and not needed: a warning with this text.
    Replaced(&'static str),
    /// Known of another engine, needed where it is set, and not there: stops the start, except with a harmless value
    /// (compared without case), which asks for what happens anyway.
    Unavailable {
        /// Values that ask for nothing.
        harmless: &'static [&'static str],
        /// Why, and what to do.
        reason: &'static str,
    },
}

use Treatment::{Replaced, Unavailable, Used};

const SCHEDULE: Treatment = Unavailable {
    harmless: &[],
    reason: "sessions run without a schedule; use NonStopSession=Y and start and stop the process",
};
const TLS: Treatment = Unavailable {
    harmless: &[],
    reason: "there is no TLS yet and the session would go over plain TCP; put a TLS tunnel before it",
};
const TLS_DETAIL: Treatment = Replaced("it acts only together with SocketUseSSL=Y, which is not available");
const PROXY: Treatment = Unavailable {
    harmless: &[],
    reason: "connections go straight to SocketConnectHost; use a TCP forwarder",
};
const LOCAL_ADDRESS: Treatment =
    Unavailable { harmless: &[], reason: "the system chooses the local address of a connection" };
const SUB_ID: Treatment = Unavailable {
    harmless: &[],
    reason: "a session is named by BeginString, SenderCompID, TargetCompID and SessionQualifier",
};
const FIXT: Treatment = Replaced("only FIXT.1.1 sessions have it; FIX.4.2 and FIX.4.4 take DataDictionary");
const STORE: Treatment = Replaced("the journal in FileStorePath is the message store");
const LOG: Treatment = Replaced("the journal in FileStorePath is the message log; `fixbolt print` shows it");
const BUFFER: Treatment = Replaced("the system sizes socket buffers by itself");
const TIMER: Treatment =
    Replaced("a TestRequest goes after a HeartBtInt plus a fifth of silence, the end comes after another");
const ROTATION: Treatment = Replaced("hosts are tried in the order given, the first after the last");

const GARBLED: &str =
    "a message with a wrong BodyLength or CheckSum is ignored and reported, as the standard says";

const fn only(harmless: &'static [&'static str], reason: &'static str) -> Treatment {
    Unavailable { harmless, reason }
}

/// Keys by their usual spelling, `*` at the end for any rest. Compared without case.
#[rustfmt::skip]
pub(super) static KEYS: &[(&str, Treatment)] = &[
    // Identity and role
    ("BeginString", Used),
    ("SenderCompID", Used),
    ("TargetCompID", Used),
    ("SessionQualifier", Used),
    ("ConnectionType", Used),
    ("DynamicSession", Used),
    ("AcceptorTemplate", Used),
    ("Compatibility", Used),
    ("SenderSubID", SUB_ID),
    ("SenderLocationID", SUB_ID),
    ("TargetSubID", SUB_ID),
    ("TargetLocationID", SUB_ID),
    ("DefaultApplVerID", FIXT),
    ("Description", Replaced("a comment says the same")),
    // Session layer
    ("HeartBtInt", Used),
    ("LogonTimeout", Used),
    ("LogoutTimeout", Used),
    ("ResetOnLogon", Used),
    ("ResetOnLogout", Used),
    ("ResetOnDisconnect", Used),
    ("PersistMessages", Used),
    ("CheckCompID", Used),
    ("CheckLatency", Used),
    ("MaxLatency", Used),
    ("MillisecondsInTimeStamp", Used),
    ("TimestampPrecision", Used),
    ("MaxMessageSize", Used),
    ("SendRedundantResendRequests", Replaced("a gap is asked for once and again when it is not filled")),
    ("RefreshOnLogon", Replaced("the journal has one owner at a time; nothing changes it from outside")),
    ("SendResetSeqNumFlag", Replaced("no engine ever read it; ResetOnLogon sends ResetSeqNumFlag")),
    ("SendNextExpectedMsgSeqNum", only(&["N"], "NextExpectedMsgSeqNum (789) is not sent")),
    ("EnableNextExpectedMsgSeqNum", only(&["N"], "NextExpectedMsgSeqNum (789) is not sent")),
    ("EnableLastMsgSeqNumProcessed", only(&["N"], "LastMsgSeqNumProcessed (369) is not sent")),
    ("AllowPosDup", Replaced("the application never sets PossDupFlag; a replay does")),
    ("ClosedResendInterval", only(&["N"], "a ResendRequest asks up to the end: EndSeqNo is 0")),
    ("ResendRequestChunkSize", only(&["0"], "a ResendRequest asks for the whole gap")),
    ("DisableHeartBeatCheck", only(&["N"], "a silent counterparty is always noticed; HeartBtInt=0 switches heartbeats off")),
    ("HeartBeatTimeoutMultiplier", TIMER),
    ("TestRequestDelayMultiplier", TIMER),
    ("DisconnectOnError", Replaced("each error has the reaction the standard gives it")),
    ("ResetOnError", only(&["N"], "sequence numbers are never reset because of an error")),
    ("ForceResendWhenCorruptedStore", Replaced("damaged numbers are gap-filled; `fixbolt journal repair` tells them")),
    ("LogMessageWhenSessionNotFound", Replaced("a connection that names no session is always reported")),
    ("LogonTag*", only(&[], "a Logon has the session's own fields only")),
    ("RejectGarbledMessage", only(&["N"], GARBLED)),
    ("RejectMessageOnUnhandledException", Replaced("a failing callback undoes its turn and ends the connection; the message comes again")),
    ("RequiresOrigSendingTime", Used),
    ("ContinueInitializationOnError", only(&["N"], "a faulty session stops the start")),
    // Schedule
    ("NonStopSession", Used),
    ("StartTime", Used),
    ("EndTime", Used),
    ("StartDay", SCHEDULE),
    ("EndDay", SCHEDULE),
    ("LogonTime", SCHEDULE),
    ("LogoutTime", SCHEDULE),
    ("LogonDay", SCHEDULE),
    ("LogoutDay", SCHEDULE),
    ("Weekdays", SCHEDULE),
    ("UseLocalTime", Replaced("there is no schedule that would need it")),
    ("TimeZone", Replaced("there is no schedule that would need it")),
    // Validation
    ("UseDataDictionary", Used),
    ("DataDictionary", Used),
    ("TransportDataDictionary", FIXT),
    ("AppDataDictionary*", FIXT),
    ("ValidateLengthAndChecksum", only(&["Y"], GARBLED)),
    ("ValidateChecksum", only(&["Y"], GARBLED)),
    ("ValidateFieldsOutOfOrder", Used),
    ("ValidateFieldsHaveValues", Used),
    ("ValidateUserDefinedFields", Used),
    ("ValidateUnorderedGroupFields", Used),
    ("ValidateIncomingMessage", Used),
    ("ValidateOutgoingMessage", Used),
    ("AllowUnknownMsgFields", Used),
    ("AllowUnknownEnumValues", Used),
    ("RejectInvalidMessage", Used),
    ("FirstFieldInGroupIsDelimiter", Replaced("the first field of a group always begins its entries")),
    ("ValidateSequenceNumbers", only(&["Y"], "sequence numbers are always checked")),
    ("PreserveMessageFieldsOrder", Replaced("fields go out in the order in which they were written")),
    // Initiator
    ("ReconnectInterval", Used),
    ("SocketConnectHost", Used),
    ("SocketConnectPort", Used),
    ("SocketConnectTimeout", Used),
    ("SocketConnectSourceHost*", LOCAL_ADDRESS),
    ("SocketConnectSourcePort*", LOCAL_ADDRESS),
    ("SocketLocalHost", LOCAL_ADDRESS),
    ("SocketLocalPort", LOCAL_ADDRESS),
    ("HostSelectionPolicy", only(&["ROUND_ROBIN", "ROUNDROBIN"], "hosts are tried in the order given, the first after the last")),
    ("HostSelectionPolicyPriorityStartOverInterval", ROTATION),
    ("SocketConnectProtocol", only(&["TCP", "SOCKET"], "sessions run over TCP")),
    ("ProxyType", PROXY),
    ("ProxyVersion", PROXY),
    ("ProxyHost", PROXY),
    ("ProxyPort", PROXY),
    ("ProxyUser", PROXY),
    ("ProxyPassword", PROXY),
    ("ProxyDomain", PROXY),
    ("ProxyWorkstation", PROXY),
    // Acceptor
    ("SocketAcceptPort", Used),
    ("SocketAcceptHost", Used),
    ("SocketAcceptAddress", Used),
    ("AllowedRemoteAddresses", Used),
    ("SocketAcceptProtocol", only(&["TCP", "SOCKET"], "sessions run over TCP")),
    ("SocketReuseAddress", Replaced("a port is free again as soon as its process is gone")),
    // Socket
    ("SocketNodelay", Used),
    ("SocketTcpNoDelay", Used),
    ("SocketSendBufferSize", BUFFER),
    ("SocketReceiveBufferSize", BUFFER),
    ("SocketKeepAlive", Replaced("heartbeats notice a dead connection")),
    ("SocketLinger", Replaced("a connection is closed once its last message is written")),
    ("SocketOobInline", Replaced("FIX has no out-of-band data")),
    ("SocketTrafficClass", Replaced("mark packets in the network's own configuration")),
    ("SocketSynchronousWrites*", Replaced("a write never blocks; a counterparty that does not read is told apart by its full outbox")),
    ("MaxScheduledWriteRequests", Replaced("a session's outbox is bounded")),
    // Store
    ("FileStorePath", Used),
    ("FileStoreSync", only(&["N"], "the journal survives the death of the process, not yet that of the machine")),
    ("FileStoreMaxCachedMsgs", STORE),
    ("MySQL*", STORE),
    ("PostgreSQL*", STORE),
    ("Odbc*", STORE),
    ("Jdbc*", STORE),
    ("Sleepycat*", STORE),
    // Log
    ("FileLogPath", LOG),
    ("FileLogBackupPath", LOG),
    ("FileLogHeartbeats", LOG),
    ("FileIncludeMilliseconds", LOG),
    ("FileIncludeTimeStampForMessages", LOG),
    ("ScreenLogShow*", LOG),
    ("SLF4JLog*", LOG),
    ("HttpAcceptPort", Replaced("there is no page over HTTP; `fixbolt journal stat` shows a session")),
    // TLS
    ("SocketUseSSL", only(&["N"], "there is no TLS yet and the session would go over plain TCP; put a TLS tunnel before it")),
    ("SSLProtocol", TLS),
    ("SSLCipherSuite", TLS),
    ("TLSCipherSuites", TLS),
    ("ServerCertificateFile", TLS),
    ("ServerCertificateKeyFile", TLS),
    ("ClientCertificateFile", TLS),
    ("ClientCertificateKeyFile", TLS),
    ("CertificationAuthoritiesFile", TLS),
    ("CertificationAuthoritiesDirectory", TLS),
    ("CertificateVerifyLevel", TLS),
    ("CertificateRevocationListFile", TLS),
    ("CertificateRevocationListDirectory", TLS),
    ("SocketKeyStore*", TLS_DETAIL),
    ("SocketTrustStore*", TLS_DETAIL),
    ("KeyStoreType", TLS_DETAIL),
    ("TrustStoreType", TLS_DETAIL),
    ("KeyManagerFactoryAlgorithm", TLS_DETAIL),
    ("TrustManagerFactoryAlgorithm", TLS_DETAIL),
    ("EnabledProtocols", TLS_DETAIL),
    ("CipherSuites", TLS_DETAIL),
    ("NeedClientAuth", TLS_DETAIL),
    ("EndpointIdentificationAlgorithm", TLS_DETAIL),
    ("UseSNI", TLS_DETAIL),
    ("SNIHostName", TLS_DETAIL),
];

/// Used keys that may carry a number from 1 at the end: the failover list.
pub(super) static NUMBERED: &[&str] = &["SocketConnectHost", "SocketConnectPort"];

/// What is to be done about `key`; `None` when no engine knows it.
pub(super) fn treatment(key: &str) -> Option<Treatment> {
    let exact = KEYS.iter().find(|(name, _)| name.eq_ignore_ascii_case(key));
    if let Some((_, treatment)) = exact {
        return Some(*treatment);
    }
    if one_key_a_check().any(|name| name.eq_ignore_ascii_case(key)) {
        return Some(Used);
    }
    if let Some((name, digits)) = split_number(key)
        && !digits.starts_with('0')
        && NUMBERED.iter().any(|known| known.eq_ignore_ascii_case(name))
    {
        return Some(Used);
    }
    KEYS.iter()
        .find(|(name, _)| {
            name.strip_suffix('*').is_some_and(|stem| {
                key.get(..stem.len()).is_some_and(|start| start.eq_ignore_ascii_case(stem))
            })
        })
        .map(|(_, treatment)| *treatment)
}

/// `Incoming.UnknownTag` and its like.
pub(super) fn one_key_a_check() -> impl Iterator<Item = &'static str> {
    INCOMING.iter().chain(&OUTGOING).map(|(_, key)| *key)
}

/// `Name12` as `("Name", "12")`.
fn split_number(key: &str) -> Option<(&str, &str)> {
    let name = key.trim_end_matches(|c: char| c.is_ascii_digit());
    (name.len() < key.len()).then(|| (name, &key[name.len()..]))
}

/// The known key that is spelt most alike, when it is near enough to be meant.
pub(super) fn nearest(key: &str) -> Option<&'static str> {
    let wanted = key.to_ascii_lowercase();
    let names = KEYS.iter().map(|(name, _)| *name).filter(|name| !name.ends_with('*'));
    names
        .chain(one_key_a_check())
        .map(|name| (distance(wanted.as_bytes(), name.to_ascii_lowercase().as_bytes()), name))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, name)| *distance <= 2.max(name.len().min(wanted.len()) / 3))
        .map(|(_, name)| name)
}

/// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b` (optimal string alignment).
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            row[j] = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + change);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = core::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_known_whatever_its_case() {
        assert_eq!(treatment("heartbtint"), Some(Used));
        assert_eq!(treatment("HEARTBTINT"), Some(Used));
        assert_eq!(treatment("HeartBtInterval"), None);
    }

    #[test]
    fn a_failover_host_carries_a_number_from_one() {
        assert_eq!(treatment("SocketConnectHost"), Some(Used));
        assert_eq!(treatment("SocketConnectHost12"), Some(Used));
        assert_eq!(treatment("SocketConnectHost0"), None);
        assert_eq!(treatment("HeartBtInt1"), None);
    }

    #[test]
    fn families_of_keys_are_known_by_their_stem() {
        assert_eq!(treatment("JdbcDriver"), Some(STORE));
        assert_eq!(treatment("screenlogshowheartbeats"), Some(LOG));
        assert_eq!(treatment("AppDataDictionary.FIX.5.0"), Some(FIXT));
    }

    #[test]
    fn no_key_stands_twice() {
        for (n, (name, _)) in KEYS.iter().enumerate() {
            assert!(!KEYS[..n].iter().any(|(other, _)| other.eq_ignore_ascii_case(name)), "{name}");
        }
    }

    #[test]
    fn a_misspelt_key_is_near_the_right_one_and_nonsense_is_near_none() {
        assert_eq!(nearest("HeartBeatInt"), Some("HeartBtInt"));
        assert_eq!(nearest("SenderCompId1"), Some("SenderCompID"));
        assert_eq!(nearest("TragetCompID"), Some("TargetCompID"));
        assert_eq!(nearest("FileStorPath"), Some("FileStorePath"));
        assert_eq!(nearest("Incoming.UnknownTags"), Some("Incoming.UnknownTag"));
        assert_eq!(nearest("Quux"), None);
        assert_eq!(distance(b"abcd", b"acbd"), 1);
        assert_eq!(distance(b"", b"abc"), 3);
    }
}
