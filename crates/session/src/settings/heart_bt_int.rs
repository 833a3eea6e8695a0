//! The values of HeartBtInt (108) that a session accepts.

use core::fmt;
use core::str::FromStr;

/// The largest HeartBtInt that any session accepts: a day, in seconds.
pub(crate) const HEART_BT_INT_MAX: u32 = 86_400;

/// The values of HeartBtInt (108) that a session accepts in the counterparty's Logon, in seconds.
///
/// By default 0 (no heartbeats) and up to an hour. A counterparty with a short interval makes both
/// sides send a lot; one with a long interval, or with 0, may be gone for long before anybody
/// notices.
///
/// As text it is a range, one value, or `any`, with `0,` before it if 0 is accepted beside a range
/// that does not begin with it:
///
/// ```
/// use fixbolt_session::AcceptedHeartBtInt;
///
/// let default = AcceptedHeartBtInt::default();
/// assert_eq!(default.to_string(), "0-3600");
/// assert!(default.contains(0) && default.contains(1) && !default.contains(3601));
/// assert_eq!("5-3600".parse(), Ok(AcceptedHeartBtInt { min: 5, max: 3600, zero: false }));
/// assert_eq!("0,10-60".parse(), Ok(AcceptedHeartBtInt { min: 10, max: 60, zero: true }));
/// assert_eq!("30".parse(), Ok(AcceptedHeartBtInt::only(30)));
/// assert_eq!("any".parse(), Ok(AcceptedHeartBtInt::ANY));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AcceptedHeartBtInt {
    /// The smallest value besides 0.
    pub min: u32,
    /// The largest value, at most 86,400: a day.
    pub max: u32,
    /// Whether 0 is accepted: no heartbeats.
    pub zero: bool,
}

impl AcceptedHeartBtInt {
    /// Every value from 0 to a day.
    pub const ANY: Self = Self { min: 1, max: HEART_BT_INT_MAX, zero: true };

    /// Returns the value that accepts exactly `seconds`.
    #[must_use]
    pub const fn only(seconds: u32) -> Self {
        Self { min: seconds, max: seconds, zero: seconds == 0 }
    }

    /// Returns whether a HeartBtInt of `seconds` is accepted.
    #[must_use]
    pub const fn contains(self, seconds: u32) -> bool {
        if seconds == 0 { self.zero } else { self.min <= seconds && seconds <= self.max }
    }
}

/// From 0 to an hour.
impl Default for AcceptedHeartBtInt {
    fn default() -> Self {
        Self { min: 1, max: 3600, zero: true }
    }
}

impl fmt::Display for AcceptedHeartBtInt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { min, max, zero } = *self;
        if *self == Self::ANY {
            return f.write_str("any");
        }
        if zero && min == 1 {
            return write!(f, "0-{max}");
        }
        if zero && max > 0 {
            f.write_str("0,")?;
        }
        if min == max { write!(f, "{min}") } else { write!(f, "{min}-{max}") }
    }
}

/// What a text for [`AcceptedHeartBtInt`] must be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InvalidHeartBtInt;

impl fmt::Display for InvalidHeartBtInt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "seconds such as 0-3600, 30 or any, or 0,5-3600 for 0 and a range; at most {HEART_BT_INT_MAX}"
        )
    }
}

impl core::error::Error for InvalidHeartBtInt {}

impl FromStr for AcceptedHeartBtInt {
    type Err = InvalidHeartBtInt;

    fn from_str(text: &str) -> Result<Self, InvalidHeartBtInt> {
        if text.eq_ignore_ascii_case("any") {
            return Ok(Self::ANY);
        }
        let seconds = |text: &str| {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            let number = text.parse().ok().filter(|number| *number <= HEART_BT_INT_MAX);
            number.filter(|_| digits).ok_or(InvalidHeartBtInt)
        };
        let (zero, range) = match text.split_once(',') {
            Some((zero, range)) if zero.trim() == "0" => (true, range.trim()),
            Some(_) => return Err(InvalidHeartBtInt),
            None => (false, text.trim()),
        };
        let (min, max) = match range.split_once('-') {
            Some((min, max)) => (seconds(min.trim())?, seconds(max.trim())?),
            None if zero => (seconds(range)?, seconds(range)?),
            None => return Ok(Self::only(seconds(range)?)),
        };
        if min > max || max == 0 || (zero && min == 0) {
            return Err(InvalidHeartBtInt);
        }
        Ok(Self { min: min.max(1), max, zero: zero || min == 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_and_the_value_are_the_same() {
        for text in ["0-3600", "5-3600", "30", "0", "any", "0,30", "0,5-3600", "0-1"] {
            assert_eq!(text.parse::<AcceptedHeartBtInt>().unwrap().to_string(), text);
        }
        assert_eq!(" 0 , 5 - 10 ".trim().parse(), Ok(AcceptedHeartBtInt { min: 5, max: 10, zero: true }));
        assert_eq!("0,1-5".parse(), "0-5".parse::<AcceptedHeartBtInt>());
        for text in
            ["", "-", "0-0", "0,0-5", "10-5", "+5", "1,2", "0,", "0,0", "5-", "86401", "5-10-20", "five"]
        {
            assert_eq!(text.parse::<AcceptedHeartBtInt>(), Err(InvalidHeartBtInt), "{text}");
        }
    }
}
