//! The FIX session state machine, sans-IO: no socket, thread, file or clock inside.
#![forbid(unsafe_code)]

/// Marks a point in a transaction where a test may end the process.
macro_rules! kill_point {
    ($point:ident) => {
        #[cfg(feature = "kill-points")]
        crate::kill_points::reach(crate::kill_points::Point::$point);
    };
}

mod api;
mod calls;
mod core;
mod decide;
mod events;
mod invariants;
#[cfg(feature = "kill-points")]
pub mod kill_points;
mod limits;
mod perform;
mod send;
mod settings;
mod state;
mod values;
mod wire;

pub mod runtime;
pub mod schedule;
pub mod store;

pub use api::application::{Application, Delivery, LogonDecision, Resend, ResendAnswer, ResendRange};
pub use api::resume::{Resume, StoredMessage};
pub use api::turn::Turn;
pub use calls::matrix::MatrixState;
pub use calls::sessions::Sessions;
pub use core::observer::{WireMessage, WireObserver};
pub use events::attempt::{AttemptFailure, FailedAttempt, NextAttempt};
pub use events::change_error::ChangeError;
pub use events::end::{EndedBy, Halt, Misbehavior, SessionEnd};
pub use events::error::SendError;
pub use events::event::{Accepted, Event, GarbledError, Ticket, Unreached};
pub use events::failure::Failure;
pub use events::logon::{LogonFault, LogonRefusal, RefusingAnswer};
pub use events::open_error::OpenError;
pub use events::refused::{FirstMessageFault, Refusal, RefusedConnection};
pub use events::rejects::{BusinessReject, SessionReject};
pub use events::tls::{CertificateFault, CertificateMismatch, TlsFailure};
pub use fixbolt_dictionary::{BusinessRejectCode, Direction, SessionRejectCode};
pub use limits::throttle::{InboundThrottle, InvalidRate, ORDER_MSG_TYPES, OutboundThrottle, Rate};
pub use send::draft::{Draft, Handle};
pub use settings::behavior::Compatibility;
pub use settings::check::{SettingRange, WrongSetting, wrong_settings};
pub use settings::delay_multiplier::{DelayMultiplier, InvalidDelayMultiplier};
pub use settings::dictionaries::{FixtDictionaries, SessionDictionary};
pub use settings::heart_bt_int::{AcceptedHeartBtInt, InvalidHeartBtInt};
pub use settings::limits::{LimitSettings, OutboundWatermarks};
pub use settings::logon_fields::{LogonFields, Secret};
pub use settings::resend::{ReplayInterleave, ResendOverLimit, ResendSettings, WhileLoggedOff};
pub use settings::reset::{ResetSettings, TooLowAtLogon};
pub use settings::throttle::ThrottleSettings;
pub use settings::timing::TimingSettings;
pub use settings::validation::{TestMessageIndicator, ValidationSettings};
pub use settings::{Role, SessionSettings};
pub use state::Phase;
pub use state::status::{SessionState, StatusCell};
pub use store::waker::{SessionWaker, WorkerWaker};
pub use values::backoff::Backoff;
pub use values::clock_watch::{Clock, ClockWatch};
pub use values::codec_timing::{CodecClock, CodecOperation, CodecTime};
pub use values::comp_ids::{CompIds, InvalidSessionId};
pub use values::fix::MAX_MESSAGE_SIZE_BEFORE_LOGON;
pub use values::id::SessionId;
pub use values::key::SessionKey;
pub use values::next::{Next, Read, Socket, Writable};
pub use values::time::{Mono, Now, Utc};
pub use values::waits_for::WaitsFor;
pub use wire::before_send::{BeforeSend, Outgoing};
pub use wire::identify::{Identity, identify};
