//! Decimals to and from the number types of other crates.

use fixbolt_codec::{Decimal, ValueError, WideDecimal};
use proptest::prelude::*;

fn decimal(text: &str) -> Decimal {
    text.parse().unwrap()
}

#[test]
fn a_decimal_becomes_the_nearest_f64() {
    for text in
        ["0.1", "101.25", "-0.0025", "9007199254740993", "0.922337203685477581", "123456.7890123", "0"]
    {
        let nearest = text.parse::<f64>().unwrap();
        assert_eq!(decimal(text).to_f64(), nearest, "{text}");
        assert_eq!(decimal(text).wide().to_f64(), nearest, "{text}");
    }
    let huge = WideDecimal::from(i128::MIN);
    assert_eq!(huge.to_f64(), -(2_f64.powi(127)));
}

#[test]
fn a_decimal_becomes_an_equal_f64_or_none() {
    assert_eq!(decimal("0.5").to_f64_exact(), Some(0.5));
    assert_eq!(decimal("-101.25000").to_f64_exact(), Some(-101.25));
    assert_eq!(decimal("0.1").to_f64_exact(), None);
    assert_eq!(decimal("9007199254740993").to_f64_exact(), None);
    assert_eq!(decimal("9007199254740992").to_f64_exact(), Some(9_007_199_254_740_992.0));
    assert_eq!(WideDecimal::from(i128::MIN).to_f64_exact(), None);
    assert_eq!(WideDecimal::from(i128::MIN / 2).to_f64_exact(), Some(-(2_f64.powi(126))));
}

#[test]
fn an_f64_becomes_the_shortest_decimal_that_is_read_as_it() {
    for (number, text) in [
        (0.1, Some("0.1")),
        (-298.075, Some("-298.075")),
        (0.1 + 0.2, Some("0.30000000000000004")),
        (57.0, Some("57")),
        (1e18, Some("1000000000000000000")),
        (-0.0, Some("0")),
        (1e-18, Some("0.000000000000000001")),
        (1e-19, None),
        (1e19, None),
        (f64::MAX, None),
        (f64::MIN_POSITIVE, None),
        (5e-324, None),
        (f64::INFINITY, None),
        (f64::NEG_INFINITY, None),
        (f64::NAN, None),
    ] {
        assert_eq!(Decimal::from_f64(number).map(|decimal| decimal.to_string()).as_deref(), text, "{number}");
    }
    assert_eq!(WideDecimal::from_f64(1e38), Some(WideDecimal::from(10_i128.pow(38))));
    assert_eq!(WideDecimal::from_f64(2e38), None);
    assert_eq!(WideDecimal::from_f64(1e-38), Some(WideDecimal::from_parts(1, 38)));
    assert_eq!(WideDecimal::from_f64(1e-39), None);
}

#[test]
fn an_f64_becomes_an_equal_decimal_or_none() {
    for (number, text) in [
        (0.5, Some("0.5")),
        (-101.25, Some("-101.25")),
        (0.1, None),
        (0.0, Some("0")),
        (-0.0, Some("0")),
        (9_007_199_254_740_992.0, Some("9007199254740992")),
        (f64::NAN, None),
        (f64::INFINITY, None),
        (f64::MAX, None),
        (5e-324, None),
    ] {
        assert_eq!(Decimal::from_f64_exact(number).map(|d| d.to_string()).as_deref(), text, "{number}");
    }
    assert_eq!(WideDecimal::from_f64_exact(2_f64.powi(126)), Some(WideDecimal::from(1 << 126)));
    assert_eq!(WideDecimal::from_f64_exact(2_f64.powi(127)), None);
    assert_eq!(WideDecimal::from_f64_exact(2_f64.powi(-38)).map(|wide| wide.scale()), Some(38));
    assert_eq!(WideDecimal::from_f64_exact(2_f64.powi(-39)), None);
}

#[test]
fn decimals_of_the_crate_rust_decimal_keep_value_and_scale() {
    let other: rust_decimal::Decimal = decimal("-57.00").into();
    assert_eq!((other.mantissa(), other.scale()), (-5700, 2));
    let back = Decimal::try_from(other).unwrap();
    assert_eq!(back.to_string(), "-57.00");
    let many: rust_decimal::Decimal = "0.0000000000000000000000000001".parse().unwrap();
    assert_eq!(Decimal::try_from(many), Err(ValueError::OutOfRange));
    assert_eq!(WideDecimal::from(many).to_string(), "0.0000000000000000000000000001");
    assert_eq!(WideDecimal::from(rust_decimal::Decimal::MAX).to_string(), "79228162514264337593543950335");
    for too_much in [WideDecimal::from(1_i128 << 96), WideDecimal::from_parts(1, 29)] {
        assert_eq!(rust_decimal::Decimal::try_from(too_much), Err(ValueError::OutOfRange));
    }
    let mut zero = rust_decimal::Decimal::new(0, 3);
    zero.set_sign_negative(true);
    assert_eq!(Decimal::try_from(zero).unwrap().to_string(), "0.000");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_f64_comes_back_from_its_decimal(bits in any::<u64>(), near_one in -64..64_i32) {
        // Any number, and one of a realistic size.
        let usual = f64::from_bits(bits >> 12 | 1023 << 52) * 2_f64.powi(near_one);
        for number in [f64::from_bits(bits), usual, -usual] {
            if let Some(wide) = WideDecimal::from_f64(number) {
                prop_assert_eq!(wide.to_f64(), number);
            }
            if let Some(exact) = WideDecimal::from_f64_exact(number) {
                prop_assert_eq!(exact.to_f64_exact(), Some(number));
            }
        }
        prop_assert!(WideDecimal::from_f64(usual).is_some());
    }

    #[test]
    fn every_decimal_comes_back_from_rust_decimal(mantissa in any::<i64>(), scale in 0..=18_u8) {
        let decimal = Decimal::from_parts(mantissa, scale);
        let other = rust_decimal::Decimal::from(decimal);
        prop_assert_eq!(other.to_string(), decimal.to_string());
        let back = Decimal::try_from(other).unwrap();
        prop_assert_eq!((back.mantissa(), back.scale()), (mantissa, scale));
        prop_assert_eq!(rust_decimal::Decimal::try_from(decimal.wide()), Ok(other));
    }
}
