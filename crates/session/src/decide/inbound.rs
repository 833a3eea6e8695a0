//! Decides what to do about a message of the counterparty, with the checks in the order of the
//! session standard. Nothing is changed here.
//!
//! Numbers in comments are the steps of that order and the official test cases.

use std::borrow::Cow;

use fixbolt_codec::{FaultKind, FromField, Message, Redacted, SeqNum, Version};
use fixbolt_dictionary::{RefTag, SessionRejectReason};

use crate::decide::reaction::{Answer, LogOut, NumberUse, Reaction, Then, Told, TooHigh};
use crate::events::end::{Misbehavior, SessionEnd};
use crate::events::event::Event;
use crate::events::rejects::{BusinessReject, BusinessRejectReason};
use crate::limits::throttle::{InboundThrottle, Rate};
use crate::settings::behavior::{
    EmptyCompId, EmptyResendRequest, Farewell, FieldWithoutEquals, GapFillBackwards, LogoutText,
    LogoutTooHigh, PossDupFault, RefTagId, ResendRequestBeyondGap, TooLow,
};
use crate::state::session::Session;
use crate::state::throttling::Admission;
use crate::state::{Connection, Phase, ResetStage};
use crate::values::fix::{msg_type, session_status, tag};
use crate::values::time::{Mono, Now, Utc};
use crate::wire::admin_message::{AdminMessage, Reject, missing};
use crate::wire::header::{Header, number, unix_nanos};

/// The result of the checks that need no dictionary.
#[allow(clippy::large_enum_variant)] // it is made and taken apart once a message, on the stack
pub(crate) enum Arrived<'m> {
    /// The first message of a connection.
    First,
    /// The message is the expected one: the dictionary's checks come next, then [`due`] or
    /// [`session_layer`].
    Due(SeqNum),
    /// A message of the session layer that acts although its number may not be the expected one,
    /// once it is valid.
    OutOfTurn(SeqNum, OutOfTurn),
    Decided(Reaction<'m>),
}

/// When a message of the session layer acts although its number may not be the expected one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OutOfTurn {
    /// It sets or resets sequence numbers: a SequenceReset-Reset, or a Logon with
    /// ResetSeqNumFlag=Y.
    Reset,
    /// Our own Logon with ResetSeqNumFlag=Y has not been answered.
    Resetting,
    /// Its number is too low.
    TooLow,
    /// Its number is too high.
    TooHigh,
}

/// 14k: returns whether a field without `=` makes the message garbled.
pub(crate) fn is_garbled(session: &Session, message: &Message<'_>) -> bool {
    session.fixed.behavior.field_without_equals == FieldWithoutEquals::Ignored
        && message.fault().is_some_and(|fault| fault.kind == FaultKind::NoEquals)
}

