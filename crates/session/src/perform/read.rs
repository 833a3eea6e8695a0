//! Reading: bytes become messages, and each message is checked and carried out.

use core::num::{NonZeroU32, NonZeroU64};

use fixbolt_codec::{Frame, FrameError, Framed, Index, IndexError, Redacted, is_admin};

use crate::core::Failed;
use crate::core::observer::{observe_garbled, observe_inbound};
use crate::decide::inbound;
use crate::decide::reaction::{Counts, SessionReaction};
use crate::events::end::{Misbehavior, SessionEnd};
use crate::events::event::{Event, GarbledError};
use crate::events::logon::LogonFault;
use crate::limits::flood::Added;
use crate::perform::call::Call;
use crate::perform::garbled::GarbledHeader;
use crate::state::Phase;
use crate::state::intake::Past;
use crate::state::reading::BlockedBy;
use crate::state::reorder::Reordered;
use crate::state::session::recovery;
use crate::state::timers::Timer;
use crate::store::stored_message::FieldStorage;
use crate::wire::mask::mask_garbled;
use crate::wire::oversized::{self, Verdict};

/// Memory for the message that is read, outside the core: the message borrows it while the sessions
/// are in use.
pub(crate) struct Reader {
    /// Storage for the message's index.
    pub(crate) index: FieldStorage,
    /// The buffer that a message from the reorder buffer is copied to before it is processed.
    pub(crate) again: Reordered,
}

