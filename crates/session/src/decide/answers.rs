//! What several decisions answer or report.

use std::borrow::Cow;

use fixbolt_codec::{FromField, Message, Redacted, SeqNum, Tag};
use fixbolt_dictionary::{BusinessRejectCode, RefTag, SessionRejectCode};

use crate::decide::reaction::{Answer, LogOut, Parting, Reaction, SessionReaction, Then};
use crate::events::end::{Misbehavior, SessionEnd};
use crate::events::event::Event;
use crate::events::rejects::BusinessReject;
use crate::settings::behavior::{Farewell, LogoutText, RefTagId};
use crate::state::session::Session;
use crate::values::fix::{msg_type, session_status, tag};
use crate::wire::admin_message::{AdminMessage, Reject};
use crate::wire::header::{Header, number};

/// Returns a BusinessMessageReject (35=j), or a Reject for FIX.4.0 and 4.1, which have none. A
/// BusinessMessageReject is not answered with another one, because two sides could do so forever.
pub(crate) fn business_reject<'m>(
    session: &Session,
    header: &Header<'m>,
    seq: SeqNum,
    reject: BusinessReject,
) -> Option<AdminMessage<'m>> {
    let msg_type = header.msg_type;
    // R-BUSINESS-1
    if !session.fixed.is_42_or_later() {
        let mut text = reject.text;
        if text == BusinessRejectCode::UNSUPPORTED_MESSAGE_TYPE.text() {
            // Test case 2r: the words of the engines that compare it.
            text = Cow::Borrowed("Unsupported message type");
        }
        let reject = Reject { text, ..Reject::of(SessionRejectCode::OTHER, None) };
        return Some(AdminMessage::Reject { seq, msg_type, reject });
    }
    // R-BUSINESS-2
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
// R-CHECK-2
pub(crate) fn without_number<'m>(message: &Message<'m>, farewell: Farewell) -> Reaction<'m> {
    let is_there = message.get(tag::MSG_SEQ_NUM).is_some();
    let end = SessionEnd::PeerMisbehaved(match is_there {
        true => Misbehavior::MalformedMsgSeqNum,
        false => Misbehavior::NoMsgSeqNum,
    });
    match farewell {
        Farewell::Silence => SessionReaction::close(end).into(),
        Farewell::Logout => misbehaved("Received message without MsgSeqNum", None, end).into(),
    }
}

/// Sends a Logout with this Text and closes the connection, because the counterparty violated the
/// protocol.
// R-LOGOUT-12
pub(crate) fn misbehaved<'m>(
    text: impl Into<Cow<'m, str>>,
    cause: Option<SeqNum>,
    end: SessionEnd,
) -> Answer<'m> {
    Answer::log_out(LogOut { text: text.into(), cause, end, parting: Parting::Close })
}

/// 9: answers a sequence number that is too low.
// R-SEQ-4
pub(crate) fn number_too_low<'m>(expected: SeqNum, seq: SeqNum) -> Answer<'m> {
    let text = format!("MsgSeqNum too low, expecting {expected} but received {seq}");
    let too_low = Misbehavior::MsgSeqNumTooLow { expected, received: seq };
    let (end, parting) = (SessionEnd::PeerMisbehaved(too_low), Parting::CloseAfterAnother);
    Answer::log_out(LogOut { text: text.into(), cause: Some(seq), end, parting })
}

pub(crate) fn named<'m>(reason: SessionRejectCode, tag: Tag, named: RefTagId) -> Reject<'m> {
    match named {
        RefTagId::Named => Reject::of(reason, Some(RefTag::Number(tag.number()))),
        RefTagId::Omitted => Reject::of(reason, None),
    }
}

pub(crate) fn logout_text<'m>(reject: &Reject<'m>, tag: Tag, text: LogoutText) -> Cow<'m, str> {
    match text {
        LogoutText::Given => reject.text.clone(),
        LogoutText::GivenWithField => Cow::Owned(format!("{}, field={}", reject.text, tag.number())),
        LogoutText::Omitted => Cow::Borrowed(""),
    }
}

pub(crate) fn reject_and_log_out<'m>(
    header: &Header<'m>,
    seq: SeqNum,
    reject: Reject<'m>,
    text: Cow<'m, str>,
    end: SessionEnd,
) -> Answer<'m> {
    let log_out = LogOut { text, cause: Some(seq), end, parting: Parting::AwaitAnswer };
    Answer::reject(seq, header.msg_type, reject).then(Then::LogOut(log_out))
}

/// Returns how the session ends if the counterparty logs out because our MsgSeqNum is too low: it
/// says so with SessionStatus (1409) and NextExpectedMsgSeqNum (789), or with a Text that every
/// engine writes alike, such as "MsgSeqNum too low, expecting 12 but received 3".
// R-LOGOUT-9
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
