//! The server: answers every order.

use std::sync::mpsc::Sender;

use fixbolt::session::{Application, Delivery, Event, Failure, SendError, Turn};
use fixbolt_codec::{BodySink, Decimal, Message, NewBody, Tag};
use fixbolt_workloads::orders::{NEW_ORDER_SINGLE, Order};
use fixbolt_workloads::reports::{EXECUTION_REPORT, Fate, Kind};

use super::preload::push_number;
use super::progress::{Told, tell};
use super::report::HfReport;

/// The application of the server.
#[derive(Debug)]
pub struct Server {
    seed: u64,
    orders: u64,
    executions: u64,
    order_id: Vec<u8>,
    exec_id: Vec<u8>,
    told: Sender<Told>,
}

impl Server {
    /// Creates a server whose random answers depend on `seed` and the order. What happens to its
    /// session is sent to `told`.
    #[must_use]
    pub fn new(seed: u64, told: Sender<Told>) -> Self {
        let (order_id, exec_id) = Default::default();
        Self { seed, orders: 0, executions: 0, order_id, exec_id, told }
    }

    fn report(
        &mut self,
        turn: &mut Turn<'_>,
        order: Order<'_>,
        kind: Kind,
        leaves: i64,
        cumulated: i64,
    ) -> Result<(), SendError> {
        let is_fill = matches!(kind, Kind::PartialFill | Kind::Fill);
        if is_fill {
            self.executions += 1;
            self.exec_id.clear();
            self.exec_id.extend_from_slice(b"exec");
            push_number(&mut self.exec_id, self.executions);
        }
        let scale = order.quantity.scale();
        let report = HfReport {
            kind,
            order_id: &self.order_id,
            exec_id: if is_fill { &self.exec_id } else { &self.order_id },
            order,
            leaves: Decimal::from_parts(leaves, scale),
            cumulated: Decimal::from_parts(cumulated, scale),
        };
        let mut draft = turn.session().draft(EXECUTION_REPORT);
        report.write(draft.writer());
        draft.send().map(drop)
    }
}

/// Returns whether an order is a fill-or-kill limit buy, which is all that the server fills.
fn is_as_published(message: &Message<'_>) -> bool {
    let has = |tag, value: &[u8]| message.get(Tag::new(tag)) == Some(value);
    has(21, b"1") && has(54, b"1") && has(40, b"2") && has(59, b"4")
}

impl Application for Server {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        if message.msg_type() != NEW_ORDER_SINGLE.as_bytes() {
            return Ok(Delivery::UNSUPPORTED);
        }
        let order = Order::read(&message)?;
        let (whole, scale) = (order.quantity.mantissa(), order.quantity.scale());
        self.order_id.clear();
        self.order_id.extend_from_slice(b"ord");
        push_number(&mut self.order_id, self.orders + 1);
        // No part is smaller than one share.
        let shares = whole.unsigned_abs() / 10_u64.pow(scale.min(18).into());
        let fate = if is_as_published(&message) && whole > 0 {
            Fate::of(self.seed, order.cl_ord_id, shares)
        } else {
            Fate::Reject
        };
        match fate {
            Fate::Reject => self.report(turn, order, Kind::Rejected, 0, 0)?,
            Fate::Cancel => self.report(turn, order, Kind::Canceled, 0, 0)?,
            Fate::Fills(parts) => {
                self.report(turn, order, Kind::Confirmed, whole, 0)?;
                let part = whole / parts.cast_signed();
                for n in 1..parts {
                    let cumulated = part * n.cast_signed();
                    self.report(turn, order, Kind::PartialFill, whole - cumulated, cumulated)?;
                }
                self.report(turn, order, Kind::Fill, 0, whole)?;
            }
        }
        self.orders += 1;
        Ok(Delivery::Done)
    }

    fn on_event(&mut self, event: &Event<'_>, _: &mut Turn<'_>) -> Result<(), Failure> {
        tell(&self.told, event);
        Ok(())
    }
}
