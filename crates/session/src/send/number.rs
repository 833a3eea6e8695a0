//! How a finished body becomes a message of its session that has a sequence number, is stored, and
//! is queued.

use fixbolt_codec::plumbing::BodyPlumbing as _;
use fixbolt_codec::{
    Body, BodySink, BodyWriter, EncodeError, EncodeErrorKind, SecondCache, SeqNum, Stamp, byte_sum,
};

use crate::events::error::SendError;
use crate::events::event::{Accepted, Ticket, Unreached};
use crate::send::draft::{Author, Draft, Sender, version_field};
use crate::send::record::{append, record};
use crate::send::seal::{SendKind, last_processed, seal, sends_last_processed};
use crate::settings::SessionSettings;
use crate::settings::resend::ReplayInterleave;
use crate::state::Phase;
use crate::state::backlog::Unsent;
use crate::state::waiting::WaitingBody;
use crate::store::{RecordFlags, RecordKind};
use crate::values::fix::{msg_type, tag};
use crate::wire::mask::mask_message;

impl<'d> BodySink<'d> for Draft<'d> {
    type Receipt = Accepted;
    type Error = SendError;

    fn writer(&mut self) -> &mut BodyWriter<'d> {
        &mut self.writer
    }

    /// Adds the header and CheckSum to the finished body, gives the message its sequence number,
    /// stores it and queues it. What the application wrote is first checked against the dictionary
    /// if the session wants that. A message that waits for a throttle gets none of these but is
    /// stored without them.
    ///
    /// # Errors
    /// Returns a [`SendError`]; no sequence number was used.
    fn send(mut self) -> Result<Accepted, SendError> {
        if let Some(refusal) = self.refusal() {
            return Err(refusal);
        }
        // The draft is not taken apart by value, which would copy all of it.
        let Self { ref writer, kind, original: possible_duplicate, author, posted, waits, .. } = self;
        let Sender { now, fixed, ref mut state, ref mut cursor, ref mut tools, .. } = self.sender;
        let settings = &fixed.settings;
        let Body { msg_type, mut sum, .. } = writer.finish()?;
        if fixed.envelope.has_sub_ids() || sends_last_processed(settings) {
            refuse_what_the_header_has(settings, writer)?;
        }
        let is_admin = msg_type.is_admin();
        let mut may_have_secrets = !self.has_no_secrets && fixed.secret_tags.may_be_written(writer);
        // R-FIXT-6
        let names_version =
            self.names_version && !writer.header_fields().any(|field| field == tag::APPL_VER_ID);
        let (memory, mut body) = self.writer.into_memory()?;
        if names_version {
            body.start = put_version(settings, memory, body.start, &mut sum);
            may_have_secrets = true;
        }
        let body_len = body.len();
        let precision = fixed.precision();
        let sending_time = tools.encoding.second.render(now.utc.0, precision);
        let mut clock = possible_duplicate.map(|original| (original, SecondCache::new()));
        let original = clock.as_mut().map(|(original, clock)| clock.render(original.0, precision));
        let (seq, original) = match kind {
            SendKind::New { .. } => (state.stored.next_out, original),
            SendKind::Again { seq, original } => (seq, Some(original)),
            SendKind::Fill { seq, again } => (seq, again.then_some(sending_time)),
        };
        // R-SEND-3
        // A wall clock that was set back must not make SendingTime earlier than OrigSendingTime:
        // the counterparty would reject the message (2f), and it would be lost. Both have the same
        // form, so that bytes compare as times.
        let sending_time = match original {
            Some(original) if original > sending_time => original,
            _ => sending_time,
        };
        let last_processed = last_processed(settings, state);
        let stamp = Stamp { seq, sending_time, original, last_processed };
        let (message, length_digits) = seal(&fixed.envelope, memory, body, msg_type, sum, &stamp, cursor)?;
        if let Some(timing) = &mut tools.encoding.timing {
            timing.encoded();
        }
        let size = message.len();
        // A message that is sent again has two more fields than the first time.
        let ours = match kind {
            SendKind::New { .. } => settings.limits.max_message_size,
            _ => usize::MAX,
        };
        // R-LOGON-17
        let limit = state.peer_max_message_size().min(ours);
        if size > limit {
            return Err(SendError::TooLarge { limit });
        }
        if author != Author::SessionLayer
            && let (Some(check), Some(scratch)) = (&mut tools.outbound, &mut tools.scratch)
        {
            let data_fields = settings.dictionary.data_fields();
            let dictionaries = fixed.dictionaries.after(&state.versions);
            check.check(
                (!waits).then_some(seq),
                &memory[message.clone()],
                data_fields,
                dictionaries,
                scratch,
            )?;
        }
        if is_admin && msg_type.as_bytes() == msg_type::LOGON {
            let dictionaries = fixed.dictionaries.after(&state.versions);
            if let Some(named) = dictionaries.read_our_logon(&memory[message.clone()]) {
                state.versions = Some(named);
            }
        }
        if let SendKind::New { cause } = kind
            && waits
        {
            let end = message.end - Body::TRAILER_LEN;
            let body = WaitingBody {
                ticket: posted.unwrap_or(Ticket::Waiting(state.stored.waited + 1)),
                msg_type,
                bytes: memory[end - body_len..end].into(),
                sum,
                cause,
                original: possible_duplicate,
                is_lost: false,
                outcome: Err(SendError::Unavailable),
            };
            // In the whole message, as a secret may be where only CheckSum can be.
            let secrets = fixed.secret_tags.of(settings);
            let is_masked = may_have_secrets && mask_message(secrets, &memory[message], &mut tools.masked);
            return self.sender.let_wait(body, is_masked);
        }
        if let SendKind::New { cause } = kind {
            let mut flags = RecordFlags::default();
            if author == Author::Waited {
                flags = flags.with(RecordFlags::WAITED);
            }
            let mut bytes = &memory[message.clone()];
            if is_admin {
                flags = flags.with(RecordFlags::ADMIN);
            }
            if may_have_secrets && mask_message(fixed.secret_tags.of(settings), bytes, &mut tools.masked) {
                flags = flags.with(RecordFlags::MASKED);
                bytes = &tools.masked;
            }
            let recorded = self.sender.standing.counted(now);
            let record = record(recorded, state, RecordKind::Outbound, flags, seq, cause, bytes);
            state.added.record(bytes.len());
            kill_point!(Encode);
            // R-STORE-1
            append(self.sender.store, fixed.key, &record, self.sender.transaction)?;
            kill_point!(Append);
            if author == Author::Waited {
                state.stored.note_waiting(&record);
            }
            // R-SEQ-1
            state.stored.next_out = seq.next();
            if state.keeps_back(settings, msg_type) {
                self.sender.keep_back(seq, is_admin);
                return Ok(Accepted::Numbered(seq));
            }
        }
        if let Some(connection) = &mut state.connection {
            connection.last_sent = now.mono;
        }
        cursor.push(message.end, length_digits);
        if may_have_secrets {
            self.sender.transaction.expect_secrets();
        }
        if matches!(kind, SendKind::New { .. }) {
            self.sender.limits.take(&mut state.counted, msg_type.as_bytes(), cursor.end());
        }
        Ok(Accepted::Numbered(seq))
    }
}

