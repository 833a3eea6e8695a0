//! Decimals of up to 38 digits, for prices and amounts that a [`Decimal`] cannot hold, such as the
//! 18 decimal places of some crypto venues.

use super::{
    Decimal, Digits, FromField, Rounding, ToField, ValueError, display_as_written, parse_as_read, rounding,
};
use core::cmp::Ordering;
use core::hash::{Hash, Hasher};

/// An exact decimal number with a 128-bit mantissa. [`Decimal::wide`] returns one, and it can be
/// read from a field. Comparison, equality and hash are numeric.
#[derive(Clone, Copy, Debug)]
pub struct WideDecimal {
    mantissa: i128,
    scale: u8,
}

impl WideDecimal {
    /// The largest scale: 38 digits after the point.
    pub const MAX_SCALE: u8 = 38;
    /// Zero, with scale 0.
    pub const ZERO: Self = Self { mantissa: 0, scale: 0 };
    const ONE: Self = Self { mantissa: 1, scale: 0 };

    /// Creates the number `mantissa` / 10^`scale`.
    ///
    /// # Panics
    /// Panics if `scale` is above [`WideDecimal::MAX_SCALE`]; in a constant this fails the build.
    #[must_use]
    pub const fn from_parts(mantissa: i128, scale: u8) -> Self {
        assert!(scale <= Self::MAX_SCALE, "a WideDecimal has at most 38 digits after the point");
        Self { mantissa, scale }
    }

    /// Reads `-?(\d+(\.\d*)?|\.\d+)`.
    ///
    /// # Errors
    /// Returns [`ValueError::OutOfRange`] for a valid number with more than 38 digits after the
    /// point or a mantissa beyond `i128`; [`Digits`] can read those.
    pub fn parse(value: &[u8]) -> Result<Self, ValueError> {
        let digits = Digits::from_field(value)?.as_bytes();
        let negative = digits[0] == b'-';
        let mut mantissa = 0_i128;
        let mut scale = None;
        for byte in &digits[usize::from(negative)..] {
            if *byte == b'.' {
                scale = Some(0_u8);
                continue;
            }
            let digit = i128::from(byte - b'0');
            let digit = if negative { -digit } else { digit };
            mantissa = mantissa
                .checked_mul(10)
                .and_then(|tens| tens.checked_add(digit))
                .ok_or(ValueError::OutOfRange)?;
            if let Some(places) = &mut scale {
                *places += 1;
                if *places > Self::MAX_SCALE {
                    return Err(ValueError::OutOfRange);
                }
            }
        }
        Ok(Self { mantissa, scale: scale.unwrap_or(0) })
    }

    /// Returns the digits as a whole number.
    #[must_use]
    pub const fn mantissa(self) -> i128 {
        self.mantissa
    }

    /// Returns the number of digits after the point, 0 to [`WideDecimal::MAX_SCALE`].
    #[must_use]
    pub const fn scale(self) -> u8 {
        self.scale
    }

