//! Field types: a value that is read and written yields the same bytes, except for the differences
//! that the codec's module lists, and never changes again. The cached rendering of times agrees
//! with the plain one, and timestamps agree with their numbers; decimal arithmetic follows its
//! laws; every encoding can read what it writes.

use std::fmt::Debug;

use fixbolt::messages::encoding::Encoding;
use fixbolt_codec::{
    Char, Country, Currency, Date, DayOfMonth, Decimal, Digits, FromField, Language, Length, LocalMktTime,
    MonthYear, MultipleCharValue, MultipleStringValue, NumInGroup, Precision, Rounding, SecondCache, SeqNum,
    Tag, Tenor, Text, ToField, TzTimeOnly, TzTimestamp, UtcTimeOnly, UtcTimestamp, WideDecimal,
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
        "57.00 3",
        "200 0.07",
        "-1 8.000",
        "20261231-23:59:60 20270101-00:00:00.000000001",
        "Größe",
        "株式",
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

    // Every number can be read as digits, and every narrow number as a wide one.
    let digits = Digits::from_field(data);
    if Decimal::parse(data).is_ok() {
        assert!(WideDecimal::parse(data).is_ok(), "a Decimal that is not a WideDecimal");
    }
    if let Ok(wide) = WideDecimal::parse(data) {
        assert!(digits.is_ok(), "a number that is not made of digits");
        if let (Some(narrow), Ok(read)) = (wide.narrow(), Decimal::parse(data)) {
            assert_eq!(narrow, read);
        }
    }
    lists(data);
    let mut halves = data.splitn(2, |byte| *byte == b' ');
    if let (Some(one), Some(other)) = (halves.next(), halves.next()) {
        if let (Ok(one), Ok(other)) = (WideDecimal::parse(one), WideDecimal::parse(other)) {
            calculated(one, other);
        }
        if let (Ok(one), Ok(other)) = (UtcTimestamp::from_field(one), UtcTimestamp::from_field(other)) {
            apart(one, other);
        }
    }
    binary(data);
    for encoding in Encoding::ALL {
        encoded(encoding, data);
    }
    if let Ok(time) = UtcTimestamp::from_field(data)
        && let Some(nanos) = time.to_unix_nanos()
    {
        cached(nanos);
    }
    if let Ok(zoned) = TzTimestamp::from_field(data)
        && let Some(utc) = zoned.to_utc()
    {
        assert_eq!(zoned.to_unix_nanos(), utc.to_unix_nanos());
        assert_eq!(zoned.picoseconds(), utc.time().picoseconds());
    }
    let mut eight = [0; 8];
    let length = data.len().min(8);
    eight[..length].copy_from_slice(&data[..length]);
    cached(u64::from_le_bytes(eight) % 4_102_444_800_000_000_000);
}

/// Lists are their tokens separated by a space, and any text is itself.
fn lists(data: &[u8]) {
    if let Ok(list) = MultipleStringValue::from_field(data) {
        let tokens: Vec<&[u8]> = list.iter().map(Text::as_bytes).collect();
        assert!(tokens.iter().all(|token| !token.is_empty() && !token.contains(&b' ')));
        assert_eq!(tokens.join(&b' '), data);
    }
    if let Ok(list) = MultipleCharValue::from_field(data) {
        assert!(MultipleStringValue::from_field(data).is_ok(), "letters that are no strings");
        let tokens: Vec<[u8; 1]> = list.iter().map(|letter| [letter.0]).collect();
        assert_eq!(tokens.join(&b' '), data);
    }
    if let Ok(text) = <&Text>::from_field(data) {
        let latin = || Encoding::Iso8859_1.decode(data).expect("every byte is a character");
        assert_eq!(text.to_string(), text.to_str().map_or_else(|_| latin(), Into::into));
    }
}

