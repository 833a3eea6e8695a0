//! Whether a session could be opened, found without opening it: for whoever checks a configuration
//! beside the engine that uses it.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

use fixbolt_session::SessionId;
use fixbolt_session::store::StoreError;

use crate::files::cookies;
use crate::files::found::Files;
use crate::files::head::HeadFound;
use crate::files::listing::{first_segment, segments_in};
use crate::files::lock::held;
use crate::files::names::{HEAD, NEW_HEAD, NEW_NOTE, file_name};
use crate::store::directory::DirectoryStore;
use crate::system::backend::failed;
use crate::system::mapping::KEPT;
use crate::system::system_calls::{is_of_the_kernel, is_root, may, room};
use crate::verdict::continuation::why_halted;
use crate::verdict::damage::gone;

impl DirectoryStore {
    /// Looks whether a session's journal could be opened or made: whether its directory is there or
    /// can be, whether files can be created in it, whether this process may open those that are
    /// there, whether no process has it open, and whether it is whole as far as opening it reads
    /// it.
    ///
    /// Nothing is created or changed.
    ///
    /// ```
    /// use fixbolt_journal::DirectoryStore;
    /// let store = DirectoryStore::new(std::env::temp_dir().join("fixbolt-doc-look"));
    /// let session = "FIX.4.4:VENUE->TRADER".parse().unwrap();
    /// assert_eq!(store.look(&session), Ok(()));
    /// ```
    ///
    /// # Errors
    /// [`StoreError::Locked`] if a process has it open, which may be the engine that it belongs to;
    /// [`StoreError::Damaged`] if the session would be halted, with what ends that;
    /// [`StoreError::Io`] otherwise.
    pub fn look(&self, session: &SessionId) -> Result<(), StoreError> {
        let directory = self.base().join(session.file_name());
        let wrong = |doing: &str| {
            let directory = directory.clone();
            let doing = doing.to_owned();
            move |error: io::Error| failed(&doing, &directory, &error)
        };
        try_to_create_in(&directory).map_err(wrong("writing to"))?;
        let there = match File::open(&directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let place = directory.display().to_string();
                return match cookies::find_used(self.cookies_in(), &directory) {
                    Some(cookie) => Err(StoreError::Damaged { place, reason: gone(&cookie, &directory) }),
                    None => Ok(()),
                };
            }
            opened => opened.map_err(wrong("opening"))?,
        };
        // While it is locked, nobody else can have it.
        let lock = || match there.try_lock_shared() {
            Ok(()) => Ok(()),
            Err(TryLockError::WouldBlock) => Err(held(&directory)),
            Err(TryLockError::Error(error)) => Err(wrong("locking")(error)),
        };
        lock()?;
        files_can_be_opened(&directory)?;
        // Reading may take long, and an engine that starts meanwhile must not be kept from it.
        let _ = there.unlock();
        let damage = || damage(&directory, session, self.cookies_in());
        let found = damage();
        if found == Ok(None) {
            return Ok(());
        }
        // It may be one that is being changed.
        lock()?;
        match damage()? {
            Some(reason) => Err(StoreError::Damaged { place: directory.display().to_string(), reason }),
            None => Ok(()),
        }
    }

    /// Looks whether the file system has room for opening these sessions, those that are new with
    /// their first segments.
    ///
    /// # Errors
    /// [`StoreError::Io`] with what is free and what is needed.
    pub fn look_for_room<'s>(&self, sessions: impl Iterator<Item = &'s SessionId>) -> Result<(), StoreError> {
        let needed = sessions.map(|session| {
            let directory = self.base().join(session.file_name());
            let is_there =
                directory.join(HEAD).exists() || !segments_in(&directory).unwrap_or_default().is_empty();
            OTHER_FILES + if is_there { 0 } else { self.first_segment_bytes() }
        });
        let needed = needed.sum();
        let room = existing(self.base()).and_then(|place| has_room(place, needed));
        room.map_err(|error| failed("writing to", self.base(), &error))
    }

    /// Returns how many file descriptors opening a session's journal takes: its directory, its
    /// head, and the segment that it goes on with, if that is large. One that grows takes another.
    #[must_use]
    pub fn descriptors_for(&self, session: &SessionId) -> usize {
        let directory = self.base().join(session.file_name());
        let numbers = segments_in(&directory).unwrap_or_default();
        let last = numbers.last().and_then(|last| std::fs::metadata(directory.join(file_name(*last))).ok());
        if last.is_some_and(|last| last.len() >= KEPT as u64) { 3 } else { 2 }
    }
}

/// Returns why a session with the files in a directory would be halted.
fn damage(
    directory: &Path,
    session: &SessionId,
    cookies_in: Option<&Path>,
) -> Result<Option<String>, StoreError> {
    let mut files = Files::load(directory, false)?;
    files.cookie = cookies::find(cookies_in, directory);
    let scan = files.scan_from(files.last_checkpoint(), &mut |_, _| ());
    Ok(why_halted(&files, &scan, Some(session)))
}

