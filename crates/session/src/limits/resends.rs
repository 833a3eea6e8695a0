//! How often messages have been sent again lately.

use core::ops::RangeInclusive;
use core::time::Duration;

use fixbolt_codec::SeqNum;

use crate::store::Generation;
use crate::values::time::Mono;

/// The most ranges that are counted apart.
const RUNS: usize = 16;

/// Counts of messages that were sent again within a period.
///
/// Its size is bounded whatever is requested: neighbors with the same count are one run, and of too
/// many runs the two oldest become one, with the higher count.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Resends {
    most: u32,
    period: Duration,
    /// When the period began.
    began: Mono,
    /// The generation of the sequence numbers.
    generation: Generation,
    /// In the order of their sequence numbers.
    runs: Vec<Run>,
}

/// Neighbors that were sent again equally often.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Run {
    begin: SeqNum,
    end: SeqNum,
    count: u32,
}

impl Resends {
    /// Creates the counts for a limit of this many times in a period.
    pub(crate) fn new(most: u32, period: Duration) -> Box<Self> {
        let runs = Vec::with_capacity(RUNS + 2);
        Box::new(Self { most: most.max(1), period, began: Mono(0), generation: Generation::default(), runs })
    }

    pub(crate) fn most(&self) -> u32 {
        self.most
    }

    /// Returns the first of these messages that were sent again as often as that is done, and how
    /// long they are not.
    pub(crate) fn used_up(
        &self,
        generation: Generation,
        within: RangeInclusive<SeqNum>,
        now: Mono,
    ) -> Option<(RangeInclusive<SeqNum>, Duration)> {
        let (first, last) = within.into_inner();
        if self.generation != generation || now >= self.ends() {
            return None;
        }
        let mut runs = self.runs.iter().filter(|run| run.end >= first && run.begin <= last);
        let run = runs.find(|run| run.count >= self.most)?;
        Some((run.begin.max(first)..=run.end.min(last), self.ends() - now))
    }

    /// Counts messages that were sent again once more.
    pub(crate) fn count(&mut self, generation: Generation, sent: RangeInclusive<SeqNum>, now: Mono) {
        if self.generation != generation || self.runs.is_empty() || now >= self.ends() {
            (self.generation, self.began) = (generation, now);
            self.runs.clear();
        }
        let (mut next, last) = sent.into_inner();
        while next <= last {
            next = self.count_from(next, last);
        }
    }

    fn ends(&self) -> Mono {
        self.began + self.period
    }

    /// Counts as many messages from `first` on as were sent equally often. Returns the next one.
    fn count_from(&mut self, first: SeqNum, last: SeqNum) -> SeqNum {
        let at = self.runs.partition_point(|run| run.end < first);
        let found = self.runs.get(at).copied();
        let last = match found {
            Some(run) if run.begin <= first => last.min(run.end),
            Some(run) => last.min(run.begin.previous()),
            None => last,
        };
        let Some(run) = found.filter(|run| run.begin <= first) else {
            self.runs.insert(at, Run { begin: first, end: last, count: 1 });
            self.join(at);
            return last.next();
        };
        // What is around it keeps its count.
        let counted = Run { begin: first, end: last, count: (run.count + 1).min(self.most) };
        self.runs[at] = counted;
        if last < run.end {
            self.runs.insert(at + 1, Run { begin: last.next(), ..run });
        }
        if run.begin < first {
            self.runs.insert(at, Run { end: first.previous(), ..run });
        }
        self.join(at + usize::from(run.begin < first));
        last.next()
    }

    /// Makes one run of neighbors with the same count, and of the oldest ones if there are too
    /// many. The run at `at` has just been counted.
    fn join(&mut self, at: usize) {
        for at in [at, at.wrapping_sub(1)] {
            if let Some([run, next]) = self.runs.get(at..).and_then(|runs| runs.first_chunk()).copied()
                && run.count == next.count
                && run.end.next() == next.begin
            {
                self.runs[at].end = next.end;
                self.runs.remove(at + 1);
            }
        }
        while self.runs.len() > RUNS {
            let next = self.runs.remove(1);
            let oldest = &mut self.runs[0];
            (oldest.end, oldest.count) = (next.end, oldest.count.max(next.count));
        }
    }
}

