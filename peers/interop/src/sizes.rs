//! Messages of 70,000 bytes: delivered if MaxMessageSize allows them, otherwise rejected under
//! their own numbers.

use crate::pairing::{Outcome, Pairing, Step, logout};
use crate::side::Role;

/// For Fixbolt with a larger MaxMessageSize.
pub(crate) const LARGE_STEP: Step = Step { name: "messages of 70 KB each way", run: large };

/// For Fixbolt with its default MaxMessageSize of 64 KiB.
pub(crate) const TOO_LARGE_STEP: Step =
    Step { name: "a message of 70 KB is rejected, the session goes on", run: too_large };

/// For Fixbolt with its default MaxMessageSize, and a message that is numbered while the session is
/// logged off. quickfixgo as initiator has no session then.
pub(crate) const TOO_LARGE_RESENT_STEP: Step = Step {
    name: "a message of 70 KB that is resent is rejected, the session goes on",
    run: too_large_resent,
};

const SIZE: usize = 70_000;

fn large(pair: &mut Pairing) -> Outcome {
    for from in [Role::Initiator, Role::Acceptor] {
        let marks = [pair.side(from).mark(), pair.side(from.other()).mark()];
        let cl_ord_id = format!("LARGE-{}", from.name());
        pair.side(from).tell(&format!("big-order {cl_ord_id} {SIZE}"))?;
        for (role, mark, msg_type) in [(from.other(), marks[1], "D"), (from, marks[0], "8")] {
            let side = pair.side(role);
            let message = side.wait(mark, "the large message", |e| {
                e.is_delivered(msg_type) && e.text("cl_ord_id") == cl_ord_id
            })?;
            if message.number("text_bytes") != SIZE as u64 {
                return Err(format!("{} read a Text of {} bytes", side.name(), message.number("text_bytes")));
            }
        }
    }
    pair.agreed_numbers()?;
    Ok(format!("an order and its report with a Text of {SIZE} bytes from each side"))
}

fn too_large(pair: &mut Pairing) -> Outcome {
    const ID: &str = "TOO-LARGE-1";
    let (peer_mark, our_mark) = (pair.peer().mark(), pair.ours().mark());
    pair.peer().tell(&format!("big-order {ID} {SIZE}"))?;
    let sent = pair
        .peer()
        .wait(peer_mark, "the large order", |e| e.is_message("out", "D") && e.text("cl_ord_id") == ID)?;
    let reject = pair.peer().wait(peer_mark, "the Reject", |e| e.is_message("in", "3"))?;
    if reject.field(45) != Some(&sent.number("seq").to_string()) || reject.field(58).is_none() {
        return Err(format!("order {} rejected with {}", sent.number("seq"), reject.text("raw")));
    }
    pair.order_flow(1, "AFTER-TOO-LARGE")?;
    let (i, _) = pair.agreed_numbers()?;
    let delivered = pair.ours().count(our_mark, |e| e.is_delivered("D") && e.text("cl_ord_id") == ID);
    if delivered != 0 {
        return Err("the large order was delivered".into());
    }
    let text = reject.field(58).unwrap_or_default();
    Ok(format!("RefSeqNum {}, {text:?}, then numbers {}/{}", sent.number("seq"), i.next_out, i.next_in))
}

fn too_large_resent(pair: &mut Pairing) -> Outcome {
    logout(pair)?;
    let seq = pair.peer().numbers()?.next_out.to_string();
    pair.peer().tell(&format!("big-order TOO-LARGE-2 {SIZE}"))?;
    let marks = pair.marks();
    let (peer_mark, our_mark) = (pair.peer().mark(), pair.ours().mark());
    pair.initiator.tell("logon")?;
    pair.both(marks, "logon")?;
    let reject = pair.peer().wait(peer_mark, "the Reject", |e| e.is_message("in", "3"))?;
    if reject.field(45) != Some(&seq) {
        return Err(format!("order {seq} rejected with {}", reject.text("raw")));
    }
    // A new order that overtakes the end of the peer's answer, from another of its threads, shows
    // another gap, which we request, too.
    pair.agreed_numbers()?;
    pair.order_flow(1, "AFTER-RESENT")?;
    pair.agreed_numbers()?;
    let (rejects, requests) = (
        pair.peer().count(peer_mark, |e| e.is_message("in", "3")),
        pair.ours().count(our_mark, |e| e.is_message("out", "2")),
    );
    if (rejects, requests) != (1, 1) {
        return Err(format!("{requests} ResendRequests and {rejects} Rejects instead of 1 of each"));
    }
    Ok(format!("RefSeqNum {seq}, 1 ResendRequest"))
}
