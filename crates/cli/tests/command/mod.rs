//! Runs the `fixbolt` command as a user does.
#![allow(dead_code)] // each test file uses what it needs

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Returns the command, not yet started. It measures no other engine: whether their programs are
/// built must not matter.
pub(crate) fn fixbolt() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fixbolt"));
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
    fixbolt().args(arguments).stdin(Stdio::null()).output().expect("the command starts").into()
}

/// Runs the command with `input` on standard input.
pub(crate) fn run_with_input(arguments: &[&str], input: &[u8]) -> Ended {
    let mut child = fixbolt()
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

/// Returns a whole message of `fields` (with `|` for SOH), as text.
pub(crate) fn message(begin_string: &str, fields: &str) -> String {
    String::from_utf8(fixbolt_conformance::testing::message(begin_string, fields)).expect("fields are text")
}

/// Returns `serve`, not yet started. Adds `--listen` with a port that the system chooses, unless
/// the arguments name a configuration.
fn serve(arguments: &[&str]) -> Command {
    let mut command = fixbolt();
    command.arg("serve").args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if !arguments.contains(&"--config") {
        command.args(["--listen", "127.0.0.1:0"]);
    }
    command
}

/// A running `fixbolt serve`, which is stopped when dropped.
pub(crate) struct Server {
    child: std::process::Child,
    pub(crate) address: String,
}

impl Server {
    /// Starts it and waits for its first line.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::start_command(serve(arguments))
    }

    /// Starts it with its standard error in a file or a pipe of the caller, and waits for its first
    /// line.
    pub(crate) fn start_with_log(arguments: &[&str], log: impl Into<Stdio>) -> Self {
        let mut command = serve(arguments);
        command.stderr(log);
        Self::start_command(command)
    }

    fn start_command(mut command: Command) -> Self {
        let mut child = command.spawn().expect("the command starts");
        // Its standard error is not read, as in `2>&1 | head -1`.
        drop(child.stderr.take());
        let mut line = String::new();
        let mut out = std::io::BufReader::new(child.stdout.take().expect("it is piped"));
        std::io::BufRead::read_line(&mut out, &mut line).expect("it prints a line");
        let line = line.trim();
        let address = line
            .strip_prefix("listening ")
            .or_else(|| line.strip_prefix("{\"kind\":\"listening\",\"address\":\"")?.strip_suffix("\"}"));
        let address = address.expect("the line says where").to_owned();
        Self { child, address }
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        let killed = Command::new("kill").args([signal, &id]).status().expect("kill is there");
        assert!(killed.success());
    }

    /// Sends a signal and returns the exit status.
    pub(crate) fn stop(self, signal: &str) -> Option<i32> {
        self.signal(signal);
        self.ended()
    }

    /// Waits until the process ends, and returns its exit status.
    pub(crate) fn ended(mut self) -> Option<i32> {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            if let Some(status) = self.child.try_wait().expect("it can be waited for") {
                return status.code();
            }
            assert!(Instant::now() < deadline, "the process does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may already have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
