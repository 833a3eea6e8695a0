//! Flips each byte of a journal in turn: NextNumOut never decreases, or the store says why it must
//! not be used.

use std::ffi::OsString;
use std::os::unix::fs::FileExt;
use std::path::Path;

use fixbolt_codec::SeqNum;
use fixbolt_session::store::{Record, Store};

use super::*;
use crate::testing::{TempDir, inbound, outbound};

/// Creates a journal of 200 records in two segments: 100 turns of an order and its report, so that
/// the last message is ours.
fn journal(dir: &TempDir, clean: bool) {
    let mut store = DirectoryStore::new(dir.path()).with_segments(16384, 32768).looking_every(NEVER);
    let (key, _) = open(&mut store);
    for n in 1..=100 {
        let report = &body(n)[..];
        turn(
            &mut store,
            key,
            &[
                inbound(n, b"8=FIX.4.4|35=D"),
                Record { next_in: SeqNum(n + 1), cause: Some(SeqNum(n)), ..outbound(n, report) },
            ],
        );
    }
    if clean {
        store.close(key).unwrap();
    } else {
        store.crash();
    }
}

type Files = Vec<(OsString, Vec<u8>)>;

fn load(directory: &Path) -> Files {
    let mut all: Files = std::fs::read_dir(directory)
        .unwrap()
        .map(|e| e.unwrap())
        .map(|e| (e.file_name(), std::fs::read(e.path()).unwrap()))
        .collect();
    all.sort();
    all
}

fn restore(directory: &Path, files: &Files) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        if !files.iter().any(|(name, _)| *name == entry.file_name()) {
            std::fs::remove_file(entry.path()).unwrap();
        }
    }
    for (name, bytes) in files {
        write(&directory.join(name), bytes);
    }
}

/// Writes a file without truncating it first: a thread of the store may have it mapped still, and
/// taking its pages away from there is slow.
fn write(path: &Path, bytes: &[u8]) {
    let file = std::fs::File::options().write(true).create(true).truncate(false).open(path).unwrap();
    file.write_all_at(bytes, 0).unwrap();
    file.set_len(bytes.len() as u64).unwrap();
}

fn flip_everything(clean: bool) -> (usize, usize) {
    let dir = TempDir::new("flips");
    journal(&dir, clean);
    let directory = directory(dir.path());
    let files = load(&directory);
    let mut store = DirectoryStore::new(dir.path()).with_segments(16384, 32768).looking_every(NEVER);
    let (mut halted, mut went_on) = (0, 0);
    for (name, bytes) in &files {
        let text = name.to_str().unwrap();
        // The bytes after the last record: every one near it, and samples of the rest.
        let used = bytes.iter().rposition(|b| *b != 0).unwrap() + 1;
        let tail = (used..bytes.len()).filter(|at| *at < used + 200 || at % 509 == 0);
        for at in (0..used).chain(tail) {
            // All bits of a byte, or one: what the open journal has, the closed one has not.
            let mask = if at.is_multiple_of(2) == clean { 0xff } else { 0x01 };
            restore(&directory, &files);
            let mut flipped = bytes.clone();
            flipped[at] ^= mask;
            write(&directory.join(name), &flipped);
            let (key, recovered) = open(&mut store);
            let place = format!("{text} byte {at} ^ {mask:#x}: {recovered:?}");
            if recovered.damage.is_some() {
                halted += 1;
                assert!(recovered.next_out >= SeqNum(101), "{place}");
                store.crash();
                continue;
            }
            went_on += 1;
            assert!(recovered.next_out >= SeqNum(101), "{place}");
            let lost = recovered.next_in < SeqNum(101);
            assert!(recovered.next_in == SeqNum(101) || (lost && recovered.given_up.is_some()), "{place}");
            let next = recovered.next_out;
            turn(&mut store, key, &[Record { next_in: recovered.next_in, ..outbound(next.0, b"next") }]);
            store.crash();
            let again = open(&mut store).1;
            assert_eq!((again.next_out, again.damage), (next.next(), None), "{place}");
            store.crash();
        }
    }
    (halted, went_on)
}

#[test]
fn no_flipped_byte_of_an_open_journal_lowers_the_next_outbound_number() {
    let (halted, went_on) = flip_everything(false);
    assert!(halted > 5_000 && went_on > 15_000, "{halted} halted, {went_on} went on");
}

#[test]
fn no_flipped_byte_of_a_closed_journal_lowers_the_next_outbound_number() {
    let (halted, went_on) = flip_everything(true);
    assert!(halted > 5_000 && went_on > 15_000, "{halted} halted, {went_on} went on");
}
