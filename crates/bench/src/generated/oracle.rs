//! What the standard says of a message, checked slowly and without the codec or the validator.
//!
//! It is stricter than the standard: the fields of an entry are in the dictionary's order, and a
//! message that could be read in two ways is refused.

use std::collections::{HashMap, HashSet};

use fixbolt_dictionary::{DataType, Dictionary, FlatMember, GroupId, Member};

/// A field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field<'m> {
    /// Its tag.
    pub tag: u32,
    /// Its value.
    pub value: &'m [u8],
}

/// Returns the fields of a valid message.
///
/// # Errors
/// Returns what is wrong with it.
pub fn fields<'m>(dictionary: &Dictionary, bytes: &'m [u8]) -> Result<Vec<Field<'m>>, String> {
    let fields = split(dictionary, bytes)?;
    framing(dictionary, bytes, &fields)?;
    fields.iter().try_for_each(|field| value(dictionary, field))?;
    Structure { dictionary, fields: &fields, at: 0 }.message()?;
    Ok(fields)
}

fn split<'m>(dictionary: &Dictionary, bytes: &'m [u8]) -> Result<Vec<Field<'m>>, String> {
    let data: HashMap<u32, u32> = dictionary.length_data_pairs().into_iter().collect();
    let (mut fields, mut rest): (Vec<Field<'m>>, &[u8]) = (Vec::new(), bytes);
    while !rest.is_empty() {
        let equals = rest.iter().position(|byte| *byte == b'=').ok_or("a field has no =")?;
        let (tag, after) = (&rest[..equals], &rest[equals + 1..]);
        let tag =
            std::str::from_utf8(tag).ok().and_then(|tag| tag.parse().ok()).ok_or("a tag is no number")?;
        let announced = fields.last().filter(|last| data.get(&last.tag) == Some(&tag));
        let length = match announced {
            Some(length) => number(length.value).and_then(|length| usize::try_from(length).ok()),
            None => after.iter().position(|byte| *byte == 1),
        };
        let length = length.filter(|length| after.get(*length) == Some(&1));
        let length = length.ok_or_else(|| format!("field {tag} does not end"))?;
        fields.push(Field { tag, value: &after[..length] });
        rest = &after[length + 1..];
    }
    let pairs = dictionary.length_data_pairs();
    for (length, data) in pairs {
        let lengths = fields.iter().filter(|field| field.tag == length).count();
        let paired = fields.windows(2).filter(|two| two[0].tag == length && two[1].tag == data).count();
        if lengths != paired || fields.iter().filter(|field| field.tag == data).count() != paired {
            return Err(format!("field {length} is not before field {data}"));
        }
    }
    Ok(fields)
}

fn framing(dictionary: &Dictionary, bytes: &[u8], fields: &[Field<'_>]) -> Result<(), String> {
    let [begin, length, msg_type, .., sum] = fields else { return Err("it has no frame".to_owned()) };
    let frame = [begin.tag, length.tag, msg_type.tag, sum.tag];
    if frame != [8, 9, 35, 10] || begin.value != dictionary.version().begin_string.as_bytes() {
        return Err(format!("its frame is {frame:?}"));
    }
    let head = begin.value.len() + length.value.len() + "8=|9=|".len();
    let end = bytes.len() - "10=000|".len();
    if number(length.value) != i64::try_from(end - head).ok() {
        return Err("BodyLength is wrong".to_owned());
    }
    let expected = bytes[..end].iter().map(|byte| u32::from(*byte)).sum::<u32>() % 256;
    if sum.value != format!("{expected:03}").as_bytes() {
        return Err("CheckSum is wrong".to_owned());
    }
    Ok(())
}

/// Reads header, body and trailer.
struct Structure<'f, 'm> {
    dictionary: &'f Dictionary,
    fields: &'f [Field<'m>],
    at: usize,
}

impl Structure<'_, '_> {
    fn message(&mut self) -> Result<(), String> {
        let msg_type = self.fields[2].value;
        let of = self.dictionary.message(msg_type).ok_or("there is no such type")?;
        self.section("header", self.dictionary.header())?;
        self.section("body", &of.members)?;
        self.section("trailer", self.dictionary.trailer())?;
        match self.fields.get(self.at) {
            Some(field) => Err(format!("field {} has no place", field.tag)),
            None => Ok(()),
        }
    }

