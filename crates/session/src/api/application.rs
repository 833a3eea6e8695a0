//! What the session core asks of an application, and what the application may answer. Callbacks
//! decide by their return values.

use core::fmt;

use fixbolt_codec::{BodyWriter, Message, SeqNum};
use fixbolt_dictionary::BusinessRejectCode;

use crate::api::resume::Resume;
use crate::api::turn::Turn;
use crate::events::event::Event;
use crate::events::failure::Failure;
use crate::events::refused::RefusedConnection;
use crate::events::rejects::{BusinessReject, SessionReject};

/// The callbacks of an application. They run on the session's thread, one at a time.
///
/// Only [`Application::on_message`] is required. Each callback gets a [`Turn`], which knows the
/// session and can write: what a callback writes, in any session of the worker, becomes visible as
/// a whole or not at all. An error or a panic rolls it back; see [`Failure`] for how the
/// counterparty is answered after an error.
///
/// A venue that lets one desk log on, and counts its orders:
///
/// ```
/// use fixbolt_codec::Message;
/// use fixbolt_session::{Application, Delivery, Event, Failure, LogonDecision, Turn};
///
/// #[derive(Default)]
/// struct Venue {
///     orders: u64,
/// }
///
/// impl Application for Venue {
///     fn on_logon(
///         &mut self,
///         logon: Message<'_>,
///         _: &mut Turn<'_>,
///     ) -> Result<LogonDecision, Failure> {
///         let (name, password) = (logon.get(553), logon.get(554));
///         Ok(match (name, password) {
///             (Some(b"desk"), Some(b"correct horse")) => LogonDecision::Accept,
///             _ => LogonDecision::refuse("unknown user or wrong password"),
///         })
///     }
///
///     fn on_message(
///         &mut self,
///         message: Message<'_>,
///         _: &mut Turn<'_>,
///     ) -> Result<Delivery, Failure> {
///         if message.msg_type() != b"D" {
///             return Ok(Delivery::UNSUPPORTED);
///         }
///         // A missing ClOrdID (11) becomes a reject that names it.
///         let id: &[u8] = message.required(11)?;
///         self.orders += u64::from(!id.is_empty());
///         Ok(Delivery::Done)
///     }
///
///     fn on_event(&mut self, event: &Event<'_>, turn: &mut Turn<'_>) -> Result<(), Failure> {
///         println!("{}: {event}", turn.session_id());
///         Ok(())
///     }
/// }
/// # let _ = Venue::default().orders;
/// ```
pub trait Application {
    /// Processes an application message. Messages arrive in sequence, each exactly once as long as
    /// the store is kept.
    ///
    /// Everything written through `turn` becomes visible together with the record that the message
    /// was processed, or not at all.
    ///
    /// # Errors
    /// [`Failure`] says which errors reject the message. A failure of the application (or a panic)
    /// rolls the turn back in every session it touched and disconnects the session; the
    /// counterparty sends the message again after the next logon. After the configured number of
    /// attempts the session is halted.
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure>;

    /// Decides whether the counterparty may log on (Username 553, Password 554). Called with the
    /// counterparty's Logon; for an initiator that is the answer to its own.
    ///
    /// Called before anything else in the Logon is checked, so that a counterparty that may not log
    /// on learns nothing about what else is wrong. [`Event::LoggedOn`] follows once the session is
    /// logged on.
    ///
    /// # Errors
    /// A failure closes the connection without a Logout.
    fn on_logon(&mut self, logon: Message<'_>, turn: &mut Turn<'_>) -> Result<LogonDecision, Failure> {
        let _ = (logon, turn);
        Ok(LogonDecision::Accept)
    }

    /// Adds the application's fields to a Logon about to be sent (an initiator's Logon or an
    /// acceptor's answer), such as NewPassword (925), RawData (96) or user-defined ones.
    ///
    /// `logon` already holds the session layer's fields and those of
    /// [`SessionSettings::logon`](crate::SessionSettings::logon).
    ///
    /// # Errors
    /// A failure closes the connection, and so does a field that is already in the Logon.
    fn on_sending_logon(&mut self, logon: &mut BodyWriter<'_>, turn: &mut Turn<'_>) -> Result<(), Failure> {
        let _ = (logon, turn);
        Ok(())
    }

    /// Decides how a request of the counterparty for messages again is answered: a ResendRequest
    /// (35=2), or NextExpectedMsgSeqNum (789) of its Logon. [`Application::on_resend`] then decides
    /// about each message.
    ///
    /// The settings come first: a request that
    /// [`max_resend_range`](crate::ResendSettings::max_resend_range) or
    /// [`max_resends`](crate::ResendSettings::max_resends) refuses is not asked about, so that a
    /// counterparty cannot make an application work more than they allow, and
    /// [`ResendAnswer::AsUsual`] sends no more than they allow. Called once for each request, and
    /// once more if the answer could not be written, because there was no room for it.
    ///
    /// A venue whose market data is obsolete when it is requested:
    ///
    /// ```
    /// use fixbolt_codec::Message;
    /// use fixbolt_session::{Application, Delivery, Failure, ResendAnswer, ResendRange, Turn};
    ///
    /// struct Venue;
    ///
    /// impl Application for Venue {
    ///     fn on_message(
    ///         &mut self,
    ///         _: Message<'_>,
    ///         _: &mut Turn<'_>,
    ///     ) -> Result<Delivery, Failure> {
    ///         Ok(Delivery::Done)
    ///     }
    ///
    ///     fn on_resend_request(
    ///         &mut self,
    ///         range: ResendRange,
    ///         turn: &mut Turn<'_>,
    ///     ) -> Result<ResendAnswer, Failure> {
    ///         if turn.session_id().target_comp_id() == "PRICES" {
    ///             return Ok(ResendAnswer::GapFill);
    ///         }
    ///         if range.end.0 - range.begin.0 > 100_000 {
    ///             return Ok(ResendAnswer::refuse("request the day's file instead"));
    ///         }
    ///         Ok(ResendAnswer::AsUsual)
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    /// A failure closes the connection.
    fn on_resend_request(
        &mut self,
        range: ResendRange,
        turn: &mut Turn<'_>,
    ) -> Result<ResendAnswer, Failure> {
        let _ = (range, turn);
        Ok(ResendAnswer::AsUsual)
    }

