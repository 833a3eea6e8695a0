//! Decides what to do about a Logon: whether the counterparty may log on, and whether the Logon is
//! valid. Nothing is changed here.

use fixbolt_codec::{FromField, Message, SeqNum};
use fixbolt_dictionary::SessionRejectReason;

use crate::admin_message::{AdminMessage, Reject, missing};
use crate::behavior::{Farewell, InvalidLogon};
use crate::end::{Misbehavior, SessionEnd};
use crate::fix::{YES, msg_type, tag};
use crate::header::{Header, number};
use crate::heart_bt_int::HEART_BT_INT_MAX;
use crate::inbound::{logout_received, misbehaved, number_too_low, without_number};
use crate::reaction::{Agreed, Answer, LogOut, NumberUse, Reaction, Then, Told};
use crate::session::Session;
use crate::state::Connection;
use crate::time::{Now, Utc};

/// The smallest MaxMessageSize (383) that is accepted, in bytes: every message of the session layer
/// must fit into it.
pub(crate) const SMALLEST_MAX_MESSAGE_SIZE: u64 = 512;

/// Decides about the first message of a connection; `None` if it is a Logon of the session's
/// counterparty, which must still be authenticated and checked.
pub(crate) fn first_message<'m>(
    session: &Session,
    header: &Header<'m>,
    message: &Message<'m>,
) -> Option<Reaction<'m>> {
    match header.msg_type {
        msg_type::LOGON => {
            let id = &session.settings.id;
            // 1S-c: strangers get no answer.
            let known = header.sender_comp_id == Some(id.target_comp_id().as_bytes())
                && header.target_comp_id == Some(id.sender_comp_id().as_bytes())
                && message.begin_string() == id.version().begin_string().as_bytes();
            (!known).then_some(Reaction::close(SessionEnd::PeerMisbehaved(Misbehavior::CompId)))
        }
        msg_type::LOGOUT if !session.is_acceptor() => {
            let event = logout_received(message);
            if header.seq != Some(session.state.stored.next_in) {
                return Some(Reaction::Close(SessionEnd::LoggedOutByPeer, Some(event)));
            }
            let then = Then::Close(SessionEnd::LoggedOutByPeer);
            Some(Answer { then, told: Told::Event(event), ..Answer::take() }.into())
        }
        _ => Some(Reaction::close(SessionEnd::PeerMisbehaved(Misbehavior::FirstMessageNotLogon))),
    }
}

/// Refuses the logon because the application did. The only answer is the Text that the application
/// chose, if any.
pub(crate) fn refused_by_application<'m>(seq: Option<SeqNum>, text: Option<String>) -> Reaction<'m> {
    match text {
        None => Reaction::close(SessionEnd::LogonRefused),
        Some(text) => misbehaved(text, seq, SessionEnd::LogonRefused).into(),
    }
}

