//! Delivery of a message to the application: everything it writes and the message's own sequence
//! number are one transaction.

use fixbolt_codec::{Message, SeqNum};
use fixbolt_dictionary::{BusinessRejectCode, RefTag};

use crate::api::application::Delivery;
use crate::decide::answers::{business_reject, unprocessed};
use crate::decide::reaction::SessionReaction;
use crate::events::end::{Halt, SessionEnd};
use crate::events::error::SendError;
use crate::events::event::Event;
use crate::events::failure::Failure;
use crate::events::rejects::{BusinessReject, SessionReject};
use crate::perform::call::{Call, Outcome, PANIC};
use crate::send::seal::SendKind;
use crate::state::Phase;
use crate::state::reading::BlockedBy;
use crate::store::{RecordFlags, RecordKind};
use crate::wire::admin_message::{AdminMessage, Reject};
use crate::wire::header::Header;

impl Call<'_> {
    /// Offers the message that is expected next to the application, and acts on the result.
    /// `is_requested` says whether we requested it. Returns whether the message has been processed.
    pub(crate) fn deliver(
        &mut self,
        header: &Header<'_>,
        seq: SeqNum,
        message: Message<'_>,
        is_requested: bool,
    ) -> bool {
        let mut session = self.session_mut();
        if session.state.reset_stage().is_some() {
            self.abandon_reset("the counterparty sends application messages");
            session = self.session_mut();
        }
        if !matches!(session.state.phase(), Phase::LoggedOn | Phase::LogoutSent) {
            return false;
        }
        let redelivered = session.state.stored.attempts > 0
            || session.standing.offered == Some((session.state.stored.generation, seq))
            || header.poss_dup && seq == session.standing.opened_at;
        if !self.begin_message(header, seq, &message, is_requested) {
            return false;
        }
        // Whether what the application wrote is rolled back, so that the message counts as
        // processed and is answered with a reject; and what is reported of it.
        let (mut is_undone, mut failure) = (true, None);
        let reply = match self.offer(header, message, seq, redelivered) {
            Outcome::Delivered(Delivery::Done) => {
                let is_committed = self.commit().is_ok();
                if !is_committed {
                    self.note_offered(seq);
                }
                return is_committed;
            }
            Outcome::Delivered(Delivery::NotNow) => {
                self.rollback();
                self.leave_unread(seq, BlockedBy::Application, None);
                return false;
            }
            Outcome::Failed(Failure::Send(SendError::BackPressure | SendError::Throttled { .. })) => {
                let until = self.throttled_until();
                self.rollback();
                self.leave_unread(seq, BlockedBy::OtherSession, until);
                return false;
            }
            Outcome::Failed(Failure::Send(SendError::Store(error))) => {
                self.note_offered(seq);
                self.abandon(SendError::Store(error));
                return false;
            }
            Outcome::Delivered(Delivery::Reject(rejected)) => {
                is_undone = false;
                Some(reject(header, seq, rejected))
            }
            Outcome::Delivered(Delivery::BusinessReject(rejected)) => {
                is_undone = false;
                business_reject(self.session(), header, seq, rejected)
            }
            Outcome::Failed(Failure::Reject(rejected)) => Some(reject(header, seq, rejected)),
            // R-BUSINESS-3
            Outcome::Failed(Failure::BusinessReject(rejected)) => {
                business_reject(self.session(), header, seq, rejected)
            }
            // An answer that does not fit is not the message's fault: the counterparty is told that
            // there is no answer.
            Outcome::Failed(Failure::Send(
                error @ (SendError::TooLarge { .. } | SendError::TooMany { .. }),
            )) => {
                let text = match error {
                    SendError::TooLarge { limit } => format!("the answer is larger than {limit} bytes"),
                    error => format!("the answer is {error}"),
                };
                let rejected = BusinessReject::new(BusinessRejectCode::OTHER).text(text);
                business_reject(self.session(), header, seq, rejected)
            }
            outcome @ (Outcome::Failed(_) | Outcome::Panicked) => {
                let why = match outcome {
                    Outcome::Failed(failure) => failure.to_string(),
                    _ => PANIC.to_owned(),
                };
                if !self.session().fixed.settings.validation.reject_message_on_unhandled_exception {
                    self.application_failed(seq, &why);
                    return false;
                }
                failure = Some(format!("the application failed on message {seq}, which is rejected: {why}"));
                // R-BUSINESS-4
                let rejected = BusinessReject::new(BusinessRejectCode::APPLICATION_NOT_AVAILABLE);
                business_reject(self.session(), header, seq, rejected)
            }
        };
        if is_undone {
            self.rollback();
            // Its store may have refused what the application wrote.
            let is_halted = self.session().standing.halted.is_some();
            if is_halted || !self.begin_message(header, seq, &message, is_requested) {
                return false;
            }
        }
        if let Some(reply) = &reply
            && let Err(error) = self.send(SendKind::New { cause: Some(seq) }, Some(&message), reply)
        {
            self.note_offered(seq);
            self.abandon(error);
            return false;
        }
        if self.commit().is_err() {
            self.note_offered(seq);
            return false;
        }
        if let Some(failure) = failure {
            self.notify(&Event::Note(&failure));
        }
        match &reply {
            Some(reply) => self.notify_rejected(reply),
            None => self.notify(&Event::Note(&unprocessed(&message))),
        }
        true
    }

    /// Notes that the application has seen the message of a transaction that a store did not take.
    fn note_offered(&mut self, seq: SeqNum) {
        let session = self.session_mut();
        session.standing.note_offered(session.state.stored.generation, seq);
    }

    /// Begins the message's transaction: uses its sequence number and records it. Returns whether
    /// the store took that.
    // R-SEQ-3
    fn begin_message(
        &mut self,
        header: &Header<'_>,
        seq: SeqNum,
        message: &Message<'_>,
        is_requested: bool,
    ) -> bool {
        let now = self.now;
        let (session, store) = self.begin();
        session.state.advance();
        if !is_requested {
            session.count_delivered(now.mono);
        }
        match session.record_inbound(now, store, seq, header, message, RecordFlags::DELIVERED) {
            Ok(()) => true,
            Err(error) => {
                self.abandon(error);
                false
            }
        }
    }
}

fn reject<'m>(header: &Header<'m>, seq: SeqNum, rejected: SessionReject) -> AdminMessage<'m> {
    let SessionReject { reason, tag, text } = rejected;
    let reject = Reject { text, ..Reject::of(reason, tag.map(|tag| RefTag::Number(tag.number()))) };
    AdminMessage::Reject { seq, msg_type: header.msg_type, reject }
}

impl Call<'_> {
    /// Rolls the transaction back. The store counts the attempt, and the session is disconnected,
    /// or halted if it was the last attempt (property 4).
    // R-STORE-3
    fn application_failed(&mut self, seq: SeqNum, why: &str) {
        self.rollback();
        let (session, _) = self.begin();
        session.state.stored.attempts += 1;
        let (attempts, most) =
            (session.state.stored.attempts, session.fixed.settings.limits.max_delivery_attempts.get());
        if let Err(error) = self.record_change(RecordKind::Attempt, why) {
            return self.abandon(error);
        }
        if self.commit().is_err() {
            return;
        }
        let text = format!("the application failed on message {seq} (attempt {attempts}): {why}");
        self.notify(&Event::Note(&text));
        self.react(if attempts >= most {
            SessionReaction::halt(Halt::PoisonMessage { seq, attempts })
        } else {
            SessionReaction::close(SessionEnd::ApplicationFailed { seq, why: why.to_owned() })
        });
    }
}
