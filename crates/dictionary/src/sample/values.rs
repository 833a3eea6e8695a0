//! A value for a field: one of its codes if it has any, else any value of its type.

use crate::data_type::DataType;
use crate::model::{Dictionary, FieldDef};
use crate::validate::{CodeTable, TypeRules, check_type};

/// Returns a value that the field accepts. Before FIX 4.3 the type of a count does not show that it
/// `counts` entries.
pub(super) fn value(dictionary: &Dictionary, field: &FieldDef, counts: bool, variant: usize) -> Vec<u8> {
    let kind = if counts { DataType::NumInGroup } else { field.kind };
    let of_type = of_type(kind).to_vec();
    let Some(codes) = field.codes.map(|id| dictionary.code_set(id)) else { return of_type };
    let table = CodeTable::new(codes);
    // Some sets contain explanations instead of codes, and codes that their own type does not
    // accept.
    let is_right = |value: &[u8]| {
        table.admits(value, field.union) && check_type(kind, field.tag, value, TypeRules::Standard).is_ok()
    };
    let right: Vec<&[u8]> =
        codes.codes.iter().map(|code| code.value.as_bytes()).filter(|value| is_right(value)).collect();
    match right[..] {
        [] => of_type,
        [one] => one.to_vec(),
        ref many => {
            let chosen = many[variant % many.len()];
            if !kind.is_multiple() {
                return chosen.to_vec();
            }
            [chosen, b" ", many[(variant + 1) % many.len()]].concat()
        }
    }
}

fn of_type(kind: DataType) -> &'static [u8] {
    match kind {
        DataType::Int | DataType::Length | DataType::SeqNum | DataType::NumInGroup => b"2",
        DataType::TagNum => b"58",
        DataType::DayOfMonth => b"15",
        DataType::Float
        | DataType::Qty
        | DataType::Price
        | DataType::PriceOffset
        | DataType::Amt
        | DataType::Percentage => b"12.50",
        DataType::Char => b"A",
        DataType::Boolean => b"Y",
        DataType::MultipleValueString | DataType::MultipleCharValue | DataType::MultipleStringValue => b"A B",
        DataType::Country => b"DE",
        DataType::Currency => b"EUR",
        DataType::Exchange => b"XLON",
        DataType::Language => b"en",
        DataType::MonthYear => b"202611",
        DataType::UtcTimestamp => b"20261121-09:00:00.000",
        DataType::UtcTimeOnly => b"09:00:00.000",
        DataType::UtcDateOnly | DataType::LocalMktDate => b"20261121",
        DataType::LocalMktTime => b"09:00:00",
        DataType::TzTimeOnly => b"09:00+01",
        DataType::TzTimestamp => b"20261121-09:00:00+01:00",
        DataType::Tenor => b"M3",
        // Delimiter and equals sign are what makes data special.
        DataType::Data => b"a\x01=b",
        DataType::XmlData => b"<a b='\x01'/>",
        DataType::String | DataType::Xid | DataType::XidRef => b"text",
    }
}
