//! What a measurement consists of.

use std::time::Duration;

use super::schedule::Arrivals;

/// The share of its target that a run must achieve to be valid.
pub const LEAST_RATE: f64 = 0.99;

/// Whether pieces wait for each other.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Mode {
    /// Each piece begins when it is due, whether or not the one before has ended.
    Open {
        /// How they arrive.
        arrivals: Arrivals,
        /// How many per second, on average.
        rate: f64,
    },
    /// Each piece begins when the one before has ended. Stalls delay what they would have hit: such
    /// figures say nothing about a load that does not wait.
    Closed,
}

/// How the thread that begins pieces waits for the next one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waiting {
    /// It sleeps while the next piece is more than 100 us away, then polls the clock: for machines
    /// where the system under test needs the core.
    Sleep,
    /// It polls the clock.
    Spin,
}

/// A measurement: a warm-up, paced like the runs, then the runs.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// Whether pieces wait for each other.
    pub mode: Mode,
    /// The number of pieces that are not measured.
    pub warm_up: u64,
    /// The number of pieces of each run.
    pub iterations: u64,
    /// The number of runs.
    pub runs: usize,
    /// How to wait for the next piece.
    pub waiting: Waiting,
    /// How long to wait for the last pieces of a run, and in a closed loop for each piece. What has
    /// not ended then is lost, and late if it ends before the measurement does.
    pub timeout: Duration,
}

impl Plan {
    /// Creates an open loop of `rate` pieces per second: one run of 10,000 pieces, no warm-up.
    ///
    /// # Panics
    /// Panics if `rate` is not above 0.
    #[must_use]
    pub fn open(arrivals: Arrivals, rate: f64) -> Self {
        assert!(rate > 0.0, "the rate must be above 0");
        Self::new(Mode::Open { arrivals, rate })
    }

    /// Creates a closed loop: one run of 10,000 pieces, no warm-up.
    #[must_use]
    pub const fn closed() -> Self {
        Self::new(Mode::Closed)
    }

    const fn new(mode: Mode) -> Self {
        let timeout = Duration::from_secs(5);
        Self { mode, warm_up: 0, iterations: 10_000, runs: 1, waiting: Waiting::Sleep, timeout }
    }

    /// Sets the number of pieces that are not measured.
    #[must_use]
    pub const fn warm_up(mut self, pieces: u64) -> Self {
        self.warm_up = pieces;
        self
    }

    /// Sets the number of pieces of each run.
    #[must_use]
    pub const fn iterations(mut self, pieces: u64) -> Self {
        self.iterations = pieces;
        self
    }

    /// Sets the number of runs.
    #[must_use]
    pub const fn runs(mut self, runs: usize) -> Self {
        self.runs = runs;
        self
    }

    /// Sets how the thread that begins pieces waits.
    #[must_use]
    pub const fn waiting(mut self, waiting: Waiting) -> Self {
        self.waiting = waiting;
        self
    }

    /// Sets how long to wait for pieces that do not end.
    #[must_use]
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }
}
