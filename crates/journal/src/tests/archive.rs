//! Closed generations go to the archive, from which nothing is missed; retention, quota and the
//! horizon of resends.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use fixbolt_codec::SeqNum;
use fixbolt_session::store::{Forgets, Generation, RecordKind, Reports, Store, StoreError};

use super::*;
use crate::files::head::HeadFound;
use crate::system::backend::{Backend, System};
use crate::system::mapping::Mapping;
use crate::testing::{TempDir, head_in, inbound, outbound, reboot, reset};
use crate::tools::inspect::{backup, repair, verify};
use crate::values::mutex::lock;
use crate::{JournalReader, Retention};

struct Archived {
    dir: TempDir,
}

impl Archived {
    fn new(name: &str) -> Self {
        Self { dir: TempDir::new(name) }
    }

    fn directory(&self) -> PathBuf {
        directory(self.dir.path())
    }

    /// Archives three generations, and returns the store and the first segment that is left.
    fn filled(&self) -> (DirectoryStore, SessionKey, u32) {
        let mut store = self.store();
        let (key, _) = open(&mut store);
        generations(&mut store, key, 0..3);
        let first = store.first_segment(key);
        self.wait_until_first_is(&mut store, first);
        (store, key, first)
    }

    fn store(&self) -> DirectoryStore {
        DirectoryStore::new(self.dir.path()).with_segments(4096, 8192).looking_every(Duration::ZERO)
    }

    /// Returns the numbers of the segments, and of those in the archive.
    fn segments(&self) -> [Vec<u32>; 2] {
        [self.directory(), self.directory().join("archive")]
            .map(|directory| crate::files::listing::segments_in(&directory).unwrap_or_default())
    }

