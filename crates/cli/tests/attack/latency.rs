//! How long another session's orders take, before and during an attack.

use std::time::{Duration, Instant};

use crate::peer::Peer;
use crate::share::leave_a_core;

/// The times of round trips, sorted.
#[derive(Clone, Default, Debug)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
    /// Sends one order each millisecond until the time is over.
    ///
    /// # Panics
    ///
    /// If one is not answered.
    pub(crate) fn measure(good: &mut Peer, until: Instant) -> Self {
        let mut times = Vec::new();
        while Instant::now() < until {
            times.push(good.round_trip(&format!("t{}", good.next)));
            std::thread::sleep(Duration::from_millis(1));
        }
        times.sort_unstable();
        Self(times)
    }

    /// Sends one order each millisecond for a slice of time, beside a thread that works until it is
    /// over.
    ///
    /// # Panics
    ///
    /// If an order is not answered.
    pub(crate) fn beside(good: &mut Peer, slice: Duration, work: impl FnOnce(Instant) + Send) -> Self {
        let until = Instant::now() + slice;
        std::thread::scope(|scope| {
            scope.spawn(move || {
                leave_a_core();
                work(until);
            });
            let measured = scope.spawn(move || {
                leave_a_core();
                Self::measure(good, until)
            });
            measured.join().expect("every order is answered")
        })
    }

    /// Returns the time that this share of the round trips stayed below, in thousandths.
    pub(crate) fn at(&self, thousandth: usize) -> Duration {
        let place = (self.0.len() * thousandth / 1000).min(self.0.len().saturating_sub(1));
        self.0.get(place).copied().unwrap_or_default()
    }
}

/// Medians of several slices' figures.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Typical {
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
}

impl Typical {
    /// Takes the median of each figure, since a machine that does other work spoils single slices.
    pub(crate) fn of(slices: &[Times]) -> Self {
        let median = |thousandth| {
            let mut figures: Vec<_> = slices.iter().map(|times| times.at(thousandth)).collect();
            figures.sort_unstable();
            figures.get(figures.len() / 2).copied().unwrap_or_default()
        };
        Self { p50: median(500), p99: median(990) }
    }
}

/// Returns how many times as long the 99th percentile was during the attack as in the slice just
/// before it: the median over all pairs, since what else the machine does changes slowly.
pub(crate) fn ratio(before: &[Times], during: &[Times]) -> f64 {
    let mut ratios: Vec<_> = before
        .iter()
        .zip(during)
        .map(|(before, during)| during.at(990).as_secs_f64() / before.at(990).as_secs_f64())
        .collect();
    ratios.sort_unstable_by(f64::total_cmp);
    ratios.get(ratios.len() / 2).copied().unwrap_or(f64::INFINITY)
}

#[test]
fn the_median_of_slices_ignores_one_that_was_disturbed() {
    let slice = |millis: u64| Times((1..=100).map(|n| Duration::from_millis(n * millis)).collect());
    let typical = Typical::of(&[slice(1), slice(1000), slice(1)]);
    assert_eq!((typical.p50.as_millis(), typical.p99.as_millis()), (51, 100));
    assert_eq!(Typical::of(&[]).p99, Duration::ZERO);
    let (before, during) = ([slice(1), slice(2), slice(10)], [slice(2), slice(6), slice(20)]);
    assert!((ratio(&before, &during) - 2.0).abs() < 1e-9);
    assert!(ratio(&[], &[]).is_infinite());
}
