//! The states of the standard's matrix, and which of them a session is in. docs/session.md says
//! where each of them is in the code.

use crate::state::{Phase, State};

macro_rules! matrix {
    ($($(#[$doc:meta])* $state:ident = $number:literal, $name:literal, $roles:literal, $place:ident;)*) => {
        /// A state of the "FIX session-level state matrix" of the session protocol (FIX 5.0 SP2,
        /// volume 2), by its number.
        ///
        /// If several apply, the one with the lowest number counts.
        ///
        /// ```
        /// use fixbolt_session::MatrixState;
        /// assert_eq!(MatrixState::ActiveSession.number(), 17);
        /// assert_eq!(MatrixState::ActiveSession.to_string(), "17 Active/normal session");
        /// ```
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[non_exhaustive]
        pub enum MatrixState {
            $($(#[$doc])* $state = $number,)*
        }

        impl MatrixState {
            /// All states, in the order of their numbers.
            pub const ALL: [Self; 18] = [$(Self::$state,)*];

            /// Returns the state's number in the matrix, 1 to 18.
            #[must_use]
            pub const fn number(self) -> u8 {
                self as u8
            }

            /// Returns the state's name in the matrix.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$state => $name,)*
                }
            }

            /// Returns the roles that have the state and where it is, as docs/session.md has them.
            #[cfg(test)]
            const fn row(self) -> (&'static str, Visibility) {
                match self {
                    $(Self::$state => ($roles, Visibility::$place),)*
                }
            }
        }
    };
}

/// Who can see that a session is in a state.
#[cfg(test)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Visibility {
    /// [`Sessions::matrix_state`] returns it.
    Shown,
    /// A session passes through it within one call.
    Call,
    /// What drives the sessions has it: it makes the connections.
    Engine,
}

matrix! {
    /// No connection, and both sequence numbers are 1.
    NotConnectedToday = 1, "Disconnected - no connection today", "both", Shown;
    /// No connection, and sequence numbers were used.
    Disconnected = 2, "Disconnected - connection today", "both", Shown;
    /// The connection is to be closed.
    BrokenConnection = 3, "Detect broken network connection", "both", Shown;
    /// An acceptor listens.
    AwaitingConnection = 4, "Awaiting connection", "acceptor", Engine;
    /// An initiator connects.
    InitiatingConnection = 5, "Initiate connection", "initiator", Engine;
    /// There is a connection, and the counterparty's Logon is awaited.
    Connected = 6, "Network connection established", "both", Shown;
    /// An initiator has sent its Logon.
    LogonSent = 7, "Initiation Logon sent", "initiator", Call;
    /// An acceptor has received a Logon.
    LogonReceived = 8, "Initiation Logon received", "acceptor", Call;
    /// An acceptor has answered the Logon.
    LogonAnswered = 9, "Initiation Logon response", "acceptor", Call;
    /// Messages are being sent again.
    HandlingResendRequest = 10, "Handle ResendRequest", "both", Shown;
    /// A message with a number too high has arrived.
    SeqNumTooHigh = 11, "Receive MsgSeqNum too high", "both", Call;
    /// Missing messages were requested.
    AwaitingResend = 12, "Awaiting/processing response to ResendRequest", "both", Shown;
    /// Nothing was received for HeartBtInt and a reasonable time.
    NothingReceived = 13, "No messages received in interval", "both", Call;
    /// A TestRequest was sent and is not answered.
    AwaitingHeartbeat = 14, "Awaiting/processing response to TestRequest", "both", Shown;
    /// The counterparty has logged out.
    LogoutReceived = 15, "Receive Logout message", "both", Shown;
    /// A Logout was sent and is not answered.
    LogoutSent = 16, "Initiate logout process", "both", Shown;
    /// The Logons have been exchanged, and nothing else is going on.
    ActiveSession = 17, "Active/normal session", "both", Shown;
    /// An initiator waits for the answer to its Logon.
    AwaitingLogonAnswer = 18, "Waiting for Logon ack", "initiator", Shown;
}

impl core::fmt::Display for MatrixState {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} {}", self.number(), self.name())
    }
}

/// Returns the state that a session is in between two calls.
pub(crate) fn state_of(state: &State) -> MatrixState {
    let Some(connection) = &state.connection else {
        let is_unused = state.stored.next_in.0 == 1 && state.stored.next_out.0 == 1;
        return if is_unused { MatrixState::NotConnectedToday } else { MatrixState::Disconnected };
    };
    let logon = &connection.logon;
    if connection.end.is_some() {
        MatrixState::BrokenConnection
    } else if logon.phase() == Phase::AwaitingLogon {
        MatrixState::Connected
    } else if logon.phase() == Phase::LogonSent {
        MatrixState::AwaitingLogonAnswer
    } else if logon.backlog.replay.is_some() {
        MatrixState::HandlingResendRequest
    } else if logon.missing.is_some() {
        MatrixState::AwaitingResend
    } else if connection.test_request.is_some() {
        MatrixState::AwaitingHeartbeat
    } else {
        match logon.phase() {
            Phase::LogoutAnswered => MatrixState::LogoutReceived,
            Phase::LogoutSent => MatrixState::LogoutSent,
            _ => MatrixState::ActiveSession,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documents_table_has_the_18_states_of_the_code() {
        let page = include_str!("../../../../docs/session.md");
        let rows = page.lines().filter_map(|line| {
            let mut cells = line.strip_prefix('|')?.split('|').map(str::trim);
            let number: u8 = cells.next()?.parse().ok()?;
            let place = |cell: &str| match cell.split([':', ',']).next() {
                Some("shown") => Visibility::Shown,
                Some("within a call") => Visibility::Call,
                Some("engine") => Visibility::Engine,
                _ => panic!("{line}"),
            };
            Some((number, cells.next()?, cells.next()?, place(cells.next()?)))
        });
        let states = MatrixState::ALL.map(|state| {
            let (roles, place) = state.row();
            (state.number(), state.name(), roles, place)
        });
        assert_eq!(rows.collect::<Vec<_>>(), states, "docs/session.md on the left, MatrixState on the right");
    }
}
