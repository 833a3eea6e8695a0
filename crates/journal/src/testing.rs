//! Records for the crate's own tests.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;

use fixbolt_codec::{SeqNum, Version};
use fixbolt_session::runtime::{mono, session_key};
use fixbolt_session::store::{
    ConnectionNumber, Record, RecordFlags, RecordKind, Recovered, Store, StoreError,
};
use fixbolt_session::{CompIds, SessionId, SessionKey, Utc};

use crate::files::cookies::{self, Cookies};
use crate::files::head::HeadFound;
use crate::layout::head_copy::{HEAD_COPIES, HEAD_COPY, Head};
use crate::system::backend::{Backend, System};
use crate::system::mapping::Mapping;

/// Returns the key of the session that is opened as number `n`.
pub(crate) fn key(n: u32) -> SessionKey {
    session_key(0, n, n)
}

pub(crate) fn session(target: &str) -> SessionId {
    SessionId::new(Version::Fix44, "VENUE", target).unwrap()
}

/// Returns identities that a reader of bytes could take apart in the wrong place, or that are as
/// long as any.
pub(crate) fn longest_sessions() -> [SessionId; 7] {
    let long = "X".repeat(64);
    let comp_ids = |text: &str| text.parse::<CompIds>().unwrap();
    let between =
        |sender, target| SessionId::between(Version::Fixt11, comp_ids(sender), comp_ids(target)).unwrap();
    let half = "Y".repeat(37);
    let all = format!("{half}/{half}/{half}");
    [
        between(&all, &all).with_qualifier("12345678").unwrap(),
        between("A/B", "C//D").with_qualifier("/").unwrap(),
        between("A//B", "C/D/E"),
        between("A", r"B\/C/->:D/\/E"),
        SessionId::qualified(Version::Fixt11, &long, &long, &long).unwrap(),
        session("A"),
        SessionId::new(Version::Fix44, "A->B", "VENUE:1").unwrap(),
    ]
}

fn record(kind: RecordKind, seq: u64, next_in: u64, body: &[u8]) -> Record<'_> {
    Record {
        kind,
        flags: RecordFlags::default(),
        seq: SeqNum(seq),
        next_in: SeqNum(next_in),
        connection: ConnectionNumber(1),
        cause: None,
        utc: Utc(seq.saturating_add(1_000_000)),
        mono: mono(seq),
        body,
    }
}

pub(crate) fn outbound(seq: u64, body: &[u8]) -> Record<'_> {
    record(RecordKind::Outbound, seq, 1, body)
}

pub(crate) fn inbound(seq: u64, body: &[u8]) -> Record<'_> {
    record(RecordKind::Inbound, seq, seq + 1, body)
}

pub(crate) fn attempt(seq: u64) -> Record<'static> {
    record(RecordKind::Attempt, seq, seq, b"panicked")
}

pub(crate) fn reset(next_out: u64, next_in: u64) -> Record<'static> {
    record(RecordKind::Reset, next_out, next_in, b"test: reset")
}

/// The fields of a layout as they are drawn beside its constants. Each row begins with the offset
/// of its first byte, each byte has six columns, and what is alone in its row goes on to the next.
pub(crate) struct Drawing(Vec<(String, Range<usize>)>);

impl Drawing {
    /// Reads the drawing below the comment that begins with `title`.
    pub(crate) fn of(source: &str, title: &str) -> Self {
        const BYTE: usize = 6;
        let below = source.lines().skip_while(|line| !line.starts_with(&format!("// {title}")));
        let rows = below.take_while(|line| line.starts_with("//")).filter_map(|line| {
            let (at, cells) = line.trim_start_matches("//").split_once('|')?;
            Some((at.trim().parse::<usize>().unwrap(), cells.trim_end_matches('|')))
        });
        let rows: Vec<_> = rows.collect();
        assert!(rows.len() > 1, "nothing is drawn below {title}");
        let mut fields: Vec<(String, Range<usize>)> = Vec::new();
        for (n, (mut at, cells)) in rows.iter().copied().enumerate() {
            let next = rows.get(n + 1).map_or(at, |(next, _)| *next);
            let is_alone = !cells.contains('|');
            for cell in cells.split('|') {
                assert!((cell.len() + 1).is_multiple_of(BYTE), "{cell:?} is not as wide as its bytes");
                let end = if is_alone { next } else { at + (cell.len() + 1) / BYTE };
                fields.push((cell.trim().to_owned(), at..end));
                at = end;
            }
            assert_eq!(at, next, "where the row ends");
        }
        Self(fields)
    }

    /// Returns the bytes of a field.
    pub(crate) fn place(&self, field: &str) -> Range<usize> {
        let found = self.0.iter().find(|(name, _)| name == field);
        found.unwrap_or_else(|| panic!("{field} is not drawn")).1.clone()
    }

    /// Asserts that two of these, in which every byte of the field differs, differ in nothing else
    /// but the checksum.
    pub(crate) fn shows(&self, field: &str, one: &[u8], other: &[u8]) {
        let is_sum = |at: &usize| {
            let sum = self.0.iter().find(|(name, _)| name == "checksum");
            field != "checksum" && sum.is_some_and(|(_, sum)| sum.contains(at))
        };
        let differ = (0..one.len()).filter(|at| one[*at] != other[*at] && !is_sum(at));
        assert_eq!(differ.collect::<Vec<_>>(), self.place(field).collect::<Vec<_>>(), "{field}");
    }

