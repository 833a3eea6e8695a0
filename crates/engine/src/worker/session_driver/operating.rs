//! Carries out an operator's commands on a session.

use fixbolt_session::{
    Application, ChangeError, OpenError, Phase, SendError, SessionKey, SessionState, Sessions,
};

use super::SessionDriver;
use crate::operation::{Operation, OperationError};
use crate::worker::cycle::Cycle;
use crate::worker::initiator::Attempt;
use crate::worker::session_table::Side;
use crate::worker::waiters::{Awaits, Operated};

impl SessionDriver {
    /// Carries out an operator's command. Changes are recorded with `why`.
    pub(crate) fn operate(
        &mut self,
        key: SessionKey,
        operation: Operation,
        why: &str,
        cycle: &mut Cycle,
        app: &mut dyn Application,
    ) -> Operated {
        if self.table.get(key).is_none() {
            return Operated::Done(Err(OperationError::NoSession));
        }
        let (sessions, now) = (&mut self.sessions, cycle.now);
        let changed = match operation {
            Operation::LogOn => return self.operate_log_on(key, why, cycle, app),
            Operation::LogOut { text } => {
                if sessions.phase(key) == Phase::Disconnected {
                    return refused(ChangeError::NotLoggedOn);
                }
                match sessions.record(now, key, why, app) {
                    Ok(()) => return self.begin_logout(key, &text, cycle, app),
                    refused => refused,
                }
            }
            Operation::Enable => {
                let enabled = sessions.set_enabled(now, key, true, why, app);
                if enabled.is_ok() {
                    self.hasten(key);
                }
                enabled
            }
            Operation::Disable { text } => match sessions.set_enabled(now, key, false, why, app) {
                Ok(()) if self.table[key].connection.is_some() => {
                    return self.begin_logout(key, &text, cycle, app);
                }
                disabled => disabled,
            },
            Operation::SetNumbers { next_in, next_out } => {
                sessions.set_numbers(now, key, (next_in, next_out), why, app)
            }
            Operation::Reset => sessions.reset(now, key, why, app),
            Operation::ResetInSession => sessions.reset_in_session(now, key, why, app),
            Operation::TestRequest => sessions.test_request(now, key, app).map_err(ChangeError::from),
            Operation::SkipPoisonMessage => sessions.skip(now, key, why, app),
            Operation::RetryPoisonMessage => sessions.retry(now, key, why, app),
            Operation::Resume => {
                let resumed = sessions.resume(now, key, why, app);
                return Operated::Done(resumed.map(|()| None).map_err(OperationError::Store));
            }
            Operation::ConfirmClock => sessions.confirm_clock(now, key, why, app).map(drop),
            Operation::Remove => return Operated::Done(self.remove(key, why, cycle, app).map(|()| None)),
        };
        changed.map_or_else(refused, |()| Operated::Done(Ok(None)))
    }

    fn operate_log_on(
        &mut self,
        key: SessionKey,
        why: &str,
        cycle: &mut Cycle,
        app: &mut dyn Application,
    ) -> Operated {
        if !matches!(self.table[key].side, Side::Initiator { .. }) {
            return Operated::Done(Err(OperationError::NotInitiator));
        }
        match self.state(key) {
            Some(SessionState::LoggedOn) => return Operated::Done(Ok(None)),
            Some(SessionState::Halted(halt)) => return refused(ChangeError::Halted(halt)),
            Some(SessionState::Disabled) => return Operated::Done(Err(OperationError::Disabled)),
            _ => {}
        }
        if let Err(error) = self.sessions.record(cycle.now, key, why, app) {
            return refused(error);
        }
        self.hasten(key);
        Operated::Waits(Awaits::Logon)
    }

    fn begin_logout(
        &mut self,
        key: SessionKey,
        text: &str,
        cycle: &mut Cycle,
        app: &mut dyn Application,
    ) -> Operated {
        self.log_out(key, text, cycle, app);
        Operated::Waits(Awaits::End)
    }

    /// Makes an initiator connect now, or as soon as it is logged out.
    fn hasten(&mut self, key: SessionKey) {
        let attempt = match self.sessions.phase(key) {
            Phase::LogoutSent | Phase::LogoutAnswered => Attempt::AfterThis,
            _ => Attempt::Next,
        };
        if let Side::Initiator { initiator } = self.table[key].side {
            self.hastened_initiators.push((initiator, attempt));
        }
    }

    fn state(&self, key: SessionKey) -> Option<SessionState> {
        Some(self.sessions.status(key)?.state())
    }

    fn remove(
        &mut self,
        key: SessionKey,
        why: &str,
        cycle: &mut Cycle,
        app: &mut dyn Application,
    ) -> Result<(), OperationError> {
        if self.table[key].connection.is_some() {
            return Err(ChangeError::Connected.into());
        }
        // A store that is closed, because it is damaged or has failed, cannot record anything.
        match self.sessions.record(cycle.now, key, why, app) {
            Ok(()) | Err(ChangeError::Send(SendError::Unavailable)) => {}
            Err(error) => return Err(error.into()),
        }
        let id = self.table[key].id.clone();
        let closed = self.close_session(key, Sessions::close, cycle, app);
        if closed == Err(OpenError::Connected) {
            return Err(ChangeError::Connected.into());
        }
        tracing::info!(session = %id, reason = why, "the session was removed");
        closed.map_err(OperationError::Store)
    }
}

/// Returns the outcome of a command that the session refused.
fn refused(error: ChangeError) -> Operated {
    Operated::Done(Err(error.into()))
}
