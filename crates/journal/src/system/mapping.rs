//! Memory-mapped files: together with `checksum` and `system_calls` the only unsafe code of this
//! crate.
//!
//! A [`Mapping`] behaves like a byte slice of fixed length: shared borrows read, exclusive ones
//! write. The store's threads hold a [`MappingAhead`], which touches and flushes pages but never
//! reads their bytes. Another process that truncates the file would cause SIGBUS, which is why
//! files are allocated completely and locked.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::{MmapOptions, MmapRaw};

/// A file's bytes in memory.
pub(crate) struct Mapping {
    raw: Arc<MmapRaw>,
    /// Number of bytes that may be written: all or none.
    writable: usize,
    /// The file, if it is large and written from its beginning to its end.
    file: Option<File>,
}

/// Length from which a file is kept open for [`Mapping::fill`]: sessions that write little have no
/// such file, so that thousands of them need no further descriptors.
pub(crate) const KEPT: usize = 1 << 20;

/// The part of a [`Mapping`] that the store's threads hold.
#[derive(Clone)]
pub(crate) struct MappingAhead {
    raw: Arc<MmapRaw>,
}

impl Mapping {
    /// Maps the first `length` bytes for reading and writing.
    pub(crate) fn writable(file: &File, length: usize) -> io::Result<Self> {
        let raw = Arc::new(MmapOptions::new().len(length).map_raw(file)?);
        Ok(Self { writable: raw.len(), raw, file: None })
    }

    /// Prepares the mapping for records that are written one after the other. If it is large, its
    /// file is asked for and kept; without it, pages are made ready one at a time.
    ///
    /// The system then reads no further pages when one is touched. As the blocks of a new segment
    /// are allocated and empty, it would make up to `read_ahead_kb` of zeros, which takes
    /// milliseconds of the thread that has touched the page.
    pub(crate) fn expect_records(&mut self, file: impl FnOnce() -> io::Result<File>) {
        #[cfg(target_os = "linux")]
        let _ = self.raw.advise(memmap2::Advice::Random);
        if self.raw.len() >= KEPT {
            self.file = file().ok();
        }
    }

    /// Notes that there will be no more records.
    pub(crate) fn end_records(&mut self) {
        self.file = None;
    }

    /// Maps the first `length` bytes for reading.
    pub(crate) fn read_only(file: &File, length: usize) -> io::Result<Self> {
        let raw = Arc::new(MmapOptions::new().len(length).map_raw_read_only(file)?);
        Ok(Self { raw, writable: 0, file: None })
    }

    /// Returns the length of the mapping.
    pub(crate) fn len(&self) -> usize {
        self.raw.len()
    }

