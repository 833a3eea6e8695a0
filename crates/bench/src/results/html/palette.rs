//! One color for each engine, the same on the whole page.

use crate::results::Report;
use crate::results::row::is_baseline;

/// How many colors engines other than Fixbolt have. More engines share them.
pub(super) const COLORS: usize = 7;

/// The engines of a page.
#[derive(Debug)]
pub(super) struct Palette {
    /// Engines other than Fixbolt and baselines, in the order in which they appear.
    others: Vec<String>,
}

impl Palette {
    /// Gives each engine its color.
    pub(super) fn of(reports: &[Report]) -> Self {
        let mut others: Vec<String> = Vec::new();
        for report in reports {
            let engines = report.series().map(|series| &series.engine);
            for engine in engines.chain(report.rows().map(|row| &row.engine)) {
                if engine != "fixbolt" && !is_baseline(engine) && !others.contains(engine) {
                    others.push(engine.clone());
                }
            }
        }
        Self { others }
    }

    /// Returns the class of the style sheet that sets an engine's color.
    pub(super) fn class(&self, engine: &str) -> String {
        if is_baseline(engine) {
            return "base".to_owned();
        }
        let other = self.others.iter().position(|other| other == engine);
        other.map_or_else(|| "fixbolt".to_owned(), |at| format!("other{}", at % COLORS))
    }
}
