//! What a side's session tells the thread that runs the test.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use fixbolt::session::{CodecTime, Event};

/// Something that happened to the session.
#[derive(Clone, Debug)]
pub enum Told {
    /// The Logons were exchanged.
    LoggedOn,
    /// What the connection's messages took.
    Times(CodecTime),
    /// The connection ended.
    Ended(String),
    /// Anything else that deserves a line of the log.
    Other(String),
}

/// Sends an event to the thread that runs the test, which may have ended.
pub(super) fn tell(to: &Sender<Told>, event: &Event<'_>) {
    let told = match event {
        Event::Sent { .. } => return,
        Event::LoggedOn => Told::LoggedOn,
        Event::CodecTime(time) => Told::Times(*time),
        Event::Ended(end) => Told::Ended(end.to_string()),
        other => Told::Other(other.to_string()),
    };
    let _ = to.send(told);
}

/// Shared by the client's worker and the thread that sends.
#[derive(Debug)]
pub struct Progress {
    /// Reports received.
    pub(super) reports: AtomicU64,
    /// Orders whose last report has arrived.
    pub(super) completed: AtomicU64,
    /// Orders that were sent: a report on another one is wrong.
    pub(super) sent: AtomicU64,
    /// Whether orders can be sent.
    pub(super) logged_on: AtomicBool,
    /// Logons.
    pub(super) connections: AtomicU64,
    /// When the last report of an order arrived last, in nanoseconds since `origin`.
    completed_at: AtomicU64,
    origin: Instant,
    /// What is wrong with the first wrong report.
    wrong: Mutex<Option<String>>,
    /// Orders that a lost connection has left without their last report.
    unanswered: Mutex<Vec<u32>>,
}

impl Default for Progress {
    fn default() -> Self {
        Self {
            reports: AtomicU64::new(0),
            completed: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            logged_on: AtomicBool::new(false),
            connections: AtomicU64::new(0),
            completed_at: AtomicU64::new(0),
            origin: Instant::now(),
            wrong: Mutex::default(),
            unanswered: Mutex::default(),
        }
    }
}

impl Progress {
    /// Returns the number of reports received.
    #[must_use]
    pub fn reports(&self) -> u64 {
        self.reports.load(Ordering::Relaxed)
    }

    /// Returns the number of orders whose last report has arrived.
    #[must_use]
    pub fn completed(&self) -> u64 {
        self.completed.load(Ordering::Acquire)
    }

    /// Returns whether orders can be sent.
    #[must_use]
    pub fn is_logged_on(&self) -> bool {
        self.logged_on.load(Ordering::Acquire)
    }

    /// Returns what is wrong with the first wrong report, if there is one.
    #[must_use]
    pub fn wrong(&self) -> Option<String> {
        self.wrong.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn complain(&self, what: impl FnOnce() -> String) {
        self.wrong.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(what);
    }

    /// Counts an order whose last report has arrived.
    pub(super) fn complete(&self) {
        let now = u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.completed_at.store(now, Ordering::Relaxed);
        self.completed.fetch_add(1, Ordering::Release);
    }

    /// Returns the time from `began` until the last report of an order arrived.
    #[must_use]
    pub fn since(&self, began: Instant) -> Duration {
        let end = Duration::from_nanos(self.completed_at.load(Ordering::Relaxed));
        end.saturating_sub(began.saturating_duration_since(self.origin))
    }

    pub(super) fn leave_unanswered(&self, orders: Vec<u32>) {
        *self.unanswered.lock().unwrap_or_else(PoisonError::into_inner) = orders;
    }

    /// Returns the orders that a lost connection has left without their last report, once.
    pub(super) fn take_unanswered(&self) -> Vec<u32> {
        std::mem::take(&mut self.unanswered.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
