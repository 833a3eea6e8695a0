use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use fixbolt_workloads::harness::Times;

use super::*;

/// A folder of peers, each a shell script.
struct Fake {
    folder: Folder,
}

impl Fake {
    fn new(program: Program, script: &str) -> Self {
        let fake = Self { folder: Folder::new().expect("a folder") };
        let build = fake.peers().join(program.folder()).join("build");
        fs::create_dir_all(&build).expect("a folder");
        let path = build.join(program.file());
        // Another process writes it: a file that this one has open for writing could not be run.
        let mut writer = Command::new("sh")
            .args(["-c", "cat >\"$0\" && chmod +x \"$0\""])
            .arg(&path)
            .stdin(Stdio::piped())
            .spawn()
            .expect("a shell");
        let mut input = writer.stdin.take().expect("it is piped");
        input.write_all(format!("#!/bin/sh\n{script}").as_bytes()).expect("it is written");
        drop(input);
        assert!(writer.wait().expect("it ends").success());
        fake
    }

    fn peers(&self) -> PathBuf {
        self.folder.0.join("peers")
    }

    fn found(&self) -> Peers {
        Peers::find_from(Some(self.peers().as_os_str()), Path::new("/")).expect("it is there")
    }
}

const CODEC: CodecTest = CodecTest { messages: 1000, runs: 1, dictionary: None };
const ROUND_TRIP: RoundTripTest =
    RoundTripTest { rate: 2000, messages: 2, warm_up: 5, validate: true, dictionary: None };
const QUICK: MessageTest =
    MessageTest { warm_up: Duration::from_millis(20), batch: Duration::from_millis(2) };

#[test]
fn the_folder_is_that_of_the_environment_else_one_above() {
    let fake = Fake::new(Program::QuickfixJ, "");
    let peers = fake.peers();
    let deep = fake.folder.0.join("one/two");
    assert_eq!(Peers::find_from(None, &deep).expect("it is above").folder(), peers);
    assert_eq!(Peers::find_from(Some(OsStr::new("")), &deep).expect("it is above").folder(), peers);
    assert_eq!(fake.found().folder(), peers);
    let none = Peers::find_from(None, &peers.join("quickfixj")).map(|found| found.folder);
    assert_eq!(none, Ok(peers.clone()), "the folder itself is one above");
    let elsewhere = Peers::find_from(Some(deep.as_os_str()), &deep).map(|found| found.folder);
    assert_eq!(elsewhere, Err(PeerError::NoFolder { named: Some(deep) }));
}

#[test]
fn hffix_has_two_builds_each_with_a_row_for_each_message_and_operation() {
    let line = |message: &str, operation: &str| {
        format!(
            r#"{{"engine":"hffix","version":"v1","flags":"-O2","message":"{message}","operation":"{operation}","ns":50.5,"ns_min":50,"ns_max":52,"wall_ns":51,"batches":3,"messages":640}}"#
        )
    };
    let of = |message| ["index", "index-unsummed", "encode"].map(|operation| line(message, operation));
    let six = [line("NOS-222", "typed-six-unplaced")];
    let lines = [&of("NOS-222")[..], &six, &of("AIM-97")].concat();
    let script = |lines: &[String]| {
        format!(
            "[ \"$*\" = 'codec --batches 3 --rounds 10' ] || exit 2\ncat <<'.'\n{}\n.\n",
            lines.join("\n")
        )
    };
    let fake = Fake::new(Program::HffixO2, &script(&lines));
    let rows = fake.found().codec(Program::HffixO2, 3, 10).expect("figures");
    assert_eq!(rows.len(), 7);
    assert_eq!((rows[3].operation.as_str(), rows[3].time.as_ref().unwrap().ns), ("typed-six-unplaced", 50.5));
    let folder = fake.peers();
    let error = fake.found().codec(Program::Hffix, 3, 10).expect_err("it is not built").to_string();
    let command = format!("make -C {}/hffix bench HFFIX=SOURCE_TREE_OF_HFFIX", folder.display());
    assert!(
        error.starts_with("hffix -O3 -march=native is not measured") && error.contains(&command),
        "{error}"
    );
    let fake = Fake::new(Program::Hffix, &script(&lines[1..]));
    let error = fake.found().codec(Program::Hffix, 3, 10).expect_err("one is missing").to_string();
    assert!(
        error.contains("hffix-bench codec --batches 3 --rounds 10") && error.contains("6 of 7 rows"),
        "{error}"
    );
}

