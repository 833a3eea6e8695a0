//! Cookies: what the journals of a base directory have reached, in a file in memory.
//!
//! The records of a journal and its floor are in the page cache until the system writes them to
//! disk. The death of the process leaves them there. But a file system may go away without the
//! machine: its device is detached, it is shut down after an error, a volume is put back. What is
//! found after the next mount is older then, and nothing in it tells. A cookie is in a file of
//! another file system, which is in memory and lives as long as the page cache does, unless
//! somebody removes it.
//!
//! The file is one for each base directory, by its path, in a directory that only the user may
//! enter. Each session has an entry in it, by the name of its directory; whoever holds the lock of
//! that directory writes the entry.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use crate::files::lock::cookies_noted_in;
use crate::layout::cookie::{
    COOKIE, COOKIE_SLOTS, COOKIE_WORDS, COOKIES, COOKIES_HEADER, COUNTS, CookieFound, Entry, SERIAL, STATE,
    cookies_header, cookies_of, name_in,
};
use crate::layout::floor::FLOOR_WORDS;
use crate::system::boot::boot_id;
use crate::system::mapping::Words;
use crate::system::system_calls::{fallocate, is_in_memory, is_root, user};
use crate::values::identity::JournalId;
use crate::values::mutex::lock;

/// The cookies of the journals in a base directory.
pub(crate) struct Cookies {
    /// Locked while an entry is added, as other processes add some for the same base directory.
    directory: File,
    file: File,
    words: Arc<Words>,
    /// The numbers of the entries, by the names of the sessions' directories.
    places: Mutex<HashMap<Vec<u8>, usize>>,
}

/// How many entries a file has at most.
const MOST: usize = 1 << 16;
/// How many files there are, of other base directories, before those are deleted whose base
/// directory is gone.
const MOST_FILES: usize = 1024;

/// The cookie of one journal, as the process that has it open writes it.
#[derive(Clone)]
pub(crate) struct Cookie {
    words: Arc<Words>,
    /// The word at which the entry begins.
    at: usize,
    id: JournalId,
}

impl Cookie {
    /// Notes that the head is about to have this serial on disk.
    pub(crate) fn note_serial(&self, serial: u64) {
        self.words.part::<1>(self.at + SERIAL)[0].store(serial.to_le(), Ordering::Release);
    }

    /// Stores a floor in the first slot, or in the other one.
    #[inline]
    pub(crate) fn put(&self, slot: usize, words: &[u64; FLOOR_WORDS], check: u64) {
        const BETWEEN: usize = COOKIE_SLOTS[1] - COOKIE_SLOTS[0];
        let at = self.at + COOKIE_SLOTS[0] + BETWEEN * slot;
        let [to @ .., sum] = self.words.part::<{ FLOOR_WORDS + 1 }>(at);
        for (to, word) in to.iter().zip(words) {
            to.store(word.to_le(), Ordering::Relaxed);
        }
        sum.store(check.to_le(), Ordering::Release);
    }

    /// Returns what it says. A journal that was moved away while it is open may have lost the entry
    /// to one that was made in its place.
    pub(crate) fn found(&self) -> Option<CookieFound> {
        CookieFound::decode(&bytes_of(&self.words, self.at)).filter(|found| found.id == self.id)
    }
}

impl Cookies {
    /// Opens or creates the cookies of the journals in `base`, which exists, in `directory`, which
    /// is created if it does not exist.
    ///
    /// # Errors
    /// Returns the system's error, and one if the files of `directory` are not in memory, or if it
    /// is another user's or others may enter it.
    pub(crate) fn open(directory: &Path, base: &Path) -> io::Result<Self> {
        let base = base.canonicalize()?;
        if let Err(error) = DirBuilder::new().mode(0o700).create(directory)
            && error.kind() != io::ErrorKind::AlreadyExists
        {
            return Err(error);
        }
        check(directory)?;
        let opened = File::open(directory)?;
        opened.lock()?;
        let path = directory.join(name_of(&base));
        let file = match File::options().read(true).write(true).custom_flags(libc::O_NOFOLLOW).open(&path) {
            Ok(file) if is_of(&file, &base) => file,
            Ok(_) => create(directory, &path, &base)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => create(directory, &path, &base)?,
            Err(error) => return Err(error),
        };
        opened.unlock()?;
        let words = Arc::new(Words::map(&file, (COOKIES_HEADER + MOST * COOKIE) / 8)?);
        Ok(Self { directory: opened, file, words, places: Mutex::default() })
    }

    /// Returns what is known of the session with this directory.
    pub(crate) fn find(&self, name: &OsStr) -> Option<CookieFound> {
        let n = self.place(&mut lock(&self.places), name)?;
        CookieFound::decode(&bytes_of(&self.words, word_of(n)))
    }

