//! How a figure comes from what was measured, which every figure says of itself.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How a figure comes from what was measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "lowercase")]
pub enum Statistic {
    /// It was measured or counted once.
    #[default]
    One,
    /// The median of several parts. Halfway between the middle ones if their number is even.
    Median(Parts),
    /// Of the samples of all parts together.
    All(Parts),
    /// The mean of several parts.
    Mean(Parts),
}

/// What a measurement was divided into.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Parts {
    /// What they are.
    pub part: Part,
    /// How many there are.
    pub number: usize,
}

/// A part of a measurement.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// A batch of an operation; the operations take turns in one process.
    Batch,
    /// A slice of a contestant, with connections of its own; the contestants take turns.
    Slice,
    /// A run.
    Run,
    /// A process, started for this figure.
    Process,
}

impl Part {
    /// Returns the name of one.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Batch => "batch",
            Self::Slice => "slice",
            Self::Run => "run",
            Self::Process => "process",
        }
    }

    /// Returns the name of several.
    #[must_use]
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Batch => "batches",
            Self::Slice => "slices",
            Self::Run => "runs",
            Self::Process => "processes",
        }
    }
}

impl Statistic {
    /// Returns the statistic of parts, of which there may be one only.
    #[must_use]
    pub const fn median(part: Part, number: usize) -> Self {
        if number == 1 { Self::One } else { Self::Median(Parts { part, number }) }
    }

    /// Returns the statistic of the samples of all parts, of which there may be one only.
    #[must_use]
    pub const fn all(part: Part, number: usize) -> Self {
        if number == 1 { Self::One } else { Self::All(Parts { part, number }) }
    }
}

/// In words: `median of 10 slices`, `all 3 runs`, `one measurement`.
impl fmt::Display for Statistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One => f.write_str("one measurement"),
            Self::Median(Parts { part, number }) => write!(f, "median of {number} {}", part.plural()),
            Self::All(Parts { part, number }) => write!(f, "all {number} {}", part.plural()),
            Self::Mean(Parts { part, number }) => write!(f, "mean of {number} {}", part.plural()),
        }
    }
}

/// Returns the one statistic of all figures, if they share one.
pub(super) fn shared(mut all: impl Iterator<Item = Statistic>) -> Option<Statistic> {
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statistic_says_of_how_many_parts_it_is() {
        let words = |statistic: Statistic| statistic.to_string();
        assert_eq!(words(Statistic::median(Part::Process, 7)), "median of 7 processes");
        assert_eq!(words(Statistic::all(Part::Slice, 10)), "all 10 slices");
        assert_eq!(words(Statistic::Mean(Parts { part: Part::Run, number: 3 })), "mean of 3 runs");
        assert_eq!(words(Statistic::median(Part::Batch, 1)), "one measurement");
        let both = [Statistic::One, Statistic::all(Part::Run, 2)];
        assert_eq!((shared(both.into_iter()), shared([].into_iter())), (None, None));
        assert_eq!(shared([Statistic::One; 2].into_iter()), Some(Statistic::One));
    }
}
