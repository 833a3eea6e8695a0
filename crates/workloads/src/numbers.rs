//! Numbers as people read them.

use std::fmt;

/// Returns a whole number with commas between thousands: 1234567 as `1,234,567`.
pub fn grouped(number: impl fmt::Display) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(
            [4_926_108.4, 999.0, 1_000.0, 0.0].map(|n| grouped(format_args!("{n:.0}"))),
            ["4,926,108", "999", "1,000", "0"]
        );
    }
}
