//! The store thread: prepares segments and reserve marks before they are needed, puts finished pages on disk, and notices
//! when the directory or the disk is gone.
//!
//! It reads a few counters that the session's thread leaves behind and never touches a record. When it is late or dead the
//! session's thread does the work itself; nothing is lost but speed.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use fixbolt_codec::SeqNum;
use fixbolt_session::store::{Generation, StoreError};

use crate::backend::failed;
use crate::log::{RESERVE, RESERVE_MOST, Shared, lock};
use crate::segment::file_name;

/// The handle on a running store thread; dropping it ends the thread.
pub(crate) struct StoreThread {
    sessions: Option<Sender<Arc<Shared>>>,
    thread: Option<JoinHandle<()>>,
}

/// How long it sleeps while sessions append, and while none does.
const BUSY: Duration = Duration::from_millis(1);
const IDLE: Duration = Duration::from_millis(10);
/// How often it looks whether the directory is still there, and puts finished pages on disk.
const LOOK: Duration = Duration::from_millis(250);
const FLUSH: Duration = Duration::from_millis(500);
/// How long it waits after a segment could not be made.
const RETRY: Duration = Duration::from_secs(1);
/// Bytes made ready to write, at least, and put on disk in one go, at most.
const AHEAD: usize = 256 << 10;
const FLUSH_MOST: usize = 1 << 20;
/// Pages made ready that long ago may have been written back and must be made ready again.
const STALE: Duration = Duration::from_secs(2);

impl StoreThread {
    pub(crate) fn start() -> Result<Self, StoreError> {
        let (sender, receiver) = channel();
        let thread =
            std::thread::Builder::new().name("fixbolt-store".to_owned()).spawn(move || run(&receiver));
        let thread = thread.map_err(|e| StoreError::Io {
            doing: "starting the store thread".to_owned(),
            reason: e.to_string(),
        })?;
        Ok(Self { sessions: Some(sender), thread: Some(thread) })
    }

    /// Hands a session over to the thread until it is closed.
    pub(crate) fn look_after(&self, session: Arc<Shared>) {
        if let Some(sender) = &self.sessions {
            // Fails only when the thread is dead, which `is_alive` tells.
            let _ = sender.send(session);
        }
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.thread.as_ref().is_some_and(|t| !t.is_finished())
    }
}

