//! Verifying, repairing and reading journals.

use std::path::PathBuf;

use fixbolt_codec::SeqNum;
use fixbolt_session::store::{Record, RecordKind, Store, StoreError};

use super::*;
use crate::JournalReader;
use crate::testing::{TempDir, attempt, inbound, opened, outbound, reboot, reset, wait_for_creation};
use crate::tools::inspect::{Counts, repair, verify};
use crate::values::reserve::RESERVE_MOST;

fn filled(dir: &TempDir, turns: u64) -> (DirectoryStore, SessionKey) {
    let mut store = small(dir.path());
    let (key, _) = open(&mut store);
    for n in 1..=turns {
        let bytes = body(n);
        turn(
            &mut store,
            key,
            &[
                inbound(n, b"order"),
                Record { next_in: SeqNum(n + 1), cause: Some(SeqNum(n)), ..outbound(n, &bytes) },
            ],
        );
    }
    (store, key)
}

fn directory(dir: &TempDir) -> PathBuf {
    dir.path().join(session("A").file_name())
}

#[test]
fn reports_describe_a_running_and_a_closed_journal() {
    let dir = TempDir::new("verify");
    let (mut store, key) = filled(&dir, 100);
    turn(&mut store, key, &[reset(1, 1)]);
    turn(&mut store, key, &[attempt(1)]);
    let expected = Counts { inbound: 100, outbound: 100, reset: 1, attempt: 1, ..Counts::default() };
    let running = verify(dir.path()).unwrap().remove(0);
    assert!(running.is_whole(), "{running:?}");
    assert_eq!((running.records, running.turns), (expected, 102));
    assert_eq!(running.session, Some(session("A")));
    assert_eq!((running.next_in, running.next_out, running.attempts), (SeqNum(1), SeqNum(1), 1));
    assert!(!running.closed_cleanly);
    assert!(running.bytes_used < running.bytes_allocated);
    store.close(key).unwrap();
    let closed = verify(&directory(&dir)).unwrap().remove(0);
    assert_eq!((closed.records, closed.closed_cleanly), (expected, true));
    assert_eq!(closed.mark, Some(SeqNum(1)));
    assert!(verify(&dir.path().join("nowhere")).is_err());
}

#[test]
fn every_record_is_read_back_with_its_generation_and_place() {
    let dir = TempDir::new("reader");
    let (mut store, key) = filled(&dir, 300);
    turn(&mut store, key, &[reset(1, 1), outbound(1, b"new")]);
    let reader = JournalReader::open(dir.path()).unwrap();
    let journal = &reader.sessions()[0];
    let all: Vec<_> = journal.records().collect();
    assert_eq!(all.len(), 602);
    assert_eq!(all[599].record.body, body(300));
    assert_eq!((all[599].generation.0, all[600].generation.0), (0, 1));
    assert_eq!(all[600].turn, all[601].turn);
    assert!(all.windows(2).all(|w| (w[0].segment, w[0].offset) < (w[1].segment, w[1].offset)));
    let bytes = std::fs::read(journal.file(all[599].segment)).unwrap();
    assert!(bytes[all[599].offset as usize + 80..].starts_with(&body(300)));
}

#[test]
fn reading_a_journal_while_it_grows_never_sees_damage() {
    let dir = TempDir::new("growing");
    let (mut store, key) = filled(&dir, 1);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for n in 2..=20_000 {
                turn(&mut store, key, &[Record { next_in: SeqNum(2), ..outbound(n, b"growing") }]);
            }
        });
        let mut last = 0;
        while !writer.is_finished() {
            let report = verify(dir.path()).unwrap().remove(0);
            assert_eq!(report.damage, Vec::<String>::new());
            // The turn that is being committed may be visible before its floor is stored: one
            // report has it, the next one goes by the floor.
            assert!(report.records.outbound + 1 >= last, "{} after {last}", report.records.outbound);
            last = last.max(report.records.outbound);
        }
    });
}

