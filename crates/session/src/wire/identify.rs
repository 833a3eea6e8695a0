//! Identifies the session of an inbound connection from its first message, before any session is
//! chosen.

use fixbolt_codec::{Frame, Framer, Index, IndexError, Span, Version};

use crate::events::refused::FirstMessageFault;
use crate::values::fix::MAX_MESSAGE_SIZE_BEFORE_LOGON;
use crate::values::fix::msg_type;
use crate::values::id::SessionId;

/// The result of reading the first bytes of a connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Identity {
    /// More bytes are needed.
    Incomplete,
    /// A Logon that names this session, seen from our side (its TargetCompID is our SenderCompID).
    /// It has the SubIDs and LocationIDs of the Logon, and is for the most specific session that
    /// accepts it ([`SessionId::accepts`]).
    Logon(SessionId),
    /// A Logon that names this session, as in [`Identity::Logon`], but with a wrong CheckSum (10):
    /// to be refused unless the session does not check it
    /// ([`ValidationSettings::validate_checksum`](crate::ValidationSettings::validate_checksum)).
    LogonWithWrongCheckSum(SessionId),
    /// Not a Logon, garbled, or without identity: the connection is to be closed without an answer
    /// (test cases 1S-c, 1S-d, 2S).
    Refused(FirstMessageFault),
}

/// Identifies the session that the first message of a connection is for. Reads at most 8 KiB and
/// 512 fields.
#[must_use]
pub fn identify(bytes: &[u8]) -> Identity {
    let mut framer = Framer::new(MAX_MESSAGE_SIZE_BEFORE_LOGON);
    let framed = match framer.next(bytes) {
        Frame::Incomplete { .. } if bytes.len() > MAX_MESSAGE_SIZE_BEFORE_LOGON => {
            return Identity::Refused(FirstMessageFault::TooLarge);
        }
        Frame::Incomplete { .. } => return Identity::Incomplete,
        Frame::Garbled { .. } => return Identity::Refused(FirstMessageFault::NotFix),
        Frame::Message(framed) => framed,
    };
    let (mut tags, mut spans) = ([0; 512], [Span::default(); 512]);
    let garbled = Identity::Refused(FirstMessageFault::Garbled);
    let is_right = match Index::new(&mut tags, &mut spans).build(framed) {
        Ok(_) => true,
        Err(IndexError::CheckSum { .. }) => false,
        Err(_) => return garbled,
    };
    let mut index = Index::new(&mut tags, &mut spans).with_checksum_verified(false);
    let Ok(message) = index.build(framed) else { return garbled };
    if message.msg_type() != msg_type::LOGON {
        return Identity::Refused(FirstMessageFault::MsgType);
    }
    let Some(version) = Version::from_begin_string(message.begin_string()) else {
        return Identity::Refused(FirstMessageFault::BeginString);
    };
    let of = if is_right { Identity::Logon } else { Identity::LogonWithWrongCheckSum };
    SessionId::named_by(version, &message).map_or(Identity::Refused(FirstMessageFault::CompIds), of)
}
