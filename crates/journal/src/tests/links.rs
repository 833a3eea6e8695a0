//! Journals whose files another directory has as well, through hard links (`cp -al`).

use std::path::Path;

use fixbolt_codec::SeqNum;
use fixbolt_session::store::{Store, StoreError};

use super::*;
use crate::testing::{TempDir, outbound};
use crate::tools::inspect::{adopt, repair, verify};

/// Makes a directory with hard links to all files of another one.
fn link_all(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.path().is_file() {
            std::fs::hard_link(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

/// Returns a directory with a journal of ten messages that is closed, and one with links to it.
fn linked(name: &str) -> (TempDir, TempDir) {
    let (dir, copy) = (TempDir::new(name), TempDir::new(name));
    let mut store = small(dir.path());
    let (key, _) = open(&mut store);
    for n in 1..=10 {
        turn(&mut store, key, &[outbound(n, &body(n))]);
    }
    store.close(key).unwrap();
    link_all(&directory(dir.path()), &directory(copy.path()));
    (dir, copy)
}

fn halted(base: &Path) -> String {
    let mut store = small(base);
    let (key, recovered) = open(&mut store);
    store.close(key).unwrap();
    recovered.damage.expect("it is halted")
}

#[test]
fn neither_of_two_directories_with_the_same_files_starts_before_one_is_adopted_or_deleted() {
    let (dir, copy) = linked("links");
    for base in [dir.path(), copy.path()] {
        let why = halted(base);
        assert!(why.starts_with("head, segment-000001 has another name (a hard link)"), "{why}");
        assert!(why.contains("`fixbolt journal adopt "), "{why}");
        let report = &verify(base).unwrap()[0];
        assert!(report.copy.is_some() && !report.is_whole());
        let Err(StoreError::Damaged { reason, .. }) = repair(base, None) else { panic!("not refused") };
        assert!(reason.contains("`fixbolt journal adopt "), "{reason}");
    }
    assert!(adopt(copy.path(), false).unwrap()[0].was_copy);
    assert!(halted(dir.path()).contains("hard link"), "nothing was done");
    assert!(adopt(copy.path(), true).unwrap()[0].was_copy);
    // Each goes on with files of its own.
    for (base, first) in [(dir.path(), 11), (copy.path(), 11)] {
        let mut store = small(base);
        let (key, recovered) = open(&mut store);
        assert_eq!((recovered.damage, recovered.next_out), (None, SeqNum(first)));
        turn(&mut store, key, &[outbound(first, &body(first))]);
        for n in 1..=first {
            assert_eq!(read_body(&mut store, key, 0, n), Some(body(n)));
        }
        store.close(key).unwrap();
    }
}

#[test]
fn a_directory_with_links_to_a_journal_in_use_is_not_adopted() {
    let (dir, copy) = (TempDir::new("links-in-use"), TempDir::new("links-in-use"));
    let mut store = small(dir.path());
    let (key, _) = open(&mut store);
    turn(&mut store, key, &[outbound(1, &body(1))]);
    link_all(&directory(dir.path()), &directory(copy.path()));
    let Err(StoreError::Locked { holder, .. }) = adopt(copy.path(), true) else { panic!("not refused") };
    assert!(holder.contains("another directory"), "{holder}");
    turn(&mut store, key, &[outbound(2, &body(2))]);
    store.close(key).unwrap();
    assert!(adopt(copy.path(), true).unwrap()[0].was_copy);
    let mut store = small(copy.path());
    let (key, recovered) = open(&mut store);
    assert_eq!((recovered.damage, recovered.next_out), (None, SeqNum(3)));
    assert_eq!(read_body(&mut store, key, 0, 2), Some(body(2)));
}

#[test]
fn a_damaged_journal_with_links_gets_files_of_its_own_and_is_repaired_then() {
    let (dir, copy) = linked("links-damaged");
    let segment = directory(copy.path()).join("segment-000001");
    let mut bytes = std::fs::read(&segment).unwrap();
    bytes[700] ^= 1;
    std::fs::write(&segment, &bytes).unwrap();
    assert!(matches!(repair(copy.path(), None), Err(StoreError::Damaged { .. })));
    for (base, act, says) in [
        (dir.path(), false, "adopt it with --yes"),
        (copy.path(), true, "its files are its own now: repair it"),
    ] {
        assert!(halted(base).contains("`fixbolt journal adopt "), "not repaired first");
        let Err(StoreError::Damaged { reason, .. }) = adopt(base, act) else { panic!("not refused") };
        assert!(reason.contains(says), "{reason}");
    }
    let why = halted(copy.path());
    assert!(why.contains("`fixbolt journal repair "), "{why}");
    assert!(!repair(copy.path(), None).unwrap()[0].done.is_empty());
    adopt(copy.path(), true).unwrap();
    let mut store = small(copy.path());
    let (_, recovered) = open(&mut store);
    assert_eq!(recovered.damage, None);
    drop(dir);
}

#[test]
fn files_that_are_being_made_are_not_written_to_where_another_directory_has_them_too() {
    let (dir, other) = (TempDir::new("links-new"), TempDir::new("links-new"));
    let mut store = small(dir.path());
    let (key, _) = open(&mut store);
    turn(&mut store, key, &[outbound(1, &body(1))]);
    let (ours, theirs) = (directory(dir.path()), directory(other.path()));
    std::fs::create_dir_all(&theirs).unwrap();
    // As a copy with links has them that was made while the journal was.
    for (file, name) in [("head", "head.new"), ("segment-000001", "segment-000001.new"), ("lock", "lock.new")]
    {
        std::fs::hard_link(ours.join(file), theirs.join(name)).unwrap();
    }
    let before = ["head", "segment-000001", "lock"].map(|name| std::fs::read(ours.join(name)).unwrap());
    let mut second = small(other.path());
    let (key_of_second, recovered) = open(&mut second);
    assert_eq!((recovered.damage, recovered.next_out), (None, SeqNum(1)));
    turn(&mut second, key_of_second, &[outbound(1, b"another journal")]);
    let after = ["head", "segment-000001", "lock"].map(|name| std::fs::read(ours.join(name)).unwrap());
    assert!(before == after, "a file of the first journal was changed");
    turn(&mut store, key, &[outbound(2, &body(2))]);
    store.close(key).unwrap();
    second.close(key_of_second).unwrap();
    let (key, recovered) = open(&mut store);
    assert_eq!((recovered.damage, recovered.next_out), (None, SeqNum(3)));
    assert_eq!(read_body(&mut store, key, 0, 1), Some(body(1)));
}

#[test]
fn an_empty_file_with_another_name_is_made_the_directorys_own() {
    for name in ["head", "segment-000001"] {
        let (dir, copy) = linked("links-empty");
        // Both have it, as it is one file.
        std::fs::write(directory(copy.path()).join(name), b"").unwrap();
        let Err(StoreError::Damaged { reason, .. }) = adopt(copy.path(), true) else { panic!("not refused") };
        assert!(reason.contains("its files are its own now"), "{name}: {reason}");
        repair(copy.path(), None).unwrap();
        adopt(copy.path(), true).unwrap();
        let mut store = small(copy.path());
        let (_, recovered) = open(&mut store);
        assert_eq!(recovered.damage, None, "{name}");
        drop(dir);
    }
}

#[test]
fn archived_segments_may_have_other_names() {
    let dir = TempDir::new("links-archive");
    let mut store = small(dir.path());
    let (key, _) = open(&mut store);
    for n in 1..=400 {
        turn(&mut store, key, &[outbound(n, &body(n))]);
    }
    turn(&mut store, key, &[crate::testing::reset(1, 1), outbound(1, b"next")]);
    store.close(key).unwrap();
    open(&mut store);
    store.archive(key);
    store.close(key).unwrap();
    let archive = directory(dir.path()).join("archive");
    let copy = TempDir::new("links-archive");
    link_all(&archive, &copy.path().join("archive"));
    assert!(std::fs::read_dir(&archive).unwrap().count() > 0);
    let (_, recovered) = open(&mut store);
    assert_eq!(recovered.damage, None);
}
