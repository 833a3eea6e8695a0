//! A figure of a benchmark, with the keys that all benchmarks share.

/// A figure.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// The benchmark.
    pub test: &'static str,
    /// The engine measured: `fixbolt`, or another one.
    pub engine: &'static str,
    /// The message.
    pub message: &'static str,
    /// The operation: index, validate, typed-six, encode, ...
    pub operation: &'static str,
    /// The instructions that the index was built with; `None` if there is no index.
    pub tier: Option<&'static str>,
    /// Nanoseconds per message.
    pub ns: f64,
    /// The time of a bare prototype on the same machine, if it was measured.
    pub floor_ns: Option<f64>,
    /// What another engine's page says of the same, in nanoseconds, where it was measured.
    pub published: Option<f64>,
}
