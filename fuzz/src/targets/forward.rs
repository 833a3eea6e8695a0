//! Messages that are sent again, and templates made of their bodies: in every tier of the processor
//! the body that a simple model puts together from the fields of the index, or its first mistake.

use fixbolt_codec::{
    Body, BodyWriter, DataFields, EncodeErrorKind, Frame, Framed, Framer, Hole, Index, Key, Memory, Message,
    MsgType, Span, Tag, Template, Tier, byte_sum,
};

use super::choices::Choices;

const SESSION: &[u32] = &[8, 9, 10, 34, 35, 43, 49, 52, 56, 122];
const ROUTE: &[u32] = &[50, 57, 115, 116, 128, 129, 142, 143, 144, 145, 369, 370, 627, 628, 629, 630];
const KEPT: &[u32] = &[90, 91, 97, 212, 213, 347, 1128, 1129, 1156];
/// What is written before the body is copied.
const WRITTEN: &[(u32, &[u8])] = &[(115, b"A"), (11, b"new"), (58, b"text"), (5001, b"x"), (2049, b"y")];

/// The choices of an input; a message follows them.
const CHOICES: usize = 16;

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let seed = |(n, message): (usize, Vec<u8>)| {
        let mut choices: [u8; CHOICES] = std::array::from_fn(|choice| (n * 31 + choice * 7) as u8);
        // The driver corrects messages that follow SOH.
        choices[CHOICES - 1] = 1;
        [&choices[..], &message].concat()
    };
    super::messages().into_iter().enumerate().map(seed).collect()
}

pub(super) fn run(data: &[u8]) {
    let Some((choices, stream)) = data.split_first_chunk::<CHOICES>() else { return };
    let mut framer = Framer::new(64 * 1024);
    let mut at = 0;
    while at < stream.len() {
        match framer.next(&stream[at..]) {
            Frame::Message(framed) => {
                forward(framed, choices);
                at += framed.bytes().len();
            }
            Frame::Garbled { bytes, .. } => at += bytes.len(),
            Frame::Incomplete { .. } => break,
        }
    }
}

fn forward(framed: Framed<'_>, choices: &[u8; CHOICES]) {
    let room = framed.bytes().len();
    for tier in Tier::available() {
        let (mut tags, mut spans) = (vec![0; room], vec![Span::default(); room]);
        let index = Index::new(&mut tags, &mut spans).with_tier(tier);
        // The sum is that of the bytes, whatever CheckSum says.
        let mut index = index.with_checksum_verified(false);
        let Ok(message) = index.build(framed) else { continue };
        let mut choices = Choices::new(choices);
        let which = choices.byte();
        let written: Vec<_> =
            WRITTEN.iter().enumerate().filter(|(n, _)| which >> n & 1 == 1).map(|(_, one)| *one).collect();
        let chosen = (0..choices.byte() % 4).map(|_| message.tags()[choices.below(message.len())]);
        let removed: Vec<Tag> = chosen.filter_map(Tag::try_new).collect();
        let mut memory = vec![0; room + 200];
        let found = message.forward(Memory(&mut memory), &removed, |body| write(body, &written));
        match (found, model(&message, &removed, &written)) {
            (Ok(body), Ok(expected)) => {
                assert_eq!(body.bytes.escape_ascii().to_string(), expected.escape_ascii().to_string());
                assert_eq!((body.sum, body.msg_type.as_bytes()), (byte_sum(&expected), message.msg_type()));
                template(&body, choices.byte(), choices.byte());
            }
            (Err(found), Err(Some((tag, kind)))) => {
                assert_eq!((found.tag.number(), found.kind), (tag, kind));
            }
            (Err(_), Err(None)) => {}
            (found, expected) => panic!("{found:?}, but the model says {expected:?}"),
        }
    }
}

fn write(body: &mut BodyWriter<'_>, written: &[(u32, &[u8])]) {
    for (tag, value) in written {
        body.bytes(Key::new(*tag), value);
    }
}

