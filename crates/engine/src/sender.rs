//! Sending from threads other than the session's own.

use core::error::Error;
use core::fmt;
use core::time::Duration;
use std::sync::Arc;
use std::time::Instant;

use fixbolt_codec::plumbing::BodyPlumbing as _;
use fixbolt_codec::{Body, BodySink, BodyWriter, EncodeError, MsgType, NewBody};
use fixbolt_session::{Mono, SessionId, Ticket};

use crate::outbound_queue::OutboundQueue;
use crate::posted_body::PostedBody;
use crate::ring::Refused;
use crate::worker_signal::WorkerSignal;

/// Sends messages of one session from any thread. Cheap to clone: use one per thread.
///
/// An accepted message gets a [`Ticket`] at once. Its outcome is reported to the application on the
/// session's thread, by `Event::Sent` with its sequence number, or by `Event::NotSent` if the
/// session has ended or the message was refused after all. A message that is not accepted is
/// reported here, as a [`PostError`]. Messages from one thread keep their order.
///
/// Typed writers write into `&mut sender`, and never wait: [`PostError::Full`] means that the
/// counterparty or the journal does not keep up. [`Sender::within`] waits for room.
///
/// In a callback, `turn` sends at once and in the callback's transaction; a sender is for other
/// threads. One that is used in a callback nevertheless never waits there.
///
/// A sender that has written nothing takes a few words of memory. Its first message allocates,
/// once, the memory for a message of MaxMessageSize.
///
/// ```
/// use std::time::Duration;
///
/// use fixbolt::codec::{Message, UtcTimestamp};
/// use fixbolt::messages::fix44::fields::{OrdType, Side};
/// use fixbolt::messages::fix44::{NewOrderSingle, new_order_single::Required};
/// use fixbolt::session::{Application, Delivery, Failure, Role, SessionSettings, Turn};
/// use fixbolt::{Engine, Initiation, PostError};
///
/// struct Trader;
///
/// impl Application for Trader {
///     fn on_message(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
///         Ok(Delivery::Done)
///     }
/// }
///
/// let session = SessionSettings::new("FIX.4.4:TRADER->VENUE".parse()?, Role::Initiator);
/// let id = session.id.clone();
/// // Nobody listens there, so that the session does not log on.
/// let engine = Engine::builder().connect(Initiation::new(session, "127.0.0.1", 1)).start(Trader)?;
/// let mut sender = engine.session(&id).ok_or("no such session")?.sender();
/// let transact_time: UtcTimestamp = "20261121-10:00:00".parse()?;
/// let ord_type = OrdType::MARKET;
/// let required = || Required { cl_ord_id: "ord1", side: Side::BUY, transact_time, ord_type };
/// // At once, or not at all.
/// let sent = NewOrderSingle::send(&mut sender, required(), |_| {});
/// assert_eq!(sent, Err(PostError::NotLoggedOn));
/// // Waits for room in the queue, but not for a logon.
/// let sent = NewOrderSingle::send(sender.within(Duration::from_millis(5)), required(), |_| {});
/// assert_eq!(sent, Err(PostError::NotLoggedOn));
/// engine.stop()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Sender {
    queue: Arc<OutboundQueue>,
    signal: Arc<WorkerSignal>,
    /// Where drafts are written; empty before the first one.
    memory: Box<[u8]>,
}

impl Sender {
    pub(crate) fn new(queue: Arc<OutboundQueue>, signal: Arc<WorkerSignal>) -> Self {
        Self { queue, signal, memory: Box::default() }
    }

    /// Returns the session that it sends for.
    #[must_use]
    pub fn session_id(&self) -> &SessionId {
        &self.queue.id
    }

    /// Sends a finished body, made by [`fixbolt_codec::Memory`] for example, at once or not at all.
    ///
    /// # Errors
    /// [`PostError`], except [`PostError::Encode`].
    pub fn try_send(&self, body: &Body<'_>) -> Result<Ticket, PostError> {
        let post = Post { queue: &self.queue, signal: &self.signal, limit: None };
        post.post(&PostedBody { body: *body, may_have_secrets: true })
    }

