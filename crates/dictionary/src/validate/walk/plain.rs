//! The fields about which nothing is odd, as most are: loops walk over runs of them, and do little
//! else than look them up. A loop stops at the first field that needs more, which the walk then
//! takes for itself: nothing is judged here.

use fixbolt_codec::Place;
use fixbolt_codec::plumbing::PlacePlumbing as _;

use super::Walk;
use crate::validate::steps::note_of;

impl Walk<'_, '_> {
    /// Walks over fields outside groups from this position on, while each has its place, for the
    /// first time, in the section of the one before or the next, and counts no group. Returns the
    /// position after the last one.
    #[inline(never)]
    pub(super) fn plain_fields(&mut self, from: usize, until: usize) -> usize {
        let mut position = from;
        loop {
            position = self.fields_of_a_section(position, until);
            let next = self.message.tags()[..until].get(position);
            let cell = next.and_then(|tag| self.cells.get(*tag as usize));
            match cell.and_then(|cell| cell.section()) {
                Some(next) if next > self.section => self.section = next,
                _ => return position,
            }
        }
    }

    #[inline(always)]
    fn fields_of_a_section(&mut self, from: usize, until: usize) -> usize {
        let (base, section, cells) = (self.base, self.section, self.cells);
        let (seen, steps) = (&mut *self.seen, &mut *self.steps);
        let mut position = from;
        for (&tag, place) in self.message.tags()[from..until].iter().zip(&mut self.places[from..until]) {
            let Some(&cell) = cells.get(tag as usize) else { break };
            let Some(cell) = cell.within(section) else { break };
            let Some(word) = seen.get_mut(cell.bit() / 64) else { break };
            let with = *word | 1 << (cell.bit() % 64);
            if *word == with {
                break;
            }
            *word = with;
            *place = Place::new(tag, section, 0);
            steps.note(cell.step(), cell.note(position - base));
            position += 1;
        }
        position
    }

    /// Walks over fields of the innermost open group from this position on, while each is the first
    /// with its tag in its entry, and after those that the dictionary has before it, or begins an
    /// entry that is expected after one in which nothing is missing, and counts no group. Returns
    /// the position after the last one.
    #[inline(never)]
    pub(super) fn plain_members(&mut self, from: usize, until: usize) -> usize {
        let plan = self.plan;
        let Some(level) = self.frames.len().checked_sub(1) else { return from };
        let Some(frame) = self.frames.last_mut() else { return from };
        let required = plan.required(frame.scope, self.policy.requirements());
        let start = plan.message_words + level * plan.entry_words;
        let (Some(seen), steps) = (self.seen.get_mut(start..start + required.len()), &mut *self.steps) else {
            return from;
        };
        let mut position = from;
        let tags = &self.message.tags()[from..until];
        for (&tag, place) in tags.iter().zip(&mut self.places[from..until]) {
            let Some((slot, rule)) = plan.low_field(tag) else { break };
            let Some(member) = plan.member_of(frame.row, slot) else { break };
            if rule.has_others {
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
            steps.note(rule.step as usize, note_of(position - self.base, slot));
            position += 1;
        }
        position
    }

    /// Closes the open groups that do not have this field, if one around them has it or it has its
    /// place outside groups, and nothing is wrong with those that close. Returns whether one does.
    #[inline(never)]
    pub(super) fn leave_groups(&mut self, tag: u32) -> bool {
        let plan = self.plan;
        let Some((slot, _)) = plan.low_field(tag) else { return false };
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
                return false;
            }
            rest = level;
        }
        let is_placed = rest > 0 || self.cells.get(tag as usize).is_some_and(|cell| cell.is_plain());
        if rest == self.frames.len() || !is_placed {
            return false;
        }
        self.frames.truncate(rest);
        if rest == 0 {
            self.findings.report_held();
        }
        true
    }
}
