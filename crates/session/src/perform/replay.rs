//! Sends again what the counterparty requested: a stream, a few messages per call, so that inbound
//! messages, timers and other sessions continue meanwhile.
//!
//! A run of session-layer messages, of sequence numbers without a message, of messages beyond the
//! horizon or a limit or with masked secrets and of those that the application withholds becomes
//! one SequenceReset-GapFill. New messages of the session are numbered and stored at once, and are
//! sent from the store afterwards.

use core::ops::RangeInclusive;
use core::time::Duration;

use fixbolt_codec::plumbing::BodyPlumbing as _;
use fixbolt_codec::{BodySink, BodyWriter, Key, Message, MsgType, SeqNum, Tag};
use fixbolt_dictionary::Direction;

use crate::api::application::Resend;
use crate::decide::reaction::SessionReaction;
use crate::events::end::Halt;
use crate::events::error::SendError;
use crate::events::event::{Event, Unreached};
use crate::perform::call::Call;
use crate::send::seal::SendKind;
use crate::settings::resend::ReplayInterleave;
use crate::state::Phase;
use crate::state::backlog::{Replay, Unsent};
use crate::state::session::Session;
use crate::store::stored_message::{NO_MESSAGE, with_message};
use crate::store::{RecordFlags, StoreError};
use crate::values::fix::number::WRITTEN_ANEW;
use crate::values::fix::{msg_type, tag};
use crate::wire::admin_message::AdminMessage;
use crate::wire::raw_header::RawHeader;

/// The most messages per call.
const AT_ONCE: usize = 16;

/// How long to wait for a store that is looking for a message.
const SEEK_AGAIN: Duration = Duration::from_millis(1);

/// The most bytes by which a message grows when it is sent again: PossDupFlag and OrigSendingTime,
/// and BodyLength's digits.
const GROWTH: usize = 256;

/// The result of a look into the store.
enum Stored {
    /// A message to be sent again, now in the buffer.
    Message(SeqNum),
    /// Sequence numbers up to this one are gap-filled.
    Skip(SeqNum),
    /// Sequence numbers up to this one are gap-filled, which the application hears of.
    Lost(SeqNum, Unreached),
}

impl Stored {
    /// Returns the last of the sequence numbers, if a replay has gone through them because they
    /// were requested: a limit has not kept them from being sent.
    fn counts_to(&self) -> Option<SeqNum> {
        match *self {
            Self::Message(last)
            | Self::Skip(last)
            | Self::Lost(last, Unreached::NotStored | Unreached::Masked | Unreached::TooLarge { .. }) => {
                Some(last)
            }
            Self::Lost(..) => None,
        }
    }
}

impl Call<'_> {
    /// Ends a replay where a store keeps nothing: there is only a gap fill to send, and nothing
    /// that is written before it could be sent after it.
    pub(crate) fn fill_at_once(&mut self) {
        if !self.session().fixed.keeps_messages {
            self.pump();
        }
    }

    /// Sends some more of an open replay. Does nothing if there is none, or no room.
    pub(crate) fn pump(&mut self) {
        let session = self.session();
        let Some(replay) = session.state.replay() else { return };
        if replay.next <= replay.end && self.now.mono >= session.resumes_at(replay) {
            let (key, generation) = (session.fixed.key, session.state.stored.generation);
            // R-RESEND-15
            if !self.core.store.seek(key, generation, replay.next) {
                let until = self.now.mono + SEEK_AGAIN;
                self.session_mut().limits.delay_replay(until);
                return;
            }
        }
        let session = self.session_mut();
        let mut buffer = core::mem::take(&mut session.tools.replay_buffer);
        for _ in 0..AT_ONCE {
            let session = self.session();
            let Some(replay) = session.state.replay() else { break };
            // Half of the outbox is reserved for answers: two sides that both send again must both
            // continue to read. A store that keeps nothing has only a gap fill to send, and nothing
            // could be sent after it later.
            let most = session.fixed.settings.limits.max_message_size + GROWTH;
            let waits = session.fixed.keeps_messages && !session.outbox.is_empty();
            if waits && session.outbox.room() < session.outbox.size() / 2 + most
                || self.now.mono < session.resumes_at(replay)
            {
                break;
            }
            let goes_on = match replay.gap_from {
                _ if replay.next <= replay.end => self.replay_one(replay, &mut buffer),
                Some(from) => self.fill_the_rest(replay, from),
                None => self.follow(replay, &mut buffer),
            };
            if !goes_on {
                break;
            }
        }
        self.session_mut().tools.replay_buffer = buffer;
    }
}

impl Session {
    /// Records how far the replay has come.
    pub(crate) fn note_replay(&mut self, replay: Option<Replay>) {
        if let Some(connection) = &mut self.state.connection {
            connection.logon.backlog.replay = replay;
        }
    }
}

