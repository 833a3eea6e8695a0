//! The output forms of a message: a block, one line, a JSON object. They are written to a buffer.

use std::io::Write;

use fixbolt_cli::output::{quoted, show, show_in_json};
use fixbolt_codec::Section;

use super::reading::{Reading, Shown};
use super::words::{FieldWords, Meaning};

/// Writes a block: the source, then one field per line, groups indented, an entry's first field
/// marked with `-`.
pub(crate) fn block(out: &mut Vec<u8>, reading: &Reading<'_>, title: &[u8]) {
    headline(out, reading);
    out.extend_from_slice(title);
    out.push(b'\n');
    for problem in reading.problems {
        out.extend_from_slice(b"  INVALID: ");
        out.extend_from_slice(problem.as_bytes());
        out.push(b'\n');
    }
    let mut section = None;
    for field in reading.fields {
        if section != Some(field.section) {
            section = Some(field.section);
            out.extend_from_slice(b"  ");
            out.extend_from_slice(section_name(field.section).as_bytes());
            out.push(b'\n');
        }
        let indent = 4 + 4 * usize::from(field.depth);
        let mark: &[u8] = if field.begins_entry { b"- " } else { b"" };
        out.resize(out.len() + indent - mark.len(), b' ');
        out.extend_from_slice(mark);
        line(out, reading, field);
        out.push(b'\n');
    }
    out.push(b'\n');
}

/// Writes one line: the parties, sequence number, and message, then its body by name.
pub(crate) fn one_line(out: &mut Vec<u8>, reading: &Reading<'_>) {
    for (tag, after) in [(52, &b" "[..]), (49, b"->"), (56, b" #"), (34, b" ")] {
        let value = reading.value(tag).unwrap_or(b"?");
        if reading.is_plain {
            out.extend_from_slice(value);
        } else {
            show(out, value);
        }
        out.extend_from_slice(after);
    }
    headline(out, reading);
    let mut entries = 0;
    for field in reading.fields.iter().filter(|field| field.section == Section::Body) {
        // Brackets show where an entry of a group begins and ends.
        while entries > field.depth || entries == field.depth && field.begins_entry && entries > 0 {
            out.extend_from_slice(b" ]");
            entries -= 1;
        }
        if field.begins_entry {
            out.extend_from_slice(b" [");
            entries += 1;
        }
        let (words, meaning) = reading.meaning_of(field);
        match words {
            Some(words) => words.assignment.write(out),
            None => {
                out.push(b' ');
                show(out, reading.tag_of(field));
                out.push(b'=');
            }
        }
        match meaning {
            Meaning::None => show_value(out, reading, field),
            Meaning::Code(code) => code.name.write(out),
            Meaning::Codes => code_list(out, reading, field),
        }
    }
    for _ in 0..entries {
        out.extend_from_slice(b" ]");
    }
    if !reading.problems.is_empty() {
        out.extend_from_slice(b"  INVALID: ");
        out.extend_from_slice(reading.problems.join("; ").as_bytes());
    }
    out.push(b'\n');
}

/// Writes a JSON object; `beginning` is an object without its closing brace that holds the source
/// of the message.
pub(crate) fn json(out: &mut Vec<u8>, reading: &Reading<'_>, beginning: &[u8]) {
    out.extend_from_slice(beginning);
    out.extend_from_slice(b",\"begin_string\":\"");
    show_in_json(out, reading.begin_string);
    out.extend_from_slice(b"\",\"msg_type\":\"");
    show_in_json(out, reading.msg_type);
    out.push(b'"');
    if let Some(name) = reading.name {
        out.extend_from_slice(b",\"name\":");
        out.extend_from_slice(quoted(name).as_bytes());
    }
    out.extend_from_slice(if reading.is_valid() { b",\"valid\":true" } else { b",\"valid\":false" });
    out.extend_from_slice(b",\"problems\":[");
    for (n, problem) in reading.problems.iter().enumerate() {
        out.extend_from_slice(if n == 0 { b"" } else { b"," });
        out.extend_from_slice(quoted(problem).as_bytes());
    }
    out.extend_from_slice(b"],\"fields\":[");
    for (n, field) in reading.fields.iter().enumerate() {
        out.extend_from_slice(if n == 0 { b"" } else { b"," });
        json_field(out, reading, field);
    }
    out.extend_from_slice(b"]}\n");
}

