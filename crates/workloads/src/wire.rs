//! From bytes to a message and back, the shortest way that checks everything, which codec figures
//! time.

use std::ops::Range;

use fixbolt_codec::{
    BodySink, BodyWriter, EncodeError, Envelope, Frame, Framer, Index, Message, MsgType, NewBody, Precision,
    SecondCache, SeqNum, Stamp,
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
        let SlotDraft(mut body) = Slot(slot).draft(msg_type);
        write(&mut body);
        self.around(body, msg_type, seq, sending_time)
    }

    /// Writes BeginString, BodyLength, CompIDs, MsgSeqNum, SendingTime and CheckSum around a body
    /// that is written already, for example by typed writers. Returns the position of the whole
    /// message, or `None` if the body was refused or the slot is too small.
    #[inline]
    pub fn seal(
        &mut self,
        draft: SlotDraft<'_>,
        msg_type: MsgType,
        seq: SeqNum,
        sending_time: u64,
    ) -> Option<Range<usize>> {
        self.around(draft.0, msg_type, seq, sending_time)
    }

    /// Inlined, so that the writer is not moved.
    #[inline(always)]
    fn around(
        &mut self,
        body: BodyWriter<'_>,
        msg_type: MsgType,
        seq: SeqNum,
        sending_time: u64,
    ) -> Option<Range<usize>> {
        let sum = body.finish().ok()?.sum;
        let (memory, range) = body.into_memory().ok()?;
        let sending_time = self.second.render(sending_time, self.precision);
        let stamp = Stamp { seq, sending_time, original: None, last_processed: None };
        self.envelope.seal(memory, range, msg_type, sum, &stamp).ok()
    }
}

/// Memory for a whole message: a body with space around it.
#[derive(Debug)]
pub struct Slot<'b>(pub &'b mut [u8]);

/// A body in a [`Slot`].
#[derive(Debug)]
pub struct SlotDraft<'b>(BodyWriter<'b>);

impl<'b> NewBody<'b> for Slot<'b> {
    type Draft = SlotDraft<'b>;

    #[inline]
    fn draft(self, msg_type: MsgType) -> SlotDraft<'b> {
        let limit = self.0.len().saturating_sub(fixbolt_codec::Body::TRAILER_LEN);
        SlotDraft(BodyWriter::within(msg_type, self.0, HEADROOM.min(limit), limit))
    }
}

impl<'b> BodySink<'b> for SlotDraft<'b> {
    /// Returns the draft itself, for [`Encoder::seal`].
    type Receipt = Self;
    type Error = EncodeError;

    #[inline]
    fn writer(&mut self) -> &mut BodyWriter<'b> {
        &mut self.0
    }

    #[inline]
    fn send(self) -> Result<Self, EncodeError> {
        self.0.error().map_or(Ok(self), Err)
    }
}
