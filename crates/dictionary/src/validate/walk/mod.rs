//! The walk over a message, which finds the scope of each field and what is wrong with the
//! structure. Values are checked by the [steps](super::steps) that it notes; only counts, and
//! lengths of data, are read here.
//!
//! Groups are frames on a stack that never grows beyond the dictionary's depth. A field belongs to
//! the innermost open group that has it and has not seen it, else to an outer one (which closes
//! those inside it), else to body, trailer or header.

mod data;
mod plain;

use std::fmt;

use fixbolt_codec::plumbing::PlacePlumbing as _;
use fixbolt_codec::{FaultKind, FromField, Message, NumInGroup, Place, Section};

use crate::model::sort_positions;
use crate::reject_codes::SessionRejectCode as Reason;
use crate::validate::entry_order::{EntryOrder, ExpectedOrder};
use crate::validate::findings::{Findings, WrongValue};
use crate::validate::learned::Learned;
use crate::validate::look::Word;
use crate::validate::plan::{Cell, FieldRule, HEADER, NONE, Plan, Row, TRAILER};
use crate::validate::policy::{Action, Check, Policy, Requirements};
use crate::validate::steps::{Steps, Values, note_of};
use crate::validate::{RefTag, Violation};

/// The memory of a walk: open groups, and members seen.
/// [`Validator::scratch`](crate::Validator::scratch) creates one. Between messages it holds only
/// the layouts of some, which do not affect the results.
#[derive(Clone)]
pub struct Scratch {
    frames: Vec<Frame>,
    /// Bit sets: header, body, trailer, then one for each open group.
    seen: Vec<u64>,
    /// Positions of identifiers and of references to them.
    pub(crate) identifiers: Vec<usize>,
    pub(crate) references: Vec<usize>,
    /// The place of each field of the message that was walked last.
    pub(crate) places: Vec<Place>,
    /// What was found wrong with it.
    pub(crate) findings: Findings,
    pub(crate) learned: Learned,
}

impl fmt::Debug for Scratch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scratch").finish_non_exhaustive()
    }
}

impl Scratch {
    pub(crate) fn new(plan: &Plan) -> Scratch {
        let words = plan.message_words + plan.depth * plan.entry_words;
        // Enough for most instruments; a message with more makes it grow once.
        let identifiers = if plan.has_identifiers { 256 } else { 0 };
        Scratch {
            frames: Vec::with_capacity(plan.depth),
            seen: vec![0; words],
            identifiers: Vec::with_capacity(identifiers),
            references: Vec::with_capacity(identifiers),
            places: Vec::with_capacity(256),
            findings: Findings::new(),
            learned: Learned::new(),
        }
    }

    /// Forgets the layouts of messages, so that the next message of each is walked. For
    /// measurements.
    pub fn forget(&mut self) {
        self.learned.forget();
    }

    /// Enough for a second dictionary, too.
    pub(crate) fn grow_to(&mut self, other: &Scratch) {
        self.frames.reserve(other.frames.capacity());
        self.seen.resize(self.seen.len().max(other.seen.len()), 0);
        self.identifiers.reserve(other.identifiers.capacity());
        self.references.reserve(other.references.capacity());
    }
}

/// An open group.
#[derive(Clone, Copy)]
struct Frame {
    scope: u32,
    row: Row,
    /// The value of the count field; `None` if it is not a number.
    announced: Option<u32>,
    /// Number of entries begun.
    entries: u32,
    /// The last member of the entry so far, in the order of the dictionary.
    last: u16,
    /// Slot of the field that begins each entry: [`NONE`] before the first entry of a group that
    /// is read as sent.
    delimiter: u16,
    /// Position of the count field.
    position: usize,
    /// Whether the group needs an entry in its place.
    required: bool,
    /// Whether the required members of its entries are checked.
    enforced: bool,
    /// Whether its order was found to differ from that of the dictionary, although it is read as
    /// sent.
    differs: bool,
    section: Section,
}

