//! Every written value is read back, and no bytes make a reader panic.

use fixbolt_codec::{
    Char, Country, Currency, Date, DayOfMonth, Decimal, Digits, Exchange, FromField, Language, Length,
    LocalMktTime, MonthYear, MonthYearPart, MultipleCharValue, MultipleStringValue, NumInGroup, Precision,
    Rounding, SeqNum, Tag, Tenor, TenorUnit, Text, ToField, TzTimeOnly, TzTimestamp, UtcTimeOnly,
    UtcTimestamp, ValueError, WideDecimal, ZoneOffset,
};
use proptest::prelude::*;
use std::fmt::Debug;

use super::{hash, written};
use ValueError::Empty;

/// Reading a written value returns the value; reading canonical text and writing it returns the
/// text.
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
    fn wide_division_undoes_multiplication(
        one in any::<i128>(), other in any::<i128>(), shifts in (0_u32..127, 0_u32..127), scales in (0..20_u8, 0..19_u8),
    ) {
        let one = WideDecimal::from_parts(one >> shifts.0, scales.0);
        let other = WideDecimal::from_parts(other >> shifts.1, scales.1);
        if let Some(product) = one.checked_mul(other)
            && !other.is_zero()
        {
            for rounding in [Rounding::HalfEven, Rounding::AwayFromZero, Rounding::Down] {
                let back = product.checked_div(other, scales.0, rounding);
                prop_assert_eq!(back.map(|back| (back.mantissa(), back.scale())), Some((one.mantissa(), scales.0)));
            }
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
            prop_assert_eq!(value.to_unix_time(), Some(std::time::Duration::from_nanos(nanos)));
        }
    }

    #[test]
    fn moments_differ_as_their_numbers(one in any::<u64>(), other in any::<u64>()) {
        let read = |nanos| UtcTimestamp::from_unix_nanos(nanos, Precision::Nanos);
        prop_assert_eq!(read(one).nanos_since(read(other)), i128::from(one) - i128::from(other));
        prop_assert_eq!(read(one).cmp(&read(other)), one.cmp(&other));
    }

    #[test]
    fn a_zoned_moment_comes_back_and_is_its_utc(nanos in 1_000_000_000_000_000..u64::MAX / 2, minutes in -899..=899_i16) {
        let zone = ZoneOffset::Minutes(minutes);
        let utc = UtcTimestamp::from_unix_nanos(nanos, Precision::Nanos);
        let local = UtcTimestamp::from_unix_nanos(
            nanos.checked_add_signed(i64::from(minutes) * 60_000_000_000).unwrap(), Precision::Nanos,
        );
        let (date, time) = (local.date(), local.time());
        let time_only = TzTimeOnly::new(time.hour(), time.minute(), Some(time.second()), zone).unwrap();
        round_trip(&time_only)?;
        let moment = TzTimestamp::new(date, time_only).with_fraction(time.picoseconds(), Precision::Nanos).unwrap();
        round_trip(&moment)?;
        prop_assert_eq!(moment.to_utc(), Some(utc));
    }

    #[test]
    fn months_tenors_and_codes_come_back(
        (year, month, day) in (0..=9999_u16, 1..=12_u8, 1..=31_u8), count in 1..u32::MAX, letters in "[A-Z]{3}",
    ) {
        use MonthYearPart::{Day, Month, Week};
        for part in [Month, Day(day), Week(day % 5 + 1)] {
            round_trip(&MonthYear::new(year, month, part).unwrap())?;
        }
        if let Some(date) = Date::new(year, month, day) {
            round_trip(&date)?;
        }
        for unit in [TenorUnit::Days, TenorUnit::Weeks, TenorUnit::Months, TenorUnit::Years] {
            round_trip(&Tenor::new(unit, count).unwrap())?;
        }
        round_trip(&Currency::new(&letters).unwrap())?;
        round_trip(&Country::new(&letters[..2]).unwrap())?;
        round_trip(&Language::new(&letters[1..]).unwrap())?;
        round_trip(&DayOfMonth::new(day).unwrap())?;
        round_trip(&Length::new(count).unwrap())?;
        round_trip(&NumInGroup(count))?;
        round_trip(&Tag::new(count >> 1 | 1))?;
        round_trip(&LocalMktTime::new(day % 24, day, month).unwrap())?;
        round_trip(&Char(b' ' + day))?;
        round_trip(&(count % 2 == 0))?;
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
        read::<&Text>(&bytes);
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
