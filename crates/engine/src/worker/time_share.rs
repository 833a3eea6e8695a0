//! A share of a worker's time, for work that counterparties cause.
//!
//! Whoever asks for ever new sessions could keep the worker from the others: the journal of a
//! session that was here before is read. So such work gets at most a fifth of the time: after each
//! piece, the next one waits for four times as long as it took.

use core::time::Duration;

use fixbolt_session::Mono;

/// The longest wait after a piece of work, so that a disk that was slow once stops nobody for long.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// When the next piece of such work may begin.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TimeShare {
    next: Mono,
}

impl TimeShare {
    /// Returns whether a piece of work may begin now.
    pub(crate) fn may_begin(self, now: Mono) -> bool {
        self.next <= now
    }

    /// Returns when the next piece of work may begin.
    pub(crate) const fn next(self) -> Mono {
        self.next
    }

    /// Records a piece of work.
    pub(crate) fn spend(&mut self, began: Mono, ended: Mono) {
        self.next = ended + (4 * (ended - began)).min(LONGEST_WAIT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixbolt_session::runtime::mono;

    const fn at(millis: u64) -> Mono {
        mono(1_000_000_000_000 + millis * 1_000_000)
    }

    #[test]
    fn work_gets_a_fifth_of_the_time() {
        let mut share = TimeShare::default();
        assert!(share.may_begin(at(0)));
        share.spend(at(0), at(10));
        assert!(!share.may_begin(at(49)) && share.may_begin(at(50)));
        assert_eq!(share.next(), at(50));
    }

    #[test]
    fn work_that_took_long_stops_what_follows_for_a_second() {
        let mut share = TimeShare::default();
        share.spend(at(0), at(5000));
        assert!(!share.may_begin(at(5999)) && share.may_begin(at(6000)));
    }
}
