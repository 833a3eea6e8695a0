//! What always holds of an open journal, and of the words that its threads share.
//!
//! Builds with debug assertions check a journal after each of its commits and rollbacks, and the
//! shared words after each round of a thread of the store, too. What reads all records, as recovery
//! does, is not done here.

use std::sync::atomic::Ordering;

use crate::layout::records::{SEGMENT_HEADER, u64_at};
use crate::open::failure::MOST_FINDINGS;
use crate::open::log::Log;
use crate::open::shared::Shared;
use crate::values::mutex::lock;

impl Log {
    /// Checks what holds on the session's thread between two turns, if the journal is not damaged.
    ///
    /// # Panics
    /// Panics if it does not hold.
    pub(crate) fn check(&self) {
        let Self { segments, end, committed_end, committed, pending, shared, .. } = self;
        if self.damage.is_some() {
            return;
        }
        assert!(!self.turn.begun, "records of a turn that has ended are neither visible nor discarded");
        assert!(end == committed_end, "records follow at {end:?}, and turns end at {committed_end:?}");
        assert!(pending == committed, "the totals are {pending:?}, and those of turns {committed:?}");
        let (begins, pends) = (self.generation_start, self.pending_generation_start);
        assert!(begins == pends, "the generation begins at {begins:?}, and pends at {pends:?}");
        assert!(begins <= *committed_end, "the generation begins at {begins:?}, after {committed_end:?}");
        let (turn, before) = (self.committed_turn, self.turn_before);
        assert!(before <= turn, "turn {turn} was committed, after turn {before}");
        assert!(self.turns <= turn, "{} turns were committed, up to turn {turn}", self.turns);
        let next_out = committed.next_out.0;
        assert!(next_out >= 1, "NextNumOut is 0");
        let (limit, mark) = (self.limit, self.mark);
        assert!(self.turns == 0 || next_out <= mark, "NextNumOut is {next_out}, and may reach {mark}");
        assert!(limit <= mark, "the mark {mark} is seen to above {limit}");
        let Some(current) = segments.get(committed_end.segment) else {
            panic!("turns end in segment {} of {}", committed_end.segment, segments.len());
        };
        let (offset, bytes) = (committed_end.offset, current.mapping.bytes());
        let is_place = (SEGMENT_HEADER..=bytes.len()).contains(&offset) && offset.is_multiple_of(8);
        assert!(is_place, "turns end at {offset} in a segment of {} bytes", bytes.len());
        let is_free = bytes.len() - offset < 8 || u64_at(bytes, offset) == 0;
        assert!(is_free, "a record is visible after the last turn");
        let is_sorted = segments.is_sorted_by(|one, next| one.number < next.number);
        assert!(is_sorted, "the segments are not in the order of their numbers");
        let is_sorted = segments[..=committed_end.segment].is_sorted_by_key(|segment| segment.start);
        assert!(is_sorted, "the segments are not in the order of the messages that they begin with");
        current.check(offset);
        if let Some(cursor) = &self.cursor {
            let after = cursor.after;
            assert!(after <= *committed_end, "a message was read up to {after:?}, after {committed_end:?}");
        }
        let floor = self.reached();
        if let Some(writer) = &self.floor {
            writer.check(&floor);
        }
        shared.check();
        // Only this thread changes these.
        let published = (
            shared.position.at.load(Ordering::Relaxed),
            shared.position.generation.load(Ordering::Relaxed),
            shared.position.next_out.load(Ordering::Relaxed),
            shared.position.needed_from.load(Ordering::Relaxed),
        );
        let position = u64::from(floor.segment) << 32 | floor.offset;
        let reached = (position, floor.generation.0, next_out, segments[0].number);
        assert!(published == reached, "the store's threads see {published:x?}, and {reached:x?} is reached");
    }
}

