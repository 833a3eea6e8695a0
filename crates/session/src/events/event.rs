//! What a session reports to its application: for logs, metrics and reactions outside a
//! transaction.

use core::error::Error;
use core::fmt;
use core::time::Duration;

use fixbolt_codec::{FrameError, IndexError, Message, Redacted, SeqNum};
use fixbolt_dictionary::{EntryOrder, Violation};

use crate::events::attempt::FailedAttempt;
use crate::events::end::SessionEnd;
use crate::events::error::SendError;
use crate::events::rejects::Rejection;
use crate::values::clock_watch::Clock;
use crate::values::codec_timing::CodecTime;
use crate::values::waits_for::WaitsFor;

/// Identifies a message that was accepted, until it has a sequence number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Ticket {
    /// Another thread has posted it. Counted from 1 in each session, anew in each process. Of one
    /// that waits for a throttle when the process ends or the session is removed, a later one tells
    /// as [`Ticket::Waiting`].
    #[non_exhaustive]
    Posted(u64),
    /// It waits for a throttle
    /// ([`OutboundThrottle::Wait`](crate::OutboundThrottle::Wait)). Counted from 1 over the life of
    /// the session's store.
    #[non_exhaustive]
    Waiting(u64),
}

impl Ticket {
    /// Returns its number among those of its kind.
    #[must_use]
    pub const fn number(self) -> u64 {
        match self {
            Self::Posted(number) | Self::Waiting(number) => number,
        }
    }
}

impl fmt::Display for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Posted(number) => write!(f, "posted message {number}"),
            Self::Waiting(number) => write!(f, "waiting message {number}"),
        }
    }
}

/// What has become of a message that a session has accepted for sending.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Accepted {
    /// It has this MsgSeqNum (34).
    Numbered(SeqNum),
    /// It waits for a throttle and has no sequence number yet:
    /// [`Event::Sent`] or [`Event::NotSent`] follows with the ticket.
    Waits(Ticket),
}

impl Accepted {
    /// Returns MsgSeqNum, if the message has one.
    #[must_use]
    pub const fn seq(self) -> Option<SeqNum> {
        match self {
            Self::Numbered(seq) => Some(seq),
            Self::Waits(_) => None,
        }
    }
}

impl fmt::Display for Accepted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Numbered(seq) => write!(f, "message {seq}"),
            Self::Waits(ticket) => ticket.fmt(f),
        }
    }
}

