//! What the core asks of an application, and what an application may answer. Callbacks decide by return values.

use core::fmt;

use fixbolt_codec::{BodyWriter, Message};

use crate::event::Event;
use crate::failure::Failure;
use crate::rejects::{BusinessReject, BusinessRejectReason, SessionReject};
use crate::resume::Resume;
use crate::turn::Turn;

/// What an application does with messages. Called on the session's thread, one call at a time.
///
/// Only [`Application::on_message`] must be written. Each callback gets a [`Turn`], which knows the session and can write:
/// what a callback writes, in any session of the worker, becomes visible as a whole or not at all. An error or a panic
/// rolls it back; see [`Failure`] for what the counterparty hears of an error.
pub trait Application {
    /// An application message, in sequence, each exactly once as long as the store is kept.
    ///
    /// Everything written through `turn` becomes visible together with the message's own processing, or not at all.
    ///
    /// # Errors
    /// [`Failure`] says which errors reject the message. A failure of the application (or a panic) rolls the turn back in
    /// every session it touched and disconnects the session; the counterparty sends the message again after the next
    /// logon. After the configured number of attempts the session is halted.
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure>;

    /// The counterparty's Logon, to an initiator the answer to its own: may it log on (Username 553, Password 554)?
    ///
    /// Asked before anything else in the Logon is checked: a counterparty that may not log on learns nothing of what else
    /// is wrong. [`Event::LoggedOn`] follows once the session is logged on.
    ///
    /// # Errors
    /// A failure closes the connection without a word.
    fn on_logon(&mut self, logon: Message<'_>, turn: &mut Turn<'_>) -> Result<LogonDecision, Failure> {
        let _ = (logon, turn);
        Ok(LogonDecision::Accept)
    }

    /// A Logon of ours is about to be sent, an initiator's or an acceptor's answer: fields of its own are added here, such
    /// as NewPassword (925), RawData (96) or user-defined ones.
    ///
    /// `logon` holds the session layer's fields already, and those of [`SessionSettings::logon`](crate::SessionSettings::logon).
    ///
    /// # Errors
    /// A failure closes the connection. A field that stands in the Logon already does, too.
    fn on_sending_logon(&mut self, logon: &mut BodyWriter<'_>, turn: &mut Turn<'_>) -> Result<(), Failure> {
        let _ = (logon, turn);
        Ok(())
    }

    /// A stored message is about to be sent again because the counterparty asked for it.
    ///
    /// # Errors
    /// A failure closes the connection.
    fn on_resend(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Resend, Failure> {
        let _ = (message, turn);
        Ok(Resend::Send)
    }

    /// The session was opened; `resume` shows what its store holds, so that the application needs no files of its own.
    ///
    /// # Errors
    /// A failure halts the session: the application does not know where it stands.
    fn on_resume(&mut self, resume: &mut Resume<'_>) -> Result<(), Failure> {
        let _ = resume;
        Ok(())
    }

    /// Something happened to the session. An initiator sends its first order when it hears [`Event::LoggedOn`].
    ///
    /// # Errors
    /// A failure closes the connection, if there is one.
    fn on_event(&mut self, event: &Event<'_>, turn: &mut Turn<'_>) -> Result<(), Failure> {
        let _ = (event, turn);
        Ok(())
    }
}

/// What became of an application message.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Delivery {
    /// Processed.
    Done,
    /// Answered with a Reject (35=3): the message breaks a rule that the dictionary does not know. What the turn wrote
    /// stays.
    Reject(SessionReject),
    /// Answered with a BusinessMessageReject (35=j); before FIX.4.2 with a Reject. What the turn wrote stays.
    BusinessReject(BusinessReject),
    /// Not now: offer the message again later and read nothing more from this counterparty until then. What the turn wrote
    /// is rolled back.
    NotNow,
}

impl Delivery {
    /// The application does not process messages of this type (test case 2r).
    pub const UNSUPPORTED: Self =
        Self::BusinessReject(BusinessReject::new(BusinessRejectReason::UNSUPPORTED_MESSAGE_TYPE));
}

/// Whether a counterparty may log on.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LogonDecision {
    /// It may.
    Accept,
    /// It may not, and learns nothing: the connection is closed without a word.
    RefuseSilently,
    /// It may not, and is told why: a Logout, then the connection is closed.
    Refuse {
        /// Text (58) of the Logout.
        text: String,
    },
}

impl LogonDecision {
    /// Refuses with this Text (58).
    #[must_use]
    pub fn refuse(text: impl fmt::Display) -> Self {
        Self::Refuse { text: text.to_string() }
    }
}

/// What to do with a stored message that the counterparty asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Resend {
    /// Send it again with PossDupFlag=Y.
    Send,
    /// It is of no use any more: gap-fill its number.
    GapFill,
}
