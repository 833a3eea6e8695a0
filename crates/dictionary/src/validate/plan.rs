//! A dictionary as dense tables: an array from tags to fields, another from fields to members of a
//! scope, and requirements as bit sets.
//!
//! A scope is a region in which a tag may occur once: the header, the trailer, a message's body, an
//! entry of a group. A group has its own scope wherever it is used, so that following the scopes by
//! message, path and count tag leads to the right one.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};

use fixbolt_codec::{FromField, Section};

use super::look::Look;
use super::policy::{Check, Policy, Requirements};
use super::steps::{Step, note_of};
use super::values::{CodeTable, check_type, in_union};
use crate::data_type::{DataType, UnionType};
use crate::model::{Dictionary, FlatMember, GroupId, Member, in_order};
use crate::reject_codes::SessionRejectCode as Reason;

/// No slot.
pub(crate) const NONE: u16 = u16::MAX;
/// No scope.
const NO_SCOPE: u32 = u32::MAX;

#[derive(Clone)]
pub(crate) struct Plan {
    /// Identifies the plan; only unchanged copies of this one have the same number. The next one is
    /// that of another plan only after as many as there are scopes.
    number: u64,
    /// Slot of each tag below the array's length; a slot is the position of a field in `fields`.
    low_slots: Vec<u16>,
    /// Slots of higher tags, ascending by tag.
    high_slots: Vec<(u32, u16)>,
    fields: Vec<FieldRule>,
    /// For each field the codes of one byte that are usual: bit n is that of the byte
    /// [`FIRST_CODE`] + n.
    byte_codes: Vec<u64>,
    /// What the steps of a message note of BodyLength (9), if it is one of [`Step::Number`].
    pub(crate) body_length: u32,
    code_tables: Vec<CodeTable>,
    scopes: Vec<Scope>,
    /// Rows of all scopes: slot (from the first one of the scope) to member + 1, or 0.
    cells: Vec<u16>,
    /// For the types of messages one after the other: a cell for each tag up to the highest of the
    /// message, as far as they are below [`CELL_TAGS`] and fit into [`MAX_CELLS`].
    message_cells: Vec<Cell>,
    members: Vec<MemberRule>,
    /// The scope of the first body; those of the others come after it.
    first_body: u32,
    /// For each scope three bit sets over its members: those required by the standard, by QuickFIX
    /// and by QuickFIX/J.
    masks: Vec<u64>,
    /// For each body the same over the members of header, trailer and body.
    message_masks: Vec<u64>,
    /// Scope of each message type of one byte.
    short_types: Box<[u32; 256]>,
    /// Scopes of the longer ones, ascending by type.
    long_types: Vec<(Box<[u8]>, u32)>,
    /// The maximum nesting depth of groups.
    pub(crate) depth: usize,
    /// Where the bit sets over the members of header, body and trailer begin: the body's, which has
    /// a different length in each message, is the last.
    section_words: [usize; 3],
    /// The maximum number of words in the three, and in the bit set over the members of an entry.
    pub(crate) message_words: usize,
    pub(crate) entry_words: usize,
    /// Whether a field identifies something within its message (types XID and XIDREF, from FIX
    /// Latest on).
    pub(crate) has_identifiers: bool,
}

/// What is known of a field in every place.
#[derive(Clone, Copy)]
pub(crate) struct FieldRule {
    pub(crate) kind: DataType,
    pub(crate) union: Option<UnionType>,
    /// Which values are accepted at a glance.
    pub(crate) look: Look,
    /// What is checked in a known layout.
    pub(crate) step: Step,
    /// Whether every code of one byte is also a valid value of the field's type.
    pub(crate) codes_fit: bool,
    /// Whether it counts a group in some place, or has a partner.
    pub(crate) has_others: bool,
    /// The other field of a data field, or of the length of one.
    pub(crate) partner: Option<Partner>,
    /// Its member + 1 in the header and in the trailer, 0 if it is none.
    header: u16,
    trailer: u16,
    codes: u32,
}

impl FieldRule {
    /// Returns the member of the header.
    #[inline(always)]
    pub(crate) fn header(&self) -> Option<u16> {
        self.header.checked_sub(1)
    }

