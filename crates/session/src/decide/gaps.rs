//! Decides whether missing messages are requested, requested again, or given up. Nothing is changed
//! here.

use core::time::Duration;

use fixbolt_codec::{MsgType, SeqNum};

use crate::settings::resend::ResendSettings;
use crate::state::Connection;
use crate::state::missing::{Missing, Request, Resent};
use crate::state::session::Session;
use crate::values::fix::msg_type;
use crate::values::time::Mono;

/// How long requested messages may take to arrive, unless HeartBtInt is longer, in seconds.
const SHORTEST_PATIENCE: u32 = 10;

/// What to do about missing messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum GapStep {
    /// They were requested, and are on their way: the time to wait starts again with each of them.
    Coming(Missing),
    /// Requests them.
    Ask(Missing),
    /// They were requested too many times.
    GiveUp,
}

/// A message that shows that others are missing before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ahead {
    pub(crate) seq: SeqNum,
    /// Whether it was sent again.
    pub(crate) replayed: bool,
    /// Whether a replay has passed the gap without filling it.
    pub(crate) passed: bool,
    /// Whether it is a ResendRequest: two sides that answer each other's requests with requests
    /// never end.
    pub(crate) is_request: bool,
}

impl Ahead {
    /// Returns a message that was not sent again, and is no ResendRequest.
    pub(crate) const fn new(seq: SeqNum) -> Self {
        Self { seq, replayed: false, passed: false, is_request: false }
    }
}

/// Decides about the messages missing before `ahead`.
pub(crate) fn step(session: &Session, connection: &Connection, ahead: Ahead, now: Mono) -> GapStep {
    let Ahead { seq: received, replayed, passed, is_request } = ahead;
    let next_in = session.state.stored.next_in;
    let most = session.fixed.settings.resend.max_resend_requests.get();
    let (mut asked, mut end) = (requested_before(session) + 1, received.previous());
    let mut resent = Resent::Nothing;
    let ask = |begin, end, asked, asked_at, request, resent| {
        // Where both sides miss messages, each request is one more that the other misses: small
        // parts might grow slower than what is missing.
        let closed = session.fixed.settings.resend.closed_resend_interval.then_some(end);
        let both_miss = passed && !replayed;
        let asked_to = if both_miss { closed } else { end_of_request(session, begin, end) };
        let end = if asked_to.is_none() { waited_for(session, end) } else { end };
        GapStep::Ask(Missing { begin, asked_from: begin, end, asked_to, asked, asked_at, request, resent })
    };
    if let Some(mut gap) = connection.logon.missing {
        let stuck = gap.begin == next_in;
        // A new message that comes before the answer was sent before it, as were those missing
        // before that message: the answer has them.
        if !replayed && gap.asked_to.is_none() && gap.resent != Resent::Begun {
            gap.end = waited_for(session, gap.end);
        }
        let is_sent = gap.request == Request::Sent;
        if !is_sent || !passed && (!stuck || now - gap.asked_at < patience(connection)) {
            let (asked, asked_at) = if stuck { (gap.asked, gap.asked_at) } else { (1, now) };
            if session.fixed.settings.resend.send_redundant_resend_requests && !replayed && !is_request {
                // The time for the answer is that of the first request, unless that asks for
                // less and this one waits for a replay.
                let is_first = !is_sent || gap.asked_to.is_none_or(|last| last >= end);
                let request = if is_first { gap.request } else { request(session) };
                return ask(next_in, end.max(gap.end), asked, asked_at, request, gap.resent);
            }
            // R-GAP-2
            return GapStep::Coming(Missing { begin: next_in, asked, asked_at, ..gap });
        }
        // If the counterparty's own request makes us ask again, it has not failed to fill the gap.
        let failed = u32::from(replayed || !passed);
        asked = if stuck { gap.asked + failed } else { 1 };
        end = end.max(gap.end);
        // The answer to an earlier request goes on.
        if !replayed && matches!(gap.resent, Resent::AfterAnother(_)) {
            resent = gap.resent;
        }
    }
    if asked > most {
        // R-GAP-7
        return GapStep::GiveUp;
    }
    ask(next_in, end, asked, now, request(session), resent)
}

