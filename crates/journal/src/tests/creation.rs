//! The creation of a journal, interrupted after every file operation by the death of the process,
//! of the machine, or of both one after the other. Of what was not synced, a power loss keeps any
//! part: single writes, single names, in no order.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex};

use fixbolt_codec::SeqNum;
use fixbolt_session::store::Recovered;

use super::*;
use crate::layout::head_copy::{HEAD_COPIES, HEAD_COPY, Head};
use crate::system::backend::{Backend, System};
use crate::system::mapping::Mapping;
use crate::testing::{TempDir, opened, outbound};
use crate::values::identity::Place;
use crate::values::mutex::lock;
use crate::values::reserve::RESERVE;

/// A file, by the order in which files were created.
type Id = usize;

#[derive(Clone)]
enum Operation {
    MakeDirectory,
    SyncBase,
    Name(String, Id),
    Rename(String, String, Id),
    Remove(String),
    SyncDirectory,
    Allocate(Id, u64),
    Write(Id, u64, Vec<u8>),
    Sync(Id),
    /// Not one of the disk: a message may be on the wire from here on.
    Sent,
}

/// A file system that notes its operations, and with the process's death stops doing any.
#[derive(Default)]
struct Disk(Mutex<Notes>);

#[derive(Default)]
struct Notes {
    operations: Vec<Operation>,
    /// How many operations the process lives to do.
    life: usize,
    names: HashMap<String, Id>,
    inodes: HashMap<u64, Id>,
    files: usize,
}

impl Disk {
    /// Does and notes an operation, or fails if the process is dead.
    fn run<T>(
        &self,
        system: impl FnOnce() -> io::Result<T>,
        note: impl FnOnce(&mut Notes, &T) -> Operation,
    ) -> io::Result<T> {
        let mut notes = lock(&self.0);
        if notes.operations.len() >= notes.life {
            return Err(io::Error::other("dead"));
        }
        let done = system()?;
        let operation = note(&mut notes, &done);
        notes.operations.push(operation);
        Ok(done)
    }

    fn live(&self, operations: usize) {
        lock(&self.0).life = operations;
    }

    fn operations(&self) -> Vec<Operation> {
        lock(&self.0).operations.clone()
    }
}

impl Notes {
    fn id(&self, file: &File) -> Id {
        self.inodes[&file.metadata().unwrap().ino()]
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

fn is_session(path: &Path) -> bool {
    name_of(path) == session("A").file_name()
}

impl Backend for Disk {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        if path.exists() {
            return Ok(());
        }
        self.run(|| System.create_dir(path), |_, ()| Operation::MakeDirectory)
    }
    fn create(&self, path: &Path) -> io::Result<File> {
        if path.exists() {
            self.remove(path)?;
        }
        self.run(
            || System.create(path),
            |notes, file| {
                let (id, name) = (notes.files, name_of(path));
                notes.files += 1;
                notes.inodes.insert(file.metadata().unwrap().ino(), id);
                notes.names.insert(name.clone(), id);
                Operation::Name(name, id)
            },
        )
    }
    fn allocate(&self, file: &File, length: u64) -> io::Result<()> {
        self.run(|| System.allocate(file, length), |notes, ()| Operation::Allocate(notes.id(file), length))
    }
    fn release(&self, _: &File, _: u64, _: u64) -> io::Result<()> {
        unreachable!("nothing is archived")
    }
    fn write(&self, file: &File, at: u64, bytes: &[u8]) -> io::Result<()> {
        let note = |notes: &mut Notes, (): &()| Operation::Write(notes.id(file), at, bytes.to_owned());
        self.run(|| System.write(file, at, bytes), note)
    }
    fn sync(&self, file: &File) -> io::Result<()> {
        self.run(|| System.sync(file), |notes, ()| Operation::Sync(notes.id(file)))
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        let operation = if is_session(path) { Operation::SyncDirectory } else { Operation::SyncBase };
        self.run(|| System.sync_dir(path), |_, ()| operation)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.run(
            || System.rename(from, to),
            |notes, ()| {
                let id = notes.names.remove(&name_of(from)).unwrap();
                notes.names.insert(name_of(to), id);
                Operation::Rename(name_of(from), name_of(to), id)
            },
        )
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.run(
            || System.remove(path),
            |notes, ()| {
                notes.names.remove(&name_of(path));
                Operation::Remove(name_of(path))
            },
        )
    }
    fn map(&self, file: &File, length: usize) -> io::Result<Mapping> {
        System.map(file, length)
    }
}

/// What is on disk after a power loss.
#[derive(Default)]
struct Kept {
    directory: bool,
    names: BTreeMap<String, Id>,
    contents: HashMap<Id, Vec<u8>>,
}

impl Kept {
    fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::MakeDirectory => self.directory = true,
            Operation::Name(name, id) => {
                self.names.insert(name.clone(), *id);
            }
            Operation::Rename(from, to, id) => {
                self.names.remove(from);
                self.names.insert(to.clone(), *id);
            }
            Operation::Remove(name) => {
                self.names.remove(name);
            }
            Operation::Allocate(id, length) => {
                self.contents.entry(*id).or_default().resize(*length as usize, 0);
            }
            Operation::Write(id, at, bytes) => {
                let contents = self.contents.entry(*id).or_default();
                let (at, end) = (*at as usize, *at as usize + bytes.len());
                contents.resize(contents.len().max(end), 0);
                contents[at..end].copy_from_slice(bytes);
            }
            Operation::SyncBase | Operation::SyncDirectory | Operation::Sync(_) | Operation::Sent => {}
        }
    }

    /// Writes the files as they are after the machine has started again.
    fn write_to(&self, base: &Path) {
        if !self.directory {
            return;
        }
        let directory = base.join(session("A").file_name());
        std::fs::create_dir(&directory).unwrap();
        for (name, id) in &self.names {
            std::fs::write(directory.join(name), self.contents.get(id).map_or(&[][..], |c| c)).unwrap();
        }
        let path = directory.join("head");
        let Ok(mut bytes) = std::fs::read(&path) else { return };
        let place = Place::of(&directory, &File::open(&path).unwrap()).unwrap();
        for at in HEAD_COPIES.map(|at| at as usize) {
            let Some(mut head) = bytes.get(at..).and_then(Head::decode) else { continue };
            head.boot = [1; 16];
            head.made.as_mut().unwrap().place = place;
            bytes[at..at + HEAD_COPY].copy_from_slice(&head.encode());
        }
        std::fs::write(path, bytes).unwrap();
    }
}

