//! Searching the highest rate that keeps a bound.

use std::str::FromStr;

use super::outcome::{Invalid, Run};

/// What must hold at a rate: the run is valid, and a percentile of its response time is not above a
/// limit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bound {
    /// The percentile, from 0 to 100.
    pub percentile: f64,
    /// The limit, in nanoseconds.
    pub ns: u64,
}

impl Bound {
    /// Returns whether all runs keep the bound.
    #[must_use]
    pub fn is_kept_by(&self, runs: &[Run]) -> bool {
        let kept = |run: &Run| {
            let (valid, measured) = (run.invalid.is_none(), run.response.count() > 0);
            valid && measured && run.response.ns_at(self.percentile) <= self.ns
        };
        !runs.is_empty() && runs.iter().all(kept)
    }
}

/// Reads a bound like `p99<=100us`; units are ns, us, ms and s.
impl FromStr for Bound {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no bound like p99<=100us");
        let (percentile, limit) = text.split_once("<=").ok_or_else(wrong)?;
        let percentile = percentile.trim().strip_prefix('p').and_then(|text| text.parse::<f64>().ok());
        let percentile = percentile.filter(|percentile| *percentile > 0.0 && *percentile <= 100.0);
        let limit = limit.trim();
        let digits = limit.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(limit.len());
        let scale = match limit[digits..].trim() {
            "ns" => 1.0,
            "us" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            _ => return Err(wrong()),
        };
        let limit: f64 = limit[..digits].parse().map_err(|_| wrong())?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it has no sign")]
        let ns = (limit * scale) as u64;
        Ok(Self { percentile: percentile.ok_or_else(wrong)?, ns })
    }
}

/// What a search found.
#[derive(Clone, PartialEq, Debug)]
pub struct Found {
    /// The highest rate that kept the bound; `None` if even the lowest did not.
    pub rate: Option<f64>,
    /// The lowest rate that did not keep it; `None` if even the highest did.
    pub too_high: Option<f64>,
    /// Every rate that was tried, in order, with its runs.
    pub tried: Vec<(f64, Vec<Run>)>,
}

/// Searches the highest rate between `low` and `high` that keeps `bound`, to within `precision`
/// (0.05 is 5 %): doubles from `low` until a rate does not keep it, then halves the range. `at`
/// measures a rate; it returns no runs, or an interrupted one, to end the search.
///
/// # Errors
/// Returns the error of `at`.
///
/// # Panics
/// Panics unless `low` is above 0, `high` not below it and `precision` above 0.
pub fn highest_rate(
    bound: Bound,
    (low, high): (f64, f64),
    precision: f64,
    mut at: impl FnMut(f64) -> Result<Vec<Run>, String>,
) -> Result<Found, String> {
    assert!(low > 0.0 && high >= low && precision > 0.0, "the range of rates is not one");
    let mut found = Found { rate: None, too_high: None, tried: Vec::new() };
    let mut rate = low;
    loop {
        let runs = at(rate)?;
        if runs.is_empty() {
            return Ok(found);
        }
        // It says nothing about the rate.
        if runs.iter().any(|run| run.invalid == Some(Invalid::Interrupted)) {
            found.tried.push((rate, runs));
            return Ok(found);
        }
        if bound.is_kept_by(&runs) {
            found.rate = Some(rate);
        } else {
            found.too_high = Some(rate);
        }
        found.tried.push((rate, runs));
        rate = match (found.rate, found.too_high) {
            (None, _) => return Ok(found),
            (Some(kept), None) if kept >= high => return Ok(found),
            (Some(kept), None) => (kept * 2.0).min(high),
            (Some(kept), Some(too_high)) if too_high <= kept * (1.0 + precision) => return Ok(found),
            (Some(kept), Some(too_high)) => f64::midpoint(kept, too_high),
        };
    }
}
