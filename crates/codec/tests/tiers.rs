//! Compares every tier of the index with the plain loop: the same fields, the same first fault, the
//! same error, for whatever a framer accepts, in storage of any size, wherever the bytes are.
//!
//! Each message is in memory of its own that ends with it, so that Miri and valgrind detect a read
//! beyond its end.

mod support;

use fixbolt_codec::{DataFields, Fault, Frame, Framed, Framer, Index, IndexError, Span, Tier};
use support::messages::{own, recorded, seal_bytes};

/// Rounds of the random tests; only a few when interpreted by Miri.
const ROUNDS: usize = if cfg!(miri) { 12 } else { 100_000 };

/// What an index returns for a message.
type Answer = Result<(Vec<u32>, Vec<Span>, Option<Fault>), IndexError>;

fn answer(bytes: &[u8], tier: Tier, data_fields: &DataFields, limit: usize, tags_too: usize) -> Answer {
    let Frame::Message(framed) = Framer::new(1 << 20).next(bytes) else {
        panic!("no frame: {}", bytes.escape_ascii())
    };
    // What an earlier message left in the storage must not matter.
    let (mut tags, mut spans) = (vec![0xDEAD; limit + tags_too], vec![Span::default(); limit]);
    let mut index = Index::new(&mut tags, &mut spans).with_data_fields(data_fields).with_tier(tier);
    let message = index.build(framed)?;
    let spans = (0..message.len()).map(|n| message.span(n)).collect();
    Ok((message.tags().to_vec(), spans, message.fault()))
}

/// Compares all tiers of this processor, with ample storage and with the given amounts.
#[track_caller]
fn agree(bytes: &[u8], data_fields: &DataFields, limits: &[usize]) {
    let bytes: Box<[u8]> = bytes.into();
    for limit in limits.iter().copied().chain([bytes.len()]) {
        let expected = answer(&bytes, Tier::SCALAR, data_fields, limit, 0);
        for tier in Tier::available().skip(1) {
            for tags_too in [0, 5] {
                let found = answer(&bytes, tier, data_fields, limit, tags_too);
                let shown = bytes.escape_ascii();
                assert_eq!(found, expected, "{}, room for {limit} fields: {shown}", tier.name());
            }
        }
    }
}

/// Returns a message around these bytes whose length and checksum are right.
fn whole(body: &[u8]) -> Vec<u8> {
    let mut body = body.to_vec();
    if body.last() != Some(&1) {
        body.push(1);
    }
    seal_bytes(b"FIX.4.4", &body)
}

const ORDER: &[u8] = b"35=D\x0149=A12345B\x0156=COMPARO\x0134=78\x0152=20240229-12:00:00.123\x0150=2DEFGH4\x0157=G\x01142=AU,SY\x01\
60=20240229-12:00:00.123\x011=01234567\x0138=50\x0144=400.5\x0111=4\x0121=1\x0140=2\x0154=1\x0155=OC\x0158=NIGEL\x01167=OPT\x01";

#[test]
fn real_messages_have_the_same_index_in_every_tier() {
    // A build for AVX2, as for Miri, is meant to test AVX2.
    assert!(!cfg!(target_feature = "avx2") || Tier::available().any(|tier| tier.name() == "avx2"));
    println!("tiers: {:?}", Tier::available().map(Tier::name).collect::<Vec<_>>());
    let recorded = if cfg!(miri) { None } else { recorded() };
    let recorded = recorded.unwrap_or_else(|| {
        println!("shared folder absent: only our own messages are compared");
        Vec::new()
    });
    for bytes in own().into_iter().chain(recorded.into_iter().map(|message| message.bytes)) {
        if matches!(Framer::new(1 << 20).next(&bytes), Frame::Message(_)) {
            agree(&bytes, DataFields::STANDARD, &[0, 1, 7, 35, 40]);
        }
    }
}

#[test]
fn a_byte_that_breaks_a_field_has_the_same_result_in_every_tier_at_any_position() {
    let step = if cfg!(miri) { 61 } else { 1 };
    for at in (0..ORDER.len()).step_by(step) {
        for byte in *b"\x01=0a:/\xff\x00" {
            let mut body = ORDER.to_vec();
            body[at] = byte;
            agree(&whole(&body), DataFields::STANDARD, &[40]);
            body.insert(at, byte);
            agree(&whole(&body), DataFields::STANDARD, &[]);
        }
    }
}

#[test]
fn a_message_of_any_length_in_any_storage_has_the_same_index_in_every_tier() {
    for length in (1..300).step_by(if cfg!(miri) { 37 } else { 1 }) {
        let body = [&b"35=0\x0158="[..], &vec![b'x'; length]].concat();
        agree(&whole(&body), DataFields::STANDARD, &[]);
    }
    for fields in (0..140).step_by(if cfg!(miri) { 46 } else { 1 }) {
        let body = [&b"35=0\x01"[..], &b"1=2\x01".repeat(fields)].concat();
        let exactly = fields + 4;
        agree(&whole(&body), DataFields::STANDARD, &[exactly - 1, exactly, exactly + 1, exactly + 8, 32, 36]);
    }
}

