//! Decides about messages of the session layer. Nothing is changed here.

use std::borrow::Cow;

use fixbolt_codec::{Message, SeqNum};
use fixbolt_dictionary::SessionRejectCode;

use crate::decide::answers::{expects_more, logout_received, misbehaved, named, reject_received};
use crate::decide::check::Checker;
use crate::decide::fields::{OnFault, Unexpected, fault, row_of};
use crate::decide::logon;
use crate::decide::reaction::{Answer, NumberUse, Reaction, SessionReaction, Then, Told, TooHigh};
use crate::decide::sequence::waits;
use crate::events::end::{Misbehavior, SessionEnd};
use crate::events::event::Event;
use crate::settings::behavior::{
    EmptyResendRequest, Farewell, GapFillBackwards, LogoutTooHigh, ResendRequestBeyondGap,
};
use crate::state::phase::PhaseState;
use crate::state::session::Session;
use crate::state::{Connection, Phase};
use crate::values::fix::{msg_type, tag};
use crate::values::time::Now;
use crate::wire::admin_message::Reject;
use crate::wire::header::{Header, number};

/// Decides about a message of the session layer that is expected next, or that acts out of turn.
#[inline]
pub(crate) fn decide<'m>(
    session: &Session,
    connection: &Connection,
    (header, message): (&Header<'m>, &Message<'m>),
    seq: SeqNum,
    unexpected: Option<Unexpected>,
    checker: &mut Checker<'_, 'm>,
    now: Now,
) -> Reaction<'m> {
    let row = row_of(header.msg_type);
    debug_assert!(row.is_some_and(|row| unexpected.is_none_or(|why| row.unexpected.contains(&why))));
    let is_reset_logon = header.msg_type == msg_type::LOGON && unexpected.is_some();
    if is_reset_logon && let Err(refusal) = logon::check(session, header, message, now) {
        return refuse_reset(connection, refusal);
    }
    // R-CHECK-8
    if let Some(reject) = fault(session, message, row, checker) {
        // The answer to our own Logout ends the session whatever is wrong with it. R-LOGOUT-2
        if header.msg_type == msg_type::LOGOUT && !header.poss_dup && connection.logon.logout_is_sent() {
            return logout(connection, message, seq);
        }
        return match (unexpected, row.map_or(OnFault::Reject, |row| row.refusal)) {
            // It waits for its turn as any other message does, and is rejected then.
            (Some(Unexpected::TooHigh), _) if connection.logon.phase() == Phase::LogoutAnswered => {
                Reaction::Ignore
            }
            (Some(Unexpected::TooHigh), _) => Reaction::TooHigh(waits(header)),
            (Some(Unexpected::Resetting), OnFault::Reject) => Reaction::IgnoreBeforeReset,
            (Some(_), OnFault::InvalidLogon) => {
                let (text, fault) = (reject.text.clone(), reject.logon_fault());
                refuse_reset(connection, logon::refuse(session, header, seq, (reject, &text), fault))
            }
            (_, OnFault::Report) => {
                Answer { told: Told::Event(reject_received(message)), ..Answer::take() }.into()
            }
            _ => Answer::reject(seq, header.msg_type, reject).into(),
        };
    }
    let decision = match (unexpected, header.msg_type) {
        (Some(Unexpected::Reset), msg_type::LOGON) => match &connection.logon.phase {
            PhaseState::LogoutSent(leave) => return logon::reset_after_logout(session, connection, leave),
            _ => logon::reset_in_session(session, message),
        },
        (Some(Unexpected::Resetting), msg_type::LOGON) => logon::reset_answered(session, message, seq),
        (Some(Unexpected::TooHigh), _) => return ahead(session, connection, header, message, seq),
        (Some(Unexpected::TooLow), msg_type::RESEND_REQUEST) => {
            return resend_request(session, header, message, seq);
        }
        _ => return session_layer(session, connection, header, message, seq),
    };
    decision.map_or_else(core::convert::identity, Reaction::from)
}

