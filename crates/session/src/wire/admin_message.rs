//! The messages that the session layer writes itself, as values.

use std::borrow::Cow;

use fixbolt_codec::plumbing::BodyPlumbing as _;
use fixbolt_codec::{Body, BodyWriter, FromField, Message, MsgType, Redacted, SeqNum, Tag, ToField, Version};
use fixbolt_dictionary::{EntryOrder, RefTag, SessionRejectCode};

use crate::events::end::{Misbehavior, SessionEnd};
use crate::events::event::Event;
use crate::events::logon::LogonFault;
use crate::events::rejects::BusinessReject;
use crate::settings::behavior::{Behavior, OptionalField, TagInText, ViolationText};
use crate::values::fix::{YES, key, msg_type, session_status};

/// A message of the session layer, or a BusinessMessageReject that it writes for the application.
#[derive(Clone, Debug)]
pub(crate) enum AdminMessage<'m> {
    /// Heartbeat (0); with an id it answers a TestRequest.
    Heartbeat { id: Option<&'m [u8]> },
    /// TestRequest (1).
    TestRequest { id: TestReqIdValue },
    /// ResendRequest (2) from `begin` to `end`, or without an end.
    ResendRequest { begin: SeqNum, end: Option<SeqNum> },
    /// Reject (3) of the message with sequence number `seq`.
    Reject { seq: SeqNum, msg_type: &'m [u8], reject: Reject<'m> },
    /// BusinessMessageReject (j) of the message with sequence number `seq`.
    BusinessReject { seq: SeqNum, msg_type: &'m [u8], reject: BusinessReject },
    /// SequenceReset (4) that fills a gap.
    GapFill { new: SeqNum },
    /// Logout (5).
    Logout { text: Cow<'m, str>, status: Option<LogoutStatus> },
    /// Logon (A).
    Logon(OurLogon),
}

/// Why we log out, as FIXT.1.1 says it beside the Text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LogoutStatus {
    /// SessionStatus (1409).
    pub(crate) status: u64,
    /// NextExpectedMsgSeqNum (789).
    pub(crate) next_expected: Option<SeqNum>,
}

impl LogoutStatus {
    /// Returns the status of a Logout of ours after which the connection ends like this.
    // R-SEQ-5
    pub(crate) fn of(end: &SessionEnd) -> Option<Self> {
        match end {
            SessionEnd::PeerMisbehaved(Misbehavior::MsgSeqNumTooLow { expected, .. }) => {
                Some(Self { status: session_status::MSG_SEQ_NUM_TOO_LOW, next_expected: Some(*expected) })
            }
            SessionEnd::PeerExpectsMore { .. } => {
                Some(Self { status: session_status::NEXT_EXPECTED_TOO_HIGH, next_expected: None })
            }
            _ => None,
        }
    }
}

/// A Logon of ours: the first one, or the answer to the counterparty's.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct OurLogon {
    /// HeartBtInt (108), in seconds.
    pub(crate) heart_bt_int: u32,
    /// ResetSeqNumFlag (141).
    pub(crate) reset: bool,
    /// NextExpectedMsgSeqNum (789); not sent if `None`.
    pub(crate) next_expected: Option<SeqNum>,
    /// MaxMessageSize (383), in bytes; not sent if `None`.
    pub(crate) max_message_size: Option<usize>,
    /// TestMessageIndicator (464).
    pub(crate) is_test: bool,
    /// DefaultApplVerID (1137); not sent if `None`.
    pub(crate) default_appl_ver_id: Option<&'static str>,
    /// The whole body; empty until the application has added its own fields.
    pub(crate) body: Vec<u8>,
}

/// TestReqID (112) of a TestRequest of ours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TestReqIdValue {
    Number(u64),
    Test,
}

impl TestReqIdValue {
    /// Returns whether a Heartbeat with this TestReqID answers the TestRequest.
    pub(crate) fn is(self, id: &[u8]) -> bool {
        match self {
            Self::Number(number) => u64::from_field(id) == Ok(number),
            Self::Test => id == b"TEST",
        }
    }
}