/// What the files of a journal besides its segments take, in bytes.
const OTHER_FILES: u64 = 16 << 10;

/// Returns the directory, or the one above it that is there.
fn existing(directory: &Path) -> io::Result<&Path> {
    let mut place = directory;
    loop {
        match std::fs::metadata(place) {
            Ok(found) if found.is_dir() => return Ok(place),
            Ok(_) => return Err(io::ErrorKind::NotADirectory.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if let Ok(target) = std::fs::read_link(place) {
                    let (link, target) = (place.display(), target.display());
                    let reason = format!("{link} is a symbolic link to {target}, which does not exist");
                    return Err(io::Error::new(error.kind(), reason));
                }
                place = match place.parent() {
                    Some(parent) if !parent.as_os_str().is_empty() => parent,
                    _ => Path::new("."),
                };
            }
            Err(error) => return Err(error),
        }
    }
}

/// Returns how many bytes the file system of a directory has free for this process.
///
/// # Errors
/// The system's.
pub fn free_bytes(directory: &Path) -> io::Result<u64> {
    room(directory).map(|found| free(&found))
}

fn free(found: &libc::statvfs) -> u64 {
    // Some of it may be reserved for root.
    let blocks = if is_root() { found.f_bfree } else { found.f_bavail };
    blocks.saturating_mul(found.f_frsize)
}

/// Fails if a file system has no room for so many bytes, or for another file. One that does not say
/// has room.
fn has_room(directory: &Path, bytes: u64) -> io::Result<()> {
    let found = room(directory)?;
    let free = free(&found);
    let full = |reason: String| Err(io::Error::other(reason));
    if found.f_blocks > 0 && free < bytes {
        return full(format!("its file system has {free} bytes free, and at least {bytes} are needed"));
    }
    if found.f_files > 0 && found.f_ffree == 0 {
        return full("its file system has room for no other file (no free inodes)".to_owned());
    }
    Ok(())
}

