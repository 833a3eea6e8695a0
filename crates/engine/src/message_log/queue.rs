//! Lines on their way to the log's thread, and memory on its way back.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Thread;

use crossbeam_queue::ArrayQueue;

/// What the name of a session's file has after the session's name.
pub(crate) const LOG_SUFFIX: &str = ".messages.log";
/// The most bytes in the queue.
pub(super) const MOST_BYTES: usize = 32 << 20;
/// The memory that each line of the queue has from the start, in bytes.
const LINE: usize = 512;
/// The memory of a longer line is not kept for the next one.
const LONGEST_KEPT: usize = 4096;

/// What becomes a line of a file: the log's thread makes it one, so that the worker only copies.
pub(super) struct Line {
    /// The number of the file, which [`Queue::file`] has given it.
    pub(super) file: usize,
    /// When the message was received or sent, in nanoseconds since 1970.
    pub(super) utc: u64,
    /// The message.
    pub(super) bytes: Vec<u8>,
}

/// The files of a log.
#[derive(Default)]
struct Files {
    /// Their names without [`LOG_SUFFIX`], by their numbers.
    names: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, usize>,
}

/// What the workers and the log's thread share.
pub(super) struct Queue {
    files: Mutex<Files>,
    lines: ArrayQueue<Line>,
    /// Memory for as many lines, so that a worker allocates none.
    free: ArrayQueue<Vec<u8>>,
    /// The bytes of the lines, and of those for which there is memory already.
    bytes: AtomicUsize,
    /// Lines that the log's thread has taken out and not yet written.
    held: AtomicUsize,
    /// Lines dropped so far.
    dropped: AtomicU64,
    ending: AtomicBool,
    /// Whether the log's thread sleeps until it is woken.
    asleep: AtomicBool,
    /// The log's thread.
    thread: OnceLock<Thread>,
}

impl Queue {
    pub(super) fn new(most_lines: usize) -> Self {
        let free = ArrayQueue::new(most_lines);
        while free.push(Vec::with_capacity(LINE)).is_ok() {}
        Self {
            files: Mutex::default(),
            lines: ArrayQueue::new(most_lines),
            free,
            bytes: AtomicUsize::new(0),
            held: AtomicUsize::new(0),
            dropped: AtomicU64::new(0),
            ending: AtomicBool::new(false),
            asleep: AtomicBool::new(false),
            thread: OnceLock::new(),
        }
    }

    /// Returns the number of the file with this name. A worker asks once for each of its sessions.
    pub(super) fn file(&self, name: &str) -> usize {
        let mut files = self.files();
        if let Some(number) = files.numbers.get(name) {
            return *number;
        }
        let (name, number): (Arc<str>, _) = (name.into(), files.names.len());
        files.names.push(Arc::clone(&name));
        files.numbers.insert(name, number);
        number
    }

    /// Returns the name of a file.
    pub(super) fn name(&self, file: usize) -> Arc<str> {
        Arc::clone(&self.files().names[file])
    }

    fn files(&self) -> MutexGuard<'_, Files> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that the calling thread is the log's.
    pub(super) fn is_emptied_here(&self) {
        let _ = self.thread.set(std::thread::current());
    }

    /// Sleeps until there is a line, or the log ends. A worker then makes a system call for its
    /// line, so this is for a queue that has been empty for long. Returns `false` at once if a line
    /// is on its way.
    pub(super) fn sleep(&self) -> bool {
        self.asleep.store(true, Ordering::SeqCst);
        // Either this sees the bytes that `memory` has counted, or `wake_sleeping` sees that the
        // thread sleeps.
        let may_sleep = self.bytes.load(Ordering::SeqCst) == 0 && !self.ends();
        if may_sleep {
            std::thread::park();
        }
        self.asleep.store(false, Ordering::Relaxed);
        may_sleep
    }

    /// Returns memory for a line with this many bytes, which is to be [added](Self::add); `None` if
    /// as much waits as may: the line is dropped.
    pub(super) fn memory(&self, length: usize) -> Option<Vec<u8>> {
        let fits = self.bytes.fetch_add(length, Ordering::SeqCst) + length <= MOST_BYTES;
        if fits && let Some(memory) = self.free.pop() {
            return Some(memory);
        }
        self.bytes.fetch_sub(length, Ordering::Relaxed);
        self.drop_lines(1);
        // For a line that is too long for an empty queue.
        self.wake_sleeping();
        None
    }

    /// Takes back the memory of a line.
    pub(super) fn free(&self, mut text: Vec<u8>) {
        if text.capacity() > LONGEST_KEPT {
            text = Vec::with_capacity(LINE);
        }
        text.clear();
        // There is a place for each line of the queue.
        let _ = self.free.push(text);
    }

    /// Adds a line in the memory that there was for it; never waits.
    pub(super) fn add(&self, line: Line) {
        // There is memory for no more lines than have a place.
        let _ = self.lines.push(line);
        self.wake_sleeping();
    }

    fn wake_sleeping(&self) {
        if self.asleep.load(Ordering::SeqCst) && self.asleep.swap(false, Ordering::Relaxed) {
            self.wake();
        }
    }

    /// Returns whether the log's thread sleeps until it is woken.
    #[cfg(test)]
    pub(super) fn is_asleep(&self) -> bool {
        self.asleep.load(Ordering::Relaxed)
    }

    #[cold]
    fn wake(&self) {
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }

    /// Returns the next line.
    pub(super) fn next(&self) -> Option<Line> {
        let line = self.lines.pop()?;
        self.bytes.fetch_sub(line.bytes.len(), Ordering::Relaxed);
        Some(line)
    }

    /// Records how many lines the log's thread has taken out and not yet written.
    pub(super) fn hold(&self, lines: usize) {
        self.held.store(lines, Ordering::Relaxed);
    }

    /// Returns how many lines are not yet written.
    pub(super) fn unwritten(&self) -> usize {
        self.lines.len() + self.held.load(Ordering::Relaxed)
    }

    /// Returns how many lines the log's thread has taken out and not yet written.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// Counts lines that are not written.
    pub(super) fn drop_lines(&self, count: u64) {
        self.dropped.fetch_add(count, Ordering::Relaxed);
    }

    /// Returns the number of lines that were dropped.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Has the thread end once nothing is left.
    pub(super) fn end(&self) {
        self.ending.store(true, Ordering::Release);
        self.wake();
    }

    pub(super) fn ends(&self) -> bool {
        self.ending.load(Ordering::Acquire)
    }
}