#[test]
fn damage_in_the_middle_is_covered_kept_and_gap_filled() {
    let dir = TempDir::new("repair");
    let (mut store, key) = filled(&dir, 14);
    store.close(key).unwrap();
    let segment = directory(&dir).join("segment-000001");
    let mut bytes = std::fs::read(&segment).unwrap();
    for at in (600..1500).step_by(40) {
        bytes[at] ^= 0x55;
    }
    std::fs::write(&segment, &bytes).unwrap();
    let damaged = verify(dir.path()).unwrap().remove(0);
    assert_eq!(damaged.damage.len(), 1, "{damaged:?}");
    let held = {
        let (key, recovered) = open(&mut store);
        assert!(recovered.damage.is_some());
        let held = matches!(repair(dir.path(), None), Err(StoreError::Locked { .. }));
        store.close(key).unwrap();
        held
    };
    assert!(held, "no repair under a running session");
    let repaired = repair(dir.path(), None).unwrap().remove(0);
    assert_eq!((repaired.next_in, repaired.next_out), (SeqNum(15), SeqNum(15)));
    assert_eq!((repaired.done.len(), repaired.kept.len()), (2, 2), "{repaired:?}");
    let kept = std::fs::read(&repaired.kept[1]).unwrap();
    assert!(bytes.windows(kept.len()).any(|w| w == kept), "the damaged bytes as they were");
    assert!(repair(dir.path(), None).unwrap()[0].done.is_empty(), "nothing more to do");
    let whole = verify(dir.path()).unwrap().remove(0);
    assert!(whole.is_whole(), "{whole:?}");
    let (key, recovered) = open(&mut store);
    assert_eq!((recovered.damage, recovered.next_out), (None, SeqNum(15)));
    let lost = (1..=14).filter(|n| read_body(&mut store, key, 0, *n).is_none()).count();
    assert!((2..10).contains(&lost), "{lost}");
    assert_eq!(read_body(&mut store, key, 0, 14), Some(body(14)));
    turn(&mut store, key, &[Record { next_in: SeqNum(15), ..outbound(15, b"goes on") }]);
    store.crash();
    let (key, recovered) = open(&mut store);
    assert_eq!((recovered.damage, recovered.next_out), (None, SeqNum(16)));
    assert_eq!(count(&mut store, key), whole.records.total() as usize + 1);
}

#[test]
fn the_records_after_a_lost_message_keep_its_sequence_number_used() {
    let dir = TempDir::new("behind");
    let (mut store, key) = filled(&dir, 10);
    let at = count(&mut store, key);
    turn(&mut store, key, &[inbound(11, b"behind")]);
    store.crash();
    let reader = JournalReader::open(dir.path()).unwrap();
    let last = reader.sessions()[0].records().nth(at - 1).unwrap();
    assert_eq!((last.record.kind, last.record.seq), (RecordKind::Outbound, SeqNum(10)));
    let path = directory(&dir).join("segment-000001");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[last.offset as usize + 90] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let mark = SeqNum(1 + crate::values::reserve::RESERVE);
    assert_eq!(repair(dir.path(), None).unwrap()[0].next_out, mark);
    let recovered = open(&mut store).1;
    assert_eq!((recovered.next_out, recovered.damage), (mark, None));
    assert_eq!(recovered.given_up, Some(SeqNum(11)..=mark.previous()));
}

#[test]
fn every_kind_of_damage_can_be_repaired_and_no_sequence_number_decreases() {
    type Harm = fn(&std::path::Path);
    fn change(path: PathBuf, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = std::fs::read(&path).unwrap();
        change(&mut bytes);
        std::fs::write(path, bytes).unwrap();
    }
    let harms: [(&str, Harm); 9] = [
        ("both heads", |d| change(d.join("head"), |b| b.fill(7))),
        ("no head", |d| std::fs::remove_file(d.join("head")).unwrap()),
        ("short head", |d| change(d.join("head"), |b| b.truncate(100))),
        ("segment header", |d| change(d.join("segment-000002"), |b| b[20] ^= 1)),
        ("first segment lost", |d| std::fs::remove_file(d.join("segment-000001")).unwrap()),
        ("middle segment lost", |d| std::fs::remove_file(d.join("segment-000002")).unwrap()),
        ("segment truncated", |d| change(d.join("segment-000001"), |b| b.truncate(2048))),
        ("segment emptied", |d| change(d.join("segment-000001"), Vec::clear)),
        ("segment zeroed", |d| change(d.join("segment-000002"), |b| b[1000..].fill(0))),
    ];
    for (what, harm) in harms {
        let dir = TempDir::new("harm");
        let (mut store, key) = filled(&dir, 300);
        store.close(key).unwrap();
        assert!(directory(&dir).join("segment-000003").exists());
        harm(&directory(&dir));
        let (key, recovered) = open(&mut store);
        // What is lost of the past stops nothing.
        assert_eq!(recovered.damage.is_some(), what != "segment zeroed", "{what}");
        assert!(recovered.next_out >= SeqNum(301), "{what}");
        store.close(key).unwrap();
        let repaired = repair(dir.path(), None).unwrap_or_else(|e| panic!("{what}: {e}")).remove(0);
        assert!(!repaired.done.is_empty(), "{what}");
        let (key, recovered) = open(&mut store);
        assert_eq!(recovered.damage, None, "{what}");
        let headless = what.contains("head") && !what.contains("segment");
        let expected = if headless { 301 + 2 * RESERVE_MOST } else { 301 };
        assert_eq!((recovered.next_in, recovered.next_out), (SeqNum(301), SeqNum(expected)), "{what}");
        assert_eq!(read_body(&mut store, key, 0, 300), Some(body(300)), "{what}");
        turn(&mut store, key, &[Record { next_in: SeqNum(301), ..outbound(expected, b"on") }]);
        store.close(key).unwrap();
        assert!(verify(dir.path()).unwrap()[0].is_whole(), "{what}");
    }
}

