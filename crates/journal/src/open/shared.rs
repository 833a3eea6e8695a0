//! What the session's thread and the store's threads share about a journal: a few counters, the
//! head, and what was found on the way.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use fixbolt_codec::SeqNum;
use fixbolt_session::WorkerWaker;
use fixbolt_session::store::{Generation, SessionKey, StoreError};

use crate::files::creation::Creation;
use crate::files::head::HeadFile;
use crate::files::lock::DirectoryWatch;
use crate::files::segment::Segment;
use crate::files::segment_maker::SegmentMaker;
use crate::layout::head_copy::HeadState;
use crate::open::bell::{Bells, Task};
use crate::system::mapping::MappingAhead;
use crate::values::limits::Limits;
use crate::values::mutex::lock;

/// What the session's thread and the store's threads share about a session.
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
    /// Number of the current segment in the upper half, offset of the next turn in the lower.
    pub(crate) position: AtomicU64,
    pub(crate) generation: AtomicU32,
    pub(crate) next_out: AtomicU64,
    /// The mark that is on disk, and its generation.
    pub(crate) synced: SyncedMark,
    pub(crate) closed: AtomicBool,
    /// Whether one of the store's threads has noticed a failure; `failure` has it.
    pub(crate) failed: AtomicBool,
    pub(crate) failure: Mutex<Option<StoreError>>,
    /// Damage in earlier segments, which does not stop the session.
    pub(crate) found: Mutex<Found>,
    /// Whether some of it was not taken yet.
    pub(crate) has_found: AtomicBool,
    /// The waker of the worker, called at a failure.
    pub(crate) waker: OnceLock<Arc<dyn WorkerWaker>>,
    pub(crate) head: Mutex<HeadFile>,
    pub(crate) maker: Mutex<SegmentMaker>,
    /// The unused segment that was created ahead, until the worker takes it.
    pub(crate) next_segment: Mutex<Option<Segment>>,
    /// Segments in the care of the store's threads: created, and not yet completely on disk.
    pub(crate) ahead: Mutex<Vec<(u32, MappingAhead)>>,
    /// Segments that nothing is written to any more and that are on disk.
    pub(crate) past: Mutex<Vec<(u32, MappingAhead)>>,
    /// The first segment that the session's thread may read from, and those before that it has
    /// given up.
    pub(crate) needed_from: AtomicU32,
    pub(crate) given_up: Mutex<Vec<Segment>>,
    /// Held while files are moved to the archive, and while their bytes are read.
    pub(crate) archiving: Mutex<()>,
    /// Whether one of those was read, so that its pages are in memory again.
    pub(crate) reads_past: AtomicBool,
    /// What is left to do until a new journal is on disk.
    pub(crate) creation: Mutex<Option<Creation>>,
    /// Whether nothing is. Until then there is no mark, so that nothing is appended.
    pub(crate) created: AtomicBool,
    /// Which threads are asked to look at the session, by [`Task::bit`], and how to wake them;
    /// `None` before they look after it.
    pub(crate) rings: AtomicU8,
    pub(crate) bells: Mutex<Option<Arc<Bells>>>,
    /// Up to where pages are ready to be written: the number of the segment in the upper half, the
    /// offset in the lower.
    pub(crate) ready: AtomicU64,
    /// Whether the session's thread has fallen behind in making pages ready, and whether
    /// `fixbolt-store` makes them for it: so it does until it has made the first ones.
    pub(crate) is_behind: AtomicBool,
    pub(crate) helps: AtomicBool,
    /// Bytes that the last generation has used, if it was within one segment; 0 once the next
    /// segment was made.
    pub(crate) small_generation: AtomicU64,
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
    fn set(&self, generation: Generation, mark: SeqNum) {
        if self.generation.load(Ordering::Relaxed) != generation.0 {
            // The new generation is never seen with the mark of the old one, which may be higher.
            self.mark.store(0, Ordering::Release);
            self.generation.store(generation.0, Ordering::Release);
        }
        self.mark.store(mark.0, Ordering::Release);
    }
}

/// Damage that was found, and how much of it was taken.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) known: Vec<String>,
    pub(crate) taken: usize,
}

/// Damages that are reported at most; a repair lists all.
pub(crate) const MOST_FINDINGS: usize = 64;

impl Shared {
    /// Reports a failure to the store and wakes its worker. Only the first failure is kept.
    pub(crate) fn fail(&self, error: StoreError) {
        lock(&self.failure).get_or_insert(error);
        self.failed.store(true, Ordering::Release);
        self.wake();
    }

    /// Reports damage to messages of the past.
    pub(crate) fn report_damage(&self, damage: &str) {
        self.report(format!("{damage}; messages that are lost are gap-filled when they are requested"));
    }

    /// Reports what does not stop the session. The same is reported once.
    pub(crate) fn report(&self, what: String) {
        let mut found = lock(&self.found);
        if !found.known.contains(&what) && found.known.len() < MOST_FINDINGS {
            found.known.push(what);
            self.has_found.store(true, Ordering::Release);
            self.wake();
        }
    }