impl Sender<'_> {
    /// Stores a message that waits for a throttle. If it `is_masked`, the tools have the masked
    /// message.
    #[cold]
    fn let_wait(&mut self, body: WaitingBody, is_masked: bool) -> Result<Accepted, SendError> {
        let Self { now, state, waiting, tools, .. } = self;
        // As in the outbox, half of the room is for answers.
        let most = if body.cause.is_some() { waiting.limit } else { waiting.limit / 2 };
        if !waiting.has_room(body.bytes.len(), most) {
            // Without a connection there is no room before the next logon: a counterparty whose
            // message is answered here must not wait for that. Another thread has a queue.
            let may_wait = state.phase() != Phase::Disconnected || matches!(body.ticket, Ticket::Posted(_));
            return Err(if may_wait { SendError::BackPressure } else { SendError::NotLoggedOn });
        }
        let (ticket, cause) = (body.ticket, body.cause);
        let (mut flags, mut bytes) = (RecordFlags::default(), &*body.bytes);
        if is_masked {
            flags = flags.with(RecordFlags::MASKED);
            let end = tools.masked.len() - Body::TRAILER_LEN;
            bytes = &tools.masked[end - body.bytes.len()..end];
        }
        let stored = body.stored(bytes);
        let (recorded, number) = (self.standing.counted(*now), SeqNum(state.stored.waited + 1));
        let record = record(recorded, state, RecordKind::Waiting, flags, number, cause, &stored);
        state.added.record(stored.len());
        append(self.store, self.fixed.key, &record, self.transaction)?;
        if state.stored.wait == 0 {
            self.transaction.begin_to_wait();
        }
        waiting.push(number.0, body);
        state.stored.note_waiting(&record);
        Ok(Accepted::Waits(ticket))
    }

    /// Keeps a message back that has its number and is stored: it is sent later, or cannot be.
    #[cold]
    fn keep_back(&mut self, seq: SeqNum, is_admin: bool) {
        let Self { fixed, state, transaction, .. } = self;
        if !is_admin {
            if fixed.keeps_messages {
                state.keep_back(Unsent { first: seq, last: seq });
            } else {
                let first = transaction.unreached.map_or(seq, |(unsent, _)| unsent.first);
                transaction.lose(Unsent { first, last: seq }, Unreached::NotStored);
            }
        }
        let holds = state.holds();
        if let Some(connection) = &mut state.connection
            && (connection.logon.phase() == Phase::LogonSent
                || holds && connection.logon.backlog.replay.is_none())
        {
            connection.logon.backlog.withheld_from.get_or_insert(seq);
        }
        if fixed.settings.resend.replay_interleave == ReplayInterleave::All && is_admin {
            state.logout_waits(seq);
        }
    }
}

/// Writes ApplVerID (1128) before a body, and returns where it begins.
#[cold]
fn put_version(settings: &SessionSettings, memory: &mut [u8], mut at: usize, sum: &mut u8) -> usize {
    for part in version_field(settings).into_iter().rev() {
        let end = at;
        at -= part.len();
        memory[at..end].copy_from_slice(part);
        *sum = sum.wrapping_add(byte_sum(part));
    }
    at
}

/// Refuses a SubID or LocationID in a body if the session's identity has it, and
/// LastMsgSeqNumProcessed (369) if the session sends it: the message would have it twice.
// R-SEND-5
fn refuse_what_the_header_has(
    settings: &SessionSettings,
    writer: &BodyWriter<'_>,
) -> Result<(), EncodeError> {
    let processed = sends_last_processed(settings).then_some(tag::LAST_MSG_SEQ_NUM_PROCESSED);
    let mut written = settings.id.written_sub_ids().into_iter().flatten().chain(processed);
    match written.find(|tag| writer.header_fields().any(|field| field == *tag)) {
        Some(tag) => Err(EncodeError::new(tag, EncodeErrorKind::SessionField)),
        None => Ok(()),
    }
}
