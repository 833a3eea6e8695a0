//! The walk as it was before it looked at values at a glance and learned on its way: the oracle for
//! [`Walk`](super::walk::Walk), which must find the same places and report the same.

use std::ops::ControlFlow;

use fixbolt_codec::plumbing::PlacePlumbing as _;
use fixbolt_codec::{DataFields, FaultKind, FromField, Message, NumInGroup, Place, Section};

use super::entry_order::{EntryOrder, ExpectedOrder};
use super::plan::{HEADER, MemberRule, NONE, Partner, Plan, TRAILER};
use super::policy::{Action, Check, Policy, Requirements, TypeRules};
use super::{RefTag, Violation};
use crate::data_type::DataType;
use crate::model::sort_positions;
use crate::reject_codes::SessionRejectCode as Reason;

/// Returns what is wrong with a message, and the places of its fields.
pub(super) fn walk<'m>(
    plan: &Plan,
    message: &Message<'m>,
    policy: &Policy,
) -> (Vec<Violation<'m>>, Vec<Place>) {
    let (mut found, mut scratch) = (Vec::new(), Scratch::default());
    scratch.seen = vec![0; 3 * plan.message_words + plan.depth * plan.entry_words];
    let mut report = |violation| {
        found.push(violation);
        ControlFlow::Continue(())
    };
    let _ = Walk::new(plan, message, policy, &mut scratch, &mut report).run();
    (found, scratch.places)
}

#[derive(Default)]
struct Scratch {
    frames: Vec<Frame>,
    /// Bit sets: header, trailer, body, then one for each open group.
    seen: Vec<u64>,
    identifiers: Vec<usize>,
    references: Vec<usize>,
    places: Vec<Place>,
}

/// An open group.
#[derive(Clone, Copy)]
struct Frame {
    scope: u32,
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

struct Walk<'r, 'm> {
    plan: &'r Plan,
    message: &'r Message<'m>,
    policy: &'r Policy,
    scratch: &'r mut Scratch,
    /// Called for what is wrong, which is rare: a concrete type keeps the walk from being compiled
    /// once for each caller.
    report: &'r mut dyn FnMut(Violation<'m>) -> ControlFlow<()>,
    body: Option<u32>,
    section: Section,
    /// The place of each field up to here; the scratch's, which gets them back.
    places: Vec<Place>,
    /// Wrong values in the open groups: whether the count fields before them are wrong is known
    /// when the groups end, unless an entry has the wrong fields, which makes its group's count
    /// meaningless.
    held: Vec<Violation<'m>>,
    /// Whether the walk has met the wrong length that is the message's fault.
    met_wrong_length: bool,
}

