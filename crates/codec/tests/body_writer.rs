//! The body writer: what it writes, and what it refuses.

use fixbolt_codec::{BodyWriter, EncodeErrorKind, Key, MsgType};

const ORDER: MsgType = MsgType::new(b"D");

fn error_of(write: impl FnOnce(&mut BodyWriter<'_>)) -> Option<(u32, EncodeErrorKind)> {
    let mut memory = [0; 512];
    let mut writer = BodyWriter::new(ORDER, &mut memory);
    write(&mut writer);
    writer.finish().err().map(|e| (e.tag.number(), e.kind))
}

#[test]
fn a_finished_body_is_copied_after_header_fields_and_refused_without_room() {
    let mut memory = [0; 64];
    let mut order = BodyWriter::new(MsgType::new(b"D"), &mut memory);
    order.bytes(Key::new(11), b"ord1");
    let finished = order.finish().unwrap();
    let mut memory = [0; 17];
    let mut copy = BodyWriter::new(MsgType::new(b"D"), &mut memory);
    copy.bytes(Key::new(50), b"desk").body(&finished);
    assert_eq!(copy.finish().unwrap().bytes, b"50=desk\x0111=ord1\x01");
    copy.body(&finished);
    assert_eq!(copy.error().map(|error| error.kind), Some(EncodeErrorKind::NoRoom));
}

#[test]
fn fields_that_do_not_form_a_message_are_refused() {
    let k = Key::new;
    assert_eq!(error_of(|w| _ = w.bytes(k(55), b"")), Some((55, EncodeErrorKind::Empty)));
    assert_eq!(error_of(|w| _ = w.bytes(k(55), b"a\x0144=1")), Some((55, EncodeErrorKind::Soh)));
    assert_eq!(
        error_of(|w| _ = w.bytes(k(55), b"a").bytes(k(54), b"1").bytes(k(55), b"b")),
        Some((55, EncodeErrorKind::Duplicate))
    );
    assert_eq!(error_of(|w| _ = w.bytes(k(34), b"7")), Some((34, EncodeErrorKind::SessionField)));
    assert_eq!(
        error_of(|w| _ = w.bytes(k(55), b"a").bytes(k(57), b"G")),
        Some((57, EncodeErrorKind::HeaderAfterBody))
    );
    assert_eq!(error_of(|w| _ = w.bytes(k(58), &[b'x'; 600])), Some((58, EncodeErrorKind::NoRoom)));
    assert_eq!(error_of(|w| _ = w.bytes(k(57), b"G").bytes(k(55), b"a")), None);
}

#[test]
fn a_length_field_must_state_the_length_of_the_data_after_it() {
    let k = Key::new;
    let wrong = Some((96, EncodeErrorKind::DataLength));
    assert_eq!(error_of(|w| _ = w.bytes(k(95), b"3").bytes(k(96), b"abc")), None);
    assert_eq!(error_of(|w| _ = w.bytes(k(95), b"003").bytes(k(96), b"abc").bytes(k(58), b"x")), None);
    assert_eq!(error_of(|w| _ = w.field(k(95), &1u64).field(k(96), &7u64)), None);
    for length in ["2", "4", "99999999999999999999", "x", "-3"] {
        assert_eq!(
            error_of(|w| _ = w.bytes(k(95), length.as_bytes()).bytes(k(96), b"abc")),
            wrong,
            "{length}"
        );
    }
    assert_eq!(error_of(|w| _ = w.field(k(95), &2u64).field(k(96), &7u64)), wrong);
    // The standard requires the length field directly before the data field, although some
    // receivers find it anywhere.
    assert_eq!(error_of(|w| _ = w.bytes(k(95), b"2").bytes(k(58), b"x").bytes(k(96), b"abc")), wrong);
    assert_eq!(error_of(|w| _ = w.bytes(k(95), b"3").bytes(k(354), b"3").bytes(k(96), b"abc")), wrong);
    // Without one a data field is a field like any other, even after the length field of another.
    assert_eq!(error_of(|w| _ = w.bytes(k(96), b"abc")), None);
    assert_eq!(error_of(|w| _ = w.bytes(k(354), b"3").bytes(k(96), b"abcde")), None);
    // The two tags are not consecutive.
    assert_eq!(error_of(|w| _ = w.bytes(k(43109), b"3").bytes(k(42684), b"abc")), None);
    assert_eq!(
        error_of(|w| _ = w.bytes(k(43109), b"2").bytes(k(42684), b"abc")),
        Some((42684, EncodeErrorKind::DataLength))
    );
}

#[test]
fn the_end_of_an_entry_must_not_separate_a_length_from_its_data() {
    let wrong = error_of(|w| {
        let mut group = w.group(Key::new(453), 2);
        w.entry(&mut group);
        w.bytes(Key::new(448), b"a").bytes(Key::new(95), b"4");
        w.entry(&mut group);
        w.bytes(Key::new(96), b"b");
        w.end_group(group);
    });
    assert_eq!(wrong, Some((96, EncodeErrorKind::DataLength)));
}

#[test]
fn tags_that_share_a_bit_are_not_confused() {
    // 55 and 567 are equal modulo 512; the data field contains what looks like the tag.
    assert_eq!(error_of(|w| _ = w.bytes(Key::new(55), b"a").bytes(Key::new(567), b"b")), None);
    assert_eq!(
        error_of(|w| {
            w.data(Key::new(95), Key::new(96), b"x\x01567=y");
            w.bytes(Key::new(55), b"a").bytes(Key::new(567), b"b");
        }),
        None
    );
}

#[test]
fn a_tag_occurs_once_in_an_entry_and_again_in_the_next() {
    let entries = |w: &mut BodyWriter<'_>, twice: bool| {
        let mut group = w.group(Key::new(453), 2);
        for _ in 0..2 {
            w.entry(&mut group);
            w.bytes(Key::new(448), b"A").bytes(Key::new(447), b"D");
            if twice {
                w.bytes(Key::new(448), b"B");
            }
        }
        w.end_group(group);
        w.bytes(Key::new(55), b"a");
    };
    assert_eq!(error_of(|w| entries(w, false)), None);
    assert_eq!(error_of(|w| entries(w, true)), Some((448, EncodeErrorKind::Duplicate)));
}

