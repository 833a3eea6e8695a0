//! What the counterparty does with what it receives.

use super::super::text::{self, SECOND, Text};
use super::{
    Asked, Counterparty, Interleave, Job, LOGOUT_TIMEOUT, LogoutAnswer, Moment, NEVER, Phase, Resetting,
};
use fixbolt_codec::Version;

impl Counterparty {
    /// Returns whether it processes what it receives: it is connected, does not want to close, and
    /// is not silent on purpose.
    pub(in super::super) fn listens(&self) -> bool {
        self.phase != Phase::Down && !self.closing && !self.attacks.is_mute()
    }

    /// Processes a whole message, or what is left of one.
    pub(in super::super) fn receive(&mut self, now: Moment, bytes: Vec<u8>) {
        if !self.listens() {
            return;
        }
        let Some(message) = Text::read(bytes) else { return };
        if let Some(why) = self.illegal(&message) {
            let why = format!("{why}: {}", text::readable(&message.bytes));
            self.complaint.get_or_insert(why);
            return;
        }
        self.last_received = now.mono;
        if self.resetting == Some(Resetting::LogonSent) && message.msg_type() != b"A" {
            return;
        }
        if message.msg_type() == b"A" {
            return self.logon(now, &message);
        }
        match self.phase {
            Phase::AwaitingLogon | Phase::LogonSent => {
                // A Logout refuses the Logon; anything else can only come if the Logon was lost.
                self.logouts_received += u64::from(message.msg_type() == b"5");
                self.closing = true;
            }
            _ => self.sequenced(now, message),
        }
    }

