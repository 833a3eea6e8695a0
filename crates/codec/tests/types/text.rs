//! char, Boolean, String, lists of them, and codes of other standards.

use fixbolt_codec::{
    Char, Country, Currency, Exchange, FromField, Language, MultipleCharValue, MultipleStringValue, Tenor,
    TenorUnit, Text, ValueError,
};

use super::{keeps, refuses, written};
use ValueError::Format;

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
    refuses::<&Text>(&[]);
    refuses::<&[u8]>(&[]);
    assert_eq!(<&[u8]>::from_field(b"a\x01b"), Ok(&b"a\x01b"[..]));
}

#[test]
fn text_is_read_as_str_if_it_is_utf_8_and_shown_in_any_encoding() {
    for (bytes, str, shown, debug) in [
        (&b"IBM"[..], Ok("IBM"), "IBM", r#""IBM""#),
        (b"caf\xC3\xA9", Ok("caf\u{e9}"), "caf\u{e9}", r#""caf\xc3\xa9""#),
        (b"caf\xE9 = x", Err(ValueError::Encoding), "caf\u{e9} = x", r#""caf\xe9 = x""#),
        (b"a\0\"b", Ok("a\0\"b"), "a\0\"b", r#""a\x00\"b""#),
    ] {
        let text = <&Text>::from_field(bytes).unwrap();
        assert_eq!(text.as_bytes(), bytes);
        assert_eq!(text.to_str(), str);
        assert_eq!((text.to_string(), format!("{text:?}")), (shown.into(), debug.into()));
    }
    assert_eq!(format!("{:>5}|{:<5}|", <&Text>::from("IBM"), <&Text>::from("IBM")), "  IBM|IBM  |");
    assert_eq!(ValueError::Encoding.session_reject_reason(), 6);
}

#[test]
fn text_compares_with_text_and_bytes_on_either_side() {
    let text = <&Text>::from_field(b"IBM").unwrap();
    let (str, bytes) = ("IBM", &b"IBM"[..]);
    for equal in [
        [text == str, str == text, *text == *str, *str == *text],
        [text == bytes, bytes == text, *text == *bytes, *bytes == *text],
        [text == b"IBM", b"IBM" == text, *text == *b"IBM", *b"IBM" == *text],
    ] {
        assert_eq!(equal, [true; 4]);
    }
    assert!(text != "IBM " && text != b"ibm" && "I" != text && text != &bytes[..2]);
    assert!(text == <&Text>::from(str) && text == <&Text>::from(bytes) && text == <&Text>::from(b"IBM"));
    // As bytes where bytes are wanted.
    let length: fn(&[u8]) -> usize = <[u8]>::len;
    assert_eq!((length(text), text.starts_with(b"IB"), text.as_ref()), (3, true, bytes));
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
