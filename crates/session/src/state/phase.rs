//! The phase of a session, and what belongs to each of them: it ends with its phase.

use std::sync::Arc;

use fixbolt_codec::SeqNum;

use crate::events::end::SessionEnd;
use crate::values::time::Mono;

/// The phase of a session between two transport connections and within one (the standard's state
/// matrix, condensed).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Phase {
    /// No connection.
    Disconnected,
    /// Acceptor: connected, waiting for the first Logon.
    AwaitingLogon,
    /// Initiator: our Logon was sent, waiting for its answer.
    LogonSent,
    /// The Logons have been exchanged.
    LoggedOn,
    /// Our Logout was sent, waiting for its answer.
    LogoutSent,
    /// The counterparty logged out and was answered; it should close the connection now.
    LogoutAnswered,
}

/// The phase of a connection, with what belongs to it. `until` is when it ends if nothing happens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum PhaseState {
    AwaitingLogon {
        until: Mono,
    },
    LogonSent {
        until: Mono,
        /// Whether our Logon has ResetSeqNumFlag=Y, so that the answer must have it, too.
        asks_reset: bool,
    },
    LoggedOn {
        /// Whether new application messages are withheld, because messages are missing before the
        /// counterparty's Logon.
        held: Option<Held>,
    },
    LogoutSent(Leave),
    LogoutAnswered(Leave),
}

/// How long new application messages are withheld.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Held {
    /// As long as this is NextNumIn: nothing of what is missing has come.
    pub(crate) at: SeqNum,
    /// When they go out all the same.
    pub(crate) until: Mono,
}

/// A Logout of ours.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Leave {
    pub(crate) until: Mono,
    /// Its MsgSeqNum; `None` once the sequence numbers were reset.
    pub(crate) seq: Option<SeqNum>,
    /// Whether we leave, so that `until` stands: a replay is cut in time for the counterparty's
    /// answer. Otherwise the counterparty leaves, and has time for the rest of a replay.
    pub(crate) is_ours: bool,
    /// The reason for the end once it is answered, if this is not an ordinary logout. Replaced
    /// whole, so that a snapshot of the state costs no copy.
    pub(crate) end: Option<Arc<SessionEnd>>,
}

impl Leave {
    /// Returns how the connection ends after this Logout: as it was sent for, or with `ordinary` if
    /// it is an ordinary one.
    pub(crate) fn end_or(&self, ordinary: SessionEnd) -> SessionEnd {
        self.end.as_deref().cloned().unwrap_or(ordinary)
    }
}

impl PhaseState {
    pub(crate) const fn phase(&self) -> Phase {
        match self {
            Self::AwaitingLogon { .. } => Phase::AwaitingLogon,
            Self::LogonSent { .. } => Phase::LogonSent,
            Self::LoggedOn { .. } => Phase::LoggedOn,
            Self::LogoutSent(_) => Phase::LogoutSent,
            Self::LogoutAnswered(_) => Phase::LogoutAnswered,
        }
    }

    /// Returns when the phase ends, or the withholding of messages, if nothing happens.
    pub(crate) fn until(&self) -> Option<Mono> {
        match self {
            Self::AwaitingLogon { until } | Self::LogonSent { until, .. } => Some(*until),
            Self::LoggedOn { held } => held.map(|held| held.until),
            Self::LogoutSent(leave) | Self::LogoutAnswered(leave) => Some(leave.until),
        }
    }

    /// Returns how long new application messages are withheld, if they are.
    pub(crate) const fn held(&self) -> Option<Held> {
        match self {
            Self::LoggedOn { held } => *held,
            _ => None,
        }
    }

    /// Ends the withholding of messages.
    pub(crate) const fn release(&mut self) {
        if let Self::LoggedOn { held } = self {
            *held = None;
        }
    }

    /// Returns our Logout.
    pub(crate) const fn leave(&self) -> Option<&Leave> {
        match self {
            Self::LogoutSent(leave) | Self::LogoutAnswered(leave) => Some(leave),
            _ => None,
        }
    }

    /// Copies in place: a snapshot is taken for each message, and hardly ever in another phase.
    #[inline]
    pub(crate) fn copy_from(&mut self, source: &Self) {
        match (&mut *self, source) {
            (Self::LoggedOn { held }, Self::LoggedOn { held: source }) => *held = *source,
            _ => self.clone_from(source),
        }
    }

    /// Forgets the sequence numbers, which were reset.
    pub(crate) fn renumbered(mut self) -> Self {
        self.release();
        if let Self::LogoutSent(leave) | Self::LogoutAnswered(leave) = &mut self {
            leave.seq = None;
        }
        self
    }
}