impl Call<'_> {
    /// Takes one step through the requested sequence numbers. Returns whether the replay goes on.
    fn replay_one(&mut self, replay: Replay, buffer: &mut Vec<u8>) -> bool {
        let gap_from = replay.gap_from.unwrap_or(replay.next);
        let skipped = |last: SeqNum| Some(Replay { next: last.next(), gap_from: Some(gap_from), ..replay });
        let Some(found) = self.look_up(replay, buffer) else { return false };
        let now = self.now.mono;
        let counts_to = found.counts_to();
        let count = |session: &mut Session| {
            if let Some(last) = counts_to {
                session.count_resent(replay.next..=last, now);
            }
        };
        let seq = match found {
            Stored::Message(seq) => seq,
            Stored::Skip(last) => {
                let session = self.session_mut();
                count(session);
                session.note_replay(skipped(last));
                return true;
            }
            Stored::Lost(last, why) => {
                count(self.session_mut());
                self.session_mut().note_replay(skipped(last));
                self.tell_unreached(replay.next, last, why);
                return true;
            }
        };
        let (session, _) = self.begin();
        session.note_replay(Some(Replay { next: seq.next(), gap_from: None, ..replay }));
        let filled = if gap_from < seq { self.fill(gap_from, seq, true) } else { Ok(()) };
        match filled.and_then(|()| self.send_again(seq, buffer)) {
            Ok(()) => {
                let is_committed = self.commit().is_ok();
                if is_committed {
                    count(self.session_mut());
                }
                is_committed
            }
            // PossDupFlag and OrigSendingTime made it larger than the counterparty accepts.
            Err(SendError::TooLarge { limit }) => {
                self.rollback();
                let session = self.session_mut();
                count(session);
                session.note_replay(skipped(seq));
                self.tell_unreached(seq, seq, Unreached::TooLarge { limit });
                true
            }
            Err(error) => {
                self.abandon(error);
                false
            }
        }
    }

    pub(crate) fn tell_unreached(&mut self, begin: SeqNum, end: SeqNum, why: Unreached) {
        self.session_mut().state.went_out(end);
        self.notify(&Event::Unreached { begin, end, why });
    }

    /// Ends the range with a gap fill for the last run; new messages follow. Returns whether the
    /// replay goes on.
    fn fill_the_rest(&mut self, replay: Replay, from: SeqNum) -> bool {
        self.run(|call| {
            call.session_mut().note_replay(Some(Replay { gap_from: None, ..replay }));
            call.fill(from, replay.end.next(), true)
        })
    }

    /// Reads the first message of a range from the store into the buffer. Returns its sequence
    /// number and its record's flags, if there is one.
    fn load(
        &mut self,
        range: RangeInclusive<SeqNum>,
        buffer: &mut Vec<u8>,
    ) -> Result<Option<(SeqNum, RecordFlags)>, StoreError> {
        let session = self.session();
        let (key, generation) = (session.fixed.key, session.state.stored.generation);
        let found = self.core.store.read(key, generation, range)?;
        Ok(found.map(|record| {
            buffer.clear();
            buffer.extend_from_slice(record.body);
            (record.seq, record.flags)
        }))
    }

    /// Halts the session, because its store does not have what it had.
    fn halt_by_store(&mut self, error: StoreError) {
        self.react(SessionReaction::halt(Halt::by_store(error)));
    }

    /// Finds the next message to be sent again, and asks the application about it. Returns nothing
    /// if that ends the connection.
    // R-RESEND-5
    fn look_up(&mut self, replay: Replay, buffer: &mut Vec<u8>) -> Option<Stored> {
        let Replay { next, end, .. } = replay;
        let session = self.session();
        // R-RESEND-11, R-RESEND-13
        for beyond in [session.beyond_horizon(replay), session.beyond_range(replay)] {
            if let Some((last, why)) = beyond
                && next <= last
            {
                return Some(Stored::Lost(end.min(last), why));
            }
        }
        // R-RESET-13
        if next == SeqNum::ONE && session.standing.crossed == Some(session.state.stored.generation) {
            return Some(Stored::Skip(next));
        }
        // R-RESEND-12
        if let Some((sent, times, _)) = session.sent_before(next..=end, self.now.mono)
            && *sent.start() == next
        {
            return Some(Stored::Lost(*sent.end(), Unreached::SentBefore { times }));
        }
        let (seq, flags) = match self.load(next..=end, buffer) {
            Ok(Some((seq, _))) if seq > next => {
                return Some(Stored::Lost(seq.previous(), Unreached::NotStored));
            }
            Ok(Some(found)) => found,
            // R-RESEND-6
            Ok(None) => return Some(Stored::Lost(end, Unreached::NotStored)),
            Err(error) => {
                self.halt_by_store(error);
                return None;
            }
        };
        // R-RESEND-4
        if flags.contains(RecordFlags::ADMIN) || flags.contains(RecordFlags::NO_RESEND) {
            return Some(Stored::Skip(seq));
        }
        if flags.contains(RecordFlags::MASKED) {
            return Some(Stored::Lost(seq, Unreached::Masked));
        }
        let mut fields = core::mem::take(&mut self.core.stored);
        let wanted =
            with_message(buffer, Direction::Outbound, self.data_fields(), &mut fields, |message, places| {
                let message = self.session_mut().placed(message, Direction::Outbound, places);
                self.ask("on_resend", |app, turn| app.on_resend(message, turn))
            });
        self.core.stored = fields;
        let Some(wanted) = wanted else {
            let place = format!("message {seq}");
            self.halt_by_store(StoreError::Damaged { place, reason: NO_MESSAGE.into() });
            return None;
        };
        Some(match wanted? {
            Resend::Send => Stored::Message(seq),
            Resend::GapFill => Stored::Skip(seq),
        })
    }

    /// Sends a stored message under its old sequence number: 43=Y, 122 its old SendingTime, 52 now,
    /// nothing else changed.
    // R-RESEND-3
    fn send_again(&mut self, seq: SeqNum, stored: &[u8]) -> Result<(), SendError> {
        let mut fields = core::mem::take(&mut self.core.stored);
        let sub_ids = self.session().fixed.settings.id.written_sub_ids();
        let result =
            with_message(stored, Direction::Outbound, self.data_fields(), &mut fields, |message, _| {
                let original = message.get(tag::SENDING_TIME).unwrap_or(b"19700101-00:00:00");
                let kind = SendKind::Again { seq, original };
                let mut draft = self.handle(None, None).open(MsgType::new(message.msg_type()), kind);
                copy_body(draft.writer(), &message, &sub_ids);
                draft.send()
            });
        self.core.stored = fields;
        match result {
            Some(Ok(_)) => {
                let now = self.now.mono;
                let session = self.session_mut();
                // R-RESEND-10
                if let Some(rate) = session.fixed.settings.resend.max_replay_rate {
                    session.limits.pace_replay(rate, now);
                }
                session.state.went_out(seq);
                Ok(())
            }
            Some(Err(error)) => Err(error),
            None => Ok(()),
        }
    }

    /// Sends a SequenceReset-GapFill in place of the sequence numbers from `from` up to but not
    /// including `new`.
    // R-RESEND-4
    fn fill(&mut self, from: SeqNum, new: SeqNum, again: bool) -> Result<(), SendError> {
        self.send(SendKind::Fill { seq: from, again }, None, &AdminMessage::GapFill { new })?;
        self.session_mut().state.went_out(new.previous());
        Ok(())
    }

    /// Ends a replay before its time, and sends the Logout that waits for it. The counterparty
    /// requests what it has not received once more, now or with its next connection.
    pub(crate) fn cut_replay(&mut self) {
        let session = self.session_mut();
        let leave = session.state.connection.as_ref().and_then(|connection| connection.logon.phase.leave());
        let Some(logout) = leave.and_then(|leave| leave.seq) else { return };
        let mut buffer = core::mem::take(&mut session.tools.replay_buffer);
        match self.load(logout..=logout, &mut buffer) {
            Ok(found) => {
                self.with_room(|call| {
                    call.session_mut().note_replay(None);
                    if found.is_some() {
                        call.queue(&buffer)?;
                        call.session_mut().count_followed(msg_type::LOGOUT);
                    }
                    Ok(())
                });
                self.tell_horizon();
            }
            Err(error) => self.halt_by_store(error),
        }
        self.session_mut().tools.replay_buffer = buffer;
    }

    /// Sends one new message that was queued after the replay, unchanged, from the store. Returns
    /// whether the replay goes on.
    fn follow(&mut self, replay: Replay, buffer: &mut Vec<u8>) -> bool {
        let session = self.session();
        let interleave = session.fixed.settings.resend.replay_interleave;
        // A Logout waits, even where everything else has been sent.
        let nothing_waits = interleave == ReplayInterleave::All && session.state.phase() == Phase::LoggedOn;
        let end = if nothing_waits { replay.began } else { session.state.stored.next_out };
        let last = end.previous();
        if replay.live > last {
            self.session_mut().note_replay(None);
            self.tell_horizon();
            return false;
        }
        let found = match self.load(replay.live..=last, buffer) {
            Ok(found) => found,
            Err(error) => {
                self.halt_by_store(error);
                return false;
            }
        };
        let msg_type = RawHeader::read(buffer).msg_type.unwrap_or_default();
        // A store that keeps nothing has only the sequence numbers.
        let verdict = found.map(|(seq, flags)| verdict(self.session(), replay, seq, flags, buffer));
        let now = self.now.mono;
        if let Some(Verdict::Sent) = verdict
            && !self.session_mut().may_follow(msg_type, now)
        {
            return false;
        }
        let (filled_to, next) = match (found, &verdict) {
            (Some((seq, _)), Some(Verdict::Refused(_))) => (seq.next(), seq.next()),
            (Some((seq, _)), _) => (seq, seq.next()),
            (None, _) => (last.next(), last.next()),
        };
        let lost = self.session().state.unsent;
        let is_committed = self.run(|call| {
            if filled_to > replay.live {
                call.fill(replay.live, filled_to, false)?;
            }
            // R-RESEND-8
            if let Some(Verdict::LetThrough) = verdict {
                call.fill(filled_to, next, true)?;
            }
            call.session_mut().note_replay(Some(Replay { live: next, ..replay }));
            if let Some(Verdict::Sent) = verdict {
                call.queue(buffer)?;
                call.session_mut().count_followed(msg_type);
                call.session_mut().state.went_out(next.previous());
            }
            call.session_mut().state.request_queued(next.previous(), now);
            Ok(())
        });
        if !is_committed {
            return false;
        }
        if let (Some((seq, flags)), Some(Verdict::Refused(why))) = (found, verdict)
            && !flags.contains(RecordFlags::ADMIN)
        {
            self.tell_unreached(seq, seq, why);
        }
        // Messages that were accepted, but that the store has lost.
        let missing = found.map_or(last, |(seq, _)| seq.previous());
        if let Some(Unsent { first, last }) = lost
            && first.max(replay.live) <= missing.min(last)
        {
            self.tell_unreached(first.max(replay.live), missing.min(last), Unreached::NotStored);
        }
        true
    }
}

