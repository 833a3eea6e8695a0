//! A venue and a trader in one process, over loopback TCP: the trader asks for an auction of two
//! parcels, the venue reads the request typed and acknowledges it.

use std::sync::mpsc;

use custom_dialect::auction::fields::{AuctionType, PartyRole};
use custom_dialect::auction::groups::{parcels_grp::Required as Parcel, parties::Required as Party};
use custom_dialect::auction::prelude::*;
use custom_dialect::auction::{AuctionAck, AuctionRequest, auction_ack, auction_request};
use custom_dialect::validator;
use fixbolt::codec::{Decimal, Message};
use fixbolt::session::{
    Application, Delivery, Event, Failure, Role, SessionDictionary, SessionSettings, Turn,
};

struct Venue;

impl Application for Venue {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        let Ok(request) = AuctionRequest::read(message) else { return Ok(Delivery::UNSUPPORTED) };
        // The session's validator has let it pass: what is required is there, and every value has
        // its form.
        let (Ok(auction_id), Ok(auction_type), Ok(parcels)) =
            (request.auction_id(), request.auction_type(), request.parcels())
        else {
            return Ok(Delivery::UNSUPPORTED);
        };
        let mut cum_qty = Decimal::from(0);
        for parcel in parcels {
            let (Ok(id), Ok(quantity)) = (parcel.parcel_id(), parcel.parcel_qty()) else { continue };
            println!("venue: {auction_type:?} auction, parcel {id} of {quantity}");
            cum_qty = cum_qty.checked_add(quantity).unwrap_or(cum_qty);
        }
        for party in request.party_ids().into_iter().flatten() {
            let desk = party.desk().ok().flatten().unwrap_or("none".into());
            println!("venue: desk {desk}");
        }
        let required = auction_ack::Required { auction_id, auction_type, cum_qty };
        AuctionAck::send(turn.session(), required, |_| {})?;
        Ok(Delivery::Done)
    }
}

/// Tells the main thread what happens.
struct Trader(mpsc::Sender<String>);

impl Application for Trader {
    fn on_message(&mut self, message: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
        let Ok(ack) = AuctionAck::read(message) else { return Ok(Delivery::UNSUPPORTED) };
        if let (Ok(id), Ok(quantity)) = (ack.auction_id(), ack.cum_qty()) {
            self.0.send(format!("auction {} of {quantity} in all", id.escape_ascii())).ok();
        }
        Ok(Delivery::Done)
    }

    fn on_event(&mut self, event: &Event<'_>, _: &mut Turn<'_>) -> Result<(), Failure> {
        if matches!(event, Event::LoggedOn) {
            self.0.send("logged on".to_owned()).ok();
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut session = SessionSettings::new("FIX.4.4:VENUE->TRADER".parse()?, Role::Acceptor);
    session.dictionary = SessionDictionary::Own(validator());
    let venue = fixbolt::Engine::builder().accept("127.0.0.1:0".parse()?, session).start(Venue)?;

    let mut session = SessionSettings::new("FIX.4.4:TRADER->VENUE".parse()?, Role::Initiator);
    session.dictionary = SessionDictionary::Own(validator());
    let (id, (told, news)) = (session.id.clone(), mpsc::channel());
    let session = fixbolt::Initiation::new(session, "127.0.0.1", venue.addresses()[0].port());
    let trader = fixbolt::Engine::builder().connect(session).start(Trader(told))?;
    println!("trader: {}", news.recv()?);

    let mut sender = trader.session(&id).ok_or("no such session")?.sender();
    let required = auction_request::Required { auction_id: "A1", auction_type: AuctionType::PERIODIC };
    AuctionRequest::send(&mut sender, required, |request| {
        request.symbol("IBM");
        let mut parties = request.party_ids();
        parties.entry(Party { party_id: "BROKER" }).party_role(PartyRole::EXECUTING_FIRM).desk("Z7");
        let mut parcels = request.parcels();
        for (parcel_id, quantity) in [("P1", 400), ("P2", 250)] {
            parcels.entry(Parcel { parcel_id, parcel_qty: quantity });
        }
    })?;
    println!("trader: {}", news.recv()?);

    trader.stop()?;
    venue.stop()?;
    Ok(())
}
