//! A second process that opens the same journal is refused, with an error that names the first.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use fixbolt_codec::Version;
use fixbolt_journal::DirectoryStore;
use fixbolt_session::SessionId;
use fixbolt_session::runtime::session_key;
use fixbolt_session::store::{SessionKey, Store, StoreError};

const KEY: SessionKey = session_key(0, 0, 0);
const CHILD: &str = "FIXBOLT_JOURNAL_LOCK_TEST";

fn session() -> SessionId {
    SessionId::new(Version::Fix42, "VENUE", "TRADER").unwrap()
}

/// In the child process: holds the journal until its input ends.
fn hold(base: &str) {
    let mut store = DirectoryStore::new(base);
    store.open(KEY, &session()).unwrap();
    // A journal that was closed is on disk.
    store.close(KEY).unwrap();
    store.open(KEY, &session()).unwrap();
    println!("\nholding");
    std::io::stdout().flush().unwrap();
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    // It does not close the journal: the process ends as if it were killed.
    std::process::exit(0);
}

#[test]
fn a_second_process_is_refused_and_a_dead_one_holds_nothing() {
    if let Ok(base) = std::env::var(CHILD) {
        hold(&base);
    }
    let base = std::env::temp_dir().join(format!("fixbolt-journal-lock-{}", std::process::id()));
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_second_process_is_refused_and_a_dead_one_holds_nothing", "--nocapture"])
        .env(CHILD, &base)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "holding"));

    let mut store = DirectoryStore::new(&base);
    let Err(StoreError::Locked { place, holder }) = store.open(KEY, &session()) else {
        panic!("not refused")
    };
    assert!(place.ends_with("FIX.4.2-VENUE-TRADER"), "{place}");
    assert!(holder.starts_with(&format!("process {} on ", child.id())), "{holder}");
    assert!(holder.contains(" since 20"), "{holder}");
    // Reading needs no lock.
    assert!(fixbolt_journal::inspect::verify(&base).unwrap()[0].is_whole());

    drop(child.stdin.take());
    child.wait().unwrap();
    let recovered = store.open(KEY, &session()).unwrap();
    assert_eq!((recovered.damage, recovered.given_up), (None, None));
    drop(store);
    std::fs::remove_dir_all(base).unwrap();
}
