//! `fixbolt print` beside `grep -c`: how fast a log is read.
//!
//! Both are programs, started for each part of a log: first the one, then the other, so that what
//! else the machine does disturbs them alike. The time of a program is the CPU time of its process,
//! from its start to its end.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use fixbolt_cli::beside;
use fixbolt_workloads::clock::median;
use fixbolt_workloads::harness::Control;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::folder::Folder;
use crate::log::{LogForm, MessageLog};
use crate::results::{Part, Row};

/// The size of a part, in bytes.
const PART: usize = 25_000_000;
const SEED: u64 = 20_261_121;

/// The programs, in the order in which they are timed.
const OPERATIONS: [(&str, &[&str]); 4] =
    [("count", &[]), ("oneline", &["--oneline"]), ("block", &[]), ("json", &["-o", "json"])];

/// Measures `program`, which is `fixbolt`, on logs of this many bytes in each form. If `control`
/// stops the measurement, the figures are those of the parts that were done.
///
/// # Errors
/// Returns an error if a program cannot be run, finds another number of messages than the log has,
/// or finds an invalid one.
pub fn run(program: &Path, bytes: usize, control: &Control) -> Result<Vec<Row>, String> {
    let folder = Folder::new()?;
    let path = folder.0.join("messages.log");
    let mut rows = Vec::new();
    for form in LogForm::ALL {
        let mut log = MessageLog::new(SEED, form);
        let mut text = Vec::new();
        let mut times: [Times; 4] = Default::default();
        let mut left = bytes;
        control.begin(format!("print: {}", form.name()), bytes as u64);
        while left > 0 && !control.is_stopped() {
            let messages = log.part(left.min(PART), &mut text);
            left = left.saturating_sub(text.len());
            std::fs::write(&path, &text).map_err(|error| format!("{}: {error}", path.display()))?;
            let programs =
                OPERATIONS.map(|(name, arguments)| Program { name, arguments, program, path: &path });
            for program in &programs {
                program.check(messages)?;
            }
            let mut grep = 0.0;
            for (program, times) in programs.iter().zip(&mut times) {
                let ns = program.time()?;
                if program.is_grep() {
                    grep = ns;
                }
                times.per_message.push(ns / messages as f64);
                times.mb_per_s.push(text.len() as f64 * 1000.0 / ns);
                times.ratios.push(ns / grep);
            }
            control.progress((bytes - left) as u64);
        }
        rows.extend(OPERATIONS.iter().zip(times).filter_map(|((name, _), times)| times.row(form, name)));
    }
    Ok(rows)
}

/// What was measured on each part.
#[derive(Default)]
struct Times {
    per_message: Vec<f64>,
    mb_per_s: Vec<f64>,
    ratios: Vec<f64>,
}

impl Times {
    /// Returns the figures; `None` without parts.
    fn row(mut self, form: LogForm, operation: &'static str) -> Option<Row> {
        let engine = if operation == OPERATIONS[0].0 { "grep" } else { "fixbolt" };
        let (mb_per_s, ratio) = (median(&mut self.mb_per_s)?, median(&mut self.ratios)?);
        let row = Row::of_ns("print", form.name(), operation, 0.0).engine(engine);
        let row = row.median_of(Part::Slice, self.per_message)?;
        Some(row.with("mb_per_s", mb_per_s).with("ratio", ratio))
    }
}

/// A program that reads a log.
struct Program<'p> {
    name: &'static str,
    arguments: &'static [&'static str],
    program: &'p Path,
    path: &'p PathBuf,
}

impl Program<'_> {
    fn is_grep(&self) -> bool {
        self.name == OPERATIONS[0].0
    }

    fn start(&self, output: Stdio) -> Result<Child, String> {
        let mut command = if self.is_grep() {
            let mut grep = Command::new("grep");
            grep.args(["-c", "8=FIX"]);
            grep
        } else {
            let mut print = Command::new(self.program);
            beside::introduce(&mut print).arg("print").args(self.arguments);
            print
        };
        command.arg(self.path).stdin(Stdio::null()).stdout(output).stderr(Stdio::inherit());
        let name = command.get_program().to_string_lossy().into_owned();
        command.spawn().map_err(|error| format!("cannot run {name}: {error}"))
    }

    /// Checks that the program finds this many messages, all of them valid.
    fn check(&self, messages: u64) -> Result<(), String> {
        let mut child = self.start(Stdio::piped())?;
        let mut output = child.stdout.take().ok_or("no output")?;
        let mut found = Count::default();
        let mut buffer = vec![0; 1 << 16];
        let mut first = Vec::new();
        loop {
            let length = output.read(&mut buffer).map_err(|error| format!("{}: {error}", self.name))?;
            if length == 0 {
                break;
            }
            found.add(&buffer[..length]);
            if first.len() < 64 {
                first.extend_from_slice(&buffer[..length.min(64)]);
            }
        }
        let status = child.wait().map_err(|error| format!("{}: {error}", self.name))?;
        let found = match self.name {
            "count" => String::from_utf8_lossy(&first).trim().parse().unwrap_or(0),
            // A block ends with an empty line.
            "block" => found.empty_lines,
            _ => found.lines,
        };
        if status.success() && found == messages {
            Ok(())
        } else {
            Err(format!("{}: found {found} of {messages} messages, {status}", self.name))
        }
    }

    /// Runs the program and returns the CPU time of its process, in nanoseconds.
    fn time(&self) -> Result<f64, String> {
        // grep stops at the first match if its output is /dev/null.
        let output = if self.is_grep() { Stdio::piped() } else { Stdio::null() };
        let mut child = self.start(output)?;
        let pid = Pid::from_child(&child);
        waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
            .map_err(|error| format!("{}: {error}", self.name))?;
        let path = format!("/proc/{}/schedstat", child.id());
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        let status = child.wait().map_err(|error| format!("{}: {error}", self.name))?;
        if !status.success() {
            return Err(format!("{}: {status}", self.name));
        }
        let time = text.split_whitespace().next().and_then(|time| time.parse::<f64>().ok());
        time.filter(|time| *time > 0.0).ok_or_else(|| format!("{path} has no CPU time"))
    }
}

/// Lines of an output that is read in parts.
#[derive(Default)]
struct Count {
    lines: u64,
    empty_lines: u64,
    /// Whether the last byte ended a line.
    after_line: bool,
}

impl Count {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let ends_line = *byte == b'\n';
            self.lines += u64::from(ends_line);
            self.empty_lines += u64::from(ends_line && self.after_line);
            self.after_line = ends_line;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_finds_other_messages_is_told_and_nothing_is_timed() {
        // It prints nothing.
        let error = run(Path::new("true"), 1_000, &Control::default()).unwrap_err();
        assert!(error.starts_with("oneline: found 0 of "), "{error}");
        let error = run(Path::new("no-such-program"), 1_000, &Control::default()).unwrap_err();
        assert!(error.starts_with("cannot run no-such-program: "), "{error}");
    }

    #[test]
    fn a_measurement_that_is_stopped_begins_no_part() {
        let control = Control::default();
        control.stop();
        assert_eq!(run(Path::new("no-such-program"), 1_000, &control), Ok(Vec::new()));
    }

    #[test]
    fn lines_are_counted_across_parts() {
        let mut count = Count::default();
        for part in [&b"a\n"[..], b"\nb\n", b"\n", b"c"] {
            count.add(part);
        }
        assert_eq!((count.lines, count.empty_lines), (4, 2));
    }
}
