//! Many sessions of one port over several workers, one of them with a worker of its own.
//!
//! ```sh
//! cargo run -p fixbolt --features fix44 --example workers
//! ```

mod desk;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use fixbolt::prelude::*;
use fixbolt::{Engine, Waiting, WorkerOptions};

/// Fills orders, and counts those of each worker.
struct Venue {
    worker: usize,
    orders: Arc<[AtomicU32; 3]>,
}

impl Application for Venue {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        self.orders[self.worker].fetch_add(1, Relaxed);
        desk::fill(message, turn)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let names: Vec<String> = (0..20).map(|n| format!("TRADER{n}")).collect();
    let address = "127.0.0.1:0".parse()?;
    let mut venue = Engine::builder();
    for name in &names {
        venue = venue.accept(address, desk::accepted("VENUE", name)?);
    }
    // The most active counterparty gets a thread that does nothing else, and spins for a moment
    // before it sleeps.
    let mut options = WorkerOptions::default();
    options.waiting = Waiting::SpinningFor(Duration::from_micros(50));
    let orders: Arc<[AtomicU32; 3]> = Arc::default();
    let venue = venue
        .dedicated_worker(desk::accepted("VENUE", "TRADER0")?.id, options)
        .start_with(2, |worker| Venue { worker, orders: Arc::clone(&orders) })?;

    let (trader, reports) = desk::Trader::new();
    let port = venue.addresses()[0].port();
    let mut traders = Engine::builder();
    for name in &names {
        traders = traders.connect(desk::initiated(name, port)?);
    }
    let traders = traders.start(trader)?;
    for report in reports.iter().take(names.len()) {
        println!("{report}");
    }
    traders.stop()?;
    venue.stop()?;
    for (worker, orders) in orders.iter().enumerate() {
        println!("worker {worker}: {} orders", orders.load(Relaxed));
    }
    Ok(())
}

#[test]
fn it_runs() {
    main().unwrap();
}
