//! Other engines' benchmark programs, which measure a rival in the same run.
//!
//! They are programs of the folder `peers` that are built with the engine itself: nothing of
//! another engine is part of this crate. Each prints its figures as JSON, one object per line,
//! after it has checked its outputs; round trips are written to a file, message by message.

mod error;
mod program;
mod results;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fixbolt_dictionary::{Version, shipped};
use fixbolt_workloads::harness::{Control, LEAST_RATE};

pub use self::error::PeerError;
pub use self::program::{Program, State};
pub use self::results::{CodecRun, CodecTime, MessageRow, MessageTime, RoundTripRun};

use self::program::Call;
use crate::folder::Folder;
use crate::messages::RING;

/// The folder of the peers.
#[derive(Clone, Debug)]
pub struct Peers {
    folder: PathBuf,
    control: Control,
}

/// What `fix8-codec` measures.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CodecTest {
    /// Number of messages in each run.
    pub messages: u32,
    /// Number of runs.
    pub runs: u32,
    /// FIX.4.4 in QuickFIX's format; `None` is Fixbolt's own.
    pub dictionary: Option<PathBuf>,
}

/// What a round trip measures: orders by a fixed schedule, whether or not reports have arrived.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RoundTripTest {
    /// Orders per second.
    pub rate: u32,
    /// Number of orders that are measured.
    pub messages: u32,
    /// Number of orders that are sent before, at the same rate.
    pub warm_up: u32,
    /// Whether QuickFIX C++ validates each message against its dictionary; QuickFIX/J always does.
    pub validate: bool,
    /// FIX.4.2 in QuickFIX's format, for QuickFIX C++; `None` is Fixbolt's own. QuickFIX/J has one.
    pub dictionary: Option<PathBuf>,
}

/// How long `fsfix` measures each message and operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MessageTest {
    /// How long each runs before it is measured. The compiler of a virtual machine needs 2 s.
    pub warm_up: Duration,
    /// How long each of the 11 batches takes.
    pub batch: Duration,
}

impl Peers {
    /// Finds the folder: the environment variable `FIXBOLT_PEERS`, else `peers` in the current
    /// directory or in one above it.
    ///
    /// # Errors
    /// Returns [`PeerError::NoFolder`] if there is none.
    pub fn find() -> Result<Self, PeerError> {
        let current = std::env::current_dir().unwrap_or_default();
        Self::find_from(std::env::var_os("FIXBOLT_PEERS").as_deref(), &current)
    }

    fn find_from(named: Option<&OsStr>, current: &Path) -> Result<Self, PeerError> {
        let has_programs =
            |folder: &PathBuf| Program::ALL.iter().any(|program| folder.join(program.folder()).is_dir());
        match named.filter(|named| !named.is_empty()) {
            Some(named) => Some(PathBuf::from(named)).filter(has_programs),
            None => current.ancestors().map(|above| above.join("peers")).find(has_programs),
        }
        .map(|folder| Self { folder, control: Control::default() })
        .ok_or_else(|| PeerError::NoFolder { named: named.map(PathBuf::from) })
    }

    /// Lets `control` end the running program, and tells it how many of its rows there are so far.
    #[must_use]
    pub fn controlled_by(self, control: Control) -> Self {
        Self { control, ..self }
    }

    /// Returns the folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns whether a program is built.
    #[must_use]
    pub fn state(&self, program: Program) -> State {
        program.state(&self.folder)
    }

    /// Measures QuickFIX C++ on NOS-222: a row for each run and operation.
    ///
    /// # Errors
    /// Returns an error if the program is not built, fails, or prints no figures.
    pub fn fix8_codec(&self, test: &CodecTest) -> Result<Vec<CodecRun>, PeerError> {
        let folder = own_folder()?;
        let dictionary = dictionary(test.dictionary.as_deref(), Version::Fix44, &folder)?;
        let operations = ["encode", "build-encode", "decode", "decode-typed", "decode-validated"];
        let messages = u64::from(test.messages) * u64::from(test.runs) * operations.len() as u64;
        let call = Call::new(Program::QuickfixCpp, "fix8-codec")
            .with("--messages", test.messages)
            .with("--runs", test.runs)
            .with("--dictionary", dictionary.display())
            .printing(test.runs as usize * operations.len())
            .within(Duration::from_secs(60) + Duration::from_micros(100) * capped(messages));
        let lines = self.output(&call, &folder)?;
        let runs =
            lines.iter().map(|line| results::codec_run(line).map_err(|problem| call.wrong(line, problem)));
        let runs = runs.collect::<Result<Vec<_>, _>>()?;
        if let Some(other) =
            runs.iter().find(|run| run.time.is_ok() && run.messages != u64::from(test.messages))
        {
            return Err(call.lacks(format!("{} messages, but has {}", test.messages, other.messages)));
        }
        for operation in operations {
            let seen = runs.iter().filter(|run| run.operation == operation).count();
            if seen != test.runs as usize {
                return Err(call.lacks(format!("{operation} in {seen} of {} runs", test.runs)));
            }
        }
        Ok(runs)
    }

