//! The form of Fix8's `hfprint`, with the names of its dictionary: those that QuickFIX had in 2013.

use fixbolt_cli::output::show;
use fixbolt_dictionary::DataType;

use super::reading::{Reading, Shown};
use super::render::{show_value, tag_in_brackets};
use super::words::{FieldWords, Meaning};

/// Writes a message: a headline for header, body and trailer, then one field per line, entries of
/// groups indented. The value of CheckSum is left out, as it is there.
pub(crate) fn hfprint(out: &mut Vec<u8>, reading: &Reading<'_>) {
    let mut section = None;
    for field in reading.fields {
        if section != Some(field.section) {
            section = Some(field.section);
            headline(out, reading, field);
        }
        out.resize(out.len() + 4 + 4 * usize::from(field.depth), b' ');
        line(out, reading, field);
        out.push(b'\n');
    }
    out.push(b'\n');
}

/// Writes `header ("header")`, `NewOrderSingle ("D")` or `trailer ("trailer")`.
fn headline(out: &mut Vec<u8>, reading: &Reading<'_>, first: &Shown) {
    use fixbolt_codec::Section;
    match first.section {
        Section::Header => out.extend_from_slice(b"header (\"header\")\n"),
        Section::Trailer => out.extend_from_slice(b"trailer (\"trailer\")\n"),
        Section::Body => {
            // It is the name of the code of MsgType: FIX.4.2 calls the message itself OrderSingle.
            let msg_type = reading.fields.iter().find(|field| field.is(MSG_TYPE));
            let code = msg_type.and_then(|field| match reading.meaning_of(field).1 {
                Meaning::Code(code) => Some(code.name_in_source()),
                _ => None,
            });
            let name = code.or(reading.name).unwrap_or("MsgType");
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b" (\"");
            show(out, reading.msg_type);
            out.extend_from_slice(b"\")\n");
        }
    }
}

const MSG_TYPE: u32 = 35;
const CHECK_SUM: u32 = 10;
const HANDL_INST: u32 = 21;

fn line(out: &mut Vec<u8>, reading: &Reading<'_>, field: &Shown) {
    let (words, meaning) = reading.meaning_of(field);
    tag_in_brackets(out, reading, field, words);
    if field.is(CHECK_SUM) {
        // Nothing follows the colon and the space, which other fields have, too.
        return;
    }
    let value = reading.value_of(field);
    match (own_name(reading, field, words, value), meaning) {
        (Some(name), _) => out.extend_from_slice(name.as_bytes()),
        (None, Meaning::Code(code)) => code.name.write(out),
        (None, Meaning::Codes | Meaning::None) => {
            let is_decimal = words.is_some_and(|words| is_decimal(words.kind())) && !field.is_secret;
            match is_decimal.then(|| without_zeros(value)) {
                Some(value) => show(out, value),
                None => show_value(out, reading, field),
            }
            return;
        }
    }
    out.extend_from_slice(b" (");
    show_value(out, reading, field);
    out.push(b')');
}

/// Returns the name of a value where that is not Orchestra's.
fn own_name(
    reading: &Reading<'_>,
    field: &Shown,
    words: Option<&FieldWords>,
    value: &[u8],
) -> Option<String> {
    let words = words?;
    if field.is(MSG_TYPE) {
        let name = reading.name?.to_owned();
        return Some(fixbolt_dictionary::Code { value: String::new(), name }.display_name());
    }
    let name = match (words.kind(), value) {
        (DataType::Boolean, b"Y") => "YES",
        (DataType::Boolean, b"N") => "NO",
        (_, b"1") if field.is(HANDL_INST) => "AUTOMATED_EXECUTION_ORDER_PRIVATE_NO_BROKER_INTERVENTION",
        (_, b"2") if field.is(HANDL_INST) => "AUTOMATED_EXECUTION_ORDER_PUBLIC_BROKER_INTERVENTION_OK",
        (_, b"3") if field.is(HANDL_INST) => "MANUAL_ORDER_BEST_EXECUTION",
        _ => return None,
    };
    Some(name.to_owned())
}

/// Returns whether hfprint reads the values as floating-point numbers and writes them again.
fn is_decimal(kind: DataType) -> bool {
    use DataType::{Amt, Float, Percentage, Price, PriceOffset, Qty};
    matches!(kind, Float | Qty | Price | PriceOffset | Amt | Percentage)
}

/// Returns a decimal number without the zeros at its end: 57 for 57.00.
fn without_zeros(value: &[u8]) -> &[u8] {
    let Some(point) = memchr::memchr(b'.', value) else { return value };
    let digits = value.iter().rposition(|byte| *byte != b'0').unwrap_or(0);
    match &value[..=digits] {
        // Something like `.00` has no digit before the point.
        _ if point == 0 => value,
        whole if digits == point => &whole[..point],
        decimal => decimal,
    }
}

#[cfg(test)]
mod tests {
    use super::without_zeros;

    #[test]
    fn a_decimal_loses_the_zeros_at_its_end_and_nothing_else() {
        let pairs = [
            ("57.00", "57"),
            ("0.00", "0"),
            ("298.070", "298.07"),
            ("100", "100"),
            ("-1.50", "-1.5"),
            (".00", ".00"),
            ("7.", "7"),
            ("", ""),
        ];
        for (written, shown) in pairs {
            assert_eq!(without_zeros(written.as_bytes()), shown.as_bytes());
        }
    }
}
