//! The head on disk, as threads that write it leave it to each other.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use fixbolt_codec::SeqNum;
use fixbolt_session::store::{Generation, StoreError};

use crate::files::creation::Creation;
use crate::files::head::HeadFile;
use crate::layout::head_copy::HeadState;

/// The head and what is on disk of it. Whoever holds the file writes the rest.
pub(crate) struct HeadOnDisk {
    pub(crate) file: Mutex<HeadFile>,
    /// The mark that is on disk, and its generation.
    pub(crate) synced: SyncedMark,
    /// What is left to do until a new journal is on disk.
    pub(crate) creation: Mutex<Option<Creation>>,
    /// Whether nothing is. Until then there is no mark, so that nothing is appended.
    pub(crate) created: AtomicBool,
}

impl HeadOnDisk {
    /// Begins with a head that is on disk, or with one that `creation` will bring there.
    pub(crate) fn new(file: HeadFile, creation: Option<Creation>) -> Self {
        let (generation, mark) = (file.head.generation, file.head.mark);
        let created = creation.is_none();
        let synced = SyncedMark::new(generation, if created { mark } else { SeqNum::ZERO });
        Self {
            file: Mutex::new(file),
            synced,
            creation: Mutex::new(creation),
            created: AtomicBool::new(created),
        }
    }

    /// Has the mark written before the first append, as soon as a thread of the store gets to it.
    /// The caller has not shared the journal yet.
    pub(crate) fn forget_mark(&self, generation: Generation) {
        self.synced.set(generation, SeqNum::ZERO);
    }

    /// Writes the head with a new mark and informs the session's thread. The caller holds the
    /// file, and `boot` is the machine's.
    ///
    /// Marks are ordered by generation and number: what a thread decided before it waited for the
    /// head does not replace a later one.
    pub(crate) fn advance_mark(
        &self,
        file: &mut HeadFile,
        boot: [u8; 16],
        generation: Generation,
        mark: SeqNum,
    ) -> Result<(), StoreError> {
        if (file.head.generation, file.head.mark) < (generation, mark) || file.head.state != HeadState::InUse
        {
            file.write(|head| {
                (head.state, head.boot) = (HeadState::InUse, boot);
                (head.generation, head.mark) = (generation, mark);
            })?;
        }
        self.synced.set(file.head.generation, file.head.mark);
        Ok(())
    }
}

/// A mark and its generation, which a thread reads without waiting for the one that sets it.
pub(crate) struct SyncedMark {
    generation: AtomicU32,
    mark: AtomicU64,
}

impl SyncedMark {
    pub(crate) const fn new(generation: Generation, mark: SeqNum) -> Self {
        Self { generation: AtomicU32::new(generation.0), mark: AtomicU64::new(mark.0) }
    }

    /// Returns the mark of this generation, or `None` if there is none yet.
    pub(crate) fn of(&self, generation: Generation) -> Option<u64> {
        let same = || self.generation.load(Ordering::Acquire) == generation.0;
        // Between two equal generations the mark is of this one, or zero.
        let mark = same().then(|| self.mark.load(Ordering::Acquire))?;
        same().then_some(mark)
    }

    /// Sets both. Only the holder of the head does, or the opener before anyone else knows it.
    pub(crate) fn set(&self, generation: Generation, mark: SeqNum) {
        if self.generation.load(Ordering::Relaxed) != generation.0 {
            // The new generation is never seen with the mark of the old one, which may be higher.
            self.mark.store(0, Ordering::Release);
            self.generation.store(generation.0, Ordering::Release);
        }
        self.mark.store(mark.0, Ordering::Release);
    }
}
