//! The fields about which nothing is odd, as most are: loops walk over runs of them, and do little
//! else than look them up. A loop stops at the first field that needs more, which the walk then
//! takes for itself: nothing is judged here.

use std::ops::ControlFlow;

use fixbolt_codec::Place;

use super::Walk;

impl Walk<'_, '_> {
    /// Walks over fields outside groups from this position on, while each has its place, for the
    /// first time, in the section of the one before or the next, and counts no group, and its value
    /// is usual. Returns the position after the last one.
    #[inline(never)]
    pub(super) fn plain_fields(&mut self, from: usize) -> usize {
        let (plan, message, cells) = (self.plan, self.message, self.cells);
        let (seen, learned) = (&mut *self.seen, &mut *self.learned);
        let mut section = self.section;
        let mut position = from;
        for (&tag, place) in message.tags()[from..].iter().zip(&mut self.places[from..]) {
            let Some(cell) = cells.get(tag as usize) else { break };
            if !plan.accepts(cell.look(), cell.slot(), message, position, &mut learned.dates) {
                break;
            }
            let (here, bit) = (cell.section(), cell.bit());
            let Some(word) = seen.get_mut(bit / 64) else { break };
            if here < section || *word >> (bit % 64) & 1 != 0 {
                break;
            }
            *word |= 1 << (bit % 64);
            *place = Place::new(tag, here, 0);
            section = here;
            if self.learns {
                learned.note(cell.step(), position);
            }
            position += 1;
        }
        self.section = section;
        position
    }

    /// Walks over fields of the innermost open group from this position on, while each is the first
    /// with its tag in its entry, and after those that the dictionary has before it, or begins an
    /// entry that is expected after one in which nothing is missing, and counts no group, and its
    /// value is usual. Returns the position after the last one.
    #[inline(never)]
    pub(super) fn plain_members(&mut self, from: usize) -> usize {
        let (plan, message) = (self.plan, self.message);
        let Some(level) = self.frames.len().checked_sub(1) else { return from };
        let Some(frame) = self.frames.last_mut() else { return from };
        let required = plan.required(frame.scope, self.policy.requirements());
        let start = 3 * plan.body_words + level * plan.entry_words;
        let (Some(seen), learned) = (self.seen.get_mut(start..start + required.len()), &mut *self.learned)
        else {
            return from;
        };
        let mut position = from;
        for (&tag, place) in message.tags()[from..].iter().zip(&mut self.places[from..]) {
            let Some((slot, rule)) = plan.low_field(tag) else { break };
            let Some(member) = plan.member_of(frame.row, slot) else { break };
            if rule.has_others || !plan.accepts(rule.look, slot, message, position, &mut learned.dates) {
                break;
            }
            let mut here = Place::new(tag, frame.section, level + 1);
            if slot == frame.delimiter {
                let is_full = frame.announced.is_some_and(|announced| frame.entries >= announced);
                let lacks = |(required, seen): (&u64, &u64)| required & !seen != 0;
                let ends_another = frame.entries > 0 && frame.enforced;
                if is_full || ends_another && required.iter().zip(&*seen).any(lacks) {
                    break;
                }
                frame.entries += 1;
                frame.last = 0;
                for word in seen.iter_mut() {
                    *word = 0;
                }
                here = here.beginning_entry();
            } else if frame.entries == 0 || member < frame.last {
                break;
            }
            let Some(word) = seen.get_mut(usize::from(member / 64)) else { break };
            if *word >> (member % 64) & 1 != 0 {
                break;
            }
            *word |= 1 << (member % 64);
            frame.last = member;
            *place = here;
            if self.learns {
                learned.note(rule.step as usize, position);
            }
            position += 1;
        }
        position
    }

    /// Closes the open groups that do not have this field, if one around them has it or it has its
    /// place outside groups, and nothing is wrong with those that close. Returns whether one does.
    #[inline(never)]
    pub(super) fn leave_groups(&mut self, tag: u32) -> ControlFlow<(), bool> {
        let plan = self.plan;
        let Some((slot, _)) = plan.low_field(tag) else { return ControlFlow::Continue(false) };
        let mut rest = self.frames.len();
        while let Some(level) = rest.checked_sub(1) {
            let frame = &self.frames[level];
            if plan.member_of(frame.row, slot).is_some() {
                break;
            }
            let is_right = match frame.announced {
                Some(0) => frame.entries == 0 && !frame.required,
                announced => announced == Some(frame.entries),
            };
            let enforced = frame.enforced && frame.entries > 0;
            if !is_right || enforced && self.lacks(frame.scope, self.seen_of(level)) {
                return ControlFlow::Continue(false);
            }
            rest = level;
        }
        let is_placed = rest > 0 || self.cells.get(tag as usize).is_some_and(|cell| cell.is_plain());
        if rest == self.frames.len() || !is_placed {
            return ControlFlow::Continue(false);
        }
        self.frames.truncate(rest);
        if rest == 0 && !self.held.is_empty() {
            self.report_held()?;
        }
        ControlFlow::Continue(true)
    }
}