    /// Writes an entry, in place of the one that the session has, if it has one.
    ///
    /// # Errors
    /// Returns the system's error, which may be that there is no memory for it.
    pub(crate) fn write(&self, entry: &Entry<'_>) -> io::Result<Cookie> {
        let mut places = lock(&self.places);
        let too_long = || io::Error::new(io::ErrorKind::InvalidFilename, "the session's name is too long");
        let bytes = entry.encode().ok_or_else(too_long)?;
        let name = OsStr::from_bytes(entry.name);
        if let Some(n) = self.place(&mut places, name) {
            fill(&self.words, word_of(n), &bytes);
            return Ok(self.cookie(n, entry.id));
        }
        self.directory.lock()?;
        let added = self.add(&mut places, name, &bytes);
        self.directory.unlock()?;
        Ok(self.cookie(added?, entry.id))
    }

    fn add(
        &self,
        places: &mut HashMap<Vec<u8>, usize>,
        name: &OsStr,
        bytes: &[u8; COOKIE],
    ) -> io::Result<usize> {
        // Another process may have added it meanwhile.
        let n = match self.place(places, name) {
            Some(n) => n,
            None => {
                let count = self.count();
                if count >= MOST {
                    return Err(io::Error::other(format!("there are {MOST} of them")));
                }
                fallocate(&self.file, (COOKIES_HEADER + (count + 1) * COOKIE) as u64)?;
                count
            }
        };
        fill(&self.words, word_of(n), bytes);
        places.insert(name.as_bytes().to_owned(), n);
        if n >= self.count() {
            self.words.part::<1>(COOKIES / 8)[0].store((n as u64 + 1).to_le(), Ordering::Release);
        }
        Ok(n)
    }

    fn cookie(&self, n: usize, id: JournalId) -> Cookie {
        Cookie { words: Arc::clone(&self.words), at: word_of(n), id }
    }

    /// Forgets a session.
    #[cfg(any(test, feature = "inspect"))]
    pub(crate) fn forget(&self, name: &OsStr) {
        if let Some(n) = self.place(&mut lock(&self.places), name) {
            self.words.part::<1>(word_of(n) + STATE)[0].store(0, Ordering::Release);
        }
    }

    fn count(&self) -> usize {
        u64::from_le(self.words.part::<1>(COOKIES / 8)[0].load(Ordering::Acquire)).min(MOST as u64) as usize
    }

    /// Returns the number of the entry of a session. Reads those that were added since the last
    /// call.
    fn place(&self, places: &mut HashMap<Vec<u8>, usize>, name: &OsStr) -> Option<usize> {
        for n in places.len()..self.count() {
            let entry = bytes_of(&self.words, word_of(n));
            places.insert(name_in(&entry)?.to_owned(), n);
        }
        places.get(name.as_bytes()).copied()
    }
}

/// Returns the directory of the cookies of a user's journals where none is given.
pub(crate) fn directory_of(user: u32) -> PathBuf {
    PathBuf::from(format!("/dev/shm/fixbolt-{user}"))
}

/// Returns the directory of the cookies of this user's journals where none is given.
pub(crate) fn own_directory() -> PathBuf {
    directory_of(user())
}

/// Returns what is known of the session in `directory`, which may be gone, without creating or
/// locking anything: from the cookies in `cookies` or in the directory that the note of the lock
/// names, or else from those where none is given, of this user and of the one who owns the
/// session's directory.
pub(crate) fn find(cookies: Option<&Path>, directory: &Path) -> Option<CookieFound> {
    let (base, name) = parts_of(directory)?;
    let noted = cookies.is_none().then(|| cookies_noted_in(directory)).flatten();
    places_of(cookies.or(noted.as_deref()), directory, &base)
        .iter()
        .find_map(|place| find_in(place, &base, &name))
}

/// Returns what is known of a journal that has used a number, as [`find`] does.
pub(crate) fn find_used(cookies: Option<&Path>, directory: &Path) -> Option<CookieFound> {
    find(cookies, directory).filter(|cookie| !cookie.is_unused())
}

/// Forgets the session in `directory`, in all places where [`find`] looks.
///
/// # Errors
/// Returns the system's error, and one if a place is another user's.
#[cfg(feature = "inspect")]
pub(crate) fn forget(directory: &Path) -> io::Result<()> {
    let Some((base, name)) = parts_of(directory) else { return Ok(()) };
    for place in places_of(cookies_noted_in(directory).as_deref(), directory, &base) {
        if find_in(&place, &base, &name).is_some() {
            Cookies::open(&place, &base)?.forget(&name);
        }
    }
    Ok(())
}

/// Forgets what the head on disk says by now. Where that cannot be done, a start reads both.
#[cfg(feature = "inspect")]
pub(crate) fn settled(directory: &Path) {
    let _ = forget(directory);
}

/// Returns the base directory of a session's directory, as cookies name it, and the name.
fn parts_of(directory: &Path) -> Option<(PathBuf, std::ffi::OsString)> {
    let full = directory.canonicalize().or_else(|_| {
        let directory = std::path::absolute(directory)?;
        let (above, name) = (directory.parent(), directory.file_name());
        let (Some(above), Some(name)) = (above, name) else { return Err(io::ErrorKind::NotFound.into()) };
        Ok::<_, io::Error>(above.canonicalize()?.join(name))
    });
    let full = full.ok()?;
    Some((full.parent()?.to_owned(), full.file_name()?.to_owned()))
}

