//! The settings of a session. Everything except the identity has a safe default.

pub(crate) mod behavior;
pub(crate) mod check;
pub(crate) mod dictionaries;
pub(crate) mod heart_bt_int;
pub(crate) mod logon_fields;

use core::time::Duration;
use std::sync::Arc;

use fixbolt_codec::{Tag, TagSet, Version};
use fixbolt_dictionary::Policy;

use crate::limits::throttle::{InboundThrottle, OutboundThrottle, Rate};
use crate::schedule::Schedule;
use crate::settings::behavior::Compatibility;
use crate::settings::dictionaries::SessionDictionary;
use crate::settings::heart_bt_int::AcceptedHeartBtInt;
use crate::settings::logon_fields::LogonFields;
use crate::values::codec_timing::CodecClock;
use crate::values::fix::msg_type;
use crate::values::fix::number::{WRITTEN_ANEW, secret_everywhere};
use crate::values::id::SessionId;

/// Who opens the transport connection and sends the first Logon.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// We connect and send the first Logon.
    Initiator,
    /// The counterparty connects and sends the first Logon.
    Acceptor,
}

/// What happens to messages that are sent while the session is not logged on (test case 16).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum WhileLoggedOff {
    /// `send` fails with `NotLoggedOn`, so that no message goes out later than intended.
    #[default]
    Refuse,
    /// They get sequence numbers and are journalled; the counterparty asks for them after the next
    /// logon.
    Keep,
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

/// Which new messages are sent between those of a replay, before their turn.
///
/// A counterparty that waits for the replay finds their MsgSeqNum too high: it keeps them until the
/// replay has come, or requests them once more.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum ReplayInterleave {
    /// None: they follow the replay, in order.
    #[default]
    None,
    /// Heartbeats, answers to TestRequests among them, and TestRequests.
    Heartbeats,
    /// All but a Logout, which ends the session and so has to wait.
    All,
}

impl ReplayInterleave {
    /// Returns whether new messages of this type are sent between those of a replay.
    pub(crate) fn sends(self, msg_type: &[u8]) -> bool {
        match self {
            Self::None => false,
            Self::Heartbeats => [msg_type::HEARTBEAT, msg_type::TEST_REQUEST].contains(&msg_type),
            Self::All => msg_type != msg_type::LOGOUT,
        }
    }
}

/// What happens to a request for messages again that asks for more than
/// [`max_resend_range`](SessionSettings::max_resend_range) or
/// [`max_resends`](SessionSettings::max_resends) allows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum ResendOverLimit {
    /// It is refused with a Reject (35=3) whose Text says why, and none of it is sent again. No
    /// message is lost by it: the counterparty can request less, or the same later.
    #[default]
    Refuse,
    /// What is within the limits is sent again, and the rest is gap-filled, which the application
    /// hears of by [`Event::Unreached`](crate::Event::Unreached). The counterparty then takes the
    /// rest for messages that it does not need.
    GapFill,
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

