//! The journal on disk: turns are written, the process dies or closes, bytes of the files change,
//! and the journal is opened, verified, repaired and written again.
//!
//! If undamaged it has what was written. Whatever was changed, nothing panics, and a body that is
//! read back was written under that number. If single bytes were changed, NextNumOut never
//! decreases unless the session is halted, and a journal that opens can be continued.

use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use fixbolt_codec::{SeqNum, Version};
use fixbolt_journal::{DirectoryStore, inspect};
use fixbolt_session::runtime::{mono, session_key};
use fixbolt_session::store::{
    ConnectionNumber, Generation, Record, RecordFlags, RecordKind, Recovered, SessionKey, Store, StoreError,
};
use fixbolt_session::{SessionId, Utc};

use super::choices::Choices;
use crate::random::Random;

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = (0..24)
        .map(|seed| {
            let mut random = Random::new(seed);
            (0..40 + random.below(300)).map(|_| random.byte()).collect()
        })
        .collect();
    seeds.push(Vec::new());
    seeds
}

/// The only session of a store.
const KEY: SessionKey = session_key(0, 0, 0);

#[derive(Default)]

struct Model {
    generation: u32,
    next_in: u64,
    next_out: u64,
    bodies: HashMap<(u32, u64), Vec<u8>>,
}

pub(super) fn run(data: &[u8]) {
    let mut choices = Choices::new(data);
    let folder = Folder::new();
    let directory = folder.0.join(session().file_name());
    let mut model = Model { next_in: 1, next_out: 1, ..Model::default() };
    let died = choices.byte().is_multiple_of(2);
    let damage = choices.byte() % 8;
    let mut store = open(&folder);
    store.open(KEY, &session()).expect("a new journal opens");
    for _ in 0..1 + choices.byte() % 24 {
        write_turn(&mut store, KEY, &mut model, &mut choices);
    }
    if died {
        // What another process would find now.
        let left = contents(&directory);
        drop(store);
        put_back(&directory, &left);
    } else {
        store.close(KEY).expect("it closes");
    }
    let files = files_of(&directory);
    match damage {
        0 => {}
        1..=5 => {
            for _ in 0..1 + choices.byte() % 3 {
                change_byte(&files, &mut choices);
            }
        }
        _ => wreck(&files, &mut choices),
    }
    let _ = inspect::verify(&folder.0);
    let recovered = look(&folder, &model, &mut choices);
    match &recovered {
        Ok(recovered) if damage == 0 => {
            let found = (recovered.generation.0, recovered.next_in.0, recovered.next_out.0);
            assert_eq!(found, (model.generation, model.next_in, model.next_out), "undamaged: {recovered:?}");
            assert_eq!((&recovered.damage, &recovered.given_up), (&None, &None));
        }
        Err(error) if damage == 0 => panic!("undamaged: {error}"),
        Ok(recovered) if damage <= 5 => never_down(recovered, &model),
        _ => {}
    }
    if !matches!(&recovered, Ok(recovered) if recovered.damage.is_none())
        && inspect::repair(&folder.0, None).is_ok()
    {
        match look(&folder, &model, &mut choices) {
            Ok(repaired) => {
                assert_eq!(repaired.damage, None, "still damaged after a repair");
                if damage <= 5 {
                    never_down(&repaired, &model);
                }
            }
            Err(error) => panic!("does not open after a repair: {error}"),
        }
    }
}

fn never_down(recovered: &Recovered, model: &Model) {
    assert!(
        recovered.next_out.0 >= model.next_out || recovered.generation.0 > model.generation,
        "NextNumOut was {} in generation {}: {recovered:?}",
        model.next_out,
        model.generation
    );
}

/// Opens the journal, reads everything in it, and continues it if permitted.
fn look(folder: &Folder, model: &Model, choices: &mut Choices<'_>) -> Result<Recovered, StoreError> {
    let mut store = open(folder);
    let key = KEY;
    let recovered = store.open(key, &session())?;
    true_bodies(&mut store, key, recovered.generation, model);
    if recovered.damage.is_some() {
        return Ok(recovered);
    }
    let seq = recovered.next_out;
    let body = vec![b'n'; 1 + usize::from(choices.byte())];
    store.begin();
    store
        .append(key, &record(RecordKind::Outbound, seq.0, recovered.next_in.0, &body))
        .expect("it accepts the next message");
    store.commit().expect("it commits");
    let read = store.read(key, recovered.generation, seq..=seq).expect("it reads what it wrote");
    assert_eq!(read.map(|r| r.body), Some(&body[..]));
    store.close(key).expect("it closes");
    drop(store);
    let again = open(folder).open(KEY, &session())?;
    assert_eq!(
        (again.next_out, &again.damage),
        (seq.next(), &None),
        "opened, written, closed, then {again:?}"
    );
    Ok(recovered)
}

fn true_bodies(store: &mut DirectoryStore, key: SessionKey, generation: Generation, model: &Model) {
    let mut from = SeqNum::ONE;
    while let Ok(Some(record)) = store.read(key, generation, from..=SeqNum::MAX) {
        assert!(record.seq >= from, "asked from {from}, got {}", record.seq);
        // What was written during an earlier check is 'n' throughout.
        let known = model.bodies.get(&(generation.0, record.seq.0)).is_some_and(|body| body == record.body);
        assert!(
            known || record.body.iter().all(|b| *b == b'n'),
            "sequence number {} has a body that was never written",
            record.seq
        );
        from = record.seq.next();
    }
    let mut records = 0;
    let _ = store.replay(key, &mut |record| {
        records += 1;
        assert!(records < 10_000, "more records than were written");
        let _ = record.body;
        ControlFlow::Continue(())
    });
}

