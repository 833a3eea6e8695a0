//! Where a field belongs in the structure of its message: header, body or trailer, and how deep in
//! repeating groups.
//!
//! The codec knows no dictionary. A validator finds the places and attaches them to the message
//! ([`Message::with_places`](crate::Message::with_places)); from then on everything that reads the
//! message uses them.

use core::fmt;

/// A part of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Section {
    /// Standard header.
    Header,
    /// Body.
    Body,
    /// Standard trailer.
    Trailer,
}

/// A field's tag and its place in the structure of its message, as a dictionary defines it.
///
/// A message that an engine delivers has them ([`Message::places`](crate::Message::places)).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Place(u64);

// The tag is in the low half, so that one comparison shows whether a field is the wanted one.
const TAG: u64 = 0xffff_ffff;
const DEPTH_SHIFT: u32 = 32;
const DEPTH: u64 = 0xff << DEPTH_SHIFT;
const BEGINS_ENTRY: u64 = 1 << 40;
const COUNTS_GROUP: u64 = 1 << 41;
const UNDEFINED: u64 = 1 << 42;
const REPEATED: u64 = 1 << 43;
const SECTION_SHIFT: u32 = 48;

impl Place {
    /// See [`PlacePlumbing::new`], which cannot be constant.
    #[inline]
    const fn at(tag: u32, section: Section, depth: usize) -> Self {
        let depth = if depth < 255 { depth as u64 } else { 255 };
        Self(tag as u64 | depth << DEPTH_SHIFT | (section as u64) << SECTION_SHIFT)
    }

    /// Returns the tag; 0 for a field without one.
    #[must_use]
    #[inline]
    pub const fn tag(self) -> u32 {
        (self.0 & TAG) as u32
    }

    /// Returns the section.
    #[must_use]
    pub const fn section(self) -> Section {
        match self.0 >> SECTION_SHIFT {
            0 => Section::Header,
            1 => Section::Body,
            _ => Section::Trailer,
        }
    }

    /// Returns the number of groups around the field, up to 255.
    #[must_use]
    #[inline]
    pub const fn depth(self) -> usize {
        ((self.0 & DEPTH) >> DEPTH_SHIFT) as usize
    }

    /// Returns whether the field begins an entry of its innermost group.
    #[must_use]
    #[inline]
    pub const fn begins_entry(self) -> bool {
        self.0 & BEGINS_ENTRY != 0
    }

    /// Returns whether the field counts the entries of a group after it.
    #[must_use]
    #[inline]
    pub const fn counts_group(self) -> bool {
        self.0 & COUNTS_GROUP != 0
    }

    /// Returns whether the dictionary defines the field here. One that it does not define belongs
    /// to the message and to every entry around it alike.
    #[must_use]
    #[inline]
    pub const fn is_defined(self) -> bool {
        self.0 & UNDEFINED == 0
    }

    /// Returns whether the field's tag occurs before it in the same scope.
    #[must_use]
    #[inline]
    pub const fn is_repeated(self) -> bool {
        self.0 & REPEATED != 0
    }

    /// Returns whether a field here belongs to a scope of this depth that contains its position.
    #[inline]
    pub(crate) const fn belongs_at(self, depth: Depth) -> bool {
        self.0 & DEPTH == depth.0 || !self.is_defined()
    }

    /// Returns whether the field begins an entry of a group of this depth.
    #[inline]
    pub(crate) const fn begins_entry_at(self, depth: Depth) -> bool {
        self.0 & (DEPTH | BEGINS_ENTRY) == depth.0 | BEGINS_ENTRY
    }

    /// Returns whether the field cannot be inside a group of this depth that begins before it.
    #[inline]
    pub(crate) const fn ends_group_at(self, depth: Depth) -> bool {
        // UNDEFINED is above the depth.
        self.0 & (DEPTH | UNDEFINED) < depth.0
    }

    /// Returns whether the field is known to be the first with this tag in a scope of this depth
    /// that contains its position.
    #[inline]
    pub(crate) const fn is_first(self, tag: u32, depth: Depth) -> bool {
        self.0 & (TAG | DEPTH | UNDEFINED | REPEATED) == tag as u64 | depth.0
    }
}

/// What a validator makes a field's place of.
#[doc(hidden)]
pub trait PlacePlumbing: Sized {
    /// Returns the place of a field with this tag (0 if it has none) in this section, inside
    /// `depth` groups. A field that counts a group is outside that group. More than 255 groups
    /// count as 255.
    ///
    /// ```
    /// use fixbolt_codec::plumbing::PlacePlumbing as _;
    /// use fixbolt_codec::{Place, Section};
    ///
    /// // PartyID, the first field of an entry of NoPartyIDs (453).
    /// let party_id = Place::new(448, Section::Body, 1).beginning_entry();
    /// assert_eq!((party_id.tag(), party_id.section(), party_id.depth()), (448, Section::Body, 1));
    /// assert!(party_id.begins_entry() && party_id.is_defined() && !party_id.counts_group());
    /// ```
    #[must_use]
    fn new(tag: u32, section: Section, depth: usize) -> Self;

    /// Returns the place of a field that begins an entry of its innermost group.
    #[must_use]
    fn beginning_entry(self) -> Self;

    /// Returns the place of a field that counts the entries of a group after it.
    #[must_use]
    fn counting_group(self) -> Self;

    /// Returns the place of a field that the dictionary does not define here: it has none of its
    /// own, and section and depth are those of the fields around it.
    #[must_use]
    fn undefined(self) -> Self;

    /// Returns the place of a field whose tag occurs before it in the same scope.
    #[must_use]
    fn repeated(self) -> Self;
}

#[doc(hidden)]
impl PlacePlumbing for Place {
    #[inline]
    fn new(tag: u32, section: Section, depth: usize) -> Self {
        Self::at(tag, section, depth)
    }

    #[inline]
    fn beginning_entry(self) -> Self {
        Self(self.0 | BEGINS_ENTRY)
    }

    #[inline]
    fn counting_group(self) -> Self {
        Self(self.0 | COUNTS_GROUP)
    }

    #[inline]
    fn undefined(self) -> Self {
        Self(self.0 | UNDEFINED)
    }

    #[inline]
    fn repeated(self) -> Self {
        Self(self.0 | REPEATED)
    }
}

/// A number of groups, as a place holds it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Depth(u64);

impl Depth {
    #[inline]
    pub(crate) const fn new(depth: usize) -> Self {
        Self(Place::at(0, Section::Header, depth).0)
    }

    #[inline]
    pub(crate) const fn groups(self) -> usize {
        Place(self.0).depth()
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("Place");
        text.field("tag", &self.tag()).field("section", &self.section()).field("depth", &self.depth());
        for (name, holds) in [
            ("begins_entry", self.begins_entry()),
            ("counts_group", self.counts_group()),
            ("undefined", !self.is_defined()),
            ("repeated", self.is_repeated()),
        ] {
            if holds {
                text.field(name, &true);
            }
        }
        text.finish()
    }
}
