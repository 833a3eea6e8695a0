//! How many application messages are sent and accepted in a period of time.

use core::num::NonZeroU32;

use crate::limits::throttle::{InboundThrottle, OutboundThrottle, Rate};

/// How many application messages are sent and accepted in a period of time.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct ThrottleSettings {
    /// The most application messages that are sent in a window; `None` for no limit.
    ///
    /// In no window of this length does the socket accept more of them, wherever it begins and over
    /// connections, but not over a restart of the process: a message counts from when it is queued
    /// until one window after the socket has accepted its last byte. Messages that are sent again
    /// on request, the session layer's, and BusinessMessageRejects do not count and are not held
    /// up. Those that have to wait for the end of a replay count when they are sent; as many as fit
    /// into a window may wait so.
    pub max_outbound_rate: Option<Rate>,
    /// The most messages that are sent in a window and with which orders are entered, replaced and
    /// cancelled ([`ORDER_MSG_TYPES`](crate::ORDER_MSG_TYPES)); `None` for no limit. They are
    /// counted as [`max_outbound_rate`](Self::max_outbound_rate) says, and for both. A message
    /// counts once, however many orders it has.
    pub max_order_rate: Option<Rate>,
    /// What happens to a message that is one more.
    pub outbound_throttle: OutboundThrottle,
    /// The most application messages in a window that are accepted from the counterparty; `None`
    /// for no limit.
    ///
    /// In no window of this length are more of them delivered, in one connection or several. Each
    /// other one is answered with a BusinessMessageReject whose BusinessRejectReason (380) is 8,
    /// "Throttle limit exceeded", if the session's dictionary has that value, and otherwise 0 with
    /// the same Text; before FIX.4.2 with a Reject. FIX.Latest has the value, since Extension Pack
    /// 116 to FIX.5.0SP2, and so may a dialect; without a dictionary it is sent since FIX.5.0SP2. A
    /// BusinessMessageReject of the counterparty counts, too, but is not answered.
    ///
    /// Messages are judged by when they can have arrived: those that wait while the session reads
    /// nothing, or behind a gap, do not count as sent at once. What the counterparty sends again
    /// because we requested it does not count, but is paced
    /// ([`max_resent_rate_factor`](Self::max_resent_rate_factor)).
    pub max_inbound_rate: Option<Rate>,
    /// The reaction when [`max_inbound_rate`](Self::max_inbound_rate) is exceeded.
    pub inbound_throttle: InboundThrottle,
    /// How many times as fast as its limit a counterparty may send again what we requested:
    /// application messages as [`max_inbound_rate`](Self::max_inbound_rate) allows new ones,
    /// gap fills and Rejects as
    /// [`max_session_message_rate`](crate::LimitSettings::max_session_message_rate) does. Without
    /// these limits there is none for what was requested.
    ///
    /// What comes faster is not refused: it stays unread, with everything after it. That the
    /// counterparty seems silent meanwhile is not held against it. A message is one that we
    /// requested if it has PossDupFlag=Y and the expected number, which we requested, so that a
    /// counterparty that skips numbers and then sends new messages with them gains no more than
    /// this.
    pub max_resent_rate_factor: NonZeroU32,
}

impl Default for ThrottleSettings {
    fn default() -> Self {
        Self {
            max_outbound_rate: None,
            max_order_rate: None,
            outbound_throttle: OutboundThrottle::Wait,
            max_inbound_rate: None,
            inbound_throttle: InboundThrottle::Reject,
            max_resent_rate_factor: const { NonZeroU32::new(20).unwrap() },
        }
    }
}
