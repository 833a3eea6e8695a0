//! One name, one figure: every output of a run shows the same number under the same name.
//!
//! The tests measure a little, with slices that differ, and read the outputs as a user would.

use std::collections::BTreeMap;

use fixbolt::Waiting;
use fixbolt_bench::loopback::{Layout, antenna, jlbh, rtt};
use fixbolt_bench::results::{
    Assertion, Report, Row, Table, TestReport, compare, csv, from_json_lines, html, json_lines, markdown,
};
use fixbolt_bench::{codec, session};
use fixbolt_workloads::harness::Control;
use fixbolt_workloads::machine::Machine;
use roxmltree::{Document, Node, ParsingOptions};

fn report(test: TestReport) -> Report {
    Report {
        machine: Machine::here(),
        command: "fixbolt bench".to_owned(),
        began: "20261127-12:00:00".to_owned(),
        partial: false,
        tests: vec![test],
    }
}

/// Returns a number as an output shows it, without marks and commas.
fn number(cell: &str) -> f64 {
    let digits = cell.trim_end_matches(['*', '~', '!', 'x']).replace(',', "");
    digits.parse().unwrap_or_else(|_| panic!("{cell:?} is no number"))
}

/// Asserts that a number that is shown with few digits is a figure.
fn same(shown: f64, figure: f64, what: &str) {
    let tolerance = 0.006 * figure.abs() + 0.051;
    assert!((shown - figure).abs() <= tolerance, "{what}: {shown} is shown, and the figure is {figure}");
}

/// Reads every output of a report, and compares each number that has a figure's name.
fn every_output_agrees(report: &Report) {
    let rows: Vec<&Row> = report.rows().collect();
    let figures: BTreeMap<String, f64> = rows.iter().map(|row| (row.key(), row.figure().0)).collect();
    assert!(figures.len() == rows.len() && rows.len() > 1, "a name is there twice");
    for figure in report.figures() {
        if let Some(value) = figures.get(&figure.key()) {
            assert_eq!(figure.figure().0, *value, "{}", figure.key());
        }
    }
    in_json(report, &figures);
    in_csv(report, &figures);
    in_markdown(report);
    in_html(report);
    in_conditions_and_comparisons(report);
    notes_are_in_every_output(report);
}

fn notes_are_in_every_output(report: &Report) {
    let page = text_of(&html(std::slice::from_ref(report)));
    let outputs = [report.to_string(), json_lines(report), csv(report), markdown(report), page];
    for note in report.rows().filter_map(|row| row.note.as_ref()) {
        for output in &outputs {
            assert!(output.contains(note.as_str()), "{note}: {output}");
        }
    }
}

/// Returns the text of a page.
fn text_of(page: &str) -> String {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    text(Document::parse_with_options(page, options).unwrap().root())
}

fn in_json(report: &Report, figures: &BTreeMap<String, f64>) {
    let again = from_json_lines(&json_lines(report)).unwrap();
    let read: BTreeMap<String, f64> = again.rows().map(|row| (row.key(), row.figure().0)).collect();
    assert_eq!(&read, figures);
    assert_eq!(again.tests, report.tests);
}

fn in_csv(report: &Report, figures: &BTreeMap<String, f64>) {
    let text = csv(report);
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let column = |name: &str| head.iter().position(|it| *it == name).unwrap();
    let keys = ["test", "engine", "message", "operation", "figure"].map(column);
    let (value, statistic) = (column("value"), column("statistic"));
    let mut seen = BTreeMap::new();
    for cells in lines {
        let key: Vec<&str> = keys.iter().map(|at| cells[*at]).filter(|cell| !cell.is_empty()).collect();
        assert!(!cells[statistic].is_empty(), "{cells:?}");
        let before = seen.insert(key.join(" "), number(cells[value]));
        assert_eq!(before, None, "{key:?} is there twice");
    }
    for (key, figure) in figures {
        // CSV has the tier before the percentile; no figure has both.
        assert_eq!(seen.get(key), Some(figure), "{key}");
    }
}

