//! Decoding over the number of tags, from 10 to 200: whether a tag costs as much in a long message.

use fixbolt_dictionary::{DataType, fix44};

use super::works::{Tools, eager, index};
use crate::batches::Work;
use crate::messages::{RING, message};
use crate::results::{Row, Table};

/// Numbers of tags.
const TAGS: [usize; 6] = [10, 20, 50, 100, 150, 200];

/// Rings of messages, by the number of their tags.
pub(super) struct Messages(Vec<(String, Vec<Vec<u8>>)>);

/// Returns rings of messages with five header fields, CheckSum, and fields of FIX.4.4 between them.
pub(super) fn messages() -> Result<Messages, String> {
    let dictionary = fix44();
    let counts: Vec<u32> = dictionary.groups().iter().map(|group| group.count_tag).collect();
    let outside = dictionary.expand(dictionary.header()).chain(dictionary.expand(dictionary.trailer()));
    let outside: Vec<u32> = outside.map(|member| member.tag).chain(counts).collect();
    let fields = dictionary.fields().iter().filter(|field| {
        use DataType as D;
        let plain = matches!(field.kind, D::String | D::Qty | D::Price | D::Int | D::UtcTimestamp);
        plain && field.codes.is_none() && !outside.contains(&field.tag)
    });
    let fields: Vec<_> = fields.map(|field| (field.tag, field.kind)).collect();
    let rings = TAGS.map(|tags| {
        let body = fields.get(..tags - 6).ok_or("the dictionary has too few fields")?;
        let ring = (0..RING as u64).map(|n| {
            let value = |(tag, kind): &(u32, DataType)| match kind {
                DataType::Qty | DataType::Price => format!("{tag}={}.{:02}|", 100 + n, n),
                DataType::Int => format!("{tag}={}|", 1 + n * 7),
                DataType::UtcTimestamp => format!("{tag}=20131112-22:36:{:02}|", n % 60),
                _ => format!("{tag}=TEXT{n}|"),
            };
            let body: String = body.iter().map(value).collect();
            message("FIX.4.4", &format!("35=D|49=TEST_INSTANCE1|56=aimsGateway|{body}"))
        });
        Ok((format!("{tags} tags"), ring.collect()))
    });
    Ok(Messages(rings.into_iter().collect::<Result<_, &str>>()?))
}

pub(super) fn works<'m>(messages: &'m Messages, tools: &'m Tools) -> Result<Vec<Work<'m>>, String> {
    let mut works = Vec::new();
    for (name, ring) in &messages.0 {
        works.push(index(name, "index", ring, true)?);
        works.push(eager(name, "eager", ring, tools, true)?);
    }
    Ok(works)
}

pub(super) fn table(rows: &[Row]) -> Table {
    let columns = [
        "Tags #",
        "Message Size (Bytes)",
        "Index (nano-sec)",
        "Index / tag",
        "Eager (nano-sec)",
        "Eager / tag",
    ];
    let mut table = Table::new("Decoding 10 to 200 tags", columns);
    for pair in rows.chunks_exact(2) {
        let [index, eager] = pair else { continue };
        let size = |row: &Row, name: &str| format!("{:.0}", row.more[name]);
        table.row([
            size(index, "tags"),
            size(index, "bytes"),
            format!("{:.0}", index.figure().0),
            format!("{:.1}", index.more["ns_per_tag"]),
            format!("{:.0}", eager.figure().0),
            format!("{:.1}", eager.more["ns_per_tag"]),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_ring_has_its_number_of_tags_and_no_two_messages_are_equal() {
        for ((name, ring), tags) in messages().unwrap().0.iter().zip(TAGS) {
            assert_eq!(*name, format!("{tags} tags"));
            assert!(ring.iter().all(|bytes| bytes.iter().filter(|byte| **byte == 1).count() == tags));
            let distinct: std::collections::BTreeSet<_> = ring.iter().collect();
            assert_eq!(distinct.len(), RING);
        }
    }
}
