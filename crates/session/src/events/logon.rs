//! Why a Logon was refused: what was wrong with the counterparty's, and what it answered to ours.

use core::fmt;

use fixbolt_codec::{Redacted, Tag};
use fixbolt_dictionary::SessionRejectCode;

use crate::events::rejects::Rejection;
use crate::values::fix::session_status;

/// The most bytes of a counterparty's Text (58) that are kept of an answer to our Logon.
const MOST_TEXT: usize = 512;

/// What is wrong with a counterparty's Logon: the first check of it that failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LogonFault {
    /// The first bytes of the connection are garbled.
    Garbled,
    /// SendingTime (52) is missing, or is not a time.
    SendingTime,
    /// EncryptMethod (98) is not 0.
    EncryptMethod,
    /// HeartBtInt (108) is not a number of seconds that a session can have.
    HeartBtInt,
    /// DefaultApplVerID (1137) is a version that the session has no dictionary of.
    DefaultApplVerId,
    /// MaxMessageSize (383) is too small for messages of the session layer.
    MaxMessageSize,
    /// ResetSeqNumFlag (141) is Y, and MsgSeqNum (34) is not 1.
    ResetSeqNumFlag,
    /// Our Logon has ResetSeqNumFlag=Y, and the answer does not reset.
    ResetUnanswered,
    /// The answer has ResetSeqNumFlag=Y, and our Logon does not.
    ResetUnasked,
    /// NextExpectedMsgSeqNum (789) is not a number of at least 1.
    NextExpectedMsgSeqNum,
    /// A field is missing, or is not as the dictionary or the standard requires.
    Field {
        /// SessionRejectReason (373).
        reason: SessionRejectCode,
        /// The field; `None` if it has no number.
        tag: Option<Tag>,
    },
}

impl fmt::Display for LogonFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Garbled => "it is garbled",
            Self::SendingTime => "SendingTime (52) is missing, or is not a time",
            Self::EncryptMethod => "EncryptMethod (98) is not 0",
            Self::HeartBtInt => "HeartBtInt (108) is not a number of seconds that is possible",
            Self::DefaultApplVerId => {
                "DefaultApplVerID (1137) is a version that this session has no dictionary of"
            }
            Self::MaxMessageSize => "MaxMessageSize (383) is too small",
            Self::ResetSeqNumFlag => "ResetSeqNumFlag (141) is Y, and MsgSeqNum (34) is not 1",
            Self::ResetUnanswered => "our Logon has ResetSeqNumFlag (141) Y, and its answer does not reset",
            Self::ResetUnasked => "it has ResetSeqNumFlag (141) Y, and answers a Logon that has not",
            Self::NextExpectedMsgSeqNum => "NextExpectedMsgSeqNum (789) is not a number of at least 1",
            Self::Field { reason, tag: None } => return f.write_str(reason.text()),
            Self::Field { reason, tag: Some(tag) } => return write!(f, "{}, field {tag}", reason.text()),
        })
    }
}

/// A counterparty's answer that refuses our Logon.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct LogonRefusal {
    /// The message.
    pub answer: RefusingAnswer,
    /// Its Text (58), with control characters escaped; empty if there is none. What is beyond 512
    /// bytes is left out.
    pub text: String,
}

/// The message that refuses our Logon.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum RefusingAnswer {
    /// A Logout.
    Logout {
        /// SessionStatus (1409), since FIXT.1.1: 5 is a wrong password, for example.
        status: Option<u64>,
    },
    /// A Reject.
    Reject {
        /// SessionRejectReason (373), since FIX.4.2.
        reason: Option<u64>,
        /// RefTagID (371), since FIX.4.2: the field in error.
        tag: Option<Tag>,
    },
}

impl LogonRefusal {
    /// Keeps what a message says, and as much of its Text (58) as is allowed.
    pub(crate) fn new(answer: RefusingAnswer, text: Redacted<'_>) -> Self {
        let text = match text.0.get(..MOST_TEXT) {
            Some(begin) if text.0.len() > MOST_TEXT => format!("{}...", Redacted(begin)),
            _ => text.to_string(),
        };
        Self { answer, text }
    }
}

/// Shows the Text, or else what the other fields mean, and the fields of a Reject in any case.
impl fmt::Display for LogonRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SILENT: &str = "the counterparty refused the logon without saying why; read its log";
        const SAYS: &str = "the counterparty refused the logon: ";
        match self.answer {
            RefusingAnswer::Logout { .. } if !self.text.is_empty() => write!(f, "{SAYS}{}", self.text),
            RefusingAnswer::Logout { status: Some(status) } => match session_status::meaning(status) {
                Some(meaning) => write!(f, "{SAYS}{meaning} (SessionStatus 1409 is {status})"),
                None => write!(f, "{SAYS}SessionStatus (1409) is {status}"),
            },
            RefusingAnswer::Logout { status: None } => f.write_str(SILENT),
            RefusingAnswer::Reject { reason: None, tag: None } if self.text.is_empty() => f.write_str(SILENT),
            RefusingAnswer::Reject { reason, tag } => {
                f.write_str(SAYS)?;
                Rejection { text: &self.text, reason, tag }.fmt(f)
            }
        }
    }
}
