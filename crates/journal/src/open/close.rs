//! Closing a session's journal.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use fixbolt_session::store::StoreError;

use crate::files::head::HeadFile;
use crate::files::names::file_name;
use crate::files::segment_maker::SegmentMaker;
use crate::layout::head_copy::HeadState;
use crate::open::bell::Task;
use crate::open::log::Log;
use crate::system::backend::failed;
use crate::system::mapping::MappingAhead;
use crate::values::mutex::lock;

impl Log {
    /// Writes everything to disk and leaves a clean mark. The lock is released with `self`. What
    /// the store's threads still share has neither descriptors nor pages.
    pub(crate) fn close(mut self) -> Result<(), StoreError> {
        if self.shared.process != std::process::id() {
            // Nothing is written: the journal goes on there. Its lock does not stay here, if nobody
            // held the head while this process was forked.
            if let Ok(mut head) = self.shared.head.file.try_lock() {
                head.close();
            }
            return Err(StoreError::Io {
                doing: format!("closing {}", self.shared.directory.display()),
                reason: "it is open in the process from which this one was forked".to_owned(),
            });
        }
        if self.damage.is_none() && !self.shared.failure.failed.load(Ordering::Relaxed) {
            // A failure is one of the journal, and returned as such below.
            let _ = self.shared.finish_creation();
        }
        let shared = Arc::clone(&self.shared);
        shared.position.closed.store(true, Ordering::Relaxed);
        drop(lock(&shared.segments.archiving));
        let mut maker = lock(&shared.segments.maker);
        maker.closed = true;
        let mut head = lock(&shared.head.file);
        let ahead = std::mem::take(&mut *lock(&shared.segments.ahead));
        let closed = self.leave(ahead, &mut maker, &mut head);
        head.close();
        // It is still there after a failure.
        drop(lock(&shared.segments.next).take());
        lock(&shared.segments.past).clear();
        lock(&shared.segments.given_up).clear();
        // To forget it.
        Task::ALL.into_iter().for_each(|task| shared.calls.ring(task));
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
        if self.shared.failure.failed.load(Ordering::Relaxed) {
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
        self.segments.extend(lock(&self.shared.segments.next).take());
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
