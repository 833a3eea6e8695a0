//! What a message of the session layer passes before it acts: one row for each type.
//!
//! Nothing acts, and NextNumIn does not move but by one for the message's own number, until three
//! things have been checked: what the session standard checks first, in its order
//! ([`inbound::arrived`]), then the dictionary by the session's policy, then the fields that the
//! message acts by, whatever the dictionary and the policy are. docs/conformance.md has the table.

use fixbolt_codec::{FromField, Message, SeqNum, Tag};
use fixbolt_dictionary::SessionRejectReason;

use crate::decide::check;
use crate::decide::inbound::{self, OutOfTurn};
use crate::decide::logon;
use crate::decide::reaction::{Answer, Reaction, Told};
use crate::perform::call::{Call, Stop};
use crate::perform::reset;
use crate::state::Phase;
use crate::values::fix::{NO, YES, msg_type, tag};
use crate::wire::admin_message::{Reject, missing};
use crate::wire::header::Header;

/// A type of message of the session layer.
#[derive(Debug)]
struct Row {
    msg_type: &'static [u8],
    /// The fields that it acts by, besides those of the header.
    fields: &'static [Field],
    /// The tags of all of them.
    tags: TagBits,
    /// When it acts although its number may not be the expected one.
    out_of_turn: &'static [OutOfTurn],
    /// What happens to one that is not valid.
    refusal: Refusal,
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
    Number(SessionRejectReason),
    /// Y or N.
    Flag,
}

/// What happens to a message that is not valid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Refusal {
    /// It is rejected, and uses its number if that is the expected one.
    Reject,
    /// The same without an answer: two sides could reject each other's Rejects forever.
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
const RANGE: Value = Value::Number(SessionRejectReason::ValueIsIncorrect);
const NUMBER: Value = Value::Number(SessionRejectReason::IncorrectDataFormat);

/// The fields of the header that each of them acts by. That MsgSeqNum is a number was checked
/// before.
const HEADER: [Field; 2] = [required(tag::MSG_SEQ_NUM, Value::Any), flag(tag::POSS_DUP_FLAG)];

/// The table, in the order of MsgTypes.
const TABLE: [Row; 7] = [
    row(msg_type::HEARTBEAT, &[any(tag::TEST_REQ_ID)], &[], Refusal::Reject),
    row(msg_type::TEST_REQUEST, &[required(tag::TEST_REQ_ID, Value::Any)], &[], Refusal::Reject),
    row(
        msg_type::RESEND_REQUEST,
        &[required(tag::BEGIN_SEQ_NO, RANGE), required(tag::END_SEQ_NO, RANGE)],
        &[OutOfTurn::TooLow, OutOfTurn::TooHigh],
        Refusal::Reject,
    ),
    row(msg_type::REJECT, &[], &[], Refusal::Report),
    row(
        msg_type::SEQUENCE_RESET,
        &[required(tag::NEW_SEQ_NO, NUMBER), flag(tag::GAP_FILL_FLAG)],
        &[OutOfTurn::Reset],
        Refusal::Reject,
    ),
    row(
        msg_type::LOGOUT,
        &[],
        &[OutOfTurn::TooLow, OutOfTurn::TooHigh, OutOfTurn::Resetting],
        Refusal::Reject,
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
        &[OutOfTurn::Reset, OutOfTurn::Resetting],
        Refusal::InvalidLogon,
    ),
];

/// The most fields of a row.
const MOST: usize = 7;

const fn row(
    msg_type: &'static [u8],
    fields: &'static [Field],
    out_of_turn: &'static [OutOfTurn],
    refusal: Refusal,
) -> Row {
    assert!(fields.len() <= MOST);
    Row { msg_type, fields, tags: TagBits(0).with(&HEADER).with(fields), out_of_turn, refusal }
}

/// Returns the row of a MsgType; `None` if it is not one of the session layer.
fn row_of(msg_type: &[u8]) -> Option<&'static Row> {
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
            _ if found.count > 1 => SessionRejectReason::TagAppearsMoreThanOnce,
            Value::Number(_) | Value::Flag if value.is_empty() => {
                SessionRejectReason::TagSpecifiedWithoutAValue
            }
            Value::Number(reason) if u64::from_field(value).is_err() => reason,
            Value::Flag if value != YES && value != NO => SessionRejectReason::IncorrectDataFormat,
            _ => return None,
        };
        Some(Reject::naming(reason, self.tag))
    }
}

