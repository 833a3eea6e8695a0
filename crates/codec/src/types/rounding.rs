//! Division of decimals, the one operation whose result may have more digits than fit.

use core::cmp::Ordering;

/// How to round when a number has more digits than the scale allows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rounding {
    /// To the nearest; halfway to the one whose last digit is even (banker's rounding): 0.5 and
    /// -0.5 become 0, 1.5 becomes 2.
    HalfEven,
    /// To the nearest; halfway away from zero: 0.5 becomes 1, -0.5 becomes -1.
    HalfAwayFromZero,
    /// Toward zero: 0.9 and -0.9 become 0.
    TowardZero,
    /// Away from zero: 0.1 becomes 1, -0.1 becomes -1.
    AwayFromZero,
    /// Down: 0.9 becomes 0, -0.1 becomes -1.
    Down,
    /// Up: 0.1 becomes 1, -0.9 becomes 0.
    Up,
}

/// What remains after the last digit kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    Nothing,
    BelowHalf,
    Half,
    AboveHalf,
}

/// Returns `dividend` / `divisor` * 10^`exponent` as a whole number, or `None` if the divisor is 0
/// or the result does not fit. The exponent is -38 to 76.
pub(super) fn divide(dividend: i128, divisor: i128, exponent: i32, rounding: Rounding) -> Option<i128> {
    let negative = (dividend < 0) != (divisor < 0);
    let (dividend, divisor) = (dividend.unsigned_abs(), divisor.unsigned_abs());
    let mut quotient = dividend.checked_div(divisor)?;
    let mut remainder = dividend % divisor;
    let rest = if exponent >= 0 {
        for _ in 0..exponent {
            let digit = next_digit(&mut remainder, divisor);
            quotient = quotient.checked_mul(10)?.checked_add(digit)?;
        }
        match remainder {
            0 => Rest::Nothing,
            _ => Rest::from(remainder.cmp(&(divisor - remainder))),
        }
    } else {
        let power = 10_u128.pow(exponent.unsigned_abs());
        let cut = quotient % power;
        quotient /= power;
        match (cut, remainder) {
            (0, 0) => Rest::Nothing,
            (_, 0) => Rest::from(cut.cmp(&(power / 2))),
            // Slightly more than `cut`.
            _ if cut >= power / 2 => Rest::AboveHalf,
            _ => Rest::BelowHalf,
        }
    };
    if rounds_away(rest, rounding, negative, quotient % 2 == 1) {
        quotient = quotient.checked_add(1)?;
    }
    if negative { 0_i128.checked_sub_unsigned(quotient) } else { 0_i128.checked_add_unsigned(quotient) }
}

/// Returns the next digit of a long division. Ten times the remainder may not fit, so it is added
/// up while the divisor is subtracted.
fn next_digit(remainder: &mut u128, divisor: u128) -> u128 {
    if let Some(tens) = remainder.checked_mul(10) {
        *remainder = tens % divisor;
        return tens / divisor;
    }
    let (mut digit, mut sum) = (0, 0);
    for _ in 0..10 {
        // Both are below 2^127.
        sum += *remainder;
        if sum >= divisor {
            sum -= divisor;
            digit += 1;
        }
    }
    *remainder = sum;
    digit
}

const fn rounds_away(rest: Rest, rounding: Rounding, negative: bool, odd: bool) -> bool {
    match (rest, rounding) {
        (Rest::Nothing, _) | (_, Rounding::TowardZero) => false,
        (_, Rounding::AwayFromZero) => true,
        (_, Rounding::Down) => negative,
        (_, Rounding::Up) => !negative,
        (Rest::BelowHalf, _) => false,
        (Rest::AboveHalf, _) => true,
        (Rest::Half, Rounding::HalfEven) => odd,
        (Rest::Half, Rounding::HalfAwayFromZero) => true,
    }
}

impl From<Ordering> for Rest {
    /// Compares the remainder with half of the last digit.
    fn from(to_half: Ordering) -> Self {
        match to_half {
            Ordering::Less => Self::BelowHalf,
            Ordering::Equal => Self::Half,
            Ordering::Greater => Self::AboveHalf,
        }
    }
}
