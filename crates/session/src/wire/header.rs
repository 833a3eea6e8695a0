//! The standard header fields that decide how a message is treated, read once.

use fixbolt_codec::{FromField, Message, SecondReader, SeqNum, Tag, UtcTimestamp, is_admin};

use crate::store::RecordFlags;
use crate::values::fix::{YES, msg_type, tag};
use crate::wire::mask::may_be_anywhere_in;
use crate::wire::shape::Shape;

/// The fields that the session layer reads in every message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header<'m> {
    pub(crate) msg_type: &'m [u8],
    /// MsgSeqNum (34), if it is present and a number. Zero is allowed: a SequenceReset-Reset may
    /// contain it, in other messages it is too low.
    pub(crate) seq: Option<SeqNum>,
    pub(crate) poss_dup: bool,
    pub(crate) sender_comp_id: Option<&'m [u8]>,
    pub(crate) target_comp_id: Option<&'m [u8]>,
    /// SendingTime (52) as it was sent.
    pub(crate) sending_time: Option<&'m [u8]>,
    /// SendingTime (52) in nanoseconds since 1970; `None` if it is missing or not a time.
    pub(crate) sent: Option<u64>,
    pub(crate) flags: RecordFlags,
    /// Whether the message may have secrets; `false` is certain.
    pub(crate) may_have_secrets: bool,
    /// Whether an answer has routing fields.
    pub(crate) has_route: bool,
}

impl<'m> Header<'m> {
    #[inline]
    pub(crate) fn read(message: &Message<'m>, shape: &Shape, second: &mut SecondReader) -> Self {
        let msg_type = message.msg_type();
        let value = |position: Option<u32>| position.map(|at| message.value(at as usize));
        let poss_dup = value(shape.poss_dup) == Some(YES);
        let mut flags = RecordFlags::default();
        if is_admin(msg_type) {
            flags = flags.with(RecordFlags::ADMIN);
        }
        if poss_dup {
            flags = flags.with(RecordFlags::POSS_DUP);
        }
        // R-CHECK-2
        // `u64::MAX` has no successor, so a message with that number would be expected forever.
        let seq = value(shape.seq)
            .and_then(|value| SeqNum::from_field(value).ok())
            .filter(|seq| *seq < SeqNum::MAX);
        let sending_time = value(shape.sending_time);
        Self {
            msg_type,
            seq,
            poss_dup,
            sender_comp_id: value(shape.sender_comp_id),
            target_comp_id: value(shape.target_comp_id),
            sending_time,
            sent: sending_time.and_then(|time| second.unix_nanos(time)),
            flags,
            may_have_secrets: shape.may_have_secrets || may_be_anywhere_in(message),
            has_route: shape.has_route,
        }
    }

    #[inline]
    pub(crate) fn is_reset_logon(&self, message: &Message<'_>) -> bool {
        self.msg_type == msg_type::LOGON && message.get(tag::RESET_SEQ_NUM_FLAG) == Some(YES)
    }

    /// Returns whether the message belongs to the session layer.
    #[inline]
    pub(crate) fn is_session_layer(&self) -> bool {
        self.flags.contains(RecordFlags::ADMIN)
    }

    /// Returns whether the message is a SequenceReset other than a gap fill.
    pub(crate) fn is_reset(&self, message: &Message<'_>) -> bool {
        self.msg_type == msg_type::SEQUENCE_RESET && message.get(tag::GAP_FILL_FLAG) != Some(YES)
    }
}

/// Returns a UTCTimestamp in nanoseconds since 1970.
pub(crate) fn unix_nanos(value: &[u8]) -> Option<u64> {
    UtcTimestamp::from_field(value).ok()?.to_unix_nanos()
}

/// Returns the value of a field that must be a number.
pub(crate) fn number(message: &Message<'_>, tag: Tag) -> Option<u64> {
    message.get(tag).and_then(|value| u64::from_field(value).ok())
}
