//! `fixbolt bench` with the published tests of the codec: their tables, rows and wrong usage.

mod command;

use command::{Ended, bench, run};

/// Runs the command where no rival's program is.
fn alone(arguments: &[&str]) -> Ended {
    let mut command = bench();
    command.args(arguments).env("FIXBOLT_PEERS", "no/peers/are/here");
    command.output().expect("the command starts").into()
}

/// Returns the rows of an output in JSON as engine, message and operation.
fn keys(out: &str) -> Vec<String> {
    let rows = out.lines().map(|line| serde_json::from_str(line).unwrap());
    rows.filter(|line: &serde_json::Value| line["record"] == "row")
        .map(|row| {
            assert!(row["ns"].as_f64() > Some(0.0), "{row}");
            ["engine", "message", "operation"].map(|key| row[key].as_str().unwrap()).join(" ")
        })
        .collect()
}

#[test]
fn fix8_codec_has_the_columns_of_the_page_and_its_figures_below() {
    let ended = alone(&["fix8-codec", "--messages", "500", "--runs", "2"]);
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    let head = "Framework  Operation  Msgs processed  Time secs";
    assert_eq!(ended.out.lines().filter(|line| line.starts_with(head)).count(), 2, "{}", ended.out);
    for line in ["Published, another machine, 2013", "0.529", "Fixbolt ", "encode-loop", "ns here"] {
        assert!(ended.out.contains(line), "{line} in {}", ended.out);
    }
    let ended = alone(&["fix8-codec", "--messages", "500", "--runs", "2", "-o", "json"]);
    let keys = keys(&ended.out);
    for operation in ["encode", "decode", "encode-loop", "decode-typed", "decode-validated"] {
        assert!(keys.contains(&format!("fixbolt NOS-222 {operation}")), "{keys:?}");
    }
    for wrong in [&["--messages", "0"][..], &["--runs", "0"], &["--short", "--runs", "1"], &["NOS"]] {
        assert_eq!(run(&[&["fix8-codec"], wrong].concat()).status, 2, "{wrong:?}");
    }
}

#[test]
fn aim_has_the_rows_of_the_page_and_the_sweep() {
    let ended = run(&["aim", "--iterations", "1"]);
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    for line in [
        "Performance Results (Time is in Nano Seconds)",
        "GatewayMode Decode+Check+Encode",
        "4,926,108",
        "Decoding 10 to 200 tags",
    ] {
        assert!(ended.out.contains(line), "{line} in {}", ended.out);
    }
    let ended = run(&["aim", "--iterations", "1", "-o", "json"]);
    let keys = keys(&ended.out);
    for key in ["AIM-97 eager", "AIM-158 gateway", "AIM-97 checksum", "200 tags eager"] {
        assert!(keys.contains(&format!("fixbolt {key}")), "{keys:?}");
    }
    for wrong in [&["--iterations", "0"][..], &["--iterations", "ten"], &["--short", "--iterations", "9"]] {
        assert_eq!(run(&[&["aim"], wrong].concat()).status, 2, "{wrong:?}");
    }
}

#[test]
fn fsfix_has_the_rows_of_the_page_and_says_that_the_rival_is_absent() {
    let ended = alone(&["fsfix", "--rounds", "1"]);
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    for line in ["write NewOrderMultiLeg", "107.2047 us", "Every operation", "FIXBOLT_PEERS names"] {
        assert!(ended.out.contains(line), "{line} in {}", ended.out);
    }
    let ended = alone(&["fsfix", "--rounds", "1", "-o", "json"]);
    let keys = keys(&ended.out);
    for key in
        ["NewOrderMultileg write", "QuoteStatusRequest-nested read-validated", "MarketDataRequest parse"]
    {
        assert!(keys.contains(&format!("fixbolt {key}")), "{keys:?}");
    }
    for wrong in [&["--rounds", "0"][..], &["--rounds", "-1"], &["--short", "--rounds", "9"]] {
        assert_eq!(run(&[&["fsfix"], wrong].concat()).status, 2, "{wrong:?}");
    }
}

#[test]
fn antenna_has_the_tables_of_the_page_and_the_times_of_every_order() {
    let folder = command::directory("antenna");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (csv, json) = (path("latency.csv"), path("a.json"));
    let small =
        ["--configuration", "balanced,Balanced", "--messages", "20", "--warm-up", "5", "--slices", "2"];
    let outputs = ["--latency-csv", &csv, "--json", &json];
    let ended = alone(&[&["antenna"][..], &small, &outputs].concat());
    assert_eq!((ended.status, ended.err.as_str()), (0, ""), "{}", ended.out);
    for line in ["Aggressive Mode", "VerifyRepeatingGroupBounds", "RTT distribution (percentiles)", "159.5"] {
        assert!(ended.out.contains(line), "{line} in {}", ended.out);
    }
    let rows = keys(&std::fs::read_to_string(&json).unwrap());
    for row in ["Balanced", "Balanced everything on", "Balanced untyped"] {
        let figures = rows.iter().filter(|it| **it == format!("fixbolt NOS-FA {row}"));
        assert_eq!(figures.count(), 3, "{rows:?}");
    }
    let csv = std::fs::read_to_string(&csv).unwrap();
    assert!(csv.starts_with("row,slice,message,due_ns,put_ns,parsed_ns,rtt_us\n"), "{csv}");
    assert_eq!(csv.lines().filter(|line| line.starts_with("fixbolt Balanced,")).count(), 20);
}

