//! The wall clock of the sessions' machine, which jumps and is right again.

use fixbolt_session::runtime::mono;
use fixbolt_session::{Now, Utc};

use super::text::SECOND;
use super::world::{NEVER, World};

impl World {
    /// The clocks of the session's machine.
    pub(super) fn now(&self) -> Now {
        let utc = (self.beginning + self.mono).saturating_add_signed(self.clock);
        Now { mono: mono(self.mono), utc: Utc(utc) }
    }

    pub(super) fn right_the_clock(&mut self) {
        if self.clock != 0 {
            (self.clock, self.clock_right_since) = (0, self.mono);
            self.each_one(|w| w.link.diary.edge_while_wrong |= w.edge_is_held());
        }
        self.clock_back_at = NEVER;
    }

    /// Returns whether the wall clock is right, and has been for so long that the session knows.
    pub(super) fn clock_is_right(&self) -> bool {
        self.clock == 0 && (self.clock_right_since == 0 || self.clock_right_since + 6 * SECOND < self.mono)
    }

    /// Returns whether an edge has come while the clock was wrong, at which the counterparty resets
    /// and the session, which holds it, does not.
    pub(super) fn edge_is_held(&self) -> bool {
        let until = self.moment().utc + 6 * SECOND;
        let held = || self.link.plan.has_edge_in(self.clock_wrong_since..=until);
        self.link.diary.edge_while_wrong || !self.clock_is_right() && held()
    }

    pub(super) fn jump(&mut self) {
        if self.clock != 0 {
            return;
        }
        let far = *self.random.pick(&[3, 60, 600, 3600, 86_400, 3 * 86_400]) as i64 * SECOND as i64;
        self.clock = if self.random.once_in(2) { far } else { -far };
        // What a process that stands still has not seen before counts, too, nor does a session look
        // while its connection closes.
        let closing = self.links().filter_map(|link| link.closing_since).fold(self.mono, u64::min);
        let seen = if self.paused_until > self.mono { self.paused_since.min(closing) } else { closing };
        self.clock_wrong_since = self.beginning + seen;
        self.clock_back_at = self.mono + self.random.within(1, 90) * SECOND;
        self.each_one(|w| (w.link.diary.clock_jumped, w.link.diary.now.jumped) = (true, true));
        self.totals.jumps += 1;
        let by = self.clock / SECOND as i64;
        self.note(|| format!("-- the clock of the session's machine jumps by {by} s"));
    }
}
