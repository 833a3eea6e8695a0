//! What the session core asks of a message store: one store per worker, one commit per transaction,
//! durability that may be reached later.
//!
//! The core appends the inbound message and everything written because of it between
//! [`Store::begin`] and [`Store::commit`]; all of it becomes visible together or not at all.
//! Nothing is sent before [`Store::durable`] has reached the position that its commit returned.
//! Implementations are in `fixbolt-journal`; this module knows nothing about files.
//!
//! [`Record`], [`RecordKind`] and [`Recovered`] are exhaustive on purpose: a store that ignored a
//! new field or kind would lose it, so a store written for an older version must not compile.

pub(crate) mod retry;
pub(crate) mod stored_message;
pub(crate) mod waker;

use core::fmt;
use core::ops::RangeInclusive;
use std::sync::Arc;

use fixbolt_codec::SeqNum;

use crate::store::waker::WorkerWaker;
use crate::values::id::SessionId;
pub use crate::values::key::SessionKey;
use crate::values::time::{Mono, Utc};

/// A position in the order of commits of one store. It grows with every commit and has no meaning
/// across stores or restarts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Position(pub u64);

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

/// The message store of one worker.
///
/// Order of calls: `open` each session; then, for every transaction, `begin`, any number of
/// `append`s (to any open sessions), and one of `commit` or `rollback`. An implementation panics if
/// `append` is called outside a transaction. A session may be closed and opened again, under
/// another key.
///
/// Outbound records with PossDupFlag are copies: kept for the audit, never read back for a resend,
/// and their sequence numbers may have been used before. Any other outbound record must have a
/// sequence number not used in its generation.
///
/// ```
/// use fixbolt_codec::SeqNum;
/// use fixbolt_journal::MemoryStore;
/// use fixbolt_session::Utc;
/// use fixbolt_session::runtime::{mono, session_key};
/// use fixbolt_session::store::{ConnectionNumber, Record, RecordFlags, RecordKind, Store};
///
/// let mut store = MemoryStore::new();
/// let (key, id) = (session_key(0, 0, 0), "FIX.4.4:VENUE->TRADER".parse()?);
/// store.open(key, &id)?;
/// store.begin();
/// store.append(
///     key,
///     &Record {
///         kind: RecordKind::Outbound,
///         flags: RecordFlags::default(),
///         seq: SeqNum(1),
///         next_in: SeqNum(1),
///         connection: ConnectionNumber(1),
///         cause: None,
///         utc: Utc(0),
///         mono: mono(0),
///         body: b"8=FIX.4.4\x01...",
///     },
/// )?;
/// let position = store.commit()?;
/// // Only what is durable may go out.
/// assert!(store.durable(key) >= position);
/// // The next session under this identity continues the sequence numbers.
/// store.close(key)?;
/// assert_eq!(store.open(session_key(0, 1, 0), &id)?.next_out, SeqNum(2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Store: Send {
    /// Opens or creates the store of `session`, which is called `key` from then on, and returns its
    /// contents.
    ///
    /// # Errors
    /// Returns [`StoreError::Locked`] if another process holds it, and [`StoreError::Io`] or
    /// [`StoreError::Full`] if the system refuses. Damage is not an error here:
    /// [`Recovered::damage`] reports it.
    fn open(&mut self, key: SessionKey, session: &SessionId) -> Result<Recovered, StoreError>;

    /// Opens the store of `session` as [`Store::open`] does, but may put off creating it until its
    /// first record is committed, since the counterparty may turn out to be a stranger, and may
    /// create it while other sessions go on: [`Store::durable`] then says when it is there.
    ///
    /// # Errors
    /// Returns [`StoreError::Locked`] if another process holds the store, and [`StoreError::Io`] or
    /// [`StoreError::Full`] if the system refuses, as [`Store::open`] does.
    fn open_lazily(&mut self, key: SessionKey, session: &SessionId) -> Result<Recovered, StoreError> {
        self.open(key, session)
    }

    /// Closes the session's store cleanly and releases its lock.
    ///
    /// # Errors
    /// Returns [`StoreError::Io`] if the clean mark could not be written.
    fn close(&mut self, session: SessionKey) -> Result<(), StoreError>;

    /// Closes the session's store as [`Store::close`] does, but may do so while other sessions go
    /// on. Whoever opens the session again waits for it, and [`Store::take_unclean`] says if it
    /// fails.
    ///
    /// # Errors
    /// Returns [`StoreError::Io`] if the store is closed at once and the clean mark could not be
    /// written.
    fn close_later(&mut self, session: SessionKey) -> Result<(), StoreError> {
        self.close(session)
    }

    /// Returns whether a session may be opened now that a counterparty asks for. If not, so many
    /// are being created and closed while others go on that this one should wait, or it is still
    /// being closed itself; the waker is called when that may have changed.
    fn may_open(&self, session: &SessionId) -> bool {
        let _ = session;
        true
    }

    /// Returns a session that [`Store::close_later`] could not close cleanly, once.
    fn take_unclean(&mut self) -> Option<(SessionId, StoreError)> {
        None
    }

    /// Does one small step of work that makes later calls faster, such as making a page of memory
    /// ready, and returns whether there may be another one. A step should take a few microseconds,
    /// and there must be an end of steps as long as nothing is appended.
    ///
    /// Called between transactions by a worker that has found nothing else to do; whether there was
    /// anything for it to do, and how often it has time for that, decides only how fast a store is.
    /// A store without such work leaves this as it is.
    fn prepare(&mut self) -> bool {
        false
    }

    /// Begins a transaction.
    fn begin(&mut self);

    /// Adds a record to the transaction. A [`RecordKind::Reset`] record begins the session's next
    /// generation and belongs to it.
    ///
    /// # Errors
    /// After an error the transaction can no longer be committed; the caller rolls it back.
    fn append(&mut self, session: SessionKey, record: &Record<'_>) -> Result<(), StoreError>;

    /// Makes the records of the transaction visible, together. A transaction without records
    /// returns the position of the last one.
    ///
    /// # Errors
    /// After an error nothing of the transaction is visible.
    fn commit(&mut self) -> Result<Position, StoreError>;

    /// Discards the transaction.
    fn rollback(&mut self);

    /// Returns the position up to which commits are as safe for the session as the sync policy
    /// promises. It differs between sessions if some of them wait for more than others: for a new
    /// journal, say. `Position(0)`: nothing is durable yet. Called outside transactions.
    fn durable(&mut self, session: SessionKey) -> Position;

    /// Says how far back from NextNumOut messages of the current generation are read at most, in
    /// sequence numbers; `u64::MAX` for all of them, as until the first call. A store may let go of
    /// older ones, and of those of earlier generations, once a transaction is committed.
    ///
    /// Called after `open`, and again when it changes: while messages are sent again it is
    /// `u64::MAX`. Never called inside a transaction.
    fn set_resend_horizon(&mut self, session: SessionKey, messages: u64) {
        let _ = (session, messages);
    }

    /// Returns the first outbound message of `generation` with a sequence number in `range`, if
    /// there is one. A store need not find messages of closed generations.
    ///
    /// # Errors
    /// Returns [`StoreError::Damaged`] if the bytes do not match their checksum.
    fn read(
        &mut self,
        session: SessionKey,
        generation: Generation,
        range: RangeInclusive<SeqNum>,
    ) -> Result<Option<Record<'_>>, StoreError>;

    /// Visits every committed record of the session's current generation in the order of commits,
    /// except those that the store has let go of.
    ///
    /// # Errors
    /// Returns [`StoreError::Damaged`] as [`Store::read`] does.
    fn replay(
        &mut self,
        session: SessionKey,
        visit: &mut dyn FnMut(Record<'_>) -> core::ops::ControlFlow<()>,
    ) -> Result<(), StoreError>;

    /// Returns whether messages can be read back. If not, no message can be sent later than at
    /// once: a gap fill is sent for messages that are requested again.
    fn keeps_messages(&self) -> bool {
        true
    }

    /// Returns whether a session that is closed and opened again finds its messages. If not, it is
    /// kept open as long as there is room for it.
    fn survives_close(&self) -> bool {
        true
    }

    /// Sets the waker of the store's worker. A store whose commits become durable later, or that
    /// notices failures on its own, calls it when [`Store::durable`], [`Store::may_open`],
    /// [`Store::take_failure`], [`Store::take_unclean`] or [`Store::take_warning`] has news.
    fn set_waker(&mut self, waker: Arc<dyn WorkerWaker>) {
        let _ = waker;
    }

    /// Returns what is wrong with messages of the past, once, as text with the file: damage, or
    /// that they cannot be archived. It does not stop the session: what is lost is gap-filled when
    /// it is requested.
    fn take_warning(&mut self) -> Option<(SessionKey, String)> {
        None
    }

    /// Returns a failure that the store noticed on its own (a vanished directory, a write-back
    /// error), once.
    fn take_failure(&mut self) -> Option<(SessionKey, StoreError)>;
}
