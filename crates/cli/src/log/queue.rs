//! Lines on their way to standard error: a bounded queue, and the thread that empties it.
//!
//! Whoever adds a line never waits for its reader. A line for which there is no room is dropped and
//! counted.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};

use super::limiter::PERIOD;
use super::line::{Line, MoreLikeThis, Severity};
use crate::output::Format;

/// The most lines in the queue.
const MOST_QUEUED: usize = 4096;
/// The most bytes that are written at once.
const BATCH: usize = 32 * 1024;
/// How long a writer waits before it offers the same bytes again.
const RETRY: Duration = Duration::from_millis(20);

/// The queue's end for whoever has lines.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    to: SyncSender<Item>,
    dropped: Arc<AtomicU64>,
}

#[derive(Debug)]
enum Item {
    Line(String),
    /// Lines that were only counted; the counter is read after a [`PERIOD`].
    More(More),
    /// Everything before it is to be written now.
    Finish(SyncSender<()>),
}

#[derive(Debug)]
struct More {
    due: Instant,
    counter: Arc<AtomicU64>,
    like: MoreLikeThis,
}

impl Queue {
    /// Starts a thread that writes lines to `out`; it lives as long as a queue.
    pub(super) fn start(out: impl Write + Send + 'static, format: Format) -> io::Result<Self> {
        let (to, from) = sync_channel(MOST_QUEUED);
        let dropped = Arc::new(AtomicU64::new(0));
        let told = Instant::now();
        let counted = Arc::clone(&dropped);
        let writer =
            Writer { from, out, format, dropped: counted, told, more: VecDeque::new(), is_torn: false };
        std::thread::Builder::new().name("fixbolt-log".to_owned()).spawn(move || writer.run())?;
        Ok(Self { to, dropped })
    }

    /// Adds a line, which ends with a newline.
    pub(super) fn line(&self, line: String) {
        self.add(Item::Line(line));
    }

    /// Adds a counter of lines that are not written: after a [`PERIOD`] a line says how many there
    /// were.
    pub(super) fn more(&self, counter: Arc<AtomicU64>, like: MoreLikeThis) {
        self.add(Item::More(More { due: Instant::now() + PERIOD, counter, like }));
    }

