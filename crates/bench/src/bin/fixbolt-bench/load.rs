//! How a test is loaded: the options that all latency tests share.

use std::time::Duration;

use clap::Args;
use fixbolt_workloads::harness::{Arrivals, Bound, Load, Waiting};

/// How a test is loaded. What is not given is as the test has it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Load")]
pub(crate) struct LoadOptions {
    /// Rates per second, separated by commas, each measured by itself
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = positive)]
    rates: Vec<f64>,
    /// Number of runs at each rate
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1_000))]
    runs: Option<u16>,
    /// Number of pieces in each run
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=100_000_000))]
    iterations: Option<u64>,
    /// Number of pieces before the first run, at the same rate, that are not measured
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=100_000_000))]
    warm_up: Option<u64>,
    /// How pieces arrive: fixed, poisson:SEED or burst:SIZE
    #[arg(long, value_name = "HOW")]
    arrivals: Option<Arrivals>,
    /// Begin each piece when the one before has ended: service time only, no rate
    #[arg(long, conflicts_with_all = ["rates", "arrivals", "highest"])]
    closed: bool,
    /// Search the highest rate that keeps BOUND, from the lowest of the rates on: 'p99<=100us'
    #[arg(long, value_name = "BOUND")]
    highest: Option<Bound>,
    /// Poll the clock between pieces instead of sleeping: needs a core of its own
    #[arg(long)]
    spin: bool,
    /// Seconds to wait for what has not ended
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=3_600))]
    timeout: Option<u16>,
}

fn positive(text: &str) -> Result<f64, String> {
    let rate = text.replace('_', "").parse::<f64>().ok();
    let rate = rate.filter(|rate| *rate > 0.0 && *rate <= 1e8);
    rate.ok_or_else(|| "a rate is a number above 0 and at most 100000000".to_owned())
}

impl LoadOptions {
    /// Returns the load of a test, changed as the options say.
    pub(crate) fn apply(&self, load: Load) -> Load {
        let mut load = self.apply_but_rates(load);
        if !self.rates.is_empty() {
            load.rates.clone_from(&self.rates);
        }
        load.arrivals = if self.closed { None } else { self.arrivals.or(load.arrivals) };
        load.bound = self.highest.or(load.bound);
        load
    }

    /// Returns the load of a part of a test that has rates of its own, changed as the options say,
    /// but for rates, arrivals and bound.
    pub(crate) fn apply_but_rates(&self, mut load: Load) -> Load {
        load.plan.runs = self.runs.map_or(load.plan.runs, usize::from);
        load.plan.iterations = self.iterations.unwrap_or(load.plan.iterations);
        load.plan.warm_up = self.warm_up.unwrap_or(load.plan.warm_up);
        if self.spin {
            load.plan.waiting = Waiting::Spin;
        }
        if let Some(seconds) = self.timeout {
            load.plan.timeout = Duration::from_secs(seconds.into());
        }
        load
    }
}
