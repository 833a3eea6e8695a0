//! `fixbolt bench`: starts the `fixbolt-bench` beside it, and what it says if there is none.

mod command;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use command::{Ended, directory};
use fixbolt_cli::beside::{BUILD, VARIABLE};

/// Returns a folder with `fixbolt` in it and nothing else.
fn folder(name: &str) -> PathBuf {
    let folder = directory(name);
    let program = env!("CARGO_BIN_EXE_fixbolt");
    if fs::hard_link(program, folder.join("fixbolt")).is_err() {
        fs::copy(program, folder.join("fixbolt")).unwrap();
    }
    folder
}

/// Puts a `fixbolt-bench` there that does this.
fn put(folder: &Path, script: &str) {
    let path = folder.join("fixbolt-bench");
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn run(folder: &Path, arguments: &[&str]) -> Ended {
    Command::new(folder.join("fixbolt")).args(arguments).output().expect("it starts").into()
}

#[test]
fn the_program_beside_it_gets_every_argument_and_its_exit_status_is_the_command_s() {
    let folder = folder("bench-beside");
    put(&folder, &format!("printf '<%s>' \"$@\"; echo \"$PPID ${VARIABLE}\" >&2; exit 7"));
    for arguments in [
        &["codec", "-o", "json", "--assert", "p99<=20 us"][..],
        &["--help"],
        &["-h"],
        &["help", "jlbh"],
        &["hftest", "-sl", "server"],
    ] {
        let ended = run(&folder, &[&["bench"], arguments].concat());
        let expected: String = arguments.iter().map(|argument| format!("<{argument}>")).collect();
        assert_eq!((ended.status, ended.out), (7, expected));
        // It is no child of the command, but the same process: signals reach it.
        assert_eq!(ended.err, format!("{} {BUILD}\n", std::process::id()));
    }
    assert_eq!(run(&folder, &["bench"]).out, "<>");
    assert_eq!(run(&folder, &["help", "bench", "jlbh"]).out, "<help><jlbh>");
}

#[test]
fn without_the_program_it_says_where_it_looked_and_what_builds_it() {
    let folder = folder("bench-absent");
    for arguments in [&["codec"][..], &["codec", "--help"], &["-o", "json"]] {
        let ended = run(&folder, &[&["bench"], arguments].concat());
        let folder = folder.display();
        let line = format!(
            "fixbolt: fixbolt-bench is a program of its own, and it is not in {folder}: \
             `cargo build --release -p fixbolt-cli -p fixbolt-bench` builds both\n"
        );
        assert_eq!((ended.status, ended.out, ended.err), (2, String::new(), line));
    }
}

#[test]
fn without_the_program_the_help_names_the_benchmarks_and_what_builds_it() {
    let folder = folder("bench-help");
    for arguments in
        [&["bench", "--help"][..], &["bench", "-h"], &["bench"], &["bench", "help"], &["help", "bench"]]
    {
        let ended = run(&folder, arguments);
        assert_eq!(ended.status, 0, "{arguments:?}: {}", ended.err);
        for shown in [
            "Usage: fixbolt bench ",
            "codec, session",
            "cargo build --release -p fixbolt-cli -p fixbolt-bench",
        ] {
            assert!(ended.out.contains(shown), "{arguments:?}: {shown}: {}", ended.out);
        }
        assert!(ended.err.contains("it is not in "), "{}", ended.err);
    }
}

#[test]
fn a_program_that_cannot_be_started_is_named_with_the_reason() {
    let folder = folder("bench-not-executable");
    fs::write(folder.join("fixbolt-bench"), "no program").unwrap();
    let ended = run(&folder, &["bench", "codec"]);
    assert_eq!(ended.status, 2);
    assert!(ended.err.contains("/fixbolt-bench: Permission denied\n"), "{}", ended.err);
}

#[test]
fn a_command_that_another_build_starts_refuses() {
    let ended = command::fixbolt().args(["dictionary", "list"]).env(VARIABLE, "another").output().unwrap();
    let ended = Ended::from(ended);
    assert!(ended.status == 2 && ended.err.contains("what starts it is of another: "), "{}", ended.err);
}
