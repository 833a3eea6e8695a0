//! Reports as one page of HTML, with plots. It needs no network, has no script, follows the
//! reader's choice of light or dark, and every plot's figures are also in a table.

mod bars;
mod figures;
mod machine;
mod markup;
mod palette;
mod percentiles;
mod plot;
mod rates;
mod scale;
mod tables;
mod times;
mod windows;

#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;

use fixbolt_workloads::machine::Machine;

use self::markup::Markup;
use self::palette::Palette;
use self::plot::{Key, Plot};
use super::{Report, TestReport};

/// No script, nothing from elsewhere: a browser enforces what is true anyway.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

const TITLE: &str = "Fixbolt benchmarks";

/// How to read a page.
const READING: [&str; 6] = [
    "Response time counts from when a piece of work was due, service time from when it really began. Both come from the same run: \
     where they part, the system or the machine stalled, and a measurement that waits would not have seen it.",
    "* marks a percentile above which fewer than 100 samples lie; in curves, that part is thin. It is a fact of the run, not a \
     property of the system.",
    "A figure says how it comes from its runs: up to p99 the median of them, above it all of them together. The worst run stands beside it.",
    "An INVALID run missed its rate or lost samples. Figures and curves count it, and say that they are INVALID.",
    "Baselines, in gray, do the least that the same work needs, on the same machine in the same run.",
    "Published figures are from other engines' pages: another machine, another year. They are no measurement of today.",
];

/// Returns reports as one page.
#[must_use]
pub fn html(reports: &[Report]) -> String {
    let palette = Palette::of(reports);
    let mut to = Markup::default();
    to.verbatim("<!DOCTYPE html>\n");
    to.inside("html", &[("lang", "en")], |to| {
        to.inside("head", &[], |to| {
            to.empty("meta", &[("charset", "utf-8")]);
            to.empty("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")]);
            to.empty("meta", &[("name", "color-scheme"), ("content", "light dark")]);
            to.empty("meta", &[("http-equiv", "Content-Security-Policy"), ("content", POLICY)]);
            // A browser that finds none asks the server for one.
            to.empty("link", &[("rel", "icon"), ("href", "data:,")]);
            to.element("title", &[], TITLE);
            to.inside("style", &[], |to| to.verbatim(include_str!("style.css")));
        });
        to.inside("body", &[], |to| {
            bars::hatchings(to);
            to.inside("header", &[], |to| {
                to.element("h1", &[], TITLE);
                contents(to, reports);
            });
            to.inside("main", &[], |to| {
                for (n, report) in reports.iter().enumerate() {
                    // Several commands on one machine.
                    let again = reports[..n].iter().any(|it| is_same(&it.machine, &report.machine));
                    write(to, report, n, again, &palette);
                }
            });
            to.inside("footer", &[("id", "reading")], |to| {
                to.element("h2", &[], "How to read this page");
                to.inside("ul", &[], |to| READING.iter().for_each(|line| to.element("li", &[], line)));
            });
        });
    });
    to.finish()
}

fn contents(to: &mut Markup, reports: &[Report]) {
    to.inside("nav", &[("aria-label", "Contents")], |to| {
        for (n, report) in reports.iter().enumerate() {
            to.inside("p", &[], |to| {
                to.element("a", &[("href", &format!("#{}", report_id(n)))], &report.command);
                to.text(&format!(", {}, commit {}", report.began, report.machine.commit));
            });
            to.inside("ol", &[], |to| {
                for (at, test) in report.tests.iter().enumerate() {
                    to.inside("li", &[], |to| {
                        to.element("a", &[("href", &format!("#{}", test_id(n, at)))], &test.name);
                        to.text(&format!(" {}", test.title));
                        let invalid = invalid_runs(test);
                        if invalid > 0 {
                            to.element(
                                "span",
                                &[("class", "bad")],
                                &format!(
                                    " ({invalid} INVALID {})",
                                    if invalid == 1 { "run" } else { "runs" }
                                ),
                            );
                        }
                    });
                }
            });
        }
        to.inside("p", &[], |to| to.element("a", &[("href", "#reading")], "How to read this page"));
    });
}

fn write(to: &mut Markup, report: &Report, n: usize, again: bool, palette: &Palette) {
    to.inside("section", &[("class", "report"), ("id", &report_id(n))], |to| {
        to.element("h2", &[], &report.command);
        to.element(
            "p",
            &[("class", "began")],
            &format!("Begun {}, commit {}.", report.began, report.machine.commit),
        );
        if report.partial {
            let text = "The measurement was INTERRUPTED: this is the part that was done.".to_owned();
            tables::notes(to, &[text]);
        }
        if report.tests.is_empty() {
            tables::notes(to, &["Nothing was measured.".to_owned()]);
        }
        if again {
            to.inside("details", &[], |to| {
                to.element("summary", &[], "Machine: as above, but for load, free memory and jitter");
                machine::machine(to, &report.machine);
            });
        } else {
            to.element("h3", &[], "Machine");
            machine::machine(to, &report.machine);
        }
        for (at, test) in report.tests.iter().enumerate() {
            to.inside("section", &[("class", "test"), ("id", &test_id(n, at))], |to| {
                write_test(to, test, palette)
            });
        }
    });
}

/// Returns whether machine and program are the same, whatever happened there meanwhile.
fn is_same(one: &Machine, other: &Machine) -> bool {
    let Machine { available_memory, load, ref jitter, .. } = *one;
    let other = Machine { available_memory, load, jitter: jitter.clone(), ..other.clone() };
    *one == other
}

fn write_test(to: &mut Markup, test: &TestReport, palette: &Palette) {
    to.inside("h3", &[], |to| {
        to.text(&test.name);
        to.element("span", &[("class", "title")], &format!(" {}", test.title));
    });
    if !test.settings.is_empty() {
        to.inside("dl", &[("class", "settings")], |to| {
            for (name, value) in &test.settings {
                to.inside("div", &[], |to| {
                    to.element("dt", &[], name);
                    to.element("dd", &[], value);
                });
            }
        });
    }
    let invalid = invalid_runs(test);
    if invalid > 0 {
        let runs: usize = test.series.iter().map(|series| series.runs.len()).sum();
        tables::notes(to, &[format!("INVALID runs: {invalid} of {runs}.")]);
    }
    bars::bars(to, test, palette);
    write_plots(to, &rates::rates(test, palette));
    percentiles::percentiles(test, palette).iter().for_each(|plots| write_plots(to, plots));
    write_plots(to, &windows::windows(test, palette));
    if !test.tables.is_empty() {
        to.inside("div", &[("class", "tables")], |to| {
            test.tables.iter().for_each(|table| tables::table(to, table))
        });
    }
    tables::notes(to, &test.notes);
    tables::alternatives(to, test);
}

fn write_plots(to: &mut Markup, plots: &[Plot]) {
    if !plots.is_empty() {
        // What all of them say is said once.
        let shared = |key: &&Key| plots.len() > 1 && plots.iter().all(|plot| plot.legend.contains(key));
        let shared: Vec<Key> = plots[0].legend.iter().filter(shared).cloned().collect();
        plot::legend(to, &shared);
        to.inside("div", &[("class", "plots")], |to| plots.iter().for_each(|plot| plot.write(to, &shared)));
    }
}

fn invalid_runs(test: &TestReport) -> usize {
    test.series.iter().flat_map(|series| &series.runs).filter(|run| run.invalid.is_some()).count()
}

fn report_id(report: usize) -> String {
    format!("report-{}", report + 1)
}

fn test_id(report: usize, test: usize) -> String {
    format!("test-{}-{}", report + 1, test + 1)
}
