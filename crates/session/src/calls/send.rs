//! What an application, or its user, has sessions write.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::api::application::Application;
use crate::api::turn::Turn;
use crate::calls::sessions::Sessions;
use crate::decide::reaction::SessionReaction;
use crate::events::end::SessionEnd;
use crate::events::error::SendError;
use crate::events::event::{Event, Unreached};
use crate::perform::call::PANIC;
use crate::values::key::SessionKey;
use crate::values::time::Now;

impl Sessions {
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
        let mut call = self.call(now, key, app).ok_or(SendError::Unavailable)?;
        call.begin();
        let result = {
            let (_, turn) = call.turn();
            let mut turn = Turn { in_transaction: true, ..turn };
            catch_unwind(AssertUnwindSafe(|| act(&mut turn)))
        };
        match result {
            Ok(Ok(value)) => call.commit().map(|()| value),
            // If the store refused, the rollback has halted its session.
            Ok(Err(error)) => {
                call.rollback();
                Err(error)
            }
            Err(_) => {
                call.rollback();
                let end = SessionEnd::CallbackFailed { callback: "act", why: PANIC.to_owned() };
                call.react(SessionReaction::close(end));
                Err(SendError::Application("panic"))
            }
        }
    }

    /// Tells the application that the messages which wait for a throttle will not be sent, nor
    /// those that no socket has accepted, if the session's store does not survive closing it: for a
    /// session that is about to be closed.
    pub fn end_waiting(&mut self, now: Now, key: SessionKey, app: &mut dyn Application) {
        if !self.core.store.kind().survives_close
            && let Some(mut call) = self.call(now, key, app)
        {
            call.drop_all_waiting();
            let lost = call.session_mut().state.unsent.take();
            call.tell_lost(lost.map(|lost| (lost, Unreached::NotStored)));
        }
    }

    /// Notifies the application of something that happened to the session outside it. A failure
    /// ends the connection.
    pub fn notify(&mut self, now: Now, key: SessionKey, event: &Event<'_>, app: &mut dyn Application) {
        if let Some(mut call) = self.call(now, key, app) {
            call.notify(event);
        }
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
        self.call(now, key, app).ok_or(SendError::Unavailable)?.test_counterparty()
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
        self.call(now, key, app).ok_or(SendError::Unavailable)?.log_out_by_us(text)
    }
}
