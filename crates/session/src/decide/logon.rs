//! Decides what to do about a Logon: whether the counterparty may log on, and whether the Logon is
//! valid. Nothing is changed here.

use fixbolt_codec::{FromField, Message, SeqNum, Tag, Version};
use fixbolt_dictionary::SessionRejectCode;

use crate::decide::answers::{
    expects_more, logout_received, misbehaved, number_too_low, reject_received, text_of, without_number,
};
use crate::decide::check::Checker;
use crate::decide::fields::logon_fault;
use crate::decide::reaction::{
    Agreed, Answer, LogOut, NumberUse, Parting, Reaction, SessionReaction, Then, Told,
};
use crate::events::end::{Misbehavior, SessionEnd};
use crate::events::logon::{LogonFault, LogonRefusal, RefusingAnswer};
use crate::settings::behavior::{Farewell, InvalidLogon, OptionalField};
use crate::settings::heart_bt_int::HEART_BT_INT_MAX;
use crate::settings::reset::TooLowAtLogon;
use crate::settings::validation::TestMessageIndicator;
use crate::state::phase::{Leave, PhaseState};
use crate::state::session::Session;
use crate::state::{Connection, Phase};
use crate::values::fix::{YES, msg_type, session_status, tag};
use crate::values::time::{Now, Utc};
use crate::wire::admin_message::{AdminMessage, OurLogon, Reject, missing};
use crate::wire::header::{Header, number};

/// The smallest MaxMessageSize (383) that is accepted, in bytes: every message of the session layer
/// must fit into it.
pub(crate) const SMALLEST_MAX_MESSAGE_SIZE: u64 = 512;

/// Text (58) of the Logout that answers a Logon outside the session's schedule.
const OUTSIDE_SCHEDULE: &str = "Logon attempt not within session time";

/// Text (58) of the Logout that answers a Logon which does not reset although ours does.
const NO_RESET: &str = "the answer to ResetSeqNumFlag=Y does not reset";
/// Why the numbers are reset by a Logon that the counterparty sent before it saw our Logout.
pub(crate) const CROSSED: &str = "ResetSeqNumFlag of the counterparty, whose Logon has crossed our Logout";

/// Decides about the first message of a connection; `None` if it is a Logon of the session's
/// counterparty, which must still be authenticated and checked.
pub(crate) fn first_message<'m>(
    session: &Session,
    header: &Header<'m>,
    message: &Message<'m>,
) -> Option<Reaction<'m>> {
    match header.msg_type {
        // 1S-c: strangers get no answer. R-LOGON-4
        msg_type::LOGON => stranger(session, header, message)
            .map(|other| SessionReaction::close(SessionEnd::PeerMisbehaved(other)).into()),
        // R-LOGON-23
        msg_type::LOGOUT | msg_type::REJECT if !session.is_acceptor() => {
            let is_logout = header.msg_type == msg_type::LOGOUT;
            let event = if is_logout { logout_received(message) } else { reject_received(message) };
            let end = expects_more(message)
                .unwrap_or_else(|| SessionEnd::LogonRefusedByPeer(Box::new(why_refused(message, is_logout))));
            if header.seq != Some(session.state.stored.next_in) {
                return Some(SessionReaction::close_and_tell(end, event).into());
            }
            let then = Then::Close(end);
            Some(Answer { then, told: Told::Event(event), ..Answer::take() }.into())
        }
        _ => {
            // R-LOGON-1
            Some(SessionReaction::close(SessionEnd::PeerMisbehaved(Misbehavior::FirstMessageNotLogon)).into())
        }
    }
}

/// Returns what shows that a Logon is not of the session's counterparty; `None` if it is.
fn stranger(session: &Session, header: &Header<'_>, message: &Message<'_>) -> Option<Misbehavior> {
    let id = &session.fixed.settings.id;
    let is_named = header.sender_comp_id == Some(id.target_comp_id().as_bytes())
        && header.target_comp_id == Some(id.sender_comp_id().as_bytes())
        // Acceptors often answer without the initiator's SubIDs.
        && (!session.is_acceptor() || id.sub_ids_are_in(message));
    if !is_named {
        return Some(Misbehavior::CompId);
    }
    let is_other_version = message.begin_string() != id.version().begin_string().as_bytes();
    is_other_version.then_some(Misbehavior::BeginString)
}

