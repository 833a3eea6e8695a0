//! Compares framer and index with the naive oracle, for real messages and a million random
//! mutations of them.

mod support;

use fastrand::Rng;
use std::sync::atomic::{AtomicUsize, Ordering};
use support::messages::{own, raw_streams, recorded, seal, seal_bytes};
use support::{Event, drive, oracle};

const MAX_MESSAGE_SIZE: usize = 4096;
const MUTATIONS: u64 = 1_000_000;
/// A failure prints the number of its mutation, which together with the seed determines the stream.
const SEED: u64 = 0x5EED_F1C5;

/// Our own messages, and the recorded ones if the reference folder is present.
fn corpus() -> Vec<Vec<u8>> {
    let mut corpus = own();
    let recorded = recorded().unwrap_or_else(|| {
        eprintln!("shared folder absent: only our own messages are mutated");
        Vec::new()
    });
    corpus.extend(recorded.into_iter().map(|message| message.bytes).filter(|bytes| bytes.len() < 1500));
    for stream in raw_streams() {
        let events = oracle::events(&stream, MAX_MESSAGE_SIZE);
        corpus.extend(events.iter().step_by(20).filter_map(|event| match event {
            Event::Message(range, _) if range.len() < 1500 => Some(stream[range.clone()].to_vec()),
            _ => None,
        }));
    }
    corpus
}

#[track_caller]
fn agree(stream: &[u8], piece: usize, what: &str) {
    let expected = oracle::events(stream, MAX_MESSAGE_SIZE);
    let found = drive(stream, MAX_MESSAGE_SIZE, piece);
    assert_eq!(found, expected, "{what}, in pieces of {piece}: {}", stream.escape_ascii());
}

#[test]
fn real_messages_are_framed_and_indexed_as_the_oracle_says_in_pieces_of_any_size() {
    let stream = corpus().concat();
    for piece in [1, 2, 3, 7, 64, 1000, stream.len()] {
        agree(&stream, piece, "all messages in a row");
    }
    for raw in raw_streams() {
        agree(&raw, 4096, "a raw stream");
    }
}

#[test]
fn a_message_cut_or_broken_at_any_byte_affects_no_other_message() {
    // Long enough that no announced end of a message coincides with their CheckSum, which would
    // lose them.
    let text = format!("35=0|58={}|", "x".repeat(700));
    let next = [seal("FIX.4.2", text.as_bytes()), seal("FIX.4.2", text.as_bytes())].concat();
    for message in own() {
        for place in 0..message.len() {
            for (what, broken) in [
                ("cut", message[..place].to_vec()),
                ("left out", [&message[..place], &message[place + 1..]].concat()),
                ("SOH", [&message[..place], b"\x01", &message[place + 1..]].concat()),
                ("NUL put in", [&message[..place], b"\0", &message[place..]].concat()),
            ] {
                let stream = [&broken[..], &next].concat();
                let events = oracle::events(&stream, MAX_MESSAGE_SIZE);
                assert_eq!(
                    drive(&stream, MAX_MESSAGE_SIZE, 1),
                    events,
                    "{what} at {place}: {}",
                    stream.escape_ascii()
                );
                assert_eq!(drive(&stream, MAX_MESSAGE_SIZE, stream.len()), events, "{what} at {place}");
                // The last message follows a valid one, which must not be lost with it.
                let last = stream.len() - next.len() / 2;
                let whole =
                    matches!(events.last(), Some(Event::Message(range, Ok(_))) if range.start == last);
                assert!(whole, "{what} at {place}: {events:?} of {}", stream.escape_ascii());
            }
        }
    }
}

