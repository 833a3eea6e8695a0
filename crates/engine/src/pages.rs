//! The memory of all rings of an engine: pages of words, allocated when first needed, at most as
//! many as the budget allows, and passed from ring to ring.
//!
//! A page that no ring holds is all zero. There is no unsafe code: a word is an atomic, so a page
//! may be shared before, while and after a ring holds it.

use core::fmt;
use std::sync::OnceLock;

use crate::room::Room;
use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// Bytes of a word.
pub(crate) const WORD: usize = 8;
/// The logarithm to base 2 of the words in a page, which has 8 KiB.
pub(crate) const PAGE_SHIFT: u32 = 10;

/// The words of one page.
pub(crate) type Page = [AtomicU64];

/// The pages of an engine.
pub(crate) struct Pages {
    shift: u32,
    pages: Box<[OnceLock<Box<Page>>]>,
    /// The number of pages ever used; pages from this index on are not allocated yet.
    used: AtomicU32,
    /// The number of pages that rings hold.
    held: AtomicU32,
    /// The list of returned pages. The lower half is the first page's index plus 1 (0: none), the
    /// upper half a count of changes, so that a list that changed and looks the same again is not
    /// mistaken for the old one.
    free: AtomicU64,
    /// For each page on that list: the next one's index plus 1.
    next: Box<[AtomicU32]>,
    /// Where threads wait for room in any ring.
    pub(crate) room: Room,
}

/// Without the words, in which there may be secrets.
impl fmt::Debug for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Pages");
        shown.field("held", &self.held()).field("budget", &self.budget()).finish_non_exhaustive()
    }
}

impl Pages {
    /// Creates the pages of a budget of `bytes`, at least one, none of them allocated.
    pub(crate) fn new(bytes: usize) -> Self {
        Self::with_shift(bytes / (WORD << PAGE_SHIFT), PAGE_SHIFT)
    }

    /// Creates `count` pages of two to the power of `shift` words each.
    pub(crate) fn with_shift(count: usize, shift: u32) -> Self {
        let count = count.clamp(1, u32::MAX as usize - 1);
        Self {
            shift,
            pages: (0..count).map(|_| OnceLock::new()).collect(),
            used: AtomicU32::new(0),
            held: AtomicU32::new(0),
            free: AtomicU64::new(0),
            next: (0..count).map(|_| AtomicU32::new(0)).collect(),
            room: Room::new(),
        }
    }

    /// Returns the logarithm to base 2 of the words in a page.
    pub(crate) const fn shift(&self) -> u32 {
        self.shift
    }

    /// Returns the largest possible number of pages.
    pub(crate) fn budget(&self) -> usize {
        self.pages.len()
    }

    /// Returns the budget in bytes.
    pub(crate) fn size(&self) -> usize {
        self.budget() * (WORD << self.shift)
    }

    /// Returns the number of pages that rings hold.
    pub(crate) fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed) as usize
    }

    /// Returns the number of pages that no ring holds.
    fn available(&self) -> usize {
        self.budget().saturating_sub(self.held())
    }

    /// Returns whether so much of the budget is used that rings without messages return their
    /// pages.
    pub(crate) fn are_short(&self) -> bool {
        self.available() < self.budget() / 2
    }

    /// Takes a page for a ring that holds `held` already; `None` if it must do without another.
    ///
    /// A ring never gets more than it leaves to the others: a ring that is not emptied takes at
    /// most half of the budget, and two such rings a third each.
    pub(crate) fn take(&self, held: usize) -> Option<u32> {
        if self.available() <= held {
            return None;
        }
        let page = self.pop().or_else(|| self.take_unused())?;
        self.held.fetch_add(1, Ordering::Relaxed);
        Some(page)
    }

    fn pop(&self) -> Option<u32> {
        let mut free = self.free.load(Ordering::Acquire);
        loop {
            let page = first(free)?;
            let next = self.next[page as usize].load(Ordering::Relaxed);
            match self.free.compare_exchange_weak(free, list(free, next), Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => return Some(page),
                Err(now) => free = now,
            }
        }
    }

    fn take_unused(&self) -> Option<u32> {
        let mut used = self.used.load(Ordering::Relaxed);
        while (used as usize) < self.pages.len() {
            match self.used.compare_exchange_weak(used, used + 1, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some(used),
                Err(now) => used = now,
            }
        }
        None
    }

    /// Returns a page, all zero. Only [`Room::made`] notifies waiting threads.
    pub(crate) fn give_back(&self, page: u32) {
        let mut free = self.free.load(Ordering::Relaxed);
        loop {
            self.next[page as usize].store(first(free).map_or(0, |first| first + 1), Ordering::Relaxed);
            match self.free.compare_exchange_weak(
                free,
                list(free, page + 1),
                Ordering::AcqRel,
                Ordering::Relaxed,
            ) {
                Ok(_) => break,
                Err(now) => free = now,
            }
        }
        self.held.fetch_sub(1, Ordering::Relaxed);
    }

    /// Allocates the first `count` pages, at most half of the budget, before messages need them.
    pub(crate) fn prepare(&self, count: usize) {
        let taken: Vec<u32> = (0..count.min(self.budget() / 2)).map_while(|_| self.take(0)).collect();
        for page in taken {
            self.words(page);
            self.give_back(page);
        }
    }

    /// Returns the words of a page that a ring holds; allocated at the first call, by the thread
    /// that took the page.
    pub(crate) fn words(&self, page: u32) -> &Page {
        self.pages[page as usize]
            .get_or_init(|| (0..1usize << self.shift).map(|_| AtomicU64::new(0)).collect())
    }
}

/// Returns the first page of a list.
#[allow(clippy::cast_possible_truncation)] // the lower half
fn first(free: u64) -> Option<u32> {
    (free as u32).checked_sub(1)
}

/// Returns the list that begins with `first` (a page's index plus 1), one change after `before`.
fn list(before: u64, first: u32) -> u64 {
    ((before >> 32).wrapping_add(1) << 32) | u64::from(first)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn no_page_is_allocated_before_it_is_needed_and_none_beyond_the_budget() {
        let pages = Pages::with_shift(3, 2);
        assert_eq!(
            [pages.take(0), pages.take(0), pages.take(0), pages.take(0)],
            [Some(0), Some(1), Some(2), None]
        );
        assert!(pages.pages.iter().all(|page| page.get().is_none()));
        pages.give_back(1);
        pages.give_back(0);
        assert_eq!([pages.take(0), pages.take(0), pages.take(0)], [Some(0), Some(1), None]);
    }

    #[test]
    fn a_ring_gets_no_more_pages_than_it_leaves() {
        let pages = Pages::with_shift(6, 2);
        let held = (0..).take_while(|held| pages.take(*held).is_some()).count();
        assert_eq!(held, 3);
        assert!(pages.take(0).is_some());
    }
}