/// Something that happened to a session.
///
/// An application whose operators learn why nobody is logged on:
///
/// ```
/// use fixbolt_session::{AttemptFailure, Event, Misbehavior, SessionEnd, TlsFailure};
///
/// fn report(session: &str, event: &Event<'_>) -> Option<String> {
///     match event {
///         Event::AttemptFailed(attempt) => match &attempt.why {
///             AttemptFailure::Tls(TlsFailure::Certificate(fault)) => {
///                 Some(format!("{session}: call the counterparty's administrator: {fault}"))
///             }
///             // Host, address, reason and time of the next attempt.
///             _ if attempt.attempts >= 3 => Some(format!("{session}: {attempt}")),
///             _ => None,
///         },
///         Event::Ended(SessionEnd::PeerMisbehaved(
///             what @ Misbehavior::MsgSeqNumTooLow { expected, .. },
///         )) => Some(format!("{session}: {what}; set NextNumOut there to {expected}")),
///         _ => None,
///     }
/// }
///
/// use fixbolt_session::FailedAttempt;
///
/// let why = AttemptFailure::Refused { error: "connection refused".to_owned() };
/// let mut attempt = FailedAttempt::new("venue.example".to_owned(), 9880, why);
/// attempt.attempts = 3;
/// assert_eq!(
///     report("TRADER->VENUE", &Event::AttemptFailed(&attempt)).as_deref(),
///     Some("TRADER->VENUE: cannot connect to venue.example:9880: connection refused"),
/// );
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event<'e> {
    /// The Logons were exchanged; application messages may be sent and received.
    LoggedOn,
    /// A connection is over whose messages were timed
    /// ([`TimingSettings::codec_timing`](crate::TimingSettings::codec_timing)): once for each
    /// operation, before [`Event::Ended`].
    CodecTime(CodecTime),
    /// A connection ended.
    Ended(&'e SessionEnd),
    /// An attempt of an initiator to connect and to log on failed. If there was a connection,
    /// [`Event::Ended`] came before.
    AttemptFailed(&'e FailedAttempt),
    /// Bytes that are not a message were dropped (2d, 3b, 3c).
    Garbled {
        /// The dropped bytes, with the values of
        /// [`SessionSettings::masked_tags`](crate::SessionSettings::masked_tags) and whatever may
        /// be the rest of one replaced by `*`.
        bytes: Redacted<'e>,
        /// Why they were dropped.
        error: GarbledError,
    },
    /// The counterparty's message was rejected (35=3 or j).
    Rejected {
        /// MsgSeqNum of the rejected message.
        seq: SeqNum,
        /// SessionRejectReason (373) or BusinessRejectReason (380).
        reason: u16,
        /// RefTagID (371): the field in error as it was sent; empty if the answer names none.
        tag: Redacted<'e>,
        /// Text (58) of the answer.
        text: &'e str,
        /// What was expected, if it was rejected for the order of a group.
        order: Option<EntryOrder>,
    },
    /// The counterparty's message has a violation that the policy only warns of; the message is
    /// processed.
    Warned {
        /// MsgSeqNum of the message.
        seq: SeqNum,
        /// The violation.
        violation: Violation<'e>,
    },
    /// A message of ours has a violation that the outbound policy only warns of; it was sent.
    /// Reported once its transaction is committed.
    WarnedOutbound {
        /// MsgSeqNum of the message.
        seq: SeqNum,
        /// The violation.
        violation: Violation<'e>,
    },
    /// The counterparty rejected a message of ours (35=3).
    RejectReceived {
        /// The Reject.
        message: Message<'e>,
        /// RefSeqNum (45): the MsgSeqNum of the rejected message, if the Reject names one.
        seq: Option<SeqNum>,
        /// Text (58); empty if there is none.
        text: Redacted<'e>,
    },
    /// The counterparty sent a Logout, or answered ours. For an initiator that is not logged on:
    /// its logon was refused.
    LogoutReceived {
        /// The Logout.
        message: Message<'e>,
        /// Text (58); empty if there is none.
        text: Redacted<'e>,
    },
    /// Messages are missing; a ResendRequest was sent.
    GapDetected {
        /// The sequence number that was expected.
        expected: SeqNum,
        /// The sequence number that was received.
        received: SeqNum,
    },
    /// The counterparty requested messages again: with a ResendRequest, or with
    /// NextExpectedMsgSeqNum (789) of its Logon. [`Event::Unreached`] says which of them are not
    /// sent. A request that is refused is an [`Event::Rejected`] instead.
    ResendRequested {
        /// The first sequence number.
        begin: SeqNum,
        /// The last sequence number.
        end: SeqNum,
    },
    /// The sequence numbers were reset or changed.
    SequenceChanged {
        /// The next sequence number expected.
        next_in: SeqNum,
        /// The next sequence number to use.
        next_out: SeqNum,
        /// Why.
        reason: &'e str,
    },
    /// A reset of the sequence numbers in the session
    /// ([`Sessions::reset_in_session`](crate::Sessions::reset_in_session)) was given up before our
    /// Logon; the session continues with its numbers.
    ResetAbandoned {
        /// Why.
        why: &'e str,
    },
    /// The session was opened and its store holds nothing: sequence numbers begin at 1. For a
    /// session that ran before, this says that its journal is not where it was.
    NewStore,
    /// Sequence numbers were given up after an unclean stop of the machine: their messages may be
    /// lost.
    NumbersGivenUp {
        /// The first sequence number.
        begin: SeqNum,
        /// The last sequence number.
        end: SeqNum,
    },
    /// The store found damage in messages of the past, or cannot archive them. The session
    /// continues; what is lost is gap-filled if the counterparty requests it.
    StoreWarning {
        /// The file, and what is wrong there.
        what: &'e str,
    },
    /// The counterparty reads too slowly: more waits for it than the high watermark
    /// ([`outbound_watermarks`](crate::LimitSettings::outbound_watermarks)), and its
    /// socket accepts no more for now. Reported once until [`Event::SlowConsumerRecovered`] or the
    /// end of the connection.
    SlowConsumer {
        /// The bytes that wait.
        queued: usize,
        /// The bytes that can wait: from half of it on, nothing is sent but answers.
        size: usize,
    },
    /// A slow counterparty has caught up: no more waits for it than the low watermark
    /// ([`outbound_watermarks`](crate::LimitSettings::outbound_watermarks)).
    SlowConsumerRecovered {
        /// The bytes that still wait.
        queued: usize,
        /// How long it was slow.
        after: Duration,
    },
    /// The counterparty sent a message again that was already processed; it was ignored.
    DuplicateIgnored {
        /// Its MsgSeqNum.
        seq: SeqNum,
    },
    /// The turn of an application message of the counterparty came after the end of the session by
    /// its schedule, the sequence numbers are reset before the next connection, and so no answer to
    /// it could reach the counterparty. The application does not get it; it is in the journal, as
    /// one that was not delivered.
    NotTaken {
        /// The message.
        message: Message<'e>,
        /// Its MsgSeqNum.
        seq: SeqNum,
    },
    /// The wall clock has jumped, and its time does not count for the session's schedule
    /// ([`TimingSettings::clock_jump_hold`](crate::TimingSettings::clock_jump_hold)), or it
    /// counts again. Never [`Clock::Steady`].
    Clock(Clock),
    /// Messages of the application wait from now on. Told once a minute at most; the session's
    /// status always says what they wait for.
    Waits(WaitsFor),
    /// A message that another thread posted, or that waited for a throttle, has a sequence number,
    /// is journalled, and is sent.
    Sent {
        /// The ticket that its sender received for it. A message that has waited since before the
        /// session's store was opened has a [`Ticket::Waiting`], whoever sent it.
        ticket: Ticket,
        /// Its MsgSeqNum.
        seq: SeqNum,
    },
    /// A message that another thread posted, or that waited for a throttle, was not sent and will
    /// not be; no number was used.
    NotSent {
        /// The ticket that its sender received for it.
        ticket: Ticket,
        /// Why not.
        why: &'e SendError,
    },
    /// Messages that were accepted for sending can no longer reach the counterparty: a gap fill
    /// replaces them, or the sequence numbers were reset. The range may include messages of the
    /// session layer.
    Unreached {
        /// The first sequence number.
        begin: SeqNum,
        /// The last sequence number.
        end: SeqNum,
        /// Why not.
        why: Unreached,
    },
    /// A halt has ended; the session goes on with its next connection.
    Resumed,
    /// A callback failed or panicked while the session had no connection to close.
    CallbackFailed {
        /// The callback.
        callback: &'static str,
        /// Its error, or "panic" if it panicked.
        why: &'e str,
    },
    /// A remark for the log.
    Note(&'e str),
}

impl fmt::Display for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let range = |f: &mut fmt::Formatter<'_>, begin: &SeqNum, end: &SeqNum| {
            if begin == end { write!(f, "{begin}") } else { write!(f, "{begin} to {end}") }
        };
        let text = |f: &mut fmt::Formatter<'_>, text: &Redacted<'_>| {
            if text.0.is_empty() { Ok(()) } else { write!(f, ": {text}") }
        };
        match self {
            Self::LoggedOn => f.write_str("logged on"),
            Self::CodecTime(time) => time.fmt(f),
            Self::Ended(end) => write!(f, "the connection ended: {end}"),
            Self::AttemptFailed(attempt) => attempt.fmt(f),
            Self::Garbled { bytes, error } => {
                match bytes.0.len() {
                    1 => f.write_str("1 garbled byte was dropped: ")?,
                    len => write!(f, "{len} garbled bytes were dropped: ")?,
                }
                write!(f, "{error}")
            }
            Self::Rejected { seq, reason, tag, text, order } => {
                write!(f, "rejected message {seq} of the counterparty, reason {reason}")?;
                if !tag.0.is_empty() {
                    write!(f, ", field {tag}")?;
                }
                if !text.is_empty() {
                    write!(f, ": {text}")?;
                }
                order.map_or(Ok(()), |order| write!(f, ", {order}"))
            }
            Self::Warned { seq, violation } => {
                write!(f, "message {seq} of the counterparty is not valid: {violation}")
            }
            Self::WarnedOutbound { seq, violation } => {
                write!(f, "message {seq} of ours is not valid: {violation}")
            }
            Self::RejectReceived { message, seq, text: words } => {
                f.write_str("the counterparty rejected ")?;
                match seq {
                    Some(seq) => write!(f, "message {seq}")?,
                    None => f.write_str("a message of ours")?,
                }
                let words = words.to_string();
                let rejection = Rejection::of(message, &words);
                if rejection.is_empty() { Ok(()) } else { write!(f, ": {rejection}") }
            }
            Self::LogoutReceived { text: words, .. } => {
                f.write_str("the counterparty sent a Logout")?;
                text(f, words)
            }
            Self::GapDetected { expected, received } => {
                write!(f, "message {received} arrived, {expected} was expected: requested the missing ones")
            }
            Self::ResendRequested { begin, end } => {
                f.write_str("the counterparty requested messages again: ")?;
                range(f, begin, end)
            }
            Self::SequenceChanged { next_in, next_out, reason } => {
                write!(f, "the next sequence numbers are {next_in} in and {next_out} out: {reason}")
            }
            Self::ResetAbandoned { why } => {
                write!(f, "the reset of the sequence numbers was abandoned: {why}")
            }
            Self::NewStore => f.write_str("the store is new: sequence numbers begin at 1"),
            Self::NumbersGivenUp { begin, end } => {
                f.write_str("messages that may be lost after an unclean stop: ")?;
                range(f, begin, end)
            }
            Self::StoreWarning { what } => write!(f, "the store warns: {what}"),
            Self::SlowConsumer { queued, size } => {
                write!(f, "the counterparty reads too slowly: {queued} of {size} bytes wait for it")
            }
            Self::SlowConsumerRecovered { queued, after } => {
                write!(
                    f,
                    "the counterparty reads fast enough again after {after:.3?}: {queued} bytes wait for it"
                )
            }
            Self::DuplicateIgnored { seq } => {
                write!(f, "message {seq} was processed before and is ignored")
            }
            Self::NotTaken { message, seq } => {
                let msg_type = Redacted(message.msg_type());
                write!(f, "message {seq} (35={msg_type}) was not taken: the session has ended")
            }
            Self::Clock(clock) => clock.fmt(f),
            Self::Waits(what) => write!(f, "messages of the application wait for {what}"),
            Self::Sent { ticket, seq } => write!(f, "{ticket} was sent as message {seq}"),
            Self::NotSent { ticket, why } => write!(f, "{ticket} was not sent: {why}"),
            Self::Unreached { begin, end, why } => {
                f.write_str("messages that do not reach the counterparty: ")?;
                range(f, begin, end)?;
                write!(f, ": {why}")
            }
            Self::Resumed => f.write_str("the halt has ended"),
            Self::CallbackFailed { callback, why } => {
                write!(f, "the application failed in {callback}: {why}")
            }
            Self::Note(note) => f.write_str(note),
        }
    }
}

