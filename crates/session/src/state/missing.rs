//! What we ask for: messages of the counterparty that are missing.

use fixbolt_codec::SeqNum;

use crate::values::time::Mono;

/// Missing messages that were requested, or that the counterparty sends unasked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Missing {
    /// NextNumIn at the time of the request.
    pub(crate) begin: SeqNum,
    /// The last missing sequence number.
    pub(crate) end: SeqNum,
    /// The last sequence number that was requested; `None` if the request was open-ended.
    pub(crate) asked_to: Option<SeqNum>,
    /// How many times these were requested without progress.
    pub(crate) asked: u32,
    pub(crate) asked_at: Mono,
    /// The last sequence number after the gap that was sent again. A lower one belongs to the next
    /// replay.
    pub(crate) replayed: Option<SeqNum>,
}
