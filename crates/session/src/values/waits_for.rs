//! What a session waits for.

use core::fmt;

/// What the new messages of a session's application wait for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum WaitsFor {
    /// The counterparty is being sent messages again, or has not sent what is missing before its
    /// Logon; what is new follows.
    Replay,
    /// A throttle ([`OutboundThrottle::Wait`](crate::OutboundThrottle::Wait)).
    Throttle,
}

impl WaitsFor {
    pub(crate) const ALL: [Self; 2] = [Self::Replay, Self::Throttle];
}

impl fmt::Display for WaitsFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Replay => "what the counterparty is sent again",
            Self::Throttle => "the throttle (MaxOutboundRate, MaxOrderRate)",
        })
    }
}
