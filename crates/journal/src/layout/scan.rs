//! Finds the records in the bytes of a journal, intact or damaged.
//!
//! One pass over all segments in order, which accepts complete turns. Where the bytes are not a
//! record, it searches for the next beginning of a turn and reports the stretch between as damage.
//! If nothing follows, it reports where the log ends and whether bytes of a torn turn are there. It
//! changes nothing and knows nothing of heads, marks or boots.

#[cfg(feature = "inspect")]
use fixbolt_codec::SeqNum;
use fixbolt_session::store::RecordKind;

use crate::layout::records::{FIRST, Header, Kind, LAST, RECORD_HEADER, SEGMENT_HEADER};
use crate::values::ledger::Ledger;

/// Where a record begins: the index of the segment (not its number) and the offset in it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct RecordAddress {
    pub(crate) segment: usize,
    pub(crate) offset: usize,
}

impl RecordAddress {
    /// Returns the address once the first `n` segments are gone: that of the first record that is
    /// left if it was in one of them.
    pub(crate) fn after_segments(self, n: usize) -> Self {
        match self.segment.checked_sub(n) {
            Some(segment) => Self { segment, ..self },
            None => Self { segment: 0, offset: SEGMENT_HEADER },
        }
    }
}

/// Bytes that are not a record, with records after them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stretch {
    pub(crate) from: RecordAddress,
    /// In the same segment as `from`.
    pub(crate) to: usize,
}

/// The result of a scan besides the records.
#[derive(Debug)]
pub(crate) struct Scan {
    /// The totals of the records.
    pub(crate) ledger: Ledger,
    /// Where the first record of the current generation is.
    pub(crate) generation_start: RecordAddress,
    /// The number of the last turn; 0 if there is none.
    pub(crate) last_turn: u64,
    /// The number of the turn before it.
    pub(crate) turn_before: u64,
    pub(crate) turns: u64,
    /// Where the next turn goes.
    pub(crate) end: RecordAddress,
    /// Whether there is something at `end` that is not an uncommitted turn.
    pub(crate) torn: bool,
    pub(crate) damage: Vec<Stretch>,
}

/// What the turns before a place add up to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) ledger: Ledger,
    pub(crate) last_turn: u64,
    pub(crate) turn_before: u64,
    pub(crate) turns: u64,
}

/// Where a scan begins: at the beginning of a turn, or inside one whose beginning is archived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    pub(crate) at: RecordAddress,
    pub(crate) generation_start: RecordAddress,
    pub(crate) totals: Totals,
    /// Whether this is inside of a turn. Its first record there counts as the first one.
    pub(crate) inside: bool,
}

impl Start {
    /// The beginning of a journal.
    pub(crate) const FIRST: Self = {
        let at = RecordAddress { segment: 0, offset: SEGMENT_HEADER };
        let totals = Totals { ledger: Ledger::NEW, last_turn: 0, turn_before: 0, turns: 0 };
        Self { at, generation_start: at, totals, inside: false }
    };
}

/// Scans `segments` from `start` on and passes every record, in order, to `visit`. The segments
/// before are not looked at.
pub(crate) fn scan(
    segments: &[&[u8]],
    salt: u32,
    start: Start,
    visit: &mut dyn FnMut(RecordAddress, &Header),
) -> Scan {
    let Totals { ledger, last_turn, turn_before, turns } = start.totals;
    let mut scanner = Scanner {
        segments,
        salt,
        visit,
        open: Vec::new(),
        inside: start.inside.then_some(start.at),
        found: Scan {
            ledger,
            generation_start: start.generation_start,
            last_turn,
            turn_before,
            turns,
            end: start.at,
            torn: false,
            damage: Vec::new(),
        },
    };
    scanner.run();
    scanner.found
}

struct Scanner<'s> {
    segments: &'s [&'s [u8]],
    salt: u32,
    visit: &'s mut dyn FnMut(RecordAddress, &Header),
    /// The record that continues a turn whose beginning is archived.
    inside: Option<RecordAddress>,
    /// Records of a turn whose last one has not been seen yet.
    open: Vec<(RecordAddress, Header)>,
    found: Scan,
}

