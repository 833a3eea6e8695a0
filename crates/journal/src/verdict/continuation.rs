//! Whether a session may start with the files of its journal, and where its numbers continue then.

use std::ops::RangeInclusive;

use fixbolt_codec::SeqNum;
use fixbolt_session::SessionId;
use fixbolt_session::store::Generation;

use crate::files::found::Files;
use crate::layout::head_copy::{Head, HeadState};
use crate::layout::scan::Scan;
use crate::system::boot::boot_id;

/// Where the sequence numbers of a consistent journal continue.
pub(crate) struct Continuation {
    pub(crate) generation: Generation,
    pub(crate) next_in: SeqNum,
    /// NextNumOut: the mark unless every record is known to be there.
    pub(crate) next_out: SeqNum,
    /// Outbound sequence numbers that may have been used and are not in the records.
    pub(crate) given_up: Option<RangeInclusive<SeqNum>>,
    /// The oldest messages that wait for a throttle, as many as may have used these numbers.
    pub(crate) in_doubt: Option<RangeInclusive<u64>>,
    /// Records at the end are missing or incomplete.
    pub(crate) lost: bool,
    pub(crate) died_with_machine: bool,
    /// The head knows a reset whose record is lost.
    pub(crate) lost_reset: bool,
}

impl Continuation {
    /// Returns where the journal with this head continues.
    pub(crate) fn of(files: &Files, scan: &Scan, head: &Head) -> Self {
        let boot = boot_id();
        let same_boot = head.boot == boot && boot != [0; 16];
        let died_with_machine = head.state == HeadState::InUse && !same_boot;
        let lost = scan.torn || (files.segments.is_empty() && head.made.is_none());
        let known = scan.ledger.next_out;
        let generation = files.generation(scan);
        let lost_reset = generation > scan.ledger.generation;
        let next_in = files.next_in(scan);
        let at_mark = lost || died_with_machine || head.state != HeadState::InUse || lost_reset;
        let next_out = if at_mark { head.mark.max(known) } else { known };
        // With a lost reset, all numbers below the mark may be those of the new generation.
        let unsure_from = if lost_reset { SeqNum::ONE } else { known };
        let given_up = (next_out > unsure_from).then(|| unsure_from..=next_out.previous());
        let (waiting, first) = (scan.ledger.waiting, scan.ledger.waiting.first());
        let in_doubt = given_up.as_ref().filter(|_| waiting.count > 0).map(|range| {
            let most = range.end().0 - range.start().0;
            // A reset ends the wait of all.
            let last = if lost_reset { waiting.last } else { waiting.last.min(first + most) };
            first..=last
        });
        Self { generation, next_in, next_out, given_up, in_doubt, lost, died_with_machine, lost_reset }
    }
}

/// Returns why a session with these files is halted when it is opened, and the command that ends
/// that. Files that another directory has as well become its own before they are repaired.
pub(crate) fn why_halted(files: &Files, scan: &Scan, session: Option<&SessionId>) -> Option<String> {
    let damage = || Some(files.damage(scan, session)).filter(|damage| !damage.is_empty());
    let linked = files.linked().map(|linked| (linked, "adopt"));
    let damaged = || damage().map(|damage| (damage.join("; "), "repair"));
    let copied = || files.is_copy().map(|copy| (copy, "adopt"));
    let (found, way_out) = linked.or_else(damaged).or_else(copied)?;
    Some(format!("{found}; see `fixbolt journal {way_out} {}`", files.directory.display()))
}
