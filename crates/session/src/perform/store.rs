//! A session's store: what it holds is shown to the application, and it is closed and opened again
//! when it has failed.

use std::panic::{AssertUnwindSafe, catch_unwind};

use fixbolt_codec::SeqNum;

use crate::api::resume::Resume;
use crate::api::turn::Turn;
use crate::decide::reaction::SessionReaction;
use crate::events::end::Halt;
use crate::events::error::SendError;
use crate::events::event::{Event, Ticket, Unreached};
use crate::events::open_error::OpenError;
use crate::perform::call::Call;
use crate::state::Stored;
use crate::store::{Recovered, StoreError};

impl Call<'_> {
    /// Reports what the store found out, shows its contents to the application, and closes it if it
    /// must be repaired. `ended` are messages that waited and will not be sent.
    pub(crate) fn begin_work(&mut self, recovered: &Recovered, ended: Vec<(Ticket, SendError)>) {
        if let Some(given_up) = &recovered.given_up {
            self.notify(&Event::NumbersGivenUp { begin: *given_up.start(), end: *given_up.end() });
        }
        for (ticket, why) in ended {
            self.notify(&Event::NotSent { ticket, why: &why });
        }
        self.show_store();
    }

    /// Shows the contents of the session's store to the application, in a separate transaction if
    /// it writes. If it fails, its state is unknown: the session is halted.
    pub(crate) fn show_store(&mut self) {
        if !self.session().standing.store_is_open {
            return;
        }
        let mut fields = core::mem::take(&mut self.core.stored);
        let data_fields = self.data_fields();
        let (app, turn) = self.turn();
        let mut resume = Resume { turn, data_fields, fields: &mut fields, fault: None };
        let shown = catch_unwind(AssertUnwindSafe(|| app.on_resume(&mut resume)));
        let Resume { turn: Turn { in_transaction, .. }, fault, .. } = resume;
        self.core.stored = fields;
        if let Err(why) = self.settle(in_transaction, shown)
            && self.session().standing.halted.is_none()
        {
            let halt = fault.map_or(Halt::CallbackFailed { callback: "on_resume", why }, Halt::by_store);
            self.react(SessionReaction::halt(halt));
        }
        self.close_halted_store();
    }

    /// Closes a store that is damaged or has failed, so that it can be repaired while the other
    /// sessions continue.
    pub(crate) fn close_halted_store(&mut self) {
        let committed = self.core.committed;
        let (session, store) = self.core.session_and_store(self.own);
        let by_store =
            matches!(session.standing.halted, Some(Halt::StoreDamaged { .. } | Halt::StoreFailed(_)));
        if by_store && session.standing.store_is_open && session.state.connection.is_none() {
            session.close_store(store, committed);
        }
    }

    /// Halts the session because its store has failed.
    pub(crate) fn store_failed(&mut self, error: StoreError) {
        let halt = Halt::StoreFailed(error);
        let note = format!("the session is halted: {halt}");
        self.react(SessionReaction::halt(halt));
        let lost = self.session_mut().drop_output();
        self.notify(&Event::Note(&note));
        self.tell_lost(lost.map(|lost| (lost, Unreached::Reset)));
        self.close_halted_store();
    }

    /// Opens the store again and continues from its contents. Numbers that it has lost are raised.
    pub(crate) fn open_again(&mut self) -> Result<(), OpenError> {
        let committed = self.core.committed;
        let (session, store) = self.core.session_and_store(self.own);
        match &session.standing.halted {
            None => return Ok(()),
            Some(halt @ Halt::PoisonMessage { .. }) => return Err(OpenError::Halted(halt.clone())),
            Some(_) if session.state.connection.is_some() => return Err(OpenError::Connected),
            Some(_) => {}
        }
        if session.standing.store_is_open {
            session.close_store(store, committed);
        }
        let recovered =
            store.open(session.fixed.key, &session.fixed.settings.id).map_err(OpenError::Store)?;
        session.standing.store_opened();
        let mut lost = None;
        // A store that has lost something may number the next connection as an earlier one.
        session.intake.forget_reordered();
        let was_new = session.standing.store_is_new;
        if was_new {
            // The counterparty has not heard of anything that was committed.
            session.state.stored = Stored::of(&Recovered::default());
            lost = session.state.unsent.take().map(|lost| (lost, Unreached::NotStored));
        }
        // R-STORE-2
        let known = session.state.stored;
        let damage = recovered.damage.clone().or_else(|| {
            let older = recovered.generation < known.generation;
            older.then(|| "the store has lost a reset of the sequence numbers".to_owned())
        });
        session.standing.end_retry();
        if let Some(reason) = damage {
            self.tell_lost(lost);
            let halt = Halt::StoreDamaged { reason };
            self.react(SessionReaction::halt(halt.clone()));
            self.close_halted_store();
            return Err(OpenError::Halted(halt));
        }
        session.tell_horizon(store);
        if let Some(by_reset) = session.recover(&recovered, was_new) {
            lost = Some((by_reset, Unreached::Reset));
        }
        let ended = self.read_waiting(&recovered);
        self.tell_lost(lost);
        if self.session().standing.halted.is_none() && recovered.generation == known.generation {
            self.raise_numbers(known.next_in, known.next_out);
        }
        self.begin_work(&recovered, ended);
        Ok(())
    }

    /// Tells the application that a halt has ended, unless another one has begun.
    pub(crate) fn tell_resumed(&mut self) -> Result<(), OpenError> {
        if let Some(halt) = &self.session().standing.halted {
            return Err(OpenError::Halted(halt.clone()));
        }
        self.notify(&Event::Resumed);
        Ok(())
    }

    /// Raises both sequence numbers to at least what the session had: those that the store has lost
    /// are skipped.
    fn raise_numbers(&mut self, next_in: SeqNum, next_out: SeqNum) {
        let found = self.session().state.stored;
        if found.next_in >= next_in && found.next_out >= next_out {
            return;
        }
        let raise = |stored: &mut Stored| {
            stored.next_in = stored.next_in.max(next_in);
            stored.next_out = stored.next_out.max(next_out);
        };
        let why = "resumed: the store had lower sequence numbers than the session";
        let raised = self.change(why, |session| raise(&mut session.state.stored));
        if raised.is_err() {
            // The session is halted, and keeps its numbers until the store accepts them.
            let session = self.session_mut();
            raise(&mut session.state.stored);
            session.publish();
        } else if found.next_out < next_out {
            self.notify(&Event::NumbersGivenUp { begin: found.next_out, end: next_out.previous() });
        }
    }

    /// Opens a store that failed again if it is time.
    pub(crate) fn retry_store(&mut self) {
        let now = self.now.mono;
        let Some(retry) = self.session().standing.retry.filter(|retry| retry.at <= now) else { return };
        let resumed = self.open_again().and_then(|()| {
            // A full disk opens a store, too. Only a record shows that it accepts records again;
            // one that refuses has halted the session again.
            let _ = self.record_why("store: accepts records again");
            self.tell_resumed()
        });
        if resumed.is_ok() {
            return;
        }
        let session = self.session_mut();
        match &session.standing.halted {
            Some(Halt::StoreFailed(_)) => session.standing.retry_later(retry, now),
            // It is not tried again, and nobody else has heard the reason.
            Some(halt @ Halt::StoreDamaged { .. }) => {
                let note = format!("the session is halted: {halt}");
                self.notify(&Event::Note(&note));
            }
            _ => {}
        }
    }
}
