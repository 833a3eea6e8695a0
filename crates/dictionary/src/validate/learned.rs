//! The layouts of messages that were found to be valid: for the next message of the same layout
//! only the values are checked.
//!
//! Whether the structure of a message is valid depends on its type, its tags in order, the values
//! of its count fields and the policy, and on nothing else if no field identifies another one. So a
//! message that shares all of these with a valid one is valid too, provided that its values are. If
//! they are not, the walk starts from the beginning: nothing is reported here.

use fixbolt_codec::{FromField, Message, NumInGroup, Place};

use super::look::{LastDate, Look, Word, is_decimal};
use super::plan::Plan;
use super::policy::{Check, Policy};
use crate::data_type::DataType;

/// Number of layouts kept, over all message types.
const LAYOUTS: usize = 8;
/// Longer messages are walked every time.
const FIELDS: usize = 128;
/// The position of BodyLength (9) in every message.
const BODY_LENGTH: u16 = 1;
/// After this many consecutive messages of unknown layouts only every sixteenth is learned: a
/// counterparty whose messages are all different must not cost more than the walk.
const PATIENCE: u8 = 16;

/// The layouts that a scratch has learned; allocated once.
#[derive(Clone)]
pub(crate) struct Learned {
    layouts: Box<[Layout; LAYOUTS]>,
    /// Those of the message that is walked, in case it is valid.
    steps: Box<Steps>,
    /// The layout that was known last.
    last: usize,
    /// The layout to be replaced next, unless it was used since.
    hand: usize,
    /// The layout that the current message has, although a value of it is not right.
    met: Option<usize>,
    /// Number of messages since one was known.
    unknown: u8,
    pub(crate) dates: LastDate,
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
    places: Vec<Place>,
    steps: Box<Steps>,
}

/// A layout, until the next one is learned.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LayoutId(usize);

/// How a field is checked in a message of a known layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Step {
    /// Not at all.
    Nothing,
    /// Usually a few digits of which the first is not 0.
    Number,
    /// A number with decimals.
    Decimal,
    /// A time.
    Time,
    /// A code. If it was one byte, it usually is again; if not, usually the same.
    Code,
    /// Usually the value that was right last.
    Again,
    /// The count must be the same.
    Count,
    /// The length of the data field that follows: its value is checked, and that it is this length.
    DataLength,
    /// The layout is not learned: whether the value is valid depends on others.
    Never,
}

const KINDS: usize = Step::Never as usize + 1;

impl Step {
    pub(crate) const fn of(kind: DataType, look: Look, is_data_length: bool) -> Step {
        match (kind, look) {
            (DataType::Xid | DataType::XidRef, _) => Step::Never,
            (DataType::NumInGroup, Look::Count) if !is_data_length => Step::Count,
            (DataType::NumInGroup, _) => Step::Never,
            _ if is_data_length => Step::DataLength,
            (_, Look::Any) => Step::Nothing,
            (_, Look::Byte | Look::Word | Look::CodedNumber) => Step::Code,
            (_, Look::Number) => Step::Number,
            (_, Look::Decimal) => Step::Decimal,
            (_, Look::Time) => Step::Time,
            (_, Look::Date | Look::Boolean | Look::Char | Look::Count | Look::Nothing) => Step::Again,
        }
    }
}

/// What is checked in the messages of a layout: the positions of its fields for each kind of step,
/// so that a loop does one thing.
#[derive(Clone)]
struct Steps {
    positions: [[u16; FIELDS]; KINDS],
    lengths: [u16; KINDS],
    /// The first of the numbers that is checked.
    first_number: usize,
    /// The fields of [`Step::Code`] that had one byte, each with its slot.
    bytes: Vec<(u16, u16)>,
    /// The other ones, and those of [`Step::Again`], each with its last value.
    again: Vec<(u16, Word)>,
    /// Those of [`Step::Count`], each with its value.
    counts: Vec<(u16, u32)>,
}

/// No value has it.
const NO_WORD: Word = Word { bytes: 0, length: 0 };

impl Steps {
    fn new() -> Steps {
        Steps {
            positions: [[0; FIELDS]; KINDS],
            lengths: [0; KINDS],
            first_number: 0,
            bytes: Vec::with_capacity(FIELDS),
            again: Vec::with_capacity(FIELDS),
            counts: Vec::with_capacity(FIELDS),
        }
    }

