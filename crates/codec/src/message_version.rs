//! Which version a message has: up to FIX.4.4 its BeginString (8) says it. A session of FIXT.1.1
//! carries messages of several versions, which it tells apart for its application.

use crate::message::Message;
use crate::msg_type::is_admin;
use crate::number::Tag;
use crate::version::Version;

/// Where the version of an application message of FIXT.1.1 comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum MessageVersion {
    /// No session has said it: ApplVerID (1128), if there is one.
    Named,
    /// The session.
    Is(Version),
    /// The session, which does not know it.
    Unknown,
}

const APPL_VER_ID: Tag = Tag::new(1128);

impl MessageVersion {
    /// Returns what a session says of `message`, which counts for an application message of
    /// FIXT.1.1.
    pub(crate) fn of_session(message: &Message<'_>, version: Option<Version>) -> Self {
        if !message.is_of(Version::Fixt11) || is_admin(message.msg_type()) {
            return Self::Named;
        }
        version.map_or(Self::Unknown, Self::Is)
    }

    /// Returns the version of `message`, if it is known.
    pub(crate) fn of(self, message: &Message<'_>) -> Option<Version> {
        match Version::from_begin_string(message.begin_string())? {
            Version::Fixt11 if !is_admin(message.msg_type()) => match self {
                Self::Named => Version::from_appl_ver_id(message.get(APPL_VER_ID)?),
                Self::Is(version) => Some(version),
                Self::Unknown => None,
            },
            version => Some(version),
        }
    }

    /// Returns whether `message` may be read as one of `version`, as [`Message::is_of`] says.
    #[cold]
    pub(crate) fn may_be(self, message: &Message<'_>, version: Version) -> bool {
        let of_session = Version::from_begin_string(message.begin_string());
        if of_session != Some(Version::Fixt11) || version == Version::Fixt11 {
            return of_session == Some(version);
        }
        if is_admin(message.msg_type()) {
            return version.is_application();
        }
        match self {
            Self::Named => match message.get(APPL_VER_ID) {
                Some(id) => Version::from_appl_ver_id(id).is_some_and(|found| includes(version, found)),
                None => version.appl_ver_id().is_some(),
            },
            Self::Is(found) => includes(version, found),
            Self::Unknown => false,
        }
    }
}

/// Returns whether every message of `other` is one of `version`. FIX Latest is FIX.5.0SP2 with all
/// extension packs, and its messages name FIX.5.0SP2 where the counterparty does not know it.
fn includes(version: Version, other: Version) -> bool {
    other == version || (version == Version::FixLatest && other == Version::Fix50Sp2)
}
