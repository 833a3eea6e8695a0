//! Encoded fields are read as MessageEncoding in the header says, and written so that they can be
//! read back.

use fixbolt_codec::plumbing::BodyPlumbing as _;
use fixbolt_codec::{
    BodyWriter, DataKey, EncodeErrorKind, Envelope, Frame, Framer, Index, Key, Message, MsgType, SeqNum,
    Span, Stamp, Tag,
};
use fixbolt_messages::encoding::{Encoding, EncodingError};

/// Sends a News of these fields and reads it.
fn sent<R>(fields: impl FnOnce(&mut BodyWriter<'_>), read: impl FnOnce(Message<'_>) -> R) -> R {
    let mut memory = [0; 1024];
    let news = MsgType::new(b"B");
    let mut writer = BodyWriter::within(news, &mut memory, 200, 1000);
    fields(&mut writer);
    let sum = writer.finish().unwrap().sum;
    let (memory, body) = writer.into_memory().unwrap();
    let stamp = Stamp {
        seq: SeqNum(7),
        sending_time: b"20260105-10:00:00.123",
        original: None,
        last_processed: None,
    };
    let sealed =
        Envelope::new(b"FIX.4.4", b"A", b"B").unwrap().seal(memory, body, news, sum, &stamp).unwrap();
    let Frame::Message(framed) = Framer::new(1024).next(&memory[sealed]) else { panic!("no message") };
    let (mut tags, mut spans) = ([0; 32], [Span::default(); 32]);
    read(Index::new(&mut tags, &mut spans).build(framed).unwrap())
}

const HEADLINE: DataKey = DataKey::new(358, 359);

#[test]
fn text_in_every_encoding_is_read_as_its_header_says() {
    for (encoding, text, bytes) in [
        (Encoding::Iso8859_1, "Größe", &b"Gr\xF6\xDFe"[..]),
        (Encoding::Utf8, "Größe 株", "Größe 株".as_bytes()),
        (Encoding::ShiftJis, "株式 ｱ", b"\x8A\x94\x8E\xAE \xB1"),
        (Encoding::EucJp, "株式 ｱ", b"\xB3\xF4\xBC\xB0 \x8E\xB1"),
        (Encoding::Iso2022Jp, "株式 A", b"\x1B$B3t<0\x1B(B A"),
    ] {
        assert_eq!(encoding.encode(text).as_deref(), Ok(bytes), "{encoding}");
        sent(
            |news| {
                encoding.announce(news);
                news.bytes(Key::new(148), b"head");
                encoding.write(news, HEADLINE, text).unwrap();
            },
            |message| {
                assert_eq!(message.get(Tag::new(347)).is_some(), encoding != Encoding::Iso8859_1);
                let found = Encoding::of(&message).unwrap();
                assert_eq!(found, encoding);
                assert_eq!(found.decode(message.get(Tag::new(359)).unwrap()).unwrap(), text);
                assert_eq!(message.get(Tag::new(358)), Some(bytes.len().to_string().as_bytes()));
            },
        );
    }
}

#[test]
fn a_soh_among_the_bytes_is_data() {
    let fields = |news: &mut BodyWriter<'_>| {
        Encoding::Utf8.write(news, HEADLINE, "a\x0158=b").unwrap();
    };
    sent(fields, |message| assert_eq!(message.get(Tag::new(359)), Some(&b"a\x0158=b"[..])));
}

#[test]
fn a_name_is_known_in_any_case_and_an_unknown_one_is_an_error() {
    for (name, encoding) in [
        ("Shift_JIS", Encoding::ShiftJis),
        ("SHIFT_JIS", Encoding::ShiftJis),
        ("shift_jis", Encoding::ShiftJis),
        ("utf-8", Encoding::Utf8),
        ("EUC-JP", Encoding::EucJp),
        ("iso-8859-1", Encoding::Iso8859_1),
        ("ISO-2022-JP", Encoding::Iso2022Jp),
    ] {
        assert_eq!(Encoding::from_name(name.as_bytes()), Ok(encoding), "{name}");
    }
    for name in ["UTF-16", "", "Shift-JIS", "windows-1252"] {
        let unknown = EncodingError::Unknown { name: name.into() };
        assert_eq!(Encoding::from_name(name.as_bytes()), Err(unknown), "{name}");
    }
    let error = sent(|news| _ = news.bytes(Key::new(347), b"KOI8\x80"), |message| Encoding::of(&message));
    assert_eq!(
        error.unwrap_err().to_string(),
        "MessageEncoding (347) 'KOI8\\x80' is unknown; known are ISO-8859-1, UTF-8, Shift_JIS, EUC-JP, ISO-2022-JP"
    );
}

