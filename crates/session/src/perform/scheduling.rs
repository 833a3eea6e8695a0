//! What a session's schedule does: it ends connections, and resets sequence numbers.
//!
//! At an edge, sequence numbers are reset only without a connection: at the edge itself, when the
//! connection has ended that the edge ends, or when the session is opened after the edge. A reset
//! is due if the sequence numbers began before the edge (`Schedule::reset_due`), so it happens
//! once, also after downtime.

use fixbolt_codec::SeqNum;

use crate::api::application::Application;
use crate::calls::sessions::Sessions;
use crate::core::slots;
use crate::events::end::SessionEnd;
use crate::perform::call::Transaction;
use crate::perform::leave::{send_logout, with_room};
use crate::perform::reset;
use crate::state::Phase;
use crate::state::session::Session;
use crate::values::key::SessionKey;
use crate::values::time::{Mono, Now, Utc};

/// Text (58) of the Logout at the end of a window.
const SESSION_END: &str = "session end";

impl Sessions {
    /// Looks at the schedule again if it is time.
    pub(crate) fn follow_schedule_if_due(&mut self, now: Now, key: SessionKey, app: &mut dyn Application) {
        let next_look = self.session(key).and_then(|session| session.next_look());
        if next_look.is_some_and(|at| at <= now.mono) {
            self.follow_schedule(now, key, app);
        }
    }

    /// Looks at the wall clock, and does what the session's schedule asks for.
    pub(crate) fn follow_schedule(&mut self, now: Now, key: SessionKey, app: &mut dyn Application) {
        let Some(session) = slots::find_mut(&mut self.table, key) else { return };
        let Some(calendar) = &mut session.calendar else { return };
        let before = calendar.looked();
        calendar.look(now);
        if session.state.connection.is_some() {
            if let Some(mut tx) = self.transaction(now, key, app) {
                end_connection(&mut tx);
                reset_in_session(&mut tx);
            }
            return;
        }
        let stored = &mut session.state.stored;
        if stored.began.is_none() && stored.next_in.max(stored.next_out) > SeqNum::ONE {
            // Something was stored without a connection, since the last look, which came with the
            // last edge at the earliest.
            stored.began = Some(before);
        }
        let due = stored.began.and_then(|began| calendar.reset_due(began, now.utc));
        if let Some(edge) = due
            && session.halted.is_none()
            && session.store_is_open
            && let Some(mut tx) = self.transaction(now, key, app)
        {
            reset(&mut tx, edge);
        }
    }

    /// Returns when the session may have a connection, if it may have none at `now` because of its
    /// schedule: `Some(None)` if not within three years.
    #[must_use]
    pub fn waits_for_schedule(&self, now: Now, key: SessionKey) -> Option<Option<Utc>> {
        let mut calendar = self.session(key)?.calendar.clone()?;
        calendar.look(now);
        (!calendar.allows_connection()).then(|| calendar.next_connection())
    }
}

impl Session {
    /// Returns when to look at the schedule again, if there is one.
    pub(crate) fn next_look(&self) -> Option<Mono> {
        self.calendar.as_ref().map(|calendar| calendar.next_look)
    }
}

/// Ends a connection whose window has ended, or that began in another window of the session.
fn end_connection(tx: &mut Transaction<'_>) {
    let session = tx.session();
    let phase = session.state.phase();
    let Some(calendar) = &session.calendar else { return };
    // A connection that waits for its Logon outside the windows is told then.
    let ends = calendar.has_changed() || !calendar.allows_connection() && phase != Phase::AwaitingLogon;
    if !ends || !session.state.is_open() {
        return;
    }
    let next = if calendar.allows_connection() { None } else { calendar.next_connection() };
    let end = SessionEnd::ScheduleEnded { next };
    match phase {
        Phase::LoggedOn => {
            let leaving = Some(end.clone());
            let sent = with_room(tx, |tx| send_logout(tx, SESSION_END.into(), None, leaving));
            if matches!(sent, Ok(false)) {
                tx.close(end);
            }
        }
        Phase::AwaitingLogon | Phase::LogonSent => tx.close(end),
        Phase::Disconnected | Phase::LogoutSent | Phase::LogoutAnswered => {}
    }
}

/// Begins the in-session reset that is due. One that cannot begin now, because messages are missing
/// for example, or whose TestRequest is not answered, is tried again at the next look.
fn reset_in_session(tx: &mut Transaction<'_>) {
    let session = tx.session();
    let Some(calendar) = &session.calendar else { return };
    let due = |began| calendar.in_session_reset_due(began, tx.now.utc);
    let Some(at) = session.state.stored.began.and_then(due) else { return };
    let why = format!("schedule: the sequence numbers are reset in the session at {at}");
    // The reasons for which it cannot begin pass.
    let _ = reset::begin(tx, &why);
}

fn reset(tx: &mut Transaction<'_>, edge: Utc) {
    let why = format!("schedule: the sequence numbers are reset at {edge}");
    // A store that refuses halts the session; the reset is due again when the halt has ended.
    if tx.run(|tx| tx.reset(&why)).is_ok() {
        tx.notify_numbers(&why);
    }
}
