//! What goes wrong in a callback, and how the counterparty is answered: `?` turns an error into the
//! right answer.

use core::any::Any;
use core::error::Error;
use core::fmt;

use fixbolt_codec::{FieldError, FieldErrorKind, ValueError, WrongMessage, WrongVersion};
use fixbolt_dictionary::{BusinessRejectCode, SessionRejectCode};

use crate::events::error::SendError;
use crate::events::rejects::{BusinessReject, SessionReject};

/// Why a callback failed. `?` converts every error into one:
///
/// | error | answer of [`Application::on_message`](crate::Application::on_message) |
/// |---|---|
/// | [`FieldError`], missing field | BusinessMessageReject 5 with the tag in its Text |
/// | [`FieldError`], malformed value | Reject 6 with RefTagID (371) |
/// | [`FieldError`], value not allowed | Reject 5 with RefTagID (371) |
/// | [`FieldError`], wrong number of group entries | Reject 16 with RefTagID (371) |
/// | [`ValueError`] | the same Rejects without RefTagID |
/// | [`WrongMessage`], another MsgType | BusinessMessageReject 3 |
/// | [`WrongMessage`] or [`WrongVersion`], another version | BusinessMessageReject 3 with both versions in its Text |
/// | [`SessionReject`], [`BusinessReject`] | that Reject or BusinessMessageReject |
/// | [`SendError::BackPressure`], [`SendError::Throttled`] | none: the message is offered again once there is room |
/// | [`SendError::TooLarge`], [`SendError::TooMany`] | BusinessMessageReject, because the message itself is not at fault |
/// | any other error | none: it is the application's failure |
///
/// The numbers are SessionRejectReason (373) and BusinessRejectReason (380). Before FIX.4.2 a
/// Reject is sent instead of a BusinessMessageReject. After a failure of the application the
/// message is offered again after the next logon, and the session is halted after
/// [`max_delivery_attempts`](crate::LimitSettings::max_delivery_attempts).
///
/// In every case what the callback wrote is rolled back. In other callbacks, which answer no
/// message, each error is the application's failure, and the connection ends with
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
    /// The message is answered with a Reject (35=3).
    Reject(SessionReject),
    /// The message is answered with a BusinessMessageReject (35=j).
    BusinessReject(BusinessReject),
    /// A message could not be sent.
    Send(SendError),
    /// The application's own failure.
    Application(Box<dyn Error + Send + Sync>),
}

impl Failure {
    /// Creates a failure of the application, in its own words.
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
        if let Some(error) = known.downcast_ref::<WrongMessage>() {
            return match error {
                WrongMessage::Version(error) => of_version(*error),
                _ => Self::BusinessReject(UNSUPPORTED),
            };
        }
        if let Some(error) = known.downcast_ref::<WrongVersion>() {
            return of_version(*error);
        }
        Self::Application(Box::new(error))
    }
}

const UNSUPPORTED: BusinessReject = BusinessReject::new(BusinessRejectCode::UNSUPPORTED_MESSAGE_TYPE);

fn of_version(error: WrongVersion) -> Failure {
    let reason = BusinessRejectCode::UNSUPPORTED_MESSAGE_TYPE;
    Failure::BusinessReject(UNSUPPORTED.text(format!("{}: {error}", reason.text())))
}

fn of_field(error: FieldError) -> Failure {
    let tag = error.tag;
    match error.kind {
        FieldErrorKind::Missing => {
            let reason = BusinessRejectCode::CONDITIONALLY_REQUIRED_FIELD_MISSING;
            Failure::BusinessReject(BusinessReject::new(reason).text(format!("{} ({tag})", reason.text())))
        }
        FieldErrorKind::Value(error) => Failure::Reject(of_value(error).tag(tag)),
        _ => Failure::Reject(
            SessionReject::new(SessionRejectCode::INCORRECT_NUM_IN_GROUP_COUNT_FOR_REPEATING_GROUP).tag(tag),
        ),
    }
}

fn of_value(error: ValueError) -> SessionReject {
    SessionReject::new(SessionRejectCode::from_value(error.session_reject_reason()))
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
