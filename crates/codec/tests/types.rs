//! The data types: what each accepts, refuses and writes back, by the standard's examples (FIX 5.0SP2 volume 1 and Orchestra),
//! and round trips of random values.

use fixbolt_codec::{
    Char, Country, Currency, Date, DayOfMonth, Decimal, Digits, Exchange, FromField, Language, Length,
    LocalMktTime, MonthYear, MonthYearPart, MultipleCharValue, MultipleStringValue, NumInGroup, Precision,
    SecondCache, SeqNum, Tag, Tenor, TenorUnit, Text, ToField, TzTimeOnly, TzTimestamp, UtcTimeOnly,
    UtcTimestamp, ValueError, WideDecimal, Zone,
};
use proptest::prelude::*;
use std::cmp::Ordering;
use std::collections::hash_map::DefaultHasher;
use std::fmt::{Debug, Display};
use std::hash::{Hash, Hasher};

use ValueError::{Empty, Format, OutOfRange};

fn written<T: ToField>(value: &T) -> Vec<u8> {
    let mut out = vec![b'#'; T::MAX_LEN];
    let length = value.write_to(&mut out);
    assert!(length >= 1);
    assert!(out[length..].iter().all(|byte| *byte == b'#'), "nothing is written behind the value");
    out.truncate(length);
    out
}

/// Reads each value and writes it back: as it was, or as the second element says.
#[track_caller]
fn accepts<T: for<'m> FromField<'m> + ToField + Display>(values: &[(&str, &str)]) {
    for (read, write) in values {
        let value = T::from_field(read.as_bytes()).unwrap_or_else(|error| panic!("{read:?}: {error}"));
        assert_eq!(String::from_utf8(written(&value)).unwrap(), *write, "{read:?}");
        assert_eq!(value.to_string(), *write, "{read:?}");
    }
}

/// The same for values that come back as they were.
#[track_caller]
fn keeps<T: for<'m> FromField<'m> + ToField + Display>(values: &[&str]) {
    accepts::<T>(&values.iter().map(|value| (*value, *value)).collect::<Vec<_>>());
}

