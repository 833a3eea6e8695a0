//! Body writer and envelope: whatever is written is either refused for the reason that a simple
//! model predicts, or becomes a message that framer and index read back as exactly the fields that
//! were written.

use fixbolt_codec::{
    BodyWriter, Char, DataFields, DataKey, Decimal, EncodeErrorKind, Envelope, Frame, Framer, Index, Key,
    MsgType, SeqNum, Span, Stamp, Tag,
};

use super::choices::Choices;

const HEADROOM: usize = 256;
const ROOM: usize = 700;

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = vec![
        b"\x00\x0b\x04ord1\x00\x37\x03IBM\x01\x26\x64\x02\x2c\x05\x02".to_vec(),
        b"\x03\x02\x05a\x01b=c\x00\x3a\x01x".to_vec(),
        b"\x04\x02\x02\x00\x0b\x01a\x00\x0c\x01b\x00\x0b\x01c\x00\x0c\x01d".to_vec(),
        b"\x00\x32\x01s\x00\x3a\x01t\x00\x32\x01u".to_vec(),
    ];
    seeds.push((0..=255).collect());
    seeds.push(vec![0x3a; 600]);
    seeds
}

/// A simple model of what has been written.
struct Model {
    fields: Vec<(u32, Vec<u8>)>,
    /// The message, and inside it the entries of the open groups.
    scopes: Vec<Scope>,
    used: usize,
    body_begun: bool,
    error: Option<(Tag, EncodeErrorKind)>,
    /// The last field, if it is a length field.
    waiting: Option<Waiting>,
    /// Whether a tag follows a group that contains it too: only a dictionary can say whether that
    /// is a duplicate.
    undecided: bool,
    /// Whether a group was not ended, so that the body is refused whatever follows.
    abandoned: bool,
}

/// A length field that waits for its data field.
#[derive(Clone, Copy)]
struct Waiting {
    length_tag: u32,
    data_tag: u32,
    length: Option<usize>,
}

/// The region in which a tag may occur once.
#[derive(Default)]
struct Scope {
    own: Vec<u32>,
    in_closed_groups: Vec<u32>,
}

const HEADER: &[u32] = &[
    50, 57, 90, 91, 97, 115, 116, 128, 129, 142, 143, 144, 145, 212, 213, 347, 369, 370, 627, 1128, 1129,
    1156,
];
const SESSION: &[u32] = &[8, 9, 10, 34, 35, 43, 49, 52, 56, 122];

impl Model {
    fn new() -> Self {
        Self {
            fields: Vec::new(),
            scopes: vec![Scope::default()],
            used: 0,
            body_begun: false,
            error: None,
            waiting: None,
            undecided: false,
            abandoned: false,
        }
    }

    fn scope(&mut self) -> &mut Scope {
        self.scopes.last_mut().expect("the message's scope stays")
    }

    fn leave_entry(&mut self) {
        let inner = self.scopes.pop().expect("an entry was entered");
        self.scope().in_closed_groups.extend(inner.own.into_iter().chain(inner.in_closed_groups));
    }

    fn refuse(&mut self, tag: u32, kind: EncodeErrorKind) {
        self.error = self.error.or(Some((Tag::new(tag), kind)));
    }

    fn field(&mut self, tag: u32, value: &[u8]) {
        let before = self.waiting.take();
        if !self.placed(tag, value, before) {
            return;
        }
        let digits = value.iter().skip_while(|digit| **digit == b'0').map(|digit| char::from(*digit));
        if before.is_some_and(|before| before.length != Some(value.len())) {
            self.refuse(tag, EncodeErrorKind::DataLength);
        } else if let Some(data_tag) = DataFields::STANDARD.data_tag(tag) {
            let length = digits.collect::<String>().parse().ok();
            self.waiting = Some(Waiting { length_tag: tag, data_tag, length });
        }
    }

