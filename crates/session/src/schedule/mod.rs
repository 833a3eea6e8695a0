//! When a session takes place: a pure function of time zones, calendar and time.
//!
//! A [`Schedule`] says in which window of its schedule a session is at a moment in UTC, and when
//! the next window begins or ends. It reads no clock and no file, and knows nothing of sessions.

pub(crate) mod calendar;

mod civil;
mod window;
mod zone;

#[cfg(test)]
mod tests;

use core::time::Duration;
use std::collections::BTreeSet;

use fixbolt_codec::Date;

pub use self::civil::{InvalidTime, TimeOfDay, Weekday, Weekdays};
pub use self::window::{Edge, Window};
pub use self::zone::{InvalidZone, Zone};

use self::civil::{DAY, Day};
use self::zone::Pick;
use crate::values::time::Utc;

/// When a session takes place.
///
/// Its windows never overlap: one that has not ended when another begins ends then. Outside them
/// there is no session. If there are logon windows too, there are connections only inside both;
/// they do not affect sequence numbers.
///
/// On a holiday no window begins; a weekly one begins on the first day afterwards that is none. A
/// holiday does not affect a window that began before. At an early close, the window that it lies
/// in ends, of the session and for logons; one that would begin at that moment does not take place.
///
/// ```
/// use fixbolt_session::Utc;
/// use fixbolt_session::schedule::{
///     Edge, Schedule, TimeOfDay, Weekdays, Window, WindowPosition, Zone,
/// };
///
/// let edge = |hour| Edge::new(TimeOfDay::new(hour, 0, 0).unwrap(), Zone::utc());
/// let schedule = Schedule::new([Window::daily(Weekdays::ALL, edge(8), edge(17))]);
/// let hour = 3_600_000_000_000;
/// let position = WindowPosition::In { began: Utc(8 * hour), ends: Utc(17 * hour) };
/// assert_eq!(schedule.position_at(Utc(9 * hour)), position);
/// assert_eq!(schedule.next_edge(Utc(17 * hour)), Some(Utc(32 * hour)));
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Schedule {
    /// `None` for a session that never ends.
    session: Option<Vec<Window>>,
    /// `None` for all of the session.
    logon: Option<Vec<Window>>,
    holidays: BTreeSet<Day>,
    early_closes: BTreeSet<(Day, TimeOfDay)>,
    reset: ScheduleReset,
    /// A window of a day from one in-session reset to the next.
    in_session_reset: Option<Window>,
}

/// When the sequence numbers of a session with a schedule are reset.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ScheduleReset {
    /// At the start of each window of the session, or as soon afterwards as the process runs.
    #[default]
    AtStart,
    /// At the end of each window, or as soon afterwards as the process runs.
    AtEnd,
    /// Never by the schedule.
    Never,
}

/// A moment's place among the windows of a schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowPosition {
    /// Inside a window.
    In {
        /// When the window began; it includes this moment.
        began: Utc,
        /// When it ends; it does not include this moment.
        ends: Utc,
    },
    /// Outside every window.
    Out {
        /// When the next one begins; `None` if none begins within three years.
        until: Option<Utc>,
    },
}

impl WindowPosition {
    /// Returns whether the moment is inside a window.
    #[must_use]
    pub const fn is_in(&self) -> bool {
        matches!(self, Self::In { .. })
    }

    /// Returns when the position changes next.
    #[must_use]
    pub const fn changes(&self) -> Option<Utc> {
        match self {
            Self::In { ends, .. } => Some(*ends),
            Self::Out { until } => *until,
        }
    }
}

/// By how much the clocks of two sides with the same reset in the session may differ.
const CLOCKS_DIFFER: Duration = Duration::from_secs(120);
/// A window that lasts for ever.
const ALWAYS: WindowPosition = WindowPosition::In { began: Utc(0), ends: Utc(u64::MAX) };
const SECOND: u64 = 1_000_000_000;
/// How far a window may begin before its end: a weekly one with days of holidays, in two zones.
const BACK: i64 = 16;
/// How many days ahead, or back, is searched first, and at most.
const SEARCH: i64 = 10;
const SEARCH_MOST: i64 = 3 * 366;
/// The session's windows and its logon windows meet within so many steps, or not for a long time.
const STEPS: u32 = 2000;

impl Schedule {
    /// Returns a schedule with these windows, whose sequence numbers are reset at the start of
    /// each. Without a window there is never a session.
    #[must_use]
    pub fn new(windows: impl IntoIterator<Item = Window>) -> Self {
        Self { session: Some(windows.into_iter().collect()), ..Self::non_stop() }
    }

