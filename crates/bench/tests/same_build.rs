//! `fixbolt-bench` and `fixbolt`: which of them starts the other, and that both are of one build.

mod command;

use std::path::Path;
use std::process::Command;

use command::{Ended, bench, run};
use fixbolt_cli::beside::{BUILD, VARIABLE};

#[test]
fn a_program_that_another_build_starts_refuses_and_says_what_to_do() {
    let with = |build: &str| -> Ended {
        bench().args(["codec", "--once"]).env(VARIABLE, build).output().unwrap().into()
    };
    assert_eq!(with(BUILD).status, 0);
    let other = with("0.1.0 0123456789abcdef");
    assert_eq!((other.status, other.out.as_str()), (2, ""));
    for said in ["fixbolt-bench is of build ", BUILD, " 0123456789abcdef", "-p fixbolt-cli -p fixbolt-bench"]
    {
        assert!(other.err.contains(said), "{said}: {}", other.err);
    }
}

#[test]
fn fixbolt_bench_is_this_program() {
    if !command::has_fixbolt() {
        return;
    }
    let fixbolt = Path::new(env!("CARGO_BIN_EXE_fixbolt-bench")).with_file_name("fixbolt");
    for arguments in [&["codec", "--once"][..], &["--help"], &["jlbh", "--help"], &["codec", "-x"], &[]] {
        let started = Command::new(&fixbolt).arg("bench").args(arguments).output().unwrap();
        let (started, itself) = (Ended::from(started), run(arguments));
        assert_eq!((started.status, started.out, started.err), (itself.status, itself.out, itself.err));
    }
}