#[track_caller]
fn refuses<'m, T: FromField<'m> + Debug>(values: &[(&'m str, ValueError)]) {
    for (value, error) in values {
        assert_eq!(T::from_field(value.as_bytes()).err(), Some(*error), "{value:?}");
    }
    assert_eq!(T::from_field(b"").err(), Some(Empty), "an empty value");
}

#[test]
fn an_error_is_the_session_reject_reason_of_the_standard() {
    assert_eq!([Empty, OutOfRange, Format].map(ValueError::session_reject_reason), [4, 5, 6]);
}

#[test]
fn an_int_has_digits_and_perhaps_a_minus_and_fits_64_bits() {
    keeps::<i64>(&[
        "0",
        "23",
        "-723",
        "9223372036854775807",
        "-9223372036854775808",
        "123456789",
        "12345678901234567",
    ]);
    accepts::<i64>(&[
        ("00023", "23"),
        ("-0", "0"),
        ("-007", "-7"),
        ("00000000000000000000000000000000000000000042", "42"),
    ]);
    refuses::<i64>(&[
        ("+5", Format),
        ("1.0", Format),
        ("1e3", Format),
        (" 7", Format),
        ("7 ", Format),
        ("0x1", Format),
        ("-", Format),
        ("--1", Format),
        ("1-", Format),
        ("9223372036854775808", Format),
        ("-9223372036854775809", Format),
        ("99999999999999999999999", Format),
        ("1234567a", Format),
        ("12345678901:", Format),
        ("1234567890123456789/", Format),
    ]);
}

#[test]
fn an_int_read_as_unsigned_is_out_of_range_below_zero() {
    keeps::<u64>(&["0", "18446744073709551615"]);
    accepts::<u64>(&[("-0", "0"), ("000", "0")]);
    refuses::<u64>(&[("-1", OutOfRange), ("18446744073709551616", Format), ("-x", Format), ("1.", Format)]);
    keeps::<u32>(&["0", "4294967295"]);
    refuses::<u32>(&[("-1", OutOfRange), ("4294967296", Format), ("x", Format)]);
}

#[test]
fn a_length_is_at_least_one() {
    keeps::<Length>(&["5", "4294967295"]);
    accepts::<Length>(&[("005", "5")]);
    refuses::<Length>(&[("-1", Format), ("0", OutOfRange), ("1.5", Format), ("4294967296", Format)]);
    assert_eq!(Length::new(0), None);
    assert_eq!(Length::new(5).unwrap().bytes(), 5);
}

#[test]
fn a_tag_has_no_leading_zero() {
    keeps::<Tag>(&["35", "2147483647"]);
    refuses::<Tag>(&[
        ("035", Format),
        ("0", Format),
        ("-1", Format),
        ("2147483648", Format),
        ("10000000000", Format),
    ]);
}

#[test]
fn a_seq_num_may_be_padded_but_has_no_sign() {
    keeps::<SeqNum>(&["1", "18446744073709551615"]);
    // Zero is EndSeqNo's (16) infinity; that it is nothing else is the session's check.
    accepts::<SeqNum>(&[("007", "7"), ("0", "0")]);
    refuses::<SeqNum>(&[("-3", Format), ("+3", Format), ("3.0", Format), ("18446744073709551616", Format)]);
}

#[test]
fn a_num_in_group_may_be_zero_but_not_negative() {
    keeps::<NumInGroup>(&["2", "0"]);
    accepts::<NumInGroup>(&[("02", "2")]);
    refuses::<NumInGroup>(&[("-1", Format), ("1x", Format)]);
}

#[test]
fn a_day_of_month_is_1_to_31() {
    keeps::<DayOfMonth>(&["5", "31"]);
    accepts::<DayOfMonth>(&[("05", "5")]);
    refuses::<DayOfMonth>(&[
        ("0", OutOfRange),
        ("32", OutOfRange),
        ("256", OutOfRange),
        ("261", OutOfRange),
        ("-1", Format),
    ]);
}

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
    // Places the point, sign and a wrong byte everywhere in lengths that cross all the reader's paths.
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
    // Zeros in front take no room.
    let padded = format!("{}1.5", "0".repeat(60));
    assert_eq!(Decimal::parse(padded.as_bytes()).unwrap().to_string(), "1.5");
}

fn decimal(text: &str) -> Decimal {
    text.parse().unwrap()
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
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

#[test]
fn a_decimal_becomes_the_nearest_f64() {
    for text in ["0.1", "101.25", "-0.0025", "9007199254740993", "0.9223372036854775807", "123456.7890123"] {
        if let Ok(value) = text.parse::<Decimal>() {
            assert_eq!(value.to_f64(), text.parse::<f64>().unwrap(), "{text}");
        }
    }
}

#[test]
fn a_char_is_one_byte_and_not_soh() {
    keeps::<Char>(&["A", " ", "="]);
    refuses::<Char>(&[("AB", Format), ("\x01", Format)]);
    assert_eq!(Char(0xE9).to_string(), "é");
}

#[test]
fn a_boolean_is_y_or_n() {
    assert_eq!((bool::from_field(b"Y"), bool::from_field(b"N")), (Ok(true), Ok(false)));
    assert_eq!((written(&true), written(&false)), (b"Y".to_vec(), b"N".to_vec()));
    refuses::<bool>(&[("y", Format), ("1", Format), ("true", Format), ("n", Format)]);
}

#[test]
fn a_string_is_any_bytes_but_none() {
    refuses::<Text<'_>>(&[]);
    refuses::<&[u8]>(&[]);
    let text = Text::from_field(b"caf\xE9 = x").unwrap();
    assert_eq!(
        (text.as_bytes(), text.as_ascii(), text.to_string()),
        (&b"caf\xE9 = x"[..], None, "café = x".into())
    );
    assert_eq!(Text::from_field(b"IBM").unwrap(), "IBM");
    assert_eq!(format!("{:?}", Text::from_field(b"a\0").unwrap()), r#"Text("a\x00")"#);
    assert_eq!(<&[u8]>::from_field(b"a\x01b"), Ok(&b"a\x01b"[..]));
}

#[test]
fn multiple_values_are_split_by_exactly_one_space() {
    refuses::<MultipleCharValue<'_>>(&[
        ("2A", Format),
        ("2  A", Format),
        ("2 ", Format),
        (" 2", Format),
        ("2 A ", Format),
        ("2 \u{e9}", Format),
        ("- A", Format),
    ]);
    let value = MultipleCharValue::from_field(b"2 A F").unwrap();
    assert_eq!(value.iter().collect::<Vec<_>>(), [Char(b'2'), Char(b'A'), Char(b'F')]);
    assert_eq!(value.to_string(), "2 A F");

    refuses::<MultipleStringValue<'_>>(&[
        ("AV ", Format),
        (" AV", Format),
        ("AV  AN", Format),
        (" ", Format),
    ]);
    let value = MultipleStringValue::from_field(b"AV AN A").unwrap();
    assert_eq!(value.iter().map(|token| token.to_string()).collect::<Vec<_>>(), ["AV", "AN", "A"]);
    assert_eq!(MultipleStringValue::from_field(b"2 9 C").unwrap().as_bytes(), b"2 9 C");
}

