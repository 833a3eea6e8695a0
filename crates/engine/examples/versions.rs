//! A venue for counterparties of two versions on one port: `dispatch!` calls the handler of the
//! version that a message is of, and a message of neither is an error that names all versions.
//!
//! ```sh
//! cargo run -p fixbolt --features fix42,fix44 --example versions
//! fixbolt send --to 127.0.0.1:9881 --version FIX.4.2 --sender OLD --target VENUE \
//!     NewOrderSingle Symbol=IBM Side=BUY OrdType=LIMIT OrderQty=57 Price=298.075
//! ```

use fixbolt::codec::Message;
use fixbolt::messages::fix42::prelude::*;
use fixbolt::messages::fix44::prelude::*;
use fixbolt::messages::{dispatch, fix42, fix44};
use fixbolt::session::{Application, Delivery, Failure, Role, SessionSettings, Turn};

struct Venue;

impl Application for Venue {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        dispatch!(message, self, turn, [fix42, fix44])?
    }
}

impl fix42::Handler<Turn<'_>> for Venue {
    type Answer = Result<Delivery, Failure>;

    fn on_order_single(&mut self, order: fix42::OrderSingle<'_>, turn: &mut Turn<'_>) -> Self::Answer {
        use fix42::fields::{ExecTransType, ExecType, OrdStatus};
        let id = order.cl_ord_id()?;
        let required = fix42::execution_report::Required {
            order_id: id,
            exec_id: id,
            exec_trans_type: ExecTransType::NEW,
            exec_type: ExecType::FILL,
            ord_status: OrdStatus::FILLED,
            symbol: order.symbol()?,
            side: order.side()?,
            leaves_qty: 0,
            cum_qty: order.need(|order| order.order_qty())?,
            avg_px: order.need(|order| order.price())?,
        };
        fix42::ExecutionReport::send(turn.session(), required, |report| {
            report.cl_ord_id(id);
        })?;
        Ok(Delivery::Done)
    }

    fn on_other(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Self::Answer {
        Ok(Delivery::UNSUPPORTED)
    }
}

impl fix44::Handler<Turn<'_>> for Venue {
    type Answer = Result<Delivery, Failure>;

    fn on_new_order_single(&mut self, order: fix44::NewOrderSingle<'_>, turn: &mut Turn<'_>) -> Self::Answer {
        use fix44::fields::{ExecType, OrdStatus};
        let id = order.cl_ord_id()?;
        let symbol = order.need(|order| order.symbol())?;
        let required = fix44::execution_report::Required {
            order_id: id,
            exec_id: id,
            exec_type: ExecType::TRADE,
            ord_status: OrdStatus::FILLED,
            side: order.side()?,
            leaves_qty: 0,
            cum_qty: order.need(|order| order.order_qty())?,
            avg_px: order.need(|order| order.price())?,
        };
        fix44::ExecutionReport::send(turn.session(), required, |report| {
            report.cl_ord_id(id).symbol(symbol);
        })?;
        Ok(Delivery::Done)
    }

    fn on_other(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Self::Answer {
        Ok(Delivery::UNSUPPORTED)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = "127.0.0.1:9881".parse()?;
    let old = SessionSettings::new("FIX.4.2:VENUE->OLD".parse()?, Role::Acceptor);
    let new = SessionSettings::new("FIX.4.4:VENUE->NEW".parse()?, Role::Acceptor);
    let builder = fixbolt::Engine::builder().accept(address, old).accept(address, new);
    let engine = builder.journal("venue").start(Venue)?;
    engine.stop_on_signals()?;
    engine.wait()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use fixbolt::codec::Version;
    use fixbolt::testing::TestSession;

    use super::*;

    const ORDER: &str = "35=D|11=a|21=1|55=IBM|54=1|38=57|40=2|44=298.075|60=20260105-09:00:00|";

    fn venue(version: &str, default: Option<Version>) -> TestSession<Venue> {
        let settings =
            SessionSettings::new(format!("{version}:VENUE->DESK").parse().unwrap(), Role::Acceptor);
        let settings = settings.with(|s| s.default_appl_ver_id = default);
        let mut side = TestSession::new(settings, Venue).unwrap();
        side.log_on();
        side
    }

    #[test]
    fn each_order_is_answered_in_its_own_version() {
        for (version, exec_trans_type, exec_type) in
            [("FIX.4.2", Some("0"), Some("2")), ("FIX.4.4", None, Some("F"))]
        {
            let reports = venue(version, None).receive(ORDER);
            assert_eq!(reports.len(), 1, "{version}");
            assert_eq!((reports[0].msg_type(), reports[0].get(11)), ("8", Some("a")), "{version}");
            assert_eq!((reports[0].get(20), reports[0].get(150)), (exec_trans_type, exec_type), "{version}");
        }
    }

    #[test]
    fn an_order_of_a_version_without_a_handler_is_rejected_with_all_versions() {
        for (version, default, found) in
            [("FIX.4.3", None, "FIX.4.3"), ("FIXT.1.1", Some(Version::Fix50Sp2), "FIX.5.0SP2")]
        {
            let rejects = venue(version, default).receive(ORDER);
            assert_eq!((rejects[0].msg_type(), rejects[0].get(380)), ("j", Some("3")), "{version}");
            let text =
                format!("Unsupported Message Type: the message is of {found}, not of FIX.4.2 or FIX.4.4");
            assert_eq!(rejects[0].get(58), Some(&*text));
        }
    }
}
