//! A bounded ring of records, written by any number of threads and read by one.
//!
//! Words are numbered from the ring's beginning, without wrapping around; page p holds the words
//! from p times the page size on. A writer reserves the words of its record by moving `tail`, fills
//! them, and stores the record's first word last: as long as that word is zero, the reader sees
//! nothing. The reader sets every consumed word to zero, and returns a page after consuming its
//! last word. So writers wait only for each other, and only when a page must be added, once per
//! page; the reader waits for nobody and allocates nothing.
//!
//! A thread that stops between reserving and storing keeps later records from being read until it
//! continues.
//!
//! Closing the ring sets a bit of `tail`: a record is either reserved before, and will be read, or
//! refused. So no writer takes a message for refused that is sent, or the other way round.
//!
//! There is no unsafe code: words are atomics, read and written relaxed, and the first word orders
//! them. On the processors that we build for, these are plain loads and stores.

use core::ops::Range;
use std::sync::Arc;

use fixbolt_codec::MsgType;

use crate::pages::{Page, Pages, WORD};
use crate::posted_body::PostedBody;
use crate::sync::{AtomicU32, AtomicU64, Mutex, Ordering, lock};

/// Words of a record before the body: length and checksum, number, MsgType.
const HEAD: usize = 4;
/// The bit of a record's first word that marks the record as complete.
const COMPLETE: u64 = 1 << 63;
/// The bit of a record's first word that says that there may be secrets in the body.
const SECRETS: u64 = 1 << 62;
/// The bit of `tail` that says that no more words are reserved.
const CLOSED: u64 = 1 << 63;

/// The records of one session on their way to its worker.
#[derive(Debug)]
pub(crate) struct Ring {
    pages: Arc<Pages>,
    /// Page p of the ring is in place p modulo the number of places, as its index among all pages
    /// plus 1; 0 means none.
    places: Box<[AtomicU32]>,
    /// The number of words reserved so far, and [`CLOSED`].
    tail: Padded<AtomicU64>,
    /// The number of words consumed so far. Only the reader uses it.
    head: Padded<AtomicU64>,
    /// The first page that the reader has not returned.
    first: AtomicU64,
    /// Held while pages are added.
    growing: Mutex<()>,
}

/// Alone on its cache line (and on the one that is fetched with it), so that one side's writes do
/// not slow the other's reads.
#[derive(Debug)]
#[repr(align(128))]
struct Padded<T>(T);

/// Why a record was not written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refused {
    /// There is no room now, in the ring or in the budget.
    Full,
    /// The ring is closed.
    Closed,
}

/// The record at the ring's head; its body was copied out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    pub(crate) number: u64,
    pub(crate) msg_type: MsgType,
    pub(crate) sum: u8,
    pub(crate) may_have_secrets: bool,
    /// The number of words that it takes.
    words: u64,
}

impl Record {
    /// Returns the number of bytes that it takes in the ring.
    #[allow(clippy::cast_possible_truncation)] // it was written from memory
    pub(crate) const fn size(&self) -> usize {
        self.words as usize * WORD
    }
}

/// Whether words can be reserved.
enum Room {
    There,
    /// The ring has room for another page.
    NeedsPage,
    None,
}

impl Ring {
    /// Creates an empty ring that holds at least `capacity` bytes, and one record of any size up to
    /// that.
    pub(crate) fn new(pages: Arc<Pages>, capacity: usize) -> Self {
        let page = WORD << pages.shift();
        // A record may begin anywhere in a page.
        let places = (capacity + HEAD * WORD).div_ceil(page) + 1;
        Self {
            pages,
            places: (0..places).map(|_| AtomicU32::new(0)).collect(),
            tail: Padded(AtomicU64::new(0)),
            head: Padded(AtomicU64::new(0)),
            first: AtomicU64::new(0),
            growing: Mutex::new(()),
        }
    }

