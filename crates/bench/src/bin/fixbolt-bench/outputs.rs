//! Where results go, and what is asked of them: the options that all benchmarks share.

use std::io::{IsTerminal as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use clap::Args;
use fixbolt_bench::results::{Assertion, Report, TestReport, csv, hgrm, html, json_lines, markdown};
use fixbolt_cli::exit::{Answer, Failure};
use fixbolt_cli::interrupt::Interrupt;
use fixbolt_cli::note;
use fixbolt_cli::output::{self, Format};
use fixbolt_codec::{Precision, UtcTimestamp};
use fixbolt_workloads::harness::Control;
use fixbolt_workloads::machine::Machine;

/// Where results go.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Results")]
pub(crate) struct Outputs {
    /// Output format
    #[arg(short, long, value_enum, default_value_t, value_name = "text|json", hide_possible_values = true)]
    output: Format,
    /// Write what -o json prints to FILE, which `fixbolt bench compare` and `report` read
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the figures to FILE as comma-separated values
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write a page to FILE in Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Write the results to FILE as a page with plots, which needs no network
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write each latency distribution to DIRECTORY in HdrHistogram's text format (.hgrm)
    #[arg(long, value_name = "DIRECTORY")]
    hgrm: Option<PathBuf>,
    /// End with status 1 unless CONDITION is kept: 'p99<=20us' or 'rate>=1980' by every such figure
    /// of Fixbolt, 'jlbh 2000/s: p50<=30us' or 'NOS-222 index scalar: ns<=60' by the one with that
    /// name, in which parts that no other figure shares suffice; may be repeated
    #[arg(long = "assert", value_name = "CONDITION", value_parser = Assertion::parse)]
    assertions: Vec<Assertion>,
}

/// Measures with `tests`, and writes what was measured to where `outputs` say. `command` is the
/// name that results carry.
pub(super) fn measure(
    outputs: &Outputs,
    command: &str,
    tests: impl FnOnce(&Control) -> Result<Vec<TestReport>, String>,
) -> Result<Answer, Failure> {
    outputs.prepare()?;
    let machine = Machine::measured();
    let began = now();
    let interrupt =
        Interrupt::watch().map_err(|error| Failure::usage(format!("cannot watch signals: {error}")))?;
    let control = Control::default();
    let measured = watched(&interrupt, &control, || tests(&control));
    let tests = match measured {
        Ok(tests) => tests,
        Err(wrong) => {
            note!("fixbolt: {wrong}");
            return Ok(Answer::No);
        }
    };
    let report = Report { machine, command: command.to_owned(), began, partial: control.is_stopped(), tests };
    outputs.write(&report)?;
    if report.partial {
        return Err(Failure::interrupted("interrupted: the results are incomplete"));
    }
    outputs.judge(&report)
}

/// Runs `work` while another thread displays its progress and watches for an interrupt.
fn watched<R>(interrupt: &Interrupt, control: &Control, work: impl FnOnce() -> R) -> R {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| watch(interrupt, control, &done));
        let result = work();
        done.store(true, Ordering::Relaxed);
        watcher.thread().unpark();
        result
    })
}

fn watch(interrupt: &Interrupt, control: &Control, done: &AtomicBool) {
    let terminal = std::io::stderr().is_terminal();
    let mut shown = 0;
    for tick in 1u32.. {
        std::thread::park_timeout(Duration::from_millis(100));
        if interrupt.came() {
            control.stop();
        }
        let ended = done.load(Ordering::Relaxed);
        if terminal && (tick.is_multiple_of(10) || ended) {
            let (what, done, all) = control.status();
            let line = match (done * 100).checked_div(all) {
                _ if ended => String::new(),
                Some(percent) => format!("{what}: {percent} %"),
                None => what,
            };
            // It replaces the one before.
            let _ = write!(std::io::stderr(), "\r{line:<shown$}\r");
            shown = line.chars().count();
        }
        if ended {
            return;
        }
    }
}

impl Outputs {
    /// Has a page in Markdown written to `path`, unless another one was named.
    pub(super) fn with_markdown(mut self, path: PathBuf) -> Self {
        self.markdown.get_or_insert(path);
        self
    }

    /// Creates what results are written to. Before anything is measured: a directory that is
    /// missing would be noticed too late, and so would a file that is named twice.
    pub(super) fn prepare(&self) -> Result<(), Failure> {
        let files: Vec<&PathBuf> =
            [&self.json, &self.csv, &self.html, &self.markdown].into_iter().flatten().collect();
        let mut opened = Vec::new();
        for path in files {
            // What is there stays until there are results.
            let open = std::fs::OpenOptions::new().append(true).create(true).open(path);
            let file = open.and_then(|file| file.metadata());
            let file = file.map_err(|error| Failure::file("write", path, &error))?;
            // A device takes everything.
            if file.is_file() && opened.contains(&(file.dev(), file.ino())) {
                let path = path.display();
                return Err(Failure::usage(format!("{path} is named for two forms of the results")));
            }
            opened.push((file.dev(), file.ino()));
        }
        if let Some(folder) = &self.hgrm {
            std::fs::create_dir_all(folder).map_err(|error| Failure::file("create", folder, &error))?;
        }
        Ok(())
    }

    /// Returns whether a form of the results goes to this file.
    pub(super) fn have(&self, path: &Path) -> bool {
        [&self.json, &self.csv, &self.html, &self.markdown].into_iter().flatten().any(|named| named == path)
    }

    fn write(&self, report: &Report) -> Result<(), Failure> {
        // The files first: nobody may be reading what is printed.
        if let Some(path) = &self.json {
            write(path, &json_lines(report))?;
        }
        if let Some(path) = &self.csv {
            write(path, &csv(report))?;
        }
        if let Some(path) = &self.markdown {
            write(path, &markdown(report))?;
        }
        if let Some(path) = &self.html {
            write(path, &html(std::slice::from_ref(report)))?;
        }
        if let Some(folder) = &self.hgrm {
            for series in report.series() {
                write(&folder.join(format!("{}.hgrm", file_name(&series.key()))), &hgrm(series))?;
            }
        }
        let mut out = output::verdict();
        match self.output {
            Format::Json => out.write_all(json_lines(report).as_bytes())?,
            Format::Text => write!(out, "{report}")?,
        }
        out.flush()?;
        Ok(())
    }

    fn judge(&self, report: &Report) -> Result<Answer, Failure> {
        let mut answer = Answer::Yes;
        for assertion in &self.assertions {
            for judgement in assertion.judge(report).map_err(Failure::usage)? {
                if judgement.kept && judgement.few {
                    note!(
                        "fixbolt: {} keeps {assertion}, with too few samples above it to rely on",
                        judgement.what
                    );
                }
                if !judgement.kept {
                    note!("fixbolt: {} does not keep {assertion}", judgement.what);
                    answer = Answer::No;
                }
            }
        }
        Ok(answer)
    }
}

/// Returns a text as the name of a file: what is not a letter or a digit becomes a hyphen.
fn file_name(text: &str) -> String {
    text.chars().map(|c| if c.is_alphanumeric() || c == '.' { c } else { '-' }).collect()
}

/// Writes a file.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| Failure::file("write", path, &error))
}

fn now() -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let nanos = u64::try_from(now.as_nanos()).unwrap_or(0);
    UtcTimestamp::from_unix_nanos(nanos, Precision::Seconds).to_string()
}
