//! When sequence numbers start at 1 again.

/// When sequence numbers start at 1 again, and which of a counterparty that has begun anew are
/// accepted.
#[derive(Clone, PartialEq, Debug, Default)]
#[non_exhaustive]
pub struct ResetSettings {
    /// Whether both sequence numbers start at 1 with every Logon.
    pub reset_on_logon: bool,
    /// Whether both sequence numbers start at 1 after a Logout.
    pub reset_on_logout: bool,
    /// Whether both sequence numbers start at 1 after the connection has ended for any reason.
    pub reset_on_disconnect: bool,
    /// Whether both sequence numbers start at 1 after a connection that ended because of the
    /// counterparty's mistake ([`SessionEnd::PeerMisbehaved`](crate::SessionEnd::PeerMisbehaved)),
    /// once it was logged on. A message that the session rejects ends the connection, as with
    /// [`disconnect_on_error`](crate::ValidationSettings::disconnect_on_error).
    pub reset_on_error: bool,
    /// What happens if MsgSeqNum (34) of the counterparty's Logon is too low.
    pub tolerate_low_msg_seq_num_at_logon: TooLowAtLogon,
}

/// What happens if MsgSeqNum (34) of a Logon is too low: a counterparty that has lost its store
/// begins again with numbers that it has used.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum TooLowAtLogon {
    /// The counterparty is logged out, as the standard says (2c).
    #[default]
    Refused,
    /// The number is accepted once, and recorded; NextNumIn continues from it. It is accepted again
    /// after an operator has set or reset sequence numbers, or after a restart.
    AcceptedOnce,
    /// The number is always accepted, and recorded; NextNumIn continues from it.
    Accepted,
}
