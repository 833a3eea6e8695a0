//! The past of an open journal, in the background: the segments that opening did not read are
//! verified, those that are closed are archived, and what is to be kept no longer is deleted.
//!
//! Nothing here stops the session: what is found is reported, as is what fails, which is tried
//! again.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use fixbolt_session::runtime::mono;
use fixbolt_session::store::{Generation, StoreError};
use fixbolt_session::{Clock, ClockWatch, Now, Utc};

use crate::files::archive::{self, Expiry};
use crate::files::found::Files;
use crate::files::index::Index;
use crate::files::names::file_name;
use crate::files::segment_file::SegmentFile;
use crate::open::shared::Shared;
use crate::system::backend::Backend;
use crate::threads::work::{Next, Pace, Work};
use crate::values::clock::now as clock;
use crate::values::limits::Retention;
use crate::values::mutex::lock;

/// What is done about the past of a session.
pub(crate) struct History {
    shared: Arc<Shared>,
    backend: Arc<dyn Backend>,
    verification: Option<Verification>,
    /// After a failure.
    paused_until: Instant,
    next_look: Instant,
    next_expiry: Instant,
    /// Whether the wall clock's time counts, by which the age of archives is judged.
    clock: ClockWatch,
    began: Instant,
    /// The segments before this one were looked at, and archived as far as possible.
    archived_to: u32,
}

/// Pause between two segments that are verified.
const VERIFICATION: Duration = Duration::from_millis(20);
/// How often to look for archived segments that are to be kept no longer, and how much space the
/// segments take if that is limited.
const EXPIRY: Duration = Duration::from_secs(60);
/// How long the wall clock must have shown its time before something is deleted because of its age:
/// after a start, as nobody knows what it showed before, and after a jump.
const CLOCK_HOLD: Duration = Duration::from_secs(300);

impl Work for History {
    fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Rung for when the session has given up segments, when one is completely on disk, and when a
    /// message is wanted in one that has no index.
    fn round(&mut self, now: Instant) -> Result<Next, StoreError> {
        if !self.shared.head.created.load(Ordering::Acquire) {
            // Whoever takes the last step of the creation rings. Until then the first segment has
            // another name, and would not be counted.
            return Ok(Next::WhenRung);
        }
        self.index_what_is_sought();
        let due = if self.verification.is_some() { self.paused_until } else { self.next_look };
        if now < due.max(self.paused_until) {
            return Ok(Next::At(due.max(self.paused_until)));
        }
        let done = if let Some(verification) = &mut self.verification {
            // Whoever closes the journal waits: the files may be truncated afterwards.
            let _reading = lock(&self.shared.segments.archiving);
            if self.shared.position.closed.load(Ordering::Relaxed) {
                return Ok(Next::WhenRung);
            }
            verification.round(&self.shared).map(|goes_on| {
                if !goes_on {
                    self.verification = None;
                }
                Next::At(now + VERIFICATION)
            })
        } else {
            self.next_look = now + self.shared.limits.look;
            self.look(now, clock()).map(|()| match self.expires() {
                true => Next::At(self.next_expiry.max(self.next_look)),
                false => Next::WhenRung,
            })
        };
        done.or_else(|error| {
            if self.shared.position.closed.load(Ordering::Relaxed) {
                return Ok(Next::WhenRung);
            }
            self.paused_until = now + EXPIRY;
            self.shared.failure.report(format!("messages of the past stay where they are: {error}"));
            Ok(Next::At(self.paused_until))
        })
    }
}

impl History {
    pub(crate) const PACE: Pace = Pace { grid: VERIFICATION, gather: Duration::ZERO };

    /// Returns whether there may be something to do although nothing was given up.
    fn expires(&self) -> bool {
        let limits = &self.shared.limits;
        limits.quota.is_some() || limits.retention != Retention::default()
    }

    pub(crate) fn new(shared: Arc<Shared>, now: Instant) -> Self {
        let first = lock(&shared.head.file).head.first();
        let verification = (first < shared.read_from).then(Verification::default);
        let backend = Arc::clone(&lock(&shared.segments.maker).backend);
        let next_look = now + shared.limits.look;
        let (paused_until, next_expiry) = (now, now);
        let clock = ClockWatch::new(CLOCK_HOLD);
        let began = now;
        Self {
            shared,
            backend,
            verification,
            paused_until,
            next_look,
            next_expiry,
            clock,
            began,
            archived_to: 0,
        }
    }