/// Returns why the counterparty refuses our Logon, as its Logout or its Reject says.
fn why_refused(message: &Message<'_>, is_logout: bool) -> LogonRefusal {
    let answer = if is_logout {
        RefusingAnswer::Logout { status: number(message, tag::SESSION_STATUS) }
    } else {
        let named = message.get(tag::REF_TAG_ID).and_then(|tag| Tag::from_field(tag).ok());
        RefusingAnswer::Reject { reason: number(message, tag::SESSION_REJECT_REASON), tag: named }
    };
    LogonRefusal::new(answer, text_of(message))
}

/// Returns SessionStatus (1409) and what it means, if it has one of the standard's values.
fn status(message: &Message<'_>) -> Option<(u64, &'static str)> {
    let status = number(message, tag::SESSION_STATUS)?;
    Some((status, session_status::meaning(status)?))
}

/// Refuses the logon because the application did. The only answer is the Text that the application
/// chose, if any.
// R-LOGON-6
pub(crate) fn refused_by_application<'m>(seq: Option<SeqNum>, text: Option<String>) -> Reaction<'m> {
    match text {
        None => SessionReaction::close(SessionEnd::LogonRefused).into(),
        Some(text) => misbehaved(text, seq, SessionEnd::LogonRefused).into(),
    }
}

/// Decides about the Logon of a counterparty that the application has accepted.
pub(crate) fn decide<'m>(
    session: &Session,
    header: &Header<'m>,
    message: &Message<'m>,
    checker: &mut Checker<'_, 'm>,
    now: Now,
) -> Reaction<'m> {
    let seq = match check(session, header, message, now) {
        Ok(seq) => seq,
        Err(refusal) => return refusal,
    };
    // R-LOGON-15
    if let Some(reject) = logon_fault(session, message, checker) {
        let (text, fault) = (reject.text.clone(), reject.logon_fault());
        return refuse(session, header, seq, (reject, &text), fault);
    }
    let Some(connection) = &session.state.connection else { return Reaction::Ignore };
    in_order(session, connection, message, seq).map_or_else(core::convert::identity, Reaction::from)
}