/// Returns the cells of a line of a page's table.
fn cells(line: &str) -> Vec<String> {
    line.trim_matches('|').split(" | ").map(|it| it.trim().replace('\\', "")).collect()
}

/// The figures of a test on a page, as its first table has them.
struct Summary {
    head: Vec<String>,
    lines: Vec<Vec<String>>,
    /// What its figures are, if that is the same for all.
    statistic: Option<String>,
}

impl Summary {
    fn of(section: &str) -> Option<Self> {
        let mut table = section.lines().skip_while(|line| !line.starts_with("| figure |"));
        let head = cells(table.next()?);
        let lines = table.skip(1).take_while(|line| line.starts_with('|')).map(cells).collect();
        let shared = section.lines().find_map(|line| line.strip_prefix("every figure: "));
        Some(Self { head, lines, statistic: shared.map(str::to_owned) })
    }

    /// Returns the cell of a line below a head, `-` without such a column.
    fn cell<'s>(&'s self, line: &'s [String], head: &str) -> &'s str {
        self.head.iter().position(|it| it == head).map_or("-", |at| &line[at])
    }

    /// Returns the name, figure and ratio of each other engine that a line has a figure of.
    fn rivals<'s>(&'s self, line: &'s [String]) -> Vec<[&'s str; 3]> {
        let known = ["figure", "statistic", "unit", "floor", "Fixbolt", "worst", "ratio", "published"];
        let is_rival = |name: &str| !known.contains(&name) && !name.starts_with("raw ");
        let rivals = (0..self.head.len()).filter(|at| is_rival(&self.head[*at]) && line[*at] != "-");
        let ratio = |at: usize| {
            let after = (at + 1..self.head.len()).take_while(|it| !is_rival(&self.head[*it]));
            after.filter(|it| self.head[*it] == "ratio").map(|it| &*line[it]).next().unwrap_or("-")
        };
        rivals.map(|at| [&*self.head[at], &*line[at], ratio(at)]).collect()
    }
}

/// Asserts that a page's first table has figures of the tests' tables, with their statistic, beside
/// the best rival, the nearest first, and all that are behind one. Returns the number of its lines.
fn first_table_is_of_the_others(page: &str) -> usize {
    let sections: Vec<(&str, &str)> =
        page.split("\n## ").filter_map(|section| section.split_once('\n')).collect();
    let summaries: BTreeMap<&str, Summary> =
        sections.iter().filter_map(|(name, text)| Some((*name, Summary::of(text)?))).collect();
    let Some((_, glance)) = sections.iter().find(|(name, _)| *name == "At a glance") else { return 0 };
    let glance: Vec<_> = glance.lines().filter(|line| line.starts_with('|')).skip(2).map(cells).collect();
    let mut nearest = 0.0;
    for line in &glance {
        let [work, unit, ours, floor, rival, theirs, ratio, statistic] = &line[..] else {
            panic!("{line:?}")
        };
        let (test, figure) = work.split_once(' ').unwrap();
        let summary = &summaries[test];
        let is_it = |it: &&Vec<String>| {
            let name = it[0].split_once(" (").map_or(&*it[0], |(name, _)| name);
            name == figure && summary.cell(it, "unit") == unit
        };
        // The best tier is the last one.
        let line = summary.lines.iter().rfind(is_it).unwrap_or_else(|| panic!("{work} is in no table"));
        assert_eq!([summary.cell(line, "Fixbolt"), summary.cell(line, "floor")], [ours, floor], "{work}");
        let own = Some(summary.cell(line, "statistic")).filter(|own| *own != "-");
        assert_eq!(own.or(summary.statistic.as_deref()).unwrap(), statistic, "{work}");
        let mut rivals = summary.rivals(line);
        rivals.sort_by(|[_, a, _], [_, b, _]| {
            let better = number(a).total_cmp(&number(b));
            let better = if unit.ends_with("/s") { better.reverse() } else { better };
            a.ends_with('!').cmp(&b.ends_with('!')).then(better)
        });
        assert_eq!(rivals.first().unwrap_or(&["-"; 3]), &[&**rival, theirs, ratio], "{work}");
        if ratio != "-" {
            assert!(number(ratio) >= nearest, "{work} stands after what is less near");
            nearest = number(ratio);
        }
    }
    for (test, summary) in &summaries {
        for line in &summary.lines {
            let is_behind = summary.rivals(line).iter().any(|it| it[2] != "-" && number(it[2]) < 1.0);
            let work = format!("{test} {}", line[0].split_once(" (").map_or(&*line[0], |(name, _)| name));
            let is_shown = glance.iter().any(|it| it[0] == work);
            let of_the_tables_alone = ["p90", "p95", "p99.9", "p99.99", "worst"];
            let is_of_the_tables = of_the_tables_alone.iter().any(|it| work.ends_with(it));
            assert!(!is_behind || is_shown || is_of_the_tables, "{work} is behind, and not said first");
        }
    }
    glance.len()
}

