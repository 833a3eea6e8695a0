//! Tests of the directory store: crashes, damage, full disks, and a comparison with a model. Each
//! file says what it proves.

mod ahead;
mod archive;
mod basics;
mod cookies;
mod corruption;
mod crash;
mod creation;
mod damages;
mod flips;
mod full_disk;
mod inspection;
mod links;
mod model;
mod next_in;
mod operate;
mod pending;
mod seeking;
mod sparse;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fixbolt_codec::SeqNum;
use fixbolt_session::store::{Generation, Record, Recovered, SessionKey, Store};

use crate::DirectoryStore;
use crate::testing::{opened, session};

/// Segments stay where they are.
const NEVER: Duration = Duration::from_secs(1 << 20);

/// Returns the directory of session A.
fn directory(base: &Path) -> PathBuf {
    base.join(session("A").file_name())
}

/// Returns a store with segments small enough to cross many.
fn small(base: &Path) -> DirectoryStore {
    DirectoryStore::new(base).with_segments(4096, 16384).looking_every(NEVER)
}

fn open(store: &mut DirectoryStore) -> (SessionKey, Recovered) {
    opened(store, "A").unwrap()
}

fn turn(store: &mut DirectoryStore, key: SessionKey, records: &[Record<'_>]) {
    store.begin();
    for r in records {
        store.append(key, r).unwrap();
    }
    store.commit().unwrap();
}

/// Returns the body of outbound message `n`; lengths differ and cover every padding.
fn body(n: u64) -> Vec<u8> {
    let mut text = format!("8=FIX.4.4|35=8|34={n}|").into_bytes();
    text.resize(text.len() + (n % 61) as usize, b'x');
    text
}

fn read_body(store: &mut DirectoryStore, key: SessionKey, generation: u32, n: u64) -> Option<Vec<u8>> {
    store.read(key, Generation(generation), SeqNum(n)..=SeqNum(n)).unwrap().map(|r| r.body.to_vec())
}

fn count(store: &mut DirectoryStore, key: SessionKey) -> usize {
    let mut n = 0;
    store
        .replay(key, &mut |_| {
            n += 1;
            ControlFlow::Continue(())
        })
        .unwrap();
    n
}
