//! How a connection of a session ends, and why a session is halted.

use core::fmt;
use core::time::Duration;

use fixbolt_codec::SeqNum;

use crate::events::error::SendError;
use crate::events::logon::{LogonFault, LogonRefusal};
use crate::limits::throttle::Rate;
use crate::settings::heart_bt_int::AcceptedHeartBtInt;
use crate::store::StoreError;
use crate::values::time::Utc;

/// How a connection of a session ended: who ended it, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SessionEnd {
    /// The transport was closed by the counterparty or the network, without a Logout.
    ConnectionLost,
    /// The counterparty closed the connection instead of answering our Logon: it may not know a
    /// session with this BeginString and these CompIDs.
    LogonUnanswered,
    /// The counterparty answered our Logon with a Logout or a Reject.
    LogonRefusedByPeer(Box<LogonRefusal>),
    /// The counterparty logged out, and we answered.
    LoggedOutByPeer,
    /// We logged out, because an operator or the program asked for it, and the counterparty
    /// answered.
    LoggedOutByUs,
    /// We logged out for the same reason, and no answer came in time, or a reset of the sequence
    /// numbers that the counterparty had begun instead.
    LogoutTimedOut,
    /// The counterparty logged out and did not close the connection in time.
    PeerDidNotClose,
    /// No Logon, or no answer to ours, came in time.
    LogonTimedOut,
    /// Nothing was received for so long that the connection counts as broken.
    HeartbeatTimedOut,
    /// The counterparty did not read what we sent within
    /// [`send_timeout`](crate::TimingSettings::send_timeout).
    PeerDidNotRead,
    /// The counterparty read too slowly for
    /// [`slow_consumer_timeout`](crate::LimitSettings::slow_consumer_timeout). What it has not
    /// received is sent when it logs on again and requests it.
    SlowConsumer,
    /// The counterparty did not answer our Logon with ResetSeqNumFlag=Y in the session
    /// ([`Sessions::reset_in_session`](crate::Sessions::reset_in_session)): our sequence numbers
    /// begin at 1, and its own may not.
    ResetUnanswered,
    /// The counterparty violated the protocol in a way that ends the session.
    PeerMisbehaved(Misbehavior),
    /// The window of the session's schedule has ended, and the session was logged out.
    ScheduleEnded {
        /// When there may be a connection next; `None` if at once, or not within three years.
        next: Option<Utc>,
    },
    /// A Logon arrived outside the windows of the session's schedule.
    OutsideSchedule {
        /// When there may be a connection next; `None` if not within three years.
        next: Option<Utc>,
    },
    /// The counterparty expects a higher sequence number than we would send: it has received
    /// messages that our store does not have, because the store was lost or replaced, or the
    /// counterparty keeps the numbers of another session. It said so in NextExpectedMsgSeqNum (789)
    /// of its Logon, or in a Logout that calls our MsgSeqNum too low. An operator of one side must
    /// set or reset the sequence numbers.
    PeerExpectsMore {
        /// The sequence number that the counterparty expects next.
        expected: SeqNum,
        /// The one that we sent instead, or would have sent next.
        next_out: SeqNum,
    },
    /// Our application refused the logon.
    LogonRefused,
    /// Our application failed or panicked on the message with this number.
    ApplicationFailed {
        /// MsgSeqNum of the message.
        seq: SeqNum,
        /// Its error, or "panic" if it panicked.
        why: String,
    },
    /// Our application failed or panicked in a callback without an inbound message.
    CallbackFailed {
        /// The callback.
        callback: &'static str,
        /// Its error, or "panic" if it panicked.
        why: String,
    },
    /// The session layer's message could not be written, for example because it is larger than the
    /// counterparty accepts.
    Unanswerable(Box<SendError>),
    /// The session is halted.
    Halted(Halt),
}