    fn tag(&self) -> Option<u32> {
        self.fields.get(self.at).map(|field| field.tag)
    }

    fn section(&mut self, name: &str, members: &[Member]) -> Result<(), String> {
        let members: Vec<FlatMember> = self.dictionary.expand(members).collect();
        let mut seen = HashSet::new();
        let of = |tag| members.iter().find(|member| member.tag == tag);
        while let Some(member) = self.tag().and_then(of) {
            if !seen.insert(member.tag) {
                return Err(format!("field {} is there twice", member.tag));
            }
            self.member(*member)?;
        }
        match members.iter().find(|member| member.required && !seen.contains(&member.tag)) {
            Some(missing) => Err(format!("field {} is missing in the {name}", missing.tag)),
            None => Ok(()),
        }
    }

    fn member(&mut self, member: FlatMember) -> Result<(), String> {
        let count = self.fields[self.at];
        self.at += 1;
        let Some(group) = member.group else { return Ok(()) };
        let members: Vec<FlatMember> =
            self.dictionary.expand(&self.dictionary.group(group).members).collect();
        let first = members.first().ok_or("a group has no members")?.tag;
        for _ in 0..number(count.value).ok_or("a count is no number")? {
            if self.tag() != Some(first) {
                return Err(format!("group {} has fewer entries than its count", count.tag));
            }
            self.entry(&members)?;
        }
        match self.tag().filter(|tag| self.has(group, *tag)) {
            Some(tag) => Err(format!("field {tag} could belong to group {} or not", count.tag)),
            None => Ok(()),
        }
    }

    fn entry(&mut self, members: &[FlatMember]) -> Result<(), String> {
        for member in members {
            if self.tag() == Some(member.tag) {
                self.member(*member)?;
            } else if member.required {
                return Err(format!("field {} is missing in an entry", member.tag));
            }
        }
        Ok(())
    }

    /// Returns whether a group or one inside it has this field, but for the first one of its own
    /// entries.
    fn has(&self, group: GroupId, tag: u32) -> bool {
        self.dictionary
            .expand(&self.dictionary.group(group).members)
            .any(|member| member.tag == tag || member.group.is_some_and(|inner| self.has(inner, tag)))
    }
}

fn value(dictionary: &Dictionary, field: &Field<'_>) -> Result<(), String> {
    let def = dictionary.field(field.tag).ok_or_else(|| format!("field {} is not defined", field.tag))?;
    let codes = def.codes.filter(|_| def.union.is_none()).map(|id| &dictionary.code_set(id).codes);
    let text = String::from_utf8_lossy(field.value);
    let right = match codes.filter(|codes| !codes.is_empty()) {
        Some(codes) if def.kind.is_multiple() => {
            text.split(' ').all(|part| codes.iter().any(|code| code.value == part))
        }
        Some(codes) => codes.iter().any(|code| code.value == text),
        None => of_type(def.kind, field.value),
    };
    right.then_some(()).ok_or_else(|| format!("field {} has the value {text:?}", field.tag))
}