/// Steps 1 to 11: everything but the message's structure. `kept` says whether it comes from the
/// reorder buffer.
pub(crate) fn arrived<'m>(
    session: &Session,
    connection: &Connection,
    header: &Header<'m>,
    message: &Message<'m>,
    kept: bool,
    now: Now,
) -> Arrived<'m> {
    match connection.logon.phase {
        Phase::Disconnected => return Arrived::Decided(Reaction::Ignore(None)),
        Phase::AwaitingLogon | Phase::LogonSent => return Arrived::First,
        // The counterparty may only request what it missed before our answer. After a reset the
        // sequence numbers belong to the next logon, and nothing of this connection may use them.
        Phase::LogoutAnswered
            if session.fixed.settings.reset_on_logout || header.msg_type != msg_type::RESEND_REQUEST =>
        {
            return Arrived::Decided(Reaction::Ignore(None));
        }
        Phase::LogoutSent if session.intake.reading.leaves_rest && !ends_or_requests(header) => {
            return Arrived::Decided(Reaction::Ignore(None));
        }
        Phase::LogoutAnswered | Phase::LoggedOn | Phase::LogoutSent => {}
    }
    // 4: a message without a sequence number cannot be placed.
    let Some(seq) = header.seq else {
        return Arrived::Decided(without_number(session.fixed.behavior.message_without_seq_num));
    };
    let decided = other_begin_string(session, message)
        .or_else(|| comp_ids(session, header, seq))
        // The SendingTime of a buffered message was checked when it arrived.
        .or_else(|| if kept { None } else { sending_time(session, header, seq, now) });
    if let Some(reaction) = decided {
        return Arrived::Decided(reaction);
    }
    if connection.logon.phase != Phase::LogoutAnswered
        && session.state.reset_stage() == Some(ResetStage::LogonSent)
    {
        return while_resetting(connection, header, seq);
    }
    // Rule 5.1: a reset by agreement has sequence number 1 whatever is expected.
    if connection.logon.phase == Phase::LoggedOn
        && !header.poss_dup
        && header.is_reset_logon(message)
        && session.fixed.settings.id.version() >= Version::Fix41
    {
        return Arrived::OutOfTurn(seq, OutOfTurn::Reset);
    }
    // 8: a Reset is followed whatever its own sequence number.
    if header.is_reset(message) {
        return Arrived::OutOfTurn(seq, OutOfTurn::Reset);
    }
    let next_in = session.state.stored.next_in;
    if seq < next_in {
        return too_low(session, header, message, seq);
    }
    // 11, test case 2b.
    if seq > next_in {
        return too_high(session, connection, header, seq);
    }
    // 10: PossDupFlag=Y in the message that is expected.
    if header.poss_dup {
        if let Some((reject, consequence)) = poss_dup_fault(session, header, message, true) {
            return Arrived::Decided(reject_poss_dup(session, header, seq, reject, consequence));
        }
        // Before the dictionary: a message that waits is read again.
        if let Some(until) = session.requested_waits(connection, header, seq, now.mono) {
            return Arrived::Decided(Reaction::Wait(until));
        }
    }
    Arrived::Due(seq)
}

/// Returns whether a message is a new Logout or ResendRequest.
fn ends_or_requests(header: &Header<'_>) -> bool {
    !header.poss_dup && [msg_type::LOGOUT, msg_type::RESEND_REQUEST].contains(&header.msg_type)
}

/// Decides about a message that arrives before the answer to our reset of the sequence numbers. One
/// that the counterparty sent before it saw our Logon has a number that no longer applies.
fn while_resetting<'m>(connection: &Connection, header: &Header<'m>, seq: SeqNum) -> Arrived<'m> {
    match header.msg_type {
        msg_type::LOGON if connection.logon.phase == Phase::LoggedOn => {
            Arrived::OutOfTurn(seq, OutOfTurn::Resetting)
        }
        msg_type::LOGOUT => Arrived::OutOfTurn(seq, OutOfTurn::Resetting),
        _ => Arrived::Decided(before_the_answer()),
    }
}

/// Ignores a message that arrives before the answer to our reset of the sequence numbers.
pub(crate) const fn before_the_answer<'m>() -> Reaction<'m> {
    Reaction::Ignore(Some(Event::Note(
        "a message is not processed: the counterparty sent it before it answered the reset of the sequence numbers",
    )))
}

/// Steps 15 and later: the reaction to an application message that is expected and valid.
pub(crate) fn due<'m>(
    session: &Session,
    connection: &Connection,
    header: &Header<'m>,
    message: &Message<'m>,
    seq: SeqNum,
    now: Mono,
) -> Reaction<'m> {
    match session.admits(connection, header, seq, now) {
        Admission::Counted => Reaction::Deliver { is_requested: false },
        Admission::Requested => Reaction::Deliver { is_requested: true },
        Admission::Exceeds(rate) => too_many(session, header, message, seq, rate),
    }
}