/// Returns the body, or the first mistake: `None` for one of the syntax or of the header.
fn model(
    message: &Message<'_>,
    removed: &[Tag],
    written: &[(u32, &[u8])],
) -> Result<Vec<u8>, Option<(u32, EncodeErrorKind)>> {
    if message.fault().is_some() || MsgType::try_new(message.msg_type()).is_none() {
        return Err(None);
    }
    let is_removed = |tag| {
        let partners = [DataFields::STANDARD.data_tag(tag), DataFields::STANDARD.length_tag(tag)];
        let mut with_partners = partners.into_iter().flatten().chain([tag]);
        with_partners.any(|tag| removed.iter().any(|removed| removed.number() == tag))
    };
    let end = message.len() - 1;
    let is_header = |tag| SESSION.contains(&tag) || ROUTE.contains(&tag) || KEPT.contains(&tag);
    let first = (3..end).find(|n| !is_header(message.tags()[*n])).unwrap_or(end);
    let (mut all, mut kept) = (Vec::new(), Vec::new());
    for n in 3..first {
        let tag = message.tags()[n];
        if !KEPT.contains(&tag) || is_removed(tag) {
            continue;
        }
        let length_of = DataFields::STANDARD.data_tag(tag);
        if kept.contains(&tag) || length_of.is_some_and(|data| message.tags()[n + 1] != data) {
            // Twice, or a length without its data.
            return Err(None);
        }
        kept.push(tag);
        all.extend_from_slice(&canonical(message, n));
    }
    for (tag, value) in written {
        all.extend_from_slice(&[format!("{tag}=").as_bytes(), value, b"\x01"].concat());
    }
    let signature = message.tags()[first..end].iter().rev().take_while(|tag| matches!(tag, 93 | 89)).count();
    for n in first..end - signature {
        let tag = message.tags()[n];
        if SESSION.contains(&tag) {
            return Err(Some((tag, EncodeErrorKind::SessionField)));
        } else if is_header(tag) {
            return Err(Some((tag, EncodeErrorKind::HeaderAfterBody)));
        } else if is_removed(tag) {
            continue;
        } else if written.iter().any(|(one, _)| *one == tag) {
            return Err(Some((tag, EncodeErrorKind::Duplicate)));
        }
        all.extend_from_slice(&[message.field_bytes(n), b"\x01"].concat());
    }
    Ok(all)
}

/// Returns a field of the header as it is written again: a length without leading zeros.
fn canonical(message: &Message<'_>, n: usize) -> Vec<u8> {
    let tag = message.tags()[n];
    let data = DataFields::STANDARD.data_tag(tag).filter(|data| message.tags().get(n + 1) == Some(data));
    match data {
        Some(_) => format!("{tag}={}\x01", message.value(n + 1).len()).into_bytes(),
        None => [message.field_bytes(n), b"\x01"].concat(),
    }
}

/// Makes a template in which two fields of the body are holes, and fills them again.
fn template(body: &Body<'_>, first: u8, second: u8) {
    let bytes = [&b"8=FIX.4.4\x019=1\x0135=D\x01"[..], body.bytes, b"10=000\x01"].concat();
    let head = format!("8=FIX.4.4\x019={}\x0135=D\x01", body.bytes.len() + 5);
    let bytes = [head.as_bytes(), &bytes[b"8=FIX.4.4|9=1|35=D|".len()..]].concat();
    let Ok(framed) = Framed::try_new(&bytes) else { return };
    let (mut tags, mut spans) = (vec![0; bytes.len()], vec![Span::default(); bytes.len()]);
    let mut index = Index::new(&mut tags, &mut spans).with_checksum_verified(false);
    let Ok(message) = index.build(framed) else { return };
    let mut chosen: Vec<usize> =
        [first, second].map(|choice| 3 + usize::from(choice) % message.len()).to_vec();
    chosen.sort_unstable();
    chosen.dedup();
    chosen.retain(|n| *n < message.len() - 1);
    let tag = |n: usize| message.tags()[n];
    let is_paired =
        |tag| DataFields::STANDARD.data_tag(tag).is_some() || DataFields::STANDARD.length_tag(tag).is_some();
    // Those that can be holes, and no data of a dialect as the template understands it.
    let once = |n: &usize| message.tags().iter().filter(|other| **other == tag(*n)).count() == 1;
    if !chosen.iter().all(once) || chosen.iter().any(|n| is_paired(tag(*n))) {
        return;
    }
    let own = |tag: u32| Tag::try_new(tag).is_some_and(|tag| !tag.is_of_standard());
    if message.tags().windows(2).any(|two| own(two[0]) && own(two[1])) {
        return;
    }
    let holes: Vec<Hole> = chosen.iter().map(|n| Hole::Variable(Tag::new(tag(*n)))).collect();
    let Ok(template) = Template::<4096, 2>::new(body, &holes) else {
        assert!(body.bytes.len() > 4000, "no template of a body that fits");
        return;
    };
    let mut memory = vec![0; body.bytes.len() + 100];
    let sent = template.send(Memory(&mut memory), |holes| {
        for n in &chosen {
            holes.bytes(Key::new(tag(*n)), b"a value that is new");
        }
    });
    let sent = sent.expect("the values are right");
    let expected: Vec<u8> = (3..message.len() - 1)
        .flat_map(|n| match chosen.contains(&n) {
            true => format!("{}=a value that is new\x01", tag(n)).into_bytes(),
            false => [message.field_bytes(n), b"\x01"].concat(),
        })
        .collect();
    assert_eq!(sent.bytes.escape_ascii().to_string(), expected.escape_ascii().to_string());
    assert_eq!(sent.sum, byte_sum(&expected));
}
