//! How long single messages take: an order on the way from its bytes to the application, and a
//! report from the application to the outbox. Both are in the journal then.

use std::hint::black_box;

use fixbolt_codec::Tier;
use fixbolt_workloads::harness::{Clock as _, Latencies, Monotonic, PERCENTILES, carried_by};

use super::Operation;
use super::acceptor::{Acceptor, Orders, is_next};
use super::venue::{Count, Order};
use crate::messages::RING;
use crate::results::{Row, TimeKind};

/// Orders that are received and not answered, each timed by itself.
pub(super) struct Receive {
    orders: Orders,
    latencies: Latencies,
}

/// Reports that are sent without an order before them, each timed by itself.
pub(super) struct Send {
    acceptor: Acceptor,
    ids: Count,
    latencies: Latencies,
}

impl Receive {
    /// Creates the operation. The acceptor's application reads and does not report.
    pub(super) fn checked(acceptor: Acceptor) -> Result<Self, String> {
        Ok(Self { orders: Orders::checked(acceptor)?, latencies: Latencies::default() })
    }
}

impl Operation for Receive {
    fn row(&self) -> Row {
        self.orders.row()
    }

    fn prepare(&mut self, orders: usize) -> Result<(), String> {
        self.orders.prepare(orders)
    }

    fn work(&mut self, orders: usize) -> usize {
        let Self { orders: all, latencies } = self;
        all.0.each(orders, |acceptor, now, order| {
            let Acceptor { sessions, key, venue, .. } = &mut *acceptor;
            let begin = Monotonic.now();
            let taken = sessions.receive(now, *key, order, venue);
            latencies.add_ns(Monotonic.now().saturating_sub(begin));
            acceptor.sent(now, <[u8]>::is_empty) && taken == order.len()
        })
    }

    fn percentiles(&self) -> Vec<Row> {
        percentiles(&self.row(), &self.latencies)
    }
}

impl Send {
    /// Creates the operation, and checks the reports of three rings: each is one message with the
    /// next sequence number.
    pub(super) fn checked(acceptor: Acceptor) -> Result<Self, String> {
        let (ids, latencies) = (Count::default(), Latencies::default());
        let mut send = Self { acceptor, ids, latencies };
        send.prepare(3 * RING)?;
        for n in 0..3 * RING as u64 {
            if send.each(1, |report| is_next(report, b"8", 2 + n)) == 0 {
                return Err(format!("{}: report {n} is wrong", send.acceptor.name));
            }
        }
        send.latencies = Latencies::default();
        Ok(send)
    }

    #[inline]
    fn each(&mut self, reports: usize, mut right: impl FnMut(&[u8]) -> bool) -> usize {
        let Self { acceptor, ids, latencies } = self;
        // What the trader has written is only the time of the reports.
        acceptor.each(reports, |acceptor, now, _| {
            let Acceptor { sessions, key, venue, .. } = &mut *acceptor;
            let begin = Monotonic.now();
            let sent = sessions
                .act(now, *key, venue, |turn| Order::KNOWN.report(turn.session(), ids.next(), now.utc.0));
            latencies.add_ns(Monotonic.now().saturating_sub(begin));
            sent.is_ok() && acceptor.sent(now, &mut right)
        })
    }
}

impl Operation for Send {
    fn row(&self) -> Row {
        Row::of_ns("session", "ExecutionReport", self.acceptor.name, 0.0).tier(Tier::best().name())
    }

    fn prepare(&mut self, reports: usize) -> Result<(), String> {
        self.acceptor.trader.orders(reports).ok_or_else(|| self.acceptor.unwritten("order"))
    }

    fn work(&mut self, reports: usize) -> usize {
        self.each(reports, |report| !black_box(report).is_empty())
    }

    fn percentiles(&self) -> Vec<Row> {
        percentiles(&self.row(), &self.latencies)
    }
}

/// Returns the percentiles of what was timed, or nothing if nothing was.
fn percentiles(row: &Row, latencies: &Latencies) -> Vec<Row> {
    let of = |percentile| {
        let row = Row { tier: None, ..row.clone() };
        #[expect(clippy::cast_precision_loss, reason = "times are below 2^53 ns")]
        let ns = latencies.ns_at(percentile) as f64;
        let few = !carried_by(percentile, latencies.count());
        let (times, percentile) = (Some(TimeKind::Service), Some(percentile));
        Row { ns: Some(ns), times, percentile, few, ..row }
    };
    if latencies.count() == 0 { Vec::new() } else { PERCENTILES.map(of).to_vec() }
}
