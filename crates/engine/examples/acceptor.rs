//! A venue that fills every order in full and so can cancel none: a method for each message that it understands.
//!
//! ```sh
//! cargo run -p fixbolt --features fix44 --example acceptor
//! fixbolt send --sender TRADER --target VENUE NewOrderSingle Symbol=IBM Side=BUY OrdType=LIMIT OrderQty=57 Price=298.075
//! ```

use fixbolt::codec::{Decimal, Message};
use fixbolt::messages::fix44::components::*;
use fixbolt::messages::fix44::fields::{CxlRejResponseTo, ExecType, OrdStatus};
use fixbolt::messages::fix44::{self, execution_report, order_cancel_reject};
use fixbolt::messages::fix44::{ExecutionReport, NewOrderSingle, OrderCancelReject, OrderCancelRequest};
use fixbolt::session::{Application, Delivery, Role, SendError, SessionSettings, Turn};

struct Venue;

impl Application for Venue {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, SendError> {
        fix44::dispatch(message, self, turn)
    }
}

impl fix44::Handler<Turn<'_>> for Venue {
    type Answer = Result<Delivery, SendError>;

    fn on_new_order_single(&mut self, order: NewOrderSingle<'_>, turn: &mut Turn<'_>) -> Self::Answer {
        let (Ok(id), Ok(Some(symbol)), Ok(side), Ok(Some(cum_qty)), Ok(Some(avg_px))) =
            (order.cl_ord_id(), order.symbol(), order.side(), order.order_qty(), order.price())
        else {
            return Ok(Delivery::Reject { reason: 1, tag: 44, text: "OrderQty and Price are needed" });
        };
        let (exec_type, ord_status, leaves_qty) = (ExecType::Trade, OrdStatus::Filled, Decimal::from(0));
        let (order_id, exec_id) = (id, id);
        let mut report = ExecutionReport::write(
            turn.reply(),
            execution_report::Required {
                order_id,
                exec_id,
                exec_type,
                ord_status,
                side,
                leaves_qty,
                cum_qty,
                avg_px,
            },
        );
        report.cl_ord_id(id).symbol(symbol);
        report.send()?;
        Ok(Delivery::Done)
    }

    fn on_order_cancel_request(
        &mut self,
        cancel: OrderCancelRequest<'_>,
        turn: &mut Turn<'_>,
    ) -> Self::Answer {
        let (Ok(cl_ord_id), Ok(order)) = (cancel.cl_ord_id(), cancel.orig_cl_ord_id()) else {
            return Ok(Delivery::Reject { reason: 1, tag: 41, text: "OrigClOrdID is needed" });
        };
        let mut reject = OrderCancelReject::write(
            turn.reply(),
            order_cancel_reject::Required {
                order_id: order,
                cl_ord_id,
                orig_cl_ord_id: order,
                ord_status: OrdStatus::Filled,
                cxl_rej_response_to: CxlRejResponseTo::OrderCancelRequest,
            },
        );
        reject.text(b"too late: filled");
        reject.send()?;
        Ok(Delivery::Done)
    }

    fn on_other(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Self::Answer {
        Ok(Delivery::UNSUPPORTED)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut session = SessionSettings::new("FIX.4.4:VENUE->TRADER".parse()?, Role::Acceptor);
    session.validator = fixbolt::shipped_validator("FIX.4.4");
    let address = "127.0.0.1:9880".parse()?;
    let engine = fixbolt::Engine::builder().accept(address, session).journal("venue").start(Venue)?;
    engine.stop_on_signals()?;
    engine.wait()?;
    Ok(())
}
