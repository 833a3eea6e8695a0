//! Judges what a hostile counterparty achieves: what is wrong is rejected or ends the connection,
//! silence ends it, and no attack costs more memory or lets more messages in than the settings
//! allow.

use fixbolt_session::{MatrixState, Misbehavior, Phase, Read, SessionEnd};

use super::counterparty::Attack;
use super::text::SECOND;
use super::world::{NEVER, Stop, World};

/// How long the session may take to reject what is wrong.
const PATIENCE: u64 = 3 * SECOND;

impl World {
    /// Lets the counterparty attack.
    pub(super) fn attack(&mut self) {
        let (moment, attack) = (self.moment(), *self.random.pick(&Attack::ALL));
        let Some(what) = self.link.peer.attack(moment, attack) else { return };
        self.note(|| format!("-- the counterparty attacks: {what}"));
        self.totals.attacks += 1;
    }

    /// Whether the counterparty has brought about this end by its attacks in this connection.
    pub(super) fn is_by_attack(&self, end: &SessionEnd) -> bool {
        use SessionEnd as E;
        // What a flood has used up is missing in the next connection, too.
        if matches!(end, E::PeerMisbehaved(Misbehavior::JournalGrowth { .. })) {
            return self.faults.hostile;
        }
        self.link.peer.attacks.in_connection
            && matches!(
                end,
                E::PeerMisbehaved(_)
                    | E::HeartbeatTimedOut
                    | E::ConnectionLost
                    | E::LogonTimedOut
                    | E::LogonUnanswered
                    | E::LogonRefusedByPeer(_)
                    | E::LoggedOutByPeer
                    | E::LogoutTimedOut
                    | E::PeerDidNotClose
                    | E::PeerDidNotRead
                    | E::SlowConsumer
                    | E::PeerExpectsMore { .. }
            )
    }

    /// What is wrong is rejected or ends the connection, and so does silence.
    pub(super) fn judge_attacks(&mut self) -> Result<(), Stop> {
        let Some(sessions) = &self.sessions else { return Ok(()) };
        let state = sessions.matrix_state(self.link.key);
        if state == Some(MatrixState::HandlingResendRequest) {
            self.link.replaying_at = self.mono;
        }
        let link = &self.link;
        let it = link.diary.now;
        if !link.attached || it.is_rough() || self.faults.store || self.faults.slow || self.faults.application
        {
            return Ok(());
        }
        let failed = |why: String| Err(Stop(format!("{why}: {}", self.describe())));
        if let Some(silent) = link.peer.silent_since()
            && !link.settings.timing.disable_heart_beat_check
        {
            let heart = link.peer.heart.max(u64::from(link.settings.timing.heart_bt_int) * SECOND);
            // A TestRequest waits for the end of a replay.
            let silent = silent.max(link.read_at).max(link.replaying_at);
            let all_read = link.to_us.is_empty() && link.next.read != Read::Nothing;
            if all_read && self.mono > silent + 6 * heart + PATIENCE {
                return failed("silence does not end the connection".to_owned());
            }
        }
        let busy =
            sessions.phase(link.key) != Phase::LoggedOn || state == Some(MatrixState::HandlingResendRequest);
        let held = link.settings.throttle.max_inbound_rate.is_some()
            || link.settings.resend.max_replay_rate.is_some();
        if busy || held || !link.peer.listens() {
            return Ok(());
        }
        let next_in = sessions.numbers(link.key).map_or(0, |(next_in, _)| next_in.0);
        let mono = self.mono;
        for wrong in &mut self.link.peer.attacks.wrong {
            if wrong.seq < next_in && wrong.passed == NEVER {
                wrong.passed = mono;
            }
        }
        // The Reject may wait at the counterparty, for what the session does not send again.
        let rejected = |seq: &u64| self.link.rejected.contains(&(self.link.peer_series, *seq));
        let wrong = self.link.peer.attacks.wrong.iter().filter(|wrong| !rejected(&wrong.seq));
        match wrong
            .min_by_key(|wrong| wrong.passed)
            .filter(|wrong| mono > wrong.passed.saturating_add(PATIENCE))
        {
            Some(wrong) => {
                let why = format!("message {} was accepted: {}: {}", wrong.seq, wrong.what, self.describe());
                Err(Stop(why))
            }
            None => Ok(()),
        }
    }

    /// In no window are more messages delivered than the limit on them allows, by when they can
    /// have arrived: since what was there before was read.
    pub(super) fn judge_inbound_rate(&mut self, seq: u64) -> Result<(), Stop> {
        let Some(rate) = self.link.settings.throttle.max_inbound_rate else { return Ok(()) };
        let it = self.link.diary.now;
        // What waits behind a gap, or for the application, is judged by when it can have arrived.
        let late =
            self.faults.application || it.gap || self.link.peer.replayed || it.paused || it.failed || it.held;
        if late {
            self.link.delivered_at.clear();
            return Ok(());
        }
        self.link.delivered_at.push(self.link.read_before);
        let window = rate.window().as_nanos() as u64;
        let first = self.link.delivered_at.iter().rev().nth(rate.messages() as usize);
        if first.is_some_and(|first| self.mono - first < window) {
            return Err(Stop(format!("more than {rate} were delivered, the last with number {seq}")));
        }
        Ok(())
    }

    /// The session holds no more of what it has not processed than a message and a gap may have.
    pub(super) fn judge_memory(&self) -> Result<(), Stop> {
        let most = self.link.settings.limits.max_message_size + 2 * READ;
        match self.link.inbox.len() {
            held if held > most => Err(Stop(format!("{held} bytes wait to be processed"))),
            _ => Ok(()),
        }
    }
}

/// The bytes from which on a read of the world takes no more from the network.
pub(super) const READ: usize = 64 * 1024;