/// Steps 15 and later: the reaction to a message of the session layer that is valid.
pub(crate) fn session_layer<'m>(
    session: &Session,
    connection: &Connection,
    header: &Header<'m>,
    message: &Message<'m>,
    seq: SeqNum,
) -> Reaction<'m> {
    match header.msg_type {
        msg_type::HEARTBEAT => Answer::take().into(),
        msg_type::REJECT => Answer { told: Told::Event(reject_received(message)), ..Answer::take() }.into(),
        msg_type::SEQUENCE_RESET => sequence_reset(session, header, message, seq),
        // A session-layer message that is sent again has already had its effect (rule 6.8).
        msg_type::TEST_REQUEST | msg_type::RESEND_REQUEST | msg_type::LOGOUT | msg_type::LOGON
            if header.poss_dup =>
        {
            Answer::take().into()
        }
        msg_type::TEST_REQUEST => test_request(session, header, message, seq),
        msg_type::RESEND_REQUEST if connection.logon.request_answered == Some(seq) => Answer::take().into(),
        msg_type::RESEND_REQUEST => resend_request(session, header, message, seq).into(),
        msg_type::LOGOUT => logout(connection, message, seq),
        msg_type::LOGON => second_logon(session, seq),
        _ => Answer::take().into(),
    }
}

/// Rejects an application message that is one more than the counterparty may send.
#[cold]
fn too_many<'m>(
    session: &Session,
    header: &Header<'m>,
    message: &Message<'m>,
    seq: SeqNum,
    rate: Rate,
) -> Reaction<'m> {
    let reason = BusinessRejectReason::THROTTLE_LIMIT_EXCEEDED;
    let number = if session.knows_throttle_limit() { reason } else { BusinessRejectReason::OTHER };
    let text = format!("{}: at most {rate}", reason.text());
    let reply = business_reject(session, header, seq, BusinessReject::new(number).text(text.clone()));
    // Another one after our Logout ends the connection before that is answered: a flood goes on.
    let then = if session.fixed.settings.inbound_throttle == InboundThrottle::Disconnect {
        let end = SessionEnd::PeerMisbehaved(Misbehavior::MessageRate { limit: rate });
        Then::LogOut(LogOut { text: text.into(), cause: Some(seq), end, await_answer: true })
    } else {
        Then::GoOn
    };
    let told = if reply.is_none() { Told::Note(unprocessed(message)) } else { Told::Nothing };
    Answer { reply, then, told, ..Answer::take() }.into()
}

/// Returns a BusinessMessageReject (35=j), or a Reject for FIX.4.0 and 4.1, which have none. A
/// BusinessMessageReject is not answered with another one, because two sides could do so forever.
pub(crate) fn business_reject<'m>(
    session: &Session,
    header: &Header<'m>,
    seq: SeqNum,
    reject: BusinessReject,
) -> Option<AdminMessage<'m>> {
    let msg_type = header.msg_type;
    if !session.fixed.is_42_or_later() {
        let mut text = reject.text;
        if text == BusinessRejectReason::UNSUPPORTED_MESSAGE_TYPE.text() {
            // Test case 2r: the words of the engines that compare it.
            text = Cow::Borrowed("Unsupported message type");
        }
        let reject = Reject { reason: SessionRejectReason::Other, tag: None, text };
        return Some(AdminMessage::Reject { seq, msg_type, reject });
    }
    if msg_type == msg_type::BUSINESS_MESSAGE_REJECT {
        return None;
    }
    Some(AdminMessage::BusinessReject { seq, msg_type, reject })
}

/// Returns what to report of a BusinessMessageReject that the application does not process: without
/// it, nobody would learn what the counterparty refused.
pub(crate) fn unprocessed(message: &Message<'_>) -> String {
    let get = |tag| Redacted(message.get(tag).unwrap_or(b"?"));
    format!(
        "the counterparty refused message {} with a BusinessMessageReject, which the application does not process: {}; a BusinessMessageReject is not answered with another one",
        get(tag::REF_SEQ_NUM),
        get(tag::TEXT)
    )
}

