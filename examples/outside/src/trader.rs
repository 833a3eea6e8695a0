//! The initiator: logs on with a password, sends its first order once it is logged on, and reports
//! logons and fills.

use std::sync::mpsc;

use fixbolt::codec::FieldError;
use fixbolt::messages::fix44::fields::{OrdType, Side};
use fixbolt::messages::fix44::prelude::*;
use fixbolt::messages::fix44::{ExecutionReport, NewOrderSingle, new_order_single::Required};
use fixbolt::prelude::*;

use crate::Outcome;
use crate::venue::{DESK, PASSWORD, USERNAME, policy};

/// What the session's thread tells the program.
#[derive(PartialEq, Debug)]
pub enum Told {
    /// Logged on; the sequence numbers of the messages that come next, inbound and outbound.
    LoggedOn { next_in: u64, next_out: u64 },
    /// An order was filled.
    Filled { cl_ord_id: String, desk: String },
}

pub struct Trader {
    /// The ClOrdID (11) of the order that it sends when it is logged on.
    pub first_order: String,
    pub tells: mpsc::Sender<Told>,
}

pub fn settings() -> Outcome<SessionSettings> {
    let mut session = SessionSettings::new("FIX.4.4:TRADER->VENUE".parse()?, Role::Initiator);
    session.logon.username = str::from_utf8(USERNAME)?.into();
    session.logon.password = str::from_utf8(PASSWORD)?.into();
    session.validation.incoming = policy();
    // The program ends before a heartbeat is due: it knows which sequence number each message must
    // have.
    session.timing.heart_bt_int = 3600;
    Ok(session)
}

/// Writes and sends an order; a session's thread and other threads send it the same way.
pub fn order<'b, D: BodySink<'b>>(
    to: impl NewBody<'b, Draft = D>,
    cl_ord_id: &str,
    desk: &str,
    transact_time: UtcTimestamp,
) -> Result<D::Receipt, D::Error> {
    let required = Required { cl_ord_id, side: Side::BUY, transact_time, ord_type: OrdType::LIMIT };
    NewOrderSingle::send(to, required, |order| {
        order.symbol("IBM").order_qty(57).price(Decimal::from_parts(298_075, 3));
        order.body().bytes(const { Key::new(DESK.number()) }, desk.as_bytes());
    })
}

impl Application for Trader {
    fn on_event(&mut self, event: &Event<'_>, turn: &mut Turn<'_>) -> Result<(), Failure> {
        if matches!(event, Event::LoggedOn) {
            let (next_in, next_out) = (turn.next_in().0, turn.next_out().0);
            let transact_time = UtcTimestamp::from_unix_nanos(turn.now().utc.0, Precision::Millis);
            order(turn.session(), &self.first_order, "first", transact_time)?;
            self.tells.send(Told::LoggedOn { next_in, next_out })?;
        }
        Ok(())
    }

    fn on_message(&mut self, message: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
        let report = ExecutionReport::read(message)?;
        let cl_ord_id = report.need(|report| report.cl_ord_id())?;
        let desk = report.get(DESK).ok_or(FieldError::missing(DESK))?;
        let desk = String::from_utf8_lossy(desk).into_owned();
        self.tells.send(Told::Filled { cl_ord_id: cl_ord_id.to_string(), desk })?;
        Ok(Delivery::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Outcome;
    use crate::venue::{self, Venue};
    use fixbolt::testing::Pair;

    #[test]
    fn logged_on_the_trader_sends_its_first_order_and_hears_of_its_fill() -> Outcome<()> {
        let (tells, told) = mpsc::channel();
        let trader = Trader { first_order: "ord1".into(), tells };
        let mut pair = Pair::new((settings()?, trader), (venue::settings()?, Venue::default()))?;
        pair.connect();
        assert_eq!(pair.acceptor.app().filled, 1);
        assert_eq!(told.try_recv()?, Told::LoggedOn { next_in: 2, next_out: 2 });
        assert_eq!(told.try_recv()?, Told::Filled { cl_ord_id: "ord1".into(), desk: "first".into() });
        assert_eq!(pair.initiator.numbers(), (SeqNum(3), SeqNum(3)));
        Ok(())
    }
}
