//! From bytes to a message and back, the shortest way that checks everything, which codec figures
//! time.

use std::ops::Range;

use fixbolt_codec::plumbing::BodyPlumbing as _;
use fixbolt_codec::{
    BodySink, BodyWriter, EncodeError, EncodeErrorKind, Envelope, Frame, Framer, Index, Message, MsgType,
    NewBody, Precision, SecondCache, SeqNum, Stamp, Tag,
};

/// Space before a body for the longest header.
const HEADROOM: usize = 192;
/// Maximum length of a message.
const LIMIT: usize = 64 * 1024;

/// Returns the message at the beginning of `bytes`: framed, BodyLength and CheckSum verified, every
/// field found. `None` if there is no complete message.
#[inline]
pub fn read<'m>(index: &'m mut Index<'_>, bytes: &'m [u8]) -> Option<Message<'m>> {
    match Framer::new(LIMIT).next(bytes) {
        Frame::Message(framed) => index.build(framed).ok(),
        _ => None,
    }
}

/// Writes messages of a session.
#[derive(Debug)]
pub struct Encoder {
    envelope: Envelope,
    second: SecondCache,
    precision: Precision,
}

impl Encoder {
    /// Creates an encoder, or returns `None` if a CompID or BeginString is empty or too long.
    #[must_use]
    pub fn new(begin_string: &[u8], sender_comp_id: &[u8], target_comp_id: &[u8]) -> Option<Self> {
        let envelope = Envelope::new(begin_string, sender_comp_id, target_comp_id)?;
        Some(Self { envelope, second: SecondCache::new(), precision: Precision::Millis })
    }

    /// Sets the precision of SendingTime, by default milliseconds.
    #[must_use]
    pub fn with_precision(self, precision: Precision) -> Self {
        Self { precision, ..self }
    }

    /// Writes a whole message into `slot`: the body that `write` writes, with BeginString,
    /// BodyLength, CompIDs, MsgSeqNum, SendingTime and CheckSum around it. Returns its position, or
    /// `None` if the body was refused or the slot is too small.
    #[inline]
    pub fn encode(
        &mut self,
        slot: &mut [u8],
        msg_type: MsgType,
        seq: SeqNum,
        sending_time: u64,
        write: impl FnOnce(&mut BodyWriter<'_>),
    ) -> Option<Range<usize>> {
        let mut body = body_in(slot, msg_type);
        write(&mut body);
        self.around(body, seq, sending_time).ok()
    }

    /// Returns a sink for the next message, for typed writers, templates and forwarded messages.
    /// Sending returns where the whole message is in `slot`.
    #[inline]
    pub const fn message<'e, 'b>(
        &'e mut self,
        slot: &'b mut [u8],
        seq: SeqNum,
        sending_time: u64,
    ) -> Outgoing<'e, 'b> {
        Outgoing { encoder: self, slot, seq, sending_time }
    }

    /// Inlined, so that the writer is not moved.
    #[inline(always)]
    fn around(
        &mut self,
        body: BodyWriter<'_>,
        seq: SeqNum,
        sending_time: u64,
    ) -> Result<Range<usize>, EncodeError> {
        let msg_type = body.msg_type();
        let sum = body.finish()?.sum;
        let (memory, range) = body.into_memory()?;
        let sending_time = self.second.render(sending_time, self.precision);
        let stamp = Stamp { seq, sending_time, original: None, last_processed: None };
        let sealed = self.envelope.seal(memory, range, msg_type, sum, &stamp);
        sealed.map_err(|_| EncodeError::new(Tag::new(35), EncodeErrorKind::NoRoom))
    }
}

/// Begins a body with space around it for the header and CheckSum.
#[inline(always)]
fn body_in(slot: &mut [u8], msg_type: MsgType) -> BodyWriter<'_> {
    let limit = slot.len().saturating_sub(fixbolt_codec::Body::TRAILER_LEN);
    BodyWriter::within(msg_type, slot, HEADROOM.min(limit), limit)
}

/// The next message of an [`Encoder`].
#[derive(Debug)]
pub struct Outgoing<'e, 'b> {
    encoder: &'e mut Encoder,
    slot: &'b mut [u8],
    seq: SeqNum,
    sending_time: u64,
}

/// An [`Outgoing`] message while it is written.
#[derive(Debug)]
pub struct OutgoingDraft<'e, 'b> {
    body: BodyWriter<'b>,
    encoder: &'e mut Encoder,
    seq: SeqNum,
    sending_time: u64,
}

impl<'e, 'b> NewBody<'b> for Outgoing<'e, 'b> {
    type Draft = OutgoingDraft<'e, 'b>;

    #[inline]
    fn draft(self, msg_type: MsgType) -> OutgoingDraft<'e, 'b> {
        let Self { encoder, slot, seq, sending_time } = self;
        OutgoingDraft { body: body_in(slot, msg_type), encoder, seq, sending_time }
    }
}

impl<'b> BodySink<'b> for OutgoingDraft<'_, 'b> {
    type Receipt = Range<usize>;
    type Error = EncodeError;

    #[inline]
    fn writer(&mut self) -> &mut BodyWriter<'b> {
        &mut self.body
    }

    /// Inlined, so that the writer is not moved.
    #[inline(always)]
    fn send(self) -> Result<Range<usize>, EncodeError> {
        let Self { body, encoder, seq, sending_time } = self;
        encoder.around(body, seq, sending_time)
    }
}