/// The contents of a Reject (35=3).
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Reject<'r> {
    pub(crate) reason: SessionRejectCode,
    /// RefTagID (371); omitted if `None`.
    pub(crate) tag: Option<RefTag<'r>>,
    pub(crate) text: Cow<'r, str>,
    /// What was expected in a group, for the application.
    pub(crate) order: Option<EntryOrder>,
}

impl<'r> Reject<'r> {
    /// Returns a Reject whose Text is that of its reason.
    pub(crate) fn of(reason: SessionRejectCode, tag: Option<RefTag<'r>>) -> Self {
        Self { reason, tag, text: Cow::Borrowed(reason.text()), order: None }
    }

    /// Returns a Reject whose Text is that of its reason and that names this tag.
    pub(crate) fn naming(reason: SessionRejectCode, tag: Tag) -> Self {
        Self::of(reason, Some(RefTag::Number(tag.number())))
    }

    /// Returns the same Reject with the Text for a violation of the dictionary.
    pub(crate) fn worded(self, text: ViolationText) -> Self {
        match text {
            ViolationText::Reason => self,
            ViolationText::ReasonWithField => {
                let field = self.tag_text().map(|tag| format!(", field={tag}")).unwrap_or_default();
                Self { text: Cow::Owned(format!("{}{field}", self.reason.text())), ..self }
            }
        }
    }

    /// Returns the Text for a version that has no RefTagID (371): it names the field in error.
    fn text_with_tag(&self, form: TagInText) -> Cow<'_, str> {
        let Some(tag) = self.tag_text().filter(|tag| !tag.is_empty() && tag.len() <= REFLECTED_MAX) else {
            return Cow::Borrowed(&self.text);
        };
        match form {
            TagInText::InBrackets if self.text.is_empty() => Cow::Owned(format!("({tag})")),
            TagInText::InBrackets => Cow::Owned(format!("{} ({tag})", self.text)),
            TagInText::AsField => {
                let field = format!(", field={tag}");
                // It is there already if the Text is that of a violation.
                if self.text.ends_with(&field) {
                    Cow::Borrowed(&self.text)
                } else {
                    Cow::Owned(format!("{}{field}", self.text))
                }
            }
        }
    }

    /// Returns what is wrong with the Logon that it rejects.
    pub(crate) fn logon_fault(&self) -> LogonFault {
        let tag = match self.tag {
            Some(RefTag::Number(tag)) => Some(Tag::new(tag)),
            Some(RefTag::AsSent(_)) | None => None,
        };
        LogonFault::Field { reason: self.reason, tag }
    }

    /// Returns the tag in error as text.
    pub(crate) fn tag_text(&self) -> Option<String> {
        self.tag.map(|tag| match tag {
            RefTag::Number(tag) => tag.to_string(),
            RefTag::AsSent(bytes) => bytes.escape_ascii().to_string(),
        })
    }

    /// Returns the event for the application. The digits of RefTagID are written into `digits`.
    pub(crate) fn event<'e>(&'e self, seq: SeqNum, digits: &'e mut [u8; 20]) -> Event<'e> {
        let tag = self.tag.map_or(&[][..], |tag| tag_bytes(tag, digits));
        let Self { reason, ref text, order, .. } = *self;
        Event::Rejected { seq, reason: reason.value(), tag: Redacted(tag), text, order }
    }
}

/// Returns the Reject for a missing required field.
pub(crate) fn missing(tag: Tag) -> Reject<'static> {
    Reject::naming(SessionRejectCode::REQUIRED_TAG_MISSING, tag)
}

/// Returns the tag as it is written in RefTagID (371).
fn tag_bytes<'t>(tag: RefTag<'t>, digits: &'t mut [u8; 20]) -> &'t [u8] {
    match tag {
        RefTag::Number(tag) => {
            let len = u64::from(tag).write_to(digits);
            &digits[..len]
        }
        RefTag::AsSent(bytes) => bytes,
    }
}

/// The longest value from the counterparty that a Reject quotes; no valid value is longer.
const REFLECTED_MAX: usize = 64;

/// Which fields of a message are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Extent {
    /// All of them, including routing fields.
    Full,
    /// Only those the counterparty needs: such a message fits into 512 bytes, the smallest
    /// MaxMessageSize (383) that is accepted.
    Brief,
}

