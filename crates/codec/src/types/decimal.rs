//! float and its derived types (Qty, Price, PriceOffset, Amt, Percentage) as exact decimals, never
//! as binary fractions.

use super::rendered::Rendered;
use super::{
    FromField, Rounding, ToField, ValueError, WideDecimal, digits, display_as_written, parse_as_read,
};
use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};

/// An exact decimal number: `mantissa` / 10^`scale`. 57.00 keeps its scale of 2 and is written that
/// way; comparison, equality and hash are numeric (57.00 = 57).
///
/// ```
/// use fixbolt_codec::Decimal;
/// let price: Decimal = "57.00".parse()?;
/// assert_eq!(price, Decimal::from(57));
/// assert_eq!(price.checked_mul(Decimal::from_parts(25, 1)).map(|amount| amount.scale()), Some(3));
/// # Ok::<(), fixbolt_codec::ValueError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Decimal {
    mantissa: i64,
    scale: u8,
}

/// A number of any length as its digits on the wire, checked to have the form of a float. For
/// values that are too long for [`Decimal`] and [`WideDecimal`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digits<'m>(&'m [u8]);

impl Decimal {
    /// The largest scale: 18 digits after the point.
    pub const MAX_SCALE: u8 = 18;
    /// Zero, with scale 0.
    pub const ZERO: Self = Self { mantissa: 0, scale: 0 };

    /// Creates the number `mantissa` / 10^`scale`.
    ///
    /// # Panics
    /// Panics if `scale` is above [`Decimal::MAX_SCALE`]; in a constant this fails the build.
    #[must_use]
    pub const fn from_parts(mantissa: i64, scale: u8) -> Self {
        assert!(scale <= Self::MAX_SCALE, "a Decimal has at most 18 digits after the point");
        Self { mantissa, scale }
    }

    /// Creates the number `mantissa` / 10^`scale`, or returns `None` if the scale is above
    /// [`Decimal::MAX_SCALE`].
    #[must_use]
    pub const fn try_from_parts(mantissa: i64, scale: u8) -> Option<Self> {
        if scale <= Self::MAX_SCALE { Some(Self { mantissa, scale }) } else { None }
    }

    /// Reads `-?(\d+(\.\d*)?|\.\d+)`.
    ///
    /// # Errors
    /// Returns [`ValueError::OutOfRange`] for a valid number with more than 18 digits after the
    /// point or a mantissa beyond `i64`; [`WideDecimal`] and [`Digits`] can read those.
    #[inline]
    pub fn parse(value: &[u8]) -> Result<Self, ValueError> {
        let (negative, magnitude) = split_sign(value);
        if !matches!(magnitude.len(), 1..=8) {
            return Self::parse_longer(value);
        }
        let (mantissa, scale) = short(magnitude)?;
        Ok(Self::signed(negative, mantissa, scale))
    }

    /// Reads a number that does not have one to eight bytes after its sign. The shorter ones, most
    /// of all, are read where they are asked for.
    #[inline(never)]
    fn parse_longer(value: &[u8]) -> Result<Self, ValueError> {
        let (negative, magnitude) = split_sign(value);
        let (mantissa, scale) = match magnitude.len() {
            9..=16 => middle(magnitude)?,
            17..=19 => match long(magnitude) {
                Some(read) => read,
                None => return Self::parse_any(value),
            },
            _ => return Self::parse_any(value),
        };
        Ok(Self::signed(negative, mantissa, scale))
    }

    /// Creates the number from at most 18 digits: neither the cast nor the sign can overflow.
    #[inline]
    const fn signed(negative: bool, mantissa: u64, scale: u8) -> Self {
        let mantissa = mantissa as i64;
        Self { mantissa: if negative { -mantissa } else { mantissa }, scale }
    }

    #[cold]
    fn parse_any(value: &[u8]) -> Result<Self, ValueError> {
        WideDecimal::parse(value)?.narrow().ok_or(ValueError::OutOfRange)
    }