    fn placed(&mut self, tag: u32, value: &[u8], before: Option<Waiting>) -> bool {
        let size = tag.to_string().len() + 1 + value.len() + 1;
        if SESSION.contains(&tag) {
            self.refuse(tag, EncodeErrorKind::SessionField);
        } else if HEADER.contains(&tag) && self.body_begun {
            self.refuse(tag, EncodeErrorKind::HeaderAfterBody);
        } else if self.scope().own.contains(&tag) {
            self.refuse(tag, EncodeErrorKind::Duplicate);
        } else {
            // Whether the writer takes it for a duplicate of a group's field is not said.
            self.undecided |= self.error.is_none() && self.scope().in_closed_groups.contains(&tag);
            if let Some(before) = before.filter(|before| before.data_tag != tag) {
                self.refuse(before.length_tag, EncodeErrorKind::DanglingLength);
            } else if self.used + size > ROOM {
                self.refuse(tag, EncodeErrorKind::NoRoom);
            } else {
                self.body_begun |= !HEADER.contains(&tag);
                self.scope().own.push(tag);
                self.fields.push((tag, value.to_vec()));
                self.used += size;
                return true;
            }
        }
        false
    }

    /// No data field can follow here.
    fn refuse_waiting(&mut self) {
        if let Some(waiting) = self.waiting.take() {
            self.refuse(waiting.length_tag, EncodeErrorKind::DanglingLength);
        }
    }

    /// The end of an entry that began at `begin`.
    fn end_entry(&mut self, count_tag: u32, begin: usize) {
        self.refuse_waiting();
        if self.used == begin {
            self.refuse(count_tag, EncodeErrorKind::EmptyEntry);
        }
        self.leave_entry();
    }

    fn bytes(&mut self, tag: u32, value: &[u8]) {
        if value.is_empty() {
            self.refuse(tag, EncodeErrorKind::Empty);
        } else if value.contains(&1) {
            let before = self.waiting.take();
            self.placed(tag, value, before);
            self.refuse(tag, EncodeErrorKind::Soh);
        } else {
            self.field(tag, value);
        }
    }

    fn data(&mut self, length_tag: u32, data_tag: u32, value: &[u8]) {
        if value.is_empty() {
            self.refuse(data_tag, EncodeErrorKind::Empty);
        } else {
            let before = self.waiting.take();
            let length = value.len().to_string();
            // A length field that waits for this data field has this length field, too.
            _ = self.placed(length_tag, length.as_bytes(), before) && self.placed(data_tag, value, None);
        }
    }
}

/// The tags that a byte of the input can select, including length fields without their data and
/// vice versa.
fn tag(choices: &mut Choices<'_>) -> u32 {
    let byte = u32::from(choices.byte());
    match byte {
        0 => 2_147_483_647,
        // Lengths with their data, which chance alone would rarely combine.
        180..=199 => [95, 96, 354, 355, 43_109, 42_684][byte as usize % 6],
        // Tags that share a bit of the writer's memory.
        200..=229 => byte % 4 + 512 * (byte % 7 + 1),
        230..=255 => byte * 37,
        _ => byte,
    }
}

pub(super) fn run(data: &[u8]) {
    let mut memory = vec![0; HEADROOM + ROOM + 7];
    let mut choices = Choices::new(data);
    let mut model = Model::new();
    let msg_type = MsgType::new(b"D");
    let (end, sum) = {
        let mut writer = BodyWriter::new(msg_type, &mut memory[HEADROOM..HEADROOM + ROOM]);
        // After a mistake writing continues, as in an application: the first mistake is kept.
        while !choices.is_empty() && !model.undecided && !model.abandoned {
            write_one(&mut writer, &mut model, &mut choices, 0);
        }
        if model.abandoned {
            assert!(writer.finish().is_err(), "a group was not ended");
        }
        if model.undecided || model.abandoned {
            return;
        }
        model.refuse_waiting();
        match (writer.finish(), model.error) {
            (Ok(body), None) => (HEADROOM + body.bytes.len(), body.sum),
            (found, expected) => {
                assert_eq!(
                    found.err().map(|error| (error.tag, error.kind)),
                    expected,
                    "the writer and the model disagree"
                );
                return;
            }
        }
    };
    read_back(&mut memory, end, sum, msg_type, &model, data.len().is_multiple_of(2));
}

