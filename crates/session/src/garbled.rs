//! What is answered to a garbled message in a session that does not ignore them
//! ([`SessionSettings::reject_garbled_message`]).
//!
//! Nothing in such a message can be relied on. One is answered only if it ends where BodyLength (9)
//! says and its header has what every message of this session has. None is recorded, because the
//! messages in a store can be read; the use of its sequence number is.

use std::borrow::Cow;

use fixbolt_codec::{FromField, Message, SeqNum};
use fixbolt_dictionary::SessionRejectReason;

use crate::admin_message::{AdminMessage, Reject};
use crate::carry_out::progress;
use crate::end::{Misbehavior, SessionEnd};
use crate::event::Event;
use crate::fix::{SOH, msg_type};
use crate::own_messages::{log_out, with_room};
use crate::sending::SendKind;
use crate::session::Session;
use crate::settings::SessionSettings;
use crate::state::{Phase, ResetStage};
use crate::store::RecordKind;
use crate::transaction::{Stop, Transaction};

/// The Text of the Reject: that of QuickFIX/J.
const TEXT: &str = "Message failed basic validity check";
/// The reason that is recorded for the use of a sequence number.
const REJECTED: &str = "a garbled message was rejected and its MsgSeqNum used (RejectGarbledMessage)";

/// What a Reject of a garbled message says of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct GarbledHeader<'m> {
    seq: SeqNum,
    /// Empty if it is missing.
    msg_type: &'m [u8],
}

impl<'m> GarbledHeader<'m> {
    /// Reads the header of a garbled message of which BodyLength is right. Returns `None` if the
    /// message is not answered.
    pub(crate) fn read(session: &Session, bytes: &'m [u8]) -> Option<Self> {
        let SessionSettings { id, reject_garbled_message, check_comp_id, .. } = &session.settings;
        let state = &session.state;
        // The sequence numbers before the answer to our reset no longer apply.
        if !reject_garbled_message
            || !state.is_open()
            || !matches!(state.phase(), Phase::LoggedOn | Phase::LogoutSent)
            || state.reset_stage() == Some(ResetStage::LogonSent)
        {
            return None;
        }
        let fields = HeaderFields::read(bytes);
        let is_ours = fields.begin_string == Some(id.version().begin_string().as_bytes())
            && (!check_comp_id
                || fields.sender_comp_id == Some(id.target_comp_id().as_bytes())
                    && fields.target_comp_id == Some(id.sender_comp_id().as_bytes()));
        let seq = fields.msg_seq_num.and_then(|value| SeqNum::from_field(value).ok())?;
        let msg_type = fields.msg_type.unwrap_or_default();
        // Two sides that reject Rejects could do so forever.
        let is_answered = is_ours && seq < SeqNum::MAX && msg_type != msg_type::REJECT;
        is_answered.then_some(Self { seq, msg_type })
    }

    /// Returns whether the sequence number is used: not that of a message whose effect is on the
    /// sequence numbers themselves.
    fn uses(&self, next_in: SeqNum) -> bool {
        self.seq == next_in && ![msg_type::LOGON, msg_type::SEQUENCE_RESET].contains(&self.msg_type)
    }
}

/// The values of header fields, the first one of each tag.
#[derive(Default)]
struct HeaderFields<'m> {
    begin_string: Option<&'m [u8]>,
    msg_seq_num: Option<&'m [u8]>,
    msg_type: Option<&'m [u8]>,
    sender_comp_id: Option<&'m [u8]>,
    target_comp_id: Option<&'m [u8]>,
}

/// The other fields of the standard header that may stand between those, without data fields and
/// groups.
const OTHER_TAGS: [&[u8]; 23] = [
    b"9", b"43", b"50", b"52", b"57", b"97", b"115", b"116", b"122", b"128", b"129", b"142", b"143", b"144",
    b"145", b"347", b"369", b"370", b"1128", b"1129", b"1137", b"1156", b"1351",
];

impl<'m> HeaderFields<'m> {
    /// Reads up to the first field that is not of the header: a later one may be part of data.
    fn read(bytes: &'m [u8]) -> Self {
        let mut found = Self::default();
        for field in bytes.split(|byte| *byte == SOH) {
            let Some(equals) = field.iter().position(|byte| *byte == b'=') else { break };
            let value = &field[equals + 1..];
            let place = match &field[..equals] {
                b"8" => &mut found.begin_string,
                b"34" => &mut found.msg_seq_num,
                b"35" => &mut found.msg_type,
                b"49" => &mut found.sender_comp_id,
                b"56" => &mut found.target_comp_id,
                tag if OTHER_TAGS.contains(&tag) => continue,
                _ => break,
            };
            place.get_or_insert(value);
        }
        found
    }
}

/// Rejects or ignores a message that is garbled because a field has no `=` (14k).
#[cold]
pub(crate) fn without_equals(tx: &mut Transaction<'_>, message: &Message<'_>) -> Result<(), Stop> {
    match GarbledHeader::read(tx.session(), message.bytes()) {
        Some(header) => reject(tx, header),
        None => {
            tx.notify(&Event::Note("a message with a field without = is ignored"));
            Ok(())
        }
    }
}

/// Rejects a garbled message. If there is no room for the Reject, the message is ignored.
pub(crate) fn reject(tx: &mut Transaction<'_>, header: GarbledHeader<'_>) -> Result<(), Stop> {
    let GarbledHeader { seq, msg_type } = header;
    let reject = Reject { reason: SessionRejectReason::Other, tag: None, text: Cow::Borrowed(TEXT) };
    let reply = AdminMessage::Reject { seq, msg_type, reject };
    let is_used = header.uses(tx.session().state.stored.next_in);
    let SessionSettings { disconnect_on_error, reset_on_error, .. } = tx.session().settings;
    let sent = with_room(tx, |tx| {
        if is_used {
            tx.session_mut().state.advance();
            tx.record_change(RecordKind::Adjust, REJECTED)?;
            tx.session_mut().added.record(REJECTED.len());
        }
        tx.send(SendKind::New { cause: Some(seq) }, None, &reply)?;
        if disconnect_on_error || reset_on_error {
            let end = SessionEnd::PeerMisbehaved(Misbehavior::InvalidMessage { seq });
            log_out(tx, TEXT.into(), Some(seq), end, true)?;
        }
        Ok(())
    })?;
    if !sent {
        return Ok(());
    }
    tx.tell_horizon();
    tx.notify_rejected(&reply);
    progress(tx, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_up_to_the_first_field_of_the_body() {
        let bytes = b"8=FIX.4.4\x019=99\x0134=7\x0149=A\x0134=8\x0196=x\x0135=D\x0156=B\x0110=000\x01";
        let found = HeaderFields::read(bytes);
        assert_eq!(found.begin_string, Some(&b"FIX.4.4"[..]));
        assert_eq!((found.msg_seq_num, found.sender_comp_id), (Some(&b"7"[..]), Some(&b"A"[..])));
        assert_eq!((found.msg_type, found.target_comp_id), (None, None));
        assert_eq!(HeaderFields::read(b"8=FIX.4.4\x019\x0134=7\x01").msg_seq_num, None);
        assert!(HeaderFields::read(b"").begin_string.is_none());
    }
}
