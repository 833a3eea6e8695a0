//! What happens to a message of the counterparty: the checks in the order of the session standard, and the reaction to each.
//!
//! Numbers in comments are the steps of that order and the official test cases.

use core::time::Duration;

use fixbolt_codec::{FaultKind, FromField, Key, Message, SeqNum, Tag, ToField, UtcTimestamp, is_admin};

use fixbolt_dictionary::SessionRejectReason;

use crate::application::{Delivery, Event, Halt, Misbehaviour, SendError, SessionEnd};
use crate::scene::{Outcome, Scene, Stop};
use crate::slot::{Core, Posting};
use crate::state::{Gap, Phase};
use crate::store::{RecordFlags, RecordKind};

/// The fields of the standard header that decide about a message, read once.
#[derive(Clone, Copy)]
pub(crate) struct Header<'m> {
    pub(crate) msg_type: &'m [u8],
    /// MsgSeqNum (34), when it is there and a number. Zero is one: a SequenceReset-Reset may carry it, else it is too low.
    pub(crate) seq: Option<SeqNum>,
    pub(crate) poss_dup: bool,
    pub(crate) flags: RecordFlags,
}

impl<'m> Header<'m> {
    pub(crate) fn read(message: &Message<'m>) -> Self {
        let msg_type = message.msg_type();
        let poss_dup = message.get(tag::POSS_DUP_FLAG) == Some(b"Y");
        let mut flags = RecordFlags::default();
        if is_admin(msg_type) {
            flags = flags.with(RecordFlags::ADMIN);
        }
        if poss_dup {
            flags = flags.with(RecordFlags::POSS_DUP);
        }
        // The largest number has none after it: a message with it would be expected again for ever.
        let seq = message
            .get(tag::MSG_SEQ_NUM)
            .and_then(|v| SeqNum::from_field(v).ok())
            .filter(|seq| *seq < SeqNum::MAX);
        Self { msg_type, seq, poss_dup, flags }
    }
}

/// Tags that the session layer reads.
pub(crate) mod tag {
    use fixbolt_codec::Tag;

    pub(crate) const BEGIN_SEQ_NO: Tag = Tag::new(7);
    pub(crate) const END_SEQ_NO: Tag = Tag::new(16);
    pub(crate) const MSG_SEQ_NUM: Tag = Tag::new(34);
    pub(crate) const NEW_SEQ_NO: Tag = Tag::new(36);
    pub(crate) const POSS_DUP_FLAG: Tag = Tag::new(43);
    pub(crate) const SENDER_COMP_ID: Tag = Tag::new(49);
    pub(crate) const SENDING_TIME: Tag = Tag::new(52);
    pub(crate) const TARGET_COMP_ID: Tag = Tag::new(56);
    pub(crate) const TEXT: Tag = Tag::new(58);
    pub(crate) const ENCRYPT_METHOD: Tag = Tag::new(98);
    pub(crate) const HEART_BT_INT: Tag = Tag::new(108);
    pub(crate) const TEST_REQ_ID: Tag = Tag::new(112);
    pub(crate) const ORIG_SENDING_TIME: Tag = Tag::new(122);
    pub(crate) const GAP_FILL_FLAG: Tag = Tag::new(123);
    pub(crate) const RESET_SEQ_NUM_FLAG: Tag = Tag::new(141);
    pub(crate) const MAX_MESSAGE_SIZE: Tag = Tag::new(383);
}

/// A session Reject (35=3) to be sent.
#[derive(Clone, Copy)]
pub(crate) struct Reject<'r> {
    /// SessionRejectReason (373).
    pub(crate) reason: u16,
    /// RefTagID (371) as written; `None` leaves it out.
    pub(crate) tag: Option<&'r [u8]>,
    pub(crate) text: &'r str,
}

impl<'r> Reject<'r> {
    /// What the application hears of it.
    fn event(&self, seq: SeqNum) -> Event<'r> {
        Event::Rejected { seq, reason: self.reason, tag: self.tag.unwrap_or_default(), text: self.text }
    }
}

