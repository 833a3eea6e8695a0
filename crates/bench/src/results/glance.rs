//! What a report says first: Fixbolt beside the floor and the best other engine of its run.

use super::row::is_baseline;
use super::summary::display;
use super::{Report, Row, Table, TestReport};

/// The percentiles that are shown of a latency; the tests' own tables have the others.
const PERCENTILES: [f64; 2] = [50.0, 99.0];

impl Report {
    /// Returns the table that a newcomer reads in a minute: of each test and message the figure in
    /// which another engine comes nearest, and every one in which it is ahead; without another
    /// engine, the first figure that has a floor. Of latencies these are p50 and p99, of an index
    /// the best tier. What another engine does better comes first, what has only a floor last.
    /// `None` if there are no such figures.
    #[must_use]
    pub fn at_a_glance(&self) -> Option<Table> {
        let mut lines: Vec<Line<'_>> = self.tests.iter().flat_map(lines).collect();
        if lines.is_empty() {
            return None;
        }
        let place = |line: &Line<'_>| (line.rival.is_none(), line.ratio.is_none());
        lines.sort_by(|a, b| {
            let ratios = |line: &Line<'_>| line.ratio.unwrap_or(f64::INFINITY);
            place(a).cmp(&place(b)).then(ratios(a).total_cmp(&ratios(b)))
        });
        let mut works = Vec::new();
        lines.retain(|Line { ours, ratio, .. }| {
            let work = (&ours.test, &ours.message, ours.percentile);
            let is_shown = !works.contains(&work) || ratio.is_some_and(|ratio| ratio < 1.0);
            works.push(work);
            is_shown
        });
        let columns = ["work", "unit", "Fixbolt", "floor", "best rival", "its figure", "ratio", "statistic"];
        let mut table = Table::new("", columns.map(str::to_owned));
        for Line { ours, rival, ratio } in &lines {
            let unknown = || "-".to_owned();
            let (figure, unit) = ours.figure();
            table.row([
                [&ours.test, &ours.message, &ours.what()]
                    .into_iter()
                    .filter(|it| !it.is_empty())
                    .map(String::as_str)
                    .collect::<Vec<_>>()
                    .join(" "),
                unit.to_owned(),
                display(figure) + &ours.marks(),
                ours.floor_ns.map_or_else(unknown, display),
                rival.map_or_else(unknown, |rival| rival.engine.clone()),
                rival.map_or_else(unknown, |rival| display(rival.figure().0) + &rival.marks()),
                ratio.map_or_else(unknown, |ratio| format!("{ratio:.2}x")),
                ours.statistic.to_string(),
            ]);
        }
        table.note(
            "Above 1x Fixbolt is better than the best other engine that was measured in the same run, below 1x it is behind: \
             of each test and message the figure in which another engine comes nearest, and every one in which it is ahead. \
             The first word is the test: its section says what is done. The floor is the least work with the same result, or the same bytes over raw TCP. What the marks \
             of a figure mean is said below the table of its test.",
        );
        Some(table)
    }
}

/// A figure of Fixbolt beside the best of the other engines.
struct Line<'r> {
    ours: &'r Row,
    rival: Option<&'r Row>,
    ratio: Option<f64>,
}

