//! Calendar dates. UTCDate, UTCDateOnly and LocalMktDate are all `YYYYMMDD` and differ only in the
//! time zone.

use super::rendered::Rendered;
use super::{FromField, ToField, ValueError, digits, display_as_written, parse_as_read};

/// A day of the Gregorian calendar, years 0 to 9999 (types UTCDateOnly, UTCDate, LocalMktDate).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

/// Days from 0000-03-01 to 1970-01-01.
const MARCH_0000_TO_1970: u32 = 719_468;

impl Date {
    /// 9999-12-31.
    pub(super) const LAST_UNIX_DAY: u32 = 2_932_896;

    /// Creates a date, or returns `None` if there is no such day.
    #[must_use]
    pub const fn new(year: u16, month: u8, day: u8) -> Option<Self> {
        if year <= 9999 && month >= 1 && month <= 12 && day >= 1 && day <= days_in(year, month) {
            Some(Self { year, month, day })
        } else {
            None
        }
    }

    /// Returns the year, 0 to 9999.
    #[must_use]
    pub const fn year(self) -> u16 {
        self.year
    }

    /// Returns the month, 1 to 12.
    #[must_use]
    pub const fn month(self) -> u8 {
        self.month
    }

    /// Returns the day of the month, 1 to 31.
    #[must_use]
    pub const fn day(self) -> u8 {
        self.day
    }

    /// Returns the days since 1970-01-01; negative before.
    #[must_use]
    pub const fn unix_day(self) -> i32 {
        // Years begin in March here, so that the leap day is the last one.
        let year = self.year as i32 - (self.month <= 2) as i32;
        let century_4 = year.div_euclid(400);
        let year_of_4 = year.rem_euclid(400);
        let month = (self.month as i32 + 9) % 12;
        let day_of_year = (153 * month + 2) / 5 + self.day as i32 - 1;
        century_4 * 146_097 + year_of_4 * 365 + year_of_4 / 4 - year_of_4 / 100 + day_of_year
            - MARCH_0000_TO_1970 as i32
    }

    /// Returns the date `day` days after 1970-01-01, at most 9999-12-31.
    #[must_use]
    pub const fn from_unix_day(day: u32) -> Self {
        let day = if day > Self::LAST_UNIX_DAY { Self::LAST_UNIX_DAY } else { day } + MARCH_0000_TO_1970;
        let (century_4, day_of_4) = (day / 146_097, day % 146_097);
        let year_of_4 = (day_of_4 - day_of_4 / 1_460 + day_of_4 / 36_524 - day_of_4 / 146_096) / 365;
        let day_of_year = day_of_4 - (365 * year_of_4 + year_of_4 / 4 - year_of_4 / 100);
        let month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month + 2) / 5 + 1;
        let (month, next_year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
        Self { year: (year_of_4 + century_4 * 400 + next_year) as u16, month: month as u8, day: day as u8 }
    }

    /// Returns the previous day, or `None` before the year 0.
    pub(super) const fn previous(self) -> Option<Self> {
        match (self.month, self.day) {
            (1, 1) if self.year == 0 => None,
            (1, 1) => Some(Self { year: self.year - 1, month: 12, day: 31 }),
            (month, 1) => Some(Self { month: month - 1, day: days_in(self.year, month - 1), ..self }),
            (_, day) => Some(Self { day: day - 1, ..self }),
        }
    }

    /// Returns the next day, or `None` after the year 9999.
    pub(super) const fn next(self) -> Option<Self> {
        match Self::new(self.year, self.month, self.day + 1) {
            Some(date) => Some(date),
            None if self.month < 12 => Some(Self { month: self.month + 1, day: 1, ..self }),
            None => Self::new(self.year + 1, 1, 1),
        }
    }

    /// Reads eight bytes.
    #[inline]
    pub(super) fn from_eight(value: [u8; 8]) -> Result<Self, ValueError> {
        let eight = digits::load(&value);
        if !digits::all_digits(eight) {
            return Err(ValueError::Format);
        }
        let [century, _, year, _, month, _, day, _] = digits::pairs(eight).to_le_bytes();
        Self::new(u16::from(century) * 100 + u16::from(year), month, day).ok_or(ValueError::Format)
    }

    /// Returns the eight digits of the date.
    #[inline]
    pub(super) const fn digits(self) -> u64 {
        let (century, year) = ((self.year / 100) as u8, (self.year % 100) as u8);
        digits::four_pairs([century, year, self.month, self.day])
    }

    /// Returns the eight bytes of the date.
    #[inline]
    pub(super) const fn to_eight(self) -> [u8; 8] {
        digits::text(self.digits()).to_le_bytes()
    }
}

const fn days_in(year: u16, month: u8) -> u8 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl FromField<'_> for Date {
    #[inline]
    fn from_field(value: &[u8]) -> Result<Self, ValueError> {
        match <[u8; 8]>::try_from(value) {
            Ok(eight) => Self::from_eight(eight),
            Err(_) if value.is_empty() => Err(ValueError::Empty),
            Err(_) => Err(ValueError::Format),
        }
    }
}

impl ToField for Date {
    const MAX_LEN: usize = 8;

    #[inline]
    fn write_to(&self, out: &mut [u8]) -> usize {
        out[..8].copy_from_slice(&self.to_eight());
        8
    }

    const WORDS: usize = 1;

    #[inline(always)]
    fn to_words(&self) -> Option<Rendered> {
        let digits = self.digits();
        Some(Rendered { words: [digits::text(digits), 0, 0], length: 8, sum: digits::text_sum(digits, 8) })
    }
}

display_as_written!(Date);
parse_as_read!(Date);