#[test]
fn the_recorded_page_begins_with_the_figures_of_its_tables() {
    let lines = first_table_is_of_the_others(include_str!("../../../docs/benchmarks.md"));
    // A newcomer reads it in a minute.
    assert!((5..=25).contains(&lines), "{lines} lines");
}

fn in_markdown(report: &Report) {
    let page = markdown(report);
    first_table_is_of_the_others(&page);
    let lines: Vec<Vec<String>> = page.lines().filter(|line| line.starts_with('|')).map(cells).collect();
    let at = lines.iter().position(|cells| cells[0] == "figure").expect("a summary");
    let head = &lines[at];
    for row in report.rows() {
        let tier = row.tier.as_ref().map(|tier| format!(" ({tier})")).unwrap_or_default();
        let name = format!("{} {}{tier}", row.message, row.what());
        let line = lines[at..].iter().find(|cells| cells[0] == name.trim());
        let line = line.unwrap_or_else(|| panic!("{name} is not on the page"));
        let column = if row.engine == "fixbolt" { "Fixbolt" } else { row.engine.as_str() };
        let column = head.iter().position(|it| it == column).unwrap();
        same(number(&line[column]), row.figure().0, &row.key());
        assert_eq!(line[column].ends_with('!'), row.invalid.is_some(), "{}", row.key());
        if let Some(worst) = row.worst {
            same(number(&line[column + 1]), worst, &row.key());
        }
    }
    // How a figure comes from what was measured is said of all, or of each.
    assert!(page.contains("every figure: ") || head.iter().any(|it| it == "statistic"), "{page}");
}

fn text(node: Node<'_, '_>) -> String {
    node.descendants().filter(Node::is_text).filter_map(|node| node.text()).collect()
}

/// Returns a duration or a number of a page in the unit of its row.
fn on_page(text: &str) -> f64 {
    let (figure, unit) = text.split_once(' ').unwrap_or((text, ""));
    let scale = match unit {
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => 1.0,
    };
    number(figure) * scale
}

