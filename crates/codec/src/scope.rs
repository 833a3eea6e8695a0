//! A region in which a tag has one meaning: a whole message outside its groups, or an entry of a
//! group.

use core::iter::FusedIterator;
use core::ops::Range;

use crate::look_up;
use crate::message::Message;
use crate::number::Tag;
use crate::place::{Depth, Place};

/// The number of fields that are searched in about the same time from any of them.
const LONG: usize = 48;

/// The fields of a message outside its groups, or those of one entry of a group outside the groups
/// in it.
///
/// The message's places say which fields these are
/// ([`Message::with_places`](crate::Message::with_places)). Without them no group is known, and
/// every field within the region belongs to the scope.
// Views are copied with their scope: positions have four bytes, as those of a Span.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'m> {
    message: Message<'m>,
    /// The places of the fields up to `end`; empty if the message has none.
    places: &'m [Place],
    depth: Depth,
    start: u32,
    end: u32,
}

impl<'m> Scope<'m> {
    /// Returns the scope inside `depth` groups within the fields at these positions. Positions
    /// after the message's last field are ignored.
    #[must_use]
    pub fn within(message: Message<'m>, positions: Range<usize>, depth: usize) -> Self {
        let whole = message.scope();
        Self { depth: Depth::new(depth), ..whole.part(positions.start, positions.end.min(message.len())) }
    }

    /// Returns the fields of a message with these places outside groups.
    #[inline]
    pub(crate) const fn whole(message: Message<'m>, places: &'m [Place]) -> Self {
        #[allow(clippy::cast_possible_truncation)] // fewer than bytes, which are below 4 GiB
        let end = message.len() as u32;
        Self { message, places, depth: Depth::new(0), start: 0, end }
    }

    /// Returns the scope of the same depth within the fields from `start` to `end`, which must not
    /// be after its own end.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // not above its own end
    fn part(&self, start: usize, end: usize) -> Self {
        let places = self.places.get(..end).unwrap_or_default();
        Self { places, start: start.min(end) as u32, end: end as u32, ..*self }
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
        self.start as usize..self.end as usize
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
        let at = self.find_from(self.start as usize, tag)?;
        if self.is_own(at) { Some(at) } else { self.position_after(at, tag) }
    }

    /// Returns the position in the message of the first field with this tag that belongs to the
    /// scope. In a long scope it is faster than [`Scope::position`] if the field is at `near` or
    /// soon after it.
    #[must_use]
    #[inline]
    pub fn position_near(&self, tag: u32, near: usize) -> Option<usize> {
        if self.positions().len() > LONG { self.position_in_long(tag, near) } else { self.position(tag) }
    }

    fn position_in_long(&self, tag: u32, near: usize) -> Option<usize> {
        match self.find_from(near, tag) {
            Some(at) if self.is_first(at, tag) => Some(at),
            _ => self.position(tag),
        }
    }

    /// Returns the position of the first field with this tag after `at` that belongs to the scope.
    #[cold]
    fn position_after(&self, mut at: usize, tag: u32) -> Option<usize> {
        loop {
            at = self.find_from(at + 1, tag)?;
            if self.is_own(at) {
                return Some(at);
            }
        }
    }

    /// Returns the position of the first field with this tag at or after `from`, which may be in a
    /// group.
    #[inline]
    fn find_from(&self, from: usize, tag: u32) -> Option<usize> {
        let tags = self.message.tags().get(from..self.end as usize)?;
        look_up::find(tags, tag).map(|n| from + n)
    }

    /// Returns whether the field at `position`, which must be one of [`Scope::positions`], is in
    /// none of the scope's groups.
    #[inline]
    fn is_own(&self, position: usize) -> bool {
        self.places.get(position).is_none_or(|place| place.belongs_at(self.depth))
    }

    /// Returns whether the field at `position` is known to be the first with this tag that belongs
    /// to the scope, without a search. A position before [`Scope::positions`] must not be asked
    /// for; the answer is `false` for one after them, and if the message has no places.
    #[must_use]
    #[inline]
    pub fn is_first(&self, position: usize, tag: u32) -> bool {
        self.places.get(position).is_some_and(|place| place.is_first(tag, self.depth))
    }