impl Resends {
    /// Checks what holds between two calls.
    ///
    /// # Panics
    /// Panics if it does not hold.
    pub(crate) fn check(&self) {
        let Self { most, runs, .. } = self;
        assert!(runs.len() <= RUNS, "{} ranges of messages sent again are counted apart", runs.len());
        for run in runs {
            let Run { begin, end, count } = *run;
            assert!(begin <= end, "messages {begin} to {end} were sent again");
            assert!((1..=*most).contains(&count), "message {begin} was sent again {count} times of {most}");
        }
        for pair in runs.windows(2) {
            let (before, after) = (pair[0], pair[1]);
            assert!(before.end < after.begin, "message {} is counted twice", after.begin);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::said;

    const GENERATION: Generation = Generation(3);
    const PERIOD: Duration = Duration::from_secs(60);

    const fn at(seconds: u64) -> Mono {
        Mono(1_000_000_000_000 + seconds * 1_000_000_000)
    }

    fn range(begin: u64, end: u64) -> RangeInclusive<SeqNum> {
        SeqNum(begin)..=SeqNum(end)
    }

    fn counted(most: u32, ranges: &[(u64, u64)]) -> Box<Resends> {
        let mut resends = Resends::new(most, PERIOD);
        for (begin, end) in ranges {
            resends.count(GENERATION, range(*begin, *end), at(0));
            resends.check();
        }
        resends
    }

    fn runs(resends: &Resends) -> Vec<(u64, u64, u32)> {
        resends.runs.iter().map(|run| (run.begin.0, run.end.0, run.count)).collect()
    }

    #[test]
    fn each_message_has_its_own_count_up_to_the_limit() {
        for (ranges, expected) in [
            (&[(1, 9)][..], &[(1, 9, 1)][..]),
            (&[(1, 9), (10, 12)], &[(1, 12, 1)]),
            (&[(1, 9), (11, 12)], &[(1, 9, 1), (11, 12, 1)]),
            (&[(1, 9), (11, 12), (10, 10)], &[(1, 12, 1)]),
            (&[(1, 9), (1, 12)], &[(1, 9, 2), (10, 12, 1)]),
            (&[(5, 9), (1, 12)], &[(1, 4, 1), (5, 9, 2), (10, 12, 1)]),
            (&[(1, 9), (4, 6)], &[(1, 3, 1), (4, 6, 2), (7, 9, 1)]),
            (&[(1, 9), (4, 6), (1, 3), (7, 9)], &[(1, 9, 2)]),
            (&[(1, 9), (1, 9), (1, 9), (1, 9), (1, 9)], &[(1, 9, 3)]),
        ] {
            assert_eq!(runs(&counted(3, ranges)), expected, "{ranges:?}");
        }
    }

    #[test]
    fn one_by_one_is_the_same_as_all_at_once() {
        let mut resends = Resends::new(4, PERIOD);
        let mut counts = [0; 101];
        for (begin, end) in [(1, 50), (20, 70), (40, 45), (1, 100), (99, 100), (1, 10), (5, 5), (1, 100)] {
            for n in begin..=end {
                resends.count(GENERATION, range(n, n), at(0));
                counts[n as usize] = (counts[n as usize] + 1).min(4);
            }
            resends.check();
            for n in 1..=100 {
                let is_used_up = resends.used_up(GENERATION, range(n, n), at(0)).is_some();
                assert_eq!(is_used_up, counts[n as usize] == 4, "{n} after {begin} to {end}");
            }
        }
    }

    #[test]
    fn what_is_used_up_is_so_until_the_period_ends_or_the_numbers_are_reset() {
        let resends = counted(2, &[(1, 9), (4, 6)]);
        let of = |within, now| resends.used_up(GENERATION, within, now);
        assert_eq!(of(range(1, 9), at(20)), Some((range(4, 6), Duration::from_secs(40))));
        assert_eq!(of(range(5, 5), at(59)), Some((range(5, 5), Duration::from_secs(1))));
        assert_eq!((of(range(1, 3), at(20)), of(range(7, 9), at(20))), (None, None));
        assert_eq!(of(range(1, 9), at(60)), None);
        assert_eq!(resends.used_up(Generation(4), range(1, 9), at(20)), None);
        let mut later = resends.clone();
        later.count(GENERATION, range(4, 4), at(60));
        assert_eq!(runs(&later), [(4, 4, 1)]);
        let mut reset = resends;
        reset.count(Generation(4), range(4, 4), at(20));
        assert_eq!((runs(&reset), reset.began), (vec![(4, 4, 1)], at(20)));
    }

    #[test]
    fn however_many_ranges_are_requested_the_newest_are_counted_apart() {
        let mut resends = Resends::new(3, PERIOD);
        for n in 0..1000 {
            resends.count(GENERATION, range(10 * n + 1, 10 * n + 2), at(0));
            resends.check();
        }
        resends.count(GENERATION, range(u64::MAX - 1, u64::MAX - 1), at(0));
        resends.check();
        assert_eq!(resends.runs.len(), RUNS);
        assert_eq!(runs(&resends)[14], (9991, 9992, 1));
        assert_eq!(runs(&resends)[0].0, 1);
        assert!(resends.runs.capacity() <= RUNS + 2, "it does not grow");
    }

    #[test]
    fn each_condition_is_seen_to_fail() {
        type Damage = (fn(&mut Resends), &'static str);
        const DAMAGES: [Damage; 4] = [
            (|it| it.runs = vec![it.runs[0]; RUNS + 1], "17 ranges of messages sent again are counted apart"),
            (|it| it.runs[1].end = SeqNum(1), "messages 4 to 1 were sent again"),
            (|it| it.runs[1].count = 3, "message 4 was sent again 3 times of 2"),
            (|it| it.runs[0].end = SeqNum(4), "message 4 is counted twice"),
        ];
        for (damage, says) in DAMAGES {
            let mut resends = counted(2, &[(1, 9), (4, 6)]);
            damage(&mut resends);
            let said = said(|| resends.check());
            assert!(said.contains(says), "{said}, not {says}");
        }
    }
}
