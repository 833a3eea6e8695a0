//! How a finished body becomes a message of its session that has a sequence number, is stored, and
//! is queued.

use core::ops::Range;

use fixbolt_codec::{
    Body, BodyWriter, EncodeError, EncodeErrorKind, Envelope, Message, MsgType, Precision, SecondCache,
    SeqNum, Stamp, Version,
};
use fixbolt_dictionary::Scratch;

use crate::events::error::SendError;
use crate::events::event::Unreached;
use crate::limits::flood::Added;
use crate::limits::throttle::{Kind, OutboundPlaces};
use crate::settings::dictionaries::Dictionaries;
use crate::settings::{ReplayInterleave, SessionSettings};
use crate::state::outbound_check::OutboundCheck;
use crate::state::outbox::{Outbox, OutboxCursor};
use crate::state::session::{OpenTurn, Session};
use crate::state::{Phase, State, Unsent};
use crate::store::{Record, RecordFlags, RecordKind, Store, StoreError};
use crate::values::codec_timing::EncodingTime;
use crate::values::fix::msg_type;
use crate::values::key::SessionKey;
use crate::values::time::{Now, Utc};
use crate::wire::mask::{SecretTags, mask_message};

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

/// The parts of a session that sending needs, while the writer borrows the memory of its outbox.
pub(crate) struct Sending<'s> {
    pub(crate) settings: &'s SessionSettings,
    pub(crate) state: &'s mut State,
    pub(crate) cursor: &'s mut OutboxCursor,
    /// OrigSendingTime (122) of a new message that is a possible duplicate.
    pub(crate) original: Option<Utc>,
    key: SessionKey,
    precision: Precision,
    keeps_messages: bool,
    turn: &'s mut OpenTurn,
    envelope: &'s Envelope,
    encoding: &'s mut EncodingTime,
    secret_tags: &'s SecretTags,
    masked: &'s mut Vec<u8>,
    dictionaries: &'s Dictionaries,
    scratch: &'s mut Option<Scratch>,
    outbound: &'s mut Option<OutboundCheck>,
    added: &'s mut Added,
    outbound_places: &'s mut Option<Box<OutboundPlaces>>,
}

impl Session {
    /// Returns the memory for a body, and the parts that are needed to send it.
    pub(crate) fn sending(&mut self) -> (&mut [u8], Sending<'_>) {
        let precision = self.precision();
        let Outbox { memory, cursor, .. } = &mut self.outbox;
        let sending = Sending {
            settings: &self.settings,
            state: &mut self.state,
            cursor,
            original: None,
            key: self.key,
            precision,
            keeps_messages: self.keeps_messages,
            turn: &mut self.turn,
            envelope: &self.envelope,
            encoding: &mut self.encoding,
            secret_tags: &self.secret_tags,
            masked: &mut self.masked,
            dictionaries: &self.dictionaries,
            scratch: &mut self.scratch,
            outbound: &mut self.outbound,
            added: &mut self.added,
            outbound_places: &mut self.outbound_places,
        };
        (memory, sending)
    }

    /// Records a message of the counterparty; NextNumIn has already advanced.
    pub(crate) fn record_inbound(
        &mut self,
        now: Now,
        store: &mut dyn Store,
        seq: SeqNum,
        message: &Message<'_>,
        flags: RecordFlags,
    ) -> Result<(), SendError> {
        let mut flags = flags;
        let mut body = message.bytes();
        if self.secret_tags.may_be_in(message)
            && mask_message(self.secret_tags.of(&self.settings), body, &mut self.masked)
        {
            flags = flags.with(RecordFlags::MASKED);
            body = &self.masked;
        }
        let record = record(now, &self.state, RecordKind::Inbound, flags, seq, None, body);
        self.added.record(body.len());
        append(store, self.key, &record, &mut self.turn.refused)
    }

    /// Records a change of sequence numbers without a message; the text says who made it and why.
    pub(crate) fn record_change(
        &mut self,
        now: Now,
        store: &mut dyn Store,
        kind: RecordKind,
        why: &str,
    ) -> Result<(), SendError> {
        // The store counts from its first record, too.
        self.state.stored.began.get_or_insert(now.utc);
        let stored = self.state.stored;
        let seq = if kind == RecordKind::Attempt { stored.next_in } else { stored.next_out };
        let record = record(now, &self.state, kind, RecordFlags::default(), seq, None, why.as_bytes());
        append(store, self.key, &record, &mut self.turn.refused)
    }