/// Checks the Logon of an authenticated counterparty as far as possible without a dictionary. `Err`
/// holds the reaction that refuses it.
///
/// R-LOGON-9 to R-LOGON-17, and R-RESET-2.
pub(crate) fn check<'m>(
    session: &Session,
    header: &Header<'m>,
    message: &Message<'m>,
    now: Now,
) -> Result<SeqNum, Reaction<'m>> {
    let behavior = &session.fixed.behavior;
    let Some(seq) = header.seq else {
        return Err(without_number(message, behavior.logon_without_seq_num));
    };
    // R-SCHEDULE-2. Our Logout may have been sent because of the schedule.
    if session.state.phase() != Phase::LogoutSent
        && let Some(end) = session.outside_schedule()
    {
        return Err(match behavior.logon_outside_schedule {
            Farewell::Silence => SessionReaction::close(end).into(),
            Farewell::Logout => misbehaved(OUTSIDE_SCHEDULE, Some(seq), end).into(),
        });
    }
    let refused = |text: &str, misbehavior| {
        let end = SessionEnd::PeerMisbehaved(misbehavior);
        match behavior.refused_logon {
            Farewell::Silence => SessionReaction::close(end).into(),
            Farewell::Logout => misbehaved(text.to_owned(), Some(seq), end).into(),
        }
    };
    let invalid = |text: &str, fault| refused(text, Misbehavior::InvalidLogon(fault));
    // R-LOGON-14
    let fault = match (header.sent, session.fixed.settings.timing.max_latency) {
        (None, _) => Some(Misbehavior::InvalidLogon(LogonFault::SendingTime)),
        (Some(sent), Some(limit)) if !session.intake.reading.sent_within(sent, now.utc, limit) => {
            Some(Misbehavior::SendingTime { sent: Utc(sent), now: now.utc, limit })
        }
        _ => None,
    };
    if let Some(fault) = fault {
        let end = SessionEnd::PeerMisbehaved(fault);
        let text = SessionRejectCode::SENDING_TIME_ACCURACY_PROBLEM.text();
        return Err(match (behavior.refused_logon, behavior.invalid_logon) {
            (Farewell::Silence, _) => SessionReaction::close(end).into(),
            (Farewell::Logout, InvalidLogon::RejectAndLogout) => misbehaved(text, Some(seq), end).into(),
            (Farewell::Logout, InvalidLogon::OneLogout) => {
                let text = format!("Invalid Logon message: {text}, field={}", tag::SENDING_TIME.number());
                misbehaved(text, Some(seq), end).into()
            }
        });
    }
    // R-LOGON-9
    match message.get(tag::ENCRYPT_METHOD) {
        Some(b"0") => {}
        Some(_) => {
            let reject = Reject::naming(SessionRejectCode::DECRYPTION_PROBLEM, tag::ENCRYPT_METHOD);
            let reject = Reject { text: "EncryptMethod is not supported".into(), ..reject };
            let text = "EncryptMethod (98) must be 0";
            return Err(refuse(session, header, seq, (reject, text), LogonFault::EncryptMethod));
        }
        None => {
            let reject = missing(tag::ENCRYPT_METHOD);
            let fault = reject.logon_fault();
            return Err(refuse(session, header, seq, (reject, "EncryptMethod (98) is missing"), fault));
        }
    }
    match message.get(tag::HEART_BT_INT).map(i64::from_field) {
        None => {
            // R-LOGON-10
            let reject = missing(tag::HEART_BT_INT);
            let fault = reject.logon_fault();
            return Err(refuse(session, header, seq, (reject, "HeartBtInt (108) is missing"), fault));
        }
        // R-LOGON-11
        Some(Ok(seconds)) if seconds < 0 => {
            return Err(invalid("HeartBtInt must not be negative", LogonFault::HeartBtInt));
        }
        Some(Ok(seconds))
            if let Ok(received) = u32::try_from(seconds)
                && received <= HEART_BT_INT_MAX =>
        {
            let accepted = session.fixed.settings.timing.accepted_heart_bt_int;
            let is_ours = !session.is_acceptor() && received == session.fixed.settings.timing.heart_bt_int;
            // R-LOGON-12
            if !is_ours && !decides_heart_bt_int(session) && !accepted.contains(received) {
                let text = format!("HeartBtInt (108) must be {accepted}");
                return Err(refused(&text, Misbehavior::HeartBtInt { received, accepted }));
            }
        }
        Some(_) => {
            let text = format!("HeartBtInt (108) must be a number of 0 to {HEART_BT_INT_MAX}");
            return Err(invalid(&text, LogonFault::HeartBtInt));
        }
    }
    if let Some(refusal) = without_version(session, header, message, seq) {
        return Err(refusal);
    }
    // R-LOGON-17
    if number(message, tag::MAX_MESSAGE_SIZE).is_some_and(|n| (1..SMALLEST_MAX_MESSAGE_SIZE).contains(&n)) {
        let text = format!("MaxMessageSize (383) must be at least {SMALLEST_MAX_MESSAGE_SIZE}");
        return Err(invalid(&text, LogonFault::MaxMessageSize));
    }
    // R-LOGON-16
    let is_test = message.get(tag::TEST_MESSAGE_INDICATOR) == Some(YES);
    if let Some(text) = session.fixed.settings.validation.test_message_indicator.refuses(is_test) {
        let end = SessionEnd::PeerMisbehaved(Misbehavior::TestMessageIndicator { is_test });
        return Err(misbehaved(text, Some(seq), end).into());
    }
    // R-RESET-2
    if header.is_reset_logon(message) && seq != SeqNum::ONE {
        let text = "ResetSeqNumFlag (141) is Y, but MsgSeqNum (34) is not 1";
        return Err(invalid(text, LogonFault::ResetSeqNumFlag));
    }
    Ok(seq)
}

/// Refuses a Logon of FIXT.1.1 that does not say which version the counterparty's messages have, or
/// names one that the session has no dictionary of.
fn without_version<'m>(
    session: &Session,
    header: &Header<'m>,
    message: &Message<'m>,
    seq: SeqNum,
) -> Option<Reaction<'m>> {
    session.fixed.settings.appl_ver_id()?;
    let absent = missing(tag::DEFAULT_APPL_VER_ID);
    let (fault, reject, text) = match message.get(tag::DEFAULT_APPL_VER_ID) {
        None if session.fixed.behavior.logon_without_appl_ver_id == Farewell::Silence => {
            let misbehavior = Misbehavior::InvalidLogon(absent.logon_fault());
            return Some(SessionReaction::close(SessionEnd::PeerMisbehaved(misbehavior)).into());
        }
        // R-FIXT-1
        None => (absent.logon_fault(), absent, "DefaultApplVerID (1137) is missing"),
        Some(_) if session.dictionaries().support(message) => return None,
        Some(_) => {
            // R-FIXT-2
            let reason = SessionRejectCode::INVALID_UNSUPPORTED_APPLICATION_VERSION;
            let text = "DefaultApplVerID (1137) is a version that this session has no dictionary of";
            (LogonFault::DefaultApplVerId, Reject::naming(reason, tag::DEFAULT_APPL_VER_ID), text)
        }
    };
    Some(refuse(session, header, seq, (reject, text), fault))
}

