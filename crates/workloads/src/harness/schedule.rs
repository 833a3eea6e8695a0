//! When each piece of work is due.

use std::str::FromStr;

use crate::random::Random;

/// How the pieces of an open loop arrive.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Arrivals {
    /// At equal distances.
    Fixed,
    /// Independently of each other: the distances are exponentially distributed. The seed decides
    /// them.
    Poisson {
        /// The seed of the distances.
        seed: u64,
    },
    /// Several at once (1 ns apart), at equal distances.
    Burst {
        /// The number of pieces that arrive at once.
        size: u32,
    },
}

/// Reads `fixed`, `poisson:SEED` (`poisson` alone is seed 1) or `burst:SIZE`.
impl FromStr for Arrivals {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is none of fixed, poisson, poisson:SEED, burst:SIZE");
        match text.split_once(':').unwrap_or((text, "")) {
            ("fixed", "") => Ok(Self::Fixed),
            ("poisson", "") => Ok(Self::Poisson { seed: 1 }),
            ("poisson", seed) => seed.parse().map(|seed| Self::Poisson { seed }).map_err(|_| wrong()),
            ("burst", size) => match size.parse() {
                Ok(size) if size > 0 => Ok(Self::Burst { size }),
                _ => Err(wrong()),
            },
            _ => Err(wrong()),
        }
    }
}

/// The times at which the pieces of one run are due, in nanoseconds after its beginning. They are
/// strictly increasing and known before the run begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schedule(Vec<u64>);

impl Schedule {
    /// Creates the times of `pieces` pieces, `rate` per second on average.
    ///
    /// # Panics
    /// Panics if `rate` is not above 0.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "2^53 pieces would not fit into memory")]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "times are below 2^53 ns")]
    pub fn new(arrivals: Arrivals, rate: f64, pieces: u64) -> Self {
        assert!(rate > 0.0, "the rate must be above 0");
        let interval = 1e9 / rate;
        let mut random = Random::new(if let Arrivals::Poisson { seed } = arrivals { seed } else { 0 });
        let (mut times, mut exact, mut before) = (Vec::with_capacity(pieces as usize), 0.0f64, None);
        for n in 0..pieces {
            match arrivals {
                // Each from the beginning: no rounding adds up.
                Arrivals::Fixed => exact = n as f64 * interval,
                Arrivals::Poisson { .. } => {
                    // In (0, 1], so that its logarithm is finite.
                    let uniform = ((random.next() >> 11) + 1) as f64 / (1u64 << 53) as f64;
                    exact -= uniform.ln() * interval;
                }
                Arrivals::Burst { size } => {
                    let size = u64::from(size.max(1));
                    exact = (n / size * size) as f64 * interval;
                }
            }
            let time = before.map_or(exact as u64, |before: u64| (exact as u64).max(before + 1));
            before = Some(time);
            times.push(time);
        }
        Self(times)
    }

    /// Returns the times.
    #[must_use]
    pub fn times(&self) -> &[u64] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_arrivals_have_equal_distances_whose_rounding_does_not_add_up() {
        let schedule = Schedule::new(Arrivals::Fixed, 3.0, 3_000_001);
        assert_eq!(schedule.times()[..4], [0, 333_333_333, 666_666_666, 1_000_000_000]);
        assert_eq!(schedule.times()[3_000_000], 1_000_000 * 1_000_000_000);
    }

    #[test]
    fn poisson_arrivals_have_the_rate_and_spread_of_their_distribution_and_repeat_with_their_seed() {
        let schedule = Schedule::new(Arrivals::Poisson { seed: 7 }, 1_000.0, 200_000);
        assert_eq!(schedule, Schedule::new(Arrivals::Poisson { seed: 7 }, 1_000.0, 200_000));
        assert_ne!(schedule, Schedule::new(Arrivals::Poisson { seed: 8 }, 1_000.0, 200_000));
        let gaps: Vec<f64> = schedule.times().windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        // An exponential distribution has a standard deviation of its mean.
        assert!((mean / 1e6 - 1.0).abs() < 0.01 && (variance.sqrt() / mean - 1.0).abs() < 0.02);
    }

    #[test]
    fn bursts_arrive_together_and_keep_the_rate() {
        let schedule = Schedule::new(Arrivals::Burst { size: 4 }, 1_000.0, 9);
        let burst = 4_000_000;
        let expected = [0, 1, 2, 3, burst, burst + 1, burst + 2, burst + 3, 2 * burst];
        assert_eq!(schedule.times(), expected);
    }

    #[test]
    fn arrivals_are_read_from_text() {
        let read = |text: &str| text.parse::<Arrivals>();
        assert_eq!(read("fixed"), Ok(Arrivals::Fixed));
        assert_eq!(read("poisson"), Ok(Arrivals::Poisson { seed: 1 }));
        assert_eq!(read("poisson:42"), Ok(Arrivals::Poisson { seed: 42 }));
        assert_eq!(read("burst:8"), Ok(Arrivals::Burst { size: 8 }));
        for wrong in ["", "fixed:1", "burst", "burst:0", "poisson:x", "even"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_strictly_increase_even_above_one_piece_per_nanosecond() {
        for arrivals in [Arrivals::Fixed, Arrivals::Poisson { seed: 1 }, Arrivals::Burst { size: 3 }] {
            let schedule = Schedule::new(arrivals, 5e9, 1_000);
            assert!(schedule.times().windows(2).all(|pair| pair[0] < pair[1]), "{arrivals:?}");
        }
    }
}