#[test]
fn a_character_that_an_encoding_lacks_is_an_error_and_nothing_is_written() {
    for (encoding, text, character) in [
        (Encoding::Iso8859_1, "5 €", '€'),
        (Encoding::ShiftJis, "Größe", 'ö'),
        (Encoding::EucJp, "😀", '😀'),
        (Encoding::Iso2022Jp, "株😀", '😀'),
        // Characters that would be encoded as another one.
        (Encoding::ShiftJis, "株 ¥", '¥'),
        (Encoding::EucJp, "a¥b", '¥'),
        (Encoding::ShiftJis, "5 − 3", '−'),
        (Encoding::Iso2022Jp, "ｱ", 'ｱ'),
        (Encoding::Iso2022Jp, "a\x1Bb", '\u{FFFD}'),
    ] {
        let mut memory = [0; 64];
        let mut news = BodyWriter::new(MsgType::new(b"B"), &mut memory);
        let error = encoding.write(&mut news, HEADLINE, text);
        assert_eq!(error, Err(EncodingError::Unmappable { encoding, character }), "{encoding} {text}");
        assert_eq!(news.written(), b"");
    }
    let euro = Encoding::Iso8859_1.encode("€").unwrap_err();
    assert_eq!(euro.to_string(), "ISO-8859-1 has no character '€' (U+20AC)");
}

#[test]
fn bytes_that_are_invalid_in_the_encoding_are_an_error() {
    for (encoding, bytes) in [
        (Encoding::Utf8, &b"Gr\xF6\xDFe"[..]),
        (Encoding::ShiftJis, b"\x8A"),
        (Encoding::ShiftJis, b"\xFD\xFE"),
        (Encoding::EucJp, b"\xB3"),
        (Encoding::EucJp, b"\xFF"),
        (Encoding::Iso2022Jp, b"\x1B$B3"),
        (Encoding::Iso2022Jp, b"\x80"),
    ] {
        assert_eq!(encoding.decode(bytes), Err(EncodingError::Malformed { encoding }), "{encoding}");
    }
    // ISO 8859-1 has every byte, also those with another meaning in Windows.
    let all: Vec<u8> = (0..=255).collect();
    let text = Encoding::Iso8859_1.decode(&all).unwrap().into_owned();
    assert_eq!(text.chars().nth(0x80), Some('\u{80}'));
    assert_eq!(Encoding::Iso8859_1.encode(&text).unwrap(), all);
}

#[test]
fn an_empty_text_is_refused_by_the_writer() {
    let mut memory = [0; 64];
    let mut news = BodyWriter::new(MsgType::new(b"B"), &mut memory);
    Encoding::Utf8.write(&mut news, HEADLINE, "").unwrap();
    assert_eq!(news.error().map(|error| error.kind), Some(EncodeErrorKind::Empty));
}

#[test]
fn every_character_of_two_bytes_is_read_back_or_refused() {
    let mut counts = Vec::new();
    for encoding in Encoding::ALL {
        let mut known = 0;
        for character in '\0'..='\u{FFFF}' {
            let mut text = [0; 4];
            let text = character.encode_utf8(&mut text);
            if let Ok(bytes) = encoding.encode(text) {
                assert_eq!(encoding.decode(&bytes).as_deref(), Ok(&*text), "{encoding} {character:?}");
                known += 1;
            }
        }
        counts.push(known);
    }
    // Surrogates are not characters; Shift_JIS has the sets of JIS X 0201 and 0208 and Microsoft's.
    assert_eq!(counts, [256, 0x1_0000 - 0x800, 7_518, 7_517, 7_453]);
}
