//! Journals of every layout can be opened: fixtures that were written once are read correctly.
//!
//! The fixture is text: a line `file NAME LENGTH`, then `OFFSET HEX` for its bytes that are not
//! zero, 32 per line. `FIXBOLT_WRITE_FIXTURE=1` writes the file for a new layout; those of older
//! layouts stay.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use fixbolt_codec::{SeqNum, Version};
use fixbolt_journal::{DirectoryStore, JournalReader, inspect};
use fixbolt_session::runtime::{mono, session_key};
use fixbolt_session::store::{
    ConnectionNumber, Generation, Record, RecordFlags, RecordKind, Recovered, Store, WaitingMessages,
};
use fixbolt_session::{SessionId, Utc};

/// The layout that this code writes.
const LAYOUT: u32 = 2;

fn fixture(layout: u32) -> String {
    format!("tests/fixtures/layout-{layout}.txt")
}

fn session() -> SessionId {
    SessionId::new(Version::Fix44, "VENUE", "TRADER").unwrap()
}

fn record(kind: RecordKind, seq: u64, next_in: u64, body: &[u8]) -> Record<'_> {
    Record {
        kind,
        flags: RecordFlags::default(),
        seq: SeqNum(seq),
        next_in: SeqNum(next_in),
        connection: ConnectionNumber(2),
        cause: (kind == RecordKind::Outbound).then_some(SeqNum(next_in - 1)),
        utc: Utc(1_795_297_199_000_000_000 + seq),
        mono: mono(1_000 + seq),
        body,
    }
}

/// Returns the turns in the fixture.
fn turns() -> Vec<Vec<Record<'static>>> {
    use RecordKind::{Adjust, Attempt, Inbound, Outbound, Reset};
    let admin = |r: Record<'static>| Record { flags: RecordFlags::ADMIN.with(RecordFlags::MASKED), ..r };
    vec![
        vec![
            record(Inbound, 1, 2, b"8=FIX.4.4|35=A|34=1|"),
            admin(record(Outbound, 1, 2, b"8=FIX.4.4|35=A|34=1|")),
        ],
        vec![record(Reset, 1, 1, b"counterparty: ResetSeqNumFlag")],
        vec![record(Inbound, 1, 2, b"8=FIX.4.4|35=D|34=1|"), record(Outbound, 1, 2, b"8=FIX.4.4|35=8|34=1|")],
        vec![record(Adjust, 5, 2, b"operator: next outbound 5")],
        vec![record(Outbound, 5, 2, b"8=FIX.4.4|35=8|34=5|")],
        vec![record(Attempt, 2, 2, b"the application panicked")],
    ]
}

fn write_fixture() {
    let base = std::env::temp_dir().join(format!("fixbolt-journal-fixture-{}", std::process::id()));
    let mut store = DirectoryStore::new(&base).with_segments(4096, 4096);
    let key = session_key(0, 0, 0);
    store.open(key, &session()).unwrap();
    for turn in turns() {
        store.begin();
        for r in &turn {
            store.append(key, r).unwrap();
        }
        store.commit().unwrap();
    }
    store.close(key).unwrap();
    let mut text = String::new();
    for name in ["head", "segment-000001"] {
        let bytes = std::fs::read(base.join(session().file_name()).join(name)).unwrap();
        writeln!(text, "file {name} {}", bytes.len()).unwrap();
        for (n, line) in bytes.chunks(32).enumerate() {
            if line.iter().any(|b| *b != 0) {
                let hex: String = line.iter().map(|b| format!("{b:02x}")).collect();
                writeln!(text, "{:06x} {hex}", n * 32).unwrap();
            }
        }
    }
    std::fs::write(fixture(LAYOUT), text).unwrap();
    std::fs::remove_dir_all(base).unwrap();
}