#[test]
fn a_million_random_mutations_are_framed_and_indexed_as_the_oracle_says() {
    let corpus = corpus();
    let sentinels = [seal("FIX.4.4", b"35=0|34=98|"), seal("FIX.4.4", b"35=0|34=99|")].concat();
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let counts: [AtomicUsize; 5] = Default::default();
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (corpus, sentinels, counts) = (&corpus, &sentinels, &counts);
            scope.spawn(move || {
                for number in (thread..MUTATIONS).step_by(threads as usize) {
                    let mut random = Rng::with_seed(SEED ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
                    let mut stream = mutated(corpus, &mut random);
                    stream.extend_from_slice(sentinels);
                    let piece = if random.usize(..8) == 0 { 1 + random.usize(..40) } else { stream.len() };
                    agree(&stream, piece, &format!("mutation {number}"));
                    for event in oracle::events(&stream, MAX_MESSAGE_SIZE) {
                        counts[kind(&event)].fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let counts = counts.map(AtomicUsize::into_inner);
    eprintln!(
        "{MUTATIONS} mutations of {} messages; whole, faulty, bad checksum, otherwise garbled, dropped: {counts:?}",
        corpus.len()
    );
    // Every outcome must be frequent, or the mutations test nothing.
    assert!(counts.iter().all(|count| *count > 10_000), "{counts:?}");
}

fn kind(event: &Event) -> usize {
    match event {
        Event::Message(_, Ok(contents)) if contents.fault.is_none() => 0,
        Event::Message(_, Ok(_)) => 1,
        Event::Message(_, Err(support::Garbled::CheckSum)) => 2,
        Event::Message(_, Err(_)) => 3,
        Event::Dropped(..) => 4,
    }
}

/// Returns one to three messages, at least one of them changed: before its length and checksum were
/// added, or after, or both.
fn mutated(corpus: &[Vec<u8>], random: &mut Rng) -> Vec<u8> {
    let mut stream = Vec::new();
    for _ in 0..1 + random.usize(..3) {
        let message = &corpus[random.usize(..corpus.len())];
        if random.usize(..3) == 0 {
            stream.extend_from_slice(message);
            continue;
        }
        let mut parts = message.splitn(3, |byte| *byte == 1);
        let (Some(begin), Some(_), Some(rest)) = (parts.next(), parts.next(), parts.next()) else { continue };
        let mut fields = rest[..rest.len().saturating_sub(7)].to_vec();
        for _ in 0..1 + random.usize(..2) {
            mutate(&mut fields, corpus, random);
        }
        stream.extend(seal_bytes(begin.strip_prefix(b"8=").unwrap_or(begin), &fields));
    }
    if stream.is_empty() || random.usize(..2) == 0 {
        mutate(&mut stream, corpus, random);
    }
    stream
}

/// Makes one change of the kind that broken, old or hostile senders make.
fn mutate(bytes: &mut Vec<u8>, corpus: &[Vec<u8>], random: &mut Rng) {
    const BYTES: &[u8] = b"\x01\x01\x01===0123456789\0\xFF8.-F";
    const PIECES: &[&[u8]] = &[
        b"8=FIX",
        b"\x018=FIX",
        b"\x018=FIX.4.2\x019=",
        b"10=000\x01",
        b"\x0110=",
        b"\x0195=3\x0196=a\x01b\x01",
        b"\x0195=5\x0196=a\x01b\x01",
        b"\x0195=0\x0196=\x01",
        b"\x0193=4\x0189=\x01=\x01=\x01",
        b"\x0195=99999999999999999999\x0196=x\x01",
        b"\x0195=007\x0196=8=FIX.4\x01",
        b"\x0195=x\x0196=x\x01",
        b"\x0190=1\x0191=\x01\x01",
        b"\x0110000000000=x\x01",
        b"\x012147483648=x\x01",
        b"\x012147483647=x\x01",
        b"\x010=x\x01",
        b"\x01055=x\x01",
        b"\x0155=\x01",
        b"\x0155\x01",
        b"\x01=x\x01",
        b"9=1000000000000\x01",
        b"9=0\x01",
        b"00000",
    ];
    let length = bytes.len();
    let at = random.usize(..length + 1);
    let range = at..length.min(at + 1 + random.usize(..12));
    match random.usize(..11) {
        0 if at < length => bytes[at] ^= 1 << random.usize(..8),
        1 | 2 if at < length => bytes[at] = BYTES[random.usize(..BYTES.len())],
        3 => bytes.insert(at, BYTES[random.usize(..BYTES.len())]),
        4 => drop(bytes.drain(range)),
        5 => bytes.truncate(at),
        6 => {
            let again = bytes[range].to_vec();
            let to = random.usize(..length + 1);
            drop(bytes.splice(to..to, again));
        }
        7 | 8 => drop(bytes.splice(at..at, PIECES[random.usize(..PIECES.len())].iter().copied())),
        9 => {
            let other = &corpus[random.usize(..corpus.len())];
            let from = random.usize(..other.len());
            let to = other.len().min(from + 1 + random.usize(..60));
            drop(bytes.splice(range, other[from..to].iter().copied()));
        }
        // A data length that grows or shrinks, up to and beyond the end of the message.
        _ => {
            if let Some(found) = bytes.windows(4).position(|window| window == b"\x0195=") {
                let end = found + 4 + bytes[found + 4..].iter().position(|byte| *byte == 1).unwrap_or(0);
                let length = random.usize(..bytes.len() - found + 10).to_string();
                drop(bytes.splice(found + 4..end, length.into_bytes()));
            }
        }
    }
}
