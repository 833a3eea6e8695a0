//! The journal: appending and committing, reading back, opening, and what a session takes.

use std::hint::black_box;
use std::ops::RangeInclusive;
use std::path::Path;
use std::time::{Duration, Instant};

use fixbolt_codec::{SeqNum, Version};
use fixbolt_journal::{DirectoryStore, MemoryStore, NoStore, record_checksum};
use fixbolt_session::runtime::{mono, session_key};
use fixbolt_session::store::{
    ConnectionNumber, Generation, Record, RecordFlags, RecordKind, SessionKey, Store, StoreError,
};
use fixbolt_session::{SessionId, Utc};
use fixbolt_workloads::clock::timed;
use fixbolt_workloads::harness::{Contest, Control, alternate};
use fixbolt_workloads::memory::resident;

use crate::folder::Folder;
use crate::results::{Part, Row, Table, TestReport};

/// How much to measure.
#[derive(Clone, Copy, Debug)]
pub struct Amount {
    /// Number of slices of each operation on messages, of 1,000 messages each.
    pub rounds: usize,
    /// The largest number of sessions; also a tenth and a thousandth of it.
    pub sessions: u32,
    /// Bytes of the records in the journal that is opened last.
    pub history: u64,
}

/// Measures journals in the system's folder for temporary files.
///
/// # Errors
/// Returns an error if a journal cannot be written or opened, or does not hold what was written.
pub fn run(amount: Amount, control: &Control) -> Result<TestReport, String> {
    let mut rows = of_messages(amount.rounds, control)?;
    let messages = Table::of_rows("", &rows, &[]);
    let mut opened = Vec::new();
    for sessions in [amount.sessions / 1000, amount.sessions / 10, amount.sessions] {
        if !control.is_stopped() {
            control.begin(format!("journal: {sessions} sessions"), 0);
            opened.extend(open_many(sessions.max(1))?);
        }
    }
    if !control.is_stopped() {
        control.begin("journal: a long history", 0);
        opened.push(open_history(amount.history)?);
    }
    let mut test = TestReport::new("journal", "thread CPU time per message of 256 bytes, in ns")
        .setting("rounds", amount.rounds)
        .setting("store", "mapped files, sync policy process")
        .setting("history", format!("{} MB", amount.history / 1_000_000));
    let sizes = Table::of_rows(
        "Opening (elapsed ns), and bytes per session",
        &opened,
        &["sessions", "disk", "memory"],
    );
    test.tables = vec![messages, sizes];
    rows.extend(opened);
    test.rows = rows;
    test.notes = NOTES.map(str::to_owned).to_vec();
    Ok(test)
}

const NOTES: [&str; 4] = [
    "floor: copying the same bytes to memory that is ready",
    "published: the least of CoralStore's 60 to 159 ns for an append",
    "the journal computes its checksum always: it has no switch, so checksum is computed apart; part of it is hidden behind the append's other work",
    "the journal has one backend on disk, mapped files, and one sync policy, process: there is nothing to measure of pwrite, interval and each",
];

const BODY: usize = 256;
/// Bytes of a record with its header.
const RECORD: u64 = 80 + BODY as u64;
const SLICE: u64 = 1_000;
/// Messages in a turn of `append-64`.
const TURN: u64 = 64;

fn key(n: u32) -> SessionKey {
    session_key(0, n, n)
}

fn session(n: u32) -> Result<SessionId, String> {
    SessionId::new(Version::Fix44, "VENUE", &format!("TRADER{n}")).map_err(|error| error.to_string())
}

fn told(error: StoreError) -> String {
    error.to_string()
}

/// Writes differing messages.
struct Writer {
    bodies: Vec<[u8; BODY]>,
    seq: u64,
}

impl Writer {
    fn new() -> Self {
        let body = |n: usize| std::array::from_fn(|at| b' ' + ((at * 7 + n * 13) % 90) as u8);
        Self { bodies: (0..64).map(body).collect(), seq: 0 }
    }

    /// Appends and commits `count` messages, each in a turn of its own.
    fn write(&mut self, store: &mut dyn Store, count: u64) -> Result<(), StoreError> {
        self.write_turns(store, count, 1)
    }

