//! A turn: one inbound message (or one call from outside) and everything that is written because of it, in any session of
//! the worker. Committed or rolled back as a whole.

use core::fmt;
use std::sync::Arc;

use fixbolt_codec::{Message, SeqNum};

use crate::draft::Handle;
use crate::end::Halt;
use crate::id::SessionId;
use crate::key::SessionKey;
use crate::session::Session;
use crate::settings::Role;
use crate::state::Phase;
use crate::store::Store;
use crate::table;
use crate::time::Now;
use crate::waker::{SessionWaker, WorkerWaker};

/// What a callback knows of its session, and where it writes. No type parameter, so that it fits into `dyn Application`.
///
/// Everything that a callback writes, in any session of the worker, is committed together once it returns, or rolled back
/// if it fails. What it sees of a session's sequence numbers includes what it has written itself.
///
/// An initiator sends its first order once it is logged on:
///
/// ```
/// use fixbolt_codec::{BodySink, Key, Message, MsgType, NewBody};
/// use fixbolt_session::{Application, Delivery, Event, Failure, Turn};
///
/// struct Desk;
///
/// impl Application for Desk {
///     fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
///         println!("{}: {message:?}", turn.session_id());
///         Ok(Delivery::Done)
///     }
///
///     fn on_event(&mut self, event: &Event<'_>, turn: &mut Turn<'_>) -> Result<(), Failure> {
///         if matches!(event, Event::LoggedOn) {
///             let mut order = turn.reply().draft(MsgType::new(b"D"));
///             order.writer().bytes(Key::new(11), b"ord1").bytes(Key::new(55), b"IBM");
///             order.send()?;
///         }
///         Ok(())
///     }
/// }
/// ```
pub struct Turn<'a> {
    pub(crate) now: Now,
    /// Transactions of this worker; the open one has the last number.
    pub(crate) turns: &'a mut u64,
    /// Whether the transaction is open: that of a message is from the beginning, another one from the first writing on.
    pub(crate) open: bool,
    pub(crate) inbound: Option<Message<'a>>,
    pub(crate) cause: Option<SeqNum>,
    pub(crate) redelivered: bool,
    pub(crate) own: usize,
    pub(crate) table: &'a mut [Option<Session>],
    pub(crate) store: &'a mut (dyn Store + 'a),
    pub(crate) touched: &'a mut Vec<usize>,
    pub(crate) waker: &'a Arc<dyn WorkerWaker>,
}

impl Turn<'_> {
    /// The clocks of this turn; SendingTime (52) of everything written in it.
    #[must_use]
    pub const fn now(&self) -> Now {
        self.now
    }

    fn own(&self) -> &Session {
        table::opened(self.table, self.own)
    }

    /// The session that the callback is about.
    #[must_use]
    pub fn key(&self) -> SessionKey {
        self.own().key
    }

    /// Its identity.
    #[must_use]
    pub fn session_id(&self) -> &SessionId {
        &self.own().settings.id
    }

    /// Whether this side connects.
    #[must_use]
    pub fn role(&self) -> Role {
        self.own().settings.role
    }

    /// Where the session stands.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.own().state.phase()
    }

    /// Why the session stands still until somebody ends that.
    #[must_use]
    pub fn halted(&self) -> Option<&Halt> {
        self.own().halted.as_ref()
    }

    /// MsgSeqNum (34) of the inbound message; `None` in a turn that processes none.
    #[must_use]
    pub const fn seq(&self) -> Option<SeqNum> {
        self.cause
    }

    /// Whether the application may have seen this message before: an earlier attempt failed, or the process died in it.
    #[must_use]
    pub const fn redelivered(&self) -> bool {
        self.redelivered
    }

    /// The next sequence number expected from the counterparty.
    #[must_use]
    pub fn next_in(&self) -> SeqNum {
        self.own().state.stored.next_in
    }

    /// The next sequence number that will be sent.
    #[must_use]
    pub fn next_out(&self) -> SeqNum {
        self.own().state.stored.next_out
    }

    /// Bytes that can still be written to the own session before it answers
    /// [`SendError::BackPressure`](crate::SendError::BackPressure). Half of the outbox is for answers, so that a session that
    /// sends as fast as it can goes on reading.
    #[must_use]
    pub fn room(&self) -> usize {
        let own = self.own();
        let kept = if self.cause.is_some() { 0 } else { own.outbox.size() / 2 };
        own.outbox.room().saturating_sub(kept)
    }

    /// A handle for any thread: after [`Delivery::NotNow`](crate::Delivery::NotNow) it has the message offered again.
    #[must_use]
    pub fn waker(&self) -> SessionWaker {
        SessionWaker::new(Arc::clone(self.waker), self.key())
    }

    /// The session of this worker with this identity, if it is open.
    #[must_use]
    pub fn find(&self, id: &SessionId) -> Option<SessionKey> {
        table::find_id(self.table, id)
    }

    /// Where to write an answer, or a message of the own session where nothing is to be answered. Routing fields of the
    /// inbound message (115, 116, 144 and 128, 129, 145) are reversed on it.
    pub fn reply(&mut self) -> Handle<'_> {
        self.begin();
        Handle {
            now: self.now,
            session: table::opened_mut(self.table, self.own),
            store: &mut *self.store,
            cause: self.cause,
            route: self.inbound,
            header: &[],
            session_layer: false,
        }
    }

    /// Where to write a message of another session of this worker, or of the own one without routing fields; `None` if no
    /// such session is open.
    pub fn to(&mut self, session: SessionKey) -> Option<Handle<'_>> {
        table::find(self.table, session)?;
        self.begin();
        let cause = if session.index() == self.own { self.cause } else { None };
        let session = table::find_mut(self.table, session)?;
        if session.touch(*self.turns) {
            self.touched.push(session.key.index());
        }
        Some(Handle {
            now: self.now,
            session,
            store: &mut *self.store,
            cause,
            route: None,
            header: &[],
            session_layer: false,
        })
    }

    /// Begins the transaction, if that has not happened yet.
    pub(crate) fn begin(&mut self) {
        if self.open {
            return;
        }
        self.open = true;
        begin(self.own, self.table, self.store, self.turns, self.touched);
    }
}

/// Begins a transaction of the session in place `own`.
pub(crate) fn begin(
    own: usize,
    table: &mut [Option<Session>],
    store: &mut dyn Store,
    turns: &mut u64,
    touched: &mut Vec<usize>,
) {
    *turns += 1;
    touched.clear();
    store.begin();
    table::opened_mut(table, own).touch(*turns);
    touched.push(own);
}

impl fmt::Debug for Turn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turn")
            .field("session", &format_args!("{}", self.session_id()))
            .field("phase", &self.phase())
            .field("next_in", &self.next_in())
            .field("next_out", &self.next_out())
            .field("seq", &self.cause)
            .finish_non_exhaustive()
    }
}