    /// Writes a copy of a body, together with the result of `number`, which is called once there is
    /// room.
    pub(crate) fn push(&self, posted: &PostedBody<'_>, number: impl FnOnce() -> u64) -> Result<u64, Refused> {
        let PostedBody { body, may_have_secrets } = posted;
        let len = body.bytes.len();
        let start = self.reserve((HEAD + len.div_ceil(WORD)) as u64)?;
        let number = number();
        let [low, high] = pack(body.msg_type);
        for (at, word) in (start + 1..).zip([number, low, high]) {
            self.word(at).store(word, Ordering::Relaxed);
        }
        let body_start = start + HEAD as u64;
        let (mut whole, rest) = body.bytes.as_chunks::<WORD>();
        for run in self.runs(body_start..body_start + whole.len() as u64) {
            let (now, later) = whole.split_at(run.len());
            for (word, bytes) in run.iter().zip(now) {
                word.store(u64::from_le_bytes(*bytes), Ordering::Relaxed);
            }
            whole = later;
        }
        if !rest.is_empty() {
            let mut bytes = [0; WORD];
            bytes[..rest.len()].copy_from_slice(rest);
            let last = body_start + (len / WORD) as u64;
            self.word(last).store(u64::from_le_bytes(bytes), Ordering::Relaxed);
        }
        let secrets = if *may_have_secrets { SECRETS } else { 0 };
        let first = COMPLETE | secrets | u64::from(body.sum) << 32 | len as u64;
        self.word(start).store(first, Ordering::Release);
        Ok(number)
    }

    /// Reserves words for a record, and returns the first one.
    fn reserve(&self, words: u64) -> Result<u64, Refused> {
        let mut tail = self.tail.0.load(Ordering::Acquire);
        loop {
            if tail & CLOSED != 0 {
                return Err(Refused::Closed);
            }
            match self.room(tail, words) {
                Room::There => match self.move_tail(tail, words) {
                    Ok(()) => return Ok(tail),
                    Err(now) => tail = now,
                },
                Room::NeedsPage => return self.reserve_in_new_page(words),
                Room::None => return Err(Refused::Full),
            }
        }
    }

    /// Adds the pages that a record needs.
    ///
    /// Only one thread adds pages at a time: a page added for a record that is then placed
    /// elsewhere would be lost.
    #[cold]
    fn reserve_in_new_page(&self, words: u64) -> Result<u64, Refused> {
        let _alone = lock(&self.growing);
        loop {
            let tail = self.tail.0.load(Ordering::Acquire);
            if tail & CLOSED != 0 {
                return Err(Refused::Closed);
            }
            match self.room(tail, words) {
                Room::There => {
                    if self.move_tail(tail, words).is_ok() {
                        return Ok(tail);
                    }
                }
                Room::NeedsPage => self.add_pages(tail, words)?,
                Room::None => return Err(Refused::Full),
            }
        }
    }

    fn add_pages(&self, tail: u64, words: u64) -> Result<(), Refused> {
        let released = self.first.load(Ordering::Acquire);
        for page in self.page_of(tail)..=self.page_of(tail + words - 1) {
            let place = self.place(page);
            if place.load(Ordering::Acquire) == 0 {
                // An old `tail` names pages that were returned. A thread that sees them returned
                // sees the new `tail`, too.
                if self.tail.0.load(Ordering::Relaxed) != tail {
                    return Ok(());
                }
                // The result exceeds the number of places if the reader has just returned some.
                let held = usize::try_from(page.saturating_sub(released)).unwrap_or(usize::MAX);
                let taken = self.pages.take(held).ok_or(Refused::Full)?;
                // Allocated here, so that neither another writer nor the reader needs to.
                self.pages.words(taken);
                place.store(taken + 1, Ordering::Release);
            }
        }
        Ok(())
    }

    /// Returns whether words from `tail` on, of a ring that is not closed, can be reserved.
    fn room(&self, tail: u64, words: u64) -> Room {
        let last = self.page_of(tail + words - 1);
        // This load comes first: every page from here on then finds its place as the place's
        // previous page left it.
        let released = self.first.load(Ordering::Acquire);
        if last.saturating_sub(released) >= self.places.len() as u64 {
            return Room::None;
        }
        let there = |page| self.place(page).load(Ordering::Acquire) != 0;
        if (self.page_of(tail)..=last).all(there) { Room::There } else { Room::NeedsPage }
    }

    /// Reserves words, unless another thread has done so meanwhile. On success the pages are still
    /// there: the reader returns no page that reaches beyond `tail`.
    fn move_tail(&self, tail: u64, words: u64) -> Result<(), u64> {
        self.tail.0.compare_exchange_weak(tail, tail + words, Ordering::AcqRel, Ordering::Acquire).map(drop)
    }

