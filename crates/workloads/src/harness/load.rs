//! What is asked of a task: rates one after another, or the highest that keeps a bound.

use super::clock::Clock;
use super::control::Control;
use super::driver::{Task, measure};
use super::outcome::Run;
use super::plan::{Mode, Plan};
use super::schedule::Arrivals;
use super::search::{Bound, Found, highest_rate};

/// How close to the highest rate a search comes: 5 %.
const PRECISION: f64 = 0.05;

/// How a task is loaded.
#[derive(Clone, PartialEq, Debug)]
pub struct Load {
    /// Everything but the rate.
    pub plan: Plan,
    /// How pieces arrive; `None` for a closed loop, which has no rate.
    pub arrivals: Option<Arrivals>,
    /// The rates, per second, each measured by itself. A search begins at the lowest of them and
    /// goes up to [`Load::most`].
    pub rates: Vec<f64>,
    /// What the highest rate must keep, if it is searched.
    pub bound: Option<Bound>,
    /// The highest rate that a search tries.
    pub most: f64,
}

impl Load {
    /// Creates a load at these rates.
    #[must_use]
    pub fn at(plan: Plan, rates: &[f64]) -> Self {
        Self { plan, arrivals: Some(Arrivals::Fixed), rates: rates.to_vec(), bound: None, most: 1e6 }
    }

    /// Measures a task at each rate, and returns the rates with their runs; the rate of a closed
    /// loop is `None`. `task` makes one for each rate.
    ///
    /// # Errors
    /// Returns the first error of a task.
    pub fn measure(
        &self,
        clock: &dyn Clock,
        control: &Control,
        mut task: impl FnMut() -> Result<Box<dyn Task>, String>,
    ) -> Result<Measured, String> {
        let mut measured = Measured { rates: Vec::new(), found: None };
        let Some(arrivals) = self.arrivals else {
            let plan = Plan { mode: Mode::Closed, ..self.plan.clone() };
            measured.rates.push((None, measure(&plan, &mut *task()?, clock, control)?));
            return Ok(measured);
        };
        let mut at = |rate| {
            if control.is_stopped() {
                return Ok(Vec::new());
            }
            let plan = Plan { mode: Mode::Open { arrivals, rate }, ..self.plan.clone() };
            measure(&plan, &mut *task()?, clock, control)
        };
        if let Some(bound) = self.bound {
            let least = self.rates.iter().copied().fold(f64::INFINITY, f64::min);
            let found = highest_rate(bound, (least, self.most.max(least)), PRECISION, at)?;
            measured.rates = found.tried.iter().map(|(rate, runs)| (Some(*rate), runs.clone())).collect();
            measured.found = Some(found);
            return Ok(measured);
        }
        for &rate in &self.rates {
            let runs = at(rate)?;
            if !runs.is_empty() {
                measured.rates.push((Some(rate), runs));
            }
        }
        Ok(measured)
    }
}

/// What was measured under a load.
#[derive(Clone, PartialEq, Debug)]
pub struct Measured {
    /// Each rate with its runs, in the order in which they were measured.
    pub rates: Vec<(Option<f64>, Vec<Run>)>,
    /// The result of the search, if there was one.
    pub found: Option<Found>,
}
