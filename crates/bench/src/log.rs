//! Message logs as engines write them: orders of FIX.4.2 and a venue's reports on them, one message
//! on a line.

use fixbolt_codec::{BodyWriter, Decimal, MsgType, Precision, SeqNum, UtcTimestamp, Version};
use fixbolt_workloads::orders::{NEW_ORDER_SINGLE, Order, Orders};
use fixbolt_workloads::random::Random;
use fixbolt_workloads::reports::{EXECUTION_REPORT, Fate, Kind, Report};
use fixbolt_workloads::wire::Encoder;

use crate::messages::MORNING;

/// How a log has its messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogForm {
    /// After the time: `20261121-09:00:00.123 : `.
    Prefixed,
    /// With `|` for SOH.
    Piped,
    /// As they were sent.
    Bare,
}

impl LogForm {
    /// All forms.
    pub const ALL: [Self; 3] = [Self::Prefixed, Self::Piped, Self::Bare];

    /// Returns the name in figures.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prefixed => "prefixed-log",
            Self::Piped => "piped-log",
            Self::Bare => "bare-log",
        }
    }
}

/// A log of a seed, written part by part.
#[derive(Debug)]
pub struct MessageLog {
    seed: u64,
    form: LogForm,
    random: Random,
    orders: Orders,
    trader: Side,
    venue: Side,
    /// Nanoseconds since 1970.
    now: u64,
    number: u64,
    messages: u64,
}

/// One of the two that send.
#[derive(Debug)]
struct Side {
    encoder: Encoder,
    seq: u64,
}

impl MessageLog {
    /// Creates the log of a seed.
    #[must_use]
    pub fn new(seed: u64, form: LogForm) -> Self {
        let side = |sender: &[u8], target: &[u8]| {
            let encoder = Encoder::new(Version::Fix42.begin_string().as_bytes(), sender, target);
            let encoder = encoder.expect("the parties are CompIDs").with_precision(Precision::Millis);
            Side { encoder, seq: 0 }
        };
        Self {
            seed,
            form,
            random: Random::new(!seed),
            orders: Orders::new(seed, "log"),
            trader: side(b"TRADER", b"VENUE"),
            venue: side(b"VENUE", b"TRADER"),
            now: MORNING,
            number: 0,
            messages: 0,
        }
    }

    /// Writes whole orders with their reports to `to`, which is cleared first, until it has at
    /// least this many bytes. Returns the number of messages.
    pub fn part(&mut self, bytes: usize, to: &mut Vec<u8>) -> u64 {
        to.clear();
        let before = self.messages;
        while to.len() < bytes {
            self.order(to);
        }
        self.messages - before
    }

    fn order(&mut self, to: &mut Vec<u8>) {
        self.now += self.random.between(1, 1_000_000);
        let transact_time = UtcTimestamp::from_unix_nanos(self.now, Precision::Millis);
        let mut line = Line { form: self.form, now: self.now, messages: &mut self.messages, to };
        let order = self.orders.next(transact_time);
        line.write(&mut self.trader, NEW_ORDER_SINGLE, |body| order.write(body));
        self.number += 1;
        let quantity = order.quantity.mantissa();
        let mut answer = Answer { order, number: self.number, reports: 0, line, venue: &mut self.venue };
        match Fate::of(self.seed, order.cl_ord_id, quantity.unsigned_abs()) {
            Fate::Reject => answer.report(Kind::Rejected, 0, 0, None),
            Fate::Cancel => answer.report(Kind::Canceled, 0, 0, None),
            Fate::Fills(parts) => {
                answer.report(Kind::Confirmed, quantity, 0, None);
                let part = quantity / parts.cast_signed();
                for n in 1..=parts.cast_signed() {
                    let last = if n == parts.cast_signed() { quantity - (n - 1) * part } else { part };
                    let cumulated = (n - 1) * part + last;
                    let kind = if cumulated == quantity { Kind::Fill } else { Kind::PartialFill };
                    answer.report(kind, quantity - cumulated, cumulated, Some(last));
                }
            }
        }
    }
}

