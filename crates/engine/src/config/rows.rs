//! The keys that are used: one row each, with names, values, default, and effect on a session's
//! settings.
//!
//! Rows are applied in the order of the table, whatever the order of the file: a row must be below
//! the rows that its effect depends on. The tables of docs/configuration.md are generated from the
//! rows.

use core::num::{NonZeroU32, NonZeroU64};
use core::time::Duration;

use fixbolt_codec::{Precision, Version};
use fixbolt_dictionary::{Action, Check, Policy};
use fixbolt_session::schedule::ScheduleReset;
use fixbolt_session::{
    Compatibility, InboundThrottle, OutboundThrottle, ReplayInterleave, ResendOverLimit, Role, SettingRange,
    TestMessageIndicator, TooLowAtLogon, WhileLoggedOff,
};

use super::draft::Draft;
use super::fixt;
use super::old_names::old_names_of;
use super::paths::path_of;
use super::schedule_draft as schedule;
use super::tls_draft as tls;
use super::values::{self, Refusal};
use crate::initiation::HostSelection;
use crate::tls::{Authorities, CipherSuite, ClientCertificates, TlsVersion};

/// A key.
pub(super) struct Row {
    pub(super) name: &'static str,
    /// The names of the same key in other engines.
    pub(super) aliases: &'static [&'static str],
    pub(super) scope: Scope,
    pub(super) effect: Effect,
    /// The value that has the same effect as no value; in words if there is no such value.
    pub(super) default: &'static str,
    pub(super) meaning: &'static str,
    /// Whether it is about TLS: a session that has the key has TLS, or says that it has none.
    pub(super) is_of_tls: bool,
    /// What it needs to have an effect, if not every session has that.
    pub(super) needs: Option<Need>,
    /// The first version with the field that it turns on, and what is said in others.
    pub(super) since: Option<(Version, &'static str)>,
}

/// What a key needs to have an effect: what other keys say. Without it, the key in a section of its
/// session is a warning.
pub(super) struct Need {
    pub(super) is_met: fn(&Draft) -> bool,
    /// What is said if it is not.
    pub(super) why: &'static str,
}

/// The sessions that a key applies to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Scope {
    Both,
    Acceptor,
    Initiator,
    /// All sessions together; only in `[DEFAULT]`.
    Engine,
}

impl Scope {
    pub(super) const fn includes(self, role: Role) -> bool {
        match self {
            Self::Both | Self::Engine => true,
            Self::Acceptor => matches!(role, Role::Acceptor),
            Self::Initiator => matches!(role, Role::Initiator),
        }
    }
}