fn of_type(kind: DataType, value: &[u8]) -> bool {
    use DataType as D;
    // Each digit of the pattern stands for any digit.
    let like = |pattern: &str| {
        value.len() == pattern.len()
            && value
                .iter()
                .zip(pattern.bytes())
                .all(|(byte, like)| if like.is_ascii_digit() { byte.is_ascii_digit() } else { *byte == like })
    };
    let time = |value: &[u8]| {
        let part = |at: usize| value.get(at..at + 2).and_then(number).unwrap_or(99);
        part(0) < 24 && part(3) < 60 && part(6) <= 60
    };
    let letters = |length| value.len() == length && value.iter().all(u8::is_ascii_uppercase);
    !value.is_empty()
        && match kind {
            D::Int => number(value).is_some(),
            D::Length | D::TagNum | D::SeqNum | D::NumInGroup => number(value).is_some_and(|it| it > 0),
            D::DayOfMonth => number(value).is_some_and(|day| (1..=31).contains(&day)),
            D::Float | D::Qty | D::Price | D::PriceOffset | D::Amt | D::Percentage => {
                let digits = value.strip_prefix(b"-").unwrap_or(value);
                digits.iter().filter(|byte| **byte == b'.').count() <= 1
                    && digits.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
                    && digits.iter().any(u8::is_ascii_digit)
            }
            D::Char => value.len() == 1,
            D::Boolean => matches!(value, b"Y" | b"N"),
            D::Country | D::Language => value.len() == 2 && value.iter().all(u8::is_ascii_alphabetic),
            D::Currency => letters(3),
            D::UtcTimestamp => {
                (like("00000000-00:00:00") || like("00000000-00:00:00.000")) && time(&value[9..])
            }
            D::UtcTimeOnly => (like("00:00:00") || like("00:00:00.000")) && time(value),
            D::UtcDateOnly | D::LocalMktDate => like("00000000"),
            D::MonthYear => like("000000") || like("00000000"),
            D::Data | D::XmlData => true,
            _ => !value.contains(&1),
        }
}

fn number(value: &[u8]) -> Option<i64> {
    std::str::from_utf8(value).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{Nos222, message};
    use crate::more_messages;
    use fixbolt_dictionary::fix44;

    #[test]
    fn published_messages_are_valid() {
        let fields = |bytes: &[u8]| super::fields(fix44(), bytes).map(|fields| fields.len());
        assert_eq!(fields(&Nos222::new(3).bytes()), Ok(24));
        assert_eq!(fields(&more_messages::market_data_request(3)), Ok(16));
        assert!(fields(&more_messages::quote_status_request(3)).is_ok());
    }

    #[test]
    fn each_kind_of_fault_is_found() {
        let head = "35=V|34=2|49=A|52=20261121-09:00:00|56=B|";
        let body = "262=r|263=1|264=1|267=2|269=0|269=1|146=1|55=X|";
        let found = |head: &str, body: &str| {
            let bytes = message("FIX.4.4", &format!("{head}{body}"));
            fields(fix44(), &bytes).map(|fields| fields.len())
        };
        assert_eq!(found(head, body), Ok(16));
        for (head, body, reason) in [
            ("35=?|", body, "field 35 has the value \"?\""),
            (head, "263=1|264=1|267=1|269=0|146=1|55=X|", "field 262 is missing in the body"),
            ("35=V|34=2|52=20261121-09:00:00|56=B|", body, "field 49 is missing in the header"),
            (head, "93=3|262=r|", "field 93 is not before field 89"),
            (head, "262=r|262=r|263=1|264=1|", "field 262 is there twice"),
            (head, "262=r|263=?|264=1|", "field 263 has the value \"?\""),
            (head, "262=r|263=1|264=a|", "field 264 has the value \"a\""),
            (head, "262=r|263=1|264=1|11=x|", "field 267 is missing in the body"),
            (
                head,
                "262=r|263=1|264=1|267=3|269=0|269=1|146=1|55=X|",
                "group 267 has fewer entries than its count",
            ),
            (
                head,
                "262=r|263=1|264=1|267=1|269=0|269=1|146=1|55=X|",
                "field 269 could belong to group 267 or not",
            ),
            (head, "262=r|263=1|264=1|267=1|269=0|146=1|55=X|99999=1|", "field 99999 is not defined"),
        ] {
            assert_eq!(found(head, body), Err(reason.to_owned()), "{body}");
        }
        let mut bytes = message("FIX.4.4", &format!("{head}{body}"));
        let (last, length) = (bytes.len() - 2, 12);
        bytes[last] ^= 1;
        assert_eq!(fields(fix44(), &bytes).err().as_deref(), Some("CheckSum is wrong"));
        bytes[length] = b'9';
        assert_eq!(fields(fix44(), &bytes).err().as_deref(), Some("BodyLength is wrong"));
        assert_eq!(fields(fix44(), b"8=FIX.4.4").err().as_deref(), Some("field 8 does not end"));
    }
}