    /// Returns the bytes.
    #[allow(unsafe_code)]
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the mapping is `len` readable bytes and lives as long as `raw`. In this process
        // only methods that borrow `self` exclusively write to it (MappingAhead returns no bytes).
        // Other processes are excluded by the directory's lock; a tool that reads a live journal
        // only looks at records whose first word was published, which never change.
        unsafe { core::slice::from_raw_parts(self.raw.as_ptr(), self.raw.len()) }
    }

    /// Returns whether `length` bytes may be written at `at`.
    #[inline]
    fn takes(&self, at: usize, length: usize) -> bool {
        at <= self.writable && length <= self.writable - at
    }

    /// Copies `bytes` to `at`.
    ///
    /// # Panics
    /// Panics if they do not fit or the mapping is read-only.
    #[allow(unsafe_code)]
    #[inline]
    pub(crate) fn write(&mut self, at: usize, bytes: &[u8]) {
        assert!(self.takes(at, bytes.len()));
        // SAFETY: the destination is inside a writable mapping (just checked) and cannot overlap
        // `bytes`: a borrow of this mapping's bytes would borrow `self`, which is exclusively
        // borrowed here.
        unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), self.raw.as_mut_ptr().add(at), bytes.len()) }
    }

    /// Stores `words` at `at`, little-endian, one by one, as they come from registers.
    ///
    /// # Panics
    /// Panics if they do not fit, `at` is not a multiple of 8 or the mapping is read-only.
    #[allow(unsafe_code)]
    #[inline]
    pub(crate) fn write_words<const N: usize>(&mut self, at: usize, words: &[u64; N]) {
        assert!(self.takes(at, 8 * N) && at.is_multiple_of(8));
        // SAFETY: inside the writable mapping (just checked).
        let target = unsafe { self.raw.as_mut_ptr().add(at) }.cast::<u64>();
        for (n, word) in words.iter().enumerate() {
            // SAFETY: as above, and aligned, because mappings begin on a page.
            unsafe { target.add(n).write(word.to_le()) }
        }
    }

    /// Returns the words at `at`, and looks at no other byte.
    ///
    /// # Panics
    /// Panics if the mapping ends before them or `at` is not a multiple of 8.
    #[allow(unsafe_code)]
    pub(crate) fn words<const N: usize>(&self, at: usize) -> [u64; N] {
        assert!(at <= self.len() && 8 * N <= self.len() - at && at.is_multiple_of(8));
        // SAFETY: inside the mapping (just checked).
        let source = unsafe { self.raw.as_ptr().add(at) }.cast::<u64>();
        // SAFETY: as above, and aligned, because mappings begin on a page. In this process only
        // methods that borrow `self` exclusively write to these words.
        std::array::from_fn(|n| u64::from_le(unsafe { source.add(n).read() }))
    }

    /// Stores one word, little-endian, so that a reader that sees it also sees everything written
    /// before it.
    ///
    /// # Panics
    /// Panics if it does not fit, `at` is not a multiple of 8 or the mapping is read-only.
    #[allow(unsafe_code)]
    #[inline]
    pub(crate) fn publish(&mut self, at: usize, word: u64) {
        assert!(self.takes(at, 8) && at.is_multiple_of(8));
        // SAFETY: inside the writable mapping and aligned, because mappings begin on a page and
        // `at` is a multiple of 8 (both just checked); the exclusive borrow excludes all other
        // accesses of this process.
        let target = unsafe { AtomicU64::from_ptr(self.raw.as_mut_ptr().add(at).cast()) };
        target.store(word.to_le(), Ordering::Release);
    }

    /// Stores `words` and then one more, as [`Mapping::write_words`] and [`Mapping::publish`] do;
    /// calling both takes 10 instructions more.
    ///
    /// # Panics
    /// Panics if they do not fit, `at` is not a multiple of 8 or the mapping is read-only.
    #[allow(unsafe_code)]
    #[inline]
    pub(crate) fn publish_after<const N: usize>(&mut self, at: usize, words: &[u64; N], last: u64) {
        assert!(self.takes(at, 8 * N + 8) && at.is_multiple_of(8));
        // SAFETY: inside the writable mapping (just checked).
        let target = unsafe { self.raw.as_mut_ptr().add(at) }.cast::<u64>();
        for (n, word) in words.iter().enumerate() {
            // SAFETY: as above, and aligned, because mappings begin on a page.
            unsafe { target.add(n).write(word.to_le()) }
        }
        // SAFETY: as above; the exclusive borrow excludes all other accesses of this process.
        let target = unsafe { AtomicU64::from_ptr(target.add(N)) };
        target.store(last.to_le(), Ordering::Release);
    }

    /// Asks the processor for the cache lines that a message of usual length takes at `at`, which
    /// may be past the end. Pages that another thread has made ready are in its cache, not in this
    /// one's.
    #[allow(unsafe_code)]
    #[inline]
    pub(crate) fn prefetch(&self, at: usize) {
        #[cfg(target_arch = "x86_64")]
        for line in 0..6 {
            use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: a prefetch is a hint; it accesses nothing and does not fault at any address.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(self.raw.as_ptr().wrapping_add(at + 64 * line).cast()) }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = at;
    }

    /// Zeroes a range without writing bytes that are zero already, as a page that is never written
    /// needs no block on disk.
    pub(crate) fn clear(&mut self, range: Range<usize>) {
        const ZEROS: [u8; 4096] = [0; 4096];
        let mut at = range.start;
        while at < range.end {
            let n = (4096 - at % 4096).min(range.end - at);
            if self.bytes()[at..at + n] != ZEROS[..n] {
                self.write(at, &ZEROS[..n]);
            }
            at += n;
        }
    }

    /// Returns whether the file is kept open.
    #[cfg(test)]
    pub(crate) const fn keeps_file(&self) -> bool {
        self.file.is_some()
    }

    /// Puts pages of zeros, where zeros are, into the memory that the system keeps for the file, if
    /// it is kept open, but not at its end. Returns whether they are there.
    ///
    /// A file that someone truncates grows with what is written to it, and would be as long as
    /// before at its end, so that nobody would notice.
    ///
    /// That and making them ready takes 2 us a page, and making them ready alone 5: the system
    /// takes memory for several pages at once when a file is written, and one by one when it is
    /// touched.
    pub(crate) fn fill(&mut self, range: Range<usize>) -> bool {
        const ZEROS: [u8; 1 << 14] = [0; 1 << 14];
        let Some(file) = &self.file else { return false };
        let end = range.end.min(self.raw.len());
        if end == self.raw.len() {
            return false;
        }
        let mut at = range.start;
        while at < end {
            let zeros = &ZEROS[..ZEROS.len().min(end - at)];
            match file.write_at(zeros, at as u64) {
                Ok(n) if n > 0 => at += n,
                // Whoever writes records there will see why.
                _ => {
                    self.file = None;
                    return false;
                }
            }
        }
        true
    }

    /// Returns a handle for the store's threads.
    pub(crate) fn ahead(&self) -> MappingAhead {
        MappingAhead { raw: Arc::clone(&self.raw) }
    }
}

