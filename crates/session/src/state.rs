//! What changes in a session, sorted by how long it lasts: what the store keeps, what a connection keeps, what a logon keeps.
//!
//! A lifetime ends by its value being replaced. No function clears fields, so that none can be forgotten.

use fixbolt_codec::SeqNum;

use crate::end::SessionEnd;
use crate::store::{ConnectionNumber, Generation};
use crate::time::{Mono, Now};

/// Everything of a session that a transaction may change and a rollback restores.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct State {
    pub(crate) stored: Stored,
    /// Messages that were numbered and stored, and never written to a socket.
    pub(crate) unsent: Option<Unsent>,
    /// `None` while there is no transport connection.
    pub(crate) connection: Option<Connection>,
}

/// What the store keeps of a session. It outlives connections and the process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stored {
    /// The next MsgSeqNum (34) expected.
    pub(crate) next_in: SeqNum,
    /// The next MsgSeqNum (34) to use.
    pub(crate) next_out: SeqNum,
    /// How often the numbers were reset.
    pub(crate) generation: Generation,
    /// The number of the last connection.
    pub(crate) connection: ConnectionNumber,
    /// Failed attempts at the message `next_in`.
    pub(crate) attempts: u32,
}

/// A stretch of numbers whose messages wait for the counterparty to ask, or for a replay to end; or were queued for a socket
/// that has not taken them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Unsent {
    pub(crate) first: SeqNum,
    pub(crate) last: SeqNum,
}

/// What one transport connection keeps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Connection {
    /// HeartBtInt (108) in force, in seconds.
    pub(crate) heart_bt_int: u32,
    /// The largest message that the counterparty takes (383 of its Logon), in bytes.
    pub(crate) peer_max_message_size: usize,
    pub(crate) last_sent: Mono,
    pub(crate) last_received: Mono,
    /// Our TestRequest that has not been answered yet.
    pub(crate) test_request: Option<TestRequest>,
    /// How many TestRequests were sent: the next one's TestReqID (112).
    pub(crate) test_requests: u64,
    /// Our Logon carried ResetSeqNumFlag=Y; the answer must, too.
    pub(crate) reset_asked: bool,
    /// What the end will be once our Logout is answered, when it is not an ordinary logout.
    pub(crate) leaving: Option<Box<SessionEnd>>,
    /// Why the connection is to be closed, once it is. Boxed, so that a snapshot of the state stays small.
    pub(crate) end: Option<Box<SessionEnd>>,
    pub(crate) logon: Logon,
}

/// What a logon keeps. A reset of the sequence numbers begins a new one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Logon {
    pub(crate) phase: Phase,
    /// When the phase ends on its own.
    pub(crate) deadline: Option<Mono>,
    pub(crate) gap: Option<Gap>,
    pub(crate) replay: Option<Replay>,
    /// A ResendRequest that came before its turn and was answered at once.
    pub(crate) request_answered: Option<SeqNum>,
    /// Our Logout, or a part of it, waits for the socket.
    pub(crate) logout_queued: bool,
    /// A Logout with this number came before its turn; it is answered when the gap is filled.
    pub(crate) logout_waits: Option<SeqNum>,
    /// The first message that was kept back between our Logon and its answer.
    pub(crate) kept_from: Option<SeqNum>,
}

/// Where a session stands between two transport connections and within one (the standard's state matrix, condensed).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
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
    /// The last number that came from beyond the gap, sent again. A lower one belongs to the next replay.
    pub(crate) replayed: Option<SeqNum>,
}

/// Messages being sent again, a few in each transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Replay {
    /// The next number to look at.
    pub(crate) next: SeqNum,
    /// The last number asked for.
    pub(crate) end: SeqNum,
    /// First number of a run that is to be gap-filled.
    pub(crate) gap_from: Option<SeqNum>,
    /// The first new message that waits for the end of the replay.
    pub(crate) live: SeqNum,
}

impl State {
    pub(crate) fn phase(&self) -> Phase {
        self.connection.as_ref().map_or(Phase::Disconnected, |connection| connection.logon.phase)
    }

    pub(crate) fn replay(&self) -> Option<Replay> {
        self.connection.as_ref()?.logon.replay
    }

    /// Whether the connection is there and is not about to be closed.
    pub(crate) fn is_open(&self) -> bool {
        self.connection.as_ref().is_some_and(|connection| connection.end.is_none())
    }

    /// The largest message that the counterparty takes, in bytes.
    pub(crate) fn peer_max_message_size(&self) -> usize {
        self.connection.as_ref().map_or(usize::MAX, |connection| connection.peer_max_message_size)
    }

    /// What messages that came before their turn belong to: numbers from before a reset and bytes of an earlier connection do
    /// not apply any more.
    pub(crate) const fn epoch(&self) -> (Generation, ConnectionNumber) {
        (self.stored.generation, self.stored.connection)
    }

    /// The message that was due is taken.
    pub(crate) fn advance(&mut self) {
        self.stored.next_in = self.stored.next_in.next();
        self.stored.attempts = 0;
    }

    /// Both numbers start again at 1, in a new generation; the logon begins anew in its phase. Returns the messages that can
    /// no longer be sent.
    pub(crate) fn reset(&mut self) -> Option<Unsent> {
        let Stored { generation, connection, .. } = self.stored;
        let generation = Generation(generation.0.wrapping_add(1));
        self.stored =
            Stored { next_in: SeqNum::ONE, next_out: SeqNum::ONE, generation, connection, attempts: 0 };
        if let Some(connection) = &mut self.connection {
            let Logon { phase, deadline, .. } = connection.logon;
            connection.logon = Logon::begin(phase, deadline);
        }
        self.unsent.take()
    }

    /// The messages with these numbers are not on the wire yet.
    pub(crate) fn keep_back(&mut self, kept: Unsent) {
        let unsent = self.unsent.unwrap_or(kept);
        self.unsent = Some(Unsent { first: unsent.first.min(kept.first), last: unsent.last.max(kept.last) });
    }

    /// Every number up to `seq` went out, or was gap-filled.
    pub(crate) fn went_out(&mut self, seq: SeqNum) {
        if let Some(unsent) = &mut self.unsent {
            unsent.first = unsent.first.max(seq.next());
            if unsent.first > unsent.last {
                self.unsent = None;
            }
        }
    }
}

impl Connection {
    /// A connection that begins now, in its first phase until `deadline`.
    pub(crate) fn begin(now: Now, phase: Phase, deadline: Mono, heart_bt_int: u32) -> Self {
        Self {
            heart_bt_int,
            peer_max_message_size: usize::MAX,
            last_sent: now.mono,
            last_received: now.mono,
            test_request: None,
            test_requests: 0,
            reset_asked: false,
            leaving: None,
            end: None,
            logon: Logon::begin(phase, Some(deadline)),
        }
    }

    /// Any message that is not garbled proves life (session standard, heartbeats).
    pub(crate) fn hear(&mut self, now: Mono) {
        self.last_received = now;
        self.test_request = None;
    }

    /// Requests that the connection be closed; the first reason counts. The application is notified once the transport has
    /// ended.
    pub(crate) fn close(&mut self, end: SessionEnd) {
        self.end.get_or_insert_with(|| Box::new(end));
    }
}

impl Logon {
    pub(crate) const fn begin(phase: Phase, deadline: Option<Mono>) -> Self {
        Self {
            phase,
            deadline,
            gap: None,
            replay: None,
            request_answered: None,
            logout_queued: false,
            logout_waits: None,
            kept_from: None,
        }
    }
}
