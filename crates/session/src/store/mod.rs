//! What the session core asks of a message store: one store per worker, one commit per transaction,
//! durability that may be reached later.
//!
//! The core appends the inbound message and everything written because of it between
//! [`Store::begin`] and [`Store::commit`]; all of it becomes visible together or not at all.
//! Nothing is sent before its commit is durable: at once, or when [`Acknowledges::durable`] has
//! reached it. [`Store`] is what every store can do, in eight methods; [`Abilities`] says what one
//! can do besides. A store around another one is an [`Intercept`], which forgets none of it.
//! Implementations are in `fixbolt-journal`; this module knows nothing about files.
//!
//! [`Record`], [`RecordKind`] and [`Recovered`] are exhaustive on purpose: a store that ignored a
//! new field or kind would lose it, so a store written for an older version must not compile.

pub(crate) mod abilities;
pub(crate) mod ask;
pub(crate) mod contract;
pub(crate) mod intercept;
pub(crate) mod record;
pub(crate) mod retry;
pub(crate) mod stored_message;
pub(crate) mod waker;

pub use crate::store::abilities::{Abilities, Acknowledges, Forgets, OpensLater, Prepares, Reports, Seeks};
pub use crate::store::contract::Store;
pub use crate::store::intercept::{Intercept, Intercepted};
pub use crate::store::record::{
    Committed, ConnectionNumber, Generation, Position, Record, RecordFlags, RecordKind, Recovered,
    StoreError, StoreKind, WaitingMessages,
};
pub use crate::values::key::SessionKey;