    /// Asserts that the identity of a session is where it is drawn, and that what is drawn as zeros
    /// is zero.
    pub(crate) fn shows_identity(&self, bytes: &[u8], session: &SessionId) {
        let names = [session.version().name(), session.sender_comp_id(), session.target_comp_id()];
        assert_eq!(bytes[self.place("lengths of names")], names.map(|name| name.len() as u8));
        let length = &bytes[self.place("text len")];
        let length = usize::from(u16::from_le_bytes([length[0], length[1]]));
        let identity = &bytes[self.place("identity: text, lengths, zeros")];
        assert!(identity.starts_with(session.version().name().as_bytes()));
        assert!(identity[..length].ends_with(session.qualifier().as_bytes()));
        let rest = &identity[length..];
        assert!(rest[..4].iter().all(|length| *length > 0) && rest[4..].iter().all(|byte| *byte == 0));
        for (_, zeros) in self.0.iter().filter(|(name, _)| name == "zeros") {
            assert!(bytes[zeros.clone()].iter().all(|byte| *byte == 0), "{zeros:?}");
        }
    }
}

/// Returns the head in a session's directory.
pub(crate) fn head_in(directory: &Path) -> Head {
    HeadFound::read(directory).unwrap().unwrap().head().unwrap().clone()
}

/// Waits until a new journal is on disk.
pub(crate) fn wait_for_creation(directory: &Path) {
    while crate::files::lock::journal_in(directory).is_none() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// Changes the head of a session's directory as if the machine had stopped and started again.
pub(crate) fn reboot(directory: &Path) {
    let path = directory.join("head");
    let mut bytes = std::fs::read(&path).unwrap();
    for at in HEAD_COPIES {
        let at = at as usize;
        let mut head = Head::decode(&bytes[at..]).unwrap();
        head.boot = [1; 16];
        bytes[at..at + HEAD_COPY].copy_from_slice(&head.encode());
    }
    std::fs::write(&path, bytes).unwrap();
    forget(directory);
}

/// Has no cookie of a session's directory, as after a start of the machine.
pub(crate) fn forget(directory: &Path) {
    let base = directory.parent().unwrap();
    if let Ok(cookies) = Cookies::open(&cookies::own_directory(), base) {
        cookies.forget(directory.file_name().unwrap());
    }
}

/// Opens session A or B under a key of its own.
pub(crate) fn opened(store: &mut impl Store, target: &str) -> Result<(SessionKey, Recovered), StoreError> {
    let key = key(u32::from(target == "B"));
    store.open(key, &session(target)).map(|recovered| (key, recovered))
}

/// A temporary directory that is removed with the value. It is in memory where possible, as these
/// tests are about bytes and not about disks.
pub(crate) struct TempDir(std::path::PathBuf);

impl TempDir {
    pub(crate) fn new(name: &str) -> Self {
        let shm = std::path::Path::new("/dev/shm");
        let base = if shm.is_dir() { shm.to_owned() } else { std::env::temp_dir() };
        Self::below(&base, name)
    }

    /// Creates one on disk, where possible: in memory, what reads a mapped file allocates it.
    pub(crate) fn on_disk(name: &str) -> Self {
        Self::below(&std::env::temp_dir(), name)
    }

    fn below(base: &Path, name: &str) -> Self {
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let n = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        // A number of a process comes again, and the journals that were there are remembered.
        let since = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |since| since.as_nanos());
        let path = base.join(format!("fixbolt-journal-{name}-{}-{n}-{since}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// An operation of the file system.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operation {
    CreateDir,
    Allocate,
    Remove,
    Other,
}

/// The operating system, whose operations may fail or wait before they are done.
pub(crate) trait Hook: Send + Sync {
    /// Called before an operation, with its path if it has one.
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()>;
}

impl<H: Hook> Backend for H {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.before(Operation::CreateDir, path).and_then(|()| System.create_dir(path))
    }
    fn create(&self, path: &Path) -> io::Result<File> {
        self.before(Operation::Other, path).and_then(|()| System.create(path))
    }
    fn allocate(&self, file: &File, length: u64) -> io::Result<()> {
        self.before(Operation::Allocate, Path::new("")).and_then(|()| System.allocate(file, length))
    }
    fn release(&self, file: &File, from: u64, length: u64) -> io::Result<()> {
        self.before(Operation::Other, Path::new("")).and_then(|()| System.release(file, from, length))
    }
    fn write(&self, file: &File, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.before(Operation::Other, Path::new("")).and_then(|()| System.write(file, at, bytes))
    }
    fn sync(&self, file: &File) -> io::Result<()> {
        self.before(Operation::Other, Path::new("")).and_then(|()| System.sync(file))
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.before(Operation::Other, path).and_then(|()| System.sync_dir(path))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.before(Operation::Other, from).and_then(|()| System.rename(from, to))
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.before(Operation::Remove, path).and_then(|()| System.remove(path))
    }
    fn map(&self, file: &File, length: usize) -> io::Result<Mapping> {
        self.before(Operation::Other, Path::new("")).and_then(|()| System.map(file, length))
    }
}
