//! What a request of the counterparty for messages again is answered by: which range, how much of
//! it at once (`max_resend_range`), and how often (`max_resends`).
//!
//! A request that comes while another one is answered continues that one: both ranges are one, and
//! the limits apply to it as a whole. Otherwise a counterparty that does not read could put its
//! requests together to a larger one.

use core::ops::RangeInclusive;
use core::time::Duration;

use fixbolt_codec::SeqNum;

use crate::events::event::Unreached;
use crate::settings::resend::ReplayInterleave;
use crate::state::State;
use crate::state::backlog::Replay;
use crate::state::session::Session;
use crate::values::time::Mono;

impl Session {
    /// Returns the replay with which a request for these messages is answered; `None` if nothing is
    /// to be sent again. New messages that wait are not part of it, and the horizon remains counted
    /// from them.
    pub(crate) fn replay_of(&self, begin: SeqNum, end: SeqNum) -> Option<Replay> {
        let State { stored, .. } = &self.state;
        // Where nothing waits because everything new is sent at once, the counterparty may miss
        // what was sent since the first request.
        let interleaves = self.fixed.settings.resend.replay_interleave == ReplayInterleave::All;
        let open = self.state.released();
        let waiting = open.filter(|open| !interleaves || open.live < open.began);
        let next_out = stored.next_out;
        let (live, began) = waiting.map_or((next_out, next_out), |open| (open.live, open.began));
        let end = end.min(live.previous());
        if begin > end {
            return None;
        }
        let (mut next, mut last) = (begin, end);
        // The rest of what the first request asked for is not forgotten. R-RESEND-8
        if let Some(open) = open {
            let at = open.gap_from.unwrap_or(open.next);
            if at <= open.end {
                (next, last) = (begin.min(at), end.max(open.end));
            }
        }
        Some(Replay { next, end: last, gap_from: None, live, began })
    }

    /// Returns the last sequence number that the replay does not send again because more are
    /// requested than are sent at once, and the reason; `None` if there is no such limit.
    pub(crate) fn beyond_range(&self, replay: Replay) -> Option<(SeqNum, Unreached)> {
        let most = self.fixed.settings.resend.max_resend_range?.get();
        Some((SeqNum(replay.end.0.saturating_sub(most)), Unreached::BeyondRange { most }))
    }

    /// Returns the first of these messages that were sent again as often as that is done, the limit
    /// and how long they are not sent.
    pub(crate) fn sent_before(
        &self,
        within: RangeInclusive<SeqNum>,
        now: Mono,
    ) -> Option<(RangeInclusive<SeqNum>, u32, Duration)> {
        let resends = self.limits.resends.as_ref()?;
        let (range, time) = resends.used_up(self.state.stored.generation, within, now)?;
        Some((range, resends.most(), time))
    }

    /// Counts messages that a replay has passed: those that were sent, and what is among them that
    /// is never sent again.
    pub(crate) fn count_resent(&mut self, passed: RangeInclusive<SeqNum>, now: Mono) {
        let generation = self.state.stored.generation;
        if let Some(resends) = &mut self.limits.change().resends {
            resends.count(generation, passed, now);
        }
    }
}