/// Words of a file in memory that is shared by threads and processes, which read and write them one
/// by one.
pub(crate) struct Words {
    raw: MmapRaw,
    count: usize,
}

impl Words {
    /// Maps `count` words of a file. It may be shorter, as it grows: to touch a word that it does
    /// not have ends the process.
    pub(crate) fn map(file: &File, count: usize) -> io::Result<Self> {
        Ok(Self { raw: MmapOptions::new().len(8 * count).map_raw(file)?, count })
    }

    /// Returns the words from word `at` on, which are little-endian in the file.
    ///
    /// # Panics
    /// Panics if the mapping ends before them.
    #[allow(unsafe_code)]
    #[inline]
    pub(crate) fn part<const N: usize>(&self, at: usize) -> &[AtomicU64; N] {
        assert!(at <= self.count && N <= self.count - at);
        // SAFETY: inside the mapping (just checked), which has `count` words and lives as long as
        // `self`; aligned, as mappings begin on a page. All threads access the words as atomic ones
        // only.
        unsafe { &*self.raw.as_mut_ptr().cast::<AtomicU64>().add(at).cast() }
    }
}

impl MappingAhead {
    /// Returns the length of the mapping.
    pub(crate) fn len(&self) -> usize {
        self.raw.len()
    }

    /// Makes the pages of `range` writable in the page table before they are written. If the system
    /// does not support this, the first write to each page is slower.
    pub(crate) fn populate(&self, range: Range<usize>) {
        #[cfg(target_os = "linux")]
        {
            let end = range.end.min(self.raw.len());
            if range.start < end {
                let _ = self.raw.advise_range(memmap2::Advice::PopulateWrite, range.start, end - range.start);
            }
        }
        #[cfg(not(target_os = "linux"))]
        let _ = range;
    }

    /// Takes the pages of `range` out of this process's memory. They are read again when they are
    /// needed. If the system does not support this, they stay.
    #[allow(unsafe_code)]
    pub(crate) fn release(&self, range: Range<usize>) {
        #[cfg(target_os = "linux")]
        {
            let (from, to) = (range.start.next_multiple_of(4096), range.end.min(self.raw.len()) & !4095);
            if from < to {
                let advice = memmap2::UncheckedAdvice::DontNeed;
                // SAFETY: the mapping is a shared one of a file, so the next access finds the same
                // bytes, whether or not they are on disk.
                let release = || unsafe { self.raw.unchecked_advise_range(advice, from, to - from) };
                if release().is_err() {
                    // A program may have all memory of the process locked.
                    // SAFETY: the range is inside the mapping (`to` is at most its length).
                    let unlocked =
                        unsafe { libc::munlock(self.raw.as_mut_ptr().add(from).cast(), to - from) };
                    if unlocked == 0 {
                        let _ = release();
                    }
                }
            }
        }
        #[cfg(not(target_os = "linux"))]
        let _ = range;
    }

    /// Has the system read ahead again when pages are read.
    pub(crate) fn expect_reads(&self) {
        #[cfg(target_os = "linux")]
        let _ = self.raw.advise(memmap2::Advice::Normal);
    }

