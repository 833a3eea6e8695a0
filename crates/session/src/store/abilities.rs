//! What some stores can do besides what every store can.

use std::sync::Arc;

use fixbolt_codec::SeqNum;

use crate::store::record::{Generation, Position, Recovered, StoreError};
use crate::store::waker::WorkerWaker;
use crate::values::id::SessionId;
use crate::values::key::SessionKey;

/// What a store can do beyond [`Store`](crate::store::Store): each method returns the store as
/// one with that ability, or `None`.
///
/// No method has a default: a store that has one ability answers for all, and one around another
/// store does not compile before it passes on a new one.
/// [`Intercepted`](crate::store::Intercepted) does.
///
/// ```
/// use std::sync::Arc;
/// use fixbolt_session::WorkerWaker;
/// use fixbolt_session::store::{
///     Abilities, Acknowledges, Forgets, OpensLater, Prepares, Reports, Seeks,
/// };
///
/// struct Replica;
///
/// impl Prepares for Replica {
///     fn prepare(&mut self) -> bool {
///         false
///     }
/// }
///
/// impl Abilities for Replica {
///     fn set_waker(&mut self, _waker: Arc<dyn WorkerWaker>) {}
///     fn opens_later(&mut self) -> Option<&mut dyn OpensLater> {
///         None
///     }
///     fn acknowledges(&mut self) -> Option<&mut dyn Acknowledges> {
///         None
///     }
///     fn reports(&mut self) -> Option<&mut dyn Reports> {
///         None
///     }
///     fn prepares(&mut self) -> Option<&mut dyn Prepares> {
///         Some(self)
///     }
///     fn forgets(&mut self) -> Option<&mut dyn Forgets> {
///         None
///     }
///     fn seeks(&mut self) -> Option<&mut dyn Seeks> {
///         None
///     }
/// }
///
/// assert!(!Replica.prepares().unwrap().prepare());
/// ```
pub trait Abilities {
    /// Sets the waker of the store's worker, once, before a session is opened. The store calls it
    /// when [`Acknowledges::durable`], [`OpensLater::may_open`], [`OpensLater::take_unclean`],
    /// [`Reports::take_failure`] or [`Reports::take_warning`] has news.
    fn set_waker(&mut self, waker: Arc<dyn WorkerWaker>);

    /// It creates and closes while other sessions go on.
    fn opens_later(&mut self) -> Option<&mut dyn OpensLater>;

    /// Its commits may become durable later.
    fn acknowledges(&mut self) -> Option<&mut dyn Acknowledges>;

    /// It notices failures on its own.
    fn reports(&mut self) -> Option<&mut dyn Reports>;

    /// It has work that makes later calls faster.
    fn prepares(&mut self) -> Option<&mut dyn Prepares>;

    /// It lets go of messages that will not be read.
    fn forgets(&mut self) -> Option<&mut dyn Forgets>;

    /// It may take long to find a message.
    fn seeks(&mut self) -> Option<&mut dyn Seeks>;
}

/// A store that creates and closes what it has of a session while other sessions go on. Without
/// this, a session that a counterparty asks for is opened and closed at once.
pub trait OpensLater {
    /// Opens the store of `session` as [`Store::open`](crate::store::Store::open) does, but may put
    /// off creating it until its first record is committed, since the counterparty may turn out to
    /// be a stranger, and may create it while other sessions go on: [`Acknowledges::durable`] then
    /// says when it is there.
    ///
    /// # Errors
    /// Returns [`StoreError::Locked`] if another process holds the store, and [`StoreError::Io`] or
    /// [`StoreError::Full`] if the system refuses.
    fn open_lazily(&mut self, key: SessionKey, session: &SessionId) -> Result<Recovered, StoreError>;

    /// Closes the session's store as [`Store::close`](crate::store::Store::close) does, but may do
    /// so while other sessions go on. Whoever opens the session again waits for it, and
    /// [`OpensLater::take_unclean`] says if it fails.
    ///
    /// # Errors
    /// Returns [`StoreError::Io`] if the store is closed at once and the clean mark could not be
    /// written.
    fn close_later(&mut self, session: SessionKey) -> Result<(), StoreError>;

    /// Returns whether a session may be opened now that a counterparty asks for. If not, so many
    /// are being created and closed while others go on that this one should wait, or it is still
    /// being closed itself; the waker is called when that may have changed.
    fn may_open(&mut self, session: &SessionId) -> bool;

    /// Returns a session that [`OpensLater::close_later`] could not close cleanly, once.
    fn take_unclean(&mut self) -> Option<(SessionId, StoreError)>;
}

/// A store whose commits may become durable after they return. Without this, all are when they do.
pub trait Acknowledges {
    /// Returns the position up to which commits are as safe for the session as the sync policy
    /// promises. It differs between sessions if some of them wait for more than others: for a new
    /// journal, say. `Position(0)`: nothing is durable yet. Called outside transactions.
    fn durable(&mut self, session: SessionKey) -> Position;
}

/// A store that notices failures on its own.
pub trait Reports {
    /// Returns a failure that the store noticed on its own (a vanished directory, a write-back
    /// error), once.
    fn take_failure(&mut self) -> Option<(SessionKey, StoreError)>;

    /// Returns what is wrong with messages of the past, once, as text with the file: damage, or
    /// that they cannot be archived. It does not stop the session: what is lost is gap-filled when
    /// it is requested.
    fn take_warning(&mut self) -> Option<(SessionKey, String)>;
}

/// A store with work that makes later calls faster.
pub trait Prepares {
    /// Does one small step of work that makes later calls faster, such as making a page of memory
    /// ready, and returns whether there may be another one. A step should take a few microseconds,
    /// and there must be an end of steps as long as nothing is appended.
    ///
    /// Called between transactions by a worker that has found nothing else to do; whether there was
    /// anything for it to do, and how often it has time for that, decides only how fast a store is.
    fn prepare(&mut self) -> bool;
}

/// A store that lets go of messages that will not be read. Without this, it keeps all.
pub trait Forgets {
    /// Says how far back from NextNumOut messages of the current generation are read at most, in
    /// sequence numbers; `u64::MAX` for all of them, as until the first call. A store may let go of
    /// older ones, and of those of earlier generations, once a transaction is committed.
    ///
    /// Called after `open`, and again when it changes: while messages are sent again it is
    /// `u64::MAX`. Never called inside a transaction.
    fn set_resend_horizon(&mut self, session: SessionKey, messages: u64);
}

/// A store that may take long to find a message, and finds it while other sessions go on. Without
/// this, a message is found when it is read.
pub trait Seeks {
    /// Makes ready to read messages of `generation` from `first` on, which
    /// [`Store::read`](crate::store::Store::read) does one after the other then. Returns whether it
    /// is; if not, the store is asked again a millisecond later.
    ///
    /// Called before messages are read for a resend, and again for each few of them. A store must
    /// be ready after some time, also if it has no such message.
    fn seek(&mut self, session: SessionKey, generation: Generation, first: SeqNum) -> bool;
}
