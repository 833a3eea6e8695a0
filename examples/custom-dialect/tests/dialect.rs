//! The example's program, and its dialect where the dictionary has the last word.

use std::process::Command;

use custom_dialect::auction::fields::{AuctionType, OrdType};
use custom_dialect::auction::groups::parcels_grp;
use custom_dialect::auction::{AuctionRequest, auction_request};
use fixbolt::codec::{EncodeErrorKind, Memory};

#[test]
fn the_program_sends_the_custom_message_and_reads_it_typed() {
    let output = Command::new(env!("CARGO_BIN_EXE_custom-dialect")).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // Two engines tell in any order, each its own in order.
    for expected in [
        "trader: logged on\n",
        "venue: Periodic auction, parcel P1 of 400\nvenue: Periodic auction, parcel P2 of 250\nvenue: desk Z7\n",
        "trader: auction A1 of 650 in all\n",
    ] {
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn the_dialects_requirements_are_the_types_own() {
    assert_eq!(AuctionType::from_value(b'2'), AuctionType::CLOSING);
    assert_eq!(OrdType::from_value(b'a'), OrdType::AUCTION_ONLY);
    let required = || auction_request::Required { auction_id: "A", auction_type: AuctionType::OPENING };
    let mut memory = [0; 256];
    let error = AuctionRequest::send(Memory(&mut memory), required(), |_| {}).unwrap_err();
    assert_eq!((error.tag.number(), error.kind), (5003, EncodeErrorKind::Missing));
    let request = AuctionRequest::send(Memory(&mut memory), required(), |request| {
        let required = parcels_grp::Required { parcel_id: "P", parcel_qty: 1 };
        request.parcels().entry(required);
    });
    assert_eq!(request.unwrap().bytes, b"5002=A\x015001=1\x015003=1\x015004=P\x015005=1\x01");
}

#[test]
fn what_the_dialect_does_not_change_is_of_the_types_of_its_base() {
    use custom_dialect::auction;
    use fixbolt_messages::fix44;

    // A code set, a group, a component and the setters of the header.
    let side: auction::fields::Side = fix44::fields::Side::BUY;
    assert_eq!(side.value(), b'1');
    type Same<T, U> = fn(T) -> U;
    let _: Same<fix44::groups::Stipulations<'_>, auction::groups::Stipulations<'_>> = |same| same;
    fn of_base<'m>(of: &impl fix44::components::Instrument<'m>) -> bool {
        of.symbol().is_ok()
    }
    let _: for<'a, 'm> fn(&'a auction::NewOrderSingle<'m>) -> bool = |order| of_base(order);
    // OrdType has a code of the dialect.
    assert_eq!(OrdType::AUCTION_ONLY.value(), b'a');
    assert_eq!(fix44::fields::OrdType::from_value(b'a').name(), None);
}
