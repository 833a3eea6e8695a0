//! The two clocks, read together once per cycle of the loop.

use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

#[cfg(target_os = "linux")]
use fixbolt_journal::since_boot;
use fixbolt_session::{CodecClock, Mono, Now, Utc, runtime};

/// Returns the time of both clocks.
pub(crate) fn now() -> Now {
    // A wall clock before 1970 means a machine without a clock: every SendingTime is wrong anyway.
    let utc = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    Now { mono: mono(), utc: Utc(u64::try_from(utc).unwrap_or(u64::MAX)) }
}

/// Returns the time of the monotonic clock, which counts from its first reading in this process,
/// and goes on while the machine is suspended: what the counterparty waits for does, too.
fn mono() -> Mono {
    static ORIGIN: OnceLock<u64> = OnceLock::new();
    let now = since_boot();
    runtime::mono(now.saturating_sub(*ORIGIN.get_or_init(|| now)))
}

#[cfg(not(target_os = "linux"))]
fn since_boot() -> u64 {
    static ORIGIN: OnceLock<std::time::Instant> = OnceLock::new();
    let since = ORIGIN.get_or_init(std::time::Instant::now).elapsed();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// Returns the system's monotonic clock, for sessions that measure how long their messages take to
/// encode and decode
/// ([`TimingSettings::codec_timing`](fixbolt_session::TimingSettings::codec_timing)).
#[must_use]
pub const fn codec_clock() -> CodecClock {
    CodecClock::new(mono)
}