/// Refuses a Logon because of one of its fields: with a Reject and a Logout, or with a Logout
/// alone. No sequence number of the counterparty is used.
pub(crate) fn refuse<'m>(
    session: &Session,
    header: &Header<'m>,
    seq: SeqNum,
    (reject, text): (Reject<'m>, &str),
    fault: LogonFault,
) -> Reaction<'m> {
    let end = SessionEnd::PeerMisbehaved(Misbehavior::InvalidLogon(fault));
    let (reply, text) = match session.fixed.behavior.invalid_logon {
        InvalidLogon::OneLogout => {
            let field = reject.tag_text().map(|tag| format!(", field={tag}")).unwrap_or_default();
            (None, format!("Invalid Logon message: {}{field}", reject.reason.text()))
        }
        InvalidLogon::RejectAndLogout => {
            (Some(AdminMessage::Reject { seq, msg_type: header.msg_type, reject }), text.to_owned())
        }
    };
    let log_out = LogOut { text: text.into(), cause: Some(seq), end, parting: Parting::Close };
    Answer { reply, ..Answer::log_out(log_out) }.into()
}

/// Accepts a valid Logon unless its sequence number is too low, or its ResetSeqNumFlag does not
/// match ours.
fn in_order<'m>(
    session: &Session,
    connection: &Connection,
    message: &Message<'m>,
    seq: SeqNum,
) -> Result<Answer<'m>, Reaction<'m>> {
    let asked = message.get(tag::RESET_SEQ_NUM_FLAG) == Some(YES);
    let next_in = session.state.stored.next_in;
    if session.is_acceptor() {
        let reset = match (asked, session.fixed.settings.reset.reset_on_logon) {
            // R-RESET-1
            (true, _) => Some("ResetSeqNumFlag of the counterparty"),
            (false, true) => Some("ResetOnLogon"),
            (false, false) => None,
        };
        let expected = if reset.is_some() { SeqNum::ONE } else { next_in };
        let lowered_from = too_low(session, expected, seq)?;
        let ours = if reset.is_some() { SeqNum::ONE } else { session.state.stored.next_out };
        let replay_from = missed(message, seq, ours, ours)?;
        let agreed = Agreed { reset: reset.is_some(), lowered_from, ..agreed(session, message, replay_from) };
        // R-NEXT-6
        let counted = if seq <= expected { seq.next() } else { expected };
        let answer = self::ours(session, agreed.heart_bt_int, asked, counted);
        return Ok(accept(agreed, reset, Some(answer)));
    }
    let invalid = |text, fault| {
        misbehaved(text, Some(seq), SessionEnd::PeerMisbehaved(Misbehavior::InvalidLogon(fault)))
    };
    let reset = matches!(connection.logon.phase, PhaseState::LogonSent { asks_reset: true, .. });
    match (reset, asked) {
        // R-RESET-3
        (true, false) => return Ok(invalid(NO_RESET, LogonFault::ResetUnanswered)),
        (true, true) if seq != SeqNum::ONE => {
            return Ok(invalid(NO_RESET, LogonFault::ResetUnanswered));
        }
        // R-RESET-4
        (false, true) => {
            let text = "ResetSeqNumFlag=Y in the answer to a Logon that did not ask for it";
            return Ok(invalid(text, LogonFault::ResetUnasked));
        }
        _ => {}
    }
    let expected = if reset { SeqNum::ONE } else { next_in };
    let lowered_from = too_low(session, expected, seq)?;
    // The counterparty has counted our Logon, unless messages before it are missing there.
    let ours = connection.logon.ours.unwrap_or(session.state.stored.next_out.previous());
    let replay_from = missed(message, seq, ours, ours.next())?;
    let agreed = Agreed { reset, lowered_from, ..agreed(session, message, replay_from) };
    let mut answer = accept(agreed, None, None);
    let ours = session.fixed.settings.timing.heart_bt_int;
    let theirs = number(message, tag::HEART_BT_INT).unwrap_or_default();
    let mut notes = Vec::new();
    if theirs == 0 && ours > 0 {
        notes.push(format!("HeartBtInt is 0 s in the counterparty's Logon, and stays {ours} s here: without heartbeats, nobody would notice that the connection is lost"));
    } else if u64::from(ours) != theirs {
        notes.push(format!("HeartBtInt is {theirs} s, as the counterparty wants it; we proposed {ours} s"));
    }
    if let Some((number, meaning)) = status(message).filter(|(number, _)| *number > 0) {
        notes.push(format!("the counterparty's Logon says: {meaning} (SessionStatus 1409 is {number})"));
    }
    if !notes.is_empty() {
        answer.told = Told::Note(notes.join("; "));
    }
    Ok(answer)
}

