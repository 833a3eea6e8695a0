//! Runs the `fixbolt` command as a user does.
#![allow(dead_code)] // each test file uses what it needs

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fixbolt_conformance::testing;
pub(crate) use fixbolt_conformance::testing::Ended;

/// Returns the command, not yet started. It measures no other engine: whether their programs are
/// built must not matter.
pub(crate) fn fixbolt() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fixbolt"));
    command.env("FIXBOLT_PEERS", "no/peers/are/here");
    command
}

/// Runs the command with nothing on standard input.
pub(crate) fn run(arguments: &[&str]) -> Ended {
    Ended::from_run(fixbolt().args(arguments))
}

/// Runs the command with a standard output that nobody reads.
pub(crate) fn run_unread(arguments: &[&str]) -> Ended {
    Ended::from_unread_run(fixbolt().args(arguments))
}

/// Runs the command with `input` on standard input.
pub(crate) fn run_with_input(arguments: &[&str], input: &[u8]) -> Ended {
    Ended::from_run_with_input(fixbolt().args(arguments), input)
}

/// Creates an empty directory for this test.
pub(crate) fn directory(name: &str) -> PathBuf {
    testing::directory(env!("CARGO_TARGET_TMPDIR"), name)
}

/// Returns a whole message of `fields` (with `|` for SOH), as text.
pub(crate) fn message(begin_string: &str, fields: &str) -> String {
    String::from_utf8(testing::message(begin_string, fields)).expect("fields are text")
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

    /// Returns the number of the process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
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
