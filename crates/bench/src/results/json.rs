//! A report as lines of JSON, and back.
//!
//! One object per line, told apart by `record`: `report` first, then for each test a `test` and its
//! rows (`row`), runs (`run`) and tables (`table`).

use fixbolt_workloads::harness::Run;
use fixbolt_workloads::machine::Machine;
use serde::{Deserialize, Serialize};

use super::{Part, Report, Row, Series, Table, TestReport};

/// The version of the format. Another one is refused.
const FORMAT: u32 = 2;

#[derive(Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "lowercase")]
enum Record {
    Report { format: u32, command: String, began: String, partial: bool, machine: Box<Machine> },
    Test(TestReport),
    Row(Row),
    Run(Box<RunRecord>),
    Table(Table),
}

#[derive(Serialize, Deserialize)]
struct RunRecord {
    test: String,
    engine: String,
    message: String,
    series: String,
    /// What it is one of.
    part: Part,
    /// Counted from 1.
    number: usize,
    /// For readers; computed from the histogram.
    #[serde(skip_deserializing)]
    response_ns: Vec<PercentileRecord>,
    #[serde(skip_deserializing)]
    service_ns: Vec<PercentileRecord>,
    #[serde(flatten)]
    run: Run,
}

#[derive(Serialize)]
struct PercentileRecord {
    percentile: f64,
    ns: u64,
    carried: bool,
}

fn percentiles(latencies: &fixbolt_workloads::harness::Latencies) -> Vec<PercentileRecord> {
    let rows = latencies.table().into_iter().filter(|_| latencies.count() > 0);
    rows.map(|row| PercentileRecord { percentile: row.percentile, ns: row.ns, carried: row.carried })
        .collect()
}

/// Returns the report as lines of JSON.
#[must_use]
pub fn json_lines(report: &Report) -> String {
    let mut lines = String::new();
    let mut add = |record: &Record| {
        lines.push_str(&serde_json::to_string(record).expect("keys are strings and numbers finite"));
        lines.push('\n');
    };
    let Report { machine, command, began, partial, tests } = report;
    add(&Record::Report {
        format: FORMAT,
        command: command.clone(),
        began: began.clone(),
        partial: *partial,
        machine: Box::new(machine.clone()),
    });
    for test in tests {
        add(&Record::Test(test.clone()));
        test.rows.iter().for_each(|row| add(&Record::Row(row.clone())));
        for series in &test.series {
            for (n, run) in series.runs.iter().enumerate() {
                add(&Record::Run(Box::new(RunRecord {
                    test: series.test.clone(),
                    engine: series.engine.clone(),
                    message: series.message.clone(),
                    series: series.name.clone(),
                    part: series.part,
                    number: n + 1,
                    response_ns: percentiles(&run.response),
                    service_ns: percentiles(&run.service),
                    run: run.clone(),
                })));
            }
        }
        test.tables.iter().for_each(|table| add(&Record::Table(table.clone())));
    }
    lines
}

/// Reads what [`json_lines`] returned.
///
/// # Errors
/// Returns the line that is not one, and why.
pub fn from_json_lines(text: &str) -> Result<Report, String> {
    let mut report: Option<Report> = None;
    for (n, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let at = |why: &str| format!("line {}: {why}", n + 1);
        let record: Record = serde_json::from_str(line).map_err(|error| at(&error.to_string()))?;
        if let Record::Report { format, command, began, partial, machine } = record {
            if format != FORMAT {
                return Err(at(&format!("the format is {format}; this program reads {FORMAT}")));
            }
            if report.is_some() {
                return Err(at("a second report begins"));
            }
            report = Some(Report { machine: *machine, command, began, partial, tests: Vec::new() });
            continue;
        }
        let tests = &mut report.as_mut().ok_or_else(|| at("the first line must be a report"))?.tests;
        if let Record::Test(test) = record {
            tests.push(test);
            continue;
        }
        let test = tests.last_mut().ok_or_else(|| at("it belongs to no test"))?;
        match record {
            Record::Row(row) => test.rows.push(row),
            Record::Table(table) => test.tables.push(table),
            Record::Run(record) => {
                let RunRecord { test: name, engine, message, series, part, run, .. } = *record;
                let new = Series { test: name, engine, message, name: series, part, runs: Vec::new() };
                let is_next = |last: &&mut Series| last.key() == new.key();
                match test.series.last_mut().filter(is_next) {
                    Some(last) => last.runs.push(run),
                    None => test.series.push(Series { runs: vec![run], ..new }),
                }
            }
            Record::Report { .. } | Record::Test(_) => unreachable!("handled above"),
        }
    }
    report.ok_or_else(|| "there is no report in it".to_owned())
}
