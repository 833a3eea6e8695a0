//! Places in a turn where a test ends the process, to see what a crash there leaves behind.
//!
//! Only with feature `kill-points`, which no release build has: without it not a byte of this exists.

use std::sync::OnceLock;

/// Where a turn stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Point {
    /// A message is written and sealed, the store knows nothing of it.
    Encode,
    /// The store has the message, the turn is not committed.
    Append,
    /// The turn is committed, no byte of it is on its way to the socket.
    Commit,
    /// The loop is about to write to the socket.
    Send,
    /// The loop is about to wait.
    Idle,
}

static HOOK: OnceLock<fn(Point)> = OnceLock::new();

/// Calls `hook` at every point from now on. The first hook of a process stays.
pub fn on_reach(hook: fn(Point)) {
    let _ = HOOK.set(hook);
}

/// The process has come to `point`.
pub fn reach(point: Point) {
    if let Some(hook) = HOOK.get() {
        hook(point);
    }
}