    /// Returns whether the number is 0, at any scale.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.mantissa == 0
    }

    /// Returns whether the number is below 0.
    #[must_use]
    pub const fn is_negative(self) -> bool {
        self.mantissa < 0
    }

    /// Returns the same number and scale as a [`Decimal`], if it fits.
    #[must_use]
    pub fn narrow(self) -> Option<Decimal> {
        Decimal::try_from_parts(i64::try_from(self.mantissa).ok()?, self.scale)
    }

    /// Returns the same number as a [`Decimal`], dropping as few trailing zeros as necessary.
    pub(super) fn narrow_by_dropping_zeros(mut self) -> Option<Decimal> {
        loop {
            if let Some(narrow) = self.narrow() {
                return Some(narrow);
            }
            if self.scale == 0 || self.mantissa % 10 != 0 {
                return None;
            }
            self = Self { mantissa: self.mantissa / 10, scale: self.scale - 1 };
        }
    }

    /// Returns the same number at another scale, or `None` if digits would be lost or the mantissa
    /// does not fit.
    #[must_use]
    pub fn rescale(self, scale: u8) -> Option<Self> {
        if scale > Self::MAX_SCALE {
            return None;
        }
        let factor = 10_i128.pow(u32::from(self.scale.abs_diff(scale)));
        if scale >= self.scale {
            Some(Self { mantissa: self.mantissa.checked_mul(factor)?, scale })
        } else if self.mantissa % factor == 0 {
            Some(Self { mantissa: self.mantissa / factor, scale })
        } else {
            None
        }
    }

    /// Returns the sum at the larger scale, or `None` if it does not fit.
    #[must_use]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        let scale = self.scale.max(other.scale);
        let mantissa = self.rescale(scale)?.mantissa.checked_add(other.rescale(scale)?.mantissa)?;
        Some(Self { mantissa, scale })
    }

    /// Returns the difference at the larger scale, or `None` if it does not fit.
    #[must_use]
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        let scale = self.scale.max(other.scale);
        let mantissa = self.rescale(scale)?.mantissa.checked_sub(other.rescale(scale)?.mantissa)?;
        Some(Self { mantissa, scale })
    }

    /// Returns the product at the sum of the scales, or `None` if it does not fit.
    #[must_use]
    pub fn checked_mul(self, other: Self) -> Option<Self> {
        let scale = self.scale + other.scale;
        if scale > Self::MAX_SCALE {
            return None;
        }
        Some(Self { mantissa: self.mantissa.checked_mul(other.mantissa)?, scale })
    }

    /// Returns the number with its sign changed, or `None` for the mantissa -2^127.
    #[must_use]
    pub const fn checked_neg(self) -> Option<Self> {
        match self.mantissa.checked_neg() {
            Some(mantissa) => Some(Self { mantissa, scale: self.scale }),
            None => None,
        }
    }

    /// Returns the absolute value, or `None` for the mantissa -2^127.
    #[must_use]
    pub const fn checked_abs(self) -> Option<Self> {
        if self.mantissa < 0 { self.checked_neg() } else { Some(self) }
    }

    /// Returns the quotient at `scale`, rounded as `rounding` says, or `None` if the divisor is 0
    /// or the result does not fit.
    #[must_use]
    pub fn checked_div(self, other: Self, scale: u8, rounding: Rounding) -> Option<Self> {
        if scale > Self::MAX_SCALE {
            return None;
        }
        let exponent = i32::from(scale) + i32::from(other.scale) - i32::from(self.scale);
        Some(Self { mantissa: rounding::divide(self.mantissa, other.mantissa, exponent, rounding)?, scale })
    }

    /// Returns the number at another scale, rounded as `rounding` says, or `None` if it does not
    /// fit.
    #[must_use]
    pub fn round(self, scale: u8, rounding: Rounding) -> Option<Self> {
        self.checked_div(Self::ONE, scale, rounding)
    }

    /// Returns the number without trailing zeros: equal numbers have one such form.
    const fn shortest(mut self) -> Self {
        while self.scale > 0 && self.mantissa % 10 == 0 {
            self = Self { mantissa: self.mantissa / 10, scale: self.scale - 1 };
        }
        self
    }
}

impl FromField<'_> for WideDecimal {
    fn from_field(value: &[u8]) -> Result<Self, ValueError> {
        Self::parse(value)
    }
}

impl ToField for WideDecimal {
    const MAX_LEN: usize = 41;

    fn write_to(&self, out: &mut [u8]) -> usize {
        let mut magnitude = self.mantissa.unsigned_abs();
        let negative = usize::from(self.mantissa < 0);
        out[0] = b'-';
        let scale = usize::from(self.scale);
        let digits = magnitude.checked_ilog10().map_or(1, |log| log as usize + 1).max(scale + 1);
        let length = negative + digits + usize::from(scale > 0);
        let point = length - scale - 1;
        for place in (negative..length).rev() {
            if scale > 0 && place == point {
                out[place] = b'.';
            } else {
                out[place] = b'0' + (magnitude % 10) as u8;
                magnitude /= 10;
            }
        }
        length
    }
}

display_as_written!(WideDecimal);
parse_as_read!(WideDecimal);

impl From<Decimal> for WideDecimal {
    fn from(narrow: Decimal) -> Self {
        narrow.wide()
    }
}

impl From<i128> for WideDecimal {
    fn from(mantissa: i128) -> Self {
        Self { mantissa, scale: 0 }
    }
}

impl Ord for WideDecimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let scale = self.scale.max(other.scale);
        match (self.rescale(scale), other.rescale(scale)) {
            (Some(left), Some(right)) => left.mantissa.cmp(&right.mantissa),
            // Only the one with the smaller scale is multiplied. If that overflows, it is the
            // larger in magnitude.
            (None, _) => self.mantissa.cmp(&0),
            (_, None) => 0.cmp(&other.mantissa),
        }
    }
}

impl PartialOrd for WideDecimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for WideDecimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for WideDecimal {}

impl Hash for WideDecimal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let shortest = self.shortest();
        shortest.mantissa.hash(state);
        shortest.scale.hash(state);
    }
}