fn in_html(report: &Report) {
    let page = html(std::slice::from_ref(report));
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    let document = Document::parse_with_options(&page, options).unwrap();
    let of_class = |node: Node<'_, '_>, class: &str| {
        node.attribute("class").is_some_and(|it| it.split(' ').any(|it| it == class))
    };
    let mut bars = Vec::new();
    for block in document.descendants().filter(|node| of_class(*node, "bars")) {
        let title = block.descendants().find(|node| node.has_tag_name("figcaption")).map(text).unwrap();
        for body in block.descendants().filter(|node| node.has_tag_name("tbody")) {
            let lines: Vec<_> = body.children().filter(|node| node.has_tag_name("tr")).collect();
            let group = lines.first().filter(|line| of_class(**line, "group")).map(|line| text(*line));
            for line in lines.iter().filter(|line| !of_class(**line, "group")) {
                let cells: Vec<_> = line.children().filter(Node::is_element).collect();
                let figure = cells.iter().find(|cell| of_class(**cell, "figure")).map(|cell| text(*cell));
                bars.push((title.clone(), group.clone(), text(cells[0]), figure.unwrap()));
            }
        }
    }
    for row in report.rows() {
        let (block, operation) = match row.percentile {
            None => (row.message.clone(), row.operation.clone()),
            Some(_) => (
                format!("{} {}", row.message, row.operation),
                row.what().replacen(&format!("{} ", row.operation), "", 1),
            ),
        };
        let tier = row.tier.as_ref().map(|tier| format!(" {tier}")).unwrap_or_default();
        let invalid = if row.invalid.is_some() { " INVALID" } else { "" };
        let is = |(title, group, name, _): &&(String, Option<String>, String, String)| {
            let flat = format!("{operation} {}{tier}{invalid}", row.engine.replace("fixbolt", ""));
            let flat = flat.split_whitespace().collect::<Vec<_>>().join(" ");
            let beside = format!("{}{tier}{invalid}", row.engine);
            let same_unit = row.unit.is_none() == title.ends_with(": time");
            title.starts_with(&format!("{block}: "))
                && same_unit
                && match group {
                    Some(group) => *group == operation && *name == beside,
                    None => name.split_whitespace().collect::<Vec<_>>().join(" ") == flat,
                }
        };
        let bar = bars.iter().find(is).unwrap_or_else(|| panic!("no bar of {}: {bars:#?}", row.key()));
        same(on_page(&bar.3), row.figure().0, &row.key());
    }
}

fn in_conditions_and_comparisons(report: &Report) {
    for row in report.rows().filter(|row| row.engine == "fixbolt") {
        let Some(percentile) = row.percentile else { continue };
        let condition = format!("{}: p{percentile}<=1s", row.key());
        let judged = Assertion::parse(&condition).unwrap().judge(report).unwrap();
        let shown = format!("{}: {:.1} ns, {}", row.key(), row.figure().0, row.statistic);
        assert!(judged.len() == 1 && judged[0].what.starts_with(&shown), "{shown}: {judged:?}");
    }
    for it in compare(report, report).differences {
        if let Some(row) = report.rows().find(|row| row.key() == it.key) {
            assert_eq!((it.first, it.second), (row.figure().0, row.figure().0), "{}", it.key);
        }
    }
}

/// Returns a cell of a table.
fn cell<'t>(table: &'t Table, line: &str, column: &str) -> &'t str {
    let column = table.columns.iter().position(|head| head.trim_end_matches('!') == column);
    let line = table.rows.iter().find(|cells| cells[0] == line);
    &line.unwrap()[column.unwrap_or_else(|| panic!("{table}"))]
}

fn row<'r>(report: &'r Report, key: &str) -> &'r Row {
    report.rows().find(|row| row.key() == key).unwrap_or_else(|| panic!("no figure {key}"))
}

#[test]
fn of_an_antenna_run() {
    let configurations = ["Default", "Optimized.hard"];
    let settings = antenna::Settings {
        messages: 120,
        warm_up: 20,
        slices: 3,
        configurations: configurations.map(|name| antenna::Configuration::named(name).unwrap()).to_vec(),
        ..antenna::Settings::short()
    };
    let report = report(antenna::run(&settings, &Control::default()).unwrap().report);
    every_output_agrees(&report);
    let [_, comparison, _, every] = &report.tests[0].tables[..] else { panic!("the tables of the page") };
    for name in configurations {
        for percentile in ["50", "95", "99"] {
            let row = row(&report, &format!("antenna fixbolt NOS-FA {name} service p{percentile}"));
            let us = row.figure().0 / 1e3;
            let line = every.rows.iter().find(|cells| cells[1].trim_end_matches('!') == name).unwrap();
            let at = every.columns.iter().position(|head| *head == format!("{percentile}%")).unwrap();
            same(number(&line[at]), us, &row.key());
            same(number(cell(comparison, &format!("{percentile}%"), name)), us, &row.key());
            // The default configuration pins nothing.
            let too_few = std::thread::available_parallelism().unwrap().get() < 3;
            assert_eq!(row.note.is_some(), too_few && name == "Optimized.hard", "{row:?}");
        }
    }
}

