//! Points in a transaction where a test ends the process, to see what state a crash there leaves.
//!
//! Only compiled with the feature `kill-points`, which no release build has.

use std::sync::OnceLock;

/// A point in a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Point {
    /// A message is written and sealed, but not appended to the store.
    Encode,
    /// The store has the message, but the transaction is not committed.
    Append,
    /// The transaction is committed, but no byte of it has been sent.
    Commit,
    /// The loop is about to write to the socket.
    Send,
    /// The loop is about to wait.
    Idle,
}

static HOOK: OnceLock<fn(Point)> = OnceLock::new();

/// Calls `hook` at every point from now on. The first hook of a process is permanent.
pub fn on_reach(hook: fn(Point)) {
    let _ = HOOK.set(hook);
}

/// Called when the process has reached `point`.
pub fn reach(point: Point) {
    if let Some(hook) = HOOK.get() {
        hook(point);
    }
}
