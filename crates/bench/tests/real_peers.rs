//! The benchmark programs of `peers` themselves, each run shortly.
//!
//! `.ci/long` builds them, which takes other engines' libraries.

use std::time::Duration;

use fixbolt_bench::peers::{CodecTest, MessageTest, Peers, Program, RoundTripRun, RoundTripTest};

fn peers() -> Peers {
    Peers::find().expect("the repository has them")
}

fn quick(rate: u32, validate: bool) -> RoundTripTest {
    RoundTripTest { rate, messages: 200, warm_up: 100, validate, dictionary: None }
}

/// Prints the median, and checks that every order came back.
fn judge(test: &str, run: &RoundTripRun) {
    let mut times: Vec<u64> =
        run.samples.iter().filter_map(|sample| Some(sample.ended? - sample.intended)).collect();
    times.sort_unstable();
    println!("{test} | {} {} | {} ns", run.engine, run.version, times[times.len() / 2]);
    assert_eq!((run.lost, run.messages, times.len()), (0, 200, 200), "{run:?}");
    assert!(run.samples.windows(2).all(|two| two[0].intended < two[1].intended));
}

#[test]
#[ignore = "needs `make -C peers/quickfix-cpp bench`"]
fn quickfix_cpp_encodes_and_decodes() {
    let runs = peers().fix8_codec(&CodecTest { messages: 2_000, runs: 2, dictionary: None });
    for run in runs.expect("figures") {
        let time = run.time.expect("Fixbolt's dictionary is one of QuickFIX's format");
        let ns = time.seconds * 1e9 / 2_000.0;
        println!("{} {} | {} {} | {ns:.0} ns", run.engine, run.version, run.operation, run.run);
    }
}

#[test]
#[ignore = "needs `make -C peers/quickfix-cpp bench`"]
fn quickfix_cpp_answers_orders() {
    for validate in [false, true] {
        judge("antenna", &peers().antenna(&quick(1_000, validate)).expect("figures"));
    }
    judge("jlbh", &peers().jlbh(Program::QuickfixCpp, &quick(2_000, true)).expect("figures"));
}

#[test]
#[ignore = "needs `make -C peers/quickfixj bench`"]
fn quickfixj_answers_orders() {
    judge("jlbh", &peers().jlbh(Program::QuickfixJ, &quick(2_000, true)).expect("figures"));
}

#[test]
#[ignore = "needs `make -C peers/quickfixj bench`"]
fn quickfixj_writes_and_reads_the_four_messages() {
    let test = MessageTest { warm_up: Duration::from_millis(50), batch: Duration::from_millis(1) };
    for row in peers().fsfix(test).expect("figures") {
        let time = row.time.expect("QuickFIX/J accepts all four");
        println!("{} {} | {} {} | {:.0} ns", row.engine, row.version, row.message, row.operation, time.ns);
    }
}
