//! The tables and the closing sentence of the published test.

use super::Timed;
use crate::results::Table;

/// The columns of the page.
const COLUMNS: [&str; 8] = [
    "Framework",
    "Operation",
    "Msgs processed",
    "Time secs",
    "Msgs/sec",
    "Average \u{b5}s/msg",
    "% Improvement",
    "Throughput",
];

/// The published figures: framework, operation, seconds, messages per second, us per message,
/// improvement, throughput.
const PUBLISHED: [[&str; 7]; 4] = [
    ["Quickfix", "encode", "0.529", "188695.409", "5.29", "-", "-"],
    ["", "decode", "1.527", "65499.295", "15.27", "-", "-"],
    ["Fix8", "encode", "0.192", "520827.366", "1.92", "63.8", "2.8x"],
    ["", "decode", "0.975", "102578.748", "9.75", "36.2", "1.6x"],
];

/// Returns the published time of an operation in nanoseconds: Fix8's beside Fixbolt.
pub(super) fn published(engine: &str, operation: &str) -> Option<f64> {
    match (engine, operation) {
        ("fixbolt", "encode") => Some(1920.0),
        ("fixbolt", "decode") => Some(9750.0),
        ("QuickFIX C++", "encode") => Some(5290.0),
        ("QuickFIX C++", "decode") => Some(15270.0),
        _ => None,
    }
}

/// Returns the name that the page would use.
fn framework(engine: &str) -> &str {
    match engine {
        "fixbolt" => "Fixbolt",
        "QuickFIX C++" => "Quickfix",
        other => other,
    }
}

/// Returns the table of the published regions.
pub(super) fn measured(theirs: &[Timed], ours: &[Timed]) -> Table {
    let mut table = Table::new("", COLUMNS);
    rows(&mut table, theirs, ours, &["encode", "decode"]);
    table
}

/// Returns the table of the operations that are not published.
pub(super) fn beside(theirs: &[Timed], ours: &[Timed]) -> Table {
    let mut table = Table::new("What a program does: not on the page", COLUMNS);
    let operations = ["build-encode", "encode-loop", "decode-typed", "decode-validated"];
    rows(&mut table, theirs, ours, &operations);
    table.note("build-encode: a message object is built, encoded and destroyed; Fixbolt has none, so its encode-loop is compared");
    table.note("decode-typed: every field is read as its type; decode-validated: the message is checked against FIX.4.4");
    table.note("the messages have one layout, which Fixbolt's validation knows after the first: validate-miss of `fixbolt bench codec` is without");
    table
}

/// Returns the table of the page.
pub(super) fn as_published() -> Table {
    let mut table = Table::new("Published, another machine, 2013 (Xeon E5-2690 2.9 GHz)", COLUMNS);
    for [framework, operation, rest @ ..] in PUBLISHED {
        table.row([framework, operation, "100000"].into_iter().chain(rest));
    }
    table
}

fn rows(table: &mut Table, theirs: &[Timed], ours: &[Timed], operations: &[&str]) {
    for (engine, base) in [(theirs, None), (ours, Some(theirs))] {
        let of_table = engine.iter().filter(|timed| operations.contains(&timed.operation.as_str()));
        for (n, timed) in of_table.enumerate() {
            let ratio = base.and_then(|base| ratio(base, timed));
            let seconds = timed.average();
            #[expect(clippy::cast_precision_loss, reason = "fewer than 2^53 messages")]
            let rate = timed.messages as f64 / seconds;
            table.row([
                if n == 0 { framework(&timed.engine).to_owned() } else { String::new() },
                timed.operation.clone(),
                timed.messages.to_string(),
                format!("{seconds:.3}"),
                format!("{rate:.3}"),
                format!("{:.2}", timed.ns(seconds) / 1e3),
                ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{:.1}", improvement(ratio))),
                ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.1}x")),
            ]);
        }
    }
}

/// Returns how many times as fast as the same operation of `base` it is.
fn ratio(base: &[Timed], timed: &Timed) -> Option<f64> {
    let same = match timed.operation.as_str() {
        "encode-loop" => "build-encode",
        operation => operation,
    };
    let base = base.iter().find(|base| base.operation == same)?;
    Some(base.ns(base.average()) / timed.ns(timed.average()))
}

/// Returns how many per cent of the time are saved.
fn improvement(ratio: f64) -> f64 {
    100.0 * (1.0 - 1.0 / ratio)
}