/// 4: closes the connection, with or without a Logout.
pub(crate) fn without_number<'m>(farewell: Farewell) -> Reaction<'m> {
    let end = SessionEnd::PeerMisbehaved(Misbehavior::NoMsgSeqNum);
    match farewell {
        Farewell::Silence => Reaction::close(end),
        Farewell::Logout => misbehaved("Received message without MsgSeqNum", None, end).into(),
    }
}

/// Sends a Logout with this Text and closes the connection, because the counterparty violated the
/// protocol.
pub(crate) fn misbehaved<'m>(
    text: impl Into<Cow<'m, str>>,
    cause: Option<SeqNum>,
    end: SessionEnd,
) -> Answer<'m> {
    Answer::log_out(LogOut { text: text.into(), cause, end, await_answer: false })
}

/// 9: answers a sequence number that is too low.
pub(crate) fn number_too_low<'m>(expected: SeqNum, seq: SeqNum) -> Answer<'m> {
    let text = format!("MsgSeqNum too low, expecting {expected} but received {seq}");
    let too_low = Misbehavior::MsgSeqNumTooLow { expected, received: seq };
    misbehaved(text, Some(seq), SessionEnd::PeerMisbehaved(too_low))
}

/// 5, test case 2i: the message's sequence number is not used.
fn other_begin_string<'m>(session: &Session, message: &Message<'m>) -> Option<Reaction<'m>> {
    if message.begin_string() == session.fixed.settings.id.version().begin_string().as_bytes() {
        return None;
    }
    let end = SessionEnd::PeerMisbehaved(Misbehavior::BeginString);
    let text = Cow::Borrowed("Incorrect BeginString");
    Some(Answer::log_out(LogOut { text, cause: None, end, await_answer: true }).into())
}

/// 6, test case 2k.
fn comp_ids<'m>(session: &Session, header: &Header<'m>, seq: SeqNum) -> Option<Reaction<'m>> {
    if !session.fixed.settings.check_comp_id {
        return None;
    }
    let id = &session.fixed.settings.id;
    let (at_fault, came) = if header.sender_comp_id != Some(id.target_comp_id().as_bytes()) {
        (tag::SENDER_COMP_ID, header.sender_comp_id)
    } else if header.target_comp_id != Some(id.sender_comp_id().as_bytes()) {
        (tag::TARGET_COMP_ID, header.target_comp_id)
    } else {
        return None;
    };
    let (msg_type, behavior) = (header.msg_type, &session.fixed.behavior);
    let Some(came) = came else {
        return Some(Answer::reject(seq, msg_type, missing(at_fault).worded(behavior.violation_text)).into());
    };
    if came.is_empty() && behavior.empty_comp_id == EmptyCompId::EmptyValue {
        let reject = Reject::naming(SessionRejectReason::TagSpecifiedWithoutAValue, at_fault);
        return Some(Answer::reject(seq, msg_type, reject.worded(behavior.violation_text)).into());
    }
    let reject = named(SessionRejectReason::CompIdProblem, at_fault, behavior.comp_id_tag);
    let end = SessionEnd::PeerMisbehaved(Misbehavior::CompId);
    let text = logout_text(&reject, at_fault, behavior.comp_id_logout_text);
    Some(reject_and_log_out(header, seq, reject, text, end).into())
}

/// 7, test case 2o.
fn sending_time<'m>(session: &Session, header: &Header<'m>, seq: SeqNum, now: Now) -> Option<Reaction<'m>> {
    let behavior = &session.fixed.behavior;
    let Some(sent) = header.sent() else {
        let reject = match header.sending_time {
            None => missing(tag::SENDING_TIME),
            Some(_) => Reject::naming(SessionRejectReason::IncorrectDataFormat, tag::SENDING_TIME),
        };
        return Some(Answer::reject(seq, header.msg_type, reject.worded(behavior.violation_text)).into());
    };
    let threshold = session.fixed.settings.sending_time_threshold?;
    if session.intake.reading.sent_within(sent, now.utc, threshold) {
        return None;
    }
    let reason = SessionRejectReason::SendingTimeAccuracyProblem;
    let reject = named(reason, tag::SENDING_TIME, behavior.sending_time_tag);
    let off = Misbehavior::SendingTime { sent: Utc(sent), now: now.utc, limit: threshold };
    let end = SessionEnd::PeerMisbehaved(off);
    let text = logout_text(&reject, tag::SENDING_TIME, behavior.sending_time_logout_text);
    Some(reject_and_log_out(header, seq, reject, text, end).into())
}