    /// Makes an index of the segment in which the session's thread wants a message.
    fn index_what_is_sought(&self) {
        let shared = &self.shared;
        let number = shared.segments.sought.swap(0, Ordering::AcqRel);
        if number == 0 {
            return;
        }
        let _reading = lock(&shared.segments.archiving);
        if shared.position.closed.load(Ordering::Relaxed) {
            return;
        }
        let salt = lock(&shared.head.file).head.salt;
        // Without it, the session's thread searches the segment from its beginning.
        let file = SegmentFile::open(&shared.directory, file_name(number), number, false);
        let index = file.ok().flatten().map_or_else(Index::default, |file| Index::of(file.bytes(), salt));
        shared.segments.hand_over(number, index);
    }

    /// Archives what is closed and deletes what is to be kept no longer.
    pub(crate) fn look(&mut self, now: Instant, utc: Utc) -> Result<(), StoreError> {
        let shared = &self.shared;
        let given_up = std::mem::take(&mut *lock(&shared.segments.given_up));
        // The session's thread does not wait until they are unmapped.
        drop(given_up);
        // What is not yet completely on disk stays where it is.
        let unsynced = lock(&shared.segments.ahead).first().map(|(number, _)| *number);
        let needed = shared.position.needed_from.load(Ordering::Acquire);
        let closed_to = needed.min(unsynced.unwrap_or(needed));
        if closed_to <= self.archived_to && now < self.next_expiry {
            return Ok(());
        }
        let _archiving = lock(&shared.segments.archiving);
        if shared.position.closed.load(Ordering::Relaxed) {
            return Ok(());
        }
        if closed_to > self.archived_to {
            self.archive(closed_to)?;
            self.archived_to = closed_to;
        }
        self.next_expiry = now + EXPIRY;
        let running = now - self.began;
        let mono = mono(u64::try_from(running.as_nanos()).unwrap_or(u64::MAX));
        let is_held = matches!(self.clock.look(Now { mono, utc }), Clock::Held { .. });
        let expiry = Expiry {
            directory: &shared.directory,
            retention: shared.limits.retention,
            first: lock(&shared.head.file).head.first(),
            generation: Generation(shared.position.generation.load(Ordering::Acquire)),
            now: (running >= CLOCK_HOLD && !is_held).then_some(utc),
        };
        archive::expire(&*self.backend, &expiry, &mut |path, why| {
            tracing::info!(segment = %path.display(), why, "an archived segment was deleted");
        })?;
        let mut maker = lock(&shared.segments.maker);
        maker.quota.look(&shared.directory)
    }

    fn archive(&self, closed_to: u32) -> Result<(), StoreError> {
        let shared = &self.shared;
        let current = shared.position.reached().0;
        let files = Files::load(&shared.directory, false)?;
        let first = archive::begin_at(&files, closed_to).unwrap_or(files.first);
        if first > files.first {
            archive::sync(&*self.backend, &files, current)?;
        }
        drop(files);
        let mut head = lock(&shared.head.file);
        if first > head.head.first() {
            head.write(|head| {
                if let Some(made) = &mut head.made {
                    made.first = first;
                }
            })?;
        }
        drop(head);
        lock(&shared.segments.past).retain(|(number, _)| *number >= first);
        archive::move_before(&*self.backend, &shared.directory, first)
    }
}

/// Reads the segments that opening did not read, one per round.
#[derive(Default)]
struct Verification {
    /// The files as they were at the first round, which do not change any more.
    files: Option<Files>,
    /// Index of the next segment.
    next: usize,
}

impl Verification {
    /// Returns whether there is more to verify.
    fn round(&mut self, shared: &Shared) -> Result<bool, StoreError> {
        let files = match &mut self.files {
            Some(files) => files,
            none => none.insert(Files::load(&shared.directory, false)?),
        };
        let (next, damage) = files.verify_part(self.next);
        let needed_from = shared.position.needed_from.load(Ordering::Acquire);
        for segment in files.segments.iter().take(next.unwrap_or(0)).skip(self.next) {
            if segment.number >= needed_from {
                shared.segments.hand_over(segment.number, Index::of(segment.bytes(), files.salt()));
            }
        }
        // A turn that this part begins with may have begun in the segment before.
        let read = files.segments.iter().take(next.unwrap_or(0)).skip(self.next.saturating_sub(1));
        for mapping in read.filter_map(|segment| segment.mapping.as_ref()) {
            mapping.ahead().release(0..mapping.len());
        }
        for line in damage {
            shared.failure.report_damage(&format!("{}: {line}", shared.directory.display()));
        }
        let next = next.filter(|next| {
            files.segments.get(*next).is_some_and(|segment| segment.number < shared.read_from)
        });
        self.next = next.unwrap_or(self.next);
        Ok(next.is_some())
    }
}
