//! Dates, times of day and timestamps, with and without a zone.

use fixbolt_codec::{
    Date, FromField, LocalMktTime, MonthYear, MonthYearPart, Precision, SecondCache, SecondReader,
    TzTimeOnly, TzTimestamp, UtcTimeOnly, UtcTimestamp, ValueError, ZoneOffset,
};

use super::{accepts, hash, keeps, refuses, written};
use ValueError::Format;

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
                // Digits may still name no month, day or time.
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
    let time = TzTimeOnly::new(13, 9, Some(0), ZoneOffset::Minutes(330)).unwrap();
    let moment = TzTimestamp::new(Date::new(2006, 9, 1).unwrap(), time);
    let moment = moment.with_fraction(250_999_999_999, Precision::Millis).unwrap();
    assert_eq!(moment.to_string(), "20060901-13:09:00.250+05:30");
    assert_eq!(TzTimeOnly::new(13, 9, None, ZoneOffset::Hours(15)), None);
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
        // Forward by little, over seconds, minutes and days, and sometimes back.
        nanos = match step % 11 {
            10 => nanos - 3_600_000_000_000,
            n => {
                nanos + [1, 999, 1_000_000, 999_999_999, 61_000_000_007, 86_399_999_999_999][(n % 6) as usize]
            }
        };
    }
    assert_eq!(cache.render(u64::MAX, Precision::Seconds), b"25540721-23:34:33");
}

#[test]
fn a_reader_of_seconds_reads_what_a_timestamp_is() {
    let mut reader = SecondReader::default();
    let mut nanos = 1_709_251_199_000_000_000_u64;
    let mut wrong = 0;
    for step in 0..100_000_usize {
        let precision = [Precision::Seconds, Precision::Millis, Precision::Nanos, Precision::Picos][step % 4];
        let mut text = UtcTimestamp::from_unix_nanos(nanos, precision).to_string().into_bytes();
        match step % 9 {
            // One byte is another one, in the second or after it.
            7 => {
                let at = step / 9 % text.len();
                text[at] = [b'9', b'0', b':', b'.', 0, 0xFF][step % 6];
            }
            8 => text.truncate(step % 31),
            _ => {}
        }
        let expected = UtcTimestamp::from_field(&text).ok().and_then(UtcTimestamp::to_unix_nanos);
        wrong += usize::from(expected.is_none());
        assert_eq!(reader.unix_nanos(&text), expected, "{}", text.escape_ascii());
        nanos += [1, 999, 1_000_000, 61_000_000_007, 86_399_999_999_999][step % 5];
    }
    assert!(wrong > 10_000, "{wrong}");
    for (text, leap) in
        [("20161231-23:59:60.5", 1_483_228_800_500_000_000), ("20161231-23:59:60", 1_483_228_800_000_000_000)]
    {
        assert_eq!(reader.unix_nanos(text.as_bytes()), Some(leap), "{text}");
    }
    // Before 1970, and after the last time in nanoseconds.
    for text in ["19691231-23:59:59", "25540721-23:34:34", "25540721-23:34:33.709551616"] {
        assert_eq!(reader.unix_nanos(text.as_bytes()), None, "{text}");
    }
    assert_eq!(reader.unix_nanos(b"25540721-23:34:33.709551615"), Some(u64::MAX));
}

#[test]
fn midnight_is_the_day_s_first_moment_and_never_written_24() {
    for text in ["20240229-24:00:00", "20240229-24:00:00.000"] {
        assert_eq!(UtcTimestamp::from_field(text.as_bytes()), Err(Format), "{text}");
    }
    refuses::<UtcTimeOnly>(&[("24:00:00", Format), ("24:00:00.000", Format)]);
    refuses::<TzTimeOnly>(&[("24:00", Format), ("24:00:00Z", Format)]);
    refuses::<TzTimestamp>(&[("20240229-24:00Z", Format), ("20240229-24:00:00+01", Format)]);
    assert_eq!(UtcTimeOnly::new(24, 0, 0, 0, Precision::Seconds), None);
    assert_eq!(LocalMktTime::new(24, 0, 0), None);
    assert_eq!(TzTimeOnly::new(24, 0, None, ZoneOffset::Utc), None);
    let day = 86_400 * 1_000_000_000;
    assert_eq!(
        UtcTimestamp::from_unix_nanos(day - 1, Precision::Nanos).to_string(),
        "19700101-23:59:59.999999999"
    );
    assert_eq!(UtcTimestamp::from_unix_nanos(day, Precision::Seconds).to_string(), "19700102-00:00:00");
}

