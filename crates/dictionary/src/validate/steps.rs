//! What is checked of a message besides its structure: the positions of its fields for each kind of
//! check, so that a loop does one thing.

use fixbolt_codec::{FromField, Message, NumInGroup};

use super::findings::WrongValue;
use super::look::{LastDate, Look, Word, is_decimal};
use super::plan::{Partner, Plan};
use super::policy::{Check, Policy, TypeRules};
use super::values::identity;
use crate::data_type::DataType;
use crate::reject_codes::SessionRejectCode as Reason;

/// How the value of a field is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Step {
    /// It must not be empty, which the index would have found.
    Nothing,
    /// Usually a few digits of which the first is not 0.
    Number,
    /// A number with decimals.
    Decimal,
    /// A time.
    Time,
    /// A date.
    Date,
    /// Usually one of a few bytes.
    Byte,
    /// Usually the value that was right last.
    Again,
    /// The count of a group, or the length of the data field that follows: the structure depends
    /// on it.
    Count,
}

const KINDS: usize = Step::Count as usize + 1;

impl Step {
    pub(crate) const fn of(kind: DataType, look: Look, is_data_length: bool) -> Step {
        match (kind, look) {
            _ if is_data_length => Step::Count,
            (DataType::NumInGroup, _) => Step::Count,
            (_, Look::Any) => Step::Nothing,
            (_, Look::Byte | Look::Boolean) => Step::Byte,
            (_, Look::Number) => Step::Number,
            (_, Look::Decimal) => Step::Decimal,
            (_, Look::Time) => Step::Time,
            (_, Look::Date) => Step::Date,
            (_, Look::Word | Look::CodedNumber | Look::Char | Look::Count | Look::Nothing) => Step::Again,
        }
    }
}

/// The fields of a message, or of a part of a long one, by the step that checks them.
#[derive(Clone)]
pub(crate) struct Steps {
    /// Position, and in the high half the slot of the field, in [`Steps::FIELDS`] places for each
    /// kind of step.
    notes: [u32; KINDS * Steps::FIELDS],
    /// For each kind the place after its last note.
    ends: [u16; KINDS],
    /// For the fields of [`Step::Again`] the value that was right last, 0 for none.
    last: [u64; Steps::FIELDS],
    /// For the fields of [`Step::Count`] the value of a count, 0 for a length.
    counts: [u64; Steps::FIELDS],
}

/// What is needed to check values.
pub(crate) struct Values<'v, 'm> {
    pub(crate) plan: &'v Plan,
    pub(crate) message: &'v Message<'m>,
    pub(crate) policy: &'v Policy,
    pub(crate) dates: &'v mut LastDate,
    pub(crate) wrong: &'v mut Vec<WrongValue>,
    /// Positions of identifiers and of references to them.
    pub(crate) identifiers: &'v mut Vec<usize>,
    pub(crate) references: &'v mut Vec<usize>,
    /// Whether a value was not seen to be right at a glance.
    pub(crate) closer_looks: bool,
}

impl Steps {
    /// The number of fields of which the steps can be noted.
    pub(crate) const FIELDS: usize = 128;

    const STARTS: [u16; KINDS] = {
        let (mut starts, mut step) = ([0; KINDS], 0);
        while step < KINDS {
            starts[step] = (step * Steps::FIELDS) as u16;
            step += 1;
        }
        starts
    };

    pub(crate) fn new() -> Steps {
        Steps {
            notes: [0; KINDS * Steps::FIELDS],
            ends: Steps::STARTS,
            last: [0; Steps::FIELDS],
            counts: [0; Steps::FIELDS],
        }
    }

    #[inline]
    pub(crate) fn clear(&mut self) {
        self.ends = Steps::STARTS;
    }

    /// Notes a field by the number of its step. The position in the note is counted from the first
    /// field that is noted.
    #[inline(always)]
    pub(crate) fn note(&mut self, step: usize, note: u32) {
        let end = &mut self.ends[step % KINDS];
        self.notes[usize::from(*end) % (KINDS * Steps::FIELDS)] = note;
        *end += 1;
    }

    #[inline(always)]
    fn of(&self, step: Step) -> &[u32] {
        noted(&self.notes, &self.ends, step)
    }

    /// Keeps the counts of a message, so that another one can be compared, and leaves out what
    /// framing checks. Returns whether the structure of a message with these steps depends on
    /// nothing else than its tags and counts.
    pub(crate) fn keep_counts(&mut self, plan: &Plan, message: &Message<'_>) -> bool {
        // Framing has read BodyLength.
        let numbers = self.of(Step::Number);
        if let (Some(first), Some(&last)) = (numbers.first(), numbers.last())
            && *first == plan.body_length
        {
            self.notes[Step::Number as usize * Steps::FIELDS] = last;
            self.ends[Step::Number as usize] -= 1;
        }
        let notes = noted(&self.notes, &self.ends, Step::Count);
        for (&note, count) in notes.iter().zip(&mut self.counts) {
            let (position, slot) = parts(note);
            let rule = plan.field(slot);
            match rule.partner {
                Some(Partner::Data(_)) if rule.kind != DataType::NumInGroup => *count = 0,
                // A count that is not a number opens a group of unknown size.
                None if is_count(message, position) => {
                    let Some(word) = short_word(message, position) else { return false };
                    *count = word;
                }
                _ => return false,
            }
        }
        let identifies =
            |note: &u32| matches!(plan.field(parts(*note).1).kind, DataType::Xid | DataType::XidRef);
        // A field that identifies may also be the length of a data field.
        let fields = || self.of(Step::Again).iter().chain(self.of(Step::Count));
        !plan.has_identifiers || !fields().any(identifies)
    }

