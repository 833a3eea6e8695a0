//! Field types: a value that is read and written gives its own bytes again, up to the differences that the codec's module
//! lists; and it is a fixed point from then on. The cached rendering of times agrees with the plain one.

use std::fmt::Debug;

use fixbolt_codec::{
    Char, Country, Currency, Date, DayOfMonth, Decimal, Digits, FromField, Language, Length, LocalMktTime,
    MonthYear, NumInGroup, Precision, SecondCache, SeqNum, Tag, Tenor, ToField, TzTimeOnly, TzTimestamp,
    UtcTimeOnly, UtcTimestamp, WideDecimal,
};

pub(super) fn seeds() -> Vec<Vec<u8>> {
    [
        "0",
        "-0",
        "007",
        "-5",
        "9223372036854775807",
        "-9223372036854775808",
        "18446744073709551615",
        "57.00",
        "-.5",
        "23.",
        "0.000000001",
        "123456789012345678901234567890.123",
        "Y",
        "N",
        "USD",
        "DE",
        "en",
        "M18",
        "D1",
        "202601",
        "20260105",
        "202601w2",
        "20240229",
        "20260105-10:00:00",
        "20260105-23:59:60.999",
        "20260105-10:00:00.123456789012",
        "10:00:00",
        "10:00",
        "07:39Z",
        "07:39:12.5+01",
        "15:39-08:30",
        "20060901-07:39Z",
        "20060901-13:09:00.123+05:30",
        "20060901-02:39-05",
        "a b c",
        "31",
    ]
    .iter()
    .map(|text| text.as_bytes().to_vec())
    .collect()
}

pub(super) fn run(data: &[u8]) {
    exact::<u64>(data, integer);
    exact::<u32>(data, integer);
    exact::<i64>(data, integer);
    exact::<SeqNum>(data, integer);
    exact::<Tag>(data, integer);
    exact::<Length>(data, integer);
    exact::<NumInGroup>(data, integer);
    exact::<DayOfMonth>(data, integer);
    exact::<Decimal>(data, decimal);
    exact::<WideDecimal>(data, decimal);
    exact::<bool>(data, same);
    exact::<Char>(data, same);
    exact::<Country>(data, same);
    exact::<Currency>(data, same);
    exact::<Language>(data, same);
    exact::<Tenor>(data, same);
    exact::<Date>(data, same);
    exact::<MonthYear>(data, same);
    exact::<UtcTimestamp>(data, same);
    exact::<UtcTimeOnly>(data, same);
    exact::<LocalMktTime>(data, same);
    exact::<TzTimestamp>(data, zone);
    exact::<TzTimeOnly>(data, zone);

    // Whatever has the form of a number stays readable as its digits, and a narrow number is a wide one.
    let digits = Digits::from_field(data);
    if Decimal::parse(data).is_ok() {
        assert!(WideDecimal::parse(data).is_ok(), "a Decimal that is no WideDecimal");
    }
    if let Ok(wide) = WideDecimal::parse(data) {
        assert!(digits.is_ok(), "a number that is not made of digits");
        if let (Some(narrow), Ok(read)) = (wide.narrow(), Decimal::parse(data)) {
            assert_eq!(narrow, read);
        }
    }
    if let Ok(time) = UtcTimestamp::from_field(data)
        && let Some(nanos) = time.to_unix_nanos()
    {
        cached(nanos);
    }
    let mut eight = [0; 8];
    let length = data.len().min(8);
    eight[..length].copy_from_slice(&data[..length]);
    cached(u64::from_le_bytes(eight) % 4_102_444_800_000_000_000);
}

/// Reads, writes, compares with what `normal` makes of the bytes, and reads again.
fn exact<T: Debug + ToField + for<'a> FromField<'a>>(data: &[u8], normal: fn(&[u8]) -> Vec<u8>) {
    let Ok(value) = T::from_field(data) else { return };
    let mut out = [0xAA; 64];
    let length = value.write_to(&mut out);
    let written = &out[..length];
    assert!(
        length >= 1 && length <= T::MAX_LEN,
        "{value:?} takes {length} bytes, said at most {}",
        T::MAX_LEN
    );
    assert!(!written.contains(&1), "{value:?} writes SOH");
    assert_eq!(
        written.escape_ascii().to_string(),
        normal(data).escape_ascii().to_string(),
        "{value:?} does not write what it read"
    );
    let mut twice = [0; 64];
    let again = T::from_field(written).expect("what was written is read again").write_to(&mut twice);
    assert_eq!(&twice[..again], written, "{value:?} is no fixed point");
}

fn same(bytes: &[u8]) -> Vec<u8> {
    bytes.to_vec()
}

/// `-00` is written `+00`; the hyphen behind a date is none.
fn zone(bytes: &[u8]) -> Vec<u8> {
    let mut normal = bytes.to_vec();
    let dated = bytes.len() > 8 && bytes[..8].iter().all(u8::is_ascii_digit);
    let clock = if dated { 9 } else { 0 };
    for zero in [&b"-00"[..], b"-00:00"] {
        if normal[clock..].ends_with(zero) {
            let start = normal.len() - zero.len();
            normal[start] = b'+';
        }
    }
    normal
}

/// Without leading zeros and without the sign of zero.
fn integer(bytes: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(bytes).expect("digits");
    let (sign, magnitude) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    match magnitude.trim_start_matches('0') {
        "" => b"0".to_vec(),
        digits => format!("{sign}{digits}").into_bytes(),
    }
}

/// As an integer in front of the point, nothing changed behind it, no bare point.
fn decimal(bytes: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(bytes).expect("digits");
    let (sign, magnitude) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (whole, fraction) = magnitude.split_once('.').unwrap_or((magnitude, ""));
    let zero = magnitude.bytes().all(|b| matches!(b, b'0' | b'.'));
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let sign = if zero { "" } else { sign };
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{whole}{point}{fraction}").into_bytes()
}

fn cached(nanos: u64) {
    let mut cache = SecondCache::default();
    for step in [0, 1, 999_999, 1_000_000_000, 86_400_000_000_000, 3] {
        let nanos = nanos + step;
        for precision in
            [Precision::Seconds, Precision::Millis, Precision::Micros, Precision::Nanos, Precision::Picos]
        {
            let text = cache.render(nanos, precision).to_vec();
            let read = UtcTimestamp::from_field(&text).expect("a rendered time is a time");
            let digits = u32::from(precision.digits().min(9));
            let unit = 10u64.pow(9 - digits);
            assert_eq!(read.to_unix_nanos(), Some(nanos / unit * unit), "{}", text.escape_ascii());
        }
    }
}
