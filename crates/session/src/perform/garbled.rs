//! What is answered to a garbled message in a session that does not ignore them
//! ([`ValidationSettings::reject_garbled_message`]).
//!
//! Nothing in such a message can be relied on. One is answered only if it ends where BodyLength (9)
//! says and its header has what every message of this session has. None is recorded, because the
//! messages in a store can be read; the use of its sequence number is.

use fixbolt_codec::{Message, SeqNum};

use crate::events::event::Event;
use crate::perform::call::Call;
use crate::state::session::Session;
use crate::state::{Phase, ResetStage};
use crate::values::fix::msg_type;
use crate::wire::raw_header::RawHeader;

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
    // R-FRAME-6
    pub(crate) fn read(session: &Session, bytes: &'m [u8]) -> Option<Self> {
        let state = &session.state;
        // The sequence numbers before the answer to our reset no longer apply.
        if !session.fixed.settings.validation.reject_garbled_message
            || !state.is_open()
            || !matches!(state.phase(), Phase::LoggedOn | Phase::LogoutSent)
            || state.reset_stage() == Some(ResetStage::LogonSent)
        {
            return None;
        }
        let fields = RawHeader::read(bytes);
        let is_ours = fields.is_of(&session.fixed.settings);
        let seq = fields.seq()?;
        let msg_type = fields.msg_type.unwrap_or_default();
        // Two sides that reject Rejects could do so forever.
        let is_answered = is_ours && msg_type != msg_type::REJECT;
        is_answered.then_some(Self { seq, msg_type })
    }

    /// Returns whether the sequence number is used: not that of a message whose effect is on the
    /// sequence numbers themselves.
    fn uses(&self, next_in: SeqNum) -> bool {
        self.seq == next_in && ![msg_type::LOGON, msg_type::SEQUENCE_RESET].contains(&self.msg_type)
    }
}

impl Call<'_> {
    /// Rejects or ignores a message that is garbled because a field has no `=` (14k).
    #[cold]
    pub(crate) fn without_equals(&mut self, message: &Message<'_>) {
        match GarbledHeader::read(self.session(), message.bytes()) {
            Some(header) => self.reject_garbled(header),
            None => self.notify(&Event::Note("a message with a field without = is ignored")),
        }
    }

    /// Rejects a garbled message.
    pub(crate) fn reject_garbled(&mut self, header: GarbledHeader<'_>) {
        let is_used = header.uses(self.session().state.stored.next_in);
        self.reject_unread(header.seq, header.msg_type, TEXT, is_used.then_some(REJECTED));
    }
}
