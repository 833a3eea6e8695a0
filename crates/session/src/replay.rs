//! Sending again what the counterparty asked for: a stream, a few messages a call, so that inbound messages, timers and other
//! sessions go on meanwhile.
//!
//! Runs of session-layer messages, of numbers without a message and of what the application holds back become one
//! SequenceReset-GapFill. New messages of the session are numbered and journalled at once and follow from the store.

use std::panic::{AssertUnwindSafe, catch_unwind};

use fixbolt_codec::{BodyWriter, DataFields, Frame, Framer, Index, Key, Message, SeqNum, Tag};

use crate::application::{Event, Halt, Resend, SendError, SessionEnd};
use crate::inbound::tag;
use crate::scene::{Scene, Stop};
use crate::slot::Posting;
use crate::state::Replay;
use crate::store::{RecordFlags, StoreError};

/// Messages a call at most.
const AT_ONCE: usize = 64;

/// What a look into the store gave.
enum Stored {
    /// A message to be sent again, now in the scratch buffer.
    Message(SeqNum),
    /// Numbers up to here are gap-filled.
    Skip(SeqNum),
}

impl Scene<'_> {
    /// Sends some more of an open replay. Does nothing when there is none, or no room.
    pub(crate) fn pump_replay(&mut self) -> Result<(), Stop> {
        let mut scratch = core::mem::take(&mut self.core().replay_buffer);
        let mut result = Ok(());
        for _ in 0..AT_ONCE {
            let Some(replay) = self.core().state.replay else { break };
            let slot = self.slot();
            // Half of the outbox is for answers: two sides that both send again must both go on reading.
            let most = slot.core.settings.max_message_size + 256;
            if !slot.outbox.is_empty() && slot.outbox.room() < slot.outbox.size() / 2 + most {
                break;
            }
            result = match replay.gap_from {
                _ if replay.next <= replay.end => self.again(replay, &mut scratch),
                Some(from) => self.fill_the_rest(replay, from),
                None => self.follow(replay, &mut scratch),
            };
            if result.is_err() {
                break;
            }
        }
        self.core().replay_buffer = scratch;
        result
    }

    /// One step through the numbers asked for.
    fn again(&mut self, replay: Replay, scratch: &mut Vec<u8>) -> Result<(), Stop> {
        let stored = self.look_up(replay.next, replay.end, scratch)?;
        let gap_from = replay.gap_from.unwrap_or(replay.next);
        let skipped = |last: SeqNum| Replay { next: last.next(), gap_from: Some(gap_from), ..replay };
        let seq = match stored {
            Stored::Message(seq) => seq,
            Stored::Skip(last) => {
                self.core().state.replay = Some(skipped(last));
                return Ok(());
            }
        };
        self.begin();
        let filled = if gap_from < seq { self.fill(gap_from, seq, true) } else { Ok(()) };
        self.core().state.replay = Some(Replay { next: seq.next(), gap_from: None, ..replay });
        match filled.and_then(|()| self.send_again(seq, scratch)) {
            Ok(()) => self.commit(),
            // The fields that mark a message sent again made it larger than the counterparty takes.
            Err(SendError::TooLarge { .. }) => {
                self.rollback();
                self.core().state.replay = Some(skipped(seq));
                self.tell(&Event::Note("a message is too large to be sent again: it is gap-filled"));
                Ok(())
            }
            Err(error) => Err(self.abandon(error)),
        }
    }

    /// The end of the range: the run in front of it is filled, live messages follow.
    fn fill_the_rest(&mut self, replay: Replay, from: SeqNum) -> Result<(), Stop> {
        self.turn(|scene| {
            scene.core().state.replay = Some(Replay { gap_from: None, ..replay });
            scene.fill(from, replay.end.next(), true)
        })
    }

    /// Finds the next message to be sent again from `next` on, and asks the application about it.
    fn look_up(&mut self, next: SeqNum, end: SeqNum, scratch: &mut Vec<u8>) -> Result<Stored, Stop> {
        let (key, generation) = (self.core().key, self.core().state.generation);
        let found = match self.store.read(key, generation, next..=end) {
            Ok(found) => found.map(|record| {
                scratch.clear();
                scratch.extend_from_slice(record.body);
                (record.seq, record.flags)
            }),
            Err(error) => {
                self.damaged(error);
                return Err(Stop);
            }
        };
        let Some((seq, flags)) = found else { return Ok(Stored::Skip(end)) };
        if flags.contains(RecordFlags::ADMIN) || flags.contains(RecordFlags::NO_RESEND) {
            return Ok(Stored::Skip(seq));
        }
        let data_fields = self.data_fields();
        let app = &mut *self.app;
        let wanted = with_message(scratch, data_fields, self.fields, |message| {
            catch_unwind(AssertUnwindSafe(|| app.on_resend(key, message)))
        });
        let wanted = match wanted.transpose() {
            Ok(wanted) => wanted,
            Err(_) => {
                self.close(SessionEnd::ApplicationPanicked { callback: "on_resend" });
                return Err(Stop);
            }
        };
        Ok(match wanted {
            Some(Resend::Send) => Stored::Message(seq),
            Some(Resend::GapFill) => Stored::Skip(seq),
            None => {
                self.damaged(StoreError::Damaged {
                    place: format!("message {seq}"),
                    reason: "the stored bytes are no FIX message".into(),
                });
                return Err(Stop);
            }
        })
    }

    fn damaged(&mut self, error: StoreError) {
        self.halt(match error {
            StoreError::Damaged { place, reason } => {
                Halt::StoreDamaged { reason: format!("{place}: {reason}") }
            }
            error => Halt::StoreFailed(error),
        });
    }

    /// A stored message under its old number: 43=Y, 122 its old SendingTime, 52 now, nothing else changed.
    fn send_again(&mut self, seq: SeqNum, stored: &[u8]) -> Result<(), SendError> {
        let fields = core::mem::take(self.fields);
        let mut fields_lent = fields;
        let result = with_message(stored, self.data_fields(), &mut fields_lent, |message| {
            let original = message.get(tag::SENDING_TIME).unwrap_or(b"19700101-00:00:00");
            let posting = Posting::Again { seq, original };
            self.post(message.msg_type(), posting, None, |body| copy_body(body, &message))
        });
        *self.fields = fields_lent;
        match result {
            Some(Ok(_)) => Ok(()),
            Some(Err(error)) => Err(error),
            None => Ok(()),
        }
    }

    /// SequenceReset-GapFill in place of the numbers from `from` to the one before `new`.
    fn fill(&mut self, from: SeqNum, new: SeqNum, again: bool) -> Result<(), SendError> {
        self.post(b"4", Posting::Fill { seq: from, again }, None, |body| {
            body.field(Key::new(36), &new.0).bytes(Key::new(123), b"Y");
        })?;
        Ok(())
    }

    /// One live message that waited behind the replay, from the store as it is.
    fn follow(&mut self, replay: Replay, scratch: &mut Vec<u8>) -> Result<(), Stop> {
        let (key, generation) = (self.core().key, self.core().state.generation);
        let last = self.core().state.next_out.previous();
        if replay.live > last {
            self.core().state.replay = None;
            return Ok(());
        }
        let found = match self.store.read(key, generation, replay.live..=last) {
            Ok(found) => found.map(|record| {
                scratch.clear();
                scratch.extend_from_slice(record.body);
                record.seq
            }),
            Err(error) => {
                self.damaged(error);
                return Err(Stop);
            }
        };
        // A store that keeps nothing leaves only the numbers; so does a message that was written before the counterparty
        // said how much it takes.
        let fits = scratch.len() <= self.core().state.peer_max_message_size;
        let (filled_to, next) = match found {
            Some(seq) if fits => (seq, seq.next()),
            Some(seq) => (seq.next(), seq.next()),
            None => (last.next(), last.next()),
        };
        self.turn(|scene| {
            if filled_to > replay.live {
                scene.fill(replay.live, filled_to, false)?;
            }
            scene.core().state.replay = Some(Replay { live: next, ..replay });
            if next > filled_to { scene.queue(scratch) } else { Ok(()) }
        })
    }

    /// Queues bytes that are a numbered message already.
    fn queue(&mut self, bytes: &[u8]) -> Result<(), SendError> {
        let now = self.now;
        let slot = self.slot();
        let tail = slot.outbox.ends.tail();
        let Some(place) = slot.outbox.memory.get_mut(tail..tail + bytes.len()) else {
            return Err(SendError::BackPressure);
        };
        place.copy_from_slice(bytes);
        let digits = slot.outbox.ends.length_digits();
        slot.outbox.ends.push(tail + bytes.len(), digits);
        slot.core.state.last_sent = now.mono;
        Ok(())
    }
}