    /// Returns the value of the first field with this tag that belongs to the scope.
    #[must_use]
    pub fn get(&self, tag: impl Into<Tag>) -> Option<&'m [u8]> {
        let tag: Tag = tag.into();
        self.position(tag.number()).map(|at| self.message.value(at))
    }

    /// Returns the entries of the group that the first field with this tag counts. They are those
    /// that are there, whatever number the field has. Returns `None` if the message has no places,
    /// or no such field counts a group.
    ///
    /// ```
    /// use fixbolt_codec::plumbing::PlacePlumbing as _;
    /// use fixbolt_codec::{Frame, Framer, Index, Place, Section, Span};
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
    /// let parties = message.scope().group(453).expect("453 counts a group");
    /// let ids: Vec<_> = parties.map(|party| party.get(448).unwrap()).collect();
    /// assert_eq!(ids, [b"A", b"B"]);
    /// assert_eq!(message.get(448), None);
    /// ```
    #[must_use]
    pub fn group(&self, count: impl Into<Tag>) -> Option<Entries<'m>> {
        let count: Tag = count.into();
        self.group_at(self.position(count.number())?)
    }

    /// Returns the entries of the group that the field at `position` counts, or `None` if it counts
    /// none. The field must belong to the scope.
    #[must_use]
    pub fn group_at(&self, position: usize) -> Option<Entries<'m>> {
        if !self.places.get(position)?.counts_group() {
            return None;
        }
        let depth = Depth::new(self.depth.groups() + 1);
        let places = &self.places[position + 1..];
        let inside = places.iter().take_while(|place| !place.ends_group_at(depth)).count();
        let entries = places[..inside].iter().filter(|place| place.begins_entry_at(depth)).count();
        // A field before the first entry is in none.
        let first = places[..inside].iter().position(|place| place.begins_entry_at(depth)).unwrap_or(inside);
        let (start, end) = (position + 1 + first, position + 1 + inside);
        Some(Entries::new(Scope { depth, ..self.part(start, end) }, entries, 0))
    }

    /// Returns the entries of a group that the message's places do not define: this number of them,
    /// in the fields at these positions, each of which begins with a field `delimiter`.
    #[must_use]
    #[inline]
    pub fn delimited(&self, positions: Range<usize>, delimiter: u32, entries: usize) -> Entries<'m> {
        let end = positions.end.min(self.end as usize);
        Entries::new(self.part(positions.start, end), entries, delimiter)
    }
}

/// The entries of a repeating group.
#[derive(Clone, Debug)]
pub struct Entries<'m> {
    /// The entries that are left.
    rest: Scope<'m>,
    left: u32,
    /// The tag of the first field of each entry; 0 if the message's places say which one it is.
    delimiter: u32,
}

impl<'m> Entries<'m> {
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // at most the number of fields
    const fn new(rest: Scope<'m>, left: usize, delimiter: u32) -> Self {
        Self { rest, left: left as u32, delimiter }
    }

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

    /// Returns the position after the entry whose first field is at `start`.
    #[inline]
    fn end_of_entry(&self, start: usize) -> usize {
        let Scope { places, depth, end, .. } = self.rest;
        let later = start + 1;
        if self.delimiter != 0 {
            return self.rest.find_from(later, self.delimiter).unwrap_or(end as usize);
        }
        let mut at = later;
        while places.get(at).is_some_and(|place| !place.begins_entry_at(depth)) {
            at += 1;
        }
        at
    }
}

impl<'m> Iterator for Entries<'m> {
    type Item = Scope<'m>;

    #[inline]
    fn next(&mut self) -> Option<Scope<'m>> {
        self.left = self.left.checked_sub(1)?;
        let start = self.rest.start as usize;
        let entry = self.rest.part(start, self.end_of_entry(start));
        self.rest.start = entry.end;
        Some(entry)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.left as usize;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Entries<'_> {}
impl FusedIterator for Entries<'_> {}
