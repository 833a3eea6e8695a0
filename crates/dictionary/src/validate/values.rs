//! Checks that a value has its type and is one of its codes.
//!
//! Types are read by the codec's parsers, so that what is accepted here can be read. A valid value
//! that is too long for a [`Decimal`] is accepted, as crypto venues send 18 decimals and more.

use fixbolt_codec::{
    Char, Country, Currency, Date, DayOfMonth, Decimal, FromField, Language, Length, LocalMktTime, MonthYear,
    MultipleCharValue, MultipleStringValue, NumInGroup, SeqNum, Tag, Tenor, TzTimeOnly, TzTimestamp,
    UtcTimeOnly, UtcTimestamp, ValueError,
};

use super::look::Word;
use super::policy::TypeRules;
use crate::data_type::{DataType, UnionType};
use crate::model::{CodeSet, in_order};

/// Checks a non-empty value against the type of its field.
// R-REJECT-11
pub(crate) fn check_type(kind: DataType, tag: u32, value: &[u8], rules: TypeRules) -> Result<(), ValueError> {
    if rules == TypeRules::QuickFix {
        match kind {
            DataType::SeqNum | DataType::Length => return read::<i64>(value),
            DataType::LocalMktTime
            | DataType::LocalMktDate
            | DataType::TzTimeOnly
            | DataType::TzTimestamp
            | DataType::MonthYear
            | DataType::DayOfMonth
            | DataType::Country
            | DataType::Currency
            | DataType::Language
            | DataType::TagNum
            | DataType::Tenor
            | DataType::MultipleValueString
            | DataType::MultipleCharValue
            | DataType::MultipleStringValue => return Ok(()),
            _ => {}
        }
    }
    match kind {
        DataType::Int => read::<i64>(value),
        DataType::Length => read::<Length>(value),
        DataType::TagNum => read::<Tag>(value),
        DataType::SeqNum => match SeqNum::from_field(value)? {
            SeqNum::ZERO if !may_be_zero(tag) => Err(ValueError::OutOfRange),
            _ => Ok(()),
        },
        DataType::NumInGroup => read::<NumInGroup>(value),
        DataType::DayOfMonth => read::<DayOfMonth>(value),
        DataType::Float
        | DataType::Qty
        | DataType::Price
        | DataType::PriceOffset
        | DataType::Amt
        | DataType::Percentage => match Decimal::parse(value) {
            Ok(_) | Err(ValueError::OutOfRange) => Ok(()),
            Err(error) => Err(error),
        },
        DataType::Char => read::<Char>(value),
        DataType::Boolean => read::<bool>(value),
        DataType::MultipleValueString | DataType::MultipleStringValue => {
            read::<MultipleStringValue<'_>>(value)
        }
        DataType::MultipleCharValue => read::<MultipleCharValue<'_>>(value),
        DataType::Country => read::<Country>(value),
        DataType::Currency => read::<Currency>(value),
        DataType::Language => read::<Language>(value),
        DataType::MonthYear => read::<MonthYear>(value),
        DataType::UtcTimestamp => read::<UtcTimestamp>(value),
        DataType::UtcTimeOnly => read::<UtcTimeOnly>(value),
        DataType::UtcDateOnly | DataType::LocalMktDate => read::<Date>(value),
        DataType::LocalMktTime => read::<LocalMktTime>(value),
        DataType::TzTimeOnly => read::<TzTimeOnly>(value),
        DataType::TzTimestamp => read::<TzTimestamp>(value),
        DataType::Tenor => read::<Tenor>(value),
        // Any bytes: the index has checked delimiters and lengths.
        DataType::String
        | DataType::Exchange
        | DataType::Data
        | DataType::XmlData
        | DataType::Xid
        | DataType::XidRef => Ok(()),
    }
}

/// Returns whether [`check_type`] accepts every value.
pub(crate) const fn takes_any_value(kind: DataType) -> bool {
    use DataType::{Data, Exchange, String, Xid, XidRef, XmlData};
    matches!(kind, String | Exchange | Data | XmlData | Xid | XidRef)
}

#[inline]
fn read<'m, T: FromField<'m>>(value: &'m [u8]) -> Result<(), ValueError> {
    T::from_field(value).map(|_| ())
}

/// Sequence numbers that may be 0: EndSeqNo ("to infinity"), LastMsgSeqNumProcessed (none yet), and
/// MsgSeqNum, which the session checks.
const fn may_be_zero(tag: u32) -> bool {
    matches!(tag, 16 | 34 | 369)
}

