//! Reading SendingTime, of which only the fraction is read as long as the second is the same.

use super::time::read_fraction;
use super::{FromField, UtcTimestamp};

/// Reads UTCTimestamps, most of which are of the same second as the one before.
///
/// ```
/// use fixbolt_codec::SecondReader;
///
/// let mut reader = SecondReader::new();
/// assert_eq!(reader.unix_nanos(b"19700102-00:00:00.5"), Some(86_400_500_000_000));
/// assert_eq!(reader.unix_nanos(b"19700102-00:00:00.250"), Some(86_400_250_000_000));
/// assert_eq!(reader.unix_nanos(b"19700102-00:00:60"), None);
/// ```
#[derive(Clone, Debug)]
pub struct SecondReader {
    /// Date and time of day as they were read last, to the second.
    text: [u8; 17],
    /// Their time in nanoseconds since 1970.
    nanos: u64,
}

impl SecondReader {
    /// Creates a reader that has not read anything.
    #[must_use]
    pub const fn new() -> Self {
        Self { text: *b"19700101-00:00:00", nanos: 0 }
    }

    /// Returns the time of a UTCTimestamp as [`UtcTimestamp::to_unix_nanos`] does, or `None` if the
    /// bytes are not one or it does not have that time.
    #[inline]
    pub fn unix_nanos(&mut self, value: &[u8]) -> Option<u64> {
        let (text, fraction) = value.split_first_chunk()?;
        if *text != self.text {
            return self.read(*text, value);
        }
        let (picoseconds, _) = read_fraction(fraction).ok()?;
        self.nanos.checked_add(picoseconds / 1_000)
    }

    #[cold]
    fn read(&mut self, text: [u8; 17], value: &[u8]) -> Option<u64> {
        let nanos = UtcTimestamp::from_field(&text).ok()?.to_unix_nanos()?;
        (self.text, self.nanos) = (text, nanos);
        self.unix_nanos(value)
    }
}

impl Default for SecondReader {
    fn default() -> Self {
        Self::new()
    }
}
