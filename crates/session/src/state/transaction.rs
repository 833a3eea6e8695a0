//! What the open transaction remembers about a session that it touched.

use fixbolt_codec::SeqNum;
use fixbolt_dictionary::Violation;

use crate::events::error::SendError;
use crate::events::event::{Ticket, Unreached};
use crate::state::State;
use crate::state::backlog::Unsent;
use crate::state::guarded::Guarded;
use crate::state::outbox::OutboxMark;
use crate::store::StoreError;

/// What the open transaction remembers about a session that it touched.
#[derive(Debug)]
pub(crate) struct Transaction {
    /// The transaction that took the snapshot; 0 before the first.
    pub(crate) number: u64,
    pub(crate) snapshot: Snapshot,
    /// Why the store refused a record: the transaction can no longer be committed.
    pub(crate) store_error: Option<StoreError>,
    /// Messages that will not reach the counterparty once the transaction is committed.
    pub(crate) unreached: Option<(Unsent, Unreached)>,
    /// Whether messages of the application begin to wait for a throttle.
    pub(crate) waits: bool,
    /// Whether there may be secrets in the messages that it has queued; `false` is certain.
    pub(crate) may_have_secrets: bool,
}

/// A session as it was before the open transaction: all that a rollback restores.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Snapshot {
    pub(crate) state: State,
    pub(crate) outbox: OutboxMark,
}

/// What the application hears of a session once a transaction is committed.
pub(crate) struct News {
    /// Messages that will not reach the counterparty.
    pub(crate) unreached: Option<(Unsent, Unreached)>,
    /// Its messages begin to wait for a throttle, and it is time to tell it.
    pub(crate) waits: bool,
    /// Messages that waited for a throttle, and what has become of them.
    pub(crate) left: Vec<(Ticket, Result<SeqNum, SendError>)>,
    /// What the outbound policy warns of.
    pub(crate) warned: Vec<(SeqNum, Violation<'static>)>,
}

impl Guarded<Transaction> {
    /// Records that the store refused a record.
    pub(crate) fn refuse(&mut self, error: StoreError) {
        self.change().store_error = Some(error);
    }

    /// Forgets that the store refused a record, in a transaction that is rolled back anyway.
    pub(crate) fn forget_error(&mut self) {
        self.change().store_error = None;
    }

    /// Records that a message is queued that may have secrets.
    pub(crate) fn expect_secrets(&mut self) {
        self.change().may_have_secrets = true;
    }

    /// Records that messages begin to wait for a throttle.
    pub(crate) fn begin_to_wait(&mut self) {
        self.change().waits = true;
    }

    /// Records messages that will not reach the counterparty once the transaction is committed.
    pub(crate) fn lose(&mut self, lost: Unsent, why: Unreached) {
        self.change().unreached = Some((lost, why));
    }
}
