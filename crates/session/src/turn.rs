//! A turn: one inbound message (or one call from outside) and everything that is written because of it, in any session of
//! the worker. Committed or rolled back as a whole.

use fixbolt_codec::{BodySink, BodyWriter, EncodeError, Key, Message, MsgType, NewBody, SeqNum, Tag};

use crate::application::SendError;
use crate::id::SessionId;
use crate::outbox::{Ends, Outbox};
use crate::slot::{Core, Posting, Slot, Undo};
use crate::state::Phase;
use crate::store::{SessionKey, Store};
use crate::time::Now;

/// What an application may do inside a callback. No type parameter, so that it fits into `dyn Application`.
pub struct Turn<'a> {
    pub(crate) now: Now,
    pub(crate) number: u64,
    pub(crate) inbound: Option<Message<'a>>,
    pub(crate) cause: Option<SeqNum>,
    pub(crate) redelivered: bool,
    pub(crate) own: &'a mut Slot,
    pub(crate) before: &'a mut [Slot],
    pub(crate) after: &'a mut [Slot],
    pub(crate) store: &'a mut (dyn Store + 'a),
    pub(crate) touched: &'a mut Vec<usize>,
}

impl Turn<'_> {
    /// The clocks of this turn; SendingTime (52) of everything written in it.
    #[must_use]
    pub const fn now(&self) -> Now {
        self.now
    }

    /// The session that the message came from.
    #[must_use]
    pub const fn session(&self) -> SessionKey {
        self.own.core.key
    }

    /// Its identity.
    #[must_use]
    pub const fn session_id(&self) -> &SessionId {
        &self.own.core.settings.id
    }

    /// MsgSeqNum (34) of the inbound message; `None` in a turn that was begun from outside.
    #[must_use]
    pub const fn seq(&self) -> Option<SeqNum> {
        self.cause
    }

    /// Whether the application may have seen this message before: an earlier attempt failed, or the process died in it.
    #[must_use]
    pub const fn redelivered(&self) -> bool {
        self.redelivered
    }

    /// Next number that will be sent in the own session.
    #[must_use]
    pub const fn next_out(&self) -> SeqNum {
        self.own.core.state.next_out
    }

    /// Bytes that can still be written to the own session before it answers [`SendError::BackPressure`]. Half of the outbox
    /// is for answers: so a session that sends as fast as it can goes on reading.
    #[must_use]
    pub fn room(&self) -> usize {
        let kept = if self.cause.is_some() { 0 } else { self.own.outbox.size() / 2 };
        self.own.outbox.room().saturating_sub(kept)
    }

    /// Where to write an answer. Routing fields of the inbound message (115, 116, 144 and 128, 129, 145) are reversed on it.
    pub fn reply(&mut self) -> Handle<'_> {
        let alone = !self.own.outbox.was_queued(self.own.undo.outbox);
        Handle {
            now: self.now,
            core: &mut self.own.core,
            outbox: &mut self.own.outbox,
            store: &mut *self.store,
            cause: self.cause,
            route: self.inbound,
            header: &[],
            session_layer: false,
            alone,
        }
    }

    /// Where to write a message of another session of this worker, or of the own one without routing fields; `None` when
    /// there is no such session.
    pub fn to(&mut self, session: SessionKey) -> Option<Handle<'_>> {
        let (own, wanted) = (self.own.core.key.0 as usize, session.0 as usize);
        let slot = if wanted == own {
            &mut *self.own
        } else if wanted < own {
            &mut self.before[wanted]
        } else {
            self.after.get_mut(wanted - own - 1)?
        };
        touch(slot, self.number, self.touched);
        let cause = if wanted == own { self.cause } else { None };
        let alone = !slot.outbox.was_queued(slot.undo.outbox);
        Some(Handle {
            now: self.now,
            core: &mut slot.core,
            outbox: &mut slot.outbox,
            store: &mut *self.store,
            cause,
            route: None,
            header: &[],
            session_layer: false,
            alone,
        })
    }
}

/// Takes the snapshot of a session that the turn meets for the first time.
pub(crate) fn touch(slot: &mut Slot, turn: u64, touched: &mut Vec<usize>) {
    if slot.undo.turn != turn {
        slot.outbox.tidy();
        slot.undo = Undo {
            turn,
            state: slot.core.state,
            outbox: slot.outbox.mark(),
            ending: slot.core.end.is_some(),
            leaving: slot.core.leaving.is_some(),
        };
        touched.push(slot.core.key.0 as usize);
    }
}

/// Where one message of one session is written.
pub struct Handle<'a> {
    pub(crate) now: Now,
    pub(crate) core: &'a mut Core,
    pub(crate) outbox: &'a mut Outbox,
    pub(crate) store: &'a mut (dyn Store + 'a),
    pub(crate) cause: Option<SeqNum>,
    pub(crate) route: Option<Message<'a>>,
    pub(crate) header: &'a [(Key, &'a [u8])],
    pub(crate) session_layer: bool,
    /// Nothing was queued before this turn: what does not fit now never will.
    pub(crate) alone: bool,
}