#[test]
fn codes_have_their_standards_form() {
    keeps::<Country>(&["DE"]);
    refuses::<Country>(&[("DEU", Format), ("de", Format), ("D", Format), ("D1", Format)]);
    keeps::<Currency>(&["EUR", "GBp"]);
    refuses::<Currency>(&[
        ("EURO", Format),
        ("eur", Format),
        ("eUR", Format),
        ("EU", Format),
        ("EU1", Format),
    ]);
    keeps::<Language>(&["en"]);
    refuses::<Language>(&[("eng", Format), ("e", Format), ("e1", Format)]);
    refuses::<Exchange<'_>>(&[]);
    assert!(Exchange::from_field(b"XLON").unwrap().is_mic());
    assert!(!Exchange::from_field(b"N").unwrap().is_mic());
    assert_eq!(Currency::new("USD").unwrap().as_str(), "USD");
    assert_eq!(Currency::new("usd"), None);
}

#[test]
fn a_tenor_is_a_unit_and_a_count_from_one() {
    keeps::<Tenor>(&["D5", "M3", "W13", "Y1", "D4294967295"]);
    refuses::<Tenor>(&[
        ("D0", Format),
        ("5D", Format),
        ("D", Format),
        ("D05", Format),
        ("D-1", Format),
        ("D4294967296", Format),
    ]);
    assert_eq!(Tenor::new(TenorUnit::Weeks, 0), None);
    assert_eq!(Tenor::from_field(b"W13"), Ok(Tenor::new(TenorUnit::Weeks, 13).unwrap()));
}

#[test]
fn a_date_is_a_real_day() {
    keeps::<Date>(&["20240229", "20150724", "00010101", "99991231", "20000229"]);
    refuses::<Date>(&[
        ("20230229", Format),
        ("19000229", Format),
        ("2024022", Format),
        ("202402290", Format),
        ("20240230", Format),
        ("20240431", Format),
        ("20241301", Format),
        ("20240001", Format),
        ("20240100", Format),
        ("2024-2-9", Format),
        ("2024021a", Format),
    ]);
}