/// What the version of a session allows in its messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct VersionLimits {
    /// Whether it has ResetSeqNumFlag (141) in Logon, since FIX.4.1.
    pub(crate) reset_seq_num_flag: bool,
    /// Whether it has fields 371 to 373 of Reject, and BusinessMessageReject.
    pub(crate) is_42_or_later: bool,
    /// Whether our Logouts have SessionStatus (1409), as those of FIXT may.
    pub(crate) session_status: bool,
    /// The version that the rejected message was read as, if the reject says so.
    pub(crate) read_as: Option<ReadAs>,
    /// How the Text of a Reject names the field in error without RefTagID (371).
    pub(crate) tag_in_text: TagInText,
    /// SessionRejectReason (373) of the Reject, if the version knows it.
    pub(crate) reason: Option<SessionRejectCode>,
}

/// The application version of a rejected message, and the field that names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ReadAs {
    /// RefApplVerID (1130).
    RefApplVerId(&'static str),
    /// DefaultApplVerID (1137).
    DefaultApplVerId(&'static str),
}

impl AdminMessage<'_> {
    /// Returns what a session of this version allows in the message.
    pub(crate) fn limits(
        &self,
        version: Version,
        behavior: &Behavior,
        read_as: Option<ReadAs>,
    ) -> VersionLimits {
        let reason = match self {
            Self::Reject { reject, .. } => reject.reason.for_version(version),
            _ => None,
        };
        VersionLimits {
            reset_seq_num_flag: version >= Version::Fix41,
            is_42_or_later: version >= Version::Fix42,
            session_status: version == Version::Fixt11 && behavior.session_status == OptionalField::Sent,
            read_as,
            tag_in_text: behavior.tag_in_text,
            reason,
        }
    }

    pub(crate) const fn msg_type(&self) -> &'static [u8] {
        match self {
            Self::Heartbeat { .. } => msg_type::HEARTBEAT,
            Self::TestRequest { .. } => msg_type::TEST_REQUEST,
            Self::ResendRequest { .. } => msg_type::RESEND_REQUEST,
            Self::Reject { .. } => msg_type::REJECT,
            Self::BusinessReject { .. } => msg_type::BUSINESS_MESSAGE_REJECT,
            Self::GapFill { .. } => msg_type::SEQUENCE_RESET,
            Self::Logout { .. } => msg_type::LOGOUT,
            Self::Logon(_) => msg_type::LOGON,
        }
    }

    /// Returns whether the message answers `inbound` along its route.
    pub(crate) const fn goes_back(&self) -> bool {
        matches!(self, Self::Reject { .. } | Self::BusinessReject { .. })
    }

    /// Writes the body.
    pub(crate) fn write(&self, body: &mut BodyWriter<'_>, version: VersionLimits, extent: Extent) {
        let write_text = |body: &mut BodyWriter<'_>, text: &str| {
            if !text.is_empty() && extent == Extent::Full {
                body.bytes(key::TEXT, text.as_bytes());
            }
        };
        match self {
            Self::Heartbeat { id } => {
                if let Some(id) = id {
                    // As it was sent: a session may accept empty values.
                    body.raw().field(key::TEST_REQ_ID, id);
                }
            }
            Self::TestRequest { id: TestReqIdValue::Number(id) } => drop(body.field(key::TEST_REQ_ID, id)),
            Self::TestRequest { id: TestReqIdValue::Test } => drop(body.bytes(key::TEST_REQ_ID, b"TEST")),
            Self::ResendRequest { begin, end } => {
                // Up to FIX.4.1, 999999 stands for infinity. R-GAP-3
                let infinity: u64 = if version.is_42_or_later { 0 } else { 999_999 };
                let end = end.map_or(infinity, |end| end.0);
                body.field(key::BEGIN_SEQ_NO, &begin.0).field(key::END_SEQ_NO, &end);
            }
            // R-REJECT-1
            Self::Reject { seq, msg_type, reject } => {
                body.field(key::REF_SEQ_NUM, &seq.0);
                if version.is_42_or_later {
                    let mut digits = [0; 20];
                    let tag = reject.tag.map(|tag| tag_bytes(tag, &mut digits));
                    if let Some(tag) = tag.filter(|tag| !tag.is_empty() && tag.len() <= REFLECTED_MAX) {
                        body.bytes(key::REF_TAG_ID, tag);
                    }
                    // A garbled message may have none.
                    if (1..=REFLECTED_MAX).contains(&msg_type.len()) {
                        body.bytes(key::REF_MSG_TYPE, msg_type);
                    }
                    if let Some(ReadAs::RefApplVerId(version)) = version.read_as {
                        body.bytes(key::REF_APPL_VER_ID, version.as_bytes());
                    }
                    if let Some(reason) = version.reason {
                        body.field(key::SESSION_REJECT_REASON, &u64::from(reason.value()));
                    }
                    write_text(body, &reject.text);
                } else {
                    write_text(body, &reject.text_with_tag(version.tag_in_text));
                }
            }
            Self::BusinessReject { seq, msg_type, reject } => {
                body.field(key::REF_SEQ_NUM, &seq.0);
                if msg_type.len() <= REFLECTED_MAX {
                    body.bytes(key::REF_MSG_TYPE, msg_type);
                }
                if let Some(ReadAs::RefApplVerId(version)) = version.read_as {
                    body.bytes(key::REF_APPL_VER_ID, version.as_bytes());
                }
                if !reject.ref_id.is_empty() && extent == Extent::Full {
                    body.bytes(key::BUSINESS_REJECT_REF_ID, reject.ref_id.as_bytes());
                }
                body.field(key::BUSINESS_REJECT_REASON, &u64::from(reject.reason.value()));
                write_text(body, &reject.text);
                if let Some(ReadAs::DefaultApplVerId(version)) = version.read_as {
                    body.bytes(key::DEFAULT_APPL_VER_ID, version.as_bytes());
                }
            }
            Self::GapFill { new } => {
                body.field(key::NEW_SEQ_NO, &new.0).bytes(key::GAP_FILL_FLAG, YES);
            }
            Self::Logout { text, status } => {
                if let Some(LogoutStatus { status, next_expected }) =
                    status.filter(|_| version.session_status)
                {
                    body.field(key::SESSION_STATUS, &status);
                    if let Some(next_expected) = next_expected {
                        body.field(key::NEXT_EXPECTED_MSG_SEQ_NUM, &next_expected.0);
                    }
                }
                write_text(body, text);
            }
            Self::Logon(logon) => logon.write(body, version),
        }
    }
}

