//! The threads of the stores of a process. A process of its own: it counts its threads.
#![cfg(target_os = "linux")]

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use fixbolt_codec::{SeqNum, Version};
use fixbolt_journal::DirectoryStore;
use fixbolt_session::runtime::{mono, session_key};
use fixbolt_session::store::{ConnectionNumber, OpensLater, Record, RecordFlags, RecordKind, Store};
use fixbolt_session::{SessionId, Utc};

/// A folder that is removed with the value.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("fixbolt-threads-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Returns the names of the stores' threads, and how often each was woken.
fn threads() -> Vec<(String, u64)> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let of = |status: &str, field: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
        line.map(|value| value.trim().to_owned())
    };
    let mut threads: Vec<_> = tasks
        .filter_map(|task| {
            let status = std::fs::read_to_string(task.ok()?.path().join("status")).ok()?;
            let name = of(&status, "Name").filter(|name| name.starts_with("fixbolt-"))?;
            Some((name, of(&status, "voluntary_ctxt_switches")?.parse().ok()?))
        })
        .collect();
    threads.sort();
    threads
}

/// Returns how often `fixbolt-files` was woken: once for each such thread.
fn files() -> Vec<u64> {
    threads().into_iter().filter_map(|(name, woken)| (name == "fixbolt-files").then_some(woken)).collect()
}

/// Held by a test: it counts the threads of the process.
static ALONE: Mutex<()> = Mutex::new(());

fn names() -> Vec<String> {
    threads().into_iter().map(|(name, _)| name).collect()
}

fn eventually(mut happens: impl FnMut() -> bool) {
    let give_up = Instant::now() + Duration::from_secs(60);
    while !happens() {
        assert!(Instant::now() < give_up, "it never happened: {:?}", threads());
        std::thread::sleep(Duration::from_millis(5));
    }
}

const RECORD: Record<'_> = Record {
    kind: RecordKind::Attempt,
    flags: RecordFlags(0),
    seq: SeqNum(1),
    next_in: SeqNum(1),
    connection: ConnectionNumber(1),
    cause: None,
    utc: Utc(1),
    mono: mono(1),
    body: b"a record",
};

fn opened(folder: &Folder, store: u32) -> DirectoryStore {
    let mut store_of = DirectoryStore::new(folder.0.join(store.to_string()));
    for n in 0..10 {
        let id = SessionId::new(Version::Fix44, "VENUE", &format!("N{n}")).unwrap();
        store_of.open(session_key(store as u16, n, n), &id).unwrap();
    }
    store_of
}

#[test]
fn all_stores_of_a_process_share_the_thread_that_creates_and_closes_journals_which_sleeps_otherwise() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = Folder::new("files");
    let id = |store: u16| SessionId::new(Version::Fix44, "VENUE", &format!("DYNAMIC{store}")).unwrap();
    let key = |store: u16| session_key(store, 0, 0);
    let opened = |store: u16| {
        let mut store_of = DirectoryStore::new(folder.0.join(store.to_string()));
        store_of.open_lazily(key(store), &id(store)).unwrap();
        store_of.begin();
        store_of.append(key(store), &RECORD).unwrap();
        store_of.commit().unwrap();
        store_of
    };
    let mut stores: Vec<_> = (0..4).map(opened).collect();
    // A thread has its name a moment after its start.
    eventually(|| files().len() == 1);
    // What a store has asked for is done before it is gone.
    let last = stores.pop().unwrap();
    drop(last);
    assert!(folder.0.join(format!("3/{}/lock", id(3).file_name())).exists());
    for (n, store_of) in (0..).zip(&mut stores) {
        store_of.close_later(key(n)).unwrap();
        eventually(|| store_of.may_open(&id(n)) || store_of.take_unclean().is_some());
    }
    let before = files();
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(files(), before);
    drop(stores);
    assert_eq!(files(), []);
}

#[test]
fn all_stores_of_a_process_share_three_threads_which_end_with_the_last_store_and_sleep_meanwhile() {
    const ALL: [&str; 3] = ["fixbolt-history", "fixbolt-store", "fixbolt-sync"];
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = Folder::new("shared");
    assert_eq!(names(), [""; 0]);
    let mut stores: Vec<_> = (0..4).map(|n| opened(&folder, n)).collect();
    eventually(|| names() == ALL);
    // The journals are new, and looked at for the first time.
    let made = |n: u32| folder.0.join(format!("{n}/FIX.4.4-VENUE-N9/lock")).exists();
    eventually(|| (0..4).all(made));
    std::thread::sleep(Duration::from_secs(2));
    let before = threads();
    std::thread::sleep(Duration::from_secs(3));
    let woken: Vec<_> = threads().iter().zip(before).map(|((_, now), (_, then))| now - then).collect();
    // `fixbolt-sync` looks at the directories once a second; a directory may keep it waiting.
    assert!(woken[0] == 0 && woken[1] == 0 && woken[2] < 40, "{woken:?}");
    while let Some(store) = stores.pop() {
        assert_eq!(names(), ALL);
        drop(store);
    }
    assert_eq!(names(), [""; 0]);
    drop(opened(&folder, 0));
    assert_eq!(names(), [""; 0]);
}
