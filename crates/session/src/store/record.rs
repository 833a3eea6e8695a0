//! Records, positions and errors of a message store.

use core::fmt;
use core::ops::RangeInclusive;

use fixbolt_codec::SeqNum;

use crate::values::time::{Mono, Utc};

/// A position in the order of commits of one store. It grows with every commit and has no meaning
/// across stores or restarts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Position(pub u64);

/// What a commit has reached.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Committed {
    /// Where it is in the order of commits.
    pub position: Position,
    /// Whether it, and all before it, is as safe as the sync policy promises, for each session that
    /// it has records of. If not, the store [acknowledges](crate::store::Acknowledges) it later.
    pub is_durable: bool,
}

/// What a store keeps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StoreKind {
    /// Whether messages can be read back. If not, no message can be sent later than at once: a gap
    /// fill is sent for messages that are requested again.
    pub keeps_messages: bool,
    /// Whether a session that is closed and opened again finds its messages. If not, it is kept
    /// open as long as there is room for it.
    pub survives_close: bool,
}

impl StoreKind {
    /// Messages are kept, also of sessions that are closed.
    pub const DURABLE: Self = Self { keeps_messages: true, survives_close: true };
}

/// The number of times the session's sequence numbers were reset since its store was created.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Generation(pub u32);

/// The number of a transport connection within its session, counted from 1 over the life of the
/// store; 0 before the first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct ConnectionNumber(pub u32);

/// The direction of a stored message, or the kind of a record that is not a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RecordKind {
    /// A message that the counterparty sent.
    Inbound,
    /// A message that we sent or were about to send.
    Outbound,
    /// The sequence numbers were reset and a new generation begins. The body says who did it and
    /// why, in plain text.
    Reset,
    /// An attempt to process an inbound message failed. `seq` is that of the message; the body says
    /// why.
    Attempt,
    /// Sequence numbers were changed within the generation (SequenceReset, skip, operator). The
    /// body says who did it and why.
    Adjust,
    /// A message of the application that waits for a throttle: it has no sequence number yet. `seq`
    /// is its number among those that have waited, counted from 1 over the life of the store; the
    /// body is MsgType, 43 and 122 of a possible duplicate, and what the application wrote.
    Waiting,
    /// Messages that waited will not be sent: those up to the number `seq`. The body says why.
    Dropped,
}

/// Flags of a record.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct RecordFlags(pub u16);

impl RecordFlags {
    /// PossDupFlag (43) was set.
    pub const POSS_DUP: Self = Self(1);
    /// A session-layer message (MsgType 0 1 2 3 4 5 A).
    pub const ADMIN: Self = Self(2);
    /// Secrets in the body were replaced by `*` before it was stored.
    pub const MASKED: Self = Self(4);
    /// The application processed the message.
    pub const DELIVERED: Self = Self(8);
    /// The message must not be sent again: a gap fill replaces it.
    pub const NO_RESEND: Self = Self(16);
    /// The message is the oldest of those that waited ([`RecordKind::Waiting`]).
    pub const WAITED: Self = Self(32);

    /// Returns the union of both sets of flags.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns whether every flag of `other` is set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// One record of the store. Its generation is the session's current one, which the store keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record<'r> {
    /// The direction of the message, or the kind of the record.
    pub kind: RecordKind,
    /// Its flags.
    pub flags: RecordFlags,
    /// MsgSeqNum (34) of the message. For [`RecordKind::Reset`] and [`RecordKind::Adjust`]: the new
    /// NextNumOut. For [`RecordKind::Waiting`] and [`RecordKind::Dropped`]: the number among those
    /// that have waited.
    pub seq: SeqNum,
    /// NextNumIn after the transaction is committed.
    pub next_in: SeqNum,
    /// The transport connection.
    pub connection: ConnectionNumber,
    /// MsgSeqNum of the inbound message that caused this record; `None` if none did.
    pub cause: Option<SeqNum>,
    /// Wall clock of the transaction; after a jump of it, the time that counts for the schedule
    /// ([`TimingSettings::clock_jump_hold`](crate::TimingSettings)).
    pub utc: Utc,
    /// Monotonic clock of the transaction.
    pub mono: Mono,
    /// The whole message as sent or received (secrets masked), or the text of the other kinds.
    pub body: &'r [u8],
}

/// Which messages wait for a throttle, by their numbers among those that have waited. They leave in
/// that order, and a reset of the sequence numbers ends their wait.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct WaitingMessages {
    /// How many wait.
    pub count: u32,
    /// The number of the last one that began to wait; 0 if none has.
    pub last: u64,
}

