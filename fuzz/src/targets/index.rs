//! The index, in every tier of the processor, against a naive reader: the same fields, the same
//! first fault, the same error. The fields put together again are the message. A message whose
//! BeginString, BodyLength, MsgType and CheckSum are right has an index.

use fixbolt_codec::{
    DataFields, Fault, FaultKind, Frame, Framed, Framer, Index, IndexError, Message, Span, Tag, Tier,
};

/// Maximum number of fields in the index.
const ROOM: usize = 96;

pub(super) fn run(data: &[u8]) {
    // The input itself, which is a message only by chance: the type proves what the tiers rely on.
    let alone = Framed::try_new(data);
    let mut framer = Framer::new(usize::MAX);
    let framed = match framer.next(data) {
        Frame::Message(framed) if framed.bytes().len() == data.len() => Some(framed),
        _ => None,
    };
    assert_eq!(alone.ok(), framed, "the framer disagrees: {alone:?}");
    if let Ok(framed) = alone {
        in_every_tier(framed);
    }
    let mut framer = Framer::new(64 * 1024);
    let mut at = 0;
    while at < data.len() {
        match framer.next(&data[at..]) {
            Frame::Message(framed) => {
                in_every_tier(framed);
                at += framed.bytes().len();
            }
            Frame::Garbled { bytes, .. } => at += bytes.len(),
            Frame::Incomplete { .. } => break,
        }
    }
}

/// Compares the tiers with the naive reader, with storage for some fields and for any number.
fn in_every_tier(framed: Framed<'_>) {
    let bytes = framed.bytes();
    for room in [ROOM, bytes.len()] {
        let (mut tags, mut spans) = (vec![0; room], vec![Span::default(); room]);
        let expected = naive(bytes, room);
        for tier in Tier::available() {
            let mut index = Index::new(&mut tags, &mut spans).with_tier(tier);
            match (index.build(framed), &expected) {
                (Ok(message), Ok(expected)) => compare(&message, expected),
                (found, Err(expected)) => assert_eq!(found.err(), Some(*expected)),
                (Err(found), Ok(_)) => {
                    panic!("the index returns {found:?}, but the naive reader finds no error")
                }
            }
        }
        if room == bytes.len() {
            let garbled = matches!(expected, Err(IndexError::CheckSum { .. } | IndexError::MsgTypeNotThird));
            assert!(expected.is_ok() || garbled, "a message that is not garbled has no index");
        }
    }
}

struct Expected<'m> {
    /// Tag (0 if there is none), whole field without SOH, value.
    fields: Vec<(u32, &'m [u8], &'m [u8])>,
    /// Kind, position, bytes of the tag.
    fault: Option<(FaultKind, usize, &'m [u8])>,
}

fn compare(message: &Message<'_>, expected: &Expected<'_>) {
    assert_eq!(message.len(), expected.fields.len(), "number of fields");
    for (n, (tag, field, value)) in expected.fields.iter().enumerate() {
        assert_eq!(message.tags()[n], *tag, "tag of field {n}");
        assert_eq!(
            message.field_bytes(n).escape_ascii().to_string(),
            field.escape_ascii().to_string(),
            "field {n}"
        );
        assert_eq!(
            message.value(n).escape_ascii().to_string(),
            value.escape_ascii().to_string(),
            "value {n}"
        );
        if let Some(tag) = Tag::try_new(*tag) {
            let first = expected.fields.iter().position(|f| f.0 == tag.number());
            assert_eq!(message.position(tag), first);
        }
    }
    let fault = message
        .fault()
        .map(|Fault { kind, field, tag, .. }| (kind, field, &message.bytes()[tag.start()..tag.end()]));
    assert_eq!(fault, expected.fault, "the first fault");
    let together: Vec<u8> =
        (0..message.len()).flat_map(|n| message.field_bytes(n).iter().copied().chain([1])).collect();
    assert_eq!(together, message.bytes(), "the fields joined together are not the message");
    assert_eq!(message.tags()[message.len() - 1], 10, "the last field is not CheckSum");
}

/// Reads the message field by field, in the plainest way.
fn naive(bytes: &[u8], room: usize) -> Result<Expected<'_>, IndexError> {
    let sum = bytes[..bytes.len() - 7].iter().map(|b| u32::from(*b)).sum::<u32>() % 256;
    let announced: u16 =
        std::str::from_utf8(&bytes[bytes.len() - 4..bytes.len() - 1]).unwrap().parse().unwrap();
    if sum != u32::from(announced) {
        return Err(IndexError::CheckSum { computed: sum as u8, announced });
    }
    let (mut fields, mut fault, mut start, mut data) = (Vec::new(), None, 0, None);
    while start < bytes.len() {
        if fields.len() == room {
            return Err(IndexError::TooManyFields { limit: room });
        }
        let mut end = start + bytes[start..].iter().position(|b| *b == 1).unwrap();
        let field = &bytes[start..end];
        let equals = field.iter().position(|b| *b == b'=');
        let tag = equals.and_then(|equals| tag_of(&field[..equals]));
        // A data field has the length in the field directly before it, and never extends into
        // CheckSum. If that is wrong, it ends as any other field.
        let announced = data.take();
        if let (Some(equals), Some(tag), Some((data_tag, length, length_tag))) = (equals, tag, announced)
            && tag == data_tag
        {
            match bytes[start + equals + 1..bytes.len() - 7].get(length) {
                Some(1) => end = start + equals + 1 + length,
                _ => fault = fault.or(Some((FaultKind::DataLength, fields.len() - 1, length_tag))),
            }
        }
        let field = &bytes[start..end];
        let value = match equals {
            Some(equals) => &field[equals + 1..],
            None => field,
        };
        let wrong = match (equals, tag) {
            (None, _) => Some((FaultKind::NoEquals, fields.len(), field)),
            (Some(equals), None) => Some((FaultKind::InvalidTag, fields.len(), &field[..equals])),
            (Some(equals), Some(_)) if value.is_empty() => {
                Some((FaultKind::EmptyValue, fields.len(), &field[..equals]))
            }
            _ => None,
        };
        fault = fault.or(wrong);
        if let Some(data_tag) = tag.and_then(|tag| DataFields::STANDARD.data_tag(tag))
            && !value.is_empty()
            && value.iter().all(u8::is_ascii_digit)
        {
            let length = std::str::from_utf8(value).unwrap().parse::<usize>().unwrap_or(usize::MAX);
            data = Some((data_tag, length, &field[..equals.unwrap_or_default()]));
        }
        fields.push((tag.unwrap_or(0), field, value));
        start = end + 1;
    }
    if fields.len() < 3 || fields[2].0 != 35 || fields[2].2.is_empty() {
        return Err(IndexError::MsgTypeNotThird);
    }
    Ok(Expected { fields, fault })
}

fn tag_of(text: &[u8]) -> Option<u32> {
    if text.is_empty() || text[0] == b'0' || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok().filter(|tag| *tag < 1 << 31)
}