/// The codes of a code set, ready for look-up: a bit for each code of one byte, those of two to
/// seven bytes as numbers in a hash table, longer ones as bytes, sorted.
#[derive(Clone)]
pub(crate) struct CodeTable {
    one_byte: [u64; 4],
    /// A power of two of places, of which at most half are taken; 0 is free. A code is at the place
    /// of its [`hash`](CodeTable::hash), or after it if that was taken.
    words: Vec<u64>,
    longer: Vec<Box<[u8]>>,
    /// SettlLocation of FIX 4.2 has "ISO Country Code" among its codes and means any of them.
    any_country: bool,
}

impl CodeTable {
    pub(crate) fn new(set: &CodeSet) -> CodeTable {
        let mut table =
            CodeTable { one_byte: [0; 4], words: Vec::new(), longer: Vec::new(), any_country: false };
        let mut words = Vec::new();
        for code in &set.codes {
            match code.value.as_bytes() {
                [byte] => table.one_byte[usize::from(byte >> 6)] |= 1 << (byte & 63),
                b"ISO Country Code" => table.any_country = true,
                short if short.len() <= 7 => words.push(identity_of(short)),
                longer => table.longer.push(longer.into()),
            }
        }
        table.longer = in_order(table.longer, &|one, other| one.cmp(other));
        if !words.is_empty() {
            table.words = vec![0; (2 * words.len()).next_power_of_two()];
            words.into_iter().for_each(|word| table.insert(word));
        }
        table
    }

    fn insert(&mut self, word: u64) {
        let mut at = self.hash(word);
        while self.words[at] != 0 && self.words[at] != word {
            at = (at + 1) % self.words.len();
        }
        self.words[at] = word;
    }

    /// Returns a place below the length of the table, which must not be empty.
    #[inline]
    fn hash(&self, word: u64) -> usize {
        let spread = word.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        spread as usize & (self.words.len() - 1)
    }

    #[inline]
    fn has(&self, word: u64) -> bool {
        if self.words.is_empty() {
            return false;
        }
        let mut at = self.hash(word);
        loop {
            match self.words.get(at) {
                Some(&found) if found == word => return true,
                Some(0) | None => return false,
                Some(_) => at = (at + 1) & (self.words.len() - 1),
            }
        }
    }

    /// Returns whether this byte is a code.
    #[inline]
    pub(crate) fn has_byte(&self, byte: u8) -> bool {
        self.one_byte[usize::from(byte >> 6)] >> (byte & 63) & 1 != 0
    }

    /// Returns the codes among 64 bytes, as bits: the lowest is that of `first`.
    pub(crate) fn bytes_from(&self, first: u8) -> u64 {
        (0..64).filter(|bit| self.has_byte(first + bit)).fold(0, |codes, bit| codes | 1 << bit)
    }

    /// Returns whether a value of two to seven bytes is a code.
    #[inline]
    pub(crate) fn has_word(&self, word: Word) -> bool {
        matches!(word.length, 2..=7) && identity(word).is_some_and(|word| self.has(word))
    }

    /// Returns whether every code of one byte is of this type, by all rules.
    pub(crate) fn bytes_are(&self, kind: DataType, tag: u32) -> bool {
        (0..=u8::MAX).filter(|byte| self.has_byte(*byte)).all(|byte| {
            [TypeRules::Standard, TypeRules::QuickFix]
                .into_iter()
                .all(|rules| check_type(kind, tag, &[byte], rules).is_ok())
        })
    }

    /// Returns whether `value` is a code, or accepted by `union`.
    #[inline]
    pub(crate) fn admits(&self, value: &[u8], union: Option<UnionType>) -> bool {
        let is_code = match value {
            [byte] => self.has_byte(*byte),
            short if short.len() <= 7 => self.has(identity_of(short)),
            longer => self.longer.binary_search_by(|code| (**code).cmp(longer)).is_ok(),
        };
        is_code || self.admits_beside(value, union)
    }

    #[cold]
    fn admits_beside(&self, value: &[u8], union: Option<UnionType>) -> bool {
        if self.any_country && Country::from_field(value).is_ok() {
            return true;
        }
        match union {
            None => false,
            Some(union) => in_union(union, value).is_ok(),
        }
    }
}

/// Returns a number that no other value has, and that is not 0, if there is one: the length + 1
/// after a value of up to seven bytes, at most 8, and any other byte at the end of one of eight.
#[inline]
pub(crate) const fn identity(word: Word) -> Option<u64> {
    match word.length {
        0..=7 => Some(word.bytes | (word.length as u64 + 1) << 56),
        8 if word.bytes >> 56 > 8 => Some(word.bytes),
        _ => None,
    }
}