impl Scanner<'_> {
    fn run(&mut self) {
        let mut at = self.found.end;
        loop {
            let header = self.decode(at);
            match header {
                Some(h) if self.continues(at, &h) => {
                    let next = self.after(at, &h);
                    self.take(at, next, h);
                    at = next;
                }
                _ => match self.resume(at) {
                    Some(next) => at = next,
                    None => {
                        let first_word_is_zero = self
                            .segments
                            .get(at.segment)
                            .is_none_or(|s| s.get(at.offset..at.offset + 8).is_none_or(|w| w == [0; 8]));
                        self.found.torn = !first_word_is_zero || !self.open.is_empty();
                        // It may have been in a turn that is not complete.
                        self.found.generation_start = self.found.generation_start.min(self.found.end);
                        return;
                    }
                },
            }
        }
    }

    fn decode(&self, at: RecordAddress) -> Option<Header> {
        Header::decode(self.segments.get(at.segment)?, at.offset, self.salt)
    }

    /// Returns whether this record may follow the ones before it.
    fn continues(&self, at: RecordAddress, h: &Header) -> bool {
        if h.kind == Kind::Void {
            return true;
        }
        match self.open.last() {
            Some((_, open)) => h.turn == open.turn && h.marks & FIRST == 0,
            None => (h.marks & FIRST != 0 || self.inside == Some(at)) && h.turn > self.found.last_turn,
        }
    }

    fn after(&self, at: RecordAddress, h: &Header) -> RecordAddress {
        if h.kind == Kind::Seal {
            RecordAddress { segment: at.segment + 1, offset: SEGMENT_HEADER }
        } else {
            RecordAddress { segment: at.segment, offset: at.offset + h.size() }
        }
    }

    /// Adds the record at `at`; the next one would be at `next`.
    fn take(&mut self, at: RecordAddress, next: RecordAddress, h: Header) {
        if h.kind == Kind::Void {
            // The turn around it, if any, continues after it.
            if self.open.is_empty() {
                self.found.end = next;
            }
            return;
        }
        self.open.push((at, h));
        if h.marks & LAST != 0 {
            self.found.turns += 1;
            self.accept_open();
            self.found.end = next;
        }
    }

    fn accept_open(&mut self) {
        let mut open = std::mem::take(&mut self.open);
        for (at, h) in open.drain(..) {
            self.accept(at, &h);
        }
        self.open = open;
    }

    fn accept(&mut self, at: RecordAddress, h: &Header) {
        if h.turn > self.found.last_turn {
            self.found.turn_before = self.found.last_turn;
            self.found.last_turn = h.turn;
        }
        let Some(record) = h.record(self.segments[at.segment], at.offset) else {
            if matches!(h.kind, Kind::Reserved(_)) && h.generation == self.found.ledger.generation {
                self.found.ledger.next_in = h.next_in;
                self.found.ledger.next_out = self.found.ledger.next_out.max(h.next_out);
            }
            return;
        };
        let ledger = &mut self.found.ledger;
        if record.kind == RecordKind::Reset || h.generation > ledger.generation {
            self.found.generation_start = at;
        }
        // Every record has the generation and NextNumOut after it, so that losing one does not
        // lower them.
        if record.kind != RecordKind::Reset && h.generation > ledger.generation {
            ledger.generation = h.generation;
            ledger.next_out = h.next_out;
            ledger.since = Some(h.utc);
        }
        ledger.add(&record);
        if h.generation > ledger.generation {
            ledger.generation = h.generation;
        }
        if h.generation == ledger.generation {
            ledger.next_out = ledger.next_out.max(h.next_out);
        }
        (self.visit)(at, h);
    }

    /// Called for bytes at `at` that do not continue the log. Returns where it continues, or `None`
    /// if it ends here.
    ///
    /// It continues only where a turn begins (or the open turn does): a later record of a turn
    /// without its first one may be left over from a turn that was never committed.
    fn resume(&mut self, at: RecordAddress) -> Option<RecordAddress> {
        let open_turn = self.open.last().map(|(_, open)| open.turn);
        let floor = self.found.last_turn.max(open_turn.unwrap_or(0));
        let mut stretches = Vec::new();
        let mut orphans: Vec<(RecordAddress, Header)> = Vec::new();
        let mut from = at;
        let mut place = at;
        let anchor = loop {
            let bytes = *self.segments.get(place.segment)?;
            let Some(offset) = next_nonzero(bytes, place.offset) else {
                // Less space than a record needs is not a hole.
                if from.offset + RECORD_HEADER <= bytes.len() {
                    stretches.push(Stretch { from, to: bytes.len() });
                }
                place = RecordAddress { segment: place.segment + 1, offset: SEGMENT_HEADER };
                from = place;
                continue;
            };
            place.offset = offset;
            let Some(h) = Header::decode(bytes, offset, self.salt) else {
                place.offset += 8;
                continue;
            };
            let first = h.marks & FIRST != 0;
            let goes_on = h.kind == Kind::Void || (!first && Some(h.turn) == open_turn);
            let begins = first && h.turn > floor;
            if !goes_on && h.turn <= floor {
                place.offset += h.size();
                continue;
            }
            if from.offset < offset {
                stretches.push(Stretch { from, to: offset });
            }
            if goes_on || begins {
                break (place, h, begins);
            }
            orphans.push((place, h));
            place = self.after(place, &h);
            from = place;
        };
        let (next, h, begins) = anchor;
        if begins {
            self.accept_open();
            for (place, orphan) in orphans {
                if orphan.turn < h.turn {
                    self.accept(place, &orphan);
                }
            }
        }
        self.found.damage.extend(stretches);
        Some(next)
    }
}

