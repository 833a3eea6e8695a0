use std::path::PathBuf;

use fixbolt_codec::{BodyWriter, MsgType, Tag};
use fixbolt_workloads::harness::Invalid;
use fixbolt_workloads::reports::EXECUTION_REPORT;

use super::published::DEDUCTED;
use super::*;
use crate::loopback::exchange::{self, Exchange, ORDER};
use crate::results::percentile_table;

/// The lines of the page's tables, in its order, without spaces at the ends and with one space
/// between cells.
const PAGE: &str = "\
At a throughput of 2,000/s
Percentile run1 run2 run3 % Variation
50: 270.34 270.34 233.47 9.52
90: 352.26 335.87 1867.78 75.25
99: 6684.67 4849.66 69206.02 89.84
99.9: 13369.34 12845.06 163577.86 88.67
99.99: 81788.93 20447.23 163577.86 82.35
worst: 111149.06 98566.14 163577.86 30.54
At a throughput of 10,000/s
Percentile run1 run2 run3 % Variation
50: 184.32 176.13 176.13 0.00
90: 573.44 270.34 249.86 5.18
99: 19398.66 2686.98 5111.81 37.56
99.9: 28835.84 7733.25 7995.39 2.21
99.99: 30932.99 9699.33 9175.04 3.67
worst: 30932.99 9699.33 9175.04 3.67
At a throughput of 50,00/s
Percentile run1 run2 run3 % Variation var(log)
50: 176.13 176.13 176.13 0.00 11.82
90: 12845.06 29884.42 3604.48 82.94 21.01
99: 34603.01 94371.84 17301.50 74.81 25.26
99.9: 42991.62 98566.14 25690.11 65.41 25.84
99.99: 45088.77 98566.14 27787.26 62.94 25.93
worst: 45088.77 98566.14 27787.26 62.94 25.93
At a throughput of 2000/s
Percentile run1 run2 run3 % Variation
50: 16.90 16.90 16.90 0.00
90: 18.94 18.94 18.94 0.00
99: 26.11 30.21 23.04 17.18
99.9: 35.84 39.94 33.79 10.81
99.99: 540.67 671.74 401.41 65.41
worst: 638.98 1081.34 606.21 61.59
At a throughput of 10,000/s
Percentile run1 run2 run3 % Variation
50: 16.90 16.90 16.13 3.08
90: 18.94 18.94 18.94 0.00
99: 26.11 22.02 20.99 3.15
99.9: 88.06 33.79 83.97 49.75
99.99: 999.42 167.94 802.82 71.59
worst: 1146.88 249.86 966.66 65.67
At a throughput of 50,000/s
Percentile run1 run2 run3 % Variation
50: 15.62 15.10 15.62 2.21
90: 17.92 16.90 16.90 0.00
99: 22.02 30.21 29.18 2.29
99.9: 120.83 352.26 33.79 86.27
99.99: 335.87 802.82 96.26 83.03
worst: 450.56 901.12 151.55 76.73
Percentile run1 run2 run3 run4 run5
50: 1.01 1.01 1.01 1.01 1.06
90: 1.12 1.12 1.12 1.12 1.12
99: 1.38 1.31 1.44 1.31 2.11
99.9: 2.88 2.88 2.88 2.88 4.03
99.99: 3.26 3.14 3.39 3.14 6.02
worst: 5.25 6.27 22.02 20.99 18.94
";

/// The two rows whose variation is not that of their figures, on the page itself.
const OTHERWISE: [&str; 2] = ["99.99: 540.67 671.74 401.41 65.41", "worst: 638.98 1081.34 606.21 61.59"];

