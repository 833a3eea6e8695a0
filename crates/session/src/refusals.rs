//! How often a refused Logon is answered: a stranger must not fill the journal with our Logouts.

use core::time::Duration;

use crate::time::Mono;

/// Refused Logons that are answered one right after the other.
const AT_ONCE: u32 = 10;
/// How long it takes until one more is answered.
const ONE_MORE_AFTER: Duration = Duration::from_secs(6);

/// How many more refusals of a session are answered. What comes beyond is closed without a word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refusals {
    answered: u32,
    since: Mono,
}

impl Refusals {
    pub(crate) const fn new() -> Self {
        Self { answered: 0, since: Mono(0) }
    }

    /// Whether one more may be answered; it counts from now on.
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
        let mut refusals = Refusals::new();
        let mut answered = |seconds| (0..100).filter(|_| refusals.answer(at(seconds))).count();
        assert_eq!(answered(1000), 10);
        assert_eq!(answered(1005), 0);
        assert_eq!(answered(1060), 10);
        assert_eq!(answered(100_000), 10);
    }
}