/// Returns the largest NextNumOut in what looks like a record, for when no checksum can be verified
/// any more.
#[cfg(feature = "inspect")]
pub(crate) fn largest_next_out(bytes: &[u8]) -> SeqNum {
    let mut largest = SeqNum::ONE;
    let mut at = SEGMENT_HEADER;
    while let Some(offset) = next_nonzero(bytes, at) {
        let header = Header::peek(bytes, offset);
        // A number that no session reaches is none.
        if let Some(next_out) = header.map(|h| h.next_out).filter(|next_out| next_out.0 >> 48 == 0) {
            largest = largest.max(next_out);
        }
        at = offset + 8;
    }
    largest
}

/// Returns where the next intact record begins after `from`.
pub(crate) fn next_record(bytes: &[u8], from: usize, salt: u32) -> Option<usize> {
    let mut at = from;
    loop {
        at = next_nonzero(bytes, at + 8)?;
        if Header::decode(bytes, at, salt).is_some() {
            return Some(at);
        }
    }
}

/// Returns the first offset from `from`, in steps of 8, whose word is not zero and that leaves
/// space for a record.
fn next_nonzero(bytes: &[u8], from: usize) -> Option<usize> {
    const ZEROS: [u8; 4096] = [0; 4096];
    let mut at = from;
    while at + RECORD_HEADER <= bytes.len() {
        if at.is_multiple_of(4096) && bytes.get(at..at + 4096) == Some(&ZEROS) {
            at += 4096;
        } else if bytes[at..at + 8] == [0; 8] {
            at += 8;
        } else {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_word_that_is_not_zero_is_found_at_any_distance() {
        let mut bytes = vec![0; 3 * 4096];
        assert_eq!(next_nonzero(&bytes, 512), None);
        for at in [512, 520, 4096, 8184, 3 * 4096 - RECORD_HEADER] {
            bytes[at + 7] = 1;
            assert_eq!(next_nonzero(&bytes, 512), Some(at));
            assert_eq!(next_nonzero(&bytes, at), Some(at));
            bytes[at + 7] = 0;
        }
    }
}
