//! NextNumIn is lowered as well as raised: of what records, floor and head say the latest counts,
//! for print, verify, adopt, repair and start.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use fixbolt_codec::SeqNum;
use fixbolt_session::store::{Generation, RecordKind, Store};

use super::*;
use crate::JournalReader;
use crate::files::names::file_name;
use crate::testing::{TempDir, head_in, inbound, outbound, reboot, reset};
use crate::tools::inspect::{Change, adopt, change, repair, verify};

/// Receives 301 messages, closes cleanly, so that the head says 302, and is lowered to 22.
fn lowered(base: &Path) -> (DirectoryStore, SessionKey) {
    let mut store = small(base);
    let (key, _) = open(&mut store);
    for n in 1..=301 {
        turn(&mut store, key, &[inbound(n, &body(n))]);
    }
    store.close(key).unwrap();
    let (key, recovered) = open(&mut store);
    assert_eq!(recovered.next_in, SeqNum(302));
    let lower = Record { kind: RecordKind::Adjust, next_in: SeqNum(22), ..outbound(1, b"lowered") };
    turn(&mut store, key, &[lower]);
    (store, key)
}

/// Writes over the record before which `after` records come, from its byte `at` on.
fn damage(base: &Path, after: usize, at: u64, bytes: &[u8]) {
    let reader = JournalReader::open(&directory(base)).unwrap();
    let record = reader.sessions()[0].records().rev().nth(after).unwrap();
    let path = directory(base).join(file_name(record.segment));
    File::options().write(true).open(path).unwrap().write_all_at(bytes, record.offset + at).unwrap();
    assert!(!verify(base).unwrap()[0].damage.is_empty());
}

/// Returns the journal of [`lowered`], whose process has died.
fn lowered_and_dead(name: &str) -> TempDir {
    let dir = TempDir::new(name);
    lowered(dir.path()).0.crash();
    dir
}

/// Returns NextNumIn as the records have it, as `verify` says it, and as the next start has it.
fn everywhere(base: &Path) -> [u64; 3] {
    let report = &verify(base).unwrap()[0];
    let reader = JournalReader::open(base).unwrap();
    let last = reader.sessions()[0].records().next_back().unwrap().record.next_in;
    let mut store = small(base);
    let recovered = open(&mut store).1;
    assert_eq!(recovered.damage, None);
    store.crash();
    [last.0, report.next_in.0, recovered.next_in.0]
}

#[test]
fn a_lowered_next_num_in_stays_lowered_when_the_process_or_the_machine_dies() {
    for machine in [false, true] {
        let dir = lowered_and_dead("lowered");
        if machine {
            reboot(&directory(dir.path()));
        }
        assert_eq!(everywhere(dir.path()), [22; 3], "{machine}");
    }
}

#[test]
fn a_lowered_next_num_in_stays_lowered_when_a_copy_is_adopted() {
    for close in [false, true] {
        let (dir, copy) = (TempDir::new("lowered-original"), TempDir::new("lowered-copy"));
        let (mut store, key) = lowered(dir.path());
        if close {
            store.close(key).unwrap();
        } else {
            store.crash();
        }
        let to = directory(copy.path());
        std::fs::create_dir(&to).unwrap();
        for entry in std::fs::read_dir(directory(dir.path())).unwrap() {
            let entry = entry.unwrap();
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
        let adopted = adopt(&to, true).unwrap().remove(0);
        assert_eq!((adopted.was_copy, adopted.next_in), (true, SeqNum(22)));
        assert_eq!(everywhere(copy.path()), [22; 3], "{close}");
    }
}

#[test]
fn a_lowered_next_num_in_stays_lowered_when_the_journal_is_repaired_any_number_of_times() {
    let dir = lowered_and_dead("lowered-repaired");
    for round in 0..3 {
        damage(dir.path(), 2, 60, b"damaged!");
        let repaired = repair(dir.path(), None).unwrap().remove(0);
        assert_eq!(repaired.next_in, SeqNum(22), "{round}");
        assert_eq!(everywhere(dir.path()), [22; 3], "{round}");
    }
}

#[test]
fn a_lowered_next_num_in_whose_record_is_lost_is_in_the_floor() {
    let dir = lowered_and_dead("lowered-lost");
    damage(dir.path(), 0, 0, &[0; 256]);
    for _ in 0..2 {
        assert_eq!(repair(dir.path(), None).unwrap()[0].next_in, SeqNum(22));
    }
    assert_eq!(verify(dir.path()).unwrap()[0].next_in, SeqNum(22));
    let mut store = small(dir.path());
    assert_eq!(open(&mut store).1.next_in, SeqNum(22));
    store.crash();
    assert_eq!(everywhere(dir.path()), [22; 3]);
}

#[test]
fn after_a_reset_that_only_the_head_knows_verify_and_repair_say_what_the_start_continues_with() {
    let dir = TempDir::new("lowered-reset");
    let mut store = small(dir.path());
    let (key, _) = open(&mut store);
    for n in 1..=301 {
        turn(&mut store, key, &[inbound(n, &body(n))]);
    }
    turn(&mut store, key, &[reset(1, 1)]);
    while head_in(&directory(dir.path())).generation != Generation(1) {
        std::thread::sleep(Duration::from_millis(1));
    }
    store.crash();
    damage(dir.path(), 0, 0, &[0; 256]);
    reboot(&directory(dir.path()));
    let report = &verify(dir.path()).unwrap()[0];
    assert_eq!((&report.damage, report.generation, report.next_in), (&vec![], Generation(1), SeqNum(1)));
    let refused = repair(dir.path(), Some(SeqNum(302))).unwrap_err().to_string();
    assert!(refused.ends_with("the next message expected is 1"), "{refused}");
    let recovered = open(&mut store).1;
    assert_eq!((recovered.generation, recovered.next_in), (Generation(1), SeqNum(1)));
}

#[test]
fn what_an_operator_sets_after_a_repair_counts_from_then_on() {
    let dir = lowered_and_dead("lowered-set");
    damage(dir.path(), 0, 0, &[0; 256]);
    repair(dir.path(), None).unwrap();
    for next_in in [500, 7] {
        let set = Change::SetNumbers { next_in: Some(SeqNum(next_in)), next_out: None };
        change(dir.path(), set, "jane", "agreed", true).unwrap();
        assert_eq!(everywhere(dir.path()), [next_in; 3]);
    }
}

#[test]
fn a_repaired_journal_that_has_lost_inbound_messages_only_is_opened_and_closed_any_number_of_times() {
    let dir = TempDir::new("repaired-inbound");
    let mut store = small(dir.path());
    let (key, _) = open(&mut store);
    for n in 1..=20 {
        turn(&mut store, key, &[inbound(n, &body(n))]);
    }
    store.close(key).unwrap();
    damage(dir.path(), 0, 0, &[0; 256]);
    assert!(open(&mut store).1.damage.is_some());
    store.crash();
    assert_eq!(repair(dir.path(), None).unwrap()[0].next_in, SeqNum(21));
    for _ in 0..3 {
        let (key, recovered) = open(&mut store);
        assert_eq!((recovered.damage, recovered.next_in), (None, SeqNum(21)));
        store.close(key).unwrap();
    }
    assert!(verify(dir.path()).unwrap()[0].is_whole());
}