pub(crate) struct Walk<'r, 'm> {
    plan: &'r Plan,
    message: &'r Message<'m>,
    policy: &'r Policy,
    frames: &'r mut Vec<Frame>,
    seen: &'r mut [u64],
    /// The place of each field up to here.
    places: &'r mut [Place],
    steps: &'r mut Steps,
    /// The first field that is noted in the steps.
    base: usize,
    findings: &'r mut Findings,
    /// How many fields the walk has come to.
    come_to: usize,
    body: Option<u32>,
    row: Row,
    /// The cells of the message's type.
    cells: &'r [Cell],
    section: Section,
    /// Whether the walk has met the wrong length that is the message's fault.
    met_wrong_length: bool,
}

impl Scratch {
    /// Walks over the message and leaves the place of each field in the scratch, and what is wrong
    /// with the message.
    pub(crate) fn walk(&mut self, plan: &Plan, message: &Message<'_>, policy: &Policy) {
        let Scratch { frames, seen, identifiers, references, places, findings, learned } = self;
        let Learned { steps, dates, .. } = learned;
        frames.clear();
        steps.clear();
        places.resize(message.len(), Place::new(0, Section::Header, 0));
        let body = plan.body(message.msg_type());
        seen[..body.map_or(plan.message_words, |body| plan.words_of_message(body))].fill(0);
        let mut values = std::mem::take(&mut findings.values);
        let mut walk = Walk {
            plan,
            message,
            policy,
            frames,
            seen,
            places,
            steps,
            base: 0,
            findings,
            come_to: 0,
            body,
            row: body.map_or(Row::EMPTY, |body| plan.scope(body).row),
            cells: body.map_or(&[], |body| plan.message_cells(body)),
            section: Section::Header,
            met_wrong_length: false,
        };
        if body.is_none() {
            // R-REJECT-17
            walk.raise(Check::MsgType, Reason::INVALID_MSG_TYPE, RefTag::Number(35), Some(2));
        }
        let checks_values = policy.checks_values();
        identifiers.clear();
        references.clear();
        loop {
            let until = message.len().min(walk.base + Steps::FIELDS);
            walk.fields(until);
            if checks_values {
                let (wrong, base) = (&mut values, walk.base);
                let at_first = wrong.len();
                let mut checked = Values {
                    plan,
                    message,
                    policy,
                    dates,
                    wrong,
                    identifiers,
                    references,
                    closer_looks: false,
                };
                walk.steps.forget();
                walk.steps.check(&mut checked, base, false);
                sort(&mut values[at_first..]);
            }
            if until == message.len() {
                break;
            }
            walk.steps.clear();
            walk.base = until;
        }
        walk.finish();
        if policy.makes(Check::DataType) && !(identifiers.is_empty() && references.is_empty()) {
            walk.identified(identifiers, references);
        }
        findings.values = values;
    }
}

/// Sorts wrong values by position.
#[inline]
pub(crate) fn sort(values: &mut [WrongValue]) {
    if values.len() > 1 {
        values.sort_unstable_by_key(|value| value.position);
    }
}

impl Walk<'_, '_> {
    /// Walks over the fields from the first that is noted up to this position.
    #[inline(always)]
    fn fields(&mut self, until: usize) {
        let tags = &self.message.tags()[..until];
        let mut position = self.base;
        while position < until {
            position = if self.frames.is_empty() {
                self.plain_fields(position, until)
            } else {
                self.plain_members(position, until)
            };
            let Some(&tag) = tags.get(position) else { break };
            if !self.frames.is_empty() && self.leave_groups(tag) {
                continue;
            }
            self.come_to = position + 1;
            self.places[position] = self.field(position, tag);
            position += 1;
        }
    }

    /// Closes what is open at the end of the message, and finds what is missing.
    fn finish(&mut self) {
        self.come_to = self.message.len();
        while !self.frames.is_empty() {
            self.close_group();
        }
        self.unread_length();
        if self.policy.makes(Check::RequiredField) && self.lacks_fields() {
            for (section, scope) in [
                (Section::Header, Some(HEADER)),
                (Section::Trailer, Some(TRAILER)),
                (Section::Body, self.body),
            ] {
                if let Some(scope) = scope {
                    self.missing(scope, self.seen_in(section), Check::RequiredField);
                }
            }
        }
    }