/// Laws of arithmetic for any two numbers.
fn calculated(one: WideDecimal, other: WideDecimal) {
    if let Some(difference) = one.checked_sub(other) {
        assert_eq!(one.cmp(&other), difference.cmp(&WideDecimal::ZERO), "{one} and {other}");
        assert_eq!(difference.checked_add(other), Some(one));
        assert_eq!(difference.is_negative(), one < other);
    }
    assert_eq!(one.checked_add(other), other.checked_add(one));
    if let (Some(product), false) = (one.checked_mul(other), other.is_zero()) {
        assert_eq!(
            product.checked_div(other, one.scale(), Rounding::HalfEven),
            Some(one),
            "{one} * {other} / {other}"
        );
    }
    for scale in [0, 2, one.scale(), other.scale()] {
        use Rounding::{AwayFromZero, Down, HalfAwayFromZero, HalfEven, TowardZero, Up};
        let [down, up, toward, away, even, half] =
            [Down, Up, TowardZero, AwayFromZero, HalfEven, HalfAwayFromZero]
                .map(|r| one.checked_div(other, scale, r));
        let (Some(down), Some(up)) = (down, up) else { continue };
        let step = up.mantissa() - down.mantissa();
        assert!(step == 0 || step == 1, "{one} / {other} at {scale}: {down} to {up}");
        let positive = one.is_negative() == other.is_negative();
        let (nearer, further) = if positive { (down, up) } else { (up, down) };
        assert_eq!((toward, away), (Some(nearer), Some(further)), "{one} / {other} at {scale}");
        assert!([even, half].iter().all(|near| *near == Some(down) || *near == Some(up)));
        if let (0, Some(product)) = (step, down.checked_mul(other)) {
            assert_eq!(product, one, "{one} / {other} at {scale} is said to be exact");
        }
    }
    if let (Some(a), Some(b)) = (one.narrow(), other.narrow()) {
        let narrow = |wide: Option<WideDecimal>| wide.and_then(WideDecimal::narrow);
        assert_eq!(a.checked_add(b), narrow(one.checked_add(other)));
        assert_eq!(a.checked_sub(b), narrow(one.checked_sub(other)));
        assert_eq!(a.cmp(&b), one.cmp(&other));
        if let Some(product) = a.checked_mul(b) {
            assert_eq!(one.checked_mul(other), Some(product.wide()));
        }
        for scale in 0..=Decimal::MAX_SCALE {
            let rounded = a.round(scale, Rounding::TowardZero);
            if let Some(exact) = a.rescale(scale) {
                assert_eq!(rounded, Some(exact));
            }
        }
    }
}

/// Two timestamps and the time between them.
fn apart(one: UtcTimestamp, other: UtcTimestamp) {
    let nanos = one.nanos_since(other);
    assert_eq!(other.nanos_since(one), -nanos);
    // A leap second is the second after it.
    assert!(
        nanos == 0 || (nanos > 0) == (one > other) || one.time().second().max(other.time().second()) == 60
    );
    if let (Some(a), Some(b)) = (one.to_unix_time(), other.to_unix_time()) {
        assert_eq!(a.as_nanos() as i128 - b.as_nanos() as i128, nanos);
        let again = UtcTimestamp::from_unix_time(a, Precision::Nanos);
        assert_eq!(again.and_then(UtcTimestamp::to_unix_time).unwrap_or(a), a);
    }
}

/// Decimals and binary fractions: the nearest one is that of the standard library, and the way back
/// is the shortest or exact.
fn binary(data: &[u8]) {
    if let Ok(wide) = WideDecimal::parse(data) {
        let text = std::str::from_utf8(data).expect("digits");
        let nearest: f64 = text.parse().expect("a number");
        // Zero has no sign here.
        assert!(wide.to_f64() == nearest, "{text}: {} is not {nearest}", wide.to_f64());
        assert_eq!(wide.to_f64_exact().is_some(), WideDecimal::from_f64_exact(nearest) == Some(wide));
        if let Some(narrow) = wide.narrow() {
            assert!(narrow.to_f64() == nearest, "{text}: {} is not {nearest}", narrow.to_f64());
        }
    }
    if let Ok(bytes) = <[u8; 8]>::try_from(data) {
        let number = f64::from_le_bytes(bytes);
        if let Some(short) = WideDecimal::from_f64(number) {
            assert!(short.to_f64() == number, "{number} comes back as {}", short.to_f64());
        }
        if let Some(exact) = WideDecimal::from_f64_exact(number) {
            assert_eq!(exact.to_f64_exact(), Some(number + 0.0), "{number}");
        }
    }
}

/// Written text is read back unchanged; text that was read is written so that it can be read again,
/// or refused.
fn encoded(encoding: Encoding, data: &[u8]) {
    let texts = [encoding.decode(data).ok(), std::str::from_utf8(data).ok().map(Into::into)];
    for text in texts.into_iter().flatten() {
        if let Ok(bytes) = encoding.encode(&text) {
            assert_eq!(
                encoding.decode(&bytes).as_ref(),
                Ok(&text),
                "{encoding} does not read back what it wrote"
            );
        }
    }
    if let (Encoding::Utf8 | Encoding::Iso8859_1, Ok(text)) = (encoding, encoding.decode(data)) {
        assert_eq!(encoding.encode(&text).as_deref(), Ok(data));
    }
}

/// Reads, writes, compares with the `normal` form of the bytes, and reads again.
fn exact<T: Debug + ToField + for<'a> FromField<'a>>(data: &[u8], normal: fn(&[u8]) -> Vec<u8>) {
    let Ok(value) = T::from_field(data) else { return };
    let mut out = [0xAA; 64];
    let length = value.write_to(&mut out);
    let written = &out[..length];
    assert!(
        length >= 1 && length <= T::MAX_LEN,
        "{value:?} takes {length} bytes, more than the stated maximum {}",
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
    assert_eq!(&twice[..again], written, "{value:?} changes when it is read and written again");
}

fn same(bytes: &[u8]) -> Vec<u8> {
    bytes.to_vec()
}

/// `-00` is written `+00`; the hyphen after a date is not an offset.
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

/// As an integer before the point, unchanged after it, without a bare point.
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
