//! Both sides of the examples: a venue that fills orders, and a trader that sends one.
#![allow(dead_code, unreachable_pub, reason = "no example uses all of it")]

use std::sync::mpsc::{Receiver, Sender, channel};

use fixbolt::messages::fix44::fields::{ExecType, OrdStatus, OrdType, Side};
use fixbolt::messages::fix44::prelude::*;
use fixbolt::messages::fix44::{ExecutionReport, NewOrderSingle, execution_report, new_order_single};
use fixbolt::prelude::*;

const PRICE: Decimal = Decimal::from_parts(298_075, 3);

/// Fills every limit order in full.
pub fn fill(message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
    let order = NewOrderSingle::read(message)?;
    let (id, side) = (order.cl_ord_id()?, order.side()?);
    let symbol = order.need(|order| order.symbol())?;
    let cum_qty = order.need(|order| order.order_qty())?;
    let avg_px = order.need(|order| order.price())?;
    let required = execution_report::Required {
        order_id: id,
        exec_id: id,
        exec_type: ExecType::TRADE,
        ord_status: OrdStatus::FILLED,
        side,
        leaves_qty: 0,
        cum_qty,
        avg_px,
    };
    ExecutionReport::send(turn.session(), required, |report| {
        report.cl_ord_id(id).symbol(symbol);
    })?;
    Ok(Delivery::Done)
}

/// Sends an order to buy 57 at 298.075, from a callback or from another thread.
pub fn order<'b, N: NewBody<'b>>(to: N, id: &[u8]) -> Sent<'b, N::Draft> {
    let required = new_order_single::Required {
        cl_ord_id: id,
        side: Side::BUY,
        transact_time: UtcTimestamp::now(),
        ord_type: OrdType::LIMIT,
    };
    NewOrderSingle::send(to, required, |order| {
        order.symbol("IBM").order_qty(57).price(PRICE);
    })
}

/// What comes of a message that is sent.
type Sent<'b, D> = Result<<D as BodySink<'b>>::Receipt, <D as BodySink<'b>>::Error>;

/// Returns an ExecutionReport in words.
pub fn words(report: Message<'_>) -> Result<String, Failure> {
    let report = ExecutionReport::read(report)?;
    let id = report.need(|report| report.cl_ord_id())?;
    Ok(format!("{}: {:?} at {}", id.escape_ascii(), report.ord_status()?, report.avg_px()?))
}

/// A venue that fills every order.
pub struct Venue;

impl Application for Venue {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        fill(message, turn)
    }
}

/// A trader that sends one order once it is logged on, and passes the reports on.
pub struct Trader(Sender<String>);

impl Trader {
    pub fn new() -> (Self, Receiver<String>) {
        let (reports_to, reports) = channel();
        (Self(reports_to), reports)
    }
}

impl Application for Trader {
    fn on_event(&mut self, event: &Event<'_>, turn: &mut Turn<'_>) -> Result<(), Failure> {
        if matches!(event, Event::LoggedOn) {
            order(turn.session(), b"order-1")?;
        }
        Ok(())
    }

    fn on_message(&mut self, report: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        self.0.send(format!("{} {}", turn.session_id(), words(report)?))?;
        Ok(Delivery::Done)
    }
}

/// Returns the session `of` with `with`, as an acceptor's settings.
pub fn accepted(of: &str, with: &str) -> Result<SessionSettings, Box<dyn std::error::Error>> {
    Ok(SessionSettings::new(format!("FIX.4.4:{of}->{with}").parse()?, Role::Acceptor))
}

/// Returns the session `of` with the venue at this port of this machine.
pub fn initiated(of: &str, port: u16) -> Result<fixbolt::Initiation, Box<dyn std::error::Error>> {
    let settings = SessionSettings::new(format!("FIX.4.4:{of}->VENUE").parse()?, Role::Initiator);
    Ok(fixbolt::Initiation::new(settings, "127.0.0.1", port))
}
