//! The data types of FIX 4.0 to FIX Latest, one name each.
//!
//! Dialects spell the same type in different ways (`UTCTIMESTAMP`, `UTCTimestamp`, `TIME`), which
//! are unified here. Whether bytes are a valid value of a type is left to validation.

use std::fmt;

/// A FIX data type. Names are those of FIX Orchestra.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DataType {
    /// Signed whole number.
    Int,
    /// Number of bytes of the data field that follows; greater than zero.
    Length,
    /// A field's tag number.
    TagNum,
    /// Message sequence number, greater than zero.
    SeqNum,
    /// Number of entries of a repeating group.
    NumInGroup,
    /// Day of a month, 1 to 31.
    DayOfMonth,
    /// Decimal number.
    Float,
    /// Quantity.
    Qty,
    /// Price, which may be negative.
    Price,
    /// Difference from a price.
    PriceOffset,
    /// Amount of money.
    Amt,
    /// Percentage; 0.05 is 5 %.
    Percentage,
    /// Exactly one byte.
    Char,
    /// `Y` or `N`.
    Boolean,
    /// One byte or more.
    String,
    /// Tokens of one or more bytes separated by one space (FIX 4.2 to 4.4).
    MultipleValueString,
    /// One-byte tokens separated by one space.
    MultipleCharValue,
    /// Tokens separated by one space.
    MultipleStringValue,
    /// ISO 3166-1 alpha-2 country code.
    Country,
    /// ISO 4217 currency code.
    Currency,
    /// Market or exchange code (ISO 10383 from FIX 4.3 on).
    Exchange,
    /// ISO 639-1 language code.
    Language,
    /// `YYYYMM`, `YYYYMMDD` or `YYYYMMwN`.
    MonthYear,
    /// Date and time in UTC.
    UtcTimestamp,
    /// Time of day in UTC.
    UtcTimeOnly,
    /// Date in UTC (`UTCDate` in FIX 4.2 and 4.3).
    UtcDateOnly,
    /// Date in a market's own time zone.
    LocalMktDate,
    /// Time of day in a market's own time zone.
    LocalMktTime,
    /// Time of day with an offset from UTC.
    TzTimeOnly,
    /// Date and time with an offset from UTC.
    TzTimestamp,
    /// Raw bytes, preceded by their length.
    Data,
    /// An XML document as raw bytes, preceded by their length.
    XmlData,
    /// Identifier, unique within a message.
    Xid,
    /// Reference to an identifier in the same message.
    XidRef,
    /// A term such as `D5`, `M3`, `W13`, `Y1`.
    Tenor,
}

impl DataType {
    /// Every type, in the order of the enum.
    pub const ALL: [DataType; 35] = {
        use DataType::*;
        [
            Int,
            Length,
            TagNum,
            SeqNum,
            NumInGroup,
            DayOfMonth,
            Float,
            Qty,
            Price,
            PriceOffset,
            Amt,
            Percentage,
            Char,
            Boolean,
            String,
            MultipleValueString,
            MultipleCharValue,
            MultipleStringValue,
            Country,
            Currency,
            Exchange,
            Language,
            MonthYear,
            UtcTimestamp,
            UtcTimeOnly,
            UtcDateOnly,
            LocalMktDate,
            LocalMktTime,
            TzTimeOnly,
            TzTimestamp,
            Data,
            XmlData,
            Xid,
            XidRef,
            Tenor,
        ]
    };

