//! Death of the process, power loss and torn writes.

use std::path::PathBuf;

use fixbolt_codec::SeqNum;
use fixbolt_session::store::{Generation, Record, RecordFlags, RecordKind, Reports, Store, WaitingMessages};

use super::*;
use crate::testing::{TempDir, head_in, inbound, opened, outbound, reboot, reset, wait_for_creation};
use crate::values::reserve::RESERVE;

struct Journal {
    dir: TempDir,
}

impl Journal {
    fn new(name: &str) -> Self {
        Self { dir: TempDir::new(name) }
    }

    fn directory(&self) -> PathBuf {
        directory(self.dir.path())
    }

    fn segment(&self, n: u32) -> PathBuf {
        self.directory().join(crate::files::names::file_name(n))
    }

    fn store(&self) -> DirectoryStore {
        small(self.dir.path())
    }

    /// Simulates a crash and restart of the machine.
    fn reboot(&self) {
        reboot(&self.directory());
    }

    fn zero(&self, segment: u32, range: std::ops::Range<usize>) {
        let path = self.segment(segment);
        let mut bytes = std::fs::read(&path).unwrap();
        let end = range.end.min(bytes.len());
        bytes[range.start..end].fill(0);
        std::fs::write(&path, bytes).unwrap();
    }

    /// Returns the bytes of segment 1 up to the last one that is not zero.
    fn length(&self) -> usize {
        let bytes = std::fs::read(self.segment(1)).unwrap();
        bytes.iter().rposition(|b| *b != 0).unwrap() + 1
    }
}

#[test]
fn after_the_death_of_the_process_sequence_numbers_continue_exactly() {
    let j = Journal::new("death");
    let mut store = j.store();
    let (key, _) = open(&mut store);
    for n in 1..=300 {
        let bytes = body(n);
        turn(&mut store, key, &[inbound(n, b"i"), Record { next_in: SeqNum(n + 1), ..outbound(n, &bytes) }]);
    }
    // The process dies in the middle of a turn over several segments.
    store.begin();
    for n in 301..400 {
        let bytes = body(n);
        store.append(key, &Record { next_in: SeqNum(301), ..outbound(n, &bytes) }).unwrap();
    }
    store.crash();
    let (key, recovered) = open(&mut store);
    assert_eq!((recovered.next_in, recovered.next_out), (SeqNum(301), SeqNum(301)));
    assert_eq!((recovered.given_up, recovered.damage), (None, None));
    assert_eq!(count(&mut store, key), 600);
    turn(&mut store, key, &[Record { next_in: SeqNum(301), ..outbound(301, b"other") }]);
    assert_eq!(read_body(&mut store, key, 0, 301), Some(b"other".to_vec()));
    store.crash();
    assert_eq!(open(&mut store).1.next_out, SeqNum(302));
}

/// The one that left last may be on the wire without its record.
#[test]
fn what_waited_when_the_machine_died_waits_no_longer_and_is_in_doubt() {
    let j = Journal::new("power-waiting");
    let mut store = j.store();
    let (key, _) = open(&mut store);
    let waiting = |n| Record { kind: RecordKind::Waiting, ..outbound(n, b"35=D|") };
    for n in 1..=4 {
        turn(&mut store, key, &[waiting(n)]);
    }
    turn(&mut store, key, &[Record { flags: RecordFlags::WAITED, ..outbound(1, b"x") }]);
    store.crash();
    let (key, recovered) = open(&mut store);
    assert_eq!((recovered.waiting, recovered.in_doubt), (WaitingMessages { count: 3, last: 4 }, None));
    turn(&mut store, key, &[outbound(2, b"y")]);
    store.crash();
    j.reboot();
    let (key, recovered) = open(&mut store);
    let none = WaitingMessages { count: 0, last: 4 };
    assert_eq!((recovered.waiting, recovered.in_doubt), (none, Some(2..=4)));
    assert!(recovered.given_up.is_some());
    turn(&mut store, key, &[waiting(5)]);
    store.crash();
    let (_, recovered) = open(&mut store);
    assert_eq!(
        (recovered.waiting, recovered.in_doubt),
        (WaitingMessages { count: 1, last: 5 }, None),
        "told once"
    );
}