impl Drop for StoreThread {
    fn drop(&mut self) {
        self.sessions = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run(new: &Receiver<Arc<Shared>>) {
    let mut sessions: Vec<Watched> = Vec::new();
    let mut busy_until = Instant::now();
    loop {
        let now = Instant::now();
        sessions.retain(|s| !s.shared.closed.load(Ordering::Relaxed));
        for session in &mut sessions {
            if session.attend(now) {
                busy_until = now + Duration::from_secs(1);
            }
        }
        let sleep = if sessions.is_empty() {
            LOOK
        } else if now < busy_until {
            BUSY
        } else {
            IDLE
        };
        match new.recv_timeout(sleep) {
            Ok(shared) => sessions.push(Watched::new(shared)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// One session as the store thread sees it.
struct Watched {
    shared: Arc<Shared>,
    position: u64,
    next_out: u64,
    /// How far ahead the mark is kept.
    reserve: u64,
    /// Pages of which segment were made ready, up to where and when.
    ready: (u32, usize, Instant),
    /// Bytes of the oldest segment in `ahead` that are on disk.
    flushed: usize,
    next_look: Instant,
    next_flush: Instant,
    retry: Instant,
}

impl Watched {
    fn new(shared: Arc<Shared>) -> Self {
        let now = Instant::now();
        Self {
            position: 0,
            next_out: shared.next_out.load(Ordering::Acquire),
            reserve: RESERVE,
            ready: (0, 0, now),
            flushed: 0,
            next_look: now,
            next_flush: now + FLUSH,
            retry: now,
            shared,
        }
    }

    /// One round; whether the session has appended since the last one.
    fn attend(&mut self, now: Instant) -> bool {
        if self.shared.failed.load(Ordering::Relaxed) {
            return false;
        }
        let position = self.shared.position.load(Ordering::Acquire);
        let moved = position != self.position;
        let (number, offset) = ((position >> 32) as u32, (position & 0xffff_ffff) as usize);
        let step = if (self.position >> 32) as u32 == number {
            offset.saturating_sub((self.position & 0xffff_ffff) as usize)
        } else {
            offset
        };
        self.position = position;
        let result = self.keep_mark().and_then(|()| {
            self.populate(now, number, offset, step);
            self.keep_segment(now, number);
            if now >= self.next_look {
                self.next_look = now + LOOK;
                self.shared.watch.in_place()?;
            }
            self.flush(now, number, offset)
        });
        if let Err(error) = result
            && !self.shared.closed.load(Ordering::Relaxed)
        {
            self.shared.fail(error);
        }
        moved
    }

    /// Keeps the mark on disk ahead of NextNumOut.
    fn keep_mark(&mut self) -> Result<(), StoreError> {
        let shared = &self.shared;
        let generation = shared.generation.load(Ordering::Acquire);
        let next_out = shared.next_out.load(Ordering::Acquire);
        if shared.generation.load(Ordering::Acquire) != generation {
            return Ok(());
        }
        let synced = shared.synced_mark.load(Ordering::Acquire);
        let renewed = shared.synced_generation.load(Ordering::Acquire) != generation;
        if !renewed {
            // A burst that used half of the reserve within one round wants a larger one.
            let used = next_out.saturating_sub(self.next_out);
            if used > self.reserve / 4 {
                self.reserve = (self.reserve * 2).min(RESERVE_MOST);
            }
        }
        self.next_out = next_out;
        if !renewed && synced.saturating_sub(next_out) >= self.reserve / 2 {
            return Ok(());
        }
        let mut head = lock(&shared.head);
        if head.closed {
            return Ok(());
        }
        let mark = SeqNum(next_out.saturating_add(self.reserve));
        // The session's thread may have raised it meanwhile; a mark never goes down within a generation.
        if head.head.generation.0 == generation && head.head.mark >= mark {
            return Ok(());
        }
        shared.advance_mark(&mut head, Generation(generation), mark)
    }

    /// Makes the pages writable that come next.
    fn populate(&mut self, now: Instant, number: u32, offset: usize, step: usize) {
        let window = AHEAD.max(step.saturating_mul(4));
        let (ready_number, ready_to, when) = self.ready;
        let fresh = ready_number == number && now.duration_since(when) < STALE;
        let idle = step == 0 && ready_number == number;
        if idle || (fresh && offset + window / 2 <= ready_to) {
            return;
        }
        let from = if fresh { ready_to.max(offset) } else { offset } & !4095;
        for (n, mapping) in lock(&self.shared.ahead).iter() {
            if *n == number {
                mapping.populate(from..(offset + window).min(mapping.len()));
            } else if *n == number + 1 && ready_number != number {
                mapping.populate(0..window.min(mapping.len()));
            }
        }
        self.ready = (number, offset + window, now);
    }

    /// Keeps one unused segment ready.
    fn keep_segment(&mut self, now: Instant, number: u32) {
        if now < self.retry {
            return;
        }
        let mut making = lock(&self.shared.maker);
        if making.maker.closed || making.maker.highest > number {
            return;
        }
        match making.maker.make(0) {
            Ok(segment) => {
                let ahead = segment.mapping.ahead();
                ahead.populate(0..AHEAD.min(ahead.len()));
                lock(&self.shared.ahead).push((segment.number, ahead));
                if let Err(
                    std::sync::mpsc::TrySendError::Full(segment)
                    | std::sync::mpsc::TrySendError::Disconnected(segment),
                ) = making.ready.try_send(segment)
                {
                    let _ = making.maker.unmake(segment);
                    self.retry = now + RETRY;
                }
            }
            // No room now: the append that needs the segment will say so, if there still is none by then.
            Err(_) => self.retry = now + RETRY,
        }
    }

    /// Puts pages on disk that will not be written again, and hears of write-back errors that way.
    fn flush(&mut self, now: Instant, number: u32, offset: usize) -> Result<(), StoreError> {
        if now < self.next_flush {
            return Ok(());
        }
        let oldest = lock(&self.shared.ahead).first().cloned();
        let Some((n, mapping)) = oldest.filter(|(n, _)| *n <= number) else {
            self.next_flush = now + FLUSH;
            return Ok(());
        };
        let finished = if n < number { mapping.len() } else { offset & !4095 };
        let to = finished.min(self.flushed + FLUSH_MOST);
        if to > self.flushed {
            let path = self.shared.directory.join(file_name(n));
            mapping.flush(self.flushed..to).map_err(|e| failed("writing back", &path, &e))?;
            let length = std::fs::metadata(&path).map_err(|e| failed("looking for", &path, &e))?.len();
            if length < mapping.len() as u64 {
                return Err(StoreError::Io {
                    doing: format!("looking at {}", path.display()),
                    reason: format!("the file was cut to {length} bytes"),
                });
            }
            self.flushed = to;
        }
        if n < number && self.flushed >= mapping.len() {
            lock(&self.shared.ahead).retain(|(m, _)| *m != n);
            self.flushed = 0;
        } else if to == finished {
            self.next_flush = now + FLUSH;
        }
        Ok(())
    }
}
