//! float and its derived types, and arithmetic with them.

use fixbolt_codec::{Decimal, Digits, FromField, Rounding, ValueError, WideDecimal};
use std::cmp::Ordering;

use super::{accepts, hash, refuses};
use ValueError::{Format, OutOfRange};

const FLOATS: [(&str, &str); 17] = [
    ("23", "23"),
    ("23.", "23"),
    ("23.0", "23.0"),
    ("00023.23", "23.23"),
    ("-.5", "-0.5"),
    (".5", "0.5"),
    ("101.25", "101.25"),
    ("-0.0025", "-0.0025"),
    ("57.00", "57.00"),
    ("0", "0"),
    ("-0", "0"),
    ("-0.00", "0.00"),
    ("0.000000000000000001", "0.000000000000000001"),
    (".12345678", "0.12345678"),
    ("12345678.", "12345678"),
    ("123456789012345", "123456789012345"),
    ("1234567.890123456", "1234567.890123456"),
];
const NO_FLOATS: [(&str, ValueError); 19] = [
    ("+1.5", Format),
    ("1,000.0", Format),
    ("1e5", Format),
    ("NaN", Format),
    (".", Format),
    ("-", Format),
    ("-.", Format),
    ("--1", Format),
    ("1-", Format),
    ("1.2.3", Format),
    ("..", Format),
    ("1..2", Format),
    (" 1", Format),
    ("1 ", Format),
    (".1234567.", Format),
    (".12345678.", Format),
    ("12345678.1234567.", Format),
    ("1.34567890.", Format),
    ("99999999999999999999999999999999999999999999x", Format),
];

#[test]
fn a_float_has_digits_one_point_at_most_and_no_exponent() {
    accepts::<Decimal>(&FLOATS);
    refuses::<Decimal>(&NO_FLOATS);
    accepts::<WideDecimal>(&FLOATS);
    refuses::<WideDecimal>(&NO_FLOATS);
    refuses::<Digits<'_>>(&NO_FLOATS);
    for (float, _) in FLOATS {
        assert_eq!(Digits::from_field(float.as_bytes()).unwrap().to_string(), float);
    }
}

#[test]
fn every_short_text_of_the_floats_alphabet_is_read_as_the_plain_rule_says() {
    // Puts the point, the sign and a wrong byte at every position, in lengths that reach all paths
    // of the reader.
    for length in 1..=21_usize {
        for point in 0..=length {
            for other in 0..=length {
                for byte in [b'.', b'-', b'x', b'0', b'/', b':', 0xB0] {
                    let mut text: Vec<u8> = (0..length).map(|n| b'1' + (n % 9) as u8).collect();
                    for (place, byte) in [(point, b'.'), (other, byte)] {
                        if let Some(place) = text.get_mut(place) {
                            *place = byte;
                        }
                    }
                    let read = Decimal::from_field(&text);
                    let expected = match Digits::from_field(&text) {
                        Ok(_) => WideDecimal::from_field(&text).unwrap().narrow().ok_or(OutOfRange),
                        Err(error) => Err(error),
                    };
                    let parts = |value: Decimal| (value.mantissa(), value.scale());
                    assert_eq!(read.map(parts), expected.map(parts), "{}", text.escape_ascii());
                }
            }
        }
    }
}

#[test]
fn a_float_beyond_64_bits_is_read_wide_and_beyond_128_bits_as_digits() {
    for (value, decimal, wide) in [
        ("9223372036854775807", true, true),
        ("-9223372036854775808", true, true),
        ("9223372036854775808", false, true),
        ("9.223372036854775807", true, true),
        ("1.000000000000000000", true, true),
        ("0.0000000000000000001", false, true),
        ("30123.123456789012345678", false, true),
        ("170141183460469231731687303715884105727", true, true),
        ("-170141183460469231731687303715884105728", false, true),
        ("170141183460469231731687303715884105728", false, false),
        ("0.00000000000000000000000000000000000001", false, true),
        ("0.000000000000000000000000000000000000001", false, false),
        ("1234567890123456789012345678901234567890.5", false, false),
    ] {
        let decimal = decimal && value.len() < 30;
        assert_eq!(Decimal::from_field(value.as_bytes()).err(), (!decimal).then_some(OutOfRange), "{value}");
        assert_eq!(WideDecimal::from_field(value.as_bytes()).err(), (!wide).then_some(OutOfRange), "{value}");
        assert_eq!(Digits::from_field(value.as_bytes()).unwrap().as_str(), value);
        if let Ok(wide) = WideDecimal::from_field(value.as_bytes()) {
            assert_eq!(wide.to_string(), value);
        }
    }
    // Leading zeros take no room.
    let padded = format!("{}1.5", "0".repeat(60));
    assert_eq!(Decimal::parse(padded.as_bytes()).unwrap().to_string(), "1.5");
}