/// By whose doing a connection of a session ended.
///
/// `Display` writes one word, for programs that read logs: `us`, `peer`, `network` or `operator`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EndedBy {
    /// Our side by itself: the session's schedule, its store, the application, or a message that
    /// could not be written.
    Us,
    /// The counterparty: it logged out or refused the logon, violated the protocol, or did not
    /// answer, read or close in time.
    Peer,
    /// The network: the transport ended or fell silent, and no Logout says why. The counterparty's
    /// program may have ended, too.
    Network,
    /// An operator of our side, or the program, which logged the session out or stopped the engine.
    Operator,
}

impl SessionEnd {
    /// Returns by whose doing the connection ended.
    ///
    /// ```
    /// use fixbolt_session::{EndedBy, SessionEnd};
    ///
    /// assert_eq!(SessionEnd::HeartbeatTimedOut.by(), EndedBy::Network);
    /// assert_eq!(SessionEnd::LogonUnanswered.by().to_string(), "peer");
    /// ```
    #[must_use]
    pub const fn by(&self) -> EndedBy {
        match self {
            Self::ScheduleEnded { .. }
            | Self::OutsideSchedule { .. }
            | Self::LogonRefused
            | Self::ApplicationFailed { .. }
            | Self::CallbackFailed { .. }
            | Self::Unanswerable(_)
            | Self::Halted(_) => EndedBy::Us,
            Self::LogonUnanswered
            | Self::LogonRefusedByPeer(_)
            | Self::LoggedOutByPeer
            | Self::PeerDidNotClose
            | Self::LogonTimedOut
            | Self::PeerDidNotRead
            | Self::SlowConsumer
            | Self::ResetUnanswered
            | Self::PeerMisbehaved(_)
            | Self::PeerExpectsMore { .. } => EndedBy::Peer,
            Self::ConnectionLost | Self::HeartbeatTimedOut => EndedBy::Network,
            Self::LoggedOutByUs | Self::LogoutTimedOut => EndedBy::Operator,
        }
    }
}

impl fmt::Display for EndedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Us => "us",
            Self::Peer => "peer",
            Self::Network => "network",
            Self::Operator => "operator",
        })
    }
}

/// What the counterparty did that ends the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Misbehavior {
    /// The first message was not a Logon (test case 1B-e).
    FirstMessageNotLogon,
    /// The Logon violates a rule (1S-d).
    InvalidLogon(LogonFault),
    /// A Logon arrived while the session was logged on.
    DuplicateLogon,
    /// MsgSeqNum too low without PossDupFlag (2c).
    MsgSeqNumTooLow {
        /// The sequence number that was expected.
        expected: SeqNum,
        /// The sequence number that was received.
        received: SeqNum,
    },
    /// MsgSeqNum is missing.
    NoMsgSeqNum,
    /// MsgSeqNum is not a number, or is larger than any that can be used.
    MalformedMsgSeqNum,
    /// BeginString differs from the session's (2i).
    BeginString,
    /// The CompIDs differ from the session's (2k).
    CompId,
    /// SendingTime is outside the threshold (2o).
    SendingTime {
        /// SendingTime.
        sent: Utc,
        /// Our time when the message was read.
        now: Utc,
        /// The threshold.
        limit: Duration,
    },
    /// OrigSendingTime of a possible duplicate is missing, is not a time, or is later than
    /// SendingTime (2f, 2g).
    OrigSendingTime,
    /// A gap was not filled after repeated requests.
    GapNeverFilled,
    /// The Logon has a HeartBtInt that the session does not accept
    /// ([`accepted_heart_bt_int`](crate::TimingSettings::accepted_heart_bt_int)).
    HeartBtInt {
        /// The counterparty's HeartBtInt (108), in seconds.
        received: u32,
        /// What the session accepts.
        accepted: AcceptedHeartBtInt,
    },
    /// The Logon is for tests and the session for production, or the reverse
    /// ([`test_message_indicator`](crate::ValidationSettings::test_message_indicator)).
    TestMessageIndicator {
        /// Whether the Logon has TestMessageIndicator (464) Y.
        is_test: bool,
    },
    /// A message was rejected, and the session ends with the first one
    /// ([`disconnect_on_error`](crate::ValidationSettings::disconnect_on_error)).
    InvalidMessage {
        /// MsgSeqNum of the message.
        seq: SeqNum,
    },
    /// A message was larger than is read past, or took too long to arrive
    /// ([`max_message_size`](crate::LimitSettings::max_message_size)).
    MessageTooLarge {
        /// The bytes that are read past at most.
        limit: usize,
    },
    /// Garbled pieces arrived in succession, without a message between them
    /// ([`max_garbled_messages`](crate::LimitSettings::max_garbled_messages)).
    Garbled {
        /// Their number.
        limit: u32,
    },
    /// More session-layer messages arrived than are allowed
    /// ([`max_session_message_rate`](crate::LimitSettings::max_session_message_rate)).
    SessionMessageRate {
        /// The allowed number a second.
        limit: u32,
    },
    /// More application messages arrived than are allowed
    /// ([`max_inbound_rate`](crate::ThrottleSettings::max_inbound_rate)).
    MessageRate {
        /// What is allowed.
        limit: Rate,
    },
    /// Messages that were not for the application wrote more to the store than is allowed
    /// ([`max_session_journal_growth`](crate::LimitSettings::max_session_journal_growth)).
    JournalGrowth {
        /// The allowed bytes a minute.
        limit: u64,
    },
}

