//! A set of tags that is compared with a body in a few instructions.

use crate::body_writer::{BodyWriter, Scope};
use crate::number::Tag;

/// A set of tags, for [`BodyWriter::may_contain`]. Tags that are equal modulo 512 are not told
/// apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TagSet(pub(crate) [u8; 64]);

impl TagSet {
    pub(crate) const EMPTY: Self = Self([0; 64]);
    pub(crate) const FULL: Self = Self([u8::MAX; 64]);
}

impl FromIterator<Tag> for TagSet {
    fn from_iter<I: IntoIterator<Item = Tag>>(tags: I) -> Self {
        let mut set = Self::EMPTY;
        for tag in tags {
            let (byte, bit) = Scope::place(tag);
            set.0[byte] |= bit;
        }
        set
    }
}

impl BodyWriter<'_> {
    /// Returns `false` if the body certainly has no field with one of these tags, in its groups
    /// either. It searches nothing, so `true` may be wrong: other tags share the answer, and it is
    /// the only one after [`BodyWriter::raw`].
    ///
    /// ```
    /// use fixbolt_codec::{BodyWriter, Key, MsgType, Tag, TagSet};
    ///
    /// let passwords: TagSet = [554, 925].map(Tag::new).into_iter().collect();
    /// let mut memory = [0; 64];
    /// let mut request = BodyWriter::new(MsgType::new(b"BE"), &mut memory);
    /// request.bytes(Key::new(553), b"desk");
    /// assert!(!request.may_contain(&passwords));
    /// request.bytes(Key::new(554), b"battery");
    /// assert!(request.may_contain(&passwords));
    /// ```
    #[must_use]
    pub fn may_contain(&self, tags: &TagSet) -> bool {
        self.written.0.iter().zip(tags.0).fold(0, |common, (byte, wanted)| common | byte & wanted) != 0
    }
}
