//! Changing the sequence numbers of a session that is stopped: what the next start finds.

use fixbolt_codec::SeqNum;
use fixbolt_session::store::{Generation, RecordKind, Store, StoreError};

use super::*;
use crate::JournalReader;
use crate::testing::{TempDir, outbound, reboot};
use crate::tools::inspect::{Change, change, verify};

fn filled(dir: &TempDir, messages: u64) -> (DirectoryStore, SessionKey) {
    let mut store = small(dir.path());
    let (key, _) = open(&mut store);
    for n in 1..=messages {
        turn(&mut store, key, &[outbound(n, &body(n))]);
    }
    (store, key)
}

const fn set(next_in: Option<u64>, next_out: Option<u64>) -> Change {
    const fn number(number: Option<u64>) -> Option<SeqNum> {
        match number {
            Some(number) => Some(SeqNum(number)),
            None => None,
        }
    }
    Change::SetNumbers { next_in: number(next_in), next_out: number(next_out) }
}

/// Returns the last record of the journal as kind, MsgSeqNum, NextNumIn and text.
fn last(dir: &TempDir) -> (RecordKind, u64, u64, String) {
    let reader = JournalReader::open(dir.path()).unwrap();
    let record = reader.sessions()[0].records().next_back().unwrap().record;
    (record.kind, record.seq.0, record.next_in.0, String::from_utf8(record.body.to_vec()).unwrap())
}

#[test]
fn numbers_that_are_set_are_those_of_the_next_start_and_nothing_else_changes() {
    let dir = TempDir::new("set-numbers");
    let (mut store, key) = filled(&dir, 300);
    store.close(key).unwrap();
    let changed = change(dir.path(), set(Some(40), Some(1000)), "jane", "agreed", true).unwrap();
    assert_eq!((changed.was_in, changed.was_out), (SeqNum(1), SeqNum(301)));
    assert_eq!((changed.next_in, changed.next_out), (SeqNum(40), SeqNum(1000)));
    assert_eq!((changed.generation, &changed.given_up), (Generation(0), &None));
    assert_eq!(last(&dir), (RecordKind::Adjust, 1000, 40, "jane: agreed".to_owned()));
    let changed = change(dir.path(), set(Some(30), None), "jane", "again", true).unwrap();
    assert_eq!((changed.was_in, changed.next_in, changed.next_out), (SeqNum(40), SeqNum(30), SeqNum(1000)));
    assert!(verify(dir.path()).unwrap()[0].is_whole());

    let (key, recovered) = open(&mut store);
    assert_eq!((recovered.next_in, recovered.next_out), (SeqNum(30), SeqNum(1000)));
    assert_eq!((recovered.given_up, recovered.damage), (None, None));
    assert_eq!(read_body(&mut store, key, 0, 300).unwrap(), body(300));
    assert_eq!(read_body(&mut store, key, 0, 301), None);
    turn(&mut store, key, &[outbound(1000, b"next")]);
}

#[test]
fn a_reset_begins_at_1_in_the_next_generation_and_keeps_the_messages() {
    let dir = TempDir::new("reset-stopped");
    let (mut store, key) = filled(&dir, 300);
    turn(&mut store, key, &[crate::testing::reset(1, 1), outbound(1, b"second")]);
    store.close(key).unwrap();
    let changed = change(dir.path(), Change::Reset, "jane", "new day", true).unwrap();
    assert_eq!(
        (changed.was_out, changed.next_out, changed.generation),
        (SeqNum(2), SeqNum(1), Generation(2))
    );
    assert_eq!(last(&dir), (RecordKind::Reset, 1, 1, "jane: new day".to_owned()));
    let report = verify(dir.path()).unwrap().remove(0);
    assert!(report.is_whole() && report.closed_cleanly, "{report:?}");
    assert_eq!((report.records.outbound, report.records.reset, report.mark), (301, 2, Some(SeqNum(1))));

    let (key, recovered) = open(&mut store);
    assert_eq!((recovered.generation, recovered.next_out), (Generation(2), SeqNum(1)));
    turn(&mut store, key, &[outbound(1, b"third")]);
    assert_eq!(read_body(&mut store, key, 2, 1).unwrap(), b"third");
    store.archive(key);
    assert_eq!(verify(dir.path()).unwrap()[0].records.outbound, 302, "those before are in the archive");
}

