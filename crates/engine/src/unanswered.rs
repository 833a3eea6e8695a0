//! Why a caller that waits for a worker has no answer.

/// Why a caller has no answer of a worker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unanswered {
    /// The worker has ended.
    Stopped,
    /// The time has passed before the worker began: the command is withdrawn.
    Withdrawn,
    /// The time has passed after the worker began: it goes on.
    TimedOut,
}