    /// Returns whether a required field outside groups may be missing.
    #[inline]
    fn lacks_fields(&self) -> bool {
        let Some(body) = self.body else { return true };
        let required = self.plan.required_in_message(body, self.policy.requirements());
        required.iter().zip(&*self.seen).any(|(required, seen)| required & !seen != 0)
    }

    /// An XID is unique in the message, and an XIDREF has the value of one.
    #[cold]
    fn identified(&mut self, identifiers: &mut [usize], references: &mut [usize]) {
        let message = self.message;
        let value = |position: usize| message.value(position);
        sort_positions(identifiers, &|one, other| value(one).cmp(value(other)).then(one.cmp(&other)));
        let again = identifiers.windows(2).filter(|two| value(two[0]) == value(two[1])).map(|two| two[1]);
        let known =
            |position: usize| identifiers.binary_search_by(|at| value(*at).cmp(value(position))).is_ok();
        let lost = references.iter().copied().filter(|position| !known(*position));
        let mut wrong: Vec<usize> = again.chain(lost).collect();
        sort_positions(&mut wrong, &|one, other| one.cmp(&other));
        for position in wrong {
            let tag = RefTag::Number(self.message.tags()[position]);
            self.raise(Check::DataType, Reason::VALUE_IS_INCORRECT, tag, Some(position));
        }
    }

    /// Takes the next field, whatever it is, and returns its place.
    fn field(&mut self, position: usize, tag: u32) -> Place {
        let plan = self.plan;
        let Some(slot) = plan.slot(tag) else { return self.unknown(position, tag) };
        let rule = plan.field(slot);
        self.steps.note(rule.step as usize, note_of(position - self.base, slot));
        self.structure(position, tag, slot, rule)
    }

    /// Handles a field that is not in the dictionary.
    #[cold]
    fn unknown(&mut self, position: usize, tag: u32) -> Place {
        let place = self.place_here(tag);
        if tag == 0 {
            // R-REJECT-6
            self.raise(Check::TagSyntax, Reason::INVALID_TAG_NUMBER, RefTag::Number(0), Some(position));
        } else {
            // R-REJECT-6
            let check = if tag >= FIRST_USER_TAG { Check::UserDefinedTag } else { Check::UnknownTag };
            self.raise(check, Reason::INVALID_TAG_NUMBER, RefTag::Number(tag), Some(position));
        }
        place
    }

    /// Finds the place of a field and checks that it may be there.
    #[inline(always)]
    fn structure(&mut self, position: usize, tag: u32, slot: u16, rule: &FieldRule) -> Place {
        if !self.frames.is_empty()
            && let Some((level, member)) = self.open_group_of(slot)
        {
            while self.frames.len() > level + 1 {
                self.close_group();
            }
            return self.in_group(position, tag, slot, rule, member);
        }
        let plan = self.plan;
        let in_header = || rule.header().map(|member| (Section::Header, member));
        let in_body = || plan.member_of(self.row, slot).map(|member| (Section::Body, member));
        let in_trailer = || rule.trailer().map(|member| (Section::Trailer, member));
        let found = match self.section {
            Section::Header => in_header().or_else(in_body).or_else(in_trailer),
            Section::Body | Section::Trailer => in_body().or_else(in_trailer).or_else(in_header),
        };
        let Some((section, member)) = found else { return self.outside(position, tag) };
        while !self.frames.is_empty() {
            self.close_group();
        }
        // R-REJECT-12
        if section < self.section {
            let reason = Reason::TAG_SPECIFIED_OUT_OF_REQUIRED_ORDER;
            self.raise(Check::SectionOrder, reason, RefTag::Number(tag), Some(position));
        } else {
            self.section = section;
        }
        let mut place = Place::new(tag, section, 0);
        if self.mark(self.seen_in(section), member) {
            let reason = Reason::TAG_APPEARS_MORE_THAN_ONCE;
            // R-REJECT-13
            self.raise(Check::DuplicateTag, reason, RefTag::Number(tag), Some(position));
            place = place.repeated();
        }
        if rule.has_others {
            let scope = match section {
                Section::Header => HEADER,
                Section::Body => self.body.unwrap_or_default(),
                Section::Trailer => TRAILER,
            };
            return self.others(position, scope, member, place);
        }
        place
    }