/// Puts the fixture's files into a directory of their own and returns its base.
fn unpack(layout: u32) -> PathBuf {
    let base = std::env::temp_dir().join(format!("fixbolt-journal-layout-{layout}-{}", std::process::id()));
    let directory = base.join(session().file_name());
    std::fs::create_dir_all(&directory).unwrap();
    let text = std::fs::read_to_string(fixture(layout)).unwrap();
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        if words[0] == "file" {
            files.push((words[1].to_owned(), vec![0; words[2].parse().unwrap()]));
            continue;
        }
        let at = usize::from_str_radix(words[0], 16).unwrap();
        for (n, pair) in words[1].as_bytes().chunks(2).enumerate() {
            let pair = std::str::from_utf8(pair).unwrap();
            files.last_mut().unwrap().1[at + n] = u8::from_str_radix(pair, 16).unwrap();
        }
    }
    for (name, bytes) in files {
        std::fs::write(directory.join(name), bytes).unwrap();
    }
    base
}

fn read(base: &Path) -> Vec<(u32, RecordKind, u64, Vec<u8>)> {
    let reader = JournalReader::open(base).unwrap();
    let journal = &reader.sessions()[0];
    assert_eq!(journal.session(), Some(&session()));
    journal
        .records()
        .map(|r| (r.generation.0, r.record.kind, r.record.seq.0, r.record.body.to_vec()))
        .collect()
}

#[test]
fn a_journal_of_layout_1_is_read_and_carried_over_to_layout_2() {
    let base = unpack(1);
    is_read_and_continued(&base);
    let head = std::fs::read(base.join(session().file_name()).join("head")).unwrap();
    assert_eq!((head.len(), head[8]), (12288, 2));
    std::fs::remove_dir_all(base).unwrap();
}

#[test]
fn a_journal_of_layout_2_is_a_copy_until_it_is_adopted_and_then_read_and_continued() {
    if std::env::var_os("FIXBOLT_WRITE_FIXTURE").is_some() {
        write_fixture();
    }
    let base = unpack(2);
    let mut store = DirectoryStore::new(&base);
    let refused = store.open(session_key(0, 0, 0), &session()).unwrap().damage.unwrap();
    assert!(refused.contains("this is a copy of journal") && refused.contains("journal adopt"), "{refused}");
    drop(store);
    let adopted = inspect::adopt(&base, true).unwrap().remove(0);
    assert!(adopted.was_copy);
    assert_eq!((adopted.next_in, adopted.next_out), (SeqNum(2), SeqNum(6)));
    is_read_and_continued(&base);
    assert!(!inspect::adopt(&base, true).unwrap()[0].was_copy);
    std::fs::remove_dir_all(base).unwrap();
}

fn is_read_and_continued(base: &Path) {
    let expected: Vec<_> = turns()
        .into_iter()
        .enumerate()
        .flat_map(|(n, turn)| {
            turn.into_iter().map(move |r| (u32::from(n > 0), r.kind, r.seq.0, r.body.to_vec()))
        })
        .collect();
    assert_eq!(read(base), expected);

    let mut store = DirectoryStore::new(base);
    let key = session_key(0, 0, 0);
    let recovered = store.open(key, &session()).unwrap();
    let since = Some(record(RecordKind::Reset, 1, 1, b"").utc);
    assert_eq!(
        recovered,
        Recovered {
            generation: Generation(1),
            next_in: SeqNum(2),
            next_out: SeqNum(6),
            connection: ConnectionNumber(2),
            since,
            attempts: 1,
            waiting: WaitingMessages::default(),
            given_up: None,
            in_doubt: None,
            damage: None,
        }
    );
    let mut all = Vec::new();
    let mut visit = |r: Record<'_>| {
        all.push((r.kind, r.flags, r.seq, r.cause, r.utc, r.mono));
        std::ops::ControlFlow::Continue(())
    };
    store.replay(key, &mut visit).unwrap();
    let meant = turns().into_iter().skip(1).flatten();
    assert_eq!(all, meant.map(|r| (r.kind, r.flags, r.seq, r.cause, r.utc, r.mono)).collect::<Vec<_>>());
    let first = store.read(key, Generation(0), SeqNum(1)..=SeqNum(1)).unwrap().unwrap();
    assert!(first.flags.contains(RecordFlags::MASKED));
    store.begin();
    store.append(key, &record(RecordKind::Outbound, 6, 2, b"new")).unwrap();
    store.commit().unwrap();
    store.close(key).unwrap();
    assert_eq!(read(base).len(), expected.len() + 1);
}
