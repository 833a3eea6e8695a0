//! `fixbolt serve --app echo`, which remembers orders.

use std::io::Write;

use crate::peer::Peer;
use crate::server::Setup;

#[test]
fn an_echo_remembers_a_bounded_amount() {
    let server = Setup::new().arguments(&["--app", "echo"]).start();
    let mut evil = Peer::logged_on(&server.address, "EVIL");
    let padding = "x".repeat(30_000);
    let mut flood = |orders: std::ops::Range<u32>| {
        for order in orders {
            evil.order(&format!("{order:06}{padding}"), "echo").expect("the connection is open");
            evil.next_of("D").expect("it comes back").expect("the connection is open");
        }
    };
    flood(0..50);
    let before = server.process.memory();
    flood(50..1500);
    let after = server.process.memory();
    assert!(after < before + (16 << 20), "from {before} to {after} bytes");
    // What it remembers it still recognizes.
    let order = "35=D|11=twice|55=IBM|54=1|60=20261123-02:30:00|38=100|40=1";
    evil.send(order).expect("the connection is open");
    let again = order.replacen('|', "|97=Y|", 1);
    let both = [evil.message(&again), evil.message("35=1|112=end")].concat();
    evil.stream.write_all(&both).expect("the connection is open");
    let first = evil.receive().expect("it comes back").expect("the connection is open");
    let second = evil.receive().expect("a Heartbeat comes").expect("the connection is open");
    assert_eq!((first.kind().as_str(), second.kind().as_str()), ("D", "0"), "{first:?} {second:?}");
}
