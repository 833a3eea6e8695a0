//! How far the bytes of one connection have been read. This is replaced with the connection and not
//! part of a transaction.

use core::time::Duration;

use fixbolt_codec::{Framer, Recovery, SeqNum};

use crate::limits::flood::Flood;
use crate::limits::throttle::Arrival;
use crate::store::Generation;
use crate::values::fix::MAX_MESSAGE_SIZE_BEFORE_LOGON;
use crate::values::time::{Mono, Now, Utc};
use crate::wire::oversized::Oversized;

/// How far the bytes of a connection have been read.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) framer: Framer,
    pub(crate) incomplete: Option<Incomplete>,
    /// The message larger than the session accepts that is being read past. Boxed, because there is
    /// hardly ever one.
    pub(crate) oversized: Option<Box<Oversized>>,
    /// Why nothing is read now, if so.
    pub(crate) blocked: Option<Blocked>,
    /// When reading stopped: unread bytes may be as old as this. Messages of one counterparty
    /// arrive in the order of their SendingTimes, so the first one that was just sent ends this.
    pub(crate) backlog: Option<Utc>,
    /// Whether the first unprocessed message was offered before, and so has already counted as a
    /// sign of life.
    pub(crate) offered: bool,
    /// When the message that is being processed arrived, if it is one of the reorder buffer.
    pub(crate) reordered: Option<Arrival>,
    /// The last message that the application was warned of.
    pub(crate) warned_of: Option<SeqNum>,
    /// The last message from after a gap that was not kept although an open-ended request for what
    /// is missing was on its way: it was requested with that.
    pub(crate) dropped: Option<(Generation, SeqNum)>,
    /// Whether messages are left for the next connection, because one of them could not be
    /// processed soon after our Logout: nothing but the answer to it, a ResendRequest, or a reset
    /// of the sequence numbers is processed any more.
    pub(crate) leaves_rest: bool,
    pub(crate) budget: Budget,
    pub(crate) flood: Flood,
}

/// What one call may process, so that a counterparty that sends as fast as it can does not keep the
/// worker from its other sessions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    messages: usize,
    bytes: usize,
}

impl Budget {
    /// 64 messages, or 64 KiB and the message with which that is reached.
    pub(crate) const FULL: Self = Self { messages: 64, bytes: 64 * 1024 };

    /// Counts a message, or a garbled piece.
    pub(crate) const fn spend(&mut self, bytes: usize) {
        self.messages = self.messages.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(bytes);
    }

    /// Ends the call after the current message.
    pub(crate) const fn spend_all(&mut self) {
        self.messages = 0;
    }

    pub(crate) const fn is_spent(self) -> bool {
        self.messages == 0 || self.bytes == 0
    }
}

/// Why nothing is read now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Blocked {
    pub(crate) since: Mono,
    pub(crate) by: BlockedBy,
    /// When a throttle has room for what waits.
    pub(crate) until: Option<Mono>,
}

/// What the session waits for before it reads again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BlockedBy {
    /// Room in its own outbox, which only the socket can make.
    Outbox,
    /// Room in another session's outbox, or its store.
    OtherSession,
    /// The application, which returned `NotNow`.
    Application,
    /// Time: messages that we requested come too fast.
    Pace,
}

/// An incomplete message at the beginning of the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Incomplete {
    /// When its last bytes arrived.
    pub(crate) since: Mono,
    pub(crate) bytes: usize,
}

impl Reading {
    /// Returns the state in which nothing has been read.
    pub(crate) fn new(recovery: Recovery) -> Self {
        Self {
            framer: Framer::new(MAX_MESSAGE_SIZE_BEFORE_LOGON).with_recovery(recovery),
            incomplete: None,
            oversized: None,
            blocked: None,
            backlog: None,
            offered: false,
            reordered: None,
            warned_of: None,
            dropped: None,
            leaves_rest: false,
            budget: Budget::FULL,
            flood: Flood::default(),
        }
    }

    /// Stops reading.
    pub(crate) fn block(&mut self, now: Now, by: BlockedBy) {
        self.blocked = Some(Blocked { since: now.mono, by, until: None });
        self.backlog.get_or_insert(now.utc);
    }

    /// Returns whether SendingTime `sent`, in nanoseconds since 1970, is within `threshold` of a
    /// time at which the message can have arrived: now, or any time since reading stopped.
    // R-TIME-3
    pub(crate) fn sent_within(&self, sent: u64, now: Utc, threshold: Duration) -> bool {
        let earliest = self.backlog.map_or(now, |since| since.min(now));
        let off = earliest.0.saturating_sub(sent).max(sent.saturating_sub(now.0));
        Duration::from_nanos(off) <= threshold
    }

    /// Records that a message sent at `sent`, in nanoseconds since 1970, is read for the first
    /// time.
    pub(crate) fn note_sent(&mut self, sent: u64, now: Utc, threshold: Duration) {
        if self.backlog.is_some() && Duration::from_nanos(now.0.abs_diff(sent)) <= threshold {
            self.backlog = None;
        }
    }

    /// Returns whether nothing is read because messages that we requested come too fast.
    pub(crate) fn is_paced(&self) -> bool {
        self.blocked.is_some_and(|blocked| blocked.by == BlockedBy::Pace)
    }

    /// Returns whether silence of the counterparty means anything: not while nothing is read,
    /// unless it is because the counterparty itself does not read.
    pub(crate) fn would_hear(&self) -> bool {
        self.blocked.is_none_or(|blocked| blocked.by == BlockedBy::Outbox)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // R-TIME-3
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
