//! The tags, message types and reason codes that the session layer reads and writes, under the
//! names in the standard.

/// Tags that are read from a message.
pub(crate) mod tag {
    use fixbolt_codec::Tag;

    pub(crate) const BEGIN_SEQ_NO: Tag = Tag::new(7);
    pub(crate) const END_SEQ_NO: Tag = Tag::new(16);
    pub(crate) const MSG_SEQ_NUM: Tag = Tag::new(34);
    pub(crate) const NEW_SEQ_NO: Tag = Tag::new(36);
    pub(crate) const POSS_DUP_FLAG: Tag = Tag::new(43);
    pub(crate) const SENDER_COMP_ID: Tag = Tag::new(49);
    pub(crate) const SENDER_SUB_ID: Tag = Tag::new(50);
    pub(crate) const SENDING_TIME: Tag = Tag::new(52);
    pub(crate) const TARGET_COMP_ID: Tag = Tag::new(56);
    pub(crate) const TARGET_SUB_ID: Tag = Tag::new(57);
    pub(crate) const REF_SEQ_NUM: Tag = Tag::new(45);
    pub(crate) const TEXT: Tag = Tag::new(58);
    pub(crate) const REF_TAG_ID: Tag = Tag::new(371);
    pub(crate) const SESSION_REJECT_REASON: Tag = Tag::new(373);
    pub(crate) const ENCRYPT_METHOD: Tag = Tag::new(98);
    pub(crate) const HEART_BT_INT: Tag = Tag::new(108);
    pub(crate) const TEST_REQ_ID: Tag = Tag::new(112);
    pub(crate) const ON_BEHALF_OF_COMP_ID: Tag = Tag::new(115);
    pub(crate) const ON_BEHALF_OF_SUB_ID: Tag = Tag::new(116);
    pub(crate) const ORIG_SENDING_TIME: Tag = Tag::new(122);
    pub(crate) const GAP_FILL_FLAG: Tag = Tag::new(123);
    pub(crate) const DELIVER_TO_COMP_ID: Tag = Tag::new(128);
    pub(crate) const DELIVER_TO_SUB_ID: Tag = Tag::new(129);
    pub(crate) const RESET_SEQ_NUM_FLAG: Tag = Tag::new(141);
    pub(crate) const SENDER_LOCATION_ID: Tag = Tag::new(142);
    pub(crate) const TARGET_LOCATION_ID: Tag = Tag::new(143);
    pub(crate) const ON_BEHALF_OF_LOCATION_ID: Tag = Tag::new(144);
    pub(crate) const DELIVER_TO_LOCATION_ID: Tag = Tag::new(145);
    pub(crate) const MAX_MESSAGE_SIZE: Tag = Tag::new(383);
    pub(crate) const TEST_MESSAGE_INDICATOR: Tag = Tag::new(464);
    pub(crate) const NEXT_EXPECTED_MSG_SEQ_NUM: Tag = Tag::new(789);
    pub(crate) const LAST_MSG_SEQ_NUM_PROCESSED: Tag = Tag::new(369);
    pub(crate) const APPL_VER_ID: Tag = Tag::new(1128);
    pub(crate) const DEFAULT_APPL_VER_ID: Tag = Tag::new(1137);
    pub(crate) const SESSION_STATUS: Tag = Tag::new(1409);
}

/// Keys of fields that are written: a tag with its digits computed once.
pub(crate) mod key {
    use super::tag;
    use fixbolt_codec::{Key, Tag};

    pub(crate) const BEGIN_SEQ_NO: Key = Key::of(tag::BEGIN_SEQ_NO);
    pub(crate) const END_SEQ_NO: Key = Key::of(tag::END_SEQ_NO);
    pub(crate) const NEW_SEQ_NO: Key = Key::of(tag::NEW_SEQ_NO);
    pub(crate) const REF_SEQ_NUM: Key = Key::of(tag::REF_SEQ_NUM);
    pub(crate) const TEXT: Key = Key::of(tag::TEXT);
    pub(crate) const ENCRYPT_METHOD: Key = Key::of(tag::ENCRYPT_METHOD);
    pub(crate) const HEART_BT_INT: Key = Key::of(tag::HEART_BT_INT);
    pub(crate) const TEST_REQ_ID: Key = Key::of(tag::TEST_REQ_ID);
    pub(crate) const GAP_FILL_FLAG: Key = Key::of(tag::GAP_FILL_FLAG);
    pub(crate) const RESET_SEQ_NUM_FLAG: Key = Key::of(tag::RESET_SEQ_NUM_FLAG);
    pub(crate) const REF_TAG_ID: Key = Key::of(tag::REF_TAG_ID);
    pub(crate) const REF_MSG_TYPE: Key = Key::new(372);
    pub(crate) const SESSION_REJECT_REASON: Key = Key::of(tag::SESSION_REJECT_REASON);
    pub(crate) const BUSINESS_REJECT_REF_ID: Key = Key::new(379);
    pub(crate) const BUSINESS_REJECT_REASON: Key = Key::new(380);
    pub(crate) const MAX_MESSAGE_SIZE: Key = Key::of(tag::MAX_MESSAGE_SIZE);
    pub(crate) const TEST_MESSAGE_INDICATOR: Key = Key::of(tag::TEST_MESSAGE_INDICATOR);
    pub(crate) const NEXT_EXPECTED_MSG_SEQ_NUM: Key = Key::of(tag::NEXT_EXPECTED_MSG_SEQ_NUM);
    pub(crate) const APPL_VER_ID: Key = Key::of(tag::APPL_VER_ID);
    pub(crate) const REF_APPL_VER_ID: Key = Key::new(1130);
    pub(crate) const DEFAULT_APPL_VER_ID: Key = Key::of(tag::DEFAULT_APPL_VER_ID);
    pub(crate) const SESSION_STATUS: Key = Key::of(tag::SESSION_STATUS);