    /// Returns the digits as a whole number.
    #[must_use]
    pub const fn mantissa(self) -> i64 {
        self.mantissa
    }

    /// Returns the number of digits after the point, 0 to [`Decimal::MAX_SCALE`].
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

    /// Returns the same number as a [`WideDecimal`].
    #[must_use]
    pub const fn wide(self) -> WideDecimal {
        WideDecimal::from_parts(self.mantissa as i128, self.scale)
    }

    /// Returns the same number at another scale, or `None` if digits would be lost or the mantissa
    /// does not fit.
    #[must_use]
    pub fn rescale(self, scale: u8) -> Option<Self> {
        self.wide().rescale(scale)?.narrow()
    }

    /// Returns the sum at the larger scale, or `None` if it does not fit.
    #[must_use]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        if self.scale == other.scale {
            return Some(Self { mantissa: self.mantissa.checked_add(other.mantissa)?, scale: self.scale });
        }
        self.wide().checked_add(other.wide())?.narrow()
    }

    /// Returns the difference at the larger scale, or `None` if it does not fit.
    #[must_use]
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        if self.scale == other.scale {
            return Some(Self { mantissa: self.mantissa.checked_sub(other.mantissa)?, scale: self.scale });
        }
        self.wide().checked_sub(other.wide())?.narrow()
    }

    /// Returns the exact product. Its scale is the sum of the scales or, if it does not fit, the
    /// largest smaller scale that only drops zeros. `None` if there is none.
    #[must_use]
    pub fn checked_mul(self, other: Self) -> Option<Self> {
        // The product of two i64 fits an i128, and the scale is at most 36.
        let product =
            WideDecimal::from_parts(self.mantissa as i128 * other.mantissa as i128, self.scale + other.scale);
        product.narrow_by_dropping_zeros()
    }

    /// Returns the number with its sign changed, or `None` for the mantissa -2^63.
    #[must_use]
    pub const fn checked_neg(self) -> Option<Self> {
        match self.mantissa.checked_neg() {
            Some(mantissa) => Some(Self { mantissa, scale: self.scale }),
            None => None,
        }
    }

    /// Returns the absolute value, or `None` for the mantissa -2^63.
    #[must_use]
    pub const fn checked_abs(self) -> Option<Self> {
        if self.mantissa < 0 { self.checked_neg() } else { Some(self) }
    }

    /// Returns the quotient at `scale`, rounded as `rounding` says, or `None` if the divisor is 0
    /// or the result does not fit.
    ///
    /// ```
    /// use fixbolt_codec::{Decimal, Rounding};
    /// let (amount, quantity) = (Decimal::from(200), Decimal::from(3));
    /// let price = amount.checked_div(quantity, 4, Rounding::HalfEven);
    /// assert_eq!(price, Some("66.6667".parse()?));
    /// # Ok::<(), fixbolt_codec::ValueError>(())
    /// ```
    #[must_use]
    pub fn checked_div(self, other: Self, scale: u8, rounding: Rounding) -> Option<Self> {
        self.wide().checked_div(other.wide(), scale, rounding)?.narrow()
    }

    /// Returns the number at another scale, rounded as `rounding` says, or `None` if it does not
    /// fit.
    #[must_use]
    pub fn round(self, scale: u8, rounding: Rounding) -> Option<Self> {
        self.wide().round(scale, rounding)?.narrow()
    }
}

const POINT: u8 = b'.' ^ b'0';

/// Returns whether there is a minus sign, and what is after it.
#[inline]
const fn split_sign(value: &[u8]) -> (bool, &[u8]) {
    match value {
        [b'-', magnitude @ ..] => (true, magnitude),
        _ => (false, value),
    }
}

