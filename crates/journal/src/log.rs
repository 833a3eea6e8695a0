//! One session's open journal: appending, committing and rolling back, on the session's own thread.
//!
//! This is the hot path. Within a segment, an append is one copy, one checksum and one header; a
//! commit marks the last record, stores the word that makes the turn visible, and then the floor.
//! Segments and reserve marks are prepared by the store's threads; if they are late, this thread
//! makes them itself. `recover` has decided before what the files of a recovered journal mean.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use fixbolt_codec::SeqNum;
use fixbolt_session::store::{Record, RecordFlags, RecordKind, StoreError};

use crate::backend::failed;
use crate::checkpoint::{Checkpoint, Spot};
use crate::floor::{Floor, FloorWriter};
use crate::head::HeadFile;
use crate::head_copy::HeadState;
use crate::layout::{FIRST, Header, Kind, RECORD_HEADER, SEGMENT_HEADER, record_size};
use crate::ledger::{Ledger, is_original};
use crate::lock::Lock;
use crate::look_ahead::Wanted;
use crate::mapping::MappingAhead;
use crate::read_back::Cursor;
use crate::scan::RecordAddress;
use crate::segment::{Segment, SegmentMaker, file_name};
use crate::shared::{Shared, lock};
use crate::thread::Task;

/// Minimum distance of the mark ahead of the outbound sequence numbers. A power loss skips at most
/// this many, unless the distance was larger.
pub(crate) const RESERVE: u64 = 1 << 14;
/// Maximum distance, for sessions that use sequence numbers quickly.
pub(crate) const RESERVE_MOST: u64 = 1 << 20;

/// The distance if the session's thread has to write the mark itself, which it should not have to
/// do again soon.
const RESERVE_LATE: u64 = 1 << 18;

/// The journal of one session, open for appending.
pub(crate) struct Log {
    pub(crate) shared: Arc<Shared>,
    pub(crate) salt: u32,
    /// All segments, in order. Those after the current one were taken for a turn that was rolled
    /// back.
    pub(crate) segments: Vec<Segment>,
    /// Why nothing can be appended.
    pub(crate) damage: Option<String>,
    /// Where the next record goes, and where the next turn goes.
    pub(crate) end: RecordAddress,
    pub(crate) committed_end: RecordAddress,
    pub(crate) committed_turn: u64,
    pub(crate) turn_before: u64,
    /// Number of committed turns.
    pub(crate) turns: u64,
    pub(crate) committed: Ledger,
    pub(crate) pending: Ledger,
    pub(crate) generation_start: RecordAddress,
    pub(crate) pending_generation_start: RecordAddress,
    /// NextNumOut must not exceed this: the mark on disk; 0 before a new journal is.
    pub(crate) mark: u64,
    /// Once NextNumOut exceeds this, it is time to see to the mark: half of what was left is used.
    pub(crate) limit: u64,
    /// Once records of the current segment end after this offset, it is time to see to what is
    /// ahead of them (`look_ahead`), or to the next segment.
    pub(crate) alert: usize,
    /// Where the journal ended when it was opened: the number of the segment, and the offset.
    pub(crate) opened_at: (u32, usize),
    pub(crate) wanted: Wanted,
    /// Whether something is wanted that the store does not know of.
    pub(crate) has_news: bool,
    /// `None` if the journal is damaged: nothing is committed then.
    pub(crate) floor: Option<FloorWriter>,
    pub(crate) turn: Turn,
    /// The position after the message that was read last.
    pub(crate) cursor: Option<Cursor>,
    /// How far back from NextNumOut messages are read.
    pub(crate) horizon: u64,
    /// Held as long as the log is open.
    pub(crate) _lock: Lock,
}

/// The open turn.
#[derive(Default)]
pub(crate) struct Turn {
    number: u64,
    /// Whether a record was added.
    begun: bool,
    /// The first record, and the word that will make the turn visible.
    first: RecordAddress,
    first_word: u64,
    /// The last record, and the second word of its header as long as others may follow.
    last: RecordAddress,
    second_word: u64,
}

