//! What every store can do.

use core::ops::RangeInclusive;

use fixbolt_codec::SeqNum;

use crate::store::abilities::Abilities;
use crate::store::record::{Committed, Generation, Record, Recovered, StoreError, StoreKind};
use crate::values::id::SessionId;
use crate::values::key::SessionKey;

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
/// // Only what is durable may go out.
/// assert!(store.commit()?.is_durable);
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

    /// Closes the session's store cleanly and releases its lock.
    ///
    /// # Errors
    /// Returns [`StoreError::Io`] if the clean mark could not be written.
    fn close(&mut self, session: SessionKey) -> Result<(), StoreError>;

    /// Begins a transaction.
    fn begin(&mut self);

    /// Adds a record to the transaction. A
    /// [`RecordKind::Reset`](crate::store::RecordKind::Reset) record begins the session's next
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
    fn commit(&mut self) -> Result<Committed, StoreError>;

    /// Discards the transaction.
    fn rollback(&mut self);

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

    /// Returns what it keeps. A store for which this is not said keeps everything.
    fn kind(&self) -> StoreKind {
        StoreKind::DURABLE
    }

    /// Returns what it can do beyond this trait, if there is anything.
    fn abilities(&mut self) -> Option<&mut dyn Abilities> {
        None
    }
}
