//! What a replay has found.

use std::collections::BTreeMap;

use fixbolt_session::Utc;

/// What a replay has found.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) findings: Vec<Finding>,
    /// Number of messages of the counterparty that were given to the session.
    pub(super) inbound: u64,
    pub(super) equal: u64,
    pub(super) different: u64,
    pub(super) missing: u64,
    pub(super) extra: u64,
    /// What was not replayed as it was, with how often.
    pub(super) limits: BTreeMap<&'static str, u64>,
}

impl Outcome {
    /// Returns the number of recorded messages that were compared.
    pub(in super::super) const fn compared(&self) -> u64 {
        self.equal + self.different + self.missing
    }
}

/// Something that is reported, in the order of time.
pub(super) enum Finding {
    Difference(Difference),
    Note { utc: Utc, text: String },
}

/// A message that the journal and the replayed session do not have alike.
pub(super) struct Difference {
    pub(super) utc: Utc,
    pub(super) recorded: Option<Vec<u8>>,
    /// As the session sent it, with the MsgSeqNum that it would have without earlier differences.
    pub(super) replayed: Option<Vec<u8>>,
    /// Why the session did not send it, if that is known.
    pub(super) why: Option<String>,
}

/// The reasons for which something is not replayed as it was.
pub(super) mod limit {
    pub(in super::super) const BEFORE: &str = "records before the first logon of the journal, not replayed";
    pub(in super::super) const ATTEMPT: &str =
        "failed attempts of the application, not replayed: their message is recorded once it is processed";
    pub(in super::super) const UNREAD: &str =
        "messages that answer one that is not recorded (garbled or too large), not replayed";
    pub(in super::super) const LEFT: &str =
        "messages of the counterparty that the replayed session did not read";
    pub(in super::super) const GIVEN_UP: &str = "MsgSeqNums given up after an unclean stop, skipped";
    pub(in super::super) const SET: &str = "times that NextNumIn was set to the recorded one at a logon";
    pub(in super::super) const GAP: &str =
        "messages after a gap that were not recorded then, a gap fill instead";
    pub(in super::super) const SIGN: &str = "signs of life assumed while messages were missing";
    pub(in super::super) const FROM_OUTSIDE: &str =
        "Logouts, TestRequests and resets from outside the session, repeated when they were recorded";
    pub(in super::super) const NUMBERS: &str = "changes of an operator, repeated when they were recorded";
}
