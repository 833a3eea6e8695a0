//! Sessions whose identity has SubIDs and LocationIDs on both sides: QuickFIX/J and quickfixgo know
//! a session by them, too. QuickFIX C++ does not.

use crate::pairing::{Outcome, Pairing, Step};
use crate::side::Side;

/// Fixbolt's side, and the peer's.
pub(crate) const OURS: &[&str] =
    &["SenderSubID=FRONT", "SenderLocationID=NY", "TargetSubID=DESK", "TargetLocationID=LDN"];
pub(crate) const THEIRS: &[&str] =
    &["SenderSubID=DESK", "SenderLocationID=LDN", "TargetSubID=FRONT", "TargetLocationID=NY"];

/// Begins with the Logon.
pub(crate) const SUB_IDS_STEP: Step = Step { name: "SubIDs and LocationIDs of both sides", run: sub_ids };

fn sub_ids(pair: &mut Pairing) -> Outcome {
    pair.order_flow(20, "SUB-IDS")?;
    pair.agreed_numbers()?;
    let to_peer = all_hold(pair.peer(), ["50=FRONT", "142=NY", "57=DESK", "143=LDN"])?;
    let to_us = all_hold(pair.ours(), ["50=DESK", "142=LDN", "57=FRONT", "143=NY"])?;
    Ok(format!("in {to_peer} session messages of ours and in {to_us} of the peer"))
}

/// Returns how many session messages a side has received, a Logon among them, if each has these
/// fields. Of application messages, no wire text is kept.
fn all_hold(side: &Side, fields: [&str; 4]) -> Result<usize, String> {
    side.wait(0, "the Logon", |e| e.is_message("in", "A"))?;
    let received = side.count(0, |e| e.is("in") && !e.text("raw").is_empty());
    let with_all = side.count(0, |e| e.is("in") && fields.iter().all(|field| e.holds(field)));
    if received == 0 || with_all != received {
        return Err(format!("{}: {with_all} of {received} messages have {fields:?}", side.name()));
    }
    Ok(received)
}
