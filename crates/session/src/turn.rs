//! A turn: one inbound message (or one call from outside) and everything that is written because of it, in any session of
//! the worker. Committed or rolled back as a whole.

use std::sync::Arc;

use fixbolt_codec::{Message, SeqNum};

use crate::draft::Handle;
use crate::id::SessionId;
use crate::session::Session;
use crate::store::{SessionKey, Store};
use crate::table;
use crate::time::Now;
use crate::waker::{SessionWaker, WorkerWaker};

/// What an application may do inside a callback. No type parameter, so that it fits into `dyn Application`.
pub struct Turn<'a> {
    pub(crate) now: Now,
    pub(crate) number: u64,
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

    /// The session that the message came from.
    #[must_use]
    pub fn session(&self) -> SessionKey {
        self.own().key
    }

    /// Its identity.
    #[must_use]
    pub fn session_id(&self) -> &SessionId {
        &self.own().settings.id
    }

    /// MsgSeqNum (34) of the inbound message; `None` in a turn that was begun from outside.
    #[must_use]
    pub const fn seq(&self) -> Option<SeqNum> {
        self.cause
    }

    /// Whether the application may have seen this message before: an earlier attempt failed, or the process died in it.
    #[must_use]
    pub const fn redelivered(&self) -> bool {
        self.redelivered
    }

    /// The next number that will be sent in the own session.
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
        SessionWaker::new(Arc::clone(self.waker), self.session())
    }

    /// Where to write an answer. Routing fields of the inbound message (115, 116, 144 and 128, 129, 145) are reversed on it.
    pub fn reply(&mut self) -> Handle<'_> {
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
        let cause = if session.index() == self.own { self.cause } else { None };
        let session = table::find_mut(self.table, session)?;
        if session.touch(self.number) {
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
}