/// What becomes of a message that was written during a replay, at its end.
enum Verdict {
    /// It is sent.
    Sent,
    /// It was sent before its turn. A counterparty that keeps nothing out of turn misses it now.
    LetThrough,
    /// It was sent before its turn and is requested like any other, or waits for the next
    /// connection.
    Passed,
    /// It cannot be sent.
    Refused(Unreached),
}

/// Decides about a message that was written during the replay.
fn verdict(session: &Session, replay: Replay, seq: SeqNum, flags: RecordFlags, message: &[u8]) -> Verdict {
    let interleave = session.fixed.settings.resend.replay_interleave;
    let was_sent = interleave != ReplayInterleave::None
        && seq >= replay.began
        && RawHeader::read(message).msg_type.is_some_and(|msg_type| interleave.sends(msg_type));
    // Nothing of the application follows our Logout (R-LOGOUT-1).
    let logout = session.state.connection.as_ref().and_then(|connection| connection.logon.phase.leave()?.seq);
    let is_after_logout = logout.is_some_and(|logout| seq > logout) && !flags.contains(RecordFlags::ADMIN);
    if was_sent && interleave == ReplayInterleave::Heartbeats {
        return Verdict::LetThrough;
    }
    if was_sent || is_after_logout {
        return Verdict::Passed;
    }
    // It may have been written before the counterparty announced its MaxMessageSize.
    let limit = session.state.peer_max_message_size();
    if flags.contains(RecordFlags::MASKED) {
        Verdict::Refused(Unreached::Masked)
    } else if message.len() > limit {
        Verdict::Refused(Unreached::TooLarge { limit })
    } else {
        Verdict::Sent
    }
}

