//! Templates: what they write is what the ordinary writer writes, and what they refuse.

use fixbolt_codec::plumbing::{BodyPlumbing as _, TagSet};
use fixbolt_codec::{
    Body, BodySink, BodyWriter, DataKey, Decimal, EncodeError, EncodeErrorKind, Hole, Holes, Key, Memory,
    MsgType, NewBody, Precision, Tag, Template, ToField, UtcTimestamp, byte_sum,
};

use EncodeErrorKind::{DataLength, Duplicate, Empty, HoleWidth, Missing, NoRoom, Soh};

const ORDER: MsgType = MsgType::new(b"D");
const fn fixed(tag: u32) -> Hole {
    Hole::Fixed(Tag::new(tag))
}
const fn variable(tag: u32) -> Hole {
    Hole::Variable(Tag::new(tag))
}

type Failed = (u32, EncodeErrorKind);

fn failed(error: EncodeError) -> Failed {
    (error.tag.number(), error.kind)
}

/// Makes a template of this body, with `|` for SOH.
fn template(body: &str, holes: &[Hole]) -> Result<Template<256, 4>, Failed> {
    let bytes = body.replace('|', "\x01").into_bytes();
    Template::new(&Body { msg_type: ORDER, bytes: &bytes, sum: 0 }, holes).map_err(failed)
}

