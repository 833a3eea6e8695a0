//! How far back messages are sent again, which is a setting (`resend_horizon`), and what the store
//! is told of it.
//!
//! The horizon is counted back from the first sequence number that was not sent when the request
//! was answered: NextNumOut, or the first message that waits for the end of a replay that is under
//! way already. It stays where it is until the replay has ended, however much NextNumOut grows
//! meanwhile: each requested sequence number is answered once, by the same rule.

use core::num::NonZeroU64;

use fixbolt_codec::SeqNum;

use crate::events::event::Unreached;
use crate::state::backlog::Replay;
use crate::state::session::Session;
use crate::state::{Connection, Phase};
use crate::store::Store;

impl Session {
    /// Returns the last sequence number that the replay does not send again because of the horizon,
    /// and the reason; `None` if there is no horizon.
    pub(crate) fn beyond_horizon(&self, replay: Replay) -> Option<(SeqNum, Unreached)> {
        let horizon = self.fixed.settings.resend.resend_horizon?.get();
        let first = SeqNum(replay.live.0.saturating_sub(horizon));
        Some((first.previous(), Unreached::BeyondHorizon { horizon }))
    }

    /// Tells the store how far back messages are read from now on, if this has changed. The store
    /// lets go of nothing during a replay, whose beginning stays where it is, nor between our Logon
    /// and its answer, nor while messages are withheld after a gap, because messages written then
    /// are sent later. Must not be called while a transaction is open.
    pub(crate) fn tell_horizon(&mut self, store: &mut dyn Store) {
        let withholds = |connection: &Connection| {
            connection.logon.phase.held().is_some() || connection.logon.backlog.withheld_from.is_some()
        };
        let needs_all = self.state.phase() == Phase::LogonSent
            || self.state.replay().is_some()
            || self.state.connection.as_ref().is_some_and(withholds);
        let horizon =
            if needs_all { None } else { self.fixed.settings.resend.resend_horizon.map(NonZeroU64::get) };
        if self.standing.store_is_open && horizon != self.standing.told_horizon {
            self.standing.change().told_horizon = horizon;
            store.set_resend_horizon(self.fixed.key, horizon.unwrap_or(u64::MAX));
        }
    }
}
