//! A cookie: what a journal has reached, kept in memory that the machine loses with its page cache.
//!
//! A file of cookies begins with a header and goes on with one entry for each journal of a base
//! directory. Like the head, an entry has two slots for the floor, which are written in turn.

use fixbolt_session::store::Generation;

use crate::layout::floor::Floor;
use crate::layout::records::{u32_at, u64_at};
use crate::values::identity::JournalId;

// The header of a file of cookies.
//
//         0     1     2     3     4     5     6     7
//    0  | magic: FIXBOLTC                               |
//    8  | version               | zeros                 |
//   16  | boot                                          |
//   32  | entries                                       |
//   40  | length                                        |
//   48  | base                                          |
// 4096  | the end                                       |

// An entry.
//
//         0     1     2     3     4     5     6     7
//    0  | state                                         |
//    8  | length                                        |
//   16  | journal                                       |
//   32  | serial                                        |
//   40  | salt                                          |
//   48  | zeros                                         |
//  128  | slot                                          |
//  192  | other slot                                    |
//  256  | name                                          |
//  512  | the end                                       |

const MAGIC: [u8; 8] = *b"FIXBOLTC";
const VERSION: u32 = 1;
/// Bytes of the header.
pub(crate) const COOKIES_HEADER: usize = 4096;
/// Where the header has the number of entries.
pub(crate) const COOKIES: usize = 32;
/// The longest path of a base directory.
const LONGEST_BASE: usize = COOKIES_HEADER - 48;
/// Bytes of an entry.
pub(crate) const COOKIE: usize = 512;
/// Words of an entry.
pub(crate) const COOKIE_WORDS: usize = COOKIE / 8;
/// The word that says whether an entry counts, and the one of the head's serial.
pub(crate) const STATE: usize = 0;
pub(crate) const SERIAL: usize = 4;
/// The words at which the slots begin.
pub(crate) const COOKIE_SLOTS: [usize; 2] = [16, 24];
/// Where an entry has the name of the session's directory, and bytes for the longest that there is.
const NAME: usize = 256;
/// The state of an entry that counts.
pub(crate) const COUNTS: u64 = 1;

/// Returns the header of a file without entries, for the journals in `base`, in this boot of the
/// machine; `None` if the path is too long.
pub(crate) fn cookies_header(base: &[u8], boot: [u8; 16]) -> Option<[u8; COOKIES_HEADER]> {
    let mut bytes = [0; COOKIES_HEADER];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes[16..32].copy_from_slice(&boot);
    bytes[40..48].copy_from_slice(&(base.len() as u64).to_le_bytes());
    bytes[48..].get_mut(..base.len())?.copy_from_slice(base);
    Some(bytes)
}

/// Returns the base directory and the number of entries of a file of cookies that was written in
/// this boot of the machine.
pub(crate) fn cookies_of(header: &[u8], boot: [u8; 16]) -> Option<(&[u8], usize)> {
    let is_ours = header.len() >= COOKIES_HEADER
        && header[..8] == MAGIC
        && u32_at(header, 8) == VERSION
        && header[16..32] == boot
        && boot != [0; 16];
    let length = usize::try_from(is_ours.then(|| u64_at(header, 40))?).ok()?;
    let base = header[48..COOKIES_HEADER].get(..length.min(LONGEST_BASE + 1))?;
    Some((base, usize::try_from(u64_at(header, COOKIES)).ok()?))
}

/// What an entry is written with.
pub(crate) struct Entry<'e> {
    /// The name of the session's directory.
    pub(crate) name: &'e [u8],
    pub(crate) id: JournalId,
    pub(crate) salt: u32,
    pub(crate) serial: u64,
    pub(crate) floor: Floor,
}

impl Entry<'_> {
    /// Returns the bytes of an entry that counts, or `None` if the name is too long.
    pub(crate) fn encode(&self) -> Option<[u8; COOKIE]> {
        let mut bytes = [0; COOKIE];
        bytes[..8].copy_from_slice(&COUNTS.to_le_bytes());
        bytes[8..16].copy_from_slice(&(self.name.len() as u64).to_le_bytes());
        bytes[16..32].copy_from_slice(&self.id.0);
        bytes[8 * SERIAL..8 * SERIAL + 8].copy_from_slice(&self.serial.to_le_bytes());
        bytes[40..48].copy_from_slice(&u64::from(self.salt).to_le_bytes());
        let slot = self.floor.slot(self.salt);
        for at in COOKIE_SLOTS {
            bytes[8 * at..8 * at + slot.len()].copy_from_slice(&slot);
        }
        bytes[NAME..].get_mut(..self.name.len())?.copy_from_slice(self.name);
        Some(bytes)
    }
}

/// Returns the name in an entry, whether or not it counts.
pub(crate) fn name_in(entry: &[u8]) -> Option<&[u8]> {
    entry.get(NAME..COOKIE)?.get(..usize::try_from(u64_at(entry, 8)).ok()?)
}

/// What a cookie says of a journal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CookieFound {
    pub(crate) id: JournalId,
    /// The serial that the head has on disk, or is about to have.
    pub(crate) serial: u64,
    /// What the last commit reached, or the one before, if the process died in between.
    pub(crate) floor: Floor,
}

impl CookieFound {
    /// Reads an entry; `None` if it does not count.
    pub(crate) fn decode(entry: &[u8]) -> Option<Self> {
        if entry.len() < COOKIE || u64_at(entry, 8 * STATE) != COUNTS {
            return None;
        }
        Some(Self {
            id: JournalId(std::array::from_fn(|n| entry[16 + n])),
            serial: u64_at(entry, 8 * SERIAL),
            floor: Floor::newest_of(entry, COOKIE_SLOTS.map(|at| 8 * at), u32_at(entry, 40))?,
        })
    }