impl WaitingMessages {
    /// Returns the number of the oldest one; if none waits, that of the next one.
    #[must_use]
    pub const fn first(self) -> u64 {
        (self.last + 1).saturating_sub(self.count as u64)
    }

    /// Returns the numbers of those that wait, oldest first.
    #[must_use]
    pub const fn numbers(self) -> RangeInclusive<u64> {
        self.first()..=self.last
    }

    /// Returns which ones wait after a record with these properties.
    #[inline]
    #[must_use]
    pub fn after(mut self, kind: RecordKind, flags: RecordFlags, seq: SeqNum) -> Self {
        match kind {
            RecordKind::Waiting => (self.count, self.last) = (self.count.saturating_add(1), seq.0),
            RecordKind::Outbound if flags.contains(RecordFlags::WAITED) => {
                self.count = self.count.saturating_sub(1);
            }
            RecordKind::Dropped => {
                let rest = self.last.saturating_sub(seq.0);
                self.count = self.count.min(u32::try_from(rest).unwrap_or(u32::MAX));
            }
            RecordKind::Reset => self.count = 0,
            _ => {}
        }
        self
    }
}

/// What a store holds of a session when it is opened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recovered {
    /// Current generation.
    pub generation: Generation,
    /// Next inbound MsgSeqNum expected.
    pub next_in: SeqNum,
    /// Next outbound MsgSeqNum to use.
    pub next_out: SeqNum,
    /// The number of the last connection.
    pub connection: ConnectionNumber,
    /// When the current generation began; `None` if the store was just created.
    pub since: Option<Utc>,
    /// Failed attempts at the inbound message `next_in`.
    pub attempts: u32,
    /// The messages that wait for a throttle.
    pub waiting: WaitingMessages,
    /// Outbound sequence numbers given up after an unclean stop: they may have been sent, and their
    /// bodies are lost. They are gap-filled on request.
    pub given_up: Option<RangeInclusive<SeqNum>>,
    /// The numbers of messages that waited for a throttle, and may have been sent under the
    /// sequence numbers given up. They no longer wait: sent again, they could be executed twice.
    pub in_doubt: Option<RangeInclusive<u64>>,
    /// Why the session must not start until its store has been repaired.
    pub damage: Option<String>,
}

impl Default for Recovered {
    fn default() -> Self {
        Self {
            generation: Generation(0),
            next_in: SeqNum::ONE,
            next_out: SeqNum::ONE,
            connection: ConnectionNumber(0),
            since: None,
            attempts: 0,
            waiting: WaitingMessages::default(),
            given_up: None,
            in_doubt: None,
            damage: None,
        }
    }
}

/// Why a store could not do what was asked. Every variant stops the session in a named state; none
/// is retried silently.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no room for the record: the disk or a configured limit is full.
    Full {
        /// The file or directory, as text.
        place: String,
    },
    /// The operating system reported an error.
    Io {
        /// The operation and the file.
        doing: String,
        /// The system's message.
        reason: String,
    },
    /// Another process holds the store.
    Locked {
        /// The directory.
        place: String,
        /// Host, process and start time of the process that holds it, as it recorded them.
        holder: String,
    },
    /// The contents of the store are inconsistent.
    Damaged {
        /// File and offset.
        place: String,
        /// What is wrong there.
        reason: String,
    },
    /// The record would use an outbound sequence number again, or lower NextNumOut within the
    /// generation.
    NumberReused {
        /// MsgSeqNum of the record.
        seq: SeqNum,
        /// The lowest sequence number that is unused.
        next_out: SeqNum,
    },
    /// The record is larger than the store accepts.
    TooLarge {
        /// Size of the record in bytes.
        bytes: usize,
        /// The largest size that the store accepts, in bytes.
        limit: usize,
    },
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full { place } => write!(f, "{place}: no space left for the journal"),
            Self::Io { doing, reason } => write!(f, "{doing}: {reason}"),
            Self::Locked { place, holder } => write!(f, "{place}: in use by {holder}"),
            Self::Damaged { place, reason } => write!(f, "{place}: {reason}"),
            Self::NumberReused { seq, next_out } => {
                write!(f, "outbound sequence number {seq} refused: the next unused one is {next_out}")
            }
            Self::TooLarge { bytes, limit } => {
                write!(f, "a record of {bytes} bytes; the store accepts at most {limit}")
            }
        }
    }
}

impl core::error::Error for StoreError {}