    /// Appends `count` messages; each commit has up to `turn` of them.
    fn write_turns(&mut self, store: &mut dyn Store, count: u64, turn: u64) -> Result<(), StoreError> {
        let last = self.seq + count;
        while self.seq < last {
            store.begin();
            for _ in 0..turn.min(last - self.seq) {
                self.seq += 1;
                let record = Record {
                    kind: RecordKind::Outbound,
                    flags: RecordFlags::default(),
                    seq: SeqNum(self.seq),
                    next_in: SeqNum(1),
                    connection: ConnectionNumber(1),
                    cause: None,
                    utc: Utc(self.seq),
                    mono: mono(self.seq),
                    body: &self.bodies[self.seq as usize % 64],
                };
                store.append(key(0), &record)?;
            }
            store.commit()?;
        }
        Ok(())
    }

    /// Reads the last `count` messages back as a resend does: each with the range of those that are
    /// left. Returns how many of them have their length.
    fn read(&self, store: &mut dyn Store, count: u64) -> Result<u64, StoreError> {
        let mut read = 0;
        for n in self.seq + 1 - count..=self.seq {
            let found = store.read(key(0), Generation(0), SeqNum(n)..=SeqNum(self.seq))?;
            read += u64::from(found.is_some_and(|record| black_box(record.body).len() == BODY));
        }
        Ok(read)
    }

    /// Reads messages back and compares them.
    fn check(&self, store: &mut dyn Store, numbers: RangeInclusive<u64>) -> Result<(), String> {
        for n in numbers {
            let read = store.read(key(0), Generation(0), SeqNum(n)..=SeqNum(n)).map_err(told)?;
            if read.is_none_or(|record| record.body != self.bodies[n as usize % 64]) {
                return Err(format!("message {n} was not read back as it was written"));
            }
        }
        Ok(())
    }
}

/// A store with its writer, which has written until segments have their full size.
struct Written<S> {
    store: S,
    writer: Writer,
}

impl<S: Store> Written<S> {
    fn new(mut store: S) -> Result<Self, String> {
        store.open(key(0), &session(0)?).map_err(told)?;
        let mut writer = Writer::new();
        writer.write(&mut store, 60_000).map_err(told)?;
        let mut written = Self { store, writer };
        written.check()?;
        Ok(written)
    }

    /// Checks the messages that were written last, if the store keeps them.
    fn check(&mut self) -> Result<(), String> {
        let seq = self.writer.seq;
        if self.store.kind().keeps_messages {
            self.writer.check(&mut self.store, seq - 1_000..=seq)
        } else {
            Ok(())
        }
    }

    fn append(&mut self, turn: u64) -> Result<f64, String> {
        // The store's threads make pages ready meanwhile.
        std::thread::sleep(Duration::from_millis(3));
        let (time, done) = timed(|| self.writer.write_turns(&mut self.store, SLICE, turn));
        done.map_err(told)?;
        Ok(per_message(time))
    }

    fn read(&mut self) -> Result<f64, String> {
        let (time, read) = timed(|| self.writer.read(&mut self.store, SLICE));
        let read = read.map_err(told)?;
        (read == SLICE)
            .then(|| per_message(time))
            .ok_or_else(|| format!("{read} of {SLICE} messages were read back"))
    }
}

fn per_message(time: Duration) -> f64 {
    time.as_nanos() as f64 / SLICE as f64
}

