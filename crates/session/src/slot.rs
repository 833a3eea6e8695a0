//! One session of a worker: its settings, its changing state, and how a finished body becomes a numbered, journalled message.

use core::ops::Range;

use fixbolt_codec::{Body, BodyWriter, Envelope, Framer, MsgType, Precision, SecondCache, SeqNum, Stamp};

use fixbolt_dictionary::Scratch;

use crate::application::{Halt, SendError, SessionEnd};
use crate::check::OutboundCheck;
use crate::mask;
use crate::outbox::{Ends, Outbox, OutboxMark};
use crate::settings::{Compatibility, Role, SessionSettings, WhileLoggedOff};
use crate::stash::Stash;
use crate::state::{Phase, State, TestRequest};
use crate::store::{Record, RecordFlags, RecordKind, SessionKey, Store, StoreError};
use crate::time::{Mono, Now};

/// Largest message before the logon.
pub const MAX_MESSAGE_SIZE_BEFORE_LOGON: usize = 8 * 1024;

/// A session, its bytes for the socket, and what the open turn must restore in both.
pub(crate) struct Slot {
    pub(crate) core: Core,
    pub(crate) outbox: Outbox,
    pub(crate) undo: Undo,
}

/// A session as it was when the open turn first touched it.
pub(crate) struct Undo {
    /// The turn that took the snapshot; 0 before the first.
    pub(crate) turn: u64,
    pub(crate) state: State,
    pub(crate) outbox: OutboxMark,
    /// Whether the connection was to be closed already, and whether a Logout of ours for a reason was out.
    pub(crate) ending: bool,
    pub(crate) leaving: bool,
}

/// Why nothing is read for now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Blocked {
    pub(crate) since: Mono,
    /// The outbox is full: only the socket can change that. Else somebody is to be asked again after a while.
    pub(crate) full: bool,
}

/// An incomplete message at the beginning of the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Incomplete {
    /// When its last bytes came.
    pub(crate) since: Mono,
    pub(crate) bytes: usize,
}

impl Slot {
    /// Whether the outbox has no room for an answer: nothing is read until the socket has taken some.
    pub(crate) fn is_full(&self) -> bool {
        self.outbox.room() < self.outbox.size() / 4
    }

    /// Nothing is read for now.
    pub(crate) fn block(&mut self, now: Mono) {
        self.core.blocked = Some(Blocked { since: now, full: self.is_full() });
    }

    /// Nothing of the open turn happened here. A store that refused a record halts the session.
    pub(crate) fn restore(&mut self) {
        let Self { core, outbox, undo } = self;
        core.state = undo.state;
        if let Some(check) = &mut core.outbound {
            check.forget();
        }
        outbox.rollback(undo.outbox);
        if !undo.ending {
            core.end = None;
        }
        if !undo.leaving {
            core.leaving = None;
        }
        if let Some(error) = core.refused.take() {
            core.halt(Halt::StoreFailed(error));
        }
    }
}

pub(crate) struct Core {
    pub(crate) settings: SessionSettings,
    pub(crate) key: SessionKey,
    pub(crate) state: State,
    pub(crate) stash: Stash,
    pub(crate) framer: Framer,
    pub(crate) halted: Option<Halt>,
    /// NextNumIn when the store was opened: the application may have been in the middle of this message when the process died.
    pub(crate) opened_at: SeqNum,
    /// Why the connection is to be closed, once it is.
    pub(crate) end: Option<SessionEnd>,
    /// What the end will be once our Logout is answered, when it is not an ordinary logout.
    pub(crate) leaving: Option<SessionEnd>,
    pub(crate) incomplete: Option<Incomplete>,
    /// The application says "not now", or there is no room for an answer: nothing is read meanwhile.
    pub(crate) blocked: Option<Blocked>,
    /// When a message was last heard, and the TestRequest that waited, before the message at work came.
    pub(crate) heard: (Mono, Option<TestRequest>),
    /// What the store said to a record of the open turn, which cannot be committed any more.
    pub(crate) refused: Option<StoreError>,
    envelope: Envelope,
    clock: SecondCache,
    /// The validator's memory.
    pub(crate) scratch: Option<Scratch>,
    /// What is looked at in what the application sends, when something is.
    pub(crate) outbound: Option<OutboundCheck>,
    /// Where a message is copied to be masked.
    masked: Vec<u8>,
    /// Where a stored message is copied to be sent again.
    pub(crate) replay_buffer: Vec<u8>,
}