/// Returns whether a later sync has made sure of operation `n`.
fn is_synced(operations: &[Operation], n: usize) -> bool {
    operations[n + 1..].iter().any(|later| match (&operations[n], later) {
        (Operation::MakeDirectory, Operation::SyncBase) => true,
        (Operation::Name(..) | Operation::Rename(..) | Operation::Remove(_), Operation::SyncDirectory) => {
            true
        }
        (Operation::Allocate(id, _) | Operation::Write(id, ..), Operation::Sync(synced)) => id == synced,
        _ => false,
    })
}

/// Loses the power after these operations, with every possible part of what was not synced on disk;
/// with `some` of the parts, if there are more. Returns how many starts were new ones.
fn lose_power(operations: &[Operation], some: u64) -> usize {
    let is_effect = |operation: &Operation| {
        use Operation::{Sent, Sync, SyncBase, SyncDirectory};
        !matches!(operation, Sync(_) | SyncBase | SyncDirectory | Sent)
    };
    let effects: Vec<_> = (0..operations.len()).filter(|n| is_effect(&operations[*n])).collect();
    let unsure = effects.iter().filter(|n| !is_synced(operations, **n)).count() as u32;
    let all = 1_u64.checked_shl(unsure).unwrap_or(u64::MAX);
    let mut new = 0;
    for n in 0..all.min(some) {
        let mut part = match n {
            _ if all <= some => n,
            0 => 0,
            1 => u64::MAX,
            n => (n + operations.len() as u64 * some).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29),
        };
        let mut kept = Kept::default();
        for at in &effects {
            let synced = is_synced(operations, *at);
            if synced || part & 1 != 0 {
                kept.apply(&operations[*at]);
            }
            part = if synced { part } else { part >> 1 };
        }
        let dir = TempDir::new("creation-power");
        kept.write_to(dir.path());
        let mut store = small(dir.path());
        let (_, recovered) = open(&mut store);
        store.crash();
        let files: Vec<_> = kept.names.keys().collect();
        assert_eq!(recovered.damage, None, "{} operations, part {n}: {files:?}", operations.len());
        let sent = operations.iter().any(|operation| matches!(operation, Operation::Sent));
        assert!(!sent || kept.names.contains_key("segment-000001"), "the records would be lost for good");
        let begun = operations.iter().any(|o| matches!(o, Operation::Rename(_, to, _) if to == "head"));
        if recovered.next_out == SeqNum::ONE {
            assert!(!sent, "{} operations, part {n}: {files:?}", operations.len());
            assert_eq!(recovered, Recovered::default());
            new += 1;
        } else {
            assert!(begun, "nothing was there");
            assert!(recovered.next_out > SeqNum(RESERVE), "{recovered:?}");
        }
    }
    new
}

/// Opens the journal and sends the next message, if the process lives to do that. Returns what the
/// opening recovered.
fn send(disk: &Arc<Disk>, base: &Path) -> Option<Recovered> {
    let mut store = DirectoryStore::over(base.to_owned(), Arc::clone(disk) as _).with_segments(4096, 16384);
    let (key, recovered) = opened(&mut store, "A").ok()?;
    store.begin();
    match store.append(key, &outbound(recovered.next_out.0, b"x")) {
        Ok(()) => {
            store.commit().unwrap();
            lock(&disk.0).operations.push(Operation::Sent);
        }
        Err(_) => store.rollback(),
    }
    store.crash();
    Some(recovered)
}

#[test]
fn a_power_loss_during_the_creation_leaves_a_new_journal_or_a_whole_one_and_after_it_the_mark() {
    let dir = TempDir::new("creation");
    let disk = Arc::new(Disk::default());
    disk.live(usize::MAX);
    assert_eq!(send(&disk, dir.path()), Some(Recovered::default()));
    let operations = disk.operations();
    assert!(matches!(operations.last(), Some(Operation::Sent)));
    let new: usize = (0..=operations.len()).map(|n| lose_power(&operations[..n], 64)).sum();
    assert!(new > 500, "{new}");
}

#[test]
fn a_death_of_the_process_during_the_creation_and_then_a_power_loss_are_no_worse() {
    let mut unsent = 0;
    for life in 0.. {
        let dir = TempDir::new("creation-death");
        let disk = Arc::new(Disk::default());
        disk.live(life);
        send(&disk, dir.path());
        let before = disk.operations();
        let sent = u64::from(matches!(before.last(), Some(Operation::Sent)));
        disk.live(usize::MAX);
        let recovered = send(&disk, dir.path()).unwrap();
        assert_eq!((recovered.next_out, recovered.given_up), (SeqNum(1 + sent), None), "after {life}");
        assert_eq!(recovered.damage, None, "after {life}");
        let operations = disk.operations();
        for n in before.len()..=operations.len() {
            lose_power(&operations[..n], 8);
        }
        if sent > 0 {
            break;
        }
        unsent += 1;
    }
    assert!(unsent > 15, "{unsent}");
}
