//! A report as comma-separated values: one line per figure. `carried` says whether there are enough
//! samples for a percentile.

use super::Report;

/// Returns the figures, one line each: those of rows, then the percentiles of each run.
#[must_use]
pub fn csv(report: &Report) -> String {
    let mut lines =
        vec!["test,engine,message,operation,figure,value,unit,floor_ns,published,valid,carried".to_owned()];
    let mut add = |cells: &[String]| {
        lines.push(cells.iter().map(|cell| quoted(cell)).collect::<Vec<_>>().join(","));
    };
    let known = |figure: Option<f64>| figure.map(|figure| format!("{figure}")).unwrap_or_default();
    for row in report.rows() {
        let (value, unit) = row.figure();
        let operation = match &row.tier {
            Some(tier) => format!("{} {tier}", row.operation),
            None => row.operation.clone(),
        };
        add(&[
            row.test.clone(),
            row.engine.clone(),
            row.message.clone(),
            operation,
            String::new(),
            if row.is_measured() { format!("{value}") } else { String::new() },
            unit.to_owned(),
            known(row.floor_ns),
            known(row.published),
            String::from("yes"),
            String::new(),
        ]);
    }
    for series in report.series() {
        for (n, run) in series.runs.iter().enumerate() {
            let valid = run.invalid.as_ref().map_or_else(|| "yes".to_owned(), |why| format!("no: {why}"));
            for (times, latencies) in [("response", &run.response), ("service", &run.service)] {
                for row in latencies.table().into_iter().filter(|_| latencies.count() > 0) {
                    let percentile = row.percentile;
                    let name =
                        if percentile >= 100.0 { "worst".to_owned() } else { format!("p{percentile}") };
                    add(&[
                        series.test.clone(),
                        series.engine.clone(),
                        series.name.clone(),
                        format!("run {} {times}", n + 1),
                        name,
                        row.ns.to_string(),
                        "ns".to_owned(),
                        String::new(),
                        String::new(),
                        valid.clone(),
                        if row.carried { "yes" } else { "no" }.to_owned(),
                    ]);
                }
            }
        }
    }
    lines.join("\n") + "\n"
}

fn quoted(cell: &str) -> String {
    if cell.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}