    #[inline(always)]
    fn of(&self, step: Step) -> &[u16] {
        &self.positions[step as usize][..usize::from(self.lengths[step as usize])]
    }

    /// Completes the steps for a valid message, of which the walk has noted the positions. Returns
    /// whether the layout can be learned.
    fn complete(&mut self, plan: &Plan, message: &Message<'_>, policy: &Policy) -> bool {
        if self.lengths[Step::Never as usize] > 0 {
            return false;
        }
        self.first_number = 0;
        self.bytes.clear();
        self.again.clear();
        self.counts.clear();
        for &position in
            &self.positions[Step::Count as usize][..usize::from(self.lengths[Step::Count as usize])]
        {
            // A count that is not a number opens a group of unknown size: such a message is walked.
            let Ok(count) = NumInGroup::from_field(message.value(usize::from(position))) else {
                return false;
            };
            self.counts.push((position, count.0));
        }
        if !policy.makes(Check::DataLength) {
            self.lengths[Step::DataLength as usize] = 0;
        }
        if !policy.makes(Check::DataType) && !policy.makes(Check::EnumValue) {
            for step in [Step::Number, Step::Decimal, Step::Time] {
                self.lengths[step as usize] = 0;
            }
            return true;
        }
        // Framing has read BodyLength.
        self.first_number = usize::from(self.of(Step::Number).first() == Some(&BODY_LENGTH));
        for step in [Step::Code, Step::Again] {
            for &position in &self.positions[step as usize][..usize::from(self.lengths[step as usize])] {
                let at = usize::from(position);
                match plan.slot(message.tags()[at]) {
                    Some(slot) if step == Step::Code && message.value(at).len() == 1 => {
                        self.bytes.push((position, slot));
                    }
                    _ => self.again.push((position, Word::of(message, at).unwrap_or(NO_WORD))),
                }
            }
        }
        true
    }

    /// Returns whether the message has the same counts.
    #[inline(always)]
    fn counts_alike(&self, message: &Message<'_>) -> bool {
        self.counts.iter().all(|&(position, count)| {
            let value = message.value(usize::from(position));
            NumInGroup::from_field(value).is_ok_and(|found| found.0 == count)
        })
    }

    /// Returns whether the values of a message with this layout are right.
    #[inline]
    fn are_right(
        &mut self,
        plan: &Plan,
        message: &Message<'_>,
        policy: &Policy,
        dates: &mut LastDate,
    ) -> bool {
        let is_right =
            |position: usize, dates: &mut LastDate| plan.is_right(message, position, policy, dates);
        for &position in self.of(Step::Number).iter().skip(self.first_number) {
            let position = usize::from(position);
            let is_plain = Word::of(message, position).is_some_and(Word::is_plain_number);
            if !is_plain && !is_right(position, dates) {
                return false;
            }
        }
        for &position in self.of(Step::Decimal) {
            let position = usize::from(position);
            if !is_decimal(message, position) && !is_right(position, dates) {
                return false;
            }
        }
        for &position in self.of(Step::Time) {
            let position = usize::from(position);
            if !dates.is_time(message.value(position)) && !is_right(position, dates) {
                return false;
            }
        }
        for &(position, slot) in &self.bytes {
            let position = usize::from(position);
            if !plan.is_code_of_one_byte(slot, message, position) && !is_right(position, dates) {
                return false;
            }
        }
        for (position, last) in &mut self.again {
            let position = usize::from(*position);
            let word = Word::of(message, position);
            if word != Some(*last) {
                if !is_right(position, dates) {
                    return false;
                }
                *last = word.unwrap_or(NO_WORD);
            }
        }
        for &position in self.of(Step::DataLength) {
            let position = usize::from(position);
            if !is_length_of_next(message, position) || !is_right(position, dates) {
                return false;
            }
        }
        self.counts_alike(message)
    }
}

