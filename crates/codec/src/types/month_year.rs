//! MonthYear: the month of a contract, since FIX.4.4 with a day or a week of it.

use super::{FromField, ToField, ValueError, digits, display_as_written, parse_as_read};

/// A month, or a day or week of it (`200303`, `20030320`, `200303w2`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MonthYear {
    year: u16,
    month: u8,
    part: MonthYearPart,
}

/// The part of the month that a [`MonthYear`] names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MonthYearPart {
    /// The whole month.
    Month,
    /// A day, 1 to 31.
    Day(u8),
    /// A week, 1 to 5.
    Week(u8),
}

impl MonthYear {
    /// Creates a MonthYear, or returns `None` if the year (0 to 9999), month, day or week is out of
    /// range.
    #[must_use]
    pub const fn new(year: u16, month: u8, part: MonthYearPart) -> Option<Self> {
        let part_is_right = match part {
            MonthYearPart::Month => true,
            MonthYearPart::Day(day) => day >= 1 && day <= 31,
            MonthYearPart::Week(week) => week >= 1 && week <= 5,
        };
        if part_is_right && year <= 9999 && month >= 1 && month <= 12 {
            Some(Self { year, month, part })
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

    /// Returns the part of the month.
    #[must_use]
    pub const fn part(self) -> MonthYearPart {
        self.part
    }
}

impl FromField<'_> for MonthYear {
    fn from_field(value: &[u8]) -> Result<Self, ValueError> {
        let Some((month, part)) = value.split_at_checked(6) else {
            return Err(if value.is_empty() { ValueError::Empty } else { ValueError::Format });
        };
        let month = digits::unsigned(month)?;
        let part = match part {
            [] => MonthYearPart::Month,
            [b'w', week] => MonthYearPart::Week(week.wrapping_sub(b'0')),
            [_, _] => MonthYearPart::Day(digits::unsigned(part)? as u8),
            _ => return Err(ValueError::Format),
        };
        Self::new((month / 100) as u16, (month % 100) as u8, part).ok_or(ValueError::Format)
    }
}

impl ToField for MonthYear {
    const MAX_LEN: usize = 8;

    fn write_to(&self, out: &mut [u8]) -> usize {
        digits::fill(u64::from(self.year) * 100 + u64::from(self.month), &mut out[..6]);
        match self.part {
            MonthYearPart::Month => return 6,
            MonthYearPart::Day(day) => out[6..8].copy_from_slice(&digits::two(day)),
            MonthYearPart::Week(week) => out[6..8].copy_from_slice(&[b'w', b'0' + week]),
        }
        8
    }
}

display_as_written!(MonthYear);
parse_as_read!(MonthYear);
