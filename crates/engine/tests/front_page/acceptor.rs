use fixbolt::messages::fix44::fields::{ExecType, OrdStatus};
use fixbolt::messages::fix44::prelude::*;
use fixbolt::messages::fix44::{ExecutionReport, NewOrderSingle, execution_report::Required};
use fixbolt::prelude::*;

struct Venue;

impl Application for Venue {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        let order = NewOrderSingle::read(message)?;
        let (id, side) = (order.cl_ord_id()?, order.side()?);
        let symbol = order.need(|order| order.symbol())?;
        let cum_qty = order.need(|order| order.order_qty())?;
        let avg_px = order.need(|order| order.price())?;
        let (exec_type, ord_status, leaves_qty) = (ExecType::TRADE, OrdStatus::FILLED, 0);
        let required =
            Required { order_id: id, exec_id: id, exec_type, ord_status, side, leaves_qty, cum_qty, avg_px };
        ExecutionReport::send(turn.session(), required, |report| {
            report.cl_ord_id(id).symbol(symbol);
        })?;
        Ok(Delivery::Done)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let session = SessionSettings::new("FIX.4.4:VENUE->TRADER".parse()?, Role::Acceptor);
    let address = "127.0.0.1:9881".parse()?;
    let engine = fixbolt::Engine::builder().accept(address, session).journal("venue").start(Venue)?;
    engine.stop_on_signals()?;
    engine.wait()?;
    Ok(())
}
