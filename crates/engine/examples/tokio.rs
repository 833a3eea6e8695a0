//! A venue in tokio's loop: a task that waits for the engine's descriptor and its deadline.
//!
//! ```sh
//! cargo run -p fixbolt --features fix44 --example tokio
//! ```

mod desk;

use std::time::Duration;

use fixbolt::session::Application;
use fixbolt::{DrivenEngine, Engine, EngineError};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Drives an engine until it is stopped.
async fn drive<A: Application>(engine: DrivenEngine<A>) -> Result<(), Box<dyn std::error::Error>> {
    #[allow(deprecated, reason = "its successor is unsafe; the engine keeps its descriptor open")]
    let mut engine = AsyncFd::with_interest(engine, Interest::READABLE)?;
    loop {
        match engine.get_mut().poll() {
            Err(EngineError::Stopped) => return Ok(engine.into_inner().stop().map(drop)?),
            polled => polled?,
        }
        let deadline = engine.get_ref().next_deadline();
        tokio::select! {
            // The next call of `poll` takes the events; one that arrives meanwhile is a new edge.
            ready = engine.readable() => {
                ready.expect("the descriptor is open").clear_ready();
            }
            () = tokio::time::sleep_until(deadline.into()) => {}
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = "127.0.0.1:0".parse()?;
    let venue = Engine::builder().accept(address, desk::accepted("VENUE", "TRADER")?).driven(desk::Venue)?;
    let (port, venue_stopper) = (venue.addresses()[0].port(), venue.stopper());
    let (trader, reports) = desk::Trader::new();
    let trader = Engine::builder().connect(desk::initiated("TRADER", port)?).driven(trader)?;
    let trader_stopper = trader.stopper();
    let trading = async {
        let ended = drive(trader).await;
        venue_stopper.stop();
        ended
    };
    let waiting = async {
        while reports.try_recv().map(|report| println!("{report}")).is_err() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        trader_stopper.stop();
    };
    // Both engines, and the rest of the program, on one thread.
    let (venue, trader, ()) = tokio::join!(drive(venue), trading, waiting);
    venue?;
    trader?;
    Ok(())
}

#[test]
fn it_runs() {
    main().unwrap();
}
