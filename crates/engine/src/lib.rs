//! A FIX engine: acceptors and initiators over TCP, with journal and configuration.
//!
//! An [`Engine`] runs its sessions on one thread. The application is a value with callbacks on that thread; everything that it
//! writes in one callback becomes visible together with the message that caused it, or not at all. Other threads send through a
//! [`Sender`]. Two engines in one process know nothing of each other.
//!
//! It refuses to guess: a setting that is not understood, a journal that is damaged or in use, a port that is taken stop the
//! start with one line that says what and where. It binds to the address that it is given, and configuration files that name
//! none to loopback.
//!
//! A venue that fills every limit order in full:
//!
//! ```no_run
//! use fixbolt::codec::{Decimal, Message};
//! use fixbolt::messages::fix44::components::*;
//! use fixbolt::messages::fix44::fields::{ExecType, OrdStatus};
//! use fixbolt::messages::fix44::{ExecutionReport, NewOrderSingle, execution_report::Required};
//! use fixbolt::session::{Application, Delivery, Role, SendError, SessionSettings, Turn};
//!
//! struct Venue;
//!
//! impl Application for Venue {
//!     fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, SendError> {
//!         let Ok(order) = NewOrderSingle::read(message) else { return Ok(Delivery::UNSUPPORTED) };
//!         let (Ok(id), Ok(Some(symbol)), Ok(side), Ok(Some(cum_qty)), Ok(Some(avg_px))) =
//!             (order.cl_ord_id(), order.symbol(), order.side(), order.order_qty(), order.price())
//!         else {
//!             return Ok(Delivery::Reject { reason: 1, tag: 44, text: "OrderQty and Price are needed" });
//!         };
//!         let (exec_type, ord_status, leaves_qty) = (ExecType::Trade, OrdStatus::Filled, Decimal::from(0));
//!         let required =
//!             Required { order_id: id, exec_id: id, exec_type, ord_status, side, leaves_qty, cum_qty, avg_px };
//!         let mut report = ExecutionReport::write(turn.reply(), required);
//!         report.cl_ord_id(id).symbol(symbol);
//!         report.send()?;
//!         Ok(Delivery::Done)
//!     }
//! }
//!
//! let mut session = SessionSettings::new("FIX.4.4:VENUE->TRADER".parse()?, Role::Acceptor);
//! session.validator = fixbolt::shipped_validator("FIX.4.4");
//! let address = "127.0.0.1:9880".parse()?;
//! let engine = fixbolt::Engine::builder().accept(address, session).journal("venue").start(Venue)?;
//! engine.stop_on_signals()?;
//! engine.wait()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A trader that sends it one:
//!
//! ```no_run
//! use fixbolt::codec::{Message, UtcTimestamp};
//! use fixbolt::messages::fix44::components::*;
//! use fixbolt::messages::fix44::fields::{OrdType, Side};
//! use fixbolt::messages::fix44::{NewOrderSingle, new_order_single::Required};
//! use fixbolt::session::{Application, Delivery, Event, Role, SendError, SessionKey, SessionSettings, Turn};
//!
//! struct Trader(std::sync::mpsc::Sender<()>);
//!
//! impl Application for Trader {
//!     fn on_message(&mut self, message: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, SendError> {
//!         println!("{}", message.bytes().escape_ascii());
//!         Ok(Delivery::Done)
//!     }
//!     fn on_event(&mut self, _: SessionKey, event: &Event<'_>) {
//!         if matches!(event, Event::LoggedOn) {
//!             self.0.send(()).ok();
//!         }
//!     }
//! }
//!
//! let session = SessionSettings::new("FIX.4.4:TRADER->VENUE".parse()?, Role::Initiator);
//! let (id, (told, logged_on)) = (session.id.clone(), std::sync::mpsc::channel());
//! let session = fixbolt::Initiation::new(session, "localhost", 9880);
//! let engine = fixbolt::Engine::builder().connect(session).journal("trader").start(Trader(told))?;
//! logged_on.recv()?;
//! let transact_time: UtcTimestamp = "20261121-10:00:00".parse()?;
//! let required = Required { cl_ord_id: b"ord1", side: Side::Buy, transact_time, ord_type: OrdType::Limit };
//! let mut sender = engine.sender(&id).ok_or("no such session")?;
//! let mut order = NewOrderSingle::write(&mut sender, required);
//! order.symbol(b"IBM").order_qty(57.into()).price("298.075".parse()?);
//! println!("ticket {}", order.send()?.0);
//! engine.stop()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

/// Says that the loop has come to a point where a test may end the process.
macro_rules! kill_point {
    ($point:ident) => {
        #[cfg(feature = "kill-points")]
        fixbolt_session::kill_points::reach(fixbolt_session::kill_points::Point::$point);
    };
}

mod builder;
mod clock;
pub mod config;
mod configured;
mod engine;
mod error;
mod inbound;
mod lane;
mod sender;
mod signals;
mod worker;

pub use builder::{Acceptance, EngineBuilder, Initiation};
pub use configured::shipped_validator;
pub use engine::{Engine, Stopper};
pub use error::EngineError;
pub use sender::{PostError, Sender, SenderDraft};

pub use fixbolt_codec as codec;
pub use fixbolt_dictionary as dictionary;
pub use fixbolt_journal as journal;
pub use fixbolt_messages as messages;
pub use fixbolt_session as session;

/// The README's programs compile.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
