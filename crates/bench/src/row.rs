//! One figure of a benchmark, with the keys that all benchmarks share.

/// One figure.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// Which benchmark.
    pub test: &'static str,
    /// Whose figure: `fixbolt`, or another engine.
    pub engine: &'static str,
    /// The message worked on.
    pub message: &'static str,
    /// What was done: index, validate, typed-six, encode, ...
    pub operation: &'static str,
    /// The instructions that the index was built with; `None` where there is no index.
    pub tier: Option<&'static str>,
    /// Nanoseconds a message.
    pub ns: f64,
    /// What a bare prototype takes on the same machine, where it was measured.
    pub floor_ns: Option<f64>,
    /// What another engine's page says of the same, in nanoseconds, where it was measured.
    pub published: Option<f64>,
}
