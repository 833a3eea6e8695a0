//! The thread that writes the files of a message log.

use std::collections::HashMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::queue::{Line, Queue};

/// How long the thread sleeps when nothing is left to write. Waking it would cost the worker a
/// system call for each message.
const PAUSE: Duration = Duration::from_millis(20);
/// The most lines of a batch.
const BATCH: usize = 4096;
/// How long a file that cannot be written is left alone, and how often dropped lines are reported.
const RETRY: Duration = Duration::from_secs(1);
/// The most files that stay open although nothing was written to them in a batch.
const MOST_OPEN: usize = 64;

/// The thread's state.
pub(super) struct Writer {
    directory: PathBuf,
    queue: Arc<Queue>,
    files: HashMap<Arc<str>, LogFile>,
    /// When dropped lines were last reported, and how many there were until then.
    told: Option<Instant>,
    told_of: u64,
}

/// A file, and what is to be written to it.
#[derive(Default)]
struct LogFile {
    file: Option<File>,
    lines: Vec<u8>,
    /// Where each of the lines ends.
    ends: Vec<usize>,
    /// Whether the last line was written only in part.
    is_torn: bool,
    failed: Option<(Instant, String)>,
}

/// Creates the directory, and checks that files can be created in it.
pub(super) fn prepare(directory: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)?;
    let probe = directory.join(format!(".fixbolt-{}", std::process::id()));
    append(&probe)?;
    fs::remove_file(probe)
}

/// Opens a file to append to it, for its owner only.
fn append(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

impl Writer {
    pub(super) fn new(directory: PathBuf, queue: Arc<Queue>) -> Self {
        Self { directory, queue, files: HashMap::new(), told: None, told_of: 0 }
    }

    /// Writes until the log ends and nothing is left.
    pub(super) fn run(mut self) {
        loop {
            let ends = self.queue.ends();
            let taken = self.take();
            self.write();
            self.tell_dropped(ends);
            if taken < BATCH {
                if ends {
                    return;
                }
                std::thread::park_timeout(PAUSE);
            }
        }
    }

    /// Takes a batch of lines out of the queue. Returns how many there were.
    fn take(&mut self) -> usize {
        for taken in 0..BATCH {
            let Some(Line { file, text }) = self.queue.next() else { return taken };
            match self.files.get_mut(&file) {
                Some(log) => log.add(&text),
                None => self.files.entry(file).or_default().add(&text),
            }
            self.queue.free(text);
        }
        BATCH
    }

    fn write(&mut self) {
        let Self { directory, queue, files, .. } = self;
        let are_many = files.len() > MOST_OPEN;
        files.retain(|name, log| {
            if log.lines.is_empty() {
                return !are_many || log.failed.is_some();
            }
            let lost = log.write(&directory.join(format!("{name}.messages.log")));
            queue.drop_lines(lost);
            true
        });
    }

    /// Reports the lines that were dropped since the last report, and why some were.
    fn tell_dropped(&mut self, at_once: bool) {
        let dropped = self.queue.dropped();
        let is_early = self.told.is_some_and(|told| told.elapsed() < RETRY);
        if dropped == self.told_of || is_early && !at_once {
            return;
        }
        let lines = dropped - self.told_of;
        let reason = self.files.iter().find_map(|(name, log)| Some((name, &log.failed.as_ref()?.1)));
        match reason {
            Some((name, error)) => tracing::warn!(
                name: "message_log_dropped",
                lines,
                file = %self.directory.join(format!("{name}.messages.log")).display(),
                %error,
                "the message log cannot be written; its sessions go on without it"
            ),
            None => tracing::warn!(
                name: "message_log_dropped",
                lines,
                "the message log cannot be written as fast as messages come; these are not in it"
            ),
        }
        (self.told, self.told_of) = (Some(Instant::now()), dropped);
    }
}

impl LogFile {
    fn add(&mut self, line: &[u8]) {
        self.lines.extend_from_slice(line);
        self.ends.push(self.lines.len());
    }

    /// Writes the lines. Returns how many are lost.
    fn write(&mut self, path: &Path) -> u64 {
        if self.failed.as_ref().is_some_and(|(at, _)| at.elapsed() < RETRY) {
            return self.drop_lines(0);
        }
        let mut written = 0;
        match self.try_write(path, &mut written) {
            Ok(()) => self.failed = None,
            Err(error) => {
                self.file = None;
                self.is_torn |= written > 0 && !self.ends.contains(&written);
                self.failed = Some((Instant::now(), error.to_string()));
            }
        }
        self.drop_lines(written)
    }

    fn try_write(&mut self, path: &Path, written: &mut usize) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(append(path)?),
        };
        if self.is_torn {
            file.write_all(b"\n")?;
            self.is_torn = false;
        }
        while *written < self.lines.len() {
            match file.write(&self.lines[*written..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(len) => *written += len,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Forgets the lines, and returns how many were not written as a whole.
    fn drop_lines(&mut self, written: usize) -> u64 {
        let lost = self.ends.iter().filter(|end| **end > written).count();
        self.lines.clear();
        self.ends.clear();
        lost as u64
    }
}
