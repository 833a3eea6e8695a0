//! The state of a session, sorted by how long it lasts: that of the store, of a connection, of a
//! logon.
//!
//! A lifetime ends when its value is replaced. What belongs to none of them stands in [`State`].

pub(crate) mod horizon;
pub(crate) mod outbound_check;
pub(crate) mod outbox;
pub(crate) mod reading;
pub(crate) mod reorder;
pub(crate) mod session;
pub(crate) mod status;
pub(crate) mod throttling;
pub(crate) mod timers;

use fixbolt_codec::{MsgType, SeqNum};

use crate::events::end::SessionEnd;
use crate::limits::flood::Added;
use crate::limits::throttle::Counted;
use crate::settings::SessionSettings;
use crate::settings::dictionaries::NamedVersions;
use crate::store::{ConnectionNumber, Generation};
use crate::values::fix::msg_type;
use crate::values::time::{Mono, Now, Utc};
use crate::wire::admin_message::TestReqIdValue;

/// Everything in a session that a transaction may change and a rollback restores.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct State {
    pub(crate) stored: Stored,
    /// Messages that have a sequence number and are stored, but were never written to a socket.
    pub(crate) unsent: Option<Unsent>,
    /// What the throttles have counted, in this connection and earlier ones.
    pub(crate) counted: Counted,
    /// NextNumIn at which the counterparty did not send what was missing, however often it was
    /// requested; 0 if there is none in this generation.
    pub(crate) gave_up_at: SeqNum,
    /// Whether a Logon with a number that was too low has been accepted since the store was opened
    /// or an operator changed sequence numbers.
    pub(crate) accepted_too_low: bool,
    /// The bytes that were added to the store, and those of them that session-layer messages may
    /// have caused.
    pub(crate) added: Added,
    /// The default application versions that the Logons of the last connection have named.
    pub(crate) versions: Option<NamedVersions>,
    /// `None` while there is no transport connection.
    pub(crate) connection: Option<Connection>,
}

/// It is copied at every transaction.
const _: () = assert!(size_of::<State>() <= 448);

/// `clone_from` copies in place: a snapshot is taken for each message.
impl Clone for State {
    fn clone(&self) -> Self {
        let Self { versions, connection, .. } = self;
        Self { versions: versions.clone(), connection: connection.clone(), ..*self }
    }

    #[inline]
    fn clone_from(&mut self, source: &Self) {
        let Self { stored, unsent, counted, gave_up_at, accepted_too_low, added, versions, connection } =
            source;
        (self.stored, self.unsent, self.counted) = (*stored, *unsent, *counted);
        (self.gave_up_at, self.accepted_too_low, self.added) = (*gave_up_at, *accepted_too_low, *added);
        if self.versions != *versions {
            self.versions.clone_from(versions);
        }
        self.connection.clone_from(connection);
    }
}

/// What the store holds of a session. It outlives connections and the process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stored {
    /// The next MsgSeqNum (34) expected.
    pub(crate) next_in: SeqNum,
    /// The next MsgSeqNum (34) to use.
    pub(crate) next_out: SeqNum,
    /// The number of resets of the sequence numbers.
    pub(crate) generation: Generation,
    /// The number of the last connection.
    pub(crate) connection: ConnectionNumber,
    /// Failed attempts at the message with sequence number `next_in`.
    pub(crate) attempts: u32,
    /// When the generation began; `None` before its first record.
    pub(crate) began: Option<Utc>,
}

/// A range of sequence numbers whose messages wait for a request of the counterparty, for the end
/// of a replay, or for a socket that has not accepted them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Unsent {
    pub(crate) first: SeqNum,
    pub(crate) last: SeqNum,
}

/// The state of one transport connection.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Connection {
    /// HeartBtInt (108) in force, in seconds.
    pub(crate) heart_bt_int: u32,
    /// The largest message that the counterparty accepts (383 of its Logon), in bytes.
    pub(crate) peer_max_message_size: usize,
    pub(crate) last_sent: Mono,
    pub(crate) last_received: Mono,
    /// Our TestRequest that has not been answered yet.
    pub(crate) test_request: Option<TestRequest>,
    /// The number of TestRequests sent, from which the next TestReqID (112) follows.
    pub(crate) test_requests: u64,
    /// Whether the Logons were exchanged in this connection.
    pub(crate) logged_on: bool,
    /// Whether our Logon had ResetSeqNumFlag=Y, so that the answer must have it, too.
    pub(crate) reset_asked: bool,
    /// The reset of the sequence numbers in the session that we have begun. Boxed, so that a
    /// snapshot of the state stays small.
    pub(crate) resetting: Option<Box<Resetting>>,
    /// The reason for the end once our Logout is answered, if this is not an ordinary logout.
    pub(crate) leaving: Option<Box<SessionEnd>>,
    /// Why the connection is being closed, if it is. Boxed, so that a snapshot of the state stays
    /// small.
    pub(crate) end: Option<Box<SessionEnd>>,
    pub(crate) logon: Logon,
}

