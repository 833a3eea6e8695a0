//! What an application or an operator does to a session from outside: sending, logging out, ending a halt, changing numbers,
//! switching it off and on. What an operator changes is recorded in the store, with who did it and why.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use fixbolt_codec::SeqNum;

use crate::application::Application;
use crate::carry_out;
use crate::clock;
use crate::end::{Halt, SessionEnd};
use crate::error::SendError;
use crate::event::{Event, Unreached};
use crate::key::SessionKey;
use crate::session::Session;
use crate::sessions::{OpenError, Sessions};
use crate::state::Phase;
use crate::store::RecordKind;
use crate::table;
use crate::time::Now;
use crate::transaction::{PANIC, Stop, Transaction};
use crate::turn::Turn;

impl Sessions {
    /// Ends a halt without a restart: the store of the session is opened again, because it can take records again or was
    /// repaired, and the application is shown what it holds. A poison message is not ended by this, but by [`Sessions::skip`]
    /// or [`Sessions::retry`].
    ///
    /// A store that comes back with lower numbers than the session had gets these, with a record that says so: no number is
    /// used twice, and the messages in between are told as given up.
    ///
    /// Who asks for it and why is recorded.
    ///
    /// # Errors
    /// [`OpenError`]; the session stands still, as before or because of what its store holds.
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
        let session = table::find_mut(&mut self.table, key).ok_or(OpenError::NotOpen)?;
        match &session.halted {
            None => return Ok(()),
            Some(halt @ Halt::PoisonMessage { .. }) => return Err(OpenError::Halted(halt.clone())),
            Some(_) if session.state.connection.is_some() => return Err(OpenError::Connected),
            Some(_) => {}
        }
        if session.store_is_open {
            session.store_is_open = false;
            // What it says is said again when it is opened.
            let _ = self.store.close(key);
        }
        let recovered = self.store.open(key, &session.settings.id).map_err(OpenError::Store)?;
        session.store_is_open = true;
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
        if let Some(lost) = session.recover(&recovered) {
            let event = Event::Unreached { begin: lost.first, end: lost.last, why: Unreached::Reset };
            self.notify(now, key, &event, app);
        }
        let session = table::find_mut(&mut self.table, key).ok_or(OpenError::NotOpen)?;
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
        let session = table::find_mut(&mut self.table, key).ok_or(OpenError::NotOpen)?;
        if let Some(halt) = &session.halted {
            return Err(OpenError::Halted(halt.clone()));
        }
        self.notify(now, key, &Event::Resumed, app);
        Ok(())
    }

    /// Neither number goes below what the session had: what the store has lost is passed over.
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
        let why = "resumed: the store held lower numbers than the session had";
        let raised = self.change(now, key, why, app, |session| {
            let stored = &mut session.state.stored;
            stored.next_in = stored.next_in.max(next_in);
            stored.next_out = stored.next_out.max(next_out);
        });
        // A store that refuses has halted the session.
        if raised.is_ok() && found_out < next_out {
            self.notify(now, key, &Event::NumbersGivenUp { begin: found_out, end: next_out.previous() }, app);
        }
    }

    /// Tries a store that failed again, if it is time.
    pub(crate) fn retry_store(&mut self, now: Now, key: SessionKey, app: &mut dyn Application) {
        let Some(session) = table::find_mut(&mut self.table, key) else { return };
        let Some(retry) = session.retry.filter(|retry| retry.at <= now.mono) else { return };
        let resumed = self.open_again(now, key, app).and_then(|()| self.tell_resumed(now, key, app));
        if resumed.is_err()
            && let Some(session) = table::find_mut(&mut self.table, key)
            && matches!(session.halted, Some(Halt::StoreFailed(_)))
        {
            session.retry = Some(retry.again(now.mono));
        }
    }

    /// Logs out: sends a Logout with `text` (empty: none) and waits for the answer. The end is told as an event.
    ///
    /// # Errors
    /// [`SendError`] if nothing could be sent.
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
            // Nothing was agreed yet, or the end is under way.
            Phase::AwaitingLogon | Phase::LogonSent => {
                tx.close(SessionEnd::LoggedOutByUs);
                return Ok(());
            }
            Phase::LogoutSent | Phase::LogoutAnswered => return Ok(()),
        }
        tx.begin();
        match carry_out::send_logout(&mut tx, Cow::Borrowed(text), None, None) {
            Ok(()) => {
                // What fails here halts the session, which the caller sees.
                let _ = tx.commit();
                Ok(())
            }
            Err(error) => {
                tx.abandon(error.clone());
                Err(error)
            }
        }
    }

    /// A turn that no inbound message caused: everything that `act` writes, in any session of this worker, is committed
    /// together, or nothing if it fails.
    ///
    /// # Errors
    /// What `act` returns, or the store's refusal. A panic in it is an error too, and ends the session's connection.
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
            // A store that refused has halted its session by this.
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

    /// Gives up the message on which the application fails: the counterparty's next one is expected. Recorded with the reason.
    ///
    /// # Errors
    /// [`SendError::Unavailable`] if no message is poison here, else the store's refusal.
    pub fn skip(
        &mut self,
        now: Now,
        key: SessionKey,
        why: &str,
        app: &mut dyn Application,
    ) -> Result<(), SendError> {
        self.end_poison(now, key, why, app, true)
    }

    /// Offers the message on which the application failed again, as often as at first. Recorded with the reason.
    ///
    /// # Errors
    /// As [`Sessions::skip`].
    pub fn retry(
        &mut self,
        now: Now,
        key: SessionKey,
        why: &str,
        app: &mut dyn Application,
    ) -> Result<(), SendError> {
        self.end_poison(now, key, why, app, false)
    }

    /// Both sequence numbers begin again at 1, on an operator's order: recorded in the store, which archives what it has. The
    /// counterparty must do the same.
    ///
    /// # Errors
    /// [`SendError::Unavailable`] if the session is halted or not open, [`SendError::Application`] if it has a connection. Else
    /// the store's refusal.
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
        tx.notify_numbers(why);
        Ok(())
    }

    /// Sends a TestRequest. A counterparty that does not answer in time is given up, as one that was silent.
    ///
    /// # Errors
    /// [`SendError::NotLoggedOn`]; [`SendError::BackPressure`] if the outbox is full; else why it could not be written.
    pub fn test_request(
        &mut self,
        now: Now,
        key: SessionKey,
        app: &mut dyn Application,
    ) -> Result<(), SendError> {
        let Some(mut tx) = self.transaction(now, key, app) else { return Err(SendError::Unavailable) };
        let sent = |tx: &Transaction<'_>| {
            tx.session().state.connection.as_ref().map_or(0, |connection| connection.test_requests)
        };
        if tx.session().state.phase() != Phase::LoggedOn {
            return Err(SendError::NotLoggedOn);
        }
        let before = sent(&tx);
        clock::test_request(&mut tx).map_err(|Stop| SendError::Unavailable)?;
        if sent(&tx) == before { Err(SendError::BackPressure) } else { Ok(()) }
    }

    /// Switches a session off or on. One that is off gets no connection; one that has one keeps it: log it out. Recorded with
    /// the reason; after a restart every session is on.
    ///
    /// # Errors
    /// [`SendError::Unavailable`] if the session's store is closed, else the store's refusal: nothing was switched.
    pub fn set_enabled(
        &mut self,
        now: Now,
        key: SessionKey,
        enabled: bool,
        why: &str,
        app: &mut dyn Application,
    ) -> Result<(), SendError> {
        self.record(now, key, why, app)?;
        if let Some(session) = table::find_mut(&mut self.table, key) {
            session.enabled = enabled;
            session.publish();
        }
        Ok(())
    }

    /// Records what an operator does to a session that changes no number.
    ///
    /// # Errors
    /// [`SendError::Unavailable`] if the session's store is closed, else the store's refusal.
    pub fn record(
        &mut self,
        now: Now,
        key: SessionKey,
        why: &str,
        app: &mut dyn Application,
    ) -> Result<(), SendError> {
        self.change(now, key, why, app, |_| ())
    }

    /// Sets the next numbers on an operator's order; `None` leaves one as it is. Recorded in the store with the reason.
    ///
    /// # Errors
    /// [`SendError::Application`] if NextNumOut would go down: a number is never used again with another body; or if a number
    /// is none that a message can have.
    /// [`SendError::Unavailable`] if the session's store is closed. Else the store's refusal.
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
            return Err(SendError::Application("NextNumOut never goes down: reset the session instead"));
        }
        if [new_in, new_out].iter().any(|seq| !(SeqNum::ONE..SeqNum::MAX).contains(seq)) {
            return Err(SendError::Application("a number is at least 1, and below the largest one"));
        }
        self.change(now, key, why, app, |session| {
            let stored = &mut session.state.stored;
            (stored.next_in, stored.next_out, stored.attempts) = (new_in, new_out, 0);
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
                // An operator may have passed it over already.
                stored.next_in = stored.next_in.max(seq.next());
            }
        })?;
        if let Some(session) = table::find_mut(&mut self.table, key) {
            session.halted = None;
            session.publish();
        }
        Ok(())
    }

    /// Changes numbers without a message, in a transaction of its own.
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
