//! The state of a session, sorted by how long it lasts: that of the store, of a connection, of a
//! logon.
//!
//! A lifetime ends when its value is replaced. What belongs to none of them stands in [`State`].

pub(crate) mod backlog;
pub(crate) mod guarded;
pub(crate) mod horizon;
pub(crate) mod intake;
pub(crate) mod missing;
pub(crate) mod next;
pub(crate) mod outbound_check;
pub(crate) mod outbox;
pub(crate) mod phase;
pub(crate) mod reading;
pub(crate) mod reorder;
pub(crate) mod resending;
pub(crate) mod session;
pub(crate) mod standing;
pub(crate) mod status;
pub(crate) mod throttling;
pub(crate) mod timers;
pub(crate) mod transaction;
pub(crate) mod waiting;
pub(crate) mod withheld;

use std::sync::Arc;

use fixbolt_codec::SeqNum;

use crate::events::end::SessionEnd;
use crate::limits::flood::Added;
use crate::limits::throttle::Counted;
use crate::settings::dictionaries::NamedVersions;
use crate::state::backlog::{Backlog, Unsent};
use crate::state::missing::Missing;
use crate::state::phase::PhaseState;
use crate::state::reorder::Series;
use crate::store::{ConnectionNumber, Generation, Record, WaitingMessages};
use crate::values::time::{Mono, Now, Utc};
use crate::wire::admin_message::TestReqIdValue;

pub use crate::state::phase::Phase;

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
    /// How many messages wait for a throttle.
    pub(crate) wait: u32,
    /// The number of messages that have waited.
    pub(crate) waited: u64,
    /// When the generation began; `None` before its first record.
    pub(crate) began: Option<Utc>,
}

/// The state of one transport connection.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Connection {
    /// HeartBtInt (108) in force, in seconds.
    pub(crate) heart_bt_int: u32,
    /// The largest message that the counterparty accepts (383 of its Logon), in bytes.
    pub(crate) peer_max_message_size: u32,
    pub(crate) last_sent: Mono,
    pub(crate) last_received: Mono,
    /// When our TestRequest that has not been answered yet was sent.
    pub(crate) test_request: Option<Mono>,
    /// The number of TestRequests sent, from which the next TestReqID (112) follows.
    pub(crate) test_requests: u32,
    /// Whether the Logons were exchanged in this connection.
    pub(crate) logged_on: bool,
    /// The reset of the sequence numbers in the session that we have begun, which outlives the
    /// phase in which it began. Replaced whole, so that a snapshot of the state costs no copy; so
    /// is the next one.
    pub(crate) resetting: Option<Arc<Resetting>>,
    /// Why the connection is being closed, if it is.
    pub(crate) end: Option<Arc<SessionEnd>>,
    pub(crate) logon: Logon,
}

/// `clone_from` copies in place, as that of [`State`] does.
impl Clone for Connection {
    fn clone(&self) -> Self {
        let Self { resetting, end, logon, .. } = self;
        Self { resetting: resetting.clone(), end: end.clone(), logon: logon.clone(), ..*self }
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
            resetting,
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
        self.resetting.clone_from(resetting);
        self.end.clone_from(end);
        self.logon.clone_from(logon);
    }
}

/// The state of a logon. A reset of the sequence numbers begins a new one.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Logon {
    pub(crate) phase: PhaseState,
    /// What we have asked for.
    pub(crate) missing: Option<Missing>,
    /// What is numbered and not yet on the wire.
    pub(crate) backlog: Backlog,
    /// A ResendRequest that arrived after a gap and was answered at once.
    pub(crate) request_answered: Option<SeqNum>,
    /// A Logout with this sequence number arrived after a gap; it is answered when the gap is
    /// filled.
    pub(crate) logout_waits: Option<SeqNum>,
    /// MsgSeqNum of our Logon.
    pub(crate) ours: Option<SeqNum>,
    /// The number of SequenceReset-Resets.
    pub(crate) resets: u32,
}

/// `clone_from` copies in place, as that of [`State`] does.
impl Clone for Logon {
    fn clone(&self) -> Self {
        Self { phase: self.phase.clone(), ..*self }
    }

    #[inline]
    fn clone_from(&mut self, source: &Self) {
        let Self { phase, missing, backlog, request_answered, logout_waits, ours, resets } = source;
        self.phase.copy_from(phase);
        (self.missing, self.backlog) = (*missing, *backlog);
        (self.request_answered, self.logout_waits, self.ours) = (*request_answered, *logout_waits, *ours);
        self.resets = *resets;
    }
}

