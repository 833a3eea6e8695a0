//! What a reader finds in every kind of log and in journals.

use std::io::{self, Read};
use std::path::PathBuf;

use fixbolt_codec::{FrameError, SeqNum, Version};
use fixbolt_journal::DirectoryStore;
use fixbolt_log::{Content, Entry, Form, ReadError, Reader, Time};
use fixbolt_session::runtime::{mono, session_key};
use fixbolt_session::store::{ConnectionNumber, Record, RecordFlags, RecordKind, Store};
use fixbolt_session::{Direction, SessionId, Utc};

const HEARTBEAT: &str = "8=FIX.4.2\u{1}9=5\u{1}35=0\u{1}10=161\u{1}";
/// Everything that is read as SOH.
const SEPARATORS: [&str; 16] = [
    "\u{1}", "|", "^A", "^", "\\x01", "\\u0001", "\\001", "<SOH>", "<01>", "[SOH]", "\u{2401}", ";", "~",
    "\t", " ", " | ",
];

/// An entry for comparison: line, offset, direction, time and content.
fn shown(entry: &Entry<'_>) -> String {
    let line = entry.line.map_or_else(String::new, |line| line.to_string());
    let direction = match entry.direction() {
        Some(Direction::Inbound) => "in ",
        Some(Direction::Outbound) => "out ",
        None => "",
    };
    let time = entry.time().map_or_else(String::new, |time| format!("{time} "));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().replace('\u{1}', "|");
    let content = match entry.content {
        Content::Message(framed) => format!("message {}", text(framed.bytes())),
        Content::Garbled { bytes, error } => format!("garbled {}: {error}", text(bytes)),
        Content::Event(bytes) => format!("event {}", text(bytes)),
        Content::Text(bytes) => format!("text {}", text(bytes)),
        Content::Damage(text) => format!("damage {text}"),
        _ => "unknown".to_owned(),
    };
    format!("{line}:{} {direction}{time}{content}", entry.offset)
}

fn read_all(mut reader: Reader<impl Read>) -> Vec<String> {
    let mut entries = Vec::new();
    while let Some(entry) = reader.next().unwrap() {
        entries.push(shown(&entry));
    }
    assert!(reader.next().unwrap().is_none(), "the end is the end");
    entries
}

/// Returns a new folder for a test.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("fixbolt-log-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn the_logs_of_several_engines_are_read_with_time_direction_and_place() {
    let bars = HEARTBEAT.replace('\u{1}', "|");
    let log = format!(
        "20261121-09:00:00.123456789 : {HEARTBEAT}
2026/11/21 19:22:36.180819 {HEARTBEAT}
<20261121-19:21:44, FIX.4.2:EXEC->BANZAI, incoming> ({bars})
<20261121-19:21:44, FIX.4.2:EXEC->BANZAI, event> (Received logon)

2026-11-21T09:00:00,123Z [main] >>> {bars}
{HEARTBEAT}{HEARTBEAT}
started
"
    );
    let message = format!("message {bars}");
    let path = folder("engines").join("messages.log");
    std::fs::write(&path, log).unwrap();
    let entries = read_all(Reader::open(&path).unwrap());
    assert_eq!(
        entries,
        [
            format!("1:30 20261121-09:00:00.123456789 {message}"),
            format!("2:84 2026/11/21 19:22:36.180819 {message}"),
            format!("3:164 in 20261121-19:21:44 {message}"),
            "4:192 event <20261121-19:21:44, FIX.4.2:EXEC->BANZAI, event> (Received logon)".to_owned(),
            format!("6:295 out 2026-11-21T09:00:00,123Z {message}"),
            format!("7:322 {message}"),
            format!("7:348 {message}"),
            "8:375 text started".to_owned(),
        ]
    );
    let mut reader = Reader::open(&path).unwrap();
    let first = reader.next().unwrap().unwrap();
    assert_eq!((first.file, first.session), (Some(path.as_path()), None));
    assert_eq!(first.time(), Some(Time::Written(b"20261121-09:00:00.123456789")));
}

#[test]
fn a_message_is_in_the_form_in_which_it_was_sent_whatever_separates_its_fields() {
    for separator in SEPARATORS {
        let log = format!("09:00:00 IN: {HEARTBEAT}\n").replace('\u{1}', separator);
        let expected = format!("1:13 in 09:00:00 message {}", HEARTBEAT.replace('\u{1}', "|"));
        assert_eq!(read_all(Reader::new(log.as_bytes())), [expected], "{separator}");
    }
}

