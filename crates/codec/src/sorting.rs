//! The order of a group's members: before which one a member must stand, and an entry that was
//! written in another order.

use core::fmt;

use crate::body_writer::BodyWriter;
use crate::encode_error::EncodeErrorKind;
use crate::number::Tag;
use crate::soh::SOH;

/// The members of an entry as they were written: the ordinal of each one, and where it begins. It
/// ends where the next one begins.
pub struct Members {
    begun: [(u16, u32); Self::MOST],
    length: usize,
}

impl Members {
    /// How many members can be sorted. Every entry of the standard has fewer; the longest is one of
    /// NoMDEntries (268) in FIX Latest.
    pub const MOST: usize = 512;

    /// Returns none.
    #[must_use]
    pub const fn new() -> Self {
        Self { begun: [(0, 0); Self::MOST], length: 0 }
    }

    pub(crate) fn begin(&mut self, ordinal: u16, at: u32) {
        if let Some(next) = self.begun.get_mut(self.length) {
            *next = (ordinal, at);
        }
        self.length += 1;
    }

    /// Returns the members, unless there are more than can be sorted.
    fn begun(&mut self) -> Option<&mut [(u16, u32)]> {
        self.begun.get_mut(..self.length)
    }
}

impl Default for Members {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.begun[..self.length.min(Self::MOST)]).finish()
    }
}

impl BodyWriter<'_> {
    /// Returns the first member of the entry that is being written which `order` has after `tag`.
    // Data is read as fields, too: what is found then is a member of the group all the same.
    #[cold]
    pub(crate) fn first_member_after(&self, tag: Tag, order: &[u32]) -> Option<Tag> {
        let here = order.iter().position(|member| *member == tag.number())?;
        let entry = &self.memory[self.scope.start as usize..self.at()];
        let tags = entry.split(|byte| *byte == SOH).filter_map(|field| {
            let digits = field.split(|byte| *byte == b'=').next()?;
            core::str::from_utf8(digits).ok()?.parse().ok()
        });
        tags.filter(|tag| order[here + 1..].contains(tag)).find_map(Tag::try_new)
    }

    /// Puts the members of the entry that is being written into the order of their ordinals; those
    /// with the same one stay as they are. Returns the ordinal of the first one.
    pub(crate) fn sort_members(&mut self, members: &mut Members) -> Option<u16> {
        let (start, end) = (self.scope.start, self.position());
        if self.error().is_some() || start == end {
            return None;
        }
        let group = self.nesting.open_group().unwrap_or(Tag::new(35));
        let Some(begun) = members.begun() else {
            self.refuse(group, EncodeErrorKind::NoRoom);
            return None;
        };
        let are_here = begun.first().is_some_and(|first| first.1 == start)
            && begun.is_sorted_by_key(|member| member.1)
            && begun.iter().all(|member| member.1 <= end);
        if !are_here {
            // They were begun in another writer.
            self.refuse(group, EncodeErrorKind::Replaced);
            return None;
        }
        for n in 1..begun.len() {
            let (ordinal, from) = begun[n];
            let to = begun[..n].partition_point(|before| before.0 <= ordinal);
            let behind = begun.get(n + 1).map_or(end, |next| next.1);
            let (length, moved_to) = (behind - from, begun[to.min(n)].1);
            self.memory[moved_to as usize..behind as usize].rotate_right(length as usize);
            begun[to..=n].rotate_right(1);
            begun[to].1 = moved_to;
            begun[to + 1..=n].iter_mut().for_each(|later| later.1 += length);
        }
        // A group without entries has left nothing.
        let ends = begun.iter().skip(1).map(|next| next.1).chain([end]);
        begun.iter().zip(ends).find(|(member, end)| member.1 < *end).map(|(member, _)| member.0)
    }
}