/// Returns what the page concludes, with the figures of this run; `None` without both engines.
pub(super) fn sentence(theirs: &[Timed], ours: &[Timed]) -> Option<String> {
    let of = |operation| ratio(theirs, ours.iter().find(|timed| timed.operation == operation)?);
    let (encode, decode) = (of("encode")?, of("decode")?);
    Some(format!(
        "Of the same message, Fixbolt's encode is {encode:.1} times as fast as Quickfix's and its decode {decode:.1} \
         times, {:.1} times on average: {:.0}% less encode latency and {:.0}% less decode latency. Quickfix's decode \
         builds a message object, Fixbolt's an index of the fields: compare decode-typed, too.",
        f64::midpoint(encode, decode),
        improvement(encode),
        improvement(decode),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timed(engine: &str, operation: &str, seconds: f64) -> Timed {
        Timed { seconds: vec![seconds], cpu_seconds: vec![seconds], ..Timed::of(engine, operation, 100_000) }
    }

    /// The measured table, given the published times.
    fn of_published_times() -> Table {
        let theirs = [timed("QuickFIX C++", "encode", 0.529_955), timed("QuickFIX C++", "decode", 1.526_734)];
        let ours = [timed("fixbolt", "encode", 0.192_002), timed("fixbolt", "decode", 0.974_861)];
        measured(&theirs, &ours)
    }

    #[test]
    fn the_published_times_have_the_published_figures() {
        let table = of_published_times();
        let expected = "\
Framework  Operation  Msgs processed  Time secs  Msgs/sec    Average \u{b5}s/msg  % Improvement  Throughput
Quickfix   encode             100000      0.530  188695.267             5.30              -           -
           decode             100000      1.527   65499.295            15.27              -           -
Fixbolt    encode             100000      0.192  520827.908             1.92           63.8        2.8x
           decode             100000      0.975  102578.727             9.75           36.1        1.6x
";
        let squeezed = |text: &str| {
            text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>()
        };
        assert_eq!(squeezed(&table.to_string()), squeezed(expected));
    }

    #[test]
    fn the_tables_are_laid_out_as_on_the_page() {
        let table = of_published_times();
        let Some(page) = page() else {
            println!("the published page is absent: compared with the copy of its figures only");
            return;
        };
        let lines: Vec<&str> = page.lines().collect();
        let start = lines.iter().position(|line| line.starts_with("| Framework |")).expect("the table");
        // A cell that is empty is missing on the page, or on a line of its own.
        let cells = |text: &str| -> Vec<String> {
            let cells = text.split('|').map(str::trim).filter(|cell| !cell.is_empty());
            cells.map(|cell| cell.replace("Thoughput", "Throughput")).collect()
        };
        assert_eq!(cells(lines[start]), COLUMNS);
        let text = lines[start + 2..start + 8].join(" ");
        let published: Vec<String> = cells(&text);
        let printed: Vec<String> =
            as_published().rows.into_iter().flatten().filter(|cell| !cell.is_empty()).collect();
        assert_eq!(printed, published);
        // Line by line, each cell has the page's form: as many digits after the point, the same
        // signs.
        let form = |cell: &String| {
            cell.rsplit_once('.').map(|(_, digits)| digits.replace(|c: char| c.is_ascii_digit(), "0"))
        };
        for (ours, its) in table.rows.iter().zip(as_published().rows) {
            assert_eq!(ours.iter().map(form).collect::<Vec<_>>(), its.iter().map(form).collect::<Vec<_>>());
            assert_eq!(ours[1], its[1]);
        }
        let closing =
            lines.iter().find(|line| line.contains("In other words")).expect("the closing sentence");
        for part in ["encode", "decode", "average", "latency", "times"] {
            let ours = sentence(
                &[timed("QuickFIX C++", "encode", 2.8), timed("QuickFIX C++", "decode", 1.6)],
                &[timed("fixbolt", "encode", 1.0), timed("fixbolt", "decode", 1.0)],
            )
            .unwrap();
            assert!(closing.contains(part) && ours.contains(part), "{part}");
        }
    }

    #[test]
    fn what_favors_fixbolt_is_said_below_the_table() {
        let notes = beside(&[], &[]).notes.join("\n");
        assert!(notes.contains("one layout") && notes.contains("its encode-loop is compared"), "{notes}");
    }

    #[test]
    fn the_sentence_has_both_factors_and_is_left_out_without_a_rival() {
        let ours = [timed("fixbolt", "encode", 0.25), timed("fixbolt", "decode", 0.5)];
        let theirs = [timed("QuickFIX C++", "encode", 1.0), timed("QuickFIX C++", "decode", 1.0)];
        let text = sentence(&theirs, &ours).unwrap();
        assert!(
            text.contains("is 4.0 times") && text.contains("decode 2.0 times, 3.0 times on average"),
            "{text}"
        );
        assert!(text.contains("75% less encode latency and 50% less decode latency"), "{text}");
        assert_eq!(sentence(&[], &ours), None);
        assert_eq!(measured(&[], &ours).rows[0][6..], ["-", "-"]);
    }

    /// Returns the published page, if it is there.
    fn page() -> Option<String> {
        crate::published::page("fix8-quickfix.txt")
    }
}
