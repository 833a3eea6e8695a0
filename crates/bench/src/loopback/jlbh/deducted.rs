//! The list at the end of the page: what is left of each engine's time without that of TCP.

use super::published::DEDUCTED;
use crate::loopback::raw::SLOWER;
use crate::results::{Series, Table, TimeKind};

/// Returns the table; `None` if nothing was measured beside raw TCP.
pub(super) fn table(all: &[Series]) -> Option<Table> {
    let title = "The TCP time deducted: p50, service time, median of the runs, in us";
    let mut table = Table::new(title, ["throughput", "engine", "p50", "TCP", "p50 - TCP"]);
    let us = |ns: f64| format!("{:.2}", ns / 1e3);
    let mut is_slower = false;
    for raw in all.iter().filter(|series| series.engine == "raw TCP") {
        for series in all.iter().filter(|it| it.name == raw.name && it.engine != raw.engine) {
            let valid =
                |series: &Series| series.row(TimeKind::Service, 50.0).filter(|row| row.invalid.is_none());
            let both = valid(series).and_then(|row| row.ns).zip(valid(raw).and_then(|row| row.ns));
            let cells = both.map_or_else(
                || ["-", "-", "INVALID"].map(str::to_owned),
                |(p50, tcp)| [us(p50), us(tcp), us(p50 - tcp)],
            );
            is_slower |= both.is_some_and(|(p50, tcp)| p50 < tcp);
            table.row([raw.name.clone(), series.engine.clone()].into_iter().chain(cells));
        }
    }
    if table.rows.is_empty() {
        return None;
    }
    for (engine, p50, tcp) in DEDUCTED {
        let engine = format!("{engine}, published, another machine, 2016");
        let cells = [p50, tcp, p50 - tcp].map(|us| us.to_string());
        table.row(["all".to_owned(), engine].into_iter().chain(cells));
    }
    table.note("TCP: raw TCP of this run at the same throughput; of the published ones, what their page says, rounded");
    if is_slower {
        table.note(SLOWER);
    }
    Some(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixbolt_workloads::harness::{Run, Times};

    #[test]
    fn each_engine_has_what_is_left_at_each_throughput_and_the_page_has_its_own() {
        let of = |engine: &str, name: &str, ns: u64| {
            let times = |n: u64| Times {
                intended: n * 1_000_000,
                started: n * 1_000_000,
                ended: Some(n * 1_000_000 + ns),
            };
            Series::new("jlbh", engine, name, vec![Run::open(&(0..10).map(times).collect::<Vec<_>>())])
        };
        let mut all = vec![
            of("fixbolt", "1000/s", 1_900),
            of("raw TCP", "1000/s", 1_000),
            of("QuickFIX C++", "1000/s", 2_000),
            of("fixbolt", "parse 1000/s", 900),
        ];
        let expected = "\
            The TCP time deducted: p50, service time, median of the runs, in us \
            throughput engine p50 TCP p50 - TCP \
            1000/s fixbolt 1.90 1.00 0.90 \
            1000/s QuickFIX C++ 2.00 1.00 1.00 \
            all QuickFIX/J, published, another machine, 2016 200 10 190 \
            all Chronicle FIX, published, another machine, 2016 16 10 6 ";
        let squeezed = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ");
        let text = |all: &[Series]| squeezed(&table(all).unwrap().to_string());
        assert!(text(&all).starts_with(expected), "{}", text(&all));
        assert!(!text(&all).contains(SLOWER));
        all[0] = of("fixbolt", "1000/s", 900);
        assert!(text(&all).contains("-0.10") && text(&all).contains(SLOWER), "{}", text(&all));
        all[1] = of("raw TCP", "1000/s", 1_000_000_000);
        assert!(text(&all).contains("fixbolt - - INVALID"), "{}", text(&all));
        assert!(table(&all[3..]).is_none());
    }
}
