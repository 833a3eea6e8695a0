//! The layouts of messages that were found to be valid: for the next message of the same layout
//! only the values are checked.
//!
//! Whether the structure of a message is valid depends on its type, its tags in order, the values
//! of its count fields and the policy, and on nothing else if no field identifies another one. So a
//! message that shares all of these with a valid one is valid too, provided that its values are. If
//! they are not, the walk starts from the beginning: nothing is reported here.

use fixbolt_codec::{Decimal, FromField, Message, NumInGroup, Place};

use super::plan::{Plan, names_a_msg_type};
use super::policy::{Check, Policy};
use super::values::takes_any_value;
use crate::data_type::DataType;

/// Number of layouts kept, over all message types.
const LAYOUTS: usize = 8;
/// Longer messages are walked every time.
const FIELDS: usize = 128;
/// The position of BodyLength (9) in every message.
const BODY_LENGTH: usize = 1;
/// After this many consecutive messages of unknown layouts only every sixteenth is learned: a
/// counterparty whose messages are all different must not cost more than the walk.
const PATIENCE: u8 = 16;

/// The layouts that a scratch has learned; allocated once.
#[derive(Clone)]
pub(crate) struct Learned {
    layouts: Box<[Layout; LAYOUTS]>,
    /// The layout to be replaced next, unless it was used since.
    hand: usize,
    /// Number of messages since one was known.
    unknown: u8,
}

#[derive(Clone)]
struct Layout {
    /// Number of the plan; 0 for none.
    plan: u64,
    /// Scope of the body.
    body: u32,
    policy: Policy,
    /// Whether it was used since the last search for a layout to replace.
    used: bool,
    tags: Vec<u32>,
    steps: Vec<Step>,
    places: Vec<Place>,
}

/// A layout, until the next one is learned.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LayoutId(usize);

/// What is checked in a field.
#[derive(Clone, Copy)]
struct Step {
    position: u16,
    slot: u16,
    look: Look,
    /// What the check needs, or the value that was right last.
    memo: u128,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// The count must have the value in the memo.
    Count,
    /// Usually one byte whose bit is set in the memo: nothing more is checked then.
    Byte,
    /// Usually the value that was right last, which is in the memo.
    Again,
    /// Usually a few digits of which the first is not 0.
    Number,
    /// A number with decimals.
    Decimal,
    /// Usually a time within ten seconds of one that was right, whose first 16 bytes are in the
    /// memo.
    Time,
    /// The length of the data field that follows: its value is checked, and that it is this length.
    DataLength,
}

/// The memo of a step that has not seen a value that was right; no value has it.
const NOTHING: u128 = u128::MAX;

/// The identity of values that are too long to have one.
const NO_WORD: u128 = NOTHING - 1;

impl Learned {
    pub(crate) fn new() -> Learned {
        let layout = || Layout {
            plan: 0,
            body: 0,
            policy: Policy::ignoring(),
            used: false,
            tags: Vec::with_capacity(FIELDS),
            steps: Vec::with_capacity(FIELDS),
            places: Vec::with_capacity(FIELDS),
        };
        Learned { layouts: Box::new(std::array::from_fn(|_| layout())), hand: 0, unknown: 0 }
    }

    pub(crate) fn forget(&mut self) {
        for layout in self.layouts.iter_mut() {
            layout.plan = 0;
        }
        self.unknown = 0;
    }

    /// Returns the message's layout if it is known and all values are valid, so that nothing is
    /// wrong with the message.
    #[inline]
    pub(crate) fn known(&mut self, plan: &Plan, message: &Message<'_>, policy: &Policy) -> Option<LayoutId> {
        if message.fault().is_some() {
            return None;
        }
        let body = plan.body(message.msg_type())?;
        let at = self.find(plan, body, message, |layout| layout.policy == *policy)?;
        let layout = &mut self.layouts[at];
        layout.used = true;
        self.unknown = 0;
        layout.is_right(plan, message, policy).then_some(LayoutId(at))
    }

    /// Returns whether [`Learned::known`] would return a layout, without a trace of the question.
    pub(crate) fn knows(&self, plan: &Plan, message: &Message<'_>, policy: &Policy) -> bool {
        let Some(body) = plan.body(message.msg_type()).filter(|_| message.fault().is_none()) else {
            return false;
        };
        let at = self.find(plan, body, message, |layout| layout.policy == *policy);
        at.is_some_and(|at| self.layouts[at].clone().is_right(plan, message, policy))
    }

