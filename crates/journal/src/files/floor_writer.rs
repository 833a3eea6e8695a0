//! Writes the floor into the mapped head file, and into the journal's cookie.

use crate::files::cookies::Cookie;
use crate::layout::floor::{FLOOR_SLOTS, FLOOR_WORDS, Floor, check};
use crate::system::mapping::Mapping;

const BETWEEN: usize = FLOOR_SLOTS[1] - FLOOR_SLOTS[0];

/// Writes the floor of a journal at each commit.
pub(crate) struct FloorWriter {
    /// The head file.
    mapping: Mapping,
    salt: u32,
    /// The slot that is written next: 0 or 1.
    slot: usize,
    /// It is not ahead of the head, unless the head's file was lost and an older one found.
    cookie: Option<Cookie>,
}

impl FloorWriter {
    /// Creates a writer over the mapped head file and stores the first floor in both slots.
    pub(crate) fn new(mapping: Mapping, salt: u32, floor: &Floor, cookie: Option<Cookie>) -> Self {
        let mut writer = Self { mapping, salt, slot: 0, cookie };
        writer.put(floor);
        writer.put(floor);
        writer
    }

    /// Stores a floor.
    #[inline(always)]
    pub(crate) fn put(&mut self, floor: &Floor) {
        let words = floor.words();
        let at = FLOOR_SLOTS[0] + BETWEEN * self.slot;
        let sum = check(&words, self.salt);
        self.mapping.publish_after(at, &words, sum);
        if let Some(cookie) = &self.cookie {
            cookie.put(self.slot, &words, sum);
        }
        self.slot ^= 1;
    }

    /// Checks that the slot that was written last has `floor`.
    ///
    /// # Panics
    /// Panics if it does not.
    pub(crate) fn check(&self, floor: &Floor) {
        let at = FLOOR_SLOTS[self.slot ^ 1];
        let words: [u64; FLOOR_WORDS] = self.mapping.words(at);
        let [sum] = self.mapping.words(at + 8 * FLOOR_WORDS);
        let is_floor = words == floor.words() && sum == check(&words, self.salt);
        assert!(is_floor, "the head has the floor {words:x?}, and {floor:?} was reached");
        if let Some(cookie) = &self.cookie {
            let said = cookie.found().map_or(*floor, |found| found.floor);
            assert!(said == *floor, "the cookie has {said:?}, and {floor:?} was reached");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use fixbolt_codec::SeqNum;
    use fixbolt_session::store::Generation;

    use super::*;
    use crate::layout::head_copy::HEAD_LENGTH;
    use crate::testing::TempDir;

    #[test]
    fn the_floor_of_the_last_commit_is_found_and_a_torn_one_leaves_the_one_before() {
        let dir = TempDir::new("floor");
        let path = dir.path().join("head");
        std::fs::write(&path, vec![0; HEAD_LENGTH as usize]).unwrap();
        let file = File::options().read(true).write(true).open(&path).unwrap();
        let floor = |turn| Floor {
            turn,
            generation: Generation(2),
            segment: 3,
            offset: 4096,
            next_in: SeqNum(turn + 7),
            next_out: SeqNum(turn + 9),
        };
        let mapping = Mapping::writable(&file, HEAD_LENGTH as usize).unwrap();
        assert_eq!(Floor::newest(mapping.bytes(), 9), None, "zeros are no floor");
        let mut writer = FloorWriter::new(mapping, 9, &floor(1), None);
        for turn in 2..9 {
            writer.put(&floor(turn));
        }
        let mut bytes = std::fs::read(&path).unwrap();
        assert_eq!(Floor::newest(&bytes, 9), Some(floor(8)));
        assert_eq!(Floor::newest(&bytes, 8), None, "another journal's");
        let used = 8 * (FLOOR_WORDS + 1);
        let last = FLOOR_SLOTS[writer.slot ^ 1];
        for bit in 0..8 * used {
            bytes[last + bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Floor::newest(&bytes, 9), Some(floor(7)), "bit {bit}");
            bytes[last + bit / 8] ^= 1 << (bit % 8);
        }
        // The process died between any two stores.
        let after = floor(9).words();
        let mut torn = bytes.clone();
        let next = FLOOR_SLOTS[writer.slot];
        for (n, word) in after.iter().enumerate() {
            torn[next + 8 * n..next + 8 * n + 8].copy_from_slice(&word.to_le_bytes());
            assert_eq!(Floor::newest(&torn, 9), Some(floor(8)), "{n} words");
        }
    }
}
