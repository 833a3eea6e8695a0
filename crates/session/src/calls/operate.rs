//! What an application or an operator does to a session from outside: sending, logging out, ending
//! a halt, changing sequence numbers, disabling and enabling it. The store records what an operator
//! changes, who did it, and why.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use fixbolt_codec::SeqNum;

use crate::api::application::Application;
use crate::api::turn::Turn;
use crate::calls::sessions::{OpenError, Sessions};
use crate::core::slots;
use crate::events::end::{Halt, SessionEnd};
use crate::events::error::SendError;
use crate::events::event::{Event, Unreached};
use crate::perform::call::{PANIC, Stop};
use crate::perform::leave::{send_logout, test_request};
use crate::perform::reset;
use crate::state::session::Session;
use crate::state::{Phase, Stored};
use crate::store::{Position, RecordKind, Recovered};
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
        if self.session(key).is_some_and(|session| session.halted.is_none()) {
            return Ok(());
        }
        self.open_again(now, key, app)?;
        // A store that refuses has halted the session again.
        let _ = self.record(now, key, why, app);
        self.tell_resumed(now, key, app)
    }

    fn open_again(&mut self, now: Now, key: SessionKey, app: &mut dyn Application) -> Result<(), OpenError> {
        let session = slots::find_mut(&mut self.table, key).ok_or(OpenError::NotOpen)?;
        match &session.halted {
            None => return Ok(()),
            Some(halt @ Halt::PoisonMessage { .. }) => return Err(OpenError::Halted(halt.clone())),
            Some(_) if session.state.connection.is_some() => return Err(OpenError::Connected),
            Some(_) => {}
        }
        if session.store_is_open {
            session.store_is_open = false;
            // An error is reported again when the store is opened.
            session.store_is_new &= self.store.durable(key) == Position::default();
            let _ = self.store.close(key);
        }
        let recovered = self.store.open(key, &session.settings.id).map_err(OpenError::Store)?;
        (session.store_is_open, session.told_horizon) = (true, None);
        let mut lost = None;
        // A store that has lost something may number the next connection as an earlier one.
        session.reorder.clear();
        let was_new = session.store_is_new;
        if was_new {
            // The counterparty has not heard of anything that was committed.
            session.state.stored = Stored::of(&Recovered::default());
            lost = session.state.unsent.take().map(|lost| (lost, Unreached::NotStored));
        }
        let known = session.state.stored;
        let damage = recovered.damage.clone().or_else(|| {
            let older = recovered.generation < known.generation;
            older.then(|| "the store has lost a reset of the sequence numbers".to_owned())
        });
        if let Some(reason) = damage {
            let halt = Halt::StoreDamaged { reason };
            session.retry = None;
            session.halted = Some(halt.clone());
            session.publish();
            self.close_halted_store(key);
            return Err(OpenError::Halted(halt));
        }
        session.retry = None;
        session.tell_horizon(&mut *self.store);
        if let Some(by_reset) = session.recover(&recovered) {
            lost = Some((by_reset, Unreached::Reset));
        }
        // A store that has lost everything does not undo what was sent.
        session.store_is_new &= was_new;
        if let Some((lost, why)) = lost {
            let event = Event::Unreached { begin: lost.first, end: lost.last, why };
            self.notify(now, key, &event, app);
        }
        let session = slots::find_mut(&mut self.table, key).ok_or(OpenError::NotOpen)?;
        if session.halted.is_none() && recovered.generation == known.generation {
            self.raise_numbers(now, key, known.next_in, known.next_out, app);
        }
        self.begin_work(now, key, &recovered, app);
        Ok(())
    }

    /// Tells the application that a halt has ended, unless another one has begun.
    fn tell_resumed(
        &mut self,
        now: Now,
        key: SessionKey,
        app: &mut dyn Application,
    ) -> Result<(), OpenError> {
        let session = slots::find_mut(&mut self.table, key).ok_or(OpenError::NotOpen)?;
        if let Some(halt) = &session.halted {
            return Err(OpenError::Halted(halt.clone()));
        }
        self.notify(now, key, &Event::Resumed, app);
        Ok(())
    }

    /// Raises both sequence numbers to at least what the session had: those that the store has lost
    /// are skipped.
    fn raise_numbers(
        &mut self,
        now: Now,
        key: SessionKey,
        next_in: SeqNum,
        next_out: SeqNum,
        app: &mut dyn Application,
    ) {
        let Some((found_in, found_out)) = self.numbers(key) else { return };
        if found_in >= next_in && found_out >= next_out {
            return;
        }
        let why = "resumed: the store had lower sequence numbers than the session";
        let raised = self.change(now, key, why, app, |session| {
            let stored = &mut session.state.stored;
            stored.next_in = stored.next_in.max(next_in);
            stored.next_out = stored.next_out.max(next_out);
        });
        if raised.is_err() {
            // The session is halted, and keeps its numbers until the store accepts them.
            if let Some(session) = slots::find_mut(&mut self.table, key) {
                let stored = &mut session.state.stored;
                stored.next_in = stored.next_in.max(next_in);
                stored.next_out = stored.next_out.max(next_out);
                session.publish();
            }
        } else if found_out < next_out {
            self.notify(now, key, &Event::NumbersGivenUp { begin: found_out, end: next_out.previous() }, app);
        }
    }

    /// Opens a store that failed again if it is time.
    pub(crate) fn retry_store(&mut self, now: Now, key: SessionKey, app: &mut dyn Application) {
        let Some(session) = slots::find_mut(&mut self.table, key) else { return };
        let Some(retry) = session.retry.filter(|retry| retry.at <= now.mono) else { return };
        let resumed = self.open_again(now, key, app).and_then(|()| {
            // A full disk opens a store, too. Only a record shows that it accepts records again;
            // one that refuses has halted the session again.
            let _ = self.record(now, key, "store: accepts records again", app);
            self.tell_resumed(now, key, app)
        });
        if resumed.is_ok() {
            return;
        }
        let Some(session) = slots::find_mut(&mut self.table, key) else { return };
        match &session.halted {
            Some(Halt::StoreFailed(_)) => session.retry = Some(retry.again(now.mono)),
            // It is not tried again, and nobody else has heard the reason.
            Some(halt @ Halt::StoreDamaged { .. }) => {
                let note = format!("the session is halted: {halt}");
                self.notify(now, key, &Event::Note(&note), app);
            }
            _ => {}
        }
    }

    /// Logs out: sends a Logout with `text` (no Text if empty) and waits for the answer. The end is
    /// reported as an event.
    ///
    /// # Errors
    /// Returns a [`SendError`] if nothing could be sent.
    pub fn log_out(
        &mut self,
        now: Now,
        key: SessionKey,
        text: &str,
        app: &mut dyn Application,
    ) -> Result<(), SendError> {
        let Some(mut tx) = self.transaction(now, key, app) else { return Err(SendError::Unavailable) };
        match tx.session().state.phase() {
            Phase::LoggedOn => {}
            Phase::Disconnected => return Err(SendError::NotLoggedOn),
            // Nothing has been agreed, or the end is under way.
            Phase::AwaitingLogon | Phase::LogonSent => {
                tx.close(SessionEnd::LoggedOutByUs);
                return Ok(());
            }
            Phase::LogoutSent => return Ok(()),
            // The counterparty should close, but whoever logs out now does not wait for that: only
            // for the rest of a replay, which goes before our answer.
            Phase::LogoutAnswered => {
                if tx.session().state.replay().is_none() {
                    tx.close(SessionEnd::LoggedOutByPeer);
                }
                return Ok(());
            }
        }
        tx.begin();
        match send_logout(&mut tx, Cow::Borrowed(text), None, None) {
            Ok(()) => {
                // A failure here halts the session, which the caller can see.
                let _ = tx.commit();
                Ok(())
            }
            Err(error) => {
                tx.abandon(error.clone());
                Err(error)
            }
        }
    }

    /// Runs a turn that no inbound message caused: everything that `act` writes, in any session of
    /// this worker, is committed together, or nothing if it fails.
    ///
    /// # Errors
    /// Returns the error of `act`, or that of the store. A panic in it is an error too, and ends
    /// the session's connection.
    pub fn act<R>(
        &mut self,
        now: Now,
        key: SessionKey,
        app: &mut dyn Application,
        act: impl FnOnce(&mut Turn<'_>) -> Result<R, SendError>,
    ) -> Result<R, SendError> {
        let Some(mut tx) = self.transaction(now, key, app) else { return Err(SendError::Unavailable) };
        tx.begin();
        let result = {
            let (_, turn) = tx.turn();
            let mut turn = Turn { open: true, ..turn };
            catch_unwind(AssertUnwindSafe(|| act(&mut turn)))
        };
        match result {
            Ok(Ok(value)) => tx.commit().map(|()| value).map_err(|Stop| SendError::Unavailable),
            // If the store refused, the rollback has halted its session.
            Ok(Err(error)) => {
                tx.rollback();
                Err(error)
            }
            Err(_) => {
                tx.rollback();
                tx.close(SessionEnd::CallbackFailed { callback: "act", why: PANIC.to_owned() });
                Err(SendError::Application("panic"))
            }
        }
    }

    /// Skips the message on which the application fails: the counterparty's next one is expected.
    /// The store records the reason.
    ///
    /// # Errors
    /// Returns [`SendError::Unavailable`] if the session is not halted by a poison message, and
    /// otherwise the error of the store.
    pub fn skip(
        &mut self,
        now: Now,
        key: SessionKey,
        why: &str,
        app: &mut dyn Application,
    ) -> Result<(), SendError> {
        self.end_poison(now, key, why, app, true)
    }

    /// Offers the message on which the application failed again, with as many attempts as before.
    /// The store records the reason.
    ///
    /// # Errors
    /// The same as those of [`Sessions::skip`].
    pub fn retry(
        &mut self,
        now: Now,
        key: SessionKey,
        why: &str,
        app: &mut dyn Application,
    ) -> Result<(), SendError> {
        self.end_poison(now, key, why, app, false)
    }

    /// Resets both sequence numbers to 1 on an operator's order. The store records the reason and
    /// keeps the earlier messages. The counterparty must reset its own.
    ///
    /// # Errors
    /// Returns [`SendError::Unavailable`] if the session is halted or not open,
    /// [`SendError::Application`] if it has a connection, and otherwise the error of the store.
    pub fn reset(
        &mut self,
        now: Now,
        key: SessionKey,
        why: &str,
        app: &mut dyn Application,
    ) -> Result<(), SendError> {
        let Some(mut tx) = self.transaction(now, key, app) else { return Err(SendError::Unavailable) };
        if tx.session().halted.is_some() {
            return Err(SendError::Unavailable);
        }
        if tx.session().state.connection.is_some() {
            return Err(SendError::Application("the session has a connection: log it out first"));
        }
        tx.begin();
        if let Err(error) = tx.reset(why) {
            tx.rollback();
            return Err(error);
        }
        tx.commit().map_err(|Stop| SendError::Unavailable)?;
        tx.session_mut().state.accepted_too_low = false;
        tx.notify_numbers(why);
        Ok(())
    }

    /// Begins to reset both sequence numbers in a session that is logged on, as the two sides have
    /// agreed (24-hour reset): sends a TestRequest, and after its answer a Logon with
    /// ResetSeqNumFlag=Y. The store records the reason and keeps the earlier messages.
    ///
    /// Until the counterparty has answered the Logon, application messages that answer nothing fail
    /// with [`SendError::BackPressure`], and what the counterparty sends is not processed, because
    /// its sequence numbers no longer apply: agree on a time at which it is quiet. The end is an
    /// event: [`Event::SequenceChanged`], or [`Event::ResetAbandoned`] if the counterparty sends an
    /// application message, messages are being sent again, or no Heartbeat comes within
    /// [`logon_timeout`](crate::SessionSettings::logon_timeout). If the Logon is not answered for
    /// as long, the connection ends with [`SessionEnd::ResetUnanswered`].
    ///
    /// # Errors
    /// Returns [`SendError::Unavailable`] if the session is halted or not open,
    /// [`SendError::NotLoggedOn`], [`SendError::Application`] if messages are missing or are being
    /// sent again, if a reset has already begun or in FIX.4.0, which has no ResetSeqNumFlag, and
    /// [`SendError::BackPressure`] if the outbox is full.
    pub fn reset_in_session(
        &mut self,
        now: Now,
        key: SessionKey,
        why: &str,
        app: &mut dyn Application,
    ) -> Result<(), SendError> {
        let Some(mut tx) = self.transaction(now, key, app) else { return Err(SendError::Unavailable) };
        reset::begin(&mut tx, why)
    }

    /// Sends a TestRequest. If the counterparty does not answer in time, the connection ends.
    ///
    /// # Errors
    /// Returns [`SendError::NotLoggedOn`], [`SendError::BackPressure`] if the outbox is full, and
    /// otherwise why it could not be written.
    pub fn test_request(
        &mut self,
        now: Now,
        key: SessionKey,
        app: &mut dyn Application,
    ) -> Result<(), SendError> {
        let Some(mut tx) = self.transaction(now, key, app) else { return Err(SendError::Unavailable) };
        if tx.session().state.phase() != Phase::LoggedOn {
            return Err(SendError::NotLoggedOn);
        }
        let sent = test_request(&mut tx).map_err(|Stop| SendError::Unavailable)?;
        sent.map(drop).ok_or(SendError::BackPressure)
    }

    /// Disables or enables a session. A disabled session gets no new connection, but keeps one that
    /// it has until it is logged out. The store records the reason. After a restart every session
    /// is enabled.
    ///
    /// # Errors
    /// Returns [`SendError::Unavailable`] if the session's store is closed, and otherwise the error
    /// of the store; nothing was changed then.
    pub fn set_enabled(
        &mut self,
        now: Now,
        key: SessionKey,
        enabled: bool,
        why: &str,
        app: &mut dyn Application,
    ) -> Result<(), SendError> {
        self.record(now, key, why, app)?;
        if let Some(session) = slots::find_mut(&mut self.table, key) {
            session.enabled = enabled;
            session.publish();
        }
        Ok(())
    }

    /// Records an operator's action that changes no sequence number.
    ///
    /// # Errors
    /// Returns [`SendError::Unavailable`] if the session's store is closed, and otherwise the error
    /// of the store.
    pub fn record(
        &mut self,
        now: Now,
        key: SessionKey,
        why: &str,
        app: &mut dyn Application,
    ) -> Result<(), SendError> {
        self.change(now, key, why, app, |_| ())
    }

    /// Sets the next sequence numbers on an operator's order; `None` leaves one unchanged. The
    /// store records the change with the reason.
    ///
    /// # Errors
    /// Returns [`SendError::Application`] if NextNumOut would be lowered, because a sequence number
    /// is never used again with another body, or if a sequence number is out of range. Returns
    /// [`SendError::Unavailable`] if the session's store is closed, and otherwise the error of the
    /// store.
    pub fn set_numbers(
        &mut self,
        now: Now,
        key: SessionKey,
        numbers: (Option<SeqNum>, Option<SeqNum>),
        why: &str,
        app: &mut dyn Application,
    ) -> Result<(), SendError> {
        let (next_in, next_out) = self.numbers(key).ok_or(SendError::Unavailable)?;
        let (new_in, new_out) = (numbers.0.unwrap_or(next_in), numbers.1.unwrap_or(next_out));
        if new_out < next_out {
            return Err(SendError::Application("NextNumOut cannot be lowered: reset the session instead"));
        }
        if [new_in, new_out].iter().any(|seq| !(SeqNum::ONE..SeqNum::MAX).contains(seq)) {
            return Err(SendError::Application(
                "a sequence number must be at least 1 and below the largest one",
            ));
        }
        self.change(now, key, why, app, |session| {
            let stored = &mut session.state.stored;
            (stored.next_in, stored.next_out, stored.attempts) = (new_in, new_out, 0);
            session.state.accepted_too_low = false;
            session.state.gave_up_at = SeqNum::ZERO;
            if let Some(connection) = &mut session.state.connection {
                connection.logon.gap = None;
            }
        })?;
        let event = Event::SequenceChanged { next_in: new_in, next_out: new_out, reason: why };
        self.notify(now, key, &event, app);
        Ok(())
    }

    fn end_poison(
        &mut self,
        now: Now,
        key: SessionKey,
        why: &str,
        app: &mut dyn Application,
        skip: bool,
    ) -> Result<(), SendError> {
        let Some(Halt::PoisonMessage { seq, .. }) = self.halted(key).cloned() else {
            return Err(SendError::Unavailable);
        };
        self.change(now, key, why, app, |session| {
            let stored = &mut session.state.stored;
            stored.attempts = 0;
            if skip {
                // An operator may have skipped it already.
                stored.next_in = stored.next_in.max(seq.next());
            }
        })?;
        if let Some(session) = slots::find_mut(&mut self.table, key) {
            session.halted = None;
            session.publish();
        }
        Ok(())
    }

    /// Changes sequence numbers without a message, in a separate transaction.
    fn change(
        &mut self,
        now: Now,
        key: SessionKey,
        why: &str,
        app: &mut dyn Application,
        change: impl FnOnce(&mut Session),
    ) -> Result<(), SendError> {
        let Some(mut tx) = self.transaction(now, key, app) else { return Err(SendError::Unavailable) };
        if !tx.session().store_is_open {
            return Err(SendError::Unavailable);
        }
        tx.begin();
        change(tx.session_mut());
        if let Err(error) = tx.record_change(RecordKind::Adjust, why) {
            tx.rollback();
            return Err(error);
        }
        tx.commit().map_err(|Stop| SendError::Unavailable)
    }
}
