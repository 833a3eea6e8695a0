//! A ResendRequest that is answered from the store.

use std::hint::black_box;
use std::ops::Range;

use fixbolt_codec::{Message, Tag};
use fixbolt_session::MatrixState;

use super::Operation;
use super::acceptor::{Acceptor, of};
use crate::results::Row;

/// Number of messages that a ResendRequest asks for.
pub(super) const RANGE: usize = 1_000;
/// What a message that is sent again has more than the one before: PossDupFlag (43) and
/// OrigSendingTime (122).
const MORE: usize = "43=Y|122=20261121-09:00:00.000|".len();

/// ResendRequests for the last reports.
pub(super) struct Resend {
    acceptor: Acceptor,
    /// How many messages a request asks for.
    range: usize,
    /// The bytes of each range when it was sent first.
    originals: Vec<usize>,
    next: usize,
}

impl Resend {
    /// Creates the operation, and checks what two requests bring: each report once, in order, with
    /// PossDupFlag, its first SendingTime as OrigSendingTime, and otherwise the fields it had.
    pub(super) fn checked(acceptor: Acceptor, range: usize) -> Result<Self, String> {
        let mut resend = Self { acceptor, range, originals: Vec::new(), next: 0 };
        let mut reports = Vec::new();
        let ranges = resend.send(2 * range, |report| reports.push(report.to_vec()))?;
        resend.request(&ranges)?;
        let mut resent = Vec::new();
        resend.answer(2, |bytes| resent.extend_from_slice(bytes));
        let mut rest = resent.as_slice();
        for (n, report) in reports.iter().enumerate() {
            let len = report.len() + MORE;
            let Some((again, more)) = rest.split_at_checked(len) else { break };
            if !of(report, |report| of(again, |again| is_again(again, report))) {
                return Err(format!("{}: message {n} is not sent again as it was", resend.acceptor.name));
            }
            rest = more;
        }
        let expected: usize = reports.iter().map(|report| report.len() + MORE).sum();
        if resent.len() != expected || !rest.is_empty() {
            return Err(format!("{}: not every message is sent again, once", resend.acceptor.name));
        }
        Ok(resend)
    }

    /// Has orders answered; returns the sequence numbers of the reports, by ranges.
    fn send(&mut self, orders: usize, mut sent: impl FnMut(&[u8])) -> Result<Vec<Range<u64>>, String> {
        let Self { acceptor, range, originals, .. } = self;
        originals.clear();
        let mut ranges = Vec::new();
        for _ in 0..orders / *range {
            let next = |acceptor: &Acceptor| acceptor.sessions.numbers(acceptor.key).map_or(0, |n| n.1.0);
            let (begin, mut bytes) = (next(acceptor), 0);
            acceptor.trader.orders(*range).ok_or_else(|| acceptor.unwritten("order"))?;
            let answered = acceptor.each(*range, |acceptor, now, order| {
                acceptor.feed(now, order, |report| {
                    bytes += report.len();
                    sent(report);
                    !report.is_empty()
                })
            });
            if answered != *range {
                return Err(format!("{}: {answered} of {range} orders are answered", acceptor.name));
            }
            originals.push(bytes);
            ranges.push(begin..next(acceptor));
        }
        Ok(ranges)
    }

    fn request(&mut self, ranges: &[Range<u64>]) -> Result<(), String> {
        self.next = 0;
        self.acceptor.trader.resend_requests(ranges).ok_or_else(|| self.acceptor.unwritten("ResendRequest"))
    }

    /// Feeds the next requests and takes everything that is sent again.
    #[inline]
    fn answer(&mut self, requests: usize, mut sent: impl FnMut(&[u8])) -> usize {
        self.acceptor.each(requests, |acceptor, now, request| {
            let mut take = |bytes: &[u8]| {
                sent(bytes);
                true
            };
            let right = acceptor.feed(now, request, &mut take);
            while acceptor.sessions.matrix_state(acceptor.key) == Some(MatrixState::HandlingResendRequest) {
                let Acceptor { sessions, key, venue, .. } = &mut *acceptor;
                sessions.wake(now, *key, &[], venue);
                acceptor.sent(now, &mut take);
            }
            right
        })
    }
}

impl Operation for Resend {
    fn row(&self) -> Row {
        Row::of_ns("session", "ExecutionReport", self.acceptor.name, 0.0)
    }

    fn block(&self) -> usize {
        RANGE
    }

    fn prepare(&mut self, messages: usize) -> Result<(), String> {
        let ranges = self.send(messages, |_| ())?;
        self.request(&ranges)
    }

    /// Returns the number of messages that were sent again, if their bytes are as many as expected.
    fn work(&mut self, messages: usize) -> usize {
        let requests = messages / self.range;
        let mut bytes = 0;
        let answered = self.answer(requests, |sent| bytes += black_box(sent).len());
        let ranges = self.next..self.originals.len().min(self.next + requests);
        self.next = ranges.end;
        let expected: usize =
            self.originals[ranges].iter().map(|original| original + self.range * MORE).sum();
        if bytes == expected { answered * self.range } else { 0 }
    }
}

/// Returns whether a message is `original`, sent again.
fn is_again(again: Message<'_>, original: Message<'_>) -> bool {
    // BodyLength, CheckSum, SendingTime, and what only the second one has.
    const CHANGED: [u32; 5] = [9, 10, 52, 43, 122];
    fn same<'m>(message: Message<'m>) -> Vec<&'m [u8]> {
        let tags = message.tags().iter().enumerate().filter(|(_, tag)| !CHANGED.contains(tag));
        tags.map(|(position, _)| message.field_bytes(position)).collect()
    }
    again.get(Tag::new(43)) == Some(b"Y")
        && again.get(Tag::new(122)) == original.get(Tag::new(52))
        && again.get(Tag::new(52)) > original.get(Tag::new(52))
        && same(again) == same(original)
}
