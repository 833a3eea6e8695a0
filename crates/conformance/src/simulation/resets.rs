//! Judges resets of the sequence numbers: each has a cause, and so has each moment at which the two
//! sides have different numbers.

use fixbolt_session::Phase;

use super::diary::OpenReset;
use super::edges::Plan;
use super::text::SECOND;
use super::world::{Stop, World};

impl World {
    /// The two sides have different numbers: a store that was put back explains it, an edge that
    /// one side holds, or a reset that only one side has made so far.
    pub(super) fn judge_numbers(&self, why: String) -> Result<(), Stop> {
        let reset = self.reset_has_crossed() || self.reset_is_unheard();
        if self.link.diary.disturbed || self.edge_is_held() || reset { Ok(()) } else { Err(Stop(why)) }
    }

    /// Returns whether the counterparty did not know of our Logout when it began a reset.
    pub(super) fn reset_has_crossed(&self) -> bool {
        let now = &self.link.diary.now;
        now.leave.is_some() && (now.reset_crossed || self.link.peer.own_resets != self.link.peer_resets)
    }

    /// Returns whether the session has reset its numbers with a Logon that has not reached the
    /// counterparty.
    pub(super) fn reset_is_unheard(&self) -> bool {
        self.link.diary.open_reset.is_some_and(|open| open.followed == self.link.peer.followed)
    }

    /// The session has reset its numbers with its Logon, which the counterparty answers with its
    /// own.
    fn open_reset(&mut self) {
        self.link.diary.open_reset = Some(OpenReset { followed: self.link.peer.followed, told: false });
    }

    /// Returns whether the counterparty has reset at an edge that the session held because of its
    /// clock, and has received messages since with the numbers of before.
    fn numbers_were_used_on(&self) -> bool {
        self.link.diary.edge_while_wrong && self.link.peer.next_in > 1
    }

    /// The session has reset its numbers, once or several times at the same moment.
    pub(super) fn judge_reset(&mut self, phase: Phase, resets: u32) -> Result<(), Stop> {
        let in_connection = matches!(phase, Phase::LogonSent | Phase::LoggedOn);
        if in_connection {
            self.link.diary.open_reset = None;
        } else {
            self.link.must_reset_peer = true;
        }
        let at_edge = self.edge_has_come()
            && !self.link.diary.edge_reset
            && self.app.hears_of_the_schedule(self.link.place);
        // At an edge after its Logout the session resets by itself, and the counterparty may have
        // begun a reset all the same.
        let left = self.link.diary.now.logout_written && !in_connection;
        if self.link.peer.own_resets != self.link.peer_resets && !(at_edge && left) {
            // It was the counterparty's.
            self.link.peer_resets = self.link.peer.own_resets;
            // The session has followed one that has crossed its Logout: not every counterparty
            // repeats that.
            let now = &mut self.link.diary.now;
            if now.leave.is_some() && !in_connection {
                now.reset_crossed = true;
                self.link.peer.reset_next &= self.random.once_in(2);
            }
            // Another one of ours may have followed at the same moment.
            self.link.must_reset_peer = resets > 1 && !in_connection;
            // If both have begun one, each takes the other's Logon for the answer.
            self.link.diary.reset_ordered = false;
            return Ok(());
        }
        if at_edge {
            self.link.diary.edge_reset = true;
            self.link.must_reset_peer = self.numbers_were_used_on();
            return Ok(());
        }
        let s = &self.link.settings;
        let by_setting = s.reset.reset_on_logon
            || s.reset.reset_on_logout
            || s.reset.reset_on_disconnect
            || s.reset.reset_on_error;
        let ordered = std::mem::take(&mut self.link.diary.reset_ordered);
        if ordered || by_setting {
            // A session that resets at each logon repeats it with the next one.
            if ordered && in_connection {
                self.open_reset();
            }
            return Ok(());
        }
        if let Plan::InSession { at } = self.link.plan
            && at.saturating_sub(120 * SECOND) <= self.moment().utc
            && !self.link.diary.edge_reset
        {
            self.link.diary.edge_reset = true;
            self.open_reset();
            return Ok(());
        }
        if self.link.diary.disturbed {
            return Ok(());
        }
        if self.edge_has_come() && !self.link.diary.edge_reset {
            self.link.diary.edge_reset = true;
            self.link.must_reset_peer = self.numbers_were_used_on();
            return Ok(());
        }
        // A store that was lost with the machine begins the same window again.
        if self.faults.deaths && self.edge_has_come() {
            return Ok(());
        }
        Err(Stop("the numbers were reset without a cause".to_owned()))
    }
}