/// Reads one to eight bytes of digits with at most one point.
#[inline]
fn short(magnitude: &[u8]) -> Result<(u64, u8), ValueError> {
    let eight = digits::load(magnitude);
    let others = digits::others(eight);
    if others == 0 {
        return Ok((digits::number(eight), 0));
    }
    // The first byte that is not a digit has to be the point. The digits before it move over it; a
    // second point remains and is not a digit.
    let place = others.trailing_zeros() & !7;
    let rest = eight >> place;
    let before = eight ^ rest << place;
    let after = (rest ^ u64::from(POINT)) << place;
    let moved = after | before << 8;
    if rest as u8 == POINT && digits::all_digits(moved) && magnitude.len() > 1 {
        Ok((digits::number(moved), 7 - (place / 8) as u8))
    } else {
        Err(ValueError::Format)
    }
}

/// Reads nine to sixteen bytes of digits with at most one point.
#[inline]
fn middle(magnitude: &[u8]) -> Result<(u64, u8), ValueError> {
    let (head, tail) = magnitude.split_at(magnitude.len() - 8);
    let (head, tail) = (digits::load(head), digits::load(tail));
    if digits::all_digits(head) {
        let (low, scale) = short(&magnitude[magnitude.len() - 8..])?;
        let width = 8 - usize::from(digits::places_of(tail, POINT) != 0);
        return Ok((digits::number(head) * digits::TEN_TO[width] + low, scale));
    }
    // The point is among the first bytes, or the value is invalid.
    let (high, scale) = short(&magnitude[..magnitude.len() - 8]).or_else(|error| {
        if magnitude.len() == 9 && magnitude[0] == b'.' { Ok((0, 0)) } else { Err(error) }
    })?;
    if !digits::all_digits(tail) {
        return Err(ValueError::Format);
    }
    Ok((high * 100_000_000 + digits::number(tail), scale + 8))
}

/// Reads 17 to 19 bytes of at most 18 digits and a point; `None` if they are invalid or longer.
#[inline]
fn long(magnitude: &[u8]) -> Option<(u64, u8)> {
    let (mut mantissa, mut point) = (0_u64, None);
    for (place, byte) in magnitude.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit <= 9 {
            mantissa = mantissa * 10 + u64::from(digit);
        } else if *byte == b'.' && point.is_none() {
            point = Some(place);
        } else {
            return None;
        }
    }
    // 19 bytes without a point are 19 digits and may not fit.
    let digits = magnitude.len() - usize::from(point.is_some());
    let scale = point.map_or(0, |place| magnitude.len() - place - 1);
    if digits <= 18 { Some((mantissa, scale as u8)) } else { None }
}

impl FromField<'_> for Decimal {
    #[inline]
    fn from_field(value: &[u8]) -> Result<Self, ValueError> {
        Self::parse(value)
    }
}

impl ToField for Decimal {
    const MAX_LEN: usize = 21;

    #[inline]
    fn write_to(&self, out: &mut [u8]) -> usize {
        if let Some(short) = self.to_words() {
            return short.write_to(Self::WORDS, out);
        }
        let magnitude = self.mantissa.unsigned_abs();
        let negative = usize::from(self.mantissa < 0);
        out[0] = b'-';
        negative + write_long(magnitude, usize::from(self.scale), &mut out[negative..])
    }

    const WORDS: usize = 2;

    #[inline(always)]
    fn to_words(&self) -> Option<Rendered> {
        let (magnitude, scale) = (self.mantissa.unsigned_abs(), usize::from(self.scale));
        if magnitude >= digits::TEN_TO[8] || scale > 7 {
            return None;
        }
        // At least one digit is before the point.
        let digits = digits::eight(magnitude);
        let skipped = digits::leading_zeros(digits).min(7 - scale);
        let length = 8 - skipped;
        let text = digits::text(digits >> (8 * skipped));
        let sum = digits::text_sum(digits, length);
        let unsigned = if scale == 0 {
            Rendered { words: [text, 0, 0], length, sum }
        } else {
            let point = 8 * (length - scale);
            let fraction = text & u64::MAX << point;
            let low = text ^ fraction | u64::from(b'.') << point | fraction << 8;
            Rendered { words: [low, fraction >> 56, 0], length: length + 1, sum: sum + u32::from(b'.') }
        };
        Some(unsigned.with_sign(self.mantissa < 0))
    }
}