/// Checks the Logon of an authenticated counterparty as far as possible without a dictionary. `Err`
/// holds the reaction that refuses it.
///
/// Rules 3, 4 and 5.1 of the standard's Logon.
pub(crate) fn check<'m>(
    session: &Session,
    header: &Header<'m>,
    message: &Message<'m>,
    now: Now,
) -> Result<SeqNum, Box<Reaction<'m>>> {
    let behavior = &session.behavior;
    let Some(seq) = header.seq else {
        return Err(Box::new(without_number(behavior.logon_without_seq_num)));
    };
    let refused = |text: &str, misbehavior| {
        let end = SessionEnd::PeerMisbehaved(misbehavior);
        Box::new(match behavior.refused_logon {
            Farewell::Silence => Reaction::close(end),
            Farewell::Logout => misbehaved(text.to_owned(), Some(seq), end).into(),
        })
    };
    let invalid = |text: &str| refused(text, Misbehavior::InvalidLogon);
    let fault = match (header.sent(), session.settings.sending_time_threshold) {
        (None, _) => Some(Misbehavior::InvalidLogon),
        (Some(sent), Some(limit)) if !session.reading.sent_within(sent, now.utc, limit) => {
            Some(Misbehavior::SendingTime { sent: Utc(sent), now: now.utc, limit })
        }
        _ => None,
    };
    if let Some(fault) = fault {
        let end = SessionEnd::PeerMisbehaved(fault);
        let text = SessionRejectReason::SendingTimeAccuracyProblem.text();
        return Err(Box::new(match (behavior.refused_logon, behavior.invalid_logon) {
            (Farewell::Silence, _) => Reaction::close(end),
            (Farewell::Logout, InvalidLogon::RejectAndLogout) => misbehaved(text, Some(seq), end).into(),
            (Farewell::Logout, InvalidLogon::OneLogout) => {
                let text = format!("Invalid Logon message: {text}, field={}", tag::SENDING_TIME.number());
                misbehaved(text, Some(seq), end).into()
            }
        }));
    }
    match message.get(tag::ENCRYPT_METHOD) {
        Some(b"0") => {}
        Some(_) => {
            let reject = Reject::naming(SessionRejectReason::DecryptionProblem, tag::ENCRYPT_METHOD);
            let reject = Reject { text: "EncryptMethod is not supported".into(), ..reject };
            return Err(Box::new(refuse(session, header, seq, reject, "EncryptMethod (98) must be 0")));
        }
        None => {
            let reject = missing(tag::ENCRYPT_METHOD);
            return Err(Box::new(refuse(session, header, seq, reject, "EncryptMethod (98) is missing")));
        }
    }
    match message.get(tag::HEART_BT_INT).map(i64::from_field) {
        None => {
            let reject = missing(tag::HEART_BT_INT);
            return Err(Box::new(refuse(session, header, seq, reject, "HeartBtInt (108) is missing")));
        }
        Some(Ok(seconds)) if seconds < 0 => return Err(invalid("HeartBtInt must not be negative")),
        Some(Ok(seconds))
            if let Ok(received) = u32::try_from(seconds)
                && received <= HEART_BT_INT_MAX =>
        {
            let accepted = session.settings.accepted_heart_bt_int;
            let is_ours = !session.is_acceptor() && received == session.settings.heart_bt_int;
            if !is_ours && !accepted.contains(received) {
                let text = format!("HeartBtInt (108) must be {accepted}");
                return Err(refused(&text, Misbehavior::HeartBtInt { received, accepted }));
            }
        }
        Some(_) => {
            let text = format!("HeartBtInt (108) must be a number of 0 to {HEART_BT_INT_MAX}");
            return Err(invalid(&text));
        }
    }
    if number(message, tag::MAX_MESSAGE_SIZE).is_some_and(|n| (1..SMALLEST_MAX_MESSAGE_SIZE).contains(&n)) {
        let text = format!("MaxMessageSize (383) must be at least {SMALLEST_MAX_MESSAGE_SIZE}");
        return Err(invalid(&text));
    }
    if header.is_reset_logon(message) && seq != SeqNum::ONE {
        return Err(invalid("ResetSeqNumFlag (141) is Y, but MsgSeqNum (34) is not 1"));
    }
    Ok(seq)
}

/// Refuses a Logon because of one of its fields: with a Reject and a Logout, or with a Logout
/// alone. No sequence number of the counterparty is used.
pub(crate) fn refuse<'m>(
    session: &Session,
    header: &Header<'m>,
    seq: SeqNum,
    reject: Reject<'m>,
    text: &str,
) -> Reaction<'m> {
    let end = SessionEnd::PeerMisbehaved(Misbehavior::InvalidLogon);
    let (reply, text) = match session.behavior.invalid_logon {
        InvalidLogon::OneLogout => {
            let field = reject.tag_text().map(|tag| format!(", field={tag}")).unwrap_or_default();
            (None, format!("Invalid Logon message: {}{field}", reject.reason.text()))
        }
        InvalidLogon::RejectAndLogout => {
            (Some(AdminMessage::Reject { seq, msg_type: header.msg_type, reject }), text.to_owned())
        }
    };
    let log_out = LogOut { text: text.into(), cause: Some(seq), end, await_answer: false };
    Answer { reply, ..Answer::log_out(log_out) }.into()
}

