//! What an operator does to a session from outside: ending a halt, changing sequence numbers,
//! disabling and enabling it. The store records what is changed, who did it, and why.

use fixbolt_codec::SeqNum;

use crate::api::application::Application;
use crate::calls::sessions::Sessions;
use crate::events::change_error::ChangeError;
use crate::events::error::SendError;
use crate::events::open_error::OpenError;
use crate::values::key::SessionKey;
use crate::values::time::Now;

impl Sessions {
    /// Ends a halt without a restart: the session's store is opened again, because it accepts
    /// records again or was repaired, and the application reads its contents. This does not end the
    /// halt after a poison message; [`Sessions::skip`] or [`Sessions::retry`] does.
    ///
    /// If the store has lower sequence numbers than the session had, they are raised and a record
    /// says so: no sequence number is used twice, and the messages in between are reported as given
    /// up.
    ///
    /// Who asks for it and why is recorded.
    ///
    /// # Errors
    /// Returns an [`OpenError`]; the session is still halted, as before or because of the contents
    /// of its store.
    pub fn resume(
        &mut self,
        now: Now,
        key: SessionKey,
        why: &str,
        app: &mut dyn Application,
    ) -> Result<(), OpenError> {
        let Some(mut call) = self.call(now, key, app) else { return Err(OpenError::NotOpen) };
        if call.session().standing.halted.is_none() {
            return Ok(());
        }
        call.open_again()?;
        // A store that refuses has halted the session again.
        let _ = call.record_why(why);
        call.tell_resumed()
    }

    /// Skips the message on which the application fails: the counterparty's next one is expected.
    /// The store records the reason.
    ///
    /// # Errors
    /// Returns [`ChangeError::NotHalted`], and [`ChangeError::Send`] if the session is not open or
    /// its store refuses the record.
    pub fn skip(
        &mut self,
        now: Now,
        key: SessionKey,
        why: &str,
        app: &mut dyn Application,
    ) -> Result<(), ChangeError> {
        self.call(now, key, app).ok_or(SendError::Unavailable)?.end_poison(why, true)
    }

    /// Offers the message on which the application failed again, with as many attempts as before.
    /// The store records the reason.
    ///
    /// # Errors
    /// Returns [`ChangeError::NotHalted`], and [`ChangeError::Send`] if the session is not open or
    /// its store refuses the record.
    pub fn retry(
        &mut self,
        now: Now,
        key: SessionKey,
        why: &str,
        app: &mut dyn Application,
    ) -> Result<(), ChangeError> {
        self.call(now, key, app).ok_or(SendError::Unavailable)?.end_poison(why, false)
    }

    /// Resets both sequence numbers to 1 on an operator's order. The store records the reason and
    /// keeps the earlier messages. The counterparty must reset its own.
    ///
    /// # Errors
    /// Returns [`ChangeError::Halted`], [`ChangeError::Connected`], and [`ChangeError::Send`] if
    /// the session is not open or its store refuses the record.
    pub fn reset(
        &mut self,
        now: Now,
        key: SessionKey,
        why: &str,
        app: &mut dyn Application,
    ) -> Result<(), ChangeError> {
        self.call(now, key, app).ok_or(SendError::Unavailable)?.reset_by_operator(why)
    }

