//! The keys of QuickFIX C++ 1.16, QuickFIX/J 2.3, QuickFIX/N 1.13 and quickfixgo 0.9: the page
//! names the engines that have each key, and every key of theirs is known.

use super::other_keys::treatment;
use super::rows::row_of;

/// The name of an engine, and its keys; those of many hosts or logs once.
pub(super) const ENGINES: [(&str, &str); 4] = [
    ("QuickFIX", QUICKFIX),
    ("QuickFIX/J", QUICKFIXJ),
    ("QuickFIX/N", QUICKFIXN),
    ("quickfixgo", QUICKFIXGO),
];

const QUICKFIX: &str = "BeginString SenderCompID TargetCompID SessionQualifier ConnectionType DefaultApplVerID \
    MillisecondsInTimeStamp TimestampPrecision SendRedundantResendRequests ResetOnLogon ResetOnLogout \
    ResetOnDisconnect RefreshOnLogon SendNextExpectedMsgSeqNum NonStopSession PersistMessages \
    SendResetSeqNumFlag StartTime EndTime StartDay EndDay LogonTime LogoutTime LogonDay LogoutDay UseLocalTime \
    UseDataDictionary DataDictionary TransportDataDictionary AppDataDictionary ValidateLengthAndChecksum \
    ValidateFieldsOutOfOrder ValidateFieldsHaveValues ValidateUserDefinedFields AllowUnknownMsgFields \
    PreserveMessageFieldsOrder CheckCompID CheckLatency MaxLatency ReconnectInterval HeartBtInt LogonTimeout \
    LogoutTimeout SocketConnectHost SocketConnectPort SocketConnectSourceHost SocketConnectSourcePort \
    HostSelectionPolicy HostSelectionPolicyPriorityStartOverInterval SocketAcceptPort SocketReuseAddress \
    AllowedRemoteAddresses SocketNodelay SocketSendBufferSize SocketReceiveBufferSize FileStorePath \
    MySQLStoreDatabase PostgreSQLStoreDatabase OdbcStoreUser FileLogPath FileLogBackupPath \
    ScreenLogShowIncoming ScreenLogShowOutgoing ScreenLogShowEvents MySQLLogDatabase SSLProtocol \
    SSLCipherSuite TLSCipherSuites ServerCertificateFile ServerCertificateKeyFile ClientCertificateFile \
    ClientCertificateKeyFile CertificationAuthoritiesFile CertificationAuthoritiesDirectory \
    CertificateVerifyLevel CertificateRevocationListFile CertificateRevocationListDirectory HttpAcceptPort";

const QUICKFIXJ: &str = "BeginString SenderCompID TargetCompID SessionQualifier ConnectionType DefaultApplVerID \
    SenderSubID SenderLocationID TargetSubID TargetLocationID MillisecondsInTimeStamp TimeStampPrecision \
    SendRedundantResendRequests ResetOnLogon ResetOnLogout ResetOnDisconnect RefreshOnLogon NonStopSession \
    PersistMessages StartTime EndTime StartDay EndDay TimeZone Weekdays UseDataDictionary DataDictionary \
    TransportDataDictionary AppDataDictionary ValidateFieldsOutOfOrder ValidateFieldsHaveValues \
    ValidateUserDefinedFields AllowUnknownMsgFields CheckCompID CheckLatency MaxLatency ReconnectInterval \
    HeartBtInt LogonTimeout LogoutTimeout SocketConnectHost SocketConnectPort SocketAcceptPort \
    SocketReuseAddress AllowedRemoteAddresses SocketSendBufferSize SocketReceiveBufferSize FileStorePath \
    FileLogPath ScreenLogShowIncoming ScreenLogShowOutgoing ScreenLogShowEvents AcceptorTemplate \
    DynamicSession AllowPosDup AllowUnknownEnumValues ClosedResendInterval ContinueInitializationOnError \
    DisableHeartBeatCheck HeartBeatTimeoutMultiplier TestRequestDelayMultiplier DisconnectOnError ResetOnError \
    EnableLastMsgSeqNumProcessed EnableNextExpectedMsgSeqNum ForceResendWhenCorruptedStore \
    LogMessageWhenSessionNotFound LogonTag RejectGarbledMessage RejectInvalidMessage \
    RejectMessageOnUnhandledException RequiresOrigSendingTime ResendRequestChunkSize Description \
    FirstFieldInGroupIsDelimiter ValidateUnorderedGroupFields ValidateIncomingMessage ValidateSequenceNumbers \
    ValidateChecksum SocketAcceptAddress SocketAcceptProtocol SocketConnectProtocol SocketConnectTimeout \
    SocketKeepAlive SocketLinger SocketLocalHost SocketLocalPort SocketOobInline SocketTcpNoDelay \
    SocketTrafficClass SocketSynchronousWrites SocketSynchronousWriteTimeout MaxScheduledWriteRequests \
    SocketUseSSL SocketKeyStore SocketKeyStorePassword SocketTrustStore SocketTrustStorePassword KeyStoreType \
    TrustStoreType KeyManagerFactoryAlgorithm TrustManagerFactoryAlgorithm EnabledProtocols CipherSuites \
    NeedClientAuth EndpointIdentificationAlgorithm UseSNI SNIHostName ProxyType ProxyVersion ProxyHost \
    ProxyPort ProxyUser ProxyPassword ProxyDomain ProxyWorkstation FileStoreSync FileStoreMaxCachedMsgs \
    FileIncludeMilliseconds FileIncludeTimeStampForMessages FileLogHeartbeats ScreenLogShowHeartBeats \
    SLF4JLogEventCategory JdbcDriver SleepycatDatabaseDir";