    /// Returns a sender for one message, which waits for room for at most `limit`, counted from the
    /// call that sends. It does not wait for a logon. In a callback it does not wait at all: room
    /// may depend on the callback's own thread.
    pub fn within(&mut self, limit: Duration) -> PatientSender<'_> {
        PatientSender { sender: self, limit }
    }

    fn draft_within(&mut self, msg_type: MsgType, limit: Option<Duration>) -> SenderDraft<'_> {
        let Self { queue, signal, memory } = self;
        if memory.is_empty() {
            *memory = vec![0; queue.max_body_size].into_boxed_slice();
        }
        let began = queue.timing.as_ref().map(|timing| timing.clock.read());
        let writer = BodyWriter::new(msg_type, memory);
        SenderDraft { writer, began, post: Post { queue, signal, limit } }
    }
}

/// Without what was written, in which there may be secrets.
impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").field("session_id", self.session_id()).finish_non_exhaustive()
    }
}

impl Clone for Sender {
    fn clone(&self) -> Self {
        Self::new(Arc::clone(&self.queue), Arc::clone(&self.signal))
    }
}

impl<'s> NewBody<'s> for &'s mut Sender {
    type Draft = SenderDraft<'s>;

    fn draft(self, msg_type: MsgType) -> SenderDraft<'s> {
        self.draft_within(msg_type, None)
    }
}

/// A [`Sender`] for one message that may wait for room, returned by [`Sender::within`].
///
/// ```
/// use std::time::Duration;
///
/// use fixbolt::PostError;
/// use fixbolt::codec::{BodySink, Key, Memory, MsgType, NewBody};
/// # use fixbolt::codec::Message;
/// # use fixbolt::session::{Application, Delivery, Failure, Role, SessionSettings, Turn};
/// # use fixbolt::{Engine, Initiation};
/// # struct Trader;
/// # impl Application for Trader {
/// #     fn on_message(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
/// #         Ok(Delivery::Done)
/// #     }
/// # }
/// # let session = SessionSettings::new("FIX.4.4:TRADER->VENUE".parse()?, Role::Initiator);
/// # let id = session.id.clone();
/// # let engine = Engine::builder().connect(Initiation::new(session, "127.0.0.1",
/// 1)).start(Trader)?;
///
/// // A body that is sent by several sessions is written once.
/// let mut memory = [0; 1024];
/// let mut news = Memory(&mut memory).draft(MsgType::new(b"B"));
/// news.writer().bytes(Key::new(148), b"closing early");
/// let body = news.send()?;
/// let mut sender = engine.session(&id).ok_or("no such session")?.sender();
/// let sent = sender.within(Duration::from_millis(5)).send(&body);
/// // Nobody listens there, so that the session is not logged on.
/// assert_eq!(sent, Err(PostError::NotLoggedOn));
/// engine.stop()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "nothing is sent until a message is written"]
pub struct PatientSender<'s> {
    sender: &'s mut Sender,
    limit: Duration,
}

impl PatientSender<'_> {
    /// Sends a finished body, as soon as there is room for it.
    ///
    /// # Errors
    /// [`PostError`], except [`PostError::Encode`]; [`PostError::Full`] if the time has passed
    /// without room.
    pub fn send(self, body: &Body<'_>) -> Result<Ticket, PostError> {
        let Sender { queue, signal, .. } = self.sender;
        let post = Post { queue, signal, limit: Some(self.limit) };
        post.post(&PostedBody { body: *body, may_have_secrets: true })
    }
}

impl<'s> NewBody<'s> for PatientSender<'s> {
    type Draft = SenderDraft<'s>;

    fn draft(self, msg_type: MsgType) -> SenderDraft<'s> {
        self.sender.draft_within(msg_type, Some(self.limit))
    }
}

