//! The column `var(log)` of the page's tables, as the page's JLBH computed it.

use fixbolt_workloads::harness::PERCENTILES;

use crate::results::{Series, TimeKind};

/// What is said below a table that has the column.
pub(super) const NOTE: &str = "var(log): as the page's JLBH computed it, to compare with it; larger if runs differ, and also if times are longer";

/// Returns a cell of the column for each of [`PERCENTILES`].
#[expect(clippy::cast_precision_loss, reason = "times are below 2^53 ns")]
pub(super) fn cells(series: &Series, times: TimeKind) -> Vec<String> {
    let cell = |percentile: &f64| {
        let runs: Vec<f64> = series.runs.iter().map(|run| times.of(run).ns_at(*percentile) as f64).collect();
        var_log(&runs).map_or_else(|| "-".to_owned(), |var| format!("{var:.2}"))
    };
    PERCENTILES.iter().map(cell).collect()
}

/// Returns `var(log)` of the runs' times in nanoseconds; `None` without two runs that took time.
///
/// The name says variance of the logarithms. Chronicle Core of 2016, which the page ran, has
/// natural logarithms in the mean, leaves the first run out of it although it divides by their
/// number, and subtracts the mean from decimal logarithms of all runs. The page's figures are
/// these.
#[expect(clippy::cast_precision_loss, reason = "there are few runs")]
pub(super) fn var_log(ns: &[f64]) -> Option<f64> {
    let (_, later) = ns.split_first().filter(|(_, later)| !later.is_empty())?;
    let mean = later.iter().map(|ns| ns.ln()).sum::<f64>() / ns.len() as f64;
    let squares = ns.iter().map(|ns| (ns.log10() - mean).powi(2)).sum::<f64>();
    Some(squares / later.len() as f64).filter(|var| var.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_run_and_runs_that_took_no_time_have_none() {
        assert_eq!([var_log(&[]), var_log(&[5.0]), var_log(&[5.0, 0.0])], [None; 3]);
        assert!(var_log(&[5.0, 5.0]).is_some());
    }
}