/// Tries whether the files of a journal can be opened as its owner opens them.
fn files_can_be_opened(directory: &Path) -> Result<(), StoreError> {
    let numbers = segments_in(directory)?;
    let head = HeadFound::read(directory)?;
    // Earlier ones are not opened.
    let first = first_segment(directory, head.as_ref().and_then(HeadFound::head), &numbers)?;
    let segments = numbers.into_iter().filter(|number| *number >= first).map(file_name);
    for name in [HEAD, NEW_HEAD, NEW_NOTE].map(str::to_owned).into_iter().chain(segments) {
        let path = directory.join(name);
        match may(&path, libc::R_OK | libc::W_OK) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(failed("opening", &path, &error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Tries whether files can be created in a directory, or the directory itself if it is absent.
/// Nothing is created.
///
/// # Errors
/// The system's.
pub fn try_to_create_in(directory: &Path) -> io::Result<()> {
    let place = existing(directory)?;
    may(place, libc::W_OK | libc::X_OK)?;
    if is_of_the_kernel(place)? {
        let reason = format!("no files can be created in {}", place.display());
        return Err(io::Error::new(io::ErrorKind::Unsupported, reason));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use fixbolt_session::runtime::session_key;
    use fixbolt_session::store::Store;

    use super::*;
    use crate::testing::TempDir;

    fn session() -> SessionId {
        "FIX.4.4:VENUE->TRADER".parse().unwrap()
    }

    #[test]
    fn a_look_finds_who_has_a_journal_open_and_leaves_nothing_behind() {
        let scratch = TempDir::new("look");
        let base = scratch.path().join("a/b");
        let store = DirectoryStore::new(&base);
        assert_eq!(store.look(&session()), Ok(()));
        assert!(!scratch.path().join("a").exists());
        let mut open = DirectoryStore::new(&base);
        let key = session_key(0, 0, 0);
        open.open(key, &session()).unwrap();
        let Err(StoreError::Locked { holder, .. }) = store.look(&session()) else { panic!("not held") };
        assert!(holder.starts_with(&format!("process {} on ", std::process::id())), "{holder}");
        open.close(key).unwrap();
        assert_eq!(store.look(&session()), Ok(()));
        open.open(key, &session()).unwrap();
        open.close(key).unwrap();
    }

    #[test]
    fn a_file_in_the_way_is_told() {
        let scratch = TempDir::new("look-refused");
        let file = scratch.path().join("file");
        std::fs::write(&file, "").unwrap();
        let refused = |base: &Path| match DirectoryStore::new(base).look(&session()) {
            Err(StoreError::Io { doing, reason }) => format!("{doing}: {reason}"),
            other => panic!("{other:?}"),
        };
        let told = refused(&file);
        let begin = format!("writing to {}", file.join(session().file_name()).display());
        assert!(told.starts_with(&begin) && told.contains("ot a directory"), "{told}");
        assert!(refused(Path::new("/dev/null/journals")).contains("ot a directory"));
        let link = scratch.path().join("link");
        std::os::unix::fs::symlink("gone", &link).unwrap();
        let told = refused(&link.join("journals"));
        assert!(told.ends_with("link is a symbolic link to gone, which does not exist"), "{told}");
        #[cfg(target_os = "linux")]
        if is_root() {
            assert!(refused(Path::new("/proc/journals")).ends_with("no files can be created in /proc"));
        }
    }

    #[test]
    fn what_halts_a_session_is_told_with_what_ends_that() {
        let scratch = TempDir::new("look-damaged");
        let base = scratch.path().join("base");
        let mut open = DirectoryStore::new(&base);
        let key = session_key(0, 0, 0);
        open.open(key, &session()).unwrap();
        open.close(key).unwrap();
        let directory = base.join(session().file_name());
        let told = || match DirectoryStore::new(&base).look(&session()) {
            Err(StoreError::Damaged { reason, .. }) => reason,
            other => panic!("{other:?}"),
        };
        // As it is opened.
        let opened = || {
            let mut store = DirectoryStore::new(&base);
            let recovered = store.open(key, &session()).unwrap();
            let damage = recovered.damage.unwrap();
            store.close(key).unwrap();
            damage
        };
        let elsewhere = base.join("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        for file in std::fs::read_dir(&directory).unwrap() {
            let file = file.unwrap();
            std::fs::copy(file.path(), elsewhere.join(file.file_name())).unwrap();
        }
        let original = base.join("original");
        std::fs::rename(&directory, &original).unwrap();
        std::fs::rename(&elsewhere, &directory).unwrap();
        let copied = told();
        assert!(copied.contains("is a copy") && copied.contains("`fixbolt journal adopt "), "{copied}");
        assert_eq!(copied, opened());
        std::fs::remove_dir_all(&directory).unwrap();
        std::fs::rename(&original, &directory).unwrap();
        assert_eq!(DirectoryStore::new(&base).look(&session()), Ok(()));
        std::fs::write(directory.join(HEAD), "x").unwrap();
        assert!(told().contains("`fixbolt journal repair "), "{}", told());
        assert_eq!(told(), opened());
    }

    #[test]
    fn a_file_system_without_room_is_told() {
        let scratch = TempDir::new("look-full");
        assert!(has_room(scratch.path(), 1).is_ok());
        let full = has_room(scratch.path(), u64::MAX).unwrap_err();
        assert!(full.to_string().ends_with("and at least 18446744073709551615 are needed"), "{full}");
        // Each new session has its first segment, and all of them are on one disk.
        let store = DirectoryStore::new(scratch.path()).with_segments(1 << 30, 1 << 30);
        let session = session();
        let room = |sessions| store.look_for_room(std::iter::repeat_n(&session, sessions));
        assert_eq!(room(0), Ok(()));
        let Err(StoreError::Io { reason, .. }) = room(1 << 14) else { panic!("16 TiB are free") };
        assert!(reason.ends_with(" bytes free, and at least 17592454479872 are needed"), "{reason}");
    }

    /// Looks as somebody else than root, who may open everything: also if root has started the
    /// process, and it runs as somebody else.
    #[cfg(target_os = "linux")]
    fn look_as_nobody(base: &Path) -> Result<(), StoreError> {
        let look = || DirectoryStore::new(base).look(&session());
        let (root, nobody) = (rustix::process::Uid::ROOT, rustix::process::Uid::from_raw(65534));
        let [found, by_effective] = [nobody, root].map(|real| {
            let as_nobody = || {
                if is_root() {
                    rustix::thread::set_thread_res_uid(real, nobody, nobody).unwrap();
                }
                look()
            };
            std::thread::scope(|scope| scope.spawn(as_nobody).join().unwrap())
        });
        assert_eq!(found, by_effective);
        found
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_that_may_not_be_opened_is_told() {
        use std::fs::{Permissions, set_permissions};
        use std::os::unix::fs::PermissionsExt;

        let scratch = TempDir::new("look-forbidden");
        let base = scratch.path().join("base");
        let mut open = DirectoryStore::new(&base);
        let key = session_key(0, 0, 0);
        open.open(key, &session()).unwrap();
        open.close(key).unwrap();
        let directory = base.join(session().file_name());
        let mut files: Vec<_> =
            std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let allow = |path: &Path, mode| set_permissions(path, Permissions::from_mode(mode)).unwrap();
        for path in [scratch.path(), &base, &directory] {
            allow(path, 0o777);
        }
        files.iter().for_each(|file| allow(file, 0o666));
        assert_eq!(look_as_nobody(&base), Ok(()));
        let told: Vec<_> = files
            .iter()
            .filter_map(|file| {
                allow(file, 0o444);
                let found = look_as_nobody(&base);
                allow(file, 0o666);
                let Err(StoreError::Io { doing, reason }) = found else { return None };
                assert_eq!(doing, format!("opening {}", file.display()));
                assert!(reason.contains("ermission denied"), "{reason}");
                Some(file.file_name().unwrap().to_str().unwrap().to_owned())
            })
            .collect();
        // That of the lock is replaced, which only needs the directory.
        assert_eq!(told, ["head", "segment-000001"]);
    }
}
