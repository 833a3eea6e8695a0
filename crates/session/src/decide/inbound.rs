//! Decides what to do about a message of the counterparty, with the checks in the order of the
//! session standard. Nothing is changed here.
//!
//! Numbers in comments are the steps of that order (R-CHECK-1) and the official test cases; those
//! that begin with R are the rules of docs/session.md.

use std::borrow::Cow;

use fixbolt_codec::{FaultKind, Message, SeqNum, Version};
use fixbolt_dictionary::{BusinessRejectCode, SessionRejectCode};

use crate::decide::admin;
use crate::decide::answers::{
    business_reject, logout_text, named, reject_and_log_out, unprocessed, without_number,
};
use crate::decide::check::Checker;
use crate::decide::due::SESSION_END;
use crate::decide::fields::Unexpected;
use crate::decide::logon;
use crate::decide::reaction::{Answer, Decision, LogOut, Parting, Reaction, Then, Told};
use crate::decide::sequence::{Arrived, poss_dup_fault, reject_poss_dup, too_high, too_low};
use crate::events::end::{Misbehavior, SessionEnd};
use crate::events::event::Event;
use crate::events::rejects::BusinessReject;
use crate::limits::throttle::{InboundThrottle, Rate};
use crate::schedule::calendar::Calendar;
use crate::settings::behavior::{EmptyCompId, FieldWithoutEquals};
use crate::state::phase::PhaseState;
use crate::state::session::Session;
use crate::state::throttling::Requested;
use crate::state::{Connection, Phase, ResetStage};
use crate::values::fix::{msg_type, tag};
use crate::values::time::{Mono, Now, Utc};
use crate::wire::admin_message::{Reject, missing};
use crate::wire::header::Header;

/// Decides about a message of the counterparty. `is_reordered` says whether it comes from the
/// reorder buffer. An application message gets its version and the places of its fields.
pub(crate) fn decide<'m>(
    session: &Session,
    header: &Header<'m>,
    message: &mut Message<'m>,
    checker: &mut Checker<'_, 'm>,
    is_reordered: bool,
    now: Now,
) -> Decision<'m> {
    let Some(connection) = &session.state.connection else { return Reaction::Ignore.into() };
    match arrived(session, connection, header, message, is_reordered, now) {
        Arrived::Decided(Reaction::Ignore) => {
            let requested = header.seq.and_then(|seq| session.requested(connection, header, seq));
            Decision { reaction: Reaction::Ignore, requested }
        }
        Arrived::Decided(reaction) => reaction.into(),
        // R-CHECK-9
        Arrived::Due(seq, requested) if !header.is_session_layer() => match checker.check(session, message) {
            Some(reject) => Reaction::from(Answer::reject(seq, header.msg_type, reject)).into(),
            None => due(session, header, message, seq, requested, now.mono),
        },
        Arrived::First => {
            checker.place(session, message);
            logon::first_message(session, header, message).unwrap_or(Reaction::Authenticate).into()
        }
        Arrived::Due(seq, requested) => {
            let both = (header, &*message);
            Decision {
                reaction: admin::decide(session, connection, both, seq, None, checker, now),
                requested,
            }
        }
        Arrived::Unexpected(seq, why) => {
            admin::decide(session, connection, (header, message), seq, Some(why), checker, now).into()
        }
    }
}

/// 14k: returns whether a field without `=` makes the message garbled.
// R-REJECT-16
pub(crate) fn is_garbled(session: &Session, message: &Message<'_>) -> bool {
    session.fixed.behavior.field_without_equals == FieldWithoutEquals::Ignored
        && message.fault().is_some_and(|fault| fault.kind == FaultKind::NoEquals)
}