    /// Copies the body of the oldest complete record to the beginning of `body`. For the reader
    /// only, as are the methods that follow.
    pub(crate) fn peek(&self, body: &mut Vec<u8>) -> Option<Record> {
        let head = self.head.0.load(Ordering::Relaxed);
        if self.place(self.page_of(head)).load(Ordering::Acquire) == 0 {
            return None;
        }
        let first = self.word(head).load(Ordering::Acquire);
        if first == 0 {
            return None;
        }
        let [number, low, high] = [1, 2, 3].map(|n| self.word(head + n).load(Ordering::Relaxed));
        let (len, sum) = (first & u64::from(u32::MAX), first >> 32 & 0xff);
        let (len, sum) = (usize::try_from(len).unwrap_or(0), sum.to_le_bytes()[0]);
        let count = len.div_ceil(WORD);
        body.resize(count * WORD, 0);
        let (mut whole, _) = body.as_chunks_mut::<WORD>();
        let body_start = head + HEAD as u64;
        for run in self.runs(body_start..body_start + count as u64) {
            let (now, later) = whole.split_at_mut(run.len());
            for (word, bytes) in run.iter().zip(now) {
                *bytes = word.load(Ordering::Relaxed).to_le_bytes();
            }
            whole = later;
        }
        body.truncate(len);
        let msg_type = unpack([low, high]);
        let may_have_secrets = first & SECRETS != 0;
        Some(Record { number, msg_type, sum, may_have_secrets, words: (HEAD + count) as u64 })
    }

    /// Removes the record that [`Ring::peek`] returned. Returns whether that made room.
    pub(crate) fn consume(&self, record: Record) -> bool {
        let head = self.head.0.load(Ordering::Relaxed);
        let end = head + record.words;
        for word in self.runs(head..end).flatten() {
            word.store(0, Ordering::Relaxed);
        }
        let made_room = self.page_of(end) > self.page_of(head);
        for page in self.page_of(head)..self.page_of(end) {
            self.give_back(page);
        }
        self.head.0.store(end, Ordering::Relaxed);
        made_room
    }

    /// Refuses further records. Those that were reserved before are still read.
    pub(crate) fn close(&self) {
        self.tail.0.fetch_or(CLOSED, Ordering::AcqRel);
    }

    /// Returns whether every record that was ever reserved has been consumed.
    pub(crate) fn is_empty(&self) -> bool {
        self.tail.0.load(Ordering::Acquire) & !CLOSED == self.head.0.load(Ordering::Relaxed)
    }

