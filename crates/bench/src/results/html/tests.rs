//! What a page must have, and what must not be in it.

use std::sync::LazyLock;

use fixbolt_workloads::harness::Latencies;
use fixbolt_workloads::machine::Machine;
use roxmltree::{Document, Node, ParsingOptions};

use super::sample::{EVIL, report};
use super::*;

// One report: the load and the free memory of the machine change.
static REPORT: LazyLock<Report> = LazyLock::new(report);
static PAGE: LazyLock<String> = LazyLock::new(|| html(std::slice::from_ref(&*REPORT)));

/// Returns a page as XML, which is stricter than HTML.
fn parsed(page: &str) -> Document<'_> {
    Document::parse_with_options(page, ParsingOptions { allow_dtd: true, ..ParsingOptions::default() })
        .unwrap()
}

fn of_class<'a, 'b>(document: &'a Document<'b>, class: &str) -> Vec<Node<'a, 'b>> {
    let has =
        |node: &Node<'_, '_>| node.attribute("class").is_some_and(|it| it.split(' ').any(|it| it == class));
    document.descendants().filter(has).collect()
}

fn text(node: Node<'_, '_>) -> String {
    node.descendants().filter(Node::is_text).filter_map(|node| node.text()).collect()
}

/// Returns a text as a page shows it.
fn shown(text: &str) -> String {
    text.replace('\u{0}', "\\u{0}").replace('\u{202e}', "\\u{202e}")
}

fn empty_report() -> Report {
    let machine = Machine { jitter: Latencies::default(), ..Machine::here() };
    Report {
        machine,
        command: "fixbolt bench nothing".to_owned(),
        began: String::new(),
        partial: false,
        tests: Vec::new(),
    }
}

/// `FIXBOLT_WRITE_HTML` names a folder: `.ci/html` looks at the pages in a browser.
#[test]
fn every_page_is_well_formed() {
    let two = html(&[REPORT.clone(), empty_report()]);
    let pages =
        [("sample", &*PAGE), ("empty", &html(&[empty_report()])), ("none", &html(&[])), ("two", &two)];
    for (name, page) in pages {
        let document = parsed(page);
        assert!(
            page.starts_with("<!DOCTYPE html>\n") && document.root_element().has_tag_name("html"),
            "{name}"
        );
        let ids: Vec<&str> = document.descendants().filter_map(|node| node.attribute("id")).collect();
        let links = document.descendants().filter_map(|node| node.attribute("href")?.strip_prefix('#'));
        for link in links {
            assert_eq!(ids.iter().filter(|id| **id == link).count(), 1, "{name}: {link}");
        }
        if let Some(folder) = std::env::var_os("FIXBOLT_WRITE_HTML") {
            std::fs::write(std::path::Path::new(&folder).join(name).with_extension("html"), page).unwrap();
        }
    }
}

#[test]
fn no_text_becomes_markup() {
    let document = parsed(&PAGE);
    assert_eq!(document.descendants().filter(|node| node.has_tag_name("script")).count(), 0);
    let handlers = document.descendants().flat_map(|node| node.attributes());
    assert_eq!(handlers.filter(|attribute| attribute.name().starts_with("on")).count(), 0);
    // Everything that was given is there: as a heading, a setting, a cell, a note, a legend.
    let evil = shown(EVIL);
    for (name, times) in
        [("dt", 1), ("dd", 1), ("th", 5), ("td", 3), ("p", 2), ("h3", 1), ("li", 2), ("figcaption", 3)]
    {
        let found = document
            .descendants()
            .filter(|node| node.has_tag_name(name) && text(*node).contains(&evil))
            .count();
        assert!(found >= times, "{name}: {found}");
    }
}

#[test]
fn a_page_asks_for_nothing_from_elsewhere() {
    let mut harmless = REPORT.clone();
    harmless.tests.retain(|test| test.name != EVIL);
    let page = html(&[harmless]);
    assert!(!page.contains("http:") && !page.contains("https:") && !page.contains("//"), "an address");
    let document = parsed(&page);
    for node in document.descendants() {
        for attribute in node.attributes() {
            let of_place = matches!(attribute.name(), "href" | "src" | "fill");
            let local = attribute.value().starts_with('#') || attribute.value() == "data:,";
            assert!(!of_place || local || attribute.value().starts_with("url(#"), "{attribute:?}");
        }
    }
    assert!(!include_str!("style.css").contains("url(") && !include_str!("style.css").contains("@import"));
    assert!(
        page.contains("content=\"default-src &#x27;none&#x27;")
            || page.contains("content=\"default-src 'none'")
    );
}

#[test]
fn each_test_table_figure_and_series_is_on_the_page() {
    let report = &*REPORT;
    let document = parsed(&PAGE);
    let sections = of_class(&document, "test");
    assert_eq!(sections.len(), report.tests.len());
    for (test, section) in report.tests.iter().zip(sections) {
        let all = text(section);
        let labels: Vec<&str> =
            section.descendants().filter_map(|node| node.attribute("aria-label")).collect();
        let has = |what: &str| assert!(all.contains(&shown(what)), "{}: {what}", test.name);
        has(&test.title);
        test.settings.iter().for_each(|(name, value)| [name, value].into_iter().for_each(|it| has(it)));
        test.notes.iter().for_each(|note| has(note));
        for table in &test.tables {
            has(&table.title);
            table.columns.iter().chain(&table.notes).for_each(|it| has(it));
            table.rows.iter().flatten().for_each(|cell| has(cell));
        }
        for row in &test.rows {
            [&row.engine, &row.message, &row.operation].into_iter().for_each(|it| has(it));
        }
        for series in &test.series {
            let plotted =
                |of: &str| labels.iter().any(|it| it.starts_with(of) && it.contains(&shown(&series.name)));
            let measured = series.runs.iter().any(|run| run.service.count() > 0);
            assert_eq!(plotted("Latency:") && plotted("Over time:"), measured, "{}", series.key());
            if !series.runs.is_empty() {
                has(&series.engine);
                has(&series.name);
            }
        }
    }
    // Each field of the machine, each warning.
    let all = text(document.root_element());
    let machine = &report.machine;
    for value in [
        &machine.processor,
        &machine.system,
        &machine.rustc,
        &machine.libc,
        &machine.allocator,
        &machine.build,
    ] {
        assert!(all.contains(value.as_str()), "{value}");
    }
    assert!(machine.warnings().iter().all(|warning| all.contains(warning)));
}

