//! `fixbolt bench`: the rows of each benchmark, in both forms, and what is done with results.

mod command;

use command::{Ended, run, run_unread};

/// Returns the rows of an output in JSON, after a check that the machine comes first.
fn rows(out: &str) -> Vec<serde_json::Value> {
    let lines: Vec<serde_json::Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["record"], "report");
    assert!(lines[0]["machine"]["processor"].is_string() && lines[0]["machine"]["commit"].is_string());
    lines.into_iter().filter(|line| line["record"] == "row").collect()
}

/// Returns the keys of a row.
fn keys(row: &serde_json::Value) -> [&str; 4] {
    ["test", "engine", "message", "operation"].map(|key| row[key].as_str().unwrap())
}

#[test]
fn codec_has_one_row_per_operation_with_the_keys_that_all_benchmarks_share() {
    let ended = run(&["codec", "--processes", "1", "--rounds", "2", "--seed", "7", "-o", "json"]);
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    assert!(ended.out.contains(r#"["seed","7"]"#), "{}", ended.out.lines().nth(1).unwrap_or_default());
    let rows = rows(&ended.out);
    for (message, operation, tier) in [
        ("NOS-222", "index", Some("scalar")),
        ("AIM-158", "validate", Some("scalar")),
        ("ER-235", "encode", None),
        ("NewOrderMultileg", "typed-all", Some("scalar")),
        ("random-44", "validate", Some("scalar")),
        ("random-order-44", "typed-six", Some("scalar")),
    ] {
        let found: Vec<_> = rows
            .iter()
            .filter(|row| {
                keys(row) == ["codec", "fixbolt", message, operation] && row["tier"].as_str() == tier
            })
            .collect();
        assert_eq!(found.len(), 1, "{message} {operation}");
        assert!(found[0]["ns"].as_f64().unwrap() > 0.0, "{}", found[0]);
        assert!(found[0]["floor_ns"].is_null() && found[0]["published"].is_null());
        assert!(found[0]["more"]["spread"].is_number(), "{}", found[0]);
        assert_eq!(found[0]["more"]["layout_hits"].is_number(), operation == "validate");
    }
}

#[test]
fn without_measuring_the_rows_are_listed_in_order() {
    let ended = run(&["codec", "--once"]);
    assert_eq!(ended.status, 0);
    assert_eq!(ended.out.lines().next(), Some("NOS-222 index scalar"));
    assert_eq!(run(&["codec", "--once", "--rounds", "3"]).status, 2);
}

/// Message and operation of each row of `bench session`.
const SESSION: [&str; 18] = [
    "NOS-222 order-report",
    "NOS-222 order-report-memory",
    "Heartbeat heartbeat",
    "Heartbeat heartbeat-in",
    "ExecutionReport resend",
    "ExecutionReport resend-memory",
    "NOS-222 without-store",
    "NOS-222 without-validation",
    "NOS-222 without-reads",
    "NOS-222 without-report",
    "NOS-222 stage-framing",
    "NOS-222 stage-index",
    "NOS-222 stage-validate",
    "NOS-222 stage-reads",
    "NOS-222 stage-encode",
    "NOS-222 stage-journal",
    "NOS-222 receive",
    "ExecutionReport send",
];

#[test]
fn session_has_one_row_per_operation_with_the_same_keys_and_adds_up_its_stages() {
    let ended = run(&["session", "--processes", "1", "--rounds", "1", "-o", "json"]);
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    let rows = rows(&ended.out);
    let (single, all): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row["percentile"].is_number());
    assert_eq!(single.len(), 12, "six percentiles of each path");
    let found: Vec<_> = all.into_iter().map(keys).collect();
    let expected = SESSION.map(|row| {
        let (message, operation) = row.split_once(' ').unwrap();
        ["session", "fixbolt", message, operation]
    });
    assert_eq!(found, expected);
    assert!(rows.iter().all(|row| row["ns"].as_f64() > Some(0.0)));
    assert!(rows[0]["tier"].is_string() && rows[0]["floor_ns"].as_f64() > Some(0.0));
    let ended = run(&["session", "--once"]);
    let rows: Vec<&str> =
        ended.out.lines().filter_map(|line| line.rsplit_once(' ')).map(|row| row.0).collect();
    assert_eq!((ended.status, rows), (0, SESSION[..16].to_vec()));
    let ended = run(&["session", "--processes", "1", "--rounds", "1"]);
    assert!(ended.out.starts_with("session: thread CPU time per message, in ns\n"), "{}", ended.out);
    let stages =
        ended.out.split("Where the time of order-report goes (ns)").nth(1).expect("a table of stages");
    for stage in ["framing, index", "validation", "typed reads", "the report", "the journal", "the rest"] {
        assert!(stages.contains(stage), "{stages}");
    }
    for wrong in [&["--rounds", "0"][..], &["--once", "--short"], &["order-report"]] {
        assert_eq!(run(&[&["session"], wrong].concat()).status, 2, "{wrong:?}");
    }
}

#[test]
fn a_folder_for_temporary_files_that_is_missing_is_named_with_what_sets_it() {
    for what in ["session", "journal"] {
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_fixbolt-bench"));
        let ended = program.args([what]).env("TMPDIR", "/no/such/folder").output().unwrap();
        let told = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(1), "{told}");
        assert!(
            told.starts_with("fixbolt: cannot create /no/such/folder/") && told.contains("TMPDIR"),
            "{told}"
        );
    }
}

