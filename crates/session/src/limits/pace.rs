//! How fast messages are read that the counterparty sends again because we requested them.
//!
//! They are not refused, because they are its duty, but nothing shows that what has the number of a
//! requested message is one: a counterparty that skips sequence numbers is asked for them. So they
//! are read at a multiple of the limit for what nobody requested, and the rest stays unread.

use core::time::Duration;

use crate::values::time::Mono;

/// The number of parts of a window that are counted apart.
const PARTS: usize = 8;

/// The pace of requested messages: in no window are more read than a multiple of a limit, wherever
/// it begins and over connections.
///
/// Its size is the same however large the limit is: messages are counted in parts of a window, and
/// those of a part are forgotten one window after the last of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Pace {
    most: u64,
    window: Duration,
    /// One more than there are parts in a window: the next one overwrites one that is forgotten.
    parts: [Part; PARTS + 1],
    current: usize,
}

/// Messages that were read within a part of a window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Part {
    began: Mono,
    last: Mono,
    count: u64,
}

impl Pace {
    /// Creates the pace of `factor` times this many messages in a window.
    pub(crate) fn new(messages: u32, window: Duration, factor: u32) -> Box<Self> {
        let most = u64::from(messages.max(1)) * u64::from(factor.max(1));
        Box::new(Self { most, window, parts: [Part::default(); PARTS + 1], current: 0 })
    }

    /// Returns until when a message has to wait; `None` if it may be read now.
    pub(crate) fn waits_until(&self, now: Mono) -> Option<Mono> {
        let counted = || {
            let ends = self.parts.iter().filter(|part| part.count > 0);
            ends.map(|part| (part.last + self.window, part.count)).filter(|(end, _)| *end > now)
        };
        let count: u64 = counted().map(|(_, count)| count).sum();
        if count < self.most { None } else { counted().map(|(end, _)| end).min() }
    }

    /// Counts a message that is read now.
    pub(crate) fn take(&mut self, now: Mono) {
        let part = &self.parts[self.current];
        if part.count == 0 || now - part.began >= self.window / PARTS as u32 {
            self.current = (self.current + 1) % self.parts.len();
            self.parts[self.current] = Part { began: now, last: now, count: 0 };
        }
        let part = &mut self.parts[self.current];
        (part.last, part.count) = (now, part.count + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Mono = Mono(1_000_000_000_000);

    /// Reads as fast as the pace allows, with pauses between the messages, for this many windows.
    /// Returns when each message was read.
    fn read(pace: &mut Pace, pause: Duration, windows: u32) -> Vec<Mono> {
        let (mut now, mut times) = (START, Vec::new());
        while now - START < pace.window * windows {
            match pace.waits_until(now) {
                None => {
                    pace.take(now);
                    times.push(now);
                    now = now + pause;
                }
                Some(until) => {
                    assert!(until > now);
                    now = until;
                }
            }
        }
        times
    }

    #[test]
    fn in_no_window_are_more_read_than_the_multiple_and_hardly_fewer() {
        for (messages, millis, factor) in
            [(5, 1000, 20), (1, 3_600_000, 20), (1, 1, 20), (1, 1000, 1), (3, 100, 1), (100, 1000, 20)]
        {
            let (most, window) = ((messages * factor) as usize, Duration::from_millis(millis));
            for pause in [Duration::ZERO, window / (2 * most as u32), window / (most as u32 + 1)] {
                let times = read(&mut Pace::new(messages, window, factor), pause, 5);
                assert!(times.windows(most + 1).all(|w| w[most] - w[0] >= window), "{messages}/{millis}");
                let all = 5 * most;
                assert!((all * 4 / 5..=all).contains(&times.len()), "{messages}/{millis}: {}", times.len());
            }
        }
    }

    #[test]
    fn time_without_messages_allows_no_more_than_a_window_does() {
        let mut pace = Pace::new(10, Duration::from_secs(1), 3);
        assert_eq!(read(&mut pace, Duration::ZERO, 1).len(), 30);
        let late = START + Duration::from_secs(3600);
        let read = (0..100).take_while(|_| {
            let may = pace.waits_until(late).is_none();
            pace.take(late);
            may
        });
        assert_eq!(read.count(), 30);
    }

    #[test]
    fn the_largest_limits_and_times_do_not_overflow() {
        for mut pace in [
            Pace::new(u32::MAX, Duration::from_secs(1), u32::MAX),
            Pace::new(1, Duration::MAX, 1),
            Pace::new(0, Duration::from_millis(1), 0),
        ] {
            for now in [Mono(0), Mono(u64::MAX), Mono(u64::MAX)] {
                pace.take(now);
                assert!(pace.waits_until(now).is_none_or(|until| until > now));
            }
        }
    }
}
