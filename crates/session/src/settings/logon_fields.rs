//! Fields of a Logon that a session's settings contain, and secrets that are never printed.

use core::fmt;

use fixbolt_codec::{BodyWriter, DataKey, Key, MsgType, Tag};

use crate::values::fix::number::WRITTEN_ANEW;
use crate::values::fix::{key, msg_type};

/// Fields that a session adds to its Logons, including an acceptor's answers. For anything else
/// there is [`Application::on_sending_logon`](crate::Application::on_sending_logon).
///
/// ```
/// use fixbolt_session::LogonFields;
///
/// let mut fields = LogonFields::default();
/// fields.username = "desk".into();
/// fields.password = "correct horse".into();
/// assert!(!format!("{fields:?}").contains("horse"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct LogonFields {
    /// Username (553), since FIX.4.3; not sent if empty.
    pub username: String,
    /// Password (554), since FIX.4.3; not sent if empty.
    pub password: Secret,
    /// NewPassword (925), since FIX.4.4; not sent if empty.
    pub new_password: Secret,
    /// RawData (96), with its RawDataLength (95); not sent if empty.
    pub raw_data: Secret,
    /// Other fields, in this order: tag and value. They are those of a venue's own, or of the
    /// version's Logon, but none that the session writes itself, and none of the header
    /// ([`LogonFields::can_have`]); one with an empty value is not sent.
    pub others: Vec<(u32, Secret)>,
}

/// EncryptMethod, HeartBtInt, ResetSeqNumFlag, MaxMessageSize, TestMessageIndicator,
/// NextExpectedMsgSeqNum and DefaultApplVerID: what a Logon says of how the session behaves.
pub(crate) const NEGOTIATED: [u32; 7] = [98, 108, 141, 383, 464, 789, 1137];

impl LogonFields {
    /// Returns whether a tag may be one of [`others`](Self::others): not one of the fields that the
    /// session writes itself or that have a field of their own here, or of their lengths, and no
    /// header field: SubIDs and LocationIDs are part of the session's identity.
    #[must_use]
    pub fn can_have(tag: u32) -> bool {
        const SETTINGS: [u32; 5] = [95, 96, 553, 554, 925];
        let follows = |tag| {
            let mut memory = [0; 64];
            let mut logon = BodyWriter::new(MsgType::new(msg_type::LOGON), &mut memory);
            logon.bytes(key::ENCRYPT_METHOD, b"0").bytes(Key::of(tag), b"0");
            logon.finish().is_ok()
        };
        let is_of_settings = SETTINGS.contains(&tag) || NEGOTIATED.contains(&tag);
        !is_of_settings && !WRITTEN_ANEW.contains(&tag) && Tag::try_new(tag).is_some_and(follows)
    }

    /// Whether no value ends its field early, and no field is one that the session writes itself.
    pub(crate) fn can_be_written(&self) -> bool {
        let Self { username, password, new_password, raw_data: _, others } = self;
        ![username.as_str(), password.expose(), new_password.expose()]
            .into_iter()
            .chain(others.iter().map(|(_, value)| value.expose()))
            .any(|text| text.contains('\x01'))
            && others.iter().all(|(tag, _)| Self::can_have(*tag))
    }

    pub(crate) fn write(&self, logon: &mut BodyWriter<'_>) {
        let raw_data = self.raw_data.expose();
        if !raw_data.is_empty() {
            logon.data(const { DataKey::new(95, 96) }, raw_data.as_bytes());
        }
        let texts = [
            (Key::new(553), self.username.as_str()),
            (Key::new(554), self.password.expose()),
            (Key::new(925), self.new_password.expose()),
        ];
        for (key, text) in texts {
            if !text.is_empty() {
                logon.bytes(key, text.as_bytes());
            }
        }
        for (tag, value) in &self.others {
            if !value.expose().is_empty() {
                logon.bytes(Key::new(*tag), value.expose().as_bytes());
            }
        }
    }
}

/// A text that is never printed: its `Debug` and `Display` show `***`, or nothing if it is empty.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secret(String);

impl Secret {
    /// Creates a secret from `text`.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "" } else { "***" })
    }
}