/// Measures what is done per message, in alternating slices.
fn of_messages(rounds: usize, control: &Control) -> Result<Vec<Row>, String> {
    let folders = [Folder::new()?, Folder::new()?];
    let mut disk = Written::new(DirectoryStore::new(&folders[0].0))?;
    let mut turns = Written::new(DirectoryStore::new(&folders[1].0))?;
    let mut memory = Written::new(MemoryStore::new())?;
    let mut none = Written::new(NoStore::new())?;
    let bodies = Writer::new().bodies;
    let mut target = vec![0; 64 * RECORD as usize];
    // Of one store, in this order: an append, and what was appended is read back.
    let (of_disk, of_memory) = (std::cell::RefCell::new(&mut disk), std::cell::RefCell::new(&mut memory));
    let mut contests = [
        Contest::new("append-256", || of_disk.borrow_mut().append(1)),
        Contest::new("read-1000", || of_disk.borrow_mut().read()),
        Contest::new("append-64", || turns.append(TURN)),
        Contest::new("append-256-memory", || of_memory.borrow_mut().append(1)),
        Contest::new("read-1000-memory", || of_memory.borrow_mut().read()),
        Contest::new("append-256-none", || none.append(1)),
        Contest::new("checksum", || Ok(per_message(timed(|| checksums(&bodies)).0))),
        Contest::new("copy", || Ok(per_message(timed(|| copy(&bodies, &mut target)).0))),
    ];
    control.begin("journal", rounds as u64);
    let figures = alternate(&mut contests, rounds, control)?;
    let names: Vec<String> = contests.iter().map(|contest| contest.name.clone()).collect();
    drop(contests);
    disk.check()?;
    turns.check()?;
    memory.check()?;
    let of = |name: &str| {
        let at = names.iter().position(|known| known == name);
        at.map(|at| figures[at].clone()).unwrap_or_default()
    };
    let row_of = |name: &str, slices| row("256 bytes", name, 0.0).median_of(Part::Slice, slices);
    // Interrupted before the first slice ended.
    let Some(floor) = row_of("copy", of("copy")).and_then(|row| row.ns) else { return Ok(Vec::new()) };
    let row = |name: &str| row_of(name, of(name));
    let appended = |name: &str| row(name).map(|row| row.floor_ns(Some(floor)));
    // Of 64 commits of single messages, 63 are spared.
    let spared = |(one, many): (f64, f64)| (one - many).max(0.0) * TURN as f64 / (TURN - 1) as f64;
    let commits = of("append-256").into_iter().zip(of("append-64")).map(spared).collect();
    let rows = [
        appended("append-256").map(|row| row.published(60.0)),
        appended("append-64"),
        row_of("commit", commits),
        row("checksum"),
        appended("append-256-memory"),
        appended("append-256-none"),
        appended("read-1000"),
        appended("read-1000-memory"),
    ];
    Ok(rows.into_iter().flatten().collect())
}

/// Computes the checksums of records.
fn checksums(bodies: &[[u8; BODY]]) {
    for n in 0..SLICE {
        let header = [n, RECORD, 1, n, 1, 0, n, n, n, n];
        black_box(record_checksum(7, black_box(&bodies[n as usize % 64]), black_box(&header)));
    }
}

/// What an append does at least: the body goes to memory that is ready.
fn copy(bodies: &[[u8; BODY]], target: &mut [u8]) {
    for n in 0..SLICE as usize {
        let at = n % 64 * RECORD as usize;
        target[at + 80..at + 80 + BODY].copy_from_slice(&bodies[n % 64]);
        black_box(&target);
    }
}

/// Creates journals, and opens them again.
fn open_many(sessions: u32) -> Result<[Row; 2], String> {
    let folder = Folder::new()?;
    let open = |operation| {
        let before = resident();
        let begin = Instant::now();
        let mut store = opened(&folder.0, sessions)?;
        let time = begin.elapsed();
        // Until the store's threads have made everything ready.
        std::thread::sleep(Duration::from_millis(300));
        let memory = resident().saturating_sub(before) / u64::from(sessions);
        let disk = on_disk(&folder.0) / u64::from(sessions);
        (0..sessions).try_for_each(|n| store.close(key(n))).map_err(told)?;
        let ns = time.as_nanos() as f64 / f64::from(sessions);
        Ok::<_, String>(sized(row("no messages", operation, ns), sessions, disk, memory))
    };
    Ok([open("create")?, open("open")?])
}

