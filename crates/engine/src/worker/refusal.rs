//! Connections that are closed before their counterparty is logged on: each is a line of the log,
//! unless its session tells how it has ended, and a report to the application. The counterparty
//! learns nothing: it is not authenticated, and a Logout would use a sequence number (test cases
//! 1S-b, 1S-c).
//!
//! Strangers decide how many there are. Lines of the log are limited by whoever writes them;
//! reports are limited here, for each address and in all, and those left out are counted.

use core::net::SocketAddr;
use core::time::Duration;
use std::collections::{HashMap, VecDeque};

use fixbolt_session::runtime::mono;
use fixbolt_session::{Mono, Refusal, RefusedConnection, SessionId, TlsFailure};

use crate::origin::Origin;

/// The time for which reports are counted.
const PERIOD: Duration = Duration::from_secs(1);
/// The most reports about one address in a [`PERIOD`].
const MOST_OF_ADDRESS: u32 = 10;
/// The most reports in a [`PERIOD`].
const MOST: u32 = 50;

/// The connections that were closed before logon, until the application is told.
#[derive(Debug)]
pub(crate) struct Refusals {
    /// What the application is told next.
    reports: VecDeque<RefusedConnection>,
    /// When the period began.
    since: Mono,
    /// The number of reports in it, in all and of each address that has any.
    count: u32,
    of_address: HashMap<Origin, u32>,
    /// The number of connections that were not reported since the last report.
    unreported: u64,
}

impl Refusals {
    pub(crate) fn new() -> Self {
        let (reports, of_address) = (VecDeque::new(), HashMap::new());
        Self { reports, since: mono(0), count: 0, of_address, unreported: 0 }
    }

    /// Tells why a connection was closed whose Logon, if it has sent one, asked for a session.
    pub(crate) fn tell(&mut self, address: SocketAddr, asked: Option<&SessionId>, why: Refusal, now: Mono) {
        log(address, asked, &why);
        if !self.may_report(address, now) {
            self.unreported += 1;
            return;
        }
        let mut report = RefusedConnection::new(address, asked.cloned(), why);
        report.unreported = core::mem::take(&mut self.unreported);
        self.reports.push_back(report);
    }

    /// Returns what the application is told next.
    pub(crate) fn next(&mut self) -> Option<RefusedConnection> {
        self.reports.pop_front()
    }

    /// Returns whether one more may be reported, and counts it if so.
    fn may_report(&mut self, address: SocketAddr, now: Mono) -> bool {
        if now - self.since >= PERIOD {
            (self.since, self.count) = (now, 0);
            self.of_address.clear();
        }
        if self.count >= MOST {
            return false;
        }
        let of_address = self.of_address.entry(Origin::from(address.ip())).or_default();
        let may = *of_address < MOST_OF_ADDRESS;
        *of_address += u32::from(may);
        self.count += u32::from(may);
        may
    }
}

/// Writes the line of the log.
fn log(peer: SocketAddr, asked: Option<&SessionId>, why: &Refusal) {
    let session = asked.map(tracing::field::display);
    match why {
        Refusal::AlreadyConnected { to } => {
            let connected = to.map(tracing::field::display);
            tracing::warn!(
                session,
                %peer,
                connected,
                "a second connection was closed: the session is connected already"
            );
        }
        // However many addresses there are, the lines are of one kind: they say less about each
        // than about the number.
        Refusal::GaveWay | Refusal::NoDescriptors => {
            tracing::info!(reason = %why, from = %peer, "gave way before logon");
        }
        Refusal::Tls(TlsFailure::Ours { .. }) => {
            tracing::error!(%peer, reason = %why, "closed before logon");
        }
        // Its session tells how the connection has ended.
        Refusal::LoggingOn(_) => {}
        why => tracing::info!(%peer, session, reason = %why, "closed before logon"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// Has connections from this address closed, and returns what is reported of them.
    fn closed(refusals: &mut Refusals, address: &str, count: u32, now: u64) -> Vec<RefusedConnection> {
        let address = format!("{address}:1").parse().unwrap();
        (0..count).for_each(|_| refusals.tell(address, None, Refusal::NoSuchSession, mono(now)));
        core::iter::from_fn(|| refusals.next()).collect()
    }

    #[test]
    fn ten_of_an_address_are_reported_in_a_second_and_the_others_are_counted() {
        let mut refusals = Refusals::new();
        assert_eq!(closed(&mut refusals, "192.0.2.1", 1000, 5 * SECOND).len(), 10);
        let other = closed(&mut refusals, "192.0.2.2", 1, 5 * SECOND);
        assert_eq!((other.len(), other[0].unreported), (1, 990));
        let later = closed(&mut refusals, "192.0.2.1", 12, 6 * SECOND);
        assert_eq!((later.len(), later[0].unreported), (10, 0));
    }

    #[test]
    fn strangers_with_an_address_for_each_connection_cause_fifty_reports_and_bounded_memory() {
        let mut refusals = Refusals::new();
        let mut reports = 0;
        for n in 0..10_000_u32 {
            let address = core::net::Ipv4Addr::from(0x0a00_0000 + n).to_string();
            reports += closed(&mut refusals, &address, 1, 5 * SECOND).len();
        }
        assert_eq!((reports, refusals.of_address.len()), (50, 50));
        assert_eq!(closed(&mut refusals, "192.0.2.1", 1, 6 * SECOND)[0].unreported, 9_950);
    }
}
