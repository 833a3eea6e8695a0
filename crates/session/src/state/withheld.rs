//! Which messages are numbered and not yet on the wire, and when they go.

use fixbolt_codec::{MsgType, SeqNum};

use crate::settings::SessionSettings;
use crate::state::backlog::{Backlog, Replay, Unsent};
use crate::state::missing::Request;
use crate::state::{Connection, Phase, State};
use crate::values::fix::msg_type;
use crate::values::time::Mono;
use crate::values::waits_for::WaitsFor;

impl State {
    pub(crate) fn replay(&self) -> Option<Replay> {
        self.connection.as_ref()?.logon.backlog.replay
    }

    /// Returns whether new application messages are withheld until the counterparty has begun to
    /// send what is missing before its Logon.
    // R-LOGON-21
    pub(crate) fn holds(&self) -> bool {
        let held = self.connection.as_ref().and_then(|connection| connection.logon.phase.held());
        held.is_some_and(|held| held.at == self.stored.next_in)
    }

    /// Returns whether a new message gets its sequence number and is stored, but not queued: during
    /// a replay, and while messages are missing before the counterparty's Logon, it is sent from
    /// the store afterwards, and while the session is not logged on the counterparty requests it
    /// later. Nothing new is sent after a Logout (R-LOGOUT-1).
    /// [`ReplayInterleave`](crate::ReplayInterleave) says what is sent during a replay all the
    /// same.
    // R-RESEND-7
    pub(crate) fn keeps_back(&self, settings: &SessionSettings, msg_type: MsgType) -> bool {
        if msg_type.as_bytes() == msg_type::LOGON {
            return false;
        }
        match &self.connection {
            None => true,
            Some(connection) => {
                let logon = &connection.logon;
                if logon.backlog.replay.is_some()
                    && (msg_type.is_admin() || logon.phase() == Phase::LoggedOn)
                    && settings.resend.replay_interleave.sends(msg_type.as_bytes())
                {
                    return false;
                }
                logon.backlog.replay.is_some()
                    || logon.backlog.withheld_from.is_some() && logon.phase() == Phase::LoggedOn
                    || !msg_type.is_admin() && (logon.phase() != Phase::LoggedOn || self.holds())
            }
        }
    }

    /// Called when every message up to `seq` was queued or gap-filled.
    pub(crate) fn request_queued(&mut self, seq: SeqNum, now: Mono) {
        if let Some(Connection { logon, .. }) = &mut self.connection
            && let Some(gap) = &mut logon.missing
            && let Some(request) = gap.request.waits_as()
            && request <= seq
        {
            (gap.request, gap.asked_at) = (Request::Sent, now);
        }
    }

    /// Returns the number of messages that wait for the end of a replay, or are withheld.
    pub(crate) fn waiting(&self) -> u64 {
        let first = self.connection.as_ref().and_then(|connection| {
            let Backlog { replay, withheld_from, .. } = connection.logon.backlog;
            replay.map(|replay| replay.live).or(withheld_from)
        });
        first.map_or(0, |first| self.stored.next_out.0.saturating_sub(first.0))
    }

    /// Returns what new messages of the application wait for.
    #[inline]
    pub(crate) fn waits_for(&self) -> Option<WaitsFor> {
        if let Some(connection) = &self.connection
            && let Backlog { replay, withheld_from } = &connection.logon.backlog
            && (replay.is_some() || withheld_from.is_some())
        {
            return Some(WaitsFor::Replay);
        }
        (self.stored.wait > 0).then_some(WaitsFor::Throttle)
    }

    /// Ends the withholding of messages: those that were withheld follow now, in front of whatever
    /// is written next.
    pub(crate) fn release(&mut self) {
        let released = self.released();
        let Some(Connection { logon, .. }) = &mut self.connection else { return };
        logon.phase.release();
        logon.backlog = Backlog { replay: released, withheld_from: None };
    }

    /// Returns the replay there is once nothing is withheld any more.
    pub(crate) fn released(&self) -> Option<Replay> {
        let Backlog { replay, withheld_from } = self.connection.as_ref()?.logon.backlog;
        let began = self.stored.next_out;
        let kept = |live: SeqNum| Replay { next: live, end: live.previous(), gap_from: None, live, began };
        replay.or_else(|| withheld_from.map(kept))
    }

    /// Records that our Logout waits for the end of a replay for which nothing else waits: what was
    /// written before it has been sent. Another request must not take it for sent, too.
    pub(crate) fn logout_waits(&mut self, seq: SeqNum) {
        if let Some(connection) = &mut self.connection
            && let Some(replay) = &mut connection.logon.backlog.replay
            && replay.live >= replay.began
        {
            (replay.live, replay.began) = (seq, seq.next());
        }
    }

    /// Records that the messages with these sequence numbers have not been sent.
    pub(crate) fn keep_back(&mut self, kept: Unsent) {
        let unsent = self.unsent.unwrap_or(kept);
        self.unsent = Some(Unsent { first: unsent.first.min(kept.first), last: unsent.last.max(kept.last) });
    }

    /// Records that every message up to `seq` was sent or gap-filled.
    pub(crate) fn went_out(&mut self, seq: SeqNum) {
        if let Some(unsent) = &mut self.unsent {
            unsent.first = unsent.first.max(seq.next());
            if unsent.first > unsent.last {
                self.unsent = None;
            }
        }
    }
}
