//! Measures in several processes, which are started one after another.

use std::io::Read;
use std::process::{Command, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use fixbolt_bench::batches::Measured;
use fixbolt_bench::results::from_json_lines;
use fixbolt_cli::beside;
use fixbolt_workloads::harness::Control;

/// The exit status of a measurement that was interrupted.
const INTERRUPTED: i32 = 130;

/// Runs this program with `arguments` in `number` processes, one after another, and returns what
/// each measured. If `control` stops the measurement, those of the processes that have ended.
pub(super) fn measure(
    arguments: &[String],
    number: usize,
    control: &Control,
) -> Result<Vec<Measured>, String> {
    let program = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    control.begin(arguments.first().map_or("processes", String::as_str), number as u64);
    let mut processes = Vec::with_capacity(number);
    while processes.len() < number && !control.is_stopped() {
        let mut command = Command::new(&program);
        beside::introduce(&mut command).args(arguments).args(["--processes", "1", "-o", "json"]);
        let Some(measured) = one(&mut command, control)? else { break };
        processes.push(measured);
        control.progress(processes.len() as u64);
    }
    Ok(processes)
}

/// Runs one process; returns `None` if it was interrupted.
fn one(command: &mut Command, control: &Control) -> Result<Option<Measured>, String> {
    let failed = |error: std::io::Error| format!("cannot run a process that measures: {error}");
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(failed)?;
    let [output, said] = [child.stdout.take().map(read), child.stderr.take().map(read)];
    let status = loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            break status;
        }
        if control.is_stopped() {
            child.kill().map_err(failed)?;
        }
        // Seldom enough to disturb no measurement.
        std::thread::sleep(Duration::from_millis(20));
    };
    let [output, said] =
        [output, said].map(|read| read.and_then(|read| read.join().ok()).unwrap_or_default());
    if control.is_stopped() || status.code() == Some(INTERRUPTED) {
        // The terminal's interrupt may have reached the process first.
        control.stop();
        return Ok(None);
    }
    if !status.success() {
        // Its own name comes first.
        let said = said.trim().trim_start_matches("fixbolt: ");
        return Err(if said.is_empty() {
            format!("a process that measures ended with {status}")
        } else {
            said.to_owned()
        });
    }
    let report = from_json_lines(&output).map_err(|why| format!("the output of a process: {why}"))?;
    let notes = report.tests.iter().flat_map(|test| test.notes.clone()).collect();
    Ok(Some(Measured { rows: report.rows().cloned().collect(), notes }))
}

/// Reads what a process writes, which would wait for a reader once a pipe is full.
fn read(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read until an error is all there is.
        let _ = from.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