/// `clone_from` copies in place, as that of [`State`] does.
impl Clone for Connection {
    fn clone(&self) -> Self {
        let Self { resetting, leaving, end, .. } = self;
        Self { resetting: resetting.clone(), leaving: leaving.clone(), end: end.clone(), ..*self }
    }

    #[inline]
    fn clone_from(&mut self, source: &Self) {
        let Self {
            heart_bt_int,
            peer_max_message_size,
            last_sent,
            last_received,
            test_request,
            test_requests,
            logged_on,
            reset_asked,
            resetting,
            leaving,
            end,
            logon,
        } = source;
        self.heart_bt_int = *heart_bt_int;
        self.peer_max_message_size = *peer_max_message_size;
        self.last_sent = *last_sent;
        self.last_received = *last_received;
        self.test_request = *test_request;
        self.test_requests = *test_requests;
        self.logged_on = *logged_on;
        self.reset_asked = *reset_asked;
        self.resetting.clone_from(resetting);
        self.leaving.clone_from(leaving);
        self.end.clone_from(end);
        self.logon = *logon;
    }
}

/// The state of a logon. A reset of the sequence numbers begins a new one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Logon {
    pub(crate) phase: Phase,
    /// When the phase ends if nothing happens.
    pub(crate) deadline: Option<Mono>,
    pub(crate) gap: Option<Gap>,
    pub(crate) replay: Option<Replay>,
    /// A ResendRequest that arrived after a gap and was answered at once.
    pub(crate) request_answered: Option<SeqNum>,
    /// Whether our Logout, or a part of it, waits for the socket.
    pub(crate) logout_queued: bool,
    /// A Logout with this sequence number arrived after a gap; it is answered when the gap is
    /// filled.
    pub(crate) logout_waits: Option<SeqNum>,
    /// The first message that was withheld between our Logon and its answer, or because of
    /// `held_at`.
    pub(crate) kept_from: Option<SeqNum>,
    /// NextNumIn at the logon, if messages are missing before the counterparty's Logon: as long as
    /// it stays the same, new application messages are withheld.
    pub(crate) held_at: Option<SeqNum>,
    /// MsgSeqNum of our Logon.
    pub(crate) ours: Option<SeqNum>,
    /// MsgSeqNum of our Logout.
    pub(crate) logout: Option<SeqNum>,
}

/// The phase of a session between two transport connections and within one (the standard's state
/// matrix, condensed).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Phase {
    /// No connection.
    Disconnected,
    /// Acceptor: connected, waiting for the first Logon.
    AwaitingLogon,
    /// Initiator: our Logon was sent, waiting for its answer.
    LogonSent,
    /// The Logons have been exchanged.
    LoggedOn,
    /// Our Logout was sent, waiting for its answer.
    LogoutSent,
    /// The counterparty logged out and was answered; it should close the connection now.
    LogoutAnswered,
}

/// A TestRequest of ours that is not answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TestRequest {
    pub(crate) id: u64,
    pub(crate) sent: Mono,
}

/// A reset of the sequence numbers in the session that we have begun (rule 5.1).
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Resetting {
    pub(crate) stage: ResetStage,
    /// When the stage ends if nothing happens.
    pub(crate) until: Mono,
    /// Who asked for it, and why.
    pub(crate) why: String,
}

/// What a reset of the sequence numbers in the session waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ResetStage {
    /// The answer to our TestRequest, which shows that no message is missing.
    Testing(TestReqIdValue),
    /// The answer to our Logon with ResetSeqNumFlag=Y.
    LogonSent,
}

/// Missing messages that were requested.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Gap {
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

impl State {
    /// Returns the state without a connection of a session whose store holds this.
    pub(crate) fn new(stored: Stored) -> Self {
        Self {
            stored,
            unsent: None,
            counted: Counted::default(),
            gave_up_at: SeqNum::ZERO,
            accepted_too_low: false,
            added: Added::default(),
            versions: None,
            connection: None,
        }
    }

    pub(crate) fn phase(&self) -> Phase {
        self.connection.as_ref().map_or(Phase::Disconnected, |connection| connection.logon.phase)
    }

    pub(crate) fn replay(&self) -> Option<Replay> {
        self.connection.as_ref()?.logon.replay
    }

    /// Returns what the reset that we have begun waits for.
    pub(crate) fn reset_stage(&self) -> Option<ResetStage> {
        Some(self.connection.as_ref()?.resetting.as_ref()?.stage)
    }

    /// Returns whether there is a connection that is not about to be closed.
    pub(crate) fn is_open(&self) -> bool {
        self.connection.as_ref().is_some_and(|connection| connection.end.is_none())
    }

    /// Returns whether new application messages are withheld until the counterparty has begun to
    /// send what is missing before its Logon.
    pub(crate) fn holds(&self) -> bool {
        self.connection.as_ref().is_some_and(|connection| {
            connection.logon.phase == Phase::LoggedOn && connection.logon.held_at == Some(self.stored.next_in)
        })
    }

