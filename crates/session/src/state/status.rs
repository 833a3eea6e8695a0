//! The status of a session, for threads other than its worker's.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use fixbolt_codec::SeqNum;

use crate::events::end::Halt;
use crate::state::Phase;
use crate::values::waits_for::WaitsFor;

/// The state of a session.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SessionState {
    /// There is no connection.
    Disconnected,
    /// There is no connection, and there will be none until the session is enabled.
    Disabled,
    /// There is a connection, but the Logons have not been exchanged.
    LoggingOn,
    /// The Logons have been exchanged.
    LoggedOn,
    /// A Logout was sent; its answer or the end of the connection is awaited.
    LoggingOut,
    /// The session is halted until somebody intervenes.
    Halted(Halt),
    /// The session is closed.
    Closed,
}

/// The status of one session: its worker keeps it up to date, and any thread reads it without
/// asking the worker.
///
/// It is written when a transaction is committed, before the application is notified, and when a
/// connection begins or ends. Each value was correct at some moment during the call; two values
/// read one after the other may belong to different moments.
#[derive(Debug)]
pub struct StatusCell {
    standing: AtomicU8,
    next_in: AtomicU64,
    next_out: AtomicU64,
    /// The number of [`WaitsFor`], counted from 1; 0 if nothing waits.
    waits: AtomicU8,
    /// Why the session is halted; written before `standing` says that it is.
    halt: Mutex<Option<Halt>>,
    /// Whether messages are accepted while the session is not logged on.
    keeps_messages: bool,
}

/// [`SessionState`] as a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
enum StateNumber {
    Disconnected,
    Disabled,
    LoggingOn,
    LoggedOn,
    LoggingOut,
    Halted,
    Closed,
}

impl StateNumber {
    /// In the order of their numbers.
    const ALL: [Self; 7] = [
        Self::Disconnected,
        Self::Disabled,
        Self::LoggingOn,
        Self::LoggedOn,
        Self::LoggingOut,
        Self::Halted,
        Self::Closed,
    ];
}

impl Default for StatusCell {
    /// Returns the status of a session that was just opened and keeps no messages.
    fn default() -> Self {
        Self::new(false)
    }
}

impl StatusCell {
    pub(crate) fn new(keeps_messages: bool) -> Self {
        Self {
            standing: AtomicU8::new(StateNumber::Disconnected as u8),
            next_in: AtomicU64::new(1),
            next_out: AtomicU64::new(1),
            waits: AtomicU8::new(0),
            halt: Mutex::new(None),
            keeps_messages,
        }
    }

    fn standing(&self) -> StateNumber {
        let number = usize::from(self.standing.load(Ordering::Acquire));
        StateNumber::ALL.get(number).copied().unwrap_or(StateNumber::Closed)
    }

    /// Returns the state of the session. Takes a lock if it is halted.
    #[must_use]
    pub fn state(&self) -> SessionState {
        match self.standing() {
            StateNumber::Disconnected => SessionState::Disconnected,
            StateNumber::Disabled => SessionState::Disabled,
            StateNumber::LoggingOn => SessionState::LoggingOn,
            StateNumber::LoggedOn => SessionState::LoggedOn,
            StateNumber::LoggingOut => SessionState::LoggingOut,
            StateNumber::Closed => SessionState::Closed,
            StateNumber::Halted => {
                let halt = self.halt.lock().unwrap_or_else(PoisonError::into_inner).clone();
                // The halt has ended in the meantime.
                halt.map_or(SessionState::Disconnected, SessionState::Halted)
            }
        }
    }

    /// Returns whether the session is logged on.
    #[must_use]
    pub fn is_logged_on(&self) -> bool {
        self.standing() == StateNumber::LoggedOn
    }

    /// Returns whether the session is halted. Takes no lock.
    #[must_use]
    pub fn is_halted(&self) -> bool {
        self.standing() == StateNumber::Halted
    }

    /// Returns whether the session is closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.standing() == StateNumber::Closed
    }

    /// Returns whether the session accepts messages while it is not logged on
    /// ([`WhileLoggedOff::Keep`](crate::WhileLoggedOff::Keep)).
    #[must_use]
    pub const fn keeps_messages(&self) -> bool {
        self.keeps_messages
    }

    /// Returns NextNumIn: the MsgSeqNum (34) that is expected next.
    #[must_use]
    pub fn next_in(&self) -> SeqNum {
        SeqNum(self.next_in.load(Ordering::Relaxed))
    }

    /// Returns NextNumOut: the MsgSeqNum (34) that is used next.
    #[must_use]
    pub fn next_out(&self) -> SeqNum {
        SeqNum(self.next_out.load(Ordering::Relaxed))
    }

    /// Returns what new messages of the application wait for; `None` if they do not wait.
    #[must_use]
    pub fn waits_for(&self) -> Option<WaitsFor> {
        let number = usize::from(self.waits.load(Ordering::Relaxed)).checked_sub(1)?;
        WaitsFor::ALL.get(number).copied()
    }

    /// Updates the status; called by the worker.
    pub(crate) fn publish(
        &self,
        phase: Phase,
        enabled: bool,
        halted: Option<&Halt>,
        waits: Option<WaitsFor>,
        next_in: SeqNum,
        next_out: SeqNum,
    ) {
        let waits = waits.map_or(0, |waits| waits as u8 + 1);
        if waits != self.waits.load(Ordering::Relaxed) {
            self.waits.store(waits, Ordering::Relaxed);
        }
        self.next_in.store(next_in.0, Ordering::Relaxed);
        self.next_out.store(next_out.0, Ordering::Relaxed);
        let standing = match (halted, phase) {
            (Some(_), _) => StateNumber::Halted,
            (None, Phase::Disconnected) if enabled => StateNumber::Disconnected,
            (None, Phase::Disconnected) => StateNumber::Disabled,
            (None, Phase::AwaitingLogon | Phase::LogonSent) => StateNumber::LoggingOn,
            (None, Phase::LoggedOn) => StateNumber::LoggedOn,
            (None, Phase::LogoutSent | Phase::LogoutAnswered) => StateNumber::LoggingOut,
        };
        // The lock is taken only when a halt begins or ends.
        let before = self.standing();
        if standing == StateNumber::Halted || before == StateNumber::Halted {
            *self.halt.lock().unwrap_or_else(PoisonError::into_inner) = halted.cloned();
        }
        if standing != before {
            self.standing.store(standing as u8, Ordering::Release);
        }
    }

    /// Marks the session as closed; called by the worker.
    pub(crate) fn close(&self) {
        self.standing.store(StateNumber::Closed as u8, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_read_as_what_was_written() {
        for (number, standing) in StateNumber::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(standing as u8), number);
        }
    }
}