    /// Takes the next damage that was reported and not taken yet.
    pub(crate) fn take_found(&self) -> Option<String> {
        let mut found = lock(&self.found);
        let next = found.known.get(found.taken).cloned();
        found.taken += usize::from(next.is_some());
        self.has_found.store(found.taken < found.known.len(), Ordering::Release);
        next
    }

    /// Begins to create the journal. The caller has not shared it yet.
    pub(crate) fn begin(&self, creation: Creation) {
        *lock(&self.creation) = Some(creation);
        self.created.store(false, Ordering::Release);
        self.forget_mark(lock(&self.head).head.generation);
    }

    /// Has the mark written before the first append, as soon as a thread of the store gets to it.
    /// The caller has not shared the journal yet.
    pub(crate) fn forget_mark(&self, generation: Generation) {
        self.synced.set(generation, SeqNum::ZERO);
    }

    /// Takes one step of the journal's creation, if one is left.
    pub(crate) fn continue_creation(&self) -> Result<(), StoreError> {
        self.step(&mut lock(&self.creation))
    }

    /// Returns whether a step of the journal's creation is left that may be taken.
    pub(crate) fn is_being_created(&self) -> bool {
        !self.created.load(Ordering::Acquire) && !self.failed.load(Ordering::Acquire)
    }

    /// Takes all steps of the journal's creation that are left.
    pub(crate) fn finish_creation(&self) -> Result<(), StoreError> {
        let mut creation = lock(&self.creation);
        while creation.is_some() {
            self.step(&mut creation)?;
        }
        Ok(())
    }

    fn step(&self, creation: &mut Option<Creation>) -> Result<(), StoreError> {
        let Some(left) = creation else { return Ok(()) };
        // The failure stays: another attempt might not find it.
        if left.step().inspect_err(|error| self.fail(error.clone()))? {
            *creation = None;
            let head = lock(&self.head);
            self.synced.set(head.head.generation, head.head.mark);
            self.created.store(true, Ordering::Release);
            self.ring(Task::Prepare);
            self.ring(Task::Archive);
        }
        Ok(())
    }

    /// Has a thread of the store look at the session.
    pub(crate) fn ring(&self, task: Task) {
        self.rings.fetch_or(task.bit(), Ordering::AcqRel);
        if let Some(bells) = &*lock(&self.bells) {
            bells.ring(task);
        }
    }

    /// Returns whether the thread was asked to look at the session since the last call.
    pub(crate) fn take_ring(&self, task: Task) -> bool {
        self.rings.load(Ordering::Acquire) & task.bit() != 0
            && self.rings.fetch_and(!task.bit(), Ordering::AcqRel) & task.bit() != 0
    }

    /// Returns where the next turn begins: the number of the segment, and the offset.
    pub(crate) fn reached(&self) -> (u32, usize) {
        let position = self.position.load(Ordering::Acquire);
        ((position >> 32) as u32, (position & 0xffff_ffff) as usize)
    }

    /// Notes that the pages of a segment are ready up to `offset`, and all of those before it.
    pub(crate) fn note_ready(&self, segment: u32, offset: usize) {
        self.ready.fetch_max(u64::from(segment) << 32 | offset as u64, Ordering::AcqRel);
    }

    /// Returns the offset up to which the pages of a segment are ready.
    pub(crate) fn ready_in(&self, segment: u32) -> usize {
        let ready = self.ready.load(Ordering::Acquire);
        match ((ready >> 32) as u32).cmp(&segment) {
            std::cmp::Ordering::Less => 0,
            std::cmp::Ordering::Equal => (ready & 0xffff_ffff) as usize,
            std::cmp::Ordering::Greater => usize::MAX,
        }
    }

    /// Has all segments brought to disk, as what a process wrote that died may not be there.
    pub(crate) fn sync_past(&self) {
        let past = std::mem::take(&mut *lock(&self.past));
        lock(&self.ahead).splice(0..0, past);
    }

    fn wake(&self) {
        if let Some(waker) = self.waker.get() {
            waker.store_advanced();
        }
    }

    /// Publishes where the next turn begins.
    #[inline]
    pub(crate) fn publish_position(&self, segment: u32, offset: u64) {
        self.position.store(u64::from(segment) << 32 | offset, Ordering::Release);
    }

    /// Returns the current generation and its NextNumOut, or `None` in the middle of a reset.
    pub(crate) fn numbers(&self) -> Option<(Generation, u64)> {
        let generation = self.generation.load(Ordering::Acquire);
        let next_out = self.next_out.load(Ordering::Acquire);
        (self.generation.load(Ordering::Acquire) == generation).then_some((Generation(generation), next_out))
    }

    /// Writes the head with a new mark and informs the session's thread. The caller holds the head.
    ///
    /// Marks are ordered by generation and number: what a thread decided before it waited for the
    /// head does not replace a later one.
    pub(crate) fn advance_mark(
        &self,
        file: &mut HeadFile,
        generation: Generation,
        mark: SeqNum,
    ) -> Result<(), StoreError> {
        if (file.head.generation, file.head.mark) < (generation, mark) || file.head.state != HeadState::InUse
        {
            file.write(|head| {
                (head.state, head.boot) = (HeadState::InUse, self.boot);
                (head.generation, head.mark) = (generation, mark);
            })?;
        }
        self.synced.set(file.head.generation, file.head.mark);
        Ok(())
    }
}
