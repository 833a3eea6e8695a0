//! The output forms of a message: a block, one line, a JSON object.

use std::io::{self, Write};

use fixbolt_dictionary::Section;

use super::reading::{Reading, Shown};
use crate::output::{Object, quoted};

/// Writes a block: the source, then one field per line, groups indented, an entry's first field
/// marked with `-`.
pub(crate) fn block(out: &mut impl Write, reading: &Reading, title: &str) -> io::Result<()> {
    writeln!(out, "{}{title}", headline(reading))?;
    for problem in &reading.problems {
        writeln!(out, "  INVALID: {problem}")?;
    }
    let mut section = None;
    for field in &reading.fields {
        if section != Some(field.section) {
            section = Some(field.section);
            writeln!(out, "  {}", section_name(field.section))?;
        }
        let indent = 4 + 4 * field.depth;
        let mark = if field.begins_entry { "- " } else { "" };
        writeln!(out, "{:>indent$}{}", mark, line(field))?;
    }
    writeln!(out)
}

/// Writes one line: the parties, sequence number, and message, then its body by name.
pub(crate) fn one_line(out: &mut impl Write, reading: &Reading, prefix: &str) -> io::Result<()> {
    let of = |tag| reading.value(tag).unwrap_or("?");
    let (time, sender, target, number) = (of("52"), of("49"), of("56"), of("34"));
    write!(out, "{prefix}{time} {sender}->{target} #{number} {}", headline(reading))?;
    let mut entries = 0;
    for field in reading.fields.iter().filter(|field| field.section == Section::Body) {
        // Brackets show where an entry of a group begins and ends.
        while entries > field.depth || entries == field.depth && field.begins_entry && entries > 0 {
            write!(out, " ]")?;
            entries -= 1;
        }
        if field.begins_entry {
            write!(out, " [")?;
            entries += 1;
        }
        let name = field.name.as_deref().unwrap_or(&field.tag);
        write!(out, " {name}={}", field.code.as_deref().unwrap_or(&field.value))?;
    }
    for _ in 0..entries {
        write!(out, " ]")?;
    }
    if !reading.problems.is_empty() {
        write!(out, "  INVALID: {}", reading.problems.join("; "))?;
    }
    writeln!(out)
}

/// Returns a JSON object; `place` holds the source of the message.
pub(crate) fn json(reading: &Reading, place: Object) -> Object {
    let fields = reading.fields.iter().map(|field| {
        let mut object = Object::new();
        object = match field.tag.parse::<u32>() {
            Ok(tag) => object.raw("tag", tag),
            Err(_) => object.text("tag", &field.tag),
        };
        object = object
            .maybe_text("name", field.name.as_deref())
            .text("value", &field.value)
            .maybe_text("code", field.code.as_deref())
            .text("section", section_name(field.section));
        if field.depth > 0 {
            object = object.raw("depth", field.depth).raw("entry", field.entry);
        }
        object
    });
    place
        .text("begin_string", &reading.begin_string)
        .text("msg_type", &reading.msg_type)
        .maybe_text("name", reading.name.as_deref())
        .raw("valid", reading.is_valid())
        .array("problems", reading.problems.iter().map(|problem| quoted(problem)))
        .array("fields", fields)
}

/// Returns a headline such as `NewOrderSingle (D)`.
fn headline(reading: &Reading) -> String {
    match &reading.name {
        Some(name) => format!("{name} ({})", reading.msg_type),
        None => format!("MsgType {}", if reading.msg_type.is_empty() { "?" } else { &reading.msg_type }),
    }
}

/// Returns a field such as `Side (54): BUY (1)`, `ClOrdID (11): ord1`, or `(9999): x`.
fn line(field: &Shown) -> String {
    let tag = match &field.name {
        Some(name) => format!("{name} ({})", field.tag),
        None => format!("({})", field.tag),
    };
    match &field.code {
        Some(code) => format!("{tag}: {code} ({})", field.value),
        None => format!("{tag}: {}", field.value),
    }
}

fn section_name(section: Section) -> &'static str {
    match section {
        Section::Header => "header",
        Section::Body => "body",
        Section::Trailer => "trailer",
    }
}