impl Scene<'_> {
    /// One message of the counterparty, complete and with the right sum; `kept` when it came before its turn.
    pub(crate) fn inbound(&mut self, message: Message<'_>, kept: bool) -> Result<(), Stop> {
        let header = Header::read(&message);
        // 14k: to QuickFIX a field without `=` makes the message garbled.
        if self.core().is_quickfix() && message.fault().is_some_and(|fault| fault.kind == FaultKind::NoEquals)
        {
            self.tell(&Event::Note("a message with a field without = is ignored"));
            return Ok(());
        }
        // Any message that is not garbled proves life (session standard, heartbeats).
        let now = self.now;
        {
            let core = self.core();
            core.heard = (core.state.last_received, core.state.test_request);
            core.state.last_received = now.mono;
            core.state.test_request = None;
        }
        let reset_on_logout = self.core().settings.reset_on_logout;
        match self.core().state.phase {
            Phase::Disconnected => return Err(Stop),
            Phase::AwaitingLogon | Phase::LogonSent => return self.first_message(&header, message),
            // The counterparty has nothing more to say, but may have to ask for what it missed before our answer; unless the
            // numbers are the next logon's already: nothing of this connection may use them.
            Phase::LogoutAnswered if reset_on_logout || header.msg_type != b"2" => return Ok(()),
            _ => {}
        }
        // 4: a message without number cannot be placed.
        let Some(seq) = header.seq else {
            if !self.core().says_why() {
                self.close(SessionEnd::PeerMisbehaved(Misbehaviour::NoMsgSeqNum));
                return Err(Stop);
            }
            return self.misbehaved(
                "Received message without MsgSeqNum",
                None,
                &message,
                Misbehaviour::NoMsgSeqNum,
            );
        };
        // 5, test case 2i.
        if message.begin_string() != self.core().settings.id.begin_string().as_bytes() {
            return self.other_begin_string(&header, seq, &message);
        }
        if let Some(result) = self.check_comp_ids(&header, seq, &message) {
            return result;
        }
        // What was kept had the right time when it came.
        if !kept && let Some(result) = self.check_sending_time(&header, seq, &message) {
            return result;
        }
        // Rule 5.1: a reset by agreement comes with number 1 whatever is due.
        let reset = header.msg_type == b"A" && message.get(tag::RESET_SEQ_NUM_FLAG) == Some(b"Y");
        if reset && !header.poss_dup && self.core().state.phase == Phase::LoggedOn {
            return self.reset_in_session(&header, seq, &message);
        }
        // 8: a Reset is obeyed whatever its own number is.
        if header.msg_type == b"4" && message.get(tag::GAP_FILL_FLAG) != Some(b"Y") {
            return self.sequence_reset(&header, seq, &message);
        }
        // QuickFIX takes a Logout whatever its number is.
        let quickfix = self.core().is_quickfix();
        if quickfix && header.msg_type == b"5" {
            return self.logout_received(&header, seq, &message);
        }
        let next_in = self.core().state.next_in;
        if seq < next_in {
            return self.too_low(&header, seq, &message);
        }
        // 10: PossDup of a message that is due. QuickFIX looks at OrigSendingTime only when the number is too low.
        if header.poss_dup
            && !quickfix
            && let Some(reject) = poss_dup_fault(self.core(), &message)
        {
            return if seq == next_in { self.reject(seq, &message, reject) } else { Ok(()) };
        }
        // 11, test case 2b.
        if seq > next_in {
            return self.too_high(&header, seq, &message);
        }
        self.dispatch(&header, seq, message)
    }

    /// A message that is due: structure, then whoever handles its type.
    fn dispatch(&mut self, header: &Header<'_>, seq: SeqNum, message: Message<'_>) -> Result<(), Stop> {
        if let Some(found) = self.violation(seq, &message) {
            let mut digits = [0; 20];
            return self.reject(seq, &message, found.reject(&mut digits));
        }
        // A message sent again that only the session layer would act on has had its effect (rule 6.8).
        let result = match header.msg_type {
            b"0" => self.accept(header, seq, &message),
            b"1" => self.test_request(header, seq, &message),
            b"2" => self.resend_requested(header, seq, &message),
            b"3" => {
                self.tell(&Event::RejectReceived { message });
                self.accept(header, seq, &message)
            }
            b"4" => self.sequence_reset(header, seq, &message),
            b"5" => self.logout_received(header, seq, &message),
            b"A" => self.logon_again(header, seq, &message),
            _ => self.application_message(header, seq, message),
        };
        result?;
        self.gap_may_be_closed()
    }

    /// Takes a message that asks for nothing.
    pub(crate) fn accept(
        &mut self,
        header: &Header<'_>,
        seq: SeqNum,
        message: &Message<'_>,
    ) -> Result<(), Stop> {
        self.take(header, seq, message, |_| Ok(()))
    }

    /// Runs `act` in a turn that takes the message: its number is used up and it is recorded.
    pub(crate) fn take(
        &mut self,
        header: &Header<'_>,
        seq: SeqNum,
        message: &Message<'_>,
        act: impl FnOnce(&mut Self) -> Result<(), SendError>,
    ) -> Result<(), Stop> {
        self.turn(|scene| {
            if seq == scene.core().state.next_in {
                scene.core().advance();
            }
            scene.record(seq, message, header.flags)?;
            act(scene)
        })
    }

    /// Answers with a Reject; the message's number is used up when it was due.
    pub(crate) fn reject(
        &mut self,
        seq: SeqNum,
        message: &Message<'_>,
        reject: Reject<'_>,
    ) -> Result<(), Stop> {
        let header = Header::read(message);
        // A Reject is never answered with one: two sides would do so for ever (session standard, Reject).
        if header.msg_type == b"3" {
            self.take(&header, seq, message, |_| Ok(()))?;
            self.tell(&Event::Note("a Reject that is itself not in order was passed over"));
            self.tell(&Event::RejectReceived { message: *message });
            return self.gap_may_be_closed();
        }
        self.take(&header, seq, message, |scene| scene.write_reject(seq, message, reject))?;
        self.tell(&reject.event(seq));
        self.gap_may_be_closed()
    }

    /// Reject (35=3) with what the session's version knows of it.
    pub(crate) fn write_reject(
        &mut self,
        seq: SeqNum,
        message: &Message<'_>,
        reject: Reject<'_>,
    ) -> Result<(), SendError> {
        let fields_known = self.core().is_42_or_later();
        let reason = SessionRejectReason::from_number(reject.reason)
            .for_version(self.core().settings.id.begin_string().as_bytes());
        self.post(b"3", Posting::New { cause: Some(seq) }, Some(message), |body| {
            body.field(Key::new(45), &seq.0);
            if fields_known {
                if let Some(tag) = reject.tag.filter(|tag| !tag.is_empty() && tag.len() <= REFLECTED_MAX) {
                    body.bytes(Key::new(371), tag);
                }
                if message.msg_type().len() <= REFLECTED_MAX {
                    body.bytes(Key::new(372), message.msg_type());
                }
                if let Some(reason) = reason {
                    body.field(Key::new(373), &u64::from(reason.number()));
                }
            }
            if !reject.text.is_empty() {
                body.bytes(Key::new(58), reject.text.as_bytes());
            }
        })?;
        Ok(())
    }

    /// Logout with text, then the connection is closed: the counterparty broke the session.
    pub(crate) fn misbehaved(
        &mut self,
        text: &str,
        cause: Option<SeqNum>,
        message: &Message<'_>,
        what: Misbehaviour,
    ) -> Result<(), Stop> {
        let header = Header::read(message);
        let seq = header.seq.unwrap_or(SeqNum::ZERO);
        self.turn(|scene| {
            scene.record(seq, message, header.flags)?;
            scene.logout_and_close(text, cause, SessionEnd::PeerMisbehaved(what))
        })?;
        Err(Stop)
    }

    /// 5, test case 2i: its number is not used.
    fn other_begin_string(
        &mut self,
        header: &Header<'_>,
        seq: SeqNum,
        message: &Message<'_>,
    ) -> Result<(), Stop> {
        let end = SessionEnd::PeerMisbehaved(Misbehaviour::BeginString);
        self.turn(|scene| {
            scene.record(seq, message, header.flags)?;
            scene.logout_and_wait("Incorrect BeginString", None, end)
        })
    }

    /// 6, test case 2k. `None` goes on.
    fn check_comp_ids(
        &mut self,
        header: &Header<'_>,
        seq: SeqNum,
        message: &Message<'_>,
    ) -> Option<Result<(), Stop>> {
        let core = self.core();
        if !core.settings.check_comp_id {
            return None;
        }
        let id = &core.settings.id;
        let expected =
            [(tag::SENDER_COMP_ID, id.target_comp_id()), (tag::TARGET_COMP_ID, id.sender_comp_id())];
        let (at_fault, came) = expected
            .into_iter()
            .map(|(tag, expected)| (tag, expected, message.get(tag)))
            .find_map(|(tag, expected, came)| (came != Some(expected.as_bytes())).then_some((tag, came)))?;
        let name: &[u8] = if at_fault == tag::SENDER_COMP_ID { b"49" } else { b"56" };
        if came.is_none() {
            let reject = Reject { reason: 1, tag: Some(name), text: "Required tag missing" };
            return Some(self.reject(seq, message, reject));
        }
        // QuickFIX looks for empty fields first (14d).
        if came == Some(b"") && core.is_quickfix() {
            let reject = Reject { reason: 4, tag: Some(name), text: "Tag specified without a value" };
            return Some(self.reject(seq, message, reject));
        }
        // QuickFIX names no field here.
        let named = (!core.is_quickfix()).then_some(name);
        let reject = Reject { reason: 9, tag: named, text: "CompID problem" };
        Some(self.reject_and_log_out(header, seq, message, reject, Misbehaviour::CompId))
    }

    /// 7, test case 2o. `None` goes on.
    fn check_sending_time(
        &mut self,
        header: &Header<'_>,
        seq: SeqNum,
        message: &Message<'_>,
    ) -> Option<Result<(), Stop>> {
        let Some(value) = message.get(tag::SENDING_TIME) else {
            let reject = Reject { reason: 1, tag: Some(b"52"), text: "Required tag missing" };
            return Some(self.reject(seq, message, reject));
        };
        let Some(sent) = unix_nanos(value) else {
            let reject = Reject { reason: 6, tag: Some(b"52"), text: "Incorrect data format for value" };
            return Some(self.reject(seq, message, reject));
        };
        let now = self.now.utc.0;
        let threshold = self.core().settings.sending_time_threshold?;
        if Duration::from_nanos(now.abs_diff(sent)) <= threshold {
            return None;
        }
        let named: Option<&[u8]> = if self.core().is_quickfix() { None } else { Some(b"52") };
        let reject = Reject { reason: 10, tag: named, text: "SendingTime accuracy problem" };
        Some(self.reject_and_log_out(header, seq, message, reject, Misbehaviour::SendingTime))
    }

    fn reject_and_log_out(
        &mut self,
        header: &Header<'_>,
        seq: SeqNum,
        message: &Message<'_>,
        reject: Reject<'_>,
        what: Misbehaviour,
    ) -> Result<(), Stop> {
        let text = if self.core().is_quickfix() { "" } else { reject.text };
        self.take(header, seq, message, |scene| {
            scene.write_reject(seq, message, reject)?;
            scene.logout_and_wait(text, Some(seq), SessionEnd::PeerMisbehaved(what))
        })?;
        self.tell(&reject.event(seq));
        Ok(())
    }

    /// 9 and 10: a number that was due before.
    fn too_low(&mut self, header: &Header<'_>, seq: SeqNum, message: &Message<'_>) -> Result<(), Stop> {
        if header.poss_dup {
            // 2f, 2g: the Reject uses up no number but ours. QuickFIX logs out after 2f.
            if let Some(reject) = poss_dup_fault(self.core(), message) {
                if self.core().is_quickfix() && reject.reason == 10 {
                    return self.reject_and_log_out(header, seq, message, reject, Misbehaviour::SendingTime);
                }
                return self.reject(seq, message, reject);
            }
            self.tell(&Event::DuplicateIgnored { seq });
            return Ok(());
        }
        // QuickFIX answers a ResendRequest whatever its number is.
        if self.core().is_quickfix() && header.msg_type == b"2" {
            return self.resend_requested(header, seq, message);
        }
        let expected = self.core().state.next_in;
        let text = format!("MsgSeqNum too low, expecting {expected} but received {seq}");
        self.misbehaved(&text, Some(seq), message, Misbehaviour::MsgSeqNumTooLow)
    }

    /// 11: numbers are missing in front of this message.
    fn too_high(&mut self, header: &Header<'_>, seq: SeqNum, message: &Message<'_>) -> Result<(), Stop> {
        match header.msg_type {
            // The answer to our own Logout ends the session whatever is missing.
            b"5" if self.core().state.phase == Phase::LogoutSent => {
                return self.logout_received(header, seq, message);
            }
            // Answered first, so that two sides that wait for each other both go on (test case 20).
            b"2" => {
                self.resend_requested(header, seq, message)?;
                self.core().state.request_answered = Some(seq);
                if self.core().state.phase == Phase::LogoutAnswered {
                    return Ok(());
                }
            }
            b"5" => self.core().state.logout_waits = Some(seq),
            _ => {}
        }
        // A gap fill from behind a gap is asked for again with the rest.
        if header.msg_type != b"4" && !self.core().stash.keep(seq, message.bytes()) {
            self.tell(&Event::Note("a message that came before its turn was dropped: too many are kept"));
        }
        // Two sides that both wait: whoever asks us has not got our request, or our gap is still open after it (20).
        let again = if header.poss_dup {
            self.core().replay_passed(seq)
        } else {
            header.msg_type == b"2" && !self.core().is_quickfix()
        };
        self.ask_for_gap(seq, header.poss_dup, again)
    }

    /// Asks for the missing numbers, once for as long as the gap is open; `again` when a replay has passed it by.
    pub(crate) fn ask_for_gap(&mut self, received: SeqNum, replayed: bool, again: bool) -> Result<(), Stop> {
        let now = self.now;
        let patience = Duration::from_secs(u64::from(self.core().state.heart_bt_int.max(10)));
        let next_in = self.core().state.next_in;
        let (mut asked, mut end) = (1, received.previous());
        if let Some(gap) = &mut self.core().state.gap {
            let stuck = gap.begin == next_in;
            if !again && !stuck {
                // What was asked for is coming: patience begins anew with every step.
                *gap = Gap { begin: next_in, asked: 1, asked_at: now.mono, ..*gap };
                return Ok(());
            }
            if !again && now.mono - gap.asked_at < patience {
                return Ok(());
            }
            // A counterparty that asks us and so makes us ask again has not failed to fill the gap.
            let failed = u32::from(replayed || !again);
            asked = if stuck { gap.asked + failed } else { 1 };
            end = end.max(gap.end);
        }
        if asked > ASK_AT_MOST {
            let text = format!("MsgSeqNum {next_in} was asked for {ASK_AT_MOST} times and never came");
            let end = SessionEnd::PeerMisbehaved(Misbehaviour::GapNeverFilled);
            self.turn(|scene| scene.logout_and_close(&text, None, end))?;
            return Err(Stop);
        }
        let replayed = replayed.then_some(received);
        self.turn(|scene| {
            scene.core().state.gap = Some(Gap { begin: next_in, end, asked, asked_at: now.mono, replayed });
            scene.resend_request(next_in, Some(received))?;
            Ok(())
        })?;
        self.tell(&Event::GapDetected { expected: next_in, received });
        Ok(())
    }

    /// After every step forward: is the gap closed, and did a Logout wait for that?
    pub(crate) fn gap_may_be_closed(&mut self) -> Result<(), Stop> {
        let core = self.core();
        let next_in = core.state.next_in;
        if core.state.gap.is_some_and(|gap| next_in > gap.end) {
            core.state.gap = None;
        }
        // A Logout whose own turn is next is taken from the stash, unless that was full; else a gap fill has passed over it.
        match core.state.logout_waits {
            Some(seq) if next_in > seq || next_in == seq && !core.stash.has(seq) => {
                core.state.logout_waits = None;
                return self.answer_logout(None);
            }
            _ => {}
        }
        // What waits behind another gap shows it: no need to wait for the next message.
        match core.stash.first_from(next_in) {
            Some(ahead) if core.state.gap.is_none() && ahead > next_in => {
                self.ask_for_gap(ahead, false, false)
            }
            _ => Ok(()),
        }
    }

    /// A message for the application: everything it writes and the message's own number are one turn.
    fn application_message(
        &mut self,
        header: &Header<'_>,
        seq: SeqNum,
        message: Message<'_>,
    ) -> Result<(), Stop> {
        if !matches!(self.core().state.phase, Phase::LoggedOn | Phase::LogoutSent) {
            return Err(Stop);
        }
        self.begin();
        let core = self.core();
        let redelivered = core.state.attempts > 0 || header.poss_dup && seq == core.opened_at;
        core.advance();
        core.state.attempts = 0;
        if let Err(error) = self.record(seq, &message, header.flags.with(RecordFlags::DELIVERED)) {
            return Err(self.abandon(error));
        }
        let outcome = self.deliver(message, seq, redelivered);
        let mut digits = [0; 20];
        let (written, rejected) = match outcome {
            Outcome::Delivered(Delivery::Done) => return self.commit(),
            Outcome::Delivered(Delivery::NotNow) | Outcome::Failed(SendError::BackPressure) => {
                self.rollback();
                return Err(self.wait());
            }
            Outcome::Delivered(Delivery::Reject { reason, tag, text }) => {
                let len = u64::from(tag).write_to(&mut digits);
                let tag = (tag != 0).then_some(&digits[..len]);
                let reject = Reject { reason, tag, text };
                (self.write_reject(seq, &message, reject), reject)
            }
            Outcome::Delivered(Delivery::BusinessReject { reason, text }) => {
                (self.write_business_reject(seq, &message, reason, text), Reject { reason, tag: None, text })
            }
            Outcome::Failed(SendError::Store(error)) => {
                return Err(self.abandon(SendError::Store(error)));
            }
            Outcome::Failed(error) => return Err(self.application_failed(seq, &error.to_string())),
            Outcome::Panicked => return Err(self.application_failed(seq, "panic")),
        };
        match written {
            Ok(()) => self.commit()?,
            Err(error) => return Err(self.abandon(error)),
        }
        self.tell(&rejected.event(seq));
        Ok(())
    }

    /// BusinessMessageReject (35=j); FIX.4.0 and 4.1 have none and get a Reject.
    fn write_business_reject(
        &mut self,
        seq: SeqNum,
        message: &Message<'_>,
        reason: u16,
        text: &str,
    ) -> Result<(), SendError> {
        if !self.core().is_42_or_later() {
            return self.write_reject(seq, message, Reject { reason: 99, tag: None, text });
        }
        self.post(b"j", Posting::New { cause: Some(seq) }, Some(message), |body| {
            body.field(Key::new(45), &seq.0);
            body.bytes(Key::new(372), message.msg_type());
            body.field(Key::new(380), &u64::from(reason));
            if !text.is_empty() {
                body.bytes(Key::new(58), text.as_bytes());
            }
        })?;
        Ok(())
    }

    /// Nothing of the turn happened; the attempt is counted in the store and the session disconnected, or halted when it was
    /// the last one (property 4).
    fn application_failed(&mut self, seq: SeqNum, why: &str) -> Stop {
        self.rollback();
        self.begin();
        let core = self.core();
        (core.state.last_received, core.state.test_request) = core.heard;
        core.state.attempts += 1;
        let (attempts, most) = (core.state.attempts, core.settings.poison_attempts);
        if let Err(error) = self.record_change(RecordKind::Attempt, why) {
            return self.abandon(error);
        }
        if self.commit().is_err() {
            return Stop;
        }
        let text = format!("the application failed on message {seq} (attempt {attempts}): {why}");
        self.tell(&Event::Note(&text));
        if attempts >= most {
            self.halt(Halt::PoisonMessage { seq, attempts });
        } else {
            self.close(SessionEnd::ApplicationFailed { seq });
        }
        Stop
    }
}

