//! The samples of a measurement: when each piece was due, began and ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The value of a time that has not been recorded. No clock gets there.
const NONE: u64 = u64::MAX;

/// Records when pieces end, from any thread: a store to memory that was touched before. Pieces are
/// numbered through warm-up and all runs.
///
/// All times are the harness's clock's, in nanoseconds.
#[derive(Clone, Debug)]
pub struct Recorder(Arc<Samples>);

#[derive(Debug)]
struct Samples {
    intended: Box<[AtomicU64]>,
    started: Box<[AtomicU64]>,
    ended: Box<[AtomicU64]>,
    /// The times of each probe.
    probes: Vec<Box<[AtomicU64]>>,
    /// Pieces that ended more than once.
    duplicates: AtomicU64,
    /// Ends of pieces that never began.
    unknown: AtomicU64,
    /// The pieces below this number have begun or are about to.
    due: AtomicU64,
    /// The number that the next stamp is expected to have.
    expected: AtomicU64,
}

impl Recorder {
    /// Creates a recorder for this many pieces, all of whose memory is written now.
    pub(super) fn new(pieces: u64, probes: usize) -> Self {
        let times = || (0..pieces).map(|_| AtomicU64::new(NONE)).collect::<Box<[_]>>();
        Self(Arc::new(Samples {
            intended: times(),
            started: times(),
            ended: times(),
            probes: (0..probes).map(|_| times()).collect(),
            duplicates: AtomicU64::new(0),
            unknown: AtomicU64::new(0),
            due: AtomicU64::new(0),
            expected: AtomicU64::new(0),
        }))
    }

    /// Records that a piece ended at `at`. Only its first end counts; others are counted as
    /// duplicates.
    pub fn finish(&self, number: u64, at: u64) {
        match self.0.ended.get(number as usize) {
            Some(end) if number < self.0.due.load(Relaxed) => {
                if end.load(Relaxed) == NONE {
                    end.store(at, Relaxed);
                } else {
                    self.0.duplicates.fetch_add(1, Relaxed);
                }
            }
            _ => drop(self.0.unknown.fetch_add(1, Relaxed)),
        }
    }

    /// Records the end of the piece that was due at `intended`, for tests that send this time and
    /// get it back: [`Piece::intended`] is different for each piece.
    ///
    /// [`Piece::intended`]: super::Piece::intended
    pub fn finish_stamped(&self, intended: u64, at: u64) {
        match self.number_of(intended) {
            Some(number) => self.finish(number, at),
            None => drop(self.0.unknown.fetch_add(1, Relaxed)),
        }
    }

    /// Returns the number of the piece that was due at `intended`.
    #[must_use]
    pub fn number_of(&self, intended: u64) -> Option<u64> {
        let due = self.0.due.load(Relaxed);
        let at = |number: u64| self.0.intended.get(number as usize).map(|time| time.load(Relaxed));
        let expected = self.0.expected.load(Relaxed);
        let number = if expected < due && at(expected) == Some(intended) {
            expected
        } else {
            let times = self.0.intended.get(..due as usize)?;
            times.binary_search_by_key(&intended, |time| time.load(Relaxed)).ok()? as u64
        };
        self.0.expected.store(number + 1, Relaxed);
        Some(number)
    }

    /// Records that a piece passed a probe: `probe` is its place in [`Task::probes`]. The last time
    /// counts.
    ///
    /// [`Task::probes`]: super::Task::probes
    pub fn mark(&self, probe: usize, number: u64, at: u64) {
        if let Some(time) = self.0.probes.get(probe).and_then(|probe| probe.get(number as usize)) {
            time.store(at, Relaxed);
        }
    }

    /// Returns when a piece ended; `None` if it has not.
    #[must_use]
    pub fn ended(&self, number: u64) -> Option<u64> {
        known(self.0.ended.get(number as usize)?)
    }

    /// Returns when a piece was due, and when it began.
    pub(super) fn begun(&self, number: u64) -> Option<(u64, u64)> {
        let at = number as usize;
        Some((known(self.0.intended.get(at)?)?, known(self.0.started.get(at)?)?))
    }

    pub(super) fn marked(&self, probe: usize, number: u64) -> Option<u64> {
        known(self.0.probes.get(probe)?.get(number as usize)?)
    }

    /// Leaves out the pieces below `first` that have not begun, because their run was given up
    /// before `now`: the times when pieces were due stay in order, so that stamps are found.
    pub(super) fn skip_to(&self, first: u64, now: u64) {
        let due = self.0.due.load(Relaxed);
        for time in self.0.intended.get(due as usize..first as usize).into_iter().flatten() {
            time.store(now, Relaxed);
        }
    }

    pub(super) fn begin(&self, number: u64, intended: u64, started: u64) {
        self.0.intended[number as usize].store(intended, Relaxed);
        self.0.started[number as usize].store(started, Relaxed);
        self.0.due.store(number + 1, Relaxed);
    }

    pub(super) fn duplicates(&self) -> u64 {
        self.0.duplicates.load(Relaxed)
    }

    pub(super) fn unknown(&self) -> u64 {
        self.0.unknown.load(Relaxed)
    }
}

fn known(time: &AtomicU64) -> Option<u64> {
    Some(time.load(Relaxed)).filter(|&time| time != NONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_found_in_any_order_and_an_unknown_one_is_counted() {
        let recorder = Recorder::new(4, 0);
        for (number, intended) in [(0, 10), (1, 20), (2, 31)] {
            recorder.begin(number, intended, intended + 1);
        }
        for (stamp, at) in [(20, 25), (31, 33), (10, 40)] {
            recorder.finish_stamped(stamp, at);
        }
        assert_eq!([0, 1, 2, 3].map(|n| recorder.ended(n)), [Some(40), Some(25), Some(33), None]);
        recorder.finish_stamped(30, 50);
        // Not yet begun, and none at all.
        recorder.finish(3, 50);
        recorder.finish(4, 50);
        assert_eq!((recorder.unknown(), recorder.duplicates()), (3, 0));
    }

    #[test]
    fn stamps_are_found_after_a_run_that_was_given_up() {
        let recorder = Recorder::new(9, 0);
        recorder.begin(0, 10, 11);
        // Its run has six pieces more. The next one begins with number 7.
        recorder.skip_to(7, 90);
        recorder.begin(7, 100, 101);
        recorder.begin(8, 110, 111);
        for (stamp, at) in [(100, 105), (110, 115), (10, 120)] {
            recorder.finish_stamped(stamp, at);
        }
        assert_eq!([0, 7, 8].map(|n| recorder.ended(n)), [Some(120), Some(105), Some(115)]);
        assert_eq!((recorder.unknown(), recorder.begun(3)), (0, None));
    }

    #[test]
    fn the_first_end_of_a_piece_counts_and_others_are_duplicates() {
        let recorder = Recorder::new(1, 1);
        recorder.begin(0, 0, 5);
        recorder.finish(0, 7);
        recorder.finish(0, 9);
        recorder.mark(0, 0, 6);
        recorder.mark(1, 0, 6);
        recorder.mark(0, 1, 6);
        assert_eq!((recorder.ended(0), recorder.duplicates(), recorder.marked(0, 0)), (Some(7), 1, Some(6)));
    }
}