/// Steps 1 to 11: everything but the message's structure. `is_reordered` says whether it comes from
/// the reorder buffer.
// R-CHECK-1
fn arrived<'m>(
    session: &Session,
    connection: &Connection,
    header: &Header<'m>,
    message: &Message<'m>,
    is_reordered: bool,
    now: Now,
) -> Arrived<'m> {
    match connection.logon.phase {
        PhaseState::AwaitingLogon { .. } | PhaseState::LogonSent { .. } => return Arrived::First,
        // R-LOGOUT-6
        // The counterparty may only request what it missed before our answer. After a reset the
        // sequence numbers belong to the next logon, and nothing of this connection may use them.
        PhaseState::LogoutAnswered(_)
            if session.fixed.settings.reset.reset_on_logout
                || header.msg_type != msg_type::RESEND_REQUEST =>
        {
            return Arrived::Decided(Reaction::Ignore);
        }
        PhaseState::LogoutSent(_)
            if session.intake.reading.leaves_rest
                && !ends_or_requests(header)
                && !begins_again(session, header, message) =>
        {
            return Arrived::Decided(Reaction::Ignore);
        }
        PhaseState::LogoutAnswered(_) | PhaseState::LoggedOn { .. } | PhaseState::LogoutSent(_) => {}
    }
    // 4: a message without a sequence number cannot be placed.
    let Some(seq) = header.seq else {
        return Arrived::Decided(without_number(message, session.fixed.behavior.message_without_seq_num));
    };
    let decided = other_begin_string(session, message)
        .or_else(|| comp_ids(session, header, seq))
        // The SendingTime of a buffered message was checked when it arrived. R-TIME-3
        .or_else(|| if is_reordered { None } else { sending_time(session, header, seq, now) });
    if let Some(reaction) = decided {
        return Arrived::Decided(reaction);
    }
    if connection.logon.phase() != Phase::LogoutAnswered
        && session.state.reset_stage() == Some(ResetStage::LogonSent)
    {
        return while_resetting(connection, header, seq);
    }
    // R-RESET-6: a reset by agreement has sequence number 1 whatever is expected. R-RESET-13
    if begins_again(session, header, message)
        && matches!(connection.logon.phase(), Phase::LoggedOn | Phase::LogoutSent)
    {
        return Arrived::Unexpected(seq, Unexpected::Reset);
    }
    // 8: a Reset is followed whatever its own sequence number. R-SEQRESET-6
    if header.is_reset(message) {
        return Arrived::Unexpected(seq, Unexpected::Reset);
    }
    let next_in = session.state.stored.next_in;
    if seq < next_in {
        return too_low(session, connection, header, message, seq);
    }
    // 11, test case 2b.
    if seq > next_in {
        return too_high(session, connection, header, seq);
    }
    // 10: PossDupFlag=Y in the message that is expected. R-POSSDUP-2
    let mut requested = None;
    if header.poss_dup {
        if let Some((reject, consequence)) = poss_dup_fault(session, header, message, true) {
            return Arrived::Decided(reject_poss_dup(session, header, seq, reject, consequence));
        }
        requested = session.requested(connection, header, seq);
        // Before the dictionary: a message that waits is read again. R-LIMIT-7
        if let Some(until) = requested.and_then(|requested| session.requested_waits(requested, now.mono)) {
            return Arrived::Decided(Reaction::Wait(until));
        }
    }
    Arrived::Due(seq, requested)
}

/// Returns whether a message is a new Logon that resets the sequence numbers.
// R-RESET-5
fn begins_again(session: &Session, header: &Header<'_>, message: &Message<'_>) -> bool {
    !header.poss_dup
        && header.is_reset_logon(message)
        && session.fixed.settings.id.version() >= Version::Fix41
}

/// Returns whether a message is a new Logout or ResendRequest.
fn ends_or_requests(header: &Header<'_>) -> bool {
    !header.poss_dup && [msg_type::LOGOUT, msg_type::RESEND_REQUEST].contains(&header.msg_type)
}

/// Decides about a message that arrives before the answer to our reset of the sequence numbers. One
/// that the counterparty sent before it saw our Logon has a number that no longer applies.
// R-RESET-10
fn while_resetting<'m>(connection: &Connection, header: &Header<'m>, seq: SeqNum) -> Arrived<'m> {
    match header.msg_type {
        msg_type::LOGON if connection.logon.phase() == Phase::LoggedOn => {
            Arrived::Unexpected(seq, Unexpected::Resetting)
        }
        msg_type::LOGOUT => Arrived::Unexpected(seq, Unexpected::Resetting),
        _ => Arrived::Decided(Reaction::IgnoreBeforeReset),
    }
}

/// Steps 15 and later: the reaction to an application message that is expected and valid.
fn due<'m>(
    session: &Session,
    header: &Header<'m>,
    message: &Message<'m>,
    seq: SeqNum,
    requested: Option<Requested>,
    now: Mono,
) -> Decision<'m> {
    if session.standing.calendar.as_ref().is_some_and(Calendar::is_over) && session.resets_next() {
        return not_taken(session, header, message, seq).into();
    }
    if requested.is_none()
        && let Some(rate) = session.exceeded(now)
    {
        return too_many(session, header, message, seq, rate).into();
    }
    // R-POSSDUP-6
    Decision { reaction: Reaction::Deliver, requested }
}

/// Only uses the number of an application message that is due after the end of the session, if the
/// numbers are reset before the next connection: whatever the application did with it, its report
/// would not reach the counterparty. Before our Logout the counterparty is told; nothing new
/// follows that (R-LOGOUT-1).
// R-SCHEDULE-5
#[cold]
fn not_taken<'m>(session: &Session, header: &Header<'m>, message: &Message<'m>, seq: SeqNum) -> Reaction<'m> {
    let reject = BusinessReject::new(BusinessRejectCode::APPLICATION_NOT_AVAILABLE).text(SESSION_END);
    let is_logged_on = session.state.phase() == Phase::LoggedOn;
    let reply = if is_logged_on { business_reject(session, header, seq, reject) } else { None };
    let told = Told::Event(Event::NotTaken { message: *message, seq });
    Answer { reply, told, then: Then::Pardon, ..Answer::take() }.into()
}