    /// Returns the member of the trailer.
    #[inline(always)]
    pub(crate) fn trailer(&self) -> Option<u16> {
        self.trailer.checked_sub(1)
    }
}

/// The other field of a data field and its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Partner {
    /// The tag of the data field whose length this is.
    Data(u32),
    /// The tag of the length field before this data field.
    Length(u32),
}

/// The members of a scope by slot, from the first one of the scope to the last: where their cells
/// are.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    start: u32,
    first: u16,
    len: u16,
}

impl Row {
    /// Of a scope without members.
    pub(crate) const EMPTY: Row = Row { start: 0, first: 0, len: 0 };
}

/// All that the walk must know of a field of a message about whose place nothing is odd, in one
/// number: its bit among the members seen (twelve bits, the lowest), its step (three), its slot
/// (eleven, from bit 16 on, as in a note of the steps), and its section + 1 (the two highest).
#[derive(Clone, Copy)]
pub(crate) struct Cell(u32);

/// Tags below this have cells; so their slots are below it, too.
const CELL_TAGS: usize = 1 << 11;

/// The cells of all messages together: 4 MiB, more than three times what FIX Latest needs.
pub(crate) const MAX_CELLS: usize = 1 << 20;

impl Cell {
    /// Of a tag that is not in the message, or counts a group, or is one of a data field or its
    /// length, or has a place in the header and one after it. It is of no section.
    const ODD: Cell = Cell(0);

    fn new(rule: &FieldRule, section: usize, slot: u16, bit: usize) -> Cell {
        let step = rule.step as u32;
        if rule.has_others || usize::from(slot) >= CELL_TAGS || bit >= 1 << 12 || step >= 1 << 3 {
            return Cell::ODD;
        }
        Cell(bit as u32 | step << 12 | u32::from(slot) << 16 | (section as u32 + 1) << 30)
    }

    #[inline(always)]
    pub(crate) const fn is_plain(self) -> bool {
        self.0 != Cell::ODD.0
    }

    /// Returns the cell without its section, if the field is not odd and of this section.
    #[inline(always)]
    pub(crate) fn within(self, section: Section) -> Option<Cell> {
        let rest = self.0.wrapping_sub((section as u32 + 1) << 30);
        (rest < 1 << 30).then_some(Cell(rest))
    }

    /// Returns the section of a field that is not odd.
    #[inline(always)]
    pub(crate) const fn section(self) -> Option<Section> {
        match self.0 >> 30 {
            1 => Some(Section::Header),
            2 => Some(Section::Body),
            3 => Some(Section::Trailer),
            _ => None,
        }
    }

    /// Returns the number of the step.
    #[inline(always)]
    pub(crate) const fn step(self) -> usize {
        (self.0 >> 12 & 7) as usize
    }

    /// Returns the note of the field at a position, given a cell without its section.
    #[inline(always)]
    pub(crate) const fn note(self, position: usize) -> u32 {
        self.0 & 0xFFFF_0000 | position as u32
    }