/// How a body goes out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Posting<'p> {
    /// A new message: takes the next number and is journalled.
    New {
        /// The inbound message that caused it.
        cause: Option<SeqNum>,
    },
    /// Sent again under its old number; not journalled.
    Again { seq: SeqNum, original: &'p [u8] },
    /// A gap fill that stands for numbers in the past, or for numbers that were never sent; not journalled.
    Fill {
        seq: SeqNum,
        /// Whether the numbers were on the wire before: 43=Y and 122.
        again: bool,
    },
}

impl Core {
    pub(crate) fn new(settings: SessionSettings, key: SessionKey, state: State, envelope: Envelope) -> Self {
        Self {
            stash: Stash::new(settings.stash_size),
            framer: Framer::new(MAX_MESSAGE_SIZE_BEFORE_LOGON.min(settings.max_message_size)),
            halted: None,
            opened_at: state.next_in,
            end: None,
            leaving: None,
            incomplete: None,
            blocked: None,
            refused: None,
            heard: (state.last_received, None),
            envelope,
            clock: SecondCache::new(),
            scratch: settings.validator.as_ref().map(|validator| validator.scratch()),
            outbound: settings
                .outbound_policy
                .filter(|_| settings.validator.is_some())
                .map(|policy| OutboundCheck::new(policy, settings.max_message_size)),
            masked: Vec::new(),
            replay_buffer: Vec::with_capacity(settings.max_message_size),
            key,
            state,
            settings,
        }
    }

    /// Either QuickFIX: one began as a port of the other.
    pub(crate) fn is_quickfix(&self) -> bool {
        matches!(self.settings.compatibility, Compatibility::QuickFix | Compatibility::QuickFixJ)
    }

    /// Whether the counterparty is told why its Logon or a message without number ends the connection. QuickFIX (C++) is silent.
    pub(crate) fn says_why(&self) -> bool {
        !matches!(self.settings.compatibility, Compatibility::QuickFix)
    }

    pub(crate) fn is_acceptor(&self) -> bool {
        matches!(self.settings.role, Role::Acceptor)
    }

    /// Whether the version knows fields 371 to 373 of Reject, BusinessMessageReject, and fractions of a second.
    pub(crate) fn is_42_or_later(&self) -> bool {
        !matches!(self.settings.id.begin_string(), "FIX.4.0" | "FIX.4.1")
    }

    /// Digits of a second in the times we send.
    pub(crate) fn precision(&self) -> Precision {
        if !self.is_42_or_later() {
            return Precision::Seconds;
        }
        match self.settings.timestamp_digits {
            0 => Precision::Seconds,
            1..=3 => Precision::Millis,
            4..=6 => Precision::Micros,
            7..=9 => Precision::Nanos,
            _ => Precision::Picos,
        }
    }

    /// The connection shall be closed; the first reason counts.
    pub(crate) fn close(&mut self, end: SessionEnd) {
        self.end.get_or_insert(end);
    }

    /// The application panicked while it was told something.
    pub(crate) fn event_panicked(&mut self) {
        if self.state.is_connected() {
            self.close(SessionEnd::ApplicationPanicked { callback: "on_event" });
        }
    }

    /// The session does not go on until somebody looks at it.
    pub(crate) fn halt(&mut self, halt: Halt) {
        self.halted = Some(halt.clone());
        self.close(SessionEnd::Halted(halt));
    }

