//! The thread that writes the files of a message log.

use std::collections::HashMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fixbolt_codec::{Precision, SecondCache};

use super::queue::{LOG_SUFFIX, Line, Queue};

/// How long the thread sleeps when nothing is left to write. Waking it would cost the worker a
/// system call for each message.
const PAUSE: Duration = Duration::from_millis(20);
/// After so many looks in a row at a queue without lines, a second, it sleeps until it is woken.
const LOOKS: u32 = 50;
/// The most lines of a batch.
const BATCH: usize = 4096;
/// A batch ends with the line that makes it as large as this, in bytes.
const BATCH_SIZE: usize = 1 << 20;
/// How long a file that cannot be written is left alone, how often dropped lines are reported, and
/// how often a file is looked for where it was opened.
const RETRY: Duration = Duration::from_secs(1);
/// The most files that stay open although nothing was written to them in a batch.
const MOST_OPEN: usize = 64;

/// The thread's state.
pub(super) struct Writer {
    directory: PathBuf,
    queue: Arc<Queue>,
    /// By their numbers.
    files: HashMap<usize, LogFile>,
    clock: SecondCache,
    /// The lines that could not be written since the last report, and the last file of such.
    lost: u64,
    failed: Option<(PathBuf, String)>,
    /// When dropped lines were last reported, and how many there were until then.
    told: Option<Instant>,
    told_of: u64,
}

