//! The table of FsFIX's page, and its figures.

use crate::results::{Row, Table};

/// The rows of the page: benchmark, FsFIX (original), FsFIX (optimized), QuickFIX/N and QuickFIX/J
/// in us; and the message and operation here.
const PUBLISHED: [([&str; 5], &str, &str); 8] = [
    (["write MarketDataRequest", "3.1550", "2.5762", "8.4914", "1.459"], "MarketDataRequest", "write"),
    (
        ["write QuoteStatusRequest with group", "3.7849", "3.3569", "10.6389", "1.216"],
        "QuoteStatusRequest",
        "write",
    ),
    (
        ["write QuoteStatusRequest with nested group", "5.3959", "4.5921", "19.7647", "3.094"],
        "QuoteStatusRequest-nested",
        "write",
    ),
    (["write NewOrderMultiLeg", "30.2887", "20.0561", "43.2407", "5.880"], "NewOrderMultileg", "write"),
    (["read MarketDataRequest", "4.4538", "2.7945", "12.2478", "1.956"], "MarketDataRequest", "read"),
    (
        ["read QuoteStatusRequest with group", "6.3069", "4.9191", "11.9883", "1.910"],
        "QuoteStatusRequest",
        "read",
    ),
    (
        ["read QuoteStatusRequest with nested groups", "8.3278", "6.3515", "19.5073", "3.596"],
        "QuoteStatusRequest-nested",
        "read",
    ),
    (["read NewOrderMultileg", "44.1178", "31.0434", "107.2047", "14.456"], "NewOrderMultileg", "read"),
];

/// How far apart a rival's batches may be, in per cent, for its figure to be their median. Beyond
/// it the figure is that of the fastest batch.
pub(super) const STEADY: f64 = 50.0;

/// The name of how far apart the batches of a rival's run are.
pub(super) const BATCHES_SPREAD: &str = "batches_spread";

/// The columns of the page, after our own.
const COLUMNS: [&str; 5] =
    ["benchmark", "FsFIX (original)", "FsFIX (optimized)", "QuickFixN (C#)", "QuickFixJ (Java)"];

/// Adds the published figure: that of FsFIX (optimized) beside Fixbolt, else the engine's own.
pub(super) fn with_published(row: Row) -> Row {
    let of = PUBLISHED.iter().find(|(_, message, operation)| {
        (*message, *operation) == (row.message.as_str(), row.operation.as_str())
    });
    let column = if row.engine == "fixbolt" { 2 } else { 4 };
    match of.and_then(|(cells, ..)| cells[column].parse::<f64>().ok()) {
        Some(us) => row.published((us * 1e4).round() / 10.0),
        None => row,
    }
}

fn find<'r>(rows: &'r [Row], message: &str, operation: &str) -> Option<&'r Row> {
    rows.iter().find(|row| (row.message.as_str(), row.operation.as_str()) == (message, operation))
}

fn us(row: Option<&Row>) -> String {
    row.map_or_else(|| "-".to_owned(), |row| format!("{:.4} us{}", row.figure().0 / 1e3, mark(row)))
}

/// Returns the mark of a rival's figure that is not the median of its batches.
fn mark(row: &Row) -> &'static str {
    if row.engine != "fixbolt" && row.more.get(BATCHES_SPREAD).is_some_and(|spread| *spread > STEADY) {
        "*"
    } else {
        ""
    }
}

/// Adds what the mark means, if it is there.
fn note_mark(table: &mut Table, rows: &[Row]) {
    if rows.iter().any(|row| !mark(row).is_empty()) {
        table.note(format!(
            "* the fastest batch of each run: they are more than {STEADY:.0} % apart, since the virtual machine was still compiling, \
             or the machine was busy"
        ));
    }
}

/// Returns the table of the page, with what this run measured before the published columns.
pub(super) fn as_page(ours: &[Row], theirs: &[Row]) -> Table {
    let [benchmark, published @ ..] = COLUMNS;
    let mut table = Table::new("", [benchmark, "Fixbolt", "QuickFIX/J here"].into_iter().chain(published));
    for ([benchmark, published @ ..], message, operation) in PUBLISHED {
        let cells = [us(find(ours, message, operation)), us(find(theirs, message, operation))];
        let published = published.map(|us| format!("{us} us"));
        table.row([benchmark.to_owned()].into_iter().chain(cells).chain(published));
    }
    note_mark(&mut table, theirs);
    table.note("Fixbolt and QuickFIX/J here: this run; the others: published, another machine, 2017");
    table
}

