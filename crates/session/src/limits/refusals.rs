//! Limits how often a refused Logon is answered: a stranger must not fill the journal with our
//! Logouts.

use core::time::Duration;

use crate::values::time::Mono;

/// The number of refused Logons that are answered in succession.
const AT_ONCE: u32 = 10;
/// The time until one more is answered.
const ONE_MORE_AFTER: Duration = Duration::from_secs(6);

/// The number of refusals of a session that were answered lately. After too many, the connection is
/// closed without a Logout.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RefusedLogons {
    answered: u32,
    since: Mono,
}

impl RefusedLogons {
    pub(crate) const fn new() -> Self {
        Self { answered: 0, since: Mono(0) }
    }

    /// Returns whether one more may be answered, and counts it if so.
    pub(crate) fn answer(&mut self, now: Mono) -> bool {
        while self.answered > 0 && now - self.since >= ONE_MORE_AFTER {
            self.answered -= 1;
            self.since = self.since + ONE_MORE_AFTER;
        }
        if self.answered == 0 {
            self.since = now;
        }
        let may = self.answered < AT_ONCE;
        self.answered += u32::from(may);
        may
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_refusals_are_answered_and_then_ten_a_minute() {
        let at = |n: u64| Mono(n * 1_000_000_000);
        let mut refusals = RefusedLogons::new();
        let mut answered = |seconds| (0..100).filter(|_| refusals.answer(at(seconds))).count();
        assert_eq!(answered(1000), 10);
        assert_eq!(answered(1005), 0);
        assert_eq!(answered(1060), 10);
        assert_eq!(answered(100_000), 10);
    }
}
