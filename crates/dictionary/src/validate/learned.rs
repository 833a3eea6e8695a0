//! The layouts of messages that were found to be valid: for the next message of the same layout
//! only the values are checked.
//!
//! Whether the structure of a message is valid depends on its type, its tags in order, the values
//! of its count fields and the policy, and on nothing else if no field identifies another one. So a
//! message that shares all of these with a valid one is valid too, provided that its values are. If
//! they are not, the walk starts from the beginning: nothing is reported here.

use fixbolt_codec::{FromField, Message, NumInGroup, Place};

use super::plan::Plan;
use super::policy::{Check, Policy};
use super::values::takes_any_value;
use crate::data_type::DataType;

/// Number of layouts kept, over all message types.
const LAYOUTS: usize = 8;
/// Longer messages are walked every time.
const FIELDS: usize = 128;
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
}

#[derive(Debug, Clone, Copy)]
enum Look {
    /// The count must have this value.
    Count(u32),
    /// Usually a single byte that is a code, which needs no further check.
    Code,
    /// The type and the codes are checked.
    Value,
    /// The length of the data field that follows: its value is checked, and that it is this length.
    DataLength,
}

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
        layout.steps.iter().all(|step| step.is_right(plan, message, policy)).then_some(LayoutId(at))
    }

    /// Returns whether [`Learned::known`] would return a layout, without a trace of the question.
    pub(crate) fn knows(&self, plan: &Plan, message: &Message<'_>, policy: &Policy) -> bool {
        let Some(body) = plan.body(message.msg_type()).filter(|_| message.fault().is_none()) else {
            return false;
        };
        let at = self.find(plan, body, message, |layout| layout.policy == *policy);
        at.is_some_and(|at| self.layouts[at].steps.iter().all(|step| step.is_right(plan, message, policy)))
    }

    /// Returns a layout whose fields have the same places as those of the message, if one is known.
    pub(crate) fn same_structure(&self, plan: &Plan, message: &Message<'_>) -> Option<LayoutId> {
        let body = plan.body(message.msg_type())?;
        self.find(plan, body, message, |layout| layout.steps.iter().all(|step| step.counts_alike(message)))
            .map(LayoutId)
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
            let look = if rule.kind == DataType::NumInGroup {
                // A count that is not a number opens a group of unknown size: such a message is
                // walked.
                let Ok(count) = NumInGroup::from_field(message.value(position)) else { return None };
                Look::Count(count.0)
            } else if with_codes && rule.codes_fit {
                Look::Code
            } else if rule.is_data_length && policy.makes(Check::DataLength) {
                Look::DataLength
            } else if with_codes || policy.makes(Check::DataType) && !takes_any_value(rule.kind) {
                Look::Value
            } else {
                continue;
            };
            layout.steps.push(Step { position: position as u16, slot, look });
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

impl Step {
    /// Returns whether the message has the same count here, if this is a count.
    fn counts_alike(self, message: &Message<'_>) -> bool {
        let Look::Count(count) = self.look else { return true };
        NumInGroup::from_field(message.value(usize::from(self.position))) == Ok(NumInGroup(count))
    }

    #[inline]
    fn is_right(self, plan: &Plan, message: &Message<'_>, policy: &Policy) -> bool {
        let position = usize::from(self.position);
        let value = message.value(position);
        let rule = plan.field(self.slot);
        match self.look {
            Look::Count(count) => NumInGroup::from_field(value) == Ok(NumInGroup(count)),
            Look::Code if plan.codes(rule).is_some_and(|codes| codes.has_byte(value)) => true,
            Look::DataLength if !is_length_of_next(message, position) => false,
            Look::Code | Look::Value | Look::DataLength => {
                plan.value_is_right(message.tags()[position], self.slot, value, policy).is_ok()
            }
        }
    }
}
