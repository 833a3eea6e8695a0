//! Reports that have everything a page must cope with.

use std::time::Duration;

use fixbolt_workloads::harness::{Invalid, Latencies, Run, Usage, Window};
use fixbolt_workloads::machine::Machine;
use fixbolt_workloads::random::Random;

use crate::results::{Report, Row, Series, Table, TestReport, TimeKind};

/// A text that would break a page which does not escape it.
pub(super) const EVIL: &str =
    "</title></svg><script src=\"http://evil.example/x.js\">alert('1')</script>&amp;\u{0}\u{202e}";

/// How a run is to look.
#[derive(Clone, Copy)]
struct Look {
    /// Per second.
    rate: f64,
    pieces: u64,
    /// The usual service time, in nanoseconds.
    usual: f64,
    /// How long the system stalls, and how often, in nanoseconds.
    stall: Option<(u64, u64)>,
    open: bool,
    seed: u64,
}

/// Returns a run of a system with one server, as the harness would measure it.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
fn run(look: Look) -> Run {
    let mut random = Random::new(look.seed);
    let (mut response, mut service, mut delay) = <(Latencies, Latencies, Latencies)>::default();
    let interval = 1e9 / look.rate;
    let (mut free, mut times) = (0u64, Vec::new());
    for n in 0..look.pieces {
        let due = if look.open { (n as f64 * interval) as u64 } else { free };
        let mut begin = due.max(free);
        if let Some((stall, every)) = look.stall {
            let since = begin % every;
            if since < stall {
                begin += stall - since;
            }
        }
        let uniform = ((random.next() >> 11) + 1) as f64 / (1u64 << 53) as f64;
        // Most are near the usual time, a few far above.
        let took = (look.usual * (0.85 + 0.15 * uniform.powf(-0.35))) as u64;
        free = begin + took;
        response.add_ns(free - due);
        service.add_ns(took);
        delay.add_ns(begin - due);
        times.push((due, free - due));
    }
    let windows = times.chunks(times.len().div_ceil(200).max(1)).map(|pieces| {
        let mut sorted: Vec<u64> = pieces.iter().map(|(_, ns)| *ns).collect();
        sorted.sort_unstable();
        let (median, max) = (sorted[sorted.len() / 2], sorted[sorted.len() - 1]);
        Window { begin: pieces[0].0, count: pieces.len() as u64, median, max }
    });
    let windows = windows.collect();
    let target = look.open.then_some(look.rate);
    let achieved = look.pieces as f64 / (free as f64 / 1e9);
    Run {
        probes: vec![("written".to_owned(), service.clone())],
        response: if look.open { response } else { Latencies::default() },
        service,
        delay: if look.open { delay } else { Latencies::default() },
        target_rate: target,
        offered_rate: target,
        achieved_rate: Some(achieved),
        lost: 0,
        late: 0,
        stray: 0,
        invalid: target
            .filter(|target| achieved < target * 0.99)
            .map(|target| Invalid::SlowSystem(achieved, target)),
        windows,
        usage: Usage {
            cpu: Duration::from_nanos(service_ns(look)),
            voluntary_switches: Some(look.pieces),
            involuntary_switches: Some(12),
            minor_faults: Some(3),
            major_faults: None,
        },
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
fn service_ns(look: Look) -> u64 {
    (look.usual * look.pieces as f64) as u64
}

/// Returns a report with everything: rates, stalls, invalid runs, baselines, rivals, published
/// figures, a closed loop, and texts that nobody should have chosen.
pub(super) fn report() -> Report {
    let mut machine = Machine::here();
    let mut random = Random::new(1);
    (0..200_000).for_each(|_| machine.jitter.add_ns(20 + random.next() % 7));
    // The worst places a tick at the top of its axis.
    [900, 4_000, 72_300].into_iter().for_each(|ns| machine.jitter.add_ns(ns));
    Report {
        machine,
        command: "fixbolt bench all".to_owned(),
        began: "20261123-17:00:00".to_owned(),
        partial: true,
        tests: vec![
            jlbh(),
            antenna(),
            codec(),
            stream(),
            closed(),
            evil(),
            TestReport::new("nothing", "no results"),
        ],
    }
}

fn jlbh() -> TestReport {
    let mut test = TestReport::new("jlbh", "an order and its report over loopback TCP")
        .setting("runs", 3)
        .setting("warm-up", "20,000")
        .setting("journal", "on")
        .setting("text log", "QuickFIX's format");
    for rate in [2_000.0, 10_000.0, 50_000.0, 200_000.0f64] {
        for (engine, usual, stall) in [
            ("fixbolt", 4_800.0, (rate > 9_000.0 && rate < 11_000.0).then_some((20_000_000, 250_000_000))),
            ("QuickFIX/J 2.3.1", 19_000.0, Some((2_000_000, 400_000_000))),
            ("raw TCP", 2_900.0, None),
        ] {
            let look = |seed| Look { rate, pieces: 20_000, usual, stall, open: true, seed };
            let runs = (1..=3).map(|seed| run(look(seed))).collect();
            test.series.push(Series::new("jlbh", engine, format!("{rate}/s"), runs).message("NOS-JLBH"));
        }
    }
    test.series[0].runs[1].invalid = Some(Invalid::Lost(17));
    test.series[0].runs[1].lost = 17;
    for series in test.series.iter().filter(|series| series.engine == "fixbolt") {
        test.tables
            .push(series.table(format!("fixbolt at a throughput of {}", series.name), TimeKind::Response));
    }
    test.notes.push("Both engines run in this process, on two shared cores.".to_owned());
    test
}

fn antenna() -> TestReport {
    let mut test = TestReport::new("antenna", "the six configurations of a page, by their published names");
    for (n, name) in
        ["default", "aggressive", "balanced", "optimized.hard.spin", "balanced.onload", "optimized.hard"]
            .into_iter()
            .enumerate()
    {
        #[allow(clippy::cast_precision_loss)]
        let usual = 52_000.0 / (1.0 + n as f64);
        let look = Look { rate: 1_000.0, pieces: 2_000, usual, stall: None, open: true, seed: n as u64 };
        test.series.push(Series::new("antenna", "fixbolt", name, vec![run(look)]));
    }
    let mut table = Table::new(
        "Round trip in us, with what the page says",
        ["configuration", "min", "max", "average", "published average"],
    );
    table.row(["default", "47.1", "190.7", "51.6", "51.6"]).row([
        "optimized.hard",
        "8.3",
        "13.2*",
        "8.7",
        "8.7",
    ]);
    test.tables.push(table);
    test
}

fn codec() -> TestReport {
    let mut test = TestReport::new("codec", "thread CPU time per message").setting("rounds", 31);
    for (message, factor) in [("NOS-222", 1.0), ("ER-235", 1.1), ("NewOrderMultileg", 7.0)] {
        for (operation, ns, published) in [
            ("index", 61.25, Some(203.0)),
            ("validate", 190.0, None),
            ("typed-all", 262.0, Some(9_750.0)),
            ("encode", 187.0, Some(1_920.0)),
        ] {
            let row = |tier, ns| {
                Row::of_ns("codec", message, operation, ns).tier(tier).floor_ns(Some(48.0 * factor))
            };
            test.rows.push(row("avx2", ns * factor).with("instructions", ns * 4.0));
            test.rows.push(row("scalar", ns * factor * 2.4));
            let mut rival =
                Row::of_ns("codec", message, operation, ns * factor * 31.0).engine("QuickFIX C++");
            rival.published = published.map(|published| published * 2.7);
            test.rows.push(rival);
            if let Some(published) = published {
                let fix8 = Row::of_ns("codec", message, operation, 0.0).engine("Fix8").published(published);
                test.rows.push(Row { ns: None, ..fix8 });
            }
        }
    }
    test.tables.push(Table::of_rows("", &test.rows, &[]));
    test
}

fn stream() -> TestReport {
    let mut test = TestReport::new("stream", "one way, as fast as it goes");
    for (sessions, rate) in [(1, 3.5e6), (10, 2.9e6), (100, 1.2e6)] {
        let operation = format!("{sessions} sessions");
        test.rows.push(Row::of_value("stream", "NOS-222", &operation, rate, "messages/s").published(89e3));
        test.rows.push(
            Row::of_value("stream", "NOS-222", &operation, rate / 9.0, "messages/s").engine("QuickFIX C++"),
        );
    }
    test
}

fn closed() -> TestReport {
    let mut test = TestReport::new("rtt", "a closed loop, with stalls");
    let look = Look {
        rate: 1e5,
        pieces: 100_000,
        usual: 8_000.0,
        stall: Some((9_000_000, 90_000_000)),
        open: false,
        seed: 5,
    };
    test.series.push(Series::new("rtt", "fixbolt", "spin", vec![run(look)]));
    test.series.push(Series::new(
        "rtt",
        "raw TCP",
        "spin",
        vec![run(Look { usual: 5_000.0, stall: None, ..look })],
    ));
    let mut nothing = run(Look { pieces: 1, ..look });
    nothing.service = Latencies::default();
    nothing.windows.clear();
    nothing.invalid = Some(Invalid::Interrupted);
    test.series.push(Series::new("rtt", "fixbolt", "blocking", vec![nothing]));
    test.series.push(Series::new("rtt", "fixbolt", "epoll", Vec::new()));
    test
}

fn evil() -> TestReport {
    let mut test = TestReport::new(EVIL, EVIL).setting(EVIL, EVIL);
    test.rows.push(Row::of_value("evil", EVIL, EVIL, 12.0, EVIL).engine(EVIL).tier(EVIL).with(EVIL, 1.0));
    test.rows.push(Row::of_ns("evil", &"long name ".repeat(30), &"x".repeat(300), f64::MAX).published(0.0));
    test.rows.push(Row::of_ns("evil", "m", "not a number", f64::NAN).floor_ns(Some(f64::INFINITY)));
    let look = Look { rate: 1_000.0, pieces: 100, usual: 1e9, stall: None, open: true, seed: 9 };
    let mut only = run(look);
    only.probes = vec![(EVIL.to_owned(), only.service.clone())];
    test.series.push(Series::new("evil", EVIL, EVIL, vec![only]));
    let mut table = Table::new(EVIL, [EVIL, "*"]);
    table.row([EVIL, EVIL]).row(["", "1*"]).note(EVIL);
    test.tables.push(table);
    test.notes.push(EVIL.to_owned());
    test
}