fn words(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn laid_out(published: &Published) -> Vec<String> {
    let rows: Vec<Vec<_>> =
        published.rows.iter().map(|row| row.iter().map(|us| (*us, true)).collect()).collect();
    let mut table = percentile_table("", &rows);
    let ns = |row: &&[f64]| row.iter().map(|us| us * 1e3).collect::<Vec<_>>();
    let cells = published.rows.iter().map(|row| format!("{:.2}", var_log::var_log(&ns(row)).unwrap()));
    table.column("var(log)", cells.collect());
    table.to_string().lines().map(words).collect()
}

#[test]
fn a_table_has_the_lines_of_the_page() {
    let page = page().unwrap_or_else(|| PAGE.lines().map(str::to_owned).collect());
    let mut lines = page.iter().peekable();
    for published in QUICKFIXJ.iter().chain(&CHRONICLE) {
        let title = lines.next().unwrap();
        assert!(title.starts_with("At a throughput of "), "{title}");
        // Of the page's tables, one has the last column.
        let has_log = lines.peek().unwrap().ends_with(" var(log)");
        for line in laid_out(published) {
            let theirs = lines.next().unwrap();
            let (mut ours, log) = line.rsplit_once(' ').unwrap();
            let mut theirs = theirs.as_str();
            if has_log {
                let (rest, their_log) = theirs.rsplit_once(' ').unwrap();
                assert_eq!(log, their_log, "{line}");
                theirs = rest;
            }
            let variation;
            (ours, variation) = ours.rsplit_once(' ').unwrap();
            let (figures, their_variation) = theirs.rsplit_once(' ').unwrap();
            assert_eq!(ours, figures);
            // The page computed it from figures with more digits than it shows.
            match (variation.parse::<f64>(), their_variation.parse::<f64>()) {
                _ if OTHERWISE.contains(&theirs) => {}
                (Ok(ours), Ok(theirs)) => assert!((ours - theirs).abs() < 0.06, "{line} {theirs}"),
                _ => assert_eq!(variation, their_variation),
            }
        }
    }
    for line in laid_out(&PARSE) {
        // That table has neither variation nor var(log).
        let (line, _) = line.rsplit_once(' ').unwrap();
        let (line, _) = line.rsplit_once(' ').unwrap();
        assert_eq!(line.trim_end_matches(" %"), lines.next().unwrap());
    }
    assert_eq!(lines.next(), None);
}

/// Returns the lines of the tables as the page has them, if it is there.
fn page() -> Option<Vec<String>> {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared");
    let shared = std::env::var_os("FIXBOLT_SHARED").map_or_else(|| PathBuf::from(default), PathBuf::from);
    let path = shared.join("published").join("jlbh-quickfixj-chronicle.txt");
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("shared folder absent: the committed lines are compared instead of the page's");
        return None;
    };
    let starts =
        ["At a throughput of ", "Percentile ", "50: ", "90: ", "99: ", "99.9: ", "99.99: ", "worst: "];
    let is_table = |line: &String| starts.iter().any(|start| line.starts_with(start));
    let lines: Vec<String> = text.lines().map(words).filter(is_table).collect();
    let list = ["QuickFix 200 – 10 = 190", "Chronicle-FIX 16 – 10 = 6"];
    for (line, (engine, p50, tcp)) in list.iter().zip(DEDUCTED) {
        assert!(words(&text).contains(line), "{line}");
        assert!(line.ends_with(&format!("{p50} – {tcp} = {}", p50 - tcp)), "{engine}");
    }
    assert_eq!(lines, PAGE.lines().collect::<Vec<_>>(), "the committed lines are those of the page");
    Some(lines)
}