    /// Returns whether no sequence number was used: nothing is lost with the journal.
    pub(crate) fn is_unused(&self) -> bool {
        let Floor { generation, next_in, next_out, .. } = self.floor;
        (generation, next_in, next_out) == (Generation(0), Floor::EMPTY.next_in, Floor::EMPTY.next_out)
    }
}

#[cfg(test)]
mod tests {
    use fixbolt_codec::SeqNum;

    use super::*;
    use crate::layout::floor::FLOOR_WORDS;
    use crate::testing::Drawing;

    fn floor(turn: u64) -> Floor {
        Floor {
            turn,
            generation: Generation(3),
            segment: 4,
            offset: 5,
            next_in: SeqNum(6),
            next_out: SeqNum(7),
        }
    }

    fn entry() -> Entry<'static> {
        Entry { name: b"FIX.4.4-A-B", id: JournalId([9; 16]), salt: 8, serial: 7, floor: floor(1 << 33) }
    }

    #[test]
    fn an_entry_is_read_back_and_one_with_a_torn_slot_has_the_floor_before() {
        let mut bytes = entry().encode().unwrap();
        let found = CookieFound { id: JournalId([9; 16]), serial: 7, floor: floor(1 << 33) };
        assert_eq!(CookieFound::decode(&bytes), Some(found));
        assert_eq!(name_in(&bytes), Some(&b"FIX.4.4-A-B"[..]));
        let newer = floor((1 << 33) + 1).slot(8);
        let at = 8 * COOKIE_SLOTS[1];
        for words in 0..=FLOOR_WORDS + 1 {
            bytes[at..at + 8 * words].copy_from_slice(&newer[..8 * words]);
            let newest = if words > FLOOR_WORDS { (1 << 33) + 1 } else { 1 << 33 };
            assert_eq!(CookieFound::decode(&bytes).unwrap().floor, floor(newest), "{words} words");
        }
        bytes[8 * STATE] = 0;
        assert_eq!(CookieFound::decode(&bytes), None);
        let long = [b'x'; COOKIE - NAME + 1];
        assert!(Entry { name: &long[1..], ..entry() }.encode().is_some());
        assert!(Entry { name: &long, ..entry() }.encode().is_none());
    }

    #[test]
    fn a_header_counts_in_its_boot_only() {
        let boot = [4; 16];
        let mut bytes = cookies_header(b"/var/lib/fix", boot).unwrap();
        bytes[COOKIES] = 2;
        assert_eq!(cookies_of(&bytes, boot), Some((&b"/var/lib/fix"[..], 2)));
        assert_eq!(cookies_of(&bytes, [5; 16]), None);
        assert_eq!(cookies_of(&bytes[..100], boot), None);
        assert_eq!(cookies_of(&cookies_header(b"/", [0; 16]).unwrap(), [0; 16]), None, "no boot is known");
        assert!(cookies_header(&[b'x'; LONGEST_BASE], boot).is_some());
        assert!(cookies_header(&[b'x'; LONGEST_BASE + 1], boot).is_none());
        for at in [0, 7, 8, 16, 31] {
            let mut other = bytes;
            other[at] ^= 1;
            assert_eq!(cookies_of(&other, boot), None, "byte {at}");
        }
        bytes[47] = 0xff;
        assert_eq!(cookies_of(&bytes, boot), None, "a length beyond the header");
    }

    #[test]
    fn an_entry_and_the_header_are_as_they_are_drawn() {
        let drawing = Drawing::of(include_str!("cookie.rs"), "An entry.");
        let zero = Entry { id: JournalId([0; 16]), salt: 0, serial: 0, ..entry() };
        let one = zero.encode().unwrap();
        let other = Entry { id: JournalId([0xff; 16]), ..zero }.encode().unwrap();
        drawing.shows("journal", &one, &other);
        let zero = Entry { id: JournalId([0; 16]), salt: 0, serial: 0, ..entry() };
        drawing.shows("serial", &one, &Entry { serial: u64::MAX, ..zero }.encode().unwrap());
        assert_eq!(one[drawing.place("state")], COUNTS.to_le_bytes());
        assert_eq!(one[drawing.place("length")], 11_u64.to_le_bytes());
        assert_eq!(one[drawing.place("salt")], [0; 8]);
        for (slot, at) in [("slot", COOKIE_SLOTS[0]), ("other slot", COOKIE_SLOTS[1])] {
            let place = drawing.place(slot);
            assert_eq!(place.start, 8 * at);
            assert!(one[place].starts_with(&floor(1 << 33).slot(0)));
        }
        assert_eq!(drawing.place("name").start, NAME);
        assert_eq!(drawing.place("the end").start, COOKIE);
        let drawing = Drawing::of(include_str!("cookie.rs"), "The header of a file of cookies.");
        let header = cookies_header(b"/base", [1; 16]).unwrap();
        assert_eq!(header[drawing.place("magic: FIXBOLTC")], MAGIC);
        assert_eq!(header[drawing.place("version")], VERSION.to_le_bytes());
        assert_eq!(header[drawing.place("boot")], [1; 16]);
        assert_eq!(drawing.place("entries").start, COOKIES);
        assert_eq!(header[drawing.place("length")], 5_u64.to_le_bytes());
        assert!(header[drawing.place("base")].starts_with(b"/base\0"));
        assert_eq!(drawing.place("the end").start, COOKIES_HEADER);
    }
}
