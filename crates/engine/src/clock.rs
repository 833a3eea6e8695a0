//! The two clocks, read together once per cycle of the loop.

use std::sync::OnceLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use fixbolt_session::{Mono, Now, Utc};

/// Returns the time of both clocks. The monotonic one counts from its first reading in this
/// process.
pub(crate) fn now() -> Now {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    let mono = ORIGIN.get_or_init(Instant::now).elapsed().as_nanos();
    // A wall clock before 1970 means a machine without a clock: every SendingTime is wrong anyway.
    let utc = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    let nanos = |n: u128| u64::try_from(n).unwrap_or(u64::MAX);
    Now { mono: Mono(nanos(mono)), utc: Utc(nanos(utc)) }
}
