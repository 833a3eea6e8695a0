//! Whether a session may work: what operators, the clock and the store say. No rollback restores
//! it.

use std::sync::Arc;

use fixbolt_codec::SeqNum;

use crate::events::end::Halt;
use crate::schedule::calendar::Calendar;
use crate::state::guarded::Guarded;
use crate::state::status::StatusCell;
use crate::store::Generation;
use crate::store::retry::StoreRetry;
use crate::values::clock_watch::Clock;
use crate::values::next::Next;
use crate::values::time::{Mono, Now, Utc};

/// Whether the session may work: what operators, the clock and the store say.
pub(crate) struct Standing {
    /// Why the session is halted, if it is.
    pub(crate) halted: Option<Halt>,
    /// Whether it may have a connection.
    pub(crate) enabled: bool,
    /// Its schedule, if it has one.
    pub(crate) calendar: Option<Calendar>,
    /// When a store that failed is tried again.
    pub(crate) retry: Option<StoreRetry>,
    /// Whether the store has the session open: a damaged store is closed, so that it can be
    /// repaired.
    pub(crate) store_is_open: bool,
    /// Whether the store was new when it was opened; once it has failed and is closed, whether
    /// nothing has become durable since: whatever was committed was never sent.
    pub(crate) store_is_new: bool,
    /// How far back the store was told that messages are read; `None` for all of them.
    pub(crate) told_horizon: Option<u64>,
    /// NextNumIn when the store was opened: the application may have been processing this message
    /// when the process ended.
    pub(crate) opened_at: SeqNum,
    /// The generation and number of a message that the application has processed in a transaction
    /// that a store did not take.
    pub(crate) offered: Option<(Generation, SeqNum)>,
    /// The generation that began with a reset that has crossed our Logout: number 1 is that Logout,
    /// which is not stored under it.
    pub(crate) crossed: Option<Generation>,
    /// Whether the session is in the worker's list of those that have changed, and in that of those
    /// that wait for the store.
    pub(crate) is_changed: bool,
    pub(crate) awaits_store: bool,
    /// Whether it has waited for what has come since, and can continue when it is woken.
    pub(crate) can_go_on: bool,
    /// What its driver knows that it asks for.
    pub(crate) told: Next,
    /// The status that other threads read.
    pub(crate) status: Arc<StatusCell>,
}

impl Standing {
    /// Returns the standing of a session that is being opened.
    pub(crate) fn begin(calendar: Option<Calendar>, keeps_messages: bool) -> Self {
        Self {
            halted: None,
            enabled: true,
            calendar,
            retry: None,
            store_is_open: true,
            store_is_new: true,
            told_horizon: None,
            opened_at: SeqNum::ONE,
            offered: None,
            crossed: None,
            is_changed: false,
            awaits_store: false,
            can_go_on: false,
            told: Next::default(),
            status: Arc::new(StatusCell::new(keeps_messages)),
        }
    }
}

impl Guarded<Standing> {
    /// Halts the session. A store that has failed is tried again; another halt replaces one that
    /// its store would have ended.
    pub(crate) fn halt(&mut self, halt: Halt, now: Mono) {
        let standing = self.change();
        standing.retry = matches!(halt, Halt::StoreFailed(_)).then(|| StoreRetry::begin(now));
        standing.halted = Some(halt);
    }

    /// Ends a halt by a poison message.
    pub(crate) fn end_halt(&mut self) {
        self.change().halted = None;
    }

    pub(crate) fn enable(&mut self, enabled: bool) {
        self.change().enabled = enabled;
    }

    /// Records that the store was opened again.
    pub(crate) fn store_opened(&mut self) {
        let standing = self.change();
        (standing.store_is_open, standing.told_horizon) = (true, None);
    }

    /// Records that the store is not tried again.
    pub(crate) fn end_retry(&mut self) {
        self.change().retry = None;
    }

    /// Records that the store has failed once more.
    pub(crate) fn retry_later(&mut self, retry: StoreRetry, now: Mono) {
        self.change().retry = Some(retry.again(now));
    }

    /// Looks at the wall clock, by the session's schedule. Returns the time that counted before,
    /// and the one that does now; `None` without a schedule.
    pub(crate) fn look_at_clock(&mut self, now: Now) -> Option<(Utc, Utc)> {
        let calendar = self.change().calendar.as_mut()?;
        let before = calendar.looked();
        calendar.look(now);
        Some((before, calendar.looked()))
    }

    /// Continues from a time of the wall clock that has counted for another session.
    pub(crate) fn continue_from(&mut self, counted: Now) {
        if let Some(calendar) = &mut self.change().calendar {
            calendar.continue_from(counted);
        }
    }

    /// Returns the clocks with the time that counts for the schedule.
    pub(crate) fn counted(&self, now: Now) -> Now {
        Now { utc: self.calendar.as_ref().map_or(now.utc, |calendar| calendar.time(now)), ..now }
    }

    /// Takes what is to be told of the wall clock.
    pub(crate) fn take_clock(&mut self) -> Option<Clock> {
        self.calendar.as_ref()?;
        self.change().calendar.as_mut()?.take_clock()
    }

    /// Has the time that the wall clock shows count. Returns whether it did not before.
    pub(crate) fn confirm_clock(&mut self, now: Now) -> bool {
        self.change().calendar.as_mut().is_some_and(|calendar| calendar.confirm_clock(now))
    }

    /// Records that the application has seen this message in a transaction that a store did not
    /// take.
    pub(crate) fn note_offered(&mut self, generation: Generation, seq: SeqNum) {
        self.change().offered = Some((generation, seq));
    }

    /// Records that a reset has crossed our Logout, with the generation that it has begun.
    pub(crate) fn note_crossed(&mut self, generation: Generation) {
        self.change().crossed = Some(generation);
    }

    /// Records whether the session can continue when it is woken.
    pub(crate) fn set_can_go_on(&mut self, can_go_on: bool) {
        self.change().can_go_on = can_go_on;
    }

    /// Records that the session is in the list of those that have changed. Returns whether it was
    /// not.
    #[inline]
    pub(crate) fn note_change(&mut self) -> bool {
        !core::mem::replace(&mut self.change().is_changed, true)
    }

    /// Records whether the session is in the list of those that wait for the store. Returns whether
    /// it was.
    #[inline]
    pub(crate) fn set_awaits_store(&mut self, awaits_store: bool) -> bool {
        core::mem::replace(&mut self.change().awaits_store, awaits_store)
    }
}