/// Returns the sequence number that was expected if that of the Logon is too low and tolerated.
fn too_low<'m>(session: &Session, expected: SeqNum, seq: SeqNum) -> Result<Option<SeqNum>, Reaction<'m>> {
    // R-LOGON-19
    let tolerated = match session.fixed.settings.reset.tolerate_low_msg_seq_num_at_logon {
        TooLowAtLogon::Refused => false,
        TooLowAtLogon::AcceptedOnce => !session.state.accepted_too_low,
        TooLowAtLogon::Accepted => true,
    };
    match seq < expected {
        false => Ok(None),
        true if tolerated && seq >= SeqNum::ONE => Ok(Some(expected)),
        true => Err(number_too_low(expected, seq).into()),
    }
}

/// Answers a Logon with ResetSeqNumFlag=Y in a live session (24-hour reset): both sequence numbers
/// start at 1, and our answer is the same.
// R-RESET-6
pub(crate) fn reset_in_session<'m>(
    session: &Session,
    message: &Message<'m>,
) -> Result<Answer<'m>, Reaction<'m>> {
    let replay_from = missed(message, SeqNum::ONE, SeqNum::ONE, SeqNum::ONE)?;
    let agreed = Agreed { in_session: true, reset: true, ..agreed(session, message, replay_from) };
    let answer = ours(session, agreed.heart_bt_int, true, SeqNum(2));
    Ok(accept(agreed, Some("ResetSeqNumFlag of the counterparty"), Some(answer)))
}

/// Follows a reset that the counterparty began before it saw our Logout, and ends the connection:
/// it has reset its own numbers, and answers the Logout with them. If our Logout was not sent yet,
/// it follows our answer. The counterparty's Logon uses no number, because it begins with 1 once
/// more if it resets after the Logout, too.
// R-RESET-13
pub(crate) fn reset_after_logout<'m>(
    session: &Session,
    connection: &Connection,
    leave: &Leave,
) -> Reaction<'m> {
    let end = leave.end_or(SessionEnd::LogoutTimedOut);
    let (reply, then) = if connection.logon.logout_is_held() {
        let text = "this Logout was waiting when the reset arrived".into();
        let answer = ours(session, connection.heart_bt_int, true, SeqNum::ONE);
        let parting = Parting::CloseAfterAnother;
        let log_out = LogOut { text, cause: None, end, parting };
        (Some(AdminMessage::Logon(answer)), Then::LogOut(log_out))
    } else {
        (None, Then::Crossed(end))
    };
    Answer { reset: Some(CROSSED), number: NumberUse::Kept, reply, then, told: Told::Nothing }.into()
}

/// Decides about the Logon after ours: it must reset, too.
// R-RESET-9
pub(crate) fn reset_answered<'m>(
    session: &Session,
    message: &Message<'m>,
    seq: SeqNum,
) -> Result<Answer<'m>, Reaction<'m>> {
    if message.get(tag::RESET_SEQ_NUM_FLAG) != Some(YES) || seq != SeqNum::ONE {
        let end = SessionEnd::PeerMisbehaved(Misbehavior::InvalidLogon(LogonFault::ResetUnanswered));
        return Ok(misbehaved(NO_RESET, Some(seq), end));
    }
    let replay_from = missed(message, seq, SeqNum::ONE, SeqNum(2))?;
    let agreed = Agreed { in_session: true, reset: true, ..self::agreed(session, message, replay_from) };
    Ok(accept(agreed, None, None))
}