#[test]
fn a_poison_message_can_be_skipped_if_it_is_the_next_one() {
    let dir = TempDir::new("skip");
    let (mut store, key) = filled(&dir, 10);
    for _ in 0..3 {
        turn(&mut store, key, &[attempt(11)]);
    }
    assert!(matches!(repair(dir.path(), Some(SeqNum(11))), Err(StoreError::Locked { .. })));
    store.close(key).unwrap();
    let wrong = repair(dir.path(), Some(SeqNum(12))).unwrap_err().to_string();
    assert!(wrong.ends_with("the next message expected is 11"), "{wrong}");
    let done = repair(&directory(&dir), Some(SeqNum(11))).unwrap().remove(0);
    assert_eq!((done.next_in, done.next_out), (SeqNum(12), SeqNum(11)));
    let (key, recovered) = open(&mut store);
    assert_eq!((recovered.next_in, recovered.attempts), (SeqNum(12), 0));
    let reader = JournalReader::open(dir.path()).unwrap();
    let last = reader.sessions()[0].records().next_back().unwrap();
    assert_eq!(last.record.kind, RecordKind::Adjust);
    assert!(last.record.body.starts_with(b"operator: skipped inbound message 11"));
    store.close(key).unwrap();
    opened(&mut store, "B").unwrap();
    wait_for_creation(&dir.path().join(session("B").file_name()));
    assert!(repair(dir.path(), Some(SeqNum(12))).unwrap_err().to_string().contains("name one"));
}

#[test]
fn an_incomplete_turn_and_a_torn_tail_are_reported() {
    let dir = TempDir::new("told");
    let mut store = small(dir.path());
    let (a, _) = open(&mut store);
    let (b, _) = opened(&mut store, "B").unwrap();
    for _ in 0..2 {
        store.begin();
        let n = 1 + count(&mut store, a) as u64;
        store.append(a, &inbound(n, b"order")).unwrap();
        store
            .append(b, &Record { cause: Some(SeqNum(n)), mono: inbound(n, b"").mono, ..outbound(n, b"copy") })
            .unwrap();
        if n == 1 {
            store.commit().unwrap();
            assert!(verify(dir.path()).unwrap().iter().all(|r| r.remarks.is_empty()));
        }
    }
    store.crash_after_publishing(1);
    let reports = verify(dir.path()).unwrap();
    assert!(reports[0].remarks.is_empty(), "{reports:?}");
    assert!(reports[1].remarks[0].contains("inbound message 2 of another session"), "{reports:?}");
    let path = directory(&dir).join("segment-000001");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[595] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let report = verify(dir.path()).unwrap().remove(0);
    assert!(report.damage[0].contains("the last commit reached"), "{report:?}");
    // After a power loss that is no damage.
    reboot(&directory(&dir));
    let report = verify(dir.path()).unwrap().remove(0);
    assert_eq!((report.damage, report.torn_tail), (vec![], Some((path, 512))));
    let report = verify(dir.path()).unwrap().remove(0);
    assert!(!report.is_whole());
}
