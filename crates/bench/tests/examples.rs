//! The examples in the help of the `fixbolt bench` commands run: shortened, and between two
//! processes of this machine where they name two.

mod command;

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use command::run;

/// An example, and how it is run so that it ends within seconds and needs no other machine.
struct Example {
    /// The line of the help.
    line: &'static str,
    /// What is replaced in it.
    instead: &'static [(&'static str, &'static str)],
    /// What is added.
    more: &'static str,
}

const fn example(
    line: &'static str,
    instead: &'static [(&'static str, &'static str)],
    more: &'static str,
) -> Example {
    Example { line, instead, more }
}

impl Example {
    /// Returns the line as it is run. `ADDRESS` in what is replaced or added is where a server
    /// listens.
    fn shortened(&self, address: &str) -> String {
        let line = self.instead.iter().fold(self.line.to_owned(), |line, (from, to)| {
            assert!(line.contains(from), "{line}: {from} is not in it");
            line.replacen(from, to, 1)
        });
        format!("{line} {}", self.more).replace("ADDRESS", address)
    }
}

/// Examples that one process runs. What a later one reads was written before.
const ALONE: &[Example] = &[
    example("fixbolt bench codec -o json", &[], "--processes 1 --rounds 1 --json codec.json"),
    example("fixbolt bench session -o json", &[], "--processes 2 --rounds 1 --json session.json"),
    example("fixbolt bench journal -o json", &[], "--rounds 1 --sessions 2 --megabytes 1"),
    example(
        "fixbolt bench journal --megabytes 100 --sessions 100",
        &[("--megabytes 100", "--megabytes 1")],
        "--rounds 1",
    ),
    example("fixbolt bench print -o json", &[], "--megabytes 1"),
    example("fixbolt bench rtt", &[], "--round-trips 20 --slices 1"),
    example("fixbolt bench rtt --cores 0,1 -o json", &[], "--round-trips 20 --slices 1"),
    example("fixbolt bench stream", &[], "--messages 200 --slices 1 --warm-up 2"),
    example(
        "fixbolt bench stream --sessions 1 --messages 200000",
        &[("200000", "200")],
        "--slices 1 --warm-up 2",
    ),
    example("fixbolt bench jlbh", &[], "--rates 2000 --iterations 100 --warm-up 10 --runs 1"),
    example("fixbolt bench jlbh --rates 2000 --runs 5", &[], "--iterations 100 --warm-up 10"),
    example(
        "fixbolt bench jlbh --rates 1000 --highest 'p99<=200us'",
        &[],
        "--iterations 50 --warm-up 10 --runs 1",
    ),
    example("fixbolt bench antenna --latency-csv latency.csv", &[], "--messages 20 --warm-up 5 --slices 1"),
    example(
        "fixbolt bench antenna --configuration default,optimized.hard --messages 2000",
        &[("2000", "20")],
        "--warm-up 5 --slices 1",
    ),
    example("fixbolt bench all --json benchmarks.json", &[], "--only fix8-codec"),
    // The journal's short form is a history of a gigabyte.
    example("fixbolt bench all --short --only codec,journal", &[("codec,journal", "session")], ""),
    example("fixbolt bench hftest", &[], "-p 500"),
    example("fixbolt bench hftest -p 100000 -o json", &[("100000", "500")], ""),
    example("fixbolt bench fix8-codec --json today.json", &[], "--messages 100 --runs 1"),
    example("fixbolt bench aim --iterations 1000000", &[("1000000", "1")], ""),
    example("fixbolt bench fsfix --json today.json", &[], "--rounds 1"),
    example(
        "fixbolt bench compare yesterday.json today.json --tolerance 5",
        &[("yesterday.json", "today.json")],
        "",
    ),
    example("fixbolt bench report codec.json session.json --html report.html", &[], ""),
];

/// Examples of a server, each with one of a client.
const PAIRS: &[(Example, Example)] = &[
    (
        example("fixbolt bench hftest -sl server", &[], "--listen 127.0.0.1:0 --once"),
        example("fixbolt bench hftest -l client -p 500000", &[("500000", "50")], "--client ADDRESS"),
    ),
    (
        example(
            "fixbolt bench hftest -s --listen 0.0.0.0:11002",
            &[("0.0.0.0:11002", "127.0.0.1:0")],
            "--once",
        ),
        example("fixbolt bench hftest --client 10.1.1.7:11002 -r", &[("10.1.1.7:11002", "ADDRESS")], "-p 50"),
    ),
    (
        example("fixbolt bench hftest -sl server", &[], "--listen 127.0.0.1:0 --once"),
        example("printf a | fixbolt bench hftest -l client -p 1000", &[], "--client ADDRESS"),
    ),
    (
        example(
            "fixbolt bench antenna --server 0.0.0.0:11013 --configuration optimized.hard --cores 2",
            &[("0.0.0.0:11013", "127.0.0.1:0"), ("--cores 2", "--cores 0")],
            "",
        ),
        example(
            "fixbolt bench antenna --client HOST:11013 --configuration optimized.hard --cores 2,3",
            &[("HOST:11013", "ADDRESS"), ("--cores 2,3", "--cores 0,1")],
            "--messages 20 --warm-up 5",
        ),
    ),
];

