//! The acceptor: lets one desk in by its password, fills every order, and returns the desk's own
//! field.

use fixbolt::codec::FieldError;
use fixbolt::dictionary::{Action, Check, Policy};
use fixbolt::messages::fix44::fields::{ExecType, OrdStatus};
use fixbolt::messages::fix44::prelude::*;
use fixbolt::messages::fix44::{ExecutionReport, NewOrderSingle, execution_report::Required};
use fixbolt::prelude::*;

use crate::Outcome;

/// The user-defined field that says where at the trader's an order comes from.
pub const DESK: Tag = Tag::new(5001);

pub const USERNAME: &[u8] = b"desk";
pub const PASSWORD: &[u8] = b"correct horse";

/// Fills orders in full.
#[derive(Default)]
pub struct Venue {
    /// Orders filled since the start.
    pub filled: u64,
}

pub fn settings() -> Outcome<SessionSettings> {
    let mut session = SessionSettings::new("FIX.4.4:VENUE->TRADER".parse()?, Role::Acceptor);
    session.validation.incoming = policy();
    Ok(session)
}

/// The checks of both sides: all except that user-defined fields must be in the dictionary, because
/// `DESK` is not.
pub fn policy() -> Policy {
    Policy::standard().with(Check::UserDefinedTag, Action::Ignore)
}

impl Application for Venue {
    fn on_logon(&mut self, logon: Message<'_>, _: &mut Turn<'_>) -> Result<LogonDecision, Failure> {
        let credentials = (logon.get(553), logon.get(554));
        Ok(match credentials {
            (Some(USERNAME), Some(PASSWORD)) => LogonDecision::Accept,
            _ => LogonDecision::refuse("unknown user or wrong password"),
        })
    }

    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        let order = NewOrderSingle::read(message)?;
        let (id, side) = (order.cl_ord_id()?, order.side()?);
        let symbol = order.need(|order| order.symbol())?;
        let cum_qty = order.need(|order| order.order_qty())?;
        let avg_px = order.need(|order| order.price())?;
        let desk = order.get(DESK).ok_or(FieldError::missing(DESK))?;
        let (exec_type, ord_status, leaves_qty) = (ExecType::TRADE, OrdStatus::FILLED, 0);
        let required =
            Required { order_id: id, exec_id: id, exec_type, ord_status, side, leaves_qty, cum_qty, avg_px };
        ExecutionReport::send(turn.session(), required, |report| {
            report.cl_ord_id(id).symbol(symbol);
            report.body().bytes(const { Key::new(DESK.number()) }, desk);
        })?;
        self.filled += 1;
        Ok(Delivery::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixbolt::testing::{Sent, TestSession};

    /// Returns a venue that has received a Logon with these credentials, and its answers.
    fn logon(credentials: &str) -> Outcome<(TestSession<Venue>, Vec<Sent>)> {
        let mut venue = TestSession::new(settings()?, Venue::default())?;
        venue.connect();
        let answers = venue.receive(&format!("35=A|98=0|108=30|{credentials}"));
        Ok((venue, answers))
    }

    #[test]
    fn the_desk_logs_on_with_its_password_and_nobody_else_does() -> Outcome<()> {
        let (_, answers) = logon("553=desk|554=correct horse|")?;
        assert_eq!(answers[0].msg_type(), "A");
        for credentials in ["553=desk|554=wrong|", "553=other|554=correct horse|", ""] {
            let (venue, answers) = logon(credentials)?;
            assert_eq!(answers[0].msg_type(), "5", "{credentials}");
            assert_eq!(answers[0].get(58), Some("unknown user or wrong password"));
            assert!(venue.wants_close());
        }
        Ok(())
    }

    #[test]
    fn an_order_is_filled_and_its_desk_returned() -> Outcome<()> {
        let (mut venue, _) = logon("553=desk|554=correct horse|")?;
        let order = "35=D|11=ord1|55=IBM|54=1|60=20260105-09:00:00|38=57|40=2|44=298.075|";
        let reports = venue.receive(&format!("{order}5001=rates|"));
        assert_eq!((reports.len(), reports[0].msg_type()), (1, "8"));
        assert_eq!((reports[0].get(11), reports[0].get(5001)), (Some("ord1"), Some("rates")));
        assert_eq!(reports[0].value(6), Some("298.075".parse::<Decimal>()?));
        // An order of no desk is rejected by name.
        let rejects = venue.receive(order);
        assert_eq!((rejects[0].msg_type(), rejects[0].get(380)), ("j", Some("5")));
        assert!(rejects[0].get(58).is_some_and(|text| text.contains("5001")));
        assert_eq!(venue.app().filled, 1);
        Ok(())
    }
}
