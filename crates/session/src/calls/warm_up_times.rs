//! When sessions are warmed up.

use core::time::Duration;

use crate::values::time::Mono;

/// When sessions are warmed up.
#[derive(Debug, Default)]
pub(crate) struct WarmUp {
    is_on: bool,
    /// How long after the last time they are again.
    pub(crate) every: Option<Duration>,
    /// When that is due; `None` before it was asked for.
    pub(crate) due: Option<Mono>,
    /// The index of the session that comes next.
    pub(crate) next: usize,
}

impl WarmUp {
    pub(crate) const fn new(every: Option<Duration>) -> Self {
        Self { is_on: true, every, due: None, next: 0 }
    }

    pub(crate) const fn is_on(&self) -> bool {
        self.is_on
    }
}