    /// Returns the schedule of a session that never ends, and whose sequence numbers are not reset.
    #[must_use]
    pub const fn non_stop() -> Self {
        Self {
            session: None,
            logon: None,
            holidays: BTreeSet::new(),
            early_closes: BTreeSet::new(),
            reset: ScheduleReset::AtStart,
            in_session_reset: None,
        }
    }

    /// Has connections only inside these windows, as far as they are inside the session's.
    #[must_use]
    pub fn with_logon_windows(mut self, windows: impl IntoIterator<Item = Window>) -> Self {
        self.logon = Some(windows.into_iter().collect());
        self
    }

    /// Sets the dates on which no window begins, by the clock of the zone of its start.
    #[must_use]
    pub fn with_holidays(mut self, holidays: impl IntoIterator<Item = Date>) -> Self {
        self.holidays.clear();
        self.holidays.extend(holidays.into_iter().map(Day::of));
        self
    }

    /// Sets the local times, by the zone of a window's end, at which a window ends early.
    #[must_use]
    pub fn with_early_closes(mut self, closes: impl IntoIterator<Item = (Date, TimeOfDay)>) -> Self {
        self.early_closes.clear();
        self.early_closes.extend(closes.into_iter().map(|(date, time)| (Day::of(date), time)));
        self
    }

    /// Sets when the sequence numbers are reset.
    #[must_use]
    pub fn with_reset(mut self, reset: ScheduleReset) -> Self {
        self.reset = reset;
        self
    }

    /// Has a session that is logged on reset its sequence numbers each day at this time, with a
    /// Logon with ResetSeqNumFlag=Y that the counterparty answers (24-hour reset). A session that
    /// is not logged on then does so once it is.
    #[must_use]
    pub fn with_in_session_reset(mut self, at: Edge) -> Self {
        self.in_session_reset = Some(Window::daily(Weekdays::ALL, at.clone(), at));
        self
    }

    /// Returns between which in-session resets a moment is, if there are any.
    #[must_use]
    pub fn in_session_resets_at(&self, utc: Utc) -> Option<WindowPosition> {
        Some(self.place(core::slice::from_ref(self.in_session_reset.as_ref()?), utc))
    }

    /// Returns the place of a moment among the session's windows.
    #[must_use]
    pub fn position_at(&self, utc: Utc) -> WindowPosition {
        match &self.session {
            Some(windows) => self.place(windows, utc),
            None => ALWAYS,
        }
    }

    /// Returns whether there may be a connection at this moment, and when that changes: the place
    /// among what the session's windows and the logon windows have in common.
    #[must_use]
    pub fn connection_at(&self, utc: Utc) -> WindowPosition {
        let Some(logon) = &self.logon else { return self.position_at(utc) };
        let mut at = utc;
        for _ in 0..STEPS {
            match (self.position_at(at), self.place(logon, at)) {
                (WindowPosition::In { began, ends }, WindowPosition::In { began: opened, ends: closes }) => {
                    let (began, ends) = (began.max(opened), ends.min(closes));
                    return if at == utc {
                        WindowPosition::In { began, ends }
                    } else {
                        WindowPosition::Out { until: Some(began) }
                    };
                }
                (WindowPosition::Out { until }, _) | (_, WindowPosition::Out { until }) => match until {
                    Some(next) => at = next,
                    None => return WindowPosition::Out { until: None },
                },
            }
        }
        WindowPosition::Out { until: None }
    }

    /// Returns whether both moments are inside the same window of the session.
    #[must_use]
    pub fn same_window(&self, one: Utc, other: Utc) -> bool {
        let position = self.position_at(one);
        position.is_in() && position == self.position_at(other)
    }

    /// Returns when the session's window ends in which a moment is, or when the next begins; `None`
    /// if neither happens within three years.
    #[must_use]
    pub fn next_edge(&self, utc: Utc) -> Option<Utc> {
        self.position_at(utc).changes().filter(|at| *at < Utc(u64::MAX))
    }