    /// Puts header and CheckSum around the body that a writer left, numbers it, journals it and queues it. What the
    /// application wrote is compared with the dictionary first, if the session wants that.
    pub(crate) fn post(
        &mut self,
        now: Now,
        writer: BodyWriter<'_>,
        ends: &mut Ends,
        store: &mut dyn Store,
        posting: Posting<'_>,
        by_application: bool,
    ) -> Result<SeqNum, SendError> {
        let Body { msg_type, sum, .. } = writer.finish()?;
        let (memory, body) = writer.into_memory();
        let precision = self.precision();
        let sending_time = self.clock.render(now.utc.0, precision);
        let (seq, original) = match posting {
            Posting::New { .. } => (self.state.next_out, None),
            Posting::Again { seq, original } => (seq, Some(original)),
            Posting::Fill { seq, again } => (seq, again.then_some(sending_time)),
        };
        // A wall clock that was set back must not make SendingTime earlier than OrigSendingTime: the counterparty would reject
        // the message (2f), and it would be lost. Both are of one form, so that bytes compare as times.
        let sending_time = match original {
            Some(original) if original > sending_time => original,
            _ => sending_time,
        };
        let stamp = Stamp { seq, sending_time, original };
        let (message, length_digits) =
            seal(&self.envelope, memory, body, msg_type, sum, &stamp, ends.tail())?;
        let size = message.len();
        // A message sent again has two fields more than its first time.
        let ours = match posting {
            Posting::New { .. } => self.settings.max_message_size,
            _ => usize::MAX,
        };
        let limit = self.state.peer_max_message_size.min(ours);
        if size > limit {
            return Err(SendError::TooLarge { limit });
        }
        if by_application
            && let (Some(check), Some(validator), Some(scratch)) =
                (&mut self.outbound, &self.settings.validator, &mut self.scratch)
        {
            check.look(seq, &memory[message.clone()], validator, scratch)?;
        }
        if let Posting::New { cause } = posting {
            let mut flags = RecordFlags::default();
            let mut bytes = &memory[message.clone()];
            if msg_type.is_admin() {
                flags = flags.with(RecordFlags::ADMIN);
                if msg_type.as_bytes() == b"A" && mask::mask(bytes, &self.settings.masked, &mut self.masked) {
                    flags = flags.with(RecordFlags::MASKED);
                    bytes = &self.masked;
                }
            }
            let record = Record {
                kind: RecordKind::Outbound,
                flags,
                seq,
                next_in: self.state.next_in,
                connection: self.state.connection,
                cause,
                utc: now.utc,
                mono: now.mono,
                body: bytes,
            };
            kill_point!(Encode);
            append(store, self.key, &record, &mut self.refused)?;
            kill_point!(Append);
            self.state.next_out = seq.next();
            if self.keeps_back(msg_type) {
                if self.state.phase == Phase::LogonSent {
                    self.state.kept_from.get_or_insert(seq);
                }
                return Ok(seq);
            }
        }
        self.state.last_sent = now.mono;
        ends.push(message.end, length_digits);
        Ok(seq)
    }

    /// Records a message of the counterparty; NextNumIn has been moved on already.
    pub(crate) fn record_inbound(
        &mut self,
        now: Now,
        store: &mut dyn Store,
        seq: SeqNum,
        bytes: &[u8],
        flags: RecordFlags,
    ) -> Result<(), SendError> {
        let mut flags = flags;
        let mut body = bytes;
        if flags.contains(RecordFlags::ADMIN) && mask::mask(bytes, &self.settings.masked, &mut self.masked) {
            flags = flags.with(RecordFlags::MASKED);
            body = &self.masked;
        }
        let record = Record {
            kind: RecordKind::Inbound,
            flags,
            seq,
            next_in: self.state.next_in,
            connection: self.state.connection,
            cause: None,
            utc: now.utc,
            mono: now.mono,
            body,
        };
        append(store, self.key, &record, &mut self.refused)
    }

    /// Records that numbers change without a message: who and why is the text.
    pub(crate) fn record_change(
        &mut self,
        now: Now,
        store: &mut dyn Store,
        kind: RecordKind,
        why: &str,
    ) -> Result<(), SendError> {
        let seq = if kind == RecordKind::Attempt { self.state.next_in } else { self.state.next_out };
        let record = Record {
            kind,
            flags: RecordFlags::default(),
            seq,
            next_in: self.state.next_in,
            connection: self.state.connection,
            cause: None,
            utc: now.utc,
            mono: now.mono,
            body: why.as_bytes(),
        };
        append(store, self.key, &record, &mut self.refused)
    }

