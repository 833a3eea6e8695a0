//! What a run measured.

use std::fmt;

use super::latencies::Latencies;
use super::plan::LEAST_RATE;
use super::usage::Usage;

/// The most windows that a run is summarized in.
const WINDOWS: usize = 200;

/// The times of a piece, in nanoseconds of one clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Times {
    /// When it was due.
    pub intended: u64,
    /// When it began.
    pub started: u64,
    /// When it ended; `None` if it has not.
    pub ended: Option<u64>,
}

/// A run.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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
    /// Lost pieces that ended before the measurement did. They are in no percentile.
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
    /// Creates the run of an open loop from the times of its pieces, which may have been measured
    /// elsewhere. What only a harness knows is left empty: probes, strays, usage.
    #[must_use]
    pub fn open(times: &[Times]) -> Self {
        let mut run = Self::closed(times);
        let begin = times.first().map_or(0, |first| first.intended);
        for it in times {
            run.delay.add_ns(it.started.saturating_sub(it.intended));
            if let Some(ended) = it.ended {
                run.response.add_ns(ended.saturating_sub(it.intended));
            }
        }
        let last = |time: fn(&Times) -> u64| times.last().map_or(begin, time).saturating_sub(begin);
        run.target_rate = per_second(times.len() as u64, last(|it| it.intended));
        run.offered_rate = per_second(times.len() as u64, last(|it| it.started));
        run.invalid = run.invalid.take().or_else(|| too_slow(&run));
        run
    }

    /// Creates the run of a closed loop from the times of its pieces, which may have been measured
    /// elsewhere. What only a harness knows is left empty: probes, strays, usage.
    #[must_use]
    pub fn closed(times: &[Times]) -> Self {
        let begin = times.first().map_or(0, |first| first.intended);
        let [response, mut service, delay] = [(); 3].map(|()| Latencies::default());
        let mut last_end = begin;
        for Times { started, ended, .. } in times {
            if let Some(ended) = *ended {
                service.add_ns(ended.saturating_sub(*started));
                last_end = last_end.max(ended);
            }
        }
        let lost = times.len() as u64 - service.count();
        Self {
            response,
            target_rate: None,
            offered_rate: None,
            achieved_rate: per_second(service.count(), last_end - begin),
            service,
            delay,
            probes: Vec::new(),
            lost,
            late: 0,
            stray: 0,
            invalid: (lost > 0).then_some(Invalid::Lost(lost)),
            windows: windows(times, begin),
            usage: Usage::default(),
        }
    }

    /// Returns the response times, or in a closed loop, which has none, the service times.
    #[must_use]
    pub fn latencies(&self) -> &Latencies {
        // A run that was interrupted after its first piece has no rate.
        if self.target_rate.is_some() || self.response.count() > 0 { &self.response } else { &self.service }
    }
}

/// Consecutive pieces of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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

fn windows(times: &[Times], begin: u64) -> Vec<Window> {
    let window = |part: &[Times]| {
        let ended = part.iter().filter_map(|it| Some(it.ended?.saturating_sub(it.intended)));
        let mut times: Vec<u64> = ended.collect();
        times.sort_unstable();
        Some(Window {
            begin: part.first()?.intended.saturating_sub(begin),
            count: times.len() as u64,
            median: *times.get(times.len().checked_sub(1)? / 2)?,
            max: *times.last()?,
        })
    };
    times.chunks(times.len().div_ceil(WINDOWS).max(1)).filter_map(window).collect()
}

/// Returns the rate of `count` pieces, the first of which is at the beginning of `ns`.
#[expect(clippy::cast_precision_loss, reason = "counts and times are below 2^53")]
fn per_second(count: u64, ns: u64) -> Option<f64> {
    (count > 1 && ns > 0).then(|| (count - 1) as f64 * 1e9 / ns as f64)
}

fn too_slow(run: &Run) -> Option<Invalid> {
    let (target, offered, achieved) = (run.target_rate?, run.offered_rate?, run.achieved_rate?);
    if offered < target * LEAST_RATE {
        Some(Invalid::SlowGenerator(offered, target))
    } else if achieved < target * LEAST_RATE {
        Some(Invalid::SlowSystem(achieved, target))
    } else {
        None
    }
}

/// Why the figures of a run must not be used.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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