#[test]
fn after_the_death_of_the_machine_sequence_numbers_continue_at_the_mark() {
    let j = Journal::new("power");
    let mut store = j.store();
    let (key, _) = open(&mut store);
    for n in 1..=20 {
        turn(&mut store, key, &[outbound(n, b"x")]);
    }
    store.crash();
    j.reboot();
    let (key, recovered) = open(&mut store);
    let mark = SeqNum(1 + RESERVE);
    assert_eq!(recovered.next_out, mark);
    assert_eq!(recovered.given_up, Some(SeqNum(21)..=mark.previous()));
    assert_eq!(recovered.damage, None);
    let mut last = None;
    store
        .replay(key, &mut |r| {
            last = Some((r.kind, String::from_utf8_lossy(r.body).into_owned()));
            ControlFlow::Continue(())
        })
        .unwrap();
    let (kind, text) = last.unwrap();
    assert_eq!(kind, RecordKind::Adjust);
    assert!(text.contains(&format!("21 to {}", mark.previous())), "{text}");
    turn(&mut store, key, &[outbound(mark.0, b"after")]);
    store.crash();
    let recovered = open(&mut store).1;
    assert_eq!((recovered.next_out, recovered.given_up), (mark.next(), None), "reported once");
    // A clean close before the machine stops loses nothing.
    store.close(key).unwrap();
    j.reboot();
    let recovered = open(&mut store).1;
    assert_eq!((recovered.next_out, recovered.given_up), (mark.next(), None));
}

#[test]
fn a_turn_torn_at_any_byte_is_removed_as_a_whole_and_sequence_numbers_continue_at_the_mark() {
    let j = Journal::new("torn");
    let mut store = j.store();
    let (key, _) = open(&mut store);
    for n in 1..=5 {
        turn(&mut store, key, &[outbound(n, b"whole")]);
    }
    let begin = j.length().next_multiple_of(8);
    turn(&mut store, key, &[inbound(1, b"torn?"), Record { next_in: SeqNum(2), ..outbound(6, b"torn!") }]);
    store.crash();
    j.reboot();
    let end = j.length();
    let whole = std::fs::read(j.segment(1)).unwrap();
    let head = std::fs::read(j.directory().join("head")).unwrap();
    let mark = SeqNum(1 + RESERVE);
    for keep in begin..end {
        std::fs::write(j.segment(1), &whole).unwrap();
        std::fs::write(j.directory().join("head"), &head).unwrap();
        j.zero(1, keep..end);
        let (key, recovered) = open(&mut store);
        assert_eq!(recovered.damage, None, "{keep}");
        assert_eq!((recovered.next_out, recovered.next_in), (mark, SeqNum(1)), "{keep}");
        assert_eq!(recovered.given_up, Some(SeqNum(6)..=mark.previous()));
        assert_eq!(count(&mut store, key), 6, "five messages and the store's own record");
        if keep > begin {
            let cut = std::fs::read(j.directory().join(format!("cut-segment-000001-{begin}"))).unwrap();
            assert!(whole[begin..].starts_with(&cut) || cut.len() > end - begin);
            std::fs::remove_file(j.directory().join(format!("cut-segment-000001-{begin}"))).unwrap();
        }
        store.crash();
        let recovered = open(&mut store).1;
        assert_eq!((recovered.given_up, recovered.damage), (None, None), "healed");
        store.crash();
    }
}

#[test]
fn a_page_lost_in_the_middle_halts_the_session_and_keeps_the_records_after_it() {
    let j = Journal::new("page");
    let mut store = j.store();
    let (key, _) = open(&mut store);
    for n in 1..=30 {
        turn(&mut store, key, &[outbound(n, b"0123456789abcdef")]);
    }
    store.crash();
    j.zero(1, 1024..2048);
    let (key, recovered) = open(&mut store);
    assert!(
        recovered.damage.as_ref().unwrap().contains("segment-000001 holds no record from byte "),
        "{recovered:?}"
    );
    assert!(recovered.next_out >= SeqNum(31));
    store.begin();
    assert!(store.append(key, &outbound(200_000, b"x")).is_err());
    store.rollback();
    let before = std::fs::read(j.segment(1)).unwrap();
    store.close(key).unwrap();
    assert_eq!(std::fs::read(j.segment(1)).unwrap(), before, "nothing was changed");
}