fn decimal(text: &str) -> Decimal {
    text.parse().unwrap()
}

#[test]
fn decimals_compare_as_numbers_whatever_their_scale() {
    for (small, large) in [
        ("1.0", "1.01"),
        ("-1.01", "-1.0"),
        ("-9223372036854775808", "0.000000000000000001"),
        ("0.000000000000000001", "9223372036854775807"),
        ("-0.5", "0"),
        ("99", "100.00"),
    ] {
        assert!(decimal(small) < decimal(large), "{small} < {large}");
        assert!(decimal(large).wide() > decimal(small).wide(), "{small} < {large}");
    }
    for (one, other) in [("57", "57.00"), ("-0.50", "-.5"), ("0", "0.000000000000000000"), ("100", "100.0")] {
        assert_eq!(decimal(one), decimal(other));
        assert_eq!(hash(&decimal(one)), hash(&decimal(other)));
        assert_eq!(decimal(one).wide(), decimal(other).wide());
    }
    let huge: WideDecimal = "170141183460469231731687303715884105727".parse().unwrap();
    let tiny: WideDecimal = "0.00000000000000000000000000000000000001".parse().unwrap();
    assert_eq!((huge.cmp(&tiny), tiny.cmp(&huge)), (Ordering::Greater, Ordering::Less));
    assert!(WideDecimal::from_parts(-huge.mantissa(), 0) < tiny);
    assert!(tiny > WideDecimal::from_parts(-huge.mantissa(), 0));
}

#[test]
fn decimal_arithmetic_is_exact_or_none() {
    let add = |a: &str, b: &str| decimal(a).checked_add(decimal(b)).map(|sum| sum.to_string());
    assert_eq!(add("1.5", "2.25").as_deref(), Some("3.75"));
    assert_eq!(add("57.00", "0.00").as_deref(), Some("57.00"));
    assert_eq!(add("9223372036854775807", "1"), None);
    assert_eq!(add("9223372036854775807", "0.1"), None);
    let sub = |a: &str, b: &str| decimal(a).checked_sub(decimal(b)).map(|difference| difference.to_string());
    assert_eq!(sub("1", "0.01").as_deref(), Some("0.99"));
    assert_eq!(sub("-9223372036854775808", "1"), None);
    assert_eq!(sub("0.01", "1.000").as_deref(), Some("-0.990"));
    let mul = |a: &str, b: &str| decimal(a).checked_mul(decimal(b)).map(|product| product.to_string());
    assert_eq!(mul("57.00", "2.5").as_deref(), Some("142.500"));
    assert_eq!(mul("0.0000000001", "0.0000000010").as_deref(), None);
    assert_eq!(mul("0.0000000010", "0.00000010").as_deref(), Some("0.000000000000000100"));
    assert_eq!(mul("5000000000.0000000", "2000000000").as_deref(), None);
    assert_eq!(mul("500000000.0000000000", "20").as_deref(), Some("10000000000.00000000"));
    assert_eq!(decimal("57.00").rescale(0).map(|d| d.to_string()).as_deref(), Some("57"));
    assert_eq!(decimal("57").rescale(4).map(|d| d.to_string()).as_deref(), Some("57.0000"));
    assert_eq!(decimal("57.01").rescale(1), None);
    assert_eq!(decimal("57").rescale(18), None);
    assert_eq!(decimal("1").rescale(19), None);
    assert_eq!(Decimal::from_parts(i64::MIN, 3).checked_neg(), None);
    assert_eq!(decimal("1.20").checked_neg().unwrap().to_string(), "-1.20");
    assert_eq!(Decimal::try_from_parts(1, 19), None);
    assert!(decimal("0.00").is_zero() && !decimal("0.00").is_negative() && decimal("-0.1").is_negative());
}

fn wide(text: &str) -> WideDecimal {
    text.parse().unwrap()
}