/// Opens a journal with this many bytes of records.
fn open_history(bytes: u64) -> Result<Row, String> {
    let folder = Folder::new()?;
    let mut writer = Writer::new();
    let mut store = opened(&folder.0, 1)?;
    writer.write(&mut store, bytes / RECORD).map_err(told)?;
    store.close(key(0)).map_err(told)?;
    drop(store);
    let before = resident();
    let begin = Instant::now();
    let mut store = opened(&folder.0, 1)?;
    let ns = begin.elapsed().as_nanos() as f64;
    let memory = resident().saturating_sub(before);
    writer.check(&mut store, 1..=10)?;
    writer.check(&mut store, writer.seq - 10..=writer.seq)?;
    let row = row("history", "open", ns);
    Ok(sized(row, 1, on_disk(&folder.0), memory))
}

fn opened(base: &Path, sessions: u32) -> Result<DirectoryStore, String> {
    let mut store = DirectoryStore::new(base);
    for n in 0..sessions {
        let recovered = store.open(key(n), &session(n)?).map_err(told)?;
        if let Some(damage) = recovered.damage {
            return Err(damage);
        }
    }
    Ok(store)
}

fn row(message: &str, operation: &str, ns: f64) -> Row {
    Row::of_ns("journal", message, operation, ns)
}

/// Adds the number of sessions, and bytes per session on disk and in memory: resident, with the
/// pages of the files.
#[expect(clippy::cast_precision_loss, reason = "sizes are below 2^53")]
fn sized(row: Row, sessions: u32, disk: u64, memory: u64) -> Row {
    row.with("sessions", f64::from(sessions)).with("disk", disk as f64).with("memory", memory as f64)
}

/// Returns the bytes that the files of `directory` and of those in it take.
fn on_disk(directory: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => on_disk(&entry.path()),
            Ok(metadata) => metadata.blocks() * 512,
            Err(_) => 0,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_there_and_has_what_it_measured() {
        let amount = Amount { rounds: 3, sessions: 3, history: 3_000_000 };
        let test = run(amount, &Control::default()).unwrap();
        let operations: Vec<_> = test.rows.iter().map(|row| row.operation.as_str()).collect();
        let messages = [
            "append-256",
            "append-64",
            "commit",
            "checksum",
            "append-256-memory",
            "append-256-none",
            "read-1000",
            "read-1000-memory",
        ];
        let open = ["create", "open", "create", "open", "create", "open", "open"];
        assert_eq!(operations, [&messages[..], &open].concat());
        let measured = test.rows.iter().filter(|row| row.operation != "commit");
        assert!(measured.clone().all(|row| row.figure().0 > 0.0), "{:?}", test.rows);
        let sessions: Vec<_> = test.rows[8..].iter().map(|row| row.more["sessions"] as u32).collect();
        assert_eq!(sessions, [1, 1, 1, 1, 3, 3, 1]);
        assert!(test.rows[8..].iter().all(|row| row.more["disk"] > 65_536.0), "{:?}", test.rows);
        assert!(test.rows[14].more["disk"] > 3e6);
        assert_eq!(test.tables.len(), 2);
    }

    #[test]
    fn a_store_that_lost_a_message_is_told() {
        // Too small for a thousand messages.
        let small = Written::new(MemoryStore::with_limit(64 * 1024)).map(|_| ());
        assert!(small.is_err_and(|error| error.ends_with(" was not read back as it was written")));
        let mut written = Written::new(MemoryStore::new()).unwrap();
        written.writer.bodies[9][200] = b'!';
        assert!(written.check().is_err());
    }

    #[test]
    fn the_checksum_is_that_of_the_records_on_disk() {
        let folder = Folder::new().unwrap();
        let mut store = opened(&folder.0, 1).unwrap();
        let mut writer = Writer::new();
        writer.write(&mut store, 1).unwrap();
        let directory = folder.0.join(session(0).unwrap().file_name());
        let segment = std::fs::read(directory.join("segment-000001")).unwrap();
        let word = |at: usize| u64::from_le_bytes(segment[at..at + 8].try_into().unwrap());
        // docs/journal.md: the salt is in the segment's header, the record begins after it.
        let salt = u32::from_le_bytes(segment[56..60].try_into().unwrap());
        let header: [u64; 10] = std::array::from_fn(|n| word(512 + 8 * n));
        assert_eq!(record_checksum(salt, &writer.bodies[1], &header), header[1] as u32);
    }
}