    /// Returns a layout whose fields have the same places as those of the message, if one is known.
    pub(crate) fn same_structure(&self, plan: &Plan, message: &Message<'_>) -> Option<LayoutId> {
        let body = plan.body(message.msg_type())?;
        self.find(plan, body, message, |layout| layout.counts_alike(message)).map(LayoutId)
    }

    /// Returns the places of the fields of a message with this layout.
    #[inline]
    pub(crate) fn places(&self, layout: LayoutId) -> &[Place] {
        &self.layouts[layout.0].places
    }

    #[inline]
    fn find(
        &self,
        plan: &Plan,
        body: u32,
        message: &Message<'_>,
        fits: impl Fn(&Layout) -> bool,
    ) -> Option<usize> {
        let tags = message.tags();
        self.layouts.iter().position(|layout| {
            layout.body == body && layout.plan == plan.number() && layout.tags == tags && fits(layout)
        })
    }

    /// Keeps the layout of a message in which the complete walk found nothing wrong, and its
    /// places, if there is reason to: returns where.
    pub(crate) fn learn(
        &mut self,
        plan: &Plan,
        message: &Message<'_>,
        policy: &Policy,
        places: &mut Vec<Place>,
    ) -> Option<LayoutId> {
        self.unknown = if self.unknown == 2 * PATIENCE { PATIENCE + 1 } else { self.unknown + 1 };
        if self.unknown > PATIENCE && self.unknown != 2 * PATIENCE {
            return None;
        }
        let body = plan.body(message.msg_type())?;
        if message.fault().is_some() || message.len() > FIELDS {
            return None;
        }
        while std::mem::take(&mut self.layouts[self.hand].used) {
            self.hand = (self.hand + 1) % LAYOUTS;
        }
        let at = self.hand;
        let layout = &mut self.layouts[at];
        self.hand = (at + 1) % LAYOUTS;
        layout.plan = 0;
        layout.tags.clear();
        layout.steps.clear();
        layout.tags.extend_from_slice(message.tags());
        for (position, &tag) in message.tags().iter().enumerate() {
            let Some(slot) = plan.slot(tag) else { continue };
            let rule = plan.field(slot);
            // Whether these are valid depends on the values of others.
            if matches!(rule.kind, DataType::Xid | DataType::XidRef) {
                return None;
            }
            let with_codes = policy.makes(Check::EnumValue) && plan.codes(rule).is_some();
            // Framing has read BodyLength.
            if position == BODY_LENGTH {
                continue;
            }
            let (look, memo) = if rule.kind == DataType::NumInGroup {
                // A count that is not a number opens a group of unknown size: such a message is
                // walked.
                let Ok(count) = NumInGroup::from_field(message.value(position)) else { return None };
                (Look::Count, u128::from(count.0))
            } else if rule.is_data_length && policy.makes(Check::DataLength) {
                (Look::DataLength, 0)
            } else if with_codes {
                // The type of a message is part of its layout.
                if names_a_msg_type(tag) && takes_any_value(rule.kind) {
                    continue;
                }
                let is_byte = rule.codes_fit && message.value(position).len() == 1;
                match plan.codes(rule).filter(|_| is_byte) {
                    Some(codes) => (Look::Byte, codes.ascii()),
                    None => (Look::Again, NOTHING),
                }
            } else if policy.makes(Check::DataType) && !takes_any_value(rule.kind) {
                (look_of(rule.kind), NOTHING)
            } else {
                continue;
            };
            layout.steps.push(Step { position: position as u16, slot, look, memo });
        }
        (layout.plan, layout.body, layout.policy) = (plan.number(), body, *policy);
        std::mem::swap(&mut layout.places, places);
        Some(LayoutId(at))
    }
}

/// Returns whether the value at `position` is the length of the one after it.
fn is_length_of_next(message: &Message<'_>, position: usize) -> bool {
    let next = position + 1;
    next < message.len() && u64::from_field(message.value(position)) == Ok(message.value(next).len() as u64)
}

/// Returns how a value of this type is checked first. What that does not accept is checked again,
/// completely.
const fn look_of(kind: DataType) -> Look {
    use DataType::{
        Amt, Float, Int, Length, Percentage, Price, PriceOffset, Qty, SeqNum, TagNum, UtcTimestamp,
    };
    match kind {
        Int | Length | SeqNum | TagNum => Look::Number,
        Float | Qty | Price | PriceOffset | Amt | Percentage => Look::Decimal,
        UtcTimestamp => Look::Time,
        _ => Look::Again,
    }
}

