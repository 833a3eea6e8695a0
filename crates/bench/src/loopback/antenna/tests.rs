use fixbolt_workloads::harness::Invalid;

use super::configurations::{CONFIGURATIONS, QUICKFIX as QUICKFIX_PUBLISHED};
use super::table::{beside_quickfix, laid_out};
use super::*;
use crate::results::Table;

/// The lines of the page's two tables of results, without spaces and ends of lines, with points.
const PAGE: [&str; 2] = [
    "ConfigurationDefaultAggressiveBalancedOptimized.hard.spinBalanced.onloadOptimized.hard\
     RTT(microseconds)\
     Min47.146.127.319.011.38.3\
     Max190.7218.0217.5223.7199.513.2\
     Average51.651.131.521.613.28.7\
     RTTdistribution(percentiles)\
     50%49.848.829.921.011.88.5\
     95%59.959.038.924.018.69.3\
     99%67.190.445.825.324.610.4",
    "ConfigurationFIXAntennadefaultFIXAntennabalancedQuickFIXnovalidationQuickFIXvalidation\
     RTT(microseconds)\
     Min47.127.3155.0157\
     Max190.1217.5371.5377.8\
     Average51.631.5158.9161.8\
     RTTdistribution(Percentiles)\
     50%49.829.9157.6159.5\
     95%59.938.9165.0167.1\
     99%67.145.9177.4183.5",
];

fn without_spaces(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Returns the published part of a table, without the lines that the page does not have.
fn published(table: &Table, heads: &[&str]) -> String {
    let mut text = format!("Configuration{}", heads.concat());
    let ours = |name: &str| name == "99.9%" || name.ends_with("worst slice");
    for row in table.rows.iter().filter(|row| !ours(&row[0])) {
        text.push_str(&row[0]);
        text.extend(row.iter().skip(2).step_by(2).cloned());
    }
    without_spaces(&text)
}

#[test]
fn the_results_are_laid_out_as_on_the_page_line_by_line() {
    if let Some(page) = crate::published::page("fix-antenna.txt") {
        let (_, after) = page.split_once("configurations comparison").unwrap();
        let (first, after) = after.split_once("FIX Antenna C++ 2.19.0").unwrap();
        let (_, second) = after.split_once("in the following table:").unwrap();
        for (theirs, committed) in [first, second].into_iter().zip(PAGE) {
            let theirs = without_spaces(theirs).replace(',', ".");
            assert_eq!(theirs, committed, "the committed lines are those of the page");
        }
    }
    let names = CONFIGURATIONS.map(|it| it.name);
    let columns = CONFIGURATIONS.map(|it| (it.name.to_owned(), None, it.published));
    assert_eq!(published(&laid_out("", &columns), &names), PAGE[0]);
    let heads =
        ["FIX Antenna default", "FIX Antenna balanced", "QuickFIX no validation", "QuickFIX validation"];
    let table = laid_out("", &beside_quickfix(&[]));
    // The page has 157 without its decimal.
    assert_eq!(
        published(&table, &heads)
            .replace("155.0157.0Max", "155.0157Max")
            .replace("(percentiles)", "(Percentiles)"),
        PAGE[1]
    );
    assert_eq!(QUICKFIX_PUBLISHED[1].min, 157.0);
}

#[test]
fn every_row_is_measured_and_every_order_has_its_times() {
    let settings = Settings {
        rate: 1_000,
        messages: 60,
        warm_up: 20,
        slices: 2,
        configurations: ["Default", "Optimized.hard"].map(|it| Configuration::named(it).unwrap()).to_vec(),
        with_everything: true,
        cores: Vec::new(),
    };
    let outcome = run(&settings, &Control::default()).unwrap();
    let report = &outcome.report;
    let ours = report.series.iter().filter(|it| it.engine == "fixbolt");
    let names: Vec<&str> = ours.map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["Default", "Optimized.hard", "Optimized.hard everything on", "Default untyped"]);
    assert_eq!(report.series.iter().filter(|it| it.engine == RAW).count(), 2);
    for series in report.series.iter().filter(|it| it.engine != QUICKFIX) {
        assert_eq!(series.runs.len(), 2);
        for run in &series.runs {
            // Whether this machine is fast enough is not the question.
            let complete =
                matches!(run.invalid, None | Some(Invalid::SlowGenerator(..) | Invalid::SlowSystem(..)));
            assert!(complete && run.stray == 0, "{} {:?}", series.key(), run.invalid);
            assert_eq!(run.service.count(), 30, "{}", series.key());
        }
    }
    let titles: Vec<&str> = report.tables.iter().map(|it| it.title.as_str()).collect();
    assert!(titles[0].starts_with("Test configurations; published: other machines"), "{titles:?}");
    assert_eq!(titles[1..], ["Configurations comparison", "Fixbolt vs QuickFIX C++", "Every row, in us"]);
    assert_eq!(report.tables[3].rows.len(), report.series.len());
    let default =
        report.rows.iter().find(|row| row.key() == "antenna fixbolt NOS-FA Default service p50").unwrap();
    assert_eq!(default.published, Some(49_800.0));
    let floor = report.series.iter().find(|it| it.engine == RAW).unwrap();
    assert_eq!(default.floor_ns > Some(0.0), floor.is_valid(), "{default:?}");
    let csv = outcome.latency_csv();
    assert_eq!(csv.lines().filter(|line| line.starts_with("fixbolt Default,")).count(), 60, "{csv}");
    for line in csv.lines().filter(|line| line.starts_with("fixbolt ")) {
        let cells: Vec<&str> = line.split(',').collect();
        let [_, _, _, due, put, parsed, rtt] = cells[..] else { panic!("{line}") };
        let [due, put, parsed] = [due, put, parsed].map(|it| it.parse::<u64>().unwrap());
        assert!(due <= put && put < parsed && rtt.parse::<f64>().unwrap() > 0.0, "{line}");
    }
}

