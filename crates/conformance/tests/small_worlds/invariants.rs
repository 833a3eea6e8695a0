//! What must hold in every state.

use std::collections::BTreeSet;

use fixbolt_session::store::RecordKind;
use fixbolt_session::{Misbehavior, SessionEnd, Sessions};

use crate::bytes;
use crate::event::name;
use crate::setup::SIDES;
use crate::side::{KEY, Side};
use crate::world::{Causes, World};

/// Checks a message that is about to be on the wire: it is in the store, durably and with the same
/// bytes, and no other message had its number in its generation.
pub(crate) fn on_wire(side: &mut Side, message: &[u8]) -> Result<(), &'static str> {
    let seq = bytes::seq(message);
    let platter = side.disk.platter();
    if !bytes::is_poss_dup(message) {
        let kept = platter.durably_sent(0, seq, |kept| kept.body == message);
        let kept = kept.ok_or("not durable, or not as in the store")?;
        let generation = kept.generation.0;
        let mut before = side.wire.iter().filter(|(g, s, _)| (*g, *s) == (generation, seq));
        match before.next() {
            Some((.., other)) if other != message => return Err("two messages with one number"),
            Some(_) => {}
            None => side.wire.push((generation, seq, message.to_vec())),
        }
    } else if bytes::field(message, b"35=") == Some(b"4") {
        let next = bytes::number(bytes::field(message, b"36=").unwrap_or_default());
        for n in seq..next {
            let filled = platter.durably_sent(0, n, |_| true).ok_or("fills what is not durable")?;
            // After a reset that has crossed our Logout, number 1 is that Logout, and none of the
            // generation. R-RESET-13
            let is_crossed = n == 1 && filled.generation.0 < platter.generation(0);
            if !is_crossed && !bytes::id(&filled.body).is_empty() {
                return Err("fills over a message of the application");
            }
        }
    } else {
        let same = platter.durably_sent(0, seq, |kept| bytes::id(&kept.body) == bytes::id(message));
        same.ok_or("sent again, but not as in the store")?;
    }
    Ok(())
}

/// Returns whether an end of a connection follows from what happened to it.
pub(crate) fn is_caused(end: &SessionEnd, causes: Causes) -> bool {
    let Causes { cut, closed, logout, waited, unsettled } = causes;
    match end {
        SessionEnd::ConnectionLost | SessionEnd::LogonUnanswered => cut || closed,
        SessionEnd::LoggedOutByUs | SessionEnd::LoggedOutByPeer => logout || waited || unsettled,
        // A reset may cross a Logout.
        SessionEnd::LogoutTimedOut => waited || unsettled,
        SessionEnd::PeerDidNotClose
        | SessionEnd::LogonTimedOut
        | SessionEnd::HeartbeatTimedOut
        | SessionEnd::ResetUnanswered => waited,
        SessionEnd::LogonRefusedByPeer(_)
        | SessionEnd::PeerExpectsMore { .. }
        | SessionEnd::PeerMisbehaved(Misbehavior::MsgSeqNumTooLow { .. }) => unsettled,
        _ => false,
    }
}

/// Checks a state between two events.
pub(crate) fn check(world: &World<'_>) -> Result<(), String> {
    for side in SIDES {
        let us = &world.sides[side];
        let wrong = |what: String| format!("{}: {what}", name(side));
        core(&us.sessions).map_err(wrong)?;
        let platter = us.disk.platter();
        let (session, store) = (us.sessions.numbers(KEY), platter.numbers(0));
        if session != Some(store) {
            return Err(wrong(format!("numbers {session:?}, and {store:?} in the store")));
        }
        let taken = platter.bodies(0, RecordKind::Inbound);
        let answers = platter.bodies(0, RecordKind::Outbound);
        let answers: Vec<_> = answers.into_iter().filter(|body| is_answer(body)).map(bytes::id).collect();
        let orders: Vec<_> =
            taken.iter().filter(|body| !is_answer(body)).map(|body| bytes::id(body)).collect();
        if world.setup.answers && side == 1 && answers != orders {
            return Err(wrong(format!("a half turn: {} orders, {} answers", orders.len(), answers.len())));
        }
        in_order(&taken, world.was_reset()).map_err(wrong)?;
    }
    Ok(())
}

/// What a core says of itself: the place for a check of its own, once it has one.
fn core(sessions: &Sessions) -> Result<(), String> {
    sessions.check();
    match sessions.halted(KEY) {
        Some(halt) => Err(format!("halted: {halt}")),
        None => Ok(()),
    }
}

fn is_answer(body: &[u8]) -> bool {
    bytes::field(body, b"35=") == Some(b"8")
}

/// Checks that each message was taken once, and those of one kind in the order of their IDs. After
/// a reset a message may come again as a possible duplicate.
fn in_order(taken: &[&[u8]], was_reset: bool) -> Result<(), String> {
    let mut seen: BTreeSet<(bool, &[u8])> = BTreeSet::new();
    for body in taken {
        let which = (is_answer(body), bytes::id(body));
        if seen.contains(&which) {
            if !(was_reset && bytes::is_poss_dup(body)) {
                return Err(format!("taken twice: {}", bytes::readable(body)));
            }
        } else if seen.range(which..).any(|later| later.0 == which.0) {
            return Err(format!("taken after a later one: {}", bytes::readable(body)));
        }
        seen.insert(which);
    }
    Ok(())
}