/// Fields that are the session's, or that a message sent again must not carry twice; everything else is copied.
fn copy_body(body: &mut BodyWriter<'_>, message: &Message<'_>) {
    for position in 0..message.len() {
        let field = message.field(position);
        let Some(tag) = field.tag else { continue };
        if !matches!(tag.number(), 8 | 9 | 10 | 34 | 35 | 43 | 49 | 52 | 56 | 122 | 369) {
            body.copied(Key::of(Tag::new(tag.number())), field.value);
        }
    }
}

/// Storage for the index of one message.
#[derive(Debug, Default)]
pub(crate) struct FieldStorage {
    pub(crate) tags: Vec<u32>,
    pub(crate) spans: Vec<fixbolt_codec::Span>,
}

impl FieldStorage {
    pub(crate) fn new(fields: usize) -> Self {
        Self { tags: vec![0; fields], spans: vec![fixbolt_codec::Span::default(); fields] }
    }

    /// Room for at least so many fields.
    pub(crate) fn grow(&mut self, fields: usize) {
        if fields > self.tags.len() {
            *self = Self::new(fields);
        }
    }
}

/// Reads a whole message; `None` when the bytes are none.
pub(crate) fn with_message<R>(
    bytes: &[u8],
    data_fields: &DataFields,
    fields: &mut FieldStorage,
    look: impl FnOnce(Message<'_>) -> R,
) -> Option<R> {
    let Frame::Message(framed) = Framer::new(bytes.len()).next(bytes) else { return None };
    let mut index = Index::new(&mut fields.tags, &mut fields.spans).with_data_fields(data_fields);
    index.build(framed).ok().map(look)
}