fn write_one(writer: &mut BodyWriter<'_>, model: &mut Model, choices: &mut Choices<'_>, depth: usize) {
    match choices.byte() % 7 {
        0 | 5 => {
            let tag = tag(choices);
            let length = usize::from(choices.byte()) % 40;
            let value = choices.take(length);
            writer.bytes(Key::new(tag), value);
            model.bytes(tag, value);
        }
        1 => {
            let tag = tag(choices);
            let value = u64::from(choices.byte()) << (choices.byte() % 57);
            writer.field(Key::new(tag), &value);
            model.field(tag, value.to_string().as_bytes());
        }
        2 => {
            let tag = tag(choices);
            let text = format!("{}.{:02}", choices.byte(), choices.byte() % 100);
            let value: Decimal = text.parse().expect("a decimal");
            writer.field(Key::new(tag), &value);
            model.field(tag, text.as_bytes());
        }
        3 => {
            let pairs = DataFields::STANDARD.pairs();
            let (length_tag, data_tag) = pairs[usize::from(choices.byte()) % pairs.len()];
            let length = usize::from(choices.byte()) % 60;
            let value = choices.take(length);
            writer.data(DataKey::new(length_tag, data_tag), value);
            model.data(length_tag, data_tag, value);
        }
        6 => {
            let (tag, value) = (tag(choices), choices.byte());
            writer.field(Key::new(tag), &Char(value));
            model.bytes(tag, &[value]);
        }
        _ if depth < 3 => write_group(writer, model, choices, depth),
        _ => {}
    }
}

fn write_group(writer: &mut BodyWriter<'_>, model: &mut Model, choices: &mut Choices<'_>, depth: usize) {
    let tag = tag(choices);
    let entries = match choices.byte() {
        0xEE => 12,
        byte => usize::from(byte % 4),
    };
    let (before, used, body_begun) = (model.fields.len(), model.used, model.body_begun);
    let mut group = writer.group(Key::new(tag));
    let standard = DataFields::STANDARD;
    if standard.data_tag(tag).is_some() || standard.length_tag(tag).is_some() {
        model.refuse(tag, EncodeErrorKind::DataLength);
    }
    model.bytes(tag, b"0");
    for _ in 0..entries {
        writer.entry(&mut group);
        model.refuse_waiting();
        let begin = model.used;
        model.scopes.push(Scope::default());
        for _ in 0..choices.byte() % 4 {
            write_one(writer, model, choices, depth + 1);
        }
        model.end_entry(tag, begin);
    }
    model.refuse_waiting();
    if choices.byte() == 0xDD {
        model.abandoned = true;
        return;
    }
    writer.end_group(group);
    if model.error.is_some() {
        return;
    }
    if entries == 0 {
        model.fields.truncate(before);
        model.scope().own.retain(|own| *own != tag);
        (model.used, model.body_begun) = (used, body_begun);
        return;
    }
    let digits = entries.to_string();
    model.used += digits.len() - 1;
    if model.used > ROOM {
        model.refuse(tag, EncodeErrorKind::NoRoom);
    }
    model.fields[before].1 = digits.into_bytes();
}

fn read_back(memory: &mut [u8], end: usize, sum: u8, msg_type: MsgType, model: &Model, again: bool) {
    let envelope = Envelope::new(b"FIX.4.4", b"SENDER", b"TARGET").expect("a good envelope");
    let original = again.then_some(&b"20260105-10:00:00.000"[..]);
    let stamp = Stamp {
        seq: SeqNum(end as u64),
        sending_time: b"20260105-10:00:00.123",
        original,
        last_processed: None,
    };
    let sealed = envelope.seal(memory, HEADROOM..end, msg_type, sum, &stamp).expect("enough headroom");
    let bytes = &memory[sealed];
    let Frame::Message(framed) = Framer::new(64 * 1024).next(bytes) else {
        panic!("the framer does not take our message")
    };
    assert_eq!(framed.bytes().len(), bytes.len());
    let (mut tags, mut spans) = (vec![0; 512], vec![Span::default(); 512]);
    let mut index = Index::new(&mut tags, &mut spans);
    let message = index.build(framed).expect("the index does not take our message");
    assert_eq!(message.fault(), None);
    let header: &[u32] =
        if again { &[8, 9, 35, 49, 56, 34, 43, 52, 122] } else { &[8, 9, 35, 49, 56, 34, 52] };
    assert_eq!(&message.tags()[..header.len()], header);
    let found: Vec<(u32, Vec<u8>)> =
        (header.len()..message.len() - 1).map(|n| (message.tags()[n], message.value(n).to_vec())).collect();
    assert_eq!(found, model.fields);
}
