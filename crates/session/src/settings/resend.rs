//! Messages that are requested and sent again.

use core::num::{NonZeroU32, NonZeroU64};
use core::time::Duration;

use crate::values::fix::msg_type;

/// How missing messages are requested, which are sent again, and what messages say about it.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct ResendSettings {
    /// The most messages that one ResendRequest (2) of ours asks for: once they have come, the next
    /// ones are requested. The last request of a gap is open-ended, and so is one that follows a
    /// ResendRequest of the counterparty, as both sides miss messages then. `None` asks for all of
    /// them at once.
    pub resend_request_chunk_size: Option<NonZeroU64>,
    /// Whether EndSeqNo (16) of our ResendRequests is the last missing message. Otherwise it stands
    /// for infinity, as the standard recommends.
    pub closed_resend_interval: bool,
    /// Whether each new message that arrives after a gap causes a ResendRequest, and not only the
    /// first one; a ResendRequest does not. The counterparty then sends many messages more than
    /// once.
    pub send_redundant_resend_requests: bool,
    /// How often the same missing messages are requested before the session gives up and logs out
    /// ([`Misbehavior::GapNeverFilled`](crate::Misbehavior::GapNeverFilled)). After that they are
    /// requested once in each connection, as long as the first of them is missing.
    pub max_resend_requests: NonZeroU32,
    /// The most messages a second that are sent again when the counterparty requests them; `None`
    /// for as many as it reads. New messages that wait for the end of a replay do not count.
    pub max_replay_rate: Option<NonZeroU32>,
    /// The most sequence numbers whose messages are sent again for one request of the counterparty;
    /// `None` for as many as it requests.
    ///
    /// The limit is for the range, whatever is in it: messages of the session layer count, too, and
    /// so does our Logon where NextExpectedMsgSeqNum (789) of the counterparty's is the request. A
    /// request that comes while another one is answered counts with what is left of that.
    /// [`resend_over_limit`](Self::resend_over_limit) says what happens to a larger range; if the
    /// rest is gap-filled, the newest messages are sent.
    ///
    /// [`resend_horizon`](Self::resend_horizon) limits how old a message may be that is sent again,
    /// and not how many are.
    pub max_resend_range: Option<NonZeroU64>,
    /// How often a message is sent again within a [`resend_period`](Self::resend_period); `None`
    /// for as often as the counterparty requests it.
    ///
    /// Messages are counted when they are written, over connections but not over a restart of the
    /// process, whether or not the counterparty reads them: one that loses its connection needs
    /// them once more. [`resend_over_limit`](Self::resend_over_limit) says what happens to a
    /// request for one that was sent again as often as that. New messages in the same range have
    /// counts of their own. What is known of the counts has a bound: if there are more than 16
    /// ranges of messages with different counts, the two oldest become one with the higher count.
    pub max_resends: Option<NonZeroU32>,
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
    /// The number of sequence numbers, counted back from NextNumOut, whose messages are sent again
    /// when the counterparty requests them; `None` sends every message again.
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
    pub resend_horizon: Option<NonZeroU64>,
    /// What happens to messages that are sent while the session is not logged on.
    pub while_logged_off: WhileLoggedOff,
    /// Whether our Logons have NextExpectedMsgSeqNum (789), since FIX.4.4: each side then sends
    /// what the other one misses without a ResendRequest. That of a counterparty is followed in any
    /// case.
    pub send_next_expected_msg_seq_num: bool,
    /// Whether each message that we send has LastMsgSeqNumProcessed (369), since FIX.4.2: the last
    /// MsgSeqNum of the counterparty that was processed before. That of a counterparty is not
    /// looked at.
    pub enable_last_msg_seq_num_processed: bool,
    /// Whether the application may send messages with PossDupFlag (43) and OrigSendingTime (122)
    /// ([`Handle::possible_duplicate`](crate::Handle::possible_duplicate)), as a hub does that
    /// passes on what another session has sent again.
    pub allow_pos_dup: bool,
}

impl Default for ResendSettings {
    fn default() -> Self {
        Self {
            resend_request_chunk_size: None,
            closed_resend_interval: false,
            send_redundant_resend_requests: false,
            max_resend_requests: const { NonZeroU32::new(3).unwrap() },
            max_replay_rate: None,
            max_resend_range: None,
            max_resends: None,
            resend_period: Duration::from_secs(3600),
            resend_over_limit: ResendOverLimit::Refuse,
            replay_interleave: ReplayInterleave::None,
            resend_horizon: None,
            while_logged_off: WhileLoggedOff::Refuse,
            send_next_expected_msg_seq_num: false,
            enable_last_msg_seq_num_processed: false,
            allow_pos_dup: false,
        }
    }
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
/// [`max_resend_range`](ResendSettings::max_resend_range) or
/// [`max_resends`](ResendSettings::max_resends) allows.
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
