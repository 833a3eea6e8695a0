//! Heartbeats, waits and times.

use core::time::Duration;

use fixbolt_codec::Precision;

use crate::settings::delay_multiplier::DelayMultiplier;
use crate::settings::heart_bt_int::AcceptedHeartBtInt;
use crate::values::codec_timing::CodecClock;

/// Heartbeats, how long the session waits for what, and the times in its messages.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct TimingSettings {
    /// HeartBtInt (108) that an initiator proposes, in seconds; with 0 no heartbeats are sent. An
    /// acceptor uses the counterparty's.
    pub heart_bt_int: u32,
    /// The values of HeartBtInt (108) that a counterparty's Logon may have; another one is refused.
    /// An initiator always accepts the value that it proposed.
    pub accepted_heart_bt_int: AcceptedHeartBtInt,
    /// Whether an acceptor uses its own [`heart_bt_int`](Self::heart_bt_int) whatever the
    /// counterparty's Logon says, and answers with it. An initiator that does not follow the answer
    /// sends heartbeats at its own pace, and gets TestRequests if that is slower.
    pub heart_bt_int_override: bool,
    /// How long after HeartBtInt without an inbound message a TestRequest is sent: 0.2 by default;
    /// up to 1 is sensible.
    pub test_request_delay_multiplier: DelayMultiplier,
    /// How long after HeartBtInt without an inbound message the connection ends if the TestRequest
    /// is not answered, but at least a fifth of HeartBtInt after it. `None` for twice the time that
    /// causes a TestRequest.
    pub heart_beat_timeout_multiplier: Option<DelayMultiplier>,
    /// Whether the connection of a silent counterparty is kept: an unanswered TestRequest is
    /// reported ([`Event::Note`](crate::Event::Note)), and the next one follows. Otherwise the
    /// connection ends.
    pub disable_heart_beat_check: bool,
    /// The largest accepted difference between SendingTime (52) and our clock; `None` disables the
    /// check.
    pub max_latency: Option<Duration>,
    /// How long a wall clock that has jumped by more than two seconds does not count for the
    /// session's schedule: until then no edge passes, and the window of before decides about
    /// Logons. It counts at once if this is zero. It ends when the clock shows the right time
    /// again, or with [`Sessions::confirm_clock`](crate::Sessions::confirm_clock).
    pub clock_jump_hold: Duration,
    /// How long to wait for the first Logon, or for its answer.
    pub logon_timeout: Duration,
    /// How long a connection lasts at most once we leave it: half of that time is for the rest of a
    /// replay, and the whole for the answer to our Logout.
    pub logout_timeout: Duration,
    /// How long the counterparty may take to read what was sent to it. Then the connection ends
    /// with [`SessionEnd::PeerDidNotRead`](crate::SessionEnd::PeerDidNotRead), so that a
    /// counterparty that reads nothing does not hold the session.
    pub send_timeout: Duration,
    /// The digits of a second in the times that we send. FIX.4.0 and FIX.4.1 always send whole
    /// seconds.
    pub timestamp_precision: Precision,
    /// The clock with which the session measures how long its messages take to encode and to
    /// decode; `None` measures nothing. The totals of a connection are reported at its end
    /// ([`Event::CodecTime`](crate::Event::CodecTime)).
    ///
    /// Encoding lasts from when the message is begun until header and trailer are around its body,
    /// and so includes what the application does between its fields. Decoding lasts from cutting
    /// the message out of the received bytes until the application could read it. Neither includes
    /// the store, the check of a message of ours, or an observer of the wire. A message that waits
    /// for others, or that the application puts off, is decoded again when it is due, and counts
    /// again. Each measurement includes about one reading of the clock.
    pub codec_timing: Option<CodecClock>,
}

impl Default for TimingSettings {
    fn default() -> Self {
        Self {
            heart_bt_int: 30,
            accepted_heart_bt_int: AcceptedHeartBtInt::default(),
            heart_bt_int_override: false,
            test_request_delay_multiplier: DelayMultiplier::FIFTH,
            heart_beat_timeout_multiplier: None,
            disable_heart_beat_check: false,
            max_latency: Some(Duration::from_secs(120)),
            clock_jump_hold: Duration::from_secs(300),
            logon_timeout: Duration::from_secs(10),
            logout_timeout: Duration::from_secs(2),
            send_timeout: Duration::from_secs(30),
            timestamp_precision: Precision::Millis,
            codec_timing: None,
        }
    }
}
