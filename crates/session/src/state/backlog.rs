//! What is numbered and not yet on the wire: messages that are withheld, that wait for the end of a
//! replay, or that no socket has accepted.

use fixbolt_codec::SeqNum;

/// What the counterparty gets before new messages, of one logon.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Backlog {
    /// Messages that are being sent again; what was written meanwhile follows.
    pub(crate) replay: Option<Replay>,
    /// The first message that was withheld between our Logon and its answer, or while messages are
    /// missing before the counterparty's Logon.
    pub(crate) withheld_from: Option<SeqNum>,
}

/// A range of sequence numbers whose messages wait for a request of the counterparty, for the end
/// of a replay, or for a socket that has not accepted them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Unsent {
    pub(crate) first: SeqNum,
    pub(crate) last: SeqNum,
}

/// Messages that are being sent again, a few in each transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Replay {
    /// The next sequence number to look up.
    pub(crate) next: SeqNum,
    /// The last sequence number requested.
    pub(crate) end: SeqNum,
    /// The first sequence number of a run that is to be gap-filled.
    pub(crate) gap_from: Option<SeqNum>,
    /// The first new message that waits for the end of the replay. It stays the same until
    /// everything requested is sent.
    pub(crate) live: SeqNum,
    /// NextNumOut when the replay began. Messages from here on may be sent before their turn
    /// ([`ReplayInterleave`](crate::ReplayInterleave)).
    pub(crate) began: SeqNum,
}