    fn add(&self, item: Item) {
        if self.to.try_send(item).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits until everything is written, for at most `limit`.
    pub(super) fn finish(&self, limit: Duration) {
        let deadline = Instant::now() + limit;
        let (done, finished) = sync_channel(1);
        let mut item = Item::Finish(done);
        while let Err(TrySendError::Full(back)) = self.to.try_send(item) {
            if Instant::now() >= deadline {
                return;
            }
            item = back;
            std::thread::sleep(RETRY);
        }
        // If nobody reads, the remaining lines are lost with the process.
        let _ = finished.recv_timeout(deadline.saturating_duration_since(Instant::now()));
    }
}

/// The thread's state.
struct Writer<W> {
    from: Receiver<Item>,
    out: W,
    format: Format,
    dropped: Arc<AtomicU64>,
    /// When dropped lines were last reported.
    told: Instant,
    /// In the order in which they are due.
    more: VecDeque<More>,
    /// Whether the last line was written only in part.
    is_torn: bool,
}

impl<W: Write> Writer<W> {
    fn run(mut self) {
        let mut batch = String::new();
        loop {
            let mut item = match self.next() {
                Ok(item) => Some(item),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            let mut finished = None;
            loop {
                match item {
                    Some(Item::Line(line)) => batch.push_str(&line),
                    Some(Item::More(more)) => self.more.push_back(more),
                    Some(Item::Finish(done)) => finished = Some(done),
                    None => {}
                }
                if batch.len() >= BATCH || finished.is_some() {
                    break;
                }
                item = self.from.try_recv().ok();
                if item.is_none() {
                    break;
                }
            }
            self.count_more(&mut batch, finished.is_some());
            self.write(&batch);
            batch.clear();
            self.tell_dropped(finished.is_some());
            if let Some(done) = finished {
                // The command may no longer wait.
                let _ = done.send(());
            }
        }
    }

    /// Returns the next item; times out when there is something to say without one.
    fn next(&self) -> Result<Item, RecvTimeoutError> {
        let more = self.more.front().map(|more| more.due);
        let dropped = (self.dropped.load(Ordering::Relaxed) > 0).then_some(self.told + PERIOD);
        match more.into_iter().chain(dropped).min() {
            Some(due) => self.from.recv_timeout(due.saturating_duration_since(Instant::now())),
            None => self.from.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }

    /// Adds the lines that count others, once they are due.
    fn count_more(&mut self, batch: &mut String, all: bool) {
        while let Some(more) = self.more.pop_front_if(|more| all || more.due <= Instant::now()) {
            let count = more.counter.load(Ordering::Relaxed);
            batch.push_str(&more.like.line(count).render(self.format));
        }
    }

    /// Says how many lines were dropped, at most once in a [`PERIOD`].
    fn tell_dropped(&mut self, at_once: bool) {
        if self.dropped.load(Ordering::Relaxed) == 0 || !at_once && self.told.elapsed() < PERIOD {
            return;
        }
        let count = self.dropped.swap(0, Ordering::Relaxed);
        let (noun, were) = if count == 1 { ("line", "was") } else { ("lines", "were") };
        let text = format!("{count} {noun} {were} dropped: standard error could not be written fast enough");
        self.write(&Line::new(Severity::Warning, "dropped", text).number("lines", count).render(self.format));
        self.told = Instant::now();
    }

    fn write(&mut self, lines: &str) {
        let mut rest = lines.as_bytes();
        if self.is_torn && !rest.is_empty() && matches!(self.out.write(b"\n"), Ok(1)) {
            self.is_torn = false;
        }
        while !rest.is_empty() {
            match self.out.write(rest) {
                Ok(written) if written > 0 => {
                    self.is_torn = rest[written - 1] != b'\n';
                    rest = &rest[written..];
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // A pipe that somebody made non-blocking is full.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::sleep(RETRY),
                // Its reader has gone away (`2>&1 | head`): a server must not end because of it.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return,
                _ => {
                    let lost = rest.iter().filter(|byte| **byte == b'\n').count();
                    self.dropped.fetch_add(lost as u64, Ordering::Relaxed);
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Condvar, Mutex};

    use super::*;

    /// A reader that reads nothing until it is opened.
    #[derive(Clone, Default)]
    struct Gate(Arc<(Mutex<State>, Condvar)>);

    #[derive(Default)]
    struct State {
        open: bool,
        /// What is written next fails, after this many bytes.
        fails_after: Option<usize>,
        text: String,
    }

    impl Gate {
        fn open(&self) {
            self.0.0.lock().unwrap().open = true;
            self.0.1.notify_all();
        }

        fn text(&self) -> String {
            self.0.0.lock().unwrap().text.clone()
        }
    }

    impl Write for Gate {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut state = self.0.1.wait_while(self.0.0.lock().unwrap(), |state| !state.open).unwrap();
            let bytes = match state.fails_after {
                None => bytes,
                Some(0) => {
                    state.fails_after = None;
                    return Err(io::ErrorKind::StorageFull.into());
                }
                Some(most) => {
                    state.fails_after = Some(0);
                    &bytes[..most]
                }
            };
            state.text.push_str(std::str::from_utf8(bytes).unwrap());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn whoever_adds_lines_never_waits_and_dropped_lines_are_counted() {
        let gate = Gate::default();
        let queue = Queue::start(gate.clone(), Format::Text).unwrap();
        // Nobody reads, and this loop ends.
        for n in 0..20_000 {
            queue.line(format!("line {n}\n"));
        }
        let dropped = queue.dropped.load(Ordering::Relaxed);
        assert!(dropped >= 20_000 - 2 * MOST_QUEUED as u64 && dropped < 20_000, "{dropped}");
        let before = Instant::now();
        queue.finish(Duration::from_millis(50));
        assert!(before.elapsed() < LONG, "finish is bounded");
        gate.open();
        queue.finish(LONG);
        let text = gate.text();
        let told = format!("{dropped} lines were dropped: standard error could not be written fast enough\n");
        assert!(text.starts_with("line 0\n") && text.contains(&told), "{told}");
        assert_eq!(text.lines().count() as u64, 20_000 - dropped + 1);
    }

    #[test]
    fn lines_that_were_only_counted_are_one_line_at_the_end() {
        let gate = Gate::default();
        gate.open();
        let queue = Queue::start(gate.clone(), Format::Text).unwrap();
        let counter = Arc::new(AtomicU64::new(1));
        let like = Line::new(Severity::Warning, "garbled", "7 garbled bytes").session("FIX.4.4:A->B");
        queue.more(Arc::clone(&counter), like.more_like_this());
        counter.fetch_add(41, Ordering::Relaxed);
        queue.finish(LONG);
        let told = "FIX.4.4:A->B: 42 more like this in the last second, the first: 7 garbled bytes\n";
        assert!(gate.text().ends_with(told), "{}", gate.text());
        queue.more(Arc::new(AtomicU64::new(7)), MoreLikeThis::about_others("addresses"));
        queue.finish(LONG);
        let told =
            " warning: 7 more lines in the last second, about addresses that are too many to be told apart\n";
        assert!(gate.text().ends_with(told), "{}", gate.text());
    }

    #[test]
    fn after_a_failed_write_the_next_line_begins_a_line_and_lost_ones_are_counted() {
        let gate = Gate::default();
        gate.0.0.lock().unwrap().fails_after = Some(3);
        gate.open();
        let queue = Queue::start(gate.clone(), Format::Text).unwrap();
        queue.line("one line\n".to_owned());
        queue.finish(LONG);
        queue.line("another\n".to_owned());
        queue.finish(LONG);
        let text = gate.text();
        assert!(text.starts_with("one\n") && text.ends_with("\nanother\n"), "{text}");
        assert!(text.contains(" 1 line was dropped: "), "{text}");
    }
}
