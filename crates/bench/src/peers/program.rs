//! The programs: where they are, and how they are run.

use std::fmt;
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use fixbolt_workloads::harness::Control;

use super::PeerError;

const SIGINT: i32 = 2;

/// A benchmark program, of the engine that it is named after.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Program {
    /// QuickFIX C++: `fix8-codec`, `antenna` and `jlbh`.
    QuickfixCpp,
    /// QuickFIX/J: `fsfix` and `jlbh`.
    QuickfixJ,
    /// hffix, built for the machine with `-O3 -march=native`: `codec`.
    Hffix,
    /// hffix, built with `-O2`: `codec`.
    HffixO2,
}

/// Whether a program can be run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum State {
    /// It is built: its path.
    Ready(PathBuf),
    /// It is not built.
    NotBuilt {
        /// What installs what it needs, and builds it.
        command: String,
    },
}

impl Program {
    /// All programs.
    pub const ALL: [Self; 4] = [Self::QuickfixCpp, Self::QuickfixJ, Self::Hffix, Self::HffixO2];
    /// The programs whose engine has sessions.
    pub const ENGINES: [Self; 2] = [Self::QuickfixCpp, Self::QuickfixJ];
    /// The builds of hffix, which only reads and writes messages.
    pub const HFFIX: [Self; 2] = [Self::Hffix, Self::HffixO2];

    /// Returns the name of its folder.
    #[must_use]
    pub fn folder(self) -> &'static str {
        match self {
            Self::QuickfixCpp => "quickfix-cpp",
            Self::QuickfixJ => "quickfixj",
            Self::Hffix | Self::HffixO2 => "hffix",
        }
    }

    /// Returns the name of its file.
    pub(super) fn file(self) -> &'static str {
        match self {
            Self::QuickfixCpp => "quickfix-cpp-bench",
            Self::QuickfixJ => "quickfixj-bench",
            Self::Hffix => "hffix-bench",
            Self::HffixO2 => "hffix-bench-O2",
        }
    }

    pub(super) fn state(self, peers: &Path) -> State {
        let folder = self.folder();
        let path = peers.join(folder).join("build").join(self.file());
        if path.is_file() {
            return State::Ready(path);
        }
        let here = std::env::current_dir().unwrap_or_default();
        let peers = peers.strip_prefix(here).unwrap_or(peers).display();
        let command = match self {
            Self::QuickfixCpp | Self::QuickfixJ => {
                format!("{peers}/tools {folder} && make -C {peers}/{folder} bench")
            }
            // No registry has it.
            Self::Hffix | Self::HffixO2 => {
                format!("make -C {peers}/{folder} bench HFFIX=SOURCE_TREE_OF_HFFIX")
            }
        };
        State::NotBuilt { command }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::QuickfixCpp => "QuickFIX C++",
            Self::QuickfixJ => "QuickFIX/J",
            Self::Hffix => "hffix -O3 -march=native",
            Self::HffixO2 => "hffix -O2",
        })
    }
}

/// A test of a program, with its options.
pub(super) struct Call {
    pub(super) program: Program,
    arguments: Vec<String>,
    rows: usize,
    limit: Duration,
}

impl Call {
    pub(super) fn new(program: Program, test: &str) -> Self {
        Self { program, arguments: vec![test.to_owned()], rows: 1, limit: Duration::ZERO }
    }

    pub(super) fn with(mut self, option: &str, value: impl fmt::Display) -> Self {
        self.arguments.extend([option.to_owned(), value.to_string()]);
        self
    }

    /// Sets the number of lines that the program prints, one unless it is set.
    pub(super) fn printing(mut self, rows: usize) -> Self {
        self.rows = rows;
        self
    }

    /// Sets the time after which the program is ended.
    pub(super) fn within(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Runs the program and returns the lines that it printed. What it prints is kept in `folder`
    /// meanwhile. `control` is told how many lines there are so far.
    pub(super) fn output(
        &self,
        path: &Path,
        folder: &Path,
        control: &Control,
    ) -> Result<Vec<String>, PeerError> {
        let (program, test) = (self.program, &self.arguments[0]);
        control.begin(format!("{program}: {test}"), self.rows as u64);
        let [out, err] = ["out", "err"].map(|name| folder.join(name));
        let create = |path| File::create(path).map_err(|error| PeerError::file("write", path, &error));
        let mut child = Command::new(path)
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stdout(create(&out)?)
            .stderr(create(&err)?)
            .spawn()
            .map_err(|error| PeerError::file("start", path, &error))?;
        let status =
            self.wait(&mut child, &out, control).map_err(|error| PeerError::file("start", path, &error))?;
        let status = match status {
            Some(status) if status.success() => {
                let text = fs::read_to_string(&out).map_err(|error| PeerError::file("read", &out, &error))?;
                return Ok(text.lines().map(str::to_owned).collect());
            }
            // The terminal's interrupt reaches the program, too, perhaps before `control` knows.
            Some(status) if status.signal() == Some(SIGINT) || status.code() == Some(128 + SIGINT) => {
                return Err(PeerError::Stopped { command: self.command() });
            }
            Some(status) => status.to_string(),
            None if control.is_stopped() => return Err(PeerError::Stopped { command: self.command() }),
            None => format!("it did not end within {} s", self.limit.as_secs()),
        };
        let says = String::from_utf8_lossy(&fs::read(&err).unwrap_or_default()).trim().to_owned();
        Err(PeerError::Failed { command: self.command(), status, says: end_of(&says) })
    }

    /// Returns `None` if the program was ended because the limit had passed, or by `control`.
    fn wait(&self, child: &mut Child, out: &Path, control: &Control) -> std::io::Result<Option<ExitStatus>> {
        let end = Instant::now() + self.limit;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(Some(status));
            }
            if Instant::now() >= end || control.is_stopped() {
                child.kill()?;
                child.wait()?;
                return Ok(None);
            }
            // Seldom enough to disturb no measurement of the program.
            std::thread::sleep(Duration::from_millis(50));
            control.progress(lines_in(out));
        }
    }

    fn command(&self) -> String {
        format!("{} {}", self.program.file(), self.arguments.join(" "))
    }

    /// Returns the error for a line that cannot be read.
    pub(super) fn wrong(&self, line: &str, problem: String) -> PeerError {
        let line = end_of(line);
        PeerError::Results { command: self.command(), problem: format!("{problem}, in the line {line}") }
    }

    /// Returns the error for results that are not complete.
    pub(super) fn lacks(&self, problem: String) -> PeerError {
        PeerError::Results { command: self.command(), problem }
    }
}

fn lines_in(file: &Path) -> u64 {
    let text = fs::read(file).unwrap_or_default();
    text.iter().filter(|byte| **byte == b'\n').count() as u64
}

/// Returns the last 2,000 characters.
fn end_of(text: &str) -> String {
    let skipped = text.chars().count().saturating_sub(2_000);
    text.chars().skip(skipped).collect()
}
