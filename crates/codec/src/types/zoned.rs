//! Times that carry their zone: TZTimeOnly and TZTimestamp.

use super::time::{clock, read_clock, read_fraction, write_fraction};
use super::{
    Date, FromField, Precision, ToField, UtcTimeOnly, UtcTimestamp, ValueError, digits, display_as_written,
    parse_as_read,
};

/// A point in time with its zone: `20060901-07:39Z`, `20060901-13:09:00.250+05:30`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TzTimestamp {
    date: Date,
    clock: Clock,
    fraction_digits: u8,
    picoseconds: u64,
    zone: ZoneOffset,
}

/// A time of day with its zone: `07:39Z`, `13:09+05:30`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TzTimeOnly {
    clock: Clock,
    zone: ZoneOffset,
}

/// How the sender wrote the zone.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ZoneOffset {
    /// Not at all: local time by agreement.
    Unstated,
    /// `Z`: UTC.
    Utc,
    /// `+hh` or `-hh`: whole hours, -14 to 14.
    Hours(i8),
    /// `+hh:mm` or `-hh:mm`: minutes, -899 to 899.
    Minutes(i16),
}

/// Hours and minutes, and seconds if they were written. `07:39` and `07:39:00` are not equal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Clock {
    hour: u8,
    minute: u8,
    second: Option<u8>,
}

impl TzTimestamp {
    /// Creates a timestamp from a day, a time of day and a zone, without a fraction.
    #[must_use]
    pub const fn new(date: Date, time: TzTimeOnly) -> Self {
        Self { date, clock: time.clock, fraction_digits: 0, picoseconds: 0, zone: time.zone }
    }

    /// Returns the timestamp with a fraction of the second, truncated to `precision`, or `None` if
    /// the fraction is 10^12 picoseconds or more, or the time has no seconds.
    #[must_use]
    pub const fn with_fraction(self, picoseconds: u64, precision: Precision) -> Option<Self> {
        if self.clock.second.is_none() || picoseconds >= digits::TEN_TO[12] {
            return None;
        }
        let fraction_digits = precision.digits();
        let unit = digits::TEN_TO[12 - fraction_digits as usize];
        Some(Self { fraction_digits, picoseconds: picoseconds / unit * unit, ..self })
    }

    /// Returns the day in the zone.
    #[must_use]
    pub const fn date(self) -> Date {
        self.date
    }

    /// Returns the time of day without its fraction.
    #[must_use]
    pub const fn time(self) -> TzTimeOnly {
        TzTimeOnly { clock: self.clock, zone: self.zone }
    }

    /// Returns the fraction of the second in picoseconds, below 10^12.
    #[must_use]
    pub const fn picoseconds(self) -> u64 {
        self.picoseconds
    }

    /// Returns the zone.
    #[must_use]
    pub const fn zone(self) -> ZoneOffset {
        self.zone
    }

    /// Returns the timestamp in UTC with the same fraction digits, or `None` if the zone is not
    /// stated, for a leap second that is not the last second of a UTC day, and outside the years 0
    /// to 9999.
    #[must_use]
    pub fn to_utc(self) -> Option<UtcTimestamp> {
        let local = i16::from(self.clock.hour) * 60 + i16::from(self.clock.minute);
        let minutes = local - self.zone.minutes()?;
        // A zone crosses at most one midnight.
        let date = match minutes.div_euclid(1_440) {
            0 => self.date,
            1 => self.date.next()?,
            _ => self.date.previous()?,
        };
        let minute_of_day = minutes.rem_euclid(1_440);
        let time = UtcTimeOnly::from_read(
            (minute_of_day / 60) as u8,
            (minute_of_day % 60) as u8,
            self.clock.second.unwrap_or(0),
            self.fraction_digits,
            self.picoseconds,
        )?;
        Some(UtcTimestamp::new(date, time))
    }

    /// Returns the nanoseconds since 1970-01-01 00:00 UTC, truncated, or `None` if the zone is not
    /// stated, before 1970 and after the year 2554.
    #[must_use]
    pub fn to_unix_nanos(self) -> Option<u64> {
        let minutes =
            i64::from(self.clock.hour) * 60 + i64::from(self.clock.minute) - i64::from(self.zone.minutes()?);
        let seconds = i64::from(self.date.unix_day()) * 86_400
            + minutes * 60
            + i64::from(self.clock.second.unwrap_or(0));
        u64::try_from(seconds).ok()?.checked_mul(1_000_000_000)?.checked_add(self.picoseconds / 1_000)
    }
}

impl TzTimeOnly {
    /// Creates a time of day, or returns `None` if there is no such time or zone. Seconds are 0 to
    /// 60, where the zone's minute may have the leap second, and are written only if given.
    #[must_use]
    pub fn new(hour: u8, minute: u8, second: Option<u8>, zone: ZoneOffset) -> Option<Self> {
        let clock = Clock { hour, minute, second };
        (clock.is_right() && zone.is_right()).then_some(Self { clock, zone })
    }

    /// Returns the hour, 0 to 23.
    #[must_use]
    pub const fn hour(self) -> u8 {
        self.clock.hour
    }

    /// Returns the minute, 0 to 59.
    #[must_use]
    pub const fn minute(self) -> u8 {
        self.clock.minute
    }

    /// Returns the second, 0 to 60, if it was written.
    #[must_use]
    pub const fn second(self) -> Option<u8> {
        self.clock.second
    }

    /// Returns the zone.
    #[must_use]
    pub const fn zone(self) -> ZoneOffset {
        self.zone
    }
}

impl ZoneOffset {
    /// Returns the minutes east of UTC, if the zone is stated.
    #[must_use]
    pub const fn minutes(self) -> Option<i16> {
        match self {
            Self::Unstated => None,
            Self::Utc => Some(0),
            Self::Hours(hours) => Some(hours as i16 * 60),
            Self::Minutes(minutes) => Some(minutes),
        }
    }

