//! Appending to a session's journal, on the session's own thread.
//!
//! This is the hot path. Within a segment, an append is one copy, one checksum and one header.
//! Segments and reserve marks are prepared by the store's threads; if they are late, this thread
//! makes them itself.

use std::sync::atomic::Ordering;

use fixbolt_codec::SeqNum;
use fixbolt_session::store::{Record, RecordFlags, RecordKind, StoreError};

use crate::files::segment::Segment;
use crate::layout::checkpoint::Checkpoint;
use crate::layout::records::{FIRST, Header, Kind, RECORD_HEADER, SEGMENT_HEADER, record_size};
use crate::layout::scan::RecordAddress;
use crate::open::bell::Task;
use crate::open::log::Log;
use crate::values::ledger::is_original;
use crate::values::mutex::lock;
use crate::values::reserve::RESERVE_LATE;

/// With fewer sequence numbers left below the mark, no half of them is waited for.
const LAST: u64 = 64;

/// Maximum length of a body.
const LARGEST_BODY: usize = 256 << 20;
/// A generation begins in a new segment if this many bytes of the current one are used, or half of
/// it, so that the old one can be archived.
const WORN: usize = 32 << 10;
/// How far ahead of a record memory is prefetched, in bytes: a few records.
const PREFETCH: usize = 1344;
/// Length of a seal, for which every segment reserves space.
const SEAL: usize = RECORD_HEADER;

impl Log {
    /// Adds a record to turn `turn`.
    #[inline]
    pub(crate) fn append(&mut self, turn: u64, record: &Record<'_>) -> Result<(), StoreError> {
        if self.damage.is_some() || self.shared.failure.failed.load(Ordering::Relaxed) {
            return Err(self.refusal());
        }
        if record.body.len() > LARGEST_BODY {
            return Err(StoreError::TooLarge { bytes: record.body.len(), limit: LARGEST_BODY });
        }
        let next_out = self.pending.check(record)?;
        if next_out.0 > self.limit {
            self.raise_limit(next_out)?;
        }
        self.turn.number = turn;
        let size = record_size(record.body.len());
        let resets = record.kind == RecordKind::Reset;
        if self.end.offset + size + SEAL > self.alert || resets {
            self.make_room(size, record)?;
        }
        self.pending.add(record);
        if resets {
            self.pending_generation_start = self.end;
        }
        let header = Header {
            length: record.body.len() as u32,
            kind: Kind::Of(record.kind),
            marks: 0,
            flags: record.flags,
            generation: self.pending.generation,
            connection: record.connection,
            seq: record.seq,
            next_in: record.next_in,
            cause: record.cause,
            utc: record.utc,
            mono: record.mono,
            turn,
            next_out,
        };
        self.put(header, record.body);
        Ok(())
    }

    /// Writes a record at the end: the turn's first one without its first word.
    #[inline]
    fn put(&mut self, mut header: Header, body: &[u8]) {
        let (at, turn) = (self.end, &mut self.turn);
        let segment = &mut self.segments[at.segment];
        if let Kind::Of(kind) = header.kind
            && is_original(kind, header.flags)
        {
            segment.note(header.generation, header.seq, at.offset);
        }
        if !turn.begun {
            header.marks = FIRST;
        }
        segment.mapping.write(at.offset + RECORD_HEADER, body);
        let [first_word, rest @ ..] = header.words(self.salt, body);
        segment.mapping.write_words(at.offset + 8, &rest);
        if turn.begun {
            segment.mapping.publish(at.offset, first_word);
        } else {
            (turn.begun, turn.first, turn.first_word) = (true, at, first_word);
        }
        segment.mapping.prefetch(at.offset + PREFETCH);
        (turn.last, turn.second_word) = (at, rest[0]);
        self.end.offset += header.size();
    }

    /// Makes room for a record of `size` bytes, and looks ahead.
    #[cold]
    fn make_room(&mut self, size: usize, record: &Record<'_>) -> Result<(), StoreError> {
        let (length, at) = (self.segments[self.end.segment].mapping.len(), self.end.offset);
        let is_worn = record.kind == RecordKind::Reset && at >= WORN.min(length / 2);
        if at + size + SEAL > length || is_worn {
            self.next_segment(size, record)?;
        }
        self.look_ahead(self.end.offset + size + SEAL);
        Ok(())
    }

