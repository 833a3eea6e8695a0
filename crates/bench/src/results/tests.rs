//! The forms of a report, and what is asked of it.

use fixbolt_workloads::harness::{Invalid, Latencies, Run, Usage, Window};
use fixbolt_workloads::machine::Machine;

use super::*;

fn run(times: impl IntoIterator<Item = u64>, invalid: Option<Invalid>) -> Run {
    let mut response = Latencies::default();
    times.into_iter().for_each(|ns| response.add_ns(ns));
    let mut service = Latencies::default();
    service.add_many(900, response.count());
    Run {
        response,
        service,
        delay: Latencies::default(),
        probes: vec![("written".to_owned(), Latencies::default())],
        target_rate: Some(2_000.0),
        offered_rate: Some(2_000.0),
        achieved_rate: Some(if invalid.is_some() { 1_500.0 } else { 1_999.0 }),
        lost: 0,
        late: 0,
        stray: 0,
        invalid,
        windows: vec![Window { begin: 0, count: 3, median: 5_000, max: 9_000 }],
        usage: Usage::default(),
    }
}

fn report() -> Report {
    let mut test = TestReport::new("jlbh", "an order and its report").setting("runs", 2);
    test.rows.push(Row::of_ns("codec", "NOS-222", "index", 61.25).tier("avx2").floor_ns(Some(50.0)));
    test.rows.push(Row::of_value("stream", "NOS-222", "one way", 3.5e6, "messages/s").published(89e3));
    let runs = vec![run((1..=2_000).map(|n| n * 10), None), run((1..=2_000).map(|n| n * 11), None)];
    test.series.push(Series::new("jlbh", "fixbolt", "2000/s", runs).message("NOS-JLBH"));
    let raw = vec![run([4_000; 2_000], None)];
    test.series.push(Series::new("jlbh", "raw TCP", "2000/s", raw).message("NOS-JLBH"));
    test.tables.push(test.series[0].table("At a throughput of 2,000/s", TimeKind::Response));
    test.notes.push("nothing is left out".to_owned());
    Report {
        machine: Machine::here(),
        command: "fixbolt bench jlbh".to_owned(),
        began: "2026-11-23T17:00:00Z".to_owned(),
        partial: false,
        tests: vec![test],
    }
}

#[test]
fn a_figure_beside_a_floor_that_varies_by_more_than_20_per_cent_is_marked_and_explained() {
    let floor = |values: &[f64]| {
        Row::of_ns("rtt", "m", "spinning", 0.0).median_of(Part::Slice, values.to_vec()).unwrap()
    };
    let figure = || Row::of_ns("rtt", "m", "spinning", 12_000.0);
    let unsteady = figure().beside(Some(&floor(&[9_000.0, 12_000.0, 10_000.0])));
    assert_eq!((unsteady.floor_ns, unsteady.unmeasurable), (Some(10_000.0), Some(30.0)));
    assert_eq!(unsteady.micros(1), "12.0~");
    let line = super::unsteady([&unsteady].into_iter()).unwrap();
    assert!(line.starts_with("~ unmeasurable on this machine") && line.ends_with(": spinning (by 30 %)"));
    let few = Row { few: true, ..floor(&[9_000.0, 12_000.0]) };
    for floor in [floor(&[9_000.0, 11_000.0, 10_000.0]), few] {
        let steady = figure().beside(Some(&floor));
        assert_eq!((steady.unmeasurable, steady.micros(1).as_str()), (None, "12.0"));
        assert_eq!(super::unsteady([&steady].into_iter()), None);
    }
}

