//! A report as Markdown, for docs/benchmarks.md.

use std::fmt::Write as _;

use super::{Report, Table, TestReport};

/// Returns the report as a page.
#[must_use]
pub fn markdown(report: &Report) -> String {
    let machine = &report.machine;
    let mut page = format!(
        "# Benchmarks\n\n<!-- Written by `{}`. -->\n\n\
         Measured at {} UTC with `{}`. How to read this page: [benchmarking.md](benchmarking.md). Published figures are \
         other people's, from other machines and years; ratios are of this run.\n\n",
        report.command, report.began, report.command
    );
    if let Some(glance) = report.at_a_glance() {
        page.push_str("## At a glance\n\n");
        add_table(&mut page, &glance);
    }
    page.push_str("## Machine\n\n");
    let mut table = Table::new("", ["what", "found"]);
    table.row(["machine".to_owned(), machine.to_string()]);
    for it in machine.advice() {
        table.row([it.what.to_owned(), it.found]);
    }
    let flags = machine.flags.join(" ");
    let memory = machine.memory.map_or_else(|| "unknown".to_owned(), |bytes| format!("{} MiB", bytes >> 20));
    for (what, found) in [
        ("flags", flags),
        ("memory", memory),
        ("C library", machine.libc.clone()),
        ("allocator", machine.allocator.clone()),
    ] {
        table.row([what.to_owned(), found]);
    }
    add_table(&mut page, &table);
    page.push('\n');
    for warning in machine.warnings() {
        let _ = writeln!(page, "- {}", escaped(&warning));
    }
    if report.partial {
        page.push_str("\n**The measurement was interrupted: this is the part that was done.**\n");
    }
    report.tests.iter().for_each(|test| add_test(&mut page, test));
    page
}

fn add_test(page: &mut String, test: &TestReport) {
    let _ = write!(page, "\n## {}\n\n{}.\n", test.name, escaped(&test.title));
    let settings: Vec<String> =
        test.settings.iter().map(|(name, value)| format!("{name} {}", escaped(value))).collect();
    if !settings.is_empty() {
        let _ = writeln!(page, "\nSettings: {}.", settings.join(", "));
    }
    if let Some(summary) = test.summary() {
        page.push('\n');
        add_table(page, &summary);
    }
    for table in &test.tables {
        // The summary has them.
        if !table.lists_rows {
            let title = if table.title.is_empty() { String::new() } else { escaped(&table.title) + "\n\n" };
            let _ = write!(page, "\n{title}");
            add_table(page, table);
        }
    }
    if !test.notes.is_empty() {
        page.push('\n');
    }
    for note in &test.notes {
        let _ = writeln!(page, "- {}", escaped(note));
    }
}

fn add_table(page: &mut String, table: &Table) {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| escaped(cell)).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    page.push_str(&line(&table.columns));
    let columns = 0..table.columns.len();
    let rules: Vec<String> =
        columns.map(|column| if table.is_figures(column) { "--:" } else { "---" }.to_owned()).collect();
    let _ = writeln!(page, "|{}|", rules.join("|"));
    table.rows.iter().for_each(|row| page.push_str(&line(row)));
    if !table.notes.is_empty() {
        page.push('\n');
    }
    for note in &table.notes {
        let _ = writeln!(page, "{}\n", escaped(note));
    }
}

/// Returns text that Markdown shows as it is.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => escaped.push(' '),
            '<' => escaped.push_str("&lt;"),
            '|' | '*' | '_' | '`' | '\\' => escaped.extend(['\\', c]),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::super::Row;
    use super::*;
    use fixbolt_workloads::machine::Machine;

    #[test]
    fn a_page_has_the_machine_and_for_each_test_its_figures_and_titled_tables() {
        let mut test = TestReport::new("jlbh", "an order | its report").setting("runs", 3);
        test.rows.push(Row::of_ns("jlbh", "2000/s", "p50", 33_000.0));
        test.rows.push(Row::of_ns("jlbh", "2000/s", "p50", 66_000.0).engine("other"));
        let mut table = Table::new("At 2,000/s", ["Percentile", "run1"]);
        table.row(["50:", "33.00*"]);
        test.tables.push(table);
        test.tables.push(Table::of_rows("not shown", &test.rows, &[]));
        let report = Report {
            machine: Machine::here(),
            command: "fixbolt bench all".to_owned(),
            began: "20261123-17:00:00".to_owned(),
            partial: true,
            tests: vec![test],
        };
        let page = markdown(&report);
        for expected in [
            "## jlbh\n\nan order \\| its report.\n\nSettings: runs 3.\n\n| figure | unit | Fixbolt | other | ratio |\n",
            "| 2000/s p50 | ns | 33000 | 66000 | 2.00x |\n",
            "\nAt 2,000/s\n\n| Percentile | run1 |\n|---|--:|\n| 50: | 33.00\\* |\n",
            "was interrupted",
            "ratios are of this run.\n\n## At a glance\n\n| work | unit | Fixbolt | floor | best rival | its figure | ratio | statistic |\n",
            "| jlbh 2000/s p50 | ns | 33000 | - | other | 66000 | 2.00x | one measurement |\n",
            "| frequency governor | ",
        ] {
            assert!(page.contains(expected), "{expected}\n{page}");
        }
        assert!(!page.contains("not shown"), "{page}");
    }
}
