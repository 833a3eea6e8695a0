//! The text of SendingTime, of which only the changed part is rendered: date and time in a new
//! second, otherwise only the fraction.

use super::time::clock;
use super::{Date, Precision, digits};

/// The text that was rendered last.
#[derive(Clone, Debug)]
pub struct SecondCache {
    /// The second in `text`; `u64::MAX` before the first call.
    second: u64,
    /// The day in `text`; `u32::MAX` before the first call.
    day: u32,
    text: [u8; 32],
}

impl SecondCache {
    /// Creates an empty cache.
    #[must_use]
    pub const fn new() -> Self {
        Self { second: u64::MAX, day: u32::MAX, text: *b"00000000-00:00:00.000000000000\0\0" }
    }

    /// Returns the UTCTimestamp of a time in nanoseconds since 1970-01-01 00:00 UTC, truncated to
    /// `precision`.
    #[inline]
    pub fn render(&mut self, unix_nanos: u64, precision: Precision) -> &[u8] {
        let (second, nanos) = (unix_nanos / 1_000_000_000, unix_nanos % 1_000_000_000);
        if second != self.second {
            self.show_second(second);
        }
        let nanos_digits = usize::from(precision.digits()).min(9);
        if nanos_digits == 0 {
            return &self.text[..17];
        }
        if nanos_digits == 3 {
            // One store, which the copy of these bytes that follows need not wait for.
            let digits = digits::text(digits::three((nanos / 1_000_000) as u32));
            let end = digits << 16 | u64::from(b'.') << 8 | u64::from(self.text[16]);
            self.text[16..24].copy_from_slice(&end.to_le_bytes());
            return &self.text[..21];
        }
        // The last three of twelve digits are never written and stay zeros.
        digits::fill(nanos / digits::TEN_TO[9 - nanos_digits], &mut self.text[18..18 + nanos_digits]);
        &self.text[..18 + usize::from(precision.digits())]
    }

    #[cold]
    fn show_second(&mut self, second: u64) {
        let (day, of_day) = ((second / 86_400) as u32, (second % 86_400) as u32);
        if day != self.day {
            self.text[..8].copy_from_slice(&Date::from_unix_day(day).to_eight());
            self.day = day;
        }
        let clock = clock((of_day / 3_600) as u8, (of_day / 60 % 60) as u8, (of_day % 60) as u8);
        self.text[9..17].copy_from_slice(&clock);
        self.second = second;
    }
}

impl Default for SecondCache {
    fn default() -> Self {
        Self::new()
    }
}