/// Returns our Logon. `next_in` is NextNumIn when it is sent.
pub(crate) fn ours(session: &Session, heart_bt_int: u32, reset: bool, next_in: SeqNum) -> OurLogon {
    let settings = &session.fixed.settings;
    // R-LOGON-18
    let is_sent = session.fixed.behavior.max_message_size_in_logon == OptionalField::Sent;
    OurLogon {
        heart_bt_int,
        reset,
        next_expected: sends_next_expected(session).then_some(next_in),
        max_message_size: (is_sent && session.fixed.is_42_or_later())
            .then_some(settings.limits.max_message_size),
        is_test: settings.validation.test_message_indicator == TestMessageIndicator::Test,
        default_appl_ver_id: settings.appl_ver_id(),
        body: Vec::new(),
    }
}

/// Returns whether our Logons have NextExpectedMsgSeqNum (789), which exists since FIX.4.4.
// R-NEXT-1
fn sends_next_expected(session: &Session) -> bool {
    session.fixed.settings.resend.send_next_expected_msg_seq_num
        && session.fixed.settings.id.version() >= Version::Fix44
}

/// Returns the first message that the counterparty misses by NextExpectedMsgSeqNum (789) of its
/// Logon, if it misses any. `ours` is the MsgSeqNum of our Logon, and `highest` the highest number
/// that the counterparty can expect.
///
/// R-NEXT-2. It is followed whether or not our own Logon has the field.
pub(crate) fn missed<'m>(
    message: &Message<'m>,
    seq: SeqNum,
    ours: SeqNum,
    highest: SeqNum,
) -> Result<Option<SeqNum>, Reaction<'m>> {
    if message.get(tag::NEXT_EXPECTED_MSG_SEQ_NUM).is_none() {
        return Ok(None);
    }
    let Some(expected) = number(message, tag::NEXT_EXPECTED_MSG_SEQ_NUM).filter(|n| *n > 0).map(SeqNum)
    else {
        // R-NEXT-4
        let text = "NextExpectedMsgSeqNum (789) must be a number of at least 1";
        let end = SessionEnd::PeerMisbehaved(Misbehavior::InvalidLogon(LogonFault::NextExpectedMsgSeqNum));
        return Err(misbehaved(text, Some(seq), end).into());
    };
    // R-NEXT-3
    if expected > highest {
        let text = format!(
            "Tag 789 (NextExpectedMsgSeqNum) is higher than expected. Expected {highest}, Received {expected}"
        );
        let end = SessionEnd::PeerExpectsMore { expected, next_out: highest };
        return Err(misbehaved(text, Some(seq), end).into());
    }
    // R-NEXT-2
    Ok((expected < ours).then_some(expected))
}

/// Returns the parameters in the counterparty's Logon.
pub(crate) fn agreed(session: &Session, message: &Message<'_>, replay_from: Option<SeqNum>) -> Agreed {
    let seconds = number(message, tag::HEART_BT_INT).and_then(|n| u32::try_from(n).ok());
    let theirs = number(message, tag::MAX_MESSAGE_SIZE).and_then(|n| usize::try_from(n).ok());
    let has_next_expected = message.get(tag::NEXT_EXPECTED_MSG_SEQ_NUM).is_some();
    // R-LOGON-13
    let heart_bt_int = match seconds {
        _ if decides_heart_bt_int(session) => session.fixed.settings.timing.heart_bt_int,
        Some(0) if !session.is_acceptor() => session.fixed.settings.timing.heart_bt_int,
        seconds => seconds.unwrap_or_default(),
    };
    Agreed {
        heart_bt_int,
        max_message_size: theirs.filter(|n| *n > 0).unwrap_or(usize::MAX),
        in_session: false,
        reset: false,
        lowered_from: None,
        replay_from,
        gap_fills: false,
        sends_what_we_miss: has_next_expected && sends_next_expected(session),
    }
}

/// Returns whether HeartBtInt (108) is ours, whatever the counterparty's Logon says.
fn decides_heart_bt_int(session: &Session) -> bool {
    session.fixed.settings.timing.heart_bt_int_override && session.is_acceptor()
}

/// Accepts a Logon, with our answer if there is one.
pub(crate) fn accept<'m>(
    agreed: Agreed,
    reset: Option<&'static str>,
    answer: Option<OurLogon>,
) -> Answer<'m> {
    Answer {
        reset,
        number: NumberUse::WhenDue,
        reply: answer.map(AdminMessage::Logon),
        then: Then::LoggedOn(agreed),
        told: Told::Nothing,
    }
}
