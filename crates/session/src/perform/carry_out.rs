//! The one place where decisions about messages are carried out: sequence numbers, records,
//! answers, and the next phase of the session.

use std::borrow::Cow;
use std::sync::Arc;

use fixbolt_codec::{Framed, Message, Place, SeqNum};
use fixbolt_dictionary::{Direction, SessionRejectCode, Violation};

use crate::api::application::LogonDecision;
use crate::decide::answers;
use crate::decide::check::Checker;
use crate::decide::gaps::{self, Ahead, GapStep, Progress};
use crate::decide::inbound;
use crate::decide::logon;
use crate::decide::reaction::{
    Agreed, Answer, Counts, Decision, LogOut, NumberUse, Parting, Reaction, SessionReaction, Then, Told,
    TooHigh,
};
use crate::events::end::{Misbehavior, SessionEnd};
use crate::events::error::SendError;
use crate::events::event::Event;
use crate::perform::call::Call;
use crate::send::seal::SendKind;
use crate::settings::behavior::{AfterLogout, SendingAfterGap};
use crate::state::missing::Missing;
use crate::state::phase::{Held, Leave, PhaseState};
use crate::state::reading::BlockedBy;
use crate::state::session::Session;
use crate::state::throttling::Requested;
use crate::state::timers::PEER_CLOSES_WITHIN;
use crate::state::{Phase, ResetStage};
use crate::store::RecordKind;
use crate::values::fix::{YES, msg_type, tag};
use crate::values::time::Mono;
use crate::wire::admin_message::{AdminMessage, Reject};
use crate::wire::header::Header;
use crate::wire::oversized::OversizedHeader;

/// What is told of a message whose number no longer applies.
const BEFORE_RESET: &str = "a message is not processed: the counterparty sent it before it answered the reset of the sequence numbers";

/// The reason that is recorded when a Logon's sequence number is too low and tolerated.
const LOWERED: &str = "MsgSeqNum of the Logon is too low, which TolerateLowMsgSeqNumAtLogon allows";

impl Session {
    /// Runs a decision with a checker that borrows the validators' memory. Returns it, and what the
    /// session's policy only warns of.
    fn decide<'m, R>(
        &mut self,
        places: Option<&'m mut Vec<Place>>,
        decide: impl FnOnce(&Self, &mut Checker<'_, 'm>) -> R,
    ) -> (R, Vec<Violation<'m>>) {
        let mut scratch = self.tools.scratch.take();
        let mut checker = Checker::new(scratch.as_deref_mut(), places);
        let decision = decide(self, &mut checker);
        let warned = checker.warned;
        self.tools.scratch = scratch;
        (decision, warned)
    }
}