/// Returns where a request is that is written now.
fn request(session: &Session) -> Request {
    let Session { state, fixed, .. } = session;
    let waits = state.keeps_back(&fixed.settings, MsgType::new(msg_type::RESEND_REQUEST));
    if waits { Request::waiting(state.stored.next_out) } else { Request::Sent }
}

/// Returns the last number that is missing before a buffered message, at least `end`: an open-ended
/// request asks for all of them.
fn waited_for(session: &Session, end: SeqNum) -> SeqNum {
    session.intake.reorder.last(session.state.series()).map_or(end, |last| last.previous().max(end))
}

/// Returns how often what is missing next counts as requested before the first request of a
/// connection: what has been given up is requested once in each.
fn requested_before(session: &Session) -> u32 {
    if session.has_given_up() { session.fixed.settings.resend.max_resend_requests.get() - 1 } else { 0 }
}

/// Returns EndSeqNo of the request for the messages from `begin` to `end`; `None` for infinity.
// R-GAP-3
fn end_of_request(session: &Session, begin: SeqNum, end: SeqNum) -> Option<SeqNum> {
    let ResendSettings { resend_request_chunk_size, closed_resend_interval, .. } =
        session.fixed.settings.resend;
    let chunk = resend_request_chunk_size.map(|size| SeqNum(begin.0.saturating_add(size.get() - 1)));
    chunk.filter(|last| *last < end).or(closed_resend_interval.then_some(end))
}

/// Returns the gap with the request for its next part, if the part that was requested has come. A
/// gap fill may end with the last number of a part instead of the one after it, as that of some
/// engines does.
// R-GAP-4
pub(crate) fn next_part(
    session: &Session,
    connection: &Connection,
    by_gap_fill: bool,
    now: Mono,
) -> Option<Missing> {
    let begin = session.state.stored.next_in;
    let gap = connection.logon.missing?;
    let asked_to = gap.asked_to?;
    let has_come = begin > asked_to || by_gap_fill && begin == asked_to && begin > gap.begin;
    (has_come && begin <= gap.end).then(|| {
        let asked_to = end_of_request(session, begin, gap.end);
        let request = request(session);
        Missing { begin, asked_from: begin, asked_to, asked: 1, asked_at: now, request, ..gap }
    })
}

/// Returns how long requested messages may take to arrive.
pub(crate) fn patience(connection: &Connection) -> Duration {
    Duration::from_secs(u64::from(connection.heart_bt_int.max(SHORTEST_PATIENCE)))
}

/// Returns the gap before `received` that the counterparty fills without being asked.
// R-NEXT-5
pub(crate) fn announced(session: &Session, received: SeqNum, now: Mono) -> Missing {
    let (begin, end) = (session.state.stored.next_in, received.previous());
    let (asked, request, resent) = (requested_before(session), Request::Sent, Resent::Nothing);
    Missing { begin, asked_from: begin, end, asked_to: None, asked, asked_at: now, request, resent }
}

/// What follows after NextNumIn has advanced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Progress {
    Nothing,
    /// A Logout waited for the gap to be filled.
    AnswerLogout,
    /// It did, and is the answer to ours.
    LoggedOut,
    /// Buffered messages show another gap, so it can be requested without waiting for the next
    /// message.
    Gap {
        ahead: SeqNum,
    },
}

/// Decides what follows after NextNumIn has advanced; a gap that is filled is already forgotten.
pub(crate) fn progress(session: &Session, connection: &Connection) -> Progress {
    let (next_in, series) = (session.state.stored.next_in, session.state.series());
    // A Logout that is expected next is read from the reorder buffer, unless that was full;
    // otherwise a gap fill has skipped it.
    if connection
        .logon
        .logout_waits
        .is_some_and(|seq| next_in > seq || next_in == seq && !session.intake.reorder.has(series, seq))
    {
        let is_answer = connection.logon.logout_is_sent();
        return if is_answer { Progress::LoggedOut } else { Progress::AnswerLogout };
    }
    match session.intake.reorder.first_from(series, next_in) {
        Some(ahead) if connection.logon.missing.is_none() && ahead > next_in => Progress::Gap { ahead },
        _ => Progress::Nothing,
    }
}