fn named<'m>(reason: SessionRejectReason, tag: fixbolt_codec::Tag, named: RefTagId) -> Reject<'m> {
    match named {
        RefTagId::Named => Reject::of(reason, Some(RefTag::Number(tag.number()))),
        RefTagId::Omitted => Reject::of(reason, None),
    }
}

fn logout_text<'m>(reject: &Reject<'m>, tag: fixbolt_codec::Tag, text: LogoutText) -> Cow<'m, str> {
    match text {
        LogoutText::Given => reject.text.clone(),
        LogoutText::GivenWithField => Cow::Owned(format!("{}, field={}", reject.text, tag.number())),
        LogoutText::Omitted => Cow::Borrowed(""),
    }
}

fn reject_and_log_out<'m>(
    header: &Header<'m>,
    seq: SeqNum,
    reject: Reject<'m>,
    text: Cow<'m, str>,
    end: SessionEnd,
) -> Answer<'m> {
    let log_out = LogOut { text, cause: Some(seq), end, await_answer: true };
    Answer::reject(seq, header.msg_type, reject).then(Then::LogOut(log_out))
}

/// 9 and 10: the sequence number is too low.
fn too_low<'m>(session: &Session, header: &Header<'m>, message: &Message<'m>, seq: SeqNum) -> Arrived<'m> {
    let behavior = &session.fixed.behavior;
    let is_answered = match header.msg_type {
        msg_type::LOGOUT => behavior.logout_too_low == TooLow::Answered,
        msg_type::RESEND_REQUEST => behavior.resend_request_too_low == TooLow::Answered,
        _ => false,
    };
    if is_answered && !header.poss_dup {
        return Arrived::OutOfTurn(seq, OutOfTurn::TooLow);
    }
    Arrived::Decided(if is_answered && header.msg_type == msg_type::LOGOUT {
        Answer::take().into()
    } else if header.poss_dup {
        // 2f, 2g: the Reject uses only a sequence number of ours.
        match poss_dup_fault(session, header, message, false) {
            Some((reject, consequence)) => reject_poss_dup(session, header, seq, reject, consequence),
            None => Reaction::Ignore(Some(Event::DuplicateIgnored { seq })),
        }
    } else {
        let answer = number_too_low(session.state.stored.next_in, seq);
        // Why the counterparty logs out is worth knowing whatever its sequence number.
        let is_logout = header.msg_type == msg_type::LOGOUT;
        let told = if is_logout { Told::Event(logout_received(message)) } else { Told::Nothing };
        Answer { told, ..answer }.into()
    })
}

/// 11: messages are missing before this one.
fn too_high<'m>(session: &Session, connection: &Connection, header: &Header<'m>, seq: SeqNum) -> Arrived<'m> {
    let behavior = &session.fixed.behavior;
    let is_request = header.msg_type == msg_type::RESEND_REQUEST;
    // A request that was answered before is asked for again with what it has shown to be missing.
    let asks_again = is_request && behavior.resend_request_beyond_gap == ResendRequestBeyondGap::AskedAgain;
    match header.msg_type {
        msg_type::LOGOUT if !header.poss_dup => return Arrived::OutOfTurn(seq, OutOfTurn::TooHigh),
        msg_type::LOGOUT if behavior.logout_too_high == LogoutTooHigh::Answered => {
            return Arrived::Decided(Answer::take().into());
        }
        msg_type::RESEND_REQUEST if !header.poss_dup && connection.logon.request_answered != Some(seq) => {
            return Arrived::OutOfTurn(seq, OutOfTurn::TooHigh);
        }
        _ => {}
    }
    let first = is_request.then(Answer::take);
    let ask_again = if header.poss_dup { replay_passed(session, connection, seq) } else { asks_again };
    Arrived::Decided(Reaction::TooHigh(TooHigh { first, ask_again, ..waits(header) }))
}

