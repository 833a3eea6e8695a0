//! Delivery of a message to the application: everything it writes and the message's own sequence
//! number are one transaction.

use fixbolt_codec::{Message, SeqNum};
use fixbolt_dictionary::RefTag;

use crate::api::application::Delivery;
use crate::decide::answers::{business_reject, unprocessed};
use crate::decide::reaction::Reaction;
use crate::events::end::{Halt, SessionEnd};
use crate::events::error::SendError;
use crate::events::event::Event;
use crate::events::failure::Failure;
use crate::events::rejects::{BusinessReject, BusinessRejectReason, SessionReject};
use crate::perform::call::{Call, Outcome, PANIC, Stop};
use crate::send::seal::SendKind;
use crate::state::Phase;
use crate::state::reading::BlockedBy;
use crate::store::{RecordFlags, RecordKind};
use crate::wire::admin_message::{AdminMessage, Reject};
use crate::wire::header::Header;

impl Call<'_> {
    /// Offers the message that is expected next to the application, and acts on the result.
    pub(crate) fn deliver(
        &mut self,
        header: &Header<'_>,
        seq: SeqNum,
        message: Message<'_>,
    ) -> Result<(), Stop> {
        if !matches!(self.session().state.phase(), Phase::LoggedOn | Phase::LogoutSent) {
            return Err(Stop);
        }
        let session = self.session();
        let redelivered = session.state.stored.attempts > 0
            || session.standing.offered == Some((session.state.stored.generation, seq))
            || header.poss_dup && seq == session.standing.opened_at;
        self.begin_message(header, seq, &message)?;
        let mut failure = None;
        let reply = match self.offer(message, seq, redelivered) {
            Outcome::Delivered(Delivery::Done) => {
                let committed = self.commit();
                if committed.is_err() {
                    self.note_offered(seq);
                }
                return committed;
            }
            Outcome::Delivered(Delivery::NotNow) => {
                self.rollback();
                return Err(self.wait(BlockedBy::Application));
            }
            Outcome::Failed(Failure::Send(SendError::BackPressure | SendError::Throttled { .. })) => {
                let until = self.throttled_until();
                self.rollback();
                return Err(self.wait_until(BlockedBy::OtherSession, until));
            }
            Outcome::Delivered(Delivery::Reject(rejected)) => Some(reject(header, seq, rejected)),
            Outcome::Delivered(Delivery::BusinessReject(rejected)) => {
                business_reject(self.session(), header, seq, rejected)
            }
            Outcome::Failed(Failure::Reject(rejected)) => {
                self.begin_anew(header, seq, &message)?;
                Some(reject(header, seq, rejected))
            }
            Outcome::Failed(Failure::BusinessReject(rejected)) => {
                self.begin_anew(header, seq, &message)?;
                business_reject(self.session(), header, seq, rejected)
            }
            // An answer that does not fit is not the message's fault: the message counts as
            // processed, and the counterparty is told that there is no answer.
            Outcome::Failed(Failure::Send(
                error @ (SendError::TooLarge { .. } | SendError::TooMany { .. }),
            )) => {
                self.begin_anew(header, seq, &message)?;
                let text = match error {
                    SendError::TooLarge { limit } => format!("the answer is larger than {limit} bytes"),
                    error => format!("the answer is {error}"),
                };
                business_reject(
                    self.session(),
                    header,
                    seq,
                    BusinessReject::new(BusinessRejectReason::OTHER).text(text),
                )
            }
            Outcome::Failed(Failure::Send(SendError::Store(error))) => {
                self.note_offered(seq);
                return Err(self.abandon(SendError::Store(error)));
            }
            outcome @ (Outcome::Failed(_) | Outcome::Panicked) => {
                let why = match outcome {
                    Outcome::Failed(failure) => failure.to_string(),
                    _ => PANIC.to_owned(),
                };
                if !self.session().fixed.settings.reject_on_failure {
                    return Err(self.application_failed(seq, &why));
                }
                self.begin_anew(header, seq, &message)?;
                failure = Some(format!("the application failed on message {seq}, which is rejected: {why}"));
                business_reject(
                    self.session(),
                    header,
                    seq,
                    BusinessReject::new(BusinessRejectReason::APPLICATION_NOT_AVAILABLE),
                )
            }
        };
        if let Some(reply) = &reply
            && let Err(error) = self.send(SendKind::New { cause: Some(seq) }, Some(&message), reply)
        {
            return Err(self.abandon(error));
        }
        self.commit()?;
        if let Some(failure) = failure {
            self.notify(&Event::Note(&failure));
        }
        match &reply {
            Some(reply) => self.notify_rejected(reply),
            None => self.notify(&Event::Note(&unprocessed(&message))),
        }
        Ok(())
    }

    /// Notes that the application has seen the message of a transaction that a store did not take.
    fn note_offered(&mut self, seq: SeqNum) {
        let session = self.session_mut();
        session.standing.offered = Some((session.state.stored.generation, seq));
    }

    /// Begins the message's transaction: uses its sequence number and records it.
    fn begin_message(&mut self, header: &Header<'_>, seq: SeqNum, message: &Message<'_>) -> Result<(), Stop> {
        self.begin();
        let now = self.now.mono;
        self.session_mut().state.advance();
        self.session_mut().count_delivered(header, seq, now);
        let flags = header.flags.with(RecordFlags::DELIVERED);
        self.record(seq, message, flags).map_err(|error| self.abandon(error))
    }

    /// Rolls back what the application wrote. The message counts as processed and is answered with
    /// a reject.
    fn begin_anew(&mut self, header: &Header<'_>, seq: SeqNum, message: &Message<'_>) -> Result<(), Stop> {
        self.rollback();
        if self.session().standing.halted.is_some() {
            // Its store refused what the application wrote.
            return Err(Stop);
        }
        self.begin_message(header, seq, message)
    }
}

fn reject<'m>(header: &Header<'m>, seq: SeqNum, rejected: SessionReject) -> AdminMessage<'m> {
    let SessionReject { reason, tag, text } = rejected;
    let reject = Reject { reason, tag: tag.map(|tag| RefTag::Number(tag.number())), text };
    AdminMessage::Reject { seq, msg_type: header.msg_type, reject }
}

impl Call<'_> {
    /// Rolls the transaction back. The store counts the attempt, and the session is disconnected,
    /// or halted if it was the last attempt (property 4).
    fn application_failed(&mut self, seq: SeqNum, why: &str) -> Stop {
        self.rollback();
        self.begin();
        let session = self.session_mut();
        session.state.stored.attempts += 1;
        let (attempts, most) = (session.state.stored.attempts, session.fixed.settings.poison_attempts);
        if let Err(error) = self.record_change(RecordKind::Attempt, why) {
            return self.abandon(error);
        }
        if self.commit().is_err() {
            return Stop;
        }
        let text = format!("the application failed on message {seq} (attempt {attempts}): {why}");
        self.notify(&Event::Note(&text));
        let _ = self.react(if attempts >= most {
            Reaction::halt(Halt::PoisonMessage { seq, attempts })
        } else {
            Reaction::close(SessionEnd::ApplicationFailed { seq })
        });
        Stop
    }
}
