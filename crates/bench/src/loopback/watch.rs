//! What the threads of a benchmark tell each other: whether the sessions are logged on, and what
//! went wrong.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use fixbolt_session::Event;

/// How long nothing may happen before a benchmark counts as stuck.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often a thread that waits looks whether anything happens.
const LOOK: Duration = Duration::from_millis(100);

/// Shared by the applications of both sides and the thread that measures.
#[derive(Clone, Debug, Default)]
pub(super) struct Watch(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    logged_on: AtomicU64,
    failed: AtomicBool,
    ending: AtomicBool,
    trouble: Mutex<Option<String>>,
    /// The thread that waits.
    waiter: Mutex<Option<Thread>>,
}

impl Watch {
    /// Records why the measurement cannot continue; the first reason counts.
    pub(super) fn fail(&self, why: impl Into<String>) {
        if !self.0.ending.load(Ordering::Relaxed) {
            self.0.trouble.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why.into());
            self.0.failed.store(true, Ordering::Release);
            self.wake();
        }
    }

    /// From now on, sessions may end.
    pub(super) fn end(&self) {
        self.0.ending.store(true, Ordering::Relaxed);
    }

    /// Returns why the measurement cannot continue, if it cannot.
    pub(super) fn check(&self) -> Result<(), String> {
        if !self.0.failed.load(Ordering::Acquire) {
            return Ok(());
        }
        let trouble = self.0.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        Err(trouble.clone().unwrap_or_default())
    }

    /// Records an event of a session of `side`.
    pub(super) fn event(&self, side: &str, event: &Event<'_>) {
        match event {
            Event::LoggedOn => {
                self.0.logged_on.fetch_add(1, Ordering::Release);
                self.wake();
            }
            Event::Ended(end) => self.fail(format!("the {side}'s session ended: {end}")),
            Event::NotSent { why, .. } => self.fail(format!("an order was not sent: {why}")),
            Event::RejectReceived { text, .. } => {
                self.fail(format!("a message of the {side} was rejected: {text}"));
            }
            _ => {}
        }
    }

    /// Waits until this many logons were completed, on both sides together.
    pub(super) fn await_logons(&self, count: u64) -> Result<(), String> {
        self.until("no logon", count, || self.0.logged_on.load(Ordering::Acquire))
    }

    /// Has the thread that waits look at once.
    pub(super) fn wake(&self) {
        if let Some(waiter) = &*self.0.waiter.lock().unwrap_or_else(PoisonError::into_inner) {
            waiter.unpark();
        }
    }

    /// Waits until `count` returns `goal`. Between its looks the thread sleeps, and so takes no
    /// core from those that are measured: whoever gets there calls [`Watch::wake`].
    pub(super) fn until(&self, missing: &str, goal: u64, count: impl Fn() -> u64) -> Result<(), String> {
        self.until_within(PATIENCE, missing, goal, count)
    }

    fn until_within(
        &self,
        patience: Duration,
        missing: &str,
        goal: u64,
        count: impl Fn() -> u64,
    ) -> Result<(), String> {
        *self.0.waiter.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread::current());
        let (mut last, mut since) = (0, Instant::now());
        loop {
            let now = count();
            // What went wrong did so before it was counted.
            self.check()?;
            if now >= goal {
                return Ok(());
            }
            if now > last {
                (last, since) = (now, Instant::now());
            } else if since.elapsed() > patience {
                return Err(format!("{missing} for {} s, after {now} of {goal}", patience.as_secs()));
            }
            thread::park_timeout(LOOK.min(patience));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_ends_if_nothing_happens_and_not_if_something_does() {
        let (watch, count) = (Watch::default(), AtomicU64::new(0));
        let short = Duration::from_millis(50);
        // Each look finds one more, over a longer time than the patience.
        let slow = || {
            thread::sleep(short / 2);
            count.fetch_add(1, Ordering::Relaxed)
        };
        assert_eq!(watch.until_within(short, "no report", 8, slow), Ok(()));
        let stuck = watch.until_within(short, "no report", 8, || 3);
        assert_eq!(stuck, Err("no report for 0 s, after 3 of 8".to_owned()));
    }

    #[test]
    fn who_waits_is_woken_by_the_end_and_by_what_went_wrong() {
        let (watch, count) = (Watch::default(), AtomicU64::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                count.store(2, Ordering::Release);
                watch.wake();
            });
            assert_eq!(watch.until("no order", 2, || count.load(Ordering::Acquire)), Ok(()));
            scope.spawn(|| watch.fail("the venue could not answer"));
            let failed = watch.until("no order", 3, || count.load(Ordering::Acquire));
            assert_eq!(failed, Err("the venue could not answer".to_owned()));
        });
    }
}
