//! An application driven without sockets, threads or waiting: for unit tests of how it handles
//! messages.
//!
//! The sessions are the real ones, so checks, sequence numbers, rejects and replays are those of
//! production; the clock is a value that only the test advances. There are two ways to use it:
//!
//! - A [`TestSession`] is one session and its application. The test is the counterparty and writes
//!   its messages by hand.
//! - A [`Pair`] is an initiator and an acceptor, each with its application, connected to each
//!   other.
//!
//! A venue that fills orders; the test is the trader:
//!
//! ```
//! use fixbolt::codec::{BodySink, Key, Message, MsgType, NewBody};
//! use fixbolt::session::{Application, Delivery, Failure, Role, SessionSettings, Turn};
//! use fixbolt::testing::TestSession;
//!
//! struct Venue;
//!
//! impl Application for Venue {
//!     fn on_message(
//!         &mut self,
//!         order: Message<'_>,
//!         turn: &mut Turn<'_>,
//!     ) -> Result<Delivery, Failure> {
//!         let id: &[u8] = order.required(11)?;
//!         let symbol: &[u8] = order.required(55)?;
//!         let mut report = turn.session().draft(MsgType::new(b"8"));
//!         report.writer().bytes(Key::new(11), id).bytes(Key::new(39), b"2");
//!         report.writer().bytes(Key::new(55), symbol);
//!         report.send()?;
//!         Ok(Delivery::Done)
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let settings = SessionSettings::new("FIX.4.4:VENUE->TRADER".parse()?, Role::Acceptor);
//! let mut venue = TestSession::new(settings, Venue)?;
//! venue.log_on();
//!
//! let reports = venue.receive("35=D|11=ord1|55=IBM|54=1|60=20260105-09:00:00|40=1|");
//! assert_eq!(reports.len(), 1);
//! assert_eq!(reports[0].msg_type(), "8");
//! assert_eq!(reports[0].get(39), Some("2"));
//!
//! // The dictionary does not require Symbol (55), but this venue does.
//! let rejects = venue.receive("35=D|11=ord2|54=1|60=20260105-09:00:00|40=1|");
//! assert_eq!(rejects[0].get(58), Some("Conditionally required field missing (55)"));
//!
//! // The session layer rejects a message that lacks a field the dictionary requires.
//! let rejects = venue.receive("35=D|11=ord3|55=IBM|60=20260105-09:00:00|40=1|");
//! assert_eq!((rejects[0].get(373), rejects[0].get(371)), (Some("1"), Some("54")));
//! # Ok(())
//! # }
//! ```

mod pair;
mod sent;
mod session;

pub use fixbolt_session::runtime::session_key;
pub use pair::Pair;
pub use sent::Sent;
pub use session::TestSession;