/// A block has 64 bytes: the tag, its `=` and its SOH are on either side of the end of one.
#[test]
fn a_tag_of_any_form_has_the_same_index_in_every_tier_at_any_position() {
    let tags = "7 77 777 7777 77777 777777 7777777 77777777 777777777 7777777777 77777777777 2147483647 07 077 0777 \
        07777 077777 7777a a7777 77:7 7/77 95 354 1184 9999 10095 43109 95354 7095 0";
    for tag in tags.split(' ').chain([""]) {
        for filler in (0..70).step_by(if cfg!(miri) { 23 } else { 1 }) {
            let filler = "x".repeat(filler);
            for rest in ["", "12=1\x0154321=y\x01", "96=x\x01", "42684=x\x0158=\x01"] {
                let body = format!("35=D\x0158={filler}\x01{tag}=1\x01{rest}40=2\x01{tag}=z\x01");
                agree(&whole(body.as_bytes()), DataFields::STANDARD, &[40]);
            }
        }
    }
}

/// The last four digits of a longer tag are not a tag.
#[test]
fn a_tag_that_ends_like_that_of_a_data_field_is_none_in_every_tier() {
    for before in (0..40).step_by(if cfg!(miri) { 13 } else { 1 }) {
        for data in ["10096=ab", "96=ab", "20000096=ab", "9600=ab"] {
            for length in 2..9 {
                let before = "1=2\x01".repeat(before);
                let body = format!("35=B\x01{before}95={length}\x01{data}\x0158=x\x0140=2\x01");
                agree(&whole(body.as_bytes()), DataFields::STANDARD, &[]);
            }
        }
    }
}

#[test]
fn many_data_fields_with_delimiters_have_the_same_index_in_every_tier() {
    // The data field of the first pair is the length field of the second one.
    let chained = DataFields::new(&[(95, 96), (96, 97), (348, 349)]);
    let pairs = [
        &b"95=9\x0196=a\x019=b\x01x=y\x01"[..],
        b"348=7\x01349=\x01=\x0195=4\x01",
        b"95=3\x0196=1\x01=\x0197=z\x01=\x01",
    ];
    let mut random = fastrand::Rng::with_seed(0x5EED_DA7A);
    for _ in 0..ROUNDS / 20 {
        let mut body = b"35=B\x01".to_vec();
        for _ in 0..random.usize(..24) {
            match random.usize(..6) {
                0..=2 => body.extend_from_slice(pairs[random.usize(..3)]),
                3 => body.extend_from_slice(b"58=text\x01"),
                4 => body.extend_from_slice(b"12345=high\x01"),
                _ => body.extend_from_slice(b"640=a\x01"),
            }
        }
        if random.usize(..4) == 0 {
            let at = random.usize(5..=body.len());
            body.insert(at, b"\x01=9"[random.usize(..3)]);
        }
        for data_fields in [&chained, DataFields::STANDARD] {
            agree(&whole(&body), data_fields, &[64]);
        }
    }
}

#[test]
fn a_data_field_ends_where_its_length_says_in_every_tier() {
    for filler in (0..70).step_by(if cfg!(miri) { 69 } else { 1 }) {
        let few = if cfg!(miri) { 1 } else { 4 };
        for data in [&b"abc"[..], b"a\x01b", b"=\x01=", b"\x0158=x\x01", b"\x0110=000\x01", b"", b"\x01"] {
            for (length_tag, data_tag) in
                &[("95", "96"), ("93", "89"), ("1525", "1527"), ("43109", "42684")][..few]
            {
                for announced in
                    &[data.len(), data.len() + 1, data.len().saturating_sub(1), 999, usize::MAX][..few]
                {
                    let filler = "x".repeat(filler);
                    let head = format!("35=B\x0158={filler}\x01{length_tag}={announced}\x01{data_tag}=");
                    let body = [head.as_bytes(), data, b"\x0155=IBM\x0154=1\x0195=4\x01"].concat();
                    agree(&whole(&body), DataFields::STANDARD, &[]);
                    let last = [head.as_bytes(), data].concat();
                    agree(&whole(&last), DataFields::STANDARD, &[]);
                }
            }
        }
    }
}

#[test]
fn data_fields_of_a_dialect_are_read_in_every_tier_whatever_their_tags() {
    let body =
        b"35=D\x0158=3\x0155=abc\x0140=2\x0138=a\x01b\x015000=1\x015001=\x01\x0170000=2\x0170001=cd\x01\
        5512=1\x0115512=2\x0111=1\x01";
    let plain = b"35=D\x0158=3\x0155=abc\x0140=2\x0138=ab\x015000=1\x015001=c\x0170000=2\x0170001=cd\x01\
        5512=1\x0115512=2\x0111=3\x01";
    for pairs in [
        &[(8, 9)][..],
        &[(9, 35)],
        &[(11, 10)],
        &[(35, 58), (58, 55)],
        &[(40, 38), (5000, 5001), (70000, 70001)],
        &[(5512, 15512), (15512, 11)],
    ] {
        agree(&whole(body), &DataFields::new(pairs), &[40]);
        agree(&whole(plain), &DataFields::new(pairs), &[40]);
    }
}