/// Returns where the cookies of a session may be.
fn places_of(cookies: Option<&Path>, directory: &Path, base: &Path) -> Vec<PathBuf> {
    let owner = std::fs::metadata(directory).or_else(|_| std::fs::metadata(base));
    let owners = owner.ok().map(|found| directory_of(found.uid()));
    let mut places: Vec<PathBuf> = cookies.map(Path::to_owned).into_iter().collect();
    for place in [Some(own_directory()), owners].into_iter().flatten() {
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

/// Returns what the cookies in `cookies` say of the session whose directory in `base` has this
/// name.
pub(crate) fn find_in(cookies: &Path, base: &Path, name: &OsStr) -> Option<CookieFound> {
    let bytes = std::fs::read(cookies.join(name_of(base))).ok()?;
    let (path, count) = cookies_of(&bytes, boot_id())?;
    if path != base.as_os_str().as_bytes() {
        return None;
    }
    let entries = bytes[COOKIES_HEADER..].chunks_exact(COOKIE).take(count);
    entries.filter(|entry| name_in(entry) == Some(name.as_bytes())).find_map(CookieFound::decode)
}

/// Checks that what is in a directory of cookies is lost with the page cache, and that only this
/// user can write there.
fn check(directory: &Path) -> io::Result<()> {
    let refused = |why: &str| Err(io::Error::new(io::ErrorKind::InvalidInput, why.to_owned()));
    let found = std::fs::symlink_metadata(directory)?;
    if !found.is_dir() {
        return refused("it is not a directory");
    }
    if (found.uid() != user() && !is_root()) || found.mode() & 0o022 != 0 {
        return refused("others may write there");
    }
    if !is_in_memory(directory)? {
        return refused("its file system is not in memory (tmpfs)");
    }
    Ok(())
}

/// Returns the name of the file for a base directory.
fn name_of(base: &Path) -> String {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    format!("cookies-{:016x}", base.as_os_str().as_bytes().iter().fold(0xcbf2_9ce4_8422_2325, step))
}

fn is_of(file: &File, base: &Path) -> bool {
    let mut header = [0; COOKIES_HEADER];
    let read = file.read_exact_at(&mut header, 0);
    let whole = |count: usize| {
        let length = (COOKIES_HEADER + count * COOKIE) as u64;
        count <= MOST
            && file.metadata().is_ok_and(|found| found.len() >= length && found.blocks() * 512 >= length)
    };
    read.is_ok()
        && cookies_of(&header, boot_id())
            .is_some_and(|(path, count)| path == base.as_os_str().as_bytes() && whole(count))
}

/// Creates the file for a base directory, under the lock of the directory. One that cannot be used
/// is replaced.
fn create(directory: &Path, path: &Path, base: &Path) -> io::Result<File> {
    let unfit = || io::Error::new(io::ErrorKind::InvalidFilename, "the base directory's path is too long");
    let header = cookies_header(base.as_os_str().as_bytes(), boot_id()).ok_or_else(unfit)?;
    delete_old(directory);
    let new = path.with_extension("new");
    if let Err(error) = std::fs::remove_file(&new)
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(error);
    }
    let file = File::options().read(true).write(true).create_new(true).mode(0o600).open(&new)?;
    file.write_all_at(&header, 0)?;
    std::fs::rename(&new, path)?;
    Ok(file)
}

/// Deletes the cookies of base directories that are gone, if there are very many.
fn delete_old(directory: &Path) {
    let files = || std::fs::read_dir(directory).into_iter().flatten().flatten();
    if files().count() < MOST_FILES {
        return;
    }
    for entry in files() {
        let mut header = [0; COOKIES_HEADER];
        let read = File::open(entry.path()).and_then(|file| file.read_exact_at(&mut header, 0));
        let base = cookies_of(&header, boot_id()).map(|(base, _)| Path::new(OsStr::from_bytes(base)));
        if read.is_err() || base.is_none_or(|base| !base.exists()) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Returns the word at which an entry begins.
const fn word_of(n: usize) -> usize {
    (COOKIES_HEADER + n * COOKIE) / 8
}

fn bytes_of(words: &Words, at: usize) -> [u8; COOKIE] {
    let mut bytes = [0; COOKIE];
    for (to, word) in bytes.chunks_exact_mut(8).zip(words.part::<COOKIE_WORDS>(at)) {
        to.copy_from_slice(&word.load(Ordering::Acquire).to_ne_bytes());
    }
    bytes
}

/// Writes an entry, which counts once all of it is there.
fn fill(words: &Words, at: usize, bytes: &[u8; COOKIE]) {
    let to = words.part::<COOKIE_WORDS>(at);
    to[STATE].store(0, Ordering::Release);
    for (n, (to, word)) in to.iter().zip(bytes.chunks_exact(8)).enumerate() {
        if n != STATE {
            to.store(u64::from_ne_bytes(std::array::from_fn(|n| word[n])), Ordering::Relaxed);
        }
    }
    to[STATE].store(COUNTS.to_le(), Ordering::Release);
}
