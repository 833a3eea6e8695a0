//! Division of decimals: the one operation whose result may have more digits than there is room for.

use core::cmp::Ordering;

/// What happens to digits that a number at a smaller scale has no place for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rounding {
    /// To the nearest; half way to the one whose last digit is even (banker's rounding): 0.5 and -0.5 give 0, 1.5 gives 2.
    HalfEven,
    /// To the nearest; half way away from zero: 0.5 gives 1, -0.5 gives -1.
    HalfAwayFromZero,
    /// The digits are cut: 0.9 gives 0, -0.9 gives 0.
    TowardZero,
    /// To the next number further from zero: 0.1 gives 1, -0.1 gives -1.
    AwayFromZero,
    /// To the next smaller number: 0.9 gives 0, -0.1 gives -1.
    Down,
    /// To the next larger number: 0.1 gives 1, -0.9 gives 0.
    Up,
}

/// What is left behind the last digit kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    Nothing,
    BelowHalf,
    Half,
    AboveHalf,
}

/// `dividend` / `divisor` * 10^`exponent` as a whole number; `None` when the divisor is 0 or the result does not fit. The
/// exponent is -38 to 76.
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
            // A little more than `cut`.
            _ if cut >= power / 2 => Rest::AboveHalf,
            _ => Rest::BelowHalf,
        }
    };
    if rounds_away(rest, rounding, negative, quotient % 2 == 1) {
        quotient = quotient.checked_add(1)?;
    }
    if negative { 0_i128.checked_sub_unsigned(quotient) } else { 0_i128.checked_add_unsigned(quotient) }
}

/// The next digit of a long division. Ten times the remainder may not fit: it is added up, the divisor taken away at once.
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
    /// How what is left compares with half of the last digit.
    fn from(to_half: Ordering) -> Self {
        match to_half {
            Ordering::Less => Self::BelowHalf,
            Ordering::Equal => Self::Half,
            Ordering::Greater => Self::AboveHalf,
        }
    }
}
