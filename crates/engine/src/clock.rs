//! The two clocks, read together once per cycle of the loop.

use std::sync::OnceLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use fixbolt_session::{CodecClock, Mono, Now, Utc};

/// Returns the time of both clocks.
pub(crate) fn now() -> Now {
    // A wall clock before 1970 means a machine without a clock: every SendingTime is wrong anyway.
    let utc = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    Now { mono: mono(), utc: Utc(u64::try_from(utc).unwrap_or(u64::MAX)) }
}

/// Returns the time of the monotonic clock, which counts from its first reading in this process.
fn mono() -> Mono {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    let mono = ORIGIN.get_or_init(Instant::now).elapsed().as_nanos();
    Mono(u64::try_from(mono).unwrap_or(u64::MAX))
}

/// Returns the system's monotonic clock, for sessions that measure how long their messages take to
/// encode and decode
/// ([`SessionSettings::codec_timing`](fixbolt_session::SessionSettings::codec_timing)).
#[must_use]
pub const fn codec_clock() -> CodecClock {
    CodecClock::new(mono)
}