/// A message being written for another thread's session. Dropping it without `send` has no effect.
///
/// ```
/// use fixbolt::PostError;
/// use fixbolt::codec::{BodySink, Key, MsgType, NewBody};
/// # use fixbolt::codec::Message;
/// # use fixbolt::session::{Application, Delivery, Failure, Role, SessionSettings, Turn};
/// # use fixbolt::{Engine, Initiation};
/// # struct Trader;
/// # impl Application for Trader {
/// #     fn on_message(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
/// #         Ok(Delivery::Done)
/// #     }
/// # }
/// # let session = SessionSettings::new("FIX.4.4:TRADER->VENUE".parse()?, Role::Initiator);
/// # let id = session.id.clone();
/// # let engine = Engine::builder().connect(Initiation::new(session, "127.0.0.1",
/// 1)).start(Trader)?;
///
/// let mut sender = engine.session(&id).ok_or("no such session")?.sender();
/// // A message without a type of its own, field by field.
/// let mut order = sender.draft(MsgType::new(b"D"));
/// order.writer().bytes(Key::new(11), b"ord1").bytes(Key::new(55), b"IBM");
/// // Nobody listens there, so that the session is not logged on.
/// assert_eq!(order.send(), Err(PostError::NotLoggedOn));
/// engine.stop()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "nothing is sent until `send`"]
pub struct SenderDraft<'s> {
    writer: BodyWriter<'s>,
    /// When it was begun, if that is measured.
    began: Option<Mono>,
    post: Post<'s>,
}

impl<'s> BodySink<'s> for SenderDraft<'s> {
    type Receipt = Ticket;
    type Error = PostError;

    fn writer(&mut self) -> &mut BodyWriter<'s> {
        &mut self.writer
    }

    fn send(self) -> Result<Ticket, PostError> {
        let Self { writer, began, post } = self;
        let may_have_secrets = writer.may_contain(&post.queue.secrets);
        let body = PostedBody { body: writer.finish()?, may_have_secrets };
        let Some((timing, began)) = post.queue.timing.as_ref().zip(began) else { return post.post(&body) };
        let time = timing.clock.read() - began;
        // What is refused is written again.
        post.post(&body).inspect(|_| timing.add(time))
    }
}

/// How a body reaches the worker.
#[derive(Clone, Copy)]
struct Post<'s> {
    queue: &'s Arc<OutboundQueue>,
    signal: &'s WorkerSignal,
    /// How long it may wait for room.
    limit: Option<Duration>,
}

impl fmt::Debug for Post<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Post");
        shown.field("session_id", &self.queue.id).field("limit", &self.limit).finish_non_exhaustive()
    }
}

impl Post<'_> {
    fn post(self, body: &PostedBody<'_>) -> Result<Ticket, PostError> {
        let posted = self.try_post(body);
        match (posted, self.limit) {
            (Err(PostError::Full), Some(limit)) if !self.signal.must_not_be_awaited() => {
                self.wait(body, limit)
            }
            _ => posted,
        }
    }

    fn wait(self, body: &PostedBody<'_>, limit: Duration) -> Result<Ticket, PostError> {
        // A limit beyond the end of the clock counts as no wait at all.
        let now = Instant::now();
        let until = now.checked_add(limit).unwrap_or(now + Duration::from_secs(u32::MAX.into()));
        let posted = self.queue.pages.room.wait_until(until, || match self.try_post(body) {
            Err(PostError::Full) => None,
            posted => Some(posted),
        });
        posted.unwrap_or(Err(PostError::Full))
    }

    fn try_post(self, posted: &PostedBody<'_>) -> Result<Ticket, PostError> {
        let Self { queue, signal, .. } = self;
        let (status, body) = (&queue.status, &posted.body);
        if signal.is_stopped() || status.is_closed() {
            return Err(self.closed());
        }
        if body.msg_type.is_admin() {
            return Err(PostError::SessionMessage);
        }
        let limit = queue.max_body_size;
        if body.bytes.len() > limit {
            return Err(PostError::TooLarge { limit });
        }
        if status.is_halted() {
            return Err(PostError::Halted);
        }
        if !status.is_logged_on() && !status.keeps_messages() {
            return Err(PostError::NotLoggedOn);
        }
        signal.push(queue, posted).map_err(|refused| match refused {
            Refused::Full => PostError::Full,
            Refused::Closed => self.closed(),
        })
    }

    /// Why the queue is closed. A worker that ends closes its sessions and queues after it says so.
    fn closed(&self) -> PostError {
        if self.signal.is_stopped() { PostError::Stopped } else { PostError::NoSession }
    }
}

