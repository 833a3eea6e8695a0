//! The FIX session state machine, sans-IO: no socket, thread, file or clock inside.
#![forbid(unsafe_code)]

/// Marks a point in a transaction where a test may end the process.
macro_rules! kill_point {
    ($point:ident) => {
        #[cfg(feature = "kill-points")]
        crate::kill_points::reach(crate::kill_points::Point::$point);
    };
}

mod admin_message;
mod application;
mod behavior;
mod calendar;
mod carry_out;
mod check;
mod clock;
mod codec_timing;
mod deliver;
mod dictionaries;
mod draft;
mod driving;
mod end;
mod error;
mod event;
mod failure;
mod fix;
mod flood;
mod gaps;
mod garbled;
mod header;
mod heart_bt_int;
mod horizon;
mod id;
mod identify;
mod inbound;
mod invariants;
mod key;
#[cfg(feature = "kill-points")]
pub mod kill_points;
mod logon;
mod logon_fields;
mod mask;
mod matrix;
mod operating;
mod outbound_check;
mod outbox;
mod oversized;
mod own_messages;
mod pace;
mod party;
mod raw_header;
mod reaction;
mod reading;
mod refusals;
mod rejects;
mod reorder;
mod replay;
mod resetting;
mod resume;
mod scheduling;
mod sending;
mod session;
mod session_layer;
mod sessions;
mod settings;
mod state;
mod status;
mod store_retry;
mod stored_message;
mod table;
mod throttle;
mod throttling;
mod time;
mod transaction;
mod turn;
mod waker;
mod warm_up;
mod warm_up_times;
mod wire;
mod work_lists;

pub mod schedule;
pub mod store;

pub use application::{Application, Delivery, LogonDecision, Resend};
pub use behavior::{
    AfterLogout, Behavior, Compatibility, EmptyCompId, EmptyResendRequest, Farewell, FieldWithoutEquals,
    FirstViolation, GapFillBackwards, HeartbeatWhileTesting, InvalidLogon, LogoutText, LogoutTooHigh,
    OptionalField, PossDupFault, RefTagId, ResendRequestBeyondGap, SendingAfterGap, TagInText, TestReqId,
    TooLow, VersionOfRejected, ViolationText, WrongBodyLength,
};
pub use codec_timing::{CodecClock, CodecOperation, CodecTime};
pub use dictionaries::{FixtDictionaries, SessionDictionary};
pub use draft::{Draft, Handle};
pub use end::{Halt, Misbehavior, SessionEnd};
pub use error::SendError;
pub use event::{Event, GarbledError, Ticket, Unreached};
pub use failure::Failure;
pub use fixbolt_dictionary::SessionRejectReason;
pub use heart_bt_int::{AcceptedHeartBtInt, InvalidHeartBtInt};
pub use id::SessionId;
pub use identify::{Identity, identify};
pub use key::SessionKey;
pub use logon_fields::{LogonFields, Secret};
pub use matrix::MatrixState;
pub use party::{InvalidSessionId, Party};
pub use reading::MAX_MESSAGE_SIZE_BEFORE_LOGON;
pub use rejects::{BusinessReject, BusinessRejectReason, SessionReject};
pub use resume::{Direction, Resume, StoredMessage};
pub use sessions::{OpenError, Sessions};
pub use settings::{
    ReplayInterleave, Role, SessionSettings, TestMessageIndicator, TooLowAtLogon, WhileLoggedOff,
};
pub use state::Phase;
pub use status::{SessionState, StatusCell};
pub use throttle::{InboundThrottle, InvalidRate, ORDER_MSG_TYPES, OutboundThrottle, Rate};
pub use time::{Mono, Now, Utc};
pub use turn::Turn;
pub use waker::{SessionWaker, WorkerWaker};
pub use wire::{WireMessage, WireObserver};
