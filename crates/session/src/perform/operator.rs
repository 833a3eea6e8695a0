//! What an operator does to a session.

use std::borrow::Cow;

use fixbolt_codec::SeqNum;

use crate::decide::due::{self, LogOutByUs};
use crate::events::change_error::ChangeError;
use crate::events::end::Halt;
use crate::events::error::SendError;
use crate::events::event::Event;
use crate::perform::call::Call;
use crate::state::Phase;
use crate::state::session::Session;
use crate::store::RecordKind;

impl Call<'_> {
    /// Logs out: sends a Logout with `text` and waits for the answer.
    pub(crate) fn log_out_by_us(&mut self, text: &str) -> Result<(), SendError> {
        match due::log_out(self.session())? {
            LogOutByUs::Send => {}
            LogOutByUs::End(reaction) => {
                self.react(reaction);
                return Ok(());
            }
            LogOutByUs::Nothing => return Ok(()),
        }
        self.begin();
        match self.send_logout(Cow::Borrowed(text), None, None) {
            Ok(()) => {
                // A failure here halts the session, which the caller can see.
                let _ = self.commit();
                Ok(())
            }
            Err(error) => {
                self.abandon(error.clone());
                Err(error)
            }
        }
    }

    /// Resets both sequence numbers to 1 without a connection.
    pub(crate) fn reset_by_operator(&mut self, why: &str) -> Result<(), ChangeError> {
        let session = self.session();
        if let Some(halt) = &session.standing.halted {
            return Err(ChangeError::Halted(halt.clone()));
        }
        if session.state.connection.is_some() {
            return Err(ChangeError::Connected);
        }
        self.begin();
        if let Err(error) = self.reset(why) {
            self.rollback();
            return Err(error.into());
        }
        self.commit()?;
        self.session_mut().state.accepted_too_low = false;
        self.notify_numbers(why);
        Ok(())
    }

    /// Sends a TestRequest, which the counterparty must answer.
    pub(crate) fn test_counterparty(&mut self) -> Result<(), SendError> {
        if self.session().state.phase() != Phase::LoggedOn {
            return Err(SendError::NotLoggedOn);
        }
        self.test_request().map(drop)
    }

    /// Disables or enables the session.
    pub(crate) fn enable(&mut self, enabled: bool, why: &str) -> Result<(), SendError> {
        self.record_why(why)?;
        let session = self.session_mut();
        session.standing.enable(enabled);
        session.publish();
        Ok(())
    }

    /// Records an action that changes no sequence number.
    pub(crate) fn record_why(&mut self, why: &str) -> Result<(), SendError> {
        self.change(why, |_| ())
    }

    /// Sets the next sequence numbers; `None` leaves one unchanged.
    // R-SEQ-8
    pub(crate) fn set_numbers(
        &mut self,
        numbers: (Option<SeqNum>, Option<SeqNum>),
        why: &str,
    ) -> Result<(), ChangeError> {
        let stored = self.session().state.stored;
        let next_in = numbers.0.unwrap_or(stored.next_in);
        let next_out = numbers.1.unwrap_or(stored.next_out);
        if next_out < stored.next_out {
            return Err(ChangeError::NextNumOutTooLow { least: stored.next_out, found: next_out });
        }
        let usable = SeqNum::ONE..SeqNum::MAX;
        if let Some(found) = [next_in, next_out].into_iter().find(|seq| !usable.contains(seq)) {
            return Err(ChangeError::SeqNumOutOfRange { found });
        }
        self.change(why, |session| {
            let stored = &mut session.state.stored;
            (stored.next_in, stored.next_out, stored.attempts) = (next_in, next_out, 0);
            session.state.accepted_too_low = false;
            session.state.gave_up_at = SeqNum::ZERO;
            if let Some(connection) = &mut session.state.connection {
                connection.logon.missing = None;
            }
        })?;
        self.notify(&Event::SequenceChanged { next_in, next_out, reason: why });
        Ok(())
    }

    /// Ends the halt by a poison message, which is skipped or offered again.
    pub(crate) fn end_poison(&mut self, why: &str, skip: bool) -> Result<(), ChangeError> {
        let Some(Halt::PoisonMessage { seq, .. }) = self.session().standing.halted else {
            return Err(ChangeError::NotHalted);
        };
        self.change(why, |session| {
            let stored = &mut session.state.stored;
            stored.attempts = 0;
            if skip {
                // An operator may have skipped it already.
                stored.next_in = stored.next_in.max(seq.next());
            }
        })?;
        let session = self.session_mut();
        session.standing.end_halt();
        session.publish();
        Ok(())
    }

    /// Changes sequence numbers without a message, in a separate transaction.
    pub(crate) fn change(&mut self, why: &str, change: impl FnOnce(&mut Session)) -> Result<(), SendError> {
        if !self.session().standing.store_is_open {
            return Err(SendError::Unavailable);
        }
        let (session, _) = self.begin();
        change(session);
        if let Err(error) = self.record_change(RecordKind::Adjust, why) {
            self.rollback();
            return Err(error);
        }
        self.commit()
    }
}