#[test]
fn response_and_service_time_are_told_apart_and_so_is_what_few_samples_carry() {
    let document = parsed(&PAGE);
    let lines = |classes: &[&str]| {
        let lines = document.descendants().filter(|node| node.has_tag_name("polyline"));
        let classes = lines.filter(|node| {
            let own: Vec<&str> = node.attribute("class").unwrap().split(' ').collect();
            classes.iter().all(|class| own.contains(class))
        });
        classes.count()
    };
    for classes in [
        ["response", "fixbolt"],
        ["service", "fixbolt"],
        ["response", "base"],
        ["service", "base"],
        ["response", "few"],
    ] {
        assert!(lines(&classes) > 0, "{classes:?}");
    }
    // A series with an INVALID run says so, and so does one without a valid run.
    let all = text(document.root_element());
    assert!(all.contains("fixbolt, with 1 INVALID of 3 runs") && all.contains("QuickFIX/J 2.3.1, INVALID"));
    assert!(all.contains("The measurement was INTERRUPTED") && all.contains("INVALID runs: 10 of 36."));
}

#[test]
fn a_sweep_marks_invalid_runs_and_bars_mark_published_figures() {
    let document = parsed(&PAGE);
    let sweep =
        document.descendants().find(|node| node.attribute("aria-label") == Some("Latency by rate")).unwrap();
    let marks: Vec<String> =
        sweep.descendants().filter(|node| node.has_tag_name("title")).map(text).collect();
    assert!(marks.iter().any(|mark| mark.starts_with("fixbolt, 10000/s: p99 ")), "{marks:?}");
    assert!(
        marks.iter().any(|mark| mark.starts_with("QuickFIX/J") && mark.contains("INVALID: only ")),
        "{marks:?}"
    );
    // What was published has no ratio.
    let rows = document.descendants().filter(|node| node.has_tag_name("tr")).map(text);
    assert!(rows.filter(|row| row.contains(", published")).all(|row| !row.ends_with('x')));
    let hatched = of_class(&document, "published");
    assert!(
        hatched.iter().all(|bar| bar.attribute("fill").is_some_and(|fill| fill.starts_with("url(#hatch-")))
    );
    let published: usize = REPORT.rows().filter(|row| row.published.is_some()).count();
    assert_eq!(hatched.len(), published);
    let bars = of_class(&document, "bars");
    let of_nos = bars.iter().map(|block| text(*block)).find(|block| block.contains("NOS-222: time")).unwrap();
    // Of rates, the larger one is better: 3,500,000 messages/s beside 388,889.
    let of_stream = bars.iter().map(|block| text(*block)).find(|block| block.contains("messages/s")).unwrap();
    assert!(of_stream.contains("3,500,000") && of_stream.contains("9.00x"), "{of_stream}");
    for part in [
        "floor",
        "fixbolt avx2",
        "QuickFIX C++, published",
        "31.0x",
        "Logarithmic",
        "another machine, in another year",
    ] {
        assert!(of_nos.contains(part), "{part}: {of_nos}");
    }
}

#[test]
fn every_coordinate_is_a_number_within_its_plot() {
    let document = parsed(&PAGE);
    for line in document.descendants().filter(|node| node.has_tag_name("polyline")) {
        for number in line.attribute("points").unwrap().split(' ') {
            assert!((0.0..=100.0).contains(&number.parse::<f64>().unwrap()), "{number}");
        }
    }
    for node in document.descendants() {
        for name in ["x", "y", "x1", "width"] {
            let Some(percent) = node.attribute(name).and_then(|it| it.strip_suffix('%')) else { continue };
            assert!((0.0..=100.0).contains(&percent.parse::<f64>().unwrap()), "{name} {percent}");
        }
    }
    for attribute in document.descendants().flat_map(|node| node.attributes()) {
        let drawn = ["points", "d", "x", "y", "x1", "width", "height"].contains(&attribute.name());
        let strange = attribute.value().contains("NaN") || attribute.value().contains("inf");
        assert!(!drawn || !strange, "{attribute:?}");
    }
}

#[test]
fn one_machine_of_several_reports_is_shown_once_and_another_one_again() {
    let (first, mut second, mut third) = (empty_report(), empty_report(), empty_report());
    second.machine = Machine { load: Some(7.25), ..first.machine.clone() };
    third.machine = Machine { commit: "another".to_owned(), ..first.machine.clone() };
    let page = html(&[first, second, third]);
    let count = |text: &str| page.matches(text).count();
    assert_eq!((count("<h3>Machine</h3>"), count("Machine: as above"), count("7.25")), (2, 1, 2));
}

#[test]
fn an_empty_report_says_so() {
    let page = html(&[empty_report()]);
    assert!(page.contains("Nothing was measured.") && page.contains("not measured"), "{page}");
    assert!(!page.contains("INTERRUPTED"));
}
