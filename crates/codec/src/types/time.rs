//! Times of day and timestamps: UTCTimestamp, UTCTimeOnly, LocalMktTime. To picoseconds, with the
//! sender's number of fraction digits, leap seconds included.

use super::rendered::Rendered;
use super::{Date, FromField, ToField, ValueError, digits, display_as_written, parse_as_read};
use core::cmp::Ordering;
use core::hash::{Hash, Hasher};
use core::time::Duration;

/// A point in time in UTC (type UTCTimestamp, TIME in FIX.4.0 and 4.1). Comparison, equality and
/// hash ignore the number of fraction digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct UtcTimestamp {
    date: Date,
    time: UtcTimeOnly,
}

/// A time of day in UTC (type UTCTimeOnly). Comparison, equality and hash ignore the number of
/// fraction digits.
#[derive(Clone, Copy, Debug)]
pub struct UtcTimeOnly {
    hour: u8,
    minute: u8,
    second: u8,
    digits: u8,
    picoseconds: u64,
}

/// A local time of day at a market, to the second (type LocalMktTime).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LocalMktTime {
    hour: u8,
    minute: u8,
    second: u8,
}

/// The number of fraction digits of a second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Precision {
    /// None, the only form of FIX.4.0 and 4.1.
    Seconds,
    /// Three.
    #[default]
    Millis,
    /// Six.
    Micros,
    /// Nine.
    Nanos,
    /// Twelve.
    Picos,
}

impl Precision {
    /// Returns the number of digits: 0, 3, 6, 9 or 12.
    #[must_use]
    pub const fn digits(self) -> u8 {
        match self {
            Self::Seconds => 0,
            Self::Millis => 3,
            Self::Micros => 6,
            Self::Nanos => 9,
            Self::Picos => 12,
        }
    }
}

const PICOSECONDS: u64 = 1_000_000_000_000;

impl UtcTimeOnly {
    /// Creates a time of day, truncated to `precision`, or returns `None` if there is no such time.
    /// Second 60 exists only at 23:59; the picoseconds must be below 10^12.
    #[must_use]
    pub const fn new(
        hour: u8,
        minute: u8,
        second: u8,
        picoseconds: u64,
        precision: Precision,
    ) -> Option<Self> {
        if picoseconds >= PICOSECONDS || !is_time(hour, minute, second) {
            return None;
        }
        let digits = precision.digits();
        let unit = digits::TEN_TO[12 - digits as usize];
        Some(Self { hour, minute, second, digits, picoseconds: picoseconds / unit * unit })
    }

    /// Returns the hour, 0 to 23.
    #[must_use]
    pub const fn hour(self) -> u8 {
        self.hour
    }

    /// Returns the minute, 0 to 59.
    #[must_use]
    pub const fn minute(self) -> u8 {
        self.minute
    }

    /// Returns the second, 0 to 60.
    #[must_use]
    pub const fn second(self) -> u8 {
        self.second
    }

    /// Returns the fraction in picoseconds, below 10^12.
    #[must_use]
    pub const fn picoseconds(self) -> u64 {
        self.picoseconds
    }

    /// Returns the number of fraction digits, 0 to 12. The standard has 0, 3, 6, 9 and 12; others
    /// are by agreement.
    #[must_use]
    pub const fn fraction_digits(self) -> u8 {
        self.digits
    }

    /// Returns the nanoseconds since midnight, truncated; a leap second counts as the first of the
    /// next day.
    #[must_use]
    pub const fn nanos_of_day(self) -> u64 {
        let seconds = self.hour as u64 * 3_600 + self.minute as u64 * 60 + self.second as u64;
        seconds * 1_000_000_000 + self.picoseconds / 1_000
    }

    /// Creates a time of day from nanoseconds below 86,400 * 10^9.
    const fn from_nanos_of_day(nanos: u64, precision: Precision) -> Self {
        let (second, nanos) = ((nanos / 1_000_000_000) as u32, nanos % 1_000_000_000);
        let digits = precision.digits();
        let unit = digits::TEN_TO[12 - digits as usize];
        Self {
            hour: (second / 3_600) as u8,
            minute: (second / 60 % 60) as u8,
            second: (second % 60) as u8,
            digits,
            picoseconds: nanos * 1_000 / unit * unit,
        }
    }