const QUICKFIXN: &str = "BeginString SenderCompID SenderSubID SenderLocationID TargetCompID TargetSubID \
    TargetLocationID SessionQualifier DefaultApplVerID ConnectionType StartTime EndTime StartDay EndDay Weekdays \
    NonStopSession UseLocalTime TimeZone MillisecondsInTimeStamp TimestampPrecision SendRedundantResendRequests \
    ResetOnLogon ResetOnLogout ResetOnDisconnect RefreshOnLogon EnableLastMsgSeqNumProcessed \
    MaxMessagesInResendRequest SendLogoutBeforeDisconnectFromTimeout IgnorePossDupResendRequests \
    ResendSessionLevelRejects RequiresOrigSendingTime UseDataDictionary DataDictionary TransportDataDictionary \
    AppDataDictionary ValidateLengthAndChecksum ValidateFieldsOutOfOrder ValidateFieldsHaveValues \
    ValidateUserDefinedFields AllowUnknownMsgFields CheckLatency MaxLatency ReconnectInterval HeartBtInt \
    LogonTimeout LogoutTimeout SocketConnectHost SocketConnectPort SocketAcceptHost SocketAcceptPort \
    SocketNodelay SocketSendBufferSize SocketReceiveBufferSize SocketSendTimeout SocketReceiveTimeout \
    SocketIgnoreProxy PersistMessages FileStorePath FileLogPath DebugFileLogPath ScreenLogShowIncoming \
    ScreenLogShowOutgoing ScreenLogShowEvents SSLEnable SSLServerName SSLProtocols SSLValidateCertificates \
    SSLCheckCertificateRevocation SSLCertificate SSLCertificatePassword SSLRequireClientCertificate \
    SSLCACertificate";

const QUICKFIXGO: &str = "BeginString SenderCompID SenderSubID SenderLocationID TargetCompID TargetSubID \
    TargetLocationID SessionQualifier DefaultApplVerID StartTime EndTime StartDay EndDay Weekdays TimeZone \
    ResetOnLogon RefreshOnLogon ResetOnLogout ResetOnDisconnect HeartBtInt HeartBtIntOverride SocketAcceptPort \
    SocketAcceptHost SocketConnectHost SocketConnectPort SocketTimeout SocketUseSSL SocketPrivateKeyFile \
    SocketCertificateFile SocketCAFile SocketPrivateKeyBytes SocketCertificateBytes SocketCABytes \
    SocketInsecureSkipVerify SocketServerName SocketMinimumTLSVersion \
    ReconnectInterval LogonTimeout LogoutTimeout FileLogPath FileStorePath FileStoreSync SQLStoreDriver \
    SQLStoreDataSourceName SQLStoreConnMaxLifetime MongoStoreConnection MongoStoreDatabase \
    MongoStoreReplicaSet ValidateFieldsOutOfOrder RejectInvalidMessage AllowUnknownMessageFields \
    CheckUserDefinedFields CheckLatency MaxLatency TimeStampPrecision ResendRequestChunkSize \
    EnableLastMsgSeqNumProcessed PersistMessages DataDictionary TransportDataDictionary AppDataDictionary \
    UseTCPProxy DynamicSessions DynamicQualifier InChanCapacity ResetSeqTime EnableResetSeqTime";

/// Returns the engines that have a key of one of these names, in any case.
pub(super) fn engines_with(names: &[&str]) -> String {
    let has = |keys: &str| {
        keys.split_whitespace().any(|key| names.iter().any(|name| name.eq_ignore_ascii_case(key)))
    };
    let engines: Vec<_> = ENGINES.iter().filter(|(_, keys)| has(keys)).map(|(name, _)| *name).collect();
    if engines.is_empty() { "Fixbolt".to_owned() } else { engines.join(", ") }
}

#[test]
fn every_key_of_another_engine_is_known() {
    for (engine, keys) in ENGINES {
        for key in keys.split_whitespace() {
            assert!(row_of(key).is_some() || treatment(key).is_some(), "{engine}: {key}");
        }
    }
}