impl Call<'_> {
    /// Processes one message of the counterparty, complete and with the right checksum.
    /// `is_reordered` says whether it comes from the reorder buffer. Returns what it counts for.
    pub(crate) fn process<'m>(
        &mut self,
        framed: Framed<'_>,
        mut message: Message<'m>,
        is_reordered: bool,
        places: &'m mut Vec<Place>,
    ) -> Counts {
        places.clear();
        let now = self.now;
        let session = self.session_mut();
        let shape = session.tools.shapes.of(&message, &session.fixed.secret_tags);
        let header = Header::read(&message, &shape, &mut session.tools.second);
        // A message that was offered or buffered before has already counted as a sign of life.
        let is_new = !is_reordered && !session.intake.reading.offered;
        if let Some(connection) = &mut session.state.connection
            && is_new
        {
            connection.hear(now.mono);
            if session.intake.reading.backlog.is_some()
                && let (Some(sent), Some(threshold)) =
                    (header.sent, session.fixed.settings.timing.max_latency)
            {
                session.intake.note_sent(sent, now.utc, threshold);
            }
        }
        let (decision, warned) = session.decide(Some(places), |session, checker| {
            inbound::decide(session, &header, &mut message, checker, is_reordered, now)
        });
        session.decoded();
        if !warned.is_empty() {
            self.tell_warned(&header, &message, warned);
        }
        let counts = decision.counts();
        let resent = header.seq.filter(|_| header.poss_dup && !is_reordered);
        if let Some(seq) = resent.filter(|_| is_new) {
            self.with_missing(|gap| gap.sent_again(seq, now.mono));
        }
        self.carry_out(&header, framed, &message, decision);
        if let Some(seq) = resent {
            self.with_missing(|gap| gap.requested_after(seq));
        }
        counts
    }

    /// Notifies the application of violations that the policy only warns of, once for each message.
    // R-REJECT-19
    #[cold]
    fn tell_warned<'m>(&mut self, header: &Header<'_>, message: &Message<'m>, warned: Vec<Violation<'m>>) {
        let Some(seq) = header.seq else { return };
        let session = self.session_mut();
        let reading = &session.intake.reading;
        let may_be_again = reading.offered || reading.reordered.is_some();
        let is_offered_again = may_be_again && reading.warned_of == Some(seq);
        // A new Logout or ResendRequest from after a gap was checked when it arrived, and acted
        // then.
        let has_acted = reading.reordered.is_some()
            && [msg_type::LOGOUT, msg_type::RESEND_REQUEST].contains(&message.msg_type())
            && message.get(tag::POSS_DUP_FLAG) != Some(YES);
        if is_offered_again || has_acted {
            return;
        }
        session.intake.note_warned(seq);
        for violation in warned {
            self.notify(&Event::Warned { seq, violation });
        }
    }

    fn carry_out<'m>(
        &mut self,
        header: &Header<'m>,
        framed: Framed<'_>,
        message: &Message<'m>,
        decision: Decision<'m>,
    ) {
        let Decision { reaction, requested } = decision;
        let now = self.now.mono;
        if let Some(requested @ Requested::SessionLayer) = requested {
            self.session_mut().count_requested(requested, now);
        }
        let mut answer = match reaction {
            Reaction::Deliver => {
                let Some(seq) = header.seq else { return };
                if !self.deliver(header, seq, *message, requested.is_some()) {
                    return;
                }
                if let Some(requested) = requested {
                    self.session_mut().count_requested(requested, now);
                }
                return self.progress(false);
            }
            Reaction::Ignore => return,
            Reaction::IgnoreDuplicate(seq) => return self.notify(&Event::DuplicateIgnored { seq }),
            Reaction::IgnoreBeforeReset => return self.notify(&Event::Note(BEFORE_RESET)),
            Reaction::TooHigh(action) => return self.too_high(header, framed, message, action),
            Reaction::Wait(until) => {
                let Some(seq) = header.seq else { return };
                return self.leave_unread(seq, BlockedBy::Pace, Some(until));
            }
            Reaction::Authenticate => match self.authenticate(header, *message) {
                Some(Reaction::Answer(answer)) => *answer,
                Some(reaction) => return self.carry_out(header, framed, message, reaction.into()),
                None => return,
            },
            Reaction::Take => Answer::take(),
            Reaction::Beat(id) => Answer::reply(AdminMessage::Heartbeat { id: Some(id) }),
            Reaction::MoveTo(new) => Answer { number: NumberUse::MovesTo(new), ..Answer::take() },
            Reaction::Replay { begin, end } => Answer::replay(begin, end),
            Reaction::Answer(answer) => *answer,
            Reaction::Session(reaction) => return self.react(reaction),
        };
        // Hardly any message requests others.
        if matches!(answer.then, Then::Replay { .. } | Then::LoggedOn(_))
            && !self.decide_request(header, &mut answer)
        {
            return;
        }
        let is_gap_fill = matches!(answer.number, NumberUse::MovesTo(_));
        let is_heartbeat = header.msg_type == msg_type::HEARTBEAT && answer.reply.is_none();
        let logs_out = matches!(answer.then, Then::AnswerLogout { .. });
        self.answer(header, message, answer);
        if !logs_out && self.goes_on() {
            self.progress(is_gap_fill);
        }
        if is_heartbeat && self.goes_on() {
            self.tested(message);
        }
    }

    /// Stops reading at the message that is expected next, until `until` at the latest, if there is
    /// such a time. It has come, though: what was withheld until then follows, and may make room
    /// for its answer. Once our Logout is sent there may be no time left, and its answer is among
    /// what is unread: then this message and those after it do not use their numbers.
    // R-LOGON-21, R-LOGOUT-13
    #[cold]
    pub(crate) fn leave_unread(&mut self, seq: SeqNum, by: BlockedBy, until: Option<Mono>) {
        if self.session().state.holds() {
            self.react(SessionReaction::Release);
        }
        let now = self.now.mono;
        let session = self.session_mut();
        if session.leaves_rest_at(by).is_none_or(|at| at > now) {
            return self.wait_until(by, until);
        }
        let loses_rest = session.loses_rest();
        session.intake.leave_rest();
        // Nothing of it is processed any more.
        session.intake.forget_reordered();
        let has_come = session.state.connection.as_ref().is_some_and(|it| it.logon.logout_waits.is_some());
        let why = match by {
            BlockedBy::Pace => "they were requested, and come too fast for the logout",
            BlockedBy::Application => "the application puts them off, and there is no time before the logout",
            BlockedBy::Outbox | BlockedBy::OtherSession => {
                "there is no room for their answers before the logout"
            }
        };
        let fate = if loses_rest {
            "are lost, because the sequence numbers are reset"
        } else {
            "are left for the next connection"
        };
        let note = format!("message {seq} and those after it {fate}: {why}");
        self.notify(&Event::Note(&note));
        // A Logout of the counterparty that has waited for the message answers ours. R-LOGOUT-10
        if has_come && self.goes_on() {
            self.take_as_answer();
        }
    }

    /// Asks the application about the Logon, and decides with its answer and the dictionary. A
    /// counterparty that is not authenticated learns nothing about what else is wrong. Returns
    /// nothing if the application has ended the connection.
    // R-LOGON-6
    fn authenticate<'m>(&mut self, header: &Header<'m>, message: Message<'m>) -> Option<Reaction<'m>> {
        let reaction = match self.ask("on_logon", |app, turn| app.on_logon(message, turn))? {
            LogonDecision::RefuseSilently => logon::refused_by_application(header.seq, None),
            LogonDecision::Refuse { text } => logon::refused_by_application(header.seq, Some(text)),
            LogonDecision::Accept => {
                let now = self.now;
                let (reaction, warned) = self
                    .session_mut()
                    .decide(None, |session, checker| logon::decide(session, header, &message, checker, now));
                if !warned.is_empty() {
                    self.tell_warned(header, &message, warned);
                }
                reaction
            }
        };
        // A stranger must not fill the journal with our Logouts. R-LOGON-8
        let now = self.now.mono;
        let is_silent = reaction.logs_out() && !self.session_mut().limits.answer_refused(now);
        Some(if is_silent { reaction.without_logout() } else { reaction })
    }

    /// Records the message and acts on it in one transaction.
    // R-SEQ-3
    fn answer(&mut self, header: &Header<'_>, message: &Message<'_>, answer: Answer<'_>) {
        let Answer { reset, number, mut reply, mut then, told } = answer;
        let seq = header.seq.unwrap_or(SeqNum::ZERO);
        if let (Then::GoOn, Some(AdminMessage::Reject { seq, reject, .. })) = (&then, &reply) {
            then = after_reject(self.session(), *seq, reject.text.clone());
        }
        // A Reject has an event of its own, which says the same.
        let refused = match &then {
            Then::LogOut(LogOut {
                end: SessionEnd::PeerMisbehaved(Misbehavior::InvalidLogon(_)),
                text,
                ..
            }) if reply.is_none() => Some(format!("the Logon is refused: {text}")),
            _ => None,
        };
        if let Some(reply) = &mut reply
            && !self.complete_logon(reply, reset.is_some())
        {
            return;
        }
        let is_committed = self.run(|call| {
            if let Some(why) = reset {
                call.reset(why)?;
            }
            if let Then::LoggedOn(agreed) = &then {
                call.adopt(*agreed);
                // That its default version is supported has been checked.
                let session = call.session_mut();
                if let Some(named) = session.dictionaries().read_logon(message, Direction::Inbound) {
                    session.state.versions = Some(named);
                }
                if agreed.lowered_from.is_some() {
                    let stored = &mut call.session_mut().state.stored;
                    (stored.next_in, stored.attempts) = (seq, 0);
                    call.record_change(RecordKind::Adjust, LOWERED)?;
                }
            }
            let state = &mut call.session_mut().state;
            match number {
                NumberUse::WhenDue if header.seq == Some(state.stored.next_in) => state.advance(),
                NumberUse::WhenDue | NumberUse::Kept => {}
                NumberUse::MovesTo(new) => {
                    state.stored.next_in = new;
                    state.stored.attempts = 0;
                }
                NumberUse::RestartsAt(new) => state.restart_inbound(new),
            }
            call.record(seq, header, message)?;
            if let Some(reply) = &reply {
                call.send(SendKind::New { cause: header.seq }, Some(message), reply)?;
            }
            call.follow_up(&mut then)
        });
        if !is_committed {
            return;
        }
        // A replay may have begun, or ended.
        self.tell_horizon();
        if let Some(reply) = &reply {
            self.notify_rejected(reply);
        }
        match told {
            Told::Nothing => {}
            Told::Event(event) => self.notify(&event),
            Told::Note(note) => self.notify(&Event::Note(&note)),
        }
        if let Some(refused) = refused {
            self.notify(&Event::Note(&refused));
        }
        // A Logon that is accepted tells of its reset itself.
        if let Some(why) = reset
            && !matches!(then, Then::LoggedOn(_))
        {
            self.notify_numbers(why);
        }
        match then {
            Then::GoOn | Then::Pardon | Then::LogOut(_) => {}
            // The call that reads goes on with the replay: it is as much as one call may do.
            Then::Replay { gap_fills, .. } => {
                self.session_mut().intake.end_call();
                if gap_fills {
                    self.tell_gap_filled();
                }
                self.fill_at_once();
            }
            Then::AnswerLogout { .. } => self.logout_answered(),
            Then::LoggedOut => self.logged_out(),
            Then::LoggedOn(agreed) => self.logged_on(seq, agreed),
            Then::Crossed(end) => {
                let session = self.session_mut();
                session.standing.note_crossed(session.state.stored.generation);
                if session.intake.reading.leaves_rest && !session.loses_rest() {
                    self.notify(&Event::Note(
                        "what was left for the next connection is lost: the counterparty has reset the sequence numbers",
                    ));
                }
                self.react(SessionReaction::close(end));
            }
            Then::Close(end) => self.react(SessionReaction::close(end)),
        }
    }
}

