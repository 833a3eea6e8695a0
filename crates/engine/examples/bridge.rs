//! A bridge from a channel of another thread: a strategy decides elsewhere, and its orders go out
//! through the session's queue. Each ends as sent, with its sequence number, or as not sent, with
//! the reason.
//!
//! ```sh
//! cargo run -p fixbolt --features fix44 --example bridge
//! ```

mod desk;

use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use fixbolt::prelude::*;
use fixbolt::{Engine, PostError};

/// Says what became of each order.
struct Trader(Sender<String>);

impl Application for Trader {
    fn on_event(&mut self, event: &Event<'_>, _: &mut Turn<'_>) -> Result<(), Failure> {
        match event {
            Event::LoggedOn => self.0.send("logged on".to_owned())?,
            Event::Sent { ticket, seq } => self.0.send(format!("{ticket:?} was sent as {seq}"))?,
            Event::NotSent { ticket, why } => self.0.send(format!("{ticket:?} was not sent: {why}"))?,
            _ => {}
        }
        Ok(())
    }

    fn on_message(&mut self, report: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
        self.0.send(desk::words(report)?)?;
        Ok(Delivery::Done)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = "127.0.0.1:0".parse()?;
    let venue = Engine::builder().accept(address, desk::accepted("VENUE", "TRADER")?).start(desk::Venue)?;
    let session = desk::initiated("TRADER", venue.addresses()[0].port())?;
    let id = session.settings.id.clone();
    let (says, said) = channel();
    let trader = Engine::builder().connect(session).start(Trader(says))?;
    println!("{}", said.recv()?);

    // The strategy: it knows nothing of FIX.
    let (orders_to, orders) = channel::<String>();
    let strategy = std::thread::spawn(move || {
        for n in 1..=3 {
            // The bridge may have ended.
            let _ = orders_to.send(format!("order-{n}"));
        }
    });
    // The bridge.
    let mut sender = trader.session(&id).ok_or("no such session")?.sender();
    for id in orders {
        // A full queue is back-pressure: the bridge waits for a moment, and so does the channel.
        match desk::order(sender.within(Duration::from_secs(1)), id.as_bytes()) {
            Ok(ticket) => println!("{id} has {ticket:?}"),
            Err(error @ PostError::Full) => println!("{id} is dropped: {error}"),
            Err(error) => return Err(error.into()),
        }
    }
    strategy.join().map_err(|_| "the strategy has panicked")?;
    for line in said.iter().take(6) {
        println!("{line}");
    }
    trader.stop()?;
    venue.stop()?;
    Ok(())
}

#[test]
fn it_runs() {
    main().unwrap();
}