    /// Writes the pages of `range` to disk and waits. An earlier write-back error of the file is
    /// reported here.
    pub(crate) fn flush(&self, range: Range<usize>) -> io::Result<()> {
        let end = range.end.min(self.raw.len());
        if range.start < end { self.raw.flush_range(range.start, end - range.start) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TempDir;

    #[test]
    fn what_is_written_is_read_back_through_the_file() {
        let dir = TempDir::new("mapping");
        let path = dir.path().join("f");
        std::fs::write(&path, [0; 8192]).unwrap();
        let file = File::options().read(true).write(true).open(&path).unwrap();
        let mut mapping = Mapping::writable(&file, 8192).unwrap();
        mapping.ahead().populate(0..8192);
        mapping.write(4090, b"across pages");
        mapping.publish(8, 0x0102_0304_0506_0708);
        mapping.ahead().flush(0..8192).unwrap();
        let read = std::fs::read(&path).unwrap();
        assert_eq!(&read[4090..4102], b"across pages");
        assert_eq!(read[8], 8);
        mapping.write_words(16, &[1, 2]);
        assert_eq!(mapping.bytes()[16..32], [1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]);
        mapping.clear(5..4100);
        assert_eq!(
            &Mapping::read_only(&file, 8192).unwrap().bytes()[4088..4104],
            b"\0\0\0\0\0\0\0\0\0\0\0\0es\0\0"
        );
    }

    /// Returns a file that is kept open.
    fn kept(dir: &TempDir) -> File {
        let path = dir.path().join("f");
        std::fs::write(&path, vec![0; KEPT]).unwrap();
        File::options().read(true).write(true).open(&path).unwrap()
    }

    #[test]
    fn a_file_that_is_truncated_does_not_get_its_length_back_from_zeros() {
        let dir = TempDir::new("mapping-truncated");
        let file = kept(&dir);
        let mut mapping = Mapping::writable(&file, KEPT).unwrap();
        mapping.expect_records(|| file.try_clone());
        file.set_len(4096).unwrap();
        let filled = (0..KEPT).step_by(1 << 14).filter(|from| mapping.fill(*from..*from + (1 << 14)));
        assert_eq!(filled.count(), KEPT / (1 << 14) - 1);
        assert!(mapping.keeps_file());
        assert!(file.metadata().unwrap().len() < KEPT as u64);
    }

    #[test]
    fn a_file_is_asked_for_only_where_it_is_kept_and_may_be_missing() {
        let dir = TempDir::new("mapping-kept");
        let file = kept(&dir);
        Mapping::writable(&file, KEPT - 8).unwrap().expect_records(|| panic!("it is small"));
        let mut mapping = Mapping::writable(&file, KEPT).unwrap();
        mapping.expect_records(|| Err(io::Error::other("too many open files")));
        assert!(!mapping.fill(0..4096));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn pages_are_released_even_if_the_process_has_locked_its_memory() {
        let dir = TempDir::new("mapping-locked");
        let path = dir.path().join("locked-segment");
        std::fs::write(&path, [7; 16 * 4096]).unwrap();
        let file = File::options().read(true).write(true).open(&path).unwrap();
        let mapping = Mapping::writable(&file, 16 * 4096).unwrap();
        if let Err(error) = mapping.raw.lock() {
            eprintln!("not tested: 64 KiB cannot be locked: {error}");
            return;
        }
        let resident = || {
            let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
            let ours = maps.split("/locked-segment\n").skip(1).map(|map| {
                let of = |line: &str| line.strip_prefix("Rss:")?.trim().strip_suffix(" kB")?.parse().ok();
                map.lines().find_map(of).unwrap_or(0)
            });
            ours.sum::<u64>()
        };
        assert_eq!(resident(), 64);
        mapping.ahead().release(4096..15 * 4096);
        assert_eq!(resident(), 8);
        assert_eq!(mapping.bytes()[5 * 4096], 7);
    }

    #[test]
    #[should_panic(expected = "assertion failed")]
    fn writing_past_the_end_is_refused() {
        let dir = TempDir::new("mapping-end");
        let path = dir.path().join("f");
        std::fs::write(&path, [0; 4096]).unwrap();
        let file = File::options().read(true).write(true).open(&path).unwrap();
        Mapping::writable(&file, 4096).unwrap().write(4095, b"xy");
    }
}
