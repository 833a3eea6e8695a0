//! A router between two sessions: orders of a client go to an exchange, its reports come back.
//!
//! Both sessions belong to one worker. What a callback writes to the other session takes effect
//! together with the message that it was called for, or not at all: no order is lost between them,
//! and none is sent twice.
//!
//! ```sh
//! cargo run -p fixbolt --features fix44 --example router
//! ```

mod desk;

use fixbolt::Engine;
use fixbolt::prelude::*;

/// Passes each message on to the session on the other side.
struct Router {
    client: SessionId,
    exchange: SessionId,
}

impl Application for Router {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        let from_client = *turn.session_id() == self.client;
        let to = if from_client { &self.exchange } else { &self.client };
        let Some(other) = turn.find(to).and_then(|key| turn.to(key)) else {
            let reason = BusinessRejectCode::DELIVER_TO_FIRM_NOT_AVAILABLE_AT_THIS_TIME;
            return Ok(Delivery::BusinessReject(BusinessReject::new(reason)));
        };
        // The body as it came, groups and all; the header is the other session's.
        message.forward(other, &[], |_| ())?;
        Ok(Delivery::Done)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = "127.0.0.1:0".parse()?;
    let exchange = desk::accepted("VENUE", "ROUTER")?;
    let exchange = Engine::builder().accept(address, exchange).start(desk::Venue)?;

    let client = desk::accepted("VENUE", "TRADER")?;
    let to_exchange = desk::initiated("ROUTER", exchange.addresses()[0].port())?;
    let app = Router { client: client.id.clone(), exchange: to_exchange.settings.id.clone() };
    let sides = [app.client.clone(), app.exchange.clone()];
    // With several workers, `together` keeps both sessions on one of them.
    let router = Engine::builder().accept(address, client).connect(to_exchange).together(sides).start(app)?;

    let (trader, reports) = desk::Trader::new();
    let session = desk::initiated("TRADER", router.addresses()[0].port())?;
    let trader = Engine::builder().connect(session).start(trader)?;
    println!("{}", reports.recv()?);
    trader.stop()?;
    router.stop()?;
    exchange.stop()?;
    Ok(())
}

#[test]
fn it_runs() {
    main().unwrap();
}
