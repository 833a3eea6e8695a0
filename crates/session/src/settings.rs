//! What a session is told before it starts. Everything here has a safe default but its identity.

use core::time::Duration;
use std::sync::Arc;

use fixbolt_dictionary::{Policy, Validator};

use crate::behavior::Compatibility;
use crate::id::SessionId;
use crate::logon_fields::LogonFields;

/// Who opens the transport connection and sends the first Logon.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// We connect and send the first Logon.
    Initiator,
    /// The counterparty connects and sends the first Logon.
    Acceptor,
}

/// What happens to messages sent while the session is not logged on (test case 16).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum WhileLoggedOff {
    /// `send` fails with `NotLoggedOn`: nothing goes out later than it was meant to.
    #[default]
    Refuse,
    /// They are numbered and journalled; the counterparty asks for them after the next logon.
    Keep,
}

/// The dictionary that a session's messages are compared with.
#[derive(Clone, Debug, Default)]
pub enum SessionDictionary {
    /// The shipped one of the session's version. The engine puts it in its place when it starts; a
    /// session that is opened without an engine needs one of the others.
    #[default]
    Shipped,
    /// Another one, of the session's version.
    Own(Arc<Validator>),
    /// None: only what the session layer itself needs is checked.
    None,
}

impl SessionDictionary {
    /// Returns the validator; `None` without a dictionary, or as long as the shipped one is not in
    /// its place.
    #[must_use]
    pub const fn validator(&self) -> Option<&Arc<Validator>> {
        match self {
            Self::Own(validator) => Some(validator),
            Self::Shipped | Self::None => None,
        }
    }
}

/// Two own dictionaries are equal if they are the same validator.
impl PartialEq for SessionDictionary {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Own(one), Self::Own(other)) => Arc::ptr_eq(one, other),
            (Self::Shipped, Self::Shipped) | (Self::None, Self::None) => true,
            _ => false,
        }
    }
}

/// The settings of one session.
///
/// New settings are added over time, so a value begins with [`SessionSettings::new`]:
///
/// ```
/// use fixbolt_session::{Role, SessionSettings};
///
/// let id = "FIX.4.4:VENUE->TRADER".parse()?;
/// let settings = SessionSettings::new(id, Role::Acceptor).with(|s| {
///     s.heart_bt_int = 10;
///     s.reset_on_logon = true;
/// });
/// assert_eq!(settings.heart_bt_int, 10);
/// # Ok::<(), fixbolt_session::InvalidSessionId>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct SessionSettings {
    /// Who talks to whom.
    pub id: SessionId,
    /// Who connects.
    pub role: Role,
    /// The dictionary that messages are compared with.
    pub dictionary: SessionDictionary,
    /// Reaction to each kind of violation in a message that comes in.
    pub policy: Policy,
    /// Reaction to each kind of violation in a message that the application sends; `None` does not look. A rejected message
    /// makes `send` fail with [`SendError::Invalid`](crate::SendError::Invalid).
    pub outbound_policy: Option<Policy>,
    /// Whose way to follow.
    pub compatibility: Compatibility,
    /// HeartBtInt (108) that an initiator proposes, in whole seconds; 0 sends no heartbeats. An acceptor takes the peer's.
    pub heart_bt_int: u32,
    /// A TestRequest goes out when nothing came for HeartBtInt times this, in percent: 120 to 200 are sensible.
    pub test_request_percent: u32,
    /// Largest distance between SendingTime (52) and our clock; `None` does not check.
    pub sending_time_threshold: Option<Duration>,
    /// How long to wait for the first Logon, or for its answer.
    pub logon_timeout: Duration,
    /// How long to wait for the answer to a Logout.
    pub logout_timeout: Duration,
    /// Largest message taken from the counterparty and given to it, in bytes.
    pub max_message_size: usize,
    /// Both numbers start at 1 with every Logon.
    pub reset_on_logon: bool,
    /// Both numbers start at 1 after a Logout.
    pub reset_on_logout: bool,
    /// Both numbers start at 1 after the connection ended in whatever way.
    pub reset_on_disconnect: bool,
    /// Whether SenderCompID (49) and TargetCompID (56) of each message are compared with the session's.
    pub check_comp_id: bool,
    /// Whether a message with PossDupFlag=Y needs OrigSendingTime (122).
    pub requires_orig_sending_time: bool,
    /// Digits of a second in the times we send: 0, 3, 6, 9 or 12. FIX.4.0 and FIX.4.1 always send whole seconds.
    pub timestamp_digits: u8,
    /// Sending without being logged on.
    pub while_logged_off: WhileLoggedOff,
    /// How often a message is offered to an application that fails on it before the session halts.
    pub poison_attempts: u32,
    /// Bytes kept for the socket, at most. A full outbox is back-pressure; what answers no inbound message fills half of it.
    pub outbox_size: usize,
    /// Bytes kept of messages that came before their turn, at most; more are dropped and asked for again.
    pub reorder_buffer_size: usize,
    /// Fields of its own in each Logon that is sent.
    pub logon: LogonFields,
    /// Tags whose values are replaced by `*` in Logon messages wherever they are kept or shown.
    pub masked: Vec<u32>,
}

impl SessionSettings {
    /// Settings with every default: the shipped dictionary, nothing sent is compared with it,
    /// HeartBtInt 30 s, SendingTime within 120 s, logon within 10 s, logout within 2 s, messages to
    /// 64 KiB, numbers continued, milliseconds, Password (554), NewPassword (925) and RawData (96)
    /// masked.
    #[must_use]
    pub fn new(id: SessionId, role: Role) -> Self {
        Self {
            id,
            role,
            dictionary: SessionDictionary::Shipped,
            policy: Policy::standard(),
            outbound_policy: None,
            compatibility: Compatibility::Standard,
            heart_bt_int: 30,
            test_request_percent: 120,
            sending_time_threshold: Some(Duration::from_secs(120)),
            logon_timeout: Duration::from_secs(10),
            logout_timeout: Duration::from_secs(2),
            max_message_size: 64 * 1024,
            reset_on_logon: false,
            reset_on_logout: false,
            reset_on_disconnect: false,
            check_comp_id: true,
            requires_orig_sending_time: true,
            timestamp_digits: 3,
            while_logged_off: WhileLoggedOff::Refuse,
            poison_attempts: 3,
            outbox_size: 1024 * 1024,
            reorder_buffer_size: 1024 * 1024,
            logon: LogonFields::default(),
            masked: vec![554, 925, 96],
        }
    }

    /// The same settings with what `change` does to them.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}
