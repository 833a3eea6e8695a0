//! `fixbolt demo`: the page and its counts, the JSON form, where it refuses to start, and how it is
//! interrupted.

mod command;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use command::{directory, fixbolt, run};

#[test]
fn every_order_gets_its_reports_and_the_page_says_so() {
    let folder = directory("demo");
    let dir = folder.join("journals");
    let dir = dir.to_str().unwrap();
    let ended = run(&["demo", "--orders", "2000", "--rate", "50", "--seed", "7", "--dir", dir]);
    assert_eq!(ended.status, 0, "{}{}", ended.out, ended.err);
    for shown in [
        "orders       2,500: 2,000 as fast as back-pressure allows, then 500 at 50/s for 10 s",
        "numbers      agree: next order message 2,503 out, 2,503 in;",
        "verdict      every order got its reports; both journals are whole",
        "round trip   p50 ",
        "What to try next:",
        dir,
    ] {
        assert!(ended.out.contains(shown), "{shown}: {}", ended.out);
    }
    // The journals are ordinary ones.
    let verified = run(&["journal", "verify", &format!("{dir}/trader")]);
    assert_eq!(verified.status, 0, "{}", verified.out);
    let again = run(&["demo", "--orders", "10", "--rate", "0", "--dir", dir]);
    assert_eq!(again.status, 2);
    assert!(again.err.contains("already exists: choose a directory without journals"), "{}", again.err);
}

#[test]
fn the_same_seed_produces_the_same_reports_and_json_is_one_line() {
    let counts = |name: &str, seed: &str| {
        let dir = directory(name).join("journals");
        let arguments = ["demo", "--orders", "500", "--rate", "0", "--seed", seed, "-o", "json", "--dir"];
        let ended = run(&[&arguments[..], &[dir.to_str().unwrap()]].concat());
        assert_eq!(ended.status, 0, "{}{}", ended.out, ended.err);
        assert_eq!(ended.out.lines().count(), 1);
        assert!(
            ended.out.contains(r#""numbers_agree":true"#)
                && ended.out.contains(r#""ok":true,"complaints":[]"#)
        );
        assert!(!ended.out.contains("round_trip"), "without a paced part there are no figures for it");
        let (_, rest) = ended.out.split_once(r#""orders":500,"#).expect("the orders are counted");
        rest.split_once(r#","elapsed_s""#).expect("the kinds are").0.to_owned()
    };
    let one = counts("demo-one", "7");
    assert!(one.contains(r#""kinds":{"rejected":"#), "{one}");
    assert_eq!(one, counts("demo-two", "7"));
    assert_ne!(one, counts("demo-three", "8"));
}

#[test]
fn an_interrupt_logs_both_sides_out_and_is_status_130() {
    let dir = directory("demo-interrupt").join("journals");
    let mut child = fixbolt()
        .args(["demo", "--orders", "1", "--rate", "10", "--dir", dir.to_str().unwrap()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while !dir.join("trader").exists() && begin.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(500));
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let verified = run(&["journal", "stat", dir.join("venue").to_str().unwrap()]);
    assert!(verified.status == 0 && verified.out.contains("closed cleanly"), "{}", verified.out);
}

#[test]
fn wrong_usage_is_status_2() {
    for arguments in [&["demo", "--orders", "0"][..], &["demo", "--rate", "-1"], &["demo", "extra"]] {
        let ended = run(arguments);
        assert_eq!((ended.status, ended.out.as_str()), (2, ""), "{arguments:?}");
    }
    let file = directory("demo-file").join("file");
    std::fs::write(&file, "").unwrap();
    let ended = run(&["demo", "--orders", "1", "--dir", file.to_str().unwrap()]);
    assert_eq!(ended.status, 2);
    assert!(ended.err.contains(file.to_str().unwrap()), "{}", ended.err);
}
