//! Which journal a directory holds, and whether it is still the place where it was made.
//!
//! Every journal has a random identity. Its head also has the inodes and times of birth of the
//! directory and of the head file. A copy has another head file: a copied or restored journal says
//! so instead of using its sequence numbers again.

use std::fs::{File, Metadata};
use std::hash::{BuildHasher, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::UNIX_EPOCH;
use std::{fmt, io};

/// The random identity of a journal.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct JournalId(pub(crate) [u8; 16]);

impl JournalId {
    /// Returns a new identity.
    pub(crate) fn random() -> Self {
        let mut id = [0; 16];
        for half in id.chunks_exact_mut(8) {
            half.copy_from_slice(&random().to_le_bytes());
        }
        Self(id)
    }
}

/// Returns a random number from the system.
pub(crate) fn random() -> u64 {
    std::hash::RandomState::new().build_hasher().finish()
}

impl fmt::Display for JournalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for JournalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JournalId({self})")
    }
}

/// A file or directory as the file system knows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Inode {
    pub(crate) number: u64,
    /// When it was created, in nanoseconds since 1970; 0 where the file system does not say.
    pub(crate) born: u64,
}

impl Inode {
    fn of(metadata: &Metadata) -> Self {
        let born = metadata.created().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let born = born.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX));
        Self { number: metadata.ino(), born }
    }

    fn is(self, other: Self) -> bool {
        self.number == other.number && (self.born == other.born || self.born == 0 || other.born == 0)
    }
}

/// Where a journal is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Place {
    pub(crate) directory: Inode,
    pub(crate) head: Inode,
}

impl Place {
    /// Returns the place of the journal in `directory` whose head is `head`.
    ///
    /// # Errors
    /// Returns the system's error.
    pub(crate) fn of(directory: &Path, head: &File) -> io::Result<Self> {
        Ok(Self { directory: Inode::of(&std::fs::metadata(directory)?), head: Inode::of(&head.metadata()?) })
    }

    /// Returns the place of the journal in `directory`.
    ///
    /// # Errors
    /// Returns the system's error.
    #[cfg(feature = "inspect")]
    pub(crate) fn here(directory: &Path) -> io::Result<Self> {
        Self::of(directory, &File::open(directory.join("head"))?)
    }

    /// Returns what is not as it was at the other place.
    ///
    /// The head decides: what copies a journal makes another file of it. Directories get another
    /// number where nothing was copied, on an overlayfs at each mount; theirs counts only where the
    /// file system does not say when the head was created, as it may use numbers again.
    pub(crate) fn differs_from(self, other: Self) -> Option<&'static str> {
        let is_dated = self.head.born != 0 && other.head.born != 0;
        if !self.head.is(other.head) {
            Some("the head is not the file that was made with the journal")
        } else if !is_dated && !self.directory.is(other.directory) {
            Some("the directory is not the one in which the journal was made")
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TempDir;

    #[test]
    fn a_restored_head_is_at_another_place_and_a_moved_directory_is_not() {
        let dir = TempDir::new("place");
        let [first, moved] = ["first", "moved"].map(|name| dir.path().join(name));
        let place =
            |directory: &Path| Place::of(directory, &File::open(directory.join("head")).unwrap()).unwrap();
        std::fs::create_dir(&first).unwrap();
        std::fs::write(first.join("head"), b"x").unwrap();
        let before = place(&first);
        std::fs::rename(&first, &moved).unwrap();
        assert_eq!(before.differs_from(place(&moved)), None);
        std::fs::write(moved.join("head.tmp"), b"x").unwrap();
        std::fs::rename(moved.join("head.tmp"), moved.join("head")).unwrap();
        assert!(place(&moved).differs_from(before).unwrap().contains("head"));
        assert_ne!(JournalId::random(), JournalId::random());
    }

    #[test]
    fn a_directory_counts_only_where_nothing_says_when_the_head_was_created() {
        let inode = |number, born| Inode { number, born };
        let made = Place { directory: inode(3, 30), head: inode(10, 31) };
        let mounted_again = Place { directory: inode(4, 30), ..made };
        assert_eq!(mounted_again.differs_from(made), None);
        let number_used_again = Place { head: inode(10, 99), ..made };
        assert!(number_used_again.differs_from(made).unwrap().contains("head"));
        let undated = |place: Place| Place { head: inode(place.head.number, 0), ..place };
        assert_eq!(undated(made).differs_from(undated(made)), None);
        let told = undated(mounted_again).differs_from(undated(made));
        assert!(told.unwrap().contains("directory"));
    }
}
