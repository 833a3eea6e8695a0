//! Writing repeating groups: as many entries as announced, each with a field, one in another.

use crate::body_writer::{BodyWriter, Scope};
use crate::encode_error::EncodeErrorKind;
use crate::key::Key;
use crate::number::Tag;

/// An open group. It must be ended: a body with a group that was not ended is refused.
#[derive(Debug)]
#[must_use = "a group is ended with `end_group`"]
pub struct OpenGroup {
    count_tag: Tag,
    announced: usize,
    written: usize,
    /// Where the last entry begins; before the first entry, where the group begins.
    entry_at: usize,
    /// What is around the group.
    outer: Nesting,
    outer_scope: Scope,
    /// Address of the writer's memory, so that no writer ends another one's group.
    memory: usize,
}

/// The groups around the place where the next field is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Nesting {
    depth: u32,
    innermost: Option<Tag>,
}

impl Nesting {
    pub(crate) const NONE: Self = Self { depth: 0, innermost: None };

    /// Returns the count field of the innermost group.
    #[inline]
    pub(crate) const fn open_group(self) -> Option<Tag> {
        self.innermost
    }

    const fn within(self, count_tag: Tag) -> Self {
        Self { depth: self.depth + 1, innermost: Some(count_tag) }
    }
}

impl BodyWriter<'_> {
    /// Begins a repeating group of `count` entries; each begins with [`BodyWriter::entry`].
    ///
    /// Nothing is written if there are no entries: senders do not write `NoXXX=0`.
    #[inline]
    pub fn group(&mut self, count: Key, entries: usize) -> OpenGroup {
        if entries > 0 {
            self.field(count, &(entries as u64));
        }
        let outer = self.nesting;
        self.nesting = outer.within(count.tag);
        OpenGroup {
            count_tag: count.tag,
            announced: entries,
            written: 0,
            entry_at: self.at,
            outer,
            outer_scope: self.scope,
            memory: self.memory.as_ptr().addr(),
        }
    }

    /// Begins the next entry of a group.
    #[inline]
    pub fn entry(&mut self, group: &mut OpenGroup) {
        self.end_entry(group);
        group.written += 1;
        group.entry_at = self.at;
        self.scope = Scope::new(self.at);
    }

    /// Ends a group.
    #[inline]
    pub fn end_group(&mut self, group: OpenGroup) {
        self.end_entry(&group);
        if group.written != group.announced {
            self.refuse(group.count_tag, EncodeErrorKind::GroupOrder);
        }
        self.scope = group.outer_scope;
        self.nesting = group.outer;
    }

    /// Refuses what must not be before the next entry or the end of a group.
    #[inline]
    fn end_entry(&mut self, group: &OpenGroup) {
        if self.announced.is_some() {
            self.refuse_announced();
        }
        if self.nesting != group.outer.within(group.count_tag) || group.memory != self.memory.as_ptr().addr()
        {
            // A group in this one was not ended, or the group is not the innermost of this writer.
            self.refuse(self.nesting.open_group().unwrap_or(group.count_tag), EncodeErrorKind::OpenGroup);
        }
        match (group.written == 0, group.entry_at == self.at) {
            (true, false) => self.refuse(group.count_tag, EncodeErrorKind::GroupOrder),
            (false, true) => self.refuse(group.count_tag, EncodeErrorKind::EmptyEntry),
            _ => {}
        }
    }
}
