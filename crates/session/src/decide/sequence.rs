//! Decides about a message whose sequence number is not the expected one, and about one that claims
//! to be sent again. Nothing is changed here.

use fixbolt_codec::{Message, SeqNum};
use fixbolt_dictionary::SessionRejectCode;

use crate::decide::answers::{logout_received, logout_text, named, number_too_low, reject_and_log_out};
use crate::decide::fields::Unexpected;
use crate::decide::reaction::{Answer, Reaction, Told, TooHigh};
use crate::events::end::{Misbehavior, SessionEnd};
use crate::settings::behavior::{LogoutTooHigh, PossDupFault, ResendRequestBeyondGap, TooLow};
use crate::state::Connection;
use crate::state::missing::Resent;
use crate::state::session::Session;
use crate::state::throttling::Requested;
use crate::values::fix::{msg_type, tag};
use crate::wire::admin_message::{Reject, missing};
use crate::wire::header::{Header, number, unix_nanos};

/// The result of the checks that need no dictionary.
pub(crate) enum Arrived<'m> {
    /// The first message of a connection.
    First,
    /// The message is the expected one, which we may have requested: the dictionary's checks come
    /// next.
    Due(SeqNum, Option<Requested>),
    /// A message of the session layer that acts although its number may not be the expected one,
    /// once it is valid.
    Unexpected(SeqNum, Unexpected),
    Decided(Reaction<'m>),
}

/// 9 and 10: the sequence number is too low.
pub(crate) fn too_low<'m>(
    session: &Session,
    connection: &Connection,
    header: &Header<'m>,
    message: &Message<'m>,
    seq: SeqNum,
) -> Arrived<'m> {
    let behavior = &session.fixed.behavior;
    if fills_the_rest(session, connection, header, message) {
        return Arrived::Unexpected(seq, Unexpected::TooLow);
    }
    let is_answered = match header.msg_type {
        // R-LOGOUT-5
        msg_type::LOGOUT => behavior.logout_too_low == TooLow::Answered,
        // R-RESEND-9
        msg_type::RESEND_REQUEST => behavior.resend_request_too_low == TooLow::Answered,
        _ => false,
    };
    if is_answered && !header.poss_dup {
        return Arrived::Unexpected(seq, Unexpected::TooLow);
    }
    Arrived::Decided(if is_answered && header.msg_type == msg_type::LOGOUT {
        Reaction::Take
    } else if header.poss_dup {
        // 2f, 2g: the Reject uses only a sequence number of ours.
        match poss_dup_fault(session, header, message, false) {
            Some((reject, consequence)) => reject_poss_dup(session, header, seq, reject, consequence),
            // R-POSSDUP-1
            None => Reaction::IgnoreDuplicate(seq),
        }
    } else {
        // R-SEQRESET-4
        let answer = number_too_low(session.state.stored.next_in, seq);
        // Why the counterparty logs out is worth knowing whatever its sequence number.
        let is_logout = header.msg_type == msg_type::LOGOUT;
        let told = if is_logout { Told::Event(logout_received(message)) } else { Told::Nothing };
        Answer { told, ..answer }.into()
    })
}

/// 10c: returns whether a gap fill that is sent again begins before NextNumIn and fills what we
/// have asked for from there on. What came since we asked was buffered then.
// R-SEQRESET-3
fn fills_the_rest(
    session: &Session,
    connection: &Connection,
    header: &Header<'_>,
    message: &Message<'_>,
) -> bool {
    let next_in = session.state.stored.next_in;
    header.msg_type == msg_type::SEQUENCE_RESET
        && header.poss_dup
        && connection.logon.missing.is_some_and(|gap| {
            let new = number(message, tag::NEW_SEQ_NO).map_or(SeqNum::ZERO, SeqNum);
            new > next_in && gap.asked_to.is_none_or(|last| new <= last.next())
        })
}

/// 11: messages are missing before this one.
// R-GAP-1
pub(crate) fn too_high<'m>(
    session: &Session,
    connection: &Connection,
    header: &Header<'m>,
    seq: SeqNum,
) -> Arrived<'m> {
    let behavior = &session.fixed.behavior;
    let is_request = header.msg_type == msg_type::RESEND_REQUEST;
    // A request that was answered before is asked for again with what it has shown to be missing.
    let asks_again = is_request && behavior.resend_request_beyond_gap == ResendRequestBeyondGap::AskedAgain;
    match header.msg_type {
        msg_type::LOGOUT if !header.poss_dup => return Arrived::Unexpected(seq, Unexpected::TooHigh),
        msg_type::LOGOUT if behavior.logout_too_high == LogoutTooHigh::Answered => {
            return Arrived::Decided(Reaction::Take);
        }
        msg_type::RESEND_REQUEST if !header.poss_dup && connection.logon.request_answered != Some(seq) => {
            return Arrived::Unexpected(seq, Unexpected::TooHigh);
        }
        _ => {}
    }
    let first = is_request.then(|| Box::new(Answer::take()));
    let ask_again = if header.poss_dup { answer_passed(session, connection, seq) } else { asks_again };
    Arrived::Decided(Reaction::TooHigh(TooHigh { first, ask_again, ..waits(header) }))
}

/// 11: the message waits for those that are missing before it, and does nothing else.
pub(crate) fn waits<'m>(header: &Header<'_>) -> TooHigh<'m> {
    // A gap fill from after a gap is requested again with the rest. R-SEQRESET-1
    let keep = header.msg_type != msg_type::SEQUENCE_RESET;
    TooHigh { first: None, keep, ask_again: false, logs_out: false }
}

/// Returns whether the answer to our request, which a message from after the gap belongs to, has
/// passed the gap without filling it. The answer to an earlier request has not.
fn answer_passed(session: &Session, connection: &Connection, seq: SeqNum) -> bool {
    connection
        .logon
        .missing
        .is_none_or(|gap| gap.begin != session.state.stored.next_in || gap.resent_with(seq) == Resent::Begun)
}

/// 2f and 2g: returns what is wrong with a message that claims to be sent again, and the reaction.
// R-POSSDUP-3
pub(crate) fn poss_dup_fault<'m>(
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
        None if session.fixed.settings.validation.requires_orig_sending_time => {
            (missing(tag::ORIG_SENDING_TIME), on_missing)
        }
        None => return None,
        Some(original) => match unix_nanos(original) {
            None => {
                let reason = SessionRejectCode::INCORRECT_DATA_FORMAT_FOR_VALUE;
                (Reject::naming(reason, tag::ORIG_SENDING_TIME), on_missing)
            }
            // R-POSSDUP-4
            Some(original) if original > header.sent? => {
                let reason = SessionRejectCode::SENDING_TIME_ACCURACY_PROBLEM;
                (named(reason, tag::ORIG_SENDING_TIME, behavior.orig_sending_time_tag), on_late)
            }
            Some(_) => return None,
        },
    };
    (consequence != PossDupFault::NotChecked).then_some((reject, consequence))
}

pub(crate) fn reject_poss_dup<'m>(
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
