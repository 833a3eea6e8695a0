//! Decimals to and from binary fractions, behind the feature `f64`.
//!
//! A price is never an `f64` inside Fixbolt. Models and charts use them; these conversions are the
//! one place where they meet, and each says whether it may lose precision.

use super::{Decimal, WideDecimal, digits};
use core::fmt::{self, Write};

impl Decimal {
    /// Returns the nearest `f64`. Most decimals have no exact one.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        const EXACT: u64 = 1 << 53;
        if self.mantissa().unsigned_abs() <= EXACT {
            // Both are exact (10^18 = 5^18 * 2^18 and 5^18 < 2^53), so the quotient is rounded only
            // once.
            return self.mantissa() as f64 / digits::TEN_TO[usize::from(self.scale())] as f64;
        }
        self.wide().to_f64()
    }

    /// Returns the `f64` of the same value, or `None` if there is none (0.5 has one, 0.1 has not).
    #[must_use]
    pub fn to_f64_exact(self) -> Option<f64> {
        self.wide().to_f64_exact()
    }

    /// Returns the shortest decimal that is read as this `f64` again, as printing it shows (0.1
    /// becomes 0.1). `None` for infinities, NaN and values that do not fit.
    ///
    /// ```
    /// use fixbolt_codec::Decimal;
    /// assert_eq!(Decimal::from_f64(298.075), Some("298.075".parse()?));
    /// assert_eq!(Decimal::from_f64(f64::NAN), None);
    /// # Ok::<(), fixbolt_codec::ValueError>(())
    /// ```
    #[must_use]
    pub fn from_f64(number: f64) -> Option<Self> {
        WideDecimal::from_f64(number)?.narrow()
    }

    /// Returns the decimal of exactly the same value, or `None` if it does not fit (0.1 as an `f64`
    /// has 55 digits).
    #[must_use]
    pub fn from_f64_exact(number: f64) -> Option<Self> {
        WideDecimal::from_f64_exact(number)?.narrow()
    }
}

impl WideDecimal {
    /// Returns the nearest `f64`. Most decimals have no exact one.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        let mut out = Text::new();
        // The standard library rounds correctly and reads every form that this type writes.
        let written = write!(out, "{self}");
        written.ok().and_then(|()| out.as_str().parse().ok()).unwrap_or(f64::NAN)
    }

    /// Returns the `f64` of the same value, or `None` if there is none (0.5 has one, 0.1 has not).
    #[must_use]
    pub fn to_f64_exact(self) -> Option<f64> {
        let nearest = self.to_f64();
        (Self::from_f64_exact(nearest) == Some(self)).then_some(nearest)
    }

    /// Returns the shortest decimal that is read as this `f64` again, as printing it shows (0.1
    /// becomes 0.1). `None` for infinities, NaN and values that do not fit.
    #[must_use]
    pub fn from_f64(number: f64) -> Option<Self> {
        let mut out = Text::new();
        // `-1.25e-7`: at most 17 digits.
        write!(out, "{number:e}").ok()?;
        let (digits, exponent) = out.as_str().split_once('e')?;
        let digits = Self::parse(digits.as_bytes()).ok()?;
        let exponent = exponent.parse::<i32>().ok()? - i32::from(digits.scale());
        match u8::try_from(-exponent) {
            Ok(scale) if scale <= Self::MAX_SCALE => Some(Self::from_parts(digits.mantissa(), scale)),
            Ok(_) => None,
            Err(_) => {
                let power = 10_i128.checked_pow(exponent.unsigned_abs())?;
                (exponent > 0).then_some(Self::from_parts(digits.mantissa().checked_mul(power)?, 0))
            }
        }
    }

    /// Returns the decimal of exactly the same value, or `None` if it does not fit (0.1 as an `f64`
    /// has 55 digits).
    #[must_use]
    pub fn from_f64_exact(number: f64) -> Option<Self> {
        if !number.is_finite() {
            return None;
        }
        let bits = number.to_bits();
        let (sign, exponent, fraction) = (bits >> 63, bits >> 52 & 0x7FF, bits & ((1 << 52) - 1));
        // number = odd * 2^power, without the sign.
        let (whole, power) = match exponent {
            0 => (fraction, -1074),
            _ => (fraction | 1 << 52, exponent as i32 - 1075),
        };
        if whole == 0 {
            return Some(Self::from_parts(0, 0));
        }
        let odd = i128::from(whole >> whole.trailing_zeros());
        let power = power + whole.trailing_zeros() as i32;
        let (mantissa, scale) = if power >= 0 {
            (odd.checked_mul(2_i128.checked_pow(power.unsigned_abs())?)?, 0)
        } else {
            // 1 / 2^n = 5^n / 10^n.
            let scale = u8::try_from(-power).ok().filter(|scale| *scale <= Self::MAX_SCALE)?;
            (odd.checked_mul(5_i128.checked_pow(u32::from(scale))?)?, scale)
        };
        Some(Self::from_parts(if sign == 1 { -mantissa } else { mantissa }, scale))
    }
}

/// A buffer for the text of a number.
struct Text {
    bytes: [u8; 48],
    length: usize,
}

impl Text {
    const fn new() -> Self {
        Self { bytes: [0; 48], length: 0 }
    }

    fn as_str(&self) -> &str {
        core::str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length + text.len();
        self.bytes.get_mut(self.length..end).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}
