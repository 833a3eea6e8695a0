//! `fixbolt simulate`: worlds by seed, wrong usage.

mod command;

use command::fixbolt;

/// Runs the command and returns its exit status, answer and remarks.
fn simulate(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = fixbolt().arg("simulate").args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn worlds_without_a_fault_are_counted_and_answer_yes() {
    let (status, answer, remarks) = simulate(&["--world", "none", "--seeds", "5", "--jobs", "1"]);
    assert_eq!(status, Some(0), "{answer}{remarks}");
    assert!(answer.starts_with("5 worlds, "), "{answer}");
    assert!(answer.contains(" worlds and ") && answer.contains(" steps a second on 1 threads"), "{answer}");
    assert!(remarks.starts_with("worlds from seed "), "{remarks}");
    // Nobody asked for a seed, so the next run has others.
    let (_, _, again) = simulate(&["--world", "none", "--seeds", "1"]);
    assert_ne!(remarks.lines().next(), again.lines().next());
}

#[test]
fn wrong_usage_says_what_may_stand_there() {
    for (arguments, said) in [
        (&["--world", "rain"][..], "\"rain\" is no fault of a world: inbound=RATE, outbound=RATE, cuts"),
        (&["--world", "inbound=999"], "the rate is 0 to 300 of a thousand messages"),
        (&["--seeds", "0"], "0 is not in 1.."),
        (&["--seeds", "1", "--minutes", "1"], "cannot be used with"),
    ] {
        let (status, _, remarks) = simulate(arguments);
        assert_eq!(status, Some(2), "{arguments:?}");
        assert!(remarks.contains(said), "{arguments:?}: {remarks}");
    }
}
