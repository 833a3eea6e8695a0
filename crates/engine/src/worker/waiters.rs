//! Operators who wait for a session to log on, or for its connection to end.

use core::time::Duration;

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
    pub(crate) answer: oneshot::Sender<Outcome>,
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
        // One that still listens for a moment must not take the silence for the worker's end.
        self.answer(|other| (other.until <= now).then_some(Err(OperationError::TimedOut)));
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
        let mut at = 0;
        while let Some(waiter) = self.0.get(at) {
            match outcome(waiter) {
                // The thread that asked may have gone.
                Some(outcome) => _ = self.0.swap_remove(at).answer.send(outcome),
                None => at += 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use fixbolt_session::runtime::{mono, session_key};

    #[test]
    fn operators_whose_time_has_passed_are_told_so_and_forgotten() {
        let mut waiters = Waiters::default();
        let mut wait = |now| {
            let (answer, answered) = oneshot::channel();
            let session = session_key(0, 0, 0);
            let waiter = Waiter { session, awaits: Awaits::End, until: now, answer };
            waiters.add(now, Duration::from_secs(1), waiter);
            answered
        };
        let first = wait(mono(0));
        let second = wait(mono(999_999_999));
        assert!(first.try_recv().is_err());
        let _third = wait(mono(1_000_000_000));
        assert_eq!(first.try_recv(), Ok(Err(OperationError::TimedOut)));
        assert!(second.try_recv().is_err());
        assert_eq!(waiters.0.len(), 2);
    }
}
