//! `fixbolt bench codec`: its rows, in both forms.

mod command;

use command::run;

#[test]
fn a_row_an_operation_with_the_keys_that_all_benchmarks_share() {
    let ended = run(&["bench", "codec", "--rounds", "1", "-o", "json"]);
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    let lines: Vec<&str> = ended.out.lines().collect();
    assert_eq!(lines.len(), 8);
    for (line, (message, operation)) in
        lines.iter().zip(["NOS-222", "ER-235"].into_iter().flat_map(|message| {
            ["index", "validate", "typed-six", "encode"].map(|operation| (message, operation))
        }))
    {
        let begin = format!(
            r#"{{"test":"codec","engine":"fixbolt","message":"{message}","operation":"{operation}","ns":"#
        );
        assert!(line.starts_with(&begin), "{line}");
        assert!(line.contains(r#","floor_ns":null,"published":null,"machine":""#), "{line}");
    }
}

#[test]
fn the_table_names_the_machine() {
    let ended = run(&["bench", "codec", "--rounds", "1"]);
    assert_eq!(ended.status, 0);
    assert!(ended.out.contains("machine: ") && ended.out.contains("message   operation"), "{}", ended.out);
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
    let line = "fixbolt: environment variable FIXBOLT_SIMD is \"abacus\": not one of scalar, avx2\n";
    assert_eq!(ended("abacus", list), (Some(2), line.to_owned()));
    assert_eq!(ended("", &["bench", "codec"]).0, Some(2));
}
