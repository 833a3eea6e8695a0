//! Why a peer has no figures.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::Program;

/// Why a peer has no figures.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum PeerError {
    /// There is no folder with peers.
    NoFolder {
        /// What `FIXBOLT_PEERS` names, if it is set.
        named: Option<PathBuf>,
    },
    /// The program is not built.
    NotBuilt {
        /// The program.
        program: Program,
        /// What builds it.
        command: String,
    },
    /// No folder for what the program writes could be created.
    Folder {
        /// What the system said.
        problem: String,
    },
    /// A file or the program could not be used.
    File {
        /// What was wanted: `read`, `write` or `start`.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        problem: String,
    },
    /// The program was ended because the measurement was stopped.
    Stopped {
        /// The command line.
        command: String,
    },
    /// The program failed, or did not end in time.
    Failed {
        /// The command line.
        command: String,
        /// Its exit status, or the time after which it was ended.
        status: String,
        /// The end of what it printed to standard error.
        says: String,
    },
    /// The program ended well, but its results are not what they must be.
    Results {
        /// The command line.
        command: String,
        /// What is wrong.
        problem: String,
    },
}

impl PeerError {
    pub(super) fn file(what: &'static str, path: &Path, error: &io::Error) -> Self {
        Self::File { what, path: path.to_path_buf(), problem: error.to_string() }
    }
}

impl fmt::Display for PeerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFolder { named: Some(named) } => write!(
                f,
                "FIXBOLT_PEERS names {}, which has no benchmark programs of other engines: name the folder `peers` of Fixbolt's repository",
                named.display()
            ),
            Self::NoFolder { named: None } => f.write_str(
                "no benchmark programs of other engines: run this in Fixbolt's repository, or set FIXBOLT_PEERS to its folder `peers`",
            ),
            Self::NotBuilt { program, command } => {
                write!(f, "{program} is not measured, because its benchmark program is not built: run `{command}`")
            }
            Self::Folder { problem } => write!(f, "no folder for temporary files: {problem}"),
            Self::File { what, path, problem } => write!(f, "cannot {what} {}: {problem}", path.display()),
            Self::Stopped { command } => write!(f, "`{command}` was interrupted"),
            Self::Failed { command, status, says } => {
                write!(f, "`{command}` failed: {status}")?;
                if says.is_empty() { Ok(()) } else { write!(f, ": {says}") }
            }
            Self::Results { command, problem } => write!(f, "results of `{command}`: {problem}"),
        }
    }
}

impl std::error::Error for PeerError {}