#[test]
fn every_day_from_1970_to_9999_has_its_number() {
    let (mut year, mut month, mut day) = (1970_u16, 1_u8, 1_u8);
    for number in 0..=2_932_896_u32 {
        let date = Date::new(year, month, day).unwrap();
        assert_eq!((date.unix_day(), Date::from_unix_day(number)), (number as i32, date));
        if Date::new(year, month, day + 1).is_some() {
            day += 1;
        } else if month < 12 {
            (month, day) = (month + 1, 1);
        } else {
            (year, month, day) = (year + 1, 1, 1);
        }
    }
    assert_eq!((year, month, day), (10_000, 1, 1));
    assert_eq!(Date::new(1969, 12, 31).unwrap().unix_day(), -1);
    assert_eq!(Date::new(0, 1, 1).unwrap().unix_day(), -719_528);
}

#[test]
fn a_month_year_has_a_month_and_perhaps_a_day_or_week() {
    keeps::<MonthYear>(&["200303", "20030320", "200303w2", "200312", "20030331"]);
    refuses::<MonthYear>(&[
        ("200313", Format),
        ("200300", Format),
        ("200303w6", Format),
        ("200303w0", Format),
        ("200303w", Format),
        ("200303W2", Format),
        ("200303w\u{0}", Format),
        ("2003-03", Format),
        ("20030300", Format),
        ("20030332", Format),
        ("2003032", Format),
        ("200303200", Format),
        ("2003", Format),
    ]);
    assert_eq!(MonthYear::from_field(b"200303w2").unwrap().part(), MonthYearPart::Week(2));
    assert_eq!(MonthYear::new(2003, 3, MonthYearPart::Day(32)), None);
}

#[test]
fn a_utc_timestamp_has_up_to_twelve_fraction_digits_and_keeps_them() {
    keeps::<UtcTimestamp>(&[
        "20240229-23:59:59",
        "20240229-23:59:59.123",
        "20240229-23:59:59.123456",
        "20240229-23:59:59.123456789",
        "20240229-23:59:59.123456789012",
        "20161231-23:59:60",
        "20161231-23:59:60.500",
        "20240229-00:00:00.000",
        "20240229-00:00:00.1",
        "20240229-00:00:00.1234567",
        "20240229-00:00:00.00000000001",
    ]);
    refuses::<UtcTimestamp>(&[
        ("20230229-00:00:00", Format),
        ("20240229-24:00:00", Format),
        ("20240229-23:60:00", Format),
        ("20240229-23:59:61", Format),
        ("20240229-12:00:60", Format),
        ("2024-02-29-00:00:00", Format),
        ("2024022900:00:00", Format),
        ("20240229T00:00:00", Format),
        ("20240229-00:00:00.", Format),
        ("20240229-00:00:00.123456789012345", Format),
        ("20240229-00:00:00.1234567890123", Format),
        ("20240229-00:00:00,123", Format),
        ("20240229-00:00:00.12a", Format),
        ("20240229-00:00", Format),
        ("20240229", Format),
        ("20240229-0:00:00", Format),
        ("20240229-00:00:00Z", Format),
        ("20240229-00.00:00", Format),
        ("20240229-00:00:0:", Format),
        ("20240229-00:00:\u{b0}", Format),
    ]);
}

#[test]
fn every_wrong_byte_in_a_timestamp_is_noticed() {
    let right = *b"20161231-12:34:56.789";
    for place in 0..right.len() {
        for byte in 0..=255_u8 {
            let mut text = right;
            text[place] = byte;
            let plain = text.iter().zip(right).all(|(byte, was)| byte.is_ascii_digit() || *byte == was)
                && right[place].is_ascii_digit() == byte.is_ascii_digit();
            match UtcTimestamp::from_field(&text) {
                Ok(value) => assert!(plain && written(&value) == text, "{}", text.escape_ascii()),
                // Digits may still name no such month, day or time.
                Err(_) => {
                    assert!(!plain || [4, 5, 6, 7, 9, 12, 15].contains(&place), "{}", text.escape_ascii())
                }
            }
        }
    }
}