    /// Waits until the archive has segments up to the one before `first`.
    fn wait_until_first_is(&self, store: &mut DirectoryStore, first: u32) {
        let deadline = std::time::Instant::now() + Duration::from_secs(10);
        loop {
            let [live, archived] = self.segments();
            if live.iter().all(|n| *n >= first) && head_in(&self.directory()).first() == first {
                return;
            }
            let late = std::time::Instant::now() > deadline;
            assert!(!late, "{live:?} and {archived:?}: {:?}", store.take_warning());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Returns the bodies of all outbound messages that a reader sees.
    fn read(&self) -> Vec<Vec<u8>> {
        let reader = JournalReader::open(&self.directory()).unwrap();
        let records = reader.sessions()[0].records().filter(|r| r.record.kind == RecordKind::Outbound);
        records.map(|r| r.record.body.to_vec()).collect()
    }

    /// Archives what is closed; nobody else does.
    fn archive_all(&self, store: &mut DirectoryStore, key: SessionKey) {
        let first = store.first_segment(key);
        let deadline = std::time::Instant::now() + Duration::from_secs(10);
        while head_in(&self.directory()).first() < first {
            assert!(std::time::Instant::now() < deadline, "{:?}", self.segments());
            std::thread::sleep(Duration::from_millis(20));
            store.archive(key);
        }
    }
}

/// Sends [`EACH`] messages in each of the generations, and ends it with a reset.
fn generations(store: &mut DirectoryStore, key: SessionKey, generations: std::ops::Range<u32>) {
    for g in generations {
        for n in 1..=EACH {
            turn(store, key, &[outbound(n, text(g, n).as_bytes())]);
        }
        turn(store, key, &[inbound(1, b"logout"), reset(1, 1)]);
    }
}

/// Messages of a generation, which fill more than one segment.
const EACH: u64 = 110;

fn text(generation: u32, n: u64) -> String {
    format!("generation {generation} message {n}")
}

fn all(generations: std::ops::Range<u32>) -> Vec<Vec<u8>> {
    generations.flat_map(|g| (1..=EACH).map(move |n| text(g, n).into_bytes())).collect()
}

#[test]
fn closed_generations_are_archived_and_read_and_the_session_continues() {
    let a = Archived::new("archive");
    let mut store = a.store();
    let (key, _) = open(&mut store);
    generations(&mut store, key, 0..5);
    let current = |store: &DirectoryStore| store.first_segment(key);
    let first = current(&store);
    a.wait_until_first_is(&mut store, first);
    let [live, archived] = a.segments();
    assert!(live.len() <= 2 && archived.len() >= 8, "{live:?} {archived:?}");
    assert_eq!(a.read(), all(0..5));
    assert!(verify(&a.directory()).unwrap()[0].damage.is_empty());
    for (round, crash) in [(5, true), (6, false), (7, true)] {
        if crash {
            store.crash();
        } else {
            store.close(key).unwrap();
        }
        let (key, recovered) = open(&mut store);
        assert_eq!(recovered.damage, None);
        assert_eq!((recovered.generation, recovered.next_out), (Generation(round), SeqNum(1)));
        assert_eq!(recovered.since, Some(reset(1, 1).utc));
        assert_eq!(count(&mut store, key), 1, "only the reset itself");
        generations(&mut store, key, round..round + 1);
        let first = current(&store);
        a.wait_until_first_is(&mut store, first);
        assert_eq!(a.read(), all(0..round + 1));
        let report = &verify(&a.directory()).unwrap()[0];
        assert_eq!((&report.damage, &report.lost_history), (&vec![], &vec![]));
        assert_eq!(report.records.outbound, u64::from(round + 1) * EACH);
    }
    let copy = TempDir::new("archive-backup");
    backup(a.dir.path(), copy.path()).unwrap();
    let reader = JournalReader::open(copy.path()).unwrap();
    let found = reader.sessions()[0].records().filter(|r| r.record.kind == RecordKind::Outbound).count();
    assert_eq!(found as u64, 8 * EACH);
}

#[test]
fn an_archive_that_is_gone_or_damaged_is_not_missed() {
    let a = Archived::new("archive-gone");
    let (mut store, key, _) = a.filled();
    store.close(key).unwrap();
    let archive = a.directory().join("archive");
    let third = archive.join("segment-000003");
    let mut bytes = std::fs::read(&third).unwrap();
    bytes[700] ^= 1;
    std::fs::write(&third, bytes).unwrap();
    let report = &verify(&a.directory()).unwrap()[0];
    assert_eq!(report.damage, Vec::<String>::new());
    assert!(report.lost_history[0].starts_with("archive/segment-000003 holds no record"), "{report:?}");
    std::fs::remove_file(&third).unwrap();
    assert!((a.read().len() as u64) < 3 * EACH, "those before the missing one are not read");
    assert!(verify(&a.directory()).unwrap()[0].is_whole());
    for _ in 0..2 {
        let (key, recovered) = open(&mut store);
        assert_eq!((recovered.damage, recovered.next_out), (None, SeqNum(1)));
        assert_eq!(store.take_warning(), None);
        store.close(key).unwrap();
        std::fs::remove_dir_all(&archive).unwrap();
        std::fs::create_dir(&archive).unwrap();
    }
}

#[test]
fn a_move_that_was_interrupted_is_finished_at_the_next_start() {
    let a = Archived::new("archive-interrupted");
    let (mut store, _, first) = a.filled();
    store.crash();
    for number in [1, 3, first - 1] {
        let name = crate::files::names::file_name(number);
        std::fs::rename(a.directory().join("archive").join(&name), a.directory().join(&name)).unwrap();
    }
    assert_eq!(a.read(), all(0..3), "from where they are");
    assert_eq!(open(&mut store).1.damage, None);
    a.wait_until_first_is(&mut store, first);
    assert_eq!(a.read(), all(0..3));
}

#[test]
fn a_repair_without_a_head_finds_where_the_archive_ends() {
    for emptied in [false, true] {
        let a = Archived::new("archive-repair");
        let mut store = a.store();
        let (key, _) = open(&mut store);
        generations(&mut store, key, 0..3);
        turn(&mut store, key, &[outbound(1, b"last")]);
        let first = store.first_segment(key);
        a.wait_until_first_is(&mut store, first);
        store.close(key).unwrap();
        std::fs::remove_file(a.directory().join("head")).unwrap();
        if emptied {
            let archive = a.directory().join("archive");
            std::fs::remove_dir_all(&archive).unwrap();
            std::fs::create_dir(&archive).unwrap();
        }
        assert!(open(&mut store).1.damage.unwrap().starts_with("the head file is missing;"));
        store.close(key).unwrap();
        let done = repair(&a.directory(), None).unwrap();
        assert!(!done[0].done.iter().any(|line| line.contains("missing")), "{done:?}");
        let (key, recovered) = open(&mut store);
        assert_eq!((recovered.damage, recovered.generation), (None, Generation(3)));
        assert!(recovered.next_out > SeqNum(2_000_000));
        assert_eq!(read_body(&mut store, key, 3, 1), Some(b"last".to_vec()));
        assert_eq!(head_in(&a.directory()).first(), first);
    }
}

#[test]
fn what_is_kept_is_limited_by_generations_age_and_size() {
    let kept = |retention| {
        let a = Archived::new("retention");
        let mut store = a.store().with_retention(retention);
        let (key, _) = open(&mut store);
        generations(&mut store, key, 0..6);
        let first = store.first_segment(key);
        a.wait_until_first_is(&mut store, first);
        store.close(key).unwrap();
        let mut store = store.looking_every(NEVER);
        let (key, _) = open(&mut store);
        let mut clock = TestClock::new(&mut store, key);
        clock.look(0, 0);
        clock.look(301, 0);
        let report = &verify(&a.directory()).unwrap()[0];
        assert!(report.is_whole(), "{report:?}");
        let size = crate::files::disk_space::on_disk(&a.directory().join("archive")).unwrap();
        (a.read().len() as u64 / EACH, size)
    };
    let everything = Retention::default();
    let (generations, size) = kept(everything);
    assert_eq!(generations, 6);
    assert_eq!(kept(Retention { generations: Some(2), ..everything }).0, 2);
    assert_eq!(kept(Retention { generations: Some(0), ..everything }).0, 0);
    let (_, limited) = kept(Retention { bytes: Some(size / 2), ..everything });
    assert!(limited <= size / 2 && limited > size / 4, "{limited} of {size}");
    assert_eq!(kept(Retention { age: Some(Duration::ZERO), ..everything }).0, 0);
    assert_eq!(kept(Retention { age: Some(Duration::from_secs(3600)), ..everything }).0, 6);
}

const DAY: u64 = 86_400_000_000_000;

/// What is done about the past of a session, at times of the test.
struct TestClock {
    history: crate::threads::history::History,
    began: std::time::Instant,
    utc: u64,
}

impl TestClock {
    fn new(store: &mut DirectoryStore, key: SessionKey) -> Self {
        let began = std::time::Instant::now();
        Self { history: store.history(key, began), began, utc: crate::values::clock::now().0 }
    }

    /// Looks so many seconds after the start, with a wall clock that is `ahead` nanoseconds ahead.
    fn look(&mut self, seconds: u64, ahead: u64) {
        let passed = Duration::from_secs(seconds);
        let utc = fixbolt_session::Utc(self.utc + passed.as_nanos() as u64 + ahead);
        self.history.look(self.began + passed, utc).unwrap();
    }
}

#[test]
fn a_wall_clock_that_jumps_ahead_deletes_nothing_until_it_has_shown_that_time_for_five_minutes() {
    let hour = Retention { age: Some(Duration::from_secs(3600)), ..Retention::default() };
    let archived = |looks: &[(u64, u64)]| {
        let a = Archived::new("retention-clock");
        let mut store = a.store().with_retention(hour).looking_every(NEVER);
        let (key, _) = open(&mut store);
        generations(&mut store, key, 0..3);
        a.archive_all(&mut store, key);
        let mut clock = TestClock::new(&mut store, key);
        let all = a.segments()[1].len();
        let left = looks.iter().map(|(seconds, ahead)| {
            clock.look(*seconds, *ahead);
            a.segments()[1].len()
        });
        left.map(|left| left == all).collect::<Vec<_>>()
    };
    let jumps = [(0, 0), (61, DAY), (200, DAY), (300, DAY), (360, 0), (430, DAY), (700, DAY), (800, DAY)];
    assert_eq!(archived(&jumps), [true, true, true, true, true, true, true, false]);
    // Nobody knows what it showed before the start.
    let begins_ahead = [(0, DAY), (100, DAY), (299, DAY), (361, 0), (600, 0), (700, 0)];
    assert_eq!(archived(&begins_ahead), [true; 6]);
    assert_eq!(archived(&[(0, DAY), (100, DAY), (301, DAY)]), [true, true, false]);
}

#[test]
fn what_was_stored_while_the_clock_was_ahead_does_not_keep_the_rest_and_ends_before_what_comes_after() {
    let a = Archived::new("retention-future");
    let none = Retention { age: Some(Duration::ZERO), ..Retention::default() };
    let mut store = a.store().with_retention(none).looking_every(NEVER);
    let (key, _) = open(&mut store);
    generations(&mut store, key, 0..1);
    let future = fixbolt_session::Utc(crate::values::clock::now().0 + 40 * 365 * DAY);
    for n in 1..=EACH {
        turn(&mut store, key, &[Record { utc: future, ..outbound(n, text(1, n).as_bytes()) }]);
    }
    turn(&mut store, key, &[Record { utc: future, ..reset(1, 1) }]);
    a.archive_all(&mut store, key);
    let mut clock = TestClock::new(&mut store, key);
    clock.look(0, 0);
    clock.look(301, 0);
    let left = a.segments()[1].len();
    assert!(left > 0, "what ended in the future, and nothing after it that did not");
    generations(&mut store, key, 2..3);
    a.archive_all(&mut store, key);
    clock.look(400, 0);
    assert_eq!(a.segments()[1], Vec::<u32>::new());
}

#[test]
fn of_each_segment_that_is_deleted_it_is_told_which_and_why() {
    let a = Archived::new("retention-told");
    let (mut store, key, first) = a.filled();
    store.close(key).unwrap();
    let told = |retention| {
        let expiry = crate::files::archive::Expiry {
            directory: &a.directory(),
            retention,
            first,
            generation: Generation(3),
            now: Some(crate::values::clock::now()),
        };
        let before = a.segments()[1].clone();
        let mut told = Vec::new();
        let mut tell = |path: &std::path::Path, why: &str| told.push((path.to_owned(), why.to_owned()));
        crate::files::archive::expire(&System, &expiry, &mut tell).unwrap();
        let deleted = before.len() - a.segments()[1].len();
        assert_eq!(told.len(), deleted);
        for ((path, _), number) in told.iter().zip(before) {
            assert_eq!(*path, a.directory().join("archive").join(crate::files::names::file_name(number)));
        }
        told.first().map(|(_, why)| why.clone()).unwrap()
    };
    let none = Retention::default();
    let why = told(Retention { generations: Some(2), ..none });
    assert_eq!(why, "its last generation is 0, and 2 before the current one, 3, are kept");
    let size = crate::files::disk_space::on_disk(&a.directory().join("archive")).unwrap();
    let why = told(Retention { bytes: Some(size - 1), ..none });
    assert_eq!(why, format!("the archive has {size} bytes, and {} are kept", size - 1));
    let why = told(Retention { age: Some(Duration::ZERO), ..none });
    assert!(
        why.starts_with("its last message was stored ") && why.ends_with(" ago, and is kept for 0ns"),
        "{why}"
    );
}

#[test]
fn what_is_missing_from_the_archive_does_not_keep_the_rest_from_being_deleted() {
    let a = Archived::new("retention-gap");
    let mut store = a.store().looking_every(NEVER);
    let (key, _) = open(&mut store);
    generations(&mut store, key, 0..3);
    a.archive_all(&mut store, key);
    store.close(key).unwrap();
    std::fs::remove_file(a.directory().join("archive/segment-000002")).unwrap();
    let damaged = a.directory().join("archive/segment-000004");
    let mut bytes = std::fs::read(&damaged).unwrap();
    bytes[600] ^= 1;
    std::fs::write(&damaged, bytes).unwrap();
    let mut store = a.store().with_retention(Retention { generations: Some(0), ..Retention::default() });
    open(&mut store);
    let deadline = std::time::Instant::now() + Duration::from_secs(10);
    while !a.segments()[1].is_empty() {
        assert!(std::time::Instant::now() < deadline, "{:?}", a.segments());
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_session_at_its_quota_is_refused_and_goes_on_when_the_quota_is_raised() {
    let a = Archived::new("quota");
    let mut store = a.store().with_quota(64 << 10);
    let (key, _) = open(&mut store);
    let mut sent = 0;
    let refused = loop {
        store.begin();
        let bytes = body(sent + 1);
        if let Err(error) = store.append(key, &outbound(sent + 1, &bytes)) {
            store.rollback();
            break error;
        }
        store.commit().unwrap();
        sent += 1;
    };
    let StoreError::Full { place } = &refused else { panic!("{refused}") };
    assert!(place.contains("JournalQuota of 65536 bytes"), "{place}");
    assert!(crate::files::disk_space::on_disk(&a.directory()).unwrap() <= 64 << 10);
    assert!(sent > 200, "{sent}");
    store.crash();
    let mut store = a.store().with_quota(128 << 10);
    let (key, recovered) = open(&mut store);
    assert_eq!((recovered.damage, recovered.next_out), (None, SeqNum(sent + 1)));
    turn(&mut store, key, &[outbound(sent + 1, b"more")]);
    store.close(key).unwrap();
    std::fs::write(a.directory().join("archive"), "no directory").unwrap();
    let (key, recovered) = open(&mut store);
    assert_eq!((recovered.damage, recovered.next_out), (None, SeqNum(sent + 2)));
    turn(&mut store, key, &[outbound(sent + 2, b"an archive is not missed")]);
}

#[test]
fn what_is_beyond_the_horizon_is_archived_within_a_generation() {
    let a = Archived::new("horizon");
    let mut store = a.store();
    let (key, _) = open(&mut store);
    store.set_resend_horizon(key, 100);
    for n in 1..=1000 {
        turn(&mut store, key, &[outbound(n, &body(n))]);
    }
    let first = store.first_segment(key);
    assert!(first > 5, "{first}");
    a.wait_until_first_is(&mut store, first);
    for n in 900..=1000 {
        assert_eq!(read_body(&mut store, key, 0, n), Some(body(n)));
    }
    assert_eq!(read_body(&mut store, key, 0, 1), None);
    assert_eq!(a.read(), (1..=1000).map(body).collect::<Vec<_>>());
    for round in 0..2 {
        store.crash();
        let (key, recovered) = open(&mut store);
        assert_eq!((recovered.damage, recovered.next_out), (None, SeqNum(1001)), "{round}");
        assert_eq!(read_body(&mut store, key, 0, 1000), Some(body(1000)));
        assert_eq!(read_body(&mut store, key, 0, 900), Some(body(900)));
        assert!(count(&mut store, key) < 1000);
    }
    assert!(HeadFound::read(&a.directory()).unwrap().is_some());
}

#[test]
fn a_journal_of_which_only_the_archive_is_left_is_halted_and_a_repair_continues_above_it() {
    let a = Archived::new("archive-only");
    let mut store = a.store();
    let (key, _) = open(&mut store);
    turn(&mut store, key, &[outbound(5_000_000, b"first")]);
    store.set_resend_horizon(key, 10);
    for n in 5_000_001..5_000_200 {
        turn(&mut store, key, &[outbound(n, &body(n))]);
    }
    let first = store.first_segment(key);
    a.wait_until_first_is(&mut store, first);
    store.close(key).unwrap();
    for entry in std::fs::read_dir(a.directory()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            std::fs::remove_file(path).unwrap();
        }
    }
    crate::testing::forget(&a.directory());
    for _ in 0..2 {
        let damage = open(&mut store).1.damage.unwrap();
        assert!(damage.starts_with("head and segments are gone"), "{damage}");
        store.close(key).unwrap();
    }
    repair(&a.directory(), None).unwrap();
    let (key, recovered) = open(&mut store);
    assert_eq!(recovered.damage, None);
    assert!(recovered.next_out > SeqNum(5_000_200), "{recovered:?}");
    turn(&mut store, key, &[outbound(recovered.next_out.0, b"new")]);
    assert_eq!(a.read().first().unwrap(), b"first");
    assert_eq!(a.read().last().unwrap(), b"new");
}

/// A file system that notes what was in a file, by its inode, when it was last synced.
#[derive(Default)]
struct Synced(Mutex<HashMap<u64, Vec<u8>>>);

impl Backend for Synced {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        System.create_dir(path)
    }
    fn create(&self, path: &Path) -> io::Result<File> {
        System.create(path)
    }
    fn allocate(&self, file: &File, length: u64) -> io::Result<()> {
        System.allocate(file, length)
    }
    fn release(&self, file: &File, from: u64, length: u64) -> io::Result<()> {
        System.release(file, from, length)
    }
    fn write(&self, file: &File, at: u64, bytes: &[u8]) -> io::Result<()> {
        System.write(file, at, bytes)
    }
    fn sync(&self, file: &File) -> io::Result<()> {
        let metadata = file.metadata()?;
        let mut bytes = vec![0; metadata.len() as usize];
        file.read_exact_at(&mut bytes, 0)?;
        lock(&self.0).insert(metadata.ino(), bytes);
        System.sync(file)
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        System.sync_dir(path)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        System.rename(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        System.remove(path)
    }
    fn map(&self, file: &File, length: usize) -> io::Result<Mapping> {
        System.map(file, length)
    }
}

#[test]
fn a_power_loss_after_the_archive_took_the_rest_loses_nothing_that_was_committed_before() {
    for resets in [false, true] {
        let a = Archived::new("archive-power");
        let disk = Arc::new(Synced::default());
        let store = DirectoryStore::over(a.dir.path().to_owned(), Arc::clone(&disk) as Arc<dyn Backend>);
        let mut store = store.with_segments(4096, 4096).looking_every(NEVER);
        let (key, _) = open(&mut store);
        store.set_resend_horizon(key, 5);
        for n in 1..=60 {
            turn(&mut store, key, &[inbound(n, b"in")]);
            turn(&mut store, key, &[Record { next_in: SeqNum(n + 1), ..outbound(n, &body(n)) }]);
        }
        if resets {
            turn(&mut store, key, &[inbound(61, b"logout"), reset(1, 1)]);
            turn(&mut store, key, &[inbound(1, b"in")]);
        }
        a.archive_all(&mut store, key);
        store.crash();
        reboot(&a.directory());
        for number in a.segments()[0].clone() {
            let path = a.directory().join(crate::files::names::file_name(number));
            let synced = lock(&disk.0)[&std::fs::metadata(&path).unwrap().ino()].clone();
            std::fs::write(&path, synced).unwrap();
        }
        let recovered = open(&mut store).1;
        assert_eq!(recovered.damage, None);
        let expected = if resets { (Generation(1), SeqNum(2)) } else { (Generation(0), SeqNum(61)) };
        assert_eq!((recovered.generation, recovered.next_in), expected);
        assert_eq!(recovered.connection.0, 1);
    }
}
