//! A venue in a loop of the program's own, on one thread that it shares with other work.
//!
//! ```sh
//! cargo run -p fixbolt --features fix44 --example driven
//! ```

mod desk;

use std::time::{Duration, Instant};

use fixbolt::{Engine, EngineError};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = "127.0.0.1:0".parse()?;
    let mut venue =
        Engine::builder().accept(address, desk::accepted("VENUE", "TRADER")?).driven(desk::Venue)?;
    // The trader has a thread of its engine's.
    let (trader, reports) = desk::Trader::new();
    let session = desk::initiated("TRADER", venue.addresses()[0].port())?;
    let trader = Engine::builder().connect(session).start(trader)?;

    let stopper = venue.stopper();
    let mut ticks = 0;
    loop {
        // A loop that waits for descriptors adds the venue's, and calls `poll` when it is readable,
        // or at the deadline. This one has no others, and leaves the waiting to the engine.
        let wait = venue.next_deadline().saturating_duration_since(Instant::now());
        match venue.poll_for(wait.min(Duration::from_millis(50))) {
            Err(EngineError::Stopped) => break,
            polled => polled?,
        }
        ticks += 1;
        if let Ok(report) = reports.try_recv() {
            println!("{report}");
            stopper.stop();
        }
    }
    println!("the loop went round {ticks} times");
    venue.stop()?;
    trader.stop()?;
    Ok(())
}

#[test]
fn it_runs() {
    main().unwrap();
}
