//! Trader, venue and drop copy in virtual time, over a network that loses, delays, cuts and
//! garbles, with applications that fail, processes that die and stores that acknowledge late.
//! Everything follows from one seed.
//!
//! `FIXBOLT_SIM_SEEDS=N` runs N seeds, `FIXBOLT_SIM_SEED=S` one of them; a failure names its seed.
//! A seed produces a different run as soon as this code changes, so what a seed finds becomes a
//! separate test (`back_pressure.rs` and `hostile_peer.rs` of the session crate).

#[path = "simulation/counts.rs"]
mod counts;
#[path = "simulation/network.rs"]
mod network;
#[path = "simulation/process.rs"]
mod process;
#[path = "simulation/world.rs"]
mod world;

use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use counts::Counts;
use world::World;

/// Number of seeds in an ordinary test run.
const SEEDS: u64 = 300;

#[test]
fn every_order_arrives_once_and_in_order_whatever_happens() {
    process::silence_simulated_panics();
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seeds = match (number("FIXBOLT_SIM_SEED"), number("FIXBOLT_SIM_SEEDS")) {
        (Some(seed), _) => seed..seed + 1,
        (None, Some(seeds)) => 0..seeds,
        (None, None) => 0..SEEDS,
    };
    let several = seeds.end - seeds.start >= SEEDS;
    let mut all = Counts::default();
    let next = AtomicU64::new(seeds.start);
    let until_the_end = || {
        let mut counts = Counts::default();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return counts;
            }
            counts.add(&run(seed));
        }
    };
    thread::scope(|scope| {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(until_the_end)).collect();
        for thread in threads {
            all.add(&thread.join().unwrap_or_else(|cause| resume_unwind(cause)));
        }
    });
    println!("{all:?}");
    if several {
        all.assert_everything_happened();
    }
}

fn run(seed: u64) -> Counts {
    match catch_unwind(AssertUnwindSafe(|| World::new(seed).run())) {
        Ok(counts) => counts,
        Err(cause) => {
            eprintln!("seed {seed} failed: FIXBOLT_SIM_SEED={seed} repeats it");
            resume_unwind(cause)
        }
    }
}
