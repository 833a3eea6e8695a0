//! The FIX session state machine, sans-IO: no socket, thread, file or clock inside.
#![forbid(unsafe_code)]

/// Says that a turn has come to a point where a test may end the process.
macro_rules! kill_point {
    ($point:ident) => {
        #[cfg(feature = "kill-points")]
        crate::kill_points::reach(crate::kill_points::Point::$point);
    };
}

mod admin;
mod application;
mod check;
mod id;
mod identify;
mod inbound;
#[cfg(feature = "kill-points")]
pub mod kill_points;
mod logon;
mod mask;
mod outbox;
mod replay;
mod scene;
mod sessions;
mod settings;
mod slot;
mod stash;
mod state;
mod time;
mod timers;
mod turn;

pub mod store;

pub use application::{
    Application, Delivery, Event, GarbledError, Halt, LogonDecision, Misbehaviour, Resend, Resume, SendError,
    SessionEnd, Ticket,
};
pub use id::{InvalidSessionId, SessionId};
pub use identify::{Identity, identify};
pub use sessions::{OpenError, Sessions};
pub use settings::{Compatibility, Role, SessionSettings, WhileLoggedOff};
pub use slot::MAX_MESSAGE_SIZE_BEFORE_LOGON;
pub use state::Phase;
pub use store::SessionKey;
pub use time::{Mono, Now, Utc};
pub use turn::{Draft, Handle, Turn};