    /// Ends the current segment with a seal and continues in the next one, which has space for
    /// `size` bytes and a seal.
    #[cold]
    fn next_segment(&mut self, size: usize, record: &Record<'_>) -> Result<(), StoreError> {
        let room = size + Checkpoint::SIZE + SEAL;
        let fits = |s: &Segment| s.mapping.len() - SEGMENT_HEADER >= room;
        if self.segments.len() == self.end.segment + 1 {
            let ready = lock(&self.shared.segments.next).take();
            let segment = match ready {
                Some(segment) if fits(&segment) => segment,
                other => self.make_segment(room, other.into_iter().collect())?,
            };
            self.segments.push(segment);
        } else if !fits(&self.segments[self.end.segment + 1]) {
            // Left over from a turn that was rolled back, with all after it: no committed record
            // follows.
            let left = self.segments.split_off(self.end.segment + 1);
            let segment = self.make_segment(room, left)?;
            self.segments.push(segment);
        }
        let seal = Header {
            length: 0,
            kind: Kind::Seal,
            marks: 0,
            flags: RecordFlags::default(),
            generation: self.pending.generation,
            connection: self.pending.connection,
            seq: SeqNum::ZERO,
            next_in: self.pending.next_in,
            cause: None,
            utc: record.utc,
            mono: record.mono,
            turn: self.turn.number,
            next_out: self.pending.next_out,
        };
        // A truncated and repaired segment may have no space for it, and needs none then.
        if self.end.offset + SEAL <= self.segments[self.end.segment].mapping.len() {
            self.put(seal, b"");
        }
        self.segments[self.end.segment].mapping.end_records();
        self.end = RecordAddress { segment: self.end.segment + 1, offset: SEGMENT_HEADER };
        let segment = &mut self.segments[self.end.segment];
        segment.start = (self.pending.generation, self.pending.next_out);
        self.shared.segments.note_ready(segment.number, segment.ready);
        let begin = if self.turn.begun { self.turn.first } else { self.end };
        let checkpoint = Checkpoint {
            ledger: self.committed,
            last_turn: self.committed_turn,
            turn_before: self.turn_before,
            turns: self.turns,
            generation_start: self.spot(self.generation_start),
            turn_start: self.spot(begin),
        };
        let header = Header { length: Checkpoint::LENGTH as u32, kind: Kind::Checkpoint, ..seal };
        self.put(header, &checkpoint.encode());
        Ok(())
    }

    /// Creates a segment, as the store's thread was late or the unused ones, `small`, have too
    /// little space.
    #[cold]
    fn make_segment(&mut self, room: usize, mut small: Vec<Segment>) -> Result<Segment, StoreError> {
        let mut maker = lock(&self.shared.segments.maker);
        // One may have become ready while we waited for the lock.
        let late = lock(&self.shared.segments.next).take();
        if let Some(late) = late {
            if small.is_empty() && late.mapping.len() - SEGMENT_HEADER >= room {
                return Ok(late);
            }
            small.push(late);
        }
        while let Some(small) = small.pop() {
            lock(&self.shared.segments.ahead).retain(|(number, _)| *number != small.number);
            maker.unmake(small)?;
        }
        let segment = maker.make(room)?;
        lock(&self.shared.segments.ahead).push((segment.number, segment.mapping.ahead()));
        Ok(segment)
    }

    /// Allows NextNumOut to reach `next_out`, and asks for a higher mark.
    #[cold]
    fn raise_limit(&mut self, next_out: SeqNum) -> Result<(), StoreError> {
        let shared = &self.shared;
        shared.finish_creation()?;
        let generation = self.committed.generation;
        let synced = shared.head.synced.of(generation).unwrap_or(0);
        let is_higher = synced > self.mark;
        self.mark = self.mark.max(synced);
        if next_out.0 > self.mark {
            // The store's threads are late.
            let mut head = lock(&shared.head.file);
            let mark = next_out.0.saturating_add(RESERVE_LATE);
            shared.head.advance_mark(&mut head, shared.boot, generation, SeqNum(mark))?;
            self.mark = mark;
        } else if !is_higher {
            self.want(Task::Sync);
        }
        let left = self.mark - next_out.0;
        self.limit = if left < LAST { self.mark } else { next_out.0 + left / 2 };
        Ok(())
    }
}
