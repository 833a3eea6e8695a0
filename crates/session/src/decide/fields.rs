//! What a message of the session layer passes before it acts: one row for each type.
//!
//! Nothing acts, and NextNumIn does not move but by one for the message's own number, until three
//! things have been checked: what the session standard checks first, in its order
//! ([`inbound`](crate::decide::inbound)), then the dictionary by the session's policy, then the
//! fields that the message acts by, whatever the dictionary and the policy are. docs/conformance.md
//! has the table.

use fixbolt_codec::{FromField, Message, Tag};
use fixbolt_dictionary::SessionRejectCode;

use crate::decide::check::Checker;
use crate::state::session::Session;
use crate::values::fix::{NO, YES, msg_type, tag};
use crate::wire::admin_message::{Reject, missing};

/// When a message of the session layer acts although its number may not be the expected one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unexpected {
    /// It sets or resets sequence numbers: a SequenceReset-Reset, or a Logon with
    /// ResetSeqNumFlag=Y.
    Reset,
    /// Our own Logon with ResetSeqNumFlag=Y has not been answered.
    Resetting,
    /// Its number is too low.
    TooLow,
    /// Its number is too high.
    TooHigh,
}

/// A type of message of the session layer.
#[derive(Debug)]
pub(crate) struct Row {
    msg_type: &'static [u8],
    /// The fields that it acts by, besides those of the header.
    fields: &'static [Field],
    /// The tags of all of them.
    tags: TagBits,
    /// When it acts although its number may not be the expected one.
    pub(crate) unexpected: &'static [Unexpected],
    /// What happens to one that is not valid.
    pub(crate) refusal: OnFault,
}

/// A set of tags, by one bit for each remainder: those outside are mostly told apart.
#[derive(Clone, Copy, Debug)]
struct TagBits(u64);

impl TagBits {
    const fn with(self, fields: &[Field]) -> Self {
        let (mut bits, mut n) = (self.0, 0);
        while n < fields.len() {
            bits |= 1 << (fields[n].tag.number() % u64::BITS);
            n += 1;
        }
        Self(bits)
    }

    fn may_contain(self, tag: u32) -> bool {
        self.0 >> (tag % u64::BITS) & 1 != 0
    }
}

/// A field that a message acts by: it occurs once at most.
#[derive(Clone, Copy, Debug)]
struct Field {
    tag: Tag,
    is_required: bool,
    value: Value,
}

/// The values of a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Value {
    /// Any; what else is wrong with it is decided where it is used.
    Any,
    /// A number; otherwise the message is rejected for this reason.
    Number(SessionRejectCode),
    /// Y or N.
    Flag,
}

/// What happens to a message that is not valid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OnFault {
    /// It is rejected, and uses its number if that is the expected one.
    Reject,
    /// It is not answered, and uses its number if that is the expected one: two sides could reject
    /// each other's Rejects forever.
    Report,
    /// If it is to reset sequence numbers, it is refused as the first Logon of a connection is
    /// (`invalid_logon`), and does not use its number. Any other one is rejected.
    InvalidLogon,
}

const fn any(tag: Tag) -> Field {
    Field { tag, is_required: false, value: Value::Any }
}

const fn flag(tag: Tag) -> Field {
    Field { tag, is_required: false, value: Value::Flag }
}

const fn required(tag: Tag, value: Value) -> Field {
    Field { tag, is_required: true, value }
}

/// A number whose wrong form is a value out of range (test case 8).
const RANGE: Value = Value::Number(SessionRejectCode::VALUE_IS_INCORRECT);
const NUMBER: Value = Value::Number(SessionRejectCode::INCORRECT_DATA_FORMAT_FOR_VALUE);

/// The fields of the header that each of them acts by. That MsgSeqNum is a number was checked
/// before.
const HEADER: [Field; 2] = [required(tag::MSG_SEQ_NUM, Value::Any), flag(tag::POSS_DUP_FLAG)];

/// The table, in the order of MsgTypes.
// R-CHECK-8
const TABLE: [Row; 7] = [
    row(msg_type::HEARTBEAT, &[any(tag::TEST_REQ_ID)], &[], OnFault::Reject),
    // R-HEARTBEAT-3
    row(msg_type::TEST_REQUEST, &[required(tag::TEST_REQ_ID, Value::Any)], &[], OnFault::Reject),
    row(
        msg_type::RESEND_REQUEST,
        &[required(tag::BEGIN_SEQ_NO, RANGE), required(tag::END_SEQ_NO, RANGE)],
        &[Unexpected::TooLow, Unexpected::TooHigh],
        OnFault::Reject,
    ),
    // R-REJECT-4
    row(msg_type::REJECT, &[], &[], OnFault::Report),
    row(
        msg_type::SEQUENCE_RESET,
        // R-SEQRESET-8
        &[required(tag::NEW_SEQ_NO, NUMBER), flag(tag::GAP_FILL_FLAG)],
        &[Unexpected::TooLow, Unexpected::Reset],
        OnFault::Reject,
    ),
    row(
        msg_type::LOGOUT,
        &[],
        &[Unexpected::TooLow, Unexpected::TooHigh, Unexpected::Resetting],
        OnFault::Reject,
    ),
    row(
        msg_type::LOGON,
        &[
            any(tag::ENCRYPT_METHOD),
            any(tag::HEART_BT_INT),
            flag(tag::RESET_SEQ_NUM_FLAG),
            any(tag::MAX_MESSAGE_SIZE),
            flag(tag::TEST_MESSAGE_INDICATOR),
            any(tag::NEXT_EXPECTED_MSG_SEQ_NUM),
            any(tag::DEFAULT_APPL_VER_ID),
        ],
        &[Unexpected::Reset, Unexpected::Resetting],
        OnFault::InvalidLogon,
    ),
];