#[test]
fn a_page_lost_in_an_earlier_segment_stops_nothing_is_reported_and_its_messages_are_not_there() {
    let j = Journal::new("past");
    let mut store = j.store();
    let (key, _) = open(&mut store);
    for n in 1..=300 {
        let bytes = body(n);
        turn(&mut store, key, &[outbound(n, &bytes)]);
    }
    store.crash();
    assert!(j.segment(3).exists());
    j.zero(1, 1024..2048);
    let (key, recovered) = open(&mut store);
    assert_eq!((recovered.damage, recovered.given_up, recovered.next_out), (None, None, SeqNum(301)));
    let begin = std::time::Instant::now();
    let reported = loop {
        if let Some((_, what)) = store.take_warning() {
            break what;
        }
        assert!(begin.elapsed().as_secs() < 60, "the store's thread reports it");
        std::thread::sleep(std::time::Duration::from_millis(1));
    };
    assert!(reported.contains("segment-000001 holds no record from byte "), "{reported}");
    let kept: Vec<u64> = (1..=300).filter(|n| read_body(&mut store, key, 0, *n) == Some(body(*n))).collect();
    let lost = 300 - kept.len();
    assert!((5..20).contains(&lost) && kept[0] == 1 && kept.ends_with(&[299, 300]), "{kept:?}");
    // The next message after the lost ones is found from any of them.
    let first_lost = (1..).find(|n| !kept.contains(n)).unwrap();
    let after = kept.iter().find(|n| **n > first_lost).unwrap();
    let found = store.read(key, Generation(0), SeqNum(first_lost)..=SeqNum(300)).unwrap().unwrap();
    assert_eq!(found.seq, SeqNum(*after));
    turn(&mut store, key, &[outbound(301, b"goes on")]);
    store.close(key).unwrap();
    assert_eq!(open(&mut store).1.next_out, SeqNum(302));
}

#[test]
fn a_lost_segment_or_head_halts_the_session() {
    let last = |j: &Journal| (1..).take_while(|n| j.segment(*n).exists()).last().unwrap();
    for lost in ["segment-000001", "segment-000002", "the last segment", "head"] {
        let j = Journal::new("lost");
        let mut store = j.store();
        let (key, _) = open(&mut store);
        for n in 1..=200 {
            let bytes = body(n);
            turn(&mut store, key, &[outbound(n, &bytes)]);
        }
        store.close(key).unwrap();
        let last = crate::files::names::file_name(last(&j));
        let lost = if lost.starts_with("the") { &last } else { lost };
        std::fs::remove_file(j.directory().join(lost)).unwrap();
        let damage = open(&mut store).1.damage;
        assert!(damage.as_ref().is_some_and(|d| d.contains(lost)), "{lost}: {damage:?}");
    }
}

#[test]
fn a_last_segment_lost_with_the_power_lets_sequence_numbers_continue_at_the_mark() {
    let j = Journal::new("last");
    let mut store = j.store();
    let (key, _) = open(&mut store);
    for n in 1..=200 {
        let bytes = body(n);
        turn(&mut store, key, &[outbound(n, &bytes)]);
    }
    store.crash();
    j.reboot();
    while let Some(last) = (1..).take_while(|n| j.segment(*n).exists()).last().filter(|last| *last > 2) {
        std::fs::remove_file(j.segment(last)).unwrap();
    }
    let recovered = open(&mut store).1;
    assert_eq!((recovered.next_out, recovered.damage), (SeqNum(1 + RESERVE), None));
    assert_eq!(recovered.given_up.map(|r| *r.end()), Some(SeqNum(RESERVE)));
}