impl Call<'_> {
    /// Processes bytes of the counterparty, until there are no more messages, or the session ends
    /// or waits. Returns the number of bytes consumed.
    pub(crate) fn receive(&mut self, bytes: &[u8], reader: &mut Reader) -> usize {
        let now = self.now;
        let mut session = self.session_mut();
        session.limits.begin_read(now.mono);
        session.unblock(now.mono);
        session.intake.begin_call();
        let mut at = 0;
        loop {
            if !session.intake.reorder.is_empty() {
                self.process_reordered(reader);
                session = self.session_mut();
            }
            let reading = &session.intake.reading;
            if !session.state.is_open() || reading.blocked.is_some() || reading.budget.is_spent() {
                break;
            }
            if session.is_full() {
                session.block(now, BlockedBy::Outbox);
                break;
            }
            if at == bytes.len() {
                session.intake.note_empty();
                break;
            }
            if let Some(timing) = &mut session.tools.encoding.timing {
                timing.begin();
            }
            let frame = session.intake.next_frame(&bytes[at..]);
            if session.intake.reading.oversized.is_some() {
                let passed = self.read_past(frame, &bytes[at..]);
                session = self.session_mut();
                if passed > 0 {
                    at += passed;
                    continue;
                }
            }
            match frame {
                Frame::Message(framed) => {
                    session.intake.note_whole(framed.bytes().len());
                    let next_in = session.state.stored.next_in;
                    self.message(framed, false, true, &mut reader.index);
                    session = self.session_mut();
                    // A message that was processed is not passed in again, even if what follows
                    // from it has to wait.
                    let taken =
                        session.intake.reading.blocked.is_none() || session.state.stored.next_in > next_in;
                    session.intake.set_offered(!taken);
                    if taken {
                        at += framed.bytes().len();
                    }
                }
                Frame::Garbled { bytes: dropped, error } => {
                    session.intake.note_whole(dropped.len());
                    at += dropped.len();
                    let is_too_large = matches!(error, Some(FrameError::TooLarge { .. }));
                    if is_too_large && matches!(session.state.phase(), Phase::LoggedOn | Phase::LogoutSent) {
                        session.intake.begin_oversized(now.mono, dropped);
                        self.judge_oversized(false);
                    } else {
                        let error = error.map_or(GarbledError::Continued, GarbledError::Frame);
                        self.garbled(dropped, error);
                    }
                    session = self.session_mut();
                }
                Frame::Incomplete { .. } => {
                    session.intake.note_incomplete(now.mono, bytes.len() - at);
                    break;
                }
            }
        }
        let reading = &session.intake.reading;
        let leaves_some = reading.blocked.is_some() || reading.budget.is_spent();
        session.note_read(leaves_some);
        if !session.state.is_open() {
            return bytes.len();
        }
        let waits = session.state.stored.wait > 0;
        // A replay continues even while nothing is read, and so do messages that wait.
        if session.state.replay().is_some() {
            self.pump();
        }
        if waits {
            self.send_waiting();
        }
        at
    }

    /// Gives up an incomplete message that has not become whole for too long; the bytes after its
    /// beginning are processed. Returns the number of bytes consumed.
    // R-FRAME-8
    pub(crate) fn receive_late(&mut self, buffered: &[u8], reader: &mut Reader) -> usize {
        let now = self.now.mono;
        let session = self.session_mut();
        if session.is_due(Timer::Incomplete, now)
            && let Some((dropped, error)) = session.intake.give_up(buffered)
        {
            self.garbled(dropped, error.map_or(GarbledError::Continued, GarbledError::Frame));
            return dropped.len() + self.receive(&buffered[dropped.len()..], reader);
        }
        self.receive(buffered, reader)
    }

    /// Reads past what the framer has found of a message that is larger than the session accepts,
    /// or rejects it if something else has begun. Returns the number of bytes consumed.
    #[cold]
    fn read_past(&mut self, frame: Frame<'_>, bytes: &[u8]) -> usize {
        let session = self.session_mut();
        let passed = match session.intake.read_past(frame, bytes, recovery(&session.fixed.behavior)) {
            Past::More(passed) => passed.len(),
            Past::Unclear => return 0,
            Past::Other => 0,
        };
        self.judge_oversized(passed == 0);
        passed
    }

    /// Decides about the message that is being read past. `begins` says whether another one begins
    /// after the bytes so far.
    fn judge_oversized(&mut self, begins: bool) {
        let now = self.now.mono;
        let session = self.session_mut();
        let verdict = session.intake.reading.oversized.as_ref().map(|oversized| oversized.verdict(begins));
        let Some(verdict) = verdict.filter(|verdict| *verdict != Verdict::Partial) else { return };
        let Some(oversized) = session.intake.take_oversized() else { return };
        match (verdict, oversized.header(&session.fixed.settings)) {
            (Verdict::Whole, Some(header)) => {
                session.intake.count_well_formed();
                if let Some(connection) = &mut session.state.connection {
                    connection.hear(now);
                }
                let before = session.state.added;
                self.too_large(header, oversized.len());
                self.count_cost(false, before);
            }
            // R-FRAME-9
            (Verdict::TooLarge, _) => {
                self.end_flood(Misbehavior::MessageTooLarge { limit: oversized::LARGEST });
            }
            _ => {
                let limit = session.fixed.settings.limits.max_message_size;
                let error = GarbledError::Frame(FrameError::TooLarge { limit });
                self.garbled(oversized.head(), error);
            }
        }
    }

    /// Indexes one framed message and runs the session's checks. `is_reordered` says whether it
    /// comes from the reorder buffer, `verified` whether CheckSum is verified.
    fn message(&mut self, framed: Framed<'_>, is_reordered: bool, verified: bool, memory: &mut FieldStorage) {
        let FieldStorage { tags, spans, places } = &mut *memory;
        let mut index =
            Index::new(tags, spans).with_data_fields(self.data_fields()).with_checksum_verified(verified);
        match index.build(framed) {
            Ok(message) => {
                let now = self.now;
                let mut session = &mut self.core.sessions[self.own];
                let is_new = !is_reordered && !session.intake.reading.offered;
                if is_new {
                    session.intake.count_well_formed();
                    let observer = self.core.observer.as_deref();
                    if !observe_inbound(observer, session, now, &message) {
                        self.core.failed.push((self.own, Failed::Observer));
                        self.end_failed();
                        session = self.session_mut();
                    }
                }
                let limit = session.fixed.settings.limits.max_session_journal_growth.map(NonZeroU64::get);
                if session.state.phase() == Phase::AwaitingLogon
                    && session.limits.is_growth_over(now.mono, limit)
                {
                    let limit = limit.unwrap_or_default();
                    let end = SessionEnd::PeerMisbehaved(Misbehavior::JournalGrowth { limit });
                    return self.react(SessionReaction::close(end));
                }
                let before = session.state.added;
                let msg_type = message.msg_type();
                let counts = if inbound::is_garbled(session, &message) {
                    self.without_equals(&message);
                    Counts::Fully
                } else {
                    self.process(framed, message, is_reordered, places)
                };
                if counts != Counts::Nowhere {
                    self.count_cost(is_new && counts == Counts::Fully && is_admin(msg_type), before);
                }
            }
            // A right CheckSum costs no look at the settings. R-FRAME-5
            Err(IndexError::CheckSum { .. })
                if !self.session().fixed.settings.validation.validate_checksum =>
            {
                self.message(framed, is_reordered, false, memory);
            }
            // Some are shorter than any that are right, and their message is not garbled.
            Err(IndexError::TooManyFields { limit }) if limit < framed.bytes().len() => {
                memory.grow(framed.bytes().len());
                self.message(framed, is_reordered, verified, memory);
            }
            Err(error) => {
                self.garbled(framed.bytes(), GarbledError::Index(error));
                self.answer_garbled(framed);
            }
        }
    }

    /// Answers a garbled message, if the session does that.
    #[cold]
    fn answer_garbled(&mut self, framed: Framed<'_>) {
        let session = self.session();
        let Some(header) = GarbledHeader::read(session, framed.bytes()) else { return };
        let before = session.state.added;
        self.reject_garbled(header);
        self.count_cost(true, before);
    }

    /// Counts what a message that was not for the application has added to the store, and the
    /// message itself if `counts`: if it is one of the session layer. A counterparty that sends too
    /// many of them is disconnected.
    fn count_cost(&mut self, counts: bool, before: Added) {
        let now = self.now;
        let session = self.session_mut();
        let rate = session.fixed.settings.limits.max_session_message_rate.map(NonZeroU32::get);
        // R-LIMIT-3
        let grew_too_much = session.count_growth(now, before);
        if !session.state.is_open() {
            return;
        }
        let why = if grew_too_much {
            let limit = session.fixed.settings.limits.max_session_journal_growth.map_or(0, NonZeroU64::get);
            Misbehavior::JournalGrowth { limit }
        // R-LIMIT-2
        } else if counts && session.intake.count_session_layer(now.mono, rate) {
            Misbehavior::SessionMessageRate { limit: rate.unwrap_or_default() }
        } else {
            return;
        };
        self.end_flood(why);
    }

    /// Reports garbled bytes. A counterparty that sends nothing else is disconnected.
    // R-FRAME-6
    fn garbled(&mut self, bytes: &[u8], error: GarbledError) {
        let mut masked = Vec::new();
        let session = &mut self.core.sessions[self.own];
        if !observe_garbled(self.core.observer.as_deref(), session, self.now, bytes, error) {
            self.core.failed.push((self.own, Failed::Observer));
            self.end_failed();
        }
        let session = self.session_mut();
        let continues = error == GarbledError::Continued;
        let secrets = session.fixed.secret_tags.of(&session.fixed.settings);
        let found = mask_garbled(secrets, bytes, continues, &mut masked);
        let shown = Redacted(if found { &masked } else { bytes });
        self.notify(&Event::Garbled { bytes: shown, error });
        let session = self.session_mut();
        // R-FRAME-7
        if session.state.phase() == Phase::AwaitingLogon {
            let end = SessionEnd::PeerMisbehaved(Misbehavior::InvalidLogon(LogonFault::Garbled));
            return self.react(SessionReaction::close(end));
        }
        let limit = session.fixed.settings.limits.max_garbled_messages.map(NonZeroU32::get);
        // R-LIMIT-1
        if session.intake.count_garbled(limit) {
            self.end_flood(Misbehavior::Garbled { limit: limit.unwrap_or_default() });
        }
    }

    /// Ends the connection of a counterparty that costs too much.
    #[cold]
    fn end_flood(&mut self, why: Misbehavior) {
        self.react(SessionReaction::end_with(why.to_string(), SessionEnd::PeerMisbehaved(why)));
    }

    /// Processes messages in the reorder buffer that are now expected.
    // R-GAP-5
    fn process_reordered(&mut self, reader: &mut Reader) {
        loop {
            let session = self.session_mut();
            let (due, series) = (session.state.stored.next_in, session.state.series());
            let phase = session.state.phase();
            if !session.state.is_open() || session.intake.reading.budget.is_spent() {
                return;
            }
            if !session.intake.begin_reordered(series, due, &mut reader.again) {
                return;
            }
            if let Some(timing) = &mut session.tools.encoding.timing {
                timing.begin();
            }
            if let Some(framed) = reader.again.framed() {
                self.message(framed, true, true, &mut reader.index);
            }
            let session = self.session_mut();
            session.intake.end_reordered();
            // What is buffered behind a Logout that was just answered is read in the next call.
            let is_answered =
                phase != Phase::LogoutAnswered && session.state.phase() == Phase::LogoutAnswered;
            let waits = session.intake.reading.blocked.is_some();
            if is_answered || waits || session.state.stored.next_in == due {
                return;
            }
        }
    }
}
