//! `fixbolt bench`: the rows of codec, session and print, in both forms.

mod command;

use command::run;

#[test]
fn codec_has_one_row_per_operation_with_the_keys_that_all_benchmarks_share() {
    let ended = run(&["bench", "codec", "--rounds", "1", "-o", "json"]);
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    let lines: Vec<&str> = ended.out.lines().collect();
    for (message, operation, tier) in [
        ("NOS-222", "index", "\"scalar\""),
        ("AIM-158", "validate", "\"scalar\""),
        ("ER-235", "encode", "null"),
        ("NewOrderMultileg", "typed-all", "\"scalar\""),
    ] {
        let begin = format!(
            r#"{{"test":"codec","engine":"fixbolt","message":"{message}","operation":"{operation}","tier":{tier},"ns":"#
        );
        let found: Vec<&&str> = lines.iter().filter(|line| line.starts_with(&begin)).collect();
        assert_eq!(found.len(), 1, "{begin}");
        assert!(found[0].contains(r#","floor_ns":null,"published":null,"machine":""#), "{}", found[0]);
    }
}

#[test]
fn without_measuring_the_rows_are_listed_in_order() {
    let ended = run(&["bench", "codec", "--once"]);
    assert_eq!(ended.status, 0);
    assert_eq!(ended.out.lines().next(), Some("NOS-222 index scalar"));
    assert_eq!(run(&["bench", "codec", "--once", "--rounds", "3"]).status, 2);
}

#[test]
fn session_has_one_row_per_store_with_the_same_keys() {
    let ended = run(&["bench", "session", "--rounds", "1", "-o", "json"]);
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    let lines: Vec<&str> = ended.out.lines().collect();
    assert_eq!(lines.len(), 2, "{}", ended.out);
    for (line, operation) in lines.iter().zip(["order-report", "order-report-memory"]) {
        let begin = format!(
            r#"{{"test":"session","engine":"fixbolt","message":"NOS-222","operation":"{operation}","tier":""#
        );
        assert!(line.starts_with(&begin) && line.contains(r#"","ns":"#), "{line}");
        assert!(line.contains(r#","floor_ns":null,"published":null,"machine":""#), "{line}");
    }
    let ended = run(&["bench", "session", "--once"]);
    let rows: Vec<&str> =
        ended.out.lines().filter_map(|line| line.rsplit_once(' ')).map(|row| row.0).collect();
    assert_eq!((ended.status, rows), (0, vec!["NOS-222 order-report", "NOS-222 order-report-memory"]));
    let ended = run(&["bench", "session", "--rounds", "1"]);
    assert!(ended.out.starts_with("session, ns per order with its report, "), "{}", ended.out);
}

#[test]
fn print_has_one_row_per_log_and_program_with_the_same_keys_and_its_ratio() {
    let ended = run(&["bench", "print", "--megabytes", "1", "-o", "json"]);
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    let lines: Vec<&str> = ended.out.lines().collect();
    assert_eq!(lines.len(), 12, "{}", ended.out);
    let logs = ["prefixed-log", "piped-log", "bare-log"];
    let operations = [("grep", "count"), ("fixbolt", "oneline"), ("fixbolt", "block"), ("fixbolt", "json")];
    let rows = logs.iter().flat_map(|log| operations.map(|(engine, operation)| (log, engine, operation)));
    for (line, (log, engine, operation)) in lines.iter().zip(rows) {
        let begin = format!(
            r#"{{"test":"print","engine":"{engine}","message":"{log}","operation":"{operation}","tier":null,"ns":"#
        );
        assert!(line.starts_with(&begin), "{line}");
        assert!(line.contains(r#","floor_ns":null,"published":null,"machine":""#), "{line}");
        assert!(line.contains(r#"","mb_per_s":"#) && line.contains(r#","ratio":"#), "{line}");
        assert_eq!(line.ends_with(r#","ratio":1.00}"#), engine == "grep", "{line}");
    }
    let ended = run(&["bench", "print", "--megabytes", "1"]);
    let columns = ended.out.lines().find(|line| line.starts_with("message")).expect("a head line");
    let columns: Vec<&str> = columns.split_whitespace().collect();
    assert_eq!(columns, ["message", "operation", "ns/message", "MB/s", "ratio"]);
    assert_eq!(run(&["bench", "print", "--megabytes", "0"]).status, 2);
}

#[test]
fn the_table_names_the_machine() {
    let ended = run(&["bench", "codec", "--rounds", "1"]);
    assert_eq!(ended.status, 0);
    assert!(ended.out.contains("\nmachine: "), "{}", ended.out);
    let columns = ended.out.lines().find(|line| line.starts_with("message")).expect("a head line");
    let columns: Vec<&str> = columns.split_whitespace().collect();
    assert_eq!(columns, ["message", "operation", "tier", "fixbolt", "floor", "published"]);
    assert_eq!(run(&["bench", "codec", "--rounds", "0"]).status, 2);
}

#[test]
fn fixbolt_simd_chooses_the_instructions_and_an_unknown_value_stops_every_command() {
    let ended = |value: &str, command: &[&str]| {
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_fixbolt"));
        let ended = program.args(command).env("FIXBOLT_SIMD", value).output().unwrap();
        (ended.status.code(), String::from_utf8(ended.stderr).unwrap())
    };
    let list = &["dictionary", "list"][..];
    assert_eq!(ended("scalar", list).0, Some(0));
    let line = "fixbolt: environment variable FIXBOLT_SIMD is \"abacus\": there is no such tier; known are scalar and avx2\n";
    assert_eq!(ended("abacus", list), (Some(2), line.to_owned()));
    assert_eq!(ended("", &["bench", "codec"]).0, Some(2));
}