#[test]
fn a_plan_says_what_is_done_then_and_changes_nothing() {
    for (name, died) in [("plan-clean", false), ("plan-died", true)] {
        let dir = TempDir::new(name);
        let (mut store, key) = filled(&dir, 20);
        if died {
            store.crash();
            reboot(&directory(dir.path()));
        } else {
            store.close(key).unwrap();
        }
        let before = verify(dir.path()).unwrap();
        let asked = |act| change(dir.path(), set(Some(9), None), "jane", "agreed", act).unwrap();
        let planned = asked(false);
        let after = verify(dir.path()).unwrap();
        assert_eq!((&before[0].records, before[0].mark), (&after[0].records, after[0].mark));
        let given_up = planned.given_up.clone();
        assert_eq!(given_up.map(|range| *range.start()), died.then_some(SeqNum(21)));
        assert_eq!(planned, asked(true));
        assert!(died == (planned.was_out > SeqNum(21)), "numbers that may have been used are not used again");
        let (_, recovered) = open(&mut small(dir.path()));
        assert_eq!((recovered.next_in, recovered.next_out), (SeqNum(9), planned.next_out));
    }
}

#[test]
fn a_change_says_how_many_messages_that_wait_are_not_sent_because_of_it() {
    let dir = TempDir::new("reset-waiting");
    let (mut store, key) = filled(&dir, 20);
    let waiting = |n| Record { kind: RecordKind::Waiting, ..outbound(n, b"35=D|") };
    turn(&mut store, key, &[waiting(1), waiting(2), waiting(3)]);
    store.close(key).unwrap();
    let kept = change(dir.path(), set(Some(30), None), "jane", "agreed", true).unwrap();
    assert_eq!(kept.not_sent, 0);
    for act in [false, true] {
        let ended = change(dir.path(), Change::Reset, "jane", "new day", act).unwrap();
        assert_eq!(ended.not_sent, 3, "{act}");
    }
    let (key, recovered) = open(&mut store);
    assert_eq!(recovered.waiting.count, 0);

    turn(&mut store, key, &[waiting(4), waiting(5)]);
    store.crash();
    reboot(&directory(dir.path()));
    let in_doubt = change(dir.path(), set(Some(40), None), "jane", "agreed", true).unwrap();
    assert_eq!((in_doubt.not_sent, in_doubt.given_up.is_some()), (2, true));
}

#[test]
fn next_num_out_never_goes_down_also_below_what_a_power_loss_may_have_used() {
    let dir = TempDir::new("set-lower");
    let (mut store, _) = filled(&dir, 20);
    store.crash();
    reboot(&directory(dir.path()));
    let refused = change(dir.path(), set(None, Some(100)), "jane", "agreed", true).unwrap_err();
    assert!(refused.to_string().contains("cannot go down to 100"), "{refused}");
    assert_eq!(verify(dir.path()).unwrap()[0].records.adjust, 0);
}

#[test]
fn a_journal_that_is_in_use_is_left_alone() {
    let dir = TempDir::new("set-held");
    let (_store, _) = filled(&dir, 2);
    for act in [false, true] {
        let refused = change(dir.path(), Change::Reset, "jane", "new day", act).unwrap_err();
        assert!(matches!(refused, StoreError::Locked { .. }), "{refused}");
    }
}

#[test]
fn a_directory_without_a_journal_gets_none() {
    let dir = TempDir::new("set-none");
    std::fs::write(dir.path().join("lock"), "host=h pid=1 start=now epoch=1\n").unwrap();
    let refused = change(dir.path(), Change::Reset, "jane", "new day", true).unwrap_err();
    assert!(refused.to_string().contains("there is no journal"), "{refused}");
    assert!(!dir.path().join("head").exists());
}