#[test]
fn the_table_of_runs_has_the_published_layout_and_marks_what_the_samples_do_not_carry() {
    let series = &report().tests[0].series[0];
    let text = series.table("At a throughput of 2,000/s", TimeKind::Response).to_string();
    let expected = "\
At a throughput of 2,000/s

Percentile     run1     run2  % Variation  figure  worst run
50:           10.01    11.01            -   10.51      11.01
90:           18.02    19.81            -   18.91      19.81
99:          19.82*   21.79*            -  20.80*      21.79
99.9:        19.98*   21.98*            -  21.98*          -
99.99:       20.00*   22.00*            -  22.00*          -
worst:        20.01    22.00            -   22.00          -
rate/s:        1999     1999            -    1999       1999
figure: median of the runs up to 99, all of them together above
* fewer than 100 samples lie above it
";
    let squeezed = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let (found, expected) = (squeezed(&text), squeezed(expected));
    assert_eq!(found.len(), expected.len(), "{text}");
    for (found, expected) in found.iter().zip(&expected) {
        // A histogram has three digits.
        let number = |text: &str| text.trim_end_matches('*').parse::<f64>().ok();
        match (number(found), number(expected)) {
            (Some(a), Some(b)) => assert!(
                (a - b).abs() <= b / 400.0 && found.ends_with('*') == expected.ends_with('*'),
                "{text}"
            ),
            _ => assert_eq!(found, expected, "{text}"),
        }
    }
}

#[test]
fn an_invalid_run_says_so_below_its_table() {
    let invalid = run([5_000; 10], Some(Invalid::SlowSystem(1_500.0, 2_000.0)));
    let text =
        Series::new("jlbh", "fixbolt", "2000/s", vec![invalid]).table("", TimeKind::Response).to_string();
    assert!(text.contains("run1 is INVALID: only 1500 of 2000 pieces per second were completed"), "{text}");
}

