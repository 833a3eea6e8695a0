//! Delivery of a message to the application: everything it writes and the message's own sequence
//! number are one transaction.

use std::borrow::Cow;

use fixbolt_codec::{Message, Redacted, SeqNum};
use fixbolt_dictionary::{RefTag, SessionRejectReason};

use crate::admin_message::{AdminMessage, Reject};
use crate::application::Delivery;
use crate::end::{Halt, SessionEnd};
use crate::error::SendError;
use crate::event::Event;
use crate::failure::Failure;
use crate::fix::{msg_type, tag};
use crate::header::Header;
use crate::reading::BlockedBy;
use crate::rejects::{BusinessReject, BusinessRejectReason, SessionReject};
use crate::sending::SendKind;
use crate::state::Phase;
use crate::store::{RecordFlags, RecordKind};
use crate::transaction::{Outcome, PANIC, Stop, Transaction};

/// Offers the message that is expected next to the application, and acts on the result.
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
    take(tx, header, seq, &message)?;
    let mut failure = None;
    let reply = match tx.offer(message, seq, redelivered) {
        Outcome::Delivered(Delivery::Done) => return tx.commit(),
        Outcome::Delivered(Delivery::NotNow) => {
            tx.rollback();
            return Err(tx.wait(BlockedBy::Application));
        }
        Outcome::Failed(Failure::Send(SendError::BackPressure)) => {
            tx.rollback();
            return Err(tx.wait(BlockedBy::OtherSession));
        }
        Outcome::Delivered(Delivery::Reject(rejected)) => Some(reject(header, seq, rejected)),
        Outcome::Delivered(Delivery::BusinessReject(rejected)) => business_reject(tx, header, seq, rejected),
        Outcome::Failed(Failure::Reject(rejected)) => {
            begin_anew(tx, header, seq, &message)?;
            Some(reject(header, seq, rejected))
        }
        Outcome::Failed(Failure::BusinessReject(rejected)) => {
            begin_anew(tx, header, seq, &message)?;
            business_reject(tx, header, seq, rejected)
        }
        // An answer that does not fit is not the message's fault: the message counts as processed,
        // and the counterparty is told that there is no answer.
        Outcome::Failed(Failure::Send(SendError::TooLarge { limit })) => {
            begin_anew(tx, header, seq, &message)?;
            let rejected = BusinessReject::new(BusinessRejectReason::OTHER)
                .text(format!("the answer is larger than {limit} bytes"));
            business_reject(tx, header, seq, rejected)
        }
        Outcome::Failed(Failure::Send(SendError::Store(error))) => {
            return Err(tx.abandon(SendError::Store(error)));
        }
        outcome @ (Outcome::Failed(_) | Outcome::Panicked) => {
            let why = match outcome {
                Outcome::Failed(failure) => failure.to_string(),
                _ => PANIC.to_owned(),
            };
            if !tx.session().settings.reject_on_failure {
                return Err(failed(tx, seq, &why));
            }
            begin_anew(tx, header, seq, &message)?;
            failure = Some(format!("the application failed on message {seq}, which is rejected: {why}"));
            business_reject(
                tx,
                header,
                seq,
                BusinessReject::new(BusinessRejectReason::APPLICATION_NOT_AVAILABLE),
            )
        }
    };
    if let Some(reply) = &reply
        && let Err(error) = tx.send(SendKind::New { cause: Some(seq) }, Some(&message), reply)
    {
        return Err(tx.abandon(error));
    }
    tx.commit()?;
    if let Some(failure) = failure {
        tx.notify(&Event::Note(&failure));
    }
    match &reply {
        Some(reply) => tx.notify_rejected(reply),
        None => tx.notify(&Event::Note(&unprocessed(&message))),
    }
    Ok(())
}

/// Begins the message's transaction: uses its sequence number and records it.
fn take(
    tx: &mut Transaction<'_>,
    header: &Header<'_>,
    seq: SeqNum,
    message: &Message<'_>,
) -> Result<(), Stop> {
    tx.begin();
    tx.session_mut().state.advance();
    let flags = header.flags.with(RecordFlags::DELIVERED);
    tx.record(seq, message, flags).map_err(|error| tx.abandon(error))
}

/// Rolls back what the application wrote. The message counts as processed and is answered with a
/// reject.
fn begin_anew(
    tx: &mut Transaction<'_>,
    header: &Header<'_>,
    seq: SeqNum,
    message: &Message<'_>,
) -> Result<(), Stop> {
    tx.rollback();
    if tx.session().halted.is_some() {
        // Its store refused what the application wrote.
        return Err(Stop);
    }
    take(tx, header, seq, message)
}

fn reject<'m>(header: &Header<'m>, seq: SeqNum, rejected: SessionReject) -> AdminMessage<'m> {
    let SessionReject { reason, tag, text } = rejected;
    let reject = Reject { reason, tag: tag.map(|tag| RefTag::Number(tag.number())), text };
    AdminMessage::Reject { seq, msg_type: header.msg_type, reject }
}

/// Returns what to report of a BusinessMessageReject that the application does not process: without
/// it, nobody would learn what the counterparty refused.
fn unprocessed(message: &Message<'_>) -> String {
    let get = |tag| Redacted(message.get(tag).unwrap_or(b"?"));
    format!(
        "the counterparty refused message {} with a BusinessMessageReject, which the application does not process: {}; a BusinessMessageReject is not answered with another one",
        get(tag::REF_SEQ_NUM),
        get(tag::TEXT)
    )
}

/// Returns a BusinessMessageReject (35=j), or a Reject for FIX.4.0 and 4.1, which have none. A
/// BusinessMessageReject is not answered with another one, because two sides could do so forever.
fn business_reject<'m>(
    tx: &Transaction<'_>,
    header: &Header<'m>,
    seq: SeqNum,
    reject: BusinessReject,
) -> Option<AdminMessage<'m>> {
    let msg_type = header.msg_type;
    if !tx.session().is_42_or_later() {
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

/// Rolls the transaction back. The store counts the attempt, and the session is disconnected, or
/// halted if it was the last attempt (property 4).
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