/// Refuses a Logon in the session: one that has crossed our Logout without an answer.
// R-LOGOUT-12
fn refuse_reset<'m>(connection: &Connection, refusal: Reaction<'m>) -> Reaction<'m> {
    if connection.logon.logout_is_sent() { refusal.without_logout() } else { refusal }
}

/// Steps 15 and later: the reaction to a message of the session layer that is valid.
fn session_layer<'m>(
    session: &Session,
    connection: &Connection,
    header: &Header<'m>,
    message: &Message<'m>,
    seq: SeqNum,
) -> Reaction<'m> {
    match header.msg_type {
        // R-HEARTBEAT-4
        msg_type::HEARTBEAT => Reaction::Take,
        // R-REJECT-5
        msg_type::REJECT => Answer { told: Told::Event(reject_received(message)), ..Answer::take() }.into(),
        msg_type::SEQUENCE_RESET => sequence_reset(session, header, message, seq),
        // A session-layer message that is sent again has already had its effect. R-POSSDUP-5
        msg_type::TEST_REQUEST | msg_type::RESEND_REQUEST | msg_type::LOGOUT | msg_type::LOGON
            if header.poss_dup =>
        {
            Reaction::Take
        }
        msg_type::TEST_REQUEST => test_request(session, header, message, seq),
        // One that waited was answered when it arrived.
        msg_type::RESEND_REQUEST
            if session.intake.reading.reordered.is_some()
                || connection.logon.request_answered == Some(seq) =>
        {
            Reaction::Take
        }
        msg_type::RESEND_REQUEST => resend_request(session, header, message, seq),
        msg_type::LOGOUT => logout(connection, message, seq),
        msg_type::LOGON => second_logon(session, seq),
        _ => Reaction::Take,
    }
}

/// 11: the reaction to a valid Logout or ResendRequest from after a gap.
fn ahead<'m>(
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
        if answered || connection.logon.phase() == Phase::LogoutSent {
            return logout(connection, message, seq);
        }
        // R-LOGOUT-4
        return Reaction::TooHigh(TooHigh { logs_out: true, ..waits(header) });
    }
    // R-GAP-6
    // It is answered first, so that two sides that wait for each other can both continue (test case
    // 20). The side that asks us has not received our request, or our gap is still open after it.
    let first = match resend_request(session, header, message, seq) {
        Reaction::Replay { begin, end } => Some(Box::new(Answer::replay(begin, end))),
        Reaction::Answer(refusal) => Some(refusal),
        _ => None,
    };
    let ask_again = behavior.resend_request_beyond_gap == ResendRequestBeyondGap::AskedAgain;
    Reaction::TooHigh(TooHigh { first, ask_again, ..waits(header) })
}

/// TestRequest (1): answered at once with a Heartbeat with the same TestReqID (test case 4b).
// R-HEARTBEAT-2
fn test_request<'m>(
    session: &Session,
    header: &Header<'m>,
    message: &Message<'m>,
    seq: SeqNum,
) -> Reaction<'m> {
    let id = message.get(tag::TEST_REQ_ID).unwrap_or_default();
    if id.len() > session.largest_reflected_value() {
        // No Heartbeat could contain it.
        let out_of_range = Reject::naming(SessionRejectCode::VALUE_IS_INCORRECT, tag::TEST_REQ_ID);
        return Answer::reject(seq, header.msg_type, out_of_range).into();
    }
    Reaction::Beat(id)
}

