//! Time zones: when a local date and time is, in UTC.

use core::fmt;
use std::sync::Arc;

use jiff_core::tz::{AmbiguousOffset, Offset, posix, tzif};
use jiff_core::{Timestamp, civil};

use super::civil::{DAY, Day, TimeOfDay};

/// A time zone, with the rules for its clock changes.
///
/// A zone is made of the contents of a file of the time zone database, or of a POSIX rule; nothing
/// is read here. Zones are equal if their names and rules are.
#[derive(Clone, PartialEq)]
pub struct Zone {
    name: Arc<str>,
    rules: Rules,
}

#[derive(Clone, PartialEq, Debug)]
enum Rules {
    Utc,
    Database(Arc<tzif::TimeZone>),
    Posix(Arc<posix::TimeZone>),
}

/// Why text or bytes do not describe a time zone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InvalidZone(String);

impl fmt::Display for InvalidZone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for InvalidZone {}

/// Which of two moments with the same local time is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pick {
    First,
    Last,
}

impl Zone {
    /// Returns UTC.
    #[must_use]
    pub fn utc() -> Self {
        Self { name: "UTC".into(), rules: Rules::Utc }
    }

    /// Makes a zone of the contents of a file of the time zone database (TZif, RFC 9636), such as
    /// `/usr/share/zoneinfo/Europe/London`. Later years follow the rule at the end of the file.
    ///
    /// # Errors
    /// Returns an [`InvalidZone`] if these are not the contents of such a file.
    pub fn from_tzif(name: &str, contents: &[u8]) -> Result<Self, InvalidZone> {
        let rules = tzif::TimeZone::parse(contents).map_err(|error| InvalidZone(error.to_string()))?;
        Ok(Self { name: name.into(), rules: Rules::Database(Arc::new(rules)) })
    }

    /// Makes a zone of a rule in the form of the environment variable TZ of POSIX, such as
    /// `CET-1CEST,M3.5.0,M10.5.0/3`. The rule holds in every year, and is the name of the zone.
    ///
    /// # Errors
    /// Returns an [`InvalidZone`] if the text is not such a rule.
    pub fn from_posix(rule: &str) -> Result<Self, InvalidZone> {
        let rules = posix::TimeZone::parse(rule).map_err(|error| InvalidZone(error.to_string()))?;
        Ok(Self { name: rule.into(), rules: Rules::Posix(Arc::new(rules)) })
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the difference of the local clock from UTC, in seconds.
    pub(super) fn offset(&self, utc: i64) -> i64 {
        let Ok(at) = Timestamp::from_second(utc) else { return 0 };
        let offset = match &self.rules {
            Rules::Utc => return 0,
            Rules::Database(rules) => rules.to_offset(at),
            Rules::Posix(rules) => rules.to_offset(at),
        };
        i64::from(offset.seconds())
    }

    /// Returns the local date at a moment.
    pub(super) fn date(&self, utc: i64) -> Day {
        let day = (utc + self.offset(utc)).div_euclid(DAY);
        Day::from_epoch_day(i32::try_from(day).unwrap_or(i32::MAX))
    }

    /// Returns the moment, in seconds since 1970-01-01T00:00:00Z, at which the local clock shows
    /// this date and time. If it does so twice, `pick` decides; if never, because the clock is put
    /// forward over it, this is the first moment after that. `None` for dates beyond the year 9999.
    // R-SCHEDULE-6
    pub(super) fn moment(&self, date: Day, time: TimeOfDay, pick: Pick) -> Option<i64> {
        let local = date.at(time);
        let zone = |offset: Offset| local - i64::from(offset.seconds());
        let day = civil::UnixEpochDay::new(date.epoch_day()).ok()?.to_date();
        let clock = civil::TimeSecond::new(i32::try_from(time.seconds()).ok()?).ok()?.to_time();
        let shown = civil::DateTime::from_parts(day, clock);
        let found = match &self.rules {
            Rules::Utc => return Some(local),
            Rules::Database(rules) => rules.to_ambiguous_timestamp(shown),
            Rules::Posix(rules) => rules.to_ambiguous_timestamp(shown),
        };
        Some(match found.offset() {
            AmbiguousOffset::Unambiguous { offset } => zone(offset),
            AmbiguousOffset::Fold { before, after } => match pick {
                Pick::First => zone(before),
                Pick::Last => zone(after),
            },
            AmbiguousOffset::Gap { before, after } => self.change_between(zone(after), zone(before)),
        })
    }

    /// Returns the first moment after `from`, and `to` at the latest, at which the offset differs
    /// from that at `from`.
    fn change_between(&self, mut from: i64, mut to: i64) -> i64 {
        let before = self.offset(from);
        while to - from > 1 {
            let middle = from + (to - from) / 2;
            if self.offset(middle) == before { from = middle } else { to = middle }
        }
        to
    }
}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Zone").field(&self.name).finish()
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
