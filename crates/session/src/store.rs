//! What the session core asks of a message store: one store a worker, one commit a turn, acknowledgement that may come later.
//!
//! The core appends the inbound message and everything written because of it between [`Store::begin`] and [`Store::commit`];
//! all of it becomes visible together or not at all. Nothing goes on the wire before [`Store::durable`] has reached the
//! position that its commit returned. Implementations live in `fixbolt-journal`; this module refuses to know about files.

use core::fmt;
use core::ops::RangeInclusive;
use std::sync::Arc;

use fixbolt_codec::SeqNum;

use crate::id::SessionId;
pub use crate::key::SessionKey;
use crate::time::{Mono, Utc};
use crate::waker::WorkerWaker;

/// A place in the order of commits of one store. Grows with every commit; meaningless across stores and restarts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Position(pub u64);

/// How often the session's sequence numbers were reset since its store was created.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Generation(pub u32);

/// A transport connection's number within its session, counted from 1 over the life of the store; 0 before the first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct ConnectionNumber(pub u32);

/// Which way a stored message travelled, or that the record is no message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RecordKind {
    /// A message the counterparty sent.
    Inbound,
    /// A message we sent (or were about to send).
    Outbound,
    /// Sequence numbers were set anew: a new generation begins. The body says who and why, in plain text.
    Reset,
    /// One more attempt to process an inbound message failed; `seq` is the message's, the body says why.
    Attempt,
    /// Sequence numbers were changed within the generation (SequenceReset, skip, operator); the body says who and why.
    Adjust,
}

/// Marks on a record.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct RecordFlags(pub u16);

impl RecordFlags {
    /// PossDupFlag (43) was set.
    pub const POSS_DUP: Self = Self(1);
    /// A session-layer message (MsgType 0 1 2 3 4 5 A).
    pub const ADMIN: Self = Self(2);
    /// Secrets in the body were replaced by `*` before it was stored.
    pub const MASKED: Self = Self(4);
    /// The application has processed the message.
    pub const DELIVERED: Self = Self(8);
    /// Never resend: gap-fill it.
    pub const NO_RESEND: Self = Self(16);

    /// Both sets of marks.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether every mark of `other` is set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// One record of the store. The generation is the session's current one, kept by the store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record<'r> {
    /// Message of which direction, or what else.
    pub kind: RecordKind,
    /// Marks.
    pub flags: RecordFlags,
    /// MsgSeqNum (34) of the message. For [`RecordKind::Reset`] and [`RecordKind::Adjust`]: the new NextNumOut.
    pub seq: SeqNum,
    /// NextNumIn as it is once the turn is committed.
    pub next_in: SeqNum,
    /// Which transport connection.
    pub connection: ConnectionNumber,
    /// MsgSeqNum of the inbound message that caused this record; `None` when nothing inbound did.
    pub cause: Option<SeqNum>,
    /// Wall clock of the turn.
    pub utc: Utc,
    /// Monotonic clock of the turn.
    pub mono: Mono,
    /// The whole message as on the wire (secrets masked), or the text of the other kinds.
    pub body: &'r [u8],
}

/// What a store knows of a session when it is opened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recovered {
    /// Current generation.
    pub generation: Generation,
    /// Next inbound MsgSeqNum expected.
    pub next_in: SeqNum,
    /// Next outbound MsgSeqNum to use.
    pub next_out: SeqNum,
    /// The last connection's number.
    pub connection: ConnectionNumber,
    /// When the current generation began; `None` for a store that was just created.
    pub since: Option<Utc>,
    /// Failed attempts at the inbound message `next_in`.
    pub attempts: u32,
    /// Outbound numbers given up after an unclean stop: they may have been on the wire, their bodies are lost. They are
    /// gap-filled when asked for.
    pub given_up: Option<RangeInclusive<SeqNum>>,
    /// Why the session must not start before someone repairs its store.
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
            given_up: None,
            damage: None,
        }
    }
}