/// Returns a value of one to eight bytes as a number, the first byte lowest, and its length.
#[inline]
fn word(message: &Message<'_>, position: usize) -> Option<(u64, usize)> {
    let span = message.span(position);
    let length = span.end() - span.start();
    let last = message.bytes().get(span.end().checked_sub(8)?..span.end())?;
    let last = u64::from_le_bytes(last.try_into().ok()?);
    let unused = 8 * 8usize.checked_sub(length)?;
    Some((last.checked_shr(unused as u32)?, length))
}

/// Returns a value of one to eight bytes as a number that no other value has.
#[inline]
fn identity(message: &Message<'_>, position: usize) -> u128 {
    word(message, position).map_or(NO_WORD, |(word, length)| u128::from(word) | (length as u128) << 64)
}

/// Returns whether the value is a number of one to eight digits that does not begin with 0.
#[inline]
fn is_plain_number(message: &Message<'_>, position: usize) -> bool {
    const ZEROS: u64 = u64::from_le_bytes([b'0'; 8]);
    // Added to a byte, it carries into the high bit if and only if the byte is above 9.
    const ABOVE_NINE: u64 = u64::from_le_bytes([0x76; 8]);
    const HIGH: u64 = u64::from_le_bytes([0x80; 8]);
    word(message, position).is_some_and(|(word, length)| {
        let digits = word ^ ZEROS >> (64 - 8 * length);
        (digits.wrapping_add(ABOVE_NINE) | digits) & HIGH == 0 && digits & 0xFF != 0
    })
}

impl Layout {
    /// Returns whether the message has the same counts.
    fn counts_alike(&self, message: &Message<'_>) -> bool {
        let mut counts = self.steps.iter().filter(|step| step.look == Look::Count);
        counts.all(|step| step.counts_alike(message))
    }

    /// Returns whether the values of a message with this layout are right.
    #[inline]
    fn is_right(&mut self, plan: &Plan, message: &Message<'_>, policy: &Policy) -> bool {
        self.steps.iter_mut().all(|step| step.is_right(plan, message, policy))
    }
}

impl Step {
    /// Returns whether the message has the same count here.
    fn counts_alike(&self, message: &Message<'_>) -> bool {
        let count = NumInGroup::from_field(message.value(usize::from(self.position)));
        count.is_ok_and(|count| u128::from(count.0) == self.memo)
    }

    #[inline]
    fn is_right(&mut self, plan: &Plan, message: &Message<'_>, policy: &Policy) -> bool {
        let position = usize::from(self.position);
        let checked = |step: &Self| {
            let tag = message.tags()[position];
            plan.value_is_right(tag, step.slot, message.value(position), policy).is_ok()
        };
        match self.look {
            Look::Byte => {
                let span = message.span(position);
                let byte = message.bytes()[span.start()];
                let is_code = span.end() - span.start() == 1 && byte < 0x80 && self.memo >> byte & 1 != 0;
                is_code || checked(self)
            }
            Look::Again => {
                let identity = identity(message, position);
                if identity == self.memo {
                    return true;
                }
                let is_right = checked(self);
                if is_right && identity != NO_WORD {
                    self.memo = identity;
                }
                is_right
            }
            Look::Number => is_plain_number(message, position) || checked(self),
            Look::Decimal => Decimal::parse(message.value(position)).is_ok() || checked(self),
            Look::Time => {
                let parts = message.value(position).split_first_chunk();
                let parts = parts.map(|(start, rest)| (u128::from_le_bytes(*start), rest));
                if parts.is_some_and(|(start, rest)| start == self.memo && ends_a_time(rest)) {
                    return true;
                }
                let is_right = checked(self);
                if let Some((start, _)) = parts
                    && is_right
                    // Only one second begins with a 6.
                    && start.to_le_bytes()[15] != b'6'
                {
                    self.memo = start;
                }
                is_right
            }
            Look::Count => self.counts_alike(message),
            Look::DataLength => is_length_of_next(message, position) && checked(self),
        }
    }
}

/// Returns whether the rest of a time, from the last digit of its second on, is right whatever is
/// before it.
#[inline]
fn ends_a_time(rest: &[u8]) -> bool {
    match rest {
        [b'0'..=b'9'] => true,
        // Most senders write milliseconds.
        [b'0'..=b'9', b'.', b'0'..=b'9', b'0'..=b'9', b'0'..=b'9'] => true,
        [b'0'..=b'9', b'.', fraction @ ..] => fraction.len() <= 12 && u64::from_field(fraction).is_ok(),
        _ => false,
    }
}
