//! Values of any message, converted to the types that a dictionary gives their fields.

use fixbolt_codec::{
    BodyWriter, Date, Decimal, Digits, FromField, Key, MonthYear, MsgType, UtcTimeOnly, UtcTimestamp,
};
use fixbolt_dictionary::{DataType, Dictionary};

/// A value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value<'m> {
    /// Text, codes, and what has no type of its own here.
    Text(&'m [u8]),
    /// Int, Length, SeqNum, NumInGroup and the like.
    Number(i64),
    /// Qty, Price, Amt and the like.
    Decimal(Decimal),
    /// Qty, Price, Amt and the like, with more digits than a [`Decimal`] has.
    Digits(Digits<'m>),
    /// Char.
    Char(u8),
    /// Boolean.
    Flag(bool),
    /// UTCTimestamp.
    Timestamp(UtcTimestamp),
    /// UTCTimeOnly.
    Time(UtcTimeOnly),
    /// UTCDateOnly and LocalMktDate.
    Date(Date),
    /// MonthYear.
    MonthYear(MonthYear),
}

/// What a value is converted to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Text,
    Number,
    Decimal,
    Char,
    Flag,
    Timestamp,
    Time,
    Date,
    MonthYear,
}

impl Kind {
    const fn of(data_type: DataType) -> Self {
        use DataType as D;
        match data_type {
            D::Int | D::Length | D::TagNum | D::SeqNum | D::NumInGroup | D::DayOfMonth => Self::Number,
            D::Float | D::Qty | D::Price | D::PriceOffset | D::Amt | D::Percentage => Self::Decimal,
            D::Char => Self::Char,
            D::Boolean => Self::Flag,
            D::UtcTimestamp => Self::Timestamp,
            D::UtcTimeOnly => Self::Time,
            D::UtcDateOnly | D::LocalMktDate => Self::Date,
            D::MonthYear => Self::MonthYear,
            _ => Self::Text,
        }
    }
}

/// The types of a dictionary's fields.
#[derive(Clone, Debug)]
pub struct Types(Vec<Kind>);

impl Types {
    /// Creates the types of a dictionary's fields.
    #[must_use]
    pub fn new(dictionary: &Dictionary) -> Self {
        let last = dictionary.fields().iter().map(|field| field.tag).max().unwrap_or(0);
        let mut kinds = vec![Kind::Text; last as usize + 1];
        for field in dictionary.fields() {
            kinds[field.tag as usize] = Kind::of(field.kind);
        }
        Self(kinds)
    }

    /// Converts the value of a field; returns `None` if it is not of the field's type.
    #[inline]
    #[must_use]
    pub fn read<'m>(&self, tag: u32, value: &'m [u8]) -> Option<Value<'m>> {
        Some(match self.0.get(tag as usize).copied().unwrap_or(Kind::Text) {
            Kind::Text => Value::Text(value),
            Kind::Number => Value::Number(of(value)?),
            Kind::Decimal => match of(value) {
                Some(decimal) => Value::Decimal(decimal),
                None => Value::Digits(of(value)?),
            },
            Kind::Char => Value::Char(value.first().copied().filter(|_| value.len() == 1)?),
            Kind::Flag => Value::Flag(of(value)?),
            Kind::Timestamp => Value::Timestamp(of(value)?),
            Kind::Time => Value::Time(of(value)?),
            Kind::Date => Value::Date(of(value)?),
            Kind::MonthYear => Value::MonthYear(of(value)?),
        })
    }
}

#[inline]
fn of<'m, T: FromField<'m>>(value: &'m [u8]) -> Option<T> {
    T::from_field(value).ok()
}

impl Value<'_> {
    /// Returns it as it is written.
    #[must_use]
    pub fn text(&self) -> Vec<u8> {
        if let Self::Text(text) = self {
            return text.to_vec();
        }
        let mut memory = [0; 128];
        let mut body = BodyWriter::new(MsgType::new(b"B"), &mut memory);
        self.write(Key::new(58), &mut body);
        let written = body.written();
        written.get("58=".len()..written.len().saturating_sub(1)).unwrap_or_default().to_vec()
    }

    /// Writes it as a field.
    #[inline]
    pub fn write(&self, key: Key, body: &mut BodyWriter<'_>) {
        match self {
            Self::Text(text) => body.bytes(key, text),
            Self::Number(number) => body.field(key, number),
            Self::Decimal(decimal) => body.field(key, decimal),
            Self::Digits(digits) => body.bytes(key, digits.as_bytes()),
            Self::Char(code) => body.bytes(key, &[*code]),
            Self::Flag(flag) => body.field(key, flag),
            Self::Timestamp(time) => body.field(key, time),
            Self::Time(time) => body.field(key, time),
            Self::Date(date) => body.field(key, date),
            Self::MonthYear(month) => body.field(key, month),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixbolt_dictionary::fix44;

    #[test]
    fn values_are_written_as_they_were_read_and_others_are_refused() {
        let types = Types::new(fix44());
        for (tag, text) in [
            (11, "id-1"),
            (38, "57.00"),
            (44, "792281624589241053767102627.850000000000000"),
            (453, "3"),
            (54, "1"),
            (60, "20131112-22:36:26"),
            (75, "20170122"),
            (114, "N"),
            (200, "201701w1"),
            (273, "09:30:00.125"),
            (9999, "anything"),
        ] {
            let mut memory = [0; 128];
            let mut body = BodyWriter::new(MsgType::new(b"D"), &mut memory);
            types.read(tag, text.as_bytes()).unwrap().write(Key::new(tag), &mut body);
            assert_eq!(body.written(), format!("{tag}={text}\u{1}").as_bytes());
        }
        for (tag, text) in [(60, "20131112-2:36:26"), (38, "a"), (54, "12"), (114, "?"), (34, "")] {
            assert_eq!(types.read(tag, text.as_bytes()), None, "{tag}={text}");
        }
    }
}