#[test]
fn of_a_figure_with_a_note() {
    let note = "too few cores: this process has 2, and, \"of those\", none is free";
    let mut test = TestReport::new("antenna", "with a note");
    for operation in ["Default", "Balanced", "Optimized.hard"] {
        let note = (operation != "Default").then(|| note.to_owned());
        test.rows.push(Row { note, ..Row::of_ns("antenna", "NOS-FA", operation, 9.0) });
    }
    test.tables.push(Table::of_rows("", &test.rows, &[]));
    let line = format!("Balanced, Optimized.hard: {note}");
    let report = report(test);
    assert!(report.to_string().contains(&line) && markdown(&report).contains(&line));
    assert!(text_of(&html(std::slice::from_ref(&report))).contains(&line));
    let lines: Vec<String> = csv(&report).lines().map(str::to_owned).collect();
    let quoted = format!(",\"{}\"", note.replace('"', "\"\""));
    assert!(lines[0].ends_with(",note") && lines[1].ends_with(',') && lines[2].ends_with(&quoted));
    assert_eq!(
        from_json_lines(&json_lines(&report)).unwrap().rows().cloned().collect::<Vec<_>>(),
        report.tests[0].rows
    );
}

#[test]
fn of_a_jlbh_run() {
    let mut settings = jlbh::Settings::new(Layout::new(Waiting::Blocking));
    settings.rivals.clear();
    for load in [&mut settings.load, &mut settings.parse] {
        load.plan = load.plan.clone().warm_up(50).iterations(150).runs(3);
        load.rates = vec![2_000.0, 3_000.0];
    }
    let report = report(jlbh::run(&settings, &Control::default()).unwrap());
    every_output_agrees(&report);
    for table in &report.tests[0].tables[..4] {
        let (_, rate) = table.title.split_once("throughput of ").unwrap();
        let (rate, times) = rate.split_once(", ").unwrap();
        let times = if times.contains("(service time)") { "service" } else { "response" };
        for percentile in ["50", "90", "99"] {
            let row = row(&report, &format!("jlbh fixbolt NOS-JLBH {rate} {times} p{percentile}"));
            same(number(cell(table, &format!("{percentile}:"), "figure")), row.figure().0 / 1e3, &row.key());
            let floor = number(cell(table, &format!("{percentile}:"), "raw TCP"));
            if let Some(ns) = row.floor_ns {
                same(floor, ns / 1e3, &row.key());
            }
        }
    }
}

#[test]
fn of_round_trips() {
    let settings = rtt::Settings { spinning: 60, sleeping: 60, slices: 4, cores: Vec::new() };
    let report = report(rtt::run(&settings, &Control::default()).unwrap());
    every_output_agrees(&report);
    let table = &report.tests[0].tables[0];
    for waiting in ["spinning", "epoll"] {
        let line = table.rows.iter().find(|cells| cells[0] == waiting && cells[1] == "fixbolt").unwrap();
        for percentile in ["p50", "p90", "p99"] {
            let row = row(&report, &format!("rtt fixbolt NOS-JLBH {waiting} service {percentile}"));
            let at = table.columns.iter().position(|head| head == percentile).unwrap();
            same(number(&line[at]), row.figure().0 / 1e3, &row.key());
        }
    }
}

#[test]
fn of_what_is_measured_in_batches() {
    let control = Control::default();
    let of_codec = codec::report(codec::measure(2, 7, &control).unwrap(), 2, 7);
    every_output_agrees(&report(of_codec));
    let of_session = session::report(session::measure(2, &control).unwrap(), 2);
    every_output_agrees(&report(of_session));
}
