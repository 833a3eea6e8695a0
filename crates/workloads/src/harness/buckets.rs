//! Counts of values in buckets that are as wide as three digits allow: those of HdrHistogram, so
//! that its plotters and ours show the same steps.
//!
//! Values below 2,048 have a bucket each. From there on 1,024 buckets halve the precision: those of
//! the values from 2,048 to 4,095 are 2 wide, those of the next power of two 4 wide, and so on.

/// How many values have a bucket each, twice what three digits need.
const EXACT: usize = 2_048;
/// The buckets of each power of two from there on.
const HALF: usize = EXACT / 2;

/// The buckets of the values up to a longest one.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Buckets {
    counts: Vec<u64>,
    total: u64,
}

/// A bucket that has values.
pub(super) struct Bucket {
    pub(super) least: u64,
    pub(super) most: u64,
    pub(super) count: u64,
}

impl Bucket {
    /// Returns the value that stands for those in the bucket.
    const fn middle(&self) -> u64 {
        self.least + (self.most - self.least).div_ceil(2)
    }
}

/// Returns the bucket of a value.
fn place(value: u64) -> usize {
    let doublings = value.max(EXACT as u64 - 1).ilog2() - (EXACT.ilog2() - 1);
    doublings as usize * HALF + (value >> doublings) as usize
}

/// Returns the least and the greatest value of a bucket.
const fn values(place: usize) -> (u64, u64) {
    let doublings = (place / HALF).saturating_sub(1);
    let least = ((place - doublings * HALF) as u64) << doublings;
    (least, least + (1 << doublings) - 1)
}

impl Buckets {
    /// Returns empty buckets for the values up to `longest`.
    pub(super) fn up_to(longest: u64) -> Self {
        Self { counts: vec![0; place(longest) + 1], total: 0 }
    }

    /// Adds a value `count` times. One that is longer than the longest counts as that.
    pub(super) fn add(&mut self, value: u64, count: u64) {
        let place = place(value).min(self.counts.len() - 1);
        self.counts[place] = self.counts[place].saturating_add(count);
        self.total = self.total.saturating_add(count);
    }

    /// Adds the values of others with the same longest one.
    pub(super) fn merge(&mut self, others: &Self) {
        for (count, more) in self.counts.iter_mut().zip(&others.counts) {
            *count = count.saturating_add(*more);
        }
        self.total = self.total.saturating_add(others.total);
    }

    /// Returns how many values were added.
    pub(super) const fn count(&self) -> u64 {
        self.total
    }

    /// Returns the buckets that have values, those of the least ones first.
    pub(super) fn iter(&self) -> impl Iterator<Item = Bucket> {
        self.counts.iter().enumerate().filter(|(_, count)| **count > 0).map(|(place, count)| {
            let (least, most) = values(place);
            Bucket { least, most, count: *count }
        })
    }

    /// Returns the greatest value of the bucket in which the `rank`th value is, counted from 1; 0
    /// if there are none.
    pub(super) fn at_rank(&self, rank: u64) -> u64 {
        let mut before = 0u64;
        let found = self.iter().find(|bucket| {
            before = before.saturating_add(bucket.count);
            before >= rank
        });
        found.map_or(0, |bucket| bucket.most)
    }

    /// Returns the mean; 0 if there are no values.
    #[expect(clippy::cast_precision_loss, reason = "values and counts are below 2^53")]
    pub(super) fn mean(&self) -> f64 {
        let part = |bucket: Bucket| bucket.middle() as f64 * bucket.count as f64 / self.total as f64;
        self.iter().map(part).sum()
    }
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;
    use proptest::prelude::*;

    use super::*;

    const LONGEST: u64 = 3_600_000_000_000;

    #[test]
    fn a_value_longer_than_the_longest_counts_as_that() {
        let mut buckets = Buckets::up_to(LONGEST);
        buckets.add(LONGEST, 1);
        let longest = buckets.at_rank(1);
        assert!((LONGEST..LONGEST + LONGEST / 1_000).contains(&longest), "{longest}");
        buckets.add(u64::MAX, 1);
        assert_eq!(buckets.at_rank(2), longest);
    }

    proptest! {
        #[test]
        fn everything_is_what_hdrhistogram_returns(
            values in prop::collection::vec((prop_oneof![1u64..5_000, 1u64..=LONGEST], 1u64..1_000), 0..200),
            split in 0usize..200,
            quantile in 0.0001f64..=1.0,
        ) {
            let mut theirs = Histogram::<u64>::new_with_bounds(1, LONGEST, 3).unwrap();
            let mut ours = [Buckets::up_to(LONGEST), Buckets::up_to(LONGEST)];
            for (n, (value, count)) in values.iter().enumerate() {
                theirs.record_n(*value, *count).unwrap();
                ours[usize::from(n < split)].add(*value, *count);
            }
            let [mut ours, others] = ours;
            ours.merge(&others);
            prop_assert_eq!(ours.count(), theirs.len());
            let recorded: Vec<_> =
                theirs.iter_recorded().map(|at| (at.value_iterated_to(), at.count_at_value())).collect();
            prop_assert_eq!(ours.iter().map(|at| (at.most, at.count)).collect::<Vec<_>>(), recorded);
            prop_assert_eq!(ours.iter().next().map_or(0, |at| at.least), theirs.min());
            prop_assert!((ours.mean() - theirs.mean()).abs() <= theirs.mean() * 1e-12);
            let rank = (quantile * theirs.len() as f64).ceil().max(1.0) as u64;
            prop_assert_eq!(ours.at_rank(rank), theirs.value_at_quantile(quantile));
        }
    }
}
