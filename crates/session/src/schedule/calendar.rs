//! What a session knows of its schedule: its place among the windows, and when to look again.
//!
//! Only the wall clock decides the place. When to look at it is a time of the monotonic clock, a
//! minute ahead at most, so that a wall clock that is put forth or back is noticed. While the time
//! that it shows does not count ([`ClockWatch`]), the place stays what it was.

use core::time::Duration;
use std::sync::Arc;

use crate::schedule::{Schedule, WindowPosition};
use crate::values::clock_watch::{Clock, ClockWatch};
use crate::values::time::{Mono, Now, Utc};

/// The longest time between two looks at the wall clock.
const LOOK_INTERVAL: Duration = Duration::from_secs(60);
/// That time after the wall clock has jumped.
const HELD_INTERVAL: Duration = Duration::from_secs(5);
/// How long the answer holds that no window begins within three years.
const NEVER_HOLDS: Duration = Duration::from_secs(86_400);

/// A session's schedule, with the place that the last look found.
#[derive(Clone, Debug)]
pub(crate) struct Calendar {
    schedule: Arc<Schedule>,
    /// Whether there may be a connection.
    connection: WindowPosition,
    /// The window of the session.
    session: WindowPosition,
    /// Between which in-session resets it is, if there are any.
    in_session_resets: Option<WindowPosition>,
    /// When they were computed.
    computed: Utc,
    /// The time of the last look.
    looked: Utc,
    pub(crate) next_look: Mono,
    /// The window of the session in which the connection began.
    connected_in: Option<WindowPosition>,
    watch: ClockWatch,
    /// What the last look has found, if nobody has been told.
    untold: Option<Clock>,
}

impl Calendar {
    /// Creates one that has not looked yet. `hold` says how long a wall clock that has jumped does
    /// not count.
    pub(crate) fn new(schedule: Arc<Schedule>, hold: Duration) -> Self {
        let unknown = WindowPosition::Out { until: Some(Utc(0)) };
        Self {
            schedule,
            connection: unknown,
            session: unknown,
            in_session_resets: None,
            computed: Utc(0),
            looked: Utc(0),
            next_look: Mono(0),
            connected_in: None,
            watch: ClockWatch::new(hold),
            untold: None,
        }
    }

    // R-SCHEDULE-7
    /// Finds the place of `now`; while the time of the wall clock does not count, the place stays
    /// what it was.
    pub(crate) fn look(&mut self, now: Now) {
        let before = self.watch.held_since();
        let clock = self.watch.look(now);
        match clock {
            Clock::Steady => {}
            Clock::Held { until, .. } => {
                if self.watch.held_since() != before {
                    self.untold = Some(clock);
                }
                self.next_look = until.min(now.mono + HELD_INTERVAL);
                return;
            }
            Clock::Returned | Clock::Counts => self.untold = Some(clock),
        }
        self.find(now);
    }

    /// Has the time that the wall clock shows now count. Returns whether it did not before.
    pub(crate) fn confirm_clock(&mut self, now: Now) -> bool {
        // Nobody may have looked since it was put, or has returned.
        self.look(now);
        let was_held = self.watch.confirm(now);
        if was_held {
            self.untold = Some(Clock::Counts);
            self.find(now);
        }
        was_held
    }

    /// Continues from a time that has counted for another session.
    pub(crate) fn continue_from(&mut self, counted: Now) {
        self.watch.look(counted);
        self.find(counted);
    }

    /// Returns whether the wall clock shows a time that does not count yet.
    pub(crate) const fn is_held(&self) -> bool {
        self.watch.is_held()
    }

    /// Returns the time that counts.
    pub(crate) fn time(&self, now: Now) -> Utc {
        self.watch.time(now)
    }

    /// Takes what is to be told of the wall clock.
    pub(crate) const fn take_clock(&mut self) -> Option<Clock> {
        self.untold.take()
    }

    fn find(&mut self, now: Now) {
        let resets_hold = self.in_session_resets.is_none_or(|resets| self.holds(&resets, now.utc));
        if !self.holds(&self.connection, now.utc) || !self.holds(&self.session, now.utc) || !resets_hold {
            self.connection = self.schedule.connection_at(now.utc);
            self.session = self.schedule.position_at(now.utc);
            self.in_session_resets = self.schedule.in_session_resets_at(now.utc);
            self.computed = now.utc;
        }
        self.looked = now.utc;
        let reset = self.in_session_resets.and_then(|resets| resets.changes());
        let change = [self.connection.changes(), self.session.changes(), reset].into_iter().flatten().min();
        let wait = change.map_or(LOOK_INTERVAL, |at| at.abs_diff(now.utc).min(LOOK_INTERVAL));
        self.next_look = now.mono + wait;
    }

    fn holds(&self, position: &WindowPosition, utc: Utc) -> bool {
        match *position {
            WindowPosition::In { began, ends } => (began..ends).contains(&utc),
            WindowPosition::Out { until } => {
                (self.computed..until.unwrap_or(self.computed + NEVER_HOLDS)).contains(&utc)
            }
        }
    }

    /// Notes that a connection begins.
    pub(crate) const fn connected(&mut self) {
        self.connected_in = Some(self.session);
    }

    /// Returns whether there may be a connection, by the last look.
    pub(crate) const fn allows_connection(&self) -> bool {
        self.connection.is_in()
    }

    /// Returns when there may be a connection next; `None` if not within three years.
    pub(crate) const fn next_connection(&self) -> Option<Utc> {
        match self.connection {
            WindowPosition::In { ends, .. } => Some(ends),
            WindowPosition::Out { until } => until,
        }
    }

    /// Returns whether the connection began in another window of the session.
    pub(crate) fn has_changed(&self) -> bool {
        self.connected_in.is_some_and(|window| window != self.session)
    }

    /// Returns whether the connection's edge has passed, by the last look.
    pub(crate) fn is_over(&self) -> bool {
        self.has_changed() || !self.allows_connection()
    }

    /// Returns the edge for which the sequence numbers are to be reset, if they were last reset at
    /// `began`.
    pub(crate) fn reset_due(&self, began: Utc, now: Utc) -> Option<Utc> {
        self.schedule.reset_due(began, now)
    }

    /// Returns whether the sequence numbers, last reset at `began`, are reset by the schedule
    /// before the next connection.
    pub(crate) fn resets_next(&self, began: Utc) -> bool {
        let next = if self.allows_connection() { Some(self.looked) } else { self.next_connection() };
        next.is_some_and(|next| self.reset_due(began, next).is_some())
    }

    /// Returns the time of the in-session reset that is due, if the sequence numbers were last
    /// reset at `began`.
    pub(crate) fn in_session_reset_due(&self, began: Utc, now: Utc) -> Option<Utc> {
        self.schedule.in_session_reset_due(began, now)
    }

    /// Returns the time of the last look at which it counted.
    pub(crate) const fn looked(&self) -> Utc {
        self.looked
    }
}
