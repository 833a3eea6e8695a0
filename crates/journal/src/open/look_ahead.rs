//! What a session's thread does ahead of its records, and what it asks the store's threads for.
//!
//! An append compares the end of its record with one offset, the alert. It is where the segment
//! ends, or earlier, where pages or a segment should be made ready; so an append that only writes
//! its record pays for nothing else. What is wanted is noted, and done while the worker is idle:
//! pages are made ready by `prepare`, a few in a step, and a thread of the store is rung for by it,
//! which costs a system call. A worker that is never idle rings at the next alert, and takes such a
//! step when no page is left.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::files::segment::PAGE;
use crate::open::bell::Task;
use crate::open::log::Log;
use crate::open::wanted::Wanted;
use crate::system::system_calls::waits;

/// Bytes to make ready to write, at most, and at first: a session that writes little needs little.
pub(crate) const AHEAD: usize = 256 << 10;
pub(crate) const FIRST: usize = 16 << 10;
/// Bytes after which to look again whether a worker that has fallen behind has caught up.
const BEHIND: usize = 16 << 10;
/// A step takes 5 us. If it takes as long as this because the disk or memory was waited for, the
/// worker leaves pages to `fixbolt-store` for this time.
const SLOW: Duration = Duration::from_micros(500);
const LEFT_FOR: Duration = Duration::from_secs(1);

/// How much is stored before `fixbolt-sync` is rung for, which gives finished pages back to the
/// system.
const GIVEN_BACK: usize = 8 << 20;

impl Log {
    /// Notes that the store knows that something is wanted.
    #[cold]
    pub(crate) fn note_known(&mut self) {
        (self.has_news, self.wanted.is_known) = (false, true);
    }

    /// Asks for a thread of the store: when the worker is idle, or at once if it has not been since
    /// the last time.
    pub(crate) fn want(&mut self, task: Task) {
        if self.wanted.threads & task.bit() != 0 {
            self.wanted.threads &= !task.bit();
            self.shared.calls.ring(task);
        } else {
            self.wanted.threads |= task.bit();
            self.has_news = !self.wanted.is_known;
        }
    }

    /// Determines what is wanted once records reach `end` in the current segment, and the next
    /// alert.
    #[cold]
    pub(crate) fn look_ahead(&mut self, end: usize) {
        let segment = &self.segments[self.end.segment];
        let (number, length) = (segment.number, segment.mapping.len());
        let mut alert = length;
        if length < AHEAD && end < length / 2 {
            alert = length / 2;
        } else if self.wanted.segment_after != number {
            self.wanted.segment_after = number;
            self.want(Task::Prepare);
            // To ask at once if the worker is not idle until then, also where no page is wanted.
            alert = length / 4;
        } else if self.wanted.threads & Task::Prepare.bit() != 0 {
            // The worker has not been idle since it asked.
            self.want(Task::Prepare);
        }
        let small_segments = u32::try_from(GIVEN_BACK / length).unwrap_or(u32::MAX).max(1);
        let part = (number / small_segments, end / GIVEN_BACK);
        if part != self.wanted.part {
            self.wanted.part = part;
            self.shared.calls.ring(Task::Sync);
        }
        if self.shared.segments.ready_in(number) < length {
            alert = alert.min(self.look_at_pages(number, end));
        }
        self.alert = alert;
    }

    /// Determines whether pages of segment `number` are wanted once records reach `end`, and when
    /// to look again.
    fn look_at_pages(&mut self, number: u32, end: usize) -> usize {
        let (ready, window) = (self.shared.segments.ready_in(number), self.window());
        let left = ready.saturating_sub(end);
        if left > window / 4 * 3 {
            return ready - window / 4 * 3;
        }
        if left > window / 2 && !self.leaves_pages() {
            self.wanted.pages = true;
            self.has_news = !self.wanted.is_known;
            return ready - window / 2;
        }
        // A core that is free makes them ready sooner than this one.
        self.fall_behind();
        while self.shared.segments.ready_in(number) < end && !self.leaves_pages() {
            self.make_pages_ready();
        }
        let ready = self.shared.segments.ready_in(number);
        if ready > end { ready.min(end + BEHIND) } else { end + BEHIND }
    }

    /// Returns how many bytes to keep ready: several times as many as were written since the
    /// journal was opened.
    fn window(&self) -> usize {
        let number = self.segments[self.end.segment].number;
        let (opened_in, opened_at) = self.opened_at;
        if number == opened_in {
            (4 * self.end.offset.saturating_sub(opened_at)).clamp(FIRST, AHEAD)
        } else {
            AHEAD
        }
    }

    /// Returns whether pages are made ready by `fixbolt-store` now, because one was slow.
    pub(crate) fn leaves_pages(&mut self) -> bool {
        if self.wanted.left_until.is_some_and(|until| until <= Instant::now()) {
            self.wanted.left_until = None;
        }
        self.wanted.left_until.is_some()
    }

    /// Has `fixbolt-store` make pages ready, unless it does.
    fn fall_behind(&mut self) {
        self.wanted.pages |= !self.leaves_pages();
        self.has_news = !self.wanted.is_known;
        if !self.shared.segments.helps.load(Ordering::Acquire)
            && !self.shared.segments.is_behind.swap(true, Ordering::AcqRel)
        {
            self.shared.calls.ring(Task::Prepare);
        }
    }

    /// Does one step of what is wanted: rings for the threads, or makes pages ready. Returns
    /// whether there is more. Called between turns.
    pub(crate) fn prepare(&mut self) -> bool {
        if self.damage.is_some() || self.shared.failure.failed.load(Ordering::Relaxed) {
            self.wanted = Wanted::default();
            return false;
        }
        let threads = std::mem::take(&mut self.wanted.threads);
        if threads != 0 {
            let wanted = [Task::Prepare, Task::Sync].into_iter().filter(|task| threads & task.bit() != 0);
            wanted.for_each(|task| self.shared.calls.ring(task));
        } else if self.wanted.pages {
            let window = self.end.offset + self.window();
            let goal = window.min(self.segments[self.end.segment].mapping.len());
            if self.make_pages_ready() >= goal {
                self.wanted.pages = false;
                self.look_ahead(self.end.offset);
            }
        }
        self.wanted.is_known = self.wanted.pages || self.wanted.threads != 0;
        self.wanted.is_known
    }

    /// Takes a step to make the next pages of the segment ready, all of which are behind the last
    /// record. Returns up to where pages are ready.
    fn make_pages_ready(&mut self) -> usize {
        let segment = &mut self.segments[self.end.segment];
        let (number, length) = (segment.number, segment.mapping.len());
        let from =
            self.shared.segments.ready_in(number).max(self.end.offset.next_multiple_of(PAGE)).min(length);
        let (begin, before) = (Instant::now(), waits());
        let ready = segment.step(from);
        self.shared.segments.note_ready(number, ready);
        let took = begin.elapsed();
        if took >= SLOW && waits() > before {
            self.leave_pages(begin + took);
        }
        ready
    }

    /// Leaves pages to the thread for some time, as one had to be waited for.
    pub(crate) fn leave_pages(&mut self, now: Instant) {
        self.wanted.left_until = Some(now + LEFT_FOR);
        self.wanted.pages = false;
        self.fall_behind();
    }
}