#[test]
fn antenna_names_the_rows_of_a_thread_pool_after_its_workers() {
    let small =
        ["--configuration", "default,aggressive", "--messages", "8", "--warm-up", "2", "--slices", "1"];
    let ended = alone(&[&["antenna", "--workers", "3", "-o", "json"][..], &small].concat());
    assert_eq!((ended.status, ended.err.as_str()), (0, ""), "{}", ended.out);
    assert!(ended.out.contains(r#"["workers of a pool","3"]"#), "{}", ended.out);
    assert!(ended.out.contains("3 workers, epoll") && ended.out.contains("a worker, epoll"), "{}", ended.out);
    let rows = keys(&ended.out);
    for (row, number) in
        [("Default 3 workers", 3), ("Default 3 workers untyped", 3), ("Aggressive", 3), ("Default", 0)]
    {
        let figures = rows.iter().filter(|it| **it == format!("fixbolt NOS-FA {row}"));
        assert_eq!(figures.count(), number, "{row}: {rows:?}");
    }
}

/// Runs the test with a rival's program that does this.
#[cfg(unix)]
fn beside(name: &str, script: &str) -> Ended {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = command::directory(name);
    let build = folder.join("quickfix-cpp").join("build");
    std::fs::create_dir_all(&build).unwrap();
    let program = build.join("quickfix-cpp-bench");
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let small = ["--configuration", "default", "--messages", "20", "--warm-up", "5", "--slices", "2"];
    let mut command = bench();
    command.args(["antenna"]).args(small).env("FIXBOLT_PEERS", &folder);
    command.output().expect("the command starts").into()
}

#[cfg(unix)]
#[test]
fn a_rival_that_fails_costs_antenna_its_own_rows_only() {
    let ended = beside("failing-rival", "echo no library >&2; exit 3");
    assert_eq!((ended.status, ended.err.as_str()), (0, ""), "{}", ended.out);
    for validation in ["validation", "no validation"] {
        let note = format!("QuickFIX C++ {validation}: 0 of 2 slices were measured: ");
        assert!(ended.out.contains(&note), "{}", ended.out);
    }
    assert!(ended.out.contains("no library") && ended.out.contains("fixbolt  Default"), "{}", ended.out);
}

#[cfg(unix)]
#[test]
fn an_interrupt_while_a_rival_runs_leaves_antenna_what_was_measured() {
    // It reaches the terminal's processes in any order.
    for (name, interrupt) in
        [("parent-first", "kill -INT $PPID; exec sleep 20"), ("rival-first", "kill -INT $$")]
    {
        let script = format!("case \"$*\" in *'--validate Y'*) {interrupt};; *) exit 3;; esac");
        let ended = beside(name, &script);
        assert_eq!(ended.status, 130, "{name}: {}", ended.err);
        assert!(ended.out.contains("fixbolt  Default") && ended.out.contains("INTERRUPTED"), "{}", ended.out);
    }
}

#[test]
fn antenna_refuses_wrong_usage_and_says_what_is_wrong() {
    for (wrong, says) in [
        (&["--rate", "0"][..], "0 is not in 1..=1000000"),
        (&["--messages", "1"], "1 is not in 2..=10000000"),
        (&["--configuration", "fast"], "there is no such configuration; there are Default, Aggressive"),
        (&["--cores", "1023,1022"], "--cores: core 1023 does not exist"),
        (&["--cores", "0"], "--cores: name two"),
        (&["--server", "--cores", "0,1"], "a server has one worker"),
        (&["--workers", "0"], "0 is not in 1..=64"),
        (
            &["--workers", "2", "--configuration", "balanced"],
            "--workers 2: only Default has a thread pool; name it",
        ),
        (&["--server", "--workers", "2", "--cores", "0"], "the workers of a thread pool are not pinned"),
        (&["--server", "nowhere"], "invalid socket address"),
        (&["--server", "--client", "a:1"], "cannot be used with"),
        (&["--server", "--slices", "2"], "cannot be used with"),
        (&["--client", "here"], "write HOST:PORT"),
        (&["--client", "a:1", "--configuration", "default,balanced"], "there is one at a time"),
        (&["--validation", "nothing"], "--validation is for --server and --client"),
        (&["--onload-profile", "latency"], "--onload-profile is for --server and --client"),
        (&["--server", "--onload-profile", "latency"], "onload --profile=latency fixbolt bench antenna"),
        (&["--latency-csv", "/no/such/folder/a.csv"], "cannot write /no/such/folder/a.csv"),
        (&["--latency-csv", "a.csv", "--csv", "a.csv"], "a.csv is named for two forms of the results"),
        (&["--client", "a:1", "--cores", "0,0"], "the thread that puts orders need one each"),
    ] {
        let ended = run(&[&["antenna"], wrong].concat());
        assert!(ended.status == 2 && ended.err.contains(says), "{wrong:?}: {} {}", ended.status, ended.err);
    }
}
