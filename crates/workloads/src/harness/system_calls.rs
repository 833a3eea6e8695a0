//! Counting system calls, where the system lets us.

use std::io::Read as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// How long the counter may take to begin.
const BEGIN: Duration = Duration::from_millis(400);

/// Runs `work` and returns the number of system calls that all threads of this process made
/// meanwhile: counted by `perf stat`, so `None` without it, or without the right to trace.
///
/// Counting delays each call: nothing that is timed belongs here.
pub fn counting_system_calls<R>(work: impl FnOnce() -> R) -> (R, Option<u64>) {
    let counter = begin();
    let result = work();
    (result, counter.and_then(end))
}

fn begin() -> Option<Child> {
    let counter = Command::new("perf")
        .args(["stat", "-x", ";", "-e", "raw_syscalls:sys_enter", "-p", &std::process::id().to_string()])
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    std::thread::sleep(BEGIN);
    Some(counter)
}

fn end(mut counter: Child) -> Option<u64> {
    // It has ended by itself if it may not trace.
    _ = kill_process(Pid::from_child(&counter), Signal::INT);
    let mut text = String::new();
    counter.stderr.take()?.read_to_string(&mut text).ok()?;
    counter.wait().ok()?;
    counted(&text)
}

/// Reads the count from the fields of a line: `1234;;raw_syscalls:sys_enter;...`.
fn counted(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.contains("raw_syscalls:sys_enter"))?;
    line.split(';').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_read_from_the_line_of_its_event() {
        let text = "# started\n1234;;raw_syscalls:sys_enter;5000;100.00;;\n";
        assert_eq!(counted(text), Some(1234));
        assert_eq!(counted("<not supported>;;raw_syscalls:sys_enter;0;0.00;;\n"), None);
        assert_eq!(counted("No permission to enable raw_syscalls\n"), None);
    }

    #[test]
    fn calls_are_counted_where_tracing_is_allowed() {
        let ((), calls) = counting_system_calls(|| {
            for _ in 0..1_000 {
                _ = std::fs::metadata("/");
            }
        });
        match calls {
            Some(calls) => assert!((1_000..100_000).contains(&calls), "{calls}"),
            None => eprintln!("system calls cannot be counted here"),
        }
    }
}