/// ResendRequest (2): begins to send again what was requested (test case 8).
fn resend_request<'m>(
    session: &Session,
    header: &Header<'m>,
    message: &Message<'m>,
    seq: SeqNum,
) -> Reaction<'m> {
    let refuse = |reject| Answer::reject(seq, header.msg_type, reject).into();
    let last = session.state.stored.next_out.previous();
    let out_of_range = SessionRejectCode::VALUE_IS_INCORRECT;
    // That both are there has been checked.
    let [begin, end] =
        [tag::BEGIN_SEQ_NO, tag::END_SEQ_NO].map(|tag| SeqNum(number(message, tag).unwrap_or_default()));
    // R-RESEND-1
    // 0 is infinity since FIX.4.2, 999999 up to FIX.4.1; both are accepted from every counterparty.
    let open_ended = end == SeqNum::ZERO || end == SeqNum(999_999) || end > last;
    let end = if open_ended { last } else { end };
    // R-RESEND-2
    if session.fixed.behavior.empty_resend_request == EmptyResendRequest::Rejected {
        if begin == SeqNum::ZERO || begin > last {
            return refuse(Reject::naming(out_of_range, tag::BEGIN_SEQ_NO));
        }
        if begin > end {
            return refuse(Reject::naming(out_of_range, tag::END_SEQ_NO));
        }
    }
    Reaction::Replay { begin: begin.max(SeqNum::ONE), end }
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
    let out_of_range = SessionRejectCode::VALUE_IS_INCORRECT;
    // That it is there has been checked.
    let new = SeqNum(number(message, tag::NEW_SEQ_NO).unwrap_or_default());
    let rejected = |reject| Answer::reject(seq, header.msg_type, reject);
    if new == SeqNum::MAX {
        // The largest sequence number is never used. R-SEQ-6
        return rejected(Reject::naming(out_of_range, tag::NEW_SEQ_NO)).into();
    }
    let behavior = &session.fixed.behavior;
    // R-SEQRESET-5
    if is_gap_fill && new <= seq && behavior.gap_fill_backwards == GapFillBackwards::Rejected {
        // 10e.
        let text = format!("attempt to lower sequence number, invalid value NewSeqNo(36)={new}");
        let backwards = Reject { text: Cow::Owned(text), ..Reject::naming(out_of_range, tag::NEW_SEQ_NO) };
        return rejected(backwards).into();
    }
    if new < stored.next_in {
        // R-SEQRESET-7
        // 11c: NextNumIn does not change, even if the message's own sequence number was expected.
        let lower = named(out_of_range, tag::NEW_SEQ_NO, behavior.lower_reset_tag);
        return Answer { number: NumberUse::Kept, ..rejected(lower) }.into();
    }
    if is_gap_fill {
        // R-SEQRESET-2
        return Reaction::MoveTo(new);
    }
    let (next_in, next_out) = (new, stored.next_out);
    // R-SEQRESET-6
    let reason = if new == stored.next_in { "SequenceReset to the same number" } else { "SequenceReset" };
    let told = Told::Event(Event::SequenceChanged { next_in, next_out, reason });
    Answer { number: NumberUse::RestartsAt(new), told, ..Answer::take() }.into()
}

/// Answers a Logon in the session that does not reset it.
// R-LOGON-22
fn second_logon<'m>(session: &Session, seq: SeqNum) -> Reaction<'m> {
    let end = SessionEnd::PeerMisbehaved(Misbehavior::DuplicateLogon);
    match session.fixed.behavior.second_logon {
        Farewell::Silence => SessionReaction::close(end).into(),
        Farewell::Logout => misbehaved("Logon in a session that is logged on", Some(seq), end).into(),
    }
}

/// The counterparty logs out or answers our Logout. A Logout of ours that waits for a replay has
/// not been sent, so this cannot be its answer.
fn logout<'m>(connection: &Connection, message: &Message<'m>, seq: SeqNum) -> Reaction<'m> {
    let then = if connection.logon.logout_is_sent() {
        // R-LOGOUT-2
        Then::LoggedOut
    } else {
        Then::AnswerLogout { cause: Some(seq), end: expects_more(message) }
    };
    // One that waited behind a gap was reported when it arrived.
    let is_told = connection.logon.logout_waits == Some(seq);
    let told = if is_told { Told::Nothing } else { Told::Event(logout_received(message)) };
    Answer { told, ..Answer::take().then(then) }.into()
}
