//! Operators who wait for a session to log on, or for its connection to end.

use core::time::Duration;
use std::sync::mpsc::SyncSender;

use fixbolt_session::{Mono, SessionEnd, SessionKey};

use crate::command::Outcome;
use crate::operation::OperationError;

/// The waiting operators.
#[derive(Debug, Default)]
pub(crate) struct Waiters(Vec<Waiter>);

/// A waiting operator.
#[derive(Debug)]
pub(crate) struct Waiter {
    pub(crate) session: SessionKey,
    pub(crate) awaits: Awaits,
    /// After this time nobody listens for the answer.
    pub(crate) until: Mono,
    pub(crate) answer: SyncSender<Outcome>,
}

/// The state of an operator's command.
#[derive(Debug)]
pub(crate) enum Operated {
    /// It is done, or was refused.
    Done(Outcome),
    /// It has begun, and is done after this event.
    Waits(Awaits),
}

/// The awaited event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Awaits {
    Logon,
    End,
}

impl Waiters {
    pub(crate) fn add(&mut self, now: Mono, limit: Duration, waiter: Waiter) {
        self.0.retain(|other| other.until > now);
        self.0.push(Waiter { until: now + limit, ..waiter });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Answers those who wait for the end of the session's connection.
    pub(crate) fn ended(&mut self, session: SessionKey, end: &SessionEnd) {
        self.answer(|waiter| {
            (waiter.session == session && waiter.awaits == Awaits::End).then(|| Ok(Some(end.clone())))
        });
    }

    /// Answers those who wait for a logon; `outcome` returns whether a session is logged on, or
    /// cannot be.
    pub(crate) fn check_logons(
        &mut self,
        outcome: impl Fn(SessionKey) -> Option<Result<(), OperationError>>,
    ) {
        self.answer(|waiter| {
            if waiter.awaits == Awaits::End {
                return None;
            }
            outcome(waiter.session).map(|result| result.map(|()| None))
        });
    }

    fn answer(&mut self, outcome: impl Fn(&Waiter) -> Option<Outcome>) {
        self.0.retain(|waiter| match outcome(waiter) {
            Some(outcome) => {
                // The thread that asked may have gone.
                let _ = waiter.answer.try_send(outcome);
                false
            }
            None => true,
        });
    }
}