/// Why a message was not accepted. It will not be sent, has no ticket, and uses no sequence number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum PostError {
    /// The body is not a valid FIX message.
    Encode(EncodeError),
    /// The MsgType belongs to the session layer (0 1 2 3 4 5 A): the session writes it itself.
    SessionMessage,
    /// The body is larger than MaxMessageSize, or than half of the engine's budget for outbound
    /// messages.
    TooLarge {
        /// The largest permitted body, in bytes.
        limit: usize,
    },
    /// The session is not logged on, and its settings say that no messages are kept meanwhile
    /// ([`WhileLoggedOff::Refuse`](fixbolt_session::WhileLoggedOff::Refuse)).
    NotLoggedOn,
    /// The session is halted until an operator ends that;
    /// [`SessionHandle::state`](crate::SessionHandle::state) returns the reason.
    Halted,
    /// The session was removed.
    NoSession,
    /// There is no room in the session's queue or in the engine's budget: the counterparty or the
    /// journal does not keep up. Try again later, or wait for room with [`Sender::within`].
    Full,
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
            Self::SessionMessage => f.write_str("the session layer writes this MsgType itself"),
            Self::TooLarge { limit } => write!(f, "the body has more than {limit} bytes"),
            Self::NotLoggedOn => f.write_str("the session is not logged on"),
            Self::Halted => f.write_str("the session is halted"),
            Self::NoSession => f.write_str("the session was removed"),
            Self::Full => f.write_str("the session's queue is full: try again later"),
            Self::Stopped => f.write_str("the engine has stopped"),
        }
    }
}

impl Error for PostError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Encode(error) => error.source(),
            _ => None,
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use fixbolt_codec::{Key, Message};
    use fixbolt_session::{Application, Delivery, Failure, Role, SessionSettings, Turn};

    use super::*;
    use crate::{Engine, Initiation};

    struct Trader;

    impl Application for Trader {
        fn on_message(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
            Ok(Delivery::Done)
        }
    }

    #[test]
    fn the_debug_text_of_a_sender_shows_no_byte_of_a_secret_that_was_written() {
        let session = SessionSettings::new("FIX.4.4:TRADER->VENUE".parse().unwrap(), Role::Initiator);
        let id = session.id.clone();
        // Nobody listens there.
        let initiation = Initiation::new(session, "127.0.0.1", 1);
        let engine = Engine::builder().connect(initiation).start(Trader).unwrap();
        let mut sender = engine.session(&id).unwrap().sender();
        let mut draft = sender.draft(MsgType::new(b"BE"));
        draft.writer().bytes(Key::new(553), b"me").bytes(Key::new(554), b"swordfish");
        let mut shown = format!("{draft:?}");
        assert!(shown.contains("553=me|554=***|"), "{shown}");
        assert_eq!(draft.send(), Err(PostError::NotLoggedOn));
        shown += &format!("{sender:?} {:?}", sender.clone().within(Duration::ZERO));
        let numbers = format!("{:?}", b"sword");
        assert!(!shown.contains("sword") && !shown.contains(numbers.trim_matches(['[', ']'])), "{shown}");
        assert!(shown.contains("Sender { session_id: ") && shown.len() < 1_000, "{shown}");
        engine.stop().unwrap();
    }
}