/// 11: the reaction to a valid Logout or ResendRequest from after a gap.
pub(crate) fn ahead<'m>(
    session: &Session,
    connection: &Connection,
    header: &Header<'m>,
    message: &Message<'m>,
    seq: SeqNum,
) -> Reaction<'m> {
    let behavior = &session.fixed.behavior;
    if header.msg_type == msg_type::LOGOUT {
        // The answer to our own Logout ends the session whatever is missing.
        let answered = behavior.logout_too_high == LogoutTooHigh::Answered;
        if answered || connection.logon.phase == Phase::LogoutSent {
            return logout(connection, message, seq);
        }
        return Reaction::TooHigh(TooHigh { logs_out: true, ..waits(header) });
    }
    // It is answered first, so that two sides that wait for each other can both continue (test case
    // 20). The side that asks us has not received our request, or our gap is still open after it.
    let first = Some(resend_request(session, header, message, seq));
    let ask_again = behavior.resend_request_beyond_gap == ResendRequestBeyondGap::AskedAgain;
    Reaction::TooHigh(TooHigh { first, ask_again, ..waits(header) })
}

/// 11: the message waits for those that are missing before it, and does nothing else.
pub(crate) fn waits<'m>(header: &Header<'_>) -> TooHigh<'m> {
    // A gap fill from after a gap is requested again with the rest.
    let keep = header.msg_type != msg_type::SEQUENCE_RESET;
    TooHigh { first: None, keep, ask_again: false, logs_out: false }
}

/// Returns whether the replay that a message from after the gap belongs to has passed the gap
/// without filling it. A replay that was already on its way when we asked has not.
fn replay_passed(session: &Session, connection: &Connection, seq: SeqNum) -> bool {
    connection.logon.gap.is_none_or(|gap| {
        gap.begin != session.state.stored.next_in || gap.replayed.is_none_or(|last| seq <= last)
    })
}

/// 2f and 2g: returns what is wrong with a message that claims to be sent again, and the reaction.
fn poss_dup_fault<'m>(
    session: &Session,
    header: &Header<'m>,
    message: &Message<'m>,
    is_due: bool,
) -> Option<(Reject<'m>, PossDupFault)> {
    if header.msg_type == msg_type::SEQUENCE_RESET {
        return None;
    }
    let behavior = &session.fixed.behavior;
    let (on_missing, on_late) = if is_due {
        (behavior.missing_orig_sending_time, behavior.late_orig_sending_time)
    } else {
        (PossDupFault::Rejected, behavior.late_orig_sending_time_too_low)
    };
    let (reject, consequence) = match message.get(tag::ORIG_SENDING_TIME) {
        None if session.fixed.settings.requires_orig_sending_time => {
            (missing(tag::ORIG_SENDING_TIME), on_missing)
        }
        None => return None,
        Some(original) => match unix_nanos(original) {
            None => {
                let reason = SessionRejectReason::IncorrectDataFormat;
                (Reject::naming(reason, tag::ORIG_SENDING_TIME), on_missing)
            }
            Some(original) if original > header.sent()? => {
                let reason = SessionRejectReason::SendingTimeAccuracyProblem;
                (named(reason, tag::ORIG_SENDING_TIME, behavior.orig_sending_time_tag), on_late)
            }
            Some(_) => return None,
        },
    };
    (consequence != PossDupFault::NotChecked).then_some((reject, consequence))
}

