//! Finding a message of the past without searching a segment from its beginning.
//!
//! The segments that opening did not read have no index. `fixbolt-history` makes one as it verifies
//! them, and at once of a segment in which a message is wanted: to read it here could take as long
//! as the disk takes for 32 MiB, and the other sessions would wait.

use std::sync::atomic::Ordering;

use fixbolt_codec::SeqNum;
use fixbolt_session::store::Generation;

use crate::open::bell::Task;
use crate::open::log::Log;
use crate::values::mutex::lock;

/// How many sequence numbers after the message that was read last one is looked for from there.
const NEAR: u64 = 64;
/// How often to ask for an index before a message is searched without it: the thread may have
/// ended.
const MOST: u32 = 2000;

impl Log {
    /// Returns whether messages can be read from `first` on without a long search. If not, an index
    /// is being made.
    pub(crate) fn seek(&mut self, generation: Generation, first: SeqNum) -> bool {
        let shared = &self.shared;
        if shared.segments.has_indexes.load(Ordering::Acquire) {
            self.take_indexes();
        }
        let wanted = (generation, first);
        let used = &self.segments[..self.segments.len().min(self.committed_end.segment + 1)];
        let segment = used.partition_point(|s| s.start <= wanted).saturating_sub(1);
        let Some(segment) = used.get(segment).filter(|segment| !segment.is_indexed()) else { return true };
        let is_near = |(near, number): (Generation, SeqNum)| {
            near == generation && number < first && first.0 - number.0 <= NEAR
        };
        if self.cursor.is_some_and(|cursor| is_near(cursor.number)) || self.damage.is_some() {
            return true;
        }
        let number = segment.number;
        let times = if self.sought.0 == number { self.sought.1 + 1 } else { 1 };
        self.sought = (number, times);
        if times > MOST {
            return true;
        }
        self.shared.segments.sought.store(number, Ordering::Release);
        self.shared.calls.ring(Task::Archive);
        false
    }

    /// Takes the indexes that were made.
    #[cold]
    fn take_indexes(&mut self) {
        let segments = &self.shared.segments;
        segments.has_indexes.store(false, Ordering::Release);
        let indexes = std::mem::take(&mut *lock(&segments.indexes));
        for (number, index) in indexes {
            if let Some(segment) = self.segments.iter_mut().find(|segment| segment.number == number) {
                segment.take_index(index);
            }
        }
    }
}