fn identity_of(bytes: &[u8]) -> u64 {
    let number = bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
    number | (bytes.len() as u64 + 1) << 56
}

/// Returns whether a union type accepts `value`.
pub(crate) fn in_union(union: UnionType, value: &[u8]) -> Result<(), ValueError> {
    let at_least = |least: i64| match i64::from_field(value)? {
        number if number >= least => Ok(()),
        _ => Err(ValueError::OutOfRange),
    };
    match union {
        UnionType::Reserved100Plus => at_least(100),
        UnionType::Reserved1000Plus => at_least(1000),
        UnionType::Reserved4000Plus => at_least(4000),
        UnionType::Tenor => read::<Tenor>(value),
        UnionType::Qty => check_type(DataType::Qty, 0, value, TypeRules::Standard),
        UnionType::AnyValue => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Code;

    fn table(values: &[&str]) -> CodeTable {
        let codes = values
            .iter()
            .map(|value| Code { value: (*value).to_string(), name: (*value).to_string() })
            .collect();
        CodeTable::new(&CodeSet { name: "S".to_string(), codes })
    }

    /// What the specification's table of types accepts, and the reasons for refusing the rest.
    #[test]
    fn values_are_accepted_and_refused_as_the_table_of_types_says() {
        use DataType::*;
        let accepted: &[(DataType, &[&str])] = &[
            (Int, &["0", "23", "00023", "-723", "-0"]),
            (Length, &["5", "005"]),
            (TagNum, &["35"]),
            (SeqNum, &["1", "007"]),
            (NumInGroup, &["2", "02", "0"]),
            (DayOfMonth, &["5", "05", "31"]),
            (Float, &["23", "23.", "23.0", "00023.23", "-.5", ".5"]),
            (Price, &["101.25", "-0.0025", "0.123456789012345678901234567890"]),
            (Char, &["A", " "]),
            (Boolean, &["Y", "N"]),
            (MultipleValueString, &["2 9 C"]),
            (MultipleCharValue, &["2 A F"]),
            (MultipleStringValue, &["AV AN A"]),
            (Country, &["DE"]),
            (Currency, &["EUR"]),
            (Exchange, &["XLON", "N"]),
            (Language, &["en"]),
            (MonthYear, &["200303", "20030320", "200303w2"]),
            (UtcTimestamp, &["20240229-23:59:59", "20240229-23:59:59.123456789", "20161231-23:59:60"]),
            (UtcTimeOnly, &["13:20:00.123"]),
            (UtcDateOnly, &["20240229"]),
            (LocalMktDate, &["20150724"]),
            (LocalMktTime, &["07:00:00"]),
            (TzTimeOnly, &["07:39Z", "02:39-05", "13:09+05:30"]),
            (TzTimestamp, &["20060901-07:39Z", "20060901-13:09:00.250+05:30"]),
            (Tenor, &["D5", "M3", "W13", "Y1"]),
        ];
        for (kind, values) in accepted {
            for value in *values {
                assert_eq!(
                    check_type(*kind, 1, value.as_bytes(), TypeRules::Standard),
                    Ok(()),
                    "{kind} {value}"
                );
            }
        }
        let refused: &[(DataType, &[&str], u16)] = &[
            (Int, &["+5", "1.0", "1e3", " 7", "0x1", "99999999999999999999"], 6),
            (Length, &["-1", "1.5"], 6),
            (Length, &["0"], 5),
            (TagNum, &["035", "0", "-1"], 6),
            (SeqNum, &["-3"], 6),
            (SeqNum, &["0"], 5),
            (DayOfMonth, &["0", "32"], 5),
            (Float, &["+1.5", "1,000.0", "1e5", "NaN", ".", "-"], 6),
            (Char, &["AB"], 6),
            (Boolean, &["y", "1", "true"], 6),
            (MultipleValueString, &["2  9", " 2", "2 "], 6),
            (MultipleCharValue, &["2A", "2  A"], 6),
            (Country, &["DEU", "de"], 6),
            (Currency, &["EURO"], 6),
            (Language, &["eng"], 6),
            (MonthYear, &["200313", "200303w6", "2003-03"], 6),
            (UtcTimestamp, &["20230229-00:00:00", "20240229-24:00:00", "2024-02-29", "20240229T23:59:59"], 6),
            (UtcTimeOnly, &["13:20", "25:00:00"], 6),
            (UtcDateOnly, &["20230229", "2024022"], 6),
            (LocalMktTime, &["07:00"], 6),
            (TzTimeOnly, &["7:39Z"], 6),
            (Tenor, &["D0", "5D"], 6),
        ];
        for (kind, values, reason) in refused {
            for value in *values {
                let error = check_type(*kind, 1, value.as_bytes(), TypeRules::Standard).expect_err(value);
                assert_eq!(error.session_reject_reason(), *reason, "{kind} {value}");
            }
        }
        assert_eq!(check_type(SeqNum, 16, b"0", TypeRules::Standard), Ok(()));
    }

    #[test]
    fn quickfix_leaves_types_open_that_it_does_not_know() {
        for (kind, value) in
            [(DataType::Currency, "EURO"), (DataType::MonthYear, "2003-03"), (DataType::SeqNum, "0")]
        {
            assert_eq!(check_type(kind, 1, value.as_bytes(), TypeRules::QuickFix), Ok(()), "{kind}");
        }
        assert!(check_type(DataType::Qty, 38, b"+200.00", TypeRules::QuickFix).is_err());
    }

    /// The page's sentence has a word for each of them.
    #[test]
    fn the_page_lists_every_type_that_quickfix_leaves_open() {
        use DataType::*;
        let page = include_str!("../../../../docs/validation.md").replace('\n', " ");
        let (_, sentence) = page.split_once("Both skip the types that those engines do not check: ").unwrap();
        let (skipped, rest) = sentence.split_once(". ").unwrap();
        let mut words: Vec<&str> = skipped.split(", ").collect();
        for (word, kinds) in [
            ("times and timestamps with a time zone", &[TzTimeOnly, TzTimestamp][..]),
            ("local times and dates", &[LocalMktTime, LocalMktDate]),
            ("months", &[MonthYear]),
            ("days of a month", &[DayOfMonth]),
            ("tenors", &[Tenor]),
            ("countries", &[Country]),
            ("currencies", &[Currency]),
            ("languages", &[Language]),
            ("tags", &[TagNum]),
            ("lists", &[MultipleValueString, MultipleCharValue, MultipleStringValue]),
        ] {
            words.retain(|listed| *listed != word);
            assert!(skipped.contains(word), "{word}: {skipped}");
            for kind in kinds {
                assert!(check_type(*kind, 1, b"  -", TypeRules::Standard).is_err(), "{kind}");
                assert_eq!(check_type(*kind, 1, b"  -", TypeRules::QuickFix), Ok(()), "{kind}");
            }
        }
        assert_eq!(words, [""; 0]);
        assert!(rest.starts_with("A sequence number or a length may be any whole number."), "{rest}");
        for kind in [SeqNum, Length] {
            assert!(check_type(kind, 1, b"-1", TypeRules::Standard).is_err(), "{kind}");
            assert_eq!(check_type(kind, 1, b"-1", TypeRules::QuickFix), Ok(()), "{kind}");
            assert!(check_type(kind, 1, b"x", TypeRules::QuickFix).is_err(), "{kind}");
        }
        for kind in [Int, NumInGroup, Qty, Char, Boolean, UtcTimestamp, UtcTimeOnly, UtcDateOnly] {
            assert!(check_type(kind, 1, b"  -", TypeRules::QuickFix).is_err(), "{kind}");
        }
    }

    #[test]
    fn codes_are_compared_as_bytes_and_unions_admit_more() {
        let codes = table(&["1", "2", "99", "OPT", "SECPLEDGE"]);
        for (value, union, admitted) in [
            ("1", None, true),
            ("01", None, false),
            ("SECPLEDGE", None, true),
            ("SECPLEDG", None, false),
            ("\0\x31", None, false),
            ("OPT", None, true),
            ("OPTS", None, false),
            ("\0OPT", None, false),
            ("3", None, false),
            ("100", Some(UnionType::Reserved100Plus), true),
            ("50", Some(UnionType::Reserved100Plus), false),
            ("999", Some(UnionType::Reserved1000Plus), false),
            ("4000", Some(UnionType::Reserved4000Plus), true),
            ("M3", Some(UnionType::Tenor), true),
            ("3M", Some(UnionType::Tenor), false),
            ("1000.5", Some(UnionType::Qty), true),
            ("X", Some(UnionType::Qty), false),
            ("X", Some(UnionType::AnyValue), true),
        ] {
            assert_eq!(codes.admits(value.as_bytes(), union), admitted, "{value} {union:?}");
        }
    }

    #[test]
    fn a_code_set_that_lists_iso_country_code_admits_countries() {
        let codes = table(&["CED", "ISO Country Code"]);
        assert!(codes.admits(b"DE", None));
        assert!(!codes.admits(b"de", None));
        assert!(!codes.admits(b"ISO Country Code", None));
    }
}