/// Why a session is halted until somebody intervenes.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Halt {
    /// The application failed repeatedly on this message. `skip` or `retry` ends the halt.
    PoisonMessage {
        /// MsgSeqNum of the message.
        seq: SeqNum,
        /// The number of failed attempts.
        attempts: u32,
    },
    /// The store is damaged and must be repaired first.
    StoreDamaged {
        /// What is damaged.
        reason: String,
    },
    /// The store could not take a record.
    StoreFailed(StoreError),
    /// The application failed or panicked while it read the contents of the store.
    CallbackFailed {
        /// The callback.
        callback: &'static str,
        /// Its error, or "panic" if it panicked.
        why: String,
    },
}

impl Halt {
    /// A store that is damaged has to be repaired; one that failed is tried again.
    pub(crate) fn by_store(error: StoreError) -> Self {
        match error {
            StoreError::Damaged { place, reason } => {
                Self::StoreDamaged { reason: format!("{place}: {reason}") }
            }
            error => Self::StoreFailed(error),
        }
    }
}

impl fmt::Display for SessionEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ConnectionLost => f.write_str("the connection was lost without a Logout"),
            Self::LogonUnanswered => f.write_str(
                "the counterparty closed the connection instead of answering our Logon; compare BeginString, both CompIDs and whether its port expects TLS (SocketUseSSL) with its configuration, and read its log",
            ),
            Self::LogonRefusedByPeer(refusal) => refusal.fmt(f),
            Self::LoggedOutByPeer => f.write_str("the counterparty logged out"),
            Self::LoggedOutByUs => f.write_str("logged out"),
            Self::LogoutTimedOut => {
                f.write_str("the counterparty did not answer our Logout in time, or reset the sequence numbers instead")
            }
            Self::PeerDidNotClose => {
                f.write_str("the counterparty logged out and did not close the connection in time")
            }
            Self::LogonTimedOut => f.write_str("no Logon, or no answer to ours, came in time"),
            Self::HeartbeatTimedOut => {
                f.write_str("the counterparty fell silent and did not answer a TestRequest")
            }
            Self::PeerDidNotRead => {
                f.write_str("the counterparty did not read what was sent to it (SendTimeout)")
            }
            Self::SlowConsumer => f.write_str(
                "the counterparty read too slowly for too long (SlowConsumerTimeout); what it has not received is sent when it asks for it after its next logon",
            ),
            Self::ResetUnanswered => f.write_str(
                "the counterparty did not answer our Logon with ResetSeqNumFlag (141); compare the sequence numbers of both sides",
            ),
            Self::PeerMisbehaved(what) => what.fmt(f),
            Self::ScheduleEnded { next } => {
                f.write_str("the window of the session's schedule has ended")?;
                next.map_or(Ok(()), |next| write!(f, "; the next one begins at {next}"))
            }
            Self::OutsideSchedule { next } => {
                f.write_str("the Logon arrived outside the session's schedule")?;
                next.map_or(Ok(()), |next| write!(f, "; the next window begins at {next}"))
            }
            Self::PeerExpectsMore { expected, next_out } => write!(
                f,
                "the counterparty expects our MsgSeqNum (34) {expected} next, and ours is {next_out}: set or reset the sequence numbers of one side (`fixbolt journal set-numbers`, or ResetOnLogon=Y)"
            ),
            Self::LogonRefused => f.write_str("the application refused the logon"),
            Self::ApplicationFailed { seq, why } => {
                write!(f, "the application failed on message {seq}: {why}")
            }
            Self::CallbackFailed { callback, why } => {
                write!(f, "the application failed in {callback}: {why}")
            }
            Self::Unanswerable(error) => write!(f, "the session layer could not answer: {error}"),
            Self::Halted(halt) => write!(f, "the session is halted: {halt}"),
        }
    }
}

