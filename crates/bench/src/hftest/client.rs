//! The client's application: checks and counts the reports.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;

use fixbolt::session::{Application, Delivery, Event, Failure, Turn};
use fixbolt_codec::{Decimal, FieldError, Message, Tag};
use fixbolt_workloads::reports::{EXECUTION_REPORT, Kind};

use super::preload::number_of;
use super::progress::{Progress, Told, tell};

/// What the client knows of an order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Known {
    #[default]
    Nothing,
    Confirmed,
    /// Its last report has arrived.
    Completed,
}

/// The application of the client.
#[derive(Debug)]
pub struct Client {
    progress: Arc<Progress>,
    orders: Vec<Known>,
    told: Sender<Told>,
}

impl Client {
    /// Creates a client. What happens to its session is sent to `told`.
    #[must_use]
    pub const fn new(progress: Arc<Progress>, told: Sender<Told>) -> Self {
        Self { progress, orders: Vec::new(), told }
    }

    /// Checks a report. Returns what is wrong with it, if anything is.
    fn report(&mut self, message: &Message<'_>) -> Result<Option<&'static str>, FieldError> {
        let progress = &self.progress;
        progress.reports.fetch_add(1, Ordering::Relaxed);
        let number = message.get(Tag::new(11)).and_then(number_of).unwrap_or(0);
        let sent = progress.sent.load(Ordering::Acquire);
        if number == 0 || u64::from(number) > sent {
            return Ok(Some("no order has this ClOrdID"));
        }
        let Some(kind) = message.get(Tag::new(39)).and_then(Kind::of) else {
            return Ok(Some("the OrdStatus is none of the server's"));
        };
        let amount = |tag| message.required::<Decimal>(Tag::new(tag));
        let (quantity, leaves, cumulated) = (amount(38)?, amount(151)?, amount(14)?);
        let adds_up = match kind {
            Kind::Rejected | Kind::Canceled => leaves.is_zero() && cumulated.is_zero(),
            Kind::Confirmed => leaves == quantity && cumulated.is_zero(),
            Kind::PartialFill => leaves.mantissa() + cumulated.mantissa() == quantity.mantissa(),
            Kind::Fill => leaves.is_zero() && cumulated == quantity,
        };
        if !adds_up {
            return Ok(Some("the quantities do not add up"));
        }
        let at = number as usize - 1;
        if self.orders.len() <= at {
            self.orders.resize(at + 1, Known::Nothing);
        }
        // What was sent again after a lost connection may be answered twice.
        let again = progress.connections.load(Ordering::Relaxed) > 1;
        let next = match (self.orders[at], kind) {
            (Known::Completed, _) if again => return Ok(None),
            (Known::Nothing, Kind::Rejected | Kind::Canceled) | (Known::Confirmed, Kind::Fill) => {
                Known::Completed
            }
            (Known::Nothing, Kind::Confirmed) | (Known::Confirmed, Kind::PartialFill) => Known::Confirmed,
            (Known::Confirmed, Kind::Confirmed) if again => Known::Confirmed,
            (Known::Confirmed, Kind::Rejected | Kind::Canceled) if again => Known::Completed,
            _ => return Ok(Some("it does not follow the one before it")),
        };
        self.orders[at] = next;
        if next == Known::Completed {
            progress.complete();
        }
        Ok(None)
    }

    /// Notes the orders that have to be sent again after a lost connection.
    fn look_for_unanswered(&self) {
        let sent = self.progress.sent.load(Ordering::Acquire) as usize;
        let is_open = |at: &usize| self.orders.get(*at) != Some(&Known::Completed);
        let numbers = (0..sent).filter(is_open).filter_map(|at| u32::try_from(at + 1).ok());
        self.progress.leave_unanswered(numbers.collect());
    }
}

impl Application for Client {
    fn on_message(&mut self, message: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
        if message.msg_type() != EXECUTION_REPORT.as_bytes() {
            return Ok(Delivery::UNSUPPORTED);
        }
        if let Some(wrong) = self.report(&message)? {
            self.progress.complain(|| format!("a report is wrong: {wrong}: {message:?}"));
        }
        Ok(Delivery::Done)
    }

    fn on_event(&mut self, event: &Event<'_>, _: &mut Turn<'_>) -> Result<(), Failure> {
        match event {
            Event::LoggedOn => {
                if self.progress.connections.fetch_add(1, Ordering::Relaxed) > 0 {
                    self.look_for_unanswered();
                }
                self.progress.logged_on.store(true, Ordering::Release);
            }
            Event::Ended(_) => self.progress.logged_on.store(false, Ordering::Release),
            Event::RejectReceived { text, .. } => {
                self.progress.complain(|| format!("the server rejected an order: {text}"));
            }
            _ => {}
        }
        tell(&self.told, event);
        Ok(())
    }
}