#[test]
fn after_a_refused_value_writing_continues_and_the_first_mistake_is_kept() {
    // 570 shares the bit of 58, so that what was written is read back.
    let error = error_of(|w| _ = w.bytes(Key::new(58), b"a\x01b").bytes(Key::new(570), b"x"));
    assert_eq!(error, Some((58, EncodeErrorKind::Soh)));
}

#[test]
fn a_value_of_any_length_is_copied_and_soh_is_found_anywhere_in_it() {
    for len in 1..40 {
        let value: Vec<u8> = (0..len).map(|n| b'A' + n % 50).collect();
        let mut memory = [0; 64];
        let mut writer = BodyWriter::new(ORDER, &mut memory);
        writer.bytes(Key::new(58), &value);
        let body = writer.finish().unwrap().bytes;
        assert_eq!(body, [b"58=", &value[..], b"\x01"].concat());
        for at in 0..value.len() {
            let mut value = value.clone();
            value[at] = 1;
            assert_eq!(error_of(|w| _ = w.bytes(Key::new(58), &value)), Some((58, EncodeErrorKind::Soh)));
        }
    }
}

#[test]
fn a_group_has_as_many_entries_as_it_announces() {
    let error = error_of(|w| {
        let group = w.group(Key::new(453), 2);
        w.end_group(group);
    });
    assert_eq!(error, Some((453, EncodeErrorKind::GroupOrder)));
    assert_eq!(
        error_of(|w| {
            let group = w.group(Key::new(453), 0);
            w.end_group(group);
        }),
        None
    );
}

#[test]
fn a_length_without_its_data_does_not_mislead_what_is_read_back() {
    // Found by the fuzzer: the length field of a refused data field stays in the body, and the data
    // field of the next entry does not have that length.
    let error = error_of(|w| {
        let mut group = w.group(Key::new(453), 2);
        w.entry(&mut group);
        w.bytes(Key::new(96), b"x").data(Key::new(95), Key::new(96), b"12345");
        w.entry(&mut group);
        w.bytes(Key::new(96), b"y").bytes(Key::new(448), b"z");
        w.end_group(group);
        w.bytes(Key::new(965), b"a");
    });
    assert_eq!(error, Some((96, EncodeErrorKind::Duplicate)));
}
