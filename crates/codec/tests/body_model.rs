//! The body writer against a naive one: random fields, data and groups, right and wrong ones, in
//! memory of any size, have the same bytes, or the same first mistake.

use fixbolt_codec::plumbing::BodyPlumbing as _;
use fixbolt_codec::{
    BodyWriter, DataKey, Decimal, EncodeErrorKind as Kind, Key, MsgType, OpenGroup, byte_sum,
};

const ORDER: MsgType = MsgType::new(b"D");

/// What is written, in order.
#[derive(Clone, Debug)]
enum Step {
    Bytes(u32, Vec<u8>),
    Number(u32, u64),
    Decimal(u32, Decimal),
    Data(u32, u32, Vec<u8>),
    Group(u32),
    Entry,
    EndGroup,
}

/// Tags that share a bit (55, 567, 1079 and 5175; 58 and 570), of header, session and groups, of
/// pairs, and of up to ten digits.
const TAGS: [u32; 24] = [
    1,
    9,
    11,
    50,
    55,
    57,
    58,
    95,
    96,
    142,
    453,
    567,
    570,
    582,
    627,
    628,
    1079,
    1128,
    5001,
    5175,
    99_999,
    1_234_567,
    12_345_678,
    2_000_000_000,
];
const PAIRS: [(u32, u32); 2] = [(95, 96), (354, 355)];

fn steps(random: &mut fastrand::Rng) -> Vec<Step> {
    let (mut steps, mut depth) = (Vec::new(), 0);
    // Mostly right: a tag is seldom used twice, and a value is seldom wrong.
    let mut tags = TAGS.to_vec();
    random.shuffle(&mut tags);
    if random.bool() {
        tags.sort_by_key(|tag| !matches!(tag, 50 | 57 | 142 | 627 | 628 | 1128));
        tags.retain(|tag| *tag != 9);
    }
    let mut next = tags.iter().copied().cycle();
    for _ in 0..random.usize(..20) {
        let tag = next.next().unwrap_or(1);
        match random.usize(..16) {
            0..=6 => {
                let length = if random.u8(..20) == 0 { 0 } else { random.usize(1..40) };
                let mut text: Vec<u8> = (0..length).map(|n| b' ' + (n * 7 % 90) as u8).collect();
                if random.u8(..30) == 0 && length > 0 {
                    text[random.usize(..length)] = 1;
                }
                steps.push(Step::Bytes(tag, text));
            }
            7 | 8 => steps.push(Step::Number(tag, random.u64(..) >> random.u32(..64))),
            9 => {
                let mantissa = random.i64(..) >> random.u32(..64);
                steps.push(Step::Decimal(tag, Decimal::from_parts(mantissa, random.u8(..=18))));
            }
            10 => {
                let (length, data) = PAIRS[random.usize(..2)];
                let text = [&b"a\x0155="[..], &b"bcdefghijklmnopqrst"[..random.usize(..19)]].concat();
                let empty = random.u8(..20) == 0;
                steps.push(Step::Data(length, data, if empty { Vec::new() } else { text }));
            }
            11 => {
                // A length, and data that has it, or not.
                let (length, data) = PAIRS[random.usize(..2)];
                steps.push(Step::Number(length, random.u64(1..4)));
                steps.push(Step::Bytes(data, vec![b'x'; random.usize(1..4)]));
            }
            12 | 13 if depth < 3 => {
                steps.push(Step::Group(tag));
                depth += 1;
                for _ in 0..random.choice([0, 1, 1, 2, 12]).unwrap_or(0) {
                    steps.push(Step::Entry);
                    if random.u8(..20) > 0 {
                        steps.push(Step::Bytes(448, b"A".to_vec()));
                    }
                }
            }
            14 if depth > 0 => steps.push(Step::Entry),
            _ if depth > 0 => {
                steps.push(Step::EndGroup);
                depth -= 1;
            }
            _ => {}
        }
    }
    if random.u8(..20) > 0 {
        steps.extend((0..depth).map(|_| Step::EndGroup));
    }
    steps
}

/// The naive writer, which stops at the first mistake.
#[derive(Default)]
struct Model {
    bytes: Vec<u8>,
    limit: usize,
    after_header: bool,
    /// The tags of each scope from the outermost to this one.
    scopes: Vec<Vec<u32>>,
    /// The length field before, with its value, which waits for the data field.
    announced: Option<(u32, u32, Option<u64>)>,
    groups: Vec<ModelGroup>,
}