    /// Creates a time of day from the parts of one that was read.
    pub(super) const fn from_read(
        hour: u8,
        minute: u8,
        second: u8,
        digits: u8,
        picoseconds: u64,
    ) -> Option<Self> {
        if is_time(hour, minute, second) {
            Some(Self { hour, minute, second, digits, picoseconds })
        } else {
            None
        }
    }

    /// Reads `HH:MM:SS` and what follows it.
    #[inline]
    fn from_parts(clock: [u8; 8], rest: &[u8]) -> Result<Self, ValueError> {
        let (hour, minute, second) = read_clock(clock)?;
        let (picoseconds, digits) = read_fraction(rest)?;
        if is_time(hour, minute, second) {
            Ok(Self { hour, minute, second, digits, picoseconds })
        } else {
            Err(ValueError::Format)
        }
    }
}

impl UtcTimestamp {
    /// Creates a timestamp.
    #[must_use]
    pub const fn new(date: Date, time: UtcTimeOnly) -> Self {
        Self { date, time }
    }

    /// Returns the day.
    #[must_use]
    pub const fn date(self) -> Date {
        self.date
    }

    /// Returns the time of day.
    #[must_use]
    pub const fn time(self) -> UtcTimeOnly {
        self.time
    }

    /// Creates a timestamp from nanoseconds since 1970-01-01 00:00 UTC, truncated to `precision`.
    #[must_use]
    pub const fn from_unix_nanos(nanos: u64, precision: Precision) -> Self {
        const DAY: u64 = 86_400_000_000_000;
        Self {
            date: Date::from_unix_day((nanos / DAY) as u32),
            time: UtcTimeOnly::from_nanos_of_day(nanos % DAY, precision),
        }
    }

    /// Creates a timestamp from the time since 1970-01-01 00:00 UTC, truncated to `precision`, or
    /// returns `None` after the year 9999.
    ///
    /// ```
    /// # extern crate std;
    /// use std::time::{SystemTime, UNIX_EPOCH};
    /// use fixbolt_codec::{Precision, UtcTimestamp};
    /// let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    /// let moment = UtcTimestamp::from_unix_time(now, Precision::Nanos).unwrap();
    /// assert_eq!(UNIX_EPOCH + moment.to_unix_time().unwrap(), UNIX_EPOCH + now);
    /// ```
    #[must_use]
    pub const fn from_unix_time(since_1970: Duration, precision: Precision) -> Option<Self> {
        let (seconds, nanos) = (since_1970.as_secs(), since_1970.subsec_nanos());
        let (day, second) = (seconds / 86_400, seconds % 86_400);
        if day > Date::LAST_UNIX_DAY as u64 {
            return None;
        }
        Some(Self {
            date: Date::from_unix_day(day as u32),
            time: UtcTimeOnly::from_nanos_of_day(second * 1_000_000_000 + nanos as u64, precision),
        })
    }

    /// Returns the present time of the system's clock in milliseconds, which every version of FIX
    /// accepts. Needs the feature `std`.
    ///
    /// ```
    /// use fixbolt_codec::{Precision, UtcTimestamp};
    ///
    /// let now = UtcTimestamp::now();
    /// assert_eq!(now.time().fraction_digits(), 3);
    /// assert!(now.to_string().len() == "20261121-10:00:00.000".len());
    /// ```
    #[cfg(feature = "std")]
    #[must_use]
    pub fn now() -> Self {
        std::time::SystemTime::now().into()
    }

    /// Returns the time since 1970-01-01 00:00 UTC, truncated to nanoseconds, or `None` before
    /// 1970. A leap second has the time of the second after it.
    #[must_use]
    pub fn to_unix_time(self) -> Option<Duration> {
        let day = u64::try_from(self.date.unix_day()).ok()?;
        Some(Duration::from_secs(day * 86_400) + Duration::from_nanos(self.time.nanos_of_day()))
    }