    /// Returns the type's name in FIX Orchestra.
    pub const fn name(self) -> &'static str {
        match self {
            DataType::Int => "int",
            DataType::Length => "Length",
            DataType::TagNum => "TagNum",
            DataType::SeqNum => "SeqNum",
            DataType::NumInGroup => "NumInGroup",
            DataType::DayOfMonth => "DayOfMonth",
            DataType::Float => "float",
            DataType::Qty => "Qty",
            DataType::Price => "Price",
            DataType::PriceOffset => "PriceOffset",
            DataType::Amt => "Amt",
            DataType::Percentage => "Percentage",
            DataType::Char => "char",
            DataType::Boolean => "Boolean",
            DataType::String => "String",
            DataType::MultipleValueString => "MultipleValueString",
            DataType::MultipleCharValue => "MultipleCharValue",
            DataType::MultipleStringValue => "MultipleStringValue",
            DataType::Country => "Country",
            DataType::Currency => "Currency",
            DataType::Exchange => "Exchange",
            DataType::Language => "Language",
            DataType::MonthYear => "MonthYear",
            DataType::UtcTimestamp => "UTCTimestamp",
            DataType::UtcTimeOnly => "UTCTimeOnly",
            DataType::UtcDateOnly => "UTCDateOnly",
            DataType::LocalMktDate => "LocalMktDate",
            DataType::LocalMktTime => "LocalMktTime",
            DataType::TzTimeOnly => "TZTimeOnly",
            DataType::TzTimestamp => "TZTimestamp",
            DataType::Data => "data",
            DataType::XmlData => "XMLData",
            DataType::Xid => "XID",
            DataType::XidRef => "XIDREF",
            DataType::Tenor => "Tenor",
        }
    }

    /// Returns the type that a dialect calls `name`, in any case: Orchestra's names, QuickFIX's,
    /// and spellings of older files (`TIME`, `DATE`, `UTCDATE`, `QUANTITY`, `MONTH-YEAR`,
    /// `DAY-OF-MONTH`).
    pub fn from_name(name: &str) -> Option<DataType> {
        DataType::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name)).or_else(|| {
            const OLDER: [(&str, DataType); 6] = [
                ("TIME", DataType::UtcTimestamp),
                ("DATE", DataType::LocalMktDate),
                ("UTCDATE", DataType::UtcDateOnly),
                ("QUANTITY", DataType::Qty),
                ("MONTH-YEAR", DataType::MonthYear),
                ("DAY-OF-MONTH", DataType::DayOfMonth),
            ];
            OLDER.into_iter().find(|(older, _)| older.eq_ignore_ascii_case(name)).map(|(_, kind)| kind)
        })
    }

    /// Returns whether values are raw bytes that may contain the field delimiter, so that a length
    /// field precedes them.
    pub const fn is_data(self) -> bool {
        matches!(self, DataType::Data | DataType::XmlData)
    }

    /// Returns whether a value is a list of tokens separated by one space.
    pub const fn is_multiple(self) -> bool {
        matches!(
            self,
            DataType::MultipleValueString | DataType::MultipleCharValue | DataType::MultipleStringValue
        )
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The values that a field accepts in addition to its codes (Orchestra's `unionDataType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UnionType {
    /// Whole numbers of 100 and more, for bilateral use.
    Reserved100Plus,
    /// Whole numbers of 1000 and more, for bilateral use.
    Reserved1000Plus,
    /// Whole numbers of 4000 and more, for bilateral use.
    Reserved4000Plus,
    /// A term such as `M3`.
    Tenor,
    /// A quantity.
    Qty,
    /// Any value of the field's type (QuickFIX/J's `allowOtherValues`).
    AnyValue,
}

impl UnionType {
    const ALL: [UnionType; 6] = [
        UnionType::Reserved100Plus,
        UnionType::Reserved1000Plus,
        UnionType::Reserved4000Plus,
        UnionType::Tenor,
        UnionType::Qty,
        UnionType::AnyValue,
    ];

    /// Returns the name in FIX Orchestra (`AnyValue` is ours).
    pub const fn name(self) -> &'static str {
        match self {
            UnionType::Reserved100Plus => "Reserved100Plus",
            UnionType::Reserved1000Plus => "Reserved1000Plus",
            UnionType::Reserved4000Plus => "Reserved4000Plus",
            UnionType::Tenor => "Tenor",
            UnionType::Qty => "Qty",
            UnionType::AnyValue => "AnyValue",
        }
    }

    /// Returns the union type called `name`.
    pub fn from_name(name: &str) -> Option<UnionType> {
        UnionType::ALL.into_iter().find(|union| union.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_found_by_its_own_name_in_any_case() {
        for kind in DataType::ALL {
            assert_eq!(DataType::from_name(kind.name()), Some(kind));
            assert_eq!(DataType::from_name(&kind.name().to_uppercase()), Some(kind));
        }
        for union in UnionType::ALL {
            assert_eq!(UnionType::from_name(union.name()), Some(union));
        }
    }

    #[test]
    fn older_type_names_are_understood_and_unknown_ones_are_not() {
        assert_eq!(DataType::from_name("TIME"), Some(DataType::UtcTimestamp));
        assert_eq!(DataType::from_name("UTCDATE"), Some(DataType::UtcDateOnly));
        assert_eq!(DataType::from_name("QUANTITY"), Some(DataType::Qty));
        assert_eq!(DataType::from_name("PRICELESS"), None);
    }
}