impl Shared {
    /// Checks what any thread may know of the words that it shares with others, which go on
    /// changing them.
    ///
    /// # Panics
    /// Panics if it does not hold.
    pub(crate) fn check(&self) {
        // In this order: the session's thread publishes where it is before it gives segments up.
        let needed_from = self.position.needed_from.load(Ordering::Acquire);
        let (segment, offset) = self.position.reached();
        assert!(needed_from <= segment, "segments from {needed_from} on are read, and {segment} is written");
        assert!(offset >= SEGMENT_HEADER, "the next turn begins at {offset}, within the header");
        let next_out = self.position.next_out.load(Ordering::Acquire);
        assert!(next_out >= 1, "the store's threads see NextNumOut 0");
        // What has failed stays so.
        if self.failure.failed.load(Ordering::Acquire) {
            assert!(lock(&self.failure.why).is_some(), "the journal has failed, and nobody knows why");
        }
        // Never waited for: a worker's thread neither sleeps here nor wakes one that does.
        if let Ok(found) = self.failure.found.try_lock() {
            let (taken, known) = (found.taken, found.known.len());
            assert!(taken <= known, "{taken} damages were taken of {known}");
            assert!(known <= MOST_FINDINGS, "{known} damages are kept, and at most {MOST_FINDINGS} may be");
            let left = self.failure.has_found.load(Ordering::Acquire);
            assert!(left == (taken < known), "damages are left: {left}, {taken} of {known} were taken");
        }
        // Held for a step of the creation, which takes the disk's time.
        if self.head.created.load(Ordering::Acquire)
            && let Ok(creation) = self.head.creation.try_lock()
        {
            assert!(creation.is_none(), "the journal is there, and is being created");
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;

    use fixbolt_codec::SeqNum;
    use fixbolt_session::store::Generation;

    use super::*;
    use crate::files::base::Base;
    use crate::open::opening::Opening;
    use crate::system::backend::{Backend, System};
    use crate::testing::{TempDir, key, outbound, session};
    use crate::values::limits::Limits;

    /// Returns a new journal, which no thread looks after.
    pub(crate) fn opened(dir: &TempDir, name: &str) -> Log {
        opened_with(dir, name, (64 << 10, 256 << 10))
    }

    /// Returns a journal whose segments have at least and at most so many bytes.
    pub(crate) fn opened_with(dir: &TempDir, name: &str, sizes: (u64, u64)) -> Log {
        let backend: Arc<dyn Backend> = Arc::new(System);
        let opening = Opening {
            directory: dir.path().join(name),
            session: &session("A"),
            key: key(0),
            backend: Arc::clone(&backend),
            base: Arc::new(Base::new(backend, dir.path().to_owned(), None)),
            limits: Limits { sizes, ..Limits::DEFAULT },
        };
        let (log, ..) = opening.open().unwrap();
        log.check();
        log
    }

    /// Returns a journal of several segments, of which a message was read back.
    fn log(dir: &TempDir) -> Log {
        let mut log = opened(dir, "journal");
        for turn in 1..5 {
            for n in 0..3 {
                log.append(turn, &outbound(turn * 10 + n, &[b'x'; 20_000])).unwrap();
            }
            log.finish();
            log.publish();
            log.check();
            log.append(9, &outbound(100, &[b'x'; 70_000])).unwrap();
            log.rollback();
            log.check();
        }
        log.read(Generation(0), SeqNum(10)..=SeqNum(10)).unwrap().unwrap();
        assert!(log.committed_end.segment > 0, "in several segments");
        log
    }

    /// Returns what a check says of a value that was damaged.
    pub(crate) fn said(check: impl FnOnce()) -> String {
        let panic = catch_unwind(AssertUnwindSafe(check)).expect_err("the damage is not found");
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        panic.downcast_ref::<String>().cloned().or(text).unwrap()
    }

    /// Changes the journal, and what `check` says then.
    type Damage = (fn(&mut Log), &'static str);

    const OF_THE_LOG: [Damage; 25] = [
        (|it| it.append(9, &outbound(90, b"x")).unwrap(), "neither visible nor discarded"),
        (|it| it.end.offset += 8, "records follow at"),
        (|it| it.pending.next_in = SeqNum(7), "the totals are"),
        (|it| it.generation_start.offset += 8, "and pends at"),
        (|it| it.generation_start.segment = 99, "and pends at"),
        (
            |it| {
                it.generation_start.segment = 99;
                it.pending_generation_start = it.generation_start;
            },
            "the generation begins at RecordAddress { segment: 99",
        ),
        (|it| it.turn_before = 5, "turn 4 was committed, after turn 5"),
        (|it| it.turns = 5, "5 turns were committed, up to turn 4"),
        (
            |it| {
                it.committed.next_out = SeqNum::ZERO;
                it.pending = it.committed;
            },
            "NextNumOut is 0",
        ),
        (|it| it.mark = 42, "NextNumOut is 43, and may reach 42"),
        (|it| it.limit = u64::MAX, "is seen to above 18446744073709551615"),
        (|it| ends_at(it, 99, SEGMENT_HEADER), "turns end in segment 99 of"),
        (|it| ends_at(it, it.end.segment, 1 << 30), "turns end at 1073741824 in a segment of"),
        (|it| ends_at(it, it.end.segment, it.end.offset + 1), "in a segment of"),
        (|it| ends_at(it, 1, SEGMENT_HEADER), "a record is visible after the last turn"),
        (|it| it.segments[0].number = 99, "the segments are not in the order of their numbers"),
        (
            |it| it.segments[0].start = (Generation(9), SeqNum(1)),
            "the segments are not in the order of the messages that they begin with",
        ),
        (|it| notes(it, [(40, 0), (41, 200 << 10)]), "a message begins at 204800, and messages end at"),
        (|it| notes(it, [(41, 0), (40, 40 << 10)]), "follows (Generation(0), SeqNum(41)) at 0"),
        (|it| it.cursor.as_mut().unwrap().after.segment = 99, "a message was read up to"),
        (|it| it.committed_turn = 6, "the head has the floor"),
        (|it| it.shared.position.publish(1, 64 << 10), "the store's threads see"),
        (|it| it.shared.position.generation.store(1, Ordering::Relaxed), "the store's threads see"),
        (|it| it.shared.position.next_out.store(7, Ordering::Relaxed), "the store's threads see"),
        (|it| it.shared.position.needed_from.store(0, Ordering::Relaxed), "the store's threads see"),
    ];

    fn ends_at(log: &mut Log, segment: usize, offset: usize) {
        (log.end.segment, log.end.offset) = (segment, offset);
        log.committed_end = log.end;
    }

    fn notes(log: &mut Log, messages: [(u64, usize); 2]) {
        let segment = &mut log.segments[log.end.segment];
        segment.forget(0);
        for (seq, offset) in messages {
            segment.note(Generation(0), SeqNum(seq), offset);
        }
    }

    const OF_THE_SHARED_WORDS: [Damage; 7] = [
        (
            |it| it.shared.position.needed_from.store(99, Ordering::Relaxed),
            "segments from 99 on are read, and",
        ),
        (|it| it.shared.position.publish(99, 8), "the next turn begins at 8, within the header"),
        (
            |it| it.shared.position.next_out.store(0, Ordering::Relaxed),
            "the store's threads see NextNumOut 0",
        ),
        (
            |it| it.shared.failure.failed.store(true, Ordering::Relaxed),
            "the journal has failed, and nobody knows why",
        ),
        (|it| lock(&it.shared.failure.found).taken = 1, "1 damages were taken of 0"),
        (
            |it| lock(&it.shared.failure.found).known = vec![String::new(); MOST_FINDINGS + 1],
            "65 damages are kept, and at most 64 may be",
        ),
        (
            |it| it.shared.failure.has_found.store(true, Ordering::Relaxed),
            "damages are left: true, 0 of 0 were taken",
        ),
    ];

    #[test]
    fn each_condition_of_an_open_journal_is_seen_to_fail() {
        for (damage, says) in OF_THE_LOG {
            let dir = TempDir::new("invariants");
            let mut log = log(&dir);
            damage(&mut log);
            let said = said(|| log.check());
            assert!(said.contains(says), "{said}, not {says}");
        }
    }

    #[test]
    fn each_condition_of_the_shared_words_is_seen_to_fail() {
        for (damage, says) in OF_THE_SHARED_WORDS {
            let dir = TempDir::new("invariants");
            let mut log = log(&dir);
            log.shared.check();
            damage(&mut log);
            let said = said(|| log.shared.check());
            assert!(said.contains(says), "{said}, not {says}");
        }
    }

    #[test]
    fn a_journal_that_is_there_before_it_is_created_is_noticed() {
        let dir = TempDir::new("invariants");
        let log = opened(&dir, "journal");
        log.shared.head.created.store(true, Ordering::Relaxed);
        let said = said(|| log.shared.check());
        assert!(said.contains("the journal is there, and is being created"), "{said}");
    }
}
