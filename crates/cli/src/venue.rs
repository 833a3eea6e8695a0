//! A test venue: answers every NewOrderSingle with ExecutionReports, in every version.
//!
//! It keeps no book and remembers no order. An order that it cannot fill is rejected with a Text
//! that says why.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use fixbolt_codec::{BodySink, Decimal, Message, NewBody, Precision, Tag, UtcTimestamp, ValueError, Version};
use fixbolt_session::{Application, Delivery, Failure, SendError, Turn};
use fixbolt_workloads::reports::{EXECUTION_REPORT, Fate, Kind, Report};

/// The application of `fixbolt serve` and of the demo's venue.
#[derive(Debug)]
pub(crate) struct Venue {
    /// The seed of the random answers; without it every valid order is filled in full.
    mix: Option<u64>,
    /// The prefix of every OrderID, so that two runs never use the same OrderID.
    run: String,
    /// The last ExecID that is a number.
    executions: Arc<AtomicU32>,
    orders: u64,
    order_id: String,
    exec_id: String,
}

impl Venue {
    /// Creates a venue whose OrderIDs begin with `run`, and whose ExecIDs in FIX.4.0 follow
    /// `executions`.
    pub(crate) fn new(mix: Option<u64>, run: String, executions: Arc<AtomicU32>) -> Self {
        Self { mix, run, executions, orders: 0, order_id: String::new(), exec_id: String::new() }
    }
}

/// Returns where the ExecIDs of a run in FIX.4.0 begin, where they are numbers: the second of the
/// day, with room for 20,000 executions in each, so that no run of the day uses those of one
/// before. Programs read them into 31 bits.
pub(crate) fn first_execution(seconds: u64) -> Arc<AtomicU32> {
    const A_DAY: u64 = 86_400;
    let second = u32::try_from(seconds % A_DAY).unwrap_or(0);
    Arc::new(AtomicU32::new(second * 20_000))
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
        // Over FIXT.1.1 the version of the order, in which it is answered.
        let version = message.version().unwrap_or(turn.session_id().version());
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
            executions: &self.executions,
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
    executions: &'a AtomicU32,
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
        let _ = match self.version {
            Version::Fix40 => {
                let last = self.executions.fetch_add(1, Ordering::Relaxed);
                write!(self.exec_id, "{}", (last + 1) & 0x7FFF_FFFF)
            }
            _ => write!(self.exec_id, "{}-{}", self.order_id, self.reports),
        };
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
        let mut draft = turn.session().with_version(self.version).draft(EXECUTION_REPORT);
        report.write(draft.writer(), self.version);
        draft.send()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use fixbolt::testing::TestSession;
    use fixbolt_dictionary::{Policy, Validator, shipped};
    use fixbolt_session::{Role, SessionSettings};

    use super::*;
    use crate::fixt;

    /// A session with the venue in the version of a message. Both sides' messages are validated.
    fn venue(version: Version, mix: Option<u64>) -> TestSession<Venue> {
        let (of_session, default) =
            if version.is_application() { (Version::Fixt11, Some(version)) } else { (version, None) };
        let settings =
            SessionSettings::new(format!("{of_session}:VENUE->TRADER").parse().unwrap(), Role::Acceptor);
        let settings = settings.with(|s| {
            s.default_appl_ver_id = default;
            if default.is_some() {
                s.dictionary = fixt::dictionaries();
            }
            s.validation.outgoing = Some(Policy::standard());
        });
        let mut side =
            TestSession::new(settings, Venue::new(mix, "V".to_owned(), first_execution(0))).unwrap();
        side.log_on();
        side
    }

    fn versions() -> impl Iterator<Item = Version> {
        Version::ALL.into_iter().filter(|version| *version != Version::Fixt11)
    }

    fn order(version: Version, id: u32, fields: &str) -> String {
        let handl_inst = if version <= Version::Fix43 { "21=1|" } else { "" };
        let time = if version >= Version::Fix42 { "60=20260105-09:00:00|" } else { "" };
        format!("35=D|11=o{id}|{handl_inst}{time}54=1|{fields}")
    }

    #[test]
    fn every_report_in_every_version_is_valid_by_the_sessions_dictionary() {
        for version in versions() {
            let whole = shipped(version).clone().whole().unwrap();
            let validator = Validator::new(&whole);
            let mut scratch = validator.scratch();
            let mut kinds = std::collections::BTreeSet::new();
            let mut exec_ids = std::collections::HashSet::new();
            for mix in [None, Some(1)] {
                let mut side = venue(version, mix);
                for id in 0..40 {
                    for fields in [
                        "55=IBM|38=100|40=1|",
                        "55=IBM|38=100|40=2|44=298.075|",
                        // What it cannot fill.
                        "55=IBM|38=100|40=2|",
                        "55=IBM|38=100|40=3|99=1|",
                        "55=IBM|38=0|40=1|",
                    ] {
                        let reports = side.receive(&order(version, id, fields));
                        assert!(!reports.is_empty(), "{version} {fields}");
                        for report in reports {
                            assert_eq!(report.msg_type(), "8", "{version} {fields}: {report:?}");
                            kinds.insert(report.get(39).unwrap().to_owned());
                            assert!(exec_ids.insert((mix, report.get(17).unwrap().to_owned())), "{report:?}");
                            let mut violations = Vec::new();
                            report.read(|message| {
                                validator.for_each(
                                    &message,
                                    &Policy::standard(),
                                    &mut scratch,
                                    |violation| {
                                        violations.push(format!("{violation:?}"));
                                        std::ops::ControlFlow::Continue(())
                                    },
                                );
                            });
                            assert_eq!(violations, [""; 0], "{version}: {report:?}");
                        }
                    }
                }
            }
            assert_eq!(kinds.into_iter().collect::<String>(), "01248", "{version}");
        }
    }

    #[test]
    fn over_fixt_an_order_is_answered_in_its_own_version() {
        let mut side = venue(Version::Fix50Sp2, None);
        let order = order(Version::Fix50, 1, "55=IBM|38=100|40=1|");
        let reports = side.receive(&order.replace("35=D|", "35=D|1128=7|"));
        assert_eq!((reports[0].msg_type(), reports[0].get(1128)), ("8", Some("7")), "{reports:?}");
    }
}