fn reject_poss_dup<'m>(
    session: &Session,
    header: &Header<'m>,
    seq: SeqNum,
    reject: Reject<'m>,
    consequence: PossDupFault,
) -> Reaction<'m> {
    if consequence != PossDupFault::RejectedAndLoggedOut {
        return Answer::reject(seq, header.msg_type, reject).into();
    }
    let text = logout_text(&reject, tag::ORIG_SENDING_TIME, session.fixed.behavior.sending_time_logout_text);
    let end = SessionEnd::PeerMisbehaved(Misbehavior::OrigSendingTime);
    reject_and_log_out(header, seq, reject, text, end).into()
}

/// TestRequest (1): answered at once with a Heartbeat with the same TestReqID (test case 4b).
fn test_request<'m>(
    session: &Session,
    header: &Header<'m>,
    message: &Message<'m>,
    seq: SeqNum,
) -> Reaction<'m> {
    let id = message.get(tag::TEST_REQ_ID).unwrap_or_default();
    if id.len() > session.largest_reflected_value() {
        // No Heartbeat could contain it.
        let out_of_range = Reject::naming(SessionRejectReason::ValueIsIncorrect, tag::TEST_REQ_ID);
        return Answer::reject(seq, header.msg_type, out_of_range).into();
    }
    Answer::reply(AdminMessage::Heartbeat { id: Some(id) }).into()
}

/// ResendRequest (2): begins to send again what was requested (test case 8).
pub(crate) fn resend_request<'m>(
    session: &Session,
    header: &Header<'m>,
    message: &Message<'m>,
    seq: SeqNum,
) -> Answer<'m> {
    let refuse = |reject| Answer::reject(seq, header.msg_type, reject);
    let last = session.state.stored.next_out.previous();
    let out_of_range = SessionRejectReason::ValueIsIncorrect;
    // That both are there has been checked.
    let [begin, end] =
        [tag::BEGIN_SEQ_NO, tag::END_SEQ_NO].map(|tag| SeqNum(number(message, tag).unwrap_or_default()));
    // 0 is infinity since FIX.4.2, 999999 up to FIX.4.1; both are accepted from every counterparty.
    let open_ended = end == SeqNum::ZERO || end == SeqNum(999_999) || end > last;
    let end = if open_ended { last } else { end };
    if session.fixed.behavior.empty_resend_request == EmptyResendRequest::Rejected {
        if begin == SeqNum::ZERO || begin > last {
            return refuse(Reject::naming(out_of_range, tag::BEGIN_SEQ_NO));
        }
        if begin > end {
            return refuse(Reject::naming(out_of_range, tag::END_SEQ_NO));
        }
    }
    let begin = begin.max(SeqNum::ONE);
    let told = Told::Event(Event::ResendRequested { begin, end });
    Answer { then: Then::Replay { begin, end }, told, ..Answer::take() }
}

/// SequenceReset (4): GapFill (10a to 10e) and Reset (11a to 11c).
fn sequence_reset<'m>(
    session: &Session,
    header: &Header<'m>,
    message: &Message<'m>,
    seq: SeqNum,
) -> Reaction<'m> {
    let is_gap_fill = !header.is_reset(message);
    let stored = session.state.stored;
    let out_of_range = SessionRejectReason::ValueIsIncorrect;
    // That it is there has been checked.
    let new = SeqNum(number(message, tag::NEW_SEQ_NO).unwrap_or_default());
    let rejected = |reject| Answer::reject(seq, header.msg_type, reject);
    if new == SeqNum::MAX {
        // The largest sequence number is never used.
        return rejected(Reject::naming(out_of_range, tag::NEW_SEQ_NO)).into();
    }
    let behavior = &session.fixed.behavior;
    if is_gap_fill && new <= seq && behavior.gap_fill_backwards == GapFillBackwards::Rejected {
        // 10e.
        let text = format!("attempt to lower sequence number, invalid value NewSeqNo(36)={new}");
        let backwards = Reject { text: Cow::Owned(text), ..Reject::naming(out_of_range, tag::NEW_SEQ_NO) };
        return rejected(backwards).into();
    }
    if new < stored.next_in {
        // 11c: NextNumIn does not change, even if the message's own sequence number was expected.
        let lower = named(out_of_range, tag::NEW_SEQ_NO, behavior.lower_reset_tag);
        return Answer { number: NumberUse::Kept, ..rejected(lower) }.into();
    }
    let told = if is_gap_fill {
        Told::Nothing
    } else {
        let (next_in, next_out) = (new, stored.next_out);
        let reason = if new == stored.next_in { "SequenceReset to the same number" } else { "SequenceReset" };
        Told::Event(Event::SequenceChanged { next_in, next_out, reason })
    };
    Answer { number: NumberUse::MovesTo(new), told, ..Answer::take() }.into()
}