fn lines(test: &TestReport) -> Vec<Line<'_>> {
    let is_shown = |row: &&Row| {
        row.engine == "fixbolt"
            && row.is_measured()
            && row.percentile.is_none_or(|percentile| PERCENTILES.contains(&percentile))
    };
    let mut lines: Vec<Line<'_>> = Vec::new();
    for ours in test.rows.iter().filter(is_shown) {
        let rivals = test.rows.iter().filter(|row| row.engine != "fixbolt" && !is_baseline(&row.engine));
        let rivals = rivals.filter(|row| row.is_measured() && row.is_of_the_work_of(ours));
        // One that may be used is better than one that must not.
        let rival = rivals.min_by(|a, b| {
            let better = if ours.larger_is_better() { [*b, *a] } else { [*a, *b] };
            let [first, second] = better.map(|row| row.figure().0);
            a.invalid.is_some().cmp(&b.invalid.is_some()).then(first.total_cmp(&second))
        });
        if rival.is_none() && ours.floor_ns.is_none() {
            continue;
        }
        let line = Line { ours, rival, ratio: rival.and_then(|rival| ours.ratio_to(rival)) };
        // Tiers come in order, the best one last.
        match lines.iter_mut().find(|line| line.ours.is_of_the_work_of(ours)) {
            Some(earlier) => *earlier = line,
            None => lines.push(line),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Part, Statistic, TimeKind};
    use fixbolt_workloads::machine::Machine;

    fn report(rows: Vec<Row>) -> Report {
        let mut test = TestReport::new("codec", "");
        test.rows = rows;
        Report {
            machine: Machine::here(),
            command: "fixbolt bench all".to_owned(),
            began: "20261123-17:00:00".to_owned(),
            partial: false,
            tests: vec![test],
        }
    }

    #[test]
    fn of_each_message_what_is_nearest_to_another_engine_and_all_that_is_behind_one_stand_first() {
        let ns = |operation: &str, ns: f64| Row::of_ns("codec", "NOS-222", operation, ns);
        let latency = |percentile: f64, ns: f64| Row {
            times: Some(TimeKind::Response),
            percentile: Some(percentile),
            ..Row::of_ns("codec", "", "2000/s", ns)
        };
        let invalid = |row: Row| Row { invalid: Some("too slow".to_owned()), ..row };
        let of = |message: &str, row: Row| Row { message: message.to_owned(), ..row };
        let rows = vec![
            ns("floor alone", 70.0).floor_ns(Some(60.0)),
            of("ER-235", ns("floor alone", 70.0).floor_ns(Some(60.0))),
            of("ER-235", ns("another floor", 80.0).floor_ns(Some(60.0))),
            ns("neither", 10.0),
            ns("index", 200.0).tier("scalar"),
            ns("index", 50.0).tier("avx2").floor_ns(Some(40.0)),
            ns("index", 100.0).engine("slower"),
            ns("index", 75.0).engine("faster"),
            ns("index", 25.0).engine("raw TCP"),
            invalid(ns("index", 1.0).engine("wrong")),
            ns("read", 50.0),
            ns("read", 100.0).engine("slower"),
            of("AIM-97", ns("encode", 80.0)),
            of("AIM-97", ns("encode", 60.0).engine("faster")),
            of("AIM-97", ns("read", 80.0)),
            of("AIM-97", ns("read", 72.0).engine("faster")),
            of("AIM-97", ns("index", 80.0)),
            of("AIM-97", ns("index", 90.0).engine("faster")),
            Row::of_value("codec", "all", "one way", 3e6, "messages/s"),
            Row::of_value("codec", "all", "one way", 2e6, "messages/s").engine("slower"),
            Row::of_value("codec", "all", "one way", 1e6, "messages/s").engine("slowest"),
            latency(99.0, 9_000.0),
            latency(99.0, 90_000.0).engine("slower"),
            latency(99.9, 9_000.0),
            latency(99.9, 90_000.0).engine("slower"),
            Row { statistic: Statistic::median(Part::Run, 3), ..latency(50.0, 4_000.0) },
            latency(50.0, 80_000.0).engine("slower"),
            of("ER-156", invalid(ns("write", 5.0))),
            of("ER-156", ns("write", 6.0).engine("slower")),
        ];
        let table = report(rows).at_a_glance().unwrap();
        let one = "one measurement";
        assert_eq!(
            table.rows,
            [
                ["codec AIM-97 encode", "ns", "80.0", "-", "faster", "60.0", "0.75x", one],
                ["codec AIM-97 read", "ns", "80.0", "-", "faster", "72.0", "0.90x", one],
                ["codec NOS-222 index", "ns", "50.0", "40.0", "faster", "75.0", "1.50x", one],
                ["codec all one way", "messages/s", "3000000", "-", "slower", "2000000", "1.50x", one],
                ["codec 2000/s response p99", "ns", "9000", "-", "slower", "90000", "10.00x", one],
                [
                    "codec 2000/s response p50",
                    "ns",
                    "4000",
                    "-",
                    "slower",
                    "80000",
                    "20.00x",
                    "median of 3 runs"
                ],
                ["codec ER-156 write", "ns", "5.00!", "-", "slower", "6.00", "-", one],
                ["codec ER-235 floor alone", "ns", "70.0", "60.0", "-", "-", "-", one],
            ]
        );
    }

    #[test]
    fn without_another_engine_or_a_floor_there_is_no_table() {
        assert_eq!(report(vec![Row::of_ns("codec", "NOS-222", "index", 50.0)]).at_a_glance(), None);
    }
}
