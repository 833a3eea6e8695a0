//! Which fields carry raw bytes, and which field before each one has its length.
//!
//! The pairs are facts of the standard (FIX Latest, EP269 and the versions before). In 12 of them
//! the two tags are not consecutive.

/// Pairs of a length field and a data field that an [`Index`](crate::Index) knows: those of the
/// standard, or of a dialect.
#[derive(Clone, Debug)]
pub struct DataFields {
    /// (tag of the length field, tag of the data field), ascending; only the first `count` are in
    /// use.
    pairs: [(u32, u32); DataFields::CAPACITY],
    count: usize,
    /// One bit per tag: the first 1,024 bits for tags below 1,024, the others for all other tags
    /// modulo 1,024. A clear bit means that the tag is not a length field, so that the common case
    /// needs no search. Few enough to fit into vector registers.
    hints: [u32; HINTS],
    /// A hash table of the length fields: the number of a pair, counted from 1, is in the first
    /// free slot from [`first_slot`] on.
    slots: [u16; SLOTS],
}

static STANDARD: DataFields = DataFields::new(STANDARD_PAIRS);

impl DataFields {
    /// The pairs of all standard versions.
    pub const STANDARD: &'static DataFields = &STANDARD;

    /// The largest number of pairs. All versions of the standard together have 83.
    pub const CAPACITY: usize = 256;

    /// Creates a set of pairs (length tag, data tag).
    ///
    /// # Panics
    /// Panics if the length tags are not ascending, or if there are more than
    /// [`DataFields::CAPACITY`].
    #[must_use]
    #[allow(clippy::cast_possible_truncation)] // there are at most 256 pairs
    pub const fn new(pairs: &[(u32, u32)]) -> Self {
        assert!(pairs.len() <= Self::CAPACITY, "too many data fields");
        let mut all = [(0, 0); Self::CAPACITY];
        let (mut hints, mut slots) = ([0; HINTS], [0; SLOTS]);
        let mut n = 0;
        while n < pairs.len() {
            assert!(n == 0 || pairs[n - 1].0 < pairs[n].0, "length tags must be ascending");
            let (word, bit) = hint(pairs[n].0);
            hints[word] |= 1 << bit;
            let mut slot = first_slot(pairs[n].0);
            while slots[slot] != 0 {
                slot = (slot + 1) % SLOTS;
            }
            all[n] = pairs[n];
            n += 1;
            slots[slot] = n as u16;
        }
        Self { pairs: all, count: pairs.len(), hints, slots }
    }

    /// Returns the data field that follows the length field `tag`, or `None` if `tag` is not a
    /// length field.
    #[must_use]
    #[inline]
    pub fn data_tag(&self, tag: u32) -> Option<u32> {
        if self.may_be_length(tag) { self.search(tag) } else { None }
    }

    /// Returns whether the tag has its bit of [`DataFields::hints`]: below 1,024 only length fields
    /// have one.
    #[inline(always)]
    pub(crate) const fn may_be_length(&self, tag: u32) -> bool {
        let (word, bit) = hint(tag);
        self.hints[word] >> bit & 1 != 0
    }

    #[cold]
    #[inline(never)]
    fn search(&self, tag: u32) -> Option<u32> {
        let mut slot = first_slot(tag);
        // At most half of the slots are taken.
        while let Some(n) = usize::from(self.slots[slot]).checked_sub(1) {
            if self.pairs[n].0 == tag {
                return Some(self.pairs[n].1);
            }
            slot = (slot + 1) % SLOTS;
        }
        None
    }

    /// Returns the length field of the data field `tag`, or `None` if `tag` is not a data field.
    #[must_use]
    pub fn length_tag(&self, tag: u32) -> Option<u32> {
        self.pairs().iter().find(|pair| pair.1 == tag).map(|pair| pair.0)
    }

    /// Returns the data field that follows the length field `length` in the standard, or `None` if
    /// it is not a length field of the standard. A constant can call it, unlike
    /// [`DataFields::data_tag`].
    pub(crate) const fn standard_data_tag(length: u32) -> Option<u32> {
        let mut n = 0;
        while n < STANDARD_PAIRS.len() {
            if STANDARD_PAIRS[n].0 == length {
                return Some(STANDARD_PAIRS[n].1);
            }
            n += 1;
        }
        None
    }

    pub(crate) const fn hints(&self) -> &[u32; HINTS] {
        &self.hints
    }

    /// Returns all pairs, ascending by length tag.
    #[must_use]
    pub fn pairs(&self) -> &[(u32, u32)] {
        &self.pairs[..self.count]
    }
}

/// Number of words that hold the hints.
pub(crate) const HINTS: usize = 64;

/// Returns the word and the bit for a tag.
const fn hint(tag: u32) -> (usize, u32) {
    let part = if tag < 1024 { 0 } else { 32 };
    (part + tag as usize / 32 % 32, tag % 32)
}