    /// Handles a field that is not a member of the message.
    #[cold]
    fn outside(&mut self, position: usize, tag: u32) -> Place {
        let place = self.place_here(tag);
        self.data_length(position);
        if self.body.is_none() {
            // For an unknown message no one knows whether the field belongs to it.
            self.section = self.section.max(Section::Body);
            return place;
        }
        // R-REJECT-8
        let reason = Reason::TAG_NOT_DEFINED_FOR_THIS_MESSAGE_TYPE;
        let by_agreement = (FIRST_USER_TAG..FIRST_LATER_TAG).contains(&tag);
        let check = if by_agreement { Check::UserDefinedTag } else { Check::TagNotInMessage };
        self.raise(check, reason, RefTag::Number(tag), Some(position));
        place
    }

    /// Returns the innermost open group that has the field and has not seen it. If all have seen
    /// it, returns the innermost that has it, unless the field has a place outside groups.
    fn open_group_of(&self, slot: u16) -> Option<(usize, u16)> {
        let mut crowded = None;
        for level in (0..self.frames.len()).rev() {
            let frame = &self.frames[level];
            let Some(member) = self.plan.member_of(frame.row, slot) else { continue };
            let is_full = frame.announced.is_some_and(|announced| frame.entries >= announced);
            // Before the first entry nothing has been seen: the bits are those of another group.
            let begins = frame.entries == 0 || slot == frame.delimiter;
            if !is_full || !(begins || self.is_marked(self.seen_of(level), member)) {
                return Some((level, member));
            }
            crowded = crowded.or(Some((level, member)));
        }
        let has_place = |member: Option<u16>, section: Section| {
            member.is_some_and(|member| !self.is_marked(self.seen_in(section), member))
        };
        let has_place_outside = crowded.is_some()
            && (has_place(self.plan.member_of(self.row, slot), Section::Body)
                || has_place(self.plan.field(slot).trailer(), Section::Trailer));
        crowded.filter(|_| !has_place_outside)
    }

    /// Handles a field of the innermost open group.
    fn in_group(&mut self, position: usize, tag: u32, slot: u16, rule: &FieldRule, member: u16) -> Place {
        let level = self.frames.len() - 1;
        let Frame { scope, announced, entries, last, delimiter, section, .. } = self.frames[level];
        let seen = self.seen_of(level);
        // R-REJECT-15
        let begins = if slot == delimiter {
            true
        } else if entries == 0 {
            self.begins_strangely(position, tag, slot, member);
            true
        } else if self.is_marked(seen, member) {
            // If another entry is expected, it has begun without its first field.
            let another = announced.is_some_and(|announced| entries < announced);
            if another {
                let first = self.plan.tag_of(scope, delimiter);
                self.out_of_order(Check::GroupDelimiter, tag, position, ExpectedOrder::First(first));
            } else {
                let reason = Reason::TAG_APPEARS_MORE_THAN_ONCE;
                self.raise(Check::DuplicateTag, reason, RefTag::Number(tag), Some(position));
            }
            another
        } else {
            if member < last {
                self.belongs_before(position, tag);
            }
            false
        };
        let mut place = Place::new(tag, section, level + 1);
        if begins {
            self.begin_entry(level);
            place = place.beginning_entry();
        }
        if self.mark(seen, member) {
            place = place.repeated();
        }
        let frame = &mut self.frames[level];
        frame.last = frame.last.max(member);
        if rule.has_others { self.others(position, scope, member, place) } else { place }
    }