/// The values of a key, and their effect.
pub(super) enum Effect {
    /// Y or N.
    Flag(fn(&mut Draft, bool)),
    /// A whole number within a range.
    Number { from: u64, to: u64, unit: &'static str, set: fn(&mut Draft, u64) },
    /// One of several words, by its index.
    Word { words: &'static [&'static str], set: fn(&mut Draft, usize) },
    /// Text of a given form.
    Text { form: &'static str, set: fn(&mut Draft, &str) -> Result<(), Refusal> },
    /// One key per check, whose name is after the dot: the reaction to it.
    Check(Direction),
    /// One key per host: the key itself, then followed by a number from 1.
    Listed { form: &'static str },
    /// One key per application version, whose name is after the dot, and one for the default
    /// version.
    PerVersion { form: &'static str, set: fn(&mut Draft, key: &str, value: &str) -> Result<(), Refusal> },
    /// One key per value, each of which has an effect of its own: the key itself, then followed by
    /// a number from 1.
    Numbered { form: &'static str, set: fn(&mut Draft, &str) -> Result<(), Refusal> },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Direction {
    Incoming,
    Outgoing,
}

/// In the order of the words of TimestampPrecision.
const PRECISIONS: [Precision; 5] =
    [Precision::Seconds, Precision::Millis, Precision::Micros, Precision::Nanos, Precision::Picos];

/// Words for reactions, in the order of [`ACTIONS`].
pub(super) const ACTION_WORDS: &[&str] = &["reject", "warn", "ignore"];
pub(super) const ACTIONS: [Action; 3] = [Action::Reject, Action::Warn, Action::Ignore];

impl Effect {
    /// Returns a description of the values.
    pub(super) fn values(&self) -> String {
        match self {
            Self::Flag(_) => "Y, N".to_owned(),
            Self::Number { from, to, unit: "", .. } => format!("{from} to {to}"),
            Self::Number { from, to, unit, .. } => format!("{unit}, {from} to {to}"),
            Self::Word { words, .. } => words.join(", "),
            Self::Text { form, .. }
            | Self::Listed { form }
            | Self::Numbered { form, .. }
            | Self::PerVersion { form, .. } => (*form).to_owned(),
            Self::Check(_) => ACTION_WORDS.join(", "),
        }
    }

    /// Returns the text that names what was expected after a wrong value.
    pub(super) fn expected(&self) -> String {
        match self {
            Self::Flag(_) => "Y or N".to_owned(),
            Self::Number { from, to, .. } => {
                format!("a whole number from {from} to {to}")
            }
            Self::Word { .. } | Self::Check(_) => format!("one of {}", self.values()),
            Self::Text { form, .. }
            | Self::Listed { form }
            | Self::Numbered { form, .. }
            | Self::PerVersion { form, .. } => (*form).to_owned(),
        }
    }

    /// Returns the text that names what was expected in place of a value, as it is written. Of a
    /// number with a unit, such as `5s`, only the unit is wrong.
    pub(super) fn expected_in_place_of(&self, written: &str) -> String {
        if let Self::Number { from, to, unit, .. } = self
            && let Some(number) = values::without_unit(written, unit)
            && (*from..=*to).contains(&number)
        {
            return format!("the number of {unit} without a unit, {number},");
        }
        self.expected()
    }

    /// Returns whether several keys belong to the row, each for itself.
    pub(super) const fn has_many_keys(&self) -> bool {
        matches!(self, Self::Check(_) | Self::Listed { .. } | Self::Numbered { .. } | Self::PerVersion { .. })
    }
}

impl Row {
    /// Returns whether `key` belongs to this row, in any case; a row may have many keys.
    pub(super) fn is(&self, key: &str) -> bool {
        let same = |name: &str| name.eq_ignore_ascii_case(key);
        match self.effect {
            Effect::Check(_) => self.check(key).is_some(),
            Effect::PerVersion { .. } => fixt::version_in(key).is_some(),
            Effect::Listed { .. } | Effect::Numbered { .. } => {
                let is_numbered = values::number_after(key, self.name).is_some();
                is_numbered || self.spellings().any(same)
            }
            _ => self.spellings().any(same),
        }
    }

    /// Returns the names of a row with one key, the old ones last.
    fn spellings(&self) -> impl Iterator<Item = &'static str> {
        [self.name].into_iter().chain(self.aliases.iter().copied()).chain(old_names_of(self.name))
    }

    /// Returns the check that a key of this row is about.
    pub(super) fn check(&self, key: &str) -> Option<Check> {
        let stem = self.name.strip_suffix("CHECK")?;
        let name = key.get(stem.len()..).filter(|_| key[..stem.len()].eq_ignore_ascii_case(stem))?;
        Check::ALL.into_iter().find(|check| check.name().eq_ignore_ascii_case(name))
    }

    /// Returns every name that may be written for the row.
    pub(super) fn names(&self) -> Vec<String> {
        match self.effect {
            Effect::Check(_) => {
                let stem = self.name.trim_end_matches("CHECK");
                Check::ALL.into_iter().map(|check| format!("{stem}{}", check.name())).collect()
            }
            _ => self.spellings().map(str::to_owned).collect(),
        }
    }
}

/// Returns whether `key` is for journals only.
pub(super) fn is_of_journals(key: &str) -> bool {
    let keys = ["JournalQuota", "JournalCookies", "ArchiveGenerations", "ArchiveDays", "ArchiveSize"];
    keys.iter().any(|known| known.eq_ignore_ascii_case(key))
}

/// Returns the row that a key belongs to.
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
    Row { name, aliases: &[], scope, effect, default, meaning, is_of_tls: false, needs: None, since: None }
}

const fn also(row: Row, aliases: &'static [&'static str]) -> Row {
    Row { aliases, ..row }
}

const fn needs(is_met: fn(&Draft) -> bool, why: &'static str, row: Row) -> Row {
    Row { needs: Some(Need { is_met, why }), ..row }
}

const fn since(version: Version, why: &'static str, row: Row) -> Row {
    Row { since: Some((version, why)), ..row }
}

const fn tls_row(
    name: &'static str,
    scope: Scope,
    effect: Effect,
    default: &'static str,
    meaning: &'static str,
) -> Row {
    Row { is_of_tls: true, ..row(name, scope, effect, default, meaning) }
}

/// Returns a number from 1 on.
fn at_least_1(number: u64) -> NonZeroU32 {
    NonZeroU32::new(number as u32).unwrap_or(NonZeroU32::MIN)
}

const fn seconds(from: u64, set: fn(&mut Draft, u64)) -> Effect {
    Effect::Number { from, to: DAY, unit: "seconds", set }
}

/// Why keys about slow counterparties have no effect.
const NEVER_SLOW: &str = "with OutboundHighWatermark=100 no counterparty counts as slow";
/// Why keys about messages that are sent again have no effect.
const NOT_SENT_AGAIN: &str = "PersistMessages=N sends no message again";

use Effect::{Flag, Listed, Number, PerVersion, Text, Word};
use Scope::{Acceptor, Both, Initiator};

#[rustfmt::skip]
pub(super) static ROWS: &[Row] = &[
    row("ConnectionType", Both, Word { words: &["acceptor", "initiator"], set: |d, n| d.role = Some([Role::Acceptor, Role::Initiator][n]) },
        "required, unless SocketAcceptPort or SocketConnectHost says it", "whether the session accepts a connection or connects itself; a session without this key accepts if it has a SocketAcceptPort, and connects if it has a SocketConnectHost"),
    row("BeginString", Both, Text { form: "a version such as FIX.4.4", set: values::version },
        "required", "the version: FIX.4.0 to FIX.4.4, or FIXT.1.1 for messages of FIX.5.0 and later"),
    row("DefaultApplVerID", Both, Text { form: "a version such as FIX.5.0SP2, or its number, 9", set: values::default_appl_ver_id },
        "required in FIXT.1.1", "the version of our messages that do not name one, in a session of FIXT.1.1"),
    row("SenderCompID", Both, Text { form: values::COMP_ID, set: |d, value| values::comp_id(&mut d.sender.comp_id, value) },
        "required", "our CompID"),
    row("TargetCompID", Both, Text { form: values::COMP_ID, set: |d, value| values::comp_id(&mut d.target.comp_id, value) },
        "required", "the counterparty's CompID"),
    row("SenderSubID", Both, Text { form: values::COMP_ID, set: |d, value| values::comp_id(&mut d.sender.sub_id, value) },
        "none", "our SubID, as part of the session's identity: each message that is sent has it (SenderSubID, 50), and a Logon to an acceptor must name it (TargetSubID, 57). An acceptor's session without this key takes Logons with any value, or none; of several sessions that could take a Logon, it is for the one with most of these keys"),
    row("SenderLocationID", Both, Text { form: values::COMP_ID, set: |d, value| values::comp_id(&mut d.sender.location_id, value) },
        "none", "our LocationID, as part of the session's identity in the way of SenderSubID: SenderLocationID (142) of each message that is sent, TargetLocationID (143) of a Logon to an acceptor; since FIX.4.1"),
    row("TargetSubID", Both, Text { form: values::COMP_ID, set: |d, value| values::comp_id(&mut d.target.sub_id, value) },
        "none", "the counterparty's SubID, as part of the session's identity in the way of SenderSubID: TargetSubID (57) of each message that is sent, SenderSubID (50) of a Logon to an acceptor"),
    row("TargetLocationID", Both, Text { form: values::COMP_ID, set: |d, value| values::comp_id(&mut d.target.location_id, value) },
        "none", "the counterparty's LocationID, as part of the session's identity in the way of SenderSubID: TargetLocationID (143) of each message that is sent, SenderLocationID (142) of a Logon to an acceptor; since FIX.4.1"),
    row("SessionQualifier", Both, Text { form: values::COMP_ID, set: |d, value| values::comp_id(&mut d.qualifier, value) },
        "none", "distinguishes an initiator's sessions with equal CompIDs. It has no effect on an acceptor's session, which is a warning: a Logon carries none, so that two of them with the same CompIDs are a mistake"),
    also(row("DynamicSession", Acceptor, Flag(|d, on| d.dynamic = on),
        "N", "a session for any counterparty that logs on; CompIDs and BeginString may be left out or `*`. SubIDs and LocationIDs of the Logon are part of the identity only if the section has their keys, with `*` for any value. Of several such sections with one port, the first whose IDs fit takes a Logon. Each identity that logs on gets a session, which is closed again when it is idle (MaxDynamicSessions, DynamicSessionIdleTime), and a journal, which stays: restrict the IDs, or set AllowedRemoteAddresses"), &["AcceptorTemplate"]),
    // Session layer
    row("Compatibility", Both, Word { words: &["standard", "quickfix", "quickfixj"], set: |d, n| d.follow([Compatibility::Standard, Compatibility::QuickFix, Compatibility::QuickFixJ][n]) },
        "standard", "which engine to follow where their behavior differs (docs/conformance.md)"),
    needs(|d| d.role != Some(Role::Acceptor) || d.settings.timing.heart_bt_int_override, "an acceptor answers with the HeartBtInt of the Logon; HeartBtIntOverride=Y makes this one count",
        row("HeartBtInt", Both, seconds(0, |d, n| d.settings.timing.heart_bt_int = n as u32),
            "required of an initiator", "the silence after which a Heartbeat is sent; 0 for none. An acceptor uses the initiator's value")),
    needs(|d| !(d.role == Some(Role::Acceptor) && d.settings.timing.heart_bt_int_override), "HeartBtIntOverride=Y accepts any HeartBtInt",
        row("AcceptedHeartBtInt", Both, Text { form: "seconds: a range such as 0-3600, or 0,5-3600 for 0 and a range; one value; or any", set: values::accepted_heart_bt_int },
            "0-3600", "the values of HeartBtInt that the counterparty's Logon may have; 0 means no heartbeats. An initiator always accepts its own HeartBtInt")),
    row("HeartBtIntOverride", Acceptor, Flag(|d, on| d.settings.timing.heart_bt_int_override = on),
        "N", "Y uses the HeartBtInt of the configuration whatever the initiator's Logon says, and answers with it; AcceptedHeartBtInt does not apply then"),
    row("TestRequestDelayMultiplier", Both, Text { form: values::MULTIPLIER, set: |d, value| values::multiplier(value).map(|multiplier| d.settings.timing.test_request_delay_multiplier = multiplier) },
        "0.2", "a TestRequest is sent if nothing is received for HeartBtInt plus this fraction of it"),
    row("HeartBeatTimeoutMultiplier", Both, Text { form: values::MULTIPLIER, set: |d, value| values::multiplier(value).map(|multiplier| d.settings.timing.heart_beat_timeout_multiplier = Some(multiplier)) },
        "none: twice the time that causes a TestRequest", "the connection ends if nothing is received for HeartBtInt plus this fraction of it, and at least a fifth of HeartBtInt after the TestRequest"),
    row("DisableHeartBeatCheck", Both, Flag(|d, on| d.settings.timing.disable_heart_beat_check = on),
        "N", "Y keeps the connection when the counterparty does not answer a TestRequest: that is logged, and the next TestRequest follows"),
    also(row("ResendRequestChunkSize", Both, Number { from: 0, to: 1_000_000_000, unit: "messages", set: |d, n| d.settings.resend.resend_request_chunk_size = NonZeroU64::new(n) },
        "0", "the most messages that one ResendRequest asks for; once they have come, the next ones are requested. 0 asks for all that are missing at once"), &["MaxMessagesInResendRequest"]),
    row("ClosedResendInterval", Both, Flag(|d, on| d.settings.resend.closed_resend_interval = on),
        "N", "whether EndSeqNo of our ResendRequests is the last missing message; otherwise it stands for infinity"),
    row("SendRedundantResendRequests", Both, Flag(|d, on| d.settings.resend.send_redundant_resend_requests = on),
        "N", "whether each message that arrives after a gap causes a ResendRequest, and not only the first one"),
    row("MaxResendRequests", Both, Number { from: 1, to: 1_000_000, unit: "requests", set: |d, n| d.settings.resend.max_resend_requests = at_least_1(n) },
        "3", "how often the same missing messages are requested before the session logs out; after that they are requested once in each connection, as long as the first of them is missing"),
    needs(|d| d.persist_messages, NOT_SENT_AGAIN,
        row("MaxReplayRate", Both, Number { from: 0, to: 100_000_000, unit: "messages a second", set: |d, n| d.settings.resend.max_replay_rate = NonZeroU32::new(n as u32) },
            "0", "the most messages a second that are sent again when the counterparty requests them; 0 for as many as it reads. New messages that wait for them do not count")),
    row("MaxResendRange", Both, Number { from: 0, to: 1_000_000_000, unit: "messages", set: |d, n| d.settings.resend.max_resend_range = NonZeroU64::new(n) },
        "0", "the most sequence numbers whose messages are sent again for one request of the counterparty; 0 for as many as it requests. Those of the session layer count, too. ResendOverLimit says what happens to a larger request; ResendHorizon limits how old a message may be instead"),
    row("MaxResends", Both, Number { from: 0, to: 1_000_000, unit: "times", set: |d, n| d.settings.resend.max_resends = NonZeroU32::new(n as u32) },
        "0", "how often a message is sent again within a ResendPeriod, over connections; 0 for as often as the counterparty requests it. It counts when it is written, whether or not the counterparty reads it. ResendOverLimit says what happens to a request for a message that has reached the limit"),
    needs(|d| d.settings.resend.max_resends.is_some(), "MaxResends sets no limit",
        row("ResendPeriod", Both, seconds(1, |d, n| d.settings.resend.resend_period = Duration::from_secs(n)),
            "3600", "the time after which all messages count as not sent again, for MaxResends; it begins with the first message that is sent again after the last one")),
    needs(|d| d.settings.resend.max_resends.is_some() || d.settings.resend.max_resend_range.is_some(), "neither MaxResendRange nor MaxResends sets a limit",
        row("ResendOverLimit", Both, Word { words: &["refuse", "gap-fill"], set: |d, n| d.settings.resend.resend_over_limit = [ResendOverLimit::Refuse, ResendOverLimit::GapFill][n] },
            "refuse", "what happens to a request for more than MaxResendRange or MaxResends allows: a Reject (373=5) refuses it with a Text that says why, so that the counterparty can request less, or the same later; or the newest messages within the limits are sent, and a gap fill replaces the others, which the counterparty then does not get. For what NextExpectedMsgSeqNum of a Logon requests it is always a gap fill")),
    needs(|d| d.persist_messages, NOT_SENT_AGAIN,
        row("ReplayInterleave", Both, Word { words: &["none", "heartbeats", "all"], set: |d, n| d.settings.resend.replay_interleave = [ReplayInterleave::None, ReplayInterleave::Heartbeats, ReplayInterleave::All][n] },
            "none", "which new messages are sent between those that the counterparty requested, before their turn: none, Heartbeats and TestRequests, or all but a Logout. The counterparty keeps them until their turn, or requests them once more")),
    needs(|d| d.settings.schedule.is_some(), "the session has no schedule",
        row("ClockJumpHold", Both, seconds(0, |d, n| d.settings.timing.clock_jump_hold = Duration::from_secs(n)),
            "300", "how long the schedule goes on without a wall clock that has jumped by more than two seconds: meanwhile no window begins or ends, and a Logon is accepted or refused as before the jump. 0: the new time counts at once")),
    row("LogonTimeout", Both, seconds(1, |d, n| d.settings.timing.logon_timeout = Duration::from_secs(n)),
        "10", "how long to wait for the Logon or its answer; an acceptor waits for the Logon as long as the longest value among its sessions"),
    row("LogoutTimeout", Both, seconds(1, |d, n| d.settings.timing.logout_timeout = Duration::from_secs(n)),
        "2", "how long to wait for the answer to a Logout; half of it may pass with the rest of a replay before the Logout is sent"),
    row("SendTimeout", Both, seconds(1, |d, n| d.settings.timing.send_timeout = Duration::from_secs(n)),
        "30", "how long a counterparty may take to read what was sent to it before it is disconnected"),
    row("OutboundHighWatermark", Both, Number { from: 1, to: 100, unit: "percent", set: |d, n| d.set_high_watermark(n as u8) },
        "40", "the part of OutboundBufferSize above which a counterparty counts as slow and is reported, if its socket accepts no more; 100 for never. Messages that answer none of the counterparty's fill at most half of the buffer"),
    needs(|d| d.high_watermark < 100, NEVER_SLOW,
        row("OutboundLowWatermark", Both, Number { from: 0, to: 99, unit: "percent", set: |d, n| d.low_watermark = n as u8 },
            "20", "the part of OutboundBufferSize up to which a slow counterparty has caught up; less than OutboundHighWatermark, and half of it by default if that is less")),
    needs(|d| d.high_watermark < 100, NEVER_SLOW,
        row("SlowConsumerTimeout", Both, seconds(0, |d, n| d.settings.limits.slow_consumer_timeout = (n > 0).then(|| Duration::from_secs(n))),
            "0", "how long a counterparty may be slow, from OutboundHighWatermark until it is back at OutboundLowWatermark, before it is disconnected; 0 for no limit. What it has not received is sent when it requests it after its next logon. SendTimeout ends the connection of one that does not read what waited when its socket first accepted no more; this one also that of a counterparty that reads all of that, but always more slowly than is written")),
    row("MaxOutboundRate", Both, Text { form: values::RATE, set: |d, value| values::rate(&mut d.settings.throttle.max_outbound_rate, value) },
        "0", "the most application messages that are sent in a window of a second, or of so many milliseconds: in no window does the socket accept more, wherever it begins, over connections too. 0 for no limit. What is sent again on request, the session layer's messages, and BusinessMessageRejects do not count and do not wait"),
    row("MaxOrderRate", Both, Text { form: values::RATE, set: |d, value| values::rate(&mut d.settings.throttle.max_order_rate, value) },
        "0", "the most messages that enter, replace or cancel orders, in a window as in MaxOutboundRate: MsgType D, E, F, G, K, q, s, t, u, AB, AC, CA and DJ. They count for both limits"),
    needs(|d| d.settings.throttle.max_outbound_rate.is_some() || d.settings.throttle.max_order_rate.is_some(), "neither MaxOutboundRate nor MaxOrderRate sets a limit",
        row("OutboundThrottle", Both, Word { words: &["wait", "refuse"], set: |d, n| d.settings.throttle.outbound_throttle = [OutboundThrottle::Wait, OutboundThrottle::Refuse][n] },
            "wait", "whether a message that is one more than MaxOutboundRate or MaxOrderRate waits without a sequence number, in the journal, or is refused with the time after which it is accepted")),
    row("MaxInboundRate", Both, Text { form: values::RATE, set: |d, value| values::rate(&mut d.settings.throttle.max_inbound_rate, value) },
        "0", "the most application messages of the counterparty that are delivered in a window as in MaxOutboundRate; 0 for no limit. Each other one is answered with a BusinessMessageReject (380=8, or 380=0 if the dictionary has no 8; a Reject before FIX.4.2) and not delivered. What the counterparty sends again on our request does not count (MaxResentRateFactor), and what waited while the session did not read is not counted as sent at once"),
    needs(|d| d.settings.throttle.max_inbound_rate.is_some(), "MaxInboundRate sets no limit",
        row("InboundThrottle", Both, Word { words: &["reject", "disconnect"], set: |d, n| d.settings.throttle.inbound_throttle = [InboundThrottle::Reject, InboundThrottle::Disconnect][n] },
            "reject", "whether a counterparty that exceeds MaxInboundRate is also logged out")),
    row("MaxResentRateFactor", Both, Number { from: 1, to: 1000, unit: "times", set: |d, n| d.settings.throttle.max_resent_rate_factor = at_least_1(n) },
        "20", "how many times as fast as its limit a counterparty may send again what we requested: application messages as MaxInboundRate allows new ones, gap fills and Rejects as MaxSessionMessageRate does. What comes faster is not refused, but stays unread until its time, with everything after it"),
    row("MaxGarbledMessages", Both, Number { from: 0, to: 1_000_000, unit: "messages", set: |d, n| d.settings.limits.max_garbled_messages = NonZeroU32::new(n as u32) },
        "100", "how many garbled messages in succession end the connection; 0 for no limit"),
    row("RejectGarbledMessage", Both, Flag(|d, on| d.settings.validation.reject_garbled_message = on),
        "N", "Y rejects a garbled message, as QuickFIX/J does, instead of ignoring it: one that ends where BodyLength says, with a wrong CheckSum or without MsgType as its third field, and with a header of this session. Its MsgSeqNum is used if it is the expected one, so the message is lost; without this it is requested again. It counts for MaxGarbledMessages in any case, and as a session-layer message for MaxSessionMessageRate and MaxSessionJournalGrowth"),
    row("CodecTiming", Both, Flag(|d, on| d.settings.timing.codec_timing = on.then_some(crate::codec_clock())),
        "N", "Y measures how long the session's messages take to encode and to decode, and reports the totals when the connection ends, such as `Encode: 1.372111365 secs, 500005 msgs, 0.000002744 secs/msg, 364405.55 msgs/sec`. Encoding is writing a body, with what the application does between its fields, and putting header and trailer around it; decoding is framing, index, CheckSum, MsgSeqNum and validation, up to where the application could read the message. Each message costs two readings of the clock more"),
    also(row("ValidateChecksum", Both, Flag(|d, on| d.settings.validation.validate_checksum = on),
        "Y", "N processes a message with a wrong CheckSum as if it were right, the Logon too: a message damaged on its way is then acted on. BodyLength must be right in any case, because it says where a message ends; with ValidateLengthAndChecksum=N, QuickFIX also accepts one that is too small"), &["ValidateLengthAndChecksum"]),
    row("MaxSessionMessageRate", Both, Number { from: 0, to: 100_000_000, unit: "messages a second", set: |d, n| d.settings.limits.max_session_message_rate = NonZeroU32::new(n as u32) },
        "1000", "more session-layer messages of the counterparty than this, in each of five seconds in succession, end the connection; 0 for no limit. What it sends again on our request does not count (MaxResentRateFactor)"),
    row("MaxSessionJournalGrowth", Both, Number { from: 0, to: 1 << 40, unit: "bytes a minute", set: |d, n| d.settings.limits.max_session_journal_growth = NonZeroU64::new(n) },
        "33554432", "how much the counterparty's messages that are not for the application (those of the session layer, and those that the session rejects), with the answers to them, may add to the journal before the connection ends; 0 for no limit"),
    row("ResetOnLogon", Both, Flag(|d, on| d.settings.reset.reset_on_logon = on),
        "N", "sequence numbers begin at 1 with each Logon"),
    row("ResetOnLogout", Both, Flag(|d, on| d.settings.reset.reset_on_logout = on),
        "N", "sequence numbers begin at 1 after a Logout"),
    row("ResetOnDisconnect", Both, Flag(|d, on| d.settings.reset.reset_on_disconnect = on),
        "N", "sequence numbers begin at 1 after the connection has ended"),
    since(Version::Fix44, "versions before FIX.4.4 have no NextExpectedMsgSeqNum (789)",
        also(row("SendNextExpectedMsgSeqNum", Both, Flag(|d, on| d.settings.resend.send_next_expected_msg_seq_num = on),
            "N", "our Logons have NextExpectedMsgSeqNum (789), since FIX.4.4: if those of the counterparty have it too, each side sends what the other one misses without a ResendRequest. That of a counterparty is followed in any case"), &["EnableNextExpectedMsgSeqNum"])),
    since(Version::Fix42, "versions before FIX.4.2 have no LastMsgSeqNumProcessed (369)",
        row("EnableLastMsgSeqNumProcessed", Both, Flag(|d, on| d.settings.resend.enable_last_msg_seq_num_processed = on),
            "N", "each message that is sent has LastMsgSeqNumProcessed (369), since FIX.4.2. That of a counterparty is not looked at")),
    row("TolerateLowMsgSeqNumAtLogon", Both, Word { words: &["never", "once", "always"], set: |d, n| d.settings.reset.tolerate_low_msg_seq_num_at_logon = [TooLowAtLogon::Refused, TooLowAtLogon::AcceptedOnce, TooLowAtLogon::Accepted][n] },
        "never", "whether a Logon is accepted whose MsgSeqNum is too low, because the counterparty has lost its store; the next number expected is then the one after it, and the journal says so. `once` is granted again after an operator has set or reset sequence numbers, or after a restart"),
    row("TestMessageIndicator", Both, Word { words: &["N", "Y", "any"], set: |d, n| d.settings.validation.test_message_indicator = [TestMessageIndicator::Production, TestMessageIndicator::Test, TestMessageIndicator::Any][n] },
        "N", "TestMessageIndicator (464) of both Logons: N for production, Y for tests; a Logon with the other one is refused, and one without the field is for production. `any` accepts both and sends none"),
    row("AllowPosDup", Both, Flag(|d, on| d.settings.resend.allow_pos_dup = on),
        "N", "whether the application may mark a message that it sends as a possible duplicate (`Handle::possible_duplicate`): with PossDupFlag and OrigSendingTime"),
    row("RejectMessageOnUnhandledException", Both, Flag(|d, on| d.settings.validation.reject_message_on_unhandled_exception = on),
        "N", "Y answers a message on which the application fails or panics with a BusinessMessageReject 4 (a Reject before FIX.4.2), and goes on; N ends the connection and offers the message again (MaxDeliveryAttempts)"),
    row("DisconnectOnError", Both, Flag(|d, on| d.settings.validation.disconnect_on_error = on),
        "N", "a message of the counterparty that the session rejects (35=3) ends the connection, with a Logout; what the application rejects does not"),
    row("ResetOnError", Both, Flag(|d, on| d.settings.reset.reset_on_error = on),
        "N", "Y ends the connection as DisconnectOnError=Y does, and sequence numbers begin at 1 after a connection that ended because of a mistake of the counterparty"),
    row("PersistMessages", Both, Flag(|d, on| d.persist_messages = on),
        "Y", "N keeps no messages and answers every ResendRequest with a gap fill; not together with FileStorePath"),
    row("ResendHorizon", Both, Number { from: 1, to: 1_000_000_000, unit: "messages", set: |d, n| d.settings.resend.resend_horizon = NonZeroU64::new(n) },
        "none: all are sent again", "how many sequence numbers, counted back from NextNumOut, have their messages sent again when the counterparty requests them; those of the session layer count, too, and those kept by WhileLoggedOff. Older ones are gap-filled and reported, and the store may let go of them"),
    row("WhileLoggedOff", Both, Word { words: &["refuse", "keep"], set: |d, n| d.settings.resend.while_logged_off = [WhileLoggedOff::Refuse, WhileLoggedOff::Keep][n] },
        "refuse", "whether a message sent while not logged on is refused, or numbered and kept until the counterparty asks for it after the logon"),
    row("MaxDeliveryAttempts", Both, Number { from: 1, to: 1000, unit: "attempts", set: |d, n| d.settings.limits.max_delivery_attempts = at_least_1(n) },
        "3", "how often a message is offered to an application that fails on it before the session halts"),
    row("MaskedTags", Both, Text { form: values::MASKED_TAGS, set: values::masked_tags },
        "554,925,1402,1404,96", "fields whose values are replaced by `*` in the journal and for observers, 96 in a Logon only; an application message with one is not sent again"),
    row("Username", Both, Text { form: values::LOGON_TEXT, set: |d, value| values::logon_text(&mut d.settings.logon.username, value) },
        "none", "Username (553) in each Logon that is sent, including an acceptor's answers"),
    row("Password", Both, Text { form: values::LOGON_TEXT, set: |d, value| values::secret(&mut d.settings.logon.password, value) },
        "none", "Password (554) in each Logon that is sent: write `${VAR}` or `${file:PATH}`"),
    row("NewPassword", Both, Text { form: values::LOGON_TEXT, set: |d, value| values::secret(&mut d.settings.logon.new_password, value) },
        "none", "NewPassword (925) in each Logon that is sent"),
    row("RawData", Both, Text { form: values::LOGON_TEXT, set: |d, value| values::secret(&mut d.settings.logon.raw_data, value) },
        "none", "RawData (96) in each Logon that is sent, with its RawDataLength (95)"),
    row("LogonTag", Both, Effect::Numbered { form: values::LOGON_TAG, set: values::logon_tag },
        "none", "another field in each Logon that is sent, as TAG=VALUE; more fields have a number from 1 after the key. 553, 554, 925 and 96 are Username, Password, NewPassword and RawData. For a secret, write `LogonTag=TAG=${file:PATH}`"),
    row("CheckCompID", Both, Flag(|d, on| d.settings.validation.check_comp_id = on),
        "Y", "whether the CompIDs of every message must be the session's"),
    row("RequiresOrigSendingTime", Both, Flag(|d, on| d.settings.validation.requires_orig_sending_time = on),
        "Y", "whether a message with PossDupFlag=Y must have OrigSendingTime"),
    row("CheckLatency", Both, Flag(|d, on| d.check_latency = on),
        "Y", "whether SendingTime is compared with the local clock"),
    needs(|d| d.check_latency, "CheckLatency=N checks no times",
        row("MaxLatency", Both, seconds(1, |d, n| d.max_latency = Duration::from_secs(n)),
            "120", "how far SendingTime may be from the local clock")),
    row("MillisecondsInTimeStamp", Both, Flag(|d, on| d.settings.timing.timestamp_precision = if on { Precision::Millis } else { Precision::Seconds }),
        "Y", "N sends times in whole seconds, unless TimestampPrecision is given"),
    row("TimestampPrecision", Both, Word { words: &["0", "3", "6", "9", "12", "SECONDS", "MILLIS", "MICROS", "NANOS", "PICOS"], set: |d, n| d.settings.timing.timestamp_precision = PRECISIONS[n % 5] },
        "3", "digits of a second in the times that are sent"),
    // Sizes
    row("MaxMessageSize", Both, Number { from: SettingRange::MAX_MESSAGE_SIZE.from, to: 64 << 20, unit: "bytes", set: |d, n| d.settings.limits.max_message_size = n as usize },
        "65536", "largest message after the logon. A larger one of up to 16 MiB is rejected under its own number, and the session goes on; one that is larger still ends the connection"),
    row("OutboundBufferSize", Both, Number { from: SettingRange::OUTBOUND_BUFFER_SIZE.from, to: GIB, unit: "bytes", set: |d, n| { d.settings.limits.outbound_buffer_size = n as usize; d.outbox_given = true; } },
        "1048576", "how much is kept for a counterparty that does not read; a full buffer causes back-pressure. The default is at least four times MaxMessageSize"),
    row("ReorderBufferSize", Both, Number { from: 0, to: GIB, unit: "bytes", set: |d, n| d.settings.limits.reorder_buffer_size = n as usize },
        "1048576", "how much is kept of messages that arrive after a gap; further messages are requested again"),
    // Schedule
    row("NonStopSession", Both, Flag(|d, on| d.schedule.non_stop = on),
        "N", "Y states that the session never ends, as one without StartTime does. StartTime is a mistake then, unless it equals EndTime: that has no effect, which is a warning"),
    row("StartTime", Both, Text { form: schedule::TIMES, set: |d, value| schedule::times(&mut d.schedule.start, value) },
        "none", "when the session begins, each day or on StartDay; without it, it never ends. Several times, with as many of EndTime, are several sessions a day. Sequence numbers are reset then ([schedules](schedules.md))"),
    row("EndTime", Both, Text { form: schedule::TIMES, set: |d, value| schedule::times(&mut d.schedule.end, value) },
        "none", "when the session ends, with a Logout. If it equals StartTime, the session lasts a day, and the next one begins at once"),
    row("StartDay", Both, Text { form: schedule::WEEKDAY, set: |d, value| schedule::weekday(&mut d.schedule.start_day, value) },
        "none", "the weekday on which a weekly session begins; without it the session is daily"),
    row("EndDay", Both, Text { form: schedule::WEEKDAY, set: |d, value| schedule::weekday(&mut d.schedule.end_day, value) },
        "none", "the weekday on which a weekly session ends"),
    row("Weekdays", Both, Text { form: schedule::WEEKDAYS, set: |d, value| schedule::weekdays(&mut d.schedule.weekdays, value) },
        "none", "the weekdays on which a daily session begins; every day unless it is given"),
    row("LogonTime", Both, Text { form: schedule::TIMES, set: |d, value| schedule::times(&mut d.schedule.logon, value) },
        "none", "the time within the session at which connections begin; StartTime unless it is given. It does not affect sequence numbers"),
    row("LogoutTime", Both, Text { form: schedule::TIMES, set: |d, value| schedule::times(&mut d.schedule.logout, value) },
        "none", "the time within the session at which connections end; EndTime unless it is given"),
    row("LogonDay", Both, Text { form: schedule::WEEKDAY, set: |d, value| schedule::weekday(&mut d.schedule.logon_day, value) },
        "none", "the weekday of LogonTime: StartDay unless it is given"),
    row("LogoutDay", Both, Text { form: schedule::WEEKDAY, set: |d, value| schedule::weekday(&mut d.schedule.logout_day, value) },
        "none", "the weekday of LogoutTime: EndDay unless it is given"),
    row("TimeZone", Both, Text { form: schedule::TIME_ZONE, set: |d, value| schedule::zone(&mut d.schedule.time_zone, value) },
        "UTC", "the time zone of the times and dates of the schedule; a zone after a time, as in `08:00:00 Europe/London`, is for that time"),
    row("UseLocalTime", Both, Flag(|d, on| d.schedule.use_local_time = on),
        "N", "whether the times of the schedule are those of the machine's time zone"),
    row("Holidays", Both, Text { form: schedule::DATES, set: |d, value| schedule::dates(&mut d.schedule.holidays, value) },
        "none", "dates on which no window begins; a weekly window begins on the first day afterwards that is no holiday"),
    row("EarlyCloses", Both, Text { form: schedule::CLOSES, set: |d, value| schedule::closes(&mut d.schedule.early_closes, value) },
        "none", "times at which the window that is open then ends early"),
    row("ScheduleReset", Both, Word { words: &["start", "end", "never"], set: |d, n| d.schedule.reset = [ScheduleReset::AtStart, ScheduleReset::AtEnd, ScheduleReset::Never][n] },
        "start", "whether sequence numbers begin at 1 at the start of each window, at its end, or go on"),
    row("EnableResetSeqTime", Both, Flag(|d, on| d.schedule.enable_reset_time = on),
        "N", "whether the session, while it is logged on, begins its sequence numbers at 1 each day at ResetSeqTime, with a Logon with ResetSeqNumFlag=Y (24-hour reset); a session that is not logged on at that time does so after its next logon"),
    row("ResetSeqTime", Both, Text { form: schedule::TIME, set: |d, value| schedule::time(&mut d.schedule.reset_time, value) },
        "none", "the time of day for EnableResetSeqTime=Y"),
    // Validation
    row("UseDataDictionary", Both, Flag(|d, on| d.use_dictionary = on),
        "Y", "whether messages are validated against a dictionary"),
    row("DataDictionary", Both, Text { form: "a file", set: |d, value| values::path(&mut d.dictionary, value) },
        "the shipped one of the version", "QuickFIX XML, FIX Orchestra or a compact table of the session's version; or only [the changes of a dialect](dialects.md). Where the value is only the name of the session's version, such as FIX44.xml, and there is no such file, the shipped one is used, with a warning; a path with a directory must exist"),
    row("TransportDataDictionary", Both, Text { form: "a file", set: |d, value| values::path(&mut d.fixt.transport, value) },
        "the shipped one of FIXT.1.1", "the dictionary of header, trailer and session messages of a session of FIXT.1.1, which does not use DataDictionary"),
    row("AppDataDictionary", Both, PerVersion { form: "a file", set: |d, key, value| d.fixt.set_application(key, value) },
        "the shipped one of DefaultApplVerID", "the dictionary of the application messages of a session of FIXT.1.1; `AppDataDictionary.FIX.4.4` is that of messages that name FIX.4.4 in ApplVerID (1128), and so on. A message of a version without a dictionary is rejected. Where a value is only the name of its version, such as FIX50SP2.xml, and there is no such file, the shipped one is used, with a warning; a path with a directory must exist"),
    row("DataDictionaryVersion", Both, Text { form: "a version such as FIX.4.4", set: |d, value| values::version_name(&mut d.dictionary_version, value) },
        "none: the file says it", "the version that the file of DataDictionary or AppDataDictionary describes, if the file does not say it or is wrong"),
    row("DataDictionaryEncoding", Both, Text { form: "UTF-8, ISO-8859-1 or UTF-16", set: |d, value| values::encoding(&mut d.dictionary_encoding, value) },
        "none: the file says it", "the encoding of the file of DataDictionary or AppDataDictionary, if the file does not say it or is wrong"),
    row("DataDictionaryDuplicateTags", Both, Flag(|d, on| d.accept_duplicate_tags = on),
        "N", "whether a tag that several fields of the file have is accepted; the first field is kept"),
    row("DataDictionaryAsOf", Both, Text { form: "a version such as FIX.4.4", set: |d, value| values::version_name(&mut d.dictionary_as_of, value) },
        "none: the whole file is read", "reads only what this version already had, as far as a FIX Orchestra file says when each element was added"),
    row("DataDictionaryScenario", Both, Text { form: "at least one character, and no control character such as a line end", set: |d, value| values::logon_text(d.dictionary_scenario.get_or_insert_default(), value) },
        "none: scenario base", "messages as this scenario of a FIX Orchestra file has them; the others are those of base"),
    row("DataDictionaryStandardNames", Both, Flag(|d, on| d.standard_names = on),
        "N", "whether fields, messages and codes of the file get FIX Orchestra's names"),
    row("ValidationPolicy", Both, Word { words: &["standard", "quickfix", "quickfixj", "tolerant"], set: |d, n| d.check_as([Policy::standard(), Policy::quickfix(), Policy::quickfixj(), Policy::tolerant()][n]) },
        "standard (else that of Compatibility)", "which checks of incoming messages to begin with, and whether they reject: the standard's, those of an engine, or, with tolerant, warnings only, so that an ExecutionReport is delivered whatever is wrong with its body (docs/validation.md). The keys below change single checks"),
    row("ValidateIncomingMessage", Both, Flag(|d, on| d.validate_incoming = on),
        "Y", "whether incoming messages are validated against the dictionary"),
    row("ValidateFieldsOutOfOrder", Both, Flag(|d, on| d.switch(on, &[Check::SectionOrder])),
        "Y", "whether the header must come before the body, and the body before the trailer"),
    row("ValidateFieldsHaveValues", Both, Flag(|d, on| d.switch(on, &[Check::EmptyValue])),
        "Y", "whether fields without a value are rejected"),
    also(row("ValidateUserDefinedFields", Both, Flag(|d, on| d.switch(on, &[Check::UserDefinedTag])),
        "Y", "whether tags from 5000 on must be in the dictionary"), &["CheckUserDefinedFields"]),
    row("ValidateUnorderedGroupFields", Both, Flag(|d, on| d.switch(on, &[Check::GroupOrder])),
        "Y (quickfix: N)", "whether the fields of a group entry must be in the dictionary's order"),
    row("FirstFieldInGroupIsDelimiter", Both, Flag(|d, on| d.first_field_is_delimiter = on),
        "N", "with ValidateUnorderedGroupFields=N, every group is read as it is sent, as with GroupsAsSent=all; otherwise without effect"),
    row("GroupsAsSent", Both, Text { form: values::GROUPS_AS_SENT, set: values::groups_as_sent },
        "none", "the groups of the counterparty's messages whose entries begin with the member that is sent first, and have their members in any order, whatever the dictionary says: for a counterparty that orders a group otherwise (docs/validation.md). Each group with one of these count fields is read so, in every message"),
    also(row("AllowUnknownMsgFields", Both, Flag(|d, on| d.allow(on, &[Check::UnknownTag, Check::TagNotInMessage])),
        "N", "whether tags that the dictionary does not list for the message are accepted"), &["AllowUnknownMessageFields"]),
    row("AllowUnknownEnumValues", Both, Flag(|d, on| d.allow(on, &[Check::EnumValue])),
        "N", "whether values outside a field's list are accepted"),
    row("RejectInvalidMessage", Both, Flag(Draft::reject_invalid),
        "Y", "N reports a violation and delivers the message"),
    row("Incoming.CHECK", Both, Effect::Check(Direction::Incoming),
        "reject (GroupAsSent: ignore)", "what to do when an incoming message fails a check: one key for each check of docs/validation.md; it overrides the keys above"),
    row("ValidateOutgoingMessage", Both, Flag(|d, on| d.validate_outgoing = on),
        "N", "whether the application's messages are validated before they get a sequence number"),
    row("Outgoing.CHECK", Both, Effect::Check(Direction::Outgoing),
        "reject (GroupAsSent: ignore)", "what to do when a message that the application sends fails a check: one key for each check of docs/validation.md"),
    // Transport
    row("SocketConnectHost", Initiator, Listed { form: values::HOST },
        "required of an initiator", "the host to connect to; more hosts have a number from 1 after the key and are tried in turn, until one answers the Logon"),
    row("SocketConnectPort", Initiator, Listed { form: "a whole number from 1 to 65535" },
        "required of an initiator", "the port of SocketConnectHost; that of a numbered host has its number after the key"),
    row("HostSelectionPolicy", Initiator, Word { words: &["PRIORITY", "ROUND_ROBIN", "ROUNDROBIN"], set: |d, n| d.initiation.host_selection_policy = [HostSelection::Priority, HostSelection::RoundRobin, HostSelection::RoundRobin][n] },
        "PRIORITY", "the host that an attempt to log on begins with: the first one, or the one after the host that was used last. The attempt goes on to the next host after any failure before the Logon is answered, even if the Logon is refused"),
    needs(|d| d.initiation.host_selection_policy == HostSelection::Priority, "HostSelectionPolicy=ROUND_ROBIN goes on with the next host",
        row("HostSelectionPolicyPriorityStartOverInterval", Initiator, seconds(0, |d, n| d.initiation.priority_start_over = Duration::from_secs(n)),
            "0", "with HostSelectionPolicy=PRIORITY, how long after an attempt that began with the first host one begins with it again; until then they begin with the host that was used last. QuickFIX waits for 120 seconds unless told otherwise")),
    also(row("SocketConnectSourceHost", Initiator, Listed { form: values::LOCAL_IP },
        "left to the system", "the local address of the connections; that of a numbered host has its number after the key"), &["SocketLocalHost"]),
    also(row("SocketConnectSourcePort", Initiator, Listed { form: "a whole number from 0 to 65535" },
        "0: left to the system", "the local port of the connections; also with a host's number after the key. The system may keep it for a minute after a connection that we have closed"), &["SocketLocalPort"]),
    row("SocketConnectTimeout", Initiator, seconds(1, |d, n| d.initiation.socket_connect_timeout = Duration::from_secs(n)),
        "10", "how long an attempt to connect to a host may take"),
    row("ReconnectInterval", Initiator, seconds(1, |d, n| d.set_reconnect_interval(Duration::from_secs(n))),
        "30", "how long to wait after a session that was logged on has ended, or after every host was tried. Each further failed attempt doubles it, and a logon resets it. Each wait is shortened at random, by up to a half"),
    row("MaxReconnectInterval", Initiator, seconds(1, |d, n| d.initiation.max_reconnect_interval = Duration::from_secs(n)),
        "120 or ReconnectInterval, whichever is longer", "the limit up to which failed attempts double the wait; at least ReconnectInterval"),
    row("SocketAcceptPort", Acceptor, Number { from: 0, to: 65_535, unit: "", set: |d, n| d.port = u16::try_from(n).ok() },
        "required of an acceptor", "the port to listen on; 0 lets the system choose"),
    also(row("SocketAcceptHost", Acceptor, Text { form: values::LOCAL_IP, set: values::listen },
        "127.0.0.1", "the address to listen on; 0.0.0.0 for every interface"), &["SocketAcceptAddress"]),
    row("AllowedRemoteAddresses", Acceptor, Text { form: "IP addresses separated by commas", set: |d, value| values::addresses(&mut d.acceptance.allowed_remote_addresses, value) },
        "any", "the addresses from which counterparties may connect"),
    row("ProxyProtocolFrom", Acceptor, Text { form: values::NETWORKS, set: |d, value| values::networks(&mut d.acceptance.proxy_protocol_from, value) },
        "none", "the proxies whose connections begin with a PROXY header (version 1 or 2; HAProxy's send-proxy and send-proxy-v2). The counterparty that it names counts as the connection's address from then on: for AllowedRemoteAddresses, MaxConnectionsPerAddress and the log. A connection from one of these addresses without a header is closed, and so is one from elsewhere with a header. Whoever can connect from these addresses can name any counterparty. All sessions of a listening address must have the same value"),
    also(row("SocketNodelay", Both, Flag(|d, on| d.socket.nodelay = on),
        "Y", "whether small messages are sent at once (TCP_NODELAY)"), &["SocketTcpNoDelay"]),
    row("SocketSendBufferSize", Both, Number { from: 0, to: GIB, unit: "bytes", set: |d, n| d.socket.send_buffer_size = (n > 0).then_some(n as usize) },
        "0", "size of the socket's send buffer (SO_SNDBUF), which has what was written and is not acknowledged; 0 leaves it to the system, which may round it"),
    row("SocketReceiveBufferSize", Both, Number { from: 0, to: GIB, unit: "bytes", set: |d, n| d.socket.receive_buffer_size = (n > 0).then_some(n as usize) },
        "0", "size of the socket's receive buffer (SO_RCVBUF), which has what arrived and was not read; 0 leaves it to the system, which may round it"),
    row("SocketKeepAlive", Both, Flag(|d, on| d.socket.keep_alive = on),
        "N", "whether TCP keepalive probes are sent (SO_KEEPALIVE); heartbeats notice a broken connection sooner, unless HeartBtInt is 0"),
    row("SocketLinger", Both, seconds(0, |d, n| d.socket.linger = Duration::from_secs(n)),
        "1", "how long a connection waits for the counterparty to close it, after our last message was written, before we do. No other session waits meanwhile"),
    row("SocketOobInline", Both, Flag(|d, on| d.socket.oob_inline = on),
        "N", "whether out-of-band data stays among the other bytes (SO_OOBINLINE), where it makes a message garbled; otherwise it is discarded"),
    row("SocketTrafficClass", Both, Text { form: values::TRAFFIC_CLASS, set: |d, value| values::traffic_class(&mut d.socket.traffic_class, value) },
        "left to the system", "the type of service in IPv4 headers, or the traffic class of IPv6"),
    row("DedicatedWorker", Both, Text { form: values::DEDICATED, set: |d, value| values::dedicated(&mut d.dedicated_worker, value) },
        "N", "whether the session has a thread of its own, beside the Workers, and how it waits, as in WorkerWaiting. Not for dynamic sessions"),
    row("DedicatedWorkerCore", Both, Number { from: 0, to: 65_535, unit: "core", set: |d, n| d.dedicated_worker_core = Some(n as usize) },
        "left to the system", "the core that the session's own thread is pinned to, counted from 0. Linux only"),
    row("SocketBusyPoll", Both, Number { from: 0, to: 1_000_000, unit: "microseconds", set: |d, n| d.socket.busy_poll = (n > 0).then_some(Duration::from_micros(n)) },
        "0", "how long the system polls the network device for a read that finds nothing (SO_BUSY_POLL); 0 leaves it to net.core.busy_read. Some kernels refuse values above that without CAP_NET_ADMIN, which is a warning of the session. Linux only (docs/tuning.md)"),
    row("SocketQuickAck", Both, Flag(|d, on| d.socket.quick_ack = on),
        "N", "whether what was read is acknowledged at once (TCP_QUICKACK), instead of with the next message: one more system call for each read. Linux only (docs/tuning.md)"),
    // TLS
    also(tls_row("SocketUseSSL", Both, Flag(|d, on| d.tls.on = Some(on)),
        "N (Y if one of the keys of certificates and authorities is there)", "whether connections are encrypted (TLS 1.3 or 1.2). All sessions of a port are, or none is, and they agree on every key of TLS but TLSPeerPins and TLSPeerNames ([security](security.md)). A session that has another key of TLS does not start without this one: N says that its connections are plain on purpose. An acceptor with SSLEnable=Y requires certificates of its clients unless SSLRequireClientCertificate=N, as in QuickFIX/N"), &["SSLEnable"]),
    tls_row("SocketCertificateFile", Both, Text { form: tls::PEM, set: |d, value| d.tls.certificate_as_in_go(value) },
        "none", "our certificate, followed by the intermediate ones up to an authority that counterparties know; an acceptor with TLS needs one. The file is read again when it has changed, within a minute"),
    tls_row("SocketPrivateKeyFile", Both, Text { form: tls::PEM, set: |d, value| d.tls.key(value) },
        "none", "the private key of SocketCertificateFile (PKCS#8, PKCS#1 or SEC1), not encrypted"),
    tls_row("SocketKeyStore", Both, Text { form: tls::PEM, set: |d, value| d.tls.key_store(value) },
        "none", "our certificate and its private key in one file. PKCS#12 and JKS are not read; the message says how to convert them"),
    tls_row("SSLCertificate", Both, Text { form: tls::PEM, set: |d, value| d.tls.certificate_as_in_net(value) },
        "none", "the same as SocketKeyStore. An acceptor with it requires certificates of its clients unless SSLRequireClientCertificate=N, as in QuickFIX/N. A .pfx, and the name of a certificate in the system's store, are not read; the message says how to convert them"),
    tls_row("ServerCertificateFile", Acceptor, Text { form: tls::PEM, set: |d, value| d.tls.certificate(value) },
        "none", "the same as SocketCertificateFile, of an acceptor"),
    tls_row("ServerCertificateKeyFile", Acceptor, Text { form: tls::PEM, set: |d, value| d.tls.key(value) },
        "none", "the same as SocketPrivateKeyFile, of an acceptor"),
    tls_row("ClientCertificateFile", Initiator, Text { form: tls::PEM, set: |d, value| d.tls.certificate(value) },
        "none", "the same as SocketCertificateFile, of an initiator"),
    tls_row("ClientCertificateKeyFile", Initiator, Text { form: tls::PEM, set: |d, value| d.tls.key(value) },
        "none", "the same as SocketPrivateKeyFile, of an initiator"),
    also(tls_row("SocketCAFile", Both, Text { form: tls::PEM, set: |d, value| d.tls.authorities(tls::authorities_in(value)) },
        "left to the system: the authorities that it trusts", "the certificate authorities that may sign the counterparty's certificate, and no others"), &["SocketTrustStore"]),
    tls_row("SSLCACertificate", Both, Text { form: tls::PEM, set: |d, value| d.tls.authorities_as_in_net(value) },
        "left to the system: the authorities that it trusts", "the same as SocketCAFile"),
    tls_row("CertificationAuthoritiesFile", Both, Text { form: tls::PEM, set: |d, value| d.tls.authorities(tls::authorities_in(value)) },
        "left to the system: the authorities that it trusts", "the same as SocketCAFile"),
    tls_row("CertificationAuthoritiesDirectory", Both, Text { form: "a directory", set: |d, value| d.tls.authorities(Authorities::Directory(path_of(value))) },
        "left to the system: the authorities that it trusts", "the authorities of SocketCAFile, in the files of a directory"),
    tls_row("CertificateRevocationListFile", Both, Text { form: tls::PEM, set: |d, value| values::path(&mut d.tls.tls.revocation_lists, value) },
        "none: revocation is not checked", "the revocation lists of the authorities in SocketCAFile and of the intermediate ones, for each certificate of the counterparty's chain"),
    tls_row("SSLCheckCertificateRevocation", Both, Flag(|d, on| d.tls.check_revocation = Some(on)),
        "none: CertificateRevocationListFile", "whether revocation is checked: Y needs CertificateRevocationListFile, since no authority is asked during a handshake, and N excludes it. QuickFIX/N checks it by default; that a session with its keys does not is a warning"),
    tls_row("NeedClientAuth", Acceptor, Word { words: &["N", "Y", "requested"], set: |d, n| d.tls.client_certificates("NeedClientAuth", [ClientCertificates::Off, ClientCertificates::Required, ClientCertificates::Requested][n]) },
        "N (Y with SocketCertificateFile and without SocketUseSSL, as in quickfixgo, and with SSLEnable=Y or SSLCertificate, as in QuickFIX/N)", "whether initiators must have a certificate of an authority in SocketCAFile, which it needs; `requested` asks for one and goes on without"),
    tls_row("SSLRequireClientCertificate", Acceptor, Flag(|d, on| d.tls.client_certificates("SSLRequireClientCertificate", if on { ClientCertificates::Required } else { ClientCertificates::Off })),
        "none: NeedClientAuth", "the same as NeedClientAuth"),
    tls_row("CertificateVerifyLevel", Both, Word { words: &["0", "1", "2"], set: |d, n| d.tls.verify_level(d.role, n) },
        "none: NeedClientAuth", "NeedClientAuth of an acceptor as a number: 0 is N, 1 is Y, 2 is requested. An initiator always verifies the acceptor's certificate, so 0 is refused"),
    tls_row("TLSPreset", Both, Word { words: &["none", "FIXS"], set: |d, n| d.tls.tls.cipher_suites = if n == 1 { CipherSuite::FIXS.to_vec() } else { Vec::new() } },
        "none", "FIXS enables the cipher suites that FIX-over-TLS names, as far as they are supported ([security](security.md))"),
    tls_row("EnabledProtocols", Both, Text { form: "TLSv1.2, TLSv1.3 or both, separated by a comma", set: |d, value| d.tls.protocols(value) },
        "TLSv1.2,TLSv1.3", "the versions of TLS; earlier ones are not supported"),
    tls_row("SSLProtocol", Both, Text { form: "words such as `all -TLSv1_2`", set: |d, value| d.tls.ssl_protocol(value) },
        "all", "the versions of TLS, in QuickFIX's words; what it enables before TLS 1.2 is not used"),
    tls_row("SSLProtocols", Both, Text { form: "names such as Tls12 and Tls13, separated by commas, or None for the default", set: |d, value| d.tls.net_protocols(value) },
        "None", "the versions of TLS, by .NET's names"),
    tls_row("SocketMinimumTLSVersion", Both, Word { words: &["TLS12", "TLS13"], set: |d, n| d.tls.at_least([TlsVersion::Tls12, TlsVersion::Tls13][n]) },
        "TLS12", "the lowest version of TLS. Of several keys about versions, each excludes some"),
    tls_row("CipherSuites", Both, Text { form: tls::SUITES, set: |d, value| d.tls.cipher_suites(value) },
        "any that is supported", "the cipher suites, the preferred one first"),
    tls_row("TLSCipherSuites", Both, Text { form: tls::SUITES, set: |d, value| d.tls.tls13_suites(value) },
        "any that is supported", "the cipher suites of TLS 1.3; those of TLS 1.2 are as CipherSuites says"),
    tls_row("EndpointIdentificationAlgorithm", Initiator, Word { words: &["HTTPS", "LDAPS", "none"], set: |d, n| d.tls.tls.check_server_name = n != 2 },
        "HTTPS", "whether the acceptor's certificate must be for the host that we connect to (or SocketServerName); with `none`, any certificate of SocketCAFile will do, as long as it fits to TLSPeerPins and TLSPeerNames"),
    tls_row("UseSNI", Initiator, Flag(|d, on| d.tls.tls.send_server_name = on),
        "Y", "whether the acceptor's host name is sent in the handshake, unencrypted (SNI)"),
    also(tls_row("SocketServerName", Initiator, Text { form: values::HOST, set: |d, value| values::logon_text(d.tls.tls.server_name.get_or_insert_default(), value) },
        "none: SocketConnectHost", "the host name for EndpointIdentificationAlgorithm and UseSNI, if it differs from SocketConnectHost"), &["SNIHostName", "SSLServerName"]),
    tls_row("TLSPeerPins", Both, Text { form: tls::PINS, set: |d, value| d.tls.pins(value) },
        "any", "the public keys that the counterparty's certificate may have, each as the SHA-256 of its SubjectPublicKeyInfo. A certificate with one of them cannot log on as another session of the port that does not name it"),
    tls_row("TLSPeerNames", Both, Text { form: "names, CompID and DNS:CompID, separated by commas, or none", set: |d, value| d.tls.peer_names(value) },
        "any", "the names of which the counterparty's certificate must have one: as its common name (CN), or among its DNS names and URIs (SAN). `CompID` is the counterparty's CompID as common name, `DNS:CompID` as DNS name, both letter by letter. A certificate with one of them cannot log on as another session of the port that does not name it. `none`: any certificate, on purpose; without it, a session that names none stops the start beside one with DynamicSession=Y and `CompID`"),
    row("FileStorePath", Both, Text { form: "a directory", set: |d, value| values::path(&mut d.journal, value) },
        "none", "the directory of the journals; without it messages are kept in memory and sequence numbers begin at 1 when the process starts"),
    // The engine
    row("Store", Scope::Engine, Text { form: "memory", set: |d, value| values::store(&mut d.engine, value) },
        "none: FileStorePath", "`memory` says that messages are kept in memory on purpose; a configuration without it and without FileStorePath is a warning"),
    row("Workers", Scope::Engine, Number { from: 1, to: 1024, unit: "threads", set: |d, n| d.engine.workers = Some(n as usize) },
        "left to the program", "how many threads the sessions are distributed over, also those that share a port: each session belongs to the thread that had the fewest when it was added"),
    row("WorkerWaiting", Scope::Engine, Text { form: values::WAITING, set: |d, value| values::waiting(&mut d.engine.worker_waiting, value) },
        "blocking", "how these threads wait for messages: blocking sleeps until the system wakes the thread; spinning never sleeps, which notices a message some microseconds earlier and keeps a core busy for each thread; a number is for how long a thread spins after there was last something to do, before it sleeps"),
    row("WorkerCores", Scope::Engine, Text { form: values::CORES, set: |d, value| values::cores(&mut d.engine.worker_cores, value) },
        "left to the system", "the cores that these threads are pinned to: the first thread to the first core named, and so on, one for each. Cores are counted from 0. Linux only"),
    row("LockMemory", Scope::Engine, Flag(|d, on| d.engine.lock_memory = on),
        "N", "whether the memory of the process is locked, so that the system does not page it out, and made ready before it is needed. Needs CAP_IPC_LOCK or an unlimited RLIMIT_MEMLOCK (`ulimit -l`); if the system refuses, the engine does not start. Linux only (docs/tuning.md)"),
    row("WarmUp", Scope::Engine, Flag(|d, on| d.engine.warm_up = on),
        "N", "whether each session writes an order and takes it back when a connection of it begins, so that its first messages find code, memory and the journal's next page in the caches; it leaves no trace (docs/tuning.md)"),
    row("WarmUpInterval", Scope::Engine, Number { from: 0, to: 60_000, unit: "milliseconds", set: |d, n| d.engine.warm_up_interval = (n > 0).then_some(Duration::from_millis(n)) },
        "0", "how long after its last warm-up each session that is logged on is warmed up again, also without WarmUp=Y; at most 16 sessions of each thread at a time, in turn. 0: only when a connection begins"),
    row("FileLogPath", Scope::Engine, Text { form: "a directory", set: |d, value| values::path(&mut d.engine.message_log, value) },
        "none", "the directory of message logs: text files with a line for each message of a session, such as `FIX.4.4-VENUE-TRADER.messages.log`. A session never waits for them; lines that cannot be written are dropped and counted. Messages are sent again from the journal in FileStorePath only"),
    row("ContinueInitializationOnError", Scope::Engine, Flag(|d, on| d.engine.continue_initialization_on_error = on),
        "N", "whether the sessions without mistakes are started if others have some, or cannot be started; each of those is reported"),
    row("MaxSessions", Scope::Engine, Number { from: 1, to: 1 << 20, unit: "sessions", set: |d, n| d.engine.max_sessions = n as usize },
        "4096", "how many sessions there may be, including those opened by DynamicSession"),
    row("MaxPendingConnections", Scope::Engine, Number { from: 1, to: 1 << 20, unit: "connections", set: |d, n| d.engine.max_pending_connections = n as usize },
        "256", "how many connections may be open that have not logged on, for each worker; when there are more, one that has sent nothing gives way, or the one that has come least far"),
    row("MaxConnectionsPerAddress", Scope::Engine, Number { from: 1, to: 1 << 20, unit: "connections", set: |d, n| d.engine.max_connections_per_address = n as usize },
        "64", "how many connections from one address (in IPv6, one network of 64 bits) may be open that have not logged on or belong to dynamic sessions, for each worker; when there are more, one that has not logged on gives way"),
    row("MaxDynamicSessions", Scope::Engine, Number { from: 0, to: 1 << 20, unit: "sessions", set: |d, n| d.engine.max_dynamic_sessions = n as usize },
        "256", "how many sessions opened by DynamicSession may be logged on or idle; when there are more, the one that has been idle for longest is closed; if none is idle, further counterparties are refused"),
    row("DynamicSessionIdleTime", Scope::Engine, Number { from: 0, to: 30 * DAY, unit: "seconds", set: |d, n| d.engine.dynamic_session_idle_time = Duration::from_secs(n) },
        "60", "how long a session opened by DynamicSession stays open after its connection has ended; its journal stays and is continued by the next logon. Without FileStorePath it is closed only when MaxDynamicSessions is reached, or if it has ResetOnLogon=Y"),
    row("OutboundQueueSize", Scope::Engine, Number { from: 16 << 10, to: GIB, unit: "bytes", set: |d, n| d.engine.outbound_queue_size = n as usize },
        "1048576", "how much may wait for each session of what other threads send, and as much again for its throttle (`OutboundThrottle=wait`); further messages are refused"),
    row("OutboundQueueBudget", Scope::Engine, Number { from: 64 << 10, to: 16 * GIB, unit: "bytes", set: |d, n| d.engine.outbound_queue_budget = n as usize },
        "33554432", "how much may wait for all sessions together of what other threads send; a message must fit into half of it"),
    row("JournalQuota", Scope::Engine, Number { from: 1 << 20, to: 64 << 40, unit: "bytes", set: |d, n| d.engine.journal_quota = Some(n) },
        "none", "disk space that the journal of each session may take, with its archive; a session that needs more halts"),
    row("JournalCookies", Scope::Engine, Text { form: "a directory", set: |d, value| values::path(&mut d.engine.journal_cookies, value) },
        "/dev/shm/fixbolt-UID", "a directory in memory (tmpfs) for what the journals have reached since the machine was started: with it, no sequence number is used twice if the file system of FileStorePath is lost or put back meanwhile. It must outlive the process: in a container, a directory of the host"),
    row("ArchiveGenerations", Scope::Engine, Number { from: 0, to: 1_000_000, unit: "generations", set: |d, n| d.engine.retention.generations = Some(n as u32) },
        "all", "how many generations before the current one are kept; older ones are deleted"),
    row("ArchiveDays", Scope::Engine, Number { from: 0, to: 36_500, unit: "days", set: |d, n| d.engine.retention.age = Some(Duration::from_secs(n * DAY)) },
        "all", "how long the messages in an archive are kept after the last one in the same file was stored; older files are deleted"),
    row("ArchiveSize", Scope::Engine, Number { from: 0, to: 64 << 40, unit: "bytes", set: |d, n| d.engine.retention.bytes = Some(n) },
        "no limit", "disk space that the archive of each session may take; above it, its oldest files are deleted"),
];