/// Returns the body that `write` writes, with `|` for SOH.
fn body(msg_type: MsgType, write: impl FnOnce(&mut BodyWriter<'_>)) -> String {
    let mut memory = [0; 512];
    let mut body = BodyWriter::new(msg_type, &mut memory);
    write(&mut body);
    String::from_utf8(body.finish().unwrap().bytes.to_vec()).unwrap().replace('\u{1}', "|")
}

#[test]
fn the_messages_are_the_published_ones() {
    let mut exchange = Jlbh::as_published();
    let order = body(ORDER, |body| exchange.order(7, 123_456, body));
    assert_eq!(
        order,
        "40=2|54=1|55=LCOM1|21=3|60=20261121-08:59:58.123|38=1|44=200.0|59=0|200=201106|167=FUT|22=5|48=LCOM1|1=ABCTEST1|11=123456|"
    );
    let (order, report) = messages::raw().unwrap();
    let answered =
        exchange::read(&order, |order| body(EXECUTION_REPORT, |body| exchange.report(order, body).unwrap()));
    assert_eq!(
        answered.unwrap(),
        "6=110.11|14=7|109=TEST|17=tkacct.151124.e.EFX.122.6|37=tkacct.151124.e.EFX.122.6|54=1|55=EFX|150=2|20=0|39=0|151=0|11=1234567890123|"
    );
    let stamp = exchange::read(&report, |report| {
        assert_eq!(exchange.wrong(0, report), None);
        exchange.read(report).unwrap()
    });
    assert_eq!(stamp, Some(1_234_567_890_123));
}

#[test]
fn orders_that_vary_differ_in_quantity_and_price() {
    let mut exchange = Jlbh::varying();
    let mut orders: Vec<String> = (0..64).map(|n| body(ORDER, |body| exchange.order(n, 1, body))).collect();
    orders.sort();
    orders.dedup();
    assert_eq!(orders.len(), 64);
}

#[test]
fn every_rate_has_its_tables_and_every_report_belongs_to_its_order() {
    let layout = Layout::new(fixbolt::Waiting::Blocking);
    let mut settings = Settings::new(layout);
    settings.rivals.clear();
    for load in [&mut settings.load, &mut settings.parse] {
        load.plan = load.plan.clone().warm_up(100).iterations(200).runs(2);
        load.rates = vec![2_000.0];
    }
    let report = run(&settings, &Control::default()).unwrap();
    let titles: Vec<&str> = report.tables.iter().map(|table| table.title.as_str()).collect();
    assert_eq!(titles.len(), 4);
    assert!(
        titles[0].contains("2000/s")
            && titles[2].starts_with("The TCP time deducted")
            && titles[3].starts_with("Parsing into the data model"),
        "{titles:?}"
    );
    for table in [&report.tables[0], &report.tables[1], &report.tables[3]] {
        let log = table.columns.iter().position(|head| head == "var(log)").unwrap();
        assert!(table.rows[..6].iter().all(|row| row[log].parse::<f64>().is_ok()), "{table}");
    }
    assert!(
        report.tables[0].columns.iter().any(|head| head == "Chronicle FIX, published, another machine, 2016")
    );
    for series in &report.series {
        for run in &series.runs {
            // Whether this machine is fast enough is not the question.
            let complete =
                matches!(run.invalid, None | Some(Invalid::SlowGenerator(..) | Invalid::SlowSystem(..)));
            assert!(
                complete && run.service.count() == 200 && run.stray == 0,
                "{} {:?}",
                series.key(),
                run.invalid
            );
        }
    }
    for series in report.series.iter().filter(|it| it.name.starts_with("parse") && it.is_valid()) {
        let row = report.rows.iter().find(|row| row.operation == series.name).unwrap();
        // As in its table, and not from when it was due.
        assert_eq!((row.times, row.percentile), (Some(TimeKind::Service), Some(50.0)));
    }
    for table in &report.tables[..2] {
        let raw = table.columns.iter().position(|head| head == "raw TCP").unwrap();
        let cells: Vec<&str> = table.rows.iter().map(|row| row[raw].as_str()).collect();
        // 200 samples carry the first two.
        assert!(cells[2].contains('*') && !cells[0].contains('*'), "{cells:?}");
        assert!(cells[6].parse::<f64>().is_ok(), "{cells:?}");
    }
    let mut times = report.rows.iter().filter(|row| row.ns.is_some());
    let is_published = |row: &Row| row.times != Some(TimeKind::Service) || row.published.is_some();
    assert!(times.all(|row| row.ns > Some(0.0) && is_published(row)));
}

#[test]
fn a_low_rate_keeps_its_digits() {
    let names = [0.5, 99.5, 2_000.0, 1_189.207].map(|rate| name_of(Some(rate)));
    assert_eq!(names, ["0.5/s", "99.5/s", "2000/s", "1189/s"]);
}

#[test]
fn workers_spin_if_there_are_four_cores_even_if_only_two_are_isolated() {
    assert_eq!(layout_of(8, &[6, 7]).words(), "spinning, on cores 6 and 7");
    assert_eq!(layout_of(2, &[1, 0]).words(), "epoll, not pinned");
}

#[test]
fn a_report_of_another_order_is_noticed() {
    let (order, _) = messages::raw().unwrap();
    let wrong = exchange::read(&order, |order| Jlbh::as_published().wrong(0, order));
    assert_eq!(wrong.unwrap().unwrap(), "field 6 is missing, not 110.11");
    assert_eq!(
        exchange::read(&order, |order| order.get(Tag::new(55)).map(<[u8]>::to_vec)),
        Some(Some(b"LCOM1".to_vec()))
    );
}

#[test]
fn a_search_ends_at_a_rate_and_a_closed_loop_has_none() {
    let mut settings = Settings::new(Layout::new(fixbolt::Waiting::Blocking));
    settings.rivals.clear();
    settings.load.plan = settings.load.plan.clone().warm_up(20).iterations(100).runs(1);
    settings.load.rates = vec![1_000.0];
    settings.load.most = 2_000.0;
    settings.load.bound = Some("p50<=10s".parse().unwrap());
    settings.parse.rates.clear();
    let report = run(&settings, &Control::default()).unwrap();
    let title = "The highest rate at which p50 is at most 10000000 us";
    let search = report.tables.iter().find(|table| table.title.starts_with(title)).unwrap();
    assert!(!search.rows.is_empty() && search.notes.len() == 1, "{search}");
    settings.load.bound = None;
    settings.load.arrivals = None;
    let report = run(&settings, &Control::default()).unwrap();
    assert_eq!(report.tables.len(), 2);
    assert!(report.tables[0].title.contains("closed loop"), "{}", report.tables[0]);
    assert_eq!(report.tables[1].rows[0][..2], ["closed loop", "fixbolt"]);
    let names: Vec<String> = report.series.iter().map(Series::key).collect();
    assert_eq!(names, ["jlbh fixbolt NOS-JLBH closed loop", "jlbh raw TCP NOS-JLBH closed loop"]);
}
