//! The journal on disk: appending and committing, opening, and what a session takes.

use std::ops::RangeInclusive;
use std::path::Path;
use std::time::{Duration, Instant};

use fixbolt_codec::{SeqNum, Version};
use fixbolt_journal::DirectoryStore;
use fixbolt_session::store::{
    ConnectionNumber, Generation, Record, RecordFlags, RecordKind, SessionKey, Store, StoreError,
};
use fixbolt_session::{Mono, SessionId, Utc};

use crate::clock::{median, timed};
use crate::folder::Folder;
use crate::results::Row;
/// How much to measure.
#[derive(Clone, Copy, Debug)]
pub struct Amount {
    /// Number of slices of `append-256`, of 1,000 records each.
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
pub fn run(amount: Amount) -> Result<Vec<Row>, String> {
    let mut rows = vec![append(amount.rounds)?];
    for sessions in [amount.sessions / 1000, amount.sessions / 10, amount.sessions] {
        rows.extend(open_many(sessions.max(1))?);
    }
    rows.push(open_history(amount.history)?);
    Ok(rows)
}

const BODY: usize = 256;
/// Bytes of a record with its header.
const RECORD: u64 = 80 + BODY as u64;
const SLICE: u64 = 1_000;

fn key(n: u32) -> SessionKey {
    SessionKey::new(0, n, n)
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
    fn write(&mut self, store: &mut DirectoryStore, count: u64) -> Result<(), StoreError> {
        for _ in 0..count {
            self.seq += 1;
            let record = Record {
                kind: RecordKind::Outbound,
                flags: RecordFlags::default(),
                seq: SeqNum(self.seq),
                next_in: SeqNum(1),
                connection: ConnectionNumber(1),
                cause: None,
                utc: Utc(self.seq),
                mono: Mono(self.seq),
                body: &self.bodies[self.seq as usize % 64],
            };
            store.begin();
            store.append(key(0), &record)?;
            store.commit()?;
        }
        Ok(())
    }

    /// Reads messages back and compares them.
    fn check(&self, store: &mut DirectoryStore, numbers: RangeInclusive<u64>) -> Result<(), String> {
        for n in numbers {
            let read = store.read(key(0), Generation(0), SeqNum(n)..=SeqNum(n)).map_err(told)?;
            if read.is_none_or(|record| record.body != self.bodies[n as usize % 64]) {
                return Err(format!("message {n} was not read back as it was written"));
            }
        }
        Ok(())
    }
}

fn append(rounds: usize) -> Result<Row, String> {
    let folder = Folder::new()?;
    let before = resident();
    let mut store = opened(&folder.0, 1)?;
    let mut writer = Writer::new();
    // Until segments have their full size.
    writer.write(&mut store, 60_000).map_err(told)?;
    let mut target = vec![0; 64 * RECORD as usize];
    let (mut times, mut floors) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        // The store's threads make pages ready meanwhile.
        std::thread::sleep(Duration::from_millis(3));
        let (time, done) = timed(|| writer.write(&mut store, SLICE));
        done.map_err(told)?;
        times.push(time.as_nanos() as f64 / SLICE as f64);
        let (time, ()) = timed(|| copy(&writer.bodies, &mut target));
        floors.push(time.as_nanos() as f64 / SLICE as f64);
    }
    writer.check(&mut store, writer.seq - 200..=writer.seq)?;
    let (disk, memory) = (on_disk(&folder.0), resident().saturating_sub(before));
    let row = row("256 bytes", "append-256", median(&mut times), median(&mut floors));
    Ok(sized(row, 1, disk, memory))
}

/// What an append does at least: the body goes to memory that is ready.
fn copy(bodies: &[[u8; BODY]], target: &mut [u8]) {
    for n in 0..SLICE as usize {
        let at = n % 64 * RECORD as usize;
        target[at + 80..at + 80 + BODY].copy_from_slice(&bodies[n % 64]);
        std::hint::black_box(&target);
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
        Ok::<_, String>(sized(row("none", operation, Some(ns), None), sessions, disk, memory))
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
    let row = row("history", "open", Some(ns), None);
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

fn row(message: &'static str, operation: &'static str, ns: Option<f64>, floor_ns: Option<f64>) -> Row {
    Row::of_ns("journal", message, operation, ns.unwrap_or_default()).floor_ns(floor_ns)
}

/// Adds the number of sessions, and bytes per session on disk and in memory: resident, with the
/// pages of the files.
#[expect(clippy::cast_precision_loss, reason = "sizes are below 2^53")]
fn sized(row: Row, sessions: u32, disk: u64, memory: u64) -> Row {
    row.with("sessions", f64::from(sessions)).with("disk", disk as f64).with("memory", memory as f64)
}

/// Returns the resident bytes of this process; 0 where the system does not say.
#[must_use]
pub fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = text.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0);
    pages * rustix::param::page_size() as u64
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
        let rows = run(Amount { rounds: 3, sessions: 3, history: 3_000_000 }).unwrap();
        let operations: Vec<_> =
            rows.iter().map(|row| (row.operation.as_str(), row.more["sessions"] as u32)).collect();
        let open = [("create", 1), ("open", 1), ("create", 1), ("open", 1), ("create", 3), ("open", 3)];
        assert_eq!(operations, [&[("append-256", 1)][..], &open, &[("open", 1)]].concat());
        assert!(rows.iter().all(|row| row.figure().0 > 0.0 && row.more["disk"] > 65_536.0), "{rows:?}");
        assert!(rows[7].more["disk"] > 3e6);
    }
}
