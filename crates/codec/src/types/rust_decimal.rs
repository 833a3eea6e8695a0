//! Conversion to and from the decimals of the crate `rust_decimal`, behind the feature of that
//! name. The scale is kept and nothing is rounded.

use super::{Decimal, ValueError, WideDecimal};
use ::rust_decimal::Decimal as Other;

/// Always fits.
impl From<Decimal> for Other {
    fn from(number: Decimal) -> Self {
        Self::from_i128_with_scale(i128::from(number.mantissa()), u32::from(number.scale()))
    }
}

/// Returns [`ValueError::OutOfRange`] if there are more than 28 digits after the point or the
/// mantissa has more than 96 bits.
impl TryFrom<WideDecimal> for Other {
    type Error = ValueError;

    fn try_from(number: WideDecimal) -> Result<Self, ValueError> {
        Self::try_from_i128_with_scale(number.mantissa(), u32::from(number.scale()))
            .map_err(|_| ValueError::OutOfRange)
    }
}

/// Returns [`ValueError::OutOfRange`] if there are more than 18 digits after the point or the
/// mantissa is beyond `i64`.
impl TryFrom<Other> for Decimal {
    type Error = ValueError;

    fn try_from(number: Other) -> Result<Self, ValueError> {
        WideDecimal::from(number).narrow().ok_or(ValueError::OutOfRange)
    }
}

/// Always fits.
impl From<Other> for WideDecimal {
    fn from(number: Other) -> Self {
        // At most 28 digits after the point.
        Self::from_parts(number.mantissa(), number.scale() as u8)
    }
}
