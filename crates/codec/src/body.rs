//! A finished body, and where writers put one.
//!
//! A *body* is application header fields and body fields, never BeginString, BodyLength, MsgSeqNum, times or CheckSum, which
//! belong to whoever sends it.

use core::fmt;

use crate::body_writer::BodyWriter;
use crate::encode_error::EncodeError;
use crate::msg_type::MsgType;
use crate::redacted::RedactedBody;

/// A finished body: what a sender needs to make a message of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Body<'b> {
    /// What kind of message.
    pub msg_type: MsgType,
    /// Application header fields, then body fields, each with its SOH.
    pub bytes: &'b [u8],
    /// The sum of `bytes` modulo 256.
    pub sum: u8,
}

impl fmt::Debug for Body<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = RedactedBody { bytes: self.bytes, msg_type: self.msg_type.as_bytes() };
        let mut shown = f.debug_struct("Body");
        shown.field("msg_type", &self.msg_type).field("bytes", &bytes).field("sum", &self.sum).finish()
    }
}

/// Where typed writers put a body: a session, a slot of a queue, plain memory.
#[diagnostic::on_unimplemented(
    message = "no message can be written into `{Self}`",
    label = "this takes no message",
    note = "a message is written into a session (`turn.reply()`), a sender of another thread (`&mut sender`) or plain memory (`Memory(&mut bytes)`)"
)]
pub trait NewBody<'b> {
    /// The draft that the sink hands out.
    type Draft: BodySink<'b>;

    /// Begins a body. A draft that is dropped without [`BodySink::send`] leaves no trace.
    fn draft(self, msg_type: MsgType) -> Self::Draft;
}

/// A body being written.
pub trait BodySink<'b> {
    /// What sending gives: a number, a ticket, the bytes.
    type Receipt;
    /// Why it was not sent.
    type Error: From<EncodeError>;

    /// Where fields are written.
    fn writer(&mut self) -> &mut BodyWriter<'b>;

    /// Hands the body over.
    ///
    /// # Errors
    /// The sink's own, and whatever [`BodyWriter::error`] holds: then nothing was sent and no number used.
    fn send(self) -> Result<Self::Receipt, Self::Error>;
}

/// Plain memory as a sink: [`BodySink::send`] gives the writer back, finished.
pub struct Memory<'b>(pub &'b mut [u8]);

impl fmt::Debug for Memory<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Memory({} bytes)", self.0.len())
    }
}

/// A body being written into plain memory.
#[derive(Debug)]
pub struct MemoryDraft<'b>(BodyWriter<'b>);

impl<'b> NewBody<'b> for Memory<'b> {
    type Draft = MemoryDraft<'b>;

    #[inline]
    fn draft(self, msg_type: MsgType) -> MemoryDraft<'b> {
        MemoryDraft(BodyWriter::new(msg_type, self.0))
    }
}

impl<'b> BodySink<'b> for MemoryDraft<'b> {
    type Receipt = Body<'b>;
    type Error = EncodeError;

    #[inline]
    fn writer(&mut self) -> &mut BodyWriter<'b> {
        &mut self.0
    }

    #[inline]
    fn send(self) -> Result<Body<'b>, EncodeError> {
        self.0.into_body()
    }
}