    /// The standard says hours 01 to 12; real offsets are from -12:00 to +14:00.
    const fn is_right(self) -> bool {
        match self {
            Self::Unstated | Self::Utc => true,
            Self::Hours(hours) => hours.unsigned_abs() <= 14,
            Self::Minutes(minutes) => minutes.unsigned_abs() < 15 * 60,
        }
    }

    /// Reads the zone at the end of `value` and returns what is before it.
    fn split_from(value: &[u8]) -> Result<(&[u8], Self), ValueError> {
        if let [rest @ .., b'Z'] = value {
            return Ok((rest, Self::Utc));
        }
        let Some(sign) = value.iter().position(|byte| matches!(byte, b'+' | b'-')) else {
            return Ok((value, Self::Unstated));
        };
        let east = if value[sign] == b'+' { 1 } else { -1 };
        let hours = |hours: &[u8]| digits::unsigned(hours).map(|hours| hours as i16);
        let zone = match &value[sign + 1..] {
            offset @ [_, _] => Self::Hours(east as i8 * hours(offset)? as i8),
            [offset @ .., b':', tens, ones] if offset.len() == 2 => {
                let minutes = hours(&[*tens, *ones])?;
                if minutes > 59 {
                    return Err(ValueError::Format);
                }
                Self::Minutes(east * (hours(offset)? * 60 + minutes))
            }
            _ => return Err(ValueError::Format),
        };
        if zone.is_right() { Ok((&value[..sign], zone)) } else { Err(ValueError::Format) }
    }

    fn write_to(self, out: &mut [u8]) -> usize {
        let (minutes, length) = match self {
            Self::Unstated => return 0,
            Self::Utc => {
                out[0] = b'Z';
                return 1;
            }
            Self::Hours(hours) => (i16::from(hours) * 60, 3),
            Self::Minutes(minutes) => (minutes, 6),
        };
        out[0] = if minutes < 0 { b'-' } else { b'+' };
        let minutes = minutes.unsigned_abs();
        out[1..3].copy_from_slice(&digits::two((minutes / 60) as u8));
        if length == 6 {
            out[3] = b':';
            out[4..6].copy_from_slice(&digits::two((minutes % 60) as u8));
        }
        length
    }
}

impl Clock {
    const fn is_right(self) -> bool {
        let second = match self.second {
            Some(second) => second,
            None => 0,
        };
        self.hour <= 23 && self.minute <= 59 && second <= 60
    }

    /// Reads `HH:MM` or `HH:MM:SS` and returns the rest.
    fn split_from(value: &[u8]) -> Result<(Self, &[u8]), ValueError> {
        let (clock, rest) = match value {
            [a, b, c, d, e, rest @ ..] if rest.first() != Some(&b':') => {
                let (hour, minute, _) = read_clock([*a, *b, *c, *d, *e, b':', b'0', b'0'])?;
                (Self { hour, minute, second: None }, rest)
            }
            _ => {
                let (clock, rest) = value.split_first_chunk::<8>().ok_or(ValueError::Format)?;
                let (hour, minute, second) = read_clock(*clock)?;
                (Self { hour, minute, second: Some(second) }, rest)
            }
        };
        if clock.is_right() { Ok((clock, rest)) } else { Err(ValueError::Format) }
    }

    fn write_to(self, out: &mut [u8]) -> usize {
        let length = if self.second.is_some() { 8 } else { 5 };
        out[..length].copy_from_slice(&clock(self.hour, self.minute, self.second.unwrap_or(0))[..length]);
        length
    }
}

impl FromField<'_> for TzTimeOnly {
    fn from_field(value: &[u8]) -> Result<Self, ValueError> {
        if value.is_empty() {
            return Err(ValueError::Empty);
        }
        let (time, zone) = ZoneOffset::split_from(value)?;
        match Clock::split_from(time)? {
            (clock, []) => Ok(Self { clock, zone }),
            _ => Err(ValueError::Format),
        }
    }
}

impl FromField<'_> for TzTimestamp {
    fn from_field(value: &[u8]) -> Result<Self, ValueError> {
        if value.is_empty() {
            return Err(ValueError::Empty);
        }
        let (date, rest) = value.split_first_chunk::<8>().ok_or(ValueError::Format)?;
        let date = Date::from_eight(*date)?;
        let (time, zone) = ZoneOffset::split_from(rest.strip_prefix(b"-").ok_or(ValueError::Format)?)?;
        let (clock, fraction) = Clock::split_from(time)?;
        if clock.second.is_none() && !fraction.is_empty() {
            return Err(ValueError::Format);
        }
        let (picoseconds, fraction_digits) = read_fraction(fraction)?;
        Ok(Self { date, clock, fraction_digits, picoseconds, zone })
    }
}

impl ToField for TzTimeOnly {
    const MAX_LEN: usize = 14;

    fn write_to(&self, out: &mut [u8]) -> usize {
        let length = self.clock.write_to(out);
        length + self.zone.write_to(&mut out[length..])
    }
}

impl ToField for TzTimestamp {
    const MAX_LEN: usize = 36;

    fn write_to(&self, out: &mut [u8]) -> usize {
        out[..8].copy_from_slice(&self.date.to_eight());
        out[8] = b'-';
        let mut length = 9 + self.clock.write_to(&mut out[9..]);
        length += write_fraction(self.picoseconds, self.fraction_digits, &mut out[length..]);
        length + self.zone.write_to(&mut out[length..])
    }
}

display_as_written!(TzTimeOnly, TzTimestamp);
parse_as_read!(TzTimeOnly, TzTimestamp);