fn write_turn(store: &mut DirectoryStore, key: SessionKey, model: &mut Model, choices: &mut Choices<'_>) {
    let rolled_back = choices.byte().is_multiple_of(8);
    let (generation, next_in, next_out) = (model.generation, model.next_in, model.next_out);
    let mut bodies = Vec::new();
    store.begin();
    for _ in 0..1 + choices.byte() % 4 {
        let kind = choices.byte() % 16;
        let length = match choices.byte() {
            long @ 250.. => usize::from(long - 249) * 500,
            short => usize::from(short) + 1,
        };
        let mut body = choices.take(length).to_vec();
        body.resize(length, b'.');
        let record = match kind {
            0..=6 => {
                bodies.push(((model.generation, model.next_out), body.clone()));
                model.next_out += 1;
                record(RecordKind::Outbound, model.next_out - 1, model.next_in, &body)
            }
            7..=11 => {
                model.next_in += 1;
                record(RecordKind::Inbound, model.next_in - 1, model.next_in, &body)
            }
            12 | 13 => record(RecordKind::Attempt, model.next_in, model.next_in, &body),
            14 => {
                model.next_out += u64::from(choices.byte());
                record(RecordKind::Adjust, model.next_out, model.next_in, &body)
            }
            _ => {
                (model.generation, model.next_in, model.next_out) = (model.generation + 1, 1, 1);
                record(RecordKind::Reset, 1, 1, &body)
            }
        };
        store.append(key, &record).expect("the journal accepts it");
    }
    if rolled_back {
        store.rollback();
        (model.generation, model.next_in, model.next_out) = (generation, next_in, next_out);
    } else {
        store.commit().expect("the journal commits");
        model.bodies.extend(bodies);
    }
}

fn record(kind: RecordKind, seq: u64, next_in: u64, body: &[u8]) -> Record<'_> {
    Record {
        kind,
        flags: RecordFlags::default(),
        seq: SeqNum(seq),
        next_in: SeqNum(next_in),
        connection: ConnectionNumber(1),
        cause: None,
        utc: Utc(1_000_000 + seq),
        mono: mono(seq),
        body,
    }
}

fn change_byte(files: &[PathBuf], choices: &mut Choices<'_>) {
    let path = &files[choices.below(files.len())];
    let mut bytes = fs::read(path).expect("a file of the journal");
    // Usually where the file has content.
    let used = bytes.iter().rposition(|b| *b != 0).map_or(0, |last| last + 1);
    let reach = if choices.byte().is_multiple_of(8) { bytes.len() } else { (used + 64).min(bytes.len()) };
    if reach > 0 {
        let at = choices.below(reach);
        bytes[at] ^= choices.byte().max(1);
        fs::write(path, bytes).expect("it is written");
    }
}

/// Other kinds of damage: sequence numbers are not guaranteed, but no body may be read that was not
/// written.
fn wreck(files: &[PathBuf], choices: &mut Choices<'_>) {
    let path = &files[choices.below(files.len())];
    let mut bytes = fs::read(path).expect("a file of the journal");
    let (from, to) = (choices.below(bytes.len() + 1), choices.below(bytes.len() + 1));
    let (from, to) = (from.min(to), from.max(to));
    match choices.byte() % 5 {
        0 => bytes[from..to].fill(0),
        1 => bytes.truncate(from),
        2 => bytes.copy_within(from..to, 0),
        3 => {
            let all = bytes.len();
            bytes.copy_within(from..to, all - (to - from));
        }
        _ => {
            fs::remove_file(path).expect("it is removed");
            return;
        }
    }
    fs::write(path, bytes).expect("it is written");
}

fn session() -> SessionId {
    SessionId::new(Version::Fix44, "VENUE", "TRADER").expect("a good identity")
}

fn open(folder: &Folder) -> DirectoryStore {
    DirectoryStore::new(&folder.0).with_segments(4096, 16384)
}

fn files_of(directory: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(directory)
        .expect("the session's directory")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    files
}

/// Returns the names and the contents of the files.
fn contents(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let read = |path: PathBuf| match fs::read(&path) {
        Ok(bytes) => Some((path, bytes)),
        // The store's thread renames a segment when it is ready.
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => panic!("a copy: {error}"),
    };
    files_of(directory).into_iter().filter_map(read).collect()
}

/// Gives the directory these files. Files that are there stay the same files, as a journal can be
/// told from its copy.
fn put_back(directory: &Path, files: &[(PathBuf, Vec<u8>)]) {
    for path in files_of(directory).iter().filter(|path| files.iter().all(|(kept, _)| kept != *path)) {
        fs::remove_file(path).expect("it is removed");
    }
    for (path, bytes) in files {
        fs::write(path, bytes).expect("it is written");
    }
}

/// A directory that is removed with the value; in memory if possible.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let memory = Path::new("/dev/shm");
        let base = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        // A number of a process comes again, and the journals that were there are remembered.
        let since = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |since| since.as_nanos());
        let path = base.join(format!("fixbolt-fuzz-{}-{number}-{since}", std::process::id()));
        fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