    #[inline(always)]
    pub(crate) const fn bit(self) -> usize {
        (self.0 & 0xFFF) as usize
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Scope {
    /// For a body: where its cells are.
    cells_start: u32,
    cells_len: u16,
    pub(crate) row: Row,
    members_start: u32,
    members_len: u16,
    masks_start: u32,
    /// For a group: slot of the first field of an entry, [`NONE`] if that is the one that is sent
    /// first.
    pub(crate) delimiter: u16,
    /// For a group: tag of the count field.
    pub(crate) count_tag: u32,
}

#[derive(Clone, Copy)]
pub(crate) struct MemberRule {
    pub(crate) tag: u32,
    pub(crate) required: bool,
    /// Whether it is marked as required itself, whatever the components around it say.
    pub(crate) marked: bool,
    group: u32,
}

impl MemberRule {
    /// Scope of the group that this member counts.
    pub(crate) fn group(&self) -> Option<u32> {
        (self.group != NO_SCOPE).then_some(self.group)
    }
}

/// The first of the 64 bytes that are usual codes: digits, capital letters, and small ones up to o.
pub(crate) const FIRST_CODE: u8 = b'0';

/// Scopes with a fixed position.
pub(crate) const HEADER: u32 = 0;
pub(crate) const TRAILER: u32 = 1;
const FIRST_GROUP: u32 = 2;

/// Tags below this are looked up with one array access; those of the standard end at 50002.
const LOW_TAGS: u32 = 1 << 16;

impl Plan {
    pub(crate) fn new(dictionary: &Dictionary) -> Plan {
        let mut plan = Plan {
            number: 0,
            low_slots: Vec::new(),
            high_slots: Vec::new(),
            fields: Vec::new(),
            byte_codes: Vec::new(),
            body_length: u32::MAX,
            code_tables: dictionary.code_sets().iter().map(CodeTable::new).collect(),
            scopes: Vec::new(),
            cells: Vec::new(),
            message_cells: Vec::new(),
            members: Vec::new(),
            masks: Vec::new(),
            message_masks: Vec::new(),
            first_body: 0,
            short_types: Box::new([NO_SCOPE; 256]),
            long_types: Vec::new(),
            depth: 0,
            section_words: [0; 3],
            message_words: 0,
            entry_words: 0,
            has_identifiers: dictionary.fields().iter().any(|field| field.kind == DataType::Xid),
        };
        plan.add_fields(dictionary);
        let body_length = plan.slot(9).filter(|slot| plan.field(*slot).kind == DataType::Length);
        plan.body_length = body_length.map_or(u32::MAX, |slot| note_of(1, slot));
        plan.add_scope(dictionary, dictionary.header(), None);
        plan.add_scope(dictionary, dictionary.trailer(), None);
        for slot in 0..plan.fields.len() as u16 {
            let member = |scope| plan.member(scope, slot).map_or(0, |member| member + 1);
            let (header, trailer) = (member(HEADER), member(TRAILER));
            let field = &mut plan.fields[usize::from(slot)];
            (field.header, field.trailer) = (header, trailer);
        }
        for id in dictionary.group_ids() {
            let scope = plan.add_scope(dictionary, &dictionary.group(id).members, Some(id));
            plan.entry_words = plan.entry_words.max(plan.words(scope));
        }
        let (header, trailer) = (plan.words(HEADER), plan.words(TRAILER));
        plan.section_words = [0, header + trailer, header];
        plan.message_words = header + trailer;
        for message in dictionary.messages() {
            let scope = plan.add_scope(dictionary, &message.members, None);
            plan.message_words = plan.message_words.max(header + trailer + plan.words(scope));
            match *message.msg_type.as_bytes() {
                [byte] => plan.short_types[usize::from(byte)] = scope,
                ref longer => plan.long_types.push((longer.into(), scope)),
            }
        }
        plan.long_types = in_order(plan.long_types, &|(one, _), (other, _)| one.cmp(other));
        plan.first_body = FIRST_GROUP + dictionary.groups().len() as u32;
        plan.number = next_number(&plan.scopes);
        plan.add_message_masks();
        plan.add_message_cells();
        plan.depth = plan.deepest();
        plan
    }

    /// Lets the entries of every group with this count field begin with the member that is sent
    /// first. Returns whether there is such a group.
    pub(crate) fn read_as_sent(&mut self, count_tag: u32) -> bool {
        let is_it = |scope: &&mut Scope| count_tag != 0 && scope.count_tag == count_tag;
        let mut groups = self.scopes.iter_mut().filter(is_it).peekable();
        if groups.peek().is_none() {
            return false;
        }
        groups.for_each(|group| group.delimiter = NONE);
        // Layouts that were learned with the other reading do not count.
        self.number = next_number(&self.scopes);
        true
    }

    /// Returns the count tag of every group.
    pub(crate) fn count_tags(&self) -> impl Iterator<Item = u32> {
        self.scopes.iter().map(|scope| scope.count_tag).filter(|tag| *tag != 0)
    }

    fn add_fields(&mut self, dictionary: &Dictionary) {
        for (slot, field) in dictionary.fields().iter().enumerate() {
            let slot = slot as u16; // readers refuse more than MAX_FIELDS
            if field.tag < LOW_TAGS {
                self.low_slots.resize(field.tag as usize, NONE);
                self.low_slots.push(slot);
            } else {
                self.high_slots.push((field.tag, slot));
            }
            let codes = field.codes.map_or(u32::MAX, |id| id.0);
            let codes_fit = field
                .codes
                .is_some_and(|id| self.code_tables[id.0 as usize].bytes_are(field.kind, field.tag));
            let (kind, union) = (field.kind, field.union);
            self.fields.push(FieldRule {
                kind,
                union,
                look: Look::Nothing,
                step: Step::Again,
                codes_fit,
                has_others: false,
                partner: None,
                header: 0,
                trailer: 0,
                codes,
            });
        }
        for (length, data) in dictionary.length_data_pairs() {
            // A dictionary may lack one of them.
            if let (Some(length_at), Some(data_at)) = (self.slot(length), self.slot(data)) {
                self.fields[usize::from(length_at)].partner = Some(Partner::Data(data));
                self.fields[usize::from(data_at)].partner = Some(Partner::Length(length));
            }
        }
        for group in dictionary.groups() {
            // Before FIX 4.3 counts have type int.
            let slot = self.slot(group.count_tag).expect("readers refuse undefined tags");
            let field = &mut self.fields[usize::from(slot)];
            (field.kind, field.has_others) = (DataType::NumInGroup, true);
        }
        let code_tables = &self.code_tables;
        for (rule, field) in self.fields.iter_mut().zip(dictionary.fields()) {
            let codes = code_tables.get(rule.codes as usize);
            rule.look = Look::of(field.tag, rule.kind, codes.is_some(), rule.codes_fit);
            let is_data_length = matches!(rule.partner, Some(Partner::Data(_)));
            rule.step = Step::of(rule.kind, rule.look, is_data_length);
            rule.has_others |= rule.partner.is_some();
            self.byte_codes.push(match (rule.look, codes) {
                (Look::Byte | Look::Word | Look::CodedNumber, Some(codes)) => codes.bytes_from(FIRST_CODE),
                (Look::Boolean, _) => 1 << (b'Y' - FIRST_CODE) | 1 << (b'N' - FIRST_CODE),
                _ => 0,
            });
        }
    }

    fn add_scope(&mut self, dictionary: &Dictionary, members: &[Member], group: Option<GroupId>) -> u32 {
        let flat: Vec<FlatMember> = dictionary.expand(members).collect();
        let slots: Vec<u16> =
            flat.iter().map(|member| self.slot(member.tag).expect("readers refuse undefined tags")).collect();
        let (first, last) =
            (slots.iter().min().copied().unwrap_or(0), slots.iter().max().copied().unwrap_or(0));
        let row_len = if slots.is_empty() { 0 } else { last - first + 1 };
        let scope = Scope {
            cells_start: 0,
            cells_len: 0,
            row: Row { start: self.cells.len() as u32, first, len: row_len },
            members_start: self.members.len() as u32,
            members_len: flat.len() as u16,
            masks_start: self.masks.len() as u32,
            delimiter: group.and_then(|id| self.slot(dictionary.delimiter(id))).unwrap_or(NONE),
            count_tag: group.map_or(0, |id| dictionary.group(id).count_tag),
        };
        let mut row = vec![0; usize::from(row_len)];
        let words = flat.len().div_ceil(64);
        let mut masks = vec![0u64; words * SETS];
        let mut readings = HashMap::with_capacity(flat.len());
        read_requirements(dictionary, members, None, &mut HashSet::new(), &mut readings);
        for (at, (member, slot)) in flat.iter().zip(&slots).enumerate() {
            row[usize::from(slot - first)] = at as u16 + 1;
            let reading = readings[&member.tag];
            let in_component = reading.component.is_some();
            let innermost = reading.marked && reading.component.unwrap_or(true);
            let quickfix = innermost && !(in_component && group.is_some());
            for (set, required) in [member.required, quickfix, innermost].into_iter().enumerate() {
                masks[set * words + at / 64] |= u64::from(required) << (at % 64);
            }
            let group = member.group.map_or(NO_SCOPE, |id| FIRST_GROUP + id.index() as u32);
            let MemberReading { marked, .. } = reading;
            let (tag, required) = (member.tag, member.required);
            self.members.push(MemberRule { tag, required, marked, group });
        }
        self.cells.extend(row);
        self.masks.extend(masks);
        self.scopes.push(scope);
        self.scopes.len() as u32 - 1
    }

    /// Adds the bit sets of each message.
    fn add_message_masks(&mut self) {
        for body in self.first_body..self.scopes.len() as u32 {
            for requirements in [Requirements::Standard, Requirements::QuickFix, Requirements::QuickFixJ] {
                let required = [HEADER, TRAILER, body].map(|scope| self.required(scope, requirements));
                let mut words = required.concat();
                words.resize(self.message_words, 0);
                self.message_masks.extend(words);
            }
        }
    }

    /// Returns the members of header, body and trailer that this reading requires, given the body.
    #[inline]
    pub(crate) fn required_in_message(&self, body: u32, requirements: Requirements) -> &[u64] {
        let set = (body - self.first_body) as usize * SETS + set_of(requirements);
        &self.message_masks[set * self.message_words..][..self.words_of_message(body)]
    }

    /// Returns where the bit set over the members of a section begins.
    #[inline]
    pub(crate) fn words_before(&self, section: Section) -> usize {
        self.section_words[section as usize]
    }

    /// Returns the number of words in the bit sets over the members of header, body and trailer.
    #[inline]
    pub(crate) fn words_of_message(&self, body: u32) -> usize {
        self.section_words[Section::Body as usize] + self.words(body)
    }

    /// Adds the cells of each message.
    fn add_message_cells(&mut self) {
        for body in self.first_body as usize..self.scopes.len() {
            let start = self.message_cells.len();
            let members = [HEADER, body as u32, TRAILER].map(|scope| self.members_of(scope));
            let low = |rule: &&MemberRule| (rule.tag as usize) < CELL_TAGS;
            let tags = members.iter().flat_map(|members| members.iter().filter(low));
            let len = tags.map(|rule| rule.tag as usize + 1).max().unwrap_or(0);
            if start + len > MAX_CELLS {
                return;
            }
            let mut cells = vec![Cell::ODD; len];
            // Where a tag is in body and trailer, the body counts.
            for (section, members) in members.iter().enumerate().rev() {
                for (at, rule) in members.iter().enumerate().filter(|(_, rule)| low(rule)) {
                    let (tag, slot) = (rule.tag as usize, self.slot(rule.tag).unwrap_or(NONE));
                    let field = self.field(slot);
                    let is_elsewhere = section == 0
                        && (self.member(body as u32, slot).is_some() || field.trailer().is_some());
                    cells[tag] = if is_elsewhere {
                        Cell::ODD
                    } else {
                        Cell::new(field, section, slot, 64 * self.section_words[section] + at)
                    };
                }
            }
            self.message_cells.extend(cells);
            let scope = &mut self.scopes[body];
            (scope.cells_start, scope.cells_len) = (start as u32, len as u16);
        }
    }

    #[cfg(test)]
    pub(crate) fn number_of_message_cells(&self) -> usize {
        self.message_cells.len()
    }

    /// Returns the cells of a message, given its body.
    #[inline]
    pub(crate) fn message_cells(&self, body: u32) -> &[Cell] {
        let scope = self.scope(body);
        &self.message_cells[scope.cells_start as usize..][..usize::from(scope.cells_len)]
    }

    /// Returns the nesting depth of groups in header, trailer and bodies: the size of the walk's
    /// stack.
    fn deepest(&self) -> usize {
        fn below(plan: &Plan, scope: u32, known: &mut [usize]) -> usize {
            if known[scope as usize] == usize::MAX {
                let groups = plan.members_of(scope).iter().filter_map(MemberRule::group);
                known[scope as usize] = groups.map(|group| 1 + below(plan, group, known)).max().unwrap_or(0);
            }
            known[scope as usize]
        }
        let mut known = vec![usize::MAX; self.scopes.len()];
        (0..self.scopes.len() as u32).map(|scope| below(self, scope, &mut known)).max().unwrap_or(0)
    }

    /// Returns a number that no body of another plan has, nor another one of this plan.
    #[inline]
    pub(crate) fn number_of(&self, body: u32) -> u64 {
        self.number + u64::from(body)
    }

    /// Returns the slot of a tag.
    #[inline]
    pub(crate) fn slot(&self, tag: u32) -> Option<u16> {
        match self.low_slots.get(tag as usize) {
            Some(&NONE) => None,
            Some(&slot) => Some(slot),
            None => {
                let at = self.high_slots.binary_search_by_key(&tag, |&(tag, _)| tag).ok()?;
                Some(self.high_slots[at].1)
            }
        }
    }

    /// Returns the slot of a tag, and its field, unless the tag is a high one.
    #[inline(always)]
    pub(crate) fn low_field(&self, tag: u32) -> Option<(u16, &FieldRule)> {
        // There are fewer fields than NONE.
        let slot = *self.low_slots.get(tag as usize)?;
        Some((slot, self.fields.get(usize::from(slot))?))
    }

    #[inline]
    pub(crate) fn field(&self, slot: u16) -> &FieldRule {
        &self.fields[usize::from(slot)]
    }

    /// Returns the other field of a data field, or of the length of one.
    pub(crate) fn partner(&self, slot: u16) -> Option<Partner> {
        self.field(slot).partner
    }

    /// Returns whether the byte is one of the field's codes, and right by itself. Not every code is
    /// found.
    #[inline(always)]
    pub(crate) fn has_usual_code(&self, slot: u16, byte: u8) -> bool {
        let codes = self.byte_codes.get(usize::from(slot)).copied().unwrap_or(0);
        let bit = u32::from(byte.wrapping_sub(FIRST_CODE));
        bit < u64::BITS && codes >> bit & 1 != 0
    }

    /// Checks that a non-empty value has the type of its field and is one of its codes, as far as
    /// the policy makes these checks. Returns the check that fails, and the reason. RefMsgType
    /// repeats what the counterparty sent, known or not.
    pub(crate) fn value_is_right(
        &self,
        tag: u32,
        slot: u16,
        value: &[u8],
        policy: &Policy,
    ) -> Result<(), (Check, Reason)> {
        let rule = self.field(slot);
        if policy.makes(Check::DataType)
            && let Err(error) = check_type(rule.kind, tag, value, policy.type_rules())
        {
            // A union may accept what the type does not: a term in a field of type char.
            let by_union = rule
                .union
                .is_some_and(|union| union != UnionType::AnyValue && in_union(union, value).is_ok());
            if !by_union {
                let reason = match error.session_reject_reason() {
                    // -1 is a valid number, but not a valid count.
                    _ if rule.kind == DataType::NumInGroup && i64::from_field(value).is_ok() => {
                        Reason::INCORRECT_NUM_IN_GROUP_COUNT_FOR_REPEATING_GROUP
                    }
                    5 => Reason::VALUE_IS_INCORRECT,
                    _ => Reason::INCORRECT_DATA_FORMAT_FOR_VALUE,
                };
                // A value of the wrong form is not a code either: one violation is enough.
                return Err((Check::DataType, reason));
            }
        }
        // R-REJECT-10
        if policy.makes(Check::EnumValue)
            && let Some(codes) = self.codes(rule)
            && !names_a_msg_type(tag)
        {
            let admitted = if rule.kind.is_multiple() {
                value.split(|byte| *byte == b' ').all(|token| codes.admits(token, rule.union))
            } else {
                codes.admits(value, rule.union)
            };
            if !admitted && !policy.code_rules().accepts(tag, value) {
                return Err((Check::EnumValue, Reason::VALUE_IS_INCORRECT));
            }
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn codes(&self, rule: &FieldRule) -> Option<&CodeTable> {
        self.code_tables.get(rule.codes as usize)
    }

    /// Returns the scope of a message's body.
    #[inline]
    pub(crate) fn body(&self, msg_type: &[u8]) -> Option<u32> {
        let scope = match msg_type {
            [byte] => self.short_types[usize::from(*byte)],
            longer => {
                let at = self.long_types.binary_search_by(|(known, _)| (**known).cmp(longer)).ok()?;
                self.long_types[at].1
            }
        };
        (scope != NO_SCOPE).then_some(scope)
    }

    #[inline]
    pub(crate) fn scope(&self, scope: u32) -> &Scope {
        &self.scopes[scope as usize]
    }

    /// Returns the member of a scope for a field: its position in the scope.
    #[inline]
    pub(crate) fn member(&self, scope: u32, slot: u16) -> Option<u16> {
        self.member_of(self.scope(scope).row, slot)
    }

    /// Returns the member of a scope with this row for a field: its position in the scope.
    #[inline(always)]
    pub(crate) fn member_of(&self, row: Row, slot: u16) -> Option<u16> {
        let at = slot.wrapping_sub(row.first);
        if at >= row.len {
            return None;
        }
        self.cells[row.start as usize + usize::from(at)].checked_sub(1)
    }

    #[inline]
    pub(crate) fn member_rule(&self, scope: u32, member: u16) -> &MemberRule {
        &self.members[self.scope(scope).members_start as usize + usize::from(member)]
    }

    /// Returns the tag of a member of a scope, given its slot; 0 if it is none.
    pub(crate) fn tag_of(&self, scope: u32, slot: u16) -> u32 {
        self.member(scope, slot).map_or(0, |member| self.member_rule(scope, member).tag)
    }

    pub(crate) fn members_of(&self, scope: u32) -> &[MemberRule] {
        let scope = self.scope(scope);
        &self.members[scope.members_start as usize..][..usize::from(scope.members_len)]
    }

    /// Returns whether the entries of a group begin with the member that is sent first.
    #[inline]
    pub(crate) fn is_as_sent(&self, scope: u32) -> bool {
        self.scope(scope).delimiter == NONE
    }

    /// Returns the number of words in a bit set over the members of a scope.
    #[inline]
    pub(crate) fn words(&self, scope: u32) -> usize {
        usize::from(self.scope(scope).members_len).div_ceil(64)
    }

    /// Returns the members of a scope that this reading requires.
    #[inline]
    pub(crate) fn required(&self, scope: u32, requirements: Requirements) -> &[u64] {
        let words = self.words(scope);
        let start = self.scope(scope).masks_start as usize + set_of(requirements) * words;
        &self.masks[start..start + words]
    }
}

/// Returns the number of a new plan with these scopes.
fn next_number(scopes: &[Scope]) -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(scopes.len() as u64, Ordering::Relaxed)
}

/// Number of bit sets of required members per scope.
const SETS: usize = 3;

/// Returns which of them this reading is.
#[inline]
const fn set_of(requirements: Requirements) -> usize {
    match requirements {
        Requirements::Standard => 0,
        Requirements::QuickFix => 1,
        Requirements::QuickFixJ => 2,
    }
}

/// The marks that apply to a member.
#[derive(Clone, Copy)]
struct MemberReading {
    marked: bool,
    /// The mark of the innermost component around it, if there is one.
    component: Option<bool>,
}

/// Returns the marks of all members, with components resolved; a repeated tag keeps its first
/// position.
fn read_requirements(
    dictionary: &Dictionary,
    members: &[Member],
    component: Option<bool>,
    seen: &mut HashSet<u32>,
    readings: &mut HashMap<u32, MemberReading>,
) {
    for member in members {
        let (tag, marked) = match *member {
            Member::Field { tag, required } => (tag, required),
            Member::Group { group, required } => {
                let group = dictionary.group(group);
                (group.count_tag, required && !group.optional_inside)
            }
            Member::Component { component, required } => {
                // Its tags have their first position already.
                if seen.insert(component.0) {
                    let inner = &dictionary.component(component).members;
                    read_requirements(dictionary, inner, Some(required), seen, readings);
                }
                continue;
            }
        };
        readings.entry(tag).or_insert(MemberReading { marked, component });
    }
}

/// MsgType has a check of its own; RefMsgType repeats what the counterparty sent, known or not.
pub(super) const fn names_a_msg_type(tag: u32) -> bool {
    matches!(tag, 35 | 372)
}
