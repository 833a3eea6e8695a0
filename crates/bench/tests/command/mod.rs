//! Runs `fixbolt-bench` as `fixbolt bench` does.
#![allow(dead_code)] // each test file uses what it needs

use std::path::PathBuf;
use std::process::Command;

use fixbolt_conformance::testing;
pub(crate) use fixbolt_conformance::testing::Ended;

/// Returns the command, not yet started. It measures no other engine: whether their programs are
/// built must not matter.
pub(crate) fn bench() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fixbolt-bench"));
    command.env("FIXBOLT_PEERS", "no/peers/are/here");
    command
}

/// Runs the command with nothing on standard input.
pub(crate) fn run(arguments: &[&str]) -> Ended {
    Ended::from_run(bench().args(arguments))
}

/// Runs the command with a standard output that nobody reads.
pub(crate) fn run_unread(arguments: &[&str]) -> Ended {
    Ended::from_unread_run(bench().args(arguments))
}

/// Runs the command with `input` on standard input.
pub(crate) fn run_with_input(arguments: &[&str], input: &[u8]) -> Ended {
    Ended::from_run_with_input(bench().args(arguments), input)
}

/// Creates an empty directory for this test.
pub(crate) fn directory(name: &str) -> PathBuf {
    testing::directory(env!("CARGO_TARGET_TMPDIR"), name)
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