    /// The field of an answer that a routing field is copied to (standard: third-party routing).
    pub(crate) const REVERSED_ROUTE: [(Tag, Key); 6] = [
        (tag::ON_BEHALF_OF_COMP_ID, Key::of(tag::DELIVER_TO_COMP_ID)),
        (tag::ON_BEHALF_OF_SUB_ID, Key::of(tag::DELIVER_TO_SUB_ID)),
        (tag::ON_BEHALF_OF_LOCATION_ID, Key::of(tag::DELIVER_TO_LOCATION_ID)),
        (tag::DELIVER_TO_COMP_ID, Key::of(tag::ON_BEHALF_OF_COMP_ID)),
        (tag::DELIVER_TO_SUB_ID, Key::of(tag::ON_BEHALF_OF_SUB_ID)),
        (tag::DELIVER_TO_LOCATION_ID, Key::of(tag::ON_BEHALF_OF_LOCATION_ID)),
    ];
}

/// Tags as the integers in an index.
pub(crate) mod number {
    use super::tag;

    pub(crate) const MSG_SEQ_NUM: u32 = tag::MSG_SEQ_NUM.number();
    pub(crate) const POSS_DUP_FLAG: u32 = tag::POSS_DUP_FLAG.number();
    pub(crate) const RAW_DATA: u32 = 96;
    pub(crate) const SENDER_COMP_ID: u32 = tag::SENDER_COMP_ID.number();
    pub(crate) const SENDING_TIME: u32 = tag::SENDING_TIME.number();
    pub(crate) const TARGET_COMP_ID: u32 = tag::TARGET_COMP_ID.number();

    /// Header and trailer fields that are written again when a message is resent: BeginString,
    /// BodyLength, CheckSum, MsgSeqNum, MsgType, PossDupFlag, SenderCompID, SendingTime,
    /// TargetCompID, OrigSendingTime, LastMsgSeqNumProcessed. The SubIDs and LocationIDs of a
    /// session's identity are written again, too.
    pub(crate) const WRITTEN_ANEW: [u32; 11] = [8, 9, 10, 34, 35, 43, 49, 52, 56, 122, 369];

    /// Returns those of a session's secrets that are secrets in every message: all but RawData,
    /// which is one in a Logon only.
    pub(crate) fn secret_everywhere(all: &[u32]) -> impl Iterator<Item = u32> {
        all.iter().copied().filter(|tag| *tag != RAW_DATA)
    }

    /// Returns whether one of the tags is a routing field
    /// ([`REVERSED_ROUTE`](super::key::REVERSED_ROUTE)).
    pub(crate) fn is_route_among(tags: &[u32]) -> bool {
        // Without branches, so that many tags are compared at once.
        tags.iter().fold(false, |found, number| {
            found
                | (*number == tag::ON_BEHALF_OF_COMP_ID.number())
                | (*number == tag::ON_BEHALF_OF_SUB_ID.number())
                | (*number == tag::ON_BEHALF_OF_LOCATION_ID.number())
                | (*number == tag::DELIVER_TO_COMP_ID.number())
                | (*number == tag::DELIVER_TO_SUB_ID.number())
                | (*number == tag::DELIVER_TO_LOCATION_ID.number())
        })
    }
}

/// Values of SessionStatus (1409).
pub(crate) mod session_status {
    pub(crate) const MSG_SEQ_NUM_TOO_LOW: u64 = 9;
    pub(crate) const NEXT_EXPECTED_TOO_HIGH: u64 = 10;

    /// Returns what a status means; `None` if it is not one of the standard's.
    pub(crate) const fn meaning(status: u64) -> Option<&'static str> {
        Some(match status {
            0 => "session active",
            1 => "session password changed",
            2 => "session password due to expire",
            3 => "new session password does not comply with policy",
            4 => "session logout complete",
            5 => "invalid username or password",
            6 => "account locked",
            7 => "logons are not allowed at this time",
            8 => "password expired",
            MSG_SEQ_NUM_TOO_LOW => "received MsgSeqNum (34) is too low",
            NEXT_EXPECTED_TOO_HIGH => "received NextExpectedMsgSeqNum (789) is too high",
            _ => return None,
        })
    }
}

/// Values of MsgType (35).
pub(crate) mod msg_type {
    pub(crate) const HEARTBEAT: &[u8] = b"0";
    pub(crate) const TEST_REQUEST: &[u8] = b"1";
    pub(crate) const RESEND_REQUEST: &[u8] = b"2";
    pub(crate) const REJECT: &[u8] = b"3";
    pub(crate) const SEQUENCE_RESET: &[u8] = b"4";
    pub(crate) const LOGOUT: &[u8] = b"5";
    pub(crate) const LOGON: &[u8] = b"A";
    pub(crate) const BUSINESS_MESSAGE_REJECT: &[u8] = b"j";
}

/// The delimiter at the end of every field.
pub(crate) const SOH: u8 = 1;
/// The true value of a Boolean field.
pub(crate) const YES: &[u8] = b"Y";
/// The false value of a Boolean field.
pub(crate) const NO: &[u8] = b"N";

/// The largest message before the logon, in bytes.
pub const MAX_MESSAGE_SIZE_BEFORE_LOGON: usize = 8 * 1024;
