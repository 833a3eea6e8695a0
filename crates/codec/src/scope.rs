//! A region in which a tag has one meaning: a whole message outside its groups, or an entry of a
//! group.

use core::iter::FusedIterator;
use core::ops::Range;

use crate::look_up::find_tag;
use crate::message::Message;
use crate::number::Tag;
use crate::place::{Depth, Place};

/// The fields of a message outside its groups, or those of one entry of a group outside the groups
/// in it.
///
/// The message's places say which fields these are
/// ([`Message::with_places`](crate::Message::with_places)). Without them no group is known, and
/// every field within the region belongs to the scope.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'m> {
    message: Message<'m>,
    /// The places of the fields up to `end`; empty if the message has none.
    places: &'m [Place],
    start: usize,
    end: usize,
    depth: Depth,
}

impl<'m> Scope<'m> {
    /// Returns the scope inside `depth` groups within the fields at these positions. Positions
    /// after the message's last field are ignored.
    #[must_use]
    #[inline]
    pub fn within(message: Message<'m>, positions: Range<usize>, depth: usize) -> Self {
        let end = positions.end.min(message.len());
        let places = message.places().map_or(&[][..], |places| &places[..end]);
        Self { message, places, start: positions.start.min(end), end, depth: Depth::new(depth) }
    }

    /// Returns the message.
    #[must_use]
    #[inline]
    pub const fn message(&self) -> Message<'m> {
        self.message
    }

    /// Returns the positions of the scope's fields and of those in its groups.
    #[must_use]
    #[inline]
    pub const fn positions(&self) -> Range<usize> {
        self.start..self.end
    }

    /// Returns the number of groups around the scope.
    #[must_use]
    pub const fn depth(&self) -> usize {
        self.depth.groups()
    }

    /// Returns the position in the message of the first field with this tag that belongs to the
    /// scope.
    #[must_use]
    #[inline]
    pub fn position(&self, tag: u32) -> Option<usize> {
        let tags = self.message.tags();
        let mut from = self.start;
        loop {
            let at = from + find_tag(&tags[from..self.end], tag)?;
            if self.places.get(at).is_none_or(|place| place.belongs_at(self.depth)) {
                return Some(at);
            }
            from = at + 1;
        }
    }

    /// Returns whether the field at `position`, which must be one of [`Scope::positions`], is known
    /// to be the first with this tag that belongs to the scope, without a search. The answer is
    /// `false` if the message has no places.
    #[must_use]
    #[inline]
    pub fn is_first(&self, position: usize, tag: u32) -> bool {
        self.places.get(position).is_some_and(|place| place.is_first(tag, self.depth))
    }

    /// Returns the value of the first field with this tag that belongs to the scope.
    #[must_use]
    pub fn get(&self, tag: Tag) -> Option<&'m [u8]> {
        self.position(tag.number()).map(|at| self.message.value(at))
    }

    /// Returns the entries of the group that the first field with this tag counts. They are those
    /// that are there, whatever number the field has. Returns `None` if the message has no places,
    /// or no such field counts a group.
    ///
    /// ```
    /// use fixbolt_codec::{Frame, Framer, Index, Place, Section, Span, Tag};
    ///
    /// let bytes = b"8=FIX.4.4\x019=28\x0135=D\x01453=2\x01448=A\x01448=B\x0158=x\x0110=090\x01";
    /// let Frame::Message(framed) = Framer::new(256).next(bytes) else { panic!("it is whole") };
    /// let (mut tags, mut spans) = ([0; 16], [Span::default(); 16]);
    /// let mut index = Index::new(&mut tags, &mut spans);
    /// let message = index.build(framed).expect("length and checksum are right");
    ///
    /// // What a validator finds.
    /// let place = |tag, section| Place::new(tag, section, 0);
    /// let (header, body, trailer) = (Section::Header, Section::Body, Section::Trailer);
    /// let party = Place::new(448, body, 1).beginning_entry();
    /// let places = [
    ///     place(8, header), place(9, header), place(35, header),
    ///     place(453, body).counting_group(), party, party,
    ///     place(58, body), place(10, trailer),
    /// ];
    /// let message = message.with_places(&places);
    ///
    /// let parties = message.scope().group(Tag::new(453)).expect("453 counts a group");
    /// let ids: Vec<_> = parties.map(|party| party.get(Tag::new(448)).unwrap()).collect();
    /// assert_eq!(ids, [b"A", b"B"]);
    /// assert_eq!(message.get(Tag::new(448)), None);
    /// ```
    #[must_use]
    pub fn group(&self, count: Tag) -> Option<Entries<'m>> {
        self.group_at(self.position(count.number())?)
    }

    /// Returns the entries of the group that the field at `position` counts, or `None` if it counts
    /// none. The field must belong to the scope.
    #[must_use]
    pub fn group_at(&self, position: usize) -> Option<Entries<'m>> {
        let places = self.places;
        if !places.get(position)?.counts_group() {
            return None;
        }
        let (start, inner) = (position + 1, self.depth.groups() + 1);
        let depth = Depth::new(inner);
        let (mut first, mut end, mut left) = (None, start, 0);
        for place in &places[start..] {
            if place.depth() < inner && place.is_defined() {
                break;
            }
            if place.begins_entry_at(depth) {
                // A field before the first entry is in none.
                first = first.or(Some(end));
                left += 1;
            }
            end += 1;
        }
        let rest = Scope { start: first.unwrap_or(end), end, places: &places[..end], depth, ..*self };
        Some(Entries { rest, left })
    }
}

/// The entries of a repeating group, found by the message's places.
#[derive(Clone, Debug)]
pub struct Entries<'m> {
    /// The entries that are left.
    rest: Scope<'m>,
    left: usize,
}

impl<'m> Entries<'m> {
    /// Returns the message.
    #[must_use]
    pub const fn message(&self) -> Message<'m> {
        self.rest.message
    }

    /// Returns the positions of the entries' fields that are left.
    #[must_use]
    pub const fn positions(&self) -> Range<usize> {
        self.rest.positions()
    }
}

impl<'m> Iterator for Entries<'m> {
    type Item = Scope<'m>;

    #[inline]
    fn next(&mut self) -> Option<Scope<'m>> {
        self.left = self.left.checked_sub(1)?;
        let Scope { places, start, depth, .. } = self.rest;
        let mut end = start + 1;
        while places.get(end).is_some_and(|place| !place.begins_entry_at(depth)) {
            end += 1;
        }
        let entry = Scope { end, places: places.get(..end)?, ..self.rest };
        self.rest.start = end;
        Some(entry)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Entries<'_> {}
impl FusedIterator for Entries<'_> {}