impl OurLogon {
    fn write(&self, body: &mut BodyWriter<'_>, version: VersionLimits) {
        let Self {
            heart_bt_int,
            reset,
            next_expected,
            max_message_size,
            is_test,
            default_appl_ver_id,
            body: whole,
        } = self;
        if !whole.is_empty() {
            let sum = whole.iter().fold(0, |sum: u8, b| sum.wrapping_add(*b));
            body.raw().body(&Body { msg_type: MsgType::new(msg_type::LOGON), bytes: whole, sum });
            return;
        }
        body.bytes(key::ENCRYPT_METHOD, b"0");
        body.field(key::HEART_BT_INT, &u64::from(*heart_bt_int));
        if *reset && version.reset_seq_num_flag {
            body.bytes(key::RESET_SEQ_NUM_FLAG, YES);
        }
        if let Some(next_expected) = next_expected {
            body.field(key::NEXT_EXPECTED_MSG_SEQ_NUM, &next_expected.0);
        }
        if let Some(size) = max_message_size {
            body.field(key::MAX_MESSAGE_SIZE, &(*size as u64));
        }
        if *is_test {
            body.bytes(key::TEST_MESSAGE_INDICATOR, YES);
        }
        if let Some(version) = default_appl_ver_id {
            body.bytes(key::DEFAULT_APPL_VER_ID, version.as_bytes());
        }
    }
}

/// Returns the message whose routing fields are reversed in a Reject or BusinessMessageReject.
// R-SEND-6
pub(crate) fn route<'r, 'm>(
    admin: &AdminMessage<'_>,
    inbound: Option<&'r Message<'m>>,
) -> Option<&'r Message<'m>> {
    inbound.filter(|_| admin.goes_back())
}
