//! Values of fields with codes.

use fixbolt_messages::codec::{FromField, ValueError};
use fixbolt_messages::fix44::fields::{ExecInst, OrdRejReason, SecurityIDSource, SecurityType, Side};
use fixbolt_messages::typed::Code;
use fixbolt_messages::{fix42, fix44, fix50sp2};

#[test]
fn every_value_has_exactly_one_code() {
    for byte in 2..=255 {
        assert_eq!(Side::from_value(byte).value(), byte);
        assert_eq!(Side::from_field(&[byte]), Ok(Side::from_value(byte)));
    }
    assert_eq!(Side::from_field(b""), Err(ValueError::Empty));
    assert_eq!(Side::from_field(b"12"), Err(ValueError::Format));
    assert_eq!(Side::from_value(b'1'), Side::BUY);
    assert_ne!(Side::from_value(b'2'), Side::BUY);
    assert_eq!(SecurityType::from_value(b"SECPLEDGE"), SecurityType::SECURITIES_PLEDGE);
    assert_eq!(SecurityType::from_value(b"XYZ").value(), b"XYZ");
    assert_eq!(OrdRejReason::from_value(99), OrdRejReason::OTHER);
    assert_eq!(OrdRejReason::from_field(b"-4711").map(OrdRejReason::value), Ok(-4711));
    assert_eq!(OrdRejReason::from_field(b"A"), Err(ValueError::Format));
}

#[test]
fn a_code_is_a_constant_and_a_pattern_of_every_kind_of_value() {
    const BUY: Side = Side::from_value(b'1');
    const BYTE: u8 = Side::BUY.value();
    assert_eq!((BUY, BYTE), (Side::BUY, b'1'));

    fn name(side: Side, reason: OrdRejReason, source: SecurityIDSource<'_>) -> &'static str {
        match (side, reason, source) {
            (Side::BUY, OrdRejReason::UNKNOWN_SYMBOL, SecurityIDSource::CUSIP) => "all three",
            (Side::SELL | Side::SELL_SHORT, ..) => "sells",
            (_, _, SecurityIDSource::ISIN_NUMBER) => "ISIN",
            _ => "others",
        }
    }
    // A source that is not 'static.
    let [cusip, isin] = [String::from("1"), String::from("4")];
    let of = |text| SecurityIDSource::from_value(str::as_bytes(text));
    assert_eq!(name(Side::BUY, OrdRejReason::from_value(1), of(&cusip)), "all three");
    assert_eq!(name(Side::from_value(b'5'), OrdRejReason::OTHER, of(&cusip)), "sells");
    assert_eq!(name(Side::BUY, OrdRejReason::OTHER, of(&isin)), "ISIN");
    assert_eq!(name(Side::from_value(b'Z'), OrdRejReason::OTHER, of("Z")), "others");
}

#[test]
fn a_known_code_shows_its_name_and_any_other_its_value() {
    assert_eq!(Side::SELL_SHORT_EXEMPT.name(), Some("SellShortExempt"));
    assert_eq!(format!("{:?}", Side::SELL_SHORT_EXEMPT), "SellShortExempt");
    assert_eq!(Side::from_value(b'Z').name(), None);
    assert_eq!(format!("{:?}", Side::from_value(b'Z')), "Side('Z')");
    assert_eq!(format!("{:?}", Side::from_value(b'\xe9')), "Side('\\xe9')");
    assert_eq!(format!("{:?}", OrdRejReason::UNKNOWN_SYMBOL), "UnknownSymbol");
    assert_eq!(format!("{:?}", OrdRejReason::from_value(-7)), "OrdRejReason(-7)");
    assert_eq!(format!("{:?}", ExecInst::from_value(b"a\"b")), r#"ExecInst("a\"b")"#);
    assert_eq!(SecurityIDSource::from_value(b"4").name(), Some("ISINNumber"));
}

#[test]
fn a_code_converts_into_the_set_of_another_version() {
    // The sets differ: a later version has more sides, and a field has another name or type.
    let side: fix50sp2::fields::Side = Side::SELL_SHORT.convert();
    assert_eq!(side, fix50sp2::fields::Side::SELL_SHORT);
    assert_eq!(fix50sp2::fields::Side::from_value(b'H').convert::<Side>().value(), b'H');
    let source: fix42::fields::IDSource<'_> = SecurityIDSource::CUSIP.convert();
    assert_eq!(source.value(), b"1");
    let settl_type: fix50sp2::fields::SettlType<'_> = fix44::fields::SettlType::CASH.convert();
    assert_eq!(settl_type, fix50sp2::fields::SettlType::CASH);
    // A value that may be too long is read.
    assert_eq!(fix44::fields::SettlType::from_field(settl_type.value()), Ok(fix44::fields::SettlType::CASH));
    assert_eq!(fix44::fields::SettlType::from_field(b"M3"), Err(ValueError::Format));
}

#[test]
fn code_over_any_set_is_one_trait() {
    fn values<C: Code>(codes: &[C]) -> Vec<C::Value> {
        codes.iter().map(|code| code.value()).collect()
    }
    assert_eq!(values(&[Side::BUY, Side::SELL]), [b'1', b'2']);
    assert_eq!(values(&[ExecInst::HELD]), [b"5"]);
}
