//! What a session waits for.

use core::fmt;

/// What a session waits for: its schedule, or the new messages of its application.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum WaitsFor {
    /// The counterparty is being sent messages again, or has not sent what is missing before its
    /// Logon; what is new follows.
    Replay,
    /// A throttle ([`OutboundThrottle::Wait`](crate::OutboundThrottle::Wait)).
    Throttle,
    /// The wall clock has jumped: the schedule's edges wait until its time counts
    /// ([`clock_jump_hold`](crate::TimingSettings::clock_jump_hold)).
    Clock,
}

impl WaitsFor {
    pub(crate) const ALL: [Self; 3] = [Self::Replay, Self::Throttle, Self::Clock];
}

impl fmt::Display for WaitsFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Replay => "what the counterparty is sent again",
            Self::Throttle => "the throttle (MaxOutboundRate, MaxOrderRate)",
            Self::Clock => "the wall clock, which has jumped",
        })
    }
}