/// The settings of one session.
///
/// New settings are added over time, so a value begins with [`SessionSettings::new`]:
///
/// ```
/// use fixbolt_session::{Role, SessionSettings};
///
/// let id = "FIX.4.4:VENUE->TRADER".parse()?;
/// let settings = SessionSettings::new(id, Role::Acceptor).with(|s| {
///     s.heart_bt_int = 10;
///     s.reset_on_logon = true;
/// });
/// assert_eq!(settings.heart_bt_int, 10);
/// # Ok::<(), fixbolt_session::InvalidSessionId>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct SessionSettings {
    /// The identity of the session.
    pub id: SessionId,
    /// Who opens the connection.
    pub role: Role,
    /// The version of application messages that do not name one, in a session of FIXT.1.1, which
    /// needs it: DefaultApplVerID (1137) of our Logons. Other sessions do not use it.
    ///
    /// The counterparty's Logon says which version its own messages have. A message names another
    /// one in ApplVerID (1128), and so does the application in one that it sends
    /// ([`Handle::with_version`](crate::Handle::with_version)).
    pub default_appl_ver_id: Option<Version>,
    /// The dictionary that messages are checked against.
    pub dictionary: SessionDictionary,
    /// The reaction to each kind of violation in an inbound message.
    pub policy: Policy,
    /// The reaction to each kind of violation in a message that the application sends; `None`
    /// disables the check. A rejected message makes `send` fail with
    /// [`SendError::Invalid`](crate::SendError::Invalid).
    pub outbound_policy: Option<Policy>,
    /// Which engine to imitate where engines differ.
    pub compatibility: Compatibility,
    /// HeartBtInt (108) that an initiator proposes, in seconds; with 0 no heartbeats are sent. An
    /// acceptor uses the counterparty's.
    pub heart_bt_int: u32,
    /// The values of HeartBtInt (108) that a counterparty's Logon may have; another one is refused.
    /// An initiator always accepts the value that it proposed.
    pub accepted_heart_bt_int: AcceptedHeartBtInt,
    /// Whether an acceptor uses its own [`heart_bt_int`](Self::heart_bt_int) whatever the
    /// counterparty's Logon says, and answers with it. An initiator that does not follow the answer
    /// sends heartbeats at its own pace, and gets TestRequests if that is slower.
    pub heart_bt_int_override: bool,
    /// How long after the last inbound message a TestRequest is sent, in percent of HeartBtInt: 120
    /// to 200 are sensible.
    pub test_request_percent: u32,
    /// How long after the last inbound message the connection ends, in percent of HeartBtInt, if
    /// the TestRequest is not answered, but at least a fifth of HeartBtInt after it. `None` for
    /// twice the time of [`test_request_percent`](Self::test_request_percent): 240.
    pub heartbeat_timeout_percent: Option<u32>,
    /// Whether the connection of a silent counterparty is kept: an unanswered TestRequest is
    /// reported ([`Event::Note`](crate::Event::Note)), and the next one follows. Otherwise the
    /// connection ends.
    pub disable_heart_beat_check: bool,
    /// The largest accepted difference between SendingTime (52) and our clock; `None` disables the
    /// check.
    pub max_latency: Option<Duration>,
    /// How long a wall clock that has jumped by more than two seconds does not count for the
    /// session's schedule: until then no edge passes, and the window of before decides about
    /// Logons. It counts at once if this is zero. It ends when the clock shows the right time
    /// again, or with [`Sessions::confirm_clock`](crate::Sessions::confirm_clock).
    pub clock_jump_hold: Duration,
    /// How long to wait for the first Logon, or for its answer.
    pub logon_timeout: Duration,
    /// How long a connection lasts at most once we leave it: half of that time is for the rest of a
    /// replay, and the whole for the answer to our Logout.
    pub logout_timeout: Duration,
    /// How long the counterparty may take to read what was sent to it. Then the connection ends
    /// with [`SessionEnd::PeerDidNotRead`](crate::SessionEnd::PeerDidNotRead), so that a
    /// counterparty that reads nothing does not hold the session.
    pub send_timeout: Duration,
    /// The part of [`outbound_buffer_size`](Self::outbound_buffer_size), in percent, above which a
    /// counterparty counts as slow if its socket accepts no more:
    /// [`Event::SlowConsumer`](crate::Event::SlowConsumer). 1 to 100, which is never passed; what
    /// answers no message of the counterparty fills at most half of the outbox.
    pub outbound_high_watermark: u32,
    /// The part of [`outbound_buffer_size`](Self::outbound_buffer_size), in percent, up to which it
    /// has caught up: [`Event::SlowConsumerRecovered`](crate::Event::SlowConsumerRecovered). Less
    /// than the high one.
    pub outbound_low_watermark: u32,
    /// How long a counterparty may be slow, from the high watermark until it is back at the low
    /// one; `None` for as long as it likes. Then the connection ends with
    /// [`SessionEnd::SlowConsumer`](crate::SessionEnd::SlowConsumer). Messages that it has not
    /// received are in the store, and sent when it requests them.
    ///
    /// [`send_timeout`](Self::send_timeout) ends the connection of one that does not read what
    /// waited when its socket first accepted no more. One that reads all of that in time, but
    /// always more slowly than new messages are written, only this ends.
    pub slow_consumer_timeout: Option<Duration>,
    /// The number of garbled messages in succession at which the connection ends; `None` for no
    /// limit. Bytes that belong to no message count as one for each piece that arrives.
    pub max_garbled_messages: Option<u32>,
    /// Whether a garbled message is answered with a Reject, as QuickFIX/J does, instead of being
    /// ignored: one that ends where BodyLength (9) says, but whose CheckSum (10) or fields are
    /// wrong. Its MsgSeqNum is used if it is the expected one, so that the message is not requested
    /// again: it is lost.
    ///
    /// It is answered only if its header has the session's BeginString and CompIDs, and a
    /// MsgSeqNum; a Reject is not answered, and the MsgSeqNum of a Logon or SequenceReset is not
    /// used. It still counts for [`max_garbled_messages`](Self::max_garbled_messages), and as a
    /// message of the session layer.
    pub reject_garbled_message: bool,
    /// Whether a message whose CheckSum (10) is wrong is garbled. If not, it is processed as if
    /// CheckSum were right: a message that was damaged on its way is then acted on. BodyLength (9)
    /// must be right in any case, because it says where a message ends.
    pub validate_checksum: bool,
    /// The number of session-layer messages a second that the counterparty may send; the connection
    /// ends after five seconds in succession with more. `None` for no limit. What it sends again
    /// because we requested it does not count, but is paced
    /// ([`max_resent_rate_factor`](Self::max_resent_rate_factor)).
    pub max_session_message_rate: Option<u32>,
    /// The bytes a minute that the counterparty's messages may add to the store, with our answers
    /// to them, if they are not for the application: those of the session layer, and those that the
    /// session itself rejects. A reset counts as 64 KiB. `None` for no limit. The connection ends
    /// when they are used up, and the counterparty can log on again once time has made up for what
    /// was more: after a minute at most.
    pub max_session_journal_growth: Option<u64>,
    /// The largest message that is accepted from the counterparty or sent to it, in bytes.
    ///
    /// Once the session is logged on, a larger one of up to 16 MiB is read past without being kept
    /// and rejected under its own number, and the session goes on. The connection ends with one
    /// that is larger still, or that takes longer than a minute to arrive
    /// ([`Misbehavior::MessageTooLarge`](crate::Misbehavior::MessageTooLarge)).
    pub max_message_size: usize,
    /// When the session takes place; `None` for always. At the end of a window the session logs
    /// out; outside its windows an initiator does not connect, and an acceptor refuses the Logon.
    /// The schedule also says when the sequence numbers are reset.
    pub schedule: Option<Arc<Schedule>>,
    /// Whether both sequence numbers start at 1 with every Logon.
    pub reset_on_logon: bool,
    /// Whether both sequence numbers start at 1 after a Logout.
    pub reset_on_logout: bool,
    /// Whether both sequence numbers start at 1 after the connection has ended for any reason.
    pub reset_on_disconnect: bool,
    /// Whether our Logons have NextExpectedMsgSeqNum (789), since FIX.4.4: each side then sends
    /// what the other one misses without a ResendRequest. That of a counterparty is followed in any
    /// case.
    pub send_next_expected_msg_seq_num: bool,
    /// The most messages that one ResendRequest (2) of ours asks for: once they have come, the next
    /// ones are requested. The last request of a gap is open-ended, and so is one that follows a
    /// ResendRequest of the counterparty, as both sides miss messages then. `None` asks for all of
    /// them at once. At least 1.
    pub resend_request_chunk_size: Option<u64>,
    /// Whether EndSeqNo (16) of our ResendRequests is the last missing message. Otherwise it stands
    /// for infinity, as the standard recommends.
    pub closed_resend_interval: bool,
    /// Whether each new message that arrives after a gap causes a ResendRequest, and not only the
    /// first one; a ResendRequest does not. The counterparty then sends many messages more than
    /// once.
    pub send_redundant_resend_requests: bool,
    /// How often the same missing messages are requested before the session gives up and logs out
    /// ([`Misbehavior::GapNeverFilled`](crate::Misbehavior::GapNeverFilled)). After that they are
    /// requested once in each connection, as long as the first of them is missing. At least 1.
    pub max_resend_requests: u32,
    /// The most messages a second that are sent again when the counterparty requests them; `None`
    /// for as many as it reads. New messages that wait for the end of a replay do not count. At
    /// least 1.
    pub max_replay_rate: Option<u32>,
    /// The most sequence numbers whose messages are sent again for one request of the counterparty;
    /// `None` for as many as it requests. At least 1.
    ///
    /// The limit is for the range, whatever is in it: messages of the session layer count, too, and
    /// so does our Logon where NextExpectedMsgSeqNum (789) of the counterparty's is the request. A
    /// request that comes while another one is answered counts with what is left of that.
    /// [`resend_over_limit`](Self::resend_over_limit) says what happens to a larger range; if the
    /// rest is gap-filled, the newest messages are sent.
    ///
    /// [`resend_horizon`](Self::resend_horizon) limits how old a message may be that is sent again,
    /// and not how many are.
    pub max_resend_range: Option<u64>,
    /// How often a message is sent again within a [`resend_period`](Self::resend_period); `None`
    /// for as often as the counterparty requests it. At least 1.
    ///
    /// Messages are counted when they are written, over connections but not over a restart of the
    /// process, whether or not the counterparty reads them: one that loses its connection needs
    /// them once more. [`resend_over_limit`](Self::resend_over_limit) says what happens to a
    /// request for one that was sent again as often as that. New messages in the same range have
    /// counts of their own. What is known of the counts has a bound: if there are more than 16
    /// ranges of messages with different counts, the two oldest become one with the higher count.
    pub max_resends: Option<u32>,
    /// The time after which all messages count as not sent again
    /// ([`max_resends`](Self::max_resends)). It begins with the first message that is sent again
    /// after the last period.
    pub resend_period: Duration,
    /// What happens to a request that asks for more than
    /// [`max_resend_range`](Self::max_resend_range) or [`max_resends`](Self::max_resends) allows.
    /// NextExpectedMsgSeqNum (789) of a Logon cannot be refused, since no message of the
    /// counterparty asked: what is more than that is gap-filled.
    pub resend_over_limit: ResendOverLimit,
    /// Which new messages are sent between those of a replay.
    pub replay_interleave: ReplayInterleave,
    /// Whether each message that we send has LastMsgSeqNumProcessed (369), since FIX.4.2: the last
    /// MsgSeqNum of the counterparty that was processed before. That of a counterparty is not
    /// looked at.
    pub enable_last_msg_seq_num_processed: bool,
    /// What happens if MsgSeqNum (34) of the counterparty's Logon is too low.
    pub tolerate_low_msg_seq_num_at_logon: TooLowAtLogon,
    /// Whether the session is for production or for tests.
    pub test_message_indicator: TestMessageIndicator,
    /// Whether a message of the counterparty that the session rejects (35=3) ends the connection:
    /// a Logout with the Text of the Reject follows it. What the application rejects does not.
    pub disconnect_on_error: bool,
    /// Whether both sequence numbers start at 1 after a connection that ended because of the
    /// counterparty's mistake ([`SessionEnd::PeerMisbehaved`](crate::SessionEnd::PeerMisbehaved)),
    /// once it was logged on. A message that the session rejects ends the connection, as with
    /// [`disconnect_on_error`](Self::disconnect_on_error).
    pub reset_on_error: bool,
    /// Whether the application may send messages with PossDupFlag (43) and OrigSendingTime (122)
    /// ([`Handle::possible_duplicate`](crate::Handle::possible_duplicate)), as a hub does that
    /// passes on what another session has sent again.
    pub allow_pos_dup: bool,
    /// Whether a message on which the application fails or panics is rejected, and counts as
    /// processed: with a BusinessMessageReject whose BusinessRejectReason (380) is 4, "Application
    /// not available", or with a Reject before FIX.4.2. Otherwise the connection ends, and the
    /// message is offered again ([`max_delivery_attempts`](Self::max_delivery_attempts)).
    pub reject_message_on_unhandled_exception: bool,
    /// Whether SenderCompID (49) and TargetCompID (56) of each message are compared with the
    /// session's.
    pub check_comp_id: bool,
    /// Whether a message with PossDupFlag=Y needs OrigSendingTime (122).
    pub requires_orig_sending_time: bool,
    /// The number of digits of a second in the times we send: 0, 3, 6, 9 or 12. FIX.4.0 and FIX.4.1
    /// always send whole seconds.
    pub timestamp_precision: u8,
    /// What happens to messages that are sent while the session is not logged on.
    pub while_logged_off: WhileLoggedOff,
    /// How many times a message is offered to an application that fails on it before the session
    /// halts.
    pub max_delivery_attempts: u32,
    /// The number of sequence numbers, counted back from NextNumOut, whose messages are sent again
    /// when the counterparty requests them; `None` sends every message again. At least 1.
    ///
    /// With NextNumOut 101 and a horizon of 10, messages 91 to 100 are sent again. A gap fill
    /// replaces older ones, which the application hears of by
    /// [`Event::Unreached`](crate::Event::Unreached), and the store may let go of them. Messages of
    /// the session layer count, too. So do messages kept while logged off: those that are older
    /// when the counterparty requests them are not sent, even though they never were. Messages that
    /// wait for the end of a replay are sent however many they are.
    ///
    /// NextNumOut is that of the moment at which the request is answered. What is written until
    /// everything requested is sent does not move the horizon.
    pub resend_horizon: Option<u64>,
    /// The most application messages that are sent in a window; `None` for no limit.
    ///
    /// In no window of this length does the socket accept more of them, wherever it begins and over
    /// connections, but not over a restart of the process: a message counts from when it is queued
    /// until one window after the socket has accepted its last byte. Messages that are sent again
    /// on request, the session layer's, and BusinessMessageRejects do not count and are not held
    /// up. Those that have to wait for the end of a replay count when they are sent; as many as fit
    /// into a window may wait so.
    pub max_outbound_rate: Option<Rate>,
    /// The most messages that are sent in a window and with which orders are entered, replaced and
    /// cancelled ([`ORDER_MSG_TYPES`](crate::ORDER_MSG_TYPES)); `None` for no limit. They are
    /// counted as [`max_outbound_rate`](Self::max_outbound_rate) says, and for both. A message
    /// counts once, however many orders it has.
    pub max_order_rate: Option<Rate>,
    /// What happens to a message that is one more.
    pub outbound_throttle: OutboundThrottle,
    /// The most application messages in a window that are accepted from the counterparty; `None`
    /// for no limit.
    ///
    /// In no window of this length are more of them delivered, in one connection or several. Each
    /// other one is answered with a BusinessMessageReject whose BusinessRejectReason (380) is 8,
    /// "Throttle limit exceeded", if the session's dictionary has that value, and otherwise 0 with
    /// the same Text; before FIX.4.2 with a Reject. FIX.Latest has the value, since Extension Pack
    /// 116 to FIX.5.0SP2, and so may a dialect; without a dictionary it is sent since FIX.5.0SP2. A
    /// BusinessMessageReject of the counterparty counts, too, but is not answered.
    ///
    /// Messages are judged by when they can have arrived: those that wait while the session reads
    /// nothing, or behind a gap, do not count as sent at once. What the counterparty sends again
    /// because we requested it does not count, but is paced
    /// ([`max_resent_rate_factor`](Self::max_resent_rate_factor)).
    pub max_inbound_rate: Option<Rate>,
    /// The reaction when `max_inbound_rate` is exceeded.
    pub inbound_throttle: InboundThrottle,
    /// How many times as fast as its limit a counterparty may send again what we requested, 1 to
    /// 1000: application messages as [`max_inbound_rate`](Self::max_inbound_rate) allows new ones,
    /// gap fills and Rejects as [`max_session_message_rate`](Self::max_session_message_rate) does.
    /// Without these limits there is none for what was requested.
    ///
    /// What comes faster is not refused: it stays unread, with everything after it. That the
    /// counterparty seems silent meanwhile is not held against it. A message is one that we
    /// requested if it has PossDupFlag=Y and the expected number, which we requested, so that a
    /// counterparty that skips numbers and then sends new messages with them gains no more than
    /// this.
    pub max_resent_rate_factor: u32,
    /// The most bytes buffered for the socket. A full outbox is back-pressure; messages that do not
    /// answer an inbound message fill at most half of it.
    pub outbound_buffer_size: usize,
    /// The most bytes buffered of messages that arrived after a gap; more are dropped and requested
    /// again.
    pub reorder_buffer_size: usize,
    /// Additional fields in each Logon that is sent.
    pub logon: LogonFields,
    /// Tags whose values are replaced by `*` wherever a message of either side is stored or shown
    /// to an observer; RawData (96) in a Logon only. What is sent is not changed. `Debug` of a
    /// message, which does not know the session, always hides the default ones.
    ///
    /// An application message with such a field is sent when it is written, and never from the
    /// store: a gap fill replaces it, and the application hears of it by
    /// [`Event::Unreached`](crate::Event::Unreached). Fields that the session writes itself cannot
    /// be masked ([`SessionSettings::can_be_masked`]).
    pub masked_tags: Vec<u32>,
    /// The clock with which the session measures how long its messages take to encode and to
    /// decode; `None` measures nothing. The totals of a connection are reported at its end
    /// ([`Event::CodecTime`](crate::Event::CodecTime)).
    ///
    /// Encoding lasts from when the message is begun until header and trailer are around its body,
    /// and so includes what the application does between its fields. Decoding lasts from cutting
    /// the message out of the received bytes until the application could read it. Neither includes
    /// the store, the check of a message of ours, or an observer of the wire. A message that waits
    /// for others, or that the application puts off, is decoded again when it is due, and counts
    /// again. Each measurement includes about one reading of the clock.
    pub codec_timing: Option<CodecClock>,
}