#[test]
fn a_reset_lost_with_the_power_reuses_no_sequence_number_of_either_generation() {
    for told in [false, true] {
        let j = Journal::new("reset");
        let mut store = j.store();
        let (key, _) = open(&mut store);
        for n in 1..=10 {
            turn(&mut store, key, &[outbound(n, b"x")]);
        }
        let kept = j.length().next_multiple_of(8);
        turn(&mut store, key, &[reset(1, 1)]);
        turn(&mut store, key, &[outbound(1, b"new"), outbound(2, b"new")]);
        if told {
            // Wait until the store's thread has written the new generation's head.
            while head_in(&j.directory()).generation != Generation(1) {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        }
        store.crash();
        j.zero(1, kept..usize::MAX);
        j.reboot();
        let (key, recovered) = open(&mut store);
        assert_eq!(recovered.damage, None);
        assert!(recovered.next_out >= SeqNum(RESERVE), "{recovered:?}");
        assert!(
            !told || (recovered.generation, recovered.next_in) == (Generation(1), SeqNum(1)),
            "{recovered:?}"
        );
        let next = recovered.next_out;
        turn(&mut store, key, &[outbound(next.0, b"goes on")]);
        store.crash();
        let again = open(&mut store).1;
        assert_eq!((again.generation, again.next_out), (recovered.generation, next.next()));
    }
}

#[test]
fn the_number_of_an_uncommitted_turn_is_not_used_again() {
    let j = Journal::new("turns");
    let mut store = j.store();
    let (key, _) = open(&mut store);
    turn(&mut store, key, &[outbound(1, b"whole")]);
    let mut turns = vec![crate::JournalReader::open(&j.directory()).unwrap().sessions()[0].scan.last_turn];
    for n in 2..5 {
        store.begin();
        store.append(key, &outbound(n, b"dead")).unwrap();
        store.crash();
        let (key, _) = open(&mut store);
        turn(&mut store, key, &[outbound(n, b"alive")]);
        turns.push(crate::JournalReader::open(&j.directory()).unwrap().sessions()[0].scan.last_turn);
    }
    assert!(turns.windows(2).all(|w| w[1] > w[0] + 1000), "{turns:?}");
}

#[test]
fn an_interrupted_creation_is_restarted() {
    let j = Journal::new("creation");
    let mut store = j.store();
    // The process died before the head was there, or before the first segment was.
    std::fs::create_dir_all(j.directory()).unwrap();
    std::fs::write(j.directory().join("lock"), "host=h pid=1 start=2026-01-05T10:00:00Z epoch=1\n").unwrap();
    std::fs::write(j.directory().join("head.new"), b"FIX").unwrap();
    open(&mut store);
    wait_for_creation(&j.directory());
    store.crash();
    std::fs::remove_file(j.segment(1)).unwrap();
    let (key, recovered) = open(&mut store);
    assert_eq!(recovered, fixbolt_session::store::Recovered::default());
    turn(&mut store, key, &[outbound(1, b"x")]);
    store.crash();
    assert_eq!(open(&mut store).1.next_out, SeqNum(2));
}

#[test]
fn a_death_between_two_sessions_of_a_turn_leaves_the_first_message_to_be_processed_again() {
    // The session with the inbound message is published last, so its message is processed again.
    let j = Journal::new("half");
    let mut store = j.store();
    let (a, _) = open(&mut store);
    let (b, _) = opened(&mut store, "B").unwrap();
    store.begin();
    store.append(a, &inbound(1, b"order")).unwrap();
    store.append(b, &Record { cause: Some(SeqNum(1)), ..outbound(1, b"drop copy") }).unwrap();
    store.crash_after_publishing(1);
    let a = open(&mut store).1;
    let b = opened(&mut store, "B").unwrap().1;
    assert_eq!((a.next_in, b.next_out), (SeqNum(1), SeqNum(2)));
}

#[test]
fn what_a_process_that_died_had_not_written_is_on_disk_before_it_counts_as_such() {
    let j = Journal::new("unwritten");
    let mut store = j.store();
    let (key, _) = open(&mut store);
    for n in 1..=300 {
        turn(&mut store, key, &[outbound(n, &body(n))]);
    }
    store.crash();
    let unwritten = |store: &DirectoryStore| store.not_on_disk(key);
    open(&mut store);
    let all = unwritten(&store);
    assert!(all.len() > 2 && all[0] == 1, "{all:?}");
    store.close(key).unwrap();
    open(&mut store);
    assert_eq!(unwritten(&store), [*all.last().unwrap()], "the others were closed cleanly");
}