impl<'r, 'm> Walk<'r, 'm> {
    fn new(
        plan: &'r Plan,
        message: &'r Message<'m>,
        policy: &'r Policy,
        scratch: &'r mut Scratch,
        report: &'r mut dyn FnMut(Violation<'m>) -> ControlFlow<()>,
    ) -> Self {
        scratch.frames.clear();
        scratch.seen[..3 * plan.message_words].fill(0);
        scratch.identifiers.clear();
        scratch.references.clear();
        let mut places = std::mem::take(&mut scratch.places);
        places.resize(message.len(), Place::new(0, Section::Header, 0));
        let body = plan.body(message.msg_type());
        Walk {
            plan,
            message,
            policy,
            scratch,
            report,
            body,
            section: Section::Header,
            places,
            held: Vec::new(),
            met_wrong_length: false,
        }
    }

    /// Walks over the message and leaves the place of each field in the scratch, unless a report
    /// ends the walk.
    fn run(mut self) -> ControlFlow<()> {
        let outcome = self.walk();
        self.scratch.places = self.places;
        outcome
    }

    fn walk(&mut self) -> ControlFlow<()> {
        if self.body.is_none() {
            self.raise(Check::MsgType, Reason::INVALID_MSG_TYPE, RefTag::Number(35), Some(2))?;
        }
        for (position, &tag) in self.message.tags().iter().enumerate() {
            self.field(position, tag)?;
        }
        while !self.scratch.frames.is_empty() {
            self.close_group()?;
        }
        self.unread_length()?;
        if self.policy.makes(Check::RequiredField) {
            for (at, scope) in [(0, Some(HEADER)), (1, Some(TRAILER)), (2, self.body)] {
                if let Some(scope) = scope {
                    let seen = at * self.plan.message_words;
                    self.missing(scope, seen, Check::RequiredField)?;
                }
            }
        }
        self.identified()
    }

    /// The index knows data fields that the dictionary may not have. Its fault is the first that it
    /// found, so a wrong length may also come after that.
    fn unread_length(&mut self) -> ControlFlow<()> {
        let Some(fault) = self.message.fault() else { return ControlFlow::Continue(()) };
        if let Some(violation) = Violation::wrong_length(self.message, self.policy)
            && !self.met_wrong_length
        {
            self.found(violation)?;
        }
        let message = self.message;
        for (at, two) in message.tags().windows(2).enumerate().skip(fault.field + 1) {
            let is_unread = self.plan.slot(two[0]).is_none();
            if is_unread && DataFields::STANDARD.data_tag(two[0]) == Some(two[1]) {
                let (announced, length) = (message.value(at), message.value(at + 1).len() as u64);
                let is_number = !announced.is_empty() && announced.iter().all(u8::is_ascii_digit);
                if is_number && u64::from_field(announced).ok() != Some(length) {
                    let tag = RefTag::Number(two[0]);
                    self.raise(Check::DataLength, Reason::VALUE_IS_INCORRECT, tag, Some(at))?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// An XID is unique in the message, and an XIDREF has the value of one.
    fn identified(&mut self) -> ControlFlow<()> {
        if !self.policy.makes(Check::DataType) {
            return ControlFlow::Continue(());
        }
        let mut identifiers = std::mem::take(&mut self.scratch.identifiers);
        let references = std::mem::take(&mut self.scratch.references);
        let message = self.message;
        let value = |position: usize| message.value(position);
        sort_positions(&mut identifiers, &|one, other| value(one).cmp(value(other)).then(one.cmp(&other)));
        let again = identifiers.windows(2).filter(|two| value(two[0]) == value(two[1])).map(|two| two[1]);
        let known =
            |position: usize| identifiers.binary_search_by(|at| value(*at).cmp(value(position))).is_ok();
        let lost = references.iter().copied().filter(|position| !known(*position));
        let mut wrong: Vec<usize> = again.chain(lost).collect();
        sort_positions(&mut wrong, &|one, other| one.cmp(&other));
        let outcome = wrong.into_iter().try_for_each(|position| {
            let tag = RefTag::Number(self.message.tags()[position]);
            self.raise(Check::DataType, Reason::VALUE_IS_INCORRECT, tag, Some(position))
        });
        (self.scratch.identifiers, self.scratch.references) = (identifiers, references);
        outcome
    }

    fn field(&mut self, position: usize, tag: u32) -> ControlFlow<()> {
        if tag == 0 {
            self.place_here(position, tag);
            let as_sent = RefTag::AsSent(tag_bytes(self.message.field_bytes(position)));
            return self.raise(Check::TagSyntax, Reason::INVALID_TAG_NUMBER, as_sent, Some(position));
        }
        let Some(slot) = self.plan.slot(tag) else {
            self.place_here(position, tag);
            let check = if tag >= FIRST_USER_TAG { Check::UserDefinedTag } else { Check::UnknownTag };
            return self.raise(check, Reason::INVALID_TAG_NUMBER, RefTag::Number(tag), Some(position));
        };
        let value = self.message.value(position);
        if value.is_empty() {
            let reason = Reason::TAG_SPECIFIED_WITHOUT_A_VALUE;
            self.raise(Check::EmptyValue, reason, RefTag::Number(tag), Some(position))?;
        } else {
            self.value(position, tag, slot, value)?;
        }
        self.structure(position, tag, slot)
    }

    /// A data field follows directly after its length, which is that of its value. What is missing
    /// is reported with its tag in the place where its partner is.
    fn data_length(&mut self, position: usize) -> ControlFlow<()> {
        let tags = self.message.tags();
        let tag = tags[position];
        let Some(partner) = self.plan.slot(tag).and_then(|slot| self.plan.partner(slot)) else {
            return ControlFlow::Continue(());
        };
        // The nearest of both fields, if it is the other one.
        let is_either = |at: &usize, wanted: u32| tags[*at] == tag || tags[*at] == wanted;
        let after = |wanted: u32| {
            let nearest = (position + 1..tags.len()).find(|at| is_either(at, wanted));
            nearest.filter(|at| tags[*at] == wanted)
        };
        let before = |wanted: u32| {
            let nearest = (0..position).rev().find(|at| is_either(at, wanted));
            nearest.filter(|at| tags[*at] == wanted)
        };
        let missing = |wanted| (Check::DataLength, Reason::REQUIRED_TAG_MISSING, wanted, None);
        let found = match partner {
            Partner::Data(data) => match after(data) {
                Some(at) => {
                    let announced = u64::from_field(self.message.value(position));
                    let is_fault = self.is_wrong_length(position);
                    self.met_wrong_length |= is_fault;
                    let is_wrong = match announced {
                        Ok(length) => length != self.message.value(at).len() as u64,
                        // Where lengths are of type int, -1 is a number.
                        Err(_) => is_fault || self.passes(position, tag),
                    };
                    if is_wrong {
                        Some((Check::DataLength, Reason::VALUE_IS_INCORRECT, tag, Some(position)))
                    } else if at == position + 1 {
                        None
                    } else {
                        Some((Check::DataLength, Reason::TAG_SPECIFIED_OUT_OF_REQUIRED_ORDER, data, Some(at)))
                    }
                }
                // If the data field is before it, that one was reported.
                None if before(data).is_some() => None,
                None => Some(missing(data)),
            },
            Partner::Length(length) => {
                if before(length).is_some() {
                    None
                } else if after(length).is_some() {
                    let check = if tag < length { Check::DataBeforeLength } else { Check::DataLength };
                    Some((check, Reason::TAG_SPECIFIED_OUT_OF_REQUIRED_ORDER, tag, Some(position)))
                } else {
                    Some(missing(length))
                }
            }
        };
        match found {
            Some((check, reason, tag, at)) => self.raise(check, reason, RefTag::Number(tag), at),
            None => ControlFlow::Continue(()),
        }
    }

    /// Returns whether the field is the message's fault because its value is a number, but not the
    /// length of the data after it.
    fn is_wrong_length(&self, position: usize) -> bool {
        let fault = self.message.fault();
        fault.is_some_and(|fault| fault.kind == FaultKind::DataLength && fault.field == position)
    }

    /// Returns whether nothing was found wrong with a value by itself.
    fn passes(&self, position: usize, tag: u32) -> bool {
        let value = self.message.value(position);
        let is_right = |slot| self.plan.value_is_right(tag, slot, value, self.policy).is_ok();
        !value.is_empty() && self.plan.slot(tag).is_some_and(is_right)
    }

    fn value(&mut self, position: usize, tag: u32, slot: u16, value: &[u8]) -> ControlFlow<()> {
        if self.plan.has_identifiers && self.policy.type_rules() == TypeRules::Standard {
            match self.plan.field(slot).kind {
                DataType::Xid => self.scratch.identifiers.push(position),
                DataType::XidRef => self.scratch.references.push(position),
                _ => {}
            }
        }
        match self.plan.value_is_right(tag, slot, value, self.policy) {
            Ok(()) => ControlFlow::Continue(()),
            // A number that is too large for a length is one that is wrong.
            Err(_) if self.is_wrong_length(position) && self.policy.makes(Check::DataLength) => {
                ControlFlow::Continue(())
            }
            Err((check, reason)) => self.raise(check, reason, RefTag::Number(tag), Some(position)),
        }
    }

    fn structure(&mut self, position: usize, tag: u32, slot: u16) -> ControlFlow<()> {
        if !self.scratch.frames.is_empty()
            && let Some((level, member)) = self.open_group_of(slot)
        {
            while self.scratch.frames.len() > level + 1 {
                self.close_group()?;
            }
            return self.in_group(position, tag, slot, member);
        }
        let in_header = || self.plan.member(HEADER, slot).map(|member| (Section::Header, 0, HEADER, member));
        let in_body = || {
            let scope = self.body?;
            self.plan.member(scope, slot).map(|member| (Section::Body, 2, scope, member))
        };
        let in_trailer =
            || self.plan.member(TRAILER, slot).map(|member| (Section::Trailer, 1, TRAILER, member));
        let found = match self.section {
            Section::Header => in_header().or_else(in_body).or_else(in_trailer),
            Section::Body | Section::Trailer => in_body().or_else(in_trailer).or_else(in_header),
        };
        let Some((section, set, scope, member)) = found else {
            self.place_here(position, tag);
            self.data_length(position)?;
            if self.body.is_none() {
                // For an unknown message no one knows whether the field belongs to it.
                self.section = self.section.max(Section::Body);
                return ControlFlow::Continue(());
            }
            let reason = Reason::TAG_NOT_DEFINED_FOR_THIS_MESSAGE_TYPE;
            let by_agreement = (FIRST_USER_TAG..FIRST_LATER_TAG).contains(&tag);
            let check = if by_agreement { Check::UserDefinedTag } else { Check::TagNotInMessage };
            return self.raise(check, reason, RefTag::Number(tag), Some(position));
        };
        while !self.scratch.frames.is_empty() {
            self.close_group()?;
        }
        if section < self.section {
            let reason = Reason::TAG_SPECIFIED_OUT_OF_REQUIRED_ORDER;
            self.raise(Check::SectionOrder, reason, RefTag::Number(tag), Some(position))?;
        } else {
            self.section = section;
        }
        let mut place = Place::new(tag, section, 0);
        if self.mark(set * self.plan.message_words, member) {
            let reason = Reason::TAG_APPEARS_MORE_THAN_ONCE;
            self.raise(Check::DuplicateTag, reason, RefTag::Number(tag), Some(position))?;
            place = place.repeated();
        }
        self.enter(position, scope, member, place)
    }

    /// Returns the innermost open group that has the field and has not seen it. If all have seen
    /// it, returns the innermost that has it, unless the field has a place outside groups.
    fn open_group_of(&self, slot: u16) -> Option<(usize, u16)> {
        let mut crowded = None;
        for level in (0..self.scratch.frames.len()).rev() {
            let frame = &self.scratch.frames[level];
            let Some(member) = self.plan.member(frame.scope, slot) else { continue };
            let is_full = frame.announced.is_some_and(|announced| frame.entries >= announced);
            // Before the first entry nothing has been seen: the bits are those of another group.
            let begins = frame.entries == 0 || slot == frame.delimiter;
            if !is_full || !(begins || self.is_marked(self.seen_of(level), member)) {
                return Some((level, member));
            }
            crowded = crowded.or(Some((level, member)));
        }
        let outside = |scope: u32, set: usize| {
            let member = self.plan.member(scope, slot);
            member.is_some_and(|member| !self.is_marked(set * self.plan.message_words, member))
        };
        let has_place_outside =
            crowded.is_some() && (self.body.is_some_and(|body| outside(body, 2)) || outside(TRAILER, 1));
        crowded.filter(|_| !has_place_outside)
    }

    /// Handles a field of the innermost open group.
    fn in_group(&mut self, position: usize, tag: u32, slot: u16, member: u16) -> ControlFlow<()> {
        let level = self.scratch.frames.len() - 1;
        let frame = self.scratch.frames[level];
        let seen = self.seen_of(level);
        let begins = if slot == frame.delimiter {
            true
        } else if frame.entries == 0 {
            self.begins_strangely(position, tag, slot, member)?;
            true
        } else if self.is_marked(seen, member) {
            // If another entry is expected, it has begun without its first field.
            let another = frame.announced.is_some_and(|announced| frame.entries < announced);
            if another {
                let first = self.plan.tag_of(frame.scope, frame.delimiter);
                self.out_of_order(Check::GroupDelimiter, tag, position, ExpectedOrder::First(first))?;
            } else {
                let reason = Reason::TAG_APPEARS_MORE_THAN_ONCE;
                self.raise(Check::DuplicateTag, reason, RefTag::Number(tag), Some(position))?;
            }
            another
        } else {
            if member < frame.last {
                self.belongs_before(position, tag)?;
            }
            false
        };
        let mut place = Place::new(tag, frame.section, level + 1);
        if begins {
            self.begin_entry(level)?;
            place = place.beginning_entry();
        }
        if self.mark(seen, member) {
            place = place.repeated();
        }
        let frame = &mut self.scratch.frames[level];
        frame.last = frame.last.max(member);
        let scope = frame.scope;
        self.enter(position, scope, member, place)
    }

    /// Handles the first field of a group, which is not the dictionary's first field. In a group
    /// that is read as sent it begins the other entries, too.
    fn begins_strangely(&mut self, position: usize, tag: u32, slot: u16, member: u16) -> ControlFlow<()> {
        let Some(frame) = self.scratch.frames.last_mut() else { return ControlFlow::Continue(()) };
        let first = ExpectedOrder::First(self.plan.member_rule(frame.scope, 0).tag);
        if frame.delimiter != NONE {
            return self.out_of_order(Check::GroupDelimiter, tag, position, first);
        }
        frame.delimiter = slot;
        if member == 0 {
            return ControlFlow::Continue(());
        }
        frame.differs = true;
        self.out_of_order(Check::GroupAsSent, tag, position, first)
    }

    /// Handles a field that the dictionary has before another one of the entry. Of a group that is
    /// read as sent, the first difference is reported.
    fn belongs_before(&mut self, position: usize, tag: u32) -> ControlFlow<()> {
        let Some(frame) = self.scratch.frames.last_mut() else { return ControlFlow::Continue(()) };
        let before = ExpectedOrder::Before(self.plan.member_rule(frame.scope, frame.last).tag);
        if !self.plan.is_as_sent(frame.scope) {
            return self.out_of_order(Check::GroupOrder, tag, position, before);
        }
        if std::mem::replace(&mut frame.differs, true) {
            return ControlFlow::Continue(());
        }
        self.out_of_order(Check::GroupAsSent, tag, position, before)
    }

    fn begin_entry(&mut self, level: usize) -> ControlFlow<()> {
        self.finish_entry(level)?;
        let seen = self.seen_of(level);
        let frame = &mut self.scratch.frames[level];
        frame.entries += 1;
        frame.last = 0;
        let words = self.plan.words(frame.scope);
        self.scratch.seen[seen..seen + words].fill(0);
        ControlFlow::Continue(())
    }

    fn finish_entry(&mut self, level: usize) -> ControlFlow<()> {
        let frame = self.scratch.frames[level];
        if frame.entries == 0 || !frame.enforced {
            return ControlFlow::Continue(());
        }
        self.missing(frame.scope, self.seen_of(level), Check::RequiredInGroup)
    }

    fn close_group(&mut self) -> ControlFlow<()> {
        let Some(level) = self.scratch.frames.len().checked_sub(1) else { return ControlFlow::Continue(()) };
        let outcome = self.finish_entry(level);
        let frame = self.scratch.frames[level];
        self.scratch.frames.pop();
        outcome?;
        // NoXXX=0 is accepted if the group is optional.
        let wrong = match frame.announced {
            Some(0) => frame.entries > 0 || frame.required,
            Some(announced) => announced != frame.entries,
            None => false,
        };
        if wrong {
            self.wrong_count(frame);
        }
        if !self.held.is_empty() && self.scratch.frames.is_empty() {
            return self.report_held();
        }
        ControlFlow::Continue(())
    }

    fn wrong_count(&mut self, frame: Frame) {
        let (check, reason) = (Check::GroupCount, Reason::INCORRECT_NUM_IN_GROUP_COUNT_FOR_REPEATING_GROUP);
        let action = self.policy.action(check);
        if action != Action::Ignore {
            let tag = RefTag::Number(self.plan.scope(frame.scope).count_tag);
            let position = Some(frame.position);
            self.held.push(Violation { check, action, reason, tag, position, order: None });
        }
    }

    /// Reports what was kept, in the order of the message.
    fn report_held(&mut self) -> ControlFlow<()> {
        let mut held = std::mem::take(&mut self.held);
        held.sort_by_key(|violation| violation.position);
        held.into_iter().try_for_each(|violation| (self.report)(violation))
    }

    /// Notes the field's place, checks it with its partner if it has one, and opens the group if it
    /// counts one.
    fn enter(&mut self, position: usize, scope: u32, member: u16, place: Place) -> ControlFlow<()> {
        let rule = self.plan.member_rule(scope, member);
        self.places[position] = place;
        self.others(position, rule, place)
    }

    /// Opens the group that the field counts, or checks it with its partner.
    fn others(&mut self, position: usize, rule: &MemberRule, place: Place) -> ControlFlow<()> {
        let Some(group) = rule.group() else { return self.data_length(position) };
        self.places[position] = place.counting_group();
        let announced = NumInGroup::from_field(self.message.value(position)).ok().map(|count| count.0);
        let standard = self.policy.requirements() == Requirements::Standard;
        self.scratch.frames.push(Frame {
            scope: group,
            announced,
            entries: 0,
            last: 0,
            delimiter: self.plan.scope(group).delimiter,
            position,
            required: rule.required && standard,
            enforced: (rule.marked || standard) && self.policy.makes(Check::RequiredInGroup),
            differs: false,
            section: place.section(),
        });
        ControlFlow::Continue(())
    }

    /// Notes that a field has no place of its own: it stands where the walk is.
    fn place_here(&mut self, position: usize, tag: u32) {
        let (section, depth) = match self.scratch.frames.last() {
            Some(frame) if frame.entries > 0 => (frame.section, self.scratch.frames.len()),
            _ => (self.section, self.scratch.frames.len().saturating_sub(1)),
        };
        self.places[position] = Place::new(tag, section, depth).undefined();
    }

    /// Reports the required members that were not seen, ascending by tag (QuickFIX's order).
    fn missing(&mut self, scope: u32, seen: usize, check: Check) -> ControlFlow<()> {
        let required = self.plan.required(scope, self.policy.requirements());
        let missing = |at: usize| required[at] & !self.scratch.seen[seen + at];
        if (0..required.len()).all(|at| missing(at) == 0) {
            return ControlFlow::Continue(());
        }
        let mut reported = 0;
        loop {
            let members = self.plan.members_of(scope).iter().enumerate();
            let lacks =
                |at: usize| required[at / 64] & !self.scratch.seen[seen + at / 64] & (1 << (at % 64)) != 0;
            let tag = members
                .filter(|&(at, rule)| rule.tag > reported && lacks(at))
                .map(|(_, rule)| rule.tag)
                .min();
            let Some(tag) = tag else { return ControlFlow::Continue(()) };
            self.raise(check, Reason::REQUIRED_TAG_MISSING, RefTag::Number(tag), None)?;
            reported = tag;
        }
    }

    /// Returns the position of the bit set of an open group.
    fn seen_of(&self, level: usize) -> usize {
        3 * self.plan.message_words + level * self.plan.entry_words
    }

    fn is_marked(&self, seen: usize, member: u16) -> bool {
        self.scratch.seen[seen + usize::from(member / 64)] & (1 << (member % 64)) != 0
    }

    /// Marks a member as seen and returns whether it was before.
    fn mark(&mut self, seen: usize, member: u16) -> bool {
        let word = &mut self.scratch.seen[seen + usize::from(member / 64)];
        let bit = 1 << (member % 64);
        let before = *word & bit != 0;
        *word |= bit;
        before
    }

    fn raise(
        &mut self,
        check: Check,
        reason: Reason,
        tag: RefTag<'m>,
        position: Option<usize>,
    ) -> ControlFlow<()> {
        match self.policy.action(check) {
            Action::Ignore => ControlFlow::Continue(()),
            action => self.found(Violation { check, action, reason, tag, position, order: None }),
        }
    }

    /// Reports a field of the innermost open group that is not in the expected order.
    fn out_of_order(
        &mut self,
        check: Check,
        tag: u32,
        position: usize,
        expected: ExpectedOrder,
    ) -> ControlFlow<()> {
        let (action, frame) = (self.policy.action(check), self.scratch.frames.last());
        let (false, Some(frame)) = (action == Action::Ignore, frame) else {
            return ControlFlow::Continue(());
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

    /// Reports a violation, or keeps it until it can be reported in its place.
    fn found(&mut self, violation: Violation<'m>) -> ControlFlow<()> {
        if !self.scratch.frames.is_empty() {
            if matches!(violation.check, Check::DataType | Check::EnumValue | Check::EmptyValue) {
                self.held.push(violation);
                return ControlFlow::Continue(());
            }
            self.report_held()?;
        }
        (self.report)(violation)
    }
}

/// Tags from here on are for agreements between firms, unless the dictionary defines them.
const FIRST_USER_TAG: u32 = 5000;

/// From here on the standard defines fields again (40000 and 50000).
const FIRST_LATER_TAG: u32 = 40_000;

/// Returns the bytes before the first `=`, or the whole field if it has none.
fn tag_bytes(field: &[u8]) -> &[u8] {
    field.split(|byte| *byte == b'=').next().unwrap_or(field)
}