struct ModelGroup {
    count: u32,
    entries: usize,
    begin: usize,
    first_entry: usize,
    entry: usize,
    after_header: bool,
}

type Refused = (u32, Kind);

impl Model {
    fn write(steps: &[Step], limit: usize) -> Result<Vec<u8>, Refused> {
        let mut model = Self { limit, scopes: vec![Vec::new()], ..Self::default() };
        for step in steps {
            match step {
                Step::Bytes(tag, value) if value.is_empty() => return Err((*tag, Kind::Empty)),
                Step::Bytes(tag, value) => model.field(*tag, value)?,
                Step::Number(tag, number) => model.field(*tag, number.to_string().as_bytes())?,
                Step::Decimal(tag, decimal) => model.field(*tag, decimal.to_string().as_bytes())?,
                Step::Data(_, data, value) if value.is_empty() => return Err((*data, Kind::Empty)),
                Step::Data(length, data, value) => {
                    model.admit(*length)?;
                    model.append(*length, value.len().to_string().as_bytes())?;
                    model.admit(*data)?;
                    model.append(*data, value)?;
                }
                Step::Group(count) => model.group(*count)?,
                Step::Entry => {
                    model.end_entry()?;
                    let at = model.bytes.len();
                    let Some(group) = model.groups.last_mut() else { continue };
                    if group.entries > 0 {
                        model.scopes.pop();
                    }
                    group.entries += 1;
                    group.entry = at;
                    model.scopes.push(Vec::new());
                }
                Step::EndGroup => model.end_group()?,
            }
        }
        match (model.announced, model.groups.last()) {
            (Some((length, ..)), _) => Err((length, Kind::DanglingLength)),
            (None, Some(group)) => Err((group.count, Kind::OpenGroup)),
            (None, None) => Ok(model.bytes),
        }
    }

    /// Returns the length that the field must have, if one was announced.
    fn admit(&mut self, tag: u32) -> Result<Option<Option<u64>>, Refused> {
        match tag {
            8 | 9 | 10 | 34 | 35 | 43 | 49 | 52 | 56 | 122 => return Err((tag, Kind::SessionField)),
            50 | 57 | 142 | 627..=630 | 1128 if self.after_header => {
                return Err((tag, Kind::HeaderAfterBody));
            }
            _ => {}
        }
        let scope = self.scopes.last_mut().expect("there is always one");
        if scope.contains(&tag) {
            return Err((tag, Kind::Duplicate));
        }
        scope.push(tag);
        match self.announced.take() {
            Some((length_tag, data_tag, _)) if data_tag != tag => Err((length_tag, Kind::DanglingLength)),
            announced => Ok(announced.map(|(_, _, length)| length)),
        }
    }

    fn append(&mut self, tag: u32, value: &[u8]) -> Result<(), Refused> {
        let field = [format!("{tag}=").as_bytes(), value, b"\x01"].concat();
        if self.bytes.len() + field.len() > self.limit {
            return Err((tag, Kind::NoRoom));
        }
        self.bytes.extend(field);
        self.after_header |= !matches!(tag, 50 | 57 | 142 | 627..=630 | 1128);
        Ok(())
    }

    fn field(&mut self, tag: u32, value: &[u8]) -> Result<(), Refused> {
        let announced = self.admit(tag)?;
        if self.bytes.len() + format!("{tag}=").len() + value.len() + 1 > self.limit {
            return Err((tag, Kind::NoRoom));
        }
        if value.contains(&1) {
            return Err((tag, Kind::Soh));
        }
        if announced.is_some_and(|length| length != Some(value.len() as u64)) {
            return Err((tag, Kind::DataLength));
        }
        self.append(tag, value)?;
        if let Some((_, data)) = PAIRS.iter().find(|(length, _)| *length == tag) {
            let length = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
            self.announced = Some((tag, *data, length));
        }
        Ok(())
    }

    fn group(&mut self, count: u32) -> Result<(), Refused> {
        let (begin, after_header) = (self.bytes.len(), self.after_header);
        if matches!(count, 95 | 96 | 354 | 355) {
            return Err((count, Kind::DataLength));
        }
        self.field(count, b"0")?;
        let first_entry = self.bytes.len();
        self.groups.push(ModelGroup { count, entries: 0, begin, first_entry, entry: 0, after_header });
        Ok(())
    }

    fn end_entry(&mut self) -> Result<(), Refused> {
        if let Some((length, ..)) = self.announced {
            return Err((length, Kind::DanglingLength));
        }
        match self.groups.last() {
            Some(group) if group.entries == 0 && self.bytes.len() != group.first_entry => {
                Err((group.count, Kind::BeforeEntry))
            }
            Some(group) if group.entries > 0 && self.bytes.len() == group.entry => {
                Err((group.count, Kind::EmptyEntry))
            }
            _ => Ok(()),
        }
    }