/// Accepts a valid Logon unless its sequence number is too low, or its ResetSeqNumFlag does not
/// match ours.
pub(crate) fn in_order<'m>(
    session: &Session,
    connection: &Connection,
    message: &Message<'m>,
    seq: SeqNum,
) -> Reaction<'m> {
    let asked = message.get(tag::RESET_SEQ_NUM_FLAG) == Some(YES);
    let next_in = session.state.stored.next_in;
    if session.is_acceptor() {
        let reset = match (asked, session.settings.reset_on_logon) {
            (true, _) => Some("ResetSeqNumFlag of the counterparty"),
            (false, true) => Some("ResetOnLogon"),
            (false, false) => None,
        };
        let expected = if reset.is_some() { SeqNum::ONE } else { next_in };
        if seq < expected {
            return number_too_low(expected, seq).into();
        }
        return accept(message, reset, Some(asked), false).into();
    }
    let invalid = |text| misbehaved(text, Some(seq), SessionEnd::PeerMisbehaved(Misbehavior::InvalidLogon));
    match (connection.reset_asked, asked) {
        (true, false) => return invalid("the answer to ResetSeqNumFlag=Y does not reset").into(),
        (true, true) if seq != SeqNum::ONE => {
            return invalid("the answer to ResetSeqNumFlag=Y does not reset").into();
        }
        (false, true) => {
            let text = "ResetSeqNumFlag=Y in the answer to a Logon that did not ask for it";
            return invalid(text).into();
        }
        (false, false) if seq < next_in => return number_too_low(next_in, seq).into(),
        _ => {}
    }
    let mut answer = accept(message, None, None, false);
    if let Then::LoggedOn(agreed) = &mut answer.then {
        agreed.reset = connection.reset_asked;
        let (ours, theirs) = (session.settings.heart_bt_int, agreed.heart_bt_int);
        if ours != theirs {
            answer.told = Told::Note(format!(
                "HeartBtInt is {theirs} s, as the counterparty wants it; we proposed {ours} s"
            ));
        }
    }
    answer.into()
}

/// Answers a Logon with ResetSeqNumFlag=Y in a live session (24-hour reset): both sequence numbers
/// start at 1, and our answer is the same.
pub(crate) fn reset_in_session<'m>(message: &Message<'m>) -> Reaction<'m> {
    accept(message, Some("ResetSeqNumFlag of the counterparty"), Some(true), true).into()
}

/// Accepts a Logon. `answer` is the ResetSeqNumFlag of our answer, if there is one.
fn accept<'m>(
    message: &Message<'m>,
    reset: Option<&'static str>,
    answer: Option<bool>,
    in_session: bool,
) -> Answer<'m> {
    let seconds = number(message, tag::HEART_BT_INT).and_then(|n| u32::try_from(n).ok());
    let heart_bt_int = seconds.unwrap_or_default();
    let theirs = number(message, tag::MAX_MESSAGE_SIZE).and_then(|n| usize::try_from(n).ok());
    let agreed = Agreed {
        heart_bt_int,
        max_message_size: theirs.filter(|n| *n > 0).unwrap_or(usize::MAX),
        in_session,
        reset: reset.is_some(),
    };
    Answer {
        reset,
        number: NumberUse::WhenDue,
        reply: answer.map(|reset| AdminMessage::Logon { heart_bt_int, reset, body: Vec::new() }),
        then: Then::LoggedOn(agreed),
        told: Told::Nothing,
    }
}