#[test]
fn a_utc_time_has_hours_minutes_and_seconds() {
    keeps::<UtcTimeOnly>(&["13:20:00.123", "13:20:00", "00:00:00", "23:59:60", "13:20:00.123456789012"]);
    refuses::<UtcTimeOnly>(&[
        ("13:20", Format),
        ("25:00:00", Format),
        ("13:20:00.", Format),
        ("13:20:60", Format),
        ("13:20:000", Format),
    ]);
}

#[test]
fn a_local_market_time_has_no_fraction() {
    keeps::<LocalMktTime>(&["07:00:00", "23:59:59"]);
    refuses::<LocalMktTime>(&[
        ("07:00", Format),
        ("07:00:00.000", Format),
        ("24:00:00", Format),
        ("23:59:60", Format),
    ]);
}

#[test]
fn times_of_different_precision_compare_as_moments() {
    let read = |text: &str| text.parse::<UtcTimestamp>().unwrap();
    assert_eq!(read("20240229-23:59:59"), read("20240229-23:59:59.000000"));
    assert_eq!(hash(&read("20240229-23:59:59.5")), hash(&read("20240229-23:59:59.500")));
    assert!(read("20240229-23:59:59.999999999999") < read("20240301-00:00:00"));
    assert!(read("20161231-23:59:60.9") > read("20161231-23:59:59.9"));
}

#[test]
fn a_timestamp_has_its_unix_time() {
    let moment = UtcTimestamp::from_unix_nanos(1_709_251_199_123_456_789, Precision::Millis);
    assert_eq!(moment.to_string(), "20240229-23:59:59.123");
    assert_eq!(moment.to_unix_nanos(), Some(1_709_251_199_123_000_000));
    assert_eq!(UtcTimestamp::from_unix_nanos(0, Precision::Seconds).to_string(), "19700101-00:00:00");
    let last = UtcTimestamp::from_unix_nanos(u64::MAX, Precision::Picos);
    assert_eq!(
        (last.to_string().as_str(), last.to_unix_nanos()),
        ("25540721-23:34:33.709551615000", Some(u64::MAX))
    );
    let unix = |text: &str| text.parse::<UtcTimestamp>().unwrap().to_unix_nanos();
    assert_eq!(unix("20161231-23:59:60"), unix("20170101-00:00:00"));
    assert_eq!((unix("19691231-23:59:59"), unix("25540721-23:34:34")), (None, None));
    assert_eq!(
        UtcTimeOnly::new(1, 2, 3, 999_999_999_999, Precision::Micros).unwrap().to_string(),
        "01:02:03.999999"
    );
    assert_eq!(UtcTimeOnly::new(1, 2, 3, 1_000_000_000_000, Precision::Micros), None);
}

#[test]
fn a_zoned_time_keeps_the_form_of_its_zone() {
    keeps::<TzTimeOnly>(&[
        "07:39Z",
        "02:39-05",
        "15:39+08",
        "13:09+05:30",
        "13:09:00+05:30",
        "13:09",
        "13:09:59",
        "00:00+14",
        "00:00-00:30",
        "00:00+00",
    ]);
    accepts::<TzTimeOnly>(&[("00:00-00", "00:00+00"), ("00:00-00:00", "00:00+00:00")]);
    refuses::<TzTimeOnly>(&[
        ("7:39Z", Format),
        ("24:00Z", Format),
        ("07:60Z", Format),
        ("07:39+15", Format),
        ("07:39+5", Format),
        ("07:39+0530", Format),
        ("07:39+05:3", Format),
        ("07:39+05:60", Format),
        ("07:39+", Format),
        ("07:39z", Format),
        ("07:39ZZ", Format),
        ("07:39:00.5Z", Format),
        ("07:3", Format),
        ("07:39:", Format),
        ("Z", Format),
        ("07:39:61Z", Format),
    ]);
}