    /// Returns the nanoseconds from `earlier` to this timestamp, both truncated to nanoseconds;
    /// negative if `earlier` is later. Days have 86,400 seconds: a leap second counts as the second
    /// after it.
    #[must_use]
    pub const fn nanos_since(self, earlier: Self) -> i128 {
        let days = self.date.unix_day() as i128 - earlier.date.unix_day() as i128;
        let nanos = self.time.nanos_of_day() as i128 - earlier.time.nanos_of_day() as i128;
        days * 86_400_000_000_000 + nanos
    }

    /// Returns the nanoseconds since 1970-01-01 00:00 UTC, truncated, or `None` before 1970 and
    /// after the year 2554. A leap second has the number of the second after it.
    #[must_use]
    pub fn to_unix_nanos(self) -> Option<u64> {
        let day = u64::try_from(self.date.unix_day()).ok()?;
        day.checked_mul(86_400_000_000_000)?.checked_add(self.time.nanos_of_day())
    }
}

/// In milliseconds, truncated, which every version of FIX accepts; for others see
/// [`UtcTimestamp::from_unix_time`]. A time before 1970 or after the year 9999 becomes the first or
/// last one between them. Needs the feature `std`.
///
/// ```
/// use std::time::{Duration, UNIX_EPOCH};
///
/// use fixbolt_codec::UtcTimestamp;
///
/// let later = UNIX_EPOCH + Duration::from_micros(1_500_999);
/// assert_eq!(UtcTimestamp::from(later).to_string(), "19700101-00:00:01.500");
/// let earlier = UNIX_EPOCH - Duration::from_secs(1);
/// assert_eq!(UtcTimestamp::from(earlier).to_string(), "19700101-00:00:00.000");
/// ```
#[cfg(feature = "std")]
impl From<std::time::SystemTime> for UtcTimestamp {
    fn from(time: std::time::SystemTime) -> Self {
        const LAST: Duration = Duration::from_millis((Date::LAST_UNIX_DAY as u64 + 1) * 86_400_000 - 1);
        let since_1970 = time.duration_since(std::time::UNIX_EPOCH).unwrap_or_default().min(LAST);
        Self::from_unix_time(since_1970, Precision::Millis).expect("the last time has a year")
    }
}

impl LocalMktTime {
    /// Creates a time of day, or returns `None` if there is no such time.
    #[must_use]
    pub const fn new(hour: u8, minute: u8, second: u8) -> Option<Self> {
        if hour <= 23 && minute <= 59 && second <= 59 { Some(Self { hour, minute, second }) } else { None }
    }

    /// Returns the hour, 0 to 23.
    #[must_use]
    pub const fn hour(self) -> u8 {
        self.hour
    }

    /// Returns the minute, 0 to 59.
    #[must_use]
    pub const fn minute(self) -> u8 {
        self.minute
    }

    /// Returns the second, 0 to 59.
    #[must_use]
    pub const fn second(self) -> u8 {
        self.second
    }
}

/// Leap seconds are inserted only at the end of a UTC day.
const fn is_time(hour: u8, minute: u8, second: u8) -> bool {
    hour <= 23 && minute <= 59 && (second <= 59 || (second == 60 && hour == 23 && minute == 59))
}

/// Reads `HH:MM:SS`: two digits for each number, whose range is not checked.
#[inline]
pub(super) fn read_clock(clock: [u8; 8]) -> Result<(u8, u8, u8), ValueError> {
    const FORM: u64 = u64::from_le_bytes(*b"00:00:00");
    // Added to a byte, it carries into the high bit: above 9 where a digit belongs, above 0 where
    // the colon does.
    const LIMIT: u64 = u64::from_le_bytes([0x76, 0x76, 0x7F, 0x76, 0x76, 0x7F, 0x76, 0x76]);
    let eight = u64::from_le_bytes(clock) ^ FORM;
    if (eight.wrapping_add(LIMIT) | eight) & 0x8080_8080_8080_8080 != 0 {
        return Err(ValueError::Format);
    }
    let [hour, _, _, minute, _, _, second, _] = eight.wrapping_mul(10).wrapping_add(eight >> 8).to_le_bytes();
    Ok((hour, minute, second))
}

