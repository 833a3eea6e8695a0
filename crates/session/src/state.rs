//! Everything of a session that a turn may change and a rollback must restore, as one small value that is copied.

use fixbolt_codec::SeqNum;

use crate::store::{Connection, Generation};
use crate::time::Mono;

/// Where a session stands between two transport connections and within one (the standard's state matrix, condensed).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// No connection.
    Disconnected,
    /// Acceptor: connected, the first Logon is awaited.
    AwaitingLogon,
    /// Initiator: our Logon is out, its answer is awaited.
    LogonSent,
    /// Logons are exchanged.
    LoggedOn,
    /// Our Logout is out, its answer is awaited.
    LogoutSent,
    /// The counterparty logged out and has our answer; it should close now.
    LogoutAnswered,
}

/// The changing part of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct State {
    pub(crate) phase: Phase,
    pub(crate) next_in: SeqNum,
    pub(crate) next_out: SeqNum,
    pub(crate) generation: Generation,
    pub(crate) connection: Connection,
    /// HeartBtInt (108) in force, in seconds.
    pub(crate) heart_bt_int: u32,
    pub(crate) last_sent: Mono,
    pub(crate) last_received: Mono,
    /// When the phase ends on its own.
    pub(crate) phase_deadline: Option<Mono>,
    /// Our TestRequest that nobody answered yet.
    pub(crate) test_request: Option<TestRequest>,
    /// How many TestRequests we sent: the next one's TestReqID.
    pub(crate) test_requests: u64,
    pub(crate) gap: Option<Gap>,
    pub(crate) replay: Option<Replay>,
    /// Failed attempts at the message `next_in`.
    pub(crate) attempts: u32,
    /// Our Logon carried ResetSeqNumFlag=Y; the answer must, too.
    pub(crate) reset_asked: bool,
    /// A ResendRequest that came before its turn and was answered at once.
    pub(crate) request_answered: Option<SeqNum>,
    /// A Logout with this number came before its turn; it is answered when the gap is filled.
    pub(crate) logout_waits: Option<SeqNum>,
    /// The first message that was kept back between our Logon and its answer.
    pub(crate) kept_from: Option<SeqNum>,
    /// The largest message the counterparty takes (383 of its Logon).
    pub(crate) peer_max_message_size: usize,
}

/// A TestRequest of ours on its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TestRequest {
    pub(crate) id: u64,
    pub(crate) sent: Mono,
}

/// Numbers that are missing and were asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Gap {
    /// NextNumIn when it was asked.
    pub(crate) begin: SeqNum,
    /// The last missing number.
    pub(crate) end: SeqNum,
    /// How often these were asked for without a step forward.
    pub(crate) asked: u32,
    pub(crate) asked_at: Mono,
    /// The last number that came from behind the gap, sent again. A lower one belongs to the next replay.
    pub(crate) replayed: Option<SeqNum>,
}

/// Messages being sent again, a few a turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Replay {
    /// The next number to look at.
    pub(crate) next: SeqNum,
    /// The last number asked for.
    pub(crate) end: SeqNum,
    /// First number of a run that is to be gap-filled.
    pub(crate) gap_from: Option<SeqNum>,
    /// The first live message that waits behind the replay.
    pub(crate) live: SeqNum,
}

impl State {
    pub(crate) const fn is_connected(&self) -> bool {
        !matches!(self.phase, Phase::Disconnected)
    }

    /// Whether messages go out at once.
    pub(crate) const fn is_logged_on(&self) -> bool {
        matches!(self.phase, Phase::LoggedOn)
    }
}