const ROUNDINGS: [Rounding; 6] = [
    Rounding::HalfEven,
    Rounding::HalfAwayFromZero,
    Rounding::TowardZero,
    Rounding::AwayFromZero,
    Rounding::Down,
    Rounding::Up,
];

#[test]
fn rounding_does_what_its_name_says() {
    // In the order of ROUNDINGS.
    for (number, expected) in [
        ("0.5", ["0", "1", "0", "1", "0", "1"]),
        ("1.5", ["2", "2", "1", "2", "1", "2"]),
        ("2.5", ["2", "3", "2", "3", "2", "3"]),
        ("-0.5", ["0", "-1", "0", "-1", "-1", "0"]),
        ("-1.5", ["-2", "-2", "-1", "-2", "-2", "-1"]),
        ("0.4", ["0", "0", "0", "1", "0", "1"]),
        ("0.6", ["1", "1", "0", "1", "0", "1"]),
        ("-0.1", ["0", "0", "0", "-1", "-1", "0"]),
        ("0.501", ["1", "1", "0", "1", "0", "1"]),
        ("0.499", ["0", "0", "0", "1", "0", "1"]),
        ("7.000", ["7", "7", "7", "7", "7", "7"]),
        ("-7", ["-7", "-7", "-7", "-7", "-7", "-7"]),
        ("0.000000000000000001", ["0", "0", "0", "1", "0", "1"]),
    ] {
        for (rounding, expected) in ROUNDINGS.into_iter().zip(expected) {
            let rounded = decimal(number).round(0, rounding).map(|rounded| rounded.to_string());
            assert_eq!(rounded.as_deref(), Some(expected), "{number} {rounding:?}");
        }
    }
    let price = decimal("298.075");
    assert_eq!(price.round(2, Rounding::HalfEven).map(|p| p.to_string()).as_deref(), Some("298.08"));
    assert_eq!(price.round(5, Rounding::TowardZero).map(|p| p.to_string()).as_deref(), Some("298.07500"));
    assert_eq!(price.round(19, Rounding::TowardZero), None);
    assert_eq!(decimal("9223372036854775807").round(1, Rounding::TowardZero), None);
    assert_eq!(wide("1").round(39, Rounding::HalfEven), None);
}

#[test]
fn division_gives_the_digits_that_are_asked_for() {
    let div = |a: &str, b: &str, scale, rounding| {
        decimal(a).checked_div(decimal(b), scale, rounding).map(|quotient| quotient.to_string())
    };
    assert_eq!(div("200", "3", 4, Rounding::HalfEven).as_deref(), Some("66.6667"));
    assert_eq!(div("200", "3", 4, Rounding::TowardZero).as_deref(), Some("66.6666"));
    assert_eq!(div("-200", "3", 4, Rounding::Down).as_deref(), Some("-66.6667"));
    assert_eq!(div("1", "8", 3, Rounding::HalfEven).as_deref(), Some("0.125"));
    assert_eq!(div("1", "8", 2, Rounding::HalfEven).as_deref(), Some("0.12"));
    assert_eq!(div("1", "8", 2, Rounding::HalfAwayFromZero).as_deref(), Some("0.13"));
    assert_eq!(
        div("0.000000000000000001", "1000", 18, Rounding::Up).as_deref(),
        Some("0.000000000000000001")
    );
    assert_eq!(div("57.00", "0.25", 0, Rounding::HalfEven).as_deref(), Some("228"));
    assert_eq!(div("1", "0", 2, Rounding::HalfEven), None);
    assert_eq!(div("0", "0.00", 2, Rounding::HalfEven), None);
    assert_eq!(div("9223372036854775807", "0.1", 0, Rounding::HalfEven), None);
    assert_eq!(div("-9223372036854775808", "-1", 0, Rounding::HalfEven), None);
    // The range of intermediate results must not decide.
    let (least, most) = (WideDecimal::from(i128::MIN), WideDecimal::from(i128::MAX));
    assert_eq!(least.checked_div(most, 0, Rounding::TowardZero), Some(WideDecimal::from(-1)));
    assert_eq!(least.checked_div(least, 37, Rounding::HalfEven), Some(WideDecimal::from(1)));
    assert_eq!(least.checked_div(WideDecimal::from(-1), 0, Rounding::HalfEven), None);
    let half = WideDecimal::from(i128::MIN / 2).checked_div(least, 1, Rounding::TowardZero);
    assert_eq!(half, Some(wide("0.5")));
    let quotient = most.checked_div(least, 37, Rounding::TowardZero).unwrap();
    assert_eq!(quotient.to_string(), "-0.9999999999999999999999999999999999999");
    assert_eq!(
        most.checked_div(least, 37, Rounding::AwayFromZero).unwrap().to_string(),
        "-1.0000000000000000000000000000000000000"
    );
}

