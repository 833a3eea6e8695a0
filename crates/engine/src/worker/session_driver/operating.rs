//! Carries out an operator's commands on a session.

use fixbolt_session::{Application, OpenError, Phase, SendError, SessionKey, SessionState, Sessions};

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
        let result = match operation {
            Operation::LogOn => return self.operate_log_on(key, why, cycle, app),
            Operation::LogOut { text } => {
                if self.sessions.phase(key) == Phase::Disconnected {
                    return Operated::Done(Err(OperationError::NotLoggedOn));
                }
                match self.sessions.record(cycle.now, key, why, app) {
                    Ok(()) => return self.begin_logout(key, &text, cycle, app),
                    refused => refused,
                }
            }
            Operation::Enable => {
                let enabled = self.sessions.set_enabled(cycle.now, key, true, why, app);
                if enabled.is_ok() {
                    self.hasten(key);
                }
                enabled
            }
            Operation::Disable { text } => match self.sessions.set_enabled(cycle.now, key, false, why, app) {
                Ok(()) if self.table[key].connection.is_some() => {
                    return self.begin_logout(key, &text, cycle, app);
                }
                disabled => disabled,
            },
            Operation::SetNumbers { next_in, next_out } => {
                self.sessions.set_numbers(cycle.now, key, (next_in, next_out), why, app)
            }
            Operation::Reset => match self.state(key) {
                Some(SessionState::Halted(halt)) => {
                    return Operated::Done(Err(OperationError::Halted(halt)));
                }
                _ if self.table[key].connection.is_some() => {
                    return Operated::Done(Err(OperationError::Connected));
                }
                _ => self.sessions.reset(cycle.now, key, why, app),
            },
            Operation::ResetInSession => {
                if let Some(SessionState::Halted(halt)) = self.state(key) {
                    return Operated::Done(Err(OperationError::Halted(halt)));
                }
                match self.sessions.reset_in_session(cycle.now, key, why, app) {
                    Err(SendError::NotLoggedOn) => return Operated::Done(Err(OperationError::NotLoggedOn)),
                    begun => begun,
                }
            }
            Operation::TestRequest => match self.sessions.test_request(cycle.now, key, app) {
                Err(SendError::NotLoggedOn) => return Operated::Done(Err(OperationError::NotLoggedOn)),
                sent => sent,
            },
            Operation::SkipPoisonMessage | Operation::RetryPoisonMessage => {
                let ended = if operation == Operation::SkipPoisonMessage {
                    self.sessions.skip(cycle.now, key, why, app)
                } else {
                    self.sessions.retry(cycle.now, key, why, app)
                };
                match ended {
                    Err(SendError::Unavailable) => return Operated::Done(Err(OperationError::NotHalted)),
                    ended => ended,
                }
            }
            Operation::Resume => {
                let resumed = self.sessions.resume(cycle.now, key, why, app);
                return Operated::Done(resumed.map(|()| None).map_err(OperationError::Store));
            }
            Operation::ConfirmClock => self.sessions.confirm_clock(cycle.now, key, why, app).map(drop),
            Operation::Remove => return Operated::Done(self.remove(key, why, cycle, app).map(|()| None)),
        };
        Operated::Done(result.map(|()| None).map_err(OperationError::Refused))
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
            Some(SessionState::Halted(halt)) => return Operated::Done(Err(OperationError::Halted(halt))),
            Some(SessionState::Disabled) => return Operated::Done(Err(OperationError::Disabled)),
            _ => {}
        }
        if let Err(error) = self.sessions.record(cycle.now, key, why, app) {
            return Operated::Done(Err(OperationError::Refused(error)));
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
            return Err(OperationError::Connected);
        }
        // A store that is closed, because it is damaged or has failed, cannot record anything.
        match self.sessions.record(cycle.now, key, why, app) {
            Ok(()) | Err(SendError::Unavailable) => {}
            Err(error) => return Err(OperationError::Refused(error)),
        }
        let id = self.table[key].id.clone();
        let closed = self.close_session(key, Sessions::close, cycle, app);
        if closed == Err(OpenError::Connected) {
            return Err(OperationError::Connected);
        }
        tracing::info!(session = %id, reason = why, "the session was removed");
        closed.map_err(OperationError::Store)
    }
}
