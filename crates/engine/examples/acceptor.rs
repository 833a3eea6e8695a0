//! A venue that fills every order in full, so it cannot cancel any: one method for each message
//! that it understands.
//!
//! ```sh
//! cargo run -p fixbolt --features fix44 --example acceptor
//! fixbolt send --to 127.0.0.1:9881 --sender TRADER --target VENUE \
//!     NewOrderSingle Symbol=IBM Side=BUY OrdType=LIMIT OrderQty=57 Price=298.075
//! ```
//!
//! With the name of a configuration file, its sessions are those of the file.

use fixbolt::Engine;
use fixbolt::codec::Message;
use fixbolt::messages::fix44::fields::{CxlRejResponseTo, ExecType, OrdStatus};
use fixbolt::messages::fix44::prelude::*;
use fixbolt::messages::fix44::{self, execution_report, order_cancel_reject};
use fixbolt::messages::fix44::{ExecutionReport, NewOrderSingle, OrderCancelReject, OrderCancelRequest};
use fixbolt::session::{Application, Delivery, Failure, Role, SessionSettings, Turn};

struct Venue;

impl Application for Venue {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        fix44::dispatch(message, self, turn)?
    }
}

impl fix44::Handler<Turn<'_>> for Venue {
    type Answer = Result<Delivery, Failure>;

    fn on_new_order_single(&mut self, order: NewOrderSingle<'_>, turn: &mut Turn<'_>) -> Self::Answer {
        // A field that this venue needs and the message lacks is named in a reject.
        let (id, side) = (order.cl_ord_id()?, order.side()?);
        let symbol = order.need(|order| order.symbol())?;
        let cum_qty = order.need(|order| order.order_qty())?;
        let avg_px = order.need(|order| order.price())?;
        let (exec_type, ord_status, leaves_qty) = (ExecType::TRADE, OrdStatus::FILLED, 0);
        let (order_id, exec_id) = (id, id);
        ExecutionReport::send(
            turn.session(),
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
            |report| {
                report.cl_ord_id(id).symbol(symbol);
            },
        )?;
        Ok(Delivery::Done)
    }

    fn on_order_cancel_request(
        &mut self,
        cancel: OrderCancelRequest<'_>,
        turn: &mut Turn<'_>,
    ) -> Self::Answer {
        let (cl_ord_id, order) = (cancel.cl_ord_id()?, cancel.orig_cl_ord_id()?);
        OrderCancelReject::send(
            turn.session(),
            order_cancel_reject::Required {
                order_id: order,
                cl_ord_id,
                orig_cl_ord_id: order,
                ord_status: OrdStatus::FILLED,
                cxl_rej_response_to: CxlRejResponseTo::ORDER_CANCEL_REQUEST,
            },
            |reject| {
                reject.text("too late: filled");
            },
        )?;
        Ok(Delivery::Done)
    }

    fn on_other(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Self::Answer {
        Ok(Delivery::UNSUPPORTED)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let session = SessionSettings::new("FIX.4.4:VENUE->TRADER".parse()?, Role::Acceptor);
    let builder = match std::env::args().nth(1) {
        Some(file) => Engine::from_config(file)?,
        None => Engine::builder().accept("127.0.0.1:9881".parse()?, session).journal("venue"),
    };
    let engine = builder.start(Venue)?;
    engine.stop_on_signals()?;
    engine.wait()?;
    Ok(())
}