impl fmt::Display for Misbehavior {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FirstMessageNotLogon => f.write_str("the counterparty's first message was not a Logon"),
            Self::InvalidLogon(fault) => write!(f, "the counterparty's Logon was not valid: {fault}"),
            Self::DuplicateLogon => f.write_str("the counterparty sent a Logon while it was logged on"),
            Self::MsgSeqNumTooLow { expected, received } => write!(
                f,
                "the counterparty's MsgSeqNum (34) was too low: {expected} was expected, {received} was received"
            ),
            Self::NoMsgSeqNum => f.write_str("the counterparty sent a message without MsgSeqNum (34)"),
            Self::MalformedMsgSeqNum => f.write_str(
                "the counterparty sent a message with a malformed MsgSeqNum (34): it is not a number that can be used",
            ),
            Self::BeginString => {
                f.write_str("the counterparty sent another BeginString (8) than the session's")
            }
            Self::CompId => f.write_str("the counterparty sent other CompIDs (49, 56) than the session's"),
            Self::SendingTime { sent, now, limit } => {
                let (off, side) = match sent.0.checked_sub(now.0) {
                    Some(ahead) => (ahead, "ahead of"),
                    None => (now.0 - sent.0, "behind"),
                };
                write!(
                    f,
                    "the counterparty's SendingTime (52) was {:.3} s {side} our clock; the limit is {:.3} s",
                    Duration::from_nanos(off).as_secs_f64(),
                    limit.as_secs_f64()
                )
            }
            Self::OrigSendingTime => f.write_str(
                "the counterparty's OrigSendingTime (122) was missing, not a time, or later than SendingTime (52)",
            ),
            Self::GapNeverFilled => {
                f.write_str("the counterparty never sent messages that were asked for again and again")
            }
            Self::HeartBtInt { received, accepted } => write!(
                f,
                "the counterparty's Logon has HeartBtInt (108) {received}, and the session accepts {accepted} (AcceptedHeartBtInt)"
            ),
            Self::TestMessageIndicator { is_test: true } => f.write_str(
                "the counterparty's Logon is for tests (TestMessageIndicator 464 is Y), and the session is for production",
            ),
            Self::TestMessageIndicator { is_test: false } => f.write_str(
                "the counterparty's Logon is for production (TestMessageIndicator 464 is not Y), and the session is for tests",
            ),
            Self::InvalidMessage { seq } => {
                write!(f, "the counterparty's message {seq} was rejected, and the session ends with it (DisconnectOnError, ResetOnError)")
            }
            Self::MessageTooLarge { limit } => write!(
                f,
                "the counterparty sent a message of more than {limit} bytes, or one above MaxMessageSize that took more than a minute to arrive"
            ),
            Self::Garbled { limit } => {
                write!(f, "the counterparty sent {limit} garbled messages in succession (MaxGarbledMessages)")
            }
            Self::SessionMessageRate { limit } => write!(
                f,
                "the counterparty sent more than {limit} session-layer messages a second for five seconds (MaxSessionMessageRate)"
            ),
            Self::MessageRate { limit } => {
                write!(f, "the counterparty sent more than {limit} (MaxInboundRate)")
            }
            Self::JournalGrowth { limit } => write!(
                f,
                "the counterparty's messages that were not for the application added more than {limit} bytes a minute to the journal (MaxSessionJournalGrowth)"
            ),
        }
    }
}

