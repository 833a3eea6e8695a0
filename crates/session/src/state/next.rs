//! What a session asks its driver for.

use crate::state::reading::BlockedBy;
use crate::state::session::Session;
use crate::values::next::{Next, Read};
use crate::values::time::Mono;

impl Session {
    /// Returns what the session asks its driver for.
    pub(crate) fn next(&self) -> Next {
        let (state, reading) = (&self.state, &self.intake.reading);
        let read = if reading.blocked.is_some() {
            Read::Nothing
        } else if state.is_open() && reading.budget.is_spent() {
            Read::Again
        } else {
            Read::Bytes
        };
        let deadline = if self.standing.can_go_on && state.is_open() {
            Some(Mono::default())
        } else {
            self.next_deadline()
        };
        Next {
            close: state.connection.is_some() && !state.is_open(),
            read,
            output: !self.outbox.is_empty(),
            deadline,
        }
    }

    /// Returns what the session asks for, which its driver is told.
    pub(crate) fn tell_next(&mut self) -> Next {
        let next = self.next();
        let standing = self.standing.change();
        (standing.told, standing.is_changed) = (next, false);
        next
    }

    /// Returns whether the session can continue once its socket has accepted more bytes, or has
    /// something to tell its application about that.
    pub(crate) fn awaits_socket(&self) -> bool {
        self.state.is_open() && self.state.replay().is_some()
            || self.intake.reading.blocked.is_some_and(|blocked| blocked.by == BlockedBy::Outbox)
            || self.outbox.has_passed_watermark()
            || self.limits.outbound_permits.as_ref().is_some_and(|permits| permits.is_awaited())
    }

    /// Checks that its driver knows what the session asks for, or is about to be told.
    ///
    /// # Panics
    /// Panics if it does not hold.
    pub(crate) fn check_told(&self) {
        let (next, told) = (self.next(), self.standing.told);
        assert!(
            self.standing.is_changed || next == told,
            "the session asks for {next:?}, and its driver knows of {told:?}"
        );
    }
}