    /// Returns whether a message with these tags has the same counts, and its data fields have the
    /// lengths that are announced if the policy cares.
    #[inline(always)]
    pub(crate) fn counts_alike(&self, message: &Message<'_>, policy: &Policy) -> bool {
        self.of(Step::Count).iter().zip(&self.counts).all(|(&note, &count)| {
            let (position, _) = parts(note);
            match count {
                0 => !policy.makes(Check::DataLength) || is_length_of_next(message, position),
                count => short_word(message, position) == Some(count),
            }
        })
    }

    /// Forgets the values that were right before.
    pub(crate) fn forget(&mut self) {
        let length = self.of(Step::Again).len();
        self.last[..length].fill(0);
    }

    /// Checks the values of a message with these steps, whose first field is at position `base`.
    /// `counts_known`: whether its counts are those of a message in which they were checked.
    #[inline]
    pub(crate) fn check(&mut self, values: &mut Values<'_, '_>, base: usize, counts_known: bool) {
        let (plan, message) = (values.plan, values.message);
        self.check_by(plan, message, values, base, counts_known);
    }

    /// Returns whether the values of a message of a known layout are seen to be right at a glance.
    #[inline]
    pub(crate) fn are_right(&mut self, plan: &Plan, message: &Message<'_>, dates: &mut LastDate) -> bool {
        self.check_by(plan, message, &mut Glance { plan, message, dates }, 0, true)
    }

    /// Looks at each value, and closer at those that are not seen to be right, until that is given
    /// up. Returns whether it was not.
    #[inline(always)]
    fn check_by(
        &mut self,
        plan: &Plan,
        message: &Message<'_>,
        closer: &mut impl Closer,
        base: usize,
        counts_known: bool,
    ) -> bool {
        for &note in self.of(Step::Number) {
            let position = base + parts(note).0;
            if !Word::of(message, position).is_some_and(Word::is_plain_number) && !closer.goes_on(base, note)
            {
                return false;
            }
        }
        for &note in self.of(Step::Decimal) {
            if !is_decimal(message, base + parts(note).0) && !closer.goes_on(base, note) {
                return false;
            }
        }
        for &note in self.of(Step::Time) {
            let is_time = closer.dates().is_time(message.value(base + parts(note).0));
            if !is_time && !closer.goes_on(base, note) {
                return false;
            }
        }
        for &note in self.of(Step::Date) {
            let date = <&[u8; 8]>::try_from(message.value(base + parts(note).0));
            if !date.is_ok_and(|date| closer.dates().is_date(date)) && !closer.goes_on(base, note) {
                return false;
            }
        }
        for &note in self.of(Step::Byte) {
            let (position, slot) = parts(note);
            let span = message.span(base + position);
            let is_code =
                span.end() - span.start() == 1 && plan.has_usual_code(slot, message.bytes()[span.start()]);
            if !is_code && !closer.goes_on(base, note) {
                return false;
            }
        }
        let notes = noted(&self.notes, &self.ends, Step::Again);
        for (&note, last) in notes.iter().zip(&mut self.last) {
            let (position, slot) = parts(note);
            let word = Word::of(message, base + position);
            let byte = word.filter(|word| word.length == 1).map(|word| word.bytes as u8);
            if byte.is_some_and(|byte| plan.has_usual_code(slot, byte)) {
                continue;
            }
            let known = word.and_then(identity).unwrap_or(0);
            if known == 0 || known != *last {
                let Some(is_right) = closer.is_right(base, note, word) else { return false };
                *last = if is_right { known } else { 0 };
            }
        }
        for (&note, &count) in self.of(Step::Count).iter().zip(&self.counts) {
            let (position, slot) = parts(note);
            let is_right = match plan.field(slot).look {
                Look::Count if counts_known && count != 0 => true,
                Look::Count => is_count(message, base + position),
                Look::Number => Word::of(message, base + position).is_some_and(Word::is_plain_number),
                _ => false,
            };
            if !is_right && !closer.goes_on(base, note) {
                return false;
            }
        }
        if !counts_known && message.fault().is_some() {
            for &note in self.of(Step::Nothing) {
                if !closer.goes_on(base, note) {
                    return false;
                }
            }
        }
        true
    }
}

/// What is done with a value that is not seen to be right.
trait Closer {
    fn dates(&mut self) -> &mut LastDate;