#[test]
fn a_server_answers_a_client_of_another_process_and_counts_its_orders() {
    let configuration = Configuration::named("balanced").unwrap();
    let server = Server {
        address: "127.0.0.1:0".parse().unwrap(),
        configuration,
        validation: Validation::Everything,
        cores: Vec::new(),
        onload_profile: None,
    };
    let (to, address) = std::sync::mpsc::channel();
    let serving =
        std::thread::spawn(move || server.run(&Control::default(), |address| to.send(address).unwrap()));
    let address = address.recv().unwrap();
    let settings = Settings { messages: 50, warm_up: 10, ..Settings::default() };
    let client = Client {
        server: (address.ip().to_string(), address.port()),
        configuration,
        validation: Validation::Everything,
        cores: Vec::new(),
        onload_profile: Some("latency".to_owned()),
        settings,
    };
    let outcome = client.run(&Control::default()).unwrap();
    let served = serving.join().unwrap().unwrap();
    assert!(served.settings.contains(&("orders answered".to_owned(), "60".to_owned())), "{served:?}");
    assert!(outcome.report.settings.contains(&("onload profile".to_owned(), "latency".to_owned())));
    assert_eq!(outcome.report.series[0].runs[0].service.count(), 50);
    assert_eq!(outcome.latency_csv().lines().count(), 51);
    let heads = outcome.report.tables[0].columns.iter().map(|head| head.trim_end_matches('!'));
    assert_eq!(heads.collect::<Vec<_>>(), ["Configuration", "Balanced everything on", "published"]);
}

#[test]
fn an_outcome_of_a_measurement_that_was_stopped_at_once_is_empty() {
    let control = Control::default();
    control.stop();
    let outcome = run(&Settings::short(), &control).unwrap();
    assert!(outcome.report.rows.is_empty() && outcome.report.series.is_empty());
}
