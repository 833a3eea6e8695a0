//! Sending from threads other than the session's own.

use core::fmt;
use std::sync::Arc;

use fixbolt_codec::{Body, BodySink, BodyWriter, EncodeError, MsgType, NewBody};
use fixbolt_session::{SessionId, Ticket};

use crate::outbound_queue::OutboundQueue;
use crate::worker_signal::WorkerSignal;

/// Sends messages of one session from any thread. Cheap to clone: give each thread its own.
///
/// A sent message gets a [`Ticket`] at once; what became of it is told to the application on the session's thread, by
/// `Event::Sent` with its number or `Event::NotSent` with the reason. Messages of one sender keep their order. When the
/// counterparty does not read, the session's queue fills up and `send` returns [`PostError::Full`].
#[derive(Debug)]
pub struct Sender {
    id: SessionId,
    queue: Arc<OutboundQueue>,
    signal: Arc<WorkerSignal>,
    memory: Box<[u8]>,
}

impl Sender {
    pub(crate) fn new(
        id: SessionId,
        queue: Arc<OutboundQueue>,
        signal: Arc<WorkerSignal>,
        max_body_size: usize,
    ) -> Self {
        Self { id, queue, signal, memory: vec![0; max_body_size].into_boxed_slice() }
    }

    /// The session that it sends for.
    #[must_use]
    pub const fn session_id(&self) -> &SessionId {
        &self.id
    }

    /// Posts a finished body, as [`fixbolt_codec::Memory`] makes one.
    ///
    /// # Errors
    /// [`PostError::Full`], [`PostError::Stopped`]; [`PostError::TooLarge`] when the body has more bytes than the session
    /// takes.
    pub fn post(&mut self, body: &Body<'_>) -> Result<Ticket, PostError> {
        post(&self.queue, &self.signal, body, self.memory.len())
    }
}

impl Clone for Sender {
    fn clone(&self) -> Self {
        Self {
            id: self.id.clone(),
            queue: Arc::clone(&self.queue),
            signal: Arc::clone(&self.signal),
            memory: vec![0; self.memory.len()].into_boxed_slice(),
        }
    }
}

fn post(
    queue: &Arc<OutboundQueue>,
    signal: &WorkerSignal,
    body: &Body<'_>,
    limit: usize,
) -> Result<Ticket, PostError> {
    if body.bytes.len() > limit {
        return Err(PostError::TooLarge { limit });
    }
    if signal.is_stopped() {
        return Err(PostError::Stopped);
    }
    let ticket = signal.push(queue, body).ok_or(PostError::Full)?;
    // A worker that ended meanwhile sends nothing any more.
    if signal.is_stopped() { Err(PostError::Stopped) } else { Ok(ticket) }
}

impl<'s> NewBody<'s> for &'s mut Sender {
    type Draft = SenderDraft<'s>;

    fn draft(self, msg_type: MsgType) -> SenderDraft<'s> {
        let Sender { queue, signal, memory, .. } = self;
        let limit = memory.len();
        SenderDraft { writer: BodyWriter::new(msg_type, memory), queue, signal, limit }
    }
}

/// A message being written for another thread's session. Dropped without `send` it leaves no trace.
#[derive(Debug)]
#[must_use = "nothing is sent until `send`"]
pub struct SenderDraft<'s> {
    writer: BodyWriter<'s>,
    queue: &'s Arc<OutboundQueue>,
    signal: &'s WorkerSignal,
    limit: usize,
}

impl<'s> BodySink<'s> for SenderDraft<'s> {
    type Receipt = Ticket;
    type Error = PostError;

    fn writer(&mut self) -> &mut BodyWriter<'s> {
        &mut self.writer
    }

    fn send(self) -> Result<Ticket, PostError> {
        let body = self.writer.finish()?;
        post(self.queue, self.signal, &body, self.limit)
    }
}

/// Why a message was not even posted. It will not be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum PostError {
    /// The body is no FIX message.
    Encode(EncodeError),
    /// The session's queue is full: the counterparty or the journal does not keep up. Try again later.
    Full,
    /// The body has more bytes than the session takes.
    TooLarge {
        /// Bytes that a body may have.
        limit: usize,
    },
    /// The engine has stopped.
    Stopped,
}

impl From<EncodeError> for PostError {
    fn from(error: EncodeError) -> Self {
        Self::Encode(error)
    }
}

impl fmt::Display for PostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Encode(error) => error.fmt(f),
            Self::Full => f.write_str("the session's queue is full"),
            Self::TooLarge { limit } => write!(f, "a body larger than {limit} bytes"),
            Self::Stopped => f.write_str("the engine has stopped"),
        }
    }
}

impl core::error::Error for PostError {}
