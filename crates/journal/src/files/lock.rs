//! The exclusive lock on a session's directory: a single writer in all processes.
//!
//! The lock is on the directory itself, which nobody can replace while it holds a journal: what is
//! done to the files in it does not let a second process in. The system releases it when the
//! process ends, however it ends. The head is locked as well (`head`), for another directory may
//! have a hard link to it. Tools that only read take no lock. The file `lock` is a note: who
//! holds the lock, how often it was taken (a fencing epoch for replicated stores), and which
//! journal was made here.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use fixbolt_session::store::StoreError;

use crate::files::names::{NEW_NOTE, NOTE};
use crate::system::backend::{Backend, failed};
use crate::system::locked::Locked;
use crate::values::clock::{now, text_of};
use crate::values::identity::JournalId;

/// A held lock, which is released when dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    directory: Locked,
    path: PathBuf,
    pub(crate) note: Note,
}

/// The note in a locked directory: who holds the lock, and which journal was made there.
///
/// As long as it names none, it is in `lock.new`: a power loss may leave a file empty, and an empty
/// `lock` may have named a journal.
#[derive(Clone, Debug)]
pub(crate) struct Note {
    directory: PathBuf,
    holder: String,
    /// The journal that was made in this directory, as text.
    journal: Option<String>,
    /// The directory of the cookies, if one was given.
    cookies: Option<String>,
}

impl Lock {
    /// Takes the lock of `directory`, which must exist.
    pub(crate) fn take(backend: &dyn Backend, path: &Path) -> Result<Self, StoreError> {
        let directory = loop {
            let directory = File::open(path).map_err(|e| failed("opening", path, &e))?;
            let Some(directory) = Locked::take(directory).map_err(|e| failed("locking", path, &e))? else {
                return Err(held(path));
            };
            // If the directory was moved away between opening and locking, another one may be here.
            let here =
                DirectoryWatch::of(path, &directory.file).map_err(|e| failed("looking for", path, &e))?;
            if here.in_place().is_ok() {
                break directory;
            }
        };
        let before = newest(path);
        let epoch = before.as_deref().and_then(|note| field(note, "epoch")).and_then(|e| e.parse().ok());
        let holder = format!(
            "host={} pid={} start={} epoch={}",
            host_name(),
            std::process::id(),
            text_of(now()),
            epoch.unwrap_or(0_u64).saturating_add(1)
        );
        let cookies = before.as_deref().and_then(|note| field(note, "cookies")).map(str::to_owned);
        let note = Note { directory: path.to_owned(), holder, journal: journal_in(path), cookies };
        note.write(backend)?;
        if note.journal.is_some() {
            note.place(backend)?;
        }
        Ok(Self { directory, path: path.to_owned(), note })
    }

    /// Returns a value that watches the locked directory. The lock itself stays with `self`.
    pub(crate) fn watch(&self) -> io::Result<DirectoryWatch> {
        DirectoryWatch::of(&self.path, &self.directory.file)
    }
}

impl Note {
    /// Returns whether this journal is named: all of its names have been on disk then.
    pub(crate) fn names(&self, journal: JournalId) -> bool {
        self.journal.as_ref() == Some(&journal.to_string())
    }

    /// Notes which journal is in this directory, so that it is missed if all of its files are gone.
    pub(crate) fn name(&mut self, backend: &dyn Backend, journal: JournalId) -> Result<(), StoreError> {
        if self.names(journal) {
            return Ok(());
        }
        self.journal = Some(journal.to_string());
        self.write(backend)?;
        self.place(backend)
    }

    /// Notes where the cookies are, so that tools find them that do not know the configuration; not
    /// a path with spaces, as words are read.
    pub(crate) fn point_to(
        &mut self,
        backend: &dyn Backend,
        cookies: Option<&Path>,
    ) -> Result<(), StoreError> {
        let cookies = cookies.and_then(Path::to_str).filter(|path| !path.contains(char::is_whitespace));
        if self.cookies.as_deref() == cookies {
            return Ok(());
        }
        self.cookies = cookies.map(str::to_owned);
        self.write(backend)?;
        if self.journal.is_some() { self.place(backend) } else { Ok(()) }
    }

    fn write(&self, backend: &dyn Backend) -> Result<(), StoreError> {
        let path = self.directory.join(NEW_NOTE);
        let named = |name, value: &Option<String>| {
            value.as_ref().map_or(String::new(), |value| format!(" {name}={value}"))
        };
        let (journal, cookies) = (named("journal", &self.journal), named("cookies", &self.cookies));
        let text = format!("{}{journal}{cookies}\n", self.holder);
        let write = || backend.write(&backend.create(&path)?, 0, text.as_bytes());
        write().map_err(|e| failed("writing", &path, &e))
    }