fn sent(template: &Template<256, 4>, fill: impl FnOnce(&mut Holes<'_>)) -> Result<String, Failed> {
    let mut memory = [0; 400];
    let body = template.send(Memory(&mut memory), fill).map_err(failed)?;
    assert_eq!((body.msg_type, body.sum), (ORDER, byte_sum(body.bytes)));
    Ok(String::from_utf8_lossy(body.bytes).replace('\x01', "|"))
}

/// A value as text and how it is written.
#[derive(Clone, Debug)]
enum Value {
    Text(String),
    Number(u64),
    Decimal(Decimal),
    Time(UtcTimestamp),
    Padded(u64),
}

impl Value {
    fn random(random: &mut fastrand::Rng, padded: bool) -> Self {
        if padded {
            return Self::Padded(random.u64(..) >> random.u32(40..64));
        }
        match random.u8(..4) {
            0 => Self::Text(
                "a text of any length, as some of them are".chars().take(random.usize(1..42)).collect(),
            ),
            1 => Self::Number(random.u64(..) >> random.u32(..64)),
            2 => Self::Decimal(Decimal::from_parts(random.i64(..) >> random.u32(1..64), random.u8(..=18))),
            _ => {
                let precision = [Precision::Seconds, Precision::Millis, Precision::Picos][random.usize(..3)];
                Self::Time(UtcTimestamp::from_unix_nanos(random.u64(..), precision))
            }
        }
    }

    fn write(&self, body: &mut BodyWriter<'_>, key: Key, width: usize) {
        match self {
            Self::Text(text) => _ = body.bytes(key, text.as_bytes()),
            Self::Number(number) => _ = body.field(key, number),
            Self::Decimal(decimal) => _ = body.field(key, decimal),
            Self::Time(time) => _ = body.field(key, time),
            Self::Padded(number) => _ = body.bytes(key, format!("{number:0width$}").as_bytes()),
        }
    }

    fn fill(&self, holes: &mut Holes<'_>, key: Key) {
        match self {
            Self::Text(text) => _ = holes.bytes(key, text.as_bytes()),
            Self::Number(number) => _ = holes.field(key, number),
            Self::Decimal(decimal) => _ = holes.field(key, decimal),
            Self::Time(time) => _ = holes.field(key, time),
            Self::Padded(number) => _ = holes.padded(key, *number),
        }
    }
}

/// Writes a field before each hole, which now and then has the look of a hole, and the holes.
fn write(body: &mut BodyWriter<'_>, texts: &[Vec<u8>], values: &[Value], widths: &[usize]) {
    for (n, text) in texts.iter().enumerate() {
        match n % 2 {
            0 => _ = body.data(DataKey::new(95, 96), text),
            _ => _ = body.bytes(Key::new(100 + n as u32), &vec![b'x'; text.len()]),
        }
        if let Some(value) = values.get(n) {
            value.write(body, Key::new(11 + n as u32), widths[n]);
        }
        if n == 0 {
            let mut group = body.group(Key::new(453));
            body.entry(&mut group);
            body.bytes(Key::new(448), b"A");
            body.entry(&mut group);
            body.bytes(Key::new(448), b"B");
            body.end_group(group);
        }
    }
}

#[test]
fn a_message_of_a_template_is_what_the_ordinary_writer_writes() {
    let mut random = fastrand::Rng::with_seed(5);
    let (mut right, mut too_long) = (0, 0);
    for _ in 0..if cfg!(miri) { 40 } else { 20_000 } {
        let count = random.usize(..=4);
        let texts: Vec<Vec<u8>> = (0..=count)
            .map(|_| [&b"\x0111=a\x01"[..], &vec![b'y'; random.usize(..50)]].concat())
            .filter(|text| !text.is_empty())
            .collect();
        // Only the first data field can have the tags of RawData.
        let texts = &texts[..texts.len().min(2)];
        let count = count.min(texts.len());
        let is_fixed: Vec<bool> = (0..count).map(|_| random.bool()).collect();
        let example: Vec<Value> = is_fixed.iter().map(|fixed| Value::random(&mut random, *fixed)).collect();
        let widths: Vec<usize> =
            is_fixed.iter().map(|fixed| if *fixed { random.usize(1..30) } else { 0 }).collect();
        let holes: Vec<Hole> = is_fixed
            .iter()
            .enumerate()
            .map(|(n, is_fixed)| if *is_fixed { fixed(11 + n as u32) } else { variable(11 + n as u32) })
            .collect();
        let example: Vec<Value> = example
            .into_iter()
            .zip(&widths)
            .map(|(value, width)| if *width > 0 { Value::Text("0".repeat(*width)) } else { value })
            .collect();
        let mut memory = [0; 500];
        let mut writer = BodyWriter::new(ORDER, &mut memory);
        write(&mut writer, texts, &example, &widths);
        let template = Template::<500, 4>::new(&writer.finish().unwrap(), &holes).unwrap();
        for _ in 0..3 {
            let values: Vec<Value> =
                is_fixed.iter().map(|fixed| Value::random(&mut random, *fixed)).collect();
            let (mut memory, mut same) = ([3; 500], [3; 500]);
            let room = if random.u8(..3) == 0 { random.usize(..300) } else { 500 };
            let found = template.send(Memory(&mut memory[..room]), |to| {
                for (n, value) in values.iter().enumerate() {
                    value.fill(to, Key::new(11 + n as u32));
                }
            });
            let mut writer = BodyWriter::new(ORDER, &mut same);
            write(&mut writer, texts, &values, &widths);
            let expected = writer.finish().unwrap();
            let fits = |(value, width): (&Value, &usize)| match value {
                Value::Padded(number) => number.to_string().len() <= *width,
                _ => true,
            };
            match found {
                Ok(body) => {
                    right += 1;
                    assert_eq!(
                        body.bytes.escape_ascii().to_string(),
                        expected.bytes.escape_ascii().to_string()
                    );
                    assert_eq!(body.sum, expected.sum);
                }
                Err(error) => {
                    too_long += 1;
                    let is_full = error.kind == NoRoom && expected.bytes.len() > room;
                    assert!(
                        is_full || error.kind == HoleWidth && !values.iter().zip(&widths).all(fits),
                        "{error}"
                    );
                }
            }
            assert!(memory[room..].iter().all(|byte| *byte == 3));
        }
    }
    assert!(right > 20 && too_long > 5, "{right} {too_long}");
}

#[test]
fn a_value_that_cannot_be_in_a_message_is_refused_with_its_tag() {
    let of = template("11=?|55=IBM|38=000|58=x|", &[variable(11), fixed(38)]).unwrap();
    let two = |id: &'static [u8], qty: &'static [u8]| {
        sent(&of, |holes| _ = holes.bytes(Key::new(11), id).bytes(Key::new(38), qty))
    };
    assert_eq!(two(b"a", b"123"), Ok("11=a|55=IBM|38=123|58=x|".to_owned()));
    assert_eq!(two(b"", b"123"), Err((11, Empty)));
    for soh in [&b"\x01"[..], b"a\x01", b"\x0134=7", b"a text of more than 16 bytes\x01"] {
        assert_eq!(two(soh, b"123"), Err((11, Soh)));
    }
    assert_eq!(two(b"a", b"12"), Err((38, HoleWidth)));
    assert_eq!(two(b"a", b"1234"), Err((38, HoleWidth)));
    assert_eq!(two(b"a", b""), Err((38, Empty)));
    assert_eq!(two(b"a", b"1\x012"), Err((38, Soh)));
    // The first mistake is kept, whatever follows.
    assert_eq!(two(b"", b""), Err((11, Empty)));
}

#[test]
fn holes_are_filled_in_the_order_of_the_body_each_once() {
    let of = template("11=?|55=IBM|38=0|58=x|", &[variable(11), variable(38)]).unwrap();
    let wrong = |tag| Err((tag, EncodeErrorKind::Template));
    let (id, qty) = (Key::new(11), Key::new(38));
    assert_eq!(sent(&of, |_| ()), wrong(11));
    assert_eq!(sent(&of, |holes| _ = holes.bytes(id, b"a")), wrong(38));
    assert_eq!(sent(&of, |holes| _ = holes.bytes(qty, b"1").bytes(id, b"a")), wrong(38));
    assert_eq!(sent(&of, |holes| _ = holes.bytes(id, b"a").bytes(id, b"a")), wrong(11));
    assert_eq!(sent(&of, |holes| _ = holes.bytes(id, b"a").field(qty, &1u64).bytes(qty, b"1")), wrong(38));
    assert_eq!(sent(&of, |holes| _ = holes.bytes(id, b"a").bytes(Key::new(55), b"1")), wrong(55));
    assert_eq!(sent(&of, |holes| _ = holes.padded(qty, 7)), wrong(38));
    let none = template("55=IBM|", &[]).unwrap();
    assert_eq!(sent(&none, |_| ()), Ok("55=IBM|".to_owned()));
    assert_eq!(sent(&none, |holes| _ = holes.padded(qty, 7)), wrong(38));
    assert_eq!(sent(&template("", &[]).unwrap(), |_| ()), Ok(String::new()));
}

#[test]
fn a_number_is_padded_to_the_width_of_its_hole() {
    for width in 1..=70 {
        let of = template(&format!("38={}|58=x|", "0".repeat(width)), &[fixed(38)]).unwrap();
        for number in [0, 7, 10, 99_999_999, 100_000_000, u64::MAX] {
            let found = sent(&of, |holes| _ = holes.padded(Key::new(38), number));
            let text = format!("{number:0width$}");
            let fits = text.len() == width && width <= 64;
            let expected = if fits { Ok(format!("38={text}|58=x|")) } else { Err((38, HoleWidth)) };
            assert_eq!(found, expected, "{width}");
        }
    }
    let of = template("38=0|58=x|", &[variable(38)]).unwrap();
    assert_eq!(sent(&of, |holes| _ = holes.padded(Key::new(38), 7)), Err((38, HoleWidth)));
}

#[test]
fn a_template_that_cannot_be_made_says_why() {
    let kind = |body: &str, holes: &[Hole]| template(body, holes).map(|_| ());
    assert_eq!(kind("11=a|55=b|", &[variable(38)]), Err((38, Missing)));
    assert_eq!(kind("11=a|55=b|11=c|", &[variable(11)]), Err((11, Duplicate)));
    assert_eq!(kind("11=a|55=b|", &[variable(55), variable(11)]), Err((11, EncodeErrorKind::Template)));
    assert_eq!(kind("11=a|55=b|", &[variable(11), variable(11)]), Err((11, EncodeErrorKind::Template)));
    assert_eq!(kind("95=1|96=b|", &[variable(95)]), Err((95, DataLength)));
    assert_eq!(kind("95=1|96=b|", &[fixed(96)]), Err((96, DataLength)));
    assert_eq!(kind("11=|55=b|", &[fixed(11)]), Err((11, Empty)));
    assert_eq!(kind("34=|55=b|", &[fixed(10)]), Err((10, Missing)));
    let five = [11, 12, 13, 14, 15].map(variable);
    assert_eq!(kind("11=a|12=b|13=c|14=d|15=e|", &five), Err((15, NoRoom)));
    assert_eq!(kind("11=a|12=b|13=c|14=d|15=e|", &five[..4]), Ok(()));
    // The value in a hole takes no room.
    let long = "a".repeat(400);
    assert_eq!(kind(&format!("58={long}|"), &[variable(58)]), Ok(()));
    assert_eq!(kind(&format!("58={long}|"), &[]), Err((35, NoRoom)));
    // The data has the look of a hole, and is none.
    let data = template("95=8|96=a|11=?|c|11=?|", &[variable(11)]).unwrap();
    assert_eq!(
        sent(&data, |holes| _ = holes.bytes(Key::new(11), b"x")),
        Ok("95=8|96=a|11=?|c|11=x|".to_owned())
    );
}

#[test]
fn a_value_of_the_users_own_type_is_checked_as_any_other() {
    struct Own(&'static [u8]);
    impl ToField for Own {
        const MAX_LEN: usize = 200;
        fn write_to(&self, out: &mut [u8]) -> usize {
            out[..self.0.len()].copy_from_slice(self.0);
            self.0.len()
        }
    }
    let of = template("11=?|58=x|", &[variable(11)]).unwrap();
    let with = |value: &'static [u8]| sent(&of, |holes| _ = holes.field(Key::new(11), &Own(value)));
    assert_eq!(with(b"own"), Ok("11=own|58=x|".to_owned()));
    assert_eq!(with(b""), Err((11, Empty)));
    assert_eq!(with(b"a\x01b"), Err((11, Soh)));
    assert_eq!(with(&[b'a'; 200]), Ok(format!("11={}|58=x|", "a".repeat(200))));
}

#[test]
fn the_debug_text_of_a_template_has_no_secrets() {
    let of = template("553=user|554=secret|58=x|", &[variable(58)]).unwrap();
    let text = format!("{of:?}");
    assert_eq!(text, "Template { msg_type: MsgType(D), fields: 553=user|554=***|58=| }");
    sent(&of, |holes| {
        assert_eq!(format!("{holes:?}"), "Holes { left: 1, error: None }");
        holes.bytes(Key::new(58), b"y");
    })
    .unwrap();
}

/// A sink that says whether a finished body may have a password.
struct Asked<'b>(BodyWriter<'b>);

impl<'b> NewBody<'b> for Asked<'b> {
    type Draft = Self;

    fn draft(self, _: MsgType) -> Self {
        self
    }
}

impl<'b> BodySink<'b> for Asked<'b> {
    type Receipt = bool;
    type Error = EncodeError;

    fn writer(&mut self) -> &mut BodyWriter<'b> {
        &mut self.0
    }

    fn send(self) -> Result<bool, EncodeError> {
        let passwords = TagSet::of([Tag::new(554)]);
        self.0.finish().map(|_| self.0.may_contain(&passwords))
    }
}

/// Two fields that the standard does not have may be data with its length, or two fields.
#[test]
fn the_messages_of_a_template_are_known_to_have_each_field_that_may_be_in_them() {
    for (body, may) in [
        ("554=x|58=?|", true),
        ("553=x|58=?|", false),
        ("5001=7|5002=a|554=x|58=?|", true),
        ("5001=7|5002=a|553=x|58=?|", false),
        ("95=7|96=a|554=x|58=?|", false),
    ] {
        let of = template(body, &[variable(58)]).unwrap();
        let mut memory = [0; 100];
        let sink = Asked(BodyWriter::new(ORDER, &mut memory));
        assert_eq!(of.send(sink, |holes| _ = holes.bytes(Key::new(58), b"y")), Ok(may), "{body}");
    }
}
