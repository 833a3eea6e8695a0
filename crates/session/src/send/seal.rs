//! How a finished body becomes a message: header and CheckSum are put around it.

use core::ops::Range;

use fixbolt_codec::{Body, Envelope, MsgType, Precision, SeqNum, Stamp, Version};

use crate::events::error::SendError;
use crate::settings::SessionSettings;
use crate::state::State;
use crate::state::outbox::OutboxCursor;
use crate::state::session::Fixed;

/// How a body is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SendKind<'p> {
    /// As a new message, which gets the next sequence number and is stored.
    New {
        /// The inbound message that caused it.
        cause: Option<SeqNum>,
    },
    /// Again under its old sequence number; it is not stored.
    Again { seq: SeqNum, original: &'p [u8] },
    /// As a gap fill for past sequence numbers, or for some that were never sent; it is not stored.
    Fill {
        seq: SeqNum,
        /// Whether the sequence numbers may have been sent before: 43=Y and 122.
        again: bool,
    },
}

/// Returns the bytes of the header before the next body, for a guess of BodyLength's digits.
/// `is_marked` says whether a new message is marked as a possible duplicate.
pub(crate) fn headroom(
    fixed: &Fixed,
    state: &State,
    cursor: &OutboxCursor,
    msg_type: MsgType,
    kind: SendKind<'_>,
    is_marked: bool,
) -> usize {
    const TIME: &[u8] = b"00000000-00:00:00.000000000000";
    let time = &TIME[..match fixed.precision() {
        Precision::Seconds => 17,
        Precision::Millis => 21,
        Precision::Micros => 24,
        Precision::Nanos => 27,
        Precision::Picos => 30,
    }];
    let (seq, original) = match kind {
        SendKind::New { .. } => (state.stored.next_out, is_marked.then_some(time)),
        SendKind::Again { seq, original } => (seq, Some(original)),
        SendKind::Fill { seq, again } => (seq, again.then_some(time)),
    };
    let last_processed = last_processed(&fixed.settings, state);
    let stamp = Stamp { seq, sending_time: time, original, last_processed };
    fixed.envelope.header_len(msg_type, &stamp, cursor.length_digits())
}

/// Returns LastMsgSeqNumProcessed (369) of a message that is written now, if the session sends it.
/// Earlier versions do not have the field, so a counterparty with a dictionary rejects the message.
// R-SEND-4
#[inline]
pub(crate) fn last_processed(settings: &SessionSettings, state: &State) -> Option<SeqNum> {
    sends_last_processed(settings).then(|| state.stored.next_in.previous())
}

/// Returns whether the session sends LastMsgSeqNumProcessed (369).
#[inline]
pub(super) fn sends_last_processed(settings: &SessionSettings) -> bool {
    settings.resend.enable_last_msg_seq_num_processed && settings.id.version() >= Version::Fix42
}

/// Seals a body so that the message begins exactly at `tail`, where the previous one ended. The
/// body is moved only if BodyLength has more or fewer digits than guessed. Returns the message's
/// range, and the digits.
pub(crate) fn seal(
    envelope: &Envelope,
    memory: &mut [u8],
    mut body: Range<usize>,
    msg_type: MsgType,
    sum: u8,
    stamp: &Stamp<'_>,
    cursor: &OutboxCursor,
) -> Result<(Range<usize>, usize), SendError> {
    let (tail, mut length_digits) = (cursor.tail(), cursor.length_digits());
    // The bytes before `tail` are another message and must stay out of reach, even for a header
    // that is longer than guessed.
    let memory = &mut memory[tail..];
    body = body.start - tail..body.end - tail;
    loop {
        match envelope.seal(memory, body.clone(), msg_type, sum, stamp) {
            Ok(message) if message.start == 0 => {
                return Ok((tail..tail + message.end, length_digits));
            }
            Ok(message) => {
                let shift = message.start;
                memory.copy_within(body.clone(), body.start - shift);
                body = body.start - shift..body.end - shift;
            }
            Err(short) => {
                let shift = short.needed - body.start;
                if body.end + shift + Body::TRAILER_LEN > memory.len() {
                    return Err(SendError::BackPressure);
                }
                memory.copy_within(body.clone(), body.start + shift);
                body = body.start + shift..body.end + shift;
            }
        }
        // A shift corrects the guess of the digits, so the second round fits.
        length_digits = body.start - envelope.header_len(msg_type, stamp, 0);
    }
}