    /// Resets both sequence numbers to 1, in a new generation.
    pub(crate) fn reset(&mut self, now: Now, store: &mut dyn Store, why: &str) -> Result<(), SendError> {
        if let Some(lost) = self.state.reset() {
            self.turn.unreached = Some((lost, Unreached::Reset));
        }
        self.outbox.reset();
        self.state.stored.began = Some(now.utc);
        self.added.reset();
        self.record_change(now, store, RecordKind::Reset, why)
    }
}

impl Sending<'_> {
    /// Adds the header and CheckSum to a finished body, gives the message its sequence number,
    /// stores it and queues it. What the application wrote is first checked against the dictionary
    /// if the session wants that.
    pub(crate) fn send(
        self,
        now: Now,
        writer: BodyWriter<'_>,
        store: &mut dyn Store,
        kind: SendKind<'_>,
        by_application: bool,
    ) -> Result<SeqNum, SendError> {
        let Self { settings, state, cursor, key, precision, keeps_messages, turn, .. } = self;
        let Body { msg_type, sum, .. } = writer.finish()?;
        if self.envelope.has_sub_ids() {
            refuse_sub_ids(settings, &writer)?;
        }
        let is_admin = msg_type.is_admin();
        let may_have_secrets = self.secret_tags.may_be_written(&writer);
        let (memory, body) = writer.into_memory()?;
        let sending_time = self.encoding.second.render(now.utc.0, precision);
        let mut clock = self.original.map(|original| (original, SecondCache::new()));
        let original = clock.as_mut().map(|(original, clock)| clock.render(original.0, precision));
        let (seq, original) = match kind {
            SendKind::New { .. } => (state.stored.next_out, original),
            SendKind::Again { seq, original } => (seq, Some(original)),
            SendKind::Fill { seq, again } => (seq, again.then_some(sending_time)),
        };
        // A wall clock that was set back must not make SendingTime earlier than OrigSendingTime:
        // the counterparty would reject the message (2f), and it would be lost. Both have the same
        // form, so that bytes compare as times.
        let sending_time = match original {
            Some(original) if original > sending_time => original,
            _ => sending_time,
        };
        let last_processed = last_processed(settings, state);
        let stamp = Stamp { seq, sending_time, original, last_processed };
        let (message, length_digits) =
            seal(self.envelope, memory, body, msg_type, sum, &stamp, cursor.tail())?;
        if let Some(timing) = &mut self.encoding.timing {
            timing.encoded();
        }
        let size = message.len();
        // A message that is sent again has two more fields than the first time.
        let ours = match kind {
            SendKind::New { .. } => settings.max_message_size,
            _ => usize::MAX,
        };
        let limit = state.peer_max_message_size().min(ours);
        if size > limit {
            return Err(SendError::TooLarge { limit });
        }
        if by_application && let (Some(check), Some(scratch)) = (self.outbound, self.scratch) {
            let data_fields = settings.dictionary.data_fields();
            let dictionaries = self.dictionaries.after(&state.versions);
            check.check(seq, &memory[message.clone()], data_fields, dictionaries, scratch)?;
        }
        if is_admin && is_logon(msg_type) {
            let dictionaries = self.dictionaries.after(&state.versions);
            if let Some(named) = dictionaries.read_our_logon(&memory[message.clone()]) {
                state.versions = Some(named);
            }
        }
        if let SendKind::New { cause } = kind {
            let mut flags = RecordFlags::default();
            let mut bytes = &memory[message.clone()];
            if is_admin {
                flags = flags.with(RecordFlags::ADMIN);
            }
            if may_have_secrets && mask_message(self.secret_tags.of(settings), bytes, self.masked) {
                flags = flags.with(RecordFlags::MASKED);
                bytes = self.masked;
            }
            let record = record(now, state, RecordKind::Outbound, flags, seq, cause, bytes);
            self.added.record(bytes.len());
            kill_point!(Encode);
            append(store, key, &record, &mut turn.refused)?;
            kill_point!(Append);
            state.stored.next_out = seq.next();
            if keeps_back(settings, state, msg_type) {
                if !is_admin {
                    if keeps_messages {
                        state.keep_back(Unsent { first: seq, last: seq });
                    } else {
                        let first = turn.unreached.map_or(seq, |(unsent, _)| unsent.first);
                        turn.unreached = Some((Unsent { first, last: seq }, Unreached::NotStored));
                    }
                }
                let holds = state.holds();
                if let Some(connection) = &mut state.connection
                    && (connection.logon.phase == Phase::LogonSent
                        || holds && connection.logon.replay.is_none())
                {
                    connection.logon.kept_from.get_or_insert(seq);
                }
                if settings.replay_interleave == ReplayInterleave::All && is_admin {
                    state.logout_waits(seq);
                }
                return Ok(seq);
            }
        }
        if let Some(connection) = &mut state.connection {
            connection.last_sent = now.mono;
        }
        cursor.push(message.end, length_digits);
        if let Some(places) = self.outbound_places
            && matches!(kind, SendKind::New { .. })
            && let Some(kind) = Kind::of(msg_type.as_bytes())
        {
            places.take(&mut state.counted, kind, cursor.end());
        }
        Ok(seq)
    }

    /// Returns the bytes of the header before the next body, for a guess of BodyLength's digits.
    pub(crate) fn headroom(&self, msg_type: MsgType, kind: SendKind<'_>) -> usize {
        const TIME: &[u8] = b"00000000-00:00:00.000000000000";
        let time = &TIME[..match self.precision {
            Precision::Seconds => 17,
            Precision::Millis => 21,
            Precision::Micros => 24,
            Precision::Nanos => 27,
            Precision::Picos => 30,
        }];
        let (seq, original) = match kind {
            SendKind::New { .. } => (self.state.stored.next_out, self.original.map(|_| time)),
            SendKind::Again { seq, original } => (seq, Some(original)),
            SendKind::Fill { seq, again } => (seq, again.then_some(time)),
        };
        let last_processed = last_processed(self.settings, self.state);
        let stamp = Stamp { seq, sending_time: time, original, last_processed };
        self.envelope.header_len(msg_type, &stamp, self.cursor.length_digits())
    }
}

