//! A second implementation of framing and indexing, as plain as the standard's description: the
//! whole stream is available, and everything is split and compared as text. It is slow, and was
//! written independently of the code that it checks.

use super::{Broken, Contents, Event, Garbled};
use fixbolt_codec::{DataFields, FaultKind};

/// A longer BodyLength or BeginString than this is never valid.
const MOST: usize = 16;

/// Returns the contents of the stream if nothing more follows it.
pub fn events(stream: &[u8], max_message_size: usize) -> Vec<Event> {
    let mut events = Vec::new();
    let mut at = 0;
    while at < stream.len() {
        let rest = &stream[at..];
        match message_length(rest, max_message_size) {
            Ok(length) => {
                events.push(Event::Message(at..at + length, contents(&rest[..length])));
                at += length;
            }
            Err((broken, known)) => {
                // A message's first byte belongs to it; if none began, one may begin after the very
                // first SOH.
                let from = if broken == Broken::Start { 0 } else { 1 };
                let restart = || find(&rest[from..], b"\x018=FIX").map_or(rest.len(), |soh| from + soh + 1);
                let length = known.unwrap_or_else(restart);
                events.push(Event::Dropped(at..at + length, broken));
                at += length;
            }
        }
    }
    events
}

/// Returns the length of the message at the beginning, or why there is none, and where the broken
/// one ends if its last byte is all that is wrong.
fn message_length(bytes: &[u8], max_message_size: usize) -> Result<usize, (Broken, Option<usize>)> {
    let header = Err((Broken::Header, None));
    if !bytes.starts_with(b"8=FIX") {
        return Err((Broken::Start, None));
    }
    let mut fields = bytes.splitn(3, |byte| *byte == 1);
    let (Some(first), Some(second)) = (fields.next(), fields.next()) else { return header };
    let (Some(version), Some(length)) = (first.strip_prefix(b"8="), second.strip_prefix(b"9=")) else {
        return header;
    };
    let parts: Vec<&[u8]> = version.split(|byte| *byte == b'.').collect();
    let version_is_right =
        matches!(parts[..], [b"FIX" | b"FIXT", major, minor] if is_number(major) && is_number(minor));
    if !version_is_right || version.len() >= MOST || !is_number(length) || length.len() > MOST {
        return header;
    }
    let length: u64 = std::str::from_utf8(length).unwrap().parse().unwrap();
    let end = first.len() as u64 + 1 + second.len() as u64 + 1 + length + 7;
    if length == 0 || end > max_message_size as u64 {
        return header;
    }
    let end = end as usize;
    // BodyLength counts up to and including the SOH before CheckSum.
    let trailer = &bytes[bytes.len().min(end - 8)..bytes.len().min(end)];
    match trailer {
        [1, b'1', b'0', b'=', sum @ .., 1] if sum.len() == 3 && is_number(sum) => Ok(end),
        // The stream ends here, or the next message begins where the last SOH or the last digit
        // should be, or the last byte is another one.
        [1, b'1', b'0', b'=', sum @ ..] if sum.len() == 3 && is_number(sum) => {
            Err((Broken::CheckSum, Some(bytes.len())))
        }
        [1, b'1', b'0', b'=', sum @ .., last] if sum.len() == 3 && is_number(sum) => {
            let of_next = if trailer.ends_with(b"8=") { 2 } else { usize::from(*last == b'8') };
            Err((Broken::CheckSum, Some(end - of_next)))
        }
        [1, b'1', b'0', b'=', ..] => Err((Broken::CheckSum, None)),
        _ => Err((Broken::Length, None)),
    }
}

/// Returns the fields of a message that ends where its BodyLength says.
pub fn contents(message: &[u8]) -> Result<Contents, Garbled> {
    let body_end = message.len() - 7;
    let sum: u32 = message[..body_end].iter().map(|byte| u32::from(*byte)).sum();
    if message[body_end..] != *format!("10={:03}\x01", sum % 256).as_bytes() {
        return Err(Garbled::CheckSum);
    }
    let mut contents = Contents { fields: Vec::new(), fault: None };
    let mut at = 0;
    while at < message.len() {
        let mut end = at + find(&message[at..], b"\x01").unwrap();
        let Some(equals) = find(&message[at..end], b"=").map(|equals| at + equals) else {
            contents.add(0, at..end, Some((FaultKind::NoEquals, at..end)));
            at = end + 1;
            continue;
        };
        let tag = read_tag(&message[at..equals]);
        let mut fault = if tag == 0 { Some((FaultKind::InvalidTag, at..equals)) } else { None };
        let value = equals + 1;
        if let (Some(length_tag), Some((tag_before, value_before))) =
            (DataFields::STANDARD.length_tag(tag), contents.fields.last())
            && length_tag == *tag_before
            && is_number(&message[value_before.clone()])
        {
            let length = std::str::from_utf8(&message[value_before.clone()]).unwrap().parse::<usize>();
            let announced_end = value.saturating_add(length.unwrap_or(usize::MAX));
            // Its SOH is at most the last one before CheckSum.
            if message[..body_end].get(announced_end) == Some(&1) {
                end = announced_end;
            } else if contents.fault.is_none() {
                let tag = value_before.start - 1 - tag_before.to_string().len()..value_before.start - 1;
                contents.fault = Some((FaultKind::DataLength, contents.fields.len() - 1, tag));
            }
        }
        if fault.is_none() && value == end {
            fault = Some((FaultKind::EmptyValue, at..equals));
        }
        contents.add(tag, value..end, fault);
        at = end + 1;
    }
    match contents.fields.get(2) {
        Some((35, value)) if !value.is_empty() => Ok(contents),
        _ => Err(Garbled::MsgTypeNotThird),
    }
}

impl Contents {
    fn add(
        &mut self,
        tag: u32,
        value: std::ops::Range<usize>,
        fault: Option<(FaultKind, std::ops::Range<usize>)>,
    ) {
        if let (None, Some((kind, tag))) = (&self.fault, fault) {
            self.fault = Some((kind, self.fields.len(), tag));
        }
        self.fields.push((tag, value));
    }
}

/// Returns the tag, or 0 if the bytes are not one.
fn read_tag(bytes: &[u8]) -> u32 {
    if !is_number(bytes) || bytes[0] == b'0' {
        return 0;
    }
    match std::str::from_utf8(bytes).unwrap().parse::<u32>() {
        Ok(tag) if tag <= i32::MAX as u32 => tag,
        _ => 0,
    }
}

fn is_number(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit)
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}
