//! The standard header fields that decide how a message is treated, read once.

use fixbolt_codec::{FromField, Message, SeqNum, Tag, UtcTimestamp, is_admin};

use crate::store::RecordFlags;
use crate::values::fix::{YES, msg_type, number, tag};

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
    pub(crate) flags: RecordFlags,
}

impl<'m> Header<'m> {
    pub(crate) fn read(message: &Message<'m>) -> Self {
        let msg_type = message.msg_type();
        let Leading { seq, sender_comp_id, target_comp_id, sending_time, poss_dup } = Leading::read(message);
        let or_find = |leading: Option<&'m [u8]>, tag| leading.or_else(|| message.get(tag));
        let seq = or_find(seq, tag::MSG_SEQ_NUM);
        let poss_dup = or_find(poss_dup, tag::POSS_DUP_FLAG) == Some(YES);
        let mut flags = RecordFlags::default();
        if is_admin(msg_type) {
            flags = flags.with(RecordFlags::ADMIN);
        }
        if poss_dup {
            flags = flags.with(RecordFlags::POSS_DUP);
        }
        // R-CHECK-2
        // `u64::MAX` has no successor, so a message with that number would be expected forever.
        let seq = seq.and_then(|value| SeqNum::from_field(value).ok()).filter(|seq| *seq < SeqNum::MAX);
        Self {
            msg_type,
            seq,
            poss_dup,
            sender_comp_id: or_find(sender_comp_id, tag::SENDER_COMP_ID),
            target_comp_id: or_find(target_comp_id, tag::TARGET_COMP_ID),
            sending_time: or_find(sending_time, tag::SENDING_TIME),
            flags,
        }
    }

    /// Returns SendingTime (52) in nanoseconds since 1970; `None` if it is missing or not a time.
    pub(crate) fn sent(&self) -> Option<u64> {
        self.sending_time.and_then(unix_nanos)
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

/// Fields right after MsgType (35), where nearly every message has them, found without a search.
#[derive(Default)]
struct Leading<'m> {
    seq: Option<&'m [u8]>,
    sender_comp_id: Option<&'m [u8]>,
    target_comp_id: Option<&'m [u8]>,
    sending_time: Option<&'m [u8]>,
    poss_dup: Option<&'m [u8]>,
}

impl<'m> Leading<'m> {
    #[inline]
    fn read(message: &Message<'m>) -> Self {
        let mut leading = Self::default();
        for (position, tag) in message.tags().iter().enumerate().skip(3) {
            // If a tag occurs twice, the first one counts.
            match *tag {
                number::MSG_SEQ_NUM if leading.seq.is_none() => leading.seq = Some(message.value(position)),
                number::POSS_DUP_FLAG if leading.poss_dup.is_none() => {
                    leading.poss_dup = Some(message.value(position))
                }
                number::SENDER_COMP_ID if leading.sender_comp_id.is_none() => {
                    leading.sender_comp_id = Some(message.value(position));
                }
                number::SENDING_TIME if leading.sending_time.is_none() => {
                    leading.sending_time = Some(message.value(position))
                }
                number::TARGET_COMP_ID if leading.target_comp_id.is_none() => {
                    leading.target_comp_id = Some(message.value(position));
                }
                number::MSG_SEQ_NUM
                | number::POSS_DUP_FLAG
                | number::SENDER_COMP_ID
                | number::SENDING_TIME
                | number::TARGET_COMP_ID => {}
                _ => break,
            }
        }
        leading
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