#[test]
fn journal_has_rows_of_each_store_and_says_what_there_is_not() {
    let small = ["journal", "--rounds", "1", "--sessions", "2", "--megabytes", "1"];
    let ended = run(&[&small[..], &["-o", "json"]].concat());
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    let rows = rows(&ended.out);
    let of = |operation: &str| rows.iter().find(|row| row["operation"] == operation).unwrap();
    for operation in ["append-256", "append-256-memory", "append-256-none", "checksum", "read-1000", "open"] {
        assert!(of(operation)["ns"].as_f64() > Some(0.0), "{operation}");
    }
    assert_eq!(of("append-256")["published"], 60.0);
    assert!(of("open")["more"]["disk"].as_f64() > Some(65_536.0));
    let ended = run(&small);
    assert!(ended.status == 0 && ended.out.contains("one sync policy, process"), "{}", ended.out);
    for wrong in [["--sessions", "0"], ["--megabytes", "1.5"], ["--rounds", "-1"]] {
        assert_eq!(run(&[&["journal"][..], &wrong].concat()).status, 2, "{wrong:?}");
    }
}

#[test]
fn print_has_one_row_per_log_and_program_with_the_same_keys_and_its_ratio() {
    assert_eq!(run(&["print", "--megabytes", "0"]).status, 2);
    if !command::has_fixbolt() {
        return;
    }
    let ended = run(&["print", "--megabytes", "1", "-o", "json"]);
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    let rows = rows(&ended.out);
    let logs = ["prefixed-log", "piped-log", "bare-log"];
    let operations = [("grep", "count"), ("fixbolt", "oneline"), ("fixbolt", "block"), ("fixbolt", "json")];
    let expected: Vec<_> = logs
        .iter()
        .flat_map(|log| operations.map(|(engine, operation)| ["print", engine, log, operation]))
        .collect();
    assert_eq!(rows.iter().map(keys).collect::<Vec<_>>(), expected);
    for row in &rows {
        assert!(row["more"]["mb_per_s"].as_f64() > Some(0.0), "{row}");
        assert_eq!(row["more"]["ratio"] == 1.0, row["engine"] == "grep", "{row}");
    }
    let ended = run(&["print", "--megabytes", "1"]);
    let columns = ended.out.lines().find(|line| line.starts_with("engine")).expect("a head line");
    let columns: Vec<&str> = columns.split_whitespace().collect();
    assert_eq!(columns, ["engine", "message", "operation", "ns", "mb_per_s", "ratio"]);
}

