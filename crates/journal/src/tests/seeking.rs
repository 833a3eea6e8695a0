//! Reading messages of the past after a start, which has not read them.

use fixbolt_codec::SeqNum;
use fixbolt_session::store::{Seeks, Store};

use super::*;
use crate::testing::{TempDir, outbound};

/// Returns a store with a journal of many segments that was opened again, and the session's key.
fn reopened(dir: &TempDir, messages: u64) -> (DirectoryStore, SessionKey) {
    let mut store = small(dir.path());
    let (key, _) = open(&mut store);
    for n in 1..=messages {
        turn(&mut store, key, &[outbound(n, &body(n))]);
    }
    store.close(key).unwrap();
    let mut store = small(dir.path());
    let (key, _) = open(&mut store);
    (store, key)
}

/// Asks until the store is ready. Returns how often it was not.
fn seek(store: &mut DirectoryStore, key: SessionKey, n: u64) -> usize {
    let not_yet =
        || (!store.seek(key, Generation(0), SeqNum(n))).then(|| std::thread::sleep(Duration::from_millis(1)));
    let times = std::iter::from_fn(not_yet).count();
    assert!(times < 2000, "it is searched without an index");
    times
}

#[test]
fn a_message_of_a_segment_that_opening_did_not_read_is_found_with_an_index_made_elsewhere() {
    let dir = TempDir::new("seeking");
    let (mut store, key) = reopened(&dir, 4000);
    // What opening has read needs none.
    assert_eq!(seek(&mut store, key, 4000), 0);
    let mut waited = 0;
    for n in (1..4000).rev().step_by(97) {
        waited += seek(&mut store, key, n);
        assert_eq!(read_body(&mut store, key, 0, n), Some(body(n)));
        assert_eq!(seek(&mut store, key, n + 1), 0, "the next message is near");
        assert_eq!(read_body(&mut store, key, 0, n + 1), Some(body(n + 1)));
    }
    assert!(waited > 0);
    // Each segment is looked through once.
    assert_eq!((1..4000).rev().step_by(61).map(|n| seek(&mut store, key, n)).sum::<usize>(), 0);
    assert!(seek(&mut store, key, 9000) == 0, "a number that was not used");
}

#[test]
fn all_segments_have_an_index_once_they_are_verified() {
    let dir = TempDir::new("seeking-verified");
    let (mut store, key) = reopened(&dir, 2000);
    while store.unindexed(key) > 0 {
        // It takes what there is, and asks for none.
        store.seek(key, Generation(0), SeqNum(2000));
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!((1..2000).map(|n| seek(&mut store, key, n)).sum::<usize>(), 0);
}

#[test]
fn a_segment_whose_file_cannot_be_opened_any_more_is_searched_without_an_index() {
    let dir = TempDir::new("seeking-gone");
    let (mut store, key) = reopened(&dir, 400);
    let first = directory(dir.path()).join("segment-000001");
    std::fs::rename(&first, first.with_extension("gone")).unwrap();
    seek(&mut store, key, 1);
    assert_eq!(read_body(&mut store, key, 0, 1), Some(body(1)));
}

#[test]
fn an_index_of_damaged_records_leads_to_what_is_intact() {
    let dir = TempDir::new("seeking-damaged");
    let mut store = small(dir.path());
    let (key, _) = open(&mut store);
    for n in 1..=400 {
        turn(&mut store, key, &[outbound(n, &body(n))]);
    }
    store.close(key).unwrap();
    let path = directory(dir.path()).join("segment-000002");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[1500..2500].fill(0xa5);
    std::fs::write(&path, bytes).unwrap();
    let mut store = small(dir.path());
    let (key, recovered) = open(&mut store);
    assert_eq!(recovered.damage, None);
    let mut lost = 0;
    for n in 1..=400 {
        seek(&mut store, key, n);
        match read_body(&mut store, key, 0, n) {
            Some(found) => assert_eq!(found, body(n)),
            None => lost += 1,
        }
    }
    assert!((1..20).contains(&lost), "{lost}");
}
