//! Tests of the session benchmark.

use super::*;

const OPERATIONS: [&str; 18] = [
    "order-report",
    "order-report-memory",
    "heartbeat",
    "heartbeat-in",
    "resend",
    "resend-memory",
    "without-store",
    "without-validation",
    "without-reads",
    "without-report",
    "stage-framing",
    "stage-index",
    "stage-validate",
    "stage-reads",
    "stage-encode",
    "stage-journal",
    "receive",
    "send",
];

fn in_memory() -> Acceptor {
    Acceptor::new("memory", Box::new(MemoryStore::new()), None, Without::default()).unwrap()
}

#[test]
fn every_operation_has_a_figure_and_the_stages_add_up_to_the_path() {
    let test = report(measure(1, &Control::default()).unwrap(), 1);
    let (single, all): (Vec<_>, Vec<_>) = test.rows.iter().partition(|row| row.percentile.is_some());
    let operations: Vec<&str> = all.iter().map(|row| row.operation.as_str()).collect();
    assert_eq!(operations, OPERATIONS);
    let single: Vec<String> = single.iter().map(|row| row.what()).collect();
    let of = |path: &str| {
        ["p50", "p90", "p99", "p99.9", "p99.99", "worst"].map(|name| format!("{path} service {name}"))
    };
    assert_eq!(single, [of("receive"), of("send")].concat());
    assert!(test.rows.iter().all(|row| row.figure().0 > 0.0 && row.key().starts_with("session fixbolt ")));
    assert!(test.rows[0].floor_ns > Some(0.0));
    // A profiler is not shown those that read the clock.
    assert_eq!(once().unwrap().len(), OPERATIONS.len() - 2);
    let stages = &test.tables[2];
    let ns: Vec<f64> = stages.rows.iter().map(|row| row[1].parse().unwrap()).collect();
    let (whole, parts) = ns.split_last().unwrap();
    assert!((parts.iter().sum::<f64>() - whole).abs() <= parts.len() as f64, "{stages}");
}

#[test]
fn a_table_of_stages_needs_every_figure() {
    let mut rows: Vec<Row> =
        OPERATIONS.iter().map(|operation| Row::of_ns("session", "NOS-222", operation, 100.0)).collect();
    assert!(stages::table(&rows).is_some());
    rows.retain(|row| row.operation != "without-reads");
    assert_eq!(stages::table(&rows), None);
}

#[test]
fn a_stop_leaves_no_figure_that_was_not_measured() {
    let control = Control::default();
    control.stop();
    let test = report(measure(1, &control).unwrap(), 1);
    assert!(test.rows.is_empty() && test.tables.len() == 3);
}

#[test]
fn the_journal_is_gone_afterwards() {
    let folder = Folder::new().unwrap();
    let path = folder.0.clone();
    let store = Box::new(DirectoryStore::new(&path));
    let acceptor = Acceptor::new("journal", store, Some(folder), Without::default()).unwrap();
    let orders = Orders::checked(acceptor).unwrap();
    assert!(std::fs::read_dir(&path).unwrap().next().is_some());
    drop(orders);
    assert!(!path.exists());
}

#[test]
fn a_wrong_report_and_a_missing_one_are_told() {
    let mut acceptor = in_memory();
    acceptor.trader.ring[9].symbol = String::from("\u{1}");
    assert_eq!(Orders(acceptor).check(), Err("memory: no order can be written".to_owned()));
    let mut acceptor = in_memory();
    acceptor.trader.ring[9].side = 'x';
    assert_eq!(Orders(acceptor).check(), Err("memory: report 9 is wrong".to_owned()));
    let mut orders = Orders(in_memory());
    orders.prepare(RING).unwrap();
    assert_eq!(orders.work(2 * RING), RING);
    assert_eq!(all_of(&orders, 2, 1), Err("memory: 1 of 2 outcomes are right".to_owned()));
}

#[test]
fn a_session_that_sends_nothing_again_is_told() {
    let store = || Box::new(NoStore::new());
    let acceptor = Acceptor::new("nothing", store(), None, Without::default()).unwrap();
    let resend = Resend::checked(acceptor, 10).map(|_| ());
    assert_eq!(resend, Err("nothing: message 0 is not sent again as it was".to_owned()));
}

#[test]
fn a_heartbeat_that_is_not_sent_and_one_too_many_are_told() {
    let mut heartbeats = Heartbeats::checked(in_memory(), true).unwrap();
    heartbeats.prepare(3).unwrap();
    assert_eq!(heartbeats.work(3), 3);
    let mut silent = Heartbeats::checked(in_memory(), false).unwrap();
    silent.prepare(3).unwrap();
    assert_eq!(silent.work(3), 3);
    // A sequence number that was used before shifts all that are checked.
    let mut acceptor = in_memory();
    acceptor.trader.orders(1).unwrap();
    assert_eq!(acceptor.answer(1), 1);
    let wrong = Heartbeats::checked(acceptor, true);
    assert_eq!(wrong.err(), Some("memory: Heartbeat 0 is wrong".to_owned()));
}
