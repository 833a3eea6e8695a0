//! How far the bytes of one connection have been read. Replaced with the connection; no part of a transaction.

use core::time::Duration;

use fixbolt_codec::{Framer, Recovery};

use crate::time::{Mono, Now, Utc};

/// Largest message before the logon, in bytes.
pub const MAX_MESSAGE_SIZE_BEFORE_LOGON: usize = 8 * 1024;

/// How far the bytes of a connection have been read.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) framer: Framer,
    pub(crate) incomplete: Option<Incomplete>,
    /// Nothing is read meanwhile.
    pub(crate) blocked: Option<Blocked>,
    /// Nothing was read from then on: what came since may be as old as that. Messages of one counterparty come in the order of
    /// their SendingTimes, so that the first one that has just been sent ends it.
    pub(crate) backlog: Option<Utc>,
    /// The first unprocessed message was offered before: it has proved life already.
    pub(crate) offered: bool,
}

/// Why nothing is read for now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Blocked {
    pub(crate) since: Mono,
    pub(crate) by: BlockedBy,
}

/// What nothing can be read without.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BlockedBy {
    /// Room in the own outbox: only the socket can change that.
    Outbox,
    /// Room in another session's outbox, or its store.
    OtherSession,
    /// The application said "not now".
    Application,
}

/// An incomplete message at the beginning of the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Incomplete {
    /// When its last bytes came.
    pub(crate) since: Mono,
    pub(crate) bytes: usize,
}

impl Reading {
    /// Nothing has been read.
    pub(crate) const fn new(recovery: Recovery) -> Self {
        Self {
            framer: Framer::new(MAX_MESSAGE_SIZE_BEFORE_LOGON).with_recovery(recovery),
            incomplete: None,
            blocked: None,
            backlog: None,
            offered: false,
        }
    }

    /// Reads nothing more for now.
    pub(crate) fn block(&mut self, now: Now, by: BlockedBy) {
        self.blocked = Some(Blocked { since: now.mono, by });
        self.backlog.get_or_insert(now.utc);
    }

    /// Whether SendingTime `sent`, in nanoseconds since 1970, is within `threshold` of a time at which the message can have
    /// arrived: now, or any time since nothing was read.
    pub(crate) fn sent_within(&self, sent: u64, now: Utc, threshold: Duration) -> bool {
        let earliest = self.backlog.map_or(now, |since| since.min(now));
        let off = earliest.0.saturating_sub(sent).max(sent.saturating_sub(now.0));
        Duration::from_nanos(off) <= threshold
    }

    /// A message was sent at `sent`, in nanoseconds since 1970, and is looked at for the first time.
    pub(crate) fn note_sent(&mut self, sent: u64, now: Utc, threshold: Duration) {
        if self.backlog.is_some() && Duration::from_nanos(now.0.abs_diff(sent)) <= threshold {
            self.backlog = None;
        }
    }

    /// Whether silence of the counterparty says anything: not while nothing is read. A counterparty that does not read is
    /// judged all the same.
    pub(crate) fn would_hear(&self) -> bool {
        self.blocked.is_none_or(|blocked| blocked.by == BlockedBy::Outbox)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_judged_by_when_it_can_have_arrived() {
        let second = |n: u64| n * 1_000_000_000;
        let at = |n: u64| Now { mono: Mono(second(n)), utc: Utc(second(n)) };
        let minute = Duration::from_secs(60);
        let mut reading = Reading::new(Recovery::NextMessage);
        assert!(reading.sent_within(second(40), at(100).utc, minute));
        assert!(!reading.sent_within(second(39), at(100).utc, minute));
        assert!(!reading.sent_within(second(161), at(100).utc, minute));
        reading.block(at(100), BlockedBy::Application);
        reading.block(at(500), BlockedBy::Application);
        for (sent, fits) in [(39, false), (40, true), (300, true), (660, true), (661, false)] {
            assert_eq!(reading.sent_within(second(sent), at(600).utc, minute), fits, "{sent}");
        }
    }
}
