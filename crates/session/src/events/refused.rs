//! Why a connection to an acceptor was closed before its counterparty was logged on.

use core::fmt;
use core::net::SocketAddr;

use crate::events::end::SessionEnd;
use crate::events::tls::{CertificateMismatch, TlsFailure};
use crate::values::id::SessionId;

/// A connection to an acceptor that was closed before its counterparty was logged on.
///
/// The engine's line of the log about it (`closed before logon`, `gave way before logon`) says the
/// same.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct RefusedConnection {
    /// Where it comes from.
    pub address: SocketAddr,
    /// The session that its Logon names, as the acceptor would call it, whether or not there is
    /// one; `None` if no Logon was read. Nobody has proved to be its counterparty.
    pub session: Option<SessionId>,
    /// Why it was closed.
    pub why: Refusal,
    /// The number of connections that were closed since the last report and are not reported,
    /// because there were too many of them in a second.
    pub unreported: u64,
}

impl RefusedConnection {
    /// Creates the report of a connection: for the program that accepts them, and for tests of an
    /// application.
    #[must_use]
    pub const fn new(address: SocketAddr, session: Option<SessionId>, why: Refusal) -> Self {
        Self { address, session, why, unreported: 0 }
    }
}

/// Why a connection to an acceptor was closed before its counterparty was logged on.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Refusal {
    /// The counterparty closed the connection.
    ClosedByPeer,
    /// The first message is not a Logon that names a session.
    NotALogon(FirstMessageFault),
    /// The counterparty begins with a handshake of TLS, at a port without it.
    SpeaksTls,
    /// The counterparty begins with a PROXY header, which is not read from its address.
    SpeaksProxy,
    /// The connection does not begin with a PROXY header, which those from its address have.
    ProxyHeader {
        /// What is wrong.
        reason: &'static str,
    },
    /// No PROXY header arrived in time.
    NoProxyHeaderInTime,
    /// TLS was given up.
    Tls(TlsFailure),
    /// The handshake of TLS was not done in time.
    TlsTimedOut,
    /// The TLS that a template returned for the session is not the port's.
    OtherTls {
        /// In what it differs.
        what: &'static str,
    },
    /// No Logon arrived in time.
    NoLogonInTime,
    /// The certificate of the connection is not the session's.
    Certificate(CertificateMismatch),
    /// No session of the port allows this address.
    NoSessionForAddress,
    /// The session does not allow this address.
    AddressNotAllowed,
    /// The port has no such session.
    NoSuchSession,
    /// The session has a connection.
    AlreadyConnected {
        /// The address of its counterparty.
        to: Option<SocketAddr>,
    },
    /// The session is halted until an operator resumes it.
    Halted,
    /// An operator has disabled the session.
    Disabled,
    /// The application's template panicked.
    TemplatePanicked,
    /// The session made by a template could not be opened.
    NotOpened,
    /// There are as many sessions as there may be.
    NoRoom,
    /// As many dynamic sessions are connected as there may be.
    NoRoomForDynamic,
    /// As many of them as there may be belong to this address.
    NoRoomForAddress,
    /// A newer connection needed its place.
    GaveWay,
    /// File descriptors were short.
    NoDescriptors,
    /// The worker that the session belongs to has died.
    WorkerDied,
    /// The session refused the Logon, or the connection ended before it was answered.
    LoggingOn(SessionEnd),
}

/// Why the first message of a connection is not a Logon that names a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum FirstMessageFault {
    /// It has more than 8 KiB.
    TooLarge,
    /// The first bytes are not a FIX message.
    NotFix,
    /// It is garbled.
    Garbled,
    /// It has another MsgType (35).
    MsgType,
    /// Its BeginString (8) is not a version of FIX.
    BeginString,
    /// It has no valid CompIDs.
    CompIds,
    /// Its CheckSum (10) is wrong.
    CheckSum,
}

impl fmt::Display for RefusedConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a connection from {}", self.address)?;
        if let Some(session) = &self.session {
            write!(f, " for {session}")?;
        }
        write!(f, " was closed before logon: {}", self.why)?;
        match self.unreported {
            0 => Ok(()),
            more => write!(f, " ({more} more are not reported)"),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OtherTls { what } => {
                return write!(
                    f,
                    "the TLS that accept_any returned for the session differs from that of its address in {what}: the handshake comes before the Logon; make them equal (EngineBuilder::tls), or return no TLS"
                );
            }
            Self::ProxyHeader { reason } => {
                return write!(
                    f,
                    "connections from this address begin with a PROXY header (ProxyProtocolFrom), which this one does not have: {reason}"
                );
            }
            Self::NotALogon(fault) => return fault.fmt(f),
            Self::Tls(failure) => return failure.fmt(f),
            Self::Certificate(mismatch) => return mismatch.fmt(f),
            Self::LoggingOn(end) => return end.fmt(f),
            Self::ClosedByPeer => "the counterparty closed it",
            Self::SpeaksTls => {
                "the counterparty speaks TLS, and this port expects FIX without it; set SocketUseSSL=Y here, or have it use another port"
            }
            Self::SpeaksProxy => {
                "it begins with a PROXY header, which is not read from this address; if it is a proxy of yours, name it in ProxyProtocolFrom"
            }
            Self::NoProxyHeaderInTime => {
                "no PROXY header arrived in time (LogonTimeout), which connections from this address begin with (ProxyProtocolFrom)"
            }
            Self::TlsTimedOut => {
                "TLS: the handshake was not done in time (LogonTimeout); does the counterparty speak TLS?"
            }
            Self::NoLogonInTime => "no Logon arrived in time (LogonTimeout)",
            Self::NoSessionForAddress => {
                "no session here allows connections from this address (AllowedRemoteAddresses)"
            }
            Self::AddressNotAllowed => "the session does not allow connections from this address",
            Self::NoSuchSession => "there is no such session at this address",
            Self::AlreadyConnected { .. } => "the session is connected already",
            Self::Halted => "the session is halted; end what halted it, and resume it or start again",
            Self::Disabled => "the session is disabled; enable it first",
            Self::TemplatePanicked => "the template panicked",
            Self::NotOpened => "the session cannot be opened",
            Self::NoRoom => "there are as many sessions as MaxSessions allows",
            Self::NoRoomForDynamic => "as many dynamic sessions are connected as MaxDynamicSessions allows",
            Self::NoRoomForAddress => {
                "its address has as many connections of dynamic sessions as MaxConnectionsPerAddress allows"
            }
            Self::GaveWay => {
                "a newer connection needs its place (MaxPendingConnections, MaxConnectionsPerAddress)"
            }
            Self::NoDescriptors => "file descriptors are short",
            Self::WorkerDied => "the worker of the session has died; start the engine again",
        })
    }
}

impl fmt::Display for FirstMessageFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLarge => "no Logon in the first 8 KiB",
            Self::NotFix => "the first bytes are not a FIX message",
            Self::Garbled => "the first message is garbled",
            Self::MsgType => "the first message is not a Logon",
            Self::BeginString => "the Logon's BeginString is not a version of FIX",
            Self::CompIds => "the Logon has no valid CompIDs",
            Self::CheckSum => "the CheckSum of the Logon is wrong",
        })
    }
}

impl From<CertificateMismatch> for Refusal {
    fn from(mismatch: CertificateMismatch) -> Self {
        Self::Certificate(mismatch)
    }
}
