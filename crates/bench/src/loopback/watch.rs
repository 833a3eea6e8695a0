//! What the threads of a benchmark tell each other: whether the sessions are logged on, and what
//! went wrong.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use fixbolt_session::Event;

/// How long nothing may happen before a benchmark counts as stuck.
const PATIENCE: Duration = Duration::from_secs(20);

/// Shared by the applications of both sides and the thread that measures.
#[derive(Clone, Debug, Default)]
pub(super) struct Watch(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    logged_on: AtomicU64,
    failed: AtomicBool,
    ending: AtomicBool,
    trouble: Mutex<Option<String>>,
}

impl Watch {
    /// Records why the measurement cannot continue; the first reason counts.
    pub(super) fn fail(&self, why: impl Into<String>) {
        if !self.0.ending.load(Ordering::Relaxed) {
            self.0.trouble.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why.into());
            self.0.failed.store(true, Ordering::Release);
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
            Event::LoggedOn => drop(self.0.logged_on.fetch_add(1, Ordering::Release)),
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
        self.until("no logon", || self.0.logged_on.load(Ordering::Acquire) >= count)
    }

    /// Waits until `done`.
    pub(super) fn until(&self, missing: &str, mut done: impl FnMut() -> bool) -> Result<(), String> {
        let give_up = Instant::now() + PATIENCE;
        while !done() {
            self.check()?;
            if Instant::now() > give_up {
                return Err(format!("{missing} for {} s", PATIENCE.as_secs()));
            }
            std::thread::sleep(Duration::from_micros(100));
        }
        self.check()
    }
}
