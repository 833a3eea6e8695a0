//! Logon and Logout: how a connection of a session begins and ends.

use core::time::Duration;
use std::panic::{AssertUnwindSafe, catch_unwind};

use fixbolt_codec::{FromField, Key, Message, SeqNum};

use crate::application::{Event, LogonDecision, Misbehaviour, SendError, SessionEnd};
use crate::inbound::{Header, Reject, number, tag, unix_nanos};
use crate::scene::{Scene, Stop};
use crate::settings::Compatibility;
use crate::slot::Posting;
use crate::state::{Phase, Replay};

/// How long a counterparty that logged out may take to close the connection (test case 13b).
const PEER_CLOSES_WITHIN: Duration = Duration::from_secs(10);

/// A Logon that cannot be accepted: the text of the Logout, and the Reject in front of it, if the standard asks for one.
struct Refusal<'r> {
    text: String,
    reject: Option<Reject<'r>>,
    end: SessionEnd,
}

impl Refusal<'_> {
    fn invalid(text: impl Into<String>) -> Self {
        let end = SessionEnd::PeerMisbehaved(Misbehaviour::InvalidLogon);
        Self { text: text.into(), reject: None, end }
    }
}

impl Scene<'_> {
    /// The transport of this session is there. An initiator logs on; an acceptor waits for the Logon.
    pub(crate) fn connected(&mut self) {
        let now = self.now;
        let core = self.core();
        let (timeout, acceptor) = (core.settings.logon_timeout, core.is_acceptor());
        (core.end, core.blocked, core.incomplete) = (None, None, None);
        let state = &mut core.state;
        state.connection.0 = state.connection.0.wrapping_add(1);
        state.last_sent = now.mono;
        state.last_received = now.mono;
        state.phase_deadline = Some(now.mono + timeout);
        state.test_request = None;
        state.gap = None;
        state.replay = None;
        state.logout_waits = None;
        state.request_answered = None;
        state.kept_from = None;
        state.peer_max_message_size = usize::MAX;
        state.reset_asked = false;
        state.phase = if acceptor { Phase::AwaitingLogon } else { Phase::LogonSent };
        if acceptor {
            return;
        }
        // A failure halts the session, which the caller sees.
        let _ = self.turn(Self::write_first_logon);
    }

    fn write_first_logon(&mut self) -> Result<(), SendError> {
        let reset = self.core().settings.reset_on_logon;
        if reset {
            self.reset("ResetOnLogon")?;
            self.core().state.reset_asked = true;
        }
        let heart_bt_int = self.core().settings.heart_bt_int;
        self.core().state.heart_bt_int = heart_bt_int;
        self.write_logon(heart_bt_int, reset, None)
    }

    fn write_logon(
        &mut self,
        heart_bt_int: u32,
        reset: bool,
        cause: Option<SeqNum>,
    ) -> Result<(), SendError> {
        self.post(b"A", Posting::New { cause }, None, |body| {
            body.bytes(Key::new(98), b"0");
            body.field(Key::new(108), &u64::from(heart_bt_int));
            if reset {
                body.bytes(Key::new(141), b"Y");
            }
        })?;
        Ok(())
    }

    /// The first message of a connection must be a Logon (or, for an initiator, a Logout that refuses ours).
    pub(crate) fn first_message(&mut self, header: &Header<'_>, message: Message<'_>) -> Result<(), Stop> {
        match header.msg_type {
            b"A" => self.logon(header, message),
            b"5" if !self.core().is_acceptor() => {
                if let Some(seq) = header.seq
                    && seq == self.core().state.next_in
                {
                    self.accept(header, seq, &message)?;
                }
                let text = message.get(tag::TEXT).unwrap_or(b"no Text");
                let note = format!("the logon was refused: {}", text.escape_ascii());
                self.tell(&Event::Note(&note));
                self.close(SessionEnd::LoggedOutByPeer);
                Err(Stop)
            }
            _ => {
                self.close(SessionEnd::PeerMisbehaved(Misbehaviour::FirstMessageNotLogon));
                Err(Stop)
            }
        }
    }

    fn logon(&mut self, header: &Header<'_>, message: Message<'_>) -> Result<(), Stop> {
        let id = &self.core().settings.id;
        let same = |tag, expected: &str| message.get(tag) == Some(expected.as_bytes());
        // 1S-c: nothing is said to whom we do not know.
        if !same(tag::SENDER_COMP_ID, id.target_comp_id())
            || !same(tag::TARGET_COMP_ID, id.sender_comp_id())
            || message.begin_string() != id.begin_string().as_bytes()
        {
            self.close(SessionEnd::PeerMisbehaved(Misbehaviour::CompId));
            return Err(Stop);
        }
        let Some(seq) = header.seq else {
            if !self.core().says_why() {
                self.close(SessionEnd::PeerMisbehaved(Misbehaviour::NoMsgSeqNum));
                return Err(Stop);
            }
            let text = "Received message without MsgSeqNum";
            return self.misbehaved(text, None, &message, Misbehaviour::NoMsgSeqNum);
        };
        if let Err(refusal) = self.check_logon(seq, &message) {
            return self.refuse_logon(header, seq, &message, refusal);
        }
        if let Some(found) = self.violation(seq, &message) {
            let mut digits = [0; 20];
            let reject = found.reject(&mut digits);
            let refusal = Refusal { reject: Some(reject), ..Refusal::invalid(reject.text) };
            return self.refuse_logon(header, seq, &message, refusal);
        }
        let reset = message.get(tag::RESET_SEQ_NUM_FLAG) == Some(b"Y");
        if self.core().is_acceptor() {
            self.accept_logon(header, seq, message, reset)
        } else {
            self.logon_answered(header, seq, &message, reset)
        }
    }

    /// Rules 3, 4 and 5.1 of the standard's Logon: what may be wrong with an identified counterparty's.
    fn check_logon(&mut self, seq: SeqNum, message: &Message<'_>) -> Result<(), Refusal<'static>> {
        let now = self.now.utc.0;
        let core = self.core();
        let sent = message.get(tag::SENDING_TIME).and_then(unix_nanos);
        let close_enough = match (sent, core.settings.sending_time_threshold) {
            (Some(sent), Some(threshold)) => Duration::from_nanos(now.abs_diff(sent)) <= threshold,
            (Some(_), None) => true,
            (None, _) => false,
        };
        if !close_enough {
            let end = SessionEnd::PeerMisbehaved(Misbehaviour::SendingTime);
            return Err(Refusal { text: "SendingTime accuracy problem".into(), reject: None, end });
        }
        match message.get(tag::ENCRYPT_METHOD) {
            Some(b"0") => {}
            Some(_) => {
                let reject = Reject { reason: 7, tag: Some(b"98"), text: "EncryptMethod is not supported" };
                return Err(Refusal {
                    reject: Some(reject),
                    ..Refusal::invalid("EncryptMethod (98) must be 0")
                });
            }
            None => return Err(missing(b"98", "EncryptMethod (98) is missing")),
        }
        match message.get(tag::HEART_BT_INT).map(i64::from_field) {
            None => return Err(missing(b"108", "HeartBtInt (108) is missing")),
            Some(Ok(seconds)) if seconds < 0 => {
                return Err(Refusal::invalid("HeartBtInt must not be negative"));
            }
            Some(Ok(seconds)) if u32::try_from(seconds).is_ok_and(|s| s <= HEART_BT_INT_MAX) => {}
            Some(_) => {
                let text = format!("HeartBtInt (108) must be a number of 0 to {HEART_BT_INT_MAX}");
                return Err(Refusal::invalid(text));
            }
        }
        if number(message, tag::MAX_MESSAGE_SIZE).is_some_and(|n| (1..SMALLEST_MAX_MESSAGE_SIZE).contains(&n))
        {
            let text = format!("MaxMessageSize (383) must be at least {SMALLEST_MAX_MESSAGE_SIZE}");
            return Err(Refusal::invalid(text));
        }
        if message.get(tag::RESET_SEQ_NUM_FLAG) == Some(b"Y") && seq != SeqNum::ONE {
            return Err(Refusal::invalid("ResetSeqNumFlag (141) is Y, but MsgSeqNum (34) is not 1"));
        }
        Ok(())
    }

    fn refuse_logon(
        &mut self,
        header: &Header<'_>,
        seq: SeqNum,
        message: &Message<'_>,
        mut refusal: Refusal<'_>,
    ) -> Result<(), Stop> {
        let misbehaved = matches!(refusal.end, SessionEnd::PeerMisbehaved(_));
        if !self.core().says_why() && misbehaved && refusal.reject.is_none() {
            self.close(refusal.end);
            return Err(Stop);
        }
        if self.core().settings.compatibility == Compatibility::QuickFixJ
            && let Some(Reject { tag: Some(tag), text, .. }) = refusal.reject.take()
        {
            // One message instead of two, in these words.
            refusal.text = format!("Invalid Logon message: {text}, field={}", tag.escape_ascii());
        }
        self.take(header, seq, message, |scene| {
            if let Some(reject) = refusal.reject {
                scene.write_reject(seq, message, reject)?;
            }
            scene.logout_and_close(&refusal.text, Some(seq), refusal.end)
        })?;
        Err(Stop)
    }

    fn accept_logon(
        &mut self,
        header: &Header<'_>,
        seq: SeqNum,
        message: Message<'_>,
        reset: bool,
    ) -> Result<(), Stop> {
        let key = self.core().key;
        let app = &mut *self.app;
        match catch_unwind(AssertUnwindSafe(|| app.on_logon(key, message))) {
            Ok(LogonDecision::Accept) => {}
            Ok(LogonDecision::Refuse { text }) => {
                let refusal = Refusal { text, reject: None, end: SessionEnd::LogonRefused };
                return self.refuse_logon(header, seq, &message, refusal);
            }
            Err(_) => {
                self.close(SessionEnd::ApplicationPanicked { callback: "on_logon" });
                return Err(Stop);
            }
        }
        let reset_first = reset || self.core().settings.reset_on_logon;
        let expected = if reset_first { SeqNum::ONE } else { self.core().state.next_in };
        if let Some(result) = self.logon_too_low(header, seq, &message, expected) {
            return result;
        }
        self.turn(|scene| scene.establish(header, seq, &message, reset_first, reset))?;
        self.logged_on(seq, reset_first)
    }

    /// Numbers, state and our answer of a Logon that is accepted.
    fn establish(
        &mut self,
        header: &Header<'_>,
        seq: SeqNum,
        message: &Message<'_>,
        reset_first: bool,
        asked_for: bool,
    ) -> Result<(), SendError> {
        if reset_first {
            self.reset(if asked_for { "ResetSeqNumFlag of the counterparty" } else { "ResetOnLogon" })?;
        }
        let heart_bt_int = self.adopt(message);
        if seq == self.core().state.next_in {
            self.core().advance();
        }
        self.record(seq, message, header.flags)?;
        self.write_logon(heart_bt_int, asked_for, Some(seq))
    }

    /// Takes over what the counterparty's Logon says about the session; gives HeartBtInt.
    fn adopt(&mut self, message: &Message<'_>) -> u32 {
        let core = self.core();
        let seconds =
            number(message, tag::HEART_BT_INT).and_then(|n| u32::try_from(n).ok()).unwrap_or_default();
        let theirs = number(message, tag::MAX_MESSAGE_SIZE).and_then(|n| usize::try_from(n).ok());
        let state = &mut core.state;
        state.heart_bt_int = seconds;
        state.peer_max_message_size = theirs.filter(|n| *n > 0).unwrap_or(usize::MAX);
        state.phase = Phase::LoggedOn;
        state.phase_deadline = None;
        seconds
    }

    fn logged_on(&mut self, seq: SeqNum, reset: bool) -> Result<(), Stop> {
        let core = self.core();
        core.framer.set_max_message_size(core.settings.max_message_size);
        if let Some(live) = core.state.kept_from.take() {
            // What was written before the answer came follows now.
            core.state.replay = Some(Replay { next: live, end: live.previous(), gap_from: None, live });
        }
        let (next_in, next_out) = (core.state.next_in, core.state.next_out);
        if reset {
            self.tell(&Event::SequenceChanged { next_in, next_out, reason: "reset at logon" });
        }
        self.tell(&Event::LoggedOn);
        // A Logon that came too high is answered first, then the gap is asked for (1S-a).
        if seq > next_in { self.ask_for_gap(seq, false, false) } else { Ok(()) }
    }

    fn logon_too_low(
        &mut self,
        header: &Header<'_>,
        seq: SeqNum,
        message: &Message<'_>,
        expected: SeqNum,
    ) -> Option<Result<(), Stop>> {
        if seq >= expected || header.poss_dup {
            return None;
        }
        let text = format!("MsgSeqNum too low, expecting {expected} but received {seq}");
        Some(self.misbehaved(&text, Some(seq), message, Misbehaviour::MsgSeqNumTooLow))
    }

    /// The answer to our Logon.
    fn logon_answered(
        &mut self,
        header: &Header<'_>,
        seq: SeqNum,
        message: &Message<'_>,
        reset: bool,
    ) -> Result<(), Stop> {
        let asked = self.core().state.reset_asked;
        if asked && (!reset || seq != SeqNum::ONE) {
            let text = "the answer to ResetSeqNumFlag=Y does not reset";
            return self.refuse_logon(header, seq, message, Refusal::invalid(text));
        }
        if !asked {
            if reset {
                let text = "ResetSeqNumFlag=Y in the answer to a Logon that did not ask for it";
                return self.refuse_logon(header, seq, message, Refusal::invalid(text));
            }
            let expected = self.core().state.next_in;
            if let Some(result) = self.logon_too_low(header, seq, message, expected) {
                return result;
            }
        }
        let proposed = self.core().settings.heart_bt_int;
        self.take(header, seq, message, |scene| {
            scene.adopt(message);
            scene.core().state.reset_asked = false;
            Ok(())
        })?;
        let agreed = self.core().state.heart_bt_int;
        if agreed != proposed {
            let note =
                format!("HeartBtInt is {agreed} s, as the counterparty wants it; we proposed {proposed} s");
            self.tell(&Event::Note(&note));
        }
        self.logged_on(seq, asked)
    }

    /// A Logon in a session that is logged on: a reset by agreement (141=Y, 34=1), or an error.
    pub(crate) fn logon_again(
        &mut self,
        header: &Header<'_>,
        seq: SeqNum,
        message: &Message<'_>,
    ) -> Result<(), Stop> {
        if header.poss_dup {
            return self.accept(header, seq, message);
        }
        if self.core().is_quickfix() {
            self.close(SessionEnd::PeerMisbehaved(Misbehaviour::DuplicateLogon));
            return Err(Stop);
        }
        let text = "Logon in a session that is logged on";
        self.misbehaved(text, Some(seq), message, Misbehaviour::DuplicateLogon)
    }

    /// Logon with ResetSeqNumFlag=Y in a live session (24-hour reset): both start at 1, we answer alike.
    pub(crate) fn reset_in_session(
        &mut self,
        header: &Header<'_>,
        seq: SeqNum,
        message: &Message<'_>,
    ) -> Result<(), Stop> {
        if let Err(refusal) = self.check_logon(seq, message) {
            return self.refuse_logon(header, seq, message, refusal);
        }
        self.turn(|scene| {
            if scene.core().state.reset_asked {
                scene.core().advance();
                scene.core().state.reset_asked = false;
                scene.record(seq, message, header.flags)
            } else {
                scene.establish(header, seq, message, true, true)
            }
        })?;
        self.tell_numbers("reset in the session");
        Ok(())
    }

    /// The counterparty logs out, or answers our Logout.
    pub(crate) fn logout_received(
        &mut self,
        header: &Header<'_>,
        seq: SeqNum,
        message: &Message<'_>,
    ) -> Result<(), Stop> {
        if header.poss_dup {
            return self.accept(header, seq, message);
        }
        if self.core().state.phase == Phase::LogoutSent {
            self.take(header, seq, message, |scene| scene.reset_after_logout())?;
            self.tell_reset_after_logout();
            let end = self.core().leaving.take().unwrap_or(SessionEnd::LoggedOutByUs);
            self.close(end);
            return Err(Stop);
        }
        self.take(header, seq, message, |_| Ok(()))?;
        self.core().state.logout_waits = None;
        self.answer_logout(Some(seq))
    }

    /// Answers a Logout. The side that began closes the connection; we do after a while (13b), QuickFIX at once.
    pub(crate) fn answer_logout(&mut self, cause: Option<SeqNum>) -> Result<(), Stop> {
        let (now, quickfix) = (self.now, self.core().is_quickfix());
        self.turn(|scene| {
            if scene.core().settings.reset_on_logout {
                // Numbers of before mean nothing behind the reset.
                scene.core().state.replay = None;
            }
            scene.logout("", cause)?;
            let state = &mut scene.core().state;
            state.phase = Phase::LogoutAnswered;
            state.phase_deadline = Some(now.mono + PEER_CLOSES_WITHIN);
            scene.reset_after_logout()
        })?;
        self.tell_reset_after_logout();
        if quickfix {
            self.close(SessionEnd::LoggedOutByPeer);
        }
        Err(Stop)
    }

    fn reset_after_logout(&mut self) -> Result<(), SendError> {
        if self.core().settings.reset_on_logout { self.reset("ResetOnLogout") } else { Ok(()) }
    }

    fn tell_reset_after_logout(&mut self) {
        if self.core().settings.reset_on_logout {
            self.tell_numbers("ResetOnLogout");
        }
    }

    /// We log out: Logout, then wait for the answer.
    pub(crate) fn log_out(&mut self, text: &str) -> Result<(), SendError> {
        let now = self.now;
        match self.core().state.phase {
            Phase::LoggedOn => {}
            Phase::Disconnected => return Err(SendError::NotLoggedOn),
            // Nothing was agreed yet, or the end is under way.
            Phase::AwaitingLogon | Phase::LogonSent => {
                self.close(SessionEnd::LoggedOutByUs);
                return Ok(());
            }
            Phase::LogoutSent | Phase::LogoutAnswered => return Ok(()),
        }
        self.begin();
        match self.logout(text, None) {
            Ok(_) => {
                let core = self.core();
                core.state.phase = Phase::LogoutSent;
                core.state.phase_deadline = Some(now.mono + core.settings.logout_timeout);
                // What fails here halts the session, which the caller sees.
                let _ = self.commit();
                Ok(())
            }
            Err(error) => {
                self.abandon(error.clone());
                Err(error)
            }
        }
    }
}

/// Every message of the session layer must fit into what the counterparty takes.
const SMALLEST_MAX_MESSAGE_SIZE: u64 = 512;
/// A day: nobody means more.
const HEART_BT_INT_MAX: u32 = 86_400;

fn missing(tag: &'static [u8], text: &str) -> Refusal<'static> {
    let reject = Reject { reason: 1, tag: Some(tag), text: "Required tag missing" };
    Refusal { reject: Some(reject), ..Refusal::invalid(text) }
}
