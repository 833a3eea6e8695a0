//! What a legal counterparty does where the standard leaves it free: drawn once for a world.

use super::faults::Faults;
use super::random::Random;
use super::text::SECOND;

/// A millisecond in nanoseconds.
pub(super) const MILLI: u64 = 1_000_000;

/// When new messages are sent while a replay is going on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Interleave {
    /// A few before the replay begins, the others after it.
    Before,
    /// Between its messages.
    Between,
    /// After it.
    After,
}

/// How a Logout is answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LogoutAnswer {
    AtOnce,
    /// After so many nanoseconds.
    Late(u64),
    /// Never: the connection is closed, or left to the other side.
    Never,
}

#[derive(Clone, Debug)]
pub(super) struct Habits {
    /// HeartBtInt that an initiator proposes, in seconds.
    pub(super) heart_bt_int: u64,
    /// Nanoseconds from one message of the application to the next, on average.
    pub(super) order_interval: u64,
    /// Messages of a replay that are sent at once.
    pub(super) part: u64,
    /// Nanoseconds between two parts.
    pub(super) part_pause: u64,
    /// Nanoseconds before a ResendRequest is answered.
    pub(super) replay_delay: u64,
    /// Whether a run of numbers is filled by one SequenceReset, or each by its own.
    pub(super) merges_fills: bool,
    /// How many of a thousand messages of the application are filled instead of sent again.
    pub(super) fills: u16,
    pub(super) interleave: Interleave,
    /// Whether a ResendRequest that comes during a replay begins it again, or follows it.
    pub(super) restarts: bool,
    /// Whether EndSeqNo of its own requests is the last missing number.
    pub(super) closed_requests: bool,
    /// Whether every new message after a gap makes it ask again.
    pub(super) redundant_requests: bool,
    /// Nanoseconds until it asks again for what has not come.
    pub(super) patience: u64,
    pub(super) logout_answer: LogoutAnswer,
    /// Whether it closes the connection itself after it has answered a Logout.
    pub(super) closes: bool,
    /// Nanoseconds before a TestRequest is answered.
    pub(super) test_delay: u64,
    /// Whether its Logons have NextExpectedMsgSeqNum.
    pub(super) next_expected: bool,
    /// Whether each of its Logons has ResetSeqNumFlag=Y, if it connects.
    pub(super) resets_on_logon: bool,
    /// Nanoseconds until it connects again.
    pub(super) reconnect: u64,
    /// Nanoseconds from one unasked message of the session layer to the next, on average.
    pub(super) poke_interval: u64,
}

impl Habits {
    pub(super) fn draw(random: &mut Random, faults: Faults) -> Self {
        let r = random;
        Self {
            heart_bt_int: *r.pick(&[5, 10, 30, 30, 60]),
            order_interval: *r.pick(&[20, 100, 500, 3000]) * MILLI,
            part: *r.pick(&[u64::MAX, u64::MAX, 1, 3, 10]),
            part_pause: r.within(1, 150) * MILLI,
            replay_delay: *r.pick(&[0, 0, 50, 800]) * MILLI,
            merges_fills: !r.once_in(3),
            fills: *r.pick(&[0, 0, 100, 1000]),
            interleave: *r.pick(&[Interleave::Before, Interleave::Between, Interleave::After]),
            restarts: r.once_in(2),
            closed_requests: r.once_in(3),
            redundant_requests: r.once_in(6),
            patience: r.within(2, 11) * SECOND,
            logout_answer: if faults.logouts && r.once_in(2) {
                if r.once_in(3) {
                    LogoutAnswer::Never
                } else {
                    LogoutAnswer::Late(r.within(100, 4000) * MILLI)
                }
            } else {
                LogoutAnswer::AtOnce
            },
            closes: r.once_in(2),
            test_delay: *r.pick(&[0, 0, 20, 700]) * MILLI,
            next_expected: r.once_in(2),
            resets_on_logon: faults.resets && r.once_in(6),
            reconnect: *r.pick(&[0, 0, 1, 5]) * SECOND,
            poke_interval: *r.pick(&[1, 5, 20]) * SECOND,
        }
    }
}
