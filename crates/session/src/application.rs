//! What the core asks of an application, and what an application may answer. Callbacks decide by return values.

use core::fmt;

use fixbolt_codec::{Message, SeqNum};

use crate::error::SendError;
use crate::event::Event;
use crate::fix::business_reason;
use crate::key::SessionKey;
use crate::store::{Record, Store, StoreError};
use crate::turn::Turn;

/// What an application does with messages. Called on the session's thread, one call at a time.
///
/// Only [`Application::on_message`] must be written.
pub trait Application {
    /// An application message, in sequence, each exactly once as long as the store is kept.
    ///
    /// Everything written through `turn` becomes visible together with the message's own processing, or not at all.
    ///
    /// # Errors
    /// An error (or a panic) rolls the turn back in every session it touched and disconnects the session; the counterparty
    /// sends the message again after the next logon. After the configured number of attempts the session is halted.
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, SendError>;

    /// A counterparty wants to log on, and its Logon names this session: is it allowed to (Username 553, Password 554)? Asked
    /// before anything else in the Logon is checked; a counterparty that may not log on learns nothing of what else is wrong.
    /// [`Event::LoggedOn`] tells when the session is logged on.
    fn on_logon(&mut self, session: SessionKey, logon: Message<'_>) -> LogonDecision {
        let _ = (session, logon);
        LogonDecision::Accept
    }

    /// A stored message is about to be sent again because the counterparty asked for it.
    fn on_resend(&mut self, session: SessionKey, message: Message<'_>) -> Resend {
        let _ = (session, message);
        Resend::Send
    }

    /// The session was opened; `resume` shows what its store holds, so that the application needs no files of its own.
    fn on_resume(&mut self, session: SessionKey, resume: &mut Resume<'_>) {
        let _ = (session, resume);
    }

    /// Something happened to the session. For logs, metrics and reactions outside a turn.
    fn on_event(&mut self, session: SessionKey, event: &Event<'_>) {
        let _ = (session, event);
    }
}

/// What became of an application message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Delivery {
    /// Processed.
    Done,
    /// Answer with a session Reject (35=3): the message breaks a rule that the dictionary does not know.
    Reject {
        /// SessionRejectReason (373).
        reason: u16,
        /// RefTagID (371); 0 names none.
        tag: u32,
        /// Text (58); empty sends none.
        text: &'static str,
    },
    /// Answer with a BusinessMessageReject (35=j); before FIX.4.2 with a Reject.
    BusinessReject {
        /// BusinessRejectReason (380); 3 is "Unsupported Message Type".
        reason: u16,
        /// Text (58); empty sends none.
        text: &'static str,
    },
    /// Not now: offer the message again later and read nothing more from this counterparty until then. What the turn wrote
    /// is rolled back.
    NotNow,
}

impl Delivery {
    /// The application does not handle messages of this type (test case 2r).
    pub const UNSUPPORTED: Self = Self::BusinessReject {
        reason: business_reason::UNSUPPORTED_MESSAGE_TYPE,
        text: "Unsupported Message Type",
    };
}

/// Whether a counterparty may log on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LogonDecision {
    /// It may.
    Accept,
    /// It may not: Logout with this text, then disconnect; without a text, the connection is closed without a word.
    Refuse {
        /// Text (58) of the Logout; empty sends no Logout.
        text: String,
    },
}

/// What to do with a stored message that the counterparty asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resend {
    /// Send it again with PossDupFlag=Y.
    Send,
    /// It is of no use any more: gap-fill its number.
    GapFill,
}

/// A session's store as its application sees it at the start.
pub struct Resume<'a> {
    pub(crate) store: &'a mut dyn Store,
    pub(crate) key: SessionKey,
    pub(crate) next_in: SeqNum,
    pub(crate) next_out: SeqNum,
}

impl Resume<'_> {
    /// Next number expected from the counterparty: everything before it was delivered.
    #[must_use]
    pub const fn next_in(&self) -> SeqNum {
        self.next_in
    }

    /// Next number that will be sent: everything before it is in the store.
    #[must_use]
    pub const fn next_out(&self) -> SeqNum {
        self.next_out
    }

    /// Walks over every record since the numbers were last reset, oldest first.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when a record no longer matches its checksum.
    pub fn records(
        &mut self,
        visit: &mut dyn FnMut(Record<'_>) -> core::ops::ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.store.replay(self.key, visit)
    }
}

impl fmt::Debug for Resume<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resume").field("next_in", &self.next_in).field("next_out", &self.next_out).finish()
    }
}
