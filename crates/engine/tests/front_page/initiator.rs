use fixbolt::messages::fix44::fields::{OrdType, Side};
use fixbolt::messages::fix44::prelude::*;
use fixbolt::messages::fix44::{ExecutionReport, NewOrderSingle, new_order_single::Required};
use fixbolt::prelude::*;

struct Trader(std::sync::mpsc::Sender<String>);

impl Application for Trader {
    fn on_event(&mut self, event: &Event<'_>, turn: &mut Turn<'_>) -> Result<(), Failure> {
        println!("{}: {event}", turn.session_id());
        if matches!(event, Event::LoggedOn) {
            let transact_time = UtcTimestamp::now();
            let required =
                Required { cl_ord_id: "ord1", side: Side::BUY, transact_time, ord_type: OrdType::LIMIT };
            let price: Decimal = "298.075".parse()?;
            NewOrderSingle::send(turn.session(), required, |order| {
                order.symbol("IBM").order_qty(57).price(price);
            })?;
        }
        Ok(())
    }

    fn on_message(&mut self, message: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
        let report = ExecutionReport::read(message)?;
        self.0.send(format!("{:?} at {}", report.ord_status()?, report.avg_px()?))?;
        Ok(Delivery::Done)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut session = SessionSettings::new("FIX.4.4:TRADER->VENUE".parse()?, Role::Initiator);
    session.logon.username = "desk".into();
    let session = fixbolt::Initiation::new(session, "localhost", 9881);
    let (reports_to, reports) = std::sync::mpsc::channel();
    let engine = fixbolt::Engine::builder().connect(session).journal("trader").start(Trader(reports_to))?;
    engine.stop_on_signals()?;
    while engine.is_running() {
        if let Ok(report) = reports.recv_timeout(std::time::Duration::from_secs(1)) {
            println!("{report}");
            break;
        }
    }
    engine.stop()?;
    Ok(())
}