/// Longest value of the counterparty's that a Reject names; nothing sensible is longer.
const REFLECTED_MAX: usize = 64;
/// How often the same numbers are asked for before the session gives up.
const ASK_AT_MOST: u32 = 3;

impl Core {
    /// A message sent again came from behind the gap: whether the replay it belongs to has passed the gap by. One that was
    /// on its way when we asked has not.
    fn replay_passed(&mut self, seq: SeqNum) -> bool {
        let next_in = self.state.next_in;
        let Some(gap) = &mut self.state.gap else { return true };
        let passed = gap.begin != next_in || gap.replayed.is_none_or(|last| seq <= last);
        gap.replayed = Some(seq);
        passed
    }

    /// The message that was due is taken.
    pub(crate) fn advance(&mut self) {
        self.state.next_in = self.state.next_in.next();
    }
}

/// 2f and 2g: what is wrong with a message that claims to be sent again.
fn poss_dup_fault(core: &Core, message: &Message<'_>) -> Option<Reject<'static>> {
    if message.msg_type() == b"4" {
        return None;
    }
    let Some(original) = message.get(tag::ORIG_SENDING_TIME) else {
        return core.settings.requires_orig_sending_time.then_some(Reject {
            reason: 1,
            tag: Some(b"122"),
            text: "Required tag missing",
        });
    };
    let Some(original) = unix_nanos(original) else {
        return Some(Reject { reason: 6, tag: Some(b"122"), text: "Incorrect data format for value" });
    };
    let sent = message.get(tag::SENDING_TIME).and_then(unix_nanos)?;
    let named: Option<&[u8]> = if core.is_quickfix() { None } else { Some(b"122") };
    (original > sent).then_some(Reject { reason: 10, tag: named, text: "SendingTime accuracy problem" })
}

/// A UTCTimestamp in nanoseconds since 1970.
pub(crate) fn unix_nanos(value: &[u8]) -> Option<u64> {
    UtcTimestamp::from_field(value).ok()?.to_unix_nanos()
}

/// A field that must be a number.
pub(crate) fn number(message: &Message<'_>, tag: Tag) -> Option<u64> {
    message.get(tag).and_then(|value| u64::from_field(value).ok())
}