/// Number of slots of the hash table.
const SLOTS: usize = 2 * DataFields::CAPACITY;

/// Takes the highest bits of a product, so that consecutive tags are far apart.
const fn first_slot(tag: u32) -> usize {
    (tag.wrapping_mul(0x9E37_79B1) >> (32 - SLOTS.ilog2())) as usize
}

#[rustfmt::skip]
const STANDARD_PAIRS: &[(u32, u32)] = &[
    (90, 91), (93, 89), (95, 96), (212, 213), (348, 349), (350, 351), (352, 353), (354, 355), (356, 357),
    (358, 359), (360, 361), (362, 363), (364, 365), (445, 446), (618, 619), (621, 622), (1184, 1185),
    (1277, 1278), (1280, 1281), (1282, 1283), (1397, 1398), (1401, 1402), (1403, 1404), (1468, 1469),
    (1525, 1527), (1578, 1579), (1620, 1621), (1664, 1665), (1678, 1697), (1733, 1734), (1871, 1872),
    (1874, 1875), (2072, 2073), (2074, 2075), (2111, 2112), (2179, 2180), (2287, 2288), (2351, 2352),
    (2372, 2371), (2481, 2482), (2494, 2493), (2522, 2521), (2637, 2638), (2651, 2652), (2665, 2666),
    (2715, 2716), (2718, 2719), (2721, 2722), (2797, 2798), (2802, 2801), (2809, 2808), (2815, 2814),
    (40004, 40005), (40008, 40009), (40978, 40979), (40980, 40981), (40982, 40983), (40984, 40985),
    (40986, 40987), (40988, 40989), (41083, 41084), (41101, 41102), (41107, 41108), (41256, 41257),
    (41320, 41321), (41324, 41325), (41458, 41459), (41476, 41477), (41482, 41483), (41653, 41654),
    (41710, 41711), (41806, 41807), (41811, 41812), (41873, 41874), (41969, 41970), (42025, 42026),
    (42171, 42172), (42451, 42452), (42652, 42653), (42947, 42948), (43109, 42684), (43110, 42486),
    (43111, 42982),
];

/// Returns whether a tag is the length field or the data field of a standard pair. Cheap enough to
/// be evaluated for every constant key.
pub(crate) const fn is_paired(tag: u32) -> bool {
    if tag < 2048 {
        return PAIRED_LOW[(tag / 64) as usize] & (1 << (tag % 64)) != 0;
    }
    let (mut from, mut to) = (0, PAIRED.len());
    while from < to {
        let middle = (from + to) / 2;
        if PAIRED[middle] < tag {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    from < PAIRED.len() && PAIRED[from] == tag
}

/// The tags of all standard pairs, ascending.
const PAIRED: [u32; 2 * STANDARD_PAIRS.len()] = {
    let mut tags = [0; 2 * STANDARD_PAIRS.len()];
    let mut n = 0;
    while n < tags.len() {
        let pair = STANDARD_PAIRS[n / 2];
        let tag = if n % 2 == 0 { pair.0 } else { pair.1 };
        let mut place = n;
        while place > 0 && tags[place - 1] > tag {
            tags[place] = tags[place - 1];
            place -= 1;
        }
        tags[place] = tag;
        n += 1;
    }
    tags
};

/// One bit for each of these tags below 2048.
const PAIRED_LOW: [u64; 32] = {
    let mut low = [0; 32];
    let mut n = 0;
    while n < PAIRED.len() && PAIRED[n] < 2048 {
        low[(PAIRED[n] / 64) as usize] |= 1 << (PAIRED[n] % 64);
        n += 1;
    }
    low
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_that_are_not_neighbours_are_known_both_ways() {
        for (length, data) in [(93, 89), (1525, 1527), (43109, 42684), (95, 96)] {
            assert_eq!(DataFields::STANDARD.data_tag(length), Some(data));
            assert_eq!(DataFields::STANDARD.length_tag(data), Some(length));
        }
        assert_eq!(DataFields::STANDARD.data_tag(55), None);
        assert_eq!(DataFields::STANDARD.data_tag(50000), None);
        assert_eq!(DataFields::STANDARD.pairs().iter().filter(|p| p.1 != p.0 + 1).count(), NOT_NEIGHBOURS);
    }

    #[test]
    fn paired_tags_are_those_of_the_pairs_and_no_others() {
        for tag in 1..50_000 {
            let pair = STANDARD_PAIRS.iter().any(|pair| pair.0 == tag || pair.1 == tag);
            assert_eq!(is_paired(tag), pair, "{tag}");
        }
    }

    /// Pairs of tags that are not consecutive.
    const NOT_NEIGHBOURS: usize = 12;
}