/// Rejects an application message that is one more than the counterparty may send.
// R-LIMIT-6
#[cold]
fn too_many<'m>(
    session: &Session,
    header: &Header<'m>,
    message: &Message<'m>,
    seq: SeqNum,
    rate: Rate,
) -> Reaction<'m> {
    let reason = BusinessRejectCode::THROTTLE_LIMIT_EXCEEDED;
    let number = if session.knows_throttle_limit() { reason } else { BusinessRejectCode::OTHER };
    let text = format!("{}: at most {rate}", reason.text());
    let reply = business_reject(session, header, seq, BusinessReject::new(number).text(text.clone()));
    // Another one after our Logout ends the connection before that is answered: a flood goes on.
    let then = if session.fixed.settings.throttle.inbound_throttle == InboundThrottle::Disconnect {
        let end = SessionEnd::PeerMisbehaved(Misbehavior::MessageRate { limit: rate });
        Then::LogOut(LogOut { text: text.into(), cause: Some(seq), end, parting: Parting::AwaitAnswer })
    } else {
        Then::Pardon
    };
    let told = if reply.is_none() { Told::Note(unprocessed(message)) } else { Told::Nothing };
    Answer { reply, then, told, ..Answer::take() }.into()
}

/// 5, test case 2i: the message's sequence number is not used.
// R-CHECK-3
fn other_begin_string<'m>(session: &Session, message: &Message<'m>) -> Option<Reaction<'m>> {
    if message.begin_string() == session.fixed.settings.id.version().begin_string().as_bytes() {
        return None;
    }
    let end = SessionEnd::PeerMisbehaved(Misbehavior::BeginString);
    let text = Cow::Borrowed("Incorrect BeginString");
    Some(Answer::log_out(LogOut { text, cause: None, end, parting: Parting::AwaitAnswer }).into())
}

/// 6, test case 2k.
// R-CHECK-4
fn comp_ids<'m>(session: &Session, header: &Header<'m>, seq: SeqNum) -> Option<Reaction<'m>> {
    if !session.fixed.settings.validation.check_comp_id {
        return None;
    }
    // R-CHECK-7
    let id = &session.fixed.settings.id;
    let (at_fault, came) = if header.sender_comp_id != Some(id.target_comp_id().as_bytes()) {
        (tag::SENDER_COMP_ID, header.sender_comp_id)
    } else if header.target_comp_id != Some(id.sender_comp_id().as_bytes()) {
        (tag::TARGET_COMP_ID, header.target_comp_id)
    } else {
        return None;
    };
    let (msg_type, behavior) = (header.msg_type, &session.fixed.behavior);
    // R-CHECK-5
    let Some(came) = came else {
        return Some(Answer::reject(seq, msg_type, missing(at_fault).worded(behavior.violation_text)).into());
    };
    // R-CHECK-6
    if came.is_empty() && behavior.empty_comp_id == EmptyCompId::EmptyValue {
        let reject = Reject::naming(SessionRejectCode::TAG_SPECIFIED_WITHOUT_A_VALUE, at_fault);
        return Some(Answer::reject(seq, msg_type, reject.worded(behavior.violation_text)).into());
    }
    let reject = named(SessionRejectCode::COMP_ID_PROBLEM, at_fault, behavior.comp_id_tag);
    let end = SessionEnd::PeerMisbehaved(Misbehavior::CompId);
    let text = logout_text(&reject, at_fault, behavior.comp_id_logout_text);
    Some(reject_and_log_out(header, seq, reject, text, end).into())
}

/// 7, test case 2o.
fn sending_time<'m>(session: &Session, header: &Header<'m>, seq: SeqNum, now: Now) -> Option<Reaction<'m>> {
    let behavior = &session.fixed.behavior;
    // R-TIME-1
    let Some(sent) = header.sent else {
        let reject = match header.sending_time {
            None => missing(tag::SENDING_TIME),
            Some(_) => Reject::naming(SessionRejectCode::INCORRECT_DATA_FORMAT_FOR_VALUE, tag::SENDING_TIME),
        };
        return Some(Answer::reject(seq, header.msg_type, reject.worded(behavior.violation_text)).into());
    };
    // R-TIME-2
    let threshold = session.fixed.settings.timing.max_latency?;
    if session.intake.reading.sent_within(sent, now.utc, threshold) {
        return None;
    }
    let reason = SessionRejectCode::SENDING_TIME_ACCURACY_PROBLEM;
    let reject = named(reason, tag::SENDING_TIME, behavior.sending_time_tag);
    let off = Misbehavior::SendingTime { sent: Utc(sent), now: now.utc, limit: threshold };
    let end = SessionEnd::PeerMisbehaved(off);
    let text = logout_text(&reject, tag::SENDING_TIME, behavior.sending_time_logout_text);
    Some(reject_and_log_out(header, seq, reject, text, end).into())
}