    /// Measures QuickFIX/J on the four messages of FsFIX: a row for each message and operation.
    ///
    /// # Errors
    /// Returns an error if the program is not built, fails, or prints no figures.
    pub fn fsfix(&self, test: MessageTest) -> Result<Vec<MessageRow>, PeerError> {
        let folder = own_folder()?;
        let pairs = 16;
        let call = Call::new(Program::QuickfixJ, "fsfix")
            .with("--warm-up", test.warm_up.as_millis().max(1))
            .with("--batch", test.batch.as_millis().max(1))
            .printing(pairs as usize)
            .within(Duration::from_secs(120) + (test.warm_up + test.batch * 11) * pairs * 4);
        self.message_rows(&call, &folder, pairs as usize)
    }

    /// Measures a build of hffix on messages of `codec`: a row for each message and operation, in
    /// this many batches of so many rounds of the ring.
    ///
    /// # Errors
    /// Returns an error if the program is not built, fails, or prints no figures.
    pub fn codec(
        &self,
        program: Program,
        batches: usize,
        rounds: usize,
    ) -> Result<Vec<MessageRow>, PeerError> {
        let pairs = 7;
        let messages = (batches * rounds * RING) as u64 * pairs;
        let call = Call::new(program, "codec")
            .with("--batches", batches)
            .with("--rounds", rounds)
            .printing(pairs as usize)
            .within(Duration::from_secs(60) + Duration::from_micros(10) * capped(messages));
        self.message_rows(&call, &own_folder()?, pairs as usize)
    }

    /// Measures QuickFIX C++ on the order and the report of FIX Antenna's test.
    ///
    /// # Errors
    /// Returns an error if the program is not built, fails, or writes no times.
    pub fn antenna(&self, test: &RoundTripTest) -> Result<RoundTripRun, PeerError> {
        let validate = if test.validate { "Y" } else { "N" };
        self.round_trip(Call::new(Program::QuickfixCpp, "antenna").with("--validate", validate), test)
    }

    /// Measures an engine on the order and the report of JLBH's test, with file store and file log.
    ///
    /// # Errors
    /// Returns an error if the program is not built, fails, or writes no times.
    pub fn jlbh(&self, program: Program, test: &RoundTripTest) -> Result<RoundTripRun, PeerError> {
        self.round_trip(Call::new(program, "jlbh"), test)
    }

    fn round_trip(&self, call: Call, test: &RoundTripTest) -> Result<RoundTripRun, PeerError> {
        let folder = own_folder()?;
        let samples = folder.0.join("samples.csv");
        let seconds = (u64::from(test.messages) + u64::from(test.warm_up)) / u64::from(test.rate.max(1));
        let mut call = call
            .with("--rate", test.rate)
            .with("--messages", test.messages)
            .with("--warm-up", test.warm_up)
            .with("--dir", folder.0.display())
            .with("--samples", samples.display())
            .within(Duration::from_secs(300 + seconds * 2));
        if call.program == Program::QuickfixCpp && test.validate {
            let dictionary = dictionary(test.dictionary.as_deref(), Version::Fix42, &folder)?;
            call = call.with("--dictionary", dictionary.display());
        }
        let lines = self.output(&call, &folder)?;
        let [line] = &lines[..] else {
            return Err(call.lacks(format!("one line, but {} were printed", lines.len())));
        };
        let mut run = results::round_trip_run(line).map_err(|problem| call.wrong(line, problem))?;
        let text = fs::read_to_string(&samples).map_err(|error| PeerError::file("read", &samples, &error))?;
        run.samples = results::samples(&text).map_err(|problem| call.lacks(problem))?;
        if run.samples.len() != test.messages as usize || run.lost != run.samples_without_end() {
            let count = run.samples.len();
            return Err(
                call.lacks(format!("the times of {} messages, but has those of {count}", test.messages))
            );
        }
        if let Some(due) = results::rate_due(&run.samples)
            && due < f64::from(test.rate) * LEAST_RATE
        {
            return Err(call.lacks(format!("{} messages a second, but {due:.0} were due", test.rate)));
        }
        Ok(run)
    }

    fn message_rows(
        &self,
        call: &Call,
        folder: &Folder,
        expected: usize,
    ) -> Result<Vec<MessageRow>, PeerError> {
        let lines = self.output(call, folder)?;
        let rows =
            lines.iter().map(|line| results::message_row(line).map_err(|problem| call.wrong(line, problem)));
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        if rows.len() != expected {
            return Err(call.lacks(format!("{} of {expected} rows", rows.len())));
        }
        Ok(rows)
    }

    fn output(&self, call: &Call, folder: &Folder) -> Result<Vec<String>, PeerError> {
        match self.state(call.program) {
            State::Ready(path) => call.output(&path, &folder.0, &self.control),
            State::NotBuilt { command } => Err(PeerError::NotBuilt { program: call.program, command }),
        }
    }
}

fn own_folder() -> Result<Folder, PeerError> {
    Folder::new().map_err(|problem| PeerError::Folder { problem })
}

fn capped(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Returns the dictionary that was named; else writes the shipped one in QuickFIX's format.
fn dictionary(named: Option<&Path>, version: Version, folder: &Folder) -> Result<PathBuf, PeerError> {
    if let Some(named) = named {
        return Ok(named.to_path_buf());
    }
    let path = folder.0.join("dictionary.xml");
    fs::write(&path, shipped(version).to_quickfix_xml())
        .map_err(|error| PeerError::file("write", &path, &error))?;
    Ok(path)
}

#[cfg(test)]
mod tests;