impl Learned {
    pub(crate) fn new() -> Learned {
        let layout = || Layout {
            plan: 0,
            body: 0,
            policy: Policy::ignoring(),
            used: false,
            tags: Vec::with_capacity(FIELDS),
            places: Vec::with_capacity(FIELDS),
            steps: Box::new(Steps::new()),
        };
        Learned {
            layouts: Box::new(std::array::from_fn(|_| layout())),
            steps: Box::new(Steps::new()),
            last: 0,
            hand: 0,
            met: None,
            unknown: 0,
            dates: LastDate::new(),
        }
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
        self.met = None;
        if message.fault().is_some() {
            return None;
        }
        let body = plan.body(message.msg_type())?;
        let at = self.find(plan, body, message, |layout| layout.policy == *policy)?;
        let layout = &mut self.layouts[at];
        layout.used = true;
        if !layout.steps.are_right(plan, message, policy, &mut self.dates) {
            self.met = Some(at);
            return None;
        }
        (self.last, self.unknown) = (at, 0);
        Some(LayoutId(at))
    }

    /// Returns whether [`Learned::known`] would return a layout, without a trace of the question.
    pub(crate) fn knows(&self, plan: &Plan, message: &Message<'_>, policy: &Policy) -> bool {
        let Some(body) = plan.body(message.msg_type()).filter(|_| message.fault().is_none()) else {
            return false;
        };
        let at = self.find(plan, body, message, |layout| layout.policy == *policy);
        let mut dates = self.dates;
        at.is_some_and(|at| self.layouts[at].steps.clone().are_right(plan, message, policy, &mut dates))
    }

    /// Returns a layout whose fields have the same places as those of the message, if one is known.
    pub(crate) fn same_structure(&self, plan: &Plan, message: &Message<'_>) -> Option<LayoutId> {
        let body = plan.body(message.msg_type())?;
        self.find(plan, body, message, |layout| layout.steps.counts_alike(message)).map(LayoutId)
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
        let is_it = |layout: &Layout| {
            layout.plan == plan.number() && layout.body == body && layout.tags == tags && fits(layout)
        };
        if is_it(&self.layouts[self.last]) {
            return Some(self.last);
        }
        self.layouts.iter().position(is_it)
    }

    /// Returns whether the layout of a message is to be learned, if the walk finds nothing wrong:
    /// for each field that has a value and is known, it calls [`Learned::note`].
    pub(crate) fn begin(&mut self, message: &Message<'_>) -> bool {
        self.unknown = if self.unknown == 2 * PATIENCE { PATIENCE + 1 } else { self.unknown + 1 };
        if self.unknown > PATIENCE && self.unknown != 2 * PATIENCE {
            return false;
        }
        self.steps.lengths = [0; KINDS];
        message.fault().is_none() && message.len() <= FIELDS
    }

    /// Notes a field of the message whose layout is to be learned, by the number of its step.
    #[inline(always)]
    pub(crate) fn note(&mut self, step: usize, position: usize) {
        if step == Step::Nothing as usize {
            return;
        }
        let Steps { positions, lengths, .. } = &mut *self.steps;
        if let (Some(positions), Some(length)) = (positions.get_mut(step), lengths.get_mut(step))
            && let Some(place) = positions.get_mut(usize::from(*length))
        {
            *place = position as u16;
            *length += 1;
        }
    }

    /// Keeps the layout of a message in which the walk found nothing wrong, and its places. Returns
    /// where.
    pub(crate) fn learn(
        &mut self,
        plan: &Plan,
        message: &Message<'_>,
        policy: &Policy,
        places: &mut Vec<Place>,
    ) -> Option<LayoutId> {
        let body = plan.body(message.msg_type())?;
        if !self.steps.complete(plan, message, policy) {
            return None;
        }
        let at = self.met.unwrap_or_else(|| self.next_to_replace());
        let layout = &mut self.layouts[at];
        layout.tags.clear();
        layout.tags.extend_from_slice(message.tags());
        (layout.plan, layout.body, layout.policy) = (plan.number(), body, *policy);
        std::mem::swap(&mut layout.places, places);
        std::mem::swap(&mut layout.steps, &mut self.steps);
        self.last = at;
        Some(LayoutId(at))
    }

    /// Returns a layout that was not used for long.
    fn next_to_replace(&mut self) -> usize {
        loop {
            let at = self.hand;
            self.hand = (at + 1) % self.layouts.len();
            if !std::mem::take(&mut self.layouts[at].used) {
                return at;
            }
        }
    }
}

/// Returns whether the value at `position` is the length of the one after it.
fn is_length_of_next(message: &Message<'_>, position: usize) -> bool {
    let next = position + 1;
    next < message.len() && u64::from_field(message.value(position)) == Ok(message.value(next).len() as u64)
}
