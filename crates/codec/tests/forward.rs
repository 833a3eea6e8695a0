//! Messages that are sent again: what is copied, what is not, and what is refused.

mod support;

use fixbolt_codec::plumbing::{BodyPlumbing as _, PlacePlumbing as _};
use fixbolt_codec::{
    Body, BodyWriter, DataFields, DataKey, EncodeError, EncodeErrorKind, Envelope, Frame, Framed, Framer,
    Index, Key, Memory, Message, Place, Section, SeqNum, Span, Stamp, Tag, Tier, byte_sum,
};
use support::messages::{own, recorded, seal, seal_bytes};

use EncodeErrorKind::{DataLength, Duplicate, Empty, HeaderAfterBody, Malformed, NoRoom, SessionField};

const SESSION: [u32; 10] = [8, 9, 10, 34, 35, 43, 49, 52, 56, 122];
const ROUTE: [u32; 15] = [50, 57, 115, 116, 128, 129, 142, 143, 144, 145, 369, 370, 627, 628, 630];
const KEPT: [u32; 9] = [90, 91, 97, 212, 213, 347, 1128, 1129, 1156];

fn tags<const N: usize>(numbers: [u32; N]) -> [Tag; N] {
    numbers.map(Tag::new)
}

fn with_index<R>(bytes: &[u8], read: impl FnOnce(Message<'_>) -> R) -> R {
    let (mut tags, mut spans) = (vec![0; 512], vec![Span::default(); 512]);
    let mut index = Index::new(&mut tags, &mut spans);
    read(index.build(Framed::try_new(bytes).unwrap()).unwrap())
}

type Failed = (u32, EncodeErrorKind);

fn forwarded(
    message: &Message<'_>,
    removed: &[Tag],
    write: impl FnOnce(&mut BodyWriter<'_>),
) -> Result<Vec<u8>, Failed> {
    let mut memory = vec![0; message.bytes().len() + 400];
    let error = |error: EncodeError| (error.tag.number(), error.kind);
    let body = message.forward(Memory(&mut memory), removed, write).map_err(error)?;
    assert_eq!((body.sum, body.msg_type.as_bytes()), (byte_sum(body.bytes), message.msg_type()));
    Ok(body.bytes.to_vec())
}

/// Forwards a message of FIX.4.4 with these fields, and returns the body with `|` for SOH.
fn of(fields: &str, removed: &[Tag], write: impl FnOnce(&mut BodyWriter<'_>)) -> Result<String, Failed> {
    with_index(&seal("FIX.4.4", fields.as_bytes()), |message| {
        let body = forwarded(&message, removed, write)?;
        Ok(String::from_utf8_lossy(&body).replace('\x01', "|"))
    })
}

/// The definition, for a message without places: the body, or the first mistake.
fn expected(message: &Message<'_>, removed: &[u32], written: &[(u32, &[u8])]) -> Result<Vec<u8>, Failed> {
    if message.fault().is_some() {
        return Err((0, Malformed));
    }
    let standard = DataFields::STANDARD;
    let is_removed = |tag| {
        let partners = [standard.data_tag(tag), standard.length_tag(tag)];
        removed.contains(&tag) || partners.into_iter().flatten().any(|tag| removed.contains(&tag))
    };
    let mut fields: Vec<(u32, &[u8])> =
        (3..message.len() - 1).map(|n| (message.tags()[n], message.field_bytes(n))).collect();
    let is_header =
        |tag: &u32| SESSION.contains(tag) || ROUTE.contains(tag) || KEPT.contains(tag) || *tag == 629;
    let first = fields.iter().position(|(tag, _)| !is_header(tag)).unwrap_or(fields.len());
    let body = fields.split_off(first);
    let (mut all, mut kept) = (Vec::new(), Vec::new());
    for (tag, field) in fields {
        if KEPT.contains(&tag) && !is_removed(tag) {
            if kept.contains(&tag) {
                return Err((tag, Duplicate));
            }
            kept.push(tag);
            all.extend_from_slice(field);
            all.push(1);
        }
    }
    for (tag, value) in written {
        all.extend_from_slice(&[format!("{tag}=").as_bytes(), value, b"\x01"].concat());
    }
    let signature = body.iter().rev().take_while(|(tag, _)| matches!(tag, 93 | 89)).count();
    for (tag, field) in &body[..body.len() - signature] {
        if SESSION.contains(tag) {
            return Err((*tag, SessionField));
        } else if is_header(tag) {
            return Err((*tag, HeaderAfterBody));
        } else if !is_removed(*tag) {
            if written.iter().any(|(one, _)| one == tag) {
                return Err((*tag, Duplicate));
            }
            all.extend_from_slice(field);
            all.push(1);
        }
    }
    Ok(all)
}

/// Returns the fields of a random message from MsgType on: header, body and trailer, with data,
/// repeated fields and now and then a field where it must not be.
fn random_fields(random: &mut fastrand::Rng) -> Vec<u8> {
    let mut fields = [&b"35="[..], random.choice([&b"D"[..], b"AE", b"U1234567"]).unwrap(), b"\x01"].concat();
    let add = |fields: &mut Vec<u8>, tag: u32, random: &mut fastrand::Rng| {
        if let Some(data_tag) = DataFields::STANDARD.data_tag(tag) {
            let data = [&b"a\x01"[..], b"\x0134=7\x01=\x01", b"plain"][random.usize(..3)];
            fields.extend_from_slice(format!("{tag}={}\x01{data_tag}=", data.len()).as_bytes());
            fields.extend_from_slice(data);
        } else {
            let value = ["1", "a=b", "a longer value than that"][random.usize(..3)];
            fields.extend_from_slice(format!("{tag}={value}").as_bytes());
        }
        fields.push(1);
    };
    let mut header: Vec<u32> = [49, 56, 34, 52].to_vec();
    for tag in [43, 122, 97, 90, 212, 347, 1128, 1129, 1156].into_iter().chain(ROUTE) {
        if random.u8(..5) == 0 {
            header.push(tag);
        }
    }
    random.shuffle(&mut header);
    for tag in header {
        add(&mut fields, tag, random);
    }
    for _ in 0..random.usize(..14) {
        // Some share their bit in the writer's memory with each other or with header fields.
        let tag = [1, 11, 58, 38, 95, 354, 453, 448, 570, 611, 627 - 512, 522, 5001, 5002, 20_001, 569];
        let tag = tag.map(|tag| if tag == 115 { 1139 } else { tag });
        add(&mut fields, random.choice(tag).unwrap(), random);
    }
    match random.u8(..24) {
        0 => add(&mut fields, random.choice(SESSION).unwrap(), random),
        1 => add(&mut fields, random.choice(ROUTE).unwrap(), random),
        2 => add(
            &mut fields,
            random.choice(KEPT.map(|tag| if matches!(tag, 91 | 213) { 97 } else { tag })).unwrap(),
            random,
        ),
        3..=8 => add(&mut fields, 93, random),
        _ => {}
    }
    fields
}

#[test]
fn a_forwarded_message_is_the_body_that_the_encoder_writes_for_the_same_fields() {
    let mut random = fastrand::Rng::with_seed(11);
    let (mut right, mut refused) = (0, 0);
    for _ in 0..if cfg!(miri) { 60 } else { 30_000 } {
        let bytes = seal_bytes(b"FIX.4.4", &random_fields(&mut random));
        let mut removed: Vec<u32> = [11, 58, 38, 95, 355, 453, 97, 213, 5001, 49, 570]
            .into_iter()
            .filter(|_| random.u8(..4) == 0)
            .collect();
        random.shuffle(&mut removed);
        let mut written: Vec<(u32, &[u8])> = Vec::new();
        for (tag, value) in
            [(50, &b"desk"[..]), (115, b"A"), (11, b"new"), (523, b"b"), (58, b"text"), (2049, b"x")]
        {
            if random.u8(..4) == 0 {
                written.push((tag, value));
            }
        }
        for tier in Tier::available() {
            let (mut tags, mut spans) = (vec![0; 128], vec![Span::default(); 128]);
            let mut index = Index::new(&mut tags, &mut spans).with_tier(tier);
            let message = index.build(Framed::try_new(&bytes).unwrap()).unwrap();
            let removed_tags: Vec<Tag> = removed.iter().map(|tag| Tag::new(*tag)).collect();
            let found = forwarded(&message, &removed_tags, |body| {
                for (tag, value) in &written {
                    body.bytes(Key::new(*tag), value);
                }
            });
            let mut expected = expected(&message, &removed, &written);
            if let (Err((0, _)), Err(error)) = (&expected, &found) {
                // The kind of the fault is the subject of another test.
                expected = Err(*error);
            }
            let text =
                |result: &Result<Vec<u8>, Failed>| result.clone().map(|body| body.escape_ascii().to_string());
            assert_eq!(text(&found), text(&expected), "{} {removed:?}", bytes.escape_ascii());
            match found {
                Ok(body) => {
                    right += 1;
                    reads_back(&body);
                    assert_eq!(encoded(&body), body.escape_ascii().to_string());
                }
                Err(_) => refused += 1,
            }
        }
    }
    assert!(right > 20 && refused > 5, "{right} {refused}");
}

/// Returns what the ordinary writer makes of the same fields; a field that is there twice is
/// written unchecked, as only a dictionary knows its group.
fn encoded(body: &[u8]) -> String {
    let bytes = seal_bytes(b"FIX.4.4", &[b"35=D\x01", body].concat());
    with_index(&bytes, |message| {
        let mut memory = vec![0; bytes.len()];
        let mut writer = BodyWriter::new(fixbolt_codec::MsgType::new(b"D"), &mut memory);
        let mut at = 3;
        while at < message.len() - 1 {
            let (tag, value) = (message.tags()[at], message.value(at));
            let before = message.tags()[..at].contains(&tag);
            match DataFields::STANDARD.data_tag(tag) {
                Some(data_tag) if !before && message.tags()[at + 1] == data_tag => {
                    writer.data(DataKey::new(tag, data_tag), message.value(at + 1));
                    at += 1;
                }
                _ if before => _ = writer.raw().field(Key::new(tag), value),
                _ => _ = writer.bytes(Key::new(tag), value),
            }
            at += 1;
        }
        writer.finish().unwrap().bytes.escape_ascii().to_string()
    })
}

/// Seals the body as a session does, and reads the message with its fields.
fn reads_back(body: &[u8]) {
    let envelope = Envelope::new(b"FIXT.1.1", b"HUB", b"VENUE").unwrap();
    let mut memory = vec![0; body.len() + 300];
    memory[200..200 + body.len()].copy_from_slice(body);
    let stamp = Stamp {
        seq: SeqNum(9),
        sending_time: b"20240229-12:00:00.000",
        original: None,
        last_processed: None,
    };
    let news = fixbolt_codec::MsgType::new(b"B");
    let at = envelope.seal(&mut memory, 200..200 + body.len(), news, byte_sum(body), &stamp).unwrap();
    let Frame::Message(framed) = Framer::new(1 << 20).next(&memory[at]) else { panic!("no message") };
    let (mut tags, mut spans) = (vec![0; 128], vec![Span::default(); 128]);
    let mut index = Index::new(&mut tags, &mut spans);
    let message = index.build(framed).unwrap();
    assert_eq!(message.fault(), None);
    let fields: Vec<u8> =
        (7..message.len() - 1).flat_map(|n| [message.field_bytes(n), b"\x01"].concat()).collect();
    assert_eq!(fields, body);
}

#[test]
fn every_message_of_the_collection_is_forwarded_or_refused_for_its_fault() {
    let recorded = if cfg!(miri) { None } else { recorded() };
    let recorded = recorded.unwrap_or_default();
    let recorded = recorded.into_iter().filter(|one| one.length_is_right && one.sum_is_right);
    let mut forwarded_messages = 0;
    for bytes in own().into_iter().chain(recorded.map(|one| one.bytes)) {
        let Ok(framed) = Framed::try_new(&bytes) else { continue };
        let (mut tags, mut spans) = (vec![0; bytes.len()], vec![Span::default(); bytes.len()]);
        let mut index = Index::new(&mut tags, &mut spans);
        let Ok(message) = index.build(framed) else { continue };
        let (found, expected) = (forwarded(&message, &[], |_| ()), expected(&message, &[], &[]));
        match expected {
            Err((0, _)) => assert!(found.is_err()),
            _ => assert_eq!(found, expected, "{message:?}"),
        }
        forwarded_messages += usize::from(found.is_ok());
    }
    assert!(forwarded_messages >= 7, "{forwarded_messages}");
}

#[test]
fn the_header_is_that_of_the_new_session_but_for_what_says_how_to_read_the_message() {
    let all = "35=n|49=A|56=B|34=7|43=Y|122=20240229-11:00:00|52=20240229-12:00:00|50=s|57=t|115=o|128=d|\
               97=Y|212=3|213=<|>|347=UTF-8|369=3|627=1|628=H|629=20240229-12:00:00|1128=9|1129=x|1156=250|58=x|\
               93=3|89=a|b|";
    let all = all.replace("<|>", "<\x01>");
    let kept = "97=Y|212=3|213=<|>|347=UTF-8|1128=9|1129=x|1156=250|58=x|";
    assert_eq!(of(&all, &[], |_| ()), Ok(kept.to_owned()));
    let less = "347=UTF-8|1129=x|1156=250|58=x|";
    // Data is removed with its length, by the tag of either.
    assert_eq!(of(&all, &tags([97, 213, 1128]), |_| ()), Ok(less.to_owned()));
    assert_eq!(of(&all, &tags([97, 212, 1128]), |_| ()), Ok(less.to_owned()));
    let replaced = |body: &mut BodyWriter<'_>| _ = body.bytes(Key::new(97), b"N").bytes(Key::new(115), b"A");
    assert_eq!(of("35=D|97=Y|115=x|11=1|", &tags([97]), replaced), Ok("97=N|115=A|11=1|".to_owned()));
    assert_eq!(of("35=D|97=Y|11=1|", &[], replaced), Err((97, Duplicate)));
    assert_eq!(of("35=0|34=1|", &[], |_| ()), Ok(String::new()));
    let dangling = Err((90, EncodeErrorKind::DanglingLength));
    assert_eq!(of("35=D|90=3|49=A|91=abc|11=1|", &[], |_| ()), dangling);
    assert_eq!(of("35=D|97=Y|97=Y|11=1|", &[], |_| ()), Err((97, Duplicate)));
}

#[test]
fn fields_are_inserted_replaced_and_removed() {
    let order = "35=D|49=A|56=B|34=7|11=o1|1=AB|95=3|96=a|b|58=x|";
    let order = order.replace("a|b", "a\x01b");
    let write =
        |body: &mut BodyWriter<'_>| _ = body.bytes(Key::new(1), b"HOUSE").field(Key::new(5001), &7_u64);
    let edited = of(&order, &tags([1, 58]), write);
    assert_eq!(edited, Ok("1=HOUSE|5001=7|11=o1|95=3|96=a|b|".to_owned()));
    assert_eq!(of(&order, &tags([58]), write), Err((1, Duplicate)));
    for removed in [95, 96] {
        assert_eq!(of(&order, &tags([removed]), |_| ()), Ok("11=o1|1=AB|58=x|".to_owned()));
    }
    let data = |body: &mut BodyWriter<'_>| _ = body.data(DataKey::new(95, 96), b"\x01");
    assert_eq!(of(&order, &tags([96, 1, 58]), data), Ok("95=1|96=||11=o1|".to_owned()));
    assert_eq!(of(&order, &[], data), Err((95, Duplicate)));
    // What it does not have, and what is never copied.
    assert_eq!(of("35=D|49=A|11=o1|", &tags([44, 49, 10, 9]), |_| ()), Ok("11=o1|".to_owned()));
    // A mistake of the caller.
    let wrong = |body: &mut BodyWriter<'_>| _ = body.bytes(Key::new(95), b"3");
    assert_eq!(of("35=D|96=abc|11=o1|", &[], wrong), Err((95, EncodeErrorKind::DanglingLength)));
    let open = |body: &mut BodyWriter<'_>| _ = body.group(Key::new(453));
    assert_eq!(of("35=D|11=o1|", &[], open), Err((453, EncodeErrorKind::OpenGroup)));
}

#[test]
fn a_body_with_fields_of_header_or_session_is_refused_wherever_they_are() {
    for tag in SESSION.into_iter().filter(|tag| *tag != 10) {
        assert_eq!(of(&format!("35=D|11=o1|{tag}=1|58=x|"), &[], |_| ()), Err((tag, SessionField)));
        assert_eq!(of(&format!("35=D|11=o1|{tag}=1|"), &tags([tag]), |_| ()), Err((tag, SessionField)));
    }
    assert_eq!(of("35=D|11=o1|10=000|58=x|", &[], |_| ()), Err((10, SessionField)));
    for tag in ROUTE.into_iter().chain([97, 347, 629, 1128, 1129, 1156]) {
        assert_eq!(of(&format!("35=D|11=o1|{tag}=1|"), &[], |_| ()), Err((tag, HeaderAfterBody)));
    }
}

#[test]
fn a_message_that_breaks_the_syntax_is_refused_with_its_field() {
    for (field, error) in [
        ("58=", (58, Empty)),
        ("0=x", (35, Malformed)),
        ("x", (35, Malformed)),
        ("95=9|96=ab", (95, DataLength)),
    ] {
        assert_eq!(of(&format!("35=D|11=o1|{field}|"), &tags([58, 95]), |_| ()), Err(error), "{field}");
    }
    assert_eq!(of("35=SIXTEEN BYTES OF|11=o1|", &[], |_| ()), Err((35, Malformed)));
    assert_eq!(of("35=FIFTEEN BYTES..|11=o1|", &[], |_| ()), Ok("11=o1|".to_owned()));
}

#[test]
fn the_sum_is_right_even_if_that_of_the_message_was_wrong_and_not_verified() {
    let mut bytes = seal("FIX.4.4", b"35=D|49=A|34=1|11=o1|58=x|93=1|89=s|");
    let digit = bytes.len() - 2;
    bytes[digit] = b'0' + (bytes[digit] - b'0' + 1) % 10;
    for tier in Tier::available() {
        let (mut tags, mut spans) = ([0; 32], [Span::default(); 32]);
        let mut index = Index::new(&mut tags, &mut spans).with_tier(tier).with_checksum_verified(false);
        let message = index.build(Framed::try_new(&bytes).unwrap()).unwrap();
        assert_eq!(forwarded(&message, &[], |_| ()), Ok(b"11=o1\x0158=x\x01".to_vec()));
        assert_eq!(forwarded(&message, &[Tag::new(11)], |_| ()), Ok(b"58=x\x01".to_vec()));
    }
}

#[test]
fn a_group_is_kept_as_it_is_and_removed_as_a_whole_if_the_message_has_places() {
    let order = seal("FIX.4.4", b"35=D|34=2|453=2|448=A|58=one|802=1|523=x|448=B|9001=u|58=own|802=3|");
    let place = |tag, depth| Place::new(tag, Section::Body, depth);
    let places = [
        Place::new(8, Section::Header, 0),
        Place::new(9, Section::Header, 0),
        Place::new(35, Section::Header, 0),
        Place::new(34, Section::Header, 0),
        place(453, 0).counting_group(),
        place(448, 1).beginning_entry(),
        place(58, 1),
        place(802, 1).counting_group(),
        place(523, 2).beginning_entry(),
        place(448, 1).beginning_entry(),
        place(9001, 1).undefined(),
        place(58, 0),
        place(802, 0),
        Place::new(10, Section::Trailer, 0),
    ];
    with_index(&order, |message| {
        let text = |removed: &[Tag], write: fn(&mut BodyWriter<'_>), message: Message<'_>| {
            let body = forwarded(&message, removed, write)?;
            Ok::<_, Failed>(String::from_utf8(body).unwrap().replace('\x01', "|"))
        };
        let placed = message.with_places(&places);
        let group = "453=2|448=A|58=one|802=1|523=x|448=B|9001=u|";
        assert_eq!(text(&tags([58, 802, 523]), |_| (), placed), Ok(group.to_owned()));
        // A field of no dictionary after the group belongs to the message, too.
        assert_eq!(text(&tags([453]), |_| (), placed), Ok("9001=u|58=own|802=3|".to_owned()));
        assert_eq!(text(&tags([453, 9001]), |_| (), placed), Ok("58=own|802=3|".to_owned()));
        // A field of the message, and not the group's.
        let replaced = text(&tags([58, 802]), |body| _ = body.bytes(Key::new(58), b"new"), placed);
        assert_eq!(replaced, Ok(format!("58=new|{group}")));
        let written = text(&tags([802]), |body| _ = body.bytes(Key::new(58), b"new"), placed);
        assert_eq!(written, Err((58, Duplicate)));
        let new_group = |body: &mut BodyWriter<'_>| {
            let mut parties = body.group(Key::new(453));
            body.entry(&mut parties);
            body.bytes(Key::new(448), b"C");
            body.end_group(parties);
        };
        let replaced = text(&tags([453]), new_group, placed);
        assert_eq!(replaced, Ok("453=1|448=C|9001=u|58=own|802=3|".to_owned()));
        // Without places no group is known.
        let all_removed = text(&tags([58]), |_| (), message);
        assert_eq!(all_removed, Ok("453=2|448=A|802=1|523=x|448=B|9001=u|802=3|".to_owned()));
    });
}

#[test]
fn the_data_of_a_dialect_is_removed_with_its_length_or_not_at_all() {
    let dialect = DataFields::new(&[(20_001, 20_002)]);
    let bytes = seal_bytes(b"FIX.4.4", b"35=D\x0134=1\x0120001=5\x0120002=a\x0134=\x0158=x\x01");
    let (mut tags_found, mut spans) = ([0; 32], [Span::default(); 32]);
    let mut index = Index::new(&mut tags_found, &mut spans).with_data_fields(&dialect);
    let message = index.build(Framed::try_new(&bytes).unwrap()).unwrap();
    let whole = b"20001=5\x0120002=a\x0134=\x0158=x\x01".to_vec();
    assert_eq!(forwarded(&message, &[], |_| ()), Ok(whole));
    assert_eq!(forwarded(&message, &tags([20_001, 20_002]), |_| ()), Ok(b"58=x\x01".to_vec()));
    assert_eq!(forwarded(&message, &tags([20_001]), |_| ()), Err((20_002, DataLength)));
    // Another index takes the data for fields.
    assert_eq!(with_index(&bytes, |message| forwarded(&message, &[], |_| ())), Err((34, Empty)));
}

#[test]
fn a_body_that_does_not_fit_is_refused_and_nothing_after_the_limit_is_written() {
    let bytes = seal("FIX.4.4", b"35=D|49=A|34=1|97=Y|11=o1|58=some text|44=1|");
    let whole = b"97=Y\x01115=A\x0111=o1\x0144=1\x01";
    for room in 0..40 {
        let mut memory = [7; 64];
        let found = with_index(&bytes, |message| {
            let write = |body: &mut BodyWriter<'_>| _ = body.bytes(Key::new(115), b"A");
            let body = message.forward(Memory(&mut memory[..room]), &tags([58]), write);
            body.map(|body| Body::clone(&body).bytes.to_vec()).map_err(|error| error.kind)
        });
        if room >= whole.len() {
            assert_eq!(found.unwrap(), whole);
        } else {
            assert_eq!(found, Err(NoRoom), "{room}");
        }
        assert!(memory[room..].iter().all(|byte| *byte == 7));
    }
}
