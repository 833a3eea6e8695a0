//! An attempt of an initiator that failed: why, by the system's error, and the line of the log,
//! which says what the application is told.

use core::net::SocketAddr;
use std::io;

use fixbolt_session::{AttemptFailure, FailedAttempt, NextAttempt, SessionId};
use tracing::field::display;

/// Returns why a connection could not be made. `local` is its local address, if that is not left to
/// the system.
pub(crate) fn of_connecting(error: &io::Error, local: Option<SocketAddr>) -> AttemptFailure {
    // An address of the other IP version is `Unsupported`.
    use io::ErrorKind::{
        AddrInUse, AddrNotAvailable, ConnectionRefused, HostUnreachable, NetworkUnreachable,
        PermissionDenied, TimedOut, Unsupported,
    };
    let kind = error.kind();
    let error = error.to_string();
    match kind {
        TimedOut => AttemptFailure::TimedOut,
        ConnectionRefused => AttemptFailure::Refused { error },
        HostUnreachable | NetworkUnreachable => AttemptFailure::Unreachable { error },
        AddrInUse | AddrNotAvailable | PermissionDenied | Unsupported if local.is_some() => {
            AttemptFailure::LocalAddress { error }
        }
        _ => AttemptFailure::Connecting { error },
    }
}

/// Writes the line of the log about a failed attempt, and another one if every host was tried.
pub(crate) fn log(session: &SessionId, attempt: &FailedAttempt) {
    let FailedAttempt { host, port, address, local, why, next, .. } = attempt;
    // An address needs no name.
    let name = address
        .is_none_or(|address| host.parse() != Ok(address.ip()))
        .then(|| NextAttempt::Host { host: host.clone(), port: *port });
    let (named, address) = (name.as_ref().map(display), address.as_ref().map(display));
    match why {
        AttemptFailure::NoAddress => tracing::warn!(
            name: "no_address", %session, %host, %next, "the host has no address"
        ),
        AttemptFailure::NameResolution { error } => tracing::warn!(
            name: "no_address", %session, %host, %error, %next, "the address of the host could not be looked up"
        ),
        AttemptFailure::LocalAddress { error } => tracing::warn!(
            name: "cannot_connect", %session, host = named, address, local = local.as_ref().map(display), %error, %next,
            "cannot connect (is the local address one of this machine, and its port free?)"
        ),
        AttemptFailure::TimedOut => tracing::warn!(
            name: "cannot_connect", %session, host = named, address, %next, "cannot connect: timed out"
        ),
        AttemptFailure::TlsTimedOut => tracing::warn!(
            name: "cannot_connect", %session, host = named, address, %next, "cannot connect: timed out before the handshake of TLS was done (does the counterparty speak TLS at this port?)"
        ),
        AttemptFailure::Tls(error) => tracing::warn!(
            name: "cannot_connect", %session, host = named, address, %error, %next, "cannot connect"
        ),
        AttemptFailure::LoggingOn(error) => tracing::warn!(
            name: "cannot_log_on", %session, host = named, address, %error, %next, "cannot log on"
        ),
        error => tracing::warn!(
            name: "cannot_connect", %session, host = named, address, %error, %next, "cannot connect (is the counterparty running?)"
        ),
    }
    if let NextAttempt::Later { .. } = next {
        tracing::warn!(name: "no_host_answered", %session, "no host has logged the session on: next {next}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_a_connection_could_not_be_made_is_told_by_its_kind() {
        use io::ErrorKind as Kind;
        let of = |kind: Kind, local: Option<&str>| {
            of_connecting(&kind.into(), local.map(|local| format!("{local}:0").parse().unwrap()))
        };
        let here = Some("10.0.0.9");
        assert!(matches!(of(Kind::ConnectionRefused, here), AttemptFailure::Refused { .. }));
        for kind in [Kind::HostUnreachable, Kind::NetworkUnreachable] {
            assert!(matches!(of(kind, here), AttemptFailure::Unreachable { .. }));
        }
        assert_eq!(of(Kind::TimedOut, here), AttemptFailure::TimedOut);
        for kind in [Kind::AddrInUse, Kind::AddrNotAvailable, Kind::PermissionDenied, Kind::Unsupported] {
            assert!(matches!(of(kind, here), AttemptFailure::LocalAddress { .. }));
            assert!(matches!(of(kind, None), AttemptFailure::Connecting { .. }));
        }
    }
}