#[test]
fn the_table_names_the_machine() {
    let ended = run(&["codec", "--processes", "1", "--rounds", "1"]);
    assert_eq!(ended.status, 0);
    assert!(ended.out.contains("\nmachine: "), "{}", ended.out);
    let columns = ended.out.lines().find(|line| line.starts_with("message")).expect("a head line");
    let columns: Vec<&str> = columns.split_whitespace().collect();
    assert_eq!(columns, ["message", "operation", "tier", "ns", "fields", "spread", "layout_hits"]);
    let seed = ended.out.split_once("--seed ").expect("it is printed").1;
    assert!(seed.split(' ').next().is_some_and(|seed| seed.parse::<u64>().is_ok()), "{seed}");
    for wrong in [
        &["--rounds", "0"][..],
        &["--seed", "x"],
        &["--short", "--processes", "1", "--rounds", "1"],
        &["--once", "--seed", "1"],
    ] {
        assert_eq!(run(&[&["codec"], wrong].concat()).status, 2, "{wrong:?}");
    }
}

/// Returns the columns that the help of `bench codec` names, in its order.
fn columns_of_codec() -> Vec<String> {
    let help = run(&["codec", "--help"]).out;
    let (_, list) = help.split_once("Columns, of which").expect("a list of columns");
    let lines = list.lines().skip(1).take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
    names.filter_map(|line| Some(line.split_once(' ')?.0.to_owned())).collect()
}

#[test]
fn codec_has_the_columns_that_its_help_names() {
    let named = columns_of_codec();
    let ended = run(&["codec", "--processes", "2", "--rounds", "1"]);
    assert_eq!(ended.status, 0, "{}", ended.err);
    let shown = ended.out.lines().find(|line| line.starts_with("message")).expect("a head line");
    let shown: Vec<&str> = shown.split_whitespace().collect();
    // No other engine is measured here, and all figures have the same statistic.
    let expected = named.iter().filter(|name| !["engine", "statistic"].contains(&name.as_str()));
    assert_eq!(shown, expected.collect::<Vec<_>>());
}