/// Answers a Logon in the session that does not reset it.
fn second_logon<'m>(session: &Session, seq: SeqNum) -> Reaction<'m> {
    let end = SessionEnd::PeerMisbehaved(Misbehavior::DuplicateLogon);
    match session.fixed.behavior.second_logon {
        Farewell::Silence => Reaction::close(end),
        Farewell::Logout => misbehaved("Logon in a session that is logged on", Some(seq), end).into(),
    }
}

/// The counterparty logs out or answers our Logout. A Logout of ours that waits for a replay has
/// not been sent, so this cannot be its answer.
pub(crate) fn logout<'m>(connection: &Connection, message: &Message<'m>, seq: SeqNum) -> Reaction<'m> {
    let then = match connection.logon.phase {
        Phase::LogoutSent if connection.logon.replay.is_none() => Then::LoggedOut,
        _ => Then::AnswerLogout { cause: Some(seq), end: expects_more(message) },
    };
    // One that waited behind a gap was reported when it arrived.
    let is_told = connection.logon.logout_waits == Some(seq);
    let told = if is_told { Told::Nothing } else { Told::Event(logout_received(message)) };
    Answer { told, ..Answer::take().then(then) }.into()
}

/// Returns how the session ends if the counterparty logs out because our MsgSeqNum is too low: it
/// says so with SessionStatus (1409) and NextExpectedMsgSeqNum (789), or with a Text that every
/// engine writes alike, such as "MsgSeqNum too low, expecting 12 but received 3".
pub(crate) fn expects_more(message: &Message<'_>) -> Option<SessionEnd> {
    let text = message.get(tag::TEXT).unwrap_or_default();
    let after = |words: &[u8]| {
        let at = text.windows(words.len()).position(|part| part == words)?;
        let digits = &text[at + words.len()..];
        let len = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
        u64::from_field(&digits[..len]).ok().map(SeqNum)
    };
    let is_too_low = number(message, tag::SESSION_STATUS) == Some(session_status::MSG_SEQ_NUM_TOO_LOW)
        || text.starts_with(b"MsgSeqNum too low");
    if !is_too_low {
        return None;
    }
    let expected = number(message, tag::NEXT_EXPECTED_MSG_SEQ_NUM).map(SeqNum);
    let (expected, next_out) = (expected.or_else(|| after(b"expecting "))?, after(b"received ")?);
    (expected > next_out).then_some(SessionEnd::PeerExpectsMore { expected, next_out })
}

/// Returns the event for a Reject of the counterparty.
pub(crate) fn reject_received<'m>(message: &Message<'m>) -> Event<'m> {
    let seq = number(message, tag::REF_SEQ_NUM).map(SeqNum);
    Event::RejectReceived { message: *message, seq, text: text_of(message) }
}

/// Returns the event for a Logout of the counterparty, or its answer to ours.
pub(crate) fn logout_received<'m>(message: &Message<'m>) -> Event<'m> {
    Event::LogoutReceived { message: *message, text: text_of(message) }
}

/// Returns Text (58); empty if there is none.
pub(crate) fn text_of<'m>(message: &Message<'m>) -> Redacted<'m> {
    Redacted(message.get(tag::TEXT).unwrap_or_default())
}
