//! Two ways to recover lost messages other than one ResendRequest for all: NextExpectedMsgSeqNum
//! (789) in the Logons, and ResendRequests for a few messages at a time.

use crate::pairing::{FRESH, Outcome, Pairing, Step, heal, logon, logout};
use crate::side::{Engine, Event, Role, Side};

/// The first Logons of sessions with NextExpectedMsgSeqNum.
pub(crate) const NEXT_EXPECTED_LOGON: Step =
    Step { name: "logon, with NextExpectedMsgSeqNum", run: logon_with_next_expected };

/// For both sides with the field, or one of them.
pub(crate) const NEXT_EXPECTED_STEP: Step =
    Step { name: "messages lost each way, with NextExpectedMsgSeqNum", run: next_expected };

/// For both sides with the field and with ResetOnLogon=Y.
pub(crate) const RESET_STEP: Step =
    Step { name: "each Logon resets, with NextExpectedMsgSeqNum", run: each_logon_resets };

/// For quickfixgo as initiator: the field of its own Logons is one too high.
pub(crate) const TOO_HIGH_STEP: Step =
    Step { name: "quickfixgo's NextExpectedMsgSeqNum, one too high, is refused", run: too_high };

/// For both sides with a ResendRequestChunkSize of 10.
pub(crate) const CHUNKS_STEP: Step =
    Step { name: "gaps requested ten messages at a time", run: gaps_in_chunks };

/// The setting of every engine that adds the field to its Logons.
pub(crate) const NEXT_EXPECTED: &str = "EnableNextExpectedMsgSeqNum=Y";

/// More than a Logout and the heartbeats before it: the others are application messages.
const LOST: usize = 10;
/// A gap that takes three requests of ten.
const GAP: usize = 25;

fn logon_with_next_expected(pair: &mut Pairing) -> Outcome {
    let counts = logon(pair)?;
    let mut fields = Vec::new();
    for side in [&pair.initiator, &pair.acceptor] {
        let logon = side.wait(0, "the Logon", |e| e.is_message("out", "A"))?;
        let field = logon.field(789);
        if field.is_some() != side.plan.settings.contains(&NEXT_EXPECTED) {
            return Err(format!("{}: 789 is {field:?}", side.name()));
        }
        fields.push(format!("{} {}", side.plan.role.name(), field.unwrap_or("none")));
    }
    Ok(format!("{counts}, 789: {}", fields.join(", ")))
}

/// Both sides miss messages when they log on again. A side sends no ResendRequest if it said by
/// NextExpectedMsgSeqNum what it misses, and if the other side follows that: QuickFIX/J only if it
/// has the setting, too, Fixbolt in any case. quickfixgo follows it with a gap fill instead of its
/// messages, asks for one too high itself, and sends a ResendRequest nevertheless.
fn next_expected(pair: &mut Pairing) -> Outcome {
    let is_go = pair.peer().plan.engine == Engine::QuickFixGo;
    let has_it = |side: &Side| side.plan.settings.contains(&NEXT_EXPECTED);
    let (they_have_it, we_have_it) = (has_it(pair.peer()), has_it(pair.ours()));
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
    if (ours == 0) != (we_have_it && they_have_it) || (theirs == 0) != (they_have_it && !is_go) {
        return Err(format!("{ours} ResendRequests of fixbolt, {theirs} of {peer}"));
    }
    let [to_them, to_us] = counts;
    let said = |yes| if yes { "with 789" } else { "without 789" };
    Ok(format!(
        "fixbolt {}, {ours} ResendRequest, {to_us} resent to it; {peer} {}, {theirs} ResendRequest, {to_them} resent to it",
        said(we_have_it),
        said(they_have_it),
    ))
}

/// NextExpectedMsgSeqNum of a Logon that resets is about the new sequence numbers.
fn each_logon_resets(pair: &mut Pairing) -> Outcome {
    let mut marks = (0, 0);
    for prefix in ["FIRST", "SECOND"] {
        pair.logged_on(marks, FRESH, true)?;
        pair.order_flow(LOST, prefix)?;
        let (i, _) = pair.agreed_numbers()?;
        if i.next_out > 2 * LOST as u64 {
            return Err(format!("the numbers of {prefix} go on from before: {}/{}", i.next_out, i.next_in));
        }
        logout(pair)?;
        marks = pair.marks();
        pair.initiator.tell("logon")?;
    }
    pair.logged_on(marks, FRESH, true)?;
    Ok("3 Logons from 1/1".into())
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
    let in_chunks = |side: &Side| side.plan.engine != Engine::QuickFixCpp;
    if in_chunks(pair.ours()) && ours < 3 || in_chunks(pair.peer()) && theirs < 3 {
        return Err(format!("{ours} requests for {GAP} messages of the peer, {theirs} for ours"));
    }
    let asked = if role == Role::Initiator { "the initiator" } else { "the acceptor" };
    Ok(format!("{GAP} lost by {asked}: {lost}; {GAP} forgotten by it: {forgotten}"))
}