/// Why messages that were accepted for sending do not reach the counterparty.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Unreached {
    /// The store has no message under these sequence numbers: it keeps none, has dropped them, or
    /// an operator skipped them.
    NotStored,
    /// The message is larger than the counterparty accepts (MaxMessageSize 383 of its Logon).
    TooLarge {
        /// The largest message that it accepts, in bytes.
        limit: usize,
    },
    /// The sequence numbers were reset before the message was sent.
    Reset,
    /// The message has secrets, which are masked in the store
    /// ([`SessionSettings::masked_tags`](crate::SessionSettings::masked_tags)), so it can be sent
    /// only when it is written: not again, and not later because of a replay or a missing logon.
    Masked,
    /// The counterparty requested the messages again, but they are older than
    /// [`ResendSettings::resend_horizon`](crate::ResendSettings::resend_horizon). It may have
    /// received them when they were sent.
    BeyondHorizon {
        /// The setting, in sequence numbers.
        horizon: u64,
    },
    /// The counterparty requested more messages again than
    /// [`ResendSettings::max_resend_range`](crate::ResendSettings::max_resend_range); the newest
    /// ones are sent.
    BeyondRange {
        /// The setting, in sequence numbers.
        most: u64,
    },
    /// The counterparty requested the messages again, and they were sent again as often as
    /// [`ResendSettings::max_resends`](crate::ResendSettings::max_resends) allows.
    SentBefore {
        /// The setting.
        times: u32,
    },
    /// The counterparty requested the messages again, and the application has them gap-filled
    /// ([`ResendAnswer`](crate::ResendAnswer)).
    ByApplication,
}