    fn place(&self, backend: &dyn Backend) -> Result<(), StoreError> {
        let [new, path] = [NEW_NOTE, NOTE].map(|name| self.directory.join(name));
        backend.rename(&new, &path).map_err(|e| failed("renaming", &new, &e))
    }
}

/// Checks whether a locked directory is still in its place, without holding the lock.
pub(crate) struct DirectoryWatch {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl DirectoryWatch {
    fn of(path: &Path, directory: &File) -> io::Result<Self> {
        let metadata = directory.metadata()?;
        Ok(Self { path: path.to_owned(), device: metadata.dev(), inode: metadata.ino() })
    }

    /// Returns an error if the directory is gone or replaced.
    pub(crate) fn in_place(&self) -> Result<(), StoreError> {
        let looked = std::fs::metadata(&self.path).map_err(|e| failed("looking for", &self.path, &e))?;
        if (looked.dev(), looked.ino()) == (self.device, self.inode) {
            Ok(())
        } else {
            Err(StoreError::Io {
                doing: format!("looking for {}", self.path.display()),
                reason: "another directory has taken its place".to_owned(),
            })
        }
    }
}

/// Returns the name of this host, for people to read.
fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => "unknown".to_owned(),
        name => name.replace(char::is_whitespace, "_"),
    }
}

/// Returns the error of a directory whose lock another process holds.
pub(crate) fn held(directory: &Path) -> StoreError {
    let holder = holder(directory).unwrap_or_else(|| "an unknown process".to_owned());
    StoreError::Locked { place: directory.display().to_string(), holder }
}

/// Returns who last took the lock of `directory`, as text.
pub(crate) fn holder(directory: &Path) -> Option<String> {
    let text = newest(directory)?;
    Some(format!(
        "process {} on {} since {}",
        field(&text, "pid")?,
        field(&text, "host")?,
        field(&text, "start")?
    ))
}

/// Returns the journal that was made in `directory`, as text.
pub(crate) fn journal_in(directory: &Path) -> Option<String> {
    if !directory.join(NOTE).exists() {
        return None;
    }
    // One that cannot be read may have named one.
    let note = read(directory, NOTE).unwrap_or_default();
    let unknown = || field(&note, "epoch").is_none().then_some("unknown");
    field(&note, "journal").or_else(unknown).map(str::to_owned)
}

/// Returns the directory of the cookies that the note in `directory` names.
pub(crate) fn cookies_noted_in(directory: &Path) -> Option<PathBuf> {
    newest(directory).as_deref().and_then(|note| field(note, "cookies")).map(PathBuf::from)
}

/// Returns the note that was written last.
fn newest(directory: &Path) -> Option<String> {
    let new = read(directory, NEW_NOTE).filter(|note| field(note, "epoch").is_some());
    new.or_else(|| read(directory, NOTE))
}

fn read(directory: &Path, name: &str) -> Option<String> {
    let bytes = std::fs::read(directory.join(name)).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::backend::System;
    use crate::testing::TempDir;

    #[test]
    fn a_second_holder_is_refused_with_the_first_ones_name_and_a_third_comes_after_it() {
        let dir = TempDir::new("lock");
        let take = || Lock::take(&System, dir.path());
        let note = || newest(dir.path()).unwrap();
        let first = take().unwrap();
        let Err(StoreError::Locked { holder, .. }) = take() else { panic!("not refused") };
        assert!(holder.contains(&format!("process {} on ", std::process::id())), "{holder}");
        drop(first);
        let mut third = take().unwrap();
        assert!(note().ends_with("epoch=2\n"));
        assert!(!dir.path().join(NOTE).exists(), "a note that names no journal");
        third.note.name(&System, JournalId([0xab; 16])).unwrap();
        std::fs::remove_file(dir.path().join("lock")).unwrap();
        let Err(StoreError::Locked { .. }) = take() else { panic!("removing the note lets a second one in") };
        assert!(third.watch().unwrap().in_place().is_ok());
        third.note.write(&System).unwrap();
        third.note.place(&System).unwrap();
        drop(third);
        let fourth = take().unwrap();
        assert_eq!(journal_in(dir.path()), Some("ab".repeat(16)));
        let away = dir.path().with_extension("away");
        std::fs::rename(dir.path(), &away).unwrap();
        assert!(fourth.watch().unwrap().in_place().is_err());
        std::fs::create_dir(dir.path()).unwrap();
        assert!(fourth.watch().unwrap().in_place().is_err());
        std::fs::remove_dir_all(away).unwrap();
    }

    #[test]
    fn a_note_that_cannot_be_read_may_have_named_a_journal() {
        let dir = TempDir::new("lock-unreadable");
        assert_eq!(journal_in(dir.path()), None);
        std::fs::create_dir(dir.path().join(NOTE)).unwrap();
        assert_eq!(journal_in(dir.path()), Some("unknown".to_owned()));
    }
}
