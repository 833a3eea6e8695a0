//! The threads of a process with several engines. A process of its own: it counts its threads.
#![cfg(target_os = "linux")]

mod support;

use std::collections::BTreeMap;
use std::time::Duration;

use fixbolt::Engine;
use fixbolt::session::Role;
use fixbolt_conformance::testing::ThreadStatus;
use support::*;

/// Returns how often each thread of the library has slept, by its name and number.
fn slept() -> BTreeMap<(String, String), u64> {
    let threads = ThreadStatus::of_process(std::process::id()).into_iter();
    let ours = threads.filter(|thread| thread.name().starts_with("fixbolt-"));
    ours.map(|thread| ((thread.name().to_owned(), thread.field("Pid").to_owned()), thread.slept())).collect()
}

#[test]
fn several_engines_share_the_threads_of_their_journals_and_none_runs_while_there_is_nothing_to_do() {
    let scratch = Scratch::new("threads");
    let engine = |n: usize| {
        let builder = Engine::builder()
            .accept(anywhere(), of(&format!("FIX.4.4:VENUE->FIXED{n}"), Role::Acceptor))
            .accept_any(anywhere(), |id| Some(of(&id.to_string(), Role::Acceptor).into()));
        let builder = builder.journal(scratch.0.join(format!("journal-{n}")));
        builder
            .message_log(scratch.0.join(format!("log-{n}")))
            .start_with(2, |_| Recorder::venue().0)
            .unwrap()
    };
    let engines = [0, 1].map(engine);
    // Each worker creates and closes the journal of a counterparty that was not known before.
    for engine in &engines {
        let peers = ["A", "B"].map(|name| {
            let mut peer = Peer::connect(engine.addresses()[0]).named(name, "VENUE");
            peer.log_on();
            peer.send("D", "11=1");
            assert!(peer.receive().contains("|35=8|"));
            peer
        });
        drop(peers);
    }
    let mut woken = BTreeMap::new();
    eventually(|| {
        let before = slept();
        std::thread::sleep(Duration::from_secs(2));
        let after = slept();
        woken = after.into_iter().map(|(thread, now)| (thread.clone(), now - before[&thread])).collect();
        woken.iter().all(|((name, _), times)| {
            *times
                <= match name.as_str() {
                    // Workers see once a second that the engine lives.
                    "fixbolt-0" | "fixbolt-1" => 5,
                    // It looks at the directories once a second; the disk may keep it waiting.
                    "fixbolt-sync" => 30,
                    _ => 0,
                }
        })
    });
    let names: Vec<&str> = woken.keys().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "fixbolt-0",
            "fixbolt-0",
            "fixbolt-1",
            "fixbolt-1",
            "fixbolt-files",
            "fixbolt-history",
            // The system keeps fifteen characters of a name.
            "fixbolt-message",
            "fixbolt-message",
            "fixbolt-store",
            "fixbolt-sync"
        ]
    );
    for engine in engines {
        engine.stop().unwrap();
    }
    assert!(slept().is_empty(), "{:?}", slept());
}
