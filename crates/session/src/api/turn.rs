//! A turn: one inbound message (or one call from outside) and everything that is written because of
//! it, in any session of the worker. It is committed or rolled back as a whole.

use core::fmt;
use std::sync::Arc;

use fixbolt_codec::{Message, SeqNum};

use crate::core::Core;
use crate::events::end::Halt;
use crate::send::draft::Handle;
use crate::settings::Role;
use crate::state::Phase;
use crate::state::session::Session;
use crate::store::waker::SessionWaker;
use crate::values::id::SessionId;
use crate::values::key::SessionKey;
use crate::values::time::Now;

/// What a callback knows about its session, and where it writes. It has no type parameters, so that
/// `dyn Application` is possible.
///
/// Everything that a callback writes, in any session of the worker, is committed together once it
/// returns, or rolled back if it fails. The sequence numbers it reads include what it has written
/// itself.
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
///     fn on_message(
///         &mut self,
///         message: Message<'_>,
///         turn: &mut Turn<'_>,
///     ) -> Result<Delivery, Failure> {
///         println!("{}: {message:?}", turn.session_id());
///         Ok(Delivery::Done)
///     }
///
///     fn on_event(&mut self, event: &Event<'_>, turn: &mut Turn<'_>) -> Result<(), Failure> {
///         if matches!(event, Event::LoggedOn) {
///             let mut order = turn.session().draft(MsgType::new(b"D"));
///             order.writer().bytes(Key::new(11), b"ord1").bytes(Key::new(55), b"IBM");
///             order.send()?;
///         }
///         Ok(())
///     }
/// }
/// ```
pub struct Turn<'a> {
    pub(crate) now: Now,
    /// Whether the transaction is open. That of a message is open from the beginning, any other
    /// once something is written.
    pub(crate) in_transaction: bool,
    /// The inbound message, if it has routing fields.
    pub(crate) route: Option<Message<'a>>,
    pub(crate) cause: Option<SeqNum>,
    pub(crate) redelivered: bool,
    /// Whether the Logon that is being sent resets the sequence numbers.
    pub(crate) resets: bool,
    /// The place of the callback's session.
    pub(crate) own: usize,
    pub(crate) core: &'a mut Core,
}

impl<'a> Turn<'a> {
    /// Creates a turn of the session at place `own`, without an inbound message, whose transaction
    /// is not open.
    pub(crate) const fn new(now: Now, core: &'a mut Core, own: usize) -> Self {
        Self {
            now,
            in_transaction: false,
            route: None,
            cause: None,
            redelivered: false,
            resets: false,
            own,
            core,
        }
    }
}

impl Turn<'_> {
    /// Returns the clocks of this turn, which are the SendingTime (52) of everything written in it.
    #[must_use]
    pub const fn now(&self) -> Now {
        self.now
    }

    fn own(&self) -> &Session {
        &self.core.sessions[self.own]
    }

    /// Returns the key of the session that the callback is about.
    #[must_use]
    pub fn key(&self) -> SessionKey {
        self.own().fixed.key
    }

    /// Returns the identity of the session.
    #[must_use]
    pub fn session_id(&self) -> &SessionId {
        &self.own().fixed.settings.id
    }

    /// Returns whether this side connects.
    #[must_use]
    pub fn role(&self) -> Role {
        self.own().fixed.settings.role
    }

    /// Returns the phase of the session.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.own().state.phase()
    }

    /// Returns why the session is halted, if it is.
    #[must_use]
    pub fn halted(&self) -> Option<&Halt> {
        self.own().standing.halted.as_ref()
    }

    /// Returns MsgSeqNum (34) of the inbound message; `None` in a turn without an inbound message.
    #[must_use]
    pub const fn seq(&self) -> Option<SeqNum> {
        self.cause
    }

    /// Returns whether the application may have seen this message before: an earlier attempt
    /// failed, or the process ended during it.
    #[must_use]
    pub const fn redelivered(&self) -> bool {
        self.redelivered
    }

    /// Returns the next sequence number expected from the counterparty.
    #[must_use]
    pub fn next_in(&self) -> SeqNum {
        self.own().state.stored.next_in
    }

    /// Returns the next sequence number that will be sent. In
    /// [`Application::on_sending_logon`](crate::Application::on_sending_logon) it is that of the
    /// Logon: 1 if that resets the sequence numbers.
    #[must_use]
    pub fn next_out(&self) -> SeqNum {
        if self.resets { SeqNum::ONE } else { self.own().state.stored.next_out }
    }

    /// Returns the number of bytes that can be written to the callback's session before sending
    /// returns [`SendError::BackPressure`](crate::SendError::BackPressure). Half of the outbox is
    /// reserved for answers, so that a session that sends as fast as it can still reads.
    #[must_use]
    pub fn room(&self) -> usize {
        let own = self.own();
        let kept = if self.cause.is_some() { 0 } else { own.outbox.size() / 2 };
        own.outbox.room().saturating_sub(kept)
    }

    /// Returns a handle for any thread: after [`Delivery::NotNow`](crate::Delivery::NotNow) it has
    /// the message offered again.
    #[must_use]
    pub fn waker(&self) -> SessionWaker {
        SessionWaker::new(Arc::clone(&self.core.waker), self.key())
    }

    /// Returns the session of this worker with this identity, if it is open.
    #[must_use]
    pub fn find(&self, id: &SessionId) -> Option<SessionKey> {
        self.core.sessions.find_id(id)
    }

    /// Returns a handle that writes to the callback's session, usually an answer. Routing fields of
    /// the inbound message (115, 116, 144 and 128, 129, 145) are reversed in it.
    pub fn session(&mut self) -> Handle<'_> {
        self.begin();
        let (cause, route) = (self.cause, self.route.as_ref());
        Handle { cause, route, ..Handle::new(self.now, self.core, self.own) }
    }

    /// Returns a handle that writes to any session of this worker, without routing fields; `None`
    /// if no such session is open. [`Turn::find`] returns the key of a session.
    pub fn to(&mut self, session: SessionKey) -> Option<Handle<'_>> {
        let index = self.core.sessions.find(session)?;
        self.begin();
        self.core.touch(index);
        let cause = if index == self.own { self.cause } else { None };
        Some(Handle { cause, ..Handle::new(self.now, self.core, index) })
    }

    /// Begins the transaction if it has not begun.
    fn begin(&mut self) {
        if !self.in_transaction {
            self.in_transaction = true;
            self.core.begin(self.own);
        }
    }
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
