//! What a program makes that drives sessions itself: the times of its clock, and the names of the
//! sessions and messages in its tables and queues. An application is given them, and makes none.

use crate::events::event::Ticket;
use crate::values::key::SessionKey;
use crate::values::time::Mono;

/// Returns the point in time so many nanoseconds after the origin of the caller's monotonic clock.
#[must_use]
pub const fn mono(nanos: u64) -> Mono {
    Mono(nanos)
}

/// Returns the key of the session that `worker` opened as number `serial` (counted from 0) and
/// keeps at `index`, for tests of what is called with keys. [`Sessions`](crate::Sessions) makes
/// those of its sessions.
#[must_use]
pub const fn session_key(worker: u16, index: u32, serial: u32) -> SessionKey {
    SessionKey::new(worker, index, serial)
}

/// Returns the ticket of the message that waits for a throttle as this number, counted from 1 over
/// the life of the session\'s store.
#[must_use]
pub const fn waiting(number: u64) -> Ticket {
    Ticket::Waiting(number)
}

/// Returns the ticket of the message that was posted as this number, counted from 1 in each
/// session.
#[must_use]
pub const fn posted(number: u64) -> Ticket {
    Ticket::Posted(number)
}