#[test]
fn what_is_garbled_is_told_with_the_reason_and_costs_no_other_message() {
    let log = "8=FIX.4.2|9=50|35=0|10=161|\n8=FIX.4.2|9=5|35=0|10=16\n8=FIX.4.2|9=5|35=0|10=161|\n8=FIX|\n";
    let no_check_sum = FrameError::BodyLength { announced_end: 65 };
    assert_eq!(
        read_all(Reader::new(log.as_bytes())),
        [
            format!("1:0 garbled 8=FIX.4.2|9=50|35=0|10=161|: {no_check_sum}"),
            format!("2:28 garbled 8=FIX.4.2|9=5|35=0|10=16|: {}", FrameError::CheckSumField { at: 19 }),
            "3:53 message 8=FIX.4.2|9=5|35=0|10=161|".to_owned(),
            format!("4:80 garbled 8=FIX|: {}", FrameError::BeginString),
        ]
    );
}

#[test]
fn what_is_compressed_or_in_utf_16_is_refused_with_the_command_that_shows_it() {
    let folder = folder("forms");
    for (bytes, form, command) in [
        (&b"\x1f\x8b\x08\0\0\0\0\0"[..], Form::Gzip, "zcat"),
        (b"BZh91AY&SY\n", Form::Bzip2, "bzcat"),
        (b"\xfd7zXZ\0\0\x04", Form::Xz, "xzcat"),
        (b"\x28\xb5\x2f\xfd\x04\0\x41", Form::Zstd, "zstdcat"),
        (b"\xff\xfe8\0=\0F\0\n\0", Form::Utf16, "iconv -f UTF-16 -t UTF-8"),
    ] {
        let path = folder.join("messages.log");
        std::fs::write(&path, bytes).unwrap();
        let error = Reader::open(&path).unwrap().next().unwrap_err();
        let (place, is_it) = (path.display(), format!("is {form}: `{command}"));
        assert_eq!(error.to_string(), format!("{place} {is_it} {place}` writes it as text"));
        let error = Reader::new(bytes).next().unwrap_err();
        assert_eq!(error.to_string(), format!("the input {is_it}` writes it as text"));
        assert!(matches!(error, ReadError::NotText { form: found, file: None } if found == form));
    }
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let error = Reader::open("nowhere/messages.log").err().unwrap();
    assert_eq!(error.to_string(), "cannot read nowhere/messages.log");
    assert!(format!("{error:#}").starts_with("cannot read nowhere/messages.log: No such file"));
    assert!(matches!(Reader::open(folder("empty")).err(), Some(ReadError::Journal(_))));
}

/// An input that has the bytes of one string at a time.
struct Slowly(Vec<&'static [u8]>);

impl Read for Slowly {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() {
            return Ok(0);
        }
        let bytes = self.0.remove(0);
        if bytes == b"error" {
            return Err(io::Error::other("gone"));
        }
        to[..bytes.len()].copy_from_slice(bytes);
        Ok(bytes.len())
    }
}

#[test]
fn a_log_can_be_followed_and_an_error_of_its_input_loses_nothing() {
    let arriving: Vec<&[u8]> = vec![
        b"8=FIX.4.2|9=5|35=0|10=161|\n8=FIX.4.2|9=5|35=0|10=161|\n",
        b"8=FIX.4.2|9=5|35=0|",
        b"error",
        b"10=161|\n",
    ];
    let mut reader = Reader::new(Slowly(arriving));
    assert!(reader.has_to_read());
    assert!(reader.next().unwrap().is_some());
    assert!(!reader.has_to_read(), "the second message has been read");
    assert!(reader.next().unwrap().is_some());
    assert!(reader.has_to_read());
    let error = reader.next().unwrap_err();
    assert_eq!(format!("{error:#}"), "cannot read the input: gone");
    let third = reader.next().unwrap().unwrap();
    assert_eq!(shown(&third), "3:54 message 8=FIX.4.2|9=5|35=0|10=161|");
    assert!(reader.next().unwrap().is_none());
    assert!(!reader.has_to_read());
}

#[test]
fn an_error_before_the_form_of_a_log_is_known_loses_nothing() {
    let arriving: Vec<&[u8]> = vec![b"x\n", b"error", b"8=FIX.4.2|9=5|35=0|10=161|\n"];
    let mut reader = Reader::new(Slowly(arriving));
    assert!(reader.next().is_err());
    assert!(reader.has_to_read(), "two bytes do not say whether it is text");
    assert_eq!(shown(&reader.next().unwrap().unwrap()), "1:0 text x");
    assert_eq!(shown(&reader.next().unwrap().unwrap()), "2:2 message 8=FIX.4.2|9=5|35=0|10=161|");
    assert!(reader.next().unwrap().is_none());
}

