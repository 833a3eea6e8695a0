//! How many lines of one kind a session or an address may cause in a second.
//!
//! A limiter belongs to one thread and has no clock. What it remembers is bounded, since strangers
//! choose the addresses and identities that lines are about.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The lines of one kind that a session or an address may cause in a [`PERIOD`].
pub(super) const MOST_LINES: u32 = 10;
/// The time for which lines are counted.
pub(super) const PERIOD: Duration = Duration::from_secs(1);

/// Decides which lines are written, by a key for what a line is about and its kind.
#[derive(Debug)]
pub(super) struct Limiter {
    /// The most keys that are told apart in a [`PERIOD`].
    most_keys: usize,
    keys: HashMap<u64, Count>,
    /// The lines for whose keys there was no room.
    others: Option<Count>,
    /// When expired keys were last removed to make room.
    cleared: Option<Instant>,
}

/// What becomes of a line.
#[derive(Debug)]
pub(super) enum Verdict {
    /// It is written.
    Write,
    /// It is the first one of its key that is only counted: the counter is to be read after a
    /// [`PERIOD`].
    Begin(Arc<AtomicU64>),
    /// It is the first one that is only counted, of all the keys that are not told apart: the
    /// counter is to be read after a [`PERIOD`].
    BeginOthers(Arc<AtomicU64>),
    /// It was counted.
    Counted,
}

/// The lines of one key.
#[derive(Debug)]
struct Count {
    since: Instant,
    written: u32,
    /// The number of lines that were not written, once there is one.
    more: Option<Arc<AtomicU64>>,
}

impl Limiter {
    /// Creates a limiter that tells this many keys apart.
    pub(super) fn new(most_keys: usize) -> Self {
        Self { most_keys, keys: HashMap::new(), others: None, cleared: None }
    }

    /// Decides about a line at the time `now`, which never goes back.
    pub(super) fn admit(&mut self, now: Instant, key: u64) -> Verdict {
        if let Some(count) = self.keys.get_mut(&key) {
            return count.admit(now, Verdict::Begin);
        }
        if self.keys.len() >= self.most_keys && self.cleared.is_none_or(|at| now - at >= PERIOD) {
            self.keys.retain(|_, count| now - count.since < PERIOD);
            self.cleared = Some(now);
        }
        if self.keys.len() >= self.most_keys {
            return self.others.get_or_insert(Count::new(now)).admit(now, Verdict::BeginOthers);
        }
        self.keys.entry(key).or_insert(Count::new(now)).admit(now, Verdict::Begin)
    }
}

impl Count {
    const fn new(now: Instant) -> Self {
        Self { since: now, written: 0, more: None }
    }

    fn admit(&mut self, now: Instant, begin: fn(Arc<AtomicU64>) -> Verdict) -> Verdict {
        if now - self.since >= PERIOD {
            *self = Self::new(now);
        }
        if self.written < MOST_LINES {
            self.written += 1;
            return Verdict::Write;
        }
        match &self.more {
            Some(more) => {
                more.fetch_add(1, Ordering::Relaxed);
                Verdict::Counted
            }
            None => {
                let more = Arc::new(AtomicU64::new(1));
                self.more = Some(Arc::clone(&more));
                begin(more)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how many of `lines` lines are written, and the counter of the others.
    fn offer(limiter: &mut Limiter, now: Instant, key: u64, lines: u64) -> (u64, Option<Arc<AtomicU64>>) {
        let (mut written, mut more) = (0, None);
        for _ in 0..lines {
            match limiter.admit(now, key) {
                Verdict::Write => written += 1,
                Verdict::Begin(counter) | Verdict::BeginOthers(counter) => {
                    assert!(more.replace(counter).is_none(), "the counter is passed on once");
                }
                Verdict::Counted => {}
            }
        }
        (written, more)
    }

    #[test]
    fn ten_lines_of_a_key_are_written_in_a_second_and_the_others_are_counted() {
        let (mut limiter, begin) = (Limiter::new(100), Instant::now());
        let (written, more) = offer(&mut limiter, begin, 1, 1_000);
        assert_eq!((written, more.unwrap().load(Ordering::Relaxed)), (10, 990));
        assert_eq!(offer(&mut limiter, begin, 2, 3).0, 3, "another key has lines of its own");
        let (written, more) = offer(&mut limiter, begin + PERIOD, 1, 12);
        assert_eq!((written, more.unwrap().load(Ordering::Relaxed)), (10, 2));
    }

    #[test]
    fn a_stranger_who_changes_its_address_takes_bounded_memory_and_causes_a_bounded_number_of_lines() {
        let (mut limiter, begin) = (Limiter::new(100), Instant::now());
        assert_eq!(offer(&mut limiter, begin, 0, 1).0, 1);
        let mut written = 0;
        let mut more = Vec::new();
        for key in 1..100_000 {
            let (lines, counter) = offer(&mut limiter, begin, key, 1);
            written += lines;
            more.extend(counter);
        }
        assert_eq!(limiter.keys.len(), 100);
        assert_eq!(written, 100 - 1 + u64::from(MOST_LINES));
        assert_eq!((more.len(), more[0].load(Ordering::Relaxed)), (1, 99_999 - written));
        assert_eq!(offer(&mut limiter, begin, 0, 1).0, 1, "a key that was known keeps its lines");
        let later = begin + PERIOD;
        assert_eq!(offer(&mut limiter, later, 100_000, 20).0, 10, "there is room again");
        assert_eq!(limiter.keys.len(), 1);
    }
}
