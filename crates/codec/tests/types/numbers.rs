//! int and its derived types.

use fixbolt_codec::{DayOfMonth, Length, NumInGroup, SeqNum, Tag, ValueError};

use super::{accepts, keeps, refuses};
use ValueError::{Empty, Format, OutOfRange};

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
    // Zero means infinity in EndSeqNo (16); elsewhere the session refuses it.
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