/// Returns every operation of each message, with the ratio to QuickFIX/J's.
pub(super) fn operations(ours: &[Row], theirs: &[Row]) -> Table {
    let columns = ["message", "operation", "Fixbolt ns", "spread %", "QuickFIX/J ns", "ratio"];
    let mut table = Table::new("Every operation", columns);
    let mut messages: Vec<&str> = Vec::new();
    for row in ours {
        if !messages.contains(&row.message.as_str()) {
            messages.push(&row.message);
        }
    }
    let names = ["write", "write-generated", "write-untyped", "parse", "read", "read-validated"];
    for message in messages {
        for operation in names {
            let Some(row) = find(ours, message, operation) else { continue };
            let theirs = find(theirs, message, operation);
            let known = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
            table.row([
                message.to_owned(),
                operation.to_owned(),
                format!("{:.1}", row.figure().0),
                known(row.more.get("spread").map(|spread| format!("{spread:.0}"))),
                known(theirs.map(|theirs| format!("{:.1}{}", theirs.figure().0, mark(theirs)))),
                known(theirs.map(|theirs| format!("{:.1}x", theirs.figure().0 / row.figure().0))),
            ]);
        }
    }
    note_mark(&mut table, theirs);
    table.note("ratio: how many times as long QuickFIX/J takes");
    table
}

pub(super) fn notes() -> Vec<String> {
    [
        "write: from values of their types, with header, BodyLength and CheckSum; write-generated: with the writers of \
         fixbolt-messages; write-untyped: from values that are bytes already. parse: every field located, untyped; read: \
         the fields of each group found, every field converted to its type; read-validated: and checked against FIX.4.4.",
        "The published NewOrderMultileg has random values, and the nested QuoteStatusRequest a source of identifiers that \
         FIX.4.4 does not have: read-validated finds and reports them in each message, and reads it all the same. The \
         messages have one layout each, which validation knows after the first.",
    ]
    .map(str::to_owned)
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn published_rows(engine: &str, column: usize) -> Vec<Row> {
        let row = |(cells, message, operation): ([&str; 5], &str, &str)| {
            let ns = cells[column].parse::<f64>().unwrap() * 1e3;
            Row::of_ns("fsfix", message, operation, ns).engine(engine)
        };
        PUBLISHED.map(row).into()
    }

    #[test]
    fn each_row_has_its_published_figure() {
        for (engine, column) in [("fixbolt", 2), ("QuickFIX/J", 4)] {
            for row in published_rows(engine, column) {
                let published = with_published(row.clone()).published.unwrap();
                assert!((published - row.figure().0).abs() < 0.06, "{row:?}");
            }
        }
        let parse = Row::of_ns("fsfix", "MarketDataRequest", "parse", 1.0);
        assert_eq!(with_published(parse).published, None);
    }

    #[test]
    fn the_table_is_laid_out_as_on_the_page() {
        let table = as_page(&published_rows("fixbolt", 2), &[]);
        assert_eq!(table.rows[0][1], "2.5762 us");
        assert_eq!(table.rows[7][2], "-");
        let Some(page) = crate::published::page("fsfix.txt") else {
            println!("the published page is absent: compared with the copy of its figures only");
            return;
        };
        let cells = |line: &str| -> Vec<String> {
            line.split('|').map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect()
        };
        let lines: Vec<Vec<String>> = page.lines().filter(|line| line.starts_with('|')).map(cells).collect();
        // Without our two columns.
        let theirs = |row: &Vec<String>| [&row[..1], &row[3..]].concat();
        assert_eq!(theirs(&table.columns), lines[0]);
        let rows: Vec<_> = table.rows.iter().map(theirs).collect();
        assert_eq!(rows, lines[2..]);
        // Our figures have the form of FsFIX's.
        let ours: Vec<&String> = table.rows.iter().map(|row| &row[1]).collect();
        assert_eq!(ours, lines[2..].iter().map(|row| &row[2]).collect::<Vec<_>>());
    }

    #[test]
    fn the_ratio_says_how_many_times_as_long_the_rival_takes() {
        let table = operations(&published_rows("fixbolt", 2), &published_rows("QuickFIX/J", 4));
        assert_eq!(table.rows.len(), 8);
        assert_eq!(table.rows[0], ["MarketDataRequest", "write", "2576.2", "-", "1459.0", "0.6x"]);
        assert_eq!(table.notes.len(), 1);
        let unsteady: Vec<Row> =
            published_rows("QuickFIX/J", 4).into_iter().map(|row| row.with(BATCHES_SPREAD, 51.0)).collect();
        let table = operations(&published_rows("fixbolt", 2), &unsteady);
        assert_eq!((table.rows[0][4].as_str(), table.notes.len()), ("1459.0*", 2));
        assert_eq!(as_page(&[], &unsteady).rows[0][2], "1.4590 us*");
    }
}