/// Reads nothing, or a point and one to twelve digits. Returns the picoseconds and the number of
/// digits.
#[inline]
pub(super) fn read_fraction(rest: &[u8]) -> Result<(u64, u8), ValueError> {
    match rest {
        [] => Ok((0, 0)),
        // Most senders write milliseconds.
        [b'.', a, b, c] => {
            let [a, b, c] = [a, b, c].map(|byte| u64::from(byte.wrapping_sub(b'0')));
            if a > 9 || b > 9 || c > 9 {
                return Err(ValueError::Format);
            }
            Ok(((a * 100 + b * 10 + c) * digits::TEN_TO[9], 3))
        }
        _ => read_other_fraction(rest),
    }
}

#[inline(never)]
fn read_other_fraction(rest: &[u8]) -> Result<(u64, u8), ValueError> {
    match rest {
        [b'.', fraction @ ..] if matches!(fraction.len(), 1..=12) => {
            let number = digits::unsigned(fraction)?;
            Ok((number * digits::TEN_TO[12 - fraction.len()], fraction.len() as u8))
        }
        _ => Err(ValueError::Format),
    }
}

/// `HH:MM:SS`.
#[inline]
pub(super) const fn clock(hour: u8, minute: u8, second: u8) -> [u8; 8] {
    clock_text(digits::four_pairs([hour, minute, second, 0])).to_le_bytes()
}

/// Returns `HH:MM:SS` as a word, from its digits.
#[inline]
const fn clock_text(digits: u64) -> u64 {
    let text = digits::text(digits);
    let colons = (b':' as u64) << 16 | (b':' as u64) << 40;
    text & 0xFFFF | (text & 0xFFFF_0000) << 8 | (text & 0xFFFF_0000_0000) << 16 | colons
}

/// Writes nothing, or a point and the fraction's digits.
#[inline]
pub(super) fn write_fraction(picoseconds: u64, digits: u8, out: &mut [u8]) -> usize {
    if digits == 0 {
        return 0;
    }
    // Most senders write milliseconds.
    if digits == 3
        && let Some(place) = out.first_chunk_mut::<4>()
    {
        let text = digits::text(digits::three((picoseconds / 1_000_000_000) as u32));
        *place = ((text << 8) as u32 | u32::from(b'.')).to_le_bytes();
        return 4;
    }
    let digits = usize::from(digits);
    out[0] = b'.';
    digits::fill(picoseconds / digits::TEN_TO[12 - digits], &mut out[1..=digits]);
    1 + digits
}

fn wrong_length<T>(value: &[u8]) -> Result<T, ValueError> {
    Err(if value.is_empty() { ValueError::Empty } else { ValueError::Format })
}

impl FromField<'_> for UtcTimestamp {
    #[inline]
    fn from_field(value: &[u8]) -> Result<Self, ValueError> {
        let Some((date, rest)) = value.split_first_chunk::<8>() else { return wrong_length(value) };
        let Some((clock, fraction)) = rest.strip_prefix(b"-").and_then(|rest| rest.split_first_chunk::<8>())
        else {
            return Err(ValueError::Format);
        };
        Ok(Self { date: Date::from_eight(*date)?, time: UtcTimeOnly::from_parts(*clock, fraction)? })
    }
}

impl FromField<'_> for UtcTimeOnly {
    #[inline]
    fn from_field(value: &[u8]) -> Result<Self, ValueError> {
        let Some((clock, fraction)) = value.split_first_chunk::<8>() else { return wrong_length(value) };
        Self::from_parts(*clock, fraction)
    }
}

impl FromField<'_> for LocalMktTime {
    fn from_field(value: &[u8]) -> Result<Self, ValueError> {
        let Ok(clock) = <[u8; 8]>::try_from(value) else { return wrong_length(value) };
        let (hour, minute, second) = read_clock(clock)?;
        Self::new(hour, minute, second).ok_or(ValueError::Format)
    }
}

impl ToField for UtcTimestamp {
    const MAX_LEN: usize = 30;

    #[inline]
    fn write_to(&self, out: &mut [u8]) -> usize {
        if let Some(short) = self.to_words() {
            return short.write_to(Self::WORDS, out);
        }
        out[..8].copy_from_slice(&self.date.to_eight());
        out[8] = b'-';
        9 + self.time.write_to(&mut out[9..])
    }

