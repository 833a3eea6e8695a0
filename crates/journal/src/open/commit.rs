//! Making a session's turn visible, or discarding it.
//!
//! This is the hot path. A commit marks the last record, stores the word that makes the turn
//! visible, and then the floor.

use std::sync::atomic::Ordering;

use fixbolt_codec::SeqNum;

use crate::layout::records::{Header, SEGMENT_HEADER};
use crate::open::bell::Task;
use crate::open::log::{Log, Turn};
use crate::values::mutex::lock;
use crate::values::reserve::RESERVE;

impl Log {
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
                self.shared.segments.small_generation.store(used, Ordering::Release);
            }
            self.shared.position.generation.store(self.pending.generation.0, Ordering::Release);
            self.want(Task::Sync);
        }
        self.committed = self.pending;
        self.generation_start = self.pending_generation_start;
        self.committed_end = self.end;
        let floor = self.reached();
        if let Some(writer) = &mut self.floor {
            writer.put(&floor);
        }
        self.shared.position.next_out.store(floor.next_out.0, Ordering::Release);
        self.shared.position.publish(floor.segment, floor.offset);
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
        lock(&self.shared.segments.given_up).extend(self.segments.drain(..first));
        for at in [
            &mut self.end,
            &mut self.committed_end,
            &mut self.generation_start,
            &mut self.pending_generation_start,
        ] {
            *at = at.after_segments(first);
        }
        self.cursor = None;
        self.shared.position.needed_from.store(self.segments[0].number, Ordering::Release);
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
}
