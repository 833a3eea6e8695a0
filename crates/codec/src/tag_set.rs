//! A set of tags that is compared with a body in a few instructions.

use crate::body_writer::BodyWriter;
use crate::number::Tag;

/// A set of tags, for [`BodyPlumbing::may_contain`](crate::plumbing::BodyPlumbing::may_contain).
/// Tags below 512 are told apart from each other, those above not always.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TagSet(pub(crate) [u8; 64]);

impl TagSet {
    pub(crate) const EMPTY: Self = Self([0; 64]);

    /// Returns the byte of the set and the bit in it for a tag. Two tags that are equal modulo 512,
    /// so that they share a bit in a `Scope`, have the same bit of different bytes here.
    // Password (554) shares its bit with CheckSum (10), which no body has: a message that has its
    // bit is searched for secrets.
    #[inline]
    pub(crate) const fn place_of(tag: u32) -> (usize, u8) {
        (((tag >> 3 ^ tag >> 9 << 2) % 64) as usize, 1 << (tag % 8))
    }

    /// Adds a tag.
    #[inline]
    pub(crate) const fn insert(&mut self, tag: u32) {
        let (byte, bit) = Self::place_of(tag);
        self.0[byte] |= bit;
    }

    /// Returns whether the set has this tag or one that it does not tell apart from it.
    #[inline]
    pub(crate) const fn may_have(&self, tag: u32) -> bool {
        let (byte, bit) = Self::place_of(tag);
        self.0[byte] & bit != 0
    }
}

impl TagSet {
    /// Returns the set of these tags.
    pub fn of(tags: impl IntoIterator<Item = Tag>) -> Self {
        let mut set = Self::EMPTY;
        for tag in tags {
            set.insert(tag.number());
        }
        set
    }
}

impl BodyWriter<'_> {
    /// Returns `false` if the body certainly has no field with one of these tags.
    pub(crate) fn may_contain(&self, tags: &TagSet) -> bool {
        let common =
            self.written.0.iter().zip(tags.0).fold(0, |common, (byte, wanted)| common | byte & wanted);
        // A value that was not checked may hold any field.
        common != 0 || self.unchecked && *tags != TagSet::EMPTY
    }
}
