//! Journals that were restored with holes: start, adopt and repair allocate them, or refuse, as the
//! first write into a hole of a mapped file ends the process when the disk is full.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fixbolt_session::store::{Store, StoreError};

use super::*;
use crate::testing::{Hook, Operation, TempDir, outbound};
use crate::tools::inspect::{adopt, repair};

/// Returns the live segments and the head.
fn files(base: &Path) -> Vec<PathBuf> {
    let numbers = crate::files::listing::segments_in(&directory(base)).unwrap();
    let names = numbers.into_iter().map(crate::files::names::file_name).chain(["head".to_owned()]);
    names.map(|name| directory(base).join(name)).collect()
}

fn is_sparse(path: &Path) -> bool {
    let metadata = std::fs::metadata(path).unwrap();
    metadata.blocks() * 512 < metadata.len()
}

/// Fills a journal of several segments, of which the last one is nearly empty.
fn filled(base: &Path) {
    let mut store = DirectoryStore::new(base).with_segments(16 << 10, 256 << 10).looking_every(NEVER);
    let (key, _) = open(&mut store);
    for n in 1..=400 {
        turn(&mut store, key, &[outbound(n, &body(n))]);
    }
    store.close(key).unwrap();
}

/// Copies all files as `cp --sparse=always` does. Into the same directory, they replace the old
/// ones.
fn copy_with_holes(from: &Path, to: &Path) {
    for path in files(from) {
        let bytes = std::fs::read(&path).unwrap();
        let name = directory(to).join(path.file_name().unwrap());
        let copy = File::create(name.with_extension("copy")).unwrap();
        copy.set_len(bytes.len() as u64).unwrap();
        for (n, page) in bytes.chunks(4096).enumerate().filter(|(_, page)| page.iter().any(|b| *b != 0)) {
            copy.write_all_at(page, 4096 * n as u64).unwrap();
        }
        std::fs::rename(name.with_extension("copy"), name).unwrap();
    }
}

/// Asserts that nothing is sparse, and that a session goes on.
fn goes_on(base: &Path) {
    let mut store = DirectoryStore::new(base).with_segments(16 << 10, 256 << 10).looking_every(NEVER);
    let (key, recovered) = open(&mut store);
    assert_eq!(recovered.damage, None);
    for path in files(base) {
        assert!(!is_sparse(&path), "{}", path.display());
    }
    let next = recovered.next_out.0;
    turn(&mut store, key, &[outbound(next, b"more")]);
    assert_eq!(read_body(&mut store, key, 0, next).unwrap(), b"more");
    assert_eq!(read_body(&mut store, key, 0, 400).unwrap(), body(400));
}

#[test]
fn a_start_of_a_journal_with_holes_allocates_them() {
    let dir = TempDir::on_disk("sparse-start");
    filled(dir.path());
    // In place, so that it is no copy: the bytes go into the files that there are.
    for path in files(dir.path()) {
        let bytes = std::fs::read(&path).unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        for at in (0..bytes.len()).step_by(4096).filter(|at| bytes[*at..*at + 4096] == [0; 4096]) {
            crate::system::system_calls::punch_hole(&file, at as u64, at as u64 + 4096).unwrap();
        }
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
    }
    assert!(files(dir.path()).iter().any(|path| is_sparse(path)));
    goes_on(dir.path());
}

#[test]
fn adopting_a_copy_with_holes_allocates_them() {
    let (dir, copy) = (TempDir::on_disk("sparse-original"), TempDir::on_disk("sparse-copy"));
    filled(dir.path());
    std::fs::create_dir(directory(copy.path())).unwrap();
    copy_with_holes(dir.path(), copy.path());
    assert!(files(copy.path()).iter().any(|path| is_sparse(path)));
    assert!(adopt(copy.path(), false).unwrap()[0].was_copy);
    assert!(adopt(copy.path(), true).unwrap()[0].was_copy);
    assert!(files(copy.path()).iter().all(|path| !is_sparse(path)));
    goes_on(copy.path());
}

#[test]
fn repairing_a_journal_with_holes_allocates_them() {
    let dir = TempDir::on_disk("sparse-repair");
    filled(dir.path());
    copy_with_holes(dir.path(), dir.path());
    let head = files(dir.path()).pop().unwrap();
    let lost = std::fs::read(&head).unwrap().len() as u64;
    File::options().write(true).open(&head).unwrap().write_all_at(&vec![0; lost as usize], 0).unwrap();
    assert!(files(dir.path()).iter().any(|path| is_sparse(path)));
    assert!(!repair(dir.path(), None).unwrap()[0].done.is_empty());
    assert!(files(dir.path()).iter().all(|path| !is_sparse(path)));
    goes_on(dir.path());
}

/// A disk on which nothing can be allocated.
struct NoRoom;

impl Hook for NoRoom {
    fn before(&self, operation: Operation, _: &Path) -> io::Result<()> {
        if operation == Operation::Allocate { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
}

#[test]
fn a_journal_with_holes_is_refused_on_a_full_disk_and_stays_as_it_is() {
    let dir = TempDir::on_disk("sparse-full");
    filled(dir.path());
    let before: Vec<_> = files(dir.path()).iter().map(|path| std::fs::read(path).unwrap()).collect();
    let mut store = DirectoryStore::over(dir.path().to_owned(), Arc::new(NoRoom));
    let refused = crate::testing::opened(&mut store, "A").unwrap_err();
    let StoreError::Full { place } = &refused else { panic!("{refused}") };
    assert!(place.contains("segment-0"), "{place}");
    let after: Vec<_> = files(dir.path()).iter().map(|path| std::fs::read(path).unwrap()).collect();
    assert!(before == after);
}
