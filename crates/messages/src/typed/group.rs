//! Repeating groups: where a group ends in a message, and its entries.
//!
//! The message's places bound a group where there are any. Without them the dictionary of the view
//! does: an entry begins with the group's first field and contains the group's members and any
//! field that the version does not know.

use core::fmt;
use core::iter::FusedIterator;
use core::marker::PhantomData;

use fixbolt_codec::Entries;

use super::view::{Entry, Fields};

/// The entries of a repeating group.
pub struct Group<'m, E> {
    entries: Entries<'m>,
    known: &'static &'static [u32],
    entry: PhantomData<fn() -> E>,
}

/// Shows the number of remaining entries and their fields as [`Redacted`](fixbolt_codec::Redacted)
/// does.
impl<E> fmt::Debug for Group<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = self.entries.message().redacted(self.entries.positions());
        f.debug_struct("Group").field("left", &self.entries.len()).field("fields", &fields).finish()
    }
}

impl<'m, E> Group<'m, E> {
    #[inline]
    pub(super) const fn new(entries: Entries<'m>, known: &'static &'static [u32]) -> Self {
        Self { entries, known, entry: PhantomData }
    }
}

impl<E> Clone for Group<'_, E> {
    fn clone(&self) -> Self {
        Self { entries: self.entries.clone(), known: self.known, entry: PhantomData }
    }
}

impl<'m, E: Entry<'m>> Iterator for Group<'m, E> {
    type Item = E;

    #[inline]
    fn next(&mut self) -> Option<E> {
        let entry = self.entries.next()?;
        Some(E::over(Fields::within(entry, self.known)))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.entries.size_hint()
    }
}

impl<'m, E: Entry<'m>> ExactSizeIterator for Group<'m, E> {}
impl<'m, E: Entry<'m>> FusedIterator for Group<'m, E> {}

/// The shape of a repeating group, which determines where it ends.
#[derive(Debug)]
pub struct GroupShape {
    /// Tag of the count field.
    pub count: u32,
    /// Tag of the first field of every entry.
    pub delimiter: u32,
    /// Tags that may occur in an entry, including those of its groups.
    pub members: Tags,
    /// Members that may also follow the group: the second one in the last entry does not belong to
    /// the group.
    pub ending: &'static [u32],
}

/// A set of tags, in which every field of a group is looked up.
#[derive(Debug)]
pub struct Tags {
    /// One bit for each tag below 1024: most of the tags of FIX.4.2 and 4.4.
    low: [u64; 16],
    all: &'static [u32],
}

impl Tags {
    /// Creates the set of these tags, which must be ascending.
    #[must_use]
    pub const fn new(all: &'static [u32]) -> Self {
        let mut low = [0; 16];
        let mut n = 0;
        while n < all.len() && all[n] < 1024 {
            low[(all[n] / 64) as usize] |= 1 << (all[n] % 64);
            n += 1;
        }
        Self { low, all }
    }

    #[inline]
    fn contains(&self, tag: u32) -> bool {
        match self.low.get((tag / 64) as usize) {
            Some(word) => word & 1 << (tag % 64) != 0,
            None => self.all.binary_search(&tag).is_ok(),
        }
    }
}

/// The position of a group's entries.
pub(super) struct Region {
    pub(super) end: usize,
    pub(super) entries: usize,
}

impl GroupShape {
    /// Returns the region of the group whose count field is directly before `start`, within
    /// `tags[..end]`; `known` as in [`Fields`].
    pub(super) fn region(&self, tags: &[u32], start: usize, end: usize, known: &[u32]) -> Region {
        let is_known = |tag| known.is_empty() || known.binary_search(&tag).is_ok();
        let (mut at, mut entries, mut entry) = (start, 0, start);
        while at < end {
            let tag = tags[at];
            if tag == self.delimiter {
                entries += 1;
                entry = at;
            } else if entries == 0
                || !self.members.contains(tag) && is_known(tag)
                || self.ending.contains(&tag) && tags[entry..at].contains(&tag)
            {
                break;
            }
            at += 1;
        }
        Region { end: at, entries }
    }
}
