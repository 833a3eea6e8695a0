//! What the session's thread and the store's threads share about a journal.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use fixbolt_session::store::{SessionKey, StoreError};

use crate::files::creation::Creation;
use crate::files::lock::DirectoryWatch;
use crate::open::bell::Task;
use crate::open::calls::Calls;
use crate::open::failure::Failure;
use crate::open::head_on_disk::HeadOnDisk;
use crate::open::position::Position;
use crate::open::segments::Segments;
use crate::values::limits::Limits;
use crate::values::mutex::lock;

/// What the session's thread and the store's threads share about a session: what does not change,
/// and five values by who writes them.
///
/// Whoever takes several of the locks takes them in this order: `archiving`, `creation` and below
/// it that of the base's names, `maker`, the head's `file`; then `next`, `ahead`, `past`,
/// `given_up`; then those of `failure`, and that of `calls`, and below it those of the threads, of
/// who arrives and who has rung. The worker's waker may be called under `creation`, and under
/// `found` of `failure`.
pub(crate) struct Shared {
    pub(crate) directory: PathBuf,
    pub(crate) key: SessionKey,
    pub(crate) boot: [u8; 16],
    /// The process that has opened the journal.
    pub(crate) process: u32,
    pub(crate) watch: DirectoryWatch,
    /// Number of the first segment that opening the journal has read.
    pub(crate) read_from: u32,
    pub(crate) limits: Limits,
    pub(crate) position: Position,
    pub(crate) failure: Failure,
    pub(crate) head: HeadOnDisk,
    pub(crate) segments: Segments,
    pub(crate) calls: Calls,
}

impl Shared {
    /// Takes one step of the journal's creation, if one is left.
    pub(crate) fn continue_creation(&self) -> Result<(), StoreError> {
        self.step(&mut lock(&self.head.creation))
    }

    /// Returns whether a step of the journal's creation is left that may be taken.
    pub(crate) fn is_being_created(&self) -> bool {
        !self.head.created.load(Ordering::Acquire) && !self.failure.failed.load(Ordering::Acquire)
    }

    /// Takes all steps of the journal's creation that are left.
    pub(crate) fn finish_creation(&self) -> Result<(), StoreError> {
        let mut creation = lock(&self.head.creation);
        while creation.is_some() {
            self.step(&mut creation)?;
        }
        Ok(())
    }

    fn step(&self, creation: &mut Option<Creation>) -> Result<(), StoreError> {
        let Some(left) = creation else { return Ok(()) };
        // The failure stays: another attempt might not find it.
        if left.step().inspect_err(|error| self.failure.fail(error.clone()))? {
            *creation = None;
            let head = lock(&self.head.file);
            self.head.synced.set(head.head.generation, head.head.mark);
            self.head.created.store(true, Ordering::Release);
            self.calls.ring(Task::Prepare);
            self.calls.ring(Task::Archive);
        }
        Ok(())
    }
}