    /// Looks closer at a value, and returns whether the other values are to be looked at.
    fn goes_on(&mut self, base: usize, note: u32) -> bool;

    /// Returns whether a value is right that is not the last one, unless it is given up.
    fn is_right(&mut self, base: usize, note: u32, word: Option<Word>) -> Option<bool>;
}

/// Gives up: the values of most messages are right at a glance.
struct Glance<'v, 'm> {
    plan: &'v Plan,
    message: &'v Message<'m>,
    dates: &'v mut LastDate,
}

impl Closer for Glance<'_, '_> {
    #[inline(always)]
    fn dates(&mut self) -> &mut LastDate {
        self.dates
    }

    #[inline(always)]
    fn goes_on(&mut self, _base: usize, _note: u32) -> bool {
        false
    }

    #[inline(always)]
    fn is_right(&mut self, base: usize, note: u32, _word: Option<Word>) -> Option<bool> {
        let (position, slot) = parts(note);
        self.plan.looks_right(slot, self.message, base + position, self.dates).then_some(true)
    }
}

/// Finds all that are wrong.
impl Closer for Values<'_, '_> {
    #[inline(always)]
    fn dates(&mut self) -> &mut LastDate {
        self.dates
    }

    #[inline(always)]
    fn goes_on(&mut self, base: usize, note: u32) -> bool {
        self.look_closer(base, note);
        true
    }

    #[inline(always)]
    fn is_right(&mut self, base: usize, note: u32, word: Option<Word>) -> Option<bool> {
        Some(self.are_right(base, note, word))
    }
}

impl Values<'_, '_> {
    /// Returns whether a value is right, and adds it to the wrong ones if not.
    #[inline(never)]
    fn are_right(&mut self, base: usize, note: u32, word: Option<Word>) -> bool {
        let (position, slot) = parts(note);
        let field = self.plan.field(slot);
        let has = |word: Word| self.plan.codes(field).is_some_and(|codes| codes.has_word(word));
        if field.look == Look::Word && word.is_some_and(has) {
            return true;
        }
        self.plan.looks_right(slot, self.message, base + position, self.dates) || self.look_closer(base, note)
    }

    /// Checks a value completely.
    #[inline(never)]
    fn look_closer(&mut self, base: usize, note: u32) -> bool {
        self.closer_looks = true;
        let (position, slot) = parts(note);
        let position = base + position;
        let (value, tag) = (self.message.value(position), self.message.tags()[position]);
        let found = if value.is_empty() {
            // R-REJECT-9
            Err((Check::EmptyValue, Reason::TAG_SPECIFIED_WITHOUT_A_VALUE))
        } else {
            if self.plan.has_identifiers && self.policy.type_rules() == TypeRules::Standard {
                match self.plan.field(slot).kind {
                    DataType::Xid => self.identifiers.push(position),
                    DataType::XidRef => self.references.push(position),
                    _ => {}
                }
            }
            self.plan.value_is_right(tag, slot, value, self.policy)
        };
        let Err((check, reason)) = found else { return true };
        let is_wrong_length = || super::walk::is_wrong_length(self.message, position);
        // A number that is too large for a length is one that is wrong.
        let is_other =
            check != Check::EmptyValue && self.policy.makes(Check::DataLength) && is_wrong_length();
        if self.policy.makes(check) && !is_other {
            self.wrong.push(WrongValue { position, check, reason });
        }
        false
    }
}

#[inline(always)]
pub(crate) const fn note_of(position: usize, slot: u16) -> u32 {
    position as u32 | (slot as u32) << 16
}

/// Returns what is noted for a step.
#[inline(always)]
fn noted<'n>(notes: &'n [u32; KINDS * Steps::FIELDS], ends: &[u16; KINDS], step: Step) -> &'n [u32] {
    let (kinds, _) = notes.as_chunks::<{ Steps::FIELDS }>();
    &kinds[step as usize][..usize::from(ends[step as usize] - Steps::STARTS[step as usize])]
}

/// Returns position and slot of a note.
#[inline(always)]
const fn parts(note: u32) -> (usize, u16) {
    ((note & 0xFFFF) as usize, (note >> 16) as u16)
}

/// Returns a number that no other value has, unless the value is longer than eight bytes.
#[inline(always)]
fn short_word(message: &Message<'_>, position: usize) -> Option<u64> {
    Word::of(message, position).and_then(identity)
}

/// Returns whether the value at `position` is the count of a group.
#[inline(always)]
fn is_count(message: &Message<'_>, position: usize) -> bool {
    Word::of(message, position).is_some_and(Word::is_digits)
        || NumInGroup::from_field(message.value(position)).is_ok()
}

/// Returns whether the value at `position` is the length of the one after it.
fn is_length_of_next(message: &Message<'_>, position: usize) -> bool {
    let next = position + 1;
    let length = || match Word::of(message, position).and_then(Word::plain_number) {
        Some(length) => Some(length),
        None => u64::from_field(message.value(position)).ok(),
    };
    next < message.len() && length() == Some(message.value(next).len() as u64)
}