/// Returns the Reject of a Logon that is not valid: by the dictionary and the session's policy, or
/// because of a field that it acts by.
pub(crate) fn logon_fault<'m>(call: &mut Call<'_>, seq: SeqNum, message: &Message<'m>) -> Option<Reject<'m>> {
    fault(call, seq, message, row_of(msg_type::LOGON))
}

/// Returns the Reject of a message of the session layer that is not valid.
#[inline]
fn fault<'m>(
    call: &mut Call<'_>,
    seq: SeqNum,
    message: &Message<'m>,
    row: Option<&Row>,
) -> Option<Reject<'m>> {
    // It has no application version to learn.
    let mut checked = *message;
    let violation = check::violation(call, seq, &mut checked, |_| {});
    if violation.is_some() {
        return violation;
    }
    let reject = row?.fault(message)?;
    Some(reject.worded(call.session().fixed.behavior.violation_text))
}

/// Decides about a message of the session layer that is expected next, or that acts out of turn.
#[inline]
pub(crate) fn receive<'m>(
    call: &mut Call<'_>,
    header: &Header<'m>,
    message: &Message<'m>,
    seq: SeqNum,
    out_of_turn: Option<OutOfTurn>,
) -> Result<Reaction<'m>, Stop> {
    let row = row_of(header.msg_type);
    debug_assert!(row.is_some_and(|row| out_of_turn.is_none_or(|why| row.out_of_turn.contains(&why))));
    let is_reset_logon = header.msg_type == msg_type::LOGON && out_of_turn.is_some();
    if is_reset_logon && let Err(refusal) = logon::check(call.session(), header, message, call.now) {
        call.session_mut().decoded();
        return Ok(*refusal);
    }
    let reject = fault(call, seq, message, row);
    let session = call.session();
    let Some(connection) = &session.state.connection else { return Err(Stop) };
    if let Some(reject) = reject {
        // The answer to our own Logout ends the session whatever is wrong with it.
        if header.msg_type == msg_type::LOGOUT
            && !header.poss_dup
            && connection.logon.phase == Phase::LogoutSent
            && connection.logon.replay.is_none()
        {
            return Ok(inbound::logout(connection, message, seq));
        }
        return Ok(match (out_of_turn, row.map_or(Refusal::Reject, |row| row.refusal)) {
            // It waits for its turn as any other message does, and is rejected then.
            (Some(OutOfTurn::TooHigh), _) if connection.logon.phase == Phase::LogoutAnswered => {
                Reaction::Ignore(None)
            }
            (Some(OutOfTurn::TooHigh), _) => Reaction::TooHigh(inbound::waits(header)),
            (Some(OutOfTurn::Resetting), Refusal::Reject) => inbound::before_the_answer(),
            (Some(_), Refusal::InvalidLogon) => {
                let text = reject.text.clone();
                logon::refuse(session, header, seq, reject, &text)
            }
            (_, Refusal::Report) => {
                Answer { told: Told::Event(inbound::reject_received(message)), ..Answer::take() }.into()
            }
            _ => Answer::reject(seq, header.msg_type, reject).into(),
        });
    }
    let decision = match (out_of_turn, header.msg_type) {
        (Some(OutOfTurn::Reset), msg_type::LOGON) => logon::reset_in_session(session, message),
        (Some(OutOfTurn::Resetting), msg_type::LOGON) => reset::answered(session, message, seq),
        (Some(OutOfTurn::TooHigh), _) => {
            return Ok(inbound::ahead(session, connection, header, message, seq));
        }
        (Some(OutOfTurn::TooLow), msg_type::RESEND_REQUEST) => {
            Ok(inbound::resend_request(session, header, message, seq))
        }
        _ => return Ok(inbound::session_layer(session, connection, header, message, seq)),
    };
    Ok(decision.map_or_else(|refusal| *refusal, Reaction::from))
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
            assert_eq!(written[2], list(row.out_of_turn.iter().map(|why| format!("{why:?}")).collect()));
            assert_eq!(written[3], format!("{:?}", row.refusal));
        }
    }
}
