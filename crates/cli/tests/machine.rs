//! What commands do with the machine: `fixbolt doctor`, and the choice of its instructions.

mod command;

use command::run;

#[test]
fn the_doctor_names_what_it_looked_at() {
    let ended = run(&["doctor"]);
    assert!(ended.status <= 1 && ended.err.is_empty(), "{}", ended.err);
    for what in ["processors: ", "frequency governor: ", "clock: ", "jitter of this core: "] {
        assert!(ended.out.contains(what), "{}", ended.out);
    }
    // The tests are not optimized.
    assert!(ended.out.contains("to set: build with cargo build --release"), "{}", ended.out);
    let json = run(&["doctor", "-o", "json"]);
    let lines: Vec<serde_json::Value> =
        json.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().any(|line| line["verdict"] == "spoils" && line["remedy"].is_string()));
}

#[test]
fn the_commands_for_the_machine_on_the_page_on_benchmarks_exist() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/benchmarking.md");
    let page = std::fs::read_to_string(page).unwrap();
    let commands = page.lines().filter_map(|line| line.strip_prefix("fixbolt "));
    let here: Vec<&str> = commands.filter(|command| !command.starts_with("bench ")).collect();
    assert!(here.contains(&"doctor"), "{here:?}");
    for command in here {
        let arguments: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
        let ended = run(&arguments);
        assert_eq!((ended.status, ended.err.as_str()), (0, ""), "{command}");
    }
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
    let line = "fixbolt: environment variable FIXBOLT_SIMD is \"abacus\": there is no such tier; known are scalar, avx2 and avx512\n";
    assert_eq!(ended("abacus", list), (Some(2), line.to_owned()));
    assert_eq!(ended("", &["bench", "codec"]).0, Some(2));
}