    /// Handles the first field of a group, which is not the dictionary's first field. In a group
    /// that is read as sent it begins the other entries, too.
    #[cold]
    fn begins_strangely(&mut self, position: usize, tag: u32, slot: u16, member: u16) {
        let Some(frame) = self.frames.last_mut() else { return };
        let first = ExpectedOrder::First(self.plan.member_rule(frame.scope, 0).tag);
        if frame.delimiter != NONE {
            return self.out_of_order(Check::GroupDelimiter, tag, position, first);
        }
        frame.delimiter = slot;
        if member == 0 {
            return;
        }
        frame.differs = true;
        self.out_of_order(Check::GroupAsSent, tag, position, first)
    }

    /// Handles a field that the dictionary has before another one of the entry. Of a group that is
    /// read as sent, the first difference is reported.
    #[cold]
    fn belongs_before(&mut self, position: usize, tag: u32) {
        let Some(frame) = self.frames.last_mut() else { return };
        let before = ExpectedOrder::Before(self.plan.member_rule(frame.scope, frame.last).tag);
        if !self.plan.is_as_sent(frame.scope) {
            return self.out_of_order(Check::GroupOrder, tag, position, before);
        }
        if std::mem::replace(&mut frame.differs, true) {
            return;
        }
        self.out_of_order(Check::GroupAsSent, tag, position, before)
    }

    fn begin_entry(&mut self, level: usize) {
        self.finish_entry(level);
        let seen = self.seen_of(level);
        let frame = &mut self.frames[level];
        frame.entries += 1;
        frame.last = 0;
        let words = self.plan.words(frame.scope);
        self.seen[seen..seen + words].fill(0);
    }

    fn finish_entry(&mut self, level: usize) {
        let frame = self.frames[level];
        if frame.entries == 0 || !frame.enforced {
            return;
        }
        self.missing(frame.scope, self.seen_of(level), Check::RequiredInGroup)
    }

    fn close_group(&mut self) {
        let Some(level) = self.frames.len().checked_sub(1) else { return };
        self.finish_entry(level);
        let frame = self.frames[level];
        self.frames.pop();
        // NoXXX=0 is accepted if the group is optional. R-REJECT-14
        let wrong = match frame.announced {
            Some(0) => frame.entries > 0 || frame.required,
            Some(announced) => announced != frame.entries,
            None => false,
        };
        if wrong {
            self.wrong_count(frame);
        }
        if self.frames.is_empty() {
            self.findings.report_held();
        }
    }

    // R-REJECT-14
    #[cold]
    #[inline(never)]
    fn wrong_count(&mut self, frame: Frame) {
        let (check, reason) = (Check::GroupCount, Reason::INCORRECT_NUM_IN_GROUP_COUNT_FOR_REPEATING_GROUP);
        let action = self.policy.action(check);
        if action != Action::Ignore {
            let tag = RefTag::Number(self.plan.scope(frame.scope).count_tag);
            let position = Some(frame.position);
            self.findings.hold(Violation { check, action, reason, tag, position, order: None });
        }
    }

    /// Opens the group that the field counts, or checks it with its partner, if it has one here.
    fn others(&mut self, position: usize, scope: u32, member: u16, place: Place) -> Place {
        let rule = self.plan.member_rule(scope, member);
        let Some(group) = rule.group() else {
            self.data_length(position);
            return place;
        };
        let announced = match Word::of(self.message, position).and_then(Word::plain_number) {
            Some(count) => u32::try_from(count).ok(),
            None => NumInGroup::from_field(self.message.value(position)).ok().map(|count| count.0),
        };
        let standard = self.policy.requirements() == Requirements::Standard;
        let scope = self.plan.scope(group);
        self.frames.push(Frame {
            scope: group,
            row: scope.row,
            announced,
            entries: 0,
            last: 0,
            delimiter: scope.delimiter,
            position,
            required: rule.required && standard,
            enforced: (rule.marked || standard) && self.policy.makes(Check::RequiredInGroup),
            differs: false,
            section: place.section(),
        });
        place.counting_group()
    }

    /// Returns the place of a field that has none of its own: it stands where the walk is.
    fn place_here(&self, tag: u32) -> Place {
        let (section, depth) = match self.frames.last() {
            Some(frame) if frame.entries > 0 => (frame.section, self.frames.len()),
            _ => (self.section, self.frames.len().saturating_sub(1)),
        };
        Place::new(tag, section, depth).undefined()
    }

