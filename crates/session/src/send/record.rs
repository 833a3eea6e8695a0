//! What a session adds to its store: messages, and changes of its sequence numbers.

use core::ops::RangeInclusive;

use fixbolt_codec::{Message, SeqNum};

use crate::events::error::SendError;
use crate::events::event::Unreached;
use crate::state::State;
use crate::state::guarded::Guarded;
use crate::state::session::Session;
use crate::state::transaction::Transaction;
use crate::store::{Record, RecordFlags, RecordKind, Store};
use crate::values::key::SessionKey;
use crate::values::time::Now;
use crate::wire::header::Header;
use crate::wire::mask::mask_message;

impl Session {
    /// Records a message of the counterparty, with these flags beside those of its header;
    /// NextNumIn has already advanced.
    pub(crate) fn record_inbound(
        &mut self,
        now: Now,
        store: &mut dyn Store,
        seq: SeqNum,
        header: &Header<'_>,
        message: &Message<'_>,
        flags: RecordFlags,
    ) -> Result<(), SendError> {
        let mut flags = header.flags.with(flags);
        let mut body = message.bytes();
        if header.may_have_secrets
            && mask_message(self.fixed.secret_tags.of(&self.fixed.settings), body, &mut self.tools.masked)
        {
            flags = flags.with(RecordFlags::MASKED);
            body = &self.tools.masked;
        }
        let now = self.standing.counted(now);
        let record = record(now, &self.state, RecordKind::Inbound, flags, seq, None, body);
        self.state.added.record(body.len());
        append(store, self.fixed.key, &record, &mut self.transaction)
    }

    /// Records a change of sequence numbers without a message; the text says who made it and why.
    pub(crate) fn record_change(
        &mut self,
        now: Now,
        store: &mut dyn Store,
        kind: RecordKind,
        why: &str,
    ) -> Result<(), SendError> {
        let now = self.standing.counted(now);
        // The store counts from its first record, too.
        self.state.stored.began.get_or_insert(now.utc);
        let stored = self.state.stored;
        let seq = if kind == RecordKind::Attempt { stored.next_in } else { stored.next_out };
        let record = record(now, &self.state, kind, RecordFlags::default(), seq, None, why.as_bytes());
        append(store, self.fixed.key, &record, &mut self.transaction)
    }

    /// Records that the oldest messages that wait, with these numbers, will not be sent.
    pub(crate) fn drop_waiting(
        &mut self,
        now: Now,
        store: &mut dyn Store,
        numbers: RangeInclusive<u64>,
        why: &SendError,
    ) -> Result<(), SendError> {
        let now = self.standing.counted(now);
        let (kind, text) = (RecordKind::Dropped, why.to_string());
        let seq = SeqNum(*numbers.end());
        self.waiting.set_outcome(numbers, &Err(why.clone()));
        let record = record(now, &self.state, kind, RecordFlags::default(), seq, None, text.as_bytes());
        self.state.stored.note_waiting(&record);
        append(store, self.fixed.key, &record, &mut self.transaction)
    }

    /// Resets both sequence numbers to 1, in a new generation.
    // R-RESET-12
    pub(crate) fn reset(&mut self, now: Now, store: &mut dyn Store, why: &str) -> Result<(), SendError> {
        self.waiting.set_outcome(self.state.stored.waiting().numbers(), &Err(SendError::Reset));
        if let Some(lost) = self.state.reset() {
            self.transaction.lose(lost, Unreached::Reset);
        }
        self.outbox.reset();
        self.state.stored.began = Some(self.standing.counted(now).utc);
        self.state.added.reset();
        self.record_change(now, store, RecordKind::Reset, why)
    }
}

/// Returns a record for the store with the current state. `now` has the time that counts for the
/// schedule: by that of a clock that is wrong for now, another edge would come once it is right.
pub(crate) fn record<'r>(
    now: Now,
    state: &State,
    kind: RecordKind,
    flags: RecordFlags,
    seq: SeqNum,
    cause: Option<SeqNum>,
    body: &'r [u8],
) -> Record<'r> {
    let (next_in, connection) = (state.stored.next_in, state.stored.connection);
    Record { kind, flags, seq, next_in, connection, cause, utc: now.utc, mono: now.mono, body }
}

/// Adds a record to the open transaction; a refusal is remembered until its end.
pub(crate) fn append(
    store: &mut dyn Store,
    key: SessionKey,
    record: &Record<'_>,
    transaction: &mut Guarded<Transaction>,
) -> Result<(), SendError> {
    store.append(key, record).map_err(|error| {
        transaction.refuse(error.clone());
        SendError::Store(error)
    })
}
