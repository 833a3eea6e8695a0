//! The latency test of the AIM FIX engine (2013): decode, encode and gateway mode of two
//! NewOrderSingles, 10,000,000 times each, and a sweep over the number of tags.
//!
//! Its decode builds an object in which every field has been converted and belongs to header, body
//! or trailer. The row to compare with it is `eager`, which does the same; `index` is what Fixbolt
//! does until somebody asks for a value.

mod object;
mod orders;
mod sweep;
mod table;
mod works;

use fixbolt_workloads::harness::{Control, SLICES};

use crate::batches::{self, Work};
use crate::messages::RING;
use crate::results::{Row, TestReport};

use self::orders::Orders;
use self::works::Tools;

/// Measures every operation this many times.
///
/// # Errors
/// Returns the operation with a wrong result; nothing is timed then.
pub fn run(iterations: u64, control: &Control) -> Result<TestReport, String> {
    let rounds = rounds(iterations);
    let tools = Tools::new();
    let orders = [Orders::aim_97(), Orders::aim_158()];
    let mut works = Vec::new();
    for orders in &orders {
        works.extend(works::of(orders, &tools)?);
    }
    control.begin("aim", SLICES as u64);
    let rows = measured(&mut works, rounds, control);
    let messages = sweep::messages()?;
    let mut works = sweep::works(&messages, &tools)?;
    control.begin("aim: 10 to 200 tags", SLICES as u64);
    // A tenth is enough for longer messages.
    let swept = measured(&mut works, rounds.div_ceil(10), control);
    let mut test = TestReport::new("aim", "AIM's latency test: thread CPU time, medians of slices in turn")
        .setting("iterations", rounds * SLICES * RING)
        .setting("messages", format!("{RING} differing ones"));
    test.tables =
        vec![table::results(&rows), table::as_published(), table::comparison(&rows), sweep::table(&swept)];
    test.rows = rows.into_iter().chain(swept).collect();
    test.notes = table::notes();
    Ok(test)
}

/// Returns how many rounds of a ring each slice has, so that all slices have at least this many
/// messages.
fn rounds(iterations: u64) -> usize {
    usize::try_from(iterations).unwrap_or(usize::MAX).div_ceil(RING * SLICES).max(1)
}

/// Measures and adds the figure per tag, and messages per second.
fn measured(works: &mut [Work<'_>], rounds: usize, control: &Control) -> Vec<Row> {
    let rows = batches::measure(works, SLICES, rounds, control);
    let per_tag = |row: Row| {
        let (ns, tags) = (row.figure().0, row.more.get("tags").copied().unwrap_or(1.0));
        row.with("ns_per_tag", ns / tags).with("messages_per_s", 1e9 / ns)
    };
    rows.into_iter().map(per_tag).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_a_row_for_both_messages_and_each_number_of_tags() {
        let test = run(1, &Control::default()).unwrap();
        for message in ["AIM-97", "AIM-158"] {
            let of: Vec<_> = test.rows.iter().filter(|row| row.message == message).collect();
            let operations: Vec<&str> = of.iter().map(|row| row.operation.as_str()).collect();
            let expected = [
                "eager",
                "eager-no-checksum",
                "index",
                "index-no-checksum",
                "encode",
                "checksum",
                "gateway",
                "gateway-no-checksum",
            ];
            assert_eq!(operations, expected);
            assert!(of.iter().all(|row| row.figure().0 > 0.0 && row.more["messages_per_s"] > 0.0));
        }
        let published =
            |operation: &str| test.rows.iter().find(|row| row.operation == operation).unwrap().published;
        assert_eq!(
            ["eager", "index", "encode", "gateway"].map(published),
            [Some(203.0), None, Some(320.0), Some(309.0)]
        );
        let tags: Vec<f64> = test
            .rows
            .iter()
            .filter(|row| row.message.ends_with(" tags") && row.operation == "eager")
            .map(|row| row.more["tags"])
            .collect();
        assert_eq!(tags, [10.0, 20.0, 50.0, 100.0, 150.0, 200.0]);
    }

    #[test]
    fn the_slices_have_at_least_as_many_messages_as_asked_for() {
        assert_eq!([rounds(1), rounds(1_280), rounds(1_281), rounds(10_000_000)], [1, 1, 2, 7_813]);
    }
}