impl Turn {
    /// Returns whether a record was added.
    pub(crate) const fn is_begun(&self) -> bool {
        self.begun
    }
}

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
        if self.damage.is_some() || self.shared.failed.load(Ordering::Relaxed) {
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

    /// Prepares the whole turn for publication: marks its last record.
    #[inline]
    pub(crate) fn finish(&mut self) {
        let Turn { begun, last, second_word, .. } = self.turn;
        if begun {
            let word = second_word ^ Header::TO_LAST;
            self.segments[last.segment].mapping.write_words(last.offset + 8, &[word]);
        }
    }

    /// Makes the turn visible.
    #[inline]
    pub(crate) fn publish(&mut self) {
        if !self.turn.begun {
            return;
        }
        self.turn.begun = false;
        let Turn { number, first, first_word, .. } = self.turn;
        (self.turn_before, self.committed_turn) = (self.committed_turn, number);
        self.turns += 1;
        self.segments[first.segment].mapping.publish(first.offset, first_word);
        let resets = self.pending.generation != self.committed.generation;
        let next_out_before = self.committed.next_out;
        let leaves = resets || self.end.segment != self.committed_end.segment;
        if resets {
            // Sequence numbers restart: the reserve of the old ones is larger than the new mark
            // will be.
            let next_out = self.pending.next_out.0;
            self.mark = self.mark.min(next_out.saturating_add(RESERVE));
            self.limit = self.limit.min(next_out.saturating_add(RESERVE / 2));
            if self.generation_start.segment == self.committed_end.segment {
                let used = (self.committed_end.offset as u64).next_multiple_of(4096);
                self.shared.small_generation.store(used, Ordering::Release);
            }
            self.shared.generation.store(self.pending.generation.0, Ordering::Release);
            self.want(Task::Sync);
        }
        self.committed = self.pending;
        self.generation_start = self.pending_generation_start;
        self.committed_end = self.end;
        let floor = self.reached();
        if let Some(writer) = &mut self.floor {
            writer.put(&floor);
        }
        self.shared.next_out.store(floor.next_out.0, Ordering::Release);
        self.shared.publish_position(floor.segment, floor.offset);
        if leaves {
            self.give_up_past(next_out_before);
        }
    }

    /// Hands over the segments that only hold closed generations, or messages beyond the horizon of
    /// NextNumOut, also as it was before the last turn, which may have begun a replay.
    #[cold]
    pub(crate) fn give_up_past(&mut self, next_out_before: SeqNum) {
        let next_out = self.committed.next_out.min(next_out_before);
        let oldest = SeqNum(next_out.0.saturating_sub(self.horizon));
        let wanted = (self.committed.generation, oldest);
        let used = &self.segments[..=self.committed_end.segment];
        let first = used.partition_point(|s| s.start <= wanted).saturating_sub(1);
        let first = first.max(self.generation_start.segment);
        if first == 0 {
            return;
        }
        lock(&self.shared.given_up).extend(self.segments.drain(..first));
        for at in [
            &mut self.end,
            &mut self.committed_end,
            &mut self.generation_start,
            &mut self.pending_generation_start,
        ] {
            *at = at.after_segments(first);
        }
        self.cursor = None;
        self.shared.needed_from.store(self.segments[0].number, Ordering::Release);
    }

    /// Returns what the last commit reached.
    #[inline]
    pub(crate) fn reached(&self) -> Floor {
        Floor {
            turn: self.committed_turn,
            generation: self.committed.generation,
            segment: self.segments[self.committed_end.segment].number,
            offset: self.committed_end.offset as u64,
            next_in: self.committed.next_in,
            next_out: self.committed.next_out,
        }
    }

    /// Discards the turn; its bytes become zero again.
    pub(crate) fn rollback(&mut self) {
        self.turn.begun = false;
        let from = self.committed_end;
        for n in from.segment..=self.end.segment {
            let begin = if n == from.segment { from.offset } else { SEGMENT_HEADER };
            let segment = &mut self.segments[n];
            // A turn that continued in the next segment has ended this one with a seal.
            let end = if n == self.end.segment { self.end.offset } else { segment.mapping.len() };
            segment.mapping.clear(begin..end);
            segment.forget(begin);
        }
        self.end = from;
        self.pending = self.committed;
        self.pending_generation_start = self.generation_start;
        // It may have been that of a later segment.
        self.alert = 0;
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
            let ready = lock(&self.shared.next_segment).take();
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
        self.shared.note_ready(segment.number, segment.ready);
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

    fn spot(&self, at: RecordAddress) -> Spot {
        Spot { segment: self.segments[at.segment].number, offset: at.offset as u32 }
    }

    /// Creates a segment, as the store's thread was late or the unused ones, `small`, have too
    /// little space.
    #[cold]
    fn make_segment(&mut self, room: usize, mut small: Vec<Segment>) -> Result<Segment, StoreError> {
        let mut maker = lock(&self.shared.maker);
        // One may have become ready while we waited for the lock.
        let late = lock(&self.shared.next_segment).take();
        if let Some(late) = late {
            if small.is_empty() && late.mapping.len() - SEGMENT_HEADER >= room {
                return Ok(late);
            }
            small.push(late);
        }
        while let Some(small) = small.pop() {
            lock(&self.shared.ahead).retain(|(number, _)| *number != small.number);
            maker.unmake(small)?;
        }
        let segment = maker.make(room)?;
        lock(&self.shared.ahead).push((segment.number, segment.mapping.ahead()));
        Ok(segment)
    }

    /// Allows NextNumOut to reach `next_out`, and asks for a higher mark.
    #[cold]
    fn raise_limit(&mut self, next_out: SeqNum) -> Result<(), StoreError> {
        let shared = &self.shared;
        shared.finish_creation()?;
        let generation = self.committed.generation;
        let synced = shared.synced.of(generation).unwrap_or(0);
        let is_higher = synced > self.mark;
        self.mark = self.mark.max(synced);
        if next_out.0 > self.mark {
            // The store's threads are late.
            let mut head = lock(&shared.head);
            let mark = next_out.0.saturating_add(RESERVE_LATE);
            shared.advance_mark(&mut head, generation, SeqNum(mark))?;
            self.mark = mark;
        } else if !is_higher {
            self.want(Task::Sync);
        }
        let left = self.mark - next_out.0;
        self.limit = if left < LAST { self.mark } else { next_out.0 + left / 2 };
        Ok(())
    }

    #[cold]
    fn refusal(&self) -> StoreError {
        if let Some(error) = &*lock(&self.shared.failure) {
            return error.clone();
        }
        let place = self.shared.directory.display().to_string();
        StoreError::Damaged { place, reason: self.damage.clone().unwrap_or_default() }
    }

    /// Returns a failure that one of the store's threads has noticed, once. Appends are refused
    /// from then on.
    pub(crate) fn take_failure(&mut self) -> Option<StoreError> {
        if self.damage.is_some() || !self.shared.failed.load(Ordering::Relaxed) {
            return None;
        }
        let error = lock(&self.shared.failure).clone()?;
        self.damage = Some(error.to_string());
        Some(error)
    }

    /// Writes everything to disk and leaves a clean mark. The lock is released with `self`. What
    /// the store's threads still share has neither descriptors nor pages.
    pub(crate) fn close(mut self) -> Result<(), StoreError> {
        if self.shared.process != std::process::id() {
            // Nothing is written: the journal goes on there.
            return Err(StoreError::Io {
                doing: format!("closing {}", self.shared.directory.display()),
                reason: "it is open in the process from which this one was forked".to_owned(),
            });
        }
        if self.damage.is_none() && !self.shared.failed.load(Ordering::Relaxed) {
            // A failure is one of the journal, and returned as such below.
            let _ = self.shared.finish_creation();
        }
        let shared = Arc::clone(&self.shared);
        shared.closed.store(true, Ordering::Relaxed);
        drop(lock(&shared.archiving));
        let mut maker = lock(&shared.maker);
        maker.closed = true;
        let mut head = lock(&shared.head);
        let ahead = std::mem::take(&mut *lock(&shared.ahead));
        let closed = self.leave(ahead, &mut maker, &mut head);
        head.close();
        // It is still there after a failure.
        drop(lock(&shared.next_segment).take());
        lock(&shared.past).clear();
        lock(&shared.given_up).clear();
        closed
    }

    fn leave(
        &mut self,
        ahead: Vec<(u32, MappingAhead)>,
        maker: &mut SegmentMaker,
        head: &mut HeadFile,
    ) -> Result<(), StoreError> {
        if self.damage.is_some() {
            return Ok(());
        }
        if self.shared.failed.load(Ordering::Relaxed) {
            return Err(self.refusal());
        }
        for (number, mapping) in ahead {
            if number <= self.segments[self.end.segment].number {
                mapping
                    .flush(0..mapping.len())
                    .map_err(|e| failed("syncing", &self.shared.directory.join(file_name(number)), &e))?;
            }
        }
        // Segments that were created ahead and not used would only take up space.
        self.segments.extend(lock(&self.shared.next_segment).take());
        while self.segments.len() > self.end.segment + 1 {
            if let Some(segment) = self.segments.pop() {
                maker.unmake(segment)?;
            }
        }
        let floor = self.reached();
        head.write(|head| {
            (head.state, head.boot) = (HeadState::Clean, self.shared.boot);
            (head.generation, head.mark) = (floor.generation, floor.next_out);
            if let Some(made) = &mut head.made {
                made.floor = floor;
            }
        })
    }
}