#[test]
fn random_fields_have_the_same_index_in_every_tier() {
    let mut random = fastrand::Rng::with_seed(0x5EED_71E5);
    let tags: [&[u8]; 24] = [
        b"55",
        b"1",
        b"9",
        b"10",
        b"49",
        b"95",
        b"96",
        b"354",
        b"355",
        b"93",
        b"89",
        b"448",
        b"5001",
        b"9999",
        b"10000",
        b"43109",
        b"42684",
        b"2147483647",
        b"2147483648",
        b"0",
        b"01",
        b"",
        b"-5",
        b"5x",
    ];
    let values: [&[u8]; 14] = [
        b"x",
        b"IBM",
        b"20240229-12:00:00.123",
        b"1",
        b"3",
        b"5",
        b"a=b",
        b"=",
        b"==",
        b"",
        b"\xff\x00",
        b"a\x01b=c",
        b"a long value that fills a block of sixty-four bytes with a rest for more",
        b"8=FIX",
    ];
    for round in 0..ROUNDS {
        let mut body = b"35=D\x01".to_vec();
        // Most messages are plain: what breaks a field is rare, so that many fields precede it.
        let oddness = random.usize(..40);
        for _ in 0..random.usize(..60) {
            let plain = random.usize(..40) > oddness;
            body.extend_from_slice(if plain {
                tags[random.usize(..13)]
            } else {
                tags[random.usize(..tags.len())]
            });
            if plain || random.usize(..6) > 0 {
                body.push(b'=');
            }
            body.extend_from_slice(if plain {
                values[random.usize(..6)]
            } else {
                values[random.usize(..values.len())]
            });
            body.push(1);
        }
        let mut bytes = whole(&body);
        if round % 16 == 0 {
            // A wrong checksum is reported before anything else.
            let at = bytes.len() - 2;
            bytes[at] = if bytes[at] == b'9' { b'0' } else { bytes[at] + 1 };
        }
        agree(&bytes, DataFields::STANDARD, &[random.usize(..80)]);
    }
}

#[test]
fn bytes_in_front_of_a_message_change_nothing() {
    let bytes = whole(ORDER);
    let expected = answer(&bytes, Tier::SCALAR, DataFields::STANDARD, 64, 0);
    for offset in 0..if cfg!(miri) { 3 } else { 130 } {
        let moved: Box<[u8]> = [&b"=".repeat(offset)[..], &bytes].concat().into();
        for tier in Tier::available() {
            assert_eq!(answer(&moved[offset..], tier, DataFields::STANDARD, 64, 0), expected, "{offset}");
        }
    }
}

/// Bytes that no framer returns as a message, but that begin and end like one: before
/// [`Framed::try_new`] read BodyLength, the tiers found different fields in the first two.
#[test]
fn bytes_in_which_the_tiers_would_differ_are_no_framed_message() {
    let sealed = |before: &[u8]| {
        let mut bytes = [before, ORDER].concat();
        let sum = bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
        bytes.extend_from_slice(format!("10={sum:03}\x01").as_bytes());
        bytes
    };
    for before in [
        &b"8=FIX.4.4\x01"[..],
        b"8=FIX.4.4\x0158=x\x01",
        b"8=FIX\x01",
        b"8=FIX.4.4\x0109=1\x01",
        b"8=FIX=\x01",
    ] {
        assert!(Framed::try_new(&sealed(before)).is_err(), "{}", before.escape_ascii());
    }
    let mut random = fastrand::Rng::with_seed(0x5EED_F4A3);
    let (mut framed, order) = (0, whole(ORDER));
    for _ in 0..ROUNDS {
        let mut bytes = order.clone();
        for _ in 0..random.usize(..3) {
            let at = random.usize(..bytes.len());
            match random.u8(..3) {
                0 => bytes[at] = random.u8(..),
                1 => bytes.insert(at, b"\x01=0189"[random.usize(..6)]),
                _ => drop(bytes.remove(at)),
            }
        }
        let alone = Framed::try_new(&bytes).is_ok();
        let by_framer = matches!(Framer::new(1 << 20).next(&bytes), Frame::Message(one) if one.bytes().len() == bytes.len());
        assert_eq!(alone, by_framer, "{}", bytes.escape_ascii());
        if alone {
            framed += 1;
            agree(&bytes, DataFields::STANDARD, &[40]);
        }
    }
    assert!(framed > ROUNDS / 10, "{framed} of {ROUNDS} are messages");
}