/// Writes digits with a point before the last `scale` ones, or without one.
#[inline(never)]
fn write_long(magnitude: u64, scale: usize, out: &mut [u8]) -> usize {
    if scale == 0 {
        return digits::write_unsigned(magnitude, out);
    }
    if magnitude < digits::TEN_TO[16]
        && scale < 16
        && let Some(place) = out.first_chunk_mut::<17>()
    {
        // At least one digit is before the point.
        let digits = digits::sixteen(magnitude);
        let skipped = digits::leading_zeros_of_sixteen(digits).min(15 - scale);
        let text = digits::text_of_sixteen(digits) >> (8 * skipped);
        let point = 8 * (16 - skipped - scale);
        let fraction = text & u128::MAX << point;
        let low = text ^ fraction | u128::from(b'.') << point | fraction << 8;
        place[..16].copy_from_slice(&low.to_le_bytes());
        place[16] = (fraction >> 120) as u8;
        return 17 - skipped;
    }
    let whole = digits::count(magnitude).saturating_sub(scale).max(1);
    let end = whole + 1 + scale;
    let rest = digits::fill(magnitude, &mut out[whole + 1..end]);
    out[whole] = b'.';
    digits::fill(rest, &mut out[..whole]);
    end
}

display_as_written!(Decimal);
parse_as_read!(Decimal);

impl From<i64> for Decimal {
    fn from(mantissa: i64) -> Self {
        Self { mantissa, scale: 0 }
    }
}

impl From<i32> for Decimal {
    fn from(mantissa: i32) -> Self {
        Self { mantissa: i64::from(mantissa), scale: 0 }
    }
}

impl From<u32> for Decimal {
    fn from(mantissa: u32) -> Self {
        Self { mantissa: i64::from(mantissa), scale: 0 }
    }
}

impl Ord for Decimal {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        if self.scale == other.scale {
            return self.mantissa.cmp(&other.mantissa);
        }
        let difference = usize::from(self.scale.abs_diff(other.scale));
        // An i64 times 10^18 fits an i128.
        let factor = i128::from(digits::TEN_TO[difference]);
        let (left, right) = (i128::from(self.mantissa), i128::from(other.mantissa));
        if self.scale < other.scale { (left * factor).cmp(&right) } else { left.cmp(&(right * factor)) }
    }
}

impl PartialOrd for Decimal {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Decimal {}

impl Hash for Decimal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.wide().hash(state);
    }
}

impl<'m> Digits<'m> {
    /// Returns the bytes as they are on the wire.
    #[must_use]
    pub const fn as_bytes(self) -> &'m [u8] {
        self.0
    }

    /// Returns the digits as text.
    #[must_use]
    pub fn as_str(self) -> &'m str {
        core::str::from_utf8(self.0).unwrap_or_default()
    }
}

/// `-?(\d+(\.\d*)?|\.\d+)` of any length.
impl<'m> FromField<'m> for Digits<'m> {
    #[inline]
    fn from_field(value: &'m [u8]) -> Result<Self, ValueError> {
        if value.is_empty() {
            return Err(ValueError::Empty);
        }
        let magnitude = value.strip_prefix(b"-").unwrap_or(value);
        let mut points = 0;
        for byte in magnitude {
            if *byte == b'.' {
                points += 1;
            } else if !byte.is_ascii_digit() {
                return Err(ValueError::Format);
            }
        }
        if points <= 1 && magnitude.len() > points { Ok(Self(value)) } else { Err(ValueError::Format) }
    }
}

impl fmt::Display for Digits<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Digits<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digits({})", self.as_str())
    }
}