#[test]
fn a_leap_second_stands_between_the_last_second_and_the_next_day() {
    let read = |text: &str| text.parse::<UtcTimestamp>().unwrap();
    let (last, leap, next) =
        (read("20161231-23:59:59.5"), read("20161231-23:59:60.5"), read("20170101-00:00:00.5"));
    assert!(last < leap && leap < next);
    // Unix time has no number for it.
    assert_eq!(leap.nanos_since(last), 1_000_000_000);
    assert_eq!(next.nanos_since(leap), 0);
    assert_eq!(leap.to_unix_time(), next.to_unix_time());
}

#[test]
fn the_difference_of_moments_is_in_nanoseconds_over_all_years() {
    let since = |later: &str, earlier: &str| {
        later.parse::<UtcTimestamp>().unwrap().nanos_since(earlier.parse::<UtcTimestamp>().unwrap())
    };
    assert_eq!(since("20240301-00:00:00", "20240229-23:59:59.999999999"), 1);
    assert_eq!(since("20240229-23:59:59.999999999", "20240301-00:00:00"), -1);
    assert_eq!(since("20240229-00:00:00.000000000999", "20240229-00:00:00"), 0);
    assert_eq!(since("99991231-23:59:59", "00000101-00:00:00"), 315_569_519_999 * 1_000_000_000);
}

#[test]
fn a_moment_is_a_time_since_1970_and_back() {
    use std::time::Duration;
    let moment = UtcTimestamp::from_unix_time(Duration::new(1_709_251_199, 123_456_789), Precision::Micros);
    assert_eq!(moment.unwrap().to_string(), "20240229-23:59:59.123456");
    assert_eq!(moment.unwrap().to_unix_time(), Some(Duration::new(1_709_251_199, 123_456_000)));
    let last = Duration::new(253_402_300_799, 999_999_999);
    let end = UtcTimestamp::from_unix_time(last, Precision::Nanos).unwrap();
    assert_eq!((end.to_string().as_str(), end.to_unix_time()), ("99991231-23:59:59.999999999", Some(last)));
    assert_eq!(UtcTimestamp::from_unix_time(last + Duration::from_nanos(1), Precision::Nanos), None);
    assert_eq!(UtcTimestamp::from_unix_time(Duration::MAX, Precision::Nanos), None);
    assert_eq!("19691231-23:59:59".parse::<UtcTimestamp>().unwrap().to_unix_time(), None);
}

#[test]
fn a_zoned_moment_is_the_same_moment_in_utc() {
    for (zoned, utc) in [
        ("20060901-07:39Z", Some("20060901-07:39:00")),
        ("20060901-02:39-05", Some("20060901-07:39:00")),
        ("20060901-13:09:00.250+05:30", Some("20060901-07:39:00.250")),
        ("20060901-02:00:00+05:30", Some("20060831-20:30:00")),
        ("20240228-23:30:00.123456789012-01", Some("20240229-00:30:00.123456789012")),
        ("20231231-20:00-14", Some("20240101-10:00:00")),
        ("20240101-10:00+14", Some("20231231-20:00:00")),
        ("20240301-00:00+01", Some("20240229-23:00:00")),
        ("20170101-05:29:60+05:30", Some("20161231-23:59:60")),
        ("20170101-05:30:60+05:30", None),
        ("20060901-07:39", None),
        ("99991231-23:00-02", None),
        ("00000101-01:00+02", None),
    ] {
        let moment: TzTimestamp = zoned.parse().unwrap();
        assert_eq!(moment.to_utc().map(|utc| utc.to_string()).as_deref(), utc, "{zoned}");
        if let Some(utc) = moment.to_utc() {
            assert_eq!(moment.to_unix_nanos(), utc.to_unix_nanos(), "{zoned}");
        }
    }
}