#[test]
fn signs_change_but_for_the_least_mantissa() {
    assert_eq!(decimal("-1.20").checked_abs().unwrap().to_string(), "1.20");
    assert_eq!(decimal("1.20").checked_abs().unwrap().to_string(), "1.20");
    assert_eq!(Decimal::from_parts(i64::MIN, 3).checked_abs(), None);
    assert_eq!(wide("-1.20").checked_abs().unwrap().to_string(), "1.20");
    assert_eq!(wide("1.20").checked_neg().unwrap().to_string(), "-1.20");
    assert_eq!(WideDecimal::from_parts(i128::MIN, 3).checked_neg(), None);
    assert_eq!(WideDecimal::from_parts(i128::MIN, 3).checked_abs(), None);
    assert!(wide("-0.1").is_negative() && wide("0.00").is_zero() && WideDecimal::ZERO.is_zero());
}

/// Returns numerator / denominator, rounded to the whole number below or above.
fn quotient(numerator: i128, denominator: i128, rounding: Rounding) -> i128 {
    let (numerator, denominator) = (numerator * denominator.signum(), denominator.abs());
    let below = numerator.div_euclid(denominator);
    let rest = numerator.rem_euclid(denominator);
    let negative = numerator < 0;
    let up = match rounding {
        _ if rest == 0 => false,
        Rounding::Down => false,
        Rounding::Up => true,
        Rounding::TowardZero => negative,
        Rounding::AwayFromZero => !negative,
        _ if 2 * rest != denominator => 2 * rest > denominator,
        Rounding::HalfEven => below % 2 != 0,
        Rounding::HalfAwayFromZero => !negative,
    };
    below + i128::from(up)
}

#[test]
fn every_small_quotient_is_rounded_as_whole_numbers_are() {
    for (dividend, divisor) in (-60..=60).flat_map(|n| (-16..=16).map(move |d| (n, d))) {
        for (of_dividend, of_divisor, scale) in (0..27).map(|n| (n % 3, n / 3 % 3, n / 9)) {
            let one = Decimal::from_parts(dividend, of_dividend);
            let other = Decimal::from_parts(divisor, of_divisor);
            for rounding in ROUNDINGS {
                let found =
                    one.checked_div(other, scale, rounding).map(|q| (i128::from(q.mantissa()), q.scale()));
                let numerator = i128::from(dividend) * 10_i128.pow(u32::from(scale + of_divisor));
                let denominator = i128::from(divisor) * 10_i128.pow(of_dividend.into());
                let expected = (divisor != 0).then(|| (quotient(numerator, denominator, rounding), scale));
                assert_eq!(found, expected, "{one} / {other} at {scale}, {rounding:?}");
            }
            if scale <= of_dividend {
                let rounded = one.round(scale, Rounding::HalfEven).map(|r| i128::from(r.mantissa()));
                let unit = 10_i128.pow(u32::from(of_dividend - scale));
                assert_eq!(rounded, Some(quotient(dividend.into(), unit, Rounding::HalfEven)));
            }
        }
    }
}

#[test]
fn a_decimal_of_any_digits_and_scale_is_written_as_a_naive_writer_does() {
    let mut random = fastrand::Rng::with_seed(5);
    for digits in 1..=18 {
        let ten_to = 10_i64.pow(digits - 1);
        for mantissa in [ten_to, ten_to * 9 + (ten_to - 1), random.i64(ten_to..ten_to * 10), ten_to + 7] {
            for scale in 0..=18 {
                for mantissa in [mantissa, -mantissa] {
                    let scale_width = usize::from(scale);
                    let mut expected = format!("{:0>1$}", mantissa.unsigned_abs(), scale_width + 1);
                    if scale > 0 {
                        expected.insert(expected.len() - scale_width, '.');
                    }
                    if mantissa < 0 {
                        expected.insert(0, '-');
                    }
                    assert_eq!(Decimal::from_parts(mantissa, scale).to_string(), expected);
                }
            }
        }
    }
}
