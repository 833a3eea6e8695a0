//! Delivery of a message to the application: everything it writes and the message's own sequence
//! number are one transaction.

use fixbolt_codec::{Message, SeqNum};
use fixbolt_dictionary::RefTag;

use crate::api::application::Delivery;
use crate::decide::inbound::{business_reject, unprocessed};
use crate::events::end::{Halt, SessionEnd};
use crate::events::error::SendError;
use crate::events::event::Event;
use crate::events::failure::Failure;
use crate::events::rejects::{BusinessReject, BusinessRejectReason, SessionReject};
use crate::perform::call::{Outcome, PANIC, Stop, Transaction};
use crate::send::sending::SendKind;
use crate::state::Phase;
use crate::state::reading::BlockedBy;
use crate::store::{RecordFlags, RecordKind};
use crate::wire::admin_message::{AdminMessage, Reject};
use crate::wire::header::Header;

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
    let redelivered = session.state.stored.attempts > 0
        || session.offered == Some((session.state.stored.generation, seq))
        || header.poss_dup && seq == session.opened_at;
    take(tx, header, seq, &message)?;
    let mut failure = None;
    let reply = match tx.offer(message, seq, redelivered) {
        Outcome::Delivered(Delivery::Done) => {
            let committed = tx.commit();
            if committed.is_err() {
                note_offered(tx, seq);
            }
            return committed;
        }
        Outcome::Delivered(Delivery::NotNow) => {
            tx.rollback();
            return Err(tx.wait(BlockedBy::Application));
        }
        Outcome::Failed(Failure::Send(SendError::BackPressure | SendError::Throttled { .. })) => {
            let until = tx.throttled_until();
            tx.rollback();
            return Err(tx.wait_until(BlockedBy::OtherSession, until));
        }
        Outcome::Delivered(Delivery::Reject(rejected)) => Some(reject(header, seq, rejected)),
        Outcome::Delivered(Delivery::BusinessReject(rejected)) => {
            business_reject(tx.session(), header, seq, rejected)
        }
        Outcome::Failed(Failure::Reject(rejected)) => {
            begin_anew(tx, header, seq, &message)?;
            Some(reject(header, seq, rejected))
        }
        Outcome::Failed(Failure::BusinessReject(rejected)) => {
            begin_anew(tx, header, seq, &message)?;
            business_reject(tx.session(), header, seq, rejected)
        }
        // An answer that does not fit is not the message's fault: the message counts as processed,
        // and the counterparty is told that there is no answer.
        Outcome::Failed(Failure::Send(error @ (SendError::TooLarge { .. } | SendError::TooMany { .. }))) => {
            begin_anew(tx, header, seq, &message)?;
            let text = match error {
                SendError::TooLarge { limit } => format!("the answer is larger than {limit} bytes"),
                error => format!("the answer is {error}"),
            };
            business_reject(
                tx.session(),
                header,
                seq,
                BusinessReject::new(BusinessRejectReason::OTHER).text(text),
            )
        }
        Outcome::Failed(Failure::Send(SendError::Store(error))) => {
            note_offered(tx, seq);
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
                tx.session(),
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

/// Notes that the application has seen the message of a transaction that a store did not take.
fn note_offered(tx: &mut Transaction<'_>, seq: SeqNum) {
    let session = tx.session_mut();
    session.offered = Some((session.state.stored.generation, seq));
}

/// Begins the message's transaction: uses its sequence number and records it.
fn take(
    tx: &mut Transaction<'_>,
    header: &Header<'_>,
    seq: SeqNum,
    message: &Message<'_>,
) -> Result<(), Stop> {
    tx.begin();
    let now = tx.now.mono;
    tx.session_mut().state.advance();
    tx.session_mut().count_delivered(header, seq, now);
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
