//! Runs `fixbolt-bench` as `fixbolt bench` does.
#![allow(dead_code)] // each test file uses what it needs

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// Returns the command, not yet started. It measures no other engine: whether their programs are
/// built must not matter.
pub(crate) fn bench() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fixbolt-bench"));
    command.env("FIXBOLT_PEERS", "no/peers/are/here");
    command
}

/// The exit status and output of a finished command.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
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

/// Runs the command with nothing on standard input.
pub(crate) fn run(arguments: &[&str]) -> Ended {
    bench().args(arguments).stdin(Stdio::null()).output().expect("the command starts").into()
}

/// Runs the command with `input` on standard input.
pub(crate) fn run_with_input(arguments: &[&str], input: &[u8]) -> Ended {
    let mut child = bench()
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut stdin = child.stdin.take().expect("it is piped");
    // A command that refuses its arguments ends without reading.
    let _ = stdin.write_all(input);
    drop(stdin);
    child.wait_with_output().expect("the command ends").into()
}

/// Creates an empty directory for this test.
pub(crate) fn directory(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("the target directory can be written");
    path
}

/// Returns whether `fixbolt`, which `print` measures, is beside `fixbolt-bench` and of the same
/// build, as it is where the tests of the whole workspace are run.
pub(crate) fn has_fixbolt() -> bool {
    let path = PathBuf::from(env!("CARGO_BIN_EXE_fixbolt-bench")).with_file_name("fixbolt");
    let mut fixbolt = Command::new(&path);
    let found = fixbolt_cli::beside::introduce(&mut fixbolt).arg("--version").output();
    let is_here = found.is_ok_and(|ended| ended.status.success());
    if !is_here {
        eprintln!("{} is absent or of another build: what needs it is not tested", path.display());
    }
    is_here
}
