//! What a session's schedule does: it ends connections, and resets sequence numbers.
//!
//! At an edge, sequence numbers are reset only without a connection: at the edge itself, when the
//! connection has ended that the edge ends, or when the session is opened after the edge. A reset
//! is due if the sequence numbers began before the edge (`Schedule::reset_due`), so it happens
//! once, also after downtime.

use fixbolt_codec::SeqNum;

use crate::decide::due;
use crate::events::event::Event;
use crate::perform::call::Call;
use crate::perform::read::Reader;
use crate::values::time::Utc;

impl Call<'_> {
    /// Looks at the wall clock, and does what the session's schedule asks for.
    // R-SCHEDULE-3
    pub(crate) fn follow_schedule(&mut self) {
        let now = self.now;
        let looked = self.session_mut().standing.look_at_clock(now);
        let Some((before, counted)) = looked else { return };
        if counted == now.utc {
            self.core.counted = Some(now);
        }
        self.tell_clock();
        let session = self.session_mut();
        if session.state.connection.is_some() {
            if let Some(reaction) = due::edge(self.session()) {
                self.react(reaction);
            }
            self.reset_if_due_in_session(counted);
            return;
        }
        let stored = &mut session.state.stored;
        if stored.began.is_none() && stored.next_in.max(stored.next_out) > SeqNum::ONE {
            // Something was stored without a connection, since the last look, which came with the
            // last edge at the earliest.
            stored.began = Some(before);
        }
        let calendar = session.standing.calendar.as_ref();
        let due = stored.began.and_then(|began| calendar?.reset_due(began, counted));
        if let Some(edge) = due
            && session.standing.halted.is_none()
            && session.standing.store_is_open
        {
            self.reset_at_edge(edge);
        }
    }

    /// Tells the application that the wall clock has jumped, or counts again.
    #[inline]
    fn tell_clock(&mut self) {
        if let Some(clock) = self.session_mut().standing.take_clock() {
            self.session_mut().publish();
            self.notify(&Event::Clock(clock));
        }
    }

    /// Has the time that the wall clock shows count. Returns whether another one did.
    pub(crate) fn confirm_clock(&mut self) -> bool {
        let now = self.now;
        let was_held = self.session_mut().standing.confirm_clock(now);
        self.follow_schedule();
        was_held
    }

    /// Processes bytes that have come. If an edge has passed meanwhile, orders among them are
    /// answered as what comes after it, and our Logout follows the answers.
    pub(crate) fn receive_on_time(&mut self, bytes: &[u8], reader: &mut Reader) -> usize {
        let passes = self.edge_may_have_passed();
        let consumed = self.receive(bytes, reader);
        if passes {
            self.follow_schedule();
        }
        consumed
    }

    /// Looks at the wall clock if it is time to. Returns whether it was: the schedule is to be
    /// followed.
    pub(crate) fn edge_may_have_passed(&mut self) -> bool {
        let now = self.now;
        let session = self.session_mut();
        let passes = session.next_look().is_some_and(|at| at <= now.mono);
        if passes {
            session.standing.look_at_clock(now);
        }
        passes
    }

    /// Begins the in-session reset that is due. One that cannot begin now, because messages are
    /// missing for example, or whose TestRequest is not answered, is tried again at the next look.
    // R-SCHEDULE-4
    fn reset_if_due_in_session(&mut self, counted: Utc) {
        let session = self.session();
        let Some(calendar) = &session.standing.calendar else { return };
        let due = |began| calendar.in_session_reset_due(began, counted);
        let Some(at) = session.state.stored.began.and_then(due) else { return };
        let why = format!("schedule: the sequence numbers are reset in the session at {at}");
        // The reasons for which it cannot begin pass.
        let _ = self.begin_reset(&why);
    }

    fn reset_at_edge(&mut self, edge: Utc) {
        let why = format!("schedule: the sequence numbers are reset at {edge}");
        // A store that refuses halts the session; the reset is due again when the halt has ended.
        if self.run(|call| call.reset(&why)) {
            self.notify_numbers(&why);
        }
    }
}