    /// Returns the page of an empty ring to the pool. The result is whether that made room.
    pub(crate) fn shrink(&self) -> bool {
        let mut made_room = false;
        loop {
            let head = self.head.0.load(Ordering::Relaxed);
            let page = self.page_of(head);
            let end = (page + 1) << self.pages.shift();
            let closed = self.tail.0.load(Ordering::Relaxed) & CLOSED;
            let (from, to) = (head | closed, end | closed);
            // From here on nobody reserves words in this page.
            if self.place(page).load(Ordering::Acquire) == 0
                || self.tail.0.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).is_err()
            {
                return made_room;
            }
            self.give_back(page);
            self.head.0.store(end, Ordering::Relaxed);
            made_room = true;
        }
    }

    /// Returns a page whose words are all consumed to the pool.
    fn give_back(&self, page: u64) {
        if let Some(number) = self.place(page).swap(0, Ordering::AcqRel).checked_sub(1) {
            self.pages.give_back(number);
        }
        self.first.store(page + 1, Ordering::Release);
    }

    /// Returns the number of bytes reserved since the head, including the records' heads.
    pub(crate) fn queued(&self) -> usize {
        let tail = self.tail.0.load(Ordering::Relaxed) & !CLOSED;
        let words = tail - self.head.0.load(Ordering::Relaxed);
        usize::try_from(words).unwrap_or(usize::MAX) * WORD
    }

    /// Checks what the reader may know while others write: the reserved words have their pages,
    /// which are no more than there are places, and it has returned all pages before them.
    ///
    /// # Panics
    /// Panics if it does not hold.
    pub(crate) fn check(&self) {
        let head = self.head.0.load(Ordering::Relaxed);
        let (first, begins) = (self.first.load(Ordering::Relaxed), self.page_of(head));
        assert!(first == begins, "page {begins} is read, and those before {first} were returned");
        // Whoever has moved it has seen the pages of its words.
        let tail = self.tail.0.load(Ordering::Acquire) & !CLOSED;
        assert!(head <= tail, "{head} words were consumed of {tail}");
        if head == tail {
            return;
        }
        let (last, places) = (self.page_of(tail - 1), self.places.len() as u64);
        assert!(last - first < places, "pages {first} to {last} are in {places} places");
        for page in first..=last {
            let is_there = self.place(page).load(Ordering::Acquire) != 0;
            assert!(is_there, "page {page} is not there, and words of it are reserved");
        }
    }

    /// Returns reserved words, in as many pieces as there are pages with some of them.
    fn runs(&self, words: Range<u64>) -> Runs<'_> {
        Runs { ring: self, words }
    }

    /// Returns a reserved word.
    fn word(&self, at: u64) -> &AtomicU64 {
        let (page, within) = self.locate(at);
        &page[within]
    }

    /// Returns the page of a reserved word, and where in it the word is.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // within a page
    fn locate(&self, at: u64) -> (&Page, usize) {
        // The page exists as long as the record does: its place was seen filled before the words
        // were reserved.
        let number = self.place(self.page_of(at)).load(Ordering::Acquire);
        let within = at & ((1 << self.pages.shift()) - 1);
        (self.pages.words(number - 1), within as usize)
    }

    fn page_of(&self, word: u64) -> u64 {
        word >> self.pages.shift()
    }

    #[allow(clippy::cast_possible_truncation)] // below their number
    fn place(&self, page: u64) -> &AtomicU32 {
        &self.places[(page % self.places.len() as u64) as usize]
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        let mut body = Vec::new();
        while let Some(record) = self.peek(&mut body) {
            self.consume(record);
        }
        self.shrink();
    }
}

/// Returns the number of bytes that a record with a body of this size takes.
pub(crate) const fn record_size(body: usize) -> usize {
    HEAD * WORD + body.next_multiple_of(WORD)
}

/// Returns the size in bytes of the largest body that a ring can take while the others take
/// nothing.
pub(crate) fn largest_body(pages: &Pages) -> usize {
    let page = WORD << pages.shift();
    // Half of the budget, less the beginning of the first page and the end of the last one.
    (pages.budget() / 2 * page).saturating_sub(2 * page + record_size(0))
}

/// The words of a record in order, those of a page at a time.
struct Runs<'r> {
    ring: &'r Ring,
    words: Range<u64>,
}

impl<'r> Iterator for Runs<'r> {
    type Item = &'r [AtomicU64];

    #[inline]
    fn next(&mut self) -> Option<&'r [AtomicU64]> {
        let left = usize::try_from(self.words.end - self.words.start).unwrap_or(usize::MAX);
        if left == 0 {
            return None;
        }
        let (page, within) = self.ring.locate(self.words.start);
        let run = &page[within..][..left.min(page.len() - within)];
        self.words.start += run.len() as u64;
        Some(run)
    }
}

/// Packs a MsgType into two words: up to 15 bytes, their number in the last one.
fn pack(msg_type: MsgType) -> [u64; 2] {
    let bytes = msg_type.as_bytes();
    let mut packed = [0; 2 * WORD];
    packed[..bytes.len()].copy_from_slice(bytes);
    packed[2 * WORD - 1] = bytes.len().to_le_bytes()[0];
    let (words, _) = packed.as_chunks::<WORD>();
    [u64::from_le_bytes(words[0]), u64::from_le_bytes(words[1])]
}

fn unpack([low, high]: [u64; 2]) -> MsgType {
    let mut packed = [0; 2 * WORD];
    packed[..WORD].copy_from_slice(&low.to_le_bytes());
    packed[WORD..].copy_from_slice(&high.to_le_bytes());
    let len = usize::from(packed[2 * WORD - 1]).min(2 * WORD - 1);
    MsgType::new(&packed[..len])
}

#[cfg(test)]
mod tests;