impl Call<'_> {
    /// Queues the bytes of a message that already has its sequence number.
    fn queue(&mut self, bytes: &[u8]) -> Result<(), SendError> {
        let now = self.now.mono;
        let session = self.session_mut();
        let tail = session.outbox.cursor.tail();
        let Some(place) = session.outbox.memory.get_mut(tail..tail + bytes.len()) else {
            return Err(SendError::BackPressure);
        };
        place.copy_from_slice(bytes);
        let digits = session.outbox.cursor.length_digits();
        session.outbox.cursor.push(tail + bytes.len(), digits);
        // The session's secrets may be others than when it was stored.
        session.transaction.expect_secrets();
        if let Some(connection) = &mut session.state.connection {
            connection.last_sent = now;
        }
        Ok(())
    }
}

/// Copies the fields of a message that is sent again, except those that the session writes.
// R-RESEND-3
fn copy_body(body: &mut BodyWriter<'_>, message: &Message<'_>, sub_ids: &[Option<Tag>; 4]) {
    let has_sub_ids = sub_ids.iter().any(Option::is_some);
    for position in 0..message.len() {
        let field = message.field(position);
        let Some(tag) = field.tag.map(|tag| Tag::new(tag.number())) else { continue };
        let is_written = WRITTEN_ANEW.contains(&tag.number()) || has_sub_ids && sub_ids.contains(&Some(tag));
        if !is_written {
            body.raw().field(Key::of(tag), field.value);
        }
    }
}
