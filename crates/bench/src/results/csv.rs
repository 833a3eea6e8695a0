//! A report as comma-separated values: one line per figure.
//!
//! `statistic` says how the figure comes from what was measured, `worst` is its worst part, and
//! `carried` says whether there are enough samples for a percentile; `note` is what must be known
//! to read the figure.

use super::{Report, Row, Statistic, TimeKind, percentile_name};

const COLUMNS: [&str; 15] = [
    "test",
    "engine",
    "message",
    "operation",
    "figure",
    "statistic",
    "value",
    "unit",
    "worst",
    "floor_ns",
    "floor_varied_percent",
    "published",
    "valid",
    "carried",
    "note",
];

/// Returns the figures, one line each: those of rows, then the percentiles of each run.
#[must_use]
pub fn csv(report: &Report) -> String {
    let mut lines = vec![COLUMNS.join(",")];
    lines.extend(report.rows().map(line));
    for series in report.series() {
        for (n, run) in series.runs.iter().enumerate() {
            let part = format!("{} {}", series.part.name(), n + 1);
            for times in TimeKind::ALL {
                let latencies = times.of(run);
                for it in latencies.table().into_iter().filter(|_| latencies.count() > 0) {
                    let operation = format!("{} {part}", series.name);
                    #[expect(clippy::cast_precision_loss, reason = "times are below 2^53 ns")]
                    let row = Row::of_ns(&series.test, &series.message, &operation, it.ns as f64);
                    let row = Row {
                        times: Some(times),
                        percentile: Some(it.percentile),
                        statistic: Statistic::One,
                        invalid: run.invalid.as_ref().map(ToString::to_string),
                        few: !it.carried,
                        ..row.engine(&series.engine)
                    };
                    lines.push(line(&row));
                }
            }
        }
    }
    lines.join("\n") + "\n"
}

fn line(row: &Row) -> String {
    let known = |figure: Option<f64>| figure.map(|figure| format!("{figure}")).unwrap_or_default();
    let (value, unit) = row.figure();
    let times = row.times.map(TimeKind::name);
    let operation = [Some(row.operation.as_str()), times, row.tier.as_deref()];
    let carried = match row.percentile {
        None => "",
        Some(_) if row.few => "no",
        Some(_) => "yes",
    };
    let cells: [String; COLUMNS.len()] = [
        row.test.clone(),
        row.engine.clone(),
        row.message.clone(),
        operation.into_iter().flatten().collect::<Vec<_>>().join(" "),
        row.percentile.map(percentile_name).unwrap_or_default(),
        row.statistic.to_string(),
        known(row.is_measured().then_some(value)),
        unit.to_owned(),
        known(row.worst),
        known(row.floor_ns),
        known(row.unmeasurable),
        known(row.published),
        row.invalid.as_ref().map_or_else(|| "yes".to_owned(), |why| format!("no: {why}")),
        carried.to_owned(),
        row.note.clone().unwrap_or_default(),
    ];
    cells.map(|cell| quoted(&cell)).join(",")
}

fn quoted(cell: &str) -> String {
    if cell.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}
