//! Third-party routing (test cases 18a and 18b) with the public interface: what an application of
//! several sessions does with OnBehalfOfCompID (115) and DeliverToCompID (128).

mod support;

use fixbolt::Engine;
use fixbolt::codec::{BodySink, Key, Message, MsgType, NewBody, Tag};
use fixbolt::session::{
    BusinessReject, BusinessRejectCode, Delivery, Failure, Role, SessionId, SessionReject, SessionRejectCode,
    Turn,
};
use support::*;

/// Passes messages on to the firm that DeliverToCompID (128) names, in the sessions of one worker,
/// as the standard's third-party routing has it.
fn relay(message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
    let Some(firm) = message.get(Tag::new(128)) else {
        // Test case 18b.
        let reason = SessionRejectCode::COMP_ID_PROBLEM;
        return Ok(Delivery::Reject(SessionReject::new(reason).tag(128)));
    };
    let from = turn.session_id().target_comp_id().to_owned();
    let to = core::str::from_utf8(firm)
        .ok()
        .and_then(|firm| SessionId::new(turn.session_id().version(), "HUB", firm).ok())
        .and_then(|id| turn.find(&id))
        .and_then(|key| turn.to(key));
    let Some(to) = to else {
        let reason = BusinessRejectCode::DELIVER_TO_FIRM_NOT_AVAILABLE_AT_THIS_TIME;
        return Ok(Delivery::BusinessReject(BusinessReject::new(reason)));
    };
    let on_behalf_of = [(Key::new(115), from.as_bytes())];
    let mut copy = to.with_header(&on_behalf_of).draft(MsgType::new(message.msg_type()));
    copy.writer().bytes(Key::new(58), message.get(Tag::new(58)).unwrap_or(b"-"));
    copy.send()?;
    Ok(Delivery::Done)
}

#[test]
fn a_hub_delivers_to_third_parties_and_rejects_what_it_cannot_deliver() {
    let (app, log) = Scripted::on_message(|message, turn| Some(relay(message, turn)));
    let hub = Engine::builder()
        .accept(anywhere(), of("FIX.4.4:HUB->BUYER", Role::Acceptor))
        .accept(anywhere(), of("FIX.4.4:HUB->SELLER", Role::Acceptor))
        .start(app)
        .unwrap();
    let [mut buyer, mut seller] = ["BUYER", "SELLER"].map(|name| {
        let mut peer = Peer::connect(hub.addresses()[0]).named(name, "HUB");
        peer.log_on();
        log.logged_on();
        peer
    });
    buyer.send("B", "128=SELLER|58=hello");
    let delivered = seller.receive();
    assert!(delivered.contains("|35=B|49=HUB|56=SELLER|34=2|"), "{delivered}");
    assert!(delivered.contains("|115=BUYER|58=hello|"), "{delivered}");
    seller.send("B", "128=BUYER|58=well");
    let answer = buyer.receive();
    assert!(answer.contains("|34=2|") && answer.contains("|115=SELLER|58=well|"), "{answer}");
    // The session goes on after each of these.
    buyer.send("B", "128=NOBODY|116=X|58=a");
    let reject = buyer.receive();
    assert!(reject.contains("|35=j|") && reject.contains("|380=7|"), "{reject}");
    assert!(reject.contains("|129=X|115=NOBODY|"), "the route is reversed: {reject}");
    buyer.send("B", "58=no route");
    let reject = buyer.receive();
    assert!(reject.contains("|35=3|") && reject.contains("|371=128|"), "{reject}");
    assert!(reject.contains("|373=9|"), "{reject}");
    buyer.send("B", "128=SELLER|58=again");
    assert!(seller.receive().contains("|58=again|"));
    hub.stop().unwrap();
}
