//! What goes wrong in a callback, and what the counterparty hears of it: `?` makes the right answer of an error.

use core::any::Any;
use core::error::Error;
use core::fmt;

use fixbolt_codec::{FieldError, FieldErrorKind, ValueError, WrongMsgType};
use fixbolt_dictionary::SessionRejectReason;

use crate::error::SendError;
use crate::rejects::{BusinessReject, BusinessRejectReason, SessionReject};

/// Why a callback could not do its work. Every error becomes one by `?`:
///
/// | error | what follows in [`Application::on_message`](crate::Application::on_message) |
/// |---|---|
/// | [`FieldError`], the field is missing | BusinessMessageReject with BusinessRejectReason (380) 5, the tag in its Text; before FIX.4.2 a Reject |
/// | [`FieldError`], not of the form of its type | Reject with SessionRejectReason (373) 6 and RefTagID (371) |
/// | [`FieldError`], outside its values | Reject with SessionRejectReason (373) 5 and RefTagID (371) |
/// | [`FieldError`], a group of another length | Reject with SessionRejectReason (373) 16 and RefTagID (371) |
/// | [`ValueError`] | the same Rejects without RefTagID |
/// | [`WrongMsgType`] | BusinessMessageReject with BusinessRejectReason (380) 3; before FIX.4.2 a Reject |
/// | [`SessionReject`], [`BusinessReject`] | themselves |
/// | [`SendError::BackPressure`] | the message is offered again once there is room |
/// | [`SendError::TooLarge`] | BusinessMessageReject: the answer that nobody can take is no fault of the message |
/// | any other | the application's failure: the message is offered again after the next logon, and the session is halted after [`poison_attempts`](crate::SessionSettings::poison_attempts) |
///
/// What the callback wrote is rolled back in all of them. In other callbacks, which answer no message, each is the
/// application's failure, and the connection ends with
/// [`SessionEnd::CallbackFailed`](crate::SessionEnd::CallbackFailed).
///
/// ```
/// use fixbolt_session::Failure;
///
/// fn limit(text: &str) -> Result<u32, Failure> {
///     Ok(text.parse()?)
/// }
///
/// assert!(matches!(limit("a hundred"), Err(Failure::Application(_))));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Failure {
    /// Answered with a Reject (35=3).
    Reject(SessionReject),
    /// Answered with a BusinessMessageReject (35=j).
    BusinessReject(BusinessReject),
    /// A message could not be sent.
    Send(SendError),
    /// The application's own failure.
    Application(Box<dyn Error + Send + Sync>),
}

impl Failure {
    /// The application's own failure, in its words.
    ///
    /// ```
    /// use fixbolt_session::Failure;
    ///
    /// let failure = Failure::new("the risk service does not answer");
    /// assert_eq!(failure.to_string(), "the risk service does not answer");
    /// ```
    #[must_use]
    pub fn new(why: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Application(why.into())
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        let known: &dyn Any = &error;
        if let Some(error) = known.downcast_ref::<SendError>() {
            return Self::Send(error.clone());
        }
        if let Some(error) = known.downcast_ref::<FieldError>() {
            return of_field(*error);
        }
        if let Some(error) = known.downcast_ref::<ValueError>() {
            return Self::Reject(of_value(*error));
        }
        if known.is::<WrongMsgType>() {
            return Self::BusinessReject(BusinessReject::new(BusinessRejectReason::UNSUPPORTED_MESSAGE_TYPE));
        }
        Self::Application(Box::new(error))
    }
}

fn of_field(error: FieldError) -> Failure {
    let tag = error.tag;
    match error.kind {
        FieldErrorKind::Missing => {
            let reason = BusinessRejectReason::CONDITIONALLY_REQUIRED_FIELD_MISSING;
            Failure::BusinessReject(BusinessReject::new(reason).text(format!("{} ({tag})", reason.text())))
        }
        FieldErrorKind::Value(error) => Failure::Reject(of_value(error).tag(tag)),
        _ => Failure::Reject(SessionReject::new(SessionRejectReason::IncorrectNumInGroupCount).tag(tag)),
    }
}

fn of_value(error: ValueError) -> SessionReject {
    SessionReject::new(SessionRejectReason::from_number(error.session_reject_reason()))
}

impl From<SessionReject> for Failure {
    fn from(reject: SessionReject) -> Self {
        Self::Reject(reject)
    }
}

impl From<BusinessReject> for Failure {
    fn from(reject: BusinessReject) -> Self {
        Self::BusinessReject(reject)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reject(reject) => reject.fmt(f),
            Self::BusinessReject(reject) => reject.fmt(f),
            Self::Send(error) => error.fmt(f),
            Self::Application(error) => error.fmt(f),
        }
    }
}
