//! Whether a session may start with the files of its journal, and where its numbers continue then.

use std::fmt;
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
    /// NextNumOut: the mark unless every record is known to be there, or a cookie knows it.
    pub(crate) next_out: SeqNum,
    /// Outbound sequence numbers that may have been used and are not in the records.
    pub(crate) given_up: Option<RangeInclusive<SeqNum>>,
    /// The oldest messages that wait for a throttle, as many as may have used these numbers.
    pub(crate) in_doubt: Option<RangeInclusive<u64>>,
    /// Records at the end are missing or incomplete.
    pub(crate) lost: bool,
    /// Why records may be missing although none is incomplete.
    pub(crate) doubt: Option<Doubt>,
    /// The head or the cookie knows a reset whose record is lost.
    pub(crate) lost_reset: bool,
}

/// Why records may be missing at the end of a journal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Doubt {
    /// The machine stopped without a clean close.
    Machine,
    /// The process did, and no cookie says that the disk has kept everything.
    NoCookie,
    /// The cookie says that there was more.
    Older,
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Machine => "the machine stopped without a clean close",
            Self::NoCookie => {
                "the process stopped without a clean close, and no cookie says whether the disk has kept \
                 everything"
            }
            Self::Older => {
                "the files are older than what was written since the machine was started: the disk lost it, or \
                 was put back to an earlier state"
            }
        })
    }
}

impl Continuation {
    /// Returns where the journal with this head continues.
    pub(crate) fn of(files: &Files, scan: &Scan, head: &Head) -> Self {
        let (boot, cookie) = (boot_id(), files.own_cookie());
        let known = scan.ledger.next_out;
        let (doubt, is_in_use) = (Doubt::of(files, scan, head, boot), head.state == HeadState::InUse);
        let is_cut = scan.torn || (files.segments.is_empty() && head.made.is_none());
        let lost = is_cut || doubt == Some(Doubt::Older);
        let generation = files.generation(scan);
        let lost_reset = generation > scan.ledger.generation;
        let next_in = files.next_in(scan);
        let is_unsure = matches!(doubt, Some(Doubt::Machine | Doubt::NoCookie));
        let of_files = if generation > scan.ledger.generation.max(head.generation) {
            // All that the files know is of an older generation.
            SeqNum::ONE
        } else if is_cut || is_unsure || !is_in_use || lost_reset {
            head.mark.max(known)
        } else {
            known
        };
        let of_cookie = cookie.filter(|cookie| cookie.floor.generation == generation);
        let next_out = of_cookie.map_or(of_files, |cookie| of_files.max(cookie.floor.next_out));
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
        Self { generation, next_in, next_out, given_up, in_doubt, lost, doubt, lost_reset }
    }
}

impl Doubt {
    /// Returns why records may be missing at the end, if that is so.
    fn of(files: &Files, scan: &Scan, head: &Head, boot: [u8; 16]) -> Option<Self> {
        let cookie = files.own_cookie().map(|cookie| cookie.floor.turn);
        if cookie.is_some_and(|turn| turn > scan.last_turn) {
            return Some(Self::Older);
        }
        if head.state != HeadState::InUse {
            return None;
        }
        if head.boot != boot || boot == [0; 16] {
            return Some(Self::Machine);
        }
        // The process may have died between making its last turn visible and noting it.
        let is_whole = cookie.is_some_and(|turn| turn == scan.last_turn || turn == scan.turn_before);
        (!is_whole).then_some(Self::NoCookie)
    }
}

/// Returns why a session with these files is halted when it is opened, and the command that ends
/// that. Files that another directory has as well become its own before they are repaired.
pub(crate) fn why_halted(files: &Files, scan: &Scan, session: Option<&SessionId>) -> Option<String> {
    let linked = files.linked().map(|linked| (linked, "adopt"));
    let damaged = || {
        let damage = files.damage(scan, session);
        (!damage.is_empty()).then(|| (damage.join("; "), "repair"))
    };
    let copied = || files.is_copy().map(|copy| (copy, "adopt"));
    let (found, way_out) = linked.or_else(damaged).or_else(copied)?;
    Some(format!("{found}; see `fixbolt journal {way_out} {}`", files.directory.display()))
}
