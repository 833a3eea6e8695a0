//! Two ways to recover lost messages other than one ResendRequest for all: NextExpectedMsgSeqNum
//! (789) in the Logons, and ResendRequests for a few messages at a time.

use crate::pairing::{Outcome, Pairing, Step, heal, logon, logout};
use crate::side::{Engine, Event, Role, Side};

/// The first Logons of sessions with NextExpectedMsgSeqNum.
pub(crate) const NEXT_EXPECTED_LOGON: Step =
    Step { name: "logon, both Logons with NextExpectedMsgSeqNum", run: logon_with_next_expected };

/// For peers that follow the field.
pub(crate) const NEXT_EXPECTED_STEP: Step =
    Step { name: "messages lost each way are resent because of NextExpectedMsgSeqNum", run: next_expected };

/// For quickfixgo as acceptor: it follows the field with a gap fill instead of its messages, asks
/// for one too high itself, and sends a ResendRequest nevertheless.
pub(crate) const ADJUSTED_STEP: Step = Step {
    name: "NextExpectedMsgSeqNum: ours resent, those of quickfixgo replaced by its gap fill",
    run: next_expected,
};

/// For quickfixgo as initiator: the field of its own Logons is one too high.
pub(crate) const TOO_HIGH_STEP: Step =
    Step { name: "quickfixgo's NextExpectedMsgSeqNum, one too high, is refused", run: too_high };

/// For both sides with a ResendRequestChunkSize of 10.
pub(crate) const CHUNKS_STEP: Step =
    Step { name: "gaps requested ten messages at a time", run: gaps_in_chunks };

/// More than a Logout and the heartbeats before it: the others are application messages.
const LOST: usize = 10;
/// A gap that takes three requests of ten.
const GAP: usize = 25;

fn logon_with_next_expected(pair: &mut Pairing) -> Outcome {
    let counts = logon(pair)?;
    let mut fields = Vec::new();
    for side in [&pair.initiator, &pair.acceptor] {
        let logon = side.wait(0, "the Logon", |e| e.is_message("out", "A"))?;
        let field = logon.field(789).ok_or(format!("{}: a Logon without 789", side.name()))?;
        fields.push(format!("{}={field}", side.plan.role.name()));
    }
    Ok(format!("{counts}, 789 of {}", fields.join(", ")))
}

/// Both sides miss messages when they log on again. Neither may send a ResendRequest, except
/// quickfixgo.
fn next_expected(pair: &mut Pairing) -> Outcome {
    let is_go = pair.peer().plan.engine == Engine::QuickFixGo;
    pair.order_flow(2 * LOST, "BEFORE")?;
    logout(pair)?;
    let peer = pair.peer();
    peer.tell("report off")?;
    peer.tell(&format!("lost-orders {LOST} LOST"))?;
    peer.tell(&format!("gap-in {LOST}"))?;
    let marks = pair.marks();
    let (peer_mark, our_mark) = (pair.peer().mark(), pair.ours().mark());
    pair.initiator.tell("logon")?;
    pair.both(marks, "logon")?;
    let resent = |e: &Event| e.is("delivered") && e.flag("poss_dup");
    pair.peer().wait_for(peer_mark, LOST / 2, "messages that it misses", resent)?;
    if !is_go {
        pair.ours().wait_for(our_mark, LOST, "messages that we miss", resent)?;
    }
    pair.agreed_numbers()?;
    pair.peer().tell("report on")?;
    pair.order_flow(1, "AFTER")?;
    let counts = [pair.peer().count(peer_mark, resent), pair.ours().count(our_mark, resent)];
    let requests = |side: &Side, mark| side.count(mark, |e| e.is_message("out", "2"));
    let (theirs, ours) = (requests(pair.peer(), peer_mark), requests(pair.ours(), our_mark));
    let peer = pair.peer().plan.engine.name();
    if ours != 0 || theirs != usize::from(is_go) {
        return Err(format!("{ours} ResendRequests of fixbolt, {theirs} of {peer}"));
    }
    Ok(format!("{theirs} ResendRequest; {} resent to {peer}, {} to fixbolt", counts[0], counts[1]))
}

fn too_high(pair: &mut Pairing) -> Outcome {
    let logout = pair.peer().wait(0, "our Logout", |e| e.is_message("in", "5"))?;
    let text = logout.field(58).unwrap_or_default().to_owned();
    let logon = pair.peer().wait(0, "its Logon", |e| e.is_message("out", "A"))?;
    let field = logon.field(789).unwrap_or_default();
    if !text.contains(field) || pair.ours().count(0, |e| e.is("logon")) != 0 {
        return Err(format!("789={field} was answered with {text:?}"));
    }
    Ok(format!("789={field}: {text:?}"))
}

/// The peer loses orders, so that we request them; then it forgets messages and requests them.
fn gaps_in_chunks(pair: &mut Pairing) -> Outcome {
    let role = pair.peer_role();
    pair.order_flow(2 * GAP, "BEFORE-CHUNKS")?;
    pair.agreed_numbers()?;
    pair.peer().tell(&format!("lost-orders {GAP} CHUNKS"))?;
    let (ours, lost) = heal(pair, role, GAP)?;
    let peer = pair.peer();
    peer.tell("report off")?;
    peer.tell(&format!("gap-in {GAP}"))?;
    let (theirs, forgotten) = heal(pair, role.other(), GAP - 5)?;
    pair.peer().tell("report on")?;
    pair.order_flow(1, "AFTER-CHUNKS")?;
    // QuickFIX C++ 1.15.1 has no such setting.
    if ours < 3 || theirs < 3 && pair.peer().plan.engine != Engine::QuickFixCpp {
        return Err(format!("{ours} requests for {GAP} messages of the peer, {theirs} for ours"));
    }
    let asked = if role == Role::Initiator { "the initiator" } else { "the acceptor" };
    Ok(format!("{GAP} lost by {asked}: {lost}; {GAP} forgotten by it: {forgotten}"))
}