impl fmt::Display for Unreached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStored => f.write_str("the store has no message under these sequence numbers"),
            Self::TooLarge { limit } => {
                write!(f, "larger than the {limit} bytes that the counterparty accepts")
            }
            Self::Reset => f.write_str("the sequence numbers were reset before the message was sent"),
            Self::Masked => f.write_str("their secrets are masked in the store"),
            Self::BeyondHorizon { horizon } => {
                write!(f, "requested again, but further back from NextNumOut than ResendHorizon={horizon}")
            }
            Self::BeyondRange { most } => {
                write!(f, "requested again, but more than MaxResendRange={most} at once")
            }
            Self::SentBefore { times } => {
                write!(f, "requested again, but sent again as often as MaxResends={times} allows")
            }
            Self::ByApplication => f.write_str("requested again, and the application has them gap-filled"),
        }
    }
}

/// Why bytes were dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum GarbledError {
    /// They are not a message.
    Frame(FrameError),
    /// They are a message with a wrong checksum or without MsgType.
    Index(IndexError),
    /// They belong to garbled bytes that were already reported.
    Continued,
}

impl fmt::Display for GarbledError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Frame(error) => error.fmt(f),
            Self::Index(error) => error.fmt(f),
            Self::Continued => f.write_str("a continuation of the garbled bytes before it"),
        }
    }
}

impl Error for GarbledError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Frame(error) => error.source(),
            Self::Index(error) => error.source(),
            Self::Continued => None,
        }
    }
}
