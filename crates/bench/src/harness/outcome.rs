//! What a run measured.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::latencies::Latencies;
use super::usage::Usage;

/// A run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Run {
    /// From when each piece was due until it ended. Empty in a closed loop.
    pub response: Latencies,
    /// From when each piece really began until it ended.
    pub service: Latencies,
    /// From when each piece was due until it began: what the generator added. Empty in a closed
    /// loop.
    pub delay: Latencies,
    /// From when each piece was due (in a closed loop: began) until it passed each probe.
    pub probes: Vec<(String, Latencies)>,
    /// The rate that was asked for, per second, as the schedule has it; `None` in a closed loop.
    pub target_rate: Option<f64>,
    /// The rate at which pieces began.
    pub offered_rate: Option<f64>,
    /// The rate at which pieces ended.
    pub achieved_rate: Option<f64>,
    /// Pieces that had not ended when the run's time was over.
    pub lost: u64,
    /// Those of them that ended before the measurement did. They are in no percentile.
    pub late: u64,
    /// Ends of pieces that had ended before, or that had never begun.
    pub stray: u64,
    /// Why the figures must not be used, if so.
    pub invalid: Option<Invalid>,
    /// The response times (in a closed loop: service times) in the order of the pieces, summarized
    /// in at most 200 windows.
    pub windows: Vec<Window>,
    /// What the process used.
    pub usage: Usage,
}

impl Run {
    /// Returns the response times, or in a closed loop, which has none, the service times.
    #[must_use]
    pub fn latencies(&self) -> &Latencies {
        if self.target_rate.is_some() { &self.response } else { &self.service }
    }
}

/// Consecutive pieces of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Window {
    /// When the first one was due, in nanoseconds after the beginning of the run.
    pub begin: u64,
    /// How many ended.
    pub count: u64,
    /// The median of their times, in nanoseconds.
    pub median: u64,
    /// The longest one.
    pub max: u64,
}

/// Why the figures of a run must not be used.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Invalid {
    /// The measurement was interrupted during the run.
    Interrupted,
    /// Pieces were lost: their times are missing in the percentiles.
    Lost(u64),
    /// The generator began pieces too slowly: offered and target rate.
    SlowGenerator(f64, f64),
    /// Pieces began in time and ended too slowly: achieved and target rate.
    SlowSystem(f64, f64),
    /// The run took far longer than its schedule and was given up.
    TimedOut,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupted => f.write_str("the run was interrupted"),
            Self::Lost(lost) => write!(f, "{lost} samples were lost"),
            Self::SlowGenerator(offered, target) => {
                write!(f, "only {offered:.0} of {target:.0} pieces per second were begun")
            }
            Self::SlowSystem(achieved, target) => {
                write!(f, "only {achieved:.0} of {target:.0} pieces per second were completed")
            }
            Self::TimedOut => f.write_str("the run took far longer than its schedule"),
        }
    }
}