    /// Returns whether a required member was not seen.
    #[inline(always)]
    fn lacks(&self, scope: u32, seen: usize) -> bool {
        let required = self.plan.required(scope, self.policy.requirements());
        required.iter().zip(&self.seen[seen..]).any(|(required, seen)| required & !seen != 0)
    }

    /// Reports the required members that were not seen, ascending by tag (QuickFIX's order).
    // R-REJECT-7
    #[inline]
    fn missing(&mut self, scope: u32, seen: usize, check: Check) {
        if !self.lacks(scope, seen) {
            return;
        }
        let required = self.plan.required(scope, self.policy.requirements());
        let mut reported = 0;
        loop {
            let members = self.plan.members_of(scope).iter().enumerate();
            let lacks = |at: usize| required[at / 64] & !self.seen[seen + at / 64] & (1 << (at % 64)) != 0;
            let tag = members
                .filter(|&(at, rule)| rule.tag > reported && lacks(at))
                .map(|(_, rule)| rule.tag)
                .min();
            let Some(tag) = tag else { return };
            self.raise(check, Reason::REQUIRED_TAG_MISSING, RefTag::Number(tag), None);
            reported = tag;
        }
    }

    /// Returns the position of the bit set of a section.
    #[inline]
    fn seen_in(&self, section: Section) -> usize {
        self.plan.words_before(section)
    }

    /// Returns the position of the bit set of an open group.
    #[inline]
    fn seen_of(&self, level: usize) -> usize {
        self.plan.message_words + level * self.plan.entry_words
    }

    #[inline]
    fn is_marked(&self, seen: usize, member: u16) -> bool {
        self.seen[seen + usize::from(member / 64)] & (1 << (member % 64)) != 0
    }

    /// Marks a member as seen and returns whether it was before.
    #[inline]
    fn mark(&mut self, seen: usize, member: u16) -> bool {
        let word = &mut self.seen[seen + usize::from(member / 64)];
        let bit = 1 << (member % 64);
        let before = *word & bit != 0;
        *word |= bit;
        before
    }

    #[cold]
    #[inline(never)]
    fn raise(&mut self, check: Check, reason: Reason, tag: RefTag<'_>, position: Option<usize>) {
        let action = self.policy.action(check);
        if action != Action::Ignore {
            self.found(Violation { check, action, reason, tag, position, order: None });
        }
    }

    /// Reports a field of the innermost open group that is not in the expected order.
    #[cold]
    #[inline(never)]
    fn out_of_order(&mut self, check: Check, tag: u32, position: usize, expected: ExpectedOrder) {
        let (action, frame) = (self.policy.action(check), self.frames.last());
        let (false, Some(frame)) = (action == Action::Ignore, frame) else {
            return;
        };
        let begins = matches!(expected, ExpectedOrder::First(_));
        let order = EntryOrder {
            count_tag: self.plan.scope(frame.scope).count_tag,
            entry: frame.entries + u32::from(begins),
            expected,
            as_sent: self.plan.is_as_sent(frame.scope),
        };
        self.found(Violation {
            check,
            action,
            reason: Reason::REPEATING_GROUP_FIELDS_OUT_OF_ORDER,
            tag: RefTag::Number(tag),
            position: Some(position),
            order: Some(order),
        })
    }

    fn found(&mut self, violation: Violation<'_>) {
        self.findings.add(violation, self.come_to, !self.frames.is_empty());
    }
}

/// Returns whether the field is the message's fault because its value is a number, but not the
/// length of the data after it.
pub(crate) fn is_wrong_length(message: &Message<'_>, position: usize) -> bool {
    let fault = message.fault();
    fault.is_some_and(|fault| fault.kind == FaultKind::DataLength && fault.field == position)
}

/// Tags from here on are for agreements between firms, unless the dictionary defines them.
const FIRST_USER_TAG: u32 = 5000;

/// From here on the standard defines fields again (40000 and 50000).
const FIRST_LATER_TAG: u32 = 40_000;
