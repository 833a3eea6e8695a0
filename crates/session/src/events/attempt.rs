//! Why an initiator has no connection, or is not logged on with it: one attempt that failed.

use core::fmt;
use core::net::{IpAddr, SocketAddr};
use core::time::Duration;

use crate::events::end::SessionEnd;
use crate::events::tls::TlsFailure;
use crate::values::time::Utc;

/// An attempt of an initiator that failed: at one address of one of its hosts, or at a host of
/// which no address is known.
///
/// The engine's line of the log about it (`cannot_connect`, `no_address` or `cannot_log_on`) says
/// the same.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct FailedAttempt {
    /// The host, as it is configured: a name or an address.
    pub host: String,
    /// The host's port.
    pub port: u16,
    /// The address that was tried; `None` if the host's name has none.
    pub address: Option<SocketAddr>,
    /// The local address of the connection, if one is configured.
    pub local: Option<SocketAddr>,
    /// Why the attempt failed.
    pub why: AttemptFailure,
    /// The number of attempts that have failed in succession, with this one: since the session was
    /// last logged on, or else since it was added to the engine.
    pub attempts: u64,
    /// What comes next.
    pub next: NextAttempt,
}

impl FailedAttempt {
    /// Creates the report of a first attempt, at a host and its port, after which nothing is to
    /// come: for the program that makes the attempts, and for tests of an application.
    #[must_use]
    pub const fn new(host: String, port: u16, why: AttemptFailure) -> Self {
        Self { host, port, address: None, local: None, why, attempts: 1, next: NextAttempt::Nothing }
    }
}

/// Why an attempt failed.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum AttemptFailure {
    /// The host's name could not be looked up.
    NameResolution {
        /// What the system said.
        error: String,
    },
    /// The host's name has no address.
    NoAddress,
    /// The host has refused the connection: nothing listens on the port.
    Refused {
        /// What the system said.
        error: String,
    },
    /// There is no way to the host.
    Unreachable {
        /// What the system said.
        error: String,
    },
    /// The local address cannot be used: it is none of this machine, or its port is taken.
    LocalAddress {
        /// What the system said.
        error: String,
    },
    /// The connection could not be made for another reason.
    Connecting {
        /// What the system said.
        error: String,
    },
    /// There was no connection in time.
    TimedOut,
    /// There was a connection, but the handshake of TLS was not done in time.
    TlsTimedOut,
    /// TLS was given up.
    Tls(TlsFailure),
    /// The Logon was refused or not answered, or we refused the answer.
    LoggingOn(SessionEnd),
}

/// What an initiator does after an attempt that failed.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum NextAttempt {
    /// It tries another address of the same host at once, or a host whose address is configured.
    Address(SocketAddr),
    /// It tries another host at once.
    Host {
        /// Its name.
        host: String,
        /// Its port.
        port: u16,
    },
    /// It has tried all hosts, and waits.
    Later {
        /// When it tries again.
        at: Utc,
        /// How long that is from now.
        wait: Duration,
        /// The host that it begins with.
        host: String,
        /// Its port.
        port: u16,
    },
    /// Nothing: the engine is being stopped.
    Nothing,
}

impl fmt::Display for FailedAttempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let to = HostAndPort(&self.host, self.port);
        match &self.why {
            AttemptFailure::LoggingOn(_) => write!(f, "cannot log on at {to}")?,
            _ => write!(f, "cannot connect to {to}")?,
        }
        if let Some(address) = self.address.filter(|address| self.host.parse() != Ok(address.ip())) {
            write!(f, " ({address})")?;
        }
        write!(f, ": {}", self.why)?;
        if self.next == NextAttempt::Nothing { Ok(()) } else { write!(f, "; next: {}", self.next) }
    }
}

impl fmt::Display for AttemptFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NameResolution { error }
            | Self::Refused { error }
            | Self::Unreachable { error }
            | Self::LocalAddress { error }
            | Self::Connecting { error } => f.write_str(error),
            Self::NoAddress => f.write_str("the host has no address"),
            Self::TimedOut => f.write_str("timed out"),
            Self::TlsTimedOut => f.write_str("timed out before the handshake of TLS was done"),
            Self::Tls(failure) => failure.fmt(f),
            Self::LoggingOn(end) => end.fmt(f),
        }
    }
}

impl fmt::Display for NextAttempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => address.fmt(f),
            Self::Host { host, port } => HostAndPort(host, *port).fmt(f),
            Self::Later { at, wait, host, port } => {
                let to = HostAndPort(host, *port);
                match wait.as_millis() {
                    0 => write!(f, "attempt at once, to {to}"),
                    millis @ 1..1000 => write!(f, "attempt at {at}, in {millis} ms, to {to}"),
                    millis => write!(f, "attempt at {at}, in {} s, to {to}", millis.div_ceil(1000)),
                }
            }
            Self::Nothing => Ok(()),
        }
    }
}

/// A host with its port, as text. An address of IPv6 has colons of its own.
struct HostAndPort<'h>(&'h str, u16);

impl fmt::Display for HostAndPort<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(host, port) = self;
        match host.parse() {
            Ok(IpAddr::V6(address)) => write!(f, "[{address}]:{port}"),
            _ => write!(f, "{host}:{port}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_reads_as_one_line_with_the_address_unless_the_host_is_one() {
        let next = NextAttempt::Later {
            at: Utc(1_795_442_585_000_000_000),
            wait: Duration::from_millis(29_001),
            host: "venue.example".to_owned(),
            port: 9880,
        };
        let error = "Connection refused".to_owned();
        let attempt = |host: &str, next| {
            let address = "[::1]:9880".parse().unwrap();
            let why = AttemptFailure::Refused { error: error.clone() };
            let attempt = FailedAttempt::new(host.to_owned(), 9880, why);
            FailedAttempt { address: Some(address), next, ..attempt }.to_string()
        };
        assert_eq!(
            attempt("venue.example", next),
            "cannot connect to venue.example:9880 ([::1]:9880): Connection refused; next: attempt at 2026-11-23T14:03:05Z, in 30 s, to venue.example:9880"
        );
        assert_eq!(attempt("::1", NextAttempt::Nothing), "cannot connect to [::1]:9880: Connection refused");
    }

    #[test]
    fn the_wait_for_the_next_attempt_is_shown_in_seconds() {
        let later = |wait| NextAttempt::Later {
            at: Utc(0),
            wait: Duration::from_millis(wait),
            host: "h".to_owned(),
            port: 1,
        };
        let words = [0, 20, 999, 1000, 29_001].map(|wait| later(wait).to_string());
        let at = "attempt at 1970-01-01T00:00:00Z, in";
        assert_eq!(words[0], "attempt at once, to h:1");
        for (word, wait) in words[1..].iter().zip(["20 ms", "999 ms", "1 s", "30 s"]) {
            assert_eq!(*word, format!("{at} {wait}, to h:1"));
        }
    }
}