    /// Returns the edge because of which the sequence numbers must be reset at `now` if they were
    /// last reset at `since`; `None` if they need not be.
    ///
    /// That is the last edge at which this schedule resets them, if `since` is before it. A clock
    /// that is put back over one edge causes no second reset for it. One that was far ahead, so
    /// that several edges are between `now` and `since`, causes one, or the sequence numbers would
    /// be kept until the clock has come there again.
    // R-SCHEDULE-3
    #[must_use]
    pub fn reset_due(&self, since: Utc, now: Utc) -> Option<Utc> {
        let edge = match self.reset {
            ScheduleReset::Never => return None,
            ScheduleReset::AtStart => |span: &Span| span.begin,
            ScheduleReset::AtEnd => |span: &Span| span.end,
        };
        self.last_edge(self.session.as_ref()?, edge, since, now)
    }

    /// Returns the time of the in-session reset because of which the sequence numbers must be reset
    /// at `now` if they were last reset at `since`, by the same rule as
    /// [`Schedule::reset_due`]; `None` if they need not be. A reset in the two minutes before
    /// counts as the one of that time: the counterparty may have the same time and a clock that is
    /// ahead.
    #[must_use]
    pub fn in_session_reset_due(&self, since: Utc, now: Utc) -> Option<Utc> {
        let window = self.in_session_reset.as_ref()?;
        self.last_edge(core::slice::from_ref(window), |span| span.begin, since + CLOCKS_DIFFER, now)
    }

    /// Returns the last edge at `now`, if `since` is before it or several edges ahead.
    fn last_edge(&self, windows: &[Window], edge: fn(&Span) -> i64, since: Utc, now: Utc) -> Option<Utc> {
        let at = seconds(now);
        let mut reach = SEARCH;
        loop {
            let edges: Vec<i64> = self.spans(windows, at, reach, reach).iter().map(edge).collect();
            let passed = edges.partition_point(|edge| *edge <= at);
            let (last, ahead) = (passed.checked_sub(1).map(|n| edges[n]), edges.get(passed + 1));
            if (last.is_none() || ahead.is_none()) && reach < SEARCH_MOST {
                reach *= 4;
                continue;
            }
            let since = seconds(since);
            return last
                .filter(|last| since < *last || ahead.is_some_and(|ahead| since >= *ahead))
                .map(moment);
        }
    }

    fn place(&self, windows: &[Window], utc: Utc) -> WindowPosition {
        let at = seconds(utc);
        let mut reach = SEARCH;
        loop {
            let spans = self.spans(windows, at, 0, reach);
            let next = spans.partition_point(|span| span.begin <= at);
            if let Some(span) = next.checked_sub(1).map(|n| spans[n])
                && at < span.end
            {
                return WindowPosition::In { began: moment(span.begin), ends: moment(span.end) };
            }
            match spans.get(next) {
                Some(span) => return WindowPosition::Out { until: Some(moment(span.begin)) },
                None if reach >= SEARCH_MOST => return WindowPosition::Out { until: None },
                None => reach *= 4,
            }
        }
    }

    /// Returns the times of the windows around a moment, in order: complete from `back` days before
    /// it to `ahead` days after it.
    fn spans(&self, windows: &[Window], at: i64, back: i64, ahead: i64) -> Vec<Span> {
        let mut spans = Vec::new();
        for window in windows {
            let zone = &window.start.zone;
            let first = zone.date(at.saturating_sub((back + BACK) * DAY));
            let last = zone.date(at.saturating_add(ahead * DAY));
            let closes: Vec<i64> = self
                .early_closes
                .iter()
                .filter_map(|(date, time)| window.end.zone.moment(*date, *time, Pick::Last))
                .collect();
            for day in first.epoch_day()..=last.epoch_day() {
                let Some((begin, mut end)) = window.on(Day::from_epoch_day(day), &self.holidays) else {
                    continue;
                };
                for close in &closes {
                    if (begin..end).contains(close) {
                        end = *close;
                    }
                }
                if begin < end {
                    // They are few: a window has one each day at most. Of those that begin
                    // together, the longest counts.
                    let at = spans.partition_point(|it: &Span| (it.begin, -it.end) < (begin, -end));
                    spans.insert(at, Span { begin, end });
                }
            }
        }
        spans.dedup_by_key(|span| span.begin);
        for n in 1..spans.len() {
            spans[n - 1].end = spans[n - 1].end.min(spans[n].begin);
        }
        spans
    }
}

/// The time of a window, in seconds since 1970-01-01T00:00:00Z, without its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Span {
    begin: i64,
    end: i64,
}

fn seconds(utc: Utc) -> i64 {
    i64::try_from(utc.0 / SECOND).unwrap_or(i64::MAX)
}

fn moment(seconds: i64) -> Utc {
    Utc(u64::try_from(seconds).unwrap_or(0).saturating_mul(SECOND))
}