/// Returns what follows a Reject of ours.
// R-REJECT-20
fn after_reject<'m>(session: &Session, seq: SeqNum, text: Cow<'m, str>) -> Then<'m> {
    if !session.fixed.settings.validation.disconnect_on_error && !session.fixed.settings.reset.reset_on_error
    {
        return Then::GoOn;
    }
    let end = SessionEnd::PeerMisbehaved(Misbehavior::InvalidMessage { seq });
    Then::LogOut(LogOut { text, cause: Some(seq), end, parting: Parting::AwaitAnswer })
}

impl Call<'_> {
    /// Adds what belongs to the transaction of a message besides its answer.
    fn follow_up(&mut self, then: &mut Then<'_>) -> Result<(), SendError> {
        match then {
            Then::GoOn | Then::Pardon | Then::Close(_) => Ok(()),
            Then::Crossed(_) => {
                // Some counterparties count our Logout after their reset. One that does not
                // requests what it misses, which is a gap fill.
                let session = self.session_mut();
                session.state.stored.next_out = SeqNum(2);
                self.record_change(RecordKind::Adjust, logon::CROSSED)
            }
            Then::LoggedOn(agreed) => {
                if let Some(begin) = agreed.replay_from
                    && let Some(ours) = self.connection_mut().and_then(|connection| connection.logon.ours)
                {
                    self.begin_replay(begin, ours, agreed.gap_fills);
                }
                Ok(())
            }
            Then::LogOut(LogOut { text, cause, end, parting }) => {
                let text = core::mem::take(text);
                self.log_out(text, *cause, end.clone(), *parting)
            }
            Then::Replay { begin, end, gap_fills } => {
                self.begin_replay(*begin, *end, *gap_fills);
                Ok(())
            }
            Then::AnswerLogout { cause, end } => self.answer_logout(*cause, end.take()),
            Then::LoggedOut => self.reset_after_logout(),
        }
    }

    /// Answers a Logout in the open transaction. The side that sent the first Logout closes the
    /// connection. `end` is how it ends if this is not an ordinary logout.
    // R-LOGOUT-3
    fn answer_logout(&mut self, cause: Option<SeqNum>, end: Option<SessionEnd>) -> Result<(), SendError> {
        let until = self.now.mono + PEER_CLOSES_WITHIN;
        let session = self.session();
        // Sequence numbers from before the reset no longer apply; and a connection that is closed
        // at once has no time for a replay, which our Logout would have to wait for.
        let ends_replay = session.fixed.settings.reset.reset_on_logout
            || session.fixed.behavior.after_logout == AfterLogout::Close;
        // The Logout that waits for the replay serves as the answer. R-LOGOUT-10
        let on_its_way = session.state.phase() == Phase::LogoutSent && !ends_replay;
        let connection = session.state.connection.as_ref();
        let leave = connection.and_then(|connection| connection.logon.phase.leave()).cloned();
        let before = leave.as_ref().and_then(|leave| leave.end.clone());
        let end = end.map(Arc::new).or(before);
        self.session_mut().state.release();
        if let Some(connection) = self.connection_mut() {
            connection.logon.logout_waits = None;
            if ends_replay {
                connection.logon.backlog.replay = None;
            }
        }
        let leave = match leave {
            Some(leave) if on_its_way => Leave { end, ..leave },
            leave => {
                let logout = AdminMessage::Logout { text: Cow::Borrowed(""), status: None };
                let seq = Some(self.send(SendKind::New { cause }, None, &logout)?);
                match leave {
                    Some(leave) => Leave { seq, end, until: until.min(leave.until), ..leave },
                    None => Leave { until, seq, is_ours: false, end },
                }
            }
        };
        if let Some(connection) = self.connection_mut() {
            connection.logon.phase = PhaseState::LogoutAnswered(leave);
        }
        self.reset_after_logout()
    }

    /// After the answer to a Logout is committed, either the counterparty closes the connection or
    /// we do.
    fn logout_answered(&mut self) {
        self.notify_reset_after_logout();
        if self.session().fixed.behavior.after_logout == AfterLogout::Close {
            self.close_after_logout(SessionEnd::LoggedOutByPeer);
        }
    }

    /// Takes a Logout of the counterparty that had waited for the answer to ours.
    // R-LOGOUT-10
    fn take_as_answer(&mut self) {
        if self.run(Call::reset_after_logout) {
            self.logged_out();
        }
    }

    /// Called when our Logout was answered.
    fn logged_out(&mut self) {
        self.notify_reset_after_logout();
        self.close_after_logout(SessionEnd::LoggedOutByUs);
    }

    /// Closes the connection after both Logouts: because of what our Logout was sent for, or with
    /// `end` if that was an ordinary one.
    fn close_after_logout(&mut self, end: SessionEnd) {
        let connection = self.session().state.connection.as_ref();
        let leave = connection.and_then(|connection| connection.logon.phase.leave());
        let end = match leave {
            Some(leave) => leave.end_or(end),
            None => end,
        };
        self.react(SessionReaction::close(end));
    }

    // R-RESET-11
    fn reset_after_logout(&mut self) -> Result<(), SendError> {
        if self.session().fixed.settings.reset.reset_on_logout { self.reset("ResetOnLogout") } else { Ok(()) }
    }

    fn notify_reset_after_logout(&mut self) {
        if self.session().fixed.settings.reset.reset_on_logout {
            self.notify_numbers("ResetOnLogout");
        }
    }

    /// Adopts the parameters in the counterparty's Logon.
    fn adopt(&mut self, agreed: Agreed) {
        let state = &mut self.session_mut().state;
        let Some(connection) = &mut state.connection else { return };
        connection.heart_bt_int = agreed.heart_bt_int;
        connection.peer_max_message_size = u32::try_from(agreed.max_message_size).unwrap_or(u32::MAX);
        connection.resetting = None;
        connection.logged_on = true;
        // What was written between our Logon and its answer follows now.
        state.release();
        if let Some(connection) = &mut state.connection {
            connection.logon.phase = PhaseState::LoggedOn { held: None };
        }
    }

    /// Called once the exchange of Logons is committed.
    fn logged_on(&mut self, seq: SeqNum, agreed: Agreed) {
        if agreed.in_session {
            return self.notify_numbers("reset in the session");
        }
        let ours = self.connection_mut().and_then(|connection| connection.logon.ours);
        let session = self.session_mut();
        session.intake.accept_up_to(session.fixed.settings.limits.max_message_size);
        let next_in = session.state.stored.next_in;
        if agreed.reset {
            self.notify_numbers("reset at logon");
        }
        if let Some(expected) = agreed.lowered_from {
            self.session_mut().state.accepted_too_low = true;
            self.notify_numbers(LOWERED);
            let note = format!(
                "the counterparty's Logon has MsgSeqNum {seq}, and {expected} was expected: it may have lost its store"
            );
            self.notify(&Event::Note(&note));
        }
        // R-LOGON-20
        // A Logon whose sequence number is too high is answered first, then the gap is requested
        // (1S-a), and then the application may send (R-LOGON-21).
        let is_gap = seq > next_in;
        // Before anything else is written.
        let keeps_messages = self.session().fixed.keeps_messages;
        if !keeps_messages && agreed.replay_from.is_some() {
            if agreed.gap_fills {
                self.tell_gap_filled();
            }
            self.fill_at_once();
            if !self.goes_on() {
                return;
            }
        }
        let Some(holds) = (if is_gap { self.hold_back(seq, agreed) } else { Some(false) }) else { return };
        self.notify(&Event::LoggedOn);
        if let (Some(begin), Some(end)) = (agreed.replay_from, ours) {
            self.notify(&Event::ResendRequested { begin, end });
        }
        if is_gap && agreed.sends_what_we_miss {
            let note = format!(
                "message {seq} arrived, {next_in} was expected: the counterparty sends the missing ones by NextExpectedMsgSeqNum"
            );
            self.notify(&Event::Note(&note));
        } else if is_gap && holds {
            self.notify(&Event::GapDetected { expected: next_in, received: seq });
        } else if is_gap {
            self.ask_for_gap(Ahead::new(seq));
        }
        if agreed.replay_from.is_some() && self.goes_on() {
            self.session_mut().intake.end_call();
            if agreed.gap_fills && keeps_messages {
                self.tell_gap_filled();
            }
        }
    }

    /// Withholds application messages while messages are missing before the counterparty's Logon,
    /// if the session does that; they are requested before. Returns whether it does; `None` if they
    /// cannot be requested now.
    ///
    /// By NextExpectedMsgSeqNum (789) in both Logons the counterparty sends them unasked: they are
    /// requested only if they do not come (R-NEXT-5).
    // R-LOGON-21
    fn hold_back(&mut self, received: SeqNum, agreed: Agreed) -> Option<bool> {
        let session = self.session();
        let next_in = session.state.stored.next_in;
        let connection = session.state.connection.as_ref()?;
        let holds = session.fixed.keeps_messages
            && session.fixed.behavior.sending_after_logon_gap == SendingAfterGap::HeldBack;
        let now = self.now.mono;
        let until = now + gaps::patience(connection);
        if agreed.sends_what_we_miss {
            let gap = gaps::announced(session, received, now);
            if let Some(connection) = self.connection_mut() {
                connection.logon.missing = Some(gap);
            }
        } else if holds
            && let GapStep::Ask(gap) = gaps::step(session, connection, Ahead::new(received), now)
            && !self.request_missing(gap, received)
        {
            return None;
        }
        if holds
            && let Some(connection) = self.connection_mut()
            && let PhaseState::LoggedOn { held } = &mut connection.logon.phase
        {
            *held = Some(Held { at: next_in, until });
            self.tell_horizon();
        }
        Some(holds)
    }

    /// 11: the message waits until the gap before it is filled; the missing messages are requested.
    fn too_high(
        &mut self,
        header: &Header<'_>,
        framed: Framed<'_>,
        message: &Message<'_>,
        action: TooHigh<'_>,
    ) {
        let Some(seq) = header.seq else { return };
        let mut ask_again = action.ask_again;
        if let Some(mut first) = action.first {
            if !self.decide_request(header, &mut first) {
                return;
            }
            // Two sides that refuse each other's requests would ask and refuse without end.
            ask_again &= !matches!(first.then, Then::Pardon);
            self.answer(header, message, *first);
            if !self.goes_on() {
                return;
            }
            let Some(connection) = self.connection_mut() else { return };
            connection.logon.request_answered = Some(seq);
            if connection.logon.phase() == Phase::LogoutAnswered {
                return;
            }
        }
        let now = self.now.mono;
        let session = self.session_mut();
        if session.intake.reading.leaves_rest {
            return;
        }
        let (series, arrival) = (session.state.series(), session.arrival(now));
        if action.logs_out
            && let Some(connection) = &mut session.state.connection
        {
            connection.logon.logout_waits = Some(seq);
        }
        // R-GAP-1
        let is_kept = action.keep && session.intake.keep(series, seq, framed, arrival);
        if action.keep && !is_kept {
            self.notify(&Event::Note(
                "a message that arrived after a gap was dropped: the reorder buffer is full",
            ));
        }
        if action.logs_out {
            // The counterparty may close the connection before the gap is filled.
            self.notify(&answers::logout_received(message));
        }
        let is_request = header.msg_type == msg_type::RESEND_REQUEST;
        self.ask_for_gap(Ahead { seq, replayed: header.poss_dup, passed: ask_again, is_request });
        if action.keep && !is_kept && self.goes_on() {
            self.session_mut().note_dropped(seq);
        }
    }

    /// Rejects a message that is larger than the session accepts and was read past: its number is
    /// used, so that the counterparty does not send it again and again.
    // R-FRAME-9
    pub(crate) fn too_large(&mut self, header: OversizedHeader<'_>, size: usize) {
        let OversizedHeader { msg_type, seq, poss_dup } = header;
        // The sequence numbers before the answer to our reset no longer apply.
        if self.session().state.reset_stage() == Some(ResetStage::LogonSent) {
            return;
        }
        let session = self.session();
        let next_in = session.state.stored.next_in;
        let max_message_size = session.fixed.settings.limits.max_message_size;
        // R-LOGOUT-13
        if session.intake.reading.leaves_rest {
            return;
        }
        if seq > next_in {
            return self.ask_for_gap(Ahead { replayed: poss_dup, ..Ahead::new(seq) });
        }
        if seq < next_in {
            if !poss_dup {
                let Answer { mut then, .. } = answers::number_too_low(next_in, seq);
                self.run(|call| call.follow_up(&mut then));
            }
            return;
        }
        let why = format!("the message has {size} bytes, and at most {max_message_size} are accepted");
        self.reject_unread(seq, msg_type, &why, Some(&format!("message {seq} is rejected: {why}")));
    }

    /// Rejects a message that could not be read, so that none is recorded. `used` is the record of
    /// the use of its number, if that is used. If there is no room for the Reject, the message is
    /// ignored.
    pub(crate) fn reject_unread(&mut self, seq: SeqNum, msg_type: &[u8], text: &str, used: Option<&str>) {
        let reject = Reject { text: text.into(), ..Reject::of(SessionRejectCode::OTHER, None) };
        let reply = AdminMessage::Reject { seq, msg_type, reject };
        let mut then = after_reject(self.session(), seq, text.into());
        let sent = self.with_room(|call| {
            if let Some(used) = used {
                call.session_mut().state.advance();
                call.record_change(RecordKind::Adjust, used)?;
                call.session_mut().state.added.record(used.len());
            }
            call.send(SendKind::New { cause: Some(seq) }, None, &reply)?;
            call.follow_up(&mut then)
        });
        if !sent {
            return;
        }
        self.tell_horizon();
        self.notify_rejected(&reply);
        self.progress(false);
    }

    /// Requests the messages missing before `ahead`, once while the gap is open.
    fn ask_for_gap(&mut self, ahead: Ahead) {
        let session = self.session();
        let next_in = session.state.stored.next_in;
        let Some(connection) = &session.state.connection else { return };
        match gaps::step(session, connection, ahead, self.now.mono) {
            GapStep::Coming(gap) => {
                if let Some(connection) = self.connection_mut() {
                    connection.logon.missing = Some(gap);
                }
            }
            GapStep::GiveUp => {
                let times = connection.logon.missing.map_or(0, |gap| gap.asked);
                let text = if session.has_given_up() {
                    format!("MsgSeqNum {next_in} was asked for once more and never came")
                } else {
                    format!("MsgSeqNum {next_in} was asked for {times} times and never came")
                };
                let end = SessionEnd::PeerMisbehaved(Misbehavior::GapNeverFilled);
                self.session_mut().give_up();
                self.run(|call| call.log_out(text.into(), None, end, Parting::Close));
            }
            GapStep::Ask(gap) => {
                if self.request_missing(gap, ahead.seq) {
                    self.notify(&Event::GapDetected { expected: next_in, received: ahead.seq });
                }
            }
        }
    }

    /// Changes what is known of the messages that were requested.
    #[cold]
    fn with_missing(&mut self, change: impl FnOnce(&mut Missing)) {
        if let Some(gap) = self.connection_mut().and_then(|connection| connection.logon.missing.as_mut()) {
            change(gap);
        }
    }

    /// Requests the missing messages. Returns whether it could.
    fn request_missing(&mut self, gap: Missing, received: SeqNum) -> bool {
        self.run(|call| {
            if let Some(connection) = call.connection_mut() {
                connection.logon.missing = Some(gap);
            }
            let request = AdminMessage::ResendRequest { begin: gap.begin, end: gap.asked_to };
            call.send(SendKind::New { cause: Some(received) }, None, &request).map(drop)
        })
    }

    /// Called after NextNumIn has advanced, by a gap fill or by one: forgets a gap that is filled,
    /// answers a Logout that waited for it, and requests the next part of the gap, or the next gap.
    fn progress(&mut self, by_gap_fill: bool) {
        let now = self.now.mono;
        let mut session = self.session_mut();
        let next_in = session.state.stored.next_in;
        let Some(connection) = &mut session.state.connection else { return };
        if connection.logon.missing.is_some_and(|gap| next_in > gap.end) {
            connection.logon.missing = None;
        }
        if connection.logon.phase.held().is_some_and(|held| held.at != next_in) {
            session.state.release();
            self.tell_horizon();
            session = self.session_mut();
        }
        let Some(connection) = &session.state.connection else { return };
        if let Some(gap) = gaps::next_part(session, connection, by_gap_fill, now) {
            if !self.request_missing(gap, gap.end.next()) {
                return;
            }
            session = self.session_mut();
        }
        let Some(connection) = &session.state.connection else { return };
        match gaps::progress(session, connection) {
            Progress::Nothing => {}
            Progress::LoggedOut => self.take_as_answer(),
            Progress::AnswerLogout => {
                if self.run(|call| call.answer_logout(None, None)) {
                    self.logout_answered();
                }
            }
            Progress::Gap { ahead } => self.ask_for_gap(Ahead::new(ahead)),
        }
    }
}
