//! How much a session keeps of what it sends and receives, and how much a counterparty may
//! ask of it.

use core::num::{NonZeroU32, NonZeroU64};
use core::time::Duration;

/// The sizes of messages and buffers, and how much a counterparty may ask of the session.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct LimitSettings {
    /// The largest message that is accepted from the counterparty or sent to it, in bytes.
    ///
    /// Once the session is logged on, a larger one of up to 16 MiB is read past without being kept
    /// and rejected under its own number, and the session goes on. The connection ends with one
    /// that is larger still, or that takes longer than a minute to arrive
    /// ([`Misbehavior::MessageTooLarge`](crate::Misbehavior::MessageTooLarge)).
    pub max_message_size: usize,
    /// The most bytes buffered for the socket. A full outbox is back-pressure; messages that do not
    /// answer an inbound message fill at most half of it.
    pub outbound_buffer_size: usize,
    /// When a counterparty whose socket accepts no more counts as slow, and when it has caught up.
    pub outbound_watermarks: OutboundWatermarks,
    /// How long a counterparty may be slow, from the high watermark until it is back at the low
    /// one; `None` for as long as it likes. Then the connection ends with
    /// [`SessionEnd::SlowConsumer`](crate::SessionEnd::SlowConsumer). Messages that it has not
    /// received are in the store, and sent when it requests them.
    ///
    /// [`send_timeout`](crate::TimingSettings::send_timeout) ends the connection of one that does
    /// not read what waited when its socket first accepted no more. One that reads all of that in
    /// time, but always more slowly than new messages are written, only this ends.
    pub slow_consumer_timeout: Option<Duration>,
    /// The most bytes buffered of messages that arrived after a gap; more are dropped and requested
    /// again.
    pub reorder_buffer_size: usize,
    /// The number of garbled messages in succession at which the connection ends; `None` for no
    /// limit. Bytes that belong to no message count as one for each piece that arrives.
    pub max_garbled_messages: Option<NonZeroU32>,
    /// The number of session-layer messages a second that the counterparty may send; the connection
    /// ends after five seconds in succession with more. `None` for no limit. What it sends again
    /// because we requested it does not count, but is paced
    /// ([`max_resent_rate_factor`](crate::ThrottleSettings::max_resent_rate_factor)).
    pub max_session_message_rate: Option<NonZeroU32>,
    /// The bytes a minute that the counterparty's messages may add to the store, with our answers
    /// to them, if they are not for the application: those of the session layer, and those that the
    /// session itself rejects. A reset counts as 64 KiB. `None` for no limit. The connection ends
    /// when they are used up, and the counterparty can log on again once time has made up for what
    /// was more: after a minute at most.
    pub max_session_journal_growth: Option<NonZeroU64>,
    /// How many times a message is offered to an application that fails on it before the session
    /// halts.
    pub max_delivery_attempts: NonZeroU32,
}

impl Default for LimitSettings {
    fn default() -> Self {
        Self {
            max_message_size: 64 * 1024,
            outbound_buffer_size: 1024 * 1024,
            outbound_watermarks: OutboundWatermarks { high: 40, low: 20 },
            slow_consumer_timeout: None,
            reorder_buffer_size: 1024 * 1024,
            max_garbled_messages: NonZeroU32::new(100),
            max_session_message_rate: NonZeroU32::new(1000),
            max_session_journal_growth: NonZeroU64::new(32 << 20),
            max_delivery_attempts: const { NonZeroU32::new(3).unwrap() },
        }
    }
}

/// When a counterparty whose socket accepts no more counts as slow, and when it has caught up: in
/// percent of [`outbound_buffer_size`](LimitSettings::outbound_buffer_size).
///
/// ```
/// use fixbolt_session::OutboundWatermarks;
///
/// let watermarks = OutboundWatermarks::new(60, 30).expect("30 is less than 60");
/// assert_eq!((watermarks.high(), watermarks.low()), (60, 30));
/// assert_eq!(OutboundWatermarks::new(30, 30), None);
/// assert_eq!(OutboundWatermarks::new(101, 30), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutboundWatermarks {
    high: u8,
    low: u8,
}

impl OutboundWatermarks {
    /// Creates watermarks of which the high one is 1 to 100 percent, and the low one less; `None`
    /// for others.
    #[must_use]
    pub const fn new(high: u8, low: u8) -> Option<Self> {
        if high <= 100 && low < high { Some(Self { high, low }) } else { None }
    }

    /// Returns the part of the buffer above which the counterparty counts as slow
    /// ([`Event::SlowConsumer`](crate::Event::SlowConsumer)). 100 is never passed; what answers no
    /// message of the counterparty fills at most half of the buffer.
    #[must_use]
    pub const fn high(self) -> u8 {
        self.high
    }

    /// Returns the part of the buffer up to which it has caught up
    /// ([`Event::SlowConsumerRecovered`](crate::Event::SlowConsumerRecovered)).
    #[must_use]
    pub const fn low(self) -> u8 {
        self.low
    }
}
