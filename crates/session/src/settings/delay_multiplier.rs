//! A wait as a multiple of HeartBtInt.

use core::fmt;
use core::str::FromStr;

/// How long the session waits after HeartBtInt (108) has passed, as a multiple of it: 0 to 10, with
/// at most two decimals.
///
/// ```
/// use fixbolt_session::DelayMultiplier;
///
/// let fifth: DelayMultiplier = "0.2".parse()?;
/// assert_eq!(Some(fifth), DelayMultiplier::from_percent(20));
/// // A wait of 36 s with HeartBtInt=30.
/// assert_eq!(fifth.whole_percent(), 120);
/// assert!("0.125".parse::<DelayMultiplier>().is_err());
/// # Ok::<(), fixbolt_session::InvalidDelayMultiplier>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DelayMultiplier {
    percent: u16,
}

impl DelayMultiplier {
    pub(crate) const FIFTH: Self = Self { percent: 20 };

    /// Creates a multiplier of 0 to 1000 percent of HeartBtInt; `None` for more.
    #[must_use]
    pub const fn from_percent(percent: u16) -> Option<Self> {
        if percent <= 1000 { Some(Self { percent }) } else { None }
    }

    /// Returns the whole wait, in percent of HeartBtInt: 100 and this.
    #[must_use]
    pub const fn whole_percent(self) -> u32 {
        100 + self.percent as u32
    }
}

/// What a text for [`DelayMultiplier`] must be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InvalidDelayMultiplier;

impl fmt::Display for InvalidDelayMultiplier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number from 0 to 10 with at most two decimals")
    }
}

impl core::error::Error for InvalidDelayMultiplier {}

impl FromStr for DelayMultiplier {
    type Err = InvalidDelayMultiplier;

    fn from_str(text: &str) -> Result<Self, InvalidDelayMultiplier> {
        let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(part) || part.len() > 2 {
            return Err(InvalidDelayMultiplier);
        }
        let hundredths = part.parse::<u16>().unwrap_or(0) * if part.len() == 1 { 10 } else { 1 };
        let percent = whole.parse::<u16>().ok().and_then(|n| n.checked_mul(100)?.checked_add(hundredths));
        percent.and_then(Self::from_percent).ok_or(InvalidDelayMultiplier)
    }
}
