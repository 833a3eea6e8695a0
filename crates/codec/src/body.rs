//! A finished body, and the sinks that writers put one into.
//!
//! A *body* consists of application header fields and body fields. BeginString, BodyLength,
//! MsgSeqNum, times and CheckSum are never part of it; the sender adds them.

use core::fmt;

use crate::body_writer::BodyWriter;
use crate::encode_error::EncodeError;
use crate::msg_type::MsgType;
use crate::redacted::RedactedBody;

/// A finished body: what a sender needs to build a message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Body<'b> {
    /// The message's type.
    pub msg_type: MsgType,
    /// Application header fields, then body fields, each followed by SOH.
    pub bytes: &'b [u8],
    /// The sum of `bytes`, modulo 256.
    pub sum: u8,
}

impl fmt::Debug for Body<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = RedactedBody { bytes: self.bytes, msg_type: self.msg_type.as_bytes() };
        let mut shown = f.debug_struct("Body");
        shown.field("msg_type", &self.msg_type).field("bytes", &bytes).field("sum", &self.sum).finish()
    }
}

/// A place to write a message into: a session, a slot of a queue, plain memory.
#[diagnostic::on_unimplemented(
    message = "no message can be written into `{Self}`",
    label = "messages cannot be written into this",
    note = "a message is written into a session (`turn.session()`), a sender of another thread (`&mut sender`) or plain memory (`Memory(&mut bytes)`)"
)]
pub trait NewBody<'b> {
    /// The draft that this sink returns.
    type Draft: BodySink<'b>;

    /// Begins a body. A draft that is dropped without [`BodySink::send`] has no effect.
    fn draft(self, msg_type: MsgType) -> Self::Draft;
}

/// A body being written.
pub trait BodySink<'b> {
    /// What sending returns: a sequence number, a ticket, the bytes.
    type Receipt;
    /// Why the message was not sent.
    type Error: From<EncodeError>;

    /// Returns the writer for the body's fields.
    fn writer(&mut self) -> &mut BodyWriter<'b>;

    /// Hands the body over to the sink.
    ///
    /// # Errors
    /// Returns the sink's own error, or the one that [`BodyWriter::error`] holds. In both cases
    /// nothing was sent and no sequence number was used.
    fn send(self) -> Result<Self::Receipt, Self::Error>;
}

/// Plain memory as a sink: [`BodySink::send`] returns the finished [`Body`].
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