/// Returns whether a new message gets its sequence number and is stored, but not queued: during a
/// replay, and while messages are missing before the counterparty's Logon, it is sent from the
/// store afterwards, and while the session is not logged on the counterparty requests it later.
/// Nothing new is sent after a Logout (rule 11). [`ReplayInterleave`](crate::ReplayInterleave) says
/// what is sent during a replay all the same.
pub(crate) fn keeps_back(settings: &SessionSettings, state: &State, msg_type: MsgType) -> bool {
    if is_logon(msg_type) {
        return false;
    }
    match &state.connection {
        None => true,
        Some(connection) => {
            let logon = &connection.logon;
            if logon.replay.is_some()
                && (msg_type.is_admin() || logon.phase == Phase::LoggedOn)
                && settings.replay_interleave.sends(msg_type.as_bytes())
            {
                return false;
            }
            logon.replay.is_some()
                || logon.kept_from.is_some() && logon.phase == Phase::LoggedOn
                || !msg_type.is_admin() && (logon.phase != Phase::LoggedOn || state.holds())
        }
    }
}

/// Returns LastMsgSeqNumProcessed (369) of a message that is written now, if the session sends it.
/// Earlier versions do not have the field, so a counterparty with a dictionary rejects the message.
#[inline]
fn last_processed(settings: &SessionSettings, state: &State) -> Option<SeqNum> {
    let is_sent = settings.last_msg_seq_num_processed && settings.id.version() >= Version::Fix42;
    is_sent.then(|| state.stored.next_in.previous())
}

/// Refuses a SubID or LocationID in a body if the session's identity has it: the message would have
/// it twice.
fn refuse_sub_ids(settings: &SessionSettings, writer: &BodyWriter<'_>) -> Result<(), EncodeError> {
    let mut written = settings.id.written_sub_ids().into_iter().flatten();
    match written.find(|tag| writer.has_header_field(*tag)) {
        Some(tag) => Err(EncodeError::new(tag, EncodeErrorKind::SessionField)),
        None => Ok(()),
    }
}

fn is_logon(msg_type: MsgType) -> bool {
    msg_type.as_bytes() == msg_type::LOGON
}

/// Returns a record for the store with the current state.
fn record<'r>(
    now: Now,
    state: &State,
    kind: RecordKind,
    flags: RecordFlags,
    seq: SeqNum,
    cause: Option<SeqNum>,
    body: &'r [u8],
) -> Record<'r> {
    let (next_in, connection) = (state.stored.next_in, state.stored.connection);
    Record { kind, flags, seq, next_in, connection, cause, utc: now.utc, mono: now.mono, body }
}

/// Adds a record to the open transaction; a refusal is remembered until its end.
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

/// Seals a body so that the message begins exactly at `tail`, where the previous one ended. The
/// body is moved only if BodyLength has more or fewer digits than guessed. Returns the message's
/// range, and the digits.
fn seal(
    envelope: &Envelope,
    memory: &mut [u8],
    mut body: Range<usize>,
    msg_type: MsgType,
    sum: u8,
    stamp: &Stamp<'_>,
    tail: usize,
) -> Result<(Range<usize>, usize), SendError> {
    // The bytes before `tail` are another message and must stay out of reach, even for a header
    // that is longer than guessed.
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
        // A shift corrects the guess of the digits, so the second round fits.
    }
}