#[test]
fn a_zoned_timestamp_may_leave_out_seconds() {
    keeps::<TzTimestamp>(&[
        "20060901-07:39Z",
        "20060901-02:39-05",
        "20060901-13:09:00.250+05:30",
        "20060901-13:09:00",
        "20060901-13:09:00.123456789012-11:30",
    ]);
    refuses::<TzTimestamp>(&[
        ("20060931-07:39Z", Format),
        ("20060901 07:39Z", Format),
        ("20060901-07:39.5Z", Format),
        ("20060901-07:39:00.Z", Format),
        ("20060901-07:39:00.1234567890123Z", Format),
        ("20060901", Format),
        ("20060901-", Format),
        ("2006", Format),
    ]);
    let unix = |text: &str| text.parse::<TzTimestamp>().unwrap().to_unix_nanos();
    assert_eq!(unix("20060901-02:39-05"), unix("20060901-07:39Z"));
    assert_eq!(unix("20060901-13:09:00.250+05:30"), unix("20060901-07:39:00.250Z"));
    assert_eq!(unix("20060901-07:39"), None);
    let time = TzTimeOnly::new(13, 9, Some(0), Zone::Minutes(330)).unwrap();
    let moment = TzTimestamp::new(Date::new(2006, 9, 1).unwrap(), time);
    let moment = moment.with_fraction(250_999_999_999, Precision::Millis).unwrap();
    assert_eq!(moment.to_string(), "20060901-13:09:00.250+05:30");
    assert_eq!(TzTimeOnly::new(13, 9, None, Zone::Hours(15)), None);
}

#[test]
fn the_cached_sending_time_is_that_of_a_timestamp_at_every_step() {
    let precisions =
        [Precision::Seconds, Precision::Millis, Precision::Micros, Precision::Nanos, Precision::Picos];
    let mut cache = SecondCache::default();
    let mut nanos = 1_709_251_199_000_000_000_u64;
    for step in 0..200_000_u64 {
        let precision = precisions[(step % 5) as usize];
        let expected = UtcTimestamp::from_unix_nanos(nanos, precision).to_string();
        assert_eq!(core::str::from_utf8(cache.render(nanos, precision)).unwrap(), expected);
        // Forward by a little, over seconds, minutes, days; and back at times.
        nanos = match step % 11 {
            10 => nanos - 3_600_000_000_000,
            n => {
                nanos + [1, 999, 1_000_000, 999_999_999, 61_000_000_007, 86_399_999_999_999][(n % 6) as usize]
            }
        };
    }
    assert_eq!(cache.render(u64::MAX, Precision::Seconds), b"25540721-23:34:33");
}

/// Reading what was written gives the value; reading canonical text and writing it gives the text.
fn round_trip<T: for<'m> FromField<'m> + ToField + PartialEq + Debug>(
    value: &T,
) -> Result<(), TestCaseError> {
    let text = written(value);
    let read = T::from_field(&text);
    prop_assert_eq!(read.as_ref(), Ok(value));
    prop_assert_eq!(written(&read.unwrap()), text);
    Ok(())
}

