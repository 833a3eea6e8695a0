//! The two applications: the trader's counts reports and times the paced orders; both notice when a
//! session ends.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use fixbolt_codec::{Message, Tag};
use fixbolt_session::{Application, Delivery, Event, Failure, Halt, SessionEnd, Turn};
use fixbolt_workloads::harness::{Clock as _, Monotonic, Recorder};
use fixbolt_workloads::orders::order_number;
use fixbolt_workloads::reports::Kind;

use crate::venue::Venue;

/// Shared by the trader's thread and the demo's.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Reports received.
    pub(super) reports: AtomicU64,
    /// Orders whose last report has arrived.
    pub(super) completed: AtomicU64,
    /// Whether orders can be sent.
    pub(super) logged_on: AtomicBool,
    /// Where the paced orders are recorded, once the paced part has begun.
    pub(super) paced: OnceLock<Paced>,
    /// Why the run cannot continue.
    trouble: Mutex<Option<String>>,
    /// Which journal failed, and why.
    broken: Mutex<Option<String>>,
}

impl Progress {
    /// Returns why the run cannot continue, if it cannot.
    pub(super) fn trouble(&self) -> Option<String> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn fail(&self, why: String) {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
    }

    /// Returns which journal failed and why, which is the cause of any other problem.
    pub(super) fn broken_journal(&self) -> Option<String> {
        self.broken.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Records that a connection of `side` has ended.
    fn ended(&self, side: &str, end: &SessionEnd) {
        if let SessionEnd::Halted(Halt::StoreFailed(error)) = end {
            let line = format!("the {side}'s journal failed: {error}");
            self.broken.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(line);
        }
        self.fail(format!("the {side}'s session ended: {end}"));
    }
}

/// The paced orders.
#[derive(Clone, Debug)]
pub(super) struct Paced {
    /// The number of the first one.
    pub(super) first: u64,
    /// Where the first report of each is recorded.
    pub(super) recorder: Recorder,
}

/// The application of the trader's engine.
#[derive(Debug, Default)]
pub(super) struct Trader {
    progress: Arc<Progress>,
}

impl Trader {
    pub(super) fn new(progress: Arc<Progress>) -> Self {
        Self { progress }
    }
}

impl Application for Trader {
    fn on_message(&mut self, message: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
        let kind = message.get(Tag::new(39)).and_then(Kind::of);
        let (b"8", Some(kind)) = (message.msg_type(), kind) else { return Ok(Delivery::UNSUPPORTED) };
        if kind.is_first()
            && let Some(paced) = self.progress.paced.get()
            && let Some(number) = message.get(Tag::new(11)).and_then(order_number)
            && let Some(place) = number.checked_sub(paced.first)
        {
            paced.recorder.finish(place, Monotonic.now());
        }
        self.progress.reports.fetch_add(1, Ordering::Relaxed);
        if kind.is_last() {
            self.progress.completed.fetch_add(1, Ordering::Relaxed);
        }
        Ok(Delivery::Done)
    }

    fn on_event(&mut self, event: &Event<'_>, _: &mut Turn<'_>) -> Result<(), Failure> {
        match event {
            Event::LoggedOn => self.progress.logged_on.store(true, Ordering::Relaxed),
            Event::Ended(end) => self.progress.ended("trader", end),
            Event::NotSent { why, .. } => self.progress.fail(format!("an order was not sent: {why}")),
            Event::RejectReceived { text, .. } => {
                self.progress.fail(format!("the venue rejected an order: {text}"));
            }
            _ => {}
        }
        Ok(())
    }
}

/// The application of the venue's engine: the venue, and where to report the end of its session.
#[derive(Debug)]
pub(super) struct WatchedVenue {
    venue: Venue,
    progress: Arc<Progress>,
}

impl WatchedVenue {
    pub(super) fn new(venue: Venue, progress: Arc<Progress>) -> Self {
        Self { venue, progress }
    }
}

impl Application for WatchedVenue {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        self.venue.on_message(message, turn)
    }

    fn on_event(&mut self, event: &Event<'_>, _: &mut Turn<'_>) -> Result<(), Failure> {
        if let Event::Ended(end) = event {
            self.progress.ended("venue", end);
        }
        Ok(())
    }
}
