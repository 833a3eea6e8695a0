//! Setting fields of a body that is written, against a model that writes it anew.

use fixbolt_codec::plumbing::BodyPlumbing as _;
use fixbolt_codec::{Body, BodyWriter, DataFields, DataKey, EncodeErrorKind, Key, MsgType, Tag, byte_sum};

/// A generator of numbers (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }

    fn value(&mut self) -> Vec<u8> {
        let length = 1 + self.below(40);
        (0..length).map(|_| b'a' + self.below(26) as u8).collect()
    }
}

const HEADER: [u32; 4] = [50, 57, 115, 128];
const BODY: [u32; 6] = [1, 11, 55, 58, 5001, 1_234_567];

/// Writes fields, with data of the standard or of a dialect before the last.
fn write<'b>(memory: &'b mut [u8], fields: &[(u32, Vec<u8>)], data: Option<(u32, u32)>) -> BodyWriter<'b> {
    let mut writer = BodyWriter::new(MsgType::new(b"B"), memory);
    for (tag, value) in fields {
        writer.bytes(Key::new(*tag), value);
    }
    if let Some((length, data)) = data {
        let key = if length == 95 { DataKey::new(95, 96) } else { DataKey::of_dialect(length, data) };
        writer.data(key, b"\x0111=x\x0150=y\x01");
    }
    writer
}

#[test]
fn a_body_with_fields_set_is_the_body_that_was_written_with_them() {
    let dialect = DataFields::new(&[(95, 96), (20_001, 20_002)]);
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    for _ in 0..20_000 {
        let mut fields: Vec<(u32, Vec<u8>)> = Vec::new();
        for tag in HEADER.iter().chain(&BODY) {
            if numbers.below(2) == 0 {
                fields.push((*tag, numbers.value()));
            }
        }
        let data = [None, Some((95, 96)), Some((20_001, 20_002))][numbers.below(3)];
        let mut memory = [0; 1024];
        let mut writer = write(&mut memory, &fields, data);
        let mut added_after = Vec::new();
        for _ in 0..1 + numbers.below(4) {
            let all: Vec<u32> = HEADER.iter().chain(&BODY).copied().collect();
            let (tag, value) = (all[numbers.below(all.len())], numbers.value());
            writer.set(Key::new(tag), &value, &dialect);
            let header = fields.iter().take_while(|(n, _)| HEADER.contains(n)).count();
            let all = fields.iter_mut().chain(&mut added_after);
            if let Some((_, old)) = all.into_iter().find(|(n, _)| *n == tag) {
                *old = value.clone();
            } else if HEADER.contains(&tag) {
                fields.insert(header, (tag, value.clone()));
            } else {
                added_after.push((tag, value.clone()));
            }
            assert_eq!(writer.written_value(Tag::new(tag), &dialect), Some(&*value));
        }
        // What is written afterwards is checked as ever.
        let last = added_after.last().or(fields.last()).map(|(tag, _)| *tag);
        let (mut again, mut expected_memory) = ([0; 1024], Vec::new());
        let expected = write(&mut again, &fields, data);
        expected_memory.extend_from_slice(expected.finish().unwrap().bytes);
        for (tag, value) in &added_after {
            expected_memory.extend_from_slice(format!("{tag}=").as_bytes());
            expected_memory.extend_from_slice(value);
            expected_memory.push(1);
        }
        let Body { bytes, sum, .. } = writer.finish().unwrap();
        assert_eq!(bytes, expected_memory);
        assert_eq!(sum, byte_sum(&expected_memory));
        if let Some(last) = last {
            writer.bytes(Key::new(last), b"twice");
            assert!(writer.error().is_some());
        }
    }
}

#[test]
fn a_value_fits_as_long_as_the_memory_has_room_for_it() {
    for length in 1..40 {
        let mut memory = [0; 32];
        let mut writer = BodyWriter::new(MsgType::new(b"B"), &mut memory);
        writer.bytes(Key::new(11), b"a").bytes(Key::new(58), b"text");
        writer.set(Key::new(11), &vec![b'x'; length], DataFields::STANDARD);
        let fits = "11=|58=text|".len() + length <= 32;
        assert_eq!(writer.error().map(|error| error.kind), (!fits).then_some(EncodeErrorKind::NoRoom));
        let mut writer = BodyWriter::new(MsgType::new(b"B"), &mut memory);
        writer.bytes(Key::new(58), b"text");
        writer.set(Key::new(50), &vec![b'x'; length], DataFields::STANDARD);
        assert_eq!(writer.error().is_none(), "50=|58=text|".len() + length <= 32);
    }
}

#[test]
fn nothing_is_set_in_a_body_that_is_not_finished() {
    let mut memory = [0; 256];
    let mut writer = BodyWriter::new(MsgType::new(b"B"), &mut memory);
    let mut lines = writer.group(Key::new(33));
    writer.entry(&mut lines);
    writer.bytes(Key::new(58), b"line");
    writer.set(Key::new(148), b"head", DataFields::STANDARD);
    assert_eq!(writer.error().map(|error| error.kind), Some(EncodeErrorKind::OpenGroup));
    assert!(!writer.written().windows(4).any(|bytes| bytes == b"148="));
}

#[test]
fn no_header_field_follows_a_body_that_ends_where_its_header_did() {
    let mut memory = [0; 256];
    let mut writer = BodyWriter::new(MsgType::new(b"B"), &mut memory);
    writer.bytes(Key::new(57), &[b'x'; 20]).bytes(Key::new(148), b"abcde");
    writer.set(Key::new(57), &[b'x'; 10], DataFields::STANDARD);
    assert_eq!(writer.written().len(), "57=|".len() + 20);
    writer.bytes(Key::new(50), b"desk");
    assert_eq!(writer.error().map(|error| error.kind), Some(EncodeErrorKind::HeaderAfterBody));
}
