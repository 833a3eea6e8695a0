//! Locked memory. The whole process has it once an engine was started with it, so this is a process
//! of its own, with one test.

#![cfg(target_os = "linux")]

mod support;

use fixbolt::{Engine, EngineBuilder};
use rustix::process::{Resource, getrlimit};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
use support::*;

fn builder(scratch: &Scratch) -> EngineBuilder {
    Engine::builder().accept(anywhere(), acceptor()).journal(&scratch.0)
}

/// Returns a line of /proc/self/status that is in KiB.
fn kib(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap()
}

/// Returns how often the first worker's thread had to wait for a page that needs no disk.
fn worker_faults() -> u64 {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    // A thread may end meanwhile.
    let mut stats = tasks.filter_map(|task| std::fs::read_to_string(task.unwrap().path().join("stat")).ok());
    let stat = stats.find(|stat| stat.contains("(fixbolt-0)")).unwrap();
    stat.rsplit(')').next().unwrap().split_whitespace().nth(7).unwrap().parse().unwrap()
}

/// Logs on, sends orders, and prints how many pages the worker waited for.
fn exchange(builder: EngineBuilder, name: &str) {
    let (venue, _log) = Recorder::venue();
    let engine = builder.start(venue).unwrap();
    let mut trader = Peer::connect(engine.addresses()[0]);
    eventually(|| engine.cycles()[0] > 0);
    let begin = worker_faults();
    trader.log_on();
    let mut faults = vec![worker_faults() - begin];
    for order in ["A", "B"] {
        let before = worker_faults();
        trader.send("D", &format!("11={order}"));
        let report = trader.receive();
        assert!(report.contains(&format!("|11={order}|")), "{report}");
        faults.push(worker_faults() - before);
    }
    println!("{name}: page faults of the worker at the Logon, the first and the second order: {faults:?}");
    println!("{name}: VmLck {} KiB, VmRSS {} KiB", kib("VmLck:"), kib("VmRSS:"));
    drop(trader);
    engine.stop().unwrap();
}

#[test]
fn memory_is_locked_on_request_or_the_start_says_what_it_needs() {
    let (scratch, another) = (Scratch::new("memory"), Scratch::new("memory-locked"));
    exchange(builder(&scratch), "as it is");
    assert_eq!(kib("VmLck:"), 0);

    // Capabilities belong to a thread.
    let unprivileged = || {
        let mut sets = capabilities(None).unwrap();
        sets.effective.remove(CapabilitySet::IPC_LOCK);
        set_capabilities(None, sets).unwrap();
        builder(&scratch).lock_memory(true).start(Recorder::venue().0).map(drop)
    };
    if let Some(limit) = getrlimit(Resource::Memlock).current {
        let refused = std::thread::scope(|s| s.spawn(unprivileged).join().unwrap()).unwrap_err();
        let said = format!(
            "locking the memory (LockMemory): the process may lock {limit} bytes (RLIMIT_MEMLOCK), and allocations beyond that would fail; raise the limit (`ulimit -l unlimited`"
        );
        assert!(refused.to_string().starts_with(&said), "{refused}");
        assert_eq!(kib("VmLck:"), 0);
        if !capabilities(None).unwrap().effective.contains(CapabilitySet::IPC_LOCK) {
            println!("not tested: this process may not lock its memory");
            return;
        }
    } else {
        println!("the refusal is not tested: this process may lock as much as it likes (`ulimit -l`)");
    }

    exchange(builder(&another).lock_memory(true), "locked");
    let (locked, resident) = (kib("VmLck:"), kib("VmRSS:"));
    assert!(locked > 1024, "{locked}");
    // What is mapped later is locked as it is used: the segments of a journal are not read in.
    let unused = vec![0u8; 64 << 20];
    assert!(kib("VmLck:") >= locked + (64 << 10));
    assert!(kib("VmRSS:") < resident + (8 << 10));
    assert_eq!(unused[32 << 20], 0);
}