    const WORDS: usize = 3;

    #[inline(always)]
    fn to_words(&self) -> Option<Rendered> {
        let date = self.date.digits();
        let (clock, fraction) = (self.time.clock_digits(), self.time.short_fraction()?);
        let text = clock_text(clock);
        Some(Rendered {
            words: [digits::text(date), u64::from(b'-') | text << 8, text >> 56 | fraction.word << 8],
            length: 17 + fraction.length,
            sum: CLOCK_SUM
                + 8 * ZERO
                + u32::from(b'-')
                + digits::sum(date + clock + fraction.digits)
                + fraction.others,
        })
    }
}

impl ToField for UtcTimeOnly {
    const MAX_LEN: usize = 21;

    #[inline]
    fn write_to(&self, out: &mut [u8]) -> usize {
        if let Some(short) = self.to_words() {
            return short.write_to(Self::WORDS, out);
        }
        out[..8].copy_from_slice(&clock(self.hour, self.minute, self.second));
        8 + write_fraction(self.picoseconds, self.digits, &mut out[8..])
    }

    const WORDS: usize = 2;

    #[inline(always)]
    fn to_words(&self) -> Option<Rendered> {
        let (clock, fraction) = (self.clock_digits(), self.short_fraction()?);
        Some(Rendered {
            words: [clock_text(clock), fraction.word, 0],
            length: 8 + fraction.length,
            sum: CLOCK_SUM + digits::sum(clock + fraction.digits) + fraction.others,
        })
    }
}

const ZERO: u32 = b'0' as u32;
/// The sum of `00:00:00`.
const CLOCK_SUM: u32 = 6 * ZERO + 2 * b':' as u32;

/// No fraction, or a point and three digits.
struct ShortFraction {
    word: u64,
    length: usize,
    digits: u64,
    /// The sum of the point and of the digits, were they zeros.
    others: u32,
}

impl UtcTimeOnly {
    /// Returns the six digits of hour, minute and second.
    #[inline]
    const fn clock_digits(self) -> u64 {
        digits::four_pairs([self.hour, self.minute, self.second, 0])
    }

    /// Returns the fraction if it is one that most senders write.
    #[inline(always)]
    const fn short_fraction(self) -> Option<ShortFraction> {
        match self.digits {
            0 => Some(ShortFraction { word: 0, length: 0, digits: 0, others: 0 }),
            3 => {
                let digits = digits::three((self.picoseconds / 1_000_000_000) as u32);
                let word = digits::text(digits) << 8 | b'.' as u64;
                Some(ShortFraction { word, length: 4, digits, others: b'.' as u32 + 3 * ZERO })
            }
            _ => None,
        }
    }
}

impl ToField for LocalMktTime {
    const MAX_LEN: usize = 8;

    fn write_to(&self, out: &mut [u8]) -> usize {
        out[..8].copy_from_slice(&clock(self.hour, self.minute, self.second));
        8
    }

    const WORDS: usize = 1;

    #[inline(always)]
    fn to_words(&self) -> Option<Rendered> {
        let digits = digits::four_pairs([self.hour, self.minute, self.second, 0]);
        Some(Rendered { words: [clock_text(digits), 0, 0], length: 8, sum: CLOCK_SUM + digits::sum(digits) })
    }
}

display_as_written!(UtcTimestamp, UtcTimeOnly, LocalMktTime);
parse_as_read!(UtcTimestamp, UtcTimeOnly, LocalMktTime);

impl UtcTimeOnly {
    const fn moment(self) -> (u8, u8, u8, u64) {
        (self.hour, self.minute, self.second, self.picoseconds)
    }
}

impl Ord for UtcTimeOnly {
    fn cmp(&self, other: &Self) -> Ordering {
        self.moment().cmp(&other.moment())
    }
}

impl PartialOrd for UtcTimeOnly {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for UtcTimeOnly {
    fn eq(&self, other: &Self) -> bool {
        self.moment() == other.moment()
    }
}

impl Eq for UtcTimeOnly {}

impl Hash for UtcTimeOnly {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.moment().hash(state);
    }
}