impl SessionSettings {
    /// Returns the default settings: the shipped dictionary, outbound messages not checked,
    /// HeartBtInt 30 s, and 5 to 3600 s accepted, SendingTime within 120 s, logon within 10 s,
    /// logout within 2 s, what is sent read within 30 s, at most 100 garbled messages in
    /// succession, 1,000 session-layer messages a second and 32 MiB a minute of the store for them,
    /// messages up to 64 KiB, no schedule, sequence numbers continued, every message sent again on
    /// request, milliseconds, and Password (554), NewPassword (925), EncryptedPassword (1402),
    /// EncryptedNewPassword (1404) and RawData (96) masked.
    #[must_use]
    pub fn new(id: SessionId, role: Role) -> Self {
        Self {
            id,
            role,
            default_appl_ver_id: None,
            dictionary: SessionDictionary::Shipped,
            policy: Policy::standard(),
            outbound_policy: None,
            compatibility: Compatibility::Standard,
            heart_bt_int: 30,
            accepted_heart_bt_int: AcceptedHeartBtInt::default(),
            heart_bt_int_override: false,
            test_request_percent: 120,
            heartbeat_timeout_percent: None,
            disable_heart_beat_check: false,
            max_latency: Some(Duration::from_secs(120)),
            clock_jump_hold: Duration::from_secs(300),
            logon_timeout: Duration::from_secs(10),
            logout_timeout: Duration::from_secs(2),
            send_timeout: Duration::from_secs(30),
            outbound_high_watermark: 40,
            outbound_low_watermark: 20,
            slow_consumer_timeout: None,
            max_garbled_messages: Some(100),
            reject_garbled_message: false,
            validate_checksum: true,
            max_session_message_rate: Some(1000),
            max_session_journal_growth: Some(32 << 20),
            max_message_size: 64 * 1024,
            schedule: None,
            reset_on_logon: false,
            reset_on_logout: false,
            reset_on_disconnect: false,
            send_next_expected_msg_seq_num: false,
            resend_request_chunk_size: None,
            closed_resend_interval: false,
            send_redundant_resend_requests: false,
            max_resend_requests: 3,
            max_replay_rate: None,
            max_resend_range: None,
            max_resends: None,
            resend_period: Duration::from_secs(3600),
            resend_over_limit: ResendOverLimit::Refuse,
            replay_interleave: ReplayInterleave::None,
            enable_last_msg_seq_num_processed: false,
            tolerate_low_msg_seq_num_at_logon: TooLowAtLogon::Refused,
            test_message_indicator: TestMessageIndicator::Production,
            disconnect_on_error: false,
            reset_on_error: false,
            allow_pos_dup: false,
            reject_message_on_unhandled_exception: false,
            check_comp_id: true,
            requires_orig_sending_time: true,
            timestamp_precision: 3,
            while_logged_off: WhileLoggedOff::Refuse,
            max_delivery_attempts: 3,
            resend_horizon: None,
            max_outbound_rate: None,
            max_order_rate: None,
            outbound_throttle: OutboundThrottle::Wait,
            max_inbound_rate: None,
            inbound_throttle: InboundThrottle::Reject,
            max_resent_rate_factor: 20,
            outbound_buffer_size: 1024 * 1024,
            reorder_buffer_size: 1024 * 1024,
            logon: LogonFields::default(),
            masked_tags: vec![554, 925, 1402, 1404, 96],
            codec_timing: None,
        }
    }

    /// Returns DefaultApplVerID (1137) of our Logons, if the session is of FIXT.1.1.
    pub(crate) fn appl_ver_id(&self) -> Option<&'static str> {
        self.default_appl_ver_id
            .and_then(Version::appl_ver_id)
            .filter(|_| self.id.version() == Version::Fixt11)
    }

    /// Returns whether the values of a tag can be masked: not those of fields that the session
    /// writes itself, which it also reads in its store.
    #[must_use]
    pub fn can_be_masked(tag: u32) -> bool {
        !WRITTEN_ANEW.contains(&tag)
    }

    /// Returns the fields whose values are masked in every message of the session, for
    /// [`BodyWriter::may_contain`](fixbolt_codec::BodyWriter::may_contain): all of
    /// [`masked_tags`](Self::masked_tags) but RawData (96), which is a secret in a Logon only.
    #[must_use]
    pub fn secret_fields(&self) -> TagSet {
        secret_everywhere(&self.masked_tags).filter_map(Tag::try_new).collect()
    }

    /// Returns these settings with what `change` does to them.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}