/// A file, and what is to be written to it.
#[derive(Default)]
struct LogFile {
    name: Option<Arc<str>>,
    /// The file, and when it was last seen where it was opened.
    file: Option<(File, Instant)>,
    lines: Vec<u8>,
    /// Where each of the lines ends.
    ends: Vec<usize>,
    failed: Option<Instant>,
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
    match fs::remove_file(probe) {
        // Another engine of this process has done so.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Opens a file to append to it, for its owner only.
fn append(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Returns whether the last line of a file has no end: its writer was killed, or the disk was full.
fn is_torn(file: &File, path: &Path) -> io::Result<bool> {
    if !file.metadata()?.is_file() {
        return Ok(false);
    }
    let mut last = File::open(path)?;
    let mut byte = [b'\n'];
    if last.seek(SeekFrom::End(0))? > 0 {
        last.seek(SeekFrom::End(-1))?;
        last.read_exact(&mut byte)?;
    }
    Ok(byte != *b"\n")
}

/// Returns whether the file was renamed or removed since it was opened.
#[cfg(unix)]
fn is_moved(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::metadata(path)) {
        (Ok(open), Ok(there)) => (open.dev(), open.ino()) != (there.dev(), there.ino()),
        (_, there) => there.is_err_and(|error| error.kind() == io::ErrorKind::NotFound),
    }
}

/// Elsewhere nothing says which file it is; it is written on.
#[cfg(not(unix))]
fn is_moved(_: &File, _: &Path) -> bool {
    false
}

impl Writer {
    pub(super) fn new(directory: PathBuf, queue: Arc<Queue>) -> Self {
        let (files, clock) = (HashMap::new(), SecondCache::new());
        Self { directory, queue, files, clock, lost: 0, failed: None, told: None, told_of: 0 }
    }

    /// Writes until the log ends and nothing is left.
    pub(super) fn run(&mut self) {
        self.queue.is_emptied_here();
        let mut looks = 0;
        loop {
            let ends = self.queue.ends();
            let (taken, is_all) = self.take();
            self.write();
            self.tell_dropped(ends);
            looks = if taken > 0 { 0 } else { looks + 1 };
            if is_all {
                if ends {
                    return;
                }
                if looks < LOOKS || self.has_untold() {
                    std::thread::park_timeout(PAUSE);
                } else if !self.queue.sleep() {
                    looks = 0;
                }
            }
        }
    }

    /// Returns whether lines were dropped that were not reported yet.
    fn has_untold(&self) -> bool {
        self.queue.dropped() != self.told_of
    }

    /// Takes a batch of lines out of the queue. Returns how many, and whether these were all.
    fn take(&mut self) -> (usize, bool) {
        let (mut taken, mut size) = (0, 0);
        let is_all = loop {
            if taken == BATCH || size >= BATCH_SIZE {
                break false;
            }
            let Some(Line { file, utc, bytes }) = self.queue.next() else { break true };
            let time = self.clock.render(utc, Precision::Millis);
            self.files.entry(file).or_default().add(time, &bytes);
            (taken, size) = (taken + 1, size + bytes.len());
            self.queue.free(bytes);
        };
        self.queue.hold(taken);
        (taken, is_all)
    }

    fn write(&mut self) {
        let Self { directory, queue, files, lost, failed, .. } = self;
        let are_many = files.len() > MOST_OPEN;
        files.retain(|file, log| {
            if log.lines.is_empty() {
                return !are_many || log.is_left_alone();
            }
            let name = log.name.get_or_insert_with(|| queue.name(*file));
            let path = directory.join(format!("{name}{LOG_SUFFIX}"));
            let (missed, error) = log.write(&path);
            queue.drop_lines(missed);
            *lost += missed;
            if let Some(error) = error {
                *failed = Some((path, error.to_string()));
            }
            true
        });
        queue.hold(0);
    }

    /// Reports the lines that were dropped since the last report, and why.
    fn tell_dropped(&mut self, at_once: bool) {
        if !self.has_untold() {
            return;
        }
        let dropped = self.queue.dropped();
        let is_early = self.told.is_some_and(|told| told.elapsed() < RETRY);
        if is_early && !at_once {
            return;
        }
        let (lines, late) = (self.lost, dropped - self.told_of - self.lost);
        let failed = self.failed.clone().filter(|_| lines > 0);
        // First, because a subscriber that panics is not called again at once.
        (self.lost, self.told, self.told_of) = (0, Some(Instant::now()), dropped);
        if let Some((path, error)) = failed {
            tracing::warn!(
                name: "message_log_dropped",
                lines,
                file = %path.display(),
                %error,
                "the message log cannot be written; its sessions go on without it"
            );
        }
        if late > 0 {
            tracing::warn!(
                name: "message_log_dropped",
                lines = late,
                "the message log cannot be written as fast as messages come; these are not in it"
            );
        }
    }
}

/// Adds a copy of the bytes without line ends.
fn add_on_one_line(to: &mut Vec<u8>, mut bytes: &[u8]) {
    while let Some(at) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
        to.extend_from_slice(&bytes[..at]);
        to.extend_from_slice(if bytes[at] == b'\n' { b"\\n" } else { b"\\r" });
        bytes = &bytes[at + 1..];
    }
    to.extend_from_slice(bytes);
}

impl LogFile {
    /// Adds a message as a line.
    fn add(&mut self, time: &[u8], message: &[u8]) {
        self.lines.extend_from_slice(time);
        self.lines.extend_from_slice(b" : ");
        add_on_one_line(&mut self.lines, message);
        self.lines.push(b'\n');
        self.ends.push(self.lines.len());
    }

    /// Returns whether the file failed so lately that it is not tried again yet.
    fn is_left_alone(&self) -> bool {
        self.failed.is_some_and(|at| at.elapsed() < RETRY)
    }

    /// Writes the lines. Returns how many are lost, and why if it was tried.
    fn write(&mut self, path: &Path) -> (u64, Option<io::Error>) {
        if self.is_left_alone() {
            return (self.drop_lines(0), None);
        }
        let mut written = 0;
        let error = self.try_write(path, &mut written).err();
        self.failed = error.is_some().then(Instant::now);
        if error.is_some() {
            self.file = None;
        }
        (self.drop_lines(written), error)
    }

    fn try_write(&mut self, path: &Path, written: &mut usize) -> io::Result<()> {
        if let Some((file, seen)) = &mut self.file
            && seen.elapsed() >= RETRY
        {
            *seen = Instant::now();
            if is_moved(file, path) {
                self.file = None;
            }
        }
        let file = match &mut self.file {
            Some((file, _)) => file,
            none => {
                let mut file = append(path)?;
                // A file that may not be read is continued as it is.
                if is_torn(&file, path).unwrap_or_default() {
                    file.write_all(b"\n")?;
                }
                &mut none.insert((file, Instant::now())).0
            }
        };
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
