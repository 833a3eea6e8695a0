//! The message log: each message of a session as a line of a text file, as QuickFIX/J writes it.
//!
//! A worker only copies the message into a bounded queue; a thread of the log makes it a line, and
//! writes the files. So a slow or full disk delays no session: what cannot be written is counted,
//! and a log line says how much. The journal is what messages are sent again from; nothing ever
//! reads these files.

mod queue;
mod writer;

use core::fmt;
use std::cell::RefCell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use fixbolt_journal::spawn;
use fixbolt_session::{SessionId, WireMessage, WireObserver};

pub(crate) use self::queue::LOG_SUFFIX;
use self::queue::{Line, Queue};
use self::writer::Writer;

/// The most lines in the queue.
const MOST_LINES: usize = 16 * 1024;
/// How long the end of an engine waits for the disk.
const FINISH: Duration = Duration::from_secs(5);

/// A message log in QuickFIX's file format: the file `FIX.4.4-VENUE-TRADER.messages.log` has a line
/// for each message that the session FIX.4.4:VENUE->TRADER has received and sent,
/// `20261121-09:00:00.123 : ` and the message. Characters of a session's identity that a file name
/// cannot have are written as in the name of its journal.
///
/// [`EngineBuilder::message_log`](crate::EngineBuilder::message_log) is the short form of
/// [`EngineBuilder::observe`](crate::EngineBuilder::observe) with a message log.
///
/// The files are appended to, and only their owner may read them. The secrets of
/// [`SessionSettings::masked_tags`](crate::session::SessionSettings::masked_tags) are replaced by
/// `*`. Line ends in a message are written as `\n` and `\r`, so that no counterparty can write a
/// line of its own; BodyLength and CheckSum stay as they were. On Unix, a file that was renamed or
/// removed is begun anew within a second.
///
/// A session never waits for the log. A line is dropped if 16,384 lines or 32 MiB wait to be
/// written, or if its file cannot be written, which is tried again each second. Dropped lines are
/// counted ([`MessageLog::dropped`]), and a warning says so at most once a second.
///
/// Lines are written within about 20 ms. Those that are not written yet are lost if the process is
/// killed; its journals have the messages all the same.
///
/// Dropping the log waits until everything is written, for five seconds at most; a warning says if
/// that was too short.
pub struct MessageLog {
    queue: Arc<Queue>,
    thread: JoinHandle<()>,
}

/// The files of the sessions that a thread has seen messages of, in one log.
struct Known {
    /// As long as this is kept, no other log's queue has its address.
    queue: Weak<Queue>,
    /// By the session's index. Engines that share a log and a thread have sessions with the same
    /// index, and the same key: the identity decides.
    files: Vec<Option<(SessionId, usize)>>,
}

thread_local! {
    /// One for each log of the thread: an engine may have two of them, and engines that a program
    /// drives itself may have one each.
    static KNOWN: RefCell<Vec<Known>> = const { RefCell::new(Vec::new()) };
}

impl MessageLog {
    /// Starts a message log with its files in `directory`, which is created if there is none.
    ///
    /// # Errors
    /// The system's, if the directory cannot be created or no file in it, or no thread can be
    /// started.
    pub fn start(directory: impl AsRef<Path>) -> io::Result<Self> {
        Self::start_with(directory.as_ref(), MOST_LINES)
    }

    fn start_with(directory: &Path, most_lines: usize) -> io::Result<Self> {
        writer::prepare(directory)?;
        let queue = Arc::new(Queue::new(most_lines));
        let mut writer = Writer::new(directory.to_owned(), Arc::clone(&queue));
        let run = move || {
            // A warning may panic in the application's subscriber. The log goes on.
            while catch_unwind(AssertUnwindSafe(|| writer.run())).is_err() {}
        };
        let thread = spawn("fixbolt-messages", Box::new(run))?;
        Ok(Self { queue, thread })
    }

    /// Returns an observer that shows each message to another one as well.
    pub(crate) fn beside(self, other: Option<Arc<dyn WireObserver>>) -> Arc<dyn WireObserver> {
        struct Both(MessageLog, Arc<dyn WireObserver>);
        impl WireObserver for Both {
            fn on_wire(&self, message: &WireMessage<'_>) {
                self.0.on_wire(message);
                self.1.on_wire(message);
            }
        }
        match other {
            Some(other) => Arc::new(Both(self, other)),
            None => Arc::new(self),
        }
    }

    /// Returns the number of lines that were dropped.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.queue.dropped()
    }
}

impl WireObserver for MessageLog {
    fn on_wire(&self, message: &WireMessage<'_>) {
        let file = self.file(message);
        let Some(mut bytes) = self.queue.memory(message.bytes.len()) else { return };
        bytes.extend_from_slice(message.bytes);
        self.queue.add(Line { file, utc: message.now.utc.0, bytes });
    }
}

impl MessageLog {
    /// Returns the file of a message's session.
    fn file(&self, message: &WireMessage<'_>) -> usize {
        let index = message.key.index();
        KNOWN.with_borrow_mut(|logs| {
            let known = logs.iter().find(|known| known.is_of(&self.queue));
            match known.and_then(|known| known.files.get(index)) {
                Some(Some((session, file))) if session == message.session => *file,
                _ => self.learn(logs, message),
            }
        })
    }

    /// Asks for the file of a message's session, and remembers it.
    #[cold]
    fn learn(&self, logs: &mut Vec<Known>, message: &WireMessage<'_>) -> usize {
        let (file, index) = (self.queue.file(&message.session.file_name()), message.key.index());
        let at = logs.iter().position(|known| known.is_of(&self.queue)).unwrap_or_else(|| {
            logs.retain(|known| known.queue.strong_count() > 0);
            logs.push(Known { queue: Arc::downgrade(&self.queue), files: Vec::new() });
            logs.len() - 1
        });
        let files = &mut logs[at].files;
        if index >= files.len() {
            files.resize(index + 1, None);
        }
        files[index] = Some((message.session.clone(), file));
        file
    }
}

impl Known {
    /// Returns whether these are files of the log with this queue.
    fn is_of(&self, queue: &Arc<Queue>) -> bool {
        std::ptr::eq(self.queue.as_ptr(), Arc::as_ptr(queue))
    }
}

impl Drop for MessageLog {
    fn drop(&mut self) {
        self.queue.end();
        let give_up = Instant::now() + FINISH;
        while !self.thread.is_finished() && Instant::now() < give_up {
            std::thread::sleep(Duration::from_millis(1));
        }
        if !self.thread.is_finished() {
            tracing::warn!(
                name: "message_log_unfinished",
                lines = self.queue.unwritten(),
                "the message log could not be written within five seconds; its last lines may be missing"
            );
        }
    }
}

impl fmt::Debug for MessageLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MessageLog").field("dropped", &self.dropped()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