/// The most fields of a row.
const MOST: usize = 7;

const fn row(
    msg_type: &'static [u8],
    fields: &'static [Field],
    unexpected: &'static [Unexpected],
    refusal: OnFault,
) -> Row {
    assert!(fields.len() <= MOST);
    Row { msg_type, fields, tags: TagBits(0).with(&HEADER).with(fields), unexpected, refusal }
}

/// Returns the row of a MsgType; `None` if it is not one of the session layer.
pub(crate) fn row_of(msg_type: &[u8]) -> Option<&'static Row> {
    let [kind] = msg_type else { return None };
    TABLE.iter().find(|row| row.msg_type[0] == *kind)
}

impl Row {
    /// Returns the Reject of a message in which a field that it acts by is wrong.
    fn fault(&self, message: &Message<'_>) -> Option<Reject<'static>> {
        let fields = || HEADER.iter().chain(self.fields);
        let mut found = [Found::default(); HEADER.len() + MOST];
        for (position, tag) in message.tags().iter().enumerate() {
            if self.tags.may_contain(*tag)
                && let Some(n) = fields().position(|field| field.tag.number() == *tag)
            {
                found[n] = Found { first: found[n].first.or(Some(position)), count: found[n].count + 1 };
            }
        }
        fields().zip(found).find_map(|(field, found)| field.fault(found, message))
    }
}

/// Where a field is in a message.
#[derive(Clone, Copy, Default)]
struct Found {
    first: Option<usize>,
    count: u32,
}

impl Field {
    /// Returns the Reject of a message in which the field is wrong.
    #[inline]
    fn fault(&self, found: Found, message: &Message<'_>) -> Option<Reject<'static>> {
        let Some(position) = found.first else { return self.is_required.then(|| missing(self.tag)) };
        if found.count == 1 && self.value == Value::Any {
            return None;
        }
        let value = message.value(position);
        let reason = match self.value {
            _ if found.count > 1 => SessionRejectCode::TAG_APPEARS_MORE_THAN_ONCE,
            Value::Number(_) | Value::Flag if value.is_empty() => {
                SessionRejectCode::TAG_SPECIFIED_WITHOUT_A_VALUE
            }
            Value::Number(reason) if u64::from_field(value).is_err() => reason,
            Value::Flag if value != YES && value != NO => SessionRejectCode::INCORRECT_DATA_FORMAT_FOR_VALUE,
            _ => return None,
        };
        Some(Reject::naming(reason, self.tag))
    }
}

/// Returns the Reject of a Logon that is not valid: by the dictionary and the session's policy, or
/// because of a field that it acts by.
pub(crate) fn logon_fault<'m>(
    session: &Session,
    message: &Message<'m>,
    checker: &mut Checker<'_, 'm>,
) -> Option<Reject<'m>> {
    fault(session, message, row_of(msg_type::LOGON), checker)
}

/// Returns the Reject of a message of the session layer that is not valid.
#[inline]
pub(crate) fn fault<'m>(
    session: &Session,
    message: &Message<'m>,
    row: Option<&Row>,
    checker: &mut Checker<'_, 'm>,
) -> Option<Reject<'m>> {
    let violation = checker.check_session_layer(session, message);
    if violation.is_some() {
        return violation;
    }
    let reject = row?.fault(message)?;
    Some(reject.worded(session.fixed.behavior.violation_text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(field: &Field) -> String {
        let required = if field.is_required { " required" } else { "" };
        let value = match field.value {
            Value::Any => "",
            Value::Number(_) => " number",
            Value::Flag => " flag",
        };
        format!("{}{required}{value}", field.tag.number())
    }

    #[test]
    fn the_documents_table_is_this_one() {
        let page = include_str!("../../../../docs/conformance.md");
        let table = page.split_once("| MsgType | fields that it acts by |").unwrap().1;
        let written: Vec<Vec<String>> = table
            .lines()
            .skip(2)
            .take_while(|line| line.starts_with('|'))
            .map(|line| {
                let cells = line.trim_matches('|').split('|').map(|cell| cell.trim().replace('`', ""));
                cells.collect()
            })
            .collect();
        assert_eq!(written.len(), TABLE.len());
        for (row, written) in TABLE.iter().zip(written) {
            let msg_type = format!("({})", String::from_utf8_lossy(row.msg_type));
            assert!(written[0].ends_with(&msg_type), "{written:?}");
            let list = |names: Vec<String>| names.join(", ");
            assert_eq!(written[1], list(row.fields.iter().map(field).collect()), "{written:?}");
            assert_eq!(written[2], list(row.unexpected.iter().map(|why| format!("{why:?}")).collect()));
            assert_eq!(written[3], format!("{:?}", row.refusal));
        }
    }
}
