//! A session's store as its application reads it when the session is opened.

use core::fmt;
use core::ops::ControlFlow;

use fixbolt_codec::{Body, DataFields, Message, SeqNum};
use fixbolt_dictionary::Direction;

use crate::api::turn::Turn;
use crate::events::event::Ticket;
use crate::events::failure::Failure;
use crate::state::waiting::WaitingBody;
use crate::store::stored_message::{FieldStorage, NO_MESSAGE, with_message};
use crate::store::{RecordFlags, RecordKind, StoreError};
use crate::values::time::Utc;

/// The contents of a session's store, so that the application needs no files of its own.
///
/// ```
/// use fixbolt_session::{Application, Delivery, Direction, Failure, Resume, Turn};
/// # use fixbolt_codec::Message;
///
/// /// Counts the orders that were sent before the process started.
/// struct Desk {
///     orders: usize,
/// }
///
/// impl Application for Desk {
///     fn on_resume(&mut self, resume: &mut Resume<'_>) -> Result<(), Failure> {
///         resume.messages(|stored| {
///             let is_order = stored.message.msg_type() == b"D";
///             self.orders += usize::from(is_order && stored.direction == Direction::Outbound);
///             Ok(())
///         })
///     }
/// #    fn on_message(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
/// #        Ok(Delivery::Done)
/// #    }
/// }
/// ```
pub struct Resume<'a> {
    pub(crate) turn: Turn<'a>,
    pub(crate) data_fields: &'a DataFields,
    pub(crate) fields: &'a mut FieldStorage,
    /// What is wrong with the store, if it was asked for messages that it cannot give.
    pub(crate) fault: Option<StoreError>,
}

/// A message in the session's store.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct StoredMessage<'s> {
    /// Who sent it.
    pub direction: Direction,
    /// MsgSeqNum (34).
    pub seq: SeqNum,
    /// Whether it belongs to the session layer.
    pub is_admin: bool,
    /// Whether the application processed it: an application message of the counterparty that was in
    /// sequence.
    pub delivered: bool,
    /// MsgSeqNum of the counterparty's message whose turn wrote it.
    pub cause: Option<SeqNum>,
    /// When it was stored.
    pub utc: Utc,
    /// The whole message; secrets are masked with `*`.
    pub message: Message<'s>,
}

impl<'a> Resume<'a> {
    /// Returns the turn, which knows the session and can write.
    pub const fn turn(&mut self) -> &mut Turn<'a> {
        &mut self.turn
    }

    /// Returns the next sequence number expected from the counterparty: every message before it was
    /// delivered.
    #[must_use]
    pub fn next_in(&self) -> SeqNum {
        self.turn.next_in()
    }

    /// Returns the next sequence number that will be sent.
    #[must_use]
    pub fn next_out(&self) -> SeqNum {
        self.turn.next_out()
    }

    /// Visits every message since the sequence numbers were last reset, in both directions, oldest
    /// first. Messages whose turn was rolled back are not among them, nor those that the store has
    /// let go of because they are no longer sent again
    /// ([`ResendSettings::resend_horizon`](crate::ResendSettings::resend_horizon)).
    ///
    /// # Errors
    /// Returns [`StoreError::Damaged`] if a record does not match its checksum or is not a FIX
    /// message, and otherwise the first error of `visit`, which is not called again after it.
    pub fn messages(
        &mut self,
        mut visit: impl FnMut(StoredMessage<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let Self { turn, data_fields, fields, fault } = self;
        let key = turn.key();
        let (session, store) = turn.core.session_and_store(turn.own);
        let mut result = Ok(());
        let replayed = store.replay(key, &mut |record| {
            let direction = match record.kind {
                RecordKind::Inbound => Direction::Inbound,
                RecordKind::Outbound => Direction::Outbound,
                _ => return ControlFlow::Continue(()),
            };
            let (seq, cause, utc) = (record.seq, record.cause, record.utc);
            let is_admin = record.flags.contains(RecordFlags::ADMIN);
            let delivered = record.flags.contains(RecordFlags::DELIVERED);
            let visited = with_message(record.body, direction, data_fields, fields, |message, places| {
                let message = session.placed(message, direction, places);
                visit(StoredMessage { direction, seq, is_admin, delivered, cause, utc, message })
            });
            result = visited.unwrap_or_else(|| {
                let (place, reason) = (format!("message {seq}, {direction}"), NO_MESSAGE.into());
                let error = fault.insert(StoreError::Damaged { place, reason });
                Err(error.clone().into())
            });
            if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        if let Err(error) = replayed {
            *fault = Some(error.clone());
            return Err(error.into());
        }
        result
    }
}

impl Resume<'_> {
    /// Visits the messages that wait for a throttle
    /// ([`OutboundThrottle::Wait`](crate::OutboundThrottle::Wait)), oldest first: they have been
    /// accepted before, and are sent after the next logon. Those that cannot be sent any more are
    /// not among them; [`Event::NotSent`](crate::Event::NotSent) follows.
    pub fn waiting(&self, mut visit: impl FnMut(Ticket, Body<'_>)) {
        let session = &self.turn.core.sessions[self.turn.own];
        for (_, body) in session.waiting.iter(session.state.stored.waiting()) {
            if !body.is_lost {
                let WaitingBody { ticket, msg_type, bytes, sum, .. } = body;
                visit(*ticket, Body { msg_type: *msg_type, bytes, sum: *sum });
            }
        }
    }
}

impl fmt::Debug for Resume<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resume")
            .field("next_in", &self.next_in())
            .field("next_out", &self.next_out())
            .finish_non_exhaustive()
    }
}