    /// Begins to reset both sequence numbers in a session that is logged on, as the two sides have
    /// agreed (24-hour reset): sends a TestRequest, and after its answer a Logon with
    /// ResetSeqNumFlag=Y. The store records the reason and keeps the earlier messages.
    ///
    /// Until the counterparty has answered the Logon, application messages that answer nothing fail
    /// with [`SendError::BackPressure`], and what the counterparty sends is not processed, because
    /// its sequence numbers no longer apply: agree on a time at which it is quiet. The end is an
    /// event: [`Event::SequenceChanged`](crate::Event::SequenceChanged), or
    /// [`Event::ResetAbandoned`](crate::Event::ResetAbandoned) if the counterparty sends an
    /// application message, messages are being sent again, or no Heartbeat comes within
    /// [`logon_timeout`](crate::TimingSettings::logon_timeout). If the Logon is not answered for
    /// as long, the connection ends with
    /// [`SessionEnd::ResetUnanswered`](crate::SessionEnd::ResetUnanswered).
    ///
    /// # Errors
    /// Returns [`ChangeError::Halted`], [`ChangeError::NotLoggedOn`],
    /// [`ChangeError::MessagesPending`], [`ChangeError::ResetHasBegun`],
    /// [`ChangeError::NoResetSeqNumFlag`] in FIX.4.0, and [`ChangeError::Send`] if the session is
    /// not open or the outbox is full.
    pub fn reset_in_session(
        &mut self,
        now: Now,
        key: SessionKey,
        why: &str,
        app: &mut dyn Application,
    ) -> Result<(), ChangeError> {
        self.call(now, key, app).ok_or(SendError::Unavailable)?.begin_reset(why)
    }

    /// Disables or enables a session. A disabled session gets no new connection, but keeps one that
    /// it has until it is logged out. The store records the reason. After a restart every session
    /// is enabled.
    ///
    /// # Errors
    /// Returns [`ChangeError::Send`] if the session's store is closed or refuses the record.
    pub fn set_enabled(
        &mut self,
        now: Now,
        key: SessionKey,
        enabled: bool,
        why: &str,
        app: &mut dyn Application,
    ) -> Result<(), ChangeError> {
        Ok(self.call(now, key, app).ok_or(SendError::Unavailable)?.enable(enabled, why)?)
    }

    /// Records an operator's action that changes no sequence number.
    ///
    /// # Errors
    /// Returns [`ChangeError::Send`] if the session's store is closed or refuses the record.
    pub fn record(
        &mut self,
        now: Now,
        key: SessionKey,
        why: &str,
        app: &mut dyn Application,
    ) -> Result<(), ChangeError> {
        Ok(self.call(now, key, app).ok_or(SendError::Unavailable)?.record_why(why)?)
    }

    /// Sets the next sequence numbers on an operator's order; `None` leaves one unchanged. The
    /// store records the change with the reason.
    ///
    /// # Errors
    /// Returns [`ChangeError::NextNumOutTooLow`], [`ChangeError::SeqNumOutOfRange`], and
    /// [`ChangeError::Send`] if the session's store is closed or refuses the record.
    pub fn set_numbers(
        &mut self,
        now: Now,
        key: SessionKey,
        numbers: (Option<SeqNum>, Option<SeqNum>),
        why: &str,
        app: &mut dyn Application,
    ) -> Result<(), ChangeError> {
        self.call(now, key, app).ok_or(SendError::Unavailable)?.set_numbers(numbers, why)
    }

    /// Has the time that the wall clock shows count for the session's schedule, after a jump for
    /// which its edges are held ([`TimingSettings::clock_jump_hold`](crate::TimingSettings)). The
    /// store records the reason. Returns whether another time did count.
    ///
    /// # Errors
    /// Returns [`ChangeError::Send`] if the session is not open or its store refuses the record.
    pub fn confirm_clock(
        &mut self,
        now: Now,
        key: SessionKey,
        why: &str,
        app: &mut dyn Application,
    ) -> Result<bool, ChangeError> {
        let mut call = self.call(now, key, app).ok_or(SendError::Unavailable)?;
        call.record_why(why)?;
        Ok(call.confirm_clock())
    }

    /// Shows the contents of the session's store to the application; [`Sessions::open`] calls this
    /// itself. If the application fails, its state is unknown: the session is halted.
    pub fn show_store(&mut self, now: Now, key: SessionKey, app: &mut dyn Application) {
        if let Some(mut call) = self.call(now, key, app) {
            call.show_store();
        }
    }
}