fn picked_decimal() -> impl Strategy<Value = Decimal> {
    let mantissa = prop_oneof![any::<i64>(), -100_000_i64..100_000, Just(i64::MIN), Just(i64::MAX)];
    (mantissa, 0..=Decimal::MAX_SCALE).prop_map(|(mantissa, scale)| Decimal::from_parts(mantissa, scale))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn numbers_come_back(number in any::<i64>(), shift in 0_u32..64) {
        let number = number >> shift;
        round_trip(&number)?;
        round_trip(&(number as u64))?;
        round_trip(&(number as u32))?;
        round_trip(&SeqNum(number as u64))?;
        prop_assert_eq!(number.to_string().into_bytes(), written(&number));
    }

    #[test]
    fn decimals_come_back_with_their_scale(value in picked_decimal()) {
        round_trip(&value)?;
        round_trip(&value.wide())?;
        let text = written(&value);
        prop_assert_eq!(&text, &written(&value.wide()));
        let read = Decimal::parse(&text).unwrap();
        prop_assert_eq!((read.mantissa(), read.scale()), (value.mantissa(), value.scale()));
    }

    #[test]
    fn decimals_add_and_order_as_their_wide_forms(one in picked_decimal(), other in picked_decimal()) {
        let sum = one.wide().checked_add(other.wide()).unwrap();
        prop_assert_eq!(one.checked_add(other).map(Decimal::wide), sum.narrow().map(Decimal::wide));
        prop_assert_eq!(one.cmp(&other), one.wide().cmp(&other.wide()));
        prop_assert_eq!(one == other, hash(&one) == hash(&other));
        if let Some(difference) = one.checked_sub(other) {
            prop_assert_eq!(one.cmp(&other), difference.cmp(&Decimal::ZERO));
            if let Some(back) = difference.checked_add(other) {
                prop_assert_eq!(back, one);
            }
        }
        if let Some(product) = one.checked_mul(other) {
            let wide = one.mantissa() as i128 * other.mantissa() as i128;
            prop_assert_eq!(product.wide(), WideDecimal::from_parts(wide, one.scale() + other.scale()));
        }
    }

    #[test]
    fn wide_decimals_come_back(mantissa in any::<i128>(), shift in 0_u32..128, scale in 0..=WideDecimal::MAX_SCALE) {
        round_trip(&WideDecimal::from_parts(mantissa >> shift, scale))?;
    }

    #[test]
    fn moments_come_back_with_their_digits(nanos in any::<u64>(), precision in 0..5_usize) {
        use Precision::{Micros, Millis, Nanos, Picos, Seconds};
        let value = UtcTimestamp::from_unix_nanos(nanos, [Seconds, Millis, Micros, Nanos, Picos][precision]);
        round_trip(&value)?;
        round_trip(&value.time())?;
        round_trip(&value.date())?;
        if precision >= 3 {
            prop_assert_eq!(value.to_unix_nanos(), Some(nanos));
        }
    }

    #[test]
    fn a_fraction_of_any_length_comes_back(fraction in "[0-9]{1,12}") {
        let text = format!("20240229-23:59:59.{fraction}");
        prop_assert_eq!(text.parse::<UtcTimestamp>().unwrap().to_string(), text);
    }

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in proptest::collection::vec(prop_oneof![any::<u8>(), 0x20_u8..0x40], 0..40)) {
        fn read<'m, T: FromField<'m>>(bytes: &'m [u8]) {
            if let Err(error) = T::from_field(bytes) {
                assert_eq!(error == Empty, bytes.is_empty());
            }
        }
        read::<i64>(&bytes);
        read::<u64>(&bytes);
        read::<u32>(&bytes);
        read::<Tag>(&bytes);
        read::<SeqNum>(&bytes);
        read::<Length>(&bytes);
        read::<NumInGroup>(&bytes);
        read::<DayOfMonth>(&bytes);
        read::<Decimal>(&bytes);
        read::<WideDecimal>(&bytes);
        read::<Digits<'_>>(&bytes);
        read::<Char>(&bytes);
        read::<bool>(&bytes);
        read::<Text<'_>>(&bytes);
        read::<MultipleCharValue<'_>>(&bytes);
        read::<MultipleStringValue<'_>>(&bytes);
        read::<Country>(&bytes);
        read::<Currency>(&bytes);
        read::<Language>(&bytes);
        read::<Exchange<'_>>(&bytes);
        read::<Tenor>(&bytes);
        read::<Date>(&bytes);
        read::<MonthYear>(&bytes);
        read::<UtcTimestamp>(&bytes);
        read::<UtcTimeOnly>(&bytes);
        read::<LocalMktTime>(&bytes);
        read::<TzTimeOnly>(&bytes);
        read::<TzTimestamp>(&bytes);
    }
}