#[test]
fn a_value_that_may_begin_a_field_may_be_a_secret_if_the_separator_may_be_text() {
    // The checksum is wrong, so it does not show which spaces are separators.
    let log = "8=FIX.4.2 9=40 35=A 554 =hunter2 10=000 \n";
    let mut reader = Reader::new(log.as_bytes());
    let entry = reader.next().unwrap().unwrap();
    let bytes = entry.bytes().unwrap();
    let hidden: Vec<u8> =
        entry.doubtful_secrets().into_iter().flat_map(|place| bytes[place].to_vec()).collect();
    assert!(String::from_utf8_lossy(&hidden).contains("hunter2"), "{}", bytes.escape_ascii());
    let mut reader = Reader::new(HEARTBEAT.as_bytes());
    assert!(reader.next().unwrap().unwrap().doubtful_secrets().is_empty());
}

#[test]
fn debug_output_shows_no_secret() {
    let log = "554=hunter2 8=FIX.4.2|9=18|35=A|554=hunter2|10=000|\n554=hunter2\n8=FIX.4.2|554=hunter2\n";
    let mut reader = Reader::new(log.as_bytes());
    let mut entries = 0;
    while let Some(entry) = reader.next().unwrap() {
        let text = format!("{entry:?} {:?}", entry.prefix);
        assert!(!text.contains("hunter2"), "{text}");
        entries += 1;
    }
    assert_eq!(entries, 3);
}

fn session(target: &str) -> SessionId {
    SessionId::new(Version::Fix42, "VENUE", target).unwrap()
}

/// Writes the journals of two sessions.
fn journals(name: &str) -> PathBuf {
    let base = folder(name);
    let mut store = DirectoryStore::new(&base).with_segments(4096, 4096);
    for (n, target) in [(0, "A"), (1, "B")] {
        let key = session_key(0, n, 0);
        store.open(key, &session(target)).unwrap();
        let record = |kind, seq, next_in, body| Record {
            kind,
            flags: RecordFlags::default(),
            seq: SeqNum(seq),
            next_in: SeqNum(next_in),
            connection: ConnectionNumber(1),
            cause: None,
            utc: Utc(1_795_297_199_000_000_000 + seq),
            mono: mono(seq),
            body,
        };
        for turn in [
            record(RecordKind::Inbound, 1, 2, HEARTBEAT.as_bytes()),
            record(RecordKind::Outbound, 1, 2, HEARTBEAT.as_bytes()),
            record(RecordKind::Adjust, 5, 2, b"operator: next outbound 5"),
        ] {
            store.begin();
            store.append(key, &turn).unwrap();
            store.commit().unwrap();
        }
        store.close(key).unwrap();
    }
    base
}

#[test]
fn journals_are_read_with_session_time_and_direction() {
    let base = journals("journals");
    let mut reader = Reader::open(&base).unwrap();
    let message = format!("message {}", HEARTBEAT.replace('\u{1}', "|"));
    for target in ["A", "B"] {
        let file = base.join(session(target).file_name()).join("segment-000001");
        let mut before = 0;
        for expected in [
            format!("in 20261121-21:39:59.000000001 {message}"),
            format!("out 20261121-21:39:59.000000001 {message}"),
            "20261121-21:39:59.000000005 event operator: next outbound 5".to_owned(),
        ] {
            let entry = reader.next().unwrap().unwrap();
            assert_eq!(shown(&entry), format!(":{} {expected}", entry.offset));
            assert_eq!((entry.file, entry.session), (Some(file.as_path()), Some(&session(target))));
            assert!(entry.offset > before, "records ascend");
            before = entry.offset;
        }
    }
    assert!(reader.next().unwrap().is_none());
    assert!(!reader.has_to_read());
    // The directory of one session is one journal.
    let of_b = read_all(Reader::open(base.join(session("B").file_name())).unwrap());
    assert_eq!(of_b.len(), 3);
    std::fs::remove_dir_all(base).unwrap();
}

#[test]
fn what_is_damaged_in_a_journal_is_told_after_what_is_whole() {
    let base = journals("damage");
    let directory = base.join(session("A").file_name());
    let segment = directory.join("segment-000001");
    let mut second = {
        let mut reader = Reader::open(&directory).unwrap();
        reader.next().unwrap();
        reader.next().unwrap().unwrap().offset as usize
    };
    let mut bytes = std::fs::read(&segment).unwrap();
    second += bytes[second..].windows(5).position(|five| five == b"8=FIX").unwrap();
    bytes[second] ^= 1;
    std::fs::write(&segment, bytes).unwrap();
    let entries = read_all(Reader::open(&base).unwrap());
    let damage: Vec<_> = entries.iter().filter(|entry| entry.contains(" damage ")).collect();
    assert_eq!(damage.len(), 1, "{entries:?}");
    assert_eq!(entries.last(), Some(damage[0]));
    assert!(entries.len() > 4, "what is whole is read: {entries:?}");
    std::fs::remove_dir_all(base).unwrap();
}
