//! What sees each new message before it gets its sequence number.

use core::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use fixbolt_codec::plumbing::BodyPlumbing as _;
use fixbolt_codec::{BodyWriter, DataFields, EncodeError, EncodeErrorKind, Key, MsgType, Tag, ToField};

use crate::events::error::SendError;
use crate::settings::SessionSettings;
use crate::settings::logon_fields::NEGOTIATED;
use crate::values::fix::msg_type;
use crate::values::id::SessionId;

/// Sees each new message of a worker's sessions before it gets its sequence number, and may add
/// fields, change them, or refuse the message: what an application of QuickFIX does in `toApp` and
/// `toAdmin`.
///
/// Called within the turn that writes the message, on the thread of the session's worker, by
/// `send`: what it changes is checked, stored and sent with the message, and undone with it.
/// Engines with several workers call it from several threads. Messages that other threads post come
/// here when the worker writes them, and one that waits for a throttle before it waits. A message
/// that is sent again does not come here again, nor does the gap fill in place of one.
///
/// A message for which there was no room is seen again when it is tried again, and what the hook
/// keeps for itself is not undone.
///
/// A closure is one, too:
///
/// ```
/// use fixbolt_codec::Key;
/// use fixbolt_session::{BeforeSend, Outgoing};
///
/// fn with_account() -> impl BeforeSend {
///     |message: &mut Outgoing<'_, '_>| {
///         if message.msg_type() == b"D" && message.get(1).is_none() {
///             message.set(Key::new(1), b"DESK7");
///         }
///         if message.get(55) == Some(b"HALTED") {
///             return Err("no orders in this security");
///         }
///         Ok(())
///     }
/// }
/// # let _ = with_account();
/// ```
pub trait BeforeSend: Send + Sync {
    /// Sees a message, whose body is written but for what is done here.
    ///
    /// # Errors
    /// The reason why the message is not sent. `send` returns it as [`SendError::Application`], and
    /// a message that another thread posted is reported as
    /// [`Event::NotSent`](crate::Event::NotSent). If it is a message of the session layer, the
    /// connection ends with [`SessionEnd::Unanswerable`](crate::SessionEnd::Unanswerable). A panic
    /// has the same effect.
    fn before_send(&self, message: &mut Outgoing<'_, '_>) -> Result<(), &'static str>;
}

impl<F> BeforeSend for F
where
    F: Fn(&mut Outgoing<'_, '_>) -> Result<(), &'static str> + Send + Sync,
{
    fn before_send(&self, message: &mut Outgoing<'_, '_>) -> Result<(), &'static str> {
        self(message)
    }
}

/// A message that is about to be sent.
///
/// It has its fields of the body, and those header fields that the application writes (SenderSubID
/// 50, OnBehalfOfCompID 115, ...). The session writes the others afterwards.
pub struct Outgoing<'o, 'b> {
    writer: &'o mut BodyWriter<'b>,
    msg_type: MsgType,
    id: &'o SessionId,
    data_fields: &'o DataFields,
    is_admin: bool,
}

impl<'b> Outgoing<'_, 'b> {
    /// Returns the session that sends the message.
    #[must_use]
    pub const fn session_id(&self) -> &SessionId {
        self.id
    }

    /// Returns MsgType (35).
    #[must_use]
    pub fn msg_type(&self) -> &[u8] {
        self.msg_type.as_bytes()
    }

    /// Returns whether the session layer writes the message: a Logon, Logout, Heartbeat,
    /// TestRequest, ResendRequest, Reject or SequenceReset, or a BusinessMessageReject (35=j) that
    /// answers for the application.
    #[must_use]
    pub const fn is_of_session_layer(&self) -> bool {
        self.is_admin
    }

    /// Returns the value of the first field with this tag.
    #[must_use]
    pub fn get(&self, tag: impl Into<Tag>) -> Option<&[u8]> {
        self.writer.written_value(tag.into(), self.data_fields)
    }

    /// Gives the field that has this key this value, or adds one: a header field in the header, any
    /// other at the end of the body.
    ///
    /// What cannot be so makes `send` fail with the [`EncodeError`](fixbolt_codec::EncodeError)
    /// that says why: a field of the session, an empty value or one with SOH, a field that stands
    /// in the message more than once, as in entries of a group, or a data field or its length field
    /// ([`Outgoing::writer`] adds both). In a message of the session layer, fields are added and
    /// not changed ([`EncodeErrorKind::Duplicate`](fixbolt_codec::EncodeErrorKind::Duplicate)).
    pub fn set(&mut self, key: Key, value: &[u8]) -> &mut Self {
        if self.is_admin && self.get(key).is_some() {
            self.writer.refuse(key.tag(), EncodeErrorKind::Duplicate);
        } else {
            self.writer.set(key, value, self.data_fields);
        }
        self
    }

    /// Gives the field that has this key a typed value, as [`Outgoing::set`] does.
    pub fn set_field<T: ToField>(&mut self, key: Key, value: &T) -> &mut Self {
        let (mut short, mut long) = ([0; 128], Vec::new());
        let bytes = if T::MAX_LEN <= short.len() {
            &mut short[..]
        } else {
            long.resize(T::MAX_LEN, 0);
            &mut long
        };
        let length = value.write_to(bytes);
        self.set(key, &bytes[..length])
    }

    /// Returns the body's writer, to add groups and data fields at its end.
    pub fn writer(&mut self) -> &mut BodyWriter<'b> {
        self.writer.compare_with_all();
        self.writer
    }
}

impl fmt::Debug for Outgoing<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outgoing")
            .field("session", &format_args!("{}", self.session_id()))
            .field("message", &self.writer)
            .finish()
    }
}

/// Shows a message to what sees it before it is sent.
#[cold]
pub(crate) fn show(
    hook: &dyn BeforeSend,
    writer: &mut BodyWriter<'_>,
    settings: &SessionSettings,
    is_admin: bool,
) -> Result<(), SendError> {
    let data_fields = settings.dictionary.data_fields();
    let msg_type = writer.msg_type();
    let mut outgoing = Outgoing { writer, msg_type, id: &settings.id, data_fields, is_admin };
    // What a Logon says of the session is what the session does.
    let is_logon = msg_type.as_bytes() == msg_type::LOGON;
    let negotiated = NEGOTIATED.map(Tag::new);
    let had = is_logon.then(|| negotiated.map(|tag| outgoing.get(tag).is_some()));
    match catch_unwind(AssertUnwindSafe(|| hook.before_send(&mut outgoing))) {
        Ok(shown) => shown.map_err(SendError::Application)?,
        Err(_) => return Err(SendError::Application("what sees messages before they are sent panicked")),
    }
    let added = had.and_then(|had| {
        let mut all = negotiated.into_iter().zip(had);
        all.find(|(tag, had)| !had && outgoing.get(*tag).is_some())
    });
    match added {
        Some((tag, _)) => Err(EncodeError::new(tag, EncodeErrorKind::SessionField).into()),
        None => Ok(()),
    }
}
