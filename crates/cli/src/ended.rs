//! How a connection ended, in words.

use fixbolt_session::SessionEnd;

/// One phrase for it.
pub(crate) fn words(end: &SessionEnd) -> String {
    match end {
        SessionEnd::ConnectionLost => "the connection was lost".to_owned(),
        SessionEnd::LoggedOutByPeer => "the counterparty logged out".to_owned(),
        SessionEnd::LoggedOutByUs => "logged out".to_owned(),
        SessionEnd::LogoutTimedOut => "logged out, and nobody answered".to_owned(),
        SessionEnd::PeerDidNotClose => "the counterparty logged out and did not close".to_owned(),
        SessionEnd::LogonTimedOut => "no logon in time".to_owned(),
        SessionEnd::HeartbeatTimedOut => "nothing came for too long".to_owned(),
        SessionEnd::PeerMisbehaved(how) => format!("the counterparty broke the protocol: {how:?}"),
        SessionEnd::LogonRefused => "the logon was refused".to_owned(),
        SessionEnd::ApplicationFailed { seq } => format!("the application failed on message {seq}"),
        SessionEnd::Halted(why) => format!("halted: {why}"),
        other => format!("{other:?}"),
    }
}
