//! What a counterparty may cost a session: garbled bytes, messages of the session layer, and what
//! those write to the store. Each limit ends the connection when it is passed.

use core::time::Duration;

use crate::values::time::Mono;

/// The period over which the rate of session-layer messages is counted.
const PERIOD: Duration = Duration::from_secs(1);
/// The number of periods in succession that must be above the limit.
const PERIODS: u32 = 5;
/// The bytes that a reset of the sequence numbers counts as: a store may begin a new file with it.
const RESET_COST: u64 = 64 * 1024;

/// What the counterparty of one connection has sent lately that no application asked for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flood {
    /// Garbled pieces since the last message.
    garbled: u32,
    /// Session-layer messages in the current period.
    count: u32,
    began: Mono,
    /// Periods in succession, before the current one, that were above the limit.
    periods: u32,
}

impl Flood {
    /// Counts a garbled piece. Returns whether it is one more than `limit` allows in succession.
    pub(crate) fn garbled(&mut self, limit: Option<u32>) -> bool {
        self.garbled = self.garbled.saturating_add(1);
        limit.is_some_and(|limit| self.garbled >= limit)
    }

    /// Records a message that is not garbled.
    pub(crate) const fn well_formed(&mut self) {
        self.garbled = 0;
    }

    /// Counts a session-layer message. Returns whether there were more than `limit` in each of five
    /// seconds in succession.
    pub(crate) fn session_layer(&mut self, now: Mono, limit: Option<u32>) -> bool {
        let Some(limit) = limit else { return false };
        let elapsed = now - self.began;
        if elapsed >= PERIOD {
            let above = self.count > limit && elapsed < 2 * PERIOD;
            self.periods = if above { self.periods + 1 } else { 0 };
            (self.count, self.began) = (0, now);
        }
        self.count = self.count.saturating_add(1);
        self.periods >= PERIODS
    }
}

/// The bytes that messages added to a session's store although they were for no application. Time
/// makes up for them, whether or not there is a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Growth {
    /// Bytes written and not yet made up for by time.
    bytes: u64,
    renewed: Mono,
}

impl Growth {
    /// Counts bytes that were written and no application asked for. Returns whether they are
    /// more than `limit` a minute.
    pub(crate) fn add(&mut self, bytes: u64, now: Mono, limit: Option<u64>) -> bool {
        let Some(limit) = limit else { return false };
        self.renew(now, limit);
        // What was written beyond the limit keeps the next connection out, for a minute at most.
        self.bytes = self.bytes.saturating_add(bytes).min(limit.saturating_mul(2));
        self.bytes > limit
    }

    /// Returns whether more than `limit` a minute was counted, and time has not made up for it yet.
    /// A counterparty that only connects again would otherwise begin where it was stopped.
    pub(crate) fn is_over(&mut self, now: Mono, limit: Option<u64>) -> bool {
        let Some(limit) = limit else { return false };
        self.renew(now, limit);
        self.bytes > limit
    }

    fn renew(&mut self, now: Mono, limit: u64) {
        let elapsed = (now - self.renewed).as_nanos();
        let renewed = u128::from(limit) * elapsed / Duration::from_secs(60).as_nanos();
        // Less than a byte is not forgotten, but added to the next.
        if renewed > 0 {
            self.bytes = self.bytes.saturating_sub(u64::try_from(renewed).unwrap_or(u64::MAX));
            self.renewed = now;
        }
    }
}

/// The bytes that were added to a session's store since it was opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Added(u64);

impl Added {
    #[cfg(test)]
    pub(crate) const fn of(bytes: u64) -> Self {
        Self(bytes)
    }

    pub(crate) const fn record(&mut self, body: usize) {
        /// The bytes of a record besides the message.
        const HEADER: u64 = 64;
        self.0 += body as u64 + HEADER;
    }

    pub(crate) const fn reset(&mut self) {
        self.0 += RESET_COST;
    }

    /// Returns the number of bytes that were added since `before`.
    pub(crate) const fn since(self, before: Self) -> u64 {
        self.0 - before.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(millis: u64) -> Mono {
        Mono(1_000_000_000_000 + millis * 1_000_000)
    }

    #[test]
    fn garbled_pieces_in_succession_are_counted_until_a_message_comes() {
        let mut flood = Flood::default();
        assert_eq!([0; 3].map(|_| flood.garbled(Some(3))), [false, false, true]);
        flood.well_formed();
        assert_eq!([0; 3].map(|_| flood.garbled(Some(3))), [false, false, true]);
        assert!(!(0..1000).any(|_| flood.garbled(None)));
    }

    #[test]
    fn session_layer_messages_are_too_many_after_five_seconds_above_the_limit() {
        let mut flood = Flood::default();
        // 11 messages in each second: one more than allowed.
        let mut over = (0..110).map(|n| flood.session_layer(at(n * 91), Some(10)));
        let first = over.position(|over| over).unwrap() as u64 * 91;
        assert!((5000..5200).contains(&first), "after {first} ms");
        let mut flood = Flood::default();
        assert!(!(0..1000).any(|n| flood.session_layer(at(n * 100), Some(10))), "exactly the limit");
        let mut flood = Flood::default();
        // Four seconds above the limit, then one below it, for ever.
        let bursts = (0..50u64).flat_map(|second| (0..20).map(move |n| (second, n)));
        let over = bursts
            .filter(|(second, n)| second % 5 < 4 || *n == 0)
            .any(|(second, n)| flood.session_layer(at(second * 1000 + n * 50), Some(10)));
        assert!(!over);
        let mut flood = Flood::default();
        assert!(!(0..100_000).any(|_| flood.session_layer(at(0), None)));
    }

    #[test]
    fn what_is_written_to_the_store_is_made_up_for_by_time() {
        let mut growth = Growth::default();
        let limit = Some(6000);
        assert!(!growth.add(6000, at(0), limit));
        assert!(growth.add(1, at(5), limit), "half a byte has been renewed");
        assert!(growth.is_over(at(9), limit) && !growth.is_over(at(11), limit));
        assert!(!growth.add(98, at(1000), limit), "a hundred bytes a second");
        assert!(growth.add(2, at(1000), limit));
        assert!(!growth.add(5990, at(61_001), limit));
        // Whatever was written, a minute later there is room again.
        assert!(growth.add(u64::MAX, at(61_001), limit));
        assert!(growth.is_over(at(120_000), limit) && !growth.is_over(at(121_100), limit));
        // A trickle that stays below the limit, in steps of less than a byte.
        let mut growth = Growth::default();
        assert!(!(0..100_000u64).any(|n| n % 1000 == 0 && growth.add(90, at(n), limit)));
        assert!(!growth.add(u64::MAX, at(0), None));
    }
}