#[test]
fn a_program_that_is_not_built_tells_what_builds_it() {
    let fake = Fake::new(Program::QuickfixJ, "");
    let (peers, folder) = (fake.found(), fake.peers());
    assert!(
        matches!(peers.state(Program::QuickfixJ), State::Ready(path) if path.ends_with("quickfixj-bench"))
    );
    let error = peers.fix8_codec(&CODEC).expect_err("it is not built");
    let folder = folder.display();
    assert_eq!(
        error.to_string(),
        format!(
            "QuickFIX C++ is not measured, because its benchmark program is not built: run \
             `{folder}/tools quickfix-cpp && make -C {folder}/quickfix-cpp bench`"
        )
    );
}

#[test]
fn figures_are_read_and_so_is_why_there_are_none() {
    let script = r#"
        [ "$1 $2 $3 $4 $5 $6" = "fix8-codec --messages 1000 --runs 1 --dictionary" ] || exit 9
        grep -q "<fix type='FIX' major='4' minor='4'" "$7" || exit 8
        for operation in encode build-encode decode decode-typed; do
            echo '{"engine":"Fake","version":"1.2","flags":"-O2","operation":"'$operation'","run":1,"messages":1000,"seconds":0.5,"cpu_seconds":0.25}'
        done
        echo '{"engine":"Fake","version":"1.2","operation":"decode-validated","run":1,"messages":1000,"unavailable":"no dictionary"}'"#;
    let runs = Fake::new(Program::QuickfixCpp, script).found().fix8_codec(&CODEC).expect("figures");
    assert_eq!(runs.len(), 5);
    let CodecRun { engine, version, operation, run, messages, time, settings } = &runs[0];
    assert_eq!((engine.as_str(), version.as_str(), operation.as_str()), ("Fake", "1.2", "encode"));
    assert_eq!((*run, *messages), (1, 1000));
    assert_eq!(*time, Ok(CodecTime { seconds: 0.5, cpu_seconds: 0.25 }));
    assert_eq!(
        settings.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect::<Vec<_>>(),
        [("flags", Some("-O2"))]
    );
    assert_eq!(runs[4].time, Err("no dictionary".to_owned()));
    let other = script.replace("\"messages\":1000,\"seconds\"", "\"messages\":10,\"seconds\"");
    let error = Fake::new(Program::QuickfixCpp, &other).found().fix8_codec(&CODEC).expect_err("fewer");
    assert!(error.to_string().ends_with("1000 messages, but has 10"), "{error}");
}

#[test]
fn a_round_trip_has_the_times_of_every_message() {
    let script = r#"
        for argument; do [ "$previous" = --samples ] && samples=$argument; previous=$argument; done
        printf 'intended_ns,started_ns,ended_ns\n10,11,50\n20,21,\n' >"$samples"
        echo '{"engine":"Fake","version":"1.2","rate":2000,"messages":2,"warm_up":5,"lost":1,"validation":true,"options":"'$*'"}'"#;
    let peers = Fake::new(Program::QuickfixCpp, script);
    let run = peers.found().antenna(&ROUND_TRIP).expect("figures");
    let samples = [
        Times { intended: 10, started: 11, ended: Some(50) },
        Times { intended: 20, started: 21, ended: None },
    ];
    assert_eq!(run.samples, samples);
    assert_eq!((run.rate, run.messages, run.warm_up, run.lost), (2000, 2, 5, 1));
    let options = run.settings["options"].as_str().expect("a text");
    assert!(options.starts_with("antenna --validate Y --rate 2000 --messages 2 --warm-up 5 "), "{options}");
    assert!(options.contains(" --dictionary "), "{options}");
    let bare = peers.found().jlbh(Program::QuickfixCpp, &RoundTripTest { validate: false, ..ROUND_TRIP });
    let options = bare.expect("figures").settings["options"].to_string();
    assert!(options.contains("jlbh --rate") && !options.contains("--dictionary"), "{options}");
    let slower = peers.found().antenna(&RoundTripTest { rate: 200_000_000, ..ROUND_TRIP });
    let slower = slower.expect_err("one each 10 ns");
    assert!(slower.to_string().ends_with("200000000 messages a second, but 100000000 were due"), "{slower}");
    let missing =
        peers.found().antenna(&RoundTripTest { messages: 3, ..ROUND_TRIP }).expect_err("one is missing");
    assert!(missing.to_string().ends_with("the times of 3 messages, but has those of 2"), "{missing}");
}