impl<'a> Handle<'a> {
    /// Adds header fields of the application's (SenderSubID 50, TargetSubID 57, OnBehalfOfCompID 115, PossResend 97, ...).
    /// Fields of the session's are refused at `send`.
    #[must_use]
    pub const fn with_header(mut self, fields: &'a [(Key, &'a [u8])]) -> Self {
        self.header = fields;
        self
    }

    pub(crate) fn open(self, msg_type: MsgType, posting: Posting<'a>) -> Draft<'a> {
        let Self { now, core, outbox, store, cause, route, header, session_layer, alone } = self;
        let refused = if !session_layer && msg_type.is_admin() {
            Some(SendError::SessionMessage)
        } else if session_layer {
            None
        } else {
            core.may_send(cause.is_some()).err()
        };
        // Half of the outbox is for answers: a session that sends as fast as it can must go on reading, or two of them wait
        // for each other.
        let unasked = cause.is_none() && !session_layer && !outbox.is_empty();
        let most = if unasked { outbox.half() } else { usize::MAX };
        let Outbox { memory, ends, .. } = outbox;
        let body_start = ends.tail() + core.headroom(msg_type, posting, ends);
        // Room for CheckSum, and for a body that moves because BodyLength has more digits than guessed.
        let limit = memory.len().saturating_sub(SPARE).min(most);
        let alone = alone || ends.tail() == 0;
        let (start, limit, refused) = if body_start < limit {
            (body_start, limit, refused)
        } else {
            (0, 0, refused.or(Some(no_room(core, alone, ends.tail()))))
        };
        let mut writer = BodyWriter::within(msg_type, memory, start, limit);
        for (key, value) in header {
            writer.bytes(*key, value);
        }
        if let Some(inbound) = route {
            reverse_route(&mut writer, &inbound, if session_layer { ROUTE_MAX } else { usize::MAX });
        }
        Draft { now, writer, ends, core, store, posting, refused, alone, by_application: !session_layer }
    }
}

/// The same turn fits once the socket has taken what was queued before it; when nothing was, it never will.
fn no_room(core: &Core, alone: bool, tail: usize) -> SendError {
    if !alone && core.state.phase != Phase::Disconnected {
        return SendError::BackPressure;
    }
    let memory = core.settings.outbox_size.saturating_sub(SPARE);
    let message = core.state.peer_max_message_size.min(core.settings.max_message_size);
    SendError::TooLarge { limit: if tail == 0 { message.min(memory) } else { memory } }
}

/// Longest routing field on a message of the session layer: no counterparty makes its Rejects too large for the outbox.
const ROUTE_MAX: usize = 256;

/// Bytes kept free behind a body.
const SPARE: usize = 24;

/// Answers go back the way their cause came (standard: third-party routing; QuickFIX script ReverseRoute).
///
/// What is longer than `longest` is left out.
fn reverse_route(writer: &mut BodyWriter<'_>, inbound: &Message<'_>, longest: usize) {
    for (there, back) in [(115, 128), (116, 129), (144, 145), (128, 115), (129, 116), (145, 144)] {
        if let Some(value) = inbound.get(Tag::new(there))
            && !value.is_empty()
            && value.len() <= longest
        {
            writer.bytes(Key::new(back), value);
        }
    }
}

impl<'a> NewBody<'a> for Handle<'a> {
    type Draft = Draft<'a>;

    fn draft(self, msg_type: MsgType) -> Draft<'a> {
        let cause = self.cause;
        self.open(msg_type, Posting::New { cause })
    }
}

/// A message being written. Dropped without `send` it leaves no trace: no number, no byte.
#[must_use = "nothing is sent until `send`"]
pub struct Draft<'d> {
    now: Now,
    writer: BodyWriter<'d>,
    ends: &'d mut Ends,
    core: &'d mut Core,
    store: &'d mut (dyn Store + 'd),
    posting: Posting<'d>,
    refused: Option<SendError>,
    alone: bool,
    by_application: bool,
}

impl<'d> BodySink<'d> for Draft<'d> {
    type Receipt = SeqNum;
    type Error = SendError;

    fn writer(&mut self) -> &mut BodyWriter<'d> {
        &mut self.writer
    }

    /// Number, journal, queue: one step.
    ///
    /// # Errors
    /// [`SendError`]; no number was used.
    fn send(self) -> Result<SeqNum, SendError> {
        let Self { now, writer, ends, core, store, posting, refused, alone, by_application } = self;
        if let Some(error) = refused {
            return Err(error);
        }
        if let Some(EncodeError { kind: fixbolt_codec::EncodeErrorKind::NoRoom, .. }) = writer.error() {
            return Err(no_room(core, alone, ends.tail()));
        }
        core.post(now, writer, ends, store, posting, by_application)
    }
}
