//! Why a connection is refused the session that its Logon asks for. The reason is logged, not sent
//! to the counterparty: it is not authenticated, and a Logout would use a sequence number (test
//! cases 1S-b, 1S-c).

use std::borrow::Cow;

use fixbolt_session::{CertificateMismatch, SessionKey};

use crate::ports::Panicked;

/// Why a connection was closed before its logon.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refusal {
    /// The counterparty closed the connection.
    ClosedByPeer,
    /// The first message is not a Logon that names a session, for this reason.
    NotALogon(&'static str),
    /// The counterparty begins with a handshake of TLS, at a port without it.
    SpeaksTls,
    /// The counterparty begins with a PROXY header, which is not read from its address.
    SpeaksProxy,
    /// The TLS that a template returned for the session is not the port's, and differs in this.
    OtherTls(&'static str),
    /// The certificate of the connection is not the session's.
    Certificate(CertificateMismatch),
    /// The port has no such session.
    NoSuchSession,
    /// The session does not allow this address.
    AddressNotAllowed,
    /// The session has a connection.
    AlreadyConnected(SessionKey),
    /// The session is halted until an operator resumes it.
    Halted,
    /// An operator has disabled the session.
    Disabled,
    /// The application's template panicked.
    TemplatePanicked,
    /// The session made by a template could not be opened.
    NotOpened,
    /// Another worker was the first to open it.
    OpenedElsewhere,
    /// There are as many sessions as there may be.
    NoRoom,
    /// As many dynamic sessions are connected as there may be.
    NoRoomForDynamic,
    /// As many of them as there may be belong to this address.
    NoRoomForAddress,
    /// The worker that the session belongs to has died.
    WorkerDied,
}

impl Refusal {
    pub(crate) fn reason(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::OtherTls(what) => {
                return format!(
                    "the TLS that accept_any returned for the session differs from that of its address in {what}: the handshake comes before the Logon; make them equal (EngineBuilder::tls), or return no TLS"
                )
                .into();
            }
            Self::ClosedByPeer => "the counterparty closed it",
            Self::NotALogon(reason) => reason,
            Self::SpeaksTls => {
                "the counterparty speaks TLS, and this port expects FIX without it; set SocketUseSSL=Y here, or have it use another port"
            }
            Self::SpeaksProxy => {
                "it begins with a PROXY header, which is not read from this address; if it is a proxy of yours, name it in ProxyProtocolFrom"
            }
            Self::Certificate(mismatch) => return mismatch.to_string().into(),
            Self::NoSuchSession => "there is no such session at this address",
            Self::AddressNotAllowed => "the session does not allow connections from this address",
            Self::AlreadyConnected(_) => "the session is connected already",
            Self::Halted => "the session is halted; end what halted it, and resume it or start again",
            Self::Disabled => "the session is disabled; enable it first",
            Self::TemplatePanicked => "the template panicked",
            Self::NotOpened => "the session cannot be opened",
            Self::OpenedElsewhere => "another worker opens the session",
            Self::NoRoom => "there are as many sessions as MaxSessions allows",
            Self::NoRoomForDynamic => "as many dynamic sessions are connected as MaxDynamicSessions allows",
            Self::NoRoomForAddress => {
                "its address has as many connections of dynamic sessions as MaxConnectionsPerAddress allows"
            }
            Self::WorkerDied => "the worker of the session has died; start the engine again",
        })
    }
}

impl From<CertificateMismatch> for Refusal {
    fn from(mismatch: CertificateMismatch) -> Self {
        Self::Certificate(mismatch)
    }
}

impl From<Panicked> for Refusal {
    fn from(_: Panicked) -> Self {
        Self::TemplatePanicked
    }
}
