//! The `Debug` output of messages and their parts, and what it masks.

#[path = "support/one.rs"]
mod support;

use fixbolt_codec::{
    Body, BodyWriter, DataKey, Field, Frame, Framer, Key, Memory, Message, MsgType, NewBody, Secrets, Tag,
    byte_sum,
};
use support::{message_of, wire};

fn shown(body: &str) -> String {
    message_of(body, |message| format!("{message:?}"))
}

fn field_of(message: Message<'_>, tag: u32) -> String {
    format!("{:?}", message.field(message.position(Tag::new(tag)).unwrap()))
}

#[test]
fn a_message_is_shown_as_text() {
    assert_eq!(shown("35=D|11=ord1|55=IBM|"), "8=FIX.4.4|9=20|35=D|11=ord1|55=IBM|10=122|");
    let escaped = message_of("35=D|58=\u{e9}\t|", |message| format!("{message:#?}"));
    assert_eq!(escaped, r"8=FIX.4.4|9=12|35=D|58=\xc3\xa9\x09|10=005|");
}

#[test]
fn passwords_are_masked_in_a_message_and_raw_data_in_a_logon() {
    let logon = shown("35=A|98=0|95=7|96=a|554=b|58=c|554=old|925=new|");
    assert!(logon.starts_with("8=FIX.4.4|9=47|35=A|98=0|95=7|96=***|58=c|554=***|925=***|10="), "{logon}");
    let news = shown("35=B|148=x|95=7|96=a|554=b|58=c|");
    assert!(news.contains(r"|95=7|96=a\x01554=b|58=c|10="), "{news}");
    // A tag that the index refuses is masked as well.
    let broken = shown("35=A|0554=old|=x|y|");
    assert!(broken.contains("|35=A|0554=***|10="), "{broken}");
    let length = shown("35=A|95=2|96=ab=c|554=b|58=c|");
    assert!(length.contains("|35=A|95=2|96=***|10="), "{length}");
    let parts = message_of("35=A|554=a|b|58=c|", |message| {
        format!("{}{}", message.redacted(3..5), message.redacted(5..6))
    });
    assert_eq!(parts, "554=***|58=c|");
}

#[test]
fn a_field_is_shown_as_text() {
    message_of("35=B|58=a|554=old|95=1|96=z|0=y|", |message| {
        assert_eq!(field_of(message, 58), "58=a");
        assert_eq!(field_of(message, 554), "554=***");
        // A field on its own does not know its message.
        assert_eq!(field_of(message, 96), "96=***");
    });
    // It may be a part of a password.
    assert_eq!(format!("{:?}", Field { tag: None, value: b"a\x01" }), "***");
}

#[test]
fn frames_and_bodies_are_shown_as_text() {
    let logon = wire("35=A|554=old|");
    let mut framer = Framer::new(1000);
    let frame = framer.next(&logon);
    assert_eq!(format!("{frame:?}"), "Message(8=FIX.4.4|9=13|35=A|554=***|10=254|)");
    let Frame::Garbled { .. } = framer.next(b"35=A\x01554=old\x01") else { panic!("no BeginString") };
    let garbled = Framer::new(1000).next(b"35=A\x01554=old\x01");
    assert_eq!(format!("{garbled:?}"), "Garbled { bytes: 35=A|554=***, error: Some(NoBeginString) }");

    let mut memory = [0; 100];
    let mut writer = BodyWriter::new(MsgType::new(b"A"), &mut memory);
    writer.bytes(Key::new(554), b"old").data(DataKey::new(95, 96), b"z");
    assert_eq!(
        format!("{writer:?}"),
        "BodyWriter { msg_type: MsgType(A), written: 554=***|95=1|96=***|, error: None }"
    );
    let body = writer.finish().unwrap();
    let shown = format!("Body {{ msg_type: MsgType(A), bytes: 554=***|95=1|96=***|, sum: {} }}", body.sum);
    assert_eq!(format!("{body:?}"), shown);
    let news = Body { msg_type: MsgType::new(b"B"), bytes: b"95=1\x0196=z\x01", sum: byte_sum(b"") };
    assert!(format!("{news:?}").contains("95=1|96=z|"));

    let mut memory = *b"554=old\x01";
    assert_eq!(format!("{:?}", Memory(&mut memory)), "Memory(8 bytes)");
    let draft = Memory(&mut memory).draft(MsgType::new(b"A"));
    assert_eq!(
        format!("{draft:?}"),
        "MemoryDraft(BodyWriter { msg_type: MsgType(A), written: , error: None })"
    );
}

#[test]
fn the_places_of_secrets_are_shown_without_the_bytes() {
    let ranges = Secrets::STANDARD.in_garbled(b"554=old\x0158=x\x01925=new");
    assert_eq!(format!("{ranges:?}"), "[4..7, 17..20]");
}
