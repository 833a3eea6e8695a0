//! A trader that sends one order and waits for the report, or for SIGTERM; the venue runs in the
//! same program.
//!
//! ```sh
//! cargo run -p fixbolt --features fix44 --example initiator
//! ```

mod desk;

use std::time::Duration;

use fixbolt::{Change, Engine};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = "127.0.0.1:0".parse()?;
    let venue = Engine::builder().accept(address, desk::accepted("VENUE", "TRADER")?).start(desk::Venue)?;

    let mut session = desk::initiated("TRADER", venue.addresses()[0].port())?;
    session.reconnect_interval = Duration::from_secs(1);
    session.settings.timing.heart_bt_int = 10;
    let id = session.settings.id.clone();
    let (trader, reports) = desk::Trader::new();
    let trader = Engine::builder().connect(session).start(trader)?;
    trader.stop_on_signals()?;
    while trader.is_running() {
        let Ok(report) = reports.recv_timeout(Duration::from_secs(1)) else { continue };
        println!("{report}");
        // An operator's command, with its reason in the journal.
        let session = trader.session(&id).ok_or("no such session")?;
        let end = session.log_out(Change::new("jane", "end of day"), "bye", Duration::from_secs(5))?;
        println!("the connection ended: {end}");
        break;
    }
    trader.stop()?;
    venue.stop()?;
    Ok(())
}

#[test]
fn it_runs() {
    main().unwrap();
}