    /// Returns why no session may send this.
    fn illegal(&self, message: &Text) -> Option<&'static str> {
        let right = message.get(8) == Some(self.dialect.begin_string().as_bytes())
            && message.get(49) == Some(self.other.as_bytes())
            && message.get(56) == Some(self.own.as_bytes());
        if !right {
            return Some("BeginString or CompIDs are not the session's");
        }
        if message.number(34).is_none_or(|seq| seq == 0) || message.get(52).is_none() {
            return Some("no MsgSeqNum or no SendingTime");
        }
        if message.is_yes(43) && message.get(122).is_none() && self.dialect.since(Version::Fix42) {
            return Some("PossDupFlag=Y without OrigSendingTime");
        }
        let missing = |tags: &[u32]| tags.iter().any(|tag| message.get(*tag).is_none());
        match message.msg_type() {
            b"A" if missing(&[98, 108]) => Some("a Logon without 98 or 108"),
            b"1" if missing(&[112]) => Some("a TestRequest without TestReqID"),
            b"2" if missing(&[7, 16]) || message.number(7) == Some(0) => {
                Some("a ResendRequest without a range")
            }
            b"4" if missing(&[36]) => Some("a SequenceReset without NewSeqNo"),
            b"4" if message.number(36) <= message.number(34) => Some("a SequenceReset to a lower number"),
            b"A" | b"2" | b"1" | b"0" | b"5" if message.is_yes(43) => {
                Some("a message of the session layer was sent again")
            }
            _ => None,
        }
    }

    fn logon(&mut self, now: Moment, logon: &Text) {
        let (seq, resets) = (logon.seq(), logon.is_yes(141));
        if resets && seq != 1 {
            self.complaint.get_or_insert(format!("ResetSeqNumFlag=Y with MsgSeqNum {seq}"));
        }
        match (self.phase, self.resetting) {
            (Phase::AwaitingLogon, _) => {
                self.heart = logon.number(108).unwrap_or(30) * SECOND;
                if resets {
                    self.reset();
                    self.followed += 1;
                } else if seq < self.next_in {
                    let expected = self.next_in;
                    return self
                        .refuse(now, format!("MsgSeqNum too low, expecting {expected} but received {seq}"));
                }
                let own = self.next_out;
                let expected = if seq == self.next_in { seq + 1 } else { self.next_in };
                self.send_logon(now, resets, expected);
                self.established(now, logon, own);
            }
            (Phase::LogonSent, _) | (Phase::LoggedOn, Some(Resetting::LogonSent)) => {
                if self.reset_asked != resets && (self.reset_asked || self.resetting.is_some()) {
                    self.complaint.get_or_insert("a Logon with 141=Y is answered by one without".to_owned());
                }
                if resets && !self.reset_asked {
                    self.complaint
                        .get_or_insert("a Logon without 141=Y is answered by one with it".to_owned());
                }
                if seq < self.next_in {
                    let expected = self.next_in;
                    return self
                        .refuse(now, format!("MsgSeqNum too low, expecting {expected} but received {seq}"));
                }
                self.resetting = None;
                self.reset_next = false;
                let own = self.next_out - 1;
                self.established(now, logon, own);
            }
            (Phase::LoggedOn | Phase::LogoutSent, _) if resets => {
                let leaving = self.phase == Phase::LogoutSent;
                self.reset();
                self.followed += 1;
                self.resetting = None;
                self.next_in = 2;
                self.heart = logon.number(108).unwrap_or(30) * SECOND;
                if !leaving {
                    self.send_logon(now, true, 2);
                }
            }
            (Phase::LoggedOn, _) => {
                self.complaint.get_or_insert("a second Logon without 141=Y".to_owned());
            }
            _ => {}
        }
    }

    /// The Logons were exchanged; `own` is the number of ours.
    fn established(&mut self, now: Moment, logon: &Text, own: u64) {
        self.phase = Phase::LoggedOn;
        self.deadline = NEVER;
        self.next_order = now.mono + self.random.within(0, self.habits.order_interval * 2);
        self.next_poke = now.mono + self.random.within(0, self.habits.poke_interval * 2);
        let seq = logon.seq();
        if seq == self.next_in {
            self.next_in += 1;
        }
        if let Some(expected) = logon.number(789) {
            let both = expected < own + u64::from(self.connects) && seq > self.next_in;
            self.expected += u64::from(both && self.sent_789);
            if expected > own + u64::from(self.connects) {
                let why = format!(
                    "Tag 789 (NextExpectedMsgSeqNum) is higher than expected. Expected {own}, Received {expected}"
                );
                return self.refuse(now, why);
            }
            if expected < own + u64::from(self.connects) {
                self.replay(now, expected, own);
            }
        }
        if seq > self.next_in {
            self.kept.insert(seq, logon.clone());
            if logon.get(789).is_some() && self.sent_789 {
                self.asked = Some(Asked { begin: self.next_in, end: seq - 1, to: seq - 1, at: now.mono });
            } else {
                self.ask(now, seq - 1);
            }
        }
    }

    /// A message that is not a Logon, once logged on.
    fn sequenced(&mut self, now: Moment, message: Text) {
        let seq = message.seq();
        let is_reset = message.msg_type() == b"4" && !message.is_yes(123);
        if is_reset {
            self.next_in = self.next_in.max(message.number(36).unwrap_or(0));
            return self.drain(now);
        }
        if seq < self.next_in {
            if !message.is_yes(43) {
                let expected = self.next_in;
                return self
                    .refuse(now, format!("MsgSeqNum too low, expecting {expected} but received {seq}"));
            }
            let fills_to = if message.msg_type() == b"4" { message.number(36).unwrap_or(0) } else { 0 };
            if self.asked.is_some_and(|asked| asked.end + 1 >= fills_to) && fills_to > self.next_in {
                self.next_in = fills_to;
                self.drain(now);
            }
            return;
        }
        if seq > self.next_in {
            // A request is answered before its turn, so that two that ask each other go on.
            let is_new = !message.is_yes(43);
            if message.msg_type() == b"2" && is_new {
                self.resend_request(now, &message);
            }
            if message.msg_type() == b"5" && is_new {
                self.logout_waits = Some(seq);
            }
            if message.msg_type() == b"3" && is_new {
                self.note_refusal(&message);
            }
            self.kept.insert(seq, message);
            let open = self
                .asked
                .filter(|asked| self.part.is_none_or(|part| asked.to - asked.begin < part))
                .filter(|asked| asked.begin == self.next_in || now.mono < asked.at + self.habits.patience);
            if open.is_none() || self.habits.redundant_requests && is_new {
                self.ask(now, seq - 1);
            }
            return;
        }
        self.process(now, &message);
        self.drain(now);
    }

    /// Processes what was kept, as far as it follows.
    fn drain(&mut self, now: Moment) {
        while let Some((seq, message)) = self.kept.pop_first() {
            if seq > self.next_in {
                self.kept.insert(seq, message);
                break;
            }
            if seq == self.next_in {
                // These were acted on when they came, or are when the gap is filled.
                if matches!(message.msg_type(), b"2" | b"A" | b"5") {
                    self.next_in += 1;
                } else {
                    self.process(now, &message);
                }
            }
        }
        if self.logout_waits.is_some_and(|seq| seq < self.next_in) {
            self.logout_waits = None;
            self.logout(now);
        }
        if self.kept.is_empty() {
            self.asked = None;
        } else if let Some(asked) = &mut self.asked
            && asked.begin < self.next_in
        {
            // It is coming.
            (asked.begin, asked.at) = (self.next_in, now.mono);
            if let (true, Some((first, _))) = (asked.to < self.next_in, self.kept.first_key_value()) {
                let end = first - 1;
                self.ask(now, end);
            }
        }
    }

    /// Processes the message with the expected number.
    fn process(&mut self, now: Moment, message: &Text) {
        self.next_in += 1;
        let again = message.is_yes(43);
        match message.msg_type() {
            b"0" if !again => {
                if let Some((id, _)) = self.test
                    && message.get(112) == Some(format!("T{id}").as_bytes())
                {
                    self.test = None;
                    if self.resetting == Some(Resetting::Testing) {
                        self.send_reset(now);
                    }
                }
            }
            b"1" if !again => {
                let mut body = b"112=".to_vec();
                body.extend_from_slice(message.get(112).unwrap_or_default());
                body.push(1);
                self.jobs.push((now.mono + self.habits.test_delay, Job::Heartbeat(body)));
            }
            b"2" if !again => self.resend_request(now, message),
            b"3" | b"j" => {
                self.note_refusal(message);
                self.rejects += 1;
                let refused = message.number(45);
                self.attacks.wrong.retain(|wrong| Some(wrong.seq) != refused);
            }
            b"4" => self.next_in = message.number(36).unwrap_or(self.next_in),
            b"5" if !again => self.logout(now),
            b"0" | b"1" | b"2" | b"5" => {}
            _ => match message.number(11) {
                Some(id) => self.received.push(id),
                None => {
                    self.complaint.get_or_insert(format!("no ID: {}", text::readable(&message.bytes)));
                }
            },
        }
    }

    /// If its request was for too much, it asks for less from now on. Otherwise it asks again when
    /// it has waited for an answer.
    fn note_refusal(&mut self, reject: &Text) {
        let text = reject.get(58).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default();
        let most = text.split_once(", and at most ").and_then(|(_, rest)| {
            let (most, _) = rest.split_once(" are sent again at once")?;
            most.parse().ok()
        });
        self.part = most.or(self.part);
    }

    fn resend_request(&mut self, now: Moment, request: &Text) {
        self.requests += 1;
        let (begin, end) = (request.number(7).unwrap_or(0), request.number(16).unwrap_or(0));
        if begin >= self.next_out || end != 0 && end < begin {
            // Its numbers were reset meanwhile.
            let body = format!("45={}\x0158=there are no such messages\x01", request.seq());
            self.send(now, "3", body.into_bytes(), None, false);
            return;
        }
        let last = self.next_out - 1;
        let end = if end == 0 || end == 999_999 { last } else { end.min(last) };
        if self.habits.interleave == Interleave::Before && self.active {
            for _ in 0..self.random.within(0, 3) {
                self.order(now);
            }
        }
        self.replay(now, begin, end);
    }

    fn logout(&mut self, now: Moment) {
        self.logouts_received += 1;
        match self.phase {
            Phase::LogoutSent => self.closing = true,
            Phase::LoggedOn => match self.habits.logout_answer {
                LogoutAnswer::AtOnce => self.answer_logout(now),
                LogoutAnswer::Late(delay) => self.jobs.push((now.mono + delay, Job::AnswerLogout)),
                LogoutAnswer::Never => {
                    self.left = true;
                    self.phase = Phase::LogoutAnswered;
                    self.deadline = now.mono + LOGOUT_TIMEOUT;
                }
            },
            _ => {}
        }
    }
}