/// A reset of the sequence numbers in the session that we have begun (R-RESET-7).
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Resetting {
    pub(crate) stage: ResetStage,
    /// When the stage ends if nothing happens.
    pub(crate) until: Mono,
    /// The number of its TestRequest among those of the connection.
    pub(crate) test_request: u32,
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
        self.connection.as_ref().map_or(Phase::Disconnected, |connection| connection.logon.phase())
    }

    /// Returns what the reset that we have begun waits for.
    pub(crate) fn reset_stage(&self) -> Option<ResetStage> {
        Some(self.connection.as_ref()?.resetting.as_ref()?.stage)
    }

    /// Returns whether there is a connection that is not about to be closed.
    pub(crate) fn is_open(&self) -> bool {
        self.connection.as_ref().is_some_and(|connection| connection.end.is_none())
    }

    /// Returns whether a counterparty whose messages end the connection gets a Logout that says
    /// why: once it is logged on, unless ours was sent before.
    // R-LOGOUT-12
    pub(crate) fn may_log_out(&self) -> bool {
        self.connection.as_ref().is_some_and(|connection| {
            let logon = &connection.logon;
            connection.end.is_none() && (logon.phase() == Phase::LoggedOn || logon.logout_is_held())
        })
    }

    /// Returns the largest message that the counterparty accepts, in bytes.
    pub(crate) fn peer_max_message_size(&self) -> usize {
        let most = self.connection.as_ref().map_or(u32::MAX, |connection| connection.peer_max_message_size);
        if most == u32::MAX { usize::MAX } else { most as usize }
    }

    /// Returns the sequence numbers to which buffered messages must belong.
    // R-GAP-8
    pub(crate) fn series(&self) -> Series {
        let Stored { generation, connection, .. } = self.stored;
        // After a connection, nothing that it left applies.
        let resets = self.connection.as_ref().map_or(u32::MAX, |connection| connection.logon.resets);
        Series { generation, connection, resets }
    }

    /// Follows a SequenceReset-Reset: `new` is the number of the counterparty's next message. What
    /// came or was requested under the numbers from there on no longer applies.
    pub(crate) fn restart_inbound(&mut self, new: SeqNum) {
        (self.stored.next_in, self.stored.attempts, self.gave_up_at) = (new, 0, SeqNum::ZERO);
        if self.connection.as_ref().is_some_and(|connection| connection.logon.phase.held().is_some()) {
            self.release();
        }
        if let Some(Connection { logon, .. }) = &mut self.connection {
            logon.resets = logon.resets.wrapping_add(1);
            (logon.missing, logon.request_answered) = (None, None);
            // The counterparty waits for the answer.
            logon.logout_waits = logon.logout_waits.map(|_| new);
        }
    }

    /// Counts the expected message as processed.
    // R-SEQ-2
    pub(crate) fn advance(&mut self) {
        self.stored.next_in = self.stored.next_in.next();
        self.stored.attempts = 0;
    }

    /// Resets both sequence numbers to 1, in a new generation; the logon starts again in its phase.
    /// Returns the messages that can no longer be sent.
    pub(crate) fn reset(&mut self) -> Option<Unsent> {
        let generation = Generation(self.stored.generation.0.wrapping_add(1));
        let (next_in, next_out) = (SeqNum::ONE, SeqNum::ONE);
        self.stored =
            Stored { next_in, next_out, generation, attempts: 0, wait: 0, began: None, ..self.stored };
        self.gave_up_at = SeqNum::ZERO;
        if let Some(connection) = &mut self.connection {
            connection.logon = Logon::begin(connection.logon.phase.clone().renumbered());
        }
        self.unsent.take()
    }
}

impl Stored {
    /// Returns which messages wait for a throttle.
    #[inline]
    pub(crate) fn waiting(&self) -> WaitingMessages {
        WaitingMessages { count: self.wait, last: self.waited }
    }

    /// Records which messages wait after a record.
    #[inline]
    pub(crate) fn note_waiting(&mut self, record: &Record<'_>) {
        let WaitingMessages { count, last } = self.waiting().after(record.kind, record.flags, record.seq);
        (self.wait, self.waited) = (count, last);
    }
}

impl Connection {
    /// Begins a connection in its first phase.
    pub(crate) fn begin(now: Now, phase: PhaseState, heart_bt_int: u32) -> Self {
        Self {
            heart_bt_int,
            peer_max_message_size: u32::MAX,
            last_sent: now.mono,
            last_received: now.mono,
            test_request: None,
            test_requests: 0,
            logged_on: false,
            resetting: None,
            end: None,
            logon: Logon::begin(phase),
        }
    }

    /// Records a sign of life, which is any message that is not garbled (session standard,
    /// heartbeats).
    // R-HEARTBEAT-6
    pub(crate) fn hear(&mut self, now: Mono) {
        self.last_received = now;
        self.test_request = None;
    }

    /// Requests that the connection be closed; the first reason counts. The application is notified
    /// once the transport has ended.
    pub(crate) fn close(&mut self, end: SessionEnd) {
        self.end.get_or_insert_with(|| Arc::new(end));
    }
}

impl Logon {
    pub(crate) fn begin(phase: PhaseState) -> Self {
        let (missing, backlog) = (None, Backlog::default());
        Self { phase, missing, backlog, request_answered: None, logout_waits: None, ours: None, resets: 0 }
    }

    pub(crate) const fn phase(&self) -> Phase {
        self.phase.phase()
    }

    /// Returns whether our Logout has been sent and is not answered. One that waits for the end of
    /// a replay has not been sent.
    pub(crate) fn logout_is_sent(&self) -> bool {
        self.phase() == Phase::LogoutSent && !self.logout_is_held()
    }

    /// Returns whether our Logout waits for the end of a replay.
    pub(crate) fn logout_is_held(&self) -> bool {
        let logout = self.phase.leave().and_then(|leave| leave.seq);
        self.backlog.replay.is_some_and(|replay| logout.is_some_and(|seq| seq >= replay.live))
    }
}