    fn end_group(&mut self) -> Result<(), Refused> {
        self.end_entry()?;
        let Some(group) = self.groups.pop() else { return Ok(()) };
        if group.entries == 0 {
            self.bytes.truncate(group.begin);
            self.after_header = group.after_header;
            return Ok(());
        }
        self.scopes.pop();
        let (count, digit) = (group.entries.to_string(), group.first_entry - 2);
        if self.bytes.len() + count.len() - 1 > self.limit {
            return Err((group.count, Kind::NoRoom));
        }
        self.bytes.splice(digit..=digit, count.bytes());
        Ok(())
    }
}

fn written(steps: &[Step], memory: &mut [u8], start: usize, limit: usize) -> Result<Vec<u8>, Refused> {
    let mut w = BodyWriter::within(ORDER, memory, start, limit);
    let mut groups: Vec<OpenGroup<'_>> = Vec::new();
    for step in steps {
        match step {
            Step::Bytes(tag, value) => _ = w.bytes(Key::new(*tag), value),
            Step::Number(tag, number) => _ = w.field(Key::new(*tag), number),
            Step::Decimal(tag, decimal) => _ = w.field(Key::new(*tag), decimal),
            Step::Data(length, data, value) => _ = w.data(DataKey::new(*length, *data), value),
            Step::Group(count) => groups.push(w.group(Key::new(*count))),
            Step::Entry => {
                if let Some(group) = groups.last_mut() {
                    w.entry(group);
                }
            }
            Step::EndGroup => {
                if let Some(group) = groups.pop() {
                    w.end_group(group);
                }
            }
        }
    }
    let finished = w.finish().map(|body| {
        assert_eq!(body.sum, byte_sum(body.bytes));
        body.bytes.to_vec()
    });
    finished.map_err(|error| (error.tag.number(), error.kind))
}

#[test]
fn random_bodies_are_those_of_a_naive_writer_or_have_its_first_mistake() {
    let mut random = fastrand::Rng::with_seed(41);
    let (mut right, mut kinds) = (0, std::collections::BTreeSet::new());
    for n in 0..if cfg!(miri) { 200 } else { 100_000 } {
        let steps = steps(&mut random);
        let room = if random.bool() { random.usize(..=300) } else { 2_000 };
        let (start, after) = (random.usize(..20), random.usize(..60));
        let mut memory = vec![2; start + room + after];
        let found = written(&steps, &mut memory, start, start + room);
        let expected = Model::write(&steps, room);
        assert_eq!(found, expected, "{n}: {room} bytes for {steps:?}");
        assert!(memory[..start].iter().chain(&memory[start + room..]).all(|byte| *byte == 2));
        match expected {
            Ok(body) => right += usize::from(!body.is_empty()),
            Err((_, kind)) => _ = kinds.insert(format!("{kind:?}")),
        }
    }
    if !cfg!(miri) {
        assert!(right > 10_000, "{right} bodies are right");
        assert_eq!(kinds.len(), 11, "{kinds:?}");
    }
}

#[test]
fn a_body_of_any_fields_is_refused_in_each_room_but_one_that_is_large_enough() {
    let mut random = fastrand::Rng::with_seed(42);
    for _ in 0..if cfg!(miri) { 2 } else { 300 } {
        let steps = steps(&mut random);
        let Ok(body) = Model::write(&steps, 4_000) else { continue };
        for room in 0..body.len() + 50 {
            let found = written(&steps, &mut vec![0; room], 0, room);
            assert_eq!(found, Model::write(&steps, room), "{room} bytes for {steps:?}");
        }
    }
}

#[test]
fn soh_is_found_at_each_place_of_a_value_of_each_length() {
    for tag in [1, 58, 570, 5001, 99_999_999] {
        for length in 1..70 {
            let value = vec![b'x'; length];
            let steps = |value: Vec<u8>| [Step::Bytes(58, b"x".to_vec()), Step::Bytes(tag, value)];
            for room in [length + 16, 200] {
                for place in 0..length {
                    let mut value = value.clone();
                    value[place] = 1;
                    let steps = steps(value);
                    let found = written(&steps, &mut vec![0; room], 0, room);
                    assert_eq!(found, Model::write(&steps, room), "{tag}, {place} of {length}");
                }
            }
        }
    }
}