impl fmt::Display for Halt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PoisonMessage { seq, attempts } => {
                write!(f, "the application failed {attempts} times on message {seq}: skip it or retry")
            }
            Self::StoreDamaged { reason } => write!(f, "the store is damaged: {reason}"),
            Self::StoreFailed(error) => write!(f, "the store failed and is tried again: {error}"),
            Self::CallbackFailed { callback, why } => {
                write!(f, "the application failed in {callback}: {why}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::logon::RefusingAnswer;

    /// Returns the variant after this one, in the order of the enum: a new one does not compile
    /// until it has its place here.
    fn after(end: Option<&SessionEnd>) -> Option<SessionEnd> {
        use SessionEnd as E;
        let seq = SeqNum(7);
        Some(match end {
            None => E::ConnectionLost,
            Some(E::ConnectionLost) => E::LogonUnanswered,
            Some(E::LogonUnanswered) => {
                let answer = RefusingAnswer::Logout { status: None };
                E::LogonRefusedByPeer(Box::new(LogonRefusal { answer, text: String::new() }))
            }
            Some(E::LogonRefusedByPeer(_)) => E::LoggedOutByPeer,
            Some(E::LoggedOutByPeer) => E::LoggedOutByUs,
            Some(E::LoggedOutByUs) => E::LogoutTimedOut,
            Some(E::LogoutTimedOut) => E::PeerDidNotClose,
            Some(E::PeerDidNotClose) => E::LogonTimedOut,
            Some(E::LogonTimedOut) => E::HeartbeatTimedOut,
            Some(E::HeartbeatTimedOut) => E::PeerDidNotRead,
            Some(E::PeerDidNotRead) => E::SlowConsumer,
            Some(E::SlowConsumer) => E::ResetUnanswered,
            Some(E::ResetUnanswered) => E::PeerMisbehaved(Misbehavior::GapNeverFilled),
            Some(E::PeerMisbehaved(_)) => E::ScheduleEnded { next: None },
            Some(E::ScheduleEnded { .. }) => E::OutsideSchedule { next: None },
            Some(E::OutsideSchedule { .. }) => E::PeerExpectsMore { expected: seq, next_out: SeqNum::ONE },
            Some(E::PeerExpectsMore { .. }) => E::LogonRefused,
            Some(E::LogonRefused) => E::ApplicationFailed { seq, why: String::new() },
            Some(E::ApplicationFailed { .. }) => E::CallbackFailed { callback: "act", why: String::new() },
            Some(E::CallbackFailed { .. }) => E::Unanswerable(Box::new(SendError::BackPressure)),
            Some(E::Unanswerable(_)) => E::Halted(Halt::PoisonMessage { seq, attempts: 3 }),
            Some(E::Halted(_)) => return None,
        })
    }

    #[test]
    fn the_documents_table_says_of_every_end_by_whom_it_is() {
        let page = include_str!("../../../../docs/session.md");
        let (_, rows) = page.split_once("| end | by |").unwrap();
        let mut rows = rows.lines().skip(2).take_while(|line| line.starts_with('|'));
        let mut end = after(None);
        while let Some(this) = end {
            let debug = format!("{this:?}");
            let name = debug.split([' ', '(']).next().unwrap();
            let row = rows.next().unwrap_or_default();
            assert!(
                row.starts_with(&format!("| `{name}` | {} | ", this.by())),
                "{name}, {}: {row}",
                this.by()
            );
            end = after(Some(&this));
        }
        assert_eq!(rows.next(), None);
    }
}
