//! A test venue: answers every NewOrderSingle with ExecutionReports, in every version.
//!
//! It keeps no book and remembers no order. An order that it cannot fill is rejected with a Text
//! that says why.

use std::fmt::Write as _;

use fixbolt_bench::reports::{EXECUTION_REPORT, Fate, Kind, Report};
use fixbolt_codec::{BodySink, Decimal, Message, NewBody, Precision, Tag, UtcTimestamp, ValueError, Version};
use fixbolt_session::{Application, Delivery, Failure, SendError, Turn};

/// The application of `fixbolt serve` and of the demo's venue.
#[derive(Debug)]
pub(crate) struct Venue {
    /// The seed of the random answers; without it every valid order is filled in full.
    mix: Option<u64>,
    /// The prefix of every OrderID, so that two runs never use the same OrderID.
    run: String,
    orders: u64,
    order_id: String,
    exec_id: String,
}

impl Venue {
    /// Creates a venue whose OrderIDs begin with `run`.
    pub(crate) fn new(mix: Option<u64>, run: String) -> Self {
        Self { mix, run, orders: 0, order_id: String::new(), exec_id: String::new() }
    }
}

/// The price of a market order.
const MARKET_PRICE: Decimal = Decimal::from_parts(100, 0);

/// The fields of an order that the venue needs.
#[derive(Clone, Copy)]
struct Order<'m> {
    cl_ord_id: &'m [u8],
    symbol: &'m [u8],
    side: &'m [u8],
    quantity: Decimal,
    price: Option<Decimal>,
}

/// Reads an order. If it cannot be filled, the error is the reason as text.
fn read<'m>(message: &Message<'m>) -> (Order<'m>, Result<(), String>) {
    let get = |tag| message.get(Tag::new(tag)).filter(|value| !value.is_empty());
    let symbol = get(55).or_else(|| get(48));
    let quantity = number("OrderQty (38)", get(38));
    let price = number("Price (44)", get(44));
    let order = Order {
        cl_ord_id: get(11).unwrap_or(b"NONE"),
        symbol: symbol.unwrap_or(b"[N/A]"),
        side: get(54).unwrap_or(b"1"),
        quantity: quantity.clone().ok().flatten().unwrap_or(Decimal::from_parts(0, 0)),
        price: price.clone().ok().flatten(),
    };
    let check = || {
        if symbol.is_none() {
            return Err("Symbol (55) or SecurityID (48) is required".to_owned());
        }
        match quantity? {
            None => return Err("OrderQty (38) is required".to_owned()),
            Some(quantity) if quantity.mantissa() <= 0 => {
                return Err("OrderQty (38) must be above zero".to_owned());
            }
            Some(_) => {}
        }
        let price = price?;
        match get(40) {
            Some(b"2") if price.is_none() => Err("a limit order needs Price (44)".to_owned()),
            Some(b"1" | b"2") => Ok(()),
            _ => Err("only market (40=1) and limit (40=2) orders are filled".to_owned()),
        }
    };
    (order, check())
}

/// Reads the value of a numeric field, if there is one. The error is the reason as text.
fn number(field: &str, value: Option<&[u8]>) -> Result<Option<Decimal>, String> {
    let Some(value) = value else { return Ok(None) };
    Decimal::parse(value).map(Some).map_err(|error| match error {
        ValueError::OutOfRange => format!("{field} has more digits than this venue can count"),
        error => format!("{field} cannot be read: {error}"),
    })
}

impl Application for Venue {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        if message.msg_type() != b"D" {
            return Ok(Delivery::UNSUPPORTED);
        }
        let version = turn.session_id().version();
        let (order, fit) = read(&message);
        self.order_id.clear();
        let _ = write!(self.order_id, "{}-{}", self.run, self.orders + 1);
        let quantity = order.quantity.mantissa().unsigned_abs();
        let precision = if version < Version::Fix42 { Precision::Seconds } else { Precision::Millis };
        let mut answer = Answer {
            order,
            version,
            transact_time: UtcTimestamp::from_unix_nanos(turn.now().utc.0, precision),
            order_id: &self.order_id,
            exec_id: &mut self.exec_id,
            reports: 0,
        };
        let zero = Decimal::from_parts(0, order.quantity.scale());
        match (fit, self.mix) {
            (Err(why), _) => answer.send(turn, Kind::Rejected, (zero, zero, None), Some(&why))?,
            (Ok(()), None) => answer.fill(turn, 1)?,
            (Ok(()), Some(seed)) => match Fate::of(seed, order.cl_ord_id, quantity) {
                Fate::Reject => {
                    answer.send(turn, Kind::Rejected, (zero, zero, None), Some("rejected at random"))?
                }
                Fate::Cancel => answer.send(turn, Kind::Canceled, (zero, zero, None), None)?,
                Fate::Fills(parts) => {
                    answer.send(turn, Kind::Confirmed, (order.quantity, zero, None), None)?;
                    answer.fill(turn, parts)?;
                }
            },
        }
        self.orders += 1;
        Ok(Delivery::Done)
    }
}

/// The reports for one order.
struct Answer<'a> {
    order: Order<'a>,
    version: Version,
    transact_time: UtcTimestamp,
    order_id: &'a str,
    exec_id: &'a mut String,
    reports: u64,
}

impl Answer<'_> {
    /// Fills the order in `parts` parts; the last one is the remaining quantity.
    fn fill(&mut self, turn: &mut Turn<'_>, parts: u64) -> Result<(), SendError> {
        let (whole, scale) = (self.order.quantity.mantissa(), self.order.quantity.scale());
        let part = whole / i64::try_from(parts).unwrap_or(i64::MAX).max(1);
        let mut cumulated = 0;
        for n in 1..=parts {
            let last = if n == parts { whole - cumulated } else { part };
            cumulated += last;
            let quantity = |mantissa| Decimal::from_parts(mantissa, scale);
            let kind = if n == parts { Kind::Fill } else { Kind::PartialFill };
            let quantities = (quantity(whole - cumulated), quantity(cumulated), Some(quantity(last)));
            self.send(turn, kind, quantities, None)?;
        }
        Ok(())
    }

    /// Sends a report with (LeavesQty, CumQty, LastQty).
    fn send(
        &mut self,
        turn: &mut Turn<'_>,
        kind: Kind,
        (leaves, cumulated, last): (Decimal, Decimal, Option<Decimal>),
        text: Option<&str>,
    ) -> Result<(), SendError> {
        let Order { cl_ord_id, symbol, side, quantity, price } = self.order;
        self.reports += 1;
        self.exec_id.clear();
        let _ = write!(self.exec_id, "{}-{}", self.order_id, self.reports);
        let paid = price.unwrap_or(MARKET_PRICE);
        let report = Report {
            kind,
            order_id: self.order_id.as_bytes(),
            exec_id: self.exec_id.as_bytes(),
            cl_ord_id,
            symbol,
            side,
            quantity,
            price,
            last: last.map(|quantity| (quantity, paid)),
            leaves,
            cumulated,
            average: if cumulated.is_zero() { Decimal::from_parts(0, 0) } else { paid },
            transact_time: self.transact_time,
            text: text.map(str::as_bytes),
        };
        let mut draft = turn.reply().draft(EXECUTION_REPORT);
        report.write(draft.writer(), self.version);
        draft.send()?;
        Ok(())
    }
}