fn json_field(out: &mut Vec<u8>, reading: &Reading<'_>, field: &Shown) {
    let (tag, (words, meaning)) = (reading.tag_of(field), reading.meaning_of(field));
    match words {
        Some(words) if words.is_written_with(tag.len()) => words.json.write(out),
        _ => {
            out.extend_from_slice(b"{\"tag\":");
            match std::str::from_utf8(tag).ok().and_then(|tag| tag.parse::<u32>().ok()) {
                Some(tag) => number(out, tag),
                None => {
                    out.push(b'"');
                    show_in_json(out, tag);
                    out.push(b'"');
                }
            }
            if let Some(words) = words {
                out.extend_from_slice(b",\"name\":");
                out.extend_from_slice(quoted(&words.name).as_bytes());
            }
            out.extend_from_slice(b",\"value\":\"");
        }
    }
    let bytes = reading.value_of(field);
    match () {
        () if field.is_secret => mask(out, bytes),
        () if reading.is_plain => reading.copy_value(out, field),
        () => show_in_json(out, bytes),
    }
    out.push(b'"');
    match meaning {
        Meaning::None => {}
        Meaning::Code(code) => {
            out.extend_from_slice(b",\"code\":\"");
            code.json.write(out);
            out.push(b'"');
        }
        Meaning::Codes => {
            out.extend_from_slice(b",\"code\":\"");
            for (n, code) in words.into_iter().flat_map(|words| words.codes(bytes)).enumerate() {
                out.extend_from_slice(if n == 0 { b"" } else { b" " });
                code.json.write(out);
            }
            out.push(b'"');
        }
    }
    out.extend_from_slice(match field.section {
        Section::Header => b",\"section\":\"header\"".as_slice(),
        Section::Body => b",\"section\":\"body\"",
        Section::Trailer => b",\"section\":\"trailer\"",
    });
    if field.depth > 0 {
        out.extend_from_slice(b",\"depth\":");
        number(out, u32::from(field.depth));
        out.extend_from_slice(b",\"entry\":");
        number(out, field.entry);
    }
    out.push(b'}');
}

/// Writes a headline such as `NewOrderSingle (D)`.
fn headline(out: &mut Vec<u8>, reading: &Reading<'_>) {
    match reading.name {
        Some(name) => {
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b" (");
            show(out, reading.msg_type);
            out.push(b')');
        }
        None => {
            out.extend_from_slice(b"MsgType ");
            show(out, if reading.msg_type.is_empty() { b"?" } else { reading.msg_type });
        }
    }
}

/// Writes a field such as `Side (54): BUY (1)`, `ClOrdID (11): ord1`, or `(9999): x`.
pub(crate) fn line(out: &mut Vec<u8>, reading: &Reading<'_>, field: &Shown) {
    let (words, meaning) = reading.meaning_of(field);
    tag_in_brackets(out, reading, field, words);
    match meaning {
        Meaning::None => return show_value(out, reading, field),
        Meaning::Code(code) => code.name.write(out),
        Meaning::Codes => code_list(out, reading, field),
    }
    out.extend_from_slice(b" (");
    show_value(out, reading, field);
    out.push(b')');
}

/// Writes what stands before a value: `Side (54): `, or `(9999): `.
pub(super) fn tag_in_brackets(
    out: &mut Vec<u8>,
    reading: &Reading<'_>,
    field: &Shown,
    words: Option<&FieldWords>,
) {
    let tag = reading.tag_of(field);
    match words {
        Some(words) if words.is_written_with(tag.len()) => words.label.write(out),
        _ => {
            if let Some(words) = words {
                out.extend_from_slice(words.name.as_bytes());
                out.push(b' ');
            }
            out.push(b'(');
            show(out, tag);
            out.extend_from_slice(b"): ");
        }
    }
}

/// Writes the names of a list of codes.
fn code_list(out: &mut Vec<u8>, reading: &Reading<'_>, field: &Shown) {
    let Some(words) = reading.words_of(field) else { return };
    for (n, code) in words.codes(reading.value_of(field)).enumerate() {
        out.extend_from_slice(if n == 0 { b"" } else { b" " });
        code.name.write(out);
    }
}

/// Writes the value of a field, masked if it is secret.
pub(super) fn show_value(out: &mut Vec<u8>, reading: &Reading<'_>, field: &Shown) {
    let bytes = reading.value_of(field);
    if field.is_secret {
        mask(out, bytes);
    } else if reading.is_plain {
        reading.copy_value(out, field);
    } else {
        show(out, bytes);
    }
}

fn mask(out: &mut Vec<u8>, secret: &[u8]) {
    out.resize(out.len() + secret.len().min(8), b'*');
}

fn number(out: &mut Vec<u8>, number: u32) {
    // Writing to memory does not fail.
    let _ = write!(out, "{number}");
}

fn section_name(section: Section) -> &'static str {
    match section {
        Section::Header => "header",
        Section::Body => "body",
        Section::Trailer => "trailer",
    }
}
