//! A command that a test runs to its end.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::testing::scratch::unused;

/// The exit status and output of a finished command.
#[derive(Debug)]
pub struct Ended {
    /// The exit status.
    pub status: i32,
    /// What it wrote to standard output.
    pub out: String,
    /// What it wrote to standard error.
    pub err: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Self {
            status: output.status.code().expect("the command was not killed"),
            out: String::from_utf8(output.stdout).expect("the answer is UTF-8"),
            err: String::from_utf8(output.stderr).expect("standard error is UTF-8"),
        }
    }
}

impl Ended {
    /// Runs the command with nothing on standard input.
    #[must_use]
    pub fn from_run(command: &mut Command) -> Self {
        command.stdin(Stdio::null()).output().expect("the command starts").into()
    }

    /// Runs the command with nothing on standard input, and a standard output that nobody reads.
    #[must_use]
    pub fn from_unread_run(command: &mut Command) -> Self {
        let (reader, writer) = std::io::pipe().expect("there are file descriptors");
        drop(reader);
        command.stdin(Stdio::null()).stdout(writer).output().expect("the command starts").into()
    }

    /// Runs the command with `input` on standard input.
    #[must_use]
    pub fn from_run_with_input(command: &mut Command, input: &[u8]) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the command starts");
        let mut stdin = child.stdin.take().expect("it is piped");
        // A command that refuses its arguments ends without reading.
        let _ = stdin.write_all(input);
        drop(stdin);
        child.wait_with_output().expect("the command ends").into()
    }
}

/// Creates an empty directory for a test in the directory that cargo has for tests
/// (`CARGO_TARGET_TMPDIR`). It stays after the test, to be looked at.
#[must_use]
pub fn directory(of_tests: &str, name: &str) -> PathBuf {
    let path = Path::new(of_tests).join(unused(name));
    std::fs::create_dir_all(&path).expect("the target directory can be written");
    path
}