/// Where the next message is written.
struct Line<'l> {
    form: LogForm,
    now: u64,
    messages: &'l mut u64,
    to: &'l mut Vec<u8>,
}

impl Line<'_> {
    fn write(&mut self, side: &mut Side, msg_type: MsgType, body: impl FnOnce(&mut BodyWriter<'_>)) {
        let mut slot = [0; 1024];
        side.seq += 1;
        let written = side.encoder.encode(&mut slot, msg_type, SeqNum(side.seq), self.now, body);
        let message = &mut slot[written.expect("the message fits")];
        match self.form {
            LogForm::Prefixed => {
                let time = UtcTimestamp::from_unix_nanos(self.now, Precision::Millis);
                self.to.extend_from_slice(format!("{time} : ").as_bytes());
            }
            LogForm::Piped => message.iter_mut().filter(|byte| **byte == 1).for_each(|byte| *byte = b'|'),
            LogForm::Bare => {}
        }
        self.to.extend_from_slice(message);
        self.to.push(b'\n');
        *self.messages += 1;
    }
}

/// A venue's reports on an order.
struct Answer<'a> {
    order: Order<'a>,
    number: u64,
    reports: u64,
    line: Line<'a>,
    venue: &'a mut Side,
}

impl Answer<'_> {
    fn report(&mut self, kind: Kind, leaves: i64, cumulated: i64, last: Option<i64>) {
        self.reports += 1;
        let Order { cl_ord_id, symbol, quantity, price, transact_time } = self.order;
        let order_id = format!("V{}", self.number);
        let exec_id = format!("{order_id}-{}", self.reports);
        let whole = |mantissa| Decimal::from_parts(mantissa, 0);
        let report = Report {
            kind,
            order_id: order_id.as_bytes(),
            exec_id: exec_id.as_bytes(),
            cl_ord_id,
            symbol,
            side: b"1",
            quantity,
            price: Some(price),
            last: last.map(|last| (whole(last), price)),
            leaves: whole(leaves),
            cumulated: whole(cumulated),
            average: if cumulated == 0 { whole(0) } else { price },
            transact_time,
            text: (kind == Kind::Rejected).then_some(b"rejected at random"),
        };
        self.line.write(self.venue, EXECUTION_REPORT, |body| report.write(body, Version::Fix42));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_repeats_with_its_seed_and_has_a_message_on_each_line() {
        for form in LogForm::ALL {
            let (mut part, mut again) = (Vec::new(), Vec::new());
            let mut log = MessageLog::new(7, form);
            let messages = log.part(100_000, &mut part);
            assert_eq!(MessageLog::new(7, form).part(100_000, &mut again), messages);
            assert!(part == again && part.len() >= 100_000);
            let lines: Vec<&[u8]> = part.strip_suffix(b"\n").unwrap().split(|byte| *byte == b'\n').collect();
            assert_eq!(lines.len() as u64, messages);
            let separator: &[u8] = if form == LogForm::Piped { b"|" } else { b"\x01" };
            let (begin, end) = ([b"8=FIX.4.2", separator, b"9="].concat(), [b"10=", separator].concat());
            for line in &lines {
                assert!(line.ends_with(separator) && line.windows(begin.len()).any(|bytes| bytes == begin));
                assert!(line.windows(3).any(|bytes| bytes == &end[..3]));
                assert_eq!(line.starts_with(b"20261121-09:00:0"), form == LogForm::Prefixed);
            }
            let order = [b"35=D", separator].concat();
            let is_order = |line: &&&[u8]| line.windows(order.len()).any(|bytes| bytes == order);
            let orders = lines.iter().filter(is_order).count();
            assert!((4..6).contains(&(lines.len() / orders)), "{} messages, {orders} orders", lines.len());
            log.part(1_000, &mut again);
            assert!(again.len() < 10_000 && !part.starts_with(&again[..200]), "the log goes on");
        }
    }
}