    /// Decides whether a stored message that the counterparty asked for is sent again. Not called
    /// for one whose secrets are masked in the store, which cannot be sent
    /// ([`Unreached::Masked`](crate::Unreached::Masked)).
    ///
    /// # Errors
    /// A failure closes the connection.
    fn on_resend(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Resend, Failure> {
        let _ = (message, turn);
        Ok(Resend::Send)
    }

    /// Called when the session has been opened; `resume` reads the contents of its store, so that
    /// the application needs no files of its own.
    ///
    /// # Errors
    /// A failure halts the session, because the application's state is unknown.
    fn on_resume(&mut self, resume: &mut Resume<'_>) -> Result<(), Failure> {
        let _ = resume;
        Ok(())
    }

    /// Called when something happened to the session. An initiator sends its first order on
    /// [`Event::LoggedOn`].
    ///
    /// What it writes can cause events of its own, such as [`Event::WarnedOutbound`], and it may
    /// write because of those; if it goes on and on, the third writing in a row is rolled back as a
    /// failure.
    ///
    /// # Errors
    /// A failure closes the connection, if any.
    fn on_event(&mut self, event: &Event<'_>, turn: &mut Turn<'_>) -> Result<(), Failure> {
        let _ = (event, turn);
        Ok(())
    }

    /// Called by the engine when a connection to an acceptor was closed before its counterparty was
    /// logged on, whether or not the session is known that it asked for: for monitoring. The
    /// application of the worker that had the connection is told.
    ///
    /// There is no [`Turn`], because whoever has connected has not proved to be anybody: it causes
    /// no message and ends no session, nor does a panic here. A worker reports ten connections of
    /// an address (of IPv6: of its network of 64 bits) in a second, and fifty in all;
    /// [`RefusedConnection::unreported`] counts the others.
    fn on_refused(&mut self, refused: &RefusedConnection) {
        let _ = refused;
    }
}

/// The outcome of an application message.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Delivery {
    /// The message was processed.
    Done,
    /// The message is answered with a Reject (35=3), because it breaks a rule that the dictionary
    /// does not contain. What the turn wrote is kept.
    Reject(SessionReject),
    /// The message is answered with a BusinessMessageReject (35=j), before FIX.4.2 with a Reject.
    /// What the turn wrote is kept.
    BusinessReject(BusinessReject),
    /// The message cannot be processed now. It is offered again later, and nothing more is read
    /// from this counterparty until then. What the turn wrote is rolled back.
    NotNow,
}

impl Delivery {
    /// The application does not process messages of this type (test case 2r).
    pub const UNSUPPORTED: Self =
        Self::BusinessReject(BusinessReject::new(BusinessRejectCode::UNSUPPORTED_MESSAGE_TYPE));
}

/// Whether a counterparty may log on.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LogonDecision {
    /// The counterparty may log on.
    Accept,
    /// The counterparty may not log on: the connection is closed without a Logout.
    RefuseSilently,
    /// The counterparty may not log on: a Logout says why, then the connection is closed.
    Refuse {
        /// Text (58) of the Logout.
        text: String,
    },
}

impl LogonDecision {
    /// Returns a refusal with this Text (58).
    #[must_use]
    pub fn refuse(text: impl fmt::Display) -> Self {
        Self::Refuse { text: text.to_string() }
    }
}

/// What to do with a stored message that the counterparty asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Resend {
    /// Sends it again with PossDupFlag=Y.
    Send,
    /// Replaces it with a gap fill, because it is obsolete.
    GapFill,
}

/// Messages that the counterparty requests again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ResendRange {
    /// The first sequence number, at least 1.
    pub begin: SeqNum,
    /// The last sequence number, not 0 or 999999 for infinity: no message after it has been sent.
    /// If an earlier request is still being answered, the range includes what is left of that, and
    /// what is between the two.
    pub end: SeqNum,
    /// Whether NextExpectedMsgSeqNum (789) of a Logon requests them: there is no message that could
    /// be rejected.
    pub at_logon: bool,
}

/// How a request of the counterparty for messages again is answered.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ResendAnswer {
    /// The messages are sent again, as many as the settings allow.
    AsUsual,
    /// None of them is sent again: one gap fill replaces them, and
    /// [`Event::Unreached`](crate::Event::Unreached) says so. The counterparty takes them for
    /// messages that it does not need.
    GapFill,
    /// The ResendRequest is refused with a Reject (35=3), SessionRejectReason (373) 5, RefTagID
    /// (371) 7. The counterparty still misses the messages, and may request them again. At a logon
    /// the same as [`ResendAnswer::GapFill`].
    Refuse {
        /// Text (58) of the Reject.
        text: String,
    },
}

impl ResendAnswer {
    /// Returns a refusal with this Text (58).
    #[must_use]
    pub fn refuse(text: impl fmt::Display) -> Self {
        Self::Refuse { text: text.to_string() }
    }
}
