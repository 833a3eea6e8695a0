//! Why a received message cannot be read as the one that was asked for.

use core::fmt;

use crate::message::Message;
use crate::msg_type::MsgType;
use crate::version::Version;

/// A message is not one that it was to be read as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum WrongMessage {
    /// It has another MsgType (35).
    #[non_exhaustive]
    MsgType {
        /// The expected type.
        wanted: MsgType,
    },
    /// It is of another version.
    Version(WrongVersion),
}

/// A message is of another version than it was to be read as. The text names both.
///
/// ```
/// use fixbolt_codec::{Message, Version, WrongVersion};
///
/// fn refuse(message: Message<'_>) -> WrongVersion {
///     WrongVersion::new(&message, &[Version::Fix42, Version::Fix44])
/// }
/// # use fixbolt_codec::{Frame, Framer, Index, Span};
/// # let (mut tags, mut spans) = ([0; 8], [Span::default(); 8]);
/// # let mut index = Index::new(&mut tags, &mut spans);
/// # let bytes = b"8=FIX.4.3\x019=10\x0135=D\x0155=A\x0110=203\x01";
/// # let Frame::Message(framed) = Framer::new(64).next(bytes) else { panic!() };
/// # let message = index.build(framed).unwrap();
///
/// assert_eq!(refuse(message).to_string(), "the message is of FIX.4.3, not of FIX.4.2 or FIX.4.4");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct WrongVersion {
    /// The version of the message, if it is known.
    pub found: Option<Version>,
    /// One bit for each expected version, by its place in [`Version::ALL`].
    wanted: u16,
}

impl WrongMessage {
    /// Returns the error for a message that should be of type `wanted`.
    #[must_use]
    pub const fn msg_type(wanted: MsgType) -> Self {
        Self::MsgType { wanted }
    }
}

impl WrongVersion {
    /// Returns the error for a message that should be of one of the versions `wanted`.
    #[must_use]
    #[cold]
    pub fn new(message: &Message<'_>, wanted: &[Version]) -> Self {
        let wanted = wanted.iter().fold(0, |bits, version| bits | bit(*version));
        Self { found: message.version(), wanted }
    }

    /// Returns the expected versions, in ascending order.
    pub fn wanted(&self) -> impl Iterator<Item = Version> + use<> {
        let wanted = self.wanted;
        Version::ALL.into_iter().filter(move |version| wanted & bit(*version) != 0)
    }
}

const fn bit(version: Version) -> u16 {
    1 << version as u16
}

impl From<WrongVersion> for WrongMessage {
    fn from(error: WrongVersion) -> Self {
        Self::Version(error)
    }
}

impl fmt::Display for WrongMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MsgType { wanted } => write!(f, "the message is not of type {wanted}"),
            Self::Version(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for WrongVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the message is of ")?;
        match self.found {
            Some(found) => write!(f, "{found}, not of ")?,
            None => f.write_str("a version that is not known, not of ")?,
        }
        let count = self.wanted().count();
        for (n, version) in self.wanted().enumerate() {
            let between = match n {
                0 => "",
                _ if n + 1 == count => " or ",
                _ => ", ",
            };
            write!(f, "{between}{version}")?;
        }
        Ok(())
    }
}

impl core::error::Error for WrongMessage {}

impl core::error::Error for WrongVersion {}