    /// Returns whether a new message gets its sequence number and is stored, but not queued: during
    /// a replay, and while messages are missing before the counterparty's Logon, it is sent from
    /// the store afterwards, and while the session is not logged on the counterparty requests it
    /// later. Nothing new is sent after a Logout (rule 11).
    /// [`ReplayInterleave`](crate::ReplayInterleave) says what is sent during a replay all the
    /// same.
    pub(crate) fn keeps_back(&self, settings: &SessionSettings, msg_type: MsgType) -> bool {
        if msg_type.as_bytes() == msg_type::LOGON {
            return false;
        }
        match &self.connection {
            None => true,
            Some(connection) => {
                let logon = &connection.logon;
                if logon.replay.is_some()
                    && (msg_type.is_admin() || logon.phase == Phase::LoggedOn)
                    && settings.replay_interleave.sends(msg_type.as_bytes())
                {
                    return false;
                }
                logon.replay.is_some()
                    || logon.kept_from.is_some() && logon.phase == Phase::LoggedOn
                    || !msg_type.is_admin() && (logon.phase != Phase::LoggedOn || self.holds())
            }
        }
    }

    /// Returns the number of messages that wait for the end of a replay, or are withheld.
    pub(crate) fn waiting(&self) -> u64 {
        let first = self.connection.as_ref().and_then(|connection| {
            let Logon { replay, kept_from, .. } = connection.logon;
            replay.map(|replay| replay.live).or(kept_from)
        });
        first.map_or(0, |first| self.stored.next_out.0.saturating_sub(first.0))
    }

    /// Ends the withholding of messages: those that were withheld follow now, in front of whatever
    /// is written next.
    pub(crate) fn release(&mut self) {
        let began = self.stored.next_out;
        let Some(Connection { logon, .. }) = &mut self.connection else { return };
        if logon.phase == Phase::LoggedOn {
            logon.deadline = None;
        }
        logon.held_at = None;
        if let Some(live) = logon.kept_from.take() {
            let kept = Replay { next: live, end: live.previous(), gap_from: None, live, began };
            logon.replay.get_or_insert(kept);
        }
    }

    /// Records that our Logout waits for the end of a replay for which nothing else waits: what was
    /// written before it has been sent. Another request must not take it for sent, too.
    pub(crate) fn logout_waits(&mut self, seq: SeqNum) {
        if let Some(connection) = &mut self.connection
            && let Some(replay) = &mut connection.logon.replay
            && replay.live >= replay.began
        {
            (replay.live, replay.began) = (seq, seq.next());
        }
    }

    /// Returns the largest message that the counterparty accepts, in bytes.
    pub(crate) fn peer_max_message_size(&self) -> usize {
        self.connection.as_ref().map_or(usize::MAX, |connection| connection.peer_max_message_size)
    }

    /// Returns what buffered messages belong to: sequence numbers from before a reset and bytes of
    /// an earlier connection no longer apply.
    pub(crate) const fn epoch(&self) -> (Generation, ConnectionNumber) {
        (self.stored.generation, self.stored.connection)
    }

    /// Counts the expected message as processed.
    pub(crate) fn advance(&mut self) {
        self.stored.next_in = self.stored.next_in.next();
        self.stored.attempts = 0;
    }

    /// Resets both sequence numbers to 1, in a new generation; the logon starts again in its phase.
    /// Returns the messages that can no longer be sent.
    pub(crate) fn reset(&mut self) -> Option<Unsent> {
        let Stored { generation, connection, .. } = self.stored;
        let generation = Generation(generation.0.wrapping_add(1));
        let (next_in, next_out) = (SeqNum::ONE, SeqNum::ONE);
        self.stored = Stored { next_in, next_out, generation, connection, attempts: 0, began: None };
        self.gave_up_at = SeqNum::ZERO;
        if let Some(connection) = &mut self.connection {
            let Logon { phase, deadline, .. } = connection.logon;
            connection.logon = Logon::begin(phase, deadline);
        }
        self.unsent.take()
    }

    /// Records that the messages with these sequence numbers have not been sent.
    pub(crate) fn keep_back(&mut self, kept: Unsent) {
        let unsent = self.unsent.unwrap_or(kept);
        self.unsent = Some(Unsent { first: unsent.first.min(kept.first), last: unsent.last.max(kept.last) });
    }

    /// Records that every message up to `seq` was sent or gap-filled.
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
    /// Begins a connection, which is in its first phase until `deadline`.
    pub(crate) fn begin(now: Now, phase: Phase, deadline: Mono, heart_bt_int: u32) -> Self {
        Self {
            heart_bt_int,
            peer_max_message_size: usize::MAX,
            last_sent: now.mono,
            last_received: now.mono,
            test_request: None,
            test_requests: 0,
            logged_on: false,
            reset_asked: false,
            resetting: None,
            leaving: None,
            end: None,
            logon: Logon::begin(phase, Some(deadline)),
        }
    }

    /// Records a sign of life, which is any message that is not garbled (session standard,
    /// heartbeats).
    pub(crate) fn hear(&mut self, now: Mono) {
        self.last_received = now;
        self.test_request = None;
    }

    /// Requests that the connection be closed; the first reason counts. The application is notified
    /// once the transport has ended.
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
            held_at: None,
            ours: None,
            logout: None,
        }
    }
}