    /// Both numbers start again at 1, in a new generation.
    pub(crate) fn reset(&mut self, now: Now, store: &mut dyn Store, why: &str) -> Result<(), SendError> {
        self.state.next_in = SeqNum::ONE;
        self.state.next_out = SeqNum::ONE;
        self.state.generation.0 = self.state.generation.0.wrapping_add(1);
        self.state.gap = None;
        self.state.replay = None;
        self.state.kept_from = None;
        self.state.attempts = 0;
        self.record_change(now, store, RecordKind::Reset, why)
    }

    /// Whether a new application message may be written now, `answering` a message of the counterparty or not.
    pub(crate) fn may_send(&self, answering: bool) -> Result<(), SendError> {
        if self.halted.is_some() {
            return Err(SendError::Unavailable);
        }
        match self.state.phase {
            Phase::LoggedOn => Ok(()),
            // What the counterparty sent before it saw our Logout is processed, and answered in the next connection.
            Phase::LogoutSent if answering => Ok(()),
            _ if self.settings.while_logged_off == WhileLoggedOff::Keep => Ok(()),
            _ => Err(SendError::NotLoggedOn),
        }
    }

    /// Whether a new message is numbered and journalled only: behind a replay it goes out from the store, and without a
    /// session that is logged on the counterparty asks for it later. Nothing new follows a Logout (rule 11).
    fn keeps_back(&self, msg_type: MsgType) -> bool {
        if msg_type_is_logon(msg_type) {
            return false;
        }
        self.state.replay.is_some()
            || !self.state.is_connected()
            || !msg_type.is_admin() && self.state.phase != Phase::LoggedOn
    }

    /// Bytes of the header in front of the next body, BodyLength's digits guessed.
    pub(crate) fn headroom(&self, msg_type: MsgType, posting: Posting<'_>, ends: &Ends) -> usize {
        const TIME: &[u8] = b"00000000-00:00:00.000000000000";
        let time = &TIME[..match self.precision() {
            Precision::Seconds => 17,
            Precision::Millis => 21,
            Precision::Micros => 24,
            Precision::Nanos => 27,
            Precision::Picos => 30,
        }];
        let (seq, original) = match posting {
            Posting::New { .. } => (self.state.next_out, None),
            Posting::Again { seq, original } => (seq, Some(original)),
            Posting::Fill { seq, again } => (seq, again.then_some(time)),
        };
        self.envelope.header_len(msg_type, &Stamp { seq, sending_time: time, original }, ends.length_digits())
    }
}

/// Adds a record to the open turn; a refusal is remembered for the turn's end.
fn append(
    store: &mut dyn Store,
    key: SessionKey,
    record: &Record<'_>,
    refused: &mut Option<StoreError>,
) -> Result<(), SendError> {
    store.append(key, record).map_err(|error| {
        *refused = Some(error.clone());
        SendError::Store(error)
    })
}

fn msg_type_is_logon(msg_type: MsgType) -> bool {
    msg_type.as_bytes() == b"A"
}

/// Seals a body so that the message begins exactly at `tail`, where the one before it ended. The body is moved only when
/// BodyLength has more or fewer digits than guessed. Gives where the message stands, and the digits.
fn seal(
    envelope: &Envelope,
    memory: &mut [u8],
    mut body: Range<usize>,
    msg_type: MsgType,
    sum: u8,
    stamp: &Stamp<'_>,
    tail: usize,
) -> Result<(Range<usize>, usize), SendError> {
    // What stands in front of `tail` is another message: out of reach, also for a header that is longer than guessed.
    let memory = &mut memory[tail..];
    body = body.start - tail..body.end - tail;
    loop {
        match envelope.seal(memory, body.clone(), msg_type, sum, stamp) {
            Ok(message) if message.start == 0 => {
                let length_digits = body.start - envelope.header_len(msg_type, stamp, 0);
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
        // A shift can only be by the digits that were guessed wrong, so the second round fits.
    }
}
