//! Two versions in one program: an order in FIX.4.4 becomes one in FIX.5.0 SP2, and back.
//!
//! `cargo run -p fixbolt-messages --features fix44,fix50sp2 --example two_versions`

use std::error::Error;

use fixbolt_messages::codec::{
    Body, Decimal, Envelope, Frame, Framer, Index, Memory, Message, SeqNum, Span, Stamp, UtcTimestamp,
};
use fixbolt_messages::fix44::prelude::*;
use fixbolt_messages::fix50sp2::prelude::*;
use fixbolt_messages::{fix44, fix50sp2};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Writes the order of a client for a venue that speaks the later version.
fn to_fix50sp2<'b>(order: &fix44::NewOrderSingle<'_>, to: Memory<'b>) -> Outcome<Body<'b>> {
    let required = fix50sp2::new_order_single::Required {
        cl_ord_id: order.cl_ord_id()?,
        side: order.side()?.convert(),
        transact_time: order.transact_time()?,
        ord_type: order.ord_type()?.convert(),
    };
    fix50sp2::NewOrderSingle::send(to, required, |new| {
        new.symbol(order.need(|order| order.symbol())?);
        if let Some(quantity) = order.order_qty()? {
            new.order_qty(quantity);
        }
        if let Some(price) = order.price()? {
            new.price(price);
        }
        let mut parties = new.party_ids();
        for party in order.party_ids()? {
            let required = fix50sp2::groups::parties::Required { party_id: party.party_id()? };
            let mut new = parties.entry(required);
            if let Some(role) = party.party_role()? {
                new.party_role(role.convert());
            }
        }
        Ok(())
    })
}

/// Writes the order of the later version for a counterparty of the earlier one.
fn to_fix44<'b>(order: &fix50sp2::NewOrderSingle<'_>, to: Memory<'b>) -> Outcome<Body<'b>> {
    let required = fix44::new_order_single::Required {
        cl_ord_id: order.cl_ord_id()?,
        side: order.side()?.convert(),
        transact_time: order.transact_time()?,
        ord_type: order.ord_type()?.convert(),
    };
    fix44::NewOrderSingle::send(to, required, |new| {
        new.symbol(order.need(|order| order.symbol())?);
        if let Some(quantity) = order.order_qty()? {
            new.order_qty(quantity);
        }
        if let Some(price) = order.price()? {
            new.price(price);
        }
        let mut parties = new.party_ids();
        for party in order.party_ids()? {
            let required = fix44::groups::parties::Required { party_id: party.party_id()? };
            let mut new = parties.entry(required);
            if let Some(role) = party.party_role()? {
                new.party_role(role.convert());
            }
        }
        Ok(())
    })
}

/// Reads a body back as the counterparty would; a session does this for its application.
fn received<T>(
    begin_string: &[u8],
    body: &Body<'_>,
    read: impl FnOnce(Message<'_>) -> Outcome<T>,
) -> Outcome<T> {
    const HEADROOM: usize = 128;
    let envelope = Envelope::new(begin_string, b"CLIENT", b"BROKER").ok_or("no envelope")?;
    let mut memory = [&[0; HEADROOM], body.bytes, &[0; 7]].concat();
    let within = HEADROOM..HEADROOM + body.bytes.len();
    let stamp = Stamp {
        seq: SeqNum(1),
        sending_time: b"20261122-10:00:00.000",
        original: None,
        last_processed: None,
    };
    let place = envelope.seal(&mut memory, within, body.msg_type, body.sum, &stamp)?;
    let Frame::Message(framed) = Framer::new(1 << 12).next(&memory[place]) else {
        return Err("no message".into());
    };
    let (mut tags, mut spans) = ([0; 64], [Span::default(); 64]);
    read(Index::new(&mut tags, &mut spans).build(framed)?)
}

fn main() -> Outcome<()> {
    let (mut first, mut second, mut third) = ([0; 512], [0; 512], [0; 512]);
    let price: Decimal = "298.075".parse()?;
    let transact_time: UtcTimestamp = "20261122-10:00:00".parse()?;
    let required = fix44::new_order_single::Required {
        cl_ord_id: "ord1",
        side: fix44::fields::Side::SELL_SHORT,
        transact_time,
        ord_type: fix44::fields::OrdType::LIMIT,
    };
    let order = fix44::NewOrderSingle::send(Memory(&mut first), required, |order| {
        order.symbol("IBM").order_qty(57).price(price);
        let party = fix44::groups::parties::Required { party_id: "BROKER" };
        order.party_ids().entry(party).party_role(fix44::fields::PartyRole::EXECUTING_FIRM);
    })?;
    let later = received(fix44::BEGIN_STRING, &order, |message| {
        to_fix50sp2(&fix44::NewOrderSingle::read(message)?, Memory(&mut second))
    })?;
    let back = received(fix50sp2::BEGIN_STRING, &later, |message| {
        to_fix44(&fix50sp2::NewOrderSingle::read(message)?, Memory(&mut third))
    })?;
    for body in [&order, &later, &back] {
        println!("{}", String::from_utf8_lossy(body.bytes).replace('\x01', "|"));
    }
    if back.bytes != order.bytes {
        return Err("the order has changed on its way".into());
    }
    Ok(())
}

#[test]
fn an_order_is_the_same_after_it_was_one_of_the_other_version() {
    main().unwrap();
}