#[test]
fn results_are_written_in_each_form_and_compared() {
    let folder = std::env::temp_dir().join(format!("fixbolt-bench-forms-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (json, csv, hgrm) = (path("a.json"), path("a.csv"), path("hgrm"));
    let html = path("a.html");
    let forms = ["--json", &json, "--csv", &csv, "--html", &html, "--hgrm", &hgrm];
    let ended = run(&[&["session", "--processes", "1", "--rounds", "1"][..], &forms].concat());
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    let text = std::fs::read_to_string(&json).unwrap();
    // The percentiles of single messages are figures, too.
    assert_eq!(rows(&text).len(), SESSION.len() + 12);
    assert_eq!(std::fs::read_to_string(&csv).unwrap().lines().count(), 1 + SESSION.len() + 12);
    let same = run(&["compare", &json, &json]);
    // Those above the 99th are the machine's.
    assert_eq!((same.status, same.out.matches("same").count()), (0, SESSION.len() + 6), "{}", same.out);
    // The same result, but each figure ten times as large.
    let worse: String = text.lines().map(|line| line.replace("\"ns\":", "\"ns\":1") + "\n").collect();
    std::fs::write(path("b.json"), worse).unwrap();
    let worse = run(&["compare", &json, &path("b.json"), "--tolerance", "20%"]);
    assert_eq!((worse.status, worse.out.matches("WORSE").count()), (1, SESSION.len() + 6), "{}", worse.out);
    assert_eq!(run_unread(&["compare", &json, &path("b.json"), "--tolerance", "20%"]).status, 1);
    assert_eq!(run_unread(&["compare", &json, &json]).status, 0);
    let measure =
        |condition| run_unread(&["session", "--processes", "1", "--rounds", "1", "--assert", condition]);
    assert_eq!(measure("ns>0").status, 0);
    let Ended { status, err: said, .. } = measure("ns<0");
    assert!(status == 1 && said.contains("does not keep ns<0"), "{status} {said}");
    let markdown = path("a.md");
    let ended = run(&["session", "--processes", "1", "--rounds", "1", "--markdown", &markdown]);
    assert!(ended.status == 0 && std::fs::read_to_string(&markdown).unwrap().contains("\n## session\n"));
    // A page of one result is the same from its file; two are on one page.
    let (one, both) = (path("one.html"), path("both.html"));
    assert_eq!(run(&["report", &json, "--html", &one]).status, 0);
    let page = std::fs::read_to_string(&one).unwrap();
    assert_eq!(page, std::fs::read_to_string(&html).unwrap());
    assert!(page.contains("NOS-222") && page.contains("order-report-memory"), "{page}");
    assert_eq!(run(&["report", &json, &path("b.json"), "--html", &both]).status, 0);
    let count = |page: &str| page.matches("<h2>fixbolt bench session</h2>").count();
    assert_eq!((count(&page), count(&std::fs::read_to_string(&both).unwrap())), (1, 2));
    let none = run(&["report", &csv, "--html", &one]);
    assert!(none.status == 2 && none.err.contains("a.csv: line 1: "), "{}", none.err);
    assert_eq!((run(&["report", "--html", &one]).status, run(&["report", &json]).status), (2, 2));
    let head = text.lines().filter(|line| !line.contains("\"engine\":\"fixbolt\""));
    let rival = text.lines().find(|line| line.contains("\"record\":\"row\"")).unwrap();
    let rival = rival.replace("\"fixbolt\"", "\"another\"");
    let rivals: Vec<&str> = head.chain([rival.as_str()]).collect();
    std::fs::write(path("rivals.json"), rivals.join("\n")).unwrap();
    let nothing = run(&["compare", &path("rivals.json"), &path("rivals.json")]);
    assert!(nothing.status == 2 && nothing.err.contains("nothing was judged"), "{}", nothing.err);
    let none = run(&["compare", &json, &csv]);
    assert!(none.status == 2 && none.err.contains("a.csv: line 1: "), "{}", none.err);
    for other in [&csv, &path("hgrm/../a.csv")] {
        let twice = run(&["session", "--processes", "1", "--rounds", "1", "--json", &csv, "--csv", other]);
        assert!(twice.status == 2 && twice.err.contains("named for two forms"), "{}", twice.err);
    }
    let absent = run(&["session", "--processes", "1", "--rounds", "1", "--json", &path("no/such/folder")]);
    assert!(absent.status == 2 && absent.err.starts_with("fixbolt: cannot write "), "{}", absent.err);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn results_of_messages_of_other_seeds_are_compared_without_them() {
    let folder = command::directory("bench-seeds");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (first, second) = (path("7.json"), path("8.json"));
    for (seed, path) in [("7", &first), ("8", &second)] {
        assert_eq!(run(&["codec", "--rounds", "1", "--seed", seed, "--json", path]).status, 0);
    }
    let compare = |first: &str, second: &str| run(&["compare", first, second, "--tolerance", "100000"]);
    let (same, other) = (compare(&first, &first), compare(&first, &second));
    assert_eq!((same.status, other.status), (0, 0), "{}", other.out);
    assert!(same.out.contains("\ncodec fixbolt random-44 index scalar ") && !same.out.contains("WARNING"));
    assert!(!other.out.contains("\ncodec fixbolt random-44 index scalar "), "{}", other.out);
    assert!(other.out.contains("\nWARNING: figures of generated messages"), "{}", other.out);
    // Nothing else is left.
    let only_random = |from: &str, to: &str| {
        let text = std::fs::read_to_string(from).unwrap();
        let is_kept = |line: &&str| !line.contains("\"record\":\"row\"") || line.contains("\"random-");
        std::fs::write(to, text.lines().filter(is_kept).collect::<Vec<_>>().join("\n")).unwrap();
    };
    only_random(&first, &first);
    only_random(&second, &second);
    let none = compare(&first, &second);
    assert!(none.status == 2 && none.err.contains("measure both with the same --seed"), "{}", none.err);
}

#[test]
fn results_are_kept_when_nobody_reads_what_is_printed() {
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else { return };
    let json = std::env::temp_dir().join(format!("fixbolt-bench-full-{}.json", std::process::id()));
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_fixbolt-bench"));
    program.args(["aim", "--iterations", "1", "--json"]).arg(&json);
    let ended = program.stdout(full).output().unwrap();
    assert_eq!(ended.status.code(), Some(2));
    assert!(std::fs::read_to_string(&json).unwrap().contains("\"record\":\"row\""));
    std::fs::remove_file(json).unwrap();
}

#[test]
fn all_writes_its_page_where_it_is_asked_and_only_of_the_tests_that_are_named() {
    let folder = std::env::temp_dir().join(format!("fixbolt-bench-all-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("docs")).unwrap();
    let all = |only: &str| {
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_fixbolt-bench"));
        let ended = program.args(["all", "--only", only]).current_dir(&folder).output().unwrap();
        (ended.status.code(), String::from_utf8(ended.stderr).unwrap())
    };
    assert_eq!(all("fix8-codec"), (Some(0), "fix8-codec ...\n".to_owned()));
    let page = std::fs::read_to_string(folder.join("docs/benchmarks.md")).unwrap();
    assert!(page.contains("\n## fix8-codec\n") && !page.contains("\n## codec\n"), "{page}");
    let unknown = all("sessions");
    assert!(unknown.0 == Some(2) && unknown.1.contains("there is no such test; there are codec, "));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn every_benchmark_has_a_short_form_that_is_a_measurement() {
    let list = run(&["--help"]).out;
    let (_, list) = list.split_once("Commands:\n").expect("a list of commands");
    let lines = list.lines().take_while(|line| !line.is_empty());
    let names: Vec<&str> = lines
        .filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')))
        .filter_map(|line| line.split(' ').next())
        .filter(|name| !["compare", "report", "help"].contains(name))
        .collect();
    assert!(names.len() >= 13, "{list}");
    for name in names {
        let help = run(&[name, "--help"]).out;
        assert!(help.contains("\n      --short\n"), "{name}: {help}");
    }
    for (whole, part) in [("--sessions", "journal"), ("--rounds", "journal"), ("--megabytes", "print")] {
        let both = run(&[part, "--short", whole, "3"]);
        assert!(both.status == 2 && both.err.contains("cannot be used with"), "{}", both.err);
    }
    let ended = run(&["journal", "--short", "--megabytes", "1", "-o", "json"]);
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    assert!(ended.out.contains(r#"["rounds","21"]"#), "{}", ended.out.lines().nth(1).unwrap_or_default());
    let rows = rows(&ended.out);
    let of = |operation: &str| rows.iter().find(|row| row["operation"] == operation).unwrap();
    assert_eq!(of("append-256")["statistic"]["number"], 21);
    let sessions = rows.iter().filter_map(|row| row["more"]["sessions"].as_f64());
    assert_eq!(sessions.reduce(f64::max), Some(100.0));
}

#[test]
fn all_measures_sessions_in_one_process_if_it_is_asked_for_a_first_look() {
    let folder = command::directory("bench-all-short");
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_fixbolt-bench"));
    program.args(["all", "--short", "--only", "session", "-o", "json"]).current_dir(&folder);
    let ended = program.output().unwrap();
    let out = String::from_utf8(ended.stdout).unwrap();
    assert_eq!(ended.status.code(), Some(0), "{out}");
    assert!(out.contains(r#"["batches","3"]"#) && out.contains(r#"["processes","1"]"#), "{out}");
}

#[test]
fn the_commands_of_the_page_on_benchmarks_exist() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/benchmarking.md");
    let page = std::fs::read_to_string(page).unwrap();
    let commands: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("fixbolt bench ")).collect();
    assert!(commands.len() > 5, "{commands:?}");
    for command in commands {
        // A condition is quoted.
        let quoted = command.split('\'').enumerate().flat_map(|(n, part)| match n % 2 {
            0 => part.split_whitespace().collect(),
            _ => vec![part],
        });
        let arguments: Vec<&str> = quoted.chain(["--help"]).collect();
        let ended = run(&arguments);
        assert_eq!((ended.status, ended.err.as_str()), (0, ""), "{command}");
    }
}

#[test]
fn conditions_decide_the_exit_status() {
    let with =
        |condition: &str| run(&["session", "--processes", "1", "--rounds", "1", "--assert", condition]);
    assert_eq!(with("order-report-memory: ns<=1s").status, 0);
    let failed = with("order-report-memory: ns<1");
    assert_eq!(failed.status, 1);
    assert!(failed.err.contains("does not keep order-report-memory: ns<1"), "{}", failed.err);
    let unknown = with("heartbeat: p99<=20us");
    let line = "fixbolt: --assert \"heartbeat: p99<=20us\": no figure has this name; there are session fixbolt NOS-222 receive ";
    assert!(unknown.status == 2 && unknown.err.starts_with(line), "{}", unknown.err);
    let several = with("NOS-222: ns<=1s");
    assert!(
        several.status == 2 && several.err.contains("figures have this name, say which: "),
        "{}",
        several.err
    );
    let wrong = with("p99=20us");
    assert!(wrong.status == 2 && wrong.err.contains("it has none of <, <=, >, >="), "{}", wrong.err);
}

#[test]
fn an_unknown_value_of_fixbolt_simd_stops_every_benchmark() {
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_fixbolt-bench"));
    let ended = program.args(["codec", "--once"]).env("FIXBOLT_SIMD", "").output().unwrap();
    let told = String::from_utf8(ended.stderr).unwrap();
    assert!(ended.status.code() == Some(2) && told.contains("FIXBOLT_SIMD is \"\""), "{told}");
}

#[test]
fn round_trips_have_a_row_per_kind_of_thread_beside_raw_tcp() {
    let ended = run(&["rtt", "--round-trips", "50", "--slices", "1", "-o", "json"]);
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    let rows = rows(&ended.out);
    let name = |row: &serde_json::Value| {
        assert_eq!((&row["times"], &row["statistic"]["of"]), (&"service".into(), &"one".into()));
        format!("{} p{}", keys(row)[3], row["percentile"])
    };
    let percentiles = ["p50.0", "p90.0", "p99.0"];
    let expected = ["spinning", "epoll", "spinning-for", "dedicated", "driven", "spinning start"]
        .map(|waiting| percentiles.map(|it| format!("{waiting} {it}")));
    let percentiles = [50.0, 90.0, 99.0, 99.9, 99.99, 100.0];
    let paths = ["receive", "send"].map(|path| percentiles.map(|it| format!("{path} p{it:?}")));
    let expected = [expected.as_flattened(), paths.as_flattened()].concat();
    assert_eq!(rows.iter().map(name).collect::<Vec<_>>(), expected);
    assert!(rows.iter().all(|row| row["ns"].as_f64() > Some(0.0)));
    assert!(rows[..15].iter().all(|row| row["floor_ns"].as_f64() > Some(0.0)));
}

#[test]
fn orders_one_way_and_at_a_rate_are_measured_between_two_engines() {
    let few = ["--messages", "800", "--slices", "1", "--warm-up", "5"];
    let ended = run(&[&["stream", "--sessions", "1,80", "-o", "json"], &few[..]].concat());
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    let streams = rows(&ended.out);
    // Each with its start.
    assert_eq!(streams.len(), 4);
    assert!(streams.iter().all(|row| row["unit"] == "messages/s" && row["value"].as_f64() > Some(0.0)));
    let amount = ["--iterations", "100", "--warm-up", "50", "--runs", "1"];
    let ended = run(&[&["jlbh", "--rates", "2000"], &amount[..]].concat());
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    for text in [
        "At a throughput of 2000/s, coordinated omission not accounted for",
        "At a throughput of 2000/s, coordinated omission accounted for",
        "QuickFIX/J, published, another machine, 2016",
        "Parsing into the data model including logging, at a throughput of 200000/s",
        "No other engine is measured: ",
    ] {
        assert!(ended.out.contains(text), "{text}: {}", ended.out);
    }
    let search = ["--rates", "500", "--highest", "p50<=10s"];
    let ended = run(&[&["jlbh"], &search[..], &amount].concat());
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    assert!(ended.out.contains("The highest rate at which p50 is at most 10000000 us"), "{}", ended.out);
    for (wrong, why) in [
        (["--rates", "0"], "a rate is a number above 0"),
        (["--highest", "p99"], "is no bound like p99<=100us"),
        (["--arrivals", "burst:0"], "is none of fixed, poisson"),
    ] {
        let ended = run(&[&["jlbh"], &wrong[..]].concat());
        assert!(ended.status == 2 && ended.err.contains(why), "{}", ended.err);
    }
    assert_eq!(run(&["jlbh", "--closed", "--rates", "1"]).status, 2);
}

#[cfg(unix)]
#[test]
fn sessions_that_cannot_be_measured_are_named_before_anything_is_measured() {
    for (wrong, why) in [
        (["--messages", "5", "--sessions", "1,10"], "10 sessions need at least as many messages a slice"),
        (["--messages", "5", "--sessions", "2,2"], "2 sessions are named twice"),
        (["--messages", "100000000", "--slices", "10000"], "fixbolt: the journals take 600000000 MB, and "),
    ] {
        let ended = run(&[&["stream", "--warm-up", "0"], &wrong[..]].concat());
        assert!(ended.status == 2 && ended.err.contains(why), "{}", ended.err);
    }
    let with_limit = |limit: &str| {
        let mut shell = std::process::Command::new("sh");
        let command = format!("ulimit {limit} && exec \"$0\" \"$@\"");
        let stream = ["stream", "--sessions", "1,20", "--messages", "20", "--slices", "1", "--warm-up", "0"];
        let ended =
            shell.args(["-c", &command, env!("CARGO_BIN_EXE_fixbolt-bench")]).args(stream).output().unwrap();
        (ended.status.code(), String::from_utf8(ended.stderr).unwrap())
    };
    let line = "fixbolt: 20 sessions need 328 open files, and this process may have 100: set the limit (ulimit -n 328), or take fewer\n";
    assert_eq!(with_limit("-n 100"), (Some(2), line.to_owned()));
    // It may raise a limit that is soft, and needs no more than it says.
    assert_eq!(with_limit("-S -n 100"), (Some(0), String::new()));
    assert_eq!(with_limit("-n 328"), (Some(0), String::new()));
}

#[test]
fn cores_that_cannot_be_used_are_named() {
    for command in ["rtt", "jlbh"] {
        let ended = run(&[command, "--cores", "0,0"]);
        assert_eq!(ended.status, 2);
        assert_eq!(ended.err, "fixbolt: --cores: core 0 is named twice: venue and trader need one each\n");
        assert_eq!(run(&[command, "--cores", "0"]).status, 2);
        #[cfg(target_os = "linux")]
        assert!(run(&[command, "--cores", "0,1023"]).err.contains("core 1023 does not exist"));
    }
}
