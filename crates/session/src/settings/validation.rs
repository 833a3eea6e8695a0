//! What a session checks in messages, and what follows from a violation.

use fixbolt_dictionary::Policy;

/// What is checked in messages, and what follows from a violation.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct ValidationSettings {
    /// The reaction to each kind of violation in an inbound message.
    pub incoming: Policy,
    /// The reaction to each kind of violation in a message that the application sends; `None`
    /// disables the check. A rejected message makes `send` fail with
    /// [`SendError::Invalid`](crate::SendError::Invalid).
    pub outgoing: Option<Policy>,
    /// Whether a message whose CheckSum (10) is wrong is garbled. If not, it is processed as if
    /// CheckSum were right: a message that was damaged on its way is then acted on. BodyLength (9)
    /// must be right in any case, because it says where a message ends.
    pub validate_checksum: bool,
    /// Whether a garbled message is answered with a Reject, as QuickFIX/J does, instead of being
    /// ignored: one that ends where BodyLength (9) says, but whose CheckSum (10) or fields are
    /// wrong. Its MsgSeqNum is used if it is the expected one, so that the message is not requested
    /// again: it is lost.
    ///
    /// It is answered only if its header has the session's BeginString and CompIDs, and a
    /// MsgSeqNum; a Reject is not answered, and the MsgSeqNum of a Logon or SequenceReset is not
    /// used. It still counts for
    /// [`max_garbled_messages`](crate::LimitSettings::max_garbled_messages), and as a message of
    /// the session layer.
    pub reject_garbled_message: bool,
    /// Whether SenderCompID (49) and TargetCompID (56) of each message are compared with the
    /// session's.
    pub check_comp_id: bool,
    /// Whether a message with PossDupFlag=Y needs OrigSendingTime (122).
    pub requires_orig_sending_time: bool,
    /// Whether the session is for production or for tests.
    pub test_message_indicator: TestMessageIndicator,
    /// Whether a message of the counterparty that the session rejects (35=3) ends the connection:
    /// a Logout with the Text of the Reject follows it. What the application rejects does not.
    pub disconnect_on_error: bool,
    /// Whether a message on which the application fails or panics is rejected, and counts as
    /// processed: with a BusinessMessageReject whose BusinessRejectReason (380) is 4, "Application
    /// not available", or with a Reject before FIX.4.2. Otherwise the connection ends, and the
    /// message is offered again
    /// ([`max_delivery_attempts`](crate::LimitSettings::max_delivery_attempts)).
    pub reject_message_on_unhandled_exception: bool,
}

impl Default for ValidationSettings {
    fn default() -> Self {
        Self {
            incoming: Policy::standard(),
            outgoing: None,
            validate_checksum: true,
            reject_garbled_message: false,
            check_comp_id: true,
            requires_orig_sending_time: true,
            test_message_indicator: TestMessageIndicator::Production,
            disconnect_on_error: false,
            reject_message_on_unhandled_exception: false,
        }
    }
}

/// Whether a session is for production or for tests: TestMessageIndicator (464) of both Logons,
/// since FIX.4.3.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum TestMessageIndicator {
    /// For production: our Logons do not have the field, and a Logon with 464=Y is refused with a
    /// Logout.
    #[default]
    Production,
    /// For tests: our Logons have 464=Y, and a Logon without it is refused with a Logout.
    Test,
    /// Our Logons do not have the field, and that of the counterparty is not compared.
    Any,
}

impl TestMessageIndicator {
    /// Returns the Text of the Logout that refuses a Logon, if it is refused.
    pub(crate) const fn refuses(self, is_test: bool) -> Option<&'static str> {
        match (self, is_test) {
            (Self::Production, true) => {
                Some("TestMessageIndicator (464) is Y, and this session is for production")
            }
            (Self::Test, false) => Some("TestMessageIndicator (464) is not Y, and this session is for tests"),
            _ => None,
        }
    }
}