/// Why a store could not do what was asked. Every variant stops the session in a named state; none is retried silently.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// No room for the record: the disk or a configured limit is full.
    Full {
        /// The file or directory, as text.
        place: String,
    },
    /// The operating system refused.
    Io {
        /// What was being done, and to which file.
        doing: String,
        /// The system's reason.
        reason: String,
    },
    /// Another process holds the store.
    Locked {
        /// The directory.
        place: String,
        /// Host, process and start time of the holder, as it wrote them.
        holder: String,
    },
    /// The store's bytes contradict themselves.
    Damaged {
        /// File and offset.
        place: String,
        /// What is wrong there.
        reason: String,
    },
    /// The record would use an outbound number a second time, or let NextNumOut go down within the generation.
    NumberReused {
        /// MsgSeqNum of the record.
        seq: SeqNum,
        /// The lowest number still free.
        next_out: SeqNum,
    },
    /// The record is larger than the store takes.
    TooLarge {
        /// Bytes of the record.
        bytes: usize,
        /// Bytes the store takes at most.
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
                write!(f, "outbound number {seq} refused: the next free one is {next_out}")
            }
            Self::TooLarge { bytes, limit } => {
                write!(f, "a record of {bytes} bytes; the store takes {limit} at most")
            }
        }
    }
}

impl core::error::Error for StoreError {}

/// The message store of one worker.
///
/// Order of calls: `open` each session; then, for every transaction, `begin`, any number of `append`s (to any open
/// sessions), and one of `commit` or `rollback`. `append` outside a transaction is a caller's mistake and panics. A session
/// may be closed and opened again, under another key.
///
/// Outbound records with PossDupFlag are copies: kept for the audit, never read back for a resend; they may
/// have a number that was used. Any other outbound record must have a number not used in its generation.
pub trait Store: Send {
    /// Opens or creates the store of `session`, which is called `key` from now on, and returns what it holds.
    ///
    /// # Errors
    /// [`StoreError::Locked`] when another process has it, [`StoreError::Io`] and [`StoreError::Full`] from the system.
    /// Damage is no error here: it is told in [`Recovered::damage`].
    fn open(&mut self, key: SessionKey, session: &SessionId) -> Result<Recovered, StoreError>;

    /// Closes the session's store cleanly and frees its lock.
    ///
    /// # Errors
    /// [`StoreError::Io`] when the clean mark could not be written.
    fn close(&mut self, session: SessionKey) -> Result<(), StoreError>;

    /// Begins a turn.
    fn begin(&mut self);

    /// Adds a record to the turn. A [`RecordKind::Reset`] record opens the session's next generation and belongs to it.
    ///
    /// # Errors
    /// The turn can no longer be committed; the caller rolls it back.
    fn append(&mut self, session: SessionKey, record: &Record<'_>) -> Result<(), StoreError>;

    /// Makes the turn's records visible, together. A turn without records gives the position of the last one.
    ///
    /// # Errors
    /// Nothing of the turn is visible then.
    fn commit(&mut self) -> Result<Position, StoreError>;

    /// Forgets the turn.
    fn rollback(&mut self);

    /// How far commits are as safe as the sync policy promises.
    fn durable(&self) -> Position;

    /// The first outbound message of `generation` with a number in `range`, if there is one.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when the bytes no longer match their checksum.
    fn read(
        &mut self,
        session: SessionKey,
        generation: Generation,
        range: RangeInclusive<SeqNum>,
    ) -> Result<Option<Record<'_>>, StoreError>;

    /// Walks over every committed record of the session's current generation in the order of commits.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] as for [`Store::read`].
    fn replay(
        &mut self,
        session: SessionKey,
        visit: &mut dyn FnMut(Record<'_>) -> core::ops::ControlFlow<()>,
    ) -> Result<(), StoreError>;

    /// Whether messages can be read back. Without it nothing can be sent later than now: what a store does not keep is
    /// gap-filled when it is asked for.
    fn keeps_messages(&self) -> bool {
        true
    }

    /// Lends the store its worker's bell. A store whose commits become durable later, or that notices failures on its own,
    /// rings it when [`Store::durable`] or [`Store::take_failure`] has something new to say.
    fn set_waker(&mut self, waker: Arc<dyn WorkerWaker>) {
        let _ = waker;
    }

    /// A failure that the store noticed on its own (a vanished directory, a write-back error); told once.
    fn take_failure(&mut self) -> Option<(SessionKey, StoreError)>;
}
