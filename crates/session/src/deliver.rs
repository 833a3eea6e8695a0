//! A message for the application: everything it writes and the message's own number are one transaction.

use std::borrow::Cow;

use fixbolt_codec::{Message, SeqNum};
use fixbolt_dictionary::{RefTag, SessionRejectReason};

use crate::admin_message::{AdminMessage, Reject};
use crate::application::Delivery;
use crate::end::{Halt, SessionEnd};
use crate::error::SendError;
use crate::event::Event;
use crate::fix::{business_reason, msg_type};
use crate::header::Header;
use crate::reading::BlockedBy;
use crate::sending::SendKind;
use crate::state::Phase;
use crate::store::{RecordFlags, RecordKind};
use crate::transaction::{Outcome, Stop, Transaction};

/// Offers a message that is due and in order to the application, and does what it answers.
pub(crate) fn deliver(
    tx: &mut Transaction<'_>,
    header: &Header<'_>,
    seq: SeqNum,
    message: Message<'_>,
) -> Result<(), Stop> {
    if !matches!(tx.session().state.phase(), Phase::LoggedOn | Phase::LogoutSent) {
        return Err(Stop);
    }
    let session = tx.session();
    let redelivered = session.state.stored.attempts > 0 || header.poss_dup && seq == session.opened_at;
    tx.begin();
    if let Err(error) = take(tx, header, seq, &message) {
        return Err(tx.abandon(error));
    }
    let reply = match tx.offer(message, seq, redelivered) {
        Outcome::Delivered(Delivery::Done) => return tx.commit(),
        Outcome::Delivered(Delivery::NotNow) => {
            tx.rollback();
            return Err(tx.wait(BlockedBy::Application));
        }
        Outcome::Failed(SendError::BackPressure) => {
            tx.rollback();
            return Err(tx.wait(BlockedBy::OtherSession));
        }
        Outcome::Delivered(Delivery::Reject { reason, tag, text }) => {
            let tag = (tag != 0).then_some(RefTag::Number(tag));
            let reason = SessionRejectReason::from_number(reason);
            let reject = Reject { reason, tag, text: Cow::Borrowed(text) };
            Some(AdminMessage::Reject { seq, msg_type: header.msg_type, reject })
        }
        Outcome::Delivered(Delivery::BusinessReject { reason, text }) => {
            business_reject(tx, header, seq, reason, Cow::Borrowed(text))
        }
        // An answer that does not fit is no fault of the message: it is taken, and the counterparty hears that nobody
        // answers it.
        Outcome::Failed(SendError::TooLarge { limit }) => {
            tx.rollback();
            tx.begin();
            if let Err(error) = take(tx, header, seq, &message) {
                return Err(tx.abandon(error));
            }
            let text = format!("the answer is larger than {limit} bytes");
            business_reject(tx, header, seq, business_reason::OTHER, Cow::Owned(text))
        }
        Outcome::Failed(SendError::Store(error)) => return Err(tx.abandon(SendError::Store(error))),
        Outcome::Failed(error) => return Err(failed(tx, seq, &error.to_string())),
        Outcome::Panicked => return Err(failed(tx, seq, "panic")),
    };
    if let Some(reply) = &reply
        && let Err(error) = tx.send(SendKind::New { cause: Some(seq) }, Some(&message), reply)
    {
        return Err(tx.abandon(error));
    }
    tx.commit()?;
    match &reply {
        Some(reply) => tx.notify_rejected(reply),
        None => tx.notify(&Event::Note("a BusinessMessageReject is not answered with another one")),
    }
    Ok(())
}

/// The message's number is used up and it is recorded.
fn take(
    tx: &mut Transaction<'_>,
    header: &Header<'_>,
    seq: SeqNum,
    message: &Message<'_>,
) -> Result<(), SendError> {
    tx.session_mut().state.advance();
    tx.record(seq, message, header.flags.with(RecordFlags::DELIVERED))
}

/// BusinessMessageReject (35=j); FIX.4.0 and 4.1 have none and get a Reject. Two sides must not answer one with another
/// forever: a BusinessMessageReject gets none.
fn business_reject<'m>(
    tx: &Transaction<'_>,
    header: &Header<'m>,
    seq: SeqNum,
    reason: u16,
    text: Cow<'m, str>,
) -> Option<AdminMessage<'m>> {
    let msg_type = header.msg_type;
    if !tx.session().is_42_or_later() {
        let reject = Reject { reason: SessionRejectReason::Other, tag: None, text };
        return Some(AdminMessage::Reject { seq, msg_type, reject });
    }
    if msg_type == msg_type::BUSINESS_MESSAGE_REJECT {
        return None;
    }
    Some(AdminMessage::BusinessReject { seq, msg_type, reason, text })
}

/// Nothing of the transaction happened; the attempt is counted in the store and the session disconnected, or halted if it was
/// the last one (property 4).
fn failed(tx: &mut Transaction<'_>, seq: SeqNum, why: &str) -> Stop {
    tx.rollback();
    tx.begin();
    let session = tx.session_mut();
    session.state.stored.attempts += 1;
    let (attempts, most) = (session.state.stored.attempts, session.settings.poison_attempts);
    if let Err(error) = tx.record_change(RecordKind::Attempt, why) {
        return tx.abandon(error);
    }
    if tx.commit().is_err() {
        return Stop;
    }
    let text = format!("the application failed on message {seq} (attempt {attempts}): {why}");
    tx.notify(&Event::Note(&text));
    if attempts >= most {
        tx.halt(Halt::PoisonMessage { seq, attempts });
    } else {
        tx.close(SessionEnd::ApplicationFailed { seq });
    }
    Stop
}
