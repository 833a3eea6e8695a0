//! One window of a schedule, as written, and the times at which it takes place.

use std::collections::BTreeSet;

use super::civil::{Day, TimeOfDay, Weekday, Weekdays};
use super::zone::{Pick, Zone};

/// A period that is repeated, daily or weekly: from a local time to a local time.
///
/// The clock of the time zone decides. A start that the clock skips, because it is put forward, is
/// the first moment after that, and so is an end. A start that the clock shows twice, because it is
/// put back, is the first of the two moments, and an end is the last. So no window is shortened by
/// an hour that is repeated, and only one that lies entirely in a skipped hour does not take place.
#[derive(Clone, PartialEq, Debug)]
pub struct Window {
    pub(super) days: Days,
    pub(super) start: Edge,
    pub(super) end: Edge,
}

/// A local time with its zone.
#[derive(Clone, PartialEq, Debug)]
pub struct Edge {
    /// The time of day.
    pub time: TimeOfDay,
    /// The zone whose clock shows it.
    pub zone: Zone,
}

/// The days on which a window begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Days {
    On(Weekdays),
    /// Once a week, from one weekday to another.
    Weekly(Weekday, Weekday),
}

impl Edge {
    /// Returns an edge at `time` in `zone`.
    #[must_use]
    pub const fn new(time: TimeOfDay, zone: Zone) -> Self {
        Self { time, zone }
    }
}

impl Window {
    /// Returns a window that begins on each of these weekdays. It ends on the same day, or on the
    /// next one if its end is not later than its start: with equal times it lasts a day. If start
    /// and end have different zones, it ends at the first `end` after its start.
    #[must_use]
    pub const fn daily(days: Weekdays, start: Edge, end: Edge) -> Self {
        Self { days: Days::On(days), start, end }
    }

    /// Returns a window that begins once a week, on `first` at `start`, and ends at the next `end`
    /// on `last`: with equal days and times it lasts a week.
    #[must_use]
    pub const fn weekly(first: Weekday, start: Edge, last: Weekday, end: Edge) -> Self {
        Self { days: Days::Weekly(first, last), start, end }
    }

    /// Returns when the window that belongs to a date of its start's zone begins and ends, in
    /// seconds since 1970-01-01T00:00:00Z; `None` if there is none.
    pub(super) fn on(&self, date: Day, holidays: &BTreeSet<Day>) -> Option<(i64, i64)> {
        let is_holiday = |date: &Day| holidays.contains(date);
        let Edge { time: from, zone } = &self.start;
        let Edge { time: to, zone: end_zone } = &self.end;
        let (begins_on, ends_on) = match self.days {
            Days::On(days) => {
                if !days.contains(date.weekday()) || is_holiday(&date) {
                    return None;
                }
                (date, date.plus(i32::from(to <= from)))
            }
            Days::Weekly(first, last) => {
                if date.weekday() != first {
                    return None;
                }
                let days = match first.days_to(last) {
                    0 if to <= from => 7,
                    days => days,
                };
                let begins_on = (0..=days).map(|n| date.plus(n)).find(|date| !is_holiday(date))?;
                (begins_on, date.plus(days))
            }
        };
        let begin = zone.moment(begins_on, *from, Pick::First)?;
        let end = match self.days {
            Days::On(_) if zone != end_zone => {
                let after = |n: &i64| *n > begin;
                let ends = (-1..=2).filter_map(|n| end_zone.moment(date.plus(n), *to, Pick::Last));
                ends.filter(after).min()?
            }
            _ => end_zone.moment(ends_on, *to, Pick::Last)?,
        };
        (begin < end).then_some((begin, end))
    }
}
