//! The keys that are used: one row each, with names, values, default, and what it does to a
//! session's settings.
//!
//! Rows are applied in the order of the table, whatever the order of the file: what a row changes
//! must stand above it. docs/configuration.md is made of the rows.

use core::time::Duration;

use fixbolt_dictionary::{Action, Check};
use fixbolt_session::{Compatibility, MAX_MESSAGE_SIZE_BEFORE_LOGON, Role, WhileLoggedOff};

use super::draft::{Draft, checks};
use super::values::{self, Refusal};

/// A key.
pub(super) struct Row {
    pub(super) name: &'static str,
    /// The same under the name of another engine.
    pub(super) alias: Option<&'static str>,
    pub(super) scope: Scope,
    pub(super) effect: Effect,
    /// The value that is the same as none; in words where there is no such value.
    pub(super) default: &'static str,
    pub(super) meaning: &'static str,
}

/// Whose key it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Scope {
    Both,
    Acceptor,
    Initiator,
}

impl Scope {
    pub(super) const fn includes(self, role: Role) -> bool {
        match self {
            Self::Both => true,
            Self::Acceptor => matches!(role, Role::Acceptor),
            Self::Initiator => matches!(role, Role::Initiator),
        }
    }
}

/// What values there are, and what a value does.
pub(super) enum Effect {
    /// Y or N.
    Flag(fn(&mut Draft, bool)),
    /// A whole number within a range.
    Number { from: u64, to: u64, unit: &'static str, set: fn(&mut Draft, u64) },
    /// One of some words, by its place among them.
    Word { words: &'static [&'static str], set: fn(&mut Draft, usize) },
    /// Text of some form.
    Text { form: &'static str, set: fn(&mut Draft, &str) -> Result<(), Refusal> },
    /// One key a check, the check's name after the dot: the reaction to it.
    Check(Direction),
    /// One key each for several hosts: the key itself, then with a number from 1.
    Listed { form: &'static str },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Direction {
    Incoming,
    Outgoing,
}

/// Words for reactions, in the order of [`ACTIONS`].
pub(super) const ACTION_WORDS: &[&str] = &["reject", "warn", "ignore"];
pub(super) const ACTIONS: [Action; 3] = [Action::Reject, Action::Warn, Action::Ignore];

impl Effect {
    /// What the values are, in words.
    pub(super) fn values(&self) -> String {
        match self {
            Self::Flag(_) => "Y, N".to_owned(),
            Self::Number { from, to, unit: "", .. } => format!("{from} to {to}"),
            Self::Number { from, to, unit, .. } => format!("{unit}, {from} to {to}"),
            Self::Word { words, .. } => words.join(", "),
            Self::Text { form, .. } | Self::Listed { form } => (*form).to_owned(),
            Self::Check(_) => ACTION_WORDS.join(", "),
        }
    }

    /// What is expected instead of a value of another form.
    pub(super) fn expected(&self) -> String {
        match self {
            Self::Flag(_) => "Y or N".to_owned(),
            Self::Number { from, to, .. } => format!("a whole number from {from} to {to}"),
            Self::Word { .. } | Self::Check(_) => format!("one of {}", self.values()),
            Self::Text { form, .. } | Self::Listed { form } => (*form).to_owned(),
        }
    }
}

impl Row {
    /// Whether `key` is this row's, in any case; for a row of many keys: one of them.
    pub(super) fn is(&self, key: &str) -> bool {
        let same = |name: &str| name.eq_ignore_ascii_case(key);
        match self.effect {
            Effect::Check(_) => self.check(key).is_some(),
            Effect::Listed { .. } => same(self.name) || values::number_after(key, self.name).is_some(),
            _ => same(self.name) || self.alias.is_some_and(same),
        }
    }

    /// The check that a key of this row is about.
    pub(super) fn check(&self, key: &str) -> Option<Check> {
        let stem = self.name.strip_suffix("CHECK")?;
        let name = key.get(stem.len()..).filter(|_| key[..stem.len()].eq_ignore_ascii_case(stem))?;
        checks().find(|check| check.name().eq_ignore_ascii_case(name))
    }

    /// Every name that may be written for it.
    pub(super) fn names(&self) -> Vec<String> {
        match self.effect {
            Effect::Check(_) => {
                let stem = self.name.trim_end_matches("CHECK");
                checks().map(|check| format!("{stem}{}", check.name())).collect()
            }
            _ => [Some(self.name), self.alias].into_iter().flatten().map(str::to_owned).collect(),
        }
    }
}

/// The row that a key belongs to.
pub(super) fn row_of(key: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.is(key))
}

const DAY: u64 = 86_400;
const GIB: u64 = 1 << 30;

const fn row(
    name: &'static str,
    scope: Scope,
    effect: Effect,
    default: &'static str,
    meaning: &'static str,
) -> Row {
    Row { name, alias: None, scope, effect, default, meaning }
}

const fn also(row: Row, alias: &'static str) -> Row {
    Row { alias: Some(alias), ..row }
}

const fn seconds(from: u64, set: fn(&mut Draft, u64)) -> Effect {
    Effect::Number { from, to: DAY, unit: "seconds", set }
}

use Effect::{Flag, Listed, Number, Text, Word};
use Scope::{Acceptor, Both, Initiator};

#[rustfmt::skip]
pub(super) static ROWS: &[Row] = &[
    row("ConnectionType", Both, Word { words: &["acceptor", "initiator"], set: |d, n| d.role = Some([Role::Acceptor, Role::Initiator][n]) },
        "required", "who connects"),
    row("BeginString", Both, Text { form: "a version as FIX.4.4", set: values::version },
        "required", "version: FIX.4.2 or FIX.4.4"),
    row("SenderCompID", Both, Text { form: values::COMP_ID, set: |d, value| values::comp_id(&mut d.sender, value) },
        "required", "our CompID"),
    row("TargetCompID", Both, Text { form: values::COMP_ID, set: |d, value| values::comp_id(&mut d.target, value) },
        "required", "the counterparty's CompID"),
    row("SessionQualifier", Both, Text { form: values::COMP_ID, set: |d, value| values::comp_id(&mut d.qualifier, value) },
        "none", "tells an initiator's sessions with equal CompIDs apart; an acceptor cannot have one"),
    also(row("DynamicSession", Acceptor, Flag(|d, on| d.dynamic = on),
        "N", "a session for any counterparty that logs on; CompIDs and BeginString may be left out or `*`. Each name that logs on keeps its session and journal until the process ends: name what you know, or AllowedRemoteAddresses"), "AcceptorTemplate"),
    // Session layer
    row("Compatibility", Both, Word { words: &["standard", "quickfix", "quickfixj"], set: |d, n| d.follow([Compatibility::Standard, Compatibility::QuickFix, Compatibility::QuickFixJ][n]) },
        "standard", "whose way to follow where engines differ (docs/conformance.md)"),
    row("HeartBtInt", Both, seconds(0, |d, n| d.settings.heart_bt_int = n as u32),
        "required of an initiator", "silence after which a Heartbeat is sent; 0 for none. An acceptor takes the initiator's"),
    row("TestRequestDelayMultiplier", Both, Text { form: "a number from 0 to 10 with two decimals at most", set: values::test_request_delay },
        "0.2", "a TestRequest is sent after a silence of HeartBtInt and this part of it"),
    row("LogonTimeout", Both, seconds(1, |d, n| d.settings.logon_timeout = Duration::from_secs(n)),
        "10", "how long to wait for the Logon or its answer; an acceptor waits for the Logon as long as its most patient session"),
    row("LogoutTimeout", Both, seconds(1, |d, n| d.settings.logout_timeout = Duration::from_secs(n)),
        "2", "how long to wait for the answer to a Logout"),
    row("ResetOnLogon", Both, Flag(|d, on| d.settings.reset_on_logon = on),
        "N", "sequence numbers begin at 1 with each Logon"),
    row("ResetOnLogout", Both, Flag(|d, on| d.settings.reset_on_logout = on),
        "N", "sequence numbers begin at 1 after a Logout"),
    row("ResetOnDisconnect", Both, Flag(|d, on| d.settings.reset_on_disconnect = on),
        "N", "sequence numbers begin at 1 after the connection has ended"),
    row("PersistMessages", Both, Flag(|d, on| d.persist_messages = on),
        "Y", "N keeps no messages and gap-fills what is asked for; not together with FileStorePath"),
    row("WhileLoggedOff", Both, Word { words: &["refuse", "keep"], set: |d, n| d.settings.while_logged_off = [WhileLoggedOff::Refuse, WhileLoggedOff::Keep][n] },
        "refuse", "what is sent without being logged on is refused, or numbered and kept: the counterparty asks for it after the logon"),
    row("MaxDeliveryAttempts", Both, Number { from: 1, to: 1000, unit: "attempts", set: |d, n| d.settings.poison_attempts = n as u32 },
        "3", "how often a message is offered to an application that fails on it before the session halts"),
    row("MaskedTags", Both, Text { form: "tags with commas between, or none", set: values::masked_tags },
        "554,925,96", "fields of a Logon whose values are replaced by `*` in the journal"),
    row("Username", Both, Text { form: values::LOGON_TEXT, set: |d, value| values::logon_text(&mut d.settings.logon.username, value) },
        "none", "Username (553) of each Logon that is sent; also of an acceptor's answers"),
    row("Password", Both, Text { form: values::LOGON_TEXT, set: |d, value| values::secret(&mut d.settings.logon.password, value) },
        "none", "Password (554) of each Logon that is sent: write `${VAR}` or `${file:PATH}`"),
    row("NewPassword", Both, Text { form: values::LOGON_TEXT, set: |d, value| values::secret(&mut d.settings.logon.new_password, value) },
        "none", "NewPassword (925) of each Logon that is sent"),
    row("RawData", Both, Text { form: values::LOGON_TEXT, set: |d, value| values::secret(&mut d.settings.logon.raw_data, value) },
        "none", "RawData (96) of each Logon that is sent, with its RawDataLength (95)"),
    row("CheckCompID", Both, Flag(|d, on| d.settings.check_comp_id = on),
        "Y", "CompIDs of every message must be the session's"),
    row("RequiresOrigSendingTime", Both, Flag(|d, on| d.settings.requires_orig_sending_time = on),
        "Y", "a message with PossDupFlag=Y needs OrigSendingTime"),
    row("CheckLatency", Both, Flag(|d, on| d.check_latency = on),
        "Y", "SendingTime is compared with our clock"),
    row("MaxLatency", Both, seconds(1, |d, n| d.max_latency = Duration::from_secs(n)),
        "120", "how far SendingTime may be from our clock"),
    row("MillisecondsInTimeStamp", Both, Flag(|d, on| d.settings.timestamp_digits = if on { 3 } else { 0 }),
        "Y", "N: times are sent in whole seconds, unless TimestampPrecision is given"),
    row("TimestampPrecision", Both, Word { words: &["0", "3", "6", "9", "12", "SECONDS", "MILLIS", "MICROS", "NANOS", "PICOS"], set: |d, n| d.settings.timestamp_digits = [0, 3, 6, 9, 12][n % 5] },
        "3", "digits of a second in the times that are sent"),
    // Sizes
    row("MaxMessageSize", Both, Number { from: MAX_MESSAGE_SIZE_BEFORE_LOGON as u64, to: 64 << 20, unit: "bytes", set: |d, n| d.settings.max_message_size = n as usize },
        "65536", "largest message after the logon"),
    row("OutboundBufferSize", Both, Number { from: 16 << 10, to: GIB, unit: "bytes", set: |d, n| { d.settings.outbox_size = n as usize; d.outbox_given = true; } },
        "1048576", "what is kept for a counterparty that does not read; a full buffer is back-pressure. At least four times MaxMessageSize unless given"),
    row("ReorderBufferSize", Both, Number { from: 0, to: GIB, unit: "bytes", set: |d, n| d.settings.reorder_buffer_size = n as usize },
        "1048576", "what is kept of messages that arrive after a gap; more are asked for again"),
    // Schedule
    row("NonStopSession", Both, Flag(|d, on| d.non_stop = on),
        "N", "Y says what is always so: sessions have no schedule"),
    row("StartTime", Both, Text { form: "a time as HH:MM:SS", set: |d, value| values::time_of_day(&mut d.start, value) },
        "none", "accepted if it is EndTime, with a warning: the session never ends, and nothing is reset once a day"),
    row("EndTime", Both, Text { form: "a time as HH:MM:SS", set: |d, value| values::time_of_day(&mut d.end, value) },
        "none", "accepted if it is StartTime"),
    // Validation
    row("UseDataDictionary", Both, Flag(|d, on| d.use_dictionary = on),
        "Y", "whether messages are compared with a dictionary"),
    row("DataDictionary", Both, Text { form: "a file", set: |d, value| values::path(&mut d.dictionary, value) },
        "the shipped one of the version", "QuickFIX XML, FIX Orchestra or a compact table of the session's version; or only [what a dialect changes](dialects.md)"),
    row("ValidateIncomingMessage", Both, Flag(|d, on| d.validate_incoming = on),
        "Y", "whether what comes in is compared with the dictionary"),
    row("ValidateFieldsOutOfOrder", Both, Flag(|d, on| d.switch(on, &[Check::SectionOrder])),
        "Y", "header before body before trailer"),
    row("ValidateFieldsHaveValues", Both, Flag(|d, on| d.switch(on, &[Check::EmptyValue])),
        "Y", "no field without a value"),
    row("ValidateUserDefinedFields", Both, Flag(|d, on| d.switch(on, &[Check::UserDefinedTag])),
        "Y", "tags from 5000 on must be in the dictionary"),
    row("ValidateUnorderedGroupFields", Both, Flag(|d, on| d.switch(on, &[Check::GroupOrder])),
        "Y (quickfix: N)", "fields of a group's entry in the dictionary's order"),
    row("AllowUnknownMsgFields", Both, Flag(|d, on| d.allow(on, &[Check::UnknownTag, Check::TagNotInMessage])),
        "N", "tags that the message does not have are accepted"),
    row("AllowUnknownEnumValues", Both, Flag(|d, on| d.allow(on, &[Check::EnumValue])),
        "N", "values outside a field's list are accepted"),
    row("RejectInvalidMessage", Both, Flag(Draft::reject_invalid),
        "Y", "N: a violation is reported and the message delivered"),
    row("Incoming.CHECK", Both, Effect::Check(Direction::Incoming),
        "reject", "one key for each check of docs/validation.md: the last word on it"),
    row("ValidateOutgoingMessage", Both, Flag(|d, on| d.validate_outgoing = on),
        "N", "what the application sends is validated before it has a sequence number"),
    row("Outgoing.CHECK", Both, Effect::Check(Direction::Outgoing),
        "reject", "the same for what is sent"),
    // Transport
    row("SocketConnectHost", Initiator, Listed { form: "a host's name or address" },
        "required of an initiator", "where to connect to; with a number from 1 after the key: tried in turn"),
    row("SocketConnectPort", Initiator, Listed { form: "a whole number from 1 to 65535" },
        "required of an initiator", "its port; with a number from 1 after the key, too"),
    row("SocketConnectTimeout", Initiator, seconds(1, |d, n| d.connect_timeout = Duration::from_secs(n)),
        "10", "how long one attempt to connect may take"),
    row("ReconnectInterval", Initiator, seconds(1, |d, n| d.reconnect_interval = Duration::from_secs(n)),
        "30", "how long to wait after an ended connection, or after every host was tried"),
    row("SocketAcceptPort", Acceptor, Number { from: 0, to: 65_535, unit: "", set: |d, n| d.port = u16::try_from(n).ok() },
        "required of an acceptor", "where to listen; 0: the system chooses"),
    also(row("SocketAcceptHost", Acceptor, Text { form: "an IP address of this machine", set: values::listen },
        "127.0.0.1", "where to listen; 0.0.0.0 for every interface"), "SocketAcceptAddress"),
    row("AllowedRemoteAddresses", Acceptor, Text { form: "IP addresses with commas between", set: values::allowed },
        "any", "from where the session may be connected to"),
    also(row("SocketNodelay", Both, Flag(|d, on| d.nodelay = on),
        "Y", "small messages leave at once"), "SocketTcpNoDelay"),
    row("FileStorePath", Both, Text { form: "a directory", set: |d, value| values::path(&mut d.journal, value) },
        "none", "journals; without it messages are in memory and sequence numbers begin at 1 with the process"),
];
