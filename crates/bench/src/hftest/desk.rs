//! The client's side of the test: preloads orders and sends them, from a thread of its own.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use fixbolt::{Engine, PostError, Sender};
use fixbolt_codec::{BodySink, NewBody};
use fixbolt_workloads::orders::NEW_ORDER_SINGLE;

use super::client::Client;
use super::preload::{Preload, Preloaded};
use super::progress::Progress;

/// How long nothing may arrive before the test counts as stuck.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a call waits at most before it looks at everything again.
const PAUSE: Duration = Duration::from_millis(20);

/// Why the test cannot continue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DeskError {
    /// The connection is lost, or the other side does not answer.
    Connection(String),
    /// The caller wants to end.
    Stopped,
}

/// What was sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sent {
    /// The number of orders.
    pub orders: u64,
    /// When the first one was.
    pub began: Instant,
}

/// The client, which is connected, and its orders.
#[derive(Debug)]
pub struct Desk {
    engine: Engine<Client>,
    sender: Sender,
    progress: Arc<Progress>,
    preload: Preload,
    /// Whether orders without their last report are sent again after a lost connection.
    reliable: bool,
    cl_ord_id: Vec<u8>,
    /// The reports when they last were more than before, and when that was.
    moved: (u64, Instant),
}

impl Desk {
    /// Creates a desk. In reliable mode it goes on with the next connection if one is lost.
    ///
    /// # Errors
    /// Returns an error if the engine has no session.
    pub fn new(
        engine: Engine<Client>,
        session: &fixbolt::session::SessionId,
        progress: Arc<Progress>,
        preload: Preload,
        reliable: bool,
    ) -> Result<Self, String> {
        let sender = engine.session(session).ok_or("the client has no session")?.sender();
        let moved = (0, Instant::now());
        Ok(Self { engine, sender, progress, preload, reliable, cl_ord_id: Vec::new(), moved })
    }

    /// Returns what has arrived.
    #[must_use]
    pub const fn progress(&self) -> &Arc<Progress> {
        &self.progress
    }

    /// Returns the orders.
    #[must_use]
    pub const fn preload(&self) -> &Preload {
        &self.preload
    }

    /// Returns the orders, to add some.
    pub const fn preload_mut(&mut self) -> &mut Preload {
        &mut self.preload
    }

    /// Returns whether every order that was sent has its last report.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        self.progress.completed() >= self.preload.sent() as u64
    }

    /// Waits for the logon. `goes_on` is asked again and again.
    ///
    /// # Errors
    /// Returns an error if there is none within `limit`.
    pub fn wait_for_logon(
        &self,
        limit: Duration,
        goes_on: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<(), DeskError> {
        let began = Instant::now();
        while !self.progress.is_logged_on() {
            if !goes_on(&self.progress) {
                return Err(DeskError::Stopped);
            }
            if began.elapsed() > limit {
                return Err(DeskError::Connection(format!("no logon within {} s", limit.as_secs())));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// Sends the next `count` preloaded orders. With a `batch`, each batch waits until every order
    /// of the one before has its last report.
    ///
    /// # Errors
    /// Returns why not all were sent.
    pub fn send(
        &mut self,
        count: usize,
        batch: Option<usize>,
        goes_on: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<Sent, DeskError> {
        self.moved = (self.progress.reports(), Instant::now());
        let began = Instant::now();
        let mut orders = 0;
        while orders < count as u64
            && let Some((number, order)) = self.preload.next()
        {
            if orders % 256 == 0 && !goes_on(&self.progress) {
                return Err(DeskError::Stopped);
            }
            if batch.is_some_and(|batch| orders > 0 && orders % batch as u64 == 0) {
                self.wait_for_answers(goes_on)?;
            }
            // A report must not arrive before its order counts as sent.
            self.progress.sent.store(self.preload.sent() as u64 + 1, Ordering::Release);
            self.preload.advance();
            self.post(number, order, goes_on)?;
            orders += 1;
        }
        Ok(Sent { orders, began })
    }

    /// Waits until every order that was sent has its last report.
    ///
    /// # Errors
    /// Returns why some have not.
    pub fn wait_for_answers(&mut self, goes_on: &mut dyn FnMut(&Progress) -> bool) -> Result<(), DeskError> {
        self.moved = (self.progress.reports(), Instant::now());
        while !self.is_answered() {
            self.look(goes_on)?;
            if !self.progress.is_logged_on() && !self.reliable && !self.is_answered() {
                return Err(self.lost());
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        Ok(())
    }

    /// In reliable mode, sends again what a lost connection has left without its last report.
    ///
    /// # Errors
    /// Returns why not all were sent.
    pub fn resume(&mut self, goes_on: &mut dyn FnMut(&Progress) -> bool) -> Result<(), DeskError> {
        if !self.reliable {
            return Ok(());
        }
        for number in self.progress.take_unanswered() {
            if let Some(order) = self.preload.get(number) {
                self.post(number, order, goes_on)?;
            }
        }
        Ok(())
    }

    /// Logs out and ends the session.
    ///
    /// # Errors
    /// Returns why the engine did not end cleanly.
    pub fn stop(self) -> Result<Preload, String> {
        self.engine.stop().map_err(|error| format!("{error:#}"))?;
        Ok(self.preload)
    }

    /// Posts an order, waiting while the session's queue is full.
    fn post(
        &mut self,
        number: u32,
        order: Preloaded,
        goes_on: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<(), DeskError> {
        let order = order.order(number, &mut self.cl_ord_id);
        loop {
            let mut draft = self.sender.within(PAUSE).draft(NEW_ORDER_SINGLE);
            order.write(draft.writer());
            match draft.send() {
                Ok(_) => return Ok(()),
                Err(PostError::Full) => {}
                Err(PostError::NotLoggedOn) if self.reliable => std::thread::sleep(PAUSE),
                Err(PostError::NotLoggedOn) => return Err(lost(&self.progress)),
                Err(error) => return Err(DeskError::Connection(format!("an order was not sent: {error}"))),
            }
            watch(&mut self.moved, &self.progress, goes_on)?;
        }
    }

    /// Looks at what may have happened while waiting.
    fn look(&mut self, goes_on: &mut dyn FnMut(&Progress) -> bool) -> Result<(), DeskError> {
        watch(&mut self.moved, &self.progress, goes_on)?;
        self.resume(goes_on)
    }

    fn lost(&self) -> DeskError {
        lost(&self.progress)
    }
}

fn lost(progress: &Progress) -> DeskError {
    let open = progress.sent.load(Ordering::Relaxed).saturating_sub(progress.completed());
    DeskError::Connection(format!(
        "the session is not logged on, and {open} orders have no last report: restart the client in reliable mode (-r), which connects again and goes on"
    ))
}

/// Notices that the caller wants to end, and that nothing arrives any more.
fn watch(
    moved: &mut (u64, Instant),
    progress: &Progress,
    goes_on: &mut dyn FnMut(&Progress) -> bool,
) -> Result<(), DeskError> {
    if !goes_on(progress) {
        return Err(DeskError::Stopped);
    }
    let reports = progress.reports();
    if reports != moved.0 || !progress.is_logged_on() {
        *moved = (reports, Instant::now());
    } else if moved.1.elapsed() > PATIENCE {
        return Err(DeskError::Connection(format!(
            "no report for {} s: {} of {} orders have their last one",
            PATIENCE.as_secs(),
            progress.completed(),
            progress.sent.load(Ordering::Relaxed)
        )));
    }
    Ok(())
}
