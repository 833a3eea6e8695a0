//! Missing numbers: whether they are asked for, asked for again, or given up. Nothing is changed here.

use core::time::Duration;

use fixbolt_codec::SeqNum;

use crate::session::Session;
use crate::state::{Connection, Gap};
use crate::time::Mono;

/// How often the same numbers are asked for before the session gives up.
pub(crate) const ASK_AT_MOST: u32 = 3;
/// How long numbers that were asked for may take to come, unless HeartBtInt is longer, in seconds.
const SHORTEST_PATIENCE: u32 = 10;

/// What is done about missing numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum GapStep {
    /// They were asked for and are coming: patience begins anew with every step.
    Coming(Gap),
    /// They were asked for a moment ago.
    Patience,
    /// They are asked for.
    Ask(Gap),
    /// They were asked for too often.
    GiveUp,
}

/// Decides about the numbers in front of `received`; `replayed` if it was sent again, `again` if a replay has passed them by.
pub(crate) fn step(
    session: &Session,
    connection: &Connection,
    received: SeqNum,
    replayed: bool,
    again: bool,
    now: Mono,
) -> GapStep {
    let next_in = session.state.stored.next_in;
    let (mut asked, mut end) = (1, received.previous());
    if let Some(gap) = connection.logon.gap {
        let stuck = gap.begin == next_in;
        if !again && !stuck {
            return GapStep::Coming(Gap { begin: next_in, asked: 1, asked_at: now, ..gap });
        }
        let patience = Duration::from_secs(u64::from(connection.heart_bt_int.max(SHORTEST_PATIENCE)));
        if !again && now - gap.asked_at < patience {
            return GapStep::Patience;
        }
        // A counterparty that asks us and so makes us ask again has not failed to fill the gap.
        let failed = u32::from(replayed || !again);
        asked = if stuck { gap.asked + failed } else { 1 };
        end = end.max(gap.end);
    }
    if asked > ASK_AT_MOST {
        return GapStep::GiveUp;
    }
    let replayed = replayed.then_some(received);
    GapStep::Ask(Gap { begin: next_in, end, asked, asked_at: now, replayed })
}

/// What a step forward has brought about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Progress {
    Nothing,
    /// A Logout waited for the gap to be filled.
    AnswerLogout,
    /// What waits behind another gap shows it: no need to wait for the next message.
    Gap {
        ahead: SeqNum,
    },
}

/// Looks at the session after a step forward; a gap that is filled is forgotten already.
pub(crate) fn progress(session: &Session, connection: &Connection) -> Progress {
    let (next_in, epoch) = (session.state.stored.next_in, session.state.epoch());
    // A Logout whose own turn is next is taken from the reorder buffer, unless that was full; else a gap fill has passed over
    // it.
    if connection
        .logon
        .logout_waits
        .is_some_and(|seq| next_in > seq || next_in == seq && !session.reorder.has(epoch, seq))
    {
        return Progress::AnswerLogout;
    }
    match session.reorder.first_from(epoch, next_in) {
        Some(ahead) if connection.logon.gap.is_none() && ahead > next_in => Progress::Gap { ahead },
        _ => Progress::Nothing,
    }
}