#[test]
fn a_failure_says_what_the_program_said() {
    let fake = Fake::new(Program::QuickfixJ, "echo 'MarketDataRequest, write: wrong' >&2; exit 1");
    let error = fake.found().fsfix(QUICK).expect_err("it failed");
    assert_eq!(
        error.to_string(),
        "`quickfixj-bench fsfix --warm-up 20 --batch 2` failed: exit status: 1: MarketDataRequest, write: wrong"
    );
    let error = Fake::new(Program::QuickfixJ, "echo hello").found().fsfix(QUICK).expect_err("no JSON");
    assert!(error.to_string().ends_with("in the line hello"), "{error}");
    let error = Fake::new(Program::QuickfixJ, "").found().fsfix(QUICK).expect_err("nothing printed");
    assert!(error.to_string().ends_with(": 0 of 16 rows"), "{error}");
}

#[test]
fn a_time_that_is_not_positive_is_no_figure() {
    let row = |ns: &str| {
        format!(
            r#"{{"engine":"E","version":"1","message":"M","operation":"write","batches":11,"messages":64,"ns":{ns},"ns_min":1,"ns_max":3,"wall_ns":2,"jvm":"J"}}"#
        )
    };
    let read = results::message_row(&row("2.5")).expect("a row");
    assert_eq!(read.time.map(|time| (time.ns, time.batches, time.messages)), Ok((2.5, 11, 64)));
    assert_eq!(read.settings.keys().collect::<Vec<_>>(), ["jvm"]);
    assert_eq!(results::message_row(&row("0")), Err("a time is not positive".to_owned()));
    assert!(results::message_row(&row("null")).is_err());
    let wrong = "the median is not between the fastest and the slowest batch";
    assert_eq!(results::message_row(&row("0.5")), Err(wrong.to_owned()));
    assert_eq!(results::message_row(&row("4")), Err(wrong.to_owned()));
}

#[test]
fn samples_that_cannot_be_are_refused() {
    let head = "intended_ns,started_ns,ended_ns\n";
    assert_eq!(results::samples(head), Ok(Vec::new()));
    for wrong in ["10,9,20", "10,11,10", "10,11", "10,11,12,13", "a,11,12", "10,,12"] {
        let error = results::samples(&format!("{head}1,2,3\n{wrong}\n")).expect_err(wrong);
        assert_eq!(error, format!("line 3 of the file of samples is no sample: {wrong}"));
    }
    assert!(results::samples("1,2,3\n").is_err());
}

#[test]
fn a_program_ends_with_its_limit_or_with_the_measurement() {
    let fake = Fake::new(Program::QuickfixJ, "exec sleep 60");
    let State::Ready(path) = fake.found().state(Program::QuickfixJ) else { panic!("it is built") };
    let call = Call::new(Program::QuickfixJ, "fsfix").within(Duration::from_millis(1));
    let control = Control::default();
    let error = call.output(&path, &fake.folder.0, &control).expect_err("it sleeps");
    assert!(error.to_string().contains("it did not end within 0 s"), "{error}");
    control.stop();
    let error = fake.found().controlled_by(control).fsfix(QUICK).expect_err("it is stopped");
    assert_eq!(error.to_string(), "`quickfixj-bench fsfix --warm-up 20 --batch 2` was interrupted");
}

#[test]
fn progress_is_the_number_of_lines_so_far() {
    let fake = Fake::new(Program::QuickfixJ, "echo one; echo two; sleep 1; exit 1");
    let control = Control::default();
    fake.found().controlled_by(control.clone()).fsfix(QUICK).expect_err("it failed");
    assert_eq!(control.status(), ("QuickFIX/J: fsfix".to_owned(), 2, 16));
}

#[test]
fn a_program_that_the_terminal_interrupted_has_not_failed() {
    // A shell that ignores the interrupt from its start, as one in the background does, cannot be
    // interrupted; `env` undoes that.
    for script in ["exec env --default-signal=INT sh -c 'kill -INT $$'", "exit 130"] {
        let error = Fake::new(Program::QuickfixJ, script).found().fsfix(QUICK).expect_err("it ended");
        assert!(matches!(error, PeerError::Stopped { .. }), "{error}");
    }
}