/// Starts a line of a shell in a folder, with a `fixbolt` in its path that starts this
/// `fixbolt-bench`.
fn start(folder: &Path, line: &str) -> Child {
    let programs = folder.join("programs");
    let fixbolt = programs.join("fixbolt");
    if !fixbolt.exists() {
        std::fs::create_dir(&programs).unwrap();
        let script = format!("#!/bin/sh\nshift\nexec '{}' \"$@\"\n", env!("CARGO_BIN_EXE_fixbolt-bench"));
        std::fs::write(&fixbolt, script).unwrap();
        std::fs::set_permissions(&fixbolt, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut path = std::ffi::OsString::from(programs);
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    Command::new("sh")
        .args(["-c", line])
        .env("PATH", path)
        .env("FIXBOLT_PEERS", "no/peers/are/here")
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a shell starts")
}

/// A server, which is stopped when dropped.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        // It may already have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Asserts that a line ends with status 0. It gets these keys.
fn succeeds(folder: &Path, line: &str, keys: &[u8]) {
    let mut child = start(folder, line);
    // Most do not read them.
    let _ = child.stdin.take().expect("it is piped").write_all(keys);
    let ended = child.wait_with_output().expect("it ends");
    let told = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(0), "{line}: {told}{}", String::from_utf8_lossy(&ended.stdout));
}

/// Returns the lines of a command's help that are commands of `fixbolt bench`.
fn lines_of(command: &str) -> Vec<String> {
    let help = run(&[command, "--help"]);
    assert_eq!(help.status, 0, "{command}");
    let lines = help.out.lines().filter_map(|line| line.strip_prefix("  "));
    let is_command = |line: &&str| line.starts_with("fixbolt bench ") || line.contains(" | fixbolt bench ");
    lines.filter(is_command).map(str::to_owned).collect()
}

#[test]
fn every_command_has_examples_and_each_is_run_here() {
    let help = run(&["--help"]).out;
    let listed = help.split_once("\nCommands:\n").unwrap().1.split("\n\n").next().unwrap();
    let names = listed.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names: Vec<&str> = names.filter(|name| !name.is_empty() && *name != "help").collect();
    assert!(names.contains(&"codec") && names.contains(&"report"), "{names:?}");
    let mut found = BTreeSet::new();
    for name in names {
        let lines = lines_of(name);
        assert!(!lines.is_empty(), "{name} has no example");
        found.extend(lines);
    }
    let pairs = PAIRS.iter().flat_map(|(server, client)| [server, client]);
    let here: BTreeSet<String> = ALONE.iter().chain(pairs).map(|example| example.line.to_owned()).collect();
    assert_eq!(here, found);
}

#[test]
fn the_examples_of_one_process_run() {
    let folder = command::directory("bench-examples");
    let has_two_cores = std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1);
    for example in ALONE.iter().filter(|example| has_two_cores || !example.line.contains("--cores")) {
        if example.line.contains(" print ") && !command::has_fixbolt() {
            continue;
        }
        succeeds(&folder, &example.shortened(""), b"");
    }
}

#[test]
fn the_examples_of_two_processes_run_together() {
    let folder = command::directory("bench-examples-pairs");
    let has_two_cores = std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1);
    for (server, client) in
        PAIRS.iter().filter(|(server, _)| has_two_cores || !server.line.contains("--cores"))
    {
        let line = server.shortened("");
        let mut serving = Serving(start(&folder, &format!("exec {line}")));
        let mut out = BufReader::new(serving.0.stdout.take().expect("it is piped"));
        let mut said = (&mut out).lines().map_while(Result::ok);
        let address = said.find_map(|line| Some(line.strip_prefix("listening ")?.to_owned()));
        let address = address.unwrap_or_else(|| panic!("{line}: it does not say where it listens"));
        // What it prints at the end must not stop it.
        let rest = std::thread::spawn(move || out.lines().map_while(Result::ok).count());
        succeeds(&folder, &client.shortened(&address), b"al");
        let ended = serving.0.wait().expect("it ends");
        assert!(ended.success() && rest.join().is_ok(), "{line}: {ended:?}");
    }
}