#[test]
fn a_report_survives_its_lines_of_json() {
    let report = report();
    let lines = json_lines(&report);
    assert!(lines.lines().all(|line| line.starts_with(r#"{"record":""#)), "{lines}");
    let row = r#"{"record":"row","test":"codec","engine":"fixbolt","message":"NOS-222","operation":"index","tier":"avx2","ns":61.25,"statistic":{"of":"one"},"floor_ns":50.0,"published":null}"#;
    assert!(lines.lines().any(|line| line == row), "{lines}");
    assert!(lines.contains(r#""percentile":99.0"#) && lines.contains(r#""carried":false"#));
    let again = from_json_lines(&lines).unwrap();
    assert_eq!(json_lines(&again), lines);
    assert_eq!(again.tests, report.tests);
}

#[test]
fn what_is_no_report_is_refused_with_its_line() {
    let lines = json_lines(&report());
    let refused = |text: &str, why: &str| {
        let error = from_json_lines(text).unwrap_err();
        assert!(error.contains(why), "{error}");
    };
    refused("", "there is no report in it");
    refused("{}", "line 1: missing field `record`");
    refused(
        &lines.replacen("\"format\":2", "\"format\":1", 1),
        "line 1: the format is 1; this program reads 2",
    );
    let headless: Vec<&str> = lines.lines().skip(1).collect();
    refused(&headless.join("\n"), "line 1: the first line must be a report");
    refused(&format!("{lines}{lines}"), "a second report begins");
    let first = lines.lines().next().unwrap();
    let row = lines.lines().find(|line| line.contains("\"row\"")).unwrap();
    refused(&format!("{first}\n{row}"), "line 2: it belongs to no test");
}

#[test]
fn each_figure_is_a_line_of_csv() {
    let csv = csv(&report());
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines[1], "codec,fixbolt,NOS-222,index avx2,,one measurement,61.25,ns,,50,,,yes,,");
    assert_eq!(lines[2], "stream,fixbolt,NOS-222,one way,,one measurement,3500000,messages/s,,,,89000,yes,,");
    // Two rows; three runs with response and service times.
    assert_eq!(lines.len(), 1 + 2 + 3 * 2 * 6);
    assert!(lines[3].contains(",p50,") && lines[3].ends_with(",yes,yes,"), "{csv}");
    assert!(lines[6].contains(",p99.9,") && lines[6].ends_with(",yes,no,"), "{csv}");
    assert!(lines[3..].iter().all(|line| line.split(',').count() == 15), "{csv}");
}

#[test]
fn a_figure_that_was_only_published_has_no_value() {
    let mut report = report();
    let row =
        Row { ns: None, ..Row::of_ns("codec", "NOS-222", "index", 0.0).engine("Fix8").published(9_750.0) };
    let table = Table::of_rows("", std::slice::from_ref(&row), &[]);
    assert_eq!(table.rows[0][3..], ["-", "one measurement", "9750.0"]);
    report.tests[0].rows.push(row);
    assert!(
        csv(&report).contains("\ncodec,Fix8,NOS-222,index,,one measurement,,ns,,,,9750,yes,,\n"),
        "{}",
        csv(&report)
    );
    assert!(compare(&report, &report).differences.iter().all(|it| !it.key.contains("Fix8")));
}

#[test]
fn a_distribution_of_percentiles_ends_at_the_maximum_and_counts_every_sample() {
    let text = hgrm(&report().tests[0].series[0]);
    let lines: Vec<Vec<&str>> = text
        .lines()
        .skip(2)
        .take_while(|line| !line.starts_with('#'))
        .map(|line| line.split_whitespace().collect())
        .collect();
    let column = |n: usize| lines.iter().map(|line| line[n].parse::<f64>().unwrap()).collect::<Vec<_>>();
    for n in [0, 1, 2] {
        assert!(column(n).is_sorted(), "{text}");
    }
    assert_eq!((lines.last().unwrap()[1], lines.last().unwrap()[2]), ("1.000000000000", "4000"));
    let half = lines.iter().find(|line| line[1] == "0.500000000000").unwrap();
    assert!((half[0].parse::<f64>().unwrap() - 10.5).abs() < 0.1, "{text}");
    assert!(text.contains("Total count    =         4000"), "{text}");
}

#[test]
fn conditions_select_figures_of_fixbolt_and_judge_them() {
    let report = report();
    let judged = |text: &str| {
        let judgements = Assertion::parse(text).unwrap().judge(&report)?;
        Ok::<_, String>(judgements.iter().map(|judgement| judgement.kept).collect::<Vec<_>>())
    };
    assert_eq!(judged("p50<=11us"), Ok(vec![true]));
    assert_eq!(judged("p50 < 10us"), Ok(vec![false]));
    assert_eq!(judged("jlbh 2000/s: worst <= 0.0221ms"), Ok(vec![true]));
    assert_eq!(judged("rate>=1980"), Ok(vec![true]));
    assert_eq!(judged("rate>=2_000/s"), Ok(vec![false]));
    assert_eq!(judged("2000/s rate: rate>=1980"), Ok(vec![true]));
    assert_eq!(judged("NOS-222 index: ns<=61.25"), Ok(vec![true]));
    assert_eq!(judged("jlbh fixbolt NOS-JLBH 2000/s service p50: p50<=1us"), Ok(vec![true]));
    let nothing = judged("10000/s: p50<=20us").unwrap_err();
    assert_eq!(
        nothing,
        "--assert \"10000/s: p50<=20us\": no figure has this name; there are jlbh fixbolt NOS-JLBH 2000/s response p50"
    );
    let nothing = judged("codec: p98<=20us").unwrap_err();
    assert_eq!(
        nothing,
        "--assert \"codec: p98<=20us\": no figure has this name; there are jlbh fixbolt NOS-JLBH 2000/s response p98"
    );
    // The baseline is not Fixbolt's.
    assert!(judged("raw TCP: p50<=1s").is_err());
    for (text, why) in [
        ("p99", "it has none of <, <=, >, >="),
        ("q99<=20us", "no figure is called \"q99\""),
        ("p101<=20us", "no figure is called \"p101\""),
        ("p99<=fast", "\"fast\" is not a figure"),
        ("p99<=20", "the unit \"\" does not fit"),
        ("rate>=20us", "the unit \"us\" does not fit"),
    ] {
        let error = Assertion::parse(text).unwrap_err();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn a_condition_with_a_name_is_on_the_one_figure_that_has_it() {
    let mut report = report();
    let rows = &mut report.tests[0].rows;
    for (operation, tier) in [("index", "scalar"), ("index-only", "avx2"), ("index start", "avx2")] {
        rows.push(Row::of_ns("codec", "NOS-222", operation, 90.0).tier(tier));
    }
    rows.push(Row::of_ns("codec", "NOS-222-64", "index", 90.0).tier("avx2"));
    let judged = |text: &str| {
        let judgements = Assertion::parse(text).unwrap().judge(&report)?;
        Ok::<_, String>(judgements.iter().map(|judgement| judgement.what.clone()).collect::<Vec<_>>())
    };
    let only = |key: &str, figure: &str| Ok(vec![format!("{key}: {figure} ns, one measurement")]);
    // Neither a part of a word nor a part of an operation is a name.
    assert_eq!(judged("NOS-222 index avx2: ns<=70"), only("codec fixbolt NOS-222 index avx2", "61.2"));
    assert_eq!(judged("index start: ns<=70"), only("codec fixbolt NOS-222 index start avx2", "90.0"));
    assert_eq!(judged("index scalar: ns<=70"), only("codec fixbolt NOS-222 index scalar", "90.0"));
    assert_eq!(
        judged("NOS-222 index: ns<=70").unwrap_err(),
        "--assert \"NOS-222 index: ns<=70\": 2 figures have this name, say which: codec fixbolt NOS-222 index avx2, codec fixbolt NOS-222 index scalar"
    );
    assert!(judged("codec: ns<=70").unwrap_err().contains(": 5 figures have this name, say which: "));
    assert!(judged("ind: ns<=70").unwrap_err().contains("no figure has this name; there are codec fixbolt "));
    assert!(judged("avx2 index: ns<=70").unwrap_err().contains("no figure has this name"));
    assert_eq!(judged("ns<=70").map(|all| all.len()), Ok(5));
}

#[test]
fn a_condition_on_a_percentile_of_too_few_samples_is_told() {
    let report = report();
    let few = |text: &str| Assertion::parse(text).unwrap().judge(&report).unwrap().remove(0).few;
    // Of 2,000 samples, 20 lie above p99.
    assert_eq!(
        ["p50<=1s", "p99<=1s", "p99.9<=1s", "worst<=1s", "rate>=1"].map(few),
        [false, true, true, false, false]
    );
}

#[test]
fn an_invalid_run_keeps_no_condition_on_its_times() {
    let mut report = report();
    report.tests[0].series[0].runs[1].invalid = Some(Invalid::Lost(1));
    let judged = |text: &str| Assertion::parse(text).unwrap().judge(&report).unwrap().remove(0);
    let judgement = judged("p50<=1s");
    assert!(!judgement.kept && judgement.what.ends_with(", INVALID"), "{judgement:?}");
    assert!(judged("rate>=1000").kept);
}

#[test]
fn a_run_in_which_nothing_ended_achieved_no_rate() {
    let mut report = report();
    let dead = Run { achieved_rate: None, ..run([], Some(Invalid::Lost(2_000))) };
    report.tests[0].series[0].runs = vec![dead.clone(), dead, run([5_000; 100], None)];
    assert!(!Assertion::parse("rate>=1").unwrap().judge(&report).unwrap()[0].kept);
}

#[test]
fn the_median_of_two_runs_is_not_the_better_one() {
    let mut report = report();
    report.tests[0].series[0].runs = vec![run([10_000; 100], None), run([90_000; 100], None)];
    let judged = |text: &str| Assertion::parse(text).unwrap().judge(&report).unwrap().remove(0).kept;
    assert!(!judged("p50<=40us") && judged("p50<=51us"));
}

#[test]
fn a_distribution_has_the_samples_of_every_run_and_says_that_one_is_invalid() {
    let mut series = report().tests[0].series[0].clone();
    assert!(!hgrm(&series).contains("INVALID"));
    series.runs[0].invalid = Some(Invalid::Lost(7));
    let text = hgrm(&series);
    assert!(text.contains("Total count    =         4000"), "{text}");
    assert!(text.ends_with("#[INVALID: 1 of 2 runs, the first because 7 samples were lost]\n"), "{text}");
}

#[test]
fn a_run_that_became_invalid_is_worse_and_one_that_was_invalid_is_not_judged() {
    let valid = report();
    let mut invalid = report();
    invalid.tests[0].series[0].runs[1].invalid = Some(Invalid::Lost(1));
    let compared = compare(&valid, &invalid);
    let worse: Vec<&str> = compared.worse(0.05).map(|it| it.key.as_str()).collect();
    let times = |times: &str| {
        ["p50", "p90", "p99"].map(|name| format!("jlbh fixbolt NOS-JLBH 2000/s {times} {name}"))
    };
    assert_eq!(worse, [times("response"), times("service")].concat());
    assert!(compared.table(0.05).rows.iter().any(|row| row[5] == "INVALID"));
    assert_eq!(compare(&invalid, &valid).worse(0.05).count(), 0);
    assert_eq!(compare(&invalid, &invalid).worse(0.05).count(), 0);
}

#[test]
fn a_figure_in_another_unit_is_named_as_missing() {
    let first = report();
    let mut second = report();
    second.tests[0].rows[1].unit = Some("orders/s".to_owned());
    let compared = compare(&first, &second);
    assert_eq!(compared.only_first, ["stream fixbolt NOS-222 one way"]);
    assert_eq!(compared.only_second, compared.only_first);
}

#[test]
fn a_comparison_judges_what_both_have_and_names_what_only_one_has() {
    let first = report();
    let mut second = report();
    let test = &mut second.tests[0];
    test.rows[0].ns = Some(70.0);
    test.rows[1].value = Some(4e6);
    test.series[1].runs = vec![run([9_000; 10], None)];
    test.rows.push(Row::of_ns("codec", "NOS-222", "encode", 100.0));
    let compared = compare(&first, &second);
    let worse: Vec<&str> = compared.worse(0.05).map(|it| it.key.as_str()).collect();
    assert_eq!(worse, ["codec fixbolt NOS-222 index avx2"]);
    assert_eq!(compared.only_second, ["codec fixbolt NOS-222 encode"]);
    let change = |key: &str| compared.differences.iter().find(|it| it.key == key).unwrap().worse_by;
    // A higher rate is better; the baseline is slower, but is not judged.
    assert!(
        change("stream fixbolt NOS-222 one way") < -0.1
            && change("jlbh raw TCP NOS-JLBH 2000/s response p50") > 1.0
    );
    assert_eq!((compared.only_first.len(), compared.warnings.len()), (0, 0));
    second.machine.processor = "another".to_owned();
    second.partial = true;
    assert_eq!(compare(&first, &second).warnings.len(), 2);
}

#[test]
fn a_figure_that_is_compared_with_one_of_another_statistic_is_warned_of() {
    let of = |processes: usize| {
        let mut report = report();
        let mut codec = TestReport::new("codec", "");
        for (operation, statistic) in
            [("validate", Statistic::One), ("index", Statistic::median(Part::Process, processes))]
        {
            codec.rows.push(Row { statistic, ..Row::of_ns("codec", "AIM-97", operation, 40.0) });
        }
        report.tests.push(codec);
        report
    };
    let compared = compare(&of(1), &of(7));
    let [warning] = compared.warnings.as_slice() else { panic!("{:?}", compared.warnings) };
    assert_eq!(
        warning,
        "figures are compared with those of another statistic (1), such as codec fixbolt AIM-97 index: one measurement in the first, median of 7 processes in the second"
    );
    assert!(compare(&of(7), &of(7)).warnings.is_empty());
}

#[test]
fn figures_of_messages_that_were_generated_from_other_seeds_are_not_compared() {
    let generated = |seed: &str, ns| {
        let mut report = report();
        let mut codec = TestReport::new("codec", "").setting("seed", seed);
        codec.rows.push(Row::of_ns("codec", "random-44", "index", ns).tier("avx2"));
        codec.rows.push(Row::of_ns("codec", "AIM-97", "index", 40.0).tier("avx2"));
        report.tests.push(codec);
        report
    };
    let key = "codec fixbolt random-44 index avx2";
    let has = |compared: &Comparison, key: &str| compared.differences.iter().any(|it| it.key == key);
    let other = compare(&generated("7", 100.0), &generated("8", 200.0));
    assert!(!has(&other, key) && has(&other, "codec fixbolt AIM-97 index avx2"));
    assert_eq!((other.worse(0.05).count(), other.other_seeds.as_slice()), (0, &[key.to_owned()][..]));
    let [warning] = other.warnings.as_slice() else { panic!("{:?}", other.warnings) };
    assert!(warning.contains("the seed is 7 in the first and 8 in the second"), "{warning}");
    assert!(
        other.table(0.05).to_string().contains("\nof another seed: codec fixbolt random-44 index avx2\n")
    );
    let same = compare(&generated("7", 100.0), &generated("7", 200.0));
    assert!(has(&same, key) && same.other_seeds.is_empty() && same.warnings.is_empty());
    assert_eq!(same.worse(0.05).count(), 1);
}
