//! Local dates, times and weekdays, without a time zone.

use core::fmt;
use core::str::FromStr;

use fixbolt_codec::Date;

/// A time of day, in whole seconds: 00:00:00 to 23:59:59.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct TimeOfDay(u32);

impl TimeOfDay {
    /// Midnight.
    pub const MIDNIGHT: Self = Self(0);

    /// Returns a time of day; `None` if there is no such time.
    #[must_use]
    pub const fn new(hour: u32, minute: u32, second: u32) -> Option<Self> {
        if hour < 24 && minute < 60 && second < 60 {
            Some(Self(hour * 3600 + minute * 60 + second))
        } else {
            None
        }
    }

    /// Returns the number of seconds since midnight.
    #[must_use]
    pub const fn seconds(self) -> u32 {
        self.0
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}:{:02}", self.0 / 3600, self.0 / 60 % 60, self.0 % 60)
    }
}

/// Reads `HH:MM:SS`.
impl FromStr for TimeOfDay {
    type Err = InvalidTime;
    fn from_str(text: &str) -> Result<Self, InvalidTime> {
        let wrong = InvalidTime("a time in the form HH:MM:SS");
        let mut parts = text.split(':').map(|part| two_digits(part).ok_or(wrong));
        let (hour, minute, second) = match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(hour), Some(minute), Some(second), None) => (hour?, minute?, second?),
            _ => return Err(wrong),
        };
        Self::new(hour, minute, second).ok_or(wrong)
    }
}

/// A day, as the number of days since 1970-01-01.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Day(i32);

impl Day {
    pub(super) const fn of(date: Date) -> Self {
        Self(date.unix_day())
    }

    pub(super) fn weekday(self) -> Weekday {
        // 1970-01-01 was a Thursday.
        Weekday::ALL[usize::try_from((self.0 + 4).rem_euclid(7)).unwrap_or(0)]
    }

    pub(super) const fn from_epoch_day(day: i32) -> Self {
        Self(day)
    }

    pub(super) const fn epoch_day(self) -> i32 {
        self.0
    }

    pub(super) const fn plus(self, days: i32) -> Self {
        Self(self.0.saturating_add(days))
    }

    /// Returns the day and time as seconds since 1970-01-01T00:00:00 on the same clock.
    pub(super) fn at(self, time: TimeOfDay) -> i64 {
        i64::from(self.0) * DAY + i64::from(time.0)
    }
}

/// The seconds of a day without a change of the clock.
pub(super) const DAY: i64 = 86_400;

fn two_digits(text: &str) -> Option<u32> {
    let is = text.len() == 2 && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|_| is)
}

/// A day of the week.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "the names say everything")]
pub enum Weekday {
    Sunday,
    Monday,
    Tuesday,
    Wednesday,
    Thursday,
    Friday,
    Saturday,
}

impl Weekday {
    /// Every weekday, beginning with Sunday.
    pub const ALL: [Self; 7] = [
        Self::Sunday,
        Self::Monday,
        Self::Tuesday,
        Self::Wednesday,
        Self::Thursday,
        Self::Friday,
        Self::Saturday,
    ];

    /// Returns the name in English.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sunday => "Sunday",
            Self::Monday => "Monday",
            Self::Tuesday => "Tuesday",
            Self::Wednesday => "Wednesday",
            Self::Thursday => "Thursday",
            Self::Friday => "Friday",
            Self::Saturday => "Saturday",
        }
    }

    /// Returns the number of days from this weekday to `other`: 0 to 6.
    pub(super) const fn days_to(self, other: Self) -> i32 {
        (other as i32 - self as i32).rem_euclid(7)
    }
}

/// Reads the name in English in any case, or the beginning of it: at least two letters.
impl FromStr for Weekday {
    type Err = InvalidTime;
    fn from_str(text: &str) -> Result<Self, InvalidTime> {
        let begins = |day: &Self| {
            text.len() >= 2 && day.name().get(..text.len()).is_some_and(|n| n.eq_ignore_ascii_case(text))
        };
        Self::ALL.into_iter().find(begins).ok_or(InvalidTime("a weekday, such as Monday or mon"))
    }
}

/// A set of weekdays.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Weekdays(u8);

impl Weekdays {
    /// Every day of the week.
    pub const ALL: Self = Self(0x7f);

    /// Returns whether the set has this weekday.
    #[must_use]
    pub const fn contains(self, day: Weekday) -> bool {
        self.0 & (1 << day as u8) != 0
    }

    /// Returns the set with this weekday added.
    #[must_use]
    pub const fn with(self, day: Weekday) -> Self {
        Self(self.0 | 1 << day as u8)
    }
}

impl FromIterator<Weekday> for Weekdays {
    fn from_iter<I: IntoIterator<Item = Weekday>>(days: I) -> Self {
        days.into_iter().fold(Self::default(), Self::with)
    }
}

/// A text that is no time or weekday; says what was expected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InvalidTime(&'static str);

impl fmt::Display for InvalidTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} expected", self.0)
    }
}

impl core::error::Error for InvalidTime {}
